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
    let mut links = vec![link(&uri(&described.iri), "cite-as", None)];
    for class in ["Dataset", "AboutPage"] {
        links.push(link(
            &format!("{}{class}", vocab::schema::NAMESPACE),
            "type",
            None,
        ));
    }
    for (name, syntax) in FORMS {
        let address = format!("{page}?format={name}");
        links.push(link(&address, "describedby", Some(syntax.media_type())));
        links.push(link(&address, "alternate", Some(syntax.media_type())));
    }
    let has_content = card.profile.triples > 0;
    // Content that exceeds memory was sampled, and has no shapes.
    let has_shapes = has_content && card.sampled_triples.is_none();
    for (part, _) in [("shapes", has_shapes), ("void", has_content)]
        .into_iter()
        .filter(|(_, exists)| *exists)
    {
        links.push(link(
            &format!("{page}/{part}"),
            "describedby",
            Some(RdfSyntax::Turtle.media_type()),
        ));
    }
    links
        .extend(web(described.licenses.iter()).map(|license| link(&uri(license), "license", None)));
    let authors = described
        .creators
        .iter()
        .filter_map(|agent| agent.iri.as_ref());
    links.extend(
        web(authors)
            .take(MAX_LINKS)
            .map(|author| link(&uri(author), "author", None)),
    );
    for file in described.files.iter().take(MAX_LINKS) {
        if let Some(address) = described.address(file, base) {
            links.push(link(&uri(&address), "item", file.media().as_deref()));
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

fn web<'t>(texts: impl Iterator<Item = &'t String>) -> impl Iterator<Item = &'t String> {
    texts.filter(|text| is_web(text))
}

fn link(address: &str, relation: &str, media_type: Option<&str>) -> Option<HeaderValue> {
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
        let text = |media_type| link("http://e.org/", "item", Some(media_type)).expect("a header");
        assert_eq!(
            text("text/turtle"),
            "<http://e.org/>; rel=\"item\"; type=\"text/turtle\""
        );
        assert_eq!(text("a\"; rel=\"author"), "<http://e.org/>; rel=\"item\"");
    }
}
