//! The OpenAPI document, compared with responses of the server: statuses, media types, and the members of JSON.

use super::http::{Reply, Site, encoded};
use serde_json::Value;

/// Values of `Accept`: formats of the routes, and one that no route has.
const ACCEPTED: [&str; 10] = [
    "*/*",
    "text/html",
    "application/json",
    "text/turtle",
    "application/ld+json",
    "application/trig",
    "application/sparql-results+json",
    "text/csv",
    "application/vnd.citationstyles.csl+json",
    "image/png",
];

/// Returns the address of a route for a dataset. Files are not UTF-8, so that of the address does not exist.
fn address(route: &str, dataset: &str) -> String {
    let name = if route.contains("/action/") {
        "package_list"
    } else {
        "none.nt"
    };
    route
        .replace("{id}", dataset)
        .replace("{name}", name)
        .replace("{page}", "0")
}

/// Returns the parameters that a route needs.
fn parameters(route: &str) -> &'static [(&'static str, &'static str)] {
    match route {
        "/api/search" => &[("q", "city trees"), ("facets", "true"), ("explain", "true")],
        "/api/entities" | "/entities" | "/suggest" => &[("q", "ginkgo")],
        "/dataset/{id}/entity" => &[("iri", "http://example.org/trees/tree/T0011")],
        "/like" => &[("dataset", "street-trees")],
        "/oai" => &[("verb", "Identify")],
        "/rdf-graph-store" => &[("graph", "http://localhost:7878/dataset/street-trees")],
        "/sparql" => &[("query", "SELECT * { ?s ?p ?o } LIMIT 1")],
        _ => &[],
    }
}

/// Returns the schema that a schema refers to, or the schema itself.
fn resolve<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("{reference}")),
        None => schema,
    }
}

/// Returns the name of the type of a value in JSON Schema.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Compares a value with its schema: its type, its required members, and the names of all members if the schema has some.
fn check_value(document: &Value, schema: &Value, value: &Value, place: &str) {
    let schema = resolve(document, schema);
    let allowed = match &schema["type"] {
        Value::Null => return,
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let name = type_name(value);
    let is_number = name == "integer" && allowed.contains(&Value::from("number"));
    assert!(
        is_number || allowed.contains(&Value::from(name)),
        "{place} is {name}, not {allowed:?}"
    );
    for required in schema["required"].as_array().into_iter().flatten() {
        let required = required.as_str().expect("a name");
        assert!(value.get(required).is_some(), "{place} lacks {required}");
    }
    if let (Some(properties), Some(members)) = (schema["properties"].as_object(), value.as_object())
    {
        for (name, member) in members {
            let place = format!("{place}.{name}");
            let property = properties.get(name);
            let property = property.unwrap_or_else(|| panic!("{place} is not documented"));
            check_value(document, property, member, &place);
        }
    }
    if let Some(items) = schema.get("items") {
        for item in value.as_array().into_iter().flatten() {
            check_value(document, items, item, &format!("{place}[]"));
        }
    }
}

/// Compares a response with the description of its operation.
fn check_response(document: &Value, operation: &Value, reply: &Reply, request: &str) {
    let status = reply.status.as_str();
    let response = &operation["responses"][status];
    assert!(
        response.is_object(),
        "{request}: status {status} is not documented: {}",
        reply.body
    );
    if reply.body.is_empty() && response.get("content").is_none() {
        return;
    }
    let content = &response["content"];
    let media_type = reply.media_type();
    let content = content.get(media_type).or_else(|| content.get("*/*"));
    let content = content
        .unwrap_or_else(|| panic!("{request}: {media_type} of status {status} is not documented"));
    if media_type.ends_with("json") {
        check_value(document, &content["schema"], &reply.json(), request);
    }
}

#[tokio::test]
async fn responses_are_those_of_the_document() {
    let site = Site::testdata();
    let document = site.get("/openapi.json").await.json();
    let mut compared = 0;
    for (route, item) in document["paths"].as_object().expect("paths") {
        let operation = &item["get"];
        // Restricted operations need a token.
        if operation.is_null() || operation.get("security").is_some() {
            continue;
        }
        let needed = parameters(route);
        let unknown = [needed, &[("no-such-parameter", "1")][..]].concat();
        for dataset in ["street-trees", "none"] {
            for query in [needed, unknown.as_slice()] {
                let request = format!("{}?{}", address(route, dataset), encoded(query));
                for accept in ACCEPTED {
                    let reply = site.accept(&request, accept).await;
                    let request = format!("{request} {accept}");
                    check_response(&document, operation, &reply, &request);
                    compared += 1;
                }
            }
            if !route.contains("{id}") {
                break;
            }
        }
    }
    assert!(compared > 500, "{compared} responses");
}
