//! Scores, standard deviations and significance tests of the DataFinder experiment.

use super::systems::{ExperimentContext, Query};
use super::{
    AblationSpec, DataFinder, PrintedRow, PrintedTables, Rankings, SystemSpec, View, YearFilter,
    part_name,
};
use crate::reproduce::condition::{Average, compare_rows};
use crate::reproduce::report::{Cell, RowReport, Spread, TableReport};
use lodeseek_eval::{
    Comparison, Differences, Metric, QueryForm, QueryPart, Resampling, SamplingMethod,
    SignificanceTest, TopicSamples, mean,
};
use std::collections::BTreeMap;

/// Name of the table of average precision alone.
pub(super) const OVERVIEW: &str = "overview";
/// Name of the table of printed scores.
pub(super) const PRINTED: &str = "printed";
/// Number of bootstrap samples, with the seed of the publication.
const BOOTSTRAP: Resampling = Resampling {
    samples: 10_000,
    seed: TopicSamples::PUBLISHED.seed,
};

/// Samples of topics, drawn by the bootstrap and by the published method.
struct ResampledTopics {
    bootstrap: TopicSamples,
    published: TopicSamples,
}

impl ResampledTopics {
    fn new(topics: usize) -> Self {
        Self {
            bootstrap: TopicSamples::new(topics, SamplingMethod::Bootstrap, BOOTSTRAP),
            published: TopicSamples::new(
                topics,
                SamplingMethod::DataFinder,
                TopicSamples::PUBLISHED,
            ),
        }
    }

    fn spread(&self, values: &[f64]) -> Spread {
        Spread {
            bootstrap: self.bootstrap.deviation(values),
            published: self.published.deviation(values),
        }
    }
}

impl ExperimentContext<'_> {
    /// Computes a table of all systems on the topics in one form, with or without the filter.
    pub(super) fn table(&mut self, view: View) -> anyhow::Result<TableReport> {
        let resampled = ResampledTopics::new(self.collection.topics.len());
        let experiment = self.experiment;
        let mut rows = Vec::with_capacity(experiment.systems.len());
        for system in &experiment.systems {
            let rankings = self.view(&system.name, view)?;
            rows.push(self.row(system, view, &rankings, &resampled)?);
        }
        let against = experiment
            .systems
            .iter()
            .map(|system| (system.name.as_str(), &system.against[..]));
        compare_rows(
            &against.collect::<Vec<_>>(),
            &mut rows,
            experiment.measures.len(),
        )?;
        if view.years == YearFilter::Known {
            note_wins(experiment, &mut rows, &resampled);
        }
        let filter = match view.years {
            YearFilter::Known => "datasets known to be later than the query's paper left out",
            YearFilter::All => "datasets of all years",
        };
        let form = match view.form {
            QueryForm::Sentences => "Sentences",
            QueryForm::Keyphrases => "Keyphrases",
        };
        Ok(TableReport {
            id: view.id(),
            title: format!("{form}, {filter}"),
            source: experiment.source.trim().to_owned(),
            average: Some(Average::Micro),
            measures: experiment.measures.iter().map(Metric::to_string).collect(),
            rows,
        })
    }

    /// Builds the table of average precision, with a column for each other table.
    pub(super) fn overview(&self, tables: &[TableReport]) -> TableReport {
        let position = self.experiment.precision_position();
        let precision = self.experiment.precision();
        let mut rows = Vec::with_capacity(self.experiment.systems.len());
        for (place, system) in self.experiment.systems.iter().enumerate() {
            let (mut cells, mut by_topic) = (Vec::new(), Vec::new());
            for table in tables {
                let row = &table.rows[place];
                cells.push(Cell {
                    spread: None,
                    ..row.cells[position].clone()
                });
                by_topic.push(row.by_topic[position].clone());
            }
            rows.push(RowReport {
                name: system.name.clone(),
                fused: false,
                cells,
                note: None,
                by_topic,
                against: Vec::new(),
                decisions: Vec::new(),
            });
        }
        TableReport {
            id: OVERVIEW.to_owned(),
            title: "Average precision of all systems".to_owned(),
            source: "A column for each table below; \"all years\" is without the filter."
                .to_owned(),
            average: Some(Average::Micro),
            measures: View::ALL
                .map(|view| {
                    format!(
                        "{precision}, {}",
                        view.id().replace("-all-years", ", all years")
                    )
                })
                .to_vec(),
            rows,
        }
    }

    /// Builds the table of printed scores. The tables with the paper's filter by year give the measured ones.
    pub(super) fn paper_tables(
        &self,
        printed: &PrintedTables,
        tables: &[TableReport],
    ) -> TableReport {
        let mut rows = Vec::new();
        for row in &printed.rows {
            for (form, scores) in row.scores() {
                let id = View {
                    form,
                    years: YearFilter::Known,
                }
                .id();
                let table = tables.iter().find(|table| table.id == id);
                let measured = table.and_then(|table| {
                    table
                        .rows
                        .iter()
                        .find(|other| Some(&other.name) == row.system.as_ref())
                });
                let is_known = printed.reason.is_some() || row.reason.is_some();
                let mut cells = Vec::with_capacity(scores.len());
                for (column, &score) in scores.iter().enumerate() {
                    let measured = measured.map(|row| row.cells[column].measured);
                    cells.push(Cell::from_print(score, measured, is_known));
                }
                rows.push(RowReport {
                    name: format!("Table {}, {form}: {}", row.table, row.name),
                    fused: false,
                    cells,
                    note: Some(row.remark()),
                    by_topic: Vec::new(),
                    against: Vec::new(),
                    decisions: Vec::new(),
                });
            }
        }
        let reason = match &printed.reason {
            Some(reason) => format!(" Known differences: {reason}."),
            None => String::new(),
        };
        TableReport {
            id: PRINTED.to_owned(),
            title: "The paper's tables".to_owned(),
            source: format!(
                "{} In brackets the print, with three decimals.{reason}",
                self.experiment.source.trim()
            ),
            average: Some(Average::Micro),
            measures: self
                .experiment
                .measures
                .iter()
                .map(Metric::to_string)
                .collect(),
            rows,
        }
    }

    fn row(
        &self,
        system: &SystemSpec,
        view: View,
        rankings: &Rankings,
        resampled: &ResampledTopics,
    ) -> anyhow::Result<RowReport> {
        let queries = self.queries(view.form);
        let expected = system.expected.get(&view.id());
        let (mut cells, mut by_topic) = (Vec::new(), Vec::new());
        for (place, &measure) in self.experiment.measures.iter().enumerate() {
            let values = self.values(rankings, &queries, measure);
            let expected = expected.and_then(|scores| scores.get(place)).copied();
            let cell = Cell::with_optional_expectation(expected, mean(&values));
            cells.push(cell.with_spread(resampled.spread(&values)));
            by_topic.push(self.by_topic(&queries, &values));
        }
        let (name, note) = (
            system.name.clone(),
            system.note.clone().filter(|_| view == View::ALL[0]),
        );
        Ok(RowReport {
            name,
            fused: false,
            cells,
            note,
            by_topic,
            against: Vec::new(),
            decisions: Vec::new(),
        })
    }

    fn by_topic(&self, queries: &[Query], values: &[f64]) -> BTreeMap<String, f64> {
        queries
            .iter()
            .map(|query| self.collection.topics[query.topic].id.clone())
            .zip(values.iter().copied())
            .collect()
    }

    /// Computes an ablation. For each part, only topics whose words include the part are used.
    pub(super) fn ablation(&mut self, spec: &AblationSpec) -> anyhow::Result<TableReport> {
        let mut rows = Vec::new();
        for part in QueryPart::ALL {
            let (whole, without): (Vec<Query>, Vec<Query>) = self
                .queries(spec.form)
                .iter()
                .filter_map(|whole| {
                    let text = self.collection.topics[whole.topic].without_part(part, spec.form)?;
                    Some((whole.clone(), Query { text, ..*whole }))
                })
                .unzip();
            if !whole.is_empty() {
                rows.push(self.concealed_row(spec, part, &[whole, without])?);
            }
        }
        Ok(TableReport {
            id: spec.id(),
            title: format!("{}: what a part of the query is worth, in {}", spec.system, spec.form),
            source:
                "Each row: the topics whose words have such a part, with the words of that part and without them; with \
                     the filter by year."
                    .to_owned(),
            average: Some(Average::Micro),
            measures: ["whole query", "concealed"]
                .map(|which| format!("{}, {which}", self.experiment.precision()))
                .to_vec(),
            rows,
        })
    }

    fn concealed_row(
        &mut self,
        spec: &AblationSpec,
        part: QueryPart,
        [whole, without]: &[Vec<Query>; 2],
    ) -> anyhow::Result<RowReport> {
        let precision = self.experiment.precision();
        let resampled = ResampledTopics::new(whole.len());
        let name = part_name(part);
        let (mut cells, mut by_topic) = (Vec::new(), Vec::new());
        for (place, queries) in [whole, without].into_iter().enumerate() {
            let rankings = self.rank(&spec.system, queries, YearFilter::Known)?;
            let values = self.values(&rankings, queries, precision);
            let expected = spec.expected.get(&name).map(|scores| scores[place]);
            let cell = Cell::with_optional_expectation(expected, mean(&values));
            cells.push(cell.with_spread(resampled.spread(&values)));
            by_topic.push(self.by_topic(queries, &values));
        }
        let lost = by_topic[0]
            .values()
            .zip(by_topic[1].values())
            .map(|(all, concealed)| concealed - all);
        let lost = Differences::new(lost);
        let test = Comparison::new(&lost, SignificanceTest::StudentT);
        let bootstrap = SignificanceTest::Bootstrap(BOOTSTRAP).p(&lost);
        let note = format!(
            "{:+.4} on {} topics, p {:.4} (paired t-test), {bootstrap:.4} (paired bootstrap, as in the paper's Figure 8)",
            test.difference, test.topics, test.p
        );
        let note = Some(note);
        Ok(RowReport {
            name,
            fused: false,
            cells,
            note,
            by_topic,
            against: Vec::new(),
            decisions: Vec::new(),
        })
    }
}

impl PrintedRow {
    /// Returns the system of the row and its difference from the paper's.
    fn remark(&self) -> String {
        let system = match &self.system {
            Some(system) => format!("\"{system}\""),
            None => "no system".to_owned(),
        };
        match &self.reason {
            Some(reason) => format!("{system}; {reason}"),
            None => system,
        }
    }
}

/// Adds the share of topic samples in which a system's average precision exceeds that of the system it is compared
/// with.
fn note_wins(experiment: &DataFinder, rows: &mut [RowReport], resampled: &ResampledTopics) {
    let (position, precision) = (experiment.precision_position(), experiment.precision());
    let values: BTreeMap<String, Vec<f64>> = rows
        .iter()
        .map(|row| {
            (
                row.name.clone(),
                row.by_topic[position].values().copied().collect(),
            )
        })
        .collect();
    for (system, row) in experiment.systems.iter().zip(rows) {
        for other in &system.against {
            let (own, theirs) = (&values[&system.name], &values[other]);
            let note = format!(
                "above {other} by {precision} in {:.1} % of samples of topics, in {:.1} % of samples drawn as the paper draws them",
                100.0 * resampled.bootstrap.win_rate(own, theirs),
                100.0 * resampled.published.win_rate(own, theirs)
            );
            row.note = Some(match &row.note {
                Some(before) => format!("{before}; {note}"),
                None => note,
            });
        }
    }
}
