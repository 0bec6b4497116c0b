//! Quality assessments as JSON: the forms of `GET /api/quality` and of `lodeseek quality --json`.

use lodeseek_quality::{
    Assessment, DatasetLabel, DatasetRow, Dimension, Finding, MAX_SCORE, Overview, Problem,
    PublisherRow,
};
use serde_json::{Value, json};

/// Number of datasets with the lowest scores in an overview.
pub const MAX_WORST_DATASETS: usize = 20;
/// Maximum number of publishers in an overview.
pub const MAX_PUBLISHERS: usize = 100;

/// Returns the assessment of one dataset, as `GET /api/quality/{id}` does.
#[must_use]
pub fn assessment_json(named: &DatasetLabel, assessment: &Assessment) -> Value {
    let improvements: Vec<Value> = assessment
        .improvements()
        .iter()
        .map(|finding| advice_json(finding))
        .collect();
    json!({
        "id": named.id.as_str(),
        "title": named.title,
        "publisher": named.publisher,
        "score": assessment.score(),
        "of": MAX_SCORE,
        "band": assessment.band(),
        "points": assessment.points(),
        "distribution": assessment.distribution,
        "dimensions": Dimension::ALL.map(|dimension| dimension_json(assessment, dimension)),
        "improvements": improvements,
        "violations": assessment.violations,
        "recommendations": assessment.recommendations,
    })
}

fn dimension_json(assessment: &Assessment, dimension: Dimension) -> Value {
    let findings = assessment
        .findings
        .iter()
        .filter(|finding| finding.indicator.dimension() == dimension);
    let indicators: Vec<Value> = findings.map(finding_json).collect();
    json!({
        "dimension": dimension,
        "scored": dimension.is_scored(),
        "points": assessment.points_of(dimension),
        "indicators": indicators,
    })
}

fn advice_json(finding: &Finding) -> Value {
    json!({
        "indicator": finding.indicator.key(),
        "points": finding.indicator.weight(),
        "advice": finding.indicator.advice(),
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "indicator": finding.indicator.key(),
        "points": finding.indicator.weight(),
        "outcome": finding.outcome,
        "reason": finding.reason,
    })
}

/// Returns the overview of all datasets, as `GET /api/quality` does.
#[must_use]
pub fn overview_json(overview: &Overview) -> Value {
    let bands = overview
        .bands()
        .map(|(band, count)| json!({ "band": band, "datasets": count }));
    let dimensions = Dimension::ALL.map(|dimension| {
        let share = overview
            .share_of(dimension)
            .map(|share| round_to(share, 1000.0));
        json!({ "dimension": dimension, "scored": dimension.is_scored(), "share": share })
    });
    let problems: Vec<Value> = overview.problems().iter().map(problem_json).collect();
    let publishers: Vec<Value> = overview
        .publishers()
        .iter()
        .take(MAX_PUBLISHERS)
        .map(publisher_json)
        .collect();
    let worst: Vec<Value> = overview
        .worst(MAX_WORST_DATASETS)
        .iter()
        .map(|row| row_json(row))
        .collect();
    json!({
        "datasets": overview.len(),
        "meanScore": round_to(overview.mean(), 10.0),
        "of": MAX_SCORE,
        "bands": bands,
        "dimensions": dimensions,
        "problems": problems,
        "publishers": publishers,
        "worst": worst,
    })
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "indicator": problem.indicator.key(),
        "dimension": problem.indicator.dimension(),
        "points": problem.indicator.weight(),
        "met": problem.met,
        "missed": problem.missed,
        "unknown": problem.unknown,
    })
}

fn publisher_json(row: &PublisherRow) -> Value {
    json!({
        "publisher": row.name,
        "datasets": row.datasets,
        "meanScore": round_to(row.mean, 10.0),
        "worst": row.worst.map(|problem| problem.indicator.key()),
    })
}

fn row_json(row: &DatasetRow) -> Value {
    json!({ "id": row.dataset.id.as_str(), "title": row.dataset.title, "score": row.score, "points": row.points })
}

/// Rounds to a fraction: 10.0 for one decimal, 1000.0 for three.
fn round_to(number: f64, steps: f64) -> f64 {
    (number * steps).round() / steps
}
