//! Records: everything that a worker derived from a dataset, except the files of its version, as one Arrow file.
//!
//! A record has the columns `part`, `name` and `content`. `name` is the fingerprint of an encoder for vectors, else empty.
//!
//! | part | content |
//! |---|---|
//! | `header` | JSON: id, base, version, report of the files, stored objects: graph file, counts, fingerprint, sample, labels |
//! | `description` | the description in the catalogue graph, as N-Triples |
//! | `profile`, `snippet` | triples as JSON |
//! | `document` | the document of the text index with features, card and texts for encoders, as JSON |
//! | `encoding` | JSON: number format, columns and rows of vectors, digest of the encoded texts |
//! | `metadata-vectors`, `content-vectors` | the vectors, as they are stored |

use crate::ClusterError;
use crate::columns::required_texts;
use crate::derivation::parse_description;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, LargeBinaryArray, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use lodeseek_engine::{AnalysisKind, EncodedDataset};
use lodeseek_index::IndexDocument;
use lodeseek_index::vectors::{Precision, Rows};
use lodeseek_rdf::{is_writable_iri, is_writable_tag};
use lodeseek_snapshot::StoredObject;
use lodeseek_store::DatasetReport;
use lodeseek_store::counts::SerializedTerm;
use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// Content of the table, for messages.
const TABLE: &str = "a record";

const HEADER: &str = "header";
const DESCRIPTION: &str = "description";
const PROFILE: &str = "profile";
const SNIPPET: &str = "snippet";
const DOCUMENT: &str = "document";
const ENCODING: &str = "encoding";
const METADATA_VECTORS: &str = "metadata-vectors";
const CONTENT_VECTORS: &str = "content-vectors";

/// The header of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordHeader {
    pub(crate) id: String,
    pub(crate) base: String,
    /// Text analysis of the document.
    pub(crate) analysis: AnalysisKind,
    /// Version of the content.
    pub(crate) version: String,
    pub(crate) lacks_content: bool,
    pub(crate) report: DatasetReport,
    /// The graph file, its counts and its fingerprint.
    pub(crate) objects: [StoredObject; 3],
    /// The sample, if the content exceeds memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sample: Option<StoredObject>,
    /// The labels, if they are in several languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<StoredObject>,
}

/// Number format and extent of the vectors of an encoder.
#[derive(Serialize, Deserialize)]
struct Encoding {
    digest: String,
    precision: Precision,
    columns: usize,
    rows: [usize; 2],
}

/// Writer of a record.
pub(crate) struct RecordBuilder {
    parts: Vec<&'static str>,
    names: Vec<String>,
    contents: Vec<Vec<u8>>,
}

impl RecordBuilder {
    /// Begins a record. `derived` is the document, the profile and the snippet, as JSON.
    pub(crate) fn new(
        header: &RecordHeader,
        description: &str,
        derived: [Vec<u8>; 3],
    ) -> Result<Self, ClusterError> {
        let mut builder = Self {
            parts: Vec::new(),
            names: Vec::new(),
            contents: Vec::new(),
        };
        builder.add(HEADER, "", to_json(&header.id, header)?);
        builder.add(DESCRIPTION, "", description.as_bytes().to_vec());
        for (part, content) in [DOCUMENT, PROFILE, SNIPPET].into_iter().zip(derived) {
            builder.add(part, "", content);
        }
        Ok(builder)
    }

    /// Adds the vectors of an encoder.
    pub(crate) fn add_vectors(
        &mut self,
        id: &str,
        encoded: &EncodedDataset,
    ) -> Result<(), ClusterError> {
        let [metadata, content] = &encoded.matrices;
        let rows = [metadata.rows(), content.rows()];
        let (precision, columns) = (metadata.precision(), metadata.columns());
        let encoding = Encoding {
            digest: encoded.digest.clone(),
            precision,
            columns,
            rows,
        };
        self.add(ENCODING, &encoded.fingerprint, to_json(id, &encoding)?);
        self.add(
            METADATA_VECTORS,
            &encoded.fingerprint,
            metadata.bytes().to_vec(),
        );
        self.add(
            CONTENT_VECTORS,
            &encoded.fingerprint,
            content.bytes().to_vec(),
        );
        Ok(())
    }

    fn add(&mut self, part: &'static str, name: &str, content: Vec<u8>) {
        self.parts.push(part);
        self.names.push(name.to_owned());
        self.contents.push(content);
    }

    /// Writes the record. Equal records have equal bytes.
    pub(crate) fn write(self, path: &Path) -> Result<(), ClusterError> {
        let failed = ClusterError::arrow(TABLE);
        let contents: Vec<&[u8]> = self.contents.iter().map(Vec::as_slice).collect();
        let batch = RecordBatch::try_from_iter([
            ("part", Arc::new(StringArray::from(self.parts)) as ArrayRef),
            ("name", Arc::new(StringArray::from(self.names))),
            // 64-bit offsets: the contents of one dataset may exceed 2 GiB together.
            ("content", Arc::new(LargeBinaryArray::from_vec(contents))),
        ]);
        let batch = batch.map_err(&failed)?;
        let options =
            IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let file = File::create(path).map_err(ClusterError::io(path))?;
        let options = options.map_err(&failed)?;
        let mut writer =
            FileWriter::try_new_with_options(file, &batch.schema(), options).map_err(&failed)?;
        writer.write(&batch).map_err(&failed)?;
        writer.finish().map_err(&failed)
    }
}

/// A record that was read.
pub(crate) struct Record {
    batch: RecordBatch,
}

impl Record {
    /// Reads a record.
    pub(crate) fn read(path: &Path) -> Result<Self, ClusterError> {
        let failed = ClusterError::arrow(TABLE);
        let file = File::open(path).map_err(ClusterError::io(path))?;
        // The SHA-256 of the file was compared when it was fetched: this reader can panic on damaged files.
        let mut reader = FileReader::try_new(BufReader::new(file), None).map_err(&failed)?;
        let empty = ClusterError::Column {
            table: TABLE,
            column: "part",
            expected: "texts",
        };
        // A record is one batch: see `write`.
        let batch = reader.next().ok_or(empty)?.map_err(&failed)?;
        Ok(Self { batch })
    }

    /// Returns the content of a part.
    fn part(&self, part: &'static str, name: &str) -> Result<&[u8], ClusterError> {
        let (parts, names) = (
            required_texts(&self.batch, TABLE, "part")?,
            required_texts(&self.batch, TABLE, "name")?,
        );
        let missing = ClusterError::Column {
            table: TABLE,
            column: part,
            expected: "bytes",
        };
        let row = parts
            .iter()
            .zip(&names)
            .position(|found| found == (&part, &name));
        let contents = self
            .batch
            .column_by_name("content")
            .and_then(|array| array.as_binary_opt::<i64>());
        match (row, contents) {
            (Some(row), Some(contents)) => Ok(contents.value(row)),
            _ => Err(missing),
        }
    }

    pub(crate) fn header(&self) -> Result<RecordHeader, ClusterError> {
        serde_json::from_slice(self.part(HEADER, "")?)
            .map_err(|error| ClusterError::row(TABLE, "", error))
    }

    pub(crate) fn description(&self, id: &str) -> Result<Vec<Triple>, ClusterError> {
        let text = std::str::from_utf8(self.part(DESCRIPTION, "")?)
            .map_err(|error| ClusterError::row(TABLE, id, error))?;
        parse_description(text).map_err(|error| ClusterError::row(TABLE, id, error))
    }

    pub(crate) fn document(&self, id: &str) -> Result<IndexDocument, ClusterError> {
        serde_json::from_slice(self.part(DOCUMENT, "")?)
            .map_err(|error| ClusterError::row(TABLE, id, error))
    }

    /// Returns the triples of the profile and of the snippet.
    pub(crate) fn derived_triples(&self, id: &str) -> Result<[Vec<Triple>; 2], ClusterError> {
        Ok([
            self.read_triples(id, PROFILE)?,
            self.read_triples(id, SNIPPET)?,
        ])
    }

    fn read_triples(&self, id: &str, part: &'static str) -> Result<Vec<Triple>, ClusterError> {
        triples_from_json(self.part(part, "")?).map_err(|error| ClusterError::row(TABLE, id, error))
    }

    /// Returns the extent of the vectors of an encoder. `None` if the record has none.
    fn encoding(&self, fingerprint: &str) -> Result<Option<Encoding>, ClusterError> {
        let Ok(json) = self.part(ENCODING, fingerprint) else {
            return Ok(None);
        };
        serde_json::from_slice(json)
            .map(Some)
            .map_err(|error| ClusterError::row(TABLE, fingerprint, error))
    }

    /// Returns the number format of the vectors of an encoder. `None` if the record has none.
    pub(crate) fn precision(&self, fingerprint: &str) -> Result<Option<Precision>, ClusterError> {
        Ok(self
            .encoding(fingerprint)?
            .map(|encoding| encoding.precision))
    }

    /// Returns the vectors of an encoder, if they are of the texts with this digest.
    pub(crate) fn vectors(
        &self,
        fingerprint: &str,
        digest: &str,
    ) -> Result<Option<[Rows; 2]>, ClusterError> {
        let Some(encoding) = self
            .encoding(fingerprint)?
            .filter(|encoding| encoding.digest == digest)
        else {
            return Ok(None);
        };
        let [metadata, content] = encoding.rows;
        Ok(Some([
            self.read_rows(METADATA_VECTORS, fingerprint, &encoding, metadata)?,
            self.read_rows(CONTENT_VECTORS, fingerprint, &encoding, content)?,
        ]))
    }

    fn read_rows(
        &self,
        part: &'static str,
        fingerprint: &str,
        encoding: &Encoding,
        count: usize,
    ) -> Result<Rows, ClusterError> {
        let rows = Rows::from_bytes(
            self.part(part, fingerprint)?,
            count,
            encoding.columns,
            encoding.precision,
        );
        rows.ok_or_else(|| ClusterError::row(TABLE, fingerprint, "vectors of another size"))
    }
}

fn to_json(id: &str, value: &impl Serialize) -> Result<Vec<u8>, ClusterError> {
    serde_json::to_vec(value).map_err(|error| ClusterError::row(TABLE, id, error))
}

/// Returns triples as JSON. N-Triples would change terms that are not valid: broken dumps contain them.
pub(crate) fn triples_to_json(triples: &[Triple]) -> serde_json::Result<Vec<u8>> {
    let serialized = triples.iter().map(|triple| {
        let Triple {
            subject,
            predicate,
            object,
        } = triple.clone();
        [subject.into(), predicate.into(), object].map(|term: Term| SerializedTerm::from(term))
    });
    serde_json::to_vec(&serialized.collect::<Vec<_>>())
}

/// Reads triples from JSON. The process that wrote them is not trusted: terms that would forge statements where they are written
/// are errors.
fn triples_from_json(json: &[u8]) -> Result<Vec<Triple>, String> {
    let serialized: Vec<[SerializedTerm; 3]> =
        serde_json::from_slice(json).map_err(|error| error.to_string())?;
    serialized.iter().map(read_triple).collect()
}

fn read_triple(terms: &[SerializedTerm; 3]) -> Result<Triple, String> {
    let [subject, predicate, object] = terms;
    let (subject, predicate, object) = (
        read_term(subject)?,
        read_term(predicate)?,
        read_term(object)?,
    );
    let subject = match subject {
        Term::NamedNode(node) => NamedOrBlankNode::from(node),
        Term::BlankNode(node) => node.into(),
        other => return Err(format!("{other} is no subject")),
    };
    match predicate {
        Term::NamedNode(predicate) => Ok(Triple::new(subject, predicate, object)),
        other => Err(format!("{other} is no predicate")),
    }
}

fn read_term(term: &SerializedTerm) -> Result<Term, String> {
    term.to_term()
        .filter(is_writable)
        .ok_or_else(|| format!("{term:?} is no term"))
}

/// Returns true if a term has no characters that end it in RDF syntaxes.
fn is_writable(term: &Term) -> bool {
    match term {
        Term::NamedNode(node) => is_writable_iri(node.as_str()),
        Term::BlankNode(node) => BlankNode::new(node.as_str()).is_ok(),
        Term::Literal(literal) => match literal.language() {
            Some(tag) => is_writable_tag(tag),
            None => is_writable_iri(literal.datatype().as_str()),
        },
        Term::Triple(triple) => {
            let Triple {
                subject,
                predicate,
                object,
            } = triple.as_ref();
            is_writable(&subject.clone().into())
                && is_writable_iri(predicate.as_str())
                && is_writable(object)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_would_forge_statements_are_errors() {
        let read = |object: &str| {
            triples_from_json(
                format!(r#"[[{{"blank":"b"}},{{"iri":"urn:p"}},{object}]]"#).as_bytes(),
            )
        };
        for object in [
            r#"{"iri":"urn:ä"}"#,
            r#"{"language":["a> <b","en-x"]}"#,
            r#"{"typed":["1","urn:d"]}"#,
        ] {
            assert_eq!(read(object).map(|triples| triples.len()), Ok(1), "{object}");
        }
        for object in [
            r#"{"iri":"urn:a> <urn:b"}"#,
            r#"{"blank":"b .\n_:c"}"#,
            r#"{"language":["a","en . _:c"]}"#,
            r#"{"typed":["1","urn:d> ."]}"#,
            r#"{"lefttoright":["a","en ."]}"#,
            r#"{"triple":[{"iri":"urn:a"},{"iri":"urn:p> ."},{"plain":"x"}]}"#,
        ] {
            assert!(
                read(object).is_err_and(|reason| reason.contains("is no term")),
                "{object}"
            );
        }
    }

    #[test]
    fn missing_vectors_are_none_and_damaged_ones_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let mut builder = RecordBuilder {
            parts: Vec::new(),
            names: Vec::new(),
            contents: Vec::new(),
        };
        builder.add(ENCODING, "damaged", b"no JSON".to_vec());
        builder.write(&path).expect("written");
        let record = Record::read(&path).expect("a record");
        assert!(record.vectors("other", "").expect("no error").is_none());
        assert!(
            record
                .vectors("damaged", "")
                .is_err_and(|error| error.to_string().contains("row of damaged"))
        );
    }
}
