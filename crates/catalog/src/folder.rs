//! A folder as a catalogue: the datasets of its catalogues, and every dump that none of them lists.
//!
//! Files are read in the order of their paths. Hidden files, and links that lead out of the folder, are ignored.

use super::{
    Catalog, CatalogError, Dataset, DatasetId, Dialect, Distribution, EntryKey, IdOrigin, Location,
    Problems, ro_crate,
};
use lodeseek_rdf::dump::Syntax;
use lodeseek_tabular::has_table_suffix;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Maximum depth of nested folders.
const MAX_FOLDER_DEPTH: usize = 64;
/// Message for a file that is not read, after its path.
const IGNORED: &str = ": ignored: the file name suggests neither RDF, a table nor a catalogue";

/// Reads every file of a folder.
pub(super) fn read(folder: &Path) -> Result<Catalog, CatalogError> {
    let root = folder.canonicalize().map_err(CatalogError::io(folder))?;
    let mut whole = Catalog {
        folder: folder.to_owned(),
        dialect: Dialect::Folder,
        ..Catalog::default()
    };
    let mut files = Vec::new();
    let all = walk(&root, Path::new(""), 0, &mut files, &mut whole.problems)
        .map_err(CatalogError::io(folder))?;
    whole.is_incomplete = !all;
    let (mut dumps, mut named) = (Vec::new(), BTreeSet::new());
    let crates: BTreeSet<PathBuf> = files
        .iter()
        .filter(|file| ro_crate::is_metadata_file(file))
        .filter_map(|file| Some(file.parent()?.to_owned()))
        .collect();
    // A crate lists its files: these are no catalogues of their own.
    files.sort_by_key(|file| !ro_crate::is_metadata_file(file));
    let mut of_crates = BTreeSet::new();
    // Folders of crates, with the places of their datasets.
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let is_preview = file
            .file_name()
            .is_some_and(|name| name == ro_crate::PREVIEW_FILE);
        let is_of_crate = is_preview && file.parent().is_some_and(|folder| crates.contains(folder));
        if is_of_crate || of_crates.contains(&slashed(&file)) {
            continue;
        }
        match Catalog::read_file(&root.join(&file)) {
            Ok(catalog) if catalog.dialect == Dialect::Dump => {
                dumps.extend(catalog.datasets.into_iter().map(|d| (file.clone(), d)))
            }
            Ok(catalog) if catalog.dialect == Dialect::RoCrate => {
                let mut listed = BTreeSet::new();
                let inner = file.parent().map(slashed).filter(|inner| !inner.is_empty());
                let inner = inner.map(|inner| format!("{inner}/")).unwrap_or_default();
                if let Some(dataset) = catalog.datasets.first() {
                    let paths =
                        ro_crate::folder_paths(dataset).map(|path| format!("{inner}{path}"));
                    folders.extend(paths.map(|path| (path, whole.datasets.len())));
                }
                add(&mut whole, catalog, &file, &mut listed);
                named.extend(listed.iter().cloned());
                of_crates.append(&mut listed);
            }
            // The readers of the tables beside it use it.
            Ok(catalog) if catalog.datasets.is_empty() && describes_tables(&file) => (),
            Err(_) if describes_tables(&file) => (),
            Ok(catalog) => add(&mut whole, catalog, &file, &mut named),
            Err(error) => {
                whole.problems.push(error.to_string());
                whole.unreadable_entries += 1;
                whole.is_incomplete = true;
            }
        }
    }
    whole
        .problems
        .retain(|problem| match problem.strip_suffix(IGNORED) {
            Some(file) => !of_crates.contains(file) && crate_of(file, &folders).is_none(),
            None => true,
        });
    for (file, dataset) in dumps {
        let path = slashed(&file);
        if named.contains(&path) {
            continue;
        }
        match crate_of(&path, &folders) {
            Some(place) => whole.datasets[place]
                .distributions
                .push(Distribution::new(Location::File(path))),
            None => whole.datasets.extend(dump(&file, dataset)),
        }
    }
    Ok(whole)
}

/// Returns the place of the dataset whose crate has the folder of a file.
fn crate_of(file: &str, folders: &BTreeMap<String, usize>) -> Option<usize> {
    let mut ends = file.match_indices('/').map(|(place, _)| place + 1);
    ends.by_ref()
        .filter_map(|end| folders.get(&file[..end]).copied())
        .last()
}

/// Adds the datasets and problems of a catalogue, with paths relative to the folder.
fn add(whole: &mut Catalog, mut catalog: Catalog, file: &Path, named: &mut BTreeSet<String>) {
    let inner = file.parent().map(slashed).filter(|inner| !inner.is_empty());
    for distribution in catalog
        .datasets
        .iter_mut()
        .flat_map(|dataset| &mut dataset.distributions)
    {
        if let Location::File(path) = &mut distribution.location {
            if let Some(inner) = &inner {
                *path = format!("{inner}/{path}");
            }
            named.insert(path.clone());
        }
    }
    whole.datasets.append(&mut catalog.datasets);
    whole.problems.append(&mut catalog.problems);
    whole.unreadable_entries += catalog.unreadable_entries;
    whole.is_incomplete |= catalog.is_incomplete;
    whole.other_resources.catalogs += catalog.other_resources.catalogs;
    whole.other_resources.records += catalog.other_resources.records;
    whole.other_resources.services += catalog.other_resources.services;
}

/// Names a dump after its path in the folder: files of one name in two folders are two datasets.
fn dump(file: &Path, mut dataset: Dataset) -> Option<Dataset> {
    let path = slashed(file);
    if let Some((inner, _)) = path.rsplit_once('/') {
        dataset.metadata.id = DatasetId::from_text(&format!("{inner}/{}", dataset.metadata.id))?;
    }
    dataset.entry = EntryKey::new(IdOrigin::File(path.clone()));
    for distribution in &mut dataset.distributions {
        distribution.location = Location::File(path.clone());
    }
    Some(dataset)
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

/// Adds the files of a folder that may be read, and of the folders within it. Returns false if one of these cannot be read.
pub(super) fn walk(
    root: &Path,
    inner: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
    problems: &mut Problems,
) -> io::Result<bool> {
    let mut all = true;
    let mut entries: Vec<_> = fs::read_dir(root.join(inner))?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let path = inner.join(&name);
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_FOLDER_DEPTH {
            all &= walk(root, &path, depth + 1, files, problems).unwrap_or_else(|error| {
                problems.push(format!(
                    "{}: the folder cannot be read: {error}",
                    path.display()
                ));
                false
            });
        } else if kind.is_dir() {
            problems.push(format!(
                "{}: ignored: nested deeper than {MAX_FOLDER_DEPTH} folders",
                path.display()
            ));
        } else if kind.is_symlink() && !leads_to_file_within(root, &root.join(&path)) {
            problems.push(format!(
                "{}: ignored: the link leads out of the folder or to no file",
                path.display()
            ));
        } else if may_be_read(&name.to_string_lossy()) {
            files.push(path);
        } else {
            problems.push(format!("{}{IGNORED}", path.display()));
        }
    }
    Ok(all)
}

/// Returns true for the names of files that describe tables: data packages, and metadata of CSV on the Web.
fn describes_tables(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name == "datapackage.json" || name.ends_with("-metadata.json")
}

fn leads_to_file_within(root: &Path, link: &Path) -> bool {
    link.canonicalize()
        .is_ok_and(|target| target.starts_with(root) && target.is_file())
}

/// If true, the file name suggests RDF, a table or a catalogue. Other files (notes, pictures) are not read.
pub(super) fn may_be_read(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let others = [
        ".html",
        ".htm",
        ".jsonl",
        ".jsonl.gz",
        ".ndjson",
        ".ndjson.gz",
        ".zip",
        ".tar",
        ".tgz",
        ".tar.gz",
        ".tar.bz2",
        ".tar.xz",
    ];
    Syntax::from_file_name(&name).is_some()
        || has_table_suffix(&name)
        || others.iter().any(|suffix| name.ends_with(suffix))
}
