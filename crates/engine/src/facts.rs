//! The facets and numeric facts of a dataset, from its metadata, its content and its origin.

use super::Coverage;
use super::content_terms::ContentTerms;
use lodeseek_catalog::{Dataset, Scheme};
use lodeseek_index::{Facet, Facts, NumericFacts, TableColumn};
use lodeseek_profile::Profile;
use lodeseek_rdf::vocab::{PREFIXES, csvw};
use lodeseek_rdf::{
    Labels, LiteralKind, TableGraph, TermId, TermRef, TripleGraph, language_name, local_name,
    namespace, words,
};
use lodeseek_store::Entry;
use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of a facet value in characters. Longer values are texts and are ignored.
const MAX_VALUE_CHARS: usize = 200;
/// Maximum number of values of a facet of a dataset, the most frequent of its content: some datasets have one class for each
/// entity.
const MAX_VALUES: usize = 1000;

/// Datatypes of the numbers of tables.
const NUMBER_TYPES: [NamedNodeRef<'static>; 3] = [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE];

/// Returns the facts of a dataset. Its languages are those that the catalogue declares, and those of the language tags in
/// its content.
pub(super) fn facts(
    entry: &Entry,
    profile: &Profile,
    graph: &TripleGraph,
    coverage: &Coverage,
) -> Facts {
    let metadata = &entry.dataset.metadata;
    let tables = TableGraph::new(graph);
    let content = ContentTerms::new(graph);
    let mut values = Values::default();
    for theme in &metadata.themes {
        values.add(facet_of_scheme(theme.scheme), [theme.label.as_str()]);
    }
    values.add(Facet::Theme, entry.dataset.theme_names());
    values.add(
        Facet::Class,
        classes(&entry.dataset, profile, graph, content.as_ref()),
    );
    values.add(
        Facet::Keyword,
        metadata
            .keywords
            .iter()
            .map(|keyword| keyword.value.as_str()),
    );
    values.add(
        Facet::Publisher,
        metadata.publishers.iter().map(|agent| agent.name.as_str()),
    );
    values.add(
        Facet::Creator,
        metadata.agents().map(|agent| agent.name.as_str()),
    );
    values.add(Facet::Format, entry.dataset.format_names());
    values.add(Facet::License, entry.dataset.licenses());
    values.add(Facet::Language, entry.dataset.language_names());
    values.add(
        Facet::Language,
        profile.languages.iter().map(|(tag, _)| language_name(tag)),
    );
    values.add(
        Facet::Vocabulary,
        vocabularies(&entry.dataset, profile, content.as_ref()),
    );
    values.add(Facet::Source, portal_host(entry));
    let (year, variants) = (metadata.first_year(), metadata.alternatives.len() as u64);
    Facts {
        numbers: NumericFacts {
            year,
            uses: metadata.uses,
            variants,
        },
        values: values.all,
        place: coverage.place.as_ref().map(|place| place.bounds),
        period: coverage.period.as_ref().map(|period| period.period),
        columns: tables
            .as_ref()
            .map(|tables| table_columns(graph, tables))
            .unwrap_or_default(),
    }
}

/// Returns the columns of tables by their labels and headers, with the range of their numbers.
fn table_columns(graph: &TripleGraph, tables: &TableGraph<'_>) -> Vec<TableColumn> {
    let mut columns = Vec::new();
    for table in tables.tables() {
        let mut ranges: FxHashMap<TermId, (f64, f64)> = FxHashMap::default();
        for cell in table.rows.iter().flat_map(|(_, row)| tables.cells(*row)) {
            if let Some(number) = number_of(graph.term(cell.object)) {
                let range = ranges.entry(cell.predicate).or_insert((number, number));
                *range = (range.0.min(number), range.1.max(number));
            }
        }
        for column in table.columns.into_iter().take(MAX_VALUES) {
            for name in column_names(graph, column) {
                if name.chars().count() <= MAX_VALUE_CHARS {
                    let range = ranges.get(&column).copied();
                    columns.push(TableColumn { name, range });
                }
            }
        }
    }
    columns
}

/// Returns the label of a column, and its header if it differs.
pub(super) fn column_names(graph: &TripleGraph, column: TermId) -> Vec<String> {
    let title = graph.iri(csvw::TITLE);
    let label = Labels::for_terms(graph, &["en"], [column]).label(column);
    let mut names: Vec<String> = label.into_iter().collect();
    for triple in graph.subject_triples(column) {
        if Some(triple.predicate) == title {
            names.push(graph.term(triple.object).text().to_owned());
        }
    }
    names
}

/// Returns the value of a numeric literal.
pub(super) fn number_of(term: TermRef<'_>) -> Option<f64> {
    match term {
        TermRef::Literal {
            lexical,
            kind: LiteralKind::Datatype(datatype),
        } if NUMBER_TYPES
            .iter()
            .any(|number| number.as_str() == datatype) =>
        {
            lexical
                .parse()
                .ok()
                // `INF` and `NaN` are numbers of XML Schema, but none in a range.
                .filter(|number: &f64| number.is_finite())
        }
        _ => None,
    }
}

/// Distinct facet values, in the order of insertion.
#[derive(Default)]
struct Values {
    all: Vec<(Facet, String)>,
    seen: FxHashSet<(Facet, String)>,
    numbers: FxHashMap<Facet, usize>,
}

impl Values {
    fn add<T: AsRef<str>>(&mut self, facet: Facet, values: impl IntoIterator<Item = T>) {
        let number = self.numbers.entry(facet).or_default();
        for value in values {
            if *number == MAX_VALUES {
                return;
            }
            let value = (
                facet,
                value
                    .as_ref()
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
            );
            let is_value = !value.1.is_empty() && value.1.chars().count() <= MAX_VALUE_CHARS;
            if is_value && self.seen.insert(value.clone()) {
                *number += 1;
                self.all.push(value);
            }
        }
    }
}

/// Returns the IRIs of its classes: first those of the stored content, then those of its endpoint. Classes of the description of
/// tables are omitted.
fn classes<'d>(
    dataset: &'d Dataset,
    profile: &'d Profile,
    graph: &'d TripleGraph,
    content: Option<&'d ContentTerms<'d>>,
) -> impl Iterator<Item = &'d str> {
    let stored = profile
        .classes
        .iter()
        .filter_map(move |&(class, _)| match graph.term(class) {
            TermRef::Iri(iri) if content.is_none_or(|content| content.contains(class)) => Some(iri),
            _ => None,
        });
    let remote = dataset
        .remote
        .iter()
        .flat_map(|remote| &remote.classes)
        .map(|(class, _)| class.as_str());
    stored.chain(remote)
}

/// Returns the namespaces of its classes and properties. Those of the description of tables are omitted.
fn vocabularies<'d>(
    dataset: &'d Dataset,
    profile: &'d Profile,
    content: Option<&ContentTerms<'d>>,
) -> impl Iterator<Item = &'d str> {
    let remote = dataset
        .remote
        .iter()
        .flat_map(|remote| remote.classes.iter().chain(&remote.properties));
    let remote = remote.filter_map(|(iri, _)| namespace(iri));
    let all = profile.vocabularies.iter();
    let stored = match content {
        Some(content) => content.namespaces(),
        None => all.map(|(namespace, _)| namespace.as_str()).collect(),
    };
    stored.into_iter().chain(remote)
}

/// Returns the host of the catalogue that it was harvested from or, if it was loaded from a file, the host of its IRI.
pub(super) fn portal_host(entry: &Entry) -> Option<String> {
    let address = entry
        .origin
        .as_deref()
        .or(entry.dataset.metadata.source.as_deref())?;
    let rest = address
        .strip_prefix("https://")
        .or_else(|| address.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?.to_lowercase();
    Some(match host.strip_prefix("www.") {
        Some(rest) => rest.to_owned(),
        None => host,
    })
}

fn facet_of_scheme(scheme: Scheme) -> Facet {
    match scheme {
        Scheme::Task => Facet::Task,
        Scheme::Modality => Facet::Modality,
        Scheme::Language => Facet::Language,
    }
}

/// Returns the label of a facet value: for an IRI its prefixed name, or else its local name or shortened address.
///
/// ```
/// use lodeseek_engine::{Facet, facet_label};
/// assert_eq!(facet_label(Facet::Class, "http://xmlns.com/foaf/0.1/Person"), "foaf:Person");
/// assert_eq!(facet_label(Facet::Class, "http://example.org/WaterSample"), "Water Sample");
/// assert_eq!(facet_label(Facet::Vocabulary, "http://www.example.org/terms#"), "example.org/terms");
/// assert_eq!(facet_label(Facet::License, "https://example.org/by/4.0/"), "example.org/by/4.0");
/// ```
#[must_use]
pub fn facet_label(facet: Facet, value: &str) -> String {
    match facet {
        Facet::Class => match namespace(value).and_then(find_prefix) {
            Some(prefix) => format!("{prefix}:{}", local_name(value)),
            None => words(local_name(value)),
        },
        Facet::Vocabulary => match find_prefix(value) {
            Some(prefix) => prefix.to_owned(),
            None => shorten_address(value.trim_end_matches('#')),
        },
        _ => shorten_address(value),
    }
}

/// Returns the well-known prefix of a namespace.
fn find_prefix(namespace: &str) -> Option<&'static str> {
    let known = PREFIXES.iter().find(|(_, known)| *known == namespace)?;
    Some(known.0)
}

/// Returns the namespace of a well-known prefix.
fn find_namespace(prefix: &str) -> Option<&'static str> {
    let known = PREFIXES.iter().find(|(known, _)| *known == prefix)?;
    Some(known.1)
}

/// Returns an address without scheme, `www.` and trailing slashes.
fn shorten_address(value: &str) -> String {
    let address = value
        .strip_prefix("https://")
        .or_else(|| value.strip_prefix("http://"));
    let short = match address {
        Some(rest) => rest.trim_start_matches("www.").trim_end_matches('/'),
        None => value,
    };
    short.to_owned()
}

/// Returns the facet value for a text typed by a user: expands IRIs written with a well-known prefix.
///
/// ```
/// use lodeseek_engine::{Facet, facet_value};
/// assert_eq!(facet_value(Facet::Class, "foaf:Person"), "http://xmlns.com/foaf/0.1/Person");
/// assert_eq!(facet_value(Facet::Vocabulary, "foaf"), "http://xmlns.com/foaf/0.1/");
/// assert_eq!(facet_value(Facet::Keyword, "foaf"), "foaf");
/// ```
#[must_use]
pub fn facet_value(facet: Facet, text: &str) -> String {
    let iri = match facet {
        Facet::Class => text
            .split_once(':')
            .and_then(|(prefix, name)| Some(format!("{}{name}", find_namespace(prefix)?))),
        Facet::Vocabulary => find_namespace(text.trim_end_matches(':')).map(str::to_owned),
        _ => None,
    };
    iri.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::{Agent, DatasetId, Metadata, RemoteContent, Text, Theme};
    use lodeseek_catalog::{Distribution, Extent, Location};
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::vocab::rdf;
    use oxrdf::{Literal, NamedNodeRef, TripleRef};

    fn entry(metadata: Metadata) -> Entry {
        Entry {
            dataset: Dataset::new(metadata),
            version: String::new(),
            origin: None,
        }
    }

    fn values(entry: &Entry, graph: &TripleGraph) -> Vec<(Facet, String)> {
        facts(entry, &Profile::new(graph), graph, &Coverage::default()).values
    }

    #[test]
    fn tags_and_names_of_a_language_are_one_value() {
        let theme = |label: &str| Theme {
            label: label.to_owned(),
            scheme: Scheme::Language,
            iri: None,
        };
        let entry = entry(Metadata {
            themes: vec![theme("English"), theme(" Old  Norse ")],
            keywords: vec![Text::plain(""), Text::plain("x".repeat(201))],
            alternatives: vec![Text::plain("A"), Text::plain("B")],
            issued: Some("2011-05".to_owned()),
            uses: Some(7),
            ..Metadata::new(DatasetId::new("1").expect("an id"))
        });
        let graph = TripleGraphBuilder::new().finish();
        let profile = Profile {
            languages: vec![("en-GB".to_owned(), 3), ("de".to_owned(), 1)],
            ..Profile::default()
        };
        let facts = facts(&entry, &profile, &graph, &Coverage::default());
        let values: Vec<(Facet, &str)> = facts
            .values
            .iter()
            .map(|(facet, value)| (*facet, value.as_str()))
            .collect();
        assert_eq!(
            values,
            ["English", "Old Norse", "German"].map(|name| (Facet::Language, name))
        );
        assert_eq!(
            facts.numbers,
            NumericFacts {
                year: Some(2011),
                uses: Some(7),
                variants: 2
            }
        );
    }

    #[test]
    fn content_here_and_elsewhere_has_classes_and_vocabularies() {
        let mut builder = TripleGraphBuilder::new();
        let node = |iri| NamedNodeRef::new_unchecked(iri);
        let literal = Literal::from("a");
        builder.insert(TripleRef::new(
            node("http://e.org/1"),
            node(rdf::TYPE),
            node("http://e.org/terms#Well"),
        ));
        builder.insert(TripleRef::new(
            node("http://e.org/1"),
            node("http://e.org/names/name"),
            &literal,
        ));
        let mut entry = entry(Metadata {
            publishers: vec![Agent {
                name: "City".to_owned(),
                iri: None,
            }],
            source: Some("https://www.Data.example.org/dataset/1".to_owned()),
            ..Metadata::new(DatasetId::new("1").expect("an id"))
        });
        entry.dataset.distributions = vec![Distribution::new(Location::from_text("wells.nt.gz"))];
        entry.dataset.remote = Some(RemoteContent {
            endpoint: "http://e.org/sparql".to_owned(),
            graph: None,
            extent: Extent::Sample,
            triples: None,
            classes: vec![("http://e.org/other/Pump".to_owned(), 3)],
            properties: Vec::new(),
        });
        let found = values(&entry, &builder.finish());
        let of = |facet: Facet| {
            let of_facet = found.iter().filter(move |(other, _)| *other == facet);
            of_facet
                .map(|(_, value)| value.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of(Facet::Class),
            ["http://e.org/terms#Well", "http://e.org/other/Pump"]
        );
        let mut vocabularies = of(Facet::Vocabulary);
        vocabularies.sort_unstable();
        let own = [
            "http://e.org/names/",
            "http://e.org/other/",
            "http://e.org/terms#",
        ];
        assert!(
            own.iter().all(|namespace| vocabularies.contains(namespace)),
            "{vocabularies:?}"
        );
        assert_eq!(
            (of(Facet::Publisher), of(Facet::Format)),
            (vec!["City"], vec!["N-Triples", "SPARQL"])
        );
        assert_eq!(of(Facet::Source), ["data.example.org"]);
        entry.origin = Some("https://portal.example.org:8080/catalog.ttl?page=1".to_owned());
        assert_eq!(
            portal_host(&entry).as_deref(),
            Some("portal.example.org:8080")
        );
    }
}
