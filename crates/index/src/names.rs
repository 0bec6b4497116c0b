//! Exact names of datasets, and words as they are written.
//!
//! The fields of the models contain stems without stop words. Two further fields contain what stemming removes: the whole
//! names of a dataset, so that `MNIST` finds the dataset of this name before longer names, and its words as written, from which
//! misspelled words are corrected.

use super::analysis::whole_words;
use super::document::{Field, FieldedDocument};
use super::{DocumentAddress, IndexError, Snapshot, fold_text};
use std::collections::BTreeSet;
use tantivy::Term;

/// Maximum number of bytes of a name. Longer texts are no names.
const MAX_NAME_BYTES: usize = 400;
/// Minimum and maximum number of letters of a word for corrections.
const MIN_WORD_LETTERS: usize = 3;
const MAX_WORD_LETTERS: usize = 40;
/// Maximum number of words for corrections of a dataset.
const MAX_WORDS: usize = 20_000;
/// Maximum number of bytes of a field from which the words for corrections are taken.
const MAX_WORD_BYTES: usize = 1 << 20;
/// Fields whose words are corrections of misspelled ones: first those with the fewest words.
const WORD_FIELDS: [Field; 8] = [
    Field::Title,
    Field::Author,
    Field::Tags,
    Field::Description,
    Field::Class,
    Field::Property,
    Field::Entity,
    Field::Literal,
];

/// Returns the form in which names are compared: lower case, without accents, words separated by single spaces. Punctuation
/// except `+` and `#` separates words (`C++`, `C#`). `None` for texts without a word or of more than 400 bytes.
///
/// ```
/// use lodeseek_index::name_key;
/// assert_eq!(name_key(" The  Who: “Live”").as_deref(), Some("the who live"));
/// assert_eq!(name_key("AT&T"), name_key("at & t"));
/// assert_ne!(name_key("C++"), name_key("C#"));
/// assert_eq!(name_key("…"), None);
/// ```
#[must_use]
pub fn name_key(text: &str) -> Option<String> {
    if text.len() > MAX_NAME_BYTES {
        return None;
    }
    let folded = fold_text(text);
    let words = folded.split(|character: char| !is_part_of_name(character));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '+' | '#')
}

/// Returns the distinct keys of names.
pub(super) fn name_keys<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let keys: BTreeSet<String> = names.into_iter().filter_map(name_key).collect();
    keys.into_iter().collect()
}

/// Returns the distinct words of a document from which misspelled words are corrected.
pub(super) fn written_words(document: &FieldedDocument) -> Vec<String> {
    let mut words = BTreeSet::new();
    for field in WORD_FIELDS {
        let mut bytes = 0;
        for value in &document.field(field).values {
            bytes += value.len();
            if bytes > MAX_WORD_BYTES {
                break;
            }
            for word in whole_words(value) {
                let letters = word.chars().count();
                if (MIN_WORD_LETTERS..=MAX_WORD_LETTERS).contains(&letters)
                    && word.chars().all(char::is_alphabetic)
                {
                    words.insert(word);
                }
            }
            // Fields with more words, which are less likely corrections, are left out.
            if words.len() >= MAX_WORDS {
                return words.into_iter().collect();
            }
        }
    }
    words.into_iter().collect()
}

impl Snapshot {
    /// Returns true if datasets are found by their exact names. An index of an earlier version has no names.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.fields.names.is_some()
    }

    /// Returns the datasets with this name: a title, an alternative name or the id. Case, accents and punctuation do not count.
    pub fn with_name(&self, name: &str) -> Result<Vec<DocumentAddress>, IndexError> {
        let (Some(fields), Some(key)) = (self.fields.names, name_key(name)) else {
            return Ok(Vec::new());
        };
        self.documents_with(&Term::from_field_text(fields.names, &key))
    }

    /// Returns the datasets that have these words one after the other in a name, the shortest names first, at most `limit`. Stop
    /// words count. All names are read: use it for queries that have no other word.
    pub fn with_words_in_name(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<DocumentAddress>, IndexError> {
        let (Some(fields), Some(key)) = (self.fields.names, name_key(words)) else {
            return Ok(Vec::new());
        };
        let part = format!(" {key} ");
        let mut names = BTreeSet::new();
        for reader in self.searcher.segment_readers() {
            let inverted = reader.inverted_index(fields.names)?;
            let mut terms = inverted.terms().stream()?;
            while terms.advance() {
                let Ok(name) = std::str::from_utf8(terms.key()) else {
                    continue;
                };
                if name.contains(&key) && format!(" {name} ").contains(&part) {
                    names.insert((name.chars().count(), name.to_owned()));
                    if names.len() > limit {
                        names.pop_last();
                    }
                }
            }
        }
        let mut documents = Vec::new();
        for (_, name) in names {
            for address in self.with_name(&name)? {
                if documents.len() < limit && !documents.contains(&address) {
                    documents.push(address);
                }
            }
        }
        Ok(documents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, AnalysisKind, IndexDocument, IndexWriter, collect_live_documents};
    use lodeseek_ranking::DatasetId;
    use tantivy::BitSet;
    use tantivy::query::BitSetDocSet;

    fn snapshot(names: &[&str]) -> Snapshot {
        let mut writer = IndexWriter::in_memory().expect("created");
        let analysis = Analysis::new(AnalysisKind::Multilingual);
        for (number, name) in names.iter().enumerate() {
            let id = DatasetId::new(format!("set-{number}")).expect("an id");
            let fields = FieldedDocument::default().with(Field::Title, [*name]);
            let empty = b"{}".to_vec();
            let document =
                IndexDocument::new(id, String::new(), &fields, &analysis, empty.clone(), empty);
            writer.put(document.with_names([*name])).expect("added");
        }
        writer.commit().expect("committed");
        writer.snapshot().expect("a snapshot")
    }

    fn ids(snapshot: &Snapshot, documents: &[DocumentAddress]) -> Vec<String> {
        let mut ids = Vec::new();
        for address in documents {
            ids.push(snapshot.id(*address).expect("an id").to_string());
        }
        ids
    }

    #[test]
    fn exact_names_are_found() {
        let snapshot = snapshot(&["MNIST", "MNIST-M", "The Who", "Who cares", "Straßenbäume"]);
        for (name, expected) in [
            ("mnist", "set-0"),
            ("MNIST m", "set-1"),
            ("the who", "set-2"),
            ("STRASSENBAUME", "set-4"),
            ("set-3", "set-3"),
        ] {
            let found = snapshot.with_name(name).expect("found");
            assert_eq!(ids(&snapshot, &found), [expected], "{name}");
        }
        assert!(snapshot.with_name("mnis").expect("none").is_empty());
        assert!(snapshot.with_name("!").expect("none").is_empty());
    }

    #[test]
    fn postings_of_documents_that_do_not_exist_are_damaged() {
        let snapshot = snapshot(&["MNIST"]);
        let reader = &snapshot.searcher.segment_readers()[0];
        let mut numbers = BitSet::with_max_value(2);
        numbers.insert(0);
        let mut documents = Vec::new();
        let postings = BitSetDocSet::from(numbers.clone());
        collect_live_documents(reader, 0, postings, &mut documents).expect("sound");
        assert_eq!(ids(&snapshot, &documents), ["set-0"]);
        numbers.insert(1);
        let postings = BitSetDocSet::from(numbers);
        let outcome = collect_live_documents(reader, 0, postings, &mut documents);
        assert!(matches!(outcome, Err(IndexError::Damaged(_))));
    }

    #[test]
    fn words_are_found_in_names() {
        let snapshot = snapshot(&["WHO mortality", "The Who", "Whose", "Tables of the WHO"]);
        let found = snapshot.with_words_in_name("WHO", 10).expect("found");
        assert_eq!(ids(&snapshot, &found), ["set-1", "set-0", "set-3"]);
        let found = snapshot.with_words_in_name("WHO", 1).expect("found");
        assert_eq!(ids(&snapshot, &found), ["set-1"]);
    }
}
