//! Protocols by which sources are read.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Protocol of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HarvestProtocol {
    /// Recognised by the address and by the first response.
    #[default]
    Auto,
    /// A document or feed with following pages, in any dialect.
    Pages,
    /// A portal of CKAN.
    Ckan,
    /// A catalogue service (CSW 2.0.2 or 3.0).
    Csw,
    /// A repository (OAI-PMH 2.0).
    OaiPmh,
    /// Documents that link catalogues, datasets and distributions.
    Linked,
    /// A SPARQL endpoint that holds a catalogue.
    Sparql,
    /// A sitemap of pages with schema.org.
    Sitemap,
    /// A Linked Data Event Stream, for example a DCAT-AP Feed.
    Ldes,
}

impl HarvestProtocol {
    /// All protocols.
    pub const ALL: [Self; 9] = [
        Self::Auto,
        Self::Pages,
        Self::Ckan,
        Self::Csw,
        Self::OaiPmh,
        Self::Linked,
        Self::Sparql,
        Self::Sitemap,
        Self::Ldes,
    ];

    /// Returns the name, for example `oai-pmh`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Pages => "pages",
            Self::Ckan => "ckan",
            Self::Csw => "csw",
            Self::OaiPmh => "oai-pmh",
            Self::Linked => "linked",
            Self::Sparql => "sparql",
            Self::Sitemap => "sitemap",
            Self::Ldes => "ldes",
        }
    }
}

impl fmt::Display for HarvestProtocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Error: a name of no protocol.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is no protocol; use auto, pages, ckan, csw, oai-pmh, linked, sparql, sitemap or ldes"
)]
pub struct UnknownProtocol(String);

impl FromStr for HarvestProtocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for protocol in HarvestProtocol::ALL {
            let json = serde_json::to_string(&protocol).expect("JSON");
            assert_eq!(json, format!("\"{protocol}\""));
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
        let error = "z39.50".parse::<HarvestProtocol>().expect_err("unknown");
        assert!(error.to_string().contains("oai-pmh"));
    }
}
