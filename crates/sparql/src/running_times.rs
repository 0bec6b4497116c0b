//! Running times of earlier queries by their shape, so that a query that is known to run long is not started where it would be
//! cancelled.
//!
//! Queries of one shape differ in their literals and the names of variables only: an application sends the same query with other
//! values. The time that a query waited for its client does not count.

use super::SparqlError;
use super::algebra::{has_service, pattern_of};
use lru::LruCache;
use rustc_hash::FxHashMap;
use spargebra::Query;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Maximum number of shapes. The one that was not used for the longest time is forgotten.
const MAX_SHAPES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// Number of running times of a shape that are kept.
const MAX_TIMES: usize = 3;
/// Number of timeouts in a row after which queries of a shape are expected to exceed their deadline.
const MIN_TIMEOUTS: usize = 2;

/// Shape of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Shape {
    /// Hash of its algebra without the text of literals and the names of variables. The parser gives random names to the variables of
    /// aggregates.
    hash: u64,
    /// If true, services answer parts of it.
    pub(super) is_federated: bool,
}

impl Shape {
    #[cfg(test)]
    pub(super) const fn of_test(is_federated: bool) -> Self {
        Self {
            hash: 0,
            is_federated,
        }
    }

    pub(super) fn from_query(query: &Query) -> Self {
        let text = query.to_string();
        let mut hasher = DefaultHasher::new();
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        let mut rest = text.as_str();
        while let Some(place) = rest.find(['"', '?', '_']) {
            let (before, marked) = rest.split_at(place);
            hasher.write(before.as_bytes());
            let (mark, after) = marked.split_at(1);
            hasher.write(mark.as_bytes());
            rest = after;
            if mark == "\"" {
                rest = after_literal(after);
            } else if mark == "?" || after.starts_with(':') {
                let name = after.trim_start_matches(':');
                let end = name
                    .find(|character| !is_name_character(character))
                    .unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                let number = names.len();
                hasher.write_usize(*names.entry(name).or_insert(number));
                rest = after;
            }
        }
        hasher.write(rest.as_bytes());
        Self {
            hash: hasher.finish(),
            is_federated: has_service(pattern_of(query)),
        }
    }
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns what follows a literal whose opening quote was read. Quotes in literals are escaped.
fn after_literal(text: &str) -> &str {
    let mut is_escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return &text[place + 1..],
            _ => {}
        }
    }
    ""
}

/// Expectation of a query by earlier ones of its shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Expectation {
    /// Median of the last running times; the shorter one of two.
    pub(super) time: Duration,
    /// If true, the last queries did not end before their deadline.
    pub(super) exceeds_deadline: bool,
}

/// Running times of the last queries of a shape.
#[derive(Clone, Copy, Default)]
struct History {
    /// The latest time first. Times of the same shape differ by values and by load.
    times: [Option<Duration>; MAX_TIMES],
    /// Number of queries in a row that did not end before their deadline.
    timeouts: usize,
}

impl History {
    fn add(&mut self, time: Duration) {
        self.times.rotate_right(1);
        self.times[0] = Some(time);
    }

    fn expectation(&self) -> Expectation {
        let mut times: Vec<Duration> = self.times.iter().copied().flatten().collect();
        times.sort_unstable();
        let median = times.len().saturating_sub(1) / 2;
        Expectation {
            time: times.get(median).copied().unwrap_or_default(),
            exceeds_deadline: self.timeouts >= MIN_TIMEOUTS,
        }
    }
}

/// Running times of queries by shape.
pub(super) struct RunningTimes(LruCache<Shape, History>);

impl Default for RunningTimes {
    fn default() -> Self {
        Self(LruCache::new(MAX_SHAPES))
    }
}

impl RunningTimes {
    /// Returns the expectation of a query of a shape.
    pub(super) fn expectation(&mut self, shape: Shape) -> Expectation {
        self.0
            .get(&shape)
            .map(History::expectation)
            .unwrap_or_default()
    }

    /// Records the outcome of a query and its running time.
    pub(super) fn record(
        &mut self,
        shape: Shape,
        time: Duration,
        outcome: &Result<(), SparqlError>,
    ) {
        let history = self.0.get_or_insert_mut(shape, History::default);
        match outcome {
            Ok(()) => {
                history.add(time);
                history.timeouts = 0;
            }
            Err(SparqlError::Deadline(_)) => {
                history.add(time);
                history.timeouts += 1;
            }
            // The process failed, not the query.
            Err(SparqlError::Worker(_)) => {}
            // It ended early, so it takes at least so long.
            Err(_) => self.record_minimum(shape, time),
        }
    }

    /// Records that a query takes at least so long.
    pub(super) fn record_minimum(&mut self, shape: Shape, time: Duration) {
        let history = self.0.get_or_insert_mut(shape, History::default);
        if time > history.expectation().time {
            history.add(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::SparqlParser;

    fn shape(query: &str) -> Shape {
        let query = SparqlParser::new().parse_query(query);
        Shape::from_query(&query.expect("a query"))
    }

    #[test]
    fn queries_that_differ_in_literals_have_one_shape() {
        let water = shape(r#"SELECT ?s { ?s <x:label> ?l FILTER(?l = "water" && ?n > 1) }"#);
        for other in [
            "# wind\nSELECT ?s\n{ ?s <x:label> ?l FILTER(?l = 'wind' && ?n > 20) }",
            r#"SELECT ?s { ?s <x:label> ?l FILTER(?l = "\"\\" && ?n > 1) }"#,
        ] {
            assert_eq!(shape(other), water, "{other}");
        }
        for other in [
            r#"SELECT ?s { ?s <x:title> ?l FILTER(?l = "water" && ?n > 1) }"#,
            r#"SELECT ?s { ?s <x:label> ?l FILTER(?l = "water" || ?n > 1) }"#,
            r#"SELECT ?s { ?s <x:label> ?l FILTER(?l = "water" && ?n > 1) } LIMIT 1"#,
        ] {
            assert_ne!(shape(other), water, "{other}");
        }
    }

    #[test]
    fn names_have_no_part_in_a_shape() {
        let counts = |name: &str| {
            shape(&format!(
                "SELECT (COUNT(DISTINCT ?{name}) AS ?n) (MAX(?l) AS ?m) {{ ?{name} <x:p?q=_a> [ <x:q> ?l ] }} GROUP BY (STR(?l)) HAVING (COUNT(*) > 1)"
            ))
        };
        assert_eq!(counts("a"), counts("a"), "the parser gives random names");
        assert_eq!(counts("a"), counts("other"));
        assert_ne!(counts("a"), counts("l"));
    }

    #[test]
    fn one_query_does_not_decide_for_its_shape() {
        let (mut times, shape) = (RunningTimes::default(), shape("ASK {}"));
        let expected = |times: &mut RunningTimes| {
            let expectation = times.expectation(shape);
            (expectation.time.as_secs(), expectation.exceeds_deadline)
        };
        let deadline = Duration::from_secs(30);
        let record = |times: &mut RunningTimes, seconds, outcome| {
            times.record(shape, Duration::from_secs(seconds), &outcome);
        };
        assert_eq!(expected(&mut times), (0, false));
        record(&mut times, 2, Err(SparqlError::Cancelled));
        assert_eq!(
            expected(&mut times),
            (2, false),
            "it takes at least so long"
        );
        record(&mut times, 1, Err(SparqlError::Cancelled));
        record(
            &mut times,
            20,
            Err(SparqlError::Worker("it ended".to_owned())),
        );
        assert_eq!(expected(&mut times), (2, false));
        record(&mut times, 30, Err(SparqlError::Deadline(deadline)));
        assert_eq!(expected(&mut times), (2, false));
        record(&mut times, 30, Err(SparqlError::Deadline(deadline)));
        assert_eq!(expected(&mut times), (30, true));
        record(&mut times, 1, Ok(()));
        assert_eq!(expected(&mut times), (30, false));
        record(&mut times, 1, Ok(()));
        assert_eq!(expected(&mut times), (1, false));
    }
}
