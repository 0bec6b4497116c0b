//! RDF syntaxes as values of an argument.

use lodeseek_rdf::RdfSyntax;

/// RDF syntax of the output.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(super) enum Syntax {
    Turtle,
    #[value(name = "jsonld")]
    JsonLd,
    #[value(name = "nt")]
    NTriples,
    #[value(name = "rdfxml")]
    RdfXml,
}

impl From<Syntax> for RdfSyntax {
    fn from(syntax: Syntax) -> Self {
        match syntax {
            Syntax::Turtle => Self::Turtle,
            Syntax::JsonLd => Self::JsonLd,
            Syntax::NTriples => Self::NTriples,
            Syntax::RdfXml => Self::RdfXml,
        }
    }
}
