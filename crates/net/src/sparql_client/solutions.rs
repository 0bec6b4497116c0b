//! Streaming results of `SELECT`, and results of `ASK`.

use super::endpoint::ActiveCall;
use super::error::RemoteError;
use super::json_results::{JsonResults, JsonSolutions};
use super::source::{Meter, ResponseContext};
use super::terms::ReadError;
use super::xml_results::{XmlResults, XmlSolutions};
use oxrdf::{BlankNode, Term, Variable};
use sha2::{Digest, Sha256};
use sparesults::QuerySolution;
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
        let first = read_first_bytes(&mut meter).map_err(|error| context.io_error(&error))?;
        context.json = match first.first() {
            Some(b'{') => true,
            Some(b'<') => false,
            _ => return Err(context.unreadable_error("neither JSON nor XML")),
        };
        Ok(Self {
            context,
            source: Box::new(Cursor::new(first).chain(meter)),
        })
    }

    pub(super) fn boolean(self) -> Result<bool, RemoteError> {
        let boolean = if self.context.json {
            match JsonResults::open(self.source, 0) {
                Ok(JsonResults::Boolean(value)) => Ok(Some(value)),
                Ok(JsonResults::Solutions(_)) => Ok(None),
                Err(error) => Err(error),
            }
        } else {
            match XmlResults::open(self.source, 0) {
                Ok(XmlResults::Boolean(value)) => Ok(Some(value)),
                Ok(XmlResults::Solutions(_)) => Ok(None),
                Err(error) => Err(error),
            }
        };
        match boolean {
            Ok(Some(value)) => Ok(value),
            Ok(None) | Err(ReadError::TooManyRows) => Err(self
                .context
                .unreadable_error("rows instead of the boolean result of ASK")),
            Err(error) => Err(self.context.read_error(error, 0)),
        }
    }

    /// Reads the response up to the first row.
    pub(super) fn rows(self, limit: u64, response: u64) -> Result<Rows, RemoteError> {
        let context = self.context;
        let opened = if context.json {
            match JsonResults::open(self.source, limit) {
                Ok(JsonResults::Solutions(rows)) => Ok(Some(Parser::Json(rows))),
                Ok(JsonResults::Boolean(_)) => Ok(None),
                Err(error) => Err(error),
            }
        } else {
            match XmlResults::open(self.source, limit) {
                Ok(XmlResults::Solutions(rows)) => Ok(Some(Parser::Xml(rows))),
                Ok(XmlResults::Boolean(_)) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let rows = match opened {
            Ok(Some(rows)) => rows,
            Ok(None) => {
                return Err(context.unreadable_error("a boolean instead of the rows of SELECT"));
            }
            Err(error) => return Err(context.read_error(error, limit)),
        };
        let variables = match &rows {
            Parser::Json(rows) => Arc::clone(rows.variables()),
            Parser::Xml(rows) => Arc::clone(rows.variables()),
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
fn read_first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
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
        // A byte order mark may arrive in parts.
        let incomplete = text.is_empty() || text.starts_with(b"\xef") && text.len() < 3;
        if length == 0 || !incomplete || first.len() > MAX_LEADING_BLANKS {
            return Ok(text.to_vec());
        }
    }
}

/// Parser of the rows of a response.
enum Parser {
    Json(JsonSolutions<Source>),
    Xml(XmlSolutions<Source>),
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
            Parser::Json(rows) => rows.next(),
            Parser::Xml(rows) => rows.next(),
        };
        let row = match row.transpose()? {
            Ok(row) => Ok(QuerySolution::from((Arc::clone(&self.variables), row))),
            Err(error) => Err(self.context.read_error(error, self.limit)),
        };
        Some(row.and_then(|row| self.admit(row)))
    }

    fn admit(&mut self, row: QuerySolution) -> Result<QuerySolution, RemoteError> {
        // The row above the limit shows that the result is longer: exactly `limit` rows are no error.
        let Some(left) = self.left.checked_sub(1) else {
            return Err(RemoteError::TooManyRows {
                endpoint: self.context.endpoint.clone(),
                limit: self.limit,
            });
        };
        self.left = left;
        Ok(relabel_row(row, self.response, &self.variables))
    }

    /// Returns the number of values of the rows so far that were repaired or left out.
    pub(super) fn repairs(&self) -> u64 {
        match &self.rows {
            Parser::Json(rows) => rows.repairs(),
            Parser::Xml(rows) => rows.repairs(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Result<QuerySolution, RemoteError>> {
        self.first.take().map(Ok).or_else(|| self.read())
    }
}

fn relabel_row(row: QuerySolution, response: u64, variables: &Arc<[Variable]>) -> QuerySolution {
    if !row
        .values()
        .iter()
        .any(|value| matches!(value, Some(Term::BlankNode(_) | Term::Triple(_))))
    {
        return row;
    }
    let values = row.values().iter().map(|value| {
        value.as_ref().map(|term| {
            lodeseek_rdf::relabel_term(term.clone(), &mut |node| relabel_node(&node, response))
        })
    });
    QuerySolution::from((Arc::clone(variables), values.collect::<Vec<_>>()))
}

/// Returns a blank node with a label that is unique among all responses: a hash of the response number and the label.
///
/// The label starts with `b`, which no blank node of the store starts with (`blank.rs` of the store). A letter is needed,
/// because labels in RDF/XML are XML names.
pub(super) fn relabel_node(node: &BlankNode, response: u64) -> BlankNode {
    let digest = Sha256::new()
        .chain_update(response.to_le_bytes())
        .chain_update(node.as_str())
        .finalize();
    let hash = digest
        .iter()
        .take(16)
        .fold(0, |hash, &byte| hash << 8 | u128::from(byte));
    // The first of 32 hexadecimal digits is `b`; 124 bits of the hash remain.
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
        // Taken out, so that the permit is returned with the last row or an error, and not with the iterator.
        let (mut rows, mut call) = self.running.take()?;
        let row = rows.next();
        call.repairs = rows.repairs();
        match row? {
            Ok(row) => {
                call.rows += 1;
                self.running = Some((rows, call));
                Some(Ok(row))
            }
            Err(error) => Some(Err(call.fail(error))),
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
