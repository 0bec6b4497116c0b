//! Encoding of requests: addresses in UTF-8, and bodies without compression.
//!
//! Bytes that are no UTF-8 would become U+FFFD, and a search or query would have another meaning than the one that was sent. So such a
//! request is rejected, and not changed. Compressed bodies are rejected with 415 and `Accept-Encoding` (RFC 9110, 8.4 and 12.5.3).

use crate::error::ApiError;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Maximum number of characters of a parameter in a message.
const MAX_NAME_CHARACTERS: usize = 50;

/// Rejects requests whose query string is not UTF-8, or whose body is compressed.
pub(crate) async fn check_request(request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    if let Err(error) = check_utf8(query.as_bytes()) {
        return error.into_response();
    }
    if let Some(encoding) = content_encoding(request.headers()) {
        let message = format!(
            "Content-Encoding {encoding:?} is not supported in requests: send the body without compression"
        );
        let error = ApiError::with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        let mut response = error.into_response();
        response.headers_mut().insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        );
        return response;
    }
    next.run(request).await
}

/// Returns the first encoding of a body that is not `identity`.
fn content_encoding(headers: &HeaderMap) -> Option<String> {
    let encodings = headers.get_all(header::CONTENT_ENCODING).into_iter();
    let names = encodings.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let mut names = names.flat_map(|value| {
        let names = value.split(',').map(|name| name.trim().to_owned());
        names.collect::<Vec<_>>()
    });
    names.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
}

/// Checks that the percent-encoded bytes of a query string or form are UTF-8.
///
/// # Errors
/// 400 with the name of the parameter.
pub(crate) fn check_utf8(encoded: &[u8]) -> Result<(), ApiError> {
    for pair in encoded.split(|byte| *byte == b'&') {
        let decoded = decode_percent(pair);
        if let Err(error) = std::str::from_utf8(&decoded) {
            let name = decoded.split(|byte| *byte == b'=').next().unwrap_or(&[]);
            let name: String = String::from_utf8_lossy(name)
                .chars()
                .take(MAX_NAME_CHARACTERS)
                .collect();
            let byte = decoded
                .get(error.valid_up_to())
                .copied()
                .unwrap_or_default();
            return Err(ApiError::bad_request(format!(
                "the parameter {name:?} is not UTF-8: byte %{byte:02X}; encode text as UTF-8, for example é as %C3%A9"
            )));
        }
    }
    Ok(())
}

/// Decodes percent-encoded bytes. Percent signs without two digits remain.
fn decode_percent(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        match others {
            [high, low, after @ ..] if *first == b'%' => {
                match (hex_digit(*high), hex_digit(*low)) {
                    (Some(high), Some(low)) => {
                        decoded.push(high << 4 | low);
                        rest = after;
                    }
                    _ => decoded.push(*first),
                }
            }
            _ => decoded.push(*first),
        }
    }
    decoded
}

/// Returns the value of a hexadecimal digit.
fn hex_digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_encodings_are_named() {
        for encoded in [
            "",
            "q=caf%C3%A9&x=%",
            "q=%zz%4",
            "q=a%20b+c",
            "q=100%&y",
            "q=é",
        ] {
            assert!(check_utf8(encoded.as_bytes()).is_ok(), "{encoded}");
        }
        for encoded in [
            &b"a=1&q=caf%E9"[..],
            b"q=%C3&x=%A9",
            b"q=%c0%80",
            b"q=caf\xe9",
        ] {
            let error = check_utf8(encoded).expect_err("no UTF-8");
            assert_eq!(error.status, StatusCode::BAD_REQUEST);
            assert!(
                error.message.contains("\"q\" is not UTF-8"),
                "{}",
                error.message
            );
        }
    }

    #[test]
    fn only_the_identity_is_no_compression() {
        for (values, expected) in [
            (vec![], None),
            (vec!["identity"], None),
            (vec!["Identity", ""], None),
            (vec!["gzip"], Some("gzip")),
            (vec!["identity, br"], Some("br")),
            (vec!["identity", "x-y"], Some("x-y")),
        ] {
            let mut headers = HeaderMap::new();
            for value in &values {
                headers.append(header::CONTENT_ENCODING, value.parse().expect("a header"));
            }
            assert_eq!(
                content_encoding(&headers).as_deref(),
                expected,
                "{values:?}"
            );
        }
    }
}
