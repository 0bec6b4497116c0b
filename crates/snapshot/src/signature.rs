//! Signatures of records: Ed25519 (RFC 8032), with keys in PEM as OpenSSL writes them.
//!
//! ```text
//! openssl genpkey -algorithm ed25519 -out publisher.pem
//! openssl pkey -in publisher.pem -pubout -out publisher.pub.pem
//! ```

use crate::SnapshotError;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Beginning of a public key of Ed25519 in DER (RFC 8410, 4). The 32 bytes of the key follow.
const PUBLIC_KEY_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// Size of a public key in bytes.
const PUBLIC_KEY_BYTES: usize = 32;

/// A text is no key of Ed25519 in PEM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "no {kind} key of Ed25519 in PEM; `openssl genpkey -algorithm ed25519` makes a private key, `openssl pkey -pubout` its public key"
)]
pub struct InvalidKey {
    /// Kind of the key that was expected.
    kind: &'static str,
}

impl InvalidKey {
    fn in_file(self, path: &Path) -> SnapshotError {
        SnapshotError::Key {
            path: path.to_owned(),
            reason: self.to_string(),
        }
    }
}

/// Private key of a publisher.
#[derive(Clone)]
pub struct SigningKey(Arc<Ed25519KeyPair>);

impl SigningKey {
    /// Reads a private key in PEM (PKCS #8, not encrypted).
    ///
    /// # Errors
    /// If the text has no such key.
    pub fn from_pem(pem: &str) -> Result<Self, InvalidKey> {
        let invalid = InvalidKey { kind: "private" };
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| invalid)?;
        // OpenSSL writes the first version of the format, without the public key.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der());
        pair.map(|pair| Self(Arc::new(pair))).map_err(|_| invalid)
    }

    /// Reads the private key of a file.
    ///
    /// # Errors
    /// If every user of the machine can access the file, or it has no such key.
    pub fn read(path: &Path) -> Result<Self, SnapshotError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let mode = fs::metadata(path).map_err(SnapshotError::io(path))?.mode() & 0o777;
            if mode & 0o007 != 0 {
                let reason = format!(
                    "every user of this machine can access the private key (mode {mode:03o}); run `chmod 600 {}`",
                    path.display()
                );
                return Err(SnapshotError::Key {
                    path: path.to_owned(),
                    reason,
                });
            }
        }
        let pem = fs::read_to_string(path).map_err(SnapshotError::io(path))?;
        Self::from_pem(&pem).map_err(|error| error.in_file(path))
    }

    /// Returns the signature of a message in hexadecimal digits.
    pub(crate) fn sign(&self, message: &[u8]) -> String {
        let signature = self.0.sign(message);
        signature
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Returns the public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.public_key().as_ref().to_vec())
    }
}

// The key is a secret.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

/// Public key of a publisher.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    /// Reads a public key in PEM.
    ///
    /// # Errors
    /// If the text has no such key.
    pub fn from_pem(pem: &str) -> Result<Self, InvalidKey> {
        let invalid = InvalidKey { kind: "public" };
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()).map_err(|_| invalid)?;
        // The prefix names the algorithm: keys of other algorithms are rejected here, and not at the first signature.
        match der.as_ref().strip_prefix(&PUBLIC_KEY_PREFIX) {
            Some(key) if key.len() == PUBLIC_KEY_BYTES => Ok(Self(key.to_vec())),
            _ => Err(invalid),
        }
    }

    /// Reads the public key of a file.
    ///
    /// # Errors
    /// If the file has no such key.
    pub fn read(path: &Path) -> Result<Self, SnapshotError> {
        let pem = fs::read_to_string(path).map_err(SnapshotError::io(path))?;
        Self::from_pem(&pem).map_err(|error| error.in_file(path))
    }

    /// Returns true if a text is the signature of a message.
    pub(crate) fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let Some(signature) = decode_hex(signature) else {
            return false;
        };
        UnparsedPublicKey::new(&ED25519, &self.0)
            .verify(message, &signature)
            .is_ok()
    }
}

/// Returns the bytes of hexadecimal digits.
fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let pairs = digits.chunks(2).map(|pair| {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        u8::try_from(high * 16 + low).ok()
    });
    pairs.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Keys of RFC 8032, 7.1, tests 1 and 2, in the form of OpenSSL.
    pub(crate) const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
        -----END PRIVATE KEY-----\n";
    pub(crate) const OTHER: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n\
        -----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n\
        -----END PUBLIC KEY-----\n";

    #[test]
    fn keys_of_openssl_sign_and_verify() {
        let key = SigningKey::from_pem(PRIVATE).expect("a key");
        let public = PublicKey::from_pem(PUBLIC).expect("a key");
        assert_eq!(key.public_key(), public);
        // The signature of the empty message in RFC 8032, 7.1, test 1.
        let signature = key.sign(b"");
        assert!(
            signature.starts_with("e5564300c360ac729086e2cc806e828a"),
            "{signature}"
        );
        assert!(public.verifies(b"", &signature));
        for wrong in ["", "e5", "é", &signature[2..], &signature.replace('e', "f")] {
            assert!(!public.verifies(b"", wrong), "{wrong}");
        }
        assert!(!public.verifies(b"x", &signature));
        let other = SigningKey::from_pem(OTHER).expect("a key");
        assert!(!other.public_key().verifies(b"", &signature));
        for text in ["", "x", PUBLIC] {
            assert!(SigningKey::from_pem(text).is_err(), "{text}");
        }
        for text in ["", "x", PRIVATE] {
            assert!(PublicKey::from_pem(text).is_err(), "{text}");
        }
    }
}
