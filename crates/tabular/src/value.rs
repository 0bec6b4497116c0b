//! Nested values of JSON and XML.

use crate::limits::MAX_NESTING;
use json_event_parser::{JsonEvent, JsonParseError, ReaderJsonParser};
use std::io::{self, Read};

/// Value of a JSON or XML document. Members of objects keep their order; a number keeps its digits.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Returns the member of an object with a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        members
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns the text of a string.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the number as a float.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// Returns the members of an object.
    pub(crate) fn as_object(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns true for an object or a list.
    pub(crate) fn is_nested(&self) -> bool {
        matches!(self, Self::List(_) | Self::Object(_))
    }

    /// Writes a value that is no list and no object.
    pub(crate) fn scalar_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Boolean(true) => Some("true"),
            Self::Boolean(false) => Some("false"),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }
}

/// Reads the value that begins with an event.
pub(crate) fn read_value<R: Read>(
    first: OwnedEvent,
    parser: &mut ReaderJsonParser<R>,
) -> io::Result<Value> {
    // A stack of its own instead of recursion: the nesting of a document must not exhaust that of the thread.
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut event = first;
    loop {
        let done = match event {
            OwnedEvent::StartObject => {
                open.push((Value::Object(Vec::new()), None));
                None
            }
            OwnedEvent::StartArray => {
                open.push((Value::List(Vec::new()), None));
                None
            }
            OwnedEvent::Key(key) => {
                if let Some((_, last)) = open.last_mut() {
                    *last = Some(key);
                }
                None
            }
            OwnedEvent::End => open.pop().map(|(value, _)| value),
            OwnedEvent::Scalar(value) => Some(value),
            OwnedEvent::Eof => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        if open.len() > MAX_NESTING {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("more than {MAX_NESTING} levels of nesting"),
            ));
        }
        if let Some(value) = done {
            match open.last_mut() {
                None => return Ok(value),
                Some((Value::List(elements), _)) => elements.push(value),
                Some((Value::Object(members), key)) => {
                    members.push((key.take().unwrap_or_default(), value));
                }
                Some(_) => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        event = next_event(parser)?;
    }
}

/// Event of a JSON parser, with its own texts.
#[derive(Debug)]
pub(crate) enum OwnedEvent {
    StartObject,
    StartArray,
    Key(String),
    End,
    Scalar(Value),
    Eof,
}

/// Returns the next event of a parser.
pub(crate) fn next_event<R: Read>(parser: &mut ReaderJsonParser<R>) -> io::Result<OwnedEvent> {
    let event = parser.parse_next().map_err(|error| match error {
        JsonParseError::Io(error) => error,
        JsonParseError::Syntax(error) => io::Error::new(io::ErrorKind::InvalidData, error),
    })?;
    Ok(match event {
        JsonEvent::String(text) => OwnedEvent::Scalar(Value::Text(text.into_owned())),
        JsonEvent::Number(digits) => OwnedEvent::Scalar(Value::Number(digits.into_owned())),
        JsonEvent::Boolean(value) => OwnedEvent::Scalar(Value::Boolean(value)),
        JsonEvent::Null => OwnedEvent::Scalar(Value::Null),
        JsonEvent::StartArray => OwnedEvent::StartArray,
        JsonEvent::StartObject => OwnedEvent::StartObject,
        JsonEvent::EndArray | JsonEvent::EndObject => OwnedEvent::End,
        JsonEvent::ObjectKey(key) => OwnedEvent::Key(key.into_owned()),
        JsonEvent::Eof => OwnedEvent::Eof,
    })
}
