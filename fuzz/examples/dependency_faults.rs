//! Faults of dependencies that Lodeseek guards against. Each is reproduced with the dependency alone, without the guard.
//!
//! ```text
//! cargo run --release --manifest-path fuzz/Cargo.toml --example dependency_faults [NAME ...]
//! ```
//!
//! Each fault runs in a process of its own, with a stack of 2 MiB, 1 GiB of address space and 30 s. The output is a table. Versions
//! are those of `fuzz/Cargo.lock`. `docs/src/benchmarks/dependency-faults.md` lists the guards and their tests.

use arrow_array::{ArrayRef, LargeBinaryArray, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use oxjsonld::JsonLdParser;
use oxrdf::{Dataset, GraphName, Literal, NamedNode, Quad, Term};
use oxrdfxml::RdfXmlParser;
use oxttl::TurtleParser;
use sparesults::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use spareval::{
    CancellationToken, DefaultServiceHandler, QueryEvaluator, QueryResults, QuerySolutionIter,
};
use spargebra::SparqlParser;
use spargebra::algebra::GraphPattern;
use spargeo::GEOSPARQL_EXTENSION_FUNCTIONS;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{self, Cursor, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

/// Lock file with the versions of the dependencies.
const LOCK: &str = include_str!("../Cargo.lock");
/// First argument of the process of one fault.
const RUN: &str = "--run";
/// Address space of a process in KiB.
const ADDRESS_SPACE_KIB: usize = 1 << 20;
/// Stack of the thread of a fault in bytes: the default of the standard library.
const STACK_BYTES: usize = 2 << 20;
/// Maximum time of a process.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A fault that ends later than this is present. Without the fault, each takes less than a second.
const SLOW: Duration = Duration::from_secs(5);
/// Time between two checks of a process.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time after which a query is cancelled, and time in which it may end.
const CANCELLED_AFTER: Duration = Duration::from_secs(1);
const ENDED_AFTER: Duration = Duration::from_secs(20);
/// Length of the name of a member of an archive, a multiple of 512.
const TAR_NAME_BYTES: u64 = 300 << 20;

/// A fault of a dependency.
struct Fault {
    name: &'static str,
    /// The crate with the fault.
    package: &'static str,
    /// The crate that depends on it, if several versions of it are in use.
    used_by: &'static str,
    /// Reproduces the fault. Returns the wrong result, or `None` if there is no fault. A crash, too much memory and too much time are
    /// detected by the parent process.
    run: fn() -> Option<String>,
}

const fn fault(name: &'static str, package: &'static str, run: fn() -> Option<String>) -> Fault {
    Fault {
        name,
        package,
        used_by: "",
        run,
    }
}

const FAULTS: &[Fault] = &[
    fault("json-ld-prefix-chain", "oxjsonld", json_ld_prefix_chain),
    fault("json-ld-context-copies", "oxjsonld", json_ld_context_copies),
    fault("json-ld-nesting", "oxjsonld", json_ld_nesting),
    Fault {
        name: "xml-namespaces",
        package: "quick-xml",
        used_by: "oxrdfxml",
        run: xml_namespaces,
    },
    Fault {
        name: "xml-attributes",
        package: "quick-xml",
        used_by: "oxrdfxml",
        run: xml_attributes,
    },
    Fault {
        name: "xml-results-attributes",
        package: "quick-xml",
        used_by: "sparesults",
        run: xml_results_attributes,
    },
    fault("xml-entities", "oxrdfxml", xml_entities),
    fault("xml-literal-namespaces", "oxrdfxml", xml_literal_namespaces),
    fault("xml-after-error", "oxrdfxml", xml_after_error),
    fault("turtle-collection-error", "oxttl", turtle_collection_error),
    fault("turtle-triple-terms", "oxrdf", turtle_triple_terms),
    fault("tar-long-name", "tar", tar_long_name),
    fault("sparql-brackets", "spargebra", sparql_brackets),
    fault("sparql-negations", "spargebra", sparql_negations),
    fault("sparql-having", "spargebra", sparql_having),
    fault(
        "sparql-repeated-groups",
        "spargebra",
        sparql_repeated_groups,
    ),
    fault("sparql-display", "spargebra", sparql_display),
    fault("many-patterns", "sparopt", many_patterns),
    fault("order-by-mixed-types", "spareval", order_by_mixed_types),
    fault("nested-repeated-path", "spareval", nested_repeated_path),
    fault("cancelled-path", "spareval", cancelled_path),
    fault("cancelled-join", "spareval", cancelled_join),
    fault("cancelled-values", "spareval", cancelled_values),
    fault("minus-in-graph", "sparopt", minus_in_graph),
    fault("values-in-graph", "sparopt", values_in_graph),
    fault("service-in-graph", "sparopt", service_in_graph),
    fault("filter-in-graph", "sparopt", filter_in_graph),
    fault("exists-in-group", "spareval", exists_in_group),
    fault("truncated-xml-results", "sparesults", truncated_xml_results),
    fault("geometry-nesting", "wkt", geometry_nesting),
    fault("arrow-damaged-file", "arrow-ipc", arrow_damaged_file),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, name] = &arguments[..]
        && first == RUN
    {
        return run_here(name);
    }
    if let Some(unknown) = arguments.iter().find(|name| find(name).is_none()) {
        let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
        eprintln!("no fault `{unknown}`; faults: {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    println!("| fault | crate | outcome | time in s | memory in MB |\n|---|---|---|---|---|");
    for fault in FAULTS {
        if !arguments.is_empty() && !arguments.iter().any(|name| name == fault.name) {
            continue;
        }
        match observe(fault) {
            Ok(row) => println!("{row}"),
            Err(error) => {
                eprintln!("cannot run `{}`: {error}", fault.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

/// Runs a fault in this process.
fn run_here(name: &str) -> ExitCode {
    let Some(fault) = find(name) else {
        return ExitCode::FAILURE;
    };
    let thread = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(fault.run);
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(wrong)) => {
            println!("{}", wrong.unwrap_or_default());
            ExitCode::SUCCESS
        }
        // The message of the panic was printed.
        _ => ExitCode::FAILURE,
    }
}

/// Runs a fault in a process of its own. Returns a row of the table.
fn observe(fault: &Fault) -> io::Result<String> {
    let limited = format!("ulimit -c 0; ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
    let started = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .arg(env::current_exe()?)
        .args([RUN, fault.name])
        .env_remove("RUST_BACKTRACE")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut peak_kib = 0;
    let status = loop {
        peak_kib = peak_kib.max(peak_memory(&child));
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if started.elapsed() > TIMEOUT {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(POLL_INTERVAL);
    };
    let time = started.elapsed();
    let (mut result, mut messages) = (String::new(), String::new());
    if let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) {
        stdout.read_to_string(&mut result)?;
        stderr.read_to_string(&mut messages)?;
    }
    let outcome = match (status, result.trim()) {
        (None, _) => format!("present: over {} s", TIMEOUT.as_secs()),
        (Some(status), "") if status.success() && time > SLOW => "present: slow".to_owned(),
        (Some(status), "") if status.success() => "absent".to_owned(),
        (Some(status), wrong) if status.success() => format!("present: {wrong}"),
        _ if messages.contains("has overflowed its stack") => "present: stack overflow".to_owned(),
        _ if messages.contains("memory allocation of") => "present: memory".to_owned(),
        _ => match messages.split_once("panicked at ") {
            Some((_, panic)) => format!(
                "present: panic: {}",
                panic.lines().nth(1).unwrap_or_default()
            ),
            None => format!("present: {}", messages.lines().next().unwrap_or("crash")),
        },
    };
    let version = version(fault.package, fault.used_by).unwrap_or("unknown version");
    // A process that ends at once is not measured.
    let memory = if peak_kib < 1024 {
        "–".to_owned()
    } else {
        (peak_kib >> 10).to_string()
    };
    let (name, package, seconds) = (fault.name, fault.package, time.as_secs_f64());
    Ok(format!(
        "| `{name}` | {package} {version} | {outcome} | {seconds:.1} | {memory} |"
    ))
}

/// Returns the maximum resident memory of a process so far in KiB; 0 on systems without `/proc`.
fn peak_memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

/// Returns the version of a package in the lock file: the one that `used_by` depends on, if there are several.
fn version(package: &str, used_by: &str) -> Option<&'static str> {
    let entry = |name: &str| LOCK.split_once(&format!("\nname = \"{name}\"\n"));
    let (_, after) = entry(package)?;
    if let Some((_, user)) = entry(used_by) {
        let (user, _) = user.split_once("\n[[package]]")?;
        if let Some((_, version)) = user.split_once(&format!("\n \"{package} ")) {
            return version.split('"').next();
        }
    }
    after.strip_prefix("version = \"")?.split('"').next()
}

fn json_ld(document: &str) -> Option<String> {
    JsonLdParser::new()
        .lenient()
        .for_slice(document)
        .for_each(drop);
    None
}

/// A context whose terms are each defined by the one before.
fn json_ld_prefix_chain() -> Option<String> {
    let chain: String = (1..4000)
        .map(|term| format!(", \"a{term}\": \"a{}:x\"", term - 1))
        .collect();
    json_ld(&format!(
        "{{\"@context\": {{\"a0\": \"http://e/\"{chain}}}, \"@id\": \"http://e/a\", \"http://e/p\": 1}}"
    ))
}

/// Nodes with an empty context each, inside a context of many terms.
fn json_ld_context_copies() -> Option<String> {
    let terms: Vec<String> = (0..15_000)
        .map(|term| format!("\"a{term}\": \"http://e/{term}\""))
        .collect();
    let nodes = vec![r#"{"@context": {}, "@id": "http://e/x", "a1": 1}"#; 15_000].join(",");
    json_ld(&format!(
        "{{\"@context\": {{{}}}, \"@graph\": [{nodes}]}}",
        terms.join(", ")
    ))
}

/// Objects in objects.
fn json_ld_nesting() -> Option<String> {
    let depth = 20_000;
    json_ld(&format!(
        "{}1{}",
        "{\"http://e/p\": ".repeat(depth),
        "}".repeat(depth)
    ))
}

fn rdf_xml(doctype: &str, attributes: &str, content: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>{doctype}<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
         xmlns:e=\"http://e/\" {attributes}>{content}</r:RDF>"
    )
}

/// Reads RDF/XML. Returns the triples before and after errors.
fn read_rdf_xml(document: &str) -> Vec<String> {
    RdfXmlParser::new()
        .for_slice(document)
        .filter_map(Result::ok)
        .map(|triple| triple.to_string())
        .collect()
}

/// Many namespaces, and many elements. quick-xml searches the list of namespaces for each name.
fn xml_namespaces() -> Option<String> {
    let namespaces: String = (0..40_000)
        .map(|n| format!("xmlns:n{n}=\"http://e/{n}/\" "))
        .collect();
    read_rdf_xml(&rdf_xml(
        "",
        &format!("xmlns=\"http://e/\" {namespaces}"),
        &"<C/>".repeat(600_000),
    ));
    None
}

/// One element with many attributes. quick-xml compares each name with all others.
fn xml_attributes() -> Option<String> {
    let attributes: String = (0..200_000).map(|n| format!("e:p{n}=\"\" ")).collect();
    read_rdf_xml(&rdf_xml("", "", &format!("<e:C {attributes}/>")));
    None
}

/// A response of an endpoint whose head has an element with many attributes.
fn xml_results_attributes() -> Option<String> {
    let attributes: String = (0..200_000).map(|n| format!("p{n}=\"\" ")).collect();
    let text = format!(
        "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\"><head><variable {attributes} name=\"x\"/></head>\
         <results></results></sparql>"
    );
    let _ = QueryResultsParser::from_format(QueryResultsFormat::Xml).for_slice(&text);
    None
}

/// Entities that contain entities.
fn xml_entities() -> Option<String> {
    let mut doctype = "<!DOCTYPE r:RDF [<!ENTITY a0 \"0123456789\">".to_owned();
    for level in 1..10 {
        let _ = write!(
            doctype,
            "<!ENTITY a{level} \"{}\">",
            format!("&a{};", level - 1).repeat(10)
        );
    }
    read_rdf_xml(&rdf_xml(
        &(doctype + "]>"),
        "",
        "<e:C><e:p>&a9;</e:p></e:C>",
    ));
    None
}

/// An XML literal with many elements, in the scope of many namespaces: each element gets all of them.
fn xml_literal_namespaces() -> Option<String> {
    let namespaces: String = (0..2_000)
        .map(|n| format!("xmlns:n{n}=\"http://e/{n}/\" "))
        .collect();
    let literal = "<b/>".repeat(20_000);
    read_rdf_xml(&rdf_xml(
        "",
        &namespaces,
        &format!("<e:C><e:p r:parseType=\"Literal\">{literal}</e:p></e:C>"),
    ));
    None
}

/// An error in the start tag of a node. Its property is then read as a node.
fn xml_after_error() -> Option<String> {
    let triples = read_rdf_xml(&rdf_xml(
        "",
        "",
        "<e:C r:about=\"http://e/ x\"><e:p r:resource=\"http://e/o\"/></e:C>",
    ));
    let node = triples
        .iter()
        .find(|triple| triple.contains("#type> <http://e/p>"));
    node.map(|_| "reads a property as the class of a node".to_owned())
}

/// An error inside a collection. The statement is kept, and the list is cut.
fn turtle_collection_error() -> Option<String> {
    let document = "PREFIX e: <http://e/> e:s e:p ( e:a broken:x e:b ) .";
    let triples: Vec<_> = TurtleParser::new()
        .for_slice(document)
        .filter_map(Result::ok)
        .collect();
    let is_node = |term: &Term| matches!(term, Term::BlankNode(_));
    let has_triples = |term: &Term| {
        triples
            .iter()
            .any(|triple| Term::from(triple.subject.clone()) == *term)
    };
    let is_cut = triples
        .iter()
        .any(|triple| is_node(&triple.object) && !has_triples(&triple.object));
    is_cut.then(|| "reads a list without an end".to_owned())
}

/// Triple terms in triple terms. oxrdf clones and drops them recursively.
fn turtle_triple_terms() -> Option<String> {
    let depth = 100_000;
    let document = format!(
        "<a:s> <a:p> {}1{} .",
        "<<( <a:s> <a:p> ".repeat(depth),
        " )>>".repeat(depth)
    );
    TurtleParser::new().for_slice(&document).for_each(drop);
    None
}

/// A tar archive whose first member has a long name. Compressed, it is small.
fn tar_long_name() -> Option<String> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(TAR_NAME_BYTES);
    header.set_cksum();
    let long = Cursor::new(header.as_bytes().to_vec()).chain(io::repeat(b'a').take(TAR_NAME_BYTES));
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    header.set_cksum();
    let mut archive = tar::Archive::new(long.chain(Cursor::new(header.as_bytes().to_vec())));
    let member = archive.entries().ok()?.next()?.ok()?;
    Some(format!(
        "reads a name of {} MB",
        member.path_bytes().len() >> 20
    ))
}

fn parse_query(query: &str) -> Option<String> {
    let _ = SparqlParser::new().parse_query(query);
    None
}

fn sparql_brackets() -> Option<String> {
    parse_query(&format!(
        "ASK {{ FILTER({}1{}) }}",
        "(".repeat(20_000),
        ")".repeat(20_000)
    ))
}

/// Negations that are not closed. The parser tries each again in another way.
fn sparql_negations() -> Option<String> {
    parse_query(&format!("ASK {{ FILTER({}true) }}", "!(".repeat(40)))
}

fn sparql_having() -> Option<String> {
    let (before, after) = (
        "{ SELECT ?s { ".repeat(40),
        "} GROUP BY ?s HAVING(COUNT(*) > 0) }".repeat(40),
    );
    parse_query(&format!("ASK {{ {before}?s ?p ?o }}"));
    parse_query(&format!("ASK {{ {before}?s ?p ?o{after} }}"))
}

fn sparql_repeated_groups() -> Option<String> {
    parse_query(&format!(
        "ASK {{ ?a {}<urn:p>*{} ?b }}",
        "(".repeat(100),
        ")*".repeat(100)
    ))
}

/// A query that is written and parsed again.
fn sparql_display() -> Option<String> {
    let query = SparqlParser::new()
        .parse_query("ASK { FILTER(4 - (3 - 2) = 3) }")
        .ok()?;
    let again = SparqlParser::new().parse_query(&query.to_string()).ok();
    (again != Some(query)).then(|| "writes another query".to_owned())
}

/// Evaluates a query over some quads. Returns the rows, sorted.
fn evaluate(quads: &[[&str; 4]], query: &str) -> Vec<String> {
    let node = |name: &str| NamedNode::new_unchecked(format!("urn:{name}"));
    let quad = |[s, p, o, g]: &[&str; 4]| Quad::new(node(s), node(p), node(o), node(g));
    let dataset: Dataset = quads.iter().map(quad).collect();
    rows(&QueryEvaluator::new(), &dataset, query)
}

fn rows(evaluator: &QueryEvaluator, dataset: &Dataset, query: &str) -> Vec<String> {
    let query = SparqlParser::new().parse_query(query).expect("a query");
    let Ok(QueryResults::Solutions(solutions)) = evaluator.prepare(&query).execute(dataset) else {
        return Vec::new();
    };
    let row = |solution: Result<sparesults::QuerySolution, _>| match solution {
        Ok(solution) => solution
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(" "),
        Err(error) => format!("{error}"),
    };
    let mut rows: Vec<String> = solutions.map(row).collect();
    rows.sort();
    rows
}

/// Compares the number of rows with that of the SPARQL specification.
fn has_rows(rows: &[String], expected: usize) -> Option<String> {
    (rows.len() != expected)
        .then(|| format!("number of solutions: {} instead of {expected}", rows.len()))
}

/// A path of many triple patterns, over no data. The optimizer orders them.
fn many_patterns() -> Option<String> {
    let patterns: String = (0..1000)
        .map(|n| format!("?a{n} <urn:p> ?a{} . ", n + 1))
        .collect();
    evaluate(&[], &format!("SELECT * {{ {patterns} }}"));
    None
}

/// Sorts mixed literals in several orders.
fn order_by_mixed_types() -> Option<String> {
    let mut values: Vec<String> = Vec::new();
    for number in 0..200 {
        let value = number * 7919 % 1000;
        values.push(if number % 3 == 0 {
            format!("\"{value}\"")
        } else {
            value.to_string()
        });
    }
    for turn in 0..values.len() {
        values.rotate_left(turn);
        evaluate(
            &[],
            &format!(
                "SELECT ?x {{ VALUES ?x {{ {} }} }} ORDER BY ?x",
                values.join(" ")
            ),
        );
    }
    None
}

/// A repeated path of a repeated path of a repeated path, over 30 triples.
fn nested_repeated_path() -> Option<String> {
    let (before, after) = ("(".repeat(8), ")*".repeat(8));
    let query =
        format!("SELECT (COUNT(*) AS ?n) {{ GRAPH <urn:g> {{ ?a {before}<urn:p>*{after} ?b }} }}");
    rows(&QueryEvaluator::new(), &chain(30), &query);
    None
}

/// Cancels the evaluation of a query. Returns a message if it does not end.
fn cancel(dataset: Dataset, query: &str) -> Option<String> {
    let query = query.to_owned();
    let token = CancellationToken::new();
    let evaluator = QueryEvaluator::new().with_cancellation_token(token.clone());
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        rows(&evaluator, &dataset, &query);
        let _ = sender.send(());
    });
    if ended.recv_timeout(CANCELLED_AFTER).is_ok() {
        return Some("ended before it was cancelled: the test needs more data".to_owned());
    }
    token.cancel();
    let cancelled = Instant::now();
    match ended.recv_timeout(ENDED_AFTER) {
        Ok(()) if cancelled.elapsed() < Duration::from_secs(1) => None,
        Ok(()) => Some(format!(
            "ends {:.1} s after its cancellation",
            cancelled.elapsed().as_secs_f64()
        )),
        Err(_) => Some(format!(
            "runs on {} s after its cancellation",
            ENDED_AFTER.as_secs()
        )),
    }
}

/// A graph in which each node leads to the next one.
fn chain(nodes: usize) -> Dataset {
    let node = |number: usize| NamedNode::new_unchecked(format!("urn:{number}"));
    let property = NamedNode::new_unchecked("urn:p");
    let graph = GraphName::from(NamedNode::new_unchecked("urn:g"));
    (0..nodes)
        .map(|n| Quad::new(node(n), property.clone(), node(n + 1), graph.clone()))
        .collect()
}

/// All pairs of a path, over a node with many triples. The node is a start as many times as it has triples.
fn cancelled_path() -> Option<String> {
    let node = |number: usize| NamedNode::new_unchecked(format!("urn:{number}"));
    let quad = |number| Quad::new(node(0), node(0), node(number), node(0));
    let star = (1..100_000).map(quad).collect();
    cancel(
        star,
        "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?a (<urn:p>|!<urn:p>)* ?b } }",
    )
}

/// Triples that multiply in memory.
fn cancelled_join() -> Option<String> {
    let parts: String = ["a", "b", "c", "d"]
        .map(|name| format!("{{ SELECT ?{name} {{ ?{name} ?p ?x }} }}"))
        .concat();
    cancel(
        chain(2_000),
        &format!("SELECT (COUNT(*) AS ?n) {{ GRAPH <urn:g> {{ {parts} }} }}"),
    )
}

/// Rows of the query that multiply in memory.
fn cancelled_values() -> Option<String> {
    let values: Vec<String> = (0..2_000).map(|number| number.to_string()).collect();
    let parts = ["a", "b", "c"]
        .map(|name| format!("VALUES ?{name} {{ {} }}", values.join(" ")))
        .concat();
    cancel(
        Dataset::new(),
        &format!("SELECT (COUNT(*) AS ?n) {{ {parts} }}"),
    )
}

/// `MINUS` without a shared variable, which removes nothing (SPARQL 1.1, 8.3.3).
fn minus_in_graph() -> Option<String> {
    let quads = [["s", "p", "o", "g"], ["t", "q", "u", "g"]];
    has_rows(
        &evaluate(
            &quads,
            "SELECT * { GRAPH ?g { ?s <urn:p> ?o MINUS { ?x <urn:q> ?y } } }",
        ),
        1,
    )
}

/// A pattern without triples: `?g` is still bound to the name of each graph (SPARQL 1.1, 18.6).
fn values_in_graph() -> Option<String> {
    let quads = [["s", "p", "o", "g"], ["s", "p", "o", "h"]];
    has_rows(
        &evaluate(&quads, "SELECT * { GRAPH ?g { VALUES ?x { 1 } } }"),
        2,
    )
}

/// Service that keeps the pattern it gets.
struct Recorder(Arc<Mutex<String>>);

impl DefaultServiceHandler for Recorder {
    type Error = Infallible;

    fn handle(
        &self,
        _: &NamedNode,
        pattern: &GraphPattern,
        _: Option<&oxiri::Iri<String>>,
    ) -> Result<QuerySolutionIter<'static>, Infallible> {
        if let Ok(mut text) = self.0.lock() {
            *text = pattern.to_string();
        }
        Ok(QuerySolutionIter::new(Arc::from([]), std::iter::empty()))
    }
}

/// `SERVICE` inside `GRAPH`: the graphs of a service are its own (SPARQL 1.1 Federated Query, 3).
fn service_in_graph() -> Option<String> {
    let pattern = Arc::new(Mutex::new(String::new()));
    let evaluator =
        QueryEvaluator::new().with_default_service_handler(Recorder(Arc::clone(&pattern)));
    rows(
        &evaluator,
        &Dataset::new(),
        "SELECT * { GRAPH <urn:g> { SERVICE <urn:service> { ?s ?p ?o } } }",
    );
    let sent = pattern.lock().ok()?;
    sent.contains("GRAPH").then(|| format!("sends {sent}"))
}

/// The name of the graph, which is not bound inside of `GRAPH` (SPARQL 1.1, 18.6).
fn filter_in_graph() -> Option<String> {
    let quads = [["s", "p", "o", "g"]];
    has_rows(
        &evaluate(
            &quads,
            "SELECT * { GRAPH ?g { ?s <urn:p> ?o FILTER(BOUND(?g)) } }",
        ),
        0,
    )
}

/// A variable of `EXISTS` that only another group binds. It has no value where `EXISTS` is evaluated (SPARQL 1.1, 18.6).
fn exists_in_group() -> Option<String> {
    let quads = [["s", "p", "o", "g"], ["s", "q", "u", "g"]];
    let group = "{ ?s <urn:p> ?o FILTER EXISTS { ?x <urn:p> ?y } }";
    has_rows(
        &evaluate(
            &quads,
            &format!("SELECT * {{ GRAPH <urn:g> {{ ?s <urn:q> ?x . {group} }} }}"),
        ),
        1,
    )
}

/// A response that ends after its first row.
fn truncated_xml_results() -> Option<String> {
    let text = "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\"><head><variable name=\"x\"/></head>\
                <results><result><binding name=\"x\"><uri>urn:a</uri></binding></result>";
    let parser = QueryResultsParser::from_format(QueryResultsFormat::Xml);
    let Ok(SliceQueryResultsParserOutput::Solutions(rows)) = parser.for_slice(text) else {
        return None;
    };
    let rows: Vec<_> = rows.collect();
    rows.iter()
        .all(Result::is_ok)
        .then(|| format!("no error after {} row", rows.len()))
}

/// A geometry of geometries of geometries, in a function of spargeo.
fn geometry_nesting() -> Option<String> {
    let (_, function) = GEOSPARQL_EXTENSION_FUNCTIONS
        .into_iter()
        .find(|(name, _)| name.as_str().ends_with("/isEmpty"))?;
    let text = format!(
        "{}POINT(1 1){}",
        "GEOMETRYCOLLECTION(".repeat(20_000),
        ")".repeat(20_000)
    );
    let datatype = NamedNode::new_unchecked("http://www.opengis.net/ont/geosparql#wktLiteral");
    function(&[Term::from(Literal::new_typed_literal(text, datatype))]);
    None
}

/// A file with one changed byte, for each byte. The first panic ends the process.
fn arrow_damaged_file() -> Option<String> {
    let batch = RecordBatch::try_from_iter([
        (
            "part",
            Arc::new(StringArray::from(vec!["a", "bc"])) as ArrayRef,
        ),
        (
            "content",
            Arc::new(LargeBinaryArray::from_vec(vec![b"d", b"ef"])),
        ),
    ])
    .ok()?;
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).ok()?;
    writer.write(&batch).ok()?;
    let file = writer.into_inner().ok()?;
    for place in 0..file.len() {
        for change in [1, 8, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[place] ^= change;
            let Ok(reader) = FileReader::try_new(Cursor::new(damaged), None) else {
                continue;
            };
            reader.for_each(drop);
        }
    }
    None
}
