//! Selection of the sentences of an abstract that describe its task.

use super::tokens::{Token, count_words, join_tokens, split_sentences, tokenize};
use std::ops::Range;

/// Cues of sentences about the task, strongest first. The words of a cue are adjacent.
const CUES: [&[&str]; 9] = [
    &[
        "we propose",
        "we present",
        "we introduce",
        "we develop",
        "we design",
        "we build",
        "we describe",
    ],
    &[
        "this paper proposes",
        "this paper presents",
        "this paper introduces",
        "this paper describes",
        "is proposed",
    ],
    &["we want", "we aim", "our goal", "we seek", "the goal of"],
    &[
        "we study",
        "we investigate",
        "we explore",
        "we address",
        "we consider",
        "we tackle",
        "we focus on",
        "we examine",
    ],
    &[
        "this paper addresses",
        "this paper studies",
        "this paper investigates",
        "this paper explores",
        "this paper",
    ],
    &["in this paper", "in this work", "this work"],
    &[
        "we show",
        "we demonstrate",
        "we find",
        "we argue",
        "we use",
        "we apply",
        "we extend",
        "we learn",
    ],
    &["the problem of", "the task of"],
    &["we"],
];
/// Minimum and maximum number of words of a sentence that a user could type.
const MIN_WORDS: usize = 7;
const MAX_WORDS: usize = 55;
/// A first sentence up to this number of words is joined by a second one.
const MAX_SHORT_WORDS: usize = 14;

/// Returns one or two sentences as byte ranges, and `None` if no sentence describes the task.
pub(super) fn task_sentences(text: &str) -> Option<Vec<Range<usize>>> {
    let all = tokenize(text);
    let spoken: Vec<Range<usize>> = split_sentences(&all)
        .into_iter()
        .filter(|place| is_plain(&all[place.clone()]))
        .collect();
    let ranks: Vec<Option<usize>> = spoken
        .iter()
        .map(|place| rank_cue(&all[place.clone()]))
        .collect();
    let (rank, first) = ranks
        .iter()
        .enumerate()
        .filter_map(|(place, rank)| Some(((*rank)?, place)))
        // Of equally strong cues the first sentence wins.
        .min()?;
    let mut chosen = vec![first];
    if count_words(&all[spoken[first].clone()]) < MAX_SHORT_WORDS {
        let next = ranks
            .iter()
            .enumerate()
            .skip(first + 1)
            .take(2)
            .find(|(_, other)| other.is_some_and(|other| other < CUES.len() && other <= rank + 4));
        chosen.extend(next.map(|(place, _)| place));
    }
    Some(
        chosen
            .into_iter()
            .map(|place| source_range(&all[spoken[place].clone()]))
            .collect(),
    )
}

/// Words that begin a phrase, up to the first comma, that only connects a sentence with the one before.
const JOINTS: [&str; 30] = [
    "to this end",
    "moreover",
    "hence",
    "then",
    "furthermore",
    "second",
    "secondly",
    "third",
    "thirdly",
    "finally",
    "therefore",
    "thus",
    "in addition",
    "additionally",
    "however",
    "specifically",
    "in particular",
    "to address",
    "to tackle",
    "to solve",
    "to overcome",
    "to alleviate",
    "to mitigate",
    "to remedy",
    "based on th",
    "motivated by",
    "inspired by",
    "first",
    "firstly",
    "accordingly",
];
/// Words among these that begin a minor point.
const FURTHER: [&str; 11] = [
    "moreover",
    "furthermore",
    "second",
    "third",
    "finally",
    "in addition",
    "additionally",
    "then",
    "however",
    "secondly",
    "thirdly",
];

/// Returns a sentence without its connecting phrase: "To this end, we propose" becomes "We propose".
pub(super) fn standing_alone(sentence: &str) -> String {
    let (head, rest) = sentence.split_once(", ").unwrap_or((sentence, ""));
    let lower = head.to_lowercase();
    let joins = JOINTS.iter().any(|joint| lower.starts_with(joint)) && !rest.trim().is_empty();
    super::names::capitalize(if joins { rest.trim_start() } else { sentence })
}

/// Returns the rank of a sentence's cue, and `None` without a cue.
fn rank_cue(sentence: &[Token<'_>]) -> Option<usize> {
    let text = join_tokens(sentence.iter().copied()).to_lowercase();
    // The spaces prevent a cue from being found inside a word: `we` in `were`.
    let padded = format!(" {} ", text.replace([',', '.', ';', ':'], " "));
    let is_further = FURTHER.iter().any(|further| text.starts_with(further));
    let rank = CUES
        .iter()
        .position(|cues| cues.iter().any(|cue| padded.contains(&format!(" {cue} "))))?;
    Some(rank + if is_further { CUES.len() } else { 0 })
}

/// Returns true if the sentence has no formula, address or mark-up, and a usual length.
fn is_plain(sentence: &[Token<'_>]) -> bool {
    (MIN_WORDS..=MAX_WORDS).contains(&count_words(sentence))
        && !sentence.iter().any(|token| {
            matches!(
                token.text,
                "$" | "\\" | "{" | "}" | "http" | "https" | "@" | "<" | ">"
            )
        })
}

fn source_range(sentence: &[Token<'_>]) -> Range<usize> {
    let end = match sentence.last() {
        Some(token) => token.place().end,
        None => 0,
    };
    sentence[0].start..end
}

/// Returns the first sentences of a text, up to about `most` words. Whole sentences are returned if the last one ends
/// near the bound; otherwise the text is cut.
pub(super) fn take_beginning(text: &str, most: usize) -> String {
    let all = tokenize(text);
    let (mut end, mut count) = (0, 0);
    for sentence in split_sentences(&all) {
        let own = count_words(&all[sentence.clone()]);
        if count + own > most + most / 5 {
            break;
        }
        (end, count) = (sentence.end, count + own);
    }
    if count >= most / 2 {
        return join_tokens(all[..end].iter().copied());
    }
    text.split_whitespace()
        .take(most)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(text: &str) -> String {
        task_sentences(text)
            .unwrap_or_default()
            .into_iter()
            .map(|place| &text[place])
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn the_sentence_that_says_what_is_done() {
        let text = "Boats are hard to see at night. We study them under many different conditions of light and weather, which matters. \
                    In this paper, we propose a network that detects boats of any size in photographs taken from harbours. It is good.";
        assert_eq!(
            task(text),
            "In this paper, we propose a network that detects boats of any size in photographs taken from harbours."
        );
        assert_eq!(task("Boats are hard to see at night on many lakes."), "");
        assert_eq!(
            task(
                "We propose a detector of boats. We study boats at night on three lakes of Finland."
            ),
            "We study boats at night on three lakes of Finland.",
            "six words are too few"
        );
        assert_eq!(
            task("We propose a detector with loss $x$ for boats at night. "),
            ""
        );
    }

    #[test]
    fn what_joins_a_sentence_to_others_is_not_said() {
        assert_eq!(
            standing_alone("To this end, we detect boats, fast."),
            "We detect boats, fast."
        );
        assert_eq!(
            standing_alone("In this paper, we detect boats."),
            "In this paper, we detect boats."
        );
        let text = "We detect boats of all kinds by night. Moreover, we propose a loss function that helps to train it well.";
        assert_eq!(task(text), "We detect boats of all kinds by night.");
    }

    #[test]
    fn beginnings_end_with_sentences_where_they_can() {
        assert_eq!(
            take_beginning("One two three. Four five six. Seven eight.", 6),
            "One two three. Four five six."
        );
        assert_eq!(
            take_beginning("One two three four five six seven eight", 3),
            "One two three"
        );
    }
}
