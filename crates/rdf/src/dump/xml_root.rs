//! The root element of an XML document decides whether it is RDF/XML.
//!
//! RDF/XML is any XML with node elements, so a parser finds statements in most XML. Only documents with the root `rdf:RDF`, or with
//! another root and the namespace of RDF in their beginning, are read. Formats of other systems are named.

use super::Refusal;
use crate::rdf_xml::is_name;
use std::fmt;

/// End of the namespace of RDF.
const RDF: &str = "22-rdf-syntax-ns#";
/// Maximum number of attributes of the root that are searched for namespaces.
const MAX_ATTRIBUTES: usize = 200;

/// Formats that are no RDF/XML: (beginning of the namespace, local name or `*`, name for readers).
const FORMATS: &[(&str, &str, &str)] = &[
    (
        "http://www.openarchives.org/OAI/2.0/oai_dc",
        "*",
        "a record in Dublin Core (oai_dc)",
    ),
    (
        "http://www.openarchives.org/OAI/2.0/",
        "OAI-PMH",
        "a response of OAI-PMH",
    ),
    (
        "http://www.openarchives.org/OAI/1",
        "*",
        "a response of OAI-PMH 1",
    ),
    (
        "http://www.opengis.net/cat/csw",
        "*",
        "a response of a catalogue service (CSW)",
    ),
    (
        "http://www.opengis.net/ows",
        "ExceptionReport",
        "an exception report of an OGC service",
    ),
    (
        "http://www.opengis.net/wms",
        "*",
        "a response of a map service (WMS)",
    ),
    (
        "http://www.opengis.net/wfs",
        "*",
        "a response of a feature service (WFS)",
    ),
    ("http://www.opengis.net/kml", "*", "KML"),
    ("http://www.opengis.net/gml", "*", "GML"),
    (
        "http://www.isotc211.org/2005/",
        "*",
        "metadata of ISO 19139",
    ),
    (
        "http://www.geocat.ch/2008/che",
        "*",
        "metadata of ISO 19139",
    ),
    (
        "http://standards.iso.org/iso/19115/-3/",
        "*",
        "metadata of ISO 19115-3",
    ),
    ("http://www.sitemaps.org/schemas/sitemap/", "*", "a sitemap"),
    ("http://www.google.com/schemas/sitemap/", "*", "a sitemap"),
    (
        "http://datacite.org/schema/kernel",
        "*",
        "metadata of DataCite",
    ),
    ("http://schema.datacite.org/", "*", "metadata of DataCite"),
    ("http://www.w3.org/2005/Atom", "*", "an Atom feed"),
    ("", "rss", "an RSS feed"),
    ("http://www.w3.org/2000/svg", "*", "an SVG image"),
    ("http://www.w3.org/1999/xhtml", "*", "an XHTML page"),
    (
        "http://www.w3.org/2005/sparql-results#",
        "*",
        "a result of SPARQL",
    ),
    (
        "http://www.w3.org/2004/03/trix/",
        "*",
        "TriX, which is not supported",
    ),
    ("http://www.w3.org/2002/07/owl#", "Ontology", "OWL/XML"),
    ("http://www.loc.gov/METS/", "*", "METS"),
    ("http://www.loc.gov/mods/", "*", "MODS"),
    ("http://www.loc.gov/MARC21/", "*", "MARC 21"),
    ("ddi:", "*", "metadata of DDI"),
    ("eml:", "*", "metadata of EML"),
    ("https://eml.ecoinformatics.org/", "*", "metadata of EML"),
];

/// Root element of an XML document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XmlRoot {
    /// Namespace IRI; empty for a name without a namespace.
    pub namespace: String,
    /// Local name.
    pub name: String,
}

impl XmlRoot {
    /// Returns the root element from the beginning of a document. `None` if the text is no XML, or if the beginning ends before the
    /// namespace of the root.
    ///
    /// ```
    /// use lodeseek_rdf::dump::XmlRoot;
    ///
    /// let root = XmlRoot::from_head("<?xml version='1.0'?><!-- x --><a:b xmlns:a='http://e.org/'/>").expect("a root");
    /// assert_eq!((root.namespace.as_str(), root.name.as_str()), ("http://e.org/", "b"));
    /// ```
    #[must_use]
    pub fn from_head(head: &str) -> Option<Self> {
        let tag = skip_prolog(head)?.strip_prefix('<')?;
        let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>'))?;
        let (qualified, mut rest) = (&tag[..end], &tag[end..]);
        let (prefix, name) = qualified.split_once(':').unwrap_or(("", qualified));
        if !is_name(name) || !(prefix.is_empty() || is_name(prefix)) {
            return None;
        }
        let declaration = if prefix.is_empty() {
            "xmlns".to_owned()
        } else {
            format!("xmlns:{prefix}")
        };
        for _ in 0..MAX_ATTRIBUTES {
            rest = rest.trim_start();
            if rest.starts_with(['/', '>']) {
                let namespace = String::new();
                return prefix.is_empty().then(|| Self {
                    namespace,
                    name: name.to_owned(),
                });
            }
            let (attribute, value) = rest.split_once('=')?;
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, after) = value[1..].split_once(quote)?;
            if attribute.trim() == declaration {
                return Some(Self {
                    namespace: value.trim().to_owned(),
                    name: name.to_owned(),
                });
            }
            rest = after;
        }
        None
    }

    /// Returns the name of a known format that is no RDF/XML.
    #[must_use]
    pub fn foreign_format(&self) -> Option<&'static str> {
        for (namespace, name, format) in FORMATS {
            let is_namespace = if namespace.is_empty() {
                self.namespace.is_empty()
            } else {
                self.namespace.starts_with(namespace)
            };
            if is_namespace && (*name == "*" || *name == self.name) {
                return Some(format);
            }
        }
        None
    }

    /// Returns true if the element is `rdf:RDF`. Entities may hide its namespace.
    #[must_use]
    pub fn is_rdf(&self) -> bool {
        self.name == "RDF"
    }
}

impl fmt::Display for XmlRoot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(formatter, "<{}>", super::shorten(&self.name))
        } else {
            let (namespace, name) = (super::shorten(&self.namespace), super::shorten(&self.name));
            write!(formatter, "<{name}> of the namespace {namespace}")
        }
    }
}

/// Rejects XML that is no RDF/XML.
pub(super) fn refuse_other_xml(head: &[u8]) -> Result<(), Refusal> {
    let head = String::from_utf8_lossy(head);
    let Some(root) = XmlRoot::from_head(&head) else {
        return Ok(());
    };
    let reason = match root.foreign_format() {
        _ if root.is_rdf() => return Ok(()),
        Some(format) => format!("{format}, not RDF/XML"),
        None if head.contains(RDF) => return Ok(()),
        None => format!("XML with the root element {root}, not RDF/XML"),
    };
    Err(Refusal::NotRdf { reason })
}

/// Returns the text from the first element on. `None` if the text ends before.
fn skip_prolog(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        rest = if let Some(after) = rest.strip_prefix("<?") {
            after.split_once("?>")?.1
        } else if let Some(after) = rest.strip_prefix("<!--") {
            after.split_once("-->")?.1
        } else if rest
            .get(..9)
            .is_some_and(|start| start.eq_ignore_ascii_case("<!doctype"))
        {
            after_document_type(&rest[9..])?
        } else {
            return rest.starts_with('<').then_some(rest);
        };
    }
}

/// Returns the text after a document type declaration.
fn after_document_type(text: &str) -> Option<&str> {
    let (mut quote, mut depth) = (None, 0_usize);
    for (place, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, '>') if depth == 0 => return Some(&text[place + 1..]),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found_in_the_beginning() {
        let root = |head: &str| XmlRoot::from_head(head).map(|root| root.to_string());
        for (head, expected) in [
            ("<a/>", Some("<a>")),
            ("<a xmlns='x'>", Some("<a> of the namespace x")),
            (
                "\u{feff}<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY b \">\">]> <!-- < --><p:a c = \"d>\" xmlns:q='y' xmlns:p='x'>",
                Some("<a> of the namespace x"),
            ),
            ("<p:a xmlns:q='y'>", None),
            ("<a b='c", None),
            ("<http://e.org/a> <b> <c> .", None),
            // Letters are not all characters of names: combining marks and the middle dot are, superscripts are none.
            ("<re\u{301}sume\u{301}/>", Some("<re\u{301}sume\u{301}>")),
            ("<paral\u{b7}lel/>", Some("<paral\u{b7}lel>")),
            ("<m\u{b2}/>", None),
            ("<\u{b7}a/>", None),
            ("<1a/>", None),
            ("<!-- x", None),
            ("{}", None),
            ("", None),
        ] {
            assert_eq!(root(head).as_deref(), expected, "{head}");
        }
    }

    #[test]
    fn other_xml_is_named() {
        for (head, expected) in [
            (
                "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>",
                Some("a response of OAI-PMH, not RDF/XML"),
            ),
            (
                "<x:urlset xmlns:x='http://www.sitemaps.org/schemas/sitemap/0.9'/>",
                Some("a sitemap, not RDF/XML"),
            ),
            (
                "<Ontology xmlns='http://www.w3.org/2002/07/owl#' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>",
                Some("OWL/XML, not RDF/XML"),
            ),
            ("<rss version='2.0'>", Some("an RSS feed, not RDF/XML")),
            (
                "<menu>",
                Some("XML with the root element <menu>, not RDF/XML"),
            ),
            (
                "<f:Person xmlns:f='http://xmlns.com/foaf/0.1/' xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>",
                None,
            ),
            ("<r:RDF xmlns:r='&rdf;'>", None),
            ("<?xml version='1.0'?>", None),
        ] {
            let refusal = refuse_other_xml(head.as_bytes())
                .err()
                .map(|refusal| refusal.to_string());
            assert_eq!(refusal.is_some(), expected.is_some(), "{head}: {refusal:?}");
            if let (Some(refusal), Some(expected)) = (refusal, expected) {
                assert!(refusal.contains(expected), "{head}: {refusal}");
            }
        }
    }
}
