//! Execution of a search: from a request to a page of hits.

mod examples;
mod interpretation;
mod match_quality;
mod matched_fields;
mod request;
mod response;
mod suggested_filters;

pub use interpretation::{Interpretation, InterpretationKind};
pub use match_quality::{MatchFeatures, MatchQuality};
pub use request::{
    EmptyQuery, Example, MAX_EXAMPLES, QuerySyntax, SearchRequest, SnippetKind, UnknownSnippetKind,
    check_query,
};
pub use response::{ExampleSimilarity, FieldMatch, Hit, SearchResponse};
pub use suggested_filters::SuggestedFilter;

pub(super) use matched_fields::matched_fields_of;

use crate::card::read_card;
use crate::content::{Content, ContentCache};
use crate::duplicates::{DuplicateGroups, references};
use crate::indexed_catalog::IndexedCatalog;
use crate::named::{named_datasets, with_named_first};
use crate::ranker::{Ranker, rank_by_model, share_of_unknown_words};
use crate::rerank::{EncoderQuery, Reranked, is_value_of};
use crate::scope::CandidateScope;
use crate::similar::{Comparison, MAX_POOL_DATASETS};
use crate::snippets::{
    self, choose_rows, condition_cells, label_all, mark_conditions, mark_rows, mark_terms,
};
use crate::spelling::{Corrections, WordList, correct_spelling};
use crate::{EngineError, QueryTerms, QueryWords, ResultOrder, evidence};
use examples::{ComparedExamples, SimilarDocs};
use interpretation::InterpretedQuery;
use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::{
    Explanation, LengthMode, RankedDocs, SparseModel, count_selection, rank_selection,
};
use lodeseek_index::{
    AnalyzedQuery, CollectionStatistics, DocumentAddress, DocumentStatistics, FacetCounter, Filter,
    FilteredDocs, Snapshot, StatisticsLevel,
};
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rdf::Triple;
use lodeseek_rerank::Granularity;
use lodeseek_snippet::keyword::Matches;
use lodeseek_snippet::{Method, MethodOptions, RowBudget, RowCriteria, RowKeywords, TripleBudget};
use match_quality::ScoreRange;
use matched_fields::matched_fields;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Maximum number of triples of content in which rows that match are looked up. Larger content shows its first rows.
pub(crate) const MAX_MATCHING_ROWS_TRIPLES: u64 = 50_000;
/// Maximum number of triples shown as evidence for one hit.
const MAX_EVIDENCE: usize = 5;
/// Maximum number of datasets that are assessed as good or weak matches, if no candidates are re-ranked.
const MAX_ASSESSED_DATASETS: usize = 100;
/// Divisor of a method's default work bound for the snippets and the evidence of a page of hits.
const PAGE_WORK_DIVISOR: u64 = 10;

/// Executes a search.
pub(super) fn search(
    comparison: &Comparison<'_>,
    contents: &ContentCache,
    request: &SearchRequest,
) -> Result<SearchResponse, EngineError> {
    let Comparison {
        catalog,
        ranker,
        snapshot,
        ..
    } = *comparison;
    let (mut interpreted, analysis) = match request.syntax {
        QuerySyntax::Literal => (
            InterpretedQuery::literal(&request.query),
            snapshot.analysis().without_translations(),
        ),
        QuerySyntax::Interpreted => (
            InterpretedQuery::new(&request.query, snapshot)?,
            snapshot.analysis().clone(),
        ),
    };
    let mut query = AnalyzedQuery::new(&interpreted.words, &analysis);
    let mut unknown_words = share_of_unknown_words(&query, snapshot)?;
    let known_words = ranker.reranker.as_ref().map(|words| words as &dyn WordList);
    let mut corrections = correct_spelling(&request.query, &query, known_words, snapshot)?;
    let mut text = request.query.as_str();
    // A literal query is never changed: its correction is a suggestion only.
    if request.syntax == QuerySyntax::Literal {
        corrections.replaced = None;
    }
    if let Some(replaced) = &corrections.replaced {
        interpreted = InterpretedQuery::new(replaced, snapshot)?;
        query = AnalyzedQuery::new(&interpreted.words, &analysis);
        if replaced.split_whitespace().count() == request.query.split_whitespace().count() {
            unknown_words = share_of_unknown_words(&query, snapshot)?;
        } // The parts of a compound are not what its word means.
        corrections.suggestion = None;
        text = replaced;
    }
    interpreted.add_translation(query.translation.as_ref());
    let requested_model = request.model.map(|kind| kind.model(LengthMode::Exact));
    let search = Search {
        catalog,
        ranker,
        contents,
        request,
        snapshot,
        examples: ComparedExamples::new(comparison, &request.examples)?,
        query,
        unknown_words,
        interpreted,
        text,
        corrections: corrections.clone(),
        model: requested_model.as_deref().unwrap_or(ranker.model.as_ref()),
        groups: catalog.duplicate_groups_for(request.duplicates)?,
    };
    search.run()
}

/// The inputs of one search.
struct Search<'s> {
    catalog: &'s IndexedCatalog,
    ranker: &'s Ranker,
    contents: &'s ContentCache,
    request: &'s SearchRequest,
    snapshot: &'s Snapshot,
    examples: Option<ComparedExamples<'s>>,
    interpreted: InterpretedQuery,
    query: AnalyzedQuery,
    /// Share of the words that the collection does not contain.
    unknown_words: f64,
    /// The query of the request, with its spelling corrected.
    text: &'s str,
    corrections: Corrections,
    model: &'s dyn SparseModel,
    groups: Arc<DuplicateGroups>,
}

/// A dataset of the requested page.
struct PageEntry<'r> {
    /// The rank shown, from 1.
    rank: usize,
    /// The place in the ranking before duplicates are merged, from 0.
    place: usize,
    scored: &'r Scored,
    address: DocumentAddress,
}

/// The rankings that placed the best datasets.
struct Best<'r> {
    /// Number of datasets at the top with comparable scores.
    comparable: usize,
    reranked: Option<&'r Reranked>,
    similar: Option<&'r SimilarDocs>,
    /// The datasets that the query names, which come first.
    named: &'r [DatasetId],
}

/// Assessed datasets of a ranking.
#[derive(Default)]
struct Assessment {
    features: FxHashMap<DatasetId, MatchFeatures>,
    good: FxHashSet<DatasetId>,
    /// Addresses of those that contain no word of the query.
    without_words: Vec<DocumentAddress>,
}

impl Search<'_> {
    fn run(self) -> Result<SearchResponse, EngineError> {
        let filtered = self.filtered_docs(&self.request.filter)?;
        let scope = CandidateScope::new(self.snapshot, filtered.as_ref(), &self.request.filter);
        let mut facet_counter = match self.request.facets {
            Some(_) => Some(self.snapshot.facet_counter(scope.filtered)?),
            None => None,
        };
        let ranked = self.rank(scope, facet_counter.as_mut())?;
        let mut reranked = self.rerank(scope)?;
        let named = self.named_datasets(scope)?;
        let mut named_first = None;
        match &mut reranked {
            _ if named.is_empty() => {}
            Some(reranked) => {
                reranked.ranking = with_named_first(std::mem::take(&mut reranked.ranking), &named);
            }
            None => named_first = Some(with_named_first(ranked.ranking.clone(), &named)),
        }
        let by_words = reranked
            .as_ref()
            .map(|reranked| &reranked.ranking)
            .or(named_first.as_ref());
        let similar = match &self.examples {
            Some(examples) => {
                let by_words = by_words
                    .cloned()
                    .unwrap_or_else(|| ranked.ranking.clone().cut(MAX_POOL_DATASETS));
                let has_matches = !named.is_empty()
                    || ranked.total > 0
                    || !reranked.as_ref().is_some_and(Reranked::is_closest);
                Some(examples.rank(&by_words, has_matches, scope)?)
            }
            None => None,
        };
        let candidates = similar
            .as_ref()
            .map(|similar| &similar.ranking)
            .or(by_words);
        let ranking = match candidates {
            Some(candidates) => candidates.clone().append(&ranked.ranking),
            None => ranked.ranking.clone(),
        };
        let best = Best {
            comparable: match (&similar, &reranked) {
                (None, Some(reranked)) => reranked.comparable(),
                (_, None) if self.complete_model().is_some() => 0,
                (Some(similar), _) => similar.ranking.len(),
                (None, None) => ranking.len(),
            },
            reranked: reranked.as_ref(),
            similar: similar.as_ref(),
            named: &named,
        };
        let assessed = match (&similar, &reranked) {
            (Some(similar), _) => similar.ranking.len(),
            (None, Some(reranked)) => reranked.ranking.len(),
            (None, None) => MAX_ASSESSED_DATASETS,
        };
        let assessment = self.assess(&ranking, assessed, &ranked, &best, &named)?;
        let (page, more) = self.page(&ranking, &ranked)?;
        let hits = self.hits(&page, &ranked.collection, &best, &assessment)?;
        let without_words = match candidates {
            Some(_) => assessment.without_words,
            None => Vec::new(),
        };
        let total = ranked.total + without_words.len();
        let facets = facet_counter
            .zip(self.request.facets)
            .map(|(mut counter, max_values)| {
                for address in without_words {
                    counter.add(address);
                }
                counter.finish(&self.request.filter, max_values)
            });
        let suggested_filters = self.suggested_filters()?;
        let unknown_values = if total == 0 && hits.is_empty() {
            self.catalog.unknown_values(&self.request.filter)?
        } else {
            Vec::new()
        };
        Ok(SearchResponse {
            model: self.model.name(),
            terms: self.query.texts(),
            with_words: ranked.total,
            total,
            good: assessment.good.len(),
            only_closest: ranked.total == 0
                && named.is_empty()
                && similar.is_none_or(|similar| similar.is_empty())
                && reranked.as_ref().is_some_and(Reranked::is_closest),
            examples: self
                .examples
                .map(ComparedExamples::into_references)
                .unwrap_or_default(),
            suggestion: self.corrections.suggestion,
            corrected: self.corrections.replaced,
            rerank: reranked.map(|reranked| reranked.summary),
            facets,
            interpretations: self.interpreted.interpretations,
            suggested_filters,
            unknown_values,
            hits,
            more,
            words: QueryWords::from_query(self.query, self.snapshot.analysis()),
        })
    }

    /// Returns the datasets that the query names, unless the request names its own sparse model or another order.
    fn named_datasets(&self, scope: CandidateScope<'_>) -> Result<Vec<DatasetId>, EngineError> {
        if self.request.model.is_some() || self.request.order != ResultOrder::Relevance {
            return Ok(Vec::new());
        }
        named_datasets(&self.interpreted.words, &self.query, scope)
    }

    /// Returns the documents that pass a filter, the conditions of the query and those of examples. `None`: all documents.
    fn filtered_docs(&self, filter: &Filter) -> Result<Option<FilteredDocs>, EngineError> {
        let filtered = self.snapshot.filtered_docs(filter)?;
        let filtered = self.interpreted.restrict(filtered, self.snapshot);
        match &self.examples {
            Some(examples) => Ok(Some(examples.exclude_from(filtered)?)),
            None => Ok(filtered),
        }
    }

    /// Returns the filters that the words of the query suggest, with the numbers of datasets. A filter that no dataset with a
    /// word of the query passes is not suggested. Literal queries suggest none.
    fn suggested_filters(&self) -> Result<Vec<SuggestedFilter>, EngineError> {
        let mut suggested = Vec::new();
        if self.request.syntax == QuerySyntax::Literal || !self.snapshot.has_coverage() {
            return Ok(suggested);
        }
        for mut one in suggested_filters::suggested_filters(self.text, &self.request.filter) {
            let filtered = self.filtered_docs(&one.add_to(&self.request.filter))?;
            one.with_words = count_selection(
                self.model,
                &self.query,
                self.snapshot,
                &mut filtered.as_ref(),
            )?;
            if one.with_words > 0 {
                suggested.push(one);
            }
        }
        Ok(suggested)
    }

    /// Ranks by the sparse model, deep enough for the page and the first hit of the next one after duplicates are merged, and
    /// counts facets.
    fn rank(
        &self,
        scope: CandidateScope<'_>,
        facet_counter: Option<&mut FacetCounter<'_>>,
    ) -> Result<RankedDocs, EngineError> {
        let _span =
            tracing::info_span!(target: "traces", "rank", model = self.model.name()).entered();
        let end = self
            .request
            .skip
            .saturating_add(self.request.depth)
            .saturating_add(1);
        let depth = match self.request.order {
            // The ranking that is fused with that of examples has the same depth on all pages.
            ResultOrder::Relevance if self.examples.is_some() => end
                .saturating_add(self.groups.surplus)
                .max(MAX_POOL_DATASETS),
            // The number of good matches is the same on all pages.
            ResultOrder::Relevance => end
                .saturating_add(self.groups.surplus)
                .max(MAX_ASSESSED_DATASETS),
            _ => self.snapshot.len() as usize,
        };
        let complete = self.complete_model();
        let model = complete.unwrap_or(self.model);
        let mut ranked = match facet_counter {
            Some(counter) => rank_selection(model, &self.query, self.snapshot, depth, counter)?,
            None => rank_by_model(model, &self.query, scope, depth)?,
        };
        if complete.is_some() {
            let (fields, level) = (self.model.fields(), self.model.statistics_level());
            ranked.collection = self
                .snapshot
                .collection_statistics(&self.query, &fields, level)?;
        }
        Ok(ranked)
    }

    /// Returns the model that finds all datasets for an order other than by relevance, if the model of the request ranks only
    /// some of them. Its scores are not those of the model of the request.
    fn complete_model(&self) -> Option<&dyn SparseModel> {
        match self.request.order {
            ResultOrder::Relevance => None,
            _ => self.model.candidate_model(),
        }
    }

    /// Re-ranks candidates, unless the request names its own sparse model.
    fn rerank(&self, scope: CandidateScope<'_>) -> Result<Option<Reranked>, EngineError> {
        if self.request.model.is_some() {
            return Ok(None);
        }
        let _span = tracing::info_span!(target: "traces", "re-rank").entered();
        let text = EncoderQuery::new(&self.interpreted.words, &self.query)
            .with_unknown_words(self.unknown_words);
        self.ranker.rerank(text, &self.query, self.model, scope)
    }

    /// Returns the datasets of the requested page, with duplicates merged if the request has it so, and true if further ones
    /// follow.
    fn page<'r>(
        &self,
        ranking: &'r Ranking,
        ranked: &RankedDocs,
    ) -> Result<(Vec<PageEntry<'r>>, bool), EngineError> {
        let mut is_first = self.groups.first_of_group();
        let end = self.request.skip.saturating_add(self.request.depth);
        let mut found: Vec<(usize, &Scored)> = ranking.iter().enumerate().collect();
        let languages = &self.request.languages;
        self.catalog.sort(
            &mut found,
            self.request.order,
            languages,
            self.snapshot,
            |(_, scored)| &scored.id,
        )?;
        let mut page = Vec::new();
        let mut rank = 0;
        for (place, scored) in found {
            if !is_first(&scored.id) {
                continue;
            }
            if rank < self.request.skip {
                rank += 1;
                continue;
            }
            let address = match ranked.address(&scored.id) {
                Some(address) => Some(address),
                None => self.snapshot.address(&scored.id)?,
            };
            match address {
                Some(_) if rank >= end => return Ok((page, true)),
                Some(address) => page.push(PageEntry {
                    rank: rank + 1,
                    place,
                    scored,
                    address,
                }),
                // A removed dataset keeps its vectors until the next encoding: it is not shown.
                None => {}
            }
            rank += 1;
        }
        Ok((page, false))
    }

    fn hits(
        &self,
        page: &[PageEntry<'_>],
        collection: &CollectionStatistics,
        best: &Best<'_>,
        assessment: &Assessment,
    ) -> Result<Vec<Hit>, EngineError> {
        let _span = tracing::info_span!(target: "traces", "hits", number = page.len()).entered();
        let (snapshot, fields) = (self.snapshot, self.model.fields());
        let addresses: Vec<DocumentAddress> = page.iter().map(|entry| entry.address).collect();
        let level = self.model.statistics_level();
        let statistics = snapshot.document_statistics(&self.query, &fields, &addresses, level)?;
        let explained = match self.request.explain {
            true => snapshot.without_absent_tokens(&self.query, &fields)?,
            false => AnalyzedQuery::default(),
        };
        let mut hits = Vec::with_capacity(page.len());
        for (entry, document) in page.iter().zip(&statistics) {
            let Some(mut hit) = self.hit(entry, document, collection, best)? else {
                continue;
            };
            hit.features = assessment.features.get(&entry.scored.id).copied();
            if assessment.good.contains(&entry.scored.id) {
                hit.quality = MatchQuality::Good;
            }
            if self.request.explain {
                let by_model = self.model.explain(&explained, document, collection);
                hit.explanation = Some(self.explain_score(entry, by_model, best)?);
            }
            self.add_part_shares(&mut hit)?;
            self.add_graph_parts(&mut hit, collection);
            hits.push(hit);
        }
        Ok(hits)
    }

    /// Returns the score of a page entry as a tree. `by_model` is that of the score by the sparse model.
    fn explain_score(
        &self,
        entry: &PageEntry<'_>,
        by_model: Explanation,
        best: &Best<'_>,
    ) -> Result<Explanation, EngineError> {
        if entry.place >= best.comparable {
            return Ok(by_model);
        }
        let id = &entry.scored.id;
        let mut tree = match (best.reranked, &self.ranker.reranker) {
            (Some(reranked), Some(reranker)) => {
                let popularity = reranker.popularity_boost(id, self.snapshot)?;
                reranked.explain(id, by_model, self.model.name(), popularity)
            }
            _ => by_model,
        };
        let by_words = match best.similar {
            Some(similar) => similar.words_score(id),
            None => Some(entry.scored.score),
        };
        if let Some(score) = by_words
            && best.named.contains(id)
            && !is_value_of(score, &tree)
        {
            tree = Explanation {
                value: score,
                description: "score above all others, because the query names the dataset"
                    .to_owned(),
                details: vec![tree],
            };
        }
        Ok(match best.similar {
            Some(similar) => similar.explain(id, tree),
            None => tree,
        })
    }

    /// Returns the hit of a page entry, without explanations. `None` if its card is missing.
    fn hit(
        &self,
        entry: &PageEntry<'_>,
        document: &DocumentStatistics,
        collection: &CollectionStatistics,
        best: &Best<'_>,
    ) -> Result<Option<Hit>, EngineError> {
        let (id, reranked) = (&entry.scored.id, best.reranked);
        let Some(card) = read_card(self.snapshot, id)? else {
            return Ok(None);
        };
        let is_comparable = entry.place < best.comparable;
        let popularity = match (reranked, &self.ranker.reranker) {
            (Some(_), Some(reranker)) if is_comparable && best.similar.is_none() => {
                reranker.popularity_boost(id, self.snapshot)?
            }
            _ => None,
        };
        let similar_to = match (&self.examples, best.similar) {
            (Some(examples), Some(similar)) => examples.similarities(id, similar)?,
            _ => Vec::new(),
        };
        let analysis = self.snapshot.analysis();
        let (snippet, table) = match self.request.snippet {
            SnippetKind::None => (Vec::new(), None),
            SnippetKind::Stored | SnippetKind::OnDemand(_) => {
                let rows = card.table.as_ref();
                (
                    card.snippet_in(&self.request.languages),
                    rows.map(|rows| mark_rows(rows, &self.query, analysis)),
                )
            }
        };
        Ok(Some(Hit {
            rank: entry.rank,
            score: is_comparable.then_some(entry.scored.score),
            fields: matched_fields(self.model, &self.query, document, collection),
            dense: reranked
                .map(|reranked| reranked.dense_matches(id))
                .unwrap_or_default(),
            popularity,
            cross_encoder: reranked.and_then(|reranked| reranked.pair_score(id)),
            works: reranked.and_then(|reranked| reranked.work_evidence(id)),
            similar_to,
            snippet: snippet
                .iter()
                .map(|triple| mark_terms(triple, &self.query, analysis))
                .collect(),
            table,
            explanation: None,
            evidence: Vec::new(),
            duplicates: references(self.groups.others(id), self.snapshot)?,
            quality: MatchQuality::Weak,
            features: None,
            card,
        }))
    }

    /// Assesses the first `number` datasets of a ranking. Those that the query names or that are similar to an example are good
    /// matches in any case.
    fn assess(
        &self,
        ranking: &Ranking,
        number: usize,
        ranked: &RankedDocs,
        best: &Best<'_>,
        named: &[DatasetId],
    ) -> Result<Assessment, EngineError> {
        let mut found = Vec::with_capacity(number.min(ranking.len()));
        for scored in ranking.iter().take(number) {
            let address = match ranked.address(&scored.id) {
                Some(address) => Some(address),
                None => self.snapshot.address(&scored.id)?,
            };
            // A removed dataset keeps its vectors until the next encoding.
            found.extend(address.map(|address| (scored, address)));
        }
        let addresses: Vec<DocumentAddress> = found.iter().map(|(_, address)| *address).collect();
        let documents = self.snapshot.document_statistics(
            &self.query,
            &self.model.fields(),
            &addresses,
            StatisticsLevel::Documents,
        )?;
        // The scores of named datasets only put them above all others.
        let unnamed = found
            .iter()
            .filter(|(scored, _)| !named.contains(&scored.id));
        let range = ScoreRange::new(unnamed.map(|(scored, _)| scored.score));
        let weights = idf_weights(&ranked.collection);
        let has_vectors = best.reranked.is_some_and(|reranked| {
            let mut all = reranked.dense.values().flatten();
            all.any(|one| one.granularity == Granularity::Text && !one.is_multilingual)
        });
        let mut assessment = Assessment::default();
        for ((scored, address), document) in found.iter().zip(&documents) {
            let id = &scored.id;
            let dense = best.reranked.and_then(|reranked| reranked.dense.get(id));
            let dense = dense.map(Vec::as_slice).unwrap_or_default();
            let mut features =
                MatchFeatures::new(document, &weights, range.place(scored.score), dense);
            if has_vectors {
                // A dataset that was not encoded yet is assessed like the others.
                features.similarity = features.similarity.or(Some(0.0));
            }
            let is_similar = best.similar.is_some_and(|similar| similar.contains(id));
            if named.contains(id) || is_similar || features.quality() == MatchQuality::Good {
                assessment.good.insert(id.clone());
            }
            if features.words == 0.0 {
                assessment.without_words.push(*address);
            }
            assessment.features.insert(id.clone(), features);
        }
        Ok(assessment)
    }

    /// Adds the parts of texts that contributed most to the scores by vectors.
    ///
    /// Requests with `explain` get them from every encoder. Hits without a query term always get them, but only from
    /// encoders with a vector per word piece: these need not run the model again.
    fn add_part_shares(&self, hit: &mut Hit) -> Result<(), EngineError> {
        let Some(reranker) = &self.ranker.reranker else {
            return Ok(());
        };
        let has_no_term = hit.fields.is_empty();
        for dense in &mut hit.dense {
            if self.request.explain || has_no_term && dense.granularity == Granularity::Piece {
                dense.parts = reranker.explain(
                    EncoderQuery::new(&self.interpreted.words, &self.query),
                    &hit.card.metadata.id,
                    dense,
                    self.snapshot,
                )?;
            }
        }
        Ok(())
    }

    /// Returns true if the graph of a hit is read for the rows of its table that match.
    fn shows_matching_rows(&self, hit: &Hit) -> bool {
        let rows = hit.table.as_ref();
        let has_more = rows.is_some_and(|table| table.all_rows > table.rows.len());
        hit.rank <= self.request.matching_rows
            && has_more
            && hit.card.profile.triples <= MAX_MATCHING_ROWS_TRIPLES
    }

    /// Adds what needs the dataset's graph: evidence, rows of a table that match, and a snippet on demand.
    ///
    /// If the graph cannot be read, for example because it was replaced meanwhile, both are omitted and a warning is logged.
    fn add_graph_parts(&self, hit: &mut Hit, collection: &CollectionStatistics) {
        let method = match self.request.snippet {
            SnippetKind::OnDemand(method) => Some(method),
            SnippetKind::Stored | SnippetKind::None => None,
        };
        let shows_rows = self.shows_matching_rows(hit);
        if !self.request.explain && method.is_none() && !shows_rows {
            return;
        }
        let content = match self.contents.read(self.catalog.home(), &hit.card.version) {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!(dataset = %hit.card.metadata.id, %error, "cannot read the graph: no evidence, rows or snippet");
                return;
            }
        };
        let (graph, languages) = (content.graph(), &self.request.languages);
        let analysis = self.snapshot.analysis();
        let matches = QueryTerms::new(&self.query.distinct, analysis).matches(graph);
        let weights = idf_weights(collection);
        let keywords = RowKeywords {
            matches: &matches,
            weights: &weights,
        };
        let conditions = &self.request.filter.columns;
        let cells = condition_cells(graph, conditions);
        let criteria = RowCriteria {
            keywords: Some(keywords),
            cells: Some(&cells),
        };
        if self.request.snippet != SnippetKind::None {
            hit.table = choose_rows(graph, criteria, RowBudget::default(), languages).map(|rows| {
                let mut table = mark_rows(&rows, &self.query, analysis);
                mark_conditions(&mut table, &rows, graph, conditions);
                table
            });
        }
        if self.request.explain {
            let terms = self.query.texts();
            let work = page_work(Method::Cover);
            hit.evidence = evidence::find(
                graph,
                languages,
                &matches,
                &terms,
                &weights,
                MAX_EVIDENCE,
                work,
            );
        }
        if let Some(method) = method {
            let triples = label_all(
                graph,
                &snippet_for_page(&content, method, &matches),
                languages,
            );
            hit.snippet = triples
                .iter()
                .map(|triple| mark_terms(triple, &self.query, analysis))
                .collect();
        }
    }
}

/// Returns the inverse document frequency of each distinct term: ln(1 + N / (n + 1)), where n of N datasets have the term.
fn idf_weights(collection: &CollectionStatistics) -> Vec<f64> {
    let mut weights = Vec::with_capacity(collection.terms.len());
    for term in &collection.terms {
        let documents = term.iter().map(|field| field.documents).max().unwrap_or(0);
        weights.push((1.0 + collection.documents as f64 / (documents as f64 + 1.0)).ln());
    }
    weights
}

/// Returns the work bound of a method for one hit of a page.
fn page_work(method: Method) -> Option<u64> {
    method.default_work().map(|work| work / PAGE_WORK_DIVISOR)
}

/// Returns the triples that a method extracts for one hit of a page.
fn snippet_for_page(content: &Content, method: Method, matches: &Matches) -> Vec<Triple> {
    let options = MethodOptions {
        work: page_work(method),
        keywords: Some(matches),
        ..MethodOptions::default()
    };
    match method.extractor(&snippets::with_patterns(content, method, options)) {
        Ok(extractor) => {
            extractor
                .extract(content.graph(), content.profile(), TripleBudget::default())
                .triples
        }
        // Unreachable: with keywords no method lacks an input.
        Err(_) => Vec::new(),
    }
}
