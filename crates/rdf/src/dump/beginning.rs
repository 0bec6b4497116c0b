//! Reading ahead: the beginning of a document, from which its format is detected, and a reader of the whole.

use std::io::{self, Cursor, Read};

/// Beginning of a document, and a reader of the whole.
pub struct Beginning<'r> {
    /// First bytes.
    pub bytes: Vec<u8>,
    /// If true, `bytes` is the whole document.
    pub is_whole: bool,
    /// Reader of the whole document, with `bytes`. It reports an error at its place, after the bytes that precede it.
    pub reader: Box<dyn Read + 'r>,
}

/// Reads at most `max_bytes` from the beginning of a document.
///
/// An error after the first byte is no error of this function: the returned reader reports it after the bytes that precede it. A short
/// document that breaks off, such as a truncated download, would otherwise lose all its statements.
///
/// ```
/// use lodeseek_rdf::dump::read_beginning;
/// use std::io::Read;
///
/// let mut beginning = read_beginning(&b"<http://e.org/a>"[..], 5)?;
/// assert_eq!((&beginning.bytes[..], beginning.is_whole), (&b"<http"[..], false));
/// let mut text = String::new();
/// beginning.reader.read_to_string(&mut text)?;
/// assert_eq!(text, "<http://e.org/a>");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If not even the first byte can be read.
pub fn read_beginning<'r>(
    mut reader: impl Read + 'r,
    max_bytes: usize,
) -> io::Result<Beginning<'r>> {
    let mut bytes = Vec::new();
    let read = (&mut reader).take(max_bytes as u64).read_to_end(&mut bytes);
    let failure = match read {
        Ok(_) => None,
        Err(error) if bytes.is_empty() => return Err(error),
        Err(error) => Some(error),
    };
    let is_whole = failure.is_none() && bytes.len() < max_bytes;
    let rest = FailedReader::new(failure, reader);
    Ok(Beginning {
        is_whole,
        reader: Box::new(Cursor::new(bytes.clone()).chain(rest)),
        bytes,
    })
}

/// Reader whose next read may fail, because reading ahead has met an error.
pub(super) struct FailedReader<R> {
    failure: Option<io::Error>,
    inner: R,
}

impl<R> FailedReader<R> {
    pub(super) fn new(failure: Option<io::Error>, inner: R) -> Self {
        Self { failure, inner }
    }
}

impl<R: Read> Read for FailedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.inner.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text that ends with an error.
    struct BrokenText(&'static [u8]);

    impl Read for BrokenText {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.0.read(buffer)
        }
    }

    #[test]
    fn an_error_comes_after_the_bytes_before_it() {
        // The text is read ahead by several readers, as compressions and formats are detected.
        let outer = read_beginning(BrokenText(b"abc"), 10).expect("three bytes");
        assert_eq!((&outer.bytes[..], outer.is_whole), (&b"abc"[..], false));
        let mut inner = read_beginning(outer.reader, 10).expect("three bytes");
        assert_eq!((&inner.bytes[..], inner.is_whole), (&b"abc"[..], false));
        let mut text = Vec::new();
        let error = inner
            .reader
            .read_to_end(&mut text)
            .expect_err("the error of the text");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(text, b"abc");
        assert!(read_beginning(BrokenText(b""), 10).is_err());
        assert!(
            read_beginning(&b"abc"[..], 10)
                .expect("three bytes")
                .is_whole
        );
    }
}
