//! Compact documents: texts short enough for an encoder.
//!
//! Q. Chen et al.: *Dense Re-Ranking with Weak Supervision for RDF Dataset Search* (DR2), ISWC 2023. One text contains
//! the metadata, the other the most representative triples. The encoder's tokenizer adds special tokens and truncates a
//! triple to 45 and a text to 512 tokens.

use lodeseek_catalog::Metadata;
use lodeseek_rdf::{Labels, Triple, TripleGraph};
use serde::{Deserialize, Serialize};

/// Maximum number of characters of a part: more than the longest encoders read, 32,768 tokens.
const MAX_PART: usize = 200_000;
/// Maximum number of characters of a label in a triple: more than the 45 tokens that an encoder reads of a triple.
pub(super) const MAX_LABEL: usize = 2_000;

/// Dataset as two texts, in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactDocument {
    /// Title, description, tags, author, titles of the works that introduced the dataset, alternative names. Missing
    /// parts are omitted.
    pub metadata: Vec<String>,
    /// One line for each triple, `subject property object` by their labels, best first.
    pub triples: Vec<String>,
}

impl CompactDocument {
    /// Creates the compact document of a dataset from a ranking of its triples.
    #[must_use]
    pub fn new(metadata: &Metadata, graph: &TripleGraph, ranking: &[Triple]) -> Self {
        let labels = Labels::for_index(graph);
        let line = |id| {
            labels
                .label(id)
                .map(|label| cut(&label, MAX_LABEL).to_owned())
                .unwrap_or_default()
        };
        let triples = ranking
            .iter()
            .map(|t| {
                one_line(&format!(
                    "{} {} {}",
                    line(t.subject),
                    line(t.predicate),
                    line(t.object)
                ))
            })
            .collect();
        Self {
            metadata: Self::metadata_lines(metadata),
            triples,
        }
    }

    /// Returns the parts of the metadata. The first part is the title, if there is one.
    #[must_use]
    pub fn metadata_lines(metadata: &Metadata) -> Vec<String> {
        let joined = |texts: &[lodeseek_catalog::Text]| {
            texts
                .iter()
                .map(|t| t.value.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let authors = metadata
            .agents()
            .map(|agent| agent.name.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let works = metadata
            .introduced_by
            .iter()
            .map(|work| work.title.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let themes = metadata
            .themes
            .iter()
            .map(|theme| theme.label.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let parts = [
            joined(&metadata.titles),
            joined(&metadata.descriptions),
            format!("{} {themes}", joined(&metadata.keywords)),
            authors,
            works,
            joined(&metadata.alternatives),
        ];
        parts
            .iter()
            .map(|part| one_line(part))
            .filter(|part| !part.is_empty())
            .collect()
    }
}

fn one_line(text: &str) -> String {
    cut(text, MAX_PART)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the first `length` characters of a text.
pub(super) fn cut(text: &str, length: usize) -> &str {
    text.char_indices()
        .nth(length)
        .map_or(text, |(end, _)| &text[..end])
}
