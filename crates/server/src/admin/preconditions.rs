//! Conditions of changes of a dataset: `If-Match`, `If-None-Match` and `If-Unmodified-Since` (RFC 9110, 13).
//!
//! The entity tag of a dataset changes with its description, its content and its files. Conditions are checked when a change is
//! requested, and again when its job begins: changes that were queued before may have been made.

use crate::error::ApiError;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use lodeseek_catalog::DatasetId;
use lodeseek_store::{Store, StoreError};
use oxsdatatypes::{DateTime, Integer};
use std::time::{Duration, SystemTime};

/// State of a dataset, for conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DatasetState {
    /// Entity tag, with quotation marks.
    pub(super) tag: String,
    /// Time of the last change of the description, if recorded.
    pub(super) modified: Option<SystemTime>,
}

impl DatasetState {
    /// Returns the state of a dataset; `None` if there is no such dataset.
    pub(super) fn read(store: &Store, id: &DatasetId) -> Result<Option<Self>, StoreError> {
        let Some(tag) = store.dataset_tag(id)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            tag,
            modified: store.record_time(id)?.as_deref().and_then(system_time),
        }))
    }

    /// Adds the headers `ETag` and `Last-Modified`.
    pub(super) fn set_headers(&self, headers: &mut HeaderMap) {
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            headers.insert(header::ETAG, tag);
        }
        let modified = self.modified.map(httpdate::fmt_http_date);
        if let Some(Ok(modified)) = modified.map(|text| HeaderValue::from_str(&text)) {
            headers.insert(header::LAST_MODIFIED, modified);
        }
    }
}

fn system_time(text: &str) -> Option<SystemTime> {
    let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
    let seconds = text
        .parse::<DateTime>()
        .ok()?
        .checked_sub(epoch)?
        .as_seconds();
    let seconds = Integer::try_from(seconds.checked_floor()?).ok()?;
    let seconds = u64::try_from(i64::from(seconds)).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Entity tags of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Tags {
    /// `*`: any.
    Any,
    /// One of these, with quotation marks.
    List(Vec<String>),
}

impl Tags {
    /// Reads a header. `None` without it.
    fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, ApiError> {
        let mut tags = Vec::new();
        for value in headers.get_all(name) {
            let invalid =
                || ApiError::bad_request(format!("{name}: {value:?} is no list of entity tags"));
            let text = value.to_str().map_err(|_| invalid())?.trim();
            if text == "*" {
                return Ok(Some(Self::Any));
            }
            for tag in text.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
                let opaque = tag.strip_prefix("W/").unwrap_or(tag);
                let is_quoted =
                    opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"');
                if !is_quoted {
                    return Err(invalid());
                }
                tags.push(tag.to_owned());
            }
        }
        Ok(headers.contains_key(name).then_some(Self::List(tags)))
    }

    /// Returns true if a tag is the same by the strong comparison.
    fn contains(&self, tag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::List(tags) => tags.iter().any(|one| one == tag),
        }
    }

    /// Returns true if a tag is the same by the weak comparison.
    fn contains_weakly(&self, tag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::List(tags) => tags
                .iter()
                .any(|one| one.strip_prefix("W/").unwrap_or(one) == tag),
        }
    }
}

/// Conditions under which a change of a dataset is made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Preconditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
    if_unmodified_since: Option<SystemTime>,
}

impl Preconditions {
    /// Reads the headers of a request. A date that cannot be read is ignored, as RFC 9110 requires.
    pub(super) fn read(headers: &HeaderMap) -> Result<Self, ApiError> {
        let date = headers
            .get(header::IF_UNMODIFIED_SINCE)
            .and_then(|value| value.to_str().ok());
        Ok(Self {
            if_match: Tags::read(headers, &header::IF_MATCH)?,
            if_none_match: Tags::read(headers, &header::IF_NONE_MATCH)?,
            if_unmodified_since: date.and_then(|text| httpdate::parse_http_date(text).ok()),
        })
    }

    /// Returns true if a condition names the state that is changed, so that no other change can be overwritten unseen.
    pub(super) fn name_a_state(&self) -> bool {
        matches!(self.if_match, Some(Tags::List(_))) || self.if_unmodified_since.is_some()
    }

    /// Returns true if there is a condition.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Compares the conditions with the state of a dataset, in the order of RFC 9110, 13.2.2.
    ///
    /// # Errors
    /// Status 412 if a condition does not hold.
    pub(super) fn check(
        &self,
        id: &DatasetId,
        state: Option<&DatasetState>,
    ) -> Result<(), ApiError> {
        let failed =
            |reason: String| ApiError::with_status(StatusCode::PRECONDITION_FAILED, reason);
        if let Some(tags) = &self.if_match {
            match state {
                None => return Err(failed(format!("If-Match: there is no dataset {id}"))),
                Some(state) if !tags.contains(&state.tag) => {
                    return Err(failed(format!(
                        "If-Match: {id} was changed meanwhile, its entity tag is {}; read it again, and repeat the change",
                        state.tag
                    )));
                }
                Some(_) => {}
            }
        } else if let Some(since) = self.if_unmodified_since
            && let Some(modified) = state.and_then(|state| state.modified)
            && modified > since
        {
            return Err(failed(format!(
                "If-Unmodified-Since: {id} was changed at {}; read it again, and repeat the change",
                httpdate::fmt_http_date(modified)
            )));
        }
        if let (Some(tags), Some(state)) = (&self.if_none_match, state)
            && tags.contains_weakly(&state.tag)
        {
            return Err(failed(match tags {
                Tags::Any => format!("If-None-Match: there is a dataset {id} already"),
                Tags::List(_) => format!("If-None-Match: {id} has the entity tag {}", state.tag),
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(headers: &[(&'static str, &str)]) -> Result<Preconditions, ApiError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        Preconditions::read(&map)
    }

    #[test]
    fn conditions_are_compared() {
        let id = DatasetId::new("trees").expect("an id");
        let state = DatasetState {
            tag: "\"a1\"".to_owned(),
            modified: system_time("2026-01-02T03:04:05.6Z"),
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
