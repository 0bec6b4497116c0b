//! Names as CKAN writes them in addresses: lower-case letters, digits, `-` and `_`.

use super::spdx::SpdxLicense;
use crate::portal::metadata::PortalMetadata;
use lodeseek_catalog::{CkanLicense, DatasetId, is_stated_license};
use lodeseek_index::compose;
use sha2::{Digest, Sha256};

/// Maximum number of characters of a name.
const MAX_NAME_CHARACTERS: usize = 100;

/// Returns the name of a dataset: its id if valid, or else a name derived from it.
pub(super) fn package_name(id: &DatasetId) -> String {
    let text = id.as_str();
    if text.len() <= MAX_NAME_CHARACTERS && text.chars().all(is_name_character) {
        text.to_owned()
    } else {
        shorten_with_hash(text)
    }
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_lowercase() || character.is_ascii_digit() || "-_".contains(character)
}

/// Returns the name of a text. Case, punctuation and the spelling of accents in Unicode make no difference.
pub(super) fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let folded = compose(&lower);
    let words: Vec<&str> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.join("-");
    // CKAN requires at least two characters, all of them ASCII.
    if joined.is_ascii() && (2..=MAX_NAME_CHARACTERS).contains(&joined.len()) {
        joined
    } else {
        shorten_with_hash(&joined)
    }
}

/// Returns the valid characters of a text with a hash of the whole, so that different texts have different names.
fn shorten_with_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hash: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    // A hyphen and eight hexadecimal digits follow.
    let prefix: String = words
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(MAX_NAME_CHARACTERS - 9)
        .collect();
    format!("{prefix}-{hash}")
        // Without any valid character, the prefix is empty and leaves only the hyphen.
        .trim_start_matches('-')
        .to_owned()
}

/// A licence as CKAN lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct License {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) url: Option<String>,
    /// If true, the licence is known to conform to the Open Definition.
    pub(crate) open: bool,
}

impl License {
    /// Returns the licence of a dataset: that of its catalogue, with the id and title that a package of CKAN declares.
    pub(crate) fn of_dataset(described: &PortalMetadata) -> Self {
        let mut license = Self::from_text(described.license());
        let declared = &described.declared_license;
        let Some(id) = declared.id.as_ref().filter(|id| !is_unspecified(id)) else {
            return license;
        };
        // Either statement suffices: a declared id that is not known must not make an open licence closed.
        license.open |= CkanLicense::from_id(id).is_some_and(|known| known.is_open);
        match &declared.title {
            Some(title) => license.title.clone_from(title),
            // The title so far is that of another licence than the declared one.
            None if license.id != *id => {
                if let Some(known) = CkanLicense::from_id(id) {
                    known.title.clone_into(&mut license.title);
                }
            }
            None => {}
        }
        license.id.clone_from(id);
        license
    }

    /// Identifies the licence of a catalogue's text. Without one it is CKAN's value for unspecified licences.
    pub(crate) fn from_text(text: Option<&str>) -> Self {
        let stated = text.map(str::trim).filter(|text| is_stated_license(text));
        let Some(text) = stated else {
            return Self {
                id: UNSPECIFIED.to_owned(),
                title: "License not specified".to_owned(),
                url: None,
                open: false,
            };
        };
        let web = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        let url = web.map(|_| text.to_owned());
        let of_ckan = CkanLicense::from_iri(text)
            .or_else(|| CkanLicense::from_title(text))
            .or_else(|| CkanLicense::from_id(&text.to_ascii_lowercase()));
        if let Some(license) = of_ckan {
            return Self {
                id: license.id.to_owned(),
                title: license.title.to_owned(),
                url,
                open: license.is_open,
            };
        }
        let of_spdx = match web {
            Some(address) => SpdxLicense::from_address(address),
            None => SpdxLicense::from_name(text),
        };
        match of_spdx {
            Some(license) => Self {
                id: license.id,
                title: license.title,
                url: url.or(Some(license.url)),
                open: license.is_open,
            },
            None => Self {
                id: slug(web.unwrap_or(text)),
                title: text.to_owned(),
                url,
                open: false,
            },
        }
    }
}

/// CKAN's id for no licence.
const UNSPECIFIED: &str = "notspecified";

fn is_unspecified(id: &str) -> bool {
    id.trim().is_empty() || id.eq_ignore_ascii_case(UNSPECIFIED)
}

/// Returns the short name of a licence for readers: `CC BY 4.0`, or its address without scheme, or its text.
pub(crate) fn license_label(text: &str) -> String {
    let text = text.trim();
    let Some(web) = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
    else {
        return text.to_owned();
    };
    match SpdxLicense::from_address(web) {
        Some(SpdxLicense { id, .. }) => match id
            .strip_prefix("CC-")
            .and_then(|rest| rest.rsplit_once('-'))
        {
            Some((code, version)) => format!("CC {code} {version}"),
            None => id.replace("CC0-", "CC0 "),
        },
        None => web
            .trim_start_matches("www.")
            .trim_end_matches('/')
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_only_where_they_must_be() {
        let name = |id: &str| package_name(&DatasetId::new(id).expect("an id"));
        for id in ["street-trees", "42", "a_b-1"] {
            assert_eq!(name(id), id);
        }
        assert_eq!(name("Trees/2024"), "trees-2024-59224fb5");
        assert_ne!(name("trees/2024"), name("trees.2024"));
        assert!(name(&"é".repeat(200)).len() <= MAX_NAME_CHARACTERS && name("é").len() >= 2);
    }

    #[test]
    fn one_name_for_one_organisation() {
        assert_eq!(
            slug("Vision Group, University of Northport"),
            "vision-group-university-of-northport"
        );
        assert_eq!(
            slug("vision group  university of Northport"),
            "vision-group-university-of-northport"
        );
        assert_ne!(slug("Géo"), slug("Gèo"));
        assert_eq!(slug("G\u{e9}o"), slug("Ge\u{301}o"));
        assert_ne!(slug("道路"), slug("水"));
    }

    #[test]
    fn licences_have_short_names() {
        for (text, label) in [
            (
                "https://creativecommons.org/licenses/by-sa/4.0/deed.de",
                "CC BY-SA 4.0",
            ),
            (
                "http://creativecommons.org/publicdomain/zero/1.0/",
                "CC0 1.0",
            ),
            ("https://opendatacommons.org/licenses/odbl/1-0/", "ODbL-1.0"),
            ("https://www.example.org/terms/", "example.org/terms"),
            ("Public domain", "Public domain"),
        ] {
            assert_eq!(license_label(text), label);
        }
    }

    #[test]
    fn licences_by_their_addresses() {
        let id = |text: &str| License::from_text(Some(text)).id;
        assert_eq!(
            id("https://creativecommons.org/licenses/by-sa/4.0/deed.de"),
            "CC-BY-SA-4.0"
        );
        assert_eq!(
            id("http://creativecommons.org/publicdomain/zero/1.0/"),
            "CC0-1.0"
        );
        assert_eq!(
            id("http://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/"),
            "OGL-UK-3.0"
        );
        assert_eq!(
            id("https://www.example.org/open-licence"),
            "www-example-org-open-licence"
        );
        for (iri, id, title) in [
            (
                "http://www.opendefinition.org/licenses/cc-by-sa",
                "cc-by-sa",
                "Creative Commons Attribution Share-Alike",
            ),
            (
                "https://www.govdata.de/dl-de/by-2-0",
                "dl-de-by-2.0",
                "Datenlizenz Deutschland Namensnennung 2.0",
            ),
            (
                "http://reference.data.gov.uk/id/open-government-licence",
                "uk-ogl",
                "UK Open Government Licence (OGL)",
            ),
            (
                "http://creativecommons.org/licenses/by/3.0/",
                "CC-BY-3.0",
                "Creative Commons Attribution 3.0",
            ),
        ] {
            let license = License::from_text(Some(iri));
            assert_eq!((license.id.as_str(), license.title.as_str()), (id, title));
            assert_eq!((license.url.as_deref(), license.open), (Some(iri), true));
        }
        for (text, id, url) in [
            (
                "cc-by-4.0",
                "CC-BY-4.0",
                "https://creativecommons.org/licenses/by/4.0/",
            ),
            (
                "CC0-1.0",
                "CC0-1.0",
                "https://creativecommons.org/publicdomain/zero/1.0/",
            ),
            ("mit", "MIT", "https://opensource.org/license/mit"),
        ] {
            let license = License::from_text(Some(text));
            assert_eq!(
                (license.id.as_str(), license.url.as_deref()),
                (id, Some(url))
            );
            assert!(license.open, "{text}");
        }
        assert_eq!(License::from_text(Some("cc-by")).id, "cc-by");
        assert_eq!(License::from_text(None).id, "notspecified");
        let unstated = License::from_text(Some("not stated in repository"));
        assert_eq!(unstated.title, "License not specified");
        assert!(!License::from_text(Some("https://creativecommons.org/licenses/by-nc/4.0/")).open);
    }
}
