//! Query parameters that several routes share: those of the search in all its forms (JSON, page, feed, CKAN), and filters.

use crate::error::ApiError;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    DuplicateMode, Example, Facet, Filter, QuerySyntax, ResultOrder, SnippetKind, facet_value,
};
use lodeseek_index::sparse::ModelKind;
use std::collections::HashSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Maximum number of characters of a query.
pub(crate) const MAX_QUERY_CHARACTERS: usize = 2000;

/// Maximum number of values of a filter.
pub(crate) const MAX_VALUES: usize = 50;
/// Maximum number of characters of a value. The index has the same limit.
pub(crate) const MAX_VALUE_CHARACTERS: usize = 200;

/// Maximum number of characters of a parameter's name in a message.
const MAX_NAME_CHARS: usize = 50;

/// Query parameters in the order of the request.
pub(crate) type Pairs = Vec<(String, String)>;

/// Parses `application/x-www-form-urlencoded` text: a query string or a form.
pub(crate) fn pairs(encoded: &[u8]) -> Pairs {
    form_urlencoded::parse(encoded).into_owned().collect()
}

/// Minimum similarity of a suggested name: above it are misspellings, below it other words.
const MIN_NAME_SIMILARITY: f64 = 0.6;

/// Returns the error of an unknown parameter, with the most similar of the known names.
pub(crate) fn unknown_parameter(name: &str, known: &[String]) -> ApiError {
    let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
    let lower_case = shown.to_ascii_lowercase();
    let closest = known
        .iter()
        .map(|known| {
            let similarity = strsim::normalized_damerau_levenshtein(&lower_case, known);
            (similarity, known)
        })
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let advice = match closest {
        Some((similarity, closest)) if similarity >= MIN_NAME_SIMILARITY => {
            format!("did you mean {closest}?")
        }
        _ => format!("supported parameters: {}", known.join(", ")),
    };
    ApiError::bad_request(format!("unknown parameter {shown:?}; {advice}"))
}

/// Returns the error of a query string whose values are not of the types of its parameters. `ranges` has the numbers that have a
/// smallest and a largest value.
pub(crate) fn invalid_parameters(
    rejection: &QueryRejection,
    ranges: &[(&str, RangeInclusive<usize>)],
) -> ApiError {
    let text = rejection.body_text();
    // The words of the deserializer come first.
    let reason = match text.rsplit_once("query string: ") {
        Some((_, reason)) => reason,
        None => &text,
    };
    let Some((name, reason)) = reason.split_once(": ") else {
        return ApiError::bad_request(reason);
    };
    let message = if reason.contains("integer")
        || reason.contains("digit")
        || reason.contains("number")
    {
        match ranges.iter().find(|(known, _)| *known == name) {
            Some((_, range)) => format!("{name} must be from {} to {}", range.start(), range.end()),
            None => format!("{name} must be a whole number"),
        }
    } else if reason.contains("`true`") {
        format!("{name} must be true or false")
    } else {
        format!("{name}: {reason}")
    };
    ApiError::bad_request(message)
}

/// Parses the parameter `model`. An empty value, as of an untouched form field, is none.
pub(crate) fn parse_model(text: Option<&str>) -> Result<Option<ModelKind>, ApiError> {
    let named = text
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::parse);
    named
        .transpose()
        .map_err(|error| ApiError::bad_request(format!("model: {error}")))
}

/// Returns the syntax of a query by the parameter `literal`. Default: interpreted.
pub(crate) fn query_syntax(literal: Option<bool>) -> QuerySyntax {
    if literal == Some(true) {
        QuerySyntax::Literal
    } else {
        QuerySyntax::Interpreted
    }
}

/// Parses the parameter `sort`: `relevance` (default), `newest`, `largest` or `title`.
pub(crate) fn parse_order(text: Option<&str>) -> Result<ResultOrder, ApiError> {
    let named = text
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::parse);
    let order = named
        .transpose()
        .map_err(|error| ApiError::bad_request(format!("sort: {error}")))?;
    Ok(order.unwrap_or_default())
}

/// Parses the parameter `duplicates`: `once` (default) shows equal datasets as one, `all` shows each.
pub(crate) fn parse_duplicates(duplicates: Option<&str>) -> Result<DuplicateMode, ApiError> {
    match duplicates {
        None | Some("" | "once") => Ok(DuplicateMode::Grouped),
        Some("all") => Ok(DuplicateMode::All),
        Some(other) => Err(ApiError::bad_request(format!(
            "duplicates={other:?}: must be once or all"
        ))),
    }
}

/// Parses the parameter `snippet`: `stored` (default), `query`, `none`, or a method with a bound on its work.
pub(crate) fn parse_snippet(text: Option<&str>) -> Result<SnippetKind, ApiError> {
    let Some(name) = text.map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(SnippetKind::default());
    };
    let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
    let reason = match name.parse::<SnippetKind>() {
        Ok(kind) if kind.is_bounded() => return Ok(kind),
        Ok(_) => format!("the run time of {shown:?} is not bounded"),
        Err(_) => format!("{shown:?} is no kind of snippet"),
    };
    Err(ApiError::bad_request(format!(
        "snippet: {reason}; supported kinds: {}",
        SnippetKind::bounded_names().join(", ")
    )))
}

/// Rejects a query without a letter or digit, and one of more than [`MAX_QUERY_CHARACTERS`].
pub(crate) fn check_query(query: &str) -> Result<(), ApiError> {
    lodeseek_engine::check_query(query)
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    if query.chars().count() > MAX_QUERY_CHARACTERS {
        let message = format!("a query may have at most {MAX_QUERY_CHARACTERS} characters");
        return Err(ApiError::with_status(StatusCode::URI_TOO_LONG, message));
    }
    Ok(())
}

/// Parses the filter of a request: `since=2015`, `before=2018`, `within=2.5,49.4,6.5,51.6`, `covers=2010..2015`, and any number
/// of `column=population > 1000000`, `task=`, `class=`, `format=` and the other facets.
/// Empty values, as of untouched form fields, are ignored.
pub(crate) fn filter(pairs: &Pairs) -> Result<Filter, ApiError> {
    let mut filter = Filter::default();
    for (name, value) in pairs
        .iter()
        .map(|(name, value)| (name, value.trim()))
        .filter(|(_, value)| !value.is_empty())
    {
        if name == "since" {
            filter.since = Some(parse_year(name, value)?);
        } else if name == "before" {
            filter.until = Some(parse_year(name, value)?);
        } else if name == "within" {
            filter.within = Some(parse_value(name, value)?);
        } else if name == "covers" {
            filter.covers = Some(parse_value(name, value)?);
        } else if name == "column" {
            let condition = parse_value(name, value)?;
            if !filter.columns.contains(&condition) {
                filter.columns.push(condition);
            }
            check_number(&filter)?;
        } else if let Ok(facet) = name.parse::<Facet>() {
            check_facet_value(facet, value)?;
            filter = filter.with(facet, facet_value(facet, value));
            // Checked here because each value is compared with all before it.
            check_number(&filter)?;
        }
    }
    if let (Some(since), Some(until)) = (filter.since, filter.until)
        && since > until
    {
        return Err(ApiError::bad_request(format!(
            "since={since} is later than before={until}: no year is in between"
        )));
    }
    Ok(filter)
}

/// Parses the examples of a search: `like=ID`, up to [`MAX_EXAMPLES`](lodeseek_engine::MAX_EXAMPLES) different ones.
pub(crate) fn examples(pairs: &Pairs) -> Result<Vec<Example>, ApiError> {
    let mut seen = HashSet::new();
    let mut examples = Vec::new();
    for (name, value) in pairs {
        let id = value.trim();
        if name != "like" || id.is_empty() || !seen.insert(id) {
            continue;
        }
        let id =
            DatasetId::new(id).map_err(|error| ApiError::bad_request(format!("like: {error}")))?;
        examples.push(Example::Dataset(id));
    }
    Ok(examples)
}

fn parse_year(name: &str, text: &str) -> Result<i32, ApiError> {
    let year = text.parse().ok().filter(|year| (0..=9999).contains(year));
    year.ok_or_else(|| {
        ApiError::bad_request(format!(
            "{name}={text:?}: expected a year from 0 to 9999, as in {name}=2018"
        ))
    })
}

fn parse_value<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, ApiError> {
    text.parse()
        .map_err(|error| ApiError::bad_request(format!("{name}: {error}")))
}

fn check_facet_value(facet: Facet, value: &str) -> Result<(), ApiError> {
    if value.chars().count() > MAX_VALUE_CHARACTERS {
        return Err(ApiError::bad_request(format!(
            "a {facet} may have at most {MAX_VALUE_CHARACTERS} characters"
        )));
    }
    Ok(())
}

fn check_number(filter: &Filter) -> Result<(), ApiError> {
    if filter.values.len() + filter.columns.len() > MAX_VALUES {
        return Err(ApiError::bad_request(format!(
            "a filter may have at most {MAX_VALUES} values"
        )));
    }
    Ok(())
}

/// Returns the parameters that [`filter`] parses to this filter.
pub(crate) fn filter_parameters(filter: &Filter) -> Vec<(&'static str, String)> {
    let since = filter.since.map(|year| ("since", year.to_string()));
    let before = filter.until.map(|year| ("before", year.to_string()));
    let within = filter.within.map(|within| ("within", within.to_string()));
    let covers = filter.covers.map(|covers| ("covers", covers.to_string()));
    let columns = filter.columns.iter();
    let columns = columns.map(|condition| ("column", condition.to_string()));
    [since, before, within, covers]
        .into_iter()
        .flatten()
        .chain(columns)
        .chain(
            filter
                .values
                .iter()
                .map(|(facet, value)| (facet.name(), value.clone())),
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_are_parsed_and_errors_list_all_that_are_supported() {
        assert!(parse_snippet(None).is_ok_and(|kind| kind == SnippetKind::Stored));
        assert!(parse_snippet(Some("")).is_ok_and(|kind| kind == SnippetKind::Stored));
        for name in SnippetKind::bounded_names() {
            assert!(parse_snippet(Some(name)).is_ok(), "{name}");
        }
        for (name, reason) in [
            ("guess", "snippet: \"guess\" is no kind of snippet"),
            (
                "illusnip-basic",
                "snippet: the run time of \"illusnip-basic\" is not bounded",
            ),
        ] {
            let error = parse_snippet(Some(name)).expect_err("not supported");
            let (about, listed) = error
                .message
                .split_once("; supported kinds: ")
                .expect("a list");
            assert_eq!(about, reason);
            let listed: Vec<&str> = listed.split(", ").collect();
            assert_eq!(listed, SnippetKind::bounded_names());
        }
    }

    #[test]
    fn years_in_reverse_are_rejected() {
        let pairs = |since: &str, before: &str| -> Pairs {
            [("since", since), ("before", before)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into()
        };
        assert!(filter(&pairs("2010", "2010")).is_ok());
        let error = filter(&pairs("2020", "2010")).expect_err("reversed");
        assert!(
            error.message.contains("later than before=2010"),
            "{}",
            error.message
        );
    }
}
