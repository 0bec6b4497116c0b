//! `GET /openapi.json`: what is served, as OpenAPI 3.1 (<https://spec.openapis.org/oas/v3.1.1>), for programs that write
//! clients; for people `/api` shows the same document. It is written by hand: a test holds it to the routes there are.

use super::error::ApiError;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("openapi.json");
/// What stands for the program's version.
const VERSION: &str = "\"VERSION\"";

/// The document, as far as people are shown it.
#[derive(Deserialize)]
pub(super) struct Document {
    pub(super) tags: Vec<Tag>,
    /// By path and method.
    pub(super) paths: BTreeMap<String, BTreeMap<String, Operation>>,
    pub(super) components: Components,
}

#[derive(Deserialize)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) description: String,
}

#[derive(Deserialize)]
pub(super) struct Operation {
    pub(super) tags: Vec<String>,
    pub(super) summary: String,
    #[serde(default)]
    pub(super) parameters: Vec<OneOf>,
    pub(super) responses: BTreeMap<String, Answer>,
}

/// A parameter, or where it stands.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOf {
    Reference {
        #[serde(rename = "$ref")]
        reference: String,
    },
    Here(Parameter),
}

#[derive(Deserialize)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) description: String,
    #[serde(default)]
    pub(super) required: bool,
}

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) description: String,
    #[serde(default)]
    pub(super) content: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
pub(super) struct Components {
    pub(super) parameters: BTreeMap<String, Parameter>,
}

impl Document {
    pub(super) fn read() -> Result<Self, ApiError> {
        serde_json::from_str(DOCUMENT).map_err(|error| ApiError::internal(&error))
    }

    /// The parameter that is meant.
    pub(super) fn parameter<'d>(&'d self, one: &'d OneOf) -> Option<&'d Parameter> {
        match one {
            OneOf::Here(parameter) => Some(parameter),
            OneOf::Reference { reference } => self.components.parameters.get(reference.rsplit('/').next()?),
        }
    }
}

pub(super) async fn document() -> Response {
    let text = DOCUMENT.replace(VERSION, concat!("\"", env!("CARGO_PKG_VERSION"), "\""));
    ([(header::CONTENT_TYPE, "application/vnd.oai.openapi+json;version=3.1")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::Facet;
    use std::collections::BTreeSet;

    /// Files that the pages are made of, and what only programs of one kind ask for, each told by its own standard.
    const ELSEWHERE: [&str; 16] = [
        "/",
        "/style.css",
        "/page.js",
        "/editor.js",
        "/editor.css",
        "/icon.svg",
        "/opensearch.xml",
        "/sitemap.xml",
        "/sitemap/{part}",
        "/robots.txt",
        "/api/action/{name}",
        "/api/3",
        "/search",
        "/quality",
        "/api",
        "/openapi.json",
    ];

    /// The paths of the router, of their own source: the router does not tell them.
    fn routes() -> BTreeSet<String> {
        let source = include_str!("lib.rs");
        let named = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
        // A catalogue has a path for each syntax: one is told.
        named.filter(|path| !path.starts_with("/catalog.")).map(str::to_owned).collect()
    }

    #[test]
    fn every_route_is_told_and_nothing_else_is() {
        let told: BTreeSet<String> = Document::read().expect("a document").paths.into_keys().collect();
        let there = routes();
        assert!(there.len() > 20, "{there:?}");
        let untold: Vec<_> =
            there.iter().filter(|path| !told.contains(*path) && !ELSEWHERE.contains(&path.as_str())).collect();
        assert!(untold.is_empty(), "routes that openapi.json does not tell: {untold:?}");
        let absent: Vec<_> = told.iter().filter(|path| !there.contains(*path)).collect();
        assert!(absent.is_empty(), "paths that are no routes: {absent:?}");
    }

    #[test]
    fn every_parameter_is_there_and_so_is_every_facet() {
        let document = Document::read().expect("a document");
        let operations = || document.paths.values().flat_map(BTreeMap::values);
        assert!(operations().flat_map(|one| &one.parameters).all(|one| document.parameter(one).is_some()));
        let search = &document.paths["/api/search"]["get"];
        let named: BTreeSet<&str> =
            search.parameters.iter().filter_map(|one| document.parameter(one)).map(|one| one.name.as_str()).collect();
        for facet in Facet::ALL {
            assert!(named.contains(facet.name()), "{facet}");
        }
        let tags: BTreeSet<&str> = document.tags.iter().map(|tag| tag.name.as_str()).collect();
        assert!(operations().flat_map(|one| &one.tags).all(|tag| tags.contains(tag.as_str())));
    }
}
