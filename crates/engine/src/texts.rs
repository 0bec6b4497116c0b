//! An index in memory of plain texts, ranked by a sparse model. It needs no home.

use super::EngineError;
use lodeseek_catalog::DatasetId;
use lodeseek_index::document::{Field, FieldedDocument};
use lodeseek_index::sparse::{FieldWeights, SparseModel, rank};
use lodeseek_index::{Analysis, AnalysisKind, AnalyzedQuery, IndexDocument, IndexWriter, Snapshot};
use lodeseek_ranking::Ranking;

/// An index in memory with one text for each dataset, for experiments. To search a home, use
/// [`Searcher`](super::Searcher).
///
/// ```
/// use lodeseek_catalog::DatasetId;
/// use lodeseek_engine::Texts;
/// use lodeseek_index::sparse::Bm25;
/// let texts = ["houses of Paris", "parks of Rome"].iter().enumerate();
/// let texts = texts.map(|(place, text)| (DatasetId::new(place.to_string()).expect("an id"), *text));
/// let ranking = Texts::new(texts, Default::default())?.rank(Texts::model(&Bm25::default()).as_ref(), "Roman parks", 10)?;
/// assert_eq!(ranking.iter().map(|scored| scored.id.as_str()).collect::<Vec<_>>(), ["1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Texts {
    snapshot: Snapshot,
}

impl Texts {
    /// The only field, which contains the texts.
    const FIELD: Field = Field::Description;

    /// Indexes texts.
    pub fn new<'t>(
        texts: impl IntoIterator<Item = (DatasetId, &'t str)>,
        analysis: AnalysisKind,
    ) -> Result<Self, EngineError> {
        let mut writer = IndexWriter::in_memory()?.with_analysis(analysis);
        let analysis = Analysis::new(analysis);
        for (id, text) in texts {
            let document = FieldedDocument::default().with(Self::FIELD, [text]);
            writer.put(IndexDocument::new(
                id,
                String::new(),
                &document,
                &analysis,
                Vec::new(),
                Vec::new(),
            ))?;
        }
        writer.commit()?;
        Ok(Self {
            snapshot: writer.snapshot()?,
        })
    }

    /// Returns a copy of a model that scores only the field with the texts.
    #[must_use]
    pub fn model(model: &dyn SparseModel) -> Box<dyn SparseModel> {
        let mut weights = FieldWeights([0.0; 8]);
        weights.0[Self::FIELD.index()] = 1.0;
        model.with_weights(weights)
    }

    #[cfg(test)]
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the best `depth` texts.
    pub fn rank(
        &self,
        model: &dyn SparseModel,
        query: &str,
        depth: usize,
    ) -> Result<Ranking, EngineError> {
        let query = AnalyzedQuery::new(query, self.snapshot.analysis());
        Ok(rank(model, &query, &self.snapshot, depth)?.ranking)
    }
}
