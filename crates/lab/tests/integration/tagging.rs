//! `tag` as people run it.

use super::support::{Ran, load, run};
use insta::assert_snapshot;
use lodeseek_catalog::Catalog;
use std::fs;
use std::path::Path;

fn fails(home: &Path, arguments: &[&str]) -> String {
    let Ran { code, out, err } = run(home, arguments);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
    assert!(!err.contains("panicked"), "{err}");
    err
}

/// Papers written for this test, and a catalogue in Papers with Code's form.
const PAPERS: &str = r#"{"title": "Pruning networks", "abstract": "Results on Trees-10 and the PEAR dataset. PEAR ripens.", "positives": ["Trees-10", "Hedge"]}
no paper
{"name": "nothing to read"}

{"title": "Pruning with PEAR", "abstract": null, "positives": []}
"#;

#[test]
fn papers_are_tagged() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let papers = file("papers.jsonl", PAPERS);
    let catalog = file(
        "datasets.json",
        r#"[{"name": "Trees-10", "full_name": null}, {"name": "PEAR", "variants": ["PEAR", "Big Pear"]}]"#,
    );
    let home = folder.path().join("home");
    load(
        &home,
        Catalog::read(Path::new(&catalog)).expect("a catalogue"),
    );
    let tagged = run(&home, &["tag", "--rejected", &papers]);
    assert_eq!(tagged.code, Some(0), "{}", tagged.err);
    for part in [
        "papers.jsonl:2: expected ident",
        "papers.jsonl:3: no text under title, abstract",
        "2 papers: 1 name 2",
    ] {
        assert!(tagged.err.contains(part), "{part:?} in {}", tagged.err);
    }
    let lines: Vec<serde_json::Value> = tagged
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        (lines.len(), &lines[0]["title"]),
        (2, &"Pruning networks".into())
    );
    assert_eq!(
        lines[0]["positives"],
        serde_json::json!(["Trees-10", "PEAR"])
    );
    assert_eq!(
        lines[0]["mentions"],
        serde_json::json!(["Trees-10", "PEAR"])
    );
    assert_eq!(
        lines[0]["spans"][0],
        serde_json::json!({"text": "abstract", "start": 11, "end": 19, "surface": "Trees-10", "dataset": "Trees-10", "rule": "distinctive"})
    );
    assert_eq!(lines[1]["positives"], serde_json::json!([]));
    assert_eq!(lines[1]["rejected"][0]["reason"], "no-evidence");
    assert_eq!(
        run(
            &home,
            &["tag", "--rejected", "--catalog", &catalog, &papers]
        )
        .out,
        tagged.out,
        "with and without a home"
    );
    assert!(
        fails(&home, &["tag", &papers, "--output", &papers])
            .contains("both the papers and the output")
    );
    assert!(
        fails(&home, &["tag", home.to_str().expect("a path")])
            .contains("is no file: papers are read twice")
    );

    let output = folder.path().join("tagged.jsonl");
    let evaluated = run(
        &home,
        &[
            "tag",
            "--evaluate",
            "--output",
            output.to_str().expect("a path"),
            &papers,
        ],
    );
    assert_snapshot!(evaluated.out, @r"
    2 papers, 1 with the same datasets; pairs of paper and dataset: 1 of both, 1 ours alone, 1 theirs alone

                 precision    recall        F1
    all pairs       0.5000    0.5000    0.5000
    by paper        0.7500    0.7500    0.7500

    most often ours alone: PEAR 1

    most often theirs alone: Hedge 1
    ");
    assert_eq!(
        fs::read_to_string(&output)
            .expect("written")
            .lines()
            .count(),
        2
    );
    let json: serde_json::Value =
        serde_json::from_str(&run(&home, &["tag", "--evaluate", "--json", &papers]).out)
            .expect("JSON");
    assert_eq!(
        (&json["pairs"]["both"], &json["by_paper"]["f1"]),
        (&1.into(), &0.75.into())
    );

    let sample = run(
        &home,
        &["tag", "--sample", "9", "--of", "ours-alone", &papers],
    )
    .out;
    assert!(
        sample.starts_with("1\tPEAR\taccepted: cued\t") && sample.contains("the [[PEAR]] dataset"),
        "{sample}"
    );
    let missed = run(
        &home,
        &["tag", "--sample", "9", "--of", "theirs-alone", &papers],
    )
    .out;
    assert_eq!(missed, "1\tHedge\tno name found\tPruning networks\n");
    let nothing = file("empty.jsonl", "{\"title\": \"Nothing\"}\n");
    assert_eq!(run(&home, &["tag", &nothing]).code, Some(1));
}
