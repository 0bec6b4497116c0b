//! Limits of tables. Beyond them, rows are sampled, cells are cut, or the file is refused; the report has all of it.

/// Maximum number of columns of a table. A wider table is refused.
pub const MAX_COLUMNS: usize = 1000;
/// Maximum size of a cell in bytes. Longer cells are cut.
pub const MAX_CELL_BYTES: usize = 10_000;
/// Maximum size of a record of a text file in bytes. A longer one is an unclosed quote, or no table.
pub const MAX_RECORD_BYTES: u64 = 8 << 20;
/// Maximum size of a header in bytes. Longer headers are cut.
pub const MAX_HEADER_BYTES: usize = 500;
/// Maximum number of bytes from which encoding, delimiter and format are detected.
pub const MAX_SNIFF_BYTES: usize = 256 << 10;
/// Maximum number of rows from which headers and types of columns are determined.
pub const MAX_SAMPLE_ROWS: usize = 500;
/// Maximum number of bytes of the rows from which headers and types are determined.
pub const MAX_SAMPLE_BYTES: usize = 8 << 20;
/// Maximum number of rows above the header: titles, sources, notes.
pub const MAX_PREAMBLE_ROWS: usize = 30;
/// Maximum number of rows of footnotes.
pub const MAX_FOOTNOTE_ROWS: usize = 50;
/// Maximum size of a workbook in bytes. The whole file is held in memory.
pub const MAX_WORKBOOK_BYTES: u64 = 64 << 20;
/// Maximum number of bytes of all parts of a workbook after decompression.
pub const MAX_WORKBOOK_PARTS_BYTES: u64 = 256 << 20;
/// Maximum size of a Parquet file in an archive, in a compressed file or from a stream, in bytes. It is held in memory; a local file
/// is read in parts.
pub const MAX_PARQUET_BYTES: u64 = 64 << 20;
/// Maximum number of values that a Parquet file declares for each of its bytes. Repetitions need no space, so that a small file may
/// declare any number.
pub const MAX_PARQUET_VALUES_PER_BYTE: u64 = 1000;
/// Maximum number of digits of decimals in Parquet: those of 256 bits. The library needs quadratic time for them.
pub const MAX_DECIMAL_DIGITS: i32 = 76;
/// Maximum size of the keywords of a PX file in bytes. They are held in memory.
pub const MAX_PX_KEYWORDS_BYTES: u64 = 16 << 20;
/// Maximum number of sheets of a workbook that are read.
pub const MAX_SHEETS: usize = 100;
/// Maximum size of one JSON value of a list, of a JSON document that is no list of records, and of an XML document, in bytes. It is
/// held in memory.
pub const MAX_JSON_BYTES: u64 = 32 << 20;
/// Maximum number of lists of a document whose records are counted.
pub const MAX_LISTS: usize = 100;
/// Maximum nesting of JSON and XML values.
pub const MAX_NESTING: usize = 64;
/// Maximum length of a geometry in bytes of WKT. Of longer ones, the bounding box is kept.
pub const MAX_WKT_BYTES: usize = 10_000;

/// Cuts a text at a character boundary.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
