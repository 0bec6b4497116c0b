//! Sketches of tables. Each of their hashes has a posting list of datasets, so that datasets with common values or headers are found
//! without a comparison of all pairs. The caller makes and compares the sketches.

use super::features::living;
use super::{DocumentAddress, IndexError, Snapshot};
use lodeseek_ranking::DatasetId;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, TantivyDocument, Term};

impl Snapshot {
    /// Returns the sketches of a dataset's tables, as given to
    /// [`with_sketches`](super::IndexDocument::with_sketches). `None` if it has no tables, or if there is no such dataset.
    pub fn sketches(&self, id: &DatasetId) -> Result<Option<Vec<u8>>, IndexError> {
        let (Some(fields), Some(DocumentAddress { segment, document })) =
            (self.fields.sketches, self.address(id)?)
        else {
            return Ok(None);
        };
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(segment, document))?;
        let bytes = document.get_first(fields.sketches);
        Ok(bytes.and_then(|value| Some(value.as_bytes()?.to_vec())))
    }

    /// Returns the datasets whose sketches have a hash. None if more than `max_datasets` have it, where removed ones count until their
    /// segment is merged.
    pub fn with_sketch_hash(
        &self,
        hash: u64,
        max_datasets: usize,
    ) -> Result<Vec<DocumentAddress>, IndexError> {
        let mut documents = Vec::new();
        let Some(fields) = self.fields.sketches else {
            return Ok(documents);
        };
        let term = Term::from_field_u64(fields.hashes, hash);
        let mut count = 0;
        for reader in self.searcher.segment_readers() {
            count += reader.inverted_index(fields.hashes)?.doc_freq(&term)? as usize;
        }
        if count > max_datasets {
            return Ok(documents);
        }
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = reader.inverted_index(fields.hashes)?;
            if let Some(postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? {
                living(reader, segment, postings, &mut documents)?;
            }
        }
        Ok(documents)
    }
}
