//! The list of datasets, and the form of a description.

use super::{Fields, Nav, Operator, queue_change};
use crate::AppState;
use crate::admin::edits::{check_edit, check_now, description, field_errors};
use crate::admin::management::dataset_id;
use crate::admin::preconditions::read_preconditions;
use crate::error::ApiError;
use crate::pages::{PageContext, render};
use crate::parameters::Pairs;
use crate::text::href;
use askama::Template;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use lodeseek_catalog::{DatasetId, Patch, description_json};
use lodeseek_changes::{Change, DatasetEdit, EditAction, Preconditions, Scope};
use lodeseek_engine::{CollectionDataset, list_datasets};
use lodeseek_store::Store;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Number of datasets of a page.
const MAX_PAGE_DATASETS: usize = 50;
/// Keys with texts by language in the form of a description.
const TEXT_KEYS: [&str; 3] = ["title", "description", "keywords"];
/// Message of a form whose dataset was changed after the form was opened.
const CHANGED_MEANWHILE: &str = "Another person changed this dataset after you opened the form, so nothing was saved. What you typed is kept \
    below, with the present text beside it. Check it and save again.";
/// Beginning of the names of hidden fields with the texts when the form was opened.
const OPENED: &str = "opened:";
/// Keys with one value a line in the form of a description.
const LINE_KEYS: [&str; 2] = ["license", "landingPage"];

struct DatasetRow {
    id: String,
    title: String,
    href: String,
    edit: String,
    triples: u64,
    state: &'static str,
}

#[derive(Template)]
#[template(path = "operator-datasets.html")]
struct DatasetsPage {
    page: PageContext,
    nav: Nav,
    words: String,
    total: usize,
    datasets: Vec<DatasetRow>,
    previous: Option<String>,
    next: Option<String>,
}

pub(super) async fn page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    Query(parameters): Query<Pairs>,
) -> Response {
    let answer = async {
        let fields = Fields(parameters);
        let words = fields.get("q").to_owned();
        let skip: usize = fields.get("skip").parse().unwrap_or(0);
        let text = words.to_lowercase();
        let datasets = state.work(move |state| find(&state.store, &text)).await?;
        let total = datasets.len();
        let rows = datasets.into_iter().skip(skip).take(MAX_PAGE_DATASETS);
        Ok(render(&DatasetsPage {
            nav: operator.nav("datasets"),
            datasets: rows.map(dataset_row).collect(),
            previous: (skip > 0)
                .then(|| listed_address(&words, skip.saturating_sub(MAX_PAGE_DATASETS))),
            next: (skip + MAX_PAGE_DATASETS < total)
                .then(|| listed_address(&words, skip + MAX_PAGE_DATASETS)),
            total,
            words,
            page: page.clone(),
        }))
    };
    operator.respond(&page, "datasets", answer).await
}

/// Returns the datasets whose id or a title in any language contains a text in lower case.
fn find(store: &Store, text: &str) -> Result<Vec<CollectionDataset>, ApiError> {
    let mut datasets = list_datasets(store)?;
    if text.is_empty() {
        return Ok(datasets);
    }
    let mut found = HashSet::new();
    for entry in store.entries()? {
        let metadata = entry.dataset.metadata;
        let has_title = metadata
            .titles
            .iter()
            .any(|title| title.value.to_lowercase().contains(text));
        if has_title || metadata.id.as_str().to_lowercase().contains(text) {
            found.insert(metadata.id);
        }
    }
    datasets.retain(|one| found.contains(&one.id));
    Ok(datasets)
}

fn dataset_row(dataset: CollectionDataset) -> DatasetRow {
    DatasetRow {
        href: href(&dataset.id),
        edit: edit_address(dataset.id.as_str()),
        state: dataset.state.name(),
        triples: dataset.triples,
        title: dataset.title,
        id: dataset.id.to_string(),
    }
}

fn listed_address(words: &str, skip: usize) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters
        .append_pair("q", words)
        .append_pair("skip", &skip.to_string());
    format!("/operator/datasets?{}", parameters.finish())
}

/// Returns the address of the form of a dataset.
pub(super) fn edit_address(id: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    format!(
        "/operator/dataset?{}",
        parameters.append_pair("id", id).finish()
    )
}

/// A text of a description in a language.
struct TextRow {
    key: &'static str,
    language: String,
    field: TextField,
}

/// A field with a text.
struct TextField {
    /// Name of the field: the key, of texts also the language, as in `title@de`.
    name: String,
    text: String,
    /// Text when the form was opened.
    opened: String,
    /// Present text, if another person changed it to something else after the form was opened.
    present: Option<String>,
}

/// Texts that a person typed into a form that was not saved.
struct Rejected {
    fields: Fields,
    message: String,
}

/// An edit of the operator.
struct EditRow {
    key: String,
    by: String,
    time: String,
    /// Texts that the source states in its place; empty if it states nothing.
    stated: Vec<StatedText>,
}

/// A text that a source states.
#[derive(Debug, PartialEq)]
struct StatedText {
    /// Language tag; empty without one.
    language: String,
    text: String,
}

#[derive(Template)]
#[template(path = "operator-dataset.html")]
struct DatasetPage {
    page: PageContext,
    nav: Nav,
    id: String,
    title: String,
    href: String,
    etag: String,
    texts: Vec<TextRow>,
    /// Keys with one value a line.
    lines: Vec<TextField>,
    edits: Vec<EditRow>,
    /// Texts in a further language: (key, text).
    further: Vec<(&'static str, String)>,
    /// Tag of the further language.
    language: String,
    /// JSON Merge Patch of further keys.
    more: String,
    /// Reason why what was typed is not saved.
    rejection: String,
}

impl DatasetPage {
    /// Returns the name of a key of the description in the language of the page.
    fn key_name(&self, key: &str) -> String {
        self.page.text(&format!("key-{key}"))
    }
}

pub(super) async fn form(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    Query(parameters): Query<Pairs>,
) -> Response {
    let answer = async {
        let id = dataset_id(Fields(parameters).get("id"))?;
        let empty = Rejected {
            fields: Fields(Vec::new()),
            message: String::new(),
        };
        dataset_form(&state, &page, &operator, id, empty).await
    };
    operator.respond(&page, "datasets", answer).await
}

/// Returns the form of a description, with what a person typed that was not saved.
async fn dataset_form(
    state: &AppState,
    page: &PageContext,
    operator: &Operator,
    id: DatasetId,
    rejected: Rejected,
) -> Result<Response, ApiError> {
    let dataset = id.clone();
    let (body, _) = state
        .work(move |state| description(&state.store, &dataset))
        .await?;
    let described = &body["description"];
    let Rejected { fields, message } = rejected;
    let mut line_fields = Vec::new();
    for key in LINE_KEYS {
        line_fields.push(text_field(
            key.to_owned(),
            &format_lines(&described[key]),
            &fields,
        ));
    }
    let mut further = Vec::new();
    for key in TEXT_KEYS {
        further.push((key, fields.get(&format!("{key}@new")).to_owned()));
    }
    Ok(render(&DatasetPage {
        nav: operator.nav("datasets"),
        title: any_text(&described["title"]).unwrap_or_else(|| id.to_string()),
        href: href(&id),
        etag: body["etag"].as_str().unwrap_or_default().to_owned(),
        texts: text_rows(described, &fields),
        lines: line_fields,
        edits: edit_rows(&body),
        further,
        language: fields.get("language").to_owned(),
        more: fields.get("more").to_owned(),
        rejection: message,
        id: id.to_string(),
        page: page.clone(),
    }))
}

/// Returns a text in English, the language of the pages, or else in another language.
fn any_text(value: &Value) -> Option<String> {
    let texts = value.as_object()?;
    let text = texts.get("en").or_else(|| texts.values().next())?;
    text.as_str()
        .or_else(|| text.as_array()?.first()?.as_str())
        .map(str::to_owned)
}

/// Returns the values of a key as lines, as a form sends them. Values with members are no lines: they stay as they are.
fn format_lines(value: &Value) -> String {
    let texts = match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        Value::String(text) => vec![text.as_str()],
        _ => Vec::new(),
    };
    texts.join("\n").replace("\r\n", "\n")
}

/// Returns the fields of all texts: those that the description has, and those that were typed into an earlier form. A key without a
/// text has an empty field in the language of the title.
fn text_rows(described: &Value, typed: &Fields) -> Vec<TextRow> {
    let mut rows = Vec::new();
    let titles = described["title"].as_object();
    let language_of_title = titles.and_then(|texts| texts.keys().next());
    for key in TEXT_KEYS {
        let mut texts = BTreeMap::new();
        for (language, value) in described[key].as_object().into_iter().flatten() {
            texts.insert(language.as_str(), format_lines(value));
        }
        for (name, _) in &typed.0 {
            if let Some((named, language)) = name.split_once('@')
                && named == key
                && language != "new"
            {
                texts.entry(language).or_default();
            }
        }
        if texts.is_empty() {
            let language = match language_of_title {
                Some(language) => language.as_str(),
                None => "und",
            };
            texts.insert(language, String::new());
        }
        for (language, text) in texts {
            rows.push(TextRow {
                key,
                language: language.to_owned(),
                field: text_field(format!("{key}@{language}"), &text, typed),
            });
        }
    }
    rows
}

/// Returns a field: with the text that was typed if it differs from the one of the opened form, else with the present one.
fn text_field(name: String, present: &str, typed: &Fields) -> TextField {
    let opened = typed.text(&format!("{OPENED}{name}"));
    let mut field = TextField {
        text: present.to_owned(),
        opened: present.to_owned(),
        present: None,
        name,
    };
    if let Some(text) = typed.text(&field.name)
        && opened.as_ref() != Some(&text)
        && text != present.trim()
    {
        if opened.is_some_and(|opened| opened != present.trim()) {
            field.present = Some(present.to_owned());
        }
        field.text = text;
    }
    field
}

fn edit_rows(body: &Value) -> Vec<EditRow> {
    let mut rows = Vec::new();
    for (key, edit) in body["edits"].as_object().into_iter().flatten() {
        let time = edit["time"].as_str().unwrap_or_default();
        rows.push(EditRow {
            key: key.clone(),
            by: edit["by"].as_str().unwrap_or_default().to_owned(),
            time: time.get(..16).unwrap_or(time).replace('T', " "),
            stated: stated_texts(key, &body["source"][key]),
        });
    }
    rows
}

/// Returns the value of a key of the source as texts, by language if the key has texts by language.
fn stated_texts(key: &str, value: &Value) -> Vec<StatedText> {
    let mut texts = Vec::new();
    match value {
        Value::Null => {}
        Value::Object(by_language) if TEXT_KEYS.contains(&key) => {
            for (language, value) in by_language {
                let language = if language == "und" { "" } else { language };
                texts.push(StatedText {
                    language: language.to_owned(),
                    text: plain_value(value),
                });
            }
        }
        value => texts.push(StatedText {
            language: String::new(),
            text: plain_value(value),
        }),
    }
    texts
}

/// Returns a value of a description as text: lists with commas, and members with their names.
fn plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().map(plain_value).collect();
            texts.join(", ")
        }
        Value::Object(members) => {
            let texts: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{name}: {}", plain_value(value)))
                .collect();
            texts.join("; ")
        }
        other => other.to_string(),
    }
}

/// Returns true if a person can correct a rejected form.
fn can_correct(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::PRECONDITION_FAILED
            | StatusCode::PRECONDITION_REQUIRED
            | StatusCode::UNPROCESSABLE_ENTITY
    )
}

/// Edits, resets or removes a dataset, by the button of the form. An edit that is rejected leads to the form again, with what was typed.
pub(super) async fn change(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
    request: Request,
) -> Response {
    let answer = async {
        let fields = Fields::read(request).await?;
        operator.authorize(Scope::Write, fields.get("form"))?;
        let id = dataset_id(fields.get("id"))?;
        let failed = match change_dataset(&state, &operator, &id, &fields).await {
            Err(failed) if can_correct(failed.status) => failed,
            answer => return answer,
        };
        let message = match failed.status {
            StatusCode::PRECONDITION_FAILED => CHANGED_MEANWHILE.to_owned(),
            _ => failed.message,
        };
        let rejected = Rejected { fields, message };
        let form = dataset_form(&state, &page, &operator, id, rejected).await?;
        Ok((failed.status, form).into_response())
    };
    operator.respond(&page, "datasets", answer).await
}

/// Makes the change that a form requests.
async fn change_dataset(
    state: &AppState,
    operator: &Operator,
    id: &DatasetId,
    fields: &Fields,
) -> Result<Response, ApiError> {
    let conditions = parse_conditions(fields.get("etag"))?;
    let action = match fields.get("do") {
        "remove" if fields.get("confirm") != id.as_str() => {
            return Err(ApiError::bad_request(format!(
                "The dataset was not removed: to remove it, write its id {id} into the field."
            )));
        }
        "remove" => {
            check_now(state, id, &conditions).await?;
            return queue_change(state, operator, Change::RemoveIf(id.clone(), conditions)).await;
        }
        "reset" => EditAction::Reset(Vec::new()),
        _ => {
            check_now(state, id, &conditions).await?;
            let dataset = id.clone();
            let present = state
                .work(move |state| Ok(description_json(&state.store.entry(&dataset)?.dataset)))
                .await?;
            let patch = build_patch(fields, &Value::Object(present))?;
            if patch.is_empty() {
                return Ok(Redirect::to(&edit_address(id.as_str())).into_response());
            }
            EditAction::Patch(Patch::parse(&patch).map_err(|errors| field_errors(&errors))?)
        }
    };
    let edit = DatasetEdit {
        id: id.clone(),
        action,
        conditions,
        by: operator.caller.name().to_owned(),
    };
    let edit = check_edit(state, edit).await?;
    queue_change(state, operator, Change::Edit(Box::new(edit))).await
}

/// Returns the condition that the dataset is as the page showed it.
fn parse_conditions(etag: &str) -> Result<Preconditions, ApiError> {
    let mut headers = HeaderMap::new();
    if !etag.is_empty() {
        let tag = HeaderValue::from_str(etag);
        let tag = tag.map_err(|_| ApiError::bad_request("the entity tag is not valid"))?;
        headers.insert(header::IF_MATCH, tag);
    }
    read_preconditions(&headers)
}

/// Returns the JSON Merge Patch of the fields that differ from the present description.
fn build_patch(fields: &Fields, present: &Value) -> Result<Map<String, Value>, ApiError> {
    let mut patch = Map::new();
    for (name, text) in &fields.0 {
        let text = text.replace("\r\n", "\n");
        let text = text.trim();
        if let Some((key, language)) = name.split_once('@')
            && TEXT_KEYS.contains(&key)
        {
            let language = match language {
                "new" if text.is_empty() => continue,
                "new" => fields.get("language"),
                language => language,
            };
            if language.is_empty() {
                return Err(ApiError::bad_request(
                    "name the language of the new text by its tag, for example de",
                ));
            }
            let stated = &present[key][language];
            if text != format_lines(stated).trim() {
                patch.entry(key).or_insert_with(|| json!({}))[language] =
                    text_value(key, text, stated);
            }
        } else if LINE_KEYS.contains(&name.as_str())
            && text != format_lines(&present[name.as_str()]).trim()
        {
            patch.insert(name.clone(), list_value(text, &present[name.as_str()]));
        }
    }
    let more = fields.get("more");
    if !more.is_empty() {
        let more: Map<String, Value> = serde_json::from_str(more).map_err(|error| {
            ApiError::bad_request(format!("further keys: no JSON object: {error}"))
        })?;
        for (key, value) in more {
            if patch.contains_key(&key) {
                return Err(ApiError::bad_request(format!(
                    "further keys: {key} is edited in its own field, too; edit it in one place"
                )));
            }
            patch.insert(key, value);
        }
    }
    Ok(patch)
}

/// Returns a text as JSON: by line for keywords, and in place of several texts; null for an empty text. New keywords may be separated
/// by commas and semicolons as well; present ones may contain them.
fn text_value(key: &str, text: &str, stated: &Value) -> Value {
    if key == "keywords" && stated.is_null() {
        return list_value(&text.replace([',', ';'], "\n"), stated);
    }
    if key == "keywords" || stated.is_array() {
        return list_value(text, stated);
    }
    if text.is_empty() {
        return Value::Null;
    }
    json!(text)
}

/// Returns the lines of a text as a list, with the stated values that are no texts; null if there are none.
fn list_value(text: &str, stated: &Value) -> Value {
    let mut values = Vec::new();
    for line in text.lines().map(str::trim) {
        if !line.is_empty() {
            values.push(json!(line));
        }
    }
    let others = stated.as_array().into_iter().flatten();
    values.extend(others.filter(|other| !other.is_string()).cloned());
    if values.is_empty() {
        return Value::Null;
    }
    Value::Array(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        let owned = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Fields(owned.collect())
    }

    #[test]
    fn a_patch_has_what_the_form_changed() {
        let present = json!({
            "title": { "de": "Bäume", "en": "Trees" },
            "keywords": { "en": ["tree", "park"] },
            "license": ["https://e.org/license"],
        });
        let form = fields(&[
            ("title@de", "Bäume der Stadt"),
            ("title@en", "Trees"),
            ("keywords@en", "tree\r\npark\r\nlinden"),
            ("description@new", "Alle Bäume"),
            ("language", "de"),
            ("license", ""),
            ("landingPage", ""),
            ("other@de", "x"),
        ]);
        assert_eq!(
            Value::Object(build_patch(&form, &present).expect("a patch")),
            json!({
                "title": { "de": "Bäume der Stadt" },
                "keywords": { "en": ["tree", "park", "linden"] },
                "description": { "de": "Alle Bäume" },
                "license": null,
            })
        );
        let same = fields(&[("title@en", "Trees"), ("title@new", " "), ("more", "")]);
        assert!(build_patch(&same, &present).expect("a patch").is_empty());
        let nameless = fields(&[("title@new", "Arbres"), ("language", "")]);
        assert!(build_patch(&nameless, &present).is_err());
        let more = fields(&[("more", "{\"publisher\": {\"name\": \"City\"}}")]);
        assert_eq!(
            build_patch(&more, &present).expect("a patch")["publisher"]["name"],
            "City"
        );
        assert!(build_patch(&fields(&[("more", "[]")]), &present).is_err());
        let twice = fields(&[
            ("title@en", "Oaks"),
            ("more", "{\"title\": {\"fr\": \"Arbres\"}}"),
        ]);
        assert!(
            build_patch(&twice, &present).is_err(),
            "one of both would be lost"
        );
    }

    #[test]
    fn new_keywords_are_split_and_each_key_has_a_field() {
        let present =
            json!({ "title": { "de": "Bäume" }, "keywords": { "de": ["Baum, Strauch"] } });
        let form = fields(&[
            ("keywords@de", "Baum, Strauch\r\nHecke"),
            ("keywords@new", "tree, shrub; hedge"),
            ("language", "en"),
        ]);
        assert_eq!(
            Value::Object(build_patch(&form, &present).expect("a patch")),
            json!({ "keywords": { "de": ["Baum, Strauch", "Hecke"], "en": ["tree", "shrub", "hedge"] } })
        );
        let rows = text_rows(&present, &fields(&[]));
        let names: Vec<&str> = rows.iter().map(|row| row.field.name.as_str()).collect();
        assert_eq!(names, ["title@de", "description@de", "keywords@de"]);
        let empty = fields(&[("description@de", "")]);
        assert!(build_patch(&empty, &present).expect("a patch").is_empty());
    }

    #[test]
    fn what_a_source_states_is_shown_as_text() {
        let title = json!({ "en": ["Trees", "Tree register"], "und": "Bäume" });
        let text = |language: &str, text: &str| StatedText {
            language: language.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(
            stated_texts("title", &title),
            [text("en", "Trees, Tree register"), text("", "Bäume")]
        );
        assert_eq!(
            stated_texts("publisher", &json!({ "name": "City", "type": "office" })),
            [text("", "name: City; type: office")]
        );
        assert_eq!(stated_texts("license", &Value::Null), []);
    }

    #[test]
    fn what_the_form_does_not_show_stays() {
        let present = json!({
            "title": { "en": ["Trees", "Tree register"] },
            "description": { "en": "All trees\r\nof the city" },
            "license": ["https://e.org/license", { "label": "Open" }],
        });
        let same = fields(&[
            ("title@en", "Trees\r\nTree register"),
            ("description@en", "All trees\r\nof the city"),
            ("license", "https://e.org/license"),
        ]);
        assert!(build_patch(&same, &present).expect("a patch").is_empty());
        let form = fields(&[
            ("title@en", "Oaks\r\nTree register"),
            ("license", "https://e.org/other"),
        ]);
        let patched = build_patch(&form, &present).expect("a patch");
        let titles = Map::from_iter([("title".to_owned(), patched["title"].clone())]);
        assert!(Patch::parse(&titles).is_ok());
        assert_eq!(
            Value::Object(patched),
            json!({
                "title": { "en": ["Oaks", "Tree register"] },
                "license": ["https://e.org/other", { "label": "Open" }],
            })
        );
    }
}
