//! CSV on the Web: the metadata of a table, or of a group of tables, as a description of one dataset. The contents of the tables are
//! not read here.
//!
//! The common properties of a document are JSON-LD with prefixes of its own. They become JSON-LD with a context that needs no network.
//! <https://www.w3.org/TR/tabular-metadata/>

use super::dcat_builder::{Object, scalar_text, take_text};
use super::typed_fields::MEDIA_TYPES;
use lodeseek_rdf::vocab::{PREFIXES, csvw};
use serde_json::{Value, json};

/// Context of the documents.
const CONTEXT: &str = "http://www.w3.org/ns/csvw";
/// Prefixes that documents may use without a declaration.
const INITIAL: [(&str, &str); 8] = [
    ("dc", "http://purl.org/dc/terms/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("dct", "http://purl.org/dc/terms/"),
    ("dc11", "http://purl.org/dc/elements/1.1/"),
    ("schema", "http://schema.org/"),
    ("cc", "http://creativecommons.org/ns#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];
/// Properties whose texts are codes, names and addresses: they have no language.
const CODES: [&str; 22] = [
    "aboutUrl",
    "base",
    "commentPrefix",
    "datatype",
    "decimalChar",
    "default",
    "delimiter",
    "encoding",
    "format",
    "groupChar",
    "lang",
    "lineTerminators",
    "name",
    "null",
    "pattern",
    "primaryKey",
    "propertyUrl",
    "quoteChar",
    "rowTitles",
    "separator",
    "textDirection",
    "valueUrl",
];
/// Properties of schema.org that have the meaning of those of DCAT.
const SCHEMA: [(&str, &str); 10] = [
    ("schema:name", "dc:title"),
    ("schema:description", "dc:description"),
    ("schema:keywords", "dcat:keyword"),
    ("schema:creator", "dc:creator"),
    ("schema:publisher", "dc:publisher"),
    ("schema:license", "dc:license"),
    ("schema:datePublished", "dc:issued"),
    ("schema:dateModified", "dc:modified"),
    ("schema:url", "dcat:landingPage"),
    ("schema:version", "dcat:version"),
];

/// Returns true if the beginning of a document has the context of CSV on the Web.
pub(super) fn looks_like(head: &str) -> bool {
    head.contains("\"@context\"") && head.contains(&format!("\"{CONTEXT}\""))
}

/// Returns the description of a document as JSON-LD. The error is the reason why the document is none.
pub(super) fn to_json_ld(document: &Value) -> Result<String, String> {
    let Value::Object(mut document) = document.clone() else {
        return Err("metadata of CSV on the Web that is no object".to_owned());
    };
    let mut context = Object::new();
    for (prefix, namespace) in PREFIXES.iter().chain(&INITIAL) {
        context.insert((*prefix).to_owned(), json!(namespace));
    }
    context.insert("@vocab".to_owned(), json!(csvw::NAMESPACE));
    context.insert("csvw".to_owned(), json!(csvw::NAMESPACE));
    for term in CODES {
        let definition = json!({"@id": format!("{}{term}", csvw::NAMESPACE), "@language": null});
        context.insert(term.to_owned(), definition);
    }
    let declared = document.remove("@context").unwrap_or_default();
    for own in declared.as_array().into_iter().flatten() {
        for (key, value) in own.as_object().into_iter().flatten() {
            if matches!(key.as_str(), "@language" | "@base") {
                context.insert(key.clone(), value.clone());
            }
        }
    }
    let mut tables = match document.remove("tables") {
        Some(Value::Array(tables)) => tables,
        Some(table) => vec![table],
        None => {
            let own = ["url", "tableSchema", "dialect", "transformations", "notes"];
            let table: Object = own
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), document.remove(*key)?)))
                .collect();
            if !table.contains_key("url") {
                return Err(
                    "metadata of CSV on the Web without a table: it has neither url nor tables"
                        .to_owned(),
                );
            }
            vec![Value::Object(table)]
        }
    };
    // A single table may have the properties that describe the dataset.
    if let [Value::Object(table)] = tables.as_mut_slice() {
        let keys: Vec<String> = table
            .keys()
            .filter(|key| key.contains(':'))
            .cloned()
            .collect();
        for key in keys {
            if let Some(value) = table.remove(&key) {
                document.entry(key).or_insert(value);
            }
        }
    }
    let mut distributions = Vec::new();
    for table in tables {
        distributions.push(build_distribution(table)?);
    }
    for (key, own) in SCHEMA {
        if !document.contains_key(own)
            && let Some(value) = document.remove(key)
        {
            document.insert(own.to_owned(), value);
        }
    }
    let has_title = ["dc:title", "dcterms:title", "dct:title"]
        .iter()
        .any(|key| document.contains_key(*key));
    if !has_title && !document.contains_key("@id") {
        let first = distributions
            .first()
            .and_then(|one| one.get("dcat:downloadURL"));
        let name = first.and_then(|url| url.get("@id")).and_then(scalar_text);
        let name = name.unwrap_or_default();
        let name = name
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("table");
        let stem = name.split(['.', '?', '#']).next().unwrap_or(name);
        document.insert("dc:title".to_owned(), json!({"@value": stem}));
    }
    for key in ["dc:license", "dcat:landingPage", "dc:conformsTo"] {
        if let Some(Value::String(iri)) = document.get(key)
            && iri.contains("://")
        {
            let node = json!({"@id": iri});
            document.insert(key.to_owned(), node);
        }
    }
    document.insert("@type".to_owned(), json!("dcat:Dataset"));
    document.insert("@context".to_owned(), Value::Object(context));
    document.insert("dcat:distribution".to_owned(), Value::Array(distributions));
    if let Some(schema) = document.remove("tableSchema") {
        document.insert("csvw:tableSchema".to_owned(), table_schema(schema));
    }
    Ok(Value::Object(document).to_string())
}

/// Returns a table as a distribution.
fn build_distribution(table: Value) -> Result<Value, String> {
    let Value::Object(mut table) = table else {
        return Err("metadata of CSV on the Web with a table that is no object".to_owned());
    };
    let url = take_text(&mut table, "url")
        .ok_or("metadata of CSV on the Web with a table without url")?;
    let is_tabbed = url
        .to_ascii_lowercase()
        .split(['?', '#'])
        .next()
        .is_some_and(|path| path.ends_with(".tsv"));
    let kind = if is_tabbed {
        "tab-separated-values"
    } else {
        "csv"
    };
    if let Some(schema) = table.remove("tableSchema") {
        table.insert("csvw:tableSchema".to_owned(), table_schema(schema));
    }
    table.insert("@type".to_owned(), json!("dcat:Distribution"));
    table.insert("dcat:downloadURL".to_owned(), json!({"@id": url}));
    let media_type = format!("{MEDIA_TYPES}text/{kind}");
    table.insert("dcat:mediaType".to_owned(), json!({"@id": media_type}));
    Ok(Value::Object(table))
}

/// Returns a schema with its columns in the terms of the vocabulary. A reference to another document becomes its address.
fn table_schema(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else {
        return match schema {
            Value::String(address) => json!({"@id": address}),
            other => other,
        };
    };
    let columns = match schema.remove("columns") {
        Some(Value::Array(columns)) => columns,
        Some(column) => vec![column],
        None => Vec::new(),
    };
    let mut described = Vec::new();
    for column in columns {
        let Value::Object(mut column) = column else {
            described.push(column);
            continue;
        };
        if let Some(titles) = column.remove("titles") {
            column.insert("csvw:title".to_owned(), by_language(titles));
        }
        described.push(Value::Object(column));
    }
    schema.insert("csvw:column".to_owned(), Value::Array(described));
    Value::Object(schema)
}

/// Returns texts by language as values of JSON-LD.
fn by_language(value: Value) -> Value {
    let Value::Object(texts) = value else {
        return value;
    };
    let mut values = Vec::new();
    for (language, texts) in texts {
        let texts = match texts {
            Value::Array(texts) => texts,
            text => vec![text],
        };
        values.extend(
            texts
                .into_iter()
                .map(|text| json!({"@value": text, "@language": language})),
        );
    }
    Value::Array(values)
}

#[cfg(test)]
mod tests {
    use crate::{Catalog, Dialect};
    use serde_json::json;

    #[test]
    fn a_group_of_tables_is_one_dataset() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kilns.csv-metadata.json");
        let group = json!({"@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}], "dc:title": "Kilns",
            "schema:description": "All kilns", "dc:license": {"@id": "http://creativecommons.org/licenses/by/4.0/"},
            "tables": [{"url": "a.csv", "tableSchema": {"columns": [{"name": "height", "titles": {"de": "Höhe"}, "datatype": "decimal"}], "primaryKey": "id"}},
                {"url": "b.tsv"}]});
        std::fs::write(&path, group.to_string()).expect("written");
        let catalog = Catalog::read(&path).expect("metadata");
        assert_eq!(
            (
                catalog.dialect,
                catalog.datasets.len(),
                catalog.problems.len()
            ),
            (Dialect::Csvw, 1, 0),
            "{:?}",
            catalog.problems
        );
        let dataset = &catalog.datasets[0];
        assert_eq!(
            (dataset.metadata.title(), dataset.metadata.description()),
            ("Kilns", Some("All kilns"))
        );
        let mut places: Vec<&str> = dataset
            .distributions
            .iter()
            .map(|one| one.location.as_str())
            .collect();
        places.sort_unstable();
        assert_eq!(places, ["a.csv", "b.tsv"]);
        let text = format!("{:?}", dataset.extra_statements);
        for part in [
            "Höhe",
            "\"decimal\"",
            "http://www.w3.org/ns/csvw#primaryKey",
            "http://www.w3.org/ns/csvw#column",
            "http://www.w3.org/ns/csvw#tableSchema",
            "http://www.w3.org/ns/csvw#title",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn documents_without_tables_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        std::fs::write(
            &path,
            r#"{"@context": "http://www.w3.org/ns/csvw", "tableSchema": {}}"#,
        )
        .expect("written");
        let error = Catalog::read(&path).expect_err("no table").to_string();
        assert!(error.contains("without a table"), "{error}");
    }
}
