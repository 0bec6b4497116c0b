//! Datasets as CKAN packages.

use super::names::{License, package_name, slug};
use crate::portal::metadata::{Checksum, File, Party, PortalMetadata, Term, ckan_time, distinct};
use lodeseek_catalog::{Scheme, plain_text};
use lodeseek_index::compose;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Returns a package with all metadata of the catalogue.
pub(super) fn build_package(described: &PortalMetadata, base: &str) -> Value {
    let metadata = &described.dataset.metadata;
    let name = package_name(&metadata.id);
    let license = License::of_dataset(described);
    let authors: Vec<&str> = metadata
        .creators
        .iter()
        .map(|agent| agent.name.as_str())
        .collect();
    let contact = described.contacts.first();
    let resources: Vec<Value> = described
        .files
        .iter()
        .zip(0..)
        .map(|(file, place)| build_resource(described, file, place, base))
        .collect();
    let keywords = described.keywords.iter();
    let tags: Vec<Value> = distinct(keywords.map(|keyword| compose(keyword).into_owned()))
        .iter()
        .map(|keyword| build_tag(keyword))
        .collect();
    json!({
        "id": metadata.id,
        "name": name,
        "title": plain_text(metadata.title()),
        "notes": metadata.description(),
        "url": metadata.landing_page,
        "version": described.version,
        "author": join_names(&authors),
        "author_email": described.creator_email,
        "maintainer": contact.and_then(|contact| contact.name.as_ref()),
        "maintainer_email": contact.and_then(|contact| contact.email.as_ref()),
        "license_id": license.id,
        "license_title": license.title,
        "license_url": license.url,
        "isopen": license.open,
        "organization": described.organization().map(|one| build_owner(&one, Kind::Organization)),
        "owner_org": described.organization().map(|one| slug(&one.name)),
        "groups": build_groups(described),
        "num_tags": tags.len(),
        "tags": tags,
        "num_resources": resources.len(),
        "resources": resources,
        "extras": collect_extras(described).iter().map(|(key, value)| json!({ "key": key, "value": value })).collect::<Vec<_>>(),
        "metadata_created": described.publication_time(),
        "metadata_modified": described.modification_time(),
        "creator_user_id": null,
        "private": false,
        "state": "active",
        "type": "dataset",
        "relationships_as_object": [],
        "relationships_as_subject": [],
    })
}

fn join_names(names: &[&str]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(", "))
}

/// CKAN's kinds of groups of datasets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Organization,
    Group,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Organization => "organization",
            Self::Group => "group",
        }
    }
}

/// Returns an organisation or group. Its name is its id.
pub(super) fn build_group(name: &str, title: &str, url: Option<&str>, kind: Kind) -> Value {
    json!({
        "id": name,
        "name": name,
        "title": title,
        "display_name": title,
        "type": kind.name(),
        "description": url.unwrap_or_default(),
        "image_url": "",
        "image_display_url": "",
        "created": null,
        "is_organization": kind == Kind::Organization,
        "approval_status": "approved",
        "state": "active",
    })
}

/// Returns the groups: themes with distinct names.
fn build_groups(described: &PortalMetadata) -> Vec<Value> {
    let mut seen = HashSet::new();
    let themes = described.themes.iter();
    themes
        .filter(|theme| seen.insert(slug(&theme.name)))
        .map(|theme| build_owner(theme, Kind::Group))
        .collect()
}

fn build_owner(party: &Party, kind: Kind) -> Value {
    build_group(&slug(&party.name), &party.name, party.iri.as_deref(), kind)
}

/// Returns a tag. Its name is its id.
pub(super) fn build_tag(name: &str) -> Value {
    json!({ "id": name, "name": name, "display_name": name, "state": "active", "vocabulary_id": null })
}

/// Returns a resource: a file or service.
fn build_resource(described: &PortalMetadata, file: &File, position: usize, base: &str) -> Value {
    let package = package_name(&described.dataset.metadata.id);
    let created = file.issued.as_deref().and_then(ckan_time);
    let modified = file.modified.as_deref().and_then(ckan_time);
    json!({
        "id": format!("{package}.{}", file.key),
        "package_id": described.dataset.metadata.id,
        "name": file.name(),
        "description": file.description,
        "url": described.address_or_text(file, base),
        "url_type": null,
        "format": file.label(),
        "mimetype": file.media(),
        "mimetype_inner": null,
        "size": file.bytes,
        "hash": file.checksums.first().map(Checksum::hex).unwrap_or_default(),
        "license": file.license,
        "created": created,
        "last_modified": modified,
        "metadata_modified": modified.as_ref().or(created.as_ref()),
        "position": position,
        "resource_type": null,
        "state": "active",
    })
}

fn iris_or_names(terms: &[Term]) -> Vec<String> {
    terms
        .iter()
        .filter_map(Term::iri_or_name)
        .cloned()
        .collect()
}

/// Returns the metadata without a field in CKAN, under the keys of its DCAT harvesters.
fn collect_extras(described: &PortalMetadata) -> Vec<(&'static str, String)> {
    let metadata = &described.dataset.metadata;
    let (publisher, contact) = (described.publishers.first(), described.contacts.first());
    let themes: Vec<String> = described
        .themes
        .iter()
        .filter_map(|theme| theme.iri.clone())
        .collect();
    let names: Vec<String> = metadata
        .alternatives
        .iter()
        .map(|text| text.value.clone())
        .collect();
    let works: Vec<String> = metadata
        .introduced_by
        .iter()
        .map(|work| work.title.clone())
        .collect();
    let tasks: Vec<String> = described.themes_of(Scheme::Task).collect();
    let modalities: Vec<String> = described.themes_of(Scheme::Modality).collect();
    let mut languages = iris_or_names(&described.declared_languages);
    languages.extend(described.themes_of(Scheme::Language));
    let remote = described.dataset.remote.as_ref();
    let uri = metadata.source.as_ref().unwrap_or(&described.iri);
    let (identifier, further) = match described.identifiers.split_first() {
        Some((first, further)) if described.has_identifier => (first.clone(), further),
        _ => (metadata.id.to_string(), &described.identifiers[..]),
    };
    let identity = [
        ("uri", Some(uri.clone())),
        ("identifier", Some(identifier)),
        ("issued", metadata.issued.clone()),
        ("modified", metadata.modified.clone()),
        ("publisher_name", publisher.map(|agent| agent.name.clone())),
        (
            "publisher_uri",
            publisher.and_then(|agent| agent.iri.clone()),
        ),
        (
            "publisher_email",
            publisher.and_then(|agent| agent.email.clone()),
        ),
    ];
    let relations = described.relations.iter();
    let properties = [
        (
            "contact_name",
            contact.and_then(|contact| contact.name.clone()),
        ),
        (
            "contact_email",
            contact.and_then(|contact| contact.email.clone()),
        ),
        (
            "access_rights",
            iri_or_name(described.access_rights.as_ref()),
        ),
        ("theme", json_list(&themes)),
        ("language", json_list(&languages)),
        ("frequency", iri_or_name(described.frequency.as_ref())),
        (
            "conforms_to",
            json_list(&iris_or_names(&described.standards)),
        ),
        (
            "spatial_uri",
            described.places.iter().find_map(|place| place.iri.clone()),
        ),
        (
            "spatial_text",
            described.places.iter().find_map(|place| place.name.clone()),
        ),
        ("alternate_identifier", json_list(further)),
        ("alternative_titles", json_list(&names)),
        ("tasks", json_list(&tasks)),
        ("modalities", json_list(&modalities)),
        ("introduced_by", json_list(&works)),
        (
            "sparql_endpoint",
            remote.map(|remote| remote.endpoint.clone()),
        ),
    ];
    identity
        .into_iter()
        .chain(relations.map(|(key, values)| (*key, json_list(values))))
        .chain(properties)
        .filter_map(|(key, value)| Some((key, value.filter(|value| !value.is_empty())?)))
        .collect()
}

/// Returns the IRI of a term, else its name.
fn iri_or_name(term: Option<&Term>) -> Option<String> {
    term.and_then(Term::iri_or_name).cloned()
}

/// Returns a list as JSON; `None` if it is empty.
fn json_list(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| json!(values).to_string())
}
