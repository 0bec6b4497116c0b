//! The start page: search, example queries, themes with counts, and the newest datasets.

use super::facets::{self, FacetView};
use super::results::{HitView, Results, listed_view};
use super::{PageContext, render};
use crate::AppState;
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{DatasetListing, Facet, Filter, facet_label};

/// Maximum number of facets.
const MAX_FACETS: usize = 6;
/// Number of example queries.
const MAX_EXAMPLES: usize = 3;
/// Maximum length of an example query in characters.
const MAX_EXAMPLE_CHARACTERS: usize = 30;
/// Number of newest datasets.
pub(super) const MAX_NEWEST_DATASETS: usize = 5;

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    page: PageContext,
    datasets: u64,
    /// The contents of the portal, in one sentence.
    summary: String,
    /// Example queries: (words, address).
    examples: Vec<(String, String)>,
    facets: Vec<FacetView>,
    newest: Vec<HitView>,
    /// Parameters that the next query keeps, as hidden fields of its form.
    kept: Vec<(&'static str, String)>,
    /// Address of the list of all datasets.
    unfiltered: String,
}

/// Renders the start page.
pub(super) fn start(
    state: &AppState,
    page: &PageContext,
    results: &Results<'_>,
    listing: &DatasetListing,
) -> Response {
    let mut counts = listing.facets.clone();
    // Authors are mostly the publishers again.
    counts.facets.retain(|one| one.facet != Facet::Creator);
    let mut views = facets::facets(page, &counts, listing.total, results);
    views.truncate(MAX_FACETS);
    let newest = listing
        .datasets
        .iter()
        .take(MAX_NEWEST_DATASETS)
        .map(|one| listed_view(state, page, one));
    render(&StartPage {
        datasets: listing.of,
        summary: summary(page, listing),
        examples: examples(listing, results),
        facets: views,
        newest: newest.collect(),
        kept: results.kept_parameters(results.filter),
        unfiltered: results.filtered(&Filter::default()),
        page: page.clone(),
    })
}

/// Describes the contents of the portal.
fn summary(page: &PageContext, listing: &DatasetListing) -> String {
    let distinct = |facet: Facet| {
        let found = listing.facets.facets.iter().find(|one| one.facet == facet);
        found.map_or(0, |one| one.distinct as u64)
    };
    let datasets = page.count("datasets-count", listing.of);
    let parts = [
        ("summary-publishers", distinct(Facet::Publisher)),
        ("summary-classes", distinct(Facet::Class)),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(id, count)| page.count(id, count))
        .collect();
    let holds = [vec![datasets], parts].concat().join(" ");
    page.text_with("summary", "holds", holds)
}

/// Returns words of the collection as example queries: frequent keywords or, without keywords, themes and classes.
fn examples(listing: &DatasetListing, results: &Results<'_>) -> Vec<(String, String)> {
    let mut examples: Vec<String> = Vec::new();
    for facet in [Facet::Keyword, Facet::Theme, Facet::Task, Facet::Class] {
        let Some(found) = listing.facets.facets.iter().find(|one| one.facet == facet) else {
            continue;
        };
        for value in found
            .values
            .iter()
            .filter(|value| !facets::is_machinery(facet, &value.value))
        {
            let label = facet_label(facet, &value.value);
            let words = label.rsplit(':').next().unwrap_or(&label).trim().to_owned();
            let is_words = words.chars().any(char::is_alphabetic)
                && words.chars().count() <= MAX_EXAMPLE_CHARACTERS;
            let is_new = examples
                .iter()
                .all(|other| !other.eq_ignore_ascii_case(&words));
            if is_words && is_new && examples.len() < MAX_EXAMPLES {
                examples.push(words);
            }
        }
    }
    let link = |words: String| {
        let href = Results {
            query: &words,
            ..*results
        }
        .filtered(&Filter::default());
        (words, href)
    };
    examples.into_iter().map(link).collect()
}
