//! Conversion to UTF-8: byte order marks, encodings declared in XML, and stray bytes that are not UTF-8.

use super::Problem;
use super::beginning::read_beginning;
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::io::{self, Read};

/// Number of bytes for detecting the syntax: enough for an XML declaration, a licence comment and a first statement.
const HEAD_BYTES: usize = 16 << 10;
const CHUNK_BYTES: usize = 64 << 10;
/// Maximum number of listed lines with stray bytes.
const MAX_LISTED_LINES: usize = 5;

/// Document as UTF-8. Its first bytes are available before it is read.
pub(super) struct Utf8Text<'r> {
    reader: Box<dyn Read + 'r>,
    /// Valid UTF-8, unread from `position` on.
    ready: Vec<u8>,
    position: usize,
    /// Bytes that are not checked yet. Between calls this is at most an incomplete character.
    pending: Vec<u8>,
    line: u64,
    stray: u64,
    stray_lines: Vec<u64>,
    ended: bool,
    /// Error that ended the document, which is reported after the text before it.
    failure: Option<io::Error>,
}

/// Detects the encoding and converts the document to UTF-8.
// A byte order mark takes precedence over a declaration.
pub(super) fn to_utf8(reader: Box<dyn Read + '_>) -> io::Result<Utf8Text<'_>> {
    let beginning = read_beginning(reader, HEAD_BYTES)?;
    let declared = xml_encoding(&beginning.bytes);
    let has_mark = Encoding::for_bom(&beginning.bytes).is_some();
    let encoding = declared
        .filter(|_| !has_mark)
        .filter(|encoding| *encoding != encoding_rs::UTF_8);
    let decoded: Box<dyn Read> = if has_mark || encoding.is_some() {
        Box::new(
            // UTF-8 with a mark is passed on as it is: `check` repairs it.
            DecodeReaderBytesBuilder::new()
                .encoding(encoding)
                .bom_override(true)
                .strip_bom(true)
                .utf8_passthru(true)
                .build(beginning.reader),
        )
    } else {
        beginning.reader
    };
    let mut text = Utf8Text {
        reader: decoded,
        ready: Vec::new(),
        position: 0,
        pending: Vec::new(),
        line: 1,
        stray: 0,
        stray_lines: Vec::new(),
        ended: false,
        failure: None,
    };
    while text.ready.len() < HEAD_BYTES && !text.ended && text.failure.is_none() {
        text.failure = text.fill().err();
    }
    if text.ready.is_empty()
        && let Some(error) = text.take_failure()
    {
        return Err(error);
    }
    strip_mark(&mut text.ready);
    blank_xml_encoding(&mut text.ready);
    Ok(text)
}

/// Returns the encoding of an XML declaration. The XML reader rejects unknown encodings. A declaration that is readable as ASCII is
/// not in UTF-16, whatever it declares.
fn xml_encoding(head: &[u8]) -> Option<&'static Encoding> {
    let (start, end) = xml_encoding_range(head)?;
    Encoding::for_label(&head[start..end]).filter(|found| ![UTF_16LE, UTF_16BE].contains(found))
}

/// Returns the range of the value of `encoding="…"` in an XML declaration at the beginning.
fn xml_encoding_range(head: &[u8]) -> Option<(usize, usize)> {
    let mark = usize::from(head.starts_with(b"\xef\xbb\xbf")) * 3;
    let declaration = &head[mark..];
    if !declaration.trim_ascii_start().starts_with(b"<?xml") {
        return None;
    }
    let end = memchr::memmem::find(declaration, b"?>")?;
    let name = memchr::memmem::find(&declaration[..end], b"encoding")?;
    let open = declaration[name..end]
        .iter()
        .position(|&b| matches!(b, b'"' | b'\''))?
        + name
        + 1;
    let close = declaration[open..end]
        .iter()
        .position(|&b| b == declaration[open - 1])?
        + open;
    Some((mark + open, mark + close))
}

/// Blanks an encoding declaration other than UTF-8, because the text is UTF-8 now. Positions are not changed.
fn blank_xml_encoding(head: &mut [u8]) {
    if let Some((start, end)) = xml_encoding_range(head) {
        let value = &head[start..end];
        if Encoding::for_label(value).is_some_and(|encoding| encoding != encoding_rs::UTF_8) {
            let declaration_end = memchr::memmem::find(head, b"?>").unwrap_or(end);
            let name = memchr::memmem::find(&head[..declaration_end], b"encoding").unwrap_or(start);
            head[name..=end].fill(b' ');
        }
    }
}

fn strip_mark(ready: &mut Vec<u8>) {
    if ready.starts_with(b"\xef\xbb\xbf") {
        ready.drain(..3);
    }
}

impl Utf8Text<'_> {
    /// Returns the first bytes of the text.
    pub(super) fn head(&self) -> &[u8] {
        &self.ready[self.position..]
    }

    /// Returns the error that ended the document while its first bytes were read. Afterwards, the text ends without it.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Returns the repairs of the text.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.stray > 0 {
            let lines: Vec<String> = self.stray_lines.iter().map(u64::to_string).collect();
            let more = if self.stray as usize > lines.len() {
                ", …"
            } else {
                ""
            };
            problems.push(Problem {
                line: self.stray_lines.first().copied(),
                message: format!(
                    "{} bytes are not UTF-8 and were read as Windows-1252 (lines {}{more})",
                    self.stray,
                    lines.join(", ")
                ),
            });
        }
        problems
    }

    fn fill(&mut self) -> io::Result<()> {
        let start = self.pending.len();
        self.pending.resize(start + CHUNK_BYTES, 0);
        let read = self.reader.read(&mut self.pending[start..]);
        self.pending
            .truncate(start + read.as_ref().copied().unwrap_or(0));
        self.ended = read? == 0;
        let mut pending = std::mem::take(&mut self.pending);
        let rest = self.check(&pending);
        pending.drain(..rest);
        self.pending = pending;
        Ok(())
    }

    /// Moves valid UTF-8 to `ready` and converts stray bytes from Windows-1252. Returns the number of processed bytes.
    fn check(&mut self, bytes: &[u8]) -> usize {
        let mut done = 0;
        loop {
            match std::str::from_utf8(&bytes[done..]) {
                Ok(_) => {
                    self.take(&bytes[done..]);
                    return bytes.len();
                }
                Err(error) => {
                    let valid = done + error.valid_up_to();
                    self.take(&bytes[done..valid]);
                    done = valid;
                    let stray = match error.error_len() {
                        Some(length) => length,
                        None if self.ended => bytes.len() - done,
                        None => return done, // a character cut by the end of the chunk
                    };
                    self.repair(&bytes[done..done + stray]);
                    done += stray;
                }
            }
        }
    }

    fn take(&mut self, valid: &[u8]) {
        self.line += memchr::memchr_iter(b'\n', valid).count() as u64;
        self.ready.extend_from_slice(valid);
    }

    fn repair(&mut self, stray: &[u8]) {
        self.stray += stray.len() as u64;
        if self.stray_lines.len() < MAX_LISTED_LINES && self.stray_lines.last() != Some(&self.line)
        {
            self.stray_lines.push(self.line);
        }
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(stray);
        self.ready.extend_from_slice(text.as_bytes());
    }
}

impl Read for Utf8Text<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.ready.len() {
            if let Some(error) = self.take_failure() {
                return Err(error);
            }
            if self.ended {
                return Ok(0);
            }
            self.ready.clear();
            self.position = 0;
            self.fill()?;
        }
        let count = buffer.len().min(self.ready.len() - self.position);
        buffer[..count].copy_from_slice(&self.ready[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(bytes: &[u8]) -> (String, Vec<Problem>) {
        let mut text = to_utf8(Box::new(bytes)).expect("in memory");
        let mut out = String::new();
        text.read_to_string(&mut out).expect("UTF-8");
        (out, text.problems())
    }

    #[test]
    fn marks_and_encodings() {
        assert_eq!(text_of(b"\xef\xbb\xbfabc").0, "abc");
        assert_eq!(text_of(b"\xff\xfea\0b\0").0, "ab");
        let (text, problems) = text_of(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>");
        assert!(
            text.ends_with("<a>é</a>") && !text.contains("encoding"),
            "{text}"
        );
        assert!(problems.is_empty());
        let (text, problems) =
            text_of("<?xml version='1.0' encoding='utf-16'?><a>é</a>".as_bytes());
        assert!(
            text.ends_with("<a>é</a>") && problems.is_empty(),
            "{text}: {problems:?}"
        );
        let (text, _) = text_of(b"<?xml version='1.0' encoding='UTF-8'?><a/>");
        assert!(text.contains("UTF-8"));
    }

    #[test]
    fn stray_bytes_are_read_as_windows_1252_and_reported() {
        let (text, problems) = text_of(b"one\ncaf\xe9 \x80\nthree");
        assert_eq!(text, "one\ncafé €\nthree");
        assert_eq!(problems[0].line, Some(2));
        assert!(
            problems[0].message.starts_with("2 bytes"),
            "{}",
            problems[0].message
        );
    }

    #[test]
    fn characters_cut_by_a_chunk_stay_whole() {
        for shift in 0..4 {
            let long = format!("{}{}", "x".repeat(shift), "é€𝄞".repeat(40_000));
            assert_eq!(text_of(long.as_bytes()), (long.clone(), Vec::new()));
        }
        assert_eq!(text_of(b"abc\xe2\x82").0, "abcâ‚");
    }
}
