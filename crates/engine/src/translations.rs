//! The dictionary of a home, by which queries in other languages find its datasets. It is derived from labels in RDF:
//! two labels of a resource in different languages are translations of each other.

use super::EngineError;
use lodeseek_index::{Translations, TranslationsBuilder};
use lodeseek_rdf::{LABEL_PROPERTIES, TripleSink};
use lodeseek_store::{StoreError, read_checked, write_checked};
use oxrdf::{NamedOrBlankNodeRef, TermRef, TripleRef};
use rustc_hash::FxHashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Property of further labels, after those of [`LABEL_PROPERTIES`].
const ALT_LABEL: &str = "http://www.w3.org/2004/02/skos/core#altLabel";
/// Name of the dictionary in a home.
pub(super) const TRANSLATIONS_FILE: &str = "translations.tsv";

pub(super) fn translations_path(home: &Path) -> PathBuf {
    home.join(TRANSLATIONS_FILE)
}

/// Reads the dictionary of a home. Returns `None` if it has none.
///
/// # Errors
/// If the file is damaged or cannot be read.
pub fn read_translations(home: &Path) -> Result<Option<Translations>, EngineError> {
    let path = translations_path(home);
    let Some(body) = read_checked(&path)? else {
        return Ok(None);
    };
    match String::from_utf8(body).ok().and_then(Translations::parse) {
        Some(translations) => Ok(Some(translations)),
        None => Err(StoreError::DamagedFile { path }.into()),
    }
}

/// Replaces the dictionary of a home. A searcher reads it when it is opened.
///
/// # Errors
/// If the file cannot be written.
pub fn write_translations(home: &Path, dictionary: TranslationsBuilder) -> Result<(), EngineError> {
    Ok(write_checked(
        &translations_path(home),
        dictionary.into_text().as_bytes(),
    )?)
}

/// Removes the dictionary of a home. Returns true if there was one.
///
/// # Errors
/// If the file cannot be removed.
pub fn remove_translations(home: &Path) -> Result<bool, EngineError> {
    let path = translations_path(home);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(EngineError::Io { path, cause }),
    }
}

/// Collects the labels of the resources of RDF files.
#[derive(Default)]
pub struct LabelCollector {
    files: usize,
    /// Index of the labels of a resource. The key of a blank node begins with the number of its file.
    resources: FxHashMap<String, usize>,
    /// Labels of each resource, in the order of the files: it decides that of translations.
    labels: Vec<Vec<Label>>,
}

struct Label {
    is_preferred: bool,
    language: String,
    text: String,
}

impl TripleSink for LabelCollector {
    fn start_file(&mut self) {
        self.files += 1;
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        let TermRef::Literal(literal) = triple.object else {
            return;
        };
        let (Some(language), property) = (literal.language(), triple.predicate.as_str()) else {
            return;
        };
        let is_preferred = LABEL_PROPERTIES.contains(&property);
        if !is_preferred && property != ALT_LABEL {
            return;
        }
        let resource = match triple.subject {
            NamedOrBlankNodeRef::NamedNode(name) => name.as_str().to_owned(),
            NamedOrBlankNodeRef::BlankNode(node) => format!("{} {}", self.files, node.as_str()),
        };
        let label = Label {
            is_preferred,
            language: language.to_owned(),
            text: literal.value().to_owned(),
        };
        let place = *self.resources.entry(resource).or_insert(self.labels.len());
        if place == self.labels.len() {
            self.labels.push(Vec::new());
        }
        self.labels[place].push(label);
    }
}

impl LabelCollector {
    /// Returns the dictionary from the languages of the labels to given ones, as BCP 47 tags.
    #[must_use]
    pub fn into_dictionary<'t>(
        self,
        targets: impl IntoIterator<Item = &'t str>,
    ) -> TranslationsBuilder {
        let mut dictionary = TranslationsBuilder::new(targets);
        for mut labels in self.labels {
            labels.sort_by_key(|label| !label.is_preferred);
            dictionary.add(
                labels
                    .iter()
                    .map(|label| (label.language.as_str(), label.text.as_str())),
            );
        }
        dictionary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::dump::DumpReader;

    fn dictionary(turtle: &str) -> Translations {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("labels.ttl");
        fs::write(&path, turtle).expect("written");
        let mut labels = LabelCollector::default();
        DumpReader::default().read_file(&path, "labels.ttl", "file:///", &mut labels);
        Translations::parse(labels.into_dictionary(["en"]).into_text()).expect("a dictionary")
    }

    #[test]
    fn labels_of_a_resource_translate_each_other() {
        let translations = dictionary(
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
             <a> skos:altLabel \"N fertiliser\"@en ; skos:prefLabel \"Stickstoff\"@de, \"nitrogen\"@en, \"azote\"@fr-BE .
             [] skos:prefLabel \"Luft\"@de ; <http://example.org/comment> \"air\"@en .
             <b> skos:prefLabel \"Wasser\"@de, \"eau\"@fr .",
        );
        assert_eq!(
            translations.sources(),
            [("de", 1), ("fr", 1)],
            "{translations:?}"
        );
    }

    #[test]
    fn a_home_without_dictionary_has_none() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(read_translations(home.path()).expect("read").is_none());
        write_translations(
            home.path(),
            LabelCollector::default().into_dictionary(["en"]),
        )
        .expect("written");
        assert!(read_translations(home.path()).expect("read").is_some());
        fs::write(translations_path(home.path()), "0\nen\tde\n").expect("written");
        assert!(read_translations(home.path()).is_err(), "wrong checksum");
        assert!(remove_translations(home.path()).expect("removed"));
        assert!(!remove_translations(home.path()).expect("nothing to remove"));
    }
}
