//! Titles of papers as queries for their abstracts: what papers are about, beside what datasets they need.
//!
//! An encoder that learns of [mentions](super::mentions) alone forgets in part what it knew of texts like each other: papers of
//! one field that use different datasets move apart. These examples are to be trained on beside them. Papers, names and what
//! is left out are those of the mentions.

use super::collection::Collection;
use super::papers::{Paper, papers};
use super::tokens::normalized;
use super::{Example, PaperOptions, PassageKind, PassageRecord, Split, Style, TrainingData, TrainingError};
use lodeseek_engine::Searcher;
use lodeseek_ranking::DatasetId;

/// The fewest words of a title that is a query, and of an abstract that answers one.
const FEWEST_OF_TITLE: usize = 3;
const FEWEST_OF_ABSTRACT: usize = 30;

/// One example a paper.
pub fn abstracts(searcher: &Searcher, options: &PaperOptions<'_>) -> Result<TrainingData, TrainingError> {
    let collection = Collection::read(searcher)?;
    let mut data = TrainingData::default();
    for paper in papers(options, &collection, &mut data)? {
        let [title, summary, _] = &paper.texts;
        let [title, summary] = [title, summary].map(|text| text.split_whitespace().count());
        let is_long_enough = title >= FEWEST_OF_TITLE && summary >= FEWEST_OF_ABSTRACT;
        let Some(id) = paper.id().filter(|_| is_long_enough) else {
            data.left_out.add("papers of too short a title or abstract");
            continue;
        };
        data.examples.push(example(&paper, &id));
        data.insert(passage(&paper, id));
    }
    Ok(data)
}

fn example(paper: &Paper, id: &DatasetId) -> Example {
    Example {
        id: format!("title-{id}"),
        query: paper.texts[0].clone(),
        style: Style::Title,
        positives: vec![PassageKind::Abstract.of(id)],
        negatives: Vec::new(),
        year: None,
        split: Some(Split::of(&normalized(&paper.source.title))),
        fold: None,
    }
}

fn passage(paper: &Paper, id: DatasetId) -> PassageRecord {
    PassageRecord {
        id: PassageKind::Abstract.of(&id),
        dataset: id,
        text: PassageKind::Abstract,
        parts: vec![paper.texts[1].clone()],
        pieces_a_part: None,
        year: None,
    }
}
