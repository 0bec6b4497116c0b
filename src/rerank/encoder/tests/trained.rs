//! Models trained here: one network with a head for each granularity.

use super::*;
use serde_json::json;

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
