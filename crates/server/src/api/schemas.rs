//! Schemas of JSON that other crates write.

use crate::documentation::{array, object};
use lodeseek_engine::SnippetKind;
use lodeseek_index::sparse::ModelKind;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Returns a schema of several types.
fn any_of<const N: usize>(types: [Type; N]) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Array(types.to_vec()))
}

/// The name of a ranking model.
pub(super) struct Model;

impl PartialSchema for Model {
    fn schema() -> RefOr<Schema> {
        object(Type::String)
            .enum_values(Some(ModelKind::ALL.map(ModelKind::name)))
            .into()
    }
}

impl ToSchema for Model {}

/// The value of the parameter `snippet`.
pub(super) struct Snippet;

impl PartialSchema for Snippet {
    fn schema() -> RefOr<Schema> {
        object(Type::String)
            .enum_values(Some(SnippetKind::bounded_names()))
            .default(Some(SnippetKind::default().name().into()))
            .into()
    }
}

impl ToSchema for Snippet {}

/// The value of the parameter `duplicates`.
pub(super) struct Duplicates;

impl PartialSchema for Duplicates {
    fn schema() -> RefOr<Schema> {
        object(Type::String)
            .enum_values(Some(["once", "all"]))
            .default(Some("once".into()))
            .into()
    }
}

impl ToSchema for Duplicates {}

/// Suggestions: an array of a text and of arrays of texts.
pub(super) struct Suggestions;

impl PartialSchema for Suggestions {
    fn schema() -> RefOr<Schema> {
        object(Type::Array).into()
    }
}

impl ToSchema for Suggestions {}

/// The result of `/api/search`, as [`lodeseek_engine::hit_json`] writes it.
pub(super) struct SearchResult;

impl PartialSchema for SearchResult {
    fn schema() -> RefOr<Schema> {
        let terms =
            array(object(Type::String)).description(Some("The analysed terms of the query."));
        let total = object(Type::Integer).description(Some("Number of ranked datasets."));
        let suggestion = any_of([Type::String, Type::Object, Type::Null]).description(Some(
            "The query with corrected spelling, if words seem misspelt.",
        ));
        let corrected = object(Type::String).description(Some(
            "The query that was searched for, with corrected spelling, if no dataset contains some of its words. literal=true searches \
             for the words as typed.",
        ));
        let good = object(Type::Integer)
            .minimum(Some(0))
            .description(Some("Number of good matches among them: likely relevant."));
        let weak = object(Type::Integer)
            .minimum(Some(0))
            .description(Some("Number of the other datasets found."));
        let with_words =
            object(Type::Integer).description(Some("Number of datasets with a word of the query."));
        let interpretations = array(object(Type::Object))
            .description(Some("Phrases, exclusions, names and translated words of the query: kind, text, excluded, iri, language, translations."));
        let suggested = object(Type::Object)
            .property(
                "parameter",
                object(Type::String).enum_values(Some(["covers", "within"])),
            )
            .property(
                "value",
                object(Type::String).description(Some("Value of the parameter.")),
            )
            .property(
                "text",
                object(Type::String).description(Some("The words of the query.")),
            )
            .property(
                "name",
                object(Type::String).description(Some("Name of the country or state in English.")),
            )
            .property("withWords", object(Type::Integer).minimum(Some(1)));
        let suggested = array(suggested).description(Some(
            "Filters by period and area that words of the query suggest. They are not applied. Number of datasets that pass and have a \
             word of the query.",
        ));
        let unknown_values = array(
            object(Type::Object)
                .property("facet", object(Type::String))
                .property("value", object(Type::String))
                .property("similar", array(object(Type::String))),
        )
        .description(Some(
            "Only if there are no hits: values of facets in the filter that no dataset has, and similar values that datasets have.",
        ));
        let rerank = object(Type::Object).description(Some(
            "The re-ranking: pool, fusion, number of candidates, encoders, and crossEncoder with its model, the number of datasets it \
             scored, and deadlinePassed: if true, the order is that without it.",
        ));
        let only_closest =
            object(Type::Boolean).description(Some("If true, no dataset is a close match."));
        let examples = array(object(Type::Object))
            .description(Some("The datasets of the parameter like, in its order."));
        let counts = object(Type::String).description(Some(
            "Only if hits have duplicates: the meaning of the numbers, which count each of them.",
        ));
        let schema = object(Type::Object)
            .property("query", object(Type::String))
            .property("examples", examples)
            .property(
                "model",
                object(Type::String).description(Some(
                    "The model whose words and fields explain the hits. The order is that of rerank, if it is there.",
                )),
            )
            .property("terms", terms)
            .property("total", total)
            .property("good", good)
            .property("weak", weak)
            .property("interpretations", interpretations)
            .property("suggestedFilters", suggested)
            .property("unknownValues", unknown_values)
            .property("suggestion", suggestion)
            .property("corrected", corrected)
            .property("withWords", with_words)
            .property("rerank", rerank)
            .property("onlyClosest", only_closest)
            .property("hits", array(Ref::from_schema_name("Hit")))
            .property("counts", counts)
            .property("facets", array(object(Type::Object)))
            .property("years", object(Type::Object));
        [
            "query",
            "model",
            "terms",
            "total",
            "good",
            "weak",
            "withWords",
            "hits",
        ]
        .into_iter()
        .fold(schema, ObjectBuilder::required)
        .into()
    }
}

impl ToSchema for SearchResult {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("Hit".to_owned(), hit_schema()));
    }
}

/// Returns the schema of the source of a place or period.
fn origin_schema() -> ObjectBuilder {
    object(Type::String).enum_values(Some(["metadata", "content"]))
}

/// A dataset in JSON, as [`lodeseek_engine::dataset_json`] writes it, with its IRI, its downloads and the works that use it.
pub(super) struct Dataset;

impl PartialSchema for Dataset {
    fn schema() -> RefOr<Schema> {
        let download = object(Type::Object)
            .property("url", object(Type::String))
            .property("title", object(Type::String))
            .property("mediaType", object(Type::String))
            .property("format", object(Type::String))
            .property("bytes", object(Type::Integer).minimum(Some(0)))
            .property("license", object(Type::String))
            .property("modified", object(Type::String))
            .required("url");
        let work = object(Type::Object)
            .property("title", object(Type::String))
            .property("year", object(Type::Integer))
            .property("url", object(Type::String))
            .required("title");
        let works = object(Type::Object)
            .property("all", object(Type::Integer).minimum(Some(1)))
            .property("works", array(work))
            .description(Some(
                "Works of the collection that use the dataset: their number, and the latest 50 of them.",
            ));
        let schema = with_metadata(object(Type::Object))
            .property("iri", object(Type::String))
            .property("downloads", array(download))
            .property("works", works);
        ["id", "iri", "title", "triples", "snippet"]
            .into_iter()
            .fold(schema, ObjectBuilder::required)
            .into()
    }
}

impl ToSchema for Dataset {}

/// Adds the properties that hits and datasets have.
fn with_metadata(schema: ObjectBuilder) -> ObjectBuilder {
    let creator = object(Type::Object).property("name", object(Type::String));
    let snippet = array(object(Type::Object)).description(Some("Triples of the snippet."));
    let table =
        object(Type::Object).description(Some("Rows, in place of triples, if it is a table."));
    let remote = object(Type::Object).description(Some(
        "The SPARQL endpoint that has the content, with its size.",
    ));
    let uses = object(Type::Integer).minimum(Some(0)).description(Some(
        "Number of works that use it, according to its catalogue.",
    ));
    let introduced_by =
        array(object(Type::Object)).description(Some("Works that introduced the dataset."));
    let place = object(Type::Object)
        .property("box", array(object(Type::Number)))
        .property("name", object(Type::String))
        .property("source", origin_schema())
        .property("reason", object(Type::String))
        .description(Some(
            "The area that the dataset covers: west, south, east and north in degrees.",
        ));
    let period = object(Type::Object)
        .property("first", object(Type::String))
        .property("last", object(Type::String))
        .property("source", origin_schema())
        .property("reason", object(Type::String))
        .description(Some(
            "The period that the dataset covers. An open end is missing.",
        ));
    schema
        .property("id", object(Type::String))
        .property("title", object(Type::String))
        .property("description", any_of([Type::String, Type::Null]))
        .property("creators", array(creator))
        .property("year", object(Type::Integer))
        .property("license", any_of([Type::String, Type::Null]))
        .property("tasks", array(object(Type::String)))
        .property("modalities", array(object(Type::String)))
        .property("languages", array(object(Type::String)))
        .property("uses", uses)
        .property("introducedBy", introduced_by)
        .property("place", place)
        .property("period", period)
        .property("remote", remote)
        .property("triples", object(Type::Integer).minimum(Some(0)))
        .property("snippet", snippet)
        .property("table", table)
}

/// Returns the schema of a hit of a search.
fn hit_schema() -> RefOr<Schema> {
    let fields = array(object(Type::Object)).description(Some("Fields and terms that matched."));
    let dense = array(object(Type::Object)).description(Some(
        "Score by each encoder: model, granularity (text, piece or term), score, parts.",
    ));
    let cross_encoder = object(Type::Number).description(Some(
        "Score by the cross-encoder, of the datasets that it ordered. It is their score, too.",
    ));
    let works = object(Type::Object)
        .property("score", object(Type::Number))
        .property("near", object(Type::Integer).minimum(Some(1)))
        .property("all", object(Type::Integer).minimum(Some(1)))
        .property("works", array(object(Type::Object)))
        .description(Some("Works near to the query that use the dataset."));
    let similar_to = object(Type::Object)
        .property(
            "example",
            object(Type::Integer).description(Some("Place of the example in the request, from 0.")),
        )
        .property("score", object(Type::Number))
        .property("parts", array(object(Type::Object)));
    let similar_to = array(similar_to).description(Some("Similarity to examples, with reasons."));
    let duplicates = array(object(Type::Object))
        .description(Some("The same dataset under other ids, if it is one hit."));
    let popularity = object(Type::Number)
        .description(Some("The part of the score that is added for popularity."));
    let explanation =
        object(Type::Object).description(Some("The score as a tree, if explain is true."));
    let evidence = array(object(Type::Object))
        .description(Some("Triples with words of the query, if explain is true."));
    let quality = object(Type::String)
        .enum_values(Some(["good", "weak"]))
        .description(Some("good: likely relevant."));
    let schema = object(Type::Object)
        .property("rank", object(Type::Integer).minimum(Some(1)))
        .property("score", any_of([Type::Number, Type::Null]))
        .property("match", quality);
    let schema = with_metadata(schema)
        .property("similarTo", similar_to)
        .property("fields", fields)
        .property("dense", dense)
        .property("crossEncoder", cross_encoder)
        .property("popularity", popularity)
        .property("works", works)
        .property("duplicates", duplicates)
        .property("closest", object(Type::Boolean))
        .property("explanation", explanation)
        .property("evidence", evidence);
    ["rank", "id", "title", "score", "match", "triples"]
        .into_iter()
        .fold(schema, ObjectBuilder::required)
        .into()
}
