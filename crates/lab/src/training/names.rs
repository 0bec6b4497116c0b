//! Removal of dataset names from texts, together with the phrases that depend on them.
//!
//! A user who searches for a dataset does not know its name. "We segment scenes and evaluate on the ImageNet and COCO
//! datasets" becomes "we segment scenes and evaluate". A placeholder would be a token that no user types, and a model
//! would learn to look for it. So the name is deleted with the words that are ungrammatical without it: a preposition
//! before it, a word for datasets after it, "such as", brackets, and the rest of a list.

use super::tokens::{Token, join_tokens, tokenize};
use std::ops::Range;

const PREPOSITIONS: [&str; 18] = [
    "on", "over", "across", "from", "in", "with", "using", "of", "to", "for", "against", "by",
    "between", "within", "under", "via", "at", "like",
];
const ARTICLES: [&str; 10] = [
    "the", "a", "an", "both", "our", "their", "its", "this", "two", "three",
];
/// Words for datasets and their parts that are deleted with a name.
const KINDS: [&str; 35] = [
    "dataset",
    "datasets",
    "data",
    "set",
    "sets",
    "corpus",
    "corpora",
    "benchmark",
    "benchmarks",
    "database",
    "databases",
    "challenge",
    "challenges",
    "collection",
    "collections",
    "suite",
    "split",
    "splits",
    "validation",
    "val",
    "test",
    "training",
    "train",
    "dev",
    "leaderboard",
    "testbed",
    "simulator",
    "treebank",
    "treebanks",
    "domain",
    "domains",
    "environment",
    "environments",
    "respectively",
    "2",
];
/// Words that introduce names as examples.
const LEADS: [&str; 10] = [
    "including",
    "e.g.",
    "i.e.",
    "e.g",
    "i.e",
    "namely",
    "called",
    "named",
    "dubbed",
    "viz",
];
const CONJUNCTIONS: [&str; 4] = ["and", "or", "&", "/"];
/// Nouns after a name that keep the preposition before it: "on ImageNet classification".
const NOUNS: [&str; 22] = [
    "images",
    "videos",
    "scenes",
    "sequences",
    "games",
    "tasks",
    "task",
    "models",
    "model",
    "classes",
    "categories",
    "questions",
    "articles",
    "documents",
    "sentences",
    "faces",
    "digits",
    "weights",
    "features",
    "scans",
    "labels",
    "annotations",
];
/// Maximum number of words of an unknown name in a list with a known one.
const MAX_ITEM_WORDS: usize = 4;

/// Deletes the names at these places from a text and repairs the gaps.
pub(super) fn without_names(text: &str, places: &[Range<usize>]) -> String {
    let all = tokenize(text);
    let mut edit = Edit {
        removed: vec![false; all.len()],
        tokens: all,
    };
    let covered = places
        .iter()
        .map(|place| edit.find_tokens(place))
        .filter(|name| !name.is_empty());
    let mut names: Vec<Range<usize>> = covered.collect();
    names.sort_by_key(|name| (name.start, name.end));
    for name in names {
        edit.remove_name(name);
    }
    edit.remove_coined_names();
    edit.tidy();
    edit.text()
}

/// A text with tokens marked for deletion.
struct Edit<'t> {
    tokens: Vec<Token<'t>>,
    removed: Vec<bool>,
}

impl<'t> Edit<'t> {
    fn find_tokens(&self, place: &Range<usize>) -> Range<usize> {
        let start = self
            .tokens
            .partition_point(|token| token.place().end <= place.start);
        let end = self.tokens.partition_point(|token| token.start < place.end);
        start..end.max(start)
    }

    fn is(&self, place: usize, texts: &[&str]) -> bool {
        self.tokens
            .get(place)
            .is_some_and(|token| token.is_any(texts))
    }

    fn is_before(&self, place: usize, texts: &[&str]) -> bool {
        place > 0 && self.is(place - 1, texts)
    }

    fn remove(&mut self, range: Range<usize>) {
        self.removed[range].fill(true);
    }

    fn remove_name(&mut self, name: Range<usize>) {
        // An earlier name of the same list has removed this one.
        if self.removed[name.clone()].iter().all(|removed| *removed) {
            return;
        }
        let list = self.with_brackets(self.with_list(self.with_version(name)));
        let lead = self.lead(list.start);
        // Words such as "including" belong to the names alone, so no preposition before them depends on the names.
        let phrase = if lead < list.start {
            lead..self.kinds_end(list.end)
        } else {
            self.phrase(&list)
        };
        self.remove(phrase);
    }

    /// Extends a name by a year or version after it: "PASCAL VOC 2012", "CIFAR-10-LT".
    fn with_version(&self, mut name: Range<usize>) -> Range<usize> {
        loop {
            let Some(next) = self.tokens.get(name.end) else {
                return name;
            };
            let is_number =
                next.text.starts_with(|c: char| c.is_ascii_digit()) || is_version(next.text);
            let after = self.tokens.get(name.end + 1);
            let hyphened = after.is_some_and(|after| !after.is_spaced && after.is_marked());
            match next.text {
                // A share, as in "ImageNet 90 %", is no version.
                _ if is_number && !self.is(name.end + 1, &["%"]) => name.end += 1,
                "-" | "–" | "+" if hyphened => name.end += 2,
                "+" if !next.is_spaced => name.end += 1,
                _ => return name,
            }
        }
    }

    /// Extends a name by the other items of its list, known or not: "A, Other B and C".
    fn with_list(&self, mut list: Range<usize>) -> Range<usize> {
        while let Some(end) = self.next_item(list.end) {
            list.end = end;
        }
        while let Some(start) = self.previous_item(list.start) {
            list.start = start;
        }
        list
    }

    /// Returns the end of the next item. An item may include its kind: "and the C datasets".
    fn next_item(&self, end: usize) -> Option<usize> {
        let joints = self.tokens[end..]
            .iter()
            .take(3)
            .take_while(|token| is_joint(token))
            .count();
        let article = usize::from(self.is(end + joints, &["the", "on", "both"]));
        let start = end + joints + article;
        let counts = self.other_datasets(start);
        if joints > 0 && counts > 0 {
            return Some(start + counts);
        }
        let words = self.tokens[start.min(self.tokens.len())..]
            .iter()
            .take(MAX_ITEM_WORDS);
        let words = words
            .take_while(|token| token.is_marked() || matches!(token.text, "-" | "+"))
            .count();
        // After a comma, a word with one capital may begin any phrase.
        let is_name = self.tokens.get(start).is_some_and(Token::is_marked) && words > 0;
        (joints > 0 && is_name).then(|| self.kinds_end_in_list(start + words))
    }

    /// Returns the number of words of "two other datasets" after a conjunction.
    fn other_datasets(&self, start: usize) -> usize {
        let words = self.tokens[start.min(self.tokens.len())..].iter().take(5);
        let number = words
            .clone()
            .take_while(|token| token.is_word())
            .position(|token| token.is_any(&["datasets", "benchmarks", "corpora", "databases"]));
        let others = [
            "other",
            "others",
            "more",
            "several",
            "two",
            "three",
            "four",
            "many",
            "various",
            "additional",
        ];
        let is_other = words
            .clone()
            .next()
            .is_some_and(|token| token.is_any(&others));
        match number {
            Some(number) if is_other => number + 1,
            _ => 0,
        }
    }

    /// Returns the end of the words for datasets if they belong to a list item.
    fn kinds_end_in_list(&self, end: usize) -> usize {
        let kinds = self.kinds_end(end);
        if self.tokens.get(kinds).is_some_and(is_joint) {
            kinds
        } else {
            end
        }
    }

    fn previous_item(&self, start: usize) -> Option<usize> {
        let before = &self.tokens[..start];
        let joints = before
            .iter()
            .rev()
            .take(3)
            .take_while(|token| is_joint(token))
            .count();
        let rest = &before[..start - joints];
        let words = rest
            .iter()
            .rev()
            .take(MAX_ITEM_WORDS)
            .take_while(|token| token.is_marked() || token.is("-"))
            .count();
        let item = &rest[rest.len() - words..];
        let is_name = item.iter().any(Token::is_strongly_marked)
            && item.first().is_some_and(Token::is_marked);
        (joints > 0 && is_name).then_some(rest.len() - words)
    }

    /// Extends a list by surrounding brackets, or by an explanation in brackets: "NAME (short form)".
    fn with_brackets(&self, mut list: Range<usize>) -> Range<usize> {
        if self.is(list.end, &["("]) {
            let inner = self.tokens[list.end + 1..].iter().take(10);
            if let Some(length) = inner.clone().position(|token| token.is(")")) {
                let explains = inner.take(length).any(Token::is_marked);
                list.end += if explains { length + 2 } else { 0 };
            }
        }
        let lead = self.lead(list.start);
        let mut end = self.kinds_end(list.end);
        end += usize::from(self.is(end, &["etc."]));
        if self.is_before(lead, &["(", "["]) && self.is(end, &[")", "]"]) {
            list = lead - 1..end + 1;
        }
        list
    }

    /// Returns the start of the words that introduce examples: ", such as", " (e.g., ".
    fn lead(&self, start: usize) -> usize {
        let mut place = start - usize::from(self.is_before(start, &["the", "both"]));
        let bare = place;
        place -=
            usize::from(self.is_before(place, &[",", ":"]) && self.is_before(place - 1, &LEADS));
        if self.is_before(place, &LEADS) {
            place -= 1;
        } else if self.is_before(place, &["as"]) && self.is_before(place - 1, &["such"]) {
            place -= 2;
        } else if self.is_before(place, &[":"]) {
            place -= 1;
        }
        if place == bare {
            return start;
        }
        place - usize::from(self.is_before(place, &[",", ":"]))
    }

    /// Returns the end of the words for datasets after a name.
    fn kinds_end(&self, end: usize) -> usize {
        let behind = &self.tokens[end..];
        let kinds = behind
            .iter()
            .take(4)
            .take_while(|token| token.is_any(&KINDS) || token.is("-") && !token.is_spaced)
            .count();
        // A final hyphen binds the name to another word.
        end + kinds
            - behind[..kinds]
                .iter()
                .rev()
                .take_while(|token| token.is("-"))
                .count()
    }

    /// Returns the tokens to delete with a name inside a sentence.
    ///
    /// These are the preposition before it and the words for datasets after it, if nothing else depends on them.
    /// Otherwise only the name is deleted.
    fn phrase(&self, name: &Range<usize>) -> Range<usize> {
        let kinds = self.kinds_end(name.end);
        let article = name.start - usize::from(self.is_before(name.start, &ARTICLES));
        let goes_on = self.tokens.get(kinds).is_some_and(|token| {
            token.is_word() && !token.is_any(&["on"]) && is_noun(token.text)
                || token.text.starts_with('-')
        });
        if self.is_before(article, &PREPOSITIONS) && !goes_on {
            let mut start = article - 1;
            start -= usize::from(
                self.is_before(start, &["based", "especially", "particularly", "even"]),
            );
            return start..kinds;
        }
        // In "the NAME dataset has" the word "dataset" may stay. A hyphen that binds the name to the next word is
        // deleted.
        let hyphen = self
            .tokens
            .get(name.end)
            .is_some_and(|token| token.is("-") && !token.is_spaced);
        name.start..name.end + usize::from(hyphen)
    }

    /// Deletes names that the paper gives its own work: "We propose RefineDet, a detector" becomes "We propose a
    /// detector". Abbreviations in brackets are deleted too.
    fn remove_coined_names(&mut self) {
        const BRINGS: [&str; 16] = [
            "propose",
            "proposes",
            "present",
            "presents",
            "introduce",
            "introduces",
            "develop",
            "develops",
            "describe",
            "design",
            "build",
            "called",
            "named",
            "dubbed",
            "termed",
            "coined",
        ];
        for place in 0..self.tokens.len() {
            if self.tokens[place].is_any(&BRINGS) {
                self.remove_coined_name_after(place);
            }
            self.remove_short_form(place);
        }
    }

    fn remove_coined_name_after(&mut self, verb: usize) {
        let is_called =
            self.tokens[verb].is_any(&["called", "named", "dubbed", "termed", "coined"]);
        let behind = &self.tokens[verb + 1..];
        let words = behind
            .iter()
            .take(MAX_ITEM_WORDS)
            .take_while(|token| token.is_marked() || token.is("-"))
            .count();
        if words == 0 || !behind[..words].iter().any(Token::is_marked) {
            return;
        }
        let end = verb + 1 + words;
        let explained = self.is(end, &[","]) && self.is(end + 1, &["a", "an", "the", "our"]);
        if is_called {
            let start = verb - usize::from(self.is_before(verb, &[","]));
            let comma = start < verb && self.is(end, &[","]);
            self.remove(start..end + usize::from(comma));
        } else if explained {
            self.remove(verb + 1..end + 1);
        }
    }

    /// Deletes "(SLAM)".
    fn remove_short_form(&mut self, open: usize) {
        let inner = self.tokens.iter().skip(open + 1).take(6);
        let Some(length) = inner.clone().position(|token| token.is(")")) else {
            return;
        };
        let is_form = inner
            .take(length)
            .all(|token| !token.is_spaced && (token.is_marked() || token.is("-")));
        let is_name = self
            .tokens
            .iter()
            .skip(open + 1)
            .take(length)
            .any(Token::is_strongly_marked);
        if self.is(open, &["("]) && is_form && is_name {
            self.remove(open..open + length + 2);
        }
    }

    /// Repairs gaps: deletes dangling conjunctions, prepositions and commas before a point, and empty brackets.
    fn tidy(&mut self) {
        // Each deletion may leave another token without its phrase.
        while let Some(place) = (0..self.tokens.len()).find(|place| self.dangles(*place)) {
            self.removed[place] = true;
        }
    }

    fn previous(&self, place: usize) -> Option<usize> {
        (0..place).rev().find(|place| !self.removed[*place])
    }

    fn next(&self, place: usize) -> Option<usize> {
        (place + 1..self.tokens.len()).find(|place| !self.removed[*place])
    }

    fn dangles(&self, place: usize) -> bool {
        if self.removed[place] {
            return false;
        }
        let (previous, next) = (self.previous(place), self.next(place));
        let gap_before = match previous {
            Some(previous) => previous + 1 < place,
            None => place > 0,
        };
        let gap_behind = match next {
            Some(next) => next > place + 1,
            None => place + 1 < self.tokens.len(),
        };
        let token = &self.tokens[place];
        let starts = previous.is_none_or(|previous| self.tokens[previous].ends_sentence());
        let closes = next.is_none_or(|next| is_closing(&self.tokens[next]));
        let is_joint = token.is(",") || token.is_any(&CONJUNCTIONS);
        if gap_behind && closes {
            let article =
                token.is_any(&ARTICLES) && !token.is_any(&["our", "its", "this", "two", "three"]);
            let bare = token.is_any(&PREPOSITIONS) || article || is_joint || token.is_any(&LEADS);
            return bare || token.is_any(&["(", "[", "as", "such", "while", "when"]);
        }
        if gap_before {
            let repeats = previous
                .is_some_and(|previous| is_joint && self.tokens[previous].is(",") && token.is(","));
            let empties = token.is_any(&[")", "]"])
                && previous.is_some_and(|place| self.tokens[place].is_any(&["(", "["]));
            let joins_phrase = token.is_any(&CONJUNCTIONS)
                && next.is_some_and(|next| self.tokens[next].is_any(&PREPOSITIONS));
            let closes_sentence =
                starts && (is_joint || token.ends_sentence() || token.is_any(&[")", ":", ";"]));
            return repeats || empties || joins_phrase || closes_sentence;
        }
        false
    }

    fn text(&self) -> String {
        let mut kept: Vec<Token<'t>> = Vec::new();
        let mut spaced = false;
        for (token, removed) in self.tokens.iter().zip(&self.removed) {
            spaced |= token.is_spaced;
            if *removed {
                continue;
            }
            let glued = is_closing(token) && !token.is("(");
            kept.push(Token {
                is_spaced: spaced && !glued,
                ..*token
            });
            spaced = false;
        }
        capitalize(&join_tokens(kept))
    }
}

/// Returns the text with an upper-case first letter.
pub(super) fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    let first: String = characters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + characters.as_str()
}

fn is_version(text: &str) -> bool {
    let rest = text.strip_prefix(['v', 'V']);
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    })
}

fn is_joint(token: &Token<'_>) -> bool {
    token.is(",") || token.is_any(&CONJUNCTIONS)
}

fn is_closing(token: &Token<'_>) -> bool {
    matches!(token.text, "." | "," | ";" | ":" | "!" | "?" | ")" | "]")
}

fn is_noun(word: &str) -> bool {
    let lower = word.to_lowercase();
    let ends = ["tion", "sion", "ing", "ment", "ness"]
        .iter()
        .any(|end| lower.ends_with(end));
    NOUNS.contains(&lower.as_str())
        || ends
            && !matches!(
                lower.as_str(),
                "using"
                    | "showing"
                    | "demonstrating"
                    | "including"
                    | "achieving"
                    | "outperforming"
                    | "indicating"
            )
}

/// Returns the places of a name in a text, as whole words.
pub(super) fn find_occurrences(text: &str, name: &str) -> Vec<Range<usize>> {
    let places = text
        .match_indices(name)
        .map(|(start, found)| start..start + found.len());
    places
        .filter(|place| {
            !text[..place.start].ends_with(char::is_alphanumeric)
                && !text[place.end..].starts_with(char::is_alphanumeric)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, names: &[&str]) -> String {
        let places: Vec<Range<usize>> = names
            .iter()
            .flat_map(|name| find_occurrences(text, name))
            .collect();
        without_names(text, &places)
    }

    #[test]
    fn phrases_that_hang_on_a_name_go_with_it() {
        for (text, expected) in [
            ("We evaluate on ImageNet.", "We evaluate."),
            (
                "Results on the ImageNet dataset are better.",
                "Results are better.",
            ),
            (
                "We train networks on ImageNet and the COCO datasets, quickly.",
                "We train networks, quickly.",
            ),
            (
                "Our method gains 3% on ImageNet classification.",
                "Our method gains 3% on classification.",
            ),
            (
                "We use ImageNet-pretrained networks.",
                "We use pretrained networks.",
            ),
            (
                "We start from ImageNet-pretrained networks.",
                "We start from pretrained networks.",
            ),
            (
                "The ImageNet dataset has labels.",
                "The dataset has labels.",
            ),
            (
                "Large datasets, such as ImageNet and COCO, help.",
                "Large datasets, help.",
            ),
            (
                "Large datasets (e.g., ImageNet, COCO) help.",
                "Large datasets help.",
            ),
            (
                "We report on two datasets: ImageNet and Other-3D.",
                "We report on two datasets.",
            ),
            ("On ImageNet, we gain.", "We gain."),
            (
                "Results on both ImageNet-1k and on COCO 2017 val show it.",
                "Results show it.",
            ),
            (
                "Experiments on ImageNet and two other datasets follow.",
                "Experiments follow.",
            ),
            (
                "We study the large-scale ImageNet dataset.",
                "We study the large-scale dataset.",
            ),
            (
                "Nothing is named here (or there), e.g. dogs.",
                "Nothing is named here (or there), e.g. dogs.",
            ),
        ] {
            assert_eq!(without(text, &["ImageNet", "COCO"]), expected, "{text}");
        }
    }

    #[test]
    fn coined_names_and_short_forms_go() {
        for (text, expected) in [
            (
                "We propose RefineDet, a detector of boats.",
                "We propose a detector of boats.",
            ),
            (
                "We train a detector, called RefineDet, that finds boats.",
                "We train a detector that finds boats.",
            ),
            (
                "Simultaneous localization and mapping (SLAM) is hard.",
                "Simultaneous localization and mapping is hard.",
            ),
            (
                "We present results (in full).",
                "We present results (in full).",
            ),
            (
                "We present Bayesian networks.",
                "We present Bayesian networks.",
            ),
        ] {
            assert_eq!(without(text, &[]), expected, "{text}");
        }
    }

    #[test]
    fn a_name_is_a_whole_word() {
        assert_eq!(
            find_occurrences("MNISTs, MNIST, eMNIST", "MNIST"),
            vec![Range { start: 8, end: 13 }]
        );
    }
}
