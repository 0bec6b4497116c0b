//! Names of a catalogue's datasets, and their occurrences in texts.

use super::TaggerError;
use super::cue::{is_function_word, is_kind};
use super::text::{FoldedText, is_hyphen, is_separator, name_key, stands_alone};
use aho_corasick::AhoCorasick;
use lodeseek_catalog::{DatasetId, Metadata};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Final words of dataset titles that papers omit: "Waymo Open Dataset" is also "Waymo Open".
const KINDS: [&str; 5] = ["dataset", "data set", "database", "corpus", "benchmark"];

/// Form of a name. It estimates the value of a match before any statistics of the texts exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// At most three letters and digits: "SGD", "M4".
    Short,
    /// One word of letters in usual case: "Places", "MNIST", "spider".
    Word,
    /// Several words of letters, none an acronym: "Natural Questions", "Human-Parts".
    Phrase,
    /// A digit, a sign, a capital inside a word, or an acronym among words: "CIFAR-10", "ImageNet", "MS MARCO".
    /// Ordinary words are seldom written so.
    Marked,
}

impl Form {
    /// Classifies a name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let words: Vec<&str> = name
            .split(is_separator)
            .filter(|word| !word.is_empty())
            .collect();
        let length = name
            .chars()
            .filter(|character| character.is_alphanumeric())
            .count();
        match words.iter().all(|word| is_usual(word)) {
            _ if length <= 3 => Self::Short,
            false => Self::Marked,
            true if words.len() == 1 => Self::Word,
            true if words.iter().any(|word| is_acronym(word)) => Self::Marked,
            true => Self::Phrase,
        }
    }
}

/// Returns true for letters only, in one case except for the first.
fn is_usual(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
        && (word.chars().skip(1).all(char::is_lowercase) || word.chars().all(char::is_uppercase))
}

fn is_acronym(word: &str) -> bool {
    word.chars().count() > 1 && word.chars().all(char::is_uppercase)
}

/// Exactness with which a text writes a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum SpellingMatch {
    /// With other capitals.
    Cased,
    /// With other separators.
    Spaced,
    Exactly,
}

#[derive(Debug)]
struct Spelling {
    text: String,
    form: Form,
    /// Positions in the list of datasets, ascending.
    owners: Vec<usize>,
}

/// All spellings that fold to one key.
#[derive(Debug)]
pub(super) struct Name {
    spellings: Vec<Spelling>,
    pub(super) form: Form,
}

/// An occurrence of a name in a text.
#[derive(Clone, Debug)]
pub(super) struct NameMatch {
    pub(super) name: usize,
    pub(super) place: Range<usize>,
    /// Datasets with this name: positions in the list of datasets, ascending. Empty if the capitals differ too much.
    pub(super) owners: Vec<usize>,
    /// If true, the capitals differ from the catalogue's.
    pub(super) is_cased: bool,
}

/// The names of datasets, in an automaton that finds all of them in one pass.
#[derive(Debug)]
pub struct Lexicon {
    pub(super) datasets: Vec<DatasetTexts>,
    pub(super) names: Vec<Name>,
    automaton: AhoCorasick,
}

/// Texts of a dataset that the rules compare.
#[derive(Debug)]
pub(super) struct DatasetTexts {
    pub(super) id: DatasetId,
    title: String,
    /// Names and descriptions, folded. The expansion of an acronym must occur here.
    described: String,
}

impl Lexicon {
    /// Collects the names of these datasets: titles, alternative names, and both without the word "Dataset" at the end.
    ///
    /// # Errors
    ///
    /// Fails if the automaton cannot be built, for example because there are too many names.
    pub fn from_datasets<'m>(
        datasets: impl IntoIterator<Item = &'m Metadata>,
    ) -> Result<Self, TaggerError> {
        let mut known = Vec::new();
        let mut spellings: BTreeMap<String, BTreeMap<String, Spelling>> = BTreeMap::new();
        for (own, metadata) in datasets.into_iter().enumerate() {
            known.push(DatasetTexts::from_metadata(metadata));
            for (name, form) in collect_names(metadata) {
                let by_text = spellings.entry(name_key(&name)).or_default();
                let spelling = by_text.entry(name.clone()).or_insert(Spelling {
                    text: name,
                    form,
                    owners: Vec::new(),
                });
                // A dataset may have the name twice, as title and as alternative; datasets are read in ascending order.
                if spelling.owners.last() != Some(&own) {
                    spelling.owners.push(own);
                }
            }
        }
        let transfers: Vec<String> = spellings
            .keys()
            .filter(|key| is_transfer(key, &spellings))
            .cloned()
            .collect();
        spellings.retain(|key, _| {
            key.chars()
                .filter(|character| character.is_alphanumeric())
                .count()
                > 1
        });
        spellings.retain(|key, _| !transfers.contains(key));
        let automaton = AhoCorasick::new(spellings.keys()).map_err(TaggerError::Names)?;
        let names = spellings
            .into_values()
            .map(|by_text| Name::from_spellings(by_text.into_values().collect()))
            .collect();
        Ok(Self {
            datasets: known,
            names,
            automaton,
        })
    }

    /// Returns the number of distinct names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns true if there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the names in a text from left to right. Of overlapping matches the leftmost is kept, and of these the
    /// longest.
    ///
    /// `any_case` contains for each name whether other capitals than the catalogue's are accepted. `None` accepts them
    /// for all names.
    pub(super) fn matches(&self, text: &str, any_case: Option<&[bool]>) -> Vec<NameMatch> {
        let folded = FoldedText::new(text);
        // Overlapping matches are needed, since the longest one may not stand alone.
        let found = self.automaton.find_overlapping_iter(&folded.text);
        let places = found.map(|found| (found.pattern().as_usize(), folded.source(found.range())));
        let standing = places.filter(|(_, place)| stands_alone(text, place));
        let mut uses: Vec<NameMatch> = standing
            .filter_map(|(name, place)| {
                let (mut owners, is_cased) = self.names[name].owners(&text[place.clone()])?;
                if is_cased && any_case.is_some_and(|allowed| !allowed[name]) {
                    owners.clear();
                }
                Some(NameMatch {
                    name,
                    place,
                    owners,
                    is_cased,
                })
            })
            .collect();
        // A match in other capitals is no mention, but it shows how papers write the word. It suppresses no other
        // match.
        uses.sort_by_key(|found| {
            (
                found.owners.is_empty(),
                found.place.start,
                Reverse(found.place.end),
            )
        });
        let mut kept: BTreeMap<usize, NameMatch> = BTreeMap::new();
        for found in uses {
            // Kept matches do not overlap. The last one that begins before the end of this match also ends last.
            let last = kept.range(..found.place.end).next_back();
            if last.is_none_or(|(_, other)| other.place.end <= found.place.start) {
                kept.insert(found.place.start, found);
            }
        }
        kept.into_values().collect()
    }

    /// Returns the only owner of a name, or the only one whose title is this name. Equal spelling takes precedence.
    pub(super) fn resolve(&self, surface: &str, owners: &[usize]) -> Option<usize> {
        if let [owner] = owners {
            return Some(*owner);
        }
        let key = name_key(surface);
        self.only_owner(owners, |known| known.title == surface)
            .or_else(|| self.only_owner(owners, |known| name_key(&known.title) == key))
    }

    /// Returns the owner that fits, unless several do.
    fn only_owner(&self, owners: &[usize], fits: impl Fn(&DatasetTexts) -> bool) -> Option<usize> {
        let mut fitting = owners
            .iter()
            .copied()
            .filter(|&owner| fits(&self.datasets[owner]));
        fitting.next().filter(|_| fitting.next().is_none())
    }
}

impl DatasetTexts {
    fn from_metadata(metadata: &Metadata) -> Self {
        let texts = metadata
            .titles
            .iter()
            .chain(&metadata.alternatives)
            .chain(&metadata.descriptions);
        let works = metadata
            .introduced_by
            .iter()
            .map(|work| name_key(&work.title));
        let described = texts
            .map(|text| name_key(&text.value))
            .chain(works)
            .collect::<Vec<_>>()
            .join("\n");
        Self {
            id: metadata.id.clone(),
            title: metadata.title().to_owned(),
            described,
        }
    }

    /// Returns true if the catalogue's texts of the dataset contain these words.
    pub(super) fn is_described_by(&self, words: &str) -> bool {
        self.described.contains(&name_key(words))
    }
}

/// Returns the names of a dataset, with single spaces, and their forms. Citations and the word "AND" are no names.
fn collect_names(metadata: &Metadata) -> Vec<(String, Form)> {
    let texts = metadata.titles.iter().chain(&metadata.alternatives);
    let mut names: Vec<(String, Form)> = texts
        .map(|text| text.value.split_whitespace().collect::<Vec<_>>().join(" "))
        .map(with_form)
        .collect();
    if names.is_empty() {
        names.push(with_form(metadata.id.as_str().replace('_', " ")));
    }
    let shorter: Vec<(String, Form)> = names
        .iter()
        .filter_map(|(name, _)| without_kind(name))
        .map(with_weaker_form)
        .collect();
    names.extend(shorter);
    names.retain(|(name, _)| {
        !name.trim_end_matches('.').ends_with(" et al") && !is_function_word(name)
    });
    names
}

fn with_form(name: String) -> (String, Form) {
    let form = Form::from_name(&name);
    (name, form)
}

/// A name without its final "Dataset" is weaker evidence: "RGB-D Object" alone is ambiguous.
fn with_weaker_form(name: String) -> (String, Form) {
    let form = if name.contains(' ') {
        Form::Phrase
    } else {
        Form::from_name(&name)
    };
    (name, form)
}

/// Returns true if a name describes a transfer between two datasets: "SYNTHIA-to-Cityscapes" names both.
fn is_transfer<T>(key: &str, names: &BTreeMap<String, T>) -> bool {
    key.match_indices("to").any(|(place, to)| {
        names.contains_key(&key[..place]) && names.contains_key(&key[place + to.len()..])
    })
}

fn without_kind(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let kind = KINDS
        .iter()
        .find(|kind| lower.ends_with(&format!(" {kind}")))?;
    Some(name[..name.len() - kind.len() - 1].to_owned()).filter(|rest| !rest.is_empty())
}

impl Name {
    fn from_spellings(spellings: Vec<Spelling>) -> Self {
        // The weakest form decides: "Reddit" makes an ordinary word of "REDdit".
        let form = [Form::Short, Form::Word, Form::Phrase]
            .into_iter()
            .find(|form| spellings.iter().any(|spelling| spelling.form == *form))
            .unwrap_or(Form::Marked);
        Self { spellings, form }
    }

    /// Returns the first of the spellings.
    pub(super) fn text(&self) -> &str {
        // Every name has at least one spelling.
        &self.spellings[0].text
    }

    /// Returns true if the name is one word with a digit.
    pub(super) fn has_digit(&self) -> bool {
        self.text().chars().any(char::is_numeric) && !self.text().contains(char::is_whitespace)
    }

    /// Returns true if the name ends in a word for datasets: "Winograd Schema Challenge".
    pub(super) fn ends_in_kind(&self) -> bool {
        self.spellings.iter().all(|spelling| {
            is_kind(
                spelling
                    .text
                    .rsplit(is_separator)
                    .next()
                    .unwrap_or_default(),
            )
        })
    }

    /// Returns true if one of the spellings has no capital.
    pub(super) fn is_lower(&self) -> bool {
        self.spellings
            .iter()
            .any(|spelling| !spelling.text.chars().any(char::is_uppercase))
    }

    /// Returns the datasets that have the name as the text writes it, and whether its capitals differ. `None`: not a
    /// spelling of this name. An empty list: only the capitals differ.
    pub(super) fn owners(&self, surface: &str) -> Option<(Vec<usize>, bool)> {
        let mut how: Vec<(&Spelling, Option<SpellingMatch>)> = Vec::new();
        for spelling in &self.spellings {
            if is_compatible(&spelling.text, surface) {
                how.push((spelling, spelling.match_capitals(surface)));
            }
        }
        if how.is_empty() {
            return None;
        }
        // The closest spelling decides: a dataset with exactly this spelling excludes those with others.
        let best = how.iter().filter_map(|(_, spelled)| *spelled).max();
        let owners = how
            .iter()
            .filter(|(_, spelled)| best.is_some() && *spelled == best);
        let mut owners: Vec<usize> = owners
            .flat_map(|(spelling, _)| spelling.owners.iter().copied())
            .collect();
        owners.sort_unstable();
        owners.dedup();
        Some((
            owners,
            best.is_none_or(|spelled| spelled == SpellingMatch::Cased),
        ))
    }
}

impl Spelling {
    /// Compares a text's spelling with the catalogue's. Words and acronyms must match exactly. Phrases may lose all
    /// capitals but the first. Names with a digit or an inner capital match in any case, unless they are short.
    fn match_capitals(&self, surface: &str) -> Option<SpellingMatch> {
        let (own, theirs) = (
            significant_letters(&self.text),
            significant_letters(surface),
        );
        if own == theirs {
            let exactly = self.text.split_whitespace().eq(surface.split_whitespace());
            return Some(if exactly {
                SpellingMatch::Exactly
            } else {
                SpellingMatch::Spaced
            });
        }
        let first_agrees = own.chars().next() == theirs.chars().next();
        let any_case = match self.form {
            Form::Short | Form::Word => false,
            Form::Phrase => first_agrees,
            Form::Marked => {
                own.chars().count() >= 6
                    && (first_agrees || list_gaps(&self.text).eq(list_gaps(surface)))
            }
        };
        any_case.then_some(SpellingMatch::Cased)
    }
}

/// Returns the letters, digits and signs of a name. A final word for datasets is lower-cased, because its capitals are
/// not significant.
fn significant_letters(name: &str) -> String {
    let kind = match without_kind(name) {
        Some(rest) => rest.len(),
        None => name.len(),
    };
    without_separators(&name[..kind]) + &without_separators(&name[kind..]).to_lowercase()
}

fn without_separators(text: &str) -> String {
    text.chars()
        .filter(|character| !is_separator(*character))
        .collect()
}

fn list_gaps(name: &str) -> impl Iterator<Item = Gap> {
    split_at_gaps(name).into_iter().map(|(gap, _)| gap)
}

/// Returns true if two spellings of one key separate their parts compatibly.
///
/// A hyphen, a space and no separator are equivalent between letters and digits, and at the separators of the name. A
/// hyphen may also stand before a capital inside a word ("mini-ImageNet"). Names of fewer than five letters and digits
/// must match exactly.
fn is_compatible(name: &str, surface: &str) -> bool {
    let (own, theirs) = (split_at_gaps(name), split_at_gaps(surface));
    let long = own.len() >= 5;
    own.len() == theirs.len()
        && (1..own.len()).all(|place| {
            let (gap, other) = (own[place].0, theirs[place].0);
            gap == other || long && may_differ(own[place - 1].1, &own[place..], other)
        })
}

/// Returns true if the separator between two characters may differ. "2D" and "3D" are words: "semantic 3D" is not
/// "Semantic3D".
fn may_differ(before: char, rest: &[(Gap, char)], other: Gap) -> bool {
    let (gap, after) = rest[0];
    let is_dimension = matches!(after, '2' | '3')
        && rest
            .get(1)
            .is_some_and(|(_, next)| matches!(next, 'd' | 'D'));
    let changes = before.is_numeric() != after.is_numeric() && !is_dimension;
    let capital = before.is_lowercase() && after.is_uppercase();
    other != Gap::Wide && (gap != Gap::None || changes || capital && other == Gap::Hyphen)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gap {
    None,
    Space,
    Hyphen,
    /// More than one separator, or an unusual one.
    Wide,
}

/// Returns the characters that are no separators, each with the separator before it.
fn split_at_gaps(text: &str) -> Vec<(Gap, char)> {
    let mut parts = Vec::new();
    let mut gap = Gap::None;
    for character in text.chars() {
        gap = match (gap, character) {
            (Gap::None | Gap::Space, space) if space.is_whitespace() => Gap::Space,
            (Gap::None, hyphen) if is_hyphen(hyphen) => Gap::Hyphen,
            (_, separator) if is_separator(separator) => Gap::Wide,
            (gap, other) => {
                parts.push((gap, other));
                Gap::None
            }
        };
    }
    parts
}
