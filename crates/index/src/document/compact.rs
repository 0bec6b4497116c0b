//! Compact documents: texts short enough for an encoder.
//!
//! Q. Chen et al.: *Dense Re-Ranking with Weak Supervision for RDF Dataset Search* (DR2), ISWC 2023. One text contains
//! the metadata, the other the most representative triples. The encoder's tokenizer adds special tokens and truncates a
//! triple to 45 and a text to 512 tokens.

use lodeseek_catalog::{Metadata, Text};
use lodeseek_rdf::{Labels, TableGraph, TermId, Triple, TripleGraph};
use serde::{Deserialize, Serialize};

/// Maximum number of characters of a part: more than the longest encoders read, 32,768 tokens.
const MAX_PART_CHARS: usize = 200_000;
/// Maximum number of characters of a label in a triple: more than the 45 tokens that an encoder reads of a triple.
pub(super) const MAX_LABEL_CHARS: usize = 2_000;

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
        let mut triples = table_lines(graph, &labels);
        triples.extend(ranking.iter().map(|triple| {
            let [subject, predicate, object] =
                [triple.subject, triple.predicate, triple.object].map(|id| cut_label(&labels, id));
            one_line(&format!("{subject} {predicate} {object}"))
        }));
        Self {
            metadata: Self::metadata_lines(metadata),
            triples,
        }
    }

    /// Returns the parts of the metadata. The first part is the title, if there is one.
    #[must_use]
    pub fn metadata_lines(metadata: &Metadata) -> Vec<String> {
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
            join_values(&metadata.titles),
            join_values(&metadata.descriptions),
            format!("{} {themes}", join_values(&metadata.keywords)),
            authors,
            works,
            join_values(&metadata.alternatives),
        ];
        parts
            .iter()
            .map(|part| one_line(part))
            .filter(|part| !part.is_empty())
            .collect()
    }
}

fn join_values(texts: &[Text]) -> String {
    texts
        .iter()
        .map(|text| text.value.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the first [`MAX_LABEL_CHARS`] characters of the label of a term; an empty text if it has none.
fn cut_label(labels: &Labels<'_>, id: TermId) -> String {
    let label = labels.label(id).unwrap_or_default();
    cut(&label, MAX_LABEL_CHARS).to_owned()
}

/// Returns lines with the names of a graph's tables and their columns: a reader of a table reads its header first.
fn table_lines(graph: &TripleGraph, labels: &Labels<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let tables = TableGraph::new(graph);
    for table in tables.iter().flat_map(TableGraph::tables).take(MAX_TABLES) {
        let mut line = format!("{}:", cut_label(labels, table.class));
        for column in table.columns.iter().take(MAX_COLUMNS) {
            if line.len() > MAX_LINE_BYTES {
                lines.push(one_line(&line));
                line.clear();
            }
            line.push(' ');
            line.push_str(&cut_label(labels, *column));
            line.push(',');
        }
        lines.push(one_line(line.trim_end_matches(',')));
    }
    lines
}

fn one_line(text: &str) -> String {
    cut(text, MAX_PART_CHARS)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the first `length` characters of a text.
pub(super) fn cut(text: &str, length: usize) -> &str {
    match text.char_indices().nth(length) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
