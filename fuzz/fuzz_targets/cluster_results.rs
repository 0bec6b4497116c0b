//! Tables of a cluster: results, tasks and records as Arrow, with generated cells; and the output of the process that derives
//! datasets. The bytes of Arrow are not changed, because its reader panics on damaged files.
#![no_main]

use arrow_array::{ArrayRef, Float64Array, Int64Array, LargeBinaryArray, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use lodeseek_cluster::{fuzzing, read_results};
use lodeseek_fuzz::{dumps, scratch, start};
use lodeseek_rdf::TripleGraphBuilder;
use std::sync::Arc;

const TEXTS: [&str; 5] = ["id", "base", "status", "description", "sources"];
const OPTIONAL_TEXTS: [&str; 5] = ["reason", "fingerprint", "graph", "record", "planned"];
const INTEGERS: [&str; 6] = [
    "position",
    "triples",
    "skipped",
    "record_bytes",
    "stored_bytes",
    "peak_bytes",
];
const FLOATS: [&str; 2] = ["seconds", "encoding_seconds"];
/// Parts of a record with valid contents, in ASCII; the last ones are output of a derivation.
const TEMPLATES: [(&str, &str); 10] = [
    (
        "header",
        r#"{"id":"a","base":"http://e.org/","analysis":"acordar","version":"0","lacks_content":false,"report":{"id":"a","title":"",
            "outcome":"loaded","triples":0,"read":0,"skipped":0,"files":[]},"objects":[{"sha256":"a","bytes":1},
            {"sha256":"b","bytes":2},{"sha256":"c","bytes":3}],"sample":{"sha256":"d","bytes":4}}"#,
    ),
    (
        "description",
        "<http://e.org/dataset/a> <urn:p> \"x\"@en .\n_:b <urn:p> <urn:o> .\n",
    ),
    (
        "profile",
        r#"[[{"iri":"urn:a"},{"iri":"urn:p"},{"language":["x","en"]}],[{"blank":"b"},{"iri":"urn:p"},{"typed":["1","urn:d"]}]]"#,
    ),
    (
        "snippet",
        r#"[[{"iri":"urn:a"},{"iri":"urn:p"},{"triple":[{"blank":"b"},{"iri":"urn:p"},{"plain":"x"}]}]]"#,
    ),
    (
        "document",
        r#"{"id":"a","version":"0","card":[],"compact":[]}"#,
    ),
    (
        "encoding",
        r#"{"digest":"e","precision":"f16","columns":2,"rows":[1,1]}"#,
    ),
    ("metadata-vectors", "abcd"),
    ("content-vectors", "efgh"),
    (
        "",
        r#"{"derived":{"version":"0","fingerprint":null,"lacks_content":false,"peak_bytes":0,"sizes":[1,1,2,0,0,1,1],
            "report":{"id":"a","title":"","outcome":"loaded","triples":0,"read":0,"skipped":0,"files":[]}}}"#,
    ),
    ("", r#"{"failed":"x"}"#),
];
/// Fingerprint of the encoder, and digest of its texts.
const ENCODER: &str = "e";

#[derive(Arbitrary, Debug)]
enum Content {
    Table(Table),
    Record(Vec<Part>),
    Derivation(Vec<Part>),
}

/// A row of a table of results and of tasks.
#[derive(Arbitrary, Debug)]
struct Table {
    texts: [String; 5],
    optional_texts: [Option<String>; 5],
    integers: [i64; 6],
    floats: [f64; 2],
    /// Column that is left out, if there is one with this number.
    missing: u8,
}

/// A template with a text inserted.
#[derive(Arbitrary, Debug)]
struct Part {
    template: u8,
    /// Part of the record: that of the template, or another one.
    other: Option<u8>,
    place: u8,
    inserted: String,
}

impl Part {
    fn name(&self) -> &'static str {
        let place = self.other.unwrap_or(self.template);
        TEMPLATES[usize::from(place) % TEMPLATES.len()].0
    }

    fn content(&self) -> String {
        let mut content = TEMPLATES[usize::from(self.template) % TEMPLATES.len()]
            .1
            .to_owned();
        let place = usize::from(self.place) * content.len() / 256;
        content.insert_str(place, &self.inserted);
        content
    }
}

type Columns = Vec<(&'static str, ArrayRef)>;

impl Table {
    fn columns(&self) -> Columns {
        let mut columns: Columns = Vec::new();
        for (name, text) in TEXTS.iter().zip(&self.texts) {
            columns.push((name, Arc::new(StringArray::from(vec![text.as_str()]))));
        }
        for (name, text) in OPTIONAL_TEXTS.iter().zip(&self.optional_texts) {
            columns.push((name, Arc::new(StringArray::from(vec![text.as_deref()]))));
        }
        for (name, number) in INTEGERS.iter().zip(self.integers) {
            columns.push((name, Arc::new(Int64Array::from(vec![number]))));
        }
        for (name, number) in FLOATS.iter().zip(self.floats) {
            columns.push((name, Arc::new(Float64Array::from(vec![number]))));
        }
        if usize::from(self.missing) < columns.len() {
            columns.remove(self.missing.into());
        }
        columns
    }
}

/// Returns the columns of a record with some parts.
fn record(parts: &[Part]) -> Columns {
    let names: Vec<&str> = parts.iter().map(Part::name).collect();
    let is_encoded = |name: &&str| *name == "encoding" || name.contains("vectors");
    let encoders: Vec<&str> = names
        .iter()
        .map(|name| if is_encoded(name) { ENCODER } else { "" })
        .collect();
    let contents: Vec<String> = parts.iter().map(Part::content).collect();
    let contents = contents.iter().map(String::as_bytes).collect();
    vec![
        ("part", Arc::new(StringArray::from(names))),
        ("name", Arc::new(StringArray::from(encoders))),
        ("content", Arc::new(LargeBinaryArray::from_vec(contents))),
    ]
}

fuzz_target!(init: start(), |content: Content| {
    match &content {
        Content::Table(table) => {
            let Ok(batch) = RecordBatch::try_from_iter(table.columns()) else { return };
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a stream");
            writer.write(&batch).expect("written");
            let stream = writer.into_inner().expect("a stream");
            if let Ok(tasks) = fuzzing::read_tasks(&stream) {
                for task in &tasks {
                    let _ = task.bytes();
                }
            }
            let _ = read_results(&stream[..]);
        }
        Content::Record(parts) => {
            let Ok(batch) = RecordBatch::try_from_iter(record(parts)) else { return };
            let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a file");
            writer.write(&batch).expect("written");
            let path = scratch::file("record", &writer.into_inner().expect("a file"));
            let Ok([profile, snippet]) = fuzzing::read_record(&path, ENCODER, ENCODER) else { return };
            let mut graph = TripleGraphBuilder::new();
            profile.iter().chain(&snippet).for_each(|triple| graph.insert(triple.as_ref()));
            dumps::check_lenient(&graph.finish());
        }
        Content::Derivation(pieces) => {
            let pieces: Vec<String> = pieces.iter().map(Part::content).collect();
            let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
            let _ = fuzzing::write_derivation(&pieces, scratch::folder(), 1 << 20);
        }
    }
});
