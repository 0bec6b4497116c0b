//! Standard input and output as lines of JSON. A line that is no JSON is answered with the error -32700 and the id `null`, as JSON-RPC
//! 2.0 requires (5.1). The library ignores such lines.

use super::messages::{PARSE_ERROR, error_response};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::io;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
    DuplexStream, duplex,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum length of a line that is checked, in bytes. The library rejects longer lines.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// Buffer between the streams and the library, in bytes.
const BUFFER_BYTES: usize = 64 << 10;
/// Maximum number of errors that wait for the output.
const MAX_WAITING_ERRORS: usize = 16;

/// Connects a reader and a writer with the library, which reads and writes the returned streams. The returned future ends after the
/// last line is written.
pub(super) fn connect(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> (
    (DuplexStream, DuplexStream),
    impl Future<Output = io::Result<()>>,
) {
    let (input, checked) = duplex(BUFFER_BYTES);
    let (output, written) = duplex(BUFFER_BYTES);
    let (errors, waiting) = channel(MAX_WAITING_ERRORS);
    tokio::spawn(check_lines(BufReader::new(reader), input, errors));
    (
        (checked, output),
        write_lines(BufReader::new(written), waiting, writer),
    )
}

/// Passes lines on, and sends an error for each one that is no JSON.
async fn check_lines(
    mut reader: impl AsyncBufRead + Unpin,
    mut input: DuplexStream,
    errors: Sender<String>,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_continued = false;
    loop {
        line.clear();
        let length = (&mut reader)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .await?;
        if length == 0 {
            return Ok(()); // dropping the stream ends the session
        }
        // A part of a longer line would be an error of syntax, although the whole may not be one.
        let is_whole = !is_continued && (length as u64) < MAX_LINE_BYTES;
        is_continued = !line.ends_with(b"\n") && length as u64 == MAX_LINE_BYTES;
        if is_whole && let Some(error) = syntax_error(&line) {
            let _ = errors.send(error).await; // without a receiver, the session has ended
        } else {
            input.write_all(&line).await?;
        }
    }
}

/// Returns the response to a line that is no JSON.
fn syntax_error(line: &[u8]) -> Option<String> {
    // The library accepts a byte order mark as well, so it is no error.
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if text.trim_ascii().is_empty() {
        return None;
    }
    let error = serde_json::from_slice::<IgnoredAny>(text).err()?;
    let message = format!("Parse error: the line is no JSON: {error}");
    let response = error_response(PARSE_ERROR, &message, &Value::Null);
    Some(format!("{response}\n"))
}

/// Writes the lines of the library, and errors between them.
async fn write_lines(
    mut written: impl AsyncBufRead + Unpin,
    mut errors: Receiver<String>,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        tokio::select! {
            length = written.read_until(b'\n', &mut line) => {
                // Before the check, so that what was read before an error is written.
                writer.write_all(&line).await?;
                line.clear();
                if length? == 0 {
                    break;
                }
            }
            // A part of a line that was read before remains in `line`.
            Some(error) = errors.recv() => writer.write_all(error.as_bytes()).await?,
        }
        writer.flush().await?;
    }
    // The library may end first: errors of the last lines still wait then.
    while let Ok(error) = errors.try_recv() {
        writer.write_all(error.as_bytes()).await?;
    }
    writer.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_that_are_no_json_are_answered() {
        let input: &[u8] = b"{\"id\": 1}\nnot json\n\n{\"id\": 2\n\xff\n[3]";
        let (mut client, here) = duplex(1 << 16);
        let ((mut checked, mut output), written) = connect(input, here);
        let writing = tokio::spawn(written);
        let mut passed = String::new();
        checked.read_to_string(&mut passed).await.expect("read");
        assert_eq!(passed, "{\"id\": 1}\n\n[3]");
        output.write_all(b"{\"id\": 1}\n").await.expect("written");
        drop(output);
        writing.await.expect("joined").expect("written");
        let mut text = String::new();
        client.read_to_string(&mut text).await.expect("read");
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let errors: Vec<&Value> = lines
            .iter()
            .filter(|line| line["error"]["code"] == -32700 && line["id"].is_null())
            .collect();
        assert_eq!((lines.len(), errors.len()), (4, 3), "{text}");
    }
}
