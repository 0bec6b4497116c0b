//! Search results and datasets as JSON: the form of `GET /api/search`, `lodeseek search --json` and `GET /dataset/{id}`.

use crate::{Card, FacetValues, Hit, SearchResponse, SnippetTable, facet_label};
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

/// Returns the JSON object of a dataset: that of a hit without what depends on the query. The labels of the stored snippet are in
/// the first of `languages` that a term has.
#[must_use]
pub fn dataset_json(card: &Card, languages: &[String]) -> Value {
    let mut value = metadata_json(card);
    value["snippet"] = json!(card.snippet_in(languages));
    if let Some(rows) = &card.table {
        value["table"] = json!(SnippetTable::from(rows));
    }
    value
}

/// Returns the metadata that hits and datasets have.
fn metadata_json(card: &Card) -> Value {
    let metadata = &card.metadata;
    let mut value = json!({
        "id": metadata.id,
        "title": metadata.title(),
        "description": metadata.description(),
        "creators": metadata.agents().collect::<Vec<_>>(),
        "license": card.licenses().next(),
        "triples": card.profile.triples,
    });
    if let Some(remote) = &card.remote {
        // The endpoint with its size, without the list of graphs.
        value["remote"] = json!(remote.clone().cut(0));
    }
    add_optional_metadata(&mut value, metadata);
    if let Some(place) = &card.coverage.place {
        value["place"] = json!(place);
    }
    if let Some(period) = &card.coverage.period {
        value["period"] = json!(period);
    }
    value
}

fn one_hit(hit: &Hit) -> Value {
    let mut value = metadata_json(&hit.card);
    value["rank"] = json!(hit.rank);
    value["score"] = json!(hit.score);
    value["match"] = json!(hit.quality);
    value["fields"] = json!(hit.fields);
    value["snippet"] = json!(hit.snippet);
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
    if !hit.duplicates.is_empty() {
        value["duplicates"] = json!(hit.duplicates);
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
