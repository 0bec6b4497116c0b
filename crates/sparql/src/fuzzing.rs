//! Reading of the answers of worker processes, without processes. Only in fuzz builds.

use crate::stream::Part;
use crate::{AnswerStream, Cancellation, SparqlError, SparqlLimits, wire};
use std::sync::mpsc::sync_channel;

/// Reads the parts of an answer that a worker process sent.
///
/// # Errors
/// If the first part is not the head of an answer. An error of a later part is returned when the answer is read.
pub fn read_answer(parts: &[&[u8]], limits: &SparqlLimits) -> Result<AnswerStream, SparqlError> {
    let (sender, receiver) = sync_channel(parts.len());
    for part in parts {
        let part = wire::decode(part)
            .unwrap_or_else(|error| Part::Failed(SparqlError::Worker(error.to_string())));
        if sender.send(part).is_err() {
            break;
        }
    }
    drop(sender);
    AnswerStream::receive_from(receiver, limits, &Cancellation::default())
}
