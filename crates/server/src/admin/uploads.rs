//! Uploads of datasets, catalogues and dumps: bodies of requests, received into files.

use super::edits::field_errors;
use crate::error::ApiError;
use crate::observed_body::ObservedBody;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::Frame;
use lodeseek_catalog::{CatalogReader, CatalogSource, Dataset, DatasetId, Dialect};
use lodeseek_changes::{
    Change, DatasetUpload, LoadRequest, MAX_CATALOG_FILES, MAX_SOURCES, Parser, Preconditions,
    Spool, UploadedFile, is_upload_path,
};
use lodeseek_harvest::is_address;
use lodeseek_store::ContentPlace;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// Maximum size of an uploaded description, or list of works, in bytes: 16 MiB.
const MAX_METADATA_BYTES: u64 = 16 << 20;
/// Maximum number of files of an uploaded dataset.
const MAX_FILES: usize = 100;
/// Maximum size of a text field of an upload in bytes.
const MAX_TEXT_BYTES: usize = 1 << 14;
/// Maximum size of a body with an address only.
const MAX_ADDRESS_BYTES: u64 = 1 << 15;
/// Maximum size of a description as a plain JSON object, in bytes. It is parsed in this process, with 25 times its size in memory.
const MAX_OBJECT_BYTES: usize = 1 << 22;
/// Maximum number of bytes of a form in memory. The reader takes what the connection has, so this is more than a chunk.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Permits to read descriptions.
static READS: Semaphore = Semaphore::const_new(2);

/// Receives an upload into its folder, and reads its description.
pub(super) async fn receive(
    request: Request,
    id: DatasetId,
    spool: Spool,
    parser: &Parser,
) -> Result<DatasetUpload, ApiError> {
    let media_type = content_type(request.headers().get(header::CONTENT_TYPE));
    let mut upload = DatasetUpload {
        id,
        metadata: None,
        dumps: Vec::new(),
        addresses: Vec::new(),
        networks: Arc::default(),
        conditions: Preconditions::default(),
        spool,
    };
    if media_type.as_deref() != Some("multipart/form-data") {
        let path = description_path(&upload.spool, media_type.as_deref(), None)?;
        receive_body(request.into_body(), &path).await?;
        let body = path.clone();
        let address = tokio::task::spawn_blocking(move || only_address(&body)).await;
        match address.map_err(|error| ApiError::internal(&error))?? {
            Some(address) => upload.addresses.push(address),
            None => {
                upload.metadata = Some(read_description(path, upload.id.clone(), parser).await?)
            }
        }
        return Ok(upload);
    }
    let mut form = Form::open(request).await?;
    while let Some(mut field) = form.next_field().await? {
        let media_type = content_type(field.field.headers().get(header::CONTENT_TYPE));
        let name = field.field.file_name().map(str::to_owned);
        match field.field.name() {
            Some("dump" | "url") if upload.dumps.len() + upload.addresses.len() >= MAX_FILES => {
                return Err(ApiError::bad_request(format!(
                    "an upload may have at most {MAX_FILES} files"
                )));
            }
            Some("metadata") if upload.metadata.is_some() => {
                return Err(ApiError::bad_request(
                    "there are several fields `metadata`; send one",
                ));
            }
            Some("metadata") => {
                let path = description_path(&upload.spool, media_type.as_deref(), name.as_deref())?;
                receive_field(&mut field, &path, MAX_METADATA_BYTES).await?;
                upload.metadata = Some(read_description(path, upload.id.clone(), parser).await?);
            }
            Some("dump") => {
                let name = dump_name(name.as_deref(), &upload.dumps)?;
                let path = upload.spool.path().join(&name);
                receive_field(&mut field, &path, u64::MAX).await?;
                let media_type = media_type.filter(|text| !is_generic(text));
                upload.dumps.push(UploadedFile {
                    name,
                    path,
                    media_type,
                    address: None,
                });
            }
            Some("url") => upload
                .addresses
                .push(file_address(&receive_text(&mut field).await?)?),
            other => return Err(unknown_field(other, "metadata, dump, url")),
        }
    }
    if upload.metadata.is_none() && upload.dumps.is_empty() && upload.addresses.is_empty() {
        let message = "the upload is empty; send the field `metadata`, files in fields `dump`, or addresses in fields `url`";
        return Err(ApiError::bad_request(message));
    }
    Ok(upload)
}

pub(super) fn is_form(headers: &HeaderMap) -> bool {
    content_type(headers.get(header::CONTENT_TYPE)).as_deref() == Some("multipart/form-data")
}

/// Origin of the names of the files to load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SourceNaming {
    /// Fields `source` name them: other files belong to them.
    ByFields,
    /// Each file is loaded, as a form of a browser cannot name some of them.
    EachFile,
}

/// Receives the files of catalogues and dumps into a folder.
pub(super) async fn receive_sources(
    request: Request,
    spool: Spool,
    naming: SourceNaming,
) -> Result<Change, ApiError> {
    let mut form = Form::open(request).await?;
    let (mut sources, mut origins, mut id_prefix) = (Vec::new(), Vec::new(), String::new());
    let (mut replace, mut files, mut paths) = (false, 0, Vec::new());
    let mut content = None;
    while let Some(mut field) = form.next_field().await? {
        match field.field.name() {
            Some("file") => {
                files += 1;
                if files > MAX_CATALOG_FILES {
                    return Err(ApiError::bad_request(format!(
                        "an upload may have at most {MAX_CATALOG_FILES} files"
                    )));
                }
                let name = field.field.file_name().unwrap_or_default();
                let path = create_parent_folders(spool.path(), name)?;
                receive_field(&mut field, &path, u64::MAX).await?;
                paths.push(path);
            }
            Some("source") if sources.len() < MAX_SOURCES => {
                sources.push(
                    spool
                        .path()
                        .join(relative_path(&receive_text(&mut field).await?)?),
                );
            }
            Some("source") => {
                return Err(ApiError::bad_request(format!(
                    "name 1 to {MAX_SOURCES} sources"
                )));
            }
            Some("idPrefix") => id_prefix = receive_text(&mut field).await?,
            Some("origin") if origins.len() < MAX_SOURCES => {
                origins.push(receive_text(&mut field).await?)
            }
            Some("content") => {
                let text = receive_text(&mut field).await?;
                content = match text.trim() {
                    "" => None,
                    "store" => Some(ContentPlace::Store),
                    "index-only" => Some(ContentPlace::IndexOnly),
                    other => {
                        return Err(ApiError::bad_request(format!(
                            "content: {other:?} is neither store nor index-only"
                        )));
                    }
                };
            }
            Some("replace") => {
                replace = match receive_text(&mut field).await?.trim() {
                    "true" => true,
                    "false" | "" => false,
                    other => {
                        return Err(ApiError::bad_request(format!(
                            "replace: {other:?} is neither true nor false"
                        )));
                    }
                }
            }
            other => {
                return Err(unknown_field(
                    other,
                    "file, source, origin, idPrefix, replace, content",
                ));
            }
        }
    }
    if files == 0 {
        return Err(ApiError::bad_request("send files in fields `file`"));
    }
    if naming == SourceNaming::EachFile {
        if paths.len() > MAX_SOURCES {
            return Err(ApiError::bad_request(format!(
                "at most {MAX_SOURCES} files are uploaded at once"
            )));
        }
        sources = paths;
    }
    if sources.is_empty() {
        return Err(ApiError::bad_request(
            "name the files to load in fields `source`",
        ));
    }
    Ok(Change::Load(Box::new(LoadRequest {
        sources,
        origins,
        id_prefix,
        replace,
        content,
        dumps: None,
        spool: Some(spool),
    })))
}

/// Returns the path of an uploaded file, which cannot leave its folder.
fn relative_path(name: &str) -> Result<PathBuf, ApiError> {
    if !is_upload_path(name) {
        let message =
            format!("{name:?} is no relative path of a file; use a name such as dumps/trees.nt");
        return Err(ApiError::bad_request(message));
    }
    Ok(name.split('/').collect())
}

/// Returns the path of an uploaded file, whose folder it creates.
///
/// # Errors
/// Status 400 if the name is no relative path, or the path of an earlier file or of its folder.
fn create_parent_folders(folder: &Path, name: &str) -> Result<PathBuf, ApiError> {
    let path = folder.join(relative_path(name)?);
    // The file system decides, because some compare names without case.
    if path.exists() {
        return Err(occupied_path(name));
    }
    let Some(parent) = path.parent() else {
        return Ok(path);
    };
    match fs::create_dir_all(parent) {
        Ok(()) => Ok(path),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(occupied_path(name))
        }
        Err(error) => Err(ApiError::of_file(&error)),
    }
}

fn occupied_path(name: &str) -> ApiError {
    ApiError::bad_request(format!(
        "file: the path {name:?} is that of another file of the upload, or lies in one; send each file once, with a path of its own"
    ))
}

async fn receive_text(field: &mut FormField<'_>) -> Result<String, ApiError> {
    let mut text = Vec::new();
    while let Some(chunk) = field.chunk().await? {
        text.extend_from_slice(&chunk);
        if text.len() > MAX_TEXT_BYTES {
            return Err(ApiError::bad_request(format!(
                "a text field has more than {MAX_TEXT_BYTES} bytes"
            )));
        }
    }
    String::from_utf8(text).map_err(|_| ApiError::bad_request("a text field is not in UTF-8"))
}

/// A form that is being received.
struct Form {
    fields: Multipart,
    unread: Unread,
}

/// Number of bytes received since the last field or chunk of a field was read: the reader of forms holds them in memory.
type Unread = Arc<AtomicUsize>;

impl Form {
    async fn open(request: Request) -> Result<Self, ApiError> {
        let unread = Unread::default();
        let count = Arc::clone(&unread);
        let request = request.map(|body| {
            // More is unread if, for example, the boundary does not occur.
            ObservedBody::wrap(body, move |frame: &Frame<Bytes>| {
                let received = match frame.data_ref() {
                    Some(data) => data.len(),
                    None => 0,
                };
                let unread = count.fetch_add(received, Ordering::Relaxed) + received;
                if unread <= MAX_UNREAD_BYTES {
                    Ok(())
                } else {
                    Err(axum::Error::new("too many unread bytes"))
                }
            })
        });
        let fields = Multipart::from_request(request, &()).await;
        Ok(Self {
            fields: fields.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?,
            unread,
        })
    }

    async fn next_field(&mut self) -> Result<Option<FormField<'_>>, ApiError> {
        let field = self
            .fields
            .next_field()
            .await
            .map_err(|error| form_error(&error, &self.unread))?;
        self.unread.store(0, Ordering::Relaxed);
        Ok(field.map(|field| FormField {
            field,
            unread: &self.unread,
        }))
    }
}

/// A field of a form.
struct FormField<'f> {
    field: Field<'f>,
    unread: &'f Unread,
}

impl FormField<'_> {
    async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        let chunk = self
            .field
            .chunk()
            .await
            .map_err(|error| form_error(&error, self.unread))?;
        self.unread.store(0, Ordering::Relaxed);
        Ok(chunk)
    }
}

fn form_error(error: &MultipartError, unread: &Unread) -> ApiError {
    // The reader reports the aborted body; this is its cause.
    if unread.load(Ordering::Relaxed) > MAX_UNREAD_BYTES {
        return ApiError::bad_request("the form has no part with the declared boundary");
    }
    ApiError::with_status(error.status(), error.body_text())
}

fn unknown_field(name: Option<&str>, supported: &str) -> ApiError {
    ApiError::bad_request(format!(
        "unknown field {:?}; supported fields: {supported}",
        name.unwrap_or_default()
    ))
}

/// Returns an address of a file to download.
fn file_address(text: &str) -> Result<String, ApiError> {
    let text = text.trim();
    if is_address(text) && !text.contains(char::is_control) {
        return Ok(text.to_owned());
    }
    Err(ApiError::bad_request(format!(
        "url: {text:?} is no http or https address"
    )))
}

/// Returns the address of a body `{"url": ADDRESS}`, which has no other key.
fn only_address(path: &Path) -> Result<Option<String>, ApiError> {
    let bytes = fs::metadata(path)
        .map_err(|error| ApiError::internal(&error))?
        .len();
    if bytes > MAX_ADDRESS_BYTES {
        return Ok(None);
    }
    let text = fs::read(path).map_err(|error| ApiError::internal(&error))?;
    let Ok(Value::Object(object)) = serde_json::from_slice(&text) else {
        return Ok(None);
    };
    match object.get("url") {
        Some(Value::String(address)) if object.len() == 1 => file_address(address).map(Some),
        _ => Ok(None),
    }
}

fn content_type(value: Option<&HeaderValue>) -> Option<String> {
    let text = value?.to_str().ok()?;
    Some(
        text.split(';')
            .next()
            .unwrap_or(text)
            .trim()
            .to_ascii_lowercase(),
    )
}

/// Returns true for media types that tools send for any file.
fn is_generic(media_type: &str) -> bool {
    matches!(media_type, "application/octet-stream" | "text/plain")
}

/// Returns the path of the description. Its suffix states the syntax; the reader looks at the content as well.
fn description_path(
    spool: &Spool,
    media_type: Option<&str>,
    name: Option<&str>,
) -> Result<PathBuf, ApiError> {
    let suffix = match media_type {
        Some("text/turtle") => "ttl",
        Some("application/ld+json") => "jsonld",
        Some("application/json") => "json",
        Some("application/n-triples") => "nt",
        Some("application/rdf+xml") => "rdf",
        _ => match name.and_then(|name| name.rsplit_once('.')) {
            Some((_, suffix)) => suffix,
            None => "json",
        },
    };
    let suffix: String = suffix
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(10)
        .collect();
    // A folder of its own: an uploaded file may have any name.
    let folder = spool.path().join(".description");
    fs::create_dir_all(&folder).map_err(|error| ApiError::of_file(&error))?;
    Ok(folder.join(format!("metadata.{suffix}")))
}

/// Returns the name of an uploaded file, which becomes the name of a distribution.
fn dump_name(name: Option<&str>, others: &[UploadedFile]) -> Result<String, ApiError> {
    let name = name
        .unwrap_or_default()
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .trim();
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= 200
        && !name.contains(char::is_control);
    if !is_plain {
        return Err(ApiError::bad_request(
            "a dump has no usable file name; add one, for example filename=\"trees.ttl\"",
        ));
    }
    if others.iter().any(|other| other.name == name) {
        return Err(ApiError::bad_request(format!(
            "there are two dumps with the name {name}"
        )));
    }
    Ok(name.to_owned())
}

async fn receive_field(field: &mut FormField<'_>, path: &Path, most: u64) -> Result<(), ApiError> {
    let mut file = Receiver::create(path, most)?;
    while let Some(chunk) = field.chunk().await? {
        file.write(&chunk)?;
    }
    Ok(())
}

/// Receives a body that is a description or a list of works.
pub(super) async fn receive_body(body: Body, path: &Path) -> Result<(), ApiError> {
    let mut body = Box::pin(body);
    let mut file = Receiver::create(path, MAX_METADATA_BYTES)?;
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await
    {
        let frame = frame
            .map_err(|error| ApiError::bad_request(format!("the body cannot be read: {error}")))?;
        if let Some(chunk) = frame.data_ref() {
            file.write(chunk)?;
        }
    }
    Ok(())
}

/// A file that is being received.
struct Receiver {
    file: File,
    left: u64,
    most: u64,
}

impl Receiver {
    fn create(path: &Path, most: u64) -> Result<Self, ApiError> {
        let file = File::create(path).map_err(|error| ApiError::of_file(&error))?;
        Ok(Self {
            file,
            left: most,
            most,
        })
    }

    /// Writes a chunk. It goes to the page cache, so the async thread is not blocked for long.
    fn write(&mut self, chunk: &[u8]) -> Result<(), ApiError> {
        let Some(left) = self.left.checked_sub(chunk.len() as u64) else {
            let message = format!(
                "a description or a list of works may have at most {} bytes",
                self.most
            );
            return Err(ApiError::with_status(
                StatusCode::PAYLOAD_TOO_LARGE,
                message,
            ));
        };
        self.left = left;
        self.file
            .write_all(chunk)
            .map_err(|error| ApiError::of_file(&error))
    }
}

/// Reads the description of one dataset, off the async threads.
async fn read_description(
    path: PathBuf,
    id: DatasetId,
    parser: &Parser,
) -> Result<Dataset, ApiError> {
    let reader = parser.catalogs();
    // Descriptions need much memory while they are parsed.
    let _permit = READS
        .acquire()
        .await
        .map_err(|error| ApiError::internal(&error))?;
    let read =
        tokio::task::spawn_blocking(move || parse_description(path, id, reader.as_ref())).await;
    read.map_err(|error| ApiError::internal(&error))?
}

fn parse_description(
    path: PathBuf,
    id: DatasetId,
    reader: &dyn CatalogReader,
) -> Result<Dataset, ApiError> {
    let text = fs::read(&path).map_err(|error| ApiError::internal(&error))?;
    if text.len() <= MAX_OBJECT_BYTES
        && let Some(object) = plain_object(&text)
    {
        return lodeseek_catalog::read_description(&object, &id)
            .map_err(|errors| field_errors(&errors));
    }
    read_catalog(path, id, reader)
        .map_err(|reason| ApiError::bad_request(format!("metadata: {reason}")))
}

/// Reads a description in a form that `load` reads.
fn read_catalog(
    path: PathBuf,
    id: DatasetId,
    reader: &dyn CatalogReader,
) -> Result<Dataset, String> {
    let name = path.display().to_string();
    let catalog = reader
        .read(&CatalogSource::Local { path })
        .map_err(|error| hide_path(&error, &name))?;
    if catalog.dialect == Dialect::Dump {
        return Err(
            "it describes no dataset; use DCAT, schema.org, or a JSON object with a title"
                .to_owned(),
        );
    }
    let count = catalog.datasets.len();
    match (catalog.datasets.into_iter().next(), count) {
        (Some(mut dataset), 1) => {
            dataset.set_id(id);
            Ok(dataset)
        }
        (None, _) => match catalog.problems.first() {
            Some(problem) => Err(hide_path(problem, &name)),
            None => Err("it describes no dataset".to_owned()),
        },
        (Some(_), count) => Err(format!("it describes {count} datasets; send one")),
    }
}

/// Formats an error without the path of the upload, which is no concern of its sender.
fn hide_path(error: &dyn std::fmt::Display, path: &str) -> String {
    error.to_string().replace(path, "the description")
}

/// Returns a JSON object that is of no dialect of catalogues. It has the keys of descriptions.
fn plain_object(text: &[u8]) -> Option<Map<String, Value>> {
    let Value::Object(object) = serde_json::from_slice(text).ok()? else {
        return None;
    };
    let has_dialect = object.keys().any(|key| {
        key.starts_with('@') || key.contains("://") || DIALECT_KEYS.contains(&key.as_str())
    });
    (!has_dialect).then_some(object)
}

/// Keys of descriptions in the dialects of portals.
const DIALECT_KEYS: [&str; 6] = [
    "dataset",
    "datasets",
    "distribution",
    "resources",
    "result",
    "ontologies",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_their_folder() {
        assert_eq!(
            dump_name(Some("../../etc/trees.ttl"), &[]).expect("a name"),
            "trees.ttl"
        );
        assert_eq!(
            dump_name(Some("C:\\data\\trees.ttl"), &[]).expect("a name"),
            "trees.ttl"
        );
        for wrong in ["", "..", ".hidden", "a/", "a\nb"] {
            assert!(dump_name(Some(wrong), &[]).is_err(), "{wrong:?}");
        }
        assert!(dump_name(None, &[]).is_err());
    }

    #[test]
    fn paths_of_uploads_stay_in_their_folder() {
        assert_eq!(
            relative_path("0/dumps/trees.nt").expect("a path"),
            Path::new("0/dumps/trees.nt")
        );
        assert!(relative_path("a/../b").is_err());
    }

    #[test]
    fn two_files_of_an_upload_have_different_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["dumps/trees.nt", "trees.nt"] {
            let path = create_parent_folders(folder.path(), name).expect("a new path");
            fs::write(path, name).expect("written");
        }
        for name in [
            "dumps/trees.nt",
            "trees.nt",
            "dumps",
            "trees.nt/a/b.nt",
            "trees.nt/b.nt",
        ] {
            let error = create_parent_folders(folder.path(), name).expect_err("an occupied path");
            assert_eq!(error.status, StatusCode::BAD_REQUEST, "{name}");
            assert!(
                error.message.contains(&format!("{name:?}")),
                "{}",
                error.message
            );
        }
    }
}
