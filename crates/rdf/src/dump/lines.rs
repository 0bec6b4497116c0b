//! N-Triples and N-Quads. Broken lines are skipped. Graph names are dropped, because a dataset is one graph.
//!
//! Blocks of complete lines are parsed together. If a block contains an error, its lines are parsed one by one: after an
//! unclosed quote or angle bracket, the parser would skip the following lines.
//!
//! RDF-star wrote `<< s p o >>` in these syntaxes, as in Turtle. RDF 1.2 has it in Turtle only, where it is a reifier of the
//! triple. Such a line is therefore read as Turtle. In RDF-star, equal quoted triples were one term, so they get one reifier.

use super::repair::repair_terms;
use super::{Refusal, Sink, shorten};
use crate::basic_encoding::hashed_blank_node;
use crate::triples::MAX_TRIPLE_TERM_DEPTH;
use crate::vocab::rdf;
use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};
use oxttl::{NQuadsParser, TurtleParser};
use rustc_hash::FxHashMap;
use std::io::{self, Read};

const BLOCK_BYTES: usize = 64 << 10;
const TRIPLE_TERM: &[u8] = b"<<(";
/// Prefix of the labels of blank nodes that reify the quoted triples of RDF-star.
const REIFIER: &str = "rdfStarReifier";

pub(super) fn read(mut reader: impl Read, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut line = 1;
    loop {
        let start = buffer.len();
        buffer.resize(start + BLOCK_BYTES, 0);
        let read = reader.read(&mut buffer[start..]);
        buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
        let ended = matches!(read, Ok(0));
        let done = if ended {
            buffer.len()
        } else {
            complete_lines_length(&buffer)
        };
        line += read_block(&buffer[..done], line, sink)?;
        buffer.drain(..done);
        let limit = sink.limits.token_bytes;
        if buffer.len() > limit {
            return Err(Refusal::TokenSize { limit, line }.into());
        }
        // Only now, so that the complete lines before an error of the input are read.
        read?;
        if ended {
            if let Some(line) = sink.rdf_star {
                sink.problem(
                    Some(line),
                    "quoted triples of RDF-star were read as reified triples of RDF 1.2",
                );
            }
            return Ok(());
        }
    }
}

/// Returns the length of the complete lines at the beginning of a text.
fn complete_lines_length(text: &[u8]) -> usize {
    match memchr::memrchr2(b'\n', b'\r', text) {
        Some(place) => place + 1,
        None => 0,
    }
}

/// Reads complete lines, starting at line number `line`. Returns the number of line ends.
fn read_block(text: &[u8], mut line: u64, sink: &mut Sink<'_>) -> Result<u64, Refusal> {
    let first = line;
    let limit = sink.limits.token_bytes;
    // An upper bound: triple terms in strings are counted, and those of all lines together.
    let is_flat = memchr::memmem::find_iter(text, TRIPLE_TERM)
        .nth(MAX_TRIPLE_TERM_DEPTH)
        .is_none();
    let sound = text.len() <= limit && is_flat && parse_statements(text, None, sink).is_ok();
    let mut start = 0;
    while start < text.len() {
        let end = match memchr::memchr2(b'\n', b'\r', &text[start..]) {
            Some(place) => start + place,
            None => text.len(),
        };
        if end - start > limit {
            return Err(Refusal::TokenSize { limit, line });
        }
        if !is_flat && triple_term_depth(&text[start..end]) > MAX_TRIPLE_TERM_DEPTH {
            return Err(Refusal::Nesting {
                limit: MAX_TRIPLE_TERM_DEPTH,
                line,
            });
        }
        if !sound && let Err(reason) = one_statement(&text[start..end], line, sink) {
            let reason = if reason == "Unexpected end of file" {
                "a string or an IRI is not closed"
            } else {
                &reason
            };
            let excerpt = shorten(&String::from_utf8_lossy(&text[start..end]));
            sink.skip(Some(line), format!("{reason}, in {excerpt}"));
        }
        start = end
            + if text[end..].starts_with(b"\r\n") {
                2
            } else {
                1
            };
        line += u64::from(end < text.len());
    }
    Ok(line - first)
}

/// Returns the number of triple terms in a line, an upper bound of their nesting. Strings and IRIs are not searched.
fn triple_term_depth(line: &[u8]) -> usize {
    let (mut depth, mut place) = (0, 0);
    if memchr::memmem::find_iter(line, TRIPLE_TERM)
        .nth(MAX_TRIPLE_TERM_DEPTH)
        .is_none()
    {
        return 0;
    }
    while place < line.len() {
        place += match line[place] {
            b'"' => 1 + string_length(&line[place + 1..]),
            b'<' if line[place..].starts_with(TRIPLE_TERM) => {
                depth += 1;
                TRIPLE_TERM.len()
            }
            _ => 1,
        };
    }
    depth
}

/// Returns the length of the rest of a string, with its closing quote.
fn string_length(text: &[u8]) -> usize {
    let mut place = 0;
    while let Some(found) = text
        .get(place..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        place += found + 1;
        if text[place - 1] == b'"' {
            return place;
        }
        place += 1;
    }
    text.len()
}

/// Adds the statement of a line. A version directive is accepted, and a statement of RDF-star is converted. Invalid IRIs and language
/// tags are repaired.
fn one_statement(line: &[u8], number: u64, sink: &mut Sink<'_>) -> Result<(), String> {
    let Err(reason) = parse_statements(line, Some(number), sink) else {
        return Ok(());
    };
    if let Some(repaired) = repair_terms(line)
        && valid_statement(&repaired.text, number, sink).is_ok()
    {
        for (_, message) in repaired.repairs {
            sink.repair(Some(number), message);
        }
        return Ok(());
    }
    other_statement(line, number, reason, sink)
}

/// Adds a statement of N-Quads or RDF-star.
fn valid_statement(line: &[u8], number: u64, sink: &mut Sink<'_>) -> Result<(), String> {
    let Err(reason) = parse_statements(line, Some(number), sink) else {
        return Ok(());
    };
    other_statement(line, number, reason, sink)
}

/// Adds a line that is no statement of N-Quads for this reason.
fn other_statement(
    line: &[u8],
    number: u64,
    reason: String,
    sink: &mut Sink<'_>,
) -> Result<(), String> {
    let trimmed = line.trim_ascii_start();
    if let Some(version) = trimmed.strip_prefix(b"VERSION")
        && is_string(version)
    {
        return Ok(());
    }
    let has_quoted =
        memchr::memmem::find_iter(line, b"<<").any(|place| line.get(place + 2) != Some(&b'('));
    let Some(triples) = has_quoted.then(|| rdf_star(line)).flatten() else {
        return Err(reason);
    };
    triples
        .iter()
        .for_each(|triple| sink.triple(triple, Some(number)));
    sink.rdf_star.get_or_insert(number);
    Ok(())
}

/// Returns true if a text is one string in quotes, possibly followed by a comment.
fn is_string(text: &[u8]) -> bool {
    let Some((&quote @ (b'"' | b'\''), rest)) = text.trim_ascii_start().split_first() else {
        return false;
    };
    let Some(end) = memchr::memchr(quote, rest) else {
        return false;
    };
    matches!(
        rest[end + 1..].trim_ascii_start().first(),
        None | Some(b'#')
    ) && text[0].is_ascii_whitespace()
}

/// Reads a line of N-Triples-star as Turtle of RDF 1.2. Returns `None` if it is not valid there either.
fn rdf_star(line: &[u8]) -> Option<Vec<Triple>> {
    let triples: Vec<Triple> = TurtleParser::new()
        .for_slice(line)
        .collect::<Result<_, _>>()
        .ok()?;
    let mut reifiers: FxHashMap<BlankNode, BlankNode> = FxHashMap::default();
    let mut converted = Vec::with_capacity(triples.len());
    // The parser gives the reification of a nested triple first.
    for triple in triples {
        let mut triple = crate::relabel_triple(triple, &mut |node| {
            reifiers.get(&node).cloned().unwrap_or(node)
        });
        if triple.predicate.as_str() == rdf::REIFIES
            && let (NamedOrBlankNode::BlankNode(reifier), Term::Triple(reified)) =
                (&triple.subject, &triple.object)
        {
            let node = hashed_blank_node(REIFIER, reified);
            reifiers.insert(reifier.clone(), node.clone());
            triple.subject = node.into();
        }
        converted.push(triple);
    }
    Some(converted)
}

/// Adds the statements of a text if all of them are valid.
///
/// Both syntaxes are parsed as N-Quads, which is a superset of N-Triples. `line` is that of the text, if it is one line.
fn parse_statements(text: &[u8], line: Option<u64>, sink: &mut Sink<'_>) -> Result<(), String> {
    let quads: Result<Vec<_>, _> = NQuadsParser::new().for_slice(text).collect();
    for quad in quads.map_err(|error| error.message().to_owned())? {
        sink.triple(
            &Triple::new(quad.subject, quad.predicate, quad.object),
            line,
        );
    }
    Ok(())
}
