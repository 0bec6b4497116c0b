//! Models trained here: one network with a head for each granularity.

use super::super::model::Model;
use super::*;
use serde_json::json;

/// The models that are shipped, against torch's vectors of the same texts (`parity.json`, made when they were exported).
#[test]
fn shipped_models_are_what_was_trained() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let folders = models
        .read_dir()
        .expect("models")
        .map(|entry| entry.expect("an entry").path());
    let folders: Vec<PathBuf> = folders
        .filter(|path| path.join("parity.json").is_file())
        .collect();
    assert!(!folders.is_empty());
    for folder in folders {
        let card = std::fs::read_to_string(folder.join("README.md")).expect("a model card");
        assert!(folder.join("lodeseek.json").is_file(), "its floors");
        assert!(
            ["license: apache-2.0", "## Data", "## Scores", "## Limits"]
                .iter()
                .all(|part| card.contains(part))
        );
        let Some(options) = options() else { continue };
        let [text, pieces] = [Granularity::Text, Granularity::Piece].map(|granularity| {
            opened(
                &folder,
                &EncoderOptions {
                    granularity: Some(granularity),
                    ..options.clone()
                },
            )
        });
        let parity = std::fs::read(folder.join("parity.json")).expect("parity.json");
        let cases: Vec<Value> = serde_json::from_slice(&parity).expect("parity.json");
        assert!(cases.len() >= 5);
        for line in cases {
            let query = line["text"].as_str().expect("a text");
            let vectors = |value: &Value| -> Vec<f32> {
                serde_json::from_value(value.clone()).expect("numbers")
            };
            let ours = text.encode_queries(&[query]).expect("vectors").remove(0);
            assert!(
                cosine(ours.row(0), &vectors(&line["vector"])) > 0.999,
                "{query}"
            );
            let ours = pieces.encode_queries(&[query]).expect("vectors").remove(0);
            assert_eq!(
                ours.rows() as u64,
                line["pieces"].as_u64().expect("a number"),
                "{query}"
            );
            for (row, theirs) in line["rows"].as_array().expect("rows").iter().enumerate() {
                assert!(
                    cosine(ours.row(row), &vectors(theirs)) > 0.995,
                    "{query}, {row}"
                );
            }
            let ours = encode_texts(pieces.as_ref(), &[query.to_owned()]).remove(0);
            assert_eq!(
                ours.rows() as u64,
                line["kept"].as_u64().expect("a number"),
                "{query}"
            );
        }
    }
}

#[test]
fn the_multilingual_model_finds_translations_and_encodes_no_short_texts() {
    let Some(options) = options() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/lodeseek-multilingual");
    let encoder = opened(&folder, &options);
    let texts = [
        "Air quality in the Basque Country",
        "Lakes of Finland",
        "Bus 12345",
    ];
    let texts = encode_texts(encoder.as_ref(), &texts.map(str::to_owned));
    let rows: Vec<usize> = texts.iter().map(Matrix::rows).collect();
    assert_eq!(rows, [1, 1, 0]);
    for query in [
        "Luftqualität",
        "qualité de l'air",
        "Качество на въздуха",
        "ποιότητα του αέρα",
    ] {
        let query_vector = encoder.encode_queries(&[query]).expect("vectors").remove(0);
        let [air, lakes] = [0, 1].map(|text| cosine(query_vector.row(0), texts[text].row(0)));
        assert!(air > lakes + 0.02, "{query}: {air} {lakes}");
    }
}

#[test]
fn one_network_serves_both_heads() {
    let Some(options) = options() else { return };
    let place = copy(&testdata().join("sentence-transformers"));
    let pieces = EncoderOptions {
        granularity: Some(Granularity::Piece),
        ..options.clone()
    };
    let bare = opened(place.path(), &pieces);
    let head = place.path().join("pieces");
    for folder in ["1_Normalize", "2_Mask"] {
        std::fs::create_dir_all(head.join(folder)).expect("a folder");
    }
    let module = |path: &str, kind: &str| json!({ "path": path, "type": format!("sentence_transformers.models.{kind}") });
    let modules = [
        module("..", "Transformer"),
        module("1_Normalize", "Normalize"),
        module("2_Mask", "MultiVectorMask"),
    ];
    std::fs::write(head.join("modules.json"), json!(modules).to_string()).expect("modules.json");
    change(
        &head.join("2_Mask/config.json"),
        &json!({ "skiplist_words": [","] }),
    );

    let texts = ["rain, snow".to_owned()];
    let (with, without) = (opened(place.path(), &pieces), bare);
    let [masked, all] =
        [&with, &without].map(|encoder| encode_texts(encoder.as_ref(), &texts).remove(0));
    assert_eq!(masked.rows() + 1, all.rows(), "the comma has no vector");
    assert_eq!(masked.row(1), all.row(1));
    assert_eq!(
        with.name(),
        place
            .path()
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
    );
    let text = opened(
        place.path(),
        &EncoderOptions {
            granularity: Some(Granularity::Text),
            ..options
        },
    );
    assert_eq!(
        text.granularity(),
        Granularity::Text,
        "without being asked for pieces, the folder is what it was"
    );
}

#[test]
fn both_heads_need_one_pass() {
    let Some(options) = options() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/lodeseek-minilm");
    let alone = [Granularity::Text, Granularity::Piece].map(|granularity| {
        opened(
            &folder,
            &EncoderOptions {
                granularity: Some(granularity),
                ..options.clone()
            },
        )
    });
    let both = Model::open_both(&folder, &options).expect("both heads");
    let texts = ["rain, snow", "rain, snow", "", "air quality in Paris"].map(str::to_owned);
    let vectors = |encoder: &dyn Encoder| {
        let queries = encoder
            .encode_queries(&["nitrogen in Maryland"])
            .expect("vectors");
        (queries, encode_texts(encoder, &texts))
    };
    assert_eq!(both[0].cached_passes(), Some(0));
    let ours = vectors(&both[0]);
    // Equal texts leave one pass.
    assert_eq!(both[1].cached_passes(), Some(3));
    assert_eq!(
        (ours, vectors(&both[1])),
        (vectors(alone[0].as_ref()), vectors(alone[1].as_ref()))
    );
    assert_eq!(
        both[0].cached_passes(),
        Some(1),
        "the head for pieces ran the network for the second of the equal texts"
    );
    assert_eq!(
        both.each_ref().map(Encoder::fingerprint),
        alone.each_ref().map(|encoder| encoder.fingerprint())
    );

    // A network for each head: nothing to share.
    let place = copy(&testdata().join("dpr"));
    assert!(
        Model::open_both(place.path(), &options).is_err(),
        "two towers have no vectors by piece"
    );
}
