//! The invariant of all readers: every value of a catalogue is in the description of a dataset, or a problem names it.
//!
//! The values of JSON are its leaves. Those of RDF are the objects that are reachable from a dataset. They are compared with the
//! description in RDF after normalisation: white space at the ends, percent-encoding of IRIs, prefixes of media types and of
//! addresses, lists in one text.

use lodeseek_catalog::{Catalog, Dataset, Dialect, Iris, dcat};
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::vocab::{dcat as terms, foaf, rdf, void};
use lodeseek_rdf::{TermId, TermRef, TripleGraph, TripleGraphBuilder};
use oxrdf::{Term, Triple};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Base of relative IRIs in the test's own reading of a file.
const BASE: &str = "file:///lossless-base/";
const MEDIA_TYPES: [&str; 2] = [
    "https://www.iana.org/assignments/media-types/",
    "http://www.iana.org/assignments/media-types/",
];
/// Keys of the response around the packages of CKAN: they are no values of a dataset.
const ENVELOPE: [&str; 8] = [
    "help",
    "success",
    "count",
    "sort",
    "facets",
    "search_facets",
    "expanded",
    "conformsTo",
];

/// A value of a catalogue.
#[derive(Clone, Debug)]
struct Leaf {
    /// Place in the document, or property in the graph.
    place: String,
    /// Key or property.
    key: String,
    text: String,
    /// Language tag in lower case.
    language: Option<String>,
    /// IRIs on the way from the dataset to the value, if it is from RDF.
    path: Vec<String>,
}

/// Values of descriptions in normalised form.
#[derive(Default)]
struct Described {
    texts: HashSet<String>,
    /// Pairs of a text and a language tag in lower case.
    tagged: HashSet<(String, String)>,
}

impl Described {
    fn new<'d>(datasets: impl IntoIterator<Item = &'d Dataset>) -> Self {
        let mut described = Self::default();
        for dataset in datasets {
            for triple in dcat::to_triples(dataset, &Iris::default()) {
                described.add(&triple);
            }
        }
        described
    }

    fn add(&mut self, triple: &Triple) {
        match &triple.object {
            Term::NamedNode(iri) => self.add_text(iri.as_str()),
            Term::Literal(literal) => {
                self.add_text(literal.value());
                if let Some(tag) = literal.language() {
                    self.tagged
                        .insert((literal.value().trim().to_owned(), tag.to_ascii_lowercase()));
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        let text = text.trim();
        if let Some(value) = nested(text) {
            let mut inner = Vec::new();
            leaves(&value, "", "", &mut inner);
            self.texts
                .extend(inner.into_iter().map(|leaf| leaf.text.trim().to_owned()));
        }
        // The sides of a box become a geometry.
        if ["POLYGON", "POINT", "<http://www.opengis.net/def/crs"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            let numbers = text.split(|character: char| !matches!(character, '0'..='9' | '.' | '-'));
            self.texts.extend(numbers.map(str::to_owned));
        }
        // JSON-LD has numbers in the form of xsd:double.
        self.texts.extend(number(text));
        self.texts.insert(decoded(text));
        self.texts.insert(text.to_owned());
    }

    fn contains(&self, leaf: &Leaf) -> bool {
        match &leaf.language {
            Some(tag) => {
                let text = leaf.text.trim();
                let is_code = UNTAGGED.iter().any(|part| leaf.place.contains(part));
                self.tagged.contains(&(text.to_owned(), tag.clone()))
                    || is_code && self.contains_text(text)
            }
            None => self.contains_text(leaf.text.trim()),
        }
    }

    fn contains_text(&self, text: &str) -> bool {
        let plain = text.strip_prefix(BASE).unwrap_or(text);
        let mut forms = vec![
            plain.to_owned(),
            decoded(plain),
            lodeseek_catalog::plain_text(plain).into_owned(),
        ];
        forms.extend(number(plain));
        forms.extend(
            ["mailto:", "tel:", "https://orcid.org/", MEDIA_TYPES[0]]
                .map(|prefix| format!("{prefix}{plain}")),
        );
        if let Some(name) = MEDIA_TYPES
            .iter()
            .find_map(|prefix| plain.strip_prefix(prefix))
        {
            forms.extend([name.to_owned(), format!("{}{name}", MEDIA_TYPES[0])]);
        }
        if let Some(rest) = plain.strip_prefix("https://schema.org/") {
            forms.push(format!("http://schema.org/{rest}"));
        }
        if text.is_empty() || forms.iter().any(|form| self.texts.contains(form)) {
            return true;
        }
        if let Some(value) = nested(plain) {
            let mut inner = Vec::new();
            leaves(&value, "", "", &mut inner);
            return inner
                .iter()
                .all(|leaf| self.contains_text(leaf.text.trim()));
        }
        [",", ";", "/", "\n"].iter().any(|separator| {
            let mut parts = plain
                .split(separator)
                .map(str::trim)
                .filter(|part| !matches!(*part, "" | ".."));
            plain.contains(separator) && parts.all(|part| self.contains_text(part))
        })
    }
}

/// Returns a number in one form for all its spellings.
fn number(text: &str) -> Option<String> {
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .map(|number| format!("number {number}"))
}

/// Returns the JSON in a text, if it is an object or a list.
fn nested(text: &str) -> Option<Value> {
    text.starts_with(['{', '['])
        .then(|| serde_json::from_str(text).ok())?
}

/// Decodes the percent-encoding of a text.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut place) = (Vec::with_capacity(bytes.len()), 0);
    while place < bytes.len() {
        let hex = bytes
            .get(place + 1..place + 3)
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (bytes[place], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                place += 3;
            }
            (byte, _) => {
                out.push(byte);
                place += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Adds the leaves of a JSON value.
fn leaves(value: &Value, place: &str, key: &str, out: &mut Vec<Leaf>) {
    let text = match value {
        Value::Null => return,
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                leaves(value, &format!("{place}[{number}]"), key, out);
            }
            return;
        }
        Value::Object(object) => {
            // The class of an object follows from its key; the key of an extra is no value.
            let is_extra = key == "extras" && object.contains_key("value");
            let values = object
                .iter()
                .filter(|(key, _)| *key != "@type" && !(is_extra && *key == "key"));
            for (key, value) in values {
                leaves(value, &format!("{place}.{key}"), key, out);
            }
            return;
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if !text.trim().is_empty() {
        out.push(Leaf {
            place: place.to_owned(),
            key: key.to_owned(),
            text,
            language: None,
            path: Vec::new(),
        });
    }
}

/// Adds the values of the resources that are reachable from the datasets of a graph.
fn reachable(graph: &TripleGraph, dialect: Dialect) -> Vec<Leaf> {
    let classes: &[&str] = match dialect {
        Dialect::SchemaOrg => &["http://schema.org/Dataset", "https://schema.org/Dataset"],
        Dialect::Void => &[void::DATASET],
        _ => &[terms::DATASET, terms::DATASET_SERIES],
    };
    let members = [
        terms::HAS_DATASET,
        terms::RECORD,
        terms::SERVICE,
        terms::CATALOG_PROPERTY,
        terms::SERIES_MEMBER,
        terms::SERVES_DATASET,
        foaf::PRIMARY_TOPIC,
    ];
    let is_class = |term: TermId| classes.contains(&graph.term(term).text());
    let is_type = |term: TermId| graph.term(term).text() == rdf::TYPE;
    let datasets: BTreeSet<TermId> = graph
        .triples()
        .iter()
        .filter(|triple| is_type(triple.predicate) && is_class(triple.object))
        .map(|triple| triple.subject)
        .collect();
    let mut seen = datasets.clone();
    let mut waiting: Vec<TermId> = datasets.iter().copied().collect();
    let mut found = Vec::new();
    let mut parents: BTreeMap<TermId, TermId> = BTreeMap::new();
    while let Some(node) = waiting.pop() {
        let path: Vec<String> =
            std::iter::successors(Some(node), |node| parents.get(node).copied())
                .filter(|node| !datasets.contains(node))
                .map(|node| format!("<{}>", graph.term(node).text()))
                .collect();
        for triple in graph.subject_triples(node) {
            let property = graph.term(triple.predicate).text();
            if members.contains(&property) || is_type(triple.predicate) && is_class(triple.object) {
                continue;
            }
            // The class of a resource of which nothing else is stated follows from the property that leads to it.
            let is_bare = graph
                .subject_triples(node)
                .iter()
                .all(|triple| is_type(triple.predicate));
            if is_bare && !datasets.contains(&node) {
                continue;
            }
            let (text, language) = match graph.term(triple.object) {
                TermRef::Literal { lexical, kind } => (
                    lexical.to_owned(),
                    kind.language().map(str::to_ascii_lowercase),
                ),
                TermRef::Iri(iri) => (iri.to_owned(), None),
                _ => (String::new(), None),
            };
            let place = format!("{} {property}", graph.term(node).text());
            let key = lodeseek_rdf::local_name(property).to_owned();
            // A part of the document has no value of its own.
            let is_part =
                text.starts_with(BASE) && !graph.subject_triples(triple.object).is_empty();
            if !text.is_empty() && !is_part && !datasets.contains(&triple.object) {
                found.push(Leaf {
                    place,
                    key,
                    text,
                    language,
                    path: path.clone(),
                });
            }
            if graph.is_resource(triple.object) && seen.insert(triple.object) {
                parents.insert(triple.object, node);
                waiting.push(triple.object);
            }
        }
    }
    found
}

/// Result of a comparison.
#[derive(Default)]
struct Outcome {
    values: usize,
    reported: usize,
    silent: Vec<Leaf>,
}

impl Outcome {
    fn add(&mut self, leaves: Vec<Leaf>, described: &Described, catalog: &Catalog) {
        for leaf in leaves {
            self.values += 1;
            if described.contains(&leaf) {
                continue;
            }
            let is_named = |line: &str| {
                let has_path = leaf.path.iter().any(|iri| line.contains(iri));
                has_path || line.contains(&leaf.key) || line.contains(leaf.text.trim())
            };
            let mut lines = catalog.problems.iter().chain(&catalog.duplicates);
            if lines.any(|problem| is_named(problem)) {
                self.reported += 1;
            } else {
                self.silent.push(leaf);
            }
        }
    }
}

/// Returns the entries of a JSON catalogue that is read by its keys.
fn entries(document: &Value) -> Vec<&Value> {
    let lists = [
        "results",
        "dataset",
        "datasets",
        "ontologies",
        "features",
        "collections",
    ];
    let content = document.get("result").unwrap_or(document);
    let content = content
        .get("data")
        .filter(|data| data.is_array())
        .unwrap_or(content);
    match content {
        Value::Array(entries) => entries
            .iter()
            .map(|entry| entry.get("attributes").unwrap_or(entry))
            .collect(),
        Value::Object(object) => match lists.iter().find_map(|key| object.get(*key)?.as_array()) {
            Some(entries) => entries.iter().collect(),
            None => vec![content],
        },
        _ => Vec::new(),
    }
}

/// Compares a file with its descriptions. `None` if the file is a dump.
fn compare(path: &Path) -> Option<Outcome> {
    let catalog = Catalog::read(path).unwrap_or_else(|error| panic!("{error}"));
    // Commas before closing brackets are removed, and reported.
    let text = fs::read_to_string(path).expect("a text").replace(",}", "}");
    let mut outcome = Outcome::default();
    let by_keys = match catalog.dialect {
        Dialect::Dump | Dialect::Folder => return None,
        Dialect::DataCite | Dialect::Iso19139 | Dialect::OaiPmh
            if text.trim_start().starts_with("<?xml") =>
        {
            outcome.add(
                xml_leaves(&text),
                &Described::new(&catalog.datasets),
                &catalog,
            );
            return Some(outcome);
        }
        Dialect::Dcat => text.trim_start().starts_with('{') && !text.contains("\"@context\""),
        dialect => !matches!(
            dialect,
            Dialect::SchemaOrg | Dialect::RoCrate | Dialect::Void
        ),
    };
    if by_keys {
        let document: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).expect("JSON");
        let entries = entries(&document);
        // An entry that cannot be read is named by its number.
        let is_reported = |number: usize| {
            let place = format!("entry {}", number + 1);
            catalog.problems.iter().any(|problem| {
                let rest = problem.split_once(&place).map(|(_, rest)| rest);
                rest.is_some_and(|rest| rest.starts_with([':', ' ']))
            })
        };
        let mut objects: Vec<&&Value> = entries.iter().filter(|entry| entry.is_object()).collect();
        if objects.len() != catalog.datasets.len() {
            let read = entries
                .iter()
                .enumerate()
                .filter(|(number, entry)| entry.is_object() && !is_reported(*number));
            objects = read.map(|(_, entry)| entry).collect();
        }
        if objects.len() == catalog.datasets.len() {
            for (entry, dataset) in objects.iter().zip(&catalog.datasets) {
                let mut found = Vec::new();
                leaves(entry, "", "", &mut found);
                outcome.add(found, &Described::new([dataset]), &catalog);
            }
        } else {
            let mut found = Vec::new();
            leaves(&document, "", "", &mut found);
            found.retain(|leaf| {
                !ENVELOPE.contains(&leaf.place.split('.').nth(1).unwrap_or_default())
            });
            outcome.add(found, &Described::new(&catalog.datasets), &catalog);
        }
    } else {
        let mut builder = TripleGraphBuilder::new();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        for (number, piece) in scripts(&text).iter().enumerate() {
            let (name, reader) = if piece.len() == text.len() {
                (name.clone(), DumpReader::default())
            } else {
                (
                    format!("{number}.jsonld"),
                    DumpReader::default().with_media_type("application/ld+json"),
                )
            };
            reader.read(
                piece.as_bytes(),
                &name,
                &format!("{BASE}{name}"),
                &mut builder,
            );
        }
        let found = reachable(&builder.finish(), catalog.dialect);
        outcome.add(found, &Described::new(&catalog.datasets), &catalog);
    }
    Some(outcome)
}

/// Returns the texts of an XML document, with the paths of their elements.
fn xml_leaves(text: &str) -> Vec<Leaf> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for piece in text.split('<').skip(1) {
        let (tag, content) = piece.split_once('>').expect("a tag");
        match tag.strip_prefix('/') {
            Some(_) => drop(open.pop()),
            None if tag.starts_with(['?', '!']) || tag.ends_with('/') => {}
            None => {
                let name = tag.split_ascii_whitespace().next().unwrap_or_default();
                open.push(name.rsplit(':').next().unwrap_or(name).to_owned());
            }
        }
        let text = content.trim().replace("&amp;", "&");
        if !text.is_empty() && !tag.starts_with('/') {
            found.push(Leaf {
                place: format!("/{}", open.join("/")),
                key: open.last().cloned().unwrap_or_default(),
                text,
                language: None,
                path: Vec::new(),
            });
        }
    }
    found
}

/// Returns the scripts with JSON-LD of an HTML page, or the whole text.
fn scripts(text: &str) -> Vec<&str> {
    if !text.contains("<html") {
        return vec![text];
    }
    let text = match (text.find("<!-- "), text.find("-->")) {
        (Some(start), Some(end)) if start < end => &text[end..],
        _ => text,
    };
    let parts = text.split("<script").skip(1).filter(|part| {
        part.split('>')
            .next()
            .is_some_and(|tag| tag.contains("ld+json"))
    });
    parts
        .filter_map(|part| part.split_once('>')?.1.split("</script").next())
        .map(|body| {
            body.trim()
                .trim_start_matches("//<![CDATA[")
                .trim_end_matches("//]]>")
        })
        .collect()
}

/// Parts of places whose values are codes, dates and addresses: a default language of the context does not apply to them.
const UNTAGGED: &[&str] = &[
    "mlcommons.org/croissant",
    "purl.org/dc/terms/conformsTo",
    "schema.org/content",
    "schema.org/date",
    "schema.org/email",
    "schema.org/encodingFormat",
    "schema.org/inLanguage",
    "schema.org/license",
    "schema.org/sameAs",
    "schema.org/sha256",
    "schema.org/temporalCoverage",
    "schema.org/url",
    "schema.org/version",
];

/// Losses that are accepted: (part of the file name, part of the place).
const ACCEPTED: &[(&str, &str)] = &[
    // Links to all members of a service: each dataset has the link to the service.
    ("ckan", ".access_services"),
    // The property of DCAT states the kind of a value.
    ("data-package", ".role"),
    ("datacite", "Type"),
    ("datacite.json", ".titles[1].lang"),
    // A DOI becomes the IRI of the resource.
    ("datacite.json", ".relatedIdentifier"),
    // The context of a document, and the language that it declares for all texts.
    ("csvw.json", "@context"),
    ("csvw.json", "@language"),
    // Codes become IRIs, megabytes bytes, and a scale a text such as 1:10000.
    ("iso-19139.xml", "/LanguageCode"),
    ("iso-19139.xml", "/denominator"),
    ("iso-19139.xml", "/topicCategory"),
    ("iso-19139.xml", "/transferSize"),
    // Only results that pass are conformance.
    ("iso-19139.xml", "/pass"),
    // The envelope of a response, and the times of its records.
    ("oai-", "/OAI-PMH/re"),
    ("oai-", "/header/"),
    // The identifier of a known licence becomes its IRI.
    ("ogc-records.json", ".properties.license"),
    ("stac.json", ".license"),
    ("stac.json", ".type"),
    ("datacite", "Scheme"),
    ("datacite", ".schemeUri"),
    ("ogc-records", ".rel"),
    ("ogc-records", ".roles"),
    ("ogc-records", ".links[2].type"),
    ("stac", ".rel"),
    ("stac", ".providers[0].roles"),
    // A type of Table Schema has another name in CSV on the Web.
    ("data-package", ".fields[1].type"),
    // The algorithm of a checksum becomes an IRI.
    ("data-package", ".hash"),
    // The class of GeoJSON is that of every record, and an open end is none.
    ("ogc-records.json", ".type"),
    ("ogc-records.json", ".time.interval"),
];

/// Returns true if a loss is accepted.
fn is_accepted(name: &str, leaf: &Leaf) -> bool {
    ACCEPTED
        .iter()
        .any(|(file, place)| name.contains(file) && leaf.place.contains(place))
}

/// Prints a table of the files of a folder, and returns the silent losses.
#[expect(
    clippy::print_stdout,
    reason = "the table is the result of the measurement"
)]
fn measure(folder: &Path, extensions: &[&str]) -> Vec<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut lost = Vec::new();
    println!(
        "{:<90} {:>8} {:>8} {:>6}",
        "file", "values", "reported", "silent"
    );
    for path in files {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let is_catalog = extensions.iter().any(|extension| name.ends_with(extension));
        if !is_catalog || name == "MANIFEST.json" {
            continue;
        }
        let Some(Outcome {
            values,
            reported,
            mut silent,
        }) = compare(&path)
        else {
            continue;
        };
        silent.retain(|leaf| !is_accepted(&name, leaf));
        println!("{name:<90} {values:>8} {reported:>8} {:>6}", silent.len());
        lost.extend(silent.iter().map(|leaf| {
            let text: String = leaf.text.chars().take(120).collect();
            format!(
                "{name}: {}{}: {text:?}",
                leaf.place,
                leaf.language
                    .as_ref()
                    .map(|tag| format!("@{tag}"))
                    .unwrap_or_default()
            )
        }));
    }
    lost
}

#[test]
fn no_value_of_the_test_catalogues_is_lost_in_silence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/catalogs");
    let lost = measure(
        &folder,
        &[".json", ".jsonld", ".ttl", ".html", ".rdf", ".xml"],
    );
    assert!(lost.is_empty(), "{} values: {lost:#?}", lost.len());
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests must see what was not tested"
)]
fn no_value_of_real_catalogues_is_lost_in_silence() {
    let folder = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let folder = folder.join("catalogs");
    if !folder.is_dir() {
        eprintln!(
            "SKIPPED: there is no {}; LODESEEK_DATA names the folder above it",
            folder.display()
        );
        return;
    }
    let lost = measure(&folder, &[".json", ".jsonld", ".ttl", ".nt", ".rdf"]);
    assert!(lost.is_empty(), "{} values: {lost:#?}", lost.len());
}

/// A value as portals write it, in the place of a text.
fn value() -> impl Strategy<Value = Value> {
    let text = || "[a-z]{4,9}( [a-z]{4,9})?";
    let tag = || proptest::sample::select(vec!["en", "de", "pt-BR", "not a tag"]);
    prop_oneof![
        6 => text().prop_map(Value::from),
        1 => "https://e\\.example/[a-z]{4,9}( [a-z]{3})?".prop_map(Value::from),
        1 => (1000..99_999_i64).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!("")),
        1 => Just(json!([])),
        1 => Just(json!({})),
        2 => prop::collection::vec(text(), 1..4).prop_map(|texts| json!(texts)),
        2 => prop::collection::btree_map(tag(), text(), 1..3).prop_map(|texts| json!(texts)),
        1 => (tag(), prop::collection::vec(text(), 1..3)).prop_map(|(tag, texts)| json!({tag: texts})),
        1 => (text(), text()).prop_map(|(name, other)| json!({"name": name, "label": other})),
        1 => (text(), text()).prop_map(|(one, other)| json!([{"title": one}, other])),
        1 => text().prop_map(|text| json!([[text]])),
        1 => text().prop_map(|text| json!({"inner": {"deep": [text, null]}})),
    ]
}

/// An object with some of the keys of a dialect, and with others.
fn object(keys: &'static [&'static str]) -> impl Strategy<Value = BTreeMap<String, Value>> {
    let known = proptest::sample::select(keys).prop_map(str::to_owned);
    let key = prop_oneof![5 => known, 1 => "x[a-z]{3,8}"];
    prop::collection::btree_map(key, value(), 0..8)
}

const SCHEMA: &[&str] = &[
    "alternateName",
    "description",
    "url",
    "license",
    "creator",
    "author",
    "publisher",
    "datePublished",
    "dateModified",
    "dateCreated",
    "identifier",
    "inLanguage",
    "spatialCoverage",
    "temporalCoverage",
    "version",
    "keywords",
    "includedInDataCatalog",
    "isPartOf",
    "hasPart",
    "contactPoint",
    "variableMeasured",
    "measurementTechnique",
    "citation",
];
const DCAT: &[&str] = &[
    "dct:description",
    "dcat:keyword",
    "dcat:theme",
    "dct:publisher",
    "dct:creator",
    "dct:license",
    "dct:rights",
    "dct:issued",
    "dct:modified",
    "dct:language",
    "dct:spatial",
    "dct:temporal",
    "dct:conformsTo",
    "dcat:landingPage",
    "dcat:contactPoint",
    "dcat:version",
    "adms:versionNotes",
    "dct:provenance",
    "foaf:page",
    "dct:accrualPeriodicity",
    "dct:source",
    "dct:created",
];

/// Reads a document, and returns what is lost in silence.
fn lost(name: &str, document: &Value) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, document.to_string()).expect("written");
    let outcome = compare(&path).expect("a catalogue");
    outcome
        .silent
        .iter()
        .map(|leaf| format!("{}: {:?} {:?}", leaf.place, leaf.text, leaf.language))
        .collect()
}

fn with(mut object: BTreeMap<String, Value>, fixed: Value) -> Value {
    object.extend(
        fixed
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    json!(object)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_value_of_schema_org_is_lost(entry in object(SCHEMA)) {
        let fixed = json!({"@context": {"@vocab": "https://schema.org/"}, "@type": "Dataset", "name": "Tides", "@id": "http://e.example/t"});
        let entry = with(entry, fixed);
        let lost = lost("tides.jsonld", &entry);
        prop_assert!(lost.is_empty(), "{lost:#?} of {entry:#}");
    }

    #[test]
    fn no_value_of_dcat_is_lost(entry in object(DCAT)) {
        let context = json!({
            "dct": "http://purl.org/dc/terms/", "dcat": "http://www.w3.org/ns/dcat#", "foaf": "http://xmlns.com/foaf/0.1/",
            "adms": "http://www.w3.org/ns/adms#", "@vocab": "http://e.example/terms#"
        });
        let fixed = json!({"@context": context, "@type": "dcat:Dataset", "dct:title": "Elms", "@id": "http://e.example/elms"});
        let entry = with(entry, fixed);
        let lost = lost("elms.jsonld", &entry);
        prop_assert!(lost.is_empty(), "{lost:#?} of {entry:#}");
    }
}
