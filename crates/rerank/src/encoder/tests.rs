//! Every kind of folder in `testdata/models` against what its own software made of the same texts, and what must hold of
//! any encoder. Without ONNX Runtime (`ORT_DYLIB_PATH`, set by `make test`) they skip, loudly.

#![expect(clippy::print_stderr, reason = "a test that skips says so")]

use super::{
    Device, Encoder, EncoderOptions, Granularity, Matrix, ModelError, Passage, Similarity, open,
};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

mod families;
mod invariants;
mod other_kinds;
mod refusals;
mod trained;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models")
}

/// The options of all tests; nothing where there is no ONNX Runtime.
fn options() -> Option<EncoderOptions> {
    let Some(library) = std::env::var_os("ORT_DYLIB_PATH") else {
        eprintln!(
            "SKIPPED: models cannot be run without ONNX Runtime: set ORT_DYLIB_PATH to its library, or use `make test`"
        );
        return None;
    };
    Some(EncoderOptions {
        library: Some(library.into()),
        device: Device::Cpu,
        threads: Some(1),
        ..EncoderOptions::default()
    })
}

/// A copy of a folder, to be changed.
fn copy(folder: &Path) -> tempfile::TempDir {
    let target = tempfile::tempdir().expect("a temporary folder");
    copy_into(folder, target.path());
    target
}

fn copy_into(folder: &Path, target: &Path) {
    for entry in folder
        .read_dir()
        .expect("a folder of testdata")
        .map(|entry| entry.expect("an entry"))
    {
        let place = target.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&place).expect("a folder");
            copy_into(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).expect("a copy");
        }
    }
}

/// Changes settings in a file, or replaces the file where it is no object.
fn change(file: &Path, changes: &Value) {
    let old = std::fs::read(file)
        .ok()
        .and_then(|old| serde_json::from_slice::<Map<String, Value>>(&old).ok());
    let new = match (old, changes) {
        (Some(mut old), Value::Object(changes))
            if file.file_name().is_some_and(|name| name != "config.json") =>
        {
            old.extend(changes.clone());
            Value::Object(old)
        }
        _ => changes.clone(),
    };
    std::fs::write(file, new.to_string()).expect("settings");
}

fn opened(folder: &Path, options: &EncoderOptions) -> Box<dyn Encoder> {
    open(folder, options).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// Each text as a passage of one part.
fn encode_texts(encoder: &dyn Encoder, texts: &[String]) -> Vec<Matrix> {
    let passages: Vec<Passage<'_>> = texts.iter().map(passage).collect();
    encoder.encode_passages(&passages).expect("passages")
}

fn passage(text: &String) -> Passage<'_> {
    Passage {
        parts: std::slice::from_ref(text),
        pieces_a_part: None,
    }
}

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let product = |left: &[f32], right: &[f32]| {
        left.iter()
            .zip(right)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum::<f64>()
    };
    product(left, right) / (product(left, left) * product(right, right)).sqrt()
}
