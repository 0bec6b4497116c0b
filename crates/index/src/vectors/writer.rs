//! Writer of vectors: appends blocks, then replaces the directory.

use super::directory::{Directory, Entry, data_name, is_data_name};
use super::{Description, Rows, VectorsError};
use lodeseek_ranking::DatasetId;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write, copy};
use std::path::{Path, PathBuf};
use tantivy::directory::{Directory as _, DirectoryLock, Lock, MmapDirectory};

const LOCK: &str = "lock";
/// Minimum number of unused bytes for a compaction.
const MIN_COMPACTED_BYTES: u64 = 1 << 16;

/// Exclusive writer of a folder of vectors. Changes are durable and visible after [`commit`](Self::commit).
pub struct VectorsWriter {
    folder: PathBuf,
    directory: Directory,
    data: BufWriter<File>,
    _lock: DirectoryLock,
}

impl VectorsWriter {
    /// Opens the vectors in a folder for writing, or creates them.
    ///
    /// Data behind the last commit is truncated. Entries beyond the end of a shortened data file are dropped. Vectors
    /// with another description are replaced at the next commit.
    pub fn open(folder: &Path, description: Description) -> Result<Self, VectorsError> {
        fs::create_dir_all(folder)?;
        let lock = lock_folder(folder)?;
        let mut directory = match Directory::read(folder)? {
            Some(directory) if directory.header.description == description => directory,
            Some(other) => empty_directory(description, other.header.generation),
            None => Directory::new(description),
        };
        let path = folder.join(&directory.header.data);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let length = file.metadata()?.len().min(directory.header.length);
        // Readers may have mapped what is cut off, but no directory lists it.
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        directory.header.length = length;
        let description = &directory.header.description;
        directory
            .entries
            .retain(|_, entry| entry.lies_within(length, description));
        let writer = Self {
            folder: folder.to_owned(),
            directory,
            data: BufWriter::new(file),
            _lock: lock,
        };
        writer.remove_stray_files()?;
        Ok(writer)
    }

    /// Returns the description of the vectors.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.directory.header.description
    }

    /// Returns the digest of the texts from which a dataset's vectors were computed.
    #[must_use]
    pub fn digest(&self, id: &DatasetId) -> Option<&str> {
        self.directory
            .entries
            .get(id)
            .map(|entry| entry.digest.as_str())
    }

    /// Reads a committed block and returns true if its checksum is correct.
    pub fn is_sound(&self, id: &DatasetId) -> Result<bool, VectorsError> {
        let Some(entry) = self.directory.entries.get(id) else {
            return Ok(false);
        };
        let length = entry
            .length(&self.directory.header.description)
            .and_then(|length| usize::try_from(length).ok());
        let Some(length) = length else {
            return Ok(false);
        };
        let mut file = File::open(self.folder.join(&self.directory.header.data))?;
        file.seek(SeekFrom::Start(entry.offset))?;
        let mut bytes = vec![0; length];
        let whole = file.read_exact(&mut bytes).is_ok();
        Ok(whole && crc32fast::hash(&bytes) == entry.checksum)
    }

    /// Returns the number of datasets that have vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.directory.entries.len()
    }

    /// Returns true if no dataset has vectors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.directory.entries.is_empty()
    }

    /// Returns the datasets that have vectors.
    pub fn ids(&self) -> impl Iterator<Item = &DatasetId> {
        self.directory.entries.keys()
    }

    /// Adds or replaces the matrices of a dataset. `digest` identifies the encoded texts.
    pub fn put(
        &mut self,
        id: DatasetId,
        digest: String,
        matrices: [&Rows; 2],
    ) -> Result<(), VectorsError> {
        let description = &self.directory.header.description;
        for rows in matrices {
            if (rows.columns(), rows.precision()) != (description.columns, description.precision)
                && rows.rows() > 0
            {
                return Err(VectorsError::Shape {
                    dataset: id,
                    columns: rows.columns(),
                    expected: description.columns,
                });
            }
        }
        let mut hasher = crc32fast::Hasher::new();
        let offset = self.directory.header.length;
        for rows in matrices {
            self.data.write_all(rows.bytes())?;
            hasher.update(rows.bytes());
            self.directory.header.length += rows.bytes().len() as u64;
        }
        let entry = Entry {
            digest,
            offset,
            rows: matrices.map(Rows::rows),
            checksum: hasher.finalize(),
        };
        self.directory.entries.insert(id, entry);
        Ok(())
    }

    /// Removes the vectors of a dataset.
    pub fn remove(&mut self, id: &DatasetId) {
        self.directory.entries.remove(id);
    }

    /// Makes all changes since the last commit durable and visible: the blocks first, then the directory.
    pub fn commit(&mut self) -> Result<(), VectorsError> {
        self.data.flush()?;
        self.data.get_ref().sync_all()?;
        self.directory.write(&self.folder)
    }

    /// Returns the size of the data file and the total size of its used blocks, in bytes.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        let description = &self.directory.header.description;
        let used = self
            .directory
            .entries
            .values()
            .filter_map(|entry| entry.length(description))
            .sum();
        (self.directory.header.length, used)
    }

    /// Commits. If more than half of the data file is unused, copies the used blocks to a new file.
    pub fn finish(mut self) -> Result<(), VectorsError> {
        self.commit()?;
        let (all, used) = self.bytes();
        if all - used > used && all - used >= MIN_COMPACTED_BYTES {
            self.compact()
        } else {
            self.remove_stray_files()
        }
    }

    /// Copies the used blocks in their order to a new data file. The old file remains valid until the directory refers
    /// to the new one. Readers that have it open can continue to use it.
    fn compact(mut self) -> Result<(), VectorsError> {
        let header = &mut self.directory.header;
        let mut old = BufReader::new(File::open(self.folder.join(&header.data))?);
        header.data = data_name(header.generation + 1);
        let mut new = BufWriter::new(File::create(self.folder.join(&header.data))?);
        header.length = 0;
        let mut entries: Vec<&mut Entry> = self.directory.entries.values_mut().collect();
        entries.sort_unstable_by_key(|entry| entry.offset);
        for entry in entries {
            let length = entry.length(&header.description).unwrap_or(0);
            old.seek(SeekFrom::Start(entry.offset))?;
            copy(&mut old.by_ref().take(length), &mut new)?;
            entry.offset = header.length;
            header.length += length;
        }
        self.data = new;
        self.commit()?;
        self.remove_stray_files()
    }

    /// Removes data files that the directory does not refer to, such as those of interrupted compactions.
    fn remove_stray_files(&self) -> Result<(), VectorsError> {
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            let name = file.file_name().to_string_lossy().into_owned();
            // Before the first commit of this description, the directory on disk refers to the file of other vectors.
            let is_committed =
                Directory::header(&self.folder)?.is_some_and(|header| header.data == name);
            if is_data_name(&name) && name != self.directory.header.data && !is_committed {
                fs::remove_file(file.path())?;
            }
        }
        Ok(())
    }
}

/// Creates the directory of vectors that replace others, with a data file of their own.
fn empty_directory(description: Description, generation: u64) -> Directory {
    let mut directory = Directory::new(description);
    directory.header.generation = generation;
    directory.header.data = data_name(generation + 1);
    directory
}

fn lock_folder(folder: &Path) -> Result<DirectoryLock, VectorsError> {
    let files = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
    let lock = Lock {
        filepath: LOCK.into(),
        is_blocking: false,
    };
    files
        .acquire_lock(&lock)
        .map_err(|_| VectorsError::Busy(folder.to_owned()))
}
