//! RDF serialization.

use super::vocab::PREFIXES;
use super::{PrettyError, basic_encoding, to_pretty_turtle};
use oxrdf::{Term, Triple};
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

    /// Returns the syntax of a media type or a short name (`ttl`, `jsonld`, `nt`, `rdf`).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ttl" | "turtle" => Self::Turtle,
            "jsonld" | "json-ld" => Self::JsonLd,
            "nt" | "ntriples" | "n-triples" => Self::NTriples,
            "rdf" | "rdfxml" | "xml" => Self::RdfXml,
            media_type => return Self::ALL.into_iter().find(|syntax| syntax.media_type() == media_type),
        })
    }

    /// Serializes triples. Small graphs in Turtle are formatted for reading.
    pub fn write(self, triples: &[Triple]) -> Result<Vec<u8>, WriteError> {
        if self == Self::Turtle && is_small(triples) {
            return Ok(to_pretty_turtle(triples)?.into_bytes());
        }
        let mut bytes = Vec::new();
        self.write_to::<io::Error>(triples.iter().cloned().map(Ok), &mut bytes)?;
        Ok(bytes)
    }

    /// Serializes triples in their order, without formatting for reading.
    ///
    /// JSON-LD 1.1 has no triple terms: they are written in the basic encoding of *RDF 1.2 Interoperability*.
    /// <https://www.w3.org/TR/rdf12-interop/>
    pub fn write_to<E: From<io::Error>>(
        self,
        triples: impl Iterator<Item = Result<Triple, E>>,
        writer: impl Write,
    ) -> Result<(), E> {
        let mut serializer = self.serializer().for_writer(writer);
        let mut write = |triple: Triple| serializer.serialize_triple(triple.as_ref());
        for triple in triples {
            match self {
                Self::JsonLd => basic_encoding::encode(triple?, &mut write)?,
                Self::Turtle | Self::NTriples | Self::RdfXml => write(triple?)?,
            }
        }
        serializer.finish()?;
        Ok(())
    }

    fn serializer(self) -> RdfSerializer {
        let format = match self {
            Self::Turtle => RdfFormat::Turtle,
            Self::JsonLd => RdfFormat::JsonLd { profile: JsonLdProfileSet::default() },
            Self::NTriples => RdfFormat::NTriples,
            Self::RdfXml => RdfFormat::RdfXml,
        };
        let mut serializer = RdfSerializer::from_format(format);
        if self == Self::Turtle {
            for (name, namespace) in PREFIXES {
                serializer = serializer.clone().with_prefix(*name, *namespace).unwrap_or(serializer);
            }
        }
        serializer
    }
}

/// Returns true if a graph is small enough for the pretty serializer, which recurses into blank nodes and takes quadratic
/// time for lists.
fn is_small(triples: &[Triple]) -> bool {
    let blank = |triple: &&Triple| matches!(triple.object, Term::BlankNode(_));
    triples.len() <= 5000 && triples.iter().filter(blank).count() <= 200
}
