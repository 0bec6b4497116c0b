//! Requests of harvests, as the command line makes them and a server receives them.

use super::{
    Budget, DelistedPolicy, Downloads, HarvestOptions, HarvestProtocol, IdScheme,
    allow_source_hosts, default_name, is_address,
};
use lodeseek_net::egress::{EgressPolicy, IpNet, IriPrefix, OtherHosts, PrefixError};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A requested harvest: sources and options.
///
/// ```
/// use lodeseek_harvest::HarvestRequest;
///
/// let request: HarvestRequest = serde_json::from_str(r#"{"sources": ["https://e.org/a.ttl"], "download": true}"#)?;
/// assert!(request.download && request.max_pages == 20_000);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct HarvestRequest {
    /// Addresses and local paths.
    pub sources: Vec<String>,
    /// Name of the harvest; `None` for one harvest for each source, with a name derived from it.
    pub name: Option<String>,
    /// Protocol of all sources.
    pub protocol: HarvestProtocol,
    /// If true, the files with RDF or tables that the catalogues describe are fetched.
    pub download: bool,
    /// If true, datasets that their source no longer lists are kept.
    pub keep_gone: bool,
    /// If true, each id begins with the name of the harvest.
    pub id_prefix: bool,
    /// See [`HarvestOptions::full_harvest_every`].
    pub full_harvest_every: u32,
    /// Allow list of IRI prefixes, in addition to the hosts of the sources.
    pub hosts: Vec<IriPrefix>,
    /// Treatment of hosts that are not in the allow list.
    pub other_hosts: OtherHosts,
    /// Private networks that may be connected to, for the sources and the allow list only.
    pub private_networks: Vec<IpNet>,
    /// Pause between two requests to one host, in milliseconds.
    pub pause: u64,
    /// Maximum number of requests.
    pub max_requests: u64,
    /// Maximum size of all responses, in MiB.
    pub max_megabytes: u64,
    /// Maximum duration, in minutes.
    pub max_minutes: u64,
    /// Maximum number of pages of one source.
    pub max_pages: u64,
    /// Maximum size of one page or file, in MiB.
    pub max_file_megabytes: u64,
    /// Maximum duration of one request, in seconds.
    pub max_file_seconds: u64,
}

impl Default for HarvestRequest {
    fn default() -> Self {
        let options = HarvestOptions::default();
        Self {
            sources: Vec::new(),
            name: None,
            protocol: options.protocol,
            download: false,
            keep_gone: false,
            id_prefix: false,
            full_harvest_every: options.full_harvest_every,
            hosts: Vec::new(),
            other_hosts: OtherHosts::default(),
            private_networks: Vec::new(),
            pause: u64::try_from(options.pause.as_millis()).unwrap_or(u64::MAX),
            max_requests: options.budget.requests,
            max_megabytes: options.budget.bytes >> 20,
            max_minutes: options.budget.time.as_secs() / 60,
            max_pages: options.budget.pages,
            max_file_megabytes: options.max_file_bytes >> 20,
            max_file_seconds: options.request_timeout.as_secs(),
        }
    }
}

impl HarvestRequest {
    /// Returns the sources of each harvest: all together if they have a name, else each for itself, so that adding or
    /// removing a source does not affect the others.
    #[must_use]
    pub fn groups(&self) -> Vec<&[String]> {
        if self.is_single() {
            vec![&self.sources]
        } else {
            self.sources.chunks(1).collect()
        }
    }

    /// Returns true if the sources are one harvest.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.name.is_some() || self.sources.len() == 1
    }

    /// Returns the name of the harvest of some sources.
    #[must_use]
    pub fn name_of(&self, sources: &[String]) -> String {
        self.name.clone().unwrap_or_else(|| default_name(sources))
    }

    /// Returns the first source that is a local path.
    #[must_use]
    pub fn local_source(&self) -> Option<&str> {
        self.sources
            .iter()
            .map(String::as_str)
            .find(|source| !is_address(source))
    }

    /// Returns the egress policy of the harvest of some sources.
    ///
    /// # Errors
    /// If an address has no valid host.
    pub fn policy(&self, sources: &[String]) -> Result<EgressPolicy, PrefixError> {
        let mut policy = EgressPolicy {
            listed: self.hosts.clone(),
            others: self.other_hosts,
            private_networks: self.private_networks.clone(),
        };
        allow_source_hosts(&mut policy, sources)?;
        Ok(policy)
    }

    /// Returns the options of a harvester. Ids of the home and cancellation are not set.
    #[must_use]
    pub fn options(&self) -> HarvestOptions {
        HarvestOptions {
            protocol: self.protocol,
            downloads: if self.download {
                Downloads::Content
            } else {
                Downloads::None
            },
            delisted: if self.keep_gone {
                DelistedPolicy::Keep
            } else {
                DelistedPolicy::Remove
            },
            ids: if self.id_prefix {
                IdScheme::Prefixed
            } else {
                IdScheme::Original
            },
            budget: Budget {
                requests: self.max_requests,
                bytes: self.max_megabytes.saturating_mul(1 << 20),
                time: Duration::from_secs(self.max_minutes.saturating_mul(60)),
                pages: self.max_pages,
            },
            max_file_bytes: self.max_file_megabytes.saturating_mul(1 << 20),
            request_timeout: Duration::from_secs(self.max_file_seconds),
            pause: Duration::from_millis(self.pause),
            full_harvest_every: self.full_harvest_every,
            ..HarvestOptions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_options() {
        let (request, options) = (
            HarvestRequest::default().options(),
            HarvestOptions::default(),
        );
        assert_eq!(format!("{request:?}"), format!("{options:?}"));
    }

    #[test]
    fn requests_survive_json() {
        let request = HarvestRequest {
            sources: vec!["https://e.org/a".to_owned(), "dumps/b.ttl".to_owned()],
            hosts: vec!["https://files.example/".parse().expect("a prefix")],
            other_hosts: OtherHosts::AnyPublic,
            private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
            protocol: HarvestProtocol::OaiPmh,
            max_pages: 3,
            ..HarvestRequest::default()
        };
        let json = serde_json::to_string(&request).expect("JSON");
        let read: HarvestRequest = serde_json::from_str(&json).expect("a request");
        assert_eq!(format!("{read:?}"), format!("{request:?}"));
        assert_eq!(
            (read.groups().len(), read.local_source()),
            (2, Some("dumps/b.ttl"))
        );
        let policy = read.policy(&read.sources[..1]).expect("a policy");
        assert_eq!(
            (policy.listed.len(), policy.others),
            (2, OtherHosts::AnyPublic)
        );
        assert!(
            serde_json::from_str::<HarvestRequest>(r#"{"source": "https://e.org/"}"#).is_err(),
            "a wrong key"
        );
    }
}
