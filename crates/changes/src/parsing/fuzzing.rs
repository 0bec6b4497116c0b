//! Reading of the results of worker processes, without processes. Only in fuzz builds.

use super::CatalogResult;
use lodeseek_catalog::{Catalog, CatalogSource};
use std::io;

/// Reads the pieces of a catalogue that a worker process sent.
///
/// # Errors
/// If a piece is not valid, if the result is incomplete or an error, or if it names files that the worker was not to read.
pub fn read_catalog(pieces: &[&[u8]], source: &CatalogSource) -> io::Result<Catalog> {
    let mut result = CatalogResult::default();
    for piece in pieces {
        result.take(piece)?;
    }
    let catalog = result
        .finish()
        .ok_or(io::ErrorKind::UnexpectedEof)?
        .map_err(io::Error::other)?;
    catalog.confined_to(source).map_err(io::Error::other)
}
