//! Training data from papers that name the datasets they use: the data of DataFinder's bi-encoder.
//!
//! In V. Viswanathan et al., *DataFinder*, ACL 2023, the description of a paper is a query for its datasets, with their
//! names masked. Here names are removed. A paper yields up to four queries of different styles:
//!
//! - a [summary](Style::Summary), if the papers have one;
//! - the [sentence](Style::Sentence) of the abstract about the task;
//! - its [beginning](Style::Abstract);
//! - [keyphrases](Style::Keyphrases).
//!
//! A list of real queries adds the two that [fit the paper best](Style::UserQuery). Datasets known to be newer than the
//! paper are neither positives nor negatives. Papers that overlap a test topic are excluded.

use super::home_datasets::{Collection, select_hardest};
use super::keyphrases::{Vocabulary, split_keywords};
use super::names::find_occurrences;
use super::papers::{Paper, read_papers};
use super::query_log::QueryLog;
use super::sentences::take_beginning;
use super::tokens::{normalize_text, tokenize};
use super::{Example, PaperOptions, PassageKind, Split, Style, TrainingData, TrainingError};
use lodeseek_engine::{Filter, Searcher};
use lodeseek_eval::ResearchTopic;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_ranking::DatasetId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of words of the beginning of a paper.
const MAX_BEGINNING_WORDS: usize = 60;
/// Minimum number of words of a query other than keyphrases.
const MIN_OTHER_WORDS: usize = 4;

/// Sources of queries for a paper.
struct QuerySources {
    vocabulary: Vocabulary,
    query_log: QueryLog,
    /// Queries of test topics.
    tested: FxHashSet<String>,
}

/// A query of a paper before its negatives are added.
struct Draft<'p> {
    paper: &'p Paper,
    style: Style,
    /// Style, with a number if there are several queries of this style.
    name: String,
    query: String,
    positives: Vec<&'p DatasetId>,
}

/// Makes examples of papers, and passages of the metadata of all datasets of the home.
///
/// `queries` are real queries without relevance information. `on_progress` receives the number of queries with
/// negatives, and the number of all queries.
///
/// # Errors
///
/// Fails if the home or the papers cannot be read.
pub fn make_mention_examples(
    searcher: Searcher,
    options: &PaperOptions<'_>,
    queries: &[String],
    negatives: usize,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let searcher = searcher.with_model(ModelKind::Bm25.model(LengthMode::Exact));
    let collection = Collection::read(&searcher)?;
    let mut data = TrainingData::default();
    let papers = read_papers(options, &collection, &mut data)?;
    let vocabulary = Vocabulary::from_titles(papers.iter().map(|paper| paper.texts[0].as_str()));
    let sources = QuerySources {
        vocabulary,
        query_log: QueryLog::new(
            queries,
            papers
                .iter()
                .map(|paper| [paper.texts[0].as_str(), paper.texts[1].as_str()]),
        ),
        tested: topic_queries(options.topics),
    };
    let mut drafts = Vec::new();
    for paper in &papers {
        let positives = select_positives(paper, &collection, &mut data);
        if positives.is_empty() {
            data.left_out.add("papers without a dataset of the home");
            continue;
        }
        drafts.extend(draft_queries(paper, &sources, &positives, &mut data));
    }
    let answers = relevant_datasets(&drafts);
    for (done, draft) in drafts.iter().enumerate() {
        let answers = &answers[&normalize_text(&draft.query)];
        data.examples.push(make_example(
            draft,
            &searcher,
            &collection,
            answers,
            negatives,
        )?);
        on_progress(done + 1, drafts.len());
    }
    collection
        .passages(&[PassageKind::Metadata])
        .for_each(|passage| data.insert(passage));
    Ok(data)
}

/// Returns the queries of topics in normalized form.
fn topic_queries(topics: &[ResearchTopic]) -> FxHashSet<String> {
    topics
        .iter()
        .flat_map(|topic| {
            [
                normalize_text(&topic.sentence),
                normalize_text(&topic.keyphrases),
            ]
        })
        .collect()
}

/// Returns the distinct datasets of a paper that are in the home and not newer than the paper.
fn select_positives<'c>(
    paper: &Paper,
    collection: &'c Collection,
    data: &mut TrainingData,
) -> Vec<&'c DatasetId> {
    let mut positives = Vec::new();
    for name in &paper.source.positives {
        // Ids have the form of Papers with Code catalogues: names without white space.
        let name = name.split_whitespace().collect::<Vec<_>>().join("_");
        match collection.find(&name) {
            None => data.left_out.add("positives that are not in the home"),
            Some((_, member)) if member.is_later(paper.source.year) => {
                data.left_out.add("positives later than their paper");
            }
            Some((id, _)) if positives.contains(&id) => {}
            Some((id, _)) => positives.push(id),
        }
    }
    positives
}

/// Returns the distinct queries of a paper.
fn draft_queries<'p>(
    paper: &'p Paper,
    sources: &QuerySources,
    positives: &[&'p DatasetId],
    data: &mut TrainingData,
) -> Vec<Draft<'p>> {
    let mut drafts: Vec<Draft<'p>> = Vec::new();
    for (style, query) in query_texts(paper, sources) {
        let fewest = if matches!(style, Style::Keyphrases | Style::UserQuery) {
            2
        } else {
            MIN_OTHER_WORDS
        };
        let is_repeated = drafts
            .iter()
            .any(|other| normalize_text(&other.query) == normalize_text(&query));
        if query.split_whitespace().count() < fewest {
            data.left_out.add("queries of too few words");
        } else if sources.tested.contains(&normalize_text(&query)) {
            data.left_out.add("queries equal to a topic's");
        } else if contains_name(&query, &paper.source.mentions) {
            data.left_out.add("queries that still tell a name");
        } else if !is_repeated {
            let number = 1 + drafts.iter().filter(|other| other.style == style).count();
            let name = if number == 1 {
                style.name().to_owned()
            } else {
                format!("{}-{number}", style.name())
            };
            drafts.push(Draft {
                paper,
                style,
                name,
                query,
                positives: positives.to_vec(),
            });
        }
    }
    drafts
}

/// Returns the texts of a paper's queries by style. Styles without a text are absent.
fn query_texts(paper: &Paper, sources: &QuerySources) -> Vec<(Style, String)> {
    let [title, summary, tldr] = &paper.texts;
    let keyphrases = sources
        .vocabulary
        .keyphrases(title, summary, &split_keywords(&paper.source.keywords))
        .unwrap_or_default();
    let room = MAX_BEGINNING_WORDS.saturating_sub(title.split_whitespace().count());
    let beginning = format!(
        "{}. {}",
        title.trim_end_matches(['.', '?', '!']),
        take_beginning(summary, room)
    );
    let logged = sources
        .query_log
        .matching(title, summary)
        .into_iter()
        .map(|query| (Style::UserQuery, query.to_owned()));
    let all = [
        (Style::Summary, tldr.clone()),
        (Style::Sentence, paper.sentence.clone()),
        (Style::Abstract, beginning),
        (Style::Keyphrases, keyphrases),
    ];
    all.into_iter()
        .chain(logged)
        .filter(|(_, query)| !query.trim().is_empty())
        .collect()
}

/// Returns true if a query still contains a name of the paper's datasets. Names that resemble no ordinary word are
/// compared without regard to case.
fn contains_name(query: &str, names: &[String]) -> bool {
    let lower = query.to_lowercase();
    names.iter().any(|name| {
        let is_only_name = tokenize(name)
            .iter()
            .any(super::tokens::Token::is_strongly_marked);
        !find_occurrences(query, name).is_empty()
            || is_only_name && !find_occurrences(&lower, &name.to_lowercase()).is_empty()
    })
}

/// Returns all datasets that are relevant to a query. Papers with the same query share their datasets.
fn relevant_datasets<'p>(drafts: &[Draft<'p>]) -> FxHashMap<String, FxHashSet<&'p DatasetId>> {
    let mut answers: FxHashMap<String, FxHashSet<&DatasetId>> = FxHashMap::default();
    for draft in drafts {
        answers
            .entry(normalize_text(&draft.query))
            .or_default()
            .extend(&draft.positives);
    }
    answers
}

fn make_example(
    draft: &Draft<'_>,
    searcher: &Searcher,
    collection: &Collection,
    answers: &FxHashSet<&DatasetId>,
    negatives: usize,
) -> Result<Example, TrainingError> {
    let year = draft.paper.source.year;
    let filter = year.map(Filter::until).unwrap_or_default();
    // All relevant datasets may precede the negatives.
    let ranking = searcher.rank_filtered(&draft.query, &filter, negatives + answers.len())?;
    let known = ranking
        .iter()
        .map(|scored| &scored.id)
        .filter(|id| collection.0.contains_key(*id));
    let negatives = select_hardest(known, negatives, |id| !answers.contains(id));
    Ok(Example {
        id: format!("mention-{}-{}", draft.paper.line, draft.name),
        query: draft.query.clone(),
        style: draft.style,
        positives: metadata_passage_ids(&draft.positives),
        negatives: metadata_passage_ids(&negatives),
        year,
        // All queries of a paper belong to one split.
        split: Some(Split::from_source(&normalize_text(
            &draft.paper.source.title,
        ))),
        fold: None,
    })
}

fn metadata_passage_ids(ids: &[&DatasetId]) -> Vec<String> {
    ids.iter()
        .map(|id| PassageKind::Metadata.passage_id(id))
        .collect()
}
