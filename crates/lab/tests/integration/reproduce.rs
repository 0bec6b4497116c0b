//! Conditions, what they are held against, and what is quoted of them.

use super::support::{home, root, testdata};
use lodeseek_lab::reproduce::{Condition, Experiment, Outcome, Report, marked_sections};
use std::fs;
use std::path::{Path, PathBuf};

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect(name)
}

fn conditions() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("acordar")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect()
}

fn reproduced(condition: &Path, data: &Path) -> anyhow::Result<Report> {
    Condition::read(condition)?.reproduce(
        data,
        Path::new("no home"),
        &|_, _| anyhow::bail!("no encoder"),
        &|_| (),
    )
}

#[test]
fn the_documentation_quotes_the_results_unchanged() {
    let results = marked_sections("table", &text("acordar/RESULTS.md"));
    let quoted = marked_sections("table", &text("docs/src/benchmarks/effectiveness.md"));
    assert!(!quoted.is_empty(), "the page quotes no table");
    for (name, table) in quoted {
        let original = results
            .iter()
            .find(|(other, _)| *other == name)
            .unwrap_or_else(|| panic!("no table {name}"));
        assert_eq!(
            table, original.1,
            "{name}: copy the table from acordar/RESULTS.md"
        );
    }
}

#[test]
fn every_condition_is_read_and_has_its_results() {
    let results = text("acordar/RESULTS.md");
    let sections = marked_sections("condition", &results);
    assert!(!results.contains("FAIL:"));
    let all = conditions()
        .into_iter()
        .map(|path| Experiment::read(&path).expect("a condition"));
    let (waiting, run): (Vec<Experiment>, Vec<Experiment>) =
        all.partition(|one| one.awaits().is_some());
    assert_eq!(run.len(), sections.len());
    assert!(
        waiting
            .iter()
            .all(|one| text("acordar/README.md").contains(one.name()))
    );
    for one in run {
        let section = sections
            .iter()
            .find(|(name, _)| name == one.name())
            .expect("a section");
        assert!(
            section.1.contains(one.command()) && section.1.contains(one.about().trim()),
            "{}",
            one.name()
        );
        for table in one.tables() {
            let name = format!("{}/{table}", one.name());
            assert!(
                marked_sections("table", &section.1)
                    .iter()
                    .any(|(other, _)| *other == name),
                "{name}"
            );
        }
    }
}

#[test]
fn a_small_condition_comes_out_as_worked_out_by_hand() {
    let report = reproduced(&testdata("fusion.toml"), &testdata("")).expect("reproduced");
    let outcomes: Vec<Outcome> = report.tables[0]
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .map(|cell| cell.outcome)
        .collect();
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == Outcome::Ok)
            .count(),
        7,
        "{report:?}"
    );
    assert_eq!(outcomes[3], Outcome::KnownDifference);
    assert!(!report.fails());
    let again = reproduced(&testdata("fusion.toml"), &testdata("")).expect("reproduced");
    assert_eq!(
        report.replace_section(""),
        again.replace_section(&report.replace_section(""))
    );
}

/// Means over runs and over questions, published decisions of significance, and printed rankings of a topic.
#[test]
fn aggregates_come_out_as_worked_out_by_hand() {
    let report = reproduced(&testdata("tables.toml"), &testdata("")).expect("reproduced");
    assert!(!report.fails(), "{}", report.markdown());
    let text = report.markdown();
    assert!(
        text.contains("10 cells: 10 OK; 2 decisions of significance: 2 OK."),
        "{text}"
    );
    assert!(text.contains("3 ranks: 1 OK, 2 known."), "{text}");
    assert!(
        text.contains("| 1 | soil-types [2] (known: boreholes) | boreholes [0] |"),
        "{text}"
    );
    let condition = self::text("testdata/tables.toml");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.toml");
    let changed = |from: &str, to: &str| {
        assert!(condition.contains(from), "{from}");
        fs::write(&path, condition.replacen(from, to, 1)).expect("written");
        reproduced(&path, &testdata(""))
    };
    for (from, to) in [
        (
            "significant = [false, false]",
            "significant = [false, true]",
        ),
        ("found = \"boreholes\"", "found = \"soil-types\""),
        ("expected = [\"boreholes\"]", "expected = [\"soil-types\"]"),
        ("expected = [0.825, 0.75]", "expected = [0.85, 0.75]"),
    ] {
        assert!(changed(from, to).expect("reproduced").fails(), "{to}");
    }
    let measured = changed("expected = [0.825, 0.75]", "").expect("reproduced");
    assert!(
        !measured.fails()
            && measured
                .markdown()
                .contains("| .8250 (new) | .7500 (new) |"),
        "{}",
        measured.markdown()
    );
    for (from, to, part) in [
        (
            "significant = [false, false]",
            "significant = [false]",
            "1 decisions of significance for 2 measures",
        ),
        (
            "against = [\"metadata\"]",
            "against = []",
            "`significant` needs one row in `against`, not 0",
        ),
        ("count = 20", "count = 21", "20 questions instead of 21"),
        (
            "questions/questions.json",
            "questions/none.json",
            "none.json is missing",
        ),
        (
            "questions/questions.run",
            "runs/content.run",
            "the run ranks q1, which is no question",
        ),
        (
            "mean-of = [\"runs/metadata.run\", \"runs/content.run\"]",
            "mean-of = []",
            "at least one run",
        ),
        (
            "mean-of = [\"runs/metadata.run\"",
            "run = \"runs/content.run\"\nmean-of = [\"x\"",
            "a row has one of run, mean-of",
        ),
        (
            "topic = \"q4\"",
            "topic = \"q8\"",
            "has no ranking of the topic q8",
        ),
        ("rank = 2", "rank = 3", "no rank 3 of 2"),
        (
            "id = \"case\"",
            "id = \"aggregates\"",
            "two tables have the same id",
        ),
    ] {
        let error = format!("{:#}", changed(from, to).expect_err("refused"));
        assert!(error.contains(part), "{error}");
    }
}

/// A topic is ranked with the weights of the fold that tests it.
#[test]
fn given_weights_belong_to_folds() {
    let home = home("testdata/catalog.ttl");
    let condition = text("testdata/tables.toml");
    let (head, _) = condition.split_once("[[tables]]").expect("a table");
    let head = head.replace("[collection]", "[collection]\nqueries = \"queries.tsv\"");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.toml");
    let reproduce = |keys: &str| {
        let row = format!("name = \"m\"\nexpected = [0]\nmodel = {{ name = \"bm25\", {keys} }}");
        let table =
            "id = \"t\"\ntitle = \"T\"\nsource = \"S\"\naverage = \"micro\"\nmeasures = [\"RR\"]";
        fs::write(
            &path,
            format!("{head}[[tables]]\n{table}\n[[tables.rows]]\n{row}\n"),
        )
        .expect("written");
        let encoders = |_, _: Option<&Path>| anyhow::bail!("no encoder");
        Condition::read(&path)?.reproduce(&testdata(""), home.path(), &encoders, &|_| ())
    };
    let (title, data, description) = (
        "[1, 0, 0, 0, 0, 0, 0, 0]",
        "[0, 0, 0, 0, 1, 1, 1, 1]",
        "[0, 1, 0, 0, 0, 0, 0, 0]",
    );
    let mixed =
        reproduce(&format!("by-fold = [{title}, {data}, {description}]")).expect("reproduced");
    let mixed = &mixed.tables[0].rows[0].by_topic[0];
    let tests = [
        ["q1", "q3", "q6", "q9"].as_slice(),
        &["q4", "q7", "q10"],
        &["q2", "q5", "q8"],
    ];
    let mut sums = Vec::new();
    for (weights, topics) in [title, data, description].iter().zip(tests) {
        let one =
            reproduce(&format!("by-fold = [{weights}, {weights}, {weights}]")).expect("reproduced");
        let one = &one.tables[0].rows[0].by_topic[0];
        sums.push(one.values().sum::<f64>());
        for topic in topics {
            assert_eq!(mixed[*topic], one[*topic], "{topic}");
        }
    }
    assert!(
        sums[0] != sums[1] && sums[1] != sums[2],
        "the weights matter: {sums:?}"
    );
    let tuned = "weights = \"tuned\", candidates = 5, grid = [0.1, 1.0], lengths = \"lucene\"";
    let report = reproduce(tuned).expect("reproduced");
    let note = report.tables[0].rows[0].note.clone().expect("a note");
    assert!(
        note.starts_with("weights by fold: ") && !note.contains("=0 "),
        "{note}"
    );
    for (keys, part) in [
        (
            format!("by-fold = [{title}, {description}]"),
            "weights for 2 folds instead of 3",
        ),
        (
            format!("by-fold = [{title}, {data}, {description}], weights = \"tuned\""),
            "use one of the two",
        ),
        (
            format!("by-fold = [{title}, {data}, {description}], fields = \"data\""),
            "use 0 for fields to ignore",
        ),
        ("grid = []".to_owned(), "`grid` needs numbers from 0 on"),
        (
            "candidates = 0".to_owned(),
            "`candidates` must be at least 1",
        ),
        ("lengths = \"rounded\"".to_owned(), "lengths"),
    ] {
        let error = format!("{:#}", reproduce(&keys).expect_err("refused"));
        assert!(error.contains(part), "{error}");
    }
}

fn researched(file: &Path) -> anyhow::Result<Report> {
    let Experiment::DataFinder(experiment) = Experiment::read(file)? else {
        anyhow::bail!("another task")
    };
    experiment.reproduce(
        &testdata(""),
        Path::new("no home"),
        &|_, _| anyhow::bail!("no encoder"),
        &|_| (),
    )
}

/// Three topics, five datasets and four papers: few enough for every score to be worked out by hand.
#[test]
fn research_ideas_come_out_as_worked_out_by_hand() {
    let report = researched(&testdata("datafinder.toml")).expect("reproduced");
    let cells = report
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .flat_map(|row| &row.cells);
    let outcomes: Vec<Outcome> = cells.map(|cell| cell.outcome).collect();
    let (ok, known) = (vec![Outcome::Ok; 6 * 4], vec![Outcome::KnownDifference; 2]);
    let printed = [vec![Outcome::Ok; 2], vec![Outcome::KnownDifference; 4]].concat();
    let expected = [ok, known, printed, vec![Outcome::Ok; 4 * 6 * 4 + 2 * 2]].concat();
    assert_eq!(outcomes, expected, "{}", report.replace_section(""));
    let again = researched(&testdata("datafinder.toml")).expect("reproduced");
    assert_eq!(report.replace_section(""), again.replace_section(""));
    let text = report.replace_section("");
    assert!(
        text.contains("5 judgements (1 of datasets that are not in the collection)"),
        "{text}"
    );
    assert!(text.contains("| Fused | .2667 ± "), "{text}");
    let merged = "| Table 1, sentences: Merged | .2667 (known: .1000) | .8333 (known: .2000) | .8333 | 1.0000 |";
    assert!(
        text.contains(merged) && text.contains("Merged: \"Fused\"; printed for a test."),
        "{text}"
    );
    assert!(
        text.contains("| Table 3, keyphrases: Another | – (known: .1000) | – (known: .2000) |"),
        "{text}"
    );
    assert!(text.contains("8 cells: 2 OK, 6 known."), "{text}");
    assert!(
        text.contains("(paired bootstrap, as in the paper's Figure 8)"),
        "{text}"
    );
    assert!(text.contains(
        "above BM25 by AP@5 in 50.0 % of samples of topics, in 0.0 % of samples drawn as the paper"
    ));
}

/// The paper keeps five datasets of a topic, and evaluates these.
#[test]
fn research_ideas_are_evaluated_with_the_measures_of_the_experiment() {
    let experiment = text("testdata/datafinder.toml");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.toml");
    let cut = experiment.replacen(
        "\n[collection]",
        "measures = [\"P@5\", \"R@5\", \"AP@1\", \"RR@1\"]\n\n[collection]",
        1,
    );
    fs::write(&path, cut).expect("written");
    let report = researched(&path).expect("reproduced");
    let table = report
        .tables
        .iter()
        .find(|table| table.id == "sentences-all-years")
        .expect("a table");
    assert_eq!(table.measures, ["P@5", "R@5", "AP@1", "RR@1"]);
    // Without a cut-off, BM25 has .6944 and .8333: it finds some relevant datasets below the first rank.
    let row = &table.rows[0];
    assert!(
        row.cells[2].measured < 0.6944 && row.cells[3].measured < 0.8333,
        "{row:?}"
    );
    assert_eq!(
        report.tables[0].measures[0], "AP@1, sentences",
        "the overview"
    );
    fs::write(
        &path,
        experiment.replacen("\n[collection]", "measures = [\"P@5\"]\n\n[collection]", 1),
    )
    .expect("written");
    let error = format!("{:#}", researched(&path).expect_err("refused"));
    assert!(error.contains("`measures` needs AP or AP@k"), "{error}");
}

#[test]
fn a_research_experiment_that_cannot_be_is_refused() {
    let experiment = text("testdata/datafinder.toml");
    let folder = tempfile::tempdir().expect("a folder");
    for (from, to, part) in [
        ("judged = 3", "judged = 4", "3 judged topics instead of 4"),
        ("datasets = 5", "datasets = 6", "5 datasets instead of 6"),
        (
            "research/papers.jsonl",
            "research/none.jsonl",
            "none.jsonl is missing",
        ),
        (
            "of = [\"BM25\", \"Papers\"]",
            "of = [\"BM25\", \"Popular\"]",
            "no system Popular before it",
        ),
        ("weights = [1, 1]", "weights = [1]", "1 weights for 2"),
        (
            "name = \"Tuned\"",
            "name = \"BM25\"",
            "two systems called BM25",
        ),
        (
            "system = \"BM25\"\nform",
            "system = \"BM26\"\nform",
            "there is no system BM26",
        ),
        (
            "task = \"datafinder\"",
            "task = \"datasets\"",
            "unknown variant `datasets`",
        ),
        (
            "text = \"description\", k1",
            "text = \"everything\", k1",
            "everything",
        ),
        (
            "keyphrases-all-years =",
            "keyphrases-all =",
            "BM25: there is no table keyphrases-all",
        ),
        (
            "sentences = [0.1, 0.2, 0.833, 1]",
            "sentences = [0.1]",
            "Merged: 1 scores of a table",
        ),
        (
            "system = \"Fused\"",
            "system = \"Melted\"",
            "printed row Merged: no such system",
        ),
        (
            "reason = \"nobody has it\"",
            "",
            "printed row Another: a system or a reason",
        ),
        ("\"task\" = [", "\"tasks\" = [", "there is no part tasks"),
    ] {
        assert!(experiment.contains(from), "{from}");
        let path = folder.path().join("c.toml");
        fs::write(&path, experiment.replacen(from, to, 1)).expect("written");
        let error = format!("{:#}", researched(&path).expect_err("refused"));
        assert!(error.contains(part), "{error}");
    }
}

/// The example of the documentation has the mandatory keys and no others: what it lacks is derived or not verified.
#[test]
fn the_minimal_condition_of_the_documentation_runs() {
    let page = text("docs/src/how-to/reproduce-results.md");
    let (_, rest) = page.split_once("```toml\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.toml");
    let reproduce = |condition: &str| {
        fs::write(&path, condition).expect("written");
        reproduced(&path, &testdata(""))
    };
    let report = reproduce(example).expect("reproduced");
    assert!(!report.fails(), "{}", report.markdown());
    assert_eq!(report.collection, "10 topics, 26 judgements");
    let error = |condition: &str| format!("{:#}", reproduce(condition).expect_err("refused"));

    let by_folds = example.replace("\"micro\"", "\"macro\"");
    assert!(error(&by_folds).contains("`folds` of [collection] is missing"));
    let learned = example.replace(
        "run = \"runs/metadata.run\"",
        "fusion = { runs = [\"runs\"], methods = [\"rrf\"] }",
    );
    assert!(error(&learned).contains("`folds` of [collection] is missing"));

    let mut lines: Vec<&str> = example.lines().collect();
    lines.retain(|line| {
        let key = line.split(" =").next().unwrap_or_default();
        !["about", "qrels", "id", "measures"].contains(&key)
    });
    let expected = "keys are missing: `about`, [collection] `qrels`, [[tables]] 1 `id`, [[tables]] 1 `measures`;";
    let all = error(&lines.join("\n"));
    assert!(all.contains(expected), "{all}");
    assert!(error("").contains("`title`, `about`, `command`, `get`, `collection`, `tables`"));
}

/// Counts may be absent, but those of the repository's conditions are verified.
#[test]
fn conditions_of_the_repository_verify_their_collection() {
    for path in conditions() {
        if let Experiment::Ranking(condition) = Experiment::read(&path).expect("a condition") {
            let collection = condition.collection;
            assert!(
                collection.topics.is_some()
                    && collection.judgements.is_some()
                    && collection.topics_by_fold.is_some(),
                "{}",
                condition.name
            );
        }
    }
}

#[test]
fn a_collection_that_is_not_the_one_meant_is_refused() {
    let condition = text("testdata/fusion.toml");
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |from: &str, to: &str| {
        assert!(condition.contains(from), "{from}");
        let path = folder.path().join("c.toml");
        fs::write(&path, condition.replacen(from, to, 1)).expect("written");
        format!(
            "{:#}",
            reproduced(&path, &testdata("")).expect_err("refused")
        )
    };
    for (from, to, part) in [
        ("topics = 10", "topics = 9", "10 judged topics instead of 9"),
        (
            "judgements = 26",
            "judgements = 27",
            "26 judgements instead of 27",
        ),
        ("[4, 3, 3]", "[4, 4, 2]", "folds of [4, 3, 3] topics"),
        ("folds = \"folds\"", "folds = \"parts\"", "parts is missing"),
        ("runs/content.run", "runs/nothing.run", "nothing.run"),
        (
            "expected = [0.8, 0.7]",
            "expected = [0.8]",
            "1 scores for 2 measures",
        ),
        ("\"RR\", \"P@1\"", "\"RR\", \"ERR\"", "unknown measure"),
        (
            "measure = \"P@1\"",
            "measure = \"P@2\"",
            "no cell P@2 of content",
        ),
        (
            "weights = [0.5, 1.0]",
            "weights = [0.5]",
            "1 weights for 2 distinct runs",
        ),
    ] {
        let error = refused(from, to);
        assert!(error.contains(part), "{error}");
    }
    let digest = "[collection.sha256]\n\"qrels.txt\" = \"00\"\n\n[[tables]]";
    assert!(refused("[[tables]]", digest).contains("qrels.txt is not the one expected"));
    let error = reproduced(&testdata("fusion.toml"), folder.path()).expect_err("no data");
    let error = format!("{error:#}");
    assert!(
        error.contains("it is in the repository") && error.contains("qrels.txt is missing"),
        "{error}"
    );
}

/// With the data at hand: everything that was published, in seconds.
#[test]
fn the_published_runs_score_as_published() {
    let Some(data) = std::env::var_os("LODESEEK_DATA")
        .map(PathBuf::from)
        .filter(|data| data.join("acordar/runs").is_dir())
    else {
        return; // not part of the repository; acordar/README.md describes how to obtain it
    };
    let written = marked_sections("condition", &text("acordar/RESULTS.md"));
    for condition in ["acordar-published", "dr2"] {
        let report = reproduced(&root().join(format!("acordar/{condition}.toml")), &data)
            .expect("reproduced");
        assert!(!report.fails(), "{condition}");
        let (_, section) = &marked_sections("condition", &report.replace_section(""))[0];
        assert_eq!(
            written
                .iter()
                .find(|(name, _)| name == condition)
                .map(|(_, section)| section),
            Some(section)
        );
    }
}

mod program {
    use super::super::support::run;
    use super::{marked_sections, root, testdata, text};
    use lodeseek_engine::{EncodingOptions, encode};
    use lodeseek_eval::Run;
    use lodeseek_rerank::encoder::{EncoderOptions, open};
    use std::fs;
    use std::path::Path;

    fn path(path: &Path) -> &str {
        path.to_str().expect("a path")
    }

    #[test]
    fn fuse_with_given_weights() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("fused.run");
        let runs = ["testdata/runs/metadata.run", "testdata/runs/content.run"];
        let arguments = [
            "fuse",
            runs[0],
            runs[1],
            "-o",
            path(&output),
            "--method",
            "combsum",
            "--weights",
            "0.5,1",
            "--depth",
            "2",
        ];
        let ran = run(folder.path(), &arguments);
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (Some(0), "", "")
        );
        let fused = Run::read(&output).expect("a run");
        let first: Vec<(&str, f64)> = fused
            .ranking("q1")
            .expect("ranked")
            .iter()
            .map(|entry| (entry.id.as_str(), entry.score))
            .collect();
        assert_eq!(first, [("chesapeake-water", 1.4), ("air-quality", 0.5)]);
        assert_eq!(
            (
                fused.len(),
                fused.ranking("q8").map(|ranking| ranking.len())
            ),
            (10, Some(2))
        );
        let sidecar = fs::read_to_string(folder.path().join("fused.run.json")).expect("a sidecar");
        let sidecar: serde_json::Value = serde_json::from_str(&sidecar).expect("JSON");
        assert_eq!(
            (&sidecar["method"], &sidecar["weights"]),
            (&"combsum min-max".into(), &[0.5, 1.0].as_slice().into())
        );
        assert_eq!(sidecar["inputs"][1]["path"], runs[1]);
        assert_eq!(
            sidecar["inputs"][1]["sha256"].as_str().map(str::len),
            Some(64)
        );
        for (wrong, part) in [
            (&["--weights", "1"][..], "1 weights for 2 runs"),
            (&["--weights=1,-1"], "a weight must be a number from 0 on"),
            (
                &["--method", "rrf,combsum"],
                "several methods need --qrels and --folds",
            ),
            (&["--qrels", "testdata/qrels.txt"], "--folds"),
            (&["--k=-1"], "the constant of rrf"),
        ] {
            let ran = run(
                folder.path(),
                &[
                    &["fuse", runs[0], runs[1], "--output", path(&output)],
                    wrong,
                ]
                .concat(),
            );
            assert!(
                ran.code == Some(2) && ran.err.contains(part),
                "{wrong:?}: {ran:?}"
            );
        }
    }

    #[test]
    fn interleave_two_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("both.run");
        let runs = ["testdata/runs/metadata.run", "testdata/runs/content.run"];
        let arguments = [
            "interleave",
            runs[0],
            runs[1],
            "-o",
            path(&output),
            "--depth",
            "3",
        ];
        let ran = run(folder.path(), &arguments);
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (Some(0), "", "")
        );
        let both = Run::read(&output).expect("a run");
        let ids: Vec<&str> = both
            .ranking("q4")
            .expect("ranked")
            .iter()
            .map(|scored| scored.id.as_str())
            .collect();
        assert_eq!(
            ids,
            ["boreholes", "soil-types"],
            "the first of metadata.run, then that of content.run"
        );
        assert_eq!(
            (both.len(), both.ranking("q8").map(|ranking| ranking.len())),
            (10, Some(2))
        );
        let sidecar = fs::read_to_string(folder.path().join("both.run.json")).expect("a sidecar");
        let sidecar: serde_json::Value = serde_json::from_str(&sidecar).expect("JSON");
        assert_eq!(
            (&sidecar["method"], &sidecar["depth"]),
            (&"balanced interleaving".into(), &3.into())
        );
        assert_eq!(sidecar["inputs"][1]["path"], runs[1]);
        for (arguments, part) in [
            (&["interleave", runs[0], "--output", "x.run"][..], "RUN"),
            (
                &[
                    "interleave",
                    path(&output),
                    runs[0],
                    "--output",
                    path(&output),
                ],
                "both an input run and the output",
            ),
        ] {
            let ran = run(folder.path(), arguments);
            assert!(ran.code == Some(2) && ran.err.contains(part), "{ran:?}");
        }
    }

    #[test]
    fn fuse_with_learned_weights() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("fused.run");
        for folds in ["testdata/folds", "3"] {
            let ran = run(
                folder.path(),
                &[
                    "fuse",
                    "testdata/runs/metadata.run",
                    "testdata/runs/content.run",
                    "testdata/runs/content.run",
                    "--output",
                    path(&output),
                    "--method",
                    "combsum,rrf",
                    "--qrels",
                    "testdata/qrels.txt",
                    "--folds",
                    folds,
                    "--objective",
                    "RR",
                ],
            );
            assert!(ran.code == Some(0) && ran.out.is_empty(), "{ran:?}");
            assert!(
                ran.err.contains("RR 0.") && ran.err.contains("over 10 test topics"),
                "{}",
                ran.err
            );
            // q8 is answered by one run alone, and a fold may give it no weight.
            assert!(Run::read(&output).expect("a run").len() >= 9);
            let sidecar =
                fs::read_to_string(folder.path().join("fused.run.json")).expect("a sidecar");
            let sidecar: serde_json::Value = serde_json::from_str(&sidecar).expect("JSON");
            assert_eq!(sidecar["by_fold"].as_array().map(Vec::len), Some(3));
            assert_eq!(
                sidecar["by_fold"][0]["weights"].as_array().map(Vec::len),
                Some(2),
                "a copy has no weight"
            );
            assert_eq!(sidecar["inputs"][2]["same_as"], "testdata/runs/content.run");
            assert_eq!(sidecar["learned_from"], "train+valid");
        }
    }

    /// Papers of two fields with words of their own, by which they are separated.
    fn papers(folder: &Path) -> std::path::PathBuf {
        let fields = [
            ["graph", "node", "edge", "walk", "tree"],
            ["reward", "agent", "policy", "game", "value"],
        ];
        let paper = |place: usize| {
            let words: Vec<&str> = (0..150)
                .map(|word| fields[place % 2][(place / 2 + word * word / 7) % 5])
                .collect();
            let label = ["graphs", "RL"][place % 2];
            format!(
                "{{\"abstract\": \"{} own{place}\", \"labels\": \"{label}\"}}\n",
                words.join(" ")
            )
        };
        let keywords = folder.join("iclr/keyword_labels.json");
        fs::create_dir(folder.join("iclr")).expect("a folder");
        fs::write(
            keywords,
            "{\"keyword_frequency\": {}, \"keyword_to_label\": {}}",
        )
        .expect("written");
        let path = folder.join("papers.jsonl");
        fs::write(&path, (0..120).map(paper).collect::<String>()).expect("written");
        path
    }

    #[test]
    fn iclr_measures_other_papers_and_draws_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (papers, map, results) = (
            papers(folder.path()),
            folder.path().join("map.svg"),
            folder.path().join("R.md"),
        );
        let more = [
            "--data",
            path(folder.path()),
            "--papers",
            path(&papers),
            "--map",
            path(&map),
        ];
        let iclr = |last: &[&str]| {
            run(
                folder.path(),
                &[&["reproduce", "acordar/iclr.toml"], &more[..], last].concat(),
            )
        };
        let before = text("acordar/RESULTS.md");
        let ran = iclr(&["--output", path(&results)]);
        assert!(
            ran.code == Some(0)
                && ran
                    .out
                    .contains("120 papers, 120 of them with one of 2 labels"),
            "{ran:?}"
        );
        assert!(
            ran.err.contains("SKIPPED") && ran.out.contains("6 cells: 0 OK, 6 new"),
            "{ran:?}"
        );
        assert!(ran.out.contains("22 cells: 0 OK, 22 known"), "{ran:?}");
        let written = fs::read_to_string(&results).expect("results");
        let [measured, printed] = &marked_sections("table", &written)[..] else {
            panic!("two tables: {written}")
        };
        assert!(
            measured.1.contains("| TF-IDF | 1.0000 (new) |"),
            "{measured:?}"
        );
        assert!(
            printed.1.contains("| TF-IDF | 1.0000 (known: .5920) |"),
            "{printed:?}"
        );
        assert!(
            printed
                .1
                .contains("| SPECTER2 | – (known: .5880) | – (known: .5410) |"),
            "{printed:?}"
        );
        let first = fs::read_to_string(&map).expect("a map");
        assert!(first.contains("graphs (60)") && first.contains("RL (60)"));
        assert_eq!(
            (iclr(&[]).code, fs::read_to_string(&map).expect("a map")),
            (Some(0), first),
            "the same map"
        );
        assert_eq!(
            text("acordar/RESULTS.md"),
            before,
            "results of other papers are none of the condition's"
        );
        let refused = run(
            folder.path(),
            &["reproduce", "testdata/fusion.toml", "--map", path(&map)],
        );
        assert!(
            refused.code == Some(2) && refused.err.contains("are for iclr"),
            "{refused:?}"
        );
    }

    /// Without `--dpr`, the model is the one that the home was indexed with.
    #[test]
    fn reproduce_uses_the_model_of_the_index() {
        let home = crate::support::home("testdata/catalog.ttl");
        let model = root().join("testdata/models/static-model2vec");
        let encoder = open(&model, &EncoderOptions::default()).expect("a model");
        let options = EncodingOptions::default();
        encode(home.path(), encoder.as_ref(), &options, &|_| ()).expect("encoded");
        let record = serde_json::json!({ "dpr": model });
        fs::write(home.path().join("ranking.json"), record.to_string()).expect("written");
        let condition = home.path().join("c.toml");
        let text = self::text("testdata/fusion.toml");
        let (head, _) = text.split_once("[[tables]]").expect("a table");
        let head = head.replace("[collection]", "[collection]\nqueries = \"queries.tsv\"");
        let table = "[[tables]]\nid = \"t\"\ntitle = \"T\"\nsource = \"S\"\naverage = \"micro\"\nmeasures = [\"RR\"]\n";
        let row = "[[tables.rows]]\nname = \"r\"\nrerank = { pool = [\"bm25\"], depth = 10, encoders = [\"text\"] }\n";
        let reproduce = |head: &str| {
            fs::write(&condition, format!("{head}{table}{row}")).expect("written");
            let data = testdata("");
            let arguments = ["reproduce", path(&condition), "--data", path(&data)];
            run(home.path(), &arguments)
        };
        let ran = reproduce(&head);
        assert!(
            ran.code == Some(0) && ran.out.contains("0 OK, 1 new") && ran.err.is_empty(),
            "{ran:?}"
        );
        let stated = format!("models = {{ dpr = \"no-such-model\" }}\n{head}");
        let ran = reproduce(&stated);
        assert!(
            ran.code == Some(2) && ran.err.contains("the model no-such-model was not found"),
            "the condition precedes the index: {ran:?}"
        );
    }

    #[test]
    fn reproduce_ends_with_what_it_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let (output, topics) = (folder.path().join("R.md"), folder.path().join("topics.tsv"));
        let data = testdata("");
        let reproduce = |condition: &str, output: &Path| {
            let more = [
                "--data",
                path(&data),
                "--output",
                path(output),
                "--by-topic",
                path(&topics),
            ];
            run(
                folder.path(),
                &[&["reproduce", condition], &more[..]].concat(),
            )
        };
        let ran = reproduce("testdata/fusion.toml", &output);
        assert!(
            ran.code == Some(0) && ran.out.contains("8 cells: 7 OK, 1 known"),
            "{ran:?}"
        );
        assert_eq!(
            fs::read_to_string(&topics).expect("values").lines().count(),
            1 + 4 * 2 * 10
        );
        let wrong = folder.path().join("wrong.toml");
        let text = fs::read_to_string(root().join("testdata/fusion.toml")).expect("readable");
        fs::write(&wrong, text.replace("[0.9, 0.8]", "[0.9, 0.9]")).expect("written");
        let ran = reproduce(path(&wrong), &output);
        assert!(ran.code == Some(1) && ran.out.contains("FAIL"), "{ran:?}");
        let written = fs::read_to_string(&output).expect("results");
        let names: Vec<String> = marked_sections("condition", &written)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["fusion", "wrong"]);
        for (condition, output, part) in [
            (
                "no-such-condition",
                output.as_path(),
                "no condition at acordar/no-such-condition.toml: give the path of a condition file",
            ),
            (
                "acordar-published",
                &output,
                "acordar/README.md states what belongs there",
            ),
            (
                "testdata/fusion.toml",
                &root().join("README.md"),
                "something else than results",
            ),
        ] {
            let ran = reproduce(condition, output);
            assert!(
                ran.code == Some(2) && ran.err.contains(part) && !ran.err.contains("panicked"),
                "{ran:?}"
            );
        }
    }
}
