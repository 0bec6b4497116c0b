//! Running times of earlier queries by their shape, so that a query that is known to run long is not started where it would be
//! cancelled.
//!
//! Queries of one shape differ in their literals and the names of variables only: an application sends the same query with other values. The time
//! that a query waited for its client does not count.

use super::SparqlError;
use super::stream::Sink;
use lru::LruCache;
use rustc_hash::FxHashMap;
use spargebra::Query;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of shapes. The one that was not used for the longest time is forgotten.
const MAX_SHAPES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// Shape of a query: a hash of its algebra without the text of literals and the names of variables. The parser gives names by chance to
/// variables of aggregates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Shape(u64);

impl Shape {
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
                let is_name = |character: char| character.is_alphanumeric() || character == '_';
                let name = after.trim_start_matches(':');
                let end = name
                    .find(|character| !is_name(character))
                    .unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                let number = names.len();
                hasher.write_usize(*names.entry(name).or_insert(number));
                rest = after;
            }
        }
        hasher.write(rest.as_bytes());
        Self(hasher.finish())
    }
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

/// Latest running times of queries.
pub(super) struct RunningTimes(Mutex<LruCache<Shape, Duration>>);

impl Default for RunningTimes {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_SHAPES)))
    }
}

impl RunningTimes {
    /// Returns the running time of the last query of a shape; zero if there was none.
    pub(super) fn expected(&self, shape: Shape) -> Duration {
        self.times().get(&shape).copied().unwrap_or_default()
    }

    fn record(&self, shape: Shape, time: Duration) {
        self.times().put(shape, time);
    }

    /// Records the running time of a query that was cancelled: another one takes at least so long.
    fn record_minimum(&self, shape: Shape, time: Duration) {
        let mut times = self.times();
        let known = times.get(&shape).copied().unwrap_or_default();
        times.put(shape, known.max(time));
    }

    /// Runs an evaluation and records its time, without the time that it waited for its receiver.
    pub(super) fn measure(
        &self,
        shape: Shape,
        sink: &mut Sink<'_>,
        evaluate: impl FnOnce(&mut Sink<'_>) -> Result<(), SparqlError>,
    ) -> Result<(), SparqlError> {
        let (started, waited) = (Instant::now(), sink.waited);
        let outcome = evaluate(sink);
        let time = started.elapsed().saturating_sub(sink.waited - waited);
        match &outcome {
            Ok(()) => self.record(shape, time),
            Err(SparqlError::Deadline(deadline)) => self.record(shape, *deadline),
            Err(_) => self.record_minimum(shape, time),
        }
        outcome
    }

    fn times(&self) -> MutexGuard<'_, LruCache<Shape, Duration>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        assert_eq!(
            counts("a"),
            counts("a"),
            "the parser names variables by chance"
        );
        assert_eq!(counts("a"), counts("other"));
        assert_ne!(counts("a"), counts("l"));
    }

    #[test]
    fn a_cancelled_query_does_not_shorten_the_time_of_its_shape() {
        let (times, shape) = (RunningTimes::default(), shape("ASK {}"));
        let seconds = Duration::from_secs;
        assert_eq!(times.expected(shape), seconds(0));
        times.record_minimum(shape, seconds(2));
        times.record_minimum(shape, seconds(1));
        assert_eq!(times.expected(shape), seconds(2));
        times.record(shape, seconds(1));
        assert_eq!(times.expected(shape), seconds(1));
    }
}
