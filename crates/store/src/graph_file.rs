//! Graph files: a [`TripleGraph`] in its compact form, LZ4-compressed, named by the SHA-256 of that form.
//!
//! The name is the checksum: a file that does not hash to its name is not used. So files may be written without waiting for
//! the disk; before a commit names them they are [settled](settle), many at once.

use super::{StoreError, StoredContent, counts, fingerprint, sample};
use lodeseek_rdf::{CompactSource, SortedRuns, StreamedGraph, TripleGraph};
use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const SUFFIX: &str = "graph";
/// Half of the hash names a version: 64 bits, against accidents, not against an adversary.
const NAME_BYTES: usize = 8;

pub(super) fn path(home: &Path, version: &str) -> PathBuf {
    home.join("graphs").join(format!("{version}.{SUFFIX}"))
}

/// Files from which on the disk is waited for once, whatever else is written to it, and not for each.
const MANY: usize = 64;

/// Writes a graph, if it is not there yet, and returns its version. It is not [settled](settle).
pub(super) fn write(home: &Path, graph: &TripleGraph) -> Result<String, StoreError> {
    let compact = graph.to_compact();
    let version = version(&compact);
    let path = path(home, &version);
    // A file damaged by a failing disk or a power cut is made again.
    if !path.exists() || verify(&path, &version).is_err() {
        write_compact(&path, &compact)?;
    }
    Ok(version)
}

/// Writes a graph from sorted runs, if it is not there yet. Returns its version, and its content as [`open`] does. It is not
/// [settled](settle). `beside` is a path for it until its name is known.
pub(super) fn write_runs(
    home: &Path,
    runs: SortedRuns,
    beside: &Path,
    limit: usize,
) -> Result<(String, StoredContent), StoreError> {
    let file = File::create(beside).map_err(StoreError::io(beside))?;
    let info = FrameInfo::new().block_size(BlockSize::Max1MB);
    let encoder = FrameEncoder::with_frame_info(info, io::BufWriter::with_capacity(1 << 20, file));
    let mut out = Hashing { out: encoder, hash: Sha256::new(), bytes: 0 };
    runs.write_compact(&mut out).map_err(StoreError::io(beside))?;
    let finished = out.out.finish().map_err(|error| StoreError::io(beside)(error.into()))?;
    finished.into_inner().map_err(|error| StoreError::io(beside)(error.into_error()))?;
    let version = name(&out.hash.finalize());
    let path = path(home, &version);
    if path.exists() && verify(&path, &version).is_ok() {
        fs::remove_file(beside).map_err(StoreError::io(beside))?;
    } else {
        fs::rename(beside, &path).map_err(StoreError::io(&path))?;
    }
    if out.bytes > limit {
        let graph = streamed(&path).map_err(StoreError::io(&path))?;
        return Ok((version, StoredContent::Streamed(graph)));
    }
    let damaged =
        |reason| StoreError::Damaged { home: home.to_owned(), reason: format!("{}: {reason}", path.display()) };
    let content = open(&path, &version, limit).map_err(damaged)?;
    Ok((version, content))
}

/// Writer that hashes and counts all that it writes.
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

/// Writes a graph read from the store, if it is still exactly what the version names. Returns false if it is not.
pub(super) fn restore(home: &Path, expected: &str, graph: &TripleGraph) -> Result<bool, StoreError> {
    let compact = graph.to_compact();
    let is_same = version(&compact) == expected;
    if is_same {
        write_compact(&path(home, expected), &compact)?;
    }
    Ok(is_same)
}

fn write_compact(path: &Path, compact: &[u8]) -> Result<(), StoreError> {
    write_unsettled(path, &compress(path, compact)?)
}

/// Compresses the compact form of a graph. `path` is for errors.
pub(super) fn compress(path: &Path, compact: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut encoder = FrameEncoder::new(Vec::with_capacity(compact.len() / 2));
    encoder.write_all(compact).map_err(StoreError::io(path))?;
    encoder.finish().map_err(|error| StoreError::io(path)(error.into()))
}

/// Opens a graph and verifies it against its name; the reason where the file cannot be used. A graph whose compact form has
/// more than `limit` bytes is not held in memory, unless it has triple terms.
pub(super) fn open(path: &Path, expected: &str, limit: usize) -> Result<StoredContent, String> {
    let mut input = decoder(path).map_err(|error| error.to_string())?;
    let mut compact = Vec::new();
    input.by_ref().take(limit as u64 + 1).read_to_end(&mut compact).map_err(|error| error.to_string())?;
    let mut hash = Sha256::new();
    hash.update(&compact);
    let is_large = compact.len() > limit;
    if is_large {
        drop(std::mem::take(&mut compact));
    }
    verify_rest(input, hash, expected)?;
    if is_large {
        match streamed(path) {
            Ok(graph) => return Ok(StoredContent::Streamed(graph)),
            // Triple terms cannot be streamed. `load` rejects such content; other programs may have built it in memory.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let read = decoder(path).and_then(|mut input| input.read_to_end(&mut compact));
                read.map_err(|error| error.to_string())?;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    TripleGraph::from_compact(&compact).map(StoredContent::InMemory).ok_or_else(|| "it is of another format".to_owned())
}

/// Verifies a graph file against its name, without opening the graph; the reason where it is damaged.
pub(super) fn verify(path: &Path, expected: &str) -> Result<(), String> {
    let input = decoder(path).map_err(|error| error.to_string())?;
    verify_rest(input, Sha256::new(), expected)
}

/// Compares a compact form with its name. `hash` is that of the bytes before `rest`.
fn verify_rest(mut rest: CompactSource, mut hash: Sha256, expected: &str) -> Result<(), String> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        match rest.read(&mut bytes).map_err(|error| error.to_string())? {
            0 => break,
            length => hash.update(&bytes[..length]),
        }
    }
    if name(&hash.finalize()) != expected {
        return Err("its content does not match its name".to_owned());
    }
    Ok(())
}

/// Opens a graph that exceeds memory, without a comparison with its name.
pub(super) fn streamed(path: &Path) -> io::Result<StreamedGraph> {
    let path = path.to_owned();
    StreamedGraph::open(move || decoder(&path))
}

fn decoder(path: &Path) -> io::Result<CompactSource> {
    Ok(Box::new(FrameDecoder::new(File::open(path)?)))
}

/// Reads a graph whole; the reason where the file cannot be used.
#[cfg(test)]
pub(super) fn read(path: &Path, expected: &str) -> Result<TripleGraph, String> {
    match open(path, expected, usize::MAX - 1)? {
        StoredContent::InMemory(graph) => Ok(graph),
        StoredContent::Streamed(_) => Err("it is too large".to_owned()),
    }
}

fn version(compact: &[u8]) -> String {
    checksum(compact)
}

/// Computes the name of a version, which also guards the counts stored for it.
pub(super) fn checksum(bytes: &[u8]) -> String {
    name(&Sha256::digest(bytes))
}

fn name(hash: &[u8]) -> String {
    hash.iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if a text has the form of a version: it is part of file names, and may come from elsewhere.
pub(super) fn is_version(text: &str) -> bool {
    text.len() == 2 * NAME_BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
        Ok(bytes) if bytes.starts_with(b"{") || bytes.starts_with(b"[") => Ok(Some(bytes)),
        Ok(bytes) => match checked_body(&bytes) {
            Some(body) => Ok(Some(body.to_vec())),
            None => Err(StoreError::DamagedFile { path: path.to_owned() }),
        },
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(StoreError::Io { path: path.to_owned(), cause }),
    }
}

pub(super) fn with_checksum(body: &[u8]) -> Vec<u8> {
    let mut bytes = checksum(body).into_bytes();
    bytes.push(b'\n');
    bytes.extend(body);
    bytes
}

/// Returns the bytes after the first line, if they match the checksum in it.
pub(super) fn checked_body(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (first, body) = (&bytes[..end], &bytes[end + 1..]);
    (checksum(body).as_bytes() == first).then_some(body)
}

/// Writes a file whole or not at all: beside it first, then renamed over it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_beside(path, bytes, true)
}

/// The same without waiting for the disk. After a power cut the file may be there without its bytes: for what is checked
/// when it is read, and can be made again or is settled before it is named.
pub(super) fn write_unsettled(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_beside(path, bytes, false)
}

fn write_beside(path: &Path, bytes: &[u8], is_settled: bool) -> Result<(), StoreError> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside).map_err(StoreError::io(&beside))?;
    file.write_all(bytes).map_err(StoreError::io(&beside))?;
    if is_settled {
        file.sync_all().map_err(StoreError::io(&beside))?;
    }
    fs::rename(&beside, path).map_err(StoreError::io(path))
}

/// Waits until the files of some versions are on the disk.
pub(super) fn settle(home: &Path, versions: &[&str]) -> Result<(), StoreError> {
    if versions.len() >= MANY && settle_all(home)? {
        return Ok(());
    }
    for version in versions {
        let path = path(home, version);
        File::open(&path).and_then(|file| file.sync_all()).map_err(StoreError::io(&path))?;
    }
    Ok(())
}

/// Flushes the file system of the home to disk, if the operating system supports it.
#[cfg(target_os = "linux")]
fn settle_all(home: &Path) -> Result<bool, StoreError> {
    let folder = home.join("graphs");
    let opened = File::open(&folder).map_err(StoreError::io(&folder))?;
    rustix::fs::syncfs(&opened).map_err(|error| StoreError::io(&folder)(error.into()))?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn settle_all(_home: &Path) -> Result<bool, StoreError> {
    Ok(false)
}

/// Removes the files of versions not in `named`.
pub(super) fn remove_unnamed(home: &Path, named: &HashSet<String>) -> Result<(), StoreError> {
    let folder = home.join("graphs");
    for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
        let path = entry.map_err(StoreError::io(&folder))?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let is_graph = path.extension().is_some_and(|suffix| suffix == SUFFIX);
        let is_derived = counts::is_counts(&path) || fingerprint::is_fingerprint(&path) || sample::is_sample(&path);
        let is_ours = is_graph || is_derived;
        if !named.contains(&stem) || !is_ours {
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
        let (node, text) = (NamedNodeRef::new_unchecked("ex:s"), Literal::from(number.to_string()));
        let mut builder = TripleGraphBuilder::new();
        builder.insert(TripleRef::new(node, node, &text));
        builder.finish()
    }

    #[test]
    fn few_files_and_many_are_settled() {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join("graphs")).expect("a folder");
        let versions: Vec<String> =
            (0..MANY + 5).map(|number| write(home.path(), &graph(number)).expect("written")).collect();
        let named: Vec<&str> = versions.iter().map(String::as_str).collect();
        for some in [&named[..0], &named[..3], &named[..]] {
            settle(home.path(), some).expect("settled");
        }
        assert!(settle(home.path(), &["missing"]).is_err());
        // What a power cut leaves of a file that was not settled.
        let file = path(home.path(), named[7]);
        fs::write(&file, "").expect("emptied");
        assert!(read(&file, named[7]).is_err());
        assert_eq!(write(home.path(), &graph(7)).expect("written anew"), versions[7]);
        assert_eq!(read(&file, named[7]).expect("read").len(), 1);
    }
}
