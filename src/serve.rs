//! `lodeseek serve`: the HTTP face.

use super::Done;
use super::egress::EgressArguments;
use super::encoder::RerankArguments;
use super::harvest::LiveArguments;
use anyhow::Context;
use lodeseek_server::{Editor, Operators, Portal, Proxies, ServeOptions, SnippetLimits, serve};
use lodeseek_sparql::SparqlLimits;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    bind: SocketAddr,
    /// Seconds until a SPARQL query is given up.
    #[arg(long, value_name = "S", default_value_t = 30)]
    sparql_deadline: u64,
    /// Rows of a SPARQL answer at most.
    #[arg(long, value_name = "N", default_value_t = SparqlLimits::default().rows)]
    sparql_rows: usize,
    /// Size of a SPARQL answer at most, counted as its terms.
    #[arg(long, value_name = "MB", default_value_t = SparqlLimits::default().answer_megabytes)]
    sparql_megabytes: u64,
    /// SPARQL queries at one time.
    #[arg(long, value_name = "N", default_value_t = SparqlLimits::default().concurrent)]
    sparql_queries: usize,
    /// SPARQL queries of one client address at one time; half of all where it is not said.
    #[arg(long, value_name = "N")]
    sparql_queries_of_client: Option<usize>,
    /// A proxy in front, believed when it says for whom it asks (X-Forwarded-For); any number of times. No other is.
    #[arg(long, value_name = "ADDRESS")]
    trusted_proxy: Vec<IpAddr>,
    /// Milliseconds after which a snippet made on demand is given as far as it has come.
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    snippet_deadline: u64,
    /// Memory for the graphs that snippets made on demand read, kept for the next.
    #[arg(long, value_name = "MB", default_value_t = 256)]
    graph_cache: usize,
    /// The folder of an editor for SPARQL, as `make web` makes it; without it the page has a plain form.
    #[arg(long, value_name = "FOLDER")]
    editor: Option<PathBuf>,
    /// A file that holds a token: /operator, /api/operator and /metrics are for who gives it (as a bearer, or as password of any
    /// user) instead of for this machine.
    #[arg(long, value_name = "FILE")]
    operator_token_file: Option<PathBuf>,
    /// The portal's name, as catalogues and CKAN's interface tell it.
    #[arg(long, value_name = "TEXT", default_value_t = Portal::default().title)]
    title: String,
    /// What the portal is.
    #[arg(long, value_name = "TEXT", default_value_t = Portal::default().description)]
    description: String,
    /// Who runs the portal.
    #[arg(long, value_name = "NAME", default_value_t = Portal::default().publisher)]
    publisher: String,
    /// The IRI of who runs the portal.
    #[arg(long, value_name = "IRI")]
    publisher_iri: Option<String>,
    #[command(flatten)]
    live: LiveArguments,
    #[command(flatten)]
    egress: EgressArguments,
    #[command(flatten)]
    rerank: RerankArguments,
}

/// Hits of a page, and of an answer that does not say how many.
const SHOWN: usize = 10;

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
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
        kept_bytes: arguments.graph_cache << 20,
        ..SnippetLimits::default()
    };
    let editor = arguments.editor.as_deref().map(Editor::read).transpose()?;
    let reranker = arguments.rerank.reranker(home, arguments.rerank.pool_or_usual(), SHOWN)?;
    match &reranker {
        Some(reranker) => {
            let names: Vec<String> =
                reranker.encoders().map(|one| format!("{} on {}", one.name(), one.device())).collect();
            tracing::info!("searches compare words, and meaning by {}", names.join(" and "));
        }
        None => tracing::info!("searches compare words alone; --dpr and --colbert name models that compare meaning"),
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
            operators: arguments.operator_token_file.as_deref().map_or(Ok(Operators::default()), operators)?,
            background: arguments.live.task(home, arguments.egress.allow_private_network()),
        },
    )?;
    Ok(Done::Something)
}

/// Whoever knows the token of a file. White space around it is not part of it, and a short one is no secret.
fn operators(file: &Path) -> anyhow::Result<Operators> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let token = text.trim();
    anyhow::ensure!(token.len() >= 16, "{}: a token has at least 16 characters", file.display());
    Ok(Operators::with_token(token))
}
