//! CKAN: packages from responses of its APIs, alone, in lists and as JSON Lines.
//!
//! The fields of its DCAT extension, of multilingual schemas and of national portals are read from `extras` or from keys of
//! their own. Packages of the first two versions of the API have tags as texts and extras as an object.
//! <https://docs.ckan.org/en/latest/api/>

use super::ckan_licenses::add_license;
use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, drop_repeated_text, first_scalar,
    is_placeholder, is_placeholder_value, prune, prune_object, scalar_text, take_text,
};
use super::json_entries::{EntryFault, has_key, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcatap, dcterms, foaf, skos, spdx};
use serde_json::{Value, json};
use std::path::Path;

/// Namespace of the European data themes.
const DATA_THEMES: &str = "http://publications.europa.eu/resource/authority/data-theme/";

const PACKAGE: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("title_translated", dcterms::TITLE, FieldKind::Title),
    ("notes", dcterms::DESCRIPTION, FieldKind::Text),
    ("notes_translated", dcterms::DESCRIPTION, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    (
        "description_translated",
        dcterms::DESCRIPTION,
        FieldKind::Text,
    ),
    ("keywords", dcat::KEYWORD, FieldKind::Keywords),
    ("keyword", dcat::KEYWORD, FieldKind::Keywords),
    ("keywords_translated", dcat::KEYWORD, FieldKind::Keywords),
    ("tags_translated", dcat::KEYWORD, FieldKind::Keywords),
    ("tags", dcat::KEYWORD, FieldKind::Keywords),
    ("tag_string", dcat::KEYWORD, FieldKind::Keywords),
    ("url", dcat::LANDING_PAGE, FieldKind::Resource),
    ("landing_page", dcat::LANDING_PAGE, FieldKind::Resource),
    ("version", dcat::VERSION, FieldKind::Text),
    ("version_notes", adms::VERSION_NOTES, FieldKind::Text),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    (
        "frequency",
        dcterms::ACCRUAL_PERIODICITY,
        FieldKind::Resource,
    ),
    (
        "accrual_periodicity",
        dcterms::ACCRUAL_PERIODICITY,
        FieldKind::Resource,
    ),
    (
        "provenance",
        dcterms::PROVENANCE,
        FieldKind::LabelledNode(dcterms::PROVENANCE_STATEMENT),
    ),
    (
        "access_rights",
        dcterms::ACCESS_RIGHTS,
        FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
    ),
    (
        "rights",
        dcterms::RIGHTS,
        FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
    ),
    ("dcat_type", dcterms::TYPE, FieldKind::Resource),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
    (
        "alternate_identifier",
        adms::IDENTIFIER,
        FieldKind::Identifier,
    ),
    ("theme", dcat::THEME, FieldKind::Resource),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("languages", dcterms::LANGUAGE, FieldKind::Resource),
    ("documentation", foaf::PAGE, FieldKind::Resource),
    ("conforms_to", dcterms::CONFORMS_TO, FieldKind::Resource),
    (
        "is_referenced_by",
        dcterms::IS_REFERENCED_BY,
        FieldKind::Resource,
    ),
    ("related_resource", dcterms::RELATION, FieldKind::Resource),
    ("relations", dcterms::RELATION, FieldKind::Resource),
    ("see_alsos", dcterms::RELATION, FieldKind::Resource),
    ("has_version", dcterms::HAS_VERSION, FieldKind::Resource),
    ("is_version_of", dcterms::IS_VERSION_OF, FieldKind::Resource),
    ("in_series", dcat::IN_SERIES, FieldKind::Resource),
    ("source", dcterms::SOURCE, FieldKind::Resource),
    ("sample", adms::SAMPLE, FieldKind::Resource),
    (
        "applicable_legislation",
        dcatap::APPLICABLE_LEGISLATION,
        FieldKind::Resource,
    ),
    ("hvd_category", dcatap::HVD_CATEGORY, FieldKind::Resource),
    (
        "temporal_resolution",
        dcat::TEMPORAL_RESOLUTION,
        FieldKind::Duration,
    ),
    (
        "spatial_resolution_in_meters",
        dcat::SPATIAL_RESOLUTION,
        FieldKind::Number,
    ),
    ("bbox", dcat::BBOX, FieldKind::Text),
];
const RESOURCE: &[Field] = &[
    ("name", dcterms::TITLE, FieldKind::Title),
    ("title", dcterms::TITLE, FieldKind::Title),
    ("name_translated", dcterms::TITLE, FieldKind::Title),
    ("title_translated", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    (
        "description_translated",
        dcterms::DESCRIPTION,
        FieldKind::Text,
    ),
    ("access_url", dcat::ACCESS_URL, FieldKind::Resource),
    ("download_url", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("format", dcterms::FORMAT, FieldKind::Resource),
    ("mimetype", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("media_type", dcat::MEDIA_TYPE, FieldKind::MediaType),
    (
        "compress_format",
        dcat::COMPRESS_FORMAT,
        FieldKind::Resource,
    ),
    ("package_format", dcat::PACKAGE_FORMAT, FieldKind::Resource),
    ("size", dcat::BYTE_SIZE, FieldKind::Number),
    ("byte_size", dcat::BYTE_SIZE, FieldKind::Number),
    ("status", adms::STATUS, FieldKind::Resource),
    ("availability", dcatap::AVAILABILITY, FieldKind::Resource),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("created", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("last_modified", dcterms::MODIFIED, FieldKind::Date),
    (
        "rights",
        dcterms::RIGHTS,
        FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
    ),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("languages", dcterms::LANGUAGE, FieldKind::Resource),
    ("conforms_to", dcterms::CONFORMS_TO, FieldKind::Resource),
    ("documentation", foaf::PAGE, FieldKind::Resource),
    (
        "temporal_resolution",
        dcat::TEMPORAL_RESOLUTION,
        FieldKind::Duration,
    ),
    (
        "spatial_resolution_in_meters",
        dcat::SPATIAL_RESOLUTION,
        FieldKind::Number,
    ),
];
const SERVICE: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("endpoint_url", dcat::ENDPOINT_URL, FieldKind::Resource),
    (
        "endpoint_description",
        dcat::ENDPOINT_DESCRIPTION,
        FieldKind::Resource,
    ),
    ("serves_dataset", dcat::SERVES_DATASET, FieldKind::Resource),
];

/// Types of packages that are not datasets: configurations of harvesters, and pages of portals about uses of data.
const OTHER_TYPES: [&str; 27] = [
    "app",
    "application",
    "applications",
    "apps",
    "article",
    "blog",
    "challenge",
    "data-request",
    "datarequest",
    "event",
    "harvest",
    "harvest_source",
    "harvest-source",
    "idea",
    "issue",
    "news",
    "organization",
    "group",
    "page",
    "post",
    "reuse",
    "showcase",
    "story",
    "use-case",
    "usecase",
    "visualization",
    "visualisation",
];
/// States of packages that a portal does not publish.
const UNPUBLISHED_STATES: [&str; 4] = ["deleted", "draft", "draft-complete", "pending"];
/// Lists of the same length that describe the resources of a package in responses of the first search API.
const FLAT_RESOURCES: [(&str, &str); 5] = [
    ("res_url", "url"),
    ("res_name", "name"),
    ("res_description", "description"),
    ("res_format", "format"),
    ("res_type", "type"),
];

/// Content of a document of CKAN.
pub(super) enum Document<'v> {
    /// Packages.
    Packages(Vec<&'v Value>),
    /// A document without packages, and the reason.
    Other(String),
}

/// Returns the packages of a document; `None` if it is not CKAN's.
pub(super) fn content(document: &Value) -> Option<Document<'_>> {
    let is_response = document.get("success").is_some_and(Value::is_boolean);
    if is_response && document.get("success").and_then(Value::as_bool) == Some(false) {
        let error = document.get("error").unwrap_or(&Value::Null);
        let reason = error
            .get("message")
            .and_then(scalar_text)
            .unwrap_or_else(|| error.to_string());
        return Some(Document::Other(format!(
            "a response of CKAN that reports an error: {reason}"
        )));
    }
    let content = match document.get("result") {
        Some(result) if is_response => result,
        _ => document,
    };
    let packages = match content {
        Value::Array(values) => values,
        Value::Object(answer) => match answer.get("results").or_else(|| answer.get("packages")) {
            // The key `results` is common: without other keys of CKAN, the list must contain packages.
            Some(Value::Array(values))
                if is_response
                    || answer.contains_key("count")
                    || values.is_empty()
                    || are_packages(values) =>
            {
                values
            }
            _ if is_package(content) => return Some(Document::Packages(vec![content])),
            _ => return is_response.then(|| Document::Other(without_packages(content))),
        },
        _ => return is_response.then(|| Document::Other(without_packages(content))),
    };
    if are_packages(packages) || packages.is_empty() && (is_response || content.is_object()) {
        return Some(Document::Packages(packages.iter().collect()));
    }
    if !packages.is_empty() && packages.iter().all(Value::is_string) {
        let example = packages[0].as_str().unwrap_or_default();
        return Some(Document::Other(format!(
            "a list of names such as {example:?}, as package_list of CKAN returns it, without descriptions; load a response of \
             package_search or package_show, or the output of `ckanapi dump datasets`"
        )));
    }
    is_response.then(|| Document::Other(without_packages(content)))
}

/// Returns the reason why a response contains no packages.
fn without_packages(content: &Value) -> String {
    let keys: Vec<String> = match content {
        Value::Object(object) => object
            .keys()
            .take(10)
            .map(|key| format!("{key:?}"))
            .collect(),
        _ => Vec::new(),
    };
    let keys = if keys.is_empty() {
        String::new()
    } else {
        format!(", but the keys {}", keys.join(", "))
    };
    format!("a response of CKAN without packages{keys}")
}

fn are_packages(values: &[Value]) -> bool {
    values.iter().any(is_package)
}

/// If true, the value is a package of CKAN.
pub(super) fn is_package(value: &Value) -> bool {
    let keyed = value
        .get("extras")
        .and_then(|extras| extras.get(0))
        .is_some_and(|extra| extra.get("key").is_some());
    let is_named = has_key(value, "name") || has_key(value, "id");
    let is_legacy = has_key(value, "ckan_url")
        || has_key(value, "ratings_average")
        || has_key(value, "metadata_modified");
    value.get("resources").is_some_and(Value::is_array)
        || has_key(value, "owner_org")
        || keyed
        || is_named && (has_key(value, "notes") || is_legacy && has_key(value, "title"))
}

/// Reads packages. One that the portal does not publish as a dataset is reported, but does not count as unreadable: its
/// dataset is delisted.
pub(super) fn read(packages: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(packages, path, write_entry)
}

/// Returns the reason why a package is no published dataset.
fn reason_to_ignore(package: &Object) -> Option<String> {
    if let Some(state) = first_scalar(package, &["state"])
        .filter(|state| UNPUBLISHED_STATES.contains(&state.as_str()))
    {
        return Some(format!("ignored: its state in the portal is `{state}`"));
    }
    let title = first_scalar(package, &["title", "name"]).unwrap_or_default();
    if let Some(kind) = first_scalar(package, &["type"])
        .filter(|kind| OTHER_TYPES.contains(&kind.to_ascii_lowercase().as_str()))
    {
        return Some(format!(
            "ignored: {title:?} is a package of the type `{kind}`, not a dataset"
        ));
    }
    let is_private = package
        .get("private")
        .and_then(scalar_text)
        .is_some_and(|private| private.eq_ignore_ascii_case("true"));
    is_private.then(|| format!("ignored: {title:?} is private in the portal"))
}

/// Writes a package.
pub(super) fn write_entry(
    package: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    if let Some(reason) = reason_to_ignore(package) {
        return Err(EntryFault::Ignored(reason));
    }
    let (mut package, other_extras) = with_extras(prune_object(package));
    let name = first_scalar(&package, &["name", "id"]);
    let id = name.as_deref().and_then(DatasetId::from_text);
    let uri = take_text(&mut package, "uri");
    let node = builder.node(uri.as_deref());
    builder.class(&node, dcat::DATASET);
    for key in ["id", "name"] {
        let Some(value) = package.remove(key) else {
            continue;
        };
        // The first of both is the id of the dataset. The other one is a further identifier.
        match scalar_text(&value) {
            Some(text) if Some(&text) != name.as_ref() => {
                builder.field(
                    &node,
                    key,
                    adms::IDENTIFIER,
                    FieldKind::Identifier,
                    &json!(text),
                );
            }
            // The name may be a title by language.
            None => builder.title(&node, key, dcterms::TITLE, &value),
            Some(_) => {}
        }
    }
    for (key, translated) in [
        ("title", "title_translated"),
        ("notes", "notes_translated"),
        ("description", "description_translated"),
    ] {
        drop_repeated_text(&mut package, key, translated);
    }
    if package
        .get("display_name")
        .is_some_and(|name| package.get("title") == Some(name))
    {
        package.remove("display_name");
    }
    if !package.contains_key("notes")
        && !package.contains_key("description")
        && let Some(html) = package.remove("notes_rendered")
    {
        package.insert("notes".to_owned(), html);
    }
    if !package.contains_key("url")
        && let Some(page) = package.remove("ckan_url")
    {
        package.insert("url".to_owned(), page);
    }
    // These come before the fields: the record sets `issued` and `modified`, and tags may be objects.
    add_record(&mut package, &node, builder);
    add_tags(&mut package, &node, builder);
    add_groups(&mut package, &node, builder);
    aggregated_themes(&mut package, &node, builder);
    builder.fields(&node, &mut package, PACKAGE);
    add_agents(&mut package, &node, builder);
    add_license(&mut package, &node, builder);
    add_places(&mut package, &node, builder);
    add_times(&mut package, &node, builder);
    for resource in take_resources(&mut package) {
        if is_deleted(&resource) {
            let name = first_scalar(&resource, &["url", "name", "id"]).unwrap_or_default();
            builder.problem(
                "resources",
                "left out, because the portal has deleted it",
                &name,
            );
            continue;
        }
        add_distribution(resource, &node, builder);
    }
    builder.extras(&node, package);
    for (key, value) in other_extras {
        builder.extra(&node, &key, &value);
    }
    Ok(id)
}

/// Returns the package with its extras as keys, and the extras whose keys the package has with another value.
fn with_extras(mut package: Object) -> (Object, Vec<(String, Value)>) {
    let extras: Vec<(String, Value)> = match package.remove("extras") {
        // The first two versions of the API have an object.
        Some(Value::Object(extras)) => extras.into_iter().collect(),
        Some(extras) => parse_list(Some(extras))
            .into_iter()
            .flat_map(keyed_extra)
            .collect(),
        None => Vec::new(),
    };
    let mut others = Vec::new();
    for (key, value) in extras {
        // The extra `dcat_type` is a field of its own, because `type` is the kind of the package.
        let name = key
            .strip_prefix("dcat_")
            .filter(|rest| *rest != "type")
            .unwrap_or(&key);
        match package.get(name) {
            None => {
                package.insert(name.to_owned(), value);
            }
            Some(existing) if *existing == value => {}
            Some(_) => others.push((key, value)),
        }
    }
    (package, others)
}

/// Returns the key and value of an extra, and its other members as an extra of their own.
fn keyed_extra(extra: Value) -> Vec<(String, Value)> {
    let Value::Object(mut extra) = extra else {
        return vec![("extras".to_owned(), extra)];
    };
    if extra.get("key").and_then(scalar_text).is_none() || !extra.contains_key("value") {
        return vec![("extras".to_owned(), Value::Object(extra))];
    }
    let (key, value) = (
        take_text(&mut extra, "key").unwrap_or_default(),
        extra.remove("value").unwrap_or_default(),
    );
    // A geometry is kept in the form of its publisher.
    let json = value
        .as_str()
        .filter(|text| text.trim_start().starts_with(['[', '{']) && !key.starts_with("spatial"));
    let nested = json.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let value = nested.and_then(prune).unwrap_or(value);
    let rest = (!extra.is_empty()).then(|| (format!("extras.{key}"), Value::Object(extra)));
    std::iter::once((key, value)).chain(rest).collect()
}

/// Returns the values of a key: those of a list, also of one in a JSON text, or the value alone.
fn parse_list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(values)) => values,
        Some(Value::Null) | None => Vec::new(),
        Some(Value::String(text)) if text.trim_start().starts_with(['[', '{']) => {
            match serde_json::from_str::<Value>(&text).ok().and_then(prune) {
                Some(Value::Array(values)) => values,
                Some(value @ Value::Object(_)) => vec![value],
                _ => vec![Value::String(text)],
            }
        }
        Some(other) => vec![other],
    }
}

/// Adds the dates of the catalogue record. They are also the dataset's dates if the package has no `issued` or
/// `modified`.
fn add_record(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let dates = [
        ("metadata_created", "issued", dcterms::ISSUED),
        ("metadata_modified", "modified", dcterms::MODIFIED),
    ];
    let dates = dates.map(|(key, own, property)| (package.remove(key), own, property));
    if dates.iter().all(|(date, ..)| date.is_none()) {
        return;
    }
    let record = builder.part(node, foaf::IS_PRIMARY_TOPIC_OF, dcat::CATALOG_RECORD);
    for (date, own, property) in dates {
        if let Some(date) = date {
            builder.field(&record, own, property, FieldKind::Date, &date);
            package.entry(own).or_insert(date);
        }
    }
}

/// Adds the tags: texts, or objects with names. Other members of tags, such as ids, stay in `tags`.
fn add_tags(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let tags = package.remove("tags");
    if matches!(tags, Some(Value::String(_))) || tags.as_ref().is_some_and(Value::is_object) {
        return builder.field(
            node,
            "tags",
            dcat::KEYWORD,
            FieldKind::Keywords,
            &tags.unwrap_or_default(),
        );
    }
    let mut others = Vec::new();
    for tag in parse_list(tags) {
        let Value::Object(mut tag) = tag else {
            builder.title(node, "tags", dcat::KEYWORD, &tag);
            continue;
        };
        let name = tag.get("display_name").or_else(|| tag.get("name")).cloned();
        if is_deleted(&tag) {
            let name = name.as_ref().and_then(scalar_text).unwrap_or_default();
            builder.problem("tags", "left out, because the portal has deleted it", &name);
            continue;
        }
        let Some(name) = name else {
            builder.field(
                node,
                "tags",
                dcat::KEYWORD,
                FieldKind::Title,
                &Value::Object(tag),
            );
            continue;
        };
        builder.title(node, "tags", dcat::KEYWORD, &name);
        drop_value(&mut tag, "display_name", &name);
        drop_repeated_text(&mut tag, "name", "name_translated");
        if let Some(translated) = tag.remove("name_translated") {
            builder.title(node, "tags", dcat::KEYWORD, &translated);
        }
        if tag.get("name") != Some(&name) || tag.len() > 1 {
            others.push(Value::Object(tag));
        }
    }
    others.retain(|tag| tag.as_object().is_none_or(|tag| !tag.is_empty()));
    builder.extra(node, "tags", &Value::Array(others));
}

/// If true, the portal keeps a tag or resource only to restore it.
fn is_deleted(part: &Object) -> bool {
    first_scalar(part, &["state"]).is_some_and(|state| state == "deleted")
}

fn drop_value(object: &mut Object, key: &str, value: &Value) {
    if object.get(key) == Some(value) {
        object.remove(key);
    }
}

/// Adds the groups as themes.
fn add_groups(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for group in parse_list(package.remove("groups")) {
        let mut group = match group {
            Value::Object(group) => group,
            name => Object::from_iter([("name".to_owned(), name)]),
        };
        drop_repeated_text(&mut group, "title", "title_translated");
        drop_repeated_text(&mut group, "display_name", "title_translated");
        if let Some(title) = group.get("title").cloned() {
            drop_value(&mut group, "display_name", &title);
        }
        let concept = builder.part(node, dcat::THEME, skos::CONCEPT);
        let titles = ["title", "title_translated"]
            .iter()
            .filter_map(|key| Some((*key, group.remove(*key)?)));
        let mut titles: Vec<(&str, Value)> = titles.collect();
        if titles.is_empty() {
            titles.extend(
                ["display_name", "name", "id"]
                    .iter()
                    .find_map(|key| Some((*key, group.remove(*key)?))),
            );
        }
        for (key, title) in titles {
            builder.title(&concept, key, skos::PREF_LABEL, &title);
        }
        builder.extras(&concept, group);
    }
}

/// Adds the themes of Italy's profile: codes of the European data themes, each with the IRIs of its subthemes.
fn aggregated_themes(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut others = Vec::new();
    for theme in parse_list(package.remove("themes_aggregate")) {
        let Value::Object(mut theme) = theme else {
            others.push(theme);
            continue;
        };
        if let Some(code) = take_text(&mut theme, "theme") {
            builder.resource(node, dcat::THEME, &format!("{DATA_THEMES}{code}"));
        }
        for subtheme in parse_list(theme.remove("subthemes")) {
            match scalar_text(&subtheme) {
                Some(iri) => builder.resource(node, dcterms::SUBJECT, &iri),
                None => others.push(subtheme),
            }
        }
        if !theme.is_empty() {
            others.push(Value::Object(theme));
        }
    }
    builder.extra(node, "themes_aggregate", &Value::Array(others));
}

/// Adds people and organisations, from: a key of their own, keys that begin with their role, CKAN's standard keys.
fn add_agents(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let roles = [
        ("publisher", dcterms::PUBLISHER),
        ("creator", dcterms::CREATOR),
        ("contributor", dcterms::CONTRIBUTOR),
    ];
    for (role, property) in roles {
        let mut agent = collect_role(
            package,
            role,
            &["uri", "name", "email", "url", "type", "identifier"],
        );
        if agent.is_null() && role == "publisher" {
            agent = publisher_of_organization(package);
        }
        if agent.is_null() && role == "creator" {
            agent = standard_agent(package, "author", &["author_email"]);
        }
        builder.field(node, role, property, FieldKind::Agent, &agent);
    }
    let mut contact = collect_role(
        package,
        "contact",
        &["uri", "name", "email", "url", "phone", "identifier"],
    );
    for key in ["contact_points", "contact_point"] {
        if contact.is_null() {
            contact = package.remove(key).unwrap_or_default();
        }
    }
    if contact.is_null() {
        contact = standard_agent(
            package,
            "maintainer",
            &["maintainer_email", "maintainer_phone"],
        );
    }
    builder.field(
        node,
        "contact",
        dcat::CONTACT_POINT,
        FieldKind::Contact,
        &contact,
    );
}

/// Returns the names of the organisation. All of its members stay in the package.
fn publisher_of_organization(package: &Object) -> Value {
    let Some(Value::Object(organization)) = package.get("organization") else {
        return Value::Null;
    };
    let mut agent = Object::new();
    let has_title = ["title", "title_translated"]
        .iter()
        .any(|key| organization.contains_key(*key));
    for (key, name) in [
        ("title", "name"),
        ("title_translated", "name_translated"),
        ("name", "name"),
    ] {
        if let Some(value) = organization
            .get(key)
            .filter(|_| key != "name" || !has_title)
        {
            agent.insert(name.to_owned(), value.clone());
        }
    }
    if agent.is_empty() {
        Value::Null
    } else {
        Value::Object(agent)
    }
}

/// Returns the agent of a key such as `author`, with its address from other keys if it has a name only.
fn standard_agent(package: &mut Object, key: &str, addresses: &[&str]) -> Value {
    let name = package.remove(key).unwrap_or_default();
    // A list or object, also in a JSON text, describes agents with addresses of their own.
    let is_name = name
        .as_str()
        .is_none_or(|text| !text.trim_start().starts_with(['[', '{']))
        && !name.is_array();
    if !is_name || name.is_object() {
        return name;
    }
    let mut agent = Object::from_iter([("name".to_owned(), name)]);
    for address in addresses {
        if let (Some(value), Some((_, part))) = (package.remove(*address), address.split_once('_'))
        {
            agent.insert(part.to_owned(), value);
        }
    }
    prune(Value::Object(agent)).unwrap_or_default()
}

/// Returns the key of a role, for example `publisher`, else an object made of `publisher_name`, `publisher_email` and
/// similar keys.
fn collect_role(package: &mut Object, role: &str, keys: &[&str]) -> Value {
    if let Some(whole) = package.remove(role)
        && !is_placeholder_value(&whole)
    {
        return whole;
    }
    let parts = keys.iter().filter_map(|key| {
        let value = package.remove(&format!("{role}_{key}"))?;
        Some(((*key).to_owned(), value))
    });
    let parts: Object = parts.collect();
    if parts.is_empty() {
        Value::Null
    } else {
        Value::Object(parts)
    }
}

fn add_places(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut coverage = parse_list(package.remove("spatial_coverage"));
    let keys = [
        ("spatial", "geom"),
        ("spatial_text", "text"),
        ("spatial-text", "text"),
        ("spatial_uri", "uri"),
        ("geographical_name", "text"),
        ("geographical_geonames_url", "uri"),
    ];
    let keys = keys
        .into_iter()
        .chain([("spatial_bbox", "bbox"), ("spatial_centroid", "centroid")]);
    let mut flat = Object::new();
    for (key, name) in keys {
        if let Some(value) = package.remove(key) {
            match flat.entry(name) {
                serde_json::map::Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                serde_json::map::Entry::Occupied(_) => {
                    // The first value is used. This one stays as an additional property.
                    package.insert(key.to_owned(), value);
                }
            }
        }
    }
    if let Some(edges) = find_edges(package) {
        flat.entry("bbox").or_insert(Value::String(edges));
    }
    // A place with nothing but one value may be a name or an IRI.
    let only = flat.get("geom").filter(|_| flat.len() == 1).cloned();
    match only {
        Some(spatial) => coverage.push(spatial),
        None if !flat.is_empty() => coverage.push(Value::Object(flat)),
        None => {}
    }
    for place in coverage {
        builder.field(node, "spatial", dcterms::SPATIAL, FieldKind::Place, &place);
    }
}

/// Returns the box of the edges in keys of their own, as portals with metadata of INSPIRE write them. The keys stay.
fn find_edges(package: &Object) -> Option<String> {
    let keys = [
        "bbox-west-long",
        "bbox-south-lat",
        "bbox-east-long",
        "bbox-north-lat",
    ];
    let mut edges = Vec::new();
    for key in keys {
        edges.push(first_scalar(package, &[key])?);
    }
    let text = edges.join(",");
    super::box_of_text(&text).map(|_| text)
}

fn add_times(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for (start, end) in [
        ("temporal_start", "temporal_end"),
        ("temporal_coverage_from", "temporal_coverage_to"),
        ("temporal_coverage-from", "temporal_coverage-to"),
        ("time_period_coverage_start", "time_period_coverage_end"),
    ] {
        let ends = [package.remove(start), package.remove(end)];
        let period = Object::from_iter(
            [("start", &ends[0]), ("end", &ends[1])]
                .into_iter()
                .filter_map(|(key, end)| Some((key.to_owned(), end.clone()?))),
        );
        if !period.is_empty() {
            builder.field(
                node,
                start,
                dcterms::TEMPORAL,
                FieldKind::Period,
                &Value::Object(period),
            );
        }
    }
    for key in ["temporal_coverage", "temporals", "temporal", "dataset_date"] {
        if let Some(value) = package.remove(key) {
            builder.field(node, key, dcterms::TEMPORAL, FieldKind::Period, &value);
        }
    }
}

/// Returns the resources: objects, or addresses alone.
fn take_resources(package: &mut Object) -> Vec<Object> {
    let mut resources = Vec::new();
    for resource in parse_list(package.remove("resources")) {
        resources.push(match resource {
            Value::Object(resource) => resource,
            url => Object::from_iter([("url".to_owned(), url)]),
        });
    }
    let urls = package
        .get("res_url")
        .and_then(Value::as_array)
        .map(Vec::len)
        .unwrap_or_default();
    if resources.is_empty() && urls > 0 {
        resources.resize_with(urls, Object::new);
        for (key, name) in FLAT_RESOURCES {
            // A list of another length cannot be matched with the addresses. It stays as it is.
            let values = package
                .get(key)
                .and_then(Value::as_array)
                .filter(|values| values.len() == urls)
                .cloned();
            for (resource, value) in resources.iter_mut().zip(values.into_iter().flatten()) {
                resource.insert(name.to_owned(), value);
            }
            if package
                .get(key)
                .and_then(Value::as_array)
                .is_some_and(|values| values.len() == urls)
            {
                package.remove(key);
            }
        }
    }
    // The address of the first resource in the first version of the API.
    if let Some(address) = package.get("download_url").and_then(scalar_text) {
        let is_listed = resources
            .iter()
            .any(|resource| first_scalar(resource, &["url"]).as_ref() == Some(&address));
        if is_listed || resources.is_empty() {
            package.remove("download_url");
        }
        if resources.is_empty() {
            resources.push(Object::from_iter([(
                "url".to_owned(),
                Value::String(address),
            )]));
        }
    }
    resources
}

fn add_distribution(resource: Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut resource = prune_object(&resource);
    let uri = take_text(&mut resource, "uri");
    let part = builder.node(uri.as_deref());
    builder.add(node, dcat::DISTRIBUTION, part.clone());
    builder.class(&part, dcat::DISTRIBUTION_CLASS);
    if let Some(url) = resource.remove("url") {
        // An uploaded file is stored in CKAN, thus its address is the file. Other addresses may be pages.
        let uploaded = resource.get("url_type").and_then(Value::as_str) == Some("upload");
        let (key, other) = if uploaded {
            ("download_url", "access_url")
        } else {
            ("access_url", "download_url")
        };
        let is_repeated = [key, other]
            .iter()
            .any(|key| resource.get(*key) == Some(&url));
        if lacks_value(&resource, key) {
            resource.insert(key.to_owned(), url);
        } else if lacks_value(&resource, other) && !is_repeated {
            resource.insert(other.to_owned(), url);
        } else if !is_repeated {
            builder.extra(&part, "url", &url);
        }
    }
    for (key, translated) in [
        ("name", "name_translated"),
        ("title", "title_translated"),
        ("description", "description_translated"),
    ] {
        drop_repeated_text(&mut resource, key, translated);
    }
    if resource
        .get("display_name")
        .is_some_and(|name| resource.get("title") == Some(name))
    {
        resource.remove("display_name");
    }
    add_checksum(&mut resource, &part, builder);
    for service in parse_list(resource.remove("access_services")) {
        let service_node = builder.part(&part, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
        match service {
            Value::Object(mut service) => {
                builder.fields(&service_node, &mut service, SERVICE);
                builder.extras(&service_node, service);
            }
            address => builder.field(
                &service_node,
                "access_services",
                dcat::ENDPOINT_URL,
                FieldKind::Resource,
                &address,
            ),
        }
    }
    add_license(&mut resource, &part, builder);
    builder.fields(&part, &mut resource, RESOURCE);
    builder.extras(&part, resource);
}

/// Returns true if the key has no value, or one that stands for a missing value.
fn lacks_value(resource: &Object, key: &str) -> bool {
    resource.get(key).is_none_or(is_placeholder_value)
}

fn add_checksum(resource: &mut Object, part: &Subject, builder: &mut DcatBuilder) {
    let Some(hash) = resource
        .get("hash")
        .and_then(scalar_text)
        .filter(|hash| !is_placeholder(hash))
    else {
        return;
    };
    resource.remove("hash");
    let checksum = builder.part(part, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
    if hash.len() % 2 == 0 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        builder.add_typed_literal(&checksum, spdx::CHECKSUM_VALUE, &hash, "hexBinary");
    } else {
        builder.text(&checksum, spdx::CHECKSUM_VALUE, &Value::String(hash));
    }
    let algorithm = resource.remove("hash_algorithm").unwrap_or_default();
    builder.field(
        &checksum,
        "hash_algorithm",
        spdx::ALGORITHM,
        FieldKind::Resource,
        &algorithm,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::vocab::schema;

    #[test]
    fn deleted_packages_are_not_unreadable() {
        let document = json!({"success": true, "result": {"count": 3, "results": [
            {"id": "1", "name": "rivers", "title": "Rivers", "state": "active", "resources": []},
            {"id": "2", "name": "lakes", "title": "Lakes", "state": "deleted", "resources": []},
            "no package",
        ]}});
        let Some(Document::Packages(packages)) = content(&document) else {
            panic!("no packages")
        };
        let catalog = read(packages, Path::new("ckan.json"));
        let ids: Vec<&str> = catalog
            .datasets
            .iter()
            .map(|dataset| dataset.metadata.id.as_str())
            .collect();
        assert_eq!(
            (ids.as_slice(), catalog.unreadable_entries),
            (&["rivers"][..], 1)
        );
        assert_eq!(catalog.problems.len(), 2, "{:?}", catalog.problems);
    }

    fn read_one(package: Value) -> Catalog {
        let document = json!({"success": true, "result": package});
        let Some(Document::Packages(packages)) = content(&document) else {
            panic!("no packages")
        };
        let catalog = read(packages, Path::new("ckan.json"));
        assert_eq!(catalog.datasets.len(), 1, "{:?}", catalog.problems);
        catalog
    }

    fn texts(texts: &[crate::Text]) -> Vec<String> {
        let mut texts: Vec<String> = texts
            .iter()
            .map(|text| match &text.language {
                Some(language) => format!("{}@{language}", text.value),
                None => text.value.clone(),
            })
            .collect();
        texts.sort();
        texts
    }

    fn extra(catalog: &Catalog, key: &str) -> Vec<String> {
        let statements = &catalog.datasets[0].extra_statements;
        let literal = |statement: &crate::Statement| match &statement.object {
            crate::Value::Literal(literal) => Some(literal.value().to_owned()),
            crate::Value::Node(_) => None,
        };
        let named = statements
            .iter()
            .filter(|one| one.predicate == schema::NAME && literal(one).as_deref() == Some(key));
        let subjects: Vec<_> = named.map(|one| &one.subject).collect();
        let values = statements
            .iter()
            .filter(|one| one.predicate == schema::VALUE && subjects.contains(&&one.subject));
        values.filter_map(literal).collect()
    }

    #[test]
    fn packages_that_a_portal_does_not_publish_are_reported() {
        let document = json!({"count": 9, "results": [
            {"name": "a", "title": "Mills", "type": "showcase", "resources": []},
            {"name": "b", "title": "Weirs", "type": "harvest", "resources": []},
            {"name": "c", "title": "Dams", "type": "geodataset", "resources": []},
            {"name": "d", "title": "Locks", "private": true, "resources": []},
            {"name": "e", "title": "Sluices", "state": "draft", "resources": []},
            {"name": "f", "title": "Canals", "private": false, "state": "active", "type": "dataset", "resources": []},
        ]});
        let Some(Document::Packages(packages)) = content(&document) else {
            panic!("no packages")
        };
        let catalog = read(packages, Path::new("ckan.json"));
        let ids: Vec<&str> = catalog
            .datasets
            .iter()
            .map(|dataset| dataset.metadata.id.as_str())
            .collect();
        assert_eq!((ids, catalog.unreadable_entries), (vec!["c", "f"], 0));
        let reasons = [
            "entry 1 (a): ignored: \"Mills\" is a package of the type `showcase`, not a dataset",
            "entry 2 (b): ignored: \"Weirs\" is a package of the type `harvest`, not a dataset",
            "entry 4 (d): ignored: \"Locks\" is private in the portal",
            "entry 5 (e): ignored: its state in the portal is `draft`",
        ];
        assert!(
            catalog
                .problems
                .iter()
                .zip(reasons)
                .all(|(problem, reason)| problem.ends_with(reason)),
            "{:?}",
            catalog.problems
        );
        assert_eq!(catalog.problems.len(), reasons.len());
    }

    #[test]
    fn documents_of_all_versions_have_packages() {
        let package = json!({"name": "mills", "title": "Mills", "notes": "All mills"});
        for document in [
            json!({"success": true, "result": package}),
            json!({"success": true, "result": {"count": 1, "results": [package]}}),
            json!({"success": true, "result": [package]}),
            json!({"success": true, "result": {"name": "office", "display_name": "Office", "packages": [package]}}),
            json!({"count": 1, "results": [package]}),
            json!([package]),
            package.clone(),
        ] {
            let Some(Document::Packages(packages)) = content(&document) else {
                panic!("no packages: {document}")
            };
            assert_eq!(packages, [&package], "{document}");
        }
        for document in [
            json!({"success": true, "result": {"results": []}}),
            json!({"count": 0, "results": []}),
        ] {
            assert!(
                matches!(content(&document), Some(Document::Packages(packages)) if packages.is_empty()),
                "{document}"
            );
        }
        for document in [
            json!({"results": [1]}),
            json!([]),
            json!({"a": 1}),
            json!([{"dataset_id": 1}]),
        ] {
            assert!(content(&document).is_none(), "{document}");
        }
    }

    #[test]
    fn packages_of_the_first_versions_are_read() {
        let catalog = read_one(
            json!({"id": "1", "name": "mills", "title": "Mills", "notes": "All mills",
            "notes_rendered": "<p>All mills</p>", "tags": ["water", "grain, flour"], "groups": ["industry"],
            "extras": {"spatial": "POINT (4 50)", "height": "12"}, "license": "UK Open Government Licence", "license_id": "uk-ogl",
            "author": "Mill Office", "author_email": "mills@example.org", "ckan_url": "http://portal.example.org/dataset/mills",
            "download_url": "http://portal.example.org/mills.csv", "ratings_average": null, "metadata_modified": "2012-03-04T05:06:07",
            "res_url": ["http://portal.example.org/mills.csv", "http://portal.example.org/mill list.xls"], "res_format": ["CSV", "XLS"]}),
        );
        let dataset = &catalog.datasets[0];
        let metadata = &dataset.metadata;
        assert_eq!(
            texts(&metadata.keywords),
            ["grain, flour", "industry", "water"]
        );
        assert_eq!(
            metadata.license.as_deref(),
            Some("http://reference.data.gov.uk/id/open-government-licence")
        );
        assert_eq!(
            metadata.landing_page.as_deref(),
            Some("http://portal.example.org/dataset/mills")
        );
        assert_eq!(
            (
                metadata.creators[0].name.as_str(),
                metadata.modified.as_deref()
            ),
            ("Mill Office", Some("2012-03-04T05:06:07"))
        );
        let mut places: Vec<&str> = dataset
            .distributions
            .iter()
            .map(|one| one.location.as_str())
            .collect();
        places.sort_unstable();
        assert_eq!(
            places,
            [
                "http://portal.example.org/mill%20list.xls",
                "http://portal.example.org/mills.csv"
            ]
        );
        assert_eq!(
            dataset
                .declared_place()
                .expect("a place")
                .bounds
                .to_string(),
            "4,50,4,50"
        );
        assert_eq!(extra(&catalog, "height"), ["12"]);
        assert_eq!(extra(&catalog, "notes_rendered"), ["<p>All mills</p>"]);
        assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    }

    #[test]
    fn texts_have_their_languages() {
        let catalog = read_one(
            json!({"name": "ponds", "title": "Ponds &amp; pools", "title_translated": {"eng": "Ponds &amp; pools", "fr_CA": "Étangs"},
            "notes": {"de": "Alle Teiche", "it": "", "en": "N/A"}, "notes_es": "Todos", "keywords": {"en": ["carp"], "fr": ["carpe"]},
            "tags": [{"name": "water", "display_name": "Water", "vocabulary_id": null}], "tag_string": "reed, eel", "tags_es": ["agua"], "language": "{DEU,ENG}",
            "groups": [{"name": "nature", "display_name": {"de": "Natur", "en": "Nature"}, "title": {"de": "Natur", "en": "Nature"}}],
            "publisher": "{\"name\": {\"de\": \"Teichamt\"}, \"url\": \"https://ponds.example.org/\"}",
            "author": "[{\"name\": \"Ann\"}, {\"name\": \"Bob\"}]",
            "resources": [{"url": "https://ponds.example.org/a.csv", "name": {"de": "Liste", "en": "List"}, "license_id": "cc-by", "license": ""}]}),
        );
        let dataset = &catalog.datasets[0];
        let metadata = &dataset.metadata;
        assert_eq!(
            texts(&metadata.titles),
            ["Ponds & pools@en", "Étangs@fr-ca"]
        );
        assert_eq!(
            texts(&metadata.descriptions),
            ["Alle Teiche@de", "Todos@es"]
        );
        let keywords = [
            "Natur@de",
            "Nature@en",
            "Water",
            "agua@es",
            "carp@en",
            "carpe@fr",
            "eel",
            "reed",
        ];
        assert_eq!(dataset.language_names(), ["English", "German"]);
        assert_eq!(texts(&metadata.keywords), keywords);
        assert_eq!(metadata.publishers[0].name, "Teichamt");
        let mut creators: Vec<&str> = metadata
            .creators
            .iter()
            .map(|agent| agent.name.as_str())
            .collect();
        creators.sort_unstable();
        assert_eq!(creators, ["Ann", "Bob"]);
        let license = dataset
            .extra_statements
            .iter()
            .find(|one| one.predicate == dcterms::LICENSE)
            .expect("a licence of the distribution");
        assert_eq!(
            license.object,
            crate::Node::Iri("http://www.opendefinition.org/licenses/cc-by".to_owned()).into()
        );
        assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    }

    #[test]
    fn places_and_periods_of_national_portals() {
        let bounds = |package: Value| {
            read_one(package).datasets[0]
                .declared_place()
                .map(|place| place.bounds.to_string())
        };
        let period = |package: Value| {
            read_one(package).datasets[0]
                .declared_period()
                .map(|one| one.period.to_string())
        };
        for (key, value, expected) in [
            (
                "spatial",
                json!("{\"type\": \"Point\", \"coordinates\": [4, 50]}"),
                Some("4,50,4,50"),
            ),
            (
                "spatial",
                json!({"type": "Point", "coordinates": [4, 50]}),
                Some("4,50,4,50"),
            ),
            ("spatial", json!("1 2 3 4"), Some("1,2,3,4")),
            ("spatial", json!("Old town"), None),
            (
                "spatial_coverage",
                json!([{"uri": "", "text": "Town", "bbox": [1, 2, 3, 4]}]),
                Some("1,2,3,4"),
            ),
            (
                "extras",
                json!([{"key": "bbox-west-long", "value": "1"}, {"key": "bbox-south-lat", "value": "2"},
                {"key": "bbox-east-long", "value": "3"}, {"key": "bbox-north-lat", "value": "4"}]),
                Some("1,2,3,4"),
            ),
        ] {
            let mut package = json!({"name": "a", "resources": []});
            package[key] = value;
            assert_eq!(bounds(package.clone()).as_deref(), expected, "{package}");
        }
        for (members, expected) in [
            (
                json!({"temporals": [{"start_date": "1880-01-01", "end_date": "2020-12-31"}]}),
                "1880..2020",
            ),
            (
                json!({"temporal_coverage": "[{\"temporal_start\": \"2010\", \"temporal_end\": \"2011\"}]"}),
                "2010..2011",
            ),
            (json!({"temporal_coverage": "2010/P2Y"}), "2010..2011"),
            (
                json!({"temporal_coverage_from": "2010", "temporal_coverage_to": "2012"}),
                "2010..2012",
            ),
            (
                json!({"extras": {"temporal_coverage-from": "2010"}}),
                "2010..",
            ),
            (
                json!({"time_period_coverage_start": "2010-01-01", "time_period_coverage_end": "N/A"}),
                "2010..",
            ),
            (
                json!({"dataset_date": "[2010-01-01T00:00:00 TO *]"}),
                "2010..",
            ),
            (json!({"temporal": "R/2010-01-01/P1M"}), "2010.."),
        ] {
            let mut package = json!({"name": "a", "resources": []});
            package
                .as_object_mut()
                .expect("an object")
                .extend(members.as_object().expect("an object").clone());
            assert_eq!(
                period(package.clone()).as_deref(),
                Some(expected),
                "{package}"
            );
        }
    }

    #[test]
    fn changed_values_are_problems() {
        let catalog = read_one(
            json!({"name": "a", "title": "<b>Bold</b> words", "url": "javascript:alert(1)", "version": 2,
            "extras": [{"key": "version", "value": "3", "id": "x1"}], "resources": ["http://e.org/a b.csv", {"url": "www.e.org/c.csv"}]}),
        );
        assert_eq!(texts(&catalog.datasets[0].metadata.titles), ["Bold words"]);
        let problems = [
            "title: HTML tags were removed: <b>Bold</b> words",
            "url: an address of this scheme",
        ];
        for problem in problems {
            assert!(
                catalog.problems.iter().any(|one| one.contains(problem)),
                "{:?}",
                catalog.problems
            );
        }
        assert_eq!(catalog.datasets[0].metadata.landing_page, None);
        assert_eq!(extra(&catalog, "url"), ["javascript:alert(1)"]);
        assert_eq!(
            (
                extra(&catalog, "version"),
                extra(&catalog, "extras.version")
            ),
            (vec!["3".to_owned()], vec!["{\"id\":\"x1\"}".to_owned()])
        );
    }
}
