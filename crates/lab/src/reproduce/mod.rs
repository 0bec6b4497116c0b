//! Experiments with expected scores: published tables and own measurements, recomputed and compared.
//!
//! An experiment is a TOML file ([`Experiment`]). A [`Condition`] names runs or rankers, a collection, and expected
//! scores. [`Condition::reproduce`] verifies the collection, computes the scores and returns a [`Report`].
//! [`CoordinateSearch`](lodeseek_eval::CoordinateSearch) optimises weights. [`WeightTuning`] learns field weights with it, and [`FusionTuning`] fusions of
//! runs, both by cross-validation: test topics influence no choice.
//!
//! | part | reproduces | experiment files |
//! |---|---|---|
//! | [`Condition`] with [`RankingSource::Run`] | ACORDAR (Lin et al., SIGIR 2022): the table of its README and its twelve baseline runs. DR2 (Chen et al., ISWC 2023): Tables 1 to 3. The 29 runs of CDS and ODS. All from published runs | `acordar-published`, `dr2` |
//! | [`RankingSource::MeanOf`], [`Row::significant`], [`PrintedRankings`] | DR2: Tables 4 and 5, the significance of Table 1, the case of Table 6 | `dr2` |
//! | [`RankingSource::QuestionRun`] | ACORDAR 2.0: questions in place of keywords | `acordar2-published` |
//! | [`RankingSource::Model`], [`WeightTuning`] | ACORDAR: TF-IDF, BM25, LMD and FSDM with field weights tuned by five folds | `acordar-sparse`, `lod-dev`, `lod-dev-multilingual` |
//! | [`RankingSource::Rerank`] | DR2: re-ranking by DPR and ColBERT, untrained and trained; candidates of a home or of a run | `lod-dev-vectors`, `lod-dev-trained`, `lod-dev-patterns`, `lod-dev-languages` |
//! | [`RankingSource::Fusion`], [`FusionTuning`] | no paper: fusions of all published runs | `acordar-fusion` |
//! | [`RankingSource::Run`], [`ExplanationTable`] | DSEBench (Shi et al. 2025): retrieval, re-ranking and explanation, from published runs and indicators; fusions of the runs | `dsebench-published` |
//! | [`DataFinder`] | DataFinder (Viswanathan et al., ACL 2023): its systems, Table 3 (content of texts, [`TextForm`]) and Table 4 (trained bi-encoder) | `datafinder`, `datafinder-trained` |
//! | [`Matches`] | no paper: the model of good and weak matches | `matches` |
//! | [`Words`] | no paper: exact names, misspelt titles, singular and plural | `words` |
//! | [`Iclr`] | González-Márquez and Kobak 2024: k-NN accuracy of vectors and of two-dimensional maps | `iclr` |

mod condition;
mod datafinder;
mod dsebench;
mod experiment;
mod field_weights;
mod folds;
mod iclr;
mod matches;
mod report;
mod reranking;
mod tuning;
mod verification;
mod words;

pub use condition::{
    Average, Condition, ConditionProgress, Erratum, FusionSpec, ModelSpec, PrintedRanking,
    PrintedRankings, RankErratum, RankingSource, Row, ScoreFile, System, Table, WeightSource,
};
pub use datafinder::{
    AblationSpec, CollectionSpec, DataFinder, DataFinderProgress, PaperSimilarity, SystemKind,
    SystemSpec, TextForm,
};
pub use dsebench::{ExplanationRow, ExplanationTable};
pub use experiment::{Experiment, ExperimentModels};
pub use field_weights::{FieldPools, TunedWeights, WeightProgress, WeightTuning};
pub use folds::FoldSource;
pub use iclr::{Iclr, IclrInput, IclrProgress, KeywordLabels, Paper, PaperMap, Vectors};
pub use matches::{MarkedRanking, Matches};
pub use report::{
    Cell, Decision, Outcome, RankCell, RankingColumn, RankingReport, Report, RowComparison,
    RowReport, Spread, TableReport, marked_sections,
};
pub use reranking::{Encoders, RerankSpec};
pub use tuning::{
    FusionTuning, LearnOn, ParseLearnOnError, TuneError, TunedFold, TunedFusion, TuningProgress,
    find_first_equal_runs,
};
pub use verification::{Collection, HomeRequirements, QuestionFile};
pub use words::Words;
