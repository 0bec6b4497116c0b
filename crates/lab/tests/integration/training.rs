//! Training data as the program writes it: its form, that it is the same every time, and what must not be in it.

use super::support::{home, run, testdata};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Output of a kind of training data, generated twice: the files must be equal.
struct TrainingFolder {
    passages: BTreeMap<String, Value>,
    examples: Vec<Value>,
    about: Value,
}

impl TrainingFolder {
    fn write(home: &Path, kind: &str, arguments: &[&str]) -> Self {
        let place = tempfile::tempdir().expect("a folder");
        let [first, second] = ["first", "second"].map(|name| place.path().join(name));
        for folder in [&first, &second] {
            let output = [
                "training-data",
                kind,
                "--output",
                folder.to_str().expect("a path"),
            ];
            let ran = run(home, &[&output, arguments].concat());
            assert_eq!(
                (ran.code, ran.out.as_str()),
                (Some(0), ""),
                "{kind}: {ran:?}"
            );
        }
        for name in ["passages.jsonl", "examples.jsonl", "about.json"] {
            let [one, other] =
                [&first, &second].map(|folder| fs::read(folder.join(name)).expect("read"));
            assert_eq!(one, other, "{kind}: {name}");
        }
        assert_eq!(
            fs::read_dir(place.path()).expect("a folder").count(),
            2,
            "nothing unfinished is left"
        );
        let lines = |name: &str| {
            let text = fs::read_to_string(first.join(name)).expect("read");
            text.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect::<Vec<Value>>()
        };
        let passages = lines("passages.jsonl");
        assert!(
            passages.is_sorted_by_key(|passage| passage["id"].as_str()),
            "{kind}: passages are in order"
        );
        let by_id = |passage: Value| (passage["id"].as_str().expect("an id").to_owned(), passage);
        let about = fs::read_to_string(first.join("about.json")).expect("read");
        assert!(
            !about.contains(place.path().to_str().expect("a path")),
            "no place of this machine: {about}"
        );
        Self {
            passages: passages.into_iter().map(by_id).collect(),
            examples: lines("examples.jsonl"),
            about: serde_json::from_str(&about).expect("JSON"),
        }
        .checked(kind)
    }

    /// Properties of all kinds.
    fn checked(self, kind: &str) -> Self {
        assert_eq!(self.about["kind"], kind);
        for (id, passage) in &self.passages {
            let text = passage["text"].as_str().expect("a text");
            assert_eq!(
                *id,
                format!("{}#{text}", passage["dataset"].as_str().expect("a dataset"))
            );
            let expected = if text == "data" {
                Value::from(45)
            } else {
                Value::Null
            };
            assert_eq!(passage["pieces_a_part"], expected, "{id}");
            assert!(
                passage["parts"]
                    .as_array()
                    .is_some_and(|parts| !parts.is_empty()),
                "{id}"
            );
        }
        for example in &self.examples {
            let [positives, negatives] = ["positives", "negatives"].map(|side| ids(&example[side]));
            assert!(!positives.is_empty(), "{example}");
            assert!(
                positives
                    .iter()
                    .chain(&negatives)
                    .all(|id| self.passages.contains_key(id)),
                "{example}"
            );
            assert!(
                !positives.iter().any(|id| negatives.contains(id)),
                "{example}"
            );
            assert_eq!(example["split"].is_null(), kind == "judged", "{example}");
            assert_eq!(example["fold"].is_null(), kind != "judged", "{example}");
        }
        let distinct: std::collections::BTreeSet<_> =
            self.examples.iter().map(|one| one["id"].as_str()).collect();
        assert_eq!(distinct.len(), self.examples.len(), "ids are distinct");
        self
    }

    fn asked(&self, query: &str) -> &Value {
        let found = self
            .examples
            .iter()
            .find(|example| example["query"] == query);
        found.unwrap_or_else(|| panic!("no query {query:?} in {:#?}", self.examples))
    }
}

fn ids(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[test]
fn judged_topics_with_their_folds() {
    let home = home("testdata/catalog.ttl");
    let files = [
        "--topics",
        "testdata/queries.tsv",
        "--qrels",
        "testdata/qrels.txt",
    ];
    let made = TrainingFolder::write(
        home.path(),
        "judged",
        &[&files[..], &["--folds-dir", "testdata/folds"]].concat(),
    );
    let topic = made.asked("nitrogen reduction plan Chesapeake Bay");
    assert_eq!(
        ids(&topic["positives"]),
        ["chesapeake-water#metadata", "chesapeake-water#data"]
    );
    let mut negatives = ids(&topic["negatives"]);
    negatives.sort();
    let expected = [
        "air-quality#data",
        "air-quality#metadata",
        "soil-types#data",
        "soil-types#metadata",
    ];
    assert_eq!(negatives, expected, "those judged 0, and no others");
    let folds = lodeseek_eval::Folds::read(&testdata("folds")).expect("folds");
    for example in &made.examples {
        let topic = example["id"]
            .as_str()
            .and_then(|id| id.strip_prefix("judged-"))
            .expect("a topic");
        assert_eq!(
            example["fold"],
            Value::from(folds.test_fold(topic)),
            "{example}"
        );
    }
    let dealt = TrainingFolder::write(
        home.path(),
        "judged",
        &[&files[..], &["--folds", "5"]].concat(),
    );
    assert_eq!(dealt.examples.len(), made.examples.len());
}

#[test]
fn titles_are_masked_in_what_they_ask_for() {
    let home = home("testdata/catalog.ttl");
    let made = TrainingFolder::write(home.path(), "titles", &["--negatives", "2"]);
    let example = made.asked("City tree register");
    assert_eq!(ids(&example["positives"]), ["street-trees#masked"]);
    assert_eq!(ids(&example["negatives"]).len(), 2);
    let parts = ids(&made.passages["street-trees#masked"]["parts"]);
    assert_eq!(parts[0], "[MASK] [MASK] [MASK]");
    assert!(
        parts
            .iter()
            .all(|part| !part.to_lowercase().contains("city tree register")),
        "{parts:?}"
    );

    // A list without ids, and no home.
    let place = tempfile::tempdir().expect("a folder");
    let list = place.path().join("list.jsonl");
    let line = |title: &str| {
        format!(
            "{{\"title\": \"{title}\", \"description\": \"{title} of the sea, by year and by port\"}}\n"
        )
    };
    fs::write(
        &list,
        [line("Fish stocks"), line("Fish landings"), line("Fish")].concat(),
    )
    .expect("written");
    let made = TrainingFolder::write(
        &place.path().join("none"),
        "titles",
        &["--catalog", list.to_str().expect("a path")],
    );
    assert_eq!(
        ids(&made.asked("Fish stocks")["positives"]),
        ["1-Fish-stocks#masked"]
    );
    assert_eq!(
        ids(&made.asked("Fish stocks")["negatives"]),
        ["2-Fish-landings#masked"]
    );
    assert_eq!(
        made.passages["1-Fish-stocks#masked"]["parts"][1],
        "[MASK] [MASK] of the sea, by year and by port"
    );
    assert_eq!(
        made.about["counts"]["left_out"]["titles of fewer than two words"],
        1
    );
}

#[test]
fn generated_queries_find_their_datasets() {
    let home = home("testdata/catalog.ttl");
    let place = tempfile::tempdir().expect("a folder");
    let qrels = place.path().join("qrels");
    let judged = ["chesapeake-water", "air-quality", "museum-objects"];
    let lines: Vec<String> = judged.iter().map(|id| format!("q1 0 {id} 0\n")).collect();
    fs::write(&qrels, lines.concat()).expect("written");
    let arguments = ["--judged", qrels.to_str().expect("a path")];
    let made = TrainingFolder::write(home.path(), "queries", &arguments);
    assert_eq!(
        made.about["counts"]["left_out"]["datasets that were judged"],
        3
    );
    assert!(!made.examples.is_empty());
    for example in &made.examples {
        let query = example["query"].as_str().expect("a query");
        assert!((2..=8).contains(&query.split(' ').count()), "{query}");
        let datasets: Vec<String> = ids(&example["positives"]);
        let dataset = datasets[0].split('#').next().expect("a dataset");
        assert!(!judged.contains(&dataset), "{dataset} was judged");
        assert!(
            datasets
                .iter()
                .all(|id| id.split('#').next() == Some(dataset)),
            "{example}"
        );
    }
    let other = TrainingFolder::write(
        home.path(),
        "queries",
        &[&arguments[..], &["--seed", "2"]].concat(),
    );
    assert_ne!(other.examples, made.examples, "another seed draws others");
}

#[test]
fn queries_that_a_language_model_wrote_find_their_datasets() {
    let home = home("testdata/catalog.ttl");
    let place = tempfile::tempdir().expect("a folder");
    let file = place.path().join("written.tsv");
    let path = file.to_str().expect("a path");
    let lines = [
        "chesapeake-water\tnitrogen in streams  of Maryland",
        "chesapeake-water\tNitrogen in streams of Maryland!",
        "chesapeake-water\twords that nobody has: xyzzyx",
        "chesapeake-water\t?",
        "air-quality\tair quality",
        "nowhere\tair quality",
    ];
    fs::write(&file, lines.join("\n")).expect("written");
    let made = TrainingFolder::write(home.path(), "queries", &["--written", path]);
    let queries: Vec<&str> = made
        .examples
        .iter()
        .map(|one| one["query"].as_str().expect("a query"))
        .collect();
    assert_eq!(queries, ["air quality", "nitrogen in streams of Maryland"]);
    assert_eq!(
        ids(&made.examples[1]["positives"])[0],
        "chesapeake-water#metadata"
    );
    let left_out = &made.about["counts"]["left_out"];
    assert_eq!(
        left_out["queries that do not find their dataset"], 1,
        "{left_out}"
    );
    assert_eq!(
        (
            &left_out["queries that were there before"],
            &left_out["datasets that are not there"]
        ),
        (&1.into(), &1.into())
    );
    assert_eq!(left_out["queries for which there were too few words"], 1);
    let first = TrainingFolder::write(
        home.path(),
        "queries",
        &["--written", path, "--per-dataset", "1"],
    );
    assert_eq!(first.examples.len(), 2);

    fs::write(&file, "air-quality air quality").expect("written");
    let ran = run(
        home.path(),
        &["training-data", "queries", "--written", path, "-o", "t"],
    );
    assert!(
        ran.code == Some(2)
            && ran
                .err
                .contains("\"air-quality air quality\" is no dataset's id"),
        "{ran:?}"
    );
}

#[test]
fn papers_without_names_and_without_those_that_are_tested_on() {
    let home = home("testdata/research/collection.jsonl");
    let place = tempfile::tempdir().expect("a folder");
    let papers = place.path().join("papers.jsonl");
    let planted = r#"{"title": "Planted", "abstract": "I want to detect boats in photographs, by night, with Harbour Cam.", "year": 2018, "positives": ["Harbour Cam"]}"#;
    let others = fs::read_to_string(testdata("research/papers.jsonl")).expect("read");
    fs::write(&papers, format!("{}\n{planted}\n", others.trim_end())).expect("written");
    let papers = ["--papers", papers.to_str().expect("a path")];
    let all = TrainingFolder::write(home.path(), "mentions", &papers);
    assert!(all.examples.iter().any(|example| {
        example["query"]
            .as_str()
            .is_some_and(|query| query.starts_with("Planted"))
    }));
    let topics = [
        "--topics",
        "testdata/research/topics.jsonl",
        "--qrels",
        "testdata/research/topics.qrels",
    ];
    let made = TrainingFolder::write(home.path(), "mentions", &[&papers[..], &topics].concat());
    assert!(
        ids(&made.about["excluded"]["papers near a topic"]).contains(&"Planted".to_owned()),
        "{}",
        made.about
    );
    assert!(made.examples.len() < all.examples.len());
    for example in &made.examples {
        let query = example["query"].as_str().expect("a query");
        assert!(
            !query.starts_with("Planted") && !query.contains("Harbour Cam"),
            "{query}"
        );
        for id in ids(&example["positives"])
            .iter()
            .chain(&ids(&example["negatives"]))
        {
            let years = (made.passages[id]["year"].as_i64(), example["year"].as_i64());
            assert!(
                !matches!(years, (Some(dataset), Some(paper)) if dataset > paper),
                "{id} of {example}"
            );
        }
    }
}

#[test]
fn papers_are_given_what_others_asked() {
    let home = home("testdata/research/collection.jsonl");
    let place = tempfile::tempdir().expect("a folder");
    let asked = place.path().join("asked.txt");
    fs::write(&asked, "boats night photographs\n\nboats of the moon\n").expect("written");
    let papers = place.path().join("papers.jsonl");
    let planted = r#"{"title": "Planted boats", "abstract": "We find boats in photographs by night.", "year": 2018, "positives": ["Harbour Cam"]}"#;
    let others = fs::read_to_string(testdata("research/papers.jsonl")).expect("read");
    fs::write(&papers, format!("{}\n{planted}\n", others.trim_end())).expect("written");
    let [papers, asked] = [&papers, &asked].map(|path| path.to_str().expect("a path"));
    let made = TrainingFolder::write(
        home.path(),
        "mentions",
        &["--papers", papers, "--queries", asked],
    );
    let given: Vec<&Value> = made
        .examples
        .iter()
        .filter(|example| example["style"] == "asked")
        .collect();
    assert!(
        given
            .iter()
            .all(|example| example["query"] == "boats night photographs"),
        "{given:?}"
    );
    let planted = given
        .iter()
        .find(|example| example["id"] == "mention-5-asked")
        .expect("the planted paper's");
    assert!(
        ids(&planted["positives"])[0].contains("Harbour"),
        "{planted}"
    );
    let none = run(
        home.path(),
        &[
            "training-data",
            "mentions",
            "--papers",
            papers,
            "--queries",
            "nowhere.txt",
            "-o",
            "t",
        ],
    );
    assert!(
        none.code == Some(2) && none.err.contains("nowhere.txt"),
        "{none:?}"
    );
}

/// Papers whose abstracts are as long as real ones, without what they were made of.
fn longer_papers(place: &Path) -> PathBuf {
    let papers = place.join("papers.jsonl");
    let longer = format!(
        " {}\", \"year\"",
        ["Boats are described by what is seen of them."; 5].join(" ")
    );
    let told = fs::read_to_string(testdata("research/papers.jsonl")).expect("read");
    // A title that chooses instead of training.
    let valid = r#"{"title": "Fishing boats on a lake", "abstract": "We find boats in photographs by night.", "year": 2018, "positives": ["Harbour Cam"]}"#;
    fs::write(
        &papers,
        format!("{}\n{valid}\n", told.trim_end()).replace("\", \"year\"", &longer),
    )
    .expect("written");
    papers
}

/// A paper trains or validates as a whole: text of a validating paper is not learned elsewhere.
fn splits_are_those_of(mentions: &TrainingFolder, made: &TrainingFolder) {
    assert_eq!(made.about["excluded"], mentions.about["excluded"]);
    assert!(!made.examples.is_empty(), "{}", made.about);
    let split_of: BTreeMap<&str, &Value> = mentions
        .examples
        .iter()
        .map(|one| {
            (
                one["id"]
                    .as_str()
                    .and_then(|id| id.split('-').nth(1))
                    .expect("a paper"),
                &one["split"],
            )
        })
        .collect();
    let paired = |example: &&Value| {
        split_of
            .get(line_of(example))
            .map(|split| (**split).clone())
    };
    let (own, theirs): (Vec<_>, Vec<_>) = made
        .examples
        .iter()
        .filter_map(|one| Some((one["split"].clone(), paired(&one)?)))
        .unzip();
    assert!(
        ["train", "valid"]
            .iter()
            .all(|split| own.contains(&Value::from(*split))),
        "{own:?}"
    );
    assert_eq!(own, theirs);
}

/// The line of the paper that an example was made of.
fn line_of(example: &Value) -> &str {
    let id = example["id"].as_str().expect("an id");
    id.split("paper-")
        .nth(1)
        .and_then(|rest| rest.split('-').next())
        .expect("a paper")
}

#[test]
fn abstracts_and_their_pieces_of_the_papers_that_mentions_are_made_of() {
    let home = home("testdata/research/collection.jsonl");
    let place = tempfile::tempdir().expect("a folder");
    let papers = longer_papers(place.path());
    let papers = ["--papers", papers.to_str().expect("a path")];
    let topics = [
        "--topics",
        "testdata/research/topics.jsonl",
        "--qrels",
        "testdata/research/topics.qrels",
    ];
    let arguments = [&papers[..], &topics].concat();
    let made = |kind| TrainingFolder::write(home.path(), kind, &arguments);
    let (mentions, abstracts, crops) = (made("mentions"), made("abstracts"), made("crops"));
    splits_are_those_of(&mentions, &abstracts);
    splits_are_those_of(&mentions, &crops);
    assert_eq!(abstracts.passages.len(), abstracts.examples.len());
    for example in &abstracts.examples {
        let passage = &abstracts.passages[example["positives"][0].as_str().expect("an id")];
        assert_eq!(
            (example["style"].as_str(), passage["text"].as_str()),
            (Some("title"), Some("abstract"))
        );
    }
    for example in &crops.examples {
        let own = example["id"].as_str().expect("an id").replace("crop-", "") + "#crop";
        assert_eq!(
            (&example["style"], &crops.passages[&own]["parts"][0]),
            (&"crop".into(), &example["query"])
        );
        let all: Vec<&String> = crops
            .passages
            .keys()
            .filter(|id| id.starts_with(&format!("paper-{}-", line_of(example))))
            .collect();
        let others: Vec<&String> = all.into_iter().filter(|id| **id != own).collect();
        assert_eq!(
            ids(&example["positives"]).iter().collect::<Vec<_>>(),
            others,
            "all but the piece itself answer it"
        );
    }
}

#[test]
fn what_is_no_training_data_is_not_replaced() {
    let home = home("testdata/catalog.ttl");
    let taken = tempfile::tempdir().expect("a folder");
    fs::write(taken.path().join("letter"), "dear").expect("written");
    let ran = run(
        home.path(),
        &[
            "training-data",
            "titles",
            "-o",
            taken.path().to_str().expect("a path"),
        ],
    );
    assert!(
        ran.code == Some(2) && ran.err.contains("holds no training data"),
        "{ran:?}"
    );
    assert!(taken.path().join("letter").exists());
}
