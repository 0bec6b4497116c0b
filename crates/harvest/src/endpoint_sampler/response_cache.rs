//! Cache of query responses on disk, each stored under the hash of its query. It makes an interrupted run resumable.
//!
//! ```text
//! remote/<endpoint>/<graph>/state.json    state of the graph when its first response was cached
//! remote/<endpoint>/<graph>/<query>.json  a checksum in the first line, then the query and its rows
//! ```
//!
//! A file is written under a temporary name and renamed. A response that does not match its checksum is requested again.
//! Blank nodes are relabelled by query and order of appearance. Labels of two responses never collide, and the same
//! response always gets the same labels.

use super::SamplerError;
use crate::digest::{hash_of_bytes, hash_of_text};
use oxrdf::{BlankNode, Term};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Values of one row, in the order of the query's variables.
pub(super) type Row = Vec<Option<Term>>;

/// State of a graph when it was sampled. Unknown values do not count as a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GraphState {
    pub(super) endpoint: String,
    pub(super) graph: Option<String>,
    /// Number of triples, if the endpoint counts them.
    pub(super) triples: Option<u64>,
    /// Modification date in its description.
    pub(super) modified: Option<String>,
    /// If true, the sample is complete.
    pub(super) finished: bool,
}

impl GraphState {
    /// Returns true if a value is known in both states and differs.
    fn has_changed_since(&self, now: &Self) -> bool {
        is_changed(self.triples.as_ref(), now.triples.as_ref())
            || is_changed(self.modified.as_ref(), now.modified.as_ref())
    }
}

fn is_changed<T: PartialEq>(before: Option<&T>, now: Option<&T>) -> bool {
    before.is_some() && now.is_some() && before != now
}

#[derive(Serialize, Deserialize)]
struct CachedResponse {
    query: String,
    rows: Vec<Vec<Option<String>>>,
}

/// Cached responses of one graph.
#[derive(Debug)]
pub(super) struct ResponseCache {
    folder: PathBuf,
}

impl ResponseCache {
    /// Creates the cache of a graph at an endpoint; `None` is its default graph.
    pub(super) fn new(folder: &Path, endpoint: &str, graph: Option<&str>) -> Self {
        let graph = match graph {
            Some(graph) => short_hash(graph),
            None => "default".to_owned(),
        };
        Self {
            folder: folder.join(short_hash(endpoint)).join(graph),
        }
    }

    pub(super) fn state(&self) -> Option<GraphState> {
        serde_json::from_slice(&self.read_with_checksum("state")?).ok()
    }

    /// Keeps the cache if the graph is unchanged, and clears it otherwise. Returns the merged state; the flag is true if the
    /// graph has changed.
    pub(super) fn begin(&self, now: &GraphState) -> Result<(GraphState, bool), SamplerError> {
        let before = self.state();
        let changed = before
            .as_ref()
            .is_some_and(|before| before.has_changed_since(now));
        if changed {
            self.clear()?;
        }
        let before = before.filter(|_| !changed).unwrap_or_default();
        let (triples, modified) = (
            now.triples.or(before.triples),
            now.modified.clone().or(before.modified),
        );
        let state = GraphState {
            triples,
            modified,
            finished: before.finished,
            ..now.clone()
        };
        self.write_state(&state)?;
        Ok((state, changed))
    }

    /// Removes all cached responses of the graph.
    pub(super) fn clear(&self) -> Result<(), SamplerError> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.io_error(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn write_state(&self, state: &GraphState) -> Result<(), SamplerError> {
        let body = serde_json::to_vec(state).map_err(|error| self.io_error(error.into()))?;
        self.write_with_checksum("state", &body)
    }

    /// Returns the cached response to a query.
    pub(super) fn read(&self, query: &str) -> Option<Vec<Row>> {
        let page: CachedResponse =
            serde_json::from_slice(&self.read_with_checksum(&short_hash(query))?).ok()?;
        if page.query != query {
            return None;
        }
        let rows = page.rows.into_iter().map(|row| {
            row.into_iter()
                .map(|text| text.map(|text| Term::from_str(&text)).transpose())
                .collect::<Result<Row, _>>()
        });
        rows.collect::<Result<_, _>>().ok()
    }

    /// Stores the response to a query, and returns it with the labels that [`Self::read`] will return.
    pub(super) fn write(&self, query: &str, rows: Vec<Row>) -> Result<Vec<Row>, SamplerError> {
        // Before they are stored, so that the first run and a resumed one have the same labels.
        let rows = relabel_blank_nodes(rows, &short_hash(query));
        let texts = rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|term| Some(term.as_ref()?.to_string()))
                    .collect()
            })
            .collect();
        let page = CachedResponse {
            query: query.to_owned(),
            rows: texts,
        };
        let body = serde_json::to_vec(&page).map_err(|error| self.io_error(error.into()))?;
        self.write_with_checksum(&short_hash(query), &body)?;
        Ok(rows)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    fn io_error(&self, cause: io::Error) -> SamplerError {
        SamplerError::Io {
            path: self.folder.clone(),
            cause,
        }
    }

    fn read_with_checksum(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(name)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let body = &bytes[end + 1..];
        (hash_of_bytes(body).as_bytes() == &bytes[..end]).then(|| body.to_vec())
    }

    fn write_with_checksum(&self, name: &str, body: &[u8]) -> Result<(), SamplerError> {
        self.write_file(&self.path(name), body)
            .map_err(|error| self.io_error(error))
    }

    fn write_file(&self, path: &Path, body: &[u8]) -> io::Result<()> {
        let temporary = path.with_extension("new");
        fs::create_dir_all(&self.folder)?;
        let mut file = fs::File::create(&temporary)?;
        file.write_all(hash_of_bytes(body).as_bytes())?;
        file.write_all(b"\n")?;
        file.write_all(body)?;
        fs::rename(&temporary, path)
    }
}

/// Relabels blank nodes by their order in the response.
fn relabel_blank_nodes(rows: Vec<Row>, query: &str) -> Vec<Row> {
    let mut labels: FxHashMap<BlankNode, BlankNode> = FxHashMap::default();
    let mut relabelled = Vec::with_capacity(rows.len());
    for row in rows {
        let terms = row.into_iter().map(|term| {
            term.map(|term| {
                lodeseek_rdf::relabel_term(term, &mut |node| label_node(&mut labels, node, query))
            })
        });
        relabelled.push(terms.collect());
    }
    relabelled
}

/// Returns the new label of a blank node; a node that has none yet gets the next one.
fn label_node(
    labels: &mut FxHashMap<BlankNode, BlankNode>,
    node: BlankNode,
    query: &str,
) -> BlankNode {
    let number = labels.len();
    labels
        .entry(node)
        .or_insert_with(|| BlankNode::new_unchecked(format!("q{query}n{number}")))
        .clone()
}

/// Returns a file name for a text: the first 128 bits of its SHA-256, enough to exclude accidental collisions.
fn short_hash(text: &str) -> String {
    hash_of_text(text)[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{Literal, NamedNode};

    fn cache() -> (tempfile::TempDir, ResponseCache) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache =
            ResponseCache::new(folder.path(), "http://e.org/sparql", Some("http://e.org/g"));
        (folder, cache)
    }

    fn state(triples: Option<u64>) -> GraphState {
        GraphState {
            triples,
            ..GraphState::default()
        }
    }

    #[test]
    fn terms_come_back_as_they_were() {
        let (_folder, cache) = cache();
        let literals = [
            "",
            "a\nb\r\t\"\\\u{0}\u{7f}\u{85}",
            "{\"x\": 1} \u{1f333} é",
            "54.0",
        ]
        .map(Literal::from);
        let typed =
            Literal::new_typed_literal("054.0", NamedNode::new_unchecked("http://e.org/t#d"));
        let tagged = Literal::new_language_tagged_literal("arbre", "fr-be").expect("a tag");
        let mut rows: Vec<Row> = literals
            .into_iter()
            .map(|literal| vec![Some(literal.into()), None])
            .collect();
        rows.push(vec![Some(typed.into()), Some(tagged.into())]);
        rows.push(vec![
            Some(NamedNode::new_unchecked("http://e.org/é?a=1&b=(2)#c").into()),
            None,
        ]);
        assert_eq!(cache.read("q"), None);
        assert_eq!(cache.write("q", rows.clone()).expect("kept"), rows);
        assert_eq!(cache.read("q"), Some(rows));
    }

    #[test]
    fn blank_nodes_of_two_answers_never_meet() {
        let (_folder, cache) = cache();
        let row = |label: &str| vec![Some(BlankNode::new_unchecked(label).into())];
        let one = cache
            .write("one", vec![row("x"), row("y"), row("x")])
            .expect("kept");
        let again = cache
            .write("one", vec![row("b7"), row("b1"), row("b7")])
            .expect("kept");
        let two = cache.write("two", vec![row("x")]).expect("kept");
        assert_eq!(one, again);
        assert!(
            one[0] == one[2] && one[0] != one[1] && one[0] != two[0],
            "{one:?} {two:?}"
        );
        assert_eq!(cache.read("one"), Some(one));
    }

    #[test]
    fn damaged_pages_are_none() {
        let (_folder, cache) = cache();
        cache
            .write("q", vec![vec![Some(Literal::from("text").into())]])
            .expect("kept");
        let path = cache.path(&short_hash("q"));
        let text = fs::read_to_string(&path).expect("readable");
        for damaged in [
            text.replace("text", "test"),
            text[..text.len() - 1].to_owned(),
            String::new(),
        ] {
            fs::write(&path, damaged).expect("written");
            assert_eq!(cache.read("q"), None);
        }
    }

    #[test]
    fn a_changed_graph_begins_anew_and_an_unknown_one_does_not() {
        let (_folder, cache) = cache();
        assert!(!cache.begin(&state(Some(5))).expect("begun").1);
        cache.write("q", Vec::new()).expect("kept");
        assert_eq!(
            cache.begin(&state(None)).expect("begun"),
            (state(Some(5)), false)
        );
        assert_eq!(cache.read("q"), Some(Vec::new()));
        assert!(cache.begin(&state(Some(6))).expect("begun").1);
        assert_eq!(cache.read("q"), None);
    }
}
