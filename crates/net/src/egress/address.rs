//! Classification of public IP addresses.
//!
//! It follows IANA's registries of special-purpose addresses (RFC 6890 and its updates): an address that is not globally
//! reachable is not public. In IPv6 only `2000::/3` is assigned. An IPv6 address that embeds an IPv4 address is
//! classified by the embedded one.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(a: u16, b: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), length)
}

const NOT_PUBLIC_V4: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),        // this network
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // shared by the customers of a provider
    v4(127, 0, 0, 0, 8),      // loopback
    v4(169, 254, 0, 0, 16),   // link-local; metadata of clouds
    v4(168, 63, 129, 16, 32), // a cloud's own services, though the address is public
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 88, 99, 0, 24),   // relays of 6to4
    v4(192, 168, 0, 0, 16),   // private
    v4(198, 18, 0, 0, 15),    // benchmarks
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved; broadcast
];

const PUBLIC_V6: Ipv6Net = v6(0x2000, 0, 3);
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),     // protocol assignments: Teredo, ORCHID, benchmarks
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16),     // 6to4
    v6(0x3fff, 0, 20),     // documentation
];
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 96);

/// Returns the IPv4 address embedded in a mapped (`::ffff:0:0/96`) or translated (`64:ff9b::/96`) address.
fn embedded_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) if NAT64.contains(&v6) => {
            let [.., a, b, c, d] = v6.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        address => address.to_canonical(),
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !NOT_PUBLIC_V4.iter().any(|network| network.contains(&v4)),
        IpAddr::V6(v6) => {
            PUBLIC_V6.contains(&v6) && !NOT_PUBLIC_V6.iter().any(|network| network.contains(&v6))
        }
    }
}

/// Returns true if connections to an address are permitted: it is public or in a configured private network.
pub(super) fn is_open(address: IpAddr, private_networks: &[IpNet]) -> bool {
    let meant = embedded_address(address);
    is_public(meant)
        || private_networks
            .iter()
            .any(|network| network.contains(&meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(address: &str, private_networks: &[&str]) -> bool {
        let private_networks: Vec<IpNet> = private_networks
            .iter()
            .map(|network| network.parse().expect("a network"))
            .collect();
        is_open(address.parse().expect("an address"), &private_networks)
    }

    #[test]
    fn special_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!open(address, &[]), "{address}");
        }
    }

    #[test]
    fn the_neighbours_of_special_networks_are_public() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
        ] {
            assert!(open(address, &[]), "{address}");
        }
    }

    #[test]
    fn configuration_opens_networks_and_no_more() {
        assert!(open("127.0.0.1", &["127.0.0.0/8"]));
        assert!(open("::ffff:127.0.0.1", &["127.0.0.0/8"]));
        assert!(open("fd00::1", &["fd00::/16"]));
        assert!(!open("::1", &["127.0.0.0/8"]));
        assert!(!open("10.0.0.1", &["127.0.0.0/8", "fd00::/16"]));
    }
}
