//! Controlled vocabularies: licences, access rights, formats and widely used RDF vocabularies.

use lodeseek_rdf::vocab::{owl, rdf, rdfs};
use oxrdf::NamedNode;

/// Prefixes of licence IRIs, without scheme and `www.`: Creative Commons, Open Data Commons, the EU's list, SPDX,
/// national licences, and software licences that are also used for data.
const LICENSES: &[&str] = &[
    "creativecommons.org/licenses/",
    "creativecommons.org/publicdomain/",
    "opendatacommons.org/licenses/",
    "publications.europa.eu/resource/authority/licence/",
    "data.europa.eu/eli/dec_impl/2017/863/",
    "spdx.org/licenses/",
    "purl.org/net/rdflicense/",
    "nationalarchives.gov.uk/doc/open-government-licence",
    "nationalarchives.gov.uk/doc/non-commercial-government-licence",
    "etalab.gouv.fr/licence-ouverte-open-licence",
    "etalab.gouv.fr/wp-content/uploads/",
    "data.gouv.fr/licences",
    "govdata.de/dl-de/",
    "dcat-ap.de/def/licenses/",
    "data.norge.no/nlod/",
    "dati.gov.it/iodl/",
    "dati.gov.it/content/italian-open-data-license-v20",
    "w3id.org/italia/controlled-vocabulary/licences/",
    "opendata.swiss/terms-of-use",
    "open.canada.ca/en/open-government-licence-canada",
    "data.gov.ie/pages/opendatalicence",
    "kogl.or.kr/info/license",
    "usa.gov/publicdomain/label/",
    "apache.org/licenses/",
    "gnu.org/licenses/",
    "opensource.org/licenses/",
];

const ACCESS_RIGHTS: &str = "publications.europa.eu/resource/authority/access-right/";
const FILE_TYPES: &str = "publications.europa.eu/resource/authority/file-type/";
const MEDIA_TYPES: &str = "iana.org/assignments/media-types/";

/// Returns the address without scheme and `www.`; `None` if it is not a web address.
fn strip_scheme(iri: &str) -> Option<&str> {
    let rest = iri
        .strip_prefix("https://")
        .or_else(|| iri.strip_prefix("http://"))?;
    Some(rest.strip_prefix("www.").unwrap_or(rest))
}

fn lies_under(iri: &str, place: &str) -> bool {
    strip_scheme(iri).is_some_and(|address| {
        // A slice would panic in the middle of a character that is not ASCII.
        let beginning = address.get(..place.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(place))
    })
}

/// If true, the IRI is that of a known licence.
pub(super) fn is_license(iri: &str) -> bool {
    LICENSES.iter().any(|place| lies_under(iri, place))
}

/// If true, the IRI is one of the EU's access rights.
pub(super) fn is_access_right(iri: &str) -> bool {
    lies_under(iri, ACCESS_RIGHTS)
}

/// If true, the IRI is one of the EU's file types or of IANA's media types.
pub(super) fn is_format(iri: &str) -> bool {
    lies_under(iri, FILE_TYPES) || lies_under(iri, MEDIA_TYPES)
}

/// A known format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Format {
    pub(super) name: &'static str,
    /// If true, programs can process the structure of the format.
    pub(super) machine_readable: bool,
    /// If true, the specification is free for everyone (open format).
    pub(super) open: bool,
}

/// (name, other names, machine-readable, open). Names are the EU's codes; other names are media types and extensions,
/// in lower case.
const FORMATS: &[(&str, &[&str], bool, bool)] = &[
    (
        "RDF_TURTLE",
        &["text/turtle", "application/x-turtle", "turtle", "ttl"],
        true,
        true,
    ),
    (
        "RDF_XML",
        &["application/rdf+xml", "rdf/xml", "owl"],
        true,
        true,
    ),
    (
        "RDF_N_TRIPLES",
        &["application/n-triples", "n-triples", "nt"],
        true,
        true,
    ),
    (
        "RDF_N_QUADS",
        &["application/n-quads", "n-quads", "nq"],
        true,
        true,
    ),
    ("RDF_TRIG", &["application/trig", "trig"], true, true),
    (
        "JSON_LD",
        &["application/ld+json", "json-ld", "jsonld"],
        true,
        true,
    ),
    ("N3", &["text/n3", "text/rdf+n3"], true, true),
    ("RDF", &[], true, true),
    (
        "SPARQLQ",
        &["sparql", "api/sparql", "application/sparql-query"],
        true,
        true,
    ),
    ("CSV", &["text/csv"], true, true),
    ("TSV", &["text/tab-separated-values"], true, true),
    ("JSON", &["application/json"], true, true),
    (
        "GEOJSON",
        &["application/geo+json", "application/vnd.geo+json"],
        true,
        true,
    ),
    ("XML", &["application/xml", "text/xml"], true, true),
    ("GML", &["application/gml+xml"], true, true),
    ("KML", &["application/vnd.google-earth.kml+xml"], true, true),
    ("KMZ", &["application/vnd.google-earth.kmz"], true, true),
    (
        "GPKG",
        &["application/geopackage+sqlite3", "geopackage"],
        true,
        true,
    ),
    ("GPX", &["application/gpx+xml"], true, true),
    ("GTFS", &[], true, true),
    (
        "NETCDF",
        &["application/netcdf", "application/x-netcdf", "nc"],
        true,
        true,
    ),
    ("PARQUET", &["application/vnd.apache.parquet"], true, true),
    (
        "ODS",
        &["application/vnd.oasis.opendocument.spreadsheet"],
        true,
        true,
    ),
    (
        "XLSX",
        &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
        true,
        true,
    ),
    ("XLS", &["application/vnd.ms-excel", "excel"], true, false),
    (
        "DBF",
        &["application/dbf", "application/x-dbf"],
        true,
        false,
    ),
    (
        "SHP",
        &[
            "shape",
            "shapefile",
            "application/x-shapefile",
            "esri shapefile",
        ],
        true,
        false,
    ),
    (
        "MDB",
        &["application/msaccess", "application/x-msaccess"],
        true,
        false,
    ),
    ("WMS_SRVC", &["wms"], true, true),
    ("WFS_SRVC", &["wfs"], true, true),
    ("HTML", &["text/html", "htm"], false, true),
    ("TXT", &["text/plain"], false, true),
    ("PDF", &["application/pdf"], false, true),
    (
        "ODT",
        &["application/vnd.oasis.opendocument.text"],
        false,
        true,
    ),
    (
        "DOCX",
        &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
        false,
        true,
    ),
    ("DOC", &["application/msword"], false, false),
    ("PNG", &["image/png"], false, true),
    ("JPEG", &["image/jpeg", "jpg"], false, true),
    ("TIFF", &["image/tiff", "tif"], false, true),
    ("SVG", &["image/svg+xml"], false, true),
    (
        "RAR",
        &["application/vnd.rar", "application/x-rar-compressed"],
        false,
        false,
    ),
];

/// Names of [`FORMATS`] in the form of media types that IANA's list does not have.
/// <https://www.iana.org/assignments/media-types/>
const UNREGISTERED_MEDIA_TYPES: &[&str] = &[
    "api/sparql",
    "application/dbf",
    "application/gpx+xml",
    "application/msaccess",
    "application/netcdf",
    "application/x-dbf",
    "application/x-msaccess",
    "application/x-netcdf",
    "application/x-rar-compressed",
    "application/x-shapefile",
    "application/x-turtle",
    "rdf/xml",
];

/// Returns the format of a text or IRI. Compressed archives (zip, gzip) are not formats, as their content is unknown.
pub(super) fn format(text: &str) -> Option<Format> {
    let text = text.trim();
    let name = match strip_scheme(text) {
        Some(address) => address
            .strip_prefix(FILE_TYPES)
            .or_else(|| address.strip_prefix(MEDIA_TYPES))
            .unwrap_or_default(),
        // Media types may have parameters: `text/csv; charset=utf-8`.
        None => text.split(';').next().unwrap_or_default().trim(),
    };
    // Extensions may have their dot.
    let name = name.trim_start_matches('.').to_lowercase();
    let known = FORMATS.iter().find(|(code, names, ..)| {
        code.eq_ignore_ascii_case(&name) || names.contains(&name.as_str())
    });
    known.map(|&(name, _, machine_readable, open)| Format {
        name,
        machine_readable,
        open,
    })
}

/// IRIs of a file format in the controlled vocabularies of DCAT-AP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatIris {
    /// Format in the European Union's list of file types, for `dct:format`.
    pub file_type: NamedNode,
    /// Media type in IANA's list, for `dcat:mediaType`. `None` if the format has no registered one.
    pub media_type: Option<NamedNode>,
}

impl FormatIris {
    /// Returns the IRIs of a format by a media type, an extension or the EU's code. `None` for an unknown format.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let known = format(name)?;
        let (code, names, ..) = FORMATS.iter().find(|(code, ..)| *code == known.name)?;
        let registered = names
            .iter()
            .find(|name| name.contains('/') && !UNREGISTERED_MEDIA_TYPES.contains(name));
        Some(Self {
            file_type: NamedNode::new_unchecked(format!("http://{FILE_TYPES}{code}")),
            media_type: registered.map(|name| media_type_iri(name)),
        })
    }
}

/// Returns the IRI of a registered media type in IANA's list.
#[must_use]
pub fn media_type_iri(media_type: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("https://www.{MEDIA_TYPES}{media_type}"))
}

/// Namespaces of widely used vocabularies.
const VOCABULARIES: &[&str] = &[
    "http://xmlns.com/foaf/0.1/",
    "http://purl.org/dc/terms/",
    "http://purl.org/dc/elements/1.1/",
    "http://purl.org/dc/dcmitype/",
    "http://www.w3.org/2004/02/skos/core#",
    "http://www.w3.org/2008/05/skos-xl#",
    "http://schema.org/",
    "https://schema.org/",
    "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "http://www.opengis.net/ont/geosparql#",
    "http://www.w3.org/ns/locn#",
    "http://www.geonames.org/ontology#",
    "http://www.w3.org/ns/org#",
    "http://www.w3.org/ns/regorg#",
    "http://www.w3.org/ns/person#",
    "http://www.w3.org/2006/vcard/ns#",
    "http://www.w3.org/2006/time#",
    "http://www.w3.org/ns/prov#",
    "http://www.w3.org/ns/dcat#",
    "http://www.w3.org/ns/adms#",
    "http://www.w3.org/ns/dqv#",
    "http://www.w3.org/ns/shacl#",
    "http://www.w3.org/ns/odrl/2/",
    "http://www.w3.org/ns/oa#",
    "http://www.w3.org/ns/sosa/",
    "http://www.w3.org/ns/ssn/",
    "http://www.w3.org/ns/ontolex#",
    "http://www.w3.org/2002/12/cal/ical#",
    "http://purl.org/linked-data/cube#",
    "http://purl.org/linked-data/sdmx/2009/dimension#",
    "http://purl.org/linked-data/sdmx/2009/measure#",
    "http://purl.org/linked-data/sdmx/2009/attribute#",
    "http://rdfs.org/ns/void#",
    "http://rdfs.org/sioc/ns#",
    "http://usefulinc.com/ns/doap#",
    "http://purl.org/ontology/bibo/",
    "http://purl.org/ontology/mo/",
    "http://purl.org/goodrelations/v1#",
    "http://purl.org/vocab/vann/",
    "http://purl.org/NET/c4dm/event.owl#",
    "http://purl.org/spar/cito/",
    "http://purl.org/spar/fabio/",
    "http://qudt.org/schema/qudt/",
    "http://dbpedia.org/ontology/",
    "http://www.cidoc-crm.org/cidoc-crm/",
    "http://data.europa.eu/m8g/",
    "http://purl.obolibrary.org/obo/",
    "http://www.geneontology.org/formats/oboInOwl#",
    "https://w3id.org/seas/",
    "https://saref.etsi.org/core/",
];

/// If true, the namespace is that of a widely used vocabulary.
pub(super) fn is_vocabulary(namespace: &str) -> bool {
    VOCABULARIES.contains(&namespace)
}

/// If true, the namespace is one of RDF's own, which every dataset uses.
pub(super) fn is_of_rdf(namespace: &str) -> bool {
    [rdf::NAMESPACE, rdfs::NAMESPACE, owl::NAMESPACE].contains(&namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_iris_of_the_lists() {
        let iris = |name: &str| {
            let format = FormatIris::from_name(name).expect("a known format");
            let media_type = format.media_type.map(|iri| iri.as_str().to_owned());
            (format.file_type.as_str().to_owned(), media_type)
        };
        assert_eq!(
            iris("ttl"),
            (
                "http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE".to_owned(),
                Some("https://www.iana.org/assignments/media-types/text/turtle".to_owned()),
            )
        );
        // Both are IRIs that the indicators accept.
        for (code, names, ..) in FORMATS {
            let format = FormatIris::from_name(code).expect("a code");
            assert!(is_format(format.file_type.as_str()), "{code}");
            let media_type = format.media_type.map(|iri| iri.as_str().to_owned());
            assert!(media_type.iter().all(|iri| is_format(iri)), "{names:?}");
        }
        assert_eq!(iris("shp").1, None, "no registered media type");
        assert_eq!(FormatIris::from_name("zip"), None);
    }

    #[test]
    fn licences_are_known_by_their_addresses_alone() {
        for known in [
            "https://creativecommons.org/licenses/by/4.0/",
            "http://www.opendatacommons.org/licenses/pddl/1.0/",
            "http://publications.europa.eu/resource/authority/licence/CC0",
            "http://purl.org/NET/rdflicense/cc-by4.0",
            "https://www.govdata.de/dl-de/by-2-0",
            "https://www.etalab.gouv.fr/licence-ouverte-open-licence",
        ] {
            assert!(is_license(known), "{known}");
        }
        for unknown in [
            "CC-BY-4.0",
            "creativecommons.org/licenses/by/4.0/",
            "https://example.org/creativecommons.org/licenses/by/4.0/",
            "https://creativecommons.org/",
            "https://creativecommons.org.example.org/licenses/by/4.0/",
            "https://é",
        ] {
            assert!(!is_license(unknown), "{unknown}");
        }
    }

    #[test]
    fn formats_by_code_media_type_extension_and_iri() {
        let known = |text: &str| {
            format(text).map(|format| (format.name, format.machine_readable, format.open))
        };
        for text in [
            "TTL",
            ".ttl",
            "text/turtle; charset=utf-8",
            "http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE",
            "https://www.iana.org/assignments/media-types/text/turtle",
        ] {
            assert_eq!(known(text), Some(("RDF_TURTLE", true, true)), "{text}");
        }
        assert_eq!(known("application/pdf"), Some(("PDF", false, true)));
        assert_eq!(known("XLS"), Some(("XLS", true, false)));
        for text in [
            "application/zip",
            "gzip",
            "",
            "https://example.org/ttl",
            "data",
        ] {
            assert_eq!(known(text), None, "{text}");
        }
        assert!(
            is_format("http://publications.europa.eu/resource/authority/file-type/CSV")
                && !is_format("text/csv")
        );
    }

    #[test]
    fn names_are_written_once() {
        let mut names: Vec<String> = FORMATS
            .iter()
            .flat_map(|(name, names, ..)| {
                [name.to_lowercase()]
                    .into_iter()
                    .chain(names.iter().map(|name| (*name).to_owned()))
            })
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(VOCABULARIES.iter().all(|name| !is_of_rdf(name)));
    }
}
