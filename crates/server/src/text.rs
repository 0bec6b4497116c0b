//! Texts and addresses that several modules write.

use lodeseek_catalog::DatasetId;

/// Returns the path of a dataset's page, percent-encoded.
pub(crate) fn href(id: &DatasetId) -> String {
    format!("/dataset/{}", segment(id.as_str()))
}

/// Returns a text as a segment of a path, percent-encoded.
pub(crate) fn segment(text: &str) -> String {
    let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}

/// Returns the first `length` characters of a text, with an ellipsis if it is longer.
pub(crate) fn shorten(text: &str, length: usize) -> String {
    let mut short: String = text.chars().take(length).collect();
    if text.chars().nth(length).is_some() {
        short.push('…');
    }
    short
}

/// If true, the text is an `http` or `https` address. Only such addresses become links: no `javascript:`, no `file:`.
pub(crate) fn is_web(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Returns true if an IRI is that of a document with a fragment.
pub(crate) fn is_fragment_of(iri: &str, document: &str) -> bool {
    iri.strip_prefix(document)
        .is_some_and(|part| part.starts_with('#'))
}

/// Returns the address of the page with the results of a SPARQL query.
pub(crate) fn query_address(query: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters
        .append_pair("query", query)
        .append_pair("format", "html");
    format!("/sparql?{}", parameters.finish())
}

/// Converts an IRI to a URI: percent-encodes all bytes that are not ASCII, and the characters that delimit URIs.
pub(crate) fn uri(iri: &str) -> String {
    let mut out = String::with_capacity(iri.len());
    for byte in iri.bytes() {
        if byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_percent_encoded() {
        assert_eq!(
            uri("http://e.org/é?a=<b>&c=\"d\" e"),
            "http://e.org/%C3%A9?a=%3Cb%3E&c=%22d%22%20e"
        );
    }
}
