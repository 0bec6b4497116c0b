//! Context cues: words around a name that indicate a dataset, or something else.

use super::text::Token;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// Evidence that a mention means a dataset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cue {
    /// A word for experiments and "on" before the name: "evaluated on SGD", "results on the MAP".
    Experiment,
    /// A word for datasets beside the name: "the SGD dataset", "datasets such as SGD".
    Kind,
}

/// Words for datasets.
const KINDS: [&str; 30] = [
    "dataset",
    "datasets",
    "database",
    "databases",
    "corpus",
    "corpora",
    "benchmark",
    "benchmarks",
    "collection",
    "collections",
    "challenge",
    "treebank",
    "treebanks",
    "leaderboard",
    "suite",
    "testbed",
    "testset",
    "set",
    "sets",
    "split",
    "splits",
    "subset",
    "subsets",
    "dataset's",
    "competition",
    "simulator",
    "simulators",
    "environment",
    "environments",
    "testsets",
];

/// Words for datasets that count only after a name: "set SGD" is an imperative.
const KINDS_AFTER_ONLY: [&str; 7] = [
    "set",
    "sets",
    "split",
    "splits",
    "challenge",
    "subset",
    "subsets",
];

/// Words that may stand between a word for datasets and the names of datasets.
const LINKS: [&str; 24] = [
    "such",
    "as",
    "including",
    "include",
    "includes",
    "like",
    "e.g",
    "i.e",
    "namely",
    "called",
    "named",
    "known",
    "specifically",
    "is",
    "are",
    "the",
    ".",
    ":",
    "(",
    ",",
    "-",
    "–",
    "—",
    "{",
];

/// Links that are no evidence alone: "on this dataset, SGD converges".
const WEAK_LINKS: [&str; 5] = [",", "the", ".", "is", "are"];

/// Stems of words for experiments.
const EXPERIMENTS: [&str; 31] = [
    "train",
    "pretrain",
    "pre-train",
    "finetun",
    "fine-tun",
    "evaluat",
    "experiment",
    "result",
    "perform",
    "accura",
    "test",
    "validat",
    "benchmark",
    "outperform",
    "state-of-the-art",
    "sota",
    "achiev",
    "demonstrat",
    "improv",
    "error",
    "score",
    "surpass",
    "superior",
    "effective",
    "compar",
    "report",
    "obtain",
    "rank",
    "gain",
    "%",
    "conduct",
];

/// Words that end the phrase around a name.
const FUNCTION_WORDS: [&str; 42] = [
    "on", "in", "of", "for", "with", "to", "is", "are", "was", "were", "and", "or", "by", "from",
    "at", "that", "which", "we", "our", "as", "than", "over", "under", "using", "via", "it", "its",
    "this", "these", "can", "has", "have", "show", "shows", "into", "between", "when", "while",
    "where", "but", "not", "be",
];

/// Words after which a name is that of a method, a measure or a task.
const METHODS: [&str; 40] = [
    "algorithm",
    "algorithms",
    "optimizer",
    "optimizers",
    "optimiser",
    "optimisers",
    "optimization",
    "estimation",
    "estimate",
    "estimates",
    "estimator",
    "estimators",
    "inference",
    "solver",
    "solvers",
    "model",
    "models",
    "network",
    "networks",
    "loss",
    "losses",
    "method",
    "methods",
    "approach",
    "approaches",
    "framework",
    "frameworks",
    "architecture",
    "architectures",
    "technique",
    "techniques",
    "metric",
    "metrics",
    "module",
    "modules",
    "layer",
    "layers",
    "agent",
    "decoder",
    "encoder",
];

/// Maximum sizes of the windows in words: after a name, before it, before it up to "on", in a definition after it, and before
/// "on".
const MAX_WORDS_BEHIND: usize = 4;
const MAX_WORDS_BEFORE: usize = 5;
const MAX_WORDS_UP_TO_ON: usize = 4;
const MAX_DEFINITION_WORDS: usize = 8;
const MAX_WORDS_BEFORE_ON: usize = 18;

/// Returns the tokens that a byte range of the text overlaps.
pub(super) fn token_range(tokens: &[Token], place: &Range<usize>) -> Range<usize> {
    let start = tokens.partition_point(|token| token.place.end <= place.start);
    let end = tokens.partition_point(|token| token.place.start < place.end);
    // Without any token, the range must not end before its start.
    start..end.max(start)
}

/// Returns the strongest cue around these tokens, which are a list or a single name.
pub(super) fn find_cue(tokens: &[Token], list: &Range<usize>) -> Option<Cue> {
    let (before, behind) = (&tokens[..list.start], &tokens[list.end..]);
    let is_list = tokens[list.clone()].iter().any(is_joint);
    if is_kind_behind(behind) || is_explained_as_kind(behind) || is_kind_before(before, is_list) {
        return Some(Cue::Kind);
    }
    is_experiment(tokens, list).then_some(Cue::Experiment)
}

/// Returns true if a neighbouring word makes the name that of a method: "the NAME optimizer", "our method NAME", "NAME,
/// a model".
pub(super) fn is_method(tokens: &[Token], name: &Range<usize>) -> bool {
    tokens.get(name.end).is_some_and(is_method_word)
        || tokens[..name.start].last().is_some_and(is_method_word)
        || definition_head(&tokens[name.end..]).is_some_and(is_method_word)
}

fn is_method_word(token: &Token) -> bool {
    METHODS.contains(&token.word.as_str())
}

/// Returns true if the words describe a dataset: "large scale dataset".
pub(super) fn describes_dataset(words: &[Token]) -> bool {
    words
        .iter()
        .any(|token| KINDS.contains(&token.word.as_str()) && token.word != "set")
}

/// Returns true if the words describe a single dataset: "A Radar Dataset for Automotive Perception".
pub(super) fn describes_one_dataset(words: &[Token]) -> bool {
    const ONE: [&str; 5] = ["dataset", "benchmark", "corpus", "database", "testbed"];
    words.iter().any(|token| ONE.contains(&token.word.as_str()))
}

fn is_kind_behind(tokens: &[Token]) -> bool {
    for token in tokens.iter().take(MAX_WORDS_BEHIND) {
        let word = token.word.as_str();
        if KINDS.contains(&word) {
            return true;
        }
        let goes_on =
            token.is_word() || matches!(word, "(" | ")" | "[" | "]" | "'" | "’" | "\"" | "”");
        if !goes_on || FUNCTION_WORDS.contains(&word) || METHODS.contains(&word) {
            return false;
        }
    }
    false
}

/// Recognises "NAME, a large dataset" and "NAME is the first benchmark".
fn is_explained_as_kind(tokens: &[Token]) -> bool {
    definition_head(tokens).is_some_and(|token| is_kind(&token.word))
}

/// Returns the first word for datasets or methods in a definition after the name.
fn definition_head(tokens: &[Token]) -> Option<&Token> {
    let [first, article, rest @ ..] = tokens else {
        return None;
    };
    let begins = matches!(first.word.as_str(), "," | "is")
        && matches!(article.word.as_str(), "a" | "an" | "the" | "one");
    let mut words = rest
        .iter()
        .take(MAX_DEFINITION_WORDS)
        .take_while(|token| token.is_word() && !FUNCTION_WORDS.contains(&token.word.as_str()))
        .filter(|_| begins);
    words.find(|token| is_kind(&token.word) || is_method_word(token))
}

/// Recognises "datasets such as NAME" and "the benchmark NAME". "datasets, NAME and OTHER" counts only before a list.
fn is_kind_before(tokens: &[Token], is_list: bool) -> bool {
    let links = tokens
        .iter()
        .rev()
        .take(MAX_WORDS_BEFORE)
        .take_while(|token| LINKS.contains(&token.word.as_str()))
        .count();
    let (rest, links) = tokens.split_at(tokens.len() - links);
    let binds = links.is_empty()
        || is_list
        || links
            .iter()
            .any(|token| !WEAK_LINKS.contains(&token.word.as_str()));
    let kind = rest.last().is_some_and(|token| {
        is_kind(&token.word) && !KINDS_AFTER_ONLY.contains(&token.word.as_str())
    });
    kind && binds
}

/// Returns true if a name is a function word.
pub(super) fn is_function_word(name: &str) -> bool {
    FUNCTION_WORDS.contains(&name.to_lowercase().as_str())
}

/// Returns true if a word is one for datasets.
pub(super) fn is_kind(word: &str) -> bool {
    KINDS.contains(&word.to_lowercase().as_str())
}

/// Recognises "… results … on the NAME" and "On NAME, … results …".
fn is_experiment(tokens: &[Token], name: &Range<usize>) -> bool {
    let before = &tokens[..name.start];
    let near = before.iter().rev().take(MAX_WORDS_UP_TO_ON);
    let Some(steps) = near
        .clone()
        .position(|token| matches!(token.word.as_str(), "on" | "over" | "across"))
    else {
        return false;
    };
    let between = near.take(steps);
    if between
        .clone()
        .any(|token| !token.is_word() || FUNCTION_WORDS.contains(&token.word.as_str()))
        || is_method(tokens, name)
    {
        return false;
    }
    // `steps` words and the preposition precede the name, so this is never negative.
    let on = name.start - steps - 1;
    let mut sentence = before[..on]
        .iter()
        .rev()
        .take_while(|token| !ends_sentence(token));
    let after = tokens[name.end..]
        .iter()
        .take_while(|token| !ends_sentence(token));
    sentence
        .clone()
        .take(MAX_WORDS_BEFORE_ON)
        .any(is_experiment_word)
        // Words for experiments count after the name only if the preposition begins the sentence.
        || sentence.next().is_none() && after.take(MAX_WORDS_BEFORE_ON).any(is_experiment_word)
}

fn ends_sentence(token: &Token) -> bool {
    matches!(token.word.as_str(), "." | "!" | "?" | ";")
}

fn is_experiment_word(token: &Token) -> bool {
    EXPERIMENTS.iter().any(|stem| token.word.starts_with(stem))
}

/// Returns the enumeration that contains a name: "A, B and C", "A → B". Its other items may be unknown: up to four
/// words with a capital or a digit each.
pub(super) fn find_list(tokens: &[Token], name: &Range<usize>) -> Range<usize> {
    let mut list = name.clone();
    for _ in 0..MAX_LIST_ITEMS {
        let Some(more) = item_behind(&tokens[list.end..]) else {
            break;
        };
        list.end += more;
    }
    for _ in 0..MAX_LIST_ITEMS {
        let Some(more) = item_before(&tokens[..list.start]) else {
            break;
        };
        list.start -= more;
    }
    list
}

fn item_behind(tokens: &[Token]) -> Option<usize> {
    let joints = tokens
        .iter()
        .take(MAX_JOINT_TOKENS)
        .take_while(|token| is_joint(token))
        .count();
    let words = tokens[joints..]
        .iter()
        .take(MAX_ITEM_TOKENS)
        .take_while(|token| is_item(token))
        .count();
    (joints > 0 && words > 0 && are_joints(&tokens[..joints])).then_some(joints + words)
}

fn item_before(tokens: &[Token]) -> Option<usize> {
    let joints = tokens
        .iter()
        .rev()
        .take(MAX_JOINT_TOKENS)
        .take_while(|token| is_joint(token))
        .count();
    let rest = &tokens[..tokens.len() - joints];
    let words = rest
        .iter()
        .rev()
        .take(MAX_ITEM_TOKENS)
        .take_while(|token| is_item(token))
        .count();
    (joints > 0 && words > 0 && are_joints(&tokens[rest.len()..])).then_some(joints + words)
}

/// Largest number of items on each side of a name. The bound keeps long lists linear, because each of their names
/// searches the list.
const MAX_LIST_ITEMS: usize = 32;
/// Largest number of tokens between two items, and within one.
const MAX_JOINT_TOKENS: usize = 5;
const MAX_ITEM_TOKENS: usize = 4;

fn is_joint(token: &Token) -> bool {
    const JOINTS: [&str; 16] = [
        ",",
        "and",
        "or",
        "&",
        "/",
        ";",
        "→",
        "-",
        ">",
        "\u{2192}",
        "$",
        "\\",
        "to",
        "rightarrow",
        "the",
        "both",
    ];
    JOINTS.contains(&token.word.as_str())
}

/// Returns true if these tokens join two items. "to" and hyphens count only in arrows: "A -> B", "A $\to$ B".
fn are_joints(joints: &[Token]) -> bool {
    let plain = [",", "and", "or", "&", "/", ";", "→"]
        .iter()
        .any(|word| contains_word(joints, word));
    let is_arrow = contains_word(joints, ">") || contains_word(joints, "\\");
    is_arrow || plain && !contains_word(joints, "to") && !contains_word(joints, "-")
}

fn contains_word(tokens: &[Token], word: &str) -> bool {
    tokens.iter().any(|token| token.word == word)
}

fn is_item(token: &Token) -> bool {
    let word = token.word.as_str();
    (token.is_marked || matches!(word, "+" | "*"))
        && !FUNCTION_WORDS.contains(&word)
        && !KINDS.contains(&word)
        && !matches!(word, "the" | "a" | "an")
}

/// Returns true if the name is part of a longer one: "Wall Street Journal" does not mention a dataset "Street".
pub(super) fn is_part(tokens: &[Token], name: &Range<usize>) -> bool {
    let (before, behind) = (&tokens[..name.start], tokens.get(name.end));
    // The capital of the first word of a sentence is not evidence of a name.
    let starts = before.len() < 2 || before.iter().rev().nth(1).is_some_and(ends_sentence);
    !starts && before.last().is_some_and(is_item) || behind.is_some_and(is_item)
}

/// Words after which a paper introduces a name.
const INTRODUCTIONS: [&str; 16] = [
    "called",
    "named",
    "dubbed",
    "termed",
    "denoted",
    "coined",
    "abbreviated",
    "propose",
    "proposes",
    "present",
    "presents",
    "introduce",
    "introduces",
    "develop",
    "design",
    "describe",
];

/// Returns true if the paper introduces the named thing: "we propose NAME", "called NAME".
pub(super) fn is_introduced(tokens: &[Token], name: &Range<usize>) -> bool {
    let near = tokens[..name.start].iter().rev().take(3);
    near.take_while(|token| {
        introduces_name(token)
            || matches!(
                token.word.as_str(),
                "as" | "the" | "a" | "," | "(" | "“" | "\""
            )
    })
    .any(introduces_name)
}

fn introduces_name(token: &Token) -> bool {
    INTRODUCTIONS.contains(&token.word.as_str())
}

/// Returns the words that the acronym in these tokens abbreviates: "stochastic gradient descent (SGD)" or "SGD
/// (stochastic gradient descent)". After A. Schwartz and M. Hearst, PSB 2003, restricted to initials of words.
pub(super) fn expansion_of(tokens: &[Token], name: &Range<usize>) -> Option<Range<usize>> {
    let acronym: Vec<char> = tokens[name.clone()]
        .iter()
        .flat_map(|token| token.word.chars())
        .filter(|c| c.is_alphabetic())
        .collect();
    if !ACRONYM.contains(&acronym.len()) || name.len() != 1 {
        return None;
    }
    let before = name
        .start
        .checked_sub(1)
        .filter(|&open| tokens[open].word == "(");
    let closed = tokens
        .get(name.end)
        .is_some_and(|token| matches!(token.word.as_str(), ")" | "," | ";"));
    if let Some(open) = before.filter(|_| closed) {
        return expansion_before(tokens, open, &acronym);
    }
    let open = tokens.get(name.end).filter(|token| token.word == "(")?;
    let close = name.end
        + 1
        + tokens[name.end + 1..]
            .iter()
            .take(12)
            .position(|token| token.word == ")")?;
    let words = expansion_before(tokens, close, &acronym)?;
    // The expansion has to fill the parentheses from the beginning.
    (tokens[words.start].place.start >= open.place.end && words.start == name.end + 1)
        .then_some(words)
}

/// Number of letters of an acronym, and the number of words that its expansion may have beyond them. Both bound the
/// search.
const ACRONYM: RangeInclusive<usize> = 2..=16;
const MAX_EXTRA_WORDS: usize = 5;

/// Returns the words before a position whose initials spell an acronym. Small words may be missing from the acronym.
fn expansion_before(tokens: &[Token], end: usize, acronym: &[char]) -> Option<Range<usize>> {
    let least = end.saturating_sub(acronym.len() + MAX_EXTRA_WORDS);
    let near = &tokens[least..end];
    Some(least + expansion_start(near, acronym, &mut BTreeSet::new())?..end)
}

/// Returns the start of the words, at the end of these tokens, that spell an acronym. Failed states are memoised: each
/// optional word would otherwise double the number of paths.
fn expansion_start(
    tokens: &[Token],
    acronym: &[char],
    failed: &mut BTreeSet<(usize, usize)>,
) -> Option<usize> {
    let Some((last, rest)) = acronym.split_last() else {
        return Some(tokens.len());
    };
    let state = (tokens.len(), acronym.len());
    let (token, before) = tokens
        .split_last()
        .filter(|(token, _)| token.is_word() && !failed.contains(&state))?;
    let word = token.word.as_str();
    let initials = word
        .split(|character: char| !character.is_alphanumeric())
        .filter_map(|part| part.chars().next());
    // A word with hyphens may contribute the initials of all its parts.
    let several: Vec<char> = initials.collect();
    let mut start = None;
    if several.len() > 1 && acronym.ends_with(&several) {
        start = expansion_start(before, &acronym[..acronym.len() - several.len()], failed);
    }
    if start.is_none() && word.starts_with(*last) {
        start = expansion_start(before, rest, failed);
    }
    if start.is_none() && (SMALL.contains(&word) || word.starts_with(char::is_numeric)) {
        start = expansion_start(before, acronym, failed);
    }
    if start.is_none() {
        failed.insert(state);
    }
    start
}

/// Words that acronyms may omit.
const SMALL: [&str; 14] = [
    "of", "the", "and", "for", "in", "on", "to", "a", "an", "with", "by", "from", "at", "via",
];
