//! Source selection by counts: the datasets that can answer a query.
//!
//! A dataset is a source of a triple pattern unless its counts prove that nothing in it matches: it lacks the property
//! or the class. So no dataset with an answer is omitted; one without may be listed. Every pattern is compared with the content of
//! each dataset, inside `GRAPH` or not. A pattern in `GRAPH <dataset>` is compared with that dataset alone. The metadata is no source,
//! since every query can read it.

use super::algebra::{child_patterns, inner_patterns, pattern_of};
use super::limits::{Cost, SparqlLimits, check_size};
use super::select_aliases::{parse_query, without_mark};
use super::statistics_cache::{GraphStatistics, TermTable};
use super::{QueryEngine, SparqlError, evaluation_error, on_deep_stack, syntax_error};
use lodeseek_catalog::{DatasetId, Iris};
use lodeseek_rdf::vocab::{dcat, rdf, void};
use lodeseek_store::{Store, StoreError, UsageCounts};
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, Term};
use serde_json::{Value, json};
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use spargebra::{Query, SparqlParser};
use std::collections::{BTreeMap, BTreeSet};

/// A dataset that may contain solutions of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The dataset.
    pub dataset: DatasetId,
    /// Number of matching triples. It is exact if the subject is open and the object is open or a class; otherwise it is the expected
    /// average.
    pub triples: u64,
}

/// Sources of one triple pattern or path, the largest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternSources {
    /// Pattern in SPARQL.
    pub pattern: String,
    /// Sources of the pattern.
    pub sources: Vec<Source>,
}

/// Sources of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Sources of each pattern, in the order of the query.
    pub patterns: Vec<PatternSources>,
    /// Datasets that may answer the query alone: all required patterns, and one side of every union.
    pub alone: Vec<DatasetId>,
    /// Endpoints that the catalogue names for datasets among the sources.
    pub endpoints: BTreeMap<DatasetId, BTreeSet<String>>,
    /// Services of the query, as in SPARQL: an IRI in angle brackets, or a variable. Their patterns have no sources here.
    pub services: BTreeSet<String>,
}

impl Sources {
    /// Returns the sources as JSON: `patterns`, each with its sources, `alone`, and `services` if the query has some. Datasets have
    /// `id`, `iri` and, if the catalogue names some, `endpoints`; sources of a pattern also the number of its `triples`.
    #[must_use]
    pub fn to_json(&self, iris: &Iris) -> Value {
        let patterns: Vec<Value> = self
            .patterns
            .iter()
            .map(|pattern| self.pattern_to_json(pattern, iris))
            .collect();
        let alone: Vec<Value> = self
            .alone
            .iter()
            .map(|id| self.dataset_to_json(id, iris))
            .collect();
        let mut value = json!({ "patterns": patterns, "alone": alone });
        if !self.services.is_empty() {
            value["services"] = json!(self.services);
        }
        value
    }

    fn pattern_to_json(&self, pattern: &PatternSources, iris: &Iris) -> Value {
        let mut sources = Vec::with_capacity(pattern.sources.len());
        for source in &pattern.sources {
            let mut value = self.dataset_to_json(&source.dataset, iris);
            value["triples"] = json!(source.triples);
            sources.push(value);
        }
        json!({ "pattern": pattern.pattern, "sources": sources })
    }

    fn dataset_to_json(&self, id: &DatasetId, iris: &Iris) -> Value {
        let mut value = json!({ "id": id.as_str(), "iri": iris.dataset(id).as_str() });
        if let Some(endpoints) = self.endpoints.get(id) {
            value["endpoints"] = json!(endpoints);
        }
        value
    }
}

impl QueryEngine {
    /// Selects the sources of a query. The first call reads the counts of every dataset.
    pub fn sources(&self, query: &str, limits: &SparqlLimits) -> Result<Sources, SparqlError> {
        check_size(query, limits)?;
        let parser = SparqlParser::new()
            .with_base_iri(self.store.iris().base())
            .map_err(evaluation_error)?;
        let query = without_mark(query);
        let parsed = on_deep_stack(|| parse_query(parser, query))?;
        let mut query = parsed.map_err(|error| syntax_error(query, &error))?;
        Cost::from_query(&query).check(limits)?;
        let graphs = self
            .statistics
            .graphs(&self.store)
            .map_err(evaluation_error)?;
        graphs.resolve(&mut query, &graphs.all());
        let mut datasets: Vec<(&DatasetId, &NamedNode)> = graphs.contents().collect();
        datasets.sort_unstable();
        let mut selection = Selection {
            patterns: query_patterns(&query),
            found: Sources::default(),
        };
        selection.found.patterns = selection
            .patterns
            .iter()
            .map(QueryPattern::sources)
            .collect();
        collect_services(pattern_of(&query), &mut selection.found.services);
        for (id, graph) in datasets {
            let known = self
                .statistics
                .content(&self.store, &graphs, graph)
                .map_err(evaluation_error)?;
            if let Some(known) = known {
                selection.add_candidate(
                    &query,
                    id,
                    &Candidate {
                        graph,
                        statistics: &known,
                        terms: &self.statistics.terms(),
                    },
                );
            }
        }
        let mut found = selection.found;
        if found.patterns.is_empty() && !found.services.is_empty() {
            // Services answer such a query without any dataset.
            found.alone.clear();
        }
        for pattern in &mut found.patterns {
            pattern.sources.sort_by(|a, b| {
                b.triples
                    .cmp(&a.triples)
                    .then_with(|| a.dataset.cmp(&b.dataset))
            });
        }
        let named: BTreeSet<&DatasetId> = found
            .patterns
            .iter()
            .flat_map(|pattern| &pattern.sources)
            .map(|source| &source.dataset)
            .collect();
        found.endpoints = read_endpoints(&self.store).map_err(evaluation_error)?;
        found.endpoints.retain(|id, _| named.contains(id));
        Ok(found)
    }
}

/// A pattern of the query, and the constant after its `GRAPH`.
struct QueryPattern<'q> {
    graph: Option<&'q NamedNode>,
    form: PatternForm<'q>,
}

enum PatternForm<'q> {
    Triple(&'q TriplePattern),
    Path {
        subject: &'q TermPattern,
        path: &'q PropertyPathExpression,
        object: &'q TermPattern,
    },
}

impl QueryPattern<'_> {
    fn sources(&self) -> PatternSources {
        let pattern = match self.form {
            PatternForm::Triple(triple) => triple.to_string(),
            PatternForm::Path {
                subject,
                path,
                object,
            } => format!("{subject} {path} {object}"),
        };
        PatternSources {
            pattern,
            sources: Vec::new(),
        }
    }
}

fn query_patterns(query: &Query) -> Vec<QueryPattern<'_>> {
    let mut found = Vec::new();
    collect_patterns(pattern_of(query), None, &mut found);
    found
}

fn collect_patterns<'q>(
    pattern: &'q GraphPattern,
    graph: Option<&'q NamedNode>,
    found: &mut Vec<QueryPattern<'q>>,
) {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            found.extend(patterns.iter().map(|triple| QueryPattern {
                graph,
                form: PatternForm::Triple(triple),
            }));
        }
        GraphPattern::Path {
            subject,
            path,
            object,
        } => {
            found.push(QueryPattern {
                graph,
                form: PatternForm::Path {
                    subject,
                    path,
                    object,
                },
            });
        }
        GraphPattern::Graph {
            name: NamedNodePattern::NamedNode(name),
            inner,
        } => collect_patterns(inner, Some(name), found),
        GraphPattern::Service { .. } => {} // it is evaluated elsewhere
        other => child_patterns(other)
            .into_iter()
            .for_each(|inner| collect_patterns(inner, graph, found)),
    }
}

fn collect_services(pattern: &GraphPattern, found: &mut BTreeSet<String>) {
    if let GraphPattern::Service { name, .. } = pattern {
        found.insert(name.to_string());
        return;
    }
    for inner in inner_patterns(pattern) {
        collect_services(inner, found);
    }
}

struct Selection<'q> {
    patterns: Vec<QueryPattern<'q>>,
    found: Sources,
}

impl Selection<'_> {
    fn add_candidate(&mut self, query: &Query, id: &DatasetId, candidate: &Candidate<'_>) {
        for (pattern, found) in self.patterns.iter().zip(&mut self.found.patterns) {
            if pattern.graph.is_some_and(|graph| graph != candidate.graph) {
                continue;
            }
            let triples = match pattern.form {
                PatternForm::Triple(triple) => candidate.triples(triple),
                PatternForm::Path { path, .. } => candidate.path_triples(path),
            };
            if triples > 0 {
                found.sources.push(Source {
                    dataset: id.clone(),
                    triples,
                });
            }
        }
        if candidate.may_answer(pattern_of(query)) {
            self.found.alone.push(id.clone());
        }
    }
}

/// Content of one dataset.
struct Candidate<'c> {
    graph: &'c NamedNode,
    statistics: &'c GraphStatistics,
    terms: &'c TermTable,
}

impl Candidate<'_> {
    fn id(&self, node: &NamedNode) -> Option<u32> {
        self.terms.id(&node.clone().into())
    }

    /// Returns true if the pattern may have a solution in this content alone.
    fn may_answer(&self, pattern: &GraphPattern) -> bool {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                patterns.iter().all(|triple| self.triples(triple) > 0)
            }
            GraphPattern::Path { path, .. } => self.path_triples(path) > 0,
            GraphPattern::Join { left, right } => self.may_answer(left) && self.may_answer(right),
            GraphPattern::Union { left, right } => self.may_answer(left) || self.may_answer(right),
            GraphPattern::Graph {
                name: NamedNodePattern::NamedNode(name),
                inner,
            } => name == self.graph && self.may_answer(inner),
            // Optional or subtracted parts are not required.
            GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } => {
                self.may_answer(left)
            }
            GraphPattern::Service { .. } => true,
            other => child_patterns(other)
                .into_iter()
                .all(|inner| self.may_answer(inner)),
        }
    }

    /// Returns the expected number of triples of a pattern; 0 only if there are none.
    fn triples(&self, triple: &TriplePattern) -> u64 {
        let uses = match (&triple.predicate, &triple.object) {
            (NamedNodePattern::NamedNode(property), TermPattern::NamedNode(class))
                if property.as_str() == rdf::TYPE =>
            {
                let triples = self.statistics.class(self.id(class));
                UsageCounts {
                    triples,
                    subjects: triples,
                    objects: triples,
                }
            }
            (NamedNodePattern::NamedNode(property), _) => {
                self.statistics.property(self.id(property))
            }
            (NamedNodePattern::Variable(_), _) => self.statistics.all,
        };
        let is_class = matches!(&triple.predicate, NamedNodePattern::NamedNode(property) if property.as_str() == rdf::TYPE)
            && matches!(triple.object, TermPattern::NamedNode(_));
        match (
            is_open(&triple.subject),
            is_open(&triple.object) || is_class,
        ) {
            (true, true) => uses.triples,
            (false, true) => uses.triples.div_ceil(uses.subjects.max(1)),
            (true, false) => uses.triples.div_ceil(uses.objects.max(1)),
            (false, false) => uses.triples.min(1),
        }
    }

    /// Returns the number of triples that a path may follow; 0 only if it has no solution. A path without steps has one in every
    /// dataset.
    fn path_triples(&self, path: &PropertyPathExpression) -> u64 {
        match path {
            PropertyPathExpression::NamedNode(property) => {
                self.statistics.property(self.id(property)).triples
            }
            PropertyPathExpression::Reverse(path) | PropertyPathExpression::OneOrMore(path) => {
                self.path_triples(path)
            }
            PropertyPathExpression::Sequence(a, b) => {
                self.path_triples(a).min(self.path_triples(b))
            }
            PropertyPathExpression::Alternative(a, b) => {
                self.path_triples(a).saturating_add(self.path_triples(b))
            }
            PropertyPathExpression::ZeroOrMore(_) | PropertyPathExpression::ZeroOrOne(_) => {
                self.statistics.all.triples.max(1)
            }
            PropertyPathExpression::NegatedPropertySet(excluded) => {
                let excluded: Vec<u32> = excluded
                    .iter()
                    .filter_map(|property| self.id(property))
                    .collect();
                let others = self
                    .statistics
                    .properties
                    .iter()
                    .filter(|(id, _)| !excluded.contains(id));
                others.map(|(_, uses)| uses.triples).sum()
            }
        }
    }
}

fn is_open(term: &TermPattern) -> bool {
    matches!(term, TermPattern::Variable(_) | TermPattern::BlankNode(_))
}

/// Returns the endpoints in the catalogue: of a dataset itself, or of an access service of one of its distributions.
fn read_endpoints(store: &Store) -> Result<BTreeMap<DatasetId, BTreeSet<String>>, StoreError> {
    let mut found: BTreeMap<DatasetId, BTreeSet<String>> = BTreeMap::new();
    for (subject, endpoint) in read_objects(store, void::SPARQL_ENDPOINT)? {
        if let Some(id) = find_dataset_id(store, &subject) {
            found.entry(id).or_default().insert(endpoint);
        }
    }
    let mut services: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (service, address) in read_objects(store, dcat::ENDPOINT_URL)? {
        services.entry(service).or_default().push(address);
    }
    for (subject, service) in read_objects(store, dcat::ACCESS_SERVICE)? {
        if let (Some(id), Some(addresses)) =
            (find_dataset_id(store, &subject), services.get(&service))
        {
            found
                .entry(id)
                .or_default()
                .extend(addresses.iter().cloned());
        }
    }
    found.retain(|_, endpoints| !endpoints.is_empty());
    Ok(found)
}

/// Returns the dataset of an IRI, or of a part of its description.
fn find_dataset_id(store: &Store, iri: &str) -> Option<DatasetId> {
    store
        .iris()
        .dataset_id(iri.split('#').next().unwrap_or_default())
}

/// Returns the (subject, object) of a property in the catalogue, if both are IRIs.
fn read_objects(store: &Store, property: &str) -> Result<Vec<(String, String)>, StoreError> {
    let (catalog, property) = (
        store.iris().catalog(),
        NamedNodeRef::new_unchecked(property),
    );
    let mut found = Vec::new();
    for quad in store.oxigraph().quads_for_pattern(
        None,
        Some(property),
        None,
        Some(catalog.as_ref().into()),
    ) {
        let quad = quad?;
        if let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(object)) =
            (quad.subject, quad.object)
        {
            found.push((subject.into_string(), object.into_string()));
        }
    }
    Ok(found)
}
