//! Content negotiation by `Accept` (RFC 9110, 12.5.1).

use axum::http::{HeaderMap, header};

/// The offer a client likes best; the first one where it says nothing. `None` where it accepts none of them.
///
/// An offer's quality is that of the most specific range that covers it; equal qualities: the earlier offer.
pub(super) fn best<'o>(headers: &HeaderMap, offers: &[&'o str]) -> Option<&'o str> {
    let accept: Vec<&str> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let ranges: Vec<(&str, f32)> = accept.iter().flat_map(|value| value.split(',')).filter_map(range).collect();
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
