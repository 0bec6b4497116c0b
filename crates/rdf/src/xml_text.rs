//! Text of XML 1.0 documents. <https://www.w3.org/TR/xml/>

use std::io::{self, Write};

/// Returns true if XML 1.0 permits a character (section 2.2).
#[must_use]
pub fn is_xml_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Returns text for the content of an element or the value of an attribute in double quotes, and the number of characters that XML
/// 1.0 does not permit and that are left out.
///
/// Parsers replace carriage returns, and white space in attributes, unless they are character references.
///
/// ```
/// use lodeseek_rdf::escape_xml;
/// assert_eq!(escape_xml("a < b\r\n\u{7}", false), ("a &lt; b&#xD;\n".to_owned(), 1));
/// assert_eq!(escape_xml("\"a\n\"", true), ("&quot;a&#xA;&quot;".to_owned(), 0));
/// ```
#[must_use]
pub fn escape_xml(text: &str, is_attribute: bool) -> (String, u64) {
    let mut escaped = String::with_capacity(text.len() + text.len() / 16);
    let mut removed = 0;
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // Parsers normalize line ends (XML 1.0, 2.11) and white space in attributes (3.3.3), but not references.
            '\r' => escaped.push_str("&#xD;"),
            '"' if is_attribute => escaped.push_str("&quot;"),
            '\t' if is_attribute => escaped.push_str("&#x9;"),
            '\n' if is_attribute => escaped.push_str("&#xA;"),
            character if is_xml_character(character) => escaped.push(character),
            _ => removed += 1,
        }
    }
    (escaped, removed)
}

/// Writer for the output of a serializer of XML that does not check its text.
///
/// It leaves out the characters that XML 1.0 does not permit, and writes carriage returns as character references.
pub struct XmlFilter<W> {
    inner: W,
    /// Beginning of a character that may be forbidden, from the end of the last write.
    pending: Vec<u8>,
    removed: u64,
}

/// U+FFFE and U+FFFF in UTF-8 have this beginning, and differ in the last byte.
const NONCHARACTER: [u8; 2] = [0xEF, 0xBF];

impl<W: Write> XmlFilter<W> {
    /// Creates a filter in front of a writer.
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            pending: Vec::new(),
            removed: 0,
        }
    }

    /// Returns the number of characters that were left out.
    pub fn removed_characters(&self) -> u64 {
        self.removed
    }

    /// Writes the rest, and returns the writer and the number of characters that were left out.
    ///
    /// # Errors
    /// The writer failed.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        self.inner.write_all(&self.pending)?;
        Ok((self.inner, self.removed))
    }

    fn write_text(&mut self, text: &[u8]) -> io::Result<()> {
        let mut copied = 0;
        let mut place = 0;
        while place < text.len() {
            let length = match text[place] {
                b'\r' => 1,
                b'\t' | b'\n' | b' '..=0xEE | 0xF0.. => {
                    place += 1;
                    continue;
                }
                0xEF => match text.get(place..place + 3) {
                    Some([_, 0xBF, 0xBE | 0xBF]) => 3,
                    None if NONCHARACTER.starts_with(&text[place..]) => {
                        self.inner.write_all(&text[copied..place])?;
                        self.pending.extend_from_slice(&text[place..]);
                        return Ok(());
                    }
                    _ => {
                        place += 1;
                        continue;
                    }
                },
                _ => 1,
            };
            self.inner.write_all(&text[copied..place])?;
            // A parser would read it as a line feed (XML 1.0, 2.11).
            if text[place] == b'\r' {
                self.inner.write_all(b"&#xD;")?;
            } else {
                self.removed += 1;
            }
            place += length;
            copied = place;
        }
        self.inner.write_all(&text[copied..])
    }
}

impl<W: Write> Write for XmlFilter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            self.write_text(bytes)?;
        } else {
            let mut text = std::mem::take(&mut self.pending);
            text.extend_from_slice(bytes);
            self.write_text(&text)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_are_left_out_wherever_writes_end() {
        let text = "a\u{B}b\r\nc\u{FFFE}d\u{FFFF}\u{FFFD}\u{0}é𝄞\u{EFFF}\t";
        for size in 1..text.len() {
            let mut filter = XmlFilter::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                filter.write_all(piece).expect("in memory");
            }
            let (bytes, removed) = filter.finish().expect("in memory");
            assert_eq!(
                String::from_utf8_lossy(&bytes),
                "ab&#xD;\ncd\u{FFFD}é𝄞\u{EFFF}\t",
                "pieces of {size}"
            );
            assert_eq!(removed, 4);
        }
    }
}
