//! The pages on the quality of all datasets and of one.

use super::{PageContext, readable, render};
use crate::text::href;
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{MAX_PUBLISHERS, MAX_WORST_DATASETS};
use lodeseek_quality::{
    Assessment, DatasetLabel, Dimension, Finding, MAX_SCORE, Outcome, Overview, Points, Problem,
    PublisherRow,
};

#[derive(Template)]
#[template(path = "quality-all.html")]
struct AllPage {
    page: PageContext,
    datasets: usize,
    mean: String,
    of: u32,
    bands: Vec<(String, usize)>,
    /// (name, share in percent)
    dimensions: Vec<(String, u32)>,
    problems: Vec<ProblemView>,
    publishers: Vec<PublisherView>,
    more_publishers: usize,
    worst: Vec<RowView>,
}

struct ProblemView {
    advice: &'static str,
    definition: &'static str,
    missed: u64,
    assessed: u64,
    points: u32,
    scored: bool,
}

struct PublisherView {
    name: String,
    datasets: u64,
    mean: String,
    score: u32,
    advice: &'static str,
}

struct RowView {
    href: String,
    title: String,
    score: u32,
}

#[derive(Template)]
#[template(path = "quality.html")]
struct OnePage {
    page: PageContext,
    href: String,
    api: String,
    title: String,
    score: u32,
    of: u32,
    band: String,
    band_class: &'static str,
    points: Points,
    distribution: Option<String>,
    /// (advice, points, reason)
    next: Vec<(&'static str, u32, String)>,
    dimensions: Vec<DimensionView>,
    violations: Vec<String>,
    recommendations: Vec<String>,
}

struct DimensionView {
    name: String,
    scored: bool,
    points: Points,
    findings: Vec<FindingView>,
}

struct FindingView {
    definition: &'static str,
    outcome: &'static str,
    /// The outcome in words.
    label: String,
    sign: &'static str,
    points: u32,
    weight: u32,
    reason: String,
}

/// Renders the page of all datasets.
pub(crate) fn quality(page: &PageContext, overview: &Overview) -> Response {
    render(&all_page(page, overview))
}

/// Renders the page of one dataset.
pub(crate) fn quality_of(
    page: &PageContext,
    named: &DatasetLabel,
    assessment: &Assessment,
) -> Response {
    render(&one_page(page, named, assessment))
}

fn all_page(page: &PageContext, overview: &Overview) -> AllPage {
    let mut dimensions = Vec::new();
    for dimension in Dimension::ALL {
        if let Some(percent) = overview.percent_of(dimension) {
            dimensions.push((dimension_name(page, dimension), percent));
        }
    }
    let publishers = overview.publishers();
    let more_publishers = publishers.len().saturating_sub(MAX_PUBLISHERS);
    AllPage {
        page: page.clone(),
        datasets: overview.len(),
        mean: format!("{:.1}", overview.mean()),
        of: MAX_SCORE,
        bands: overview
            .bands()
            .map(|(band, count)| (page.text(&format!("band-{}", band.name())), count))
            .into(),
        dimensions,
        problems: overview
            .problems()
            .iter()
            .filter(|problem| problem.missed > 0)
            .map(problem_view)
            .collect(),
        publishers: publishers
            .iter()
            .take(MAX_PUBLISHERS)
            .map(|row| publisher_view(page, row))
            .collect(),
        more_publishers,
        worst: overview
            .worst(MAX_WORST_DATASETS)
            .iter()
            .map(|row| RowView {
                href: format!("{}/quality", href(&row.dataset.id)),
                title: readable(&row.dataset.title),
                score: row.score,
            })
            .collect(),
    }
}

fn publisher_view(page: &PageContext, row: &PublisherRow) -> PublisherView {
    PublisherView {
        name: match row.name.as_deref() {
            Some(name) => readable(name),
            None => page.text("quality-no-publisher"),
        },
        datasets: row.datasets,
        mean: format!("{:.1}", row.mean),
        score: row.mean.round() as u32,
        advice: match row.worst {
            Some(problem) => problem.indicator.advice(),
            None => "",
        },
    }
}

fn problem_view(problem: &Problem) -> ProblemView {
    let indicator = problem.indicator;
    ProblemView {
        advice: indicator.advice(),
        definition: indicator.definition(),
        missed: problem.missed,
        assessed: problem.met + problem.missed,
        points: indicator.weight(),
        scored: indicator.dimension().is_scored(),
    }
}

fn one_page(page: &PageContext, named: &DatasetLabel, found: &Assessment) -> OnePage {
    let next = found.improvements().into_iter().take(3);
    let own = href(&named.id);
    OnePage {
        page: page.clone(),
        api: own.replacen("/dataset/", "/api/quality/", 1),
        href: own,
        title: readable(&named.title),
        score: found.score(),
        of: MAX_SCORE,
        band: page.text(&format!("band-{}", found.band().name())),
        band_class: found.band().name(),
        points: found.points(),
        distribution: found.distribution.clone(),
        next: next
            .map(|one| {
                (
                    one.indicator.advice(),
                    one.indicator.weight(),
                    one.reason.clone(),
                )
            })
            .collect(),
        dimensions: Dimension::ALL
            .into_iter()
            .map(|dimension| dimension_view(page, found, dimension))
            .collect(),
        violations: found
            .violations
            .iter()
            .map(|breach| {
                format!(
                    "{}: {} {}",
                    breach.node,
                    breach.property,
                    breach.fault.message()
                )
            })
            .collect(),
        recommendations: found
            .recommendations
            .iter()
            .map(|lacking| format!("{}: {}", lacking.node, lacking.property))
            .collect(),
    }
}

fn dimension_name(page: &PageContext, dimension: Dimension) -> String {
    page.text(&format!("dimension-{}", dimension.name()))
}

fn finding_view(page: &PageContext, finding: &Finding) -> FindingView {
    let weight = finding.indicator.weight();
    let (outcome, sign, points) = match finding.outcome {
        Outcome::Met => ("met", "✓", weight),
        Outcome::Missed => ("missed", "✗", 0),
        Outcome::Unknown => ("unknown", "?", 0),
    };
    FindingView {
        definition: finding.indicator.definition(),
        outcome,
        label: page.text(&format!("outcome-{outcome}")),
        sign,
        points,
        weight,
        reason: finding.reason.clone(),
    }
}

fn dimension_view(page: &PageContext, found: &Assessment, dimension: Dimension) -> DimensionView {
    let findings = found
        .findings
        .iter()
        .filter(|finding| finding.indicator.dimension() == dimension);
    DimensionView {
        name: dimension_name(page, dimension),
        scored: dimension.is_scored(),
        points: found.points_of(dimension),
        findings: findings
            .map(|finding| finding_view(page, finding))
            .collect(),
    }
}
