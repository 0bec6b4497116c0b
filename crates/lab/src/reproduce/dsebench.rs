//! The files of DSEBench (Shi et al. 2025), dataset search by words and an example: judgements, folds, runs and explanations in
//! JSON.
//!
//! A *case* is a query with a target dataset. A dataset has two judgements: its relevance to the query and its similarity to
//! the target, each with the fields that indicate it. The grade of a dataset is the product of the two.

use super::condition::Erratum;
use super::report::{Cell, RowReport, TableReport};
use anyhow::{Context, ensure};
use lodeseek_eval::{Fold, Folds, Qrels, Run, mean};
use lodeseek_ranking::{DatasetId, Ranking, Scored};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Number of fields with indicators: title, description, tags, author and summary.
const FIELD_COUNT: usize = 5;
/// Measures of an explanation, in the order of the columns.
const MEASURES: [&str; 2] = ["query relevance", "target similarity"];

/// Fields that indicate a judgement.
type Indicators = [u8; FIELD_COUNT];

/// A judgement of a dataset for a case.
#[derive(Deserialize)]
struct Judgement {
    case_id: String,
    #[serde(rename = "candidate_dataset_id")]
    dataset: String,
    query_rel: i32,
    target_sim: i32,
    field_query_rel: Indicators,
    field_target_sim: Indicators,
}

/// Fields that a method names for a dataset. Both are optional: a method explains what a system finds relevant or similar.
#[derive(Deserialize)]
struct Explanation {
    query: Option<Indicators>,
    dataset: Option<Indicators>,
}

/// Scores of explanations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplanationTable {
    /// Identifier within the condition, for quoting.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Source of the expected numbers.
    pub source: String,
    /// Rows.
    pub rows: Vec<ExplanationRow>,
    /// Cells whose published number differs from that of the published indicators.
    #[serde(default, rename = "known")]
    pub errata: Vec<Erratum>,
}

/// An explanation method and its expected scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplanationRow {
    /// Name of the row.
    pub name: String,
    /// File of the indicators.
    pub file: PathBuf,
    /// Mean F1 of the fields: those of the relevance to the query, and those of the similarity to the target.
    pub expected: [f64; 2],
}

impl ExplanationTable {
    /// Computes the mean F1 of the fields over the datasets that are relevant, or similar.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, or if an erratum belongs to no cell.
    pub(super) fn reproduce(&self, data: &Path, judgements: &Path) -> anyhow::Result<TableReport> {
        for erratum in &self.errata {
            let is_cell = self.rows.iter().any(|row| row.name == erratum.row)
                && MEASURES.contains(&erratum.measure.as_str());
            ensure!(
                is_cell,
                "{}: no cell {} of {}",
                self.id,
                erratum.measure,
                erratum.row
            );
        }
        let judgements: Vec<Judgement> = read_json(&data.join(judgements))?;
        let mut rows = Vec::new();
        for row in &self.rows {
            let measured = measure_fields(&data.join(&row.file), &judgements)?;
            let mut cells = Vec::new();
            for (place, measured) in measured.into_iter().enumerate() {
                let expected = row.expected[place];
                let erratum = self
                    .errata
                    .iter()
                    .find(|erratum| erratum.row == row.name && erratum.measure == MEASURES[place]);
                cells.push(match erratum {
                    Some(erratum) => Cell::with_erratum(
                        expected,
                        erratum.printed,
                        measured,
                        erratum.reason.clone(),
                    ),
                    None => Cell::new(expected, measured),
                });
            }
            rows.push(RowReport {
                name: row.name.clone(),
                fused: false,
                cells,
                note: None,
                by_topic: Vec::new(),
                against: Vec::new(),
                decisions: Vec::new(),
            });
        }
        Ok(TableReport {
            id: self.id.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            average: None,
            measures: MEASURES.map(str::to_owned).to_vec(),
            rows,
        })
    }
}

/// Returns true if a file is one of DSEBench's, by its name.
pub(super) fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// Reads judgements as grades.
///
/// # Errors
///
/// Fails if the file cannot be read or judges a dataset twice for one case.
pub(super) fn read_qrels(path: &Path) -> anyhow::Result<Qrels> {
    let judgements: Vec<Judgement> = read_json(path)?;
    let mut qrels = Qrels::default();
    for judgement in &judgements {
        let (case, dataset) = (&judgement.case_id, &judgement.dataset);
        ensure!(
            qrels.find_grade(case, dataset).is_none(),
            "{}: dataset {dataset} is judged twice for case {case}",
            path.display()
        );
        qrels.insert(case, dataset, judgement.query_rel * judgement.target_sim);
    }
    Ok(qrels)
}

/// Reads a run: the score of each dataset, by case.
///
/// # Errors
///
/// Fails if the file cannot be read, or if a dataset has no valid identifier.
pub(super) fn read_run(path: &Path) -> anyhow::Result<Run> {
    let cases: BTreeMap<String, BTreeMap<String, f64>> = read_json(path)?;
    let mut run = Run::new(path.file_stem().unwrap_or_default().to_string_lossy());
    for (case, scores) in cases {
        let mut scored = Vec::with_capacity(scores.len());
        for (id, score) in scores {
            let id = DatasetId::new(&id).with_context(|| path.display().to_string())?;
            scored.push(Scored { id, score });
        }
        run.insert(case, Ranking::from_scores(scored));
    }
    Ok(run)
}

/// Returns true if a folder has DSEBench's folds.
pub(super) fn has_folds(folder: &Path) -> bool {
    fold_file(folder, 0, "test").is_file()
}

/// Reads the folds of a folder. Their training part is not published: it has the cases of neither the test nor the validation
/// part.
///
/// # Errors
///
/// Fails if a file cannot be read.
pub(super) fn read_folds(folder: &Path, qrels: &Qrels) -> anyhow::Result<Folds> {
    let mut folds = Vec::new();
    while fold_file(folder, folds.len(), "test").is_file() {
        let [test, valid] =
            ["test", "valid"].map(|part| read_qrels(&fold_file(folder, folds.len(), part)));
        let (test, valid) = (test?, valid?);
        let rest = qrels
            .topics()
            .filter(|topic| !test.has(topic) && !valid.has(topic));
        let train = qrels.only(rest);
        folds.push(Fold { train, valid, test });
    }
    Ok(Folds(folds))
}

fn fold_file(folder: &Path, fold: usize, part: &str) -> PathBuf {
    folder.join(format!("fold_{fold}.{part}.json"))
}

/// Returns the mean F1 of the fields of a file with explanations, for relevance and similarity. Datasets without a judgement, or
/// with the grade 0, are no part of it.
fn measure_fields(path: &Path, judgements: &[Judgement]) -> anyhow::Result<[f64; 2]> {
    let cases: BTreeMap<String, BTreeMap<String, Explanation>> = read_json(path)?;
    let mut values = [Vec::new(), Vec::new()];
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for judgement in judgements {
        known.insert(&judgement.case_id);
        let Some(explanation) = cases
            .get(&judgement.case_id)
            .and_then(|datasets| datasets.get(&judgement.dataset))
        else {
            continue;
        };
        if let Some(found) = &explanation.query
            && judgement.query_rel > 0
        {
            values[0].push(f1_score(found, &judgement.field_query_rel));
        }
        if let Some(found) = &explanation.dataset
            && judgement.target_sim > 0
        {
            values[1].push(f1_score(found, &judgement.field_target_sim));
        }
    }
    if let Some(case) = cases.keys().find(|case| !known.contains(case.as_str())) {
        anyhow::bail!("{}: case {case} has no judgements", path.display());
    }
    Ok([mean(&values[0]), mean(&values[1])])
}

/// Returns the F1 of indicated fields: the harmonic mean of precision and recall; 0 if no field is indicated by either.
fn f1_score(found: &Indicators, expected: &Indicators) -> f64 {
    let (mut common, mut total) = (0, 0);
    for (found, expected) in found.iter().zip(expected) {
        common += u32::from(*found == 1 && *expected == 1);
        total += u32::from(*found == 1) + u32::from(*expected == 1);
    }
    if total == 0 {
        return 0.0;
    }
    f64::from(2 * common) / f64::from(total)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_eval::Metric;

    fn judgement(case: &str, dataset: &str, grades: [i32; 2], fields: &str) -> String {
        format!(
            r#"{{"query_id": "q", "target_dataset_id": "t", "candidate_dataset_id": "{dataset}", "case_id": "{case}",
                "query_rel": {}, "field_query_rel": [{fields}], "target_sim": {}, "field_target_sim": [{fields}]}}"#,
            grades[0], grades[1]
        )
    }

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).expect("written");
        path
    }

    #[test]
    fn grades_are_products_and_folds_train_on_the_rest() {
        let folder = tempfile::tempdir().expect("a folder");
        let cases = [
            judgement("1", "a", [2, 2], "1,1,0,0,0"),
            judgement("1", "b", [0, 2], "1,1,0,0,0"),
            judgement("2", "a", [1, 2], "1,1,0,0,0"),
            judgement("3", "c", [1, 1], "1,1,0,0,0"),
        ];
        let all = write(folder.path(), "all.json", &format!("[{}]", cases.join(",")));
        let qrels = read_qrels(&all).expect("judgements");
        assert_eq!((qrels.grade("1", "a"), qrels.grade("1", "b")), (4, 0));
        assert_eq!(qrels.judgement_count(), 4);
        let part = format!("[{},{}]", cases[0], cases[1]);
        write(folder.path(), "fold_0.test.json", &part);
        write(
            folder.path(),
            "fold_0.valid.json",
            &format!("[{}]", cases[2]),
        );
        assert!(has_folds(folder.path()));
        let folds = read_folds(folder.path(), &qrels).expect("folds");
        assert_eq!(folds.0.len(), 1);
        assert_eq!(folds.0[0].train.topics().collect::<Vec<_>>(), ["3"]);
        let twice = format!("[{},{}]", cases[0], cases[0]);
        let twice = write(folder.path(), "twice.json", &twice);
        assert!(read_qrels(&twice).is_err());
        let run = write(
            folder.path(),
            "run.json",
            r#"{"1": {"b": 0.5, "a": 0.2, "c": 0.9}}"#,
        );
        let run = read_run(&run).expect("a run");
        let ranking = run.ranking("1").expect("ranked");
        let reciprocal = Metric::ndcg(10).evaluate(&qrels, "1", ranking);
        assert!((reciprocal - 0.5).abs() < 1e-9, "third: {reciprocal}");
    }

    #[test]
    fn fields_count_where_a_dataset_is_relevant_or_similar() {
        let folder = tempfile::tempdir().expect("a folder");
        let cases = [
            judgement("1", "a", [1, 0], "1,1,0,0,0"),
            judgement("1", "b", [0, 2], "0,1,1,0,0"),
        ];
        let text = format!("[{}]", cases.join(","));
        let judgements: Vec<Judgement> = serde_json::from_str(&text).expect("judgements");
        let file = write(
            folder.path(),
            "explained.json",
            r#"{"1": {"a": {"query": [1,0,0,0,1], "dataset": [0,0,0,0,0]}, "b": {"dataset": [0,1,1,0,0]}, "x": {"query": [1,1,1,1,1]}}}"#,
        );
        let values = measure_fields(&file, &judgements).expect("measured");
        assert_eq!(values, [0.5, 1.0]);
        let unknown = write(folder.path(), "unknown.json", r#"{"7": {}}"#);
        assert!(measure_fields(&unknown, &judgements).is_err());
    }
}
