//! Tests of readers, averages and significance tests against other programs and brute force.

use super::*;
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::{Ranking, Scored};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Creates a file with these bytes.
fn file(text: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    fs::write(&path, text).expect("written");
    (folder, path)
}

/// Returns the error message of a reader, without the folder.
fn refusal<T: std::fmt::Debug>(read: fn(&Path) -> Result<T, EvalError>, text: &[u8]) -> String {
    let (_folder, path) = file(text);
    let message = read(&path).expect_err("refused").to_string();
    message
        .strip_prefix(path.to_str().expect("a path"))
        .expect("the file is named")
        .to_owned()
}

#[test]
fn malformed_runs_are_refused_with_their_line() {
    for (text, message) in [
        (
            &b"1 Q0 a 1 2.0 t\n<<<<<<< HEAD\n"[..],
            ":2: a conflict marker of git: resolve the merge conflict first",
        ),
        (
            b"=======\n",
            ":1: a conflict marker of git: resolve the merge conflict first",
        ),
        (
            b"1 Q0 a 1 2.0\n",
            ":1: expected 6 columns (topic Q0 document rank score tag), found 5",
        ),
        (
            b"1 Q0 a 1 2.0 t\n\n1 Q0 b 2 1.0 t u\n",
            ":3: expected 6 columns (topic Q0 document rank score tag), found 7",
        ),
        (b"1 Q0 a 1 high t\n", ":1: invalid score \"high\""),
        (b"1 Q0 a 1 NaN t\n", ":1: invalid score \"NaN\""),
        (
            b"1 Q0 a 1 2.0 t\r\n2 Q0 a 1 2.0 t\r\n1 Q0 a 2 1.0 t\r\n",
            ":3: document a is ranked twice for topic 1",
        ),
        (b"1 Q0 a 1 2.0 t\n1 Q0 \xff 2 1.0 t\n", ":2: not in UTF-8"),
        (b"", ": the file contains no ranked documents"),
        (b" \n\n", ": the file contains no ranked documents"),
    ] {
        assert_eq!(refusal(Run::read, text), message);
    }
}

#[test]
fn malformed_judgements_and_topics_are_refused_with_their_line() {
    for (text, message) in [
        (
            &b"1 0 a 2\n>>>>>>> theirs\n"[..],
            ":2: a conflict marker of git: resolve the merge conflict first",
        ),
        (
            b"1 0 a 1\nQueryID 0 DocID Relevance\n",
            ":2: invalid grade \"Relevance\": expected an integer",
        ),
        (
            b"QueryID 0 DocID Relevance\n",
            ": the file contains no judgements",
        ),
        (
            b"1 0 a 1.5\n",
            ":1: invalid grade \"1.5\": expected an integer",
        ),
        (
            b"1 0 a 99999999999\n",
            ":1: invalid grade \"99999999999\": expected an integer",
        ),
        (
            b"1 a 1\n",
            ":1: expected 4 columns (topic iteration document grade), found 3",
        ),
        (
            b"1 0 a 1\n1 0 b 0\n1 0 a 2\n",
            ":3: document a has grade 2 for topic 1, but an earlier line has grade 1",
        ),
        (b"1 0 a 1\n1 0 \xe4 1\n", ":2: not in UTF-8"),
        (b"\n", ": the file contains no judgements"),
    ] {
        assert_eq!(refusal(Qrels::read, text), message);
    }
    for (text, message) in [
        (&b"1\tone\n2 two\n"[..], ":2: no tab between id and text"),
        (b"1\t \n", ":1: an empty id or text"),
        (b"1\tone\n1\tagain\n", ":2: duplicate topic 1"),
        (
            b"1\tone\ttwo\n",
            ":1: the third column must be a year: \"two\"",
        ),
        (b"", ": the file contains no topics"),
    ] {
        assert_eq!(refusal(Topics::read, text), message);
    }
    assert!(matches!(
        Qrels::read(Path::new("nowhere/qrels")),
        Err(EvalError::Io { .. })
    ));
}

#[test]
fn topics_may_have_a_year() {
    let (_folder, path) = file(b"1\tboats\t2018\n2\ttwo boats\t\n3\tships\n");
    let topics = Topics::read(&path).expect("topics").0;
    let read: Vec<_> = topics
        .iter()
        .map(|topic| (topic.text.as_str(), topic.year))
        .collect();
    assert_eq!(
        read,
        [("boats", Some(2018)), ("two boats", None), ("ships", None)]
    );
}

#[test]
fn judgements_may_be_spaced_and_repeated() {
    let (_folder, path) = file(b"\xef\xbb\xbf1 0\ta  2\r\n\r\n  1\t0 b -1\t\n1 0 a 2\n2 0 a 0");
    let qrels = Qrels::read(&path).expect("judgements");
    assert_eq!(qrels.topics().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(
        qrels.judgements("1").collect::<Vec<_>>(),
        [("a", 2), ("b", -1)]
    );
    assert_eq!(
        (
            qrels.find_grade("1", "c"),
            qrels.grade("1", "c"),
            qrels.find_grade("2", "a")
        ),
        (None, 0, Some(0))
    );
}

#[test]
fn a_tag_after_a_tab_may_hold_spaces() {
    let (_folder, path) = file(b"1\tQ0\ta\t1\t2.5\tFSDM [d]\r\n");
    assert_eq!(Run::read(&path).expect("a run").tag, "FSDM [d]");
    for line in [
        &b"1\tQ0\ta b\t1\t2.5\tt\n"[..],
        b"1\tQ0\ta\t1\t2.5\tt\tu\n",
        b"1 Q0 a 1 2.5 FSDM [d]\n",
    ] {
        let expected = ":1: expected 6 columns (topic Q0 document rank score tag), found 7";
        assert_eq!(refusal(Run::read, line), expected);
    }
}

#[test]
fn the_precision_of_scores_decides_ties() {
    let (_folder, path) =
        file(b"1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1.0 t\n2 Q0 a 1 0.0 t\n2 Q0 b 2 -0.0 t\n");
    let best = |precision, topic| {
        let run = Run::read_with(&path, precision).expect("a run");
        run.ranking(topic)
            .and_then(|ranking| ranking.iter().next())
            .map(|first| first.id.to_string())
    };
    assert_eq!(best(ScorePrecision::Double, "1").as_deref(), Some("a"));
    assert_eq!(
        best(ScorePrecision::Single, "1").as_deref(),
        Some("b"),
        "a tie: the greater id"
    );
    for precision in [ScorePrecision::Double, ScorePrecision::Single] {
        assert_eq!(
            best(precision, "2").as_deref(),
            Some("b"),
            "0 and -0 are a tie"
        );
    }
}

/// Topics 1 to 5 with the relevant document `a`; a run that finds it for 1 and 3, ranks it second for 2, and is silent on
/// 4 and 5.
fn example() -> (Run, Qrels) {
    let (mut run, mut qrels) = (Run::new("t"), Qrels::default());
    let ranking = |ids: &[(&str, f64)]| {
        Ranking::from_scores(
            ids.iter()
                .map(|&(id, score)| Scored {
                    id: DatasetId::new(id).expect("an id"),
                    score,
                })
                .collect(),
        )
    };
    for topic in ["1", "2", "3", "4", "5"] {
        qrels.insert(topic, "a", 1);
    }
    run.insert("1", ranking(&[("a", 1.0)]));
    run.insert("2", ranking(&[("b", 2.0), ("a", 1.0)]));
    run.insert("3", ranking(&[("a", 1.0)]));
    run.insert("unjudged", ranking(&[("a", 1.0)]));
    (run, qrels)
}

fn values(run: &Run, qrels: &Qrels) -> TopicValues {
    TopicValues::evaluate(run, qrels, &["RR".parse().expect("a measure")]).remove(0)
}

#[test]
fn means_over_topics_and_folds() {
    let (run, qrels) = example();
    let values = values(&run, &qrels);
    let folds = Folds::split(&qrels, 2); // 1, 3, 5 and 2, 4
    assert_eq!(
        (
            values.missing(),
            values.averaged_values(Average::Intersection).count()
        ),
        (2, 3)
    );
    assert_eq!(
        values
            .averaged_values(Average::AllTopics)
            .map(|(_, value)| value)
            .collect::<Vec<_>>(),
        [1.0, 0.5, 1.0, 0.0, 0.0]
    );
    assert!((values.mean(Average::AllTopics) - 2.5 / 5.0).abs() < 1e-12);
    assert!((values.mean(Average::Intersection) - 2.5 / 3.0).abs() < 1e-12);
    assert!((values.mean(Average::Macro(&folds)) - (2.0 / 3.0 + 0.25) / 2.0).abs() < 1e-12);
}

#[test]
fn folds_must_part_the_judgements() {
    let (_, qrels) = example();
    let folds = Folds::split(&qrels, 2);
    assert_eq!(
        (
            folds.check(&qrels),
            folds.test_fold("4"),
            folds.test_fold("9")
        ),
        (Ok(()), Some(1), None)
    );
    let broken = |change: &dyn Fn(&mut Folds)| {
        let mut folds = folds.clone();
        change(&mut folds);
        folds.check(&qrels).expect_err("a mismatch").to_string()
    };
    assert_eq!(broken(&|folds| folds.0.clear()), "there are no folds");
    assert_eq!(
        broken(&|folds| folds.0[1].test.insert("3", "a", 1)),
        "topic 3 is in the test parts of fold 0 and of fold 1"
    );
    assert_eq!(
        broken(&|folds| drop(folds.0.pop())),
        "topic 2 of the judgements is in the test part of no fold"
    );
    assert_eq!(
        broken(&|folds| folds.0[0].test.insert("6", "a", 1)),
        "topic 6, tested in fold 0, is not in the judgements"
    );
    assert_eq!(
        broken(&|folds| folds.0[1].test.insert("4", "b", 1)),
        "topic 4 has other judgements in the test part of fold 1 than in the qrels"
    );
}

const RANDOMISATION: SignificanceTest = SignificanceTest::Randomisation(Resampling {
    samples: 20_000,
    seed: 1,
});
const BOOTSTRAP: SignificanceTest = SignificanceTest::Bootstrap(Resampling {
    samples: 20_000,
    seed: 1,
});
const TESTS: [SignificanceTest; 3] = [SignificanceTest::StudentT, BOOTSTRAP, RANDOMISATION];

/// scipy 1.17.1: `ttest_rel(a, b)` with `confidence_interval(.95)`, `permutation_test((a - b,), mean,
/// permutation_type='samples', n_resamples=inf)`.
#[test]
fn twelve_topics_as_scipy_has_them() {
    let a = [
        0.91, 0.35, 0.62, 0.48, 0.77, 0.15, 0.83, 0.56, 0.29, 0.71, 0.44, 0.66,
    ];
    let b = [
        0.85, 0.41, 0.50, 0.48, 0.60, 0.22, 0.70, 0.49, 0.31, 0.52, 0.40, 0.58,
    ];
    let differences = Differences::new(a.iter().zip(b).map(|(a, b)| a - b));
    let comparison = Comparison::new(&differences, SignificanceTest::StudentT);
    let (low, high) = comparison.interval.expect("an interval");
    for (value, expected) in [
        (comparison.p, 0.034_736_841_475_142_15),
        (comparison.difference, 0.059_166_666_666_666_68),
        (low, 0.005_086_676_540_574_34),
        (high, 0.113_246_656_792_759_03),
        (
            comparison.effect_size.expect("an effect"),
            0.695_131_534_098_756_6,
        ),
        (RANDOMISATION.p(&differences), 0.041_992_187_5),
    ] {
        assert!(
            (value - expected).abs() < 1e-10,
            "{value} instead of {expected}"
        );
    }
    assert_eq!(comparison.topics, 12);
}

/// Sixty differences of a linear congruential generator. numpy's share of 1,000,000 random signs is .010555, and of 400,000
/// studentised draws .010688.
#[test]
fn sixty_topics_as_scipy_and_numpy_have_them() {
    let mut state = 12345_u64;
    let differences = Differences::new((0..60).map(|_| {
        state = (1_103_515_245 * state + 12345) % (1 << 31);
        state as f64 / f64::from(1_u32 << 31) - 0.42
    }));
    let p = |test: SignificanceTest| test.p(&differences);
    assert!((p(SignificanceTest::StudentT) - 0.010_139_655_392_749_256).abs() < 1e-10);
    let (low, high) = differences.interval().expect("an interval");
    assert!(
        (low - 0.022_061_327_826_500_998).abs() < 1e-10
            && (high - 0.156_747_396_443_904_7).abs() < 1e-10
    );
    let many = Resampling::default();
    assert!((p(SignificanceTest::Randomisation(many)) - 0.010_555).abs() < 0.0015);
    assert!((p(SignificanceTest::Bootstrap(many)) - 0.010_688).abs() < 0.0015);
    assert_eq!(p(RANDOMISATION), p(RANDOMISATION), "the seed decides");
}

#[test]
fn where_nothing_varies() {
    for test in TESTS {
        assert_eq!(test.p(&Differences::new([])), 1.0);
        assert_eq!(
            test.p(&Differences::new([0.4])),
            1.0,
            "one topic tells nothing"
        );
        assert_eq!(test.p(&Differences::new([0.0; 50])), 1.0, "the same system");
        assert_eq!(
            test.p(&Differences::new([1e-16, -1e-16, 0.0])),
            1.0,
            "the same system, summed otherwise"
        );
        assert_eq!(test.p(&Differences::new([0.25; 5])), 0.0625, "2^-4");
    }
    assert!(SignificanceTest::StudentT.p(&Differences::new([0.25; 2000])) > 0.0);
    let constant = Differences::new([0.25; 5]);
    assert_eq!(
        (constant.effect_size(), constant.interval()),
        (None, Some((0.25, 0.25)))
    );
    let same = Differences::new([0.0; 5]);
    assert_eq!(
        (same.effect_size(), same.interval()),
        (Some(0.0), Some((0.0, 0.0)))
    );
    let one = Differences::new([0.25]);
    assert_eq!((one.effect_size(), one.interval()), (None, None));
}

#[test]
fn holm_steps_down() {
    assert_eq!(holm(&[]), Vec::<f64>::new());
    assert_eq!(holm(&[0.5]), [0.5]);
    // 4 × .005, 3 × .01, then 2 × .03 = .06, and .04, which may not be less
    for (corrected, expected) in holm(&[0.01, 0.04, 0.03, 0.005])
        .into_iter()
        .zip([0.03, 0.06, 0.06, 0.02])
    {
        assert!(
            (corrected - expected).abs() < 1e-12,
            "{corrected} instead of {expected}"
        );
    }
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    assert_eq!(Correction::Holm.correct(&[0.9, 0.8]), [1.0, 1.0]);
    assert_eq!(
        Correction::Bonferroni.correct(&[0.25, 0.5, 0.125]),
        [0.75, 1.0, 0.375]
    );
    assert_eq!(Correction::None.correct(&[0.25, 0.5]), [0.25, 0.5]);
}

#[test]
fn comparisons_are_over_topics_that_count_for_both() {
    let (run, qrels) = example();
    let mut other = Run::new("other");
    for (topic, ranking) in run.iter().filter(|(topic, _)| *topic != "1") {
        other.insert(topic, ranking.clone());
    }
    let (baseline, other) = (values(&run, &qrels), values(&other, &qrels));
    let comparison = |average| {
        compare(
            &[(&other, &baseline), (&baseline, &baseline)],
            average,
            SignificanceTest::StudentT,
            Correction::Holm,
        )
    };
    let [all, same] = comparison(Average::AllTopics)[..] else {
        panic!("two comparisons")
    };
    assert_eq!((all.topics, same.p, same.corrected_p), (5, 1.0, 1.0));
    assert!((all.difference + 0.2).abs() < 1e-12 && (all.corrected_p - 2.0 * all.p).abs() < 1e-12);
    let both = comparison(Average::Intersection)[0];
    assert_eq!((both.topics, both.difference, both.p), (2, 0.0, 1.0));
}

/// All 2^n choices of signs, one after the other.
fn brute_force(differences: &[f64]) -> f64 {
    let sum = |signs: u32| -> f64 {
        let signed = |(place, difference): (usize, &f64)| {
            if (signs >> place) & 1 == 1 {
                -difference
            } else {
                *difference
            }
        };
        differences.iter().enumerate().map(signed).sum()
    };
    let choices = 1_u32 << differences.len();
    let extreme = (0..choices)
        .filter(|&signs| sum(signs).abs() >= sum(0).abs() - 1e-9)
        .count();
    extreme as f64 / f64::from(choices)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exact_randomisation_is_brute_force(steps in proptest::collection::vec(-8i32..=8, 2..11)) {
        let differences: Vec<f64> = steps.iter().map(|&step| f64::from(step) / 10.0).collect();
        let p = RANDOMISATION.p(&Differences::new(differences.iter().copied()));
        prop_assert!((p - brute_force(&differences)).abs() < 1e-12, "{p} for {differences:?}");
    }

    #[test]
    fn p_values_are_probabilities_and_symmetric(differences in proptest::collection::vec(-1.0f64..1.0, 0..30)) {
        let few = Resampling { samples: 500, seed: 3 };
        let opposite = Differences::new(differences.iter().map(|difference| -difference));
        let differences = Differences::new(differences);
        for test in [SignificanceTest::StudentT, SignificanceTest::Bootstrap(few), SignificanceTest::Randomisation(few)] {
            let p = test.p(&differences);
            prop_assert!(p > 0.0 && p <= 1.0, "{test:?}: {p}");
            prop_assert!((p - test.p(&opposite)).abs() < 1e-12, "{test:?}: {p}");
        }
        prop_assert!(differences.interval().is_none_or(|(low, high)| (low..=high).contains(&differences.mean())));
    }

    #[test]
    fn corrected_p_values_are_larger_and_in_the_same_order(p in proptest::collection::vec(0.0f64..=1.0, 0..12)) {
        let corrected = holm(&p);
        for (a, corrected_a) in p.iter().zip(&corrected) {
            prop_assert!(corrected_a >= a && *corrected_a <= 1.0);
            prop_assert!(p.iter().zip(&corrected).all(|(b, corrected_b)| a > b || corrected_a <= corrected_b));
        }
    }
}
