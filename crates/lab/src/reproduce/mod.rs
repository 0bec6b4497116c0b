//! Experiments: weights learned by folds, and published or measured numbers held against what the program computes.
//!
//! A [`Condition`] is a file that names runs, the collection they answer, and the scores expected of them;
//! [`Condition::reproduce`] verifies the collection, computes the scores and gives a [`Report`]. [`CoordinateSearch`] finds
//! weights; [`FusionTuning`] learns with it how to fuse runs, fold by fold, without a look at the topics it reports on.
//! [`Iclr`] is an experiment of another kind: vectors of papers, judged by their neighbours' labels.

mod condition;
mod coordinate;
mod datafinder;
mod experiment;
mod field_weights;
mod folds;
mod iclr;
mod report;
mod reranked;
mod tuning;
mod verify;

pub use condition::{
    Average, Condition, ConditionProgress, FusionSpec, Known, Listed, ModelSpec, Row, Source, System, Table,
    WeightSource,
};
pub use coordinate::{CoordinateSearch, Optimum, Progress, Start};
pub use datafinder::{
    CollectionSpec, ConcealedSpec, DataFinder, DataFinderProgress, Nearness, SystemKind, SystemSpec, TextForm,
};
pub use experiment::Experiment;
pub use field_weights::{FieldPools, TunedWeights, WeightProgress, WeightTuning};
pub use folds::FoldSource;
pub use iclr::{Iclr, IclrInput, IclrProgress, KeywordLabels, Paper, PaperMap, Vectors};
pub use report::{Against, Cell, Outcome, Report, RowReport, Spread, TableReport, quoted};
pub use reranked::{Encoders, RerankSpec};
pub use tuning::{
    FusionTuning, LearnOn, ParseLearnOnError, TuneError, TunedFold, TunedFusion, TuningProgress, distinct,
};
pub use verify::{Collection, HomeFacts};
