//! Language tags from the keys and codes of JSON catalogues.
//!
//! Portals name languages by ISO 639-1, ISO 639-2 or the names of locales, as in `fr`, `fra`, `fr_CA` and `sr@latin`. They
//! become well-formed language tags of BCP 47 with the shortest code.

use lodeseek_rdf::shortest_language_code;
use serde_json::{Map, Value};

/// Codes that are more often words or names of keys: `id`, `tel`, `lat`.
const AMBIGUOUS: [&str; 36] = [
    "am", "an", "as", "be", "ben", "cat", "co", "est", "geo", "he", "her", "id", "ind", "is",
    "lat", "mac", "man", "mar", "may", "mon", "mul", "my", "no", "or", "pan", "per", "run", "se",
    "sin", "so", "st", "sun", "tel", "to", "ton", "ts",
];
/// Regions of ambiguous codes with which they are languages, besides those of the same letters.
const CERTAIN: [&str; 5] = ["am-ET", "be-BY", "he-IL", "my-MM", "no-NO"];
/// Codes of scripts that follow a language.
const SCRIPTS: &str = "Arab Armn Beng Cans Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hans Hant Hebr Hira Jpan Kana Khmr Knda Kore Laoo Latf Latn \
    Mlym Mong Mymr Orya Sinh Taml Telu Tfng Thaa Thai Tibt";
/// Keys of a text without a language.
const UNTAGGED: [&str; 8] = [
    "",
    "default",
    "none",
    "und",
    "value",
    "x-default",
    "zxx",
    "*",
];
/// Maximum number of bytes of a key that is a language.
const MAX_KEY_BYTES: usize = 35;

/// Returns the well-formed tag of a language code or locale; `None` if its language is unknown.
pub(super) fn language_tag(code: &str) -> Option<String> {
    let code = code.trim();
    if code.len() > MAX_KEY_BYTES || !code.is_ascii() {
        return None;
    }
    // A locale may name a character set and a variant: sr_RS.UTF-8@latin.
    let (locale, modifier) = code.split_once('@').unwrap_or((code, ""));
    let locale = locale.split('.').next().unwrap_or(locale);
    let mut subtags = locale.split(['-', '_']);
    let mut tag = shortest_language_code(&subtags.next()?.to_ascii_lowercase())?.to_owned();
    let modifier = match modifier {
        "" | "euro" => None,
        "latin" => Some("Latn"),
        "cyrillic" => Some("Cyrl"),
        other => Some(other),
    };
    let mut in_extension = false;
    for (place, subtag) in modifier.into_iter().chain(subtags).enumerate() {
        let is_letters = subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
        if subtag.is_empty()
            || subtag.len() > 8
            || !subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            return None;
        }
        // After the language, a word of three letters or more than eight characters is not part of a tag.
        if place == 0 && is_letters && matches!(subtag.len(), 3 | 5..=8) && modifier.is_none() {
            return None;
        }
        in_extension |= subtag.len() == 1;
        tag.push('-');
        match (place, subtag.len()) {
            (0 | 1, 2) if is_letters && !in_extension => tag.push_str(&subtag.to_ascii_uppercase()),
            (0, 4) if is_letters => {
                let script = SCRIPTS
                    .split_ascii_whitespace()
                    .find(|script| script.eq_ignore_ascii_case(subtag))?;
                tag.push_str(script);
            }
            _ => tag.push_str(&subtag.to_ascii_lowercase()),
        }
    }
    let ends_with_singleton = tag.rsplit('-').next().is_some_and(|last| last.len() == 1);
    (!ends_with_singleton && oxrdf::Literal::new_language_tagged_literal("", tag.as_str()).is_ok())
        .then_some(tag)
}

/// Returns the tag of a code that is hardly anything else than a language.
pub(super) fn certain_tag(code: &str) -> Option<String> {
    let primary = code
        .split(['-', '_', '@', '.'])
        .next()
        .unwrap_or(code)
        .trim()
        .to_ascii_lowercase();
    let tag = language_tag(code)?;
    if !AMBIGUOUS.contains(&primary.as_str()) {
        return Some(tag);
    }
    let (language, region) = tag.split_once('-')?;
    let is_locale = region.eq_ignore_ascii_case(language) || CERTAIN.contains(&tag.as_str());
    is_locale.then_some(tag)
}

/// A part of an object of texts by language.
pub(super) struct TextOfLanguage<'v> {
    /// Well-formed tag; `None` for a text without a language.
    pub(super) language: Option<String>,
    /// A text, a list of texts, or another value.
    pub(super) value: &'v Value,
}

/// Returns the texts of an object by language, and its other members. `None` if the object is of another kind.
///
/// Either all keys are languages, or some are certainly languages of two letters; then the others are returned apart. An
/// object with one text and its language, as in `{"value": "Water", "lang": "en"}`, is read, too.
pub(super) fn texts_by_language(
    object: &Map<String, Value>,
) -> Option<(Vec<TextOfLanguage<'_>>, Map<String, Value>)> {
    if let Some(text) = tagged_value(object) {
        return Some((vec![text], Map::new()));
    }
    let (mut languages, mut certain, mut short, mut others) = (0, 0, 0, 0);
    for (key, value) in object {
        let is_text = !value.is_object() && !nested_list(value);
        if language_tag(key).is_some() && is_text {
            languages += 1;
            if certain_tag(key).is_some() {
                certain += 1;
                short += usize::from(!key.as_bytes().get(2).is_some_and(u8::is_ascii_alphanumeric));
            }
        } else if !is_untagged(key) || !is_text {
            others += 1;
        }
    }
    if languages == 0 || certain == 0 || others > 0 && short == 0 {
        return None;
    }
    let (mut texts, mut rest) = (Vec::new(), Map::new());
    for (key, value) in object {
        let is_text = !value.is_object() && !nested_list(value);
        let language = if others > 0 {
            certain_tag(key)
        } else {
            language_tag(key)
        };
        if is_text && (language.is_some() || is_untagged(key)) {
            texts.push(TextOfLanguage { language, value });
        } else {
            rest.insert(key.clone(), value.clone());
        }
    }
    Some((texts, rest))
}

/// If true, the key stands for a text without a language.
fn is_untagged(key: &str) -> bool {
    UNTAGGED.contains(&key.trim().to_ascii_lowercase().as_str())
}

/// If true, the value is a list that contains lists or objects.
fn nested_list(value: &Value) -> bool {
    value.as_array().is_some_and(|values| {
        values
            .iter()
            .any(|value| value.is_array() || value.is_object())
    })
}

/// Reads an object of one text and its language.
fn tagged_value(object: &Map<String, Value>) -> Option<TextOfLanguage<'_>> {
    const TEXTS: [&str; 7] = ["@value", "value", "text", "label", "content", "_value", "$"];
    const LANGUAGES: [&str; 7] = [
        "@language",
        "lang",
        "language",
        "xml:lang",
        "@lang",
        "locale",
        "_lang",
    ];
    if object.len() != 2 {
        return None;
    }
    let value = TEXTS
        .iter()
        .find_map(|key| object.get(*key))
        .filter(|value| value.is_string())?;
    let language = LANGUAGES
        .iter()
        .find_map(|key| object.get(*key))?
        .as_str()?;
    Some(TextOfLanguage {
        language: Some(language_tag(language)?),
        value,
    })
}

/// Splits a key such as `title_fr`, `notes-fra` or `title_pt_BR` into the name of the field and the tag of its language.
pub(super) fn split_suffix<'k>(key: &'k str, fields: &[&str]) -> Option<(&'k str, String)> {
    for field in fields {
        let Some(suffix) = key
            .strip_prefix(field)
            .and_then(|rest| rest.strip_prefix(['_', '-', '@', ':']))
        else {
            continue;
        };
        if let Some(tag) = certain_tag(suffix) {
            return Some((&key[..field.len()], tag));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn codes_and_locales_become_tags() {
        for (code, tag) in [
            ("en", Some("en")),
            ("EN", Some("en")),
            ("deu", Some("de")),
            ("ger", Some("de")),
            ("fre", Some("fr")),
            ("nob", Some("nb")),
            ("gsw", Some("gsw")),
            ("fr_CA", Some("fr-CA")),
            ("pt-br", Some("pt-BR")),
            ("zh_hans_cn", Some("zh-Hans-CN")),
            ("es-419", Some("es-419")),
            ("sr@latin", Some("sr-Latn")),
            ("de_AT.UTF-8", Some("de-AT")),
            ("ca@valencia", Some("ca-valencia")),
            ("en-t-fr", Some("en-t-fr")),
            (" it ", Some("it")),
            ("title", None),
            ("url", None),
            ("xx", None),
            ("en_x", None),
            ("en-", None),
            ("en name", None),
            ("id_card", None),
            ("no-title", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(language_tag(code).as_deref(), tag, "{code:?}");
        }
    }

    fn read(value: &Value) -> Option<(Vec<String>, Vec<String>)> {
        let (texts, rest) = texts_by_language(value.as_object().expect("an object"))?;
        let texts = texts
            .iter()
            .map(|text| format!("{}@{}", text.value, text.language.as_deref().unwrap_or("")));
        Some((texts.collect(), rest.keys().cloned().collect()))
    }

    #[test]
    fn objects_of_texts() {
        let texts = |list: &[&str], rest: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            Some((owned(list), owned(rest)))
        };
        for (object, expected) in [
            (
                json!({"en": "a", "fr_CA": "b"}),
                texts(&["\"a\"@en", "\"b\"@fr-CA"], &[]),
            ),
            (
                json!({"ger": "a", "eng": "b"}),
                texts(&["\"b\"@en", "\"a\"@de"], &[]),
            ),
            (json!({"en": ["a", "b"]}), texts(&["[\"a\",\"b\"]@en"], &[])),
            (
                json!({"en": "a", "id": "b"}),
                texts(&["\"a\"@en", "\"b\"@id"], &[]),
            ),
            (
                json!({"en": "a", "note": "b"}),
                texts(&["\"a\"@en"], &["note"]),
            ),
            (
                json!({"en": "a", "id": "7", "note": "b"}),
                texts(&["\"a\"@en"], &["id", "note"]),
            ),
            (
                json!({"default": "a", "de": "b"}),
                texts(&["\"b\"@de", "\"a\"@"], &[]),
            ),
            (
                json!({"value": "a", "lang": "fin"}),
                texts(&["\"a\"@fi"], &[]),
            ),
            (
                json!({"@value": "a", "@language": "sv-se"}),
                texts(&["\"a\"@sv-SE"], &[]),
            ),
            (json!({"id": "7", "name": "a"}), None),
            (json!({"id": "7"}), None),
            (json!({"lat": 1, "lon": 2}), None),
            (json!({"tel": "1", "url": "x"}), None),
            (json!({"eng": "a", "url": "x"}), None),
            (json!({"en": {"a": 1}}), None),
            (json!({"value": "a"}), None),
            (json!({}), None),
        ] {
            assert_eq!(read(&object), expected, "{object}");
        }
    }

    #[test]
    fn suffixes_of_keys() {
        let split = |key| {
            split_suffix(key, &["title", "notes"]).map(|(field, tag)| format!("{field} {tag}"))
        };
        for (key, expected) in [
            ("title_fr", Some("title fr")),
            ("title-en", Some("title en")),
            ("notes_fra", Some("notes fr")),
            ("title_pt_BR", Some("title pt-BR")),
            ("title_id", None),
            ("title_no", None),
            ("title_nb_NO", Some("title nb-NO")),
            ("title_id_ID", Some("title id-ID")),
            ("notes_as_of", None),
            ("notes_md", None),
            ("title_translated", None),
            ("titlefr", None),
            ("title_", None),
            ("url_fr", None),
        ] {
            assert_eq!(split(key).as_deref(), expected, "{key}");
        }
    }
}
