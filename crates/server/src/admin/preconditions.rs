//! Conditions of changes in the headers of requests, and states of datasets in those of responses.

use crate::error::ApiError;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use lodeseek_catalog::DatasetId;
use lodeseek_changes::{DatasetState, EntityTags, Preconditions};

/// Adds the headers `ETag` and `Last-Modified`.
pub(super) fn set_state_headers(state: &DatasetState, headers: &mut HeaderMap) {
    if let Ok(tag) = HeaderValue::from_str(&state.tag) {
        headers.insert(header::ETAG, tag);
    }
    let modified = state.modified.map(httpdate::fmt_http_date);
    if let Some(Ok(modified)) = modified.map(|text| HeaderValue::from_str(&text)) {
        headers.insert(header::LAST_MODIFIED, modified);
    }
}

/// Reads the conditions of a request. A date that cannot be read is ignored, as RFC 9110 requires.
pub(super) fn read_preconditions(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    let date = headers
        .get(header::IF_UNMODIFIED_SINCE)
        .and_then(|value| value.to_str().ok());
    Ok(Preconditions {
        if_match: read_tags(headers, &header::IF_MATCH)?,
        if_none_match: read_tags(headers, &header::IF_NONE_MATCH)?,
        if_unmodified_since: date.and_then(|text| httpdate::parse_http_date(text).ok()),
    })
}

/// Compares conditions with the state of a dataset. Status 412 if one does not hold.
pub(super) fn check_state(
    conditions: &Preconditions,
    id: &DatasetId,
    state: Option<&DatasetState>,
) -> Result<(), ApiError> {
    conditions
        .check(id, state)
        .map_err(|reason| ApiError::with_status(StatusCode::PRECONDITION_FAILED, reason))
}

/// Reads the entity tags of a header. `None` without it.
fn read_tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<EntityTags>, ApiError> {
    let mut tags = Vec::new();
    for value in headers.get_all(name) {
        let Ok(text) = value.to_str() else {
            return Err(no_tags(name, value));
        };
        if text.trim() == "*" {
            return Ok(Some(EntityTags::Any));
        }
        for tag in text.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
            let opaque = tag.strip_prefix("W/").unwrap_or(tag);
            let is_quoted = opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"');
            if !is_quoted {
                return Err(no_tags(name, value));
            }
            tags.push(tag.to_owned());
        }
    }
    // An empty list is a condition that no state fulfils.
    Ok(headers.contains_key(name).then_some(EntityTags::List(tags)))
}

/// Returns the error of a header that is no list of entity tags.
fn no_tags(name: &HeaderName, value: &HeaderValue) -> ApiError {
    ApiError::bad_request(format!("{name}: {value:?} is no list of entity tags"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn conditions(headers: &[(&'static str, &str)]) -> Result<Preconditions, ApiError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        read_preconditions(&map)
    }

    #[test]
    fn conditions_are_compared() {
        let id = DatasetId::new("trees").expect("an id");
        let state = DatasetState {
            tag: "\"a1\"".to_owned(),
            modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045)),
        };
        let holds = |headers: &[(&'static str, &str)], state: Option<&DatasetState>| {
            conditions(headers)
                .expect("conditions")
                .check(&id, state)
                .is_ok()
        };
        let (present, absent) = (Some(&state), None);
        for (name, value, if_present, if_absent) in [
            ("if-match", "\"a1\"", true, false),
            ("if-match", "\"b\", \"a1\"", true, false),
            ("if-match", "\"b\"", false, false),
            ("if-match", "W/\"a1\"", false, false),
            ("if-match", "*", true, false),
            ("if-none-match", "*", false, true),
            ("if-none-match", "\"a1\"", false, true),
            ("if-none-match", "W/\"a1\"", false, true),
            ("if-none-match", "\"b\"", true, true),
            (
                "if-unmodified-since",
                "Fri, 02 Jan 2026 03:04:05 GMT",
                true,
                true,
            ),
            (
                "if-unmodified-since",
                "Fri, 02 Jan 2026 03:04:04 GMT",
                false,
                true,
            ),
            ("if-unmodified-since", "yesterday", true, true),
        ] {
            let headers = [(name, value)];
            assert_eq!(holds(&headers, present), if_present, "{name}: {value}");
            assert_eq!(holds(&headers, absent), if_absent, "{name}: {value}");
        }
        // If-Match precedes the date.
        let both = [
            ("if-match", "\"a1\""),
            ("if-unmodified-since", "Fri, 02 Jan 2020 03:04:04 GMT"),
        ];
        assert!(holds(&both, present));
        assert!(conditions(&[("if-match", "a1")]).is_err());
        assert!(conditions(&[]).expect("none").is_empty());
        assert!(
            !conditions(&[("if-match", "*")])
                .expect("one")
                .name_a_state()
        );
    }
}
