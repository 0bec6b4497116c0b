//! A representative sample of a graph: for each frequent class some entities with their descriptions, for each property
//! some triples, and labels of the referenced terms. The first triples of an engine's index would cover one class only.
//!
//! The queries depend on the counts and on earlier responses only, so that the same responses give the same sample.

use super::client::{QueryClient, QueryFailure};
use super::counts::Partition;
use super::description::row_triples;
use super::queries;
use super::query::Template;
use super::response_cache::{ResponseCache, Row};
use lodeseek_catalog::Extent;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{LABEL_PROPERTIES, TripleGraph};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

const TRIPLE: &[&str] = &["s", "p", "o"];
/// Variables of a triple, and of a triple of its object where that is a blank node.
const TRIPLE_AND_PART: &[&str] = &["s", "p", "o", "q", "v"];
/// Maximum number of classes whose entities are requested.
const MAX_CLASSES: usize = 100;
/// Minimum and maximum number of triples of one class.
const TRIPLES_OF_CLASS: (usize, usize) = (20, 2000);
/// Number of triples in a short description, used to estimate the number of entities to request.
const TRIPLES_PER_ENTITY: usize = 4;
/// Number of triples wanted for each property.
const TRIPLES_PER_PROPERTY: usize = 3;
/// Number of terms whose labels are requested in one query.
const TERMS_PER_LABEL_QUERY: usize = 100;
/// Maximum number of queries for labels.
const MAX_LABEL_QUERIES: usize = 10;
/// Number of labels and types requested for one term.
const TRIPLES_PER_NAME: usize = 5;
/// Number of triples requested in one page, where a graph is read without selection.
const PAGE_TRIPLES: usize = 1000;

/// Sampled triples, with their extent.
pub(super) struct Sample {
    pub(super) graph: TripleGraph,
    pub(super) extent: Extent,
}

/// Counts and lists of a graph, fetched before it is sampled.
pub(super) struct GraphSummary<'k> {
    pub(super) graph: Option<&'k NamedNode>,
    pub(super) triples: Option<u64>,
    pub(super) classes: &'k Partition,
    pub(super) properties: &'k Partition,
    /// Maximum number of triples in the sample.
    pub(super) size: usize,
}

/// Samples a graph. A graph that is not larger than the sample is fetched completely.
pub(super) fn build(
    client: &mut QueryClient<'_>,
    cache: &ResponseCache,
    summary: &GraphSummary<'_>,
    left_out: &mut Vec<String>,
) -> Result<Sample, QueryFailure> {
    let mut builder = SampleBuilder {
        client,
        cache,
        summary,
        triples: FxHashSet::default(),
        left_out,
        unordered: 0,
    };
    if let Some(complete) = builder.complete_graph()? {
        return Ok(complete);
    }
    builder.add_classes()?;
    builder.add_properties()?;
    builder.add_labels()?;
    if builder.triples.is_empty() {
        builder.add_first_triples()?;
    }
    if builder.unordered > 0 {
        builder.left_out.push(format!(
            "the order of {} answers: the endpoint failed to sort them",
            builder.unordered
        ));
    }
    // The order is fixed, so that blank nodes get the same numbers in every run.
    let mut triples: Vec<Triple> = builder.triples.into_iter().collect();
    triples.sort_by_cached_key(ToString::to_string);
    Ok(Sample {
        graph: triples.into_iter().collect(),
        extent: Extent::Sample,
    })
}

struct SampleBuilder<'t, 's> {
    client: &'t mut QueryClient<'s>,
    cache: &'t ResponseCache,
    summary: &'t GraphSummary<'t>,
    triples: FxHashSet<Triple>,
    left_out: &'t mut Vec<String>,
    /// Number of responses without order.
    unordered: usize,
}

impl SampleBuilder<'_, '_> {
    /// Fetches all triples in one response, because blank nodes are local to a response. Returns `None` if the response is
    /// incomplete, or the endpoint does not count triples.
    fn complete_graph(&mut self) -> Result<Option<Sample>, QueryFailure> {
        let Some(count) = self
            .summary
            .triples
            .filter(|count| *count <= self.summary.size as u64)
        else {
            return Ok(None);
        };
        let all = queries::triples()
            .in_graph(self.summary.graph)
            .with_page(0, self.summary.size);
        let rows = match self.client.ordered_rows(self.cache, &all, TRIPLE) {
            Ok((rows, _)) => rows,
            Err(QueryFailure::Remote(error)) => {
                self.left_out.push(format!("all triples at once: {error}"));
                return Ok(None);
            }
            Err(other) => return Err(other),
        };
        let graph: TripleGraph = rows.iter().flat_map(row_triples).collect();
        // Some endpoints cut a response without an error. The count shows it.
        if graph.len() as u64 == count {
            return Ok(Some(Sample {
                graph,
                extent: Extent::Whole,
            }));
        }
        self.left_out.push(format!(
            "all triples at once: {} of {count} came",
            graph.len()
        ));
        Ok(None)
    }

    fn remaining(&self) -> usize {
        self.summary.size.saturating_sub(self.triples.len())
    }

    /// Adds the triples of a response, up to the size of the sample. A failure is recorded in `left_out`.
    fn add(
        &mut self,
        template: &Template,
        variables: &[&str],
        what: impl FnOnce() -> String,
    ) -> Result<Vec<Row>, QueryFailure> {
        match self.client.ordered_rows(self.cache, template, variables) {
            Ok((rows, ordered)) => {
                self.unordered += usize::from(!ordered);
                for triple in rows.iter().flat_map(row_triples) {
                    if self.remaining() > 0 || self.triples.contains(&triple) {
                        self.triples.insert(triple);
                    }
                }
                Ok(rows)
            }
            Err(QueryFailure::Remote(error)) => {
                self.left_out.push(format!("{}: {error}", what()));
                Ok(Vec::new())
            }
            Err(other) => Err(other),
        }
    }

    /// Fills half of the sample with entities of the most frequent classes. The rarest of these come first, so that their
    /// unused shares go to larger classes.
    fn add_classes(&mut self) -> Result<(), QueryFailure> {
        let (least, most) = TRIPLES_OF_CLASS;
        let room = self.summary.size / 2;
        let count = self
            .summary
            .classes
            .names
            .len()
            .min(MAX_CLASSES)
            .min(room / least)
            .max(1);
        let chosen = self.summary.classes.names.iter().take(count).rev();
        for (class, left) in chosen.zip((1..=count).rev()) {
            let share = (room.saturating_sub(self.triples.len()) / left).clamp(least, most);
            let entities = queries::entities()
                .in_graph(self.summary.graph)
                .with_values("class", std::slice::from_ref(class));
            let entities = entities
                .with_inner_limit((share / TRIPLES_PER_ENTITY).max(2))
                .with_page(0, share);
            self.add(&entities, TRIPLE_AND_PART, || {
                format!("entities of {class}")
            })?;
        }
        Ok(())
    }

    /// Fills the sample up to three quarters with triples of properties that the entities lack.
    fn add_properties(&mut self) -> Result<(), QueryFailure> {
        let mut seen: FxHashMap<NamedNode, usize> = FxHashMap::default();
        for triple in &self.triples {
            *seen.entry(triple.predicate.clone()).or_default() += 1;
        }
        for property in &self.summary.properties.names {
            if seen.get(property).copied().unwrap_or_default() >= TRIPLES_PER_PROPERTY {
                continue;
            }
            if self.triples.len() + TRIPLES_PER_PROPERTY > self.summary.size - self.summary.size / 4
            {
                break;
            }
            let uses = queries::uses()
                .in_graph(self.summary.graph)
                .with_values("p", std::slice::from_ref(property));
            self.add(&uses.with_page(0, TRIPLES_PER_PROPERTY), TRIPLE, || {
                format!("triples of {property}")
            })?;
        }
        Ok(())
    }

    /// Fills the rest with types and labels of subjects, objects, classes and properties.
    fn add_labels(&mut self) -> Result<(), QueryFailure> {
        let unlabelled = self.iris_without_label();
        for terms in unlabelled
            .chunks(TERMS_PER_LABEL_QUERY)
            .take(MAX_LABEL_QUERIES)
        {
            if self.remaining() == 0 {
                break;
            }
            let names = queries::names()
                .in_graph(self.summary.graph)
                .with_values("s", terms);
            let length = (terms.len() * TRIPLES_PER_NAME).min(self.remaining());
            self.add(&names.with_page(0, length), TRIPLE, || {
                "names of entities".to_owned()
            })?;
        }
        Ok(())
    }

    /// Returns the IRIs without a label in the sample, the most frequent first.
    fn iris_without_label(&self) -> Vec<NamedNode> {
        let mut met: FxHashMap<&NamedNode, usize> = FxHashMap::default();
        let mut named: FxHashSet<&NamedNode> = FxHashSet::default();
        for triple in &self.triples {
            *met.entry(&triple.predicate).or_default() += 1;
            if let Term::NamedNode(object) = &triple.object {
                *met.entry(object).or_default() += 1;
            }
            if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
                *met.entry(subject).or_default() += 1;
                if LABEL_PROPERTIES.contains(&triple.predicate.as_str()) {
                    named.insert(subject);
                }
            }
        }
        let mut unlabelled: Vec<(&NamedNode, usize)> = met
            .into_iter()
            .filter(|(node, _)| !named.contains(node) && !node.as_str().starts_with(rdf::NAMESPACE))
            .collect();
        // By IRI among equals: the order of a hash map would change the queries, and with them the cache.
        unlabelled.sort_unstable_by_key(|(node, times)| (Reverse(*times), node.as_str()));
        unlabelled
            .into_iter()
            .map(|(node, _)| node.clone())
            .collect()
    }

    /// Fetches the first triples of a graph page by page, if neither classes nor properties are known.
    fn add_first_triples(&mut self) -> Result<(), QueryFailure> {
        let mut start = 0;
        while self.remaining() > 0 {
            let page = queries::triples()
                .in_graph(self.summary.graph)
                .with_page(start, PAGE_TRIPLES.min(self.remaining()));
            let rows = self.add(&page, TRIPLE, || "triples".to_owned())?;
            if rows.is_empty() {
                break;
            }
            start += rows.len();
        }
        Ok(())
    }
}
