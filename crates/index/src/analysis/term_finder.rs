//! Finder of query terms in texts. The result is that of analysing the text, mostly without analysing it.

use super::{Analysis, AnalysisKind, QueryTerm};
use memchr::memmem::Finder;

/// Maximum number of terms; the result is a bit set.
const MAX_TERMS: usize = 64;

/// Finder of a query's terms in texts.
///
/// Most texts contain none of the terms, and substring search excludes most of them. If tokens are lower-case words, as
/// in [`AnalysisKind::Acordar`], a text without the term as a substring has no such token. The remaining texts are
/// analysed. With stemming, every text is analysed.
///
/// ```
/// use lodeseek_index::{Analysis, TermFinder};
/// let (analysis, terms) = (Analysis::default(), ["bay".into(), "maryland".into()]);
/// let mut finder = TermFinder::new(&analysis, &terms);
/// assert_eq!(finder.find("Bayside and Maryland"), 0b10);
/// ```
pub struct TermFinder<'a> {
    analysis: &'a Analysis,
    terms: &'a [QueryTerm],
    substrings: Option<Vec<Finder<'a>>>,
    lower: Vec<u8>,
}

impl<'a> TermFinder<'a> {
    /// Creates a finder of analysed terms. Terms beyond the 64th are ignored.
    #[must_use]
    pub fn new(analysis: &'a Analysis, terms: &'a [QueryTerm]) -> Self {
        let terms = &terms[..terms.len().min(MAX_TERMS)];
        let whole_words = analysis.kind() == AnalysisKind::Acordar;
        let substrings = whole_words.then(|| {
            terms
                .iter()
                .map(|term| Finder::new(term.text.as_str()))
                .collect()
        });
        Self {
            analysis,
            terms,
            substrings,
            lower: Vec::new(),
        }
    }

    /// Returns the terms of a text, as bits by their index.
    #[must_use]
    pub fn find(&mut self, text: &str) -> u64 {
        if !self.may_contain(text) {
            return 0;
        }
        let mut bits = 0;
        for token in self.analysis.tokens(text) {
            for (place, term) in self.terms.iter().enumerate() {
                if term.matches(&token) {
                    bits |= 1 << place;
                }
            }
        }
        bits
    }

    fn may_contain(&mut self, text: &str) -> bool {
        let Some(finders) = &self.substrings else {
            return true;
        };
        let ascii = text.is_ascii();
        // Only two non-ASCII characters have an ASCII letter in lower case: the Kelvin sign and the dotted I.
        if !ascii && text.contains(['\u{212A}', '\u{130}']) {
            return true;
        }
        self.lower.clear();
        self.lower
            .extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
        let mut terms = self.terms.iter().zip(finders);
        terms.any(|(term, finder)| {
            if term.text.is_ascii() {
                finder.find(&self.lower).is_some()
            } else {
                !ascii
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn analysed(analysis: &Analysis, terms: &[QueryTerm], text: &str) -> u64 {
        let tokens: Vec<String> = analysis.tokens(text).collect();
        let found = terms
            .iter()
            .enumerate()
            .filter(|(_, term)| tokens.iter().any(|token| term.matches(token)));
        found.fold(0, |found, (place, _)| found | 1 << place)
    }

    proptest! {
        #[test]
        fn the_same_as_analysing(words in proptest::collection::vec("[a-cA-Ckİ\u{212A}éÉσΣς]{1,3}", 1..5), text in "[a-cA-CkKİ\u{212A}éÉσΣς _']{0,20}") {
            for kind in AnalysisKind::ALL {
                let analysis = Analysis::new(kind);
                let terms: Vec<QueryTerm> = analysis.query_words(&words.join(" "));
                prop_assert_eq!(TermFinder::new(&analysis, &terms).find(&text), analysed(&analysis, &terms, &text));
            }
        }
    }
}
