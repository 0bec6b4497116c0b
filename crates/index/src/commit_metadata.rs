//! Metadata of the index: the analysis that produced it.
//!
//! It is the payload of tantivy's commits in `meta.json`. It is replaced atomically together with the list of segments,
//! so it always describes the indexed documents. A separate file could be inconsistent with them. A different schema,
//! such as another tokenizer name, would require another folder, and no search would be possible until it is complete.

use super::verified_directory::VerifiedDirectory;
use super::{AnalysisKind, IndexError};
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Serialize, Deserialize)]
struct CommitMetadata {
    analysis: AnalysisKind,
}

/// Returns the payload of a commit.
pub(super) fn payload(analysis: AnalysisKind) -> String {
    serde_json::to_string(&CommitMetadata { analysis }).unwrap_or_default()
}

/// Returns the analysis recorded with the last commit, or the default if there is none, as in a new index.
pub(super) fn analysis_of(index: &tantivy::Index) -> Result<AnalysisKind, IndexError> {
    let Some(payload) = index.load_metas()?.payload else {
        return Ok(AnalysisKind::default());
    };
    let metadata = serde_json::from_str::<CommitMetadata>(&payload)
        .map_err(|_| IndexError::OtherAnalysis(payload))?;
    Ok(metadata.analysis)
}

/// Returns the analysis recorded in the index in a folder. `None` if there is no readable index.
#[must_use]
pub fn read_analysis(folder: &Path) -> Option<AnalysisKind> {
    let directory = VerifiedDirectory::open(folder).ok()?;
    analysis_of(&tantivy::Index::open(directory).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::{AnalyzedQuery, Index, IndexDocument, IndexWriter};
    use super::*;
    use crate::StatisticsLevel;
    use crate::document::{Field, FieldedDocument};
    use lodeseek_catalog::{DatasetId, Metadata, Text};
    use lodeseek_rdf::TripleGraphBuilder;

    fn write(folder: &Path, analysis: Option<AnalysisKind>) -> String {
        let mut writer = IndexWriter::open(folder).expect("opened");
        if let Some(analysis) = analysis {
            writer = writer.with_analysis(analysis);
        }
        let id = DatasetId::new("1").expect("an id");
        let metadata = Metadata {
            titles: vec![Text::plain("A list of every city")],
            ..Metadata::new(id.clone())
        };
        let document = FieldedDocument::new(&metadata, &TripleGraphBuilder::new().finish());
        let version = crate::document_version(writer.analysis(), "content", "metadata");
        let analysis = super::super::Analysis::new(writer.analysis());
        writer
            .put(IndexDocument::new(
                id,
                version.clone(),
                &document,
                &analysis,
                Vec::new(),
                Vec::new(),
            ))
            .expect("put");
        writer.commit().expect("committed");
        writer.finish().expect("finished");
        version
    }

    fn finds(folder: &Path, query: &str) -> bool {
        let snapshot = Index::open(folder)
            .and_then(|index| index.snapshot())
            .expect("opened");
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        let statistics = snapshot
            .collection_statistics(&query, &[Field::Title], StatisticsLevel::Documents)
            .expect("counted");
        statistics
            .terms
            .iter()
            .any(|term| term[Field::Title.index()].documents > 0)
    }

    #[test]
    fn an_index_remembers_its_analysis() {
        let folder = tempfile::tempdir().expect("a folder");
        let kind = || {
            Index::open(folder.path())
                .and_then(|i| i.snapshot())
                .expect("opened")
                .analysis()
                .kind()
        };
        let first = write(folder.path(), None);
        assert_eq!(kind(), AnalysisKind::Acordar);
        assert!(finds(folder.path(), "city") && !finds(folder.path(), "cities"));
        let second = write(folder.path(), Some(AnalysisKind::Multilingual));
        assert_ne!(first, second, "the version depends on the analysis");
        assert_eq!(kind(), AnalysisKind::Multilingual);
        assert!(finds(folder.path(), "cities"));
        assert_eq!(
            write(folder.path(), None),
            second,
            "the recorded analysis is the default"
        );
        assert_eq!(kind(), AnalysisKind::Multilingual);
    }

    #[test]
    fn an_unknown_analysis_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), None);
        let meta = folder.path().join("meta.json");
        let text = std::fs::read_to_string(&meta)
            .expect("read")
            .replace("acordar", "klingon");
        // Early versions wrote no checksum; with one, the change is damage.
        let members = text
            .split(",\"lodeseek_checksum\"")
            .next()
            .expect("members");
        std::fs::write(&meta, format!("{members}}}")).expect("written");
        assert!(matches!(
            Index::open(folder.path()),
            Err(IndexError::OtherAnalysis(_))
        ));
    }
}
