//! Generated quads.

use arbitrary::{Arbitrary, Result, Unstructured};
use oxrdf::{
    BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple, TripleRef,
};

/// Characters of generated texts: those that syntaxes escape, and of one to four bytes in UTF-8.
const CHARACTERS: [char; 24] = [
    'a', 'b', ' ', '"', '\'', '\\', '\n', '\r', '\t', '<', '>', '{', '}', '.', ';', ',', '#', '@',
    '^', '_', 'ä', '‐', '\u{FEFF}', '🌍',
];
const NAMES: [&str; 8] = [
    "http://example.org/a",
    "http://example.org/a#b",
    "http://example.org/dir/c",
    "urn:d",
    "http://ä.example/é",
    "x:",
    "tag:e,f",
    "http://example.org/g?h=i&j",
];
/// In lower case: the readers convert tags.
const TAGS: [&str; 4] = ["en", "de-at", "zh-hant", "x-private"];
const DATATYPES: [&str; 5] = [
    "http://www.w3.org/2001/XMLSchema#integer",
    "http://www.w3.org/2001/XMLSchema#decimal",
    "http://www.w3.org/2001/XMLSchema#boolean",
    "http://www.w3.org/2001/XMLSchema#dateTime",
    "http://example.org/datatype",
];
const LEXICAL: [&str; 6] = ["1", "-1.5", "true", "2020-01-01T00:00:00Z", "", "1e400"];

/// Valid quads.
#[derive(Debug)]
pub struct Quads(pub Vec<Quad>);

impl<'a> Arbitrary<'a> for Quads {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let count = u.int_in_range(0..=24)?;
        (0..count).map(|_| quad(u)).collect::<Result<_>>().map(Self)
    }
}

impl Quads {
    /// Returns the quads as triples, without their graphs.
    #[must_use]
    pub fn triples(&self) -> Vec<Triple> {
        self.0
            .iter()
            .map(|quad| TripleRef::from(quad.as_ref()).into_owned())
            .collect()
    }
}

fn quad(u: &mut Unstructured<'_>) -> Result<Quad> {
    let subject: NamedOrBlankNode = if u.ratio(1, 4)? {
        blank(u)?.into()
    } else {
        name(u)?.into()
    };
    let graph = if u.ratio(3, 4)? {
        GraphName::DefaultGraph
    } else {
        name(u)?.into()
    };
    Ok(Quad::new(subject, name(u)?, object(u)?, graph))
}

fn object(u: &mut Unstructured<'_>) -> Result<Term> {
    Ok(match u.int_in_range(0..=4)? {
        0 => name(u)?.into(),
        1 => blank(u)?.into(),
        2 => Literal::new_simple_literal(text(u)?).into(),
        3 => Literal::new_language_tagged_literal_unchecked(text(u)?, *u.choose(&TAGS)?).into(),
        _ => {
            let lexical = if u.arbitrary()? {
                (*u.choose(&LEXICAL)?).to_owned()
            } else {
                text(u)?
            };
            Literal::new_typed_literal(lexical, NamedNode::new_unchecked(*u.choose(&DATATYPES)?))
                .into()
        }
    })
}

fn name(u: &mut Unstructured<'_>) -> Result<NamedNode> {
    Ok(NamedNode::new_unchecked(*u.choose(&NAMES)?))
}

fn blank(u: &mut Unstructured<'_>) -> Result<BlankNode> {
    Ok(BlankNode::new_unchecked(*u.choose(&["a", "b", "c0"])?))
}

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let length = u.int_in_range(0..=8)?;
    (0..length)
        .map(|_| u.choose(&CHARACTERS).copied())
        .collect()
}
