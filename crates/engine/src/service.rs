//! The search as a service of SPARQL: one query joins ranked datasets with what they say.
//!
//! ```sparql
//! PREFIX search: <https://w3id.org/lodeseek/search#>
//! SELECT ?dataset ?rank { SERVICE search:service { ?dataset search:text "nitrogen" ; search:rank ?rank } }
//! ```
//!
//! What a search finds is told as triples about each hit, and the pattern of the call is matched with those: so everything
//! that SPARQL has may stand inside. Properties that ask ([`Asked`]) have for each hit the value they were asked with.
//! `ontologies/search.ttl` defines every term.

use super::{Facet, Filter, Hit, SearchRequest, Searcher, SnippetKind, facet_value};
use lodeseek_catalog::Iris;
use lodeseek_index::sparse::ModelKind;
use lodeseek_rdf::vocab::{rdf, search};
use lodeseek_snippet::{LabelledTerm, TermKind};
use lodeseek_sparql::{Bindings, ServiceCall, ServiceError, ServiceRow, triple_patterns};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use spargebra::algebra::GraphPattern;
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// Hits of one search at most.
const MOST: usize = 100;
/// Hits with snippets made for the query at most: each reads a whole graph.
const MOST_MADE: usize = 10;
/// Hits where no limit is asked for.
const USUAL: usize = 10;
/// Searches of one call at most, where the words come from solutions.
const MOST_SEARCHES: usize = 1000;
/// Characters of a query at most.
const LONGEST: usize = 2000;

/// Properties that ask.
const ASKING: &[&str] = &[
    search::TEXT,
    search::LIMIT,
    search::OFFSET,
    search::MODEL,
    search::BEFORE,
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
];

/// The facet that a property filters by: such a property may be asked with several values.
fn filters_by(property: &str) -> Option<Facet> {
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

/// Answers calls with searches.
pub struct SearchService {
    searcher: Arc<Searcher>,
    iris: Iris,
}

impl fmt::Debug for SearchService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SearchService").finish_non_exhaustive()
    }
}

/// One thing asked, and the rows of the bindings that ask it.
struct Search {
    values: Vec<Term>,
    bindings: Vec<Vec<GroundTerm>>,
}

/// What a pattern asks with, constants or variables, in the order of [`ASKING`].
type Asked<'p> = Vec<(&'static str, &'p TermPattern)>;

impl SearchService {
    /// Over an index and the IRIs of its home.
    #[must_use]
    pub fn new(searcher: Arc<Searcher>, iris: Iris) -> Self {
        Self { searcher, iris }
    }

    /// Whether this is its name: the vocabulary's, or that under the home's base, which `SERVICE <search>` means.
    #[must_use]
    pub fn is_named(&self, service: &NamedNode) -> bool {
        service.as_str() == search::SERVICE || service.as_str().strip_prefix(self.iris.base()) == Some("search")
    }

    /// Whether it gives a property its values.
    #[must_use]
    pub fn has_property(property: &NamedNode) -> bool {
        property.as_str().starts_with(search::NAMESPACE)
    }

    /// The variables that hold what is asked.
    #[must_use]
    pub fn needs(pattern: &GraphPattern) -> Vec<Variable> {
        let asked = triple_patterns(pattern).into_iter().filter(|triple| asks(triple).is_some());
        let variable = |triple: &TriplePattern| match &triple.object {
            TermPattern::Variable(variable) => Some(variable.clone()),
            _ => None,
        };
        asked.filter_map(variable).collect()
    }

    /// Answers a call: one search for each different thing asked.
    pub fn answer(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let asked = asked(&call.triple_patterns())?;
        let mut searches: BTreeMap<Vec<String>, Search> = BTreeMap::new();
        for row in &call.bindings.rows {
            let values = asked.iter().map(|(_, pattern)| value(pattern, &call.bindings.variables, row));
            let values = values.collect::<Result<Vec<Term>, ServiceError>>()?;
            let key = values.iter().map(ToString::to_string).collect();
            let search = searches.entry(key).or_insert_with(|| Search { values, bindings: Vec::new() });
            search.bindings.push(row.clone());
        }
        if searches.len() > MOST_SEARCHES {
            return Err(ServiceError::TooLarge(format!("more than {MOST_SEARCHES} searches at once")));
        }
        for Search { values, bindings } in searches.into_values() {
            if call.cancelled.is_cancelled() || Instant::now() >= call.deadline {
                break;
            }
            let asked: Vec<(&str, Term)> = asked.iter().map(|(property, _)| *property).zip(values).collect();
            let found = self.triples(&asked)?;
            let bindings = Bindings { variables: call.bindings.variables.clone(), rows: bindings };
            if (ServiceCall { bindings: &bindings, ..*call }).solve(found, rows)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// What a search finds, as triples.
    fn triples(&self, asked: &[(&str, Term)]) -> Result<Vec<Triple>, ServiceError> {
        let request = request(asked)?;
        let response = self
            .searcher
            .search(&request)
            .map_err(|error| ServiceError::Failed(format!("the search failed: {error}")))?;
        let mut triples = Vec::new();
        for hit in &response.hits {
            let dataset = self.iris.dataset(&hit.card.metadata.id);
            triples.extend(asked.iter().map(|(property, value)| triple(&dataset, property, value.clone())));
            about(hit, &dataset, &mut triples);
            self.snippet(hit, &request, &dataset, &mut triples);
        }
        Ok(triples)
    }

    /// The snippet of a hit: where it can be had, and its statements.
    fn snippet(&self, hit: &Hit, request: &SearchRequest, dataset: &NamedNode, triples: &mut Vec<Triple>) {
        let id = &hit.card.metadata.id;
        let snippet = match request.snippet {
            SnippetKind::Stored => self.iris.part(id, "snippet"),
            SnippetKind::Made(method) => {
                self.iris.requested_snippet(id, &[("method", method.name()), ("query", &request.query)])
            }
        };
        triples.push(triple(dataset, search::SNIPPET, snippet.clone()));
        for (place, found) in hit.snippet.iter().enumerate() {
            let statement = BlankNode::default();
            let mut say = |property: &str, value: Term| {
                let property = NamedNode::new_unchecked(property);
                triples.push(Triple::new(statement.clone(), property, value));
            };
            say(rdf::SUBJECT, term(&found.triple.subject, id.as_str()));
            say(rdf::PREDICATE, term(&found.triple.predicate, id.as_str()));
            say(rdf::OBJECT, term(&found.triple.object, id.as_str()));
            say(search::POSITION, integer(place + 1));
            found.matched.iter().for_each(|word| say(search::TERM, string(word)));
            triples.push(triple(&snippet, search::STATEMENT, statement));
        }
    }
}

/// The property by which a triple asks, if it does.
fn asks(pattern: &TriplePattern) -> Option<&'static str> {
    match &pattern.predicate {
        NamedNodePattern::NamedNode(property) => ASKING.iter().copied().find(|asking| *asking == property.as_str()),
        NamedNodePattern::Variable(_) => None,
    }
}

/// What is asked: of one subject, with one text.
fn asked<'p>(patterns: &[&'p TriplePattern]) -> Result<Asked<'p>, ServiceError> {
    let mut asked: Asked<'p> = Vec::new();
    let mut subject = None;
    for pattern in patterns {
        let Some(property) = asks(pattern) else { continue };
        if *subject.get_or_insert(&pattern.subject) != &pattern.subject {
            return Err(ServiceError::Wrong(
                "two searches in one SERVICE: what is asked has one subject; put each search into a SERVICE of its own"
                    .to_owned(),
            ));
        }
        if filters_by(property).is_none()
            && asked.iter().any(|(known, value)| *known == property && *value != &pattern.object)
        {
            return Err(ServiceError::Wrong(format!("more than one value of <{property}>")));
        }
        if !asked.contains(&(property, &pattern.object)) {
            asked.push((property, &pattern.object));
        }
    }
    if !asked.iter().any(|(property, _)| *property == search::TEXT) {
        return Err(ServiceError::Wrong(format!("a search needs words: ?dataset <{}> \"words\"", search::TEXT)));
    }
    Ok(asked)
}

/// The value of something asked, in a row of the bindings.
fn value(pattern: &TermPattern, variables: &[Variable], row: &[GroundTerm]) -> Result<Term, ServiceError> {
    match pattern {
        TermPattern::NamedNode(node) => Ok(node.clone().into()),
        TermPattern::Literal(literal) => Ok(literal.clone().into()),
        TermPattern::Variable(variable) => {
            let place = variables.iter().position(|known| known == variable);
            let value = place.map(|place| row[place].clone().into());
            value.ok_or_else(|| {
                ServiceError::Wrong(format!("nothing outside of the SERVICE binds {variable}, which the search needs"))
            })
        }
        TermPattern::BlankNode(_) => Err(ServiceError::Wrong("a blank node is nothing to search for".to_owned())),
    }
}

fn request(asked: &[(&str, Term)]) -> Result<SearchRequest, ServiceError> {
    let mut request = SearchRequest { depth: USUAL, ..SearchRequest::new("") };
    let mut filter = Filter::default();
    for (property, value) in asked {
        let text = match value {
            Term::Literal(literal) => literal.value(),
            Term::NamedNode(node) if filters_by(property).is_some_and(Facet::has_iris) => node.as_str(),
            _ => return Err(ServiceError::Wrong(format!("{value} is no value of <{property}>: a literal is wanted"))),
        };
        if let Some(facet) = filters_by(property) {
            filter = filter.with(facet, facet_value(facet, text));
            continue;
        }
        match *property {
            search::TEXT => text.clone_into(&mut request.query),
            search::LIMIT => request.depth = parsed(property, text)?,
            search::OFFSET => request.skip = parsed(property, text)?,
            search::MODEL => request.model = Some(parsed::<ModelKind>(property, text)?),
            search::SNIPPET_METHOD => request.snippet = parsed(property, text)?,
            _ => filter.until = Some(parsed(property, text)?),
        }
    }
    checked(SearchRequest { filter, ..request })
}

fn parsed<T: FromStr<Err: fmt::Display>>(property: &str, text: &str) -> Result<T, ServiceError> {
    text.parse().map_err(|error| ServiceError::Wrong(format!("{text:?} is no value of <{property}>: {error}")))
}

fn checked(request: SearchRequest) -> Result<SearchRequest, ServiceError> {
    let most = if request.snippet == SnippetKind::Stored { MOST } else { MOST_MADE };
    let bounded = match request.snippet {
        SnippetKind::Made(method) => method.is_bounded(),
        SnippetKind::Stored => true,
    };
    let wrong = if request.query.trim().is_empty() {
        "the text to search for is empty".to_owned()
    } else if request.query.chars().count() > LONGEST {
        format!("a text to search for may have {LONGEST} characters")
    } else if !(1..=most).contains(&request.depth) {
        format!("the limit must be from 1 to {most} (100, or 10 where snippets are made for the query)")
    } else if !bounded {
        "that snippet method takes too long here".to_owned()
    } else {
        return Ok(request);
    };
    Err(ServiceError::Wrong(wrong))
}

/// What is said of a hit itself.
fn about(hit: &Hit, dataset: &NamedNode, triples: &mut Vec<Triple>) {
    triples.push(triple(dataset, search::RANK, integer(hit.rank)));
    triples.extend(hit.score.map(|score| triple(dataset, search::SCORE, Literal::from(score))));
    triples.push(triple(dataset, search::TITLE, string(hit.card.metadata.title())));
    triples.push(triple(dataset, search::CLOSEST, Literal::from(hit.is_closest())));
    for field in &hit.fields {
        let matched = BlankNode::default();
        let mut say = |property: &str, value: Term| {
            triples.push(Triple::new(matched.clone(), NamedNode::new_unchecked(property), value));
        };
        say(search::FIELD, string(&field.field.to_string()));
        say(search::SHARE, Literal::from(field.score).into());
        field.terms.iter().for_each(|word| say(search::TERM, string(word)));
        triples.push(triple(dataset, search::MATCH, matched));
    }
}

fn triple(subject: &NamedNode, property: &str, object: impl Into<Term>) -> Triple {
    Triple::new(NamedOrBlankNode::from(subject.clone()), NamedNode::new_unchecked(property), object)
}

fn string(text: &str) -> Term {
    Literal::new_simple_literal(text).into()
}

fn integer(number: usize) -> Term {
    Literal::from(number as u64).into()
}

/// A term of a snippet. Blank nodes of different datasets stay different.
fn term(term: &LabelledTerm, dataset: &str) -> Term {
    match term.kind {
        TermKind::Iri => NamedNode::new_unchecked(term.value.as_str()).into(),
        TermKind::Blank => {
            let letters = format!("{dataset}/{}", term.value);
            let name: String = letters.bytes().map(|byte| format!("{byte:02x}")).collect();
            BlankNode::new_unchecked(format!("b{name}")).into()
        }
        TermKind::Literal => match (&term.language, &term.datatype) {
            (Some(language), _) => Literal::new_language_tagged_literal_unchecked(&term.value, language).into(),
            (None, Some(datatype)) => {
                Literal::new_typed_literal(&term.value, NamedNode::new_unchecked(datatype.as_str())).into()
            }
            (None, None) => string(&term.value),
        },
    }
}
