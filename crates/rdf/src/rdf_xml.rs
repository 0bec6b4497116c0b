//! RDF/XML. Each property declares its namespace, because a stream does not show which ones follow.
//!
//! oxrdfxml writes characters that XML does not permit, and elements without a name for IRIs that do not end with one. This writer
//! leaves out what RDF/XML cannot express, and counts it.

use super::output::{Omissions, RdfVersion};
use super::vocab::rdf;
use super::xml_text::escape_xml;
use oxrdf::vocab::xsd;
use oxrdf::{BaseDirection, BlankNode, NamedNode, NamedOrBlankNode, Term, Triple};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Local names of the RDF namespace that are no properties (RDF 1.1 XML Syntax, 5.1).
const RESERVED: [&str; 12] = [
    "Description",
    "ID",
    "RDF",
    "about",
    "aboutEach",
    "aboutEachPrefix",
    "bagID",
    "datatype",
    "li",
    "nodeID",
    "parseType",
    "resource",
];
/// Namespaces that cannot be declared as the default.
const RESERVED_NAMESPACES: [&str; 2] = [
    "http://www.w3.org/2000/xmlns/",
    "http://www.w3.org/XML/1998/namespace",
];
/// Prefix of the identifiers of blank nodes whose labels are no names.
const ENCODED_LABEL_PREFIX: &str = "label-";

/// Writer of one document.
pub(crate) struct RdfXmlWriter<W> {
    writer: W,
    version: RdfVersion,
    subject: Option<NamedOrBlankNode>,
    omissions: Omissions,
}

impl<W: Write> RdfXmlWriter<W> {
    /// Writes the beginning of a document.
    pub(crate) fn begin(mut writer: W, version: RdfVersion) -> io::Result<Self> {
        write!(
            writer,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf=\"{}\"",
            rdf::NAMESPACE
        )?;
        if let Some(number) = version.number() {
            let its = "xmlns:its=\"http://www.w3.org/2005/11/its\" its:version=\"2.0\"";
            write!(writer, " {its} rdf:version=\"{number}\"")?;
        }
        writer.write_all(b">\n")?;
        Ok(Self {
            writer,
            version,
            subject: None,
            omissions: Omissions::default(),
        })
    }

    /// Writes a triple, or counts it if RDF/XML cannot express it.
    pub(crate) fn write(&mut self, triple: &Triple) -> io::Result<()> {
        // Written only if it is complete: the object may be impossible to express.
        let mut text = String::new();
        let mut removed = 0;
        if let Err(iri) = push_property(
            &triple.predicate,
            &triple.object,
            self.version,
            &mut text,
            &mut removed,
        ) {
            self.omissions.omit_statement(iri);
            return Ok(());
        }
        self.omissions.characters += removed;
        if self.subject.as_ref() != Some(&triple.subject) {
            self.end_subject()?;
            let mut start = String::new();
            push_description(&triple.subject, &mut start);
            writeln!(self.writer, "\t{start}")?;
            self.subject = Some(triple.subject.clone());
        }
        writeln!(self.writer, "\t\t{text}")
    }

    fn end_subject(&mut self) -> io::Result<()> {
        match self.subject.take() {
            Some(_) => self.writer.write_all(b"\t</rdf:Description>\n"),
            None => Ok(()),
        }
    }

    /// Writes the end of the document. Returns what was left out.
    pub(crate) fn finish(mut self) -> io::Result<Omissions> {
        self.end_subject()?;
        self.writer.write_all(b"</rdf:RDF>\n")?;
        Ok(self.omissions)
    }
}

fn push_description(subject: &NamedOrBlankNode, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match subject {
        NamedOrBlankNode::NamedNode(node) => {
            write!(
                out,
                "<rdf:Description rdf:about=\"{}\">",
                escape_xml(node.as_str(), true).0
            )
        }
        NamedOrBlankNode::BlankNode(node) => {
            write!(out, "<rdf:Description rdf:nodeID=\"{}\">", node_id(node))
        }
    };
}

/// Appends a property element.
///
/// # Errors
/// The IRI of a property that RDF/XML cannot express. The text is then incomplete.
fn push_property<'t>(
    predicate: &'t NamedNode,
    object: &'t Term,
    version: RdfVersion,
    out: &mut String,
    removed: &mut u64,
) -> Result<(), &'t str> {
    let (namespace, name) = split_name(predicate.as_str()).ok_or(predicate.as_str())?;
    let element = match namespace == rdf::NAMESPACE {
        true => Cow::Owned(format!("rdf:{name}")),
        false => Cow::Borrowed(name),
    };
    let _ = write!(out, "<{element}");
    if namespace != rdf::NAMESPACE {
        let _ = write!(out, " xmlns=\"{}\"", escape_xml(namespace, true).0);
    }
    let _ = match object {
        Term::NamedNode(node) => write!(
            out,
            " rdf:resource=\"{}\"/>",
            escape_xml(node.as_str(), true).0
        ),
        Term::BlankNode(node) => write!(out, " rdf:nodeID=\"{}\"/>", node_id(node)),
        Term::Literal(literal) => {
            if let Some(language) = literal.language() {
                let _ = write!(out, " xml:lang=\"{}\"", escape_xml(language, true).0);
            } else if literal.datatype() != xsd::STRING {
                let _ = write!(
                    out,
                    " rdf:datatype=\"{}\"",
                    escape_xml(literal.datatype().as_str(), true).0
                );
            }
            let direction = literal.direction().filter(|_| version != RdfVersion::V11);
            if let Some(direction) = direction {
                let direction = if direction == BaseDirection::Ltr {
                    "ltr"
                } else {
                    "rtl"
                };
                let _ = write!(out, " its:dir=\"{direction}\"");
            }
            let (text, count) = escape_xml(literal.value(), false);
            *removed += count;
            write!(out, ">{text}</{element}>")
        }
        Term::Triple(triple) => {
            out.push_str(" rdf:parseType=\"Triple\">");
            push_description(&triple.subject, out);
            push_property(&triple.predicate, &triple.object, version, out, removed)?;
            write!(out, "</rdf:Description></{element}>")
        }
    };
    Ok(())
}

/// Splits the IRI of a property into a namespace and a name. `None` if no element has this IRI.
fn split_name(iri: &str) -> Option<(&str, &str)> {
    let tail = iri
        .char_indices()
        .rev()
        .take_while(|(_, character)| is_name_character(*character));
    let (place, _) = tail
        .filter(|(_, character)| is_name_start(*character))
        .last()?;
    let (namespace, name) = iri.split_at(place);
    let is_reserved = namespace == rdf::NAMESPACE && RESERVED.contains(&name);
    let is_element =
        !namespace.is_empty() && !RESERVED_NAMESPACES.contains(&namespace) && !is_reserved;
    is_element.then_some((namespace, name))
}

/// Returns true if a character begins a name without a colon (Namespaces in XML 1.0).
fn is_name_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}' | '\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

fn is_name_character(character: char) -> bool {
    is_name_start(character)
        || matches!(character, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}')
}

/// Returns true if a text is a name without a colon.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_character)
}

/// Returns the identifier of a blank node: its label if that is a name.
fn node_id(node: &BlankNode) -> Cow<'_, str> {
    let label = node.as_str();
    if is_name(label) && !label.starts_with(ENCODED_LABEL_PREFIX) {
        return Cow::Borrowed(label);
    }
    Cow::Owned(encode_label(label))
}

/// Returns a name for the label of a blank node that is none. Different labels have different names.
pub(crate) fn encode_label(label: &str) -> String {
    let mut encoded = ENCODED_LABEL_PREFIX.to_owned();
    for byte in label.bytes() {
        let _ = write!(encoded, "{byte:02x}");
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::DumpReader;
    use crate::{RdfForm, RdfSyntax, TripleGraphBuilder, canonical_fingerprint};
    use oxrdf::Literal;

    fn triples(name: &str, text: &[u8]) -> (Vec<Triple>, String) {
        let mut builder = TripleGraphBuilder::new();
        let reports = DumpReader::default().read(text, name, "http://e/", &mut builder);
        assert!(
            reports[0].is_clean(),
            "{reports:?} {}",
            String::from_utf8_lossy(text)
        );
        let graph = builder.finish();
        let triples = graph
            .triples()
            .iter()
            .map(|triple| graph.to_triple(*triple))
            .collect();
        (
            triples,
            canonical_fingerprint(&graph).expect("a fingerprint"),
        )
    }

    #[test]
    fn graphs_come_back() {
        let turtle = "PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
            <http://e/a?b=\"&amp;'> a <http://e/1> ; :p \"x < & > \\\"\\r\\n\\ty\"@de-at , \"z\"@ar--rtl , 1.50 , _:b , \" \" , \"\" ;
            <urn:x:y-1> <http://e/é> ; <http://e/#.-a.b> _:1 ; rdf:value \"]]>\"^^rdf:XMLLiteral .
            _:1 :q <<( :s :p <<( :s :q \"w\"@he--ltr )>> )>> . _:b rdf:_1 \"v\" ."
            .replace("?b=\"&amp;'", "?b=1&amp;'");
        let (graph, fingerprint) = triples("a.ttl", turtle.as_bytes());
        let form = RdfForm {
            syntax: RdfSyntax::RdfXml,
            version: RdfVersion::V12,
        };
        let written = form.serialize(&graph).expect("written");
        assert_eq!(written.omissions, Omissions::default());
        assert_eq!(
            triples("a.rdf", &written.bytes).1,
            fingerprint,
            "{}",
            String::from_utf8_lossy(&written.bytes)
        );
    }

    #[test]
    fn what_xml_cannot_express_is_counted() {
        let node = |iri: &str| NamedNode::new_unchecked(iri);
        let literal = |text: &str| Literal::new_simple_literal(text);
        let bad = [
            "http://e/",
            "http://e/12",
            "http://e/a%20",
            "http://www.w3.org/2000/xmlns/a",
        ];
        let mut graph = vec![
            Triple::new(
                node("http://e/s"),
                node("http://e/p"),
                literal("a\u{B}b\u{FFFF}"),
            ),
            Triple::new(node("http://e/s"), node(rdf::TYPE), node("http://e/12")),
            Triple::new(
                node("http://e/s"),
                node("http://www.w3.org/1999/02/22-rdf-syntax-ns#about"),
                literal("x"),
            ),
        ];
        graph.extend(bad.map(|iri| Triple::new(node("http://e/s"), node(iri), literal("x"))));
        let inner = Triple::new(node("http://e/s"), node("http://e/1"), literal("x"));
        graph.push(Triple::new(node("http://e/s"), node("http://e/p"), inner));
        let form = RdfForm {
            syntax: RdfSyntax::RdfXml,
            version: RdfVersion::V12,
        };
        let written = form.serialize(&graph).expect("written");
        let omissions = written.omissions;
        assert_eq!((omissions.characters, omissions.statements), (2, 6));
        assert_eq!(
            omissions.iri.as_deref(),
            Some("http://www.w3.org/1999/02/22-rdf-syntax-ns#about")
        );
        assert_eq!(triples("a.rdf", &written.bytes).0.len(), 2);
    }
}
