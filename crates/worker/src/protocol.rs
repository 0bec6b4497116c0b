//! Frames between parent and worker; the README lists them.

use std::io::{self, Read, Write};

/// Maximum length of a frame in bytes. A longer one is an error of the sender.
const MAX_FRAME_BYTES: u32 = 256 << 20;
/// Length of the header in bytes: the kind and the length of the content.
const HEADER_BYTES: usize = 5;

/// Kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Task,
    Input,
    EndOfInput,
    Cancel,
    Ready,
    Accepted,
    Output,
    Done,
    Open,
    Message,
    Close,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Task,
        Self::Input,
        Self::EndOfInput,
        Self::Cancel,
        Self::Ready,
        Self::Accepted,
        Self::Output,
        Self::Done,
        Self::Open,
        Self::Message,
        Self::Close,
    ];

    fn letter(self) -> u8 {
        match self {
            Self::Task => b'T',
            Self::Input => b'I',
            Self::EndOfInput => b'E',
            Self::Cancel => b'C',
            Self::Ready => b'R',
            Self::Accepted => b'A',
            Self::Output => b'O',
            Self::Done => b'D',
            Self::Open => b'Q',
            Self::Message => b'M',
            Self::Close => b'X',
        }
    }

    fn from_letter(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

/// A frame as it is received.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) content: Vec<u8>,
}

/// Writes a frame by one call, so that frames of several threads do not mix.
pub(crate) fn write(writer: &mut impl Write, kind: Kind, content: &[u8]) -> io::Result<()> {
    write_parts(writer, kind, &[content])
}

/// Writes a frame whose content has several parts.
pub(crate) fn write_parts(writer: &mut impl Write, kind: Kind, parts: &[&[u8]]) -> io::Result<()> {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(bytes)
        .ok()
        .filter(|length| *length <= MAX_FRAME_BYTES);
    let length =
        length.ok_or_else(|| io::Error::other(format!("a frame of {bytes} bytes is too long")))?;
    let mut frame = Vec::with_capacity(HEADER_BYTES + bytes);
    frame.push(kind.letter());
    frame.extend_from_slice(&length.to_le_bytes());
    for part in parts {
        frame.extend_from_slice(part);
    }
    writer.write_all(&frame)
}

/// Reads a frame. Returns `None` at the end of the stream.
pub(crate) fn read(reader: &mut impl Read) -> io::Result<Option<Frame>> {
    let mut header = [0; HEADER_BYTES];
    let mut filled = 0;
    while filled < HEADER_BYTES {
        match reader.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let [letter, length @ ..] = header;
    let kind = Kind::from_letter(letter)
        .ok_or_else(|| io::Error::other(format!("no frame begins with {letter}")))?;
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::other(format!(
            "a frame of {length} bytes is too long"
        )));
    }
    // Memory grows with what arrives, not with the announced length.
    let mut content = Vec::with_capacity(length.min(1 << 16) as usize);
    let read = reader.take(u64::from(length)).read_to_end(&mut content)?;
    if read < length as usize {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        Ok(Some(Frame { kind, content }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        for kind in Kind::ALL {
            write(&mut bytes, kind, kind.letter().to_string().as_bytes()).expect("written");
        }
        let mut reader = bytes.as_slice();
        for kind in Kind::ALL {
            let frame = read(&mut reader).expect("a frame").expect("a frame");
            assert_eq!(
                frame,
                Frame {
                    kind,
                    content: kind.letter().to_string().into_bytes()
                }
            );
        }
        assert_eq!(read(&mut reader).expect("the end"), None);
    }

    #[test]
    fn damaged_frames_are_errors() {
        for bytes in [
            &b"Z\0\0\0\0"[..],
            b"T\x01\0\0\0",
            b"T\x01\0",
            b"T\xff\xff\xff\xff",
        ] {
            assert!(read(&mut &bytes[..]).is_err(), "{bytes:?}");
        }
    }
}
