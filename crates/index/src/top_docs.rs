//! Top-k retrieval from postings.
//!
//! A score is a sum over clauses; a clause is one term in one field. Postings are read clause by clause within windows
//! of documents. The accumulators of a window stay in the first-level cache for every size of the collection. Every
//! matching document is counted. The best are collected in a bounded buffer. Scores are added in the order of the
//! clauses, so a document's score is bit-identical however it was found. The module `postings` merges the posting lists
//! of terms with several tokens.

use super::columns::WindowLengths;
use super::postings::TermPostings;
use super::{IndexError, QueryTerm, Selection, Snapshot};
use crate::document::Field;
use std::cmp::Ordering;
use tantivy::SegmentReader;
use tantivy::fastfield::AliveBitSet;

/// Number of documents scored together. The accumulators and lengths of a window take 40 KiB.
pub(super) const WINDOW_DOCS: usize = 4096;

/// Scoring function of a term in a field, from the term frequency and the field length in tokens. Collection statistics
/// are precomputed.
pub trait TermScorer {
    /// Returns the score, without the factor of the clause.
    fn score(&self, frequency: u32, length: u32) -> f64;

    /// Adds the scores of some documents of a window. A provided method, so that the loop is compiled for each formula.
    fn add(&self, factor: f64, postings: &PostingsSlice<'_>, scores: &mut WindowScores) {
        for (&document, &frequency) in postings.documents.iter().zip(postings.frequencies) {
            scores.add(
                document as usize % WINDOW_DOCS,
                factor * self.score(frequency, postings.lengths.get(document)),
            );
        }
    }
}

/// Postings of one clause within one window.
pub struct PostingsSlice<'p> {
    documents: &'p [u32],
    frequencies: &'p [u32],
    lengths: WindowLengths<'p>,
}

/// Score accumulators of a window.
pub struct WindowScores {
    scores: [f64; WINDOW_DOCS],
    /// One bit for every document that contains a term.
    touched: [u64; WINDOW_DOCS / 64],
}

impl WindowScores {
    fn new() -> Box<Self> {
        Box::new(Self {
            scores: [0.0; WINDOW_DOCS],
            touched: [0; WINDOW_DOCS / 64],
        })
    }

    fn add(&mut self, place: usize, part: f64) {
        self.touched[place / 64] |= 1 << (place % 64);
        self.scores[place] += part;
    }
}

/// Term in a field, with its factor and scoring function.
pub struct Clause<'c> {
    /// Index of the term among the query's distinct terms.
    pub term: usize,
    /// Field.
    pub field: Field,
    /// Factor of the score.
    pub factor: f64,
    /// Scoring function.
    pub scorer: Box<dyn TermScorer + 'c>,
}

/// Address of a document in a [`Snapshot`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocumentAddress {
    pub(super) segment: u32,
    pub(super) document: u32,
}

/// Result of a traversal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopDocs {
    /// Number of selected documents that contain at least one term.
    pub total: usize,
    /// Best documents, by descending score, then by descending id as strings.
    pub best: Vec<(DocumentAddress, f64)>,
}

/// Reading position in the postings of a clause.
struct Cursor<'q, 'c> {
    clause: &'q Clause<'c>,
    postings: TermPostings,
}

impl Cursor<'_, '_> {
    fn document(&self) -> Option<u32> {
        self.postings.document()
    }

    /// Adds the clause's scores of all documents below `end`.
    fn add(&mut self, end: u32, lengths: WindowLengths<'_>, scores: &mut WindowScores) {
        let clause = self.clause;
        self.postings.read(end, |documents, frequencies| {
            clause.scorer.add(
                clause.factor,
                &PostingsSlice {
                    documents,
                    frequencies,
                    lengths,
                },
                scores,
            );
        });
    }
}

/// Candidate for the best documents: its score, and the rank of its id among all ids.
#[derive(Clone, Copy)]
struct Candidate {
    score: f64,
    order: u32,
    address: DocumentAddress,
}

fn by_rank(a: &Candidate, b: &Candidate) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| b.order.cmp(&a.order))
}

/// Collector of the best `depth` candidates. Up to twice as many are collected and then halved, so that each costs
/// constant time.
struct TopCollector {
    depth: usize,
    candidates: Vec<Candidate>,
    /// Minimum score of a candidate; negative infinity before `depth` candidates were collected.
    threshold: f64,
}

impl TopCollector {
    fn new(depth: usize) -> Self {
        Self {
            depth,
            candidates: Vec::new(),
            threshold: f64::NEG_INFINITY,
        }
    }

    /// Returns true if a score may be among the best. A score equal to the threshold may be, depending on its id.
    fn is_competitive(&self, score: f64) -> bool {
        score >= self.threshold
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.depth == 0 || !self.is_competitive(candidate.score) {
            return;
        }
        self.candidates.push(candidate);
        // At least 64: pruning takes time in proportion to the buffer, so it must be rare for a small depth, too.
        if self.candidates.len() >= self.depth.saturating_mul(2).max(64) {
            self.prune();
        }
    }

    fn prune(&mut self) {
        if self.candidates.len() > self.depth {
            let (_, worst, _) = self
                .candidates
                .select_nth_unstable_by(self.depth - 1, by_rank);
            self.threshold = worst.score;
            self.candidates.truncate(self.depth);
        }
    }

    fn finish(mut self) -> Vec<(DocumentAddress, f64)> {
        if self.depth > 0 {
            self.prune();
        }
        self.candidates.sort_unstable_by(by_rank);
        self.candidates
            .into_iter()
            .map(|candidate| (candidate.address, candidate.score))
            .collect()
    }
}

impl Snapshot {
    /// Returns the best `depth` selected documents by the sum of clauses over the terms of a query.
    pub fn top_docs<S: Selection>(
        &self,
        terms: &[QueryTerm],
        clauses: &[Clause<'_>],
        depth: usize,
        selection: &mut S,
    ) -> Result<TopDocs, IndexError> {
        let mut best = TopCollector::new(depth);
        let mut total = 0;
        let mut scores = WindowScores::new();
        for (ordinal, reader) in self.searcher.segment_readers().iter().enumerate() {
            let mut cursors = self.cursors(reader, terms, clauses)?;
            // Windows without a posting are skipped.
            while let Some(first) = cursors.iter().filter_map(Cursor::document).min() {
                let window = first as usize / WINDOW_DOCS;
                for cursor in &mut cursors {
                    // No overflow: documents are below tantivy's `TERMINATED`, 2³¹ − 1.
                    let lengths = self.segments[ordinal].window(cursor.clause.field, window);
                    cursor.add(((window + 1) * WINDOW_DOCS) as u32, lengths, &mut scores);
                }
                total += self.collect(ordinal, window, &mut scores, selection, &mut best);
            }
        }
        Ok(TopDocs {
            total,
            best: best.finish(),
        })
    }

    fn cursors<'q, 'c>(
        &self,
        reader: &SegmentReader,
        terms: &[QueryTerm],
        clauses: &'q [Clause<'c>],
    ) -> Result<Vec<Cursor<'q, 'c>>, IndexError> {
        let mut cursors = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let field = self.fields.text(clause.field);
            let inverted = reader.inverted_index(field)?;
            if let Some(postings) =
                TermPostings::open(&inverted, field, &terms[clause.term].alternatives)?
            {
                cursors.push(Cursor { clause, postings });
            }
        }
        Ok(cursors)
    }

    /// Returns the best `depth` of rescored documents, best first.
    pub fn select_top(
        &self,
        scored: Vec<(DocumentAddress, f64)>,
        depth: usize,
    ) -> Vec<(DocumentAddress, f64)> {
        let mut best = TopCollector::new(depth);
        for (address, score) in scored {
            let order = self.segments[address.segment as usize].order[address.document as usize];
            best.offer(Candidate {
                score,
                order,
                address,
            });
        }
        best.finish()
    }

    /// Collects the live, selected documents of a window, clears the window, and returns their number.
    fn collect<S: Selection>(
        &self,
        ordinal: usize,
        window: usize,
        scores: &mut WindowScores,
        selection: &mut S,
        best: &mut TopCollector,
    ) -> usize {
        let order = &self.segments[ordinal].order;
        let alive = self.searcher.segment_readers()[ordinal].alive_bitset();
        let WindowScores { scores, touched } = scores;
        let mut total = 0;
        for (word, (scores, touched)) in scores
            .as_chunks_mut::<64>()
            .0
            .iter_mut()
            .zip(touched)
            .enumerate()
        {
            if *touched == 0 {
                continue;
            }
            let mut rest = std::mem::take(touched);
            let first = (window * WINDOW_DOCS + word * 64) as u32;
            if let Some(alive) = alive {
                rest = select_live_bits(rest, first, alive);
            }
            rest = selection.select(ordinal, first, rest);
            total += rest.count_ones() as usize;
            while rest != 0 {
                let place = rest.trailing_zeros();
                // Clears the lowest bit.
                rest &= rest - 1;
                let score = scores[place as usize];
                let document = first + place;
                // Most documents are not competitive. Nothing else is read of them.
                if best.is_competitive(score) {
                    let address = DocumentAddress {
                        segment: ordinal as u32,
                        document,
                    };
                    best.offer(Candidate {
                        score,
                        order: order[document as usize],
                        address,
                    });
                }
            }
            // Only words with a document: all other scores are 0 already.
            scores.fill(0.0);
        }
        total
    }
}

/// Returns the bits of `documents`, 64 from `first` on, that are live.
fn select_live_bits(documents: u64, first: u32, alive: &AliveBitSet) -> u64 {
    let mut living = 0;
    let mut rest = documents;
    while rest != 0 {
        let place = rest.trailing_zeros();
        rest &= rest - 1;
        living |= u64::from(alive.is_alive(first + place)) << place;
    }
    living
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(scores in proptest::collection::vec(0u8..6, 0..400), depth in 0usize..40) {
            let candidate = |(order, &score): (usize, &u8)| Candidate {
                score: f64::from(score),
                order: order as u32,
                address: DocumentAddress { segment: 0, document: order as u32 },
            };
            let mut all: Vec<Candidate> = scores.iter().enumerate().map(candidate).collect();
            let mut best = TopCollector::new(depth);
            for &one in &all {
                best.offer(one);
            }
            all.sort_by(by_rank);
            let expected: Vec<_> = all.iter().take(depth).map(|one| (one.address, one.score)).collect();
            prop_assert_eq!(best.finish(), expected);
        }
    }
}
