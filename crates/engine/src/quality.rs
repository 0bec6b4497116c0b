//! Quality assessments, from the store's descriptions of datasets and the index's profiles of their content. The results of checked
//! URLs are in the home in `quality/reached.json`.

use super::dataset_triples::assessed_description;
use super::{EngineError, Searcher};
use lodeseek_catalog::{DatasetId, Metadata, dcat, plain_text};
use lodeseek_quality::{Assessment, DatasetLabel, Overview, UrlChecks, assess};
use lodeseek_rdf::TermRef;
use lodeseek_rdf::vocab::dcat as terms;
use lodeseek_store::{Store, StoreError, read_checked, write_checked};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(super) fn url_checks_path(home: &Path) -> PathBuf {
    home.join("quality").join("reached.json")
}

/// Reads the latest checks of URLs. They are empty if no URL was checked yet.
///
/// # Errors
/// If the file is damaged or cannot be read.
pub fn read_url_checks(home: &Path) -> Result<UrlChecks, EngineError> {
    let path = url_checks_path(home);
    let Some(body) = read_checked(&path)? else {
        return Ok(UrlChecks::default());
    };
    serde_json::from_slice(&body).map_err(|_| StoreError::DamagedFile { path }.into())
}

/// Writes the latest checks of URLs, whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn write_url_checks(home: &Path, checks: &UrlChecks) -> Result<(), EngineError> {
    let path = url_checks_path(home);
    let body = serde_json::to_vec_pretty(checks)
        .map_err(io::Error::from)
        .map_err(EngineError::io(&path))?;
    fs::create_dir_all(home.join("quality")).map_err(EngineError::io(&path))?;
    Ok(write_checked(&path, &body)?)
}

/// Returns the time of the last change of the checks.
#[must_use]
pub fn url_checks_time(home: &Path) -> Option<SystemTime> {
    fs::metadata(url_checks_path(home))
        .and_then(|metadata| metadata.modified())
        .ok()
}

/// Assesses a dataset. Returns `None` if the catalogue does not describe it.
pub fn assess_dataset(
    id: &DatasetId,
    store: &Store,
    searcher: &Searcher,
    reached: &UrlChecks,
) -> Result<Option<(DatasetLabel, Assessment)>, EngineError> {
    let (graph, node) = (assessed_description(store, id)?, store.iris().dataset(id));
    let Some(dataset) = dcat::from_triples(&graph, &node) else {
        return Ok(None);
    };
    let content = searcher.catalog().card(id)?.map(|card| card.profile);
    Ok(assess(&graph, &node, content.as_ref(), reached)
        .map(|found| (dataset_label(&dataset.metadata), found)))
}

fn dataset_label(metadata: &Metadata) -> DatasetLabel {
    DatasetLabel {
        id: metadata.id.clone(),
        title: plain_text(metadata.title()).into_owned(),
        publisher: metadata
            .publishers
            .iter()
            .map(|agent| agent.name.clone())
            .min(),
    }
}

/// Assesses all datasets of the catalogue.
pub fn assess_catalog(
    store: &Store,
    searcher: &Searcher,
    reached: &UrlChecks,
) -> Result<Overview, EngineError> {
    let mut overview = Overview::default();
    for id in store.ids()? {
        let (graph, node) = (assessed_description(store, &id)?, store.iris().dataset(&id));
        let card = searcher.catalog().card(&id)?;
        let Some(found) = assess(
            &graph,
            &node,
            card.as_ref().map(|card| &card.profile),
            reached,
        ) else {
            continue;
        };
        let named = match card {
            Some(card) => dataset_label(&card.metadata),
            // The dataset is not indexed yet.
            None => match dcat::from_triples(&graph, &node) {
                Some(dataset) => dataset_label(&dataset.metadata),
                None => continue,
            },
        };
        overview.add(named, &found);
    }
    Ok(overview)
}

/// Returns the HTTP addresses declared as access or download URLs of a dataset, or of all datasets.
pub fn distribution_addresses(
    store: &Store,
    of: Option<&DatasetId>,
) -> Result<BTreeSet<String>, EngineError> {
    let graph = match of {
        None => store.catalog_graph()?,
        Some(id) => store.description_graph(id)?,
    };
    let properties = [terms::ACCESS_URL, terms::DOWNLOAD_URL].map(|property| graph.iri(property));
    let declared = graph
        .triples()
        .iter()
        .filter(|triple| properties.contains(&Some(triple.predicate)));
    let addresses = declared.filter_map(|triple| match graph.term(triple.object) {
        TermRef::Iri(iri) if iri.starts_with("http://") || iri.starts_with("https://") => {
            Some(iri.to_owned())
        }
        _ => None,
    });
    Ok(addresses.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_quality::UrlCheck;

    #[test]
    fn checks_are_stored_and_damage_is_detected() {
        let home = tempfile::tempdir().expect("a folder");
        let (home, path) = (home.path(), url_checks_path(home.path()));
        assert_eq!(
            read_url_checks(home).expect("nothing yet"),
            UrlChecks::default()
        );
        let mut checks = UrlChecks::default();
        let checked_at = "2026-01-02T03:04:05Z".to_owned();
        checks.insert(
            "http://e.org/a".to_owned(),
            UrlCheck {
                status: Some(200),
                fault: None,
                checked_at,
            },
        );
        write_url_checks(home, &checks).expect("written");
        assert_eq!(read_url_checks(home).expect("read"), checks);
        assert!(url_checks_time(home).is_some());
        let text = fs::read_to_string(&path).expect("a file");
        let (_, body) = text.split_once('\n').expect("a checksum and JSON");
        // Earlier versions wrote no checksum.
        fs::write(&path, body).expect("written");
        assert_eq!(read_url_checks(home).expect("read"), checks);
        for damaged in [
            text.replace("200", "201"),
            body[..body.len() / 2].to_owned(),
            String::new(),
        ] {
            fs::write(&path, damaged).expect("written");
            let error = read_url_checks(home).expect_err("damaged").to_string();
            assert!(
                error.contains("reached.json") && error.contains("`lodeseek repair`"),
                "{error}"
            );
        }
    }
}
