//! Shared parts of the fuzz targets: checks of dumps, generated quads, generated queries.
//!
//! Each target calls [`start`] once, which limits the memory of the process. `tools/fuzz.sh` builds and runs the targets.

pub mod dumps;
pub mod queries;
pub mod quads;
pub mod scratch;
pub mod site;

use std::alloc::System;

#[global_allocator]
static ALLOCATOR: cap::Cap<System> = cap::Cap::new(System, usize::MAX);

/// Memory of a process in bytes. Inputs have at most some kilobytes, so a target that needs more amplifies its input.
const MAX_MEMORY_BYTES: usize = 1 << 30;

/// Base IRI of all documents.
pub const BASE: &str = "http://example.org/dir/document";

/// Limits the memory of the process. An allocation beyond the limit aborts the process, which libFuzzer reports.
///
/// libFuzzer checks the memory once a second only, and its limit for a single allocation needs a sanitizer.
pub fn start() {
    let limited = ALLOCATOR.set_limit(MAX_MEMORY_BYTES);
    assert!(
        limited.is_ok(),
        "more than {MAX_MEMORY_BYTES} bytes are in use before the first input"
    );
}
