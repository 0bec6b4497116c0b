//! The settings by type. A field is `None` if neither file nor environment sets it.

use crate::egress::{Others, private_network};
use crate::encoder::FusionChoice;
use crate::ranking::Preset;
use ipnet::IpNet;
use lodeseek_cli::config::parse_text;
use lodeseek_cli::encoder::EncoderSettings;
use lodeseek_cli::logging::LogSettings;
use lodeseek_harvest::HarvestProtocol;
use lodeseek_index::AnalysisKind;
use lodeseek_index::sparse::ModelKind;
use lodeseek_net::egress::IriPrefix;
use lodeseek_rerank::Combination;
use lodeseek_server::{Color, FooterLink, HostName, Localized, PublicUrl};
use lodeseek_snapshot::SnapshotLocation;
use lodeseek_store::{ContentPlace, TableTreatment};
use serde::{Deserialize, Deserializer, de};
use std::fmt::Display;
use std::net::IpAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// All settings of a home.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// Fixed when the home is created.
    pub(crate) base: Option<String>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) public_url: Option<PublicUrl>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) ranking: Option<Preset>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) analysis: Option<AnalysisKind>,
    /// Read by the store.
    pub(crate) content: Option<ContentPlace>,
    /// Read by the store.
    pub(crate) tables: Option<TableTreatment>,
    /// Read by the store.
    pub(crate) keep_files: Option<bool>,
    pub(crate) models: Option<PathBuf>,
    pub(crate) portal: PortalSettings,
    pub(crate) encoders: EncoderSettings,
    pub(crate) fusion: FusionSettings,
    pub(crate) rerank: RerankSettings,
    pub(crate) server: ServerSettings,
    pub(crate) sparql: SparqlSettings,
    pub(crate) service: ServiceSettings,
    pub(crate) harvest: Vec<HarvestSettings>,
    pub(crate) log: LogSettings,
}

/// Branding.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PortalSettings {
    pub(crate) title: Option<Localized<String>>,
    pub(crate) description: Option<Localized<String>>,
    pub(crate) publisher: Option<Localized<String>>,
    pub(crate) publisher_iri: Option<String>,
    pub(crate) questions: Option<Localized<Vec<String>>>,
    pub(crate) logo: Option<PathBuf>,
    #[serde(deserialize_with = "light_color")]
    pub(crate) color: Option<Color>,
    #[serde(deserialize_with = "dark_color")]
    pub(crate) dark_color: Option<Color>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) imprint: Option<FooterLink>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) privacy: Option<FooterLink>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) accessibility: Option<FooterLink>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) contact: Option<FooterLink>,
    pub(crate) theme: Option<PathBuf>,
}

/// Fusion of rankings, as `tune` learns it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FusionSettings {
    #[serde(deserialize_with = "comma_list")]
    pub(crate) pool: Option<Vec<ModelKind>>,
    #[serde(deserialize_with = "comma_list")]
    pub(crate) weights: Option<Vec<f64>>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) popularity: Option<f64>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) method: Option<FusionChoice>,
}

impl FusionSettings {
    /// Returns weights as they are written.
    pub(crate) fn text(weights: &[f64]) -> String {
        weights
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// Candidates and scores of re-ranking.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RerankSettings {
    pub(crate) pool_depth: Option<NonZeroUsize>,
    pub(crate) dense_depth: Option<usize>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) combine: Option<Combination>,
    pub(crate) works: Option<usize>,
    #[serde(deserialize_with = "comma_list")]
    pub(crate) min_similarity: Option<Vec<f64>>,
}

/// Listening, proxies and limits of the server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ServerSettings {
    pub(crate) bind: Option<String>,
    pub(crate) admin: Option<bool>,
    pub(crate) tls_certificate: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) max_connections: Option<NonZeroUsize>,
    pub(crate) workers: Option<bool>,
    #[serde(deserialize_with = "worker_megabytes")]
    pub(crate) worker_memory: Option<u64>,
    pub(crate) trusted_proxies: Option<Vec<IpAddr>>,
    #[serde(deserialize_with = "texts")]
    pub(crate) allowed_hosts: Option<Vec<HostName>>,
    pub(crate) backup_folder: Option<PathBuf>,
    pub(crate) operator_token_file: Option<PathBuf>,
    pub(crate) editor: Option<PathBuf>,
    pub(crate) snippet_deadline: Option<u64>,
    pub(crate) graph_cache: Option<usize>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) snapshot: Option<SnapshotLocation>,
    pub(crate) snapshot_cache: Option<PathBuf>,
    pub(crate) snapshot_key: Option<PathBuf>,
    pub(crate) snapshot_interval: Option<NonZeroU64>,
}

/// Limits of SPARQL queries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SparqlSettings {
    pub(crate) deadline: Option<u64>,
    pub(crate) rows: Option<usize>,
    pub(crate) megabytes: Option<u64>,
    pub(crate) queries: Option<usize>,
    pub(crate) queries_of_client: Option<usize>,
}

/// Remote endpoints that `SERVICE` may query.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ServiceSettings {
    #[serde(deserialize_with = "texts")]
    pub(crate) allow: Option<Vec<IriPrefix>>,
    #[serde(deserialize_with = "parse_text")]
    pub(crate) others: Option<Others>,
    #[serde(deserialize_with = "networks")]
    pub(crate) private_networks: Option<Vec<IpNet>>,
}

/// One source that the server harvests repeatedly.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HarvestSettings {
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) protocol: HarvestProtocol,
    #[serde(default, deserialize_with = "optional_duration")]
    pub(crate) every: Option<Duration>,
    #[serde(default)]
    pub(crate) download: bool,
    /// Hosts or IRI prefixes that requests may be sent to, in addition to the host of the source.
    #[serde(default)]
    pub(crate) hosts: Vec<IriPrefix>,
}

/// Range of the memory of a worker process, in megabytes.
pub(crate) const WORKER_MEGABYTES: RangeInclusive<u64> = 16..=1 << 20;

fn worker_megabytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let megabytes = u64::deserialize(deserializer)?;
    if WORKER_MEGABYTES.contains(&megabytes) {
        return Ok(Some(megabytes));
    }
    let (least, most) = (WORKER_MEGABYTES.start(), WORKER_MEGABYTES.end());
    Err(de::Error::custom(format!(
        "{megabytes} is not from {least} to {most} megabytes"
    )))
}

fn light_color<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
    Color::for_light_pages(&String::deserialize(deserializer)?)
        .map(Some)
        .map_err(de::Error::custom)
}

fn dark_color<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
    Color::for_dark_pages(&String::deserialize(deserializer)?)
        .map(Some)
        .map_err(de::Error::custom)
}

fn texts<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts
        .iter()
        .map(|text| text.parse().map_err(de::Error::custom))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<IpNet>>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let networks = texts.iter().map(|text| private_network(text));
    networks
        .collect::<Result<_, _>>()
        .map(Some)
        .map_err(de::Error::custom)
}

fn comma_list<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.split(',')
        .map(|one| one.trim().parse().map_err(de::Error::custom))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn optional_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    parse_duration(&String::deserialize(deserializer)?)
        .map(Some)
        .map_err(de::Error::custom)
}

/// Parses a duration: a positive number with the unit s, m, h or d.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text
        .split_at_checked(text.len().saturating_sub(1))
        .ok_or_else(|| duration_error(text))?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(duration_error(text)),
    };
    let number = number
        .parse::<u64>()
        .ok()
        .filter(|number| *number > 0)
        .and_then(|number| number.checked_mul(seconds));
    number
        .map(Duration::from_secs)
        .ok_or_else(|| duration_error(text))
}

fn duration_error(text: &str) -> String {
    format!("{text:?} is not a duration; write a number and s, m, h or d, for example 30m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("6h"), Ok(Duration::from_secs(21_600)));
        for wrong in [
            "",
            "h",
            "6",
            "0h",
            "-1h",
            "6 h",
            "é",
            "99999999999999999999d",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
