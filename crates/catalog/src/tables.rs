//! Tables in place of a catalogue: the file is the content of a dataset that has no description.

use super::CatalogFile;
use lodeseek_rdf::dump::{self, DocumentHead, Limits};
use lodeseek_tabular::is_table_file;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Number of bytes from which a table is recognised.
const MAX_HEAD_BYTES: u64 = 64 << 10;

/// Returns true for a text table, a workbook, or GeoJSON. Other JSON may be a catalogue of an unknown dialect, and XML too.
pub(super) fn is_table(file: &CatalogFile<'_>) -> bool {
    let Some(bytes) = read_head(file.path) else {
        return false;
    };
    let address = file.address.map(str::to_owned);
    let name = address.unwrap_or_else(|| file.path.to_string_lossy().into_owned());
    is_table_file(&DocumentHead {
        name: &name,
        media_type: file.media_type,
        bytes: &bytes,
        is_whole: (bytes.len() as u64) < MAX_HEAD_BYTES,
        path: None,
    })
}

/// Returns the first bytes of a file after decompression; `None` if it cannot be read, which its reader reports.
fn read_head(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = dump::open(path, &Limits::default())
        .and_then(|reader| reader.take(MAX_HEAD_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        bytes.clear();
        File::open(path)
            .ok()?
            .take(MAX_HEAD_BYTES)
            .read_to_end(&mut bytes)
            .ok()?;
    }
    Some(bytes)
}
