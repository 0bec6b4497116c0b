//! Dumps in a folder that belong to datasets by their names.
//!
//! Test collections such as ACORDAR publish a catalogue with links only, and the dumps apart, each named after the id of its
//! dataset.

use super::folder::{may_be_read, walk_folder};
use super::{
    Catalog, CatalogError, Dataset, DatasetId, Distribution, LocalCopy, Location, Problems,
};
use lodeseek_rdf::dump::{Limits, Syntax, extract};
use lodeseek_tabular::has_table_suffix;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// Suffixes of compressed files and archives, which may follow that of a syntax.
const PACKED: &[&str] = &["gz", "bz2", "xz", "zst", "zip", "tar", "tgz"];
/// Place of the id in a pattern.
const ID: &str = "{id}";

/// Dumps in a folder, by the ids of their datasets.
#[derive(Debug)]
pub struct DumpFolder {
    /// The folder or archive, for messages.
    source: PathBuf,
    folder: PathBuf,
    /// Path of the dump of a dataset; without it, names are compared.
    pattern: Option<String>,
    /// Files directly in the folder, by their names without the suffixes of syntax and compression.
    by_name: BTreeMap<String, Vec<PathBuf>>,
    /// Messages for the members of an archive that were not extracted.
    problems: Problems,
    /// Temporary folder of an extracted archive. It is removed with this object.
    _extracted: Option<TempDir>,
}

/// Assignment of dumps to the datasets of catalogues.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AssignedDumps {
    /// Number of datasets with at least one dump.
    pub datasets: usize,
    /// Datasets without a dump.
    pub missing: Vec<DatasetId>,
    /// Number of files directly in the folder that belong to no dataset.
    pub unused_files: usize,
}

impl DumpFolder {
    /// Lists a folder.
    ///
    /// The dumps of the dataset `ID` are the files `ID.nt`, `ID.ttl.gz` and so on, with any suffixes of a syntax, a compression or
    /// an archive, and all RDF files in the folder `ID`. A pattern replaces this rule: it is a path in the folder with `{id}`, such
    /// as `dataset-{id}/data.nt`, and leads to a file, or to a folder whose RDF files are all read.
    ///
    /// # Errors
    /// If the folder cannot be read, or if the pattern has no `{id}` or leads out of the folder.
    pub fn open(folder: &Path, pattern: Option<&str>) -> Result<Self, CatalogError> {
        if let Some(pattern) = pattern {
            let is_inside = Path::new(pattern)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            if !pattern.contains(ID) || !is_inside {
                return Err(CatalogError::DumpPattern(pattern.to_owned()));
            }
        }
        let folder = folder.canonicalize().map_err(CatalogError::io(folder))?;
        let entries = folder.read_dir().map_err(CatalogError::io(&folder))?;
        let mut by_name: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for entry in entries {
            let path = entry.map_err(CatalogError::io(&folder))?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if let (true, Some(stem)) = (path.is_file(), file_stem(&name)) {
                by_name.entry(stem.to_owned()).or_default().push(path);
            }
        }
        by_name.values_mut().for_each(|files| files.sort());
        let (source, pattern) = (folder.clone(), pattern.map(str::to_owned));
        Ok(Self {
            source,
            folder,
            pattern,
            by_name,
            problems: Problems::default(),
            _extracted: None,
        })
    }

    /// Extracts a zip or tar archive of dumps, which may be compressed, into the folder for temporary files (`TMPDIR`), and lists it
    /// as [`open`](Self::open) does. A single folder that contains everything else is skipped. The files are removed with this
    /// object.
    ///
    /// # Errors
    /// If the archive cannot be read or extracted, or as for [`open`](Self::open).
    pub fn open_archive(archive: &Path, pattern: Option<&str>) -> Result<Self, CatalogError> {
        let extracted = tempfile::tempdir().map_err(CatalogError::io(&std::env::temp_dir()))?;
        let mut problems = Problems::default();
        problems.extend(
            extract(archive, extracted.path(), &Limits::default())
                .map_err(CatalogError::io(archive))?,
        );
        let entries = extracted
            .path()
            .read_dir()
            .and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let folder = match entries
            .map_err(CatalogError::io(extracted.path()))?
            .as_slice()
        {
            [only] if only.path().is_dir() => only.path(),
            _ => extracted.path().to_owned(),
        };
        let opened = Self::open(&folder, pattern)?;
        Ok(Self {
            source: archive.to_owned(),
            problems,
            _extracted: Some(extracted),
            ..opened
        })
    }

    /// Returns the path of the folder or archive.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// Sets the content of each dataset to its dumps. `prefix` is the prefix of all ids of the catalogues.
    ///
    /// Links of a dataset with dumps remain in its description and are not read. A dataset with links but
    /// without a dump keeps the content that the home has, and its links are reported as not read. Members of an archive that were
    /// not extracted are added to the problems of the first catalogue.
    ///
    /// # Errors
    /// If a folder of dumps cannot be read.
    pub fn assign(
        &self,
        catalogs: &mut [Catalog],
        prefix: &str,
    ) -> Result<AssignedDumps, CatalogError> {
        let mut assigned = AssignedDumps::default();
        let mut used = BTreeSet::new();
        if let Some(first) = catalogs.first_mut() {
            first.problems.extend(self.problems.iter().cloned());
        }
        for catalog in catalogs {
            for dataset in &mut catalog.datasets {
                let id = dataset.metadata.id.as_str();
                let files =
                    self.files(id.strip_prefix(prefix).unwrap_or(id), &mut catalog.problems)?;
                if files.is_empty() {
                    self.set_missing(dataset);
                    assigned.missing.push(dataset.metadata.id.clone());
                } else {
                    self.set_content(dataset, &files);
                    assigned.datasets += 1;
                    used.extend(files);
                }
            }
        }
        assigned.unused_files = self
            .by_name
            .values()
            .flatten()
            .filter(|file| !used.contains(*file))
            .count();
        Ok(assigned)
    }

    fn set_missing(&self, dataset: &mut Dataset) {
        let reason = format!("{} has no dump of this dataset", self.source.display());
        for distribution in &mut dataset.distributions {
            distribution.copy = Some(LocalCopy::Missing(reason.clone()));
        }
    }

    fn set_content(&self, dataset: &mut Dataset, files: &[PathBuf]) {
        dataset
            .distributions
            .retain(|distribution| matches!(distribution.location, Location::Remote(_)));
        for distribution in &mut dataset.distributions {
            distribution.copy = Some(LocalCopy::Unused);
        }
        dataset.distributions.extend(files.iter().map(|file| {
            let inner = file
                .strip_prefix(&self.folder)
                .unwrap_or(file)
                .to_string_lossy()
                .into_owned();
            let copy = Some(LocalCopy::File(file.clone()));
            Distribution {
                copy,
                ..Distribution::new(Location::File(inner))
            }
        }));
    }

    /// Returns the dumps of a dataset. Files that are not read are added to the problems.
    fn files(&self, id: &str, problems: &mut Problems) -> Result<Vec<PathBuf>, CatalogError> {
        // An id with a slash or two dots must not lead to another folder.
        let is_name = Path::new(id)
            .components()
            .eq([Component::Normal(id.as_ref())]);
        if !is_name {
            return Ok(Vec::new());
        }
        let place = self
            .folder
            .join(self.pattern.as_deref().unwrap_or(ID).replace(ID, id));
        let mut found = match &self.pattern {
            Some(_) if place.is_file() => vec![place.clone()],
            Some(_) => Vec::new(),
            None => self.by_name.get(id).cloned().unwrap_or_default(),
        };
        if place.is_dir() {
            let mut inner = Vec::new();
            walk_folder(&place, Path::new(""), 0, &mut inner, problems)
                .map_err(CatalogError::io(&place))?;
            found.extend(inner.into_iter().map(|file| place.join(file)));
        }
        Ok(found)
    }
}

/// Returns the name of a file without the suffixes of its syntax and compression; `None` if no suffix suggests RDF or a table.
fn file_stem(name: &str) -> Option<&str> {
    if name.starts_with('.') || !may_be_read(name) {
        return None;
    }
    let mut rest = name;
    while let Some((front, suffix)) = rest.rsplit_once('.') {
        if !PACKED.contains(&suffix.to_ascii_lowercase().as_str()) {
            break;
        }
        rest = front;
    }
    match rest.rsplit_once('.') {
        Some((front, suffix)) if is_content_suffix(suffix) => Some(front),
        _ => Some(rest),
    }
}

fn is_content_suffix(suffix: &str) -> bool {
    let name = format!("x.{suffix}");
    Syntax::from_file_name(&name).is_some() || has_table_suffix(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metadata;
    use std::fs;
    use tempfile::TempDir;

    fn folder(files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "").expect("written");
        }
        folder
    }

    fn catalog(ids: &[&str]) -> Catalog {
        let dataset = |id: &&str| {
            let mut dataset = Dataset::new(Metadata::new(DatasetId::new(*id).expect("an id")));
            dataset.distributions =
                vec![Distribution::new(Location::from_text("http://e.org/x.nt"))];
            dataset
        };
        Catalog {
            datasets: ids.iter().map(dataset).collect(),
            ..Catalog::default()
        }
    }

    /// Returns the files assigned to each dataset, relative to the folder.
    fn assign(
        files: &[&str],
        ids: &[&str],
        pattern: Option<&str>,
    ) -> (Vec<Vec<String>>, AssignedDumps) {
        let folder = folder(files);
        let mut catalogs = [catalog(ids)];
        let dumps = DumpFolder::open(folder.path(), pattern).expect("a folder");
        let assigned = dumps.assign(&mut catalogs, "").expect("assigned");
        let local = |distribution: &Distribution| match (&distribution.location, &distribution.copy)
        {
            (Location::File(path), Some(LocalCopy::File(_))) => Some(path.clone()),
            _ => None,
        };
        let found = catalogs[0]
            .datasets
            .iter()
            .map(|dataset| dataset.distributions.iter().filter_map(local).collect());
        (found.collect(), assigned)
    }

    #[test]
    fn files_and_folders_are_named_after_the_id() {
        let files = [
            "1.nt",
            "2.ttl.gz",
            "3/a.nt",
            "3/b/c.rdf",
            "3/notes.md",
            "4.tar.gz",
            "12.nt",
            "readme.md",
            "a.b.nt",
        ];
        let (found, assigned) = assign(&files, &["1", "2", "3", "4", "5", "a.b", "a"], None);
        let expected: [&[&str]; 7] = [
            &["1.nt"],
            &["2.ttl.gz"],
            &["3/a.nt", "3/b/c.rdf"],
            &["4.tar.gz"],
            &[],
            &["a.b.nt"],
            &[],
        ];
        assert_eq!(found, expected);
        assert_eq!(
            (assigned.datasets, assigned.unused_files),
            (5, 1),
            "12.nt belongs to no dataset"
        );
        assert_eq!(
            assigned
                .missing
                .iter()
                .map(DatasetId::as_str)
                .collect::<Vec<_>>(),
            ["5", "a"]
        );
    }

    #[test]
    fn a_pattern_replaces_the_rule() {
        let files = ["d1/data.nt", "d2/data.nt", "1.nt"];
        assert_eq!(
            assign(&files, &["1", "2", "3"], Some("d{id}/data.nt")).0,
            [vec!["d1/data.nt"], vec!["d2/data.nt"], vec![]]
        );
        assert_eq!(assign(&files, &["1"], Some("d{id}")).0, [["d1/data.nt"]]);
        for pattern in ["data.nt", "../{id}.nt", "/{id}"] {
            let error = DumpFolder::open(Path::new("."), Some(pattern)).expect_err("refused");
            assert!(error.to_string().contains(pattern), "{error}");
        }
    }

    #[test]
    fn archives_of_dumps_are_extracted() {
        use std::io::Write;
        let folder = tempfile::tempdir().expect("a folder");
        let members = [
            ("dumps/1.nt", "<a:a> <a:b> <a:c> ."),
            ("dumps/3/a.nt", ""),
            ("../2.nt", ""),
        ];
        let zip_path = folder.path().join("dumps.zip");
        let mut writer = zip::ZipWriter::new(fs::File::create(&zip_path).expect("created"));
        let tar_path = folder.path().join("dumps.tar.gz");
        let gzip = flate2::write::GzEncoder::new(
            fs::File::create(&tar_path).expect("created"),
            Default::default(),
        );
        let mut tar = tar::Builder::new(gzip);
        for (name, content) in members {
            writer
                .start_file(name, zip::write::SimpleFileOptions::default())
                .expect("started");
            writer.write_all(content.as_bytes()).expect("written");
            let mut header = tar::Header::new_ustar();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(content.len() as u64);
            header.set_entry_type(tar::EntryType::Regular);
            header.set_cksum();
            tar.append(&header, content.as_bytes()).expect("written");
        }
        writer.finish().expect("finished");
        tar.into_inner()
            .and_then(flate2::write::GzEncoder::finish)
            .expect("finished");
        for path in [zip_path, tar_path] {
            let dumps = DumpFolder::open_archive(&path, None).expect("an archive");
            let place = dumps.folder.clone();
            let mut catalogs = [catalog(&["1", "2", "3"])];
            let assigned = dumps.assign(&mut catalogs, "").expect("assigned");
            assert_eq!(
                assigned
                    .missing
                    .iter()
                    .map(DatasetId::as_str)
                    .collect::<Vec<_>>(),
                ["2"],
                "{}",
                path.display()
            );
            let problems = &catalogs[0].problems;
            assert!(
                matches!(&problems[..], [one] if one.contains("../2.nt")),
                "{problems:?}"
            );
            let missing = &catalogs[0].datasets[1].distributions[0].copy;
            let name = path.display().to_string();
            assert!(
                matches!(missing, Some(LocalCopy::Missing(reason)) if reason.contains(&name)),
                "{missing:?}"
            );
            let Some(LocalCopy::File(first)) = &catalogs[0].datasets[0].distributions[1].copy
            else {
                panic!("a file")
            };
            assert_eq!(fs::read_to_string(first).expect("read"), members[0].1);
            drop(dumps);
            assert!(!place.exists(), "the files are removed");
        }
        let error =
            DumpFolder::open_archive(&folder.path().join("other"), None).expect_err("missing");
        assert!(error.to_string().contains("other"), "{error}");
        fs::write(folder.path().join("other"), "no archive").expect("written");
        let error =
            DumpFolder::open_archive(&folder.path().join("other"), None).expect_err("no archive");
        assert!(
            error.to_string().contains("no zip or tar archive"),
            "{error}"
        );
    }

    #[test]
    fn an_id_leads_to_no_other_folder() {
        let parent = folder(&["dumps/1.nt", "secret/a.nt"]);
        let dumps = DumpFolder::open(&parent.path().join("dumps"), None).expect("a folder");
        let assigned = dumps
            .assign(&mut [catalog(&["../secret", "./1", "a/../../secret"])], "")
            .expect("assigned");
        assert_eq!((assigned.datasets, assigned.missing.len()), (0, 3));
    }

    #[test]
    fn links_remain_and_missing_dumps_have_a_reason() {
        let folder = folder(&["1.nt"]);
        let mut catalogs = [catalog(&["p-1", "p-2"])];
        DumpFolder::open(folder.path(), None)
            .expect("a folder")
            .assign(&mut catalogs, "p-")
            .expect("assigned");
        let [with, without] = catalogs[0].datasets.as_slice() else {
            panic!("two datasets")
        };
        assert_eq!(with.distributions[0].copy, Some(LocalCopy::Unused));
        assert_eq!(with.distributions[0].location.as_str(), "http://e.org/x.nt");
        assert!(
            matches!(&without.distributions[0].copy, Some(LocalCopy::Missing(reason)) if reason.contains("no dump"))
        );
    }
}
