//! Stored vectors: the directory and the data file of a commit, with changed bytes. Checksums are ignored in fuzz builds.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use lodeseek_catalog::DatasetId;
use lodeseek_fuzz::{scratch, start};
use lodeseek_index::vectors::{
    Description, Precision, Rows, Vectors, VectorsWriter, committed_files,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FINGERPRINT: &str = "0123";
const COLUMNS: usize = 3;
const DATASETS: [(&str, usize); 3] = [("a", 0), ("b", 1), ("c", 17)];

#[derive(Arbitrary, Debug)]
struct Damaged {
    precision: u8,
    directory: Vec<(u16, u8)>,
    /// Replaces a range of the directory.
    inserted: Option<(u16, u8, String)>,
    data: Vec<(u16, u8)>,
    data_length: Option<u16>,
}

/// A commit: names and bytes of the directory and of the data file.
struct Commit {
    directory: (PathBuf, Vec<u8>),
    data: (PathBuf, Vec<u8>),
}

fuzz_target!(init: start(), |input: Damaged| {
    static COMMITS: OnceLock<[Commit; 3]> = OnceLock::new();
    let commits = COMMITS.get_or_init(|| [Precision::F16, Precision::I8, Precision::I2].map(commit));
    let commit = &commits[usize::from(input.precision) % commits.len()];
    let mut directory = commit.directory.1.clone();
    change(&mut directory, &input.directory);
    if let Some((place, length, text)) = &input.inserted {
        let start = usize::from(*place) % directory.len();
        let end = (start + usize::from(*length)).min(directory.len());
        directory.splice(start..end, text.bytes());
    }
    let mut data = commit.data.1.clone();
    change(&mut data, &input.data);
    if let Some(length) = input.data_length {
        data.truncate(usize::from(length));
    }
    let _ = scratch::file(&name(&commit.directory.0), &directory);
    let _ = scratch::file(&name(&commit.data.0), &data);
    let Ok(vectors) = Vectors::open(scratch::folder(), FINGERPRINT) else { return };
    let snapshot = vectors.snapshot().expect("nobody writes");
    for id in snapshot.ids() {
        let Ok(Some(matrices)) = snapshot.get(id) else { continue };
        for matrix in [&matrices.metadata, &matrices.data] {
            (0..matrix.rows()).for_each(|row| assert_eq!(matrix.row(row).len(), matrix.columns()));
        }
    }
});

fn change(bytes: &mut [u8], changes: &[(u16, u8)]) {
    for (place, byte) in changes {
        if let Some(length) = Some(bytes.len()).filter(|length| *length > 0) {
            bytes[usize::from(*place) % length] = *byte;
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

fn commit(precision: Precision) -> Commit {
    let folder = scratch::new_folder();
    let description = Description {
        model: "m".to_owned(),
        fingerprint: FINGERPRINT.to_owned(),
        columns: COLUMNS,
        precision,
    };
    let mut writer = VectorsWriter::open(folder.path(), description).expect("a writer");
    for (id, rows) in DATASETS {
        let matrix = |rows: usize| Rows::pack(&vec![0.5; rows * COLUMNS], COLUMNS, precision);
        let matrices = [matrix(1), matrix(rows)];
        writer
            .put(
                DatasetId::new(id).expect("an id"),
                id.to_owned(),
                matrices.each_ref(),
            )
            .expect("put");
    }
    writer.finish().expect("committed");
    let files = committed_files(folder.path())
        .expect("readable")
        .expect("a commit");
    let read = |path: &PathBuf| (path.clone(), fs::read(path).expect("a file"));
    Commit {
        directory: read(&files.directory),
        data: read(&files.data),
    }
}
