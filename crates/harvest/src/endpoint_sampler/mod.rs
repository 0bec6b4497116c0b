//! Sampling of SPARQL endpoints: the graphs of an endpoint, their metadata, their counts, and a sample of each.
//!
//! A collection too large for this machine becomes searchable here, while its data stay in the remote engine.
//!
//! Each graph becomes a [`Dataset`] with [`RemoteContent`] and a [`TripleGraph`] that is stored as its content. Profile,
//! snippet and index documents are computed from that graph as from a dump.
//!
//! *Why store the sample as the local graph?* Queries, snippets on demand and pages then work as for any dataset. The
//! dataset is typed `lodeseek:SampledContent`; its graph and its VoID counts are those of the sample. `lodeseek:sampleOf`
//! links to the remote graph with the counts of the endpoint. A graph no larger than the sample is stored completely.
//!
//! *Resumption.* The next query depends on earlier responses only, and responses are cached on disk by query. A run that
//! was killed or exhausted its budget is therefore resumed by starting again. Two things are requested in every run: the
//! number of triples, and the description at the endpoint. If they show that a graph has changed, its cache is cleared.
//! Failures are not cached; the next run repeats these queries.
//!
//! *Budget and politeness.* One request at a time, with the pause of the client. Requests (retries included), bytes and
//! time are limited for each run. Graphs without a complete sample come first, so that small budgets make progress. A run
//! stops after two consecutive calls without a response.
//!
//! *Differences between engines.* Graphs are selected by `FROM`, which every engine supports. If an ordered query fails, it
//! is repeated without `ORDER BY`. If counting fails, names are requested without counts. The report lists for each graph
//! what is missing and why.
//!
//! *Blank nodes* are local to one response, so an entity and its description are requested together. A blank node in two
//! responses appears twice in the sample: redundant, but not wrong.

mod client;
mod counts;
mod description;
mod response_cache;
mod queries;
mod query;
mod sample;

use client::{QueryClient, QueryFailure};
use counts::{ListQueries, Partition};
use description::GraphDescription;
use lodeseek_catalog::{Dataset, DatasetId, Extent, Metadata, RemoteContent, disambiguate_id};
use lodeseek_net::sparql_client::{CallOptions, RemoteError, SparqlClient};
use lodeseek_rdf::TripleGraph;
use oxrdf::NamedNode;
use response_cache::{GraphState, ResponseCache};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Errors that abort a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// The response cache cannot be read or written.
    #[error("cannot access the response cache {path}: {cause}")]
    Io {
        /// Folder of the cache.
        path: PathBuf,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The egress policy blocks the endpoint, or the endpoint failed to list its graphs.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The run stopped before the graphs were listed.
    #[error("cannot list the graphs of the endpoint: {0}; run the command again to resume")]
    Stopped(StopReason),
    /// A dataset id cannot be derived from an IRI.
    #[error("cannot derive a dataset id from {0}")]
    NoId(String),
}

/// Reasons why a run stops before all graphs are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The budget of requests is exhausted; contains the limit.
    Requests(u64),
    /// The budget of bytes is exhausted; contains the limit.
    Bytes(u64),
    /// The time limit is reached.
    Time,
    /// The endpoint did not respond to two consecutive calls.
    Unresponsive,
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(most) => write!(formatter, "the budget of {most} requests is exhausted"),
            Self::Bytes(most) => write!(formatter, "the budget of {most} bytes is exhausted"),
            Self::Time => formatter.write_str("the time limit is reached"),
            Self::Unresponsive => formatter.write_str("the endpoint does not respond"),
        }
    }
}

/// Limits of one run. Its time is limited by the cancellation of [`SamplerOptions::call`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Maximum number of requests. Default 2,000.
    pub requests: u64,
    /// Maximum size of all responses in bytes. Default 1 GiB.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            requests: 2000,
            bytes: 1 << 30,
        }
    }
}

/// Requests and bytes used so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Usage {
    /// Number of requests, retries included.
    pub requests: u64,
    /// Size of all responses in bytes.
    pub bytes: u64,
}

/// Options of an [`EndpointSampler`].
#[derive(Clone, Debug)]
pub struct SamplerOptions {
    /// Maximum number of triples in a sample. Default 10,000.
    pub sample_triples: usize,
    /// Maximum number of classes, and of properties, listed for a graph. Default 2,000.
    pub listed: usize,
    /// Maximum number of graphs listed for an endpoint. Default 10,000.
    pub graphs: usize,
    /// Limits of the run.
    pub budget: Budget,
    /// Limits of one query. Default as in [`CallOptions`], but with 60 s, because counting is slow.
    pub call: CallOptions,
    /// Use of responses cached by earlier runs. Default [`CachePolicy::Reuse`].
    pub cache_policy: CachePolicy,
    /// Prefix of every dataset id. Default empty.
    pub id_prefix: String,
    /// Ids of the datasets of the home. A value is the IRI of the graph of this endpoint of which the dataset is a sample, or that of
    /// the endpoint for its default graph; `None` for datasets from elsewhere. No other graph gets the id. Default empty.
    pub existing_ids: BTreeMap<DatasetId, Option<String>>,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        Self {
            sample_triples: 10_000,
            listed: 2000,
            graphs: 10_000,
            budget: Budget::default(),
            call: CallOptions {
                time: Duration::from_secs(60),
                ..CallOptions::default()
            },
            cache_policy: CachePolicy::Reuse,
            id_prefix: String::new(),
            existing_ids: BTreeMap::new(),
        }
    }
}

/// Use of responses cached by earlier runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CachePolicy {
    /// Reuse cached responses unless the graph has changed.
    Reuse,
    /// Discard cached responses.
    Discard,
}

/// Selection of the graphs to sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GraphSelection {
    /// All named graphs; the default graph if there are none.
    All,
    /// The default graph.
    Default,
    /// The graphs with these names.
    Named(Vec<NamedNode>),
}

/// A dataset with the triples to store for it.
#[derive(Debug)]
pub struct SampledGraph {
    /// Metadata of the graph, with the counts of the endpoint.
    pub dataset: Dataset,
    /// The sample, or the complete graph if it is small enough.
    pub graph: TripleGraph,
}

/// Outcome of sampling one graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphOutcome {
    /// The graph was sampled. Serialized as `surveyed`, the name of earlier versions.
    #[serde(rename = "surveyed")]
    Sampled,
    /// The run stopped first; the next run resumes.
    Unfinished,
    /// The endpoint returned no triples.
    Failed,
}

/// Report on one graph.
#[derive(Clone, Debug, Serialize)]
pub struct GraphReport {
    /// IRI of the graph; `None` for the default graph.
    pub graph: Option<String>,
    /// Id of the dataset.
    pub dataset: Option<DatasetId>,
    /// Outcome.
    pub outcome: GraphOutcome,
    /// Number of triples in the sample.
    pub sampled: u64,
    /// Number of triples at the endpoint, if the endpoint counts them.
    pub triples: Option<u64>,
    /// Requests and bytes used for this graph in this run.
    pub spent: Usage,
    /// Number of queries answered from the response cache.
    pub kept_answers: u64,
    /// If true, the graph changed since an earlier run and its cache was cleared.
    pub changed: bool,
    /// Missing parts, each with the reason.
    pub left_out: Vec<String>,
}

/// Report on one run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SamplerReport {
    /// IRI of the endpoint.
    pub endpoint: String,
    /// Reports on all graphs, in the order of sampling.
    pub graphs: Vec<GraphReport>,
    /// Requests and bytes used in this run.
    pub spent: Usage,
    /// Missing parts of the endpoint as a whole.
    pub left_out: Vec<String>,
}

impl SamplerReport {
    /// Returns the number of graphs with an outcome.
    #[must_use]
    pub fn count(&self, outcome: GraphOutcome) -> usize {
        self.graphs
            .iter()
            .filter(|graph| graph.outcome == outcome)
            .count()
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamplerProgress {
    /// Number of completed graphs.
    pub graphs: usize,
    /// Number of all graphs; 0 until they are listed.
    pub graphs_total: usize,
    /// Requests and bytes used so far.
    pub spent: Usage,
}

/// Sampler of one SPARQL endpoint.
pub struct EndpointSampler<'s> {
    client: &'s SparqlClient,
    endpoint: &'s NamedNode,
    folder: &'s Path,
    options: SamplerOptions,
}

impl<'s> EndpointSampler<'s> {
    /// Creates a sampler with default options. Responses are cached below `folder`.
    #[must_use]
    pub fn new(client: &'s SparqlClient, endpoint: &'s NamedNode, folder: &'s Path) -> Self {
        Self {
            client,
            endpoint,
            folder,
            options: SamplerOptions::default(),
        }
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(self, options: SamplerOptions) -> Self {
        Self { options, ..self }
    }

    /// Samples graphs one after the other and passes each to `take` as soon as it is complete. A failure of one graph is
    /// recorded in its report and does not affect the others.
    ///
    /// # Errors
    ///
    /// If the graphs cannot be listed, the egress policy blocks the endpoint, the cache cannot be written, or `take` fails.
    pub fn run<E: From<SamplerError>>(
        &self,
        graphs: &GraphSelection,
        take: &mut dyn FnMut(SampledGraph) -> Result<(), E>,
        on_progress: &dyn Fn(SamplerProgress),
    ) -> Result<SamplerReport, E> {
        let progress = std::cell::Cell::new(SamplerProgress::default());
        let on_request = |spent| {
            progress.set(SamplerProgress {
                spent,
                ..progress.get()
            });
            on_progress(progress.get());
        };
        let mut client = QueryClient::new(self.client, self.endpoint, &self.options, &on_request);
        let mut report = SamplerReport {
            endpoint: self.endpoint.as_str().to_owned(),
            ..SamplerReport::default()
        };
        let graphs = self.graphs(&mut client, graphs, &mut report)?;
        progress.set(SamplerProgress {
            graphs_total: graphs.len(),
            ..progress.get()
        });
        let own_ids = description::ids_of(graphs.iter().map(|graph| self.iri(graph.as_ref())));
        let mut ids = self.options.existing_ids.clone();
        for (place, (graph, own_id)) in graphs.iter().zip(own_ids).enumerate() {
            let mut task = Task::new(self, graph.as_ref(), client.spent, client.cache_hits);
            let sampled = task.sample(&mut client, own_id, &mut ids)?;
            report.graphs.push(task.finish(&client));
            if let Some(sampled) = sampled {
                take(sampled)?;
            }
            progress.set(SamplerProgress {
                graphs: place + 1,
                ..progress.get()
            });
            on_progress(progress.get());
        }
        report.spent = client.spent;
        Ok(report)
    }

    /// Returns the distinct graphs to sample, those without a complete sample first.
    fn graphs(
        &self,
        client: &mut QueryClient<'_>,
        graphs: &GraphSelection,
        report: &mut SamplerReport,
    ) -> Result<Vec<Option<NamedNode>>, SamplerError> {
        let mut found: Vec<Option<NamedNode>> = match graphs {
            GraphSelection::Default => vec![None],
            GraphSelection::Named(names) => names.iter().cloned().map(Some).collect(),
            GraphSelection::All => {
                let (names, complete) = counts::fetch_graphs(client, self.options.graphs)
                    .map_err(into_sampler_error)?;
                if !complete {
                    report
                        .left_out
                        .push(format!("graphs after the first {}", names.len()));
                }
                if names.is_empty() {
                    vec![None]
                } else {
                    names.into_iter().map(Some).collect()
                }
            }
        };
        let mut seen = BTreeSet::new();
        found.retain(|graph| seen.insert(graph.as_ref().map(|graph| graph.as_str().to_owned())));
        found.sort_by_key(|graph| {
            self.cache(graph.as_ref())
                .state()
                .is_some_and(|state| state.finished)
        });
        Ok(found)
    }

    /// Returns the IRI of a graph; that of the endpoint for the default graph.
    fn iri<'g>(&'g self, graph: Option<&'g NamedNode>) -> &'g str {
        graph.unwrap_or(self.endpoint).as_str()
    }

    fn cache(&self, graph: Option<&NamedNode>) -> ResponseCache {
        ResponseCache::new(
            self.folder,
            self.endpoint.as_str(),
            graph.map(NamedNode::as_str),
        )
    }
}

fn into_sampler_error(failure: QueryFailure) -> SamplerError {
    match failure {
        QueryFailure::Remote(error) => error.into(),
        QueryFailure::Stopped(reason) => SamplerError::Stopped(reason),
        QueryFailure::Fatal(error) => error,
    }
}

/// Sampling of one graph.
struct Task<'t> {
    sampler: &'t EndpointSampler<'t>,
    graph: Option<&'t NamedNode>,
    cache: ResponseCache,
    report: GraphReport,
    /// Usage of the run before this graph.
    spent_before: Usage,
    /// Cache hits of the run before this graph.
    cache_hits_before: u64,
}

impl<'t> Task<'t> {
    fn new(
        sampler: &'t EndpointSampler<'t>,
        graph: Option<&'t NamedNode>,
        spent_before: Usage,
        cache_hits_before: u64,
    ) -> Self {
        let report = GraphReport {
            graph: graph.map(|graph| graph.as_str().to_owned()),
            dataset: None,
            outcome: GraphOutcome::Unfinished,
            sampled: 0,
            triples: None,
            spent: Usage::default(),
            kept_answers: 0,
            changed: false,
            left_out: Vec::new(),
        };
        Self {
            sampler,
            graph,
            cache: sampler.cache(graph),
            report,
            spent_before,
            cache_hits_before,
        }
    }

    fn finish(mut self, client: &QueryClient<'_>) -> GraphReport {
        self.report.spent = Usage {
            requests: client.spent.requests - self.spent_before.requests,
            bytes: client.spent.bytes - self.spent_before.bytes,
        };
        self.report.kept_answers = client.cache_hits - self.cache_hits_before;
        self.report
    }

    /// Returns the dataset; `None` if the run stopped or the endpoint failed. The report gives the reason.
    fn sample(
        &mut self,
        client: &mut QueryClient<'_>,
        own_id: Option<DatasetId>,
        ids: &mut BTreeMap<DatasetId, Option<String>>,
    ) -> Result<Option<SampledGraph>, SamplerError> {
        let Some(own_id) = own_id else {
            self.report.outcome = GraphOutcome::Failed;
            self.report
                .left_out
                .push(SamplerError::NoId(self.sampler.iri(self.graph).to_owned()).to_string());
            return Ok(None);
        };
        match self.try_sample(client, own_id, ids) {
            Ok(sampled) => Ok(sampled),
            Err(QueryFailure::Stopped(reason)) => {
                self.report.left_out.push(reason.to_string());
                Ok(None)
            }
            Err(QueryFailure::Remote(error)) => {
                self.report.outcome = GraphOutcome::Failed;
                self.report.left_out.push(error.to_string());
                Ok(None)
            }
            Err(QueryFailure::Fatal(error)) => Err(error),
        }
    }

    fn try_sample(
        &mut self,
        client: &mut QueryClient<'_>,
        own_id: DatasetId,
        ids: &mut BTreeMap<DatasetId, Option<String>>,
    ) -> Result<Option<SampledGraph>, QueryFailure> {
        if self.sampler.options.cache_policy == CachePolicy::Discard {
            self.cache.clear()?;
        }
        let at_endpoint = match self.graph {
            Some(graph) => self
                .optional(
                    "description",
                    description::from_endpoint(client, graph, &own_id),
                )?
                .flatten(),
            None => None,
        };
        self.report.triples = self
            .optional(
                "count of triples",
                counts::count_triples(client, self.graph),
            )?
            .flatten();
        let state = self.begin(at_endpoint.as_ref())?;
        let in_graph = description::from_graph(client, &self.cache, self.graph, &own_id);
        let in_graph = self.optional("header", in_graph)?.flatten();
        let described = description::merge_descriptions(at_endpoint, in_graph);

        let (classes, properties) = (
            self.list(client, ListQueries::classes)?,
            self.list(client, ListQueries::properties)?,
        );
        let summary = sample::GraphSummary {
            graph: self.graph,
            triples: self.report.triples,
            classes: &classes,
            properties: &properties,
            size: self.sampler.options.sample_triples,
        };
        let sample = sample::build(client, &self.cache, &summary, &mut self.report.left_out)?;
        self.report.sampled = sample.graph.len() as u64;
        // An empty graph is a sample only if the endpoint counts no triples.
        if sample.graph.is_empty() && self.report.triples != Some(0) {
            self.report.outcome = GraphOutcome::Failed;
            return Ok(None);
        }
        // Only now: an interrupted run leaves an unfinished state, and comes first the next time.
        self.cache.write_state(&GraphState {
            finished: true,
            ..state
        })?;
        self.report.outcome = GraphOutcome::Sampled;
        let metadata = self.metadata(described, own_id, ids)?;
        let remote = self.remote(sample.extent, &classes, &properties);
        let dataset = Dataset {
            remote: Some(remote),
            ..Dataset::new(metadata)
        };
        Ok(Some(SampledGraph {
            dataset,
            graph: sample.graph,
        }))
    }

    /// Returns the result of a query; `None`, with a line in the report, if the endpoint failed.
    fn optional<T>(
        &mut self,
        what: &str,
        result: Result<T, QueryFailure>,
    ) -> Result<Option<T>, QueryFailure> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(QueryFailure::Remote(error)) => {
                self.report.left_out.push(format!("{what}: {error}"));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Returns the state of the graph. If the endpoint no longer counts triples, the earlier count is kept.
    fn begin(&mut self, described: Option<&GraphDescription>) -> Result<GraphState, SamplerError> {
        let state = GraphState {
            endpoint: self.sampler.endpoint.as_str().to_owned(),
            graph: self.report.graph.clone(),
            triples: self.report.triples,
            modified: described.and_then(|described| described.metadata.modified.clone()),
            finished: false,
        };
        let (state, changed) = self.cache.begin(&state)?;
        (self.report.triples, self.report.changed) = (state.triples, changed);
        Ok(state)
    }

    fn list(
        &mut self,
        client: &mut QueryClient<'_>,
        listing: fn(Option<&NamedNode>) -> ListQueries,
    ) -> Result<Partition, QueryFailure> {
        let listed = self.sampler.options.listed;
        listing(self.graph).fetch(client, &self.cache, listed, &mut self.report.left_out)
    }

    /// Returns the metadata with an id that nothing else has, in this run and in the home. The candidates are the identifier that the
    /// endpoint gives, an id derived from the graph's IRI, and this id with a hash of the IRI.
    fn metadata(
        &mut self,
        described: Option<GraphDescription>,
        own_id: DatasetId,
        ids: &mut BTreeMap<DatasetId, Option<String>>,
    ) -> Result<Metadata, SamplerError> {
        let iri = self.sampler.iri(self.graph);
        let (identifier, metadata) = match described {
            Some(description) => (description.identifier, Some(description.metadata)),
            None => (None, None),
        };
        let mut id = self.prefixed_id(identifier.as_ref().unwrap_or(&own_id))?;
        if is_taken(ids, &id, iri) {
            id = self.prefixed_id(&own_id)?;
        }
        if is_taken(ids, &id, iri) {
            let other = disambiguate_id(&id, iri).filter(|id| !is_taken(ids, id, iri));
            id = other.ok_or_else(|| SamplerError::NoId(iri.to_owned()))?;
        }
        ids.insert(id.clone(), Some(iri.to_owned()));
        self.report.dataset = Some(id.clone());
        let mut metadata = Metadata {
            id: id.clone(),
            ..metadata.unwrap_or_else(|| Metadata::new(id))
        };
        metadata.source = metadata.source.or_else(|| Some(iri.to_owned()));
        if metadata.titles.is_empty() {
            metadata.titles.push(description::title_of(iri));
        }
        Ok(metadata)
    }

    fn prefixed_id(&self, id: &DatasetId) -> Result<DatasetId, SamplerError> {
        let id = format!("{}{id}", self.sampler.options.id_prefix);
        DatasetId::new(id.clone()).map_err(|_| SamplerError::NoId(id))
    }

    fn remote(&self, extent: Extent, classes: &Partition, properties: &Partition) -> RemoteContent {
        RemoteContent {
            endpoint: self.sampler.endpoint.as_str().to_owned(),
            graph: self.report.graph.clone(),
            extent,
            triples: self.report.triples,
            classes: classes.named_counts(),
            properties: properties.named_counts(),
        }
    }
}

/// Returns true if a dataset other than that of the graph with this IRI has the id.
fn is_taken(ids: &BTreeMap<DatasetId, Option<String>>, id: &DatasetId, graph: &str) -> bool {
    ids.get(id)
        .is_some_and(|owner| owner.as_deref() != Some(graph))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_net::egress::Egress;
    use lodeseek_net::sparql_client::ClientOptions;
    use std::sync::Arc;

    fn id(text: &str) -> DatasetId {
        DatasetId::new(text).expect("an id")
    }

    /// Returns the id of the graph `http://e.org/g`, to which the endpoint gives the identifier `museum`, in a home with some
    /// datasets and their graphs.
    fn id_in_home(existing: &[(&str, Option<&str>)]) -> Result<String, SamplerError> {
        let client = SparqlClient::new(Arc::new(Egress::default()), ClientOptions::default());
        let endpoint = NamedNode::new_unchecked("http://e.org/sparql");
        let graph = NamedNode::new_unchecked("http://e.org/g");
        let sampler = EndpointSampler::new(&client, &endpoint, Path::new("remote"));
        let mut ids = existing
            .iter()
            .map(|(taken, graph)| (id(taken), graph.map(str::to_owned)))
            .collect();
        let described = GraphDescription {
            metadata: Metadata::new(id("museum")),
            identifier: Some(id("museum")),
        };
        let mut task = Task::new(&sampler, Some(&graph), Usage::default(), 0);
        Ok(task
            .metadata(Some(described), id("e.org/g"), &mut ids)?
            .id
            .to_string())
    }

    #[test]
    fn an_identifier_of_the_endpoint_replaces_no_other_dataset_of_the_home() {
        let named = |existing: &[(&str, Option<&str>)]| id_in_home(existing).expect("an id");
        assert_eq!(named(&[("trees", None)]), "museum");
        assert_eq!(
            named(&[("museum", Some("http://e.org/g"))]),
            "museum",
            "from an earlier run"
        );
        assert_eq!(named(&[("museum", None)]), "e.org/g");
        assert_eq!(named(&[("museum", Some("http://e.org/other"))]), "e.org/g");
        let (museum, derived) = (("museum", None), ("e.org/g", None));
        let hashed = named(&[museum, derived]);
        assert!(hashed.starts_with("e.org/g-"), "{hashed}");
        assert_eq!(
            named(&[museum, derived, (hashed.as_str(), Some("http://e.org/g"))]),
            hashed
        );
        let none_left = id_in_home(&[museum, derived, (hashed.as_str(), None)]);
        assert!(
            matches!(none_left, Err(SamplerError::NoId(_))),
            "{none_left:?}"
        );
    }
}
