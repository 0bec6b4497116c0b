//! Translations of query words by a dictionary, for collections in other languages than their users.
//!
//! Terms: an *expression* is a label of one to [`MAX_WORDS`] words. The *source languages* are those of queries, the
//! *target languages* those of the collection.
//!
//! All translations of a word are synonyms, as in structured queries (Pirkola, SIGIR 1998): a word with many meanings
//! has a high document frequency, so that it counts little. The word itself remains one of the synonyms, because the
//! collection may have texts in its language.
//!
//! # Language of a query
//!
//! Most queries are too short for language detection. A word is *foreign* if it is no word of a target language, but
//! one of a source language, which may be a common one (`de`). The source language with most foreign words in a known form is
//! that of the query, then the one with most foreign words. Without a foreign word nothing is translated: `film` and `plan` remain
//! as typed. If no more words are
//! known only in the source language than only in the target language, the query is mixed, and its foreign words alone
//! are translated (`Bäume in Greater Manchester`).
//!
//! # Compounds
//!
//! A compound without a label of its own is translated by its parts, and remains a synonym of each part. A compound that
//! the collection contains is split only if another word of the query is foreign: alone, it finds its exact hits.
//!
//! # Form
//!
//! The dictionary is a text of lines in ascending order, searched by bisection, after a line with the languages:
//!
//! ```text
//! TARGET … TAB SOURCE … TAB ORIGIN …
//! LANGUAGE STEM …  TAB EXPRESSION TAB TRANSLATION …
//! LANGUAGE STEM                                     a word of a target language
//! ```
//!
//! The origins are optional: the versions of the contents whose labels the dictionary contains.

use super::QueryTerm;
use super::inflections::inflections;
use super::language::language_code;
use super::multilingual::{Multilingual, stemmer};
use super::word_use::WordUse;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use tantivy::tokenizer::{TextAnalyzer, TokenStream};

/// Maximum number of words of an expression and of a translation.
const MAX_WORDS: usize = 4;
/// Maximum number of translations of an expression that are used: those that the collection contains come first.
const MAX_TRANSLATIONS: usize = 8;
/// Maximum number of translations of an expression that are looked up.
const MAX_LOOKED_UP_TRANSLATIONS: usize = 64;
/// Languages whose compounds are written as one word. Unknown ones are translated by their parts.
const COMPOUNDING: [&str; 7] = ["da", "de", "fi", "hu", "nl", "no", "sv"];
/// Languages that write all nouns with a capital, so that a capital does not show a name.
const CAPITALIZING: [&str; 2] = ["de", "lb"];
/// Letters between the parts of a compound.
const LINKING_ELEMENTS: [&str; 4] = ["", "s", "n", "en"];
/// Minimum letters of a part of a compound.
const MIN_PART_LETTERS: usize = 4;
/// Maximum number of parts of a compound.
const MAX_PARTS: usize = 3;
/// Maximum letters of a compound.
const MAX_LETTERS: usize = 40;

/// Dictionary from the languages of queries to those of a collection.
pub struct Translations {
    lines: String,
    targets: Vec<WordLanguage>,
    sources: Vec<WordLanguage>,
    origins: Vec<String>,
}

/// A language with its stemmer.
struct WordLanguage {
    code: String,
    stemmer: TextAnalyzer,
}

impl WordLanguage {
    fn new(code: &str) -> Self {
        Self {
            code: code.to_owned(),
            stemmer: stemmer(code),
        }
    }

    /// Returns the stem of each word, with its accents. `None`: a common word.
    fn stems(&self, words: &[String]) -> Vec<Option<String>> {
        let mut stemmer = self.stemmer.clone();
        words
            .iter()
            .map(|word| stem_word(&mut stemmer, word))
            .collect()
    }
}

impl fmt::Debug for Translations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Translations")
            .field("targets", &language_codes(&self.targets))
            .field("sources", &language_codes(&self.sources))
            .finish()
    }
}

fn language_codes(languages: &[WordLanguage]) -> Vec<&str> {
    languages
        .iter()
        .map(|language| language.code.as_str())
        .collect()
}

/// The words that a collection contains.
pub(crate) trait Vocabulary: Send + Sync {
    /// Returns true if a document contains one of these tokens.
    fn contains(&self, tokens: &[String]) -> bool;

    /// Returns the use of a word as written, in the languages of datasets.
    fn word_use(&self, word: &str) -> WordUse;

    /// Returns the use of a token, in the languages of datasets.
    fn token_use(&self, token: &str) -> WordUse;
}

/// A translated query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Language of the query, as a BCP 47 tag.
    pub language: String,
    /// The query with the first translation of each expression.
    pub text: String,
    /// Translated expressions, with their translations.
    pub expressions: Vec<(String, Vec<String>)>,
}

/// A part of a query: a word that remains, or a translated expression.
struct Part {
    /// Index of its first word.
    start: usize,
    /// Number of words.
    len: usize,
    expression: String,
    /// Empty if nothing is translated.
    translations: Vec<String>,
    /// If true, the dictionary has the expression in this form or in its other number. Else only its stem is known.
    is_certain: bool,
}

/// Translations of an expression.
#[derive(Debug, Default)]
struct Found {
    translations: Vec<String>,
    /// If true, the dictionary has this expression, and not only one with the same stems.
    is_certain: bool,
}

/// A query as one of a source language.
struct Reading<'t> {
    language: &'t WordLanguage,
    /// Number of words of this language, common ones included, that are no words of a target language.
    foreign: usize,
    /// Number of those whose form is known, and not only their stem: `codici` has the stem of the Spanish `codicia`.
    certain: usize,
    /// Number of words of a target language that are no words of this language.
    only_native: usize,
    /// If true, the detected language is this one.
    is_detected: bool,
    parts: Vec<Part>,
}

impl Reading<'_> {
    fn likelihood(&self) -> (bool, usize, usize, Reverse<usize>) {
        (
            self.is_detected,
            self.certain,
            self.foreign,
            Reverse(self.only_native),
        )
    }

    /// Returns true if only the stem of one word speaks for the language, and the collection contains the word as typed: `Madrid` has
    /// the Spanish stem of `madre`, and is the city.
    fn is_doubtful(&self, words: &[String], vocabulary: Option<&dyn Vocabulary>) -> bool {
        let Some(vocabulary) = vocabulary else {
            return false;
        };
        if self.foreign != 1 || self.certain > 0 || self.is_detected {
            return false;
        }
        let translated = self
            .parts
            .iter()
            .filter(|part| !part.translations.is_empty());
        let mut places = translated.flat_map(|part| part.start..part.start + part.len);
        places.all(|place| vocabulary.word_use(&words[place]).datasets > 0)
    }
}

impl Translations {
    /// Reads a dictionary that [`TranslationsBuilder`] wrote. `None` if its first line is invalid.
    #[must_use]
    pub fn parse(text: String) -> Option<Self> {
        let mut cells = text.lines().next()?.split('\t');
        let (targets, sources) = (cells.next()?, cells.next()?);
        let origins = cells.next().unwrap_or_default().split_whitespace();
        let origins = origins.map(str::to_owned).collect();
        let (targets, sources) = (parse_languages(targets), parse_languages(sources));
        (!targets.is_empty()).then_some(Self {
            lines: text,
            targets,
            sources,
            origins,
        })
    }

    /// Returns the union of two dictionaries. Translations of the first one precede those of the second.
    #[must_use]
    pub fn merge(self, second: Self) -> Self {
        let mut rows: Vec<(&str, &str)> = Vec::new();
        for dictionary in [&self, &second] {
            rows.extend(dictionary.lines.lines().skip(1).map(split_translations));
        }
        // Stable: of equal keys those of the first dictionary come first.
        rows.sort_by_key(|(key, _)| *key);
        let mut text = String::with_capacity(self.lines.len() + second.lines.len());
        let [targets, sources] = [
            merge_codes(&self.targets, &second.targets),
            merge_codes(&self.sources, &second.sources),
        ];
        let _ = writeln!(text, "{targets}\t{sources}");
        for equal in rows.chunk_by(|one, next| one.0 == next.0) {
            text.push_str(equal[0].0);
            let mut translations: Vec<&str> = Vec::new();
            for (_, cells) in equal {
                for cell in cells.split('\t').filter(|cell| !cell.is_empty()) {
                    if !translations.contains(&cell) {
                        translations.push(cell);
                    }
                }
            }
            for translation in translations {
                text.push_str(translation);
                text.push('\t');
            }
            if text.ends_with('\t') {
                text.pop();
            }
            text.push('\n');
        }
        Self {
            targets: parse_languages(&targets),
            sources: parse_languages(&sources),
            origins: Vec::new(),
            lines: text,
        }
    }

    /// Returns the versions of the contents whose labels it contains.
    #[must_use]
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Returns the languages of the collection, as BCP 47 tags.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|language| language.code.as_str())
    }

    /// Returns the languages of queries that are translated, with the number of their expressions.
    #[must_use]
    pub fn sources(&self) -> Vec<(&str, usize)> {
        let mut counts: Vec<(&str, usize)> = self
            .sources
            .iter()
            .map(|source| (source.code.as_str(), 0))
            .collect();
        for line in self
            .lines
            .lines()
            .skip(1)
            .filter(|line| line.contains('\t'))
        {
            let language = line.split(' ').next();
            if let Some((_, count)) = counts
                .iter_mut()
                .find(|(source, _)| Some(*source) == language)
            {
                *count += 1;
            }
        }
        counts
    }

    /// Returns the words of a query with their translations as synonyms. `None` if no word is foreign.
    pub(super) fn translate(
        &self,
        text: &str,
        analysis: &Multilingual,
        vocabulary: Option<&dyn Vocabulary>,
    ) -> Option<(Vec<QueryTerm>, Translation)> {
        let detected = analysis.detect_code(text);
        // A query in a language of the collection needs no translation.
        if self.targets().any(|target| detected == Some(target)) {
            return None;
        }
        let words = Multilingual::whole_words(text);
        let native = self.native_words(&words);
        let is_indexed: Vec<bool> = analysis
            .terms_by_word(text, None)
            .iter()
            .map(|term| match (term, vocabulary) {
                (Some(term), Some(vocabulary)) => vocabulary.contains(&term.alternatives),
                _ => false,
            })
            .collect();
        if native.iter().all(|native| *native) {
            return None;
        }
        let mut best: Option<Reading<'_>> = None;
        for source in &self.sources {
            let reading = Reading {
                is_detected: detected == Some(source.code.as_str()),
                ..self.read(&words, &native, &is_indexed, source)
            };
            let is_likelier = best
                .as_ref()
                .is_none_or(|best| reading.likelihood() > best.likelihood());
            if reading.foreign > 0 && is_likelier && !reading.is_doubtful(&words, vocabulary) {
                best = Some(reading);
            }
        }
        let Reading {
            language,
            foreign,
            only_native,
            is_detected,
            mut parts,
            ..
        } = best?;
        let is_whole = is_detected || foreign > only_native;
        if !is_whole {
            for part in &mut parts {
                if native[part.start..part.start + part.len]
                    .iter()
                    .all(|native| *native)
                {
                    part.translations.clear();
                }
            }
        }
        if !CAPITALIZING.contains(&language.code.as_str()) {
            keep_names(text, &words, &mut parts, vocabulary);
        }
        for part in &mut parts {
            self.order_translations(part, &words, language, analysis, vocabulary);
        }
        Some(self.assemble(text, &words, &language.code, is_whole, &parts, analysis))
    }

    /// Moves the translations whose words the collection contains to the front. Among those of several words, the ones with most
    /// translations of the single words come first: of `accidentes de tráfico`, `traffic accidents` before `road safety`.
    fn order_translations(
        &self,
        part: &mut Part,
        words: &[String],
        language: &WordLanguage,
        analysis: &Multilingual,
        vocabulary: Option<&dyn Vocabulary>,
    ) {
        if part.translations.len() > 1 {
            let mut of_words = Vec::new();
            if part.len > 1 {
                for word in &words[part.start..part.start + part.len] {
                    for translation in self.lookup_word(language, word) {
                        of_words.extend(analysis.terms_in(&translation, self.targets()));
                    }
                }
            }
            part.translations.sort_by_cached_key(|translation| {
                let terms = analysis.terms_in(translation, self.targets());
                let is_supported = terms.iter().all(|term| {
                    vocabulary.is_none_or(|vocabulary| vocabulary.contains(&term.alternatives))
                });
                let agreeing = terms
                    .iter()
                    .filter(|term| of_words.iter().any(|other| term.is_equivalent(other)))
                    .count();
                (!is_supported, Reverse(agreeing))
            });
        }
        part.translations.truncate(MAX_TRANSLATIONS);
    }

    /// Reads a query as one of a source language. Compounds that the collection contains are split only if another word is
    /// foreign.
    fn read<'t>(
        &self,
        words: &[String],
        native: &[bool],
        is_indexed: &[bool],
        language: &'t WordLanguage,
    ) -> Reading<'t> {
        let reading = self.read_parts(words, native, is_indexed, language);
        if reading.foreign == 0 || !is_indexed.contains(&true) {
            return reading;
        }
        self.read_parts(words, native, &vec![false; words.len()], language)
    }

    /// Reads a query, and keeps some of its compounds whole.
    fn read_parts<'t>(
        &self,
        words: &[String],
        native: &[bool],
        is_whole: &[bool],
        language: &'t WordLanguage,
    ) -> Reading<'t> {
        let stems = language.stems(words);
        let parts = self.parts(words, &stems, is_whole, language);
        let mut is_known: Vec<bool> = stems.iter().map(Option::is_none).collect();
        let mut is_certain = is_known.clone();
        for part in parts.iter().filter(|part| !part.translations.is_empty()) {
            is_known[part.start..part.start + part.len].fill(true);
            if part.is_certain {
                is_certain[part.start..part.start + part.len].fill(true);
            }
        }
        let (mut foreign, mut certain, mut only_native) = (0, 0, 0);
        for place in 0..words.len() {
            foreign += usize::from(is_known[place] && !native[place]);
            certain += usize::from(is_certain[place] && !native[place]);
            only_native += usize::from(!is_known[place] && native[place]);
        }
        Reading {
            language,
            foreign,
            certain,
            only_native,
            is_detected: false,
            parts,
        }
    }

    /// Returns for each word whether it is a word of a target language, or a common word of one.
    fn native_words(&self, words: &[String]) -> Vec<bool> {
        let mut native = vec![false; words.len()];
        for target in &self.targets {
            for (native, stem) in native.iter_mut().zip(target.stems(words)) {
                *native |=
                    stem.is_none_or(|stem| self.has_line(&format!("{} {stem}", target.code)));
            }
        }
        native
    }

    /// Splits a query into the longest known expressions of a language, and the words between them. Common words of the
    /// language are parts without translation.
    fn parts(
        &self,
        words: &[String],
        stems: &[Option<String>],
        is_whole: &[bool],
        language: &WordLanguage,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut start = 0;
        while start < words.len() {
            let known = (1..=MAX_WORDS.min(words.len() - start))
                .rev()
                .find_map(|len| {
                    let (first, last) = (&stems[start], &stems[start + len - 1]);
                    if first.is_none() || last.is_none() {
                        return None;
                    }
                    let key: Vec<&str> = stems[start..start + len]
                        .iter()
                        .flatten()
                        .map(String::as_str)
                        .collect();
                    let expression = words[start..start + len].join(" ");
                    let found = match len {
                        1 => self.lookup_forms(language, &expression),
                        _ => self.lookup(&language.code, &key.join(" "), &expression),
                    };
                    (!found.translations.is_empty()).then_some(Part {
                        start,
                        len,
                        expression,
                        translations: found.translations,
                        is_certain: found.is_certain,
                    })
                });
            let Some(part) = known else {
                parts.extend(self.word_parts(
                    start,
                    &words[start],
                    language,
                    stems[start].is_some() && !is_whole[start],
                ));
                start += 1;
                continue;
            };
            start += part.len;
            parts.push(part);
        }
        parts
    }

    /// Returns the parts of a word that is no expression: those of a compound, or the word itself.
    fn word_parts(
        &self,
        start: usize,
        word: &str,
        language: &WordLanguage,
        may_split: bool,
    ) -> Vec<Part> {
        let has_compounds = COMPOUNDING.contains(&language.code.as_str());
        let is_possible = may_split && has_compounds && word.chars().count() <= MAX_LETTERS;
        let compound = if is_possible {
            self.find_compound(word, language, MAX_PARTS)
        } else {
            None
        };
        let parts = compound.unwrap_or_else(|| vec![(word.to_owned(), Vec::new())]);
        parts
            .into_iter()
            .map(|(expression, translations)| Part {
                start,
                len: 1,
                is_certain: !translations.is_empty(),
                expression,
                translations,
            })
            .collect()
    }

    /// Returns the fewest known words that form a compound, with their translations.
    fn find_compound(
        &self,
        word: &str,
        language: &WordLanguage,
        max_parts: usize,
    ) -> Option<Vec<(String, Vec<String>)>> {
        let whole = self.lookup_word(language, word);
        if !whole.is_empty() {
            return Some(vec![(word.to_owned(), whole)]);
        }
        let letters = word.chars().count();
        if max_parts == 1 || letters < 2 * MIN_PART_LETTERS {
            return None;
        }
        let mut best: Option<Vec<(String, Vec<String>)>> = None;
        let ends = word
            .char_indices()
            .map(|(end, _)| end)
            .take(letters + 1 - MIN_PART_LETTERS)
            .skip(MIN_PART_LETTERS);
        // The longest first part comes first: of equally many parts it is the likeliest.
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            let (head, rest) = word.split_at(end);
            let translations = self.lookup_word(language, head);
            if translations.is_empty() {
                continue;
            }
            for tail in LINKING_ELEMENTS
                .iter()
                .filter_map(|linking| rest.strip_prefix(linking))
            {
                if tail.chars().count() < MIN_PART_LETTERS {
                    continue;
                }
                let Some(tail) = self.find_compound(tail, language, max_parts - 1) else {
                    continue;
                };
                if best.as_ref().is_none_or(|best| tail.len() + 1 < best.len()) {
                    best = Some(
                        [(head.to_owned(), translations.clone())]
                            .into_iter()
                            .chain(tail)
                            .collect(),
                    );
                }
            }
        }
        best
    }

    fn lookup_word(&self, language: &WordLanguage, word: &str) -> Vec<String> {
        self.lookup_forms(language, word).translations
    }

    /// Returns the translations of a word as typed, then those of its other number: `wegen` is a verb in Dutch and the plural of
    /// `weg`. Without either, those of the most similar word with the same stem.
    fn lookup_forms(&self, language: &WordLanguage, word: &str) -> Found {
        let mut stemmer = language.stemmer.clone();
        let Some(own_stem) = stem_word(&mut stemmer, word) else {
            return Found::default();
        };
        let mut found = self.lookup(&language.code, &own_stem, word);
        let mut certain = Vec::new();
        if found.is_certain {
            certain.append(&mut found.translations);
        }
        for form in inflections(word, &language.code) {
            if let Some(stem) = stem_word(&mut stemmer, &form) {
                let other = self.lookup(&language.code, &stem, &form);
                if other.is_certain {
                    add_distinct(&mut certain, &other.translations);
                }
            }
        }
        if certain.is_empty() {
            return found;
        }
        certain.truncate(MAX_LOOKED_UP_TRANSLATIONS);
        Found {
            translations: certain,
            is_certain: true,
        }
    }

    /// Returns the query's words with the translations of its parts. If the whole query is in the language, the common words
    /// of the language are removed.
    fn assemble(
        &self,
        text: &str,
        words: &[String],
        language: &str,
        is_whole: bool,
        parts: &[Part],
        analysis: &Multilingual,
    ) -> (Vec<QueryTerm>, Translation) {
        let typed = analysis.terms_by_word(text, is_whole.then_some(language));
        let mut terms = Vec::new();
        let mut translation = Translation {
            language: language.to_owned(),
            ..Translation::default()
        };
        let mut texts: Vec<&str> = Vec::new();
        for part in parts {
            let [first, ..] = part.translations.as_slice() else {
                let term = &typed[part.start];
                texts.extend(term.as_ref().map(|_| part.expression.as_str()));
                terms.extend(term.clone());
                continue;
            };
            texts.push(first);
            // Texts in the language of the query are found by the words of an expression.
            let original = match part.len {
                1 => analysis.query_words(&part.expression),
                len => typed[part.start..part.start + len]
                    .iter()
                    .flatten()
                    .cloned()
                    .collect(),
            };
            let mut original: Vec<String> = original
                .into_iter()
                .flat_map(|term| term.alternatives)
                .collect();
            // The compound is a synonym of each of its parts.
            if part.len == 1
                && words[part.start] != part.expression
                && let Some(compound) = &typed[part.start]
            {
                add_distinct(&mut original, &compound.alternatives);
            }
            terms.extend(self.translate_terms(part, &original, analysis));
            let others = part
                .translations
                .iter()
                .filter(|translated| **translated != part.expression);
            let others: Vec<String> = others.cloned().collect();
            if !others.is_empty() {
                translation
                    .expressions
                    .push((part.expression.clone(), others));
            }
        }
        translation.text = texts.join(" ");
        (terms, translation)
    }

    /// Returns the terms of a translated expression: one with all translations of one word as synonyms, or the words of the
    /// first translation.
    fn translate_terms(
        &self,
        part: &Part,
        original: &[String],
        analysis: &Multilingual,
    ) -> Vec<QueryTerm> {
        let analysed: Vec<Vec<QueryTerm>> = part
            .translations
            .iter()
            .map(|text| analysis.terms_in(text, self.targets()))
            .collect();
        let mut alternatives = original.to_vec();
        let mut has_word = false;
        for words in &analysed {
            if let [word] = words.as_slice() {
                has_word = true;
                add_distinct(&mut alternatives, &word.alternatives);
            }
        }
        if has_word {
            return vec![QueryTerm {
                text: part.expression.clone(),
                alternatives,
            }];
        }
        let mut terms = analysed.into_iter().next().unwrap_or_default();
        for term in &mut terms {
            add_distinct(&mut term.alternatives, original);
        }
        terms
    }

    /// Returns the translations of an expression, else those of the most similar one with the same stems.
    fn lookup(&self, language: &str, stems: &str, expression: &str) -> Found {
        let key = format!("{language} {stems}\t");
        let entries = self.lines_with(&key).filter_map(|line| {
            let mut cells = line.split('\t').skip(1);
            Some((cells.next()?, cells))
        });
        let Some((other, cells)) =
            entries.max_by_key(|(other, _)| form_similarity(other, expression))
        else {
            return Found::default();
        };
        Found {
            is_certain: other == expression,
            translations: cells
                .take(MAX_LOOKED_UP_TRANSLATIONS)
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Returns the lines that begin with a key.
    fn lines_with<'t>(&'t self, key: &'t str) -> impl Iterator<Item = &'t str> {
        self.lines[self.first_not_before(key)..]
            .lines()
            .take_while(move |line| line.starts_with(key))
    }

    fn has_line(&self, line: &str) -> bool {
        self.lines[self.first_not_before(line)..].lines().next() == Some(line)
    }

    /// Returns the offset of the first line, after that with the languages, that is not less than a key.
    fn first_not_before(&self, key: &str) -> usize {
        let bytes = self.lines.as_bytes();
        let mut low = match find_line_end(bytes, 0) {
            Some(end) => end + 1,
            None => bytes.len(),
        };
        let mut high = bytes.len();
        while low < high {
            let middle = low + (high - low) / 2;
            // The middle is moved back to the beginning of its line.
            let last_end = bytes[low..middle].iter().rposition(|byte| *byte == b'\n');
            let start = match last_end {
                Some(end) => low + end + 1,
                None => low,
            };
            let end = find_line_end(bytes, start).unwrap_or(bytes.len());
            if &bytes[start..end] < key.as_bytes() {
                low = (end + 1).min(bytes.len());
            } else {
                high = start;
            }
        }
        low
    }
}

/// Removes the translations of names that only share the stem of a known word: `contratos Madrid` is about the city, although `Madrid`
/// has the Spanish stem of `madre`. A name is written with a capital beside words without one, is not the first word, and the
/// collection contains it.
fn keep_names(
    text: &str,
    words: &[String],
    parts: &mut [Part],
    vocabulary: Option<&dyn Vocabulary>,
) {
    let Some(vocabulary) = vocabulary else {
        return;
    };
    let typed: Vec<&str> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    if typed
        .iter()
        .all(|word| word.starts_with(char::is_uppercase))
    {
        return;
    }
    let later = typed.iter().skip(1);
    let names: Vec<String> = later
        .filter(|word| word.starts_with(char::is_uppercase))
        .map(|word| word.to_lowercase())
        .collect();
    for part in parts
        .iter_mut()
        .filter(|part| part.len == 1 && !part.is_certain)
    {
        let word = &words[part.start];
        if names.contains(word) && vocabulary.word_use(word).datasets > 0 {
            part.translations.clear();
        }
    }
}

/// Returns the offset of the first line feed that is not before `from`.
fn find_line_end(bytes: &[u8], from: usize) -> Option<usize> {
    bytes[from..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map(|at| from + at)
}

/// Splits a line into its language, stems and expression, with the tab after them, and its translations.
fn split_translations(line: &str) -> (&str, &str) {
    let Some(expression) = line.find('\t').map(|tab| tab + 1) else {
        return (line, "");
    };
    match line[expression..].find('\t') {
        Some(tab) => line.split_at(expression + tab + 1),
        None => (line, ""),
    }
}

/// Parses language codes that are separated by spaces.
fn parse_languages(codes: &str) -> Vec<WordLanguage> {
    codes.split_whitespace().map(WordLanguage::new).collect()
}

/// Returns the codes of two lists of languages, each once.
fn merge_codes(first: &[WordLanguage], second: &[WordLanguage]) -> String {
    let mut codes: Vec<&str> = Vec::new();
    for language in first.iter().chain(second) {
        if !codes.contains(&language.code.as_str()) {
            codes.push(&language.code);
        }
    }
    codes.join(" ")
}

fn add_distinct(list: &mut Vec<String>, added: &[String]) {
    for one in added {
        if !list.contains(one) {
            list.push(one.clone());
        }
    }
}

/// Returns the similarity of two forms of a word: the length of their common beginning, then that of the difference of
/// their lengths.
fn form_similarity(one: &str, other: &str) -> (usize, Reverse<usize>) {
    let common = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    (common, Reverse(one.len().abs_diff(other.len())))
}

/// Returns the stem of a word, with its accents. `None`: a common word.
fn stem_word(stemmer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = stemmer.token_stream(word);
    stream.advance().then(|| stream.token().text.clone())
}

/// Builds a dictionary from the labels of resources.
pub struct TranslationsBuilder {
    targets: Vec<String>,
    /// The languages of the labels.
    languages: BTreeMap<String, WordLanguage>,
    /// Translations by language with stems, and expression.
    expressions: BTreeMap<(String, String), Vec<String>>,
    /// Words of the target languages, as lines.
    words: BTreeSet<String>,
    sources: BTreeSet<String>,
    origins: Vec<String>,
}

impl TranslationsBuilder {
    /// Creates a builder for the languages of a collection, as BCP 47 tags.
    #[must_use]
    pub fn new<'t>(targets: impl IntoIterator<Item = &'t str>) -> Self {
        Self {
            targets: targets.into_iter().map(language_code).collect(),
            languages: BTreeMap::new(),
            expressions: BTreeMap::new(),
            words: BTreeSet::new(),
            sources: BTreeSet::new(),
            origins: Vec::new(),
        }
    }

    /// Sets the versions of the contents whose labels are added.
    #[must_use]
    pub fn with_origins(self, origins: Vec<String>) -> Self {
        Self { origins, ..self }
    }

    /// Adds the labels of a resource, as language tags and texts, the preferred ones first. Long labels are ignored.
    pub fn add<'l>(&mut self, labels: impl IntoIterator<Item = (&'l str, &'l str)>) {
        let mut expressions: Vec<(String, Vec<String>)> = Vec::new();
        for (language, text) in labels {
            let words = Multilingual::whole_words(&without_notes(text));
            if (1..=MAX_WORDS).contains(&words.len()) {
                expressions.push((language_code(language), words));
            }
        }
        for (code, words) in &expressions {
            let language = self
                .languages
                .entry(code.clone())
                .or_insert_with(|| WordLanguage::new(code));
            let stems: Vec<String> = language.stems(words).into_iter().flatten().collect();
            if self.targets.contains(code) {
                self.words
                    .extend(stems.iter().map(|stem| format!("{code} {stem}")));
            }
            let translations = expressions
                .iter()
                .filter(|(other, _)| other != code && self.targets.contains(other));
            let translations: Vec<String> =
                translations.map(|(_, words)| words.join(" ")).collect();
            if stems.is_empty() || translations.is_empty() {
                continue;
            }
            self.sources.insert(code.clone());
            let key = (format!("{code} {}", stems.join(" ")), words.join(" "));
            add_distinct(self.expressions.entry(key).or_default(), &translations);
        }
    }

    /// Returns the number of expressions with translations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.expressions.len()
    }

    /// Returns true if nothing is translated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// Returns the dictionary as text, for [`Translations::parse`].
    #[must_use]
    pub fn into_text(self) -> String {
        let mut lines: Vec<String> = self.words.into_iter().collect();
        for ((stems, expression), translations) in self.expressions {
            lines.push(format!(
                "{stems}\t{expression}\t{}",
                translations.join("\t")
            ));
        }
        // In the order of bytes, by which lines are searched.
        lines.sort_unstable();
        let sources: Vec<String> = self.sources.into_iter().collect();
        let mut text = format!("{}\t{}", self.targets.join(" "), sources.join(" "));
        if !self.origins.is_empty() {
            let _ = write!(text, "\t{}", self.origins.join(" "));
        }
        text.push('\n');
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// Returns a label without its parts in brackets, which are notes: `Mercury (planet)`.
fn without_notes(label: &str) -> String {
    let mut depth = 0_usize;
    let mut text = String::with_capacity(label.len());
    for character in label.chars() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(character),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, AnalysisKind};
    use std::sync::Arc;

    const ENTRIES: &[&[(&str, &str)]] = &[
        &[("de", "Stickstoff"), ("en", "nitrogen")],
        &[
            ("de", "Trinkwasser"),
            ("en", "drinking water"),
            ("en", "potable water"),
        ],
        &[("de", "Plan"), ("en", "plan"), ("en", "scheme")],
        &[("de", "Minderung"), ("en", "reduction"), ("en", "decrease")],
        &[("de", "Baum (Botanik)"), ("en", "tree"), ("fr", "arbre")],
        &[("en", "water"), ("fr", "eau"), ("cs", "voda")],
        &[("fr", "pomme de terre"), ("en", "potato")],
        &[("es", "contrato"), ("en", "contract")],
        &[("es", "contratación"), ("en", "procurement")],
        &[("en", "film"), ("fr", "film")],
        &[("en", "greater Manchester")],
    ];

    fn builder() -> TranslationsBuilder {
        let mut builder = TranslationsBuilder::new(["en"]);
        for labels in ENTRIES {
            builder.add(labels.iter().copied());
        }
        builder
    }

    fn analysis() -> Analysis {
        let translations = Translations::parse(builder().into_text()).expect("a dictionary");
        Analysis::new(AnalysisKind::Multilingual).with_translations(Some(Arc::new(translations)))
    }

    /// Returns the language of a query, its words, and the text for encoders.
    fn translated(query: &str) -> Option<(String, Vec<String>, String)> {
        let (words, translation) = analysis().translated_words(query);
        let translation = translation?;
        Some((
            translation.language,
            words.into_iter().map(|word| word.text).collect(),
            translation.text,
        ))
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn translations_are_synonyms() {
        let (terms, translation) = analysis().translated_words("Stickstoff-Minderung");
        let translation = translation.expect("translated");
        assert_eq!(translation.language, "de");
        assert_eq!(translation.text, "nitrogen reduction");
        assert_eq!(
            translation.expressions[1],
            ("minderung".to_owned(), words(&["reduction", "decrease"]))
        );
        assert_eq!(terms.len(), 2);
        for token in ["minder", "reduct", "decreas"] {
            assert!(terms[1].matches(token), "{token}: {:?}", terms[1]);
        }
    }

    #[test]
    fn a_translation_of_several_words_is_several_terms() {
        let (terms, _) = analysis().translated_words("Trinkwasser");
        assert_eq!(
            terms
                .iter()
                .map(|term| term.text.as_str())
                .collect::<Vec<_>>(),
            ["drinking", "water"]
        );
        assert!(
            terms.iter().all(|term| term.matches("trinkwass")),
            "texts in German are found: {terms:?}"
        );
    }

    #[test]
    fn expressions_are_found_in_other_forms() {
        let (_, terms, text) = translated("pommes de terre et arbres").expect("French");
        assert_eq!(
            (terms, text.as_str()),
            (words(&["pommes de terre", "arbres"]), "potato tree")
        );
        assert_eq!(
            translated("contratos").expect("Spanish").2,
            "contract",
            "the most similar form"
        );
        assert_eq!(
            translated("vodu").map(|found| found.2),
            None,
            "Czech has no stemmer"
        );
        assert_eq!(translated("voda").expect("Czech").0, "cs");
    }

    #[test]
    fn compounds_are_translated_by_their_parts() {
        assert_eq!(
            translated("Stickstoffminderungsplan").expect("German").2,
            "nitrogen reduction plan"
        );
        assert_eq!(translated("Baumquark"), None);
    }

    /// The words of a collection, in place of an index.
    struct Words(Vec<String>);

    impl Vocabulary for Words {
        fn contains(&self, tokens: &[String]) -> bool {
            tokens.iter().any(|token| self.0.contains(token))
        }

        fn word_use(&self, word: &str) -> WordUse {
            self.token_use(word)
        }

        fn token_use(&self, token: &str) -> WordUse {
            WordUse {
                datasets: usize::from(self.contains(&[token.to_owned()])),
                ..WordUse::default()
            }
        }
    }

    #[test]
    fn a_name_of_the_collection_is_no_form_of_another_word() {
        let mut builder = TranslationsBuilder::new(["en"]);
        builder.add([("es", "madre"), ("en", "mother")]);
        let translations = Translations::parse(builder.into_text()).expect("a dictionary");
        let analysis = Analysis::new(AnalysisKind::Multilingual)
            .with_translations(Some(Arc::new(translations)));
        assert!(
            analysis.translated_words("Madrid").1.is_some(),
            "by its stem"
        );
        let analysis = analysis.with_vocabulary(Arc::new(Words(words(&["madrid"]))));
        assert_eq!(analysis.translated_words("Madrid").1, None);
        assert!(analysis.translated_words("madre").1.is_some());
    }

    #[test]
    fn a_name_beside_foreign_words_is_no_form_of_another_word() {
        let mut builder = TranslationsBuilder::new(["en"]);
        builder.add([("es", "madre"), ("en", "mother")]);
        builder.add([("es", "contratos"), ("en", "contracts")]);
        let translations = Translations::parse(builder.into_text()).expect("a dictionary");
        let analysis = Analysis::new(AnalysisKind::Multilingual)
            .with_translations(Some(Arc::new(translations)))
            .with_vocabulary(Arc::new(Words(words(&["madrid"]))));
        let translation = |query: &str| analysis.translated_words(query).1.expect(query).text;
        assert_eq!(translation("contratos Madrid"), "contracts madrid");
        assert_eq!(translation("contratos en Madrid"), "contracts madrid");
        // Without a difference in case, nothing shows a name.
        assert_eq!(translation("contratos madrid"), "contracts mother");
        assert_eq!(translation("Contratos Madrid"), "contracts mother");
    }

    #[test]
    fn a_compound_is_a_synonym_of_its_parts() {
        let (terms, _) = analysis().translated_words("Stickstoffminderungsplan");
        assert_eq!(terms.len(), 3);
        for term in &terms {
            assert!(term.matches("stickstoffminderungsplan"), "{term:?}");
        }
        assert!(terms[0].matches("nitrogen") && !terms[1].matches("nitrogen"));
    }

    #[test]
    fn compounds_of_the_collection_are_split_beside_foreign_words_only() {
        let analysis =
            analysis().with_vocabulary(Arc::new(Words(words(&["stickstoffminderungsplan"]))));
        let (terms, translation) = analysis.translated_words("Stickstoffminderungsplan");
        assert_eq!((terms.len(), translation), (1, None));
        let (terms, translation) = analysis.translated_words("Bäume Stickstoffminderungsplan");
        assert_eq!(
            translation.expect("German").text,
            "tree nitrogen reduction plan"
        );
        assert!(terms[1].matches("stickstoffminderungsplan"), "{terms:?}");
    }

    #[test]
    fn words_of_the_collection_are_not_translated() {
        for query in [
            "plan",
            "film",
            "nitrogen reduction plan",
            "quarks",
            "",
            "of the",
        ] {
            assert_eq!(translated(query), None, "{query}");
        }
        assert_eq!(
            translated("Plan zur Minderung").expect("German").2,
            "plan reduction"
        );
        let (language, terms, text) =
            translated("Bäume in Greater Manchester").expect("German and English");
        assert_eq!(
            (language.as_str(), text.as_str()),
            ("de", "tree greater manchester")
        );
        assert_eq!(terms, words(&["bäume", "greater", "manchester"]));
        assert!(
            analysis()
                .without_translations()
                .translated_words("Stickstoff")
                .1
                .is_none()
        );
    }

    #[test]
    fn merged_dictionaries_have_the_translations_of_both() {
        let first = Translations::parse(builder().with_origins(words(&["v1"])).into_text());
        let mut second = TranslationsBuilder::new(["en"]);
        second.add([("de", "Plan"), ("en", "map"), ("en", "plan")]);
        second.add([("nl", "boom"), ("en", "tree")]);
        let second = Translations::parse(second.into_text()).expect("a dictionary");
        let first = first.expect("a dictionary");
        assert_eq!(first.origins(), ["v1"]);
        let merged = first.merge(second);
        assert_eq!(
            merged.lookup("de", "plan", "plan").translations,
            ["plan", "scheme", "map"]
        );
        assert_eq!(
            merged.lookup("nl", "boom", "boom").translations,
            merged.lookup("de", "baum", "baum").translations
        );
        assert!(merged.has_line("en nitrogen") && merged.origins().is_empty());
        let again = Translations::parse(merged.lines.clone()).expect("a dictionary");
        assert_eq!(again.sources(), merged.sources());
        let mut lines: Vec<&str> = merged.lines.lines().skip(1).collect();
        lines.sort_unstable();
        assert!(
            merged.lines.lines().skip(1).eq(lines),
            "bisection needs sorted lines"
        );
    }

    #[test]
    fn expressions_of_several_words_are_searched_for_as_typed_too() {
        let mut builder = builder();
        builder.add([
            ("es", "accidentes de tráfico"),
            ("en", "road safety"),
            ("en", "traffic accidents"),
        ]);
        builder.add([("es", "tráfico"), ("en", "traffic")]);
        let translations = Translations::parse(builder.into_text()).expect("a dictionary");
        let analysis = Analysis::new(AnalysisKind::Multilingual)
            .with_translations(Some(Arc::new(translations)));
        let (terms, translation) = analysis.translated_words("accidentes de tráfico");
        assert_eq!(translation.expect("Spanish").text, "traffic accidents");
        assert_eq!(terms.len(), 2);
        for term in terms {
            assert!(
                term.matches("trafic") && term.matches("accident"),
                "{term:?}"
            );
            assert!(!term.matches("de"), "{term:?}");
        }
    }

    #[test]
    fn forms_decide_between_languages_and_between_words_of_one_stem() {
        let mut builder = TranslationsBuilder::new(["en"]);
        builder.add([("es", "codicia"), ("en", "greed")]);
        builder.add([("it", "codice"), ("en", "code")]);
        builder.add([("it", "pozza"), ("en", "puddle")]);
        builder.add([("it", "pozzo"), ("en", "well")]);
        builder.add([("nl", "wegen"), ("en", "weigh")]);
        builder.add([("nl", "weg"), ("en", "road")]);
        let translations = Translations::parse(builder.into_text()).expect("a dictionary");
        let analysis = Analysis::new(AnalysisKind::Multilingual)
            .with_translations(Some(Arc::new(translations)));
        for (query, language, text) in [
            ("codici", "it", "code"),
            ("codicia", "es", "greed"),
            ("pozzi", "it", "well"),
        ] {
            let translation = analysis.translated_words(query).1.expect("translated");
            assert_eq!(
                (translation.language.as_str(), translation.text.as_str()),
                (language, text),
                "{query}"
            );
        }
        let translation = analysis.translated_words("wegen").1.expect("Dutch");
        assert_eq!(translation.expressions[0].1, ["weigh", "road"]);
    }

    #[test]
    fn translations_that_the_collection_contains_come_first() {
        let analysis = analysis().with_vocabulary(Arc::new(Words(words(&["decreas"]))));
        let (_, translation) = analysis.translated_words("Minderung");
        let translation = translation.expect("German");
        assert_eq!(translation.text, "decrease");
        assert_eq!(translation.expressions[0].1, ["decrease", "reduction"]);
    }

    #[test]
    fn every_line_is_found() {
        let text = builder().into_text();
        let translations = Translations::parse(text.clone()).expect("a dictionary");
        for line in text.lines().skip(1) {
            assert!(translations.has_line(line), "{line}");
            assert!(
                !translations.has_line(&format!("{line}x"))
                    && !translations.has_line(&line[..line.len() - 1])
            );
        }
        for line in ["", "a", "zz zz"] {
            assert!(!translations.has_line(line), "{line}");
        }
        assert_eq!(
            translations.sources(),
            [("cs", 1), ("de", 5), ("es", 2), ("fr", 4)]
        );
        assert!(Translations::parse("no languages".to_owned()).is_none());
    }
}
