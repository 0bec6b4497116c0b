//! Reading vectors where they lie.

use super::directory::{Directory, Entry};
use super::{Description, Rows, VectorsError};
use lodeseek_ranking::DatasetId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::directory::{Directory as _, MmapDirectory, OwnedBytes};

/// Times a reading is begun anew because a writer has replaced the data file meanwhile.
const ATTEMPTS: usize = 5;

/// The vectors in a folder, opened for reading. Follows the commits of writers in other processes.
pub struct Vectors {
    folder: PathBuf,
    current: Mutex<Arc<VectorsSnapshot>>,
}

/// The vectors at one moment.
///
/// Why tantivy's memory maps? They are read without unsafe code on this side, and the index has them anyway. Each snapshot
/// maps the file anew, since a map does not grow with its file; a directory of tantivy's would share the old one.
pub struct VectorsSnapshot {
    generation: u64,
    description: Description,
    blocks: BTreeMap<DatasetId, Block>,
    data: OwnedBytes,
}

struct Block {
    entry: Entry,
    /// Whether the checksum was found to be right. Two threads may find out at once, to the same end.
    verified: AtomicBool,
}

/// The two matrices of a dataset.
#[derive(Clone, Debug)]
pub struct DatasetVectors {
    /// Of its metadata.
    pub metadata: Rows,
    /// Of its triples.
    pub data: Rows,
}

impl Vectors {
    /// Opens the vectors in a folder that a model with this fingerprint made.
    pub fn open(folder: &Path, fingerprint: &str) -> Result<Self, VectorsError> {
        let snapshot = VectorsSnapshot::read(folder)?.ok_or_else(|| VectorsError::Missing(folder.to_owned()))?;
        if snapshot.description.fingerprint != fingerprint {
            return Err(VectorsError::OtherModel(folder.to_owned()));
        }
        Ok(Self { folder: folder.to_owned(), current: Mutex::new(Arc::new(snapshot)) })
    }

    /// The vectors as last committed; read anew only after a commit.
    pub fn snapshot(&self) -> Result<Arc<VectorsSnapshot>, VectorsError> {
        let generation = Directory::generation(&self.folder)?;
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.generation != generation {
            let read = VectorsSnapshot::read(&self.folder)?;
            *current = Arc::new(read.ok_or_else(|| VectorsError::Missing(self.folder.clone()))?);
        }
        Ok(Arc::clone(&current))
    }
}

impl VectorsSnapshot {
    fn read(folder: &Path) -> Result<Option<Self>, VectorsError> {
        for attempt in 1.. {
            let Some(directory) = Directory::read(folder)? else { return Ok(None) };
            match map(folder, &directory.header.data) {
                Ok(data) => return Ok(Some(Self::new(directory, data))),
                Err(_) if attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn new(directory: Directory, data: OwnedBytes) -> Self {
        let Directory { header, entries } = directory;
        let block = |(id, entry)| (id, Block { entry, verified: AtomicBool::new(false) });
        let blocks = entries.into_iter().map(block).collect();
        Self { generation: header.generation, description: header.description, blocks, data }
    }

    /// A number that changes with every commit.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What the vectors are.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The number of datasets with vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The datasets with vectors, by id.
    pub fn ids(&self) -> impl Iterator<Item = &DatasetId> {
        self.blocks.keys()
    }

    /// The digest of the texts that a dataset's vectors were made of.
    #[must_use]
    pub fn digest(&self, id: &DatasetId) -> Option<&str> {
        self.blocks.get(id).map(|block| block.entry.digest.as_str())
    }

    /// The vectors of a dataset; `None` where it has none. The checksum is verified when they are first asked for: an
    /// error concerns this dataset alone.
    pub fn get(&self, id: &DatasetId) -> Result<Option<DatasetVectors>, VectorsError> {
        let Some(block) = self.blocks.get(id) else { return Ok(None) };
        let damaged = || VectorsError::DamagedBlock(id.clone());
        let (offset, [metadata, data]) = self.place(&block.entry).ok_or_else(damaged)?;
        if !block.verified.load(Ordering::Relaxed) {
            if crc32fast::hash(&self.data[offset..offset + metadata + data]) != block.entry.checksum {
                return Err(damaged());
            }
            block.verified.store(true, Ordering::Relaxed);
        }
        let rows = |from, length, rows| {
            let bytes = self.data.slice(from..from + length);
            Rows::view(bytes, rows, self.description.columns, self.description.precision).ok_or_else(damaged)
        };
        let metadata_rows = rows(offset, metadata, block.entry.rows[0])?;
        let data = rows(offset + metadata, data, block.entry.rows[1])?;
        Ok(Some(DatasetVectors { metadata: metadata_rows, data }))
    }

    /// Where a block lies, and the lengths of its matrices, if the file holds them.
    fn place(&self, entry: &Entry) -> Option<(usize, [usize; 2])> {
        let inside = entry.lies_within(self.data.len() as u64, &self.description);
        Some((usize::try_from(entry.offset).ok()?, entry.lengths(&self.description)?)).filter(|_| inside)
    }
}

fn map(folder: &Path, name: &str) -> Result<OwnedBytes, VectorsError> {
    let files = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
    let slice = files.open_read(Path::new(name)).map_err(tantivy::TantivyError::from)?;
    Ok(slice.read_bytes()?)
}
