//! Formats of SPARQL results and RDF graphs, chosen by `format` or `Accept`.
//!
//! The chosen format is a value of `Content-Type`: a media type, `charset` for the types `text/*`, whose default is another one, and the
//! version of RDF. Clients get RDF 1.2 if they ask for `version=1.2` or `version=1.2-basic`, and RDF 1.1 otherwise: parsers of RDF 1.1
//! reject base directions and triple terms.

use crate::error::ApiError;
use crate::negotiation::{best, essence, is_named, parameter, requested_version};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_rdf::{Omissions, RdfForm, RdfSyntax, RdfVersion, XmlFilter};
use lodeseek_sparql::Head;
use oxrdf::Triple;
use std::io::Write;

/// Mark of a response whose bytes are sent as they are stored, without a compression of the transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsStored;

macro_rules! content_types {
    ($media_type:literal) => {
        [
            $media_type,
            concat!($media_type, "; version=1.2-basic"),
            concat!($media_type, "; version=1.2"),
        ]
    };
}

pub(crate) const HTML: &str = "text/html";
const JSON: &str = "application/sparql-results+json";
const XML: &str = "application/sparql-results+xml";
const CSV: &str = "text/csv";
const TSV: &str = "text/tab-separated-values";
const TRIG: &str = "application/trig";
const N_QUADS: &str = "application/n-quads";

/// (accepted media type, sent media type), the default first. Clients of XML and JSON often accept only the generic types.
type Forms = &'static [(&'static str, &'static str)];

const RESULTS: Forms = &[
    (JSON, JSON),
    (XML, XML),
    (CSV, CSV),
    (TSV, TSV),
    ("application/json", JSON),
    ("application/xml", XML),
    ("text/xml", XML),
    (HTML, HTML),
];
/// Values of `Content-Type` for each media type: RDF 1.1, RDF 1.2 Basic, RDF 1.2.
const CONTENT_TYPES: [[&str; 3]; 10] = [
    content_types!("application/sparql-results+json"),
    content_types!("application/sparql-results+xml"),
    content_types!("text/csv; charset=utf-8"),
    content_types!("text/tab-separated-values; charset=utf-8"),
    content_types!("text/turtle; charset=utf-8"),
    content_types!("application/ld+json"),
    content_types!("application/n-triples"),
    content_types!("application/rdf+xml"),
    content_types!("application/trig"),
    content_types!("application/n-quads"),
];
const GRAPHS: Forms = &[
    ("text/turtle", "text/turtle"),
    ("application/ld+json", "application/ld+json"),
    ("application/n-triples", "application/n-triples"),
    ("application/rdf+xml", "application/rdf+xml"),
    (TRIG, TRIG),
    (N_QUADS, N_QUADS),
    ("application/json", "application/ld+json"),
    ("application/xml", "application/rdf+xml"),
    ("text/xml", "application/rdf+xml"),
    ("application/turtle", "text/turtle"),
    ("application/x-turtle", "text/turtle"),
    ("text/rdf+n3", "text/turtle"),
    ("text/n3", "text/turtle"),
    ("application/n3", "text/turtle"),
    ("application/x-json+ld", "application/ld+json"),
    (HTML, HTML),
];

/// Kind of a response. It determines the supported formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Solutions, or a boolean.
    Results,
    /// A graph that also has a page.
    Graph,
    /// A graph without a page.
    Data,
}

impl Kind {
    pub(crate) fn for_head(head: &Head) -> Self {
        match head {
            Head::Graph => Self::Graph,
            Head::Solutions(_) | Head::Boolean(_) => Self::Results,
        }
    }

    fn forms(self) -> Forms {
        match self {
            Self::Results => RESULTS,
            Self::Graph => GRAPHS,
            // HTML is the last format of graphs.
            Self::Data => &GRAPHS[..GRAPHS.len() - 1],
        }
    }

    /// Returns the media type that is sent for a short name or an accepted media type. Parameters are ignored. A space stands for a
    /// `+` that was not encoded in an address.
    fn find_media_type(self, name: &str) -> Option<&'static str> {
        let name = essence(name).to_ascii_lowercase().replace(' ', "+");
        let media_type = match (self, name.as_str()) {
            (_, "html") => HTML,
            (Self::Results, "json" | "js" | "srj" | "sparql-json" | "sparql-results+json") => JSON,
            (Self::Results, "xml" | "srx" | "sparql-xml" | "sparql-results+xml") => XML,
            (Self::Results, "csv") => CSV,
            (Self::Results, "tsv") => TSV,
            (Self::Graph | Self::Data, "json" | "js") => "application/ld+json",
            (Self::Graph | Self::Data, "text/plain") => "application/n-triples", // its media type before RDF 1.1
            (Self::Graph | Self::Data, "trig") => TRIG,
            (Self::Graph | Self::Data, "nq" | "nquads" | "n-quads") => N_QUADS,
            (_, name) if name.contains('/') => name,
            (_, name) => RdfSyntax::from_name(name)?.media_type(),
        };
        self.forms()
            .iter()
            .find(|(accepted, _)| *accepted == media_type)
            .map(|(_, sent)| *sent)
    }

    /// Chooses the content type of the response: by the first parameter that names a known format, else by `Accept`.
    ///
    /// Clients send several parameters beside `Accept`, with names of formats that they know. An unknown one is an error only if `Accept`
    /// does not name a format either.
    pub(crate) fn negotiate(
        self,
        parameters: &[(String, String)],
        headers: &HeaderMap,
    ) -> Result<&'static str, ApiError> {
        let unsupported = format_parameters(parameters).next();
        self.choose(parameters, headers, unsupported)
    }

    /// Chooses the content type of an answer to a query, as [`negotiate`](Self::negotiate). The name of a format of the other kind of
    /// result, as `turtle` for a `SELECT`, leaves the choice to `Accept`: clients set a format before they know the form of a query.
    pub(crate) fn negotiate_answer(
        self,
        parameters: &[(String, String)],
        headers: &HeaderMap,
    ) -> Result<&'static str, ApiError> {
        let unsupported = format_parameters(parameters).find(|name| !is_known(name));
        self.choose(parameters, headers, unsupported)
    }

    /// Chooses a content type. `unsupported` is an error unless a supported name precedes it, or `Accept` names a format.
    fn choose(
        self,
        parameters: &[(String, String)],
        headers: &HeaderMap,
        unsupported: Option<&str>,
    ) -> Result<&'static str, ApiError> {
        for value in format_parameters(parameters) {
            if let Some(media_type) = self.find_media_type(value) {
                let version = parameter(value, "version").and_then(RdfVersion::from_number);
                let version = version.unwrap_or_else(|| requested_version(headers, media_type));
                return Ok(content_type(media_type, version));
            }
        }
        let offers: Vec<&str> = self.forms().iter().map(|(accepted, _)| *accepted).collect();
        let chosen = best(headers, &offers);
        if let Some(name) = unsupported {
            let is_named = chosen.is_some_and(|chosen| is_named(headers, chosen));
            if !is_named {
                let message = format!("format={name:?} is not supported for this kind of result");
                return Err(ApiError::bad_request(message));
            }
        }
        let sent = chosen.and_then(|chosen| {
            Some((
                chosen,
                self.forms().iter().find(|(form, _)| *form == chosen)?.1,
            ))
        });
        let (accepted, sent) = sent.ok_or_else(|| ApiError::not_acceptable(&offers))?;
        Ok(content_type(sent, requested_version(headers, accepted)))
    }
}

/// Returns true if a name is that of a format of some kind of result, or leaves the choice to the server.
fn is_known(name: &str) -> bool {
    matches!(essence(name), "auto" | "text/plain" | "text")
        || [Kind::Results, Kind::Graph]
            .into_iter()
            .any(|kind| kind.find_media_type(name).is_some())
}

/// Returns the value of `Content-Type` for a media type and a version of RDF.
pub(crate) fn content_type(media_type: &'static str, version: RdfVersion) -> &'static str {
    let known = CONTENT_TYPES
        .iter()
        .find(|versions| essence(versions[0]) == media_type);
    let Some(versions) = known else {
        return media_type;
    };
    match version {
        RdfVersion::V11 => versions[0],
        RdfVersion::V12Basic => versions[1],
        RdfVersion::V12 => versions[2],
    }
}

/// Returns the value of `Content-Type` for a media type, in the requested version.
pub(crate) fn with_requested_version(
    media_type: &'static str,
    headers: &HeaderMap,
) -> &'static str {
    content_type(media_type, requested_version(headers, media_type))
}

/// Returns the version of RDF in a content type.
pub(crate) fn version(content_type: &str) -> RdfVersion {
    parameter(content_type, "version")
        .and_then(RdfVersion::from_number)
        .unwrap_or_default()
}

/// Returns the values of the parameters that name formats: SPARQL clients send all three. A value may be a list.
fn format_parameters(parameters: &[(String, String)]) -> impl Iterator<Item = &str> {
    let named = parameters
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "format" | "output" | "results"));
    named
        .flat_map(|(_, value)| value.split(','))
        .map(str::trim)
        .filter(|value| !value.is_empty())
}

/// If true, errors are sent as pages: the client prefers HTML over plain text.
pub(crate) fn prefers_pages(parameters: &[(String, String)], headers: &HeaderMap) -> bool {
    match format_parameters(parameters).next() {
        Some(name) => matches!(name, "html" | HTML),
        None => best(headers, &["text/plain", HTML]) == Some(HTML),
    }
}

/// Checks before the evaluation that the client accepts some kind of result.
pub(crate) fn check(parameters: &[(String, String)], headers: &HeaderMap) -> Result<(), ApiError> {
    Kind::Results
        .negotiate_answer(parameters, headers)
        .or_else(|_| Kind::Graph.negotiate_answer(parameters, headers))
        .map(|_| ())
}

/// Returns the syntax and version of a content type. For a single graph TriG equals Turtle, and N-Quads equals N-Triples.
pub(crate) fn form(content_type: &str) -> RdfForm {
    let syntax = match essence(content_type) {
        TRIG => RdfSyntax::Turtle,
        N_QUADS => RdfSyntax::NTriples,
        other => RdfSyntax::from_name(other).unwrap_or(RdfSyntax::Turtle),
    };
    RdfForm {
        syntax,
        version: version(content_type),
    }
}

/// Serializes triples as a response of a graph's content type.
///
/// # Errors
/// 406 if the syntax cannot express a statement, which is possible in RDF/XML only.
pub(crate) fn graph(triples: &[Triple], content_type: &'static str) -> Result<Response, ApiError> {
    let written = form(content_type)
        .serialize(triples)
        .map_err(|error| ApiError::internal(&error))?;
    if let Some(iri) = &written.omissions.iri {
        let message = format!(
            "RDF/XML cannot express the property <{iri}>: its IRI does not end with an XML name; request text/turtle, \
             application/ld+json or application/n-triples"
        );
        return Err(ApiError::with_status(StatusCode::NOT_ACCEPTABLE, message));
    }
    let mut response = sent(content_type, written.bytes);
    mark_omissions(&written.omissions, response.headers_mut());
    Ok(response)
}

/// Serializes triples as a response in a syntax and a version of RDF, as [`graph`] does.
pub(crate) fn graph_in(triples: &[Triple], form: RdfForm) -> Result<Response, ApiError> {
    graph(
        triples,
        content_type(form.syntax.media_type(), form.version),
    )
}

/// Name of the header or trailer with the number of characters that XML does not permit, and that were left out.
pub(crate) const REMOVED_CHARACTERS: &str = "lodeseek-removed-characters";
/// Name of the header or trailer with the number of statements that RDF/XML cannot express, and that were left out.
pub(crate) const OMITTED_STATEMENTS: &str = "lodeseek-omitted-statements";
/// Value of `Trailer` of streamed responses.
pub(crate) const TRAILERS: &str =
    "lodeseek-truncated, lodeseek-removed-characters, lodeseek-omitted-statements";

/// Adds the headers or trailers of what was left out.
pub(crate) fn mark_omissions(omissions: &Omissions, headers: &mut HeaderMap) {
    for (name, count) in [
        (REMOVED_CHARACTERS, omissions.characters),
        (OMITTED_STATEMENTS, omissions.statements),
    ] {
        if count > 0 {
            headers.insert(name, HeaderValue::from(count));
        }
    }
}

/// Returns a document of XML as a response. Characters that XML does not permit are left out and counted.
pub(crate) fn xml(content_type: &'static str, text: &str) -> Result<Response, ApiError> {
    let mut filter = XmlFilter::new(Vec::with_capacity(text.len()));
    let written = filter
        .write_all(text.as_bytes())
        .and_then(|()| filter.finish());
    let (bytes, characters) = written.map_err(|error| ApiError::internal(&error))?;
    let mut response = ([(header::CONTENT_TYPE, content_type)], bytes).into_response();
    mark_omissions(
        &Omissions {
            characters,
            ..Omissions::default()
        },
        response.headers_mut(),
    );
    Ok(response)
}

/// Returns a response with a media type.
pub(crate) fn sent(media_type: &'static str, body: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, media_type)], body).into_response()
}

/// Name of the header or trailer of truncated responses.
pub(crate) const TRUNCATED: &str = "lodeseek-truncated";
/// Value of that header.
pub(crate) const TRUNCATED_NOTE: &str = "the answer has more rows than this endpoint gives";

/// Adds the header of truncated responses.
pub(crate) fn mark_truncated(response: &mut Response) {
    response
        .headers_mut()
        .insert(TRUNCATED, HeaderValue::from_static(TRUNCATED_NOTE));
}

/// Returns the mark inside a document that is already being sent: (text to remove from the end, text to append). `None` if the
/// format cannot signal truncation.
pub(crate) fn mark_within(content_type: &str) -> Option<(&'static str, String)> {
    match essence(content_type) {
        JSON => Some(("}", format!(",\"{TRUNCATED}\":\"{TRUNCATED_NOTE}\"}}"))),
        XML | "application/rdf+xml" => {
            Some(("", format!("\n<!-- {TRUNCATED}: {TRUNCATED_NOTE} -->\n")))
        }
        "text/turtle" | "application/n-triples" | TRIG | N_QUADS => {
            Some(("", format!("\n# {TRUNCATED}: {TRUNCATED_NOTE}\n")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(kind: Kind, accept: &str, format: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().expect("a header"));
        kind.negotiate_answer(&[("format".to_owned(), format.to_owned())], &headers)
            .ok()
    }

    #[test]
    fn clients_of_rdf_1_2_ask_for_it() {
        for (accept, format, expected) in [
            ("text/turtle", "", "text/turtle; charset=utf-8"),
            (
                "text/turtle;version=1.2",
                "",
                "text/turtle; charset=utf-8; version=1.2",
            ),
            (
                "text/turtle; VERSION=\"1.2\";q=0.5",
                "",
                "text/turtle; charset=utf-8; version=1.2",
            ),
            (
                "text/turtle;version=1.2;q=0.5, text/turtle",
                "",
                "text/turtle; charset=utf-8",
            ),
            (
                "text/turtle;q=.5, text/turtle;version=1.2",
                "",
                "text/turtle; charset=utf-8; version=1.2",
            ),
            (
                "application/rdf+xml;version=1.2-basic",
                "",
                "application/rdf+xml; version=1.2-basic",
            ),
            (
                "application/xml;version=1.2",
                "",
                "application/rdf+xml; version=1.2",
            ),
            (
                "application/n-triples;version=1.3",
                "",
                "application/n-triples",
            ),
            (
                "*/*",
                "text/turtle;version=1.2",
                "text/turtle; charset=utf-8; version=1.2",
            ),
            (
                "application/n-quads; version=1.2",
                "nq",
                "application/n-quads; version=1.2",
            ),
            (
                "text/turtle; Q=0.1, application/trig; Q=0.2",
                "",
                "application/trig",
            ),
        ] {
            let chosen = wanted(Kind::Graph, accept, format).unwrap_or_default();
            assert_eq!(chosen, expected, "{accept} {format}");
            assert_eq!(
                form(chosen).version == RdfVersion::V11,
                !chosen.contains("version"),
                "{chosen}"
            );
        }
    }

    #[test]
    fn names_of_formats_by_other_clients() {
        let parameters = |values: &[(&str, &str)]| -> Vec<(String, String)> {
            values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        for (kind, values, accept, expected) in [
            (
                Kind::Graph,
                vec![
                    ("format", "rdf+xml"),
                    ("output", "rdf+xml"),
                    ("results", "rdf+xml"),
                ],
                "*/*",
                Some("application/rdf+xml"),
            ),
            (
                Kind::Graph,
                vec![("format", "nonsense"), ("output", "n3")],
                "*/*",
                Some("text/turtle; charset=utf-8"),
            ),
            (
                Kind::Graph,
                vec![("results", "JSON-LD,application/ld+json")],
                "*/*",
                Some("application/ld+json"),
            ),
            (
                Kind::Graph,
                vec![("format", "application/rdf xml")],
                "*/*",
                Some("application/rdf+xml"),
            ),
            (
                Kind::Results,
                vec![("format", "application/sparql-results json")],
                "*/*",
                Some(JSON),
            ),
            (
                Kind::Graph,
                vec![("format", "csv")],
                "*/*",
                Some("text/turtle; charset=utf-8"),
            ),
            (
                Kind::Results,
                vec![
                    ("format", "turtle"),
                    ("output", "turtle"),
                    ("results", "turtle"),
                ],
                "*/*",
                Some(JSON),
            ),
            (
                Kind::Results,
                vec![("format", "json-ld")],
                "*/*",
                Some(JSON),
            ),
            (
                Kind::Results,
                vec![("format", "rdf+xml")],
                "text/csv",
                Some("text/csv; charset=utf-8"),
            ),
            (Kind::Results, vec![("format", "auto")], "*/*", Some(JSON)),
            (
                Kind::Results,
                vec![("format", "text/plain")],
                "*/*",
                Some(JSON),
            ),
            (Kind::Results, vec![("output", "js")], "*/*", Some(JSON)),
            (
                Kind::Graph,
                vec![("output", "js")],
                "*/*",
                Some("application/ld+json"),
            ),
            (
                Kind::Graph,
                vec![("format", "text/plain")],
                "*/*",
                Some("application/n-triples"),
            ),
            (Kind::Results, vec![("format", "nonsense")], "*/*", None),
            (Kind::Results, vec![("format", "turtle")], "image/png", None),
            (
                Kind::Graph,
                vec![("format", "csv")],
                "application/turtle, image/png",
                Some("text/turtle; charset=utf-8"),
            ),
            (
                Kind::Graph,
                vec![("format", "")],
                "application/n-triples",
                Some("application/n-triples"),
            ),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().expect("a header"));
            assert_eq!(
                kind.negotiate_answer(&parameters(&values), &headers).ok(),
                expected,
                "{values:?}"
            );
            // Other routes reject formats that they do not have.
            let is_foreign = accept == "*/*"
                && values.iter().all(|(_, names)| {
                    !names.is_empty()
                        && names
                            .split(',')
                            .all(|name| kind.find_media_type(name).is_none())
                });
            let strict = kind.negotiate(&parameters(&values), &headers).ok();
            assert_eq!(strict, expected.filter(|_| !is_foreign), "{values:?}");
        }
    }

    #[test]
    fn the_kind_of_answer_decides_what_a_client_gets() {
        for (kind, accept, format, expected) in [
            (Kind::Results, "*/*", "", Some(JSON)),
            (Kind::Results, "application/xml", "", Some(XML)),
            (
                Kind::Results,
                "text/turtle, text/html;q=0.5",
                "",
                Some(HTML),
            ),
            (
                Kind::Graph,
                "text/turtle, text/html;q=0.5",
                "",
                Some("text/turtle"),
            ),
            (
                Kind::Graph,
                "application/json",
                "",
                Some("application/ld+json"),
            ),
            (Kind::Graph, "application/sparql-results+json", "", None),
            (Kind::Data, "text/html", "", None),
            (Kind::Data, "text/html, */*;q=0.1", "", Some("text/turtle")),
            (Kind::Results, "*/*", "xml", Some(XML)),
            (Kind::Graph, "*/*", "xml", Some("application/rdf+xml")),
            (Kind::Graph, "text/turtle", "nq", Some(N_QUADS)),
            (Kind::Graph, "text/turtle", "csv", Some("text/turtle")),
            (Kind::Graph, "*/*", "csv", Some("text/turtle")),
            (Kind::Results, "text/csv", "ttl", Some(CSV)),
            (Kind::Results, "text/*", "ttl", Some(CSV)),
            (Kind::Results, "text/*", "nonsense", None),
            (Kind::Results, "image/png", "text/csv", Some(CSV)),
        ] {
            assert_eq!(
                wanted(kind, accept, format).map(essence),
                expected,
                "{kind:?} {accept} {format}"
            );
        }
    }
}
