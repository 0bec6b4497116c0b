//! JSON-LD. A context named by IRI is never fetched: a few well-known ones are built in, any other counts as empty, and
//! the report says so.

use super::lines::TokenGuard;
use super::{Sink, shorten};
use oxjsonld::{JsonLdParseError, JsonLdParser, JsonLdRemoteDocument};
use oxrdf::Triple;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

/// After this many errors in a row without a triple between them a document is given up.
const ERRORS_IN_A_ROW: usize = 1000;

/// (prefix of the context's IRI, our context for it).
///
/// Written for this program from the vocabularies' definitions: terms and their types, no more.
const CONTEXTS: &[(&str, &str)] = &[
    ("http://schema.org", include_str!("contexts/schema.jsonld")),
    ("https://schema.org", include_str!("contexts/schema.jsonld")),
    ("http://www.w3.org/ns/dcat", include_str!("contexts/dcat.jsonld")),
    ("https://www.w3.org/ns/dcat", include_str!("contexts/dcat.jsonld")),
    ("https://semiceu.github.io/DCAT-AP/", include_str!("contexts/dcat.jsonld")),
    ("http://data.europa.eu/r5r", include_str!("contexts/dcat.jsonld")),
];

pub(super) fn read(reader: impl Read, base: &str, sink: &mut Sink<'_>) -> io::Result<()> {
    let missing = Arc::new(Mutex::new(Vec::<String>::new()));
    let asked = Arc::clone(&missing);
    let parser = JsonLdParser::new().lenient();
    let parser = parser.clone().with_base_iri(base).unwrap_or(parser);
    let guarded = TokenGuard::new(reader, b'"', sink.limits.token_bytes);
    let quads = parser.for_reader(guarded).with_load_document_callback(move |iri, _| {
        let known = CONTEXTS.iter().find(|(prefix, _)| iri.starts_with(prefix)).map(|(_, context)| *context);
        if known.is_none()
            && let Ok(mut missing) = asked.lock()
            && missing.len() < 100
            && !missing.iter().any(|m| m == iri)
        {
            missing.push(iri.to_owned());
        }
        let document = known.unwrap_or("{\"@context\": {}}").as_bytes().to_vec();
        Ok(JsonLdRemoteDocument { document, document_url: iri.to_owned() })
    });
    let mut errors_in_a_row = 0;
    for quad in quads {
        match quad {
            Ok(quad) => {
                errors_in_a_row = 0;
                sink.unchecked_triple(&Triple::new(quad.subject, quad.predicate, quad.object), None);
            }
            Err(JsonLdParseError::Io(error)) => return Err(error),
            Err(JsonLdParseError::Syntax(error)) => {
                errors_in_a_row += 1;
                let line = error.location().map(|location| location.start.line + 1);
                if line.is_some() || errors_in_a_row > ERRORS_IN_A_ROW {
                    sink.truncate(line, &error.to_string());
                    break;
                }
                sink.skip(None, error.to_string());
            }
        }
    }
    let missing = missing.lock().map(|missing| missing.clone()).unwrap_or_default();
    for iri in missing {
        let message =
            format!("the context <{}> is remote and never fetched: what its terms say was not read", shorten(&iri));
        sink.skip(None, message);
    }
    Ok(())
}
