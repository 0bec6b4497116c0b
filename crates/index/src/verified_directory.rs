//! Directory of the index whose files are verified before they are used.
//!
//! Tantivy stores a checksum (CRC-32) in the footer of each segment file, but does not compare it: a flipped bit can then
//! give wrong postings, wrong columns or a panic. Here a file is compared with its checksum when it is first opened, up to
//! [`MAX_VERIFIED_BYTES`] for each directory, so that opening a large index stays fast; [`verify`] compares all files.
//! `meta.json` has no checksum of its own: the last member of its object is one.
//!
//! On a read-only file system no lock file can be made. Nobody can delete files there, so the lock that protects opening
//! against deletion is omitted.

use super::IndexError;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::footer::Footer;
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, FileSlice, Lock, META_LOCK, MmapDirectory, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::index::SegmentComponent;

/// Maximum number of bytes that are verified when files are opened: 1 GiB, some tenths of a second.
pub const MAX_VERIFIED_BYTES: u64 = 1 << 30;
/// File with the list of segments.
const META: &str = "meta.json";
/// File with the list of all files.
const MANAGED: &str = ".managed.json";
/// Key of the checksum in `meta.json`, with the text around it.
const CHECKSUM: &str = ",\"lodeseek_checksum\":\"";
const CHECKSUM_END: &str = "\"}";

/// Folder on disk whose files are verified when they are first opened.
#[derive(Clone, Debug)]
pub(super) struct VerifiedDirectory {
    folder: PathBuf,
    files: MmapDirectory,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    verified: HashSet<PathBuf>,
    bytes: u64,
}

impl VerifiedDirectory {
    /// Opens a folder, which must exist.
    pub(super) fn open(folder: &Path) -> Result<Self, IndexError> {
        let files = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
        Ok(Self {
            folder: folder.to_owned(),
            files,
            state: Arc::default(),
        })
    }

    /// Compares a file with its checksum, unless it was compared before or too much has been.
    fn verify_first_use(&self, path: &Path, file: &FileSlice) -> Result<(), OpenReadError> {
        let size = file.len() as u64;
        {
            let state = self.lock_state();
            if state.verified.contains(path)
                || state.bytes.saturating_add(size) > MAX_VERIFIED_BYTES
            {
                return Ok(());
            }
        }
        // Without the lock: two threads may verify the same file, but neither uses it unverified.
        verify_file(file).map_err(|error| self.damage_error(path, error))?;
        let mut state = self.lock_state();
        if state.verified.insert(path.to_owned()) {
            state.bytes = state.bytes.saturating_add(size);
        }
        Ok(())
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn damage_error(&self, path: &Path, error: io::Error) -> OpenReadError {
        let error = io::Error::new(io::ErrorKind::InvalidData, error.to_string());
        OpenReadError::wrap_io_error(error, self.folder.join(path))
    }
}

/// Compares the content of a segment file with the checksum in its footer.
fn verify_file(file: &FileSlice) -> io::Result<()> {
    let (footer, body) = Footer::extract_footer(file.clone())?;
    if crc32fast::hash(&body.read_bytes()?) == footer.crc {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "wrong checksum"))
}

/// Returns true for segment files, which have a footer.
fn has_footer(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|name| !name.starts_with('.') && name != META)
}

/// Adds a checksum as the last member of a JSON object.
fn with_checksum(json: &[u8]) -> Vec<u8> {
    let Some(members) = json.trim_ascii_end().strip_suffix(b"}") else {
        return json.to_vec();
    };
    // Without the white space before the bracket, so that `has_right_checksum` compares the same bytes.
    let members = members.trim_ascii_end();
    let checksum = crc32fast::hash(members);
    let mut text = members.to_vec();
    text.extend(format!("{CHECKSUM}{checksum:08x}{CHECKSUM_END}\n").into_bytes());
    text
}

/// Returns false if a JSON object has a checksum as its last member that is wrong. Early versions wrote none.
fn has_right_checksum(json: &[u8]) -> bool {
    let Some(rest) = json.trim_ascii_end().strip_suffix(CHECKSUM_END.as_bytes()) else {
        return true;
    };
    let Some((rest, checksum)) = rest.split_last_chunk::<8>() else {
        return true;
    };
    let Some(members) = rest.strip_suffix(CHECKSUM.as_bytes()) else {
        return true;
    };
    format!("{:08x}", crc32fast::hash(members)).as_bytes() == checksum
}

impl Directory for VerifiedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = self.files.get_file_handle(path)?;
        if has_footer(path) {
            self.verify_first_use(path, &FileSlice::new(Arc::clone(&handle)))?;
        }
        Ok(handle)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        // A new file may get this name.
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .verified
            .remove(path);
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = self.files.atomic_read(path)?;
        if path == Path::new(META) && !has_right_checksum(&bytes) {
            return Err(self.damage_error(path, io::Error::other("wrong checksum")));
        }
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(META) {
            return self.files.atomic_write(path, &with_checksum(data));
        }
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.files.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if lock.filepath == META_LOCK.filepath && is_read_only(&error) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            result => result,
        }
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(watch_callback)
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
    )
}

/// A damaged file of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// The file.
    pub path: PathBuf,
    /// Reason why it cannot be used.
    pub problem: String,
}

/// Compares all files of the last commit with their checksums. Returns the damaged ones, in the order of their names, and the
/// number of files compared.
///
/// # Errors
///
/// If the folder cannot be read, or contains no index.
pub fn verify(folder: &Path) -> Result<(Vec<DamagedFile>, usize), IndexError> {
    if !folder.join(META).exists() {
        return Err(IndexError::Missing(folder.to_owned()));
    }
    let directory = VerifiedDirectory::open(folder)?;
    let paths = match segment_files(&directory) {
        Ok(paths) => paths,
        Err(IndexError::Damaged(problem)) => {
            return Ok((
                vec![DamagedFile {
                    path: folder.join(META),
                    problem,
                }],
                1,
            ));
        }
        Err(error) => return Err(error),
    };
    let mut damaged = Vec::new();
    for path in &paths {
        let result = directory
            .files
            .open_read(path)
            .map_err(|error| error.to_string());
        if let Err(problem) =
            result.and_then(|file| verify_file(&file).map_err(|error| error.to_string()))
        {
            damaged.push(DamagedFile {
                path: folder.join(path),
                problem,
            });
        }
    }
    Ok((damaged, paths.len() + 1))
}

/// Returns the names of the files of the segments of the last commit, in ascending order.
pub(super) fn segment_files(directory: &VerifiedDirectory) -> Result<Vec<PathBuf>, IndexError> {
    use SegmentComponent::{Delete, FastFields, FieldNorms, Positions, Postings, Store, Terms};
    let index = tantivy::Index::open(directory.clone())?;
    let mut paths = Vec::new();
    for segment in index.load_metas()?.segments {
        paths.extend(
            [Postings, Positions, Terms, Store, FastFields]
                .map(|component| segment.relative_path(component)),
        );
        if segment.has_deletes() {
            paths.push(segment.relative_path(Delete));
        }
        // A schema without field norms has no such file.
        let norms = segment.relative_path(FieldNorms);
        // If this fails, the file is compared, which reports the reason.
        if directory.exists(&norms).unwrap_or(true) {
            paths.push(norms);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the files of the last commit of an index, with `meta.json` and the list of files. `None` if there is no index.
///
/// If `links` is given, the files are hard-linked into this folder while tantivy cannot delete them, and the links are
/// returned: use it if the index may change meanwhile.
pub fn link_commit(
    folder: &Path,
    links: Option<&PathBuf>,
) -> Result<Option<Vec<PathBuf>>, IndexError> {
    if !folder.join(META).exists() {
        return Ok(None);
    }
    let directory = VerifiedDirectory::open(folder)?;
    let _lock = directory
        .acquire_lock(&META_LOCK)
        .map_err(|error| IndexError::Tantivy(error.to_string()))?;
    let mut names = segment_files(&directory)?;
    names.extend([META, MANAGED].map(PathBuf::from));
    names.retain(|name| name != Path::new(MANAGED) || folder.join(name).exists());
    let Some(links) = links else {
        return Ok(Some(names.iter().map(|name| folder.join(name)).collect()));
    };
    std::fs::create_dir_all(links)?;
    let mut paths = Vec::with_capacity(names.len());
    for name in names {
        let (file, link) = (folder.join(&name), links.join(&name));
        // Some file systems have no hard links.
        if std::fs::hard_link(&file, &link).is_err() {
            std::fs::copy(&file, &link)?;
        }
        paths.push(link);
    }
    Ok(Some(paths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Field, FieldedDocument};
    use crate::{Analysis, AnalyzedQuery, Index, IndexDocument, IndexWriter, StatisticsLevel};
    use lodeseek_catalog::{DatasetId, Metadata, Text};
    use lodeseek_rdf::TripleGraphBuilder;
    use std::fs;

    fn write(folder: &Path) {
        let mut writer = IndexWriter::open(folder).expect("opened");
        let analysis = Analysis::new(writer.analysis());
        for number in 0..40 {
            let id = DatasetId::new(format!("d{number}")).expect("an id");
            let title = Text::plain(format!("A list of every city number{number}"));
            let metadata = Metadata {
                titles: vec![title],
                ..Metadata::new(id.clone())
            };
            let document = FieldedDocument::new(&metadata, &TripleGraphBuilder::new().finish());
            let card = format!("{{\"card\":{number}}}").into_bytes();
            writer
                .put(IndexDocument::new(
                    id,
                    "1".to_owned(),
                    &document,
                    &analysis,
                    card,
                    Vec::new(),
                ))
                .expect("put");
        }
        writer.commit().expect("committed");
        writer.finish().expect("finished");
    }

    /// Returns what a search would read: frequencies, lengths and stored cards.
    fn read(folder: &Path) -> Result<String, IndexError> {
        let snapshot = Index::open(folder)?.snapshot()?;
        let query = AnalyzedQuery::new("city number7", snapshot.analysis());
        let fields = [Field::Title];
        let statistics =
            snapshot.collection_statistics(&query, &fields, StatisticsLevel::Occurrences)?;
        let mut text = format!(
            "{:?} {:?}",
            statistics.fields[Field::Title.index()],
            statistics.documents
        );
        text += &format!(
            "{:?}",
            statistics
                .terms
                .iter()
                .map(|term| term[Field::Title.index()])
                .collect::<Vec<_>>()
        );
        for id in snapshot.versions()?.keys() {
            text += &format!("{id}{:?}", snapshot.card(id)?);
        }
        Ok(text)
    }

    /// Replaces a file. It is not written in place: a thread that ends may still read its memory map.
    fn replace(path: &Path, bytes: &[u8]) {
        fs::remove_file(path).expect("removed");
        fs::write(path, bytes).expect("written");
    }

    #[test]
    fn a_flipped_bit_in_any_file_is_detected_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path());
        let expected = read(folder.path()).expect("a sound index");
        assert_eq!(verify(folder.path()).expect("verified").0, []);
        let mut detected = 0;
        let files: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry"))
            .collect();
        for path in files.iter().map(fs::DirEntry::path) {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let bytes = fs::read(&path).expect("read");
            for place in (0..bytes.len()).step_by((bytes.len() / 24).max(1)) {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << (place % 8);
                replace(&path, &damaged);
                match read(folder.path()) {
                    Ok(text) => assert_eq!(text, expected, "{name}, byte {place}"),
                    Err(error) => {
                        detected += 1;
                        let message = error.to_string();
                        assert!(
                            message.contains("index --rebuild"),
                            "{name}, byte {place}: {message}"
                        );
                    }
                }
                if has_footer(Path::new(&name)) {
                    let (found, _) = verify(folder.path()).expect("verified");
                    assert!(found.iter().all(|file| file.path == path), "{found:?}");
                }
            }
            replace(&path, &bytes);
        }
        assert!(detected > 100, "{detected}");
        fs::remove_file(
            fs::read_dir(folder.path())
                .expect("a folder")
                .find_map(|entry| {
                    let path = entry.expect("an entry").path();
                    path.extension()
                        .is_some_and(|extension| extension == "idx")
                        .then_some(path)
                })
                .expect("postings"),
        )
        .expect("removed");
        assert!(matches!(read(folder.path()), Err(IndexError::Damaged(_))));
        assert_eq!(verify(folder.path()).expect("verified").0.len(), 1);
    }

    #[test]
    fn meta_is_json_with_or_without_a_checksum() {
        let json = b"{\n  \"a\": 1\n}\n";
        let text = with_checksum(json);
        let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(value["a"], 1);
        assert!(has_right_checksum(&text) && has_right_checksum(json));
        let mut wrong = text.clone();
        wrong[9] ^= 1;
        assert!(!has_right_checksum(&wrong));
    }
}
