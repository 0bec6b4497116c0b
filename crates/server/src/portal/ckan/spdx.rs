//! Identifiers of SPDX for the licences of catalogues: for addresses, identifiers in any case, and names.
//! <https://spdx.org/licenses/>

/// A licence with an identifier of SPDX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpdxLicense {
    pub(super) id: String,
    pub(super) title: String,
    /// Address of its text.
    pub(super) url: String,
    /// If true, it conforms to the Open Definition, or to the Open Source Definition.
    pub(super) is_open: bool,
}

/// Licences other than those of Creative Commons: (identifier, title, address).
const LICENSES: &[(&str, &str, &str)] = &[
    (
        "ODbL-1.0",
        "Open Data Commons Open Database License 1.0",
        "https://opendatacommons.org/licenses/odbl/1-0/",
    ),
    (
        "ODC-By-1.0",
        "Open Data Commons Attribution License 1.0",
        "https://opendatacommons.org/licenses/by/1-0/",
    ),
    (
        "PDDL-1.0",
        "Open Data Commons Public Domain Dedication and License 1.0",
        "https://opendatacommons.org/licenses/pddl/1-0/",
    ),
    (
        "OGL-UK-1.0",
        "Open Government Licence 1.0 (United Kingdom)",
        "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/1/",
    ),
    (
        "OGL-UK-2.0",
        "Open Government Licence 2.0 (United Kingdom)",
        "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/2/",
    ),
    (
        "OGL-UK-3.0",
        "Open Government Licence 3.0 (United Kingdom)",
        "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/",
    ),
    (
        "CDLA-Permissive-1.0",
        "Community Data License Agreement Permissive 1.0",
        "https://cdla.dev/permissive-1-0/",
    ),
    (
        "CDLA-Permissive-2.0",
        "Community Data License Agreement Permissive 2.0",
        "https://cdla.dev/permissive-2-0/",
    ),
    (
        "CDLA-Sharing-1.0",
        "Community Data License Agreement Sharing 1.0",
        "https://cdla.dev/sharing-1-0/",
    ),
    (
        "Apache-2.0",
        "Apache License 2.0",
        "https://www.apache.org/licenses/LICENSE-2.0",
    ),
    ("MIT", "MIT License", "https://opensource.org/license/mit"),
    ("ISC", "ISC License", "https://opensource.org/license/isc"),
    (
        "BSD-2-Clause",
        "BSD 2-Clause License",
        "https://opensource.org/license/bsd-2-clause",
    ),
    (
        "BSD-3-Clause",
        "BSD 3-Clause License",
        "https://opensource.org/license/bsd-3-clause",
    ),
    (
        "MPL-2.0",
        "Mozilla Public License 2.0",
        "https://www.mozilla.org/MPL/2.0/",
    ),
    (
        "GPL-2.0",
        "GNU General Public License 2.0",
        "https://www.gnu.org/licenses/old-licenses/gpl-2.0.html",
    ),
    (
        "GPL-3.0",
        "GNU General Public License 3.0",
        "https://www.gnu.org/licenses/gpl-3.0.html",
    ),
    (
        "LGPL-3.0",
        "GNU Lesser General Public License 3.0",
        "https://www.gnu.org/licenses/lgpl-3.0.html",
    ),
    (
        "AGPL-3.0",
        "GNU Affero General Public License 3.0",
        "https://www.gnu.org/licenses/agpl-3.0.html",
    ),
    (
        "EUPL-1.2",
        "European Union Public License 1.2",
        "https://eupl.eu/1.2/en/",
    ),
    (
        "GFDL-1.3",
        "GNU Free Documentation License 1.3",
        "https://www.gnu.org/licenses/fdl-1.3.html",
    ),
    ("Unlicense", "The Unlicense", "https://unlicense.org/"),
];

/// Identifiers of the EU's list of licences and other common spellings, with those of SPDX. Both in the form of [`split_words`].
const SYNONYMS: &[(&str, &str)] = &[
    ("odc bl", "odbl 1.0"),
    ("odbl", "odbl 1.0"),
    ("odc odbl 1.0", "odbl 1.0"),
    ("odc by", "odc by 1.0"),
    ("odc pddl", "pddl 1.0"),
    ("odc pddl 1.0", "pddl 1.0"),
    ("pddl", "pddl 1.0"),
    ("ogl 1.0", "ogl uk 1.0"),
    ("ogl 2.0", "ogl uk 2.0"),
    ("ogl 3.0", "ogl uk 3.0"),
    ("apache 2", "apache 2.0"),
    ("the mit license", "mit"),
];

/// Beginnings of addresses that end in the identifier of a licence, without scheme and `www.`.
const IDENTIFIED: &[&str] = &[
    "spdx.org/licenses/",
    "opensource.org/licenses/",
    "opensource.org/license/",
    "gnu.org/licenses/old-licenses/",
    "gnu.org/licenses/",
    "choosealicense.com/licenses/",
    "publications.europa.eu/resource/authority/licence/",
    "dcat-ap.de/def/licenses/",
];

/// Kinds of licences of Creative Commons, in identifiers such as `CC-BY-SA-4.0`.
const COMMONS: [&str; 6] = ["BY", "BY-SA", "BY-ND", "BY-NC", "BY-NC-SA", "BY-NC-ND"];

impl SpdxLicense {
    /// Returns the licence of an address without its scheme.
    pub(super) fn from_address(address: &str) -> Option<Self> {
        let address = address.trim_start_matches("www.");
        for beginning in IDENTIFIED {
            if let Some(name) = address.strip_prefix(beginning) {
                let name = name.trim_end_matches('/');
                let ending = [".html", ".json", ".txt", ".php", ".en"];
                // Endings are combined: `gpl-3.0.en.html`.
                let name = ending
                    .iter()
                    .fold(name, |name, ending| name.trim_end_matches(ending));
                return Self::from_name(name);
            }
        }
        let parts: Vec<&str> = address
            .split(['/', '#'])
            .filter(|part| !part.is_empty())
            .collect();
        match parts.as_slice() {
            ["creativecommons.org", "licenses", kind, version, ..] => {
                Some(Self::commons(&kind.to_ascii_uppercase(), version))
            }
            ["creativecommons.org", "publicdomain", "zero", version, ..] => {
                Some(Self::public_domain(version))
            }
            ["opendatacommons.org", "licenses", "odbl", ..] => Self::from_id("ODbL-1.0"),
            ["opendatacommons.org", "licenses", "by", ..] => Self::from_id("ODC-By-1.0"),
            ["opendatacommons.org", "licenses", "pddl", ..] => Self::from_id("PDDL-1.0"),
            [
                "nationalarchives.gov.uk",
                "doc",
                "open-government-licence",
                "version",
                version,
                ..,
            ] => Self::from_id(&format!("OGL-UK-{version}.0")),
            ["apache.org", "licenses", name, ..] if name.starts_with("LICENSE-2.0") => {
                Self::from_id("Apache-2.0")
            }
            ["cdla.dev", name, ..] => Self::from_name(&format!("cdla-{name}")),
            _ => None,
        }
    }

    /// Returns the licence of an identifier or a title. Case and punctuation make no difference.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let words = split_words(name);
        if let Some(license) = commons_of_words(&words) {
            return Some(license);
        }
        let joined = words.join(" ");
        let synonym = SYNONYMS.iter().find(|(known, _)| *known == joined);
        let expected = match synonym {
            Some((_, title)) => *title,
            None => joined.as_str(),
        };
        let found = LICENSES.iter().find(|(id, title, _)| {
            split_words(id).join(" ") == expected || split_words(title).join(" ") == expected
        })?;
        Self::from_id(found.0)
    }

    /// Returns the licence of the table with an identifier.
    fn from_id(id: &str) -> Option<Self> {
        let (id, title, url) = LICENSES.iter().find(|(known, ..)| *known == id)?;
        Some(Self {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
            url: (*url).to_owned(),
            is_open: true,
        })
    }

    /// Returns a licence of Creative Commons by its kind in capitals, with a title as in the Open Definition.
    fn commons(kind: &str, version: &str) -> Self {
        let mut parts = Vec::new();
        for part in kind.split('-') {
            parts.push(match part {
                "BY" => "Attribution",
                "SA" => "Share-Alike",
                "NC" => "Non-Commercial",
                "ND" => "No-Derivatives",
                other => other,
            });
        }
        Self {
            id: format!("CC-{kind}-{version}"),
            title: format!("Creative Commons {} {version}", parts.join(" ")),
            url: format!(
                "https://creativecommons.org/licenses/{}/{version}/",
                kind.to_ascii_lowercase()
            ),
            is_open: matches!(kind, "BY" | "BY-SA"),
        }
    }

    /// Returns the dedication to the public domain of Creative Commons.
    fn public_domain(version: &str) -> Self {
        Self {
            id: format!("CC0-{version}"),
            title: format!("Creative Commons CCZero {version}"),
            url: format!("https://creativecommons.org/publicdomain/zero/{version}/"),
            is_open: true,
        }
    }
}

/// Returns the words of a name in lower case. Two numbers are a version: `4_0` is 4.0.
fn split_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let lower = name.to_lowercase();
    for word in lower.split(|c: char| !(c.is_alphanumeric() || c == '.')) {
        let word = word.trim_matches('.');
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        match words.last_mut() {
            Some(last) if is_number && last.bytes().all(|byte| byte.is_ascii_digit()) => {
                last.push('.');
                last.push_str(word);
            }
            _ if word.is_empty() => {}
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns the licence of Creative Commons that words name, all of which must be known. A licence without a version is none, as its
/// versions differ; CC0 has only one.
fn commons_of_words(words: &[String]) -> Option<SpdxLicense> {
    let rest = match words {
        [first, second, rest @ ..] if first == "creative" && second == "commons" => rest,
        [first, rest @ ..] if first == "cc" => rest,
        [first, ..] if first == "cc0" || first == "cczero" => words,
        _ => return None,
    };
    let (mut kind, mut version, mut is_zero) = (Vec::new(), None, false);
    for word in rest {
        match word.as_str() {
            "by" | "attribution" => kind.push("BY"),
            "sa" | "sharealike" => kind.push("SA"),
            "nc" | "noncommercial" => kind.push("NC"),
            "nd" | "noderivatives" | "noderivs" => kind.push("ND"),
            "bysa" => kind.extend(["BY", "SA"]),
            "bync" => kind.extend(["BY", "NC"]),
            "bynd" => kind.extend(["BY", "ND"]),
            "byncsa" => kind.extend(["BY", "NC", "SA"]),
            "byncnd" => kind.extend(["BY", "NC", "ND"]),
            "cc0" | "cczero" | "zero" => is_zero = true,
            // Words in front of or behind a part that is known.
            "share" | "non" | "no" | "licence" | "license" | "international" | "unported"
            | "universal" | "public" | "domain" | "dedication" => {}
            "alike" => kind.push("SA"),
            "commercial" => kind.push("NC"),
            "derivatives" => kind.push("ND"),
            number => {
                let number = number.trim_start_matches('v');
                if !matches!(number, "1.0" | "2.0" | "2.5" | "3.0" | "4.0") || version.is_some() {
                    return None;
                }
                version = Some(number);
            }
        }
    }
    if is_zero {
        let is_known = kind.is_empty() && version.is_none_or(|version| version == "1.0");
        return is_known.then(|| SpdxLicense::public_domain("1.0"));
    }
    let kind = kind.join("-");
    let version = version?;
    COMMONS
        .contains(&kind.as_str())
        .then(|| SpdxLicense::commons(&kind, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of_name(name: &str) -> Option<String> {
        SpdxLicense::from_name(name).map(|license| license.id)
    }

    #[test]
    fn names_have_identifiers() {
        for (name, id) in [
            ("cc-by-4.0", "CC-BY-4.0"),
            ("CC BY 4.0", "CC-BY-4.0"),
            ("CC_BY_4_0", "CC-BY-4.0"),
            ("CC_BYSA_3_0", "CC-BY-SA-3.0"),
            (
                "Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International",
                "CC-BY-NC-SA-4.0",
            ),
            (
                "Creative Commons Attribution Share-Alike 4.0",
                "CC-BY-SA-4.0",
            ),
            ("cc0-1.0", "CC0-1.0"),
            ("CC0", "CC0-1.0"),
            ("Creative Commons Zero v1.0 Universal", "CC0-1.0"),
            ("mit", "MIT"),
            ("MIT License", "MIT"),
            ("apache-2.0", "Apache-2.0"),
            ("Apache License 2.0", "Apache-2.0"),
            ("odbl", "ODbL-1.0"),
            ("ODbL-1.0", "ODbL-1.0"),
            ("ODC_BL", "ODbL-1.0"),
            ("gpl-3.0", "GPL-3.0"),
            ("cdla-permissive-2.0", "CDLA-Permissive-2.0"),
        ] {
            assert_eq!(id_of_name(name).as_deref(), Some(id), "{name}");
        }
        for name in [
            "CC BY",
            "cc-by-sa",
            "cc-by-9.0",
            "CC SA 4.0",
            "Creative Commons Attribution 4.0 with exceptions",
            "other",
            "Public domain",
            "",
        ] {
            assert_eq!(id_of_name(name), None, "{name}");
        }
    }

    #[test]
    fn addresses_have_identifiers() {
        for (address, id) in [
            (
                "creativecommons.org/licenses/by-sa/4.0/deed.de",
                "CC-BY-SA-4.0",
            ),
            ("spdx.org/licenses/CC-BY-4.0.html", "CC-BY-4.0"),
            ("opensource.org/licenses/MIT", "MIT"),
            ("www.gnu.org/licenses/gpl-3.0.en.html", "GPL-3.0"),
            ("dcat-ap.de/def/licenses/cc-by/4.0", "CC-BY-4.0"),
            (
                "publications.europa.eu/resource/authority/licence/CC_BY_4_0",
                "CC-BY-4.0",
            ),
            (
                "publications.europa.eu/resource/authority/licence/CC0",
                "CC0-1.0",
            ),
            ("www.apache.org/licenses/LICENSE-2.0.html", "Apache-2.0"),
            ("opendatacommons.org/licenses/odbl/1-0", "ODbL-1.0"),
            ("cdla.dev/permissive-2-0/", "CDLA-Permissive-2.0"),
        ] {
            let license = SpdxLicense::from_address(address);
            assert_eq!(license.map(|one| one.id).as_deref(), Some(id), "{address}");
        }
        assert_eq!(SpdxLicense::from_address("example.org/licenses/MIT"), None);
    }

    #[test]
    fn every_licence_is_recognized_by_its_identifier_title_and_address() {
        for (id, title, url) in LICENSES {
            assert_eq!(id_of_name(&id.to_lowercase()).as_deref(), Some(*id));
            assert_eq!(id_of_name(title).as_deref(), Some(*id));
            assert!(url.starts_with("https://"));
        }
    }
}
