//! Values of facets in a filter that no dataset has, and similar values.

use super::{
    BrowseRequest, EngineError, Facet, FacetCounts, Filter, IndexedCatalog, ValueCount,
    facet_label, facet_value,
};
use serde::Serialize;

/// Maximum number of values of a filter that are looked up.
const MAX_CHECKED_VALUES: usize = 20;
/// Maximum number of values of a facet that are compared with one that no dataset has.
const MAX_COMPARED_VALUES: usize = 10_000;
/// Maximum number of similar values.
const MAX_SIMILAR_VALUES: usize = 3;
/// Minimum similarity (Jaro-Winkler) of such a value.
const MIN_VALUE_SIMILARITY: f64 = 0.85;

/// Value of a facet that no dataset has. As a filter it excludes all datasets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownValue {
    /// The facet.
    pub facet: Facet,
    /// The value, with a well-known prefix if it is an IRI that has one.
    pub value: String,
    /// The most similar values that datasets have, the most similar first; at most three.
    pub similar: Vec<String>,
}

impl IndexedCatalog {
    /// Returns the values of facets in a filter that no dataset has, of the first twenty.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn unknown_values(&self, filter: &Filter) -> Result<Vec<UnknownValue>, EngineError> {
        let mut unknown = Vec::new();
        for &(facet, ref value) in filter.values.iter().take(MAX_CHECKED_VALUES) {
            let request = BrowseRequest {
                filter: Filter::default().with(facet, value.as_str()),
                ..BrowseRequest::default()
            };
            if self.browse(&request)?.total == 0 {
                unknown.push((facet, short_value(facet, value)));
            }
        }
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let request = BrowseRequest {
            facets: MAX_COMPARED_VALUES,
            ..BrowseRequest::default()
        };
        let known = self.browse(&request)?.facets;
        let unknown = unknown.into_iter().map(|(facet, value)| UnknownValue {
            facet,
            similar: similar_values(&known, facet, &value),
            value,
        });
        Ok(unknown.collect())
    }
}

/// Returns the values of a facet that are most similar to one that no dataset has.
fn similar_values(known: &FacetCounts, facet: Facet, unknown: &str) -> Vec<String> {
    let values = known.facets.iter().find(|one| one.facet == facet);
    let mut similar = Vec::new();
    for ValueCount { value, .. } in values.into_iter().flat_map(|one| &one.values) {
        let label = if facet.has_iris() {
            facet_label(facet, value)
        } else {
            value.clone()
        };
        if let Some(similarity) = similarity(unknown, &label) {
            similar.push((similarity, short_value(facet, value)));
        }
    }
    similar.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    similar.truncate(MAX_SIMILAR_VALUES);
    similar.into_iter().map(|(_, value)| value).collect()
}

/// Returns a value with a well-known prefix if it is an IRI that has one.
fn short_value(facet: Facet, value: &str) -> String {
    let label = facet_label(facet, value);
    if facet.has_iris() && facet_value(facet, &label) == value {
        label
    } else {
        value.to_owned()
    }
}

/// Returns the similarity of a value with an unknown one. `None` if they differ too much.
fn similarity(unknown: &str, value: &str) -> Option<f64> {
    let (unknown, value) = (unknown.to_lowercase(), value.to_lowercase());
    let is_part = value.starts_with(&unknown) || unknown.len() > 2 && value.contains(&unknown);
    let similarity = strsim::jaro_winkler(&unknown, &value);
    (is_part || similarity >= MIN_VALUE_SIMILARITY).then_some(similarity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_so_that_a_filter_accepts_them() {
        for (facet, value, short) in [
            (
                Facet::Class,
                "http://xmlns.com/foaf/0.1/Person",
                "foaf:Person",
            ),
            (
                Facet::Class,
                "http://e.org/WaterSample",
                "http://e.org/WaterSample",
            ),
            (Facet::Class, "foo:Bar", "foo:Bar"),
            (Facet::Vocabulary, "http://xmlns.com/foaf/0.1/", "foaf"),
            (Facet::License, "https://e.org/by/", "https://e.org/by/"),
            (Facet::Keyword, "foaf", "foaf"),
        ] {
            assert_eq!(short_value(facet, value), short);
        }
    }

    #[test]
    fn values_are_similar_by_their_beginning_or_spelling() {
        for (unknown, value) in [
            ("CC", "CC-BY-4.0"),
            ("by-4", "CC-BY-4.0"),
            ("Turtel", "Turtle"),
            ("environnment", "Environment"),
        ] {
            assert!(similarity(unknown, value).is_some(), "{unknown} {value}");
        }
        for (unknown, value) in [("CC", "ODC-PDDL"), ("CSV", "Turtle"), ("nix", "name")] {
            assert!(similarity(unknown, value).is_none(), "{unknown} {value}");
        }
    }
}
