//! Descriptions of datasets in the catalogue graph.

use super::counts::stored_literal;
use super::{Stamp, Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::{dcat as dcat_terms, dcterms, foaf, lodeseek, rdf};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::{NamedNode, Quad, Term, Triple};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// New description of a dataset, and the version of its content.
pub(super) struct Description {
    pub(super) id: DatasetId,
    pub(super) version: String,
    pub(super) triples: Vec<Triple>,
}

impl Store {
    /// Returns a dataset's description in the catalogue graph: its node, its parts, and the agents, themes and works it
    /// names.
    pub fn description(&self, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
        let mut triples = self.node_and_parts(&self.iris.catalog(), &self.iris.dataset(id))?;
        let others: Vec<NamedNode> = triples
            .iter()
            .filter(|triple| {
                [dcterms::CREATOR, dcterms::PUBLISHER, dcat_terms::THEME, lodeseek::INTRODUCED_BY]
                    .contains(&triple.predicate.as_str())
            })
            .filter_map(|triple| match &triple.object {
                Term::NamedNode(other) if !is_part(other, &self.iris.dataset(id)) => Some(other.clone()),
                _ => None,
            })
            .collect();
        for other in others {
            triples.extend(self.subject_triples(&self.iris.catalog(), &other)?);
        }
        Ok(triples)
    }

    /// Returns a dataset's description as a graph.
    pub fn description_graph(&self, id: &DatasetId) -> Result<TripleGraph, StoreError> {
        let mut builder = TripleGraphBuilder::new();
        self.description(id)?.iter().for_each(|triple| builder.insert(triple.as_ref()));
        Ok(builder.finish())
    }

    /// Returns the triples of a node and of its parts: objects with the IRI of the node and a fragment.
    pub(super) fn node_and_parts(&self, graph: &NamedNode, node: &NamedNode) -> Result<Vec<Triple>, StoreError> {
        let mut triples = Vec::new();
        let mut waiting = vec![node.clone()];
        let mut seen = HashSet::new();
        while let Some(next) = waiting.pop() {
            let found = self.subject_triples(graph, &next)?;
            for triple in &found {
                if let Term::NamedNode(object) = &triple.object
                    && is_part(object, node)
                    && seen.insert(object.clone())
                {
                    waiting.push(object.clone());
                }
            }
            triples.extend(found);
        }
        Ok(triples)
    }

    /// Returns true if the catalogue graph contains exactly this description of a dataset, and all its statements about agents.
    pub(super) fn is_described(&self, id: &DatasetId, description: &[Triple]) -> Result<bool, StoreError> {
        let catalog = self.iris.catalog();
        if !same_triples(&self.node_and_parts(&catalog, &self.iris.dataset(id))?, description) {
            return Ok(false);
        }
        for triple in description {
            if !self.oxigraph.contains(&triple.clone().in_graph(catalog.clone()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces descriptions, records, pointers and links to works in one transaction.
    pub(super) fn describe(&self, new: &[Description], stamp: &Stamp) -> Result<(), StoreError> {
        let _change = self.change();
        let catalog = self.iris.catalog();
        let commit = self.start_commit();
        let mut transaction = self.oxigraph.start_transaction()?;
        self.mark(&commit, &mut transaction)?;
        let kind = NamedNode::new_unchecked(rdf::TYPE);
        let class = NamedNode::new_unchecked(dcat_terms::CATALOG);
        transaction.insert(&Quad::new(catalog.clone(), kind, class, catalog.clone()));
        for Description { id, version, triples } in new {
            for triple in self.node_and_parts(&catalog, &self.iris.dataset(id))? {
                transaction.remove(&triple.in_graph(catalog.clone()));
            }
            for pointer in self.pointer_quads(id)? {
                transaction.remove(&pointer);
            }
            transaction.insert(&self.pointer_quad(id, version));
            for link in self.works_that_use(id)? {
                transaction.insert(&link);
            }
            // Agents are shared between datasets: a new name of an agent replaces the old one.
            for named in triples.iter().filter(|triple| triple.predicate.as_str() == foaf::NAME) {
                for old in self.oxigraph.quads_for_pattern(
                    Some(named.subject.as_ref()),
                    Some(named.predicate.as_ref()),
                    None,
                    Some(catalog.as_ref().into()),
                ) {
                    transaction.remove(&old?);
                }
            }
        }
        for triple in new.iter().flat_map(|description| &description.triples) {
            transaction.insert(&triple.clone().in_graph(catalog.clone()));
        }
        for description in new {
            self.write_record(&mut transaction, &description.id, stamp)?;
        }
        transaction.commit()?;
        self.described.fetch_add(1, Ordering::SeqCst);
        self.finish_commit(commit)
    }
}

fn is_part(node: &NamedNode, of: &NamedNode) -> bool {
    node.as_str().strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with('#'))
}

fn same_triples(present: &[Triple], new: &[Triple]) -> bool {
    sorted_lines(present) == sorted_lines(&own_triples(new))
}

/// Returns the distinct triples as lines in ascending order, with literals in the form that the store returns.
fn sorted_lines(triples: &[Triple]) -> Vec<String> {
    let line = |triple: &Triple| {
        let stored = match &triple.object {
            Term::Literal(literal) => stored_literal(literal.value(), literal.datatype().as_str()),
            _ => None,
        };
        match stored {
            Some(literal) => Triple { object: literal.into(), ..triple.clone() }.to_string(),
            None => triple.to_string(),
        }
    };
    let mut lines: Vec<String> = triples.iter().map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Returns the triples of a description without those about the catalogue and about agents with IRIs of their own.
fn own_triples(description: &[Triple]) -> Vec<Triple> {
    let node = description
        .iter()
        .find(|triple| triple.predicate.as_str() == lodeseek::GRAPH)
        .map(|triple| triple.subject.to_string());
    let prefix = node.map(|node| node.trim_end_matches('>').to_owned()).unwrap_or_default();
    let is_own = |triple: &&Triple| {
        let subject = triple.subject.to_string();
        subject.strip_prefix(&prefix).is_some_and(|rest| rest == ">" || rest.starts_with('#'))
    };
    description.iter().filter(is_own).cloned().collect()
}
