//! Triple terms: interning, sorting, and their part of the compact form.
//!
//! A triple term that contains another follows it, so that numbers can be assigned in one pass.

use super::{MAX_TRIPLE_TERM_DEPTH, TermId, Triple, leb128, read_leb128};
use rustc_hash::FxHashMap;

/// Mark of the numbers of triple terms while a graph is built. The numbers of other terms are smaller.
const TRIPLE_TERM_BIT: u32 = 1 << 31;

/// Triple terms of a graph that is built, by the numbers of their terms.
#[derive(Default, Debug)]
pub(super) struct TripleTermTable {
    terms: Vec<[u32; 3]>,
    ids: FxHashMap<[u32; 3], u32>,
}

impl TripleTermTable {
    /// Returns the number of triple terms.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the number of a triple term.
    pub(super) fn intern(&mut self, triple: [u32; 3]) -> u32 {
        let terms = &mut self.terms;
        *self.ids.entry(triple).or_insert_with(|| {
            terms.push(triple);
            TRIPLE_TERM_BIT | (terms.len() as u32 - 1)
        })
    }

    /// Sorts the triple terms by depth, subject, predicate and object, and appends their places to `rank`, which has the
    /// places of all other terms. In `triples`, the numbers of triple terms become positions in `rank`.
    pub(super) fn rank_terms(self, rank: &mut Vec<u32>, triples: &mut [[u32; 3]]) -> Vec<Triple> {
        let others = rank.len() as u32;
        if self.terms.is_empty() {
            return Vec::new();
        }
        for triple in triples {
            triple[2] = rank_position(triple[2], others);
        }
        let mut levels: Vec<Vec<usize>> = Vec::new();
        let mut depths: Vec<usize> = Vec::with_capacity(self.terms.len());
        // A triple term is interned after the one that it contains, whose depth is known therefore.
        for (index, [.., object]) in self.terms.iter().enumerate() {
            let depth = if object & TRIPLE_TERM_BIT == 0 {
                0
            } else {
                depths[(object & !TRIPLE_TERM_BIT) as usize] + 1
            };
            depths.push(depth);
            levels.resize(levels.len().max(depth + 1), Vec::new());
            levels[depth].push(index);
        }
        rank.resize(rank.len() + self.terms.len(), 0);
        let mut sorted = Vec::with_capacity(self.terms.len());
        // Terms of a level refer to earlier levels only, which have their ranks.
        for level in levels {
            let mut triples = Vec::with_capacity(level.len());
            for index in level {
                let [subject, predicate, object] =
                    self.terms[index].map(|id| TermId(rank[rank_position(id, others) as usize]));
                let triple = Triple {
                    subject,
                    predicate,
                    object,
                };
                triples.push((triple, index));
            }
            triples.sort_unstable();
            for (triple, index) in triples {
                rank[others as usize + index] = others + sorted.len() as u32;
                sorted.push(triple);
            }
        }
        sorted
    }
}

/// Returns the position in the ranks of all terms. Those of triple terms follow the `others` other ones.
fn rank_position(id: u32, others: u32) -> u32 {
    if id & TRIPLE_TERM_BIT == 0 {
        id
    } else {
        others + (id & !TRIPLE_TERM_BIT)
    }
}

/// Writes sorted triple terms.
pub(super) fn write(terms: &[Triple], out: &mut Vec<u8>) {
    leb128(out, terms.len() as u64);
    for triple in terms {
        for id in [triple.subject, triple.predicate, triple.object] {
            leb128(out, u64::from(id.0));
        }
    }
}

/// Reads the triple terms of a graph with `others` other terms. Returns `None` if they are malformed.
pub(super) fn read(input: &mut &[u8], others: usize) -> Option<Vec<Triple>> {
    let count = usize::try_from(read_leb128(input)?).ok()?;
    let mut terms = Vec::with_capacity(count.min(input.len()));
    let mut depths: Vec<usize> = Vec::new();
    for index in 0..count {
        let mut ids = [0; 3];
        for id in &mut ids {
            *id = u32::try_from(read_leb128(input)?).ok()?;
        }
        let [subject, predicate, object] = ids;
        // An object before this term excludes cycles.
        if subject.max(predicate) as usize >= others || object as usize >= others + index {
            return None;
        }
        let depth = match (object as usize).checked_sub(others) {
            Some(inner) => depths[inner] + 1,
            None => 1,
        };
        if depth > MAX_TRIPLE_TERM_DEPTH {
            return None;
        }
        depths.push(depth);
        let [subject, predicate, object] = ids.map(TermId);
        terms.push(Triple {
            subject,
            predicate,
            object,
        });
    }
    Some(terms)
}
