//! Content negotiation by `Accept` and `Accept-Language` (RFC 9110, 12.5.1 and 12.5.4), and validation of what clients have.
//!
//! Every function that reads such a header records it, and [`set_vary`] adds the recorded ones to `Vary`. So responses of all kinds
//! state what they depend on: errors, redirects, pages.

use crate::error::ApiError;
use crate::localized::primary_subtag;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use lodeseek_rdf::{RdfForm, RdfSyntax, RdfVersion};
use std::sync::{Arc, Mutex, PoisonError};

/// Media types of web pages.
pub(crate) const PAGES: [&str; 2] = ["text/html", "application/xhtml+xml"];
const JSON: &str = "application/json";

tokio::task_local! {
    /// Headers that chose the response to the request of this task.
    static CHOOSING_HEADERS: Arc<Mutex<Vec<HeaderName>>>;
}

/// Returns true if a client has the content with an entity tag: `If-None-Match` (RFC 9110, 13.1.2), compared weakly.
pub(crate) fn matches_tag(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok());
    known
        .flat_map(|value| value.split(','))
        .any(|known| known.trim() == "*" || opaque_tag(known) == opaque_tag(tag))
}

/// Returns an entity tag without the mark of weak ones.
fn opaque_tag(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

/// Adds the headers that chose the response to its `Vary`. Without them, a shared cache would send the response to clients that would
/// get another one.
pub(crate) async fn set_vary(request: Request, next: Next) -> Response {
    let chosen_by = Arc::<Mutex<Vec<HeaderName>>>::default();
    let mut response = CHOOSING_HEADERS
        .scope(Arc::clone(&chosen_by), next.run(request))
        .await;
    let names: Vec<HeaderName> =
        std::mem::take(&mut *chosen_by.lock().unwrap_or_else(PoisonError::into_inner));
    if !names.is_empty()
        && let Ok(value) = HeaderValue::from_str(
            &names
                .iter()
                .map(HeaderName::as_str)
                .collect::<Vec<_>>()
                .join(", "),
        )
    {
        response.headers_mut().append(header::VARY, value);
    }
    response
}

/// Records that a header chooses the response. Requests within the server have no response of their own.
fn record_choice(name: &HeaderName) {
    let _ = CHOOSING_HEADERS.try_with(|names| {
        let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(name) {
            names.push(name.clone());
        }
    });
}

/// Returns the offer with the highest quality in `Accept`, and the first offer if the header is missing. `None` if the
/// client accepts none.
///
/// The quality of an offer is that of the most specific media range that matches it. Equal qualities: the earlier offer.
pub(crate) fn best<'o>(headers: &HeaderMap, offers: &[&'o str]) -> Option<&'o str> {
    let ranges = ranges(headers, &header::ACCEPT);
    if ranges.is_empty() {
        return offers.first().copied();
    }
    let mut best = None;
    let mut best_quality = 0.0;
    for offer in offers {
        let quality = offer_quality(offer, &ranges);
        // Strictly greater: of equal offers, the first one stays. A quality of 0 excludes an offer (RFC 9110, 12.4.2).
        if quality > best_quality {
            best = Some(*offer);
            best_quality = quality;
        }
    }
    best
}

/// Returns the quality of the most specific media range that matches an offer; 0 without one.
fn offer_quality(offer: &str, ranges: &[(&str, f32)]) -> f32 {
    let matching = ranges
        .iter()
        .filter_map(|(range, quality)| Some((range_specificity(range, offer)?, *quality)));
    match matching.max_by_key(|(specificity, _)| *specificity) {
        Some((_, quality)) => quality,
        None => 0.0,
    }
}

/// Chooses between a page (`None`) and an RDF syntax: by the parameter `format`, else by `Accept`. An unknown `format` is an error only if
/// `Accept` names no RDF syntax: browsers name pages in all requests.
pub(crate) fn page_or_syntax(
    format: Option<&str>,
    headers: &HeaderMap,
) -> Result<Option<RdfForm>, ApiError> {
    match format {
        Some("html") => Ok(None),
        Some(name) => match RdfSyntax::from_name(name) {
            Some(syntax) => Ok(Some(named_form(syntax, name, headers))),
            None => named_syntax(headers)
                .map(Some)
                .ok_or_else(|| ApiError::unknown_format(name, "html, ttl, jsonld, nt, rdf")),
        },
        None => {
            let offers: Vec<&str> = PAGES
                .into_iter()
                .chain(RdfSyntax::ALL.map(RdfSyntax::media_type))
                .collect();
            let chosen = best(headers, &offers).ok_or_else(|| ApiError::not_acceptable(&offers))?;
            Ok(RdfSyntax::from_name(chosen).map(|syntax| accepted_form(syntax, headers)))
        }
    }
}

/// A form of a resource that has a page, RDF and JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Representation {
    Page,
    Rdf(RdfForm),
    Json,
}

/// Chooses a form: by the parameter `format`, else by `Accept`. Among equal qualities JSON is the last, so that clients of linked data
/// that also accept JSON get JSON-LD. An unknown `format` is an error only if `Accept` names neither RDF nor JSON.
pub(crate) fn choose_representation(
    format: Option<&str>,
    headers: &HeaderMap,
) -> Result<Representation, ApiError> {
    match format {
        Some("json") => Ok(Representation::Json),
        Some("html") => Ok(Representation::Page),
        Some(name) => match RdfSyntax::from_name(name) {
            Some(syntax) => Ok(Representation::Rdf(named_form(syntax, name, headers))),
            None => match named_syntax(headers) {
                Some(form) => Ok(Representation::Rdf(form)),
                None if is_named(headers, JSON) => Ok(Representation::Json),
                None => Err(ApiError::unknown_format(
                    name,
                    "html, json, ttl, jsonld, nt, rdf",
                )),
            },
        },
        None => {
            let offers: Vec<&str> = PAGES
                .into_iter()
                .chain(RdfSyntax::ALL.map(RdfSyntax::media_type))
                .chain([JSON])
                .collect();
            let chosen = best(headers, &offers).ok_or_else(|| ApiError::not_acceptable(&offers))?;
            Ok(match RdfSyntax::from_name(chosen) {
                Some(syntax) => Representation::Rdf(accepted_form(syntax, headers)),
                None if chosen == JSON => Representation::Json,
                None => Representation::Page,
            })
        }
    }
}

/// Chooses between JSON (`None`) and an RDF syntax: by the parameter `format`, else by `Accept`.
pub(crate) fn json_or_syntax(
    format: Option<&str>,
    headers: &HeaderMap,
) -> Result<Option<RdfForm>, ApiError> {
    match format {
        Some("json") => Ok(None),
        Some(name) => match RdfSyntax::from_name(name) {
            Some(syntax) => Ok(Some(named_form(syntax, name, headers))),
            None if is_named(headers, JSON) => json_or_syntax(None, headers),
            None => named_syntax(headers)
                .map(Some)
                .ok_or_else(|| ApiError::unknown_format(name, "json, ttl, jsonld, nt, rdf")),
        },
        None => {
            let offers: Vec<&str> = [JSON]
                .into_iter()
                .chain(RdfSyntax::ALL.map(RdfSyntax::media_type))
                .collect();
            let chosen = best(headers, &offers).ok_or_else(|| ApiError::not_acceptable(&offers))?;
            Ok(RdfSyntax::from_name(chosen).map(|syntax| accepted_form(syntax, headers)))
        }
    }
}

/// Returns the best RDF syntax that `Accept` names without a wildcard.
fn named_syntax(headers: &HeaderMap) -> Option<RdfForm> {
    let offers: Vec<&str> = RdfSyntax::ALL
        .map(RdfSyntax::media_type)
        .into_iter()
        .filter(|media_type| is_named(headers, media_type))
        .collect();
    let chosen = best(headers, &offers)?;
    RdfSyntax::from_name(chosen).map(|syntax| accepted_form(syntax, headers))
}

/// Returns a media type without its parameters.
pub(crate) fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Returns the value of a parameter of a media type.
pub(crate) fn parameter<'t>(content_type: &'t str, name: &str) -> Option<&'t str> {
    let mut parameters = content_type
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='));
    let (_, value) = parameters.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches('"'))
}

/// Returns the form of a syntax in the requested version.
pub(crate) fn accepted_form(syntax: RdfSyntax, headers: &HeaderMap) -> RdfForm {
    RdfForm {
        syntax,
        version: requested_version(headers, syntax.media_type()),
    }
}

/// Returns the form of a syntax that the parameter `format` names. It may contain the version.
pub(crate) fn named_form(syntax: RdfSyntax, name: &str, headers: &HeaderMap) -> RdfForm {
    match parameter(name, "version").and_then(RdfVersion::from_number) {
        Some(version) => RdfForm { syntax, version },
        None => accepted_form(syntax, headers),
    }
}

/// Returns the version of RDF that a client requests with a media type: that of its range with the highest quality, else RDF 1.1.
pub(crate) fn requested_version(headers: &HeaderMap, media_type: &str) -> RdfVersion {
    let mut best = (RdfVersion::V11, 0.0);
    for range in
        accept_ranges(headers).filter(|range| essence(range).eq_ignore_ascii_case(media_type))
    {
        let quality = parse_quality(range).unwrap_or(0.0);
        let version = parameter(range, "version")
            .and_then(RdfVersion::from_number)
            .unwrap_or_default();
        if quality > best.1 || quality == best.1 && quality > 0.0 && version != RdfVersion::V11 {
            best = (version, quality);
        }
    }
    best.0
}

/// Returns true if `Accept` names a media type without a wildcard.
pub(crate) fn is_named(headers: &HeaderMap, media_type: &str) -> bool {
    accept_ranges(headers).any(|range| essence(range).eq_ignore_ascii_case(media_type))
}

fn accept_ranges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    record_choice(&header::ACCEPT);
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(','))
}

/// Maximum number of languages.
const MAX_LANGUAGES: usize = 5;

/// Returns the preferred languages, best first, as primary subtags: those of the parameter `lang` (`de,en`), else those of
/// `Accept-Language`. English is appended because most data have English texts.
pub(crate) fn languages(headers: &HeaderMap, lang: Option<&str>) -> Result<Vec<String>, ApiError> {
    let mut requested = match lang.filter(|lang| !lang.is_empty()) {
        Some(lang) => lang.split(',').map(|tag| (tag.trim(), 1.0)).collect(),
        None => ranges(headers, &header::ACCEPT_LANGUAGE),
    };
    // A stable sort: equal qualities keep the order of the header.
    requested.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut languages: Vec<String> = Vec::new();
    for (tag, quality) in requested {
        let primary = primary_subtag(tag).to_ascii_lowercase();
        let is_valid = (2..=8).contains(&primary.len())
            && primary.bytes().all(|byte| byte.is_ascii_lowercase());
        if !is_valid && lang.is_some() {
            return Err(ApiError::bad_request(format!(
                "{tag:?} is not a language tag; example: lang=de,en"
            )));
        }
        if is_valid
            && quality > 0.0
            && languages.len() < MAX_LANGUAGES
            && !languages.contains(&primary)
        {
            languages.push(primary);
        }
    }
    if !languages.iter().any(|language| language == "en") {
        languages.push("en".to_owned());
    }
    Ok(languages)
}

/// Parses the ranges of a header with their qualities.
pub(crate) fn ranges<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Vec<(&'h str, f32)> {
    record_choice(name);
    let values = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .filter_map(parse_range)
        .collect()
}

fn parse_range(text: &str) -> Option<(&str, f32)> {
    let range = Some(essence(text)).filter(|range| !range.is_empty())?;
    Some((range, parse_quality(text)?))
}

/// Returns the quality of a range. `None` if it is not a number.
fn parse_quality(range: &str) -> Option<f32> {
    match parameter(range, "q") {
        Some(quality) => quality.parse().ok(),
        None => Some(1.0),
    }
}

fn range_specificity(range: &str, offer: &str) -> Option<u8> {
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

    type Choice = Result<Option<RdfForm>, ApiError>;

    fn chosen(accept: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        if !accept.is_empty() {
            headers.insert(header::ACCEPT, accept.parse().expect("a header"));
        }
        best(
            &headers,
            &["text/html", "text/turtle", "application/ld+json"],
        )
    }

    #[test]
    fn an_unknown_format_leaves_the_choice_to_accept() {
        let media_type = |accept: &'static str, choose: fn(Option<&str>, &HeaderMap) -> Choice| {
            let headers =
                HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            choose(Some("unknown"), &headers)
                .map(|form| form.map(|form| form.syntax.media_type()))
                .map_err(|error| error.status)
        };
        let pages: fn(Option<&str>, &HeaderMap) -> Choice = page_or_syntax;
        let json: fn(Option<&str>, &HeaderMap) -> Choice = json_or_syntax;
        for (accept, choose, expected) in [
            ("text/turtle", pages, Some(Some("text/turtle"))),
            (
                "text/turtle;q=0.5, application/ld+json, */*;q=0.1",
                pages,
                Some(Some("application/ld+json")),
            ),
            ("text/html, */*;q=0.8", pages, None),
            ("*/*", pages, None),
            ("text/turtle;q=0", pages, None),
            (
                "application/n-triples",
                json,
                Some(Some("application/n-triples")),
            ),
            ("application/json", json, Some(None)),
            ("*/*", json, None),
        ] {
            assert_eq!(media_type(accept, choose).ok(), expected, "{accept}");
        }
    }

    #[test]
    fn json_is_the_last_of_equal_forms() {
        let json = Some(Representation::Json);
        let page = Some(Representation::Page);
        let rdf = |syntax| {
            let version = RdfVersion::V11;
            Some(Representation::Rdf(RdfForm { syntax, version }))
        };
        for (format, accept, expected) in [
            (None, "application/json", json),
            (None, "application/json, */*;q=0.1", json),
            (None, "application/json, text/plain, */*", page),
            (
                None,
                "application/ld+json, application/json",
                rdf(RdfSyntax::JsonLd),
            ),
            (None, "application/json, text/turtle;q=0.5", json),
            (None, "text/html, */*;q=0.8", page),
            (None, "*/*", page),
            (None, "image/png", None),
            (Some("json"), "text/html", json),
            (Some("html"), "application/json", page),
            (Some("ttl"), "application/json", rdf(RdfSyntax::Turtle)),
            (Some("unknown"), "application/json", json),
            (Some("unknown"), "text/turtle", rdf(RdfSyntax::Turtle)),
            (Some("unknown"), "text/html", None),
        ] {
            let headers =
                HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            let chosen = choose_representation(format, &headers).ok();
            assert_eq!(chosen, expected, "{format:?} {accept}");
        }
    }

    #[test]
    fn languages_of_the_reader() {
        let wanted = |accepted: &str, lang: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, accepted.parse().expect("a header"));
            languages(&headers, lang)
                .map(|languages| languages.join(" "))
                .map_err(|error| error.message)
        };
        for (accepted, lang, expected) in [
            ("*", None, "en"),
            ("de-AT,de;q=0.9,en;q=0.5,fr;q=0.7", None, "de fr en"),
            ("fr;q=0, nonsense-here, 7, it", None, "nonsense it en"),
            ("de", Some("ja"), "ja en"),
            ("de", Some("en,de-CH"), "en de"),
            ("a,ab,ac,ad,ae,af,ag,en", None, "ab ac ad ae af en"),
        ] {
            assert_eq!(
                wanted(accepted, lang),
                Ok(expected.to_owned()),
                "{accepted} {lang:?}"
            );
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
            (
                "text/turtle;q=0.1, application/ld+json;q=0.2;x=y",
                Some("application/ld+json"),
            ),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
    }
}
