//! A condition that re-ranks a published run, with an encoder that needs no model.

use super::support::{home, testdata};
use lodeseek_engine::{EncodingOptions, RerankOptions, Reranker, Searcher, encode};
use lodeseek_eval::{Metric, Qrels, Run, Topics};
use lodeseek_lab::reproduce::Condition;
use lodeseek_rerank::{EncodeError, Encoder, Granularity, Matrix, Passage, Similarity};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// Encoder that counts words: each word adds 1 to the coordinate of its hash.
struct HashedWords;

const DIMENSION: usize = 256;

/// Returns the vector of a text.
fn count_words(text: &str) -> [f32; DIMENSION] {
    let mut vector = [0.0; DIMENSION];
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            let digest = Sha256::digest(word.to_lowercase());
            vector[usize::from(digest[0])] += 1.0;
        }
    }
    vector
}

impl Encoder for HashedWords {
    fn name(&self) -> &'static str {
        "hashed words"
    }

    fn fingerprint(&self) -> &str {
        "hashed words"
    }

    fn granularity(&self) -> Granularity {
        Granularity::Text
    }

    fn similarity(&self) -> Similarity {
        Similarity::Cosine
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError> {
        let mut matrices = Vec::new();
        for query in queries {
            matrices.push(Matrix::new(DIMENSION, count_words(query).to_vec()));
        }
        Ok(matrices)
    }

    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError> {
        let mut matrices = Vec::new();
        for passage in passages {
            let text = passage.parts.join(" ");
            matrices.push(Matrix::new(DIMENSION, count_words(&text).to_vec()));
        }
        Ok(matrices)
    }

    fn origins(&self, _: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError> {
        Ok(vec![None])
    }

    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError> {
        Ok(vec![query.to_owned()])
    }
}

/// DR2 re-ranks the published runs of ACORDAR: the candidates of a condition come from a file.
#[test]
fn a_condition_ranks_a_published_run_again() {
    let home = home("testdata/catalog.ttl");
    encode(
        home.path(),
        &HashedWords,
        &EncodingOptions::default(),
        &|_| (),
    )
    .expect("encoded");
    let condition = fs::read_to_string(testdata("tables.toml")).expect("read");
    let (head, _) = condition.split_once("[[tables]]").expect("a table");
    let head = head.replace("[collection]", "[collection]\nqueries = \"queries.tsv\"");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rerank.toml");
    let reproduce = |keys: &str| {
        let row = format!(
            "name = \"again\"\nexpected = [0]\nrerank = {{ depth = 10, encoders = [\"text\"], {keys} }}"
        );
        let table =
            "id = \"t\"\ntitle = \"T\"\nsource = \"S\"\naverage = \"micro\"\nmeasures = [\"RR\"]";
        fs::write(
            &path,
            format!("{head}[[tables]]\n{table}\n[[tables.rows]]\n{row}\n"),
        )
        .expect("written");
        let encoders =
            |_, _: Option<&Path>| -> anyhow::Result<Box<dyn Encoder>> { Ok(Box::new(HashedWords)) };
        Condition::read(&path)?.reproduce(&testdata(""), home.path(), &encoders, &|_| ())
    };
    let report = reproduce("candidates = \"runs/metadata.run\"").expect("reproduced");
    let row = &report.tables[0].rows[0];
    assert_eq!(
        row.note.as_deref(),
        Some("17 candidates of runs/metadata.run, 0 of them not in the home")
    );
    let options = RerankOptions {
        depth: 10,
        fusion: None,
        ..RerankOptions::default()
    };
    let reranker = Reranker::open(
        home.path(),
        [Box::new(HashedWords) as Box<dyn Encoder>],
        options,
    )
    .expect("opened");
    let searcher = Searcher::open(home.path())
        .expect("an index")
        .with_reranker(reranker);
    let run = Run::read(&testdata("runs/metadata.run")).expect("a run");
    let qrels = Qrels::read(&testdata("qrels.txt")).expect("judgements");
    let topics = Topics::read(&testdata("queries.tsv")).expect("topics");
    let metric: Metric = "RR".parse().expect("a measure");
    for topic in topics.0.iter().filter(|topic| qrels.has(&topic.id)) {
        let ranking = run.ranking(&topic.id).cloned().unwrap_or_default();
        let ranked = searcher.rerank(&topic.text, &ranking).expect("ranked");
        assert_eq!(
            row.by_topic[0][&topic.id],
            metric.evaluate(&qrels, &topic.id, &ranked),
            "{}",
            topic.id
        );
    }
    for (keys, part) in [
        (
            "candidates = \"runs/metadata.run\", pool = [\"bm25\"]",
            "use one of the two",
        ),
        ("trained = \"none\"", "use one of the two"),
        (
            "candidates = \"runs/metadata.run\", weights = \"tuned\"",
            "leave `weights` out",
        ),
    ] {
        let error = format!("{:#}", reproduce(keys).expect_err("refused"));
        assert!(error.contains(part), "{error}");
    }
}
