//! Equal queries at the same time share one evaluation.
//!
//! The first of them is evaluated; the others receive its answer when it is complete. An answer above [`MAX_SHARED_BYTES`] is not
//! shared: the others are then evaluated on their own. Queries are equal if their text, graphs, limits and version of the store are
//! equal. The client of the first may be slow or leave: the evaluation goes on for the others.

use super::algebra::{expressions_of, inner_patterns, operands_of, pattern_of};
use super::stream::{CHECK_INTERVAL, Cancellation};
use super::{Provenance, QueryRequest, SparqlError, SparqlLimits};
use lodeseek_store::StoreView;
use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum size of a shared answer, as it comes from the worker process, in bytes.
const MAX_SHARED_BYTES: usize = 4 << 20;

/// Returns true if the answer of a query without services depends on the store only: not on the time or on random values.
pub(super) fn is_repeatable(query: &Query) -> bool {
    !makes_new_values(pattern_of(query))
}

fn makes_new_values(pattern: &GraphPattern) -> bool {
    expressions_of(pattern).into_iter().any(calls_for_new_value)
        || inner_patterns(pattern).into_iter().any(makes_new_values)
}

fn calls_for_new_value(expression: &Expression) -> bool {
    let is_call = matches!(
        expression,
        Expression::FunctionCall(
            Function::Now | Function::Rand | Function::Uuid | Function::StrUuid | Function::BNode,
            _
        )
    );
    is_call || operands_of(expression).into_iter().any(calls_for_new_value)
}

/// Properties that equal queries have in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct SharedKey {
    view: PathBuf,
    query: String,
    default_graphs: Vec<NamedNode>,
    named_graphs: Vec<NamedNode>,
    has_provenance: bool,
    deadline: Duration,
    rows: usize,
    answer_megabytes: u64,
    memory_megabytes: u64,
}

impl SharedKey {
    pub(super) fn new(view: &StoreView, request: &QueryRequest, limits: &SparqlLimits) -> Self {
        Self::in_folder(view.folder(), request, limits)
    }

    fn in_folder(folder: &Path, request: &QueryRequest, limits: &SparqlLimits) -> Self {
        Self {
            view: folder.to_owned(),
            query: request.query.clone(),
            default_graphs: request.default_graphs.clone(),
            named_graphs: request.named_graphs.clone(),
            has_provenance: request.provenance != Provenance::None,
            deadline: limits.deadline,
            rows: limits.rows,
            answer_megabytes: limits.answer_megabytes,
            memory_megabytes: limits.memory_megabytes,
        }
    }
}

/// Complete answer.
#[derive(Clone, Debug)]
pub(super) struct SharedAnswer {
    /// Parts of the answer, as they come from the worker process, without its end.
    pub(super) parts: Arc<Vec<Vec<u8>>>,
    /// If true, the answer was truncated at a limit.
    pub(super) truncated: bool,
}

/// Outcome of a shared evaluation.
#[derive(Clone, Debug)]
pub(super) enum SharedOutcome {
    /// The complete answer, or the error of the evaluation.
    Ended(Result<SharedAnswer, SparqlError>),
    /// The answer is too large.
    TooLarge,
    /// The evaluation was cancelled.
    Cancelled,
}

/// Evaluation of which other queries wait for the outcome.
#[derive(Default)]
pub(super) struct Evaluation {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    outcome: Option<SharedOutcome>,
    /// Number of queries that wait for the outcome.
    waiting: usize,
}

impl Evaluation {
    /// Returns true if other queries wait for the outcome.
    pub(super) fn is_awaited(&self) -> bool {
        let state = self.lock_state();
        state.outcome.is_none() && state.waiting > 0
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Evaluations that equal queries can join.
#[derive(Default)]
pub(super) struct SharedAnswers(Mutex<HashMap<SharedKey, Arc<Evaluation>>>);

/// Part of a query in a shared evaluation.
pub(super) enum Role {
    /// It is evaluated, and records its answer.
    First(Recorder),
    /// It waits for the answer of an equal query.
    Waiting(Waiting),
}

impl SharedAnswers {
    /// Joins the evaluation of an equal query, or begins one.
    pub(super) fn join(self: &Arc<Self>, key: SharedKey) -> Role {
        let mut evaluations = self.lock_evaluations();
        if let Some(known) = evaluations.get(&key) {
            // Within the lock of all evaluations: `close` removes this one before it sets the outcome, which is still to
            // come.
            known.lock_state().waiting += 1;
            return Role::Waiting(Waiting(Arc::clone(known)));
        }
        let evaluation = Arc::new(Evaluation::default());
        evaluations.insert(key.clone(), Arc::clone(&evaluation));
        Role::First(Recorder {
            answers: Arc::clone(self),
            key,
            evaluation,
            parts: Vec::new(),
            bytes: 0,
            is_open: true,
        })
    }

    fn lock_evaluations(&self) -> MutexGuard<'_, HashMap<SharedKey, Arc<Evaluation>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Query that waits for the answer of an equal one.
pub(super) struct Waiting(Arc<Evaluation>);

impl Waiting {
    /// Waits for the outcome. Returns `None` if the client left.
    pub(super) fn wait_for_outcome(&self, cancellation: &Cancellation) -> Option<SharedOutcome> {
        let mut state = self.0.lock_state();
        while state.outcome.is_none() {
            if cancellation.is_cancelled() {
                return None;
            }
            let waited = self.0.ended.wait_timeout(state, CHECK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.outcome.clone()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.lock_state().waiting -= 1;
    }
}

/// Records the answer of an evaluation for the queries that wait for it. If it is dropped before the end, the evaluation was cancelled.
pub(super) struct Recorder {
    answers: Arc<SharedAnswers>,
    key: SharedKey,
    evaluation: Arc<Evaluation>,
    parts: Vec<Vec<u8>>,
    bytes: usize,
    /// If true, the outcome is not known yet.
    is_open: bool,
}

impl Recorder {
    /// Returns the evaluation.
    pub(super) fn evaluation(&self) -> Arc<Evaluation> {
        Arc::clone(&self.evaluation)
    }

    /// Records a part of the answer.
    pub(super) fn record(&mut self, part: &[u8]) {
        if !self.is_open {
            return;
        }
        self.bytes += part.len();
        if self.bytes > MAX_SHARED_BYTES {
            self.close(SharedOutcome::TooLarge);
            self.parts = Vec::new();
        } else {
            self.parts.push(part.to_owned());
        }
    }

    /// Passes the outcome to the waiting queries: true if the answer was truncated, or the error.
    pub(super) fn finish(&mut self, outcome: &Result<bool, SparqlError>) {
        let outcome = match outcome {
            Ok(truncated) => SharedOutcome::Ended(Ok(SharedAnswer {
                parts: Arc::new(std::mem::take(&mut self.parts)),
                truncated: *truncated,
            })),
            Err(SparqlError::Cancelled) => SharedOutcome::Cancelled,
            Err(error) => SharedOutcome::Ended(Err(error.clone())),
        };
        self.close(outcome);
    }

    fn close(&mut self, outcome: SharedOutcome) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        // First, so that no query joins an evaluation that has ended.
        self.answers.lock_evaluations().remove(&self.key);
        self.evaluation.lock_state().outcome = Some(outcome);
        self.evaluation.ended.notify_all();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close(SharedOutcome::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_with_random_values_or_the_time_are_not_shared() {
        let is_shared = |query: &str| {
            let query = spargebra::SparqlParser::new().parse_query(query);
            is_repeatable(&query.expect("a query"))
        };
        for query in [
            "ASK {}",
            "SELECT (UCASE(?o) AS ?x) { ?s ?p ?o } ORDER BY ?o",
        ] {
            assert!(is_shared(query), "{query}");
        }
        for query in [
            "SELECT (NOW() AS ?x) {}",
            "SELECT ?s { ?s ?p ?o } ORDER BY RAND()",
            "SELECT ?s { ?s ?p ?o FILTER EXISTS { BIND(1 + STRLEN(STRUUID()) AS ?x) } }",
            "CONSTRUCT { ?s ?p ?b } { SELECT ?s ?p (BNODE() AS ?b) { ?s ?p ?o } }",
            "SELECT (COUNT(UUID()) AS ?n) { ?s ?p ?o }",
        ] {
            assert!(!is_shared(query), "{query}");
        }
    }

    fn key(query: &str) -> SharedKey {
        let request = QueryRequest {
            query: query.to_owned(),
            ..QueryRequest::default()
        };
        SharedKey::in_folder(Path::new("view"), &request, &SparqlLimits::default())
    }

    #[test]
    fn queries_with_other_limits_are_not_equal() {
        let request = QueryRequest::default();
        let limits = SparqlLimits::default();
        let key = |limits: &SparqlLimits| SharedKey::in_folder(Path::new("view"), &request, limits);
        assert_eq!(key(&limits), key(&limits.clone()));
        let fewer = SparqlLimits {
            rows: 1,
            ..limits.clone()
        };
        assert_ne!(key(&limits), key(&fewer));
    }

    fn first(answers: &Arc<SharedAnswers>, query: &str) -> Recorder {
        match answers.join(key(query)) {
            Role::First(recorder) => recorder,
            Role::Waiting(_) => panic!("{query} waits"),
        }
    }

    fn waiting(answers: &Arc<SharedAnswers>, query: &str) -> Waiting {
        match answers.join(key(query)) {
            Role::First(_) => panic!("{query} is evaluated"),
            Role::Waiting(waiting) => waiting,
        }
    }

    #[test]
    fn an_equal_query_receives_the_answer_of_the_first() {
        let answers = Arc::new(SharedAnswers::default());
        let mut recorder = first(&answers, "ASK {}");
        drop(first(&answers, "ASK { }"));
        assert!(!recorder.evaluation().is_awaited());
        recorder.record(b"true");
        let waiting = waiting(&answers, "ASK {}");
        assert!(recorder.evaluation().is_awaited());
        let left = Cancellation::default();
        left.cancel();
        assert!(waiting.wait_for_outcome(&left).is_none(), "its client left");
        recorder.finish(&Ok(false));
        match waiting.wait_for_outcome(&Cancellation::default()) {
            Some(SharedOutcome::Ended(Ok(answer))) => {
                assert_eq!(
                    (&answer.parts[..], answer.truncated),
                    (&[b"true".to_vec()][..], false)
                );
            }
            other => panic!("{other:?}"),
        }
        drop(first(&answers, "ASK {}"));
    }

    #[test]
    fn an_error_is_shared_and_a_cancellation_is_not() {
        let answers = Arc::new(SharedAnswers::default());
        let mut recorder = first(&answers, "ASK {}");
        let failed = waiting(&answers, "ASK {}");
        recorder.finish(&Err(SparqlError::Memory(1)));
        assert!(matches!(
            failed.wait_for_outcome(&Cancellation::default()),
            Some(SharedOutcome::Ended(Err(SparqlError::Memory(1))))
        ));
        let recorder = first(&answers, "ASK {}");
        let left = waiting(&answers, "ASK {}");
        drop(recorder);
        assert!(matches!(
            left.wait_for_outcome(&Cancellation::default()),
            Some(SharedOutcome::Cancelled)
        ));
    }

    #[test]
    fn a_large_answer_is_not_shared() {
        let answers = Arc::new(SharedAnswers::default());
        let mut recorder = first(&answers, "ASK {}");
        let waiting = waiting(&answers, "ASK {}");
        recorder.record(&vec![0; MAX_SHARED_BYTES]);
        assert!(recorder.evaluation().is_awaited());
        recorder.record(b"more");
        assert!(matches!(
            waiting.wait_for_outcome(&Cancellation::default()),
            Some(SharedOutcome::TooLarge)
        ));
        assert!(!recorder.evaluation().is_awaited());
        drop(first(&answers, "ASK {}"));
        recorder.finish(&Ok(false));
    }
}
