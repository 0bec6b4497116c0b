//! Documents that are no RDF: another crate recognises them and makes triples of them.

use super::{FileReport, Limits};
use crate::TripleSink;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

/// Beginning of a decompressed document: a file, or a member of an archive.
#[derive(Clone, Copy, Debug)]
pub struct DocumentHead<'a> {
    /// Name in reports; `archive!member` for a member of an archive.
    pub name: &'a str,
    /// Media type that the catalogue declares.
    pub media_type: Option<&'a str>,
    /// First bytes.
    pub bytes: &'a [u8],
    /// If true, `bytes` is the whole document.
    pub is_whole: bool,
    /// Local file of the document. `None` if it comes from an archive, a compressed file or a stream.
    pub path: Option<&'a Path>,
}

/// Reader of documents that are no RDF.
pub trait TableReader: fmt::Debug + Sync {
    /// Returns true if this reader reads a document. Otherwise it is read as RDF.
    fn recognizes(&self, document: &DocumentHead<'_>) -> bool;

    /// Reads a document, and adds its triples to `sink`. `base` is the address of the document. Counts and problems are added to
    /// `report`.
    ///
    /// # Errors
    /// If the document cannot be read to its end. A [`Refusal`](super::Refusal) is the cause if it is over a limit.
    fn read(
        &self,
        document: &DocumentHead<'_>,
        content: &mut dyn Read,
        base: &str,
        limits: &Limits,
        sink: &mut dyn TripleSink,
        report: &mut FileReport,
    ) -> io::Result<()>;
}

/// Table in a file: the file itself, a sheet of a workbook, or a list of records.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TableFacts {
    /// Format, such as `CSV`.
    pub format: Cow<'static, str>,
    /// Name of the sheet or list. `None` if the file is one table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of rows of data.
    pub rows: u64,
    /// Number of columns.
    pub columns: usize,
    /// Number of rows that are not empty, with titles, header, units and footnotes.
    pub records: u64,
    /// Number of rows of the header.
    #[serde(default)]
    pub header_rows: u64,
    /// Encoding of text, in the registry of IANA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Cow<'static, str>>,
    /// Delimiter of cells in text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Number of cells without a value.
    #[serde(default)]
    pub empty_cells: u64,
    /// Number of cells that do not have the type of their column.
    #[serde(default)]
    pub mixed_cells: u64,
    /// Number of rows that are left out of the graph, because the table is large.
    #[serde(default)]
    pub sampled_rows: u64,
}

impl fmt::Display for TableFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        write!(f, ", {} rows, {} columns", self.rows, self.columns)?;
        if let Some(encoding) = &self.encoding {
            write!(f, ", {encoding}")?;
        }
        match self.delimiter {
            Some('\t') => write!(f, ", delimiter tab"),
            Some(delimiter) => write!(f, ", delimiter {delimiter}"),
            None => Ok(()),
        }
    }
}
