//! A need in words to ranked, explained datasets.

use super::content::{Content, Contents};
use super::dense::{Among, Dense};
use super::duplicates::{self, Other, OtherEdition, Related, Shown};
use super::rerank::Reranked;
use super::similar::KeptLengths;
use super::snippets::{self, DatasetSnippet, SnippetTriple, is_match, label_all, mark};
use super::spelling::respelled;
use super::{
    Card, Components, DenseMatch, EngineError, Evidence, FacetCounts, Filter, NumericFacts, QueryTerms, RerankSummary,
    Reranker, SnippetRequest, encoding, evidence, index_folder, make_snippet,
};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::duplicates::Duplicates;
use lodeseek_catalog::editions;
use lodeseek_index::document::{CompactDocument, Field};
use lodeseek_index::sparse::{
    Explanation, FieldWeights, LengthMode, ModelKind, ScoreParts, RankedDocs, SparseModel, rank_selected,
};
use lodeseek_index::{
    Analysis, AnalysisKind, AnalyzedQuery, CollectionStatistics, DocumentAddress, DocumentStatistics, Index,
    IndexError, FilteredDocs, Snapshot, TermStatistics, StatisticsLevel,
};
use lodeseek_ranking::Ranking;
use lodeseek_rdf::Triple;
use lodeseek_rerank::Granularity;
use lodeseek_snippet::keyword::Matches;
use lodeseek_snippet::{Deadline, Method, MethodError, MethodOptions, TripleBudget};
use lodeseek_store::{self as store, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Which snippet a hit shows.
///
/// ```
/// use lodeseek_engine::SnippetKind;
/// use lodeseek_snippet::Method;
/// assert_eq!("stored".parse(), Ok(SnippetKind::Stored));
/// assert_eq!("query".parse(), Ok(SnippetKind::QUERY));
/// assert_eq!("cover".parse(), Ok(SnippetKind::Made(Method::Cover)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum SnippetKind {
    /// The one made when the dataset was indexed.
    #[default]
    Stored,
    /// One made now, for the query where the method takes one: it reads the dataset's graph.
    Made(Method),
}

impl SnippetKind {
    /// The one made for the query by the method that serves most.
    pub const QUERY: Self = Self::Made(Method::Optimal);
}

impl FromStr for SnippetKind {
    type Err = MethodError;

    fn from_str(name: &str) -> Result<Self, MethodError> {
        match name {
            "stored" => Ok(Self::Stored),
            "query" => Ok(Self::QUERY),
            method => method.parse().map(Self::Made),
        }
    }
}

impl TryFrom<String> for SnippetKind {
    type Error = MethodError;

    fn try_from(name: String) -> Result<Self, MethodError> {
        name.parse()
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The need, in words.
    pub query: String,
    /// Hits wanted.
    pub depth: usize,
    /// Hits left out at the top, for paging.
    pub skip: usize,
    /// Whether scores are explained and the triples that matched are looked up.
    pub explain: bool,
    /// The model, where not the searcher's own: then that model alone, without a reranker.
    pub model: Option<ModelKind>,
    /// Which snippet is shown.
    pub snippet: SnippetKind,
    /// The languages of labels, best first; what has none of them has English ones, or any.
    pub languages: Vec<String>,
    /// Which datasets may be found. It changes no score.
    pub filter: Filter,
    /// Whether what is found is counted by year and facet, and how many values of each facet are wanted.
    pub facets: Option<usize>,
    /// Whether datasets that are one are shown as one. Totals and counts are of all of them either way.
    pub duplicates: Shown,
}

impl SearchRequest {
    /// The ten best for a query.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            depth: 10,
            skip: 0,
            explain: false,
            model: None,
            snippet: SnippetKind::default(),
            languages: vec!["en".to_owned()],
            filter: Filter::default(),
            facets: None,
            duplicates: Shown::All,
        }
    }
}

/// A field in which a dataset matched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldMatch {
    /// The field.
    pub field: Field,
    /// Its part of the score; see [`ScoreParts::shares`](lodeseek_index::sparse::ScoreParts::shares).
    pub score: f64,
    /// The query's words found in it, as typed, in lower case.
    pub terms: Vec<String>,
}

/// One result.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// From 1.
    pub rank: usize,
    /// The score; nothing behind the candidates of a reranker, where nothing compares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What is shown of the dataset.
    #[serde(skip)]
    pub card: Card,
    /// Where it matched, the most telling field first.
    pub fields: Vec<FieldMatch>,
    /// How its vectors were scored, by each encoder that made some of it, where it was ranked again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dense: Vec<DenseMatch>,
    /// What popularity added to the score, where it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popularity: Option<f64>,
    /// Its snippet, with the query's terms marked.
    pub snippet: Vec<SnippetTriple>,
    /// The score as a tree, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The triples that hold the query's terms, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The same dataset under other ids, where it is shown once: at most [`OTHERS`](super::OTHERS).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<Other>,
}

impl Hit {
    /// Whether it has none of the query's words, and every encoder takes it for the closest there is, hardly for what was
    /// asked for.
    #[must_use]
    pub fn is_closest(&self) -> bool {
        self.fields.is_empty() && !self.dense.is_empty() && self.dense.iter().all(|dense| dense.closest)
    }
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResponse {
    /// The name of the model that ranked.
    pub model: &'static str,
    /// The query's words that are searched for, each once, as typed, in lower case.
    pub terms: Vec<String>,
    /// The same with the tokens they stand for.
    #[serde(skip)]
    query: AnalyzedQuery,
    /// Datasets with at least one of the terms, of those that pass the filter.
    pub with_words: usize,
    /// Datasets ranked: those with a word, and those that only vectors found.
    pub total: usize,
    /// Whether nothing was found: no dataset has a word, and none is near enough for an encoder with a floor.
    pub only_closest: bool,
    /// The query as it may have been meant, where a word of it is in hardly any dataset, and one that is written nearly so
    /// in more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What was ranked again, where an encoder did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<RerankSummary>,
    /// What is found, by year and facet, where it was asked for: the datasets with a word, and those that only vectors
    /// found. Each facet counts what passes all of the filter but its own values, so that the counts say what another
    /// choice would find; but vectors seek among what passes the whole filter alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetCounts>,
    /// The hits asked for.
    pub hits: Vec<Hit>,
}

/// Triples shown as evidence for one hit.
const EVIDENCE: usize = 5;
/// Editions of a dataset that are read: of more, no order is told.
const EDITIONS: usize = 100;
/// Other ids of a dataset named with a hit.
pub const OTHERS: usize = 10;
/// The share of a method's work bound that one of a page of snippets may take.
const PAGE_SHARE: u64 = 10;

/// Searches the index of a home; needs nothing but its files.
pub struct Searcher {
    home: PathBuf,
    index: Index,
    model: Box<dyn SparseModel>,
    contents: Contents,
    reranker: Option<Reranker>,
    duplicates: duplicates::Kept,
    lengths: KeptLengths,
}

impl Searcher {
    /// Opens the index of a home, with fielded BM25.
    pub fn open(home: &Path) -> Result<Self, EngineError> {
        let index = Index::open(&index_folder(home)).map_err(|error| match error {
            // "There is no index" would send people to `index`, which would send them to `load`.
            IndexError::Missing(_) if !store::is_home(home) => StoreError::NoHome { home: home.to_owned() }.into(),
            other => EngineError::from(other),
        })?;
        Ok(Self {
            home: home.to_owned(),
            index,
            model: ModelKind::default().model(LengthMode::Exact),
            contents: Contents::new(0),
            reranker: None,
            duplicates: duplicates::Kept::default(),
            lengths: KeptLengths::default(),
        })
    }

    /// With another model.
    #[must_use]
    pub fn with_model(self, model: Box<dyn SparseModel>) -> Self {
        Self { model, ..self }
    }

    /// Keeping the graphs last read, up to about this many bytes. None are kept unless asked for.
    #[must_use]
    pub fn with_kept_content(self, bytes: usize) -> Self {
        Self { contents: Contents::new(bytes), ..self }
    }

    /// With candidates ranked again by an encoder's vectors. Datasets beyond the pool of candidates are then not ranked.
    #[must_use]
    pub fn with_reranker(self, reranker: Reranker) -> Self {
        Self { reranker: Some(reranker), ..self }
    }

    /// Sees what was committed to the index until now, and makes what the next search would else wait for. Without it a
    /// commit is seen within half a second.
    pub fn refresh(&self) -> Result<(), EngineError> {
        self.index.refresh()?;
        self.index.snapshot()?;
        Ok(())
    }

    /// Brings the vectors of the reranker's encoders up to date with the index. How many datasets were encoded.
    pub fn encode(&self) -> Result<usize, EngineError> {
        self.reranker.as_ref().map_or(Ok(0), |reranker| reranker.encode(&self.home))
    }

    /// Whether candidates are ranked again.
    #[must_use]
    pub fn has_reranker(&self) -> bool {
        self.reranker.is_some()
    }

    /// The name of the model.
    #[must_use]
    pub fn model_name(&self) -> &'static str {
        self.model.name()
    }

    /// The ranking alone.
    pub fn rank(&self, query: &str, depth: usize) -> Result<Ranking, EngineError> {
        self.rank_filtered(query, &Filter::default(), depth)
    }

    /// The ranking of the datasets that pass a filter.
    pub fn rank_filtered(&self, query: &str, filter: &Filter, depth: usize) -> Result<Ranking, EngineError> {
        let snapshot = self.index.snapshot()?;
        let passing = snapshot.filtered_docs(filter)?;
        let among = Among { snapshot: &snapshot, passing: passing.as_ref() };
        let analyzed = AnalyzedQuery::new(query, snapshot.analysis());
        match self.reranked(query, &analyzed, self.model.as_ref(), among)? {
            Some(reranked) => Ok(reranked.ranking.cut(depth)),
            None => Ok(ranked(self.model.as_ref(), &analyzed, among, depth)?.ranking),
        }
    }

    /// Every dataset found, best first, and how many of the scores compare: behind the candidates of a reranker those with a
    /// word that were not among them. Nothing is found where no dataset has a word and none is near enough.
    pub fn found(&self, query: &str) -> Result<(Ranking, usize), EngineError> {
        let snapshot = self.index.snapshot()?;
        let among = Among { snapshot: &snapshot, passing: None };
        let analyzed = AnalyzedQuery::new(query, snapshot.analysis());
        let by_words = ranked(self.model.as_ref(), &analyzed, among, snapshot.len() as usize)?.ranking;
        Ok(match self.reranked(query, &analyzed, self.model.as_ref(), among)? {
            Some(reranked) if by_words.is_empty() && reranked.is_closest() => (Ranking::default(), 0),
            Some(reranked) => {
                let compared = reranked.ranking.len();
                (reranked.ranking.followed_by(&by_words), compared)
            }
            None => {
                let compared = by_words.len();
                (by_words, compared)
            }
        })
    }

    /// The fields of some datasets that hold words of a query, the most telling first; none of a dataset that is gone.
    pub fn matched(&self, query: &str, ids: &[DatasetId]) -> Result<Vec<Vec<FieldMatch>>, EngineError> {
        let snapshot = self.index.snapshot()?;
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        let model = self.model.as_ref();
        let collection = snapshot.collection_statistics(&query, &model.fields(), model.statistics_level())?;
        let mut matched = vec![Vec::new(); ids.len()];
        for (matched, id) in matched.iter_mut().zip(ids) {
            let Some(address) = snapshot.address(id)? else { continue };
            for document in snapshot.document_statistics(&query, &model.fields(), &[address], model.statistics_level())? {
                *matched = matched_fields(model, &query, &document, &collection);
            }
        }
        Ok(matched)
    }

    /// The ranking by the searcher's model alone.
    pub(super) fn by_model(&self, query: &str, depth: usize) -> Result<Ranking, EngineError> {
        let snapshot = self.index.snapshot()?;
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        let among = Among { snapshot: &snapshot, passing: None };
        Ok(ranked(self.model.as_ref(), &query, among, depth)?.ranking)
    }

    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>, EngineError> {
        Ok(self.index.snapshot()?)
    }

    pub(super) fn folding(&self) -> Result<Arc<duplicates::Folding>, EngineError> {
        self.duplicates.read(&self.home)
    }

    /// What is folded where datasets are shown so.
    pub(super) fn folding_of(&self, shown: Shown) -> Result<Arc<duplicates::Folding>, EngineError> {
        match shown {
            Shown::All => Ok(Arc::default()),
            Shown::Once => self.folding(),
        }
    }

    pub(super) fn lengths(&self) -> &KeptLengths {
        &self.lengths
    }

    /// The encoder with one vector a text, compared by cosine, where there is one.
    pub(super) fn of_texts(&self) -> Option<&Dense> {
        self.reranker.as_ref().and_then(Reranker::of_texts)
    }

    /// The pool of candidates ranked again, where there is a reranker.
    fn reranked(
        &self,
        text: &str,
        query: &AnalyzedQuery,
        model: &dyn SparseModel,
        among: Among<'_>,
    ) -> Result<Option<Reranked>, EngineError> {
        let Some(reranker) = &self.reranker else { return Ok(None) };
        reranker.rank(text, &self.sparse(reranker, query, model, among)?, among).map(Some)
    }

    /// The rankings that the reranker fuses for a query: what tuning weighs. `None` where there is no reranker.
    pub fn components(&self, query: &str) -> Result<Option<Components>, EngineError> {
        self.components_filtered(query, &Filter::default())
    }

    /// The same among the datasets that pass a filter.
    pub fn components_filtered(&self, query: &str, filter: &Filter) -> Result<Option<Components>, EngineError> {
        let Some(reranker) = &self.reranker else { return Ok(None) };
        let snapshot = self.index.snapshot()?;
        let passing = snapshot.filtered_docs(filter)?;
        let among = Among { snapshot: &snapshot, passing: passing.as_ref() };
        let analyzed = AnalyzedQuery::new(query, snapshot.analysis());
        let sparse = self.sparse(reranker, &analyzed, self.model.as_ref(), among)?;
        reranker.components(query, &sparse, among).map(Some)
    }

    /// The rankings by the models of a reranker's pool.
    fn sparse(
        &self,
        reranker: &Reranker,
        query: &AnalyzedQuery,
        model: &dyn SparseModel,
        among: Among<'_>,
    ) -> Result<Vec<Ranking>, EngineError> {
        let depth = reranker.sparse_depth();
        let mut rankings = Vec::with_capacity(reranker.options().pool.len().max(1));
        for kind in &reranker.options().pool {
            rankings.push(ranked(kind.model(LengthMode::Exact).as_ref(), query, among, depth)?.ranking);
        }
        if reranker.options().pool.is_empty() {
            rankings.push(ranked(model, query, among, depth)?.ranking);
        }
        Ok(rankings)
    }

    /// The best `depth` datasets for a query with every field weighted 1, or those that the model scores anew, with the
    /// parts of their scores: what tuning turns.
    pub fn pool(&self, query: &str, depth: usize) -> Result<Vec<(DatasetId, ScoreParts)>, EngineError> {
        self.pool_filtered(query, &Filter::default(), depth)
    }

    /// The same among the datasets that pass a filter.
    pub fn pool_filtered(
        &self,
        query: &str,
        filter: &Filter,
        depth: usize,
    ) -> Result<Vec<(DatasetId, ScoreParts)>, EngineError> {
        let snapshot = self.index.snapshot()?;
        let passing = snapshot.filtered_docs(filter)?;
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        let fields = self.model.weights().fields().fold([0.0; 8], |mut weights, field| {
            weights[field.index()] = 1.0;
            weights
        });
        let uniform = self.model.with_weights(FieldWeights(fields));
        let among = Among { snapshot: &snapshot, passing: passing.as_ref() };
        let ranked = ranked(uniform.as_ref(), &query, among, depth)?;
        let ids: Vec<&DatasetId> = ranked.ranking.iter().map(|scored| &scored.id).collect();
        let addresses: Vec<_> = ids.iter().filter_map(|id| ranked.address(id)).collect();
        let counts = snapshot.document_statistics(&query, &uniform.fields(), &addresses, uniform.statistics_level())?;
        let parts = counts.iter().map(|document| uniform.parts(&query, document, &ranked.collection));
        Ok(ids.into_iter().cloned().zip(parts).collect())
    }

    /// The answer to a request.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
        let snapshot = self.index.snapshot()?;
        let analysis = snapshot.analysis();
        let query = AnalyzedQuery::new(&request.query, analysis);
        let asked = request.model.map(|kind| kind.model(LengthMode::Exact));
        let model = asked.as_ref().unwrap_or(&self.model).as_ref();
        let passing = snapshot.filtered_docs(&request.filter)?;
        let among = Among { snapshot: &snapshot, passing: passing.as_ref() };
        let mut counting = request.facets.map(|_| snapshot.facet_counter(among.passing)).transpose()?;
        let folding = self.folding_of(request.duplicates)?;
        let depth = request.skip.saturating_add(request.depth).saturating_add(folding.surplus);
        let ranked = match &mut counting {
            Some(counting) => rank_selected(model, &query, &snapshot, depth, counting)?,
            None => ranked(model, &query, among, depth)?,
        };
        let reranked = match request.model {
            Some(_) => None,
            None => self.reranked(&request.query, &query, model, among)?,
        };
        let ranking = match &reranked {
            Some(reranked) => &reranked.ranking.clone().followed_by(&ranked.ranking),
            None => &ranked.ranking,
        };
        let (mut page, mut addresses) = (Vec::new(), Vec::new());
        let mut is_first = folding.first_seen();
        let shown_once = ranking.iter().enumerate().filter(|(_, scored)| is_first(&scored.id)).enumerate();
        for (rank, (place, scored)) in shown_once.skip(request.skip).take(request.depth) {
            // Vectors of a dataset may outlast it until the next encoding: it is not shown.
            if let Some(address) =
                ranked.address(&scored.id).map_or_else(|| snapshot.address(&scored.id), |at| Ok(Some(at)))?
            {
                page.push((rank + 1, place, scored));
                addresses.push(address);
            }
        }
        let counts = snapshot.document_statistics(&query, &model.fields(), &addresses, model.statistics_level())?;
        let shown =
            if request.explain { snapshot.without_absent_tokens(&query, &model.fields())? } else { AnalyzedQuery::default() };
        let mut hits = Vec::with_capacity(page.len());
        for ((rank, place, scored), document) in page.into_iter().zip(&counts) {
            let Some(card) = snapshot.card(&scored.id)? else { continue };
            let card: Card = serde_json::from_slice(&card)?;
            let snippet = card.snippet_in(&request.languages);
            let compared = reranked.as_ref().is_none_or(|reranked| place < reranked.ranking.len());
            let mut hit = Hit {
                rank,
                score: compared.then_some(scored.score),
                card,
                fields: matched_fields(model, &query, document, &ranked.collection),
                dense: reranked.as_ref().map(|reranked| reranked.dense_of(&scored.id)).unwrap_or_default(),
                popularity: match (&reranked, &self.reranker) {
                    (Some(_), Some(reranker)) if compared => reranker.popularity_of(&scored.id, &snapshot)?,
                    _ => None,
                },
                snippet: snippet.iter().map(|triple| mark(triple, &query, analysis)).collect(),
                explanation: request.explain.then(|| model.explain(&shown, document, &ranked.collection)),
                evidence: Vec::new(),
                duplicates: others(folding.others(&scored.id), &snapshot)?,
            };
            self.name_parts(&mut hit, request, &snapshot)?;
            self.read_graph(&mut hit, request, &query, &ranked.collection, analysis);
            hits.push(hit);
        }
        let with_words = ranked.total;
        let wordless = match &reranked {
            Some(reranked) => wordless(&reranked.ranking, &query, model, &snapshot)?,
            None => Vec::new(),
        };
        let total = with_words + wordless.len();
        let facets = counting.zip(request.facets).map(|(mut counting, most)| {
            wordless.into_iter().for_each(|address| counting.add(address));
            counting.finish(&request.filter, most)
        });
        let only_closest = with_words == 0 && reranked.as_ref().is_some_and(Reranked::is_closest);
        let rerank = reranked.map(|reranked| reranked.summary);
        let model = model.name();
        let (terms, suggestion) = (query.texts(), respelled(&request.query, &query, &snapshot)?);
        Ok(SearchResponse { model, terms, query, with_words, total, only_closest, suggestion, rerank, facets, hits })
    }

    /// Names the parts that carried the scores by vectors: where explanations were asked for; and where a hit has none of
    /// the query's words, by the encoder that can tell without running its model again.
    fn name_parts(&self, hit: &mut Hit, request: &SearchRequest, snapshot: &Snapshot) -> Result<(), EngineError> {
        let Some(reranker) = &self.reranker else { return Ok(()) };
        let wordless = hit.fields.is_empty();
        for dense in &mut hit.dense {
            if request.explain || wordless && dense.granularity == Granularity::Piece {
                dense.parts = reranker.explain(&request.query, &hit.card.metadata.id, dense, snapshot)?;
            }
        }
        Ok(())
    }

    /// Looks up what the request wants of the graph itself. Where the graph's file is gone meanwhile, the answer is
    /// without it and the log says why.
    fn read_graph(
        &self,
        hit: &mut Hit,
        request: &SearchRequest,
        query: &AnalyzedQuery,
        collection: &CollectionStatistics,
        analysis: &Analysis,
    ) {
        let made = match request.snippet {
            SnippetKind::Made(method) => Some(method),
            SnippetKind::Stored => None,
        };
        if !request.explain && made.is_none() {
            return;
        }
        let content = match self.contents.read(&self.home, &hit.card.version) {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!(dataset = %hit.card.metadata.id, %error, "no evidence: the graph cannot be read");
                return;
            }
        };
        let (graph, languages) = (content.graph(), &request.languages);
        let matches = QueryTerms::new(&query.distinct, analysis).matches(graph);
        if request.explain {
            hit.evidence = evidence::find(graph, languages, &matches, &query.texts(), &telling(collection), EVIDENCE);
        }
        if let Some(method) = made {
            let triples = label_all(graph, &chosen(&content, method, &matches), languages);
            hit.snippet = triples.iter().map(|triple| mark(triple, query, analysis)).collect();
        }
    }

    /// A snippet of a dataset, made now; `None` where there is no such dataset.
    pub fn snippet(
        &self,
        id: &DatasetId,
        request: &SnippetRequest,
        deadline: Deadline<'_>,
    ) -> Result<Option<DatasetSnippet>, EngineError> {
        let Some(card) = self.card(id)? else { return Ok(None) };
        let content = self.contents.read(&self.home, &card.version)?;
        let made = make_snippet(&content, self.index.snapshot()?.analysis(), request, deadline)?;
        Ok(Some(DatasetSnippet { card, content, made }))
    }

    /// Whether a word of a text is one of the words answered, or a form of one in some language: for highlighting.
    #[must_use]
    pub fn is_match(&self, word: &str, response: &SearchResponse) -> bool {
        let Ok(snapshot) = self.index.snapshot() else { return false };
        is_match(&response.query, snapshot.analysis(), word)
    }

    /// What numbers are known of a dataset: its year, and how popular it is. `None` where there is no such dataset. Reads
    /// no card: fit for every candidate of a query.
    pub fn numbers(&self, id: &DatasetId) -> Result<Option<NumericFacts>, EngineError> {
        Ok(self.index.snapshot()?.numeric_facts(id)?)
    }

    /// The ids of all datasets, in order.
    pub fn ids(&self) -> Result<Vec<DatasetId>, EngineError> {
        Ok(self.index.snapshot()?.versions()?.into_keys().collect())
    }

    /// The card of a dataset.
    pub fn card(&self, id: &DatasetId) -> Result<Option<Card>, EngineError> {
        let card = self.index.snapshot()?.card(id)?;
        Ok(card.map(|card| serde_json::from_slice(&card)).transpose()?)
    }

    /// The texts of a dataset that encoders read. `None` where there is no such dataset.
    pub fn compact(&self, id: &DatasetId) -> Result<Option<CompactDocument>, EngineError> {
        let snapshot = self.index.snapshot()?;
        encoding::compact(&snapshot, id)
    }

    /// A hash of the ids and versions of all datasets in the index: equal where rankings have to be.
    pub fn fingerprint(&self) -> Result<String, EngineError> {
        use sha2::{Digest, Sha256};
        let mut hasher = Sha256::new();
        for (id, version) in self.index.snapshot()?.versions()? {
            hasher.update(format!("{id} {version}\n"));
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Which datasets are one, and which are editions of one, as found when the index was made last.
    pub fn duplicates(&self) -> Result<Duplicates, EngineError> {
        Ok(self.duplicates.read(&self.home)?.found.clone())
    }

    /// The same dataset under other ids, and its other editions; `None` where the index has no such dataset.
    pub fn related(&self, id: &DatasetId) -> Result<Option<Related>, EngineError> {
        let (snapshot, folding) = (self.index.snapshot()?, self.duplicates.read(&self.home)?);
        let Some(own) = self.card(id)? else { return Ok(None) };
        let duplicates = others(folding.others(id), &snapshot)?;
        let mut cards = vec![own];
        let all = folding.editions(id);
        for other in all.iter().filter(|other| *other != id).take(EDITIONS) {
            cards.extend(snapshot.card(other)?.map(|card| serde_json::from_slice::<Card>(&card)).transpose()?);
        }
        let more_editions = all.len().saturating_sub(EDITIONS + 1);
        let titles: Vec<&str> = cards.iter().map(|card| card.metadata.title()).collect();
        let standing = match more_editions {
            0 => editions::relations(&titles, 0),
            _ => vec![editions::EditionRelation::Other; titles.len()],
        };
        let others = cards.iter().zip(standing).skip(1);
        let mut editions: Vec<OtherEdition> =
            others.map(|(card, edition)| OtherEdition { edition, dataset: Other::of(card) }).collect();
        editions.sort_by(|a, b| (&a.dataset.title, &a.dataset.id).cmp(&(&b.dataset.title, &b.dataset.id)));
        Ok(Some(Related { duplicates, reasons: folding.reasons(id), editions, more_editions }))
    }

    /// A number that changes with every commit to the index.
    pub fn generation(&self) -> Result<u64, EngineError> {
        Ok(self.index.snapshot()?.generation())
    }

    /// How the texts of the index became tokens.
    pub fn analysis(&self) -> Result<AnalysisKind, EngineError> {
        Ok(self.index.snapshot()?.analysis().kind())
    }

    /// How the triples of the datasets were ranked that encoders read: one name, unless indexing by another one was interrupted.
    pub fn compact_methods(&self) -> Result<BTreeSet<String>, EngineError> {
        let snapshot = self.index.snapshot()?;
        let mut methods = BTreeSet::new();
        for id in snapshot.versions()?.into_keys() {
            let card = snapshot.card(&id)?.map(|card| serde_json::from_slice::<Card>(&card)).transpose()?;
            methods.extend(card.map(|card| card.compact_method));
        }
        Ok(methods)
    }

    /// Tokens in all fields of all datasets.
    pub fn tokens(&self) -> Result<u64, EngineError> {
        let statistics = self.index.snapshot()?.collection_statistics(&AnalyzedQuery::default(), &[], StatisticsLevel::Documents)?;
        Ok(statistics.fields.iter().map(|field| field.tokens).sum())
    }

    /// The number of datasets in the index.
    pub fn len(&self) -> Result<u64, EngineError> {
        Ok(self.index.snapshot()?.len())
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> Result<bool, EngineError> {
        Ok(self.index.snapshot()?.is_empty())
    }
}

/// What is shown of the same dataset under other ids.
pub(super) fn others<'i>(
    ids: impl Iterator<Item = &'i DatasetId>,
    snapshot: &Snapshot,
) -> Result<Vec<Other>, EngineError> {
    let mut others = Vec::new();
    for id in ids.take(OTHERS) {
        if let Some(card) = snapshot.card(id)? {
            others.push(Other::of(&serde_json::from_slice(&card)?));
        }
    }
    Ok(others)
}

/// The ranking by a model of what passes.
fn ranked(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    among: Among<'_>,
    depth: usize,
) -> Result<RankedDocs, IndexError> {
    let mut selection: Option<&FilteredDocs> = among.passing;
    rank_selected(model, query, among.snapshot, depth, &mut selection)
}

/// Those of the candidates that have none of the query's words.
fn wordless(
    candidates: &Ranking,
    query: &AnalyzedQuery,
    model: &dyn SparseModel,
    snapshot: &Snapshot,
) -> Result<Vec<DocumentAddress>, EngineError> {
    let mut addresses = Vec::with_capacity(candidates.len());
    for scored in candidates.iter() {
        addresses.extend(snapshot.address(&scored.id)?);
    }
    let counts = snapshot.document_statistics(query, &model.fields(), &addresses, StatisticsLevel::Documents)?;
    let has_word = |document: &DocumentStatistics| document.frequencies.iter().flatten().any(|count| *count > 0);
    Ok(addresses
        .into_iter()
        .zip(&counts)
        .filter(|(_, document)| !has_word(document))
        .map(|(address, _)| address)
        .collect())
}

/// How telling each distinct term of the query is: the rarer among the datasets, the more.
fn telling(collection: &CollectionStatistics) -> Vec<f64> {
    let weight = |documents: u64| (1.0 + collection.documents as f64 / (documents as f64 + 1.0)).ln();
    let documents = |term: &[TermStatistics; 8]| term.iter().map(|field| field.documents).max().unwrap_or(0);
    collection.terms.iter().map(|term| weight(documents(term))).collect()
}

/// The fields that hold a term of the query, the most telling first.
fn matched_fields(
    model: &dyn SparseModel,
    query: &AnalyzedQuery,
    document: &DocumentStatistics,
    collection: &CollectionStatistics,
) -> Vec<FieldMatch> {
    let shares = model.parts(query, document, collection).shares(model.weights());
    let matched = model.weights().fields().filter_map(|field| {
        let held = query.distinct.iter().zip(&document.frequencies);
        let terms: Vec<String> =
            held.filter(|(_, frequencies)| frequencies[field.index()] > 0).map(|(term, _)| term.text.clone()).collect();
        (!terms.is_empty()).then(|| FieldMatch { field, score: shares[field.index()], terms })
    });
    let mut matched: Vec<FieldMatch> = matched.collect();
    matched.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.field.cmp(&b.field)));
    matched
}

/// The triples that a method chooses for one of the hits of a page.
fn chosen(content: &Content, method: Method, matches: &Matches) -> Vec<Triple> {
    let work = method.default_work().map(|work| work / PAGE_SHARE);
    let options = MethodOptions { work, keywords: Some(matches), ..MethodOptions::default() };
    let extractor = method.extractor(&snippets::options(content, method, options));
    let snippet = extractor.map(|made| made.extract(content.graph(), content.profile(), TripleBudget::default()));
    snippet.map(|snippet| snippet.triples).unwrap_or_default() // there are keywords: no method lacks anything
}
