//! What stands around a name and says that a dataset is meant, or that something else is.

use super::text::Token;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// What says that a dataset is meant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cue {
    /// A word for experiments and "on" before it: "evaluated on SGD", "results on the MAP".
    Experiment,
    /// A word for datasets beside it: "the SGD dataset", "datasets such as SGD".
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

/// Of these, words that mean a dataset after its name only: "set SGD" is an order.
const KINDS_AFTER_ONLY: [&str; 7] = ["set", "sets", "split", "splits", "challenge", "subset", "subsets"];

/// Words that may stand between a word for datasets and the names of some.
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

/// Links that alone bind nothing: "on this dataset, SGD converges".
const WEAK_LINKS: [&str; 5] = [",", "the", ".", "is", "are"];

/// Beginnings of words that tell of experiments.
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

/// Words that end what is said of a name.
const FUNCTION_WORDS: [&str; 42] = [
    "on", "in", "of", "for", "with", "to", "is", "are", "was", "were", "and", "or", "by", "from", "at", "that",
    "which", "we", "our", "as", "than", "over", "under", "using", "via", "it", "its", "this", "these", "can", "has",
    "have", "show", "shows", "into", "between", "when", "while", "where", "but", "not", "be",
];

/// Words that say the name before them is of a method, a measure or a task.
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

/// How many words are looked at behind a name, before it up to "on", and before that.
const BEHIND: usize = 4;
const BEFORE: usize = 5;
const UP_TO_ON: usize = 4;
const EXPLANATION: usize = 8;
const BEFORE_ON: usize = 18;

/// The tokens that a place in the text covers.
pub(super) fn covered(tokens: &[Token], place: &Range<usize>) -> Range<usize> {
    let start = tokens.partition_point(|token| token.place.end <= place.start);
    let end = tokens.partition_point(|token| token.place.start < place.end);
    start..end.max(start)
}

/// The strongest cue at the ends of these tokens: a list, or a name that stands alone.
pub(super) fn cue(tokens: &[Token], list: &Range<usize>) -> Option<Cue> {
    let (before, behind) = (&tokens[..list.start], &tokens[list.end..]);
    let is_list = tokens[list.clone()].iter().any(is_joint);
    if is_kind_behind(behind) || is_explained_as_kind(behind) || is_kind_before(before, is_list) {
        return Some(Cue::Kind);
    }
    is_experiment(tokens, list).then_some(Cue::Experiment)
}

/// Whether a word beside the name makes it that of a method: "the NAME optimizer", "our method NAME", "NAME, a model".
pub(super) fn is_method(tokens: &[Token], name: &Range<usize>) -> bool {
    let is_method = |token: &Token| METHODS.contains(&token.word.as_str());
    tokens.get(name.end).is_some_and(is_method)
        || tokens[..name.start].last().is_some_and(is_method)
        || what_it_is(&tokens[name.end..]).is_some_and(is_method)
}

/// Whether words are of a dataset: "large scale dataset".
pub(super) fn names_kind(words: &[Token]) -> bool {
    words.iter().any(|token| KINDS.contains(&token.word.as_str()) && token.word != "set")
}

/// Whether words speak of one dataset: "A Radar Dataset for Automotive Perception".
pub(super) fn names_one(words: &[Token]) -> bool {
    const ONE: [&str; 5] = ["dataset", "benchmark", "corpus", "database", "testbed"];
    words.iter().any(|token| ONE.contains(&token.word.as_str()))
}

fn is_kind_behind(tokens: &[Token]) -> bool {
    for token in tokens.iter().take(BEHIND) {
        let word = token.word.as_str();
        if KINDS.contains(&word) {
            return true;
        }
        let goes_on = token.is_word() || matches!(word, "(" | ")" | "[" | "]" | "'" | "’" | "\"" | "”");
        if !goes_on || FUNCTION_WORDS.contains(&word) || METHODS.contains(&word) {
            return false;
        }
    }
    false
}

/// "NAME, a large dataset", "NAME is the first benchmark".
fn is_explained_as_kind(tokens: &[Token]) -> bool {
    what_it_is(tokens).is_some_and(|token| is_kind(&token.word))
}

/// The first word for datasets or methods in an explanation behind the name.
fn what_it_is(tokens: &[Token]) -> Option<&Token> {
    let [first, article, rest @ ..] = tokens else { return None };
    let begins =
        matches!(first.word.as_str(), "," | "is") && matches!(article.word.as_str(), "a" | "an" | "the" | "one");
    let goes_on = |token: &&Token| token.is_word() && !FUNCTION_WORDS.contains(&token.word.as_str());
    let mut words = rest.iter().take(EXPLANATION).take_while(goes_on).filter(|_| begins);
    words.find(|token| is_kind(&token.word) || METHODS.contains(&token.word.as_str()))
}

/// "datasets such as NAME", "the benchmark NAME"; "datasets, NAME and OTHER" only where a list follows.
fn is_kind_before(tokens: &[Token], is_list: bool) -> bool {
    let links = tokens.iter().rev().take(BEFORE).take_while(|token| LINKS.contains(&token.word.as_str())).count();
    let (rest, links) = tokens.split_at(tokens.len() - links);
    let binds = links.is_empty() || is_list || links.iter().any(|token| !WEAK_LINKS.contains(&token.word.as_str()));
    let kind =
        rest.last().is_some_and(|token| is_kind(&token.word) && !KINDS_AFTER_ONLY.contains(&token.word.as_str()));
    kind && binds
}

/// Whether a name is a word that only joins others.
pub(super) fn is_function_word(name: &str) -> bool {
    FUNCTION_WORDS.contains(&name.to_lowercase().as_str())
}

/// Whether a word is one for datasets.
pub(super) fn is_kind(word: &str) -> bool {
    KINDS.contains(&word.to_lowercase().as_str())
}

/// "… results … on the NAME", or "On NAME, … results …".
fn is_experiment(tokens: &[Token], name: &Range<usize>) -> bool {
    let before = &tokens[..name.start];
    let near = before.iter().rev().take(UP_TO_ON);
    let Some(steps) = near.clone().position(|token| matches!(token.word.as_str(), "on" | "over" | "across")) else {
        return false;
    };
    let between = near.take(steps);
    if between.clone().any(|token| !token.is_word() || FUNCTION_WORDS.contains(&token.word.as_str()))
        || is_method(tokens, name)
    {
        return false;
    }
    let on = name.start - steps - 1;
    let mut sentence = before[..on].iter().rev().take_while(|token| !ends_sentence(token));
    let after = tokens[name.end..].iter().take_while(|token| !ends_sentence(token));
    sentence.clone().take(BEFORE_ON).any(tells_of_experiment)
        || sentence.next().is_none() && after.take(BEFORE_ON).any(tells_of_experiment)
}

fn ends_sentence(token: &Token) -> bool {
    matches!(token.word.as_str(), "." | "!" | "?" | ";")
}

fn tells_of_experiment(token: &Token) -> bool {
    EXPERIMENTS.iter().any(|stem| token.word.starts_with(stem))
}

/// The list that a name is an item of: "A, B and C", "A → B". Its other items need not be known: they are up to four
/// words with a capital or a digit.
pub(super) fn list(tokens: &[Token], name: &Range<usize>) -> Range<usize> {
    let mut list = name.clone();
    for _ in 0..LIST {
        let Some(more) = item_behind(&tokens[list.end..]) else { break };
        list.end += more;
    }
    for _ in 0..LIST {
        let Some(more) = item_before(&tokens[..list.start]) else { break };
        list.start -= more;
    }
    list
}

fn item_behind(tokens: &[Token]) -> Option<usize> {
    let joints = tokens.iter().take(JOINTS).take_while(|token| is_joint(token)).count();
    let words = tokens[joints..].iter().take(ITEM).take_while(|token| is_item(token)).count();
    (joints > 0 && words > 0 && joins(&tokens[..joints])).then_some(joints + words)
}

fn item_before(tokens: &[Token]) -> Option<usize> {
    let joints = tokens.iter().rev().take(JOINTS).take_while(|token| is_joint(token)).count();
    let rest = &tokens[..tokens.len() - joints];
    let words = rest.iter().rev().take(ITEM).take_while(|token| is_item(token)).count();
    (joints > 0 && words > 0 && joins(&tokens[rest.len()..])).then_some(joints + words)
}

/// The most items of a list on each side of a name: every name of a list looks for all of it.
const LIST: usize = 32;
/// The most tokens between two items, and in one.
const JOINTS: usize = 5;
const ITEM: usize = 4;

fn is_joint(token: &Token) -> bool {
    const JOINTS: [&str; 16] =
        [",", "and", "or", "&", "/", ";", "→", "-", ">", "\u{2192}", "$", "\\", "to", "rightarrow", "the", "both"];
    JOINTS.contains(&token.word.as_str())
}

/// "to" and hyphens join only in arrows: "A -> B", "A $\to$ B".
fn joins(joints: &[Token]) -> bool {
    let has = |word: &str| joints.iter().any(|token| token.word == word);
    let plain = [",", "and", "or", "&", "/", ";", "→"].iter().any(|word| has(word));
    let is_arrow = has(">") || has("\\");
    is_arrow || plain && !has("to") && !has("-")
}

fn is_item(token: &Token) -> bool {
    let word = token.word.as_str();
    (token.is_marked || matches!(word, "+" | "*"))
        && !FUNCTION_WORDS.contains(&word)
        && !KINDS.contains(&word)
        && !matches!(word, "the" | "a" | "an")
}

/// Whether the name is part of a longer one: "Wall Street Journal" is not about a dataset "Street".
pub(super) fn is_part(tokens: &[Token], name: &Range<usize>) -> bool {
    let (before, behind) = (&tokens[..name.start], tokens.get(name.end));
    // The capital of a sentence's first word makes no name of it.
    let starts = before.len() < 2 || before.iter().rev().nth(1).is_some_and(ends_sentence);
    !starts && before.last().is_some_and(is_item) || behind.is_some_and(is_item)
}

/// Whether the paper brings the thing named: "we propose NAME", "called NAME".
pub(super) fn is_introduced(tokens: &[Token], name: &Range<usize>) -> bool {
    const CALLS: [&str; 16] = [
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
    let calls = |token: &Token| CALLS.contains(&token.word.as_str());
    let near = tokens[..name.start].iter().rev().take(3);
    near.take_while(|token| calls(token) || matches!(token.word.as_str(), "as" | "the" | "a" | "," | "(" | "“" | "\""))
        .any(calls)
}

/// The words that the acronym in these tokens stands for, where it is explained: "stochastic gradient descent (SGD)" or
/// "SGD (stochastic gradient descent)". After A. Schwartz and M. Hearst, PSB 2003, with initials of words alone.
pub(super) fn explained(tokens: &[Token], name: &Range<usize>) -> Option<Range<usize>> {
    let acronym: Vec<char> =
        tokens[name.clone()].iter().flat_map(|token| token.word.chars()).filter(|c| c.is_alphabetic()).collect();
    if !ACRONYM.contains(&acronym.len()) || name.len() != 1 {
        return None;
    }
    let before = name.start.checked_sub(1).filter(|&open| tokens[open].word == "(");
    let closed = tokens.get(name.end).is_some_and(|token| matches!(token.word.as_str(), ")" | "," | ";"));
    if let Some(open) = before.filter(|_| closed) {
        return words_of(tokens, open, &acronym);
    }
    let open = tokens.get(name.end).filter(|token| token.word == "(")?;
    let close = name.end + 1 + tokens[name.end + 1..].iter().take(12).position(|token| token.word == ")")?;
    let words = words_of(tokens, close, &acronym)?;
    (tokens[words.start].place.start >= open.place.end && words.start == name.end + 1).then_some(words)
}

/// Letters of an acronym, and how many words more than letters it may stand for: their bound, and that of the search.
const ACRONYM: RangeInclusive<usize> = 2..=16;
const MORE_WORDS: usize = 5;

/// The words that end before a place and whose initials spell an acronym. Small words may be left out of it.
fn words_of(tokens: &[Token], end: usize, acronym: &[char]) -> Option<Range<usize>> {
    let least = end.saturating_sub(acronym.len() + MORE_WORDS);
    let near = &tokens[least..end];
    Some(least + start_of(near, acronym, &mut BTreeSet::new())?..end)
}

/// Where the words at the end of these begin that spell an acronym. What fails is remembered: a word that may be taken or
/// left would double the ways at every step.
fn start_of(tokens: &[Token], acronym: &[char], failed: &mut BTreeSet<(usize, usize)>) -> Option<usize> {
    let Some((last, rest)) = acronym.split_last() else { return Some(tokens.len()) };
    let state = (tokens.len(), acronym.len());
    let (token, before) = tokens.split_last().filter(|(token, _)| token.is_word() && !failed.contains(&state))?;
    let word = token.word.as_str();
    let initials = word.split(|character: char| !character.is_alphanumeric()).filter_map(|part| part.chars().next());
    // A word with hyphens may give the initials of all its parts.
    let several: Vec<char> = initials.collect();
    let mut start = None;
    if several.len() > 1 && acronym.ends_with(&several) {
        start = start_of(before, &acronym[..acronym.len() - several.len()], failed);
    }
    if start.is_none() && word.starts_with(*last) {
        start = start_of(before, rest, failed);
    }
    if start.is_none() && (SMALL.contains(&word) || word.starts_with(char::is_numeric)) {
        start = start_of(before, acronym, failed);
    }
    if start.is_none() {
        failed.insert(state);
    }
    start
}

/// Words that acronyms may leave out.
const SMALL: [&str; 14] = ["of", "the", "and", "for", "in", "on", "to", "a", "an", "with", "by", "from", "at", "via"];
