//! Reader of memory-mapped vectors.

use super::directory::{CHECKS, Directory, Entry};
use super::{Description, Rows, VectorsError};
use lodeseek_ranking::DatasetId;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::directory::{Directory as _, MmapDirectory, OwnedBytes};

/// Maximum number of attempts if a writer replaces the data file during opening.
const MAX_ATTEMPTS: usize = 5;

/// Vectors in a folder, opened for reading. Follows the commits of writers in other processes.
pub struct Vectors {
    folder: PathBuf,
    current: Mutex<Arc<VectorsSnapshot>>,
}

/// Vectors at one point in time.
///
/// Why tantivy's memory maps? They require no unsafe code here, and tantivy is a dependency of the index anyway. Each
/// snapshot maps the file anew, because a map does not grow with its file. A shared tantivy directory would return the
/// old map.
pub struct VectorsSnapshot {
    generation: u64,
    description: Description,
    /// In ascending order.
    ids: Vec<DatasetId>,
    /// In the order of the ids.
    blocks: Vec<Block>,
    data: OwnedBytes,
}

struct Block {
    entry: Entry,
    /// If true, the checksum has been verified. Two threads may verify at the same time, with the same result.
    verified: AtomicBool,
}

/// Two matrices of a dataset.
#[derive(Clone, Debug)]
pub struct DatasetVectors {
    /// Matrix of the metadata.
    pub metadata: Rows,
    /// Matrix of the triples.
    pub data: Rows,
}

impl Vectors {
    /// Opens the vectors in a folder.
    ///
    /// # Errors
    ///
    /// [`VectorsError::OtherModel`] if a model with another fingerprint produced them.
    pub fn open(folder: &Path, fingerprint: &str) -> Result<Self, VectorsError> {
        let snapshot = VectorsSnapshot::read(folder)?
            .ok_or_else(|| VectorsError::Missing(folder.to_owned()))?;
        if snapshot.description.fingerprint != fingerprint {
            return Err(VectorsError::OtherModel(folder.to_owned()));
        }
        Ok(Self {
            folder: folder.to_owned(),
            current: Mutex::new(Arc::new(snapshot)),
        })
    }

    /// Returns the last commit. The snapshot is cached until the next commit.
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
            let Some(directory) = Directory::read(folder)? else {
                return Ok(None);
            };
            match map_file(folder, &directory.header.data) {
                Ok(data) => return Ok(Some(Self::new(directory, data))),
                Err(_) if attempt < MAX_ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn new(directory: Directory, data: OwnedBytes) -> Self {
        let Directory { header, entries } = directory;
        let (ids, blocks) = entries
            .into_iter()
            .map(|(id, entry)| {
                (
                    id,
                    Block {
                        entry,
                        verified: AtomicBool::new(false),
                    },
                )
            })
            .unzip();
        Self {
            generation: header.generation,
            description: header.description,
            ids,
            blocks,
            data,
        }
    }

    /// Returns a number that changes with every commit.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the description of the vectors.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the number of datasets with vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if there are no vectors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the datasets with vectors, in ascending order. The position of a dataset in this list is its place.
    #[must_use]
    pub fn ids(&self) -> &[DatasetId] {
        &self.ids
    }

    /// Returns the place of a dataset in [`Self::ids`], or `None` if it has no vectors.
    #[must_use]
    pub fn place(&self, id: &DatasetId) -> Option<usize> {
        self.ids.binary_search(id).ok()
    }

    /// Returns the digest of the texts from which a dataset's vectors were computed.
    #[must_use]
    pub fn digest(&self, id: &DatasetId) -> Option<&str> {
        self.place(id)
            .map(|place| self.blocks[place].entry.digest.as_str())
    }

    /// Returns the vectors of a dataset, or `None` if it has none. The checksum is verified at the first access. An
    /// error concerns only this dataset.
    pub fn get(&self, id: &DatasetId) -> Result<Option<DatasetVectors>, VectorsError> {
        self.place(id).map(|place| self.get_at(place)).transpose()
    }

    /// Returns the vectors of the dataset at a place of [`Self::ids`], as [`Self::get`].
    ///
    /// # Panics
    ///
    /// If there is no such place.
    pub fn get_at(&self, place: usize) -> Result<DatasetVectors, VectorsError> {
        let block = &self.blocks[place];
        let (offset, [metadata, data]) = self
            .extent(&block.entry)
            .ok_or_else(|| self.damage_error(place))?;
        // The flag guards no other memory: the mapped bytes of a block never change.
        if !block.verified.load(Ordering::Relaxed) {
            if crc32fast::hash(&self.data[offset..offset + metadata + data]) != block.entry.checksum
                && CHECKS
            {
                return Err(self.damage_error(place));
            }
            block.verified.store(true, Ordering::Relaxed);
        }
        let [metadata_rows, data_rows] = block.entry.rows;
        let middle = offset + metadata;
        Ok(DatasetVectors {
            metadata: self
                .view_rows(offset..middle, metadata_rows)
                .ok_or_else(|| self.damage_error(place))?,
            data: self
                .view_rows(middle..middle + data, data_rows)
                .ok_or_else(|| self.damage_error(place))?,
        })
    }

    /// Returns rows that occupy a range of the data file.
    fn view_rows(&self, bytes: Range<usize>, rows: usize) -> Option<Rows> {
        Rows::view(
            self.data.slice(bytes),
            rows,
            self.description.columns,
            self.description.precision,
        )
    }

    fn damage_error(&self, place: usize) -> VectorsError {
        VectorsError::DamagedBlock(self.ids[place].clone())
    }

    /// Returns the datasets whose vectors are damaged. Reads all vectors.
    #[must_use]
    pub fn find_damaged_datasets(&self) -> Vec<DatasetId> {
        let mut damaged = Vec::new();
        for (place, id) in self.ids.iter().enumerate() {
            if self.get_at(place).is_err() {
                damaged.push(id.clone());
            }
        }
        damaged
    }

    /// Returns the offset of a block and the lengths of its matrices, if the file contains them.
    fn extent(&self, entry: &Entry) -> Option<(usize, [usize; 2])> {
        let inside = entry.lies_within(self.data.len() as u64, &self.description);
        Some((
            usize::try_from(entry.offset).ok()?,
            entry.lengths(&self.description)?,
        ))
        .filter(|_| inside)
    }
}

fn map_file(folder: &Path, name: &str) -> Result<OwnedBytes, VectorsError> {
    let files = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
    let slice = files
        .open_read(Path::new(name))
        .map_err(tantivy::TantivyError::from)?;
    Ok(slice.read_bytes()?)
}
