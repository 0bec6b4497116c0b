//! Human-readable labels of terms, and formatting of texts and numbers.
//!
//! There are two kinds of labels. Labels for *indexing* follow ACORDAR: `rdfs:label`, or the local name if there is none.
//! Labels for *display* use more properties, prefer the reader's languages over the better property, and split local
//! names into words (`hasPart` → “has part”).

use super::language::language_rank;
use super::triples::{TermId, TermRef, Triple, TripleGraph};
use super::vocab::{PREFIXES, dc11, dcterms, foaf, rdf, rdfs, skos};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Label properties, best first.
pub const LABEL_PROPERTIES: &[&str] = &[
    rdfs::LABEL,
    skos::PREF_LABEL,
    dcterms::TITLE,
    foaf::NAME,
    "http://schema.org/name",
    "https://schema.org/name",
    dc11::TITLE,
];

/// Returns the local name of an IRI: the part after the last `#`, `/` or `:`. Trailing separators are ignored.
///
/// ```
/// use lodeseek_rdf::local_name;
/// assert_eq!(local_name("http://www.w3.org/2002/07/owl#Class"), "Class");
/// assert_eq!(local_name("http://example.org/city/"), "city");
/// assert_eq!(local_name("urn:isbn:123"), "123");
/// ```
#[must_use]
pub fn local_name(iri: &str) -> &str {
    let trimmed = iri.trim_end_matches(['#', '/', ':']);
    let name = trimmed.rsplit(['#', '/', ':']).next().unwrap_or(trimmed);
    if name.is_empty() { iri } else { name }
}

/// Returns the namespace of an IRI: the part up to the last `#` or `/`. `None` if the IRI has no local name after it.
#[must_use]
pub fn namespace(iri: &str) -> Option<&str> {
    let end = iri.rfind('#').or_else(|| iri.rfind('/'))? + 1;
    (end < iri.len() && !iri[..end].ends_with("://")).then(|| &iri[..end])
}

/// Returns the short form of an IRI: `foaf:Person` if its namespace is in [`PREFIXES`], otherwise the local name.
///
/// ```
/// use lodeseek_rdf::to_prefixed_name;
/// assert_eq!(to_prefixed_name("http://xmlns.com/foaf/0.1/Person"), "foaf:Person");
/// assert_eq!(to_prefixed_name("http://example.org/ns#City"), "City");
/// assert_eq!(to_prefixed_name("http://example.org/"), "http://example.org/");
/// ```
#[must_use]
pub fn to_prefixed_name(iri: &str) -> String {
    let in_namespace = PREFIXES
        .iter()
        .find_map(|(prefix, namespace)| Some((prefix, iri.strip_prefix(namespace)?)));
    match in_namespace {
        Some((prefix, name)) if !name.is_empty() && !name.contains(['/', '#']) => {
            format!("{prefix}:{name}")
        }
        _ if iri.ends_with(['/', '#']) => iri.to_owned(),
        _ => local_name(iri).to_owned(),
    }
}

/// Puts a text on one line: runs of white space and control characters become single spaces.
///
/// ```
/// use lodeseek_rdf::on_one_line;
/// assert_eq!(on_one_line(" a\n\tb\u{7}c "), "a b c");
/// ```
#[must_use]
pub fn on_one_line(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Formats a number with commas between groups of three digits.
///
/// ```
/// use lodeseek_rdf::grouped;
/// assert_eq!([grouped(7), grouped(999), grouped(1_234_567)], ["7", "999", "1,234,567"]);
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Splits a local name into words at `_`, `-`, `+` and changes of case or digits, after percent-decoding.
///
/// ```
/// use lodeseek_rdf::words;
/// assert_eq!(words("hasBoreholeDepth"), "has Borehole Depth");
/// assert_eq!(words("RDFSchema_v2"), "RDF Schema v2");
/// assert_eq!(words("S%C3%A3o_Paulo"), "São Paulo");
/// ```
#[must_use]
pub fn words(name: &str) -> String {
    let decoded = percent_decode(name);
    let characters: Vec<char> = decoded.chars().collect();
    let mut out = String::with_capacity(decoded.len() + 4);
    for (place, &character) in characters.iter().enumerate() {
        if matches!(character, '_' | '-' | '+' | ' ') {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
            continue;
        }
        let previous = place.checked_sub(1).map(|place| characters[place]);
        let next = characters.get(place + 1);
        let starts_word = previous.is_some_and(|previous| {
            character.is_uppercase()
                && (previous.is_lowercase()
                    || previous.is_numeric()
                    || previous.is_uppercase() && next.is_some_and(|next| next.is_lowercase()))
        });
        if starts_word && !out.ends_with(' ') {
            out.push(' ');
        }
        out.push(character);
    }
    out.trim_end().to_owned()
}

/// Returns a text without percent-encoding; unchanged if the bytes are not UTF-8.
#[must_use]
pub fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        let decoded = (bytes[place] == b'%')
            .then(|| text.get(place + 1..place + 3))
            .flatten()
            .filter(|hex| hex.bytes().all(|c| c.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match decoded {
            Some(byte) => {
                out.push(byte);
                place += 3;
            }
            None => {
                out.push(bytes[place]);
                place += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Text in place of the label of a term that has none.
pub const NO_LABEL: &str = "[…]";

/// Labels of the terms of a graph, selected in advance.
#[derive(Debug)]
pub struct Labels<'g> {
    graph: &'g TripleGraph,
    chosen: FxHashMap<TermId, TermId>,
    as_words: bool,
}

impl<'g> Labels<'g> {
    /// Selects labels for indexing, as in ACORDAR: `rdfs:label` (English, then untagged, then any), or the local name.
    #[must_use]
    pub fn for_index(graph: &'g TripleGraph) -> Self {
        Self {
            graph,
            chosen: choose_labels(graph, graph.triples(), &[rdfs::LABEL], &["en"]),
            as_words: false,
        }
    }

    /// Selects labels for display: from [`LABEL_PROPERTIES`] in the preferred languages, or the words of the local name.
    #[must_use]
    pub fn for_display(graph: &'g TripleGraph, languages: &[&str]) -> Self {
        Self {
            graph,
            chosen: choose_labels(graph, graph.triples(), LABEL_PROPERTIES, languages),
            as_words: true,
        }
    }

    /// Selects labels for display for the given terms only. Only the triples of these terms are read.
    #[must_use]
    pub fn for_terms(
        graph: &'g TripleGraph,
        languages: &[&str],
        terms: impl IntoIterator<Item = TermId>,
    ) -> Self {
        let mut parts = Vec::new();
        terms
            .into_iter()
            .for_each(|id| graph.each_part(id, &mut |part| parts.push(part)));
        let terms: BTreeSet<TermId> = parts
            .into_iter()
            .filter(|&id| graph.is_resource(id))
            .collect();
        let triples = terms.into_iter().flat_map(|id| graph.subject_triples(id));
        Self {
            graph,
            chosen: choose_labels(graph, triples, LABEL_PROPERTIES, languages),
            as_words: true,
        }
    }

    /// Returns the literal that labels a term, or `None` if the label is derived from the term's own text.
    #[must_use]
    pub fn label_term(&self, id: TermId) -> Option<TermId> {
        self.chosen.get(&id).copied()
    }

    /// Returns the label of an IRI, the lexical form of a literal, or the labels of a triple term's parts between `<<(` and
    /// `)>>`. `None` for a blank node without a label.
    #[must_use]
    pub fn label(&self, id: TermId) -> Option<String> {
        if let Some(&label) = self.chosen.get(&id) {
            return Some(self.graph.term(label).text().to_owned());
        }
        match self.graph.term(id) {
            TermRef::Literal { lexical, .. } => Some(lexical.to_owned()),
            TermRef::Iri(rdf::TYPE) if self.as_words => Some("a".to_owned()),
            TermRef::Iri(iri) if self.as_words => Some(words(local_name(iri))),
            TermRef::Iri(iri) => Some(local_name(iri).to_owned()),
            TermRef::Blank(_) => None,
            TermRef::Triple(triple) => {
                let [subject, predicate, object] =
                    [triple.subject, triple.predicate, triple.object]
                        .map(|id| self.label(id).unwrap_or_else(|| NO_LABEL.to_owned()));
                Some(format!("<<( {subject} {predicate} {object} )>>"))
            }
        }
    }
}

/// Selects the label literal of each subject with the best (language, property, text), in one pass over the triples.
fn choose_labels<'t>(
    graph: &TripleGraph,
    triples: impl IntoIterator<Item = &'t Triple>,
    properties: &[&str],
    languages: &[&str],
) -> FxHashMap<TermId, TermId> {
    let properties: FxHashMap<TermId, usize> = properties
        .iter()
        .enumerate()
        .filter_map(|(rank, iri)| Some((graph.iri(iri)?, rank)))
        .collect();
    let mut best: FxHashMap<TermId, ((usize, usize), TermId)> = FxHashMap::default();
    if properties.is_empty() {
        return FxHashMap::default();
    }
    for triple in triples {
        let Some(&property) = properties.get(&triple.predicate) else {
            continue;
        };
        let TermRef::Literal { lexical, kind } = graph.term(triple.object) else {
            continue;
        };
        if lexical.trim().is_empty() {
            continue;
        }
        // The identifier decides ties, so that the label does not depend on the order of the file.
        let candidate = (
            (language_rank(kind.language(), languages), property),
            triple.object,
        );
        best.entry(triple.subject)
            .and_modify(|best| *best = (*best).min(candidate))
            .or_insert(candidate);
    }
    best.into_iter()
        .map(|(subject, (_, label))| (subject, label))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_language_comes_first() {
        use crate::TripleGraphBuilder;
        use oxrdf::{Literal, NamedNode, Triple as OxTriple};
        let mut builder = TripleGraphBuilder::new();
        let mut say = |subject: &str, property: &str, text: &str, language: &str| {
            let literal = match language {
                "" => Literal::new_simple_literal(text),
                tag => Literal::new_language_tagged_literal_unchecked(text, tag),
            };
            let node = NamedNode::new_unchecked;
            builder.insert(OxTriple::new(node(subject), node(property), literal).as_ref());
        };
        say("ex:soil", rdfs::LABEL, "soil", "en");
        say("ex:soil", skos::PREF_LABEL, "Boden", "de-at");
        say("ex:soil", rdfs::LABEL, "suolo", "it");
        say("ex:clay", rdfs::LABEL, "argile", "fr");
        say("ex:clay", foaf::NAME, "clay", "");
        let graph = builder.finish();
        let label = |languages: &[&str], iri: &str| {
            let id = graph.iri(iri).expect("a term");
            let (all, few) = (
                Labels::for_display(&graph, languages),
                Labels::for_terms(&graph, languages, [id]),
            );
            assert_eq!(all.label(id), few.label(id));
            all.label(id).expect("a label")
        };
        assert_eq!(
            (label(&["en"], "ex:soil"), label(&["de", "en"], "ex:soil")),
            ("soil".into(), "Boden".into())
        );
        assert_eq!(label(&["pl", "it"], "ex:soil"), "suolo");
        assert_eq!(
            (label(&["en"], "ex:clay"), label(&["fr", "en"], "ex:clay")),
            ("clay".into(), "argile".into())
        );
        assert_eq!(
            label(&["fr"], "ex:soil"),
            "soil",
            "no order among other languages but that of properties"
        );
    }

    #[test]
    fn names_of_odd_iris() {
        assert_eq!(local_name("http://"), "http");
        assert_eq!(local_name("x"), "x");
        assert_eq!(namespace("http://example.org"), None);
        assert_eq!(
            namespace("http://example.org/a#b"),
            Some("http://example.org/a#")
        );
        assert_eq!(words(""), "");
        assert_eq!(words("100%"), "100%");
        assert_eq!(words("%zz"), "%zz");
    }
}
