//! SHACL shapes that the data of a graph satisfy: for each frequent class its properties, with the kinds, datatypes and
//! numbers of their values. <https://www.w3.org/TR/shacl/>
//!
//! A shape states only what holds for every instance of its class. An instance is one of the class or of its subclasses
//! in the graph, as in SHACL (1.2, SHACL class). A datatype is stated only if all values are known to be well-formed,
//! because `sh:datatype` rejects others. A minimum is 1 or not stated: larger ones are accidents of the data.
//!
//! *Cost.* Two passes over the triples. With *C* shaped classes, at most [`MAX_CLASSES`], a property of an entity counts for
//! at most *C* classes, and each class is searched once for subclasses.

use lodeseek_rdf::vocab::{dcterms, rdf, rdfs, sh};
use lodeseek_rdf::{LiteralKind, TermId, TermRef, TripleGraph};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, GDay, GMonth,
    GMonthDay, GYear, GYearMonth, Integer, Time, YearMonthDuration,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::str::FromStr;

/// Maximum number of classes with a shape: the most frequent ones.
const MAX_CLASSES: usize = 100;
/// Maximum number of properties of a shape: the most frequent ones of the class.
const MAX_PROPERTIES: usize = 100;
/// Maximum number of datatypes in a disjunction. With more, only `sh:nodeKind` is stated.
const MAX_DATATYPES: usize = 5;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/// Set of shaped classes, by their index.
type ClassSet = u128;

/// Shapes of the classes of a graph, by descending number of instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    /// The shapes.
    pub nodes: Vec<NodeShape>,
    /// Number of classes without a shape.
    pub more_classes: u64,
}

/// Shape of the instances of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// The class: an IRI.
    pub class: TermId,
    /// Number of instances, those of subclasses included.
    pub entities: u64,
    /// Properties by descending number of instances that have them, without `rdf:type`.
    pub properties: Vec<PropertyShape>,
    /// Number of properties that are not in `properties`.
    pub more_properties: u64,
}

/// Constraints on the values of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyShape {
    /// The property.
    pub property: TermId,
    /// Number of instances that have the property.
    pub entities: u64,
    /// Maximum number of values of an instance.
    pub max: u64,
    /// Kinds of the values.
    pub kinds: NodeKinds,
    /// Datatypes of the values, sorted. Empty if some values are not literals, are not well-formed, or if there are too
    /// many datatypes.
    pub datatypes: Vec<String>,
    /// Smallest shaped class of which all values are instances.
    pub class: Option<TermId>,
}

/// Kinds of the values of a property. At least one is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeKinds {
    /// If true, there are IRIs.
    pub iri: bool,
    /// If true, there are blank nodes.
    pub blank: bool,
    /// If true, there are literals.
    pub literal: bool,
    /// If true, there are triple terms of RDF 1.2, for which SHACL 1.0 has no kind.
    pub triple: bool,
}

impl NodeKinds {
    /// Returns the IRI for `sh:nodeKind`; `None` if there are all kinds, or triple terms.
    fn iri_of_kind(self) -> Option<&'static str> {
        if self.triple {
            return None;
        }
        match (self.iri, self.blank, self.literal) {
            (true, false, false) => Some(sh::IRI),
            (false, true, false) => Some(sh::BLANK_NODE),
            (false, false, true) => Some(sh::LITERAL),
            (true, true, false) => Some(sh::BLANK_NODE_OR_IRI),
            (true, false, true) => Some(sh::IRI_OR_LITERAL),
            (false, true, true) => Some(sh::BLANK_NODE_OR_LITERAL),
            _ => None,
        }
    }
}

impl Shapes {
    /// Derives the shapes of a graph.
    #[must_use]
    pub fn new(graph: &TripleGraph) -> Self {
        let classes = Classes::new(graph);
        let statistics = Statistics::new(graph, &classes);
        let nodes = statistics.into_shapes(graph, &classes);
        Self {
            nodes,
            more_classes: classes.more,
        }
    }

    /// Returns the shapes as triples. `iri` is the IRI of the shapes graph: shapes have it with a fragment. `dataset` is
    /// its source.
    #[must_use]
    pub fn to_shacl(
        &self,
        graph: &TripleGraph,
        iri: &NamedNode,
        dataset: &NamedNode,
    ) -> Vec<Triple> {
        let mut out = Shacl {
            graph,
            iri,
            triples: Vec::new(),
            lists: 0,
        };
        out.add(iri, dcterms::SOURCE, dataset.clone());
        if self.more_classes > 0 {
            let note = format!("{} less frequent classes have no shape.", self.more_classes);
            out.add(iri, rdfs::COMMENT, english_literal(note));
        }
        for (place, node) in self.nodes.iter().enumerate() {
            out.node_shape(place, node);
        }
        out.triples
    }
}

/// The shaped classes, and the instances of each.
struct Classes {
    /// By descending number of direct instances.
    shaped: Vec<TermId>,
    more: u64,
    /// For each term, the classes of which it is an instance.
    instances: Vec<ClassSet>,
    counts: Vec<u64>,
}

impl Classes {
    fn new(graph: &TripleGraph) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let mut direct: FxHashMap<TermId, u64> = FxHashMap::default();
        for triple in graph.triples() {
            if Some(triple.predicate) == kind && graph.is_iri(triple.object) {
                *direct.entry(triple.object).or_default() += 1;
            }
        }
        let mut shaped: Vec<TermId> = direct.keys().copied().collect();
        shaped.sort_unstable_by_key(|class| (Reverse(direct[class]), *class));
        let more = shaped.len().saturating_sub(MAX_CLASSES) as u64;
        shaped.truncate(MAX_CLASSES);
        let superclasses = find_superclasses(graph, &shaped);
        let mut instances = vec![0; graph.term_count()];
        // Blank nodes may be classes below a shaped one.
        for triple in graph
            .triples()
            .iter()
            .filter(|triple| Some(triple.predicate) == kind)
        {
            instances[triple.subject.index()] |= superclasses
                .get(&triple.object)
                .copied()
                .unwrap_or_default();
        }
        let mut counts = vec![0; shaped.len()];
        for set in &instances {
            for class in class_numbers(*set) {
                counts[class] += 1;
            }
        }
        Self {
            shaped,
            more,
            instances,
            counts,
        }
    }
}

/// Returns for each class below a shaped one, and for the shaped ones, the shaped classes above it and itself.
fn find_superclasses(graph: &TripleGraph, shaped: &[TermId]) -> FxHashMap<TermId, ClassSet> {
    let mut subclasses: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
    if let Some(property) = graph.iri(rdfs::SUB_CLASS_OF) {
        for triple in graph
            .triples()
            .iter()
            .filter(|triple| triple.predicate == property)
        {
            subclasses
                .entry(triple.object)
                .or_default()
                .push(triple.subject);
        }
    }
    let mut sets: FxHashMap<TermId, ClassSet> = FxHashMap::default();
    for (place, class) in shaped.iter().enumerate() {
        // Subclasses may form a cycle.
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![*class]);
        while let Some(below) = waiting.pop() {
            if seen.insert(below) {
                *sets.entry(below).or_default() |= 1 << place;
                waiting.extend(subclasses.get(&below).into_iter().flatten());
            }
        }
    }
    sets
}

/// Iterates over the indexes in a set.
fn class_numbers(mut set: ClassSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// Number of a datatype in [`Datatypes`].
type DatatypeNumber = u16;
/// The number of literals of which no datatype is stated.
const UNSTATED: DatatypeNumber = 0;

/// The datatypes of a graph, and that of each literal.
struct Datatypes {
    names: Vec<String>,
    /// For each term; [`UNSTATED`] for terms that are no literals.
    numbers: Vec<DatatypeNumber>,
}

impl Datatypes {
    fn new(graph: &TripleGraph) -> Self {
        let mut names = vec![String::new()];
        let mut known: FxHashMap<&str, DatatypeNumber> = FxHashMap::default();
        let mut numbers = vec![UNSTATED; graph.term_count()];
        for id in graph.literals() {
            let TermRef::Literal { lexical, kind } = graph.term(id) else {
                continue;
            };
            let datatype = match kind {
                LiteralKind::Plain => "http://www.w3.org/2001/XMLSchema#string",
                LiteralKind::Language(_) => LANG_STRING,
                LiteralKind::Datatype(iri) => iri,
                LiteralKind::LeftToRight(_) | LiteralKind::RightToLeft(_) => rdf::DIR_LANG_STRING,
            };
            if !is_well_formed(lexical, datatype) {
                continue;
            }
            let number = known.get(datatype).copied().or_else(|| {
                let number = DatatypeNumber::try_from(names.len()).ok()?;
                names.push(datatype.to_owned());
                known.insert(datatype, number);
                Some(number)
            });
            numbers[id.index()] = number.unwrap_or(UNSTATED);
        }
        Self { names, numbers }
    }
}

/// If true, a processor that checks lexical forms accepts the literal. False for datatypes of XML Schema and RDF that
/// cannot be checked here. Processors check no others.
fn is_well_formed(lexical: &str, datatype: &str) -> bool {
    if datatype == LANG_STRING {
        return true;
    }
    let Some(name) = datatype.strip_prefix(XSD) else {
        return !datatype.starts_with(rdf::NAMESPACE);
    };
    match name {
        "string" | "anyURI" => true,
        "boolean" => Boolean::from_str(lexical).is_ok(),
        "integer" => Integer::from_str(lexical).is_ok(),
        "decimal" => Decimal::from_str(lexical).is_ok(),
        "double" => Double::from_str(lexical).is_ok(),
        "float" => Float::from_str(lexical).is_ok(),
        "dateTime" => has_common_year(lexical) && DateTime::from_str(lexical).is_ok(),
        "date" => has_common_year(lexical) && Date::from_str(lexical).is_ok(),
        "time" => Time::from_str(lexical).is_ok(),
        "gYear" => has_common_year(lexical) && GYear::from_str(lexical).is_ok(),
        "gYearMonth" => has_common_year(lexical) && GYearMonth::from_str(lexical).is_ok(),
        "gMonth" => GMonth::from_str(lexical).is_ok(),
        "gMonthDay" => GMonthDay::from_str(lexical).is_ok(),
        "gDay" => GDay::from_str(lexical).is_ok(),
        "duration" => Duration::from_str(lexical).is_ok(),
        "dayTimeDuration" => DayTimeDuration::from_str(lexical).is_ok(),
        "yearMonthDuration" => YearMonthDuration::from_str(lexical).is_ok(),
        "byte" => is_integer_in(lexical, i8::MIN.into(), i8::MAX.into()),
        "short" => is_integer_in(lexical, i16::MIN.into(), i16::MAX.into()),
        "int" => is_integer_in(lexical, i32::MIN.into(), i32::MAX.into()),
        "long" => is_integer_in(lexical, i64::MIN, i64::MAX),
        "unsignedByte" => is_integer_in(lexical, 0, u8::MAX.into()),
        "unsignedShort" => is_integer_in(lexical, 0, u16::MAX.into()),
        "unsignedInt" => is_integer_in(lexical, 0, u32::MAX.into()),
        "unsignedLong" | "nonNegativeInteger" => is_integer_in(lexical, 0, i64::MAX),
        "positiveInteger" => is_integer_in(lexical, 1, i64::MAX),
        "nonPositiveInteger" => is_integer_in(lexical, i64::MIN, 0),
        "negativeInteger" => is_integer_in(lexical, i64::MIN, -1),
        _ => false,
    }
}

fn is_integer_in(lexical: &str, first: i64, last: i64) -> bool {
    lexical
        .parse()
        .is_ok_and(|number: i64| (first..=last).contains(&number))
}

/// If true, the year is from 1 to 9999. Some processors reject dates of other years: pySHACL is limited to those of Python.
fn has_common_year(lexical: &str) -> bool {
    let digits = lexical.bytes().take_while(u8::is_ascii_digit).count();
    digits == 4 && !lexical.starts_with("0000")
}

/// Statistics of one property at the instances of one class.
struct Usage {
    entities: u64,
    max: u64,
    values: Values,
}

/// Union of what some values have.
#[derive(Clone)]
struct Values {
    kinds: NodeKinds,
    /// Sorted. `None` if no datatype can be stated.
    datatypes: Option<Vec<DatatypeNumber>>,
    /// Classes of which all values are instances.
    classes: ClassSet,
}

impl Values {
    fn new() -> Self {
        Self {
            kinds: NodeKinds::default(),
            datatypes: Some(Vec::new()),
            classes: ClassSet::MAX,
        }
    }

    fn add(
        &mut self,
        graph: &TripleGraph,
        value: TermId,
        classes: &Classes,
        datatypes: &Datatypes,
    ) {
        if graph.is_literal(value) {
            self.kinds.literal = true;
            self.classes = 0;
            self.add_datatype(datatypes.numbers[value.index()]);
        } else {
            let is_iri = graph.is_iri(value);
            let is_triple = !graph.is_resource(value);
            self.kinds.iri |= is_iri;
            self.kinds.blank |= !is_iri && !is_triple;
            self.kinds.triple |= is_triple;
            self.classes &= classes.instances[value.index()];
            self.datatypes = None;
        }
    }

    fn add_datatype(&mut self, number: DatatypeNumber) {
        let Some(known) = &mut self.datatypes else {
            return;
        };
        if let Err(place) = known.binary_search(&number) {
            known.insert(place, number);
        }
        if number == UNSTATED || known.len() > MAX_DATATYPES {
            self.datatypes = None;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.kinds.iri |= other.kinds.iri;
        self.kinds.blank |= other.kinds.blank;
        self.kinds.literal |= other.kinds.literal;
        self.kinds.triple |= other.kinds.triple;
        self.classes &= other.classes;
        match &other.datatypes {
            Some(numbers) => numbers.iter().for_each(|number| self.add_datatype(*number)),
            None => self.datatypes = None,
        }
    }
}

struct Statistics {
    datatypes: Datatypes,
    /// By class and property.
    usage: FxHashMap<(usize, TermId), Usage>,
}

impl Statistics {
    fn new(graph: &TripleGraph, classes: &Classes) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let datatypes = Datatypes::new(graph);
        let mut usage: FxHashMap<(usize, TermId), Usage> = FxHashMap::default();
        // The triples of a graph are sorted by subject, then by property.
        let groups = graph
            .triples()
            .chunk_by(|one, next| (one.subject, one.predicate) == (next.subject, next.predicate));
        for group in groups.filter(|group| Some(group[0].predicate) != kind) {
            let set = classes.instances[group[0].subject.index()];
            if set == 0 {
                continue;
            }
            let mut values = Values::new();
            group
                .iter()
                .for_each(|triple| values.add(graph, triple.object, classes, &datatypes));
            for class in class_numbers(set) {
                let usage = usage.entry((class, group[0].predicate));
                let usage = usage.or_insert_with(|| Usage {
                    entities: 0,
                    max: 0,
                    values: Values::new(),
                });
                usage.entities += 1;
                usage.max = usage.max.max(group.len() as u64);
                usage.values.merge(&values);
            }
        }
        Self { datatypes, usage }
    }

    fn into_shapes(self, graph: &TripleGraph, classes: &Classes) -> Vec<NodeShape> {
        let mut properties: Vec<Vec<PropertyShape>> = vec![Vec::new(); classes.shaped.len()];
        for ((class, property), usage) in self.usage {
            let numbers = usage.values.datatypes.unwrap_or_default();
            let mut datatypes: Vec<String> = numbers
                .iter()
                .map(|number| self.datatypes.names[usize::from(*number)].clone())
                .collect();
            datatypes.sort();
            let all =
                class_numbers(usage.values.classes).filter(|class| *class < classes.shaped.len());
            let smallest = all.min_by_key(|class| (classes.counts[*class], *class));
            properties[class].push(PropertyShape {
                property,
                entities: usage.entities,
                max: usage.max,
                kinds: usage.values.kinds,
                datatypes,
                class: smallest.map(|class| classes.shaped[class]),
            });
        }
        let mut shapes = Vec::with_capacity(properties.len());
        for (class, mut properties) in properties.into_iter().enumerate() {
            properties.sort_unstable_by_key(|shape| {
                (Reverse(shape.entities), graph.term(shape.property).text())
            });
            let more_properties = properties.len().saturating_sub(MAX_PROPERTIES) as u64;
            properties.truncate(MAX_PROPERTIES);
            shapes.push(NodeShape {
                class: classes.shaped[class],
                entities: classes.counts[class],
                properties,
                more_properties,
            });
        }
        shapes
    }
}

fn english_literal(text: String) -> Literal {
    Literal::new_language_tagged_literal_unchecked(text, "en")
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

/// Writer of the triples.
struct Shacl<'g> {
    graph: &'g TripleGraph,
    iri: &'g NamedNode,
    triples: Vec<Triple>,
    /// Number of list nodes, for their labels.
    lists: usize,
}

impl Shacl<'_> {
    fn add(&mut self, subject: &NamedNode, predicate: &str, object: impl Into<Term>) {
        self.add_to(subject.clone(), predicate, object);
    }

    fn add_to(
        &mut self,
        subject: impl Into<NamedOrBlankNode>,
        predicate: &str,
        object: impl Into<Term>,
    ) {
        self.triples
            .push(Triple::new(subject, node(predicate), object));
    }

    fn node_shape(&mut self, place: usize, shape: &NodeShape) {
        let own = node(&format!("{}#class-{}", self.iri.as_str(), place + 1));
        self.add(&own, rdf::TYPE, node(sh::NODE_SHAPE));
        self.add(&own, sh::TARGET_CLASS, self.graph.to_term(shape.class));
        let more = match shape.more_properties {
            0 => String::new(),
            more => format!(" {more} less frequent properties have no shape."),
        };
        self.add(
            &own,
            rdfs::COMMENT,
            english_literal(format!("Instances: {}.{more}", shape.entities)),
        );
        for (number, property) in shape.properties.iter().enumerate() {
            let part = node(&format!("{}-property-{}", own.as_str(), number + 1));
            self.add(&own, sh::PROPERTY, part.clone());
            self.property_shape(&part, property, shape.entities);
        }
    }

    fn property_shape(&mut self, part: &NamedNode, shape: &PropertyShape, entities: u64) {
        self.add(part, rdf::TYPE, node(sh::PROPERTY_SHAPE));
        self.add(part, sh::PATH, self.graph.to_term(shape.property));
        if shape.entities == entities {
            self.add(part, sh::MIN_COUNT, Literal::from(1));
        } else {
            self.add(
                part,
                rdfs::COMMENT,
                english_literal(format!("Instances with this property: {}.", shape.entities)),
            );
        }
        self.add(part, sh::MAX_COUNT, Literal::from(shape.max));
        match shape.datatypes.as_slice() {
            [] => {
                if let Some(kind) = shape.kinds.iri_of_kind() {
                    self.add(part, sh::NODE_KIND, node(kind));
                }
            }
            [datatype] => self.add(part, sh::DATATYPE, node(datatype)),
            datatypes => self.disjunction(part, datatypes),
        }
        if let Some(class) = shape.class {
            self.add(part, sh::CLASS, self.graph.to_term(class));
        }
    }

    /// Adds `sh:or` over datatypes.
    fn disjunction(&mut self, part: &NamedNode, datatypes: &[String]) {
        let mut rest: Term = node(rdf::NIL).into();
        for datatype in datatypes.iter().rev() {
            self.lists += 1;
            let [list, option] = ["list", "option"]
                .map(|name| BlankNode::new_unchecked(format!("{name}{}", self.lists)));
            self.add_to(option.clone(), sh::DATATYPE, node(datatype));
            self.add_to(list.clone(), rdf::FIRST, option);
            self.add_to(list.clone(), rdf::REST, rest);
            rest = list.into();
        }
        self.add(part, sh::OR, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn graph(turtle: &str) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        builder.finish()
    }

    fn local(graph: &TripleGraph, id: TermId) -> String {
        graph
            .term(id)
            .text()
            .rsplit(['/', '#'])
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    /// One line for each property shape: class, property, required, maximum, kinds, datatypes and class of the values.
    fn lines(turtle: &str) -> Vec<String> {
        let graph = graph(turtle);
        let shapes = Shapes::new(&graph);
        let mut lines = Vec::new();
        for node in &shapes.nodes {
            for property in &node.properties {
                let is_required = if property.entities == node.entities {
                    "1"
                } else {
                    "0"
                };
                let kind = match property.kinds.iri_of_kind() {
                    Some(iri) => lodeseek_rdf::local_name(iri),
                    None => "any",
                };
                let datatypes: Vec<&str> = property
                    .datatypes
                    .iter()
                    .map(|iri| lodeseek_rdf::local_name(iri))
                    .collect();
                let class = property
                    .class
                    .map(|class| local(&graph, class))
                    .unwrap_or_default();
                lines.push(format!(
                    "{} {} {is_required}..{} {kind} {} {class}",
                    local(&graph, node.class),
                    local(&graph, property.property),
                    property.max,
                    datatypes.join("|")
                ));
            }
        }
        lines.sort();
        lines
    }

    const PREFIXES: &str =
        "@prefix : <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . ";

    #[test]
    fn a_shape_states_what_all_instances_have() {
        let found = lines(&format!(
            "{PREFIXES} :a a :Person ; :name \"A\" ; :age 3 ; :knows :b, [ a :Person ; :name \"C\"@en ] .
             :b a :Person ; :name \"B\", \"Bé\"@fr ; :age \"many\"^^xsd:integer ; :home :x ."
        ));
        assert_eq!(
            found,
            [
                "Person age 0..1 Literal  ",
                "Person home 0..1 IRI  ",
                "Person knows 0..2 BlankNodeOrIRI  Person",
                "Person name 1..2 Literal langString|string ",
            ]
        );
    }

    #[test]
    fn instances_of_subclasses_count() {
        let found = lines(&format!(
            "{PREFIXES} :Dog rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal . :Animal rdfs:subClassOf :Dog .
             :a a :Animal ; :legs 4 . :d a :Dog ; :owner :p . :p a :Person ; :pet :d, :a ."
        ));
        // The hierarchy is a cycle: each instance of one class is an instance of all.
        let expected = [
            "Animal legs 0..1",
            "Animal owner 0..1",
            "Dog legs 0..1",
            "Dog owner 0..1",
            "Person pet 1..2",
        ];
        let starts = |line: &String, start: &&str| line.starts_with(*start);
        assert!(
            found
                .iter()
                .zip(&expected)
                .all(|(line, start)| starts(line, start)),
            "{found:?}"
        );
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn literals_are_well_formed_or_their_datatype_is_not_stated() {
        for (lexical, name, expected) in [
            ("7", "integer", true),
            ("7.0", "integer", false),
            ("99999999999999999999999", "integer", false),
            ("300", "unsignedByte", false),
            ("255", "unsignedByte", true),
            ("0", "positiveInteger", false),
            ("2020-02-30", "date", false),
            ("2020-02-29", "date", true),
            ("-0510", "gYear", false),
            ("12020", "gYear", false),
            ("yes", "boolean", false),
            ("NaN", "double", true),
            ("anything", "anyURI", true),
            ("en", "language", false),
        ] {
            assert_eq!(
                is_well_formed(lexical, &format!("{XSD}{name}")),
                expected,
                "{lexical} {name}"
            );
        }
        assert!(is_well_formed(
            "POINT(",
            "http://www.opengis.net/ont/geosparql#wktLiteral"
        ));
        assert!(!is_well_formed(
            "<p>",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"
        ));
    }

    #[test]
    fn the_number_of_shapes_is_bounded_and_the_rest_is_counted() {
        let classes: String = (0..MAX_CLASSES + 3)
            .map(|n| format!(":e{n} a :C{n} . "))
            .collect();
        let properties: String = (0..MAX_PROPERTIES + 2)
            .map(|n| format!(":x a :Big ; :p{n} 1 . :y a :Big . "))
            .collect();
        let graph = graph(&format!("{PREFIXES} {classes} {properties}"));
        let shapes = Shapes::new(&graph);
        assert_eq!((shapes.nodes.len(), shapes.more_classes), (MAX_CLASSES, 4));
        let largest = &shapes.nodes[0];
        assert_eq!(
            (
                largest.entities,
                largest.properties.len(),
                largest.more_properties
            ),
            (2, MAX_PROPERTIES, 2)
        );
        assert!(Shapes::new(&super::tests::graph("")).nodes.is_empty());
    }

    #[test]
    fn shapes_are_shacl() {
        let graph = graph(&format!(
            "{PREFIXES} :a a :Person ; :name \"A\", \"B\"@en ; :knows :a ."
        ));
        let iri = |text: &str| NamedNode::new_unchecked(text);
        let triples =
            Shapes::new(&graph).to_shacl(&graph, &iri("http://e.org/s"), &iri("http://e.org/d"));
        let text: Vec<String> = triples.iter().map(ToString::to_string).collect();
        for expected in [
            "<http://e.org/s> <http://purl.org/dc/terms/source> <http://e.org/d>",
            "<http://e.org/s#class-1> <http://www.w3.org/ns/shacl#targetClass> <http://e.org/Person>",
            "<http://e.org/s#class-1-property-1> <http://www.w3.org/ns/shacl#path> <http://e.org/knows>",
            "<http://e.org/s#class-1-property-1> <http://www.w3.org/ns/shacl#class> <http://e.org/Person>",
            "<http://e.org/s#class-1-property-1> <http://www.w3.org/ns/shacl#nodeKind> <http://www.w3.org/ns/shacl#IRI>",
            "<http://e.org/s#class-1-property-2> <http://www.w3.org/ns/shacl#or> _:list2",
        ] {
            assert!(
                text.iter().any(|line| line == expected),
                "{expected} is missing: {text:#?}"
            );
        }
    }

    proptest! {
        /// Numbers, kinds and classes of values, as found by scans of all triples.
        #[test]
        fn as_counted_by_scans(triples in prop::collection::vec((0_u8..6, 0_u8..4, 0_u8..9), 0..40)) {
            let term = |number: u8| if number < 6 { format!(":n{number}") } else { format!("\"{number}\"") };
            let property = |number: u8| if number == 0 { "a".to_owned() } else { format!(":p{number}") };
            let text: String =
                triples.iter().map(|&(s, p, o)| format!("{} {} {} .\n", term(s), property(p), term(o))).collect();
            let graph = graph(&format!("{PREFIXES} {text}"));
            let triples: BTreeSet<(u8, u8, u8)> = triples.into_iter().collect();
            let is_instance = |entity: u8, class: u8| entity < 6 && triples.contains(&(entity, 0, class));
            let mut expected: BTreeMap<(String, String), (u64, u64, bool, bool)> = BTreeMap::new();
            for class in (0..6).filter(|class| triples.iter().any(|(_, p, o)| *p == 0 && o == class)) {
                for p in 1..4_u8 {
                    let values = |entity: u8| triples.iter().filter(move |(s, q, _)| (*s, *q) == (entity, p)).map(|t| t.2);
                    let of_class: Vec<u8> =
                        (0..6).filter(|entity| is_instance(*entity, class) && values(*entity).next().is_some()).collect();
                    let Some(max) = of_class.iter().map(|entity| values(*entity).count() as u64).max() else { continue };
                    let all: Vec<u8> = of_class.iter().flat_map(|entity| values(*entity)).collect();
                    let common = (0..6).any(|class| all.iter().all(|value| is_instance(*value, class)));
                    let has_literal = all.iter().any(|value| *value >= 6);
                    expected.insert((format!("n{class}"), format!("p{p}")), (of_class.len() as u64, max, common, has_literal));
                }
            }
            let mut found = BTreeMap::new();
            for node in Shapes::new(&graph).nodes {
                for shape in node.properties {
                    let key = (local(&graph, node.class), local(&graph, shape.property));
                    found.insert(key, (shape.entities, shape.max, shape.class.is_some(), shape.kinds.literal));
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
