//! Compact documents: texts short enough for an encoder.
//!
//! Q. Chen et al.: *Dense Re-Ranking with Weak Supervision for RDF Dataset Search* (DR2), ISWC 2023. One text contains
//! the metadata, the other the most representative triples. The encoder's tokenizer adds special tokens and truncates a
//! triple to 45 and a text to 512 tokens.

use lodeseek_catalog::Metadata;
use lodeseek_rdf::{Labels, TableGraph, TermId, Triple, TripleGraph};
use serde::{Deserialize, Serialize};

/// Maximum number of characters of a part: more than the longest encoders read, 32,768 tokens.
const MAX_PART: usize = 200_000;
/// Maximum number of characters of a label in a triple: more than the 45 tokens that an encoder reads of a triple.
pub(super) const MAX_LABEL: usize = 2_000;

/// Maximum number of tables whose columns are listed.
const MAX_TABLES: usize = 8;
/// Maximum number of listed columns of a table.
const MAX_COLUMNS: usize = 60;
/// Length in bytes beyond which columns continue on the next line: about 45 tokens.
const MAX_LINE_BYTES: usize = 140;

/// Dataset as two texts, in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactDocument {
    /// Title, description, tags, author, titles of the works that introduced the dataset, alternative names. Missing
    /// parts are omitted.
    pub metadata: Vec<String>,
    /// The names of tables and their columns, then one line for each triple, `subject property object` by their labels, best first.
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
        let mut triples = table_lines(graph, &line);
        triples.extend(ranking.iter().map(|t| {
            one_line(&format!(
                "{} {} {}",
                line(t.subject),
                line(t.predicate),
                line(t.object)
            ))
        }));
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

/// Returns lines with the names of a graph's tables and their columns: a reader of a table reads its header first.
fn table_lines(graph: &TripleGraph, label: &impl Fn(TermId) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    let tables = TableGraph::new(graph);
    for table in tables.iter().flat_map(TableGraph::tables).take(MAX_TABLES) {
        let mut line = format!("{}:", label(table.class));
        for column in table.columns.iter().take(MAX_COLUMNS) {
            if line.len() > MAX_LINE_BYTES {
                lines.push(one_line(&line));
                line.clear();
            }
            line.push(' ');
            line.push_str(&label(*column));
            line.push(',');
        }
        lines.push(one_line(line.trim_end_matches(',')));
    }
    lines
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
