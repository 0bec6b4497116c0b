//! DCAT-US 3 in JSON: keys of the schema with `@id` and `@type`, but often without a context that can be read. The
//! document is read as JSON-LD with the context in `dcat_us.jsonld`.
//! <https://resources.data.gov/resources/dcat-us-3/>

use serde_json::{Map, Value};

/// Context for the keys of the schema.
const CONTEXT: &str = include_str!("dcat_us.jsonld");
/// Classes of the objects at the top of a document.
const ROOTS: [&str; 3] = ["Catalog", "Dataset", "DatasetSeries"];

/// Returns a document of DCAT-US as JSON-LD with a context; `None` if it is of another dialect, or has a context of its
/// own.
pub(super) fn to_json_ld(mut document: Value) -> Option<String> {
    let root = document.as_object_mut()?;
    let has_context = root.get("@context").is_some_and(|context| !is_of_dcat_us(context));
    let class = root.get("@type").and_then(Value::as_str).map(|class| class.trim_start_matches("dcat:"));
    if has_context || !class.is_some_and(|class| ROOTS.contains(&class)) {
        return None;
    }
    let context: Value = serde_json::from_str(CONTEXT).ok()?;
    root.insert("@context".to_owned(), context.get("@context")?.clone());
    for (key, class) in [("dataset", "Dataset"), ("datasetSeries", "DatasetSeries"), ("service", "DataService")] {
        let entries = match root.get_mut(key) {
            Some(Value::Array(entries)) => entries.as_mut_slice(),
            Some(entry) => std::slice::from_mut(entry),
            None => continue,
        };
        entries.iter_mut().filter_map(Value::as_object_mut).for_each(|entry| add_class(entry, class));
    }
    Some(document.to_string())
}

/// If true, the context is an address of DCAT-US. Remote contexts are not fetched.
fn is_of_dcat_us(context: &Value) -> bool {
    match context {
        Value::String(address) => address.contains("dcat-us"),
        Value::Array(contexts) => !contexts.is_empty() && contexts.iter().all(is_of_dcat_us),
        _ => false,
    }
}

/// Adds the class that the schema implies.
fn add_class(entry: &mut Map<String, Value>, class: &str) {
    if !entry.contains_key("@type") {
        entry.insert("@type".to_owned(), Value::from(class));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_of_the_schema_get_a_context() {
        let schema = json!({"@type": "dcat:Catalog", "title": "C", "dataset": [{"title": "D"}, {"@type": "Dataset"}]});
        let read: Value = serde_json::from_str(&to_json_ld(schema).expect("DCAT-US")).expect("JSON");
        assert_eq!(read["dataset"][0]["@type"], "Dataset");
        assert_eq!(read["@context"]["title"], "dct:title");
        let single = json!({"@type": "Catalog", "dataset": {"title": "D"}});
        let read: Value = serde_json::from_str(&to_json_ld(single).expect("DCAT-US")).expect("JSON");
        assert_eq!(read["dataset"]["@type"], "Dataset");
        assert!(to_json_ld(json!({"@type": "Dataset", "@context": "https://e.org/dcat-us-3.0.jsonld"})).is_some());
        for other in [
            json!({"@type": "Dataset", "@context": "https://schema.org/"}),
            json!({"@type": "Dataset", "@context": {"title": "http://purl.org/dc/terms/title"}}),
            json!({"@type": "Dataset", "@context": []}),
            json!({"@type": "sc:Dataset"}),
            json!({"title": "D"}),
            json!([]),
        ] {
            assert_eq!(to_json_ld(other.clone()), None, "{other}");
        }
    }
}
