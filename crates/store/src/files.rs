//! Files of datasets as they were loaded: their bytes, for downloads.
//!
//! ```text
//! home/files/ab/SHA256        bytes of a file
//! home/files/ab/SHA256.zst    the same, compressed with Zstandard; one of both exists
//! ```
//!
//! The content of a dataset in the store is a graph: it has no comments, no order, and other spellings of numbers. The file itself is
//! kept under the hash of its bytes, so that datasets with the same file share it. A dataset lists its files; those that no
//! dataset lists are removed with replaced content.

use super::graph_file::{self, is_temporary, temporary_path};
use super::internal_facts::Fact;
use super::repair::remove_file;
use super::{Store, StoreError};
use lodeseek_catalog::{DatasetId, Format};
use lodeseek_rdf::percent_decode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a kept file in bytes: 4 GiB.
pub const MAX_KEPT_FILE_BYTES: u64 = 4 << 30;
/// Maximum number of kept files of a dataset.
pub const MAX_KEPT_FILES: usize = 1000;
/// Maximum number of characters of the name of a file.
const MAX_NAME_CHARS: usize = 200;
/// Folder in the home.
const FOLDER: &str = "files";
/// Suffix of compressed files.
const COMPRESSED: &str = "zst";
/// Level of compression, the fastest: loads wait for it.
const COMPRESSION_LEVEL: i32 = 1;
/// Files that compression makes no smaller than this part of their size are stored as they are.
const MAX_COMPRESSED_PERCENT: u64 = 90;
/// Size of the beginning of a file by which the effect of compression is estimated, in bytes.
const MAX_SAMPLE_BYTES: u64 = 1 << 20;

/// A file of a dataset, whose bytes the home has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredFile {
    /// Name, which is unique in the dataset. It has no `/`.
    pub name: String,
    /// Path or address of the distribution, as the catalogue states it.
    pub location: String,
    /// Media type, if declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl StoredFile {
    /// Returns the media type of the bytes: that of the compression or archive, else the declared one, else that of the suffix.
    #[must_use]
    pub fn media_type(&self) -> &str {
        let name = self.name.to_ascii_lowercase();
        let suffix = name.rsplit('.').next().unwrap_or_default();
        let packed = match suffix {
            "gz" | "tgz" => Some("application/gzip"),
            "bz2" => Some("application/x-bzip2"),
            "xz" => Some("application/x-xz"),
            "zst" => Some("application/zstd"),
            "zip" => Some("application/zip"),
            "tar" => Some("application/x-tar"),
            _ => None,
        };
        packed
            .or_else(|| {
                self.media_type
                    .as_deref()
                    .filter(|text| is_media_type(text))
            })
            .or_else(|| {
                let aliases = Format::from_path(&self.name)?.aliases;
                aliases.first().copied().filter(|text| is_media_type(text))
            })
            .unwrap_or("application/octet-stream")
    }
}

/// A file that was read, and is to be kept.
pub(super) struct LoadedFile<'f> {
    pub(super) path: &'f Path,
    pub(super) location: &'f str,
    pub(super) media_type: Option<&'f str>,
}

/// Returns the path of a file without compression.
fn plain_path(home: &Path, sha256: &str) -> PathBuf {
    home.join(FOLDER)
        .join(sha256.get(..2).unwrap_or("00"))
        .join(sha256)
}

fn compressed_path(home: &Path, sha256: &str) -> PathBuf {
    plain_path(home, sha256).with_extension(COMPRESSED)
}

fn is_media_type(text: &str) -> bool {
    text.split('/').count() == 2
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Keeps the files of a dataset. Returns them, and messages about those that are not kept. The files are not synced to the disk.
///
/// # Errors
/// If a file cannot be read or written.
pub(super) fn keep(
    home: &Path,
    files: &[LoadedFile<'_>],
) -> Result<(Vec<StoredFile>, Vec<String>), StoreError> {
    let (mut kept, mut problems) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for file in files {
        let bytes = fs::metadata(file.path)
            .map_err(StoreError::io(file.path))?
            .len();
        if bytes > MAX_KEPT_FILE_BYTES || kept.len() == MAX_KEPT_FILES {
            problems.push(format!(
                "{}: the file itself is not kept for downloads: a dataset may have {MAX_KEPT_FILES} files of at most {} GiB",
                file.location,
                MAX_KEPT_FILE_BYTES >> 30
            ));
            continue;
        }
        let (bytes, sha256) = keep_file(home, file.path)?;
        let name = unique_name(file.location, &mut names);
        kept.push(StoredFile {
            name,
            location: file.location.to_owned(),
            media_type: file.media_type.map(str::to_owned),
            bytes,
            sha256,
        });
    }
    Ok((kept, problems))
}

/// Returns the last part of a location as the name of a file, with a number if it is in use.
fn unique_name(location: &str, names: &mut HashSet<String>) -> String {
    let is_address = location.contains("://");
    let path = if is_address {
        location.split(['?', '#']).next().unwrap_or(location)
    } else {
        location
    };
    let last = path
        .trim_end_matches('/')
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    let last = if is_address {
        percent_decode(last)
    } else {
        last.to_owned()
    };
    let name: String = last
        .chars()
        // Characters that change the direction of text could disguise the suffix of a download.
        .filter(|character| !character.is_control() && !matches!(character, '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .take(MAX_NAME_CHARS)
        .collect();
    let name = match name.trim() {
        "" | "." | ".." => "file".to_owned(),
        name => name.to_owned(),
    };
    let mut unique = name.clone();
    for number in 2.. {
        if names.insert(unique.clone()) {
            break;
        }
        unique = format!("{number}-{name}");
    }
    unique
}

fn open_file(path: &Path) -> Result<File, StoreError> {
    File::open(path).map_err(StoreError::io(path))
}

/// Opens the kept file with a SHA-256.
fn open_kept_file(home: &Path, sha256: &str) -> Result<Box<dyn Read + Send>, StoreError> {
    let plain = plain_path(home, sha256);
    match File::open(&plain) {
        Ok(opened) => return Ok(Box::new(opened)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io(&plain)(error));
        }
        Err(_) => {}
    }
    let path = compressed_path(home, sha256);
    let opened = File::open(&path).map_err(StoreError::io(&path))?;
    let decoder = zstd::stream::read::Decoder::new(BufReader::new(opened));
    Ok(Box::new(decoder.map_err(StoreError::io(&path))?))
}

/// Compares a kept file with its size in bytes and its SHA-256.
///
/// # Errors
/// The damage.
fn verify_kept_file(home: &Path, bytes: u64, sha256: &str) -> Result<(), String> {
    let mut reader = open_kept_file(home, sha256).map_err(|error| error.to_string())?;
    let (read_bytes, read_sha256) =
        copy_and_hash(&mut reader, &mut io::sink()).map_err(|error| error.to_string())?;
    if (read_bytes, read_sha256.as_str()) == (bytes, sha256) {
        Ok(())
    } else {
        Err("wrong checksum".to_owned())
    }
}

/// Keeps the bytes of a file. Returns their number and SHA-256.
fn keep_file(home: &Path, path: &Path) -> Result<(u64, String), StoreError> {
    // Hashed before it is copied: a file that the home has is not written again.
    let (bytes, sha256) =
        copy_and_hash(&mut open_file(path)?, &mut io::sink()).map_err(StoreError::io(path))?;
    // A damaged file is written again, such as one that a power cut left incomplete under its name: nothing else repairs it.
    if verify_kept_file(home, bytes, &sha256).is_ok() {
        return Ok((bytes, sha256));
    }
    let (plain, compressed) = (plain_path(home, &sha256), compressed_path(home, &sha256));
    let (target, other) = if is_compressible(
        &mut open_file(path)?.take(MAX_SAMPLE_BYTES),
        bytes.min(MAX_SAMPLE_BYTES),
    )
    .map_err(StoreError::io(path))?
    {
        (compressed, plain)
    } else {
        (plain, compressed)
    };
    let folder = target.parent().unwrap_or(home);
    fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    let temporary = temporary_path(&target);
    let written = write_copy(&mut open_file(path)?, &temporary, &target);
    let (copied, copied_sha256) = match written {
        Ok(copied) => copied,
        Err(error) => {
            let _ = fs::remove_file(&temporary); // the first error is reported
            return Err(StoreError::io(&temporary)(error));
        }
    };
    // The file may have changed since its hash was computed.
    if (copied, copied_sha256.as_str()) != (bytes, sha256.as_str()) {
        let _ = fs::remove_file(&temporary);
        return Err(StoreError::io(path)(io::Error::other(
            "the file changed while it was read",
        )));
    }
    fs::rename(&temporary, &target).map_err(StoreError::io(&target))?;
    // A damaged file without compression would be read in place of the new one.
    remove_file(&other)?;
    Ok((bytes, sha256))
}

/// Returns true if the beginning of a file gets smaller by compression.
fn is_compressible(sample: &mut impl Read, bytes: u64) -> io::Result<bool> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    io::copy(sample, &mut encoder)?;
    let compressed = encoder.finish()?.len() as u64;
    Ok(compressed * 100 < bytes * MAX_COMPRESSED_PERCENT)
}

/// Writes the bytes of a file in the form of the target. Returns the size in bytes and the SHA-256 of the source.
fn write_copy(source: &mut File, temporary: &Path, target: &Path) -> io::Result<(u64, String)> {
    let mut file = File::create(temporary)?;
    if target.extension().is_none() {
        return copy_and_hash(source, &mut file);
    }
    let mut encoder = zstd::stream::write::Encoder::new(file, COMPRESSION_LEVEL)?;
    // Otherwise a damaged file could be decompressed to other bytes without an error.
    encoder.include_checksum(true)?;
    let copied = copy_and_hash(source, &mut encoder)?;
    encoder.finish()?;
    Ok(copied)
}

/// Copies a stream. Returns its size in bytes and its SHA-256 in hexadecimal digits.
fn copy_and_hash(source: &mut impl Read, target: &mut impl Write) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 17];
    let mut bytes = 0;
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        target.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
    let digits = hasher.finalize();
    Ok((
        bytes,
        digits.iter().map(|byte| format!("{byte:02x}")).collect(),
    ))
}

/// Removes temporary files that a killed process left.
pub(super) fn remove_temporary_files(home: &Path) -> Result<(), StoreError> {
    for folder in list_folders(home)? {
        graph_file::remove_temporary_files(&folder)?;
    }
    Ok(())
}

fn list_folders(home: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folder = home.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(StoreError::io(&folder))?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::io(&folder))?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}

impl Store {
    /// Returns the files of a dataset that the home keeps, in the order of its distributions.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn dataset_files(&self, id: &DatasetId) -> Result<Vec<StoredFile>, StoreError> {
        Ok(self.fact(id, Fact::Files)?.unwrap_or_default())
    }

    /// Opens a kept file. The reader returns its bytes as they were loaded.
    ///
    /// # Errors
    /// If the file is lost or cannot be read.
    pub fn open_file(&self, file: &StoredFile) -> Result<Box<dyn Read + Send>, StoreError> {
        open_kept_file(&self.home, &file.sha256)
    }

    /// Returns the paths of all kept files.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn kept_file_paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for sha256 in self.listed_files()? {
            let candidates = [
                plain_path(&self.home, &sha256),
                compressed_path(&self.home, &sha256),
            ];
            paths.extend(candidates.into_iter().filter(|path| path.exists()));
        }
        paths.sort();
        Ok(paths)
    }

    /// Returns the hashes of the files that datasets list.
    fn listed_files(&self) -> Result<HashSet<String>, StoreError> {
        let lists = self.facts::<Vec<StoredFile>>(Fact::Files)?;
        let hashes = lists.into_values().flatten().map(|file| file.sha256);
        Ok(hashes.filter(|sha256| is_sha256(sha256)).collect())
    }

    /// Removes the files that no dataset lists.
    pub(super) fn remove_unlisted_files(&self) -> Result<(), StoreError> {
        let folders = list_folders(&self.home)?;
        if folders.is_empty() {
            return Ok(());
        }
        let listed = self.listed_files()?;
        for folder in folders {
            for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
                let path = entry.map_err(StoreError::io(&folder))?.path();
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                if !is_temporary(&path) && !listed.contains(&*stem) {
                    fs::remove_file(&path).map_err(StoreError::io(&path))?;
                }
            }
            // A folder with files stays.
            let _ = fs::remove_dir(&folder);
        }
        Ok(())
    }

    /// Syncs new files to the disk, before a commit lists them.
    pub(super) fn sync_kept_files<'f>(
        &self,
        files: impl Iterator<Item = &'f StoredFile>,
    ) -> Result<(), StoreError> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for file in files {
            let plain = plain_path(&self.home, &file.sha256);
            paths.push(if plain.exists() {
                plain
            } else {
                compressed_path(&self.home, &file.sha256)
            });
        }
        graph_file::sync_paths(&self.home, &paths)
    }

    /// Compares a kept file with its size and hash.
    ///
    /// # Errors
    /// The damage.
    pub(super) fn verify_file(&self, file: &StoredFile) -> Result<(), String> {
        verify_kept_file(&self.home, file.bytes, &file.sha256)
    }

    /// Returns the path of a kept file, for messages.
    pub(super) fn file_path(&self, file: &StoredFile) -> PathBuf {
        let plain = plain_path(&self.home, &file.sha256);
        if plain.exists() {
            plain
        } else {
            compressed_path(&self.home, &file.sha256)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_files_and_unique() {
        let mut names = HashSet::new();
        let mut named = |location| unique_name(location, &mut names);
        for (location, name) in [
            ("dumps/trees.nt", "trees.nt"),
            ("other/trees.nt", "2-trees.nt"),
            ("https://e.org/files/a%20b.ttl?version=1#x", "a b.ttl"),
            ("https://e.org/x%2F..%2Fetc", "x..etc"),
            ("https://e.org/", "e.org"),
            ("100%.nt", "100%.nt"),
            ("https://e.org/a%+5.nt", "a%+5.nt"),
            ("a\\b\n.nt", "b.nt"),
            ("..", "file"),
        ] {
            assert_eq!(named(location), name, "{location}");
        }
    }

    #[test]
    fn bytes_are_kept_once_and_are_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::in_memory(&home, lodeseek_catalog::Iris::default()).expect("a store");
        let text = "<http://e.org/a> <http://e.org/p> \"1.10\" . # a comment\n".repeat(1000);
        let noise: Vec<u8> = (0..200_000_u32)
            .flat_map(|number| Sha256::digest(number.to_le_bytes())[..4].to_vec())
            .collect();
        for (name, bytes, is_compressed) in [
            ("a.nt", text.as_bytes(), true),
            ("b.bin", noise.as_slice(), false),
            ("c.nt", b"", false),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).expect("written");
            let loaded = LoadedFile {
                path: &path,
                location: name,
                media_type: None,
            };
            let twice = [&loaded, &loaded].map(|file| LoadedFile { ..*file });
            let (kept, problems) = keep(&home, &twice).expect("kept");
            assert!(problems.is_empty());
            assert_eq!(
                (kept[0].sha256.as_str(), kept[1].name.clone()),
                (kept[1].sha256.as_str(), format!("2-{name}"))
            );
            assert_eq!(kept[0].bytes, bytes.len() as u64);
            assert_eq!(
                compressed_path(&home, &kept[0].sha256).exists(),
                is_compressed,
                "{name}"
            );
            let mut read = Vec::new();
            store
                .open_file(&kept[0])
                .expect("opened")
                .read_to_end(&mut read)
                .expect("read");
            assert!(read == bytes, "{name}");
            store.verify_file(&kept[0]).expect("sound");
        }
        store.remove_unlisted_files().expect("removed");
        assert!(
            list_folders(&home).expect("read").is_empty(),
            "no dataset lists them"
        );
    }

    #[test]
    fn damaged_files_are_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::in_memory(&home, lodeseek_catalog::Iris::default()).expect("a store");
        let text = "<http://e.org/a> <http://e.org/p> \"1.10\" . # a comment\n".repeat(1000);
        // The hash of a short text is no smaller when it is compressed.
        let noise = Sha256::digest(b"noise").to_vec();
        for (name, bytes) in [("a.nt", text.as_bytes()), ("b.bin", noise.as_slice())] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).expect("written");
            let file = LoadedFile {
                path: &path,
                location: name,
                media_type: None,
            };
            let files = [file];
            let (kept, _) = keep(&home, &files).expect("kept");
            let stored = store.file_path(&kept[0]);
            let sound = fs::read(&stored).expect("read");
            let mut flipped = sound.clone();
            flipped[sound.len() / 2] ^= 1;
            // A power cut may leave an empty or a short file.
            for damaged in [b"".as_slice(), &sound[..sound.len() / 2], &flipped[..]] {
                fs::write(&stored, damaged).expect("damaged");
                assert!(store.verify_file(&kept[0]).is_err(), "{name}");
                let (again, _) = keep(&home, &files).expect("kept");
                assert_eq!(again, kept);
                store.verify_file(&kept[0]).expect("sound");
            }
            // A file without compression is read first.
            fs::write(plain_path(&home, &kept[0].sha256), "damaged").expect("damaged");
            keep(&home, &files).expect("kept");
            store.verify_file(&kept[0]).expect("sound");
            assert_eq!(store.file_path(&kept[0]), stored, "one form is stored");
        }
    }

    #[test]
    fn media_types() {
        let file = |name: &str, media_type: Option<&str>| StoredFile {
            name: name.to_owned(),
            location: name.to_owned(),
            media_type: media_type.map(str::to_owned),
            bytes: 0,
            sha256: String::new(),
        };
        for (name, declared, expected) in [
            ("a.ttl", None, "text/turtle"),
            ("a.nt.gz", Some("application/n-triples"), "application/gzip"),
            ("a", Some("text/turtle"), "text/turtle"),
            ("a", Some("text/turtle\r\nx: y"), "application/octet-stream"),
            ("a.unknown", None, "application/octet-stream"),
        ] {
            assert_eq!(file(name, declared).media_type(), expected, "{name}");
        }
    }
}
