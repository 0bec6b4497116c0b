//! Patterns with `*` and `?`, in which other characters stand for themselves.

/// A part of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Literal(char),
    /// One character: `?`.
    One,
    /// Any characters: `*`.
    Any,
}

/// A pattern.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Pattern(Vec<Part>);

impl Pattern {
    pub(super) fn push(&mut self, character: char) {
        self.0.push(Part::Literal(character));
    }

    pub(super) fn push_one(&mut self) {
        self.0.push(Part::One);
    }

    pub(super) fn push_any(&mut self) {
        self.0.push(Part::Any);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// If true, every text matches.
    pub(super) fn is_any(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|part| *part == Part::Any)
    }

    /// Returns the text of a pattern without `*` and `?`.
    pub(super) fn literal(&self) -> Option<String> {
        self.0
            .iter()
            .map(|part| match part {
                Part::Literal(character) => Some(*character),
                Part::One | Part::Any => None,
            })
            .collect()
    }

    /// Returns the pattern with its texts changed by a function.
    pub(super) fn map_texts(&self, change: impl Fn(&str) -> String) -> Self {
        let mut changed = Self::default();
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Literal(character) => text.push(*character),
                other => {
                    changed.0.extend(
                        change(&std::mem::take(&mut text))
                            .chars()
                            .map(Part::Literal),
                    );
                    changed.0.push(*other);
                }
            }
        }
        changed.0.extend(change(&text).chars().map(Part::Literal));
        changed
    }

    /// If true, the whole text matches. Backtracks only to the last `*`: the time is bounded by the product of the lengths.
    pub(super) fn matches(&self, text: &str) -> bool {
        let (mut part, mut rest, mut star) = (0, text.chars(), None);
        loop {
            let mut after = rest.clone();
            let next = after.next();
            match (self.0.get(part), next) {
                (Some(Part::Any), _) => {
                    // A later star replaces an earlier one: the earlier one took the fewest characters, and the later one can
                    // take any others.
                    star = Some((part, rest.clone()));
                    part += 1;
                }
                (None, None) => return true,
                (Some(Part::One), Some(_)) => (part, rest) = (part + 1, after),
                (Some(Part::Literal(expected)), Some(found)) if *expected == found => {
                    (part, rest) = (part + 1, after)
                }
                _ => {
                    let Some((any, from)) = &mut star else {
                        return false;
                    };
                    // The star takes one more character, and the part after it is tried again.
                    if from.next().is_none() {
                        return false;
                    }
                    (part, rest) = (*any + 1, from.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        let mut pattern = Pattern::default();
        for character in text.chars() {
            match character {
                '*' => pattern.push_any(),
                '?' => pattern.push_one(),
                other => pattern.push(other),
            }
        }
        pattern
    }

    /// Matches by trying everything.
    fn matches_slowly(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => {
                (0..=text.len()).any(|skipped| matches_slowly(rest, &text[skipped..]))
            }
            Some((first, rest)) => text.split_first().is_some_and(|(next, text)| {
                (*first == '?' || first == next) && matches_slowly(rest, text)
            }),
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_by_trying_everything(written in "[ab*?]{0,7}", text in "[ab]{0,8}") {
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = matches_slowly(&characters(&written), &characters(&text));
            prop_assert_eq!(pattern(&written).matches(&text), expected);
        }
    }

    #[test]
    fn long_texts_take_bounded_time() {
        let text = "a".repeat(100_000);
        assert!(!pattern(&format!("*{}b", "a".repeat(500))).matches(&text));
        assert!(pattern("*a?").matches(&text) && !pattern("a?").matches(&text));
    }
}
