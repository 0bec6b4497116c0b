//! `lodeseek serve`: the HTTP server.

use super::ExitStatus;
use super::config::{Config, check_analysis};
use super::egress::EgressArguments;
use super::encoder::{RerankArguments, WorksUse, method_name};
use super::harvest::ScheduleArguments;
use super::ranking::Preset;
use super::replica;
use super::worker::WorkerArguments;
use anyhow::Context;
use lodeseek_changes::{SettingFiles, stored_schedules};
use lodeseek_engine::{IndexOptions, Indexer, Reranker, Searcher, index_folder};
use lodeseek_index::{AnalysisKind, Index, IndexError};
use lodeseek_server::{
    Branding, ConnectionLimits, Editor, HomeOptions, HostName, Localized, Logo, Operators, Portal,
    Proxies, PublicUrl, Reload, Replica, ServeOptions, SnippetLimits, Theme, Tls, serve, serve_mcp,
    serve_replica,
};
use lodeseek_snapshot::SnapshotLocation;
use lodeseek_sparql::SparqlLimits;
use lodeseek_store::{Access, Store};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Debug, Clone, Default)]
#[command(
    after_help = "Limits, models, fusion and the texts of the portal are settings of the home: `lodeseek config show` lists all keys."
)]
pub(crate) struct Arguments {
    /// Address or host name, and port, to listen on [default: 127.0.0.1:7878].
    #[arg(long, value_name = "ADDRESS", help_heading = NETWORK)]
    bind: Option<String>,
    /// Address at which clients reach the server, as https://data.example.org/: links, feeds and sitemaps begin with it. IRIs of
    /// datasets keep the base of the home [default: the base; with the default base the address of the server].
    #[arg(long, value_name = "URL", help_heading = NETWORK)]
    public_url: Option<PublicUrl>,
    /// Accept requests to this host name, if the server listens on a loopback address: others than localhost and the host of
    /// --public-url get status 421. Repeatable. Default: none.
    #[arg(long, value_name = "NAME", help_heading = NETWORK)]
    allowed_host: Vec<HostName>,
    /// File with the certificate of the server and those of its issuers (PEM), for HTTPS. SIGHUP reads it again. Needs --tls-key.
    #[arg(long, value_name = "FILE", help_heading = NETWORK)]
    tls_certificate: Option<PathBuf>,
    /// File with the private key of the certificate (PEM, not encrypted). Other users may not read it.
    #[arg(long, value_name = "FILE", help_heading = NETWORK)]
    tls_key: Option<PathBuf>,
    /// Trust the headers X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and Forwarded of the reverse proxy with this IP
    /// address. Repeatable. Default: no proxy is trusted.
    #[arg(long, value_name = "ADDRESS", help_heading = NETWORK)]
    trusted_proxy: Vec<IpAddr>,
    /// Folder of a SPARQL editor, as built by `make web` [default: none, the page has a plain form].
    #[arg(long, value_name = "FOLDER", help_heading = PORTAL)]
    editor: Option<PathBuf>,
    /// File with the operator token, at least 16 characters. /operator, /api/operator and /metrics then require it, as bearer
    /// token or as password of any user. Without a token only this machine has access.
    #[arg(long, value_name = "FILE", help_heading = OPERATION)]
    operator_token_file: Option<PathBuf>,
    /// Allow changes while serving: `load`, `harvest`, `index` and `remove` on this machine, and clients with a token
    /// (`lodeseek token`) under /api/admin. Without it the server only reads.
    #[arg(long, help_heading = OPERATION)]
    admin: bool,
    /// Serve the snapshots that `lodeseek publish` writes to this location, s3://BUCKET/PREFIX or file:///FOLDER, instead of the
    /// home. A new snapshot replaces the served one without an interruption. The server only reads.
    #[arg(long, value_name = "URL", help_heading = SNAPSHOTS)]
    snapshot: Option<SnapshotLocation>,
    /// Folder for the files of snapshots. One server uses it at a time [default: a folder of the location in the user's cache
    /// folder].
    #[arg(long, value_name = "DIR", help_heading = SNAPSHOTS)]
    cache: Option<PathBuf>,
    /// File with the public key of the publisher: Ed25519 in PEM, as `openssl pkey -pubout` writes it. Snapshots without its signature
    /// are not served [default: none, the chain of records is checked only].
    #[arg(long, value_name = "FILE", help_heading = SNAPSHOTS)]
    snapshot_key: Option<PathBuf>,
    /// Name of the portal, in catalogues and CKAN responses [default: Lodeseek].
    #[arg(long, value_name = "TEXT", help_heading = PORTAL)]
    title: Option<String>,
    #[command(flatten)]
    schedule: ScheduleArguments,
    #[command(flatten)]
    egress: EgressArguments,
    /// Ranking: words (one model, by default BM25), balanced (FSDM and BM25, fused) or best (fused with the vectors of models)
    /// [default: as configured or indexed, else best].
    #[arg(long, value_name = "PRESET", help_heading = "Ranking")]
    ranking: Option<Preset>,
}

/// Headings of the help.
const NETWORK: &str = "Network";
const OPERATION: &str = "Operation";
const SNAPSHOTS: &str = "Snapshots";
const PORTAL: &str = "Portal";

/// Number of hits of a page, and of a response to a request without a number.
const DEFAULT_PAGE_HITS: usize = 10;

/// Default address to listen on.
pub(crate) const DEFAULT_BIND: &str = "127.0.0.1:7878";

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    let bind = arguments
        .bind
        .as_deref()
        .or(config.settings.server.bind.as_deref())
        .unwrap_or(DEFAULT_BIND);
    let options = arguments.options(home, config, resolve_addresses(bind)?)?;
    let options = ServeOptions {
        tls: arguments.tls(config)?,
        ..options
    };
    if let Some(location) = arguments
        .snapshot
        .as_ref()
        .or(config.settings.server.snapshot.as_ref())
    {
        return arguments.run_replica(location, config, &options);
    }
    anyhow::ensure!(
        arguments.cache.is_none(),
        "--cache is for snapshots; set --snapshot, too"
    );
    // A server that changes the collection creates what is missing; another one only reads.
    if options.background.is_some() || options.admin {
        create_missing_index(home, config)?;
    } else {
        warn_of_schedules(home);
    }
    check_analysis(config, Searcher::open(home)?.catalog().analysis()?)?;
    let reranker =
        arguments.reranker(home, config, options.background.is_some() || options.admin)?;
    log_ranking(reranker.as_ref());
    serve(home, reranker, &options)?;
    Ok(ExitStatus::Success)
}

/// Logs a warning if operators have scheduled sources, which a server that only reads does not harvest.
fn warn_of_schedules(home: &Path) {
    let schedules = stored_schedules(home).len();
    if schedules > 0 {
        tracing::warn!(
            "the schedules that operators have set ({schedules}) do not run: this server only reads; serve with --admin"
        );
    }
}

fn log_ranking(reranker: Option<&Reranker>) {
    match reranker {
        Some(reranker) if reranker.encoders().len() > 0 => {
            tracing::info!(
                "searches rank by words, and re-rank with {}",
                encoder_names(reranker)
            );
        }
        Some(_) => tracing::info!("searches rank by words, by several models"),
        None => tracing::info!("searches rank by words, by one model"),
    }
}

/// Serves the home to an agent over standard input and output, with the settings of the home.
pub(crate) fn run_mcp(home: &Path, config: &Config) -> anyhow::Result<ExitStatus> {
    let arguments = Arguments::default();
    let options = arguments.options(home, config, Vec::new())?;
    check_analysis(config, Searcher::open(home)?.catalog().analysis()?)?;
    let reranker = arguments.reranker(home, config, false)?;
    serve_mcp(
        home,
        reranker,
        &ServeOptions {
            // An agent only searches, also in a home whose settings allow changes.
            admin: false,
            background: None,
            ..options
        },
    )?;
    Ok(ExitStatus::Success)
}

/// Returns the socket addresses of a host name or address with a port, IPv4 first.
///
/// # Errors
/// If the text has no port, or the name has no address.
fn resolve_addresses(bind: &str) -> anyhow::Result<Vec<SocketAddr>> {
    let found = bind.to_socket_addrs().with_context(|| {
        format!("cannot listen on {bind:?}: write an address or a host name, and a port, for example localhost:8102")
    })?;
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    anyhow::ensure!(
        !found.is_empty(),
        "cannot listen on {bind:?}: the name has no address"
    );
    Ok(found)
}

impl Arguments {
    /// Serves the snapshots of a location.
    ///
    /// # Errors
    /// If the server shall change the collection, too, or there is no snapshot.
    fn run_replica(
        &self,
        location: &SnapshotLocation,
        config: &Config,
        options: &ServeOptions,
    ) -> anyhow::Result<ExitStatus> {
        anyhow::ensure!(
            !options.admin && options.background.is_none(),
            "a server of snapshots only reads: remove --snapshot, or --admin and --harvest with their settings; \
             change the collection where it is, and run `lodeseek publish` there"
        );
        let folder = self
            .cache
            .as_deref()
            .or(config.settings.server.snapshot_cache.as_deref());
        let key = self
            .snapshot_key
            .as_deref()
            .or(config.settings.server.snapshot_key.as_deref());
        let cache = replica::open_cache(location, folder, key)?;
        let (arguments, settings) = (self.clone(), config.clone());
        let replica = Replica::new(cache, replica::interval(config), move |home| {
            arguments
                .home_options(home, &settings)
                .map_err(|error| super::errors::message(&error))
        });
        serve_replica(replica, options)?;
        Ok(ExitStatus::Success)
    }

    /// Opens the ranking of a snapshot, and returns the options of its worker processes.
    fn home_options(&self, home: &Path, config: &Config) -> anyhow::Result<HomeOptions> {
        check_analysis(config, Searcher::open(home)?.catalog().analysis()?)?;
        let reranker = self.reranker(home, config, false)?;
        log_ranking(reranker.as_ref());
        let workers = WorkerArguments::default().options(home, config)?;
        Ok(HomeOptions { reranker, workers })
    }

    /// Returns the options of a server that listens on some addresses, without TLS.
    fn options(
        &self,
        home: &Path,
        config: &Config,
        bind: Vec<SocketAddr>,
    ) -> anyhow::Result<ServeOptions> {
        let settings = &config.settings;
        let editor = self.editor.as_deref().or(settings.server.editor.as_deref());
        let editor = editor.map(Editor::read).transpose()?;
        let token = self
            .operator_token_file
            .as_deref()
            .or(settings.server.operator_token_file.as_deref());
        let token = token.map(Path::to_path_buf);
        let networks = self.egress.private_networks(config);
        let schedule = self.schedule.schedule(config, networks.clone());
        let admin = self.admin || settings.server.admin.unwrap_or(false);
        // With the administration, operators may schedule sources at any time.
        let is_scheduled = admin || !schedule.sources.is_empty();
        Ok(ServeOptions {
            bind,
            public_url: self
                .public_url
                .clone()
                .or_else(|| settings.public_url.clone()),
            host_names: self.host_names(config),
            tls: None,
            connections: connection_limits(config),
            sparql: sparql_limits(config),
            workers: WorkerArguments::default().options(home, config)?,
            proxies: self.proxies(config),
            editor,
            endpoints: self.egress.client(config),
            portal: self.portal(config),
            branding: read_branding(config)?,
            operators: operators(token.as_deref())?,
            reload: Some(token_reload(token)),
            admin,
            schedule: schedule.sources.clone(),
            background: is_scheduled.then(|| schedule.into_background()),
            private_networks: networks,
            snippets: snippet_limits(config),
            storage: replica::storage_options(),
            setting_files: setting_files(home),
            backup_folder: settings.server.backup_folder.clone(),
        })
    }

    /// Reads certificate and key.
    ///
    /// # Errors
    /// If one of them is not configured, or the files are not valid.
    fn tls(&self, config: &Config) -> anyhow::Result<Option<Tls>> {
        let settings = &config.settings.server;
        let certificate = self
            .tls_certificate
            .as_deref()
            .or(settings.tls_certificate.as_deref());
        let key = self.tls_key.as_deref().or(settings.tls_key.as_deref());
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some(Tls::open(certificate, key)?)),
            (Some(_), None) => {
                anyhow::bail!("the certificate has no key; set --tls-key, or `server.tls-key`")
            }
            (None, Some(_)) => {
                anyhow::bail!(
                    "the key has no certificate; set --tls-certificate, or `server.tls-certificate`"
                )
            }
        }
    }

    fn host_names(&self, config: &Config) -> Vec<HostName> {
        match &self.allowed_host[..] {
            [] => config
                .settings
                .server
                .allowed_hosts
                .clone()
                .unwrap_or_default(),
            names => names.to_vec(),
        }
    }

    fn proxies(&self, config: &Config) -> Proxies {
        match &self.trusted_proxy[..] {
            [] => Proxies::new(
                config
                    .settings
                    .server
                    .trusted_proxies
                    .as_deref()
                    .unwrap_or_default(),
            ),
            proxies => Proxies::new(proxies),
        }
    }

    fn portal(&self, config: &Config) -> Portal {
        let (settings, default) = (&config.settings.portal, Portal::default());
        // The text of the flag is for all languages.
        let title: Option<Localized<String>> = self.title.clone().map(Into::into);
        Portal {
            title: title
                .or_else(|| settings.title.clone())
                .unwrap_or(default.title),
            description: settings.description.clone().unwrap_or(default.description),
            publisher: settings.publisher.clone().unwrap_or(default.publisher),
            publisher_iri: settings.publisher_iri.clone(),
            questions: settings.questions.clone().unwrap_or(default.questions),
        }
    }

    /// Opens the ranking of the home. A server that changes the collection creates missing vectors, which it fills later.
    fn reranker(
        &self,
        home: &Path,
        config: &Config,
        changes: bool,
    ) -> anyhow::Result<Option<Reranker>> {
        let rerank = RerankArguments::from_preset(self.ranking);
        let choice = rerank.choice(home, config, None)?;
        if !changes {
            return rerank.reranker(home, &choice, None, DEFAULT_PAGE_HITS);
        }
        let opened = choice
            .open_and_create(home, config.settings.encoders.vectors)?
            .or_warn()?;
        let pool = if choice.preset() == Preset::Words {
            Vec::new()
        } else {
            rerank.pool_of(&choice)
        };
        let reranker = rerank.reranker_of(
            home,
            &choice,
            opened,
            pool,
            DEFAULT_PAGE_HITS,
            WorksUse::Followed,
        )?;
        choice.write_record(home)?;
        Ok(reranker)
    }
}

fn connection_limits(config: &Config) -> ConnectionLimits {
    match config.settings.server.max_connections {
        Some(total) => ConnectionLimits::with_total(total.get()),
        None => ConnectionLimits::default(),
    }
}

fn sparql_limits(config: &Config) -> SparqlLimits {
    let (settings, default) = (&config.settings.sparql, SparqlLimits::default());
    let concurrent = settings.queries.unwrap_or(default.concurrent);
    let of_client = settings.queries_of_client;
    SparqlLimits {
        deadline: settings
            .deadline
            .map(Duration::from_secs)
            .unwrap_or(default.deadline),
        rows: settings.rows.unwrap_or(default.rows),
        answer_megabytes: settings.megabytes.unwrap_or(default.answer_megabytes),
        memory_megabytes: WorkerArguments::default().memory_megabytes(config),
        concurrent,
        // By default a single client cannot take all places.
        concurrent_of_client: of_client.unwrap_or(concurrent.div_ceil(2)),
        ..default
    }
}

fn snippet_limits(config: &Config) -> SnippetLimits {
    let (settings, default) = (&config.settings.server, SnippetLimits::default());
    let (deadline, cache) = (settings.snippet_deadline, settings.graph_cache);
    SnippetLimits {
        deadline: deadline
            .map(Duration::from_millis)
            .unwrap_or(default.deadline),
        cache_bytes: cache
            .map(|megabytes| megabytes.saturating_mul(1 << 20))
            .unwrap_or(default.cache_bytes),
        ..default
    }
}

/// Returns the reader of the files that the settings of a home name.
fn setting_files(home: &Path) -> SettingFiles {
    let home = home.to_owned();
    SettingFiles::new(move || {
        let config = Config::load(&home).map_err(|error| super::errors::message(&error))?;
        Ok(super::config::setting_files(&config))
    })
}

/// Reads the branding of the pages.
pub(crate) fn read_branding(config: &Config) -> anyhow::Result<Branding> {
    let settings = config.settings.portal.clone();
    Ok(Branding {
        imprint: settings.imprint,
        privacy: settings.privacy,
        accessibility: settings.accessibility,
        contact: settings.contact,
        color: settings.color,
        dark_color: settings.dark_color,
        theme: settings
            .theme
            .as_deref()
            .map(Theme::read)
            .transpose()?
            .unwrap_or_default(),
        logo: settings.logo.as_deref().map(Logo::read).transpose()?,
    })
}

/// Creates the index of a home that is filled while it is served.
fn create_missing_index(home: &Path, config: &Config) -> anyhow::Result<()> {
    if matches!(
        Index::open(&index_folder(home)),
        Err(IndexError::Missing(_))
    ) {
        let analysis = Some(
            config
                .settings
                .analysis
                .unwrap_or(AnalysisKind::Multilingual),
        );
        let store = Store::open(home, Access::Write, config.settings.base.as_deref())?;
        Indexer::new(
            &store,
            IndexOptions {
                analysis,
                ..IndexOptions::default()
            },
        )
        .run(&|_| ())?;
    }
    Ok(())
}

/// Names the models of a reranker with their methods and devices. A model with two methods is named once.
fn encoder_names(reranker: &Reranker) -> String {
    let mut methods: Vec<(String, Vec<&'static str>)> = Vec::new();
    let multilingual = reranker.multilingual().map(|(encoder, _)| encoder);
    for encoder in reranker.encoders().chain(multilingual) {
        let model = format!("{} on {}", encoder.name(), encoder.device());
        let method = method_name(encoder.granularity());
        match methods.iter_mut().find(|(other, _)| *other == model) {
            Some((_, methods)) => methods.push(method),
            None => methods.push((model, vec![method])),
        }
    }
    let names = methods
        .iter()
        .map(|(model, methods)| format!("{} by {model}", methods.join(" and ")));
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the access rule of the operator's routes.
pub(crate) fn operators(token_file: Option<&Path>) -> anyhow::Result<Operators> {
    match token_file {
        Some(file) => read_operator_token(file),
        None => Ok(Operators::default()),
    }
}

/// Returns the function that reads the operator token again at SIGHUP.
fn token_reload(token_file: Option<PathBuf>) -> Reload {
    Reload::new(move || {
        operators(token_file.as_deref()).map_err(|error| super::errors::message(&error))
    })
}

/// Reads the operator token of a file, without surrounding white space.
///
/// # Errors
/// If the file cannot be read, if other users can read it, or if the token has fewer than 16 characters.
fn read_operator_token(file: &Path) -> anyhow::Result<Operators> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata =
            std::fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mode = metadata.mode() & 0o777;
        anyhow::ensure!(
            mode & 0o007 == 0,
            "{}: every user of this machine can access the operator token (mode {mode:03o}); run `chmod 600 {}`",
            file.display(),
            file.display()
        );
    }
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let token = text.trim();
    anyhow::ensure!(
        token.len() >= 16,
        "{}: the operator token is too short; use at least 16 characters",
        file.display()
    );
    Ok(Operators::with_token(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_cache_is_no_empty_one() {
        let mut config = Config::default();
        config.settings.server.graph_cache = Some(usize::MAX);
        assert_eq!(snippet_limits(&config).cache_bytes, usize::MAX);
    }
}
