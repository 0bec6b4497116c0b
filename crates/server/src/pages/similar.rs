//! The pages of similar datasets and of the search by example.

use super::{PageContext, readable, render, title_of};
use crate::text::href;
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{
    Card, RelatedTables, SharedFeatures, SimilarDataset, SimilarDatasets, SimilarityBasis,
    SimilarityClause, SimilarityPart, overlap_clauses,
};
use lodeseek_rdf::to_prefixed_name;

/// Report on parsing an example.
pub(crate) struct ExampleReport {
    /// File name, or a description of its origin.
    pub(crate) name: String,
    /// Number of distinct triples.
    pub(crate) triples: usize,
    /// Skipped statements with their lines, and limits that were reached.
    pub(crate) problems: Vec<String>,
}

/// A dataset whose tables can be joined or united with those of another.
pub(super) struct CombinedTables {
    pub(super) href: String,
    pub(super) title: String,
    /// The evidence, in English.
    pub(super) evidence: Vec<String>,
}

impl CombinedTables {
    pub(super) fn new(related: &RelatedTables) -> Self {
        let clauses = overlap_clauses(&related.overlap).into_iter();
        Self {
            href: href(&related.dataset.id),
            title: readable(&related.dataset.title),
            evidence: clauses.map(|clause| clause.text).collect(),
        }
    }
}

/// A similar dataset, ready for a template.
pub(super) struct SimilarView {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) facts: Vec<String>,
    pub(super) score: String,
    /// The score for `<meter>`.
    pub(super) value: f64,
    /// The reasons in one line.
    pub(super) reasons: String,
    /// The reasons, with the names of what is shared.
    pub(super) clauses: Vec<SimilarityClause>,
    /// The score as a sum of its parts.
    pub(super) sum: String,
}

impl SimilarView {
    pub(super) fn new(page: &PageContext, one: &SimilarDataset) -> Self {
        let publisher = one.dataset.publisher.iter().map(|name| readable(name));
        let triples = (one.triples > 0).then(|| page.count("triples", one.triples));
        let clauses: Vec<SimilarityClause> = one
            .parts
            .iter()
            .flat_map(|part| clauses(page, part))
            .collect();
        let reasons: Vec<&str> = clauses.iter().map(|clause| clause.text.as_str()).collect();
        Self {
            reasons: reasons.join(" · "),
            href: href(&one.dataset.id),
            title: readable(&one.dataset.title),
            facts: publisher.chain(triples).collect(),
            score: format!("{:.2}", one.score),
            value: one.score,
            clauses,
            sum: format_sum(page, one),
        }
    }
}

/// Writes a score as the sum of its parts: `0.63 = vocabulary 0.71 · 0.50 + …`
fn format_sum(page: &PageContext, one: &SimilarDataset) -> String {
    let mut parts = Vec::with_capacity(one.parts.len());
    for part in &one.parts {
        let basis = page.text(match part.basis {
            SimilarityBasis::Vocabulary { .. } => "basis-vocabulary",
            SimilarityBasis::Links { .. } => "basis-links",
            SimilarityBasis::Meaning { .. } => "basis-meaning",
            SimilarityBasis::Words { .. } => "basis-words",
        });
        parts.push(format!("{basis} {:.2} · {:.2}", part.score, part.weight));
    }
    format!("{:.2} = {}", one.score, parts.join(" + "))
}

/// Returns the reasons for a similarity in the language of the page.
pub(super) fn clauses(page: &PageContext, part: &SimilarityPart) -> Vec<SimilarityClause> {
    let clauses = match &part.basis {
        SimilarityBasis::Vocabulary {
            classes,
            properties,
            vocabularies,
        } => vec![
            shared_clause(page, "shared-classes", classes),
            shared_clause(page, "shared-properties", properties),
            shared_clause(page, "shared-vocabularies", vocabularies),
        ],
        SimilarityBasis::Links {
            to,
            from,
            targets,
            entities,
        } => vec![
            shared_clause(page, "shared-links-to", to),
            shared_clause(page, "shared-links-from", from),
            shared_clause(page, "shared-entities", entities),
            shared_clause(page, "shared-targets", targets),
        ],
        SimilarityBasis::Meaning { .. } => vec![Some(text_clause(page.text("shared-meaning")))],
        SimilarityBasis::Words { words } => {
            let text = page.text_with("shared-words", "words", words.join(", "));
            vec![Some(text_clause(text))]
        }
    };
    clauses.into_iter().flatten().collect()
}

/// Returns the clause of shared features with their names; `None` if there are no such features.
fn shared_clause(
    page: &PageContext,
    id: &str,
    features: &SharedFeatures,
) -> Option<SimilarityClause> {
    if features.count == 0 {
        return None;
    }
    let names: Vec<_> = features
        .rarest
        .iter()
        .map(|iri| (to_prefixed_name(iri), iri.clone()))
        .collect();
    Some(SimilarityClause {
        text: page.count(id, features.count),
        all: names.len() == features.count,
        names,
    })
}

fn text_clause(text: String) -> SimilarityClause {
    SimilarityClause {
        text,
        names: Vec::new(),
        all: true,
    }
}

#[derive(Template)]
#[template(path = "similar.html")]
struct SimilarPage {
    page: PageContext,
    dataset: String,
    title: String,
    of: u64,
    similar: Vec<SimilarView>,
    tables_to_combine: Vec<CombinedTables>,
}

#[derive(Template)]
#[template(path = "like.html")]
struct LikePage<'p> {
    page: PageContext,
    report: Option<&'p ExampleReport>,
    of: u64,
    similar: Vec<SimilarView>,
    megabytes: usize,
}

fn similar_views(page: &PageContext, found: &SimilarDatasets) -> Vec<SimilarView> {
    found
        .similar
        .iter()
        .map(|one| SimilarView::new(page, one))
        .collect()
}

/// Renders the datasets similar to one.
pub(crate) fn similar(page: &PageContext, card: &Card, found: &SimilarDatasets) -> Response {
    render(&SimilarPage {
        dataset: href(&card.metadata.id),
        title: title_of(page, &card.metadata).0,
        of: found.of,
        similar: similar_views(page, found),
        tables_to_combine: found.tables.iter().map(CombinedTables::new).collect(),
        page: page.clone(),
    })
}

/// Renders the search by example: the form and, after a search, the results.
pub(crate) fn like(
    page: &PageContext,
    report: Option<&ExampleReport>,
    found: Option<&SimilarDatasets>,
    bytes: usize,
) -> Response {
    render(&LikePage {
        report,
        of: found.map(|found| found.of).unwrap_or(0),
        similar: found
            .map(|found| similar_views(page, found))
            .unwrap_or_default(),
        megabytes: bytes >> 20,
        page: page.clone(),
    })
}
