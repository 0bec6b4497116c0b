//! Which texts say nearly the same: what is tested on must not be trained on.

use super::tokens::normalized;
use rustc_hash::{FxHashMap, FxHashSet};

/// Words of a shingle.
const WORDS: usize = 3;
/// The share of a known text's shingles from which another text says the same.
const SHARE: f64 = 0.5;

/// Texts, by their shingles of three words and as they are.
///
/// A text is compared by containment: the share of the known text's shingles that it has, which finds a sentence in an
/// abstract, where Jaccard's measure would see two texts of unlike length. It is never below Jaccard's measure, so that
/// whatever that finds at the same bound is found, too.
#[derive(Default)]
pub(super) struct Known {
    whole: FxHashSet<String>,
    shingles: FxHashMap<[String; WORDS], Vec<usize>>,
    /// How many shingles each text has.
    sizes: Vec<usize>,
}

impl Known {
    pub(super) fn add(&mut self, text: &str) {
        let normalized = normalized(text);
        if normalized.is_empty() || self.whole.contains(&normalized) {
            return;
        }
        let own = shingles(&normalized);
        let number = self.sizes.len();
        self.sizes.push(own.len());
        for shingle in own {
            self.shingles.entry(shingle).or_default().push(number);
        }
        self.whole.insert(normalized);
    }

    /// Whether it is one of the texts, but for capitals, punctuation and white space.
    pub(super) fn has(&self, text: &str) -> bool {
        self.whole.contains(&normalized(text))
    }

    /// Whether it is one of the texts, or holds half of one.
    pub(super) fn is_near(&self, text: &str) -> bool {
        let mut shared: FxHashMap<usize, usize> = FxHashMap::default();
        let own = shingles(&normalized(text));
        for number in own.iter().filter_map(|shingle| self.shingles.get(shingle)).flatten() {
            *shared.entry(*number).or_default() += 1;
        }
        let is_half = |(number, count): (&usize, &usize)| *count as f64 >= SHARE * self.sizes[*number] as f64;
        self.has(text) || shared.iter().any(is_half)
    }
}

fn shingles(normalized: &str) -> FxHashSet<[String; WORDS]> {
    let words: Vec<&str> = normalized.split(' ').collect();
    words.windows(WORDS).filter_map(|words| Some(<[&str; WORDS]>::try_from(words).ok()?.map(str::to_owned))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_known_text_is_near_less_is_not() {
        let mut known = Known::default();
        known.add("We detect small boats in photographs.");
        known.add("Boats");
        // Of its four shingles: all, two, one.
        assert!(known.is_near("Last year, we detect small boats in photographs of harbours and of much else besides."));
        assert!(known.is_near("They detect small boats in ponds"));
        assert!(!known.is_near("They detect small boats on ponds, photographs show"));
        assert!(known.is_near("boats!") && !known.is_near("many boats"), "short texts are compared whole");
        assert!(known.has("we DETECT small boats in photographs") && !known.has("we detect small boats"));
    }

    #[test]
    fn a_text_known_twice_counts_once() {
        let mut known = Known::default();
        known.add("one two three four");
        known.add("One, two, three: four!");
        assert_eq!(known.sizes, [2]);
    }
}
