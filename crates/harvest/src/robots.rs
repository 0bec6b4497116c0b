//! Access rules of hosts for crawlers: `robots.txt`, [RFC 9309](https://www.rfc-editor.org/rfc/rfc9309).

use super::FetchError;
use super::fetch::Fetcher;
use lodeseek_net::egress::{EgressError, EgressFault, origin_of};
use std::io::Read;
use std::time::Duration;
use texting_robots::Robot;

/// User agent name that rules are matched against.
const USER_AGENT: &str = "lodeseek";
/// Maximum number of bytes read of a `robots.txt`: the minimum of RFC 9309, section 2.5.
const MAX_FILE_BYTES: u64 = 500 << 10;
/// Maximum number of lines with `$` of a `robots.txt`. Such a rule needs up to 100 KiB of memory.
const MAX_PATTERNS: usize = 200;
/// Maximum number of hosts whose rules are in memory.
const MAX_HOSTS: usize = 32;

/// Access rules of one host.
pub(super) enum RobotsRules {
    /// The host has no rules: its `robots.txt` is unavailable (status 4xx, RFC 9309 section 2.3.1.3) or cannot be parsed.
    AllowAll,
    /// The rules are unreachable (status 429 or 5xx, connection error). Every access is disallowed (RFC 9309 section
    /// 2.3.1.4). Status 429 is the response of a busy host, not of one without rules.
    Unreachable,
    /// Rules of a `robots.txt`.
    Robot(Box<Robot>),
}

impl RobotsRules {
    /// Returns true if these are rules of a `robots.txt`, which may need much memory.
    fn has_rules(&self) -> bool {
        matches!(self, Self::Robot(_))
    }
}

/// Parses a `robots.txt`, without the lines with `$` that exceed [`MAX_PATTERNS`]. Returns `None` if that fails.
pub(super) fn parse(text: &[u8]) -> Option<Box<Robot>> {
    let mut patterns = 0;
    let lines = text
        .split_inclusive(|byte| matches!(*byte, b'\n' | b'\r' | b'\0'))
        .filter(|line| {
            let is_pattern = line.contains(&b'$');
            patterns += usize::from(is_pattern);
            !is_pattern || patterns <= MAX_PATTERNS
        });
    let text: Vec<u8> = lines.flatten().copied().collect();
    Robot::new(USER_AGENT, &text).ok().map(Box::new)
}

impl Fetcher<'_> {
    /// Checks that a host allows crawlers to access an address, and applies its crawl delay.
    pub(super) fn check_robots(&mut self, address: &str) -> Result<(), FetchError> {
        // A host to which no request may be sent gets none for its rules either.
        self.egress.check(address)?;
        let Some(origin) = origin_of(address) else {
            return Ok(());
        };
        if !self.robots.contains_key(&origin) {
            let rules = self.fetch_rules(&origin)?;
            let hosts_with_rules = self.robots.values().filter(|rules| rules.has_rules());
            if hosts_with_rules.count() >= MAX_HOSTS {
                self.robots.retain(|_, rules| !rules.has_rules());
            }
            self.robots.insert(origin.clone(), rules);
        }
        let delay = match self.robots.get(&origin) {
            None | Some(RobotsRules::AllowAll) => return Ok(()),
            Some(RobotsRules::Unreachable) => {
                return Err(FetchError::RobotsUnreachable(address.to_owned()));
            }
            Some(RobotsRules::Robot(robot)) if !robot.allowed(address) => {
                return Err(FetchError::RobotsDisallowed(address.to_owned()));
            }
            Some(RobotsRules::Robot(robot)) => robot.delay.unwrap_or(0.0),
        };
        let Some(wait) = Duration::try_from_secs_f32(delay)
            .ok()
            .filter(|wait| *wait <= self.options.max_wait)
        else {
            return Err(FetchError::CrawlDelay {
                address: address.to_owned(),
                seconds: delay,
            });
        };
        self.set_crawl_delay(&origin, wait);
        Ok(())
    }

    fn fetch_rules(&mut self, origin: &str) -> Result<RobotsRules, FetchError> {
        let address = format!("{origin}/robots.txt");
        let response = match self.with_retries(&address, |fetcher| {
            fetcher.send(&address, |request| request)
        }) {
            Ok(response) => response,
            // Only a status of the host means that there are no rules. A request blocked by the egress policy does not.
            Err(FetchError::Status {
                status: 400..=428 | 430..=499,
                ..
            }) => return Ok(RobotsRules::AllowAll),
            Err(error) if error.is_fatal() => return Err(error),
            // The host is in a private network: its rules would not matter, and the reason is another one.
            Err(
                error @ FetchError::Egress(EgressError {
                    fault: EgressFault::Address,
                    ..
                }),
            ) => return Err(error),
            Err(_) => return Ok(RobotsRules::Unreachable),
        };
        let mut text = Vec::new();
        let read = response
            .into_body()
            .take(MAX_FILE_BYTES)
            .read_to_end(&mut text);
        self.spent.bytes += text.len() as u64;
        if read.is_err() {
            return Ok(RobotsRules::Unreachable);
        }
        Ok(match parse(&text) {
            Some(robot) => RobotsRules::Robot(robot),
            None => RobotsRules::AllowAll,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_with_patterns_are_limited() {
        let patterns: String = (0..2 * MAX_PATTERNS)
            .map(|number| format!("Disallow: /{number}$\r\n"))
            .collect();
        let robot = parse(format!("User-agent: *\r\n{patterns}Disallow: /last\r\n").as_bytes())
            .expect("rules");
        let is_allowed = |path: &str| robot.allowed(&format!("http://e.org/{path}"));
        assert!(!is_allowed("0") && !is_allowed(&(MAX_PATTERNS - 1).to_string()));
        assert!(is_allowed(&MAX_PATTERNS.to_string()) && !is_allowed("last"));
    }
}
