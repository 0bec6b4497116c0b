//! Upload of catalogues and dumps with the files that they describe, as `multipart/form-data`.

use anyhow::{Context, bail};
use lodeseek_catalog::{Catalog, Location};
use lodeseek_changes::{MAX_CATALOG_FILES, MAX_SOURCES, MAX_UPLOAD_BYTES, is_upload_path};
use lodeseek_store::ContentPlace;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};

/// Maximum depth of nested folders, as `load` reads them.
const MAX_FOLDER_DEPTH: usize = 64;
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
            return self.add_folder(&name, &path, &path, 0);
        }
        self.add_file(name, path.clone())?;
        // Files that are missing here are missing there, and reported.
        for distribution in catalog
            .datasets
            .iter()
            .flat_map(|dataset| &dataset.distributions)
        {
            let Location::File(place) = &distribution.location else {
                continue;
            };
            let is_inside = Path::new(place)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let file = catalog.folder.join(place);
            if distribution.copy.is_none() && is_inside && file.is_file() {
                let parts: Vec<&str> = place
                    .split('/')
                    .filter(|part| !matches!(*part, "" | "."))
                    .collect();
                self.add_file(format!("{number}/{}", parts.join("/")), file)?;
            }
        }
        Ok(())
    }

    /// Adds the files that `load` reads in a folder: no hidden ones, and no links out of it.
    fn add_folder(
        &mut self,
        name: &str,
        root: &Path,
        folder: &Path,
        depth: usize,
    ) -> anyhow::Result<()> {
        if depth > MAX_FOLDER_DEPTH {
            return Ok(());
        }
        for entry in fs::read_dir(folder).with_context(|| read_failure(folder))? {
            let entry = entry.with_context(|| read_failure(folder))?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let is_inside = path.canonicalize().is_ok_and(|path| path.starts_with(root));
            if own.starts_with('.') || !is_inside {
                continue;
            }
            let name = format!("{name}/{own}");
            if path.is_dir() {
                self.add_folder(&name, root, &path, depth + 1)?;
            } else {
                self.add_file(name, path)?;
            }
        }
        Ok(())
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
            fs::write(
                folder.path().join(name),
                "<http://e.org/a> <http://e.org/p> \"x\" .\n",
            )
            .expect("written");
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
