//! Words as people type them: exact names, misspelt titles, singular and plural.
//!
//! Names and misspellings are made from the titles of a home, so that no judgements are needed: a query has one answer. Pairs of
//! singular and plural are searched for in texts of one word, whose language is not detected, and in sentences.

mod misspellings;
mod plurals;

use super::Encoders;
use super::experiment::{ExperimentModels, read_experiment_file};
use super::report::{Cell, Report, RowReport, TableReport};
use super::reranking::RerankSpec;
use super::verification::HomeRequirements;
use anyhow::{Context, ensure};
use lodeseek_engine::{QuerySyntax, Reranker, SearchRequest, Searcher};
use lodeseek_eval::mean;
use lodeseek_index::name_key;
use lodeseek_ranking::DatasetId;
use misspellings::{Misspelling, misspell_titles};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Number of hits in which the dataset of a misspelt title is expected.
const MAX_SPELLING_RANK: usize = 3;

/// An experiment on words as people type them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Name of the file without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Kind of experiment: always `words`.
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
    /// Measurements that are missing yet.
    pub awaits: Option<String>,
    /// Requirements on the home.
    pub home: HomeRequirements,
    /// Ranking of the home.
    pub rerank: RerankSpec,
    /// Number of misspelt queries of each kind.
    pub misspelt: usize,
    /// Seed of the misspellings.
    pub seed: u64,
    /// Pairs of singular and plural: lines of language, singular and plural, tab-separated. Relative to the experiment file.
    pub plurals: PathBuf,
    /// Expected values of the rows, by `TABLE/ROW`.
    #[serde(default)]
    pub expected: BTreeMap<String, Vec<f64>>,
}

/// A name of datasets.
struct NamedItem {
    name: String,
    is_title: bool,
    datasets: BTreeSet<DatasetId>,
}

impl Words {
    /// Reads an experiment file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let (mut experiment, name) = read_experiment_file::<Self>(path)?;
        experiment.rerank.check()?;
        experiment.plurals = path.with_file_name(&experiment.plurals);
        Ok(Self { name, ..experiment })
    }

    /// Returns the identifiers of its tables.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        ["names", "spelling", "plurals"].map(str::to_owned).to_vec()
    }

    /// Measures all tables over a home. `progress` is called with the current step.
    ///
    /// # Errors
    ///
    /// Fails if the home is not the expected one, or if a search fails.
    pub fn reproduce(
        &self,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &dyn Fn(&str),
    ) -> anyhow::Result<Report> {
        let searcher = self.searcher(home, encoders)?;
        self.home
            .verify(&searcher)
            .with_context(|| home.display().to_string())?;
        let items = known_items(&searcher)?;
        progress("names");
        let names = self.names(&searcher, &items)?;
        progress("misspelt titles");
        let spelling = self.spelling(&searcher, &items)?;
        progress("singular and plural");
        let plurals = self.plurals()?;
        Ok(Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: format!("{} names of {} datasets", items.len(), self.home.datasets),
            tables: vec![names, spelling, plurals],
            rankings: Vec::new(),
        })
    }

    fn searcher(&self, home: &Path, encoders: &Encoders<'_>) -> anyhow::Result<Searcher> {
        let mut opened = Vec::new();
        for &granularity in &self.rerank.encoders {
            opened.push(encoders(granularity, None)?);
        }
        let reranker = Reranker::open(home, opened, self.rerank.options())?;
        Ok(Searcher::open(home)?.with_reranker(reranker))
    }

    /// Searches for every title, alternative title and id as typed: success at 1.
    fn names(&self, searcher: &Searcher, items: &[NamedItem]) -> anyhow::Result<TableReport> {
        let mut values = [Vec::new(), Vec::new()];
        let mut notes = [Vec::new(), Vec::new()];
        for item in items {
            let found = search(searcher, &item.name, 1)?;
            let is_first = found
                .datasets
                .first()
                .is_some_and(|id| item.datasets.contains(id));
            let kind = usize::from(!item.is_title);
            values[kind].push(f64::from(u8::from(is_first)));
            if !is_first {
                notes[kind].push(item.name.clone());
            }
        }
        let all: Vec<f64> = values.concat();
        let rows = vec![
            self.row(
                "names",
                "titles",
                &[mean(&values[0])],
                note_failures(&notes[0]),
            ),
            self.row(
                "names",
                "alternative titles and ids",
                &[mean(&values[1])],
                note_failures(&notes[1]),
            ),
            self.row("names", "all", &[mean(&all)], None),
        ];
        Ok(build_table(
            "names",
            "Exact names",
            "Every name of a dataset as a query. Share of queries whose first hit has this name.",
            &["first"],
            rows,
        ))
    }

    /// Searches for misspelt titles, and for the titles as written.
    fn spelling(&self, searcher: &Searcher, items: &[NamedItem]) -> anyhow::Result<TableReport> {
        let titles: Vec<&NamedItem> = items.iter().filter(|item| item.is_title).collect();
        let texts: Vec<&str> = titles.iter().map(|item| item.name.as_str()).collect();
        let mut rows = Vec::new();
        for kind in Misspelling::ALL {
            let misspelt = misspell_titles(&texts, kind, self.misspelt, self.seed, &|word| {
                Ok(searcher.catalog().written_frequency(word)? > 0)
            })?;
            let (mut found, mut missed) = (Vec::new(), Vec::new());
            for (place, query) in &misspelt {
                let datasets = &titles[*place].datasets;
                let hits = search(searcher, query, MAX_SPELLING_RANK)?;
                let is_found = hits.datasets.iter().any(|id| datasets.contains(id));
                found.push(f64::from(u8::from(is_found)));
                if !is_found {
                    missed.push(format!("{query} ({})", titles[*place].name));
                }
            }
            rows.push(self.row(
                "spelling",
                kind.name(),
                &[mean(&found)],
                note_failures(&missed),
            ));
        }
        let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
        for item in &titles {
            let hits = search(searcher, &item.name, 1)?;
            unchanged.push(f64::from(u8::from(hits.corrected.is_none())));
            changed.extend(hits.corrected);
        }
        let name = "titles as written, not corrected";
        rows.push(self.row(
            "spelling",
            name,
            &[mean(&unchanged)],
            note_failures(&changed),
        ));
        Ok(build_table(
            "spelling",
            "Misspelt titles",
            "Titles with generated errors: one edit in words of at most seven letters, two in longer ones; a word that the collection \
             contains is drawn again. Share of queries whose dataset is among the first three.",
            &["in three"],
            rows,
        ))
    }

    fn plurals(&self) -> anyhow::Result<TableReport> {
        let mut rows = Vec::new();
        for (language, pairs) in plurals::read_pairs(&self.plurals)? {
            for (kind, measured) in plurals::measure(&language, &pairs)? {
                rows.push(self.row("plurals", &format!("{language}, {kind}"), &measured, None));
            }
        }
        Ok(build_table(
            "plurals",
            "Singular and plural",
            "Pairs in which one form finds a text with the other, in both directions: titles of this word only, and sentences. False \
             friends: other words of the list that a word finds, on average.",
            &["titles", "sentences", "false friends"],
            rows,
        ))
    }

    fn row(&self, table: &str, name: &str, measured: &[f64], note: Option<String>) -> RowReport {
        let expected = self.expected.get(&format!("{table}/{name}"));
        let mut cells = Vec::new();
        for (place, value) in measured.iter().enumerate() {
            let expected = expected.and_then(|list| list.get(place)).copied();
            cells.push(Cell::with_optional_expectation(expected, *value));
        }
        RowReport {
            name: name.to_owned(),
            fused: false,
            cells,
            note,
            by_topic: Vec::new(),
            against: Vec::new(),
            decisions: Vec::new(),
        }
    }
}

fn build_table(
    id: &str,
    title: &str,
    source: &str,
    measures: &[&str],
    rows: Vec<RowReport>,
) -> TableReport {
    TableReport {
        id: id.to_owned(),
        title: title.to_owned(),
        source: source.to_owned(),
        average: None,
        measures: measures.iter().map(|name| (*name).to_owned()).collect(),
        rows,
    }
}

/// Returns a remark with the first failures.
fn note_failures(failures: &[String]) -> Option<String> {
    const MAX_LISTED: usize = 8;
    if failures.is_empty() {
        return None;
    }
    let listed: Vec<&str> = failures
        .iter()
        .take(MAX_LISTED)
        .map(String::as_str)
        .collect();
    Some(format!("{} missed: {}", failures.len(), listed.join("; ")))
}

/// The result of a search.
struct Found {
    datasets: Vec<DatasetId>,
    corrected: Option<String>,
}

fn search(searcher: &Searcher, query: &str, depth: usize) -> anyhow::Result<Found> {
    let response = searcher.search(&SearchRequest {
        syntax: QuerySyntax::Interpreted,
        depth,
        ..SearchRequest::new(query)
    })?;
    Ok(Found {
        datasets: response
            .hits
            .iter()
            .map(|hit| hit.card.metadata.id.clone())
            .collect(),
        corrected: response.corrected,
    })
}

/// Returns the distinct names of all datasets, titles first.
fn known_items(searcher: &Searcher) -> anyhow::Result<Vec<NamedItem>> {
    let mut by_key: BTreeMap<String, NamedItem> = BTreeMap::new();
    for id in searcher.catalog().ids()? {
        let card = searcher
            .catalog()
            .card(&id)?
            .with_context(|| format!("{id} has no card"))?;
        let titles = card.metadata.titles.iter().map(|text| (&text.value, true));
        let others = card
            .metadata
            .alternatives
            .iter()
            .map(|text| (&text.value, false));
        let own = id.to_string();
        for (name, is_title) in titles.chain(others).chain([(&own, false)]) {
            let Some(key) = name_key(name) else { continue };
            let item = by_key.entry(key).or_insert_with(|| NamedItem {
                name: name.clone(),
                is_title,
                datasets: BTreeSet::new(),
            });
            item.is_title |= is_title;
            item.datasets.insert(id.clone());
        }
    }
    ensure!(!by_key.is_empty(), "the home has no names");
    Ok(by_key.into_values().collect())
}
