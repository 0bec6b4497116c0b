//! Models trained here: one network with a head for each granularity, and the ones in `models/` against the vectors that torch
//! made of the same texts when they were exported.

use super::*;
use serde::Deserialize;
use serde_json::json;

/// A line of `parity.json`.
#[derive(Deserialize)]
struct Reference {
    text: String,
    /// Of the text as a query.
    vector: Vec<f32>,
    /// With a piece head, the first rows of the query, and how many rows the text has as a passage.
    #[serde(default)]
    rows: Vec<Vec<f32>>,
    kept: Option<usize>,
}

/// What eight bits cost a vector of these texts at most.
const EIGHT_BITS: f64 = 0.97;

#[test]
fn one_network_serves_both_heads() {
    let Some(options) = options() else { return };
    let place = copy(&testdata().join("sentence-transformers"));
    let pieces = EncoderOptions { granularity: Some(Granularity::Piece), ..options.clone() };
    let bare = opened(place.path(), &pieces);
    let head = place.path().join("pieces");
    for folder in ["1_Normalize", "2_Mask"] {
        std::fs::create_dir_all(head.join(folder)).expect("a folder");
    }
    let module =
        |path: &str, kind: &str| json!({ "path": path, "type": format!("sentence_transformers.models.{kind}") });
    let modules =
        [module("..", "Transformer"), module("1_Normalize", "Normalize"), module("2_Mask", "MultiVectorMask")];
    std::fs::write(head.join("modules.json"), json!(modules).to_string()).expect("modules.json");
    change(&head.join("2_Mask/config.json"), &json!({ "skiplist_words": [","] }));

    let texts = ["rain, snow".to_owned()];
    let (with, without) = (opened(place.path(), &pieces), bare);
    let [masked, all] = [&with, &without].map(|encoder| encode_texts(encoder.as_ref(), &texts).remove(0));
    assert_eq!(masked.rows() + 1, all.rows(), "the comma has no vector");
    assert_eq!(masked.row(1), all.row(1));
    assert_eq!(with.name(), place.path().file_name().and_then(|name| name.to_str()).expect("a name"));
    let text = opened(place.path(), &EncoderOptions { granularity: Some(Granularity::Text), ..options });
    assert_eq!(text.granularity(), Granularity::Text, "without being asked for pieces, the folder is what it was");
}

#[test]
fn the_shipped_models_give_torchs_vectors() {
    let Some(options) = options() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = folder.read_dir().expect("models/").map(|entry| entry.expect("an entry").path());
    let mut compared = 0;
    for model in models.filter(|path| path.is_dir()) {
        let references = std::fs::read(model.join("parity.json")).expect("parity.json");
        let references: Vec<Reference> = serde_json::from_slice(&references).expect("references");
        let of = |granularity| opened(&model, &EncoderOptions { granularity: Some(granularity), ..options.clone() });
        let text = of(Granularity::Text);
        for reference in &references {
            let found = cosine(text.encode_queries(&[&reference.text]).expect("a query")[0].row(0), &reference.vector);
            assert!(found > EIGHT_BITS, "{}: {:?}: cosine {found}", model.display(), reference.text);
            compared += 1;
        }
        if !model.join("pieces").exists() {
            continue;
        }
        let pieces = of(Granularity::Piece);
        for Reference { text, rows, kept, .. } in &references {
            let query = pieces.encode_queries(&[text]).expect("a query").remove(0);
            for (number, row) in rows.iter().enumerate() {
                let found = cosine(query.row(number), row);
                assert!(found > EIGHT_BITS - 0.03, "{}: {text:?}, row {number}: cosine {found}", model.display());
            }
            let passage = encode_texts(pieces.as_ref(), std::slice::from_ref(text)).remove(0);
            assert_eq!(Some(passage.rows()), *kept, "{}: {text:?}: rows of the passage", model.display());
        }
    }
    assert!(compared > 0, "no model is shipped");
}
