//! `GET /openapi.json`: the API as OpenAPI 3.1 (<https://spec.openapis.org/oas/v3.1.1>), for generators of clients. `/api`
//! shows the same document as a page. The document is written by hand; a test compares it with the routes.

use crate::error::ApiError;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Deserialize;
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("openapi.json");
/// Placeholder of the program's version.
const VERSION: &str = "\"VERSION\"";

/// The parts of the document that the page shows.
#[derive(Deserialize)]
pub(crate) struct Document {
    pub(crate) tags: Vec<Tag>,
    /// Operations by path and method.
    pub(crate) paths: BTreeMap<String, BTreeMap<String, Operation>>,
    pub(crate) components: Components,
}

#[derive(Deserialize)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) description: String,
}

#[derive(Deserialize)]
pub(crate) struct Operation {
    pub(crate) tags: Vec<String>,
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) parameters: Vec<ParameterRef>,
    pub(crate) responses: BTreeMap<String, Response>,
}

/// A parameter, or a reference to one.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum ParameterRef {
    Reference {
        #[serde(rename = "$ref")]
        reference: String,
    },
    Here(Parameter),
}

#[derive(Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) required: bool,
}

#[derive(Deserialize)]
pub(crate) struct Response {
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) content: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
pub(crate) struct Components {
    pub(crate) parameters: BTreeMap<String, Parameter>,
}

impl Document {
    pub(crate) fn read() -> Result<Self, ApiError> {
        serde_json::from_str(DOCUMENT).map_err(|error| ApiError::internal(&error))
    }

    /// Resolves a reference to a parameter.
    pub(crate) fn parameter<'d>(&'d self, one: &'d ParameterRef) -> Option<&'d Parameter> {
        match one {
            ParameterRef::Here(parameter) => Some(parameter),
            ParameterRef::Reference { reference } => self.components.parameters.get(reference.rsplit('/').next()?),
        }
    }
}

pub(crate) async fn document() -> axum::response::Response {
    let text = DOCUMENT.replace(VERSION, concat!("\"", env!("CARGO_PKG_VERSION"), "\""));
    ([(header::CONTENT_TYPE, "application/vnd.oai.openapi+json;version=3.1")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::Facet;
    use std::collections::BTreeSet;

    /// Routes outside the document: files of the pages, and resources that other standards describe.
    const UNDOCUMENTED: [&str; 16] = [
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

    /// Returns the paths of all routers, from their sources: axum does not list them.
    fn routes() -> BTreeSet<String> {
        let source = concat!(
            include_str!("mod.rs"),
            include_str!("../admin/mod.rs"),
            include_str!("../lib.rs"),
            include_str!("../pages/mod.rs"),
            include_str!("../portal/mod.rs"),
            include_str!("../sparql/mod.rs"),
        );
        let named = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
        // The catalogue has a path for each syntax; one is documented.
        named.filter(|path| !path.starts_with("/catalog.")).map(str::to_owned).collect()
    }

    #[test]
    fn every_route_is_documented_and_nothing_else_is() {
        let documented: BTreeSet<String> = Document::read().expect("a document").paths.into_keys().collect();
        let there = routes();
        assert!(there.len() > 20, "{there:?}");
        let undocumented: Vec<_> =
            there.iter().filter(|path| !documented.contains(*path) && !UNDOCUMENTED.contains(&path.as_str())).collect();
        assert!(undocumented.is_empty(), "routes missing in openapi.json: {undocumented:?}");
        let absent: Vec<_> = documented.iter().filter(|path| !there.contains(*path)).collect();
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
