//! `lodeseek evaluate` on runs: tables, comparisons, folds, and errors for files that do not belong together.

use super::support::{Ran, run};
use insta::assert_snapshot;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Twelve topics with one relevant document each. `good` ranks it first; `bad` ranks it second and omits topic 12;
/// `one` holds topic 1 and one without judgements.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let lines = |topics: &[u32], line: &dyn Fn(u32) -> String| {
            topics.iter().map(|&topic| line(topic)).collect::<String>()
        };
        let all: Vec<u32> = (1..=12).collect();
        let judgement = |topic: u32| format!("{topic} 0 relevant 1\n{topic} 0 other 0\n");
        files.write("qrels.txt", &lines(&all, &judgement));
        files.write(
            "good.run",
            &lines(&all, &|topic| format!("{topic} Q0 relevant 1 2.5 good\n")),
        );
        files.write(
            "bad.run",
            &lines(&all[..11], &|topic| {
                format!("{topic} Q0 relevant 1 2.5 bad\n{topic} Q0 other 2 3.5 bad\n")
            }),
        );
        files.write(
            "one.run",
            "1 Q0 relevant 1 2.5 one\n99 Q0 relevant 1 2.5 one\n",
        );
        fs::create_dir(files.path("folds")).expect("a folder");
        for (fold, test) in [&all[..4], &all[4..]].iter().enumerate() {
            for part in ["train", "valid", "test"] {
                files.write(
                    &format!("folds/fold{fold}.{part}.qrels"),
                    &lines(test, &judgement),
                );
            }
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    /// Evaluates; what is no option is a file here.
    fn evaluate(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["evaluate".to_owned()];
        for argument in arguments {
            let file = self.path(argument);
            all.push(if file.exists() {
                file.to_str().expect("a path").to_owned()
            } else {
                (*argument).to_owned()
            });
        }
        let home = self.path("no home is needed");
        run(&home, &all.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn out(&self, arguments: &[&str]) -> String {
        let ran = self.evaluate(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran.out
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let Ran { code, out, err } = self.evaluate(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
        err
    }
}

#[test]
fn silent_topics_count_nothing_and_are_told() {
    let files = Files::new();
    let ran = files.evaluate(&[
        "qrels.txt",
        "good.run",
        "bad.run",
        "one.run",
        "--metrics",
        "RR,P@1,nDCG(dcg='exp-log2')@5",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_snapshot!(ran.out, @r#"
    run                    RR      P@1 nDCG(dcg='exp-log2')@5   (12 topics)
    good               1.0000   1.0000                 1.0000
    bad                0.4583   0.0000                 0.5784
    one                0.0833   0.0833                 0.0833
    "#);
    assert_snapshot!(ran.err, @r#"
    lodeseek: bad: 1 of 12 judged topics are not in the run and count 0: 12
    lodeseek: one: 11 of 12 judged topics are not in the run and count 0: 10, 11, 12, 2, 3 and 6 more
    lodeseek: one: 1 of its 2 topics were not judged and do not count: 99
    "#);
    let both = files.evaluate(&[
        "qrels.txt",
        "bad.run",
        "--metrics",
        "RR",
        "--average",
        "intersection",
    ]);
    assert!(
        both.out.contains("\nbad                0.5000\n"),
        "{}",
        both.out
    );
    assert!(
        both.err
            .contains("bad: 1 of 12 judged topics are not in the run and do not count"),
        "{}",
        both.err
    );
}

/// trec_eval prints `map`; ir_measures also accepts `MAP`. Results state the name AP.
#[test]
fn average_precision_has_other_names() {
    let files = Files::new();
    let table = files.out(&["qrels.txt", "bad.run", "--metrics", "AP,AP@1"]);
    assert!(table.contains(" AP "), "{table}");
    for measures in ["MAP,MAP@1", "map,map@1"] {
        let other = files.out(&["qrels.txt", "bad.run", "--metrics", measures]);
        assert_eq!(other, table, "{measures}");
    }
}

#[test]
fn means_of_folds() {
    let files = Files::new();
    assert_snapshot!(files.out(&["qrels.txt", "good.run", "bad.run", "--metrics", "RR", "--folds", "folds"]), @r#"
    run                    RR   (12 topics, mean of 2 folds)
    good               1.0000
    bad                0.4688
    "#);
    let micro = files.out(&[
        "qrels.txt",
        "bad.run",
        "--metrics",
        "RR",
        "--folds",
        "folds",
        "--average",
        "all",
    ]);
    assert!(micro.contains("0.4583"), "{micro}");

    files.write("folds/fold1.test.qrels", "1 0 relevant 1\n1 0 other 0\n");
    let twice = files.refused(&["qrels.txt", "bad.run", "--folds", "folds"]);
    let parts = [
        "qrels.txt do not match",
        "topic 1 is in the test parts of fold 0 and of fold 1",
    ];
    assert!(parts.iter().all(|part| twice.contains(part)), "{twice}");
    let none = files.refused(&["qrels.txt", "bad.run", "--average", "macro"]);
    assert!(none.contains("--average macro needs --folds"), "{none}");
}

#[test]
fn differences_are_marked_and_told_in_full() {
    let files = Files::new();
    let compared = [
        "qrels.txt",
        "good.run",
        "bad.run",
        "one.run",
        "--metrics",
        "RR,R@5",
        "--compare",
    ];
    assert_snapshot!(files.out(&compared), @r#"
    run                    RR       R@5    (12 topics)
    good               1.0000    1.0000
    bad                0.4583‡   0.9167
    one                0.0833‡   0.0833‡
    † p < .05, ‡ p < .01: differs from good; paired t-test, by topic, corrected over the 2 other runs (Holm)
    "#);
    let of_bad = files.out(
        &[
            &compared[..6],
            &["--compare=bad", "--test", "randomisation"],
        ]
        .concat(),
    );
    assert!(
        of_bad.contains("differs from bad; paired randomisation test, exact or 100000 samples"),
        "{of_bad}"
    );
    let path = format!("--compare={}", files.path("bad.run").display());
    assert!(
        files
            .out(
                &[
                    &compared[..6],
                    &[&path, "--test", "bootstrap", "--samples", "100"]
                ]
                .concat()
            )
            .contains("from bad;")
    );
    let unknown = files.refused(&[&compared[..6], &["--compare=best"]].concat());
    assert!(
        unknown.contains("unknown baseline best; the runs are good, bad, one"),
        "{unknown}"
    );

    let two = [
        "qrels.txt",
        "good.run",
        "bad.run",
        "--metrics",
        "RR",
        "--compare",
        "--format",
    ];
    assert_snapshot!(files.out(&[&two[..], &["markdown"]].concat()), @r#"
    | run | RR |
    |---|---:|
    | good | 1.0000 |
    | bad | 0.4583‡ |

    12 topics.
    † p < .05, ‡ p < .01: differs from good; paired t-test, by topic, corrected over the other run (Holm)

    | run | baseline | measure | difference | 95 % interval | d | p | corrected p |
    |---|---|---|---:|---:|---:|---:|---:|
    | bad | good | RR | -0.5417 | -0.6334 … -0.4500 | -3.75 | < .0001 | < .0001 |
    "#);
    assert_snapshot!(files.out(&[&two[..], &["latex"]].concat()), @r"
    \begin{tabular}{lr}
    \toprule
    run & RR \\
    \midrule
    good & 1.0000 \\
    bad & 0.4583$^{\ddagger}$ \\
    \bottomrule
    \end{tabular}
    % 12 topics.
    % † p < .05, ‡ p < .01: differs from good; paired t-test, by topic, corrected over the other run (Holm)
    ");
    let csv = files.out(&[&two[..], &["csv"]].concat());
    let [header, good, bad] = csv.lines().collect::<Vec<_>>()[..] else {
        panic!("{csv}")
    };
    assert_eq!(
        header,
        "run,measure,topic,value,baseline,difference,interval_low,interval_high,effect_size,p,corrected_p"
    );
    assert_eq!(good, "good,RR,all,1,,,,,,,");
    assert!(
        bad.starts_with("bad,RR,all,0.4583") && bad.split(',').count() == 11,
        "{bad}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&files.out(&[&two[..], &["json"]].concat())).expect("JSON");
    assert_eq!(
        (&json["average"], &json["comparison"]["baselines"]),
        (&"all".into(), &serde_json::json!(["good"]))
    );
    let compared = &json["runs"][1]["comparisons"]["RR"][0];
    let near = |value: &serde_json::Value, expected: f64| {
        value
            .as_f64()
            .is_some_and(|value| (value - expected).abs() < 1e-6)
    };
    // scipy 1.17.1, ttest_1samp of eleven times -1/2 and -1
    assert!(
        near(&compared["difference"], -0.541_667) && near(&compared["p"], 5.088e-8),
        "{compared}"
    );
    assert!(
        near(&compared["interval"][0], -0.633_374) && near(&compared["interval"][1], -0.449_959),
        "{compared}"
    );
    assert!(near(&compared["effect_size"], -3.752_777), "{compared}");
    assert!(
        json["runs"][0]["comparisons"].is_null(),
        "the baseline is compared with nothing"
    );
}

#[test]
fn several_baselines_have_letters_and_one_correction() {
    let files = Files::new();
    let compared = [
        "qrels.txt",
        "good.run",
        "bad.run",
        "one.run",
        "--metrics",
        "RR,R@5",
    ];
    let both = [&compared[..], &["--compare=good,bad"]].concat();
    assert_snapshot!(files.out(&both), @r"
    run                    RR        R@5     (12 topics)
    good               1.0000     1.0000
    bad                0.4583ᵃ    0.9167
    one                0.0833ᵃᵇ   0.0833ᵃᵇ
    ᵃ good, ᵇ bad: differs from this run with p < .05; paired t-test, by topic, corrected over 3 comparisons (Holm)
    ");
    let latex = files.out(&[&both[..], &["--format", "latex"]].concat());
    assert!(
        latex.contains("one & 0.0833$^{ab}$ & 0.0833$^{ab}$"),
        "{latex}"
    );
    let csv = files.out(&[&both[..], &["--format", "csv"]].concat());
    let baselines: Vec<&str> = csv
        .lines()
        .filter(|line| line.starts_with("one,RR,all"))
        .filter_map(|line| line.split(',').nth(4))
        .collect();
    assert_eq!(baselines, ["good", "bad"]);

    let p = |correction: &str, run: usize, pair: usize| {
        let arguments = [&both[..], &["--format", "json", "--correction", correction]].concat();
        let json: serde_json::Value = serde_json::from_str(&files.out(&arguments)).expect("JSON");
        let comparison = &json["runs"][run]["comparisons"]["R@5"][pair];
        (
            comparison["p"].as_f64().expect("p"),
            comparison["corrected_p"].as_f64().expect("corrected"),
        )
    };
    let (plain, none) = p("none", 1, 0);
    let (_, bonferroni) = p("bonferroni", 1, 0);
    let (_, holm) = p("holm", 1, 0);
    assert_eq!(plain, none);
    // Three pairs; this one has the largest p value.
    assert_eq!((bonferroni, holm), ((3.0 * plain).min(1.0), plain));
    let twice = files.refused(&[&compared[..], &["--compare=good,good"]].concat());
    assert!(
        twice.contains("the baseline good is given twice"),
        "{twice}"
    );
}

#[test]
fn every_topic_has_its_value() {
    let files = Files::new();
    let few = [
        "qrels.txt",
        "bad.run",
        "--metrics",
        "RR,Judged@1",
        "--per-query",
    ];
    let table = files.out(&few);
    assert!(
        table
            .contains("\n  11               0.5000   1.0000\n  12               0.0000   0.0000\n"),
        "{table}"
    );
    let csv = files.out(&[&few[..], &["--format", "csv"]].concat());
    assert!(
        csv.contains("\nbad,RR,11,0.5,,,,,,,\nbad,RR,12,0,,,,,,,\n"),
        "{csv}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&files.out(&[&few[..], &["--format", "json"]].concat()))
            .expect("JSON");
    let bad = &json["runs"][0];
    assert_eq!(
        (&bad["missing_topics"], &bad["topics"], &bad["tag"]),
        (&1.into(), &12.into(), &"bad".into())
    );
    assert_eq!(
        (&bad["per_query"]["11"]["RR"], &bad["per_query"]["12"]["RR"]),
        (&0.5.into(), &0.0.into())
    );
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let files = Files::new();
    files.write("strange.run", "99 Q0 relevant 1 2.5 t\n");
    let strange = files.refused(&["qrels.txt", "strange.run"]);
    assert!(
        strange.contains(
            "strange: none of its topics was judged; check that the run and the judgements belong to the same topics"
        ),
        "{strange}"
    );
    let swapped = files.refused(&["good.run", "qrels.txt"]);
    assert!(
        swapped.contains("good.run:1: expected 4 columns"),
        "{swapped}"
    );
    files.write("conflict.run", "1 Q0 a 1 2.5 t\n<<<<<<< HEAD\n");
    let conflict = files.refused(&["qrels.txt", "good.run", "conflict.run"]);
    assert!(
        conflict.contains("conflict.run:2: a conflict marker of git"),
        "{conflict}"
    );
    assert!(
        files
            .refused(&["qrels.txt"])
            .contains("give run files, or --topics FILE")
    );
}

#[test]
fn runs_of_one_name_are_told_apart() {
    let files = Files::new();
    fs::create_dir(files.path("other")).expect("a folder");
    fs::copy(files.path("good.run"), files.path("other/good.run")).expect("copied");
    let table = files.out(&[
        "qrels.txt",
        "good.run",
        "other/good.run",
        "bad.run",
        "--metrics",
        "RR",
    ]);
    let named = |name: &str| table.contains(&format!("\n{} ", files.path(name).display()));
    assert!(
        named("good.run") && named("other/good.run") && table.contains("\nbad "),
        "{table}"
    );
}
