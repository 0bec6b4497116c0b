//! Training data from generated queries: the self-training of DR2.
//!
//! DR2 generates queries with T5. Here queries are keyphrases, as users type them: phrases of the title, keywords, and
//! names of classes and entities of the content. Phrases whose words occur in few other datasets come first. Queries
//! are made from the metadata, from the data, and from both in turn. A query is discarded if BM25 does not rank its
//! dataset among the first twenty: it describes another dataset better and would add noise. Queries that a language
//! model has written ([`QueryOptions::written`]) can replace the keyphrases. The same rule applies to them.

use super::home_datasets::{Collection, Member, select_hardest};
use super::keyphrases::split_into_runs;
use super::records::stable_hash;
use super::tokens::normalize_text;
use super::{Example, PassageKind, Split, Style, TrainingData, TrainingError};
use lodeseek_engine::Searcher;
use lodeseek_eval::Qrels;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_ranking::DatasetId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Options of query generation.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions<'o> {
    /// Number of queries of a dataset.
    pub per_dataset: usize,
    /// Number of datasets that are negatives of a query.
    pub negatives: usize,
    /// Seed of random choices.
    pub seed: u64,
    /// Judgements whose datasets are excluded.
    pub judged: Option<&'o Qrels>,
    /// Queries that a language model wrote, by dataset. The first [`Self::per_dataset`] of each dataset replace
    /// keyphrases.
    pub written: Option<&'o BTreeMap<DatasetId, Vec<String>>>,
}

impl Default for QueryOptions<'_> {
    fn default() -> Self {
        Self {
            per_dataset: 3,
            negatives: 4,
            seed: 1,
            judged: None,
            written: None,
        }
    }
}

/// Number of words of a query.
const WORDS: std::ops::RangeInclusive<usize> = 2..=8;
/// Maximum number of words of a phrase.
const MAX_PHRASE_WORDS: usize = 4;
/// Maximum number of phrases of a query.
const MAX_PHRASES: u64 = 3;
/// Number of phrases to draw from.
const MAX_DRAWN_PHRASES: usize = 8;
/// Maximum rank of a dataset for its own query.
const MAX_RANK: usize = 20;

/// Source of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuerySource {
    Metadata,
    Data,
    Both,
}

/// Makes examples of generated queries, and all passages of the home.
///
/// # Errors
///
/// Fails if the home cannot be read or searched.
pub fn make_query_examples(
    searcher: Searcher,
    options: &QueryOptions<'_>,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let searcher = searcher.with_model(ModelKind::Bm25.model(LengthMode::Exact));
    let collection = Collection::read(&searcher)?;
    let idf = IdfWeights::from_collection(&collection);
    let judged = find_judged_datasets(options.judged);
    let mut data = TrainingData::default();
    for (done, (id, member)) in collection.0.iter().enumerate() {
        on_progress(done + 1, collection.0.len());
        if judged.contains(id.as_str()) {
            data.left_out.add("datasets that were judged");
            continue;
        }
        let made = match options.written {
            Some(written) => written_queries(
                written.get(id).map(Vec::as_slice).unwrap_or_default(),
                options.per_dataset,
                &mut data,
            ),
            None => generate_queries(id, member, &idf, options, &mut data),
        };
        for (number, (face, query)) in made.into_iter().enumerate() {
            match make_example(
                id,
                member,
                face,
                query,
                &searcher,
                &collection,
                options.negatives,
            )? {
                Some(example) => data.examples.push(Example {
                    id: format!("generated-{id}-{number}"),
                    ..example
                }),
                None => data.left_out.add("queries that do not find their dataset"),
            }
        }
    }
    for id in options
        .written
        .into_iter()
        .flat_map(BTreeMap::keys)
        .filter(|id| !collection.0.contains_key(id))
    {
        tracing::warn!(dataset = %id, "the home does not contain this dataset; its written queries are ignored");
        data.left_out.add("datasets that are not there");
    }
    collection
        .passages(&[PassageKind::Metadata, PassageKind::Data])
        .for_each(|passage| data.insert(passage));
    Ok(data)
}

/// Returns distinct written queries, each on one line.
fn written_queries(
    written: &[String],
    most: usize,
    data: &mut TrainingData,
) -> Vec<(QuerySource, String)> {
    let mut queries: Vec<(QuerySource, String)> = Vec::new();
    for query in written
        .iter()
        .map(|query| query.split_whitespace().collect::<Vec<_>>().join(" "))
    {
        match query {
            _ if queries.len() == most => break,
            query if normalize_text(&query).is_empty() => data
                .left_out
                .add("queries for which there were too few words"),
            query
                if queries
                    .iter()
                    .any(|(_, other)| normalize_text(other) == normalize_text(&query)) =>
            {
                data.left_out.add("queries that were there before");
            }
            query => queries.push((QuerySource::Both, query)),
        }
    }
    queries
}

/// Returns the datasets with any judgement.
fn find_judged_datasets(qrels: Option<&Qrels>) -> FxHashSet<&str> {
    let topics = qrels
        .into_iter()
        .flat_map(|qrels| qrels.topics().map(move |topic| (qrels, topic)));
    topics
        .flat_map(|(qrels, topic)| qrels.judgements(topic).map(|(id, _)| id))
        .collect()
}

/// Document frequencies of words.
struct IdfWeights {
    documents: f64,
    counts: FxHashMap<String, u32>,
}

impl IdfWeights {
    fn from_collection(collection: &Collection) -> Self {
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        for member in collection.0.values() {
            let parts = member
                .compact
                .metadata
                .iter()
                .chain(&member.compact.triples);
            let text = normalize_text(&parts.map(String::as_str).collect::<Vec<_>>().join(" "));
            for word in text.split(' ').collect::<FxHashSet<_>>() {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        Self {
            documents: collection.0.len() as f64,
            counts,
        }
    }

    /// Returns the mean inverse document frequency of a phrase's words. Words of a single dataset are mostly codes or
    /// misspellings, and weigh less than words of a few datasets.
    fn weigh(&self, phrase: &str) -> f64 {
        let normalized = normalize_text(phrase);
        let (mut sum, mut words) = (0.0, 0);
        for word in normalized.split(' ') {
            sum += match self.counts.get(word).copied().unwrap_or(1) {
                1 => 0.5 * self.documents.ln(),
                count => (self.documents / f64::from(count)).ln(),
            };
            words += 1;
        }
        // The text has at least one part, even if it is empty.
        sum / f64::from(words)
    }

    /// Returns phrases by TF-IDF: their frequency in the dataset times their inverse document frequency.
    fn best<'p>(&self, phrases: impl Iterator<Item = &'p String>) -> Vec<&'p str> {
        let mut times: FxHashMap<&str, u32> = FxHashMap::default();
        phrases.for_each(|phrase| *times.entry(phrase).or_default() += 1);
        let weighed = times
            .into_iter()
            .map(|(phrase, times)| (self.weigh(phrase) * f64::from(1 + times).ln(), phrase));
        let mut weighed: Vec<(f64, &str)> = weighed.filter(|(weight, _)| *weight > 0.0).collect();
        // A hash map has no order, so the phrase decides between equal weights.
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        weighed
            .into_iter()
            .take(MAX_DRAWN_PHRASES)
            .map(|(_, phrase)| phrase)
            .collect()
    }
}

/// Returns the distinct queries of a dataset, with their sources.
fn generate_queries(
    id: &DatasetId,
    member: &Member,
    idf: &IdfWeights,
    options: &QueryOptions<'_>,
    data: &mut TrainingData,
) -> Vec<(QuerySource, String)> {
    let (metadata, contents) = (phrases_of_metadata(member), phrases_of_data(member));
    let mut queries: Vec<(QuerySource, String)> = Vec::new();
    for number in 0..options.per_dataset {
        let face = [QuerySource::Metadata, QuerySource::Data, QuerySource::Both][number % 3];
        let pools = match face {
            QuerySource::Metadata => vec![idf.best(metadata.iter())],
            QuerySource::Data => vec![idf.best(contents.iter())],
            QuerySource::Both => vec![idf.best(metadata.iter()), idf.best(contents.iter())],
        };
        match draw_query(&pools, &format!("{} {id} {number}", options.seed)) {
            Some(query) if queries.iter().all(|(_, other)| *other != query) => {
                queries.push((face, query))
            }
            Some(_) => data.left_out.add("queries that were there before"),
            None => data
                .left_out
                .add("queries for which there were too few words"),
        }
    }
    queries
}

/// Draws one to three phrases from the pools in turn, at least one of each. Returns `None` if they have too few words.
fn draw_query(pools: &[Vec<&str>], source: &str) -> Option<String> {
    let phrases = (1 + stable_hash(source) % MAX_PHRASES).max(pools.len() as u64);
    let mut words: Vec<&str> = Vec::new();
    let mut left = pools.to_vec();
    // Phrases that repeat a word or are too long are rejected, so there are more turns than phrases.
    for turn in 0..2 * MAX_PHRASES {
        let enough = turn >= phrases && words.len() >= *WORDS.start();
        let pool = &mut left[turn as usize % pools.len()];
        if enough || pool.is_empty() {
            continue;
        }
        let phrase =
            pool.remove((stable_hash(&format!("{source} {turn}")) % pool.len() as u64) as usize);
        let is_new = phrase.split(' ').all(|word| !words.contains(&word));
        if is_new && words.len() + phrase.split(' ').count() <= *WORDS.end() {
            words.extend(phrase.split(' '));
        }
    }
    (pools.iter().all(|pool| !pool.is_empty()) && WORDS.contains(&words.len()))
        .then(|| words.join(" "))
}

fn phrases_of_metadata(member: &Member) -> Vec<String> {
    let keywords = member
        .metadata
        .keywords
        .iter()
        .map(|keyword| keyword.value.as_str());
    let titles = member
        .metadata
        .titles
        .iter()
        .map(|title| title.value.as_str());
    titles
        .chain(keywords)
        .flat_map(split_into_runs)
        .filter(|phrase| is_typeable(phrase))
        .collect()
}

fn phrases_of_data(member: &Member) -> Vec<String> {
    member
        .names
        .iter()
        .flat_map(|name| split_into_runs(name))
        .filter(|phrase| is_typeable(phrase))
        .collect()
}

/// Returns true if a user could type the phrase: a few words of letters.
fn is_typeable(phrase: &str) -> bool {
    phrase.split(' ').count() <= MAX_PHRASE_WORDS
        && phrase.split(' ').all(|word| {
            word.chars().count() > 2 && word.chars().all(|c| c.is_alphabetic() || c == '-')
        })
}

/// Makes an example of a query. Returns `None` if the query does not find its dataset.
fn make_example(
    id: &DatasetId,
    member: &Member,
    face: QuerySource,
    query: String,
    searcher: &Searcher,
    collection: &Collection,
    negatives: usize,
) -> Result<Option<Example>, TrainingError> {
    let ranking = searcher.rank(&query, MAX_RANK.max(2 * negatives))?;
    if !ranking.iter().take(MAX_RANK).any(|scored| scored.id == *id) {
        return Ok(None);
    }
    let title = normalize_text(member.metadata.title());
    let ids = ranking.iter().map(|scored| &scored.id);
    let hard = select_hardest(ids, negatives, |other| {
        collection
            .0
            .get(other)
            .is_some_and(|found| other != id && normalize_text(found.metadata.title()) != title)
    });
    let mut positives = member.passage_ids(id);
    // The text from which the query was made is the best passage, and the best one is first.
    if face == QuerySource::Data {
        positives.reverse();
    }
    Ok(Some(Example {
        id: String::new(),
        query,
        style: Style::Generated,
        positives,
        negatives: hard
            .into_iter()
            .flat_map(|other| collection.0[other].passage_ids(other))
            .collect(),
        year: None,
        split: Some(Split::from_source(id.as_str())),
        fold: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_two_to_eight_words_of_all_pools() {
        let pools = [
            vec!["tree register", "parks", "girth of trunks measured"],
            vec!["ginkgo", "street names"],
        ];
        for number in 0..50 {
            let query = draw_query(&pools, &format!("source {number}")).expect("words enough");
            let words: Vec<&str> = query.split(' ').collect();
            assert!(WORDS.contains(&words.len()), "{query}");
            let has = |pool: &[&str]| pool.iter().any(|phrase| query.contains(phrase));
            assert!(pools.iter().all(|pool| has(pool)), "{query}");
            assert_eq!(
                query,
                draw_query(&pools, &format!("source {number}")).expect("the same")
            );
        }
        assert_eq!(draw_query(&[vec!["tree"]], "source"), None);
        assert_eq!(draw_query(&[vec!["tree register"], vec![]], "source"), None);
    }

    #[test]
    fn codes_and_numbers_are_not_typed() {
        assert!(is_typeable("street tree") && is_typeable("re-use"));
        assert!(
            !is_typeable("t0011")
                && !is_typeable("of it")
                && !is_typeable("one two three four five")
        );
    }
}
