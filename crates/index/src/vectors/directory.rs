//! Directory of a folder of vectors: the datasets, and the positions of their blocks in the data file.
//!
//! The directory is one file, replaced atomically by renaming. The first line describes the vectors; each further line
//! describes a dataset. It is written after its blocks are on disk, so every listed block exists. Data behind the
//! listed blocks is an incomplete write.

use super::{Precision, VectorsError};
use lodeseek_ranking::DatasetId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "directory";
const NEW: &str = "directory.new";
/// Format version of directory and blocks.
const FORMAT_VERSION: u32 = 1;
/// If true, checksums are compared. Fuzz builds ignore them: changed bytes would never reach the code behind.
pub(super) const CHECKS: bool = !cfg!(fuzzing);

/// Returns the path of the directory file of a folder.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Description of the vectors of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the model.
    pub model: String,
    /// Fingerprint of the model.
    pub fingerprint: String,
    /// Number of columns.
    pub columns: usize,
    /// Number format.
    pub precision: Precision,
}

/// First line of the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    format: u32,
    /// Commit number, increasing.
    pub(super) generation: u64,
    #[serde(flatten)]
    pub(super) description: Description,
    /// Name of the data file.
    pub(super) data: String,
    /// Committed length of the data file in bytes.
    pub(super) length: u64,
    /// Number of lines that follow.
    datasets: usize,
    /// Checksum of the lines that follow.
    checksum: u32,
}

/// Block of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Digest of the encoded texts.
    pub(super) digest: String,
    pub(super) offset: u64,
    /// Number of rows for the metadata text and the data text.
    pub(super) rows: [usize; 2],
    /// Checksum of the block.
    pub(super) checksum: u32,
}

impl Entry {
    /// Returns the lengths of the two matrices in bytes, or `None` on overflow.
    pub(super) fn lengths(&self, description: &Description) -> Option<[usize; 2]> {
        let [metadata, data] = self
            .rows
            .map(|rows| description.precision.bytes(rows, description.columns));
        Some([metadata?, data?])
    }

    /// Returns the length of the block in bytes.
    pub(super) fn length(&self, description: &Description) -> Option<u64> {
        let [metadata, data] = self.lengths(description)?;
        u64::try_from(metadata.checked_add(data)?).ok()
    }

    /// Returns true if the block lies within the first `length` bytes of the data file.
    pub(super) fn lies_within(&self, length: u64, description: &Description) -> bool {
        let end = self
            .length(description)
            .and_then(|own| self.offset.checked_add(own));
        end.is_some_and(|end| end <= length)
    }
}

/// Content of the directory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directory {
    pub(super) header: Header,
    pub(super) entries: BTreeMap<DatasetId, Entry>,
}

impl Directory {
    /// Creates the directory before the first commit.
    pub(super) fn new(description: Description) -> Self {
        let header = Header {
            format: FORMAT_VERSION,
            generation: 0,
            description,
            data: data_name(0),
            length: 0,
            datasets: 0,
            checksum: 0,
        };
        Self {
            header,
            entries: BTreeMap::new(),
        }
    }

    /// Reads the directory of a folder, or returns `None` if there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, VectorsError> {
        let path = folder.join(NAME);
        let Some(bytes) = missing_as_none(fs::read(&path))? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|_| damage_error(folder))?;
        let Some((first, rest)) = text.split_once('\n') else {
            return Err(damage_error(folder));
        };
        let header = parse_header(first, folder)?;
        if crc32fast::hash(rest.as_bytes()) != header.checksum && CHECKS {
            return Err(damage_error(folder));
        }
        let entries: BTreeMap<_, _> = rest
            .lines()
            .map(serde_json::from_str::<(DatasetId, Entry)>)
            .collect::<Result<_, _>>()
            .map_err(|_| damage_error(folder))?;
        if entries.len() == header.datasets {
            Ok(Some(Self { header, entries }))
        } else {
            Err(damage_error(folder))
        }
    }

    /// Returns the generation of a folder's directory; 0 if there is none.
    pub(super) fn generation(folder: &Path) -> Result<u64, VectorsError> {
        match Self::header(folder)? {
            Some(header) => Ok(header.generation),
            None => Ok(0),
        }
    }

    /// Reads only the first line.
    pub(super) fn header(folder: &Path) -> Result<Option<Header>, VectorsError> {
        let Some(file) = missing_as_none(File::open(folder.join(NAME)))? else {
            return Ok(None);
        };
        let mut first = Vec::new();
        BufReader::new(file).read_until(b'\n', &mut first)?;
        let first = String::from_utf8(first).map_err(|_| damage_error(folder))?;
        parse_header(&first, folder).map(Some)
    }

    /// Replaces the directory of a folder. The blocks must be on disk.
    pub(super) fn write(&mut self, folder: &Path) -> Result<(), VectorsError> {
        let mut lines = Vec::new();
        for entry in &self.entries {
            serde_json::to_writer(&mut lines, &entry).map_err(std::io::Error::from)?;
            lines.push(b'\n');
        }
        self.header.generation += 1;
        self.header.datasets = self.entries.len();
        self.header.checksum = crc32fast::hash(&lines);
        let first = serde_json::to_string(&self.header).map_err(std::io::Error::from)?;
        let mut file = File::create(folder.join(NEW))?;
        file.write_all(first.as_bytes())?;
        file.write_all(b"\n")?;
        file.write_all(&lines)?;
        file.sync_all()?;
        fs::rename(folder.join(NEW), folder.join(NAME))?;
        sync_folder(folder)
    }
}

fn parse_header(line: &str, folder: &Path) -> Result<Header, VectorsError> {
    // Only the number: the rest of another format need not be readable.
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let Format { format } = serde_json::from_str(line).map_err(|_| damage_error(folder))?;
    if format != FORMAT_VERSION {
        return Err(VectorsError::OtherVersion(folder.to_owned()));
    }
    serde_json::from_str(line).map_err(|_| damage_error(folder))
}

fn damage_error(folder: &Path) -> VectorsError {
    VectorsError::Damaged(folder.to_owned())
}

/// Returns the name of the data file that is created in a generation.
pub(super) fn data_name(generation: u64) -> String {
    format!("blocks.{generation}")
}

pub(super) fn is_data_name(name: &str) -> bool {
    name.strip_prefix("blocks.")
        .is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Synchronizes a folder, so that file names are durable. Other systems than Unix cannot open a folder and need not.
fn sync_folder(folder: &Path) -> Result<(), VectorsError> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn missing_as_none<T>(result: std::io::Result<T>) -> Result<Option<T>, VectorsError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
