//! XML literals of RDF/XML (`rdf:parseType="Literal"`) in exclusive canonical form, as RDF/XML requires.
//! <https://www.w3.org/TR/xml-exc-c14n/>
//!
//! oxrdfxml writes all namespaces in scope into each top-level element, also one that the element declares itself: the result is
//! not well-formed. Here an element declares the namespaces that it uses, and no others.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// Namespace that the prefix `xml` denotes without a declaration.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Returns the canonical form of a literal. `None` if it declares no namespaces, or is not well-formed.
pub(super) fn canonical_xml(text: &str) -> Option<String> {
    if !text.contains("xmlns") {
        return None;
    }
    let mut reader = Reader::from_str(text);
    // Canonical XML has no empty-element tags.
    reader.config_mut().expand_empty_elements = true;
    let mut writer = CanonicalWriter::default();
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => writer.start(&start)?,
            Event::End(end) => {
                writer.end(std::str::from_utf8(end.name().into_inner()).ok()?);
            }
            Event::Text(content) => writer.text(&content.unescape().ok()?),
            // Canonical XML has the text in place of CDATA sections.
            Event::CData(content) => writer.text(std::str::from_utf8(&content).ok()?),
            Event::Comment(content) => {
                writer.markup("<!--", std::str::from_utf8(&content).ok()?, "-->");
            }
            Event::PI(content) => {
                writer.markup("<?", std::str::from_utf8(&content).ok()?, "?>");
            }
            Event::Eof => break,
            Event::Empty(_) | Event::Decl(_) | Event::DocType(_) => return None,
        }
    }
    writer.declared.is_empty().then_some(writer.out)
}

/// Namespaces of an element: (prefix, IRI). The default namespace has the empty prefix.
type Namespaces = Vec<(String, String)>;

#[derive(Default)]
struct CanonicalWriter {
    out: String,
    /// Namespaces that the open elements declare.
    declared: Vec<Namespaces>,
    /// Namespaces that were written for the open elements.
    written: Vec<Namespaces>,
}

impl CanonicalWriter {
    fn start(&mut self, start: &BytesStart<'_>) -> Option<()> {
        let (mut namespaces, mut attributes) = (Namespaces::new(), Vec::new());
        // Namespaces may be declared twice here (see the module documentation), which the checks would reject.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.ok()?;
            let key = std::str::from_utf8(attribute.key.into_inner()).ok()?;
            let value = attribute_value(std::str::from_utf8(&attribute.value).ok()?)?;
            let prefix = match key.strip_prefix("xmlns") {
                Some("") => Some(""),
                Some(rest) => rest.strip_prefix(':'),
                None => None,
            };
            match prefix {
                Some(prefix) if !namespaces.iter().any(|(known, _)| known == prefix) => {
                    namespaces.push((prefix.to_owned(), value));
                }
                Some(_) => {}
                None => attributes.push((key.to_owned(), value)),
            }
        }
        self.declared.push(namespaces);
        let name = std::str::from_utf8(start.name().into_inner())
            .ok()?
            .to_owned();
        let mut sorted = Vec::new();
        for (key, value) in attributes {
            let (namespace, local) = match key.split_once(':') {
                Some((prefix, local)) => (self.namespace(prefix)?.to_owned(), local.to_owned()),
                None => (String::new(), key.clone()),
            };
            sorted.push(((namespace, local), key, value));
        }
        // By namespace, then by local name (Canonical XML 1.0, section 2.2). Attributes without a namespace come first.
        sorted.sort();
        sorted.dedup_by(|one, other| one.1 == other.1);
        let mut used: Vec<String> = sorted
            .iter()
            .filter_map(|(_, key, _)| Some(key.split_once(':')?.0.to_owned()))
            .filter(|prefix| prefix != "xml")
            .collect();
        // The default namespace applies to elements, not to attributes (Namespaces in XML 1.0, 6.2).
        let prefix = match name.split_once(':') {
            Some((prefix, _)) => prefix,
            None => "",
        };
        used.push(prefix.to_owned());
        used.sort();
        used.dedup();
        self.out.push('<');
        self.out.push_str(&name);
        let mut written = Namespaces::new();
        for prefix in used {
            let namespace = match prefix.as_str() {
                "" => self.namespace("").unwrap_or_default(),
                prefix => self.namespace(prefix)?,
            }
            .to_owned();
            // An ancestor may have declared the same (Exclusive XML Canonicalization, section 3).
            if find_namespace(&self.written, &prefix).unwrap_or_default() != namespace {
                let colon = if prefix.is_empty() { "" } else { ":" };
                self.attribute(&format!("xmlns{colon}{prefix}"), &namespace);
                written.push((prefix, namespace));
            }
        }
        self.written.push(written);
        for (_, key, value) in sorted {
            self.attribute(&key, &value);
        }
        self.out.push('>');
        Some(())
    }

    fn end(&mut self, name: &str) {
        self.declared.pop();
        self.written.pop();
        self.markup("</", name, ">");
    }

    fn namespace(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML);
        }
        find_namespace(&self.declared, prefix)
    }

    fn attribute(&mut self, key: &str, value: &str) {
        self.markup(" ", key, "=\"");
        for character in value.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '"' => self.out.push_str("&quot;"),
                '\t' => self.out.push_str("&#x9;"),
                '\n' => self.out.push_str("&#xA;"),
                '\r' => self.out.push_str("&#xD;"),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '\r' => self.out.push_str("&#xD;"),
                other => self.out.push(other),
            }
        }
    }

    fn markup(&mut self, start: &str, content: &str, end: &str) {
        self.out.push_str(start);
        self.out.push_str(content);
        self.out.push_str(end);
    }
}

/// Returns the IRI of a prefix in the innermost element that has it.
fn find_namespace<'n>(elements: &'n [Namespaces], prefix: &str) -> Option<&'n str> {
    let mut namespaces = elements.iter().rev().flatten();
    let (_, namespace) = namespaces.find(|(known, _)| known == prefix)?;
    Some(namespace)
}

/// Returns the value of an attribute. White space is a space, unless it is written as a reference.
fn attribute_value(raw: &str) -> Option<String> {
    let spaced: Cow<'_, str> = if raw.contains(['\t', '\n', '\r']) {
        Cow::Owned(raw.replace("\r\n", " ").replace(['\t', '\n', '\r'], " "))
    } else {
        Cow::Borrowed(raw)
    };
    Some(quick_xml::escape::unescape(&spaced).ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_declare_the_namespaces_that_they_use() {
        for (text, expected) in [
            (
                "<p xmlns=\"http://e/h\" xmlns=\"http://e/h\" xmlns:r=\"http://e/r\">a <b>c</b></p>",
                "<p xmlns=\"http://e/h\">a <b>c</b></p>",
            ),
            (
                "<p xmlns:r=\"http://e/r\"/> &amp; <q xmlns:r=\"http://e/r\" r:z='1' b='<&quot;' a='x'><r:s/></q>",
                "<p></p> &amp; <q xmlns:r=\"http://e/r\" a=\"x\" b=\"&lt;&quot;\" r:z=\"1\"><r:s></r:s></q>",
            ),
            // Sorted by local name, not by prefix: both prefixes have one namespace.
            (
                "<q xmlns:r='http://e/r' xmlns:s='http://e/r' r:z='1' s:y='2'/>",
                "<q xmlns:r=\"http://e/r\" xmlns:s=\"http://e/r\" s:y=\"2\" r:z=\"1\"></q>",
            ),
            (
                "<a xmlns=\"http://e/1\"><b xmlns=\"\"><c xml:lang='de'/></b><!-- d --></a>",
                "<a xmlns=\"http://e/1\"><b xmlns=\"\"><c xml:lang=\"de\"></c></b><!-- d --></a>",
            ),
        ] {
            assert_eq!(canonical_xml(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "]]>",
            "<br/>",
            "<a xmlns='e:'>",
            "<x:a xmlns='e:'/>",
            "a xmlns < b",
        ] {
            assert_eq!(canonical_xml(text), None, "{text}");
        }
    }
}
