//! The dictionary of a home, by which queries in other languages find its datasets. It is derived from labels in RDF:
//! two labels of a resource in different languages are translations of each other.
//!
//! It has two files. `labels.tsv` has the labels of the collection itself: the indexer writes it. `translations.tsv` has those of
//! files that the operator named. They are merged when they are read. The translations of the collection come first.
//!
//! The *languages of the collection*, into which queries are translated, are those that the operator named, else every language of
//! at least a quarter of the datasets, at least the most frequent one, by the tags of their titles and descriptions. The language
//! of a text without a tag is detected. English, if none is known.

use super::EngineError;
use lodeseek_catalog::{DatasetId, Text};
use lodeseek_index::{Analysis, AnalysisKind, Translations, TranslationsBuilder};
use lodeseek_rdf::{LABEL_PROPERTIES, TripleSink, corrected_language_code};
use lodeseek_store::{Entry, Store, StoreError, read_checked, write_checked};
use oxrdf::{NamedOrBlankNodeRef, TermRef, TripleRef};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Property of further labels, after those of [`LABEL_PROPERTIES`].
const ALT_LABEL: &str = "http://www.w3.org/2004/02/skos/core#altLabel";
/// Minimum share of the datasets of a language of the collection: 1/4.
const MIN_SHARE_DIVISOR: usize = 4;
/// Maximum number of datasets whose languages decide whether a collection is multilingual. They are spread evenly over it. Each `index` of
/// a collection in English alone counts them; the standard error of a tenth is 1/100.
const MAX_ASSESSED_DATASETS: usize = 1_000;
/// Minimum share of the datasets in other languages than English of a multilingual collection: 1/10.
const MIN_MULTILINGUAL_DIVISOR: usize = 10;
/// Maximum number of resources whose labels are in the dictionary of the collection.
const MAX_RESOURCES: usize = 2_000_000;

/// A file of the dictionary of a home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DictionaryFile {
    /// Labels of the collection itself.
    Own,
    /// Labels of the files that the operator named.
    Operator,
}

impl DictionaryFile {
    /// Both files, that of the collection first.
    pub const ALL: [Self; 2] = [Self::Own, Self::Operator];

    /// Returns the name in a home.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "labels.tsv",
            Self::Operator => "translations.tsv",
        }
    }

    /// Returns the path in a home.
    pub(super) fn path(self, home: &Path) -> PathBuf {
        home.join(self.name())
    }
}

/// Reads the dictionary of a home, merged from its files. Returns `None` if it has none.
///
/// # Errors
/// If a file is damaged or cannot be read.
pub fn read_translations(home: &Path) -> Result<Option<Translations>, EngineError> {
    let [own, operator] = DictionaryFile::ALL.map(|file| read_dictionary(home, file));
    Ok(match (own?, operator?) {
        (Some(own), Some(operator)) => Some(own.merge(operator)),
        (own, operator) => own.or(operator),
    })
}

/// Reads a file of the dictionary of a home. Returns `None` if it does not exist.
///
/// # Errors
/// If the file is damaged or cannot be read.
pub fn read_dictionary(
    home: &Path,
    file: DictionaryFile,
) -> Result<Option<Translations>, EngineError> {
    let path = file.path(home);
    let Some(body) = read_checked(&path)? else {
        return Ok(None);
    };
    match String::from_utf8(body).ok().and_then(Translations::parse) {
        Some(translations) => Ok(Some(translations)),
        None => Err(StoreError::DamagedFile { path }.into()),
    }
}

/// Replaces the operator's dictionary of a home. Follow it with [`update_own_translations`]: the languages of the collection may
/// be others. Open searchers read it at their next search.
///
/// # Errors
/// If the file cannot be written.
pub fn write_translations(home: &Path, dictionary: TranslationsBuilder) -> Result<(), EngineError> {
    Ok(write_checked(
        &DictionaryFile::Operator.path(home),
        dictionary.into_text().as_bytes(),
    )?)
}

/// Removes a file of the dictionary of a home. Returns true if there was one.
///
/// # Errors
/// If the file cannot be removed.
pub fn remove_translations(home: &Path, file: DictionaryFile) -> Result<bool, EngineError> {
    let path = file.path(home);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(EngineError::Io { path, cause }),
    }
}

/// Creates the dictionary of the labels of a collection again, from the label files of its contents. Without labels in several
/// languages there is none. Only [`AnalysisKind::Multilingual`] uses it. Returns the number of resources beyond the limit, whose
/// labels are not in the dictionary.
///
/// # Errors
/// If a file cannot be read or written.
pub fn update_own_translations(store: &Store, analysis: &Analysis) -> Result<u64, EngineError> {
    let home = store.home();
    if analysis.kind() != AnalysisKind::Multilingual {
        remove_translations(home, DictionaryFile::Own)?;
        return Ok(0);
    }
    let (mut versions, mut languages) = (BTreeSet::new(), LanguageCounts::default());
    store.for_each_entry(|entry| {
        if store.content_folder().has_labels(&entry.version) {
            versions.insert(entry.version.clone());
        }
        languages.add(&entry, analysis);
        Ok::<_, EngineError>(())
    })?;
    if versions.is_empty() {
        remove_translations(home, DictionaryFile::Own)?;
        return Ok(0);
    }
    let targets = match read_dictionary(home, DictionaryFile::Operator)? {
        Some(operator) => operator.targets().map(str::to_owned).collect(),
        None => languages.into_targets(),
    };
    let mut dictionary = TranslationsBuilder::new(targets.iter().map(String::as_str));
    let (mut resources, mut omitted) = (0, 0);
    for version in &versions {
        let Some(labels) = store.content_folder().read_labels(version)? else {
            continue;
        };
        omitted += labels.omitted;
        for labels in labels.resources {
            if resources == MAX_RESOURCES {
                omitted += 1;
                continue;
            }
            resources += 1;
            dictionary.add(
                labels
                    .iter()
                    .map(|(language, text)| (language.as_str(), text.as_str())),
            );
        }
    }
    let dictionary = dictionary.with_origins(versions.into_iter().collect());
    write_checked(
        &DictionaryFile::Own.path(home),
        dictionary.into_text().as_bytes(),
    )?;
    Ok(omitted)
}

/// Returns true if a collection has texts in other languages than English: labels in several languages, a dictionary of the operator,
/// or a tenth of the titles and descriptions. Only [`AnalysisKind::Multilingual`] tells languages apart.
///
/// # Errors
/// If the store or a dictionary cannot be read.
pub fn is_multilingual(store: &Store, analysis: AnalysisKind) -> Result<bool, EngineError> {
    if analysis != AnalysisKind::Multilingual {
        return Ok(false);
    }
    for file in DictionaryFile::ALL {
        if read_dictionary(store.home(), file)?.is_some() {
            return Ok(true);
        }
    }
    let (analysis, mut languages) = (Analysis::new(analysis), LanguageCounts::default());
    let ids = store.ids()?;
    let interval = ids.len().div_ceil(MAX_ASSESSED_DATASETS).max(1);
    for id in ids.iter().step_by(interval) {
        languages.add(&store.entry(id)?, &analysis);
    }
    Ok(languages.is_multilingual())
}

/// Returns true if the dictionary of a collection has other contents than those of its present versions with labels.
pub(super) fn has_other_labels(
    store: &Store,
    versions: &BTreeSet<String>,
) -> Result<bool, EngineError> {
    let folder = store.content_folder();
    let present: Vec<&String> = versions
        .iter()
        .filter(|version| folder.has_labels(version))
        .collect();
    let own = read_dictionary(store.home(), DictionaryFile::Own)?;
    let origins = own.as_ref().map(Translations::origins).unwrap_or_default();
    // Both are in ascending order.
    Ok(!present.into_iter().eq(origins))
}

/// Returns true if one of some datasets has labels in several languages in the store or in the dictionary of the collection. `indexed`
/// returns the version of the content of a dataset in the index.
pub(super) fn concern_labels(
    store: &Store,
    ids: &[DatasetId],
    indexed: &dyn Fn(&DatasetId) -> Result<Option<String>, EngineError>,
) -> Result<bool, EngineError> {
    let own = read_dictionary(store.home(), DictionaryFile::Own)?;
    let origins = own.as_ref().map(Translations::origins).unwrap_or_default();
    for id in ids {
        if let Some(version) = indexed(id)?
            && (origins.contains(&version) || store.content_folder().has_labels(&version))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Numbers of datasets by the languages of their titles and descriptions.
#[derive(Default)]
struct LanguageCounts {
    /// Number of datasets with a known language.
    datasets: usize,
    by_language: BTreeMap<String, usize>,
}

impl LanguageCounts {
    fn add(&mut self, entry: &Entry, analysis: &Analysis) {
        let metadata = &entry.dataset.metadata;
        let texts = metadata.titles.iter().chain(&metadata.descriptions);
        let languages: BTreeSet<String> = texts
            .filter_map(|text| language_of(text, analysis))
            .collect();
        self.datasets += usize::from(!languages.is_empty());
        for language in languages {
            *self.by_language.entry(language).or_default() += 1;
        }
    }

    /// Returns true if a tenth of the datasets have titles or descriptions in another language than English.
    fn is_multilingual(&self) -> bool {
        let mut others = 0;
        for (language, datasets) in &self.by_language {
            if language != "en" {
                others += datasets;
            }
        }
        others > 0 && others * MIN_MULTILINGUAL_DIVISOR >= self.datasets
    }

    /// Returns the languages of the collection, the most frequent first.
    fn into_targets(self) -> Vec<String> {
        let mut languages: Vec<(String, usize)> = self.by_language.into_iter().collect();
        // Stable: languages of as many datasets stay in the order of their codes.
        languages.sort_by_key(|(_, datasets)| Reverse(*datasets));
        let mut targets = Vec::new();
        for (language, datasets) in languages {
            if targets.is_empty() || datasets * MIN_SHARE_DIVISOR >= self.datasets {
                targets.push(language);
            }
        }
        if targets.is_empty() {
            targets.push("en".to_owned());
        }
        targets
    }
}

/// Returns the language of a text: its tag, else the detected one.
fn language_of(text: &Text, analysis: &Analysis) -> Option<String> {
    match &text.language {
        Some(tag) => Some(corrected_language_code(tag)),
        None => analysis.detected_language(&text.value).map(str::to_owned),
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
            // A stable sort: within each kind, labels keep the order of the files.
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
    fn languages_of_a_quarter_of_the_datasets_are_those_of_the_collection() {
        let targets = |counts: &[(&str, usize)], datasets| {
            let by_language = counts.iter().map(|(code, n)| ((*code).to_owned(), *n));
            let counts = LanguageCounts {
                datasets,
                by_language: by_language.collect(),
            };
            counts.into_targets()
        };
        assert_eq!(
            targets(&[("de", 5), ("en", 14), ("fr", 4)], 20),
            ["en", "de"]
        );
        assert_eq!(targets(&[("cs", 1), ("de", 1)], 20), ["cs"]);
        assert_eq!(targets(&[], 0), ["en"]);
        let analysis = Analysis::new(AnalysisKind::Multilingual);
        let language = |value: &str, tag: Option<&str>| {
            let text = Text {
                value: value.to_owned(),
                language: tag.map(str::to_owned),
            };
            language_of(&text, &analysis)
        };
        assert_eq!(language("Luft", Some("dk")).as_deref(), Some("da"));
        assert_eq!(language("Luft", None), None);
        let detected = language(
            "Verzeichnis der deutschen Bibliotheken und ihrer Bestände",
            None,
        );
        assert_eq!(detected.as_deref(), Some("de"));
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
        let path = DictionaryFile::Operator.path(home.path());
        fs::write(path, "0\nen\tde\n").expect("written");
        assert!(read_translations(home.path()).is_err(), "wrong checksum");
        let remove = || {
            remove_translations(home.path(), DictionaryFile::Operator).expect("removed or missing")
        };
        assert!(remove());
        assert!(!remove());
    }

    #[test]
    fn a_tenth_of_the_datasets_makes_a_collection_multilingual() {
        let collection = |english: usize, italian: usize| LanguageCounts {
            datasets: english + italian,
            by_language: [("en", english), ("it", italian)]
                .map(|(language, datasets)| (language.to_owned(), datasets))
                .into(),
        };
        assert!(collection(9, 1).is_multilingual());
        assert!(collection(0, 1).is_multilingual());
        assert!(!collection(10, 1).is_multilingual());
        assert!(!collection(10, 0).is_multilingual());
        assert!(!LanguageCounts::default().is_multilingual());
    }
}
