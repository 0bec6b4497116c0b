//! Metadata of ISO 19139 and ISO 19115-3 as GeoDCAT-AP.
//!
//! The two schemas have other namespaces and other places for some values, but mostly the same local names: local names are read.
//! What no mapping takes is kept as additional properties, and reported by section.
//! <https://semiceu.github.io/GeoDCAT-AP/releases/3.0.0/>

use super::addresses::{Address, parse_address};
use super::dcat_builder::{DcatBuilder, FieldKind, Object, Subject};
use super::json_entries::EntryFault;
use super::languages::language_tag;
use super::xml_tree::Element;
use super::{Dataset, DatasetId, dcat as reader};
use lodeseek_rdf::terminological_language_code;
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, geodcatap, org, prov, rdfs, skos, vcard};
use oxrdf::NamedNode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of online resources of a record.
const MAX_ONLINE_RESOURCES: usize = 200;
/// Maximum number of keywords of a record.
const MAX_KEYWORDS: usize = 2_000;
/// Code lists of INSPIRE.
const INSPIRE: &str = "http://inspire.ec.europa.eu/metadata-codelist/";
/// Authority tables of the Publications Office.
const AUTHORITY: &str = "http://publications.europa.eu/resource/authority/";
/// Levels of records that are datasets.
const LEVELS: [&str; 4] = [
    "dataset",
    "nonGeographicDataset",
    "series",
    "nonGeographicDataset-series",
];
/// Frequencies: (ISO, authority table).
const FREQUENCIES: [(&str, &str); 11] = [
    ("continual", "CONT"),
    ("daily", "DAILY"),
    ("weekly", "WEEKLY"),
    ("fortnightly", "BIWEEKLY"),
    ("monthly", "MONTHLY"),
    ("quarterly", "QUARTERLY"),
    ("biannually", "ANNUAL_2"),
    ("annually", "ANNUAL"),
    ("irregular", "IRREG"),
    ("unknown", "UNKNOWN"),
    ("asNeeded", "AS_NEEDED"),
];
/// Properties for roles of parties. Every role is a qualified attribution as well.
const ROLES: [(&str, &str); 12] = [
    ("publisher", dcterms::PUBLISHER),
    ("author", dcterms::CREATOR),
    ("owner", dcterms::RIGHTS_HOLDER),
    ("rightsHolder", dcterms::RIGHTS_HOLDER),
    ("custodian", geodcatap::CUSTODIAN),
    ("distributor", geodcatap::DISTRIBUTOR),
    ("originator", geodcatap::ORIGINATOR),
    ("principalInvestigator", geodcatap::PRINCIPAL_INVESTIGATOR),
    ("processor", geodcatap::PROCESSOR),
    ("resourceProvider", geodcatap::RESOURCE_PROVIDER),
    ("user", geodcatap::USER),
    ("contributor", dcterms::CONTRIBUTOR),
];
/// Attributes of elements that are no values: identifiers within the document, code lists, reasons for empty elements.
const TECHNICAL: [&str; 12] = [
    "codeList",
    "codeListValue",
    "nilReason",
    "id",
    "uuid",
    "isoType",
    "lang",
    "codeSpace",
    "frame",
    "type",
    "schemaLocation",
    "uom",
];

/// Returns true if an element is a record.
pub(super) fn is_record(element: &Element) -> bool {
    let name = &*element.name;
    let is_iso = element.namespace.contains("isotc211.org/")
        || element
            .namespace
            .contains("standards.iso.org/iso/19115/-3/")
        || element.namespace.contains("/che");
    is_iso && (name == "MD_Metadata" || name == "MI_Metadata" || name == "CHE_MD_Metadata")
}

/// Returns the box as Well-known Text.
pub(super) fn box_wkt(west: &str, south: &str, east: &str, north: &str) -> String {
    format!("POLYGON(({west} {north},{east} {north},{east} {south},{west} {south},{west} {north}))")
}

/// Returns the identifier of a record.
pub(super) fn file_identifier(record: &Element) -> Option<String> {
    let own = ["fileIdentifier", "metadataIdentifier/MD_Identifier/code"];
    own.iter().find_map(|path| text_of(record.at(path)?))
}

/// Reads a record. Returns the dataset, with the problems of its values.
pub(super) fn read(mut record: Element) -> Result<(Dataset, Vec<String>), EntryFault> {
    // ISO 19115 requires a level only of records about other things than datasets.
    let level = [
        "hierarchyLevel",
        "metadataScope/MD_MetadataScope/resourceScope",
    ]
    .iter()
    .flat_map(|path| record.take(path))
    .find_map(|level| code_of(&level))
    .unwrap_or_else(|| "dataset".to_owned());
    if !LEVELS.contains(&level.as_str()) {
        let reason = format!("ignored: a record of the level `{level}`, not a dataset");
        return Err(EntryFault::from_type(&level, reason));
    }
    let identifier = file_identifier(&record);
    let id = identifier.as_deref().and_then(DatasetId::from_text);
    let mut builder = DcatBuilder::default();
    IsoReader::new(&mut builder, &mut record).read(&mut record, &level, identifier.as_deref());
    let (graph, mut problems) = builder.finish_with_problems();
    let classes = [dcat::DATASET, dcat::DATASET_SERIES];
    let node = classes
        .iter()
        .find_map(|class| reader::instances_of(&graph, class).next())
        .ok_or_else(|| "the record has no identification section".to_owned())?;
    let (dataset, problem) = reader::read_entry(&graph, node, id)?;
    problems.extend(problem);
    Ok((dataset, problems))
}

/// Reader of one record.
struct IsoReader<'b> {
    builder: &'b mut DcatBuilder,
    /// Language of the record's texts.
    language: Option<String>,
    /// Languages by the ids of their locales.
    locales: BTreeMap<String, String>,
    language_code: Option<String>,
}

/// A text in a language.
struct LocalText {
    text: String,
    language: Option<String>,
}

/// A constraint: statements that hold for each distribution.
#[derive(Default)]
struct Constraints {
    /// (property, IRI or text, text of an anchor)
    values: Vec<(&'static str, LocalText, Option<String>)>,
}

impl<'b> IsoReader<'b> {
    fn new(builder: &'b mut DcatBuilder, record: &mut Element) -> Self {
        let mut code = None;
        for path in ["language", "defaultLocale/PT_Locale/language"] {
            for language in record.take(path) {
                code = code.or_else(|| code_of(&language));
            }
        }
        let mut locales = BTreeMap::new();
        for path in ["locale", "otherLocale", "defaultLocale"] {
            for mut locale in record
                .take(path)
                .into_iter()
                .flat_map(|mut one| one.take("PT_Locale"))
            {
                let id = locale.attribute("id").map(str::to_owned);
                let language = ["languageCode", "language"]
                    .iter()
                    .flat_map(|path| locale.take(path))
                    .find_map(|language| code_of(&language));
                let tag = language.as_deref().and_then(language_tag);
                locales.extend(id.zip(tag));
            }
        }
        Self {
            builder,
            language: code.as_deref().and_then(language_tag),
            locales,
            language_code: code,
        }
    }

    fn read(mut self, record: &mut Element, level: &str, identifier: Option<&str>) {
        let mut sections: Vec<Element> = Vec::new();
        for info in record.take("identificationInfo") {
            let mut info = info;
            sections.append(&mut info.take_elements());
        }
        let mut sections = sections.into_iter();
        let Some(mut section) = sections.next() else {
            return;
        };
        let mut citation = section.take("citation/CI_Citation");
        let identifiers: Vec<Element> = citation
            .iter_mut()
            .flat_map(|citation| citation.take("identifier"))
            .flat_map(|mut one| one.take_elements())
            .collect();
        let iris = identifiers.iter().filter_map(identifier_iri);
        let iri = iris.clone().next();
        // The identifier of the data precedes that of the record, which names the metadata.
        let node = match iri.or_else(|| iri_of_text(identifier)) {
            Some(iri) => NamedNode::new_unchecked(iri).into(),
            None => self.builder.blank(),
        };
        let is_series = level.contains("series");
        let class = if is_series {
            dcat::DATASET_SERIES
        } else {
            dcat::DATASET
        };
        self.builder.class(&node, class);
        let kind = if is_series { "series" } else { "dataset" };
        self.builder.resource(
            &node,
            geodcatap::RESOURCE_TYPE,
            &format!("{INSPIRE}ResourceType/{kind}"),
        );
        self.record(record, identifier, &node);
        for one in &identifiers {
            if let Some(text) = identifier_text(one) {
                self.builder.text(&node, dcterms::IDENTIFIER, &json!(text));
            }
        }
        for citation in &mut citation {
            self.citation(citation, &node);
        }
        self.identification(&mut section, &node);
        let constraints = self.constraints(&mut section);
        let mut has_distribution = false;
        for mut distribution in record
            .take("distributionInfo")
            .into_iter()
            .flat_map(|mut info| info.take("MD_Distribution"))
        {
            has_distribution |= self.distribution(&mut distribution, &constraints, &node);
            self.rest(&distribution, &node);
        }
        // In DCAT-AP, licences belong to distributions. Without one, the dataset keeps them.
        if !has_distribution {
            self.add_constraints(&constraints, &node);
        }
        self.quality(record, &node);
        // Only now have all steps taken their values. What is left has no mapping.
        for citation in &citation {
            self.rest(citation, &node);
        }
        self.rest(&section, &node);
        for section in sections {
            self.rest(&section, &node);
        }
        for section in record.elements() {
            self.rest(section, &node);
        }
    }

    /// Returns the texts of an element by language.
    fn texts(&self, element: &Element) -> Vec<LocalText> {
        let mut texts = Vec::new();
        if let Some(text) = text_of(element) {
            let language = self.language.clone();
            texts.push(LocalText { text, language });
        }
        for group in element.all("PT_FreeText").flat_map(Element::elements) {
            for one in group.all("LocalisedCharacterString") {
                let (text, locale) = (one.text(), one.attribute("locale"));
                let locale = locale.map(|locale| locale.trim_start_matches('#'));
                let language = locale.and_then(|locale| self.locales.get(locale).cloned());
                let is_repeated = texts
                    .iter()
                    .any(|known| known.text == text && known.language == language);
                if !text.is_empty() && !is_repeated {
                    texts.push(LocalText { text, language });
                }
            }
        }
        texts
    }

    /// Adds the texts of elements.
    fn add_texts(&mut self, node: &Subject, property: &str, kind: FieldKind, elements: &[Element]) {
        for element in elements {
            for LocalText { text, language } in self.texts(element) {
                let key = &element.name;
                let text = json!(text);
                self.builder.add_field_in_language(
                    node,
                    key,
                    property,
                    kind,
                    &text,
                    language.as_deref(),
                );
            }
        }
    }

    /// Adds the description of the record itself.
    fn record(&mut self, record: &mut Element, identifier: Option<&str>, node: &Subject) {
        let part = self
            .builder
            .part(node, foaf::IS_PRIMARY_TOPIC_OF, dcat::CATALOG_RECORD);
        if let Some(identifier) = identifier {
            self.builder
                .text(&part, dcterms::IDENTIFIER, &json!(identifier));
            record.take("fileIdentifier");
            record.take("metadataIdentifier/MD_Identifier/code");
        }
        if let Some(code) = self.language_code.clone() {
            self.language(&part, &code);
        }
        for stamp in record.take("dateStamp") {
            if let Some(date) = date_of(&stamp) {
                let kind = FieldKind::Date;
                self.builder
                    .field(&part, "dateStamp", dcterms::MODIFIED, kind, &json!(date));
            }
        }
        for info in record.take("dateInfo") {
            self.dates(&info, &part);
        }
        for path in [
            "metadataStandardName",
            "metadataStandardVersion",
            "metadataStandard/CI_Citation/title",
        ] {
            let elements = record.take(path);
            for element in &elements {
                match anchor_of(element) {
                    Some(iri) => self.builder.resource(&part, dcterms::CONFORMS_TO, &iri),
                    None => {
                        let kind = FieldKind::LabelledNode(dcterms::STANDARD);
                        self.add_texts(
                            &part,
                            dcterms::CONFORMS_TO,
                            kind,
                            std::slice::from_ref(element),
                        );
                    }
                }
            }
        }
        for contact in record
            .take("contact")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
        {
            self.party(contact, &part);
        }
        for element in record.take("characterSet") {
            drop(element); // the encoding of a document that was converted
        }
    }

    /// Adds a language. The authority table has the terminological codes of ISO 639-2, records often the bibliographic ones.
    fn language(&mut self, node: &Subject, code: &str) {
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_code {
            let code = code.to_ascii_lowercase();
            let code = terminological_language_code(&code).unwrap_or(&code);
            let iri = format!("{AUTHORITY}language/{}", code.to_ascii_uppercase());
            self.builder.resource(node, dcterms::LANGUAGE, &iri);
        } else {
            self.builder.text(node, dcterms::LANGUAGE, &json!(code));
        }
    }

    /// Adds the dates of an element with `CI_Date`.
    fn dates(&mut self, element: &Element, node: &Subject) {
        for date in element.all("CI_Date") {
            let kind = date.at("dateType").and_then(code_of).unwrap_or_default();
            let Some(value) = date.at("date").and_then(date_of) else {
                continue;
            };
            let property = match kind.as_str() {
                "publication" | "released" => dcterms::ISSUED,
                "revision" | "lastRevision" | "lastUpdate" => dcterms::MODIFIED,
                "creation" => dcterms::CREATED,
                _ => {
                    self.builder
                        .extra(node, &format!("date/{kind}"), &json!(value));
                    continue;
                }
            };
            self.builder
                .field(node, "date", property, FieldKind::Date, &json!(value));
        }
    }

    fn citation(&mut self, citation: &mut Element, node: &Subject) {
        let titles = citation.take("title");
        self.add_texts(node, dcterms::TITLE, FieldKind::Title, &titles);
        let titles = citation.take("alternateTitle");
        self.add_texts(node, dcterms::ALTERNATIVE, FieldKind::Title, &titles);
        for date in citation.take("date") {
            self.dates(&date, node);
        }
        let editions = citation.take("edition");
        self.add_texts(node, dcat::VERSION, FieldKind::Text, &editions);
        for party in citation
            .take("citedResponsibleParty")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
        {
            self.party(party, node);
        }
    }

    fn identification(&mut self, section: &mut Element, node: &Subject) {
        for (name, property) in [
            ("abstract", dcterms::DESCRIPTION),
            ("purpose", geodcatap::PURPOSE),
            ("supplementalInformation", skos::SCOPE_NOTE),
            ("credit", dcterms::BIBLIOGRAPHIC_CITATION),
        ] {
            let elements = section.take(name);
            self.add_texts(node, property, FieldKind::Text, &elements);
        }
        for party in section
            .take("pointOfContact")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
        {
            self.party(party, node);
        }
        for path in [
            "resourceMaintenance/MD_MaintenanceInformation/maintenanceAndUpdateFrequency",
            "resourceMaintenance/CHE_MD_MaintenanceInformation/maintenanceAndUpdateFrequency",
        ] {
            for frequency in section.take(path) {
                let code = code_of(&frequency).unwrap_or_default();
                let known = FREQUENCIES.iter().find(|(name, _)| *name == code);
                let iri = match known {
                    Some((_, name)) => format!("{AUTHORITY}frequency/{name}"),
                    None => format!("{INSPIRE}MaintenanceFrequency/{code}"),
                };
                if !code.is_empty() {
                    self.builder
                        .resource(node, dcterms::ACCRUAL_PERIODICITY, &iri);
                }
            }
        }
        self.keywords(section, node);
        for path in ["language", "defaultLocale/PT_Locale/language"] {
            for language in section.take(path) {
                if let Some(code) = code_of(&language) {
                    self.language(node, &code);
                }
            }
        }
        for topic in section.take("topicCategory") {
            if let Some(code) = code_of(&topic) {
                let iri = format!("{INSPIRE}TopicCategory/{code}");
                self.builder.resource(node, geodcatap::TOPIC_CATEGORY, &iri);
            }
        }
        for mut resolution in section
            .take("spatialResolution")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
        {
            let scales = resolution.take("equivalentScale/MD_RepresentativeFraction/denominator");
            for scale in scales.iter().filter_map(text_of) {
                let text = json!(format!("1:{scale}"));
                self.builder
                    .text(node, geodcatap::SPATIAL_RESOLUTION_AS_TEXT, &text);
            }
            for distance in resolution.take("distance") {
                let value = distance.elements().next();
                let unit = value
                    .and_then(|value| value.attribute("uom"))
                    .unwrap_or("m");
                let number = value.map(Element::text).unwrap_or_default();
                // The unit is a name, a URN or an address: `urn:ogc:def:uom:EPSG::9001` is the metre.
                let metres = match unit.rsplit(['#', '/', ':']).next() {
                    Some("m" | "metre" | "meter" | "9001") => Some(number.clone()),
                    Some("km") => number
                        .parse::<f64>()
                        .ok()
                        .map(|number| (number * 1000.0).to_string()),
                    _ => None,
                };
                match metres.filter(|metres| metres.parse::<f64>().is_ok()) {
                    Some(metres) => {
                        let kind = FieldKind::Number;
                        self.builder.field(
                            node,
                            "distance",
                            dcat::SPATIAL_RESOLUTION,
                            kind,
                            &json!(metres),
                        );
                    }
                    None => {
                        let text = json!(format!("{number} {unit}"));
                        self.builder
                            .text(node, geodcatap::SPATIAL_RESOLUTION_AS_TEXT, &text);
                    }
                }
            }
            self.rest(&resolution, node);
        }
        for overview in section
            .take("graphicOverview")
            .into_iter()
            .flat_map(|mut one| one.take("MD_BrowseGraphic"))
        {
            let mut overview = overview;
            for file in overview.take("fileName").iter().filter_map(text_of) {
                self.builder.resource(node, foaf::DEPICTION, &file);
            }
            self.rest(&overview, node);
        }
        for mut extent in section
            .take("extent")
            .into_iter()
            .flat_map(|mut one| one.take("EX_Extent"))
        {
            self.extent(&mut extent, node);
            self.rest(&extent, node);
        }
        for element in section.take("characterSet") {
            drop(element);
        }
    }

    /// Adds keywords. Those of INSPIRE's and other thesauri with an IRI are themes.
    fn keywords(&mut self, section: &mut Element, node: &Subject) {
        let mut count = 0;
        for mut keywords in section
            .take("descriptiveKeywords")
            .into_iter()
            .flat_map(|mut one| one.take("MD_Keywords"))
        {
            let thesaurus = keywords
                .at("thesaurusName/CI_Citation/title")
                .and_then(|title| anchor_of(title).or_else(|| text_of(title)));
            for keyword in keywords.take("keyword") {
                count += 1;
                if count > MAX_KEYWORDS {
                    let message = "more keywords than are read; the others are left out, from";
                    self.builder.problem(
                        "keyword",
                        message,
                        &text_of(&keyword).unwrap_or_default(),
                    );
                    break;
                }
                match anchor_of(&keyword) {
                    Some(iri) => {
                        let concept: Subject = NamedNode::new_unchecked(iri).into();
                        self.builder.add(node, dcat::THEME, concept.clone());
                        self.builder.class(&concept, skos::CONCEPT);
                        let one = std::slice::from_ref(&keyword);
                        self.add_texts(&concept, skos::PREF_LABEL, FieldKind::Title, one);
                        if let Some(thesaurus) =
                            thesaurus.as_deref().filter(|text| text.contains("://"))
                        {
                            self.builder.resource(&concept, skos::IN_SCHEME, thesaurus);
                        }
                    }
                    None => {
                        let one = std::slice::from_ref(&keyword);
                        self.add_texts(node, dcat::KEYWORD, FieldKind::Title, one);
                    }
                }
            }
            // The thesaurus names the scheme of the keywords, which are texts here.
            keywords.take("type");
            if let Some(thesaurus) = thesaurus {
                self.builder.extra(node, "thesaurusName", &json!(thesaurus));
                keywords.take("thesaurusName");
            }
            self.rest(&keywords, node);
        }
    }

    fn extent(&mut self, extent: &mut Element, node: &Subject) {
        let descriptions = extent.take("description");
        let mut elements = Vec::new();
        for mut element in extent.take("geographicElement") {
            for area in element.take_elements() {
                if is_excluded_area(&area) {
                    let message = "an excluded area, which is no coverage; its values are additional properties";
                    self.keep_values(&area, node, message);
                } else {
                    elements.push(area);
                }
            }
        }
        if !descriptions.is_empty() || !elements.is_empty() {
            let location = self.builder.part(node, dcterms::SPATIAL, dcterms::LOCATION);
            self.add_texts(&location, skos::PREF_LABEL, FieldKind::Title, &descriptions);
            for mut element in elements {
                self.geographic_element(&mut element, &location, node);
                self.rest(&element, &location);
            }
        }
        for mut period in extent
            .take("temporalElement")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
            .flat_map(|mut one| one.take("extent"))
        {
            for mut time in period.take_elements() {
                let [start, end] = match &*time.name {
                    "TimePeriod" => [
                        take_position(&mut time, "beginPosition", "begin"),
                        take_position(&mut time, "endPosition", "end"),
                    ],
                    "TimeInstant" => {
                        let moment = take_position(&mut time, "timePosition", "time");
                        [moment.clone(), moment]
                    }
                    _ => [None, None],
                };
                self.builder.period(node, start.as_deref(), end.as_deref());
                self.rest(&time, node);
            }
        }
    }

    /// Adds an area that the data cover.
    fn geographic_element(&mut self, element: &mut Element, location: &Subject, node: &Subject) {
        // Areas that are not excluded are included, which needs no statement.
        element.take("extentTypeCode");
        match &*element.name {
            "EX_GeographicBoundingBox" => {
                let [west, south, east, north] = [
                    "westBoundLongitude",
                    "southBoundLatitude",
                    "eastBoundLongitude",
                    "northBoundLatitude",
                ]
                .map(|name| {
                    let side = element.take(name);
                    side.iter().find_map(text_of)
                });
                if let (Some(west), Some(south), Some(east), Some(north)) =
                    (&west, &south, &east, &north)
                {
                    let wkt = json!(box_wkt(west, south, east, north));
                    self.builder.geometry(location, dcat::BBOX, &wkt);
                } else {
                    let sides = [west, south, east, north]
                        .map(Option::unwrap_or_default)
                        .join(" ");
                    self.builder.problem(
                        "EX_GeographicBoundingBox",
                        "a box without all of its sides",
                        &sides,
                    );
                }
            }
            "EX_GeographicDescription" => {
                for mut identifier in element
                    .take("geographicIdentifier")
                    .into_iter()
                    .flat_map(|mut one| one.take_elements())
                {
                    for code in identifier.take("code") {
                        match anchor_of(&code).or_else(|| iri_of_text(text_of(&code).as_deref())) {
                            Some(iri) => self.builder.resource(node, dcterms::SPATIAL, &iri),
                            None => {
                                let one = std::slice::from_ref(&code);
                                self.add_texts(location, skos::PREF_LABEL, FieldKind::Title, one);
                            }
                        }
                    }
                    self.rest(&identifier, location);
                }
            }
            _ => {}
        }
    }

    /// Returns the constraints on access and use.
    fn constraints(&mut self, section: &mut Element) -> Constraints {
        let mut found = Constraints::default();
        let mut sections = Vec::new();
        for mut constraints in section.take("resourceConstraints") {
            sections.append(&mut constraints.take_elements());
        }
        for mut constraints in sections {
            let is_of_access = constraints.at("accessConstraints").is_some();
            let mut texts = constraints.take("otherConstraints");
            texts.append(&mut constraints.take("useLimitation"));
            for text in &texts {
                let iri = anchor_of(text).or_else(|| iri_of_text(text_of(text).as_deref()));
                for one in self.texts(text) {
                    // The values of these two code lists are about access, in whatever constraint they are.
                    let property = match &iri {
                        Some(iri)
                            if iri.contains("LimitationsOnPublicAccess")
                                || iri.contains("/access-right/") =>
                        {
                            dcterms::ACCESS_RIGHTS
                        }
                        Some(_) if is_of_access && constraints.at("useConstraints").is_none() => {
                            dcterms::ACCESS_RIGHTS
                        }
                        Some(_) => dcterms::LICENSE,
                        None if is_of_access && constraints.at("useConstraints").is_none() => {
                            dcterms::ACCESS_RIGHTS
                        }
                        None => dcterms::RIGHTS,
                    };
                    found.values.push((property, one, iri.clone()));
                }
            }
            for path in ["accessConstraints", "useConstraints"] {
                for code in constraints.take(path).iter().filter_map(code_of) {
                    // This code only refers to the texts of `otherConstraints`.
                    if code != "otherRestrictions" {
                        let (text, language) = (code, None);
                        found
                            .values
                            .push((dcterms::RIGHTS, LocalText { text, language }, None));
                    }
                }
            }
            // What is left of the constraints is reported with the section.
            section.adopt(constraints);
        }
        found
    }

    fn add_constraints(&mut self, constraints: &Constraints, node: &Subject) {
        for (property, LocalText { text, language }, iri) in &constraints.values {
            if let Some(iri) = iri {
                let target: Subject = NamedNode::new_unchecked(iri.as_str()).into();
                self.builder.add(node, property, target.clone());
                if text != iri {
                    let (kind, text) = (FieldKind::Title, json!(text));
                    self.builder.add_field_in_language(
                        &target,
                        "otherConstraints",
                        rdfs::LABEL,
                        kind,
                        &text,
                        language.as_deref(),
                    );
                }
            } else {
                let (kind, text) = (
                    FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
                    json!(text),
                );
                self.builder.add_field_in_language(
                    node,
                    "otherConstraints",
                    property,
                    kind,
                    &text,
                    language.as_deref(),
                );
            }
        }
    }

    /// Adds distributions and pages. Returns true if there is a distribution.
    fn distribution(
        &mut self,
        section: &mut Element,
        constraints: &Constraints,
        node: &Subject,
    ) -> bool {
        let mut formats = Vec::new();
        let mut transfers = Vec::new();
        for path in [
            "distributionFormat",
            "distributor/MD_Distributor/distributorFormat",
        ] {
            for mut format in section
                .take(path)
                .into_iter()
                .flat_map(|mut one| one.take("MD_Format"))
            {
                for path in ["name", "formatSpecificationCitation/CI_Citation/title"] {
                    formats.extend(format.take(path).iter().filter_map(text_of));
                }
                for version in format.take("version").iter().filter_map(text_of) {
                    self.builder
                        .extra(node, "distributionFormat/version", &json!(version));
                }
                self.rest(&format, node);
            }
        }
        for path in [
            "transferOptions",
            "distributor/MD_Distributor/distributorTransferOptions",
        ] {
            for mut transfer in section.take(path) {
                transfers.append(&mut transfer.take_elements());
            }
        }
        for party in section
            .take("distributor/MD_Distributor/distributorContact")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
        {
            self.party(party, node);
        }
        let (mut count, mut has_distribution) = (0, false);
        for mut transfer in transfers {
            let size = transfer.take("transferSize").iter().find_map(text_of);
            for mut online in transfer
                .take("onLine")
                .into_iter()
                .flat_map(|mut one| one.take_elements())
            {
                count += 1;
                if count > MAX_ONLINE_RESOURCES {
                    let message =
                        "more online resources than are read; the others are left out, from";
                    self.builder.problem(
                        "onLine",
                        message,
                        &find_linkage(&online).unwrap_or_default(),
                    );
                    break;
                }
                has_distribution |=
                    self.online(&mut online, &formats, size.as_deref(), constraints, node);
                self.rest(&online, node);
            }
            self.rest(&transfer, node);
        }
        has_distribution
    }

    /// Adds an online resource: a distribution, a service, or a page. Returns true for the first two.
    fn online(
        &mut self,
        online: &mut Element,
        formats: &[String],
        size: Option<&str>,
        constraints: &Constraints,
        node: &Subject,
    ) -> bool {
        let Some(address) = find_linkage(online) else {
            return false;
        };
        online.take("linkage");
        let protocols = online.take("protocol");
        let protocol = protocols
            .iter()
            .find_map(|one| text_of(one).or_else(|| anchor_of(one)));
        let protocol = protocol.unwrap_or_default();
        let functions = online.take("function");
        let function = functions.iter().find_map(code_of).unwrap_or_default();
        let (names, descriptions) = (online.take("name"), online.take("description"));
        let upper = protocol.to_ascii_uppercase();
        let is_service = upper.starts_with("OGC:") || upper.contains("ESRI:REST");
        let is_download =
            matches!(function.as_str(), "download" | "fileAccess") || upper.contains("DOWNLOAD");
        let is_distribution = is_service
            || is_download
            || matches!(
                function.as_str(),
                "offlineAccess" | "order" | "completeMetadata"
            );
        if !is_distribution {
            // The mapping of GeoDCAT-AP: without a function, the page is a landing page.
            let property = match function.as_str() {
                "" => dcat::LANDING_PAGE,
                _ => foaf::PAGE,
            };
            if let Address::Iri(iri) = parse_address(&address) {
                let page: Subject = NamedNode::new_unchecked(iri).into();
                self.builder.add(node, property, page.clone());
                // A description may not make statements about the landing page.
                if property == foaf::PAGE {
                    self.builder.class(&page, foaf::DOCUMENT);
                    self.add_texts(&page, dcterms::TITLE, FieldKind::Title, &names);
                    self.add_texts(&page, dcterms::DESCRIPTION, FieldKind::Text, &descriptions);
                } else {
                    for text in names.iter().chain(&descriptions).filter_map(text_of) {
                        self.builder.extra(node, "onLine/name", &json!(text));
                    }
                }
            } else {
                self.builder.resource(node, property, &address);
            }
            if !protocol.is_empty() {
                self.builder
                    .extra(node, "onLine/protocol", &json!(protocol));
            }
            return false;
        }
        let part = self
            .builder
            .part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
        self.add_texts(&part, dcterms::TITLE, FieldKind::Title, &names);
        self.add_texts(&part, dcterms::DESCRIPTION, FieldKind::Text, &descriptions);
        self.builder.resource(&part, dcat::ACCESS_URL, &address);
        // The address of a service is not that of a file, even if its function is `download`.
        if is_download && !is_service {
            self.builder.resource(&part, dcat::DOWNLOAD_URL, &address);
        }
        if is_service {
            let service = self
                .builder
                .part(&part, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
            self.builder
                .resource(&service, dcat::ENDPOINT_URL, &address);
            self.builder
                .text(&service, geodcatap::SERVICE_PROTOCOL, &json!(protocol));
        } else if !protocol.is_empty() {
            self.builder.extra(&part, "protocol", &json!(protocol));
        }
        for format in formats {
            let kind = FieldKind::MediaType;
            self.builder.field(
                &part,
                "distributionFormat",
                dcat::MEDIA_TYPE,
                kind,
                &json!(format),
            );
        }
        if let Some(size) = size {
            match size
                .parse::<f64>()
                .ok()
                .filter(|size| (0.0..1e12).contains(size))
            {
                Some(megabytes) => {
                    // The size is in megabytes (ISO 19115). The bound above keeps the number of bytes below 2^63.
                    let bytes = (megabytes * 1e6).round();
                    self.builder.add_typed_literal(
                        &part,
                        dcat::BYTE_SIZE,
                        &format!("{bytes}"),
                        "integer",
                    );
                }
                None => self.builder.extra(&part, "transferSize", &json!(size)),
            }
        }
        self.add_constraints(constraints, &part);
        true
    }

    /// Adds lineage, conformance and reference systems.
    fn quality(&mut self, record: &mut Element, node: &Subject) {
        for path in [
            "dataQualityInfo/DQ_DataQuality/lineage/LI_Lineage/statement",
            "resourceLineage/LI_Lineage/statement",
        ] {
            let statements = record.take(path);
            for statement in &statements {
                let provenance =
                    self.builder
                        .part(node, dcterms::PROVENANCE, dcterms::PROVENANCE_STATEMENT);
                let one = std::slice::from_ref(statement);
                self.add_texts(&provenance, dcterms::DESCRIPTION, FieldKind::Text, one);
            }
        }
        record.take("dataQualityInfo/DQ_DataQuality/scope");
        for mut quality in record.take("dataQualityInfo") {
            for mut report in quality
                .take("DQ_DataQuality/report")
                .into_iter()
                .flat_map(|mut one| one.take_elements())
            {
                for mut result in report
                    .take("result")
                    .into_iter()
                    .flat_map(|mut one| one.take("DQ_ConformanceResult"))
                {
                    let passes = result.take("pass").iter().find_map(text_of);
                    if matches!(passes.as_deref(), Some("true" | "1")) {
                        let titles = result.take("specification/CI_Citation/title");
                        for title in &titles {
                            match anchor_of(title) {
                                Some(iri) => {
                                    self.builder.resource(node, dcterms::CONFORMS_TO, &iri)
                                }
                                None => {
                                    let kind = FieldKind::LabelledNode(dcterms::STANDARD);
                                    let one = std::slice::from_ref(title);
                                    self.add_texts(node, dcterms::CONFORMS_TO, kind, one);
                                }
                            }
                        }
                    } else if let Some(passes) = passes {
                        self.builder.extra(node, "pass", &json!(passes));
                    }
                    self.rest(&result, node);
                }
                self.rest(&report, node);
            }
            self.rest(&quality, node);
        }
        for mut system in record
            .take("referenceSystemInfo/MD_ReferenceSystem/referenceSystemIdentifier")
            .into_iter()
            .flat_map(|mut one| one.take_elements())
        {
            for code in system.take("code") {
                let text = text_of(&code).unwrap_or_default();
                match anchor_of(&code).or_else(|| reference_system(&text)) {
                    Some(iri) => {
                        let one: Subject = NamedNode::new_unchecked(iri).into();
                        self.builder
                            .add(node, geodcatap::REFERENCE_SYSTEM, one.clone());
                        self.builder.class(&one, dcterms::STANDARD);
                        self.builder.resource(
                            &one,
                            dcterms::TYPE,
                            "http://inspire.ec.europa.eu/glossary/SpatialReferenceSystem",
                        );
                        if text.contains(':') && !text.contains("//") {
                            self.builder.text(&one, skos::NOTATION, &json!(text));
                        }
                    }
                    None => {
                        let kind = FieldKind::LabelledNode(dcterms::STANDARD);
                        let one = std::slice::from_ref(&code);
                        self.add_texts(node, geodcatap::REFERENCE_SYSTEM, kind, one);
                    }
                }
            }
            self.rest(&system, node);
        }
    }

    /// Adds a party by its role.
    fn party(&mut self, mut party: Element, node: &Subject) {
        let role = party
            .take("role")
            .iter()
            .find_map(code_of)
            .unwrap_or_default();
        let mut organizations = party.take("organisationName");
        let mut persons = party.take("individualName");
        // ISO 19115-3: the party is an organisation with individuals, or an individual.
        let mut inner: Vec<Element> = Vec::new();
        for mut one in party.take("party") {
            inner.append(&mut one.take_elements());
        }
        for one in &mut inner {
            let names = one.take("name");
            if &*one.name == "CI_Individual" {
                persons.extend(names);
            } else {
                organizations.extend(names);
                persons.append(&mut one.take("individual/CI_Individual/name"));
            }
        }
        let mut contacts: Vec<Element> = Vec::new();
        for holder in std::iter::once(&mut party).chain(&mut inner) {
            for path in ["contactInfo/CI_Contact", "contactInfo/CHE_CI_Contact"] {
                contacts.append(&mut holder.take(path));
            }
        }
        let is_organization = organizations.iter().any(|name| text_of(name).is_some());
        let (names, others) = if is_organization {
            (organizations, persons)
        } else {
            (persons, organizations)
        };
        let mut details = Object::new();
        let (mut emails, mut phones, mut pages) = (Vec::new(), Vec::new(), Vec::new());
        for contact in &mut contacts {
            for path in [
                "address/CI_Address/electronicMailAddress",
                "address/CHE_CI_Address/electronicMailAddress",
            ] {
                emails.extend(contact.take(path).iter().filter_map(text_of));
            }
            for path in ["phone/CI_Telephone/voice", "phone/CI_Telephone/number"] {
                phones.extend(contact.take(path).iter().filter_map(text_of));
            }
            for online in contact
                .take("onlineResource")
                .into_iter()
                .flat_map(|mut one| one.take_elements())
            {
                pages.extend(find_linkage(&online));
            }
        }
        for (key, values) in [("email", emails), ("phone", phones), ("url", pages)] {
            if !values.is_empty() {
                details.insert(key.to_owned(), json!(values));
            }
        }
        let agent = match names.iter().find_map(anchor_of) {
            Some(iri) => NamedNode::new_unchecked(iri).into(),
            None => self.builder.blank(),
        };
        let class = if is_organization {
            org::ORGANIZATION
        } else {
            foaf::AGENT
        };
        self.builder.class(&agent, class);
        self.add_texts(&agent, foaf::NAME, FieldKind::Title, &names);
        if is_organization {
            for name in others.iter().filter_map(text_of) {
                self.builder.extra(&agent, "individualName", &json!(name));
            }
        }
        self.details(&agent, &details, [foaf::MBOX, "phone", foaf::HOMEPAGE]);
        if role == "pointOfContact" || role.is_empty() {
            let contact = self.builder.part(node, dcat::CONTACT_POINT, vcard::KIND);
            self.add_texts(&contact, vcard::FN, FieldKind::Title, &names);
            for name in others.iter().filter_map(text_of) {
                self.builder.extra(&contact, "individualName", &json!(name));
            }
            self.details(
                &contact,
                &details,
                [vcard::HAS_EMAIL, vcard::HAS_TELEPHONE, vcard::HAS_URL],
            );
        } else if let Some((_, property)) = ROLES.iter().find(|(name, _)| *name == role) {
            self.builder.add(node, property, agent.clone());
        }
        if !role.is_empty() {
            let attribution =
                self.builder
                    .part(node, prov::QUALIFIED_ATTRIBUTION, prov::ATTRIBUTION);
            self.builder.add(&attribution, prov::AGENT, agent.clone());
            let iri = format!("{INSPIRE}ResponsiblePartyRole/{role}");
            self.builder.resource(&attribution, dcat::HAD_ROLE, &iri);
            self.builder.resource(&attribution, dcterms::TYPE, &iri);
        }
        for section in std::iter::once(&party).chain(&inner).chain(&contacts) {
            self.rest(section, &agent);
        }
    }

    /// Adds addresses of mail, telephones and pages. A property that is no IRI is a key.
    fn details(&mut self, node: &Subject, details: &Object, properties: [&str; 3]) {
        for (key, property) in ["email", "phone", "url"].into_iter().zip(properties) {
            for value in details
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let text = value.as_str().unwrap_or_default();
                let text = match key {
                    "email" if !text.contains(':') => format!("mailto:{text}"),
                    _ => text.to_owned(),
                };
                if property.contains("://") {
                    self.builder.resource(node, property, &text);
                } else {
                    self.builder.extra(node, property, &json!(text));
                }
            }
        }
    }

    /// Keeps the values that are left in a section, and reports the section.
    fn rest(&mut self, section: &Element, node: &Subject) {
        let message =
            "a section without a property in GeoDCAT-AP; its values are additional properties";
        self.keep_values(section, node, message);
    }

    /// Adds the values of a section as additional properties, and reports the section with a message.
    fn keep_values(&mut self, section: &Element, node: &Subject, message: &str) {
        let leaves = section.leaves(&|name| !TECHNICAL.contains(&name));
        if leaves.is_empty() {
            return;
        }
        self.builder
            .problem(&section.name, message, &leaves[0].path);
        for leaf in leaves {
            self.builder.extra(node, &leaf.path, &json!(leaf.text));
        }
    }
}

/// Returns true if the data do not cover the area of a geographic element (ISO 19115, `extentTypeCode`).
fn is_excluded_area(element: &Element) -> bool {
    let code = element.at("extentTypeCode").and_then(text_of);
    code.is_some_and(|code| code == "0" || code.eq_ignore_ascii_case("false"))
}

/// Returns the text of an element: a string, the text of an anchor, a code, a number, or its own.
fn text_of(element: &Element) -> Option<String> {
    let inner = element
        .elements()
        .find(|inner| &*inner.name != "PT_FreeText");
    let text = match inner {
        Some(inner) => inner.text(),
        None => element.text(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the IRI of an anchor.
fn anchor_of(element: &Element) -> Option<String> {
    let anchor = element.all("Anchor").next()?;
    iri_of_text(anchor.attribute("href"))
}

fn iri_of_text(text: Option<&str>) -> Option<String> {
    match parse_address(text?) {
        Address::Iri(iri) if iri.contains("://") || iri.starts_with("urn:") => Some(iri),
        _ => None,
    }
}

/// Returns the code of an element: the value in its code list, else the text.
fn code_of(element: &Element) -> Option<String> {
    let inner = element.elements().next();
    let code = inner.and_then(|inner| inner.attribute("codeListValue"));
    code.map(str::to_owned).or_else(|| text_of(element))
}

/// Returns the date of an element with `Date` or `DateTime`.
fn date_of(element: &Element) -> Option<String> {
    text_of(element)
}

/// Returns the address of an online resource.
fn find_linkage(online: &Element) -> Option<String> {
    text_of(online.at("linkage")?)
}

/// Removes a position in time: its text, or the one of an instant. An indeterminate one is open.
fn take_position(time: &mut Element, name: &str, long_name: &str) -> Option<String> {
    let mut found = time.take(name);
    for path in [
        format!("{long_name}/TimeInstant/timePosition"),
        format!("{long_name}/TimeInstant"),
    ] {
        found.append(&mut time.take(&path));
    }
    found
        .iter()
        .map(Element::text)
        .find(|text| !text.is_empty())
}

/// Returns code space and code of an identifier.
fn identifier_text(identifier: &Element) -> Option<String> {
    let code = identifier.at("code")?;
    let text = anchor_of(code).or_else(|| text_of(code))?;
    let space = identifier.at("codeSpace").and_then(text_of);
    Some(match space {
        Some(space) if !text.contains("://") => {
            let separator = if space.contains("://") && !space.ends_with(['/', '#', '=']) {
                "/"
            } else {
                ""
            };
            format!("{space}{separator}{text}")
        }
        _ => text,
    })
}

fn identifier_iri(identifier: &Element) -> Option<String> {
    iri_of_text(identifier_text(identifier).as_deref())
}

/// Returns the IRI of a reference system from its code: `EPSG:25832`, a URN, or an address.
fn reference_system(text: &str) -> Option<String> {
    if text.contains("://") {
        return iri_of_text(Some(text));
    }
    let upper = text.to_ascii_uppercase();
    let number = upper.rsplit_once("EPSG").map(|(_, rest)| rest)?;
    // A URN has a version before the code, as in `urn:ogc:def:crs:EPSG:6.9:4326`.
    let number: String = number
        .rsplit(':')
        .next()?
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    (!number.is_empty()).then(|| format!("http://www.opengis.net/def/crs/EPSG/0/{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Iris, xml_tree};

    /// Reads a record with these elements in its identification section.
    fn read_record(elements: &str) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "<gmd:MD_Metadata xmlns:gmd=\"http://www.isotc211.org/2005/gmd\" xmlns:gco=\"http://www.isotc211.org/2005/gco\">\
             <gmd:fileIdentifier><gco:CharacterString>fens</gco:CharacterString></gmd:fileIdentifier>\
             <gmd:identificationInfo><gmd:MD_DataIdentification>\
             <gmd:citation><gmd:CI_Citation><gmd:title><gco:CharacterString>Fens</gco:CharacterString></gmd:title></gmd:CI_Citation></gmd:citation>\
             {elements}</gmd:MD_DataIdentification></gmd:identificationInfo>\
             </gmd:MD_Metadata>"
        );
        let record = xml_tree::parse(&text).expect("a tree");
        let (dataset, problems) = read(record).expect("a dataset");
        let triples = reader::to_triples(&dataset, &Iris::default());
        (triples.iter().map(ToString::to_string).collect(), problems)
    }

    #[test]
    fn languages_have_the_codes_of_the_authority_table() {
        for (code, expected) in [
            ("ger", "DEU"),
            ("fre", "FRA"),
            ("GER", "DEU"),
            ("deu", "DEU"),
            ("nds", "NDS"),
            ("roa", "ROA"),
        ] {
            let element = format!(
                "<gmd:language><gmd:LanguageCode codeList=\"x\" codeListValue=\"{code}\"/></gmd:language>"
            );
            let (triples, problems) = read_record(&element);
            let end =
                format!("<http://purl.org/dc/terms/language> <{AUTHORITY}language/{expected}>");
            assert!(
                triples.iter().any(|triple| triple.ends_with(&end)),
                "{code}: {triples:#?}"
            );
            assert!(problems.is_empty(), "{code}: {problems:?}");
        }
    }

    /// Returns an extent with a box whose `extentTypeCode` is `code`, or missing.
    fn box_extent(code: Option<&str>) -> String {
        let code = code.map(|code| {
            format!("<gmd:extentTypeCode><gco:Boolean>{code}</gco:Boolean></gmd:extentTypeCode>")
        });
        let sides = [
            ("westBoundLongitude", "8"),
            ("eastBoundLongitude", "9"),
            ("southBoundLatitude", "53"),
            ("northBoundLatitude", "54"),
        ]
        .map(|(name, degrees)| {
            format!("<gmd:{name}><gco:Decimal>{degrees}</gco:Decimal></gmd:{name}>")
        })
        .concat();
        format!(
            "<gmd:extent><gmd:EX_Extent><gmd:geographicElement><gmd:EX_GeographicBoundingBox>{}{sides}\
             </gmd:EX_GeographicBoundingBox></gmd:geographicElement></gmd:EX_Extent></gmd:extent>",
            code.unwrap_or_default()
        )
    }

    #[test]
    fn excluded_areas_are_no_coverage() {
        for code in [None, Some("true"), Some("1")] {
            let (triples, problems) = read_record(&box_extent(code));
            let text = triples.join("\n");
            assert!(
                text.contains("dcat#bbox> \"POLYGON((8 54,9 54,9 53,8 53,8 54))\""),
                "{code:?}: {text}"
            );
            assert!(problems.is_empty(), "{code:?}: {problems:?}");
        }
        for code in ["false", "0"] {
            let (triples, problems) = read_record(&box_extent(Some(code)));
            let text = triples.join("\n");
            assert!(
                !text.contains("dcat#bbox>") && !text.contains("dc/terms/spatial>"),
                "{code}: {text}"
            );
            assert!(
                text.contains("\"EX_GeographicBoundingBox/extentTypeCode/Boolean\"")
                    && text.contains("\"EX_GeographicBoundingBox/westBoundLongitude/Decimal\""),
                "{code}: {text}"
            );
            assert_eq!(problems.len(), 1, "{code}: {problems:?}");
            assert!(
                problems[0].starts_with("EX_GeographicBoundingBox: an excluded area"),
                "{code}: {problems:?}"
            );
        }
    }
}
