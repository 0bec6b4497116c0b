//! A small store in memory, generated queries, and their evaluation with and without the limits and shortcuts of Lodeseek.

use crate::{dumps, scratch};
use arbitrary::{Arbitrary, Result, Unstructured};
use lodeseek_catalog::{Dataset, DatasetId, Iris, Metadata};
use lodeseek_sparql::{
    Answer, QueryEngine, QueryRequest, ServiceCall, ServiceError, ServiceRow, Services, SparqlError,
};
use lodeseek_sparql::{SparqlLimits, Statistics};
use lodeseek_store::{Loader, Store};
use oxigraph::io::RdfFormat;
use oxigraph::sparql::{
    QueryEvaluationError, QueryResults, QuerySolutionIter, ServiceHandler, SparqlEvaluator,
};
use oxigraph::store::Store as Oxigraph;
use oxiri::Iri;
use oxrdf::{GraphName, NamedNode, Quad, Term, Variable};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// IRI of the service in generated queries.
pub const SERVICE: &str = "urn:service";

const DATASETS: [(&str, &str); 2] = [
    (
        "one",
        "@prefix : <urn:> . :a :p :b, :c, 1, 2.0, 'x' ; :q :a ; a :C . :b :p :c ; :q 1, '1', 'x'@en ; a :C, :D .
         :c :p :a, 'é' ; :r [ :p :a ; :q 2 ] . :d :r :d, true, '2020-01-01T00:00:00Z'^^<http://www.w3.org/2001/XMLSchema#dateTime> .",
    ),
    ("two", "@prefix : <urn:> . :a :p :b ; :q 3 . :e :p :a, 1.0, 'x' ; a :D . :b :r :e . _:n :p :a ."),
];
const REMOTE: &str = "@prefix : <urn:> . :a :p :b, 1 ; :q 'x' . :b :p :e, :c ; :r :b ; a :C . :e :q 1, 2, 'é'@en . :c :r :a, 2.0 .";

const VARIABLES: [&str; 4] = ["?a", "?b", "?c", "?d"];
const PROPERTIES: [&str; 4] = [
    "<urn:p>",
    "<urn:q>",
    "<urn:r>",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
];
const NODES: [&str; 6] = [
    "<urn:a>",
    "<urn:b>",
    "<urn:c>",
    "<urn:e>",
    "<urn:C>",
    "<urn:none>",
];
const LITERALS: [&str; 7] = ["1", "2.0", "\"x\"", "\"1\"", "\"x\"@en", "true", "\"\""];
/// Deepest nesting of groups.
const MAX_GROUP_DEPTH: usize = 3;
/// Maximum number of elements of a group.
const MAX_ELEMENTS: usize = 3;

/// Returns the limits of an evaluation: those of the server with less time, and with fewer rows.
#[must_use]
pub fn limits(statistics: Statistics) -> SparqlLimits {
    SparqlLimits {
        deadline: Duration::from_secs(1),
        rows: 2_000,
        statistics,
        ..SparqlLimits::default()
    }
}

/// Returns the engine over two datasets. It is created at the first call.
///
/// # Panics
/// If the store cannot be created.
pub fn engine() -> &'static Arc<QueryEngine> {
    static ENGINE: OnceLock<Arc<QueryEngine>> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(scratch::folder(), iris).expect("a store");
        let datasets = DATASETS.map(|(id, text)| {
            let metadata = Metadata::new(DatasetId::new(id).expect("an id"));
            (
                Dataset::new(metadata),
                dumps::read(text.as_bytes(), "a.ttl").0,
            )
        });
        Loader::new(&store)
            .load_graphs(datasets.into(), &|_| {})
            .expect("loaded");
        QueryEngine::new(Arc::new(store))
    })
}

/// Rows of an answer, sorted, or a boolean as one row.
#[derive(Debug, PartialEq, Eq)]
pub struct Rows(pub Vec<String>);

impl Rows {
    fn new(mut rows: Vec<String>) -> Self {
        rows.sort_unstable();
        Self(rows)
    }
}

fn row<'t>(values: impl Iterator<Item = (&'t Variable, Option<&'t Term>)>) -> String {
    let bound: BTreeSet<String> = values
        .filter_map(|(variable, term)| Some(format!("{variable}={}", term?)))
        .collect();
    bound.into_iter().collect::<Vec<_>>().join(" ")
}

/// Evaluates a query with the limits, guards and shortcuts of Lodeseek. `None` if a limit ended or cut it.
///
/// # Panics
/// If the evaluation failed by an internal error.
#[must_use]
pub fn guarded(
    text: &str,
    statistics: Statistics,
    services: Option<Arc<dyn Services>>,
) -> Option<Rows> {
    let request = QueryRequest {
        query: text.to_owned(),
        services,
        ..QueryRequest::default()
    };
    let answer = match engine().evaluate(&request, &limits(statistics)) {
        Ok(answer) if answer.is_truncated() => return None,
        Ok(answer) => answer,
        Err(
            SparqlError::TooLarge(_)
            | SparqlError::Deadline(_)
            | SparqlError::Memory(_)
            | SparqlError::Unsupported(_),
        ) => {
            return None;
        }
        Err(error) => panic!("{error}\n{text}"),
    };
    Some(match answer {
        Answer::Boolean(value) => Rows(vec![value.to_string()]),
        Answer::Solutions {
            variables, rows, ..
        } => Rows::new(
            rows.iter()
                .map(|terms| row(variables.iter().zip(terms.iter().map(Option::as_ref))))
                .collect(),
        ),
        Answer::Graph { triples, .. } => {
            Rows::new(triples.iter().map(ToString::to_string).collect())
        }
    })
}

/// Evaluates a query with Oxigraph alone, over the graphs that Lodeseek shows.
///
/// # Errors
/// The reason if the query is not valid or its evaluation fails.
pub fn plain(text: &str) -> Result<Rows, String> {
    let service = NamedNode::new_unchecked(SERVICE);
    let evaluator = SparqlEvaluator::new().with_service_handler(service, Remote);
    let prepared = evaluator
        .parse_query(text)
        .map_err(|error| error.to_string())?;
    rows(prepared.on_store(shown()).execute()).map_err(|error| error.to_string())
}

/// Returns a store with the graphs by the names that clients know: those of the datasets, and the metadata as default graph.
fn shown() -> &'static Oxigraph {
    static STORE: OnceLock<Oxigraph> = OnceLock::new();
    STORE.get_or_init(|| {
        let (shown, store) = (Oxigraph::new().expect("a store"), engine().store());
        let iris = store.iris();
        let metadata = iris.metadata_graphs();
        let versions = store.versions().expect("readable");
        let names: Vec<_> = versions
            .iter()
            .map(|(id, version)| (iris.graph(id, version), iris.dataset(id)))
            .collect();
        for quad in store.oxigraph().iter() {
            let quad = quad.expect("readable");
            let GraphName::NamedNode(graph) = &quad.graph_name else {
                continue;
            };
            let dataset = names
                .iter()
                .find(|(stored, _)| stored == graph)
                .map(|(_, name)| name.clone().into());
            let Some(graph_name) =
                dataset.or_else(|| metadata.contains(graph).then_some(GraphName::DefaultGraph))
            else {
                continue;
            };
            shown
                .insert(&Quad { graph_name, ..quad })
                .expect("inserted");
        }
        shown
    })
}

fn rows(
    results: std::result::Result<QueryResults<'_>, QueryEvaluationError>,
) -> Result<Rows, QueryEvaluationError> {
    Ok(match results? {
        QueryResults::Boolean(value) => Rows(vec![value.to_string()]),
        QueryResults::Solutions(solutions) => {
            let text = |solution: spareval::QuerySolution| {
                row(solution.iter().map(|(name, term)| (name, Some(term))))
            };
            Rows::new(
                solutions
                    .map(|solution| solution.map(text))
                    .collect::<Result<_, _>>()?,
            )
        }
        QueryResults::Graph(triples) => Rows::new(
            triples
                .map(|triple| triple.map(|triple| triple.to_string()))
                .collect::<Result<_, _>>()?,
        ),
    })
}

/// Returns the names of the graphs of the datasets.
fn content_graphs() -> &'static [NamedNode] {
    static GRAPHS: OnceLock<Vec<NamedNode>> = OnceLock::new();
    GRAPHS.get_or_init(|| {
        let store = engine().store();
        store
            .versions()
            .expect("readable")
            .keys()
            .map(|id| store.iris().dataset(id))
            .collect()
    })
}

/// The store of the service.
fn remote() -> &'static Oxigraph {
    static STORE: OnceLock<Oxigraph> = OnceLock::new();
    STORE.get_or_init(|| {
        let store = Oxigraph::new().expect("a store");
        store
            .load_from_slice(RdfFormat::Turtle, REMOTE)
            .expect("loaded");
        store
    })
}

/// The service as Oxigraph calls it: with the whole pattern.
struct Remote;

impl ServiceHandler for Remote {
    type Error = QueryEvaluationError;

    fn handle(
        &self,
        pattern: &GraphPattern,
        _: Option<&Iri<String>>,
    ) -> Result<QuerySolutionIter<'static>, Self::Error> {
        match SparqlEvaluator::new()
            .for_query(whole(pattern))
            .on_store(remote())
            .execute()?
        {
            QueryResults::Solutions(solutions) => Ok(solutions),
            _ => unreachable!("a SELECT has solutions"),
        }
    }
}

/// The service as Lodeseek calls it: with the text of a query, which contains bindings.
#[derive(Debug)]
pub struct TextService;

impl Services for TextService {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        let text = call.text();
        let query = SparqlEvaluator::new().parse_query(&text);
        let query = query.unwrap_or_else(|error| {
            panic!("the text sent to a service is not SPARQL: {error}\n{text}")
        });
        let failed = |error: QueryEvaluationError| ServiceError::Failed(error.to_string());
        let QueryResults::Solutions(solutions) =
            query.on_store(remote()).execute().map_err(failed)?
        else {
            panic!("no SELECT was sent: {text}");
        };
        for solution in solutions {
            let solution = solution.map_err(failed)?;
            let row = call
                .variables
                .iter()
                .map(|variable| solution.get(variable).cloned())
                .collect();
            if rows(row).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A generated query over the vocabulary of the data.
#[derive(Debug)]
pub struct GeneratedQuery {
    /// Text of the query.
    pub text: String,
}

impl<'a> Arbitrary<'a> for GeneratedQuery {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Generator {
            federated: false,
            ..Generator::default()
        }
        .query(u)
    }
}

/// A generated query with at least one call of the service.
#[derive(Debug)]
pub struct FederatedQuery {
    /// Text of the query.
    pub text: String,
}

impl<'a> Arbitrary<'a> for FederatedQuery {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let text = Generator {
            federated: true,
            ..Generator::default()
        }
        .query(u)?
        .text;
        Ok(Self { text })
    }
}

#[derive(Default)]
struct Generator {
    text: String,
    federated: bool,
    /// If true, the pattern is inside of `GRAPH ?g`.
    in_any_graph: bool,
    /// Number of variables made by `BIND` and `AS`, which must be new.
    fresh: usize,
}

impl Generator {
    fn query(mut self, u: &mut Unstructured<'_>) -> Result<GeneratedQuery> {
        match u.int_in_range(0..=7)? {
            0 => self.text.push_str("ASK "),
            1 => self
                .text
                .push_str("CONSTRUCT { ?a <urn:x> ?b . ?c <urn:y> ?a } WHERE "),
            _ => {
                self.select(u, 0)?;
                return Ok(GeneratedQuery { text: self.text });
            }
        }
        self.body(u, 0)?;
        Ok(GeneratedQuery { text: self.text })
    }

    /// Writes a `SELECT` without `LIMIT`, because any rows would do.
    fn select(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        let variable = *u.choose(&VARIABLES)?;
        let fresh = self.new_variable();
        let (head, tail) = match u.int_in_range(0..=7)? {
            0 => ("SELECT * ".to_owned(), String::new()),
            1 => ("SELECT ?a ?c ".to_owned(), String::new()),
            2 => (format!("SELECT DISTINCT {variable} "), String::new()),
            3 => ("SELECT DISTINCT ?a ?b ".to_owned(), String::new()),
            4 => (format!("SELECT (COUNT(*) AS {fresh}) "), String::new()),
            5 => (
                format!("SELECT (COUNT({variable}) AS {fresh}) "),
                String::new(),
            ),
            6 => (
                format!("SELECT (COUNT(DISTINCT {variable}) AS {fresh}) "),
                String::new(),
            ),
            _ => (
                format!("SELECT {variable} (COUNT(*) AS {fresh}) "),
                format!("GROUP BY {variable} "),
            ),
        };
        self.text.push_str(&head);
        self.body(u, depth)?;
        self.text.push_str(&tail);
        Ok(())
    }

    /// Writes a group, mostly inside of `GRAPH` or `SERVICE`, where the data are.
    fn body(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        self.text.push_str("{ ");
        if self.federated && depth == 0 {
            self.service(u, 1)?;
            self.graph(u, 1)?;
            // The default graph has other terms than the service, so a pattern outside of `GRAPH` joins nothing.
            if u.ratio(1, 3)? {
                self.elements(u, 1)?;
            }
        } else {
            match u.int_in_range(0..=3)? {
                0 => self.elements(u, depth)?,
                _ => self.graph(u, depth)?,
            }
        }
        self.text.push_str("} ");
        Ok(())
    }

    fn group(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        self.text.push_str("{ ");
        self.elements(u, depth)?;
        self.text.push_str("} ");
        Ok(())
    }

    fn elements(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        for _ in 0..u.int_in_range(1..=MAX_ELEMENTS)? {
            self.element(u, depth + 1)?;
        }
        Ok(())
    }

    fn element(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        if depth > MAX_GROUP_DEPTH || u.ratio(1, 2)? {
            return self.triple(u);
        }
        match u.int_in_range(0..=12)? {
            // In MINUS, Oxigraph compares the name of the graph, too. Lodeseek evaluates each graph alone, as SPARQL defines it; a
            // property test of the engine covers these.
            0 | 1 | 3 | 7 | 8 | 9 | 10 if self.in_any_graph => self.triple(u),
            0 | 1 => self.optional(u, depth),
            2 => self.union(u, depth),
            3 => {
                self.text.push_str("MINUS ");
                self.group(u, depth)
            }
            4 | 5 => self.filter(u),
            6 => {
                let value = expression(u, 0)?;
                let variable = self.new_variable();
                write!(self.text, "BIND({value} AS {variable}) ").expect("written");
                Ok(())
            }
            7 => self.values(u),
            8 => self.graph(u, depth),
            9 => {
                self.text.push_str("{ ");
                self.select(u, depth)?;
                self.text.push_str("} ");
                Ok(())
            }
            10 => {
                self.text
                    .push_str(u.choose(&["FILTER EXISTS ", "FILTER NOT EXISTS "])?);
                self.group(u, depth)
            }
            11 if self.federated => self.service(u, depth),
            _ => self.path(u),
        }
    }

    fn optional(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        self.text.push_str("OPTIONAL ");
        self.group(u, depth)
    }

    fn union(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        self.group(u, depth)?;
        self.text.push_str("UNION ");
        self.group(u, depth)
    }

    /// Writes `GRAPH` without a service in it: Oxigraph sends such a service the pattern inside of `GRAPH` as well, although
    /// the graphs of a service are its own.
    fn graph(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        let graphs = content_graphs();
        let before = self.in_any_graph;
        match u.int_in_range(0..=3)? {
            0 | 1 => {
                self.in_any_graph = true;
                self.text.push_str("GRAPH ?g ");
            }
            place => write!(self.text, "GRAPH {} ", graphs[place % graphs.len()]).expect("written"),
        }
        let federated = std::mem::take(&mut self.federated);
        self.group(u, depth)?;
        (self.federated, self.in_any_graph) = (federated, before);
        Ok(())
    }

    fn service(&mut self, u: &mut Unstructured<'_>, depth: usize) -> Result<()> {
        write!(self.text, "SERVICE <{SERVICE}> ").expect("written");
        // A service has no graphs and calls no service.
        let federated = std::mem::take(&mut self.federated);
        self.text.push_str("{ ");
        for _ in 0..u.int_in_range(1..=MAX_ELEMENTS)? {
            match u.int_in_range(0..=5)? {
                0 if depth < MAX_GROUP_DEPTH => {
                    self.text.push_str("OPTIONAL { ");
                    self.triple(u)?;
                    self.text.push_str("} ");
                }
                1 => self.filter(u)?,
                2 => self.path(u)?,
                _ => self.triple(u)?,
            }
        }
        self.text.push_str("} ");
        self.federated = federated;
        Ok(())
    }

    fn triple(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        // A variable of its own: most rows bind properties and nodes to different terms.
        let property = if u.ratio(1, 3)? {
            "?p"
        } else {
            *u.choose(&PROPERTIES)?
        };
        let (subject, object) = (subject(u)?, term(u)?);
        write!(self.text, "{subject} {property} {object} . ").expect("written");
        Ok(())
    }

    /// Writes a path. One of length zero has variables at its ends: from a term that the graph lacks, Oxigraph has no solution.
    fn path(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (mut subject, path, mut object) = (subject(u)?, path(u, 0)?, term(u)?);
        if path.contains(['*', '?']) {
            (subject, object) = (*u.choose(&VARIABLES)?, *u.choose(&VARIABLES)?);
        }
        write!(self.text, "{subject} {path} {object} . ").expect("written");
        Ok(())
    }

    fn filter(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        write!(self.text, "FILTER({}) ", condition(u, 0)?).expect("written");
        Ok(())
    }

    fn values(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        self.text.push_str("VALUES (?a ?b) { ");
        for _ in 0..u.int_in_range(0..=3)? {
            let value = |u: &mut Unstructured<'_>| {
                Ok(match u.int_in_range(0..=2)? {
                    0 => "UNDEF",
                    1 => *u.choose(&NODES)?,
                    _ => *u.choose(&LITERALS)?,
                })
            };
            let (first, second): (&str, &str) = (value(u)?, value(u)?);
            write!(self.text, "({first} {second}) ").expect("written");
        }
        self.text.push_str("} ");
        Ok(())
    }

    fn new_variable(&mut self) -> String {
        self.fresh += 1;
        format!("?v{}", self.fresh)
    }
}

fn subject(u: &mut Unstructured<'_>) -> Result<&'static str> {
    Ok(if u.ratio(7, 8)? {
        u.choose(&VARIABLES)?
    } else {
        u.choose(&NODES)?
    })
}

fn term(u: &mut Unstructured<'_>) -> Result<&'static str> {
    Ok(match u.int_in_range(0..=9)? {
        0 => u.choose(&NODES)?,
        1 => u.choose(&LITERALS)?,
        _ => u.choose(&VARIABLES)?,
    })
}

fn path(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    let property = *u.choose(&PROPERTIES)?;
    if depth > 1 {
        return Ok(property.to_owned());
    }
    Ok(match u.int_in_range(0..=7)? {
        0 => format!("^({})", path(u, depth + 1)?),
        1 => format!("({})*", path(u, depth + 1)?),
        2 => format!("({})+", path(u, depth + 1)?),
        3 => format!("({})?", path(u, depth + 1)?),
        4 => format!("({})/({})", path(u, depth + 1)?, path(u, depth + 1)?),
        // Not alone: Oxigraph removes the duplicates of alternatives.
        5 => format!("(({})|({}))+", path(u, depth + 1)?, path(u, depth + 1)?),
        6 => format!("(!({property}|^{}))+", u.choose(&PROPERTIES)?),
        _ => property.to_owned(),
    })
}

/// Writes an expression without functions whose value changes from call to call.
fn expression(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    if depth > 2 {
        return operand(u);
    }
    let (one, other) = (operand(u)?, operand(u)?);
    Ok(match u.int_in_range(0..=15)? {
        0 => format!("{one} = {other}"),
        1 => format!("{one} != {other}"),
        2 => format!("{one} < {other}"),
        3 => format!("{one} >= {other}"),
        4 => format!("BOUND({})", u.choose(&VARIABLES)?),
        5 => format!("!({})", condition(u, depth + 1)?),
        6 => format!(
            "({}) && ({})",
            condition(u, depth + 1)?,
            condition(u, depth + 1)?
        ),
        7 => format!(
            "({}) || ({})",
            condition(u, depth + 1)?,
            condition(u, depth + 1)?
        ),
        8 => format!("{one} IN ({other}, {})", operand(u)?),
        9 => format!("COALESCE({one} + {other}, {})", operand(u)?),
        10 => format!("IF({}, {one}, {other})", condition(u, depth + 1)?),
        11 => format!("CONTAINS(STR({one}), \"x\")"),
        12 => format!("SAMETERM({one}, {other})"),
        13 => format!("ISIRI({one}) || ISLITERAL({other})"),
        14 => format!("CONCAT(STR({one}), LANG({other}))"),
        _ => format!("DATATYPE({one})"),
    })
}

/// Writes an expression whose values are booleans: Oxigraph has no effective boolean value of a string with a language.
fn condition(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    let (one, other) = (operand(u)?, operand(u)?);
    Ok(match u.int_in_range(0..=8)? {
        _ if depth > 2 => format!("{one} = {other}"),
        0 => format!("{one} = {other}"),
        1 => format!("{one} < {other}"),
        2 => format!("BOUND({})", u.choose(&VARIABLES)?),
        3 => format!("!({})", condition(u, depth + 1)?),
        4 => format!(
            "({}) && ({})",
            condition(u, depth + 1)?,
            condition(u, depth + 1)?
        ),
        5 => format!(
            "({}) || ({})",
            condition(u, depth + 1)?,
            condition(u, depth + 1)?
        ),
        6 => format!("{one} IN ({other}, {})", operand(u)?),
        7 => format!(
            "({}) = ({})",
            expression(u, depth + 1)?,
            expression(u, depth + 1)?
        ),
        _ => format!("ISIRI({one}) || ISLITERAL({other})"),
    })
}

fn operand(u: &mut Unstructured<'_>) -> Result<String> {
    Ok(match u.int_in_range(0..=3)? {
        0 => *u.choose(&LITERALS)?,
        1 => *u.choose(&NODES)?,
        _ => *u.choose(&VARIABLES)?,
    }
    .to_owned())
}

/// Returns the query of a pattern with all its variables.
fn whole(pattern: &GraphPattern) -> Query {
    let mut variables = BTreeSet::new();
    pattern.on_in_scope_variable(|variable| {
        variables.insert(variable.clone());
    });
    let pattern = GraphPattern::Project {
        inner: Box::new(pattern.clone()),
        variables: variables.into_iter().collect(),
    };
    Query::Select {
        dataset: None,
        pattern,
        base_iri: None,
    }
}
