//! Streaming results of `SELECT`, and results of `ASK`.

use super::endpoint::ActiveCall;
use super::error::RemoteError;
use super::json_results::{JsonError, JsonResults, JsonSolutions};
use super::source::{Meter, ResponseContext};
use oxrdf::{BlankNode, Term, Variable};
use sha2::{Digest, Sha256};
use sparesults::{
    QueryResultsFormat, QueryResultsParser, QuerySolution, ReaderQueryResultsParserOutput,
    ReaderSolutionsParser,
};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Maximum number of blank bytes before a response.
const MAX_LEADING_BLANKS: usize = 4096;

type Source = Box<dyn Read + Send>;

/// Response with its detected format.
pub(super) struct Answer {
    context: ResponseContext,
    format: QueryResultsFormat,
    source: Source,
}

impl Answer {
    /// Detects the format by the first character: `{` for JSON, `<` for XML.
    ///
    /// The declared media type is ignored, because it is often wrong (`text/plain`, `application/xml`, a server default).
    pub(super) fn open(
        endpoint: &str,
        body: impl Read + Send + 'static,
        bytes: Arc<AtomicU64>,
    ) -> Result<Self, RemoteError> {
        let mut context = ResponseContext::new(endpoint);
        let mut meter = Meter::new(body, bytes, &context);
        let first = begin(&mut meter).map_err(|error| context.io(&error))?;
        let format = match first.first() {
            Some(b'{') => QueryResultsFormat::Json,
            Some(b'<') => QueryResultsFormat::Xml,
            _ => return Err(context.unreadable("neither JSON nor XML")),
        };
        context.json = format == QueryResultsFormat::Json;
        Ok(Self {
            context,
            format,
            source: Box::new(Cursor::new(first).chain(meter)),
        })
    }

    pub(super) fn boolean(self) -> Result<bool, RemoteError> {
        if self.context.json {
            return match JsonResults::open(self.source, 0) {
                Ok(JsonResults::Boolean(value)) => Ok(value),
                Ok(JsonResults::Solutions(_)) | Err(JsonError::TooManyRows) => Err(self
                    .context
                    .unreadable("rows instead of the boolean result of ASK")),
                Err(error) => Err(self.context.json_error(error, 0)),
            };
        }
        match QueryResultsParser::from_format(self.format).for_reader(self.source) {
            Ok(ReaderQueryResultsParserOutput::Boolean(value)) => Ok(value),
            Ok(_) => Err(self
                .context
                .unreadable("rows instead of the boolean result of ASK")),
            Err(error) => Err(self.context.parser(&error)),
        }
    }

    /// Reads the response up to the first row.
    pub(super) fn rows(self, limit: u64, response: u64) -> Result<Rows, RemoteError> {
        let context = self.context;
        let no_rows = "a boolean instead of the rows of SELECT";
        let (variables, rows) = if context.json {
            match JsonResults::open(self.source, limit) {
                Ok(JsonResults::Solutions(rows)) => {
                    (Arc::clone(rows.variables()), Parser::Json(rows))
                }
                Ok(JsonResults::Boolean(_)) => return Err(context.unreadable(no_rows)),
                Err(error) => return Err(context.json_error(error, limit)),
            }
        } else {
            match QueryResultsParser::from_format(self.format).for_reader(self.source) {
                Ok(ReaderQueryResultsParserOutput::Solutions(rows)) => {
                    (rows.variables().into(), Parser::Other(rows))
                }
                Ok(_) => return Err(context.unreadable(no_rows)),
                Err(error) => return Err(context.parser(&error)),
            }
        };
        let mut rows = Rows {
            context,
            variables,
            rows,
            first: None,
            left: limit,
            limit,
            response,
        };
        rows.first = rows.read().transpose()?;
        Ok(rows)
    }
}

/// Returns the first non-blank bytes, without a byte order mark. They are empty if the response is empty.
fn begin(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    let mut buffer = [0; 512];
    loop {
        let length = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        first.extend_from_slice(&buffer[..length]);
        let text = first
            .strip_prefix(b"\xef\xbb\xbf".as_slice())
            .unwrap_or(&first)
            .trim_ascii_start();
        let incomplete = text.is_empty() || text.starts_with(b"\xef") && text.len() < 3;
        if length == 0 || !incomplete || first.len() > MAX_LEADING_BLANKS {
            return Ok(text.to_vec());
        }
    }
}

/// Parser of the rows of a response.
enum Parser {
    Json(JsonSolutions<Source>),
    Other(ReaderSolutionsParser<Source>),
}

/// Rows of a response.
pub(super) struct Rows {
    context: ResponseContext,
    variables: Arc<[Variable]>,
    rows: Parser,
    /// First row, read ahead: if it is damaged, the request can be retried.
    first: Option<QuerySolution>,
    left: u64,
    limit: u64,
    response: u64,
}

impl Rows {
    fn read(&mut self) -> Option<Result<QuerySolution, RemoteError>> {
        let row = match &mut self.rows {
            Parser::Json(rows) => match rows.next().transpose()? {
                Ok(row) => Ok(QuerySolution::from((Arc::clone(&self.variables), row))),
                Err(error) => Err(self.context.json_error(error, self.limit)),
            },
            Parser::Other(rows) => match rows.next() {
                Some(row) => row.map_err(|error| self.context.parser(&error)),
                None if self.context.xml_has_ended() => return None,
                None => Err(self.context.unreadable("truncated")),
            },
        };
        Some(row.and_then(|row| self.admit(row)))
    }

    fn admit(&mut self, row: QuerySolution) -> Result<QuerySolution, RemoteError> {
        let too_many = || RemoteError::TooManyRows {
            endpoint: self.context.endpoint.clone(),
            limit: self.limit,
        };
        self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
        Ok(renamed(row, self.response, &self.variables))
    }

    pub(super) fn next(&mut self) -> Option<Result<QuerySolution, RemoteError>> {
        self.first.take().map(Ok).or_else(|| self.read())
    }
}

fn renamed(row: QuerySolution, response: u64, variables: &Arc<[Variable]>) -> QuerySolution {
    if !row
        .values()
        .iter()
        .any(|value| matches!(value, Some(Term::BlankNode(_) | Term::Triple(_))))
    {
        return row;
    }
    let label = |term: &Term| {
        lodeseek_rdf::relabelled_term(term.clone(), &mut |node| relabel(&node, response))
    };
    let values = row.values().iter().map(|value| value.as_ref().map(label));
    QuerySolution::from((Arc::clone(variables), values.collect::<Vec<_>>()))
}

/// Returns a blank node with a label that is unique among all responses: a hash of the response number and the label.
///
/// The label starts with `b`, which no blank node of the store starts with (`blank.rs` of the store). A letter is needed,
/// because labels in RDF/XML are XML names.
pub(super) fn relabel(node: &BlankNode, response: u64) -> BlankNode {
    let digest = Sha256::new()
        .chain_update(response.to_le_bytes())
        .chain_update(node.as_str())
        .finalize();
    let hash = digest
        .iter()
        .take(16)
        .fold(0, |hash, &byte| hash << 8 | u128::from(byte));
    BlankNode::new_from_unique_id(hash & (u128::MAX >> 4) | 0xb << 124)
}

/// Iterator over the rows of a `SELECT` result. One row at a time is in memory.
///
/// The call holds its permit until the last row is read or the iterator is dropped. The iterator ends after an error.
pub struct Solutions {
    variables: Arc<[Variable]>,
    running: Option<(Rows, ActiveCall)>,
}

impl Solutions {
    pub(super) fn new(rows: Rows, call: ActiveCall) -> Self {
        Self {
            variables: Arc::clone(&rows.variables),
            running: Some((rows, call)),
        }
    }

    /// Returns the variables in the order of the response.
    #[must_use]
    pub fn variables(&self) -> &Arc<[Variable]> {
        &self.variables
    }
}

impl Iterator for Solutions {
    type Item = Result<QuerySolution, RemoteError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut rows, mut call) = self.running.take()?;
        match rows.next()? {
            Ok(row) => {
                call.rows += 1;
                self.running = Some((rows, call));
                Some(Ok(row))
            }
            Err(error) => Some(Err(call.failed(error))),
        }
    }
}

impl fmt::Debug for Solutions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Solutions")
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}
