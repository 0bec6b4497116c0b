//! Problems of catalogues: what was left out or repaired, of which entry, and why.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

/// Maximum number of characters of a kind.
const MAX_KIND_CHARS: usize = 160;
/// Maximum number of characters of an example.
const MAX_EXAMPLE_CHARS: usize = 500;
/// Maximum number of kinds that are counted one by one. A hostile catalogue may have as many as problems.
const MAX_KINDS: usize = 200;

/// A problem of a catalogue. Its text names the file, the entry and the property as far as they are known, then the reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// The complete text.
    text: String,
    /// Beginning of the reason in the text.
    reason: usize,
    /// Id, identifier or title of the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dataset: Option<String>,
    /// Key or property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    property: Option<String>,
}

impl Problem {
    /// Creates a problem from its reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            text: reason.into(),
            reason: 0,
            dataset: None,
            property: None,
        }
    }

    /// Adds a text before the problem, such as the name of the file or the number of the entry.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.text.insert_str(0, ": ");
        self.text.insert_str(0, place);
        self.reason += place.len() + 2;
        self
    }

    /// Names the dataset.
    #[must_use]
    pub fn of_dataset(self, name: &str) -> Self {
        Self {
            dataset: Some(name.to_owned()),
            ..self.at(&format!("dataset {name}"))
        }
    }

    /// Names the key or the property.
    #[must_use]
    pub fn of_property(self, name: &str) -> Self {
        Self {
            property: Some(name.to_owned()),
            ..self.at(name)
        }
    }

    /// Names the dataset in the structure; the text has its name already.
    #[must_use]
    pub fn about(self, name: Option<&str>) -> Self {
        Self {
            dataset: name.map(str::to_owned).or(self.dataset),
            ..self
        }
    }

    /// Replaces a name in the text, for example that of a file.
    pub fn rename(&mut self, name: &str, other: &str) {
        if name.is_empty() || !self.text.contains(name) {
            return;
        }
        let place = self
            .text
            .get(..self.reason)
            .unwrap_or_default()
            .replace(name, other);
        let reason = self.reason().replace(name, other);
        self.reason = place.len();
        self.text = place + &reason;
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.text.get(self.reason..).unwrap_or(&self.text)
    }

    /// Returns the dataset.
    #[must_use]
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// Returns the key or the property.
    #[must_use]
    pub fn property(&self) -> Option<&str> {
        self.property.as_deref()
    }

    /// Returns the kind: the reason without numbers, quoted values, and the statement after `, in`, which differ between problems
    /// of one kind.
    ///
    /// ```
    /// use lodeseek_catalog::Problem;
    /// let problem = Problem::new("the tag \"x y\" of 3 texts is not valid").of_dataset("trees");
    /// assert_eq!(problem.kind(), "the tag … of … texts is not valid");
    /// assert_eq!(problem.to_string(), "dataset trees: the tag \"x y\" of 3 texts is not valid");
    /// ```
    #[must_use]
    pub fn kind(&self) -> String {
        let mut kind = String::new();
        let mut end = None;
        let mut is_number = false;
        let reason = self.reason();
        for character in reason.split(", in ").next().unwrap_or(reason).chars() {
            if let Some(last) = end {
                if character == last {
                    end = None;
                }
                continue;
            }
            end = match character {
                '"' => Some('"'),
                '`' => Some('`'),
                '<' => Some('>'),
                _ => None,
            };
            let was_number = std::mem::replace(&mut is_number, character.is_ascii_digit());
            if end.is_some() || is_number && !was_number {
                // A list of values is as one.
                if kind.ends_with("… ") {
                    kind.pop();
                } else {
                    kind.push('…');
                }
            } else if !is_number {
                kind.push(character);
            }
            if kind.len() >= MAX_KIND_CHARS {
                break;
            }
        }
        kind
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        let (reason, dataset) = parse_place(&text);
        let dataset = dataset.map(str::to_owned);
        Self {
            reason,
            dataset,
            text,
            property: None,
        }
    }
}

/// Returns the beginning of the reason in the text of a problem, and the dataset. Readers name the place as `dataset ID: `,
/// `FILE: entry NUMBER (NAME): ` or `FILE:LINE (NAME): `.
fn parse_place(text: &str) -> (usize, Option<&str>) {
    if let Some((name, _)) = text
        .strip_prefix("dataset ")
        .and_then(|rest| rest.split_once(": "))
    {
        return ("dataset ".len() + name.len() + 2, Some(name));
    }
    let number = match text.find(": entry ") {
        Some(place) => Some(place + ": entry ".len()),
        None => text
            .match_indices(':')
            .map(|(place, _)| place + 1)
            .find(|place| text[*place..].starts_with(|first: char| first.is_ascii_digit())),
    };
    let Some(number) = number else {
        return (0, None);
    };
    let rest = text[number..].trim_start_matches(|character: char| character.is_ascii_digit());
    let start = text.len() - rest.len();
    if rest.starts_with(": ") {
        return (start + 2, None);
    }
    match rest
        .strip_prefix(" (")
        .and_then(|rest| rest.split_once("): "))
    {
        Some((name, _)) => (start + " (".len() + name.len() + "): ".len(), Some(name)),
        None => (0, None),
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for Problem {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<&str> for Problem {
    fn eq(&self, text: &&str) -> bool {
        self.text == **text
    }
}

/// Problems of a catalogue, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem.
    pub fn push(&mut self, problem: impl Into<Problem>) {
        self.0.push(problem.into());
    }

    /// Replaces a name in the texts of all problems.
    pub fn rename(&mut self, name: &str, other: &str) {
        for problem in &mut self.0 {
            problem.rename(name, other);
        }
    }

    /// Keeps the problems for which a function returns true.
    pub fn retain(&mut self, is_kept: impl FnMut(&Problem) -> bool) {
        self.0.retain(is_kept);
    }

    /// Moves all problems of another list to the end of this one.
    pub fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// Returns the texts of all problems, with a text between them.
    #[must_use]
    pub fn join(&self, separator: &str) -> String {
        self.0
            .iter()
            .map(|problem| problem.text.as_str())
            .collect::<Vec<_>>()
            .join(separator)
    }

    /// Returns the texts of all problems.
    #[must_use]
    pub fn into_texts(self) -> Vec<String> {
        self.0.into_iter().map(|problem| problem.text).collect()
    }
}

impl Deref for Problems {
    type Target = [Problem];

    fn deref(&self) -> &[Problem] {
        &self.0
    }
}

impl<P: Into<Problem>> Extend<P> for Problems {
    fn extend<I: IntoIterator<Item = P>>(&mut self, problems: I) {
        self.0.extend(problems.into_iter().map(Into::into));
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Problems of one kind: their number, and the first of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProblemGroup {
    /// Reason without the values that differ.
    pub kind: String,
    /// Number of problems.
    pub count: usize,
    /// Dataset of the first problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Key or property of the first problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Text of the first problem.
    pub example: String,
}

/// Problems by kind, the most frequent kind first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProblemGroups(Vec<ProblemGroup>);

impl ProblemGroups {
    /// Counts problems by kind.
    ///
    /// ```
    /// use lodeseek_catalog::{Problem, ProblemGroups};
    /// let problems = ["dataset a: 3 texts are too long", "dataset b: 1 texts are too long", "c.json: no id"];
    /// let problems: Vec<Problem> = problems.map(Problem::from).to_vec();
    /// let groups = ProblemGroups::new(&problems);
    /// assert_eq!((groups.len(), groups[0].count, groups[0].dataset.as_deref()), (2, 2, Some("a")));
    /// ```
    #[must_use]
    pub fn new<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Self {
        let mut groups = Self::default();
        groups.add(problems);
        groups
    }

    /// Adds problems.
    pub fn add<'p>(&mut self, problems: impl IntoIterator<Item = &'p Problem>) {
        let mut places: BTreeMap<String, usize> = self
            .0
            .iter()
            .enumerate()
            .map(|(place, group)| (group.kind.clone(), place))
            .collect();
        for problem in problems {
            let mut kind = problem.kind();
            if !places.contains_key(&kind) && places.len() >= MAX_KINDS {
                "other problems".clone_into(&mut kind);
            }
            let place = *places.entry(kind.clone()).or_insert(self.0.len());
            if place == self.0.len() {
                let (dataset, property) = (problem.dataset.clone(), problem.property.clone());
                let example = problem.text.chars().take(MAX_EXAMPLE_CHARS).collect();
                self.0.push(ProblemGroup {
                    kind,
                    count: 0,
                    dataset,
                    property,
                    example,
                });
            }
            self.0[place].count += 1;
        }
        self.0.sort_by_key(|problem| Reverse(problem.count));
    }

    /// Adds the groups of another list.
    pub fn merge(&mut self, other: Self) {
        for group in other.0 {
            match self.0.iter_mut().find(|own| own.kind == group.kind) {
                Some(own) => own.count += group.count,
                None => self.0.push(group),
            }
        }
        self.0.sort_by_key(|problem| Reverse(problem.count));
    }

    /// Returns true if there is no problem.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Deref for ProblemGroups {
    type Target = [ProblemGroup];

    fn deref(&self) -> &[ProblemGroup] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_one_kind_are_one_group() {
        let problem = |number: usize| {
            Problem::new(format!("the value `{number}` has {number} bytes"))
                .of_property("dct:title")
                .of_dataset("oaks")
        };
        let mut groups = ProblemGroups::new(&[
            problem(1),
            problem(20),
            Problem::new("truncated").at("a.ttl"),
        ]);
        groups.merge(ProblemGroups::new(&[problem(3)]));
        let counts: Vec<_> = groups
            .iter()
            .map(|group| (group.kind.as_str(), group.count))
            .collect();
        assert_eq!(counts, [("the value … has … bytes", 3), ("truncated", 1)]);
        assert_eq!(
            groups[0].example,
            "dataset oaks: dct:title: the value `1` has 1 bytes"
        );
        assert_eq!(
            (groups[0].dataset.as_deref(), groups[0].property.as_deref()),
            (Some("oaks"), Some("dct:title"))
        );
    }

    #[test]
    fn names_of_files_are_replaced() {
        let mut problem = Problem::from("/tmp/f.json: entry 2 (x): no title in /tmp/f.json");
        problem.rename("/tmp/f.json", "<http://e.org/>");
        assert_eq!(
            problem,
            "<http://e.org/>: entry 2 (x): no title in <http://e.org/>"
        );
        assert_eq!(problem.reason(), "no title in <http://e.org/>");
        problem.rename("", "y");
        assert_eq!(problem.reason(), "no title in <http://e.org/>");
    }

    #[test]
    fn lists_of_values_make_no_other_kind() {
        let kind = |text: &str| Problem::new(text).kind();
        assert_eq!(kind("2 of `a` `b` `c`"), "… of …");
        assert_eq!(kind("2 of `a`"), kind("3 of `b` `c`"));
    }

    #[test]
    fn the_place_of_a_problem_is_read_from_its_text() {
        for (text, reason, dataset) in [
            ("dataset oaks: no title", "no title", Some("oaks")),
            (
                "a/b.json: entry 12 (x (1)): no title",
                "no title",
                Some("x (1)"),
            ),
            (
                "b.json: entry 3: not a JSON object",
                "not a JSON object",
                None,
            ),
            ("b.jsonl:7: no title", "no title", None),
            ("b.jsonl:7 (x): no title", "no title", Some("x")),
            ("http://e.org:80/a", "http://e.org:80/a", None),
            ("b.ttl: truncated", "b.ttl: truncated", None),
            ("", "", None),
        ] {
            let problem = Problem::from(text);
            assert_eq!(
                (problem.reason(), problem.dataset()),
                (reason, dataset),
                "{text}"
            );
            assert_eq!(problem.to_string(), text);
        }
    }

    #[test]
    fn the_number_of_kinds_is_limited() {
        let kinds: Vec<Problem> = (0..1000_u32)
            .map(|number| {
                format!("k{}", char::from_u32(0x4e00 + number).expect("a character")).into()
            })
            .collect();
        let groups = ProblemGroups::new(&kinds);
        assert_eq!(groups.len(), MAX_KINDS + 1);
        assert_eq!(groups.iter().map(|group| group.count).sum::<usize>(), 1000);
        assert_eq!(groups[0].kind, "other problems");
    }
}
