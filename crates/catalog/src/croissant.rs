//! Croissant, beside schema.org's terms: local names of nodes, sizes of files, texts of fields, and the language of its context.
//! <https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html>

use super::Text;
use super::node_reader::NodeReader;
use super::typed_fields::{date_literal, iri_or_literal};
use lodeseek_rdf::vocab::{croissant, csvw, dcat, dcterms, schema};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use oxrdf::Literal;
use rustc_hash::FxHashSet;

/// Maximum number of names and descriptions of fields that are indexed with a dataset.
const MAX_FIELD_TEXTS: usize = 4_000;
/// Maximum number of steps from the dataset to a field.
const MAX_FIELD_DEPTH: usize = 8;

/// Properties of schema.org whose texts have no language. The default language of a context also tags these.
const WITHOUT_LANGUAGE: &[&str] = &[
    "contentSize",
    "contentUrl",
    "dateCreated",
    "dateModified",
    "datePublished",
    "distribution",
    "email",
    "encodingFormat",
    "fileFormat",
    "identifier",
    "inLanguage",
    "isAccessibleForFree",
    "isBasedOn",
    "license",
    "md5",
    "sameAs",
    "sdDatePublished",
    "sdLicense",
    "sha256",
    "softwareVersion",
    "telephone",
    "temporalCoverage",
    "url",
    "version",
];
/// Properties of schema.org with texts in a language. They keep it also if the text resembles a number or a date.
const WITH_LANGUAGE: &[&str] = &[
    "abstract",
    "alternateName",
    "creditText",
    "description",
    "headline",
    "keywords",
    "name",
    "text",
];

/// If true, the literal of a property is a code, number, date or IRI, to which the default language of a JSON-LD context does
/// not apply. `name` is the local name of a property of schema.org.
pub(super) fn is_without_language(name: Option<&str>, property: &str, text: &str) -> bool {
    // The RAI extension has a namespace inside of Croissant's: `…/croissant/RAI/`. Some of its texts have a language.
    let is_rai = property
        .strip_prefix(croissant::NAMESPACE)
        .map(|local| local.contains('/'));
    match (name, is_rai) {
        (Some(name), _) if WITH_LANGUAGE.contains(&name) => false,
        (Some(name), _) if WITHOUT_LANGUAGE.contains(&name) => true,
        (None, Some(false)) => true,
        _ => is_data(text),
    }
}

/// If true, a text is an IRI, number, boolean, date or checksum.
fn is_data(text: &str) -> bool {
    let text = text.trim();
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    // The shortest checksum, MD5, has 32 digits.
    let is_checksum = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_date = date_literal(text).datatype() != oxrdf::vocab::xsd::STRING;
    let is_iri = matches!(iri_or_literal(text), super::Value::Node(_));
    is_number || is_checksum || is_date || is_iri || matches!(text, "true" | "false")
}

/// If true, the term is a class of Croissant, in any version.
pub(super) fn is_class(class: TermRef<'_>) -> bool {
    let TermRef::Iri(iri) = class else {
        return false;
    };
    iri.starts_with(croissant::NAMESPACE) || iri.starts_with("http://mlcommons.org/schema/")
}

/// Returns the name of a node within its document, for example `#files` or `table/column`: what the document has as its `@id`.
///
/// `base` is the address of the document. `None` for other addresses.
pub(super) fn local_name<'a>(iri: &'a str, base: &str) -> Option<&'a str> {
    let document = base.split('#').next().unwrap_or(base);
    let name = match iri
        .strip_prefix(document)
        .filter(|rest| rest.starts_with('#'))
    {
        Some(fragment) => fragment,
        None => iri.strip_prefix(&document[..=document.rfind('/')?])?,
    };
    (!name.is_empty()).then_some(name)
}

/// Returns the files that are inside of other ones. Their addresses are paths in an archive.
pub(super) fn contained_files(graph: &TripleGraph) -> FxHashSet<TermId> {
    let names = [
        croissant::CONTAINED_IN,
        schema::CONTAINED_IN,
        "http://schema.org/containedIn",
    ];
    let properties: Vec<TermId> = names.iter().filter_map(|name| graph.iri(name)).collect();
    let links = graph
        .triples()
        .iter()
        .filter(|triple| properties.contains(&triple.predicate));
    links.map(|triple| triple.subject).collect()
}

/// Returns the number of bytes of a size such as `1.5 MB`, `1,5 MB`, `12 KiB` or `1024`.
pub(super) fn size_in_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .unwrap_or(text.len());
    let number = parse_decimal(&text[..end])?;
    let unit = text[end..].trim().to_ascii_lowercase();
    let factor: f64 = match unit.as_str() {
        "" | "b" | "byte" | "bytes" => 1.0,
        "kb" | "k" => 1e3,
        "mb" | "m" => 1e6,
        "gb" | "g" => 1e9,
        "tb" | "t" => 1e12,
        "pb" | "p" => 1e15,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "pib" => 1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = (number * factor).round();
    // The range excludes NaN and keeps the cast below 2^63.
    (0.0..9e18).contains(&bytes).then_some(bytes as u64)
}

/// Returns the number of a text of digits, points and commas, such as `1.5`, `1,5`, `1,234` or `1,234.5`. Commas before groups of three
/// digits separate thousands; any other comma is a decimal comma. `None` if the marks contradict each other.
fn parse_decimal(text: &str) -> Option<f64> {
    if is_grouped(text, ',') {
        return text.replace(',', "").parse().ok();
    }
    let Some(place) = text.rfind(['.', ',']) else {
        return text.parse().ok();
    };
    // The last mark is that of the decimals, and the other one separates thousands.
    let (integer, fraction) = (&text[..place], &text[place + 1..]);
    let separator = if text[place..].starts_with(',') {
        '.'
    } else {
        ','
    };
    let integer = if is_grouped(integer, separator) {
        integer.replace(separator, "")
    } else {
        integer.to_owned()
    };
    format!("{integer}.{fraction}").parse().ok()
}

/// Returns true for an integer whose groups of three digits have a separator between them, such as `1,234,567`.
fn is_grouped(text: &str, separator: char) -> bool {
    let Some((first, rest)) = text.split_once(separator) else {
        return false;
    };
    // A number of thousands does not begin with a zero: `0,125` is an eighth.
    let has_first = matches!(first.len(), 1..=3) && !first.starts_with('0') && is_digits(first);
    has_first
        && rest
            .split(separator)
            .all(|group| group.len() == 3 && is_digits(group))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes the language tag of a literal.
pub(super) fn remove_language_tag(literal: &Literal) -> Literal {
    Literal::new_simple_literal(literal.value())
}

/// Returns the names and descriptions of a dataset's record sets and fields, and of its variables.
///
/// They are indexed with the description: a search for the text of a column finds the dataset.
pub(super) fn field_texts(dataset: &NodeReader<'_>) -> Vec<Text> {
    let graph = dataset.graph;
    let steps = [
        croissant::RECORD_SET,
        croissant::FIELD,
        croissant::SUB_FIELD,
        croissant::ANNOTATION,
        schema::VARIABLE_MEASURED,
        csvw::TABLE_SCHEMA,
        csvw::COLUMN,
    ];
    if steps.iter().all(|property| graph.iri(property).is_none()) {
        return Vec::new();
    }
    let (mut texts, mut known) = (Vec::new(), FxHashSet::default());
    // Fields may refer to each other in a circle.
    let mut seen = FxHashSet::from_iter([dataset.node]);
    let mut level: Vec<NodeReader<'_>> = vec![*dataset];
    level.extend(dataset.parts(dcat::DISTRIBUTION));
    for _ in 0..MAX_FIELD_DEPTH {
        let mut next = Vec::new();
        for node in &level {
            for part in steps.iter().flat_map(|property| node.parts(property)) {
                if !seen.insert(part.node) {
                    continue;
                }
                for text in texts_of_field(&part) {
                    if texts.len() < MAX_FIELD_TEXTS && known.insert(text.clone()) {
                        texts.push(text);
                    }
                }
                next.push(part);
            }
        }
        level = next;
    }
    texts
}

/// Returns the texts of a field: those of a node, or the text itself.
fn texts_of_field(field: &NodeReader<'_>) -> Vec<Text> {
    if let TermRef::Literal { lexical, kind } = field.graph.term(field.node) {
        let language = kind.language().map(str::to_owned);
        let value = lexical.trim().to_owned();
        return if value.is_empty() {
            Vec::new()
        } else {
            vec![Text { value, language }]
        };
    }
    field.texts(&[
        schema::NAME,
        schema::DESCRIPTION,
        csvw::NAME,
        csvw::TITLE,
        dcterms::TITLE,
        dcterms::DESCRIPTION,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("1024", Some(1024)),
            ("7 B", Some(7)),
            ("1.5 MB", Some(1_500_000)),
            ("12KiB", Some(12_288)),
            ("1,234 bytes", Some(1234)),
            ("1,234,567 B", Some(1_234_567)),
            ("1,234.5 kB", Some(1_234_500)),
            ("1,5 MB", Some(1_500_000)),
            ("12,25 KB", Some(12_250)),
            ("1.234,5 kB", Some(1_234_500)),
            ("0,125 kB", Some(125)),
            ("1234,567 kB", Some(1_234_567)),
            ("1,50,000 B", None),
            ("1,234,5 B", None),
            (",", None),
            ("large", None),
            ("", None),
            ("-1 B", None),
            ("9e99", None),
        ] {
            assert_eq!(size_in_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn names_of_nodes_are_relative_to_their_document() {
        let base = "file:///catalog-folder/shells.json";
        for (iri, name) in [
            ("file:///catalog-folder/shells.json#files", Some("#files")),
            ("file:///catalog-folder/table/length", Some("table/length")),
            ("file:///catalog-folder/", None),
            ("https://shells.example.org/table", None),
        ] {
            assert_eq!(local_name(iri, base), name, "{iri}");
        }
    }

    #[test]
    fn the_default_language_applies_to_texts_only() {
        let cr = |name: &str| format!("{}{name}", croissant::NAMESPACE);
        for (name, property, text, expected) in [
            (Some("name"), String::new(), "2024", false),
            (
                Some("description"),
                String::new(),
                "https://shells.example.org/",
                false,
            ),
            (Some("datePublished"), String::new(), "in spring", true),
            (Some("license"), String::new(), "CC-BY-4.0", true),
            (Some("creditText"), String::new(), "By the sea", false),
            (Some("funding"), String::new(), "A grant", false),
            (
                Some("funding"),
                String::new(),
                "https://grants.example.org/1",
                true,
            ),
            (None, cr("column"), "length", true),
            (None, cr("RAI/dataBiases"), "Only large shells", false),
            (None, cr("RAI/dataCollectionTimeFrame"), "2024-05-01", true),
            (
                None,
                "http://purl.org/dc/terms/conformsTo".to_owned(),
                "http://mlcommons.org/croissant/1.1",
                true,
            ),
        ] {
            assert_eq!(
                is_without_language(name, &property, text),
                expected,
                "{name:?} {property} {text}"
            );
        }
    }
}
