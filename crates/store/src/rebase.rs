//! Migration of a home to another base of its IRIs.
//!
//! All names of graphs begin with the base, so a new store is written while the old one is in place. A mark in the home then states
//! that the new store is complete. Three steps follow: the new store replaces the old one, and the configuration and the commit record
//! get the new base. Each step can be repeated. A home with a mark cannot be opened; a further call completes it.
//!
//! The content of datasets is not changed: an IRI in a dump that begins with the old base stays as it is.

use super::commit_record::CommitRecord;
use super::internal_facts::Fact;
use super::repair::{self, remove_folder};
use super::{
    Access, SETTINGS, STORE, Store, StoreError, check_restoration, graph_file, is_home, lock_home,
    open_oxigraph,
};
use lodeseek_catalog::Iris;
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Store with the new base, until it takes the place of the old one.
const NEW: &str = "store.new";
/// The old store, until the migration is complete.
const OLD: &str = "store.old";
const MARK: &str = "rebase.json";

/// Content of the mark.
#[derive(Debug, Serialize, Deserialize)]
struct Migration {
    from: String,
    to: String,
    commit: u64,
}

fn mark_path(home: &Path) -> PathBuf {
    home.join(MARK)
}

impl Migration {
    fn read(home: &Path) -> Result<Option<Self>, StoreError> {
        let path = mark_path(home);
        let Some(body) = graph_file::read_checked(&path)? else {
            return Ok(None);
        };
        serde_json::from_slice(&body)
            .map(Some)
            .map_err(|error| StoreError::Settings {
                path,
                reason: error.to_string(),
            })
    }

    fn write(&self, home: &Path) -> Result<(), StoreError> {
        let path = mark_path(home);
        let body = serde_json::to_vec(self).map_err(|error| StoreError::io(&path)(error.into()))?;
        graph_file::write_checked(&path, &body)
    }

    /// Takes the steps that remain once the new store is complete.
    fn complete(&self, home: &Path) -> Result<(), StoreError> {
        let (present, new, old) = (home.join(STORE), home.join(NEW), home.join(OLD));
        // If it is gone, an interrupted call has moved it already.
        if new.exists() {
            // It is missing if an interrupted call moved it, but not yet the new one.
            if present.exists() {
                remove_folder(&old)?;
                fs::rename(&present, &old).map_err(StoreError::io(&present))?;
            }
            fs::rename(&new, &present).map_err(StoreError::io(&new))?;
        }
        write_base(home, &self.to)?;
        CommitRecord {
            commit: self.commit,
            base: self.to.clone(),
        }
        .write(home)?;
        // The mark goes after all steps that a further call would have to repeat.
        let mark = mark_path(home);
        fs::remove_file(&mark).map_err(StoreError::io(&mark))?;
        remove_folder(&old)
    }
}

/// Replaces the base in the configuration file. Everything else in the file is kept.
fn write_base(home: &Path, base: &str) -> Result<(), StoreError> {
    let path = home.join(SETTINGS);
    let mut text = fs::read_to_string(&path).map_err(StoreError::io(&path))?;
    let place = DeTable::parse(&text)
        .ok()
        .and_then(|table| Some(table.get_ref().get("base")?.span()));
    let Some(place) = place else {
        let reason =
            "the key `base` is missing; restore it: the store contains IRIs that begin with it"
                .to_owned();
        return Err(StoreError::Settings { path, reason });
    };
    text.replace_range(place, &toml::Value::from(base).to_string());
    graph_file::write_whole(&path, text.as_bytes())
}

/// Returns an error if a migration was interrupted.
pub(super) fn check(home: &Path) -> Result<(), StoreError> {
    match Migration::read(home)? {
        None => Ok(()),
        Some(Migration { to, .. }) => Err(StoreError::RebaseInterrupted {
            home: home.to_owned(),
            base: to,
        }),
    }
}

/// Changes the base of all IRIs of a home. A migration to the same base that was interrupted is completed. Returns the number
/// of its datasets.
///
/// # Errors
/// If there is no home, the base is not valid, another process uses the home, content is damaged, or a file cannot be written.
pub fn change_base(home: &Path, base: &str) -> Result<usize, StoreError> {
    let target = Iris::new(base)?;
    check_restoration(home)?;
    if !is_home(home) && !mark_path(home).exists() {
        repair::check_replacement(home)?;
        return Err(StoreError::NoHome {
            home: home.to_owned(),
        });
    }
    let lock = lock_home(home, Access::Write)?;
    if let Some(migration) = Migration::read(home)? {
        if migration.to != base {
            return Err(StoreError::RebaseInterrupted {
                home: home.to_owned(),
                base: migration.to,
            });
        }
        migration.complete(home)?;
        drop(lock);
        return Ok(Store::open(home, Access::Read, None)?.versions()?.len());
    }
    // `Store::open` takes the lock itself.
    drop(lock);
    let old = Store::open(home, Access::Write, None)?;
    if old.iris == target {
        return Ok(old.versions()?.len());
    }
    let folder = home.join(NEW);
    remove_folder(&folder)?;
    // The new store has no lock, so that it writes no commit record while the old one is in place.
    let new = Store::with_parts(
        home,
        target.clone(),
        open_oxigraph(&folder, Access::Write)?,
        Access::Write,
        None,
    );
    let entries = old.entries()?;
    let mut graphs = old.iris.metadata_graphs().to_vec();
    graphs.push(old.iris.versions());
    for entry in &entries {
        let id = &entry.dataset.metadata.id;
        graphs.extend([old.iris.statements(id), old.iris.lexical_forms(id)]);
    }
    for graph in graphs {
        // The bulk loader takes no results: the first error ends its input, and is returned afterwards.
        let mut failure = None;
        let quads = old
            .oxigraph
            .quads_for_pattern(None, None, None, Some(graph.as_ref().into()));
        let quads = quads.map_while(|quad| quad.map_err(|error| failure = Some(error)).ok());
        // Digests of descriptions change with the IRIs.
        let quads = quads.filter(|quad| quad.predicate != Fact::Description.property());
        new.bulk_load(quads.map(|quad| move_quad(quad, &old.iris, &target)))?;
        if let Some(error) = failure {
            return Err(error.into());
        }
    }
    if let Some(lost) = new.copy_content(&entries, Some(&old))?.first() {
        let reason = format!("the content of {} cannot be read", lost.id);
        return Err(StoreError::Damaged {
            home: home.to_owned(),
            reason,
        });
    }
    let commit = old.read_commit()? + 1;
    new.reset_commit(commit)?;
    #[cfg(feature = "rocksdb")]
    new.oxigraph.flush()?;
    let migration = Migration {
        from: old.iris.base().to_owned(),
        to: base.to_owned(),
        commit,
    };
    // Closed before the mark states that it is complete.
    drop(new);
    migration.write(home)?;
    let Store { oxigraph, lock, .. } = old;
    // The folder is renamed below. The lock remains until the home is complete.
    drop(oxigraph);
    migration.complete(home)?;
    drop(lock);
    Ok(entries.len())
}

/// Returns a quad with the target's IRIs in place of those of a home.
fn move_quad(quad: Quad, from: &Iris, to: &Iris) -> Quad {
    let subject = match quad.subject {
        NamedOrBlankNode::NamedNode(subject) => move_node(subject, from, to).into(),
        subject @ NamedOrBlankNode::BlankNode(_) => subject,
    };
    let object = match quad.object {
        Term::NamedNode(object) => move_node(object, from, to).into(),
        object => object,
    };
    let graph_name = match quad.graph_name {
        oxrdf::GraphName::NamedNode(graph) => move_node(graph, from, to).into(),
        graph => graph,
    };
    Quad {
        subject,
        predicate: quad.predicate,
        object,
        graph_name,
    }
}

fn move_node(node: NamedNode, from: &Iris, to: &Iris) -> NamedNode {
    from.change_base(&node, to).unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use toml::{Table, Value};

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_base_is_written_and_nothing_else_changes(
            base in any::<String>(),
            title in any::<String>(),
            comment in "[^\\p{Cc}]{0,20}",
            quote in proptest::sample::select(vec!["\"", "'", "\"\"\"", "'''"]),
        ) {
            let home = tempfile::tempdir().expect("a folder");
            let path = home.path().join(SETTINGS);
            let title = Value::from(title);
            let text = format!(
                "title = {title}\n#{comment}\nbase = {quote}http://a.org/{quote} #{comment}\n[portal]\nbase = {title}\n"
            );
            fs::write(&path, &text).expect("written");
            write_base(home.path(), &base).expect("replaced");
            let written = fs::read_to_string(&path).expect("a file");
            let mut expected: Table = text.parse().expect("TOML");
            expected.insert("base".to_owned(), Value::from(base.as_str()));
            prop_assert_eq!(written.parse::<Table>().expect("TOML"), expected);
            let comment = format!(" #{comment}\n[portal]\n");
            prop_assert!(written.contains(&comment), "{written}");
        }
    }

    #[test]
    fn the_base_is_replaced_in_the_configuration_and_nothing_else() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join(SETTINGS);
        fs::write(
            &path,
            "# base = 1\nranking = \"best\"\nbase = 'http://a.org/' # fixed\n[portal]\ntitle = \"base\"\n",
        )
        .expect("written");
        write_base(home.path(), "https://b.org/x/").expect("replaced");
        assert_eq!(
            fs::read_to_string(&path).expect("read"),
            "# base = 1\nranking = \"best\"\nbase = \"https://b.org/x/\" # fixed\n[portal]\ntitle = \"base\"\n"
        );
        fs::write(&path, "[portal]\nbase = 1\n").expect("written");
        assert!(write_base(home.path(), "https://b.org/").is_err());
    }
}
