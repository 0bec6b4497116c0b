//! Arguments of tools as models write them: a number as `1.0` or `"1"`, one text where a list is expected.

use crate::text::shorten;
use serde_json::{Map, Number, Value};

/// Maximum number of characters of a value that an error quotes.
const MAX_QUOTED_CHARS: usize = 80;

/// Converts arguments to the types of a tool's schema. `null` is an omitted argument.
///
/// # Errors
/// The message for the model, with the name of the first argument that has another type.
pub(super) fn convert(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
) -> Result<Value, String> {
    let properties = schema.get("properties").unwrap_or(&Value::Null);
    let mut converted = Map::new();
    for (name, value) in arguments {
        let property = &properties[&name];
        if value.is_null() && property["type"].is_string() {
            continue;
        }
        let value = convert_value(property, &value).map_err(|expected| {
            let found = shorten(&value.to_string(), MAX_QUOTED_CHARS);
            format!("{name}: expected {expected}, found {found}")
        })?;
        converted.insert(name, value);
    }
    Ok(converted.into())
}

/// Converts a value to the type of a property. The error is a description of the expected values.
fn convert_value(property: &Value, value: &Value) -> Result<Value, String> {
    Ok(match property["type"].as_str() {
        Some("integer") => {
            let number = to_integer(value).ok_or("an integer")?;
            check_range(property, &number)?;
            number.into()
        }
        Some("string") => to_text(value).ok_or("a text")?.into(),
        Some("array") => to_list(value).ok_or("a list of texts")?.into(),
        // The reader of the arguments rejects unknown and missing names.
        _ => value.clone(),
    })
}

/// Checks that an integer is in the range of its type. The error is a description of the range.
fn check_range(property: &Value, number: &Number) -> Result<(), String> {
    let number = number.as_f64().unwrap_or(f64::INFINITY);
    let is_32_bits = property["format"] == "int32";
    let minimum = property["minimum"]
        .as_f64()
        .or(is_32_bits.then(|| i32::MIN.into()));
    let maximum = property["maximum"]
        .as_f64()
        .or(is_32_bits.then(|| i32::MAX.into()));
    let is_below = minimum.is_some_and(|minimum| number < minimum);
    let is_above = maximum.is_some_and(|maximum| number > maximum);
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) if is_below || is_above => {
            Err(format!("an integer from {minimum} to {maximum}"))
        }
        (Some(minimum), None) if is_below => Err(format!("an integer of at least {minimum}")),
        (None, Some(maximum)) if is_above => Err(format!("an integer of at most {maximum}")),
        _ => Ok(()),
    }
}

fn to_integer(value: &Value) -> Option<Number> {
    let text = match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => return Some(number.clone()),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let number: f64 = text.parse().ok()?;
    // Larger numbers are not exact as doubles.
    let is_whole = number.fract() == 0.0 && number.abs() <= 2_f64.powi(53);
    is_whole.then(|| Number::from(number as i64))
}

fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a list of texts. A text is a list of one, unless it is a list as JSON.
fn to_list(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(values) => values.iter().map(to_text).collect(),
        Value::String(one) => match serde_json::from_str::<Vec<String>>(one) {
            Ok(values) => Some(values),
            Err(_) if one.trim().is_empty() => Some(Vec::new()),
            Err(_) => Some(vec![one.clone()]),
        },
        other => to_text(other).map(|one| vec![one]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn converted(arguments: Value) -> Result<Value, String> {
        let schema = json!({
            "properties": {
                "text": { "type": "string" }, "count": { "type": "integer" }, "list": { "type": "array" },
                "limit": { "type": "integer", "format": "uint", "minimum": 0 },
                "year": { "type": "integer", "format": "int32" },
                "rows": { "type": "integer", "minimum": 1, "maximum": 100 }
            },
            "required": ["text"]
        });
        match (schema, arguments) {
            (Value::Object(schema), Value::Object(arguments)) => convert(&schema, arguments),
            _ => Err("no objects".to_owned()),
        }
    }

    #[test]
    fn arguments_have_the_types_of_the_schema() {
        for (arguments, expected) in [
            (
                json!({ "text": "a", "count": 3.0 }),
                json!({ "text": "a", "count": 3 }),
            ),
            (
                json!({ "text": 2020, "count": " 7 " }),
                json!({ "text": "2020", "count": 7 }),
            ),
            (
                json!({ "text": "a", "count": null, "list": "one" }),
                json!({ "text": "a", "list": ["one"] }),
            ),
            (
                json!({ "text": "a", "list": "[\"b\", \"c\"]" }),
                json!({ "text": "a", "list": ["b", "c"] }),
            ),
            (
                json!({ "text": "a", "list": [1, "x"] }),
                json!({ "text": "a", "list": ["1", "x"] }),
            ),
            (
                json!({ "text": "a", "list": "" }),
                json!({ "text": "a", "list": [] }),
            ),
            (
                json!({ "text": "a", "other": [1] }),
                json!({ "text": "a", "other": [1] }),
            ),
        ] {
            assert_eq!(converted(arguments.clone()), Ok(expected), "{arguments}");
        }
    }

    #[test]
    fn errors_name_the_argument() {
        for (arguments, message) in [
            (
                json!({ "text": "a", "count": 1.5 }),
                "count: expected an integer, found 1.5",
            ),
            (
                json!({ "text": "a", "count": "many" }),
                "count: expected an integer, found \"many\"",
            ),
            (
                json!({ "text": "a", "limit": -1 }),
                "limit: expected an integer of at least 0, found -1",
            ),
            (
                json!({ "text": "a", "year": 99_999_999_999_i64 }),
                "year: expected an integer from -2147483648 to 2147483647, found 99999999999",
            ),
            (
                json!({ "text": "a", "rows": 0 }),
                "rows: expected an integer from 1 to 100, found 0",
            ),
            (
                json!({ "text": "a", "rows": 101.0 }),
                "rows: expected an integer from 1 to 100, found 101.0",
            ),
            (
                json!({ "text": ["a"] }),
                "text: expected a text, found [\"a\"]",
            ),
            (
                json!({ "text": "a", "list": { "x": 1 } }),
                "list: expected a list of texts, found {\"x\":1}",
            ),
            (
                json!({ "text": "a", "list": [["x"]] }),
                "list: expected a list of texts, found [[\"x\"]]",
            ),
        ] {
            assert_eq!(
                converted(arguments.clone()),
                Err(message.to_owned()),
                "{arguments}"
            );
        }
    }
}
