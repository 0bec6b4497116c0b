//! A folder as a catalogue: the datasets of its catalogues, and every dump and table that none of them names.
//!
//! JSON of no known catalogue is a table, too; JSON that is broken is a problem, unless a catalogue names the file.
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

/// Files of a folder by their content, in the order of their paths.
#[derive(Default)]
struct FolderFiles {
    /// Dumps and tables.
    dumps: Vec<(PathBuf, Dataset)>,
    /// Catalogues.
    catalogs: Vec<(PathBuf, Catalog)>,
    /// Files that are neither.
    failures: Vec<(PathBuf, CatalogError)>,
}

/// Files of a folder, and of the folders within it, that [`Catalog::read`] reads.
///
/// Hidden files, links to folders, and links that lead out of the folder are not among them.
#[derive(Debug, Default)]
pub struct FolderListing {
    /// Paths relative to the folder, in their order.
    pub files: Vec<PathBuf>,
    /// Files and folders that are not read, with the reasons. Each text begins with the path.
    pub problems: Problems,
    /// If true, a folder within the folder cannot be read.
    pub is_incomplete: bool,
}

impl FolderListing {
    /// Lists a folder.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn read(folder: &Path) -> Result<Self, CatalogError> {
        let mut listing = Self::default();
        let root = folder.canonicalize().map_err(CatalogError::io(folder))?;
        let is_complete = walk_folder(
            &root,
            Path::new(""),
            0,
            &mut listing.files,
            &mut listing.problems,
        )
        .map_err(CatalogError::io(folder))?;
        listing.is_incomplete = !is_complete;
        Ok(listing)
    }
}

/// Reads every file of a folder.
pub(super) fn read(folder: &Path) -> Result<Catalog, CatalogError> {
    let root = folder.canonicalize().map_err(CatalogError::io(folder))?;
    let FolderListing {
        files: mut paths,
        problems,
        is_incomplete,
    } = FolderListing::read(folder)?;
    let mut whole = Catalog {
        folder: folder.to_owned(),
        dialect: Dialect::Folder,
        problems,
        is_incomplete,
        ..Catalog::default()
    };
    let crates: BTreeSet<PathBuf> = paths
        .iter()
        .filter(|file| ro_crate::is_metadata_file(file))
        .filter_map(|file| Some(file.parent()?.to_owned()))
        .collect();
    // A crate lists its files: these are no catalogues of their own.
    paths.sort_by_key(|file| !ro_crate::is_metadata_file(file));
    let existing: BTreeSet<String> = paths.iter().map(|file| join_with_slashes(file)).collect();
    let mut of_crates = BTreeSet::new();
    // Folders of crates, with the places of their datasets.
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    let mut files = FolderFiles::default();
    for file in paths {
        let is_preview = file
            .file_name()
            .is_some_and(|name| name == ro_crate::PREVIEW_FILE);
        let is_of_crate = is_preview && file.parent().is_some_and(|folder| crates.contains(folder));
        if is_of_crate || of_crates.contains(&join_with_slashes(&file)) {
            continue;
        }
        match Catalog::read_file(&root.join(&file)) {
            Ok(catalog) if catalog.dialect == Dialect::Dump => {
                let datasets = catalog.datasets.into_iter();
                files.dumps.extend(datasets.map(|d| (file.clone(), d)))
            }
            Ok(catalog) if catalog.dialect == Dialect::RoCrate => {
                let inner = inner_prefix(&file);
                if let Some(dataset) = catalog.datasets.first() {
                    let paths =
                        ro_crate::folder_paths(dataset).map(|path| format!("{inner}{path}"));
                    folders.extend(paths.map(|path| (path, whole.datasets.len())));
                }
                of_crates.extend(add_catalog(&mut whole, catalog, &file).into_keys());
            }
            // The readers of the tables beside it use it.
            Ok(catalog) if catalog.datasets.is_empty() && describes_tables(&file) => (),
            Ok(catalog) => files.catalogs.push((file, catalog)),
            Err(error) => files.failures.push((file, error)),
        }
    }
    let mut named = add_catalogs(&mut whole, files.catalogs, &existing);
    named.extend(of_crates.iter().cloned());
    for (file, error) in files.failures {
        if named.contains(&join_with_slashes(&file)) || describes_tables(&file) {
            continue;
        }
        if matches!(error, CatalogError::UnknownJson { .. }) {
            let table = Catalog::read_as_table(&root.join(&file));
            let datasets = table.datasets.into_iter();
            files.dumps.extend(datasets.map(|d| (file.clone(), d)));
            continue;
        }
        whole.problems.push(error.to_string());
        whole.unreadable_entries += 1;
        whole.is_incomplete = true;
    }
    files.dumps.sort_by(|(one, _), (other, _)| one.cmp(other));
    whole
        .problems
        .retain(|problem| match problem.strip_suffix(IGNORED) {
            Some(file) => !of_crates.contains(file) && crate_of(file, &folders).is_none(),
            None => true,
        });
    for (file, dataset) in files.dumps {
        let path = join_with_slashes(&file);
        if named.contains(&path) {
            continue;
        }
        match crate_of(&path, &folders) {
            Some(place) => whole.datasets[place]
                .distributions
                .push(Distribution::new(Location::File(path))),
            None => whole.datasets.extend(name_after_path(&file, dataset)),
        }
    }
    Ok(whole)
}

/// Adds the datasets of catalogues, and returns the files that they name.
///
/// A file that another catalogue names is content, although it may look like a catalogue. A descriptor of tables that are files
/// of another catalogue's dataset describes that dataset: it makes no second one, and is reported.
fn add_catalogs(
    whole: &mut Catalog,
    mut catalogs: Vec<(PathBuf, Catalog)>,
    existing: &BTreeSet<String>,
) -> BTreeSet<String> {
    remove_content_catalogs(&mut catalogs);
    let mut owners: BTreeMap<String, DatasetId> = BTreeMap::new();
    for (file, catalog) in catalogs
        .iter()
        .filter(|(_, catalog)| !is_descriptor(catalog))
    {
        owners.extend(local_files(catalog, file));
    }
    let mut named = BTreeSet::new();
    for (file, mut catalog) in catalogs {
        if is_descriptor(&catalog) {
            let inner = inner_prefix(&file);
            let problems = &mut whole.problems;
            catalog.datasets.retain(|dataset| {
                let Some(owner) = find_owner(dataset, &inner, &owners, existing) else {
                    return true;
                };
                problems.push(format!(
                    "{}: left out: it describes files of the dataset {owner}",
                    file.display()
                ));
                false
            });
            owners.extend(local_files(&catalog, &file));
        }
        named.extend(add_catalog(whole, catalog, &file).into_keys());
    }
    named
}

/// Removes the catalogues that are content: files that a catalogue names which is none itself. Of catalogues that name each other,
/// the first one by its path stays.
fn remove_content_catalogs(catalogs: &mut Vec<(PathBuf, Catalog)>) {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, catalog) in catalogs.iter() {
        let file = join_with_slashes(file);
        let mut others: BTreeSet<String> =
            local_files(catalog, Path::new(&file)).into_keys().collect();
        others.remove(&file);
        named.insert(file, others);
    }
    let mut kept = BTreeSet::new();
    // Ends, because each round removes one catalogue at least.
    while let Some(first) = named.keys().next().cloned() {
        let content: BTreeSet<&String> = named.values().flatten().collect();
        let mut outer: Vec<String> = named
            .keys()
            .filter(|file| !content.contains(file))
            .cloned()
            .collect();
        // All remaining ones name each other.
        if outer.is_empty() {
            outer.push(first);
        }
        for file in outer {
            for content in named.remove(&file).into_iter().flatten() {
                named.remove(&content);
            }
            kept.insert(file);
        }
    }
    catalogs.retain(|(file, _)| kept.contains(&join_with_slashes(file)));
}

/// Returns true for a catalogue that describes tables beside it.
fn is_descriptor(catalog: &Catalog) -> bool {
    matches!(catalog.dialect, Dialect::DataPackage | Dialect::Csvw)
}

/// Returns the other dataset that has the files of a descriptor's dataset. `None` if it has none of them, or if the folder has a
/// file that only the descriptor names.
fn find_owner<'o>(
    dataset: &Dataset,
    inner: &str,
    owners: &'o BTreeMap<String, DatasetId>,
    existing: &BTreeSet<String>,
) -> Option<&'o DatasetId> {
    let mut found = None;
    for distribution in &dataset.distributions {
        let Location::File(path) = &distribution.location else {
            continue;
        };
        let path = format!("{inner}{path}");
        match owners.get(&path) {
            Some(owner) => found = found.or(Some(owner)),
            None if existing.contains(&path) => return None,
            None => {}
        }
    }
    found
}

/// Returns the files that the datasets of a catalogue name, relative to the folder, with the ids of the datasets.
fn local_files(catalog: &Catalog, file: &Path) -> BTreeMap<String, DatasetId> {
    let inner = inner_prefix(file);
    let mut files = BTreeMap::new();
    for dataset in &catalog.datasets {
        for distribution in &dataset.distributions {
            if let Location::File(path) = &distribution.location {
                files.insert(format!("{inner}{path}"), dataset.metadata.id.clone());
            }
        }
    }
    files
}

/// Returns the path of the folder of a file with a slash at its end; an empty text for the outermost folder.
fn inner_prefix(file: &Path) -> String {
    let inner = file.parent().map(join_with_slashes).unwrap_or_default();
    if inner.is_empty() {
        inner
    } else {
        format!("{inner}/")
    }
}

/// Returns the place of the dataset whose crate has the folder of a file.
fn crate_of(file: &str, folders: &BTreeMap<String, usize>) -> Option<usize> {
    let mut ends = file.match_indices('/').map(|(place, _)| place + 1);
    ends.by_ref()
        .filter_map(|end| folders.get(&file[..end]).copied())
        .last()
}

/// Adds the datasets and problems of a catalogue, with paths relative to the folder. Returns the files that it names.
fn add_catalog(
    whole: &mut Catalog,
    mut catalog: Catalog,
    file: &Path,
) -> BTreeMap<String, DatasetId> {
    let (named, inner) = (local_files(&catalog, file), inner_prefix(file));
    for distribution in catalog
        .datasets
        .iter_mut()
        .flat_map(|dataset| &mut dataset.distributions)
    {
        if let Location::File(path) = &mut distribution.location {
            *path = format!("{inner}{path}");
        }
    }
    whole.datasets.append(&mut catalog.datasets);
    whole.problems.append(&mut catalog.problems);
    whole.unreadable_entries += catalog.unreadable_entries;
    whole.is_incomplete |= catalog.is_incomplete;
    whole.other_resources.catalogs += catalog.other_resources.catalogs;
    whole.other_resources.records += catalog.other_resources.records;
    whole.other_resources.services += catalog.other_resources.services;
    named
}

/// Names a dump after its path in the folder: files of one name in two folders are two datasets.
fn name_after_path(file: &Path, mut dataset: Dataset) -> Option<Dataset> {
    let path = join_with_slashes(file);
    if let Some((inner, _)) = path.rsplit_once('/') {
        dataset.metadata.id = DatasetId::from_text(&format!("{inner}/{}", dataset.metadata.id))?;
    }
    dataset.entry = EntryKey::new(IdOrigin::File(path.clone()));
    for distribution in &mut dataset.distributions {
        distribution.location = Location::File(path.clone());
    }
    Some(dataset)
}

fn join_with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

/// Adds the files of a folder that may be read, and of the folders within it. Returns false if one of these cannot be read.
pub(super) fn walk_folder(
    root: &Path,
    inner: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
    problems: &mut Problems,
) -> io::Result<bool> {
    let mut all = true;
    let mut entries: Vec<_> = fs::read_dir(root.join(inner))?.collect::<io::Result<_>>()?;
    // The order of a folder depends on the file system.
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let path = inner.join(&name);
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_FOLDER_DEPTH {
            all &= walk_folder(root, &path, depth + 1, files, problems).unwrap_or_else(|error| {
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
