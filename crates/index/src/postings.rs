//! Postings of a query term in a field of a segment, read in blocks.
//!
//! A term with one token is read as tantivy decodes it. The lists of several tokens are merged during reading: the
//! documents that contain any of them, ascending, each once, with summed frequencies.

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{InvertedIndexReader, Term};

/// Maximum number of documents merged at once; the size of tantivy's blocks.
const MAX_MERGED_DOCUMENTS: usize = 128;

/// Forward reader of a term's postings.
#[expect(
    clippy::large_enum_variant,
    reason = "the large variant is the common one; boxing it would add an indirection for each block"
)]
pub(super) enum TermPostings {
    /// Postings of one token; the segment contains no other token of the term.
    One(Blocks),
    /// Merged postings of several tokens.
    Several(Merged),
}

impl TermPostings {
    /// Opens the postings of a term with these tokens. Returns `None` if the segment contains none of them.
    pub(super) fn open(
        inverted: &InvertedIndexReader,
        field: Field,
        tokens: &[String],
    ) -> Result<Option<Self>, tantivy::TantivyError> {
        let mut lists = Vec::new();
        for token in tokens {
            let term = Term::from_field_text(field, token);
            if let Some(postings) =
                inverted.read_block_postings(&term, IndexRecordOption::WithFreqs)?
            {
                lists.push(Blocks { postings, next: 0 });
            }
        }
        Ok(match lists.len() {
            0 | 1 => lists.pop().map(Self::One),
            _ => Some(Self::Several(Merged {
                lists,
                documents: Vec::new(),
                frequencies: Vec::new(),
            })),
        })
    }

    /// Returns the next document.
    pub(super) fn document(&self) -> Option<u32> {
        match self {
            Self::One(blocks) => blocks.document(),
            Self::Several(merged) => merged.document(),
        }
    }

    /// Calls `take` with slices of the documents below `end`, ascending, and their frequencies.
    pub(super) fn read(&mut self, end: u32, mut take: impl FnMut(&[u32], &[u32])) {
        match self {
            Self::One(blocks) => {
                while let Some((documents, frequencies)) = blocks.rest_below(end) {
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

/// Postings of a token.
pub(super) struct Blocks {
    postings: BlockSegmentPostings,
    /// Index of the next posting in the block.
    next: usize,
}

impl Blocks {
    fn document(&self) -> Option<u32> {
        self.postings.docs().get(self.next).copied()
    }

    fn frequency(&self) -> u32 {
        self.postings.freqs()[self.next]
    }

    /// Returns the rest of the block below `end`, or `None` if it is empty.
    fn rest_below(&self, end: u32) -> Option<(&[u32], &[u32])> {
        self.document().filter(|&document| document < end)?;
        let documents = &self.postings.docs()[self.next..];
        let frequencies = &self.postings.freqs()[self.next..];
        let count = match documents.last() {
            Some(&last) if last < end => documents.len(),
            _ => documents.partition_point(|&document| document < end),
        };
        Some((&documents[..count], &frequencies[..count]))
    }

    /// Skips postings of the block.
    fn skip(&mut self, count: usize) {
        self.next += count;
        if self.next == self.postings.docs().len() {
            self.postings.advance();
            self.next = 0;
        }
    }
}

/// Postings of several tokens, merged.
pub(super) struct Merged {
    lists: Vec<Blocks>,
    /// Last merged documents.
    documents: Vec<u32>,
    frequencies: Vec<u32>,
}

impl Merged {
    fn document(&self) -> Option<u32> {
        self.lists.iter().filter_map(Blocks::document).min()
    }

    /// Merges at most a block of documents below `end`. Returns false if there are none.
    fn fill(&mut self, end: u32) -> bool {
        self.documents.clear();
        self.frequencies.clear();
        let mut waiting = self
            .lists
            .iter_mut()
            .filter(|list| list.document().is_some_and(|document| document < end));
        let first = waiting.next();
        let second = waiting.next();
        // In most windows only one of the tokens occurs.
        if let (Some(only), None) = (first, second) {
            if let Some((documents, frequencies)) = only.rest_below(end) {
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
        while self.documents.len() < MAX_MERGED_DOCUMENTS {
            let Some(document) = self.document().filter(|&document| document < end) else {
                return;
            };
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
