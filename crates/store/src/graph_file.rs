//! Graph files: a [`TripleGraph`] in its compact form, LZ4-compressed, named by the SHA-256 of that form.
//!
//! The name is the checksum: a file that does not hash to its name is not used. So files are written without a sync, and are
//! [synced](sync_files) together before a commit names them.

use super::atomic_file::{FileAccess, replace_by};
use super::{StoreError, StoredContent, counts, fingerprint, labels, sample};
use lodeseek_rdf::{CompactSource, SortedRuns, StreamedGraph, TripleGraph};
use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const SUFFIX: &str = "graph";
/// Suffix of temporary files.
const TEMPORARY: &str = "new";
/// Bytes of the hash in the name of a version: 64 bits protect against accidents, not against an adversary.
const NAME_BYTES: usize = 8;

pub(super) fn path(home: &Path, version: &str) -> PathBuf {
    home.join("graphs").join(format!("{version}.{SUFFIX}"))
}

/// Number of files from which on the whole file system is synced instead of each file.
const MIN_FILES_FOR_SYNCFS: usize = 64;

/// Writes a graph, if its file is missing or damaged, and returns its version. The file is not [synced](sync_files).
pub(super) fn write(home: &Path, graph: &TripleGraph) -> Result<String, StoreError> {
    let compact = graph.to_compact();
    let version = version_of(&compact);
    let path = path(home, &version);
    // A file damaged by a failing disk or a power cut is written again.
    if !path.exists() || verify(&path, &version).is_err() {
        write_compact(&path, &compact)?;
    }
    Ok(version)
}

/// Writes a graph from sorted runs, if its file is missing or damaged. Returns its version, and its content as [`open`] does.
/// The file is not [synced](sync_files).
pub(super) fn write_runs(
    home: &Path,
    runs: SortedRuns,
    limit: usize,
) -> Result<(String, StoredContent), StoreError> {
    // Its name is not known yet.
    let temporary = &temporary_path(&path(home, "runs"));
    let (version, bytes) = compress_runs(temporary, runs).map_err(|error| {
        let _ = fs::remove_file(temporary); // the first error is reported
        StoreError::io(temporary)(error)
    })?;
    let path = path(home, &version);
    if path.exists() && verify(&path, &version).is_ok() {
        fs::remove_file(temporary).map_err(StoreError::io(temporary))?;
    } else {
        fs::rename(temporary, &path).map_err(StoreError::io(&path))?;
    }
    // Not verified again: its name is the hash of the bytes that were just written.
    if bytes > limit {
        let graph = open_stream(&path).map_err(StoreError::io(&path))?;
        return Ok((version, StoredContent::Streamed(graph)));
    }
    let content = open(&path, &version, limit).map_err(|reason| StoreError::Damaged {
        home: home.to_owned(),
        reason: format!("{}: {reason}", path.display()),
    })?;
    Ok((version, content))
}

/// Writes the compact form of a graph, compressed. Returns its version and the size of the compact form.
fn compress_runs(path: &Path, runs: SortedRuns) -> io::Result<(String, usize)> {
    let info = FrameInfo::new().block_size(BlockSize::Max1MB);
    let encoder = FrameEncoder::with_frame_info(
        info,
        io::BufWriter::with_capacity(1 << 20, File::create(path)?),
    );
    let mut out = Hashing {
        out: encoder,
        hash: Sha256::new(),
        bytes: 0,
    };
    runs.write_compact(&mut out)?;
    out.out
        .finish()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok((hash_name(&out.hash.finalize()), out.bytes))
}

/// Writer that hashes and counts the bytes written.
struct Hashing<W> {
    out: W,
    hash: Sha256,
    bytes: usize,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Restores the file of a version from a graph read from the store. Returns false, and writes nothing, if the graph differs from
/// the version.
pub(super) fn restore(
    home: &Path,
    expected: &str,
    graph: &TripleGraph,
) -> Result<bool, StoreError> {
    let compact = graph.to_compact();
    let is_same = version_of(&compact) == expected;
    if is_same {
        write_compact(&path(home, expected), &compact)?;
    }
    Ok(is_same)
}

fn write_compact(path: &Path, compact: &[u8]) -> Result<(), StoreError> {
    let mut encoder = FrameEncoder::new(Vec::with_capacity(compact.len() / 2));
    encoder.write_all(compact).map_err(StoreError::io(path))?;
    let compressed = encoder
        .finish()
        .map_err(|error| StoreError::io(path)(error.into()))?;
    write_without_sync(path, &compressed)
}

/// Opens a graph and verifies it against its name. A graph whose compact form has more than `limit` bytes is not held in memory,
/// unless it has triple terms.
///
/// # Errors
/// The reason if the file cannot be used.
pub(super) fn open(path: &Path, expected: &str, limit: usize) -> Result<StoredContent, String> {
    let mut input = open_decoder(path).map_err(|error| error.to_string())?;
    let mut compact = Vec::new();
    input
        .by_ref()
        // One byte more than the limit shows that it is exceeded.
        .take(limit as u64 + 1)
        .read_to_end(&mut compact)
        .map_err(|error| error.to_string())?;
    let mut hash = Sha256::new();
    hash.update(&compact);
    let is_large = compact.len() > limit;
    if is_large {
        // Freed before the rest is hashed: the graph is streamed from its file.
        drop(std::mem::take(&mut compact));
    }
    verify_rest(input, hash, expected)?;
    if is_large {
        match open_stream(path) {
            Ok(graph) => return Ok(StoredContent::Streamed(graph)),
            // Triple terms cannot be streamed. `load` rejects such content; other programs may have built it in memory.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let read = open_decoder(path).and_then(|mut input| input.read_to_end(&mut compact));
                read.map_err(|error| error.to_string())?;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    TripleGraph::from_compact(&compact)
        .map(StoredContent::InMemory)
        .ok_or_else(|| "it is of another format".to_owned())
}

/// Verifies a graph file against its name, without opening the graph.
///
/// # Errors
/// The reason if the file is damaged.
pub(super) fn verify(path: &Path, expected: &str) -> Result<(), String> {
    let input = open_decoder(path).map_err(|error| error.to_string())?;
    verify_rest(input, Sha256::new(), expected)
}

/// Compares a compact form with its name. `hash` is the hash of the bytes before `rest`.
fn verify_rest(mut rest: CompactSource, mut hash: Sha256, expected: &str) -> Result<(), String> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        match rest.read(&mut bytes).map_err(|error| error.to_string())? {
            0 => break,
            length => hash.update(&bytes[..length]),
        }
    }
    if hash_name(&hash.finalize()) != expected {
        return Err("its content does not match its name".to_owned());
    }
    Ok(())
}

/// Opens a graph that exceeds memory, without verifying it against its name.
pub(super) fn open_stream(path: &Path) -> io::Result<StreamedGraph> {
    let path = path.to_owned();
    StreamedGraph::open(move || open_decoder(&path))
}

fn open_decoder(path: &Path) -> io::Result<CompactSource> {
    Ok(Box::new(FrameDecoder::new(File::open(path)?)))
}

/// Reads a graph into memory.
///
/// # Errors
/// The reason if the file cannot be used.
#[cfg(test)]
pub(super) fn read(path: &Path, expected: &str) -> Result<TripleGraph, String> {
    match open(path, expected, usize::MAX - 1)? {
        StoredContent::InMemory(graph) => Ok(graph),
        StoredContent::Streamed(_) => Err("it is too large".to_owned()),
    }
}

fn version_of(compact: &[u8]) -> String {
    checksum(compact)
}

/// Computes the name of a version, which also guards the counts stored for it.
pub(super) fn checksum(bytes: &[u8]) -> String {
    hash_name(&Sha256::digest(bytes))
}

fn hash_name(hash: &[u8]) -> String {
    hash.iter()
        .take(NAME_BYTES)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns true if a text has the form of a version: it is part of file names, and may come from elsewhere.
pub(super) fn is_version(text: &str) -> bool {
    text.len() == 2 * NAME_BYTES
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Writes a file with a checksum as its first line, whole or not at all.
pub fn write_checked(path: &Path, body: &[u8]) -> Result<(), StoreError> {
    write_whole(path, &with_checksum(body))
}

/// Reads a file with a checksum as its first line. Returns `None` if it does not exist. Early versions wrote JSON without a
/// checksum, which is returned as it is.
///
/// # Errors
/// [`StoreError::DamagedFile`] if the checksum is wrong.
pub fn read_checked(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        // A checksum consists of hexadecimal digits, so it never begins with a bracket.
        Ok(bytes) if bytes.starts_with(b"{") || bytes.starts_with(b"[") => Ok(Some(bytes)),
        Ok(bytes) => match verify_body(&bytes) {
            Some(body) => Ok(Some(body.to_vec())),
            None => Err(StoreError::DamagedFile {
                path: path.to_owned(),
            }),
        },
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(StoreError::Io {
            path: path.to_owned(),
            cause,
        }),
    }
}

/// Returns the content of a file that [`read_checked`] reads: the checksum as its first line, then the body.
#[must_use]
pub fn with_checksum(body: &[u8]) -> Vec<u8> {
    let mut bytes = checksum(body).into_bytes();
    bytes.push(b'\n');
    bytes.extend(body);
    bytes
}

/// Returns the bytes after the first line, if they match the checksum in it.
pub(super) fn verify_body(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (first, body) = (&bytes[..end], &bytes[end + 1..]);
    (checksum(body).as_bytes() == first).then_some(body)
}

/// Writes a file of a home as [`replace_file`](super::replace_file) does. The next process that opens the home for changes removes a
/// temporary file that this one leaves when it is killed.
///
/// # Errors
/// If the file cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace_by(&temporary_path(path), path, bytes, FileAccess::Kept).map_err(StoreError::io(path))
}

/// Writes a file as [`write_whole`] does, but does not sync it to the disk. After a power cut it may be empty: for files whose
/// checksum is verified when they are read, and that can be restored or are [synced](sync_files) before a commit names them.
pub(super) fn write_without_sync(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temporary = temporary_path(path);
    let written = fs::write(&temporary, bytes).map_err(StoreError::io(&temporary));
    let renamed = written.and_then(|()| fs::rename(&temporary, path).map_err(StoreError::io(path)));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is reported
    }
    renamed
}

/// Returns an unused path in the same folder: the whole name with a number, so that threads do not share temporary files.
pub(super) fn temporary_path(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(
        ".{}.{TEMPORARY}",
        NEXT.fetch_add(1, Ordering::Relaxed)
    ));
    path.with_file_name(name)
}

/// Removes the temporary files that a killed process left in a folder, if the folder exists.
pub(super) fn remove_temporary_files(folder: &Path) -> Result<(), StoreError> {
    remove_files(folder, is_temporary)
}

/// Removes the table files that a killed process had not yet added to the store.
pub(super) fn remove_bulk_files(store: &Path) -> Result<(), StoreError> {
    remove_files(store, is_bulk_file)
}

/// Removes the files of a folder, which may be missing, that a function selects.
fn remove_files(folder: &Path, is_removed: fn(&Path) -> bool) -> Result<(), StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(StoreError::io(folder))?,
    };
    for entry in entries {
        let path = entry.map_err(StoreError::io(folder))?.path();
        if is_removed(&path) && path.is_file() {
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
    }
    Ok(())
}

/// Returns true for the name of a table file of Oxigraph's bulk loader.
fn is_bulk_file(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name.starts_with("bulk-") && name.ends_with(".sst")
}

/// Returns true if [`temporary_path`] may have made a path. Other programs write other temporary files.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let number = name
        .strip_suffix(TEMPORARY)
        .and_then(|rest| rest.strip_suffix('.')?.rsplit('.').next());
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Syncs the graph files of some versions to the disk.
pub(super) fn sync_files(home: &Path, versions: &[&str]) -> Result<(), StoreError> {
    let paths: Vec<PathBuf> = versions.iter().map(|version| path(home, version)).collect();
    sync_paths(home, &paths)
}

/// Syncs files of a home to the disk.
pub(super) fn sync_paths(home: &Path, paths: &[PathBuf]) -> Result<(), StoreError> {
    if paths.len() >= MIN_FILES_FOR_SYNCFS && sync_file_system(home)? {
        return Ok(());
    }
    for path in paths {
        File::open(path)
            .and_then(|file| file.sync_all())
            .map_err(StoreError::io(path))?;
    }
    Ok(())
}

/// Syncs the file system of the home to the disk. Returns false if the operating system does not support it.
#[cfg(target_os = "linux")]
fn sync_file_system(home: &Path) -> Result<bool, StoreError> {
    let folder = home.join("graphs");
    let opened = File::open(&folder).map_err(StoreError::io(&folder))?;
    rustix::fs::syncfs(&opened).map_err(|error| StoreError::io(&folder)(error.into()))?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_home: &Path) -> Result<bool, StoreError> {
    Ok(false)
}

/// Removes the files of versions not in `named`.
pub(super) fn remove_unnamed_files(home: &Path, named: &HashSet<String>) -> Result<(), StoreError> {
    let folder = home.join("graphs");
    for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
        let path = entry.map_err(StoreError::io(&folder))?.path();
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let is_graph = path.extension().is_some_and(|suffix| suffix == SUFFIX);
        let is_derived = counts::is_counts(&path)
            || fingerprint::is_fingerprint(&path)
            || sample::is_sample(&path)
            || labels::is_labels(&path);
        let is_ours = is_graph || is_derived;
        // A reader may be restoring a file. What a killed process left is removed when the home is opened.
        if !is_temporary(&path) && (!named.contains(&stem) || !is_ours) {
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use oxrdf::{Literal, NamedNodeRef, TripleRef};

    fn graph(number: usize) -> TripleGraph {
        let (node, text) = (
            NamedNodeRef::new_unchecked("ex:s"),
            Literal::from(number.to_string()),
        );
        let mut builder = TripleGraphBuilder::new();
        builder.insert(TripleRef::new(node, node, &text));
        builder.finish()
    }

    #[test]
    fn threads_that_write_files_of_one_version_do_not_share_temporary_files() {
        let home = tempfile::tempdir().expect("a folder");
        let body = vec![7; 1 << 20];
        std::thread::scope(|scope| {
            for suffix in ["graph", "counts", "rdfc", "sample"] {
                let (path, body) = (home.path().join(format!("v.{suffix}")), &body);
                scope.spawn(move || {
                    for _ in 0..20 {
                        write_checked(&path, body).expect("written");
                        assert_eq!(read_checked(&path).expect("undamaged").as_ref(), Some(body));
                    }
                });
            }
        });
        assert_eq!(
            fs::read_dir(home.path()).expect("read").count(),
            4,
            "temporary files remain"
        );
    }

    #[test]
    fn temporary_files_are_removed() {
        let home = tempfile::tempdir().expect("a folder");
        let target = home.path().join("loads.json");
        fs::create_dir(&target).expect("a folder in place of the file");
        assert!(write_whole(&target, b"{}").is_err());
        assert_eq!(
            fs::read_dir(home.path()).expect("read").count(),
            1,
            "after an error"
        );
        let (left, store) = (temporary_path(&target), home.path().join("store.new"));
        fs::write(&left, "{").expect("written");
        fs::create_dir(&store).expect("a folder");
        remove_temporary_files(home.path()).expect("removed");
        assert!(!left.exists() && store.exists());
        remove_temporary_files(&home.path().join("missing")).expect("no folder");
    }

    #[test]
    fn few_files_and_many_are_synced() {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join("graphs")).expect("a folder");
        let versions: Vec<String> = (0..MIN_FILES_FOR_SYNCFS + 5)
            .map(|number| write(home.path(), &graph(number)).expect("written"))
            .collect();
        let named: Vec<&str> = versions.iter().map(String::as_str).collect();
        for some in [&named[..0], &named[..3], &named[..]] {
            sync_files(home.path(), some).expect("synced");
        }
        assert!(sync_files(home.path(), &["missing"]).is_err());
        // A power cut may leave an empty file without a sync.
        let file = path(home.path(), named[7]);
        fs::write(&file, "").expect("emptied");
        assert!(read(&file, named[7]).is_err());
        assert_eq!(
            write(home.path(), &graph(7)).expect("written anew"),
            versions[7]
        );
        assert_eq!(read(&file, named[7]).expect("read").len(), 1);
    }
}
