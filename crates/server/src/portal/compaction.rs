//! Compacts the statements of a description to JSON-LD in the terms of Croissant and schema.org, as their documents write them.
//!
//! It reverses what the catalogue does with such documents: terms of DCAT become those of schema.org, and nodes get the names that
//! their document had.

use crate::portal::metadata::MEDIA_TYPES;
use lodeseek_rdf::vocab::{
    adms, croissant, dcat, dcterms, foaf, lodeseek, owl, rdf, schema, skos, spdx, vcard,
};
use lodeseek_rdf::{LiteralKind, TermId, TermRef, TripleGraph, local_name};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

/// Maximum depth of nested nodes. Descriptions have at most eight steps.
const MAX_DEPTH: usize = 16;
/// Maximum number of statements of a node that is repeated where it occurs; larger ones are referenced.
const MAX_REPEATED_STATEMENTS: usize = 8;
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const RDF_JSON: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";
/// Namespace of Croissant's properties for responsible AI.
const RAI: &str = "http://mlcommons.org/croissant/RAI/";

/// (property of a description, property of schema.org).
const TERMS: &[(&str, &str)] = &[
    (dcterms::TITLE, "name"),
    (dcterms::ALTERNATIVE, "alternateName"),
    (dcterms::DESCRIPTION, "description"),
    (dcat::LANDING_PAGE, "url"),
    (dcterms::LICENSE, "license"),
    (dcterms::CREATOR, "creator"),
    (dcterms::PUBLISHER, "publisher"),
    (dcterms::CONTRIBUTOR, "contributor"),
    (dcterms::ISSUED, "datePublished"),
    (dcterms::MODIFIED, "dateModified"),
    (dcterms::CREATED, "dateCreated"),
    (dcterms::LANGUAGE, "inLanguage"),
    (dcterms::SPATIAL, "spatialCoverage"),
    (dcterms::TEMPORAL, "temporalCoverage"),
    (dcterms::IS_PART_OF, "isPartOf"),
    (dcterms::HAS_PART, "hasPart"),
    (dcterms::CONFORMS_TO, "conformsTo"),
    (dcat::VERSION, "version"),
    (dcat::KEYWORD, "keywords"),
    (dcat::CONTACT_POINT, "contactPoint"),
    (dcat::DISTRIBUTION, "distribution"),
    (dcat::DOWNLOAD_URL, "contentUrl"),
    (dcat::ACCESS_URL, "url"),
    (dcat::MEDIA_TYPE, "encodingFormat"),
    (dcterms::FORMAT, "encodingFormat"),
    (adms::IDENTIFIER, "identifier"),
    (foaf::NAME, "name"),
    (foaf::HOMEPAGE, "url"),
    (foaf::MBOX, "email"),
    (vcard::FN, "name"),
    (vcard::HAS_EMAIL, "email"),
    (skos::PREF_LABEL, "name"),
];

/// Terms of Croissant's context, without a prefix. Some documents have them in the namespace of schema.org by mistake.
pub(super) const CROISSANT_TERMS: &[&str] = &[
    "annotation",
    "arrayShape",
    "citeAs",
    "column",
    "containedIn",
    "data",
    "dataType",
    "equivalentProperty",
    "examples",
    "excludes",
    "extract",
    "field",
    "fileObject",
    "fileProperty",
    "fileSet",
    "format",
    "includes",
    "isArray",
    "isEnumeration",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "readLines",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "sdVersion",
    "separator",
    "source",
    "subField",
    "transform",
    "unArchive",
];

/// Keys whose values are lists, also if there is one.
const LISTS: &[&str] = &[
    "annotation",
    "distribution",
    "field",
    "keywords",
    "recordSet",
    "subField",
];
/// Properties whose values are described there. Elsewhere, they are referenced.
const OWNERS: &[&str] = &[
    dcat::DISTRIBUTION,
    croissant::RECORD_SET,
    croissant::FIELD,
    croissant::SUB_FIELD,
    croissant::ANNOTATION,
];
/// Namespaces with statements of this program and of its store about a dataset.
const INTERNAL: &[&str] = &[
    lodeseek::NAMESPACE,
    owl::NAMESPACE,
    "http://rdfs.org/ns/void#",
    "http://www.w3.org/ns/sparql-service-description#",
    "http://www.w3.org/ns/dqv#",
    "http://www.w3.org/ns/adms#",
    dcat::NAMESPACE,
    dcterms::NAMESPACE,
    rdf::NAMESPACE,
];
/// Namespaces of classes that follow from the property that leads to the node.
const IMPLIED_CLASSES: &[&str] = &[
    dcat::NAMESPACE,
    dcterms::NAMESPACE,
    foaf::NAMESPACE,
    vcard::NAMESPACE,
    adms::NAMESPACE,
];

/// A local file that this server sends.
pub(super) struct ServedFile {
    pub(super) address: String,
    /// If false, it is sent in another serialization, so that sizes and checksums differ.
    pub(super) is_original: bool,
}

/// Description that is compacted.
pub(super) struct Compaction<'g> {
    graph: &'g TripleGraph,
    /// IRI of the dataset: nodes under it are parts of the description.
    dataset: String,
    node: TermId,
    /// Nodes that are described at one place.
    owned: FxHashSet<TermId>,
    /// Numbers of references to each node.
    references: FxHashMap<TermId, u32>,
    /// Nodes that were written.
    written: FxHashSet<TermId>,
    /// Local files by the names of their parts.
    addresses: FxHashMap<String, ServedFile>,
    /// If true, the context declares names and descriptions as maps of languages.
    has_language_maps: bool,
}

impl<'g> Compaction<'g> {
    /// Returns the compaction of a dataset's description; `None` if the graph has none.
    ///
    /// `addresses` are those of local files, by the names of their parts.
    pub(super) fn new(
        graph: &'g TripleGraph,
        dataset: &str,
        addresses: FxHashMap<String, ServedFile>,
    ) -> Option<Self> {
        let node = graph.iri(dataset)?;
        let owners: Vec<TermId> = OWNERS.iter().filter_map(|owner| graph.iri(owner)).collect();
        let (mut owned, mut references) = (FxHashSet::default(), FxHashMap::default());
        for triple in graph
            .triples()
            .iter()
            .filter(|triple| graph.is_resource(triple.object))
        {
            *references.entry(triple.object).or_insert(0) += 1;
            if owners.contains(&triple.predicate) {
                owned.insert(triple.object);
            }
        }
        // The dataset is being written: a reference back to it must not repeat it.
        let written = FxHashSet::from_iter([node]);
        let dataset = format!("{dataset}#");
        Some(Self {
            graph,
            dataset,
            node,
            owned,
            references,
            written,
            addresses,
            has_language_maps: false,
        })
    }

    /// If true, the description has statements in Croissant's terms.
    pub(super) fn is_croissant(&self) -> bool {
        self.graph.triples().iter().any(|triple| {
            self.is_croissant_term(triple.predicate) || self.is_croissant_term(triple.object)
        })
    }

    fn is_croissant_term(&self, id: TermId) -> bool {
        match self.graph.term(id) {
            TermRef::Iri(iri) => iri.starts_with(croissant::NAMESPACE),
            _ => false,
        }
    }

    /// Returns the version of Croissant to which the description conforms, for example `1.0`.
    pub(super) fn croissant_version(&self) -> Option<&'g str> {
        let versions = self.objects(self.node, dcterms::CONFORMS_TO);
        versions
            .filter_map(|id| {
                self.graph
                    .term(id)
                    .text()
                    .strip_prefix(croissant::NAMESPACE)
            })
            // A description may conform to several versions; documents state one.
            .max()
    }

    /// Returns the properties of the dataset. With `has_language_maps`, texts in other languages than English are in maps.
    pub(super) fn dataset(&mut self, has_language_maps: bool) -> Map<String, Value> {
        self.has_language_maps = has_language_maps;
        let mut object = Map::new();
        self.add_properties(self.node, &mut object, 0);
        object
    }

    fn objects(&self, node: TermId, property: &str) -> impl Iterator<Item = TermId> + use<'g> {
        let property = self.graph.iri(property);
        let triples = self.graph.subject_triples(node).iter();
        triples
            .filter(move |triple| Some(triple.predicate) == property)
            .map(|triple| triple.object)
    }

    fn text(&self, node: TermId, property: &str) -> Option<&'g str> {
        self.objects(node, property)
            .map(|id| self.graph.term(id).text())
            .next()
    }

    /// Returns the key of a property; `None` for statements of this program.
    fn key(&self, node: TermId, property: &str) -> Option<String> {
        if let Some((_, term)) = TERMS.iter().find(|(own, _)| *own == property) {
            return Some((*term).to_owned());
        }
        if let Some(local) = property.strip_prefix(RAI) {
            return Some(format!("rai:{local}"));
        }
        if let Some(local) = property.strip_prefix(croissant::NAMESPACE) {
            return Some(
                // A local name with a slash is no valid term after a prefix.
                match (CROISSANT_TERMS.contains(&local), local.contains('/')) {
                    (true, _) => local.to_owned(),
                    (false, false) => format!("cr:{local}"),
                    (false, true) => property.to_owned(),
                },
            );
        }
        if let Some(local) = schema_name(property) {
            return Some(local.to_owned());
        }
        let is_source = property == dcterms::SOURCE && self.text(node, lodeseek::ID).is_some();
        let is_internal = !is_source
            && INTERNAL
                .iter()
                .any(|namespace| property.starts_with(namespace));
        let is_checksum = property == spdx::CHECKSUM || property == rdf::TYPE;
        let is_internal_here = is_internal && node == self.node;
        (!is_checksum && !is_internal_here).then(|| property.to_owned())
    }

    fn add_properties(&mut self, node: TermId, object: &mut Map<String, Value>, depth: usize) {
        let graph = self.graph;
        let mut values: Vec<(String, Value)> = Vec::new();
        for triple in graph.subject_triples(node) {
            let property = graph.term(triple.predicate).text();
            match property {
                dcterms::IDENTIFIER if node == self.node => {
                    let text = graph.term(triple.object).text();
                    // Without an identifier in the catalogue, it is the id.
                    if self.text(node, lodeseek::ID).is_some_and(|id| id != text) {
                        values.push(("identifier".to_owned(), json!(text)));
                    }
                }
                // These are the class and the name of a node, which are written before its properties.
                rdf::TYPE | owl::SAME_AS | dcterms::IDENTIFIER => continue,
                spdx::CHECKSUM => values.extend(self.checksum(triple.object)),
                dcat::BYTE_SIZE => values.extend(self.byte_size(node, triple.object)),
                _ => {
                    let Some(mut key) = self.key(node, property) else {
                        continue;
                    };
                    if property == dcterms::IS_PART_OF && self.is_catalog(triple.object) {
                        key = "includedInDataCatalog".to_owned();
                    }
                    if let Some(value) = self.compact_value(&key, property, triple.object, depth) {
                        values.push((key, value));
                    }
                }
            }
        }
        let mut lists: Map<String, Value> = Map::new();
        for (key, value) in values {
            let list = lists.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(value);
            }
        }
        for (key, value) in lists {
            let Value::Array(mut list) = value else {
                continue;
            };
            sort_values(&mut list);
            list.dedup();
            remove_repeated_references(&mut list);
            let is_map = self.has_language_maps && matches!(key.as_str(), "name" | "description");
            let is_list = LISTS.contains(&key.as_str()) && !list.iter().all(is_reference);
            let value = match list.len() {
                _ if is_map && list.iter().any(Value::is_object) => language_map(&list),
                1 if !is_list => list.pop().unwrap_or_default(),
                _ => Value::Array(list),
            };
            object.insert(key, value);
        }
        // After the properties, so that the address at this server replaces that of the source.
        if let TermRef::Iri(iri) = graph.term(node)
            && let Some(served) = iri
                .strip_prefix(&self.dataset)
                .and_then(|part| self.addresses.get(part))
        {
            object.insert("contentUrl".to_owned(), json!(served.address));
            if !served.is_original {
                for key in ["contentSize", "md5", "sha256"] {
                    object.remove(key);
                }
            }
        }
    }

    fn is_catalog(&self, node: TermId) -> bool {
        self.objects(node, rdf::TYPE)
            .any(|class| self.graph.term(class).text() == dcat::CATALOG)
    }

    /// Returns the classes of a node, without those that follow from the property that leads to it.
    fn classes(&self, node: TermId) -> Option<Value> {
        let mut classes: Vec<String> = self
            .objects(node, rdf::TYPE)
            .map(|class| self.graph.term(class).text())
            .filter(|class| {
                !IMPLIED_CLASSES
                    .iter()
                    .any(|namespace| class.starts_with(namespace))
            })
            .map(compact_class)
            .collect();
        classes.sort();
        match classes.len() {
            0 if self.objects(node, foaf::NAME).next().is_some() => Some(json!("Organization")),
            0 => None,
            1 => Some(json!(classes[0])),
            _ => Some(json!(classes)),
        }
    }

    /// Returns the name of a node in the document: the one that it had, or else its IRI.
    fn id(&self, node: TermId) -> Option<String> {
        let TermRef::Iri(iri) = self.graph.term(node) else {
            return None;
        };
        let Some(part) = iri.strip_prefix(&self.dataset) else {
            return Some(iri.to_owned());
        };
        if let Some(name) = self
            .text(node, dcterms::IDENTIFIER)
            .or_else(|| self.text(node, owl::SAME_AS))
        {
            return Some(name.to_owned());
        }
        let is_shared = self.references.get(&node).is_some_and(|count| *count > 1);
        let is_owned = self.owned.contains(&node);
        match (is_owned, is_shared && self.is_large(node)) {
            (true, _) => Some(part.to_owned()),
            (false, true) => Some(format!("_:{part}")),
            (false, false) => None,
        }
    }

    /// If true, a node is not repeated: it has nodes or many statements.
    fn is_large(&self, node: TermId) -> bool {
        let triples = self.graph.subject_triples(node);
        let has_nodes = triples.iter().any(|triple| {
            self.graph.is_resource(triple.object)
                && !self.graph.subject_triples(triple.object).is_empty()
        });
        has_nodes || triples.len() > MAX_REPEATED_STATEMENTS
    }

    fn compact_value(
        &mut self,
        key: &str,
        property: &str,
        object: TermId,
        depth: usize,
    ) -> Option<Value> {
        let graph = self.graph;
        match graph.term(object) {
            TermRef::Literal { lexical, kind } => Some(compact_literal(key, lexical, kind)),
            TermRef::Triple(_) => None,
            TermRef::Iri(_) | TermRef::Blank(_) if object == self.node => None,
            TermRef::Iri(iri) if graph.subject_triples(object).is_empty() => {
                Some(compact_reference(key, property, iri))
            }
            TermRef::Iri(_) | TermRef::Blank(_) => {
                if property == dcterms::TEMPORAL
                    && let Some(interval) = self.interval(object)
                {
                    return Some(json!(interval));
                }
                if property == adms::IDENTIFIER {
                    return self.text(object, skos::NOTATION).map(|text| json!(text));
                }
                self.compact_node(property, object, depth)
            }
        }
    }

    /// Returns a node: described, or as a reference if it is described elsewhere.
    fn compact_node(&mut self, property: &str, node: TermId, depth: usize) -> Option<Value> {
        let id = self.id(node);
        let is_elsewhere = self.owned.contains(&node) && !OWNERS.contains(&property);
        // Only nodes with a name can be referenced; others are repeated.
        if let Some(id) = &id
            && (is_elsewhere || !self.written.insert(node))
        {
            return Some(json!({ "@id": id }));
        }
        // Cycles of nodes without names would not end otherwise.
        if depth >= MAX_DEPTH {
            return None;
        }
        let mut object = Map::new();
        object.extend(
            self.classes(node)
                .map(|classes| ("@type".to_owned(), classes)),
        );
        object.extend(id.map(|id| ("@id".to_owned(), json!(id))));
        self.add_properties(node, &mut object, depth + 1);
        Some(Value::Object(object))
    }

    fn interval(&self, period: TermId) -> Option<String> {
        let [start, end] = [dcat::START_DATE, dcat::END_DATE].map(|bound| self.text(period, bound));
        match (start, end) {
            (None, None) => None,
            (start, end) => Some(format!("{}/{}", start.unwrap_or(".."), end.unwrap_or(".."))),
        }
    }

    fn checksum(&self, part: TermId) -> Option<(String, Value)> {
        let value = self.text(part, spdx::CHECKSUM_VALUE)?;
        let key = match self.text(part, spdx::ALGORITHM)? {
            spdx::MD5 => "md5",
            spdx::SHA256 => "sha256",
            _ => return None,
        };
        Some((key.to_owned(), json!(value)))
    }

    /// Returns the number of bytes, if the description has no size with a unit.
    fn byte_size(&self, file: TermId, bytes: TermId) -> Option<(String, Value)> {
        let is_stated = self.objects(file, schema::CONTENT_SIZE).next().is_some();
        let size = format!("{} B", self.graph.term(bytes).text());
        (!is_stated).then(|| ("contentSize".to_owned(), json!(size)))
    }
}

/// Removes the addresses of nodes that the list describes.
fn remove_repeated_references(list: &mut Vec<Value>) {
    let described: FxHashSet<String> = list
        .iter()
        .filter_map(|value| Some(value.get("@id")?.as_str()?.to_owned()))
        .collect();
    list.retain(|value| {
        value
            .as_str()
            .is_none_or(|address| !described.contains(address))
    });
}

/// If true, a value only refers to a node that is described elsewhere.
fn is_reference(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.len() == 1 && object.contains_key("@id"))
}

/// Returns texts by their languages; those without one are in the default language, English.
fn language_map(texts: &[Value]) -> Value {
    let mut map: Map<String, Value> = Map::new();
    for text in texts {
        let (language, value) = match text {
            Value::Object(tagged) => (
                tagged["@language"].as_str().unwrap_or("en"),
                &tagged["@value"],
            ),
            plain => ("en", plain),
        };
        let next = match map.remove(language) {
            None => value.clone(),
            Some(Value::Array(mut values)) => {
                values.push(value.clone());
                Value::Array(values)
            }
            Some(first) => json!([first, value]),
        };
        map.insert(language.to_owned(), next);
    }
    Value::Object(map)
}

/// Sorts nodes by their names, and texts: statements have no order.
fn sort_values(list: &mut [Value]) {
    list.sort_by_cached_key(|value| match value {
        Value::Object(object) => {
            let [id, name] = ["@id", "name"].map(|key| object.get(key).and_then(Value::as_str));
            (
                natural_key(id.unwrap_or_default()),
                natural_key(name.unwrap_or_default()),
            )
        }
        Value::String(text) => (natural_key(text), Vec::new()),
        other => (natural_key(&other.to_string()), Vec::new()),
    });
}

/// Returns a sort key in which 10 comes after 9.
fn natural_key(text: &str) -> Vec<(usize, String)> {
    let mut parts: Vec<(usize, String)> = Vec::new();
    let mut was_digit = None;
    for character in text.chars() {
        let is_digit = character.is_ascii_digit();
        match parts.last_mut() {
            Some((length, part)) if was_digit == Some(is_digit) => {
                part.push(character);
                *length += usize::from(is_digit);
            }
            _ => parts.push((usize::from(is_digit), character.to_string())),
        }
        was_digit = Some(is_digit);
    }
    parts
}

/// Returns the local name of a property of schema.org.
fn schema_name(property: &str) -> Option<&str> {
    property
        .strip_prefix(schema::NAMESPACE)
        .or_else(|| property.strip_prefix("http://schema.org/"))
}

/// Returns the name of a class of schema.org, and another class with a prefix of the context.
fn compact_class(iri: &str) -> String {
    match schema_name(iri) {
        Some(name) => name.to_owned(),
        None => compact_iri(iri),
    }
}

/// Returns a class or datatype with a prefix of the context.
fn compact_iri(iri: &str) -> String {
    if let Some(local) = schema_name(iri)
        && is_local_name(local)
    {
        return format!("sc:{local}");
    }
    for (prefix, namespace) in [
        ("rai", RAI),
        ("cr", croissant::NAMESPACE),
        ("wd", WIKIDATA),
        ("prov", PROV),
    ] {
        if let Some(local) = iri.strip_prefix(namespace)
            && is_local_name(local)
        {
            return format!("{prefix}:{local}");
        }
    }
    iri.to_owned()
}

fn is_local_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('/')
}

/// Namespaces of prefixes in the context.
pub(super) const WIKIDATA: &str = "https://www.wikidata.org/wiki/";
pub(super) const PROV: &str = "http://www.w3.org/ns/prov#";

/// Returns an IRI as the value of a key. Terms of Croissant lead to nodes, those of schema.org to addresses as texts.
fn compact_reference(key: &str, property: &str, iri: &str) -> Value {
    match (key, property) {
        ("dataType", _) => json!(compact_iri(iri)),
        ("encodingFormat", dcat::MEDIA_TYPE) => json!(iri.split(MEDIA_TYPES).last().unwrap_or(iri)),
        ("inLanguage", _) => json!(iri),
        ("email", _) => json!(iri.trim_start_matches("mailto:")),
        _ if CROISSANT_TERMS.contains(&key) => json!({ "@id": iri }),
        ("creator" | "publisher" | "contributor", _) => {
            json!({ "@type": "Organization", "name": local_name(iri), "url": iri })
        }
        _ if schema_name(property).is_some() || TERMS.iter().any(|(own, _)| *own == property) => {
            json!(iri)
        }
        _ => json!({ "@id": iri }),
    }
}

/// Returns a literal as the value of a key. The default language of the context is English.
fn compact_literal(key: &str, lexical: &str, kind: LiteralKind<'_>) -> Value {
    if let Some(language) = kind.language() {
        let is_default = language == "en";
        return if is_default {
            json!(lexical)
        } else {
            json!({ "@value": lexical, "@language": language })
        };
    }
    let LiteralKind::Datatype(datatype) = kind else {
        return json!(lexical);
    };
    match datatype.strip_prefix(XSD) {
        Some("boolean") if matches!(lexical, "true" | "1") => json!(true),
        Some("boolean") if matches!(lexical, "false" | "0") => json!(false),
        // Larger integers stay texts: as numbers of JSON they would be rounded.
        Some("integer" | "int" | "long" | "nonNegativeInteger") => match lexical.parse::<i64>() {
            Ok(number) => json!(number),
            Err(_) => json!(lexical),
        },
        Some("double" | "decimal" | "float") => match lexical.parse::<f64>() {
            Ok(number) => json!(number),
            Err(_) => json!(lexical),
        },
        None if datatype == RDF_JSON => {
            let parsed = serde_json::from_str(lexical).unwrap_or_else(|_| json!(lexical));
            if matches!(key, "data" | "examples") {
                parsed
            } else {
                json!({ "@value": parsed, "@type": "@json" })
            }
        }
        _ => json!(lexical),
    }
}
