//! Vectors of datasets: one folder for each model, with two matrices for each dataset.
//!
//! A folder contains a data file and a directory. Blocks are only appended to the data file; the directory is replaced
//! atomically. A block contains the two matrices of a dataset as [`Rows`]: of its metadata and of its triples. The
//! directory lists for each dataset the offset and checksum of its block, and the digest of the encoded texts.
//! Unchanged texts are therefore not encoded again, and an interrupted encoding resumes at its last commit. A crash at
//! any time leaves the last commit intact.

mod directory;
mod reader;
mod rotation;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

pub use directory::Description;
pub use reader::{DatasetVectors, Vectors, VectorsSnapshot};
pub use rotation::Rotation;
pub use rows::{PANEL_ROWS, Precision, Rows, UnknownPrecision};
pub use writer::VectorsWriter;

use directory::Directory;
use lodeseek_ranking::DatasetId;
use std::fs;
use std::path::{Path, PathBuf};

/// Errors of stored vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// The folder contains no vectors.
    #[error(
        "there are no vectors at {0}; run `lodeseek index --dpr` or `lodeseek index --colbert`"
    )]
    Missing(PathBuf),
    /// Another process is writing the vectors.
    #[error("another process is writing the vectors at {0}; try again later")]
    Busy(PathBuf),
    /// Another version of the program wrote the vectors.
    #[error(
        "the vectors at {0} have another format version; remove the folder and run `lodeseek index --dpr` or `--colbert`"
    )]
    OtherVersion(PathBuf),
    /// Another model produced the vectors.
    #[error(
        "the vectors at {0} were computed by another model; run `lodeseek index` with this model"
    )]
    OtherModel(PathBuf),
    /// The directory is unreadable.
    #[error(
        "the vectors at {0} are damaged; remove the folder and run `lodeseek index --dpr` or `--colbert`"
    )]
    Damaged(PathBuf),
    /// The checksum of a dataset's block is wrong.
    #[error(
        "the vectors of dataset {0} are damaged; encode it again with `lodeseek index --dpr` or `--colbert`"
    )]
    DamagedBlock(DatasetId),
    /// A matrix has the wrong number of columns.
    #[error("dataset {dataset}: the matrix has {columns} columns, expected {expected}")]
    #[expect(missing_docs, reason = "self-explanatory names")]
    Shape {
        dataset: DatasetId,
        columns: usize,
        expected: usize,
    },
    /// I/O error.
    #[error("cannot access the vectors: {0}")]
    Io(std::io::Error),
    /// The data file could not be mapped.
    #[error("cannot access the vectors: {0}")]
    Map(tantivy::TantivyError),
}

// The messages contain the causes, which are therefore not sources: they would be printed twice.
impl From<std::io::Error> for VectorsError {
    fn from(cause: std::io::Error) -> Self {
        Self::Io(cause)
    }
}

impl From<tantivy::TantivyError> for VectorsError {
    fn from(cause: tantivy::TantivyError) -> Self {
        Self::Map(cause)
    }
}

/// Returns the folder of a model's vectors, below the folder of all vectors.
#[must_use]
pub fn model_folder(folder: &Path, fingerprint: &str) -> PathBuf {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(fingerprint);
    folder.join(
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// Stored vectors of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVectors {
    /// Description, or the reason why it is unreadable.
    pub description: Result<Description, String>,
    /// If false, the first encoding has not committed anything yet, or was interrupted before that. The next one begins again.
    pub is_committed: bool,
    /// Folder of the vectors.
    pub folder: PathBuf,
    /// Total size of all files in bytes.
    pub bytes: u64,
}

/// Lists the vectors of all models below a folder.
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
        let header = Directory::header(&folder);
        let is_committed = !matches!(header, Ok(None));
        let description = match header {
            Ok(Some(header)) => Ok(header.description),
            Ok(None) => {
                Err("no vectors yet; the first encoding runs or was interrupted".to_owned())
            }
            Err(error) => Err(error.to_string()),
        };
        listed.push(StoredVectors {
            description,
            is_committed,
            folder,
            bytes,
        });
    }
    listed.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(listed)
}

/// Removes the vectors of datasets whose checksum is wrong, so that they are encoded again. Deletes all if the directory is
/// unreadable. Returns the number of datasets removed, or `None` if all were deleted.
pub fn remove_damaged_vectors(folder: &Path) -> Result<Option<usize>, VectorsError> {
    let description = match Directory::read(folder) {
        Ok(Some(directory)) => directory.header.description,
        _ => {
            fs::remove_dir_all(folder)?;
            return Ok(None);
        }
    };
    let mut writer = VectorsWriter::open(folder, description)?;
    let ids: Vec<DatasetId> = writer.ids().cloned().collect();
    let mut removed = 0;
    for id in ids {
        if !writer.is_sound(&id)? {
            writer.remove(&id);
            removed += 1;
        }
    }
    writer.finish()?;
    Ok(Some(removed))
}

/// The files of a commit, to be copied in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFiles {
    /// The directory, which each commit replaces.
    pub directory: PathBuf,
    /// The data file, which only grows. A commit may replace it by one of another name.
    pub data: PathBuf,
}

/// Returns the files of the last commit. `None` if nothing was committed. A data file that is replaced meanwhile may be missing.
pub fn committed_files(folder: &Path) -> Result<Option<CommittedFiles>, VectorsError> {
    let Some(header) = Directory::header(folder)? else {
        return Ok(None);
    };
    // A data file only grows: copied second, it contains all that the directory lists.
    Ok(Some(CommittedFiles {
        directory: directory::path(folder),
        data: folder.join(header.data),
    }))
}

/// Deletes vectors. Readers that have them open can continue to use them.
pub fn delete(listed: &StoredVectors) -> Result<(), VectorsError> {
    Ok(fs::remove_dir_all(&listed.folder)?)
}
