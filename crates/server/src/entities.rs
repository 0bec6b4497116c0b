//! Resources of a dataset: their triples in both directions, page by page and with labels.

use lodeseek_engine::Card;
use lodeseek_rdf::{Labels, TermRef, TripleGraph, TripleGraphBuilder, local_name, words};
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TermKind, label_triple};
use lodeseek_store::{Excerpt, Position, Resources, StoreError, parse_resource};
use oxrdf::{NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of triples of each direction on one page.
pub(crate) const MAX_PAGE_TRIPLES: usize = 50;

/// A page of triples of a resource, with labels.
pub(crate) struct TriplePage {
    pub(crate) triples: Vec<LabelledTriple>,
    pub(crate) skipped: usize,
    pub(crate) more: bool,
}

impl TriplePage {
    /// Returns the number of triples before the next page. A page of long texts has fewer than [`MAX_PAGE_TRIPLES`] triples.
    pub(crate) fn end(&self) -> usize {
        self.skipped + self.triples.len()
    }
}

/// A resource of a dataset.
pub(crate) struct Entity {
    /// IRI, or blank node label as in `_:b0`.
    pub(crate) name: String,
    /// `None` for a blank node without a label.
    pub(crate) label: Option<String>,
    /// Triples with the resource as subject.
    pub(crate) out: TriplePage,
    /// Triples with the resource as object.
    pub(crate) to: TriplePage,
    /// Names of the other resources that are subjects in the dataset, in the form of [`name`].
    pub(crate) described: FxHashSet<String>,
}

/// Returns the name of a term in addresses: its IRI, or `_:b0` for a blank node.
pub(crate) fn name(term: &LabelledTerm) -> String {
    match term.kind {
        TermKind::Blank => format!("_:{}", term.value),
        TermKind::Iri | TermKind::Literal | TermKind::Triple => term.value.clone(),
    }
}

/// Finds a resource with a page of its triples in each direction, after skipping `skip` of them. `None` if it has no triples,
/// or if a page behind the first is empty.
pub(crate) fn find(
    resources: &Resources<'_>,
    node: &NamedOrBlankNode,
    skip: [usize; 2],
    languages: &[String],
) -> Result<Option<Entity>, StoreError> {
    let out = resources.triples(node, Position::Subject, skip[0], MAX_PAGE_TRIPLES)?;
    let to = resources.triples(node, Position::Object, skip[1], MAX_PAGE_TRIPLES)?;
    let (has_out, has_to) = (!out.triples.is_empty(), !to.triples.is_empty());
    let is_past_end = (skip[0] > 0 && !has_out) || (skip[1] > 0 && !has_to);
    if is_past_end || !(has_out || has_to) {
        return Ok(None);
    }
    let labels = LabelledTriples::read(resources, node, [&out.triples, &to.triples])?;
    let label = labels.label_of(node, languages);
    let out = labels.page(&out, skip[0], languages);
    let to = labels.page(&to, skip[1], languages);
    let mut described = FxHashSet::default();
    for other in labels.others {
        if resources.describes(&other)? {
            described.insert(other_name(&other));
        }
    }
    Ok(Some(Entity {
        name: other_name(node),
        label,
        out,
        to,
        described,
    }))
}

/// Returns examples of the largest classes, at most `most`, each with its first triples. The number is the place of the class
/// in the schema.
pub(crate) fn examples(
    resources: &Resources<'_>,
    card: &Card,
    most: usize,
    triples: usize,
    languages: &[String],
) -> Result<Vec<(usize, Entity)>, StoreError> {
    let mut examples = Vec::new();
    let mut seen = FxHashSet::default();
    let mut places: Vec<usize> = (0..card.schema.nodes.len()).collect();
    // Classes with named examples first: blank nodes are less informative.
    places.sort_by_key(|place| {
        card.schema.nodes[*place]
            .examples
            .iter()
            .all(|example| example.starts_with("_:"))
    });
    for place in places {
        // An entity of several classes is shown with the first alone.
        let fresh = card.schema.nodes[place]
            .examples
            .iter()
            .find(|example| !seen.contains(*example));
        let Some((name, node)) = fresh.and_then(|name| Some((name, parse_resource(name)?))) else {
            continue;
        };
        seen.insert(name.clone());
        examples.push((place, outgoing(resources, &node, triples, languages)?));
        if examples.len() == most {
            break;
        }
    }
    Ok(examples)
}

/// Returns a resource with its first triples as subject.
pub(crate) fn outgoing(
    resources: &Resources<'_>,
    node: &NamedOrBlankNode,
    triples: usize,
    languages: &[String],
) -> Result<Entity, StoreError> {
    let out = resources.triples(node, Position::Subject, 0, triples)?;
    let labels = LabelledTriples::read(resources, node, [&out.triples, &[]])?;
    let out = labels.page(&out, 0, languages);
    let label = labels.label_of(node, languages);
    let mut described = FxHashSet::default();
    for other in &labels.others {
        if resources.describes(other)? {
            described.insert(other_name(other));
        }
    }
    let to = TriplePage {
        triples: Vec::new(),
        skipped: 0,
        more: false,
    };
    Ok(Entity {
        name: other_name(node),
        label,
        out,
        to,
        described,
    })
}

/// Returns the label of a resource as pages show it: of an IRI without one, the words of its local name; of a blank node `None`.
pub(crate) fn resource_label(
    resources: &Resources<'_>,
    node: &NamedOrBlankNode,
    languages: &[String],
) -> Result<Option<String>, StoreError> {
    let labels = LabelledTriples::read(resources, node, [&[], &[]])?;
    if let Some(label) = labels.label_of(node, languages) {
        return Ok(Some(label));
    }
    Ok(match node {
        NamedOrBlankNode::NamedNode(node) => Some(words(local_name(node.as_str()))),
        NamedOrBlankNode::BlankNode(_) => None,
    })
}

fn other_name(node: &NamedOrBlankNode) -> String {
    match node {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    }
}

/// Triples with the labels of their terms.
struct LabelledTriples {
    graph: TripleGraph,
    others: Vec<NamedOrBlankNode>,
}

impl LabelledTriples {
    fn read(
        resources: &Resources<'_>,
        node: &NamedOrBlankNode,
        triples: [&[Triple]; 2],
    ) -> Result<Self, StoreError> {
        let mut others: Vec<NamedOrBlankNode> = Vec::new();
        let mut seen: FxHashSet<NamedOrBlankNode> = [node.clone()].into_iter().collect();
        let mut terms: Vec<NamedOrBlankNode> = vec![node.clone()];
        for triple in triples.into_iter().flatten() {
            let mut nested = Some(triple);
            while let Some(triple) = nested {
                let object = match &triple.object {
                    Term::NamedNode(node) => Some(node.clone().into()),
                    Term::BlankNode(node) => Some(node.clone().into()),
                    Term::Literal(_) | Term::Triple(_) => None,
                };
                for other in [Some(triple.subject.clone()), object].into_iter().flatten() {
                    if seen.insert(other.clone()) {
                        others.push(other);
                    }
                }
                if seen.insert(triple.predicate.clone().into()) {
                    terms.push(triple.predicate.clone().into());
                }
                nested = match &triple.object {
                    Term::Triple(triple) => Some(triple),
                    _ => None,
                };
            }
        }
        let mut builder = TripleGraphBuilder::new();
        triples
            .into_iter()
            .flatten()
            .for_each(|triple| builder.insert_with_labels(triple.as_ref()));
        let labels = resources.labels(terms.iter().chain(&others))?;
        labels
            .iter()
            .for_each(|triple| builder.insert_with_labels(triple.as_ref()));
        Ok(Self {
            graph: builder.finish(),
            others,
        })
    }

    fn labels(&self, languages: &[String]) -> Labels<'_> {
        let languages: Vec<&str> = languages.iter().map(String::as_str).chain(["en"]).collect();
        Labels::for_display(&self.graph, &languages)
    }

    fn page(&self, excerpt: &Excerpt, skipped: usize, languages: &[String]) -> TriplePage {
        let triples = self.with_labels(&excerpt.triples, languages);
        TriplePage {
            triples,
            skipped,
            more: excerpt.more,
        }
    }

    fn with_labels(&self, triples: &[Triple], languages: &[String]) -> Vec<LabelledTriple> {
        let labels = self.labels(languages);
        let known: FxHashMap<Triple, _> = self
            .graph
            .triples()
            .iter()
            .map(|triple| (self.graph.to_triple(*triple), *triple))
            .collect();
        triples
            .iter()
            .filter_map(|triple| Some(label_triple(&self.graph, &labels, *known.get(triple)?)))
            .collect()
    }

    fn label_of(&self, node: &NamedOrBlankNode, languages: &[String]) -> Option<String> {
        let (text, is_blank) = match node {
            NamedOrBlankNode::NamedNode(node) => (node.as_str(), false),
            NamedOrBlankNode::BlankNode(node) => (node.as_str(), true),
        };
        let ends = self
            .graph
            .triples()
            .iter()
            .flat_map(|triple| [triple.subject, triple.object]);
        let id = ends.into_iter().find(|id| match self.graph.term(*id) {
            TermRef::Iri(iri) => !is_blank && iri == text,
            TermRef::Blank(label) => is_blank && label == text,
            TermRef::Literal { .. } | TermRef::Triple(_) => false,
        })?;
        self.labels(languages).label(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{Literal, NamedNode};

    #[test]
    fn the_next_page_begins_after_the_triples_of_this_one() {
        let node = |text: &str| NamedNode::new_unchecked(text);
        let triple = Triple::new(node("e:oak"), node("e:p"), Literal::from("x"));
        let mut builder = TripleGraphBuilder::new();
        builder.insert_with_labels(triple.as_ref());
        let labels = LabelledTriples {
            graph: builder.finish(),
            others: Vec::new(),
        };
        let page = labels.page(
            &Excerpt {
                triples: vec![triple],
                more: true,
            },
            7,
            &[],
        );
        assert_eq!(
            (page.triples.len(), page.skipped, page.end(), page.more),
            (1, 7, 8, true)
        );
    }
}
