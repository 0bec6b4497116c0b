//! JSON-LD in HTML pages: the contents of `<script type="application/ld+json">` elements.
//!
//! The page is split into tags as browsers do it. Comments and the raw text of other scripts, styles and similar
//! elements contain no elements. Attributes are accepted in any order, with or without quotes.

use super::plain_text::decode_entities;
use std::iter;

/// Elements that contain text only.
const RAW: &[&str] = &[
    "script", "style", "textarea", "title", "noscript", "xmp", "iframe",
];
/// Number of characters in which a page must show an HTML tag.
const MAX_HEAD_CHARACTERS: usize = 1024;

/// If true, the file begins like an HTML page.
pub(super) fn looks_like(head: &str) -> bool {
    let start: String = head
        .chars()
        .take(MAX_HEAD_CHARACTERS)
        .collect::<String>()
        .to_ascii_lowercase();
    let mut start = start.trim_start();
    // XHTML may begin with an XML declaration and other processing instructions.
    while let Some((_, rest)) = start
        .strip_prefix("<!--")
        .and_then(|rest| rest.split_once("-->"))
        .or_else(|| {
            start
                .strip_prefix("<?")
                .and_then(|rest| rest.split_once("?>"))
        })
    {
        start = rest.trim_start();
    }
    ["<!doctype html", "<html", "<head", "<body", "<script"]
        .iter()
        .any(|tag| start.starts_with(tag))
}

/// A start tag of a page.
struct StartTag<'p> {
    /// Name of the element in lower case.
    name: String,
    attributes: &'p str,
    /// Raw text of an element that contains text only, and its position in the page; empty for other elements.
    text: &'p str,
    place: usize,
}

/// Iterates over the start tags of a page, without those in comments and in raw text.
fn start_tags(page: &str) -> impl Iterator<Item = StartTag<'_>> {
    let mut rest = page;
    iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('<')? + 1..];
            if let Some(comment) = rest.strip_prefix("!--") {
                rest = match comment.split_once("-->") {
                    Some((_, after)) => after,
                    None => "",
                };
                continue;
            }
            let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let name = rest[..length].to_ascii_lowercase();
            if name.is_empty() {
                continue;
            }
            let (attributes, after) = split_tag(&rest[length..]);
            let end = if RAW.contains(&name.as_str()) {
                end_of(after, &name)
            } else {
                0
            };
            rest = &after[end..];
            return Some(StartTag {
                name,
                attributes,
                text: &after[..end],
                place: page.len() - after.len(),
            });
        }
    })
}

/// Returns the name of the encoding that a page declares in a `meta` element.
pub(super) fn declared_encoding(head: &str) -> Option<String> {
    for meta in start_tags(head).filter(|tag| tag.name == "meta") {
        // Both `charset=x` and `content="text/html; charset=x"`.
        let lower = meta.attributes.to_ascii_lowercase();
        let Some(value) = lower
            .find("charset")
            .map(|place| lower[place + "charset".len()..].trim_start())
        else {
            continue;
        };
        let Some(value) = value.strip_prefix('=') else {
            continue;
        };
        let value =
            value.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        let end = value
            .find(|c: char| c.is_whitespace() || "\"';/>".contains(c))
            .unwrap_or(value.len());
        return (end > 0).then(|| value[..end].to_owned());
    }
    None
}

/// Returns the address of the first `base` element of a page, which relative references in its scripts begin with
/// ([JSON-LD 1.1, section 7.1](https://www.w3.org/TR/json-ld11/#inheriting-base-iri-from-html-s-base-element)).
pub(super) fn base_address(page: &str) -> Option<String> {
    let base = start_tags(page)
        .take_while(|tag| tag.name != "body")
        .filter(|tag| tag.name == "base")
        .find_map(|base| find_attribute(base.attributes, "href"))?;
    let address = decode_entities(base).trim().to_owned();
    (!address.is_empty()).then_some(address)
}

/// A script of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Script<'p> {
    /// Content of the element.
    pub(super) text: &'p str,
    /// Number of the line of the page in which the content begins, from 1.
    pub(super) line: usize,
}

/// Returns the JSON-LD scripts of a page.
pub(super) fn find_scripts(page: &str) -> Vec<Script<'_>> {
    let mut found = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for tag in start_tags(page) {
        if tag.name != "script" || !is_json_ld(tag.attributes) {
            continue;
        }
        let place = tag.place + (tag.text.len() - tag.text.trim_start().len());
        line += page[counted..place]
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count();
        counted = place;
        found.push(Script {
            text: tag.text.trim(),
            line,
        });
    }
    found
}

/// Returns the attributes of a tag and the text after its `>`. A `>` within quotes does not end the tag.
fn split_tag(text: &str) -> (&str, &str) {
    let mut quote = None;
    for (place, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return (&text[..place], &text[place + 1..]),
            (None, _) => {}
        }
    }
    (text, "")
}

fn end_of(text: &str, name: &str) -> usize {
    text.match_indices("</")
        .map(|(place, _)| place)
        .find(|place| begins_with_tag(&text[place + 2..], name))
        .unwrap_or(text.len())
}

/// Returns true if the text begins with the name of an element and the end of the name.
fn begins_with_tag(text: &str, name: &str) -> bool {
    let tag = text
        .get(..name.len())
        .is_some_and(|tag| tag.eq_ignore_ascii_case(name));
    let next = text.as_bytes().get(name.len());
    tag && next.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

fn is_json_ld(attributes: &str) -> bool {
    let Some(value) = find_attribute(attributes, "type") else {
        return false;
    };
    // Some servers write the plus sign as an entity.
    let value = decode_entities(value);
    let media_type = value.split(';').next().unwrap_or(&value).trim();
    media_type.eq_ignore_ascii_case("application/ld+json")
}

/// Returns the value of an attribute as written: its entities are not decoded.
fn find_attribute<'t>(attributes: &'t str, expected: &str) -> Option<&'t str> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let length = rest
            .find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '/')
            .unwrap_or(rest.len());
        // One character at least, so that an `=` without a name does not stop the loop.
        let name = &rest[..length.max(1).min(rest.len())];
        rest = rest[name.len()..].trim_start();
        let Some(value) = rest.strip_prefix('=').map(str::trim_start) else {
            continue;
        };
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value.split_at(
                value
                    .find(|c: char| c.is_ascii_whitespace())
                    .unwrap_or(value.len()),
            ),
        };
        if name.eq_ignore_ascii_case(expected) {
            return Some(value);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(page: &str) -> Vec<&str> {
        find_scripts(page)
            .into_iter()
            .map(|script| script.text)
            .collect()
    }

    #[test]
    fn scripts_of_a_page() {
        let page = r#"<!-- <script type="application/ld+json">{"no": 1}</script> --><HTML><head>
            <title><script type="application/ld+json">{"no": 2}</script></title>
            <script>var s = '<script type="application/ld+json">{"no": 3}';</script>
            <script data-a="x > y" TYPE='application/LD+JSON; charset=utf-8' async>{"yes": 1}</script >
            <script async type=application/ld+json>
              {"yes": "</p> 2"}
            </SCRIPT><script type="application/ld&#x2B;json">{"yes": 3}</script><script type="application/ld+json">{"yes": 4, "cut": "#;
        assert_eq!(
            texts(page),
            [
                r#"{"yes": 1}"#,
                r#"{"yes": "</p> 2"}"#,
                r#"{"yes": 3}"#,
                r#"{"yes": 4, "cut":"#
            ]
        );
        let lines: Vec<usize> = find_scripts(page)
            .iter()
            .map(|script| script.line)
            .collect();
        assert_eq!(lines, [4, 6, 7, 7]);
        assert!(looks_like(page) && !looks_like("<?xml version='1.0'?><rdf:RDF/>"));
        assert!(looks_like(
            "<?xml version='1.0'?>\n<!-- a page --><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\">"
        ));
        for (page, base) in [
            (
                "<head><base target=_top><BASE HREF='/d/&amp;'></head>",
                Some("/d/&"),
            ),
            ("<title><base href='a'></title><body><base href='b'>", None),
            ("<!-- <base href='a'> --><base href=''>", None),
        ] {
            assert_eq!(base_address(page).as_deref(), base, "{page}");
        }
        for hostile in [
            "<",
            "<script",
            "<script type=",
            "<script type=\"application/ld+json",
            "</",
            "<!--",
            "<é a=é>",
        ] {
            assert!(
                texts(hostile).iter().all(|script| script.is_empty()),
                "{hostile}"
            );
        }
    }

    #[test]
    fn encodings_of_pages() {
        for (head, expected) in [
            (
                "<html><head><meta charset=\"ISO-8859-1\">",
                Some("iso-8859-1"),
            ),
            (
                "<html><META http-equiv='Content-Type' content='text/html; charset=windows-1252'/>",
                Some("windows-1252"),
            ),
            ("<meta charset = utf-8 >", Some("utf-8")),
            (
                "<!-- <meta charset=koi8-r> --><meta name=\"charset\" content=\"x\"><meta charset=latin1>",
                Some("latin1"),
            ),
            ("<meta name=x content=y>", None),
            ("<meta charset", None),
            ("<metadata charset=x>", None),
            ("", None),
        ] {
            assert_eq!(declared_encoding(head).as_deref(), expected, "{head}");
        }
    }
}
