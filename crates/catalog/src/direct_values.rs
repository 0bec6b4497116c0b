//! Values behind lists, containers, roles and relative references.
//!
//! Catalogues put other nodes between a property and its values: RDF lists (`@list` in JSON-LD), RDF containers, roles and
//! lists of items in schema.org. Here each property leads to its values, as all readers expect. The order of authors is kept
//! by `bibo:authorList`, and a role by `prov:qualifiedAttribution`.
//!
//! A file on this machine has no address, so a relative reference in it denotes a node of the same file, or else nothing but
//! its text. References to nodes that the file does not describe become literals.

use super::node_reader::{is_relative, relative_reference};
use super::schema_org::{self, AGENT_PROPERTIES};
use lodeseek_rdf::vocab::{
    bibo, dc11, dcat, dcatap, dcatus, dcterms, dpv, foaf, geodcatap, healthdcatap, locn, org, prov,
    rdf, schema, skos, vcard, void,
};
use lodeseek_rdf::{
    LiteralKind, TermId, TermRef, Triple, TripleGraph, TripleGraphBuilder, local_name,
};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Namespaces of the properties behind which lists and containers are looked through. Elsewhere, as in OWL and SHACL, a list
/// is a value of its own.
const NAMESPACES: &[&str] = &[
    dcterms::NAMESPACE,
    dc11::NAMESPACE,
    dcat::NAMESPACE,
    foaf::NAMESPACE,
    void::NAMESPACE,
    "http://www.w3.org/ns/adms#",
    vcard::NAMESPACE,
    locn::NAMESPACE,
    prov::NAMESPACE,
    org::NAMESPACE,
    dcatap::NAMESPACE,
    dcatus::NAMESPACE,
    geodcatap::NAMESPACE,
    healthdcatap::NAMESPACE,
    dpv::NAMESPACE,
    "http://creativecommons.org/ns#",
];
/// Properties of schema.org whose lists are no values of a dataset.
const STRUCTURES: &[&str] = &["breadcrumb", "itemListElement", "item"];
/// Namespace of the properties of members of RDF containers: a number follows.
const MEMBER: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#_";
/// Classes of schema.org that stand between a property and its value.
const WRAPPERS: &[(&str, Wrapper)] = &[
    ("Role", Wrapper::Role),
    ("OrganizationRole", Wrapper::Role),
    ("EmployeeRole", Wrapper::Role),
    ("PerformanceRole", Wrapper::Role),
    ("LinkRole", Wrapper::Role),
    ("ItemList", Wrapper::ItemList),
    ("ListItem", Wrapper::ListItem),
];
/// Properties for which the address of the document itself is no value: an empty reference means nothing.
const VALUE_PROPERTIES: &[&str] = &[
    "accessRights",
    "accrualPeriodicity",
    "additionalType",
    "author",
    "conformsTo",
    "contributor",
    "creator",
    "encodingFormat",
    "fileFormat",
    "format",
    "identifier",
    "inLanguage",
    "keyword",
    "keywords",
    "landingPage",
    "language",
    "license",
    "mediaType",
    "publisher",
    "rights",
    "spatial",
    "spatialCoverage",
    "subject",
    "temporal",
    "temporalCoverage",
    "theme",
    "type",
];

/// Maximum number of classes of a node that are read.
const MAX_CLASSES: usize = 50;

/// Kind of a node of schema.org between a property and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Role,
    ItemList,
    ListItem,
}

/// Returns the graph of a document with direct values; `None` if it has none other. `base` is the address of the document.
pub(super) fn with_direct_values(graph: &TripleGraph, base: &str) -> Option<TripleGraph> {
    let rewriter = Rewriter::new(graph, base);
    rewriter.is_needed().then(|| rewriter.rewrite())
}

/// Values behind an object.
#[derive(Default)]
struct Values {
    values: Vec<TermId>,
    roles: Vec<TermId>,
    is_ordered: bool,
}

/// Nodes to which a list, container, list of items or role leads.
struct Members {
    values: Vec<TermId>,
    /// Number of statements that were read to find them.
    cost: usize,
    is_of_role: bool,
}

impl Members {
    fn new(values: Vec<TermId>) -> Self {
        Self {
            cost: values.len(),
            values,
            is_of_role: false,
        }
    }
}

struct Rewriter<'g> {
    graph: &'g TripleGraph,
    base: &'g str,
    rdf_type: Option<TermId>,
    first: Option<TermId>,
    rest: Option<TermId>,
    nil: Option<TermId>,
    /// The properties `schema:position`.
    positions: [Option<TermId>; 2],
    wrappers: FxHashMap<TermId, Wrapper>,
    /// Properties of members of containers, with their numbers. They follow each other in the order of terms.
    members: FxHashMap<TermId, u32>,
    /// First and last of the properties of members.
    member_range: Option<(TermId, TermId)>,
    has_relative: bool,
    /// Number of nodes that may still be looked through: several values may share a long list.
    budget: usize,
    /// Nodes that were looked through.
    consumed: FxHashSet<TermId>,
    /// Roles with the property behind which they stand.
    roles: FxHashMap<TermId, TermId>,
    out: TripleGraphBuilder,
    blanks: usize,
}

impl<'g> Rewriter<'g> {
    fn new(graph: &'g TripleGraph, base: &'g str) -> Self {
        let mut wrappers = FxHashMap::default();
        for (name, wrapper) in WRAPPERS {
            for namespace in ["https://schema.org/", "http://schema.org/"] {
                wrappers.extend(
                    graph
                        .iri(&format!("{namespace}{name}"))
                        .map(|class| (class, *wrapper)),
                );
            }
        }
        let mut members = FxHashMap::default();
        let mut member_range: Option<(TermId, TermId)> = None;
        let mut has_relative = graph
            .literals()
            .any(|literal| has_relative_datatype(graph.term(literal)));
        for id in graph.iris() {
            let iri = graph.term(id).text();
            has_relative |= is_relative(iri);
            if let Some(number) = iri
                .strip_prefix(MEMBER)
                .and_then(|number| number.parse().ok())
            {
                members.insert(id, number);
                let first = match member_range {
                    Some((first, _)) => first,
                    None => id,
                };
                member_range = Some((first, id));
            }
        }
        Self {
            graph,
            base,
            rdf_type: graph.iri(rdf::TYPE),
            first: graph.iri(rdf::FIRST),
            rest: graph.iri(rdf::REST),
            nil: graph.iri(rdf::NIL),
            positions: ["https://schema.org/position", "http://schema.org/position"]
                .map(|iri| graph.iri(iri)),
            wrappers,
            members,
            member_range,
            has_relative,
            budget: 2 * graph.len() + 1000,
            consumed: FxHashSet::default(),
            roles: FxHashMap::default(),
            out: TripleGraphBuilder::new(),
            blanks: 0,
        }
    }

    fn is_needed(&self) -> bool {
        let has_lists = self.first.is_some() || self.nil.is_some() || !self.members.is_empty();
        let is_referred = self
            .graph
            .iri(self.base)
            .is_some_and(|document| !self.is_described(document));
        has_lists || !self.wrappers.is_empty() || self.has_relative || is_referred
    }

    fn rewrite(mut self) -> TripleGraph {
        let graph = self.graph;
        let triples = graph.triples();
        let mut found: FxHashMap<usize, Values> = FxHashMap::default();
        for (place, triple) in triples.iter().enumerate() {
            if graph.is_resource(triple.object) && self.is_looked_through(triple.predicate) {
                found.extend(self.values(triple).map(|values| (place, values)));
            }
        }
        let kept = self.kept_nodes(&found);
        let mut place = 0;
        while let Some(triple) = triples.get(place) {
            let rest = &triples[place..];
            let group = rest.partition_point(|one| {
                (one.subject, one.predicate) <= (triple.subject, triple.predicate)
            });
            if !self.consumed.contains(&triple.subject) || kept.contains(&triple.subject) {
                self.add_group(place..place + group, &found);
            }
            place += group;
        }
        self.out.finish()
    }

    fn is_looked_through(&self, predicate: TermId) -> bool {
        let term = self.graph.term(predicate);
        match schema_org::local_name(term) {
            Some(name) => !STRUCTURES.contains(&name),
            None => NAMESPACES
                .iter()
                .any(|namespace| term.text().starts_with(namespace)),
        }
    }

    /// Returns the values behind the object of a triple; `None` if the object is the value.
    fn values(&mut self, triple: &Triple) -> Option<Values> {
        if self.budget == 0 || !self.is_between(triple.object) {
            return None;
        }
        let (mut found, mut seen) = (Values::default(), FxHashSet::default());
        let mut waiting = vec![triple.object];
        while let Some(node) = waiting.pop() {
            self.budget = self.budget.saturating_sub(1);
            match self.members_of(triple.predicate, node) {
                None if node == triple.object => return None,
                None => found.values.push(node),
                Some(members) if seen.insert(node) => {
                    self.budget = self.budget.saturating_sub(members.cost);
                    if members.is_of_role {
                        found.roles.push(node);
                    }
                    found.is_ordered |= !members.is_of_role;
                    waiting.extend(members.values.into_iter().rev());
                }
                Some(_) => {}
            }
            if self.budget == 0 {
                return None;
            }
        }
        for role in &found.roles {
            seen.remove(role);
            self.roles.insert(*role, triple.predicate);
        }
        for node in seen {
            self.consume(node);
        }
        Some(found)
    }

    /// If true, the node may stand between a property and its values.
    fn is_between(&self, node: TermId) -> bool {
        Some(node) == self.nil
            || self.object(node, self.first).is_some()
            || !self.container_members(node).is_empty()
            || self.wrapper(node).is_some()
    }

    /// Marks a node that was looked through, with the further cells of a list.
    fn consume(&mut self, node: TermId) {
        let mut cell = Some(node).filter(|node| Some(*node) != self.nil);
        while let Some(node) = cell.filter(|node| self.consumed.insert(*node)) {
            cell = self
                .object(node, self.rest)
                .filter(|next| self.object(*next, self.first).is_some());
        }
    }

    /// Returns the members of a list, container, list of items or role; `None` for another node.
    fn members_of(&self, property: TermId, node: TermId) -> Option<Members> {
        if Some(node) == self.nil {
            return Some(Members::new(Vec::new()));
        }
        if !self.graph.is_resource(node) {
            return None;
        }
        if self.object(node, self.first).is_some() {
            return Some(Members::new(self.list(node)));
        }
        let container = self.container_members(node);
        if !container.is_empty() {
            let members = container
                .iter()
                .map(|one| (self.members.get(&one.predicate), one.object));
            let mut members: Vec<(Option<&u32>, TermId)> = members.collect();
            members.sort_unstable();
            return Some(Members::new(
                members.into_iter().map(|(_, member)| member).collect(),
            ));
        }
        let wrapper = self.wrapper(node)?;
        let triples = self.graph.subject_triples(node);
        let values = match wrapper {
            Wrapper::Role => self.role_values(property, triples),
            Wrapper::ItemList => self.in_position(self.schema_values(triples, "itemListElement")),
            Wrapper::ListItem => self.schema_values(triples, "item"),
        };
        let members = Members {
            values,
            cost: triples.len(),
            is_of_role: wrapper == Wrapper::Role,
        };
        (!members.values.is_empty()).then_some(members)
    }

    /// Returns the statements about the members of an RDF container.
    fn container_members(&self, node: TermId) -> &'g [Triple] {
        let Some((first, last)) = self.member_range.filter(|_| self.graph.is_resource(node)) else {
            return &[];
        };
        let triples = self.graph.subject_triples(node);
        let start = triples.partition_point(|one| one.predicate < first);
        let end = triples.partition_point(|one| one.predicate <= last);
        &triples[start..end]
    }

    /// Returns the kind of a node by its first classes.
    fn wrapper(&self, node: TermId) -> Option<Wrapper> {
        let kind = self
            .rdf_type
            .filter(|_| !self.wrappers.is_empty() && self.graph.is_resource(node))?;
        let triples = self.graph.subject_triples(node);
        let start = triples.partition_point(|one| one.predicate < kind);
        let classes = triples[start..]
            .iter()
            .take_while(|one| one.predicate == kind)
            .take(MAX_CLASSES);
        classes
            .filter_map(|one| self.wrappers.get(&one.object).copied())
            .next()
    }

    /// Returns the members of an RDF list. A list that leads back to itself ends there.
    fn list(&self, head: TermId) -> Vec<TermId> {
        let (mut members, mut seen) = (Vec::new(), FxHashSet::default());
        let mut cell = Some(head);
        while let Some(node) = cell.filter(|node| members.len() < self.budget && seen.insert(*node))
        {
            let triples = self.graph.subject_triples(node).iter();
            members.extend(
                triples
                    .filter(|one| Some(one.predicate) == self.first)
                    .map(|one| one.object),
            );
            cell = self
                .object(node, self.rest)
                .filter(|next| self.graph.is_resource(*next));
        }
        members
    }

    fn object(&self, node: TermId, property: Option<TermId>) -> Option<TermId> {
        let property = property.filter(|_| self.graph.is_resource(node))?;
        let triples = self.graph.subject_triples(node);
        let start = triples.partition_point(|one| one.predicate < property);
        triples
            .get(start)
            .filter(|one| one.predicate == property)
            .map(|one| one.object)
    }

    /// Returns the values of a role: those of the property behind which it stands, or else its agents.
    fn role_values(&self, property: TermId, triples: &[Triple]) -> Vec<TermId> {
        let name = schema_org::local_name(self.graph.term(property));
        let own: Vec<TermId> = triples
            .iter()
            .filter(|one| {
                one.predicate == property || name.is_some() && self.schema_name(one) == name
            })
            .map(|one| one.object)
            .collect();
        if !own.is_empty() || !self.is_agent_property(property) {
            return own;
        }
        triples
            .iter()
            .filter(|one| self.is_agent_property(one.predicate))
            .map(|one| one.object)
            .collect()
    }

    fn schema_name(&self, triple: &Triple) -> Option<&'g str> {
        schema_org::local_name(self.graph.term(triple.predicate))
    }

    fn schema_values(&self, triples: &[Triple], name: &str) -> Vec<TermId> {
        triples
            .iter()
            .filter(|one| self.schema_name(one) == Some(name))
            .map(|one| one.object)
            .collect()
    }

    /// Sorts the items of a list by their positions.
    fn in_position(&self, mut items: Vec<TermId>) -> Vec<TermId> {
        items.sort_by_key(|item| self.position(*item));
        items
    }

    fn position(&self, item: TermId) -> Option<i64> {
        if self.wrapper(item) != Some(Wrapper::ListItem) {
            return None;
        }
        let position = self
            .positions
            .iter()
            .find_map(|property| self.object(item, *property))?;
        self.graph.term(position).text().trim().parse().ok()
    }

    fn is_agent_property(&self, property: TermId) -> bool {
        let term = self.graph.term(property);
        match schema_org::local_name(term) {
            Some(name) => AGENT_PROPERTIES.contains(&name),
            None => {
                let others = [
                    dcterms::CONTRIBUTOR,
                    dcterms::PUBLISHER,
                    dcterms::RIGHTS_HOLDER,
                ];
                is_creator_property(term) || others.contains(&term.text())
            }
        }
    }

    /// Returns the nodes that were looked through but are also values elsewhere, with all that they lead to.
    fn kept_nodes(&self, found: &FxHashMap<usize, Values>) -> FxHashSet<TermId> {
        let mut kept = FxHashSet::default();
        for (place, triple) in self.graph.triples().iter().enumerate() {
            let is_outside =
                !self.consumed.contains(&triple.subject) && !found.contains_key(&place);
            if !is_outside || !self.consumed.contains(&triple.object) {
                continue;
            }
            let mut waiting = vec![triple.object];
            while let Some(node) = waiting.pop() {
                if kept.insert(node) {
                    let objects = self
                        .graph
                        .subject_triples(node)
                        .iter()
                        .map(|one| one.object);
                    waiting.extend(objects.filter(|object| self.consumed.contains(object)));
                }
            }
        }
        kept
    }

    /// Adds the triples of one subject and property.
    fn add_group(&mut self, range: std::ops::Range<usize>, found: &FxHashMap<usize, Values>) {
        let graph = self.graph;
        let triples = graph.triples();
        let (subject, predicate) = (triples[range.start].subject, triples[range.start].predicate);
        let mut places: Vec<usize> = range.collect();
        if !self.wrappers.is_empty() && places.len() > 1 {
            places.sort_by_cached_key(|place| self.position(triples[*place].object));
        }
        let is_creator = is_creator_property(graph.term(predicate));
        let (mut order, mut is_ordered) = (Vec::new(), false);
        for place in places {
            let object = triples[place].object;
            let (values, is_list) = match found.get(&place) {
                Some(values) => {
                    for role in &values.roles {
                        self.add_role_link(subject, predicate, *role);
                    }
                    (values.values.as_slice(), values.is_ordered)
                }
                None => (&[object][..], false),
            };
            is_ordered |= is_list;
            for value in values {
                let literal = (is_creator && is_list).then(|| graph.to_term(*value));
                let term = match literal {
                    Some(Term::Literal(name)) => Some(self.named_agent(name)),
                    _ => self.object_term(predicate, *value),
                };
                let Some(term) = term else { continue };
                self.add_statement(subject, predicate, term.clone());
                order.push(term);
            }
        }
        if is_creator && is_ordered && order.len() > 1 {
            self.add_author_list(subject, order);
        }
    }

    /// Adds one statement, by the property as it is or as its substitute.
    fn add_statement(&mut self, subject: TermId, predicate: TermId, object: Term) {
        let node = self.subject_term(subject);
        let property = self.graph.term(predicate).text();
        if let Some(name) = relative_reference(property) {
            let part = self.blank();
            self.add(node, schema::ADDITIONAL_PROPERTY, part.clone());
            self.add(part.clone(), rdf::TYPE, named_node(schema::PROPERTY_VALUE));
            self.add(part.clone(), schema::NAME, Literal::from(name));
            self.add(part, schema::VALUE, object);
            return;
        }
        match (self.roles.get(&subject).copied(), object) {
            // A class is an IRI.
            (_, class @ Term::Literal(_)) if property == rdf::TYPE => {
                self.add(node, dcterms::TYPE, class)
            }
            (Some(of), object) => self.add_role_statement(node, predicate, of, object),
            (None, object) => self.add(node, property, object),
        }
    }

    /// Adds the link from a subject to a role: a qualified attribution or relation.
    fn add_role_link(&mut self, subject: TermId, predicate: TermId, role: TermId) {
        let link = if self.is_agent_property(predicate) {
            prov::QUALIFIED_ATTRIBUTION
        } else {
            dcat::QUALIFIED_RELATION
        };
        let (subject, role) = (self.subject_term(subject), self.subject_term(role));
        self.add(subject, link, role);
    }

    /// Adds a statement about a role that stands behind the property `of`.
    fn add_role_statement(
        &mut self,
        role: NamedOrBlankNode,
        predicate: TermId,
        of: TermId,
        object: Term,
    ) {
        let term = self.graph.term(predicate);
        let name = schema_org::local_name(term);
        let is_attribution = self.is_agent_property(of);
        if term.text() == rdf::TYPE {
            let class = if is_attribution {
                prov::ATTRIBUTION
            } else {
                dcat::RELATIONSHIP
            };
            self.add(role.clone(), rdf::TYPE, named_node(class));
            return self.add(role, rdf::TYPE, object);
        }
        let is_same = predicate == of
            || name.is_some() && name == schema_org::local_name(self.graph.term(of));
        match (name, object) {
            (_, object) if is_attribution && self.is_agent_property(predicate) => {
                self.add(role, prov::AGENT, object)
            }
            (_, object) if is_same => self.add(role, dcterms::RELATION, object),
            (Some("roleName" | "namedPosition"), Term::Literal(label)) => {
                let part = self.blank();
                self.add(role, dcat::HAD_ROLE, part.clone());
                self.add(part.clone(), rdf::TYPE, named_node(dcat::ROLE));
                self.add(part, skos::PREF_LABEL, label);
            }
            (Some("roleName" | "namedPosition"), object) => self.add(role, dcat::HAD_ROLE, object),
            (_, object) => self.add(role, term.text(), object),
        }
    }

    fn add_author_list(&mut self, subject: TermId, order: Vec<Term>) {
        let list = self.blank();
        let subject = self.subject_term(subject);
        self.add(subject, bibo::AUTHOR_LIST, list.clone());
        self.add(list.clone(), rdf::TYPE, named_node(rdf::SEQ));
        for (place, author) in order.into_iter().enumerate() {
            self.add(list.clone(), &format!("{MEMBER}{}", place + 1), author);
        }
    }

    /// Adds an agent of which a list has the name only.
    fn named_agent(&mut self, name: Literal) -> Term {
        let agent = self.blank();
        self.add(agent.clone(), rdf::TYPE, named_node(foaf::AGENT));
        self.add(agent.clone(), foaf::NAME, name);
        agent.into()
    }

    fn add(&mut self, subject: NamedOrBlankNode, property: &str, object: impl Into<Term>) {
        let triple = oxrdf::Triple::new(subject, NamedNode::new_unchecked(property), object);
        self.out.insert_with_labels(triple.as_ref());
    }

    /// Returns a new node. The labels of the graph's own nodes begin with other letters.
    fn blank(&mut self) -> NamedOrBlankNode {
        self.blanks += 1;
        BlankNode::new_unchecked(format!("direct{}", self.blanks)).into()
    }

    fn subject_term(&self, node: TermId) -> NamedOrBlankNode {
        match self.graph.term(node) {
            TermRef::Blank(label) => BlankNode::new_unchecked(label).into(),
            term => NamedNode::new_unchecked(term.text()).into(),
        }
    }

    /// Returns an object as it is stated. A relative reference to a node that is not described is a text; an empty one is none.
    fn object_term(&self, predicate: TermId, object: TermId) -> Option<Term> {
        let graph = self.graph;
        match graph.term(object) {
            TermRef::Iri(iri)
                if (iri == self.base || is_relative(iri)) && !self.is_described(object) =>
            {
                let property = graph.term(predicate);
                let is_value = VALUE_PROPERTIES.contains(&local_name(property.text()))
                    || is_relative(iri) && schema_org::local_name(property).is_some();
                if iri == self.base && is_value {
                    return None;
                }
                if !is_relative(iri) {
                    return Some(graph.to_term(object));
                }
                let fragment = iri
                    .strip_prefix(self.base)
                    .filter(|rest| rest.starts_with(['#', '?']));
                let text = fragment
                    .map(str::to_owned)
                    .or_else(|| relative_reference(iri))?;
                Some(Literal::from(text).into())
            }
            term @ TermRef::Literal { lexical, .. } if has_relative_datatype(term) => {
                Some(Literal::from(lexical).into())
            }
            _ => Some(graph.to_term(object)),
        }
    }

    /// If true, there are statements about a node.
    fn is_described(&self, node: TermId) -> bool {
        !self.graph.subject_triples(node).is_empty()
    }
}

fn named_node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

fn is_creator_property(term: TermRef<'_>) -> bool {
    match schema_org::local_name(term) {
        Some(name) => matches!(name, "author" | "creator"),
        None => [dcterms::CREATOR, dc11::CREATOR].contains(&term.text()),
    }
}

fn has_relative_datatype(term: TermRef<'_>) -> bool {
    matches!(term, TermRef::Literal { kind: LiteralKind::Datatype(iri), .. } if is_relative(iri))
}
