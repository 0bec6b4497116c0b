//! Near-duplicate detection: texts that overlap test topics must not be used for training.

use super::tokens::normalize_text;
use rustc_hash::{FxHashMap, FxHashSet};

/// Number of words of a shingle.
const SHINGLE_WORDS: usize = 3;
/// Share of a reference text's shingles from which another text overlaps it.
const MIN_SHARE: f64 = 0.5;

/// Reference texts, by their shingles of three words and by their normalized form.
///
/// The measure is containment: the share of the reference text's shingles in the other text. It finds a sentence inside
/// an abstract, where Jaccard's coefficient is low because the lengths differ. Containment is never below Jaccard's
/// coefficient, so it finds all that Jaccard's finds at the same threshold.
#[derive(Default)]
pub(super) struct ReferenceTexts {
    whole: FxHashSet<String>,
    shingles: FxHashMap<[String; SHINGLE_WORDS], Vec<usize>>,
    /// Number of shingles of each text.
    sizes: Vec<usize>,
}

impl ReferenceTexts {
    pub(super) fn add(&mut self, text: &str) {
        let normalized = normalize_text(text);
        if normalized.is_empty() || self.whole.contains(&normalized) {
            return;
        }
        let own = collect_shingles(&normalized);
        let number = self.sizes.len();
        self.sizes.push(own.len());
        for shingle in own {
            self.shingles.entry(shingle).or_default().push(number);
        }
        self.whole.insert(normalized);
    }

    /// Returns true if the text is one of the reference texts, ignoring capitals, punctuation and white space.
    pub(super) fn contains(&self, text: &str) -> bool {
        self.whole.contains(&normalize_text(text))
    }

    /// Returns true if the text is one of the reference texts, or contains half of one.
    pub(super) fn is_near(&self, text: &str) -> bool {
        let normalized = normalize_text(text);
        if self.whole.contains(&normalized) {
            return true;
        }
        let mut shared: FxHashMap<usize, usize> = FxHashMap::default();
        let own = collect_shingles(&normalized);
        for number in own
            .iter()
            .filter_map(|shingle| self.shingles.get(shingle))
            .flatten()
        {
            *shared.entry(*number).or_default() += 1;
        }
        shared
            .iter()
            .any(|(number, count)| *count as f64 >= MIN_SHARE * self.sizes[*number] as f64)
    }
}

fn collect_shingles(normalized: &str) -> FxHashSet<[String; SHINGLE_WORDS]> {
    let words: Vec<&str> = normalized.split(' ').collect();
    words
        .windows(SHINGLE_WORDS)
        .filter_map(|words| {
            Some(
                <[&str; SHINGLE_WORDS]>::try_from(words)
                    .ok()?
                    .map(str::to_owned),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_known_text_is_near_less_is_not() {
        let mut known = ReferenceTexts::default();
        known.add("We detect small boats in photographs.");
        known.add("Boats");
        // Of the four shingles it contains all, two, one.
        assert!(known.is_near(
            "Last year, we detect small boats in photographs of harbours and of much else besides."
        ));
        assert!(known.is_near("They detect small boats in ponds"));
        assert!(!known.is_near("They detect small boats on ponds, photographs show"));
        assert!(
            known.is_near("boats!") && !known.is_near("many boats"),
            "short texts are compared whole"
        );
        assert!(
            known.contains("we DETECT small boats in photographs")
                && !known.contains("we detect small boats")
        );
    }

    #[test]
    fn a_text_known_twice_counts_once() {
        let mut known = ReferenceTexts::default();
        known.add("one two three four");
        known.add("One, two, three: four!");
        assert_eq!(known.sizes, [2]);
    }
}
