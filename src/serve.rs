//! `lodeseek serve`: the HTTP server.

use super::ExitStatus;
use super::egress::EgressArguments;
use super::encoder::RerankArguments;
use super::harvest::ScheduleArguments;
use anyhow::Context;
use lodeseek_server::{Editor, Operators, Portal, Proxies, ServeOptions, SnippetLimits, serve};
use lodeseek_sparql::SparqlLimits;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Address and port to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    bind: SocketAddr,
    /// Cancel a SPARQL query after this time, in seconds (503 with Retry-After).
    #[arg(long, value_name = "S", default_value_t = 30)]
    sparql_deadline: u64,
    /// Maximum number of rows of a SPARQL result. Longer results are truncated.
    #[arg(long, value_name = "N", default_value_t = SparqlLimits::default().rows)]
    sparql_rows: usize,
    /// Maximum size of a SPARQL result, in megabytes of its terms. Larger results are truncated.
    #[arg(long, value_name = "MB", default_value_t = SparqlLimits::default().answer_megabytes)]
    sparql_megabytes: u64,
    /// Maximum number of concurrent SPARQL queries. Further queries wait.
    #[arg(long, value_name = "N", default_value_t = SparqlLimits::default().concurrent)]
    sparql_queries: usize,
    /// Maximum number of concurrent SPARQL queries of one client address [default: half of --sparql-queries].
    #[arg(long, value_name = "N")]
    sparql_queries_of_client: Option<usize>,
    /// Trust the X-Forwarded-For header of the reverse proxy with this IP address. Repeatable. Default: no proxy is trusted.
    #[arg(long, value_name = "ADDRESS")]
    trusted_proxy: Vec<IpAddr>,
    /// Return the best snippet found after this time, in milliseconds, if it is computed on demand.
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    snippet_deadline: u64,
    /// Size of the cache of dataset graphs for snippets computed on demand, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 256)]
    graph_cache: usize,
    /// Folder of a SPARQL editor, as built by `make web` [default: none, the page has a plain form].
    #[arg(long, value_name = "FOLDER")]
    editor: Option<PathBuf>,
    /// File with the operator token, at least 16 characters. /operator, /api/operator and /metrics then require it, as bearer
    /// token or as password of any user. Without a token only this machine has access.
    #[arg(long, value_name = "FILE")]
    operator_token_file: Option<PathBuf>,
    /// Name of the portal, in catalogues and CKAN responses.
    #[arg(long, value_name = "TEXT", default_value_t = Portal::default().title)]
    title: String,
    /// Description of the portal.
    #[arg(long, value_name = "TEXT", default_value_t = Portal::default().description)]
    description: String,
    /// Publisher of the portal.
    #[arg(long, value_name = "NAME", default_value_t = Portal::default().publisher)]
    publisher: String,
    /// IRI of the publisher.
    #[arg(long, value_name = "IRI")]
    publisher_iri: Option<String>,
    #[command(flatten)]
    schedule: ScheduleArguments,
    #[command(flatten)]
    egress: EgressArguments,
    #[command(flatten)]
    rerank: RerankArguments,
}

/// Number of hits of a page, and of a response to a request without a number.
const SHOWN: usize = 10;

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    let sparql = SparqlLimits {
        deadline: Duration::from_secs(arguments.sparql_deadline),
        rows: arguments.sparql_rows,
        answer_megabytes: arguments.sparql_megabytes,
        concurrent: arguments.sparql_queries,
        concurrent_long: arguments.sparql_queries.div_ceil(2),
        concurrent_of_client: arguments.sparql_queries_of_client.unwrap_or(arguments.sparql_queries.div_ceil(2)),
        ..SparqlLimits::default()
    };
    let snippets = SnippetLimits {
        deadline: Duration::from_millis(arguments.snippet_deadline),
        cache_bytes: arguments.graph_cache << 20,
        ..SnippetLimits::default()
    };
    let editor = arguments.editor.as_deref().map(Editor::read).transpose()?;
    let reranker = arguments.rerank.reranker(home, arguments.rerank.pool_or_default(), SHOWN)?;
    match &reranker {
        Some(reranker) => {
            let encoders = reranker.encoders().map(|encoder| format!("{} on {}", encoder.name(), encoder.device()));
            let encoders: Vec<String> = encoders.collect();
            tracing::info!("searches rank by words, and re-rank by {}", encoders.join(" and "));
        }
        None => tracing::info!("searches rank by words only; add --dpr or --colbert to re-rank by meaning"),
    }
    serve(
        home,
        reranker,
        &ServeOptions {
            bind: arguments.bind,
            sparql,
            snippets,
            proxies: Proxies::new(&arguments.trusted_proxy),
            editor,
            endpoints: arguments.egress.client(),
            portal: Portal {
                title: arguments.title.clone(),
                description: arguments.description.clone(),
                publisher: arguments.publisher.clone(),
                publisher_iri: arguments.publisher_iri.clone(),
            },
            operators: match &arguments.operator_token_file {
                Some(file) => read_operator_token(file)?,
                None => Operators::default(),
            },
            background: arguments.schedule.background(arguments.egress.private_networks()),
        },
    )?;
    Ok(ExitStatus::Success)
}

/// Reads the operator token of a file, without surrounding white space.
///
/// # Errors
/// If the file cannot be read, or the token has fewer than 16 characters.
fn read_operator_token(file: &Path) -> anyhow::Result<Operators> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let token = text.trim();
    anyhow::ensure!(
        token.len() >= 16,
        "{}: the operator token is too short; use at least 16 characters",
        file.display()
    );
    Ok(Operators::with_token(token))
}
