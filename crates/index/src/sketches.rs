//! Sketches of tables. Each of their hashes has a posting list of datasets, so that datasets with common values or headers are found
//! without a comparison of all pairs. The caller makes and compares the sketches.

use super::{DocumentAddress, IndexError, Snapshot};
use lodeseek_ranking::DatasetId;
use tantivy::schema::Value;
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

    /// Returns the datasets whose sketches have a hash; an empty list if more than `max_datasets` have it. Removed ones count until their
    /// segment is merged.
    pub fn with_sketch_hash(
        &self,
        hash: u64,
        max_datasets: usize,
    ) -> Result<Vec<DocumentAddress>, IndexError> {
        let Some(fields) = self.fields.sketches else {
            return Ok(Vec::new());
        };
        let term = Term::from_field_u64(fields.hashes, hash);
        let mut count = 0;
        for reader in self.searcher.segment_readers() {
            count += reader.inverted_index(fields.hashes)?.doc_freq(&term)? as usize;
        }
        if count > max_datasets {
            return Ok(Vec::new());
        }
        self.documents_with(&term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FieldedDocument;
    use crate::{Analysis, AnalysisKind, IndexDocument, IndexWriter};

    #[test]
    fn hashes_of_many_datasets_are_skipped() {
        let mut writer = IndexWriter::in_memory().expect("an index");
        let analysis = Analysis::new(AnalysisKind::default());
        let fielded = FieldedDocument::default();
        for (name, hashes) in [("a", vec![7, 8]), ("b", vec![7]), ("c", vec![7])] {
            let id = DatasetId::new(name).expect("an id");
            let document = IndexDocument::new(
                id,
                String::new(),
                &fielded,
                &analysis,
                Vec::new(),
                Vec::new(),
            );
            let document = document.with_sketches("[]".to_owned(), hashes);
            writer.put(document).expect("put");
            // Each dataset is in a segment of its own.
            writer.commit().expect("a commit");
        }
        let snapshot = writer.snapshot().expect("a snapshot");
        for (hash, max_datasets, expected) in [(7, 3, 3), (7, 2, 0), (8, 2, 1), (9, 2, 0)] {
            let found = snapshot.with_sketch_hash(hash, max_datasets);
            assert_eq!(found.expect("read").len(), expected, "{hash}");
        }
    }
}
