//! RDF about a dataset: its linked-data description (the form of `GET /dataset/{id}` and of `lodeseek show`), its
//! statistics in VoID and its shapes in SHACL.

use super::{EngineError, Facet, IndexedCatalog};
use lodeseek_catalog::{DatasetId, Format, Iris, data_theme_iri};
use lodeseek_profile::Shapes;
use lodeseek_quality::FormatIris;
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::vocab::{dcat, dcterms, lodeseek, rdf, spdx};
use lodeseek_store::{Entry, Store, StoreError, StoredFile};
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};

/// Returns the triples of a dataset's catalogue entry, VoID profile and stored snippet. If the operator edited the description, its
/// catalogue record is included, which names the edited keys. Addresses of files begin with `base`.
///
/// # Errors
/// [`StoreError::NoDataset`] if the store has no such dataset, and other errors of the store.
pub fn dataset_triples(
    store: &Store,
    id: &DatasetId,
    base: &str,
) -> Result<Vec<Triple>, StoreError> {
    store.entry(id)?;
    let mut triples = store.description(id)?;
    add_file_addresses(store, id, &mut triples, base)?;
    if store.dataset_edits(id)?.is_some() {
        triples.extend(store.record_of(id)?);
    }
    triples.extend(store.derived_triples(&store.iris().profiles(), id)?);
    triples.extend(store.derived_triples(&store.iris().snippets(), id)?);
    Ok(triples)
}

/// Returns the statements of the themes that the words of a dataset suggest: `lodeseek:suggestedTheme`, never `dcat:theme`.
///
/// # Errors
/// If the index cannot be read.
pub fn suggested_theme_triples(
    catalog: &IndexedCatalog,
    iris: &Iris,
    id: &DatasetId,
) -> Result<Vec<Triple>, EngineError> {
    let mut triples = Vec::new();
    for name in catalog.facet_values(id, Facet::SuggestedTheme)? {
        if let Some(theme) = data_theme_iri(&name) {
            triples.push(Triple::new(
                iris.dataset(id),
                NamedNode::new_unchecked(lodeseek::SUGGESTED_THEME),
                NamedNode::new_unchecked(theme),
            ));
        }
    }
    Ok(triples)
}

/// Adds the addresses of kept files on the server at `base`, which ends with a slash, to the distributions of a description that have no
/// download address on the web, with their sizes, formats and SHA-256.
///
/// # Errors
/// If the store cannot be read.
pub fn add_file_addresses(
    store: &Store,
    id: &DatasetId,
    description: &mut Vec<Triple>,
    base: &str,
) -> Result<(), StoreError> {
    for (number, file) in store.dataset_files(id)?.iter().enumerate() {
        let Ok(address) = NamedNode::new(format!("{base}{}", Iris::file_path(id, &file.name)))
        else {
            continue;
        };
        let Some(distribution) = distribution_of(description, &file.location) else {
            continue;
        };
        description.retain(|triple| {
            !(triple.subject == distribution && triple.predicate.as_str() == dcat::DOWNLOAD_URL)
        });
        description.push(triple(&distribution, dcat::DOWNLOAD_URL, address));
        add_size_and_format(description, &distribution, file);
        if !has_property(description, &distribution, spdx::CHECKSUM) {
            let part = store
                .iris()
                .part(id, &format!("file-{}-checksum", number + 1));
            description.push(triple(&distribution, spdx::CHECKSUM, part.clone()));
            let part = NamedOrBlankNode::from(part);
            let algorithm = NamedNode::new_unchecked(spdx::SHA256);
            let class = NamedNode::new_unchecked(spdx::CHECKSUM_CLASS);
            description.push(triple(&part, rdf::TYPE, class));
            description.push(triple(&part, spdx::ALGORITHM, algorithm));
            let datatype = NamedNode::new_unchecked(HEX_BINARY);
            let value = Literal::new_typed_literal(file.sha256.as_str(), datatype);
            description.push(triple(&part, spdx::CHECKSUM_VALUE, value));
        }
    }
    Ok(())
}

/// Returns the description of a dataset as it is assessed: with the sizes and formats that this portal states of the files it serves.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn assessed_description(
    store: &Store,
    id: &DatasetId,
) -> Result<TripleGraph, StoreError> {
    let mut description = store.description(id)?;
    for file in store.dataset_files(id)? {
        if let Some(distribution) = distribution_of(&description, &file.location) {
            add_size_and_format(&mut description, &distribution, &file);
        }
    }
    Ok(description.into_iter().collect())
}

/// Adds size, format and media type of a kept file to its distribution, unless they are declared.
fn add_size_and_format(
    description: &mut Vec<Triple>,
    distribution: &NamedOrBlankNode,
    file: &StoredFile,
) {
    if !has_property(description, distribution, dcat::BYTE_SIZE) {
        let datatype = NamedNode::new_unchecked(NON_NEGATIVE_INTEGER);
        let bytes = Literal::new_typed_literal(file.bytes.to_string(), datatype);
        description.push(triple(distribution, dcat::BYTE_SIZE, bytes));
    }
    let declares_format = has_property(description, distribution, dcterms::FORMAT)
        || has_property(description, distribution, dcat::MEDIA_TYPE);
    let Some(format) = format_of_file(&file.name).filter(|_| !declares_format) else {
        return;
    };
    description.push(triple(distribution, dcterms::FORMAT, format.file_type));
    if let Some(media_type) = format.media_type {
        description.push(triple(distribution, dcat::MEDIA_TYPE, media_type));
    }
    // Archives have no format of content. IANA's list lacks bzip2 and xz.
    let compression = file.media_type();
    if ["application/gzip", "application/zstd"].contains(&compression)
        && !has_property(description, distribution, dcat::COMPRESS_FORMAT)
    {
        let iri = lodeseek_quality::media_type_iri(compression);
        description.push(triple(distribution, dcat::COMPRESS_FORMAT, iri));
    }
}

/// Returns the format of the content of a file by the extension of its name, which may be compressed. `None` for archives, whose content
/// is unknown, and for unknown extensions.
fn format_of_file(name: &str) -> Option<FormatIris> {
    match Format::from_path(name) {
        Some(format) => FormatIris::from_name(format.aliases.first()?),
        None => FormatIris::from_name(name.rsplit_once('.')?.1),
    }
}

const NON_NEGATIVE_INTEGER: &str = "http://www.w3.org/2001/XMLSchema#nonNegativeInteger";
const HEX_BINARY: &str = "http://www.w3.org/2001/XMLSchema#hexBinary";

/// Returns the distribution of a file whose download address is not on the web: a path, or none beside a page that gives access.
fn distribution_of(description: &[Triple], location: &str) -> Option<NamedOrBlankNode> {
    let path = description
        .iter()
        .find(|triple| has_location(triple, dcat::DOWNLOAD_URL, location));
    if let Some(triple) = path {
        return matches!(&triple.object, Term::Literal(_)).then(|| triple.subject.clone());
    }
    let page = description
        .iter()
        .find(|triple| has_location(triple, dcat::ACCESS_URL, location))?;
    let has_address = has_property(description, &page.subject, dcat::DOWNLOAD_URL);
    (!has_address).then(|| page.subject.clone())
}

fn has_property(description: &[Triple], subject: &NamedOrBlankNode, property: &str) -> bool {
    description
        .iter()
        .any(|triple| triple.subject == *subject && triple.predicate.as_str() == property)
}

/// Returns true if a triple has this property, and this location as an IRI or a literal.
fn has_location(triple: &Triple, property: &str, location: &str) -> bool {
    let text = match &triple.object {
        Term::NamedNode(node) => node.as_str(),
        Term::Literal(text) => text.value(),
        _ => return false,
    };
    triple.predicate.as_str() == property && text == location
}

fn triple(subject: &NamedOrBlankNode, property: &str, object: impl Into<Term>) -> Triple {
    Triple::new(subject.clone(), NamedNode::new_unchecked(property), object)
}

/// Returns the triples of a dataset's VoID profile, as of the last `index`.
///
/// # Errors
/// [`StoreError::NoDataset`] if the store has no such dataset, and other errors of the store.
pub fn dataset_void(store: &Store, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
    store.entry(id)?;
    store.derived_triples(&store.iris().profiles(), id)
}

/// Derives SHACL shapes from the stored content of a dataset. The content conforms to them.
///
/// # Errors
/// Errors of reading the content.
pub fn dataset_shapes(store: &Store, entry: &Entry) -> Result<Vec<Triple>, StoreError> {
    let graph = store.content(entry)?;
    let dataset = store.iris().dataset(&entry.dataset.metadata.id);
    let shapes = NamedNode::new_unchecked(format!("{}/shapes", dataset.as_str()));
    Ok(Shapes::new(&graph).to_shacl(&graph, &shapes, &dataset))
}
