//! Schemas of the operator's JSON, and responses to clients that are not the operator.

use crate::documentation::{array, object};
use std::collections::BTreeMap;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{RefOr, Response};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

/// The responses to clients that are not the operator.
pub(super) struct OperatorOnly;

impl IntoResponses for OperatorOnly {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let responses = [
            ("401", "The operator's token is required."),
            ("403", "The request is not local."),
        ];
        responses
            .map(|(status, description)| (status.to_owned(), Response::new(description).into()))
            .into()
    }
}

/// The state of the server, as `/api/operator` writes it.
pub(super) struct OperatorState;

impl PartialSchema for OperatorState {
    fn schema() -> RefOr<Schema> {
        let loads = array(load()).description(Some(
            "The last loads with changes or problems, the latest first.",
        ));
        object(Type::Object)
            .property("loads", loads)
            .property("datasetsWithSkippedStatements", object(Type::Integer))
            .into()
    }
}

impl ToSchema for OperatorState {}

/// Returns the schema of [`lodeseek_store::PastLoad`].
fn load() -> ObjectBuilder {
    let datasets =
        array(dataset()).description(Some("At most twenty of the datasets, the worst first."));
    object(Type::Object)
        .property("time", object(Type::Integer))
        .property("origin", object(Type::String))
        .property("datasets", object(Type::Integer))
        .property("written", object(Type::Integer))
        .property("triples", object(Type::Integer))
        .property("withProblems", object(Type::Integer))
        .property("withFailures", object(Type::Integer))
        .property("catalogProblems", object(Type::Integer))
        .property("listed", datasets)
}

/// Returns the schema of [`lodeseek_store::PastDataset`].
fn dataset() -> ObjectBuilder {
    let outcomes = ["loaded", "replaced", "unchanged", "kept", "metadata-only"];
    object(Type::Object)
        .property("dataset", object(Type::String))
        .property("title", object(Type::String))
        .property("outcome", object(Type::String).enum_values(Some(outcomes)))
        .property("triples", object(Type::Integer))
        .property("problems", object(Type::Integer))
        .property("failures", object(Type::Integer))
        .property("firstProblem", object(Type::String))
}
