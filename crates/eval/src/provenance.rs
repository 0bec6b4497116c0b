//! Provenance of a result: the program version and the digests of its input files.
//!
//! Run files and training data get a sidecar file with this record, so that a result can be traced to its inputs.

use super::EvalError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Program that produced a result.
///
/// ```
/// use lodeseek_eval::Provenance;
///
/// let provenance = Provenance::new("lodeseek");
/// assert_eq!((provenance.program, provenance.version), ("lodeseek", env!("CARGO_PKG_VERSION")));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Provenance {
    /// Program name.
    pub program: &'static str,
    /// Version of the program, as in Cargo.toml.
    pub version: &'static str,
    /// Git commit of the build. It is known if `LODESEEK_COMMIT` was set at build time, as `make release` does.
    pub commit: Option<&'static str>,
}

impl Provenance {
    /// Creates the record of a program of this workspace. All have the same version.
    #[must_use]
    pub fn new(program: &'static str) -> Self {
        let commit = option_env!("LODESEEK_COMMIT").filter(|commit| !commit.is_empty());
        Self {
            program,
            version: env!("CARGO_PKG_VERSION"),
            commit,
        }
    }
}

/// Input file or folder with its digest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Input {
    /// Path as given by the user.
    pub path: PathBuf,
    /// SHA-256 [`digest`] in hexadecimal digits.
    pub sha256: String,
}

impl Input {
    /// Computes the digest of a file or folder.
    ///
    /// # Errors
    ///
    /// Returns [`EvalError::Io`] with the path if a file cannot be read.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        Ok(Self {
            path: path.to_owned(),
            sha256: digest(path)?,
        })
    }
}

/// Returns the SHA-256 of a file or folder, in hexadecimal digits.
///
/// The digest of a folder is that of its listing: `cd FOLDER && LC_ALL=C sha256sum * | sha256sum`. Hidden files and
/// subfolders are not part of the listing.
///
/// # Errors
///
/// Returns [`EvalError::Io`] with the path if a file cannot be read.
pub fn digest(path: &Path) -> Result<String, EvalError> {
    if !path.is_dir() {
        let content = fs::read(path).map_err(EvalError::io(path))?;
        return Ok(hash_bytes(&content));
    }
    let entries = fs::read_dir(path)
        .and_then(|entries| entries.collect::<Result<Vec<_>, _>>())
        .map_err(EvalError::io(path))?;
    // Names are bytes: a file whose name is not UTF-8 belongs to the listing too.
    let mut names: Vec<OsString> = entries.iter().map(fs::DirEntry::file_name).collect();
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    let mut listing = Vec::new();
    for name in names.iter().filter(|name| path.join(name).is_file()) {
        listing.extend_from_slice(digest(&path.join(name))?.as_bytes());
        listing.extend_from_slice(b"  ");
        listing.extend_from_slice(name.as_encoded_bytes());
        listing.push(b'\n');
    }
    Ok(hash_bytes(&listing))
}

/// Returns the SHA-256 of bytes, in hexadecimal digits.
fn hash_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_listing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("b"), "").expect("written");
        fs::write(folder.path().join("a"), "abc").expect("written");
        let (empty, abc) = (hash_bytes(b""), hash_bytes(b"abc"));
        assert!(abc.starts_with("ba7816bf") && empty.starts_with("e3b0c442"));
        assert_eq!(
            digest(folder.path()).expect("read"),
            hash_bytes(format!("{abc}  a\n{empty}  b\n").as_bytes())
        );
        assert!(digest(&folder.path().join("c")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_not_utf_8_is_listed() {
        use std::os::unix::ffi::OsStringExt;
        let folder = tempfile::tempdir().expect("a folder");
        let name = OsString::from_vec(b"caf\xe9".to_vec());
        fs::write(folder.path().join(&name), "abc").expect("written");
        let listing = [hash_bytes(b"abc").as_bytes(), b"  caf\xe9\n"].concat();
        assert_eq!(digest(folder.path()).expect("read"), hash_bytes(&listing));
    }
}
