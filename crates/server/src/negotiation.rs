//! Content negotiation by `Accept` and `Accept-Language` (RFC 9110, 12.5.1 and 12.5.4).

use super::error::ApiError;
use axum::http::{HeaderMap, HeaderName, header};

/// The offer a client likes best; the first one where it says nothing. `None` where it accepts none of them.
///
/// An offer's quality is that of the most specific range that covers it; equal qualities: the earlier offer.
pub(super) fn best<'o>(headers: &HeaderMap, offers: &[&'o str]) -> Option<&'o str> {
    let ranges = ranges(headers, &header::ACCEPT);
    if ranges.is_empty() {
        return offers.first().copied();
    }
    let quality = |offer: &str| {
        let matching = ranges.iter().filter_map(|(range, quality)| Some((specificity(range, offer)?, *quality)));
        matching.max_by_key(|(specificity, _)| *specificity).map_or(0.0, |(_, quality)| quality)
    };
    let mut best = None;
    for offer in offers {
        let quality = quality(offer);
        if quality > best.map_or(0.0, |(_, best)| best) {
            best = Some((*offer, quality));
        }
    }
    best.map(|(offer, _)| offer)
}

/// Languages considered at most.
const LANGUAGES: usize = 5;

/// The languages a reader likes, best first, by their first subtags: those of a parameter `lang` (`de,en`), else those of
/// the header. English ends the list, as most data have it.
pub(super) fn languages(headers: &HeaderMap, lang: Option<&str>) -> Result<Vec<String>, ApiError> {
    let mut wanted = match lang.filter(|lang| !lang.is_empty()) {
        Some(lang) => lang.split(',').map(|tag| (tag.trim(), 1.0)).collect(),
        None => ranges(headers, &header::ACCEPT_LANGUAGE),
    };
    wanted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut languages: Vec<String> = Vec::new();
    for (tag, quality) in wanted {
        let primary = tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
        let sound = (2..=8).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
        if !sound && lang.is_some() {
            return Err(ApiError::bad_request(format!("{tag:?} is no language tag: lang=de,en")));
        }
        if sound && quality > 0.0 && languages.len() < LANGUAGES && !languages.contains(&primary) {
            languages.push(primary);
        }
    }
    if !languages.iter().any(|language| language == "en") {
        languages.push("en".to_owned());
    }
    Ok(languages)
}

/// The ranges of a header with their qualities.
fn ranges<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Vec<(&'h str, f32)> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(range).collect()
}

fn range(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok())?;
    Some((range, quality))
}

fn specificity(range: &str, offer: &str) -> Option<u8> {
    if range.eq_ignore_ascii_case(offer) {
        return Some(2);
    }
    if range == "*/*" {
        return Some(0);
    }
    let (kind, subtype) = range.split_once('/')?;
    (subtype == "*" && offer.split_once('/')?.0.eq_ignore_ascii_case(kind)).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        if !accept.is_empty() {
            headers.insert(header::ACCEPT, accept.parse().expect("a header"));
        }
        best(&headers, &["text/html", "text/turtle", "application/ld+json"])
    }

    #[test]
    fn languages_of_the_reader() {
        let wanted = |accepted: &str, lang: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, accepted.parse().expect("a header"));
            languages(&headers, lang).map(|languages| languages.join(" ")).map_err(|error| error.message)
        };
        for (accepted, lang, expected) in [
            ("*", None, "en"),
            ("de-AT,de;q=0.9,en;q=0.5,fr;q=0.7", None, "de fr en"),
            ("fr;q=0, nonsense-here, 7, it", None, "nonsense it en"),
            ("de", Some("ja"), "ja en"),
            ("de", Some("en,de-CH"), "en de"),
            ("a,ab,ac,ad,ae,af,ag,en", None, "ab ac ad ae af en"),
        ] {
            assert_eq!(wanted(accepted, lang), Ok(expected.to_owned()), "{accepted} {lang:?}");
        }
        assert!(wanted("de", Some("<b>")).is_err_and(|error| error.contains("lang=de,en")));
    }

    #[test]
    fn the_most_specific_range_decides() {
        for (accept, expected) in [
            ("", Some("text/html")),
            ("*/*", Some("text/html")),
            ("text/turtle", Some("text/turtle")),
            ("text/html;q=0.5, text/turtle", Some("text/turtle")),
            ("application/*", Some("application/ld+json")),
            ("text/html;q=0, */*", Some("text/turtle")),
            ("image/png", None),
            ("text/turtle;q=0.1, application/ld+json;q=0.2;x=y", Some("application/ld+json")),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
    }
}
