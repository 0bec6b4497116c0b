//! Experiments: weights learned by folds, and published or measured numbers held against what the program computes.
//!
//! A [`Condition`] is a file that names runs, the collection they answer, and the scores expected of them;
//! [`Condition::reproduce`] verifies the collection, computes the scores and gives a [`Report`]. [`CoordinateSearch`] finds
//! weights; [`FusionTuning`] learns with it how to fuse runs, fold by fold, without a look at the topics it reports on.

mod condition;
mod coordinate;
mod provenance;
mod report;
mod tuning;
mod verify;

pub use condition::{Average, Condition, FusionSpec, Known, Listed, Row, Source, System, Table};
pub use coordinate::{CoordinateSearch, Optimum, Progress, Start};
pub use provenance::{Input, Provenance, digest};
pub use report::{Cell, Outcome, Report, RowReport, TableReport, quoted};
pub use tuning::{FusionTuning, LearnOn, TuneError, TunedFold, TunedFusion, TuningProgress, distinct};
pub use verify::Collection;
