//! Index and models together: agreement with Lucene, and with scoring by the definitions, document by document.

use lodeseek_catalog::DatasetId;
use lodeseek_index::document::{Field, FieldedDocument};
use lodeseek_index::sparse::{
    Bm25, FieldWeights, Fsdm, LengthMode, Lmd, ModelKind, SparseModel, TfIdf, rank,
};
use lodeseek_index::{
    Analysis, AnalysisKind, AnalyzedQuery, CollectionStatistics, DocumentStatistics,
    FieldStatistics, Index, IndexDocument, IndexError, IndexWriter, PairFrequencies, QueryTerm,
    Snapshot, StatisticsLevel, TermStatistics,
};
use lodeseek_ranking::{Ranking, Scored};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;

fn id(name: &str) -> DatasetId {
    DatasetId::new(name).expect("an id")
}

fn put(writer: &mut IndexWriter, name: &str, document: &FieldedDocument) {
    let document = IndexDocument::new(
        id(name),
        String::new(),
        document,
        &Analysis::default(),
        b"{}".to_vec(),
        b"{}".to_vec(),
    );
    writer.put(document).expect("written");
}

fn snapshot(folder: &TempDir) -> Arc<Snapshot> {
    Index::open(folder.path())
        .expect("an index")
        .snapshot()
        .expect("a snapshot")
}

/// Title .5 and description .8.
const WEIGHTS: FieldWeights = FieldWeights([0.5, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);

/// Four documents with the statistics of those that Lucene 7.5 was run on, in other words.
fn four_documents() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::open(folder.path()).expect("a writer");
    for (name, title, description) in [
        (
            "0",
            "Maryland alpha beta",
            "nitrogen nitrogen reduction plan gamma",
        ),
        (
            "1",
            "nitrogen reduction",
            "nitrogen gamma delta epsilon zeta eta",
        ),
        ("2", "plan alpha", "plan plan plan delta epsilon zeta"),
        ("3", "beta", "gamma eta"),
    ] {
        let document = FieldedDocument::default()
            .with(Field::Title, [title])
            .with(Field::Description, [description]);
        put(&mut writer, name, &document);
    }
    writer.commit().expect("committed");
    folder
}

/// A model, what its scores are multiplied by, and Lucene's scores.
type Explained = (Box<dyn SparseModel>, f64, [(&'static str, f64); 3]);

/// Scores of the query “nitrogen reduction plan Maryland”, as Lucene 7.5 explained them.
#[test]
fn scores_are_lucenes() {
    let folder = four_documents();
    let query = AnalyzedQuery::new("Nitrogen reduction plan in Maryland", &Analysis::default());
    let lengths = LengthMode::LuceneByte;
    // Lucene 7.5's BM25 has the constant factor k1 + 1.
    let models: [Explained; 3] = [
        (
            Box::new(TfIdf {
                weights: WEIGHTS,
                lengths,
            }),
            1.0,
            [("0", 2.543_731_7), ("1", 1.848_455_8), ("2", 1.532_163_1)],
        ),
        (
            Box::new(Bm25 {
                weights: WEIGHTS,
                lengths,
                ..Bm25::default()
            }),
            2.2,
            [("0", 2.736_809_5), ("1", 1.704_595_8), ("2", 1.426_856_3)],
        ),
        (
            Box::new(Lmd {
                weights: WEIGHTS,
                lengths,
                ..Lmd::default()
            }),
            1.0,
            [
                ("0", 0.004_359_373_4),
                ("2", 0.003_013_266_3),
                ("1", 0.001_247_955_6),
            ],
        ),
    ];
    for (model, factor, expected) in models {
        let ranked = rank(model.as_ref(), &query, &snapshot(&folder), 10).expect("ranked");
        assert_eq!(
            ranked
                .ranking
                .iter()
                .map(|one| one.id.as_str())
                .collect::<Vec<_>>(),
            expected.map(|one| one.0)
        );
        for (one, (_, score)) in ranked.ranking.iter().zip(expected) {
            let difference = (one.score * factor - score).abs();
            assert!(
                difference < 1e-5 * score.max(1e-2),
                "{} {}: {} {score}",
                model.name(),
                one.id,
                one.score * factor
            );
        }
    }
}

/// The single numbers of Lucene's explanations, where they are not of the score alone.
#[test]
fn explanations_hold_lucenes_numbers() {
    let folder = four_documents();
    let (query, snapshot) = (
        AnalyzedQuery::new("nitrogen maryland", &Analysis::default()),
        snapshot(&folder),
    );
    let explained = |model: &dyn SparseModel| {
        let ranked = rank(model, &query, &snapshot, 1).expect("ranked");
        let address = ranked.address(&id("0")).expect("ranked first");
        let counts = snapshot
            .document_statistics(
                &query,
                &model.fields(),
                &[address],
                model.statistics_level(),
            )
            .expect("counted");
        model
            .explain(&query, &counts[0], &ranked.collection)
            .to_string()
    };
    let lengths = LengthMode::LuceneByte;
    for (tree, numbers) in [
        (
            explained(&TfIdf {
                weights: WEIGHTS,
                lengths,
            }),
            ["1.5108", "1.4142", "0.4472", "0.5774", "0.7644", "0.5532"],
        ),
        (
            explained(&Bm25 {
                weights: WEIGHTS,
                lengths,
                ..Bm25::default()
            }),
            [
                "0.6931",
                "1.2040",
                "0.8000",
                "0.5000",
                "average 4.8",
                "average 2.0",
            ],
        ),
        (
            explained(&Lmd {
                weights: WEIGHTS,
                lengths,
                ..Lmd::default()
            }),
            [
                "0.0020",
                "0.0050",
                "-0.0025",
                "3.743e-4",
                "-0.0015",
                "3 times among 19 tokens",
            ],
        ),
    ] {
        for number in numbers {
            assert!(tree.contains(number), "{number} is not in\n{tree}");
        }
    }
}

/// A collection as sequences of small words by field.
type Documents = BTreeMap<String, [Vec<u8>; 8]>;

fn word(letter: u8) -> String {
    format!("w{letter}")
}

/// A word of a query, by the letters it stands for.
type Group = Vec<u8>;

/// A query of words that stand for several letters each.
fn query_of(groups: &[Group], sequence: &[usize]) -> AnalyzedQuery {
    let term = |group: &Group| QueryTerm {
        text: format!("any of {group:?}"),
        alternatives: group.iter().copied().map(word).collect(),
    };
    AnalyzedQuery {
        distinct: groups.iter().map(term).collect(),
        sequence: sequence.to_vec(),
        translation: None,
    }
}

fn count(words: &[u8], group: &Group) -> usize {
    words.iter().filter(|word| group.contains(word)).count()
}

/// All statistics, counted from the words themselves.
fn collection_of(documents: &Documents, query: &[Group]) -> CollectionStatistics {
    let mut fields = [FieldStatistics::default(); 8];
    let mut terms = vec![[TermStatistics::default(); 8]; query.len()];
    for document in documents.values() {
        for (field, words) in document.iter().enumerate() {
            fields[field].documents += u64::from(!words.is_empty());
            fields[field].tokens += words.len() as u64;
            for (term, statistics) in query.iter().zip(&mut terms) {
                let count = count(words, term) as u64;
                statistics[field].documents += u64::from(count > 0);
                statistics[field].occurrences += count;
            }
        }
    }
    CollectionStatistics {
        documents: documents.len() as u64,
        fields,
        terms,
    }
}

fn document_of(
    document: &[Vec<u8>; 8],
    distinct: &[Group],
    sequence: &[usize],
) -> DocumentStatistics {
    let pair = |first: &Group, second: &Group, words: &[u8]| PairFrequencies {
        ordered: words
            .windows(2)
            .filter(|two| first.contains(&two[0]) && second.contains(&two[1]))
            .count() as u32,
        unordered: words
            .windows(8)
            .filter(|eight| count(eight, first) > 0 && count(eight, second) > 0)
            .count() as u32,
    };
    let of_pair = |pair_of: &[usize]| {
        std::array::from_fn(|field| {
            pair(
                &distinct[pair_of[0]],
                &distinct[pair_of[1]],
                &document[field],
            )
        })
    };
    DocumentStatistics {
        frequencies: distinct
            .iter()
            .map(|term| std::array::from_fn(|f| count(&document[f], term) as u32))
            .collect(),
        pairs: sequence.windows(2).map(of_pair).collect(),
        lengths: std::array::from_fn(|field| document[field].len() as u32),
    }
}

/// The ranking by the definitions: every document that matches, scored one by one.
fn by_definition(
    model: &dyn SparseModel,
    documents: &Documents,
    distinct: &[Group],
    query: &AnalyzedQuery,
) -> Ranking {
    let collection = collection_of(documents, distinct);
    let matches = |document: &DocumentStatistics| {
        document
            .frequencies
            .iter()
            .any(|term| model.fields().iter().any(|field| term[field.index()] > 0))
    };
    let scored = documents.iter().filter_map(|(name, document)| {
        let document = document_of(document, distinct, &query.sequence);
        matches(&document).then(|| Scored {
            id: id(name),
            score: model.score(query, &document, &collection),
        })
    });
    Ranking::from_scores(scored.collect())
}

fn write(documents: &Documents, commits: usize, removed: &[usize]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::open(folder.path()).expect("a writer");
    for (place, (name, fields)) in documents.iter().enumerate() {
        let mut document = FieldedDocument::default();
        for field in Field::ALL {
            let words: Vec<String> = fields[field.index()].iter().copied().map(word).collect();
            // Several values: windows run across them.
            document = document.with(field, words.iter().map(String::as_str));
        }
        put(&mut writer, name, &document);
        if (place + 1) % (documents.len() / commits + 1) == 0 {
            writer.commit().expect("committed");
        }
    }
    writer.commit().expect("committed");
    for place in removed {
        if let Some(name) = documents.keys().nth(*place) {
            writer.remove(&id(name));
        }
    }
    writer.commit().expect("committed");
    folder
}

fn fields() -> impl Strategy<Value = [Vec<u8>; 8]> {
    let field = || proptest::collection::vec(0u8..6, 0..14);
    (
        field(),
        field(),
        field(),
        field(),
        field(),
        field(),
        field(),
        field(),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| [a, b, c, d, e, f, g, h])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Several segments, deleted documents, ties, repeated words: the index finds what the definitions say.
    #[test]
    fn every_model_ranks_by_its_definition(
        all in proptest::collection::vec(fields(), 1..25),
        said in proptest::collection::vec(0u8..7, 1..5),
        commits in 1usize..4,
        removed in proptest::collection::vec(0usize..25, 0..4),
        kind in 0usize..4,
        depth in 1usize..30,
        lucene in proptest::bool::ANY,
    ) {
        let mut documents: Documents = all.into_iter().enumerate().map(|(n, fields)| (format!("d{n}"), fields)).collect();
        let folder = write(&documents, commits, &removed);
        let gone: Vec<String> = removed.iter().filter_map(|&place| documents.keys().nth(place).cloned()).collect();
        documents.retain(|name, _| !gone.contains(name));
        let text = said.iter().copied().map(word).collect::<Vec<_>>().join(" ");
        let query = AnalyzedQuery::new(&text, &Analysis::default());
        let distinct: Vec<Group> = query.distinct.iter().map(|word| vec![word.text.as_bytes()[1] - b'0']).collect();
        let model = ModelKind::ALL[kind].model(if lucene { LengthMode::LuceneByte } else { LengthMode::Exact });
        let expected = by_definition(model.as_ref(), &documents, &distinct, &query);
        let ranked = rank(model.as_ref(), &query, &snapshot(&folder), depth).expect("ranked");
        prop_assert_eq!(ranked.total, expected.len());
        prop_assert_eq!(ranked.ranking, expected.cut(depth));
    }

    /// Words that stand for several tokens each, some in common, some in no document: statistics, counts and ranking
    /// follow the definitions. Searched twice, so that caches are covered.
    #[test]
    fn words_of_several_tokens_rank_by_the_definitions(
        all in proptest::collection::vec(fields(), 1..25),
        groups in proptest::collection::vec(proptest::collection::btree_set(0u8..8, 1..5), 1..4),
        said in proptest::collection::vec(0usize..3, 1..5),
        commits in 1usize..4,
        removed in proptest::collection::vec(0usize..25, 0..4),
        kind in 0usize..4,
        depth in 1usize..30,
    ) {
        let mut documents: Documents = all.into_iter().enumerate().map(|(n, fields)| (format!("d{n}"), fields)).collect();
        let folder = write(&documents, commits, &removed);
        let gone: Vec<String> = removed.iter().filter_map(|&place| documents.keys().nth(place).cloned()).collect();
        documents.retain(|name, _| !gone.contains(name));
        let groups: Vec<Group> = groups.into_iter().map(|group| group.into_iter().collect()).collect();
        let said: Vec<usize> = said.into_iter().map(|place| place % groups.len()).collect();
        let query = query_of(&groups, &said);
        let model = ModelKind::ALL[kind].model(LengthMode::Exact);
        let expected = by_definition(model.as_ref(), &documents, &groups, &query);
        let snapshot = snapshot(&folder);
        for _ in 0..2 {
            let ranked = rank(model.as_ref(), &query, &snapshot, depth).expect("ranked");
            prop_assert_eq!(ranked.total, expected.len());
            prop_assert_eq!(ranked.ranking, expected.clone().cut(depth));
        }
        let held = snapshot.collection_statistics(&query, &Field::ALL, StatisticsLevel::Occurrences).expect("counted");
        prop_assert_eq!(&held, &collection_of(&documents, &groups));
        let occurring = snapshot.without_absent_tokens(&query, &Field::ALL).expect("looked up");
        let seen: Vec<Vec<usize>> = groups.iter().map(|group| seen_of(&documents, group)).collect();
        for ((term, group), seen) in occurring.distinct.iter().zip(&groups).zip(seen) {
            prop_assert_eq!(term.alternatives.len(), if group.len() == 1 { 1 } else { seen.len() });
        }
        prop_assert_eq!(snapshot.collection_statistics(&occurring, &Field::ALL, StatisticsLevel::Occurrences).expect("counted"), held);
    }
}

/// Places of the letters of a group that are in some document.
fn seen_of(documents: &Documents, group: &Group) -> Vec<usize> {
    let is_seen = |letter: u8| {
        documents
            .values()
            .flatten()
            .any(|words| words.contains(&letter))
    };
    (0..group.len())
        .filter(|&place| is_seen(group[place]))
        .collect()
}

/// Words of several tokens in more documents than are decoded or scored together, alone in some windows and not in others.
#[test]
fn words_of_several_tokens_beyond_blocks_and_windows() {
    let letter = |n: usize| {
        if n < 5_000 {
            u8::from(n.is_multiple_of(3))
        } else {
            (n % 5) as u8
        }
    };
    let words = |n: usize| {
        let words = [letter(n), 9, letter(n / 2), letter(n * 7919 % 9_001)];
        std::array::from_fn(|field| {
            if field < 2 {
                words[..1 + n % 4].to_vec()
            } else {
                Vec::new()
            }
        })
    };
    let mut documents: Documents = (0..9_000).map(|n| (format!("d{n:04}"), words(n))).collect();
    let folder = write(&documents, 2, &[0, 70, 8_999]);
    for gone in ["d0000", "d0070", "d8999"] {
        documents.remove(gone);
    }
    let groups = [vec![1, 3, 4], vec![2, 4, 8]];
    let query = query_of(&groups, &[0, 1]);
    let sums = [ModelKind::TfIdf, ModelKind::Bm25, ModelKind::Lmd]
        .map(|kind| kind.model(LengthMode::Exact));
    let rescored: Box<dyn SparseModel> = Box::new(Fsdm {
        candidates: documents.len(),
        ..Fsdm::default()
    });
    for model in sums.into_iter().chain([rescored]) {
        let expected = by_definition(model.as_ref(), &documents, &groups, &query);
        let ranked = rank(model.as_ref(), &query, &snapshot(&folder), 50).expect("ranked");
        assert_eq!(
            (ranked.total, &ranked.ranking),
            (expected.len(), &expected.cut(50)),
            "{}",
            model.name()
        );
    }
}

#[test]
fn words_that_stand_for_the_same_are_one() {
    let analysis = Analysis::new(AnalysisKind::Multilingual);
    let query = AnalyzedQuery::new("Malaga nitrogen málaga of Malaga", &analysis);
    assert_eq!(query.texts()[..2], ["malaga", "nitrogen"]);
    assert_eq!(query.sequence.len(), 4);
    assert_eq!((query.sequence[0], query.sequence[3]), (0, 0));
    let query = AnalyzedQuery::new("Nitrogen in the bay nitrogen", &Analysis::default());
    assert_eq!(
        (query.texts(), query.sequence),
        (vec!["nitrogen".to_owned(), "bay".to_owned()], vec![0, 1, 0])
    );
}

/// More documents than are scored together, most of them tied, some deleted, in two segments: ids decide at the floor.
#[test]
fn ties_beyond_a_window_are_in_the_order_of_ids() {
    let words = |n: usize| {
        std::array::from_fn(|field| vec![(n % 3) as u8; if field == 0 { 1 + n % 2 } else { 0 }])
    };
    let mut documents: Documents = (0..9_000)
        .map(|n| (format!("d{n}"), words(n * 7919 % 9_001)))
        .collect();
    let folder = write(&documents, 2, &[0, 70, 8_999]);
    let gone: Vec<String> = [0, 70, 8_999]
        .iter()
        .filter_map(|&n| documents.keys().nth(n).cloned())
        .collect();
    documents.retain(|name, _| !gone.contains(name));
    let query = AnalyzedQuery::new("w0 w1", &Analysis::default());
    let sums = [ModelKind::TfIdf, ModelKind::Bm25, ModelKind::Lmd]
        .map(|kind| kind.model(LengthMode::Exact));
    let rescored: Box<dyn SparseModel> = Box::new(Fsdm {
        candidates: documents.len(),
        ..Fsdm::default()
    });
    for model in sums.into_iter().chain([rescored]) {
        let expected = by_definition(model.as_ref(), &documents, &[vec![0], vec![1]], &query);
        let ranked = rank(model.as_ref(), &query, &snapshot(&folder), 10).expect("ranked");
        assert_eq!(
            (ranked.total, &ranked.ranking),
            (expected.len(), &expected.cut(10)),
            "{}",
            model.name()
        );
    }
}

#[test]
fn fsdm_scores_its_candidates_alone() {
    let documents: Documents = (0..30)
        .map(|n| {
            (
                format!("d{n}"),
                std::array::from_fn(|_| vec![n % 3, (n + 1) % 5]),
            )
        })
        .collect();
    let folder = write(&documents, 1, &[]);
    let query = AnalyzedQuery::new("w0 w1", &Analysis::default());
    let model = Fsdm {
        candidates: 7,
        ..Fsdm::default()
    };
    let ranked = rank(&model, &query, &snapshot(&folder), 20).expect("ranked");
    let first = rank(&model.candidate_model, &query, &snapshot(&folder), 7).expect("ranked");
    let ids = |ranking: &Ranking| {
        let mut ids: Vec<String> = ranking.iter().map(|one| one.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!((ranked.ranking.len(), ranked.total), (7, first.total));
    assert_eq!(ids(&ranked.ranking), ids(&first.ranking));
}

/// An index whose fields have other options, as an earlier version wrote it, is refused by readers and writers alike.
#[test]
fn an_index_of_another_version_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(IndexWriter::open(folder.path()).expect("a new index"));
    let meta = folder.path().join("meta.json");
    let text = std::fs::read_to_string(&meta).expect("the schema");
    let other = text.replacen("\"fieldnorms\": true", "\"fieldnorms\": false", 1);
    assert_ne!(text, other);
    let members = other
        .split_once(",\"lodeseek_checksum\"")
        .expect("a checksum")
        .0; // earlier versions wrote none
    let other = format!("{members}}}");
    std::fs::write(&meta, other).expect("written");
    assert!(matches!(
        Index::open(folder.path()),
        Err(IndexError::OtherVersion(_))
    ));
    assert!(matches!(
        IndexWriter::open(folder.path()).map(drop),
        Err(IndexError::OtherVersion(_))
    ));
}
