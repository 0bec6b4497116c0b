//! RDF out, in the syntaxes we write.

use super::vocab::PREFIXES;
use super::{PrettyError, to_pretty_turtle};
use oxrdf::{Term, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};
use std::io::{self, Write};

/// A syntax we write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the syntaxes'")]
pub enum RdfSyntax {
    Turtle,
    JsonLd,
    NTriples,
    RdfXml,
}

/// A graph that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// As Turtle.
    #[error(transparent)]
    Turtle(#[from] PrettyError),
    /// In another syntax.
    #[error("the graph cannot be written: {0}")]
    Io(#[from] io::Error),
}

impl RdfSyntax {
    /// Every syntax, the preferred one first.
    pub const ALL: [Self; 4] = [Self::Turtle, Self::JsonLd, Self::NTriples, Self::RdfXml];

    /// The IANA media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Turtle => "text/turtle",
            Self::JsonLd => "application/ld+json",
            Self::NTriples => "application/n-triples",
            Self::RdfXml => "application/rdf+xml",
        }
    }

    /// The syntax of a media type or of a short name (`ttl`, `jsonld`, `nt`, `rdf`).
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

    /// The triples in this syntax.
    pub fn write(self, triples: &[Triple]) -> Result<Vec<u8>, WriteError> {
        if self == Self::Turtle && is_small(triples) {
            return Ok(to_pretty_turtle(triples)?.into_bytes());
        }
        let mut bytes = Vec::new();
        self.write_to::<io::Error>(triples.iter().cloned().map(Ok), &mut bytes)?;
        Ok(bytes)
    }

    /// Writes triples as they come; nothing is arranged for reading.
    pub fn write_to<E: From<io::Error>>(
        self,
        triples: impl Iterator<Item = Result<Triple, E>>,
        writer: impl Write,
    ) -> Result<(), E> {
        let mut serializer = self.serializer().for_writer(writer);
        for triple in triples {
            serializer.serialize_triple(triple?.as_ref())?;
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

/// The pretty writer recurses into blank nodes and takes quadratic time in lists: it is for what people read.
fn is_small(triples: &[Triple]) -> bool {
    let blank = |triple: &&Triple| matches!(triple.object, Term::BlankNode(_));
    triples.len() <= 5000 && triples.iter().filter(blank).count() <= 200
}
