//! `Link` headers of a dataset's page, for programs. <https://signposting.org/FAIR/>

use crate::portal::metadata::PortalMetadata;
use crate::text::{is_web, uri};
use axum::http::HeaderValue;
use lodeseek_engine::Card;
use lodeseek_rdf::{RdfSyntax, vocab};

/// Maximum numbers of linked files and authors. Reverse proxies may reject long headers.
const MAX_LINKS: usize = 10;

/// Returns the links of a page. `own` is the address of the page, `base` the first part of links.
pub(crate) fn links(
    described: &PortalMetadata,
    own: &str,
    base: &str,
    card: &Card,
) -> Vec<HeaderValue> {
    let page = uri(own);
    let mut links = vec![format_link(&uri(&described.iri), "cite-as", None)];
    for class in ["Dataset", "AboutPage"] {
        links.push(format_link(
            &format!("{}{class}", vocab::schema::NAMESPACE),
            "type",
            None,
        ));
    }
    for (name, syntax) in FORMS {
        let address = format!("{page}?format={name}");
        links.push(format_link(
            &address,
            "describedby",
            Some(syntax.media_type()),
        ));
        links.push(format_link(
            &address,
            "alternate",
            Some(syntax.media_type()),
        ));
    }
    let has_content = card.profile.triples > 0;
    // Content that exceeds memory was sampled, and has no shapes.
    let has_shapes = has_content && card.sampled_triples.is_none();
    for (part, _) in [("shapes", has_shapes), ("void", has_content)]
        .into_iter()
        .filter(|(_, exists)| *exists)
    {
        links.push(format_link(
            &format!("{page}/{part}"),
            "describedby",
            Some(RdfSyntax::Turtle.media_type()),
        ));
    }
    links.extend(
        web_addresses(described.licenses.iter())
            .map(|license| format_link(&uri(license), "license", None)),
    );
    let authors = described
        .creators
        .iter()
        .filter_map(|agent| agent.iri.as_ref());
    links.extend(
        web_addresses(authors)
            .take(MAX_LINKS)
            .map(|author| format_link(&uri(author), "author", None)),
    );
    for file in described.files.iter().take(MAX_LINKS) {
        if let Some(address) = described.address(file, base) {
            links.push(format_link(&uri(&address), "item", file.media().as_deref()));
        }
    }
    links.into_iter().flatten().collect()
}

const FORMS: [(&str, RdfSyntax); 4] = [
    ("ttl", RdfSyntax::Turtle),
    ("jsonld", RdfSyntax::JsonLd),
    ("nt", RdfSyntax::NTriples),
    ("rdf", RdfSyntax::RdfXml),
];

fn web_addresses<'t>(texts: impl Iterator<Item = &'t String>) -> impl Iterator<Item = &'t String> {
    texts.filter(|text| is_web(text))
}

fn format_link(address: &str, relation: &str, media_type: Option<&str>) -> Option<HeaderValue> {
    // Other characters could end the quoted string.
    let media_type = media_type
        .filter(|text| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"/+-._".contains(&byte))
        })
        .map(|kind| format!("; type=\"{kind}\""))
        .unwrap_or_default();
    HeaderValue::from_str(&format!("<{address}>; rel=\"{relation}\"{media_type}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_stay_within_their_quotes() {
        let text =
            |media_type| format_link("http://e.org/", "item", Some(media_type)).expect("a header");
        assert_eq!(
            text("text/turtle"),
            "<http://e.org/>; rel=\"item\"; type=\"text/turtle\""
        );
        assert_eq!(text("a\"; rel=\"author"), "<http://e.org/>; rel=\"item\"");
    }
}
