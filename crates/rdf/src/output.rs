//! RDF serialization.

use super::rdf_xml::RdfXmlWriter;
use super::vocab::PREFIXES;
use super::{PrettyError, basic_encoding, to_pretty_turtle};
use oxrdf::{Literal, Term, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use std::io::{self, Write};

/// Supported output syntax.
///
/// ```
/// use lodeseek_rdf::RdfSyntax;
/// use oxrdf::{Literal, NamedNode, Triple};
///
/// let triple = Triple::new(NamedNode::new("ex:a")?, NamedNode::new("ex:p")?, Literal::from("A"));
/// assert_eq!(RdfSyntax::NTriples.write(&[triple])?, b"<ex:a> <ex:p> \"A\" .\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the syntaxes'")]
pub enum RdfSyntax {
    Turtle,
    JsonLd,
    NTriples,
    RdfXml,
}

/// Error of serializing a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Error of the Turtle serializer.
    #[error(transparent)]
    Turtle(#[from] PrettyError),
    /// Error of another serializer.
    #[error("cannot serialize the graph: {0}")]
    Io(#[from] io::Error),
}

impl RdfSyntax {
    /// All syntaxes, the preferred one first.
    pub const ALL: [Self; 4] = [Self::Turtle, Self::JsonLd, Self::NTriples, Self::RdfXml];

    /// Returns the IANA media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Turtle => "text/turtle",
            Self::JsonLd => "application/ld+json",
            Self::NTriples => "application/n-triples",
            Self::RdfXml => "application/rdf+xml",
        }
    }

    /// Returns the syntax of a media type or a short name (`ttl`, `jsonld`, `nt`, `rdf`), whatever its case.
    ///
    /// Media types may be older ones, and have parameters, or a space for a `+` that was not encoded in an address.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        // In the query of an address, a plus sign is decoded as a space.
        let name = name
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .replace(' ', "+");
        Some(match name.as_str() {
            "ttl"
            | "turtle"
            | "n3"
            | "application/turtle"
            | "application/x-turtle"
            | "application/n3"
            | "text/n3"
            | "text/rdf+n3" => Self::Turtle,
            "jsonld" | "json-ld" | "ld+json" | "application/x-json+ld" => Self::JsonLd,
            "nt" | "ntriples" | "n-triples" => Self::NTriples,
            "rdf" | "rdfxml" | "rdf+xml" | "rdf-xml" | "xml" => Self::RdfXml,
            media_type => {
                return Self::ALL
                    .into_iter()
                    .find(|syntax| syntax.media_type() == media_type);
            }
        })
    }

    /// Serializes triples as of RDF 1.2, without a declaration of the version. Small graphs in Turtle are formatted for reading.
    ///
    /// For clients whose version is not known, [`RdfForm`] is right. RDF/XML leaves out what it cannot express.
    pub fn write(self, triples: &[Triple]) -> Result<Vec<u8>, WriteError> {
        if self == Self::Turtle && is_small(triples) {
            return Ok(to_pretty_turtle(triples)?.into_bytes());
        }
        let mut bytes = Vec::new();
        self.write_to::<io::Error>(triples.iter().cloned().map(Ok), &mut bytes)?;
        Ok(bytes)
    }

    /// Serializes triples in their order as of RDF 1.2, without formatting for reading.
    ///
    /// JSON-LD 1.1 has no triple terms: they are written in the basic encoding of *RDF 1.2 Interoperability*.
    /// <https://www.w3.org/TR/rdf12-interop/>
    pub fn write_to<E: From<io::Error>>(
        self,
        triples: impl Iterator<Item = Result<Triple, E>>,
        writer: impl Write,
    ) -> Result<Omissions, E> {
        if self == Self::RdfXml {
            let mut document = RdfXmlWriter::begin(writer, RdfVersion::V12)?;
            for triple in triples {
                document.write(&triple?)?;
            }
            return Ok(document.finish()?);
        }
        let mut serializer = self.serializer().for_writer(writer);
        for triple in triples {
            match self {
                Self::JsonLd => basic_encoding::encode(triple?, &mut |triple: Triple| {
                    serializer.serialize_triple(triple.as_ref())
                })?,
                Self::Turtle | Self::NTriples | Self::RdfXml => {
                    serializer.serialize_triple(triple?.as_ref())?;
                }
            }
        }
        serializer.finish()?;
        Ok(Omissions::default())
    }

    fn serializer(self) -> RdfSerializer {
        let format = match self {
            Self::Turtle => RdfFormat::Turtle,
            Self::JsonLd => RdfFormat::JsonLd {
                profile: JsonLdProfileSet::default(),
            },
            Self::NTriples => RdfFormat::NTriples,
            Self::RdfXml => RdfFormat::RdfXml,
        };
        let mut serializer = RdfSerializer::from_format(format);
        if self == Self::Turtle {
            for (name, namespace) in PREFIXES {
                serializer = serializer
                    .clone()
                    .with_prefix(*name, *namespace)
                    .unwrap_or(serializer);
            }
        }
        serializer
    }
}

/// Version of RDF that a reader supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RdfVersion {
    /// RDF 1.1: no base directions, and triple terms in the basic encoding of *RDF 1.2 Interoperability*.
    #[default]
    V11,
    /// RDF 1.2 Basic: base directions, and triple terms in the basic encoding.
    V12Basic,
    /// RDF 1.2.
    V12,
}

impl RdfVersion {
    /// Returns the version with this number, for example the parameter `version` of a media type.
    #[must_use]
    pub fn from_number(number: &str) -> Option<Self> {
        match number {
            "1.0" | "1.1" => Some(Self::V11),
            "1.2-basic" => Some(Self::V12Basic),
            "1.2" => Some(Self::V12),
            _ => None,
        }
    }

    /// Returns the number that a document declares. RDF 1.1 has no declaration.
    #[must_use]
    pub fn number(self) -> Option<&'static str> {
        match self {
            Self::V11 => None,
            Self::V12Basic => Some("1.2-basic"),
            Self::V12 => Some("1.2"),
        }
    }

    /// Passes a triple in the form of this version to `add`. A triple term may need several triples.
    pub fn convert<E>(
        self,
        triple: Triple,
        add: &mut impl FnMut(Triple) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::V12 => add(triple),
            Self::V12Basic => basic_encoding::encode(triple, add),
            Self::V11 => basic_encoding::encode(triple, &mut |triple: Triple| {
                add(Triple {
                    object: without_direction(triple.object),
                    ..triple
                })
            }),
        }
    }

    /// Returns a term of a query result in the form of this version. A triple term is the blank node that stands for it in graphs.
    #[must_use]
    pub fn convert_term(self, term: Term) -> Term {
        match term {
            Term::Triple(triple) if self != Self::V12 => basic_encoding::node(&triple).into(),
            term if self == Self::V11 => without_direction(term),
            term => term,
        }
    }
}

/// Converts a literal with a base direction to RDF 1.1.
fn without_direction(term: Term) -> Term {
    match &term {
        Term::Literal(literal) => match (literal.language(), literal.direction()) {
            (Some(language), Some(_)) => {
                Literal::new_language_tagged_literal_unchecked(literal.value(), language).into()
            }
            _ => term,
        },
        _ => term,
    }
}

/// Output syntax, and the version of RDF of its readers.
///
/// ```
/// use lodeseek_rdf::{RdfForm, RdfSyntax, RdfVersion};
/// use oxrdf::{BaseDirection, Literal, NamedNode, Triple};
///
/// let text = Literal::new_directional_language_tagged_literal("A", "ar", BaseDirection::Rtl)?;
/// let triple = Triple::new(NamedNode::new("ex:a")?, NamedNode::new("ex:p")?, text);
/// let form = RdfForm::from(RdfSyntax::NTriples);
/// assert_eq!(form.serialize(&[triple.clone()])?.bytes, b"<ex:a> <ex:p> \"A\"@ar .\n");
/// let form = RdfForm { version: RdfVersion::V12, ..form };
/// assert_eq!(form.serialize(&[triple])?.bytes, b"VERSION \"1.2\"\n<ex:a> <ex:p> \"A\"@ar--rtl .\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdfForm {
    /// Syntax.
    pub syntax: RdfSyntax,
    /// Version of RDF.
    pub version: RdfVersion,
}

impl From<RdfSyntax> for RdfForm {
    fn from(syntax: RdfSyntax) -> Self {
        Self {
            syntax,
            version: RdfVersion::default(),
        }
    }
}

/// Serialized graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerializedGraph {
    /// The document.
    pub bytes: Vec<u8>,
    /// Statements and characters that the syntax cannot express.
    pub omissions: Omissions,
}

/// Statements and characters that a syntax cannot express, and that were left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Omissions {
    /// Number of characters.
    pub characters: u64,
    /// Number of statements.
    pub statements: u64,
    /// IRI of the first property that cannot be written.
    pub iri: Option<String>,
}

impl Omissions {
    pub(crate) fn omit_statement(&mut self, iri: &str) {
        self.statements += 1;
        self.iri.get_or_insert_with(|| iri.to_owned());
    }
}

impl RdfForm {
    /// Serializes triples. Small graphs in Turtle are formatted for reading.
    pub fn serialize(self, triples: &[Triple]) -> Result<SerializedGraph, WriteError> {
        if self.syntax == RdfSyntax::Turtle {
            let mut converted = Vec::with_capacity(triples.len());
            for triple in triples {
                self.version.convert(triple.clone(), &mut |triple| {
                    converted.push(triple);
                    Ok::<_, WriteError>(())
                })?;
            }
            if is_small(&converted) {
                let mut bytes = self.declaration().into_bytes();
                bytes.extend_from_slice(to_pretty_turtle(&converted)?.as_bytes());
                return Ok(SerializedGraph {
                    bytes,
                    omissions: Omissions::default(),
                });
            }
        }
        let mut bytes = Vec::new();
        let omissions = self.write_to::<io::Error>(triples.iter().cloned().map(Ok), &mut bytes)?;
        Ok(SerializedGraph { bytes, omissions })
    }

    /// Serializes triples in their order, without formatting for reading. Returns what was left out.
    pub fn write_to<E: From<io::Error>>(
        self,
        triples: impl Iterator<Item = Result<Triple, E>>,
        mut writer: impl Write,
    ) -> Result<Omissions, E> {
        writer.write_all(self.declaration().as_bytes())?;
        if self.syntax == RdfSyntax::RdfXml {
            let mut document = RdfXmlWriter::begin(writer, self.version)?;
            for triple in triples {
                self.version
                    .convert(triple?, &mut |triple| document.write(&triple))?;
            }
            return Ok(document.finish()?);
        }
        // JSON-LD has base directions, but no triple terms.
        let version = match self.syntax {
            RdfSyntax::JsonLd if self.version == RdfVersion::V12 => RdfVersion::V12Basic,
            _ => self.version,
        };
        let mut serializer = self.syntax.serializer().for_writer(writer);
        for triple in triples {
            version.convert(triple?, &mut |triple| {
                serializer.serialize_triple(triple.as_ref())
            })?;
        }
        serializer.finish()?;
        Ok(Omissions::default())
    }

    /// Returns the declaration of the version at the beginning of a document of Turtle or N-Triples.
    fn declaration(self) -> String {
        match (self.syntax, self.version.number()) {
            (RdfSyntax::Turtle | RdfSyntax::NTriples, Some(number)) => {
                format!("VERSION \"{number}\"\n")
            }
            _ => String::new(),
        }
    }
}

/// Returns true if a graph is small enough for the pretty serializer, which recurses into blank nodes and takes quadratic
/// time for lists.
fn is_small(triples: &[Triple]) -> bool {
    triples.len() <= 5000
        && triples
            .iter()
            .filter(|triple| matches!(triple.object, Term::BlankNode(_)))
            .count()
            <= 200
}
