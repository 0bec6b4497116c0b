//! Questions to an endpoint: answered from kept pages, else asked within the budget.

use super::pages::{Pages, Row};
use super::query::Template;
use super::{Budget, Over, Spent, SurveyError, SurveyOptions};
use lodeseek_net::sparql_client::{CallOptions, FailureKind, RemoteError, SparqlClient};
use oxrdf::NamedNode;

/// Calls in a row without any answer after which an endpoint is left alone.
const SILENT_CALLS: u32 = 2;

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The endpoint fails at it; others may have answers.
    Failed(RemoteError),
    /// Nothing more is asked in this run.
    Over(Over),
    /// The run cannot go on.
    Broken(SurveyError),
}

impl From<SurveyError> for Unanswered {
    fn from(error: SurveyError) -> Self {
        Self::Broken(error)
    }
}

/// Asks one endpoint.
pub(super) struct Asker<'s> {
    client: &'s SparqlClient,
    endpoint: &'s NamedNode,
    options: &'s SurveyOptions,
    /// What the client had asked before.
    before: Spent,
    pub(super) spent: Spent,
    /// Answers that were kept from earlier runs.
    pub(super) kept: u64,
    silent: u32,
    on_request: &'s dyn Fn(Spent),
}

impl<'s> Asker<'s> {
    pub(super) fn new(
        client: &'s SparqlClient,
        endpoint: &'s NamedNode,
        options: &'s SurveyOptions,
        on_request: &'s dyn Fn(Spent),
    ) -> Self {
        let before = spent(client, endpoint);
        Self { client, endpoint, options, before, spent: Spent::default(), kept: 0, silent: 0, on_request }
    }

    /// The rows of a query, the values of these variables; kept ones where there are.
    pub(super) fn rows(
        &mut self,
        pages: &Pages,
        template: &Template,
        variables: &[&str],
    ) -> Result<Vec<Row>, Unanswered> {
        let query = template.to_string();
        if let Some(rows) = pages.read(&query) {
            self.kept += 1;
            return Ok(rows);
        }
        let rows = self.ask(&query, variables)?;
        Ok(pages.keep(&query, rows)?)
    }

    /// The rows of a query whose answer must be of today.
    pub(super) fn fresh(&mut self, template: &Template, variables: &[&str]) -> Result<Vec<Row>, Unanswered> {
        self.ask(&template.to_string(), variables)
    }

    /// Likewise kept; asked again without order where the endpoint fails at the ordered one. Tells whether it is ordered.
    pub(super) fn ordered(
        &mut self,
        pages: &Pages,
        template: &Template,
        variables: &[&str],
    ) -> Result<(Vec<Row>, bool), Unanswered> {
        match self.rows(pages, template, variables) {
            Ok(rows) => Ok((rows, true)),
            Err(Unanswered::Failed(error)) => {
                tracing::debug!(%error, "asking without order");
                Ok((self.rows(pages, &template.clone().unordered(), variables)?, false))
            }
            Err(other) => Err(other),
        }
    }

    fn ask(&mut self, query: &str, variables: &[&str]) -> Result<Vec<Row>, Unanswered> {
        let left = self.left()?;
        let bytes = left.bytes.min(self.options.call.bytes);
        let options = CallOptions { bytes, ..self.options.call.clone() };
        let answer = self.call(query, variables, &options);
        let now = spent(self.client, self.endpoint);
        self.spent = Spent { requests: now.requests - self.before.requests, bytes: now.bytes - self.before.bytes };
        (self.on_request)(self.spent);
        match answer {
            Ok(rows) => {
                self.silent = 0;
                Ok(rows)
            }
            Err(error) => Err(self.failed(error, bytes)),
        }
    }

    /// What may still be asked; the endpoint's further attempts count as requests too.
    fn left(&self) -> Result<Budget, Unanswered> {
        let Budget { requests, bytes } = self.options.budget;
        if self.silent >= SILENT_CALLS {
            return Err(Unanswered::Over(Over::Silent));
        }
        if self.options.call.cancellation.is_cancelled() {
            return Err(Unanswered::Over(Over::Time));
        }
        let left = Budget {
            requests: requests.saturating_sub(self.spent.requests),
            bytes: bytes.saturating_sub(self.spent.bytes),
        };
        match (left.requests, left.bytes) {
            (0, _) => Err(Unanswered::Over(Over::Requests(requests))),
            (_, 0) => Err(Unanswered::Over(Over::Bytes(bytes))),
            _ => Ok(left),
        }
    }

    fn call(&self, query: &str, variables: &[&str], options: &CallOptions) -> Result<Vec<Row>, RemoteError> {
        let rows = self.client.select(self.endpoint.as_ref(), query, options)?;
        rows.map(|row| row.map(|row| variables.iter().map(|name| row.get(*name).cloned()).collect())).collect()
    }

    fn failed(&mut self, error: RemoteError, bytes: u64) -> Unanswered {
        match error.kind() {
            FailureKind::Refused => return Unanswered::Broken(error.into()),
            FailureKind::Cancelled => return Unanswered::Over(Over::Time),
            FailureKind::TooLong if bytes < self.options.call.bytes => {
                return Unanswered::Over(Over::Bytes(self.options.budget.bytes));
            }
            FailureKind::Connection | FailureKind::Busy | FailureKind::Crowded => self.silent += 1,
            _ => self.silent = 0,
        }
        Unanswered::Failed(error)
    }
}

fn spent(client: &SparqlClient, endpoint: &NamedNode) -> Spent {
    let known = client.snapshot().into_iter().find(|known| known.endpoint == *endpoint);
    known.map(|known| Spent { requests: known.requests, bytes: known.bytes }).unwrap_or_default()
}
