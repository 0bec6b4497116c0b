//! The DataFinder collection: topics, judgements, datasets, and papers that name datasets.

use super::examples::Example;
use super::{CollectionSpec, TextForm};
use anyhow::ensure;
use lodeseek_catalog::{Catalog, DatasetId, Metadata, Scheme, Text};
use lodeseek_eval::digest;
use lodeseek_eval::{Qrels, ResearchTopic, match_judgements};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The verified collection.
pub(super) struct Collection {
    pub(super) topics: Vec<ResearchTopic>,
    pub(super) qrels: Qrels,
    pub(super) datasets: Vec<Dataset>,
    pub(super) examples: Vec<Example>,
    places: FxHashMap<DatasetId, usize>,
    judgements: usize,
}

/// A dataset of the collection.
pub(super) struct Dataset {
    pub(super) metadata: Metadata,
    pub(super) year: Option<i32>,
}

impl Collection {
    pub(super) fn read(spec: &CollectionSpec, data: &Path) -> anyhow::Result<Self> {
        for path in [&spec.topics, &spec.qrels, &spec.catalog, &spec.examples] {
            ensure!(
                data.join(path).exists(),
                "{} is missing",
                data.join(path).display()
            );
        }
        for (path, expected) in &spec.sha256 {
            let found = digest(&data.join(path))?;
            ensure!(
                found == *expected,
                "{} is not the one expected: its SHA-256 is {found}, not {expected}",
                path.display()
            );
        }
        let topics = ResearchTopic::read(&data.join(&spec.topics))?;
        let (topics, qrels) = match_judgements(topics, &Qrels::read(&data.join(&spec.qrels))?);
        let catalog = Catalog::read(&data.join(&spec.catalog))?;
        ensure!(
            catalog.problems.is_empty(),
            "{}",
            catalog.problems.join("; ")
        );
        let datasets: Vec<Dataset> = catalog
            .datasets
            .into_iter()
            .map(|one| Dataset {
                year: one.metadata.first_year(),
                metadata: one.metadata,
            })
            .collect();
        let places = datasets
            .iter()
            .enumerate()
            .map(|(place, one)| (one.metadata.id.clone(), place))
            .collect();
        let examples = Example::read(&data.join(&spec.examples))?;
        let judgements = topics
            .iter()
            .map(|topic| qrels.judgements(&topic.id).count())
            .sum();
        let collection = Self {
            topics,
            qrels,
            datasets,
            examples,
            places,
            judgements,
        };
        collection.compare(spec)?;
        Ok(collection)
    }

    fn compare(&self, spec: &CollectionSpec) -> anyhow::Result<()> {
        let counts = [
            ("judged topics", self.topics.len(), spec.judged),
            ("judgements", self.judgements, spec.judgements),
            ("datasets", self.datasets.len(), spec.datasets),
        ];
        for (what, found, expected) in counts {
            ensure!(found == expected, "{found} {what} instead of {expected}");
        }
        Ok(())
    }

    /// Returns the position of a dataset.
    pub(super) fn place(&self, id: &DatasetId) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Returns true if a dataset is known to be newer than the paper behind a topic. Unknown years are accepted.
    pub(super) fn is_too_late(&self, id: &DatasetId, topic: &ResearchTopic) -> bool {
        let year = self.place(id).and_then(|place| self.datasets[place].year);
        year.zip(topic.year)
            .is_some_and(|(dataset, topic)| dataset > topic)
    }

    /// Returns the verified counts as a sentence for the report.
    pub(super) fn sentence(&self) -> String {
        let missing = self
            .topics
            .iter()
            .flat_map(|topic| self.qrels.judgements(&topic.id));
        let missing = missing
            .filter(|(id, _)| DatasetId::new(*id).is_ok_and(|id| self.place(&id).is_none()))
            .count();
        let undated = self
            .datasets
            .iter()
            .filter(|dataset| dataset.year.is_none())
            .count();
        let sentences_only = self
            .topics
            .iter()
            .filter(|topic| topic.keyphrases.is_empty())
            .count();
        format!(
            "{} topics, {} judgements ({missing} of datasets that are not in the collection), {} datasets ({undated} without a \
             year), {} papers as examples; topics known by their sentence alone: {sentences_only}",
            self.topics.len(),
            self.judgements,
            self.datasets.len(),
            self.examples.len()
        )
    }
}

impl Dataset {
    /// Returns the dataset's text.
    pub(super) fn text(&self, form: TextForm) -> String {
        let mut parts = Vec::new();
        // Encoders truncate long texts, so the name comes first.
        if form >= TextForm::Names {
            parts.extend(text_values(&self.metadata.titles));
        }
        parts.extend(text_values(&self.metadata.descriptions));
        if form >= TextForm::Title {
            parts.extend(
                self.metadata
                    .introduced_by
                    .iter()
                    .map(|work| work.title.clone()),
            );
        }
        if form >= TextForm::Names {
            parts.extend(text_values(&self.metadata.alternatives));
        }
        if form >= TextForm::Structure {
            parts.push(self.structure());
        }
        parts.join("\n")
    }

    /// Returns tasks, modalities, languages and popularity as sentences.
    fn structure(&self) -> String {
        let mut sentences = Vec::new();
        for (scheme, name) in [
            (Scheme::Task, "Tasks"),
            (Scheme::Modality, "Modalities"),
            (Scheme::Language, "Languages"),
        ] {
            let labels: Vec<&str> = self
                .metadata
                .themes
                .iter()
                .filter(|theme| theme.scheme == scheme)
                .map(|theme| theme.label.as_str())
                .collect();
            if !labels.is_empty() {
                sentences.push(format!("{name}: {}.", labels.join(", ")));
            }
        }
        sentences.push(match self.metadata.uses {
            Some(papers) => format!("Used in {} papers.", popularity_class(papers)),
            None => format!("Known under {} names.", self.names()),
        });
        sentences.join(" ")
    }

    /// Returns the number of names: DataFinder's `variants`, which include the title.
    fn names(&self) -> u64 {
        (self.metadata.alternatives.len() + self.metadata.titles.len()) as u64
    }

    /// Returns the popularity, as `run --popularity` uses it: the number of papers known to use the dataset. If
    /// unknown, its number of names.
    pub(super) fn popularity(&self) -> u64 {
        self.metadata.uses.unwrap_or_else(|| self.names())
    }
}

/// Returns DataFinder's class of popularity, one of five.
fn popularity_class(papers: u64) -> &'static str {
    match papers {
        0..=10 => "few",
        11..=30 => "some",
        31..=60 => "many",
        61..=120 => "very many",
        _ => "most",
    }
}

fn text_values(texts: &[Text]) -> impl Iterator<Item = String> {
    texts.iter().map(|text| text.value.clone())
}
