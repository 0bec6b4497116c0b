//! `GET /api`: the OpenAPI document as a page.

use super::DOCUMENT;
use crate::pages::{PageContext, render};
use askama::Template;
use axum::response::Response;
use utoipa::openapi::path::{Operation, Parameter, PathItem};
use utoipa::openapi::tag::Tag;
use utoipa::openapi::{self, RefOr, Required};

#[derive(Template)]
#[template(path = "api.html")]
struct Page {
    page: PageContext,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    description: String,
    operations: Vec<OperationView>,
}

struct OperationView {
    method: &'static str,
    path: String,
    summary: String,
    /// (name, true if required, description)
    parameters: Vec<(String, bool, String)>,
    /// (status, description, media types)
    answers: Vec<(String, String, String)>,
}

pub(super) async fn page(page: PageContext) -> Response {
    let tags = DOCUMENT.tags.iter().flatten();
    render(&Page {
        page,
        parts: tags.map(describe_tag).collect(),
    })
}

fn describe_tag(tag: &Tag) -> Part {
    let mut part = Part {
        name: tag.name.clone(),
        description: tag.description.clone().unwrap_or_default(),
        operations: vec![],
    };
    for (path, item) in &DOCUMENT.paths.paths {
        for (method, operation) in operations(item) {
            if operation
                .tags
                .iter()
                .flatten()
                .any(|name| *name == tag.name)
            {
                part.operations
                    .push(describe_operation(path, method, operation));
            }
        }
    }
    part
}

/// Returns the operations of a path with their methods.
pub(super) fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let methods = [("GET", &item.get), ("POST", &item.post)];
    methods
        .into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// Returns the parameters of an operation. None is a reference.
pub(super) fn parameters(operation: &Operation) -> impl Iterator<Item = &Parameter> {
    operation
        .parameters
        .iter()
        .flatten()
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        })
}

fn describe_operation(path: &str, method: &'static str, operation: &Operation) -> OperationView {
    OperationView {
        method,
        path: path.to_owned(),
        summary: operation.summary.clone().unwrap_or_default(),
        parameters: parameters(operation).map(describe_parameter).collect(),
        answers: operation
            .responses
            .responses
            .iter()
            .filter_map(describe_response)
            .collect(),
    }
}

fn describe_parameter(parameter: &Parameter) -> (String, bool, String) {
    (
        parameter.name.clone(),
        matches!(parameter.required, Required::True),
        parameter.description.clone().unwrap_or_default(),
    )
}

fn describe_response(
    (status, response): (&String, &RefOr<openapi::Response>),
) -> Option<(String, String, String)> {
    let RefOr::T(response) = response else {
        return None;
    };
    let media_types: Vec<&str> = response.content.keys().map(String::as_str).collect();
    Some((
        status.clone(),
        response.description.clone(),
        media_types.join(", "),
    ))
}
