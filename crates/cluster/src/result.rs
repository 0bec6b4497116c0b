//! Results of tasks.

use crate::columns::{count, decimals, integers, required_texts, texts};
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

    /// Returns the schema of a table of results.
    pub(crate) fn schema() -> SchemaRef {
        let field = |name: &str, data_type: &DataType, nullable| {
            Field::new(name, data_type.clone(), nullable)
        };
        let (text, integer, float) = (DataType::Utf8, DataType::Int64, DataType::Float64);
        Arc::new(Schema::new(vec![
            field("position", &integer, false),
            field("id", &text, false),
            field("base", &text, false),
            field("status", &text, false),
            field("reason", &text, true),
            field("triples", &integer, false),
            field("skipped", &integer, false),
            field("fingerprint", &text, true),
            field("graph", &text, true),
            field("record", &text, true),
            field("record_bytes", &integer, false),
            field("stored_bytes", &integer, false),
            field("seconds", &float, false),
            field("encoding_seconds", &float, false),
            field("peak_bytes", &integer, false),
        ]))
    }

    /// Returns a table of one result.
    pub(crate) fn to_batch(&self) -> Result<RecordBatch, ClusterError> {
        let text = |value: Option<&str>| Arc::new(StringArray::from(vec![value])) as ArrayRef;
        let integer = |value| Arc::new(Int64Array::from(vec![count(value)])) as ArrayRef;
        let float = |value| Arc::new(Float64Array::from(vec![value])) as ArrayRef;
        let columns = vec![
            integer(self.position),
            text(Some(&self.id)),
            text(Some(&self.base)),
            text(Some(self.status.name())),
            text(self.reason.as_deref()),
            integer(self.triples),
            integer(self.skipped),
            text(self.fingerprint.as_deref()),
            text(self.graph.as_deref()),
            text(self.record.as_ref().map(|record| record.sha256.as_str())),
            integer(self.record.as_ref().map_or(0, |record| record.bytes)),
            integer(self.stored_bytes),
            float(self.seconds),
            float(self.encoding_seconds),
            integer(self.peak_bytes),
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
        let text = |column| texts(batch, TABLE, column);
        let (reasons, fingerprints) = (text("reason")?, text("fingerprint")?);
        let (graphs, records) = (text("graph")?, text("record")?);
        let number = |column| integers(batch, TABLE, column);
        let (positions, triples, skipped) =
            (number("position")?, number("triples")?, number("skipped")?);
        let (record_bytes, stored, peaks) = (
            number("record_bytes")?,
            number("stored_bytes")?,
            number("peak_bytes")?,
        );
        let seconds = decimals(batch, TABLE, "seconds")?;
        let encoding_seconds = decimals(batch, TABLE, "encoding_seconds")?;
        let mut results = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let id = ids[row];
            let natural = |value: i64| {
                u64::try_from(value).map_err(|error| ClusterError::row(TABLE, id, error))
            };
            let owned = |values: &[Option<&str>]| values[row].map(str::to_owned);
            let status = [TaskStatus::Derived, TaskStatus::Failed]
                .into_iter()
                .find(|one| one.name() == statuses[row]);
            let bytes = natural(record_bytes[row])?;
            results.push(Self {
                position: natural(positions[row])?,
                id: id.to_owned(),
                base: bases[row].to_owned(),
                status: status.ok_or_else(|| ClusterError::row(TABLE, id, "unknown status"))?,
                reason: owned(&reasons),
                triples: natural(triples[row])?,
                skipped: natural(skipped[row])?,
                fingerprint: owned(&fingerprints),
                graph: owned(&graphs),
                record: owned(&records).map(|sha256| StoredObject { sha256, bytes }),
                stored_bytes: natural(stored[row])?,
                seconds: seconds[row],
                encoding_seconds: encoding_seconds[row],
                peak_bytes: natural(peaks[row])?,
            });
        }
        Ok(results)
    }
}
