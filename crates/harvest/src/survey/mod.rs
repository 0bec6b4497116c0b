//! Surveys of SPARQL endpoints: what graphs there are, what they are called, how much of what they hold, and a sample that
//! shows it. So a collection too large for this machine is found here and stays in the engine that holds it.
//!
//! Each graph becomes a [`Dataset`] with [`RemoteContent`] and a [`TripleGraph`] to be stored as its content, from which
//! the same stages make profile, snippet and documents as from a dump. *Why is the sample the local graph, and not
//! nothing?* So that a query, a snippet on demand and a page work as for any dataset, and each says what it is of: the
//! dataset is typed `lodeseek:SampledContent`, its graph and VoID counts are those of the sample, and `lodeseek:sampleOf`
//! leads to the whole with the counts of the endpoint. A graph no larger than the sample is held whole.
//!
//! *Resumption.* A survey is a function of the answers: what is asked next depends on them alone. So answers are kept on
//! disk by their query, and to go on after a kill or a spent budget is to begin again: what is kept is not asked for. Only
//! the count of the triples and the description at the endpoint are asked in every run; where they tell that a graph has
//! changed, its answers are forgotten. What fails is not kept, and is asked again by the next run.
//!
//! *Budget and politeness.* One request at a time, paused as the client says; requests (further attempts included), bytes
//! and time are bounded for the run. Graphs that no run has finished come first, so that small budgets get through. An
//! endpoint that does not answer twice in a row is left alone.
//!
//! *Engines differ.* A graph is asked for by `FROM`, which all have; what cannot be sorted is asked for without order, and
//! an endpoint that does not count is asked for names alone. What was left out, and why, is told for each graph.
//!
//! *Blank nodes* mean something within one answer, so an entity and its description come in one. One that two answers
//! tell of stands twice in the sample: some is said twice then, nothing wrong.

mod asker;
mod counts;
mod description;
mod pages;
mod queries;
mod query;
mod sample;

use asker::{Asker, Unanswered};
use counts::{Listing, Partition};
use description::Described;
use lodeseek_catalog::{Dataset, DatasetId, Extent, Metadata, RemoteContent};
use lodeseek_net::sparql_client::{CallOptions, RemoteError, SparqlClient};
use lodeseek_rdf::TripleGraph;
use oxrdf::NamedNode;
use pages::{Pages, State};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurveyError {
    /// Answers cannot be kept.
    #[error("{path}: {cause}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The endpoint may not be asked, or fails at the list of its graphs.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The budget was spent before the graphs were known.
    #[error("the graphs of the endpoint are not known yet: {0}")]
    Over(Over),
    /// No id can be made of an IRI.
    #[error("no dataset id can be made of {0}")]
    NoId(String),
}

/// Why nothing more is asked in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// So many requests were made.
    Requests(u64),
    /// So many bytes came.
    Bytes(u64),
    /// The time is up.
    Time,
    /// The endpoint does not answer.
    Silent,
}

impl fmt::Display for Over {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(most) => write!(formatter, "the budget of {most} requests is spent"),
            Self::Bytes(most) => write!(formatter, "the budget of {most} bytes is spent"),
            Self::Time => formatter.write_str("the time is up"),
            Self::Silent => formatter.write_str("the endpoint does not answer"),
        }
    }
}

/// What a run may cost the endpoint. Its time is bounded by the cancellation of [`SurveyOptions::call`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Requests. Default 2,000.
    pub requests: u64,
    /// Bytes of answers. Default 1 GiB.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { requests: 2000, bytes: 1 << 30 }
    }
}

/// What a run has cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Spent {
    /// Requests.
    pub requests: u64,
    /// Bytes of answers.
    pub bytes: u64,
}

/// How a survey is made.
#[derive(Clone, Debug)]
pub struct SurveyOptions {
    /// Triples of a sample at most. Default 10,000.
    pub sample_triples: usize,
    /// Classes, and properties, listed of a graph at most. Default 2,000.
    pub listed: usize,
    /// Graphs listed of an endpoint at most. Default 10,000.
    pub graphs: usize,
    /// What the run may cost.
    pub budget: Budget,
    /// What one question may cost. Default as in [`CallOptions`], but a minute: counting takes time.
    pub call: CallOptions,
    /// What is done with answers kept by earlier runs.
    pub kept: Kept,
    /// Put before every dataset id.
    pub id_prefix: String,
}

impl Default for SurveyOptions {
    fn default() -> Self {
        Self {
            sample_triples: 10_000,
            listed: 2000,
            graphs: 10_000,
            budget: Budget::default(),
            call: CallOptions { time: Duration::from_secs(60), ..CallOptions::default() },
            kept: Kept::Used,
            id_prefix: String::new(),
        }
    }
}

/// What is done with answers kept by earlier runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// They are used, as long as the graph is not known to have changed.
    Used,
    /// They are forgotten.
    Forgotten,
}

/// Which graphs of an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Graphs {
    /// All that have names; the default graph of an endpoint without any.
    All,
    /// The default graph.
    Default,
    /// These.
    Named(Vec<NamedNode>),
}

/// A graph surveyed: a dataset, and what is to be held of it.
#[derive(Debug)]
pub struct Surveyed {
    /// Its description, the endpoint's counts included.
    pub dataset: Dataset,
    /// The sample, or all of it.
    pub graph: TripleGraph,
}

/// What became of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphOutcome {
    /// It was surveyed.
    Surveyed,
    /// The run ended before; the next one goes on.
    Unfinished,
    /// Nothing could be had of it.
    Failed,
}

/// The report of one graph.
#[derive(Clone, Debug, Serialize)]
pub struct GraphReport {
    /// The graph; none is the default graph.
    pub graph: Option<String>,
    /// The dataset made of it.
    pub dataset: Option<DatasetId>,
    /// What became of it.
    pub outcome: GraphOutcome,
    /// Triples held.
    pub sampled: u64,
    /// Triples at the endpoint, if it tells.
    pub triples: Option<u64>,
    /// What it cost in this run.
    pub spent: Spent,
    /// Answers that earlier runs had kept.
    pub kept_answers: u64,
    /// Whether it had changed since an earlier run, so that all was asked anew.
    pub changed: bool,
    /// What is missing, and why.
    pub left_out: Vec<String>,
}

/// The report of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SurveyReport {
    /// The endpoint.
    pub endpoint: String,
    /// Every graph, in the order they were asked for.
    pub graphs: Vec<GraphReport>,
    /// What all cost.
    pub spent: Spent,
    /// What was left out of the endpoint as a whole.
    pub left_out: Vec<String>,
}

impl SurveyReport {
    /// Graphs of an outcome.
    #[must_use]
    pub fn count(&self, outcome: GraphOutcome) -> usize {
        self.graphs.iter().filter(|graph| graph.outcome == outcome).count()
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct SurveyProgress {
    /// Graphs done, of [`Self::graphs_total`].
    pub graphs: usize,
    /// All graphs; 0 while they are not known.
    pub graphs_total: usize,
    /// What it has cost.
    pub spent: Spent,
}

/// Surveys an endpoint.
pub struct Surveyor<'s> {
    client: &'s SparqlClient,
    endpoint: &'s NamedNode,
    folder: &'s Path,
    options: SurveyOptions,
}

impl<'s> Surveyor<'s> {
    /// Of an endpoint; answers are kept in `folder`.
    #[must_use]
    pub fn new(client: &'s SparqlClient, endpoint: &'s NamedNode, folder: &'s Path) -> Self {
        Self { client, endpoint, folder, options: SurveyOptions::default() }
    }

    /// With other options.
    #[must_use]
    pub fn with_options(self, options: SurveyOptions) -> Self {
        Self { options, ..self }
    }

    /// Surveys graphs, one after the other, and hands each over as soon as it is done. What is wrong with one graph is in
    /// its report and stops no other.
    pub fn run<E: From<SurveyError>>(
        &self,
        graphs: &Graphs,
        take: &mut dyn FnMut(Surveyed) -> Result<(), E>,
        on_progress: &dyn Fn(SurveyProgress),
    ) -> Result<SurveyReport, E> {
        let progress = std::cell::Cell::new(SurveyProgress::default());
        let on_request = |spent| {
            progress.set(SurveyProgress { spent, ..progress.get() });
            on_progress(progress.get());
        };
        let mut asker = Asker::new(self.client, self.endpoint, &self.options, &on_request);
        let mut report = SurveyReport { endpoint: self.endpoint.as_str().to_owned(), ..SurveyReport::default() };
        let graphs = self.graphs(&mut asker, graphs, &mut report)?;
        progress.set(SurveyProgress { graphs_total: graphs.len(), ..progress.get() });
        let mut ids = BTreeSet::new();
        for (place, graph) in graphs.iter().enumerate() {
            let mut task = Task::new(self, graph.as_ref(), asker.spent, asker.kept);
            let surveyed = task.survey(&mut asker, &mut ids)?;
            report.graphs.push(task.finish(&asker));
            if let Some(surveyed) = surveyed {
                take(surveyed)?;
            }
            progress.set(SurveyProgress { graphs: place + 1, ..progress.get() });
            on_progress(progress.get());
        }
        report.spent = asker.spent;
        Ok(report)
    }

    /// The graphs to survey, those first that no run has finished.
    fn graphs(
        &self,
        asker: &mut Asker<'_>,
        graphs: &Graphs,
        report: &mut SurveyReport,
    ) -> Result<Vec<Option<NamedNode>>, SurveyError> {
        let mut found: Vec<Option<NamedNode>> = match graphs {
            Graphs::Default => vec![None],
            Graphs::Named(names) => names.iter().cloned().map(Some).collect(),
            Graphs::All => {
                let (names, whole) = counts::graphs(asker, self.options.graphs).map_err(hopeless)?;
                if !whole {
                    report.left_out.push(format!("graphs after the first {}", names.len()));
                }
                if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() }
            }
        };
        found.sort_by_key(|graph| self.pages(graph.as_ref()).state().is_some_and(|state| state.finished));
        Ok(found)
    }

    fn pages(&self, graph: Option<&NamedNode>) -> Pages {
        Pages::of(self.folder, self.endpoint.as_str(), graph.map(NamedNode::as_str))
    }
}

fn hopeless(unanswered: Unanswered) -> SurveyError {
    match unanswered {
        Unanswered::Failed(error) => error.into(),
        Unanswered::Over(over) => SurveyError::Over(over),
        Unanswered::Broken(error) => error,
    }
}

/// The survey of one graph.
struct Task<'t> {
    surveyor: &'t Surveyor<'t>,
    graph: Option<&'t NamedNode>,
    pages: Pages,
    report: GraphReport,
    /// What the run had cost before, and the answers it had found kept.
    before: (Spent, u64),
}

impl<'t> Task<'t> {
    fn new(surveyor: &'t Surveyor<'t>, graph: Option<&'t NamedNode>, spent: Spent, kept: u64) -> Self {
        let report = GraphReport {
            graph: graph.map(|graph| graph.as_str().to_owned()),
            dataset: None,
            outcome: GraphOutcome::Unfinished,
            sampled: 0,
            triples: None,
            spent: Spent::default(),
            kept_answers: 0,
            changed: false,
            left_out: Vec::new(),
        };
        Self { surveyor, graph, pages: surveyor.pages(graph), report, before: (spent, kept) }
    }

    fn finish(mut self, asker: &Asker<'_>) -> GraphReport {
        let (spent, kept) = self.before;
        self.report.spent =
            Spent { requests: asker.spent.requests - spent.requests, bytes: asker.spent.bytes - spent.bytes };
        self.report.kept_answers = asker.kept - kept;
        self.report
    }

    /// The dataset; `None` where the run is over or nothing could be had, as the report tells.
    fn survey(
        &mut self,
        asker: &mut Asker<'_>,
        ids: &mut BTreeSet<DatasetId>,
    ) -> Result<Option<Surveyed>, SurveyError> {
        match self.try_survey(asker, ids) {
            Ok(surveyed) => Ok(surveyed),
            Err(Unanswered::Over(over)) => {
                self.report.left_out.push(over.to_string());
                Ok(None)
            }
            Err(Unanswered::Failed(error)) => {
                self.report.outcome = GraphOutcome::Failed;
                self.report.left_out.push(error.to_string());
                Ok(None)
            }
            Err(Unanswered::Broken(error)) => Err(error),
        }
    }

    fn try_survey(
        &mut self,
        asker: &mut Asker<'_>,
        ids: &mut BTreeSet<DatasetId>,
    ) -> Result<Option<Surveyed>, Unanswered> {
        if self.surveyor.options.kept == Kept::Forgotten {
            self.pages.clear()?;
        }
        let iri = self.graph.unwrap_or(self.surveyor.endpoint).as_str();
        let own_id = description::id_of(iri).ok_or_else(|| SurveyError::NoId(iri.to_owned()))?;
        let at_endpoint = match self.graph {
            Some(graph) => self.or_left_out("description", description::of_endpoint(asker, graph, &own_id))?.flatten(),
            None => None,
        };
        self.report.triples = self.or_left_out("count of triples", counts::triples(asker, self.graph))?.flatten();
        let state = self.begin(at_endpoint.as_ref())?;
        let in_graph = description::of_graph(asker, &self.pages, self.graph, &own_id);
        let in_graph = self.or_left_out("header", in_graph)?.flatten();
        let described = description::merged(at_endpoint, in_graph);

        let (classes, properties) = (self.list(asker, Listing::classes)?, self.list(asker, Listing::properties)?);
        let known = sample::Known {
            graph: self.graph,
            triples: self.report.triples,
            classes: &classes,
            properties: &properties,
            size: self.surveyor.options.sample_triples,
        };
        let sample = sample::take(asker, &self.pages, &known, &mut self.report.left_out)?;
        self.report.sampled = sample.graph.len() as u64;
        if sample.graph.is_empty() && self.report.triples != Some(0) {
            self.report.outcome = GraphOutcome::Failed;
            return Ok(None);
        }
        self.pages.mark(&State { finished: true, ..state })?;
        self.report.outcome = GraphOutcome::Surveyed;
        let metadata = self.metadata(described, own_id, ids)?;
        let remote = self.remote(sample.extent, &classes, &properties);
        let dataset = Dataset { remote: Some(remote), ..Dataset::new(metadata) };
        Ok(Some(Surveyed { dataset, graph: sample.graph }))
    }

    /// What a question gives; nothing, with a line in the report, where the endpoint fails at it.
    fn or_left_out<T>(&mut self, what: &str, answer: Result<T, Unanswered>) -> Result<Option<T>, Unanswered> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(Unanswered::Failed(error)) => {
                self.report.left_out.push(format!("{what}: {error}"));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// What is known of the graph: where the endpoint does not count today, what it counted before.
    fn begin(&mut self, described: Option<&Described>) -> Result<State, SurveyError> {
        let state = State {
            endpoint: self.surveyor.endpoint.as_str().to_owned(),
            graph: self.report.graph.clone(),
            triples: self.report.triples,
            modified: described.and_then(|described| described.metadata.modified.clone()),
            finished: false,
        };
        let (state, changed) = self.pages.begin(&state)?;
        (self.report.triples, self.report.changed) = (state.triples, changed);
        Ok(state)
    }

    fn list(
        &mut self,
        asker: &mut Asker<'_>,
        listing: fn(Option<&NamedNode>) -> Listing,
    ) -> Result<Partition, Unanswered> {
        let listed = self.surveyor.options.listed;
        listing(self.graph).ask(asker, &self.pages, listed, &mut self.report.left_out)
    }

    /// The metadata, with an id that no graph before has: the endpoint's, else one made of the graph's IRI.
    fn metadata(
        &mut self,
        described: Option<Described>,
        own_id: DatasetId,
        ids: &mut BTreeSet<DatasetId>,
    ) -> Result<Metadata, SurveyError> {
        let iri = self.graph.unwrap_or(self.surveyor.endpoint).as_str();
        let (identifier, metadata) = described.map_or((None, None), |read| (read.identifier, Some(read.metadata)));
        let prefixed = |id: &DatasetId| {
            let id = format!("{}{id}", self.surveyor.options.id_prefix);
            DatasetId::new(id.clone()).map_err(|_| SurveyError::NoId(id))
        };
        let mut id = prefixed(identifier.as_ref().unwrap_or(&own_id))?;
        if ids.contains(&id) {
            id = prefixed(&own_id)?;
        }
        ids.insert(id.clone());
        self.report.dataset = Some(id.clone());
        let mut metadata = Metadata { id: id.clone(), ..metadata.unwrap_or_else(|| Metadata::new(id)) };
        metadata.source = metadata.source.or_else(|| Some(iri.to_owned()));
        if metadata.titles.is_empty() {
            metadata.titles.push(description::title_of(iri));
        }
        Ok(metadata)
    }

    fn remote(&self, extent: Extent, classes: &Partition, properties: &Partition) -> RemoteContent {
        RemoteContent {
            endpoint: self.surveyor.endpoint.as_str().to_owned(),
            graph: self.report.graph.clone(),
            extent,
            triples: self.report.triples,
            classes: classes.counted(),
            properties: properties.counted(),
        }
    }
}
