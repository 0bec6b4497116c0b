//! DataFinder: datasets for a research idea, by all systems of the paper and ours, in both forms of its topics.
//!
//! V. Viswanathan et al.: *DataFinder: Scientific Dataset Recommendation from Natural Language Descriptions*, ACL 2023. An
//! experiment is a file that names the topics, the collection, the papers that serve as labelled examples, and
//! [systems](SystemSpec); every system ranks all topics as sentences and as keyphrases, with and without the filter by year.
//! Three things are done otherwise than in the paper's scripts, which rank wrongly:
//! neighbours count by nearness, not by distance; the filter comes before the cut; resampling keeps multiplicity, with the
//! published way beside it.

mod collection;
mod examples;
mod systems;
mod tables;
mod vectors;

use super::Encoders;
use super::report::Report;
use anyhow::{Context, ensure};
use collection::Collection;
use lodeseek_eval::{QueryForm, QueryPart};
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::Ranking;
use lodeseek_rerank::Method;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use systems::Laboratory;
use tables::OVERVIEW;

/// An experiment. All paths are relative to the data folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFinder {
    /// The name of its file, without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// `datafinder`: what kind of experiment this is.
    pub task: String,
    /// In a few words.
    pub title: String,
    /// In a few sentences.
    pub about: String,
    /// What to type.
    pub command: String,
    /// How to get the data.
    pub get: String,
    /// Where published scores come from.
    pub source: String,
    /// The data, and what must be true of them.
    pub collection: CollectionSpec,
    /// The systems, in the order of their rows.
    pub systems: Vec<SystemSpec>,
    /// What happens when a part of the query is not said.
    pub concealed: Vec<ConcealedSpec>,
}

/// The files, and their counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectionSpec {
    /// The topics: [`ResearchTopic`](lodeseek_eval::ResearchTopic)s.
    pub topics: PathBuf,
    /// Their judgements.
    pub qrels: PathBuf,
    /// The catalogue of datasets.
    pub catalog: PathBuf,
    /// Papers that name datasets of the catalogue.
    pub examples: PathBuf,
    /// Judged topics.
    pub judged: usize,
    /// Judgements.
    pub judgements: usize,
    /// Datasets.
    pub datasets: usize,
    /// Of the files.
    #[serde(default)]
    pub sha256: BTreeMap<PathBuf, String>,
}

/// A system and the scores expected of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemSpec {
    /// Its name: the row's.
    pub name: String,
    /// What it is, where the name does not say all.
    pub note: Option<String>,
    /// What ranks.
    pub ranks: SystemKind,
    /// By form, the paper's scores, in the order of the measures; 0 stands for what it does not say.
    #[serde(default)]
    pub published: BTreeMap<QueryForm, Vec<f64>>,
    /// The scores, in the order of the measures, by table.
    #[serde(default)]
    pub expected: BTreeMap<String, Vec<f64>>,
    /// The systems that it is tested against.
    #[serde(default)]
    pub against: Vec<String>,
}

/// What ranks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SystemKind {
    /// BM25 over one text a dataset.
    Bm25 {
        /// What the text holds.
        text: TextForm,
        /// How soon repetition stops to count.
        k1: f64,
        /// How much length counts.
        b: f64,
    },
    /// BM25 over one text a dataset, k₁ and b learned by five folds of the topics.
    TunedBm25 {
        /// What the text holds.
        text: TextForm,
    },
    /// One vector a dataset, compared with the query's.
    Dense {
        /// What the encoded text holds.
        text: TextForm,
        /// The encoder's folder among trained models; without, the one that the command line names.
        trained: Option<PathBuf>,
    },
    /// The datasets of the papers nearest to the query.
    Neighbors {
        /// What tells how near.
        by: Nearness,
        /// How many papers.
        k: usize,
        /// Whether papers count that are later than the query's own.
        later: bool,
        /// As of [`Dense`](Self::Dense).
        trained: Option<PathBuf>,
    },
    /// The home, as `search` ranks it.
    Home {
        /// The models whose best are candidates, as `--pool`.
        pool: Vec<lodeseek_index::sparse::ModelKind>,
        /// Candidates of each.
        depth: usize,
        /// Candidates by vectors.
        #[serde(default)]
        dense: usize,
        /// What each ranking counts when they are fused, as `--fusion-weights`; none for equal ones.
        #[serde(default)]
        weights: Vec<f64>,
    },
    /// Several of these, fused: of each the first hundred.
    Fusion {
        /// Their names.
        of: Vec<String>,
        /// What each counts.
        weights: Vec<f64>,
        /// How scores are made comparable and added.
        #[serde(deserialize_with = "by_name")]
        method: Method,
    },
    /// One of these, with something added for popularity, which is known only later than the query.
    Prior {
        /// Its name.
        on: String,
        /// What ln(1 + n) counts, n the papers known to use the dataset or, where nobody counted, its names.
        weight: f64,
    },
}

/// What a dataset's text holds: the paper's Table 3, and what there is beside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextForm {
    /// Its description.
    Description,
    /// Also the titles of the papers that introduced it.
    Title,
    /// Also its name and other names.
    Names,
    /// Also its tasks, modalities and languages, and how popular it is.
    Structure,
}

/// What tells how near a paper is to a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nearness {
    /// TF-IDF vectors of words that at least two papers have.
    TfIdf,
    /// The encoder's vectors.
    Encoder,
}

/// A system whose queries do not say one part after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConcealedSpec {
    /// The name of the system.
    pub system: String,
    /// The form of the topics.
    pub form: QueryForm,
    /// By part, the scores expected: average precision with it, and without.
    #[serde(default)]
    pub expected: BTreeMap<String, [f64; 2]>,
}

impl ConcealedSpec {
    /// The name of its table.
    fn id(&self) -> String {
        format!("concealed-{}", self.form)
    }
}

fn by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// Which datasets may be answered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Years {
    /// Those known to be later than the query's year are left out.
    Known,
    /// All.
    All,
}

/// The topics in a form, under a filter: a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct View {
    form: QueryForm,
    years: Years,
}

impl View {
    const ALL: [Self; 4] = [
        Self { form: QueryForm::Sentences, years: Years::Known },
        Self { form: QueryForm::Keyphrases, years: Years::Known },
        Self { form: QueryForm::Sentences, years: Years::All },
        Self { form: QueryForm::Keyphrases, years: Years::All },
    ];

    /// The name of the table.
    fn id(self) -> String {
        match self.years {
            Years::Known => self.form.to_string(),
            Years::All => format!("{}-all-years", self.form),
        }
    }
}

/// Rankings, one a topic, in the order of the topics.
type Rankings = Vec<Ranking>;

/// How far an experiment is: in words.
pub type DataFinderProgress<'p> = dyn Fn(&str) + Sync + 'p;

impl DataFinder {
    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("no condition at {}", path.display()))?;
        let mut experiment: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        experiment.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        experiment.check().with_context(|| path.display().to_string())?;
        Ok(experiment)
    }

    fn check(&self) -> anyhow::Result<()> {
        for (place, system) in self.systems.iter().enumerate() {
            let before = |name: &String| self.systems[..place].iter().any(|other| other.name == *name);
            let wanted: Vec<&String> = match &system.ranks {
                SystemKind::Fusion { of, weights, .. } => {
                    ensure!(of.len() == weights.len(), "{}: {} weights for {}", system.name, weights.len(), of.len());
                    of.iter().collect()
                }
                SystemKind::Prior { on, .. } => vec![on],
                _ => Vec::new(),
            };
            for name in wanted.into_iter().chain(&system.against) {
                ensure!(before(name), "{}: no system {name} before it", system.name);
            }
            ensure!(!before(&system.name), "two systems called {}", system.name);
        }
        self.check_scores()?;
        for concealed in &self.concealed {
            let known = self.systems.iter().any(|system| system.name == concealed.system);
            ensure!(known, "there is no system {}", concealed.system);
        }
        Ok(())
    }

    /// A score under a name that no table has, or too few of them, would be compared with nothing.
    fn check_scores(&self) -> anyhow::Result<()> {
        for SystemSpec { name, expected, published, .. } in &self.systems {
            for view in expected.keys() {
                ensure!(View::ALL.iter().any(|known| known.id() == *view), "{name}: there is no table {view}");
            }
            for scores in expected.values().chain(published.values()) {
                ensure!(scores.len() == tables::MEASURES.len(), "{name}: {} scores of a table", scores.len());
            }
        }
        for part in self.concealed.iter().flat_map(|concealed| concealed.expected.keys()) {
            ensure!(QueryPart::ALL.into_iter().any(|known| part_name(known) == *part), "there is no part {part}");
        }
        Ok(())
    }

    /// The names of its tables.
    pub(super) fn tables(&self) -> Vec<String> {
        let concealed = self.concealed.iter().map(|concealed| concealed.id());
        [OVERVIEW.to_owned()].into_iter().chain(View::ALL.map(View::id)).chain(concealed).collect()
    }

    /// Verifies the collection, then computes every table. The hook hears what is being done.
    pub fn reproduce(
        &self,
        data: &Path,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &DataFinderProgress<'_>,
    ) -> anyhow::Result<Report> {
        let advice = || format!("{} needs its data under {} ({})", self.name, data.display(), self.get.trim());
        let collection = Collection::read(&self.collection, data).with_context(advice)?;
        let mut laboratory = Laboratory::new(self, &collection, home, encoders, progress)?;
        let mut tables = Vec::new();
        for view in View::ALL {
            tables.push(laboratory.table(view)?);
        }
        tables.insert(0, laboratory.overview(&tables));
        for concealed in &self.concealed {
            tables.push(laboratory.concealed(concealed)?);
        }
        Ok(Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: collection.sentence(),
            tables,
        })
    }
}

/// A dataset and a score.
fn scored(id: &DatasetId, score: f64) -> lodeseek_ranking::Scored {
    lodeseek_ranking::Scored { id: id.clone(), score }
}

/// The parts in the order of the table, by the names that people read.
fn part_name(part: QueryPart) -> String {
    part.name().replace('_', " ")
}
