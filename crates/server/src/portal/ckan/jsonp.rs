//! `callback`, the parameter of JSONP: the response is a script that calls a function with the result, as in CKAN.
//!
//! *Safety.* The callback is a name, so the response contains no code of the request. It begins with a comment, and is served with
//! `nosniff`, so that it is nothing else than a script. A script of any page can read it. That is so for all responses of a public
//! server, by CORS. A server that only this machine can reach rejects the parameter.

use super::error::ActionError;
use super::parameters::Parameters;
use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// Maximum length of the name of a callback.
const MAX_NAME_BYTES: usize = 100;
const MEDIA_TYPE: &str = "application/javascript; charset=utf-8";

/// Name of a function of JavaScript.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Callback(String);

/// Removes the parameter from those of an action. Only `GET` has a callback: other methods ignore it, as in CKAN.
///
/// # Errors
/// If it is no name of a function, or if the server is local.
pub(super) fn callback(
    parameters: &mut Parameters,
    method: &Method,
    is_local_only: bool,
) -> Result<Option<Callback>, ActionError> {
    let Some(name) = parameters.take("callback")?.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    if *method != Method::GET {
        return Ok(None);
    }
    if is_local_only {
        return Err(ActionError::Script);
    }
    if name.len() > MAX_NAME_BYTES || !name.split('.').all(is_identifier) {
        let message = format!(
            "Must be the name of a function: letters, digits, _, $ and full stops, at most {MAX_NAME_BYTES}"
        );
        return Err(ActionError::Invalid("callback", message));
    }
    Ok(Some(Callback(name)))
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

impl Callback {
    /// Returns the script that calls the function.
    pub(super) fn respond(&self, result: &Value) -> Response {
        let headers = [
            (header::CONTENT_TYPE, MEDIA_TYPE),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        (headers, self.script(result)).into_response()
    }

    fn script(&self, result: &Value) -> String {
        // Line separators end a string in scripts before ECMAScript 2019; `<` could end an element that contains the script.
        let json = result
            .to_string()
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029")
            .replace('<', "\\u003c");
        format!("/**/{}({json});", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(query: &str, method: &Method, is_local: bool) -> Result<Option<String>, ActionError> {
        let mut parameters = Parameters::read(query, "", &[])?;
        let found = callback(&mut parameters, method, is_local)?;
        assert_eq!(parameters.names().collect::<Vec<_>>(), ["q"]);
        Ok(found.map(|found| found.0))
    }

    #[test]
    fn callbacks_are_names_of_functions() {
        for name in ["show", "jQuery1_23", "a.b.$c", "_"] {
            let query = format!("q=x&callback={name}");
            assert_eq!(
                read(&query, &Method::GET, false).expect(name).as_deref(),
                Some(name)
            );
            assert_eq!(read(&query, &Method::POST, false).expect(name), None);
            assert!(matches!(
                read(&query, &Method::GET, true),
                Err(ActionError::Script)
            ));
        }
        assert_eq!(
            read("q=x&callback=", &Method::GET, true).expect("none"),
            None
        );
        let long = "a".repeat(101);
        for name in [
            "alert(1)//",
            "a..b",
            "1a",
            "a b",
            "a-b",
            "<script>",
            "é",
            long.as_str(),
        ] {
            let query: String = form_urlencoded::Serializer::new("q=x".to_owned())
                .append_pair("callback", name)
                .finish();
            let read = read(&query, &Method::GET, false);
            assert!(
                matches!(read, Err(ActionError::Invalid("callback", _))),
                "{name}: {read:?}"
            );
        }
    }

    #[test]
    fn a_result_is_the_argument_of_a_call() {
        let result = json!({ "title": "</script>\u{2028}" });
        let script = Callback("show".to_owned()).script(&result);
        assert_eq!(script, r#"/**/show({"title":"\u003c/script>\u2028"});"#);
    }
}
