//! URI spaces of a dataset's entities, and links to entities of other datasets.

use super::{sort_by_count, uri_space};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, TripleGraph};
use rustc_hash::{FxHashMap, FxHashSet};

/// URI spaces of the described entities, and linked entities of other spaces. Both are sorted by descending count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    /// (URI space, IRIs described in it).
    pub spaces: Vec<(String, u64)>,
    /// (external entity, triples that lead to it).
    ///
    /// The IRI of an external entity is not described in the graph, and the graph describes nothing in its URI space.
    /// Objects of `rdf:type` are vocabulary, not links.
    pub targets: Vec<(TermId, u64)>,
}

impl Linkage {
    /// Counts a graph in one pass over its terms and one over its triples.
    #[must_use]
    pub fn new(graph: &TripleGraph) -> Self {
        let mut spaces: FxHashMap<&str, u64> = FxHashMap::default();
        let described = graph
            .iris()
            .filter(|id| !graph.subject_range(*id).is_empty())
            .filter_map(|id| uri_space(graph.term(id).text()));
        // IRIs are sorted: those of one space are consecutive.
        for (space, count) in count_runs(described) {
            *spaces.entry(space).or_default() += count;
        }
        let own: FxHashSet<&str> = spaces.keys().copied().collect();
        let targets = count_external_targets(graph, &own);
        let spaces = spaces
            .into_iter()
            .map(|(space, count)| (space.to_owned(), count))
            .collect();
        Self {
            spaces: sort_by_count(spaces),
            targets: sort_by_count(targets),
        }
    }

    /// Returns the numbers of links by URI space.
    pub(super) fn links(&self, graph: &TripleGraph) -> Vec<(String, u64)> {
        let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
        for (target, triples) in &self.targets {
            if let Some(space) = uri_space(graph.term(*target).text()) {
                *counts.entry(space).or_default() += triples;
            }
        }
        sort_by_count(
            counts
                .into_iter()
                .map(|(space, count)| (space.to_owned(), count))
                .collect(),
        )
    }
}

/// Counts equal consecutive texts.
fn count_runs<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<(&'t str, u64)> {
    let mut runs: Vec<(&str, u64)> = Vec::new();
    for text in texts {
        match runs.last_mut() {
            Some((last, count)) if *last == text => *count += 1,
            _ => runs.push((text, 1)),
        }
    }
    runs
}

/// Returns the [targets](Linkage::targets).
fn count_external_targets(graph: &TripleGraph, own: &FxHashSet<&str>) -> FxHashMap<TermId, u64> {
    let kind = graph.iri(rdf::TYPE);
    let mut targets = FxHashMap::default();
    for triple in graph
        .triples()
        .iter()
        .filter(|triple| Some(triple.predicate) != kind)
    {
        let object = triple.object;
        if graph.is_iri(object)
            && graph.subject_range(object).is_empty()
            && uri_space(graph.term(object).text()).is_some_and(|space| !own.contains(space))
        {
            *targets.entry(object).or_default() += 1;
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

    #[test]
    fn links_lead_to_entities_of_others() {
        let turtle = "@prefix e: <http://e.org/> . @prefix o: <http://other.org/> . @prefix d: <http://dbpedia.org/> .
             e:a a o:Class ; e:p e:b, d:x, d:x, d:y, e:nowhere . e:b e:p d:x ; e:q \"http://dbpedia.org/z\" .
             o:s e:p o:t .";
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        let graph = builder.finish();
        let linkage = Linkage::new(&graph);
        assert_eq!(
            linkage.spaces,
            [
                ("http://e.org/".to_owned(), 2),
                ("http://other.org/".to_owned(), 1)
            ]
        );
        let named: Vec<_> = linkage
            .targets
            .iter()
            .map(|&(id, count)| (graph.term(id).text(), count))
            .collect();
        assert_eq!(
            named,
            [("http://dbpedia.org/x", 2), ("http://dbpedia.org/y", 1)]
        );
        assert_eq!(
            Profile::new(&graph).links,
            [("http://dbpedia.org/".to_owned(), 3)]
        );
    }
}
