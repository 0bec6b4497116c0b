//! JSON documents without silent losses: keys that an object has twice are found, and the digits of identifiers and versions are kept.
//!
//! `serde_json` takes the last of two equal keys, and reads `1.10` as `1.1` and integers above 64 bits as rounded numbers
//! (RFC 8259, sections 4 and 6, leaves both to the reader).

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::{self, Formatter};

/// Maximum number of repeated keys that are named.
const MAX_NAMED_KEYS: usize = 10;
/// Maximum number of digits of an integer that `serde_json` keeps.
const MAX_INTEGER_DIGITS: usize = 18;

/// A document, and the keys that one of its objects has more than once.
pub(super) struct JsonDocument {
    pub(super) value: Value,
    repeated_keys: Vec<String>,
}

impl JsonDocument {
    /// Parses a text.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let text = with_all_digits(text);
        let mut repeated_keys = Vec::new();
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let value = ValueSeed {
            repeated_keys: &mut repeated_keys,
        }
        .deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(Self {
            value,
            repeated_keys,
        })
    }

    /// Returns the message for repeated keys; `None` if there are none.
    pub(super) fn problem(&self) -> Option<String> {
        if self.repeated_keys.is_empty() {
            return None;
        }
        let named = self.repeated_keys.len().min(MAX_NAMED_KEYS);
        let mut message = format!(
            "an object has a key twice, and its last value is kept: {}",
            self.repeated_keys[..named].join(", ")
        );
        if self.repeated_keys.len() > named {
            message.push_str(&format!(", and {} more", self.repeated_keys.len() - named));
        }
        Some(message)
    }
}

/// Reads a value, and collects repeated keys.
struct ValueSeed<'k> {
    repeated_keys: &'k mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(ValueSeed {
            repeated_keys: &mut *self.repeated_keys,
        })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(ValueSeed {
                repeated_keys: &mut *self.repeated_keys,
            })?;
            match object.get(&key) {
                // The same value twice is no loss.
                Some(earlier) if *earlier != value => {
                    self.repeated_keys
                        .push(format!("`{key}` ({})", format_value(earlier)));
                }
                _ => {}
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Returns the beginning of a value that is left out.
fn format_value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(other.to_string()),
    };
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("without {}…", &text[..end]),
        None => format!("without {text}"),
    }
}

/// Writes numbers as strings where a number would lose digits that matter: integers above 64 bits, which are identifiers,
/// and fractions that end with zeros in members named as a version.
///
/// Other numbers are quantities, and mean the same with fewer zeros. Items of lists are unchanged.
pub(super) fn with_all_digits(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut written = 0;
    let mut rest = text;
    // Each round reads up to the end of a string; numbers stand between strings.
    while let Some(start) = rest.find('"') {
        let Some(length) = string_length(&rest[start + 1..]) else {
            break;
        };
        let key = &rest[start + 1..][..length];
        rest = &rest[start + length + 2..];
        let Some(member) = rest.trim_start().strip_prefix(':') else {
            continue;
        };
        let number = member.trim_start();
        let digits = number
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .unwrap_or(number.len());
        let number = &number[..digits];
        if loses_digits(key, number) {
            let place = text.len() - member.trim_start().len();
            out.push_str(&text[written..place]);
            out.push('"');
            out.push_str(number);
            out.push('"');
            written = place + digits;
        }
    }
    if written == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[written..]);
    Cow::Owned(out)
}

/// Returns the number of bytes of a string up to its closing quote.
fn string_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut place = 0;
    loop {
        place += bytes[place..]
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\'))?;
        if bytes[place] == b'"' {
            return Some(place);
        }
        place += 2;
        if place > bytes.len() {
            return None;
        }
    }
}

fn loses_digits(key: &str, number: &str) -> bool {
    let is_integer = number
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    if is_integer {
        return number.len() > MAX_INTEGER_DIGITS
            && number.parse::<i64>().is_err()
            && number.parse::<u64>().is_err();
    }
    let is_version = key.to_ascii_lowercase().ends_with("version");
    is_version && number.contains('.') && number.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> JsonDocument {
        JsonDocument::parse(text).expect("JSON")
    }

    #[test]
    fn repeated_keys_are_named_with_the_value_that_is_left_out() {
        let document = parse(r#"{"a": {"title": "One", "title": "Two", "b": 1, "b": 1}}"#);
        assert_eq!(
            document.value,
            serde_json::json!({"a": {"title": "Two", "b": 1}})
        );
        let problem = document.problem().expect("a problem");
        assert!(problem.contains("`title` (without One)"), "{problem}");
        assert!(!problem.contains("`b`"), "{problem}");
        assert_eq!(parse(r#"[{"a": 1}, {"a": 2}]"#).problem(), None);
    }

    #[test]
    fn digits_of_versions_and_identifiers_are_kept() {
        let document = parse(
            r#"{"version": 1.10, "schemaVersion" : 2.0, "id": 123456789012345678901234,
                "size": 1.50, "version_number": 3, "note": "\"version\": 1.10", "list": [7.10],
                "serial": 18446744073709551615}"#,
        );
        let expected = serde_json::json!({
            "version": "1.10", "schemaVersion": "2.0", "id": "123456789012345678901234",
            "size": 1.5, "version_number": 3, "note": "\"version\": 1.10", "list": [7.1],
            "serial": 18446744073709551615_u64,
        });
        assert_eq!(document.value, expected);
    }

    #[test]
    fn broken_documents_are_errors() {
        for text in ["{\"a\": \"", "{\"a\\", "{} {}", "{\"version\": 1.1.0}", ""] {
            assert!(JsonDocument::parse(text).is_err(), "{text}");
        }
    }
}
