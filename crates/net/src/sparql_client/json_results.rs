//! Results in JSON, read by their structure. <https://www.w3.org/TR/sparql11-results-json/>
//!
//! Engines add members of their own: Comunica `metadata` and QLever `meta`, both after the bindings. The order of members is free, too:
//! some engines write `results` before `head`. Unknown members are skipped at any place. Rows are read one by one, except those before
//! `head`, or if it lacks `vars`: their variables are unknown, so they are collected up to the limit of rows. A member `null` is a
//! missing one.
//!
//! *Blank nodes.* Labels are arbitrary strings (Virtuoso writes `nodeID://b1`), since each is replaced.

use super::terms::{
    LiteralParts, MAX_TRIPLE_DEPTH, NamedRow, ReadError, TermBuilder, add_variable, invalid,
    variables_of,
};
use json_event_parser::{JsonEvent, JsonParseError, ReaderJsonParser};
use oxrdf::{BlankNode, Term, Variable};
use rustc_hash::FxHashMap;
use std::io::Read;
use std::sync::Arc;

impl From<JsonParseError> for ReadError {
    fn from(error: JsonParseError) -> Self {
        match error {
            JsonParseError::Io(error) => Self::Io(error),
            JsonParseError::Syntax(error) => Self::Invalid(error.to_string()),
        }
    }
}

/// Results of a query.
#[expect(
    clippy::large_enum_variant,
    reason = "a client has one of them, and moves it once"
)]
pub(super) enum JsonResults<R: Read> {
    /// Result of an `ASK`.
    Boolean(bool),
    /// Result of a `SELECT`.
    Solutions(JsonSolutions<R>),
}

impl<R: Read> JsonResults<R> {
    /// Reads results up to the first row. `limit` bounds the rows that precede the variables.
    pub(super) fn open(reader: R, limit: u64) -> Result<Self, ReadError> {
        let mut events = Events(ReaderJsonParser::new(reader));
        events.expect(&Event::StartObject)?;
        let mut terms = TermBuilder::default();
        let mut has_head = false;
        let mut variables: Option<Arc<[Variable]>> = None;
        let mut early: Option<Vec<NamedRow>> = None;
        while let Some(member) = events.member()? {
            match member.as_str() {
                "head" if !has_head => {
                    has_head = true;
                    variables = events.head()?;
                }
                "boolean" => match events.next()? {
                    Event::Boolean(value) => return Ok(Self::Boolean(value)),
                    _ => return invalid("`boolean` is no boolean"),
                },
                "results" if early.is_none() => {
                    events.expect(&Event::StartObject)?;
                    while let Some(member) = events.member()? {
                        if member != "bindings" {
                            events.skip_value()?;
                            continue;
                        }
                        events.expect(&Event::StartArray)?;
                        if let Some(variables) = variables {
                            return Ok(Self::Solutions(JsonSolutions::new(
                                variables,
                                Rows::Streamed(events),
                                terms,
                            )));
                        }
                        early = Some(events.rows(limit, &mut terms)?);
                    }
                }
                _ => events.skip_value()?,
            }
        }
        events.end()?;
        if !has_head {
            return invalid("no `head`");
        }
        let Some(rows) = early else {
            return invalid("neither `results` nor `boolean`");
        };
        let variables = match variables {
            Some(variables) => variables,
            None => variables_of(&rows)?,
        };
        let rows = Rows::Collected(rows.into_iter());
        Ok(Self::Solutions(JsonSolutions::new(variables, rows, terms)))
    }
}

/// Source of rows.
enum Rows<R: Read> {
    /// Events after the beginning of the bindings.
    Streamed(Events<R>),
    /// Rows that preceded the variables.
    Collected(std::vec::IntoIter<NamedRow>),
}

/// Rows of a `SELECT`.
pub(super) struct JsonSolutions<R: Read> {
    variables: Arc<[Variable]>,
    places: FxHashMap<String, usize>,
    /// `None` after the last row.
    rows: Option<Rows<R>>,
    terms: TermBuilder,
}

impl<R: Read> JsonSolutions<R> {
    fn new(variables: Arc<[Variable]>, rows: Rows<R>, terms: TermBuilder) -> Self {
        let places = variables
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str().to_owned(), place))
            .collect();
        Self {
            variables,
            places,
            rows: Some(rows),
            terms,
        }
    }

    /// Returns the number of values that were repaired or left out.
    pub(super) fn repairs(&self) -> u64 {
        self.terms.repairs
    }

    /// Returns the variables in the order of the response.
    pub(super) fn variables(&self) -> &Arc<[Variable]> {
        &self.variables
    }

    /// Reads the next row. After the last one, the rest of the response is read: a truncated response is an error.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Option<Term>>>, ReadError> {
        let row = match &mut self.rows {
            None => None,
            Some(Rows::Collected(rows)) => rows.next(),
            Some(Rows::Streamed(events)) => match events.row(&mut self.terms)? {
                Some(row) => Some(row),
                None => {
                    events.skip_members()?; // of `results`
                    events.skip_members()?; // of the response
                    events.end()?;
                    None
                }
            },
        };
        let Some(row) = row else {
            self.rows = None;
            return Ok(None);
        };
        let mut values = vec![None; self.variables.len()];
        for (name, term) in row {
            let Some(place) = self.places.get(&name) else {
                return invalid(format!("`head` lacks the variable `{name}`"));
            };
            values[*place] = Some(term);
        }
        Ok(Some(values))
    }
}

/// Event of the parser that owns its text.
#[derive(PartialEq, Eq)]
enum Event {
    String(String),
    Key(String),
    Boolean(bool),
    Number,
    Null,
    StartObject,
    EndObject,
    StartArray,
    EndArray,
    Eof,
}

struct Events<R: Read>(ReaderJsonParser<R>);

impl<R: Read> Events<R> {
    fn next(&mut self) -> Result<Event, ReadError> {
        Ok(match self.0.parse_next()? {
            JsonEvent::String(text) => Event::String(text.into_owned()),
            JsonEvent::ObjectKey(text) => Event::Key(text.into_owned()),
            JsonEvent::Boolean(value) => Event::Boolean(value),
            JsonEvent::Number(_) => Event::Number,
            JsonEvent::Null => Event::Null,
            JsonEvent::StartObject => Event::StartObject,
            JsonEvent::EndObject => Event::EndObject,
            JsonEvent::StartArray => Event::StartArray,
            JsonEvent::EndArray => Event::EndArray,
            JsonEvent::Eof => Event::Eof,
        })
    }

    fn expect(&mut self, expected: &Event) -> Result<(), ReadError> {
        if self.next()? == *expected {
            Ok(())
        } else {
            invalid("another structure than that of SPARQL results")
        }
    }

    fn end(&mut self) -> Result<(), ReadError> {
        self.expect(&Event::Eof)
    }

    /// Returns the name of the next member of an object, or `None` at its end.
    fn member(&mut self) -> Result<Option<String>, ReadError> {
        match self.next()? {
            Event::Key(name) => Ok(Some(name)),
            Event::EndObject => Ok(None),
            _ => invalid("another structure than that of SPARQL results"),
        }
    }

    fn skip_members(&mut self) -> Result<(), ReadError> {
        while self.member()?.is_some() {
            self.skip_value()?;
        }
        Ok(())
    }

    fn skip_value(&mut self) -> Result<(), ReadError> {
        let mut depth = 0_usize;
        loop {
            match self.0.parse_next()? {
                JsonEvent::StartObject | JsonEvent::StartArray => depth += 1,
                JsonEvent::EndObject | JsonEvent::EndArray => depth = depth.saturating_sub(1),
                JsonEvent::Eof => return invalid("truncated"),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Returns a text, or `None` for `null`.
    fn string(&mut self, member: &str) -> Result<Option<String>, ReadError> {
        match self.next()? {
            Event::String(text) => Ok(Some(text)),
            Event::Null => Ok(None),
            _ => invalid(format!("`{member}` is no string")),
        }
    }

    /// Returns the variables of `head`, or `None` if it lists none.
    fn head(&mut self) -> Result<Option<Arc<[Variable]>>, ReadError> {
        match self.next()? {
            Event::StartObject => {}
            Event::Null => return Ok(None),
            _ => return invalid("`head` is no object"),
        }
        let mut found = None;
        while let Some(member) = self.member()? {
            if member != "vars" {
                self.skip_value()?;
                continue;
            }
            match self.next()? {
                Event::StartArray => {}
                Event::Null => continue,
                _ => return invalid("`vars` is no list"),
            }
            let mut variables = Vec::new();
            loop {
                match self.next()? {
                    Event::String(name) => add_variable(&mut variables, name)?,
                    Event::EndArray => break,
                    _ => return invalid("`vars` contains no string"),
                }
            }
            found = Some(variables.into());
        }
        Ok(found)
    }

    /// Returns the rows up to the end of the bindings.
    fn rows(&mut self, limit: u64, terms: &mut TermBuilder) -> Result<Vec<NamedRow>, ReadError> {
        let mut rows = Vec::new();
        while let Some(row) = self.row(terms)? {
            if rows.len() as u64 >= limit {
                return Err(ReadError::TooManyRows);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// Returns the next row, or `None` at the end of the bindings. A value `null` is an unbound variable.
    fn row(&mut self, terms: &mut TermBuilder) -> Result<Option<NamedRow>, ReadError> {
        match self.next()? {
            Event::StartObject => {}
            Event::EndArray => return Ok(None),
            _ => return invalid("a row is no object"),
        }
        let mut row = Vec::new();
        while let Some(name) = self.member()? {
            match self.next()? {
                Event::StartObject => {
                    row.extend(self.term(terms, 0)?.map(|term| (name, term)));
                }
                Event::Null => {}
                _ => return invalid("a term is no object"),
            }
        }
        Ok(Some(row))
    }

    /// Returns a term after the beginning of its object. `None` if it was left out.
    fn term(&mut self, terms: &mut TermBuilder, depth: usize) -> Result<Option<Term>, ReadError> {
        let (mut kind, mut value, mut triple) = (None, None, None);
        let mut parts = LiteralParts::default();
        while let Some(member) = self.member()? {
            match member.as_str() {
                "type" => kind = self.string("type")?,
                "value" => match self.next()? {
                    Event::String(text) => value = Some(text),
                    Event::StartObject => triple = Some(self.triple(terms, depth)?),
                    Event::Null => {}
                    _ => return invalid("`value` is no string"),
                },
                "xml:lang" => parts.language = self.string("xml:lang")?,
                "its:dir" => parts.direction = self.string("its:dir")?,
                "datatype" => parts.datatype = self.string("datatype")?,
                _ => self.skip_value()?,
            }
        }
        match (kind.as_deref(), value, triple) {
            (Some("uri"), Some(value), _) => Ok(terms.iri(&value).map(Term::from)),
            (Some("bnode"), Some(value), _) => Ok(Some(BlankNode::new_unchecked(value).into())),
            (Some("literal" | "typed-literal"), Some(value), _) => {
                Ok(Some(terms.literal(value, parts)?.into()))
            }
            (Some("triple"), _, Some(triple)) => Ok(triple),
            (Some(kind), ..) => invalid(format!(
                "a term has the type `{kind}` without a value, or an unknown type"
            )),
            (None, ..) => invalid("a term has no type"),
        }
    }

    /// Returns a triple term after the beginning of the object of its value.
    fn triple(&mut self, terms: &mut TermBuilder, depth: usize) -> Result<Option<Term>, ReadError> {
        if depth >= MAX_TRIPLE_DEPTH {
            return invalid("triple terms are nested too deep");
        }
        let mut parts = [None, None, None];
        while let Some(member) = self.member()? {
            let place = ["subject", "predicate", "object"]
                .iter()
                .position(|name| *name == member);
            let Some(place) = place else {
                self.skip_value()?;
                continue;
            };
            self.expect(&Event::StartObject)?;
            parts[place] = Some(self.term(terms, depth + 1)?);
        }
        TermBuilder::triple(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<Option<String>>>, ReadError> {
        let mut solutions = match JsonResults::open(text.as_bytes(), 3)? {
            JsonResults::Solutions(solutions) => solutions,
            JsonResults::Boolean(value) => return Ok(vec![vec![Some(value.to_string())]]),
        };
        let mut rows = Vec::new();
        while let Some(row) = solutions.next()? {
            rows.push(
                row.into_iter()
                    .map(|term| term.map(|term| term.to_string()))
                    .collect(),
            );
        }
        assert!(solutions.next().is_ok_and(|row| row.is_none()));
        Ok(rows)
    }

    const HEAD: &str = r#""head": {"link": ["x:l"], "vars": ["a", "b"], "more": {"vars": [1]}}"#;
    const ROWS: &str = r#"{"a": {"type": "uri", "value": "x:a", "extra": {"type": "x"}}, "b": null},
        {"b": {"xml:lang": "en", "value": "one", "type": "literal"}}"#;

    #[test]
    fn members_have_any_order_and_others_are_skipped() {
        let results = format!(
            r#""results": {{"ordered": true, "bindings": [{ROWS}], "metadata": [{{}}, [1, "]"]]}}"#
        );
        let expected = vec![
            vec![Some("<x:a>".to_owned()), None],
            vec![None, Some("\"one\"@en".to_owned())],
        ];
        for text in [
            format!("{{{HEAD}, {results}}}"),
            format!("{{{results}, {HEAD}}}"),
            format!(
                r#"{{"meta": {{"head": 1, "results": [{{}}]}}, {HEAD}, "x": null, {results}, "metadata": {{"b": [[]]}}, "y": 1e3}}"#
            ),
            format!(r#"{{"meta": "}}", {results}, "x": [{{"head": {{}}}}], {HEAD}, "y": "\"" }}"#),
        ] {
            assert_eq!(read(&text).expect("rows"), expected, "{text}");
        }
        assert_eq!(
            read(r#"{"meta": {}, "head": {}, "boolean": true, "z": 1}"#).expect("a boolean"),
            [[Some("true".to_owned())]]
        );
    }

    #[test]
    fn terms_of_every_kind_are_read() {
        for (term, expected) in [
            (
                r#"{"type": "literal", "value": "1", "datatype": "x:d"}"#,
                "\"1\"^^<x:d>",
            ),
            (
                r#"{"type": "typed-literal", "value": "1", "datatype": "x:d"}"#,
                "\"1\"^^<x:d>",
            ),
            (
                r#"{"type": "literal", "value": "a", "xml:lang": "en", "its:dir": "ltr"}"#,
                "\"a\"@en--ltr",
            ),
            (
                r#"{"type": "bnode", "value": "nodeID://b1"}"#,
                "_:nodeID://b1",
            ),
            (
                r#"{"type": "triple", "value": {"subject": {"type": "uri", "value": "x:s"}, "z": 1,
                    "predicate": {"type": "uri", "value": "x:p"}, "object": {"type": "literal", "value": "o"}}}"#,
                "<<( <x:s> <x:p> \"o\" )>>",
            ),
        ] {
            let rows = read(&format!(
                r#"{{"head": {{"vars": ["a"]}}, "results": {{"bindings": [{{"a": {term}}}]}}}}"#
            ));
            assert_eq!(rows.expect("rows"), [[Some(expected.to_owned())]]);
        }
    }

    #[test]
    fn bad_terms_and_missing_variables_do_not_reject_an_answer() {
        let text = r#"{"head": HEAD, "results": {"bindings": [
            {"b": {"type": "uri", "value": "http://e.org/a b"}, "a": {"type": "uri", "value": "relative"}},
            {"a": {"type": "literal", "value": "x", "xml:lang": "en_US", "datatype": null},
             "b": {"type": "literal", "value": "y", "xml:lang": "", "its:dir": null}},
            {"a": {"type": "literal", "value": "z", "xml:lang": null, "datatype": "x:d"}, "b": null}]}}"#;
        let b_first = [
            [Some("<http://e.org/a%20b>"), None],
            [Some("\"y\""), Some("\"x\"@en-us")],
            [None, Some("\"z\"^^<x:d>")],
        ];
        for (head, is_reversed) in [
            (r#"{"vars": ["b", "a"]}"#, false),
            (r#"{"vars": ["a", "b"]}"#, true),
            ("{}", false),
            (r#"{"vars": null}"#, false),
            ("null", false),
        ] {
            let text = text.replace("HEAD", head);
            let rows = read(&text).unwrap_or_else(|error| panic!("{head}: {error:?}"));
            let mut expected = b_first.map(|row| row.map(|term| term.map(str::to_owned)));
            if is_reversed {
                expected.iter_mut().for_each(|row| row.reverse());
            }
            assert_eq!(rows, expected, "{head}");
            let Ok(JsonResults::Solutions(mut solutions)) = JsonResults::open(text.as_bytes(), 3)
            else {
                panic!("{head}")
            };
            while solutions.next().expect("a row").is_some() {}
            assert_eq!(solutions.repairs(), 3, "{head}");
        }
    }

    #[test]
    fn invalid_and_truncated_results_are_errors() {
        let whole = format!(
            r#"{{{HEAD}, "results": {{"bindings": [{ROWS}], "x": 1}}, "meta": {{"a": [1]}}}}"#
        );
        for end in 1..whole.len() {
            if whole.is_char_boundary(end) {
                assert!(read(&whole[..end]).is_err(), "{end}");
            }
        }
        let nested =
            r#"{"type": "triple", "value": {"subject": {"type": "uri", "value": "x:s"}, "object": "#.repeat(100);
        for text in [
            "[]".to_owned(),
            "{}".to_owned(),
            r#"{"head": {"vars": []}}"#.to_owned(),
            r#"{"head": 1, "results": {"bindings": []}}"#.to_owned(),
            r#"{"results": {"bindings": []}}"#.to_owned(),
            r#"{"head": {"vars": ["a", "a"]}, "results": {"bindings": []}}"#.to_owned(),
            r#"{"head": {"vars": []}, "results": {"bindings": [{"a": {"type": "uri", "value": "x:a"}}]}}"#.to_owned(),
            r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "thing", "value": "x:a"}}]}}"#
                .to_owned(),
            r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"value": "x:a"}}]}}"#.to_owned(),
            r#"{"head": {"vars": ["a"]}, "results": {"bindings": [{"a": 1}]}}"#.to_owned(),
            format!(r#"{{"head": {{"vars": ["a"]}}, "results": {{"bindings": [{{"a": {nested}"#),
            format!("{whole} {{}}"),
        ] {
            assert!(read(&text).is_err(), "{text}");
        }
        let many = format!(
            r#"{{"results": {{"bindings": [{}]}}, "head": {{"vars": []}}}}"#,
            ["{}"; 4].join(",")
        );
        assert!(matches!(read(&many), Err(ReadError::TooManyRows)));
    }
}
