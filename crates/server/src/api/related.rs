//! `GET /dataset/{id}/related`: duplicates of a dataset and its other editions, as found by deduplication, and datasets whose tables can
//! be joined or united with its own.
//!
//! These findings change with every index and are no metadata of the catalogue. Harvesters would copy them from a
//! description or a feed, and wrong ones would persist. Therefore they are a resource of their own, which no catalogue lists.
//! Editions use the terms of DCAT 3, §11, if their order is known. Duplicates are in JSON only: `owl:sameAs` would be a
//! stronger claim than the finding.

use crate::AppState;
use crate::documentation::{
    BadRequest, FormatParameter, Id, JsonError, JsonObject, Negotiated, NotAcceptable, NotFound,
    Rdf, Text,
};
use crate::error::ApiError;
use crate::negotiation::json_or_syntax;
use crate::response_formats;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::editions::EditionRelation;
use lodeseek_engine::{RelatedDatasets, TableOverlap};
use lodeseek_rdf::vocab::{codakg, dcat, dcterms, lodeseek, rdf};
use oxrdf::{BlankNode, Literal, NamedNode, Term, Triple};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
}

#[utoipa::path(get, path = "/dataset/{id}/related", tag = "Datasets",
    summary = "Duplicates of a dataset under other ids, its editions, and datasets whose tables can be joined or united with its own",
    params(Id, FormatParameter),
    responses(
        Negotiated<(JsonObject, Rdf)>,
        BadRequest<(JsonError, Text)>,
        NotFound<Text>,
        NotAcceptable<Text>))]
pub(super) async fn related(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let form = json_or_syntax(parameters.format.as_deref(), &headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    state
        .work(move |state| {
            let related = state
                .searcher
                .catalog()
                .related_datasets(&id)?
                .ok_or_else(|| ApiError::no_dataset(&id))?;
            let Some(form) = form else {
                return Ok(Json(related).into_response());
            };
            let triples = relation_triples(&related, &id, |id| state.store.iris().dataset(id));
            response_formats::graph_in(&triples, form)
        })
        .await
}

/// Returns a triple for each edition whose relation is known, and those of overlapping tables.
fn relation_triples(
    related: &RelatedDatasets,
    id: &DatasetId,
    iri: impl Fn(&DatasetId) -> NamedNode,
) -> Vec<Triple> {
    let own = iri(id);
    let mut triples = Vec::new();
    for one in &related.editions {
        let other = iri(&one.dataset.id);
        let (subject, property, object) = match one.edition {
            EditionRelation::Whole => (&own, dcat::IS_VERSION_OF, &other),
            EditionRelation::Part => (&own, dcat::HAS_VERSION, &other),
            EditionRelation::PreviousVersion => (&own, dcat::PREVIOUS_VERSION, &other),
            EditionRelation::NextVersion => (&other, dcat::PREVIOUS_VERSION, &own),
            EditionRelation::PreviousInSeries => (&own, dcat::PREV, &other),
            EditionRelation::NextInSeries => (&other, dcat::PREV, &own),
            EditionRelation::Other => continue,
        };
        triples.push(Triple::new(
            subject.clone(),
            named_node(property),
            object.clone(),
        ));
    }
    for one in &related.tables {
        add_overlap(&mut triples, &one.overlap, &own, &iri(&one.dataset.id));
    }
    triples
}

/// Adds the overlap of tables in the terms of CoDaKG, and its evidence as qualified relations of DCAT.
fn add_overlap(
    triples: &mut Vec<Triple>,
    overlap: &TableOverlap,
    own: &NamedNode,
    other: &NamedNode,
) {
    for pair in &overlap.joinable {
        let (column, other_column) = (&pair.column, &pair.other);
        triples.push(Triple::new(
            named_node(&column.table_iri),
            named_node(codakg::DATA_OVERLAP),
            named_node(&other_column.table_iri),
        ));
        let relation = add_relation(triples, own, other, lodeseek::JOINABLE);
        for (property, value) in [
            (lodeseek::OWN_COLUMN, Term::from(named_node(&column.iri))),
            (lodeseek::OTHER_COLUMN, named_node(&other_column.iri).into()),
            (lodeseek::OWN_VALUES, Literal::from(column.values).into()),
            (
                lodeseek::OTHER_VALUES,
                Literal::from(other_column.values).into(),
            ),
            (
                lodeseek::SHARED_VALUES,
                Literal::from(pair.shared_values).into(),
            ),
            (
                lodeseek::IS_ESTIMATE,
                Literal::from(pair.is_estimate).into(),
            ),
        ] {
            triples.push(Triple::new(relation.clone(), named_node(property), value));
        }
    }
    if let Some(tables) = &overlap.unionable {
        triples.push(Triple::new(
            named_node(&tables.table.iri),
            named_node(codakg::SCHEMA_OVERLAP),
            named_node(&tables.other.iri),
        ));
        let relation = add_relation(triples, own, other, lodeseek::UNIONABLE);
        triples.push(Triple::new(
            relation,
            named_node(lodeseek::SHARED_COLUMNS),
            Literal::from(tables.shared_columns),
        ));
    }
}

/// Adds a qualified relation, and returns its node.
fn add_relation(
    triples: &mut Vec<Triple>,
    own: &NamedNode,
    other: &NamedNode,
    role: &str,
) -> BlankNode {
    // Not a random label: equal responses have equal bytes.
    let relation = BlankNode::new_unchecked(format!("relation{}", triples.len()));
    triples.push(Triple::new(
        own.clone(),
        named_node(dcat::QUALIFIED_RELATION),
        relation.clone(),
    ));
    for (property, value) in [
        (rdf::TYPE, dcat::RELATIONSHIP),
        (dcterms::RELATION, other.as_str()),
        (dcat::HAD_ROLE, role),
    ] {
        triples.push(Triple::new(
            relation.clone(),
            named_node(property),
            named_node(value),
        ));
    }
    relation
}

fn named_node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}
