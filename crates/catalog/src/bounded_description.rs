//! Bounded description of a dataset: all statements about it, its blank nodes and its described resources.
//!
//! The statements are followed from the dataset's node. Included are blank nodes, and nodes with IRIs that the same
//! catalogue describes. A described IRI stays the subject and the object of its statements. The statements belong to
//! the description of this dataset: the store finds, compares and replaces them as a unit, and does not mix them with
//! those of another catalogue.
//!
//! A blank node becomes a part of the dataset's description. A part is named after its content, not after the label of
//! a blank node: the same catalogue has the same parts in every run. Nodes with equal content are one part. A
//! distribution is always a part, as its number is its name; `owl:sameAs` keeps its IRI. Compare the concise bounded
//! description, <https://www.w3.org/submissions/CBD/>.

use super::digest::{Digest, format_hex, hash_values};
use super::node_reader::{FOLDER, MAX_TEXT_BYTES, NodeReader, is_relative, is_short};
use super::statement::{Node, Statement, Value, reference_node};
use super::typed_fields::{self, date_literal, iri_or_literal, part_name};
use super::{Agent, Dataset, box_of_geojson, box_of_wkt};
use lodeseek_rdf::vocab::{
    dc11, dcat, dcterms, foaf, geosparql, hydra, lodeseek, owl, rdf, sd, skos, void,
};
use lodeseek_rdf::{TermId, TermRef, Triple, TripleGraph, local_name};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

/// Maximum number of steps from the dataset to a node of its description.
const MAX_DESCRIPTION_STEPS: u32 = 8;
/// Maximum number of statements followed for one dataset. Portals have datasets with thousands of distributions.
const MAX_STATEMENTS: usize = 200_000;

/// Properties that link a collection and its members. They are not followed: each member has its own description.
pub(super) const MEMBERSHIP: &[&str] = &[
    dcat::HAS_DATASET,
    dcat::RECORD,
    dcat::SERVICE,
    dcat::CATALOG_PROPERTY,
    dcat::SERIES_MEMBER,
    dcat::SERVES_DATASET,
    foaf::PRIMARY_TOPIC,
];
/// Dates of change of a catalogue. With the pages of a catalogue, they change with any of its datasets, and say nothing about the
/// others: repeated for each dataset, they would make all of them changed.
const CATALOG_CHANGES: &[&str] = &[
    dcterms::MODIFIED,
    "http://schema.org/dateModified",
    "https://schema.org/dateModified",
    "https://w3id.org/fdp/fdp-o#metadataModified",
];
/// Declared counts and partitions of a dataset's content. They go to a part, as the counts of the local content (the
/// profile) are on the dataset's own node.
const STATED: &[&str] = &[
    void::TRIPLES,
    void::ENTITIES,
    void::CLASSES,
    void::PROPERTIES,
    void::DISTINCT_SUBJECTS,
    void::DISTINCT_OBJECTS,
    void::DOCUMENTS,
    void::CLASS_PARTITION,
    void::PROPERTY_PARTITION,
    void::SUBSET,
];
/// The only `lodeseek:` terms accepted in descriptions of catalogues. The other terms control the store.
const ACCEPTED_TERMS: &[&str] = &[lodeseek::STATED, lodeseek::SERVED_BY];
const AGENTS: &[&str] = &[dcterms::CREATOR, dcterms::PUBLISHER, dc11::CREATOR];

/// Maximum number of statements about a catalogue, record or service that are repeated for each of its datasets, and maximum size
/// of their objects in bytes.
const MAX_HEADER_STATEMENTS: usize = 1000;
const MAX_HEADER_BYTES: usize = 64 << 10;
/// Maximum number of characters of a property in the name of a part.
const MAX_PROPERTY_CHARS: usize = 64;
/// Maximum number of resources that a problem names, and maximum size of their IRIs in bytes.
const MAX_NAMED_RESOURCES: usize = 20;
const MAX_NAMED_IRI_BYTES: usize = 500;
/// Maximum number of properties that a problem names.
const MAX_NAMED_PROPERTIES: usize = 20;

/// Properties with addresses of files and pages. Statements about a file are not statements about its distribution.
const ADDRESSES: &[&str] = &[
    dcat::DOWNLOAD_URL,
    dcat::ACCESS_URL,
    void::DATA_DUMP,
    dcat::LANDING_PAGE,
];

type Color = Digest;
type Link = (&'static str, TermId);

/// Index of a catalogue's graph: datasets, and the resources that link to them.
pub(super) struct CatalogIndex<'g> {
    pub(super) graph: &'g TripleGraph,
    /// Nodes of datasets.
    pub(super) entries: FxHashSet<TermId>,
    /// Inverted links to a dataset: (property from the dataset, node).
    links: FxHashMap<TermId, Vec<Link>>,
    /// Statements about these nodes, without their members: a catalogue may have a million.
    headers: FxHashMap<TermId, Vec<Triple>>,
    /// If true, the nodes of other datasets are entries of the same catalogue, also those without an IRI.
    lists_entries: bool,
    /// Nodes whose statements a description contains, or the report names.
    pub(super) covered: RefCell<FxHashSet<TermId>>,
}

impl<'g> CatalogIndex<'g> {
    pub(super) fn new(graph: &'g TripleGraph, entries: FxHashSet<TermId>) -> Self {
        let mut index = Self {
            graph,
            entries,
            links: FxHashMap::default(),
            headers: FxHashMap::default(),
            lists_entries: true,
            covered: RefCell::default(),
        };
        for (inward, outward) in [
            (dcat::HAS_DATASET, dcterms::IS_PART_OF),
            (foaf::PRIMARY_TOPIC, foaf::IS_PRIMARY_TOPIC_OF),
            (dcat::SERVES_DATASET, lodeseek::SERVED_BY),
        ] {
            index.link(inward, outward);
        }
        index
    }

    /// Creates the index for the header of a dump. The content that it links to is not part of the description.
    pub(super) fn for_dump_header(graph: &'g TripleGraph, entry: TermId) -> Self {
        let headers = FxHashMap::from_iter([(entry, select_header(graph, entry, usize::MAX))]);
        let entries = headers[&entry]
            .iter()
            .map(|triple| triple.object)
            .chain([entry])
            .collect();
        Self {
            graph,
            entries,
            links: FxHashMap::default(),
            headers,
            lists_entries: false,
            covered: RefCell::default(),
        }
    }

    /// Creates the index of one dataset without links to it.
    pub(super) fn for_entry(graph: &'g TripleGraph, entry: TermId) -> Self {
        let entries = FxHashSet::from_iter([entry]);
        Self {
            graph,
            entries,
            links: FxHashMap::default(),
            headers: FxHashMap::default(),
            lists_entries: false,
            covered: RefCell::default(),
        }
    }

    fn link(&mut self, inward: &str, outward: &'static str) {
        let Some(inward) = self.graph.iri(inward) else {
            return;
        };
        for triple in self
            .graph
            .triples()
            .iter()
            .filter(|triple| triple.predicate == inward)
        {
            if self.entries.contains(&triple.object) && !self.entries.contains(&triple.subject) {
                self.links
                    .entry(triple.object)
                    .or_default()
                    .push((outward, triple.subject));
                let graph = self.graph;
                self.headers.entry(triple.subject).or_insert_with(|| {
                    let mut header = select_header(graph, triple.subject, MAX_HEADER_BYTES);
                    if outward == dcterms::IS_PART_OF {
                        header.retain(|triple| !is_of_listing(graph, triple));
                    }
                    header
                });
            }
        }
    }

    /// If true, the node is a dataset of the catalogue without an IRI. One with neither identifier nor title cannot be
    /// listed: it stays a part of the dataset that refers to it.
    fn is_unnamed_entry(&self, node: TermId) -> bool {
        self.lists_entries
            && self.entries.contains(&node)
            && matches!(self.graph.term(node), TermRef::Blank(_))
            && self.graph.subject_triples(node).iter().any(|triple| {
                [dcterms::IDENTIFIER, dcterms::TITLE]
                    .contains(&self.graph.term(triple.predicate).text())
            })
    }

    fn links(&self, entry: TermId) -> &[Link] {
        match self.links.get(&entry) {
            Some(links) => links.as_slice(),
            None => &[],
        }
    }

    fn triples(&self, node: TermId) -> &[Triple] {
        match self.headers.get(&node) {
            Some(header) => header.as_slice(),
            None => self.graph.subject_triples(node),
        }
    }
}

/// Returns true for a statement about the pages or the last change of a catalogue.
fn is_of_listing(graph: &TripleGraph, triple: &Triple) -> bool {
    let property = graph.term(triple.predicate).text();
    property.starts_with(hydra::NAMESPACE) || CATALOG_CHANGES.contains(&property)
}

/// Returns the statements about a node, without its members, whose objects together have at most `bytes` bytes.
fn select_header(graph: &TripleGraph, node: TermId, bytes: usize) -> Vec<Triple> {
    let mut triples = Vec::new();
    let mut left = bytes;
    for triple in graph.subject_triples(node) {
        if triples.len() == MAX_HEADER_STATEMENTS {
            break;
        }
        if MEMBERSHIP.contains(&graph.term(triple.predicate).text()) {
            continue;
        }
        // A text that is too long is skipped: later ones may fit.
        if let Some(rest) = left.checked_sub(graph.term(triple.object).text().len()) {
            left = rest;
            triples.push(*triple);
        }
    }
    triples
}

/// Nodes of one description.
pub(super) struct BoundedDescription<'g> {
    reader: NodeReader<'g>,
    index: &'g CatalogIndex<'g>,
    nodes: Vec<TermId>,
    colors: FxHashMap<TermId, Color>,
    /// Smallest property that leads to a node; its part is named after it.
    via: FxHashMap<TermId, TermId>,
    /// First property that leads to a node which links to the dataset.
    linked_via: FxHashMap<TermId, &'static str>,
    /// Number of nodes that were left out because the description is too deep or too large.
    omitted: usize,
    /// Number of triple terms, which have no place in a dataset's description.
    triple_terms: usize,
    /// Properties of the values that were left out.
    properties: BTreeSet<&'g str>,
    /// Described resources that are named only, with a property that does.
    named_only: FxHashMap<TermId, TermId>,
}

impl<'g> BoundedDescription<'g> {
    /// Collects the description from the reader's node, without the nodes that the typed fields cover completely.
    pub(super) fn new(
        reader: NodeReader<'g>,
        index: &'g CatalogIndex<'g>,
        typed: &FxHashSet<TermId>,
    ) -> Self {
        let mut description = Self {
            reader,
            index,
            nodes: vec![reader.node],
            colors: FxHashMap::default(),
            via: FxHashMap::default(),
            linked_via: FxHashMap::default(),
            omitted: 0,
            triple_terms: 0,
            properties: BTreeSet::new(),
            named_only: FxHashMap::default(),
        };
        description.collect(typed);
        description.color();
        description
    }

    fn graph(&self) -> &'g TripleGraph {
        self.reader.graph
    }

    fn links(&self) -> &'g [Link] {
        self.index.links(self.reader.node)
    }

    fn collect(&mut self, typed: &FxHashSet<TermId>) {
        let mut known: FxHashMap<TermId, u32> = FxHashMap::from_iter([(self.reader.node, 0)]);
        for (property, node) in self.links() {
            // The description of a catalogue is repeated for each of its datasets: only two steps are followed.
            if known.insert(*node, MAX_DESCRIPTION_STEPS - 2).is_none() {
                self.nodes.push(*node);
                self.linked_via.insert(*node, *property);
            }
        }
        let (mut place, mut statements) = (0, 0);
        while let Some(&node) = self.nodes.get(place) {
            place += 1;
            let depth = known[&node] + 1;
            let triples = self.index.triples(node);
            statements += triples.len();
            for triple in triples
                .iter()
                .filter(|triple| !typed.contains(&triple.object))
            {
                let is_of_store =
                    self.is_of_store(node, self.graph().term(triple.predicate).text());
                if is_of_store || !self.is_followed(triple.predicate, triple.object) {
                    if self.is_named_only(triple.predicate, triple.object) {
                        self.named_only
                            .entry(triple.object)
                            .or_insert(triple.predicate);
                    }
                    let is_triple_term =
                        matches!(self.graph().term(triple.object), TermRef::Triple(_));
                    self.triple_terms += usize::from(is_triple_term);
                    if is_triple_term {
                        self.name_property(triple.predicate);
                    }
                    continue;
                }
                let via = self.via.entry(triple.object).or_insert(triple.predicate);
                // The smallest property, so that the name of a part does not depend on the order of the links.
                *via = triple.predicate.min(*via);
                match known.entry(triple.object) {
                    Entry::Occupied(_) => {}
                    Entry::Vacant(_)
                        if depth > MAX_DESCRIPTION_STEPS || statements > MAX_STATEMENTS =>
                    {
                        self.omitted += 1;
                        self.name_property(triple.predicate);
                    }
                    Entry::Vacant(place) => {
                        place.insert(depth);
                        self.nodes.push(triple.object);
                    }
                }
            }
        }
        self.named_only
            .retain(|node, _| !known.contains_key(node) && !typed.contains(node));
        for property in self.named_only.values().copied().collect::<Vec<_>>() {
            self.name_property(property);
        }
    }

    /// If true, the catalogue describes the object, but the property only names it. Its statements are left out, unless another
    /// property leads to it.
    fn is_named_only(&self, predicate: TermId, object: TermId) -> bool {
        let TermRef::Iri(_) = self.graph().term(object) else {
            return false;
        };
        let predicate = self.graph().term(predicate).text();
        let is_member = MEMBERSHIP.contains(&predicate) || self.index.entries.contains(&object);
        !self.reader.is_stored() && !is_member && self.is_described(object)
    }

    /// Returns a message about the resources that are only named.
    fn named_only_problem(&self) -> Option<String> {
        let mut iris: Vec<&str> = self
            .named_only
            .keys()
            .map(|node| self.graph().term(*node).text())
            .collect();
        iris.sort_unstable();
        let number = iris.len();
        iris.retain(|iri| iri.len() <= MAX_NAMED_IRI_BYTES);
        iris.truncate(MAX_NAMED_RESOURCES);
        let named: Vec<String> = iris.iter().map(|iri| format!("<{iri}>")).collect();
        let resources = match number {
            0 => return None,
            1 => "a resource that is".to_owned(),
            _ => format!("{number} resources that are"),
        };
        Some(format!(
            "the statements about {resources} only named were left out: {}",
            named.join(" ")
        ))
    }

    /// Notes the property of a value that is left out.
    fn name_property(&mut self, property: TermId) {
        let name = local_name(self.graph().term(property).text());
        if self.properties.len() < MAX_NAMED_PROPERTIES && name.len() <= MAX_PROPERTY_CHARS {
            self.properties.insert(name);
        }
    }

    /// If true, the statements about the object belong to the description.
    fn is_followed(&self, predicate: TermId, object: TermId) -> bool {
        let graph = self.graph();
        let predicate = graph.term(predicate).text();
        if !graph.is_resource(object)
            || MEMBERSHIP.contains(&predicate)
            || self.is_internal(predicate)
        {
            return false;
        }
        match graph.term(object) {
            TermRef::Iri(iri) if self.reader.part(iri).is_some() => true,
            TermRef::Iri(iri) if self.reader.is_of_home(iri) => false,
            TermRef::Iri(_) => {
                let names = [rdf::TYPE, owl::SAME_AS].contains(&predicate)
                    || ADDRESSES.contains(&predicate)
                    || predicate.starts_with(skos::NAMESPACE);
                !names && !self.index.entries.contains(&object) && self.is_described(object)
            }
            _ => !self.index.is_unnamed_entry(object),
        }
    }

    /// If true, there are statements about a node. A relative reference of which the class is stated only is a text, unless it
    /// is a fragment: `#me` is a node of its document.
    fn is_described(&self, node: TermId) -> bool {
        let triples = self.graph().subject_triples(node);
        let iri = self.graph().term(node).text();
        if !is_relative(iri) || iri.contains('#') {
            return !triples.is_empty();
        }
        let kind = self.graph().iri(rdf::TYPE);
        // The triples of a subject are sorted by predicate.
        [triples.first(), triples.last()]
            .into_iter()
            .flatten()
            .any(|triple| Some(triple.predicate) != kind)
    }

    /// If true, the property is for internal use of the store.
    fn is_internal(&self, predicate: &str) -> bool {
        predicate.starts_with(lodeseek::NAMESPACE) && !ACCEPTED_TERMS.contains(&predicate)
    }

    /// If true, the store makes such a statement about the node itself.
    fn is_of_store(&self, node: TermId, predicate: &str) -> bool {
        self.is_internal(predicate) || predicate == sd::NAMED_GRAPH && node == self.reader.node
    }

    /// Computes the colour of every node by colour refinement. It starts from the IRIs and literals of a node. In each
    /// round the colours of its blank nodes are added.
    fn color(&mut self) {
        let mut initial: FxHashMap<TermId, Color> = FxHashMap::default();
        let mut nested: Vec<(TermId, Vec<(TermId, TermId)>)> = Vec::new();
        for &node in &self.nodes {
            initial.insert(node, self.initial_color(node));
            if self.is_inner_blank(node) {
                let objects = self.blank_objects(node);
                if !objects.is_empty() {
                    nested.push((node, objects));
                }
            }
        }
        let mut colors = initial.clone();
        let rounds = if nested.is_empty() {
            0
        } else {
            // A chain of blank nodes has at most as many steps: their colours are final then.
            MAX_DESCRIPTION_STEPS
        };
        for _ in 0..rounds {
            let mut next: Vec<(TermId, Color)> = Vec::new();
            for (node, objects) in &nested {
                // From the initial colour: after a round, a colour depends on the content up to as many steps, and on nothing
                // else.
                next.push((*node, self.refined_color(&initial[node], objects, &colors)));
            }
            colors.extend(next);
        }
        self.colors = colors;
    }

    /// If true, the node is a blank node other than the dataset's.
    fn is_inner_blank(&self, node: TermId) -> bool {
        matches!(self.graph().term(node), TermRef::Blank(_)) && node != self.reader.node
    }

    /// Returns the (property, object) of a node whose objects are blank nodes.
    fn blank_objects(&self, node: TermId) -> Vec<(TermId, TermId)> {
        let triples = self
            .index
            .triples(node)
            .iter()
            .filter(|triple| self.is_inner_blank(triple.object));
        triples
            .map(|triple| (triple.predicate, triple.object))
            .collect()
    }

    /// Returns the colour of a node from its initial colour and the current colours of its blank nodes.
    fn refined_color(
        &self,
        initial: &Color,
        objects: &[(TermId, TermId)],
        colors: &FxHashMap<TermId, Color>,
    ) -> Color {
        let mut neighbours: Vec<Vec<u8>> = Vec::with_capacity(objects.len());
        for (predicate, object) in objects {
            let color = colors.get(object).copied().unwrap_or_default();
            neighbours.push([self.graph().term(*predicate).text().as_bytes(), &color].concat());
        }
        // The order of blank nodes depends on their labels.
        neighbours.sort_unstable();
        hash_values(std::iter::once(&initial[..]).chain(neighbours.iter().map(Vec::as_slice)))
    }

    fn initial_color(&self, node: TermId) -> Color {
        let graph = self.graph();
        if let TermRef::Iri(iri) = graph.term(node) {
            return hash_values([color_text(iri).as_bytes()]);
        }
        let triples = self.index.triples(node).iter();
        let mut lines: Vec<String> = triples
            .filter(|triple| !matches!(graph.term(triple.object), TermRef::Blank(_)))
            .map(|triple| {
                let object = match graph.term(triple.object) {
                    TermRef::Iri(iri) => format!("<{}>", color_text(iri)),
                    _ => graph.to_term(triple.object).to_string(),
                };
                format!("{} {object}", graph.term(triple.predicate).text())
            })
            .collect();
        lines.sort_unstable();
        hash_values(lines.iter().map(String::as_bytes))
    }

    /// Returns the sort key of a node: its IRI, else its colour. Parts of a stored description keep their names.
    pub(super) fn order(&self, node: TermId) -> (bool, usize, String) {
        match self.graph().term(node) {
            TermRef::Iri(iri) => match self.reader.part(iri) {
                Some(part) => (false, part.len(), part.to_owned()),
                None => (false, 0, iri.to_owned()),
            },
            _ => (
                true,
                0,
                self.colors
                    .get(&node)
                    .map(|color| format_hex(color))
                    .unwrap_or_default(),
            ),
        }
    }

    /// If true, both are blank nodes with the same content, thus one part.
    pub(super) fn is_same(&self, one: TermId, other: TermId) -> bool {
        let graph = self.graph();
        matches!(graph.term(one), TermRef::Blank(_))
            && matches!(graph.term(other), TermRef::Blank(_))
            && self.colors.get(&one) == self.colors.get(&other)
    }

    /// Returns the name of a node in the statements: its IRI, or a part if it has none on the web.
    fn name(&self, node: TermId) -> Option<Node> {
        if let TermRef::Iri(iri) = self.graph().term(node) {
            if let Some(part) = self.reader.part(iri) {
                return Some(Node::Part(part.to_owned()));
            }
            if self.reader.file(iri).is_none() {
                return Some(Node::Iri(iri.to_owned()));
            }
        }
        let via = match self.linked_via.get(&node) {
            Some(property) => local_name(property),
            None => local_name(self.graph().term(*self.via.get(&node)?).text()),
        };
        let kind: String = via
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(MAX_PROPERTY_CHARS)
            .collect();
        Some(Node::Part(part_name(
            &kind,
            &[&format_hex(self.colors.get(&node)?)],
        )))
    }
}

/// Returns the bounding box of a geometry in Well-known Text or GeoJSON, in Well-known Text.
fn bounding_box(term: TermRef<'_>) -> Option<Literal> {
    let TermRef::Literal { lexical, .. } = term else {
        return None;
    };
    let bounds = box_of_wkt(lexical).or_else(|| box_of_geojson(lexical))?;
    Some(Literal::new_typed_literal(
        bounds.to_wkt(),
        NamedNode::new_unchecked(geosparql::WKT_LITERAL),
    ))
}

/// Returns the text of an IRI from which colours are derived. For relative references it has the placeholder of earlier versions, so
/// that parts keep their names.
fn color_text(iri: &str) -> Cow<'_, str> {
    match iri.strip_prefix(FOLDER) {
        Some(path) => Cow::Owned(format!("file:///catalog-folder/{path}")),
        None => Cow::Borrowed(iri),
    }
}

/// Nodes of the typed fields, with their names in the statements.
#[derive(Default)]
pub(super) struct TypedNodes {
    pub(super) nodes: FxHashMap<TermId, Node>,
    /// Agents. An agent may be a literal.
    pub(super) agents: FxHashMap<TermId, Agent>,
}

/// Statements of a description that the typed fields do not cover.
pub(super) struct ExtraStatements<'g> {
    description: BoundedDescription<'g>,
    names: FxHashMap<TermId, Node>,
    agents: FxHashMap<TermId, Agent>,
    out: Vec<Statement>,
    /// Number of statements whose text or IRI is too long.
    long_texts: usize,
    /// Number of geometries that are too large, so that the description has their bounding boxes.
    large_geometries: usize,
    /// Number of statements with terms that are reserved for the store.
    reserved: usize,
    /// Number of addresses in literals that became IRIs by percent-encoding.
    repaired_addresses: usize,
    /// Properties of the statements that were left out or changed.
    properties: BTreeSet<String>,
}

impl<'g> ExtraStatements<'g> {
    pub(super) fn new(description: BoundedDescription<'g>, named: TypedNodes) -> Self {
        let mut names = FxHashMap::default();
        for &node in &description.nodes {
            names.extend(description.name(node).map(|name| (node, name)));
        }
        names.extend(named.nodes);
        names.extend(
            named
                .agents
                .iter()
                .map(|(&node, agent)| (node, typed_fields::agent_node(agent))),
        );
        names.insert(description.reader.node, Node::Dataset);
        let (out, properties) = (Vec::new(), BTreeSet::new());
        let agents = named.agents;
        Self {
            description,
            names,
            agents,
            out,
            long_texts: 0,
            large_geometries: 0,
            reserved: 0,
            repaired_addresses: 0,
            properties,
        }
    }

    /// Returns the statements, and a message if nodes, long texts or triple terms were left out.
    pub(super) fn collect(mut self, dataset: &Dataset) -> (Vec<Statement>, Option<String>) {
        let typed: FxHashSet<Statement> = typed_fields::statements(dataset, &|_| true)
            .into_iter()
            .collect();
        for (property, node) in self.description.links() {
            let node = self.names[node].clone();
            if *property == lodeseek::SERVED_BY {
                let service = node.clone();
                self.out
                    .push(Statement::new(service, dcat::SERVES_DATASET, Node::Dataset));
            }
            self.out.push(Statement::new(Node::Dataset, property, node));
        }
        for place in 0..self.description.nodes.len() {
            self.add_node(self.description.nodes[place]);
        }
        let mut seen = FxHashSet::default();
        let concept_labels = typed_fields::concept_labels(&self.out);
        // The typed field may have the text of a node, which would not state another licence again.
        let has_license_node = self
            .out
            .iter()
            .any(|one| is_license(one) && matches!(one.object, Value::Node(Node::Part(_))));
        // Without a statement of its own, the typed fields would take such a value for that of the other property.
        let rights: FxHashSet<Value> = self
            .out
            .iter()
            .filter(|one| one.subject == Node::Dataset && one.predicate == dcterms::RIGHTS)
            .map(|one| one.object.clone())
            .collect();
        let has_other_identifier = self
            .out
            .iter()
            .any(|one| is_identifier(one) && !typed.contains(one));
        self.out.retain(|statement| {
            let is_kept = !typed.contains(statement)
                || is_keyword_among(statement, &concept_labels)
                || has_license_node && is_license(statement)
                || is_license(statement) && rights.contains(&statement.object)
                || has_other_identifier && is_identifier(statement);
            is_kept && seen.insert(statement.clone())
        });
        self.omit_names_without_description(dataset, &typed);
        let id = &dataset.metadata.id;
        let (aside, triple_terms) = (self.description.omitted, self.description.triple_terms);
        let mut problems = Vec::new();
        if aside > 0 {
            problems.push(format!("{aside} nodes of the description exceed the limits ({MAX_DESCRIPTION_STEPS} steps, {MAX_STATEMENTS} statements) and were left out"));
        }
        if self.long_texts > 0 {
            let number = self.long_texts;
            problems.push(format!(
                "{number} texts or IRIs of more than {MAX_TEXT_BYTES} bytes were left out of the description"
            ));
        }
        if self.large_geometries > 0 {
            let number = self.large_geometries;
            problems.push(format!(
                "{number} geometries of more than {MAX_TEXT_BYTES} bytes were replaced by their bounding boxes"
            ));
        }
        if triple_terms > 0 {
            problems.push(format!(
                "{triple_terms} statements with triple terms were left out of the description; state them in the dataset's dump"
            ));
        }
        if self.reserved > 0 {
            problems.push(format!(
                "{} statements with terms of the store were left out",
                self.reserved
            ));
        }
        if self.repaired_addresses > 0 {
            problems.push(format!(
                "{} addresses with characters that an IRI cannot contain were percent-encoded",
                self.repaired_addresses
            ));
        }
        problems.extend(self.description.named_only_problem());
        let mut covered = self.description.index.covered.borrow_mut();
        covered.extend(&self.description.nodes);
        covered.extend(self.names.keys());
        covered.extend(self.description.named_only.keys());
        drop(covered);
        let mut properties = Vec::from_iter(self.properties);
        properties.extend(
            self.description
                .properties
                .iter()
                .map(|name| (*name).to_owned()),
        );
        properties.sort();
        properties.dedup();
        let properties: Vec<String> = properties.iter().map(|name| format!("`{name}`")).collect();
        let problem = (!problems.is_empty()).then(|| {
            format!(
                "dataset {id}: {} (properties: {})",
                problems.join("; "),
                properties.join(" ")
            )
        });
        (self.out, problem)
    }

    /// Omits the name of an agent of which nothing else is stated: the typed fields have it.
    fn omit_names_without_description(&mut self, dataset: &Dataset, typed: &FxHashSet<Statement>) {
        let mut names: FxHashSet<Statement> = typed_fields::statements(dataset, &|_| false)
            .into_iter()
            .collect();
        names.retain(|statement| !typed.contains(statement));
        let mut counts: FxHashMap<&Node, usize> = FxHashMap::default();
        for statement in &self.out {
            *counts.entry(&statement.subject).or_default() += 1;
        }
        let named = names
            .into_iter()
            .filter(|name| counts.get(&name.subject) == Some(&1));
        let omitted: FxHashSet<Statement> = named.collect();
        self.out.retain(|statement| !omitted.contains(statement));
    }

    /// Notes the property of a statement that is left out or changed.
    fn name_property(&mut self, property: &str) {
        if self.properties.len() < MAX_NAMED_PROPERTIES {
            self.properties.insert(
                local_name(property)
                    .chars()
                    .take(MAX_PROPERTY_CHARS)
                    .collect(),
            );
        }
    }

    fn add_node(&mut self, node: TermId) {
        let Some(subject) = self.names.get(&node).cloned() else {
            return;
        };
        let graph = self.description.graph();
        if let (Node::Part(_), TermRef::Iri(iri)) = (&subject, graph.term(node))
            && self.description.reader.part(iri).is_none()
            && self.description.reader.file(iri).is_none()
        {
            self.out.push(Statement::new(
                subject.clone(),
                owl::SAME_AS,
                Node::Iri(iri.to_owned()),
            ));
        }
        let index = self.description.index;
        for triple in index.triples(node) {
            let predicate = graph.term(triple.predicate).text();
            if self.description.is_of_store(node, predicate)
                || self.is_internal_class(triple.object)
            {
                if !self.description.reader.is_stored() {
                    self.reserved += 1;
                    self.name_property(predicate);
                }
                continue;
            }
            if !is_short(graph, triple.object) {
                self.name_property(predicate);
                match bounding_box(graph.term(triple.object)) {
                    Some(wkt) => {
                        self.large_geometries += 1;
                        self.out
                            .push(Statement::new(subject.clone(), predicate, wkt));
                    }
                    None => self.long_texts += 1,
                }
                continue;
            }
            self.note_repair(predicate, triple.object);
            self.add_parameters(&subject, predicate, triple.object);
            if subject == Node::Dataset {
                self.add_dataset_statement(predicate, triple.object);
            } else if let Some(object) = self.value(predicate, triple.object) {
                if predicate == owl::SAME_AS && object == subject.clone().into() {
                    continue; // a part of a home of an earlier version, whose resource is the subject now
                }
                let inside = !matches!(object, Value::Node(Node::Iri(_)));
                if inside && predicate != dcat::HAS_DATASET || !MEMBERSHIP.contains(&predicate) {
                    self.out
                        .push(Statement::new(subject.clone(), predicate, object));
                }
            }
        }
    }

    /// Counts an address that becomes an IRI by percent-encoding.
    fn note_repair(&mut self, predicate: &str, object: TermId) {
        if let TermRef::Literal { lexical, .. } = self.description.graph().term(object)
            && ADDRESSES.contains(&predicate)
            && typed_fields::repaired_address(lexical.trim()).is_some()
        {
            self.repaired_addresses += 1;
            self.name_property(predicate);
        }
    }

    /// Adds the text of a media type with parameters as a format: the IRI of the type has none.
    fn add_parameters(&mut self, subject: &Node, predicate: &str, object: TermId) {
        let TermRef::Literal { lexical, .. } = self.description.graph().term(object) else {
            return;
        };
        let text = lexical.trim();
        if predicate == dcat::MEDIA_TYPE
            && text.contains(';')
            && typed_fields::is_media_type(typed_fields::media_type_name(text))
        {
            let text = Literal::from(text);
            self.out
                .push(Statement::new(subject.clone(), dcterms::FORMAT, text));
        }
    }

    fn is_internal_class(&self, object: TermId) -> bool {
        matches!(self.description.graph().term(object), TermRef::Iri(iri) if iri.starts_with(lodeseek::NAMESPACE))
    }

    fn add_dataset_statement(&mut self, predicate: &str, object: TermId) {
        let graph = self.description.graph();
        let stored = self.description.reader.is_stored();
        match predicate {
            // In homes of earlier versions, `dct:source` is the dataset's IRI in its catalogue.
            dcterms::SOURCE if self.description.reader.is_of_earlier_version() => {}
            _ => {
                if AGENTS.contains(&predicate)
                    && graph.is_literal(object)
                    && self.add_literal_agent(predicate, object)
                {
                    return;
                }
                let Some(value) = self.value(predicate, object) else {
                    return;
                };
                let value = match value {
                    // The IRI of the dataset is here another one than in its catalogue.
                    Value::Node(Node::Dataset) if predicate == dcterms::IDENTIFIER => {
                        let iri = graph.term(object).text();
                        let datatype = NamedNode::new_unchecked(typed_fields::ANY_URI);
                        Literal::new_typed_literal(iri, datatype).into()
                    }
                    value => normalize_value(predicate, trim_value(value)),
                };
                if matches!(&value, Value::Literal(text) if text.value().is_empty())
                    && predicate == dcterms::IDENTIFIER
                {
                    return;
                }
                if STATED.contains(&predicate) && !stored {
                    let stated = Node::Part("stated".to_owned());
                    self.out.push(Statement::new(
                        Node::Dataset,
                        lodeseek::STATED,
                        stated.clone(),
                    ));
                    self.out.push(Statement::new(
                        stated.clone(),
                        rdf::TYPE,
                        Node::Iri(void::DATASET.to_owned()),
                    ));
                    self.out.push(Statement::new(stated, predicate, value));
                } else {
                    self.out
                        .push(Statement::new(Node::Dataset, predicate, value));
                }
            }
        }
    }

    /// Adds an agent that is a literal.
    fn add_literal_agent(&mut self, predicate: &str, object: TermId) -> bool {
        let Some(agent) = self.agents.get(&object) else {
            return false;
        };
        let part = typed_fields::agent_node(agent);
        self.out
            .push(Statement::new(Node::Dataset, predicate, part.clone()));
        if let Term::Literal(name) = self.description.graph().to_term(object)
            && name.language().is_some()
        {
            self.out
                .push(Statement::new(part, foaf::NAME, trimmed_literal(&name)));
        }
        true
    }

    fn value(&self, predicate: &str, object: TermId) -> Option<Value> {
        let term = self.description.graph().term(object);
        let is_place = ADDRESSES.contains(&predicate);
        let is_address = is_place && matches!(term, TermRef::Iri(_));
        if let Some(node) = self
            .names
            .get(&object)
            .filter(|_| !term.is_literal() && !is_address)
        {
            return Some(node.clone().into());
        }
        Some(match term {
            TermRef::Blank(label) if self.description.index.is_unnamed_entry(object) => {
                reference_node(label).into()
            }
            TermRef::Blank(_) => return None, // too far off, which is reported
            TermRef::Triple(_) => return None, // reported with the description
            TermRef::Iri(iri) => match self.description.reader.file(iri) {
                Some(path) => Literal::from(path).into(),
                None if predicate == dcat::MEDIA_TYPE && !typed_fields::is_media_type_iri(iri) => {
                    media_type(iri)
                }
                None => Node::Iri(iri.to_owned()).into(),
            },
            TermRef::Literal { lexical, .. } if is_place => {
                let text = lexical.trim();
                match typed_fields::repaired_address(text) {
                    Some(iri) => Node::Iri(iri).into(),
                    None => iri_or_literal(text),
                }
            }
            TermRef::Literal { lexical, .. } if predicate == dcat::MEDIA_TYPE => {
                media_type(lexical.trim())
            }
            TermRef::Literal { .. } => match self.description.graph().to_term(object) {
                Term::Literal(literal) => literal.into(),
                _ => return None,
            },
        })
    }
}

/// Trims white space, as in the typed fields.
fn trim_value(value: Value) -> Value {
    match value {
        Value::Literal(literal) if literal.value().trim() != literal.value() => {
            trimmed_literal(&literal).into()
        }
        value => value,
    }
}

fn trimmed_literal(literal: &Literal) -> Literal {
    let text = literal.value().trim();
    match (literal.language(), literal.direction()) {
        (Some(tag), None) => Literal::new_language_tagged_literal_unchecked(text, tag),
        (Some(tag), Some(direction)) => {
            Literal::new_directional_language_tagged_literal_unchecked(text, tag, direction)
        }
        (None, _) => Literal::new_typed_literal(text, literal.datatype()),
    }
}

/// If true, the statement is on a licence of the dataset.
fn is_license(statement: &Statement) -> bool {
    statement.subject == Node::Dataset && statement.predicate == dcterms::LICENSE
}

/// If true, the statement is on a keyword that is one of the labels.
fn is_keyword_among(statement: &Statement, labels: &FxHashSet<Literal>) -> bool {
    statement.predicate == dcat::KEYWORD
        && matches!(&statement.object, Value::Literal(keyword) if labels.contains(keyword))
}

/// If true, the statement is on an identifier of the dataset.
fn is_identifier(statement: &Statement) -> bool {
    statement.subject == Node::Dataset && statement.predicate == dcterms::IDENTIFIER
}

/// Normalises texts that are dates or addresses as the typed fields do. A declared datatype is kept.
fn normalize_value(predicate: &str, value: Value) -> Value {
    match (predicate, value) {
        (dcterms::ISSUED | dcterms::MODIFIED, Value::Literal(literal))
            if literal.language().is_none() && literal.datatype() == xsd::STRING =>
        {
            date_literal(literal.value()).into()
        }
        (dcterms::LICENSE | dcat::LANDING_PAGE, Value::Literal(literal))
            if literal.language().is_none() =>
        {
            iri_or_literal(literal.value())
        }
        (_, value) => value,
    }
}

fn media_type(text: &str) -> Value {
    let name = typed_fields::media_type_name(text);
    if typed_fields::is_media_type(name) {
        typed_fields::media_type_iri(name)
    } else {
        iri_or_literal(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;

    /// If each service searched all links, the work would be quadratic.
    #[test]
    fn many_services_are_parts_of_a_description() {
        let dataset = NamedNode::new_unchecked("http://e.org/set");
        let mut builder = TripleGraphBuilder::new();
        for number in 0..50_000 {
            let service = NamedNode::new_unchecked(format!("http://e.org/service/{number}"));
            let property = NamedNode::new_unchecked(dcat::SERVES_DATASET);
            builder.insert(oxrdf::Triple::new(service, property, dataset.clone()).as_ref());
        }
        let graph = builder.finish();
        let node = graph.iri(dataset.as_str()).expect("served");
        let index = CatalogIndex::new(&graph, FxHashSet::from_iter([node]));
        let reader = NodeReader {
            graph: &graph,
            node,
            dataset_iri: None,
        };
        let description = BoundedDescription::new(reader, &index, &FxHashSet::default());
        let statements = ExtraStatements::new(description, TypedNodes::default());
        let is_service = |node: &Node| matches!(node, Node::Iri(iri) if iri.starts_with("http://e.org/service/"));
        assert_eq!(
            statements
                .names
                .values()
                .filter(|node| is_service(node))
                .count(),
            50_000
        );
    }

    #[test]
    fn a_change_of_one_dataset_changes_no_description_of_another() {
        let catalog = |modified: &str, items: u32| {
            let turtle = format!(
                "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . \
                 @prefix hydra: <http://www.w3.org/ns/hydra/core#> . \
                 <http://e.org/> a dcat:Catalog ; dct:title \"Portal\" ; dct:modified \"{modified}\" ; hydra:totalItems {items} ; \
                 hydra:view <http://e.org/?page=1> ; dcat:dataset <http://e.org/set> . \
                 <http://e.org/?page=1> a hydra:PartialCollectionView ; hydra:last <http://e.org/?page={items}> . \
                 <http://e.org/set> a dcat:Dataset ; dct:title \"Trees\" ; dct:modified \"2020-01-01\" ."
            );
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("catalog.ttl");
            std::fs::write(&file, turtle).expect("written");
            let catalog = crate::Catalog::read(&file).expect("a catalogue");
            assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
            catalog.datasets
        };
        let datasets = catalog("2026-01-01", 1);
        assert_eq!(datasets, catalog("2026-01-02", 2));
        let statements = format!("{:?}", datasets[0].extra_statements);
        assert!(statements.contains("Portal"), "{statements}");
    }
}
