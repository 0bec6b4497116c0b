//! Quality assessments, from the store's descriptions of datasets and the index's profiles of their content.

use super::{EngineError, Searcher};
use lodeseek_catalog::{DatasetId, Metadata, dcat};
use lodeseek_quality::{Assessment, DatasetLabel, Overview, UrlChecks, assess};
use lodeseek_rdf::TermRef;
use lodeseek_rdf::vocab::dcat as terms;
use lodeseek_store::Store;
use std::collections::BTreeSet;

/// Assesses a dataset. Returns `None` if the catalogue does not describe it.
pub fn assess_dataset(
    id: &DatasetId,
    store: &Store,
    searcher: &Searcher,
    reached: &UrlChecks,
) -> Result<Option<(DatasetLabel, Assessment)>, EngineError> {
    let (graph, node) = (store.description_graph(id)?, store.iris().dataset(id));
    let Some(dataset) = dcat::from_triples(&graph, &node) else { return Ok(None) };
    let content = searcher.catalog().card(id)?.map(|card| card.profile);
    Ok(assess(&graph, &node, content.as_ref(), reached).map(|found| (named(&dataset.metadata), found)))
}

fn named(metadata: &Metadata) -> DatasetLabel {
    DatasetLabel {
        id: metadata.id.clone(),
        title: metadata.title().to_owned(),
        publisher: metadata.publishers.iter().map(|agent| agent.name.clone()).min(),
    }
}

/// Assesses all datasets of the catalogue.
pub fn assess_catalog(store: &Store, searcher: &Searcher, reached: &UrlChecks) -> Result<Overview, EngineError> {
    let graph = store.catalog_graph()?;
    let mut overview = Overview::default();
    for id in store.ids()? {
        let node = store.iris().dataset(&id);
        let card = searcher.catalog().card(&id)?;
        let Some(found) = assess(&graph, &node, card.as_ref().map(|card| &card.profile), reached) else { continue };
        let named = match card {
            Some(card) => named(&card.metadata),
            // The dataset is not indexed yet.
            None => match dcat::from_triples(&graph, &node) {
                Some(dataset) => named(&dataset.metadata),
                None => continue,
            },
        };
        overview.add(named, &found);
    }
    Ok(overview)
}

/// Returns the HTTP addresses declared as access or download URLs of a dataset, or of all datasets.
pub fn distribution_addresses(store: &Store, of: Option<&DatasetId>) -> Result<BTreeSet<String>, EngineError> {
    let graph = match of {
        None => store.catalog_graph()?,
        Some(id) => store.description_graph(id)?,
    };
    let properties = [terms::ACCESS_URL, terms::DOWNLOAD_URL].map(|property| graph.iri(property));
    let declared = graph.triples().iter().filter(|triple| properties.contains(&Some(triple.predicate)));
    let addresses = declared.filter_map(|triple| match graph.term(triple.object) {
        TermRef::Iri(iri) if iri.starts_with("http://") || iri.starts_with("https://") => Some(iri.to_owned()),
        _ => None,
    });
    Ok(addresses.collect())
}
