//! The pages of similar datasets and of the search by example.

use super::render;
use crate::text::href;
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{Card, SimilarDataset, SimilarDatasets, SimilarityBasis, SimilarityClause, SimilarityPart};

/// Report on parsing an example.
pub(crate) struct ExampleReport {
    /// File name, or a description of its origin.
    pub(crate) name: String,
    /// Number of distinct triples.
    pub(crate) triples: usize,
    /// Skipped statements with their lines, and limits that were reached.
    pub(crate) problems: Vec<String>,
}

/// A similar dataset, ready for a template.
pub(super) struct SimilarView {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) facts: Vec<String>,
    pub(super) score: String,
    /// The score for `<meter>`.
    pub(super) value: f64,
    pub(super) clauses: Vec<SimilarityClause>,
    /// The score as a sum of its parts.
    pub(super) sum: String,
}

impl SimilarView {
    pub(super) fn new(one: &SimilarDataset) -> Self {
        let publisher = one.dataset.publisher.iter().cloned();
        let triples = (one.triples > 0).then(|| format!("{} triples", one.triples));
        Self {
            href: href(&one.dataset.id),
            title: one.dataset.title.clone(),
            facts: publisher.chain(triples).collect(),
            score: format!("{:.2}", one.score),
            value: one.score,
            clauses: one.parts.iter().flat_map(SimilarityPart::clauses).collect(),
            sum: sum(one),
        }
    }
}

/// Writes a score as the sum of its parts: `0.63 = vocabulary 0.71 · 0.50 + …`
fn sum(one: &SimilarDataset) -> String {
    let name = |likeness: &SimilarityBasis| match likeness {
        SimilarityBasis::Vocabulary { .. } => "vocabulary",
        SimilarityBasis::Links { .. } => "links",
        SimilarityBasis::Meaning { .. } => "meaning",
        SimilarityBasis::Words { .. } => "words",
    };
    let part = |part: &SimilarityPart| format!("{} {:.2} · {:.2}", name(&part.basis), part.score, part.weight);
    format!("{:.2} = {}", one.score, one.parts.iter().map(part).collect::<Vec<_>>().join(" + "))
}

#[derive(Template)]
#[template(path = "similar.html")]
struct SimilarPage {
    query: String,
    dataset: String,
    title: String,
    of: u64,
    similar: Vec<SimilarView>,
}

#[derive(Template)]
#[template(path = "like.html")]
struct LikePage<'p> {
    query: String,
    report: Option<&'p ExampleReport>,
    of: u64,
    similar: Vec<SimilarView>,
    megabytes: usize,
}

fn views(found: &SimilarDatasets) -> Vec<SimilarView> {
    found.similar.iter().map(SimilarView::new).collect()
}

/// Renders the datasets similar to one.
pub(crate) fn similar(card: &Card, found: &SimilarDatasets) -> Response {
    render(&SimilarPage {
        query: String::new(),
        dataset: href(&card.metadata.id),
        title: card.metadata.title().to_owned(),
        of: found.of,
        similar: views(found),
    })
}

/// Renders the search by example: the form and, after a search, the results.
pub(crate) fn like(report: Option<&ExampleReport>, found: Option<&SimilarDatasets>, bytes: usize) -> Response {
    render(&LikePage {
        query: String::new(),
        report,
        of: found.map_or(0, |found| found.of),
        similar: found.map(views).unwrap_or_default(),
        megabytes: bytes >> 20,
    })
}
