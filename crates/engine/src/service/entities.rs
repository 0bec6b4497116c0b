//! Entities and occurrences of resources as triples.

use super::{SearchService, check_text, integer_literal, parse_value, string_literal, to_term};
use crate::EntityRequest;
use lodeseek_rdf::vocab::search;
use lodeseek_snippet::Deadline;
use lodeseek_sparql::ServiceError;
use lodeseek_store::Uses;
use oxrdf::{BlankNode, Literal, NamedNode, Term, Triple};

/// Default number of entities.
const DEFAULT_ENTITIES: usize = 10;
/// Maximum number of entities of one search.
const MAX_ENTITIES: usize = 1000;
/// Maximum number of entities that are skipped.
const MAX_OFFSET: usize = 10_000;

/// A search parameter with its value.
type Parameter<'p> = (&'p str, Term);

/// A result or a part of one, described by triples with a new blank node as subject.
pub(super) struct Description<'t> {
    pub(super) node: BlankNode,
    triples: &'t mut Vec<Triple>,
}

impl<'t> Description<'t> {
    /// Starts the description of a result. It has the parameters of its search.
    fn new(parameters: &[Parameter<'_>], triples: &'t mut Vec<Triple>) -> Self {
        let mut description = Self::without_properties(triples);
        for (property, value) in parameters {
            description.add(property, value.clone());
        }
        description
    }

    /// Starts a description without any properties.
    pub(super) fn without_properties(triples: &'t mut Vec<Triple>) -> Self {
        Self {
            node: BlankNode::default(),
            triples,
        }
    }

    pub(super) fn add(&mut self, property: &str, value: impl Into<Term>) {
        self.triples.push(Triple::new(
            self.node.clone(),
            NamedNode::new_unchecked(property),
            value,
        ));
    }
}

impl SearchService {
    /// Searches for entities and returns them as triples.
    pub(super) fn entity_triples(
        &self,
        parameters: &[Parameter<'_>],
        deadline: Deadline<'_>,
    ) -> Result<Vec<Triple>, ServiceError> {
        let request = self.entity_request(parameters)?;
        let response = self
            .searcher
            .search_entities(&request, deadline)
            .map_err(|error| ServiceError::Failed(format!("the search failed: {error}")))?;
        let mut triples = Vec::new();
        for hit in &response.hits {
            let mut entity = Description::new(parameters, &mut triples);
            entity.add(search::RANK, integer_literal(hit.rank));
            entity.add(search::SCORE, Literal::from(hit.score));
            entity.add(search::DATASET, self.iris.dataset(&hit.dataset));
            entity.add(search::TITLE, string_literal(&hit.title));
            entity.add(
                search::ENTITY,
                to_term(&hit.triple.subject, hit.dataset.as_str()),
            );
            entity.add(
                search::PROPERTY,
                to_term(&hit.triple.predicate, hit.dataset.as_str()),
            );
            entity.add(
                search::LITERAL,
                to_term(&hit.triple.object, hit.dataset.as_str()),
            );
            entity.add(search::COMPLETE, Literal::from(response.is_complete));
        }
        Ok(triples)
    }

    fn entity_request(&self, parameters: &[Parameter<'_>]) -> Result<EntityRequest, ServiceError> {
        let mut request = EntityRequest {
            depth: DEFAULT_ENTITIES,
            ..EntityRequest::default()
        };
        for (property, value) in parameters {
            match (*property, value) {
                (search::IN_DATASET, value) => {
                    let id = match value {
                        Term::NamedNode(node) => self.iris.dataset_id(node.as_str()),
                        _ => None,
                    };
                    request.datasets.push(id.ok_or_else(|| {
                        ServiceError::Wrong(format!(
                            "invalid value {value} of <{property}>: no dataset of this store"
                        ))
                    })?);
                }
                (search::LITERAL_TEXT, Term::Literal(text)) => {
                    text.value().clone_into(&mut request.text)
                }
                (search::LIMIT, Term::Literal(limit)) => {
                    request.depth = parse_value(property, limit.value())?
                }
                (search::OFFSET, Term::Literal(offset)) => {
                    request.skip = parse_value(property, offset.value())?
                }
                _ => {
                    let message =
                        format!("invalid value {value} of <{property}>: expected a literal");
                    return Err(ServiceError::Wrong(message));
                }
            }
        }
        check_text(&request.text)?;
        if !(1..=MAX_ENTITIES).contains(&request.depth) {
            return Err(ServiceError::Wrong(format!(
                "the limit must be from 1 to {MAX_ENTITIES}"
            )));
        }
        if request.skip > MAX_OFFSET {
            return Err(ServiceError::Wrong(format!(
                "the offset must be at most {MAX_OFFSET}"
            )));
        }
        Ok(request)
    }

    /// Finds the datasets in which a resource occurs and returns its roles in them as triples.
    pub(super) fn occurrence_triples(
        &self,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Triple>, ServiceError> {
        let mut triples = Vec::new();
        for (property, value) in parameters {
            let Term::NamedNode(resource) = value else {
                let message = format!("invalid value {value} of <{property}>: expected an IRI");
                return Err(ServiceError::Wrong(message));
            };
            let occurrences = self
                .store
                .occurrences(resource)
                .map_err(|error| ServiceError::Failed(format!("the search failed: {error}")))?;
            let (datasets, is_complete) = occurrences.most_used_datasets();
            for (id, uses) in datasets {
                for (role, count) in roles(uses) {
                    let mut occurrence = Description::new(parameters, &mut triples);
                    occurrence.add(search::DATASET, self.iris.dataset(id));
                    occurrence.add(search::ROLE, string_literal(role));
                    occurrence.add(search::COUNT, Literal::from(count));
                    occurrence.add(
                        search::COMPLETE,
                        Literal::from(is_complete && occurrences.is_exact),
                    );
                }
            }
        }
        Ok(triples)
    }
}

/// Returns the roles that a resource has in a dataset, with their numbers of uses.
fn roles(uses: Uses) -> impl Iterator<Item = (&'static str, u64)> {
    let all = [
        ("subject", uses.subject),
        ("object", uses.object),
        ("class", uses.class),
        ("property", uses.property),
    ];
    all.into_iter().filter(|(_, count)| *count > 0)
}
