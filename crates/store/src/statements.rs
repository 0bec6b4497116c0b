//! Statements of a dataset's description about resources of the web: terms, agents, places and licences that its catalogue
//! describes.
//!
//! Several catalogues describe one publisher, each in its own words. Two graphs of each dataset, which no query can name, keep the
//! words apart:
//!
//! - `statements/ID` has the statements of this dataset about resources of the web. The catalogue graph has the statements of all
//!   datasets, so that queries can join them. A statement leaves the catalogue graph with the last dataset that makes it.
//! - `lexical-forms/ID` has the statements of the description with a literal that the store changes (`1.10` becomes `1.1`). Each
//!   literal has its original lexical form here, and a datatype that names the original one.
//!
//! Homes of earlier versions have no such graphs: their descriptions include the statements of the catalogue graph about agents,
//! themes and works, whoever made them. The graphs are written when the home is opened for writing. A mark beside the pointers
//! states that they are complete.

use super::counts::to_stored_literal;
use super::description::is_part;
use super::quad_changes::QuadChanges;
use super::{Store, StoreError};
use lodeseek_catalog::{DatasetId, Iris};
use lodeseek_rdf::vocab::{dcat, dcterms, lodeseek};
use oxigraph::store::Store as Oxigraph;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};

/// Beginning of the datatypes in the graphs of lexical forms. The original datatype follows.
const ORIGINAL: &str = "urn:lodeseek:lexical-form:";

/// Properties of a dataset whose values were described in the catalogue graph by earlier versions.
const SHARED: [&str; 4] = [
    dcterms::CREATOR,
    dcterms::PUBLISHER,
    dcat::THEME,
    lodeseek::INTRODUCED_BY,
];

/// The statements of a description that are in the graphs of its dataset.
#[derive(Debug, Default)]
pub(super) struct OwnStatements {
    /// Statements about resources of the web, with literals as the store returns them.
    pub(super) statements: FxHashSet<Triple>,
    /// Statements with literals that the store changes, as the catalogue states them.
    pub(super) forms: FxHashSet<Triple>,
}

impl OwnStatements {
    /// Selects the statements of a description.
    pub(super) fn from_description(description: &[Triple], id: &DatasetId, iris: &Iris) -> Self {
        let (node, catalog) = (iris.dataset(id), iris.catalog());
        let mut own = Self::default();
        let mut changed: FxHashSet<Triple> = FxHashSet::default();
        for triple in description {
            let stored = to_stored_triple(triple);
            if let Some(stored) = stored.as_ref().filter(|stored| *stored != triple) {
                changed.insert(stored.clone());
            }
            let is_of_home = match &triple.subject {
                NamedOrBlankNode::NamedNode(subject) => {
                    *subject == node || is_part(subject, &node) || *subject == catalog
                }
                NamedOrBlankNode::BlankNode(_) => true,
            };
            if !is_of_home {
                own.statements
                    .insert(stored.unwrap_or_else(|| triple.clone()));
            }
        }
        if !changed.is_empty() {
            // A literal that the store keeps may equal what another one becomes.
            own.forms.extend(
                description
                    .iter()
                    .filter(|triple| {
                        to_stored_triple(triple).is_some_and(|stored| changed.contains(&stored))
                    })
                    .cloned(),
            );
        }
        own
    }

    /// Returns the parts of a dataset's description to which the statements link.
    pub(super) fn parts(&self, node: &NamedNode) -> Vec<NamedNode> {
        let mut parts = Vec::new();
        for statement in &self.statements {
            if let Term::NamedNode(object) = &statement.object
                && is_part(object, node)
            {
                parts.push(object.clone());
            }
        }
        parts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.forms.is_empty()
    }

    /// Replaces literals that the store changed by those that the catalogue states.
    pub(super) fn restore_forms(&self, triples: &mut Vec<Triple>) {
        if self.forms.is_empty() {
            return;
        }
        let stored: FxHashSet<Triple> = self.forms.iter().filter_map(to_stored_triple).collect();
        triples.retain(|triple| !stored.contains(triple));
        triples.extend(self.forms.iter().cloned());
    }

    /// Returns the quads of the graphs of a dataset.
    pub(super) fn quads(&self, id: &DatasetId, iris: &Iris) -> Vec<Quad> {
        let (statements, forms) = (iris.statements(id), iris.lexical_forms(id));
        let mut quads = Vec::with_capacity(self.statements.len() + self.forms.len());
        quads.extend(
            self.statements
                .iter()
                .map(|triple| triple.clone().in_graph(statements.clone())),
        );
        quads.extend(
            self.forms
                .iter()
                .filter_map(encode_datatype)
                .map(|triple| triple.in_graph(forms.clone())),
        );
        quads
    }
}

/// Returns a triple with a typed literal in the form that the store returns. `None` for other triples.
fn to_stored_triple(triple: &Triple) -> Option<Triple> {
    let Term::Literal(literal) = &triple.object else {
        return None;
    };
    if literal.language().is_some() {
        return None;
    }
    let object = to_stored_literal(literal.value(), literal.datatype().as_str())?;
    Some(Triple {
        object: object.into(),
        ..triple.clone()
    })
}

/// Hides the datatype of a literal from the store, which would change the lexical form.
fn encode_datatype(triple: &Triple) -> Option<Triple> {
    let Term::Literal(literal) = &triple.object else {
        return None;
    };
    let datatype = NamedNode::new_unchecked(format!("{ORIGINAL}{}", literal.datatype().as_str()));
    Some(Triple {
        object: Literal::new_typed_literal(literal.value(), datatype).into(),
        ..triple.clone()
    })
}

fn decode_datatype(triple: Triple) -> Option<Triple> {
    let Term::Literal(literal) = &triple.object else {
        return None;
    };
    let datatype = NamedNode::new_unchecked(literal.datatype().as_str().strip_prefix(ORIGINAL)?);
    Some(Triple {
        object: Literal::new_typed_literal(literal.value(), datatype).into(),
        ..triple
    })
}

/// Changes of the statements of some datasets, of which the catalogue graph follows.
pub(super) struct StatementChange<'s> {
    store: &'s Store,
    /// Graphs of the datasets that change.
    graphs: FxHashSet<NamedNode>,
    removed: FxHashSet<Triple>,
    added: FxHashSet<Triple>,
}

impl<'s> StatementChange<'s> {
    pub(super) fn new<'i>(store: &'s Store, ids: impl Iterator<Item = &'i DatasetId>) -> Self {
        let graphs = ids.map(|id| store.iris.statements(id)).collect();
        Self {
            store,
            graphs,
            removed: FxHashSet::default(),
            added: FxHashSet::default(),
        }
    }

    /// Replaces the statements of one of the datasets in its graphs.
    pub(super) fn replace(
        &mut self,
        id: &DatasetId,
        old: OwnStatements,
        new: OwnStatements,
        changes: &mut QuadChanges,
    ) {
        let iris = &self.store.iris;
        let new_quads: FxHashSet<Quad> = new.quads(id, iris).into_iter().collect();
        let mut old_quads: FxHashSet<Quad> = FxHashSet::default();
        if !old.is_empty() {
            old_quads.extend(old.quads(id, iris));
        }
        old_quads
            .difference(&new_quads)
            .for_each(|quad| changes.remove(quad));
        new_quads
            .difference(&old_quads)
            .for_each(|quad| changes.add(quad));
        // An empty graph would remain in the list of graphs.
        if new.statements.is_empty() && !old.statements.is_empty() {
            changes.remove_graph(iris.statements(id));
        }
        if new.forms.is_empty() && !old.forms.is_empty() {
            changes.remove_graph(iris.lexical_forms(id));
        }
        self.change(old.statements, new.statements);
    }

    /// Notes the statements of one of the datasets before and after the change.
    pub(super) fn change(&mut self, old: FxHashSet<Triple>, new: FxHashSet<Triple>) {
        self.removed
            .extend(old.into_iter().filter(|statement| !new.contains(statement)));
        self.added.extend(new);
    }

    /// Removes the statements from the catalogue graph that no dataset makes any more.
    pub(super) fn remove_unused_statements(
        &self,
        changes: &mut QuadChanges,
    ) -> Result<(), StoreError> {
        let catalog = self.store.iris.catalog();
        // A statement that one dataset drops, another one of the same change may make.
        for statement in self.removed.difference(&self.added) {
            if !self.is_made_by_others(statement)? {
                changes.remove(statement.as_ref().in_graph(&catalog));
            }
        }
        Ok(())
    }

    /// Inserts the new statements into the catalogue graph, each once.
    pub(super) fn insert_new(&self, changes: &mut QuadChanges) {
        let catalog = self.store.iris.catalog();
        for statement in &self.added {
            changes.add(statement.as_ref().in_graph(&catalog));
        }
    }

    fn is_made_by_others(&self, statement: &Triple) -> Result<bool, StoreError> {
        let (subject, predicate) = (statement.subject.as_ref(), statement.predicate.as_ref());
        let object = statement.object.as_ref();
        for quad in self.store.oxigraph.quads_for_pattern(
            Some(subject),
            Some(predicate),
            Some(object),
            None,
        ) {
            // The graphs of datasets that change still have their former statements.
            if let oxrdf::GraphName::NamedNode(graph) = quad?.graph_name
                && self.store.iris.is_statements(graph.as_str())
                && !self.graphs.contains(&graph)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns true if the statements of all datasets of a store are in graphs of their own.
pub(super) fn are_separate(oxigraph: &Oxigraph, iris: &Iris, pointers: &NamedNode) -> bool {
    let is_marked = oxigraph.contains(&mark(iris));
    let mut datasets = oxigraph.quads_for_pattern(None, None, None, Some(pointers.as_ref().into()));
    // A store without datasets has nothing to separate.
    is_marked.unwrap_or(false) || datasets.next().is_none()
}

/// Returns the mark of a home whose datasets have statements of their own.
pub(super) fn mark(iris: &Iris) -> Quad {
    // The subjects of pointers are the names of graphs in queries: the mark has another property.
    let property = NamedNode::new_unchecked(dcterms::IDENTIFIER);
    Quad::new(
        iris.all_statements(),
        property,
        Literal::from("1"),
        iris.versions(),
    )
}

impl Store {
    /// Returns the statements of a dataset in its graphs.
    pub(super) fn own_statements(&self, id: &DatasetId) -> Result<OwnStatements, StoreError> {
        let statements = self
            .graph_triples(&self.iris.statements(id))?
            .into_iter()
            .collect();
        let forms = self
            .graph_triples(&self.iris.lexical_forms(id))?
            .into_iter()
            .filter_map(decode_datatype)
            .collect();
        Ok(OwnStatements { statements, forms })
    }

    /// Returns the quads of a dataset's graphs of statements as they are stored.
    pub(super) fn own_statement_quads(&self, id: &DatasetId) -> Result<Vec<Quad>, StoreError> {
        let mut quads = Vec::new();
        for graph in [self.iris.statements(id), self.iris.lexical_forms(id)] {
            quads.extend(
                self.graph_triples(&graph)?
                    .into_iter()
                    .map(|triple| triple.in_graph(graph.clone())),
            );
        }
        Ok(quads)
    }

    fn graph_triples(&self, graph: &NamedNode) -> Result<Vec<Triple>, StoreError> {
        // Most datasets have none of these graphs, and this is faster than to look for quads.
        if !self.oxigraph.contains_named_graph(graph.as_ref())? {
            return Ok(Vec::new());
        }
        let quads = self
            .oxigraph
            .quads_for_pattern(None, None, None, Some(graph.as_ref().into()));
        quads
            .map(|quad| {
                quad.map(|quad| Triple::new(quad.subject, quad.predicate, quad.object))
                    .map_err(Into::into)
            })
            .collect()
    }

    /// Returns the statements about agents, themes and works that a description includes in a home of an earlier version.
    pub(super) fn shared_statements(
        &self,
        node: &NamedNode,
        own: &[Triple],
    ) -> Result<Vec<Triple>, StoreError> {
        let mut others: FxHashSet<&NamedNode> = FxHashSet::default();
        for triple in own
            .iter()
            .filter(|triple| SHARED.contains(&triple.predicate.as_str()))
        {
            if let Term::NamedNode(other) = &triple.object
                && !is_part(other, node)
            {
                others.insert(other);
            }
        }
        let mut triples = Vec::new();
        for other in others {
            triples.extend(self.subject_triples(&self.iris.catalog(), other)?);
        }
        Ok(triples)
    }

    /// Writes the graphs of all datasets of a home of an earlier version.
    pub(super) fn separate_statements(&mut self) -> Result<(), StoreError> {
        if !self.has_separate_statements {
            self.write_own_statements()?;
            self.has_separate_statements = true;
        }
        Ok(())
    }

    fn write_own_statements(&self) -> Result<(), StoreError> {
        let _change = self.change();
        let mut quads = Vec::new();
        for id in self.ids()? {
            let (node, graph) = (self.iris.dataset(&id), self.iris.statements(&id));
            let own = self.node_and_parts(&self.iris.catalog(), &node, &[])?;
            let shared = self.shared_statements(&node, &own)?;
            quads.extend(
                shared
                    .into_iter()
                    .map(|triple| triple.in_graph(graph.clone())),
            );
        }
        // After an interruption there is no mark, and the graphs are written again.
        self.bulk_load(quads.into_iter())?;
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        changes.add(&mark(&self.iris));
        let written = changes.commit(self)?;
        self.finish_commit(commit, written)
    }

    /// Returns the first statement of a dataset that the catalogue graph lacks.
    pub(super) fn missing_statement(
        &self,
        id: &DatasetId,
        known: &mut FxHashMap<Triple, bool>,
    ) -> Result<Option<Triple>, StoreError> {
        let catalog = self.iris.catalog();
        for statement in self.own_statements(id)?.statements {
            let is_present = match known.get(&statement) {
                Some(is_present) => *is_present,
                None => {
                    let is_present = self
                        .oxigraph
                        .contains(statement.as_ref().in_graph(&catalog))?;
                    known.insert(statement.clone(), is_present);
                    is_present
                }
            };
            if !is_present {
                return Ok(Some(statement));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatasetOutcome, Loader, describe_dataset};
    use lodeseek_catalog::{Dataset, Metadata, Node, Statement};
    use lodeseek_rdf::TripleGraphBuilder;
    use proptest::prelude::*;

    const TERM: &str = "http://e.org/term";
    const PROPERTY: &str = "http://e.org/p";

    fn id(text: &str) -> DatasetId {
        DatasetId::new(text).expect("an id")
    }

    fn store(folder: &std::path::Path) -> Store {
        Store::in_memory(folder, Iris::default()).expect("a store")
    }

    /// Returns a dataset that makes statements about itself and about a term.
    fn dataset(name: &str, literals: &[Literal]) -> Dataset {
        let mut dataset = Dataset::new(Metadata::new(id(name)));
        for literal in literals {
            for subject in [Node::Dataset, Node::Iri(TERM.to_owned())] {
                dataset
                    .extra_statements
                    .push(Statement::new(subject, PROPERTY, literal.clone()));
            }
        }
        dataset.extra_statements.push(Statement::new(
            Node::Dataset,
            PROPERTY,
            Node::Iri(TERM.to_owned()),
        ));
        dataset
    }

    fn load(store: &Store, datasets: &[Dataset]) -> Vec<DatasetOutcome> {
        let empty = || TripleGraphBuilder::new().finish();
        let datasets = datasets
            .iter()
            .map(|dataset| (dataset.clone(), empty()))
            .collect();
        let report = Loader::new(store)
            .load_graphs(datasets, &|_| ())
            .expect("loaded");
        report
            .datasets
            .iter()
            .map(|dataset| dataset.outcome)
            .collect()
    }

    /// Returns the numbers of statements about the term in the catalogue graph.
    fn common(store: &Store) -> usize {
        let catalog = store.iris.catalog();
        store
            .subject_triples(&catalog, &NamedNode::new_unchecked(TERM))
            .expect("read")
            .len()
    }

    fn typed(lexical: &str, datatype: &str) -> Literal {
        let datatype = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
        Literal::new_typed_literal(lexical, NamedNode::new_unchecked(datatype))
    }

    fn literal() -> impl Strategy<Value = Literal> {
        let lexical = prop::sample::select(vec![
            "1",
            "01",
            "+1",
            "1.0",
            "1.10",
            "1.1",
            "1e0",
            "INF",
            "true",
            "2024-01-01",
            "2024-01-01+00:00",
            "2024-01-01Z",
            "2024-01-01T24:00:00Z",
            "24:00:00",
            "2024",
            "-0044",
            "P0Y",
            "P12M",
            "P1Y",
            "0A",
            "no value",
            "",
        ]);
        let datatype = prop::sample::select(vec![
            "integer",
            "int",
            "decimal",
            "double",
            "boolean",
            "date",
            "dateTime",
            "time",
            "gYear",
            "duration",
            "hexBinary",
            "yearMonthDuration",
            "string",
        ]);
        let tagged = prop::sample::select(vec!["DE-at", "de-AT", "en"]);
        prop_oneof![
            (lexical, datatype).prop_map(|(lexical, datatype)| typed(lexical, datatype)),
            tagged.prop_map(|tag| Literal::new_language_tagged_literal_unchecked("text", tag)),
            Just(Literal::new_typed_literal(
                "1.0",
                NamedNode::new_unchecked(format!("{ORIGINAL}x"))
            )),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_description_comes_back_as_it_was_stated(literals in prop::collection::vec(literal(), 0..8)) {
            let folder = tempfile::tempdir().expect("a folder");
            let store = store(folder.path());
            let (dataset, other) = (dataset("a", &literals), dataset("b", &literals[..literals.len() / 2]));
            load(&store, &[dataset.clone(), other.clone()]);
            for dataset in [&dataset, &other] {
                let mut expected: FxHashSet<Triple> = describe_dataset(dataset, &store.iris).into_iter().collect();
                expected.retain(|triple| triple.subject != store.iris.catalog().into());
                let found = store.description(&dataset.metadata.id).expect("described").into_iter().collect();
                prop_assert_eq!(expected, found);
            }
            let again = load(&store, &[dataset, other]);
            prop_assert_eq!(again, [DatasetOutcome::Unchanged; 2]);
            store.remove(&[id("a"), id("b")]).expect("removed");
            prop_assert_eq!(common(&store), 0);
            let left: Vec<Quad> = store.oxigraph.iter().map(|quad| quad.expect("a quad")).collect();
            let of_home = [store.iris.catalog(), store.iris.all_statements()].map(NamedOrBlankNode::from);
            prop_assert!(left.iter().all(|quad| of_home.contains(&quad.subject)), "{left:?}");
        }
    }

    #[test]
    fn an_undone_change_keeps_the_statements_of_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        let (one, two) = (Literal::from("one"), Literal::from("two"));
        load(
            &store,
            &[
                dataset("a", std::slice::from_ref(&one)),
                dataset("b", std::slice::from_ref(&two)),
            ],
        );
        let before = store.undo(&[id("a")]).expect("the state");
        load(
            &store,
            &[dataset("a", &[two.clone(), typed("1.0", "decimal")])],
        );
        assert_eq!(
            common(&store),
            2,
            "the first statement left with its dataset"
        );
        store.restore(&before).expect("restored");
        assert_eq!(common(&store), 2, "that of the other dataset remains");
        assert_eq!(
            load(&store, &[dataset("a", &[one]), dataset("b", &[two])]),
            [DatasetOutcome::Unchanged; 2]
        );
    }

    #[test]
    fn no_empty_graphs_remain() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        let graphs = || {
            store
                .oxigraph
                .named_graphs()
                .map(|graph| graph.expect("a graph").to_string())
        };
        load(&store, &[dataset("a", &[typed("01", "integer")])]);
        assert_eq!(
            graphs()
                .filter(|graph| graph.contains("/statements/") || graph.contains("/lexical-"))
                .count(),
            2
        );
        store.remove(&[id("a")]).expect("removed");
        assert!(
            !graphs().any(|graph| graph.contains("/statements/") || graph.contains("/lexical-"))
        );
    }

    #[test]
    fn a_statement_that_the_catalogue_lacks_is_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        load(&store, &[dataset("a", &[Literal::from("one")])]);
        assert!(
            store
                .verify(&|_, _| ())
                .expect("verified")
                .damage
                .is_empty()
        );
        let term = NamedNode::new_unchecked(TERM);
        for triple in store
            .subject_triples(&store.iris.catalog(), &term)
            .expect("read")
        {
            store
                .oxigraph
                .remove(&triple.in_graph(store.iris.catalog()))
                .expect("removed");
        }
        let damage = store.verify(&|_, _| ()).expect("verified").damage;
        assert!(
            damage.len() == 1 && damage[0].problem.contains(TERM),
            "{damage:?}"
        );
    }

    #[cfg(feature = "rocksdb")]
    #[test]
    fn descriptions_of_an_earlier_version_are_read_and_separated() {
        use crate::Access;
        use lodeseek_catalog::Agent;
        let folder = tempfile::tempdir().expect("a folder");
        let agent = Agent {
            name: "City".to_owned(),
            iri: Some("http://e.org/office".to_owned()),
        };
        let mut dataset = Dataset::new(Metadata::new(id("a")));
        dataset.metadata.publishers = vec![agent];
        let store = Store::open(folder.path(), Access::Write, None).expect("a home");
        load(&store, std::slice::from_ref(&dataset));
        let description = |store: &Store| -> FxHashSet<Triple> {
            store
                .description(&id("a"))
                .expect("described")
                .into_iter()
                .collect()
        };
        let expected = description(&store);
        for quad in store.own_statement_quads(&id("a")).expect("read") {
            store.oxigraph.remove(&quad).expect("removed");
        }
        store.oxigraph.remove(&mark(&store.iris)).expect("removed");
        store.oxigraph.flush().expect("flushed");
        drop(store);

        let old = Store::open(folder.path(), Access::Read, None).expect("a home");
        assert!(!old.has_separate_statements);
        assert_eq!(description(&old), expected);
        drop(old);
        let separated = Store::open(folder.path(), Access::Write, None).expect("a home");
        assert!(
            separated.has_separate_statements
                && !separated
                    .own_statement_quads(&id("a"))
                    .expect("read")
                    .is_empty()
        );
        assert_eq!(description(&separated), expected);
        assert_eq!(load(&separated, &[dataset]), [DatasetOutcome::Unchanged]);
        separated.remove(&[id("a")]).expect("removed");
        let office = NamedNode::new_unchecked("http://e.org/office");
        assert!(
            separated
                .subject_triples(&separated.iris.catalog(), &office)
                .expect("read")
                .is_empty()
        );
    }
}
