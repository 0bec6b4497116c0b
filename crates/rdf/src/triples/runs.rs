//! Construction of graphs that exceed memory: sorted runs on disk, merged into one compact form.
//!
//! Triples are collected in memory up to a limit. Then they are sorted and written as a run: a graph of its own, in its compact
//! form. At the end, the terms of all runs are merged. Each run gets a table from its term numbers to the common ones. Both
//! are in the order of terms, so a run remains sorted when its numbers are replaced, and the runs can be merged. This is the
//! construction of D. Diefenbach, J. M. Giménez-García: *HDTCat: Let's Make HDT Generation Scale*, ISWC 2020, with more
//! than two runs at once.
//!
//! The result is byte for byte the compact form of the same graph built in memory.
//!
//! More than 128 runs are first merged in groups, in as many passes as necessary: each pass reads and writes the whole graph.
//!
//! *Cost.* Memory: that of one run, for each run that is merged at once some 100 KB and twice its longest term, and about 40 bytes
//! for each blank node of one file; beyond 128 runs, four bytes for each term of a group. Disk: at most about three times the
//! compact form, until the result is written.

use super::streamed::{
    CompactSource, TermCursor, TripleCursor, buffer_source, unsupported_triple_terms,
};
use super::{Kind, Triple, TripleGraph, TripleGraphBuilder, TripleSink, leb128};
use crate::external_sort::ScratchFolder;
use oxrdf::TripleRef as OxTripleRef;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Size of the compact form above which a graph is not held in memory: about six million triples.
pub const MAX_COMPACT_BYTES: usize = 128 << 20;
/// Maximum number of runs that are merged at once. Each takes three open files; a process may often have 1,024.
const MAX_MERGED_RUNS: usize = 128;

/// Builder of a graph of any size. Beyond a limit, it writes sorted runs to a folder.
///
/// ```
/// use lodeseek_rdf::{BuiltGraph, ExternalGraphBuilder, TripleSink};
/// use oxrdf::{NamedNodeRef, TripleRef};
///
/// let folder = tempfile::tempdir()?;
/// let mut builder = ExternalGraphBuilder::new(folder.path().join("runs")).with_limit(20);
/// for name in ["ex:a", "ex:b", "ex:c"] {
///     let node = NamedNodeRef::new_unchecked(name);
///     builder.insert_triple(TripleRef::new(node, node, node));
/// }
/// let BuiltGraph::Runs(runs) = builder.finish()? else { panic!("the limit was exceeded") };
/// let mut compact = Vec::new();
/// runs.write_compact(&mut compact)?;
/// assert_eq!(lodeseek_rdf::TripleGraph::from_compact(&compact).unwrap().len(), 3);
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ExternalGraphBuilder {
    run: TripleGraphBuilder,
    limit: usize,
    folder: ScratchFolder,
    runs: Vec<PathBuf>,
    /// Numbers of blank nodes of the current file in earlier runs, by a hash of their labels.
    blank_nodes: FxHashMap<[u8; 16], u32>,
    /// First failure to write a run. Triples after it are ignored.
    failure: Option<io::Error>,
}

/// Graph of an [`ExternalGraphBuilder`].
#[derive(Debug)]
pub enum BuiltGraph {
    /// Graph within the limit.
    InMemory(TripleGraph),
    /// Sorted runs of a graph beyond the limit.
    Runs(SortedRuns),
}

impl ExternalGraphBuilder {
    /// Creates an empty builder with a folder for runs, which need not exist. The folder is removed at the end.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            run: TripleGraphBuilder::new(),
            limit: MAX_COMPACT_BYTES,
            folder: ScratchFolder::new(folder),
            runs: Vec::new(),
            blank_nodes: FxHashMap::default(),
            failure: None,
        }
    }

    /// Sets the size of the compact form, in bytes, above which a run is written. Default: [`MAX_COMPACT_BYTES`].
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Adds a triple of a finished graph and keeps its blank node labels.
    pub fn insert_with_labels(&mut self, triple: OxTripleRef<'_>) {
        if self.accepts(triple) {
            self.run.insert_with_labels(triple);
            self.limit_run();
        }
    }

    /// Returns the graph or its runs.
    ///
    /// # Errors
    /// If a run could not be written; [`io::ErrorKind::Unsupported`] if a graph beyond the limit has triple terms (RDF 1.2).
    pub fn finish(mut self) -> io::Result<BuiltGraph> {
        if self.runs.is_empty() && self.failure.is_none() {
            return Ok(BuiltGraph::InMemory(self.run.finish()));
        }
        if !self.run.is_empty() && self.failure.is_none() {
            self.write_run();
        }
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(BuiltGraph::Runs(SortedRuns {
                folder: self.folder,
                runs: self.runs,
            })),
        }
    }

    /// Returns true if a triple can be added. A triple term beyond the limit is a failure.
    fn accepts(&mut self, triple: OxTripleRef<'_>) -> bool {
        // Runs are merged by the texts of their terms, and a triple term has none.
        if self.failure.is_none() && !self.runs.is_empty() && triple.object.is_triple() {
            self.reject_triple_terms();
        }
        self.failure.is_none()
    }

    /// Writes the current run if it exceeds the limit.
    fn limit_run(&mut self) {
        if self.run.compact_bytes() > self.limit {
            self.write_run();
        }
    }

    fn write_run(&mut self) {
        if self.run.triple_terms.len() > 0 {
            self.reject_triple_terms();
            return;
        }
        for (label, number) in self.run.take_blank_nodes() {
            // A label that occurred in an earlier run has its number already.
            self.blank_nodes.entry(label_hash(&label)).or_insert(number);
        }
        // Blank nodes of different runs must have different numbers.
        let next = TripleGraphBuilder::with_blank_count(self.run.blank_count);
        let run = std::mem::replace(&mut self.run, next);
        let written = self
            .folder
            .create(&format!("run-{}", self.runs.len()))
            .and_then(|(path, mut out)| {
                out.write_all(&run.finish().to_compact())?;
                out.flush()?;
                Ok(path)
            });
        match written {
            Ok(path) => self.runs.push(path),
            Err(error) => self.failure = Some(error),
        }
    }

    fn reject_triple_terms(&mut self) {
        // Its triples are of no use any more, so their memory is released.
        self.run = TripleGraphBuilder::new();
        self.failure = Some(unsupported_triple_terms());
    }

    /// Adds a blank node of an earlier run to the current one, with its number.
    fn recall(&mut self, label: &str) {
        if !self.run.knows_blank(label)
            && let Some(&number) = self.blank_nodes.get(&label_hash(label))
        {
            self.run.insert_blank(label, number);
        }
    }
}

impl TripleSink for ExternalGraphBuilder {
    fn start_file(&mut self) {
        self.run.start_file();
        self.blank_nodes.clear();
    }

    fn insert_triple(&mut self, triple: OxTripleRef<'_>) {
        if !self.accepts(triple) {
            return;
        }
        if !self.blank_nodes.is_empty() {
            // Triple terms may contain blank nodes as well, but are a failure after the first run.
            if let oxrdf::NamedOrBlankNodeRef::BlankNode(node) = triple.subject {
                self.recall(node.as_str());
            }
            if let oxrdf::TermRef::BlankNode(node) = triple.object {
                self.recall(node.as_str());
            }
        }
        self.run.insert(triple);
        self.limit_run();
    }
}

/// Half of the SHA-256 of a label: 128 bits.
fn label_hash(label: &str) -> [u8; 16] {
    // Labels with equal hashes would become one node, and whoever wrote the file chose the labels.
    let mut hash = [0; 16];
    hash.copy_from_slice(&Sha256::digest(label)[..16]);
    hash
}

/// Sorted runs of a graph, to be merged.
#[derive(Debug)]
pub struct SortedRuns {
    folder: ScratchFolder,
    runs: Vec<PathBuf>,
}

impl SortedRuns {
    /// Merges the runs, and writes the compact form of the graph. Returns its number of triples.
    ///
    /// # Errors
    /// If a temporary file or the output cannot be read or written.
    pub fn write_compact(mut self, out: &mut dyn Write) -> io::Result<u64> {
        self.merge_groups(MAX_MERGED_RUNS)?;
        self.merge(&self.runs, out)
    }

    /// Merges groups of runs, until at most `most` runs remain. `most` must be at least 2.
    pub(super) fn merge_groups(&mut self, most: usize) -> io::Result<()> {
        let mut number = 0;
        while self.runs.len() > most {
            // The table of a run's terms is held in memory, so the groups are as small as possible.
            let group = self.runs.len().div_ceil(most).min(most);
            let runs = std::mem::take(&mut self.runs);
            for runs in runs.chunks(group) {
                let (path, mut out) = self.folder.create(&format!("merged-{number}"))?;
                self.merge(runs, &mut out)?;
                out.flush()?;
                self.runs.push(path);
                number += 1;
            }
        }
        Ok(())
    }

    /// Merges some runs, which it removes, and writes the compact form of their graph. Returns its number of triples.
    fn merge(&self, runs: &[PathBuf], out: &mut dyn Write) -> io::Result<u64> {
        let merged = self.merge_terms(runs)?;
        let mut mapped = Vec::with_capacity(runs.len());
        for (run, table) in runs.iter().zip(&merged.tables) {
            mapped.push(self.map_triples(run, table)?);
            // Removed as soon as possible, because the merge takes several times the space of the graph.
            fs::remove_file(run)?;
            fs::remove_file(table)?;
        }
        let (triples, triple_count) = self.merge_triples(&mapped, merged.term_count)?;
        for path in mapped {
            fs::remove_file(path)?;
        }
        // The order of `TripleGraph::to_compact`.
        write_number(out, u64::from(merged.term_count))?;
        move_content(&merged.sizes, out)?;
        write_number(out, merged.text_bytes)?;
        move_content(&merged.texts, out)?;
        write_number(out, triple_count)?;
        move_content(&triples, out)?;
        Ok(triple_count)
    }

    /// Merges the terms of some runs, and writes a table of new term numbers for each run.
    fn merge_terms(&self, runs: &[PathBuf]) -> io::Result<MergedTerms> {
        let (sizes, mut sizes_out) = self.folder.create("sizes")?;
        let (texts, mut texts_out) = self.folder.create("texts")?;
        let mut tables = Vec::with_capacity(runs.len());
        let mut table_files = Vec::with_capacity(runs.len());
        let mut cursors = Vec::with_capacity(runs.len());
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter().enumerate() {
            let mut cursor = TermCursor::new(open(run)?, open(run)?)?;
            let mut head = Head {
                run: number,
                ..Head::default()
            };
            if head.read(&mut cursor)? {
                heads.push(Reverse(head));
            }
            cursors.push(cursor);
            let (path, file) = self.folder.create(&format!("table-{number}"))?;
            tables.push(path);
            table_files.push(file);
        }
        let (mut last, mut next, mut text_bytes) = (Head::default(), 0_u32, 0_u64);
        let mut buffer = Vec::new();
        while let Some(mut top) = heads.peek_mut() {
            let head = &mut top.0;
            // The default of `last` equals an empty IRI.
            if next == 0 || !head.is_same_term(&last) {
                if next == u32::MAX {
                    return Err(io::Error::other(
                        "a graph has more than 4 billion different terms",
                    ));
                }
                next += 1;
                buffer.clear();
                buffer.push(head.kind as u8);
                leb128(&mut buffer, head.text.len() as u64);
                leb128(&mut buffer, head.suffix.len() as u64);
                sizes_out.write_all(&buffer)?;
                texts_out.write_all(head.text.as_bytes())?;
                texts_out.write_all(head.suffix.as_bytes())?;
                text_bytes += (head.text.len() + head.suffix.len()) as u64;
                last.copy(head);
            }
            table_files[head.run].write_all(&(next - 1).to_le_bytes())?;
            // The first of the heap was changed in place. It is sorted in again when `top` is dropped.
            if !head.read(&mut cursors[head.run])? {
                PeekMut::pop(top);
            }
        }
        for mut file in table_files {
            file.flush()?;
        }
        sizes_out.flush()?;
        texts_out.flush()?;
        Ok(MergedTerms {
            term_count: next,
            text_bytes,
            sizes,
            texts,
            tables,
        })
    }

    /// Writes the triples of a run with the common term numbers.
    fn map_triples(&self, run: &Path, table: &Path) -> io::Result<PathBuf> {
        let bytes = fs::read(table)?;
        let name = run.file_name().unwrap_or_default().to_string_lossy();
        let (path, out) = self.folder.create(&format!("mapped-{name}"))?;
        let mut writer = TripleWriter::new(out);
        let triples = TripleCursor::open(open(run)?)?;
        // The cursor of the mapped run reads the number of its triples first.
        writer.number(triples.remaining())?;
        for triple in triples {
            let Triple {
                subject,
                predicate,
                object,
            } = triple?;
            writer.write(Triple {
                subject: read_table(&bytes, subject),
                predicate: read_table(&bytes, predicate),
                object: read_table(&bytes, object),
            })?;
        }
        writer.out.flush()?;
        Ok(path)
    }

    /// Merges the triples of some runs without repetitions. Returns the file and the number of triples.
    fn merge_triples(&self, mapped: &[PathBuf], term_count: u32) -> io::Result<(PathBuf, u64)> {
        let (path, out) = self.folder.create("triples")?;
        let mut writer = TripleWriter::new(out);
        let mut cursors = Vec::with_capacity(mapped.len());
        let mut heads = BinaryHeap::with_capacity(mapped.len());
        for (number, path) in mapped.iter().enumerate() {
            let mut cursor = TripleCursor::new(buffer_source(open(path)?), term_count)?;
            if let Some(triple) = cursor.next() {
                heads.push(Reverse((triple?, number)));
            }
            cursors.push(cursor);
        }
        let (mut last, mut count) = (None, 0);
        while let Some(mut top) = heads.peek_mut() {
            let Reverse((triple, run)) = *top;
            if last != Some(triple) {
                writer.write(triple)?;
                last = Some(triple);
                count += 1;
            }
            match cursors[run].next() {
                Some(triple) => *top = Reverse((triple?, run)),
                None => drop(PeekMut::pop(top)),
            }
        }
        writer.out.flush()?;
        Ok((path, count))
    }
}

fn write_number(out: &mut dyn Write, value: u64) -> io::Result<()> {
    let mut number = Vec::new();
    leb128(&mut number, value);
    out.write_all(&number)
}

/// Returns the common number of a term of a run. The table has four bytes for each term of the run.
fn read_table(table: &[u8], id: super::TermId) -> super::TermId {
    // The cursor has checked that the run has this term.
    let place = 4 * id.index();
    super::TermId(u32::from_le_bytes([
        table[place],
        table[place + 1],
        table[place + 2],
        table[place + 3],
    ]))
}

fn open(path: &Path) -> io::Result<CompactSource> {
    Ok(Box::new(File::open(path)?))
}

/// Writes the content of a file and removes it.
fn move_content(path: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut file = io::BufReader::with_capacity(1 << 20, File::open(path)?);
    io::copy(&mut file, out)?;
    fs::remove_file(path)
}

/// Terms of merged runs in the compact form.
struct MergedTerms {
    term_count: u32,
    text_bytes: u64,
    /// File with kinds and lengths.
    sizes: PathBuf,
    /// File with texts and suffixes.
    texts: PathBuf,
    /// For each run, a file with the new number of each of its terms.
    tables: Vec<PathBuf>,
}

/// Next term of a run, in the order of terms.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    kind: Kind,
    text: String,
    suffix: String,
    run: usize,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            kind: Kind::Iri,
            text: String::new(),
            suffix: String::new(),
            run: 0,
        }
    }
}

impl Head {
    /// Reads the next term of its run. Returns false at the end.
    fn read(&mut self, cursor: &mut TermCursor) -> io::Result<bool> {
        let Some((_, (kind, text, suffix))) = cursor.next_key()? else {
            return Ok(false);
        };
        self.kind = kind;
        self.text.clear();
        self.text.push_str(text);
        self.suffix.clear();
        self.suffix.push_str(suffix);
        Ok(true)
    }

    fn is_same_term(&self, other: &Self) -> bool {
        self.kind == other.kind && self.text == other.text && self.suffix == other.suffix
    }

    fn copy(&mut self, other: &Self) {
        self.kind = other.kind;
        self.text.clone_from(&other.text);
        self.suffix.clone_from(&other.suffix);
    }
}

/// Writer of sorted triples as differences.
struct TripleWriter<W> {
    out: W,
    last: (u32, u32),
    buffer: Vec<u8>,
}

impl<W: Write> TripleWriter<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            last: (0, 0),
            buffer: Vec::with_capacity(16),
        }
    }

    fn number(&mut self, value: u64) -> io::Result<()> {
        self.buffer.clear();
        leb128(&mut self.buffer, value);
        self.out.write_all(&self.buffer)
    }

    fn write(&mut self, triple: Triple) -> io::Result<()> {
        self.buffer.clear();
        super::write_triple(&mut self.buffer, &mut self.last, triple);
        self.out.write_all(&self.buffer)
    }
}
