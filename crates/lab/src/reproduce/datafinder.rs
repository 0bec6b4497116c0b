//! The DataFinder task: datasets for a research idea, ranked by the systems of the paper and of this program.
//!
//! V. Viswanathan et al.: *DataFinder: Scientific Dataset Recommendation from Natural Language Descriptions*, ACL 2023.
//! An experiment file names the topics, the collection, the papers that serve as labelled examples, and
//! [systems](SystemSpec). Every system ranks all topics as sentences and as keyphrases, with and without the filter by
//! year.
//!
//! Three things differ from the paper's scripts, which have errors:
//!
//! - neighbours are weighted by similarity, not by distance;
//! - the year filter precedes the cut-off;
//! - resampling of topics keeps multiplicities; deviations by the published way are shown beside.

mod collection;
mod examples;
mod systems;
mod tables;
mod vectors;

use super::Encoders;
use super::experiment::{ExperimentModels, describe_needed_data, read_experiment_file};
use super::report::Report;
use anyhow::{Context, ensure};
use collection::Collection;
use lodeseek_eval::{Measure, Metric, QueryForm, QueryPart};
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::Ranking;
use lodeseek_rerank::Method;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use systems::ExperimentContext;
use tables::{OVERVIEW, PRINTED};

/// A DataFinder experiment. All paths are relative to the data folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFinder {
    /// Name of the file without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Kind of experiment: always `datafinder`.
    pub task: String,
    /// Title in a few words.
    pub title: String,
    /// Description in a few sentences.
    pub about: String,
    /// Shell command that runs the experiment.
    pub command: String,
    /// Source of the data.
    pub get: String,
    /// Models whose scores are expected. If absent, those of the index.
    #[serde(default)]
    pub models: ExperimentModels,
    /// Source of the published scores.
    pub source: String,
    /// Measures, one a column (default: P@5, R@5, AP@5 and RR@5). The paper keeps five datasets of a topic, so that its MAP
    /// and MRR are AP@5 and RR@5. One measure is average precision: the overview and the ablations show the first such one.
    #[serde(default = "default_measures", deserialize_with = "metrics_by_name")]
    pub measures: Vec<Metric>,
    /// Data files and the counts that are verified.
    pub collection: CollectionSpec,
    /// The paper's tables, compared with systems.
    pub printed: Option<PrintedTables>,
    /// Systems in the order of their rows.
    pub systems: Vec<SystemSpec>,
    /// Ablations: tables of queries that lack one part.
    #[serde(default)]
    pub concealed: Vec<AblationSpec>,
}

/// Rows that the paper prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedTables {
    /// Reason why scores here differ from the print. Without it, a difference is a failure.
    pub reason: Option<String>,
    /// Rows in the order of the paper.
    pub rows: Vec<PrintedRow>,
}

/// Row of a table of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedRow {
    /// Number of the table.
    pub table: u8,
    /// Name of the row.
    pub name: String,
    /// System that corresponds to it. If absent, nothing is measured for the row, and it needs a `reason`.
    pub system: Option<String>,
    /// Difference of the system from that of the paper, or why there is no system.
    pub reason: Option<String>,
    /// Printed scores of topics as sentences, in the order of the measures, as shares of 1.
    #[serde(default)]
    pub sentences: Vec<f64>,
    /// Printed scores of topics as keyphrases.
    #[serde(default)]
    pub keyphrases: Vec<f64>,
}

impl PrintedRow {
    /// Returns the printed scores by form of the topics.
    fn scores(&self) -> impl Iterator<Item = (QueryForm, &[f64])> {
        let both = [
            (QueryForm::Sentences, &self.sentences[..]),
            (QueryForm::Keyphrases, &self.keyphrases[..]),
        ];
        both.into_iter().filter(|(_, scores)| !scores.is_empty())
    }
}

fn default_measures() -> Vec<Metric> {
    ["P@5", "R@5", "AP@5", "RR@5"]
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect()
}

fn metrics_by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Metric>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names
        .iter()
        .map(|name| name.parse().map_err(de::Error::custom))
        .collect()
}

/// Data files and their required counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectionSpec {
    /// Topics: [`ResearchTopic`](lodeseek_eval::ResearchTopic)s.
    pub topics: PathBuf,
    /// Judgements.
    pub qrels: PathBuf,
    /// Catalogue of datasets.
    pub catalog: PathBuf,
    /// Papers that name datasets of the catalogue.
    pub examples: PathBuf,
    /// Number of judged topics.
    pub judged: usize,
    /// Number of judgements.
    pub judgements: usize,
    /// Number of datasets.
    pub datasets: usize,
    /// SHA-256 digests of the files.
    #[serde(default)]
    pub sha256: BTreeMap<PathBuf, String>,
}

/// A system and its expected scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemSpec {
    /// Name of the system and of its row.
    pub name: String,
    /// Description, if the name is not sufficient.
    pub note: Option<String>,
    /// Ranking method.
    pub ranks: SystemKind,
    /// Expected scores by table, in the order of the measures.
    #[serde(default)]
    pub expected: BTreeMap<String, Vec<f64>>,
    /// Systems that this system is compared with in significance tests.
    #[serde(default)]
    pub against: Vec<String>,
}

/// Ranking method of a system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SystemKind {
    /// BM25 over one text for each dataset.
    Bm25 {
        /// Content of the text.
        text: TextForm,
        /// BM25's k₁: saturation of term frequency.
        k1: f64,
        /// BM25's b: length normalization, in [0, 1].
        b: f64,
    },
    /// BM25 over one text for each dataset, with k₁ and b learned by five-fold cross-validation.
    TunedBm25 {
        /// Content of the text.
        text: TextForm,
    },
    /// One vector for each dataset, compared with the query's vector.
    Dense {
        /// Content of the encoded text.
        text: TextForm,
        /// Folder of the encoder among trained models. If absent, the encoder of the command line.
        trained: Option<PathBuf>,
    },
    /// The datasets of the papers nearest to the query.
    Neighbors {
        /// Similarity of papers and queries.
        by: PaperSimilarity,
        /// Number of nearest papers.
        k: usize,
        /// If true, papers newer than the query count too.
        later: bool,
        /// Encoder, as for [`Dense`](Self::Dense).
        trained: Option<PathBuf>,
    },
    /// The home, ranked as `lodeseek search` does.
    Home(HomeSpec),
    /// A fusion of the first hundred results of other systems.
    Fusion {
        /// Names of the systems.
        of: Vec<String>,
        /// Weight of each system.
        weights: Vec<f64>,
        /// Method of normalization and fusion.
        #[serde(deserialize_with = "by_name")]
        method: Method,
    },
    /// Another system with a popularity prior. Popularity includes information published after the query (leakage).
    Prior {
        /// Name of the system.
        on: String,
        /// Weight of ln(1 + n). n is the number of papers known to use the dataset; if unknown, its number of names.
        weight: f64,
    },
}

/// Options of the home's own search.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeSpec {
    /// Models whose best results are candidates, as for `--pool`.
    pub pool: Vec<lodeseek_index::sparse::ModelKind>,
    /// Number of candidates of each model.
    pub depth: usize,
    /// Number of candidates by vectors.
    #[serde(default)]
    pub dense: usize,
    /// Number of nearest works whose datasets are candidates, as for `--works`.
    #[serde(default)]
    pub works: usize,
    /// Number of works, and their weight, for queries of eight words or more. Default: those of all queries.
    #[serde(default)]
    pub long_queries: Option<(NonZeroUsize, f64)>,
    /// Weights of the fused rankings, as for `--fusion-weights`. Empty: equal weights.
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// Content of a dataset's text: the variants of the paper's Table 3, and further ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextForm {
    /// The description.
    Description,
    /// Also the titles of the papers that introduced the dataset.
    Title,
    /// Also its name and alternative names.
    Names,
    /// Also its tasks, modalities, languages and popularity.
    Structure,
}

/// Similarity of papers and queries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaperSimilarity {
    /// TF-IDF vectors of words that occur in at least two papers.
    TfIdf,
    /// Vectors of the encoder.
    Encoder,
}

/// An ablation: a system ranks queries that lack one part after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblationSpec {
    /// Name of the system.
    pub system: String,
    /// Form of the topics.
    pub form: QueryForm,
    /// Expected average precision with and without a part, by part.
    #[serde(default)]
    pub expected: BTreeMap<String, [f64; 2]>,
}

impl AblationSpec {
    /// Returns the name of its table.
    fn id(&self) -> String {
        format!("concealed-{}", self.form)
    }
}

fn by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(de::Error::custom)
}

/// Filter of results by year.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum YearFilter {
    /// Exclude datasets known to be newer than the query's paper.
    Known,
    /// No filter.
    All,
}

/// A table: the topics in one form, under one filter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct View {
    form: QueryForm,
    years: YearFilter,
}

impl View {
    const ALL: [Self; 4] = [
        Self {
            form: QueryForm::Sentences,
            years: YearFilter::Known,
        },
        Self {
            form: QueryForm::Keyphrases,
            years: YearFilter::Known,
        },
        Self {
            form: QueryForm::Sentences,
            years: YearFilter::All,
        },
        Self {
            form: QueryForm::Keyphrases,
            years: YearFilter::All,
        },
    ];

    /// Returns the name of the table.
    fn id(self) -> String {
        match self.years {
            YearFilter::Known => self.form.to_string(),
            YearFilter::All => format!("{}-all-years", self.form),
        }
    }
}

/// Rankings, one for each topic, in the order of the topics.
type Rankings = Vec<Ranking>;

/// Progress of an experiment: a text that names the current step.
pub type DataFinderProgress<'p> = dyn Fn(&str) + Sync + 'p;

impl DataFinder {
    /// Reads an experiment file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed, or if its systems are inconsistent.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let (mut experiment, name) = read_experiment_file::<Self>(path)?;
        experiment.name = name;
        experiment
            .check()
            .with_context(|| path.display().to_string())?;
        Ok(experiment)
    }

    /// Returns the position of average precision among the measures.
    fn precision_position(&self) -> usize {
        self.measures
            .iter()
            .position(is_average_precision)
            .unwrap_or_default()
    }

    /// Returns the first measure that is average precision.
    fn precision(&self) -> Metric {
        self.measures[self.precision_position()]
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.measures.iter().any(is_average_precision),
            "`measures` needs AP or AP@k"
        );
        for (place, system) in self.systems.iter().enumerate() {
            let required: Vec<&String> = match &system.ranks {
                SystemKind::Fusion { of, weights, .. } => {
                    ensure!(
                        of.len() == weights.len(),
                        "{}: {} weights for {}",
                        system.name,
                        weights.len(),
                        of.len()
                    );
                    of.iter().collect()
                }
                SystemKind::Prior { on, .. } => vec![on],
                _ => Vec::new(),
            };
            // Only earlier systems may be named, which excludes cycles.
            for name in required.into_iter().chain(&system.against) {
                ensure!(
                    has_system(&self.systems[..place], name),
                    "{}: no system {name} before it; move it up or correct the name",
                    system.name
                );
            }
            ensure!(
                !has_system(&self.systems[..place], &system.name),
                "two systems called {}: names must be unique",
                system.name
            );
        }
        self.check_scores()?;
        for concealed in &self.concealed {
            ensure!(
                has_system(&self.systems, &concealed.system),
                "there is no system {}",
                concealed.system
            );
        }
        Ok(())
    }

    /// Checks that every list of expected scores belongs to a table and has its length. Otherwise these scores would be
    /// compared with nothing.
    fn check_scores(&self) -> anyhow::Result<()> {
        for SystemSpec { name, expected, .. } in &self.systems {
            for view in expected.keys() {
                ensure!(
                    View::ALL.iter().any(|known| known.id() == *view),
                    "{name}: there is no table {view}"
                );
            }
            for scores in expected.values() {
                self.check_length(name, scores)?;
            }
        }
        for row in self.printed.iter().flat_map(|printed| &printed.rows) {
            ensure!(
                row.system
                    .as_ref()
                    .is_none_or(|name| has_system(&self.systems, name)),
                "printed row {}: no such system",
                row.name
            );
            ensure!(
                row.system.is_some() || row.reason.is_some(),
                "printed row {}: a system or a reason",
                row.name
            );
            for (_, scores) in row.scores() {
                self.check_length(&row.name, scores)?;
            }
        }
        for part in self
            .concealed
            .iter()
            .flat_map(|concealed| concealed.expected.keys())
        {
            ensure!(
                QueryPart::ALL
                    .into_iter()
                    .any(|known| part_name(known) == *part),
                "there is no part {part}"
            );
        }
        Ok(())
    }

    fn check_length(&self, name: &str, scores: &[f64]) -> anyhow::Result<()> {
        let (found, expected) = (scores.len(), self.measures.len());
        ensure!(
            found == expected,
            "{name}: {found} scores of a table instead of {expected}"
        );
        Ok(())
    }

    /// Returns the names of its tables.
    pub(super) fn tables(&self) -> Vec<String> {
        let concealed = self.concealed.iter().map(|concealed| concealed.id());
        let printed = self.printed.as_ref().map(|_| PRINTED.to_owned());
        [OVERVIEW.to_owned()]
            .into_iter()
            .chain(printed)
            .chain(View::ALL.map(View::id))
            .chain(concealed)
            .collect()
    }

    /// Verifies the collection, then computes every table. `progress` receives the name of each step.
    ///
    /// # Errors
    ///
    /// Fails if data are missing or differ from the expected counts and digests, or if a system cannot rank.
    pub fn reproduce(
        &self,
        data: &Path,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &DataFinderProgress<'_>,
    ) -> anyhow::Result<Report> {
        let collection = Collection::read(&self.collection, data)
            .with_context(|| describe_needed_data(&self.name, data, &self.get))?;
        let mut context = ExperimentContext::new(self, &collection, home, encoders, progress)?;
        let mut tables = Vec::new();
        for view in View::ALL {
            tables.push(context.table(view)?);
        }
        let overview = context.overview(&tables);
        let printed = self
            .printed
            .as_ref()
            .map(|printed| context.paper_tables(printed, &tables));
        tables.splice(0..0, [overview].into_iter().chain(printed));
        for concealed in &self.concealed {
            tables.push(context.ablation(concealed)?);
        }
        Ok(Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: collection.sentence(),
            tables,
            rankings: Vec::new(),
        })
    }
}

fn is_average_precision(metric: &Metric) -> bool {
    matches!(metric.measure(), Measure::AveragePrecision(_))
}

fn has_system(systems: &[SystemSpec], name: &str) -> bool {
    systems.iter().any(|system| system.name == name)
}

/// Pairs a dataset with a score.
fn with_score(id: &DatasetId, score: f64) -> lodeseek_ranking::Scored {
    lodeseek_ranking::Scored {
        id: id.clone(),
        score,
    }
}

/// Returns the name of a part as tables show it.
fn part_name(part: QueryPart) -> String {
    part.name().replace('_', " ")
}
