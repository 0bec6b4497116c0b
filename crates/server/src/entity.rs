//! `GET /dataset/{id}/entity?iri=`: what a dataset says of one resource: a page, triples from and to it with labels and
//! page by page; for programs its symmetric concise bounded description. Blank nodes are named `_:b0`, as long as the
//! content of the dataset stays what it is.

use super::error::ApiError;
use super::form::{mark_truncated, sent};
use super::negotiation::{best, languages};
use super::{AppState, page};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::Card;
use lodeseek_rdf::{Labels, RdfSyntax, TermId, TermRef, TripleGraph, TripleGraphBuilder};
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TermKind, label_triple};
use lodeseek_store::{Excerpt, Resources, Stands, StoreError, resource};
use oxrdf::{NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

/// Triples of either direction on one page.
pub(super) const PAGE: usize = 50;
/// Triples before those of a page at most: each page reads over those before it.
const DEEPEST: usize = 20_000;
/// Triples of a description.
const DESCRIPTION: usize = 2000;

#[derive(Deserialize)]
pub(super) struct Parameters {
    iri: Option<String>,
    /// Triples left out from the resource, and to it.
    #[serde(default)]
    skip: usize,
    #[serde(default)]
    to: usize,
    format: Option<String>,
    lang: Option<String>,
}

/// Some triples of a resource, labelled.
pub(super) struct Told {
    pub(super) triples: Vec<LabelledTriple>,
    pub(super) skipped: usize,
    pub(super) more: bool,
}

/// A resource of a dataset.
pub(super) struct Entity {
    /// The IRI, or `_:b0`.
    pub(super) name: String,
    pub(super) label: String,
    /// What is said of it.
    pub(super) out: Told,
    /// What is said with it.
    pub(super) to: Told,
    /// The other resources that the dataset says something of, as [`name`] has them.
    pub(super) described: FxHashSet<String>,
}

/// A term as addresses name it.
pub(super) fn name(term: &LabelledTerm) -> String {
    match term.kind {
        TermKind::Blank => format!("_:{}", term.value),
        TermKind::Iri | TermKind::Literal => term.value.clone(),
    }
}

pub(super) async fn entity(
    State(state): State<AppState>,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let html = ["text/html", "application/xhtml+xml"];
    let accepted = || {
        let offers: Vec<&str> = html.into_iter().chain(RdfSyntax::ALL.map(RdfSyntax::media_type)).collect();
        best(&headers, &offers).map(RdfSyntax::from_name).ok_or_else(|| {
            ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("to be had are {}", offers.join(", ")))
        })
    };
    let answer = async {
        let Query(parameters) = parameters.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
        let syntax = match parameters.format.as_deref() {
            Some("html") => None,
            Some(name) => Some(RdfSyntax::from_name(name).ok_or_else(|| {
                ApiError::bad_request(format!("{name:?} is no format here: html, ttl, jsonld, nt or rdf"))
            })?),
            None => accepted()?,
        };
        shown(&state, id, parameters, syntax, &headers).await
    };
    let mut response = answer.await.unwrap_or_else(|error| match accepted() {
        Ok(Some(_)) => error.into_response(),
        _ => page::error(&error),
    });
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept, accept-language"));
    response
}

async fn shown(
    state: &AppState,
    id: String,
    parameters: Parameters,
    syntax: Option<RdfSyntax>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let named = parameters.iri.unwrap_or_default();
    let node = resource(&named)
        .ok_or_else(|| ApiError::bad_request(format!("iri={named:?} is neither an IRI nor a blank node")))?;
    if parameters.skip.max(parameters.to) > DEEPEST {
        return Err(ApiError::bad_request(format!("no page goes beyond {DEEPEST} triples; ask the SPARQL endpoint")));
    }
    let languages = languages(headers, parameters.lang.as_deref())?;
    state
        .work(move |state| {
            let card = state.searcher.card(&id)?;
            let card = card.ok_or_else(|| ApiError::not_found(format!("there is no dataset {id}")))?;
            let resources = state.store.resources(&id)?;
            match syntax {
                Some(syntax) => described(&resources, &node, syntax),
                None => {
                    let found = find(&resources, &node, [parameters.skip, parameters.to], &languages)?;
                    let missing = || ApiError::not_found(format!("the dataset says nothing of {named}"));
                    Ok(page::entity(&card, &found.ok_or_else(missing)?))
                }
            }
        })
        .await
}

fn described(resources: &Resources<'_>, node: &NamedOrBlankNode, syntax: RdfSyntax) -> Result<Response, ApiError> {
    let Excerpt { triples, more } = resources.description(node, DESCRIPTION)?;
    if triples.is_empty() {
        return Err(ApiError::not_found(format!("the dataset says nothing of {node}")));
    }
    let bytes = syntax.write(&triples).map_err(|error| ApiError::internal(&error))?;
    let mut response = sent(syntax.media_type(), bytes);
    if more {
        mark_truncated(&mut response);
    }
    Ok(response)
}

/// A resource with its triples, from and to it, of a page each; `None` where there are none at all, or none on a page that is
/// not the first.
fn find(
    resources: &Resources<'_>,
    node: &NamedOrBlankNode,
    skip: [usize; 2],
    languages: &[String],
) -> Result<Option<Entity>, StoreError> {
    let out = resources.triples(node, Stands::First, skip[0], PAGE)?;
    let to = resources.triples(node, Stands::Last, skip[1], PAGE)?;
    let is_past = |found: &Excerpt, skip: usize| skip > 0 && found.triples.is_empty();
    let is_nothing = out.triples.is_empty() && to.triples.is_empty();
    if is_nothing || is_past(&out, skip[0]) || is_past(&to, skip[1]) {
        return Ok(None);
    }
    let labels = Labelling::of(resources, node, [&out.triples, &to.triples])?;
    let told =
        |found: &Excerpt, skipped| Told { triples: labels.all(&found.triples, languages), skipped, more: found.more };
    let (label, out, to) = (labels.of_node(node, languages), told(&out, skip[0]), told(&to, skip[1]));
    let mut described = FxHashSet::default();
    for other in labels.others {
        if resources.describes(&other)? {
            described.insert(other_name(&other));
        }
    }
    Ok(Some(Entity { name: other_name(node), label, out, to, described }))
}

/// Examples of the largest classes, each with the first of its triples.
pub(super) fn examples(
    resources: &Resources<'_>,
    card: &Card,
    most: usize,
    triples: usize,
    languages: &[String],
) -> Result<Vec<(usize, Entity)>, StoreError> {
    let mut examples = Vec::new();
    let mut seen = FxHashSet::default();
    // Nodes without a name say little by themselves: they come behind.
    let unnamed = |place: &usize| card.schema.nodes[*place].examples.iter().all(|example| example.starts_with("_:"));
    let mut places: Vec<usize> = (0..card.schema.nodes.len()).collect();
    places.sort_by_key(unnamed);
    for place in places {
        // An entity of several classes is shown with the first alone.
        let fresh = card.schema.nodes[place].examples.iter().find(|example| !seen.contains(*example));
        let Some((name, node)) = fresh.and_then(|name| Some((name, resource(name)?))) else { continue };
        seen.insert(name.clone());
        let out = resources.triples(&node, Stands::First, 0, triples)?;
        let labels = Labelling::of(resources, &node, [&out.triples, &[]])?;
        let told = Told { triples: labels.all(&out.triples, languages), skipped: 0, more: out.more };
        let mut described = FxHashSet::default();
        for other in &labels.others {
            if resources.describes(other)? {
                described.insert(other_name(other));
            }
        }
        let to = Told { triples: Vec::new(), skipped: 0, more: false };
        let label = labels.of_node(&node, languages);
        examples.push((place, Entity { name: name.clone(), label, out: told, to, described }));
        if examples.len() == most {
            break;
        }
    }
    Ok(examples)
}

fn other_name(node: &NamedOrBlankNode) -> String {
    match node {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    }
}

/// Triples, and what names their terms.
struct Labelling {
    graph: TripleGraph,
    others: Vec<NamedOrBlankNode>,
}

impl Labelling {
    fn of(resources: &Resources<'_>, node: &NamedOrBlankNode, triples: [&[Triple]; 2]) -> Result<Self, StoreError> {
        let mut others: Vec<NamedOrBlankNode> = Vec::new();
        let mut seen: FxHashSet<NamedOrBlankNode> = [node.clone()].into_iter().collect();
        let mut terms: Vec<NamedOrBlankNode> = vec![node.clone()];
        for triple in triples.into_iter().flatten() {
            let object = match &triple.object {
                Term::NamedNode(node) => Some(node.clone().into()),
                Term::BlankNode(node) => Some(node.clone().into()),
                Term::Literal(_) => None,
            };
            for other in [Some(triple.subject.clone()), object].into_iter().flatten() {
                if seen.insert(other.clone()) {
                    others.push(other);
                }
            }
            if seen.insert(triple.predicate.clone().into()) {
                terms.push(triple.predicate.clone().into());
            }
        }
        let mut builder = TripleGraphBuilder::new();
        triples.into_iter().flatten().for_each(|triple| builder.insert_with_labels(triple.as_ref()));
        let labels = resources.labels(terms.iter().chain(&others))?;
        labels.iter().for_each(|triple| builder.insert_with_labels(triple.as_ref()));
        Ok(Self { graph: builder.finish(), others })
    }

    fn labels(&self, languages: &[String]) -> Labels<'_> {
        let languages: Vec<&str> = languages.iter().map(String::as_str).chain(["en"]).collect();
        Labels::for_display(&self.graph, &languages)
    }

    fn all(&self, triples: &[Triple], languages: &[String]) -> Vec<LabelledTriple> {
        let labels = self.labels(languages);
        let known: FxHashMap<Triple, _> =
            self.graph.triples().iter().map(|triple| (self.graph.to_triple(*triple), *triple)).collect();
        let of = |wanted: &Triple| Some(label_triple(&self.graph, &labels, *known.get(wanted)?));
        triples.iter().filter_map(of).collect()
    }

    fn of_node(&self, node: &NamedOrBlankNode, languages: &[String]) -> String {
        let (text, is_blank) = match node {
            NamedOrBlankNode::NamedNode(node) => (node.as_str(), false),
            NamedOrBlankNode::BlankNode(node) => (node.as_str(), true),
        };
        let is_it = |id: &TermId| match self.graph.term(*id) {
            TermRef::Iri(iri) => !is_blank && iri == text,
            TermRef::Blank(label) => is_blank && label == text,
            TermRef::Literal { .. } => false,
        };
        let ends = self.graph.triples().iter().flat_map(|triple| [triple.subject, triple.object]);
        let label = ends.into_iter().find(is_it).and_then(|id| self.labels(languages).label(id));
        label.unwrap_or_else(|| "A node without a name".to_owned())
    }
}
