//! File formats and their names in catalogues.

use super::statement::StatementIndex;
use super::{Dataset, Distribution, Location, Node, Value};
use lodeseek_rdf::local_name;
use lodeseek_rdf::vocab::{dcterms, rdfs, skos};
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

const fn format(name: &'static str, short: &'static str, aliases: &'static [&'static str]) -> Format {
    Format { name, short, aliases }
}

const FORMATS: &[Format] = &[
    format("Turtle", "TTL", &["text/turtle", "application/x-turtle", "ttl", "turtle", "rdf_turtle"]),
    format("RDF/XML", "RDF", &["application/rdf+xml", "rdf", "rdf/xml", "owl", "rdf_xml"]),
    format("JSON-LD", "JSON-LD", &["application/ld+json", "jsonld", "json-ld", "json_ld"]),
    format("N-Triples", "N-Triples", &["application/n-triples", "nt", "n-triples", "rdf_n_triples", "ntriples"]),
    format("N-Quads", "N-Quads", &["application/n-quads", "nq", "n-quads", "rdf_n_quads", "nquads"]),
    format("TriG", "TriG", &["application/trig", "trig", "rdf_trig"]),
    format("N3", "N3", &["text/n3", "n3", "text/rdf+n3"]),
    format("HDT", "HDT", &["application/vnd.hdt", "hdt"]),
    format("SPARQL", "SPARQL", &["application/sparql-results+json", "sparql", "sparqlq", "api/sparql"]),
    format("CSV", "CSV", &["text/csv", "csv"]),
    format("TSV", "TSV", &["text/tab-separated-values", "tsv"]),
    format("GeoJSON", "GeoJSON", &["application/geo+json", "application/vnd.geo+json", "geojson"]),
    format("JSON", "JSON", &["application/json", "json"]),
    format("XML", "XML", &["application/xml", "text/xml", "xml"]),
    format("HTML", "HTML", &["text/html", "html", "htm"]),
    format("PDF", "PDF", &["application/pdf", "pdf"]),
    format("XLSX", "XLSX", &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"]),
    format("XLS", "XLS", &["application/vnd.ms-excel", "xls"]),
    format("ODS", "ODS", &["application/vnd.oasis.opendocument.spreadsheet", "ods"]),
    format("KML", "KML", &["application/vnd.google-earth.kml+xml", "kml"]),
    format("GML", "GML", &["application/gml+xml", "gml"]),
    format("Shapefile", "SHP", &["application/vnd.shp", "shp"]),
    format("WMS", "WMS", &["application/vnd.ogc.wms_xml", "wms", "wms_srvc"]),
    format("WFS", "WFS", &["application/vnd.ogc.wfs_xml", "wfs", "wfs_srvc"]),
    format("ZIP", "ZIP", &["application/zip", "application/x-zip-compressed", "zip"]),
    format("GZIP", "GZIP", &["application/gzip", "application/x-gzip", "gz"]),
];
/// Names that describe the compression of a file, or nothing, but not its content.
const PACKED: &[&str] = &["ZIP", "GZIP"];
const NOTHING: &[&str] = &["application/octet-stream", "octet stream", "octet-stream", "op_datpro"];

impl Format {
    /// Returns the format of a media type, an extension or another name. Case is ignored.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.split(';').next().unwrap_or(name).trim().to_ascii_lowercase();
        FORMATS.iter().find(|format| format.aliases.contains(&name.as_str())).copied()
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
        let path = ends.fold(path.as_str(), |path, end| path.strip_suffix(end).unwrap_or(path));
        Self::from_name(path.rsplit('/').next()?.rsplit_once('.')?.1)
    }

    /// If true, the format describes the content of a file, not only its compression.
    fn is_of_content(self) -> bool {
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
        let names = files.filter_map(|(place, file)| format_name(&statements, place, file)).chain(endpoint);
        let mut seen = FxHashSet::default();
        names.filter(|name| seen.insert(name.clone())).collect()
    }
}

/// Returns the format of a file, from the first of: a declared content format, the file extension, a declared
/// compression, an unknown declared format.
fn format_name(statements: &StatementIndex<'_>, place: usize, file: &Distribution) -> Option<String> {
    let part = Node::Part(super::typed_fields::distribution_part(place));
    let labels: Vec<&str> =
        statements.values(&part, dcterms::FORMAT).filter_map(|value| label(statements, value)).collect();
    let formats = statements.values(&part, dcterms::FORMAT).filter_map(text);
    let declared: Vec<&str> =
        file.media_type.as_deref().into_iter().chain(formats).chain(labels.iter().copied()).collect();
    let known = || {
        declared
            .iter()
            .filter_map(|declared| Format::from_name(declared).or_else(|| Format::from_name(local_name(declared))))
    };
    let by_name = || match &file.location {
        Location::File(path) | Location::Remote(path) => Format::from_path(path),
    };
    let format = known().find(|format| format.is_of_content()).or_else(by_name).or_else(|| known().next());
    format
        .map(|format| format.name.to_owned())
        .or_else(|| labels.first().or(declared.first()).and_then(|declared| unknown_format(declared)))
}

/// Returns the label of a format that the catalogue describes.
fn label<'d>(statements: &StatementIndex<'d>, value: &'d Value) -> Option<&'d str> {
    let Value::Node(node) = value else { return None };
    let labels = [skos::PREF_LABEL, rdfs::LABEL, dcterms::TITLE, skos::NOTATION].into_iter();
    let mut texts = labels.flat_map(|property| statements.values(node, property)).filter_map(text);
    texts.find(|text| !text.trim().is_empty())
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Literal(literal) => Some(literal.value()),
        Value::Node(Node::Iri(iri)) => Some(iri),
        Value::Node(_) => None,
    }
}

/// Returns a name for an unknown format: the last part of its media type or IRI.
fn unknown_format(declared: &str) -> Option<String> {
    let is_iri = declared.contains("://");
    if is_iri && super::name_of_iri(declared).is_none() {
        return None;
    }
    if NOTHING.contains(&declared.trim().to_ascii_lowercase().as_str()) {
        return None;
    }
    let name = local_name(declared.split(';').next().unwrap_or(declared).trim());
    let name = name.trim_start_matches("x-").trim_start_matches("vnd.");
    (!name.is_empty()).then(|| name.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::super::{DatasetId, Metadata, Statement};
    use super::*;
    use oxrdf::Literal;

    fn file(path: &str, media_type: Option<&str>) -> Distribution {
        Distribution { media_type: media_type.map(str::to_owned), ..Distribution::new(Location::from_text(path)) }
    }

    #[test]
    fn formats_have_one_name_whatever_catalogues_call_them() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        dataset.distributions = vec![
            file("a", Some("text/turtle; charset=utf-8")),
            file("http://e.org/dump.TTL.gz?download=1", Some("application/gzip")),
            file("b", Some("http://publications.europa.eu/resource/authority/file-type/RDF_XML")),
            file("c.zip", Some("application/zip")),
            file("d", Some("application/octet-stream")),
            file("e", Some("application/vnd.las")),
            file("f", None),
            file("g", None),
        ];
        let said = Value::Literal(Literal::from("csv"));
        dataset.extra_statements = vec![Statement::new(Node::Part("distribution-8".to_owned()), dcterms::FORMAT, said)];
        assert_eq!(dataset.format_names(), ["Turtle", "RDF/XML", "ZIP", "LAS", "CSV"]);
    }

    /// If each distribution searched all statements or all names, the work would be quadratic.
    #[test]
    fn many_formats_have_names() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        for number in 0..50_000 {
            let part = Node::Part(super::super::typed_fields::distribution_part(number));
            let declared = Literal::from(format!("form{number}"));
            dataset.distributions.push(file("a", None));
            dataset.extra_statements.push(Statement::new(part, dcterms::FORMAT, declared));
        }
        let names = dataset.format_names();
        assert_eq!((names.len(), names[49_999].as_str()), (50_000, "FORM49999"));
    }
}
