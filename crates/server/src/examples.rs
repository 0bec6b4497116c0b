//! `GET /dataset/{id}/examples`: queries to begin with, made from what a dataset is known to hold, so that each has an
//! answer.
//!
//! Classes and properties are those of the profile. What is asked together (a class with two properties, a link between
//! two classes) occurs together in the snippet, which was chosen to show how the dataset describes and links its entities.
//!
//! As RDF they are what SPARQL endpoints publish their examples with: `sh:SPARQLSelectExecutable`.
//! <https://www.w3.org/TR/shacl/#sparql-constraints>, <https://github.com/sib-swiss/sparql-examples>

use super::error::ApiError;
use super::form;
use super::negotiation::best;
use super::{AppState, description};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::Card;
use lodeseek_rdf::vocab::{rdf, rdfs, schema, sh};
use lodeseek_rdf::{RdfSyntax, local_name, words};
use lodeseek_snippet::{LabelledTriple, TermKind};
use oxrdf::{Literal, NamedNode, Triple};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const TRIPLES: &str = include_str!("../queries/dataset.rq");
const CLASS: &str = include_str!("../queries/example-class.rq");
const PATTERN: &str = include_str!("../queries/example-pattern.rq");
const LINK: &str = include_str!("../queries/example-link.rq");
const VALUES: &str = include_str!("../queries/example-values.rq");
const ELSEWHERE: &str = include_str!("../queries/example-elsewhere.rq");

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// A query and what it shows.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Example {
    pub(super) title: String,
    pub(super) query: String,
}

/// A template with terms in the place of its names. An IRI holds no `<`: no term can make up another name, or end early.
fn filled(title: String, template: &str, terms: &[(&str, &NamedNode)]) -> Example {
    let query = terms
        .iter()
        .fold(template.to_owned(), |query, (name, term)| query.replace(&format!("<{name}>"), &term.to_string()));
    Example { title, query }
}

fn name(node: &NamedNode) -> String {
    words(local_name(node.as_str()))
}

/// The IRIs of a list of counts that are IRIs by the letter of the standard; dumps have others too.
fn sound(counts: &[(String, u64)]) -> impl Iterator<Item = NamedNode> {
    counts.iter().filter_map(|(iri, _)| NamedNode::new(iri.as_str()).ok())
}

/// The examples of a dataset; none where nothing of its content is known.
pub(super) fn examples(card: &Card, dataset: &NamedNode) -> Vec<Example> {
    if card.profile.triples == 0 {
        return Vec::new();
    }
    let mut examples = vec![filled("Some triples".to_owned(), TRIPLES, &[("DATASET", dataset)])];
    let classes: Vec<NamedNode> = sound(&card.profile.classes).take(2).collect();
    examples.extend(classes.iter().map(|class| {
        filled(format!("Entities of the class “{}”", name(class)), CLASS, &[("DATASET", dataset), ("CLASS", class)])
    }));
    let described = Described::of(&card.snippet);
    examples.extend(described.pattern(dataset));
    examples.extend(described.link(dataset));
    let property = sound(&card.profile.properties).find(|property| property.as_str() != rdf::TYPE);
    examples.extend(property.iter().map(|property| {
        let terms = [("DATASET", dataset), ("PROPERTY", property)];
        filled(format!("The most frequent values of “{}”", name(property)), VALUES, &terms)
    }));
    examples.extend(
        classes.first().map(|class| {
            filled(format!("All datasets with the class “{}”", name(class)), ELSEWHERE, &[("CLASS", class)])
        }),
    );
    examples
}

/// The entities of a snippet: their classes, and their other triples.
struct Described<'s> {
    classes: BTreeMap<&'s str, NamedNode>,
    /// (subject, property, object)
    triples: Vec<(&'s str, NamedNode, Option<&'s str>)>,
}

impl<'s> Described<'s> {
    fn of(snippet: &'s [LabelledTriple]) -> Self {
        let mut described = Self { classes: BTreeMap::new(), triples: Vec::new() };
        for triple in snippet {
            let (subject, object) = (triple.subject.value.as_str(), triple.object.value.as_str());
            if triple.predicate.value != rdf::TYPE {
                let entity = (triple.object.kind != TermKind::Literal).then_some(object);
                let property = NamedNode::new(triple.predicate.value.as_str()).ok();
                described.triples.extend(property.map(|property| (subject, property, entity)));
            } else if let Some(class) = NamedNode::new(object).ok().filter(|_| triple.object.kind == TermKind::Iri) {
                described.classes.entry(subject).or_insert(class);
            }
        }
        described
    }

    /// Two properties that an entity of a class has.
    fn pattern(&self, dataset: &NamedNode) -> Option<Example> {
        let of = |subject: &str| -> BTreeSet<&NamedNode> {
            self.triples.iter().filter(|triple| triple.0 == subject).map(|triple| &triple.1).collect()
        };
        let entities = self.classes.iter().map(|(subject, class)| (class, of(subject)));
        let (class, properties) =
            entities.filter(|(_, properties)| properties.len() > 1).max_by_key(|(_, p)| p.len())?;
        let mut properties = properties.into_iter();
        let (property, other) = (properties.next()?, properties.next()?);
        let title = format!("“{}” with “{}” and “{}”", name(class), name(property), name(other));
        let terms = [("DATASET", dataset), ("CLASS", class), ("PROPERTY", property), ("OTHER", other)];
        Some(filled(title, PATTERN, &terms))
    }

    /// A property that leads from one class to another.
    fn link(&self, dataset: &NamedNode) -> Option<Example> {
        let class = |entity: &str| self.classes.get(entity);
        let mut links = self
            .triples
            .iter()
            .filter_map(|(subject, property, object)| Some((class(subject)?, property, class((*object)?)?)));
        let (from, property, to) = links.next()?;
        let title = format!("From “{}” by “{}” to “{}”", name(from), name(property), name(to));
        let terms = [("DATASET", dataset), ("CLASS", from), ("PROPERTY", property), ("OTHER", to)];
        Some(filled(title, LINK, &terms))
    }
}

/// Examples as RDF, named after a document.
pub(super) fn executable(examples: &[Example], document: &str, endpoint: &NamedNode) -> Vec<Triple> {
    let node = |iri: &str| NamedNode::new_unchecked(iri);
    let triples = examples.iter().zip(1..).flat_map(|(example, number)| {
        let subject = NamedNode::new_unchecked(format!("{document}{number}"));
        let comment = Literal::new_language_tagged_literal_unchecked(example.title.as_str(), "en");
        [
            Triple::new(subject.clone(), node(rdf::TYPE), node(sh::SPARQL_EXECUTABLE)),
            Triple::new(subject.clone(), node(rdf::TYPE), node(sh::SPARQL_SELECT_EXECUTABLE)),
            Triple::new(subject.clone(), node(rdfs::COMMENT), comment),
            Triple::new(subject.clone(), node(sh::SELECT), Literal::from(example.query.as_str())),
            Triple::new(subject, node(schema::TARGET), endpoint.clone()),
        ]
    });
    triples.collect()
}

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
}

/// A form of the list: JSON and text for people's programs, RDF for those of the Web of Data.
fn wanted(format: Option<&str>, headers: &HeaderMap) -> Result<&'static str, ApiError> {
    let rdf = RdfSyntax::ALL.map(RdfSyntax::media_type);
    match format.filter(|name| !name.is_empty()) {
        Some("json" | JSON) => Ok(JSON),
        Some("text" | "txt" | TEXT) => Ok(TEXT),
        Some(name) => RdfSyntax::from_name(name).map(RdfSyntax::media_type).ok_or_else(|| {
            ApiError::bad_request(format!("{name:?} is no format here: json, text, ttl, jsonld, nt or rdf"))
        }),
        None => {
            let offers: Vec<&'static str> = [JSON, TEXT].into_iter().chain(rdf).collect();
            best(headers, &offers).ok_or_else(|| {
                ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("to be had are {}", offers.join(", ")))
            })
        }
    }
}

pub(super) async fn of_dataset(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let media_type = wanted(parameters.format.as_deref(), &headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let endpoint = description::endpoint(&state, &headers);
    state
        .work(move |state| {
            let card = state.searcher.card(&id)?;
            let card = card.ok_or_else(|| ApiError::not_found(format!("there is no dataset {id}")))?;
            let dataset = state.store.iris().dataset(&id);
            let examples = examples(&card, &dataset);
            match media_type {
                JSON => Ok(form::sent(media_type, axum::Json(&examples).into_response().into_body())),
                TEXT => Ok(form::sent("text/plain; charset=utf-8", text(&examples))),
                _ => form::graph(
                    &executable(&examples, &format!("{}/examples#", dataset.as_str()), &endpoint),
                    media_type,
                ),
            }
        })
        .await
}

fn text(examples: &[Example]) -> String {
    let texts = examples.iter().map(|example| format!("# {}\n{}", example.title, example.query));
    texts.collect::<Vec<_>>().join("\n")
}
