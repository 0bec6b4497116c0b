//! Entities by words, and datasets by an entity: what the page and the JSON API show.

use crate::AppState;
use crate::error::ApiError;
use lodeseek_catalog::Metadata;
use lodeseek_engine::{EntityRequest, EntityResponse};
use lodeseek_index::{PartForm, parse_query};
use lodeseek_snippet::Deadline;
use lodeseek_store::Uses;
use oxrdf::NamedNode;
use std::time::Instant;

/// Default number of entities of one response.
pub(crate) const DEFAULT_HITS: usize = 10;
/// Maximum number of entities to skip.
pub(crate) const MAX_SKIPPED: usize = 10_000;

/// A dataset in which a resource occurs.
pub(crate) struct Occurrence {
    pub(crate) metadata: Metadata,
    pub(crate) uses: Uses,
}

/// The datasets in which a resource occurs, those with most uses first.
pub(crate) struct ResourceOccurrences {
    pub(crate) resource: NamedNode,
    pub(crate) datasets: Vec<Occurrence>,
    /// If false, numbers of uses are minimums.
    pub(crate) is_exact: bool,
    /// If false, further datasets may contain the resource.
    pub(crate) is_complete: bool,
}

/// The result for a text.
pub(crate) enum Found {
    /// The text is words.
    Entities(EntityResponse),
    /// The text is the IRI of a resource.
    Occurrences(ResourceOccurrences),
}

/// Returns the resource that a text names: `<IRI>`, an address of the web, or a name with a well-known prefix. `None` for
/// words.
pub(crate) fn resource(text: &str) -> Option<NamedNode> {
    let text = text.trim();
    if let Some(iri) = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'))
    {
        return NamedNode::new(iri).ok();
    }
    match parse_query(text).as_slice() {
        [part] if part.form == PartForm::Name && !part.excluded => NamedNode::new(part.iri()?).ok(),
        _ => None,
    }
}

/// Finds the entities whose literals contain words, or the datasets of a resource. Reads graphs: the caller has a permit.
pub(crate) fn find(state: &AppState, request: &EntityRequest) -> Result<Found, ApiError> {
    match resource(&request.text) {
        Some(resource) => find_occurrences(state, resource).map(Found::Occurrences),
        None => {
            let started = Instant::now();
            let response = state.searcher.search_entities(
                request,
                Deadline::new(&|| started.elapsed() >= state.limits.snippets.deadline),
            )?;
            Ok(Found::Entities(response))
        }
    }
}

fn find_occurrences(
    state: &AppState,
    resource: NamedNode,
) -> Result<ResourceOccurrences, ApiError> {
    let found = state.store.occurrences(&resource)?;
    let (most_used, is_complete) = found.most_used_datasets();
    let mut datasets = Vec::new();
    for (id, uses) in most_used {
        // Datasets that are loaded and not indexed yet have no page.
        if let Some(card) = state.searcher.catalog().card(id)? {
            datasets.push(Occurrence {
                metadata: card.metadata,
                uses,
            });
        }
    }
    Ok(ResourceOccurrences {
        resource,
        datasets,
        is_exact: found.is_exact,
        is_complete,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_told_from_words() {
        let iri = |text: &str| resource(text).map(NamedNode::into_string);
        assert_eq!(
            iri(" http://example.org/a ").as_deref(),
            Some("http://example.org/a")
        );
        assert_eq!(iri("<urn:isbn:1>").as_deref(), Some("urn:isbn:1"));
        assert_eq!(
            iri("foaf:Person").as_deref(),
            Some("http://xmlns.com/foaf/0.1/Person")
        );
        for words in [
            "Ada Lovelace",
            "http://example.org/a b",
            "-foaf:Person",
            "<no iri>",
            "",
        ] {
            assert_eq!(iri(words), None, "{words}");
        }
    }
}
