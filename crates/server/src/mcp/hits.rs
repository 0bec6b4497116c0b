//! Search results for agents: what is needed to choose a dataset, in few bytes. `get_dataset` has the rest.

use super::answer::{Answer, sent_bytes};
use super::rows::matching_rows;
use crate::portal::license_label;
use crate::text::shorten;
use lodeseek_catalog::{DatasetId, Iris};
use serde_json::{Map, Value, json};

/// Maximum number of bytes that a client receives for up to [`HITS_OF_FULL_SIZE`] hits, as structure and as text together.
const MAX_BYTES: usize = 3_900;
/// Maximum number of characters of a corrected query.
const MAX_QUERY_CHARACTERS: usize = 200;
/// Number of hits that share [`MAX_BYTES`]. More hits have proportionally more bytes.
const HITS_OF_FULL_SIZE: usize = 5;
/// Maximum number of characters of a title, and of a publisher.
const MAX_NAME_CHARS: usize = 80;
/// Maximum number of suggested filters.
const MAX_SUGGESTIONS: usize = 3;

/// Amount of detail of the hits.
#[derive(Clone, Copy)]
struct Detail {
    /// Maximum number of characters of a description.
    description: usize,
    /// Maximum number of characters of a title or publisher.
    name: usize,
    /// Maximum number of fields, and of rows of a table, that match.
    fields: usize,
    /// If true, publisher, licence and size are included.
    facts: bool,
    /// If true, the IRI is included. It repeats the id, which is enough for the other tools.
    iri: bool,
}

/// Amounts of detail, tried in this order until the hits are short enough.
const DETAILS: [Detail; 9] = [
    Detail {
        description: 600,
        name: MAX_NAME_CHARS,
        fields: 4,
        facts: true,
        iri: true,
    },
    Detail {
        description: 300,
        name: MAX_NAME_CHARS,
        fields: 3,
        facts: true,
        iri: true,
    },
    Detail {
        description: 200,
        name: MAX_NAME_CHARS,
        fields: 2,
        facts: true,
        iri: true,
    },
    Detail {
        description: 120,
        name: MAX_NAME_CHARS,
        fields: 2,
        facts: true,
        iri: true,
    },
    Detail {
        description: 80,
        name: 60,
        fields: 1,
        facts: true,
        iri: true,
    },
    Detail {
        description: 80,
        name: 60,
        fields: 1,
        facts: false,
        iri: true,
    },
    Detail {
        description: 40,
        name: 60,
        fields: 0,
        facts: false,
        iri: true,
    },
    Detail {
        description: 0,
        name: 40,
        fields: 0,
        facts: false,
        iri: true,
    },
    Detail {
        description: 0,
        name: 20,
        fields: 0,
        facts: false,
        iri: false,
    },
];

/// Shortens the response of a search.
pub(super) fn shorten_response(found: &Value, iris: &Iris) -> Answer {
    let hits = found["hits"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let max_bytes = MAX_BYTES * hits.len().max(HITS_OF_FULL_SIZE) / HITS_OF_FULL_SIZE;
    let mut answer = Answer::from(Value::Null);
    for detail in DETAILS {
        answer = with_detail(found, hits, iris, detail);
        if sent_bytes(&answer.value) <= max_bytes {
            break;
        }
    }
    answer
}

fn with_detail(found: &Value, hits: &[Value], iris: &Iris, detail: Detail) -> Answer {
    let mut truncated = false;
    let hits: Vec<Value> = hits
        .iter()
        .map(|hit| summarize_hit(hit, iris, detail, &mut truncated))
        .collect();
    let mut value = Map::new();
    for count in ["total", "good", "weak"] {
        value.insert(count.to_owned(), found[count].clone());
    }
    if found["onlyClosest"] == true {
        value.insert("onlyClosest".to_owned(), true.into());
    }
    if let Some(suggestion) = found["suggestion"].as_str() {
        value.insert(
            "suggestion".to_owned(),
            shorten(suggestion, MAX_QUERY_CHARACTERS).into(),
        );
    }
    if let Some(corrected) = found["corrected"].as_str() {
        value.insert(
            "corrected".to_owned(),
            shorten(corrected, MAX_QUERY_CHARACTERS).into(),
        );
    }
    if let Some(unknown) = found["unknownValues"].as_array() {
        value.insert(
            "unknownValues".to_owned(),
            unknown.iter().take(MAX_SUGGESTIONS).cloned().collect(),
        );
    }
    if let Some(filters) = found["suggestedFilters"]
        .as_array()
        .filter(|_| detail.facts)
    {
        value.insert(
            "suggestedFilters".to_owned(),
            filters.iter().take(MAX_SUGGESTIONS).cloned().collect(),
        );
    }
    value.insert("hits".to_owned(), hits.into());
    Answer {
        value: value.into(),
        truncated,
    }
}

fn summarize_hit(hit: &Value, iris: &Iris, detail: Detail, truncated: &mut bool) -> Value {
    let mut value = Map::new();
    add_member(&mut value, "id", hit["id"].clone());
    let id = hit["id"].as_str().and_then(|id| DatasetId::new(id).ok());
    if detail.iri {
        add_member(
            &mut value,
            "iri",
            id.map(|id| iris.dataset(&id).into_string()).into(),
        );
    }
    add_member(
        &mut value,
        "title",
        hit["title"]
            .as_str()
            .map(|title| shorten_text(title, detail.name, truncated))
            .into(),
    );
    if let Some(description) = hit["description"].as_str() {
        if detail.description > 0 {
            add_member(
                &mut value,
                "description",
                shorten_text(description, detail.description, truncated).into(),
            );
        } else {
            *truncated = true;
        }
    }
    add_member(&mut value, "year", hit["year"].clone());
    if detail.facts {
        let agent = hit["creators"].as_array().into_iter().flatten().last();
        add_member(
            &mut value,
            "by",
            agent
                .and_then(|agent| agent["name"].as_str())
                .map(|name| shorten(name, detail.name / 2))
                .into(),
        );
        add_member(
            &mut value,
            "license",
            hit["license"]
                .as_str()
                .map(|license| shorten(&license_label(license), detail.name / 2))
                .into(),
        );
        add_member(&mut value, "triples", hit["triples"].clone());
    }
    let fields = hit["fields"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let reasons: Vec<Value> = fields
        .iter()
        .take(detail.fields)
        .filter_map(format_match)
        .collect();
    if !reasons.is_empty() {
        add_member(&mut value, "fields", reasons.into());
    }
    let rows = matching_rows(&hit["table"], detail.fields);
    if !rows.is_empty() {
        add_member(&mut value, "rows", rows.into());
    }
    add_member(&mut value, "match", hit["match"].clone());
    if hit["closest"] == true {
        add_member(&mut value, "closest", true.into());
    }
    if hit["similarTo"].is_array() {
        let similarity = &hit["similarTo"][0]["score"];
        add_member(
            &mut value,
            "similarity",
            json!(
                similarity
                    .as_f64()
                    .map(|score| (score * 100.0).round() / 100.0)
            ),
        );
    }
    value.into()
}

/// Adds a member to an object, unless it is null.
fn add_member(object: &mut Map<String, Value>, name: &str, member: Value) {
    if !member.is_null() {
        object.insert(name.to_owned(), member);
    }
}

/// Shortens a text. Sets `truncated` if it was longer.
fn shorten_text(text: &str, max_chars: usize, truncated: &mut bool) -> String {
    let short = shorten(text.trim(), max_chars);
    // A shortened text ends with an ellipsis, which exceeds the limit.
    *truncated |= short.chars().count() > max_chars;
    short
}

/// Returns a field with the words of the query in it: `title: city, trees`.
fn format_match(field: &Value) -> Option<Value> {
    let terms: Vec<&str> = field["terms"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    Some(format!("{}: {}", field["field"].as_str()?, terms.join(", ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(hits: usize, length: usize) -> Value {
        let hit = |place: usize| {
            json!({
                "rank": place, "id": format!("register-{place}"), "title": "Ein \"langer\" Titel ".repeat(length),
                "description": "Beschreibung der Bäume ".repeat(length), "score": 1.5, "year": 2020, "triples": 12,
                "creators": [{ "name": "Office" }], "license": "https://creativecommons.org/licenses/by/4.0/",
                "fields": [{ "field": "title", "score": 0.7, "terms": ["bäume"] }], "snippet": [],
                "dense": [{ "score": 0.1 }], "closest": place == 1,
            })
        };
        json!({ "total": hits, "hits": (0..hits).map(hit).collect::<Vec<_>>() })
    }

    #[test]
    fn five_hits_have_few_bytes_and_what_a_choice_needs() {
        for (hits, length) in [(5, 1), (5, 5), (5, 500), (1, 500), (20, 500)] {
            let answer = shorten_response(&response(hits, length), &Iris::default());
            let max_bytes = MAX_BYTES * hits.max(HITS_OF_FULL_SIZE) / HITS_OF_FULL_SIZE;
            assert!(
                sent_bytes(&answer.value) <= max_bytes,
                "{hits} hits: {} bytes",
                sent_bytes(&answer.value)
            );
            let listed = answer.value["hits"].as_array().expect("hits");
            assert_eq!(
                (listed.len(), answer.truncated),
                (hits, length > 1),
                "{length}"
            );
            assert!(
                listed
                    .iter()
                    .all(|hit| hit["title"].is_string() && hit["iri"].is_string())
            );
        }
        let few = shorten_response(&response(1, 4), &Iris::default()).value;
        assert_eq!(
            (&few["hits"][0]["by"], &few["hits"][0]["license"]),
            (&json!("Office"), &json!("CC BY 4.0"))
        );
        assert_eq!(few["hits"][0]["fields"], json!(["title: bäume"]));
    }

    #[test]
    fn hits_that_are_only_near_are_marked() {
        let found = shorten_response(&response(3, 1), &Iris::default()).value;
        let marks: Vec<bool> = (0..3)
            .map(|place| found["hits"][place]["closest"] == true)
            .collect();
        assert_eq!(marks, [false, true, false]);
        assert!(found["hits"][0].get("closest").is_none());
    }
}
