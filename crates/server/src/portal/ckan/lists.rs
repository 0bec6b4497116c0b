//! Actions that list and show: packages, resources, organisations, groups, tags, licences, formats.

use super::error::ActionError;
use super::names::License;
use super::package::{Kind, build_group, build_tag};
use super::parameters::Default as Flag;
use super::table::{Facet, Resource, Row, Table, Value as FacetValue};
use super::{Call, MAX_PACKAGES};
use lodeseek_index::{compose, fold_text};
use rustc_hash::FxHashSet;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// Maximum number of datasets shown with an organisation, group or tag.
const MAX_LISTED_DATASETS: usize = 10;
/// Default number of organisations or groups with all fields.
const DEFAULT_GROUPS_WITH_FIELDS: usize = 25;

/// Returns a page of a list, by `offset` and `limit`.
fn take_page<T>(
    list: impl Iterator<Item = T>,
    call: &Call<'_>,
    limit: usize,
) -> Result<Vec<T>, ActionError> {
    let limit = call.parameters.natural("limit")?.unwrap_or(limit);
    Ok(list
        .skip(call.parameters.natural("offset")?.unwrap_or(0))
        .take(limit)
        .collect())
}

pub(super) fn package_list(call: &Call<'_>) -> Result<Value, ActionError> {
    let table = call.table()?;
    Ok(json!(take_page(
        table.rows.iter().map(|row| &row.name),
        call,
        usize::MAX
    )?))
}

pub(super) fn package_show(call: &Call<'_>) -> Result<Value, ActionError> {
    let name = match call.parameters.text("id")?.filter(|id| !id.is_empty()) {
        Some(id) => id,
        None => call.parameters.required_text("name_or_id")?,
    };
    call.find_package(&name)?.ok_or(ActionError::NotFound)
}

/// Lists the packages, the last changed first.
pub(super) fn current_package_list_with_resources(call: &Call<'_>) -> Result<Value, ActionError> {
    let table = call.table()?;
    let mut rows: Vec<&Row> = table.rows.iter().collect();
    rows.sort_by_key(|row| Reverse(&row.modified));
    let limit = call
        .parameters
        .natural("limit")?
        .unwrap_or(MAX_PACKAGES)
        .min(MAX_PACKAGES);
    let offset = call.parameters.natural("offset")?.unwrap_or(0);
    read_packages(call, rows.into_iter().skip(offset).take(limit))
}

fn read_packages<'t>(
    call: &Call<'_>,
    rows: impl Iterator<Item = &'t Row>,
) -> Result<Value, ActionError> {
    let mut packages = Vec::new();
    for row in rows {
        packages.extend(call.package(&row.id)?);
    }
    Ok(packages.into())
}

/// Finds packages by a part of name or title, those that begin with it first.
pub(super) fn package_autocomplete(call: &Call<'_>) -> Result<Value, ActionError> {
    let text = fold_text(&call.parameters.required_text("q")?);
    let table = call.table()?;
    let mut found: Vec<(bool, &Row, &str)> = Vec::new();
    for row in &table.rows {
        if row.name.contains(&text) {
            found.push((!row.name.starts_with(&text), row, "name"));
        } else if row.folded.contains(&text) {
            found.push((!row.folded.starts_with(&text), row, "title"));
        }
    }
    found.sort_by_key(|(late, ..)| *late);
    let limit = call
        .parameters
        .natural("limit")?
        .unwrap_or(10)
        .min(MAX_PACKAGES);
    let mut packages = Vec::new();
    for (_, row, field) in found.into_iter().take(limit) {
        let displayed = if field == "name" {
            row.name.clone()
        } else {
            format!("{} ({})", row.title, row.name)
        };
        packages.push(json!({
            "name": row.name,
            "title": row.title,
            "match_field": field,
            "match_displayed": displayed,
        }));
    }
    Ok(packages.into())
}

pub(super) fn resource_show(call: &Call<'_>) -> Result<Value, ActionError> {
    let id = call.parameters.required_text("id")?;
    let (package, _) = id.split_once('.').ok_or(ActionError::NotFound)?;
    let package = call.find_package(package)?.ok_or(ActionError::NotFound)?;
    find_resource(&package, &id).ok_or(ActionError::NotFound)
}

fn find_resource(package: &Value, id: &str) -> Option<Value> {
    package["resources"]
        .as_array()?
        .iter()
        .find(|resource| resource["id"] == id)
        .cloned()
}

/// Maximum number of texts of `resource_search`. Each is compared with every resource.
const MAX_TEXTS: usize = 10;

/// Fields of `resource_search`.
type Text = fn(&Resource) -> &str;

fn resource_field(name: &str) -> Option<Text> {
    Some(match name {
        "id" => |resource| &resource.id,
        "name" => |resource| &resource.name,
        "url" => |resource| &resource.url,
        "format" => |resource| &resource.format,
        _ => return None,
    })
}

/// Parses a condition on resources: `field:text`.
fn parse_condition(query: &str) -> Result<(Text, String), ActionError> {
    let Some((name, text)) = query.split_once(':') else {
        let message = format!("{query:?} is not field:text");
        return Err(ActionError::Invalid("query", message));
    };
    let Some(field) = resource_field(name) else {
        let message = format!("{query:?} names no field that is searched: id, name, url, format");
        return Err(ActionError::Invalid("query", message));
    };
    Ok((field, fold_text(text)))
}

/// Finds resources whose fields contain all texts, case-insensitively.
pub(super) fn resource_search(call: &Call<'_>) -> Result<Value, ActionError> {
    let queries = call.parameters.list("query", &[])?;
    if queries.is_empty() {
        return Err(ActionError::missing("query"));
    }
    if queries.len() > MAX_TEXTS {
        return Err(ActionError::Invalid(
            "query",
            format!("Must have at most {MAX_TEXTS} elements"),
        ));
    }
    let mut conditions: Vec<(Text, String)> = Vec::new();
    for query in &queries {
        conditions.push(parse_condition(query)?);
    }
    let table = call.table()?;
    let mut found: Vec<(&Row, &Resource)> = Vec::new();
    for row in &table.rows {
        for resource in &row.resources {
            let is_match = conditions
                .iter()
                .all(|(field, text)| fold_text(field(resource)).contains(text));
            if is_match {
                found.push((row, resource));
            }
        }
    }
    let (offset, limit) = (
        call.parameters.natural("offset")?.unwrap_or(0),
        call.parameters.natural("limit")?,
    );
    let page = found.get(offset..).unwrap_or_default();
    let page = &page[..page
        .len()
        .min(limit.unwrap_or(MAX_PACKAGES))
        .min(MAX_PACKAGES)];
    let mut results = Vec::new();
    // Each package is read once: the resources of a dataset follow each other.
    for resources in page.chunk_by(|(one, _), (next, _)| one.id == next.id) {
        let Some(mut package) = call.package(&resources[0].0.id)? else {
            continue;
        };
        let ids: FxHashSet<&str> = resources
            .iter()
            .map(|(_, resource)| resource.id.as_str())
            .collect();
        if let Value::Array(all) = package["resources"].take() {
            results.extend(
                all.into_iter()
                    .filter(|one| one["id"].as_str().is_some_and(|id| ids.contains(id))),
            );
        }
    }
    Ok(json!({ "count": found.len(), "results": results }))
}

pub(super) fn organization_list(call: &Call<'_>) -> Result<Value, ActionError> {
    list_groups(call, Facet::Organization, Kind::Organization)
}

pub(super) fn group_list(call: &Call<'_>) -> Result<Value, ActionError> {
    list_groups(call, Facet::Groups, Kind::Group)
}

fn list_groups(call: &Call<'_>, facet: Facet, kind: Kind) -> Result<Value, ActionError> {
    let all_fields = call.parameters.flag("all_fields", Flag::No)?;
    let only = match kind {
        Kind::Organization => call.parameters.list("organizations", &[',', ' '])?,
        Kind::Group => call.parameters.list("groups", &[',', ' '])?,
    };
    let table = call.table()?;
    let mut values: Vec<&FacetValue> = table.values(facet).all.iter().collect();
    values.retain(|value| only.is_empty() || only.contains(&value.name));
    sort_values(&mut values, call)?;
    let limit = if all_fields {
        DEFAULT_GROUPS_WITH_FIELDS
    } else {
        MAX_PACKAGES
    };
    let values = take_page(values.into_iter(), call, limit)?;
    Ok(if all_fields {
        values
            .into_iter()
            .map(|value| group_with_count(value, kind))
            .collect()
    } else {
        values
            .into_iter()
            .map(|value| value.name.as_str())
            .collect()
    })
}

fn sort_values(values: &mut [&FacetValue], call: &Call<'_>) -> Result<(), ActionError> {
    let requested = call
        .parameters
        .text("sort")?
        .unwrap_or_else(|| "title asc".to_owned());
    let mut words = requested.split_whitespace();
    let key = words.next().unwrap_or("title");
    let descending = match words.next() {
        Some(word) => word == "desc",
        None => key == "package_count" || key == "packages",
    };
    // Values that are equal by the key have the order of their names, because the sorts are stable.
    values.sort_by(|a, b| a.name.cmp(&b.name));
    match key {
        "name" => {}
        "title" => values.sort_by(|one, other| one.order().cmp(&other.order())),
        "package_count" | "packages" => values.sort_by_key(|value| value.count),
        other => {
            let message = format!("Cannot sort by field `{other}`");
            return Err(ActionError::Invalid("sort", message));
        }
    }
    if descending {
        values.reverse();
    }
    Ok(())
}

fn group_with_count(value: &FacetValue, kind: Kind) -> Value {
    let mut group = build_group(&value.name, &value.title, value.url.as_deref(), kind);
    group["package_count"] = json!(value.count);
    group
}

pub(super) fn organization_show(call: &Call<'_>) -> Result<Value, ActionError> {
    show_group(call, Facet::Organization, Kind::Organization)
}

pub(super) fn group_show(call: &Call<'_>) -> Result<Value, ActionError> {
    show_group(call, Facet::Groups, Kind::Group)
}

fn show_group(call: &Call<'_>, facet: Facet, kind: Kind) -> Result<Value, ActionError> {
    let name = call.parameters.required_text("id")?;
    let table = call.table()?;
    let value = table
        .values(facet)
        .find(&name)
        .ok_or(ActionError::NotFound)?;
    let mut group = group_with_count(value, kind);
    for empty in ["users", "groups", "tags", "extras"] {
        group[empty] = json!([]);
    }
    if call.parameters.flag("include_datasets", Flag::No)? {
        group["packages"] = read_packages(
            call,
            rows_with_value(&table, facet, &name).take(MAX_LISTED_DATASETS),
        )?;
    }
    Ok(group)
}

/// Returns the datasets with a value of a facet, in any spelling of its accents.
fn rows_with_value<'t>(
    table: &'t Table,
    facet: Facet,
    name: &str,
) -> impl Iterator<Item = &'t Row> {
    let values = &table.values(facet).all;
    let name = compose(name).into_owned();
    table.rows.iter().filter(move |row| {
        row.values(facet)
            .iter()
            .any(|place| values[*place as usize].name == name)
    })
}

/// Rejects a vocabulary of tags: there is none.
fn check_vocabulary(call: &Call<'_>) -> Result<(), ActionError> {
    match call.parameters.text("vocabulary_id")? {
        Some(id) if !id.is_empty() => Err(ActionError::NotFound),
        _ => Ok(()),
    }
}

/// Returns the names of the tags that contain one of some texts, in the order of their titles.
fn tags_with(table: &Table, texts: &[String]) -> Vec<String> {
    let texts: Vec<String> = texts.iter().map(|text| fold_text(text)).collect();
    let all = table.values(Facet::Tags).all.iter();
    let mut values: Vec<&FacetValue> = all
        .filter(|value| {
            let name = fold_text(&value.name);
            texts.iter().any(|text| name.contains(text))
        })
        .collect();
    values.sort_by(|one, other| one.order().cmp(&other.order()));
    values.into_iter().map(|value| value.name.clone()).collect()
}

/// Finds tags that contain one of the texts `query`.
pub(super) fn tag_search(call: &Call<'_>) -> Result<Value, ActionError> {
    check_vocabulary(call)?;
    let queries = call.parameters.list("query", &[])?;
    let queries: Vec<String> = queries
        .into_iter()
        .filter(|query| !query.trim().is_empty())
        .take(MAX_TEXTS)
        .collect();
    let names = tags_with(&*call.table()?, &queries);
    let count = names.len();
    let results: Value = take_page(names.iter(), call, MAX_PACKAGES)?
        .into_iter()
        .map(|name| build_tag(name))
        .collect();
    Ok(json!({ "count": count, "results": results }))
}

/// Lists the names of the tags that contain a text.
pub(super) fn tag_autocomplete(call: &Call<'_>) -> Result<Value, ActionError> {
    check_vocabulary(call)?;
    let query = match call
        .parameters
        .text("query")?
        .filter(|query| !query.is_empty())
    {
        Some(query) => query,
        None => call.parameters.required_text("q")?,
    };
    let names = tags_with(&*call.table()?, &[query]);
    Ok(json!(take_page(names.iter(), call, 10)?))
}

pub(super) fn organization_autocomplete(call: &Call<'_>) -> Result<Value, ActionError> {
    autocomplete(call, Facet::Organization)
}

pub(super) fn group_autocomplete(call: &Call<'_>) -> Result<Value, ActionError> {
    autocomplete(call, Facet::Groups)
}

/// Finds values whose name or title contains a text, in the order of their titles.
fn autocomplete(call: &Call<'_>, facet: Facet) -> Result<Value, ActionError> {
    let text = fold_text(&call.parameters.required_text("q")?);
    let table = call.table()?;
    let all = table.values(facet).all.iter();
    let mut values: Vec<&FacetValue> = all
        .filter(|value| value.name.contains(&text) || fold_text(&value.title).contains(&text))
        .collect();
    values.sort_by(|one, other| one.order().cmp(&other.order()));
    let limit = call
        .parameters
        .natural("limit")?
        .unwrap_or(20)
        .min(MAX_PACKAGES);
    Ok(values
        .into_iter()
        .take(limit)
        .map(|value| json!({ "id": value.name, "name": value.name, "title": value.title }))
        .collect())
}

/// Lists the packages of a group or organisation.
pub(super) fn group_package_show(call: &Call<'_>) -> Result<Value, ActionError> {
    let name = call.parameters.required_text("id")?;
    let table = call.table()?;
    let facet = [Facet::Groups, Facet::Organization]
        .into_iter()
        .find(|facet| table.values(*facet).find(&name).is_some())
        .ok_or(ActionError::NotFound)?;
    let start = call.parameters.natural("start")?.unwrap_or(0);
    let limit = call
        .parameters
        .natural("limit")?
        .unwrap_or(MAX_PACKAGES)
        .min(MAX_PACKAGES);
    read_packages(
        call,
        rows_with_value(&table, facet, &name)
            .skip(start)
            .take(limit),
    )
}

/// Lists the tags that contain a text, by name.
pub(super) fn tag_list(call: &Call<'_>) -> Result<Value, ActionError> {
    check_vocabulary(call)?;
    let query = call.parameters.text("query")?.unwrap_or_default();
    let names = tags_with(&*call.table()?, &[query]);
    Ok(if call.parameters.flag("all_fields", Flag::No)? {
        names.iter().map(|name| build_tag(name)).collect()
    } else {
        json!(names)
    })
}

pub(super) fn tag_show(call: &Call<'_>) -> Result<Value, ActionError> {
    check_vocabulary(call)?;
    let name = call.parameters.required_text("id")?;
    let table = call.table()?;
    let value = table
        .values(Facet::Tags)
        .find(&name)
        .ok_or(ActionError::NotFound)?;
    let mut tag = build_tag(&value.name);
    if call.parameters.flag("include_datasets", Flag::No)? {
        tag["packages"] = read_packages(
            call,
            rows_with_value(&table, Facet::Tags, &name).take(MAX_PACKAGES),
        )?;
    }
    Ok(tag)
}

/// Lists the licences of the datasets.
pub(super) fn license_list(call: &Call<'_>) -> Result<Value, ActionError> {
    let table = call.table()?;
    let mut values: Vec<&FacetValue> = table.values(Facet::LicenseId).all.iter().collect();
    values.sort_by_key(|value| &value.name);
    let mut licenses = Vec::with_capacity(values.len());
    for value in values {
        let open = License::from_text(value.url.as_deref()).open
            || License::from_text(Some(&value.name)).open;
        licenses.push(json!({
            "id": value.name,
            "title": value.title,
            "url": value.url,
            "status": "active",
            "od_conformance": if open { "approved" } else { "not reviewed" },
        }));
    }
    Ok(licenses.into())
}

/// Lists the formats that contain a text, the most frequent first.
pub(super) fn format_autocomplete(call: &Call<'_>) -> Result<Value, ActionError> {
    let text = fold_text(&call.parameters.required_text("q")?);
    let table = call.table()?;
    let values = table.values(Facet::ResFormat);
    let counts: Vec<usize> = values.all.iter().map(|value| value.count).collect();
    let names = values
        .most_frequent(&counts, 1)
        .into_iter()
        .map(|(value, _)| value.name.to_lowercase());
    let limit = call
        .parameters
        .natural("limit")?
        .unwrap_or(5)
        .min(MAX_PACKAGES);
    Ok(names
        .filter(|name| fold_text(name).contains(&text))
        .take(limit)
        .collect())
}
