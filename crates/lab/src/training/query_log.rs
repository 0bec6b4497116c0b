//! Queries of people, assigned to papers that fit them.
//!
//! [Keyphrases](super::keyphrases) of a paper use the paper's vocabulary, but people type other words. A list of real
//! queries, without relevance information, can replace them. A paper is a candidate for queries whose words it all
//! contains. The score of a query grows if its words are rare, occur in the title, are frequent in the paper, and are
//! adjacent. Queries that many people typed score a little higher. The sum is divided by the square root of the query's
//! length, because long queries collect more words.

use super::tokens::{normalize_text, singular};
use rustc_hash::{FxHashMap, FxHashSet};

/// Number of words of a query.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=8;
/// Maximum number of queries of a paper.
const MAX_PAPER_QUERIES: usize = 2;
/// Minimum score of a further query, as a share of the best score.
const MIN_SCORE_SHARE: f64 = 0.7;
/// Minimum score of every query, as a multiple of the logarithm of the number of papers. Two words, one of them in the
/// title, that one paper in some hundred contains reach it. Topics of all papers, such as "deep learning", stay below.
const MIN_SCORE_FACTOR: f64 = 0.9;
/// Added weight of a word in the title, of each repetition (at most three), and of adjacent words.
const TITLE_WEIGHT: f64 = 1.0;
const REPETITION_WEIGHT: f64 = 0.3;
const ADJACENCY_WEIGHT: f64 = 0.5;
/// Added weight of a query's frequency, by the natural logarithm of the frequency.
const FREQUENCY_WEIGHT: f64 = 0.2;

struct Query {
    text: String,
    words: Vec<String>,
    times: u32,
}

/// The words of a paper.
struct Words {
    title: FxHashSet<String>,
    counts_by_word: FxHashMap<String, u32>,
    beside: FxHashSet<(String, String)>,
}

/// An index of queries by their words, with the number of papers that contain each word.
pub(super) struct QueryLog {
    queries: Vec<Query>,
    by_word: FxHashMap<String, Vec<usize>>,
    document_frequency: FxHashMap<String, u32>,
    papers: usize,
}

impl QueryLog {
    /// Indexes queries for papers with these titles and abstracts. Queries that differ only in plurals ("image",
    /// "images") are merged; the first spelling is kept.
    pub(super) fn new<'t>(queries: &[String], papers: impl Iterator<Item = [&'t str; 2]>) -> Self {
        let mut log = Self {
            queries: Vec::new(),
            by_word: FxHashMap::default(),
            document_frequency: FxHashMap::default(),
            papers: 0,
        };
        let mut places: FxHashMap<Vec<String>, usize> = FxHashMap::default();
        for text in queries {
            let words = stem_words(text);
            if !LENGTHS.contains(&words.len()) {
                continue;
            }
            let place = *places.entry(words.clone()).or_insert(log.queries.len());
            if place == log.queries.len() {
                words
                    .iter()
                    .collect::<FxHashSet<_>>()
                    .into_iter()
                    .for_each(|word| {
                        log.by_word.entry(word.clone()).or_default().push(place);
                    });
                log.queries.push(Query {
                    text: text.trim().to_owned(),
                    words,
                    times: 0,
                });
            }
            log.queries[place].times += 1;
        }
        for [title, summary] in papers {
            log.papers += 1;
            for word in Words::new(title, summary).counts_by_word.into_keys() {
                *log.document_frequency.entry(word).or_default() += 1;
            }
        }
        log
    }

    /// Returns the queries that a paper may answer, best first.
    pub(super) fn matching(&self, title: &str, summary: &str) -> Vec<&str> {
        let words = Words::new(title, summary);
        let mut found: FxHashMap<usize, usize> = FxHashMap::default();
        for place in words
            .counts_by_word
            .keys()
            .filter_map(|word| self.by_word.get(word))
            .flatten()
        {
            *found.entry(*place).or_default() += 1;
        }
        let whole = found
            .into_iter()
            // A query is listed once for each of its distinct words, so equal numbers mean that all of them occur.
            .filter(|(place, found)| *found == count_distinct(&self.queries[*place].words));
        let mut fitting: Vec<(f64, usize)> = whole
            .map(|(place, _)| (self.fit(place, &words), place))
            .collect();
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let best = match fitting.first() {
            Some((fit, _)) => *fit,
            None => 0.0,
        };
        let least = (MIN_SCORE_SHARE * best).max(MIN_SCORE_FACTOR * (self.papers as f64).ln());
        fitting
            .iter()
            .take(MAX_PAPER_QUERIES)
            .filter(|(fit, _)| *fit >= least)
            .map(|(_, place)| self.queries[*place].text.as_str())
            .collect()
    }

    fn fit(&self, place: usize, paper: &Words) -> f64 {
        let query = &self.queries[place];
        let each: FxHashSet<&String> = query.words.iter().collect();
        // Summed in the order of the words, so that rounding is reproducible.
        let mut each: Vec<&String> = each.into_iter().collect();
        each.sort_unstable();
        let words: f64 = each
            .iter()
            .map(|word| {
                let again = match paper.counts_by_word.get(*word) {
                    Some(count) => count.saturating_sub(1).min(3),
                    None => 0,
                };
                let title = if paper.title.contains(*word) {
                    TITLE_WEIGHT
                } else {
                    0.0
                };
                self.rarity(word) * (1.0 + title + REPETITION_WEIGHT * f64::from(again))
            })
            .sum();
        let beside: f64 = query
            .words
            .windows(2)
            .filter(|pair| paper.beside.contains(&(pair[0].clone(), pair[1].clone())))
            .map(|pair| ADJACENCY_WEIGHT * (self.rarity(&pair[0]) + self.rarity(&pair[1])))
            .sum();
        (words + beside) / (each.len() as f64).sqrt()
            * (1.0 + FREQUENCY_WEIGHT * f64::from(query.times).ln())
    }

    fn rarity(&self, word: &str) -> f64 {
        let document_frequency = self.document_frequency.get(word).copied().unwrap_or(0);
        (1.0 + self.papers as f64 / f64::from(1 + document_frequency)).ln()
    }
}

impl Words {
    fn new(title: &str, summary: &str) -> Self {
        let (title, summary) = (stem_words(title), stem_words(summary));
        let beside = adjacent_words(&title)
            .chain(adjacent_words(&summary))
            .collect();
        let mut counts_by_word = FxHashMap::default();
        // A word of the title counts as one occurrence: its additional weight is applied separately.
        title.iter().for_each(|word| {
            counts_by_word.entry(word.clone()).or_insert(1);
        });
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        summary
            .into_iter()
            .for_each(|word| *counts.entry(word).or_default() += 1);
        counts_by_word.extend(counts);
        Self {
            title: title.into_iter().collect(),
            counts_by_word,
            beside,
        }
    }
}

fn adjacent_words(words: &[String]) -> impl Iterator<Item = (String, String)> {
    words
        .windows(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
}

fn count_distinct(words: &[String]) -> usize {
    words.iter().collect::<FxHashSet<_>>().len()
}

/// Returns the words of a text in lower case, without the s of the plural.
fn stem_words(text: &str) -> Vec<String> {
    normalize_text(text)
        .split_whitespace()
        .map(|word| singular(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(queries: &[&str]) -> QueryLog {
        let queries: Vec<String> = queries.iter().map(|query| (*query).to_owned()).collect();
        let others = (0..50).map(|_| ["Boats", "We learn of boats in images."]);
        let papers = others.chain([["Depth of fog", "Estimation of the depth of fog in images."]]);
        QueryLog::new(&queries, papers)
    }

    #[test]
    fn a_paper_contains_all_words_of_its_queries() {
        let log = log(&[
            "fog depth estimation",
            "fog depth prediction",
            "Depth estimations, fog images",
            "boats images",
        ]);
        let of = |title, summary| log.matching(title, summary);
        assert_eq!(
            of("Depth of fog", "Depth estimation in fog, from images."),
            ["fog depth estimation", "Depth estimations, fog images"]
        );
        assert_eq!(
            of("Depth of fog", "Depth estimation in fog."),
            ["fog depth estimation"]
        );
        assert!(of("Depth", "Nothing else.").is_empty());
        // Topics of all papers are assigned to none.
        assert!(of("Boats", "We learn of boats in images.").is_empty());
    }

    #[test]
    fn titles_and_frequent_queries_come_first() {
        let log = log(&["fog depth", "depth estimation", "depth estimation"]);
        assert_eq!(
            log.matching("Fog", "The depth of fog. Estimation.")[0],
            "fog depth"
        );
        assert_eq!(
            log.matching("Estimation", "Depth estimation. Fog.")[0],
            "depth estimation"
        );
        let log = super::tests::log(&["fog depth", "depth fog", "depth fog"]);
        assert_eq!(log.matching("", "Fog has depth.")[0], "depth fog");
    }
}
