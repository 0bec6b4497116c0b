//! SHA-256 of texts, files and responses, in hexadecimal.

use lodeseek_catalog::format_hex;
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// Returns the SHA-256 of a reader's content.
pub(super) fn hash_of(mut reader: impl Read) -> io::Result<String> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    Ok(format_hex(&hash.finalize()[..]))
}

/// Returns the SHA-256 of bytes.
pub(super) fn hash_of_bytes(bytes: &[u8]) -> String {
    format_hex(&Sha256::digest(bytes)[..])
}

/// Returns the SHA-256 of a text.
pub(super) fn hash_of_text(text: &str) -> String {
    hash_of_bytes(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_texts_and_readers_are_equal() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_of_text("abc"), hash);
        assert_eq!(hash_of(&b"abc"[..]).expect("readable"), hash);
    }
}
