//! Random configuration files: any text is read, or rejected with its place; what the program writes is read again.

use super::*;
use lodeseek_cli::config::{FILE, read};
use lodeseek_index::sparse::ModelKind;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PATH: &str = "home/lodeseek.toml";

fn parse(text: &str) -> anyhow::Result<Config> {
    Config::parse(Path::new(PATH), text, &BTreeMap::new())
}

/// Values of all kinds. Most are wrong for most keys.
fn any_value() -> impl Strategy<Value = String> {
    let fixed = vec![
        "true",
        "-1",
        "0",
        "1e400",
        "nan",
        "1979-05-27",
        "[]",
        "[1, \"a\"]",
        "[[\"a\"]]",
        "{}",
        "{ a = 1 }",
        "\"\"",
    ];
    prop_oneof![
        select(fixed).prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
        "[a-z:/#.@0-9]{1,20}".prop_map(|text| Value::from(text).to_string()),
    ]
}

/// Keys with values, as a file with tables.
fn file(value: impl Strategy<Value = Option<String>>) -> impl Strategy<Value = String> {
    proptest::collection::btree_map(0..KEYS.len(), value, 0..12).prop_map(|entries| {
        let mut tables: BTreeMap<&str, String> = BTreeMap::new();
        for (number, value) in entries {
            let key = &KEYS[number];
            let value = value.unwrap_or_else(|| key.example.to_owned());
            let (table, name) = key.path.split_once('.').unwrap_or(("", key.path));
            if key.kind == Kind::Harvests {
                tables.insert("[harvest]", format!("{}\n", value.replace("# ", "")));
            } else {
                *tables.entry(table).or_default() += &format!("# Of {name}.\n{name} = {value}\n\n");
            }
        }
        let of_table = |(name, keys): (&str, String)| {
            if name.is_empty() {
                keys
            } else {
                format!("[{name}]\n{keys}")
            }
        };
        tables.into_iter().map(of_table).collect()
    })
}

/// A change of a text at a place.
#[derive(Clone, Debug)]
enum Edit {
    Delete(usize),
    Insert(&'static str),
    Truncate,
    RepeatLine,
}

fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let pieces = vec![
        "[", "]", "[[", "\"", "\"\"\"", "'", "=", "\n", "\r", ".", "#", "{", "}", ",", "\\", "\0",
        "é", "\u{feff}", "x", "9",
    ];
    let edit = prop_oneof![
        (1..9usize).prop_map(Edit::Delete),
        select(pieces).prop_map(Edit::Insert),
        Just(Edit::Truncate),
        Just(Edit::RepeatLine),
    ];
    proptest::collection::vec((any::<Index>(), edit), 0..4)
}

fn edited(text: &str, edits: &[(Index, Edit)]) -> String {
    let mut text = text.to_owned();
    for (index, edit) in edits {
        let place = text.floor_char_boundary(index.index(text.len() + 1));
        match edit {
            Edit::Delete(length) => {
                let end = text.floor_char_boundary(place + length).max(place);
                text.replace_range(place..end, "");
            }
            Edit::Insert(piece) => text.insert_str(place, piece),
            Edit::Truncate => text.truncate(place),
            Edit::RepeatLine => {
                let start = match text[..place].rfind('\n') {
                    Some(end) => end + 1,
                    None => 0,
                };
                let line = text[start..].lines().next().unwrap_or_default().to_owned();
                text.insert_str(start, &format!("{line}\n"));
            }
        }
    }
    text
}

/// Returns true if a message begins with the file and a line of its text.
fn names_line(message: &str, text: &str) -> bool {
    let line = message
        .strip_prefix(PATH)
        .and_then(|rest| rest.strip_prefix(':')?.split_once(':'));
    line.and_then(|(line, _)| line.parse().ok())
        .is_some_and(|line| (1..=text.split('\n').count()).contains(&line))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_is_read_or_rejected_with_its_line(
        text in file(proptest::option::weighted(0.2, any_value())),
        edits in edits(),
    ) {
        let text = edited(&text, &edits);
        match parse(&text) {
            Ok(config) => {
                for key in KEYS {
                    prop_assert_eq!(config.source(key.path).is_some(), config.value(key.path).is_some(), "{}: {}", key.path, text);
                }
            }
            Err(error) => {
                let message = format!("{error:#}");
                prop_assert!(names_line(&message, &text), "{message}\n{text}");
            }
        }
    }

    #[test]
    fn a_variable_is_read_or_rejected_with_its_name(key in select(KEYS.iter().map(|key| key.path).collect::<Vec<_>>()), text in any::<String>()) {
        let key = KEYS.iter().find(|one| one.path == key).expect("a key");
        let variables = BTreeMap::from([(key.variable(), text)]);
        if let Err(error) = Config::parse(Path::new(PATH), "", &variables) {
            let message = format!("{error:#}");
            prop_assert!(message.starts_with(&format!("{}=", key.variable())), "{message}");
        }
    }

    #[test]
    fn a_learned_fusion_is_read_again_and_changes_nothing_else(
        text in file(Just(None)),
        note in proptest::option::of(select(vec!["[fusion]", "[server]", "# note", ""])),
        pool in proptest::sample::subsequence(ModelKind::ALL.to_vec(), 1..=ModelKind::ALL.len()),
        weights in proptest::collection::vec(0.0..3.0_f64, 1..6),
    ) {
        let text = match note {
            Some(note) if !text.contains("portal.") && !text.contains("[portal]") => {
                format!("{text}\n[portal]\ndescription = \"\"\"\n{note}\ntitle = 1\n\"\"\"\n")
            }
            _ => text,
        };
        let before = parse(&text).expect("valid examples");
        let names = pool.iter().map(|model| model.name()).collect::<Vec<_>>().join(",");
        let entries = [("pool", names), ("weights", FusionSettings::text(&weights))];
        let written = match Config::with_table(Path::new(PATH), &text, "fusion", "Learned.", &entries) {
            Ok(written) => written,
            Err(error) => {
                // Nothing is written where a text of several lines looks like a table.
                prop_assert!(text.contains("\n[fusion]\ntitle") && format!("{error:#}").starts_with(PATH), "{error:#}\n{text}");
                return Ok(());
            }
        };
        let after = parse(&written).expect("valid");
        prop_assert_eq!(after.settings.fusion.pool.as_ref(), Some(&pool));
        prop_assert_eq!(after.settings.fusion.weights.as_ref(), Some(&weights));
        for key in KEYS.iter().filter(|key| !key.path.starts_with("fusion.")) {
            prop_assert_eq!(before.value(key.path), after.value(key.path), "{}: {}", key.path, written);
        }
        let again = Config::with_table(Path::new(PATH), &written, "fusion", "Learned.", &entries).expect("possible");
        prop_assert_eq!(again, written);
    }
}

#[test]
fn bytes_that_are_no_text_are_rejected_with_their_line() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join(FILE);
    fs::write(&path, b"ranking = \"best\"\n[portal]\ntitle = \"\xff\"\n").expect("written");
    let error = read(&path).expect_err("no UTF-8").to_string();
    assert!(
        error.contains("lodeseek.toml:3: the text is not UTF-8"),
        "{error}"
    );
}
