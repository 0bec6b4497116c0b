//! `lodeseek query`: SPARQL on the command line.

use super::Done;
use super::egress::EgressArguments;
use anyhow::Context;
use lodeseek_catalog::{DatasetId, Iris};
use lodeseek_engine::{Federation, Searcher};
use lodeseek_rdf::RdfSyntax;
use lodeseek_sparql::{Answer, Provenance, QueryEngine, QueryRequest, Services, SparqlLimits};
use lodeseek_store::{Access, Store};
use serde_json::Value;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time that a query given up has to end.
const GRACE: Duration = Duration::from_secs(2);

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The query; `-` reads it from stdin, `@FILE` from a file.
    #[arg(value_name = "SPARQL")]
    query: String,
    /// Join the query with a search: the JSON of `lodeseek search --json`, `-` for stdin. In the query ?dataset is then one of
    /// the datasets found, and ?rank its rank.
    #[arg(long, value_name = "FILE")]
    hits: Option<String>,
    /// Say of each row which endpoint answered each SERVICE: a variable ?provenance_N for the Nth.
    #[arg(long)]
    provenance: bool,
    #[command(flatten)]
    egress: EgressArguments,
    /// The form of the results.
    #[arg(long, value_enum, default_value_t = Format::Tsv)]
    format: Format,
    /// Seconds until the query is given up.
    #[arg(long, value_name = "S", default_value_t = 60)]
    deadline: u64,
    /// Rows at most.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rows: usize,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    Tsv,
    Csv,
    Json,
    Xml,
}

impl Format {
    fn media_type(self) -> &'static str {
        match self {
            Self::Tsv => "text/tab-separated-values",
            Self::Csv => "text/csv",
            Self::Json => "application/sparql-results+json",
            Self::Xml => "application/sparql-results+xml",
        }
    }
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let store = Arc::new(Store::open(home, Access::Read, None)?);
    let queries = QueryEngine::new(Arc::clone(&store));
    let mut query = text(&arguments.query)?;
    if let Some(hits) = &arguments.hits {
        anyhow::ensure!(hits != "-" || arguments.query != "-", "stdin cannot be both the query and the hits");
        let hits = text(&if hits == "-" { hits.clone() } else { format!("@{hits}") })?;
        query.push_str(&values(&serde_json::from_str(&hits).context("the hits are no JSON")?, store.iris())?);
    }
    let limits = SparqlLimits {
        deadline: Duration::from_secs(arguments.deadline),
        rows: arguments.rows,
        ..SparqlLimits::default()
    };
    let endpoints = arguments.egress.client();
    let mut federation = Federation::new(&queries, limits.clone()).with_endpoints(Arc::clone(&endpoints));
    // Most queries search for nothing: those that do are told what is wrong with the index.
    federation = match Searcher::open(home) {
        Ok(searcher) => federation.with_search(Arc::new(searcher)),
        Err(error) => federation.without_search(error.to_string()),
    };
    let services: Arc<dyn Services> = Arc::new(federation);
    let provenance = if arguments.provenance { Provenance::PerService } else { Provenance::None };
    let request = QueryRequest { query, services: Some(services), provenance, ..QueryRequest::default() };
    let answer = queries.evaluate(&request, &limits);
    // A query given up must not read the store while the process takes it down; most end soon after their deadline.
    let given_up = Instant::now();
    while answer.is_err() && Arc::strong_count(&queries) > 1 && given_up.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(5));
    }
    let answer = answer?;
    let mut out = io::stdout().lock();
    match answer.write_results(arguments.format.media_type()) {
        Some(bytes) => {
            let bytes = bytes?;
            out.write_all(&for_terminal(bytes))?;
            if matches!(arguments.format, Format::Json | Format::Xml) {
                writeln!(out)?;
            }
        }
        None => {
            if let Answer::Graph { triples, .. } = &answer {
                out.write_all(&for_terminal(RdfSyntax::Turtle.write(triples)?))?;
            }
        }
    }
    for asked in endpoints.snapshot() {
        writeln!(
            io::stderr(),
            "lodeseek: asked {} {} times: {} rows, {} bytes, {:.2} s",
            asked.endpoint,
            asked.requests,
            asked.rows,
            asked.bytes,
            asked.total_time.as_secs_f32()
        )?;
    }
    if answer.is_truncated() {
        writeln!(io::stderr(), "lodeseek: the answer was cut at {} rows (--rows)", arguments.rows)?;
    }
    Ok(Done::Something)
}

/// The hits of a search as the clause that ends a query: it is joined with the pattern before anything is sorted or cut.
fn values(answer: &Value, iris: &Iris) -> anyhow::Result<String> {
    let hits = answer["hits"].as_array().context("the hits are not those of `lodeseek search --json`")?;
    let row = |hit: &Value| {
        let (id, rank) = hit["id"].as_str().zip(hit["rank"].as_u64()).context("a hit without id or rank")?;
        Ok(format!("({} {rank})", iris.dataset(&DatasetId::new(id)?)))
    };
    let rows = hits.iter().map(row).collect::<anyhow::Result<Vec<String>>>()?;
    Ok(format!("\nVALUES (?dataset ?rank) {{ {} }}\n", rows.join(" ")))
}

/// What data says must not move a terminal's cursor or change its title; files and pipes get every byte.
fn for_terminal(bytes: Vec<u8>) -> Vec<u8> {
    if !io::stdout().is_terminal() {
        return bytes;
    }
    let visible = |character: char| if character.is_control() && !"\t\n".contains(character) { ' ' } else { character };
    String::from_utf8_lossy(&bytes).chars().map(visible).collect::<String>().into_bytes()
}

/// The text of an argument: itself, a file's, or that of stdin.
pub(super) fn text(argument: &str) -> anyhow::Result<String> {
    if argument == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).with_context(|| format!("cannot read {path}")),
        None => Ok(argument.to_owned()),
    }
}
