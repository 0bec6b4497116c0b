//! Parts of an answer, and rows of services, between processes, as JSON. A term is `{"I": IRI}`, `{"B": label}`, `{"L": text}`,
//! `{"G": [text, language]}`, `{"D": [text, datatype]}`, `{"Ltr": [text, language]}`, `{"Rtl": [text, language]}` or
//! `{"T": [subject, predicate, object]}`.

use super::SparqlError;
use super::stream::{Head, Item, Part};
use oxrdf::{
    BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple, Variable,
};
use serde::{Deserialize, Serialize};
use std::io;

#[derive(Serialize, Deserialize)]
enum WireTerm<S> {
    I(S),
    B(S),
    L(S),
    G(S, S),
    D(S, S),
    Ltr(S, S),
    Rtl(S, S),
    T(Box<WireTriple<S>>),
}

type WireTriple<S> = [WireTerm<S>; 3];

#[derive(Serialize, Deserialize)]
enum WirePart<S> {
    Boolean(bool),
    Solutions(Vec<S>),
    Graph,
    Rows(Vec<Vec<Option<WireTerm<S>>>>),
    Triples(Vec<WireTriple<S>>),
    End { truncated: bool },
    Failed(SparqlError),
}

/// Serializes a part of an answer. Returns `None` for parts that concern one process only.
pub(super) fn encode(part: Part) -> io::Result<Option<Vec<u8>>> {
    let bytes = match &part {
        Part::Admitted(_) => return Ok(None),
        Part::Head(Head::Boolean(value)) => serde_json::to_vec(&WirePart::<&str>::Boolean(*value)),
        Part::Head(Head::Solutions(variables)) => serde_json::to_vec(&WirePart::Solutions(
            variables.iter().map(Variable::as_str).collect(),
        )),
        Part::Head(Head::Graph) => serde_json::to_vec(&WirePart::<&str>::Graph),
        Part::Batch(items) => serde_json::to_vec(&wire_batch(items)),
        Part::End { truncated } => serde_json::to_vec(&WirePart::<&str>::End {
            truncated: *truncated,
        }),
        Part::Failed(error) => serde_json::to_vec(&WirePart::<&str>::Failed(error.clone())),
    };
    Ok(Some(bytes?))
}

/// Serializes a batch, whose items are all rows or all triples.
fn wire_batch(items: &[Item]) -> WirePart<&str> {
    let (mut rows, mut triples) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Row(terms) => rows.push(
                terms
                    .iter()
                    .map(|term| term.as_ref().map(wire_term))
                    .collect(),
            ),
            Item::Triple(triple) => triples.push(wire_triple(triple)),
        }
    }
    if triples.is_empty() {
        WirePart::Rows(rows)
    } else {
        WirePart::Triples(triples)
    }
}

fn wire_triple(triple: &Triple) -> WireTriple<&str> {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => WireTerm::I(node.as_str()),
        NamedOrBlankNode::BlankNode(node) => WireTerm::B(node.as_str()),
    };
    [
        subject,
        WireTerm::I(triple.predicate.as_str()),
        wire_term(&triple.object),
    ]
}

fn wire_term(term: &Term) -> WireTerm<&str> {
    match term {
        Term::NamedNode(node) => WireTerm::I(node.as_str()),
        Term::BlankNode(node) => WireTerm::B(node.as_str()),
        Term::Literal(literal) => match (literal.language(), literal.direction()) {
            (Some(language), None) => WireTerm::G(literal.value(), language),
            (Some(language), Some(BaseDirection::Ltr)) => WireTerm::Ltr(literal.value(), language),
            (Some(language), Some(BaseDirection::Rtl)) => WireTerm::Rtl(literal.value(), language),
            (None, _) if literal.datatype() == oxrdf::vocab::xsd::STRING => {
                WireTerm::L(literal.value())
            }
            (None, _) => WireTerm::D(literal.value(), literal.datatype().as_str()),
        },
        Term::Triple(triple) => WireTerm::T(Box::new(wire_triple(triple))),
    }
}

/// Serializes rows of a service for another process.
///
/// # Errors
/// If the rows cannot be serialized.
pub fn encode_rows(rows: &[Vec<Option<Term>>]) -> io::Result<Vec<u8>> {
    let rows = rows.iter().map(|row| {
        row.iter()
            .map(|term| term.as_ref().map(wire_term))
            .collect()
    });
    Ok(serde_json::to_vec(&rows.collect::<Vec<Vec<_>>>())?)
}

/// Reads rows that [`encode_rows`] wrote.
///
/// # Errors
/// If the bytes are no rows.
pub fn decode_rows(bytes: &[u8]) -> io::Result<Vec<Vec<Option<Term>>>> {
    let rows: Vec<Vec<Option<WireTerm<String>>>> = serde_json::from_slice(bytes)?;
    rows.into_iter()
        .map(|row| {
            row.into_iter()
                .map(|term| term.map(term_of).transpose())
                .collect()
        })
        .collect()
}

/// Reads a part of an answer.
pub(super) fn decode(bytes: &[u8]) -> io::Result<Part> {
    Ok(match serde_json::from_slice::<WirePart<String>>(bytes)? {
        WirePart::Boolean(value) => Part::Head(Head::Boolean(value)),
        WirePart::Solutions(names) => {
            let variables = names
                .into_iter()
                .map(|name| Variable::new(name).map_err(io::Error::other));
            Part::Head(Head::Solutions(variables.collect::<io::Result<_>>()?))
        }
        WirePart::Graph => Part::Head(Head::Graph),
        WirePart::Rows(rows) => Part::Batch(
            rows.into_iter()
                .map(|terms| {
                    let terms = terms.into_iter().map(|term| term.map(term_of).transpose());
                    Ok(Item::Row(terms.collect::<io::Result<_>>()?))
                })
                .collect::<io::Result<_>>()?,
        ),
        WirePart::Triples(triples) => Part::Batch(
            triples
                .into_iter()
                .map(|triple| Ok(Item::Triple(Box::new(triple_of(triple)?))))
                .collect::<io::Result<_>>()?,
        ),
        WirePart::End { truncated } => Part::End { truncated },
        WirePart::Failed(error) => Part::Failed(error),
    })
}

fn term_of(term: WireTerm<String>) -> io::Result<Term> {
    Ok(match term {
        WireTerm::I(iri) => NamedNode::new_unchecked(iri).into(),
        WireTerm::B(label) => BlankNode::new_unchecked(label).into(),
        WireTerm::L(text) => Literal::new_simple_literal(text).into(),
        WireTerm::G(text, language) => {
            Literal::new_language_tagged_literal_unchecked(text, language).into()
        }
        WireTerm::D(text, datatype) => {
            Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype)).into()
        }
        WireTerm::Ltr(text, language) => {
            Literal::new_directional_language_tagged_literal_unchecked(
                text,
                language,
                BaseDirection::Ltr,
            )
            .into()
        }
        WireTerm::Rtl(text, language) => {
            Literal::new_directional_language_tagged_literal_unchecked(
                text,
                language,
                BaseDirection::Rtl,
            )
            .into()
        }
        WireTerm::T(triple) => triple_of(*triple)?.into(),
    })
}

fn triple_of([subject, predicate, object]: WireTriple<String>) -> io::Result<Triple> {
    Triple::from_terms(term_of(subject)?, term_of(predicate)?, term_of(object)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn again(part: Part) -> Part {
        decode(&encode(part).expect("written").expect("for others")).expect("read")
    }

    fn terms() -> Vec<Term> {
        vec![
            NamedNode::new_unchecked("http://e.org/\"ä").into(),
            BlankNode::new_unchecked("b1").into(),
            Literal::new_simple_literal("a\nb").into(),
            Literal::new_language_tagged_literal_unchecked("Öl", "de").into(),
            Literal::from(42).into(),
            Literal::new_directional_language_tagged_literal_unchecked(
                "a",
                "ar",
                BaseDirection::Rtl,
            )
            .into(),
            Literal::new_directional_language_tagged_literal_unchecked(
                "a",
                "en",
                BaseDirection::Ltr,
            )
            .into(),
            triple_term(triple_term(Literal::from(1).into())),
        ]
    }

    fn triple_term(object: Term) -> Term {
        Triple::new(
            BlankNode::new_unchecked("b"),
            NamedNode::new_unchecked("x:q"),
            object,
        )
        .into()
    }

    #[test]
    fn solutions_are_unchanged_after_serialization() {
        let mut row: Vec<Option<Term>> = terms().into_iter().map(Some).collect();
        row.push(None);
        let Part::Batch(items) = again(Part::Batch(vec![Item::Row(row.clone())])) else {
            panic!("no batch")
        };
        assert!(matches!(items.as_slice(), [Item::Row(same)] if *same == row));
        let rows = vec![row.clone(), Vec::new()];
        assert_eq!(
            decode_rows(&encode_rows(&rows).expect("written")).expect("read"),
            rows
        );
        let head = Head::Solutions(vec![
            Variable::new_unchecked("x"),
            Variable::new_unchecked("y"),
        ]);
        assert!(matches!(again(Part::Head(head.clone())), Part::Head(same) if same == head));
        assert!(matches!(
            again(Part::Head(Head::Boolean(true))),
            Part::Head(Head::Boolean(true))
        ));
        assert!(matches!(
            again(Part::End { truncated: true }),
            Part::End { truncated: true }
        ));
    }

    #[test]
    fn triples_are_unchanged_after_serialization() {
        for term in terms() {
            let triple = Triple::new(
                BlankNode::new_unchecked("s"),
                NamedNode::new_unchecked("x:p"),
                term,
            );
            let Part::Batch(items) =
                again(Part::Batch(vec![Item::Triple(Box::new(triple.clone()))]))
            else {
                panic!("no batch")
            };
            assert!(matches!(items.as_slice(), [Item::Triple(same)] if **same == triple));
        }
    }

    #[test]
    fn errors_keep_their_kind() {
        let deadline = SparqlError::Deadline(Duration::from_millis(1500));
        let Part::Failed(same) = again(Part::Failed(deadline.clone())) else {
            panic!("no error")
        };
        assert_eq!(same.to_string(), deadline.to_string());
        assert!(
            decode(b"{\"Triples\":[[{\"L\":\"a\"},{\"I\":\"x:p\"},{\"L\":\"a\"}]]}").is_err(),
            "a literal as subject"
        );
        assert!(decode(b"{\"Solutions\":[\"?\"]}").is_err(), "no variable");
    }
}
