//! Egress policy: the hosts to which a command may send requests.

use super::config::Config;
use ipnet::IpNet;
use lodeseek_net::egress::{Egress, EgressPolicy, IriPrefix, OtherHosts};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

#[derive(clap::Args, Debug, Clone, Default)]
pub(super) struct EgressArguments {
    /// Allow SERVICE to query this endpoint, or all endpoints with this IRI prefix (up to the end of a path segment).
    /// Repeatable. Default: no endpoint is allowed.
    #[arg(long, value_name = "IRI", help_heading = HEADING)]
    service: Vec<IriPrefix>,
    /// SERVICE requests to endpoints that --service does not allow [default: refused].
    #[arg(long, value_enum, help_heading = HEADING)]
    other_services: Option<Others>,
    /// Allow a private network for the endpoints and portals named on the command line, and in `serve` for harvests and downloads
    /// requested with the scope admin; for nothing else (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, alias = "inner-network", value_name = "CIDR", value_parser = private_network, help_heading = HEADING)]
    allow_private_network: Vec<IpNet>,
}

/// Heading of the arguments in the help.
const HEADING: &str = "Requests to other servers";

/// Parses a network; an address is the network of this address alone.
pub(super) fn private_network(text: &str) -> Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    address
        .or_else(|_| text.parse())
        .map_err(|_| format!("{text:?}: expected a network or an address, such as 127.0.0.0/8"))
}

/// Returns the private networks that a command allows: those of its arguments, else those of the configuration.
pub(super) fn private_networks(arguments: &[IpNet], config: &Config) -> Vec<IpNet> {
    if !arguments.is_empty() {
        return arguments.to_vec();
    }
    let configured = &config.settings.service.private_networks;
    configured.clone().unwrap_or_default()
}

/// Treatment of hosts that no argument allows.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Others {
    /// Rejects all requests to them.
    #[default]
    Refused,
    /// Allows requests if every address of the host is public.
    AnyPublic,
}

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::AnyPublic => "any-public",
        })
    }
}

impl FromStr for Others {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = [Self::Refused, Self::AnyPublic]
            .into_iter()
            .find(|others| others.to_string() == name);
        found.ok_or_else(|| format!("unknown treatment {name:?}; supported: refused, any-public"))
    }
}

impl From<Others> for OtherHosts {
    fn from(others: Others) -> Self {
        match others {
            Others::Refused => Self::Refused,
            Others::AnyPublic => Self::AnyPublic,
        }
    }
}

impl EgressArguments {
    /// Returns the allowed private networks.
    pub(super) fn private_networks(&self, config: &Config) -> Vec<IpNet> {
        private_networks(&self.allow_private_network, config)
    }

    /// Returns the egress policy of `SERVICE`.
    pub(super) fn policy(&self, config: &Config) -> EgressPolicy {
        let settings = &config.settings.service;
        EgressPolicy {
            listed: if self.service.is_empty() {
                settings.allow.clone().unwrap_or_default()
            } else {
                self.service.clone()
            },
            others: self
                .other_services
                .or(settings.others)
                .unwrap_or_default()
                .into(),
            private_networks: self.private_networks(config),
        }
    }

    /// Returns a client that may also query the endpoint of another argument.
    pub(super) fn client_for(
        &self,
        config: &Config,
        endpoint: IriPrefix,
        options: ClientOptions,
    ) -> SparqlClient {
        let mut policy = self.policy(config);
        policy.listed.push(endpoint);
        SparqlClient::new(Arc::new(Egress::new(policy)), options)
    }

    /// Returns a client with the policy of `SERVICE` and default options. Warns of endpoints that it cannot reach.
    pub(super) fn client(&self, config: &Config) -> Arc<SparqlClient> {
        let policy = self.policy(config);
        for (prefix, network) in policy.blocked_prefixes() {
            tracing::warn!(
                "--service {prefix}: requests will be blocked, since the host is in a private network; allow it with \
                 --allow-private-network {network}"
            );
        }
        Arc::new(SparqlClient::new(
            Arc::new(Egress::new(policy)),
            ClientOptions::default(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::private_network;

    #[test]
    fn an_address_is_a_network() {
        for (text, network) in [
            ("127.0.0.1", "127.0.0.1/32"),
            ("::1", "::1/128"),
            ("10.1.0.0/16", "10.1.0.0/16"),
        ] {
            let parsed = private_network(text).map(|network| network.to_string());
            assert_eq!(parsed.as_deref(), Ok(network));
        }
        for text in ["localhost", "127.0.0.1/40", "", "127.1"] {
            let error = private_network(text).expect_err(text);
            assert!(error.contains("such as 127.0.0.0/8"), "{error}");
        }
    }
}
