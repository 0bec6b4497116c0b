//! Tables in place of a catalogue: the file is the content of a dataset that has no description.

use super::CatalogFile;
use lodeseek_rdf::dump::{self, Beginning, DocumentHead, Limits};
use lodeseek_tabular::is_table_file;
use std::fs::File;
use std::path::Path;

/// Number of bytes from which a table is recognised.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Returns true for a text table, a workbook, or GeoJSON. Other JSON may be a catalogue of an unknown dialect, and XML too.
pub(super) fn is_table(file: &CatalogFile<'_>) -> bool {
    let Some(head) = read_head(file.path) else {
        return false;
    };
    let address = file.address.map(str::to_owned);
    let name = address.unwrap_or_else(|| file.path.to_string_lossy().into_owned());
    is_table_file(&DocumentHead {
        name: &name,
        media_type: file.media_type,
        bytes: &head.bytes,
        is_whole: head.is_whole,
        path: None,
    })
}

/// Returns the beginning of a file after decompression; `None` if it cannot be read, which its reader reports. A file that cannot be
/// decompressed is returned as it is.
fn read_head(path: &Path) -> Option<Beginning<'static>> {
    let decompressed = dump::open(path, &Limits::default())
        .and_then(|reader| dump::read_beginning(reader, MAX_HEAD_BYTES));
    decompressed
        .or_else(|_| dump::read_beginning(File::open(path)?, MAX_HEAD_BYTES))
        .ok()
}
