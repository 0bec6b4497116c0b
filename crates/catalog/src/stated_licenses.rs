//! Texts with which catalogues state that they know no licence.

use super::names::is_address;

/// Such texts, by their letters and digits in lower case: in English, and as portals of other languages translate CKAN's title. A text
/// that denies rights, such as CKAN's `other-closed`, is a licence.
const UNSTATED: &[&str] = &[
    "licenceinconnue",
    "licencenonspécifiée",
    "licencenotavailable",
    "licencenotgiven",
    "licencenotprovided",
    "licencenotspecified",
    "licencenotstated",
    "licenceunknown",
    "licenciadesconocida",
    "licencianoespecificada",
    "licensenotavailable",
    "licensenotgiven",
    "licensenotprovided",
    "licensenotspecified",
    "licensenotstated",
    "licenseunknown",
    "licentienietgespecificeerd",
    "licenzanonspecificata",
    "licençanãoespecificada",
    "lizenznichtangegeben",
    "lizenzunbekannt",
    "keineangabe",
    "keineangaben",
    "na",
    "nolicence",
    "nolicencegiven",
    "nolicencespecified",
    "nolicencestated",
    "nolicense",
    "nolicensegiven",
    "nolicensespecified",
    "nolicensestated",
    "none",
    "nonespecified",
    "nonestated",
    "nonspécifié",
    "nonspécifiée",
    "notapplicable",
    "notavailable",
    "notdeclared",
    "notdefined",
    "notgiven",
    "notknown",
    "notprovided",
    "notset",
    "notspecified",
    "notstated",
    "notstatedinrepository",
    "notstatedintherepository",
    "null",
    "unbekannt",
    "undefined",
    "unknown",
    "unknownlicence",
    "unknownlicense",
    "unspecified",
    "unspecifiedlicence",
    "unspecifiedlicense",
];
/// Maximum length of such a text in bytes. A longer one states a licence.
const MAX_UNSTATED_BYTES: usize = 100;

/// Returns true if the text of a licence, or its address, states one. Returns false for texts such as `notspecified`, which is the id
/// of CKAN, `unknown` or a dash. Such a text stays in the description; it counts as no licence.
///
/// ```
/// use lodeseek_catalog::is_stated_license;
///
/// assert!(is_stated_license("CC BY 4.0") && is_stated_license("other-closed"));
/// assert!(!is_stated_license("Not stated in repository") && !is_stated_license("-"));
/// ```
#[must_use]
pub fn is_stated_license(text: &str) -> bool {
    let text = text.trim();
    // An address may end with such an id.
    let name = match text.trim_end_matches('/').rsplit('/').next() {
        Some(end) if is_address(text) => end,
        _ => text,
    };
    if name.len() > MAX_UNSTATED_BYTES {
        return true;
    }
    let mut letters = String::new();
    for character in name.chars().filter(|character| character.is_alphanumeric()) {
        letters.extend(character.to_lowercase());
    }
    !letters.is_empty() && !UNSTATED.contains(&letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_public_catalogues() {
        for text in [
            "",
            " - ",
            "—",
            "?",
            "notspecified",
            "Not specified",
            "not-specified",
            "License not specified",
            "License Not Specified",
            "Licence not specified.",
            "not stated in repository",
            "Unknown",
            "unknown license",
            "None",
            "N/A",
            "n.a.",
            "Not Applicable",
            "No license",
            "null",
            "Lizenz nicht angegeben",
            "Licence non spécifiée",
            "http://www.opendefinition.org/licenses/notspecified",
            "https://example.org/licenses/unknown/",
        ] {
            assert!(!is_stated_license(text), "{text}");
        }
        for text in [
            "other-closed",
            "Other (Not Open)",
            "other-pd",
            "CC0",
            "All rights reserved",
            "See the website",
            "Unknown for the images, CC BY for the data",
            "data: CC BY 4.0, code: MIT / none",
            "政府資料開放授權條款",
            "https://creativecommons.org/licenses/by/4.0/",
            "https://example.org/licenses/unknown-author",
        ] {
            assert!(is_stated_license(text), "{text}");
        }
        assert!(is_stated_license(&"-".repeat(200)), "no such text is long");
    }
}
