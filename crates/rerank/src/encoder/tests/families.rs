//! Vectors against the reference implementations'.

use super::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    texts: Vec<String>,
    cases: Vec<Case>,
}

/// One way of opening a model, and the vectors that come of it.
#[derive(Deserialize)]
struct Case {
    name: String,
    options: std::collections::BTreeMap<String, Value>,
    queries: Vec<Vec<Vec<f32>>>,
    documents: Vec<Vec<Vec<f32>>>,
}

/// Tolerances against the reference: cosine, and length as a ratio.
struct Tolerance {
    cosine: f64,
    length: f64,
}

const EXACT: Tolerance = Tolerance {
    cosine: 0.9999,
    length: 1e-3,
};
const HALF: Tolerance = Tolerance {
    cosine: 0.999,
    length: 1e-2,
};

fn expected(folder: &str) -> Expected {
    let text = std::fs::read(testdata().join(folder).join("expected.json")).expect("expected.json");
    serde_json::from_slice(&text).expect("vectors")
}

fn same(what: &str, ours: &Matrix, theirs: &[Vec<f32>], tolerance: &Tolerance) {
    assert_eq!(ours.rows(), theirs.len(), "{what}: rows");
    for (number, theirs) in theirs.iter().enumerate() {
        let ours = ours.row(number);
        assert_eq!(ours.len(), theirs.len(), "{what}, row {number}: columns");
        let found = cosine(ours, theirs);
        assert!(
            found > tolerance.cosine,
            "{what}, row {number}: cosine {found}"
        );
        let length = |row: &[f32]| {
            row.iter()
                .map(|value| f64::from(*value).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        assert!(
            (length(ours) / length(theirs) - 1.0).abs() < tolerance.length,
            "{what}, row {number}: lengths"
        );
    }
}

fn check(folder: &str, variant: Option<&str>, tolerance: &Tolerance) {
    let Some(options) = options() else { return };
    check_with(
        folder,
        &EncoderOptions {
            variant: variant.map(str::to_owned),
            ..options
        },
        tolerance,
    );
}

fn check_with(folder: &str, options: &EncoderOptions, tolerance: &Tolerance) {
    let Expected { texts, cases } = expected(folder);
    assert!(!cases.is_empty());
    for case in &cases {
        let place = copy(&testdata().join(folder));
        case.options
            .iter()
            .for_each(|(file, changes)| change(&place.path().join(file), changes));
        let encoder = opened(place.path(), options);
        let queries = encoder
            .encode_queries(&texts.iter().map(String::as_str).collect::<Vec<_>>())
            .expect("queries");
        let documents = encode_texts(encoder.as_ref(), &texts);
        for (number, text) in texts.iter().enumerate() {
            let what = format!("{folder}, {}, {text:?}", case.name);
            same(
                &format!("{what} as a query"),
                &queries[number],
                &case.queries[number],
                tolerance,
            );
            same(
                &format!("{what} as a document"),
                &documents[number],
                &case.documents[number],
                tolerance,
            );
        }
    }
}

#[test]
fn sentence_transformers() {
    check("sentence-transformers", None, &EXACT);
}

#[test]
fn sentence_transformers_in_half_precision() {
    check("sentence-transformers", Some("model_fp16.onnx"), &HALF);
}

#[test]
fn dpr() {
    check("dpr", None, &EXACT);
}

#[test]
fn stanfords_colbert() {
    check("colbert-stanford", None, &EXACT);
}

#[test]
fn pylates_colbert() {
    check("colbert-pylate", None, &EXACT);
}

#[test]
fn pylates_export() {
    check("colbert-pylate-onnx", None, &EXACT);
}

#[test]
fn sentence_transformers_own_late_interaction() {
    check("colbert-native", None, &EXACT);
}

/// The tiny networks have weights far larger than real ones, so that int8 costs them more than it costs those.
#[test]
fn int8() {
    let loose = Tolerance {
        cosine: 0.99,
        length: 0.1,
    };
    check("colbert-pylate-onnx", Some("model_int8.onnx"), &loose);
    check(
        "sentence-transformers",
        Some("model_quantized.onnx"),
        &loose,
    );
}

/// A tokenizer of byte pairs, no segments, and two projections that add their input.
#[test]
fn pylates_colbert_over_modernbert() {
    check("colbert-modernbert", None, &EXACT);
}

#[test]
fn transformers_with_a_stated_pooling() {
    let Some(options) = options() else { return };
    check_with(
        "transformers",
        &EncoderOptions {
            pooling: Some("mean".to_owned()),
            ..options
        },
        &EXACT,
    );
}

#[test]
fn static_embeddings_need_no_library() {
    let nowhere = EncoderOptions {
        library: Some("/nowhere".into()),
        ..EncoderOptions::default()
    };
    check_with("static-model2vec", &nowhere, &EXACT);
    check_with("static-sentence-transformers", &nowhere, &EXACT);
}
