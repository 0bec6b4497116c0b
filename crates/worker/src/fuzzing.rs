//! Reading of what a worker sends, without processes. Only in fuzz builds.

use crate::calls::{Call, CallLimits, Calls};
use crate::protocol::{self, Kind};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

/// Reads the frames of a worker. Returns the contents of its output.
///
/// # Errors
/// If a frame is not valid.
pub fn read_output(mut bytes: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut output = Vec::new();
    while let Some(frame) = protocol::read(&mut bytes)? {
        if frame.kind == Kind::Output {
            output.push(frame.content);
        }
    }
    Ok(output)
}

/// Handles the frames of a worker about calls, as the parent process does. Returns the calls that it opened, with their requests.
/// A file takes the place of the worker's input.
///
/// # Errors
/// If the file cannot be written, or a frame is not valid.
pub fn accept_calls(mut frames: &[u8], file: File) -> io::Result<Vec<(Call, Vec<u8>)>> {
    let limits = CallLimits {
        calls: 8,
        messages: 4,
        bytes: 64 << 10,
    };
    let calls = Calls::new(Arc::new(Mutex::new(file)), limits);
    let mut accepted = Vec::new();
    while let Some(frame) = protocol::read(&mut frames)? {
        match frame.kind {
            Kind::Open => accepted.push(calls.accept(&frame.content).map_err(io::Error::other)?),
            Kind::Message => calls.deliver(&frame.content).map_err(io::Error::other)?,
            Kind::Close => calls.close(&frame.content).map_err(io::Error::other)?,
            _ => break,
        }
    }
    Ok(accepted)
}
