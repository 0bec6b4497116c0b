//! Results of tasks.

use crate::columns::{decimals, integers, required_texts, texts, to_integer};
use crate::{ClusterError, Task};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lodeseek_snapshot::StoredObject;
use std::sync::Arc;

/// Content of the table, for messages.
pub(crate) const TABLE: &str = "results";

/// Outcome of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskStatus {
    /// The dataset was derived. Problems of its files are in the record.
    Derived,
    /// The dataset could not be derived.
    Failed,
}

impl TaskStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Derived => "derived",
            Self::Failed => "failed",
        }
    }
}

/// Result of a task.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskResult {
    /// Place of the dataset in the plan.
    pub position: u64,
    /// Id of the dataset.
    pub id: String,
    /// Base of all IRIs of the collection.
    pub base: String,
    /// Outcome.
    pub status: TaskStatus,
    /// Reason of a failure; of a derived dataset, the first problem of its files.
    pub reason: Option<String>,
    /// Number of distinct triples.
    pub triples: u64,
    /// Number of skipped statements.
    pub skipped: u64,
    /// Canonical fingerprint of the content: equal for duplicates. `None` if it was not computed.
    pub fingerprint: Option<String>,
    /// SHA-256 of the graph file.
    pub graph: Option<String>,
    /// The record: description, profile, snippet, document and vectors.
    pub record: Option<StoredObject>,
    /// Size of all stored objects in bytes.
    pub stored_bytes: u64,
    /// Time of the task in seconds: all of it, and of it the time for vectors.
    pub seconds: f64,
    /// Time for vectors in seconds.
    pub encoding_seconds: f64,
    /// Peak memory of the worker so far in bytes: of both of its processes.
    pub peak_bytes: u64,
}

impl TaskResult {
    /// Creates the result of a failed task.
    pub(crate) fn failed(task: &Task, reason: impl ToString) -> Self {
        Self {
            position: task.position,
            id: task.id.clone(),
            base: task.base.clone(),
            status: TaskStatus::Failed,
            reason: Some(reason.to_string()),
            triples: 0,
            skipped: 0,
            fingerprint: None,
            graph: None,
            record: None,
            stored_bytes: 0,
            seconds: 0.0,
            encoding_seconds: 0.0,
            peak_bytes: 0,
        }
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.status == TaskStatus::Failed
    }

    /// Returns the schema of a table of results.
    pub(crate) fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("position", DataType::Int64, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("base", DataType::Utf8, false),
            Field::new("status", DataType::Utf8, false),
            Field::new("reason", DataType::Utf8, true),
            Field::new("triples", DataType::Int64, false),
            Field::new("skipped", DataType::Int64, false),
            Field::new("fingerprint", DataType::Utf8, true),
            Field::new("graph", DataType::Utf8, true),
            Field::new("record", DataType::Utf8, true),
            Field::new("record_bytes", DataType::Int64, false),
            Field::new("stored_bytes", DataType::Int64, false),
            Field::new("seconds", DataType::Float64, false),
            Field::new("encoding_seconds", DataType::Float64, false),
            Field::new("peak_bytes", DataType::Int64, false),
        ]))
    }

    /// Returns a table of one result.
    pub(crate) fn to_batch(&self) -> Result<RecordBatch, ClusterError> {
        let record_bytes = match &self.record {
            Some(record) => record.bytes,
            None => 0,
        };
        let columns = vec![
            integer_column(self.position),
            text_column(Some(&self.id)),
            text_column(Some(&self.base)),
            text_column(Some(self.status.name())),
            text_column(self.reason.as_deref()),
            integer_column(self.triples),
            integer_column(self.skipped),
            text_column(self.fingerprint.as_deref()),
            text_column(self.graph.as_deref()),
            text_column(self.record.as_ref().map(|record| record.sha256.as_str())),
            integer_column(record_bytes),
            integer_column(self.stored_bytes),
            float_column(self.seconds),
            float_column(self.encoding_seconds),
            integer_column(self.peak_bytes),
        ];
        RecordBatch::try_new(Self::schema(), columns).map_err(ClusterError::arrow(TABLE))
    }

    /// Reads the results of a table.
    pub(crate) fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>, ClusterError> {
        let (ids, statuses) = (
            required_texts(batch, TABLE, "id")?,
            required_texts(batch, TABLE, "status")?,
        );
        let bases = required_texts(batch, TABLE, "base")?;
        let reasons = texts(batch, TABLE, "reason")?;
        let fingerprints = texts(batch, TABLE, "fingerprint")?;
        let graphs = texts(batch, TABLE, "graph")?;
        let records = texts(batch, TABLE, "record")?;
        let positions = integers(batch, TABLE, "position")?;
        let triples = integers(batch, TABLE, "triples")?;
        let skipped = integers(batch, TABLE, "skipped")?;
        let record_bytes = integers(batch, TABLE, "record_bytes")?;
        let stored = integers(batch, TABLE, "stored_bytes")?;
        let peaks = integers(batch, TABLE, "peak_bytes")?;
        let seconds = decimals(batch, TABLE, "seconds")?;
        let encoding_seconds = decimals(batch, TABLE, "encoding_seconds")?;
        let mut results = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let id = ids[row];
            let status = [TaskStatus::Derived, TaskStatus::Failed]
                .into_iter()
                .find(|one| one.name() == statuses[row]);
            let bytes = to_count(id, record_bytes[row])?;
            results.push(Self {
                position: to_count(id, positions[row])?,
                id: id.to_owned(),
                base: bases[row].to_owned(),
                status: status.ok_or_else(|| ClusterError::row(TABLE, id, "unknown status"))?,
                reason: reasons[row].map(str::to_owned),
                triples: to_count(id, triples[row])?,
                skipped: to_count(id, skipped[row])?,
                fingerprint: fingerprints[row].map(str::to_owned),
                graph: graphs[row].map(str::to_owned),
                record: records[row].map(|sha256| StoredObject {
                    sha256: sha256.to_owned(),
                    bytes,
                }),
                stored_bytes: to_count(id, stored[row])?,
                seconds: seconds[row],
                encoding_seconds: encoding_seconds[row],
                peak_bytes: to_count(id, peaks[row])?,
            });
        }
        Ok(results)
    }
}

/// Returns a column of one row.
fn text_column(value: Option<&str>) -> ArrayRef {
    Arc::new(StringArray::from(vec![value]))
}

/// Returns a column of one row.
fn integer_column(value: u64) -> ArrayRef {
    Arc::new(Int64Array::from(vec![to_integer(value)]))
}

/// Returns a column of one row.
fn float_column(value: f64) -> ArrayRef {
    Arc::new(Float64Array::from(vec![value]))
}

fn to_count(id: &str, value: i64) -> Result<u64, ClusterError> {
    u64::try_from(value).map_err(|error| ClusterError::row(TABLE, id, error))
}
