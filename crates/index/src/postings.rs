//! The postings of a query's term in a field of a segment, block by block.
//!
//! A term that stands for one token is read as tantivy decodes it. One that stands for several is merged on the fly: the
//! documents that hold any of them, ascending, each once, with the frequencies summed.

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{InvertedIndexReader, Term};

/// Documents merged at once at most: as many as tantivy's blocks hold.
const MERGED: usize = 128;

/// The postings of a term, read forwards.
#[expect(clippy::large_enum_variant, reason = "the large one is the common one; a box would part it from its cursor")]
pub(super) enum TermPostings {
    /// Of one token: the others, if there are any, are not in the segment.
    One(Blocks),
    /// Of several.
    Several(Merged),
}

impl TermPostings {
    /// Those of a term that stands for these tokens; `None` where the segment has none of them.
    pub(super) fn open(
        inverted: &InvertedIndexReader,
        field: Field,
        tokens: &[String],
    ) -> Result<Option<Self>, tantivy::TantivyError> {
        let mut lists = Vec::new();
        for token in tokens {
            let term = Term::from_field_text(field, token);
            if let Some(postings) = inverted.read_block_postings(&term, IndexRecordOption::WithFreqs)? {
                lists.push(Blocks { postings, next: 0 });
            }
        }
        Ok(match lists.len() {
            0 | 1 => lists.pop().map(Self::One),
            _ => Some(Self::Several(Merged { lists, documents: Vec::new(), frequencies: Vec::new() })),
        })
    }

    /// The next document.
    pub(super) fn document(&self) -> Option<u32> {
        match self {
            Self::One(blocks) => blocks.document(),
            Self::Several(merged) => merged.document(),
        }
    }

    /// Hands out the documents below `end` with their frequencies, ascending, in slices.
    pub(super) fn read(&mut self, end: u32, mut take: impl FnMut(&[u32], &[u32])) {
        match self {
            Self::One(blocks) => {
                while let Some((documents, frequencies)) = blocks.below(end) {
                    take(documents, frequencies);
                    let count = documents.len();
                    blocks.skip(count);
                }
            }
            Self::Several(merged) => {
                while merged.fill(end) {
                    take(&merged.documents, &merged.frequencies);
                }
            }
        }
    }
}

/// The postings of a token.
pub(super) struct Blocks {
    postings: BlockSegmentPostings,
    /// The next posting of the block.
    next: usize,
}

impl Blocks {
    fn document(&self) -> Option<u32> {
        self.postings.docs().get(self.next).copied()
    }

    fn frequency(&self) -> u32 {
        self.postings.freqs()[self.next]
    }

    /// What is left of the block below `end`; `None` where that is nothing.
    fn below(&self, end: u32) -> Option<(&[u32], &[u32])> {
        self.document().filter(|&document| document < end)?;
        let (documents, frequencies) = (&self.postings.docs()[self.next..], &self.postings.freqs()[self.next..]);
        let count = match documents.last() {
            Some(&last) if last < end => documents.len(),
            _ => documents.partition_point(|&document| document < end),
        };
        Some((&documents[..count], &frequencies[..count]))
    }

    /// Goes on by some postings of the block.
    fn skip(&mut self, count: usize) {
        self.next += count;
        if self.next == self.postings.docs().len() {
            self.postings.advance();
            self.next = 0;
        }
    }
}

/// The postings of several tokens as of one.
pub(super) struct Merged {
    lists: Vec<Blocks>,
    /// What was merged last.
    documents: Vec<u32>,
    frequencies: Vec<u32>,
}

impl Merged {
    fn document(&self) -> Option<u32> {
        self.lists.iter().filter_map(Blocks::document).min()
    }

    /// Merges the next documents below `end`, a block of them at most; `false` where there are none.
    fn fill(&mut self, end: u32) -> bool {
        self.documents.clear();
        self.frequencies.clear();
        let mut waiting = self.lists.iter_mut().filter(|list| list.document().is_some_and(|document| document < end));
        let (first, second) = (waiting.next(), waiting.next());
        // In most windows one of the tokens occurs alone.
        if let (Some(only), None) = (first, second) {
            if let Some((documents, frequencies)) = only.below(end) {
                self.documents.extend_from_slice(documents);
                self.frequencies.extend_from_slice(frequencies);
            }
            only.skip(self.documents.len());
        } else {
            self.merge(end);
        }
        !self.documents.is_empty()
    }

    fn merge(&mut self, end: u32) {
        while self.documents.len() < MERGED {
            let Some(document) = self.document().filter(|&document| document < end) else { return };
            let mut sum = 0;
            for list in &mut self.lists {
                if list.document() == Some(document) {
                    sum += list.frequency();
                    list.skip(1);
                }
            }
            self.documents.push(document);
            self.frequencies.push(sum);
        }
    }
}
