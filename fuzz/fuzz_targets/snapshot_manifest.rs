//! Records and manifests of snapshots, and manifests of backups: generated ones, or any bytes. Their checksums are right.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::{scratch, start};
use lodeseek_snapshot::{RemoteSnapshots, SnapshotCache, SnapshotLocation, StorageOptions};
use lodeseek_store::write_checked;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// Contents of files, which exist as objects.
const CONTENTS: [&[u8]; 3] = [b"", b"a", b"base = \"http://example.org/\"\n"];
const NAMES: [&str; 12] = [
    "index/meta.json",
    "store/CURRENT",
    "lodeseek.toml",
    "lock",
    "restoring",
    "a",
    "a/b",
    "..",
    ".",
    "",
    "/tmp",
    "lodeseek.toml/",
];
const HASHES: [&str; 4] = ["/dev/null", "../manifest", "ab", "é"];

#[derive(Arbitrary, Debug)]
struct Input {
    is_backup: bool,
    record: Option<String>,
    manifest: Manifest,
}

#[derive(Arbitrary, Debug)]
enum Manifest {
    Text(String),
    Generated {
        format: u8,
        base: String,
        files: Vec<File>,
    },
}

#[derive(Debug)]
struct File {
    name: String,
    bytes: u64,
    sha256: String,
}

impl<'a> Arbitrary<'a> for File {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut name = (*u.choose(&NAMES)?).to_owned();
        if u.ratio(1, 4)? {
            name.push_str(u.arbitrary()?);
        }
        let content = *u.choose(&CONTENTS)?;
        let bytes = if u.ratio(7, 8)? {
            content.len() as u64
        } else {
            u.arbitrary()?
        };
        let sha256 = if u.ratio(7, 8)? {
            hash(content)
        } else {
            (*u.choose(&HASHES)?).to_owned()
        };
        Ok(Self {
            name,
            bytes,
            sha256,
        })
    }
}

impl Manifest {
    fn body(&self) -> String {
        let (format, base, files) = match self {
            Self::Text(text) => return text.clone(),
            Self::Generated {
                format,
                base,
                files,
            } => (format, base, files),
        };
        let file = |file: &File| {
            (
                file.name.clone(),
                json!({ "bytes": file.bytes, "modified": 0, "sha256": file.sha256 }),
            )
        };
        let files: serde_json::Map<_, _> = files.iter().map(file).collect();
        // Most formats are the supported one.
        let format = if *format < 8 { u32::from(*format) } else { 1 };
        json!({ "format": format, "version": "0", "base": base, "datasets": 0, "files": files })
            .to_string()
    }
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn write_object(folder: &Path, content: &[u8]) -> String {
    let sha256 = hash(content);
    let folder = folder.join("objects").join(&sha256[..2]);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(&sha256), content).expect("written");
    sha256
}

fuzz_target!(init: start(), |input: Input| {
    let folder = scratch::new_folder();
    let (storage, home) = (folder.path().join("storage"), folder.path().join("home"));
    CONTENTS.iter().for_each(|content| drop(write_object(&storage, content)));
    let body = input.manifest.body();
    if input.is_backup {
        write_checked(&storage.join("manifest"), body.as_bytes()).expect("written");
        let _ = lodeseek_engine::restore(&storage, &home, &|_, _| {});
    } else {
        let manifest = write_object(&storage, body.as_bytes());
        let record = json!({ "format": 1, "manifest": manifest, "datasets": 0, "bytes": 0 }).to_string();
        fs::create_dir_all(storage.join("snapshots")).expect("a folder");
        fs::write(storage.join("snapshots/0000000001.json"), input.record.as_ref().unwrap_or(&record)).expect("written");
        let location: SnapshotLocation = format!("file://{}", storage.display()).parse().expect("a location");
        let remote = RemoteSnapshots::open(&location, &StorageOptions::default()).expect("opened");
        let mut cache = SnapshotCache::open(&home, remote).expect("a cache");
        if let Ok(home) = cache.fetch_first() {
            cache.keep_only(&home).expect("kept");
        }
    }
    // Nothing is written beside the home.
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1 + usize::from(home.exists()), "{input:?}");
});
