//! Repair of invalid IRIs and language tags, so that the statement or text around them is kept.
//!
//! Catalogues contain IRIs with spaces, braces and line breaks, and tags such as `en_GB`. Forbidden characters of an IRI are
//! percent-encoded, as browsers do. A language tag is corrected if there is one correction only, and left out otherwise. Every
//! repair has a message for the report.

use super::shorten;
use super::turtle::element_end;
use oxiri::IriRef;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use std::borrow::Cow;
use std::fmt::Write;

/// Part of an IRI. Each allows other characters.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Authority,
    Path,
    Query,
    Fragment,
}

/// Returns a valid IRI reference for an invalid one. `None` if it is empty or too broken.
///
/// White space and angle brackets around it are removed, and line breaks with the white space around them. All other characters
/// that are not allowed are percent-encoded.
///
/// ```
/// use lodeseek_rdf::repair_iri;
/// assert_eq!(repair_iri("http://e.org/a b{1}.csv ").as_deref(), Some("http://e.org/a%20b%7B1%7D.csv"));
/// assert_eq!(repair_iri("http://e.org/100%").as_deref(), Some("http://e.org/100%25"));
/// assert_eq!(repair_iri("\n"), None);
/// ```
#[must_use]
pub fn repair_iri(iri: &str) -> Option<String> {
    let mut text = trim(iri);
    if let Some(inner) = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
    {
        text = trim(inner);
    }
    if text.is_empty() {
        return None;
    }
    let joined = join_lines(text);
    let encoded = encode(&joined);
    IriRef::parse(encoded.as_str()).is_ok().then_some(encoded)
}

fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || character.is_control() || character == '\u{FEFF}'
    })
}

/// Removes line breaks and tabs, with the white space around them.
fn join_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(is_break) {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    for (index, line) in text.split(is_break).enumerate() {
        if index > 0 {
            joined.truncate(joined.trim_end().len());
        }
        joined.push_str(if index > 0 { line.trim_start() } else { line });
    }
    Cow::Owned(joined)
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\t')
}

/// Percent-encodes the characters that are not allowed where they are.
fn encode(iri: &str) -> String {
    let mut out = String::with_capacity(iri.len() + 16);
    let scheme = scheme_length(iri);
    out.push_str(&iri[..scheme]);
    let mut rest = &iri[scheme..];
    if let Some(after) = rest.strip_prefix("//") {
        let end = after.find(['/', '?', '#', '\\']).unwrap_or(after.len());
        out.push_str("//");
        encode_authority(&after[..end], &mut out);
        rest = &after[end..];
        // A path needs a slash after the authority.
        if let Some(path) = rest.strip_prefix('\\') {
            out.push('/');
            rest = path;
        }
    }
    let mut part = Part::Path;
    // A colon in the first segment of a relative path would end a scheme.
    let mut is_first_segment = scheme == 0 && rest.len() == iri.len();
    let mut characters = rest.char_indices();
    while let Some((place, character)) = characters.next() {
        match (part, character) {
            (Part::Path, '?') => part = Part::Query,
            (Part::Path | Part::Query, '#') => part = Part::Fragment,
            (Part::Path, '/') => is_first_segment = false,
            (Part::Path, ':') if is_first_segment => {
                percent_encode(character, &mut out);
                continue;
            }
            (_, '%') if has_hex_digits(&rest[place + 1..]) => {
                out.push_str(&rest[place..place + 3]);
                characters.nth(1);
                continue;
            }
            _ if is_allowed(character, part) => {}
            _ => {
                percent_encode(character, &mut out);
                continue;
            }
        }
        out.push(character);
    }
    out
}

/// Returns the length of the scheme of an IRI with its colon; 0 for a relative reference.
fn scheme_length(iri: &str) -> usize {
    let Some(colon) = iri.find(':') else { return 0 };
    let mut bytes = iri[..colon].bytes();
    // RFC 3986, section 3.1.
    let is_scheme = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if is_scheme { colon + 1 } else { 0 }
}

/// Encodes `user@host:port`. Only an address in brackets keeps them, and only the colon before a number is that of a port.
fn encode_authority(authority: &str, out: &mut String) {
    let host = match authority.rfind('@') {
        Some(place) => place + 1,
        None => 0,
    };
    let port = authority[host..].rfind(':').map(|place| host + place);
    let port = port.filter(|&place| {
        authority[place + 1..]
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    });
    let address = &authority[host..port.unwrap_or(authority.len())];
    let in_brackets = address.starts_with('[')
        && address.ends_with(']')
        && IriRef::parse(format!("//{address}").as_str()).is_ok();
    for (place, character) in authority.char_indices() {
        let is_kept = match character {
            // The last `@` ends the user; others need encoding.
            '@' => place + 1 == host,
            ':' if place < host => true,
            ':' => in_brackets || port == Some(place),
            '[' | ']' => in_brackets && place >= host,
            '%' => has_hex_digits(&authority[place + 1..]),
            _ => is_allowed(character, Part::Authority),
        };
        if is_kept {
            out.push(character);
        } else {
            percent_encode(character, out);
        }
    }
}

fn has_hex_digits(text: &str) -> bool {
    text.as_bytes()
        .get(..2)
        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Returns true if a character other than a delimiter of parts is allowed in a part of an IRI (RFC 3987, 2.2).
fn is_allowed(character: char, part: Part) -> bool {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => true,
        '-' | '.' | '_' | '~' | '!' | '$' | '&' | '\'' | '(' | ')' | '*' | '+' | ',' | ';'
        | '=' => true,
        ':' | '@' => part != Part::Authority,
        '/' | '?' => matches!(part, Part::Query | Part::Fragment),
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}' => {
            part == Part::Query && !is_noncharacter(character)
        }
        '\u{FDD0}'..='\u{FDEF}' | '\u{FFF0}'..='\u{FFFF}' | '\u{E0000}'..='\u{E0FFF}' => false,
        '\u{A0}'.. => !is_noncharacter(character),
        _ => false,
    }
}

fn is_noncharacter(character: char) -> bool {
    // The last two code points of each plane.
    u32::from(character) & 0xFFFE == 0xFFFE
}

/// Adds the bytes of a character in percent-encoding (RFC 3986, section 2.1).
pub fn percent_encode(character: char, out: &mut String) {
    let mut bytes = [0; 4];
    for byte in character.encode_utf8(&mut bytes).bytes() {
        // Writing to a string cannot fail.
        let _ = write!(out, "%{byte:02X}");
    }
}

/// Returns the message of a repaired IRI.
pub(super) fn iri_message(invalid: &str, repaired: &str) -> String {
    format!(
        "the IRI <{}> is not valid and was read as <{}>",
        shorten(invalid),
        shorten(repaired)
    )
}

/// Returns the message of a language tag that was corrected or left out.
pub(super) fn tag_message(invalid: &str, corrected: Option<&str>) -> String {
    let invalid = shorten(invalid);
    match corrected {
        Some(corrected) => {
            format!("the language tag {invalid:?} is not well-formed and was read as {corrected:?}")
        }
        None => format!(
            "the language tag {invalid:?} is not well-formed; its text was read without a language"
        ),
    }
}

/// Returns true if a language tag is well-formed.
pub(super) fn is_language_tag(tag: &str) -> bool {
    Literal::new_language_tagged_literal("", tag).is_ok()
}

/// Returns the well-formed tag that a malformed one stands for: `en_GB`, `de-DE@euro` and `fr_FR.UTF-8` are names of locales. `None`
/// if there is none.
///
/// ```
/// use lodeseek_rdf::correct_language_tag;
/// assert_eq!(correct_language_tag("en_GB").as_deref(), Some("en-gb"));
/// assert_eq!(correct_language_tag(" de- ").as_deref(), Some("de"));
/// assert_eq!(correct_language_tag("français"), None);
/// ```
#[must_use]
pub fn correct_language_tag(tag: &str) -> Option<String> {
    // In RDF 1.2, a base direction follows.
    let tag = trim(tag).split("--").next().unwrap_or_default();
    let locale = tag.split(['.', '@']).next().unwrap_or_default();
    let corrected = locale.trim().replace('_', "-").to_ascii_lowercase();
    let corrected = corrected.trim_matches('-');
    is_language_tag(corrected).then(|| corrected.to_owned())
}

/// Returns a triple with valid IRIs and language tags, and adds a message for each repair.
///
/// # Errors
/// The message of an IRI that cannot be repaired.
pub(super) fn repair_triple(triple: &Triple, messages: &mut Vec<String>) -> Result<Triple, String> {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => repair_node(node, messages)?.into(),
        NamedOrBlankNode::BlankNode(node) => node.clone().into(),
    };
    let object = match &triple.object {
        Term::NamedNode(node) => repair_node(node, messages)?.into(),
        Term::BlankNode(node) => node.clone().into(),
        Term::Literal(literal) => repair_literal(literal, messages)?.into(),
        Term::Triple(triple) => repair_triple(triple, messages)?.into(),
    };
    Ok(Triple {
        subject,
        predicate: repair_node(&triple.predicate, messages)?,
        object,
    })
}

/// Returns a valid IRI, and adds a message if the IRI was repaired.
///
/// # Errors
/// The message of an IRI that cannot be repaired.
pub(super) fn repair_node(
    node: &NamedNode,
    messages: &mut Vec<String>,
) -> Result<NamedNode, String> {
    let Err(reason) = super::check_iri(node.as_str()) else {
        return Ok(node.clone());
    };
    // A repaired relative reference is still no IRI.
    let repaired = repair_iri(node.as_str())
        .filter(|repaired| super::check_iri(repaired).is_ok())
        .ok_or(reason)?;
    messages.push(iri_message(node.as_str(), &repaired));
    Ok(NamedNode::new_unchecked(repaired))
}

/// Returns a literal with a valid language tag or datatype, and adds a message if it was repaired.
///
/// # Errors
/// The message of a datatype that cannot be repaired.
pub(super) fn repair_literal(
    literal: &Literal,
    messages: &mut Vec<String>,
) -> Result<Literal, String> {
    let Some(tag) = literal.language() else {
        if literal.datatype() == oxrdf::vocab::xsd::STRING {
            return Ok(literal.clone());
        }
        let datatype = repair_node(&literal.datatype().into_owned(), messages)?;
        return Ok(Literal::new_typed_literal(literal.value(), datatype));
    };
    if is_language_tag(tag) {
        return Ok(literal.clone());
    }
    let corrected = correct_language_tag(tag);
    messages.push(tag_message(tag, corrected.as_deref()));
    let value = literal.value();
    Ok(match (corrected, literal.direction()) {
        (None, _) => Literal::new_simple_literal(value),
        (Some(tag), None) => Literal::new_language_tagged_literal_unchecked(value, tag),
        (Some(tag), Some(direction)) => {
            Literal::new_directional_language_tagged_literal_unchecked(value, tag, direction)
        }
    })
}

/// Text with repaired IRIs and language tags.
pub(super) struct RepairedText {
    pub(super) text: Vec<u8>,
    /// Position of each repair in the original text, and its message.
    pub(super) repairs: Vec<(usize, String)>,
}

/// Repairs the IRIs and language tags in a text of Turtle or a related syntax. `None` if there is nothing to repair.
///
/// The text has as many lines as before.
pub(super) fn repair_terms(text: &[u8]) -> Option<RepairedText> {
    let mut repaired = RepairedText {
        text: Vec::new(),
        repairs: Vec::new(),
    };
    let (mut place, mut copied) = (0, 0);
    while let Some(found) = memchr_special(&text[place..]) {
        let start = place + found;
        let end = element_end(text, start, true).unwrap_or(text.len());
        let element = &text[start..end];
        place = end;
        let (range, replacement, message) = match text[start] {
            b'<' if element.len() > 2 && element.ends_with(b">") => {
                let Some((replacement, message)) = repair_iri_token(element) else {
                    continue;
                };
                (start..end, replacement, message)
            }
            b'"' | b'\'' if text.get(end) == Some(&b'@') => {
                place = end + tag_length(&text[end..]);
                let Some((replacement, message)) = repair_tag_token(&text[end..place]) else {
                    continue;
                };
                (end..place, replacement, message)
            }
            _ => continue,
        };
        repaired.text.extend_from_slice(&text[copied..range.start]);
        repaired.text.extend_from_slice(&replacement);
        copied = range.end;
        repaired.repairs.push((range.start, message));
    }
    repaired.text.extend_from_slice(&text[copied..]);
    (!repaired.repairs.is_empty()).then_some(repaired)
}

/// Returns the position of the next byte that begins an IRI, a string, a comment or an escape.
fn memchr_special(text: &[u8]) -> Option<usize> {
    text.iter()
        .position(|byte| matches!(byte, b'<' | b'"' | b'\'' | b'#' | b'\\'))
}

/// Repairs `<…>`. Returns the new token and a message.
fn repair_iri_token(token: &[u8]) -> Option<(Vec<u8>, String)> {
    let written = std::str::from_utf8(&token[1..token.len() - 1]).ok()?;
    let iri = decode_escapes(written);
    if IriRef::parse(&*iri).is_ok() {
        return None;
    }
    let repaired = repair_iri(&iri)?;
    let mut replacement = format!("<{repaired}>").into_bytes();
    // Later messages need the right line numbers.
    replacement.extend(token.iter().filter(|&&byte| byte == b'\n'));
    Some((replacement, iri_message(&iri, &repaired)))
}

/// Decodes `\uXXXX` and `\UXXXXXXXX`. Other backslashes are kept.
fn decode_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('\\') {
        decoded.push_str(&rest[..place]);
        let escape = &rest[place..];
        let length = match escape.as_bytes().get(1) {
            Some(b'u') => 6,
            Some(b'U') => 10,
            _ => 1,
        };
        let digits = escape
            .get(2..length)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let character =
            digits.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        match character {
            Some(character) => {
                decoded.push(character);
                rest = &escape[length..];
            }
            None => {
                decoded.push('\\');
                rest = &escape[1..];
            }
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Returns the length of a language tag with its `@`, malformed or not.
fn tag_length(text: &[u8]) -> usize {
    (1..text.len())
        .find(|&place| !is_part_of_tag(text, place))
        .unwrap_or(text.len())
}

fn is_part_of_tag(text: &[u8], place: usize) -> bool {
    match text[place] {
        b'-' | b'_' | b'@' => true,
        // Otherwise, it ends the statement.
        b'.' => text.get(place + 1).is_some_and(u8::is_ascii_alphanumeric),
        byte => byte.is_ascii_alphanumeric() || byte >= 0x80,
    }
}

/// Repairs `@tag` or `@tag--direction`. Returns the new token, possibly empty, and a message.
fn repair_tag_token(token: &[u8]) -> Option<(Vec<u8>, String)> {
    let written = std::str::from_utf8(&token[1..]).ok()?;
    let (tag, direction) = match written.rsplit_once("--") {
        Some((tag, direction @ ("ltr" | "rtl"))) => (tag, Some(direction)),
        _ => (written, None),
    };
    if is_language_tag(tag) {
        return None;
    }
    let corrected = correct_language_tag(tag);
    let message = tag_message(tag, corrected.as_deref());
    let replacement = match (corrected, direction) {
        (None, _) => String::new(),
        (Some(tag), None) => format!("@{tag}"),
        (Some(tag), Some(direction)) => format!("@{tag}--{direction}"),
    };
    Some((replacement.into_bytes(), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forbidden_characters_are_encoded() {
        for (invalid, valid) in [
            ("http://e.org/a b", "http://e.org/a%20b"),
            (
                "http://e.org/<a>\"{b}|\\^`",
                "http://e.org/%3Ca%3E%22%7Bb%7D%7C%5C%5E%60",
            ),
            (" \u{1}http://e.org/a\u{7f}b\n", "http://e.org/a%7Fb"),
            ("http://e.org/a\n    b?c", "http://e.org/ab?c"),
            (
                "http://e.org/50%?p=%zz&q=%41",
                "http://e.org/50%25?p=%25zz&q=%41",
            ),
            (
                "http://e.org/a[1].csv?b[]=2#c[3]",
                "http://e.org/a%5B1%5D.csv?b%5B%5D=2#c%5B3%5D",
            ),
            ("http://e.org/a#b#c", "http://e.org/a#b%23c"),
            ("http://[::1]:80/a b", "http://[::1]:80/a%20b"),
            ("http://[host]/a", "http://%5Bhost%5D/a"),
            ("http://e.org:port/a", "http://e.org%3Aport/a"),
            ("http://a@b@e.org/", "http://a%40b@e.org/"),
            ("http://müller.example/ä b", "http://müller.example/ä%20b"),
            ("<http://e.org/a>", "http://e.org/a"),
            ("http://e.org\\a\\b", "http://e.org/a%5Cb"),
            ("C:\\data\\a.csv", "C:%5Cdata%5Ca.csv"),
            ("a b: c/d:e", "a%20b%3A%20c/d:e"),
            ("urn:x:a b", "urn:x:a%20b"),
            (
                "http://e.org/\u{E000}?\u{E000}\u{FFFE}",
                "http://e.org/%EE%80%80?\u{E000}%EF%BF%BE",
            ),
        ] {
            assert_eq!(repair_iri(invalid).as_deref(), Some(valid), "{invalid}");
        }
        assert_eq!(repair_iri(" \t"), None);
    }

    #[test]
    fn tags_are_corrected_if_there_is_one_way() {
        for (malformed, corrected) in [
            ("en_GB", Some("en-gb")),
            ("fra_FR", Some("fra-fr")),
            ("en-", Some("en")),
            ("de-DE@euro", Some("de-de")),
            ("pt_BR.UTF-8", Some("pt-br")),
            (" it ", Some("it")),
            ("english", Some("english")),
            ("x", None),
            ("", None),
            ("français", None),
            ("en us", None),
            ("ar--up", Some("ar")),
        ] {
            assert_eq!(
                correct_language_tag(malformed).as_deref(),
                corrected,
                "{malformed}"
            );
        }
    }

    #[test]
    fn terms_of_a_text_are_repaired_in_place() {
        let text = "<a b> ex:p \"<c d>\"@en_GB , '''x'''@x , \"y\"@de--rtl , \"z\"@pt_BR--ltr ; # <e f>\n ex:q <g\\u0020h>, <x:i\n  j> .";
        let repaired = repair_terms(text.as_bytes()).expect("repairs");
        let expected = "<a%20b> ex:p \"<c d>\"@en-gb , '''x''' , \"y\"@de--rtl , \"z\"@pt-br--ltr ; # <e f>\n ex:q <g%20h>, <x:ij>\n .";
        assert_eq!(String::from_utf8_lossy(&repaired.text), expected);
        assert_eq!(repaired.repairs.len(), 6);
        assert!(repair_terms(b"<a> <b> \"c\"@en , <<( <a> <b> <c> )>> .").is_none());
    }

    proptest! {
        #[test]
        fn every_repair_is_valid(text in "\\PC{0,20}", scheme in "(http://|urn:|//|/|)") {
            let iri = format!("{scheme}{text}");
            match repair_iri(&iri) {
                Some(repaired) => prop_assert!(IriRef::parse(repaired.as_str()).is_ok()),
                None => prop_assert!(trim(&iri).trim_matches(['<', '>']).trim().is_empty(), "{:?}", iri),
            }
        }
    }
}
