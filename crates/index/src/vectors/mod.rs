//! Vectors of datasets, beside the text index: a folder a model, two matrices a dataset.
//!
//! A folder holds a data file, to which blocks are only appended, and a directory, which is replaced as a whole. A block is
//! a dataset's two matrices as [`Rows`], of its metadata and of its triples. The directory names for each dataset the
//! place and checksum of its block and the digest of the exact texts that were encoded: what did not change is not encoded
//! again, and an encoding that was interrupted goes on from its last commit. A crash at any moment leaves the last commit.

mod directory;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

pub use directory::Description;
pub use reader::{DatasetVectors, Vectors, VectorsSnapshot};
pub use rows::{PANEL, Precision, Rows, UnknownPrecision};
pub use writer::VectorsWriter;

use directory::Directory;
use lodeseek_ranking::DatasetId;
use std::fs;
use std::path::{Path, PathBuf};

/// What can go wrong with vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// There are none yet.
    #[error("there are no vectors at {0}; `lodeseek index --dpr` or `--colbert` makes them")]
    Missing(PathBuf),
    /// Another process is writing them.
    #[error("another process is writing the vectors at {0}")]
    Busy(PathBuf),
    /// Another version of the program wrote them.
    #[error(
        "the vectors at {0} are of another version; remove the folder and run `lodeseek index --dpr` or `--colbert`"
    )]
    OtherVersion(PathBuf),
    /// Another model made them.
    #[error("the vectors at {0} were made by another model")]
    OtherModel(PathBuf),
    /// The directory cannot be read.
    #[error("the vectors at {0} are damaged; remove the folder and run `lodeseek index --dpr` or `--colbert`")]
    Damaged(PathBuf),
    /// The block of a dataset is not what was written.
    #[error("the vectors of the dataset {0} are damaged")]
    DamagedBlock(DatasetId),
    /// A matrix that does not belong here.
    #[error("a matrix of {columns} columns for the dataset {dataset}, where the vectors have {expected}")]
    #[expect(missing_docs, reason = "named in the message")]
    Shape { dataset: DatasetId, columns: usize, expected: usize },
    /// The disk failed.
    #[error("vectors: {0}")]
    Io(#[from] std::io::Error),
    /// The file could not be mapped.
    #[error("vectors: {0}")]
    Map(#[from] tantivy::TantivyError),
}

/// The folder for the vectors of a model, below the folder of all.
#[must_use]
pub fn model_folder(folder: &Path, fingerprint: &str) -> PathBuf {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(fingerprint);
    folder.join(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Vectors that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVectors {
    /// What they are; or why that cannot be told.
    pub description: Result<Description, String>,
    /// Where they lie.
    pub folder: PathBuf,
    /// Bytes of all their files.
    pub bytes: u64,
}

/// The vectors below the folder of all, whichever model made them.
pub fn list(folder: &Path) -> Result<Vec<StoredVectors>, VectorsError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut listed = Vec::new();
    for entry in fs::read_dir(folder)? {
        let folder = entry?.path();
        if !folder.is_dir() {
            continue;
        }
        let mut bytes = 0;
        for file in fs::read_dir(&folder)? {
            bytes += file?.metadata()?.len();
        }
        let description = match Directory::header(&folder) {
            Ok(Some(header)) => Ok(header.description),
            Ok(None) => Err("nothing was committed".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        listed.push(StoredVectors { description, folder, bytes });
    }
    listed.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(listed)
}

/// Removes vectors. Readers that have them open keep them.
pub fn delete(listed: &StoredVectors) -> Result<(), VectorsError> {
    Ok(fs::remove_dir_all(&listed.folder)?)
}
