//! Digests of values, in bytes and in hexadecimal.

use sha2::{Digest as _, Sha256};
use std::fmt::Write;

/// Size of a digest in bytes. Half of a SHA-256 saves memory and excludes accidental collisions.
pub(super) const DIGEST_BYTES: usize = 16;

/// First bytes of a SHA-256.
pub(super) type Digest = [u8; DIGEST_BYTES];

/// Returns the digest of values. Each one follows its length, so that other values have another digest.
pub(super) fn hash_values<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> Digest {
    let mut hash = Sha256::new();
    for value in values {
        hash.update((value.len() as u64).to_le_bytes());
        hash.update(value);
    }
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.finalize()[..DIGEST_BYTES]);
    digest
}

/// Returns bytes as hexadecimal digits.
#[must_use]
pub fn format_hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_depend_on_the_bounds_of_values() {
        let one = hash_values(["ab", "c"].map(str::as_bytes));
        let other = hash_values(["a", "bc"].map(str::as_bytes));
        assert_ne!(one, other);
        assert_eq!(format_hex(&[0, 10, 255]), "000aff");
    }
}
