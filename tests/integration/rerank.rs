//! Encoding, and ranking again by vectors, with an encoder small enough to reckon by hand: words hashed to coordinates.

use super::support::{Home, copy_of_testdata, testdata};
use lodeseek_catalog::DatasetId;
use lodeseek_changes::VectorUpdates;
use lodeseek_engine::hit_json;
use lodeseek_engine::{
    EncodingOptions, EncodingProgress, EncodingReport, EngineError, PartKind, RerankError,
    RerankOptions, Reranker, SearchRequest, Searcher, SimilarityBasis, SimilarityPart,
    WeightedFusion, create_vectors, encode, encode_all, list_vectors, vectors_folder,
};
use lodeseek_index::Filter;
use lodeseek_index::sparse::ModelKind;
use lodeseek_index::vectors::{Precision, VectorsError, VectorsWriter, list, model_folder};
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rerank::{
    Combination, EncodeError, Encoder, Fusion, Granularity, Matrix, Method, Normalization, Passage,
    Similarity,
};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Wide enough that the words of `testdata/` seldom meet.
const COLUMNS: usize = 256;

/// A word's coordinate is its hash; a text's vector the sum of its words', a piece's the word's own. Rows of a passage
/// begin with a marker of no direction.
struct Hashed {
    granularity: Granularity,
    /// Passages encoded so far.
    passages: Arc<AtomicUsize>,
    /// Passages after which it fails.
    patience: usize,
}

impl Hashed {
    fn new(granularity: Granularity) -> Self {
        Self {
            granularity,
            passages: Arc::default(),
            patience: usize::MAX,
        }
    }

    fn rows<'t>(&self, words: impl Iterator<Item = &'t str>) -> Matrix {
        let rows: Vec<[f32; COLUMNS]> = words.map(hashed).collect();
        match self.granularity {
            _ if rows.is_empty() => Matrix::default(),
            Granularity::Text => Matrix::new(
                COLUMNS,
                (0..COLUMNS)
                    .map(|column| rows.iter().map(|row| row[column]).sum())
                    .collect(),
            ),
            Granularity::Piece | Granularity::Term => {
                let marker = [0.0; COLUMNS];
                Matrix::new(
                    COLUMNS,
                    [marker].iter().chain(&rows).flatten().copied().collect(),
                )
            }
        }
    }
}

fn hashed(word: &str) -> [f32; COLUMNS] {
    use sha2::{Digest, Sha256};
    let mut row = [0.0; COLUMNS];
    row[usize::from(Sha256::digest(word.to_lowercase())[0])] = 1.0;
    row
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

impl Encoder for Hashed {
    fn name(&self) -> &'static str {
        "hashed words"
    }

    fn fingerprint(&self) -> &str {
        if self.granularity == Granularity::Text {
            "text"
        } else {
            "piece"
        }
    }

    fn granularity(&self) -> Granularity {
        self.granularity
    }

    fn similarity(&self) -> Similarity {
        Similarity::Cosine
    }

    fn dimension(&self) -> usize {
        COLUMNS
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Vec<Matrix>, EncodeError> {
        Ok(queries
            .iter()
            .map(|query| self.rows(words(query)))
            .collect())
    }

    fn encode_passages(&self, passages: &[Passage<'_>]) -> Result<Vec<Matrix>, EncodeError> {
        if self.passages.fetch_add(passages.len(), Ordering::Relaxed) >= self.patience {
            return Err(EncodeError {
                model: self.name().to_owned(),
                cause: "no more".into(),
            });
        }
        Ok(passages
            .iter()
            .map(|passage| self.rows(passage.parts.iter().flat_map(|part| words(part))))
            .collect())
    }

    fn origins(&self, passage: Passage<'_>) -> Result<Vec<Option<usize>>, EncodeError> {
        let origins = passage
            .parts
            .iter()
            .enumerate()
            .flat_map(|(place, part)| words(part).map(move |_| Some(place)));
        Ok([None].into_iter().chain(origins).collect())
    }

    fn query_pieces(&self, query: &str) -> Result<Vec<String>, EncodeError> {
        Ok(words(query).map(str::to_owned).collect())
    }
}

fn boxed(encoder: Box<Hashed>) -> [Box<dyn Encoder>; 1] {
    [encoder]
}

fn home() -> Home {
    Home::from_catalog(&testdata("catalog.ttl"))
}

fn encoded(home: &Home, encoder: &Hashed) -> EncodingReport {
    encode(home.path(), encoder, &EncodingOptions::default(), &|_| ()).expect("encoded")
}

fn searcher(home: &Home, granularity: Granularity, options: RerankOptions) -> Searcher {
    let reranker = Reranker::open(
        home.path(),
        boxed(Box::new(Hashed::new(granularity))),
        options,
    )
    .expect("opened");
    home.searcher().with_reranker(reranker)
}

fn ids(searcher: &Searcher, query: &str) -> Vec<String> {
    searcher
        .rank(query, 100)
        .expect("ranked")
        .iter()
        .map(|scored| scored.id.to_string())
        .collect()
}

fn id(name: &str) -> DatasetId {
    DatasetId::new(name).expect("an id")
}

/// Words of many datasets.
const BROAD: &str = "public city town register building sensors year";
const QUERIES: [&str; 4] = [
    "air quality",
    "objects of the town museum",
    "stops and stations",
    BROAD,
];

#[test]
fn only_what_changed_is_encoded_again() {
    let data = copy_of_testdata();
    let home = Home::from_catalog(&data.path().join("catalog.ttl"));
    let encoder = Hashed::new(Granularity::Piece);
    let first = encoded(&home, &encoder);
    assert_eq!((first.encoded, first.unchanged, first.removed), (12, 0, 0));
    assert_eq!(encoder.passages.load(Ordering::Relaxed), 24);
    let again = encoded(&home, &encoder);
    assert_eq!(
        (again.encoded, again.unchanged, again.bytes),
        (0, 12, first.bytes)
    );
    assert_eq!(
        encoder.passages.load(Ordering::Relaxed),
        24,
        "the model did not run"
    );

    let catalog = data.path().join("catalog.ttl");
    let text = std::fs::read_to_string(&catalog).expect("read");
    let changed = text.replacen(
        "Stream gauge samples, Maryland",
        "Gauges of streams, Maryland",
        1,
    );
    assert_ne!(text, changed);
    std::fs::write(&catalog, changed).expect("written");
    home.load(&catalog);
    home.index();
    let changed = encoded(&home, &encoder);
    assert_eq!((changed.encoded, changed.unchanged), (1, 11));
    let smaller = EncodingOptions {
        precision: Precision::I8,
        ..EncodingOptions::default()
    };
    let smaller = encode(home.path(), &encoder, &smaller, &|_| ()).expect("encoded");
    assert_eq!(smaller.encoded, 12);
    assert!(smaller.bytes < changed.bytes);
}

#[test]
fn several_encoders_have_what_each_has_alone() {
    let home = home();
    let encoders = [Granularity::Text, Granularity::Piece].map(Hashed::new);
    assert_eq!(encoded(&home, &encoders[0]).encoded, 12);
    let options = EncodingOptions {
        batch: 5,
        ..EncodingOptions::default()
    };
    let both = encoders
        .each_ref()
        .map(|encoder| (encoder as &dyn Encoder, options));
    let told = std::sync::Mutex::new(Vec::new());
    let progress = |now: EncodingProgress| {
        told.lock()
            .expect("unharmed")
            .push((now.datasets, now.total))
    };
    let reports = encode_all(home.path(), &both, &progress).expect("encoded");
    let counts: Vec<_> = reports
        .iter()
        .map(|report| (report.encoded, report.unchanged))
        .collect();
    assert_eq!(counts, [(0, 12), (12, 0)], "one has all of its own already");
    assert_eq!(
        told.into_inner().expect("unharmed"),
        [(5, 12), (10, 12), (12, 12)]
    );

    let other = self::home();
    let pieces = encoded(&other, &encoders[1]);
    assert_eq!(reports[1].bytes, pieces.bytes);
    let ranked = |home: &Home| {
        let searcher = searcher(home, Granularity::Piece, RerankOptions::default());
        QUERIES.map(|query| searcher.rank(query, 100).expect("ranked"))
    };
    assert_eq!(ranked(&home), ranked(&other));
}

#[test]
fn an_encoder_that_fails_costs_the_others_nothing() {
    let home = home();
    let failing = Hashed {
        patience: 10,
        ..Hashed::new(Granularity::Piece)
    };
    let sound = Hashed::new(Granularity::Text);
    let options = EncodingOptions {
        batch: 2,
        commit: 2,
        ..EncodingOptions::default()
    };
    let both = [(&failing as &dyn Encoder, options), (&sound, options)];
    let error = encode_all(home.path(), &both, &|_| ()).expect_err("one fails");
    assert!(matches!(error, EngineError::Encode(_)), "{error}");
    assert_eq!(
        encoded(&home, &sound).unchanged,
        12,
        "the other encoded all"
    );
    assert_eq!(
        encoded(&home, &Hashed::new(Granularity::Piece)).unchanged,
        6,
        "what was committed stays"
    );
    assert!(
        encode_all(home.path(), &[], &|_| ())
            .expect("nothing to do")
            .is_empty()
    );
}

#[test]
fn an_interrupted_encoding_goes_on_where_it_committed() {
    let home = home();
    let options = EncodingOptions {
        batch: 1,
        commit: 2,
        ..EncodingOptions::default()
    };
    let failing = Hashed {
        patience: 10,
        ..Hashed::new(Granularity::Text)
    };
    let error = encode(home.path(), &failing, &options, &|_| ()).expect_err("fails");
    assert!(matches!(error, EngineError::Encode(_)), "{error}");
    let encoder = Hashed::new(Granularity::Text);
    let rest = encode(home.path(), &encoder, &options, &|_| ()).expect("encoded");
    assert_eq!(
        (rest.encoded, rest.unchanged),
        (8, 4),
        "five were encoded, four of them committed"
    );
}

#[test]
fn a_cancelled_encoding_keeps_its_batches_and_continues_later() {
    let dataset = |number: u32| {
        format!(
            "<http://e.org/{number}> a <http://www.w3.org/ns/dcat#Dataset>; <http://purl.org/dc/terms/title> \"Set {number}\" .\n"
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = folder.path().join("catalog.ttl");
    std::fs::write(&catalog, (0..20).map(dataset).collect::<String>()).expect("written");
    let home = Home::from_catalog(&catalog);
    let options = EncodingOptions::default();
    create_vectors(home.path(), &Hashed::new(Granularity::Text), &options).expect("created");
    let searcher = searcher(&home, Granularity::Text, RerankOptions::default());
    let vectors = VectorUpdates::default();
    let cancelled = vectors.run(&searcher, &|| true);
    assert_eq!(cancelled.expect("cancelled"), 0);
    let checks = AtomicUsize::new(0);
    let first = vectors
        .run(&searcher, &|| checks.fetch_add(1, Ordering::Relaxed) > 0)
        .expect("cancelled");
    assert_eq!(first, options.batch, "it ends after the first batch");
    let rest = vectors.run(&searcher, &|| false);
    assert_eq!(rest.expect("encoded"), 20 - options.batch);
    let nothing = vectors.run(&searcher, &|| false);
    assert_eq!(nothing.expect("nothing to do"), 0);
}

#[test]
fn without_vectors_there_is_a_clear_error() {
    let home = home();
    let error = Reranker::open(
        home.path(),
        boxed(Box::new(Hashed::new(Granularity::Text))),
        RerankOptions::default(),
    );
    let error = error.err().expect("an error");
    assert!(
        matches!(error, EngineError::Vectors(VectorsError::Missing(_))),
        "{error}"
    );
    assert!(error.to_string().contains("index --dpr"), "{error}");
}

/// With one coordinate a word and vectors of length 1, the dense score is the cosine of word counts.
#[test]
fn vectors_alone_rank_by_likeness() {
    let home = home();
    for granularity in [Granularity::Text, Granularity::Piece] {
        encoded(&home, &Hashed::new(granularity));
        let searcher = searcher(&home, granularity, RerankOptions::default());
        for query in QUERIES {
            let response = searcher
                .search(&SearchRequest {
                    depth: 100,
                    ..SearchRequest::new(query)
                })
                .expect("answered");
            let summary = response.rerank.as_ref().expect("ranked again");
            assert_eq!(
                (
                    summary.encoders[0].model.as_str(),
                    summary.encoders[0].unencoded
                ),
                ("hashed words", 0)
            );
            assert_eq!(summary.candidates, response.hits.len());
            let dense: Vec<f64> = response
                .hits
                .iter()
                .map(|hit| hit.dense.first().expect("scored").score)
                .collect();
            assert!(dense.is_sorted_by(|a, b| a >= b), "{dense:?}");
            let most = if granularity == Granularity::Text {
                1.001
            } else {
                words(query).count() as f64
            };
            assert!(
                dense.iter().all(|score| (0.0..=most).contains(score)),
                "{dense:?}"
            );
            let mut found = ids(&searcher, query);
            assert_eq!(
                found,
                response
                    .hits
                    .iter()
                    .map(|hit| hit.card.metadata.id.to_string())
                    .collect::<Vec<_>>()
            );
            let mut sparse = ids(&home.searcher(), query);
            sparse.sort();
            found.sort();
            assert_eq!(
                found, sparse,
                "the candidates are the sparse model's, in another order"
            );
            for hit in &response.hits {
                let dense = hit.dense.first().expect("scored");
                assert_eq!(
                    Some(dense.score),
                    Combination::Max.combine(dense.metadata, dense.data)
                );
                assert_eq!(Some(dense.score), hit.score);
            }
        }
    }
}

#[test]
fn rankings_do_not_depend_on_threads_and_repeat() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Piece));
    let of = |threads| {
        let options = RerankOptions {
            pool: vec![ModelKind::Bm25, ModelKind::Fsdm],
            threads: NonZeroUsize::new(threads).expect("some"),
            ..RerankOptions::default()
        };
        let searcher = searcher(&home, Granularity::Piece, options);
        QUERIES.map(|query| [0, 1].map(|_| searcher.rank(query, 100).expect("ranked")))
    };
    let one = of(1);
    assert_eq!(one, of(3));
    assert!(
        one.iter()
            .all(|[first, second]| first == second && !first.is_empty())
    );
}

#[test]
fn fused_with_weights() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Piece));
    let pool = vec![ModelKind::Bm25, ModelKind::Lmd];
    let fused = |weights: &[f64]| {
        let fusion = Some(WeightedFusion {
            method: Method::default(),
            weights: weights.to_vec(),
        });
        let options = RerankOptions {
            pool: pool.clone(),
            fusion,
            ..RerankOptions::default()
        };
        Reranker::open(
            home.path(),
            boxed(Box::new(Hashed::new(Granularity::Piece))),
            options,
        )
        .map(|reranker| home.searcher().with_reranker(reranker))
    };
    let alone = searcher(
        &home,
        Granularity::Piece,
        RerankOptions {
            pool: pool.clone(),
            ..RerankOptions::default()
        },
    );
    let equal = fused(&[]).expect("opened");
    for query in QUERIES {
        let only_dense = ids(&fused(&[0.0, 0.0, 1.0]).expect("opened"), query);
        assert_eq!(only_dense, ids(&alone, query));
        let only_first = ids(&fused(&[1.0, 0.0, 0.0]).expect("opened"), query);
        assert_eq!(only_first, ids(&home.searcher(), query));
        let best = equal.rank(query, 1).expect("ranked");
        assert!(best.iter().all(|scored| scored.score <= 3.0 / 61.0 + 1e-12));
    }
    assert!(matches!(
        fused(&[1.0]),
        Err(EngineError::Rerank(RerankError::Weights {
            actual: 1,
            expected: 3
        }))
    ));
    assert!(matches!(
        fused(&[0.0; 3]),
        Err(EngineError::Rerank(RerankError::NoWeight))
    ));
}

/// `tune` measures weights by the rankings that a search fuses.
#[test]
fn components_make_the_ranking_of_a_search() {
    let home = home();
    for granularity in [Granularity::Piece, Granularity::Text] {
        encoded(&home, &Hashed::new(granularity));
    }
    let method = Method::CombSum(Normalization::MinMax);
    let fusion = WeightedFusion {
        method,
        weights: vec![1.0, 0.5],
    };
    let options = RerankOptions {
        pool: vec![ModelKind::Bm25],
        fusion: Some(fusion),
        ..RerankOptions::default()
    };
    let pieces = boxed(Box::new(Hashed::new(Granularity::Piece)));
    let multilingual = Box::new(Hashed::new(Granularity::Text));
    let reranker = Reranker::open(home.path(), pieces, options)
        .and_then(|reranker| reranker.with_multilingual(home.path(), multilingual, None))
        .expect("opened");
    let depth = reranker.fusion_depth();
    let searcher = home.searcher().with_reranker(reranker);
    let tuning_pool = searcher.tuning_pool();
    let mut shares = Vec::new();
    for query in [QUERIES[0], QUERIES[1], BROAD, "air qwertzuiop"] {
        let components = tuning_pool.component_rankings(query).expect("ranked");
        let components = components.expect("a reranker");
        let multilingual = components.multilingual.expect("a multilingual encoder");
        let mut rankings: Vec<(Ranking, f64)> = Vec::new();
        let others = components.sparse.into_iter().chain(components.dense);
        for (ranking, weight) in others.zip([1.0, 0.5]) {
            rankings.push((ranking.cut(depth), weight));
        }
        shares.push(multilingual.share);
        rankings.push((multilingual.ranking.cut(depth), multilingual.share * 1.5));
        let weighted: Vec<(&Ranking, f64)> = rankings
            .iter()
            .map(|(ranking, weight)| (ranking, *weight))
            .collect();
        let fused = Fusion::default().with_method(method).fuse(&weighted);
        let mut expected: Vec<String> = fused.iter().map(|one| one.id.to_string()).collect();
        let named = tuning_pool
            .named_datasets(query, &Filter::default())
            .expect("names");
        // Few datasets have the words of a query as their name.
        for id in named.iter().rev() {
            expected.retain(|other| other != id.as_str());
            expected.insert(0, id.to_string());
        }
        assert_eq!(ids(&searcher, query), expected, "{query}");
    }
    assert!(
        shares[0] < shares[3],
        "an unknown word leaves more to the multilingual encoder: {shares:?}"
    );
}

#[test]
fn what_has_no_vectors_is_counted_and_stands_behind() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Piece));
    let all = ids(&home.searcher(), BROAD);
    assert!(all.len() > 4, "{all:?}");
    let folder = model_folder(&vectors_folder(home.path()), "piece");
    let description = list(&vectors_folder(home.path())).expect("listed")[0]
        .description
        .clone()
        .expect("known");
    let searcher = searcher(&home, Granularity::Piece, RerankOptions::default());
    let mut writer = VectorsWriter::open(&folder, description).expect("opened");
    let gone = [&all[0], &all[3]];
    gone.iter().for_each(|name| writer.remove(&id(name)));
    writer.finish().expect("finished");
    let response = searcher
        .search(&SearchRequest {
            depth: 100,
            ..SearchRequest::new(BROAD)
        })
        .expect("answered");
    assert_eq!(
        response
            .rerank
            .as_ref()
            .map(|summary| (summary.candidates, summary.encoders[0].unencoded)),
        Some((all.len(), 2))
    );
    let last: Vec<&str> = response.hits[all.len() - 2..]
        .iter()
        .map(|hit| hit.card.metadata.id.as_str())
        .collect();
    assert_eq!(
        last, gone,
        "behind the others, in the order of the sparse model"
    );
    assert!(
        response.hits[all.len() - 2..]
            .iter()
            .all(|hit| hit.dense.is_empty())
    );
    assert!(hit_json(BROAD, &response)["rerank"]["encoders"][0]["unencoded"] == 2);
}

#[test]
fn damaged_vectors_are_those_of_their_dataset() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Piece));
    let folder = model_folder(&vectors_folder(home.path()), "piece");
    let data = folder.join("blocks.0");
    let mut bytes = std::fs::read(&data).expect("read");
    bytes[1] ^= 0x40;
    std::fs::write(&data, bytes).expect("written");
    let searcher = searcher(
        &home,
        Granularity::Piece,
        RerankOptions {
            depth: 100,
            ..RerankOptions::default()
        },
    );
    let response = searcher
        .search(&SearchRequest::new("air quality in the city"))
        .expect("answered");
    assert_eq!(
        response.rerank.expect("ranked again").encoders[0].unencoded,
        1
    );
    let lost = response
        .hits
        .iter()
        .find(|hit| hit.dense.is_empty())
        .expect("still a hit");
    assert_eq!(
        lost.card.metadata.id.as_str(),
        "air-quality",
        "the first block"
    );
    let healed = encoded(&home, &Hashed::new(Granularity::Piece));
    assert_eq!(
        (healed.encoded, healed.unchanged),
        (1, 11),
        "what is damaged is encoded again"
    );
    let directory = folder.join("directory");
    let mut bytes = std::fs::read(&directory).expect("read");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&directory, bytes).expect("written");
    let (stored, missing) = list_vectors(home.path()).expect("listed").remove(0);
    assert!(
        missing == 12
            && stored
                .description
                .expect_err("a problem")
                .contains("damaged")
    );
}

/// Until they are encoded again, changed texts are not ranked by the vectors of what they were.
#[test]
fn vectors_of_older_texts_take_no_part() {
    let data = copy_of_testdata();
    let catalog = data.path().join("catalog.ttl");
    let home = Home::from_catalog(&catalog);
    encoded(&home, &Hashed::new(Granularity::Piece));
    let text = std::fs::read_to_string(&catalog).expect("read");
    std::fs::write(
        &catalog,
        text.replacen("Stream gauge samples", "Penguin samples", 1),
    )
    .expect("written");
    home.load(&catalog);
    home.index();
    let searcher = searcher(&home, Granularity::Piece, RerankOptions::default());
    let unencoded = || {
        let response = searcher
            .search(&SearchRequest::new("penguin samples"))
            .expect("answered");
        response.rerank.expect("ranked again").encoders[0].unencoded
    };
    assert_eq!(unencoded(), 1);
    encoded(&home, &Hashed::new(Granularity::Piece));
    assert_eq!(unencoded(), 0);
}

/// Pages are parts of one ranking: candidates, then the other datasets with a matching word, each once, as many as
/// reported.
#[test]
fn pages_hold_every_dataset_once() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Text));
    let options = RerankOptions {
        pool: vec![ModelKind::Bm25],
        depth: 2,
        dense: NonZeroUsize::new(3),
        fusion: Some(WeightedFusion::default()),
        ..RerankOptions::default()
    };
    let searcher = searcher(&home, Granularity::Text, options);
    for query in QUERIES {
        let page = |skip| {
            searcher
                .search(&SearchRequest {
                    depth: 2,
                    skip,
                    ..SearchRequest::new(query)
                })
                .expect("answered")
        };
        let first = page(0);
        let mut seen = Vec::new();
        for skip in (0..first.total + 2).step_by(2) {
            let response = page(skip);
            assert_eq!(response.total, first.total);
            for hit in response.hits {
                seen.push(hit.card.metadata.id.to_string());
                assert_eq!(hit.rank, seen.len());
                assert_eq!(
                    hit.score.is_none(),
                    hit.dense.is_empty(),
                    "behind the candidates nothing compares"
                );
            }
        }
        assert_eq!(seen.len(), first.total, "{query}");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), first.total, "{query}");
        assert!(first.total >= first.with_words);
    }
}

/// A query without any known word finds nothing below the floor, on every page; one with words does.
#[test]
fn nonsense_finds_nothing() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Text));
    let options = RerankOptions {
        dense: NonZeroUsize::new(5),
        fusion: Some(WeightedFusion::default()),
        min_similarities: vec![Some(2.0)],
        ..RerankOptions::default()
    };
    let searcher = searcher(&home, Granularity::Text, options);
    let page = |query: &str, skip| {
        searcher
            .search(&SearchRequest {
                depth: 2,
                skip,
                ..SearchRequest::new(query)
            })
            .expect("answered")
    };
    for skip in [0, 2] {
        let nonsense = page("qwxyz blorf", skip);
        assert!(
            nonsense.only_closest && nonsense.hits.iter().all(lodeseek_engine::Hit::is_closest)
        );
        let found = page("air quality", skip);
        assert!(!found.only_closest);
        assert!(
            found
                .hits
                .iter()
                .filter(|hit| !hit.fields.is_empty())
                .all(|hit| !hit.is_closest())
        );
    }
}

/// Every vector is compared: what shares no word with the index but with the vectors is found, and the best are the best.
#[test]
fn candidates_by_vectors_from_among_all() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Text));
    let dense = NonZeroUsize::new(3);
    let found = searcher(
        &home,
        Granularity::Text,
        RerankOptions {
            dense,
            ..RerankOptions::default()
        },
    );
    let everything = searcher(
        &home,
        Granularity::Text,
        RerankOptions {
            dense: NonZeroUsize::new(100),
            ..RerankOptions::default()
        },
    );
    for query in ["the of and", "air quality", "river"] {
        let (few, all) = (ids(&found, query), ids(&everything, query));
        assert_eq!(all.len(), 12);
        assert_eq!(few[..3], all[..3], "{query}");
    }
    assert!(
        ids(&home.searcher(), "the of and").is_empty(),
        "only common words: the index finds nothing"
    );
    encoded(&home, &Hashed::new(Granularity::Piece));
    let refused = Reranker::open(
        home.path(),
        boxed(Box::new(Hashed::new(Granularity::Piece))),
        RerankOptions {
            dense,
            ..RerankOptions::default()
        },
    );
    assert!(matches!(
        refused,
        Err(EngineError::Rerank(RerankError::VectorPerPiece(_)))
    ));
}

/// Candidates by vectors are the best of those that pass, however many pass: the filter comes before the cut.
#[test]
fn filters_come_before_the_cut() {
    let home = Home::from_catalog(&testdata("papers-with-code.json"));
    encoded(&home, &Hashed::new(Granularity::Text));
    let year = |id: &DatasetId| {
        home.searcher()
            .catalog()
            .numeric_facts(id)
            .expect("read")
            .expect("a dataset")
            .year
    };
    for query in ["the of and", "images of a harbour"] {
        let dense = NonZeroUsize::new(100);
        let all = searcher(
            &home,
            Granularity::Text,
            RerankOptions {
                dense,
                ..RerankOptions::default()
            },
        );
        let all = all.rank(query, 100).expect("ranked");
        for until in [1990, 1994, 2016, 2018, 2021] {
            let passing = all
                .iter()
                .filter(|scored| year(&scored.id).is_none_or(|year| year <= until));
            let expected: Vec<DatasetId> = passing.map(|scored| scored.id.clone()).collect();
            let options = RerankOptions {
                dense: NonZeroUsize::new(3),
                depth: 3,
                ..RerankOptions::default()
            };
            let few = searcher(&home, Granularity::Text, options);
            let found = few
                .rank_filtered(query, &Filter::until(until), 100)
                .expect("ranked");
            let found: Vec<DatasetId> = found.iter().map(|scored| scored.id.clone()).collect();
            assert_eq!(
                found[..3.min(found.len())],
                expected[..3.min(expected.len())],
                "{query} until {until}"
            );
            assert!(found.iter().all(|id| expected.contains(id)));
            let request = SearchRequest {
                filter: Filter::until(until),
                facets: Some(9),
                ..SearchRequest::new(query)
            };
            let response = few.search(&request).expect("answered");
            let counts = response.facets.expect("counted").years;
            let passing = counts
                .known
                .range(..=until)
                .map(|(_, count)| count)
                .sum::<u64>()
                + counts.unknown;
            assert_eq!(
                passing, response.total as u64,
                "{query} until {until}: those found by vectors alone count too"
            );
        }
    }
}

/// Popularity is added to the scores there are, and a weight of 0 changes nothing.
#[test]
fn popularity_is_added_to_the_score() {
    let home = Home::from_catalog(&testdata("papers-with-code.json"));
    let query = "semantic segmentation of images";
    let with = |weight: f64| {
        let options = RerankOptions {
            popularity: Some(weight),
            ..RerankOptions::default()
        };
        let reranker = Reranker::open(home.path(), Vec::new(), options).expect("a reranker");
        home.searcher().with_reranker(reranker)
    };
    let plain = home.searcher().rank(query, 10).expect("ranked");
    assert_eq!(with(0.0).rank(query, 10).expect("ranked"), plain);
    let raised = with(0.1).rank(query, 10).expect("ranked");
    assert_eq!(raised.len(), plain.len());
    for scored in plain.iter() {
        let popularity = home
            .searcher()
            .catalog()
            .numeric_facts(&scored.id)
            .expect("read")
            .expect("a dataset")
            .popularity();
        let expected = scored.score + 0.1 * (1.0 + popularity as f64).ln();
        let found = raised
            .iter()
            .find(|other| other.id == scored.id)
            .expect("ranked")
            .score;
        assert!(
            (found - expected).abs() < 1e-12,
            "{}: {found} instead of {expected}",
            scored.id
        );
    }
    let first =
        |ranking: &lodeseek_ranking::Ranking| ranking.iter().next().expect("a hit").id.to_string();
    assert_eq!(
        (first(&plain).as_str(), first(&raised).as_str()),
        ("Fog_&_Quay", "Harbour_Scenes")
    );
    let response = with(0.1)
        .search(&SearchRequest::new(query))
        .expect("answered");
    let added = response.hits[0].popularity.expect("it counts");
    assert!(
        (added - 0.1 * 1205_f64.ln()).abs() < 1e-12,
        "used in 1,204 works: {added}"
    );
    for weight in [-1.0, f64::NAN] {
        let options = RerankOptions {
            popularity: Some(weight),
            ..RerankOptions::default()
        };
        let refused = Reranker::open(home.path(), Vec::new(), options);
        assert!(matches!(
            refused,
            Err(EngineError::Rerank(RerankError::Popularity(_)))
        ));
    }
}

#[test]
fn the_parts_that_carried_a_score_are_named() {
    let home = home();
    for granularity in [Granularity::Piece, Granularity::Text] {
        encoded(&home, &Hashed::new(granularity));
        let searcher = searcher(&home, granularity, RerankOptions::default());
        let request = SearchRequest {
            explain: true,
            ..SearchRequest::new("air quality")
        };
        let response = searcher.search(&request).expect("answered");
        let dense = response.hits[0].dense.first().expect("scored");
        let best = &dense.parts[0];
        let lower = best.text.to_lowercase();
        assert!(
            lower.contains("air") || lower.contains("quality"),
            "{dense:?}"
        );
        let metadata = dense.metadata >= dense.data;
        assert_eq!(
            best.of == PartKind::Metadata,
            metadata,
            "the text that decided: {dense:?}"
        );
        assert!(dense.parts.len() <= 3 && dense.parts.is_sorted_by(|a, b| a.score >= b.score));
        if granularity == Granularity::Piece {
            let sum: f64 = dense.parts.iter().map(|part| part.score).sum();
            assert!(sum <= dense.score + 1e-6, "{dense:?}");
        }
        let silent = searcher
            .search(&SearchRequest::new("air quality"))
            .expect("answered");
        assert!(silent.hits.iter().all(|hit| {
            hit.dense
                .first()
                .is_some_and(|dense| dense.parts.is_empty())
        }));
    }
}

#[test]
fn below_the_floor_is_closest_not_found() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Piece));
    let options = |floor: Option<f64>| RerankOptions {
        min_similarities: floor.into_iter().map(Some).collect(),
        ..RerankOptions::default()
    };
    let closest = |floor| {
        let response =
            searcher(&home, Granularity::Piece, options(floor)).search(&SearchRequest::new(BROAD));
        let hits = response.expect("answered").hits;
        hits.iter()
            .map(|hit| hit.dense.first().map(|dense| (dense.score, dense.closest)))
            .collect::<Vec<_>>()
    };
    assert!(
        closest(None)
            .iter()
            .all(|hit| hit.is_some_and(|(_, closest)| !closest))
    );
    let marked = closest(Some(0.5));
    assert!(
        marked
            .iter()
            .all(|hit| hit.is_some_and(|(score, closest)| closest == (score < 3.5))),
        "{marked:?}"
    );
    assert!(
        marked
            .iter()
            .any(|hit| hit.is_some_and(|(_, closest)| closest)),
        "{marked:?}"
    );
}

/// Vectors encoded after the searcher was opened are used by its next search.
#[test]
fn a_searcher_follows_the_vectors() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Piece));
    let folder = model_folder(&vectors_folder(home.path()), "piece");
    let searcher = searcher(&home, Granularity::Piece, RerankOptions::default());
    let unencoded = || {
        searcher
            .search(&SearchRequest::new(BROAD))
            .expect("answered")
            .rerank
            .expect("some")
            .encoders[0]
            .unencoded
    };
    assert_eq!(unencoded(), 0);
    forget_all(&folder);
    assert!(unencoded() > 0);
    assert_eq!(encoded(&home, &Hashed::new(Granularity::Piece)).encoded, 12);
    assert_eq!(unencoded(), 0);
}

fn forget_all(folder: &Path) {
    let home = folder.parent().expect("the folder of all");
    let description = list(home).expect("listed")[0]
        .description
        .clone()
        .expect("known");
    let mut writer = VectorsWriter::open(folder, description).expect("opened");
    let ids: Vec<DatasetId> = writer.ids().cloned().collect();
    ids.iter().for_each(|id| writer.remove(id));
    writer.finish().expect("finished");
}

/// The cosine of the sums of two texts' words; nothing where one has none.
fn cosine(one: &[String], other: &[String]) -> Option<f64> {
    let sum = |parts: &[String]| {
        let rows = parts.iter().flat_map(|part| words(part)).map(hashed);
        rows.fold([0.0_f64; COLUMNS], |sum, row| {
            std::array::from_fn(|column| sum[column] + f64::from(row[column]))
        })
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (one, other) = (sum(one), sum(other));
    let lengths = (product(&one, &one) * product(&other, &other)).sqrt();
    (lengths > 0.0).then(|| product(&one, &other) / lengths)
}

#[test]
fn datasets_near_in_meaning_are_similar_by_the_mean_of_their_cosines() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, place) in [("north", "Kiel"), ("south", "Freiburg")] {
        let triple = format!(
            "<http://example.org/{name}> <http://example.org/measures> \"ozone at noon in {place}\" .\n"
        );
        std::fs::write(folder.path().join(format!("{name}.nt")), triple).expect("written");
    }
    let entry = |name: &str| {
        serde_json::json!({
            "dataset_id": name,
            "title": format!("Air quality in the {name}"),
            "description": "Hourly measurements of ozone and nitrogen dioxide",
            "download": format!("{name}.nt"),
        })
    };
    let catalog = folder.path().join("datasets.json");
    std::fs::write(
        &catalog,
        serde_json::json!([entry("north"), entry("south")]).to_string(),
    )
    .expect("written");
    let home = Home::from_catalog(&catalog);
    encoded(&home, &Hashed::new(Granularity::Text));
    let searcher = searcher(&home, Granularity::Text, RerankOptions::default());
    let texts = |id: &DatasetId| {
        searcher
            .catalog()
            .compact_document(id)
            .expect("read")
            .expect("a text")
    };
    let mut compared = 0;
    for id in searcher.catalog().ids().expect("ids") {
        for one in searcher
            .similar(&id, 50)
            .expect("found")
            .expect("a dataset")
            .similar
        {
            let is_meaning =
                |part: &&SimilarityPart| matches!(part.basis, SimilarityBasis::Meaning { .. });
            let score = match one.parts.iter().find(is_meaning) {
                Some(part) => part.score,
                None => 0.0,
            };
            let (own, other) = (texts(&id), texts(&one.dataset.id));
            let both = [
                cosine(&own.metadata, &other.metadata),
                cosine(&own.triples, &other.triples),
            ];
            let both: Vec<f64> = both.into_iter().flatten().collect();
            let mean = both.iter().sum::<f64>() / both.len().max(1) as f64;
            assert!(
                (score - mean).abs() < 5e-3,
                "{id} and {}: {score} for {mean}",
                one.dataset.id
            );
            compared += usize::from(score > 0.0);
        }
    }
    assert!(compared > 0, "nothing was near");
}

fn candidates(scores: &[(&str, f64)]) -> Ranking {
    Ranking::from_scores(
        scores
            .iter()
            .map(|&(name, score)| Scored {
                id: id(name),
                score,
            })
            .collect(),
    )
}

#[test]
fn given_candidates_are_ranked_again() {
    let home = home();
    encoded(&home, &Hashed::new(Granularity::Text));
    let options = RerankOptions {
        depth: 3,
        fusion: None,
        ..RerankOptions::default()
    };
    let searcher = searcher(&home, Granularity::Text, options);
    let given = candidates(&[
        ("museum-objects", 4.0),
        ("air-quality", 3.0),
        ("not-here", 2.0),
        ("soil-types", 1.0),
    ]);
    let ranked = searcher.rerank("air quality", &given).expect("ranked");
    let ids: Vec<&str> = ranked.iter().map(|scored| scored.id.as_str()).collect();
    assert_eq!(
        ids,
        ["air-quality", "museum-objects", "not-here"],
        "three candidates, the one without vectors last"
    );
    assert_eq!(
        home.searcher()
            .rerank("air quality", &given)
            .expect("ranked"),
        given,
        "no reranker"
    );
}
