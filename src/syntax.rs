//! RDF syntaxes as values of an argument.

use lodeseek_cli::streams::messages;
use lodeseek_rdf::{RdfForm, RdfSyntax};
use oxrdf::Triple;
use std::io::Write;

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

/// Serializes triples for tools of RDF 1.1. Prints a warning if the syntax cannot express all of them.
pub(crate) fn write_graph(syntax: RdfSyntax, triples: &[Triple]) -> anyhow::Result<Vec<u8>> {
    let written = RdfForm::from(syntax).serialize(triples)?;
    let omissions = written.omissions;
    if let Some(iri) = omissions.iri {
        let count = omissions.statements;
        writeln!(
            messages(),
            "lodeseek: {count} statements were left out, the first with the property <{iri}>: RDF/XML cannot express it"
        )?;
    }
    if omissions.characters > 0 {
        let count = omissions.characters;
        writeln!(
            messages(),
            "lodeseek: {count} characters that XML does not permit were left out"
        )?;
    }
    Ok(written.bytes)
}
