//! The page of entities found by words, and of the datasets in which a resource occurs.

use super::{
    PageContext, Piece, TextView, readable, render, shorten_around_match, split_matches, title_of,
};
use crate::entities::name;
use crate::entity_search::{DEFAULT_HITS, Found, MAX_SKIPPED, Occurrence, ResourceOccurrences};
use crate::text::{href, shorten};
use askama::Template;
use axum::response::Response;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{EntityHit, EntityRequest, EntityResponse};
use std::collections::BTreeSet;

/// Length of a literal in characters: about two lines on a wide screen.
const MAX_LITERAL_CHARS: usize = 240;
/// Length of the name of an entity in characters.
const MAX_NAME_CHARS: usize = 120;

/// An entity ready for the template.
struct EntityView {
    href: String,
    label: Vec<Piece>,
    dataset: String,
    title: String,
    property: String,
    literal: TextView,
}

/// A dataset in which a resource occurs, ready for the template.
struct OccurrenceView {
    href: String,
    title: String,
    uses: Vec<String>,
}

#[derive(Template)]
#[template(path = "entities.html")]
struct EntitiesPage {
    page: PageContext,
    heading: String,
    /// The only searched dataset: its id.
    dataset: Option<DatasetId>,
    /// Numbers and restrictions of the result.
    notes: Vec<String>,
    entities: Vec<EntityView>,
    occurrences: Vec<OccurrenceView>,
    /// If true, the query is a resource.
    is_resource: bool,
    first: usize,
    previous: Option<String>,
    next: Option<String>,
    /// Address of the search for datasets with the same query.
    search: String,
    /// Address of the same search in all datasets.
    everywhere: String,
}

/// Renders the page. Entities of the datasets `index_only` have no pages.
pub(crate) fn entities(
    page: &PageContext,
    request: &EntityRequest,
    found: &Found,
    index_only: &BTreeSet<DatasetId>,
) -> Response {
    let page = page.clone().with_query(&request.text);
    let content = match found {
        Found::Entities(response) => of_words(page, request, response, index_only),
        Found::Occurrences(occurrences) => of_resource(page, occurrences, request),
    };
    render(&content)
}

/// Returns the address of the search for entities or occurrences.
pub(super) fn address(text: &str) -> String {
    format!("/entities?{}", encode_parameters(&[("q", text)]))
}

/// Returns the address of the search for datasets.
fn dataset_search(text: &str) -> String {
    format!("/?{}", encode_parameters(&[("q", text)]))
}

fn encode_parameters(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

fn of_words(
    page: PageContext,
    request: &EntityRequest,
    response: &EntityResponse,
    index_only: &BTreeSet<DatasetId>,
) -> EntitiesPage {
    let end = request.skip + response.hits.len();
    let mut notes = vec![format!(
        "{} {}",
        page.count("entities-count", response.total),
        page.count("entities-datasets", response.datasets)
    )];
    if !response.is_complete {
        notes.push(page.text("entities-incomplete"));
    }
    EntitiesPage {
        heading: page.text_with("entities-for", "query", &request.text),
        dataset: request.datasets.first().cloned(),
        notes,
        entities: response
            .hits
            .iter()
            .map(|hit| entity_view(&page, hit, response, index_only))
            .collect(),
        occurrences: Vec::new(),
        is_resource: false,
        first: request.skip + 1,
        previous: (request.skip > 0)
            .then(|| page_address(request, request.skip.saturating_sub(request.depth))),
        next: (!response.hits.is_empty() && has_next(end, response.total))
            .then(|| page_address(request, end)),
        search: dataset_search(&request.text),
        everywhere: address(&request.text),
        page,
    }
}

/// Returns the address of the search for entities after skipping `skip` of them.
fn page_address(request: &EntityRequest, skip: usize) -> String {
    let (skip, depth) = (skip.to_string(), request.depth.to_string());
    let mut pairs = vec![("q", request.text.as_str()), ("skip", skip.as_str())];
    if request.depth != DEFAULT_HITS {
        pairs.push(("k", depth.as_str()));
    }
    pairs.extend(request.datasets.iter().map(|id| ("dataset", id.as_str())));
    format!("/entities?{}", encode_parameters(&pairs))
}

/// Returns true if entities follow the first `end`, and may be requested.
fn has_next(end: usize, total: u64) -> bool {
    (end as u64) < total && end <= MAX_SKIPPED
}

fn entity_view(
    page: &PageContext,
    hit: &EntityHit,
    response: &EntityResponse,
    index_only: &BTreeSet<DatasetId>,
) -> EntityView {
    let dataset = href(&hit.dataset);
    let subject = &hit.triple.subject;
    let label = if subject.label.is_empty() {
        name(subject)
    } else {
        readable(&subject.label)
    };
    let in_literal = response.words.in_text(&hit.triple.object.label);
    let literal = shorten_around_match(
        &readable(&hit.triple.object.label),
        MAX_LITERAL_CHARS,
        &in_literal,
    );
    EntityView {
        href: if index_only.contains(&hit.dataset) {
            dataset.clone()
        } else {
            super::entity::address(&dataset, &name(subject), [0, 0])
        },
        label: split_matches(
            &shorten(&label, MAX_NAME_CHARS),
            response.words.in_text(&label),
        ),
        title: readable(&hit.title),
        property: hit.triple.predicate.label.clone(),
        literal: TextView {
            pieces: split_matches(&literal, in_literal),
            lang: page.foreign(hit.triple.object.language.as_deref()),
        },
        dataset,
    }
}

fn of_resource(
    page: PageContext,
    found: &ResourceOccurrences,
    request: &EntityRequest,
) -> EntitiesPage {
    let mut notes = vec![page.count("datasets-count", found.datasets.len())];
    if !found.is_exact {
        notes.push(page.text("occurrences-minimums"));
    }
    if !found.is_complete {
        notes.push(page.text("occurrences-incomplete"));
    }
    let resource = found.resource.as_str();
    EntitiesPage {
        heading: page.text_with("occurrences-of", "resource", resource),
        dataset: None,
        notes,
        entities: Vec::new(),
        occurrences: found
            .datasets
            .iter()
            .map(|one| occurrence_view(&page, one, resource))
            .collect(),
        is_resource: true,
        first: 1,
        previous: None,
        next: None,
        search: dataset_search(&request.text),
        everywhere: address(&request.text),
        page,
    }
}

fn occurrence_view(page: &PageContext, one: &Occurrence, resource: &str) -> OccurrenceView {
    let dataset = href(&one.metadata.id);
    let uses = [
        ("occurs-as-subject", one.uses.subject),
        ("occurs-as-object", one.uses.object),
        ("occurs-as-class", one.uses.class),
        ("occurs-as-property", one.uses.property),
    ];
    // A property that is no subject or object has no page.
    let has_page = one.uses.subject + one.uses.object + one.uses.class > 0;
    OccurrenceView {
        href: if has_page {
            super::entity::address(&dataset, resource, [0, 0])
        } else {
            dataset
        },
        title: title_of(page, &one.metadata).0,
        uses: uses
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(id, count)| page.count(id, count))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end_with_the_entities_or_where_no_more_can_be_skipped() {
        for (end, total, expected) in [
            (10, 11, true),
            (11, 11, false),
            (MAX_SKIPPED, 20_000, true),
            (MAX_SKIPPED + 1, 20_000, false),
        ] {
            assert_eq!(has_next(end, total), expected, "{end} of {total}");
        }
    }
}
