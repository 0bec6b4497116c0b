//! Plans: catalogues as tables of tasks.

use crate::ClusterError;
use crate::task::{TABLE, Task, TaskSource};
use arrow_ipc::writer::StreamWriter;
use lodeseek_catalog::{Catalog, Dataset, Iris};
use lodeseek_engine::copy_and_hash;
use lodeseek_harvest::{Downloads, is_address, is_content_file};
use lodeseek_rdf::RdfSyntax;
use lodeseek_store::{SourcePlace, describe_dataset, source_files};
use oxrdf::NamedNode;
use oxsdatatypes::DateTime;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// Maximum number of tasks in a batch of the table.
const MAX_BATCH_TASKS: usize = 1_000;

/// Options of a plan.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Base of all IRIs.
    pub iris: Iris,
    /// Time of the plan.
    pub now: Option<DateTime>,
    /// Address at which workers find the files of a folder, and the folder. Without it, workers read the local files.
    pub files_at: Option<(Url, PathBuf)>,
    /// Handling of files of the web: with [`Downloads::Content`], workers download those with content.
    pub downloads: Downloads,
}

/// A plan: the tasks of catalogues.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    tasks: Vec<Task>,
}

impl Plan {
    /// Makes a task for each dataset of a catalogue. Local files are read for their SHA-256.
    ///
    /// # Errors
    /// If a local file cannot be read, or lies outside the folder of [`PlanOptions::files_at`].
    pub fn add(&mut self, catalog: &Catalog, options: &PlanOptions) -> Result<(), ClusterError> {
        let planned = options.now.map(|now| now.to_string()).unwrap_or_default();
        for dataset in &catalog.datasets {
            let description = describe_dataset(dataset, &options.iris);
            let description = RdfSyntax::NTriples.write(&description)?;
            self.tasks.push(Task {
                position: self.tasks.len() as u64,
                id: dataset.metadata.id.to_string(),
                base: options.iris.base().to_owned(),
                planned: planned.clone(),
                description: String::from_utf8_lossy(&description).into_owned(),
                sources: plan_sources(dataset, &catalog.folder, options)?,
            });
        }
        Ok(())
    }

    /// Returns the tasks.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Writes the plan as an Arrow stream.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(&self, output: impl Write) -> Result<(), ClusterError> {
        let failed = ClusterError::arrow(TABLE);
        let schema = Task::to_batch(&[])?.schema();
        let mut writer = StreamWriter::try_new(output, &schema).map_err(&failed)?;
        for tasks in self.tasks.chunks(MAX_BATCH_TASKS) {
            writer.write(&Task::to_batch(tasks)?).map_err(&failed)?;
        }
        writer.finish().map_err(&failed)
    }
}

fn plan_sources(
    dataset: &Dataset,
    folder: &Path,
    options: &PlanOptions,
) -> Result<Vec<TaskSource>, ClusterError> {
    let mut sources = Vec::new();
    for source in source_files(dataset, folder, &options.iris) {
        let mut task = TaskSource {
            name: source.name,
            media_type: source.media_type,
            base: source.base,
            url: None,
            sha256: None,
            bytes: 0,
            refused: None,
            unreadable: None,
        };
        match source.place {
            SourcePlace::Refused(_) if is_download(&task, options.downloads) => {
                // The base of a downloaded file is its address, as in a harvest.
                if NamedNode::new(task.name.as_str()).is_ok() {
                    task.base.clone_from(&task.name);
                }
                task.url = Some(task.name.clone());
            }
            SourcePlace::Refused(reason) => task.refused = Some(reason),
            SourcePlace::Unreadable(reason) => task.unreadable = Some(reason),
            SourcePlace::File(path) => match File::open(&path) {
                Ok(mut file) => {
                    let (bytes, sha256) = copy_and_hash(&mut file, &mut io::sink())
                        .map_err(ClusterError::io(&path))?;
                    task.url = Some(file_url(&path, options)?);
                    (task.bytes, task.sha256) = (bytes, Some(sha256));
                }
                Err(error) => task.unreadable = Some(error.to_string()),
            },
        }
        sources.push(task);
    }
    Ok(sources)
}

/// Returns true if workers download a file that is not local.
fn is_download(source: &TaskSource, downloads: Downloads) -> bool {
    downloads == Downloads::Content
        && is_address(&source.name)
        && is_content_file(&source.name, source.media_type.as_deref())
}

/// Returns the address of a local file for workers.
fn file_url(path: &Path, options: &PlanOptions) -> Result<String, ClusterError> {
    let canonical = path.canonicalize().map_err(ClusterError::io(path))?;
    let Some((url, folder)) = &options.files_at else {
        let url = Url::from_file_path(&canonical)
            .map_err(|()| invalid_path(path, "the path has no address".to_owned()))?;
        return Ok(url.into());
    };
    let inner = canonical
        .strip_prefix(folder)
        .map_err(|_| invalid_path(path, format!("it lies outside {}", folder.display())))?;
    let mut url = url.clone();
    let segments = inner
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let folder_url = url.to_string();
    url.path_segments_mut()
        .map_err(|()| invalid_path(path, format!("{folder_url} has no path")))?
        .pop_if_empty()
        .extend(segments);
    Ok(url.into())
}

fn invalid_path(path: &Path, reason: String) -> ClusterError {
    ClusterError::io(path)(io::Error::other(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::{DatasetId, Distribution, Location, Metadata};

    fn planned(downloads: Downloads) -> Task {
        let remote = |address: &str| Distribution::new(Location::Remote(address.to_owned()));
        let distributions = [
            "ftp://e.org/a.ttl",
            "https://E.org:8443/b.ttl",
            "http://e.org/table.csv",
            "http://f.org/c d.nt",
        ];
        let id = DatasetId::new("a").expect("an id");
        let dataset = Dataset {
            distributions: distributions.map(remote).to_vec(),
            ..Dataset::new(Metadata::new(id))
        };
        let catalog = Catalog {
            datasets: vec![dataset],
            ..Catalog::default()
        };
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let mut plan = Plan::default();
        plan.add(
            &catalog,
            &PlanOptions {
                iris,
                now: None,
                files_at: None,
                downloads,
            },
        )
        .expect("planned");
        plan.tasks()[0].clone()
    }

    #[test]
    fn files_of_the_web_are_planned_on_request_if_they_are_content() {
        let task = planned(Downloads::None);
        assert!(
            task.sources
                .iter()
                .all(|source| source.url.is_none() && source.refused.is_some()),
            "{task:?}"
        );
        assert_eq!(task.host(), None);
        let task = planned(Downloads::Content);
        let urls: Vec<Option<&str>> = task
            .sources
            .iter()
            .map(|source| source.url.as_deref())
            .collect();
        assert_eq!(
            urls,
            [
                None,
                Some("https://E.org:8443/b.ttl"),
                Some("http://e.org/table.csv"),
                Some("http://f.org/c d.nt")
            ]
        );
        assert_eq!(task.sources[1].base, "https://E.org:8443/b.ttl");
        assert!(
            NamedNode::new(task.sources[3].base.as_str()).is_ok(),
            "an address that is no IRI is no base"
        );
        assert_eq!(task.host().as_deref(), Some("e.org"));
    }
}
