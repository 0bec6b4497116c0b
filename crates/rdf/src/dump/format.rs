//! Detection of the syntax by content; media type and suffix decide ambiguous cases.

use super::{Refusal, xml_root};
use serde::{Deserialize, Serialize};

/// Supported input syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the syntaxes'")]
pub enum Syntax {
    #[serde(rename = "Turtle")]
    Turtle,
    #[serde(rename = "TriG")]
    TriG,
    #[serde(rename = "N3")]
    N3,
    #[serde(rename = "N-Triples")]
    NTriples,
    #[serde(rename = "N-Quads")]
    NQuads,
    #[serde(rename = "RDF/XML")]
    RdfXml,
    #[serde(rename = "JSON-LD")]
    JsonLd,
    #[serde(rename = "HDT")]
    Hdt,
}

impl Syntax {
    /// Returns the syntax of a media type or file suffix.
    #[must_use]
    pub fn from_hint(hint: &str) -> Option<Self> {
        let hint = hint
            .split(';')
            .next()
            .unwrap_or(hint)
            .trim()
            .to_ascii_lowercase();
        Some(match hint.as_str() {
            "text/turtle" | "application/x-turtle" | "ttl" | "turtle" => Self::Turtle,
            "application/trig" | "trig" => Self::TriG,
            "text/n3" | "text/rdf+n3" | "n3" => Self::N3,
            "application/n-triples" | "nt" | "ntriples" => Self::NTriples,
            "application/n-quads" | "text/x-nquads" | "nq" | "nquads" => Self::NQuads,
            "application/rdf+xml"
            | "rdf"
            | "rdfs"
            | "owl"
            | "xml"
            | "application/xml"
            | "text/xml" => Self::RdfXml,
            "application/ld+json" | "jsonld" | "json" | "application/json" => Self::JsonLd,
            "application/vnd.hdt" | "hdt" => Self::Hdt,
            _ => return None,
        })
    }

    /// Returns the media type registered at IANA, or the common one for N3 and HDT.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Turtle => "text/turtle",
            Self::TriG => "application/trig",
            Self::N3 => "text/n3",
            Self::NTriples => "application/n-triples",
            Self::NQuads => "application/n-quads",
            Self::RdfXml => "application/rdf+xml",
            Self::JsonLd => "application/ld+json",
            Self::Hdt => "application/vnd.hdt",
        }
    }

    /// Returns the syntax of a file name. Compression suffixes are ignored.
    ///
    /// ```
    /// use lodeseek_rdf::dump::Syntax;
    ///
    /// assert_eq!(Syntax::from_file_name("dump.nt.gz"), Some(Syntax::NTriples));
    /// ```
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let stem = [".gz", ".bz2", ".xz", ".zst"]
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix))
            .unwrap_or(&name);
        Self::from_hint(stem.rsplit_once('.')?.1)
    }
}

/// Kind of content, by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ContentKind {
    Xml,
    Json,
    /// Turtle, TriG, N3, N-Triples or N-Quads, which begin alike.
    Terse,
    Empty,
    Unknown,
}

/// Detects the syntax of a document from its first bytes `head` and the syntax announced by media type or suffix.
///
/// HDT files are detected earlier. If HDT is announced here, the document is in another syntax.
pub(super) fn detect(
    name: &str,
    announced: Option<Syntax>,
    head: &[u8],
) -> Result<Syntax, Refusal> {
    let content = skip_versions(skip_blank_and_comments(head));
    // First, because HTML looks like XML, and `Prefix:` like a name of Turtle.
    refuse_other_languages(content)?;
    let kind = content_kind(content);
    match (announced, kind) {
        (Some(syntax), ContentKind::Empty) => Ok(syntax),
        (_, ContentKind::Xml) => {
            xml_root::refuse_other_xml(content)?;
            Ok(Syntax::RdfXml)
        }
        (Some(Syntax::JsonLd), ContentKind::Json) => Ok(Syntax::JsonLd),
        // A TriG or N3 document may begin with "{", a Turtle document with "[".
        (Some(syntax @ (Syntax::TriG | Syntax::N3 | Syntax::Turtle)), ContentKind::Json)
            if !has_json_key(content) =>
        {
            Ok(syntax)
        }
        (_, ContentKind::Json) => Ok(Syntax::JsonLd),
        // N-Triples and N-Quads have no directives.
        (Some(Syntax::NTriples | Syntax::NQuads), ContentKind::Terse)
            if begins_with_directive(content) =>
        {
            Ok(Syntax::Turtle)
        }
        (
            Some(Syntax::RdfXml | Syntax::JsonLd | Syntax::Hdt | Syntax::Turtle) | None,
            ContentKind::Terse,
        ) if begins_with_quad(content) => Ok(Syntax::NQuads),
        (Some(Syntax::RdfXml | Syntax::JsonLd | Syntax::Hdt) | None, ContentKind::Terse) => {
            Ok(Syntax::Turtle)
        }
        (Some(syntax), ContentKind::Terse) => Ok(syntax),
        (Some(syntax), ContentKind::Unknown)
            if !matches!(syntax, Syntax::RdfXml | Syntax::JsonLd) =>
        {
            Ok(syntax)
        }
        (_, ContentKind::Unknown | ContentKind::Empty) => Err(Refusal::NotRdf {
            reason: format!("neither the name nor the first bytes of {name} match a known syntax"),
        }),
    }
}

fn skip_blank_and_comments(mut head: &[u8]) -> &[u8] {
    loop {
        head = head.trim_ascii_start();
        if head.first() != Some(&b'#') {
            return head;
        }
        let end = memchr::memchr2(b'\n', b'\r', head).unwrap_or(head.len());
        head = &head[end..];
    }
}

/// Skips version directives (RDF 1.2), which Turtle, TriG, N-Triples and N-Quads have.
fn skip_versions(mut content: &[u8]) -> &[u8] {
    while content.starts_with(b"@version") || starts_with_ignoring_case(content, "version") {
        let line = memchr::memchr2(b'\n', b'\r', content).unwrap_or(content.len());
        let Some(quote) = content[..line]
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\''))
        else {
            break;
        };
        let Some(end) = memchr::memchr(content[quote], &content[quote + 1..line]) else {
            break;
        };
        let rest = content[quote + end + 2..].trim_ascii_start();
        content = skip_blank_and_comments(rest.strip_prefix(b".").unwrap_or(rest));
    }
    content
}

fn starts_with_ignoring_case(text: &[u8], prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Rejects formats that are often mistaken for RDF. A message with the format is more useful than a parse error.
fn refuse_other_languages(content: &[u8]) -> Result<(), Refusal> {
    let reason = if starts_with_ignoring_case(content, "<!doctype html")
        || starts_with_ignoring_case(content, "<html")
    {
        "an HTML page, not a dump"
    } else if content.starts_with(b"Prefix(") || content.starts_with(b"Ontology(") {
        "OWL functional syntax, which is not an RDF serialization"
    } else if content.starts_with(b"Prefix:") || content.starts_with(b"Ontology:") {
        "OWL Manchester syntax, which is not an RDF serialization"
    } else if content.contains(&0) {
        "a binary file"
    } else {
        return Ok(());
    };
    Err(Refusal::NotRdf {
        reason: reason.to_owned(),
    })
}

fn content_kind(content: &[u8]) -> ContentKind {
    let Some(&first) = content.first() else {
        return ContentKind::Empty;
    };
    let second = content.get(1).copied();
    match first {
        b'<' if matches!(second, Some(b'?' | b'!')) => ContentKind::Xml,
        // "<rdf:RDF", "<Ontology": an element; "<http:", "<#x>", "<>": an IRI.
        b'<' => {
            let name_end = content[1..].iter().position(|&b| {
                !(b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-' | b'.'))
            });
            let name = &content[1..1 + name_end.unwrap_or(content.len() - 1)];
            let after = name_end.and_then(|end| content.get(1 + end)).copied();
            // `<name>` may be a relative IRI of Turtle.
            let is_element =
                !name.is_empty() && after.is_some_and(|byte| byte.is_ascii_whitespace());
            if is_element || starts_with_ignoring_case(content, "<rdf:RDF") {
                ContentKind::Xml
            } else {
                ContentKind::Terse
            }
        }
        b'{' => ContentKind::Json,
        b'[' => match content[1..].trim_ascii_start().first() {
            Some(b'{' | b']') => ContentKind::Json,
            _ => ContentKind::Terse,
        },
        b'@' | b'_' | b':' | b'(' | b'"' | b'\'' => ContentKind::Terse,
        byte if byte.is_ascii_alphabetic() => {
            let keyword = ["prefix", "base", "graph"]
                .iter()
                .any(|word| starts_with_ignoring_case(content, word));
            let prefixed = content
                .iter()
                .take_while(|b| !b.is_ascii_whitespace())
                .any(|&b| b == b':');
            if keyword || prefixed {
                ContentKind::Terse
            } else {
                ContentKind::Unknown
            }
        }
        _ => ContentKind::Unknown,
    }
}

fn begins_with_directive(content: &[u8]) -> bool {
    ["@prefix", "@base", "prefix ", "base "]
        .iter()
        .any(|word| starts_with_ignoring_case(content, word))
}

/// Returns true if the first line is an N-Quads statement with a graph name, which no other syntax permits.
fn begins_with_quad(content: &[u8]) -> bool {
    let line = &content[..memchr::memchr2(b'\n', b'\r', content).unwrap_or(content.len())];
    let mut quads = oxttl::NQuadsParser::new().for_slice(line);
    matches!(quads.next(), Some(Ok(quad)) if !quad.graph_name.is_default_graph())
}

/// Returns true if `{` is followed by a JSON key, that is, a quoted string and a colon, or by another `{`.
fn has_json_key(content: &[u8]) -> bool {
    let inside = content[1..].trim_ascii_start();
    match inside.first() {
        Some(b'"') => inside[1..]
            .iter()
            .position(|&b| b == b'"')
            .is_some_and(|end| inside[end + 2..].trim_ascii_start().first() == Some(&b':')),
        Some(b'{') => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_outranks_the_suffix() {
        let cases = [
            (
                "a.rdf",
                "@prefix dc: <http://purl.org/dc/> .",
                Syntax::Turtle,
            ),
            ("a.ttl", "<?xml version=\"1.0\"?><rdf:RDF/>", Syntax::RdfXml),
            ("a.owl", "\n<rdf:RDF xmlns:rdf=\"x\">", Syntax::RdfXml),
            ("a.owl", "# comment\nPREFIX a: <b>", Syntax::Turtle),
            ("a.xml", "{\"@context\": {}}", Syntax::JsonLd),
            ("a.json", "[ {\"@id\": \"x\"} ]", Syntax::JsonLd),
            ("a.ttl", "[ a <x> ] .", Syntax::Turtle),
            ("a.trig", "{ <a> <b> <c> }", Syntax::TriG),
            ("a.trig", "{ \"@id\": \"x\" }", Syntax::JsonLd),
            ("a.nq", "<a> <b> <c> <d> .", Syntax::NQuads),
            (
                "dump",
                "<x:a> <x:b> \"c d\"@en <x:d> .\n<x:a> ",
                Syntax::NQuads,
            ),
            ("a.nt", "# Turtle\n@prefix a: <x:a> .", Syntax::Turtle),
            ("dump", "<http://a/b> <c> <d> .", Syntax::Turtle),
            (
                "a.nt",
                "VERSION \"1.2\"\n<a:b> <a:c> <<( <a:d> <a:e> <a:f> )>> .",
                Syntax::NTriples,
            ),
            (
                "a.nt",
                "VERSION '1.2'\n# x\nPREFIX a: <x:a>",
                Syntax::Turtle,
            ),
            (
                "dump",
                "@version \"1.2\" .\n<< <a:b> <a:c> <a:d> >> <a:e> 1 .",
                Syntax::Turtle,
            ),
            (
                "dump",
                "VERSION \"1.2\"\n<x:a> <x:b> <x:c> <x:d> .",
                Syntax::NQuads,
            ),
            ("a.nt.gz", "", Syntax::NTriples),
            ("a.hdt.gz", "<http://a/b> <c> <d> .", Syntax::Turtle),
            ("a.n3", "ex:a ex:b ex:c .", Syntax::N3),
        ];
        for (name, head, expected) in cases {
            assert_eq!(
                detect(name, Syntax::from_file_name(name), head.as_bytes()),
                Ok(expected),
                "{name}: {head}"
            );
        }
    }

    #[test]
    fn other_languages_are_named() {
        for (name, head, word) in [
            ("a.ttl", "<!DOCTYPE html><html>", "HTML"),
            ("a.owl", "Prefix(:=<http://a>)", "functional"),
            ("a.owl", "Prefix: a: <http://a>", "Manchester"),
            ("a.dat", "hello world", "known syntax"),
            ("a.ttl", "\0\0\0", "binary"),
        ] {
            let refusal = detect(name, Syntax::from_file_name(name), head.as_bytes())
                .expect_err(head)
                .to_string();
            assert!(refusal.contains(word), "{refusal}");
        }
    }
}
