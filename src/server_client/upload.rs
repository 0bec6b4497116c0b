//! Upload of catalogues and dumps with the files that they describe, as `multipart/form-data`.

use anyhow::{Context, bail};
use lodeseek_catalog::{Catalog, FolderListing, Location, Problems};
use lodeseek_changes::{
    LoadOutcome, MAX_CATALOG_FILES, MAX_SOURCES, MAX_UPLOAD_BYTES, is_upload_path,
};
use lodeseek_store::{ContentPlace, LoadReport};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};

/// Length of the random part of the boundary in bytes.
const BOUNDARY_BYTES: usize = 16;

/// Files of sources, named by relative paths.
pub(super) struct Upload {
    boundary: String,
    /// Paths by names such as `0/dumps/trees.nt`. The number is that of the source.
    files: BTreeMap<String, PathBuf>,
    sources: Vec<String>,
    /// Absolute paths of the sources.
    origins: Vec<String>,
    id_prefix: String,
    /// If true, datasets of other sources with the same ids are replaced.
    replace: bool,
    /// Place of the content; `None` for the setting of the server's home.
    content: Option<ContentPlace>,
    bytes: u64,
    unsent: UnsentFiles,
}

/// Files and folders that are not sent, so that the server cannot report them.
#[derive(Default)]
pub(super) struct UnsentFiles {
    /// Problems in the words of a load of this machine.
    problems: Problems,
    /// Numbers of the sources with a folder that cannot be read.
    incomplete_sources: BTreeSet<usize>,
}

impl UnsentFiles {
    /// Adds the files to the result that the server returned.
    pub(super) fn add_to(self, outcome: &mut LoadOutcome) {
        outcome
            .report
            .merge(LoadReport::of_catalog(self.problems, Vec::new()));
        let mut sources = self.incomplete_sources;
        sources.extend(&outcome.incomplete_sources);
        outcome.incomplete_sources = sources.into_iter().collect();
    }
}

impl Upload {
    /// Collects the files of sources. The catalogues are read first, so that errors in them are reported before any request.
    ///
    /// # Errors
    /// As for a load of this machine, or if the files cannot be uploaded.
    pub(super) fn new(sources: &[PathBuf], id_prefix: &str) -> anyhow::Result<Self> {
        let catalogs = Catalog::read_all(sources, id_prefix)?;
        let mut upload = Self {
            boundary: new_boundary()?,
            files: BTreeMap::new(),
            sources: Vec::new(),
            origins: Vec::new(),
            id_prefix: id_prefix.to_owned(),
            replace: false,
            content: None,
            bytes: 0,
            unsent: UnsentFiles::default(),
        };
        for (number, (source, catalog)) in sources.iter().zip(catalogs).enumerate() {
            upload.add_source(number, source, &catalog)?;
        }
        anyhow::ensure!(
            upload.sources.len() <= MAX_SOURCES && upload.files.len() <= MAX_CATALOG_FILES,
            "an upload may have {MAX_SOURCES} sources and {MAX_CATALOG_FILES} files; these are {} and {}: load them in parts",
            upload.sources.len(),
            upload.files.len(),
        );
        anyhow::ensure!(
            upload.bytes <= MAX_UPLOAD_BYTES as u64,
            "the files have {:.1} GB, more than the {:.1} GB of one upload; load them in parts, or on the server's machine",
            upload.bytes as f64 / 1e9,
            MAX_UPLOAD_BYTES as f64 / 1e9,
        );
        Ok(upload)
    }

    /// Sets the treatment of datasets of other sources that have the same ids.
    pub(super) fn with_replacement(self, replace: bool) -> Self {
        Self { replace, ..self }
    }

    /// Sets the place of the content.
    pub(super) fn with_content(self, content: Option<ContentPlace>) -> Self {
        Self { content, ..self }
    }

    fn add_source(
        &mut self,
        number: usize,
        source: &Path,
        catalog: &Catalog,
    ) -> anyhow::Result<()> {
        let path = source
            .canonicalize()
            .with_context(|| format!("cannot read {}", source.display()))?;
        let name = match path.file_name() {
            Some(name) => name.to_string_lossy(),
            None => "data".into(),
        };
        let name = format!("{number}/{name}");
        self.sources.push(name.clone());
        self.origins.push(path.to_string_lossy().into_owned());
        if path.is_dir() {
            return self.add_folder(number, &name, &path, catalog);
        }
        self.add_file(name, path.clone())?;
        for (place, file) in described_files(catalog, &catalog.folder) {
            self.add_file(join_name(&number.to_string(), place), file)?;
        }
        Ok(())
    }

    /// Adds the files that `load` reads in a folder: those of its listing, and those that its catalogues describe. Links out of the
    /// folder are not among them.
    fn add_folder(
        &mut self,
        number: usize,
        name: &str,
        folder: &Path,
        catalog: &Catalog,
    ) -> anyhow::Result<()> {
        let listing = FolderListing::read(folder)?;
        for file in &listing.files {
            self.add_file(join_name(name, file), folder.join(file))?;
        }
        for (place, file) in described_files(catalog, folder) {
            if file
                .canonicalize()
                .is_ok_and(|target| target.starts_with(folder))
            {
                self.add_file(join_name(name, place), file)?;
            }
        }
        if listing.is_incomplete {
            self.unsent.incomplete_sources.insert(number);
        }
        self.add_unsent_files(name, listing.problems, catalog);
        Ok(())
    }

    /// Notes the files of a folder that `load` ignores and that are not sent for another reason.
    fn add_unsent_files(&mut self, name: &str, problems: Problems, catalog: &Catalog) {
        // The reader of the folder omits problems of files that belong to a research object.
        let reported: BTreeSet<&str> = catalog.problems.iter().map(|problem| &**problem).collect();
        for problem in problems {
            let file = problem.split(": ").next().unwrap_or_default();
            let is_sent = self.files.contains_key(&join_name(name, Path::new(file)));
            if reported.contains(&*problem) && !is_sent {
                self.unsent.problems.push(problem);
            }
        }
    }

    fn add_file(&mut self, name: String, path: PathBuf) -> anyhow::Result<()> {
        // The name is in quotation marks in the form.
        if !is_upload_path(&name) || name.contains(['"', char::REPLACEMENT_CHARACTER]) {
            bail!(
                "cannot upload {}: its path has a quotation mark, backslash, colon or control character, a name of more than 200 \
                 bytes, or more than 2000 bytes in all; rename it",
                path.display()
            );
        }
        let metadata = path.metadata().with_context(|| read_failure(&path))?;
        // Several datasets may describe the same file: it is sent and counted once.
        if metadata.is_file() && self.files.insert(name, path).is_none() {
            self.bytes += metadata.len();
        }
        Ok(())
    }

    /// Returns the files that are not sent, and leaves none.
    pub(super) fn take_unsent(&mut self) -> UnsentFiles {
        std::mem::take(&mut self.unsent)
    }

    /// Returns the size of the files in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    /// Returns the body. Files are opened when they are sent.
    pub(super) fn into_body(self) -> MultipartBody {
        let mut parts = Vec::new();
        let mut fields: Vec<(&str, &str)> = self
            .sources
            .iter()
            .map(|name| ("source", name.as_str()))
            .collect();
        fields.extend(self.origins.iter().map(|path| ("origin", path.as_str())));
        fields.push(("idPrefix", &self.id_prefix));
        if self.replace {
            fields.push(("replace", "true"));
        }
        match self.content {
            Some(ContentPlace::IndexOnly) => fields.push(("content", "index-only")),
            Some(ContentPlace::Store) => fields.push(("content", "store")),
            None => {}
        }
        for (name, value) in fields {
            let head = format!(
                "--{}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n",
                self.boundary
            );
            parts.push(Part::Text(format!("{head}{value}\r\n")));
        }
        for (name, path) in self.files {
            parts.push(Part::Text(format!(
                "--{}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n",
                self.boundary
            )));
            parts.push(Part::File(path));
            parts.push(Part::Text("\r\n".to_owned()));
        }
        parts.push(Part::Text(format!("--{}--\r\n", self.boundary)));
        MultipartBody {
            parts: parts.into_iter(),
            current: Box::new(io::empty()),
        }
    }
}

enum Part {
    Text(String),
    File(PathBuf),
}

/// Body of an upload.
pub(super) struct MultipartBody {
    parts: std::vec::IntoIter<Part>,
    current: Box<dyn Read>,
}

impl Read for MultipartBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.current.read(buffer)?;
            // Without room in the buffer, 0 bytes are not the end of a part.
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.current = match self.parts.next() {
                None => return Ok(0),
                Some(Part::Text(text)) => Box::new(Cursor::new(text)),
                Some(Part::File(path)) => Box::new(open_file(&path)?),
            };
        }
    }
}

/// Returns the existing files that the datasets of a catalogue describe, with their places in its folder. The server reports the
/// missing ones.
fn described_files<'c>(catalog: &'c Catalog, folder: &Path) -> Vec<(&'c Path, PathBuf)> {
    let mut files = Vec::new();
    for dataset in &catalog.datasets {
        for distribution in &dataset.distributions {
            let Location::File(place) = &distribution.location else {
                continue;
            };
            let place = Path::new(place);
            let is_inside = place
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let file = folder.join(place);
            if distribution.copy.is_none() && is_inside && file.is_file() {
                files.push((place, file));
            }
        }
    }
    files
}

/// Returns the name of a file in a folder of the upload, with slashes between its parts.
fn join_name(folder: &str, file: &Path) -> String {
    let mut name = folder.to_owned();
    for part in file.components() {
        if let Component::Normal(part) = part {
            name.push('/');
            name.push_str(&part.to_string_lossy());
        }
    }
    name
}

fn read_failure(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

fn open_file(path: &Path) -> io::Result<File> {
    File::open(path).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot read {}: {error}", path.display()),
        )
    })
}

/// Returns a boundary that no file contains: random digits.
fn new_boundary() -> anyhow::Result<String> {
    let mut bytes = [0; BOUNDARY_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system has no random numbers: {error}"))?;
    Ok(bytes.iter().fold("lodeseek".to_owned(), |text, byte| {
        format!("{text}{byte:02x}")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TRIPLE: &str = "<http://e.org/a> <http://e.org/p> \"x\" .\n";

    #[test]
    fn a_catalogue_is_sent_with_its_files() {
        let upload = Upload::new(
            &[
                "testdata/catalog.ttl".into(),
                "testdata/dumps/soils.ttl".into(),
            ],
            "a-",
        )
        .expect("readable sources");
        let names: Vec<&str> = upload.files.keys().map(String::as_str).collect();
        assert_eq!(upload.sources, ["0/catalog.ttl", "1/soils.ttl"]);
        assert!(
            names.contains(&"0/catalog.ttl") && names.contains(&"0/dumps/trees.nt.gz"),
            "{names:?}"
        );
        assert!(
            names.contains(&"1/soils.ttl") && !names.contains(&"0/queries.tsv"),
            "{names:?}"
        );
        let (bytes, boundary) = (upload.bytes(), upload.boundary.clone());
        let mut body = Vec::new();
        upload.into_body().read_to_end(&mut body).expect("read");
        let text = String::from_utf8_lossy(&body);
        assert!(body.len() as u64 > bytes && text.ends_with(&format!("--{boundary}--\r\n")));
        assert!(
            text.contains("name=\"idPrefix\"\r\n\r\na-\r\n"),
            "the prefix is sent"
        );
        let soils = fs::read("testdata/dumps/soils.ttl").expect("readable");
        assert!(
            body.windows(soils.len()).any(|window| window == soils),
            "files are sent as they are"
        );
    }

    #[test]
    fn hidden_files_and_links_out_of_a_folder_are_not_sent() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        fs::create_dir_all(data.join("inner")).expect("a folder");
        for name in [
            "data/a.nt",
            "data/inner/b.nt",
            "data/.hidden.nt",
            "secret.nt",
        ] {
            fs::write(folder.path().join(name), TRIPLE).expect("written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join("secret.nt"), data.join("link.nt"))
            .expect("linked");
        let upload = Upload::new(&[data], "").expect("a folder of dumps");
        let names: Vec<&str> = upload.files.keys().map(String::as_str).collect();
        assert_eq!(names, ["0/data/a.nt", "0/data/inner/b.nt"]);
        let missing = Upload::new(&["testdata/missing.ttl".into()], "");
        assert!(missing.is_err_and(|error| error.to_string().contains("testdata/missing.ttl")));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_sent_as_load_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        fs::create_dir_all(data.join("inner")).expect("a folder");
        for name in ["a.nt", "inner/b.nt", "picture.png", "described.bin"] {
            fs::write(data.join(name), TRIPLE).expect("written");
        }
        let catalog = "<#trees> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> \"Trees\" ;\n\
             <http://www.w3.org/ns/dcat#distribution> [ <http://www.w3.org/ns/dcat#downloadURL> <described.bin> ] .\n";
        fs::write(data.join("catalog.ttl"), catalog).expect("written");
        // Links to an ancestor: a reader that follows them finds each file many times.
        for link in ["again", "inner/again"] {
            std::os::unix::fs::symlink(&data, data.join(link)).expect("linked");
        }
        let mut upload = Upload::new(&[data], "").expect("a folder");
        let names: Vec<&str> = upload.files.keys().map(String::as_str).collect();
        let expected = [
            "0/data/a.nt",
            "0/data/catalog.ttl",
            "0/data/described.bin",
            "0/data/inner/b.nt",
        ];
        assert_eq!(names, expected);
        let mut outcome = LoadOutcome {
            report: LoadReport::default(),
            incomplete_sources: vec![0],
            assigned_dumps: None,
        };
        upload.take_unsent().add_to(&mut outcome);
        let problems = &outcome.report.catalog_problems;
        assert_eq!(problems.len(), 3, "{problems:?}");
        for name in ["again: ", "inner/again: ", "picture.png: "] {
            assert!(
                problems.iter().any(|problem| problem.starts_with(name)),
                "{name}: {problems:?}"
            );
        }
        assert_eq!(outcome.incomplete_sources, [0]);
    }

    #[test]
    fn names_that_the_server_rejects_are_not_sent() {
        let mut upload = Upload {
            boundary: String::new(),
            files: BTreeMap::new(),
            sources: Vec::new(),
            origins: Vec::new(),
            id_prefix: String::new(),
            replace: false,
            content: None,
            bytes: 0,
            unsent: UnsentFiles::default(),
        };
        let file = PathBuf::from("testdata/catalog.ttl");
        let (long, deep) = (format!("0/{}", "a".repeat(201)), "a/b".repeat(700));
        for name in [
            "0/a:b.nt",
            "0/a\\b.nt",
            "0/a\"b.nt",
            "0/a\nb.nt",
            long.as_str(),
            deep.as_str(),
        ] {
            let error = upload
                .add_file(name.to_owned(), file.clone())
                .expect_err("rejected");
            assert!(error.to_string().contains("rename it"), "{name}: {error}");
        }
        assert!(upload.files.is_empty());
        upload
            .add_file("0/catalog.ttl".to_owned(), file)
            .expect("added");
    }
}
