//! The search as a SPARQL service: one query joins ranked datasets with their content.
//!
//! ```sparql
//! PREFIX search: <https://w3id.org/lodeseek/search#>
//! SELECT ?dataset ?rank { SERVICE search:service { ?dataset search:text "nitrogen" ; search:rank ?rank } }
//! ```
//!
//! The result of a search is a set of triples about each hit, and the pattern of the call is matched with these triples. The
//! call may therefore contain any SPARQL pattern. Each hit has the search parameters ([`Parameters`]) with their values among
//! its triples. `ontologies/search.ttl` defines every term.
//!
//! A call is one of three searches ([`SearchKind`]): for datasets by words, for entities by the words of their literals, and
//! for the datasets in which a resource occurs.

mod entities;

use super::{
    EngineError, Example, Facet, Filter, Hit, SearchRequest, Searcher, SnippetKind, facet_value,
};
use entities::Description;
use lodeseek_catalog::Iris;
use lodeseek_index::sparse::ModelKind;
use lodeseek_rdf::vocab::{rdf, search};
use lodeseek_snippet::{Deadline, LabelledTerm, TermKind};
use lodeseek_sparql::{Bindings, ServiceCall, ServiceError, ServiceRow, triple_patterns};
use lodeseek_store::Store;
use oxrdf::{
    BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple, Variable,
};
use spargebra::algebra::GraphPattern;
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of hits of one search.
const MAX_HITS: usize = 100;
/// Maximum number of hits with snippets on demand: each reads a whole graph.
const MAX_HITS_WITH_SNIPPETS: usize = 10;
/// Default number of hits.
const DEFAULT_HITS: usize = 10;
/// Maximum number of searches of one call, if the keywords come from solutions.
const MAX_SEARCHES: usize = 1000;
/// Maximum length of a query in characters.
const MAX_QUERY_CHARS: usize = 2000;

/// The properties that are search parameters.
const PARAMETERS: &[&str] = &[
    search::TEXT,
    search::LIMIT,
    search::OFFSET,
    search::MODEL,
    search::SINCE,
    search::BEFORE,
    search::WITHIN,
    search::COVERS,
    search::LIKE,
    search::TASK,
    search::MODALITY,
    search::THEME,
    search::CLASS,
    search::KEYWORD,
    search::PUBLISHER,
    search::CREATOR,
    search::FORMAT,
    search::LICENSE,
    search::LANGUAGE,
    search::VOCABULARY,
    search::SOURCE,
    search::SNIPPET_METHOD,
    search::LITERAL_TEXT,
    search::IN_DATASET,
    search::OCCURRENCE_OF,
];

/// Kind of the search of a call. The parameter that every such search has determines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SearchKind {
    /// Datasets by words.
    Datasets,
    /// Entities by the words of their literals.
    Entities,
    /// The datasets in which a resource occurs.
    Occurrences,
}

impl SearchKind {
    const ALL: [Self; 3] = [Self::Datasets, Self::Entities, Self::Occurrences];

    /// Returns the kind of the search that has parameters of these names.
    fn find<'p>(names: impl Iterator<Item = &'p str> + Clone) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| names.clone().any(|name| name == kind.parameter()))
    }

    /// Returns the parameter that every search of this kind has.
    fn parameter(self) -> &'static str {
        match self {
            Self::Datasets => search::TEXT,
            Self::Entities => search::LITERAL_TEXT,
            Self::Occurrences => search::OCCURRENCE_OF,
        }
    }

    /// Returns true if a search of this kind may have a parameter.
    fn accepts(self, parameter: &str) -> bool {
        match self {
            Self::Datasets => ![
                search::LITERAL_TEXT,
                search::IN_DATASET,
                search::OCCURRENCE_OF,
            ]
            .contains(&parameter),
            Self::Entities => [
                search::LITERAL_TEXT,
                search::IN_DATASET,
                search::LIMIT,
                search::OFFSET,
            ]
            .contains(&parameter),
            Self::Occurrences => parameter == search::OCCURRENCE_OF,
        }
    }
}

/// Returns the facet that a parameter filters by. Such a parameter may have several values.
fn facet_of(property: &str) -> Option<Facet> {
    match property {
        search::TASK => Some(Facet::Task),
        search::MODALITY => Some(Facet::Modality),
        search::THEME => Some(Facet::Theme),
        search::CLASS => Some(Facet::Class),
        search::KEYWORD => Some(Facet::Keyword),
        search::PUBLISHER => Some(Facet::Publisher),
        search::CREATOR => Some(Facet::Creator),
        search::FORMAT => Some(Facet::Format),
        search::LICENSE => Some(Facet::License),
        search::LANGUAGE => Some(Facet::Language),
        search::VOCABULARY => Some(Facet::Vocabulary),
        search::SOURCE => Some(Facet::Source),
        _ => None,
    }
}

/// A SPARQL service that evaluates calls by searches.
pub(crate) struct SearchService {
    searcher: Arc<Searcher>,
    store: Arc<Store>,
    iris: Iris,
}

impl fmt::Debug for SearchService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SearchService")
            .finish_non_exhaustive()
    }
}

/// A combination of parameter values, and the rows of bindings that have it.
struct ParameterRows {
    values: Vec<Term>,
    bindings: Vec<Vec<GroundTerm>>,
}

/// The search parameters of a pattern, constants or variables, in the order of the pattern.
type Parameters<'p> = Vec<(&'static str, &'p TermPattern)>;

impl SearchService {
    /// Creates the service of an index and the store of its home.
    pub(crate) fn new(searcher: Arc<Searcher>, store: Arc<Store>) -> Self {
        Self {
            searcher,
            iris: store.iris().clone(),
            store,
        }
    }

    /// Executes a search and returns its results as triples.
    pub(crate) fn triples(
        &self,
        parameters: &[(&str, Term)],
        has_passed: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Triple>, ServiceError> {
        match SearchKind::find(parameters.iter().map(|(property, _)| *property)) {
            Some(SearchKind::Entities) => {
                self.entity_triples(parameters, Deadline::new(has_passed))
            }
            Some(SearchKind::Occurrences) => self.occurrence_triples(parameters),
            Some(SearchKind::Datasets) | None => self.dataset_triples(parameters),
        }
    }

    /// Searches for datasets and returns the hits as triples.
    fn dataset_triples(&self, parameters: &[(&str, Term)]) -> Result<Vec<Triple>, ServiceError> {
        let request = parse_request(parameters, &self.iris)?;
        let response = self
            .searcher
            .search(&request)
            .map_err(|error| match error {
                error @ (EngineError::UnknownExample(_) | EngineError::TooManyExamples(_)) => {
                    ServiceError::Wrong(error.to_string())
                }
                error => ServiceError::Failed(format!("the search failed: {error}")),
            })?;
        let mut triples = Vec::new();
        for hit in &response.hits {
            let dataset = self.iris.dataset(&hit.card.metadata.id);
            triples.extend(
                parameters
                    .iter()
                    .map(|(property, value)| triple(&dataset, property, value.clone())),
            );
            add_hit(hit, &dataset, &mut triples);
            self.add_snippet(hit, &request, &dataset, &mut triples);
        }
        Ok(triples)
    }

    /// Adds the snippet of a hit: its IRI and its statements.
    fn add_snippet(
        &self,
        hit: &Hit,
        request: &SearchRequest,
        dataset: &NamedNode,
        triples: &mut Vec<Triple>,
    ) {
        let id = &hit.card.metadata.id;
        let snippet = match request.snippet {
            SnippetKind::None => return,
            SnippetKind::Stored => self.iris.part(id, "snippet"),
            SnippetKind::OnDemand(method) => self
                .iris
                .requested_snippet(id, &[("method", method.name()), ("query", &request.query)]),
        };
        triples.push(triple(dataset, search::SNIPPET, snippet.clone()));
        // A part of a text is another term.
        for (place, shown) in hit
            .snippet
            .iter()
            .enumerate()
            .filter(|(_, shown)| !shown.triple.is_cut())
        {
            let mut statement = Description::without_properties(triples);
            statement.add(rdf::SUBJECT, to_term(&shown.triple.subject, id.as_str()));
            statement.add(
                rdf::PREDICATE,
                to_term(&shown.triple.predicate, id.as_str()),
            );
            statement.add(rdf::OBJECT, to_term(&shown.triple.object, id.as_str()));
            statement.add(search::POSITION, integer_literal(place + 1));
            for word in &shown.matched {
                statement.add(search::TERM, string_literal(word));
            }
            let node = statement.node;
            triples.push(triple(&snippet, search::STATEMENT, node));
        }
    }
}

/// Returns true if this service provides the values of a property.
pub(crate) fn has_property(property: &NamedNode) -> bool {
    property.as_str().starts_with(search::NAMESPACE)
}

/// Returns the variables that must be bound: those of search parameters.
pub(crate) fn needs(pattern: &GraphPattern) -> Vec<Variable> {
    let mut needed = Vec::new();
    for triple in triple_patterns(pattern) {
        if parameter_of(triple).is_some()
            && let TermPattern::Variable(variable) = &triple.object
        {
            needed.push(variable.clone());
        }
    }
    needed
}

/// Returns true if a pattern is one search without snippets on demand, with each property of the hits at most once. It then
/// has at most a thousand solutions.
pub(crate) fn is_bounded(pattern: &GraphPattern) -> bool {
    let GraphPattern::Bgp { patterns } = pattern else {
        return false;
    };
    let mut properties = Vec::new();
    for triple in patterns {
        let NamedNodePattern::NamedNode(property) = &triple.predicate else {
            return false;
        };
        let is_constant =
            parameter_of(triple).is_none() || !matches!(triple.object, TermPattern::Variable(_));
        let is_known =
            properties.contains(&property) || property.as_str() == search::SNIPPET_METHOD;
        if is_known || !is_constant || triple.subject != patterns[0].subject {
            return false;
        }
        properties.push(property);
    }
    !properties.is_empty()
}

/// Executes a search with some parameters and returns its results as triples.
type Search<'s> = dyn FnMut(&[(&str, Term)]) -> Result<Vec<Triple>, ServiceError> + 's;

/// Evaluates a call: one search for each distinct combination of parameter values. `search` returns the hits as triples, with which
/// the pattern is matched here.
///
/// # Errors
/// If the parameters are invalid, if there are more than 1,000 combinations, if a search fails, or if the call is cancelled or its time is
/// over before the last search.
pub(crate) fn answer(
    call: &ServiceCall<'_>,
    rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    search: &mut Search<'_>,
) -> Result<(), ServiceError> {
    let parameters = collect_parameters(&call.triple_patterns())?;
    // In the order of the values, so that the rows are in the same order in each run.
    let mut searches: BTreeMap<Vec<String>, ParameterRows> = BTreeMap::new();
    for row in &call.bindings.rows {
        let mut values = Vec::with_capacity(parameters.len());
        for (_, pattern) in &parameters {
            values.push(find_value(pattern, &call.bindings.variables, row)?);
        }
        let key = values.iter().map(ToString::to_string).collect();
        let search = searches.entry(key).or_insert_with(|| ParameterRows {
            values,
            bindings: Vec::new(),
        });
        search.bindings.push(row.clone());
    }
    if searches.len() > MAX_SEARCHES {
        return Err(ServiceError::TooLarge(format!(
            "more than {MAX_SEARCHES} searches in one SERVICE call"
        )));
    }
    for ParameterRows { values, bindings } in searches.into_values() {
        // Without the remaining rows, the answer would seem complete.
        check_time(call)?;
        let values: Vec<(&str, Term)> = parameters
            .iter()
            .map(|(property, _)| *property)
            .zip(values)
            .collect();
        let triples = search(&values)?;
        let Bindings {
            variables,
            conditions,
            ..
        } = call.bindings;
        // The hits of this search belong to the rows with its values only.
        let bindings = Bindings {
            variables: variables.clone(),
            rows: bindings,
            conditions: conditions.clone(),
        };
        if (ServiceCall {
            bindings: &bindings,
            ..*call
        })
        .solve(triples, rows)?
        .is_break()
        {
            break;
        }
    }
    Ok(())
}

/// Returns an error if a call was cancelled, or its time is over.
fn check_time(call: &ServiceCall<'_>) -> Result<(), ServiceError> {
    if call.cancelled.is_cancelled() {
        return Err(ServiceError::Failed(format!(
            "{}: the query was cancelled",
            call.service
        )));
    }
    if Instant::now() >= call.deadline {
        return Err(ServiceError::Failed(format!(
            "{}: timed out before the last search of the query; use fewer search words in one query, or a longer time limit",
            call.service
        )));
    }
    Ok(())
}

/// Returns the search parameter that a triple pattern sets, if any.
fn parameter_of(pattern: &TriplePattern) -> Option<&'static str> {
    match &pattern.predicate {
        NamedNodePattern::NamedNode(property) => PARAMETERS
            .iter()
            .copied()
            .find(|parameter| *parameter == property.as_str()),
        NamedNodePattern::Variable(_) => None,
    }
}

/// A property of the namespace that it does not define is a mistake in typing: it would have no solution.
fn check_property(pattern: &TriplePattern) -> Result<(), ServiceError> {
    let NamedNodePattern::NamedNode(property) = &pattern.predicate else {
        return Ok(());
    };
    if !has_property(property) || search::ALL.contains(&property.as_str()) {
        return Ok(());
    }
    let names: Vec<&str> = PARAMETERS
        .iter()
        .filter_map(|parameter| parameter.strip_prefix(search::NAMESPACE))
        .collect();
    Err(ServiceError::Wrong(format!(
        "the search service has no property {property}; its parameters are {}",
        names.join(", ")
    )))
}

/// Returns the search parameters of a pattern. They must have one subject, and belong to one kind of search.
fn collect_parameters<'p>(patterns: &[&'p TriplePattern]) -> Result<Parameters<'p>, ServiceError> {
    let mut parameters: Parameters<'p> = Vec::new();
    let mut subject = None;
    for pattern in patterns {
        check_property(pattern)?;
        let Some(property) = parameter_of(pattern) else {
            continue;
        };
        if *subject.get_or_insert(&pattern.subject) != &pattern.subject {
            return Err(ServiceError::Wrong(
                "two searches in one SERVICE: the search parameters have different subjects; use one SERVICE for each search"
                    .to_owned(),
            ));
        }
        if facet_of(property).is_none()
            && ![search::LIKE, search::IN_DATASET].contains(&property)
            && parameters
                .iter()
                .any(|(other, value)| *other == property && *value != &pattern.object)
        {
            return Err(ServiceError::Wrong(format!(
                "more than one value of <{property}>"
            )));
        }
        if !parameters.contains(&(property, &pattern.object)) {
            parameters.push((property, &pattern.object));
        }
    }
    let Some(kind) = SearchKind::find(parameters.iter().map(|(property, _)| *property)) else {
        return Err(ServiceError::Wrong(format!(
            "a search needs words: ?dataset <{}> \"words\", or ?match <{}> \"words\" for entities",
            search::TEXT,
            search::LITERAL_TEXT
        )));
    };
    match parameters
        .iter()
        .find(|(property, _)| !kind.accepts(property))
    {
        Some((other, _)) => Err(ServiceError::Wrong(format!(
            "<{other}> cannot be combined with <{}>; use one SERVICE for each search",
            kind.parameter()
        ))),
        None => Ok(parameters),
    }
}

/// Returns the value of a search parameter in a row of bindings.
fn find_value(
    pattern: &TermPattern,
    variables: &[Variable],
    row: &[GroundTerm],
) -> Result<Term, ServiceError> {
    match pattern {
        TermPattern::NamedNode(node) => Ok(node.clone().into()),
        TermPattern::Literal(literal) => Ok(literal.clone().into()),
        TermPattern::Variable(variable) => {
            let column = variables.iter().position(|bound| bound == variable);
            let value = column.map(|column| row[column].clone().into());
            value.ok_or_else(|| {
                ServiceError::Wrong(format!(
                    "nothing outside of the SERVICE binds {variable}, which the search needs"
                ))
            })
        }
        TermPattern::BlankNode(_) => Err(ServiceError::Wrong(
            "a blank node cannot be the value of a search parameter".to_owned(),
        )),
        TermPattern::Triple(_) => Err(ServiceError::Wrong(
            "a triple term cannot be the value of a search parameter".to_owned(),
        )),
    }
}

/// Returns the search request with these parameters.
fn parse_request(parameters: &[(&str, Term)], iris: &Iris) -> Result<SearchRequest, ServiceError> {
    let mut request = SearchRequest {
        depth: DEFAULT_HITS,
        ..SearchRequest::new("")
    };
    let mut filter = Filter::default();
    for (property, value) in parameters {
        let text = match value {
            Term::NamedNode(node) if *property == search::LIKE => {
                let id = iris.dataset_id(node.as_str()).ok_or_else(|| {
                    ServiceError::Wrong(format!(
                        "invalid value {value} of <{property}>: no dataset of this store"
                    ))
                })?;
                request.examples.push(Example::Dataset(id));
                continue;
            }
            _ if *property == search::LIKE => {
                let message =
                    format!("invalid value {value} of <{property}>: expected the IRI of a dataset");
                return Err(ServiceError::Wrong(message));
            }
            Term::Literal(literal) => literal.value(),
            Term::NamedNode(node) if facet_of(property).is_some_and(Facet::has_iris) => {
                node.as_str()
            }
            _ => {
                return Err(ServiceError::Wrong(format!(
                    "invalid value {value} of <{property}>: expected a literal"
                )));
            }
        };
        if let Some(facet) = facet_of(property) {
            filter = filter.with(facet, facet_value(facet, text));
            continue;
        }
        match *property {
            search::TEXT => text.clone_into(&mut request.query),
            search::LIMIT => request.depth = parse_value(property, text)?,
            search::OFFSET => request.skip = parse_value(property, text)?,
            search::MODEL => request.model = Some(parse_value::<ModelKind>(property, text)?),
            search::SNIPPET_METHOD => request.snippet = parse_value(property, text)?,
            search::SINCE => filter.since = Some(parse_value(property, text)?),
            search::WITHIN => filter.within = Some(parse_value(property, text)?),
            search::COVERS => filter.covers = Some(parse_value(property, text)?),
            _ => filter.until = Some(parse_value(property, text)?),
        }
    }
    check_request(SearchRequest { filter, ..request })
}

fn parse_value<T: FromStr<Err: fmt::Display>>(
    property: &str,
    text: &str,
) -> Result<T, ServiceError> {
    text.parse().map_err(|error| {
        ServiceError::Wrong(format!("invalid value {text:?} of <{property}>: {error}"))
    })
}

/// Returns an error if the text of a search is empty or too long.
fn check_text(text: &str) -> Result<(), ServiceError> {
    if text.trim().is_empty() {
        return Err(ServiceError::Wrong(
            "the text to search for is empty".to_owned(),
        ));
    }
    if text.chars().count() > MAX_QUERY_CHARS {
        let message = format!("the text to search for has more than {MAX_QUERY_CHARS} characters");
        return Err(ServiceError::Wrong(message));
    }
    Ok(())
}

/// Returns the request if it is within the limits of the service.
fn check_request(request: SearchRequest) -> Result<SearchRequest, ServiceError> {
    check_text(&request.query)?;
    let max_hits = if request.snippet.is_on_demand() {
        MAX_HITS_WITH_SNIPPETS
    } else {
        MAX_HITS
    };
    let problem = if !(1..=max_hits).contains(&request.depth) {
        format!("the limit must be from 1 to {max_hits} (100, or 10 with snippets on demand)")
    } else if !request.snippet.is_bounded() {
        "this snippet method has no bound on its running time; choose another".to_owned()
    } else {
        return Ok(request);
    };
    Err(ServiceError::Wrong(problem))
}

/// Adds the rank, the score, the title and the matched fields of a hit.
fn add_hit(hit: &Hit, dataset: &NamedNode, triples: &mut Vec<Triple>) {
    triples.push(triple(dataset, search::RANK, integer_literal(hit.rank)));
    triples.extend(
        hit.score
            .map(|score| triple(dataset, search::SCORE, Literal::from(score))),
    );
    triples.push(triple(
        dataset,
        search::TITLE,
        string_literal(hit.card.metadata.title()),
    ));
    triples.push(triple(
        dataset,
        search::CLOSEST,
        Literal::from(hit.is_closest()),
    ));
    triples.push(triple(
        dataset,
        search::MATCH_QUALITY,
        string_literal(hit.quality.name()),
    ));
    for field in &hit.fields {
        let mut matched = Description::without_properties(triples);
        matched.add(search::FIELD, string_literal(&field.field.to_string()));
        matched.add(search::SHARE, Literal::from(field.score));
        for word in &field.terms {
            matched.add(search::TERM, string_literal(word));
        }
        let node = matched.node;
        triples.push(triple(dataset, search::MATCH, node));
    }
}

fn triple(subject: &NamedNode, property: &str, object: impl Into<Term>) -> Triple {
    Triple::new(
        NamedOrBlankNode::from(subject.clone()),
        NamedNode::new_unchecked(property),
        object,
    )
}

fn string_literal(text: &str) -> Term {
    Literal::new_simple_literal(text).into()
}

fn integer_literal(number: usize) -> Term {
    Literal::from(number as u64).into()
}

/// Converts a term of a snippet. Blank nodes of different datasets remain distinct.
fn to_term(term: &LabelledTerm, dataset: &str) -> Term {
    match term.kind {
        TermKind::Iri => NamedNode::new_unchecked(term.value.as_str()).into(),
        TermKind::Blank => {
            // Hexadecimal digits, because labels of blank nodes allow few characters.
            let letters = format!("{dataset}/{}", term.value);
            let name: String = letters.bytes().map(|byte| format!("{byte:02x}")).collect();
            BlankNode::new_unchecked(format!("b{name}")).into()
        }
        TermKind::Literal => match (&term.language, &term.datatype) {
            (Some(language), _) => {
                let direction = match term.direction.as_deref() {
                    Some("ltr") => Some(BaseDirection::Ltr),
                    Some("rtl") => Some(BaseDirection::Rtl),
                    _ => None,
                };
                match direction {
                    None => Literal::new_language_tagged_literal_unchecked(&term.value, language),
                    Some(direction) => Literal::new_directional_language_tagged_literal_unchecked(
                        &term.value,
                        language,
                        direction,
                    ),
                }
                .into()
            }
            (None, Some(datatype)) => {
                Literal::new_typed_literal(&term.value, NamedNode::new_unchecked(datatype.as_str()))
                    .into()
            }
            (None, None) => string_literal(&term.value),
        },
        TermKind::Triple => match to_triple(term, dataset) {
            Some(triple) => triple.into(),
            None => string_literal(&term.value),
        },
    }
}

/// Converts a triple term. Returns `None` if its parts are missing or do not form a triple.
fn to_triple(term: &LabelledTerm, dataset: &str) -> Option<Triple> {
    let triple = term.triple.as_deref()?;
    let [subject, predicate, object] =
        [&triple.subject, &triple.predicate, &triple.object].map(|part| to_term(part, dataset));
    Triple::from_terms(subject, predicate, object).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Evaluates a call of two searches. Returns the number of those executed, and the outcome.
    fn call(seconds: u64, is_cancelled: bool) -> (usize, Result<(), ServiceError>) {
        let dataset = Variable::new_unchecked("dataset");
        let text = Variable::new_unchecked("text");
        let pattern = GraphPattern::Bgp {
            patterns: vec![TriplePattern {
                subject: dataset.clone().into(),
                predicate: NamedNode::new_unchecked(search::TEXT).into(),
                object: text.clone().into(),
            }],
        };
        let words = ["nitrogen", "trees"].map(Literal::new_simple_literal);
        let bindings = Bindings {
            variables: vec![text.clone()],
            rows: words.map(|word| vec![GroundTerm::Literal(word)]).into(),
            conditions: Vec::new(),
        };
        let cancelled = Default::default();
        let call = ServiceCall {
            service: &NamedNode::new_unchecked(search::SERVICE),
            pattern: &pattern,
            variables: &[dataset, text],
            bindings: &bindings,
            limit: None,
            deadline: Instant::now() + Duration::from_secs(seconds),
            cancelled: &cancelled,
        };
        if is_cancelled {
            call.cancelled.cancel();
        }
        let mut searches = 0;
        let outcome = answer(&call, &mut |_| ControlFlow::Continue(()), &mut |_| {
            searches += 1;
            Ok(Vec::new())
        });
        (searches, outcome)
    }

    #[test]
    fn an_answer_without_all_searches_is_an_error() {
        assert_eq!(call(600, false), (2, Ok(())));
        for (seconds, is_cancelled, reason) in [(0, false, "timed out"), (600, true, "cancelled")] {
            let (searches, outcome) = call(seconds, is_cancelled);
            let error = outcome.expect_err(reason).to_string();
            assert!(searches == 0 && error.contains(reason), "{error}");
        }
    }
}
