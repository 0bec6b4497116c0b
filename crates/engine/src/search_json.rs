//! Search results as JSON: the form of `GET /api/search` and of `lodeseek search --json`.

use crate::{FacetValues, Hit, SearchResponse, facet_label};
use lodeseek_catalog::{Metadata, Scheme};
use serde_json::{Value, json};

/// Returns the JSON object of a search response for `query`.
#[must_use]
pub fn hit_json(query: &str, response: &SearchResponse) -> Value {
    let hits: Vec<Value> = response.hits.iter().map(one_hit).collect();
    let mut value = json!({
        "query": query,
        "model": response.model,
        "terms": response.terms,
        "total": response.total,
        "good": response.good,
        "weak": response.total - response.good,
        "withWords": response.with_words,
        "hits": hits,
    });
    if !response.interpretations.is_empty() {
        value["interpretations"] = json!(response.interpretations);
    }
    if !response.suggested_filters.is_empty() {
        value["suggestedFilters"] = json!(response.suggested_filters);
    }
    if !response.unknown_values.is_empty() {
        value["unknownValues"] = json!(response.unknown_values);
    }
    if !response.examples.is_empty() {
        value["examples"] = json!(response.examples);
    }
    if let Some(suggestion) = &response.suggestion {
        value["suggestion"] = json!(suggestion);
    }
    if let Some(corrected) = &response.corrected {
        value["corrected"] = json!(corrected);
    }
    if let Some(rerank) = &response.rerank {
        value["rerank"] = json!(rerank);
        value["onlyClosest"] = json!(response.only_closest);
    }
    if response.hits.iter().any(|hit| !hit.duplicates.is_empty()) {
        value["counts"] = json!("every dataset, those that are the same each");
    }
    if let Some(facets) = &response.facets {
        value["facets"] = facets.facets.iter().map(facet_json).collect();
        value["years"] = json!(facets.years);
    }
    value
}

/// Returns a facet with its values. Values that are IRIs get labels.
fn facet_json(one: &FacetValues) -> Value {
    let mut json = json!(one);
    if one.facet.has_iris()
        && let Some(values) = json["values"].as_array_mut()
    {
        for (json, value) in values.iter_mut().zip(&one.values) {
            json["label"] = json!(facet_label(one.facet, &value.value));
        }
    }
    json
}

fn one_hit(hit: &Hit) -> Value {
    let metadata = &hit.card.metadata;
    let mut value = json!({
        "rank": hit.rank,
        "id": metadata.id,
        "title": metadata.title(),
        "score": hit.score,
        "match": hit.quality,
        "description": metadata.description(),
        "creators": metadata.agents().collect::<Vec<_>>(),
        "license": hit.card.licenses().next(),
        "triples": hit.card.profile.triples,
        "fields": hit.fields,
        "snippet": hit.snippet,
    });
    if let Some(table) = &hit.table {
        value["table"] = json!(table);
    }
    if let Some(popularity) = hit.popularity {
        value["popularity"] = json!(popularity);
    }
    if let Some(score) = hit.cross_encoder {
        value["crossEncoder"] = json!(score);
    }
    if let Some(works) = &hit.works {
        value["works"] = json!(works);
    }
    if !hit.similar_to.is_empty() {
        value["similarTo"] = json!(hit.similar_to);
    }
    if let Some(remote) = &hit.card.remote {
        // The endpoint with its size, without the list of graphs.
        value["remote"] = json!(remote.clone().cut(0));
    }
    if !hit.duplicates.is_empty() {
        value["duplicates"] = json!(hit.duplicates);
    }
    add_optional_metadata(&mut value, metadata);
    let coverage = &hit.card.coverage;
    if let Some(place) = &coverage.place {
        value["place"] = json!(place);
    }
    if let Some(period) = &coverage.period {
        value["period"] = json!(period);
    }
    if !hit.dense.is_empty() {
        value["dense"] = json!(hit.dense);
        value["closest"] = json!(hit.is_closest());
    }
    if let Some(explanation) = &hit.explanation {
        value["explanation"] = json!(explanation);
        value["evidence"] = json!(hit.evidence);
    }
    value
}

/// Adds the properties that only some catalogues provide.
fn add_optional_metadata(value: &mut Value, metadata: &Metadata) {
    if let Some(year) = metadata.first_year() {
        value["year"] = json!(year);
    }
    if let Some(uses) = metadata.uses {
        value["uses"] = json!(uses);
    }
    for (key, scheme) in [
        ("tasks", Scheme::Task),
        ("modalities", Scheme::Modality),
        ("languages", Scheme::Language),
    ] {
        let labels: Vec<&str> = metadata.themes_of(scheme).collect();
        if !labels.is_empty() {
            value[key] = json!(labels);
        }
    }
    if !metadata.introduced_by.is_empty() {
        value["introducedBy"] = json!(metadata.introduced_by);
    }
}
