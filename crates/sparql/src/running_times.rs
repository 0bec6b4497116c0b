//! Running times of earlier queries by their shape, so that a query that is known to run long is not started where it would be
//! cancelled.
//!
//! Queries of one shape differ in their strings and numbers only: an application sends the same query with other values. The time
//! that a query waited for its client does not count.

use super::SparqlError;
use super::stream::Sink;
use lru::LruCache;
use spargebra::Query;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of shapes. The one that was not used for the longest time is forgotten.
const MAX_SHAPES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// Shape of a query: a hash of its algebra without the text of literals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Shape(u64);

impl Shape {
    pub(super) fn from_query(query: &Query) -> Self {
        // Quotes in IRIs are not valid, and those in literals are escaped.
        let text = query.to_string();
        let mut hasher = DefaultHasher::new();
        let (mut is_literal, mut is_escaped) = (false, false);
        for byte in text.bytes() {
            if is_escaped {
                is_escaped = false;
            } else if byte == b'"' {
                is_literal = !is_literal;
                hasher.write_u8(byte);
            } else if is_literal {
                is_escaped = byte == b'\\';
            } else {
                hasher.write_u8(byte);
            }
        }
        Self(hasher.finish())
    }
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
