//! Addresses in catalogues: IRIs, with characters that IRIs do not allow percent-encoded.

use oxrdf::NamedNode;
use std::fmt::Write;

/// Schemes without `//` whose addresses are IRIs.
const OPAQUE_SCHEMES: [&str; 5] = ["urn:", "mailto:", "tel:", "doi:", "info:"];
/// Schemes with which an address runs a program or is its own content.
const UNSAFE_SCHEMES: [&str; 4] = ["javascript:", "vbscript:", "data:", "blob:"];
/// Maximum number of bytes of an address that is repaired. Longer ones are texts unless they are valid.
const MAX_REPAIRED_BYTES: usize = 8 << 10;

/// Kind of a text in the place of an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Address {
    /// A valid IRI.
    Iri(String),
    /// An address with the scheme `javascript:`, `data:` or similar.
    Unsafe,
    /// Any other text, also an address without a scheme.
    Text,
}

/// Returns the kind of a text.
///
/// Spaces and other forbidden characters in the path, the query or the fragment are percent-encoded, as browsers do it. A
/// text with several addresses is a text: see [`split_addresses`].
pub(super) fn parse_address(text: &str) -> Address {
    let text = trim_address(text);
    if is_unsafe_address(text) {
        return Address::Unsafe;
    }
    if is_bare_scheme(text) {
        return Address::Text;
    }
    let Some(place) = text.find("://").filter(|place| is_scheme(&text[..*place])) else {
        let is_opaque = OPAQUE_SCHEMES.iter().any(|scheme| text.starts_with(scheme))
            && NamedNode::new(text).is_ok();
        return if is_opaque {
            Address::Iri(text.to_owned())
        } else {
            Address::Text
        };
    };
    if NamedNode::new(text).is_ok() {
        return Address::Iri(text.to_owned());
    }
    let rest = &text[place + 3..];
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_end);
    let is_sentence =
        text.len() > MAX_REPAIRED_BYTES || has_sentence(path) || has_scheme_inside(path);
    if host.is_empty()
        || is_sentence
        || host
            .chars()
            .any(|c| c.is_whitespace() || "<>\"{}|\\^`".contains(c))
    {
        return Address::Text;
    }
    let repaired = format!("{}{host}{}", &text[..place + 3], encode_path(path));
    if NamedNode::new(repaired.as_str()).is_ok() {
        Address::Iri(repaired)
    } else {
        Address::Text
    }
}

/// Splits a text that consists of several addresses, separated by white space, commas or semicolons. Any other text is
/// returned as a whole.
pub(super) fn split_addresses(text: &str) -> Vec<&str> {
    let text = trim_address(text);
    let mut pieces: Vec<&str> = Vec::new();
    let mut start = 0;
    for (place, character) in text.char_indices() {
        let rest = &text[place + character.len_utf8()..];
        if (character.is_whitespace() || matches!(character, ',' | ';' | '|'))
            && begins_with_web_scheme(rest)
        {
            pieces.push(&text[start..place]);
            start = place + character.len_utf8();
        }
    }
    pieces.push(&text[start..]);
    if pieces.len() == 1 || !begins_with_web_scheme(text) {
        return vec![text];
    }
    let trimmed = pieces
        .iter()
        .map(|piece| piece.trim_matches(|c: char| c.is_whitespace() || ",;|".contains(c)));
    let trimmed: Vec<&str> = trimmed.filter(|piece| !piece.is_empty()).collect();
    let all = trimmed
        .iter()
        .all(|piece| matches!(parse_address(piece), Address::Iri(_)));
    if all { trimmed } else { vec![text] }
}

/// If true, the text is a scheme and nothing else, with which forms of portals are filled in advance.
pub(super) fn is_bare_scheme(text: &str) -> bool {
    let scheme = text.trim().trim_end_matches('/');
    ["http:", "https:", "ftp:"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

fn trim_address(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'))
}

fn is_scheme(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Returns true if an address runs a program or is its own content. Browsers ignore control characters before and within a scheme.
pub(super) fn is_unsafe_address(text: &str) -> bool {
    let visible = text
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace());
    let start: String = visible.take(12).collect::<String>().to_ascii_lowercase();
    let is_unsafe = UNSAFE_SCHEMES
        .iter()
        .any(|scheme| start.starts_with(scheme));
    // "Data: monthly" is a text.
    is_unsafe
        && text
            .split_once(':')
            .is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with(char::is_whitespace))
}

fn begins_with_web_scheme(text: &str) -> bool {
    ["http://", "https://", "ftp://"].iter().any(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// If true, words follow a complete address.
fn has_sentence(path: &str) -> bool {
    path.contains(['\n', '\r'])
        || path.contains("/ ")
        || path.contains(" (") && path.ends_with(')') && !path.contains('.')
}

fn has_scheme_inside(path: &str) -> bool {
    path.match_indices("://").any(|(place, _)| {
        let before = path[..place].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
        before.ends_with(char::is_whitespace)
    })
}

/// Percent-encodes the characters that a path, a query and a fragment may not contain.
fn encode_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 16);
    let mut in_fragment = false;
    for (place, character) in path.char_indices() {
        let is_allowed = match character {
            '#' => !std::mem::replace(&mut in_fragment, true),
            '%' => {
                let digits = path.as_bytes().get(place + 1..place + 3);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            c if c.is_ascii() => c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/?".contains(c),
            c => is_of_iris(c),
        };
        if is_allowed {
            out.push(character);
            continue;
        }
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// If true, an IRI may contain the character outside of ASCII (RFC 3987, `ucschar`).
fn is_of_iris(character: char) -> bool {
    let code = character as u32;
    match code {
        0xA0..=0xD7FF => !character.is_whitespace() && !is_format(code),
        0xF900..=0xFDCF | 0xFDF0..=0xFFEF => true,
        0x1_0000..=0xE_FFFD => code & 0xFFFE != 0xFFFE && code < 0xE_0000,
        _ => false,
    }
}

/// If true, the character has no width or changes the direction of the text.
fn is_format(code: u32) -> bool {
    matches!(code, 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_become_iris() {
        for (text, expected) in [
            ("http://e.org/a b.csv", "http://e.org/a%20b.csv"),
            ("  https://e.org/ok?x=1#y ", "https://e.org/ok?x=1#y"),
            ("http://e.org/100% sure", "http://e.org/100%25%20sure"),
            ("http://e.org/a%20b c", "http://e.org/a%20b%20c"),
            (
                "http://e.org/{id}|<x>\"^`\\",
                "http://e.org/%7Bid%7D%7C%3Cx%3E%22%5E%60%5C",
            ),
            ("http://e.org/?f[0]=a", "http://e.org/?f%5B0%5D=a"),
            ("http://e.org/a#b#c", "http://e.org/a#b%23c"),
            ("http://e.org/Straße Ä.csv", "http://e.org/Straße%20Ä.csv"),
            ("http://e.org/a\tb", "http://e.org/a%09b"),
            ("HTTP://e.org/a b", "HTTP://e.org/a%20b"),
            ("ftp://e.org/a b", "ftp://e.org/a%20b"),
            (
                "http://proxy.org/?to=http://e.org/a b",
                "http://proxy.org/?to=http://e.org/a%20b",
            ),
            ("urn:uuid:1-2", "urn:uuid:1-2"),
            ("mailto:a@e.org", "mailto:a@e.org"),
        ] {
            assert_eq!(
                parse_address(text),
                Address::Iri(expected.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn other_texts_stay_texts() {
        for text in [
            "www.e.org/a.csv",
            "e.org",
            "/a/b.csv",
            "C:\\data\\a.csv",
            "see http://e.org/",
            "http://e.org/ and more",
            "http://e.org/a http://e.org/b",
            "http://e.org:80 80/",
            "http://",
            "http:// /a",
            "://a",
            "mailto:a b",
            "Data: monthly",
            "",
        ] {
            assert_eq!(parse_address(text), Address::Text, "{text}");
        }
        for text in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\nscript:x",
            "data:text/csv,a%2Cb",
            "vbscript:x",
        ] {
            assert_eq!(parse_address(text), Address::Unsafe, "{text}");
        }
    }

    #[test]
    fn several_addresses_in_a_text() {
        for (text, expected) in [
            (
                "http://e.org/a http://e.org/b",
                vec!["http://e.org/a", "http://e.org/b"],
            ),
            (
                "http://e.org/a, https://e.org/b;http://e.org/c",
                vec!["http://e.org/a", "https://e.org/b", "http://e.org/c"],
            ),
            ("http://e.org/a b.csv", vec!["http://e.org/a b.csv"]),
            ("a http://e.org/b", vec!["a http://e.org/b"]),
            (
                "http://e.org/?u=http://e.org/b",
                vec!["http://e.org/?u=http://e.org/b"],
            ),
        ] {
            assert_eq!(split_addresses(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_iri_is_valid(text in "(https?://e.org/)?[ -~é\u{a0}\u{200b}\u{e000}\n]{0,30}") {
            if let Address::Iri(iri) = parse_address(&text) {
                prop_assert!(NamedNode::new(iri.as_str()).is_ok(), "{iri}");
                prop_assert_eq!(parse_address(&iri), Address::Iri(iri.clone()));
            }
            let _ = split_addresses(&text);
        }
    }
}
