//! Formats of SPARQL results and RDF graphs, chosen by `format` or `Accept`.

use crate::error::ApiError;
use crate::negotiation::best;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use lodeseek_rdf::RdfSyntax;
use lodeseek_sparql::Head;
use oxrdf::Triple;

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
            Self::Data => &GRAPHS[..GRAPHS.len() - 1],
        }
    }

    /// Returns the media type of a short name. Media types are returned unchanged.
    fn named(self, name: &str) -> &str {
        match (self, name) {
            (_, "html") => HTML,
            (Self::Results, "json" | "srj") => JSON,
            (Self::Results, "xml" | "srx") => XML,
            (Self::Results, "csv") => CSV,
            (Self::Results, "tsv") => TSV,
            (Self::Graph | Self::Data, "json") => "application/ld+json",
            (Self::Graph | Self::Data, "trig") => TRIG,
            (Self::Graph | Self::Data, "nq" | "nquads" | "n-quads") => N_QUADS,
            _ => RdfSyntax::from_name(name).map_or(name, |syntax| syntax.media_type()),
        }
    }

    /// Chooses the media type of the response.
    pub(crate) fn negotiate(
        self,
        parameters: &[(String, String)],
        headers: &HeaderMap,
    ) -> Result<&'static str, ApiError> {
        let written = |accepted: &str| self.forms().iter().find(|(form, _)| *form == accepted).map(|(_, sent)| *sent);
        if let Some(name) = format_parameter(parameters) {
            let known = written(self.named(name));
            return known.ok_or_else(|| {
                ApiError::bad_request(format!("format={name:?} is not supported for this kind of result"))
            });
        }
        let offers: Vec<&str> = self.forms().iter().map(|(accepted, _)| *accepted).collect();
        best(headers, &offers).and_then(written).ok_or_else(|| ApiError::not_acceptable(&offers))
    }
}

fn format_parameter(parameters: &[(String, String)]) -> Option<&str> {
    let named = parameters.iter().find(|(name, _)| matches!(name.as_str(), "format" | "output"));
    named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}

/// If true, errors are sent as pages: the client prefers HTML over plain text.
pub(crate) fn prefers_pages(parameters: &[(String, String)], headers: &HeaderMap) -> bool {
    match format_parameter(parameters) {
        Some(name) => matches!(name, "html" | HTML),
        None => best(headers, &["text/plain", HTML]) == Some(HTML),
    }
}

/// Checks before the evaluation that the client accepts some kind of result.
pub(crate) fn check(parameters: &[(String, String)], headers: &HeaderMap) -> Result<(), ApiError> {
    Kind::Results.negotiate(parameters, headers).or_else(|_| Kind::Graph.negotiate(parameters, headers)).map(|_| ())
}

/// Returns the syntax of a media type. For a single graph TriG equals Turtle, and N-Quads equals N-Triples.
pub(crate) fn syntax(media_type: &str) -> RdfSyntax {
    match media_type {
        TRIG => RdfSyntax::Turtle,
        N_QUADS => RdfSyntax::NTriples,
        other => RdfSyntax::from_name(other).unwrap_or(RdfSyntax::Turtle),
    }
}

/// Serializes triples as a response of a graph media type.
pub(crate) fn graph(triples: &[Triple], media_type: &'static str) -> Result<Response, ApiError> {
    let bytes = syntax(media_type).write(triples).map_err(|error| ApiError::internal(&error))?;
    Ok(sent(media_type, bytes))
}

/// Returns a response whose format depends on `Accept`.
pub(crate) fn sent(media_type: &'static str, body: impl IntoResponse) -> Response {
    let headers = [(header::CONTENT_TYPE, media_type), (header::VARY, "accept")];
    (headers, body).into_response()
}

/// Name of the header or trailer of truncated responses.
pub(crate) const TRUNCATED: &str = "lodeseek-truncated";
/// Value of that header.
pub(crate) const TRUNCATED_NOTE: &str = "the answer has more rows than this endpoint gives";

/// Adds the header of truncated responses.
pub(crate) fn mark_truncated(response: &mut Response) {
    response.headers_mut().insert(TRUNCATED, HeaderValue::from_static(TRUNCATED_NOTE));
}

/// Returns the mark inside a document that is already being sent: (text to remove from the end, text to append). `None` if the
/// format cannot signal truncation.
pub(crate) fn mark_within(media_type: &str) -> Option<(&'static str, String)> {
    match media_type {
        JSON => Some(("}", format!(",\"{TRUNCATED}\":\"{TRUNCATED_NOTE}\"}}"))),
        XML | "application/rdf+xml" => Some(("", format!("\n<!-- {TRUNCATED}: {TRUNCATED_NOTE} -->\n"))),
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
        kind.negotiate(&[("format".to_owned(), format.to_owned())], &headers).ok()
    }

    #[test]
    fn the_kind_of_answer_decides_what_a_client_gets() {
        for (kind, accept, format, expected) in [
            (Kind::Results, "*/*", "", Some(JSON)),
            (Kind::Results, "application/xml", "", Some(XML)),
            (Kind::Results, "text/turtle, text/html;q=0.5", "", Some(HTML)),
            (Kind::Graph, "text/turtle, text/html;q=0.5", "", Some("text/turtle")),
            (Kind::Graph, "application/json", "", Some("application/ld+json")),
            (Kind::Graph, "application/sparql-results+json", "", None),
            (Kind::Data, "text/html", "", None),
            (Kind::Data, "text/html, */*;q=0.1", "", Some("text/turtle")),
            (Kind::Results, "*/*", "xml", Some(XML)),
            (Kind::Graph, "*/*", "xml", Some("application/rdf+xml")),
            (Kind::Graph, "text/turtle", "nq", Some(N_QUADS)),
            (Kind::Graph, "text/turtle", "csv", None),
            (Kind::Results, "text/csv", "ttl", None),
            (Kind::Results, "image/png", "text/csv", Some(CSV)),
        ] {
            assert_eq!(wanted(kind, accept, format), expected, "{kind:?} {accept} {format}");
        }
    }
}
