//! The entry point of searches.

use super::content::ContentCache;
use super::entities::search_entities;
use super::indexed_catalog::IndexedCatalog;
use super::ranker::Ranker;
use super::scope::CandidateScope;
use super::search::{self, MAX_MATCHING_ROWS_TRIPLES};
use super::similar::{Comparison, VectorLengthCache};
use super::snippets::{choose_rows, condition_cells, mark_conditions};
use super::{
    Card, DatasetSnippet, EngineError, EntityRequest, EntityResponse, ExampleGraph, FieldMatch,
    Filter, Reranker, SearchRequest, SearchResponse, SimilarDatasets, SnippetRequest, SnippetTable,
    TuningPool, extract_snippet,
};
use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::{LengthMode, ModelKind, SparseModel};
use lodeseek_index::{AnalyzedQuery, ColumnCondition, Snapshot, StatisticsLevel};
use lodeseek_ranking::Ranking;
use lodeseek_snippet::{Deadline, RowBudget, RowCriteria};
use std::path::Path;

/// Searches the index of a home. Reads only the home's files: the store need not be open.
///
/// Its parts: [`catalog`](Self::catalog) lists and describes the indexed datasets, [`search`](Self::search) and
/// [`rank`](Self::rank) answer queries, [`similar`](Self::similar) compares datasets, and
/// [`tuning_pool`](Self::tuning_pool) returns the input of weight tuning.
pub struct Searcher {
    catalog: IndexedCatalog,
    ranker: Ranker,
    contents: ContentCache,
    vector_lengths: VectorLengthCache,
}

impl Searcher {
    /// Opens the index of a home, with fielded BM25 as its model.
    ///
    /// # Errors
    /// If the folder is no home, or has no index, or an index of another version.
    pub fn open(home: &Path) -> Result<Self, EngineError> {
        Ok(Self {
            catalog: IndexedCatalog::open(home)?,
            ranker: Ranker {
                model: ModelKind::default().model(LengthMode::Exact),
                reranker: None,
            },
            contents: ContentCache::new(0),
            vector_lengths: VectorLengthCache::default(),
        })
    }

    /// Sets the sparse model.
    #[must_use]
    pub fn with_model(mut self, model: Box<dyn SparseModel>) -> Self {
        self.ranker.model = model;
        self
    }

    /// Sets the approximate maximum size of the cache of graphs, in bytes. Default 0: no graph is cached.
    #[must_use]
    pub fn with_content_cache(mut self, bytes: usize) -> Self {
        self.contents = ContentCache::new(bytes);
        self
    }

    /// Sets the reranker, which re-ranks candidates by an encoder's vectors. Datasets outside its pool of candidates are
    /// then not ranked.
    #[must_use]
    pub fn with_reranker(mut self, reranker: Reranker) -> Self {
        self.ranker.reranker = Some(reranker);
        self
    }

    /// Loads the latest commit to the index and the statistics that the next search needs.
    ///
    /// Without this call a commit becomes visible within half a second.
    pub fn refresh(&self) -> Result<(), EngineError> {
        self.catalog.refresh()
    }

    /// Returns the reranker, if there is one.
    #[must_use]
    pub fn reranker(&self) -> Option<&Reranker> {
        self.ranker.reranker.as_ref()
    }

    /// Returns the indexed datasets.
    #[must_use]
    pub fn catalog(&self) -> &IndexedCatalog {
        &self.catalog
    }

    /// Returns the candidates from which weights are learned.
    #[must_use]
    pub fn tuning_pool(&self) -> TuningPool<'_> {
        TuningPool::new(&self.catalog, &self.ranker)
    }

    /// Returns true if candidates are re-ranked.
    #[must_use]
    pub fn has_reranker(&self) -> bool {
        self.ranker.reranker.is_some()
    }

    /// Returns the level of statistics that the sparse model requires.
    #[must_use]
    pub fn statistics_level(&self) -> StatisticsLevel {
        self.ranker.model.statistics_level()
    }

    /// Returns the response to a request: a page of hits with snippets, explanations and facets.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
        let (snapshot, contents) = (self.catalog.snapshot()?, &self.contents);
        search::search(&self.comparison(&snapshot), contents, request)
    }

    /// Returns the best `depth` datasets for a query.
    pub fn rank(&self, query: &str, depth: usize) -> Result<Ranking, EngineError> {
        self.rank_filtered(query, &Filter::default(), depth)
    }

    /// Returns the best `depth` datasets for a query among those that pass a filter.
    pub fn rank_filtered(
        &self,
        query: &str,
        filter: &Filter,
        depth: usize,
    ) -> Result<Ranking, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let filtered = snapshot.filtered_docs(filter)?;
        let scope = CandidateScope::new(&snapshot, filtered.as_ref(), filter);
        self.ranker.rank(query, scope, depth)
    }

    /// Re-ranks given candidates for a query: as the pool of the reranker would be, but without a sparse model.
    ///
    /// At most as many candidates as the reranker's `depth` are used. Candidates without vectors follow in their order.
    /// Without a reranker, the candidates are returned as they are.
    pub fn rerank(&self, query: &str, candidates: &Ranking) -> Result<Ranking, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        self.ranker
            .rerank_candidates(query, candidates, CandidateScope::all(&snapshot))
    }

    /// Returns all datasets found, best first, and the number of them at the top with comparable scores.
    ///
    /// The datasets with a query term that a reranker or FSDM did not rank follow after that number. The ranking is
    /// empty if no dataset contains a term and none reaches an encoder's minimum similarity.
    pub fn rank_all(&self, query: &str) -> Result<(Ranking, usize), EngineError> {
        let snapshot = self.catalog.snapshot()?;
        self.ranker.rank_all(query, CandidateScope::all(&snapshot))
    }

    /// Returns the datasets in which the words of a text follow each other in one field, in no order. Words without a
    /// meaning do not count. `None` if the text has no other word.
    pub fn with_phrase(&self, text: &str) -> Result<Option<Vec<DatasetId>>, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let Some(addresses) = snapshot.with_phrase(text)? else {
            return Ok(None);
        };
        let mut ids = Vec::with_capacity(addresses.len());
        for address in addresses {
            ids.push(snapshot.id(address)?);
        }
        Ok(Some(ids))
    }

    /// Returns the datasets most similar to one, best first, and those whose tables can be joined or united with its own. `None` if the
    /// index has no such dataset.
    pub fn similar(
        &self,
        id: &DatasetId,
        depth: usize,
    ) -> Result<Option<SimilarDatasets>, EngineError> {
        let Some(mut found) = self.similar_without_tables(id, depth)? else {
            return Ok(None);
        };
        let snapshot = self.catalog.snapshot()?;
        found.tables = self.catalog.related_tables(&snapshot, id)?;
        found.tables.truncate(depth);
        Ok(Some(found))
    }

    /// As [`Self::similar`], without the tables, which [`IndexedCatalog::related`] has, too.
    pub fn similar_without_tables(
        &self,
        id: &DatasetId,
        depth: usize,
    ) -> Result<Option<SimilarDatasets>, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let comparison = self.comparison(&snapshot);
        let Some(target) = comparison.dataset(id)? else {
            return Ok(None);
        };
        comparison.rank(&target, depth).map(Some)
    }

    /// Returns the datasets most similar to an example graph, best first. If the searcher has an encoder with one vector per
    /// text, the texts of the example are encoded.
    pub fn similar_to(
        &self,
        example: &ExampleGraph,
        depth: usize,
    ) -> Result<SimilarDatasets, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let comparison = self.comparison(&snapshot);
        comparison.rank(&comparison.graph(example)?, depth)
    }

    /// Returns true if examples are compared by their texts, too ([`ExampleGraph::with_texts`]).
    #[must_use]
    pub fn encodes_examples(&self) -> bool {
        self.ranker.text_encoder().is_some()
    }

    /// Returns, for each of some datasets, the fields that contain words of a query, in descending order of their share of
    /// the score. The list of a dataset that is not in the index is empty.
    pub fn matched_fields(
        &self,
        query: &str,
        ids: &[DatasetId],
    ) -> Result<Vec<Vec<FieldMatch>>, EngineError> {
        let snapshot = self.catalog.snapshot()?;
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        search::matched_fields_of(self.ranker.model.as_ref(), &query, &snapshot, ids)
    }

    /// Extracts a snippet of a dataset. `None` if the index has no such dataset.
    pub fn snippet(
        &self,
        id: &DatasetId,
        request: &SnippetRequest,
        deadline: Deadline<'_>,
    ) -> Result<Option<DatasetSnippet>, EngineError> {
        let Some(card) = self.catalog.card(id)? else {
            return Ok(None);
        };
        let content = self.contents.read(self.catalog.home(), &card.version)?;
        let snapshot = self.catalog.snapshot()?;
        let extracted = extract_snippet(&content, snapshot.analysis(), request, deadline)?;
        Ok(Some(DatasetSnippet {
            card,
            content,
            extracted,
        }))
    }

    /// Returns the rows of a dataset's table whose numbers satisfy conditions on columns, with these cells marked. `None` without
    /// conditions or a table, if the content is large, or if it cannot be read.
    pub fn condition_rows(
        &self,
        card: &Card,
        conditions: &[ColumnCondition],
        languages: &[String],
    ) -> Option<SnippetTable> {
        let is_large = card.profile.triples > MAX_MATCHING_ROWS_TRIPLES;
        if conditions.is_empty() || card.table.is_none() || is_large {
            return None;
        }
        let content = match self.contents.read(self.catalog.home(), &card.version) {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!(dataset = %card.metadata.id, %error, "cannot read the graph: no rows");
                return None;
            }
        };
        let cells = condition_cells(content.graph(), conditions);
        let criteria = RowCriteria {
            keywords: None,
            cells: Some(&cells),
        };
        let rows = choose_rows(content.graph(), criteria, RowBudget::default(), languages)?;
        let mut table = SnippetTable::from(&rows);
        mark_conditions(&mut table, &rows, content.graph(), conditions);
        Some(table)
    }

    /// Searches for entities by the words of their literals, in some datasets or in all.
    ///
    /// # Errors
    /// If the index was created before literals could be searched.
    pub fn search_entities(
        &self,
        request: &EntityRequest,
        deadline: Deadline<'_>,
    ) -> Result<EntityResponse, EngineError> {
        search_entities(&self.catalog, &self.contents, request, deadline)
    }

    fn comparison<'s>(&'s self, snapshot: &'s Snapshot) -> Comparison<'s> {
        let Self {
            catalog,
            ranker,
            vector_lengths,
            ..
        } = self;
        Comparison {
            catalog,
            ranker,
            vector_lengths,
            snapshot,
        }
    }
}
