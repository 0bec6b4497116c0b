//! Answers kept on disk, each under the hash of its query: what lets a survey go on where it was broken off.
//!
//! ```text
//! remote/<endpoint>/<graph>/state.json    what the graph was when its first page was kept
//! remote/<endpoint>/<graph>/<query>.json  a checksum, and below it the query and its rows
//! ```
//!
//! A page is written beside its place and renamed; one that does not match its checksum is asked for again. Blank nodes get
//! names made of the query and their order in the answer: those of two answers never meet, and the same answer has the same
//! names whenever it came.

use super::SurveyError;
use oxrdf::{BlankNode, Term};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The values of one row, in the order of the query's variables.
pub(super) type Row = Vec<Option<Term>>;

/// What a graph was when it was surveyed. What is not known does not tell of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) endpoint: String,
    pub(super) graph: Option<String>,
    /// Triples, where the endpoint counts them.
    pub(super) triples: Option<u64>,
    /// What its description says of its last change.
    pub(super) modified: Option<String>,
    /// Whether the survey came to its end.
    pub(super) finished: bool,
}

impl State {
    /// Whether both are known and not the same.
    fn differs(&self, now: &Self) -> bool {
        let differ = |old: &Option<String>, new: &Option<String>| old.is_some() && new.is_some() && old != new;
        let number = |state: &Self| state.triples.map(|triples| triples.to_string());
        differ(&number(self), &number(now)) || differ(&self.modified, &now.modified)
    }
}

#[derive(Serialize, Deserialize)]
struct Page {
    query: String,
    rows: Vec<Vec<Option<String>>>,
}

/// The pages of one graph.
#[derive(Debug)]
pub(super) struct Pages {
    folder: PathBuf,
}

impl Pages {
    /// Of a graph at an endpoint; `None` is its default graph.
    pub(super) fn of(folder: &Path, endpoint: &str, graph: Option<&str>) -> Self {
        let graph = graph.map_or_else(|| "default".to_owned(), hash);
        Self { folder: folder.join(hash(endpoint)).join(graph) }
    }

    pub(super) fn state(&self) -> Option<State> {
        serde_json::from_slice(&self.read_whole("state")?).ok()
    }

    /// Keeps pages of a graph that is what it was, and begins anew for one that has changed. Tells what is known of it now,
    /// and whether it had changed.
    pub(super) fn begin(&self, now: &State) -> Result<(State, bool), SurveyError> {
        let before = self.state();
        let changed = before.as_ref().is_some_and(|before| before.differs(now));
        if changed {
            self.clear()?;
        }
        let before = before.filter(|_| !changed).unwrap_or_default();
        let (triples, modified) = (now.triples.or(before.triples), now.modified.clone().or(before.modified));
        let state = State { triples, modified, finished: before.finished, ..now.clone() };
        self.mark(&state)?;
        Ok((state, changed))
    }

    /// Forgets everything kept of the graph.
    pub(super) fn clear(&self) -> Result<(), SurveyError> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn mark(&self, state: &State) -> Result<(), SurveyError> {
        let body = serde_json::to_vec(state).map_err(|error| self.failed(error.into()))?;
        self.write_whole("state", &body)
    }

    /// The answer to a query, if it is kept.
    pub(super) fn read(&self, query: &str) -> Option<Vec<Row>> {
        let page: Page = serde_json::from_slice(&self.read_whole(&hash(query))?).ok()?;
        if page.query != query {
            return None;
        }
        let term = |text: Option<String>| text.map(|text| Term::from_str(&text)).transpose();
        let rows = page.rows.into_iter().map(|row| row.into_iter().map(term).collect::<Result<Row, _>>());
        rows.collect::<Result<_, _>>().ok()
    }

    /// Keeps the answer to a query, and hands it back as it will be read.
    pub(super) fn keep(&self, query: &str, rows: Vec<Row>) -> Result<Vec<Row>, SurveyError> {
        let rows = named(rows, &hash(query));
        let texts = rows.iter().map(|row| row.iter().map(|term| Some(term.as_ref()?.to_string())).collect()).collect();
        let page = Page { query: query.to_owned(), rows: texts };
        let body = serde_json::to_vec(&page).map_err(|error| self.failed(error.into()))?;
        self.write_whole(&hash(query), &body)?;
        Ok(rows)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    fn failed(&self, cause: io::Error) -> SurveyError {
        SurveyError::Io { path: self.folder.clone(), cause }
    }

    fn read_whole(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(name)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let body = &bytes[end + 1..];
        (checksum(body).as_bytes() == &bytes[..end]).then(|| body.to_vec())
    }

    fn write_whole(&self, name: &str, body: &[u8]) -> Result<(), SurveyError> {
        let path = self.path(name);
        let beside = path.with_extension("new");
        let write = || {
            fs::create_dir_all(&self.folder)?;
            let mut file = fs::File::create(&beside)?;
            file.write_all(checksum(body).as_bytes())?;
            file.write_all(b"\n")?;
            file.write_all(body)?;
            fs::rename(&beside, &path)
        };
        write().map_err(|error| self.failed(error))
    }
}

/// Blank nodes by their order in the answer.
fn named(rows: Vec<Row>, query: &str) -> Vec<Row> {
    let mut names: FxHashMap<BlankNode, BlankNode> = FxHashMap::default();
    let mut named = |term: Term| match term {
        Term::BlankNode(node) => {
            let place = names.len();
            let name = || BlankNode::new_unchecked(format!("q{query}n{place}"));
            names.entry(node).or_insert_with(name).clone().into()
        }
        other => other,
    };
    let row = |row: Row| row.into_iter().map(|term| term.map(&mut named)).collect();
    rows.into_iter().map(row).collect()
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Names a file: half of the hash is enough against accidents.
fn hash(text: &str) -> String {
    checksum(text.as_bytes())[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{Literal, NamedNode};

    fn pages() -> (tempfile::TempDir, Pages) {
        let folder = tempfile::tempdir().expect("a folder");
        let pages = Pages::of(folder.path(), "http://e.org/sparql", Some("http://e.org/g"));
        (folder, pages)
    }

    fn state(triples: Option<u64>) -> State {
        State { triples, ..State::default() }
    }

    #[test]
    fn terms_come_back_as_they_were() {
        let (_folder, pages) = pages();
        let literals = ["", "a\nb\r\t\"\\\u{0}\u{7f}\u{85}", "{\"x\": 1} \u{1f333} é", "54.0"].map(Literal::from);
        let typed = Literal::new_typed_literal("054.0", NamedNode::new_unchecked("http://e.org/t#d"));
        let tagged = Literal::new_language_tagged_literal("arbre", "fr-be").expect("a tag");
        let mut rows: Vec<Row> = literals.into_iter().map(|literal| vec![Some(literal.into()), None]).collect();
        rows.push(vec![Some(typed.into()), Some(tagged.into())]);
        rows.push(vec![Some(NamedNode::new_unchecked("http://e.org/é?a=1&b=(2)#c").into()), None]);
        assert_eq!(pages.read("q"), None);
        assert_eq!(pages.keep("q", rows.clone()).expect("kept"), rows);
        assert_eq!(pages.read("q"), Some(rows));
    }

    #[test]
    fn blank_nodes_of_two_answers_never_meet() {
        let (_folder, pages) = pages();
        let row = |label: &str| vec![Some(BlankNode::new_unchecked(label).into())];
        let one = pages.keep("one", vec![row("x"), row("y"), row("x")]).expect("kept");
        let again = pages.keep("one", vec![row("b7"), row("b1"), row("b7")]).expect("kept");
        let two = pages.keep("two", vec![row("x")]).expect("kept");
        assert_eq!(one, again);
        assert!(one[0] == one[2] && one[0] != one[1] && one[0] != two[0], "{one:?} {two:?}");
        assert_eq!(pages.read("one"), Some(one));
    }

    #[test]
    fn damaged_pages_are_none() {
        let (_folder, pages) = pages();
        pages.keep("q", vec![vec![Some(Literal::from("text").into())]]).expect("kept");
        let path = pages.path(&hash("q"));
        let text = fs::read_to_string(&path).expect("readable");
        for damaged in [text.replace("text", "test"), text[..text.len() - 1].to_owned(), String::new()] {
            fs::write(&path, damaged).expect("written");
            assert_eq!(pages.read("q"), None);
        }
    }

    #[test]
    fn a_changed_graph_begins_anew_and_an_unknown_one_does_not() {
        let (_folder, pages) = pages();
        assert!(!pages.begin(&state(Some(5))).expect("begun").1);
        pages.keep("q", Vec::new()).expect("kept");
        assert_eq!(pages.begin(&state(None)).expect("begun"), (state(Some(5)), false));
        assert_eq!(pages.read("q"), Some(Vec::new()));
        assert!(pages.begin(&state(Some(6))).expect("begun").1);
        assert_eq!(pages.read("q"), None);
    }
}
