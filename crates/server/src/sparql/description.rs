//! SPARQL service description at `/sparql`, and VoID at `/.well-known/void`.
//! <https://www.w3.org/TR/sparql11-service-description/>, <https://www.w3.org/TR/void/#well-known>
//!
//! Parts that depend on data are results of queries in `queries/`, under the limits of all queries. They are computed at the
//! first request after a change of the collection.

use super::page::EXAMPLES;
use crate::AppState;
use crate::cache::GenerationCache;
use crate::documentation::{
    BadRequest, FormatParameter, Graph, JsonError, Negotiated, NotAcceptable, Text,
};
use crate::error::ApiError;
use crate::example_queries::{Example, executable};
use crate::locale::{Locale, Texts};
use crate::parameters::pairs;
use crate::public_url::LinkBase;
use crate::response_formats::{self, Kind};
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_rdf::vocab::{formats, lodeseek, rdf, rdfs, sd, search, void};
use lodeseek_sparql::{Answer, QueryRequest, SparqlError, SparqlLimits};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

const DEFAULT_GRAPH: &str = include_str!("../../queries/service-default-graph.rq");
const GRAPHS: &str = include_str!("../../queries/service-graphs.rq");
const DATASETS: &str = include_str!("../../queries/void.rq");

/// Maximum number of triples of a description: enough for a hundred thousand datasets.
const MAX_TRIPLES: usize = 1_000_000;

/// Statements about every store: (property of the service, value).
const SERVICE: &[(&str, &str)] = &[
    (rdf::TYPE, sd::SERVICE),
    (sd::SUPPORTED_LANGUAGE, sd::SPARQL_10_QUERY),
    (sd::SUPPORTED_LANGUAGE, sd::SPARQL_11_QUERY),
    (sd::SUPPORTED_LANGUAGE, sd::SPARQL_12_QUERY),
    (sd::RESULT_FORMAT, formats::RESULTS_JSON),
    (sd::RESULT_FORMAT, formats::RESULTS_XML),
    (sd::RESULT_FORMAT, formats::RESULTS_CSV),
    (sd::RESULT_FORMAT, formats::RESULTS_TSV),
    (sd::RESULT_FORMAT, formats::TURTLE),
    (sd::RESULT_FORMAT, formats::JSON_LD),
    (sd::RESULT_FORMAT, formats::N_TRIPLES),
    (sd::RESULT_FORMAT, formats::RDF_XML),
    (sd::RESULT_FORMAT, formats::TRIG),
    (sd::RESULT_FORMAT, formats::N_QUADS),
    (sd::FEATURE, lodeseek::DATASET_NAMES_GRAPH),
    (sd::FEATURE, lodeseek::MARKED_TRUNCATION),
];

/// Cache of a part. Its generation changes with the index and the catalogue.
type CachedPart = GenerationCache<(u64, u64), Part>;

/// Cached results of the queries that describe a store.
#[derive(Default)]
pub(crate) struct DescriptionCache {
    default_graph: CachedPart,
    graphs: CachedPart,
    datasets: CachedPart,
}

/// Triples of a description. If `truncated` is true, there are more.
#[derive(Default)]
struct Part {
    triples: Vec<Triple>,
    truncated: bool,
}

impl Part {
    fn evaluate(state: &AppState, query: &'static str) -> Result<Self, SparqlError> {
        let request = QueryRequest {
            query: query.to_owned(),
            ..QueryRequest::default()
        };
        let limits = SparqlLimits {
            rows: MAX_TRIPLES,
            ..SparqlLimits::clone(&state.sparql.limits)
        };
        match state.sparql.engine.evaluate(&request, &limits)? {
            Answer::Graph { triples, truncated } => {
                let mut seen = HashSet::new();
                let triples = triples
                    .into_iter()
                    .filter(|triple| seen.insert(triple.clone()))
                    .collect();
                Ok(Self { triples, truncated })
            }
            _ => Err(SparqlError::Evaluation(format!(
                "no graph is the answer of {query}"
            ))),
        }
    }

    /// Evaluates a query of counts. A store too large for the limits is described without them, and the query is not repeated
    /// before the next change.
    fn count(state: &AppState, query: &'static str) -> Result<Self, SparqlError> {
        Self::evaluate(state, query).or_else(|error| match error {
            SparqlError::Deadline(_) | SparqlError::Memory(_) => {
                tracing::warn!(%error, "the endpoint describes itself without some of its counts");
                Ok(Self::default())
            }
            other => Err(other),
        })
    }
}

/// Returns a cached part, and computes it at the first call after a change.
async fn get_or_compute_part(
    state: &AppState,
    cache: fn(&DescriptionCache) -> &CachedPart,
    compute: impl FnOnce(&AppState) -> Result<Part, SparqlError> + Send + 'static,
) -> Result<Arc<Part>, ApiError> {
    state
        .work(move |state| {
            let generation = (
                state.searcher.catalog().generation()?,
                state.store.catalog_generation(),
            );
            cache(&state.sparql.description).get_or_compute(generation, || Ok(compute(state)?))
        })
        .await
}

/// Returns the address of the endpoint.
pub(crate) fn endpoint_iri(links: &LinkBase) -> NamedNode {
    join_iri(links, "sparql")
}

fn join_iri(base: impl Display, path: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{base}{path}"))
}

fn new_triple(subject: &NamedNode, predicate: &str, object: impl Into<Term>) -> Triple {
    Triple::new(subject.clone(), NamedNode::new_unchecked(predicate), object)
}

/// Returns the service description in a graph media type.
pub(crate) async fn service(
    state: &AppState,
    links: &LinkBase,
    media_type: &'static str,
) -> Response {
    service_description(state, links, media_type)
        .await
        .unwrap_or_else(IntoResponse::into_response)
}

async fn service_description(
    state: &AppState,
    links: &LinkBase,
    media_type: &'static str,
) -> Result<Response, ApiError> {
    let default_graph = get_or_compute_part(
        state,
        |cache| &cache.default_graph,
        |state| Part::count(state, DEFAULT_GRAPH),
    )
    .await?;
    let graphs = get_or_compute_part(
        state,
        |cache| &cache.graphs,
        |state| Part::count(state, GRAPHS),
    )
    .await?;
    let (base, endpoint) = (state.store.iris().base(), endpoint_iri(links));
    let mut triples = service_triples(base, links, &endpoint);
    triples.extend(executable(
        &general_examples(),
        &format!("{base}sparql#example-"),
        &endpoint,
    ));
    if !state.sparql.client.is_closed() {
        let federates = NamedNode::new_unchecked(sd::BASIC_FEDERATED_QUERY);
        triples.push(new_triple(&endpoint, sd::FEATURE, federates));
    }
    triples.extend(default_graph.triples.iter().chain(&graphs.triples).cloned());
    state
        .work(move |_| response_formats::graph(&triples, media_type))
        .await
}

/// Returns the examples of the endpoint's page. Those of a dataset are linked from its VoID description.
fn general_examples() -> Vec<Example> {
    let english = Texts::new(Locale::English, Arc::default());
    EXAMPLES
        .iter()
        .map(|example| Example {
            title: english.text(example.title),
            query: example.query.to_owned(),
        })
        .collect()
}

/// Returns the triples that do not depend on data. Names begin with the base of the home, addresses with that of links.
fn service_triples(base: &str, links: &LinkBase, endpoint: &NamedNode) -> Vec<Triple> {
    let dataset = join_iri(base, "sparql#dataset");
    let default_graph = join_iri(base, "sparql#default-graph");
    let mut triples: Vec<Triple> = SERVICE
        .iter()
        .map(|(property, value)| new_triple(endpoint, property, NamedNode::new_unchecked(*value)))
        .collect();
    for name in search::ALL {
        if *name != search::SERVICE {
            triples.push(new_triple(
                endpoint,
                sd::PROPERTY_FEATURE,
                NamedNode::new_unchecked(*name),
            ));
        }
    }
    for function in lodeseek_sparql::extension_functions() {
        triples.push(new_triple(
            endpoint,
            sd::EXTENSION_FUNCTION,
            function.into_owned(),
        ));
        triples.push(new_triple(
            &function.into_owned(),
            rdf::TYPE,
            NamedNode::new_unchecked(sd::FUNCTION),
        ));
    }
    let service = NamedNode::new_unchecked(search::SERVICE);
    triples.push(new_triple(
        &service,
        rdf::TYPE,
        NamedNode::new_unchecked(sd::SERVICE),
    ));
    triples.push(new_triple(
        &service,
        sd::ENDPOINT,
        join_iri(links, "search"),
    ));
    let feature = NamedNode::new_unchecked(sd::FEATURE_CLASS);
    let features = SERVICE
        .iter()
        .filter(|(property, _)| *property == sd::FEATURE);
    triples.extend(
        features.map(|(_, name)| {
            new_triple(&NamedNode::new_unchecked(*name), rdf::TYPE, feature.clone())
        }),
    );
    triples.extend([
        new_triple(endpoint, sd::ENDPOINT, endpoint.clone()),
        new_triple(endpoint, sd::DEFAULT_DATASET, dataset.clone()),
        new_triple(&dataset, rdf::TYPE, NamedNode::new_unchecked(sd::DATASET)),
        new_triple(&dataset, sd::DEFAULT_GRAPH, default_graph.clone()),
        new_triple(
            &dataset,
            rdfs::SEE_ALSO,
            join_iri(links, ".well-known/void"),
        ),
        new_triple(
            &default_graph,
            rdf::TYPE,
            NamedNode::new_unchecked(sd::GRAPH_CLASS),
        ),
        new_triple(&default_graph, void::SPARQL_ENDPOINT, endpoint.clone()),
    ]);
    triples
}

/// `GET /.well-known/void`: every dataset with its counts and its endpoint.
#[utoipa::path(get, path = "/.well-known/void", tag = "Catalogue", operation_id = "void",
    summary = "VoID of all datasets",
    params(FormatParameter),
    responses(
        Negotiated<Graph>,
        BadRequest<(JsonError, Text)>,
        NotAcceptable<Text>))]
pub(crate) async fn datasets(
    State(state): State<AppState>,
    links: LinkBase,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
    let media_type = Kind::Data.negotiate(&parameters, &headers)?;
    let facet = get_or_compute_part(
        &state,
        |cache| &cache.datasets,
        |state| Part::evaluate(state, DATASETS),
    )
    .await?;
    let truncated = facet.truncated;
    let mut response = state
        .work(move |state| {
            response_formats::graph(&add_endpoints(&facet.triples, &links, state), media_type)
        })
        .await?;
    if truncated {
        response_formats::mark_truncated(&mut response);
    }
    Ok(response)
}

/// Adds the endpoint and the example queries to the datasets among the triples.
fn add_endpoints(triples: &[Triple], links: &LinkBase, state: &AppState) -> Vec<Triple> {
    let endpoint = endpoint_iri(links);
    let counted = NamedNode::new_unchecked(void::DATASET).into();
    let datasets = triples.iter().filter(|triple| triple.object == counted);
    let iris = datasets.filter_map(|dataset| match &dataset.subject {
        NamedOrBlankNode::NamedNode(iri) => Some(iri),
        NamedOrBlankNode::BlankNode(_) => None,
    });
    let more = iris.flat_map(|iri| {
        let examples = NamedNode::new_unchecked(format!(
            "{}/examples",
            links.link(iri.as_str(), state.store.iris())
        ));
        [
            new_triple(iri, void::SPARQL_ENDPOINT, endpoint.clone()),
            new_triple(iri, rdfs::SEE_ALSO, examples),
        ]
    });
    triples.iter().cloned().chain(more).collect()
}
