//! SPARQL 1.1 queries over the store, bounded in time and size. <https://www.w3.org/TR/sparql11-query/>
//!
//! *Which graphs a query sees.* The default graph is the metadata: catalogue, profiles and snippets. The named graphs are
//! those three and the present content of every dataset; versions being replaced are invisible. The IRI of a dataset may
//! stand for its content's graph wherever a query or request names one.
//!
//! *Why a thread for each query?* Oxigraph looks at its cancellation token only when it reads the store, so a query that
//! computes without reading cannot be stopped. At the deadline the answer is given up at once, the token is set, and the
//! thread is left to end; until it does it holds one of the [`SparqlLimits::concurrent`] places.

use super::Store;
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression, QueryDataset,
};
use spargebra::term::NamedNodePattern;
use spargebra::{Query, SparqlParser};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running query's memory is looked at.
const WATCH: Duration = Duration::from_millis(20);

/// What one query may cost.
#[derive(Clone, Debug)]
pub struct SparqlLimits {
    /// Time until the answer must be there. Default 30 s.
    pub deadline: Duration,
    /// Rows or triples of an answer; one with more is cut and marked. Default 100,000.
    pub rows: usize,
    /// Queries at one time, those given up included. Default 8.
    pub concurrent: usize,
    /// Megabytes by which the process may grow while a query is answered. Default 1,024.
    pub memory_megabytes: u64,
    /// Combinations of the rows of all `VALUES` of a query. Default 1,000,000.
    pub combinations: u64,
    /// Triple patterns and steps of paths. Default 200: the optimizer takes seconds for more.
    pub patterns: usize,
    /// Bytes of a query. Default 64 KiB.
    pub query_bytes: usize,
    /// How deep brackets may nest, and how many prefix operators may follow each other. Default 150.
    pub nesting: usize,
    /// How deep groups in braces may nest. Default 16.
    pub groups: usize,
    /// How deep negations by `!` may nest. Default 8.
    pub negations: usize,
}

impl Default for SparqlLimits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            rows: 100_000,
            concurrent: 8,
            memory_megabytes: 1024,
            combinations: 1_000_000,
            patterns: 200,
            query_bytes: 64 << 10,
            nesting: 150,
            groups: 16,
            negations: 8,
        }
    }
}

/// A query and the graphs the request names; those win over `FROM` (SPARQL 1.1 Protocol, 2.1.4).
#[derive(Clone, Debug, Default)]
pub struct QueryRequest {
    /// The query.
    pub query: String,
    /// `default-graph-uri`.
    pub default_graphs: Vec<NamedNode>,
    /// `named-graph-uri`.
    pub named_graphs: Vec<NamedNode>,
}

/// An answer, whole in memory: [`SparqlLimits::rows`] bounds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Of an `ASK`.
    Boolean(bool),
    /// Of a `SELECT`.
    Solutions {
        /// The variables, in the order of the query.
        variables: Vec<Variable>,
        /// One value a variable.
        rows: Vec<Vec<Option<Term>>>,
        /// Whether there were more rows than the limit.
        truncated: bool,
    },
    /// Of a `CONSTRUCT` or `DESCRIBE`.
    Graph {
        /// The triples.
        triples: Vec<Triple>,
        /// Whether there were more triples than the limit.
        truncated: bool,
    },
}

impl Answer {
    /// Whether the answer was cut at the limit.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(self, Self::Solutions { truncated: true, .. } | Self::Graph { truncated: true, .. })
    }

    /// Writes solutions or a boolean in one of the result formats; `None` for a graph, which is RDF.
    #[must_use]
    pub fn write_results(&self, media_type: &str) -> Option<io::Result<Vec<u8>>> {
        let format = QueryResultsFormat::from_media_type(media_type)?;
        let serializer = QueryResultsSerializer::from_format(format);
        match self {
            Self::Boolean(value) => Some(serializer.serialize_boolean_to_writer(Vec::new(), *value)),
            Self::Solutions { variables, rows, .. } => {
                let write = || {
                    let mut writer = serializer.serialize_solutions_to_writer(Vec::new(), variables.clone())?;
                    for row in rows {
                        let bound = variables
                            .iter()
                            .zip(row)
                            .filter_map(|(v, term)| Some((v.as_ref(), term.as_ref()?.as_ref())));
                        writer.serialize(bound)?;
                    }
                    writer.finish()
                };
                Some(write())
            }
            Self::Graph { .. } => None,
        }
    }
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SparqlError {
    /// The query is not SPARQL.
    #[error("{0}")]
    Syntax(String),
    /// The query is larger or nested deeper than allowed.
    #[error("the query is refused: {0}")]
    TooLarge(String),
    /// The deadline passed.
    #[error("no answer within {} s; a LIMIT or a more specific pattern may help", .0.as_secs_f32())]
    Deadline(Duration),
    /// The answer takes too much memory.
    #[error(
        "the answer takes more than {0} MB of memory; a LIMIT without ORDER BY, or a more specific pattern, may help"
    )]
    Memory(u64),
    /// Too many queries at once.
    #[error("{0} queries are being answered; try again in a moment")]
    Busy(usize),
    /// The query asks for what this store does not offer: another service, an unknown function.
    #[error("{0}")]
    Unsupported(String),
    /// The evaluation failed.
    #[error("{0}")]
    Evaluation(String),
}

impl From<QueryEvaluationError> for SparqlError {
    fn from(error: QueryEvaluationError) -> Self {
        match error {
            QueryEvaluationError::Service(_)
            | QueryEvaluationError::UnboundService
            | QueryEvaluationError::InvalidServiceName(_)
            | QueryEvaluationError::UnsupportedService(_)
            | QueryEvaluationError::UnsupportedCustomFunction(_)
            | QueryEvaluationError::UnsupportedCustomFunctionArity { .. } => Self::Unsupported(error.to_string()),
            other => Self::Evaluation(other.to_string()),
        }
    }
}

/// One of a store's places for queries, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(running: &Arc<AtomicUsize>, limit: usize) -> Result<Self, SparqlError> {
        let taken = running
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |running| (running < limit).then_some(running + 1));
        taken.map(|_| Self(Arc::clone(running))).map_err(SparqlError::Busy)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Memory this process holds, in megabytes, where the system tells.
fn resident_megabytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages / 256) // pages of 4 KiB
}

/// Waits for an answer until the deadline, as long as memory does not run away.
fn wait(receiver: &Receiver<Result<Answer, SparqlError>>, limits: &SparqlLimits) -> Result<Answer, SparqlError> {
    let (started, before) = (Instant::now(), resident_megabytes());
    loop {
        match receiver.recv_timeout(WATCH.min(limits.deadline.saturating_sub(started.elapsed()))) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(SparqlError::Evaluation("the evaluation broke off".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) if started.elapsed() >= limits.deadline => {
                return Err(SparqlError::Deadline(limits.deadline));
            }
            Err(RecvTimeoutError::Timeout) => {
                let grown = resident_megabytes().zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
                if grown > limits.memory_megabytes {
                    return Err(SparqlError::Memory(limits.memory_megabytes));
                }
            }
        }
    }
}

/// Answers a query, blocking at most until the deadline.
pub fn evaluate(store: &Arc<Store>, request: &QueryRequest, limits: &SparqlLimits) -> Result<Answer, SparqlError> {
    check_size(&request.query, limits)?;
    let place = Place::take(&store.running, limits.concurrent)?;
    let token = CancellationToken::new();
    let (sender, receiver) = sync_channel(1);
    let (store, request, cancel) = (Arc::clone(store), request.clone(), token.clone());
    let bounds = limits.clone();
    thread::Builder::new()
        .name("sparql".to_owned())
        .stack_size(256 << 20) // the parser recurses; what the limits let through fits, and more
        .spawn(move || {
            let answer = answer(&store, &request, &bounds, cancel);
            drop(store); // whoever gets the answer may close the home
            drop(place);
            let _ = sender.send(answer); // nobody listens any more after the deadline
        })
        .map_err(|error| SparqlError::Evaluation(error.to_string()))?;
    let answer = wait(&receiver, limits);
    if answer.is_err() {
        token.cancel();
    }
    answer
}

/// The parser recurses on brackets and prefix operators: both are bounded before it runs. And it cannot be stopped: what
/// makes it try twice at every level, negations (`!(!(…))`) and sub-selects with `HAVING`, is bounded more narrowly.
fn check_size(query: &str, limits: &SparqlLimits) -> Result<(), SparqlError> {
    if query.len() > limits.query_bytes {
        return Err(SparqlError::TooLarge(format!(
            "it has {} bytes; the limit is {}",
            query.len(),
            limits.query_bytes
        )));
    }
    let deepest = Depths::deepest(query);
    for (found, limit, what) in [
        (deepest.brackets.max(deepest.operators), limits.nesting, "nests deeper"),
        (deepest.groups, limits.groups, "nests groups deeper"),
        (deepest.negations, limits.negations, "nests negations deeper"),
    ] {
        if found > limit {
            return Err(SparqlError::TooLarge(format!("it {what} than {limit}")));
        }
    }
    Ok(())
}

/// How deep a query nests, counted without parsing it: never too low, whatever hides brackets from whom.
#[derive(Default)]
struct Depths {
    brackets: usize,
    /// Of the brackets, `{`.
    groups: usize,
    /// Brackets opened after a `!` that no other bracket has answered.
    negations: usize,
    /// Prefix operators in a row.
    operators: usize,
}

impl Depths {
    fn deepest(query: &str) -> Self {
        let mut deepest = Self::default();
        let (mut open, mut negated, mut operators) = (Vec::new(), vec![false], 0);
        let (mut groups, mut negations) = (0usize, 0usize);
        for (byte, sure) in Code::of(query).filter(|(byte, _)| !byte.is_ascii_whitespace()) {
            match byte {
                b'{' | b'(' | b'[' => {
                    groups += usize::from(byte == b'{');
                    negations += usize::from(negated.last() == Some(&true));
                    open.push(byte);
                    negated.push(false);
                }
                b'}' | b')' | b']' if sure => {
                    if let Some(opening) = open.pop() {
                        groups -= usize::from(opening == b'{');
                        negated.pop();
                    }
                    if let Some(level) = negated.last_mut() {
                        negations -= usize::from(std::mem::take(level)).min(negations);
                    }
                }
                b'!' => {
                    if let Some(level) = negated.last_mut() {
                        *level = true;
                    }
                }
                _ => {}
            }
            operators = if matches!(byte, b'!' | b'-' | b'+' | b'^') { operators + 1 } else { 0 };
            deepest.brackets = deepest.brackets.max(open.len());
            deepest.groups = deepest.groups.max(groups);
            deepest.negations = deepest.negations.max(negations);
            deepest.operators = deepest.operators.max(operators);
        }
        deepest
    }
}

/// The bytes of a query without comments, strings, IRIs and escaped characters; each with whether a closing bracket is
/// surely one.
///
/// Only the parser knows whether `<` begins an IRI or compares. With `://` after a scheme it can be nothing but an IRI.
/// Without it, and with a byte inside that would matter if it were none, nothing that follows is sure any more: no text
/// is passed over then, and nothing closes.
struct Code<'q> {
    rest: &'q [u8],
    sure: bool,
}

impl<'q> Code<'q> {
    fn of(query: &'q str) -> Self {
        Self { rest: query.as_bytes(), sure: true }
    }

    /// The length of what begins here and is no code; 0 where it is code.
    fn passed_over(&mut self) -> usize {
        match self.rest {
            [b'#', ..] => self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(self.rest.len()),
            [b'\\', _, ..] => 2,
            [quote @ (b'"' | b'\''), ..] => string(self.rest, *quote),
            [b'<', inside @ ..] => self.iri(inside),
            _ => 0,
        }
    }

    fn iri(&mut self, inside: &[u8]) -> usize {
        let end = inside.iter().position(|byte| b"<>\"{}|^`\\".contains(byte) || *byte <= b' ');
        let Some(length) = end.filter(|&end| inside[end] == b'>') else { return 0 };
        let iri = &inside[..length];
        let scheme = iri.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
        let absolute = scheme > 0 && iri[scheme..].starts_with(b"://");
        self.sure &= absolute || !iri.iter().any(|byte| b"'#()[]!".contains(byte));
        if self.sure { length + 2 } else { 0 }
    }
}

/// The length of a string; one without an end, which no parser passes, goes on to the end of the query.
fn string(rest: &[u8], quote: u8) -> usize {
    let long = rest.starts_with(&[quote; 3]);
    let mut place = if long { 3 } else { 1 };
    while place < rest.len() {
        match rest[place] {
            b'\\' => place += 1,
            byte if byte == quote && !long => return place + 1,
            byte if byte == quote && rest[place..].starts_with(&[quote; 3]) => return place + 3,
            _ => {}
        }
        place += 1;
    }
    rest.len()
}

impl Iterator for Code<'_> {
    type Item = (u8, bool);

    fn next(&mut self) -> Option<Self::Item> {
        while self.sure {
            match self.passed_over() {
                0 => break,
                length => self.rest = &self.rest[length..],
            }
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some((*byte, self.sure))
    }
}

fn answer(
    store: &Store,
    request: &QueryRequest,
    limits: &SparqlLimits,
    token: CancellationToken,
) -> Result<Answer, SparqlError> {
    let failed = |error: &dyn std::fmt::Display| SparqlError::Evaluation(error.to_string());
    let parser = SparqlParser::new().with_base_iri(store.iris.base()).map_err(|error| failed(&error))?;
    let mut query = parser.parse_query(&request.query).map_err(|error| SparqlError::Syntax(error.to_string()))?;
    Cost::of(&query).check(limits)?;
    let graphs = Graphs::of(store).map_err(|error| failed(&error))?;
    graphs.resolve(&mut query);
    let from = match &query {
        Query::Select { dataset, .. }
        | Query::Construct { dataset, .. }
        | Query::Describe { dataset, .. }
        | Query::Ask { dataset, .. } => dataset.clone(),
    };
    let mut prepared = SparqlEvaluator::new().with_cancellation_token(token).for_query(query);
    let (default, named) = graphs.visible(request, from);
    prepared.dataset_mut().set_default_graph(default.into_iter().map(GraphName::NamedNode).collect());
    prepared.dataset_mut().set_available_named_graphs(named.into_iter().map(NamedOrBlankNode::NamedNode).collect());
    let results = prepared.on_store(&store.oxigraph).execute()?;
    Ok(collect(results, limits.rows)?)
}

fn collect(results: QueryResults<'_>, limit: usize) -> Result<Answer, QueryEvaluationError> {
    Ok(match results {
        QueryResults::Boolean(value) => Answer::Boolean(value),
        QueryResults::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let mut rows = Vec::new();
            let mut truncated = false;
            for solution in solutions {
                let solution = solution?;
                if rows.len() == limit {
                    truncated = true;
                    break;
                }
                rows.push(variables.iter().map(|variable| solution.get(variable).cloned()).collect());
            }
            Answer::Solutions { variables, rows, truncated }
        }
        QueryResults::Graph(graph) => {
            let mut triples = Vec::new();
            let mut truncated = false;
            for triple in graph {
                let triple = triple?;
                if triples.len() == limit {
                    truncated = true;
                    break;
                }
                triples.push(triple);
            }
            Answer::Graph { triples, truncated }
        }
    })
}

/// What a parsed query may cost before any data is looked at.
#[derive(Default)]
struct Cost {
    combinations: u64,
    patterns: usize,
}

impl Cost {
    fn of(query: &Query) -> Self {
        let pattern = match query {
            Query::Select { pattern, .. }
            | Query::Construct { pattern, .. }
            | Query::Describe { pattern, .. }
            | Query::Ask { pattern, .. } => pattern,
        };
        let mut cost = Self { combinations: 1, patterns: 0 };
        cost.add(pattern);
        cost
    }

    fn check(&self, limits: &SparqlLimits) -> Result<(), SparqlError> {
        if self.combinations > limits.combinations {
            return Err(SparqlError::TooLarge(format!("its VALUES combine to more than {} rows", limits.combinations)));
        }
        if self.patterns > limits.patterns {
            return Err(SparqlError::TooLarge(format!("it has more than {} triple patterns", limits.patterns)));
        }
        Ok(())
    }

    fn add(&mut self, pattern: &GraphPattern) {
        match pattern {
            GraphPattern::Values { bindings, .. } => {
                self.combinations = self.combinations.saturating_mul(bindings.len().max(1) as u64);
            }
            GraphPattern::Bgp { patterns } => self.patterns += patterns.len(),
            GraphPattern::Path { path, .. } => self.patterns += steps(path),
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right }
            | GraphPattern::LeftJoin { left, right, .. } => {
                self.add(left);
                self.add(right);
            }
            GraphPattern::Graph { inner, .. }
            | GraphPattern::Filter { inner, .. }
            | GraphPattern::Extend { inner, .. }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Group { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.add(inner),
            _ => {}
        }
    }
}

fn steps(path: &PropertyPathExpression) -> usize {
    match path {
        PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => steps(a) + steps(b),
        PropertyPathExpression::Reverse(a)
        | PropertyPathExpression::ZeroOrMore(a)
        | PropertyPathExpression::OneOrMore(a)
        | PropertyPathExpression::ZeroOrOne(a) => steps(a),
        PropertyPathExpression::NamedNode(_) => 1,
        PropertyPathExpression::NegatedPropertySet(set) => set.len(),
    }
}

/// The graphs of a store at one moment.
struct Graphs {
    metadata: Vec<NamedNode>,
    /// Dataset IRI → graph of its present content.
    content: HashMap<NamedNode, NamedNode>,
}

impl Graphs {
    fn of(store: &Store) -> Result<Self, super::StoreError> {
        let iris = &store.iris;
        let content =
            store.versions()?.into_iter().map(|(id, version)| (iris.dataset(&id), iris.graph(&id, &version))).collect();
        Ok(Self { metadata: vec![iris.catalog(), iris.profiles(), iris.snippets()], content })
    }

    fn name(&self, graph: &NamedNode) -> NamedNode {
        self.content.get(graph).unwrap_or(graph).clone()
    }

    fn is_visible(&self, graph: &NamedNode) -> bool {
        self.metadata.contains(graph) || self.content.values().any(|content| content == graph)
    }

    /// (default graph, named graphs) for a request and a query's own `FROM` clauses.
    fn visible(&self, request: &QueryRequest, from: Option<QueryDataset>) -> (Vec<NamedNode>, Vec<NamedNode>) {
        let pick = |graphs: &[NamedNode]| -> Vec<NamedNode> {
            graphs.iter().map(|graph| self.name(graph)).filter(|graph| self.is_visible(graph)).collect()
        };
        if !request.default_graphs.is_empty() || !request.named_graphs.is_empty() {
            return (pick(&request.default_graphs), pick(&request.named_graphs));
        }
        match from {
            Some(dataset) => (pick(&dataset.default), pick(&dataset.named.unwrap_or_default())),
            None => {
                let named = self.metadata.iter().chain(self.content.values()).cloned().collect();
                (self.metadata.clone(), named)
            }
        }
    }

    /// Dataset IRIs that stand for graphs become the graphs' own names.
    fn resolve(&self, query: &mut Query) {
        let pattern = match query {
            Query::Select { pattern, .. }
            | Query::Construct { pattern, .. }
            | Query::Describe { pattern, .. }
            | Query::Ask { pattern, .. } => pattern,
        };
        self.in_pattern(pattern);
    }

    fn in_pattern(&self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Graph { name, inner } => {
                if let NamedNodePattern::NamedNode(node) = name {
                    *node = self.name(node);
                }
                self.in_pattern(inner);
            }
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right } => {
                self.in_pattern(left);
                self.in_pattern(right);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.in_pattern(left);
                self.in_pattern(right);
                if let Some(expression) = expression {
                    self.in_expression(expression);
                }
            }
            GraphPattern::Filter { expr, inner } | GraphPattern::Extend { expression: expr, inner, .. } => {
                self.in_expression(expr);
                self.in_pattern(inner);
            }
            GraphPattern::OrderBy { inner, expression } => {
                for order in expression {
                    let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                    self.in_expression(expression);
                }
                self.in_pattern(inner);
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.in_expression(expr);
                    }
                }
                self.in_pattern(inner);
            }
            GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.in_pattern(inner),
            // A service has graphs of its own; the others hold no pattern.
            _ => {}
        }
    }

    fn in_expression(&self, expression: &mut Expression) {
        match expression {
            Expression::Exists(pattern) => self.in_pattern(pattern),
            Expression::Or(a, b)
            | Expression::And(a, b)
            | Expression::Equal(a, b)
            | Expression::SameTerm(a, b)
            | Expression::Greater(a, b)
            | Expression::GreaterOrEqual(a, b)
            | Expression::Less(a, b)
            | Expression::LessOrEqual(a, b)
            | Expression::Add(a, b)
            | Expression::Subtract(a, b)
            | Expression::Multiply(a, b)
            | Expression::Divide(a, b) => {
                self.in_expression(a);
                self.in_expression(b);
            }
            Expression::Not(a) | Expression::UnaryPlus(a) | Expression::UnaryMinus(a) => self.in_expression(a),
            Expression::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.in_expression(part)),
            Expression::In(a, list) => {
                self.in_expression(a);
                list.iter_mut().for_each(|part| self.in_expression(part));
            }
            Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
                list.iter_mut().for_each(|part| self.in_expression(part));
            }
            Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_queries_are_refused_before_they_are_parsed() {
        let limits = SparqlLimits::default();
        for query in ["{".repeat(10_000), format!("ASK {{ FILTER({}1) }}", "!".repeat(10_000)), "x".repeat(300 << 10)] {
            assert!(matches!(check_size(&query, &limits), Err(SparqlError::TooLarge(_))));
        }
        assert!(check_size("SELECT * { ?s ?p ?o FILTER(!(?o = 1)) }", &limits).is_ok());
    }

    #[test]
    fn what_the_parser_reads_twice_is_counted_apart() {
        let depths = |query: &str| {
            let Depths { brackets, groups, negations, .. } = Depths::deepest(query);
            (brackets, groups, negations)
        };
        for (query, expected) in [
            ("{ FILTER(!(?a)) }", (3, 1, 1)),
            ("{ FILTER(!(?a) && !(?b) && (!(?c))) }", (4, 1, 1)),
            ("{ FILTER(! #\n ( ! EXISTS { FILTER(!STR(?a)) } )) }", (6, 2, 3)),
            ("{ FILTER(?a != 1 || (?b != 2)) } { { } }", (3, 2, 1)),
            (")))}!(((", (3, 0, 1)),
            // What hides brackets.
            ("{ ( #)\n ( #)\r ( ')' ( \")\\\")\" ( ''')' '')''' ) ) ) ) ) }", (6, 1, 0)),
            ("( ex:a\\)( ex:b\\'(')' ) ) )", (3, 0, 0)),
            ("( '((((' #((((\n )", (1, 0, 0)),
            ("{ <http://e.org/a#(b)> <http://e.org/'> ( 1 ) }", (2, 1, 0)),
            // `<` may compare: then brackets, quotes and comments inside count.
            ("(1<'>)'+(1<'>)'+(1<'>)' )))", (3, 0, 0)),
            ("(1<ex:f#>)\n+(1<ex:f#>)\n+(1)))", (3, 0, 0)),
            ("(1<(2)&&3>(2))", (3, 0, 0)),
            ("{ ?a <urn:plain> <b> FILTER(1 < 2 && (3 > 2)) }", (3, 1, 0)),
        ] {
            assert_eq!(depths(query), expected, "{query}");
        }
    }
}
