//! Training data from papers: titles as queries for abstracts.
//!
//! An encoder that is trained on [mentions](super::mentions) alone loses part of its knowledge of similar texts. Papers
//! of one field that use different datasets move apart. These examples are mixed with the mentions to prevent this.
//! They use the same papers as the mentions, with the same names removed and the same papers excluded.

use super::home_datasets::Collection;
use super::papers::{Paper, read_papers};
use super::tokens::normalize_text;
use super::{
    Example, PaperOptions, PassageKind, PassageRecord, Split, Style, TrainingData, TrainingError,
};
use lodeseek_engine::Searcher;
use lodeseek_ranking::DatasetId;

/// Minimum number of words of a title that becomes a query, and of an abstract that becomes its passage.
const MIN_TITLE_WORDS: usize = 3;
const MIN_ABSTRACT_WORDS: usize = 30;

/// Makes one example of each paper.
///
/// # Errors
///
/// Fails if the home or the papers cannot be read.
pub fn make_abstract_examples(
    searcher: &Searcher,
    options: &PaperOptions<'_>,
) -> Result<TrainingData, TrainingError> {
    let collection = Collection::read(searcher)?;
    let mut data = TrainingData::default();
    for paper in read_papers(options, &collection, &mut data)? {
        let [title, summary, _] = &paper.texts;
        let [title, summary] = [title, summary].map(|text| text.split_whitespace().count());
        let is_long_enough = title >= MIN_TITLE_WORDS && summary >= MIN_ABSTRACT_WORDS;
        let Some(id) = paper.id().filter(|_| is_long_enough) else {
            data.left_out.add("papers of too short a title or abstract");
            continue;
        };
        data.examples.push(make_example(&paper, &id));
        data.insert(make_passage(&paper, id));
    }
    Ok(data)
}

fn make_example(paper: &Paper, id: &DatasetId) -> Example {
    Example {
        id: format!("title-{id}"),
        query: paper.texts[0].clone(),
        style: Style::Title,
        positives: vec![PassageKind::Abstract.passage_id(id)],
        negatives: Vec::new(),
        year: None,
        split: Some(Split::from_source(&normalize_text(&paper.source.title))),
        fold: None,
    }
}

fn make_passage(paper: &Paper, id: DatasetId) -> PassageRecord {
    PassageRecord {
        id: PassageKind::Abstract.passage_id(&id),
        dataset: id,
        text: PassageKind::Abstract,
        parts: vec![paper.texts[1].clone()],
        pieces_a_part: None,
        year: None,
    }
}
