//! The tools: names, parameters, and the requests that they are.

use super::answer::{self, Answer};
use super::{Caller, McpServer, arguments, hits, rows};
use crate::AppState;
use crate::error::ApiError;
use crate::parameters::check_query;
use crate::portal::license_label;
use crate::portal::metadata::PortalMetadata;
use crate::public_url::LinkBase;
use crate::site::Client;
use crate::text::{href, shorten};
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use form_urlencoded::Serializer;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{BrowseRequest, Facet, FacetValues, SearchRequest, similar_ids};
use rmcp::model::{Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Formats of SPARQL results: JSON of solutions and of `ASK`, N-Triples of graphs.
const SPARQL_RESULTS: &str = "application/sparql-results+json, application/n-triples;q=0.9";
const JSON: &str = "application/json";
/// Maximum number of known values of a filter that are compared with an argument: the most frequent ones.
const MAX_KNOWN_VALUES: usize = 1000;
/// Maximum number of works that use a dataset, of those that are listed.
const MAX_WORKS: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Words, best in the language of the descriptions, for example "stream gauges Maryland". "A phrase" in quotation marks, and
    /// -word to exclude. Synonyms are found only if this server has an encoder.
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// Number of datasets, at most 20. Default: 5.
    #[schemars(range(min = 1, max = 20))]
    limit: Option<usize>,
    /// Ids of up to five datasets that are examples of what is searched for. Datasets are ranked by the query and by their similarity.
    #[serde(default)]
    #[schemars(length(max = 5))]
    like: Vec<String>,
    /// Only datasets published in or after this year, and those of unknown year.
    #[schemars(range(min = 0, max = 9999))]
    since: Option<i32>,
    /// Only datasets published in or before this year, and those of unknown year.
    #[schemars(range(min = 0, max = 9999))]
    before: Option<i32>,
    /// Only datasets whose area overlaps this box in degrees: west,south,east,north, for example "2.5,49.4,6.5,51.6".
    within: Option<String>,
    /// Only datasets whose period overlaps this one, for example "2010..2015", "2010.." or "2010-05-01..2010-06-30".
    covers: Option<String>,
    /// Only datasets with all of these columns in a table: names, or conditions on their numbers such as "population > 1000000".
    #[serde(default)]
    column: Vec<String>,
    /// Only datasets with one of these keywords.
    #[serde(default)]
    keyword: Vec<String>,
    /// Only datasets of one of these publishers.
    #[serde(default)]
    publisher: Vec<String>,
    /// Only datasets with resources of one of these classes: IRIs, or names such as foaf:Person.
    #[serde(default)]
    class: Vec<String>,
    /// Only datasets under one of these licences: as results show them, for example "CC BY 4.0", or an address.
    #[serde(default)]
    license: Vec<String>,
    /// Only datasets of one of these creators.
    #[serde(default)]
    creator: Vec<String>,
    /// Only datasets with files in one of these formats.
    #[serde(default)]
    format: Vec<String>,
    /// Only datasets in one of these languages.
    #[serde(default)]
    language: Vec<String>,
    /// Only datasets for one of these tasks of machine learning.
    #[serde(default)]
    task: Vec<String>,
    /// Only datasets with one of these modalities, for example Images.
    #[serde(default)]
    modality: Vec<String>,
    /// Only datasets that use one of these vocabularies.
    #[serde(default)]
    vocabulary: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Dataset {
    /// Id or IRI of the dataset, as search_datasets returns them.
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sample {
    /// Id of the dataset.
    id: String,
    /// Words that the triples should be about. Default: triples that represent the dataset. Of a table, only rows with one of these
    /// words.
    query: Option<String>,
    /// Number of triples or of rows of a table, at most 100. Default: 20 triples, 5 rows.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Values {
    /// The filter: keyword, publisher, class, license, creator, format, language, task, modality or vocabulary.
    filter: String,
    /// Words: only values of the datasets found. Default: values of all datasets.
    query: Option<String>,
    /// Number of values, at most 100. Default: 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Similar {
    /// Id of the dataset.
    id: String,
    /// Number of similar datasets, and of datasets with tables to combine, each at most 20. Default: 5.
    #[schemars(range(min = 1, max = 20))]
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sparql {
    /// A SPARQL 1.1 query: SELECT, ASK, CONSTRUCT or DESCRIBE. GRAPH <IRI of a dataset> reads the content of the dataset; the
    /// default graph has the descriptions of all datasets in DCAT.
    query: String,
}

/// Returns the tools with their schemas.
pub(super) fn list() -> Vec<Tool> {
    let mut tools = vec![
        read_only_tool(
            "search_datasets",
            "Search datasets",
            "Find datasets by words, the best first, with the words that match. A hit with closest=true has none of the words and no \
             good similarity: it is only the nearest, often not what is asked for. suggestedFilters are values for covers and within \
             that the words suggest. Without hits, unknownValues are values of filters that no dataset has, with similar ones.",
        )
        .with_input_schema::<Search>(),
        read_only_tool(
            "list_values",
            "List values of a filter",
            "List the most frequent values of a filter of search_datasets, such as keyword or publisher, with numbers of datasets.",
        )
        .with_input_schema::<Values>(),
        read_only_tool(
            "get_dataset",
            "Get a dataset",
            "Get description, licence and size of a dataset, its downloads with address, media type and bytes, its editions, and \
             the number of works that use it with the latest of them.",
        )
        .with_input_schema::<Dataset>(),
        read_only_tool(
            "get_schema",
            "Get the schema of a dataset",
            "Get classes, properties and vocabularies of a dataset with counts, how classes are connected, and example queries \
             in SPARQL. Use it before query_sparql.",
        )
        .with_input_schema::<Dataset>(),
        read_only_tool(
            "sample_triples",
            "Get some triples",
            "Get a few triples that represent a dataset, or that match words; of a table, rows, with the numbers of all rows and of \
             those that match.",
        )
            .with_input_schema::<Sample>(),
        read_only_tool(
            "similar_datasets",
            "Find similar datasets",
            "Find the datasets most similar to a dataset, with reasons, and those whose tables can be joined or united with its own.",
        )
            .with_input_schema::<Similar>(),
        read_only_tool(
            "find_sources",
            "Find sources of a query",
            "List the datasets that match each triple pattern of a SPARQL query, and those that can answer it alone.",
        )
        .with_input_schema::<Sparql>(),
        read_only_tool(
            "query_sparql",
            "Query with SPARQL",
            "Query descriptions and contents of the datasets. Read-only; time, memory and rows are limited, so use LIMIT.",
        )
        .with_input_schema::<Sparql>(),
    ];
    let output = Arc::new(answer::schema());
    for tool in &mut tools {
        allow_one_type(Arc::make_mut(&mut tool.input_schema));
        tool.output_schema = Some(Arc::clone(&output));
    }
    tools
}

fn read_only_tool(name: &'static str, title: &str, description: &'static str) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .idempotent(true)
        .open_world(false);
    Tool::new(name, description, Arc::default())
        .with_title(title)
        .with_annotations(annotations)
}

/// Removes the type `null` of optional parameters. They can be omitted, and some clients reject a list of types.
fn allow_one_type(schema: &mut Map<String, Value>) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        if let Some([kind, Value::String(null)]) = property["type"].as_array().map(Vec::as_slice)
            && null == "null"
        {
            property["type"] = kind.clone();
        }
    }
}

/// Returns a message if a call lacks a required argument of a known tool.
pub(super) fn missing_argument(
    name: &str,
    arguments: Option<&Map<String, Value>>,
) -> Option<String> {
    let tool = list().into_iter().find(|tool| tool.name == name)?;
    let required = tool.input_schema.get("required")?.as_array()?.clone();
    let mut missing = required
        .iter()
        .filter_map(Value::as_str)
        .filter(|argument| {
            let value = arguments.and_then(|arguments| arguments.get(*argument));
            value.is_none_or(Value::is_null)
        });
    let missing = missing.next()?;
    let known = tool.input_schema.get("properties")?.as_object()?;
    let unknown = arguments
        .into_iter()
        .flat_map(Map::keys)
        .find(|argument| !known.contains_key(*argument));
    let advice = match unknown {
        Some(unknown) => format!("; it has no argument {:?}", shorten(unknown, 50)),
        None => String::new(),
    };
    Some(format!(
        "{name}: the required argument {missing:?} is missing{advice}"
    ))
}

/// Runs a tool by its name.
///
/// # Errors
/// The message for the model: an unknown tool, wrong arguments, or the error of a route.
pub(super) async fn call(
    server: &McpServer,
    caller: &Caller,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<Answer, String> {
    let tools = list();
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        return Err(format!(
            "there is no tool {name:?}; the tools are {}",
            names.join(", ")
        ));
    };
    let arguments = arguments::convert(&tool.input_schema, arguments)?;
    if name == "search_datasets" {
        return search_datasets(server, caller, parse(arguments)?).await;
    }
    run_tool(server, caller, name, arguments)
        .await
        .map(Answer::from)
}

async fn run_tool(
    server: &McpServer,
    caller: &Caller,
    name: &str,
    arguments: Value,
) -> Result<Value, String> {
    match name {
        "list_values" => list_values(server, caller, parse(arguments)?).await,
        "get_dataset" => {
            let Dataset { id } = parse(arguments)?;
            let id = dataset_id(server, &id)?;
            let base = caller.link_base(&server.state);
            let read = server
                .state
                .work(move |state| describe_dataset(state, &id, &base));
            read.await.map_err(|error| error.message)
        }
        "get_schema" => {
            let Dataset { id } = parse(arguments)?;
            let id = dataset_id(server, &id)?;
            let mut schema = read_dataset(server, id.clone(), describe_schema).await?;
            schema["example_queries"] = server
                .get(caller, format!("{}/examples", href(&id)), JSON)
                .await?;
            Ok(schema)
        }
        "sample_triples" => {
            let Sample { id, query, limit } = parse(arguments)?;
            let mut parameters = vec![("budget", format_limit(limit, 20, 100)?)];
            parameters.extend(query.map(|query| ("query", query)));
            parameters.extend(limit.map(|limit| ("rows", limit.to_string())));
            let path = format!("{}/snippet", href(&dataset_id(server, &id)?));
            let sample = server
                .get(caller, path_with_parameters(&path, &parameters), JSON)
                .await?;
            Ok(rows::compact_table(sample))
        }
        "similar_datasets" => {
            let Similar { id, limit } = parse(arguments)?;
            let path = format!("{}/similar", href(&dataset_id(server, &id)?));
            server
                .get(
                    caller,
                    path_with_parameters(&path, &[("k", format_limit(limit, 5, 20)?)]),
                    JSON,
                )
                .await
        }
        "find_sources" => {
            let Sparql { query } = parse(arguments)?;
            find_sources(server, caller, query).await
        }
        "query_sparql" => {
            let Sparql { query } = parse(arguments)?;
            let request = Request::post("/sparql")
                .header(header::ACCEPT, SPARQL_RESULTS)
                .header(header::CONTENT_TYPE, "application/sparql-query")
                .body(Body::from(query));
            let routed = server
                .request(caller, request.map_err(|error| error.to_string())?)
                .await?;
            Ok(answer::value(&routed.media_type, routed.text))
        }
        other => Err(format!("there is no tool {other:?}")),
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments)
        .map_err(|error| format!("the arguments are not valid: {error}"))
}

/// Returns the dataset of an id, or of an IRI as answers contain it.
fn dataset_id(server: &McpServer, id: &str) -> Result<DatasetId, String> {
    let text = id.trim();
    let text = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .unwrap_or(text);
    let store = &server.state.store;
    if let Some(id) = store.iris().dataset_id(text) {
        return Ok(id);
    }
    let id = DatasetId::new(text).map_err(|error| format!("id: {error}"))?;
    // The address of a page or a download, whose beginning is that of the server and not the base of the IRIs.
    match id_of_address(text) {
        Some(named) if matches!(store.contains(&named), Ok(true)) => Ok(named),
        _ => Ok(id),
    }
}

/// Returns the id in the address of a dataset at a server: `https://data.example.org/portal/dataset/42/table` names `42`.
fn id_of_address(text: &str) -> Option<DatasetId> {
    let (scheme, rest) = text.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let (_, rest) = rest.split_once("/dataset/")?;
    let segment = rest.split(['/', '?', '#']).next()?;
    DatasetId::new(lodeseek_rdf::percent_decode(segment)).ok()
}

/// Returns the values of a filter that arguments name: values as answers write them, which may be shortened or a label. Other
/// arguments are unchanged.
async fn filter_values(
    server: &McpServer,
    caller: &Caller,
    facet: Facet,
    arguments: Vec<String>,
) -> Result<Vec<String>, String> {
    if arguments.is_empty() {
        return Ok(arguments);
    }
    let client = Client(caller.address(&server.state.site.proxies));
    let found = server.state.work_with_permit(client, move |state| {
        let request = BrowseRequest {
            facets: MAX_KNOWN_VALUES,
            ..BrowseRequest::default()
        };
        let facets = state.searcher.catalog().browse(&request)?.facets.facets;
        let known = known_values(&facets, facet);
        let mut values = Vec::new();
        for argument in arguments {
            check_role(facet, &argument, &facets)?;
            values.extend(named_values(facet, argument, &known));
        }
        Ok(values)
    });
    found.await.map_err(|error| error.message)
}

/// Returns the most frequent values of a filter.
fn known_values(facets: &[FacetValues], facet: Facet) -> Vec<String> {
    let counts = facets.iter().find(|one| one.facet == facet);
    let values = counts.map(|counts| counts.values.as_slice());
    let values = values.unwrap_or_default();
    values.iter().map(|one| one.value.clone()).collect()
}

/// Hits name one agent without its role: a creator in place of a publisher, and the reverse, is an error that names the right one.
fn check_role(facet: Facet, argument: &str, facets: &[FacetValues]) -> Result<(), ApiError> {
    let other = match facet {
        Facet::Publisher => Facet::Creator,
        Facet::Creator => Facet::Publisher,
        _ => return Ok(()),
    };
    if has_value(facets, facet, argument) || !has_value(facets, other, argument) {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "{facet}: no dataset has the {facet} {argument:?}, but some have this {other}: use the argument {other}"
    )))
}

fn has_value(facets: &[FacetValues], facet: Facet, argument: &str) -> bool {
    let known = known_values(facets, facet);
    let named = named_values(facet, argument.to_owned(), &known);
    named.iter().any(|value| known.contains(value))
}

/// Returns the known values that an argument names, or the argument itself.
fn named_values(facet: Facet, argument: String, known: &[String]) -> Vec<String> {
    if known.contains(&argument) {
        return vec![argument];
    }
    let matching: Vec<String> = match (facet, argument.strip_suffix('…')) {
        (Facet::License, _) => {
            let name = normalize_license(&argument);
            known
                .iter()
                .filter(|value| normalize_license(&license_label(value)) == name)
                .cloned()
                .collect()
        }
        (_, Some(beginning)) if !beginning.is_empty() => known
            .iter()
            .filter(|value| value.starts_with(beginning))
            .cloned()
            .collect(),
        _ => Vec::new(),
    };
    if matching.is_empty() {
        vec![argument]
    } else {
        matching
    }
}

/// Returns the letters and digits of a text in lower case: `CC BY 4.0` and `CC-BY-4.0` are the same licence.
fn normalize_license(text: &str) -> String {
    let letters = text.chars().filter(|char| char.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns a limit, or the default, as text.
fn format_limit(requested: Option<usize>, default: usize, max: usize) -> Result<String, String> {
    let number = requested.unwrap_or(default);
    if (1..=max).contains(&number) {
        Ok(number.to_string())
    } else {
        Err(format!("limit must be from 1 to {max}"))
    }
}

/// Returns a path with parameters.
fn path_with_parameters(path: &str, parameters: &[(&str, String)]) -> String {
    format!(
        "{path}?{}",
        Serializer::new(String::new())
            .extend_pairs(parameters)
            .finish()
    )
}

async fn search_datasets(
    server: &McpServer,
    caller: &Caller,
    search: Search,
) -> Result<Answer, String> {
    let mut parameters = vec![
        ("q", search.query),
        ("k", format_limit(search.limit, 5, 20)?),
    ];
    parameters.extend(search.since.map(|year| ("since", year.to_string())));
    parameters.extend(search.before.map(|year| ("before", year.to_string())));
    parameters.extend(search.within.map(|within| ("within", within)));
    parameters.extend(search.covers.map(|covers| ("covers", covers)));
    let columns = search.column.into_iter();
    parameters.extend(columns.map(|condition| ("column", condition)));
    let like: Vec<String> = search
        .like
        .iter()
        .map(|id| Ok(dataset_id(server, id)?.to_string()))
        .collect::<Result<_, String>>()
        .map_err(|error| format!("like: {error}"))?;
    parameters.extend(like.into_iter().map(|id| ("like", id)));
    for (facet, values) in [
        (Facet::Keyword, search.keyword),
        (Facet::Class, search.class),
    ] {
        parameters.extend(values.into_iter().map(|value| (facet.name(), value)));
    }
    for (facet, values) in [
        (Facet::Publisher, search.publisher),
        (Facet::Creator, search.creator),
        (Facet::License, search.license),
        (Facet::Format, search.format),
        (Facet::Language, search.language),
        (Facet::Task, search.task),
        (Facet::Modality, search.modality),
        (Facet::Vocabulary, search.vocabulary),
    ] {
        let values = filter_values(server, caller, facet, values).await?;
        parameters.extend(values.into_iter().map(|value| (facet.name(), value)));
    }
    let found = server
        .get(
            caller,
            path_with_parameters("/api/search", &parameters),
            JSON,
        )
        .await?;
    Ok(hits::shorten_response(&found, server.state.store.iris()))
}

/// Lists the values of a filter with their numbers of datasets, the most frequent first.
async fn list_values(server: &McpServer, caller: &Caller, values: Values) -> Result<Value, String> {
    let Values {
        filter,
        query,
        limit,
    } = values;
    let facet: Facet = filter
        .trim()
        .parse()
        .map_err(|error| format!("filter: {error}"))?;
    let limit: usize = format_limit(limit, 20, 100)?
        .parse()
        .map_err(|_| "limit: not a number".to_owned())?;
    let query = query.filter(|query| !query.trim().is_empty());
    let client = Client(caller.address(&server.state.site.proxies));
    let found = server.state.work_with_permit(client, move |state| {
        let counts = match query {
            None => {
                let request = BrowseRequest {
                    facets: limit,
                    ..BrowseRequest::default()
                };
                state.searcher.catalog().browse(&request)?.facets
            }
            Some(query) => {
                check_query(&query)?;
                let request = SearchRequest {
                    depth: 1,
                    facets: Some(limit),
                    ..SearchRequest::new(query)
                };
                state.searcher.search(&request)?.facets.unwrap_or_default()
            }
        };
        let counted = counts.facets.into_iter().find(|one| one.facet == facet);
        let distinct = match &counted {
            Some(one) => one.distinct,
            None => 0,
        };
        let values = counted.into_iter().flat_map(|one| one.values);
        let values: Vec<Value> = values
            .map(|one| json!({ "value": one.value, "datasets": one.count }))
            .collect();
        Ok(json!({ "filter": facet.name(), "distinct": distinct, "values": values }))
    });
    found.await.map_err(|error| error.message)
}

/// Reads a dataset from the index.
async fn read_dataset(
    server: &McpServer,
    id: DatasetId,
    read: fn(&AppState, &DatasetId) -> Result<Value, ApiError>,
) -> Result<Value, String> {
    server
        .state
        .work(move |state| read(state, &id))
        .await
        .map_err(|error| error.message)
}

/// Returns the error for an id without a dataset, with the most similar ids.
fn unknown_dataset(state: &AppState, id: &DatasetId) -> Result<ApiError, ApiError> {
    let ids = state.store.ids()?;
    let similar: Vec<&str> = similar_ids(id.as_str(), &ids)
        .into_iter()
        .map(DatasetId::as_str)
        .collect();
    if similar.is_empty() {
        return Ok(ApiError::no_dataset(id));
    }
    let message = format!(
        "there is no dataset {id}; did you mean {}?",
        similar.join(" or ")
    );
    Ok(ApiError::not_found(message))
}

fn describe_dataset(state: &AppState, id: &DatasetId, base: &LinkBase) -> Result<Value, ApiError> {
    let catalog = state.searcher.catalog();
    let Some(card) = catalog.card(id)? else {
        return Err(unknown_dataset(state, id)?);
    };
    let profile = &card.profile;
    let described = PortalMetadata::read(&state.store, id)?;
    let downloads = match described {
        Some(described) => described.downloads_json(base.as_str()),
        None => Vec::new(),
    };
    let mut related = json!(catalog.related_datasets(id)?);
    if let Some(members) = related.as_object_mut() {
        // `similar_datasets` has the tables to combine, which need many bytes.
        members.remove("tables");
    }
    let mut value = json!({
        "iri": state.store.iris().dataset(id).as_str(),
        "metadata": card.metadata,
        "downloads": downloads,
        "size": {
            "triples": profile.triples,
            "entities": profile.entities,
            "literals": profile.literals,
            "classes": profile.class_count,
            "properties": profile.property_count,
        },
        "related": related,
    });
    let works = state.store.dataset_works(id, MAX_WORKS)?;
    if works.all > 0 {
        value["works"] = json!(works);
    }
    Ok(value)
}

fn describe_schema(state: &AppState, id: &DatasetId) -> Result<Value, ApiError> {
    let Some(card) = state.searcher.catalog().card(id)? else {
        return Err(unknown_dataset(state, id)?);
    };
    Ok(json!({
        "iri": state.store.iris().dataset(id).as_str(),
        "profile": card.profile,
        "schema": card.schema,
    }))
}

async fn find_sources(server: &McpServer, caller: &Caller, query: String) -> Result<Value, String> {
    let client = Client(caller.address(&server.state.site.proxies));
    let found = server.state.work_with_permit(client, move |state| {
        let found = state.sparql.engine.sources(&query, &state.sparql.limits)?;
        Ok(found.to_json(state.store.iris()))
    });
    found.await.map_err(|error| error.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::ValueCount;

    #[test]
    fn addresses_of_datasets_name_their_ids() {
        for (text, id) in [
            ("http://localhost:8104/dataset/337", Some("337")),
            (
                "https://data.example.org/portal/dataset/a%2Fb/table?class=x",
                Some("a/b"),
            ),
            ("https://data.example.org/dataset/", None),
            ("https://data.example.org/datasets/1", None),
            ("urn:x:/dataset/1", None),
            ("1", None),
        ] {
            let found = id_of_address(text);
            assert_eq!(found.as_ref().map(DatasetId::as_str), id, "{text}");
        }
    }

    #[test]
    fn an_agent_in_another_role_is_named() {
        let counts = |facet, value: &str| FacetValues {
            facet,
            values: vec![ValueCount {
                value: value.to_owned(),
                count: 1,
                chosen: false,
            }],
            distinct: 1,
        };
        let facets = [
            counts(Facet::Publisher, "City"),
            counts(Facet::Creator, "Office of Trees"),
        ];
        for argument in ["City", "Nobody"] {
            assert!(check_role(Facet::Publisher, argument, &facets).is_ok());
        }
        let error = check_role(Facet::Publisher, "Office of Trees", &facets).expect_err("another");
        assert!(
            error.message.contains("use the argument creator"),
            "{}",
            error.message
        );
    }

    #[test]
    fn values_of_answers_are_accepted() {
        let known = [
            "http://creativecommons.org/licenses/by/4.0/",
            "https://creativecommons.org/licenses/by/4.0",
            "https://creativecommons.org/publicdomain/zero/1.0/",
            "Terms of the city",
        ]
        .map(str::to_owned);
        let other = ["CC BY 3.0".to_owned()];
        for (argument, expected) in [
            ("CC BY 4.0", &known[..2]),
            ("cc-by-4.0", &known[..2]),
            (known[0].as_str(), &known[..1]),
            ("CC0 1.0", &known[2..3]),
            ("terms of the City", &known[3..]),
            ("CC BY 3.0", &other[..]),
        ] {
            let values = named_values(Facet::License, argument.to_owned(), &known);
            assert_eq!(values, expected, "{argument}");
        }
        let shortened = named_values(Facet::Publisher, "Terms of…".to_owned(), &known);
        assert_eq!(shortened, known[3..]);
        let unknown = named_values(Facet::Publisher, "…".to_owned(), &known);
        assert_eq!(unknown, ["…"]);
    }

    #[test]
    fn missing_arguments_are_named() {
        let object = |value: Value| value.as_object().cloned();
        for (name, arguments, expected) in [
            ("search_datasets", json!({ "query": "x" }), None),
            ("search_datasets", json!({ "limit": 1 }), Some("\"query\"")),
            (
                "get_dataset",
                json!({ "name": "x" }),
                Some("\"id\" is missing; it has no argument \"name\""),
            ),
            (
                "search_datasets",
                json!({ "query": null }),
                Some("\"query\""),
            ),
            ("list_values", Value::Null, Some("\"filter\"")),
            ("no_tool", Value::Null, None),
        ] {
            let message = missing_argument(name, object(arguments).as_ref());
            match expected {
                None => assert_eq!(message, None, "{name}"),
                Some(part) => assert!(
                    message.is_some_and(|message| message.contains(part)),
                    "{name}"
                ),
            }
        }
    }
}
