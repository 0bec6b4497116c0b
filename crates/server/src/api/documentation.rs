//! `GET /api`: the OpenAPI document as a page.

use super::openapi::{Document, Operation, Response as DocumentedResponse, Tag};
use crate::error::ApiError;
use crate::pages::{error, render};
use askama::Template;
use axum::response::Response;

#[derive(Template)]
#[template(path = "api.html")]
struct Page {
    query: String,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    description: String,
    operations: Vec<OperationView>,
}

struct OperationView {
    method: String,
    path: String,
    summary: String,
    /// (name, true if required, description)
    parameters: Vec<(String, bool, String)>,
    /// (status, description, media types)
    answers: Vec<(String, String, String)>,
}

pub(super) async fn page() -> Response {
    match render_parts() {
        Ok(page) => render(&page),
        Err(failed) => error(&failed),
    }
}

fn render_parts() -> Result<Page, ApiError> {
    let document = Document::read()?;
    let all = || {
        document.paths.iter().flat_map(|(path, methods)| methods.iter().map(move |(method, one)| (path, method, one)))
    };
    let part = |tag: &Tag| Part {
        name: tag.name.clone(),
        description: tag.description.clone(),
        operations: all()
            .filter(|(_, _, one)| one.tags.contains(&tag.name))
            .map(|(path, method, one)| view(&document, path, method, one))
            .collect(),
    };
    Ok(Page { query: String::new(), parts: document.tags.iter().map(part).collect() })
}

fn view(document: &Document, path: &str, method: &str, one: &Operation) -> OperationView {
    let parameters = one.parameters.iter().filter_map(|one| document.parameter(one));
    let forms = |answer: &DocumentedResponse| answer.content.keys().cloned().collect::<Vec<_>>().join(", ");
    OperationView {
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: one.summary.clone(),
        parameters: parameters.map(|one| (one.name.clone(), one.required, one.description.clone())).collect(),
        answers: one
            .responses
            .iter()
            .map(|(status, answer)| (status.clone(), answer.description.clone(), forms(answer)))
            .collect(),
    }
}
