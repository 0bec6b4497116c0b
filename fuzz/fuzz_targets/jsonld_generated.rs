//! Generated JSON-LD: contexts with all keywords, terms that depend on each other, and nodes that use them.
#![no_main]

use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::{dumps, start};
use serde_json::{Map, Value};

/// Deepest nesting of values.
const MAX_DEPTH: usize = 5;
const KEYWORDS: [&str; 27] = [
    "@context",
    "@id",
    "@type",
    "@value",
    "@language",
    "@direction",
    "@index",
    "@list",
    "@set",
    "@graph",
    "@reverse",
    "@included",
    "@nest",
    "@none",
    "@json",
    "@vocab",
    "@base",
    "@container",
    "@prefix",
    "@propagate",
    "@protected",
    "@version",
    "@import",
    "@direction",
    "@any",
    "@default",
    "@unknown",
];
const TERMS: [&str; 10] = ["a", "b", "c", "a:b", "b:c", "a:", ":b", "", "x-y", "é"];
const IRIS: [&str; 9] = [
    "http://example.org/",
    "http://example.org/a#",
    "a:b",
    "../x?y#z",
    "_:b",
    "//host/p",
    "http://schema.org/",
    "urn:x:",
    "http://[::1",
];
const TEXTS: [&str; 7] = [
    "de-AT",
    "EN",
    "ltr",
    "i18n-datatype",
    "2020-01-01",
    "1.1",
    "x y",
];

/// A document as text.
#[derive(Debug)]
struct Document(String);

impl<'a> Arbitrary<'a> for Document {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut document = object(u, 0)?;
        if u.ratio(3, 4)? {
            document.insert("@context".to_owned(), context(u)?);
        }
        Ok(Self(Value::Object(document).to_string()))
    }
}

/// Generates a context: definitions of terms.
fn context(u: &mut Unstructured<'_>) -> Result<Value> {
    let mut definitions = Map::new();
    for _ in 0..u.int_in_range(1..=6)? {
        let term = if u.ratio(1, 4)? {
            u.choose(&KEYWORDS)?
        } else {
            u.choose(&TERMS)?
        };
        let definition = if u.ratio(1, 2)? {
            scalar(u)?
        } else {
            Value::Object(object(u, MAX_DEPTH - 2)?)
        };
        definitions.insert((*term).to_owned(), definition);
    }
    Ok(Value::Object(definitions))
}

fn object(u: &mut Unstructured<'_>, depth: usize) -> Result<Map<String, Value>> {
    (0..u.int_in_range(0..=4)?)
        .map(|_| Ok((name(u)?, value(u, depth + 1)?)))
        .collect()
}

fn name(u: &mut Unstructured<'_>) -> Result<String> {
    let name = match u.int_in_range(0..=3)? {
        0 => u.choose(&IRIS)?,
        1 => u.choose(&TERMS)?,
        _ => u.choose(&KEYWORDS)?,
    };
    Ok((*name).to_owned())
}

fn value(u: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    match u.int_in_range(0..=4)? {
        0 if depth < MAX_DEPTH => (0..u.int_in_range(0..=3)?)
            .map(|_| value(u, depth + 1))
            .collect(),
        1 | 2 if depth < MAX_DEPTH => Ok(Value::Object(object(u, depth)?)),
        3 if depth < MAX_DEPTH => context(u),
        _ => scalar(u),
    }
}

fn scalar(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match u.int_in_range(0..=8)? {
        0 => Value::Null,
        1 => u.arbitrary::<bool>()?.into(),
        2 => u.arbitrary::<i64>()?.into(),
        3 => u.arbitrary::<f64>()?.into(),
        4 => (*u.choose(&TEXTS)?).into(),
        5 => u.arbitrary::<String>()?.into(),
        _ => name(u)?.into(),
    })
}

fuzz_target!(init: start(), |document: Document| {
    let (graph, reports) = dumps::read(document.0.as_bytes(), "a.jsonld");
    dumps::check(&graph, &reports);
});
