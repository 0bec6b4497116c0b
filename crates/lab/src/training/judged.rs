//! Training data from judged topics: the fine-tuning of DR2.
//!
//! Positives are the datasets of grade 1 or more, higher grades first. Negatives are the datasets judged 0, as in DR2's
//! data; unjudged datasets are not used. Negatives are in the order of FSDM's ranking, because a re-ranker must
//! distinguish its first results.

use super::home_datasets::Collection;
use super::records::Counts;
use super::{Example, PassageKind, Style, TrainingData, TrainingError};
use lodeseek_engine::Searcher;
use lodeseek_eval::{Folds, Qrels, Topics};
use lodeseek_index::sparse::{LengthMode, ModelKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Makes examples of judged topics, and all passages of the home.
///
/// # Errors
///
/// Fails if the home cannot be read or searched.
pub fn make_judged_examples(
    searcher: Searcher,
    topics: &Topics,
    qrels: &Qrels,
    folds: &Folds,
) -> Result<TrainingData, TrainingError> {
    let searcher = searcher.with_model(ModelKind::Fsdm.model(LengthMode::Exact));
    let collection = Collection::read(&searcher)?;
    let mut data = TrainingData::default();
    let unknown = qrels
        .topics()
        .filter(|topic| !topics.0.iter().any(|known| known.id == *topic))
        .count();
    data.left_out
        .add_many("judged topics without a text", unknown);
    for topic in &topics.0 {
        if !qrels.has(&topic.id) {
            data.left_out.add("topics without judgements");
            continue;
        }
        let mut example = Example {
            id: format!("judged-{}", topic.id),
            query: topic.text.clone(),
            style: Style::Judged,
            positives: select_positives(&collection, qrels, &topic.id, &mut data.left_out),
            negatives: Vec::new(),
            year: None,
            split: None,
            fold: folds.test_fold(&topic.id),
        };
        if example.positives.is_empty() {
            data.left_out
                .add("topics without a relevant dataset in the home");
            continue;
        }
        let ranking = searcher.rank(&topic.text, collection.0.len())?;
        let ranks = ranking
            .iter()
            .zip(0..)
            .map(|(scored, rank)| (scored.id.as_str(), rank))
            .collect();
        example.negatives = select_negatives(&collection, qrels, &topic.id, &ranks);
        data.examples.push(example);
    }
    collection
        .passages(&[PassageKind::Metadata, PassageKind::Data])
        .for_each(|passage| data.insert(passage));
    Ok(data)
}

fn select_positives(
    collection: &Collection,
    qrels: &Qrels,
    topic: &str,
    left_out: &mut Counts,
) -> Vec<String> {
    let mut relevant: Vec<(&str, i32)> = qrels
        .judgements(topic)
        .filter(|(_, grade)| *grade >= 1)
        .collect();
    relevant.sort_by_key(|(_, grade)| Reverse(*grade));
    let known = relevant.iter().filter_map(|(id, _)| collection.find(id));
    let known: Vec<_> = known.collect();
    left_out.add_many(
        "relevant datasets that are not in the home",
        relevant.len() - known.len(),
    );
    known
        .iter()
        .flat_map(|(id, member)| member.passage_ids(id))
        .collect()
}

fn select_negatives(
    collection: &Collection,
    qrels: &Qrels,
    topic: &str,
    ranks: &FxHashMap<&str, usize>,
) -> Vec<String> {
    let mut irrelevant: Vec<&str> = qrels
        .judgements(topic)
        .filter(|(_, grade)| *grade == 0)
        .map(|(id, _)| id)
        .collect();
    irrelevant.sort_by_key(|id| ranks.get(id).copied().unwrap_or(usize::MAX));
    let known = irrelevant.iter().filter_map(|id| collection.find(id));
    known
        .flat_map(|(id, member)| member.passage_ids(id))
        .collect()
}
