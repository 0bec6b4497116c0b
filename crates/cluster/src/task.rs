//! Tasks of workers: one for each dataset.

use crate::ClusterError;
use crate::columns::{integers, required_texts, texts, to_integer};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use lodeseek_harvest::is_address;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use url::Url;

/// Content of the table, for messages.
pub(crate) const TABLE: &str = "tasks";

/// A task: the derivation of one dataset. A repeated task has the same result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Place of the dataset in the plan. Datasets are assembled in this order.
    pub position: u64,
    /// Id of the dataset.
    pub id: String,
    /// Base of all IRIs of the collection.
    pub base: String,
    /// Time of the plan (`xsd:dateTime`), recorded as the time of the snippets.
    pub planned: String,
    /// Description of the dataset in the catalogue graph, as N-Triples.
    pub description: String,
    /// Files with its content, in the order of its catalogue.
    pub sources: Vec<TaskSource>,
}

/// A file with content of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskSource {
    /// Path or address in the catalogue.
    pub name: String,
    /// IANA media type, if declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Base of its relative IRIs.
    pub base: String,
    /// Address from which workers fetch it: `s3://BUCKET/KEY`, `file:///PATH`, or an address of the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// SHA-256, if known. A file with another one is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Size in bytes; 0 for a file of the web.
    #[serde(default)]
    pub bytes: u64,
    /// Reason why it must not be read, without an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Reason why it is missing, without an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl Task {
    /// Returns the size of its files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sources
            .iter()
            .map(|source| source.bytes)
            .fold(0, u64::saturating_add)
    }

    /// Returns the host of its first file on the web. One worker should have all tasks of a host: workers do not know the
    /// requests of others.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let mut addresses = self
            .sources
            .iter()
            .filter_map(|source| source.url.as_deref());
        let url = Url::parse(addresses.find(|address| is_address(address))?).ok()?;
        url.host_str().map(str::to_owned)
    }

    /// Returns a table of tasks.
    pub(crate) fn to_batch(tasks: &[Self]) -> Result<RecordBatch, ClusterError> {
        let mut sources = Vec::with_capacity(tasks.len());
        for task in tasks {
            let json = serde_json::to_string(&task.sources);
            sources.push(json.map_err(|error| ClusterError::row(TABLE, &task.id, error))?);
        }
        let columns: Result<_, ArrowError> = RecordBatch::try_from_iter([
            ("position", integer_column(tasks, |task| task.position)),
            ("id", text_column(tasks, |task| task.id.clone())),
            ("base", text_column(tasks, |task| task.base.clone())),
            ("planned", text_column(tasks, |task| task.planned.clone())),
            ("bytes", integer_column(tasks, Self::bytes)),
            (
                "host",
                text_column(tasks, |task| task.host().unwrap_or_default()),
            ),
            (
                "description",
                text_column(tasks, |task| task.description.clone()),
            ),
            ("sources", Arc::new(StringArray::from(sources)) as ArrayRef),
        ]);
        columns.map_err(ClusterError::arrow(TABLE))
    }

    /// Reads the tasks of a table.
    pub(crate) fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>, ClusterError> {
        let ids = required_texts(batch, TABLE, "id")?;
        let bases = required_texts(batch, TABLE, "base")?;
        let descriptions = required_texts(batch, TABLE, "description")?;
        let sources = required_texts(batch, TABLE, "sources")?;
        let positions = integers(batch, TABLE, "position")?;
        let planned = texts(batch, TABLE, "planned")?;
        let mut tasks = Vec::with_capacity(ids.len());
        for row in 0..batch.num_rows() {
            let id = ids[row];
            let parsed = serde_json::from_str(sources[row]);
            tasks.push(Self {
                position: u64::try_from(positions[row])
                    .map_err(|error| ClusterError::row(TABLE, id, error))?,
                id: id.to_owned(),
                base: bases[row].to_owned(),
                planned: planned[row].unwrap_or_default().to_owned(),
                description: descriptions[row].to_owned(),
                sources: parsed
                    .map_err(|error| ClusterError::row(TABLE, id, format!("sources: {error}")))?,
            });
        }
        Ok(tasks)
    }
}

fn text_column(tasks: &[Task], value: impl Fn(&Task) -> String) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(tasks.iter().map(value)))
}

fn integer_column(tasks: &[Task], value: impl Fn(&Task) -> u64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(
        tasks.iter().map(|task| to_integer(value(task))),
    ))
}
