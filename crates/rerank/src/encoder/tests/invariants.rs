//! Invariants of every encoder.

use super::*;

const FOLDERS: [&str; 11] = [
    "sentence-transformers",
    "dpr",
    "colbert-stanford",
    "colbert-pylate",
    "colbert-pylate-onnx",
    "colbert-native",
    "colbert-modernbert",
    "splade",
    "splade-inference-free",
    "static-model2vec",
    "static-sentence-transformers",
];

fn texts() -> Vec<String> {
    let text = std::fs::read(testdata().join("dpr/expected.json")).expect("expected.json");
    let expected: Value = serde_json::from_slice(&text).expect("JSON");
    serde_json::from_value(expected["texts"].clone()).expect("texts")
}

/// Every folder of testdata, int8 among them.
fn encoders() -> Vec<Box<dyn Encoder>> {
    let Some(options) = options() else {
        return Vec::new();
    };
    let quantized = EncoderOptions {
        variant: Some("model_int8.onnx".to_owned()),
        ..options.clone()
    };
    let plain = FOLDERS
        .iter()
        .map(|folder| opened(&testdata().join(folder), &options));
    plain
        .chain([opened(&testdata().join("colbert-pylate-onnx"), &quantized)])
        .collect()
}

fn near(left: &Matrix, right: &Matrix) -> bool {
    left.rows() == right.rows()
        && left
            .values()
            .iter()
            .zip(right.values())
            .all(|(left, right)| (left - right).abs() <= 1e-5)
}

#[test]
fn a_text_has_the_same_vectors_alone_and_among_others() {
    for encoder in encoders() {
        let texts = texts();
        let queries: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (together, passages) = (
            encoder.encode_queries(&queries).expect("an encoding"),
            encode_texts(encoder.as_ref(), &texts),
        );
        for (number, text) in texts.iter().enumerate() {
            assert!(
                near(
                    &encoder.encode_queries(&[text]).expect("an encoding")[0],
                    &together[number]
                ),
                "{}: {text}",
                encoder.name()
            );
            assert!(
                near(
                    &encode_texts(encoder.as_ref(), &texts[number..=number])[0],
                    &passages[number]
                ),
                "{}: {text}",
                encoder.name()
            );
        }
    }
}

#[test]
fn two_runs_and_two_openings_give_the_same_bits() {
    for (one, other) in encoders().iter().zip(encoders()) {
        let texts = texts();
        let first = encode_texts(one.as_ref(), &texts);
        assert_eq!(first, encode_texts(one.as_ref(), &texts), "{}", one.name());
        assert_eq!(
            first,
            encode_texts(other.as_ref(), &texts),
            "{}",
            one.name()
        );
        assert_eq!(one.fingerprint(), other.fingerprint());
    }
}

#[test]
fn small_batches_and_many_sessions_change_nothing() {
    let Some(options) = options() else { return };
    let folder = testdata().join("colbert-pylate");
    let texts: Vec<String> = texts().iter().cycle().take(40).cloned().collect();
    let expected = encode_texts(opened(&folder, &options).as_ref(), &texts);
    for (sessions, tokens_a_batch) in [(3, Some(1)), (2, Some(100)), (1, Some(64))] {
        let encoder = opened(
            &folder,
            &EncoderOptions {
                sessions,
                tokens_a_batch,
                ..options.clone()
            },
        );
        let found = encode_texts(encoder.as_ref(), &texts);
        assert!(
            expected
                .iter()
                .zip(&found)
                .all(|(expected, found)| near(expected, found)),
            "{sessions} {tokens_a_batch:?}"
        );
    }
}

#[test]
fn rows_are_told_where_they_come_from() {
    for encoder in encoders() {
        let parts: Vec<String> = ["air, air", "  ", "the river; bay", "", "zzzz"]
            .map(String::from)
            .to_vec();
        for pieces_a_part in [None, Some(2)] {
            let passage = Passage {
                parts: &parts,
                pieces_a_part,
            };
            let matrix = &encoder.encode_passages(&[passage]).expect("an encoding")[0];
            let origins = encoder.origins(passage).expect("an encoding");
            assert_eq!(origins.len(), matrix.rows(), "{}", encoder.name());
            assert_eq!(matrix.columns(), encoder.dimension());
            let mut found: Vec<usize> = origins.iter().flatten().copied().collect();
            assert!(found.is_sorted());
            found.dedup();
            assert_eq!(
                found,
                if encoder.granularity() == Granularity::Piece {
                    vec![0, 2, 4]
                } else {
                    vec![]
                },
                "{}",
                encoder.name()
            );
        }
        for query in texts() {
            assert_eq!(
                encoder.query_pieces(&query).expect("an encoding").len(),
                encoder.encode_queries(&[&query]).expect("an encoding")[0].rows()
            );
        }
    }
}

#[test]
fn a_passage_without_text_has_no_rows() {
    for encoder in encoders() {
        let blank: Vec<String> = ["", " \n"].map(String::from).to_vec();
        let text = vec!["rain".to_owned()];
        let passage = |parts| Passage {
            parts,
            pieces_a_part: None,
        };
        let matrices = encoder
            .encode_passages(&[passage(&blank), passage(&text), passage(&[])])
            .expect("an encoding");
        assert_eq!((matrices[0].rows(), matrices[2].rows()), (0, 0));
        assert!(matrices[1].rows() > 0);
        assert_eq!(encoder.origins(passage(&blank)).expect("an encoding"), []);
        assert_eq!(encoder.encode_passages(&[]).expect("an encoding"), []);
        let query = encoder
            .encode_queries(&[""])
            .expect("an encoding")
            .remove(0);
        assert!(query.rows() > 0 || encoder.granularity() == Granularity::Term);
    }
}

#[test]
fn pieces_of_late_interaction_have_length_one() {
    for encoder in encoders()
        .iter()
        .filter(|encoder| encoder.granularity() == Granularity::Piece)
    {
        for matrix in encode_texts(encoder.as_ref(), &texts()) {
            for row in 0..matrix.rows() {
                let length: f32 = matrix.row(row).iter().map(|value| value * value).sum();
                assert!((length - 1.0).abs() < 1e-5, "{}: {length}", encoder.name());
            }
        }
    }
}

#[test]
fn a_query_is_shown_in_pieces() {
    let Some(options) = options() else { return };
    let stanford = opened(&testdata().join("colbert-stanford"), &options);
    let shown = stanford
        .query_pieces("Measuring rain")
        .expect("an encoding")
        .join(" ");
    assert_eq!(
        shown,
        "[CLS] [Q] m ##e ##a ##s ##u ##r ##ing rain [SEP] [MASK] [MASK] [MASK] [MASK] [MASK]"
    );
    let text = opened(&testdata().join("dpr"), &options);
    assert_eq!(
        text.query_pieces("Measuring rain").expect("an encoding"),
        ["Measuring rain"]
    );
    assert_eq!((text.similarity(), text.dimension()), (Similarity::Dot, 16));
}

#[test]
fn a_model_of_texts_serves_by_its_token_vectors() {
    let Some(options) = options() else { return };
    let options = EncoderOptions {
        granularity: Some(Granularity::Piece),
        ..options
    };
    let encoder = opened(&testdata().join("sentence-transformers"), &options);
    assert_eq!(
        (encoder.granularity(), encoder.dimension()),
        (Granularity::Piece, 16)
    );
    assert_eq!(
        encoder.query_pieces("river bay").expect("an encoding"),
        ["[CLS]", "river", "bay", "[SEP]"]
    );
    let matrix = &encode_texts(encoder.as_ref(), &["river bay".to_owned()])[0];
    assert_eq!(
        matrix,
        &encoder.encode_queries(&["river bay"]).expect("an encoding")[0]
    );
    assert!((0..4).all(|row| (cosine(matrix.row(row), matrix.row(row)) - 1.0).abs() < 1e-6));
    assert!((matrix.row(1).iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn the_fingerprint_follows_what_changes_vectors_only() {
    let Some(options) = options() else { return };
    let folder = testdata().join("colbert-stanford");
    let of = |options: &EncoderOptions| opened(&folder, options).fingerprint().to_owned();
    let plain = of(&options);
    assert_eq!(plain.len(), 64);
    assert_eq!(
        of(&EncoderOptions {
            threads: Some(2),
            sessions: 2,
            tokens_a_batch: Some(9),
            ..options.clone()
        }),
        plain
    );
    assert_ne!(
        of(&EncoderOptions {
            query_length: Some(20),
            ..options.clone()
        }),
        plain
    );
    let changed = copy(&folder);
    assert_eq!(opened(changed.path(), &options).fingerprint(), plain);
    change(
        &changed.path().join("artifact.metadata"),
        &serde_json::json!({"mask_punctuation": false}),
    );
    assert_ne!(opened(changed.path(), &options).fingerprint(), plain);
}

/// The settings name them, other files say what they are.
#[test]
fn the_fingerprint_follows_the_special_tokens() {
    let Some(options) = options() else { return };
    let folder = testdata().join("colbert-stanford");
    let plain = opened(&folder, &options).fingerprint().to_owned();
    for key in ["sep_token", "mask_token"] {
        let changed = copy(&folder);
        change(
            &changed.path().join("tokenizer_config.json"),
            &serde_json::json!({key: "[PAD]"}),
        );
        assert_ne!(
            opened(changed.path(), &options).fingerprint(),
            plain,
            "{key}"
        );
    }
}

/// A field of a protobuf message that holds bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [
        &[number << 3 | 2, u8::try_from(content.len()).expect("short")],
        content,
    ]
    .concat()
}

/// Appended protobuf bytes are merged into the message: here one more tensor of the graph, with its value in a file.
fn with_weights_in(file: &str, graph: &[u8]) -> Vec<u8> {
    let location = field(
        13,
        &[field(1, b"location"), field(2, file.as_bytes())].concat(),
    );
    let (shape_and_type, external): (&[u8], &[u8]) = (&[0x08, 1, 0x10, 1], &[0x70, 1]);
    let tensor = [shape_and_type, &field(8, b"one_more"), &location, external].concat();
    [graph, &field(7, &field(5, &tensor))].concat()
}

#[test]
fn the_fingerprint_follows_weights_in_files_of_any_name() {
    let Some(options) = options() else { return };
    let place = copy(&testdata().join("sentence-transformers"));
    let (graph, file) = (
        place.path().join("model.onnx"),
        place.path().join("all weights.bin"),
    );
    let bytes = std::fs::read(&graph).expect("a graph");
    std::fs::write(&graph, with_weights_in("all weights.bin", &bytes)).expect("a graph");
    let of = |weight: f32| {
        std::fs::write(&file, weight.to_le_bytes()).expect("weights");
        opened(place.path(), &options).fingerprint().to_owned()
    };
    assert_eq!(of(1.0), of(1.0));
    assert_ne!(of(1.0), of(2.0));
    std::fs::remove_file(&file).expect("weights");
    assert!(open(place.path(), &options).is_err(), "without its weights");
}
