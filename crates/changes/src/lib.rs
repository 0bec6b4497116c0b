#![doc = include_str!("../README.md")]
//!
//! *Why not `server`?* Commands make the same changes without a server, and what an HTTP server does (routes, pages, negotiation) is no
//! part of a change.
//!
//! A [`Change`] is a value, and [`make_change`] makes it: to a [`Collection`] that is served or to a home that this process opens, with
//! the same report. [`Jobs`] is the queue in which changes of clients wait, and [`ChangeWorker`] has the threads that make them,
//! one for each lane. [`Live`] is the collection that they change, and [`Background`] a task that changes it by itself, such as a
//! [`HarvestSchedule`]. [`Parser`] reads untrusted files in worker processes.

mod audit;
mod background;
mod change;
mod change_lock;
mod collection;
mod control;
mod downloads;
mod edits;
mod execute;
mod harvest_records;
mod harvest_schedule;
mod harvests;
mod jobs;
mod lanes;
mod load;
mod parsing;
mod preconditions;
mod put;
mod report;
mod setting_files;
mod stored_schedules;
mod tasks;
mod tokens;
mod uploads;
mod vectors;
mod workers;
mod works;

pub use audit::{AuditDamage, AuditLog, audit_path, verify_audit};
pub use background::{Background, Live, StopSignal, Turns};
pub use change::{Change, DatasetUpload, DumpsRequest, LoadRequest, Publication, WorksUpload};
pub use change_lock::ChangeGuard;
pub use collection::{Collection, LocalHome};
pub use control::{ChangeError, Control, DISK_FULL};
pub use edits::{DatasetEdit, EditAction, present_edits};
pub use execute::{advise_ids, make_change};
pub use harvest_records::{HarvestRecord, harvest_records};
pub use harvest_schedule::{HarvestSchedule, ScheduledSource};
pub use harvests::HarvestOutcome;
pub use jobs::{
    Cancelled, Job, JobState, Jobs, Progress, Refusal, list_elements, unix_seconds,
    written_datasets,
};
pub use lanes::ChangeWorker;
#[cfg(fuzzing)]
pub use parsing::fuzzing;
pub use parsing::{FileParser, Parser, store_outcome};
pub use preconditions::{DatasetState, EntityTags, Preconditions};
pub use report::{Assigned, ChangeReport, Harvests, Indexed, LoadOutcome, Removed};
pub use setting_files::SettingFiles;
pub use stored_schedules::{ScheduleChange, Scheduled, StoredSchedule, stored_schedules};
pub use tasks::{Task, TaskTotal, Tasks};
pub use tokens::{Rights, Scope, Token, TokenError, Tokens, digest};
pub use uploads::{
    MAX_CATALOG_FILES, MAX_SOURCES, MAX_UPLOAD_BYTES, Spool, UPLOADS_FOLDER, UploadedFile,
    is_upload_path,
};
pub use vectors::VectorUpdates;
pub use workers::{WorkerOptions, WorkerRole, pool_options};
pub use works::{ADD_WORKS, WORKS_LIST};

use std::path::{Path, PathBuf};

/// Returns the path of the socket over which the server of a home accepts changes of users of this machine.
#[must_use]
pub fn socket_path(home: &Path) -> PathBuf {
    home.join("admin").join("socket")
}
