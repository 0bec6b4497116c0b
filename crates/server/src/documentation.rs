//! Parameters, response bodies and schemas that several operations share, for their OpenAPI descriptions.
//!
//! Each handler has its description in a `#[utoipa::path]` attribute; [`crate::openapi`] collects them.

use crate::parameters::{MAX_VALUE_CHARACTERS, MAX_VALUES};
use lodeseek_engine::{Facet, MAX_EXAMPLES};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ArrayBuilder, ArrayItems, Schema, Type};
use utoipa::openapi::{Content, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder};
use utoipa::{IntoParams, IntoResponses, PartialSchema, ToSchema};

/// Returns a schema without limits.
pub(crate) fn object(schema_type: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(schema_type)
}

/// Returns the schema of an array.
pub(crate) fn array(items: impl Into<ArrayItems>) -> ArrayBuilder {
    ArrayBuilder::new().items(items)
}

/// Returns an optional parameter of the query.
pub(crate) fn query(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

/// The dataset's id in the path.
pub(crate) struct Id;

impl IntoParams for Id {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new()
            .name("id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True);
        vec![
            id.description(Some("The dataset's id."))
                .schema(Some(object(Type::String)))
                .build(),
        ]
    }
}

/// The parameter `format`.
pub(crate) struct FormatParameter;

impl IntoParams for FormatParameter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let description = "Format of the response, instead of Accept, of those that the route has: html, json, ttl, jsonld, nt, rdf, svg and others. RDF 1.2 by ;version=1.2.";
        vec![query("format", description, object(Type::String))]
    }
}

/// The filters of a search: the year, the area, the period, columns of tables and all facets.
pub(crate) struct Filters;

fn year_schema() -> ObjectBuilder {
    object(Type::Integer).minimum(Some(0)).maximum(Some(9999))
}

impl IntoParams for Filters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query(
                "since",
                "Only datasets of this year or later, and datasets without a year.",
                year_schema(),
            ),
            query(
                "before",
                "Only datasets known in or before this year, and datasets without a year.",
                year_schema(),
            ),
            query(
                "within",
                "Only datasets whose area has a point in common with this box: west,south,east,north in degrees. \
                 Datasets of unknown area are excluded.",
                object(Type::String),
            ),
            query(
                "covers",
                "Only datasets whose period has a day in common with this one: 2010..2015, 2010-05-01.., ..2015, 2010. \
                 Datasets of unknown period are excluded.",
                object(Type::String),
            ),
            query(
                "column",
                "Only datasets with this column in a table: its name, or a condition on its numbers such as population > 1000000 \
                 (>, >=, <, <=); repeatable, all must be satisfied.",
                array(object(Type::String)),
            ),
        ];
        parameters.extend(Facet::ALL.map(facet_parameter));
        parameters
    }
}

/// The examples of a search.
pub(crate) struct Examples;

impl IntoParams for Examples {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let description = "Id of a dataset that is an example of what is searched for; repeatable. Datasets are ranked by the query and by \
                           their similarity to the examples.";
        vec![query(
            "like",
            description,
            array(object(Type::String)).max_items(Some(MAX_EXAMPLES)),
        )]
    }
}

fn facet_parameter(facet: Facet) -> Parameter {
    if facet == Facet::SuggestedTheme {
        let description = "Only datasets without a theme for which this data theme of the European Union is suggested, by its English name; \
                           repeatable.";
        return facet_query(facet, description);
    }
    let relation = match facet {
        Facet::Class | Facet::Keyword | Facet::Vocabulary => "with",
        Facet::Format | Facet::Language => "in",
        Facet::License => "under",
        Facet::Task
        | Facet::Modality
        | Facet::Theme
        | Facet::SuggestedTheme
        | Facet::Publisher
        | Facet::Creator
        | Facet::Source => "of",
    };
    facet_query(
        facet,
        &format!("Only datasets {relation} this {facet}; repeatable."),
    )
}

fn facet_query(facet: Facet, description: &str) -> Parameter {
    let value = object(Type::String).max_length(Some(MAX_VALUE_CHARACTERS));
    query(
        facet.name(),
        description,
        array(value).max_items(Some(MAX_VALUES)),
    )
}

/// An error in JSON.
pub(crate) struct Error;

impl PartialSchema for Error {
    fn schema() -> RefOr<Schema> {
        object(Type::Object)
            .property("error", object(Type::String))
            .required("error")
            .into()
    }
}

impl ToSchema for Error {}

/// An array of objects.
pub(crate) struct ObjectArray;

impl PartialSchema for ObjectArray {
    fn schema() -> RefOr<Schema> {
        array(object(Type::Object)).into()
    }
}

impl ToSchema for ObjectArray {}

/// The media types of a response.
pub(crate) trait Body {
    /// Returns the schema of each media type.
    fn contents() -> Vec<(&'static str, Content)>;
}

/// Defines a [`Body`] whose media types have one schema.
macro_rules! body {
    ($(#[$doc:meta])* $name:ident: $schema:expr, $($media_type:literal),+) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Body for $name {
            fn contents() -> Vec<(&'static str, Content)> {
                vec![$(($media_type, Content::new(Some($schema)))),+]
            }
        }
    };
}

body!(/** An HTML page. */ Html: object(Type::String), "text/html");
body!(/** Plain text. */ Text: object(Type::String), "text/plain");
body!(/** A drawing. */ Svg: object(Type::String), "image/svg+xml");
body!(/** Any JSON object. */ JsonObject: object(Type::Object), "application/json");
body!(/** An array of JSON objects. */ JsonArray: array(object(Type::Object)), "application/json");
body!(/** A dataset in JSON. */ DatasetJson: Ref::from_schema_name("Dataset"), "application/json");
body!(/** [`Error`] in JSON. */ JsonError: Ref::from_schema_name("Error"), "application/json");
body!(/** JSON-LD in expanded form. */ JsonLd: array(object(Type::Object)), "application/ld+json");
body!(
    /** A citation. */
    CitationText: object(Type::String), "application/x-bibtex", "application/x-research-info-systems"
);
body!(
    /** Citations in CSL-JSON. */
    CslJson: array(object(Type::Object)), "application/vnd.citationstyles.csl+json"
);
body!(/** Turtle. */ Turtle: object(Type::String), "text/turtle");
body!(
    /** Solutions or a boolean, as JSON. */
    ResultsJson: object(Type::Object), "application/sparql-results+json"
);
body!(
    /** Solutions or a boolean, in other formats. */
    OtherResults: object(Type::String), "application/sparql-results+xml", "text/csv", "text/tab-separated-values"
);
body!(
    /** The RDF formats that are neither Turtle nor JSON. */
    OtherRdf: object(Type::String), "application/n-triples", "application/rdf+xml"
);
body!(
    /** Formats of datasets, which write a graph like Turtle and N-Triples. */
    Quads: object(Type::String), "application/trig", "application/n-quads"
);

/// The RDF formats.
pub(crate) type Rdf = (Turtle, JsonLd, OtherRdf);
/// The RDF formats, and those of datasets.
pub(crate) type Graph = (Rdf, Quads);
/// An answer to a SPARQL query.
pub(crate) type SparqlAnswer = ((Html, ResultsJson, OtherResults), Graph);
/// An error as a page, as JSON or as text, by `Accept`.
pub(crate) type AnyError = (Html, JsonError, Text);

impl<A: Body, B: Body> Body for (A, B) {
    fn contents() -> Vec<(&'static str, Content)> {
        [A::contents(), B::contents()].concat()
    }
}

impl<A: Body, B: Body, C: Body> Body for (A, B, C) {
    fn contents() -> Vec<(&'static str, Content)> {
        [A::contents(), <(B, C)>::contents()].concat()
    }
}

/// Returns one response with this body.
fn response<B: Body>(status: &str, description: &str) -> BTreeMap<String, RefOr<Response>> {
    let mut response = ResponseBuilder::new().description(description);
    for (media_type, content) in B::contents() {
        response = response.content(media_type, content);
    }
    BTreeMap::from([(status.to_owned(), response.into())])
}

/// Defines a response that many operations have, with any [`Body`].
macro_rules! response {
    ($name:ident, $status:literal, $description:literal) => {
        #[doc = $description]
        pub(crate) struct $name<B>(PhantomData<B>);

        impl<B: Body> IntoResponses for $name<B> {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                response::<B>($status, $description)
            }
        }
    };
}

response!(
    Negotiated,
    "200",
    "Format by Accept or the parameter format."
);
response!(
    BadRequest,
    "400",
    "A parameter is missing or invalid; the message names it."
);
response!(NotFound, "404", "Not found.");
response!(NotAcceptable, "406", "No supported format matches Accept.");
response!(BodyTimeout, "408", "The body arrived too slowly.");
response!(
    ClientLimit,
    "429",
    "This client address is at its limit; retry after the time in Retry-After."
);
response!(
    Busy,
    "503",
    "The server is at its limit of concurrent work; retry after the time in Retry-After."
);
response!(
    QueryLimit,
    "503",
    "With Retry-After, the server is at its limit of concurrent queries. Without it, the query needs too much time or memory."
);
response!(
    QueueFull,
    "503",
    "The queue of changes is full; retry after the time in Retry-After."
);
