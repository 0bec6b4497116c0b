//! Test that templates contain no texts of their own: all are in the message catalogues.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names that are the same in every language.
const NAMES: [&str; 24] = [
    "API",
    "BibTeX",
    "CSL-JSON",
    "CSV",
    "Assessment",
    "IRI",
    "JSON",
    "JSON-LD",
    "LIKE",
    "Metadata",
    "N-Triples",
    "OpenAPI",
    "POST",
    "Quality",
    "RDF/XML",
    "RIS",
    "SHACL",
    "SPARQL",
    "SVG",
    "TSV",
    "Turtle",
    "VoID",
    "XML",
    "JSON-LD",
];

/// Templates whose texts are English on purpose, marked by `lang="en"`: the pages of the operator.
const ENGLISH: [&str; 12] = [
    "operator.html",
    "operator-audit.html",
    "operator-backup.html",
    "operator-dataset.html",
    "operator-datasets.html",
    "operator-error.html",
    "operator-jobs.html",
    "operator-login.html",
    "operator-nav.html",
    "operator-searches.html",
    "operator-sources.html",
    "operator-upload.html",
];

/// Attributes with texts for readers.
const ATTRIBUTES: [&str; 4] = ["title", "aria-label", "alt", "placeholder"];

/// Removes all parts of a text from `start` to `end`.
fn remove_parts(text: &str, start: &str, end: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(start) {
        kept += before;
        kept.push(' ');
        rest = match after.split_once(end) {
            Some((_, rest)) => rest,
            None => "",
        };
    }
    kept + rest
}

/// Returns the texts of a template that no message provides.
fn literal_texts(template: &str) -> BTreeSet<String> {
    let mut text = template.to_owned();
    for (start, end) in [
        ("{%", "%}"),
        ("{{", "}}"),
        ("{#", "#}"),
        ("<pre>", "</pre>"),
        ("<code>", "</code>"),
    ] {
        text = remove_parts(&text, start, end);
    }
    let mut texts = vec![remove_parts(&text, "<", ">")];
    for attribute in ATTRIBUTES {
        let start = format!(" {attribute}=\"");
        let values = text.split(&start).skip(1);
        let values = values.filter_map(|rest| rest.split('"').next());
        texts.extend(
            values
                .filter(|value| !value.starts_with("@prefix"))
                .map(str::to_owned),
        );
    }
    let mut words = BTreeSet::new();
    for word in texts
        .iter()
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || "()[],.:;·–—|&#".contains(c)))
    {
        let is_word = word.chars().filter(|c| c.is_alphabetic()).count() > 1;
        if is_word && !NAMES.contains(&word) && !["nbsp", "amp"].contains(&word) {
            words.insert(word.to_owned());
        }
    }
    words
}

#[test]
fn templates_contain_no_untranslated_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut templates = 0;
    for entry in fs::read_dir(folder).expect("templates") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".html") {
            continue;
        }
        let template = fs::read_to_string(&path).expect("a template");
        if ENGLISH.contains(&name.as_str()) {
            assert!(template.contains("lang=\"en\""), "{name} has no language");
            continue;
        }
        templates += 1;
        assert_eq!(
            literal_texts(&template),
            BTreeSet::new(),
            "{name}: move these texts to messages/*.ftl"
        );
    }
    assert!(templates > 15, "{templates} templates");
}

#[test]
fn literal_texts_are_recognized() {
    let template = "{% if x %}<p title=\"A tip\" class=\"note\">{{ page.text(\"id\") }} of Turtle, 12</p>{% endif %}<pre>code</pre>";
    let words: Vec<String> = literal_texts(template).into_iter().collect();
    assert_eq!(words, ["of", "tip"]);
}
