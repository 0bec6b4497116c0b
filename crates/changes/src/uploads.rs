//! Uploaded files: their folder, and their limits.

use std::fs;
use std::path::{Path, PathBuf};

/// Name of the folder of uploads in the home.
pub const UPLOADS_FOLDER: &str = "uploads";
/// Maximum size of an upload in bytes: 4 GiB.
pub const MAX_UPLOAD_BYTES: usize = 4 << 30;
/// Maximum number of files of an uploaded catalogue.
pub const MAX_CATALOG_FILES: usize = 10_000;
/// Maximum number of sources of a load or a harvest.
pub const MAX_SOURCES: usize = 100;
/// Maximum size of the path of a file in an uploaded catalogue, in bytes.
const MAX_PATH_BYTES: usize = 2000;
/// Maximum size of a part of such a path, in bytes.
const MAX_PART_BYTES: usize = 200;

/// An uploaded file.
pub struct UploadedFile {
    /// Name, without folders.
    pub name: String,
    /// Path of the received file.
    pub path: PathBuf,
    /// Media type, if it is known.
    pub media_type: Option<String>,
    /// Address from which it was downloaded.
    pub address: Option<String>,
}

/// Folder of uploaded files. It is deleted with this value.
pub struct Spool(PathBuf);

impl Spool {
    /// Creates an empty folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(folder: PathBuf) -> std::io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Removes the path of the folder from a message: it is no concern of the sender.
    pub(crate) fn without_path(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "cannot delete uploaded files; the next start deletes them");
        }
    }
}

/// Returns true if a name can be the path of a file in an uploaded catalogue. Such a path cannot leave its folder: its parts are
/// separated by `/`, and none is empty, `.` or `..`. It has no backslash, colon or control character, at most 2,000 bytes, and at
/// most 200 in each part.
#[must_use]
pub fn is_upload_path(name: &str) -> bool {
    name.len() <= MAX_PATH_BYTES
        && !name.contains(char::is_control)
        && name.split('/').all(is_plain_part)
}

fn is_plain_part(part: &str) -> bool {
    !part.is_empty()
        && !matches!(part, "." | "..")
        && part.len() <= MAX_PART_BYTES
        && !part.contains(['\\', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_uploads_stay_in_their_folder() {
        let (longest, long, deep) = ("a".repeat(200), "a".repeat(201), "a/b".repeat(700));
        for right in ["a.nt", "0/dumps/trees.nt", longest.as_str()] {
            assert!(is_upload_path(right), "{right}");
        }
        for wrong in [
            "", "/a", "a//b", "a/", "./a", "a/../b", "a\\b", "c:a", "a\nb", &long, &deep,
        ] {
            assert!(!is_upload_path(wrong), "{wrong}");
        }
    }
}
