//! Unsupported settings are rejected with the file, the setting and its value.

use super::*;
use serde_json::json;

fn refused(folder: &Path) -> String {
    match open(
        folder,
        &EncoderOptions {
            device: Device::Cpu,
            ..options().unwrap_or_default()
        },
    ) {
        Ok(_) => panic!("{} was opened", folder.display()),
        Err(error) => error.to_string(),
    }
}

/// Returns the error for a folder in which one setting was changed.
fn refused_with(folder: &str, file: &str, changes: Value) -> String {
    let place = copy(&testdata().join(folder));
    change(&place.path().join(file), &changes);
    refused(place.path()).replace(&place.path().display().to_string(), "FOLDER")
}

#[test]
fn settings_nobody_knows() {
    let families = "sentence-transformers";
    let all = [
        refused_with(
            families,
            "sentence_bert_config.json",
            json!({"unpadding": true}),
        ),
        refused_with(
            families,
            "1_Pooling/config.json",
            json!({"word_embedding_dimension": 16, "pooling_mode": "attention"}),
        ),
        refused_with(
            families,
            "config_sentence_transformers.json",
            json!({"similarity_fn_name": "euclidean"}),
        ),
        refused_with(
            families,
            "tokenizer_config.json",
            json!({"truncation_side": "left"}),
        ),
        refused_with(
            families,
            "modules.json",
            json!([{"path": "", "type": "a.Transformer"}, {"path": "x", "type": "a.Router"}]),
        ),
        refused_with(
            families,
            "2_Dense/config.json",
            json!({"bias": true, "activation_function": "torch.nn.GELU"}),
        ),
        refused_with(
            "colbert-stanford",
            "artifact.metadata",
            json!({"similarity": "l2"}),
        ),
        refused_with(
            "colbert-stanford",
            "artifact.metadata",
            json!({"query_maxlen": 2000}),
        ),
        refused_with(
            "colbert-native",
            "sentence_bert_config.json",
            json!({"query_expansion": {"strategy": "double", "length": 9}}),
        ),
        refused_with(
            "colbert-native",
            "2_MultiVectorMask/config.json",
            json!({"keep_only_token_ids": [1]}),
        ),
        refused_with(
            "colbert-pylate",
            "config_sentence_transformers.json",
            json!({"query_length": "long"}),
        ),
        refused_with(
            "colbert-pylate",
            "config_sentence_transformers.json",
            json!({"document_length": 32_769}),
        ),
        refused_with(
            "colbert-native",
            "sentence_bert_config.json",
            json!({"query_expansion": {"strategy": "min", "length": 49}}),
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    FOLDER/sentence_bert_config.json: unpadding = true: this setting is not known here, and what it changes would be lost
    FOLDER/1_Pooling/config.json: pooling_mode = "attention": this pooling is not known
    FOLDER/config_sentence_transformers.json: similarity_fn_name = "euclidean": vectors are not compared that way here
    FOLDER/tokenizer_config.json: truncation_side = "left": only "right" is possible here
    FOLDER/modules.json: type = a.Router: this module is not known, or not at this place
    FOLDER/2_Dense/config.json: activation_function = "torch.nn.GELU": this activation is not known
    FOLDER/artifact.metadata: similarity = "l2": only "cosine" is possible here
    FOLDER: a length of 2000 pieces is not possible: 3 to 48
    FOLDER/sentence_bert_config.json/query_expansion: strategy = "double": fixed or min is expected
    FOLDER/2_MultiVectorMask/config.json: keep_only_token_ids = [1]: only null is possible here
    FOLDER/config_sentence_transformers.json: query_length = "long": a whole number is expected
    FOLDER/config_sentence_transformers.json: document_length = 32769: at most 32768 pieces are possible
    FOLDER: a length of 49 pieces is not possible: 3 to 48
    "#);
}

/// Without `max_position_embeddings` nothing but the ceiling stands between a folder and memory.
#[test]
fn lengths_that_no_memory_holds() {
    let place = copy(&testdata().join("colbert-stanford"));
    let config = std::fs::read_to_string(place.path().join("config.json")).expect("settings");
    let mut config: Map<String, Value> = serde_json::from_str(&config).expect("settings");
    assert!(config.remove("max_position_embeddings").is_some());
    change(&place.path().join("config.json"), &Value::Object(config));
    for key in ["query_maxlen", "doc_maxlen"] {
        let old = std::fs::read(place.path().join("artifact.metadata")).expect("settings");
        change(
            &place.path().join("artifact.metadata"),
            &json!({key: 10_000_000_000_u64}),
        );
        let message = refused(place.path());
        let expected =
            format!("artifact.metadata: {key} = 10000000000: at most 32768 pieces are possible");
        assert!(message.ends_with(&expected), "{message}");
        std::fs::write(place.path().join("artifact.metadata"), old).expect("settings");
    }
    let requested = EncoderOptions {
        document_length: Some(32_769),
        ..EncoderOptions::default()
    };
    let message = open(place.path(), &requested)
        .err()
        .expect("a refusal")
        .to_string();
    assert!(
        message.ends_with("a length of 32769 pieces is not possible: 3 to 32768"),
        "{message}"
    );
}

#[test]
fn folders_that_hold_no_model() {
    let empty = tempfile::tempdir().expect("a file");
    assert!(refused(empty.path()).contains("no model of a known kind"));
    assert!(refused(&empty.path().join("nowhere")).ends_with("there is no such folder"));
    let place = copy(&testdata().join("dpr"));
    std::fs::remove_file(place.path().join("ctx_encoder/model.onnx")).expect("a file");
    let message = refused(place.path());
    assert!(
        message.contains("ctx_encoder: neither model.onnx nor model_int8.onnx is there"),
        "{message}"
    );
}

#[test]
fn a_pooling_is_stated_once() {
    let opened = |folder: &str, pooling: Option<&str>| {
        let options = EncoderOptions {
            pooling: pooling.map(str::to_owned),
            ..EncoderOptions::default()
        };
        open(&testdata().join(folder), &options)
            .err()
            .expect("a refusal")
            .to_string()
    };
    let missing = opened("transformers", None);
    assert!(
        missing.ends_with("add --pooling mean, cls or lasttoken, as the card of the model states"),
        "{missing}"
    );
    assert!(opened("transformers", Some("median")).contains("supported: mean, cls, max"));
    for folder in ["sentence-transformers", "static-model2vec"] {
        assert!(
            opened(folder, Some("mean")).ends_with("remove --pooling"),
            "{folder}"
        );
    }
}

#[test]
fn sparse_and_static_models_of_another_shape() {
    let all = [
        refused_with(
            "splade",
            "1_SpladePooling/config.json",
            json!({"pooling_strategy": "mean"}),
        ),
        refused_with(
            "splade",
            "sentence_bert_config.json",
            json!({"transformer_task": "feature-extraction"}),
        ),
        refused_with(
            "splade-inference-free",
            "router_config.json",
            json!({"structure": {"query": [""], "document": [""]}}),
        ),
        refused_with(
            "static-sentence-transformers",
            "modules.json",
            json!([{"path": "0_StaticEmbedding", "type": "a.StaticEmbedding"}, {"path": "", "type": "a.Dense"}]),
        ),
        refused_with(
            "static-sentence-transformers",
            "config_sentence_transformers.json",
            json!({"similarity_fn_name": "euclidean"}),
        ),
        refused_with(
            "static-model2vec",
            "config_sentence_transformers.json",
            json!({"prompts": {"passage": "text: "}, "similarity_fn_name": "cosine"}),
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    FOLDER/1_SpladePooling/config.json: pooling_strategy = "mean": max or sum is expected
    FOLDER/sentence_bert_config.json: transformer_task = "feature-extraction": only "fill-mask" is possible here
    FOLDER/router_config.json: structure = {"document":[""],"query":[""]}: only documents by MLMTransformer and SpladePooling with queries by SparseStaticEmbedding are possible
    FOLDER: the module a.Dense cannot follow static embeddings
    FOLDER/config_sentence_transformers.json: similarity_fn_name = "euclidean": vectors are not compared that way here
    FOLDER/config_sentence_transformers.json: prompts = {"passage":"text: "}: static embeddings are computed without prompts here
    "#);
}

#[test]
fn vectors_that_do_not_fit_the_tokenizer() {
    let place = copy(&testdata().join("static-model2vec"));
    std::fs::copy(
        testdata().join("colbert-modernbert/tokenizer.json"),
        place.path().join("tokenizer.json"),
    )
    .expect("a copy");
    let message = refused(place.path());
    assert!(
        message.contains("40 vectors do not fit the 322 tokens of the tokenizer"),
        "{message}"
    );
}

#[test]
fn rows_by_text_of_a_model_of_pieces() {
    let requested = EncoderOptions {
        granularity: Some(Granularity::Text),
        ..EncoderOptions::default()
    };
    let message = open(&testdata().join("colbert-native"), &requested)
        .err()
        .expect("a refusal")
        .to_string();
    assert!(
        message.ends_with("the model gives rows by Piece, rows by Text were requested"),
        "{message}"
    );
}

/// The loaded library stays for the process: whatever the order of tests, the other one is refused.
#[test]
fn a_library_that_is_not_there() {
    let library = Some(PathBuf::from("/nowhere/libonnxruntime.so"));
    let requested = EncoderOptions {
        library,
        device: Device::Cpu,
        ..EncoderOptions::default()
    };
    match open(&testdata().join("dpr"), &requested)
        .err()
        .expect("a refusal")
    {
        error @ ModelError::Runtime { .. } => {
            let message = error.to_string();
            assert!(
                message.starts_with(
                    "ONNX Runtime could not be loaded from /nowhere/libonnxruntime.so"
                ),
                "{message}"
            );
            assert!(
                message.contains("pip install onnxruntime") && message.contains("ORT_DYLIB_PATH"),
                "{message}"
            );
        }
        error => assert!(
            matches!(error, ModelError::RuntimeConflict { .. }),
            "{error}"
        ),
    }
}

/// PyPI's package for processors has no CUDA in it; a machine with a GPU and its package forward_cache the other way.
#[test]
fn a_gpu_that_is_not_there() {
    let Some(options) = options() else { return };
    let folder = testdata().join("dpr");
    match open(
        &folder,
        &EncoderOptions {
            device: Device::Cuda(7),
            ..options.clone()
        },
    ) {
        Ok(encoder) => assert_eq!(encoder.device(), "cuda:7"),
        Err(error) => {
            assert!(
                matches!(error, ModelError::Device { ordinal: 7, .. }),
                "{error}"
            );
            let message = error.to_string();
            assert!(
                message.starts_with("the device cuda:7 cannot be used: ")
                    && !message.contains(".."),
                "{message}"
            );
            let found = opened(
                &folder,
                &EncoderOptions {
                    device: Device::Auto,
                    ..options
                },
            );
            assert!(
                found.device() == "cpu, 1 thread" || found.device().starts_with("cuda:0"),
                "{}",
                found.device()
            );
        }
    }
}

#[test]
fn a_graph_with_an_unknown_input() {
    if options().is_none() {
        return;
    }
    let place = copy(&testdata().join("sentence-transformers"));
    let graph = place.path().join("model.onnx");
    let bytes = std::fs::read(&graph).expect("a file");
    let (old, new) = (b"token_type_ids", b"position_ids_x");
    let renamed: Vec<u8> = replaced(&bytes, old, new);
    assert_ne!(bytes, renamed);
    std::fs::write(&graph, renamed).expect("a file");
    let message = refused(place.path());
    assert!(
        message.ends_with("model.onnx: the input position_ids_x is not known"),
        "{message}"
    );
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut result = bytes.to_vec();
    while let Some(place) = memchr::memmem::find(&result, old) {
        result[place..place + old.len()].copy_from_slice(new);
    }
    result
}
