//! Queries that people asked, given to the papers that they might have been asked for.
//!
//! [Keyphrases](super::keyphrases) made of a paper are in the paper's words; what people type is not. Where there is a list
//! of such queries, of which nobody knows what they were asked for, a paper is given those whose words it all has. Of these
//! the one fits best whose words are rare, stand in the title, are said often, and stand together; a query that many asked
//! fits a little better. A long query has more words that may be so, which the square root of its length makes up for.

use super::tokens::{normalized, singular};
use rustc_hash::{FxHashMap, FxHashSet};

/// Words of a query.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=8;
/// Queries of a paper.
const MOST: usize = 2;
/// What a further query must fit, as a share of the best.
const SHARE: f64 = 0.7;
/// What every query must fit, as a share of the logarithm of the number of papers: two words, one of them in a title, that
/// one paper in some hundred has. Below it stand what all papers speak of, as "deep learning".
const LEAST: f64 = 0.9;
/// What a word counts more in a title, for each further time that it is said (three times at most), and beside its neighbour.
const IN_TITLE: f64 = 1.0;
const AGAIN: f64 = 0.3;
const BESIDE: f64 = 0.5;
/// What it counts more that many asked it, by the logarithm of how many.
const TIMES: f64 = 0.2;

struct Query {
    text: String,
    words: Vec<String>,
    times: u32,
}

/// A paper by its words.
struct Words {
    title: FxHashSet<String>,
    said: FxHashMap<String, u32>,
    beside: FxHashSet<(String, String)>,
}

/// Queries by their words, and how many papers have each word.
pub(super) struct Asked {
    queries: Vec<Query>,
    by_word: FxHashMap<String, Vec<usize>>,
    having: FxHashMap<String, u32>,
    papers: usize,
}

impl Asked {
    /// Of queries, to be given to papers of these titles and abstracts. Those that differ in the number of their words alone
    /// ("image", "images") are one, as it was put first.
    pub(super) fn new<'t>(queries: &[String], papers: impl Iterator<Item = [&'t str; 2]>) -> Self {
        let mut asked =
            Self { queries: Vec::new(), by_word: FxHashMap::default(), having: FxHashMap::default(), papers: 0 };
        let mut places: FxHashMap<Vec<String>, usize> = FxHashMap::default();
        for text in queries {
            let words = stems(text);
            if !LENGTHS.contains(&words.len()) {
                continue;
            }
            let place = *places.entry(words.clone()).or_insert(asked.queries.len());
            if place == asked.queries.len() {
                words.iter().collect::<FxHashSet<_>>().into_iter().for_each(|word| {
                    asked.by_word.entry(word.clone()).or_default().push(place);
                });
                asked.queries.push(Query { text: text.trim().to_owned(), words, times: 0 });
            }
            asked.queries[place].times += 1;
        }
        for [title, summary] in papers {
            asked.papers += 1;
            for word in Words::of(title, summary).said.into_keys() {
                *asked.having.entry(word).or_default() += 1;
            }
        }
        asked
    }

    /// The queries that a paper might answer, the best first.
    pub(super) fn of(&self, title: &str, summary: &str) -> Vec<&str> {
        let words = Words::of(title, summary);
        let mut found: FxHashMap<usize, usize> = FxHashMap::default();
        for place in words.said.keys().filter_map(|word| self.by_word.get(word)).flatten() {
            *found.entry(*place).or_default() += 1;
        }
        let whole = found.into_iter().filter(|(place, found)| *found == distinct(&self.queries[*place].words));
        let mut fitting: Vec<(f64, usize)> = whole.map(|(place, _)| (self.fit(place, &words), place)).collect();
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let best = fitting.first().map_or(0.0, |(fit, _)| *fit);
        let least = (SHARE * best).max(LEAST * (self.papers as f64).ln());
        fitting
            .iter()
            .take(MOST)
            .filter(|(fit, _)| *fit >= least)
            .map(|(_, place)| self.queries[*place].text.as_str())
            .collect()
    }

    fn fit(&self, place: usize, paper: &Words) -> f64 {
        let query = &self.queries[place];
        let each: FxHashSet<&String> = query.words.iter().collect();
        // Summed in the order of the words: the same every time.
        let mut each: Vec<&String> = each.into_iter().collect();
        each.sort_unstable();
        let words: f64 = each
            .iter()
            .map(|word| {
                let again = paper.said.get(*word).map_or(0, |said| said.saturating_sub(1).min(3));
                let title = if paper.title.contains(*word) { IN_TITLE } else { 0.0 };
                self.rarity(word) * (1.0 + title + AGAIN * f64::from(again))
            })
            .sum();
        let beside: f64 = query
            .words
            .windows(2)
            .filter(|pair| paper.beside.contains(&(pair[0].clone(), pair[1].clone())))
            .map(|pair| BESIDE * (self.rarity(&pair[0]) + self.rarity(&pair[1])))
            .sum();
        (words + beside) / (each.len() as f64).sqrt() * (1.0 + TIMES * f64::from(query.times).ln())
    }

    fn rarity(&self, word: &str) -> f64 {
        let having = self.having.get(word).copied().unwrap_or(0);
        (1.0 + self.papers as f64 / f64::from(1 + having)).ln()
    }
}

impl Words {
    fn of(title: &str, summary: &str) -> Self {
        let (title, summary) = (stems(title), stems(summary));
        let pairs =
            |words: &[String]| words.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect::<Vec<_>>();
        let beside = pairs(&title).into_iter().chain(pairs(&summary)).collect();
        let mut said = FxHashMap::default();
        // A title is no repetition: what it counts is told by itself.
        title.iter().for_each(|word| {
            said.entry(word.clone()).or_insert(1);
        });
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        summary.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        said.extend(counts);
        Self { title: title.into_iter().collect(), said, beside }
    }
}

fn distinct(words: &[String]) -> usize {
    words.iter().collect::<FxHashSet<_>>().len()
}

/// The words of a text in lower case, without the s of their plural.
fn stems(text: &str) -> Vec<String> {
    normalized(text).split_whitespace().map(|word| singular(word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(queries: &[&str]) -> Asked {
        let queries: Vec<String> = queries.iter().map(|query| (*query).to_owned()).collect();
        let others = (0..50).map(|_| ["Boats", "We learn of boats in images."]);
        let papers = others.chain([["Depth of fog", "Estimation of the depth of fog in images."]]);
        Asked::new(&queries, papers)
    }

    #[test]
    fn a_paper_has_all_words_of_its_queries() {
        let asked =
            asked(&["fog depth estimation", "fog depth prediction", "Depth estimations, fog images", "boats images"]);
        let of = |title, summary| asked.of(title, summary);
        assert_eq!(
            of("Depth of fog", "Depth estimation in fog, from images."),
            ["fog depth estimation", "Depth estimations, fog images"]
        );
        assert_eq!(of("Depth of fog", "Depth estimation in fog."), ["fog depth estimation"]);
        assert!(of("Depth", "Nothing else.").is_empty());
        // What all papers speak of is asked of none.
        assert!(of("Boats", "We learn of boats in images.").is_empty());
    }

    #[test]
    fn what_titles_say_and_many_asked_comes_first() {
        let asked = asked(&["fog depth", "depth estimation", "depth estimation"]);
        assert_eq!(asked.of("Fog", "The depth of fog. Estimation.")[0], "fog depth");
        assert_eq!(asked.of("Estimation", "Depth estimation. Fog.")[0], "depth estimation");
        let asked = super::tests::asked(&["fog depth", "depth fog", "depth fog"]);
        assert_eq!(asked.of("", "Fog has depth.")[0], "depth fog");
    }
}
