//! Triples as bytes, for example from one process to another.
//!
//! A record is a byte for its kind, and for a triple its three terms. A term is a byte for its kind and its texts: each has four
//! bytes for its length (little-endian). A subject or predicate that is repeated is one byte. Each piece can be read alone.

use super::triples::{MAX_TRIPLE_TERM_DEPTH, TripleSink};
use oxrdf::{
    BaseDirection, BlankNodeRef, LiteralRef, NamedNodeRef, NamedOrBlankNodeRef, TermRef, Triple,
    TripleRef, vocab::xsd,
};
use std::io;

/// Length from which on a piece is passed on, in bytes.
const PIECE_BYTES: usize = 256 << 10;

const START_FILE: u8 = b'F';
const TRIPLE: u8 = b'T';
const SAME: u8 = b'=';
const IRI: u8 = b'I';
const BLANK: u8 = b'B';
const TEXT: u8 = b'L';
const TYPED: u8 = b'D';
const TAGGED: u8 = b'G';
const LEFT_TO_RIGHT: u8 = b'>';
const RIGHT_TO_LEFT: u8 = b'<';
const TRIPLE_TERM: u8 = b'Q';

/// Writer of triples as pieces of bytes.
///
/// ```
/// use lodeseek_rdf::{TripleGraphBuilder, TripleStreamWriter, dump::DumpReader, read_triple_stream};
///
/// let mut pieces = Vec::new();
/// let mut writer = TripleStreamWriter::new(|piece: &[u8]| Ok(pieces.push(piece.to_vec())));
/// let turtle = "<http://e.org/a> <http://e.org/p> 1 , 'two'@en , _:b .";
/// DumpReader::default().read(turtle.as_bytes(), "dump.ttl", "http://e.org/", &mut writer);
/// writer.finish()?;
/// let mut graph = TripleGraphBuilder::new();
/// for piece in &pieces {
///     read_triple_stream(piece, &mut graph)?;
/// }
/// assert_eq!(graph.finish().len(), 3);
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TripleStreamWriter<W> {
    write: W,
    piece: Vec<u8>,
    subject: Vec<u8>,
    predicate: Vec<u8>,
    error: Option<io::Error>,
}

impl<W: FnMut(&[u8]) -> io::Result<()>> TripleStreamWriter<W> {
    /// Creates a writer that passes on each piece to `write`.
    #[must_use]
    pub fn new(write: W) -> Self {
        Self {
            write,
            piece: Vec::new(),
            subject: Vec::new(),
            predicate: Vec::new(),
            error: None,
        }
    }

    /// Writes the last piece.
    ///
    /// # Errors
    /// The first error of `write`. What followed it was not written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush();
        match self.error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn flush(&mut self) {
        if self.error.is_none() && !self.piece.is_empty() {
            // Adding a triple cannot fail: `finish` returns the first error.
            self.error = (self.write)(&self.piece).err();
        }
        self.piece.clear();
        // A piece is read alone, so it must begin with terms in full.
        self.subject.clear();
        self.predicate.clear();
    }
}

impl<W: FnMut(&[u8]) -> io::Result<()>> TripleSink for TripleStreamWriter<W> {
    fn start_file(&mut self) {
        self.piece.push(START_FILE);
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        self.piece.push(TRIPLE);
        let start = self.piece.len();
        push_subject(&mut self.piece, triple.subject);
        replace_repetition(&mut self.piece, start, &mut self.subject);
        let start = self.piece.len();
        push_text(&mut self.piece, IRI, triple.predicate.as_str());
        replace_repetition(&mut self.piece, start, &mut self.predicate);
        push_term(&mut self.piece, triple.object);
        if self.piece.len() >= PIECE_BYTES {
            self.flush();
        }
    }
}

/// Replaces the term at the end of a piece if it is the last one of its place.
fn replace_repetition(piece: &mut Vec<u8>, start: usize, last: &mut Vec<u8>) {
    if piece[start..] == last[..] {
        piece.truncate(start);
        piece.push(SAME);
    } else {
        last.clear();
        last.extend_from_slice(&piece[start..]);
    }
}

fn push_subject(piece: &mut Vec<u8>, subject: NamedOrBlankNodeRef<'_>) {
    match subject {
        NamedOrBlankNodeRef::NamedNode(node) => push_text(piece, IRI, node.as_str()),
        NamedOrBlankNodeRef::BlankNode(node) => push_text(piece, BLANK, node.as_str()),
    }
}

fn push_term(piece: &mut Vec<u8>, term: TermRef<'_>) {
    match term {
        TermRef::NamedNode(node) => push_text(piece, IRI, node.as_str()),
        TermRef::BlankNode(node) => push_text(piece, BLANK, node.as_str()),
        TermRef::Literal(literal) => push_literal(piece, literal),
        TermRef::Triple(triple) => {
            piece.push(TRIPLE_TERM);
            push_subject(piece, triple.subject.as_ref());
            push_text(piece, IRI, triple.predicate.as_str());
            push_term(piece, triple.object.as_ref());
        }
    }
}

fn push_literal(piece: &mut Vec<u8>, literal: LiteralRef<'_>) {
    let (kind, suffix) = match (literal.language(), literal.direction()) {
        (Some(language), Some(BaseDirection::Ltr)) => (LEFT_TO_RIGHT, language),
        (Some(language), Some(BaseDirection::Rtl)) => (RIGHT_TO_LEFT, language),
        (Some(language), None) => (TAGGED, language),
        (None, _) if literal.datatype() == xsd::STRING => {
            return push_text(piece, TEXT, literal.value());
        }
        (None, _) => (TYPED, literal.datatype().as_str()),
    };
    push_text(piece, kind, literal.value());
    push_bytes(piece, suffix.as_bytes());
}

fn push_text(piece: &mut Vec<u8>, kind: u8, text: &str) {
    piece.push(kind);
    push_bytes(piece, text.as_bytes());
}

fn push_bytes(piece: &mut Vec<u8>, bytes: &[u8]) {
    // Readers of dumps reject longer tokens.
    let length = bytes.len().min(u32::MAX as usize);
    piece.extend_from_slice(&(length as u32).to_le_bytes());
    piece.extend_from_slice(&bytes[..length]);
}

/// Reads the triples of a piece. Returns their number.
///
/// # Errors
/// If the piece is not one of [`TripleStreamWriter`]. The triples before the error were added.
pub fn read_triple_stream(piece: &[u8], sink: &mut dyn TripleSink) -> io::Result<u64> {
    let mut reader = PieceReader { rest: piece };
    let (mut subject, mut predicate) = (None, None);
    let mut triples = 0;
    while let Some((kind, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match *kind {
            START_FILE => sink.start_file(),
            TRIPLE => {
                let subject = reader.read_or_repeat(&mut subject, PieceReader::subject)?;
                let predicate = reader.read_or_repeat(&mut predicate, PieceReader::predicate)?;
                reader.object(|object| {
                    sink.insert_triple(TripleRef {
                        subject,
                        predicate,
                        object,
                    })
                })?;
                triples += 1;
            }
            _ => return Err(invalid_stream()),
        }
    }
    Ok(triples)
}

fn invalid_stream() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the stream of triples is damaged",
    )
}

struct PieceReader<'p> {
    rest: &'p [u8],
}

impl<'p> PieceReader<'p> {
    fn byte(&mut self) -> io::Result<u8> {
        let (byte, rest) = self.rest.split_first().ok_or_else(invalid_stream)?;
        self.rest = rest;
        Ok(*byte)
    }

    fn text(&mut self) -> io::Result<&'p str> {
        let (length, rest) = self
            .rest
            .split_first_chunk::<4>()
            .ok_or_else(invalid_stream)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (text, rest) = rest.split_at_checked(length).ok_or_else(invalid_stream)?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| invalid_stream())
    }

    /// Reads a term, or returns the last one of its place if it is repeated.
    fn read_or_repeat<T: Copy>(
        &mut self,
        last: &mut Option<T>,
        read: fn(&mut Self) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.rest.first() == Some(&SAME) {
            self.byte()?;
            return last.ok_or_else(invalid_stream);
        }
        let term = read(self)?;
        *last = Some(term);
        Ok(term)
    }

    fn subject(&mut self) -> io::Result<NamedOrBlankNodeRef<'p>> {
        match self.byte()? {
            IRI => Ok(self.iri()?.into()),
            BLANK => Ok(BlankNodeRef::new_unchecked(self.text()?).into()),
            _ => Err(invalid_stream()),
        }
    }

    /// Reads an IRI. The writer is not trusted: an IRI with other characters would forge statements where it is written.
    fn iri(&mut self) -> io::Result<NamedNodeRef<'p>> {
        let text = self.text()?;
        if is_writable_iri(text) {
            Ok(NamedNodeRef::new_unchecked(text))
        } else {
            Err(invalid_stream())
        }
    }

    fn tag(&mut self) -> io::Result<&'p str> {
        let text = self.text()?;
        if is_writable_tag(text) {
            Ok(text)
        } else {
            Err(invalid_stream())
        }
    }

    fn predicate(&mut self) -> io::Result<NamedNodeRef<'p>> {
        match self.byte()? {
            IRI => self.iri(),
            _ => Err(invalid_stream()),
        }
    }

    /// Reads an object and passes it on.
    fn object(&mut self, pass: impl FnOnce(TermRef<'_>)) -> io::Result<()> {
        let kind = self.byte()?;
        if kind == TRIPLE_TERM {
            let triple = self.triple_term(MAX_TRIPLE_TERM_DEPTH)?;
            pass(TermRef::Triple(&triple));
        } else {
            pass(self.plain_object(kind)?);
        }
        Ok(())
    }

    fn triple_term(&mut self, depth: usize) -> io::Result<Triple> {
        let depth = depth.checked_sub(1).ok_or_else(invalid_stream)?;
        let (subject, predicate) = (self.subject()?, self.predicate()?);
        let kind = self.byte()?;
        if kind == TRIPLE_TERM {
            let object = self.triple_term(depth)?;
            return Ok(Triple::new(subject, predicate, object));
        }
        Ok(Triple::new(subject, predicate, self.plain_object(kind)?))
    }

    /// Reads an object that is no triple term.
    fn plain_object(&mut self, kind: u8) -> io::Result<TermRef<'p>> {
        if kind == IRI {
            return Ok(self.iri()?.into());
        }
        let text = self.text()?;
        Ok(match kind {
            BLANK => BlankNodeRef::new_unchecked(text).into(),
            TEXT => LiteralRef::new_simple_literal(text).into(),
            TYPED => LiteralRef::new_typed_literal(text, self.iri()?).into(),
            TAGGED => LiteralRef::new_language_tagged_literal_unchecked(text, self.tag()?).into(),
            LEFT_TO_RIGHT => directional_literal(text, self.tag()?, BaseDirection::Ltr),
            RIGHT_TO_LEFT => directional_literal(text, self.tag()?, BaseDirection::Rtl),
            _ => return Err(invalid_stream()),
        })
    }
}

/// Returns true if an IRI has no characters that end it in RDF syntaxes.
#[must_use]
pub fn is_writable_iri(iri: &str) -> bool {
    !iri.bytes().any(|byte| {
        byte <= b' '
            || matches!(
                byte,
                b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\'
            )
    })
}

/// Returns true if RDF syntaxes can write a language tag: letters, then parts of letters and digits.
#[must_use]
pub fn is_writable_tag(tag: &str) -> bool {
    tag.split('-')
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        && tag
            .bytes()
            .take_while(|byte| *byte != b'-')
            .all(|byte| byte.is_ascii_alphabetic())
}

fn directional_literal<'p>(
    text: &'p str,
    language: &'p str,
    direction: BaseDirection,
) -> TermRef<'p> {
    LiteralRef::new_directional_language_tagged_literal_unchecked(text, language, direction).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TripleGraphBuilder;
    use crate::dump::DumpReader;

    const TURTLE: &str = r#"
        @prefix e: <http://e.org/> .
        e:a e:p 1 , "text" , ""@en , "שלום"@he--rtl , "x"@en--ltr , _:b , e:c ; e:q <<( e:a e:p <<( _:b e:p "x"@en )>> )>> .
        _:b e:q e:a . e:a e:q "same predicate" ."#;

    fn pieces(turtle: &str) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        let mut writer = TripleStreamWriter::new(|piece: &[u8]| {
            pieces.push(piece.to_vec());
            Ok(())
        });
        DumpReader::default().read(turtle.as_bytes(), "a.ttl", "http://e.org/", &mut writer);
        DumpReader::default().read(
            "_:b <http://e.org/p> 2 .".as_bytes(),
            "b.nt",
            "http://e.org/",
            &mut writer,
        );
        writer.finish().expect("written");
        pieces
    }

    #[test]
    fn a_graph_is_the_same_after_the_stream() {
        let mut long = TURTLE.to_owned();
        long.extend((0..20_000).map(|number| format!("e:s{} e:p {number} .\n", number / 3)));
        for turtle in [TURTLE, &long] {
            let (mut direct, mut streamed) = (TripleGraphBuilder::new(), TripleGraphBuilder::new());
            let reports = DumpReader::default().read(
                turtle.as_bytes(),
                "a.ttl",
                "http://e.org/",
                &mut direct,
            );
            assert!(reports[0].is_clean(), "{reports:?}");
            DumpReader::default().read(
                "_:b <http://e.org/p> 2 .".as_bytes(),
                "b.nt",
                "http://e.org/",
                &mut direct,
            );
            let pieces = pieces(turtle);
            assert_eq!(pieces.len() > 1, turtle.len() > 100_000);
            let read = |piece: &Vec<u8>| read_triple_stream(piece, &mut streamed).expect("read");
            let read: u64 = pieces.iter().map(read).sum();
            assert_eq!(read, direct.len() as u64);
            assert_eq!(streamed.finish().to_compact(), direct.finish().to_compact());
        }
    }

    #[test]
    fn tags_that_no_syntax_can_write_are_recognised() {
        assert!(
            ["en", "de-AT", "x-1a", "zh-Hant-1"]
                .into_iter()
                .all(is_writable_tag)
        );
        assert!(
            !["", "e1", "en-", "-en", "en--a", "en .", "é"]
                .into_iter()
                .any(is_writable_tag)
        );
    }

    #[test]
    fn damaged_pieces_are_errors() {
        let piece = pieces(TURTLE).remove(0);
        let errors = (1..piece.len()).filter(|length| {
            read_triple_stream(&piece[..*length], &mut TripleGraphBuilder::new()).is_err()
        });
        // A cut between two records is no error.
        let records =
            read_triple_stream(&piece, &mut TripleGraphBuilder::new()).expect("read") as usize + 2;
        assert_eq!(errors.count(), piece.len() - records);
        for damaged in [
            &b"T="[..],
            b"X",
            b"TI\xff\xff\xff\xff",
            b"TI\x01\0\0\0\xff",
            b"TL\0\0\0\0",
        ] {
            assert!(
                read_triple_stream(damaged, &mut TripleGraphBuilder::new()).is_err(),
                "{damaged:?}"
            );
        }
        let deep = [
            b"T".as_slice(),
            b"I\0\0\0\0I\0\0\0\0",
            &b"QI\0\0\0\0I\0\0\0\0".repeat(100_000),
        ];
        assert!(read_triple_stream(&deep.concat(), &mut TripleGraphBuilder::new()).is_err());
    }
}
