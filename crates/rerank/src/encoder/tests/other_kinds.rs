//! Cross-encoders and learned sparse models against their references.

use super::super::open_cross_encoder;
use super::*;
use crate::Query;
use crate::term_weights::query_terms;
use serde::Deserialize;
use std::collections::BTreeMap;

fn expected<T: for<'de> Deserialize<'de>>(folder: &Path) -> T {
    serde_json::from_slice(&std::fs::read(folder.join("expected.json")).expect("expected.json"))
        .expect("expected.json")
}

#[derive(Deserialize)]
struct Pair {
    query: String,
    text: String,
    logit: f64,
    score: f64,
}

#[test]
fn cross_encoders_score_as_their_reference() {
    let Some(options) = options() else { return };
    let place = copy(&testdata().join("cross-encoder"));
    let config = std::fs::read_to_string(place.path().join("config.json")).expect("settings");
    let with = |key: &str, value: Value| {
        let mut config: Map<String, Value> = serde_json::from_str(&config).expect("settings");
        config.insert(key.to_owned(), value);
        std::fs::write(
            place.path().join("config.json"),
            Value::Object(config).to_string(),
        )
        .expect("settings");
        open_cross_encoder(place.path(), &options)
    };
    let identity = "torch.nn.modules.linear.Identity";
    let plain = open_cross_encoder(place.path(), &options).expect("a model");
    let old = with("sbert_ce_default_activation_function", identity.into()).expect("a model");
    let new = with(
        "sentence_transformers",
        serde_json::json!({"activation_fn": identity}),
    )
    .expect("a model");
    for Pair {
        query,
        text,
        logit,
        score,
    } in expected::<Vec<Pair>>(place.path())
    {
        let found = [&plain, &old, &new].map(|model| model.score(&query, &text).expect("a score"));
        for (found, expected) in found.into_iter().zip([score, logit, logit]) {
            assert!(
                (found - expected).abs() < 1e-4,
                "{query}: {found}, not {expected}"
            );
        }
    }
    let unknown = with(
        "sentence_transformers",
        serde_json::json!({"activation_fn": "torch.nn.GELU"}),
    );
    let unknown = unknown.err().expect("a refusal").to_string();
    let expected = r#"sentence_transformers: activation_fn = "torch.nn.GELU": the activation torch.nn.GELU is not known"#;
    assert!(unknown.ends_with(expected), "{unknown}");
    let other = open_cross_encoder(&testdata().join("sentence-transformers"), &options)
        .err()
        .expect("a refusal");
    assert!(
        other
            .to_string()
            .contains("is known to hold what is needed"),
        "{other}"
    );
}

#[derive(Deserialize)]
struct SparseVectors {
    texts: Vec<String>,
    queries: Vec<Vec<(u32, f64)>>,
    documents: Vec<Vec<(u32, f64)>>,
}

fn terms(matrix: &Matrix) -> BTreeMap<u32, f64> {
    query_terms(&Query::new(matrix))
        .into_iter()
        .map(|(term, weight)| (term, f64::from(weight)))
        .collect()
}

fn same(what: &str, found: &Matrix, expected: &[(u32, f64)]) {
    let (found, expected) = (
        terms(found),
        expected.iter().copied().collect::<BTreeMap<_, _>>(),
    );
    for term in found.keys().chain(expected.keys()) {
        let [ours, theirs] =
            [&found, &expected].map(|terms| terms.get(term).copied().unwrap_or(0.0));
        assert!(
            (ours - theirs).abs() < 1e-4,
            "{what}, term {term}: {ours}, not {theirs}"
        );
    }
}

#[test]
fn sparse_models_weigh_terms_as_their_reference() {
    let Some(options) = options() else { return };
    for folder in ["splade", "splade-inference-free"] {
        let folder = testdata().join(folder);
        let encoder = opened(&folder, &options);
        assert_eq!(
            (encoder.granularity(), encoder.dimension()),
            (Granularity::Term, 3)
        );
        let SparseVectors {
            texts,
            queries,
            documents,
        } = expected(&folder);
        let documents_found = encode_texts(encoder.as_ref(), &texts);
        for (place, text) in texts.iter().enumerate() {
            let query = encoder.encode_queries(&[text]).expect("a query").remove(0);
            same(
                &format!("{} {text:?} as a query", encoder.name()),
                &query,
                &queries[place],
            );
            same(
                &format!("{} {text:?}", encoder.name()),
                &documents_found[place],
                &documents[place],
            );
            assert_eq!(
                encoder.query_pieces(text).expect("terms").len(),
                query.rows()
            );
        }
    }
}

/// The pooling belongs to the model with one vector per text beside it.
#[test]
fn sparse_models_ignore_the_pooling_of_another_model() {
    let Some(options) = options() else { return };
    let options = EncoderOptions {
        granularity: Some(Granularity::Term),
        pooling: Some("mean".to_owned()),
        ..options
    };
    assert_eq!(
        opened(&testdata().join("splade"), &options).granularity(),
        Granularity::Term
    );
}

/// The weights of queries may lie in a file of JSON, by token.
#[test]
fn weights_of_queries_by_name() {
    let Some(options) = options() else { return };
    let place = copy(&testdata().join("splade-inference-free"));
    let folder = place.path().join("query_0_SparseStaticEmbedding");
    std::fs::write(
        folder.join("config.json"),
        r#"{"path": "idf.json", "frozen": true}"#,
    )
    .expect("settings");
    std::fs::write(folder.join("idf.json"), r#"{"rain": 2.5, "snow": 0.0}"#).expect("weights");
    let encoder = opened(place.path(), &options);
    let query = encoder
        .encode_queries(&["rain, rain and snow"])
        .expect("a query")
        .remove(0);
    assert_eq!(terms(&query).into_values().collect::<Vec<_>>(), [2.5]);
    assert_eq!(
        encoder.query_pieces("rain, rain and snow").expect("terms"),
        ["rain"]
    );
    std::fs::write(folder.join("idf.json"), r#"{"no such token": 2.5}"#).expect("weights");
    assert!(
        open(place.path(), &options)
            .err()
            .is_some_and(|error| error.to_string().contains("no such token"))
    );
}
