//! Where a result comes from: the program and the files it read.

use super::EvalError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The program that made a result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Provenance {
    /// Its name.
    pub program: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The commit it was built from, where the build was told (`LODESEEK_COMMIT`, as `make release` does).
    pub commit: Option<&'static str>,
}

impl Default for Provenance {
    fn default() -> Self {
        let commit = option_env!("LODESEEK_COMMIT").filter(|commit| !commit.is_empty());
        Self { program: "lodeseek", version: env!("CARGO_PKG_VERSION"), commit }
    }
}

/// A file that was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Input {
    /// The file, as it was named.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

impl Input {
    /// Reads a file for its digest.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        Ok(Self { path: path.to_owned(), sha256: digest(path)? })
    }
}

/// The SHA-256 of a file; of a folder, that of its listing, which is what this prints:
/// `cd FOLDER && LC_ALL=C sha256sum * | sha256sum`.
pub fn digest(path: &Path) -> Result<String, EvalError> {
    let failed = |cause| EvalError::Io { path: path.to_owned(), cause };
    if !path.is_dir() {
        return Ok(hexadecimal(&fs::read(path).map_err(failed)?));
    }
    let entries = fs::read_dir(path).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    let mut listing = String::new();
    for name in names.iter().filter(|name| path.join(name).is_file()) {
        listing.push_str(&format!("{}  {name}\n", digest(&path.join(name))?));
    }
    Ok(hexadecimal(listing.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_listing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("b"), "").expect("written");
        fs::write(folder.path().join("a"), "abc").expect("written");
        let (empty, abc) = (hexadecimal(b""), hexadecimal(b"abc"));
        assert!(abc.starts_with("ba7816bf") && empty.starts_with("e3b0c442"));
        assert_eq!(digest(folder.path()).expect("read"), hexadecimal(format!("{abc}  a\n{empty}  b\n").as_bytes()));
        assert!(digest(&folder.path().join("c")).is_err());
    }
}
