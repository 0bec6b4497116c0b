//! Strict reading of JSON settings: unsupported keys and values are rejected by name.

use super::MAX_TOKENS;
use crate::encoder::ModelError;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Settings of one file.
pub(in super::super) struct Settings {
    path: PathBuf,
    values: Map<String, Value>,
}

impl Settings {
    pub(in super::super) fn read(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read_to_string(path).map_err(|cause| ModelError::file(path, cause))?;
        let values = serde_json::from_str(&text).map_err(|cause| ModelError::file(path, cause))?;
        Ok(Self {
            path: path.to_owned(),
            values,
        })
    }

    /// Reads the settings of a file; empty settings if there is no file.
    pub(in super::super) fn read_optional(path: &Path) -> Result<Self, ModelError> {
        if path.exists() {
            Self::read(path)
        } else {
            Ok(Self {
                path: path.to_owned(),
                values: Map::new(),
            })
        }
    }

    /// Returns nested settings.
    pub(in super::super) fn section(&self, key: &str) -> Result<Option<Self>, ModelError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(values)) => Ok(Some(Self {
                path: self.path.join(key),
                values: values.clone(),
            })),
            Some(_) => Err(self.refusal(key, "an object is expected")),
        }
    }

    /// Returns the value of a key; `None` for null.
    pub(in super::super) fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key).filter(|value| !value.is_null())
    }

    /// Returns true if the key exists, even with the value null.
    pub(in super::super) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub(in super::super) fn flag(&self, key: &str) -> Result<Option<bool>, ModelError> {
        self.read_value(key, Value::as_bool, "true or false is expected")
    }

    pub(in super::super) fn text(&self, key: &str) -> Result<Option<&str>, ModelError> {
        self.read_value(key, Value::as_str, "a text is expected")
    }

    pub(in super::super) fn number(&self, key: &str) -> Result<Option<usize>, ModelError> {
        self.read_value(
            key,
            |value| value.as_u64().and_then(|number| number.try_into().ok()),
            "a whole number is expected",
        )
    }

    /// Returns a number of tokens.
    pub(in super::super) fn length(&self, key: &str) -> Result<Option<usize>, ModelError> {
        match self.number(key)? {
            Some(length) if length > MAX_TOKENS => {
                Err(self.refusal(key, &format!("at most {MAX_TOKENS} pieces are possible")))
            }
            length => Ok(length),
        }
    }

    pub(in super::super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>, ModelError> {
        self.read_value(
            key,
            |value| {
                value
                    .as_array()?
                    .iter()
                    .map(|value| value.as_str().map(str::to_owned))
                    .collect()
            },
            "a list of texts is expected",
        )
    }

    fn read_value<'s, T>(
        &'s self,
        key: &str,
        read: impl Fn(&'s Value) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, ModelError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        read(value)
            .map(Some)
            .ok_or_else(|| self.refusal(key, expected))
    }

    /// Returns a required number of tokens.
    pub(in super::super) fn required_length(&self, key: &str) -> Result<usize, ModelError> {
        self.length(key)?
            .ok_or_else(|| self.refusal(key, "it is missing, and no length can be guessed"))
    }

    /// Rejects every key outside `known`.
    pub(in super::super) fn reject_others(&self, known: &[&str]) -> Result<(), ModelError> {
        match self
            .values
            .keys()
            .find(|key| !known.contains(&key.as_str()))
        {
            Some(key) => Err(self.refusal(
                key,
                "this setting is not known here, and what it changes would be lost",
            )),
            None => Ok(()),
        }
    }

    /// Rejects a key with another value, unless it is missing or null.
    pub(in super::super) fn expect_value(
        &self,
        key: &str,
        value: &Value,
    ) -> Result<(), ModelError> {
        match self.get(key) {
            Some(found) if found != value => {
                Err(self.refusal(key, &format!("only {value} is possible here")))
            }
            _ => Ok(()),
        }
    }

    pub(in super::super) fn refusal(&self, key: &str, reason: &str) -> ModelError {
        let value = match self.values.get(key) {
            Some(value) => value.to_string(),
            None => "(nothing)".to_owned(),
        };
        ModelError::Setting {
            path: self.path.clone(),
            key: key.to_owned(),
            value,
            reason: reason.to_owned(),
        }
    }
}
