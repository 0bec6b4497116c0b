//! Hashes and names of files.

use lodeseek_engine::copy_and_hash;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// Returns the hash in hexadecimal digits.
pub(crate) fn hex(hasher: Sha256) -> String {
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns the size in bytes and the SHA-256 of a file from its current position.
pub(crate) fn hash_file(file: &mut File) -> io::Result<(u64, String)> {
    copy_and_hash(file, &mut io::sink())
}

/// Returns true if a path of a manifest stays below the home.
pub(crate) fn is_relative(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}
