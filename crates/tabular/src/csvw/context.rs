//! Terms and prefixes that metadata documents may use without declaring them: <http://www.w3.org/ns/csvw>.

/// Prefixes of the initial context: those of RDFa, and `csvw`.
const PREFIXES: &[(&str, &str)] = &[
    ("as", "https://www.w3.org/ns/activitystreams#"),
    ("cc", "http://creativecommons.org/ns#"),
    ("csvw", "http://www.w3.org/ns/csvw#"),
    ("ctag", "http://commontag.org/ns#"),
    ("dc", "http://purl.org/dc/terms/"),
    ("dc11", "http://purl.org/dc/elements/1.1/"),
    ("dcat", "http://www.w3.org/ns/dcat#"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("dctypes", "http://purl.org/dc/dcmitype/"),
    ("dqv", "http://www.w3.org/ns/dqv#"),
    ("duv", "https://www.w3.org/ns/duv#"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("gr", "http://purl.org/goodrelations/v1#"),
    ("grddl", "http://www.w3.org/2003/g/data-view#"),
    ("ical", "http://www.w3.org/2002/12/cal/icaltzd#"),
    ("ldp", "http://www.w3.org/ns/ldp#"),
    ("ma", "http://www.w3.org/ns/ma-ont#"),
    ("oa", "http://www.w3.org/ns/oa#"),
    ("og", "http://ogp.me/ns#"),
    ("org", "http://www.w3.org/ns/org#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("qb", "http://purl.org/linked-data/cube#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfa", "http://www.w3.org/ns/rdfa#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("rev", "http://purl.org/stuff/rev#"),
    ("rif", "http://www.w3.org/2007/rif#"),
    ("rr", "http://www.w3.org/ns/r2rml#"),
    ("schema", "http://schema.org/"),
    ("sd", "http://www.w3.org/ns/sparql-service-description#"),
    ("sioc", "http://rdfs.org/sioc/ns#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("skosxl", "http://www.w3.org/2008/05/skos-xl#"),
    ("v", "http://rdf.data-vocabulary.org/#"),
    ("vcard", "http://www.w3.org/2006/vcard/ns#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("wdr", "http://www.w3.org/2007/05/powder#"),
    ("wrds", "http://www.w3.org/2007/05/powder-s#"),
    ("xhv", "http://www.w3.org/1999/xhtml/vocab#"),
    ("xml", "http://www.w3.org/XML/1998/namespace"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// Classes of the vocabulary, which are terms of the context.
const CLASSES: &[&str] = &[
    "Cell",
    "Column",
    "Datatype",
    "Dialect",
    "Direction",
    "ForeignKey",
    "JSON",
    "NumericFormat",
    "Row",
    "Schema",
    "Table",
    "TableGroup",
    "TableReference",
    "Transformation",
    "csvEncodedTabularData",
    "tabularMetadata",
];

/// Other terms of the context, for roles and types.
const TERMS: &[(&str, &str)] = &[
    (
        "describedby",
        "http://www.w3.org/2007/05/powder-s#describedby",
    ),
    ("license", "http://www.w3.org/1999/xhtml/vocab#license"),
    ("role", "http://www.w3.org/1999/xhtml/vocab#role"),
];

/// Expands a prefixed name; `None` if the prefix is not one of the context.
pub(super) fn expand_prefixed_name(name: &str) -> Option<String> {
    let (prefix, local) = name.split_once(':')?;
    if local.starts_with("//") {
        return None;
    }
    PREFIXES
        .iter()
        .find(|(known, _)| *known == prefix)
        .map(|(_, namespace)| format!("{namespace}{local}"))
}

/// Expands a class or datatype: a term, a prefixed name or an absolute IRI.
pub(super) fn expand_type(name: &str) -> Option<String> {
    if CLASSES.contains(&name) {
        return Some(format!("http://www.w3.org/ns/csvw#{name}"));
    }
    if let Some(datatype) = super::datatype::builtin_iri(name) {
        return Some(datatype.to_owned());
    }
    if let Some((_, iri)) = TERMS.iter().find(|(term, _)| *term == name) {
        return Some((*iri).to_owned());
    }
    expand_prefixed_name(name).or_else(|| absolute_iri(name))
}

/// Expands the name of a common property: a prefixed name or an absolute IRI.
pub(super) fn expand_property(name: &str) -> Option<String> {
    expand_prefixed_name(name).or_else(|| absolute_iri(name))
}

fn absolute_iri(name: &str) -> Option<String> {
    let is_absolute =
        name.contains("://") || name.starts_with("urn:") || name.starts_with("mailto:");
    (is_absolute && oxiri::Iri::parse(name).is_ok()).then(|| name.to_owned())
}
