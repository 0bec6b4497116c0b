//! Assessments in the W3C's Data Quality Vocabulary. <https://www.w3.org/TR/vocab-dqv/>
//!
//! Every indicator is a metric (`ontologies/quality.ttl`). Every finding with a determined outcome is a measurement;
//! its value is the number of points given.

use super::{Assessment, Dimension, Finding, Indicator, MAX_SCORE, Outcome};
use lodeseek_rdf::vocab::{dqv, quality, rdf, rdfs, skos};
use oxrdf::{Literal, NamedNode, Term, Triple};

/// Returns the assessment of a dataset as triples. Measurements have the dataset's IRI with `/quality` and a fragment.
#[must_use]
pub fn to_dqv(assessment: &Assessment, dataset: &NamedNode) -> Vec<Triple> {
    let mut triples = Vec::new();
    for dimension in Dimension::ALL {
        triples.push(triple(
            &quality_term(dimension.name()),
            rdf::TYPE,
            node(dqv::DIMENSION),
        ));
    }
    for finding in &assessment.findings {
        add_metric(&mut triples, finding.indicator);
        if finding.outcome != Outcome::Unknown {
            add_measurement(&mut triples, finding, dataset);
        }
    }
    let score = Measurement {
        key: "score",
        metric: node(quality::SCORE),
        value: assessment.score(),
    };
    triples.push(triple(&score.metric, rdf::TYPE, node(dqv::METRIC)));
    score.add_triples(
        &mut triples,
        dataset,
        &format!("{} of {MAX_SCORE} points", assessment.score()),
    );
    triples
}

/// Returns the IRI of a metric or dimension.
fn quality_term(key: &str) -> NamedNode {
    node(&format!("{}{key}", quality::NAMESPACE))
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

fn triple(subject: &NamedNode, predicate: &str, object: impl Into<Term>) -> Triple {
    Triple::new(subject.clone(), node(predicate), object)
}

fn add_metric(triples: &mut Vec<Triple>, indicator: Indicator) {
    let metric = quality_term(indicator.key());
    let definition = Literal::new_language_tagged_literal_unchecked(indicator.definition(), "en");
    triples.push(triple(&metric, rdf::TYPE, node(dqv::METRIC)));
    triples.push(triple(&metric, skos::DEFINITION, definition));
    triples.push(triple(
        &metric,
        dqv::IN_DIMENSION,
        quality_term(indicator.dimension().name()),
    ));
}

fn add_measurement(triples: &mut Vec<Triple>, finding: &Finding, dataset: &NamedNode) {
    let indicator = finding.indicator;
    let value = if finding.outcome == Outcome::Met {
        indicator.weight()
    } else {
        0
    };
    Measurement {
        key: indicator.key(),
        metric: quality_term(indicator.key()),
        value,
    }
    .add_triples(triples, dataset, &finding.reason);
}

struct Measurement<'k> {
    key: &'k str,
    metric: NamedNode,
    value: u32,
}

impl Measurement<'_> {
    fn add_triples(&self, triples: &mut Vec<Triple>, dataset: &NamedNode, reason: &str) {
        let own = node(&format!("{}/quality#{}", dataset.as_str(), self.key));
        triples.push(triple(dataset, dqv::HAS_QUALITY_MEASUREMENT, own.clone()));
        triples.push(triple(&own, rdf::TYPE, node(dqv::QUALITY_MEASUREMENT)));
        triples.push(triple(&own, dqv::COMPUTED_ON, dataset.clone()));
        triples.push(triple(&own, dqv::IS_MEASUREMENT_OF, self.metric.clone()));
        triples.push(triple(&own, dqv::VALUE, Literal::from(self.value)));
        triples.push(triple(
            &own,
            rdfs::COMMENT,
            Literal::new_language_tagged_literal_unchecked(reason, "en"),
        ));
    }
}
