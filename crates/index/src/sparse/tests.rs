//! Calculations by hand, agreement with Lucene, and properties of every model.

use super::*;
use crate::{FieldStatistics, PairFrequencies, TermStatistics};
use proptest::prelude::*;

fn statistics(tf: [u32; 8], lengths: [u32; 8]) -> (DocumentStatistics, CollectionStatistics) {
    let mut fields = [FieldStatistics::default(); 8];
    fields[Field::Title.index()] = FieldStatistics {
        documents: 3,
        tokens: 12,
    };
    fields[Field::Literal.index()] = FieldStatistics {
        documents: 2,
        tokens: 30,
    };
    let mut term = [TermStatistics::default(); 8];
    term[Field::Title.index()] = TermStatistics {
        documents: 1,
        occurrences: 2,
    };
    term[Field::Literal.index()] = TermStatistics {
        documents: 2,
        occurrences: 5,
    };
    (
        DocumentStatistics {
            frequencies: vec![tf],
            pairs: Vec::new(),
            lengths,
        },
        CollectionStatistics {
            documents: 3,
            fields,
            terms: vec![term],
        },
    )
}

fn query() -> AnalyzedQuery {
    AnalyzedQuery {
        distinct: vec!["x".into()],
        sequence: vec![0],
        translation: None,
    }
}

#[test]
fn scores_by_hand() {
    let (document, collection) = statistics([2, 0, 0, 0, 0, 3, 0, 0], [5, 0, 0, 0, 0, 10, 0, 0]);
    let score = |model: &dyn SparseModel| model.score(&query(), &document, &collection);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    // BM25: norms 1.2 (0.25 + 0.75 · 5/4) and 1.2 (0.25 + 0.75 · 10/15)
    let title = (1.0 + 2.5 / 1.5_f64).ln() * 2.0 / (2.0 + 1.2 * (0.25 + 0.75 * 1.25));
    let literal = 0.3 * (1.0 + 0.5 / 2.5_f64).ln() * 3.0 / (3.0 + 1.2 * 0.75);
    close(score(&Bm25::default()), title + literal);
    close(
        score(Bm25::default().restricted_to(&Field::is_metadata).as_ref()),
        title,
    );
    // TF-IDF: weights 1 and .5
    let title = 2.0_f64.sqrt() * ((4.0 / 2.0_f64).ln() + 1.0) / 5.0_f64.sqrt();
    let literal = 0.5 * 3.0_f64.sqrt() * ((3.0 / 3.0_f64).ln() + 1.0) / 10.0_f64.sqrt();
    close(score(&TfIdf::default()), title + literal);
    // LMD: weights 1 and .3; p = 3/13 and 6/31. In the title the length reduces the score by less than the term adds.
    let part = |tf: f64, p: f64, l: f64| {
        ((1.0 + tf / (2000.0 * p)).ln() + (2000.0 / (l + 2000.0)).ln()).max(0.0)
    };
    close(
        score(&Lmd::default()),
        part(2.0, 3.0 / 13.0, 5.0) + 0.3 * part(3.0, 6.0 / 31.0, 10.0),
    );
    // FSDM of one word: weights 1 and .1 of 3.7; μ = 4 and 15.
    let title = (2.0 + 4.0 * 2.0 / 12.0) / (5.0 + 4.0);
    let literal = (3.0 + 15.0 * 5.0 / 30.0) / (10.0 + 15.0);
    close(
        score(&Fsdm::default()),
        0.8 * ((title + 0.1 * literal) / 3.7_f64).ln(),
    );
}

#[test]
fn fsdm_of_a_pair_by_hand() {
    let mut fields = [FieldStatistics::default(); 8];
    fields[0] = FieldStatistics {
        documents: 4,
        tokens: 40,
    };
    let term = |occurrences| {
        let mut term = [TermStatistics::default(); 8];
        term[0] = TermStatistics {
            documents: 2,
            occurrences,
        };
        term
    };
    let collection = CollectionStatistics {
        documents: 4,
        fields,
        terms: vec![term(6), term(4)],
    };
    let mut pair = [PairFrequencies::default(); 8];
    pair[0] = PairFrequencies {
        ordered: 1,
        unordered: 3,
    };
    let document = DocumentStatistics {
        frequencies: vec![[2, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]],
        pairs: vec![pair],
        lengths: [12, 0, 0, 0, 0, 0, 0, 0],
    };
    let query = AnalyzedQuery {
        distinct: vec!["a".into(), "b".into()],
        sequence: vec![0, 1],
        translation: None,
    };
    let model =
        Fsdm::default().with_weights(FieldWeights([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    let probability = |tf: f64, cf: f64| (tf + 10.0 * cf / 40.0) / (12.0 + 10.0);
    let expected = 0.8 * (probability(2.0, 6.0).ln() + probability(1.0, 4.0).ln())
        + 0.1 * probability(1.0, 4.0).ln()
        + 0.1 * probability(3.0, 4.0).ln();
    let score = model.score(&query, &document, &collection);
    assert!((score - expected).abs() < 1e-12, "{score} {expected}");
    assert_eq!(model.explain(&query, &document, &collection).value, score);
}

#[test]
fn lucene_lengths_are_those_of_its_table() {
    // The ends of the table, and the first values that are not exact.
    let seen = |tokens: u32| LengthMode::LuceneByte.apply(tokens);
    assert!((0..=40).all(|tokens| seen(tokens) == tokens));
    assert_eq!(
        [41, 42, 55, 56, 57, 59, 60].map(seen),
        [40, 42, 54, 56, 56, 56, 60]
    );
    // One byte: 24 exact values, then eight for each further bit of the length.
    let mut lengths: Vec<u32> = (0..24 + (1 << 20)).map(seen).collect();
    assert!(lengths.is_sorted());
    lengths.dedup();
    assert_eq!(lengths.len(), 24 + 16 + 8 * 16);
}

/// Checks that every sum in an explanation equals the total of its details.
fn parts_of_sums(explanation: &Explanation) -> f64 {
    explanation.details.iter().map(|detail| detail.value).sum()
}

/// As in ACORDAR's code: Lucene's lengths select the candidates of FSDM, exact ones score them.
#[test]
fn fsdm_scores_by_exact_lengths_in_both_modes() {
    let (mut document, collection) =
        statistics([0, 0, 0, 0, 0, 5, 0, 0], [50, 0, 0, 0, 0, 90, 0, 0]);
    document.pairs = vec![[PairFrequencies::default(); 8]; query().pairs().count()];
    let score =
        |kind: ModelKind, lengths| kind.model(lengths).score(&query(), &document, &collection);
    assert_eq!(
        score(ModelKind::Fsdm, LengthMode::LuceneByte),
        score(ModelKind::Fsdm, LengthMode::Exact)
    );
    assert_ne!(
        score(ModelKind::Bm25, LengthMode::LuceneByte),
        score(ModelKind::Bm25, LengthMode::Exact)
    );
}

proptest! {
    #[test]
    fn every_model_explains_its_score(
        title in 0u32..9, literal in 0u32..9, repeated in 1usize..3, kind in 0usize..4, lucene in proptest::bool::ANY,
    ) {
        let (mut document, collection) = statistics([title, 0, 0, 0, 0, literal, 0, 0], [50, 0, 0, 0, 0, 90, 0, 0]);
        let query = AnalyzedQuery { sequence: vec![0; repeated], ..query() };
        document.pairs = vec![[PairFrequencies::default(); 8]; query.pairs().count()];
        let lengths = if lucene { LengthMode::LuceneByte } else { LengthMode::Exact };
        let model = ModelKind::ALL[kind].model(lengths);
        let score = model.score(&query, &document, &collection);
        let explanation = model.explain(&query, &document, &collection);
        prop_assert_eq!(explanation.value, score);
        prop_assert!((parts_of_sums(&explanation) - score).abs() < 1e-9, "{}", explanation);
        let parts = model.parts(&query, &document, &collection);
        prop_assert!((parts.score(model.weights()) - score).abs() < 1e-9);
        if title + literal > 0 {
            let shares: f64 = parts.shares(model.weights()).iter().sum();
            let whole = match parts {
                ScoreParts::Sum(_) => score,
                ScoreParts::LogMixtures(mixtures) => mixtures.iter().map(|mixture| mixture.coefficient).sum(),
            };
            prop_assert!((shares - whole).abs() < 1e-9, "{} {}", shares, whole);
        }
    }
}
