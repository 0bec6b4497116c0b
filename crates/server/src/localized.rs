//! Values of the configuration that are the same in all languages, or one by language.

use crate::locale::Locale;
use oxrdf::Literal;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A value for all languages, or one by language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Localized<T>(Values<T>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Values<T> {
    Single(T),
    /// By language tag, in lower case. The first one is the default.
    ByLanguage(Vec<(String, T)>),
}

/// Error of values by language.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalizedError {
    /// A key is no language tag.
    #[error("{0:?} is not a language tag; write for example {{ en = …, de = … }}")]
    Tag(String),
    /// There is no value.
    #[error("the table has no language; write for example {{ en = …, de = … }}")]
    Empty,
}

impl<T> Localized<T> {
    /// Creates a value from those of the languages. The default is the English one, else the one whose tag is the first in the
    /// alphabet.
    ///
    /// # Errors
    /// If a key is no language tag, or there is no value.
    pub fn by_language(values: BTreeMap<String, T>) -> Result<Self, LocalizedError> {
        let mut by_language = Vec::new();
        for (tag, value) in values {
            let literal = Literal::new_language_tagged_literal("", &tag)
                .map_err(|_| LocalizedError::Tag(tag))?;
            by_language.push((literal.language().unwrap_or_default().to_owned(), value));
        }
        if by_language.is_empty() {
            return Err(LocalizedError::Empty);
        }
        by_language
            .sort_by_key(|(tag, _)| (primary_subtag(tag) != Locale::default().tag(), tag.clone()));
        Ok(Self(Values::ByLanguage(by_language)))
    }

    /// Returns the default value: for formats without a language.
    pub fn default_value(&self) -> &T {
        match &self.0 {
            Values::Single(value) => value,
            Values::ByLanguage(values) => &values[0].1,
        }
    }

    /// Returns the value of the first language that has one, or else the default. Languages are primary subtags.
    pub(crate) fn value<S: AsRef<str>>(&self, languages: impl IntoIterator<Item = S>) -> &T {
        if let Values::ByLanguage(values) = &self.0 {
            for language in languages {
                if let Some((_, value)) = values
                    .iter()
                    .find(|(tag, _)| primary_subtag(tag) == language.as_ref())
                {
                    return value;
                }
            }
        }
        self.default_value()
    }
}

impl<T: AsRef<str>> Localized<T> {
    /// Returns the text as literals: one without a language tag, or one by language.
    pub(crate) fn literals(&self) -> Vec<Literal> {
        match &self.0 {
            Values::Single(text) => vec![Literal::from(text.as_ref())],
            Values::ByLanguage(texts) => texts
                .iter()
                .map(|(tag, text)| {
                    Literal::new_language_tagged_literal_unchecked(text.as_ref(), tag)
                })
                .collect(),
        }
    }
}

impl<T> From<T> for Localized<T> {
    fn from(value: T) -> Self {
        Self(Values::Single(value))
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Localized<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        if !value.is_object() {
            return Ok(T::deserialize(value).map_err(de::Error::custom)?.into());
        }
        let values = BTreeMap::deserialize(value).map_err(de::Error::custom)?;
        Self::by_language(values).map_err(de::Error::custom)
    }
}

/// Returns the first subtag of a language tag.
pub(crate) fn primary_subtag(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Localized<String>, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_available_language_is_chosen_then_the_default() {
        let title = parse(r#"{"fr": "Arbres", "DE-AT": "Bäume", "en": "Trees"}"#).expect("texts");
        assert_eq!(title.value(["de", "en"]), "Bäume");
        assert_eq!(title.value(["it", "fr", "en"]), "Arbres");
        assert_eq!(title.value(["it"]), "Trees");
        assert_eq!(title.default_value(), "Trees");
        let tagged = title.literals();
        assert_eq!(tagged.len(), 3);
        assert!(tagged.iter().all(|literal| literal.language().is_some()));

        let without_english = parse(r#"{"it": "Alberi", "fr": "Arbres"}"#).expect("texts");
        assert_eq!(without_english.value(["de"]), "Arbres");

        let single = parse(r#""Trees""#).expect("a text");
        assert_eq!(single.value(["de"]), "Trees");
        assert_eq!(single.literals(), [Literal::from("Trees")]);
    }

    #[test]
    fn wrong_values_are_reported() {
        for (json, reason) in [
            (r#"{"german language": "Bäume"}"#, "is not a language tag"),
            ("{}", "the table has no language"),
            (r#"{"de": 3}"#, "expected a string"),
            ("3", "expected a string"),
        ] {
            let error = parse(json).expect_err("an error");
            assert!(error.contains(reason), "{json}: {error}");
        }
    }
}
