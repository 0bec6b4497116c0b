//! `lodeseek query`: evaluates a SPARQL query.

use super::ExitStatus;
use super::config::{Config, check_analysis};
use super::egress::EgressArguments;
use super::encoder::RerankArguments;
use super::syntax::write_graph;
use super::terminal::counted;
use anyhow::Context;
use lodeseek_catalog::{DatasetId, Iris};
use lodeseek_cli::streams::messages;
use lodeseek_engine::{Federation, Searcher};
use lodeseek_rdf::{RdfSyntax, RdfVersion};
use lodeseek_sparql::{
    Answer, Cancellation, Head, Provenance, QueryEngine, QueryRequest, Services, SparqlLimits,
};
use lodeseek_store::{Access, Store};
use serde_json::Value;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time for the threads of a query to end.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// SPARQL query; `-` reads it from stdin, `@FILE` from a file.
    #[arg(value_name = "SPARQL")]
    query: String,
    /// Join the query with the hits of a search: a file with the JSON of `lodeseek search --json`, or `-` for stdin. The query
    /// variables ?dataset and ?rank are bound to each hit and its rank.
    #[arg(long, value_name = "FILE")]
    hits: Option<String>,
    /// Add a column ?provenance_N to the results: the endpoint that supplied the row's solution of the Nth SERVICE.
    #[arg(long)]
    provenance: bool,
    #[command(flatten)]
    egress: EgressArguments,
    /// Format of the results: tsv, csv, json or xml of SELECT and ASK; turtle, jsonld, nt or rdfxml of CONSTRUCT and DESCRIBE
    /// [default: tsv, or turtle].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Cancel the query after this time, in seconds.
    #[arg(long, value_name = "S", default_value_t = 60)]
    deadline: u64,
    /// Maximum number of rows. Longer results are truncated with a message.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rows: usize,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    Tsv,
    Csv,
    Json,
    Xml,
    Turtle,
    #[value(name = "jsonld")]
    JsonLd,
    #[value(name = "nt")]
    NTriples,
    #[value(name = "rdfxml")]
    RdfXml,
}

/// Kind of a format, by the form of the query.
#[derive(Clone, Copy)]
enum FormatKind {
    /// Results of SELECT and ASK, with a media type.
    Results(&'static str),
    /// Triples of CONSTRUCT and DESCRIBE.
    Graph(RdfSyntax),
}

impl Format {
    fn kind(self) -> FormatKind {
        match self {
            Self::Tsv => FormatKind::Results("text/tab-separated-values"),
            Self::Csv => FormatKind::Results("text/csv"),
            Self::Json => FormatKind::Results("application/sparql-results+json"),
            Self::Xml => FormatKind::Results("application/sparql-results+xml"),
            Self::Turtle => FormatKind::Graph(RdfSyntax::Turtle),
            Self::JsonLd => FormatKind::Graph(RdfSyntax::JsonLd),
            Self::NTriples => FormatKind::Graph(RdfSyntax::NTriples),
            Self::RdfXml => FormatKind::Graph(RdfSyntax::RdfXml),
        }
    }

    /// Returns the format of an answer: the requested one, else the default of the form of the query.
    ///
    /// # Errors
    /// If the requested format is one of the other forms.
    fn for_answer(requested: Option<Self>, head: &Head) -> anyhow::Result<Self> {
        let is_graph = matches!(head, Head::Graph);
        let default = if is_graph { Self::Turtle } else { Self::Tsv };
        let format = requested.unwrap_or(default);
        match (format.kind(), is_graph) {
            (FormatKind::Results(_), true) => anyhow::bail!(
                "--format: the query returns triples; formats of CONSTRUCT and DESCRIBE: turtle, jsonld, nt, rdfxml"
            ),
            (FormatKind::Graph(_), false) => anyhow::bail!(
                "--format: the query returns no triples; formats of SELECT and ASK: tsv, csv, json, xml"
            ),
            _ => Ok(format),
        }
    }
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let store = Arc::new(Store::open(home, Access::Read, None)?);
    let queries = QueryEngine::new(Arc::clone(&store));
    let outcome = answer_query(home, config, arguments, &queries);
    // The threads of a query that is cancelled, or needs no more rows of a service, end soon. The last owner of the store closes it,
    // which fails in a thread that the end of the process overtakes.
    let started = Instant::now();
    while (Arc::strong_count(&queries) > 1 || Arc::strong_count(&store) > 2)
        && started.elapsed() < GRACE_PERIOD
    {
        thread::sleep(Duration::from_millis(5));
    }
    outcome
}

/// Evaluates the query and writes its answer.
fn answer_query(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
    queries: &Arc<QueryEngine>,
) -> anyhow::Result<ExitStatus> {
    let store = queries.store();
    let mut query = read_argument(&arguments.query)?;
    if let Some(hits) = &arguments.hits {
        anyhow::ensure!(
            hits != "-" || arguments.query != "-",
            "both the query and --hits are `-`; read one of them from a file"
        );
        let hits = read_argument(&if hits == "-" {
            hits.clone()
        } else {
            format!("@{hits}")
        })?;
        query.push_str(&values_clause(
            &serde_json::from_str(&hits)
                .context("--hits: not valid JSON; write it with `lodeseek search --json`")?,
            store.iris(),
        )?);
    }
    let limits = SparqlLimits {
        deadline: Duration::from_secs(arguments.deadline),
        rows: arguments.rows,
        ..SparqlLimits::default()
    };
    let endpoints = arguments.egress.client(config);
    let (home, config) = (home.to_owned(), config.clone());
    let federation = Federation::new(queries, limits.clone())
        .with_endpoints(Arc::clone(&endpoints))
        .with_search_on_demand(move || match open_searcher(&home, &config) {
            Ok(searcher) => Ok(Arc::new(searcher)),
            Err(error) => Err(format!("{error:#}")),
        });
    let services: Arc<dyn Services> = Arc::new(federation);
    let provenance = if arguments.provenance {
        Provenance::PerService
    } else {
        Provenance::None
    };
    let request = QueryRequest {
        query,
        services: Some(services),
        provenance,
        ..QueryRequest::default()
    };
    let stream = queries.stream(&request, &limits, &Cancellation::default())?;
    let format = Format::for_answer(arguments.format, stream.head())?;
    let answer = stream.whole()?;
    let mut out = io::stdout().lock();
    match (format.kind(), &answer) {
        (FormatKind::Graph(syntax), Answer::Graph { triples, .. }) => {
            out.write_all(&for_terminal(write_graph(syntax, triples)?))?;
        }
        (FormatKind::Results(media_type), answer) => {
            let written = answer.write_results(media_type, RdfVersion::V11);
            let written = written.context("internal error: unknown format of results")??;
            out.write_all(&for_terminal(written.bytes))?;
            if written.removed_characters > 0 {
                let count = written.removed_characters;
                writeln!(
                    messages(),
                    "lodeseek: {count} characters that XML does not permit were left out"
                )?;
            }
            if matches!(format, Format::Json | Format::Xml) {
                writeln!(out)?;
            }
        }
        // The format was checked against the form of the query.
        (FormatKind::Graph(_), _) => {}
    }
    for endpoint in endpoints.snapshot() {
        let name = &endpoint.endpoint;
        // A query with LIMIT can end before the response of an endpoint does.
        if endpoint.calls == 0 {
            writeln!(
                messages(),
                "lodeseek: {name}: the query ended before the response"
            )?;
            continue;
        }
        writeln!(
            messages(),
            "lodeseek: {name}: {}, {}, {}, {:.2} s",
            counted(endpoint.requests, "request"),
            counted(endpoint.rows, "row"),
            counted(endpoint.bytes, "byte"),
            endpoint.total_time.as_secs_f32()
        )?;
    }
    if answer.is_truncated() {
        writeln!(
            messages(),
            "lodeseek: {}",
            truncation_message(&answer, &limits)
        )?;
    }
    Ok(ExitStatus::Success)
}

/// Returns a message with the limit that cut an answer.
fn truncation_message(answer: &Answer, limits: &SparqlLimits) -> String {
    let (length, unit) = match answer {
        Answer::Graph { triples, .. } => (triples.len(), "triples"),
        Answer::Solutions { rows, .. } => (rows.len(), "rows"),
        Answer::Boolean(_) => (0, "rows"),
    };
    if length >= limits.rows {
        return format!("the result was truncated to {length} {unit}; --rows raises the limit");
    }
    format!(
        "the result was truncated to {length} {unit}: its terms have more than {} MB; select fewer variables, or use LIMIT and OFFSET",
        limits.answer_megabytes
    )
}

/// Opens the index, with the ranking of the home.
fn open_searcher(home: &Path, config: &Config) -> anyhow::Result<Searcher> {
    let searcher = Searcher::open(home)?;
    check_analysis(config, searcher.catalog().analysis()?)?;
    let arguments = RerankArguments::default();
    let choice = arguments.choice(home, config, None)?;
    let reranker = arguments.reranker(home, &choice, None, 1)?;
    Ok(match reranker {
        Some(reranker) => searcher.with_reranker(reranker),
        None => searcher,
    })
}

/// Converts the hits of a search into the `VALUES` clause at the end of a query. SPARQL joins it before sorting and slicing.
fn values_clause(answer: &Value, iris: &Iris) -> anyhow::Result<String> {
    let hits = answer["hits"]
        .as_array()
        .context("--hits: no array `hits`; write it with `lodeseek search --json`")?;
    let mut rows = Vec::with_capacity(hits.len());
    for hit in hits {
        let (id, rank) = hit["id"]
            .as_str()
            .zip(hit["rank"].as_u64())
            .context("--hits: a hit has no id or no rank")?;
        rows.push(format!("({} {rank})", iris.dataset(&DatasetId::new(id)?)));
    }
    Ok(format!(
        "\nVALUES (?dataset ?rank) {{ {} }}\n",
        rows.join(" ")
    ))
}

/// Replaces control characters for a terminal: data could move its cursor or change its title. Files and pipes get all bytes.
fn for_terminal(bytes: Vec<u8>) -> Vec<u8> {
    if !io::stdout().is_terminal() {
        return bytes;
    }
    String::from_utf8_lossy(&bytes)
        .chars()
        .map(|character| match character {
            '\t' | '\n' => character,
            _ if character.is_control() => ' ',
            _ => character,
        })
        .collect::<String>()
        .into_bytes()
}

/// Returns the text of an argument: of stdin for `-`, of a file for `@FILE`, else the argument itself.
pub(super) fn read_argument(argument: &str) -> anyhow::Result<String> {
    if argument == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).with_context(|| format!("cannot read {path}")),
        None if Path::new(argument).is_file() => {
            anyhow::bail!("{argument} is a file: write @{argument} for the text in it")
        }
        None => Ok(argument.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_limit_that_cut_the_answer() {
        let answer = Answer::Solutions {
            variables: Vec::new(),
            rows: vec![Vec::new(); 3],
            truncated: true,
        };
        let by_rows = truncation_message(
            &answer,
            &SparqlLimits {
                rows: 3,
                ..SparqlLimits::default()
            },
        );
        assert_eq!(
            by_rows,
            "the result was truncated to 3 rows; --rows raises the limit"
        );
        let by_size = truncation_message(
            &answer,
            &SparqlLimits {
                rows: 4,
                answer_megabytes: 9,
                ..SparqlLimits::default()
            },
        );
        assert!(
            by_size.contains("3 rows: its terms have more than 9 MB")
                && !by_size.contains("--rows"),
            "{by_size}"
        );
    }
}
