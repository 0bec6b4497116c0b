//! Queries generated from what datasets say and hold: DR2's self-training.
//!
//! DR2 has T5 write the queries. Here they are keyphrases, as people type them: the title's phrases and the keywords, and of
//! the content the names of classes and entities, those first whose words few other datasets have. One query comes from the
//! metadata, one from the data, one from both, and so on. A query that BM25 does not answer with its dataset among the first
//! twenty describes something else better and is dropped: it would teach noise. Queries that a program like T5 has written
//! ([`QueryOptions::written`]) take the place of keyphrases, and are dropped by the same rule.

use super::collection::{Collection, Member, hardest};
use super::examples::stable_hash;
use super::keyphrases::runs;
use super::tokens::normalized;
use super::{Example, PassageKind, Split, Style, TrainingData, TrainingError};
use lodeseek_engine::Searcher;
use lodeseek_eval::Qrels;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_ranking::DatasetId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// How queries are generated.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions<'o> {
    /// Queries of a dataset.
    pub per_dataset: usize,
    /// Datasets that count as negatives of a query.
    pub negatives: usize,
    /// Of the draws.
    pub seed: u64,
    /// Judgements whose datasets are left out.
    pub judged: Option<&'o Qrels>,
    /// Queries by dataset, as a language model wrote them: of each dataset the first [`Self::per_dataset`], instead of
    /// keyphrases.
    pub written: Option<&'o BTreeMap<DatasetId, Vec<String>>>,
}

impl Default for QueryOptions<'_> {
    fn default() -> Self {
        Self { per_dataset: 3, negatives: 4, seed: 1, judged: None, written: None }
    }
}

/// Words of a query.
const WORDS: std::ops::RangeInclusive<usize> = 2..=8;
/// Words of a phrase.
const PHRASE: usize = 4;
/// Phrases of a query.
const PHRASES: u64 = 3;
/// The phrases that are drawn from.
const BEST: usize = 8;
/// The rank up to which a dataset must answer its own query.
const FOUND: usize = 20;

/// What a query is made from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Face {
    Metadata,
    Data,
    Both,
}

/// Examples of generated queries, and all passages of the home.
pub fn queries(
    searcher: Searcher,
    options: &QueryOptions<'_>,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let searcher = searcher.with_model(ModelKind::Bm25.model(LengthMode::Exact));
    let collection = Collection::read(&searcher)?;
    let rarity = Rarity::of(&collection);
    let judged = judged(options.judged);
    let mut data = TrainingData::default();
    for (done, (id, member)) in collection.0.iter().enumerate() {
        on_progress(done + 1, collection.0.len());
        if judged.contains(id.as_str()) {
            data.left_out.add("datasets that were judged");
            continue;
        }
        let made = match options.written {
            Some(written) => taken(written.get(id).map_or(&[], Vec::as_slice), options.per_dataset, &mut data),
            None => generated(id, member, &rarity, options, &mut data),
        };
        for (number, (face, query)) in made.into_iter().enumerate() {
            match example(id, member, face, query, &searcher, &collection, options.negatives)? {
                Some(example) => data.examples.push(Example { id: format!("generated-{id}-{number}"), ..example }),
                None => data.left_out.add("queries that do not find their dataset"),
            }
        }
    }
    for id in options.written.into_iter().flat_map(BTreeMap::keys).filter(|id| !collection.0.contains_key(id)) {
        tracing::warn!(dataset = %id, "queries were written for it, and it is not there");
        data.left_out.add("datasets that are not there");
    }
    collection.passages(&[PassageKind::Metadata, PassageKind::Data]).for_each(|passage| data.insert(passage));
    Ok(data)
}

/// Written queries, each once, on one line.
fn taken(written: &[String], most: usize, data: &mut TrainingData) -> Vec<(Face, String)> {
    let mut queries: Vec<(Face, String)> = Vec::new();
    for query in written.iter().map(|query| query.split_whitespace().collect::<Vec<_>>().join(" ")) {
        match query {
            _ if queries.len() == most => break,
            query if normalized(&query).is_empty() => data.left_out.add("queries for which there were too few words"),
            query if queries.iter().any(|(_, other)| normalized(other) == normalized(&query)) => {
                data.left_out.add("queries that were there before");
            }
            query => queries.push((Face::Both, query)),
        }
    }
    queries
}

/// The datasets that anybody judged.
fn judged(qrels: Option<&Qrels>) -> FxHashSet<&str> {
    let topics = qrels.into_iter().flat_map(|qrels| qrels.topics().map(move |topic| (qrels, topic)));
    topics.flat_map(|(qrels, topic)| qrels.judgements(topic).map(|(id, _)| id)).collect()
}

/// In how many datasets words are.
struct Rarity {
    documents: f64,
    counts: FxHashMap<String, u32>,
}

impl Rarity {
    fn of(collection: &Collection) -> Self {
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        for member in collection.0.values() {
            let parts = member.compact.metadata.iter().chain(&member.compact.triples);
            let text = normalized(&parts.map(String::as_str).collect::<Vec<_>>().join(" "));
            for word in text.split(' ').collect::<FxHashSet<_>>() {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        Self { documents: collection.0.len() as f64, counts }
    }

    /// The mean inverse document frequency of a phrase's words. What no other dataset says is mostly a code or a
    /// misspelling, and counts less than what a few say.
    fn weigh(&self, phrase: &str) -> f64 {
        let normalized = normalized(phrase);
        let weight = |word: &str| match self.counts.get(word).copied().unwrap_or(1) {
            1 => 0.5 * self.documents.ln(),
            count => (self.documents / f64::from(count)).ln(),
        };
        let (sum, words) = normalized.split(' ').fold((0.0, 0), |(sum, words), word| (sum + weight(word), words + 1));
        sum / f64::from(words)
    }

    /// Phrases by how much they tell: how often the dataset has them, times how rare they are.
    fn best<'p>(&self, phrases: impl Iterator<Item = &'p String>) -> Vec<&'p str> {
        let mut times: FxHashMap<&str, u32> = FxHashMap::default();
        phrases.for_each(|phrase| *times.entry(phrase).or_default() += 1);
        let weighed = times.into_iter().map(|(phrase, times)| (self.weigh(phrase) * f64::from(1 + times).ln(), phrase));
        let mut weighed: Vec<(f64, &str)> = weighed.filter(|(weight, _)| *weight > 0.0).collect();
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        weighed.into_iter().take(BEST).map(|(_, phrase)| phrase).collect()
    }
}

/// The queries of a dataset, each once, with what they are made from.
fn generated(
    id: &DatasetId,
    member: &Member,
    rarity: &Rarity,
    options: &QueryOptions<'_>,
    data: &mut TrainingData,
) -> Vec<(Face, String)> {
    let (said, held) = (phrases_of_metadata(member), phrases_of_data(member));
    let mut queries: Vec<(Face, String)> = Vec::new();
    for number in 0..options.per_dataset {
        let face = [Face::Metadata, Face::Data, Face::Both][number % 3];
        let pools = match face {
            Face::Metadata => vec![rarity.best(said.iter())],
            Face::Data => vec![rarity.best(held.iter())],
            Face::Both => vec![rarity.best(said.iter()), rarity.best(held.iter())],
        };
        match drawn(&pools, &format!("{} {id} {number}", options.seed)) {
            Some(query) if queries.iter().all(|(_, other)| *other != query) => queries.push((face, query)),
            Some(_) => data.left_out.add("queries that were there before"),
            None => data.left_out.add("queries for which there were too few words"),
        }
    }
    queries
}

/// One to three phrases drawn from pools in turn, at least one of each; `None` where they are too few words.
fn drawn(pools: &[Vec<&str>], source: &str) -> Option<String> {
    let wanted = (1 + stable_hash(source) % PHRASES).max(pools.len() as u64);
    let mut words: Vec<&str> = Vec::new();
    let mut left = pools.to_vec();
    for turn in 0..2 * PHRASES {
        let enough = turn >= wanted && words.len() >= *WORDS.start();
        let pool = &mut left[turn as usize % pools.len()];
        if enough || pool.is_empty() {
            continue;
        }
        let phrase = pool.remove((stable_hash(&format!("{source} {turn}")) % pool.len() as u64) as usize);
        let is_new = phrase.split(' ').all(|word| !words.contains(&word));
        if is_new && words.len() + phrase.split(' ').count() <= *WORDS.end() {
            words.extend(phrase.split(' '));
        }
    }
    (pools.iter().all(|pool| !pool.is_empty()) && WORDS.contains(&words.len())).then(|| words.join(" "))
}

fn phrases_of_metadata(member: &Member) -> Vec<String> {
    let keywords = member.metadata.keywords.iter().map(|keyword| keyword.value.as_str());
    let titles = member.metadata.titles.iter().map(|title| title.value.as_str());
    titles.chain(keywords).flat_map(runs).filter(|phrase| is_typed(phrase)).collect()
}

fn phrases_of_data(member: &Member) -> Vec<String> {
    member.names.iter().flat_map(|name| runs(name)).filter(|phrase| is_typed(phrase)).collect()
}

/// Whether somebody would type it: a few words of letters.
fn is_typed(phrase: &str) -> bool {
    let is_word = |word: &str| word.chars().count() > 2 && word.chars().all(|c| c.is_alphabetic() || c == '-');
    phrase.split(' ').count() <= PHRASE && phrase.split(' ').all(is_word)
}

/// A query with its passages; `None` where it does not find its dataset.
fn example(
    id: &DatasetId,
    member: &Member,
    face: Face,
    query: String,
    searcher: &Searcher,
    collection: &Collection,
    negatives: usize,
) -> Result<Option<Example>, TrainingError> {
    let ranking = searcher.rank(&query, FOUND.max(2 * negatives))?;
    if !ranking.iter().take(FOUND).any(|scored| scored.id == *id) {
        return Ok(None);
    }
    let title = normalized(member.metadata.title());
    let is_other = |other: &DatasetId| {
        collection.0.get(other).is_some_and(|found| other != id && normalized(found.metadata.title()) != title)
    };
    let hard = hardest(ranking.iter().map(|scored| &scored.id), negatives, is_other);
    let mut positives = member.passage_ids(id);
    if face == Face::Data {
        positives.reverse();
    }
    Ok(Some(Example {
        id: String::new(),
        query,
        style: Style::Generated,
        positives,
        negatives: hard.into_iter().flat_map(|other| collection.0[other].passage_ids(other)).collect(),
        year: None,
        split: Some(Split::of(id.as_str())),
        fold: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_two_to_eight_words_of_all_pools() {
        let pools = [vec!["tree register", "parks", "girth of trunks measured"], vec!["ginkgo", "street names"]];
        for number in 0..50 {
            let query = drawn(&pools, &format!("source {number}")).expect("words enough");
            let words: Vec<&str> = query.split(' ').collect();
            assert!(WORDS.contains(&words.len()), "{query}");
            let has = |pool: &[&str]| pool.iter().any(|phrase| query.contains(phrase));
            assert!(pools.iter().all(|pool| has(pool)), "{query}");
            assert_eq!(query, drawn(&pools, &format!("source {number}")).expect("the same"));
        }
        assert_eq!(drawn(&[vec!["tree"]], "source"), None);
        assert_eq!(drawn(&[vec!["tree register"], vec![]], "source"), None);
    }

    #[test]
    fn codes_and_numbers_are_not_typed() {
        assert!(is_typed("street tree") && is_typed("re-use"));
        assert!(!is_typed("t0011") && !is_typed("of it") && !is_typed("one two three four five"));
    }
}
