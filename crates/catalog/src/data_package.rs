//! Data Packages of versions 1 and 2: a descriptor of files and of the columns of their tables.
//! <https://datapackage.org/standard/data-package/>, <https://specs.frictionlessdata.io/data-package/>

use super::addresses::{Address, parse_address};
use super::ckan_licenses::license_iri;
use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, into_list, is_placeholder, prune_object,
    scalar_text, scalar_texts, take_text,
};
use super::json_entries::{EntryFault, has_key, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{csvw, dcat, dcterms, spdx};
use serde_json::{Value, json};
use std::path::Path;

const PACKAGE: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("version", dcat::VERSION, FieldKind::Text),
    ("homepage", dcat::LANDING_PAGE, FieldKind::Resource),
    ("created", dcterms::ISSUED, FieldKind::Date),
    ("keywords", dcat::KEYWORD, FieldKind::Keywords),
    ("$schema", dcterms::CONFORMS_TO, FieldKind::Resource),
];
const RESOURCE: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("homepage", dcat::LANDING_PAGE, FieldKind::Resource),
    ("mediatype", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("format", dcterms::FORMAT, FieldKind::Resource),
    ("bytes", dcat::BYTE_SIZE, FieldKind::Number),
    ("$schema", dcterms::CONFORMS_TO, FieldKind::Resource),
];
const COLUMN: &[Field] = &[
    ("name", csvw::NAME, FieldKind::Text),
    ("title", csvw::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
];
/// Keys that packages of CKAN have and Data Packages have not.
const OF_CKAN: [&str; 4] = ["owner_org", "metadata_modified", "state", "package_id"];
/// Roles of contributors, with the properties of DCAT. Others contribute.
const ROLES: [(&str, &str, FieldKind); 6] = [
    ("author", dcterms::CREATOR, FieldKind::Agent),
    ("creator", dcterms::CREATOR, FieldKind::Agent),
    ("publisher", dcterms::PUBLISHER, FieldKind::Agent),
    ("maintainer", dcat::CONTACT_POINT, FieldKind::Contact),
    ("contact", dcat::CONTACT_POINT, FieldKind::Contact),
    ("contributor", dcterms::CONTRIBUTOR, FieldKind::Agent),
];

/// Returns true if a document is the descriptor of a package. Packages of CKAN have `resources`, too.
pub(super) fn is_package(document: &Value) -> bool {
    let Some(package) = document.as_object() else {
        return false;
    };
    let has_profile = ["$schema", "profile"].iter().any(|key| {
        let profile = package.get(*key).and_then(Value::as_str);
        profile.is_some_and(|text| text.contains("data-package") || text.contains("datapackage"))
    });
    let resources = package.get("resources").and_then(Value::as_array);
    resources.is_some_and(|resources| {
        let is_ckan = OF_CKAN.iter().any(|key| package.contains_key(*key));
        has_profile || !is_ckan && resources.iter().any(is_file)
    })
}

/// Returns true if a resource has a path or data, and no key of CKAN.
fn is_file(resource: &Value) -> bool {
    let is_ckan = OF_CKAN.iter().any(|key| has_key(resource, key));
    !is_ckan && ["path", "data"].iter().any(|key| has_key(resource, key))
}

/// Reads a package.
pub(super) fn read(document: &Value, path: &Path) -> Catalog {
    read_entries([document], path, write_entry)
}

fn write_entry(
    package: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    let mut package = prune_object(package);
    let name = take_text(&mut package, "name");
    let id = name.as_deref().and_then(DatasetId::from_text);
    let node = builder.node(take_text(&mut package, "id").as_deref());
    builder.class(&node, dcat::DATASET);
    if let Some(name) = name {
        if id.is_none() {
            builder.extra(&node, "name", &json!(name));
        }
        package.entry("title").or_insert(Value::String(name));
    }
    builder.fields(&node, &mut package, PACKAGE);
    add_common_fields(&mut package, &node, builder);
    for contributor in into_list(package.remove("contributors")) {
        add_contributor(contributor, &node, builder);
    }
    for resource in into_list(package.remove("resources")) {
        match resource {
            Value::Object(resource) => add_resource(resource, &node, builder),
            other => builder.extra(&node, "resources", &other),
        }
    }
    builder.extras(&node, package);
    Ok(id)
}

/// Adds licences and sources, which packages and resources have.
fn add_common_fields(object: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let single = object.remove("license");
    for license in into_list(object.remove("licenses"))
        .into_iter()
        .chain(single)
    {
        let mut license = match license {
            Value::Object(license) => license,
            text => Object::from_iter([("name".to_owned(), text)]),
        };
        rename_key(&mut license, "path", "url");
        let known = license
            .get("name")
            .and_then(scalar_text)
            .and_then(|name| license_iri(&name));
        if let Some(iri) = known
            && !license.contains_key("url")
        {
            license.insert("url".to_owned(), Value::String(iri));
        }
        let (kind, license) = (FieldKind::Resource, Value::Object(license));
        builder.field(node, "licenses", dcterms::LICENSE, kind, &license);
    }
    for source in into_list(object.remove("sources")) {
        let source = match source {
            Value::Object(mut source) => {
                rename_key(&mut source, "path", "url");
                Value::Object(source)
            }
            text => text,
        };
        builder.field(
            node,
            "sources",
            dcterms::SOURCE,
            FieldKind::Resource,
            &source,
        );
    }
}

fn rename_key(object: &mut Object, key: &str, other: &str) {
    if !object.contains_key(other)
        && let Some(value) = object.remove(key)
    {
        object.insert(other.to_owned(), value);
    }
}

fn add_contributor(contributor: Value, node: &Subject, builder: &mut DcatBuilder) {
    let Value::Object(mut agent) = contributor else {
        let (property, kind) = (dcterms::CONTRIBUTOR, FieldKind::Agent);
        return builder.field(node, "contributors", property, kind, &contributor);
    };
    rename_key(&mut agent, "path", "url");
    let declared = agent.remove("roles").or_else(|| agent.remove("role"));
    let mut roles = Vec::new();
    let mut others = Vec::new();
    for role in declared.as_ref().map(scalar_texts).unwrap_or_default() {
        match ROLES
            .iter()
            .find(|(name, ..)| role.eq_ignore_ascii_case(name))
        {
            Some((_, property, kind)) => roles.push((*property, *kind)),
            None => others.push(role),
        }
    }
    if !others.is_empty() {
        agent.insert("roles".to_owned(), json!(others));
    }
    if roles.is_empty() {
        roles.push((dcterms::CONTRIBUTOR, FieldKind::Agent));
    }
    roles.dedup();
    for (property, kind) in roles {
        let agent = Value::Object(agent.clone());
        builder.field(node, "contributors", property, kind, &agent);
    }
}

/// Adds a resource: one distribution for each of its files.
fn add_resource(mut resource: Object, node: &Subject, builder: &mut DcatBuilder) {
    if resource.remove("data").is_some() {
        builder.problem("resources", "inline content in data is not read", "");
    }
    let mut paths = Vec::new();
    for path in resource
        .remove("path")
        .as_ref()
        .map(scalar_texts)
        .unwrap_or_default()
    {
        if is_accepted_path(&path) {
            paths.push(Some(path));
        } else {
            let message = "a path of a Data Package is an address, or relative and without `..`";
            builder.problem("path", message, &path);
            builder.extra(node, "path", &json!(path));
        }
    }
    if paths.is_empty() {
        paths.push(None);
    }
    for path in paths {
        let mut resource = resource.clone();
        let part = builder.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
        if let Some(path) = path {
            builder.resource(&part, dcat::DOWNLOAD_URL, &path);
        }
        if !resource.contains_key("title") {
            rename_key(&mut resource, "name", "title");
        }
        builder.fields(&part, &mut resource, RESOURCE);
        add_common_fields(&mut resource, &part, builder);
        if let Some(hash) = take_text(&mut resource, "hash").filter(|hash| !is_placeholder(hash)) {
            add_hash(&hash, &part, builder);
        }
        match resource.remove("schema") {
            Some(Value::Object(schema)) => add_schema(schema, &part, builder),
            Some(schema) => {
                let kind = FieldKind::Resource;
                builder.field(&part, "schema", dcterms::CONFORMS_TO, kind, &schema);
            }
            None => {}
        }
        builder.extras(&part, resource);
    }
}

/// If true, the path is an address, or a path within the folder of the package.
fn is_accepted_path(path: &str) -> bool {
    if path.contains("://") {
        return matches!(parse_address(path), Address::Iri(_));
    }
    let has_scheme = path.contains(':') && matches!(parse_address(path), Address::Unsafe);
    !has_scheme
        && !path.starts_with(['/', '\\', '~'])
        && !path.split(['/', '\\']).any(|part| part == "..")
}

/// Adds a checksum: `ALGORITHM:DIGITS`, or those of MD5 alone.
fn add_hash(hash: &str, part: &Subject, builder: &mut DcatBuilder) {
    let (algorithm, digits) = hash.split_once(':').unwrap_or(("md5", hash));
    let checksum = builder.part(part, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
    let known = match algorithm.to_ascii_lowercase().as_str() {
        "md5" => Some(spdx::MD5),
        "sha256" => Some(spdx::SHA256),
        _ => None,
    };
    match known {
        Some(iri) => builder.resource(&checksum, spdx::ALGORITHM, iri),
        None => builder.text(&checksum, spdx::ALGORITHM, &json!(algorithm)),
    }
    if digits.len() % 2 == 0 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        builder.add_typed_literal(&checksum, spdx::CHECKSUM_VALUE, digits, "hexBinary");
    } else {
        builder.text(&checksum, spdx::CHECKSUM_VALUE, &json!(digits));
    }
}

/// Adds the columns of a table in the terms of CSV on the Web.
fn add_schema(mut schema: Object, part: &Subject, builder: &mut DcatBuilder) {
    let table = builder.blank();
    builder.add(part, csvw::TABLE_SCHEMA, table.clone());
    for field in into_list(schema.remove("fields")) {
        let mut field = match field {
            Value::Object(field) => field,
            name => Object::from_iter([("name".to_owned(), name)]),
        };
        let column = builder.blank();
        builder.add(&table, csvw::COLUMN, column.clone());
        builder.fields(&column, &mut field, COLUMN);
        if let Some(kind) = take_text(&mut field, "type") {
            match find_datatype(&kind) {
                Some(name) => builder.text(&column, csvw::DATATYPE, &json!(name)),
                None => builder.extra(&column, "type", &json!(kind)),
            }
        }
        // `rdfType`, the class of the values, has no term in CSV on the Web, and stays as it is.
        builder.extras(&column, field);
    }
    builder.extras(&table, schema);
}

/// Returns the datatype of CSV on the Web for a type of Table Schema. Types without one, such as `object`, stay as they are.
fn find_datatype(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "string" | "any" => "string",
        "integer" => "integer",
        "number" => "decimal",
        "boolean" => "boolean",
        "date" => "date",
        "time" => "time",
        "datetime" => "dateTime",
        "year" => "gYear",
        "yearmonth" => "gYearMonth",
        "duration" => "duration",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, Location};

    fn read_text(text: &Value) -> Catalog {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("datapackage.json");
        std::fs::write(&path, text.to_string()).expect("written");
        Catalog::read(&path).expect("a package")
    }

    #[test]
    fn a_package_is_no_package_of_ckan() {
        let catalog = read_text(&json!({
            "name": "kilns", "title": "Kilns", "licenses": [{"name": "CC-BY-4.0"}],
            "contributors": [{"title": "Clay Board", "role": "publisher"}, {"title": "Ada", "roles": ["author", "driver"]}],
            "resources": [
                {"name": "list", "path": ["a.csv", "b/c.csv"], "schema": {"fields": [{"name": "height", "type": "number"}, {"name": "built", "type": "year", "rdfType": "http://e.org/Year"}]}},
                {"name": "other", "path": "../secret.csv"}, {"name": "inline", "data": [1, 2]}]
        }));
        assert_eq!(
            (catalog.dialect, catalog.datasets.len()),
            (Dialect::DataPackage, 1)
        );
        let dataset = &catalog.datasets[0];
        let metadata = &dataset.metadata;
        assert_eq!((metadata.id.as_str(), metadata.title()), ("kilns", "Kilns"));
        assert_eq!(
            metadata.license.as_deref(),
            Some("https://creativecommons.org/licenses/by/4.0/")
        );
        assert_eq!(
            (
                metadata.publishers[0].name.as_str(),
                metadata.creators[0].name.as_str()
            ),
            ("Clay Board", "Ada")
        );
        let mut places: Vec<&str> = dataset
            .distributions
            .iter()
            .map(|one| one.location.as_str())
            .collect();
        places.sort_unstable();
        assert_eq!(places, ["a.csv", "b/c.csv"]);
        assert!(matches!(
            dataset.distributions[0].location,
            Location::File(_)
        ));
        assert!(
            catalog.problems.join("\n").contains("..")
                && catalog.problems.join("\n").contains("data"),
            "{:?}",
            catalog.problems
        );
        let text = format!("{:?}", dataset.extra_statements);
        assert!(text.contains("decimal") && text.contains("gYear") && text.contains("driver"));
        assert!(text.contains("http://e.org/Year") && text.contains("rdfType"));
        assert!(!text.contains("propertyUrl"), "a class is no property");
    }

    #[test]
    fn packages_of_other_kinds() {
        for (document, expected) in [
            (json!({"name": "a", "resources": [{"path": "a.csv"}]}), true),
            (
                json!({"$schema": "https://datapackage.org/profiles/2.0/datapackage.json", "resources": []}),
                true,
            ),
            (
                json!({"name": "a", "owner_org": "b", "resources": [{"path": "a.csv"}]}),
                false,
            ),
            (json!({"name": "a", "resources": [{"url": "a.csv"}]}), false),
            (json!({"name": "a"}), false),
            (json!([1]), false),
        ] {
            assert_eq!(is_package(&document), expected, "{document}");
        }
    }
}
