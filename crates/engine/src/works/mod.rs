//! Works that use datasets, as evidence for ranking: the datasets of the works nearest to a query are candidates.
//!
//! ```text
//! home/works/works.jsonl   all works, which the store also describes in RDF
//! home/works/MODEL/        one vector for each work, made by a model with one vector per text
//! ```
//!
//! The k works nearest to a query vote for the datasets that they use, each with its similarity as weight: nearest
//! neighbours in the sense of V. Viswanathan et al., *DataFinder: Scientific Dataset Recommendation from Natural Language
//! Descriptions*, ACL 2023, section 5. Their script weights by distance, so that the farthest works count most.

mod encoding;
mod nearest;

use encoding::remove_vectors;
pub use encoding::{WorksReport, encode_works, encode_works_until};
pub use nearest::{NearWork, WorkEvidence};
pub(super) use nearest::{VoteLimits, WorkRetriever, WorkVotes};

use super::{EngineError, Searcher};
use lodeseek_catalog::{CitingWork, DatasetId};
use lodeseek_rerank::Encoder;
use lodeseek_store::{Store, read_works};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// Report of adding works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedWorks {
    /// Number of new works.
    pub added: usize,
    /// Number of works that replaced an earlier one with the same URL, or the same title and year.
    pub replaced: usize,
    /// Number of works that the home had already.
    pub unchanged: usize,
    /// Number of works of the home afterwards.
    pub total: usize,
    /// Number of datasets of the home that at least one work uses.
    pub used_datasets: usize,
    /// Number of ids in all works that are no dataset of the home. They count as soon as the dataset is loaded.
    pub unknown_datasets: usize,
}

/// Adds works to the home of a store, which must be open for writing. A work replaces an earlier one with the same URL, or
/// the same title and year. All are added in one commit, or none.
///
/// # Errors
/// If the present works are damaged, or the new ones cannot be written.
pub fn add_works(store: &Store, works: Vec<CitingWork>) -> Result<AddedWorks, EngineError> {
    let former = read_works(store.home())?;
    let mut present = former.clone();
    let mut report = AddedWorks::default();
    for work in works {
        let key = work.key();
        match present.get(&key) {
            Some(old) if *old == work => report.unchanged += 1,
            Some(_) => report.replaced += 1,
            None => report.added += 1,
        }
        present.insert(key, work);
    }
    report.total = present.len();
    let mut used: Vec<_> = present.values().flat_map(|work| &work.datasets).collect();
    used.sort_unstable();
    used.dedup();
    let ids = store.ids()?;
    report.used_datasets = used
        .iter()
        .filter(|id| ids.binary_search(id).is_ok())
        .count();
    report.unknown_datasets = used.len() - report.used_datasets;
    if report.added + report.replaced > 0 {
        store.replace_works(&former, &present)?;
    }
    Ok(report)
}

/// A work of a home.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CollectionWork {
    /// Its id: the key of its IRI.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Year of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The datasets that it uses, in the home or not.
    pub datasets: Vec<DatasetId>,
}

/// Lists the works of a store's home by title.
///
/// # Errors
/// If the works are damaged.
pub fn list_works(store: &Store) -> Result<Vec<CollectionWork>, EngineError> {
    let mut works = Vec::new();
    for (
        id,
        CitingWork {
            title,
            year,
            url,
            datasets,
            ..
        },
    ) in read_works(store.home())?
    {
        works.push(CollectionWork {
            id,
            title,
            year,
            url,
            datasets,
        });
    }
    // Ids are digests: their order means nothing to readers. Works of the same title remain ordered by them.
    works.sort_by(|one, other| one.title.cmp(&other.title));
    Ok(works)
}

/// Removes works from the home of a store, which must be open for writing: from the list and the graph in one commit, then
/// their vectors. Returns their number.
///
/// # Errors
/// If one of the works does not exist (nothing is removed then), the present works are damaged, or the change cannot be
/// written.
pub fn remove_works(store: &Store, ids: &[String]) -> Result<usize, EngineError> {
    let former = read_works(store.home())?;
    if let Some(unknown) = ids.iter().find(|id| !former.contains_key(*id)) {
        return Err(EngineError::UnknownWork(unknown.clone()));
    }
    let removed: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let mut present = former.clone();
    present.retain(|key, _| !removed.contains(key.as_str()));
    store.replace_works(&former, &present)?;
    // Vectors of absent works are not used, and the next encoding removes them.
    if let Err(error) = remove_vectors(store.home(), &removed) {
        tracing::warn!(%error, "the vectors of removed works cannot be removed; run `lodeseek repair`, then `lodeseek index`");
    }
    Ok(removed.len())
}

/// Returns the number of works of a home.
pub(super) fn count_works(home: &Path) -> Result<usize, EngineError> {
    Ok(read_works(home)?.len())
}

/// Returns true if a home has vectors of works by one of some encoders.
///
/// # Errors
/// If the vectors cannot be read.
pub fn has_encoded_works(home: &Path, encoders: &[Box<dyn Encoder>]) -> Result<bool, EngineError> {
    for encoder in encoders {
        if WorkRetriever::open(home, encoder.as_ref())?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if works rank with their own defaults in a home: it has vectors of works by one of some encoders, and datasets
/// that are descriptions alone, as collections of machine learning are.
///
/// # Errors
/// If the vectors or the index cannot be read.
pub fn ranks_by_works(home: &Path, encoders: &[Box<dyn Encoder>]) -> Result<bool, EngineError> {
    for encoder in encoders {
        if let Some(works) = WorkRetriever::open(home, encoder.as_ref())?
            && works.has_vectors()?
        {
            return Ok(!Searcher::open(home)?.catalog().has_content()?);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;
    use lodeseek_index::vectors::{
        Description, Precision, Rows, Vectors, VectorsWriter, model_folder,
    };
    use lodeseek_store::works_folder;

    fn work(title: &str, year: i32, url: Option<&str>) -> CitingWork {
        let datasets = vec![DatasetId::new("a").expect("an id")];
        let url = url.map(str::to_owned);
        CitingWork {
            title: title.to_owned(),
            summary: "Text".to_owned(),
            year: Some(year),
            url,
            datasets,
        }
    }

    #[test]
    fn works_are_listed_and_removed_with_their_vectors() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(folder.path(), Iris::default()).expect("a store");
        let works = vec![
            work("Two", 2020, None),
            work("One", 2021, Some("https://e.org/1")),
            work("Two", 2019, None),
        ];
        let keys: Vec<String> = works.iter().map(CitingWork::key).collect();
        add_works(&store, works).expect("added");
        let description = Description {
            model: "m".to_owned(),
            fingerprint: "f".to_owned(),
            columns: 2,
            precision: Precision::F16,
        };
        let vectors_of_model = model_folder(&works_folder(folder.path()), "f");
        let mut writer = VectorsWriter::open(&vectors_of_model, description).expect("opened");
        let [row, none] =
            [&[1.0, 0.0][..], &[]].map(|values| Rows::pack(values, 2, Precision::F16));
        for key in &keys {
            let id = DatasetId::new(key.as_str()).expect("an id");
            writer
                .put(id, "digest".to_owned(), [&row, &none])
                .expect("put");
        }
        writer.finish().expect("written");

        let listed = list_works(&store).expect("listed");
        assert_eq!(
            listed
                .iter()
                .map(|work| work.title.as_str())
                .collect::<Vec<_>>(),
            ["One", "Two", "Two"]
        );
        assert_eq!(
            (&listed[0].id, listed[0].url.as_deref()),
            (&keys[1], Some("https://e.org/1"))
        );
        let unknown =
            remove_works(&store, &[keys[0].clone(), "unknown".to_owned()]).expect_err("unknown");
        assert!(
            unknown
                .to_string()
                .contains("nothing was removed: there is no work \"unknown\""),
            "{unknown}"
        );
        assert_eq!(list_works(&store).expect("listed"), listed);
        let removed = [keys[0].clone(), keys[1].clone(), keys[0].clone()];
        assert_eq!(remove_works(&store, &removed).expect("removed"), 2);
        assert_eq!(
            list_works(&store)
                .expect("listed")
                .iter()
                .map(|work| &work.id)
                .collect::<Vec<_>>(),
            [&keys[2]]
        );
        let vectors = Vectors::open(&vectors_of_model, "f")
            .expect("opened")
            .snapshot()
            .expect("read");
        assert_eq!(
            vectors
                .ids()
                .iter()
                .map(DatasetId::as_str)
                .collect::<Vec<_>>(),
            [keys[2].as_str()]
        );
        assert_eq!(remove_works(&store, &keys[2..]).expect("removed"), 1);
        assert_eq!(count_works(folder.path()).expect("counted"), 0);
    }
}
