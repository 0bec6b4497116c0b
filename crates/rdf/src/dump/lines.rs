//! N-Triples and N-Quads. Broken lines are skipped. Graph names are dropped, because a dataset is one graph.
//!
//! Blocks of complete lines are parsed together. If a block contains an error, its lines are parsed one by one: after an
//! unclosed quote or angle bracket, the parser would skip the following lines.

use super::{Refusal, Sink, shorten};
use oxrdf::Triple;
use oxttl::NQuadsParser;
use std::io::{self, Read};

const BLOCK: usize = 64 << 10;

pub(super) fn read(mut reader: impl Read, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut line = 1;
    loop {
        let start = buffer.len();
        buffer.resize(start + BLOCK, 0);
        let read = reader.read(&mut buffer[start..]);
        buffer.truncate(start + read.as_ref().map_or(0, |&read| read));
        let ended = matches!(read, Ok(0));
        let done =
            if ended { buffer.len() } else { memchr::memrchr2(b'\n', b'\r', &buffer).map_or(0, |place| place + 1) };
        line += block(&buffer[..done], line, sink)?;
        buffer.drain(..done);
        let limit = sink.limits.token_bytes;
        if buffer.len() > limit {
            return Err(Refusal::TokenSize { limit, line }.into());
        }
        read?;
        if ended {
            return Ok(());
        }
    }
}

/// Reads complete lines, starting at line number `line`. Returns the number of line ends.
fn block(text: &[u8], mut line: u64, sink: &mut Sink<'_>) -> Result<u64, Refusal> {
    let first = line;
    let limit = sink.limits.token_bytes;
    let sound = text.len() <= limit && statements(text, sink).is_ok();
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr2(b'\n', b'\r', &text[start..]).map_or(text.len(), |place| start + place);
        if end - start > limit {
            return Err(Refusal::TokenSize { limit, line });
        }
        if !sound && let Err(reason) = statements(&text[start..end], sink) {
            let reason = if reason == "Unexpected end of file" { "a string or an IRI is not closed" } else { &reason };
            let excerpt = shorten(&String::from_utf8_lossy(&text[start..end]));
            sink.skip(Some(line), format!("{reason}, in {excerpt}"));
        }
        start = end + if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        line += u64::from(end < text.len());
    }
    Ok(line - first)
}

/// Adds the statements of a text if all of them are valid.
///
/// Both syntaxes are parsed as N-Quads, which is a superset of N-Triples.
fn statements(text: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
    let quads: Result<Vec<_>, _> = NQuadsParser::new().for_slice(text).collect();
    for quad in quads.map_err(|error| error.message().to_owned())? {
        sink.triple(&Triple::new(quad.subject, quad.predicate, quad.object));
    }
    Ok(())
}
