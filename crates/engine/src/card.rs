//! What is shown of a dataset, kept with its document in the index: a search needs nothing else.

use super::indexer::USUAL_COMPACT;
use lodeseek_catalog::{Distribution, Metadata, RemoteContent};
use lodeseek_profile::{Schema, Summary};
use lodeseek_snippet::{LabelledTerm, LabelledTriple};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything about a dataset that a result or its page shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What the catalogue says.
    pub metadata: Metadata,
    /// Where its content lies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// Where its content stays, if no more than a part of it is held here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteContent>,
    /// The version of its content.
    pub version: String,
    /// Its numbers, the longest lists cut.
    pub profile: Summary,
    /// Its shape.
    #[serde(default)]
    pub schema: Schema,
    /// How its snippet was chosen.
    pub snippet_method: String,
    /// How the triples were ranked that encoders read, by the name that `index --compact-method` takes.
    #[serde(default = "usual_compact_method", skip_serializing_if = "is_usual_compact_method")]
    pub compact_method: String,
    /// Its snippet, with English labels where there are any.
    pub snippet: Vec<LabelledTriple>,
    /// Other labels of its terms: language → IRI or blank node → label. Of the languages of [`CARD_LANGUAGES`] alone:
    /// ten results in the reader's language must not take ten graphs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, BTreeMap<String, String>>,
}

/// The languages in which cards keep labels beside English: those with most readers among the languages of open data.
pub const CARD_LANGUAGES: [&str; 11] = ["ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh"];

fn usual_compact_method() -> String {
    USUAL_COMPACT.name().to_owned()
}

fn is_usual_compact_method(method: &String) -> bool {
    *method == usual_compact_method()
}

impl Card {
    /// The snippet with labels in the first of these languages that a term has; English, or any, where it has none.
    #[must_use]
    pub fn snippet_in(&self, languages: &[String]) -> Vec<LabelledTriple> {
        let preferred = languages.iter().take_while(|language| *language != "en");
        let primary = preferred.filter_map(|language| language.split('-').next());
        let maps: Vec<_> = primary.filter_map(|language| self.labels.get(language)).collect();
        let label = |term: &LabelledTerm| {
            let other = maps.iter().find_map(|labels| labels.get(&term.value)).filter(|_| !term.is_literal());
            LabelledTerm { label: other.unwrap_or(&term.label).clone(), ..term.clone() }
        };
        let triple = |triple: &LabelledTriple| LabelledTriple {
            subject: label(&triple.subject),
            predicate: label(&triple.predicate),
            object: label(&triple.object),
        };
        self.snippet.iter().map(triple).collect()
    }
}
