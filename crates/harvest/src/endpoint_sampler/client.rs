//! Queries to one endpoint, answered from the response cache or sent within the budget.

use super::query::Template;
use super::response_cache::{ResponseCache, Row};
use super::{Budget, SamplerError, SamplerOptions, StopReason, Usage};
use lodeseek_net::sparql_client::{CallOptions, FailureKind, RemoteError, SparqlClient};
use oxrdf::NamedNode;

/// Consecutive calls without a response after which the run stops querying the endpoint.
const MAX_UNRESPONSIVE_CALLS: u32 = 2;

/// Reasons why a query has no result.
#[derive(Debug)]
pub(super) enum QueryFailure {
    /// The endpoint failed to evaluate this query. Other queries may succeed.
    Remote(RemoteError),
    /// The run sends no further queries.
    Stopped(StopReason),
    /// The run must be aborted.
    Fatal(SamplerError),
}

impl From<SamplerError> for QueryFailure {
    fn from(error: SamplerError) -> Self {
        Self::Fatal(error)
    }
}

/// Client of one endpoint that counts its requests against the budget of the run.
pub(super) struct QueryClient<'s> {
    client: &'s SparqlClient,
    endpoint: &'s NamedNode,
    options: &'s SamplerOptions,
    /// Usage of the endpoint before this run.
    before: Usage,
    /// Usage of the endpoint in this run.
    pub(super) spent: Usage,
    /// Number of queries answered from the response cache.
    pub(super) cache_hits: u64,
    /// Consecutive calls without a response.
    unresponsive_calls: u32,
    on_request: &'s dyn Fn(Usage),
}

impl<'s> QueryClient<'s> {
    pub(super) fn new(
        client: &'s SparqlClient,
        endpoint: &'s NamedNode,
        options: &'s SamplerOptions,
        on_request: &'s dyn Fn(Usage),
    ) -> Self {
        let before = usage_of(client, endpoint);
        Self {
            client,
            endpoint,
            options,
            before,
            spent: Usage::default(),
            cache_hits: 0,
            unresponsive_calls: 0,
            on_request,
        }
    }

    /// Returns the values of the variables in each row, from the cache if it has them.
    pub(super) fn rows(
        &mut self,
        cache: &ResponseCache,
        template: &Template,
        variables: &[&str],
    ) -> Result<Vec<Row>, QueryFailure> {
        let query = template.to_string();
        if let Some(rows) = cache.read(&query) {
            self.cache_hits += 1;
            return Ok(rows);
        }
        let rows = self.send(&query, variables)?;
        Ok(cache.write(&query, rows)?)
    }

    /// Returns the rows of a query and bypasses the cache.
    pub(super) fn uncached_rows(
        &mut self,
        template: &Template,
        variables: &[&str],
    ) -> Result<Vec<Row>, QueryFailure> {
        self.send(&template.to_string(), variables)
    }

    /// Returns the rows of a query as [`Self::rows`] does. If the endpoint fails, the query is repeated without `ORDER BY`.
    /// The flag is true if the rows are ordered.
    pub(super) fn ordered_rows(
        &mut self,
        cache: &ResponseCache,
        template: &Template,
        variables: &[&str],
    ) -> Result<(Vec<Row>, bool), QueryFailure> {
        match self.rows(cache, template, variables) {
            Ok(rows) => Ok((rows, true)),
            Err(QueryFailure::Remote(error)) => {
                tracing::debug!(%error, "repeating the query without ORDER BY");
                Ok((
                    self.rows(cache, &template.clone().without_order(), variables)?,
                    false,
                ))
            }
            Err(other) => Err(other),
        }
    }

    fn send(&mut self, query: &str, variables: &[&str]) -> Result<Vec<Row>, QueryFailure> {
        let remaining = self.remaining_budget()?;
        let bytes = remaining.bytes.min(self.options.call.bytes);
        let options = CallOptions {
            bytes,
            ..self.options.call.clone()
        };
        let result = self.call(query, variables, &options);
        // Of the client, because only it counts retries.
        let now = usage_of(self.client, self.endpoint);
        self.spent = Usage {
            requests: now.requests - self.before.requests,
            bytes: now.bytes - self.before.bytes,
        };
        (self.on_request)(self.spent);
        match result {
            Ok(rows) => {
                self.unresponsive_calls = 0;
                Ok(rows)
            }
            Err(error) => Err(self.classify_failure(error, bytes)),
        }
    }

    /// Returns the remaining budget. Retries count as requests.
    fn remaining_budget(&self) -> Result<Budget, QueryFailure> {
        let Budget { requests, bytes } = self.options.budget;
        if self.unresponsive_calls >= MAX_UNRESPONSIVE_CALLS {
            return Err(QueryFailure::Stopped(StopReason::Unresponsive));
        }
        if self.options.call.cancellation.is_cancelled() {
            return Err(QueryFailure::Stopped(StopReason::Time));
        }
        let remaining = Budget {
            requests: requests.saturating_sub(self.spent.requests),
            bytes: bytes.saturating_sub(self.spent.bytes),
        };
        match (remaining.requests, remaining.bytes) {
            (0, _) => Err(QueryFailure::Stopped(StopReason::Requests(requests))),
            (_, 0) => Err(QueryFailure::Stopped(StopReason::Bytes(bytes))),
            _ => Ok(remaining),
        }
    }

    fn call(
        &self,
        query: &str,
        variables: &[&str],
        options: &CallOptions,
    ) -> Result<Vec<Row>, RemoteError> {
        let mut rows = Vec::new();
        for solution in self.client.select(self.endpoint.as_ref(), query, options)? {
            let solution = solution?;
            rows.push(
                variables
                    .iter()
                    .map(|name| solution.get(*name).cloned())
                    .collect(),
            );
        }
        Ok(rows)
    }

    fn classify_failure(&mut self, error: RemoteError, bytes: u64) -> QueryFailure {
        match error.kind() {
            FailureKind::Refused => return QueryFailure::Fatal(error.into()),
            FailureKind::Cancelled => return QueryFailure::Stopped(StopReason::Time),
            // The limit was that of the remaining budget, not that of one call.
            FailureKind::TooLong if bytes < self.options.call.bytes => {
                return QueryFailure::Stopped(StopReason::Bytes(self.options.budget.bytes));
            }
            FailureKind::Connection | FailureKind::Busy | FailureKind::Crowded => {
                self.unresponsive_calls += 1
            }
            _ => self.unresponsive_calls = 0,
        }
        QueryFailure::Remote(error)
    }
}

fn usage_of(client: &SparqlClient, endpoint: &NamedNode) -> Usage {
    let statistics = client
        .snapshot()
        .into_iter()
        .find(|statistics| statistics.endpoint == *endpoint);
    statistics
        .map(|known| Usage {
            requests: known.requests,
            bytes: known.bytes,
        })
        .unwrap_or_default()
}
