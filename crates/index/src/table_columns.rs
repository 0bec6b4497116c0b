//! Columns of tables: the conditions by which datasets are filtered, and their terms in the index.
//!
//! A term is the normalized name of a column, a separator and, if the column has numbers, the smallest and the largest of them. The
//! terms of a name are adjacent in the dictionary. A condition such as `> 5` needs no other number than the largest one.

use super::analysis::compose;
use super::{IndexError, schema};
use lodeseek_rdf::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tantivy::SegmentReader;

/// Separator of name and numbers in a term. No normalized name contains it.
const SEPARATOR: char = '\u{1}';

/// Column of a table of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Header or label.
    pub name: String,
    /// Smallest and largest number; `None` without numbers. Neither is NaN.
    pub range: Option<(f64, f64)>,
}

// Numbers of a range are never NaN.
impl Eq for TableColumn {}

/// Comparison of the numbers of a column with a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Greater than the bound.
    Greater,
    /// At least the bound.
    AtLeast,
    /// Less than the bound.
    Less,
    /// At most the bound.
    AtMost,
}

impl Comparison {
    /// All comparisons with their operators; longer operators precede their beginnings.
    const ALL: [(&'static str, Self); 4] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        (">", Self::Greater),
        ("<", Self::Less),
    ];

    /// Returns true if a number satisfies the comparison.
    #[must_use]
    pub fn is_satisfied_by(self, number: f64, bound: f64) -> bool {
        match self {
            Self::Greater => number > bound,
            Self::AtLeast => number >= bound,
            Self::Less => number < bound,
            Self::AtMost => number <= bound,
        }
    }
}

/// Condition on the columns of a dataset: it has a column of this name, and a number in it satisfies the comparison, if there is
/// one.
///
/// ```
/// use lodeseek_index::ColumnCondition;
/// let condition: ColumnCondition = "well_depth >= 20".parse().expect("a condition");
/// assert_eq!(condition.to_string(), "well_depth >= 20");
/// assert!("well depth = 20".parse::<ColumnCondition>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnCondition {
    /// Name of the column. Case, white space, `_` and `-` are ignored in comparisons, and `wellDepth` is `well depth`.
    pub name: String,
    /// Comparison with a bound that is not NaN.
    pub comparison: Option<(Comparison, f64)>,
}

// Bounds are never NaN.
impl Eq for ColumnCondition {}

impl ColumnCondition {
    /// Returns true if the condition is on columns with this header or label.
    #[must_use]
    pub fn is_on(&self, column: &str) -> bool {
        name_of(&self.name) == name_of(column)
    }

    /// Returns true if a number satisfies the comparison. Without a comparison, no number does.
    #[must_use]
    pub fn accepts(&self, number: f64) -> bool {
        self.comparison
            .is_some_and(|(comparison, bound)| comparison.is_satisfied_by(number, bound))
    }

    /// Returns true if numbers from the first to the second, both of which occur, satisfy the comparison.
    fn is_satisfied_by(&self, range: Option<(f64, f64)>) -> bool {
        let Some((comparison, bound)) = self.comparison else {
            return true;
        };
        range.is_some_and(|(smallest, largest)| {
            comparison.is_satisfied_by(smallest, bound)
                || comparison.is_satisfied_by(largest, bound)
        })
    }
}

/// Error for a malformed condition.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "invalid column {0:?}: expected a name, or a name, >, >=, < or <=, and a number, for example \"population > 1000000\""
)]
pub struct ParseColumnError(String);

impl FromStr for ColumnCondition {
    type Err = ParseColumnError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut condition = Self {
            name: text.trim().to_owned(),
            comparison: None,
        };
        // A header may contain an operator as well: only the last one with a number behind it counts.
        if let Some(start) = text.rfind(['<', '>', '=']) {
            let start = text[..start].trim_end_matches(['<', '>', '=']).len();
            let operator = Comparison::ALL
                .into_iter()
                .find(|(operator, _)| text[start..].starts_with(operator));
            let number = text[start..].trim_start_matches(['<', '>', '=']).trim();
            let bound = number.parse().ok().filter(|bound: &f64| bound.is_finite());
            match (operator, bound) {
                (Some((sign, comparison)), Some(bound))
                    if text[start + sign.len()..].trim() == number =>
                {
                    condition.name = text[..start].trim().to_owned();
                    condition.comparison = Some((comparison, bound));
                }
                (_, Some(_)) => return Err(ParseColumnError(text.to_owned())),
                (_, None) => (),
            }
        }
        if name_of(&condition.name).is_empty() {
            return Err(ParseColumnError(text.to_owned()));
        }
        Ok(condition)
    }
}

impl fmt::Display for ColumnCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let Some((comparison, bound)) = self.comparison else {
            return Ok(());
        };
        for (operator, other) in Comparison::ALL {
            if other == comparison {
                write!(f, " {operator} {bound}")?;
            }
        }
        Ok(())
    }
}

/// Returns the normalized form of a name: its words, in lower case, without control characters.
fn name_of(name: &str) -> String {
    let words = words(&compose(name)).to_lowercase();
    let parts = words.split(|c: char| c.is_whitespace() || c.is_control());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Returns the term of a column in the index. `None` if the name has no words.
pub(super) fn term(column: &TableColumn) -> Option<String> {
    let name = name_of(&column.name);
    if name.is_empty() {
        return None;
    }
    Some(match column.range {
        Some((smallest, largest)) => format!("{name}{SEPARATOR}{smallest} {largest}"),
        None => format!("{name}{SEPARATOR}"),
    })
}

/// Returns the numbers of a term.
fn range_of(term: &str) -> Option<(f64, f64)> {
    let (_, numbers) = term.split_once(SEPARATOR)?;
    let (smallest, largest) = numbers.split_once(' ')?;
    Some((smallest.parse().ok()?, largest.parse().ok()?))
}

/// Returns for each document of a segment if it satisfies all conditions.
pub(super) fn passing_documents(
    reader: &SegmentReader,
    conditions: &[ColumnCondition],
) -> Result<Vec<bool>, IndexError> {
    let mut passing = vec![true; reader.max_doc() as usize];
    let column = reader.fast_fields().str(schema::TABLE_COLUMNS)?;
    for condition in conditions {
        let mut terms = Vec::new();
        if let Some(column) = &column {
            let prefix = format!("{}{SEPARATOR}", name_of(&condition.name));
            let mut stream = column.dictionary().prefix_range(&prefix).into_stream()?;
            while stream.advance() {
                let range = range_of(&String::from_utf8_lossy(stream.key()));
                if condition.is_satisfied_by(range) {
                    terms.push(stream.term_ord());
                }
            }
        }
        if terms.is_empty() {
            passing.fill(false);
            break;
        }
        for (document, passes) in (0..).zip(&mut passing) {
            if !*passes {
                continue;
            }
            let mut ordinals = column.iter().flat_map(|column| column.term_ords(document));
            // The stream returned the ordinals in ascending order.
            *passes = ordinals.any(|ordinal| terms.binary_search(&ordinal).is_ok());
        }
    }
    Ok(passing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_written() {
        for (text, name, comparison) in [
            ("population", "population", None),
            (
                "population>1e6",
                "population",
                Some((Comparison::Greater, 1e6)),
            ),
            ("pop. <= -3.5", "pop.", Some((Comparison::AtMost, -3.5))),
            ("age > 65", "age", Some((Comparison::Greater, 65.0))),
            ("age >65 years", "age >65 years", None),
            (
                "share (<5) < 2",
                "share (<5)",
                Some((Comparison::Less, 2.0)),
            ),
        ] {
            let condition: ColumnCondition = text.parse().expect(text);
            assert_eq!(
                (condition.name.as_str(), condition.comparison),
                (name, comparison)
            );
            assert_eq!(condition.to_string().parse(), Ok(condition));
        }
        for wrong in ["", " ", "> 5", "a = 5", "a == 5", "a => 5", "a >> 5"] {
            assert!(wrong.parse::<ColumnCondition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_compared_by_their_words() {
        for name in ["well_depth", "Well  Depth", "wellDepth", "well-depth"] {
            assert_eq!(name_of(name), "well depth");
        }
        let column = TableColumn {
            name: "Well_depth".to_owned(),
            range: Some((-1.5, 20.0)),
        };
        let term = term(&column).expect("a term");
        assert_eq!(range_of(&term), column.range);
    }
}
