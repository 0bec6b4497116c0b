//! The start page: search, questions, topics with counts, and the datasets that were added last.

use super::facets::{self, ValueView};
use super::results::{HitView, Results, card_view};
use super::{PageContext, render};
use crate::AppState;
use crate::error::ApiError;
use crate::portal::arrivals;
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{DatasetListing, Facet, Filter};
use std::iter;

/// Number of newest datasets.
pub(super) const MAX_NEWEST_DATASETS: usize = arrivals::MAX_ARRIVALS;
/// Number of questions.
const MAX_QUESTIONS: usize = 3;
/// Maximum length of a topic in a question in characters.
const MAX_TOPIC_CHARACTERS: usize = 40;

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    page: PageContext,
    datasets: u64,
    /// The contents of the portal, in one sentence.
    summary: String,
    /// Questions that the collection answers: (text, address).
    questions: Vec<(String, String)>,
    topics: Vec<ValueView>,
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
) -> Result<Response, ApiError> {
    Ok(render(&StartPage {
        datasets: listing.of,
        summary: describe_contents(page, listing),
        questions: question_links(state, page, listing, results),
        topics: facets::topics(page, &listing.facets, results),
        newest: newest_hits(state, page, listing)?,
        kept: results.kept_parameters(results.filter),
        unfiltered: results.address_with_filter(&Filter::default()),
        page: page.clone(),
    }))
}

/// Returns the datasets that were added last. In a catalogue without times of arrival these are the ones of the latest year.
fn newest_hits(
    state: &AppState,
    page: &PageContext,
    listing: &DatasetListing,
) -> Result<Vec<HitView>, ApiError> {
    let mut views = Vec::new();
    for id in arrivals::latest(state)?.iter() {
        if let Some(card) = state.searcher.catalog().card(id)? {
            views.push(card_view(state, page, &card, iter::empty(), &[], None));
        }
    }
    if views.is_empty() {
        for one in listing.datasets.iter().take(MAX_NEWEST_DATASETS) {
            views.push(card_view(state, page, &one.card, iter::empty(), &[], None));
        }
    }
    Ok(views)
}

/// Describes the contents of the portal.
fn describe_contents(page: &PageContext, listing: &DatasetListing) -> String {
    let mut parts = vec![page.count("datasets-count", listing.of)];
    for (id, facet) in [
        // Some catalogues name creators only.
        ("summary-publishers", Facet::Creator),
        ("summary-classes", Facet::Class),
    ] {
        let found = listing.facets.facets.iter().find(|one| one.facet == facet);
        if let Some(one) = found.filter(|one| one.distinct > 0) {
            parts.push(page.count(id, one.distinct));
        }
    }
    page.text_with("summary", "holds", parts.join(" "))
}

/// Returns the questions of the configuration, or else questions for frequent topics of the collection.
fn question_links(
    state: &AppState,
    page: &PageContext,
    listing: &DatasetListing,
    results: &Results<'_>,
) -> Vec<(String, String)> {
    let mut questions = page.localize(&state.portal.portal.questions).clone();
    if questions.is_empty() {
        questions = frequent_topics(page, listing)
            .iter()
            .map(|topic| page.text_with("start-question", "topic", topic))
            .collect();
    }
    let mut linked = Vec::new();
    for question in questions.into_iter().take(MAX_QUESTIONS) {
        let search = Results {
            query: &question,
            ..*results
        };
        linked.push((
            question.clone(),
            search.address_with_filter(&Filter::default()),
        ));
    }
    linked
}

/// Returns frequent topics of the collection: themes and tasks, then keywords, then classes. Keywords of several words are first,
/// because single ones are often technical.
fn frequent_topics(page: &PageContext, listing: &DatasetListing) -> Vec<String> {
    let mut topics: Vec<String> = Vec::new();
    for facet in [Facet::Theme, Facet::Task, Facet::Keyword, Facet::Class] {
        let Some(found) = listing.facets.facets.iter().find(|one| one.facet == facet) else {
            continue;
        };
        let mut values: Vec<&str> = Vec::new();
        for value in &found.values {
            if !facets::is_machinery(facet, &value.value) {
                values.push(&value.value);
            }
        }
        let mut labels = Vec::new();
        for label in facets::topic_labels(page, facet, &values)
            .into_iter()
            .flatten()
        {
            labels.push(label.replace('_', " "));
        }
        if facet == Facet::Keyword {
            labels.sort_by_key(|label| !label.contains(' '));
        }
        for label in labels {
            let words = label.rsplit(':').next().unwrap_or(&label).trim();
            let is_topic = words.chars().any(char::is_alphabetic)
                && words.chars().count() <= MAX_TOPIC_CHARACTERS;
            let is_new = topics
                .iter()
                .all(|other| !other.eq_ignore_ascii_case(words));
            if is_topic && is_new {
                topics.push(words.to_owned());
            }
        }
        if topics.len() >= MAX_QUESTIONS {
            break;
        }
    }
    topics
}
