//! Cards: the data shown of a dataset, stored with its document in the index. Search results need nothing else.

use super::indexer::{DEFAULT_COMPACT_METHOD, description_version};
use super::{Coverage, EngineError};
use lodeseek_catalog::{DatasetId, Distribution, Metadata, RemoteContent, is_stated_license};
use lodeseek_index::Snapshot;
use lodeseek_profile::{Schema, Summary};
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TableRows};
use lodeseek_store::Entry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The data of a dataset that search results and its page show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The catalogue's metadata.
    pub metadata: Metadata,
    /// The distributions of its content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// The licences of the dataset or, if it has none, those of its distributions; empty in cards of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub licenses: Vec<String>,
    /// The SPARQL endpoint that has the content, if at most a part of it is stored here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteContent>,
    /// The area and the period that it covers, as far as known.
    #[serde(default, skip_serializing_if = "Coverage::is_empty")]
    pub coverage: Coverage,
    /// The version of its content.
    pub version: String,
    /// The version of its description; `None` in cards of earlier versions of this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description_version: Option<String>,
    /// Its VoID statistics, the longest lists truncated.
    pub profile: Summary,
    /// Number of triples of the sample from which its snippet, texts and coverage are, if the content exceeds memory. The counts of
    /// the profile and the schema are those of the whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_triples: Option<u64>,
    /// Its schema graph of classes and links between them.
    #[serde(default)]
    pub schema: Schema,
    /// The name of the method that extracted its snippet.
    pub snippet_method: String,
    /// The name of the method that ranked the triples for encoders, as in `index --compact-method`.
    #[serde(
        default = "default_compact_method",
        skip_serializing_if = "is_default_compact_method"
    )]
    pub compact_method: String,
    /// Its snippet, with English labels where available.
    pub snippet: Vec<LabelledTriple>,
    /// Rows of a table, if its content is a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableRows>,
    /// Other labels of the snippet's terms: language → IRI or blank node → label. Only for the languages of
    /// [`CARD_LANGUAGES`]: ten results in the reader's language must not read ten graphs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, BTreeMap<String, String>>,
}

/// The languages besides English in which cards store labels: those of open data with most readers.
pub const CARD_LANGUAGES: [&str; 11] = [
    "ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh",
];

fn default_compact_method() -> String {
    DEFAULT_COMPACT_METHOD.name().to_owned()
}

fn is_default_compact_method(method: &String) -> bool {
    *method == default_compact_method()
}

impl Card {
    /// Iterates over the stated licences: IRIs or texts.
    pub fn licenses(&self) -> impl Iterator<Item = &str> {
        let own = self
            .metadata
            .license
            .as_deref()
            .filter(|_| self.licenses.is_empty());
        own.into_iter()
            .chain(self.licenses.iter().map(String::as_str))
            .filter(|license| is_stated_license(license))
    }

    /// Returns true if the card has the content and the description of an entry. Options of the index are not compared.
    pub(crate) fn is_current(&self, entry: &Entry) -> Result<bool, EngineError> {
        Ok(self.version == entry.version
            && match &self.description_version {
                Some(version) => *version == description_version(entry)?,
                None => self.metadata == entry.dataset.metadata,
            })
    }

    /// Returns the snippet with labels in the first of these languages that a term has, else in English, else in any.
    #[must_use]
    pub fn snippet_in(&self, languages: &[String]) -> Vec<LabelledTriple> {
        let preferred = languages.iter().take_while(|language| *language != "en");
        let primary = preferred.filter_map(|language| language.split('-').next());
        let maps: Vec<_> = primary
            .filter_map(|language| self.labels.get(language))
            .collect();
        self.snippet
            .iter()
            .map(|triple| LabelledTriple {
                subject: relabel_term(&triple.subject, &maps),
                predicate: relabel_term(&triple.predicate, &maps),
                object: relabel_term(&triple.object, &maps),
            })
            .collect()
    }
}

/// Replaces the label of an IRI or a blank node by the first one in the maps.
fn relabel_term(term: &LabelledTerm, maps: &[&BTreeMap<String, String>]) -> LabelledTerm {
    let mut relabelled = term.clone();
    if let Some(triple) = &term.triple {
        let [subject, predicate, object] = [&triple.subject, &triple.predicate, &triple.object]
            .map(|term| relabel_term(term, maps));
        return LabelledTerm::from_triple(
            LabelledTriple {
                subject,
                predicate,
                object,
            },
            term.value.clone(),
        );
    }
    if !term.is_literal()
        && let Some(label) = maps.iter().find_map(|labels| labels.get(&term.value))
    {
        relabelled.label.clone_from(label);
    }
    relabelled
}

/// Part of a card: the area and the period.
#[derive(Deserialize)]
struct CardCoverage {
    #[serde(default)]
    coverage: Coverage,
}

/// Reads the area and the period of a stored card.
pub(super) fn read_coverage(card: &[u8]) -> Result<Coverage, EngineError> {
    let CardCoverage { coverage } = serde_json::from_slice(card)?;
    Ok(coverage)
}

/// Reads the card of a dataset. `None` if the index has no such dataset.
pub(super) fn read_card(index: &Snapshot, id: &DatasetId) -> Result<Option<Card>, EngineError> {
    let Some(bytes) = index.card(id)? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_slice(&bytes)?))
}
