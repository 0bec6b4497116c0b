//! Texts of packages by the fields of CKAN's Solr schema, for clauses that name a field. They are those of the packages that
//! `package_show` returns. Computed at the first use and cached with the table.

use super::package::build_package;
use super::pattern::Pattern;
use super::syntax::Term;
use super::table::Table;
use crate::AppState;
use crate::error::ApiError;
use crate::portal::metadata::PortalMetadata;
use lodeseek_changes::list_elements;
use lodeseek_index::{Analysis, AnalysisKind, AnalyzedWord, compose, fold_text};
use rustc_hash::FxHashMap;
use serde_json::Value;
use strsim::osa_distance;

/// Maximum number of words of a value that are compared.
const MAX_WORDS: usize = 50_000;
/// Maximum number of words of a phrase.
const MAX_PHRASE_WORDS: usize = 50;
/// Maximum number of characters of a string that patterns are compared with: the time is bounded by the product of the lengths.
const MAX_PATTERN_TEXT_CHARS: usize = 1000;
/// Maximum number of bytes of a word that is compared by its edits. Longer ones have to be equal.
const MAX_SIMILAR_BYTES: usize = 255;
/// Separator of the values of a field: phrases do not cross it.
const VALUE_SEPARATOR: u32 = u32::MAX;
/// Field for clauses on all texts: the names of the package, its tags, groups and organisation, and the values of string fields.
const OTHER_TEXTS: &str = "";

/// Fields of a package that are texts.
const TEXTS: [&str; 6] = [
    "title",
    "notes",
    "author",
    "author_email",
    "maintainer",
    "maintainer_email",
];
/// Text fields whose words are compared as they are, as in CKAN. Others match other forms of a word, too.
const UNSTEMMED: [&str; 6] = [
    "author",
    "author_email",
    "maintainer",
    "maintainer_email",
    "res_name",
    "res_description",
];
/// Members of a resource that are no extras in CKAN.
const RESOURCE_MEMBERS: [&str; 17] = [
    "id",
    "package_id",
    "name",
    "description",
    "url",
    "url_type",
    "format",
    "mimetype",
    "mimetype_inner",
    "size",
    "hash",
    "created",
    "last_modified",
    "metadata_modified",
    "position",
    "resource_type",
    "state",
];

/// The datasets with words in a text field: their places, and the words.
type TextColumn = Vec<(u32, Vec<u32>)>;
/// The datasets with values in a string field.
type StringColumn = Vec<(u32, Vec<String>)>;

/// Texts of all packages.
pub(super) struct Texts {
    analysis: Analysis,
    /// Distinct words of all texts.
    words: Vec<AnalyzedWord>,
    texts: FxHashMap<String, TextColumn>,
    strings: FxHashMap<String, StringColumn>,
}

/// Words of a text field that a term names: for each word of the term, the words of texts that match it.
pub(super) struct WordSets {
    sets: Vec<Vec<bool>>,
    /// Words of the term that are equal have the same number.
    identities: Vec<usize>,
    slop: usize,
}

#[derive(Default)]
struct Builder {
    ids: FxHashMap<(String, Option<String>), u32>,
    words: Vec<AnalyzedWord>,
    texts: FxHashMap<String, TextColumn>,
    strings: FxHashMap<String, StringColumn>,
}

impl Texts {
    pub(super) fn read(state: &AppState, table: &Table) -> Result<Self, ApiError> {
        let iris = state.store.iris();
        let mut builder = Builder::default();
        let analysis = Analysis::new(AnalysisKind::Multilingual);
        for (place, row) in (0..).zip(&table.rows) {
            if let Some(described) = PortalMetadata::read(&state.store, &row.id)? {
                builder.add(place, &build_package(&described, iris.base()), &analysis);
            }
        }
        Ok(builder.finish(analysis))
    }

    /// Returns the names of the fields that are texts.
    fn text_fields(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Returns the words of a field that a term names. `None` if it has none.
    pub(super) fn word_sets(&self, field: &str, term: &Term) -> Option<WordSets> {
        let stemmed = !UNSTEMMED.contains(&field);
        match term {
            Term::Word(text) | Term::Phrase(text) => self.phrase_sets(text, stemmed, 0),
            Term::Near(text, slop) => self.phrase_sets(text, stemmed, *slop),
            Term::Like(pattern) => {
                let pattern = pattern.map_texts(fold_text);
                Some(self.filter_words(|word| pattern.matches(word)))
            }
            Term::Similar(text, edits) => {
                let text = fold_text(text);
                Some(self.filter_words(|word| is_similar(&text, word, *edits)))
            }
            Term::Range {
                from,
                to,
                inclusive,
            } => {
                let [from, to] = [from, to].map(|bound| bound.as_deref().map(fold_text));
                Some(self.filter_words(|word| {
                    is_between(word, from.as_deref(), to.as_deref(), *inclusive)
                }))
            }
        }
    }

    /// Returns the words whose texts meet a condition, in the place of one word.
    fn filter_words(&self, is_match: impl Fn(&str) -> bool) -> WordSets {
        let set = self.words.iter().map(|word| is_match(&word.text)).collect();
        WordSets {
            sets: vec![set],
            identities: vec![0],
            slop: 0,
        }
    }

    fn phrase_sets(&self, text: &str, stemmed: bool, slop: usize) -> Option<WordSets> {
        let queried = self.analysis.queried_words(text);
        let (mut sets, mut identities) = (Vec::new(), Vec::new());
        for (place, word) in queried.iter().enumerate().take(MAX_PHRASE_WORDS) {
            identities.push(
                queried
                    .iter()
                    .position(|other| other == word)
                    .unwrap_or(place),
            );
            let words = self.words.iter();
            sets.push(if stemmed {
                words.map(|other| word.matches(other)).collect()
            } else {
                words.map(|other| word.text == other.text).collect()
            });
        }
        (!sets.is_empty()).then_some(WordSets {
            sets,
            identities,
            slop,
        })
    }

    /// Marks the datasets in which a text field has the words.
    pub(super) fn mark_text(&self, field: &str, words: &WordSets, marks: &mut [bool]) {
        for (place, text) in self.texts.get(field).into_iter().flatten() {
            if let Some(mark) = marks.get_mut(*place as usize)
                && !*mark
            {
                *mark = text
                    .split(|word| *word == VALUE_SEPARATOR)
                    .any(|value| words.occur_in(value));
            }
        }
    }

    /// Marks the datasets in which any text has the words.
    pub(super) fn mark_any_text(&self, words: &WordSets, marks: &mut [bool]) {
        for field in self.text_fields() {
            self.mark_text(field, words, marks);
        }
    }

    /// Returns the places of the datasets in which any text has the words of a text, one after the other.
    pub(super) fn places_with(&self, text: &str, datasets: usize) -> Vec<u32> {
        let mut marks = vec![false; datasets];
        if let Some(words) = self.phrase_sets(text, true, 0) {
            self.mark_any_text(&words, &mut marks);
        }
        (0..)
            .zip(marks)
            .filter_map(|(place, mark)| mark.then_some(place))
            .collect()
    }

    /// Marks the datasets that have any value of a field.
    pub(super) fn mark_all(&self, field: &str, marks: &mut [bool]) {
        let texts = self
            .texts
            .get(field)
            .into_iter()
            .flatten()
            .map(|(place, _)| place);
        for place in texts.chain(
            self.strings
                .get(field)
                .into_iter()
                .flatten()
                .map(|(place, _)| place),
        ) {
            if let Some(mark) = marks.get_mut(*place as usize) {
                *mark = true;
            }
        }
    }

    /// Returns the values of a string field by dataset.
    pub(super) fn strings(&self, field: &str) -> impl Iterator<Item = (u32, &[String])> {
        self.strings
            .get(field)
            .into_iter()
            .flatten()
            .map(|(place, values)| (*place, values.as_slice()))
    }
}

impl WordSets {
    /// If true, the words follow each other in a value, or stand close enough to each other.
    fn occur_in(&self, value: &[u32]) -> bool {
        match self.sets.as_slice() {
            [] => false,
            [only] => value.iter().any(|word| has_word(only, *word)),
            sets if self.slop == 0 => value
                .windows(sets.len())
                .any(|run| run.iter().zip(sets).all(|(word, set)| has_word(set, *word))),
            sets => {
                let mut places = Vec::with_capacity(sets.len());
                for set in sets {
                    let found = (0..)
                        .zip(value)
                        .filter(|(_, word)| has_word(set, **word))
                        .map(|(place, _)| place);
                    places.push(found.collect::<Vec<i64>>());
                }
                self.is_near(&places)
            }
        }
    }

    /// If true, the words can be moved to their order by so many positions: Lucene's sloppy phrase. `places` are the positions
    /// of each word of the phrase.
    fn is_near(&self, places: &[Vec<i64>]) -> bool {
        // A quarter of the range, so that sums with positions cannot overflow.
        let slop = i64::try_from(self.slop)
            .unwrap_or(i64::MAX / 4)
            .min(i64::MAX / 4);
        // A window that fits can be moved until it begins at a word, so only these beginnings are tried.
        let starts = (0..)
            .zip(places)
            .flat_map(|(offset, places): (i64, _)| places.iter().map(move |place| place - offset));
        let mut starts: Vec<i64> = starts.collect();
        starts.sort_unstable();
        starts.dedup();
        starts.iter().any(|start| self.fits(places, *start, slop))
    }

    /// If true, each word has a place from `start` to `start + slop`, moved by its offset, and no two words have the same one.
    fn fits(&self, places: &[Vec<i64>], start: i64, slop: i64) -> bool {
        let mut last: FxHashMap<usize, i64> = FxHashMap::default();
        for ((offset, places), identity) in (0..).zip(places).zip(&self.identities) {
            let mut first = start + offset;
            // Equal words take their places in order.
            if let Some(taken) = last.get(identity) {
                first = first.max(taken + 1);
            }
            let next = places.partition_point(|place| *place < first);
            match places.get(next) {
                Some(place) if *place <= start + offset + slop => {
                    last.insert(*identity, *place);
                }
                _ => return false,
            }
        }
        true
    }
}

/// If true, a set of words has the word with a number.
fn has_word(set: &[bool], word: u32) -> bool {
    set.get(word as usize).copied().unwrap_or(false)
}

/// If true, so many insertions, deletions, replacements or transpositions of characters at most make one text the other.
pub(super) fn is_similar(one: &str, other: &str, edits: u8) -> bool {
    if one == other || one.len() > MAX_SIMILAR_BYTES {
        return one == other;
    }
    let edits = usize::from(edits);
    // A character has at most four bytes.
    one.len().abs_diff(other.len()) <= 4 * edits && osa_distance(one, other) <= edits
}

/// If true, a text is in a range.
pub(super) fn is_between(
    text: &str,
    from: Option<&str>,
    to: Option<&str>,
    inclusive: [bool; 2],
) -> bool {
    let is_above = from.is_none_or(|from| from < text || inclusive[0] && from == text);
    is_above && to.is_none_or(|to| text < to || inclusive[1] && to == text)
}

/// If true, a string matches a term. Strings are compared in their composed form.
pub(super) fn matches_string(term: &Term, text: &str) -> bool {
    let text = &*compose(text);
    match term {
        Term::Word(value) | Term::Phrase(value) | Term::Near(value, _) => compose(value) == text,
        Term::Like(pattern) => {
            let end = match text.char_indices().nth(MAX_PATTERN_TEXT_CHARS) {
                Some((end, _)) => end,
                None => text.len(),
            };
            pattern
                .map_texts(|part| compose(part).into_owned())
                .matches(&text[..end])
        }
        Term::Similar(value, edits) => is_similar(&compose(value), text, *edits),
        Term::Range {
            from,
            to,
            inclusive,
        } => is_between(text, from.as_deref(), to.as_deref(), *inclusive),
    }
}

/// If true, a term matches every value of a field.
pub(super) fn is_any_value(term: &Term) -> bool {
    match term {
        Term::Like(pattern) => Pattern::is_any(pattern),
        Term::Range {
            from,
            to: None,
            inclusive,
        } => from
            .as_deref()
            .is_none_or(|from| from.is_empty() && inclusive[0]),
        _ => false,
    }
}

impl Builder {
    fn add(&mut self, place: u32, package: &Value, analysis: &Analysis) {
        for field in TEXTS {
            self.add_text(place, field, texts_of(&package[field]), analysis);
        }
        self.add_string(place, "url", texts_of(&package["url"]));
        self.add_string(place, "version", texts_of(&package["version"]));
        self.add_string(place, "license", texts_of(&package["license_title"]));
        for extra in list_elements(&package["extras"]) {
            if let Some(key) = extra["key"].as_str() {
                self.add_text(
                    place,
                    &format!("extras_{key}"),
                    texts_of(&extra["value"]),
                    analysis,
                );
            }
        }
        for resource in list_elements(&package["resources"]) {
            self.add_text(place, "res_name", texts_of(&resource["name"]), analysis);
            self.add_text(
                place,
                "res_description",
                texts_of(&resource["description"]),
                analysis,
            );
            self.add_string(place, "res_url", texts_of(&resource["url"]));
            self.add_string(place, "res_type", texts_of(&resource["resource_type"]));
            for (key, value) in resource.as_object().into_iter().flatten() {
                if !RESOURCE_MEMBERS.contains(&key.as_str()) {
                    self.add_text(
                        place,
                        &format!("res_extras_{key}"),
                        texts_of(value),
                        analysis,
                    );
                }
            }
        }
        let tags = list_elements(&package["tags"])
            .iter()
            .flat_map(|tag| texts_of(&tag["name"]));
        let groups = list_elements(&package["groups"])
            .iter()
            .flat_map(|group| texts_of(&group["title"]));
        let strings = ["name", "url", "version", "license_id", "license_title"]
            .into_iter()
            .flat_map(|member| texts_of(&package[member]));
        let addresses = list_elements(&package["resources"])
            .iter()
            .flat_map(|resource| texts_of(&resource["url"]));
        let names = tags
            .chain(groups)
            .chain(texts_of(&package["organization"]["title"]))
            .chain(strings)
            .chain(addresses)
            .collect();
        self.add_text(place, OTHER_TEXTS, names, analysis);
    }

    fn add_text(&mut self, place: u32, field: &str, values: Vec<String>, analysis: &Analysis) {
        for value in values {
            let mut ids = Vec::new();
            for word in analysis.words(&value).into_iter().take(MAX_WORDS) {
                ids.push(self.word(word));
            }
            if ids.is_empty() {
                continue;
            }
            // The entry API alone would copy the name of the field for each value.
            let column = match self.texts.get_mut(field) {
                Some(column) => column,
                None => self.texts.entry(field.to_owned()).or_default(),
            };
            // Datasets are added in the order of their places, so an earlier value is in the last entry.
            match column.last_mut() {
                Some((last, all)) if *last == place => {
                    all.push(VALUE_SEPARATOR);
                    all.append(&mut ids);
                }
                _ => column.push((place, ids)),
            }
        }
    }

    fn word(&mut self, word: AnalyzedWord) -> u32 {
        let next = self.words.len() as u32;
        let AnalyzedWord { text, token } = word;
        *self
            .ids
            .entry((text, token))
            .or_insert_with_key(|(text, token)| {
                self.words.push(AnalyzedWord {
                    text: text.clone(),
                    token: token.clone(),
                });
                next
            })
    }

    fn add_string(&mut self, place: u32, field: &str, values: Vec<String>) {
        if values.is_empty() {
            return;
        }
        let column = match self.strings.get_mut(field) {
            Some(column) => column,
            None => self.strings.entry(field.to_owned()).or_default(),
        };
        match column.last_mut() {
            Some((last, all)) if *last == place => all.extend(values),
            _ => column.push((place, values)),
        }
    }

    fn finish(self, analysis: Analysis) -> Texts {
        Texts {
            analysis,
            words: self.words,
            texts: self.texts,
            strings: self.strings,
        }
    }
}

/// Returns the texts of a value: of each element of a list, and numbers as they are written.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Null | Value::Object(_) => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts_of).collect(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
    }
}
