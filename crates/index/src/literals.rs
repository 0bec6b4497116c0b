//! Text search over the literals of datasets: from words to entities.
//!
//! The posting lists of [`Field::Literal`] have the position of every token among the tokens of all literals of a
//! dataset. The column `literals` has one entry for each literal, in the order of the dataset's triples: the number of
//! its tokens, and two bits of [`LiteralPlace`]. Sums of these numbers turn positions into literals, and literals into
//! entities, without a second index and without the graph. An entry takes about a byte.
//!
//! # Score
//!
//! An entity is a subject with its literals. Each word counts in the literal where it scores best, so that `Ada Lovelace`
//! finds an entity with a given name and a family name, and a long comment does not hide a name. With the literals *l*
//! of the entity and the words *w* of the query:
//!
//! ```text
//! score = Σ_w max_l factor(l) · BM25(w, l)
//! ```
//!
//! BM25 is that of [`Bm25`], with literals as documents. The number of literals with a word is approximated by the number
//! of its occurrences, since a word is rarely repeated in a literal. The statistics are those of the whole collection:
//! scores of searches in different datasets can be compared. Taking the best field for each word is the disjunction
//! maximum of Lucene's `DisjunctionMaxQuery`.

use super::schema::LITERALS;
use super::{
    AnalyzedQuery, DocumentAddress, FieldStatistics, FilteredDocs, IndexError, Snapshot,
    StatisticsLevel, TermCursor, TermPostings, TermStatistics,
};
use crate::document::{Field, LiteralPlace};
use crate::sparse::Bm25;
use crate::top_docs::TermScorer;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use tantivy::columnar::Column;
use tantivy::schema::IndexRecordOption;
use tantivy::{SegmentReader, TERMINATED};

/// Factor of the score of a label. Entities are searched by their names first.
const LABEL_FACTOR: f64 = 1.5;
/// Maximum number of query words. Further words are ignored.
const MAX_WORDS: usize = 32;
/// Number of entries read at once.
const CHUNK_ENTRIES: usize = 1024;

/// Returns the entry of a literal in the column.
pub(super) fn encode_entry(tokens: u64, place: LiteralPlace) -> u64 {
    tokens << 2 | u64::from(place.is_label) << 1 | u64::from(place.starts_subject)
}

/// Returns the number of tokens in an entry of the column, and the place.
fn read_entry(entry: u64) -> (u32, LiteralPlace) {
    let place = LiteralPlace {
        starts_subject: entry & 1 == 1,
        is_label: entry >> 1 & 1 == 1,
    };
    (u32::try_from(entry >> 2).unwrap_or(u32::MAX), place)
}

/// Search for entities by the words of their literals.
pub struct EntitySearch<'s> {
    /// Words. An entity needs one of them.
    pub query: &'s AnalyzedQuery,
    /// Datasets to search. `None`: all.
    pub filtered: Option<&'s FilteredDocs>,
    /// Maximum number of entities.
    pub depth: usize,
    /// Maximum number of literals in the searched datasets. Beyond it, the datasets with most and rarest words are
    /// searched. The one that comes first is always searched.
    pub max_literals: u64,
    /// Returns true if the search is to end. Called once for each dataset.
    pub is_cancelled: &'s dyn Fn() -> bool,
}

/// Entity found by a word in one of its literals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EntityMatch {
    /// Dataset.
    pub address: DocumentAddress,
    /// Number of its best matching literal among the triples of the dataset with a literal, from 0.
    pub literal: u32,
    /// Score.
    pub score: f64,
    /// Rank of the dataset's id among all ids.
    order: u32,
}

/// Result of a search for entities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntityMatches {
    /// Best entities: by descending score, then by the id of the dataset, then by the order of its triples.
    pub best: Vec<EntityMatch>,
    /// Number of entities found in the searched datasets.
    pub total: u64,
    /// Number of searched datasets: those with a word in a literal.
    pub datasets: usize,
    /// If false, datasets with a word were left out: the limit of literals was reached, or the search was cancelled.
    pub is_complete: bool,
}

/// Dataset with a word in a literal.
struct Candidate {
    address: DocumentAddress,
    literals: u64,
    /// Sum of the weights of its words.
    weight: f64,
}

/// Word of a query.
struct Word<S> {
    scorer: S,
    /// Inverse document frequency among literals.
    weight: f64,
}

impl Snapshot {
    /// Returns true if literals can be searched.
    #[must_use]
    pub fn has_literals(&self) -> bool {
        self.fields.literals.is_some()
    }

    /// Finds the entities whose literals match the words of a query best.
    ///
    /// # Errors
    ///
    /// [`IndexError::WithoutLiterals`] if an earlier version created the index.
    pub fn matching_entities(
        &self,
        search: &EntitySearch<'_>,
    ) -> Result<EntityMatches, IndexError> {
        if !self.has_literals() {
            return Err(IndexError::WithoutLiterals);
        }
        let query = select_words(search.query);
        let statistics = FieldStatistics {
            documents: self.literal_count()?,
            tokens: self.collection[Field::Literal.index()].tokens,
        };
        let mut words = Vec::with_capacity(query.distinct.len());
        for term in &query.distinct {
            let all = self.term_statistics(Field::Literal, term, StatisticsLevel::Occurrences)?;
            let documents = all.occurrences.min(statistics.documents);
            let term = TermStatistics { documents, ..all };
            let bm25 = Bm25::default();
            words.push(Word {
                weight: bm25.idf(&statistics, &term),
                scorer: bm25.term_scorer(&statistics, &term),
            });
        }
        let (candidates, mut is_complete) = self.candidates(search, &query, &words)?;
        let mut collector = Collector {
            depth: search.depth,
            best: Vec::new(),
            total: 0,
        };
        let mut datasets = 0;
        'segments: for group in candidates.chunk_by(|a, b| a.address.segment == b.address.segment) {
            let segment = group[0].address.segment as usize;
            let reader = &self.searcher.segment_readers()[segment];
            let Some(column) = literal_column(reader)? else {
                continue;
            };
            let cursors = self.term_cursors(
                reader,
                &query,
                Field::Literal,
                IndexRecordOption::WithFreqsAndPositions,
            )?;
            let mut scan = Scan::new(&column, &words, cursors);
            for candidate in group {
                if (search.is_cancelled)() {
                    is_complete = false;
                    break 'segments;
                }
                let order = self.segments[segment].order[candidate.address.document as usize];
                scan.dataset(candidate.address, order, &mut collector);
                datasets += 1;
            }
        }
        let total = collector.total;
        Ok(EntityMatches {
            best: collector.finish(),
            total,
            datasets,
            is_complete,
        })
    }

    /// Returns the number of literals of all datasets, with repetitions.
    fn literal_count(&self) -> Result<u64, IndexError> {
        if let Some(&count) = self.literals.get() {
            return Ok(count);
        }
        let mut count = 0;
        for reader in self.searcher.segment_readers() {
            if let Some(column) = literal_column(reader)? {
                count += reader
                    .doc_ids_alive()
                    .map(|document| literals_of(&column, document))
                    .sum::<u64>();
            }
        }
        Ok(*self.literals.get_or_init(|| count))
    }

    /// Returns the datasets to search, by address, and true if they are all that have a word in a literal.
    fn candidates<S>(
        &self,
        search: &EntitySearch<'_>,
        query: &AnalyzedQuery,
        words: &[Word<S>],
    ) -> Result<(Vec<Candidate>, bool), IndexError> {
        let field = self.fields.text(Field::Literal);
        let mut candidates = Vec::new();
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let Some(column) = literal_column(reader)? else {
                continue;
            };
            let inverted = reader.inverted_index(field)?;
            let mut weights: FxHashMap<u32, f64> = FxHashMap::default();
            for (term, word) in query.distinct.iter().zip(words) {
                let Some(mut postings) = TermPostings::open(&inverted, field, &term.alternatives)?
                else {
                    continue;
                };
                postings.read(TERMINATED, |documents, _| {
                    for &document in documents {
                        *weights.entry(document).or_default() += word.weight;
                    }
                });
            }
            for (document, weight) in weights {
                let address = DocumentAddress { segment, document };
                // Damaged postings may name documents that do not exist.
                let is_alive = document < reader.max_doc()
                    && reader
                        .alive_bitset()
                        .is_none_or(|alive| alive.is_alive(document));
                if is_alive
                    && search
                        .filtered
                        .is_none_or(|filtered| filtered.contains(address))
                {
                    candidates.push(Candidate {
                        address,
                        literals: literals_of(&column, document),
                        weight,
                    });
                }
            }
        }
        let is_complete = retain_within(&mut candidates, search.max_literals);
        candidates.sort_unstable_by_key(|candidate| candidate.address);
        Ok((candidates, is_complete))
    }
}

/// Returns the words that are searched for in literals.
///
/// A word may have stems of one or two letters in some language, such as *l* for *lime*. In literals, these are units and
/// codes. Stems of fewer than three letters are therefore ignored, unless the word itself is that short.
fn select_words(query: &AnalyzedQuery) -> AnalyzedQuery {
    let mut query = query.clone();
    query.distinct.truncate(MAX_WORDS);
    for term in &mut query.distinct {
        let shortest = term.text.chars().count().min(3);
        term.alternatives
            .retain(|token| token.chars().count() >= shortest);
    }
    query
}

/// Retains the best datasets that have at most so many literals together. Returns true if these are all.
fn retain_within(candidates: &mut Vec<Candidate>, max_literals: u64) -> bool {
    let all: u64 = candidates.iter().map(|candidate| candidate.literals).sum();
    if all <= max_literals {
        return true;
    }
    candidates.sort_unstable_by(|a, b| {
        b.weight
            .total_cmp(&a.weight)
            .then(a.literals.cmp(&b.literals))
            .then(a.address.cmp(&b.address))
    });
    let mut sum = 0;
    let before = candidates.len();
    candidates.retain(|candidate| {
        // At least one dataset is searched, whatever its size.
        let fits = sum == 0 || sum + candidate.literals <= max_literals;
        sum += if fits { candidate.literals } else { 0 };
        fits
    });
    candidates.len() == before
}

fn literal_column(reader: &SegmentReader) -> Result<Option<Column<u64>>, IndexError> {
    Ok(reader.fast_fields().column_opt(LITERALS)?)
}

/// Returns the number of literals of a document.
fn literals_of(column: &Column<u64>, document: u32) -> u64 {
    column.index.value_row_ids(document).len() as u64
}

/// Forward scan of the literals of datasets in one segment.
struct Scan<'s, S> {
    column: &'s Column<u64>,
    words: &'s [Word<S>],
    cursors: Vec<TermCursor>,
    /// Index of the next position of each word.
    next: Vec<usize>,
    entity: Entity,
    entries: Vec<u64>,
}

/// Matches of the entity that is being scanned.
struct Entity {
    /// Best score of each word.
    scores: Vec<f64>,
    /// Number and score of the best literal.
    best: Option<(u32, f64)>,
}

impl<'s, S: TermScorer> Scan<'s, S> {
    fn new(column: &'s Column<u64>, words: &'s [Word<S>], cursors: Vec<TermCursor>) -> Self {
        let entity = Entity {
            scores: vec![0.0; words.len()],
            best: None,
        };
        Self {
            column,
            words,
            cursors,
            next: vec![0; words.len()],
            entity,
            entries: vec![0; CHUNK_ENTRIES],
        }
    }

    /// Scans a dataset up to its last matching literal.
    fn dataset(&mut self, address: DocumentAddress, order: u32, collector: &mut Collector) {
        for (cursor, next) in self.cursors.iter_mut().zip(&mut self.next) {
            cursor.seek(address.document);
            *next = 0;
        }
        let rows = self.column.index.value_row_ids(address.document);
        let (mut row, mut start, mut next_match) = (rows.start, 0_u32, self.next_match());
        while row < rows.end && next_match.is_some() {
            let count = CHUNK_ENTRIES.min((rows.end - row) as usize);
            self.column
                .values
                .get_range(u64::from(row), &mut self.entries[..count]);
            for place in 0..count {
                let (tokens, literal) = read_entry(self.entries[place]);
                // The first literal of a subject ends the entity before it.
                if literal.starts_subject {
                    self.entity.finish(address, order, collector);
                }
                // Damaged entries must not overflow.
                let end = start.saturating_add(tokens);
                if next_match.is_some_and(|position| position < end) {
                    self.add_literal(row - rows.start + place as u32, end, tokens, literal);
                    next_match = self.next_match();
                }
                start = end;
            }
            row += count as u32;
        }
        self.entity.finish(address, order, collector);
    }

    /// Returns the next position of any word.
    fn next_match(&self) -> Option<u32> {
        self.cursors
            .iter()
            .zip(&self.next)
            .filter_map(|(cursor, &next)| cursor.positions.get(next))
            .min()
            .copied()
    }

    /// Adds a literal, which contains the next position of a word.
    fn add_literal(&mut self, number: u32, end: u32, tokens: u32, place: LiteralPlace) {
        let factor = if place.is_label { LABEL_FACTOR } else { 1.0 };
        let mut sum = 0.0;
        for (index, word) in self.words.iter().enumerate() {
            let rest = &self.cursors[index].positions[self.next[index]..];
            let frequency = rest.iter().take_while(|&&position| position < end).count();
            if frequency == 0 {
                continue;
            }
            self.next[index] += frequency;
            let score = factor * word.scorer.score(frequency as u32, tokens);
            self.entity.scores[index] = self.entity.scores[index].max(score);
            sum += score;
        }
        if self.entity.best.is_none_or(|(_, best)| sum > best) {
            self.entity.best = Some((number, sum));
        }
    }
}

impl Entity {
    /// Collects the entity if it matches, and resets it for the next one.
    fn finish(&mut self, address: DocumentAddress, order: u32, collector: &mut Collector) {
        if let Some((literal, _)) = self.best.take() {
            let score = self.scores.iter().sum();
            collector.add(EntityMatch {
                address,
                literal,
                score,
                order,
            });
            self.scores.fill(0.0);
        }
    }
}

/// Collector of the best entities. Up to twice as many are collected and then halved.
struct Collector {
    depth: usize,
    best: Vec<EntityMatch>,
    total: u64,
}

fn by_rank(a: &EntityMatch, b: &EntityMatch) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then(a.order.cmp(&b.order))
        .then(a.literal.cmp(&b.literal))
}

impl Collector {
    fn add(&mut self, found: EntityMatch) {
        self.total += 1;
        self.best.push(found);
        if self.best.len() >= 2 * self.depth.max(CHUNK_ENTRIES) {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.best.sort_unstable_by(by_rank);
        self.best.truncate(self.depth);
    }

    fn finish(mut self) -> Vec<EntityMatch> {
        self.halve();
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FieldedDocument;
    use crate::{Analysis, AnalysisKind, IndexDocument, IndexWriter};
    use lodeseek_catalog::Metadata;
    use lodeseek_ranking::DatasetId;
    use lodeseek_rdf::dump::DumpReader;
    use lodeseek_rdf::vocab::rdfs;
    use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
    use proptest::prelude::*;

    /// Triples with literals: (subject, true for a label, text).
    type Texts = Vec<(u8, bool, String)>;

    fn graph(texts: &Texts) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        let mut dump = String::new();
        for (subject, is_label, text) in texts {
            let property = if *is_label {
                rdfs::LABEL
            } else {
                "http://e.org/note"
            };
            dump += &format!("<http://e.org/{subject}> <{property}> \"{text}\" .\n");
            dump += &format!("<http://e.org/{subject}> <http://e.org/next> <{property}> .\n");
        }
        DumpReader::default().read(dump.as_bytes(), "t.nt", "http://e.org/", &mut builder);
        builder.finish()
    }

    fn document(id: usize, graph: &TripleGraph, kind: AnalysisKind) -> IndexDocument {
        let id = DatasetId::new(id.to_string()).expect("an id");
        let fields = FieldedDocument::new(&Metadata::new(id.clone()), graph);
        IndexDocument::new(
            id,
            String::new(),
            &fields,
            &Analysis::new(kind),
            Vec::new(),
            Vec::new(),
        )
    }

    fn snapshot(graphs: &[TripleGraph], kind: AnalysisKind) -> Snapshot {
        let mut writer = IndexWriter::in_memory()
            .expect("a writer")
            .with_analysis(kind);
        for (id, graph) in graphs.iter().enumerate() {
            writer.put(document(id, graph, kind)).expect("put");
            if id % 2 == 1 {
                writer.commit().expect("committed"); // several segments
            }
        }
        // A replaced document must not count.
        writer.put(document(0, &graphs[0], kind)).expect("put");
        writer.commit().expect("committed");
        writer.snapshot().expect("a snapshot")
    }

    fn find(snapshot: &Snapshot, words: &str, depth: usize, max_literals: u64) -> EntityMatches {
        let query = AnalyzedQuery::new(words, snapshot.analysis());
        let search = EntitySearch {
            query: &query,
            filtered: None,
            depth,
            max_literals,
            is_cancelled: &|| false,
        };
        snapshot.matching_entities(&search).expect("found")
    }

    /// Returns (dataset, subject, score) of the entities with a word, by the definition of the score.
    fn by_definition(
        graphs: &[TripleGraph],
        words: &str,
        kind: AnalysisKind,
    ) -> Vec<(String, String, f64)> {
        let analysis = Analysis::new(kind);
        let query = select_words(&AnalyzedQuery::new(words, &analysis));
        let mut literals = Vec::new();
        for (dataset, graph) in graphs.iter().enumerate() {
            for triple in graph
                .triples()
                .iter()
                .filter(|triple| graph.is_literal(triple.object))
            {
                let tokens: Vec<String> =
                    analysis.tokens(graph.term(triple.object).text()).collect();
                let is_label = graph.term(triple.predicate).text() == rdfs::LABEL;
                literals.push((
                    dataset.to_string(),
                    graph.term(triple.subject).text().to_owned(),
                    is_label,
                    tokens,
                ));
            }
        }
        let count = literals.len() as f64;
        let average = literals
            .iter()
            .map(|literal| literal.3.len())
            .sum::<usize>() as f64
            / count;
        let mut scores: std::collections::BTreeMap<(String, String), Vec<f64>> =
            std::collections::BTreeMap::new();
        for (place, word) in query.distinct.iter().enumerate() {
            let frequency = |tokens: &[String]| {
                tokens.iter().filter(|token| word.matches(token)).count() as f64
            };
            let all = literals
                .iter()
                .map(|literal| frequency(&literal.3))
                .sum::<f64>()
                .min(count);
            let idf = (1.0 + (count - all + 0.5) / (all + 0.5)).ln();
            for (dataset, subject, is_label, tokens) in &literals {
                let frequency = frequency(tokens);
                if frequency > 0.0 {
                    let norm = 1.2 * (0.25 + 0.75 * tokens.len() as f64 / average);
                    let score = idf * frequency / (frequency + norm)
                        * if *is_label { LABEL_FACTOR } else { 1.0 };
                    let empty = || vec![0.0_f64; query.distinct.len()];
                    let best = scores
                        .entry((dataset.clone(), subject.clone()))
                        .or_insert_with(empty);
                    best[place] = best[place].max(score);
                }
            }
        }
        let mut found: Vec<_> = scores
            .into_iter()
            .map(|((dataset, subject), best)| (dataset, subject, best.iter().sum()))
            .collect();
        found.sort_by(|a: &(String, String, f64), b| b.2.total_cmp(&a.2));
        found
    }

    fn texts() -> impl Strategy<Value = Texts> {
        let text =
            proptest::collection::vec("(river|rivers|bay|of|the|Maryland|hasName|a_b)", 0..5);
        proptest::collection::vec(
            (
                0..4_u8,
                any::<bool>(),
                text.prop_map(|words| words.join(" ")),
            ),
            0..12,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn entities_are_those_of_the_definition(
            all in proptest::collection::vec(texts(), 1..5),
            words in "(river|bay|maryland|name){1}( (rivers|bay|of|b)){0,2}",
        ) {
            let graphs: Vec<TripleGraph> = all.iter().map(graph).collect();
            for kind in [AnalysisKind::Acordar, AnalysisKind::Multilingual] {
                let snapshot = snapshot(&graphs, kind);
                let found = find(&snapshot, &words, 1000, u64::MAX);
                let expected = by_definition(&graphs, &words, kind);
                prop_assert_eq!((found.total as usize, found.is_complete), (expected.len(), true));
                let mut ids = Vec::new();
                for entity in &found.best {
                    let dataset = snapshot.id(entity.address).expect("an id").to_string();
                    let graph = &graphs[dataset.parse::<usize>().expect("a number")];
                    let mut literals = graph.triples().iter().filter(|triple| graph.is_literal(triple.object));
                    let triple = literals.nth(entity.literal as usize).expect("a literal");
                    ids.push((dataset, graph.term(triple.subject).text().to_owned()));
                }
                for (entity, one) in found.best.iter().zip(&expected) {
                    prop_assert!((entity.score - one.2).abs() < 1e-9, "{} {}", entity.score, one.2);
                }
                let mut expected: Vec<_> = expected.into_iter().map(|one| (one.0, one.1)).collect();
                expected.sort();
                ids.sort();
                prop_assert_eq!(ids, expected);
                prop_assert_eq!(&find(&snapshot, &words, 2, u64::MAX).best[..], &found.best[..found.best.len().min(2)]);
            }
        }
    }

    fn label(subject: u8, text: &str) -> (u8, bool, String) {
        (subject, true, text.to_owned())
    }

    #[test]
    fn the_limit_of_literals_leaves_datasets_out() {
        let graphs = [
            vec![label(0, "river"), label(1, "creek")],
            vec![label(0, "river bay")],
        ]
        .map(|texts| graph(&texts));
        let snapshot = snapshot(&graphs, AnalysisKind::Acordar);
        let found = find(&snapshot, "river bay", 10, 2);
        assert_eq!(
            (found.datasets, found.total, found.is_complete),
            (1, 1, false)
        );
        assert_eq!(
            snapshot.id(found.best[0].address).expect("an id").as_str(),
            "1",
            "the dataset with more words"
        );
        let all = find(&snapshot, "river bay", 10, 3);
        assert_eq!((all.datasets, all.total, all.is_complete), (2, 2, true));
        assert!(find(&snapshot, "of the", 10, 3).best.is_empty());
    }

    #[test]
    fn a_cancelled_search_is_incomplete() {
        let snapshot = snapshot(&[graph(&vec![label(0, "river")])], AnalysisKind::Acordar);
        let query = AnalyzedQuery::new("river", snapshot.analysis());
        let search = EntitySearch {
            query: &query,
            filtered: None,
            depth: 5,
            max_literals: 9,
            is_cancelled: &|| true,
        };
        let found = snapshot.matching_entities(&search).expect("found");
        assert_eq!((found.total, found.is_complete), (0, false));
    }
}
