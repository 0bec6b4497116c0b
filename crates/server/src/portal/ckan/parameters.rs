//! Parameters of an action, from an address, a form or a JSON object.

use super::error::ActionError;
use crate::request_encoding::check_utf8;
use serde_json::{Map, Value};

/// Maximum number of elements of a list.
const MAX_ELEMENTS: usize = 100;
/// Maximum number that is exact as a double.
const MAX_EXACT_NUMBER: f64 = 9_007_199_254_740_992.0;

/// Parameters by name. A repeated parameter of an address or form is a list.
#[derive(Debug, Default)]
pub(super) struct Parameters(Map<String, Value>);

impl Parameters {
    /// Reads the parameters of a request: from the body if there is one, or else from the address.
    pub(super) fn read(query: &str, media_type: &str, body: &[u8]) -> Result<Self, ActionError> {
        if body.is_empty() {
            return Ok(Self::form(query.as_bytes()));
        }
        check_utf8(body).map_err(|error| ActionError::Encoding(error.message))?;
        // `curl --data '{…}'` sends JSON with the media type of a form.
        if media_type.contains("json") || body.trim_ascii_start().starts_with(b"{") {
            return Self::json(body);
        }
        let form = Self::form(body);
        match form.0.iter().next() {
            // Some clients encode JSON as a form.
            Some((json, Value::String(value)))
                if form.0.len() == 1 && json.starts_with('{') && value.is_empty() =>
            {
                Self::json(json.as_bytes())
            }
            _ => Ok(form),
        }
    }

    fn json(text: &[u8]) -> Result<Self, ActionError> {
        serde_json::from_slice(text)
            .map(Self)
            .map_err(|error| ActionError::Body(error.to_string()))
    }

    fn form(encoded: &[u8]) -> Self {
        let mut parameters = Map::new();
        for (name, value) in form_urlencoded::parse(encoded).into_owned() {
            let value = Value::String(value);
            match parameters.get_mut(&name) {
                Some(Value::Array(values)) => values.push(value),
                Some(first) => *first = Value::Array(vec![first.take(), value]),
                None => drop(parameters.insert(name, value)),
            }
        }
        Self(parameters)
    }

    /// Removes a parameter of the response's form, and returns its text.
    pub(super) fn take(&mut self, name: &'static str) -> Result<Option<String>, ActionError> {
        let text = self.text(name)?;
        self.0.remove(name);
        Ok(text)
    }

    /// Returns the names of the parameters that have a value.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(|(_, value)| has_value(value))
            .map(|(name, _)| name.as_str())
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a text. Numbers and booleans are converted.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>, ActionError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(_) => Err(ActionError::Invalid(
                name,
                "Must be a single text".to_owned(),
            )),
        }
    }

    /// Returns a text; `None` if it is blank.
    pub(super) fn non_blank_text(&self, name: &'static str) -> Result<Option<String>, ActionError> {
        let text = self.text(name)?;
        Ok(text.filter(|text| !text.trim().is_empty()))
    }

    /// Returns a required text that is not empty.
    pub(super) fn required_text(&self, name: &'static str) -> Result<String, ActionError> {
        self.text(name)?
            .filter(|text| !text.is_empty())
            .ok_or_else(|| ActionError::missing(name))
    }

    /// Returns a list of at most [`MAX_ELEMENTS`] texts. A text is parsed as JSON, or split at `separators`.
    pub(super) fn list(
        &self,
        name: &'static str,
        separators: &[char],
    ) -> Result<Vec<String>, ActionError> {
        let list: Vec<String> = match self.get(name) {
            None => Vec::new(),
            Some(Value::String(text)) if text.trim_start().starts_with('[') => {
                match serde_json::from_str(text) {
                    Ok(list) => list,
                    // A filter may be a range.
                    Err(_) if name == "fq_list" => vec![text.clone()],
                    Err(_) => return Err(invalid_list(name)),
                }
            }
            Some(Value::String(text)) if separators.is_empty() => vec![text.clone()],
            Some(Value::String(text)) => text
                .split(separators)
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect(),
            Some(Value::Array(values)) => values
                .iter()
                .map(|value| value.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(|| invalid_list(name))?,
            Some(_) => return Err(invalid_list(name)),
        };
        if list.len() > MAX_ELEMENTS {
            return Err(ActionError::Invalid(
                name,
                format!("Must have at most {MAX_ELEMENTS} elements"),
            ));
        }
        Ok(list)
    }

    /// Returns an integer.
    fn integer(&self, name: &'static str) -> Result<Option<i64>, ActionError> {
        // Clients without integers write `1.0`.
        if let Some(number) = self.get(name).and_then(Value::as_f64)
            && number.fract() == 0.0
            && number.abs() <= MAX_EXACT_NUMBER
        {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
            return Ok(Some(number as i64));
        }
        self.text(name)?
            .filter(|text| !text.is_empty())
            .map(|text| text.trim().parse().map_err(|_| invalid_number(name)))
            .transpose()
    }

    /// Returns a non-negative integer.
    pub(super) fn natural(&self, name: &'static str) -> Result<Option<usize>, ActionError> {
        self.integer(name)?
            .map(|number| usize::try_from(number).map_err(|_| invalid_number(name)))
            .transpose()
    }

    /// Returns a non-negative integer. Negative values mean no limit.
    pub(super) fn limit(&self, name: &'static str) -> Result<Option<usize>, ActionError> {
        Ok(self
            .integer(name)?
            .map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    /// Returns a boolean.
    pub(super) fn flag(&self, name: &'static str, default: Default) -> Result<bool, ActionError> {
        let text = self.text(name)?.map(|text| text.to_ascii_lowercase());
        Ok(match text.as_deref() {
            None | Some("") => matches!(default, Default::Yes),
            Some(text) => matches!(text, "true" | "yes" | "t" | "y" | "1" | "on"),
        })
    }
}

/// Default of a boolean.
#[derive(Clone, Copy)]
pub(super) enum Default {
    Yes,
    No,
}

/// If true, a value is neither null nor an empty object.
fn has_value(value: &Value) -> bool {
    !value.is_null() && value.as_object().is_none_or(|object| !object.is_empty())
}

fn invalid_list(name: &'static str) -> ActionError {
    ActionError::Invalid(name, "Not a list".to_owned())
}

fn invalid_number(name: &'static str) -> ActionError {
    ActionError::Invalid(name, "Must be a natural number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_written_as_doubles() {
        for (body, expected) in [
            (r#"{"rows": 1.0}"#, Some(1)),
            (r#"{"rows": 7}"#, Some(7)),
            (r#"{"rows": "3"}"#, Some(3)),
            (r#"{"rows": ""}"#, None),
            (r#"{"rows": null}"#, None),
        ] {
            let parameters = read("", "application/json", body);
            assert_eq!(parameters.natural("rows").expect(body), expected, "{body}");
        }
        for body in [
            r#"{"rows": 1.5}"#,
            r#"{"rows": -1.0}"#,
            r#"{"rows": 1e300}"#,
            r#"{"rows": "1.0x"}"#,
        ] {
            let parameters = read("", "application/json", body);
            assert!(parameters.natural("rows").is_err(), "{body}");
        }
        let latin1 = Parameters::read("", "application/x-www-form-urlencoded", b"q=caf%E9");
        assert!(
            matches!(latin1, Err(ActionError::Encoding(_))),
            "{latin1:?}"
        );
    }

    fn read(query: &str, media_type: &str, body: &str) -> Parameters {
        Parameters::read(query, media_type, body.as_bytes()).expect("parameters")
    }

    #[test]
    fn every_way_to_send_them_is_read_alike() {
        let form = "application/x-www-form-urlencoded";
        for parameters in [
            read("q=a+b&fq_list=x&fq_list=y&rows=3", "", ""),
            read("", form, "q=a+b&fq_list=x&fq_list=y&rows=3"),
            read(
                "",
                "application/json",
                r#"{"q": "a b", "fq_list": ["x", "y"], "rows": 3, "start": null}"#,
            ),
            read(
                "",
                form,
                r#"{"q": "a b", "fq_list": ["x", "y"], "rows": "3"}"#,
            ),
            read("q=a+b&fq_list=%5B%22x%22%2C+%22y%22%5D&rows=3", "", ""),
            read(
                "",
                form,
                "%7B%22q%22%3A%22a+b%22%2C%22fq_list%22%3A%5B%22x%22%2C%22y%22%5D%2C%22rows%22%3A3%7D=",
            ),
        ] {
            assert_eq!(parameters.text("q").ok(), Some(Some("a b".to_owned())));
            assert_eq!(
                parameters.list("fq_list", &[]).ok(),
                Some(vec!["x".to_owned(), "y".to_owned()])
            );
            assert_eq!(parameters.natural("rows").ok(), Some(Some(3)));
            assert_eq!(parameters.natural("start").ok(), Some(None));
        }
    }

    #[test]
    fn what_cannot_be_used_is_told_by_name() {
        let parameters = read("rows=-1&start=x&facet.field=%5B1&id=&sort=a&sort=b", "", "");
        let message =
            |error: Option<ActionError>| error.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            message(parameters.natural("rows").err()),
            "rows: Must be a natural number"
        );
        assert_eq!(
            message(parameters.natural("start").err()),
            "start: Must be a natural number"
        );
        assert_eq!(
            message(parameters.list("facet.field", &[]).err()),
            "facet.field: Not a list"
        );
        assert_eq!(
            message(parameters.required_text("id").err()),
            "id: Missing value"
        );
        assert_eq!(
            message(parameters.text("sort").err()),
            "sort: Must be a single text"
        );
        assert!(matches!(
            Parameters::read("", "application/json", b"[1]"),
            Err(ActionError::Body(_))
        ));
        let many =
            Parameters::read(&"fl=id&".repeat(MAX_ELEMENTS + 1), "", b"").expect("parameters");
        assert_eq!(
            message(many.list("fl", &[]).err()),
            "fl: Must have at most 100 elements"
        );
    }
}
