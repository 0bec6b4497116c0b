//! Themes that the words of datasets suggest, learned from the datasets of the collection that have themes.
//!
//! Many datasets have no theme. The themes of the others, if they are data themes of the European Union, show which words of
//! titles and descriptions occur with which theme. A theme is scored by the five words with the strongest evidence for or against
//! it: the sum of their log odds, divided by the square root of five, plus the log odds of the theme. Words are counted once a dataset, and a frequency
//! is smoothed towards that of the theme.
//!
//! The minimum score is chosen for each collection. Each dataset with themes is scored as if it had none, with the counts of the
//! others; the minimum is the lowest score at which [`MIN_PRECISION`] of the suggestions are declared themes. If there is
//! none, nothing is suggested. Declared themes stay as they are: suggestions are a facet of their own.

use super::facets::FacetTable;
use super::facts::Facet;
use super::{IndexError, Snapshot};
use crate::document::Field;
use lodeseek_catalog::{DATA_THEME_COUNT, data_theme_names};
use rustc_hash::FxHashMap;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

/// Fields with the words. The keywords are left out, because the index has the names of themes among them.
const FIELDS: [Field; 2] = [Field::Title, Field::Description];
/// Minimum number of datasets with themes.
const MIN_LABELLED_DATASETS: usize = 100;
/// Minimum number of other datasets with a theme, and with a word.
const MIN_DATASETS_OF_THEME: u32 = 10;
const MIN_DATASETS_OF_WORD: u32 = 2;
/// Number of words whose evidence counts.
const MAX_EVIDENCE: usize = 5;
/// Weight of a theme's frequency in that of a word.
const SMOOTHING_WEIGHT: f64 = 2.0;
/// Minimum share of declared themes among the suggestions for datasets with themes.
const MIN_PRECISION: f64 = 0.95;
/// Minimum number of suggestions from which the precision is computed.
const MIN_SUGGESTIONS: usize = 20;
/// Maximum number of datasets with themes that are scored to choose the minimum score.
const MAX_CALIBRATION_DATASETS: usize = 5000;
/// Maximum number of themes suggested for a dataset, the best first.
const MAX_THEMES: usize = 3;

/// Words and themes of a dataset.
#[derive(Clone, Debug, Default)]
struct Described {
    /// Distinct words.
    words: Vec<u32>,
    /// Data themes, as bits.
    themes: u16,
    /// If true, it has a theme of any list.
    has_theme: bool,
    is_alive: bool,
}

/// Numbers of datasets with themes, by word and theme.
struct Counts {
    labelled: u32,
    themes: [u32; DATA_THEME_COUNT],
    words: Vec<u32>,
    words_with_theme: Vec<[u32; DATA_THEME_COUNT]>,
}

impl Snapshot {
    /// Returns the table of suggested themes, by the table of declared ones.
    pub(super) fn suggest_themes(&self, declared: &FacetTable) -> Result<FacetTable, IndexError> {
        let names: Vec<&str> = data_theme_names().collect();
        let places: Vec<Option<u32>> = names.iter().map(|name| declared.place(name)).collect();
        let mut segments: Vec<Vec<Described>> = Vec::new();
        for (number, reader) in self.searcher.segment_readers().iter().enumerate() {
            let mut documents = vec![Described::default(); reader.max_doc() as usize];
            for document in reader.doc_ids_alive() {
                let values = declared.values(number, document);
                let described = &mut documents[document as usize];
                described.is_alive = true;
                described.has_theme = !values.is_empty();
                for (theme, place) in places.iter().enumerate() {
                    if place.is_some_and(|place| values.contains(&place)) {
                        described.themes |= 1 << theme;
                    }
                }
            }
            segments.push(documents);
        }
        let labelled = segments
            .iter()
            .flatten()
            .filter(|document| document.themes != 0)
            .count();
        let mut suggested: Vec<Vec<Vec<usize>>> = segments
            .iter()
            .map(|documents| vec![Vec::new(); documents.len()])
            .collect();
        if labelled >= MIN_LABELLED_DATASETS {
            let words = self.read_words(&mut segments)?;
            let counts = Counts::new(segments.iter().flatten(), words);
            if let Some(min_score) = counts.min_score(segments.iter().flatten(), labelled) {
                for (documents, suggested) in segments.iter().zip(&mut suggested) {
                    for (document, themes) in documents.iter().zip(suggested) {
                        if document.is_alive && !document.has_theme {
                            *themes = counts.suggest(&document.words, min_score);
                        }
                    }
                }
            }
        }
        Ok(FacetTable::from_labels(
            Facet::SuggestedTheme,
            &names,
            &suggested,
        ))
    }

    /// Reads the words of live documents, numbered from 0, and returns their number.
    fn read_words(&self, segments: &mut [Vec<Described>]) -> Result<usize, IndexError> {
        let mut numbers: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
        for (reader, documents) in self.searcher.segment_readers().iter().zip(segments) {
            for field in FIELDS {
                let inverted = reader.inverted_index(self.fields.text(field))?;
                let mut terms = inverted.terms().stream()?;
                while terms.advance() {
                    let next = numbers.len() as u32;
                    let word = *numbers.entry(terms.key().to_vec()).or_insert(next);
                    let mut postings = inverted
                        .read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
                    while postings.doc() != TERMINATED {
                        let (number, all) = (postings.doc(), documents.len());
                        // Damaged postings may name documents that do not exist.
                        let Some(document) = documents.get_mut(number as usize) else {
                            return Err(IndexError::Damaged(format!(
                                "postings contain document {number} of {all}"
                            )));
                        };
                        if document.is_alive {
                            document.words.push(word);
                        }
                        postings.advance();
                    }
                }
            }
            for document in documents {
                document.words.sort_unstable();
                document.words.dedup();
            }
        }
        Ok(numbers.len())
    }
}

impl Counts {
    fn new<'d>(documents: impl Iterator<Item = &'d Described>, words: usize) -> Self {
        let mut counts = Self {
            labelled: 0,
            themes: [0; DATA_THEME_COUNT],
            words: vec![0; words],
            words_with_theme: vec![[0; DATA_THEME_COUNT]; words],
        };
        for document in documents.filter(|document| document.themes != 0) {
            counts.labelled += 1;
            for &word in &document.words {
                counts.words[word as usize] += 1;
            }
            for theme in themes_of(document.themes) {
                counts.themes[theme] += 1;
                for &word in &document.words {
                    counts.words_with_theme[word as usize][theme] += 1;
                }
            }
        }
        counts
    }

    /// Returns the score of a theme for words; `None` if too few datasets have the theme or all have it, or if no word is known. `own` are
    /// the themes of a dataset whose words are counted here, and which is left out.
    fn score(&self, words: &[u32], theme: usize, own: Option<u16>) -> Option<f64> {
        let left_out = u32::from(own.is_some());
        let with_theme = u32::from(own.is_some_and(|themes| themes >> theme & 1 == 1));
        let datasets = self.themes[theme] - with_theme;
        let labelled = self.labelled - left_out;
        // No word is evidence for or against a theme that all datasets have: its odds are infinite.
        if datasets < MIN_DATASETS_OF_THEME || datasets == labelled {
            return None;
        }
        let share = f64::from(datasets) / f64::from(labelled);
        let prior = log_odds(share);
        let mut evidence = Vec::with_capacity(words.len());
        for &word in words {
            let count = self.words[word as usize] - left_out;
            if count < MIN_DATASETS_OF_WORD {
                continue;
            }
            let together = self.words_with_theme[word as usize][theme] - with_theme;
            let share_of_word = (f64::from(together) + SMOOTHING_WEIGHT * share)
                / (f64::from(count) + SMOOTHING_WEIGHT);
            evidence.push(log_odds(share_of_word) - prior);
        }
        if evidence.is_empty() {
            return None;
        }
        evidence.sort_unstable_by(|a, b| b.abs().total_cmp(&a.abs()));
        evidence.truncate(MAX_EVIDENCE);
        Some(prior + evidence.iter().sum::<f64>() / (MAX_EVIDENCE as f64).sqrt())
    }

    /// Returns the lowest score with which enough suggestions are declared themes; `None` if there is none.
    fn min_score<'d>(
        &self,
        documents: impl Iterator<Item = &'d Described>,
        labelled: usize,
    ) -> Option<f64> {
        let step = labelled.div_ceil(MAX_CALIBRATION_DATASETS);
        let mut scores = Vec::new();
        let documents = documents.filter(|document| document.themes != 0);
        for document in documents.step_by(step) {
            for theme in 0..DATA_THEME_COUNT {
                if let Some(score) = self.score(&document.words, theme, Some(document.themes)) {
                    scores.push((score, document.themes >> theme & 1 == 1));
                }
            }
        }
        scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut right, mut min_score) = (0, None);
        for (place, (score, is_declared)) in scores.iter().enumerate() {
            right += usize::from(*is_declared);
            let number = place + 1;
            // The minimum is the score of a declared theme: wrong suggestions below all declared ones do not lower it.
            if *is_declared
                && number >= MIN_SUGGESTIONS
                && right as f64 >= MIN_PRECISION * number as f64
            {
                min_score = Some(*score);
            }
        }
        min_score
    }

    /// Returns the themes with at least the minimum score, the best first.
    fn suggest(&self, words: &[u32], min_score: f64) -> Vec<usize> {
        let mut scored = Vec::new();
        for theme in 0..DATA_THEME_COUNT {
            if let Some(score) = self.score(words, theme, None)
                && score >= min_score
            {
                scored.push((score, theme));
            }
        }
        scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(MAX_THEMES);
        scored.into_iter().map(|(_, theme)| theme).collect()
    }
}

fn log_odds(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// Returns the indexes of the set bits.
fn themes_of(bits: u16) -> impl Iterator<Item = usize> {
    (0..DATA_THEME_COUNT).filter(move |theme| bits >> theme & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FieldedDocument;
    use crate::{Analysis, Facts, Filter, IndexDocument, IndexWriter};
    use lodeseek_ranking::DatasetId;
    use std::path::Path;

    const HEALTH: &str = "Health";
    const TRANSPORT: &str = "Transport";

    fn document(id: &str, title: &str, themes: &[&str]) -> IndexDocument {
        let id = DatasetId::new(id).expect("an id");
        let analysis = Analysis::default();
        let fielded = FieldedDocument::default().with(Field::Title, [title]);
        let facts = Facts {
            values: themes
                .iter()
                .map(|theme| (Facet::Theme, (*theme).to_owned()))
                .collect(),
            ..Facts::default()
        };
        IndexDocument::new(
            id,
            String::new(),
            &fielded,
            &analysis,
            Vec::new(),
            Vec::new(),
        )
        .with_facts(facts)
    }

    /// Writes datasets on hospitals and on trains with their themes, `each` of both, and some without a theme.
    fn write(folder: &Path, each: usize) -> std::sync::Arc<Snapshot> {
        let mut writer = IndexWriter::open(folder).expect("opened");
        for number in 0..each {
            let hospital = format!("hospital patients ward {number}");
            let train = format!("train tickets station {number}");
            let (first, second) = (format!("h{number}"), format!("t{number}"));
            writer
                .put(document(&first, &hospital, &[HEALTH]))
                .expect("put");
            writer
                .put(document(&second, &train, &[TRANSPORT]))
                .expect("put");
        }
        for (id, title, themes) in [
            ("clinic", "patients of a hospital ward", &[][..]),
            ("declared", "patients of a hospital ward", &["Diseases"][..]),
            ("poems", "poems about spring", &[][..]),
        ] {
            writer.put(document(id, title, themes)).expect("put");
        }
        writer.commit().expect("committed");
        std::sync::Arc::new(writer.snapshot().expect("a snapshot"))
    }

    fn suggested(snapshot: &Snapshot, id: &str) -> Vec<String> {
        let id = DatasetId::new(id).expect("an id");
        snapshot
            .facet_values(&id, Facet::SuggestedTheme)
            .expect("read")
    }

    #[test]
    fn words_suggest_themes_of_datasets_without_themes() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = write(folder.path(), 60);
        assert_eq!(suggested(&snapshot, "clinic"), [HEALTH]);
        for id in ["declared", "poems", "h1", "t1", "absent"] {
            assert!(suggested(&snapshot, id).is_empty(), "{id}");
        }
        let declared = DatasetId::new("h1").expect("an id");
        let themes = snapshot
            .facet_values(&declared, Facet::Theme)
            .expect("read");
        assert_eq!(themes, [HEALTH]);
    }

    #[test]
    fn suggestions_are_filtered_and_counted_apart_from_themes() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = write(folder.path(), 60);
        let filter = Filter::default().with(Facet::SuggestedTheme, "health");
        let filtered = snapshot
            .filtered_docs(&filter)
            .expect("evaluated")
            .expect("a filter");
        let mut counter = snapshot.facet_counter(Some(&filtered)).expect("a counter");
        let (found, total) = snapshot.newest(Some(&filtered), 10, |address| counter.add(address));
        assert_eq!(total, 1);
        let id = snapshot.id(found[0]).expect("an id");
        assert_eq!(id.as_str(), "clinic");
        let counts = counter.finish(&filter, 10).facets;
        let suggested = counts
            .iter()
            .find(|one| one.facet == Facet::SuggestedTheme)
            .expect("a facet");
        assert_eq!(
            (
                suggested.values[0].value.as_str(),
                suggested.values[0].count
            ),
            (HEALTH, 1)
        );
        assert!(counts.iter().all(|one| one.facet != Facet::Theme));
    }

    #[test]
    fn few_datasets_with_themes_suggest_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = write(folder.path(), 40);
        assert!(suggested(&snapshot, "clinic").is_empty());
    }

    /// Makes datasets with these themes and one word.
    fn label_datasets(themes: &[u16]) -> Vec<Described> {
        let mut documents = Vec::new();
        for themes in themes {
            documents.push(Described {
                words: vec![0],
                themes: *themes,
                has_theme: true,
                is_alive: true,
            });
        }
        documents
    }

    #[test]
    fn a_theme_of_all_datasets_has_no_score() {
        let mut themes = vec![1; 120];
        let counts = Counts::new(label_datasets(&themes).iter(), 1);
        assert_eq!(counts.score(&[0], 0, None), None);
        let documents = label_datasets(&themes);
        assert_eq!(counts.min_score(documents.iter(), documents.len()), None);
        // If the dataset with the other theme is left out, all have the first theme.
        themes.push(2);
        let documents = label_datasets(&themes);
        let counts = Counts::new(documents.iter(), 1);
        assert_eq!(counts.score(&[0], 0, Some(2)), None);
        let score = counts.score(&[0], 0, None).expect("a score");
        assert!(score.is_finite());
        let min_score = counts.min_score(documents.iter(), documents.len());
        assert!(min_score.expect("a score").is_finite());
        assert_eq!(counts.suggest(&[0], score), [0]);
    }

    #[test]
    fn postings_of_missing_documents_are_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = write(folder.path(), 1);
        let mut segments = Vec::new();
        for reader in snapshot.searcher.segment_readers() {
            // One document fewer than the postings name.
            segments.push(vec![Described::default(); reader.max_doc() as usize - 1]);
        }
        let error = snapshot
            .read_words(&mut segments)
            .expect_err("a missing document");
        assert!(
            error.to_string().contains("postings contain document"),
            "{error}"
        );
    }

    #[test]
    fn themes_that_words_do_not_predict_are_not_suggested() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = IndexWriter::open(folder.path()).expect("opened");
        for number in 0..200 {
            let theme = if number % 2 == 0 { HEALTH } else { TRANSPORT };
            let id = format!("d{number}");
            writer
                .put(document(&id, "numbers of last year", &[theme]))
                .expect("put");
        }
        writer
            .put(document("last", "numbers of last year", &[]))
            .expect("put");
        writer.commit().expect("committed");
        let snapshot = writer.snapshot().expect("a snapshot");
        assert!(suggested(&snapshot, "last").is_empty());
    }
}
