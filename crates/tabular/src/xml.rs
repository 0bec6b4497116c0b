//! XML of records: an element is an entity, its attributes and its children are properties.

use crate::limits::{MAX_COLUMNS, MAX_JSON_BYTES, MAX_NESTING};
use crate::output::Output;
use crate::records::RecordWriter;
use crate::table::{TablePlace, file_stem};
use crate::value::Value;
use crate::values::{CellKind, NumberFormat, cell_kind};
use lodeseek_rdf::dump::Refusal;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{self, BufReader, Read};

/// Maximum number of attributes of an element. The parser compares each one with all others.
const MAX_ATTRIBUTES: usize = 200;

/// Reads an XML document.
pub(crate) fn read(
    reader: impl Read,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    // The whole document is read before the first triple: its size is limited.
    let mut bytes = Vec::new();
    let limit = MAX_JSON_BYTES.min(output.limits().document_bytes);
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let reason = format!("an XML document without RDF, of more than {limit} bytes");
        return Err(Refusal::Document { reason }.into());
    }
    let text = lodeseek_rdf::dump::decode_text(bytes.as_slice(), None)?.text;
    let (name, mut members) = read_root(&text)?;
    for (_, value) in &mut members {
        complete_lists(value);
    }
    members.retain(|(_, value)| !is_empty(value));
    let (mut lists, mut columns) = (FxHashSet::default(), FxHashMap::default());
    for (key, value) in &members {
        collect_lists(value, key, &mut lists);
    }
    for (key, value) in &mut members {
        wrap_single_elements(value, key, &lists);
    }
    for (key, value) in &members {
        collect_types(value, key, &mut columns);
    }
    for (key, value) in &mut members {
        set_types(value, key, &columns);
    }
    wrap_single_record(&mut members);
    let mut writer = RecordWriter::new(output, place.base, place.file, "XML", None);
    let label = if name.is_empty() {
        file_stem(place.file)
    } else {
        &name
    };
    // Elements of one name are the records of a list.
    let mut single = Vec::new();
    for (key, value) in members {
        match value {
            Value::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    writer.record(Some(&key), index, element, &key);
                }
            }
            other => single.push((key, other)),
        }
    }
    writer.members(&single, label);
    writer.finish();
    Ok(())
}

/// Element that is not closed yet.
struct OpenElement {
    name: String,
    members: Vec<(String, Value)>,
    text: String,
}

/// Returns the name and the members of the root element.
fn read_root(text: &str) -> io::Result<(String, Vec<(String, Value)>)> {
    let mut reader = Reader::from_reader(BufReader::new(text.as_bytes()));
    reader.config_mut().check_end_names = true;
    let mut open: Vec<OpenElement> = Vec::new();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(invalid_data)? {
            Event::Start(start) => {
                open.push(read_element(&start)?);
                if open.len() > MAX_NESTING {
                    return Err(invalid_data(format!(
                        "more than {MAX_NESTING} levels of nesting"
                    )));
                }
            }
            Event::Empty(start) => {
                let closed = read_element(&start)?;
                if let Some(root) = close_element(closed, &mut open)? {
                    return Ok(root);
                }
            }
            Event::End(_) => {
                let Some(closed) = open.pop() else {
                    return Err(invalid_data("an end tag without a start tag"));
                };
                if let Some(root) = close_element(closed, &mut open)? {
                    return Ok(root);
                }
            }
            Event::Text(part) => {
                if let Some(last) = open.last_mut() {
                    // Entities of a document type are not expanded.
                    let raw = String::from_utf8_lossy(&part);
                    match quick_xml::escape::unescape(&raw) {
                        Ok(text) => last.text.push_str(&text),
                        Err(_) => last.text.push_str(&raw),
                    }
                }
            }
            Event::CData(part) => {
                if let Some(last) = open.last_mut() {
                    last.text.push_str(&String::from_utf8_lossy(&part));
                }
            }
            Event::Eof => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => (),
        }
    }
}

fn invalid_data(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn local_name(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.rsplit(':').next().unwrap_or(&name).to_owned()
}

fn read_element(start: &BytesStart<'_>) -> io::Result<OpenElement> {
    let mut members = Vec::new();
    // The library's check for duplicates compares all pairs; their number is limited below.
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(invalid_data)?;
        let key = attribute.key.as_ref();
        if key == b"xmlns" || key.starts_with(b"xmlns:") || key.starts_with(b"xsi:") {
            continue;
        }
        if members.len() >= MAX_ATTRIBUTES {
            return Err(Refusal::Document {
                reason: format!("more than {MAX_ATTRIBUTES} attributes of one element"),
            }
            .into());
        }
        let raw = String::from_utf8_lossy(&attribute.value);
        let value = match quick_xml::escape::unescape(&raw) {
            Ok(value) => value.into_owned(),
            Err(_) => raw.clone().into_owned(),
        };
        if !value.trim().is_empty() {
            members.push((local_name(key), Value::Text(value.trim().to_owned())));
        }
    }
    Ok(OpenElement {
        name: local_name(start.name().as_ref()),
        members,
        text: String::new(),
    })
}

/// A name, and the members with their values.
type ClosedElement = (String, Vec<(String, Value)>);

/// Adds a closed element to its parent. Returns the root.
fn close_element(
    closed: OpenElement,
    open: &mut [OpenElement],
) -> io::Result<Option<ClosedElement>> {
    let OpenElement {
        name,
        mut members,
        text,
    } = closed;
    let text = text.trim();
    let Some(parent) = open.last_mut() else {
        if !text.is_empty() {
            members.push(("value".to_owned(), Value::Text(text.to_owned())));
        }
        return Ok(Some((name, members)));
    };
    let own = match text {
        "" => Value::Null,
        text => Value::Text(text.to_owned()),
    };
    let value = if members.is_empty() {
        own
    } else {
        if own != Value::Null {
            members.push(("value".to_owned(), own));
        }
        Value::Object(members)
    };
    let count = parent.members.len();
    match parent.members.iter_mut().find(|(key, _)| *key == name) {
        Some((_, Value::List(elements))) => elements.push(value),
        Some((_, first)) => {
            let before = std::mem::replace(first, Value::Null);
            *first = Value::List(vec![before, value]);
        }
        // Each child is compared with all names before it.
        None if count >= MAX_COLUMNS => {
            let reason = format!("more than {MAX_COLUMNS} different elements within one");
            return Err(Refusal::Document { reason }.into());
        }
        None => parent.members.push((name, value)),
    }
    Ok(None)
}

/// Makes the elements of lists with an object objects, also empty ones, and removes empty members elsewhere.
fn complete_lists(value: &mut Value) {
    match value {
        Value::List(elements) => {
            elements.iter_mut().for_each(complete_lists);
            if !elements.iter().any(Value::is_nested) {
                return;
            }
            for element in elements.iter_mut().filter(|element| !element.is_nested()) {
                *element = Value::Object(match std::mem::replace(element, Value::Null) {
                    Value::Null => Vec::new(),
                    text => vec![("value".to_owned(), text)],
                });
            }
        }
        Value::Object(members) => {
            for (_, member) in members.iter_mut() {
                complete_lists(member);
            }
            members.retain(|(_, member)| !is_empty(member));
        }
        _ => (),
    }
}

/// Returns true for an element without content, and for a list of such.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::List(elements) => elements.iter().all(|element| *element == Value::Null),
        value => *value == Value::Null,
    }
}

/// Adds the names that lead to lists below a value.
fn collect_lists(value: &Value, path: &str, lists: &mut FxHashSet<String>) {
    match value {
        Value::List(elements) => {
            for element in elements {
                collect_lists(element, path, lists);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let path = format!("{path}/{key}");
                collect_lists(member, &path, lists);
                if matches!(member, Value::List(_)) {
                    lists.insert(path);
                }
            }
        }
        _ => (),
    }
}

/// Makes single elements lists, where others of the same names are.
fn wrap_single_elements(value: &mut Value, path: &str, lists: &FxHashSet<String>) {
    match value {
        Value::List(elements) => {
            for element in elements {
                wrap_single_elements(element, path, lists);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let path = format!("{path}/{key}");
                wrap_single_elements(member, &path, lists);
                if matches!(member, Value::Object(_)) && lists.contains(&path) {
                    let element = std::mem::replace(member, Value::Null);
                    *member = Value::List(vec![element]);
                }
            }
        }
        _ => (),
    }
}

/// Makes the only element with content within the root a list of one record, as there may be more of them in other documents.
fn wrap_single_record(members: &mut [(String, Value)]) {
    let mut nested = members.iter_mut().filter(|(_, value)| value.is_nested());
    let (Some((_, single)), None) = (nested.next(), nested.next()) else {
        return;
    };
    let parts = single.as_object().unwrap_or_default();
    // An element without texts of its own is the wrapper of others.
    if parts.iter().any(|(_, part)| !part.is_nested()) {
        let record = std::mem::replace(single, Value::Null);
        *single = Value::List(vec![record]);
    }
}

/// Type of the texts of an attribute or element: the widest one of all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TextType {
    Integer,
    Decimal,
    Double,
    Text,
}

/// Returns the type of a text. `None` for marks of missing values.
fn text_type(text: &str) -> Option<TextType> {
    let is_plain = !text.contains(',') && !text.starts_with(['.', '+']) && !text.ends_with('.');
    match cell_kind(text, NumberFormat::default()) {
        CellKind::Empty | CellKind::Missing => None,
        CellKind::Integer if is_plain => Some(TextType::Integer),
        CellKind::Decimal if is_plain => Some(TextType::Decimal),
        CellKind::Double if is_plain => Some(TextType::Double),
        _ => Some(TextType::Text),
    }
}

/// Adds the types of the texts below a value, by the names that lead to them.
fn collect_types(value: &Value, path: &str, columns: &mut FxHashMap<String, TextType>) {
    match value {
        Value::List(elements) => {
            for element in elements {
                collect_types(element, path, columns);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                collect_types(member, &format!("{path}/{key}"), columns);
            }
        }
        Value::Text(text) => {
            if let Some(found) = text_type(text) {
                match columns.get_mut(path) {
                    Some(widest) => *widest = found.max(*widest),
                    None => {
                        columns.insert(path.to_owned(), found);
                    }
                }
            }
        }
        _ => (),
    }
}

/// Makes texts numbers, where all texts of the same names are.
fn set_types(value: &mut Value, path: &str, columns: &FxHashMap<String, TextType>) {
    match value {
        Value::List(elements) => {
            for element in elements {
                set_types(element, path, columns);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                set_types(member, &format!("{path}/{key}"), columns);
            }
        }
        Value::Text(text) => {
            let column = columns.get(path).copied().unwrap_or(TextType::Text);
            let Some(own) = text_type(text).filter(|_| column != TextType::Text) else {
                return;
            };
            // The form of a number determines its datatype.
            *value = Value::Number(match column {
                TextType::Decimal if own == TextType::Integer => format!("{text}.0"),
                TextType::Double if own != TextType::Double => format!("{text}e0"),
                _ => text.clone(),
            });
        }
        _ => (),
    }
}
