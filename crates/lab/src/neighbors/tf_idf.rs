//! TF-IDF vectors of texts, as scikit-learn's `TfidfVectorizer` computes them.
//!
//! A weight is tf · (ln((1 + n) / (1 + df)) + 1), where n is the number of fitted texts and df the number of those with
//! the term. Every row has Euclidean length 1. Terms are runs of two or more word characters (letters, digits,
//! underscore) of the text in lower case. Word characters are Unicode's alphabetic and numeric characters. Python's
//! exclude the combining vowel signs of some scripts.

use super::matrices::SparseRows;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// Weight of the number of occurrences of a term in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum TermFrequency {
    /// The number of occurrences.
    #[default]
    Raw,
    /// 1 + the natural logarithm of the number of occurrences.
    Sublinear,
}

impl TermFrequency {
    fn weight(self, count: u32) -> f64 {
        match self {
            Self::Raw => f64::from(count),
            Self::Sublinear => f64::from(count).ln() + 1.0,
        }
    }
}

/// A bound on the number of texts that contain a term.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum DocumentFrequency {
    /// A number of texts.
    Count(usize),
    /// A share of all texts, in [0, 1].
    Share(f64),
}

impl DocumentFrequency {
    fn threshold(self, texts: usize) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Share(share) => share * texts as f64,
        }
    }
}

/// Selection and weights of terms. The defaults are scikit-learn's.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct TfIdfOptions {
    /// Weight of the number of occurrences of a term in a text.
    pub term_frequency: TermFrequency,
    /// Terms in fewer texts are excluded.
    pub min_df: DocumentFrequency,
    /// Terms in more texts are excluded.
    pub max_df: DocumentFrequency,
}

impl Default for TfIdfOptions {
    fn default() -> Self {
        Self {
            term_frequency: TermFrequency::default(),
            min_df: DocumentFrequency::Count(1),
            max_df: DocumentFrequency::Share(1.0),
        }
    }
}

/// A vocabulary and the inverse document frequencies of its terms.
///
/// ```
/// use lodeseek_lab::neighbors::{Rows, TfIdf, TfIdfOptions};
/// let texts = ["graph networks", "graph search", "protein folding"];
/// let vectorizer = TfIdf::fit(&texts, TfIdfOptions::default());
/// let rows = vectorizer.transform(&texts);
/// let query = vectorizer.transform(&["search of graphs, graph by graph"]);
/// assert_eq!(rows.nearest(query.row(0), 1)[0].row, 1);
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TfIdf {
    /// Sorted: the position of a term is its column.
    terms: Vec<String>,
    idf: Vec<f64>,
    term_frequency: TermFrequency,
}

impl TfIdf {
    /// Learns the vocabulary of texts and the document frequency of each term.
    #[must_use]
    pub fn fit<T: AsRef<str>>(texts: &[T], options: TfIdfOptions) -> Self {
        let mut frequencies: FxHashMap<String, usize> = FxHashMap::default();
        for text in texts {
            let lower = text.as_ref().to_lowercase();
            for term in split_words(&lower).collect::<FxHashSet<&str>>() {
                *frequencies.entry(term.to_owned()).or_default() += 1;
            }
        }
        let (least, most) = (
            options.min_df.threshold(texts.len()),
            options.max_df.threshold(texts.len()),
        );
        let mut kept: Vec<(String, usize)> = frequencies.into_iter().collect();
        kept.retain(|(_, frequency)| (least..=most).contains(&(*frequency as f64)));
        kept.sort_unstable();
        let (mut terms, mut idf) = (Vec::new(), Vec::new());
        for (term, frequency) in kept {
            terms.push(term);
            idf.push(((1.0 + texts.len() as f64) / (1.0 + frequency as f64)).ln() + 1.0);
        }
        Self {
            terms,
            idf,
            term_frequency: options.term_frequency,
        }
    }

    /// Returns the vectors of texts. Terms outside the vocabulary are ignored.
    #[must_use]
    pub fn transform<T: AsRef<str>>(&self, texts: &[T]) -> SparseRows {
        SparseRows::new(
            self.terms.len(),
            texts.iter().map(|text| self.row(text.as_ref())),
        )
    }

    /// Returns the terms in the order of their columns.
    #[must_use]
    pub fn terms(&self) -> &[String] {
        &self.terms
    }

    fn row(&self, text: &str) -> Vec<(u32, f64)> {
        let lower = text.to_lowercase();
        let mut columns: Vec<usize> = split_words(&lower)
            .filter_map(|term| self.column(term))
            .collect();
        columns.sort_unstable();
        let mut row: Vec<(u32, f64)> = Vec::new();
        for run in columns.chunk_by(usize::eq) {
            let weight = self.term_frequency.weight(run.len() as u32) * self.idf[run[0]];
            row.push((run[0] as u32, weight));
        }
        let norm = row
            .iter()
            .map(|(_, weight)| weight * weight)
            .sum::<f64>()
            .sqrt();
        // A text without terms has no weights, so the norm of 0 is never a divisor.
        for (_, weight) in &mut row {
            *weight /= norm;
        }
        row
    }

    fn column(&self, term: &str) -> Option<usize> {
        self.terms
            .binary_search_by(|other| other.as_str().cmp(term))
            .ok()
    }
}

/// Returns the runs of two or more word characters.
fn split_words(lower: &str) -> impl Iterator<Item = &str> {
    let runs = lower.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    runs.filter(|run| run.chars().nth(1).is_some())
}

#[cfg(test)]
mod tests {
    use super::super::Rows;
    use super::*;

    fn row(rows: &SparseRows, place: usize) -> Vec<(u32, f64)> {
        rows.row(place)
            .iter()
            .map(|(column, value)| (column, (value * 1e6).round() / 1e6))
            .collect()
    }

    #[test]
    fn terms_are_runs_of_two_word_characters() {
        let found: Vec<String> = TfIdf::fit(
            &["A GAN's state-of-the-art x_1 é ÉTÉ 3d, 42!"],
            TfIdfOptions::default(),
        )
        .terms;
        assert_eq!(
            found,
            ["3d", "42", "art", "gan", "of", "state", "the", "x_1", "été"]
        );
    }

    #[test]
    fn weights_by_hand() {
        let texts = ["graph graph search", "graph", ""];
        let options = TfIdfOptions {
            term_frequency: TermFrequency::Sublinear,
            ..TfIdfOptions::default()
        };
        let raw = TfIdf::fit(&texts, TfIdfOptions::default());
        // idf: graph ln(4/3) + 1 = 1.287682, search ln(4/2) + 1 = 1.693147; 2 · 1.287682 = 2.575364; norm 3.082085.
        assert_eq!(
            row(&raw.transform(&texts), 0),
            [(0, 0.835592), (1, 0.549351)]
        );
        // 1 + ln 2 = 1.693147 times 1.287682 = 2.180235; norm 2.760466.
        let sublinear = TfIdf::fit(&texts, options).transform(&texts);
        assert_eq!(row(&sublinear, 0), [(0, 0.789807), (1, 0.613356)]);
        assert_eq!(
            (row(&sublinear, 1), row(&sublinear, 2)),
            (vec![(0, 1.0)], vec![])
        );
        assert_eq!(row(&raw.transform(&["unknown search"]), 0), [(1, 1.0)]);
    }

    #[test]
    fn rare_and_common_terms_are_left_out() {
        let texts = ["all one two", "all one", "all"];
        let terms = |min_df, max_df| {
            TfIdf::fit(
                &texts,
                TfIdfOptions {
                    min_df,
                    max_df,
                    ..TfIdfOptions::default()
                },
            )
            .terms
        };
        use DocumentFrequency::{Count, Share};
        assert_eq!(terms(Count(2), Share(1.0)), ["all", "one"]);
        assert_eq!(terms(Count(1), Share(0.7)), ["one", "two"]);
        assert_eq!(terms(Share(0.5), Count(2)), ["one"]);
    }
}
