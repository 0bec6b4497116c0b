//! Compressions and archives: detected by their magic bytes, decompressed within limits.

use super::beginning::read_beginning;
use super::{FileReport, Limits, ReadContext, Refusal};
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder, StreamingDecoder};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// Maximum memory of the xz and zstd decoders in bytes, which their headers request.
const MAX_DECODER_BYTES: u64 = 128 << 20;
/// Length of a tar header, which is needed to detect an archive.
const TAR_HEADER_BYTES: usize = 512;
/// Maximum number of bytes read of an archive member's extended header, for its name.
const MAX_TAR_NAME_BYTES: u64 = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Zip,
    Tar,
}

impl Layer {
    fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // `BZh1` alone may begin a text. The digits of pi that follow begin a block.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // An archive without members begins with its end record (5, 6).
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(Self::Zip),
            _ => (head.get(257..262) == Some(b"ustar")).then_some(Self::Tar),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Zip => "zip",
            Self::Tar => "tar",
        }
    }

    fn is_archive(self) -> bool {
        matches!(self, Self::Zip | Self::Tar)
    }
}

/// Counters of decompressed and compressed bytes of one file.
///
/// The ratio is checked while reading, so a bomb is detected at its first block, also inside a large file.
struct DecompressionBudget {
    produced: Cell<u64>,
    consumed: Cell<u64>,
    limits: Limits,
}

impl DecompressionBudget {
    fn spend(&self, bytes: usize) -> io::Result<()> {
        let produced = self.produced.get() + bytes as u64;
        self.produced.set(produced);
        let (compressed, limit) = (self.consumed.get().max(1), self.limits.compression_ratio);
        if produced > Limits::RATIO_FREE_BYTES && produced / compressed > limit {
            return Err(Refusal::CompressionRatio {
                produced,
                compressed,
                limit,
            }
            .into());
        }
        if produced > self.limits.decompressed_bytes {
            return Err(Refusal::DecompressedSize {
                limit: self.limits.decompressed_bytes,
            }
            .into());
        }
        Ok(())
    }
}

/// Compressed input that counts the bytes read.
struct CompressedInput<R> {
    inner: R,
    budget: Rc<DecompressionBudget>,
}

impl<R: Read> Read for CompressedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.budget
            .consumed
            .set(self.budget.consumed.get() + read as u64);
        Ok(read)
    }
}

/// Decompressed output that counts bytes against the limits.
struct DecompressedOutput<R> {
    inner: R,
    budget: Rc<DecompressionBudget>,
}

impl<R: Read> Read for DecompressedOutput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.budget.spend(read)?;
        Ok(read)
    }
}

/// An empty last block of a Zstandard frame, and a checksum, which the decoder does not verify.
const ZSTD_FRAME_END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Decoder of consecutive Zstandard frames. The decoder of the library stops after the first frame. At an error, it keeps back the last
/// window of decoded bytes, which may be the whole content: they are returned before the error.
struct ZstdFrames<R: Read> {
    decoder: Option<StreamingDecoder<BufReader<R>, FrameDecoder>>,
    source: Option<BufReader<R>>,
    /// Error that ended the frame.
    failure: Option<io::Error>,
}

impl<R: Read> ZstdFrames<R> {
    fn new(source: R) -> Self {
        Self {
            decoder: None,
            source: Some(BufReader::new(source)),
            failure: None,
        }
    }

    /// Reads from the current frame. Returns 0 bytes at its end, and at an error after which nothing is left.
    fn read_frame(&mut self, buffer: &mut [u8]) -> usize {
        let Some(decoder) = &mut self.decoder else {
            return 0;
        };
        match decoder.read(buffer) {
            Ok(read) => read,
            Err(error) => {
                self.failure = Some(error);
                // The end of a frame releases the bytes of the window.
                let ended = decoder
                    .decoder
                    .decode_blocks(&ZSTD_FRAME_END[..], BlockDecodingStrategy::All);
                match ended {
                    Ok(_) => decoder.read(buffer).unwrap_or(0),
                    Err(_) => 0,
                }
            }
        }
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.read_frame(buffer);
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if let Some(error) = self.failure.take() {
                self.decoder = None;
                return Err(error);
            }
            if let Some(decoder) = self.decoder.take() {
                self.source = Some(decoder.into_inner());
            }
            let Some(mut source) = self.source.take() else {
                return Ok(0);
            };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let decoder = StreamingDecoder::new_with_max_window_size(source, MAX_DECODER_BYTES);
            self.decoder = Some(decoder.map_err(io::Error::other)?);
        }
    }
}

/// Decoder of xz. That of the library which is a reader drops the bytes that it has decoded before an error.
struct XzDecoder<R: Read> {
    stream: XzStream,
    source: BufReader<R>,
    /// Error that ended the stream.
    failure: Option<io::Error>,
    has_ended: bool,
}

impl<R: Read> XzDecoder<R> {
    fn new(source: R) -> Self {
        Self {
            stream: XzStream::new_mem_limit(true, (MAX_DECODER_BYTES / 1024) as u32),
            source: BufReader::new(source),
            failure: None,
            has_ended: false,
        }
    }

    /// Decodes from the source into the buffer, which is not empty. Returns the number of bytes decoded, also before an error.
    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = self.source.fill_buf()?;
        let action = if input.is_empty() {
            Action::Finish
        } else {
            Action::Run
        };
        let (before_in, before_out) = (self.stream.total_in(), self.stream.total_out());
        let result = self.stream.process(input, buffer, action);
        // The totals also count what a call has decoded before its error.
        let consumed = (self.stream.total_in() - before_in) as usize;
        let produced = (self.stream.total_out() - before_out) as usize;
        self.source.consume(consumed);
        match result {
            Ok(result) => {
                self.has_ended = result.status == Status::StreamEnd;
                if consumed == 0 && produced == 0 && !self.has_ended {
                    self.failure = Some(io::Error::other("the xz stream cannot be decoded"));
                }
            }
            Err(error) => self.failure = Some(error),
        }
        Ok(produced)
    }
}

impl<R: Read> Read for XzDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(error) = self.failure.take() {
                self.has_ended = true;
                return Err(error);
            }
            if self.has_ended {
                return Ok(0);
            }
            let decoded = self.decode(buffer)?;
            if decoded > 0 {
                return Ok(decoded);
            }
        }
    }
}

/// Returns the first bytes of a reader, and a reader that starts with these bytes again.
fn peek<'r>(reader: impl Read + 'r, max_bytes: usize) -> io::Result<(Vec<u8>, Box<dyn Read + 'r>)> {
    let beginning = read_beginning(reader, max_bytes)?;
    Ok((beginning.bytes, beginning.reader))
}

fn open_decoder<'r>(
    layer: Layer,
    reader: Box<dyn Read + 'r>,
    budget: &Rc<DecompressionBudget>,
) -> Box<dyn Read + 'r> {
    match layer {
        Layer::Gzip => limit_output(flate2::read::MultiGzDecoder::new(reader), budget),
        Layer::Bzip2 => limit_output(bzip2::read::MultiBzDecoder::new(reader), budget),
        Layer::Xz => limit_output(XzDecoder::new(reader), budget),
        Layer::Zstd => limit_output(ZstdFrames::new(reader), budget),
        Layer::Zip | Layer::Tar => reader,
    }
}

fn limit_output<'r>(inner: impl Read + 'r, budget: &Rc<DecompressionBudget>) -> Box<dyn Read + 'r> {
    Box::new(DecompressedOutput {
        inner,
        budget: Rc::clone(budget),
    })
}

/// Opens a file of any format, such as a JSON catalogue, and decompresses it within the limits of dumps.
///
/// Archives are returned unchanged.
pub fn open(path: &Path, limits: &Limits) -> io::Result<Box<dyn Read>> {
    let budget = new_budget(limits);
    let file = CompressedInput {
        inner: File::open(path)?,
        budget: Rc::clone(&budget),
    };
    let (head, reader) = peek(file, TAR_HEADER_BYTES)?;
    Ok(
        match Layer::detect(&head).filter(|layer| !layer.is_archive()) {
            Some(compression) => open_decoder(compression, reader, &budget),
            None => reader,
        },
    )
}

/// Extracts the files of a zip or tar archive, which may be compressed, into a folder. Links and devices are left out.
///
/// Of the limits, that of the compression ratio applies. Returns a message for each member that was not extracted.
///
/// # Errors
/// If the file is no archive, cannot be read to its end, or the disk is full.
pub fn extract(archive: &Path, folder: &Path, limits: &Limits) -> io::Result<Vec<String>> {
    let limits = Limits {
        decompressed_bytes: u64::MAX,
        ..limits.clone()
    };
    let mut extraction = Extraction {
        archive,
        folder,
        problems: Vec::new(),
    };
    let (head, _) = peek(File::open(archive)?, TAR_HEADER_BYTES)?;
    if Layer::detect(&head) == Some(Layer::Zip) {
        each_zip_file(
            File::open(archive)?,
            usize::MAX,
            &new_budget(&limits),
            |content, member| extraction.extract_member(content, member),
        )?;
    } else {
        let (head, reader) = peek(open(archive, &limits)?, TAR_HEADER_BYTES)?;
        if Layer::detect(&head) != Some(Layer::Tar) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file is no zip or tar archive",
            ));
        }
        each_tar_file(reader, usize::MAX, |content, member| {
            extraction.extract_member(Ok(content), member)
        })?;
    }
    Ok(extraction.problems)
}

/// Extraction of an archive into a folder, with a message for each member that was not extracted.
struct Extraction<'a> {
    archive: &'a Path,
    folder: &'a Path,
    problems: Vec<String>,
}

impl Extraction<'_> {
    fn extract_member(
        &mut self,
        content: io::Result<Box<dyn Read + '_>>,
        member: &str,
    ) -> io::Result<()> {
        let extracted = content.and_then(|content| {
            // A member with such a name would be written outside of the folder.
            if leads_outside(member) {
                return Err(Refusal::MemberPath {
                    name: member.to_owned(),
                }
                .into());
            }
            write_member(content, &self.folder.join(member))
        });
        match extracted {
            // All further members would fail as well.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                ) =>
            {
                Err(error)
            }
            Err(error) => {
                self.problems.push(format!(
                    "{}!{member}: {error}; it was not extracted",
                    self.archive.display()
                ));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

/// Writes a member of an archive to a file. If the member cannot be read to its end, no file remains.
fn write_member(mut content: impl Read, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(path)?;
    if let Err(error) = io::copy(&mut content, &mut file) {
        fs::remove_file(path)?;
        return Err(error);
    }
    Ok(())
}

pub(super) fn read_file<'a>(
    path: &'a Path,
    name: &str,
    context: &mut ReadContext<'a>,
) -> Vec<FileReport> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return vec![FileReport::unreadable(name, error)],
    };
    if !metadata.is_file() {
        return vec![FileReport::unreadable(name, "not a file")];
    }
    let budget = new_budget(context.limits);
    context.path = Some(path);
    let result = unpack_file(file, name, &budget, context);
    finish_reports(result, name, context)
}

/// Returns the reports. An error of the whole file, or an archive without documents, gets its own report.
fn finish_reports(
    result: io::Result<()>,
    name: &str,
    context: &mut ReadContext<'_>,
) -> Vec<FileReport> {
    if let Err(error) = result {
        push_error(name, &error, context);
    } else if context.reports.is_empty() {
        push_error(
            name,
            &Refusal::NotRdf {
                reason: "no member of the archive looks like RDF".to_owned(),
            }
            .into(),
            context,
        );
    }
    std::mem::take(&mut context.reports)
}

pub(super) fn read_stream(
    reader: impl Read,
    name: &str,
    context: &mut ReadContext<'_>,
) -> Vec<FileReport> {
    let budget = new_budget(context.limits);
    let reader = CompressedInput {
        inner: reader,
        budget: Rc::clone(&budget),
    };
    let result = unpack(Box::new(reader), name, Vec::new(), &budget, context);
    finish_reports(result, name, context)
}

fn new_budget(limits: &Limits) -> Rc<DecompressionBudget> {
    Rc::new(DecompressionBudget {
        produced: Cell::new(0),
        consumed: Cell::new(0),
        limits: limits.clone(),
    })
}

fn push_error(name: &str, error: &io::Error, context: &mut ReadContext<'_>) {
    let mut report = FileReport::new(name);
    super::record_error(&mut report, error);
    context.reports.push(report);
}

fn unpack_file(
    file: File,
    name: &str,
    budget: &Rc<DecompressionBudget>,
    context: &mut ReadContext<'_>,
) -> io::Result<()> {
    let (head, _) = peek(&file, 4)?;
    io::Seek::rewind(&mut &file)?;
    // The directory of a zip archive is at its end, so it needs a file rather than a stream.
    if Layer::detect(&head) == Some(Layer::Zip) {
        if is_office_document(&file) {
            if context.tables.is_none() {
                return Err(Refusal::NotRdf {
                    reason: "a document of an office program, not an archive of dumps".to_owned(),
                }
                .into());
            }
            io::Seek::rewind(&mut &file)?;
            context.document(Box::new(file), name, Vec::new());
            return Ok(());
        }
        io::Seek::rewind(&mut &file)?;
        return zip_members(file, name, budget, context);
    }
    let file = CompressedInput {
        inner: file,
        budget: Rc::clone(budget),
    };
    unpack(Box::new(file), name, Vec::new(), budget, context)
}

/// Decompresses and unpacks `reader`, and reads the documents inside.
fn unpack(
    reader: Box<dyn Read + '_>,
    name: &str,
    mut layers: Vec<Layer>,
    budget: &Rc<DecompressionBudget>,
    context: &mut ReadContext<'_>,
) -> io::Result<()> {
    let (head, reader) = peek(reader, TAR_HEADER_BYTES)?;
    let Some(layer) = Layer::detect(&head) else {
        let names = layers.iter().map(|layer| layer.name().into()).collect();
        context.document(reader, name, names);
        return Ok(());
    };
    // A workbook in an archive is one document, although it is a zip file.
    let is_workbook = layer == Layer::Zip && context.tables.is_some() && is_workbook_name(name);
    if let Some(&outer) = layers
        .iter()
        .rev()
        .filter(|_| !is_workbook)
        .find(|outer| is_forbidden_nesting(**outer, layer, &layers))
    {
        return Err(Refusal::Nested {
            outer: outer.name(),
            inner: layer.name(),
        }
        .into());
    }
    layers.push(layer);
    match layer {
        Layer::Tar => tar_members(reader, name, &layers, budget, context),
        // The directory of a zip archive is at its end, so it cannot be read from a stream.
        Layer::Zip if context.tables.is_some() && is_workbook_name(name) => {
            layers.pop();
            let names = layers.iter().map(|layer| layer.name().into()).collect();
            context.document(reader, name, names);
            Ok(())
        }
        Layer::Zip => {
            let outer = match layers.iter().rev().nth(1) {
                Some(outer) => outer.name(),
                None => "a stream",
            };
            Err(Refusal::Nested {
                outer,
                inner: "zip",
            }
            .into())
        }
        compression => unpack(
            open_decoder(compression, reader, budget),
            name,
            layers,
            budget,
            context,
        ),
    }
}

/// Returns true for a zip file that is one document: of Microsoft Office (OOXML) or LibreOffice (ODF).
fn is_office_document(file: &File) -> bool {
    let Ok(mut archive) = zip::ZipArchive::new(BufReader::new(file)) else {
        return false;
    };
    if archive.index_for_name("[Content_Types].xml").is_some() {
        return true;
    }
    let Ok(entry) = archive.by_name("mimetype") else {
        return false;
    };
    let mut media_type = Vec::new();
    let read = entry.take(100).read_to_end(&mut media_type);
    read.is_ok() && media_type.starts_with(b"application/vnd.oasis.opendocument")
}

/// Returns true for the names of workbooks that are zip files.
fn is_workbook_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    [".xlsx", ".xlsm", ".xlsb", ".ods"]
        .iter()
        .any(|suffix| lower.ends_with(suffix))
}

/// Returns true for an archive in an archive, a compression directly in a compression, and a third layer.
fn is_forbidden_nesting(outer: Layer, inner: Layer, layers: &[Layer]) -> bool {
    if inner.is_archive() {
        return outer.is_archive();
    }
    !outer.is_archive() && (layers.last() == Some(&outer) || layers.len() >= 2)
}

fn tar_members(
    reader: Box<dyn Read + '_>,
    name: &str,
    layers: &[Layer],
    budget: &Rc<DecompressionBudget>,
    context: &mut ReadContext<'_>,
) -> io::Result<()> {
    each_tar_file(reader, context.limits.archive_members, |entry, member| {
        member_document(entry, name, member, layers, budget, context);
        Ok(())
    })
}

/// Calls `each` with the content and the name of every file of a tar archive. Folders, links and devices are left out.
fn each_tar_file(
    reader: impl Read,
    limit: usize,
    mut each: impl FnMut(Box<dyn Read + '_>, &str) -> io::Result<()>,
) -> io::Result<()> {
    let mut archive = tar::Archive::new(reader);
    let mut long_name = None;
    // Raw mode: otherwise the library reads names of any length, and the holes of sparse files as zeros.
    for (count, entry) in archive.entries()?.raw(true).enumerate() {
        // Folders and links count as well: an archive may consist of them.
        if count >= limit {
            return Err(Refusal::MemberCount { limit }.into());
        }
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let mut bytes = Vec::new();
            (&mut entry)
                .take(MAX_TAR_NAME_BYTES)
                .read_to_end(&mut bytes)?;
            long_name = if kind.is_gnu_longname() {
                bytes.split(|&byte| byte == 0).next().map(decode_lossy)
            } else {
                pax_path(&bytes)
            };
            continue;
        }
        let member = long_name
            .take()
            .unwrap_or_else(|| decode_lossy(&entry.path_bytes()));
        if kind.is_file() {
            each(Box::new(entry), &member)?;
        }
    }
    Ok(())
}

fn decode_lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the path in a POSIX extended header, which consists of records `length key=value\n`.
fn pax_path(records: &[u8]) -> Option<String> {
    records.split(|&byte| byte == b'\n').find_map(|record| {
        let start = memchr::memchr(b' ', record)? + 1;
        record[start..].strip_prefix(b"path=").map(decode_lossy)
    })
}

fn zip_members(
    file: File,
    name: &str,
    budget: &Rc<DecompressionBudget>,
    context: &mut ReadContext<'_>,
) -> io::Result<()> {
    each_zip_file(
        file,
        context.limits.archive_members,
        budget,
        |entry, member| {
            match entry {
                Ok(entry) => member_document(entry, name, member, &[Layer::Zip], budget, context),
                Err(error) => push_error(name, &error, context),
            }
            Ok(())
        },
    )
}

/// Calls `each` with the content and the name of every file of a zip archive, or with the error of a member that cannot be opened.
/// Folders and links are left out.
///
/// # Errors
/// If the archive is over a limit, or its directory cannot be read. The members before the place where the file breaks off are read
/// nevertheless.
fn each_zip_file(
    file: File,
    limit: usize,
    budget: &Rc<DecompressionBudget>,
    mut each: impl FnMut(io::Result<Box<dyn Read + '_>>, &str) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes_left = file.metadata()?.len();
    let mut archive = match zip::ZipArchive::new(BufReader::new(&file)) {
        Ok(archive) => archive,
        Err(error) => {
            each_member_before_break(&file, limit, budget, each)?;
            let reason = "the directory at the end of the archive cannot be read";
            return Err(io::Error::other(format!(
                "{reason} ({error}): the file may be truncated"
            )));
        }
    };
    if archive.len() > limit {
        return Err(Refusal::MemberCount { limit }.into());
    }
    for index in 0..archive.len() {
        let entry = match archive.by_index(index) {
            Ok(entry) => entry,
            // The library has no kind of error for it, and the text may begin with a capital letter.
            Err(zip::result::ZipError::UnsupportedArchive(reason))
                if reason.contains("assword") =>
            {
                each(Err(Refusal::Encrypted.into()), "")?;
                continue;
            }
            Err(error) => {
                each(Err(io::Error::other(error)), "")?;
                continue;
            }
        };
        // The members of a zip bomb share their bytes (D. Fifield, *A better zip bomb*, WOOT 2019).
        bytes_left = bytes_left
            .checked_sub(entry.compressed_size())
            .ok_or(Refusal::OverlappingMembers)?;
        if entry.is_dir() || entry.is_symlink() {
            continue;
        }
        // The library decodes names without the mark of UTF-8 as CP437, but many programs do not set the mark.
        let member = String::from_utf8_lossy(entry.name_raw()).into_owned();
        // The library reads the file itself, so compressed bytes are counted here.
        budget
            .consumed
            .set(budget.consumed.get() + entry.compressed_size());
        each(
            Ok(Box::new(DecompressedOutput {
                inner: entry,
                budget: Rc::clone(budget),
            })),
            &member,
        )?;
    }
    Ok(())
}

/// Calls `each` with the content and the name of the files of a zip archive whose directory is missing, in the order of the file. Ends
/// where no further member begins, or its length is not stated before its content.
fn each_member_before_break(
    mut file: &File,
    limit: usize,
    budget: &Rc<DecompressionBudget>,
    mut each: impl FnMut(io::Result<Box<dyn Read + '_>>, &str) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes_left = file.metadata()?.len();
    io::Seek::rewind(&mut file)?;
    let mut reader = BufReader::new(file);
    let mut count = 0;
    while let Ok(Some(entry)) = zip::read::read_zipfile_from_stream(&mut reader) {
        if count >= limit {
            return Err(Refusal::MemberCount { limit }.into());
        }
        count += 1;
        // The header may state any length. What is not in the file is no compressed content.
        let compressed = entry.compressed_size().min(bytes_left);
        bytes_left -= compressed;
        if entry.is_dir() {
            continue;
        }
        let member = String::from_utf8_lossy(entry.name_raw()).into_owned();
        budget.consumed.set(budget.consumed.get() + compressed);
        each(
            Ok(Box::new(DecompressedOutput {
                inner: entry,
                budget: Rc::clone(budget),
            })),
            &member,
        )?;
    }
    Ok(())
}

/// Reads one member of an archive.
///
/// Its errors do not affect other members, but the decompression limits apply to all members together.
fn member_document(
    reader: Box<dyn Read + '_>,
    archive: &str,
    member: &str,
    layers: &[Layer],
    budget: &Rc<DecompressionBudget>,
    context: &mut ReadContext<'_>,
) {
    let name = format!("{archive}!{member}");
    if leads_outside(member) {
        push_error(
            &name,
            &Refusal::MemberPath {
                name: member.to_owned(),
            }
            .into(),
            context,
        );
        return;
    }
    if is_side_file(member, context.tables.is_some()) {
        return;
    }
    context.member = Some(member.to_owned());
    if let Err(error) = unpack(reader, &name, layers.to_vec(), budget, context) {
        push_error(&name, &error, context);
    }
    context.member = None;
}

fn leads_outside(member: &str) -> bool {
    member.starts_with(['/', '\\'])
        // `C:` begins an absolute path of Windows.
        || member.contains(':')
        || member.split(['/', '\\']).any(|part| part == "..")
}

/// Returns true for members that are not RDF by their name, such as a readme. Tables are read if there is a reader of them.
fn is_side_file(member: &str, reads_tables: bool) -> bool {
    let file = member
        .rsplit('/')
        .next()
        .unwrap_or(member)
        .to_ascii_lowercase();
    let suffix = match file.rsplit_once('.') {
        Some((_, suffix)) => suffix,
        None => "",
    };
    file.starts_with('.')
        || member.starts_with("__MACOSX/")
        || matches!(
            file.as_str(),
            "readme" | "license" | "licence" | "changelog" | "makefile"
        )
        || matches!(
            suffix,
            "txt" | "md" | "pdf" | "html" | "htm" | "css" | "js" | "png" | "jpg" | "svg" | "docx"
        )
        || !reads_tables && matches!(suffix, "csv" | "xlsx")
}
