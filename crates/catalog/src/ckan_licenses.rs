//! Licences of CKAN packages and resources: `license`, `license_id`, `license_title` and `license_url`.

use super::addresses::{Address, parse_address};
use super::dcat_builder::{
    DcatBuilder, FieldKind, Object, Subject, first_scalar, is_placeholder, scalar_text,
};
use super::stated_licenses::is_stated_license;
use lodeseek_rdf::vocab::dcterms;

/// Ids of licences in CKAN's lists and in those of national portals, and their IRIs. Ids of Creative Commons with a version are
/// not listed.
const LICENSES: &[(&str, &str)] = &[
    ("cc-by", "http://www.opendefinition.org/licenses/cc-by"),
    (
        "cc-by-sa",
        "http://www.opendefinition.org/licenses/cc-by-sa",
    ),
    ("cc-nc", "http://creativecommons.org/licenses/by-nc/2.0/"),
    ("cc-zero", "http://www.opendefinition.org/licenses/cc-zero"),
    ("cc0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    (
        "cc0-1.0",
        "https://creativecommons.org/publicdomain/zero/1.0/",
    ),
    (
        "cc-zero-1.0",
        "https://creativecommons.org/publicdomain/zero/1.0/",
    ),
    ("gfdl", "http://www.opendefinition.org/licenses/gfdl"),
    ("odc-by", "http://www.opendefinition.org/licenses/odc-by"),
    ("odc-by-1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    (
        "odc-odbl",
        "http://www.opendefinition.org/licenses/odc-odbl",
    ),
    ("odbl", "http://www.opendefinition.org/licenses/odc-odbl"),
    ("odbl-1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    (
        "odc-odbl-1.0",
        "https://opendatacommons.org/licenses/odbl/1-0/",
    ),
    (
        "odc-pddl",
        "http://www.opendefinition.org/licenses/odc-pddl",
    ),
    (
        "odc-pddl-1.0",
        "https://opendatacommons.org/licenses/pddl/1-0/",
    ),
    ("pddl-1.0", "https://opendatacommons.org/licenses/pddl/1-0/"),
    (
        "uk-ogl",
        "http://reference.data.gov.uk/id/open-government-licence",
    ),
    (
        "ogl-uk-1.0",
        "http://www.nationalarchives.gov.uk/doc/open-government-licence/version/1/",
    ),
    (
        "ogl-uk-2.0",
        "http://www.nationalarchives.gov.uk/doc/open-government-licence/version/2/",
    ),
    (
        "ogl-uk-3.0",
        "http://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/",
    ),
    (
        "ca-ogl-lgo",
        "https://open.canada.ca/en/open-government-licence-canada",
    ),
    (
        "ogl-canada-2.0",
        "https://open.canada.ca/en/open-government-licence-canada",
    ),
    ("dl-de-by-2.0", "https://www.govdata.de/dl-de/by-2-0"),
    ("dl-de-zero-2.0", "https://www.govdata.de/dl-de/zero-2-0"),
    ("us-pd", "http://www.usa.gov/publicdomain/label/1.0/"),
    (
        "etalab-2.0",
        "https://www.etalab.gouv.fr/licence-ouverte-open-licence",
    ),
];
/// Licences of CKAN: (id, title, true if CKAN declares it open).
const CKAN: &[(&str, &str, bool)] = &[
    ("cc-by", "Creative Commons Attribution", true),
    ("cc-by-sa", "Creative Commons Attribution Share-Alike", true),
    ("cc-nc", "Creative Commons Non-Commercial (Any)", false),
    ("cc-zero", "Creative Commons CCZero", true),
    ("gfdl", "GNU Free Documentation License", true),
    ("odc-by", "Open Data Commons Attribution License", true),
    (
        "odc-odbl",
        "Open Data Commons Open Database License (ODbL)",
        true,
    ),
    (
        "odc-pddl",
        "Open Data Commons Public Domain Dedication and License (PDDL)",
        true,
    ),
    ("uk-ogl", "UK Open Government Licence (OGL)", true),
    ("other-at", "Other (Attribution)", true),
    ("other-closed", "Other (Not Open)", false),
    ("other-nc", "Other (Non-Commercial)", false),
    ("other-open", "Other (Open)", true),
    ("other-pd", "Other (Public Domain)", true),
    ("ca-ogl-lgo", "Open Government Licence - Canada", true),
    (
        "dl-de-by-2.0",
        "Datenlizenz Deutschland Namensnennung 2.0",
        true,
    ),
    ("dl-de-zero-2.0", "Datenlizenz Deutschland Zero 2.0", true),
    ("etalab-2.0", "Licence Ouverte / Open Licence", true),
    ("us-pd", "U.S. Public Domain", true),
];
/// Kinds of licences of Creative Commons, in ids such as `CC-BY-SA-4.0`.
const COMMONS: [&str; 6] = ["by", "by-sa", "by-nd", "by-nc", "by-nc-sa", "by-nc-nd"];

/// A licence of CKAN's list or of those of national portals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CkanLicense {
    /// Id in CKAN.
    pub id: &'static str,
    /// Title in CKAN.
    pub title: &'static str,
    /// If true, the licence conforms to the Open Definition.
    pub is_open: bool,
}

impl CkanLicense {
    /// Returns the licence with an id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        let (id, title, is_open) = *CKAN.iter().find(|(known, ..)| *known == id)?;
        Some(Self { id, title, is_open })
    }

    /// Returns the licence with an IRI. The scheme, `www.` and a slash at the end make no difference.
    #[must_use]
    pub fn from_iri(iri: &str) -> Option<Self> {
        let address = bare_address(iri)?;
        LICENSES
            .iter()
            .filter(|(_, iri)| bare_address(iri) == Some(address))
            .find_map(|(id, _)| Self::from_id(id))
    }

    /// Returns the licence with a title. Case makes no difference.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let (id, ..) = CKAN
            .iter()
            .find(|(_, known, _)| known.eq_ignore_ascii_case(title.trim()))?;
        Self::from_id(id)
    }
}

fn bare_address(iri: &str) -> Option<&str> {
    let address = iri
        .strip_prefix("https://")
        .or_else(|| iri.strip_prefix("http://"))?;
    Some(
        address
            .strip_prefix("www.")
            .unwrap_or(address)
            .trim_end_matches('/'),
    )
}

/// Returns the IRI of a licence's id.
pub(super) fn license_iri(id: &str) -> Option<String> {
    let id = id.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    if let Some((_, iri)) = LICENSES.iter().find(|(known, _)| *known == id) {
        return Some((*iri).to_owned());
    }
    let (kind, version) = id.strip_prefix("cc-")?.rsplit_once('-')?;
    let is_version = matches!(version, "1.0" | "2.0" | "2.5" | "3.0" | "4.0");
    (is_version && COMMONS.contains(&kind))
        .then(|| format!("https://creativecommons.org/licenses/{kind}/{version}/"))
}

fn find_iri(text: Option<&String>) -> Option<String> {
    match parse_address(text?) {
        Address::Iri(iri) => Some(iri),
        Address::Unsafe | Address::Text => None,
    }
}

/// Adds the licence of a package or a resource: an IRI if one is given or the id is known, else the name. The other keys stay
/// in the object.
pub(super) fn add_license(object: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    if object
        .get("license")
        .is_some_and(|license| license.is_object() || license.is_array())
    {
        let license = object.remove("license").unwrap_or_default();
        builder.field(
            node,
            "license",
            dcterms::LICENSE,
            FieldKind::Resource,
            &license,
        );
        return;
    }
    let mut has_iri = false;
    for key in ["license_url", "license"] {
        if let Some(iri) = find_iri(object.get(key).and_then(scalar_text).as_ref()) {
            builder.resource(node, dcterms::LICENSE, &iri);
            object.remove(key);
            has_iri = true;
        }
    }
    if has_iri {
        return;
    }
    for key in ["license_id", "license", "license_title", "license_type"] {
        let text = object.get(key).and_then(scalar_text);
        if let Some(iri) = find_iri(text.as_ref()).or_else(|| license_iri(text.as_deref()?)) {
            builder.resource(node, dcterms::LICENSE, &iri);
            if text == Some(iri) {
                object.remove(key);
            }
            return;
        }
    }
    for key in ["license_title", "license", "license_id"] {
        let Some(value) = object.get(key).cloned() else {
            continue;
        };
        if first_scalar(object, &[key])
            .is_some_and(|text| is_placeholder(&text) || !is_stated_license(&text))
        {
            continue;
        }
        builder.field(node, key, dcterms::LICENSE, FieldKind::Resource, &value);
        object.remove(key);
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Returns the licences of an object, and the keys that stay in it.
    fn licenses_of(object: Value) -> (Vec<String>, Vec<String>) {
        let Value::Object(mut object) = object else {
            return Default::default();
        };
        let mut builder = DcatBuilder::default();
        let node = builder.blank();
        add_license(&mut object, &node, &mut builder);
        let graph = builder.finish();
        let property = graph.iri(dcterms::LICENSE);
        let found = graph
            .triples()
            .iter()
            .filter(|triple| property == Some(triple.predicate));
        let found = found
            .map(|triple| graph.term(triple.object).text().to_owned())
            .collect();
        (found, object.keys().cloned().collect())
    }

    #[test]
    fn the_table_of_iris_is_inverted() {
        let id = |iri: &str| CkanLicense::from_iri(iri).map(|license| license.id);
        for (iri, expected) in [
            (
                "http://www.opendefinition.org/licenses/cc-by",
                Some("cc-by"),
            ),
            (
                "https://opendefinition.org/licenses/odc-odbl/",
                Some("odc-odbl"),
            ),
            ("https://www.govdata.de/dl-de/by-2-0", Some("dl-de-by-2.0")),
            ("https://creativecommons.org/licenses/by/4.0/", None),
            ("cc-by", None),
        ] {
            assert_eq!(id(iri), expected, "{iri}");
        }
        let by_title = CkanLicense::from_title("other (open)").expect("known");
        assert_eq!((by_title.id, by_title.is_open), ("other-open", true));
    }

    #[test]
    fn licences_are_iris_if_they_are_known() {
        let ogl = "http://reference.data.gov.uk/id/open-government-licence";
        let by = "https://creativecommons.org/licenses/by/4.0/";
        for (object, expected, rest) in [
            (
                json!({"license_id": "uk-ogl", "license_title": "OGL"}),
                vec![ogl],
                vec!["license_id", "license_title"],
            ),
            (
                json!({"license_url": by, "license_id": "x"}),
                vec![by],
                vec!["license_id"],
            ),
            (json!({"license": by}), vec![by], vec![]),
            (json!({"license": "CC-BY-4.0"}), vec![by], vec!["license"]),
            (
                json!({"license": "cc_by_nc_sa_3.0"}),
                vec!["https://creativecommons.org/licenses/by-nc-sa/3.0/"],
                vec!["license"],
            ),
            (json!({"license_id": by}), vec![by], vec![]),
            (
                json!({"license_id": "notspecified", "license_title": "License not specified"}),
                vec![],
                vec!["license_id", "license_title"],
            ),
            (
                json!({"license_id": "notspecified", "license": "Own licence"}),
                vec!["Own licence"],
                vec!["license_id"],
            ),
            (
                json!({"license_id": "other-at", "license_title": "Other (Attribution)"}),
                vec!["Other (Attribution)"],
                vec!["license_id"],
            ),
            (
                json!({"license": {"name": "Own", "url": by}}),
                vec![by],
                vec![],
            ),
            (
                json!({"license_title": "None"}),
                vec![],
                vec!["license_title"],
            ),
            (
                json!({"license_id": "unknown", "license_title": "Not stated in repository"}),
                vec![],
                vec!["license_id", "license_title"],
            ),
            (json!({}), vec![], vec![]),
        ] {
            let (found, left) = licenses_of(object.clone());
            assert_eq!(
                (found, left),
                (
                    expected.into_iter().map(str::to_owned).collect(),
                    rest.into_iter().map(str::to_owned).collect()
                ),
                "{object}"
            );
        }
    }
}
