//! Metadata of DataCite, kernels 3 and 4: JSON as of the REST API, and XML, which is converted to that JSON.
//! <https://schema.datacite.org/>, <https://support.datacite.org/docs/api>

use super::addresses::{Address, parse_address};
use super::ckan_licenses::license_iri;
use super::croissant::size_in_bytes;
use super::dcat_builder::{
    DcatBuilder, FieldKind, Object, Subject, into_list, prune_object, scalar_text, scalar_texts,
    take_first, take_text,
};
use super::json_entries::{EntryFault, has_key, read_entries};
use super::xml_tree::Element;
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, locn, org, prov, skos};
use serde_json::{Value, json};
use std::path::Path;

/// General types of resources that are datasets.
const TYPES: [&str; 2] = ["Dataset", "Collection"];
/// Properties for relations to other resources. Others are `dct:relation`.
const RELATIONS: [(&str, &str); 14] = [
    ("IsDescribedBy", dcterms::IS_REFERENCED_BY),
    ("IsCitedBy", dcterms::IS_REFERENCED_BY),
    ("IsReferencedBy", dcterms::IS_REFERENCED_BY),
    ("IsSupplementTo", dcterms::IS_REFERENCED_BY),
    ("IsDocumentedBy", foaf::PAGE),
    ("Cites", dcterms::REFERENCES),
    ("References", dcterms::REFERENCES),
    ("HasPart", dcterms::HAS_PART),
    ("IsPartOf", dcterms::IS_PART_OF),
    ("IsVersionOf", dcat::IS_VERSION_OF),
    ("HasVersion", dcat::HAS_VERSION),
    ("IsNewVersionOf", dcat::PREVIOUS_VERSION),
    ("IsDerivedFrom", dcterms::SOURCE),
    ("IsObsoletedBy", dcterms::IS_REPLACED_BY),
];
/// Beginnings of IRIs by the type of an identifier.
const IDENTIFIERS: [(&str, &str); 9] = [
    ("DOI", "https://doi.org/"),
    ("Handle", "https://hdl.handle.net/"),
    ("arXiv", "https://arxiv.org/abs/"),
    ("PMID", "https://pubmed.ncbi.nlm.nih.gov/"),
    ("ISSN", "urn:ISSN:"),
    ("EISSN", "urn:ISSN:"),
    ("ISBN", "urn:ISBN:"),
    ("ORCID", "https://orcid.org/"),
    ("ROR", "https://ror.org/"),
];

/// Records of a document, and the address of the next page.
pub(super) struct Records<'v> {
    entries: Vec<&'v Value>,
    pub(super) next: Option<String>,
}

/// Returns the records of a document; `None` if it is of another dialect.
pub(super) fn records(document: &Value) -> Option<Records<'_>> {
    let content = document.get("data").unwrap_or(document);
    let entries: Vec<&Value> = match content {
        Value::Array(entries) => entries.iter().collect(),
        entry => vec![entry],
    };
    let entries: Vec<&Value> = entries
        .into_iter()
        .map(|entry| entry.get("attributes").unwrap_or(entry))
        .collect();
    let next = document.get("links").and_then(|links| links.get("next"));
    let next = next.and_then(scalar_text);
    entries
        .iter()
        .any(|entry| is_record(entry))
        .then_some(Records { entries, next })
}

/// If true, the value is a record: an object with a list of titles and other keys of the schema.
fn is_record(value: &Value) -> bool {
    let is_schema = value
        .get("schemaVersion")
        .and_then(Value::as_str)
        .is_some_and(|version| version.contains("datacite.org"));
    let titles = value.get("titles").and_then(Value::as_array);
    let has_titles = titles.is_some_and(|titles| {
        titles.iter().all(|title| has_key(title, "title")) && !titles.is_empty()
    });
    let has_type = value
        .get("types")
        .is_some_and(|types| types.get("resourceTypeGeneral").is_some());
    let has_creators = value.get("creators").is_some_and(Value::is_array);
    has_titles && (is_schema || has_type || has_creators && has_key(value, "doi"))
}

/// Reads records.
pub(super) fn read(records: &Records<'_>, path: &Path) -> Catalog {
    read_entries(records.entries.iter().copied(), path, write_entry)
}

/// Writes a record.
pub(super) fn write_entry(
    record: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    write_record(record, None, builder).map(|_| None)
}

/// Writes a record with an id from elsewhere. Returns the node.
pub(super) fn write_record(
    record: &Object,
    identifier: Option<&str>,
    builder: &mut DcatBuilder,
) -> Result<Subject, EntryFault> {
    let mut record = prune_object(record);
    let mut types = match record.remove("types") {
        Some(Value::Object(types)) => types,
        _ => Object::new(),
    };
    let general = take_text(&mut types, "resourceTypeGeneral");
    if let Some(general) = general
        .as_ref()
        .filter(|general| !TYPES.iter().any(|kind| general.eq_ignore_ascii_case(kind)))
    {
        let title = record.get("titles").and_then(|titles| titles.get(0));
        let title = title
            .and_then(|title| title.get("title"))
            .and_then(scalar_text);
        let title = title.unwrap_or_default();
        let reason =
            format!("ignored: {title:?} is a resource of the type `{general}`, not a dataset");
        return Err(EntryFault::from_type(general, reason));
    }
    let doi = take_text(&mut record, "doi").or_else(|| doi_of(&mut record));
    let iri = doi.as_deref().map(doi_iri);
    let node = builder.node(iri.as_deref().or(identifier));
    builder.class(&node, dcat::DATASET);
    if let Some(doi) = &doi {
        builder.text(&node, dcterms::IDENTIFIER, &json!(doi));
    }
    for name in general
        .into_iter()
        .chain(take_text(&mut types, "resourceType"))
    {
        builder.text(&node, dcterms::TYPE, &json!(name));
    }
    builder.extras(&node, types);
    add_titles(&mut record, &node, builder);
    add_descriptions(&mut record, &node, builder);
    add_agents(&mut record, &node, builder);
    add_dates(&mut record, &node, builder);
    add_subjects(&mut record, &node, builder);
    add_rights(&mut record, &node, builder);
    add_relations(&mut record, &node, builder);
    add_places(&mut record, &node, builder);
    add_distribution(&mut record, iri.as_deref(), &node, builder);
    for (key, property, kind) in [
        ("language", dcterms::LANGUAGE, FieldKind::Resource),
        ("version", dcat::VERSION, FieldKind::Text),
        ("schemaVersion", dcterms::CONFORMS_TO, FieldKind::Resource),
    ] {
        if let Some(value) = record.remove(key) {
            builder.field(&node, key, property, kind, &value);
        }
    }
    builder.extras(&node, record);
    Ok(node)
}

fn doi_iri(doi: &str) -> String {
    let bare = doi.trim().trim_start_matches("doi:");
    if bare.contains("://") {
        bare.to_owned()
    } else {
        format!("https://doi.org/{bare}")
    }
}

/// Removes and returns the DOI among the identifiers, or the first identifier that is an IRI.
fn doi_of(record: &mut Object) -> Option<String> {
    let mut identifiers = into_list(record.remove("identifiers"));
    let place = identifiers
        .iter()
        .position(|identifier| {
            identifier.get("identifierType").and_then(Value::as_str) == Some("DOI")
        })
        .or_else(|| {
            identifiers.iter().position(|identifier| {
                let text = identifier.get("identifier").and_then(scalar_text);
                text.is_some_and(|text| matches!(parse_address(&text), Address::Iri(_)))
            })
        });
    let found = place.map(|place| identifiers.remove(place));
    if !identifiers.is_empty() {
        record.insert("identifiers".to_owned(), Value::Array(identifiers));
    }
    let mut found = match found {
        Some(Value::Object(found)) => found,
        _ => return None,
    };
    take_text(&mut found, "identifier")
}

/// Returns the objects of a list. A text becomes an object with a key.
fn take_objects(record: &mut Object, key: &str, text_key: &str) -> Vec<Object> {
    let mut objects = Vec::new();
    for value in into_list(record.remove(key)) {
        objects.push(match value {
            Value::Object(object) => object,
            text => Object::from_iter([(text_key.to_owned(), text)]),
        });
    }
    objects
}

/// Keeps what is left of an object that a list has.
fn add_rest(node: &Subject, key: &str, object: Object, builder: &mut DcatBuilder) {
    if !object.is_empty() {
        builder.extra(node, key, &Value::Object(object));
    }
}

fn add_titles(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for mut title in take_objects(record, "titles", "title") {
        let language = take_text(&mut title, "lang");
        let kind = take_text(&mut title, "titleType");
        let property = match kind.as_deref() {
            None | Some("TranslatedTitle") => dcterms::TITLE,
            Some("AlternativeTitle" | "Subtitle") => dcterms::ALTERNATIVE,
            Some(other) => {
                title.insert("titleType".to_owned(), json!(other));
                dcterms::ALTERNATIVE
            }
        };
        if let Some(text) = title.remove("title") {
            builder.add_field_in_language(
                node,
                "titles",
                property,
                FieldKind::Title,
                &text,
                language.as_deref(),
            );
        }
        add_rest(node, "titles", title, builder);
    }
}

fn add_descriptions(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let all = take_objects(record, "descriptions", "description");
    let has_abstract = all.iter().any(is_abstract);
    for mut description in all {
        let language = take_text(&mut description, "lang");
        let property = if is_abstract(&description) || !has_abstract {
            dcterms::DESCRIPTION
        } else {
            skos::SCOPE_NOTE
        };
        if is_abstract(&description) {
            description.remove("descriptionType");
        }
        if let Some(text) = description.remove("description") {
            let kind = FieldKind::Text;
            builder.add_field_in_language(
                node,
                "descriptions",
                property,
                kind,
                &text,
                language.as_deref(),
            );
        }
        add_rest(node, "descriptions", description, builder);
    }
}

fn is_abstract(description: &Object) -> bool {
    description
        .get("descriptionType")
        .and_then(Value::as_str)
        .is_none_or(|kind| kind == "Abstract")
}

fn add_agents(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for creator in take_objects(record, "creators", "name") {
        let agent = add_agent(creator, builder);
        builder.add(node, dcterms::CREATOR, agent);
    }
    for mut contributor in take_objects(record, "contributors", "name") {
        match take_text(&mut contributor, "contributorType").as_deref() {
            Some("ContactPerson") => {
                if let Some(identifiers) = contributor.remove("nameIdentifiers") {
                    contributor.insert("identifier".to_owned(), identifiers);
                }
                let contact = Value::Object(contributor);
                let kind = FieldKind::Contact;
                builder.field(node, "contributors", dcat::CONTACT_POINT, kind, &contact);
            }
            Some("RightsHolder") => {
                let agent = add_agent(contributor, builder);
                builder.add(node, dcterms::RIGHTS_HOLDER, agent);
            }
            role => {
                let agent = add_agent(contributor, builder);
                builder.add(node, dcterms::CONTRIBUTOR, agent.clone());
                let Some(role) = role.filter(|role| *role != "Other") else {
                    continue;
                };
                let attribution =
                    builder.part(node, prov::QUALIFIED_ATTRIBUTION, prov::ATTRIBUTION);
                builder.add(&attribution, prov::AGENT, agent);
                let concept = builder.part(&attribution, dcat::HAD_ROLE, dcat::ROLE);
                builder.text(&concept, skos::PREF_LABEL, &json!(role));
            }
        }
    }
    for mut publisher in take_objects(record, "publisher", "name") {
        let identifier = take_text(&mut publisher, "publisherIdentifier");
        let scheme = take_text(&mut publisher, "publisherIdentifierScheme");
        if let Some(identifier) = identifier {
            let one = json!([{"nameIdentifier": identifier, "nameIdentifierScheme": scheme,
                "schemeUri": publisher.remove("schemeUri")}]);
            publisher.insert("nameIdentifiers".to_owned(), one);
        }
        let agent = add_agent(publisher, builder);
        builder.add(node, dcterms::PUBLISHER, agent);
    }
}

/// Adds an agent with its identifiers and affiliations.
fn add_agent(mut agent: Object, builder: &mut DcatBuilder) -> Subject {
    let (mut iri, mut others) = (None, Vec::new());
    for mut identifier in take_objects(&mut agent, "nameIdentifiers", "nameIdentifier") {
        let text = take_text(&mut identifier, "nameIdentifier").unwrap_or_default();
        let scheme = take_text(&mut identifier, "nameIdentifierScheme");
        let base = take_text(&mut identifier, "schemeUri");
        let found = identifier_iri(&text, scheme.as_deref(), base.as_deref());
        match found.filter(|_| iri.is_none()) {
            Some(found) => iri = Some(found),
            None => others.extend((!text.is_empty()).then_some(text)),
        }
    }
    let node = builder.node(iri.as_deref());
    let class = match take_text(&mut agent, "nameType").as_deref() {
        Some("Personal") => foaf::PERSON,
        Some("Organizational") => org::ORGANIZATION,
        _ => foaf::AGENT,
    };
    builder.class(&node, class);
    let language = take_text(&mut agent, "lang");
    if let Some(name) = agent.remove("name") {
        let kind = FieldKind::Title;
        builder.add_field_in_language(&node, "name", foaf::NAME, kind, &name, language.as_deref());
    }
    for (key, property) in [
        ("givenName", foaf::GIVEN_NAME),
        ("familyName", foaf::FAMILY_NAME),
    ] {
        if let Some(name) = agent.remove(key) {
            builder.title(&node, key, property, &name);
        }
    }
    for other in others {
        builder.text(&node, dcterms::IDENTIFIER, &json!(other));
    }
    builder.extras(&node, agent);
    node
}

/// Returns the IRI of an identifier of a type: an IRI, or a bare one after the beginning for its type or its scheme.
fn identifier_iri(text: &str, kind: Option<&str>, scheme: Option<&str>) -> Option<String> {
    let text = text.trim();
    if let Address::Iri(iri) = parse_address(text) {
        return Some(iri);
    }
    let known = IDENTIFIERS
        .iter()
        .find(|(name, _)| kind.is_some_and(|kind| kind.eq_ignore_ascii_case(name)));
    let start = match (known, scheme) {
        (Some((_, start)), _) => (*start).to_owned(),
        (None, Some(scheme)) if scheme.contains("://") => {
            format!("{}/", scheme.trim().trim_end_matches('/'))
        }
        _ => return None,
    };
    match parse_address(&format!("{start}{}", text.trim_start_matches("doi:"))) {
        Address::Iri(iri) if !text.is_empty() => Some(iri),
        _ => None,
    }
}

fn add_dates(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut is_issued = false;
    for mut date in take_objects(record, "dates", "date") {
        let kind = take_text(&mut date, "dateType").unwrap_or_default();
        let property = match kind.as_str() {
            "Issued" => dcterms::ISSUED,
            "Updated" => dcterms::MODIFIED,
            "Created" => dcterms::CREATED,
            _ => dcterms::TEMPORAL,
        };
        match (take_text(&mut date, "date"), kind.as_str()) {
            (Some(text), "Collected" | "Coverage") => builder.interval(node, &text),
            (Some(text), "Issued" | "Updated" | "Created") => {
                is_issued |= kind == "Issued";
                builder.field(node, "dates", property, FieldKind::Date, &json!(text));
            }
            (text, _) => {
                date.insert("dateType".to_owned(), json!(kind));
                date.insert("date".to_owned(), json!(text));
            }
        }
        add_rest(node, "dates", date, builder);
    }
    if let Some(year) = record.remove("publicationYear") {
        if is_issued {
            builder.extra(node, "publicationYear", &year);
        } else {
            let property = dcterms::ISSUED;
            builder.field(node, "publicationYear", property, FieldKind::Date, &year);
        }
    }
}

fn add_subjects(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for mut subject in take_objects(record, "subjects", "subject") {
        let language = take_text(&mut subject, "lang");
        let text = subject.remove("subject").unwrap_or_default();
        let value = take_text(&mut subject, "valueUri")
            .filter(|iri| matches!(parse_address(iri), Address::Iri(_)));
        let kind = FieldKind::Title;
        builder.add_field_in_language(
            node,
            "subjects",
            dcat::KEYWORD,
            kind,
            &text,
            language.as_deref(),
        );
        if let Some(iri) = value {
            let concept = builder.node(Some(&iri));
            builder.add(node, dcat::THEME, concept.clone());
            builder.class(&concept, skos::CONCEPT);
            let language = language.as_deref();
            builder.add_field_in_language(
                &concept,
                "subjects",
                skos::PREF_LABEL,
                kind,
                &text,
                language,
            );
            builder.extras(&concept, subject);
        } else {
            add_rest(node, "subjects", subject, builder);
        }
    }
}

fn add_rights(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for mut rights in take_objects(record, "rightsList", "rights") {
        let uri = take_text(&mut rights, "rightsUri");
        let identifier = rights.get("rightsIdentifier").and_then(scalar_text);
        if let Some(access) = uri
            .as_deref()
            .filter(|uri| uri.contains("/semantics/") && uri.ends_with("Access"))
        {
            builder.resource(node, dcterms::ACCESS_RIGHTS, access);
            add_rest(node, "rightsList", rights, builder);
            continue;
        }
        let language = take_text(&mut rights, "lang");
        let iri = uri
            .clone()
            .or_else(|| identifier.as_deref().and_then(license_iri));
        match iri {
            Some(iri) => {
                rights.insert("url".to_owned(), Value::String(iri));
                if let Some(name) = rights.remove("rights") {
                    let name = match language {
                        Some(language) => json!({"value": name, "lang": language}),
                        None => name,
                    };
                    rights.insert("name".to_owned(), name);
                }
                let (kind, rights) = (FieldKind::Resource, Value::Object(rights));
                builder.field(node, "rightsList", dcterms::LICENSE, kind, &rights);
            }
            None => {
                if let Some(text) = rights.remove("rights") {
                    let kind = FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT);
                    let (key, language) = ("rightsList", language.as_deref());
                    builder.add_field_in_language(
                        node,
                        key,
                        dcterms::RIGHTS,
                        kind,
                        &text,
                        language,
                    );
                }
                add_rest(node, "rightsList", rights, builder);
            }
        }
    }
}

fn add_relations(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for mut related in take_objects(record, "relatedIdentifiers", "relatedIdentifier") {
        let text = take_text(&mut related, "relatedIdentifier").unwrap_or_default();
        let kind = take_text(&mut related, "relatedIdentifierType");
        let relation = take_text(&mut related, "relationType").unwrap_or_default();
        let known = RELATIONS.iter().find(|(name, _)| *name == relation);
        let property = match known {
            Some(&(_, property)) => property,
            None => dcterms::RELATION,
        };
        match identifier_iri(&text, kind.as_deref(), None) {
            Some(iri) => builder.resource(node, property, &iri),
            None => builder.text(node, property, &json!(text)),
        }
        if known.is_none() || !related.is_empty() {
            related.insert("relationType".to_owned(), json!(relation));
            related.insert("relatedIdentifier".to_owned(), json!(text));
        }
        add_rest(node, "relatedIdentifiers", related, builder);
    }
    for mut identifier in take_objects(record, "alternateIdentifiers", "alternateIdentifier")
        .into_iter()
        .chain(take_objects(record, "identifiers", "identifier"))
    {
        let text = take_first(&mut identifier, &["alternateIdentifier", "identifier"]);
        if let Some(text) = text {
            let part = builder.part(node, adms::IDENTIFIER, adms::IDENTIFIER_CLASS);
            builder.text(&part, skos::NOTATION, &text);
            builder.extras(&part, identifier);
        }
    }
}

/// Adds places: names, boxes, points and polygons.
fn add_places(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for mut place in take_objects(record, "geoLocations", "geoLocationPlace") {
        let location = builder.part(node, dcterms::SPATIAL, dcterms::LOCATION);
        if let Some(name) = place.remove("geoLocationPlace") {
            builder.title(&location, "geoLocationPlace", skos::PREF_LABEL, &name);
        }
        let wkt = place.get("geoLocationBox").and_then(box_wkt);
        if let Some(wkt) = wkt {
            place.remove("geoLocationBox");
            builder.geometry(&location, dcat::BBOX, &json!(wkt));
        }
        let point = place.get("geoLocationPoint").and_then(format_position);
        if let Some(point) = point {
            place.remove("geoLocationPoint");
            builder.geometry(&location, locn::GEOMETRY, &json!(format!("POINT({point})")));
        }
        let polygon = place.get("geoLocationPolygon").and_then(polygon_wkt);
        if let Some(wkt) = polygon {
            place.remove("geoLocationPolygon");
            builder.geometry(&location, locn::GEOMETRY, &json!(wkt));
        }
        builder.extras(&location, place);
    }
}

/// Returns a number as it is written.
fn number_text(value: &Value, key: &str) -> Option<String> {
    let text = scalar_text(value.get(key)?)?;
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())?;
    Some(text)
}

fn box_wkt(value: &Value) -> Option<String> {
    let [west, east, south, north] = [
        "westBoundLongitude",
        "eastBoundLongitude",
        "southBoundLatitude",
        "northBoundLatitude",
    ]
    .map(|key| number_text(value, key));
    let is_known = value.as_object()?.len() == 4;
    let (west, east, south, north) = (west?, east?, south?, north?);
    is_known.then(|| super::iso19139::box_wkt(&west, &south, &east, &north))
}

fn format_position(value: &Value) -> Option<String> {
    let (longitude, latitude) = (
        number_text(value, "pointLongitude")?,
        number_text(value, "pointLatitude")?,
    );
    (value.as_object()?.len() == 2).then(|| format!("{longitude} {latitude}"))
}

fn polygon_wkt(value: &Value) -> Option<String> {
    let points = value.as_array()?;
    let points: Option<Vec<String>> = points
        .iter()
        .map(|point| format_position(point.get("polygonPoint").unwrap_or(point)))
        .collect();
    let points = points.filter(|points| points.len() >= 4)?;
    Some(format!("POLYGON(({}))", points.join(",")))
}

/// Adds one distribution if the record states anything about files.
fn add_distribution(
    record: &mut Object,
    iri: Option<&str>,
    node: &Subject,
    builder: &mut DcatBuilder,
) {
    let page = take_text(record, "url");
    for address in page.iter().map(String::as_str).chain(iri) {
        builder.resource(node, dcat::LANDING_PAGE, address);
    }
    let [formats, sizes, contents] =
        ["formats", "sizes", "contentUrl"].map(|key| record.remove(key));
    let access = iri.map(str::to_owned).or(page);
    if [&formats, &sizes, &contents]
        .iter()
        .all(|value| value.is_none())
    {
        return;
    }
    let part = builder.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
    if let Some(access) = access {
        builder.resource(&part, dcat::ACCESS_URL, &access);
    }
    for format in formats.as_ref().map(scalar_texts).unwrap_or_default() {
        let kind = FieldKind::MediaType;
        builder.field(&part, "formats", dcat::MEDIA_TYPE, kind, &json!(format));
    }
    for content in contents.as_ref().map(scalar_texts).unwrap_or_default() {
        builder.resource(&part, dcat::DOWNLOAD_URL, &content);
    }
    for size in sizes.as_ref().map(scalar_texts).unwrap_or_default() {
        if let Some(bytes) = size_in_bytes(&size).filter(|_| size.chars().any(char::is_alphabetic))
        {
            builder.add_typed_literal(&part, dcat::BYTE_SIZE, &bytes.to_string(), "integer");
        }
        builder.extra(&part, "sizes", &json!(size));
    }
}

/// Lists of the XML schema: (list, element, key of the text).
const LISTS: &[(&str, &str, &str)] = &[
    ("titles", "title", "title"),
    ("subjects", "subject", "subject"),
    ("dates", "date", "date"),
    ("rightsList", "rights", "rights"),
    ("descriptions", "description", "description"),
    (
        "relatedIdentifiers",
        "relatedIdentifier",
        "relatedIdentifier",
    ),
    (
        "alternateIdentifiers",
        "alternateIdentifier",
        "alternateIdentifier",
    ),
    ("geoLocations", "geoLocation", "geoLocationPlace"),
    ("sizes", "size", ""),
    ("formats", "format", ""),
    ("creators", "creator", "name"),
    ("contributors", "contributor", "name"),
    ("fundingReferences", "fundingReference", "funderName"),
    ("relatedItems", "relatedItem", "title"),
];

/// Returns the record of an element `resource` in the JSON of the REST API.
pub(super) fn json_of(resource: &Element) -> Object {
    let mut record = Object::new();
    for element in resource.elements() {
        let name = &*element.name;
        if let Some((_, entry, text_key)) = LISTS.iter().find(|(list, ..)| *list == name) {
            let mut values = Vec::new();
            for one in element.elements() {
                values.push(if text_key.is_empty() && one.name.as_ref() == *entry {
                    Value::String(one.text())
                } else {
                    Value::Object(object_of(one, text_key))
                });
            }
            record.insert(name.to_owned(), Value::Array(values));
            continue;
        }
        match name {
            "identifier" => {
                let kind = element.attribute("identifierType").unwrap_or_default();
                if kind == "DOI" {
                    record.insert("doi".to_owned(), Value::String(element.text()));
                } else {
                    let identifier = object_of(element, "identifier");
                    record.insert("identifiers".to_owned(), json!([identifier]));
                }
            }
            "resourceType" => {
                let types = object_of(element, "resourceType");
                record.insert("types".to_owned(), Value::Object(types));
            }
            "publisher" => {
                let publisher = object_of(element, "name");
                record.insert("publisher".to_owned(), Value::Object(publisher));
            }
            name => {
                let value = value_of(element);
                push_value(&mut record, name, value);
            }
        }
    }
    record
}

/// Returns an element as an object: its attributes, its text under a key, and the elements inside.
fn object_of(element: &Element, text_key: &str) -> Object {
    let mut object = Object::new();
    for (name, value) in element.content_attributes() {
        object.insert(key_of(name), json!(value));
    }
    let text = element.text();
    if !text.is_empty() {
        object.insert(text_key.to_owned(), Value::String(text));
    }
    for inner in element.elements() {
        let (key, value) = match &*inner.name {
            "creatorName" | "contributorName" => {
                let mut name = object_of(inner, "name");
                let text = name.remove("name").unwrap_or_default();
                object.extend(name);
                ("name".to_owned(), text)
            }
            "nameIdentifier" => {
                let one = object_of(inner, "nameIdentifier");
                ("nameIdentifiers".to_owned(), json!([one]))
            }
            "affiliation" => ("affiliation".to_owned(), json!([object_of(inner, "name")])),
            "geoLocationPolygon" => {
                let points: Vec<Value> = inner.elements().map(value_of).collect();
                ("geoLocationPolygon".to_owned(), Value::Array(points))
            }
            name => (key_of(name), value_of(inner)),
        };
        push_value(&mut object, &key, value);
    }
    object
}

/// Returns an element as a text, or as an object if it has attributes or elements inside.
fn value_of(element: &Element) -> Value {
    let is_text =
        element.elements().next().is_none() && element.content_attributes().next().is_none();
    if is_text {
        Value::String(element.text())
    } else {
        Value::Object(object_of(element, "value"))
    }
}

/// Adds a value. A second value of a key makes a list.
fn push_value(object: &mut Object, key: &str, value: Value) {
    match object.get_mut(key) {
        None => {
            object.insert(key.to_owned(), value);
        }
        Some(Value::Array(values)) => match value {
            Value::Array(more) => values.extend(more),
            value => values.push(value),
        },
        Some(first) => {
            let first_value = std::mem::take(first);
            *first = Value::Array(vec![first_value, value]);
        }
    }
}

/// Returns the key of the JSON for a name of the XML.
fn key_of(name: &str) -> String {
    match name.strip_suffix("URI") {
        Some(start) => format!("{start}Uri"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::xml_tree;
    use super::*;
    use crate::Dialect;

    const XML: &str = r#"<?xml version="1.0"?><resource xmlns="http://datacite.org/schema/kernel-4">
        <identifier identifierType="DOI">10.1/kilns</identifier>
        <creators><creator><creatorName nameType="Personal">Lehm, Ada</creatorName><givenName>Ada</givenName>
          <nameIdentifier nameIdentifierScheme="ORCID" schemeURI="https://orcid.org">0000-0001</nameIdentifier></creator></creators>
        <titles><title xml:lang="en">Kilns</title><title xml:lang="de" titleType="TranslatedTitle">Öfen</title></titles>
        <publisher>Clay Library</publisher><publicationYear>2026</publicationYear>
        <resourceType resourceTypeGeneral="Dataset">Table</resourceType>
        <dates><date dateType="Collected">2001/2003</date><date dateType="Submitted">2025-01-01</date></dates>
        <rightsList><rights rightsURI="https://creativecommons.org/licenses/by/4.0/">CC BY</rights></rightsList>
        <geoLocations><geoLocation><geoLocationBox><westBoundLongitude>1</westBoundLongitude><eastBoundLongitude>2</eastBoundLongitude>
          <southBoundLatitude>3</southBoundLatitude><northBoundLatitude>4</northBoundLatitude></geoLocationBox></geoLocation></geoLocations>
        <formats><format>text/csv</format></formats><sizes><size>7 KB</size></sizes>
        <relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI" relationType="IsCitedBy">10.1/paper</relatedIdentifier></relatedIdentifiers>
        </resource>"#;

    fn read_text(name: &str, text: &str) -> Catalog {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        Catalog::read_download(&path, "http://e.org/dois", None)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn xml_and_json_are_read_alike() {
        let record = json_of(&xml_tree::parse(XML).expect("a tree"));
        let pages = json!({"data": [{"id": "10.1/kilns", "type": "dois", "attributes": record}], "links": {"next": "http://e.org/?page=2"}});
        let catalogs = [
            read_text("kilns.xml", XML),
            read_text("kilns.json", &Value::Object(record).to_string()),
            read_text("page.json", &pages.to_string()),
        ];
        for catalog in &catalogs {
            assert_eq!(
                (
                    catalog.dialect,
                    catalog.datasets.len(),
                    catalog.problems.len()
                ),
                (Dialect::DataCite, 1, 0),
                "{:?}",
                catalog.problems
            );
            let dataset = &catalog.datasets[0];
            let metadata = &dataset.metadata;
            assert_eq!(
                metadata.source.as_deref(),
                Some("https://doi.org/10.1/kilns")
            );
            assert_eq!((metadata.title(), metadata.titles.len()), ("Kilns", 2));
            assert_eq!(metadata.creators[0].name, "Lehm, Ada");
            assert_eq!(metadata.publishers[0].name, "Clay Library");
            assert_eq!(metadata.issued.as_deref(), Some("2026"));
            let place = dataset.declared_place().expect("a place");
            assert_eq!(place.bounds.to_string(), "1,3,2,4");
            let period = dataset.declared_period().expect("a period");
            assert_eq!(period.period.to_string(), "2001..2003");
            let text = format!("{:?}", dataset.extra_statements);
            for part in ["orcid.org/0000-0001", "Submitted", "10.1/paper", "7000"] {
                assert!(
                    text.contains(part) || format!("{dataset:?}").contains(part),
                    "{part}: {text}"
                );
            }
        }
        assert_eq!(catalogs[2].next_pages, ["http://e.org/?page=2"]);
    }

    #[test]
    fn other_types_are_ignored_and_reported() {
        let catalog = read_text(
            "texts.json",
            r#"[{"doi": "10.1/a", "titles": [{"title": "An essay"}], "types": {"resourceTypeGeneral": "Text"}},
               {"doi": "10.1/b", "titles": [{"title": "Levels"}], "types": {"resourceTypeGeneral": "Dataset"}}]"#,
        );
        assert_eq!((catalog.datasets.len(), catalog.unreadable_entries), (1, 0));
        assert!(
            catalog.problems[0].contains("of the type `Text`"),
            "{:?}",
            catalog.problems
        );
    }
}
