//! Texts of other formats, such as JSON catalogues, in the encodings of dumps.

use super::Problem;
use super::text::to_utf8;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::io::{self, Read};

/// Number of bytes for the detection of an encoding.
const HEAD_BYTES: usize = 64;
/// Number of bytes that are converted from UTF-32 at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A text as UTF-8.
#[derive(Debug, Default)]
pub struct DecodedText {
    /// The text without a byte order mark.
    pub text: String,
    /// Repairs of the text, for example of bytes that are not UTF-8.
    pub problems: Vec<Problem>,
    /// If true, the bytes were in another encoding, so that readers of UTF-8 cannot read them.
    pub is_converted: bool,
}

/// Reads a text and converts it to UTF-8, as [`DumpReader`](super::DumpReader) does with dumps.
///
/// A byte order mark decides on the encoding, else the zeros of UTF-16 and UTF-32 in the first characters, else `label`, which
/// is the name of the encoding that the document or its transfer declares. Stray bytes are read as Windows-1252.
///
/// # Errors
/// The reader fails.
pub fn decode_text(mut reader: impl Read, label: Option<&str>) -> io::Result<DecodedText> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    (&mut reader)
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head)?;
    let detected = Detected::from_head(&head);
    let chained = io::Cursor::new(head).chain(reader);
    let declared = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    // A declaration that can be read as ASCII is not in UTF-16.
    let declared = declared.filter(|encoding| ![UTF_8, UTF_16LE, UTF_16BE].contains(encoding));
    let is_converted = match detected {
        Detected::Mark { is_utf8 } => !is_utf8,
        Detected::Other => declared.is_some(),
        Detected::Utf16 { .. } | Detected::Utf32 { .. } => true,
    };
    // With a mark, `to_utf8` decodes the text as UTF-16.
    let utf8: Box<dyn Read + '_> = match (detected, declared) {
        (Detected::Utf32 { little_endian }, _) => {
            Box::new(Utf32Reader::new(chained, little_endian))
        }
        (
            Detected::Utf16 {
                little_endian: true,
            },
            _,
        ) => Box::new(io::Cursor::new(b"\xff\xfe").chain(chained)),
        (
            Detected::Utf16 {
                little_endian: false,
            },
            _,
        ) => Box::new(io::Cursor::new(b"\xfe\xff").chain(chained)),
        (Detected::Mark { .. }, _) | (Detected::Other, None) => Box::new(chained),
        (Detected::Other, Some(encoding)) => Box::new(
            DecodeReaderBytesBuilder::new()
                .encoding(Some(encoding))
                .build(chained),
        ),
    };
    let mut converted = to_utf8(utf8)?;
    let mut text = String::new();
    converted.read_to_string(&mut text)?;
    Ok(DecodedText {
        text,
        problems: converted.problems(),
        is_converted,
    })
}

/// Encoding of the first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detected {
    Utf32 {
        little_endian: bool,
    },
    /// UTF-16 without a byte order mark.
    Utf16 {
        little_endian: bool,
    },
    /// UTF-16 or UTF-8 with a byte order mark.
    Mark {
        is_utf8: bool,
    },
    /// UTF-8, or another encoding with the characters of ASCII.
    Other,
}

impl Detected {
    /// Detects the encoding by a byte order mark, or by the zeros of the first characters, which are of ASCII (RFC 4627,
    /// section 3).
    fn from_head(head: &[u8]) -> Self {
        match *head {
            // Before UTF-16, whose mark is the beginning of this one.
            [0xff, 0xfe, 0, 0, ..] => Self::Utf32 {
                little_endian: true,
            },
            [0, 0, 0xfe, 0xff, ..] => Self::Utf32 {
                little_endian: false,
            },
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Mark { is_utf8: false },
            [0xef, 0xbb, 0xbf, ..] => Self::Mark { is_utf8: true },
            [first, 0, 0, 0, ..] if is_text_byte(first) => Self::Utf32 {
                little_endian: true,
            },
            [0, 0, 0, first, ..] if is_text_byte(first) => Self::Utf32 {
                little_endian: false,
            },
            [first, 0, second, 0, ..] if is_text_byte(first) && is_text_byte(second) => {
                Self::Utf16 {
                    little_endian: true,
                }
            }
            [0, first, 0, second, ..] if is_text_byte(first) && is_text_byte(second) => {
                Self::Utf16 {
                    little_endian: false,
                }
            }
            _ => Self::Other,
        }
    }
}

/// If true, the byte is a printable character of ASCII, or white space.
fn is_text_byte(byte: u8) -> bool {
    byte == b'\t' || byte == b'\n' || byte == b'\r' || (b' '..0x7f).contains(&byte)
}

/// Converts UTF-32 to UTF-8. An invalid character becomes the replacement character.
struct Utf32Reader<R> {
    reader: R,
    little_endian: bool,
    input: Vec<u8>,
    ready: Vec<u8>,
    position: usize,
}

impl<R: Read> Utf32Reader<R> {
    fn new(reader: R, little_endian: bool) -> Self {
        Self {
            reader,
            little_endian,
            input: Vec::new(),
            ready: Vec::new(),
            position: 0,
        }
    }

    /// Converts the next characters. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.ready.clear();
        self.position = 0;
        self.input.clear();
        // `read` could return a part of a character.
        (&mut self.reader)
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut self.input)?;
        for unit in self.input.chunks(4) {
            let code = match (<[u8; 4]>::try_from(unit), self.little_endian) {
                (Ok(bytes), true) => u32::from_le_bytes(bytes),
                (Ok(bytes), false) => u32::from_be_bytes(bytes),
                (Err(_), _) => u32::MAX,
            };
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            self.ready
                .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(!self.ready.is_empty())
    }
}

impl<R: Read> Read for Utf32Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.ready.len() && !self.fill()? {
            return Ok(0);
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

    fn decode(bytes: &[u8], label: Option<&str>) -> (String, usize, bool) {
        let decoded = decode_text(bytes, label).expect("in memory");
        (decoded.text, decoded.problems.len(), decoded.is_converted)
    }

    #[test]
    fn encodings_with_and_without_marks() {
        let json = "{\"title\": \"Größe 𝄞\"}";
        let utf16 = |big: bool| -> Vec<u8> {
            json.encode_utf16()
                .flat_map(|unit| {
                    if big {
                        unit.to_be_bytes()
                    } else {
                        unit.to_le_bytes()
                    }
                })
                .collect()
        };
        let utf32 = |big: bool| -> Vec<u8> {
            json.chars()
                .flat_map(|c| {
                    if big {
                        (c as u32).to_be_bytes()
                    } else {
                        (c as u32).to_le_bytes()
                    }
                })
                .collect()
        };
        let marked = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
        for (name, bytes, is_converted) in [
            ("UTF-8", json.as_bytes().to_vec(), false),
            (
                "UTF-8 with a mark",
                marked(b"\xef\xbb\xbf", json.as_bytes().to_vec()),
                false,
            ),
            ("UTF-16LE", utf16(false), true),
            ("UTF-16BE", utf16(true), true),
            (
                "UTF-16LE with a mark",
                marked(b"\xff\xfe", utf16(false)),
                true,
            ),
            (
                "UTF-16BE with a mark",
                marked(b"\xfe\xff", utf16(true)),
                true,
            ),
            ("UTF-32LE", utf32(false), true),
            ("UTF-32BE", utf32(true), true),
            (
                "UTF-32LE with a mark",
                marked(b"\xff\xfe\0\0", utf32(false)),
                true,
            ),
            (
                "UTF-32BE with a mark",
                marked(b"\0\0\xfe\xff", utf32(true)),
                true,
            ),
        ] {
            assert_eq!(
                decode(&bytes, None),
                (json.to_owned(), 0, is_converted),
                "{name}"
            );
            // What the bytes show outranks what is declared.
            if is_converted {
                assert_eq!(decode(&bytes, Some("iso-8859-1")).0, json, "{name}");
            }
        }
    }

    #[test]
    fn declared_encodings_and_stray_bytes() {
        assert_eq!(
            decode(b"caf\xe9", Some("ISO-8859-1")),
            ("café".to_owned(), 0, true)
        );
        assert_eq!(decode(b"\xcf\xf0\xe8", Some("windows-1251")).0, "При");
        assert_eq!(
            decode(b"caf\xe9", Some("utf-8")),
            ("café".to_owned(), 1, false)
        );
        assert_eq!(
            decode(b"caf\xe9", Some("no encoding")),
            ("café".to_owned(), 1, false)
        );
        assert_eq!(
            decode(b"\xef\xbb\xbf\xc3\xa9", Some("iso-8859-1")),
            ("é".to_owned(), 0, false)
        );
        assert_eq!(decode(b"", None), (String::new(), 0, false));
        assert_eq!(decode(b"{", None).0, "{");
        assert_eq!(
            decode(b"[\0\0\0\x00\xd8\0\0]\0", None).0,
            "[\u{fffd}\u{fffd}"
        );
    }
}
