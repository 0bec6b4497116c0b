//! Changes of a collection: values that a command, a client or a schedule requests, and that one executor makes.
//!
//! `rebase`, `restore` and `repair` are no such values: they replace the home as a whole, under the lock of a writer, so that no server
//! can have it open meanwhile. `lodeseek index` of a local home takes models, threads and methods that no server accepts.

use crate::edits::DatasetEdit;
use crate::preconditions::Preconditions;
use crate::stored_schedules::ScheduleChange;
use crate::tokens::Scope;
use crate::uploads::{Spool, UploadedFile};
use crate::works::ADD_WORKS;
use lodeseek_catalog::{CitingWork, Dataset, DatasetId};
use lodeseek_harvest::HarvestRequest;
use lodeseek_net::egress::IpNet;
use lodeseek_snapshot::SnapshotLocation;
use lodeseek_store::{ContentPlace, LoadSource};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A requested change.
pub enum Change {
    /// Adds or replaces one dataset.
    Put(Box<DatasetUpload>),
    /// Loads catalogues and dumps: of this machine, or uploaded into a folder.
    Load(Box<LoadRequest>),
    /// Adds works that use datasets.
    Works(WorksUpload),
    /// Harvests portals.
    Harvest(Box<HarvestRequest>),
    /// Sets or removes the schedule of a source.
    Schedule(Box<ScheduleChange>),
    /// Changes the edits of a description.
    Edit(Box<DatasetEdit>),
    /// Removes datasets.
    Remove(Vec<DatasetId>),
    /// Removes a dataset under conditions.
    RemoveIf(DatasetId, Preconditions),
    /// Removes works.
    RemoveWorks(Vec<String>),
    /// Indexes the datasets whose entries are missing or outdated, or all.
    Index {
        /// If true, all are indexed.
        rebuild: bool,
    },
    /// Writes a backup of the home to a folder. It changes nothing, but no change may run meanwhile.
    Backup(PathBuf),
    /// Publishes a snapshot of the home. It changes nothing, but no change may run meanwhile.
    Publish(Box<Publication>),
}

/// A requested publication.
pub struct Publication {
    /// Location of the snapshots.
    pub location: SnapshotLocation,
    /// Number of snapshots that are kept; all without it.
    pub keep: Option<NonZeroUsize>,
    /// File with the private key that signs the snapshot.
    pub key: Option<PathBuf>,
    /// If true, records that are not of this home are deleted.
    pub force: bool,
}

impl Change {
    /// Returns the name of the action, as jobs and the audit log have it.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Self::Put(_) => "put",
            Self::Load(_) => "load",
            Self::Works(_) => ADD_WORKS,
            Self::Harvest(_) => "harvest",
            Self::Schedule(change) if change.every.is_none() => "unschedule",
            Self::Schedule(_) => "schedule",
            Self::Edit(edit) => edit.action_name(),
            Self::Remove(_) | Self::RemoveIf(..) | Self::RemoveWorks(_) => "remove",
            Self::Index { .. } => "index",
            Self::Backup(_) => "backup",
            Self::Publish(_) => "publish",
        }
    }

    /// Returns the ids of the datasets that the change names.
    #[must_use]
    pub fn datasets(&self) -> Vec<String> {
        match self {
            Self::Put(upload) => vec![upload.id.to_string()],
            Self::Remove(ids) => ids.iter().map(ToString::to_string).collect(),
            Self::Edit(edit) => vec![edit.id.to_string()],
            Self::RemoveIf(id, _) => vec![id.to_string()],
            Self::Load(_)
            | Self::Works(_)
            | Self::RemoveWorks(_)
            | Self::Harvest(_)
            | Self::Schedule(_)
            | Self::Index { .. }
            | Self::Backup(_)
            | Self::Publish(_) => Vec::new(),
        }
    }

    /// Returns the places that the change reads or writes: the addresses of a harvest or a download, the names of loaded files, the
    /// folder of a backup, the location of a publication. Folders of loaded files are left out, because clients read the list.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        match self {
            Self::Harvest(request) => request.sources.clone(),
            Self::Schedule(change) => change.request.sources.clone(),
            Self::Load(request) => request.file_names(),
            Self::Put(upload) => upload.addresses.clone(),
            Self::Backup(folder) => vec![folder.display().to_string()],
            Self::Publish(publication) => vec![publication.location.to_string()],
            Self::Works(_)
            | Self::Edit(_)
            | Self::Remove(_)
            | Self::RemoveIf(..)
            | Self::RemoveWorks(_)
            | Self::Index { .. } => Vec::new(),
        }
    }

    /// Returns the ids of the works that the change names.
    #[must_use]
    pub fn works(&self) -> Vec<String> {
        match self {
            Self::RemoveWorks(ids) => ids.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the keys of the description that the change names.
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        match self {
            Self::Edit(edit) => edit.fields(),
            _ => Vec::new(),
        }
    }

    /// Returns the scope that a token needs for the change.
    #[must_use]
    pub fn scope(&self) -> Scope {
        match self {
            Self::Harvest(_)
            | Self::Schedule(_)
            | Self::Index { .. }
            | Self::Backup(_)
            | Self::Publish(_) => Scope::Admin,
            // Only administrators may download from private networks.
            Self::Put(upload) if !upload.networks.is_empty() => Scope::Admin,
            _ => Scope::Write,
        }
    }

    /// Returns the lane in which the change waits.
    pub(crate) fn lane(&self) -> Lane {
        match self {
            Self::Harvest(_) => Lane::Harvests,
            Self::Put(upload) if !upload.addresses.is_empty() => Lane::Downloads,
            _ => Lane::Changes,
        }
    }
}

/// Lane of the queue. Jobs of one lane are done one after the other; jobs of several lanes take turns at the collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// Changes that need nothing from the network.
    Changes,
    /// Datasets whose files are downloaded first.
    Downloads,
    /// Harvests.
    Harvests,
}

impl Lane {
    /// All lanes. Each has a thread of its own.
    pub(crate) const ALL: [Self; 3] = [Self::Changes, Self::Downloads, Self::Harvests];

    /// Returns the name of the thread.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::Downloads => "downloads",
            Self::Harvests => "harvests",
        }
    }
}

/// Works to add.
pub enum WorksUpload {
    /// An uploaded list, in the file [`WORKS_LIST`](crate::WORKS_LIST) of a folder.
    File(Spool),
    /// Works that were read.
    List(Vec<CitingWork>),
}

/// Catalogues and dumps to load: of this machine, or uploaded.
#[derive(Default)]
pub struct LoadRequest {
    /// Paths of the catalogues and dumps.
    pub sources: Vec<PathBuf>,
    /// Paths of uploaded sources on the machine of the client, in their order; may be fewer.
    pub origins: Vec<String>,
    /// Prefix of the ids of the datasets.
    pub id_prefix: String,
    /// If true, datasets of other sources with the same ids are replaced.
    pub replace: bool,
    /// Place of the content; `None` for the setting of the home.
    pub content: Option<ContentPlace>,
    /// Dumps that are assigned to the datasets by their ids.
    pub dumps: Option<DumpsRequest>,
    /// Folder of uploaded files.
    pub spool: Option<Spool>,
}

/// A folder or an archive of dumps that are named after the ids of the datasets.
pub struct DumpsRequest {
    /// Path of the folder or archive, on this machine.
    pub path: PathBuf,
    /// Path of a dump in it, with `{id}`; `None` for names that begin with the id.
    pub pattern: Option<String>,
}

impl LoadRequest {
    /// Returns the names of the sources without their folders.
    fn file_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (number, path) in self.sources.iter().enumerate() {
            let origin = self.origins.get(number).filter(|origin| !origin.is_empty());
            let path = match origin {
                Some(origin) => Path::new(origin),
                None => path.as_path(),
            };
            let name = path.file_name().unwrap_or(path.as_os_str());
            names.push(name.to_string_lossy().into_owned());
        }
        names
    }

    /// Returns the source that becomes the origin of the datasets of a catalogue.
    pub(crate) fn load_source(&self, number: usize) -> LoadSource {
        let path = &self.sources[number];
        let Some(spool) = &self.spool else {
            return LoadSource::from_path(path, &self.id_prefix);
        };
        let origin = self.origins.get(number).filter(|origin| !origin.is_empty());
        let name = match origin {
            Some(origin) => Cow::Borrowed(origin.as_str()),
            None => path
                .strip_prefix(spool.path())
                .unwrap_or(path)
                .to_string_lossy(),
        };
        LoadSource {
            source: format!("upload:{name}"),
            id_prefix: self.id_prefix.clone(),
            is_harvest: false,
        }
    }
}

/// An uploaded dataset: a description, files, or both.
pub struct DatasetUpload {
    /// Id of the dataset.
    pub id: DatasetId,
    /// Description; `None` keeps the present one.
    pub metadata: Option<Dataset>,
    /// Files of the content; without any, the present content is kept.
    pub dumps: Vec<UploadedFile>,
    /// Addresses of further files, which the job downloads.
    pub addresses: Vec<String>,
    /// Private networks that these addresses may be in.
    pub networks: Arc<[IpNet]>,
    /// Conditions under which it is stored.
    pub conditions: Preconditions,
    /// Folder of the files.
    pub spool: Spool,
}
