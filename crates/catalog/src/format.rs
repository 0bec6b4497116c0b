//! File formats and their names in catalogues.

use super::statement::StatementIndex;
use super::{Dataset, Distribution, Location, Node, Value, typed_fields};
use lodeseek_rdf::local_name;
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, rdf, rdfs, schema, skos};
use rustc_hash::FxHashSet;

/// A known file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Name for readers.
    pub name: &'static str,
    /// Short name, as used by portals.
    pub short: &'static str,
    /// Media types, extensions and names from lists, in lower case. The registered media type comes first.
    pub aliases: &'static [&'static str],
}

const fn format(
    name: &'static str,
    short: &'static str,
    aliases: &'static [&'static str],
) -> Format {
    Format {
        name,
        short,
        aliases,
    }
}

const FORMATS: &[Format] = &[
    format(
        "Turtle",
        "TTL",
        &[
            "text/turtle",
            "application/x-turtle",
            "ttl",
            "turtle",
            "rdf_turtle",
        ],
    ),
    format(
        "RDF/XML",
        "RDF",
        &["application/rdf+xml", "rdf", "rdf/xml", "owl", "rdf_xml"],
    ),
    format(
        "JSON-LD",
        "JSON-LD",
        &["application/ld+json", "jsonld", "json-ld", "json_ld"],
    ),
    format(
        "N-Triples",
        "N-Triples",
        &[
            "application/n-triples",
            "nt",
            "n-triples",
            "rdf_n_triples",
            "ntriples",
        ],
    ),
    format(
        "N-Quads",
        "N-Quads",
        &[
            "application/n-quads",
            "nq",
            "n-quads",
            "rdf_n_quads",
            "nquads",
        ],
    ),
    format("TriG", "TriG", &["application/trig", "trig", "rdf_trig"]),
    format("N3", "N3", &["text/n3", "n3", "text/rdf+n3"]),
    format("HDT", "HDT", &["application/vnd.hdt", "hdt"]),
    format(
        "SPARQL",
        "SPARQL",
        &[
            "application/sparql-results+json",
            "sparql",
            "sparqlq",
            "api/sparql",
        ],
    ),
    format(
        "CSV",
        "CSV",
        &[
            "text/csv",
            "csv",
            "comma separated values",
            "comma-separated values",
        ],
    ),
    format("TSV", "TSV", &["text/tab-separated-values", "tsv"]),
    format(
        "GeoJSON",
        "GeoJSON",
        &[
            "application/geo+json",
            "application/vnd.geo+json",
            "geojson",
        ],
    ),
    format("JSON", "JSON", &["application/json", "json"]),
    format("XML", "XML", &["application/xml", "text/xml", "xml"]),
    format("HTML", "HTML", &["text/html", "html", "htm"]),
    format("PDF", "PDF", &["application/pdf", "pdf"]),
    format(
        "XLSX",
        "XLSX",
        &[
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "xlsx",
        ],
    ),
    format("XLS", "XLS", &["application/vnd.ms-excel", "xls", "excel"]),
    format(
        "ODS",
        "ODS",
        &["application/vnd.oasis.opendocument.spreadsheet", "ods"],
    ),
    format(
        "KML",
        "KML",
        &["application/vnd.google-earth.kml+xml", "kml"],
    ),
    format("GML", "GML", &["application/gml+xml", "gml"]),
    format(
        "Shapefile",
        "SHP",
        &[
            "application/vnd.shp",
            "shp",
            "shapefile",
            "esri shapefile",
            "application/x-shapefile",
        ],
    ),
    format(
        "WMS",
        "WMS",
        &["application/vnd.ogc.wms_xml", "wms", "wms_srvc"],
    ),
    format(
        "WFS",
        "WFS",
        &["application/vnd.ogc.wfs_xml", "wfs", "wfs_srvc"],
    ),
    format(
        "ZIP",
        "ZIP",
        &["application/zip", "application/x-zip-compressed", "zip"],
    ),
    format(
        "GZIP",
        "GZIP",
        &["application/gzip", "application/x-gzip", "gz"],
    ),
];
/// Names that describe the compression of a file, or nothing, but not its content.
const PACKED: &[&str] = &["ZIP", "GZIP"];
/// Names of the syntaxes of RDF.
const RDF: &[&str] = &[
    "Turtle",
    "RDF/XML",
    "JSON-LD",
    "N-Triples",
    "N-Quads",
    "TriG",
    "N3",
    "HDT",
];
const NOTHING: &[&str] = &[
    "application/octet-stream",
    "octet stream",
    "octet-stream",
    "op_datpro",
];

impl Format {
    /// Returns the format of a media type, an extension or another name. Case and a dot before an extension are ignored.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name
            .split(';')
            .next()
            .unwrap_or(name)
            .trim()
            .to_ascii_lowercase();
        let name = name
            .strip_prefix("*.")
            .or_else(|| name.strip_prefix('.'))
            .unwrap_or(&name);
        FORMATS
            .iter()
            .find(|format| format.aliases.contains(&name))
            .copied()
    }

    /// Returns the format of a declared name, or of the last parts of an IRI, as in IANA's and the European Union's lists.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(format) = Self::from_name(typed_fields::media_type_name(text)) {
            return Some(format);
        }
        // The last two parts may be a media type.
        let path = text
            .split(['?', '#', ';'])
            .next()
            .unwrap_or(text)
            .trim_end_matches('/');
        let media_type = path
            .rmatch_indices('/')
            .nth(1)
            .and_then(|(place, _)| Self::from_name(&path[place + 1..]));
        media_type.or_else(|| Self::from_name(local_name(text)))
    }

    /// Returns the format with this short name.
    #[must_use]
    pub fn from_short_name(short: &str) -> Option<Self> {
        FORMATS.iter().find(|format| format.short == short).copied()
    }

    /// Returns the format of a file name's extension. Extensions of compressed files, such as `.gz`, are skipped.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        let path = path.split(['?', '#']).next()?.to_ascii_lowercase();
        let ends = [".gz", ".bz2", ".xz", ".zst"].iter();
        let path = ends.fold(path.as_str(), |path, end| {
            path.strip_suffix(end).unwrap_or(path)
        });
        Self::from_name(path.rsplit('/').next()?.rsplit_once('.')?.1)
    }

    /// If true, a file of this format is RDF, or an archive that may contain it.
    #[must_use]
    pub fn may_be_rdf(self) -> bool {
        RDF.contains(&self.name) || PACKED.contains(&self.name)
    }

    /// If true, the format describes the content of a file, not only its compression.
    pub(super) fn is_of_content(self) -> bool {
        !PACKED.contains(&self.name)
    }
}

impl Dataset {
    /// Returns the distinct names of the formats of the dataset, in the order of its distributions.
    #[must_use]
    pub fn format_names(&self) -> Vec<String> {
        let files = self.distributions.iter().enumerate();
        let endpoint = self.remote.iter().map(|_| "SPARQL".to_owned());
        let statements = StatementIndex::new(&self.extra_statements);
        let names = files
            .flat_map(|(place, file)| format_names(&statements, place, file))
            .chain(endpoint);
        let mut seen = FxHashSet::default();
        names.filter(|name| seen.insert(name.clone())).collect()
    }
}

/// Returns the formats of a file, from the first of: declared media types and formats of content, the file extension, a
/// declared compression or package, an unknown declared format.
fn format_names(statements: &StatementIndex<'_>, place: usize, file: &Distribution) -> Vec<String> {
    let part = Node::Part(typed_fields::distribution_part(place));
    let mut media_types = declared_names(statements, &part, dcat::MEDIA_TYPE);
    let formats = declared_names(statements, &part, dcterms::FORMAT);
    if let Some(name) = &file.media_type {
        // Without a media type, it is a format.
        let is_format = formats
            .iter()
            .any(|format| typed_fields::media_type_name(format) == name.as_str());
        if !is_format {
            media_types.insert(0, name.clone());
        }
    }
    for names in [&media_types, &formats] {
        let known = names
            .iter()
            .filter_map(|name| Format::from_text(name))
            .filter(|format| format.is_of_content());
        let known: Vec<String> = known.map(|format| format.name.to_owned()).collect();
        if !known.is_empty() {
            return known;
        }
    }
    let by_name = match &file.location {
        Location::File(path) | Location::Remote(path) => Format::from_path(path),
    };
    let packages = [dcat::PACKAGE_FORMAT, dcat::COMPRESS_FORMAT]
        .into_iter()
        .flat_map(|property| declared_names(statements, &part, property));
    let all: Vec<String> = media_types
        .into_iter()
        .chain(formats)
        .chain(packages)
        .collect();
    let format = by_name.or_else(|| all.iter().find_map(|name| Format::from_text(name)));
    let name = format.map(|format| format.name.to_owned());
    name.or_else(|| all.iter().find_map(|declared| unknown_format(declared)))
        .into_iter()
        .collect()
}

fn declared_names(statements: &StatementIndex<'_>, part: &Node, property: &str) -> Vec<String> {
    statements
        .values(part, property)
        .filter_map(|value| declared_name(statements, value))
        .collect()
}

/// Returns the name of a declared format: a text, an IRI, or what the description states of a node.
fn declared_name<'d>(statements: &StatementIndex<'d>, value: &'d Value) -> Option<String> {
    let node = match value {
        Value::Literal(literal) => return Some(literal.value().to_owned()),
        Value::Node(node) => node,
    };
    let iri = statements.web_iris(node).next();
    if let Some(iri) = iri.filter(|iri| Format::from_text(iri).is_some()) {
        return Some(iri.to_owned());
    }
    let properties = NAMES
        .iter()
        .flat_map(|property| statements.values(node, property));
    let names = properties.filter_map(|value| match value {
        Value::Literal(literal) => Some(literal.value()),
        Value::Node(_) => None,
    });
    let names: Vec<&str> = names.collect();
    let known = names
        .iter()
        .find(|name| Format::from_text(name).is_some())
        .or_else(|| names.first());
    known.copied().or(iri).map(str::to_owned)
}

/// Properties with the name of a format, best first.
const NAMES: &[&str] = &[
    rdf::VALUE,
    skos::NOTATION,
    dcterms::IDENTIFIER,
    rdfs::LABEL,
    skos::PREF_LABEL,
    dcterms::TITLE,
    schema::NAME,
    foaf::NAME,
];

/// Returns a name for an unknown format: the last part of its media type or IRI.
fn unknown_format(declared: &str) -> Option<String> {
    let is_iri = declared.contains("://");
    if is_iri && super::typed_fields::is_opaque(declared) {
        return None;
    }
    if NOTHING.contains(&declared.trim().to_ascii_lowercase().as_str()) {
        return None;
    }
    let name = local_name(declared.split(';').next().unwrap_or(declared).trim());
    let name = name
        .trim_start_matches('.')
        .trim_start_matches("x-")
        .trim_start_matches("vnd.");
    // A number in a list of formats is no name.
    name.contains(char::is_alphabetic)
        .then(|| name.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::super::{DatasetId, Metadata, Statement};
    use super::*;
    use oxrdf::Literal;

    fn file(path: &str, media_type: Option<&str>) -> Distribution {
        Distribution {
            media_type: media_type.map(str::to_owned),
            ..Distribution::new(Location::from_text(path))
        }
    }

    #[test]
    fn formats_have_one_name_whatever_catalogues_call_them() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        dataset.distributions = vec![
            file("a", Some("text/turtle; charset=utf-8")),
            file(
                "http://e.org/dump.TTL.gz?download=1",
                Some("application/gzip"),
            ),
            file(
                "b",
                Some("http://publications.europa.eu/resource/authority/file-type/RDF_XML"),
            ),
            file("c.zip", Some("application/zip")),
            file("d", Some("application/octet-stream")),
            file("e", Some("application/vnd.las")),
            file("f", None),
            file("g", None),
        ];
        let text = Value::Literal(Literal::from("csv"));
        dataset.extra_statements = vec![Statement::new(
            Node::Part("distribution-8".to_owned()),
            dcterms::FORMAT,
            text,
        )];
        assert_eq!(
            dataset.format_names(),
            ["Turtle", "RDF/XML", "ZIP", "LAS", "CSV"]
        );
    }

    /// If each distribution searched all statements or all names, the work would be quadratic.
    #[test]
    fn many_formats_have_names() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        for number in 0..50_000 {
            let part = Node::Part(typed_fields::distribution_part(number));
            let declared = Literal::from(format!("form{number}"));
            dataset.distributions.push(file("a", None));
            dataset
                .extra_statements
                .push(Statement::new(part, dcterms::FORMAT, declared));
        }
        let names = dataset.format_names();
        assert_eq!((names.len(), names[49_999].as_str()), (50_000, "FORM49999"));
    }
}
