//! Conditions of changes of a dataset: `If-Match`, `If-None-Match` and `If-Unmodified-Since` (RFC 9110, 13).
//!
//! The entity tag of a dataset changes with its description, its content and its files. Conditions are checked when a change is
//! requested, and again when its job begins: changes that were queued before may have been made.

use lodeseek_catalog::DatasetId;
use lodeseek_store::{Store, StoreError};
use oxsdatatypes::{DateTime, Integer};
use std::time::{Duration, SystemTime};

/// State of a dataset, for conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatasetState {
    /// Entity tag, with quotation marks.
    pub tag: String,
    /// Time of the last change of the description, if recorded.
    pub modified: Option<SystemTime>,
}

impl DatasetState {
    /// Returns the state of a dataset; `None` if there is no such dataset.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(store: &Store, id: &DatasetId) -> Result<Option<Self>, StoreError> {
        let Some(tag) = store.dataset_tag(id)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            tag,
            modified: store.record_time(id)?.as_deref().and_then(system_time),
        }))
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

/// Entity tags of a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntityTags {
    /// `*`: any.
    Any,
    /// One of these, with quotation marks.
    List(Vec<String>),
}

impl EntityTags {
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
pub struct Preconditions {
    /// Entity tags of which the dataset must have one.
    pub if_match: Option<EntityTags>,
    /// Entity tags of which the dataset must have none.
    pub if_none_match: Option<EntityTags>,
    /// Time after which the description must not have been changed.
    pub if_unmodified_since: Option<SystemTime>,
}

impl Preconditions {
    /// Returns true if a condition names the state that is changed, so that no other change can be overwritten unseen.
    pub fn name_a_state(&self) -> bool {
        matches!(self.if_match, Some(EntityTags::List(_))) || self.if_unmodified_since.is_some()
    }

    /// Returns true if there is a condition.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Compares the conditions with the state of a dataset, in the order of RFC 9110, 13.2.2.
    ///
    /// # Errors
    /// The reason if a condition does not hold.
    pub fn check(&self, id: &DatasetId, state: Option<&DatasetState>) -> Result<(), String> {
        if let Some(tags) = &self.if_match {
            match state {
                None => return Err(format!("If-Match: there is no dataset {id}")),
                Some(state) if !tags.contains(&state.tag) => {
                    return Err(format!(
                        "If-Match: {id} was changed meanwhile, its entity tag is {}; read it again, and repeat the change",
                        state.tag
                    ));
                }
                Some(_) => {}
            }
        } else if let Some(since) = self.if_unmodified_since
            && let Some(modified) = state.and_then(|state| state.modified)
            && modified > since
        {
            return Err(format!(
                "If-Unmodified-Since: {id} was changed at {}; read it again, and repeat the change",
                httpdate::fmt_http_date(modified)
            ));
        }
        if let (Some(tags), Some(state)) = (&self.if_none_match, state)
            && tags.contains_weakly(&state.tag)
        {
            return Err(match tags {
                EntityTags::Any => format!("If-None-Match: there is a dataset {id} already"),
                EntityTags::List(_) => {
                    format!("If-None-Match: {id} has the entity tag {}", state.tag)
                }
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_seconds() {
        let time = system_time("2026-01-02T03:04:05.6Z").expect("a time");
        assert_eq!(
            httpdate::fmt_http_date(time),
            "Fri, 02 Jan 2026 03:04:05 GMT"
        );
        assert_eq!(system_time("yesterday"), None);
    }
}
