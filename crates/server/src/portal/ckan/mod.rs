//! `/api/3/action/{name}`: the read actions of CKAN's Action API, version 2.10.
//! <https://docs.ckan.org/en/2.10/api/>
//!
//! Datasets are packages, publishers organisations, themes of a list groups, keywords tags, and distributions resources. A
//! package has the id of its dataset, a resource that of its package and distribution; organisations and groups are identified
//! by name. The engine finds and ranks packages for words. Each package found contains the reasons (`score`, `matched`).

mod dates;
mod error;
mod jsonp;
mod lists;
mod names;
mod package;
mod parameters;
mod pattern;
mod query;
mod search;
mod spdx;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use names::license_label;
pub(crate) use table::{CachedTable, Row, Table};

use crate::AppState;
use crate::documentation::{Busy, ClientLimit, JsonObject};
use crate::portal::metadata::PortalMetadata;
use crate::public_url::LinkBase;
use crate::site::Client;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use error::ActionError;
use lodeseek_catalog::DatasetId;
use parameters::Parameters;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Maximum number of packages of one response, as in CKAN.
const MAX_PACKAGES: usize = 1000;
/// Number of packages that a response may contain without a permit. Each is read from the store.
const MAX_FREE_PACKAGES: usize = 100;
/// Implemented version of CKAN. Clients check it.
const VERSION: &str = "2.10";
/// Suffixes of write actions.
const WRITING: [&str; 7] = [
    "_create", "_update", "_patch", "_delete", "_purge", "_upsert", "_invite",
];

/// A call of an action.
struct Call<'c> {
    state: &'c AppState,
    /// First part of links.
    base: &'c str,
    parameters: &'c Parameters,
}

/// Name, help text and function of an action.
type Action = (
    &'static str,
    &'static str,
    fn(&Call<'_>) -> Result<Value, ActionError>,
);

const ACTIONS: &[Action] = &[
    ("status_show", "What this portal is.", status_show),
    (
        "package_search",
        "Datasets for `q`, words or field:value, and filters `fq`, `fq_list`, in the order of `sort`; `rows` from `start` on; \
         counts by `facet.field`. Queries are in Solr's syntax, with the fields of CKAN's schema: title, notes, author, \
         maintainer, organization, groups, tags, license_id, res_name, res_format, res_url, url, version, extras_*, id, name, \
         metadata_created, metadata_modified and others, and task, modality, language.",
        search::package_search,
    ),
    (
        "package_show",
        "The dataset of an `id` or name.",
        lists::package_show,
    ),
    (
        "package_list",
        "The names of all datasets, `limit` from `offset` on.",
        lists::package_list,
    ),
    (
        "current_package_list_with_resources",
        "Datasets, the last changed first, `limit` from `offset` on.",
        lists::current_package_list_with_resources,
    ),
    (
        "package_autocomplete",
        "Datasets whose name or title holds `q`.",
        lists::package_autocomplete,
    ),
    (
        "resource_show",
        "The resource of an `id`.",
        lists::resource_show,
    ),
    (
        "resource_search",
        "Resources for each `query`, field:text, of the fields id, name, url and format.",
        lists::resource_search,
    ),
    (
        "organization_list",
        "Publishers, by `sort`; with `all_fields` more than names.",
        lists::organization_list,
    ),
    (
        "organization_show",
        "The publisher of an `id`.",
        lists::organization_show,
    ),
    (
        "group_list",
        "Themes, by `sort`; with `all_fields` more than names.",
        lists::group_list,
    ),
    ("group_show", "The theme of an `id`.", lists::group_show),
    ("tag_list", "Keywords that hold `query`.", lists::tag_list),
    ("tag_show", "The keyword of an `id`.", lists::tag_show),
    (
        "tag_search",
        "Keywords that hold `query`, with their number; `limit` from `offset` on.",
        lists::tag_search,
    ),
    (
        "tag_autocomplete",
        "Names of keywords that hold `query`.",
        lists::tag_autocomplete,
    ),
    ("vocabulary_list", "Vocabularies of keywords: none.", |_| {
        Ok(json!([]))
    }),
    (
        "organization_autocomplete",
        "Publishers whose name or title holds `q`.",
        lists::organization_autocomplete,
    ),
    (
        "group_autocomplete",
        "Themes whose name or title holds `q`.",
        lists::group_autocomplete,
    ),
    (
        "group_package_show",
        "The datasets of a theme or publisher `id`, `limit` from `start` on.",
        lists::group_package_show,
    ),
    (
        "license_list",
        "The licences that datasets have.",
        lists::license_list,
    ),
    (
        "format_autocomplete",
        "Formats of resources that hold `q`.",
        lists::format_autocomplete,
    ),
    ("help_show", "What the action of a `name` does.", help_show),
    ("site_read", "Whether this portal may be read: yes.", |_| {
        Ok(json!(true))
    }),
];

/// The response to an unknown action, or to a body that is no JSON.
struct BadAction;

impl PartialSchema for BadAction {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Array(vec![Type::Object, Type::String]))
            .into()
    }
}

impl ToSchema for BadAction {}

/// Handles all actions, with parameters in the address or the body.
#[utoipa::path(get, path = "/api/3/action/{name}", tag = "CKAN", operation_id = "ckan",
    summary = "CKAN's Action API, read actions",
    params(("name" = String, Path,
        description = "Name of the action: package_search, package_show and others; help_show describes each.")),
    responses(
        (status = 200, description = "CKAN's envelope.", body = Object),
        (status = 400, description = "Unknown action.", body = inline(BadAction)),
        (status = 404, description = "CKAN's envelope, with the error.", body = Object),
        (status = 409, description = "CKAN's envelope, with the invalid parameters.", body = Object),
        ClientLimit<JsonObject>,
        Busy<JsonObject>))]
pub(super) async fn action(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    (method, headers): (Method, HeaderMap),
    body: Bytes,
) -> Response {
    let help = help_address(&links, &name);
    let media_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    // The callback is removed before the action: `package_search` rejects unknown parameters.
    let parameters = Parameters::read(query.as_deref().unwrap_or_default(), media_type, &body);
    let (parameters, callback) = match parameters.and_then(|mut parameters| {
        let callback = jsonp::callback(&mut parameters, &method, state.site.is_local_only())?;
        Ok((parameters, callback))
    }) {
        Ok((parameters, callback)) => (Ok(parameters), callback),
        Err(error) => (Err(error), None),
    };
    match run_action(&state, client, links, &name, parameters).await {
        Ok(result) => {
            let result = json!({ "help": help, "success": true, "result": result });
            match callback {
                Some(callback) => callback.respond(&result),
                None => Json(result).into_response(),
            }
        }
        Err(error) => error.respond(&help),
    }
}

/// Returns the address of an action's help.
fn help_address(links: &LinkBase, name: &str) -> String {
    let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    format!("{links}api/3/action/help_show?name={name}")
}

async fn run_action(
    state: &AppState,
    client: Client,
    links: LinkBase,
    name: &str,
    parameters: Result<Parameters, ActionError>,
) -> Result<Value, ActionError> {
    let Some((_, _, run)) = find_action(name) else {
        return Err(unknown_action(name));
    };
    let parameters = parameters?;
    let permit = if is_heavy(name, &parameters)? {
        Some(state.limits.acquire_permit(client).await?)
    } else {
        None
    };
    let result = state.work(move |state| {
        let _permit = permit;
        Ok(run(&Call {
            state,
            base: links.as_str(),
            parameters: &parameters,
        }))
    });
    result.await?
}

fn find_action(name: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|(known, ..)| *known == name)
}

fn unknown_action(name: &str) -> ActionError {
    let writing = WRITING.iter().any(|end| name.ends_with(end));
    if writing {
        ActionError::Denied
    } else {
        ActionError::NoAction(name.to_owned())
    }
}

/// If true, a call compares all datasets, reads many descriptions, or runs a model.
fn is_heavy(name: &str, parameters: &Parameters) -> Result<bool, ActionError> {
    Ok(match name {
        "package_search" | "resource_search" | "tag_show" => true,
        "current_package_list_with_resources" | "group_package_show" => parameters
            .natural("limit")?
            .is_none_or(|limit| limit > MAX_FREE_PACKAGES),
        _ => false,
    })
}

impl Call<'_> {
    fn table(&self) -> Result<Arc<Table>, ActionError> {
        Ok(Table::current(self.state)?)
    }

    /// Returns the package of a dataset; `None` if it does not exist.
    fn package(&self, id: &DatasetId) -> Result<Option<Value>, ActionError> {
        let described = PortalMetadata::read(&self.state.store, id)?;
        Ok(described.map(|described| package::build_package(&described, self.base)))
    }

    /// Returns the package of an id or name. Ids need no table.
    fn find_package(&self, name: &str) -> Result<Option<Value>, ActionError> {
        if let Ok(id) = DatasetId::new(name)
            && self.state.searcher.catalog().numeric_facts(&id)?.is_some()
        {
            return self.package(&id);
        }
        let table = self.table()?;
        table
            .find(name)
            .map(|row| self.package(&row.id))
            .transpose()
            .map(Option::flatten)
    }
}

fn status_show(call: &Call<'_>) -> Result<Value, ActionError> {
    let site = call.base.trim_end_matches('/');
    Ok(json!({
        "ckan_version": VERSION,
        "site_url": site,
        "site_title": call.state.portal.portal.title.default_value(),
        "site_description": call.state.portal.portal.description.default_value(),
        "error_emails_to": null,
        "locale_default": "en",
        "extensions": [],
    }))
}

fn help_show(call: &Call<'_>) -> Result<Value, ActionError> {
    let name = call.parameters.required_text("name")?;
    find_action(&name)
        .map(|(_, help, _)| json!(help))
        .ok_or(ActionError::NotFound)
}

/// `GET /api/3`: the version of the API.
pub(super) async fn version() -> Json<Value> {
    Json(json!({ "version": 3 }))
}
