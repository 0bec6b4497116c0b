//! What hosts let robots do (RFC 9309).

use super::FetchError;
use super::fetch::{Fetcher, origin_of};
use std::io::Read;
use std::time::Duration;
use texting_robots::Robot;

/// The name that rules address.
const NAME: &str = "lodeseek";
/// Bytes read of a `robots.txt`: as many as the standard asks for.
const BYTES: u64 = 500 << 10;

/// The rules of one host.
pub(super) enum Rules {
    /// There are none.
    None,
    /// They cannot be had now: then nothing may be asked.
    Unreachable,
    Robot(Box<Robot>),
}

impl Fetcher<'_> {
    /// Whether a host lets robots have an address; notes the pause it wants.
    pub(super) fn ask_robots(&mut self, address: &str) -> Result<(), FetchError> {
        self.egress.check(address)?;
        let Some(origin) = origin_of(address) else { return Ok(()) };
        if !self.robots.contains_key(&origin) {
            let rules = self.rules_of(&origin)?;
            self.robots.insert(origin.clone(), rules);
        }
        let delay = match self.robots.get(&origin) {
            None | Some(Rules::None) => return Ok(()),
            Some(Rules::Unreachable) => return Err(FetchError::NoRobots(address.to_owned())),
            Some(Rules::Robot(robot)) if !robot.allowed(address) => {
                return Err(FetchError::Robots(address.to_owned()));
            }
            Some(Rules::Robot(robot)) => robot.delay.unwrap_or(0.0),
        };
        let Some(wait) = Duration::try_from_secs_f32(delay).ok().filter(|wait| *wait <= self.options.longest_wait)
        else {
            return Err(FetchError::CrawlDelay { address: address.to_owned(), seconds: delay });
        };
        self.want_pause(&origin, wait);
        Ok(())
    }

    fn rules_of(&mut self, origin: &str) -> Result<Rules, FetchError> {
        let address = format!("{origin}/robots.txt");
        let response = match self.with_patience(&address, |fetcher| fetcher.send(&address, |request| request)) {
            Ok(response) => response,
            // A refusal by status says that there are no rules; one by our own policy is not the host's to mend.
            Err(FetchError::Status { status: 400..=499, .. }) => return Ok(Rules::None),
            Err(error) if error.ends_all() => return Err(error),
            Err(_) => return Ok(Rules::Unreachable),
        };
        let mut text = Vec::new();
        let read = response.into_body().take(BYTES).read_to_end(&mut text);
        self.spent.bytes += text.len() as u64;
        match read.map(|_| Robot::new(NAME, &text)) {
            Ok(Ok(robot)) => Ok(Rules::Robot(Box::new(robot))),
            Ok(Err(_)) => Ok(Rules::None),
            Err(_) => Ok(Rules::Unreachable),
        }
    }
}
