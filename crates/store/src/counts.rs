//! Counts of a graph as the store identifies its terms, in a file of a dataset version.
//!
//! *Why not use the profile?* A profile describes a dump. The store identifies numbers, dates and durations by their
//! value alone: `1.0` and `1.00` of one subject and property are one triple there. A profile also lags behind a load
//! until the next `index`. Counts that answer queries must be exact at any moment. They are therefore computed when a
//! version is loaded and stored under its name: they can be missing, but never belong to other content.

use super::{StoreError, graph_file};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{ExternalSorter, LiteralKind, StreamedGraph, TermId, TermRef, TripleGraph};
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode, Term, Triple};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, GDay, GMonth,
    GMonthDay, GYear, GYearMonth, Integer, Time, YearMonthDuration,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

const SUFFIX: &str = "counts";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Counts of triples, and of the distinct subjects and objects among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageCounts {
    /// Triples.
    pub triples: u64,
    /// Distinct subjects.
    pub subjects: u64,
    /// Distinct objects.
    pub objects: u64,
}

/// Term in a serializable form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SerializedTerm {
    /// IRI.
    Iri(String),
    /// Label of a blank node.
    Blank(String),
    /// Lexical form of a literal of type `xsd:string`.
    Plain(String),
    /// Lexical form and language tag.
    Language(String, String),
    /// Lexical form and datatype IRI.
    Typed(String, String),
    /// Lexical form and language tag of a literal that is written from left to right.
    LeftToRight(String, String),
    /// Lexical form and language tag of a literal that is written from right to left.
    RightToLeft(String, String),
    /// Subject, predicate and object of a triple term.
    Triple(Box<[Self; 3]>),
}

impl From<Term> for SerializedTerm {
    fn from(term: Term) -> Self {
        let literal = match term {
            Term::NamedNode(node) => return Self::Iri(node.into_string()),
            Term::BlankNode(node) => return Self::Blank(node.into_string()),
            Term::Triple(triple) => {
                let subject = Self::from(Term::from(triple.subject));
                let predicate = Self::Iri(triple.predicate.into_string());
                return Self::Triple(Box::new([subject, predicate, triple.object.into()]));
            }
            Term::Literal(literal) => literal,
        };
        match literal.destruct() {
            (lexical, _, Some(tag), None) => Self::Language(lexical, tag),
            (lexical, _, Some(tag), Some(BaseDirection::Ltr)) => Self::LeftToRight(lexical, tag),
            (lexical, _, Some(tag), Some(BaseDirection::Rtl)) => Self::RightToLeft(lexical, tag),
            (lexical, Some(datatype), None, _) => Self::Typed(lexical, datatype.into_string()),
            (lexical, None, None, _) => Self::Plain(lexical),
        }
    }
}

impl SerializedTerm {
    /// Converts the term. Returns `None` for a triple term with a subject or predicate that cannot be one.
    #[must_use]
    pub fn to_term(&self) -> Option<Term> {
        Some(match self {
            Self::Iri(iri) => NamedNode::new_unchecked(iri).into(),
            Self::Blank(label) => BlankNode::new_unchecked(label).into(),
            Self::Plain(lexical) => Literal::new_simple_literal(lexical).into(),
            Self::Language(lexical, tag) => {
                Literal::new_language_tagged_literal_unchecked(lexical, tag).into()
            }
            Self::Typed(lexical, iri) => {
                Literal::new_typed_literal(lexical, NamedNode::new_unchecked(iri)).into()
            }
            Self::LeftToRight(lexical, tag) => {
                Literal::new_directional_language_tagged_literal_unchecked(
                    lexical,
                    tag,
                    BaseDirection::Ltr,
                )
                .into()
            }
            Self::RightToLeft(lexical, tag) => {
                Literal::new_directional_language_tagged_literal_unchecked(
                    lexical,
                    tag,
                    BaseDirection::Rtl,
                )
                .into()
            }
            Self::Triple(parts) => {
                let [subject, predicate, object] = parts.as_ref();
                Triple::from_terms(subject.to_term()?, predicate.to_term()?, object.to_term()?)
                    .ok()?
                    .into()
            }
        })
    }
}

/// Counts of one graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphCounts {
    /// Counts of the whole graph.
    pub all: UsageCounts,
    /// Counts of the triples with each property.
    pub properties: Vec<(SerializedTerm, UsageCounts)>,
    /// Objects of `rdf:type`, with their triples.
    pub classes: Vec<(SerializedTerm, u64)>,
}

impl GraphCounts {
    /// Counts the triples of a graph, in the terms that the store distinguishes.
    #[must_use]
    pub fn from_graph(graph: &TripleGraph) -> Self {
        let same = equal_values(graph);
        let rows = graph
            .triples()
            .iter()
            .map(|triple| {
                // As the store does: an object with an equal value is the same object.
                let object = triple.object.0;
                let stored_object = same.get(&object).copied().unwrap_or(object);
                [triple.subject.0, triple.predicate.0, stored_object]
            })
            .collect();
        Self::from_rows(rows, graph.iri(rdf::TYPE).map(|id| id.0), |id| {
            in_store(graph, TermId(id))
        })
    }

    /// Counts triples (subject, predicate, object) of term ids, in any order. Repeated triples count once. `kind` is the id of
    /// `rdf:type`.
    pub fn from_rows(
        mut rows: Vec<[u32; 3]>,
        kind: Option<u32>,
        term: impl Fn(u32) -> Term,
    ) -> Self {
        rows.sort_unstable();
        rows.dedup();
        let mut properties: FxHashMap<u32, UsageCounts> = FxHashMap::default();
        let mut classes: FxHashMap<u32, u64> = FxHashMap::default();
        let mut last = None;
        for &[subject, property, object] in &rows {
            let uses = properties.entry(property).or_default();
            uses.triples += 1;
            // The rows are sorted: all rows of a subject and a property are neighbours.
            uses.subjects += u64::from(last != Some([subject, property]));
            last = Some([subject, property]);
            if kind == Some(property) {
                *classes.entry(object).or_default() += 1;
            }
        }
        let subjects = rows.chunk_by(|a, b| a[0] == b[0]).count() as u64;
        rows.sort_unstable_by_key(|&[_, property, object]| (property, object));
        for pair in rows.chunk_by(|a, b| a[1..] == b[1..]) {
            properties.entry(pair[0][1]).or_default().objects += 1;
        }
        let mut objects: Vec<u32> = rows.iter().map(|row| row[2]).collect();
        objects.sort_unstable();
        objects.dedup();
        Self {
            all: UsageCounts {
                triples: rows.len() as u64,
                subjects,
                objects: objects.len() as u64,
            },
            properties: replace_ids(properties, &term),
            classes: replace_ids(classes, &term),
        }
    }

    /// Counts a streamed graph as [`Self::from_graph`] does. `folder` is for temporary files; it need not exist and is
    /// removed at the end.
    ///
    /// Memory: one bit for each term, eight bytes for each literal with the value of an earlier one, the objects of one subject and
    /// property, and the counts.
    ///
    /// # Errors
    /// If the graph cannot be read, or a temporary file cannot be written.
    pub fn from_stream(graph: &StreamedGraph, folder: &Path) -> io::Result<Self> {
        let same = equal_values_in_stream(graph, folder)?;
        let kind = graph.iri(rdf::TYPE)?;
        let mut properties: FxHashMap<u32, UsageCounts> = FxHashMap::default();
        let mut classes: FxHashMap<u32, u64> = FxHashMap::default();
        let mut is_object = vec![0_u64; graph.term_count().div_ceil(64)];
        let mut pairs = ExternalSorter::new(folder.to_owned());
        let mut all = UsageCounts::default();
        let mut last_subject = None;
        let mut triples = graph.triples()?.peekable();
        let mut objects: Vec<u32> = Vec::new();
        while let Some(first) = triples.next() {
            let first = first?;
            objects.clear();
            objects.push(first_equal_id(&same, first.object.0));
            // An error ends the group, and the outer loop returns it.
            while let Some(next) = triples.next_if(|next| {
                next.as_ref().is_ok_and(|next| {
                    (next.subject, next.predicate) == (first.subject, first.predicate)
                })
            }) {
                objects.push(first_equal_id(&same, next?.object.0));
            }
            // Equal values need not be neighbours in the order of ids, so their pairs can repeat.
            objects.sort_unstable();
            objects.dedup();
            all.subjects += u64::from(last_subject != Some(first.subject));
            last_subject = Some(first.subject);
            let uses = properties.entry(first.predicate.0).or_default();
            uses.triples += objects.len() as u64;
            uses.subjects += 1;
            for &object in &objects {
                is_object[object as usize / 64] |= 1 << (object % 64);
                // The sorter removes repeated keys: each pair of property and object counts once.
                pairs.push(u64::from(first.predicate.0) << 32 | u64::from(object))?;
                if kind == Some(first.predicate) {
                    *classes.entry(object).or_default() += 1;
                }
            }
        }
        for pair in pairs.finish()? {
            // The upper half is the property, as pushed above.
            properties.entry((pair? >> 32) as u32).or_default().objects += 1;
        }
        all.triples = properties.values().map(|uses| uses.triples).sum();
        all.objects = is_object
            .iter()
            .map(|bits| u64::from(bits.count_ones()))
            .sum();
        let terms = terms_in_store(graph, properties.keys().chain(classes.keys()))?;
        Ok(Self {
            all,
            properties: replace_ids(properties, |id| terms[&id].clone()),
            classes: replace_ids(classes, |id| terms[&id].clone()),
        })
    }

    /// Writes the counts of a version if their file is missing or damaged.
    pub fn write_if_missing(
        home: &Path,
        version: &str,
        graph: &TripleGraph,
    ) -> Result<(), StoreError> {
        match Self::read(home, version) {
            Some(_) => Ok(()),
            None => Self::from_graph(graph).write(home, version),
        }
    }

    /// Writes the file with the counts of a version. It is not synced.
    pub fn write(&self, home: &Path, version: &str) -> Result<(), StoreError> {
        let path = path(home, version);
        let body = serde_json::to_vec(self).map_err(|error| StoreError::io(&path)(error.into()))?;
        graph_file::write_without_sync(&path, &graph_file::with_checksum(&body))
    }

    /// Reads the counts of a version. Returns `None` if their file is missing or damaged.
    pub fn read(home: &Path, version: &str) -> Option<Self> {
        let bytes = fs::read(path(home, version)).ok()?;
        serde_json::from_slice(graph_file::verify_body(&bytes)?).ok()
    }
}

pub(super) fn path(home: &Path, version: &str) -> PathBuf {
    home.join("graphs").join(format!("{version}.{SUFFIX}"))
}

/// Returns true if a file name is that of counts.
pub fn is_counts(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == SUFFIX)
}

fn replace_ids<C>(
    counts: FxHashMap<u32, C>,
    term: impl Fn(u32) -> Term,
) -> Vec<(SerializedTerm, C)> {
    let mut counts: Vec<(SerializedTerm, C)> = counts
        .into_iter()
        .map(|(id, count)| (term(id).into(), count))
        .collect();
    // The order of a hash map differs between runs, that of the file must not.
    counts.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    counts
}

/// Returns a map from literals to the first literal with the same value, as which the store keeps them. Triple terms that differ in
/// such literals only are mapped, too.
fn equal_values(graph: &TripleGraph) -> FxHashMap<u32, u32> {
    let (mut first, mut same) = (FxHashMap::default(), FxHashMap::<u32, u32>::default());
    for id in graph.literals() {
        let TermRef::Literal {
            lexical,
            kind: LiteralKind::Datatype(datatype),
        } = graph.term(id)
        else {
            continue;
        };
        let Some(value) = canonical_value(lexical, datatype) else {
            continue;
        };
        match first.entry(value) {
            Entry::Vacant(place) => {
                place.insert(id.0);
            }
            Entry::Occupied(known) => {
                same.insert(id.0, *known.get());
            }
        }
    }
    // After the literals, whose representatives the objects of triple terms get here.
    let mut triple_terms = FxHashMap::default();
    for id in graph.triple_terms() {
        let TermRef::Triple(mut triple) = graph.term(id) else {
            continue;
        };
        triple.object.0 = same
            .get(&triple.object.0)
            .copied()
            .unwrap_or(triple.object.0);
        let known = *triple_terms.entry(triple).or_insert(id.0);
        if known != id.0 {
            same.insert(id.0, known);
        }
    }
    same
}

/// Returns sorted pairs of a literal of a streamed graph and the first literal with the same value. Values are compared by 64-bit
/// hashes, which are sorted on disk.
fn equal_values_in_stream(graph: &StreamedGraph, folder: &Path) -> io::Result<Vec<(u32, u32)>> {
    let mut sorter = ExternalSorter::new(folder.to_owned());
    let mut terms = graph.terms()?;
    while let Some((id, term)) = terms.next_term()? {
        if let TermRef::Literal {
            lexical,
            kind: LiteralKind::Datatype(datatype),
        } = term
            && let Some(value) = canonical_value(lexical, datatype)
        {
            let digest = Sha256::digest(format!("{} {}", value.0, value.1));
            let hash = digest
                .iter()
                .take(8)
                .fold(0, |hash, byte| hash << 8 | u128::from(*byte));
            sorter.push(hash << 64 | u128::from(id.0))?;
        }
    }
    let mut same = Vec::new();
    let mut first: Option<(u64, u32)> = None;
    for key in sorter.finish()? {
        let key = key?;
        let (hash, id) = ((key >> 64) as u64, key as u32);
        match first {
            // Keys are sorted by hash, then by id: the first one is the literal with the lowest id, as in
            // `equal_values`.
            Some((known, first)) if known == hash => same.push((id, first)),
            _ => first = Some((hash, id)),
        }
    }
    same.sort_unstable();
    Ok(same)
}

/// Returns the first literal with the same value in the pairs of [`equal_values_in_stream`], or the id itself.
fn first_equal_id(pairs: &[(u32, u32)], id: u32) -> u32 {
    match pairs.binary_search_by_key(&id, |pair| pair.0) {
        Ok(place) => pairs[place].1,
        Err(_) => id,
    }
}

/// Returns some terms of a streamed graph in the form that the store returns.
fn terms_in_store<'i>(
    graph: &StreamedGraph,
    ids: impl Iterator<Item = &'i u32>,
) -> io::Result<FxHashMap<u32, Term>> {
    let ids: BTreeSet<TermId> = ids.map(|id| TermId(*id)).collect();
    let ids: Vec<TermId> = ids.into_iter().collect();
    let selected = graph.select_terms(&ids)?;
    Ok(ids
        .iter()
        .enumerate()
        .map(|(place, id)| (id.0, in_store(&selected, TermId(place as u32))))
        .collect())
}

/// Returns the datatype and canonical form that the store keeps for a literal. `None` for literals that it does not change.
fn canonical_value<'d>(lexical: &str, datatype: &'d str) -> Option<(&'d str, String)> {
    fn canonical<V: FromStr + Display>(lexical: &str) -> Option<String> {
        lexical.parse::<V>().ok().map(|value| value.to_string())
    }
    let name = datatype.strip_prefix(XSD)?;
    let form = match name {
        "boolean" => canonical::<Boolean>(lexical),
        "float" => canonical::<Float>(lexical),
        "double" => canonical::<Double>(lexical),
        "integer" | "byte" | "short" | "int" | "long" | "unsignedByte" | "unsignedShort"
        | "unsignedInt" | "unsignedLong" | "positiveInteger" | "negativeInteger"
        | "nonPositiveInteger" | "nonNegativeInteger" => {
            return canonical::<Integer>(lexical).map(|form| ("integer", form));
        }
        "decimal" => canonical::<Decimal>(lexical),
        "dateTime" | "dateTimeStamp" => {
            return canonical::<DateTime>(lexical).map(|form| ("dateTime", form));
        }
        "time" => canonical::<Time>(lexical),
        "date" => canonical::<Date>(lexical),
        "gYearMonth" => canonical::<GYearMonth>(lexical),
        "gYear" => canonical::<GYear>(lexical),
        "gMonthDay" => canonical::<GMonthDay>(lexical),
        "gDay" => canonical::<GDay>(lexical),
        "gMonth" => canonical::<GMonth>(lexical),
        "duration" => canonical::<Duration>(lexical),
        "yearMonthDuration" => canonical::<YearMonthDuration>(lexical),
        "dayTimeDuration" => canonical::<DayTimeDuration>(lexical),
        _ => None,
    };
    form.map(|form| (name, form))
}

/// Returns a literal in the form that the store returns. `None` if the store does not change it.
pub(super) fn to_stored_literal(lexical: &str, datatype: &str) -> Option<Literal> {
    let (name, form) = canonical_value(lexical, datatype)?;
    Some(Literal::new_typed_literal(
        form,
        NamedNode::new_unchecked(format!("{XSD}{name}")),
    ))
}

/// Returns a term in the form that the store returns.
fn in_store(graph: &TripleGraph, id: TermId) -> Term {
    match graph.term(id) {
        TermRef::Literal {
            lexical,
            kind: LiteralKind::Datatype(datatype),
        } => match to_stored_literal(lexical, datatype) {
            Some(literal) => literal.into(),
            None => graph.to_term(id),
        },
        TermRef::Triple(triple) => {
            let stored = Triple {
                object: in_store(graph, triple.object),
                ..graph.to_triple(triple)
            };
            stored.into()
        }
        _ => graph.to_term(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use oxigraph::store::Store as Oxigraph;
    use oxrdf::{GraphName, NamedNodeRef, Quad, TripleRef};
    use proptest::prelude::*;

    fn datatype() -> impl Strategy<Value = &'static str> {
        proptest::sample::select(vec![
            "boolean",
            "float",
            "double",
            "integer",
            "int",
            "long",
            "unsignedByte",
            "decimal",
            "dateTime",
            "dateTimeStamp",
            "time",
            "date",
            "gYearMonth",
            "gYear",
            "gMonthDay",
            "gDay",
            "gMonth",
            "duration",
            "yearMonthDuration",
            "dayTimeDuration",
            "string",
            "anyURI",
        ])
    }

    fn lexical() -> impl Strategy<Value = String> {
        let dates = vec![
            "true",
            "1",
            "2000-01-01T24:00:00Z",
            "2000-01-02T00:00:00Z",
            "2000-01-02T00:00:00+00:00",
            "2000-01-02T00:00:00.0Z",
            "2000-01-02",
            "2000-01-02Z",
            "2000-01",
            "2000",
            "--01-02",
            "---02",
            "--01",
            "P1Y",
            "P12M",
            "P1D",
            "PT24H",
            "P0D",
            "P0M",
            "24:00:00",
            "00:00:00",
            "00:00:00.00",
            "NaN",
            "INF",
            "+INF",
            "-0",
            "0",
            "99999999999999999999",
            "1e400",
        ];
        prop_oneof![
            "[+-]?0{0,2}[0-2]{0,2}(\\.[05]{0,2})?([eE][+-]?[01])?",
            proptest::sample::select(dates).prop_map(str::to_owned),
        ]
    }

    proptest! {
        /// The counts equal those of Oxigraph for literals with equal values.
        #[test]
        fn literals_are_counted_as_in_the_store(
            triples in proptest::collection::vec(("[ab]", "[pq]", lexical(), datatype()), 0..40),
        ) {
            let (store, mut builder) = (Oxigraph::new().expect("a store"), TripleGraphBuilder::new());
            let node = |name: &str| NamedNode::new_unchecked(format!("ex:{name}"));
            for (subject, property, lexical, datatype) in &triples {
                let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
                let literal = Literal::new_typed_literal(lexical, datatype);
                let (subject, property) = (node(subject), node(property));
                builder.insert(TripleRef::new(&subject, &property, &literal));
                store.insert(&Quad::new(subject, property, literal, GraphName::DefaultGraph)).expect("inserted");
            }
            let graph = builder.finish();
            let counts = GraphCounts::from_graph(&graph);
            let compact = graph.to_compact();
            let stream = StreamedGraph::open(move || Ok(Box::new(io::Cursor::new(compact.clone())))).expect("opened");
            let folder = tempfile::tempdir().expect("a folder");
            let scratch = folder.path().join("scratch");
            fs::create_dir(&scratch).expect("made");
            prop_assert_eq!(&GraphCounts::from_stream(&stream, &scratch).expect("read"), &counts);
            prop_assert!(!scratch.exists(), "temporary files remain");
            prop_assert_eq!(counts.all.triples, store.len().expect("counted") as u64);
            for (property, uses) in counts.properties {
                let SerializedTerm::Iri(property) = property else { panic!("{property:?} is no property") };
                let property = NamedNodeRef::new_unchecked(&property);
                let quads = || store.quads_for_pattern(None, Some(property), None, None).map(|quad| quad.expect("read"));
                let objects: std::collections::HashSet<_> = quads().map(|quad| quad.object).collect();
                let subjects: std::collections::HashSet<_> = quads().map(|quad| quad.subject).collect();
                let found = UsageCounts { triples: quads().count() as u64, subjects: subjects.len() as u64, objects: objects.len() as u64 };
                prop_assert_eq!(uses, found);
            }
        }
    }

    #[test]
    fn damaged_counts_are_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("graphs")).expect("made");
        let counts = GraphCounts {
            classes: vec![(SerializedTerm::Iri("ex:C".to_owned()), 7)],
            ..GraphCounts::default()
        };
        counts.write(folder.path(), "v").expect("written");
        assert_eq!(GraphCounts::read(folder.path(), "v"), Some(counts));
        let path = path(folder.path(), "v");
        let damaged = fs::read_to_string(&path).expect("read").replace('7', "8");
        fs::write(&path, damaged).expect("written");
        assert_eq!(GraphCounts::read(folder.path(), "v"), None);
        assert_eq!(GraphCounts::read(folder.path(), "w"), None);
    }
}
