//! Papers that name the datasets they use, as queries: training data of DataFinder's bi-encoder.
//!
//! V. Viswanathan et al., *DataFinder*, ACL 2023: the description of a paper, the names of its datasets masked, is a query
//! for these datasets. Here names are [taken out](super::names) instead, and a paper gives up to four queries, as people put
//! their needs: a [summary](Style::Summary) where somebody wrote one, the [sentence](Style::Sentence) of the abstract that
//! says what is done, its [beginning](Style::Abstract), and [keyphrases](Style::Keyphrases); where there are queries that
//! people asked, without what they are for, also the two that [fit it best](Style::Asked). What is known to be later than
//! the paper is no positive and no negative of it. Papers that say nearly what a topic says that is tested on are left out.

use super::asked::Asked;
use super::collection::{Collection, hardest};
use super::keyphrases::{Vocabulary, listed};
use super::names::occurrences;
use super::papers::{Paper, papers};
use super::sentences::beginning;
use super::tokens::{normalized, tokens};
use super::{Example, PaperOptions, PassageKind, Split, Style, TrainingData, TrainingError};
use lodeseek_engine::{Filter, Searcher};
use lodeseek_eval::ResearchTopic;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_ranking::DatasetId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Words of the beginning of a paper.
const BEGINNING: usize = 60;
/// The fewest words of a query that is no keyphrases.
const FEWEST: usize = 4;

/// How what papers are about is put.
struct Ways {
    vocabulary: Vocabulary,
    asked: Asked,
    /// The queries that are tested on.
    tested: FxHashSet<String>,
}

/// A query of a paper, before its negatives.
struct Draft<'p> {
    paper: &'p Paper,
    style: Style,
    /// The style, and a number where there are several.
    name: String,
    query: String,
    positives: Vec<&'p DatasetId>,
}

/// Examples of papers, and the metadata of all datasets of the home. `queries`: what people asked, of which it is not known
/// what for. The hook hears how many queries have their negatives,
/// of how many.
pub fn mentions(
    searcher: Searcher,
    options: &PaperOptions<'_>,
    queries: &[String],
    negatives: usize,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let searcher = searcher.with_model(ModelKind::Bm25.model(LengthMode::Exact));
    let collection = Collection::read(&searcher)?;
    let mut data = TrainingData::default();
    let papers = papers(options, &collection, &mut data)?;
    let vocabulary = Vocabulary::of(papers.iter().map(|paper| paper.texts[0].as_str()));
    let ways = Ways {
        vocabulary,
        asked: Asked::new(queries, papers.iter().map(|paper| [paper.texts[0].as_str(), paper.texts[1].as_str()])),
        tested: tested(options.topics),
    };
    let mut drafts = Vec::new();
    for paper in &papers {
        let positives = positives(paper, &collection, &mut data);
        if positives.is_empty() {
            data.left_out.add("papers without a dataset of the home");
            continue;
        }
        drafts.extend(drafted(paper, &ways, &positives, &mut data));
    }
    let answers = answers(&drafts);
    for (done, draft) in drafts.iter().enumerate() {
        let answers = &answers[&normalized(&draft.query)];
        data.examples.push(example(draft, &searcher, &collection, answers, negatives)?);
        on_progress(done + 1, drafts.len());
    }
    collection.passages(&[PassageKind::Metadata]).for_each(|passage| data.insert(passage));
    Ok(data)
}

/// The queries of topics, as they are compared.
fn tested(topics: &[ResearchTopic]) -> FxHashSet<String> {
    topics.iter().flat_map(|topic| [normalized(&topic.sentence), normalized(&topic.keyphrases)]).collect()
}

/// The datasets of a paper that the home has and that are not later than it, each once.
fn positives<'c>(paper: &Paper, collection: &'c Collection, data: &mut TrainingData) -> Vec<&'c DatasetId> {
    let mut positives = Vec::new();
    for name in &paper.source.positives {
        // Ids as catalogues of Papers with Code have them: names without white space.
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

/// The queries of a paper, each once.
fn drafted<'p>(paper: &'p Paper, ways: &Ways, positives: &[&'p DatasetId], data: &mut TrainingData) -> Vec<Draft<'p>> {
    let mut drafts: Vec<Draft<'p>> = Vec::new();
    for (style, query) in worded(paper, ways) {
        let fewest = if matches!(style, Style::Keyphrases | Style::Asked) { 2 } else { FEWEST };
        let is_repeated = drafts.iter().any(|other| normalized(&other.query) == normalized(&query));
        if query.split_whitespace().count() < fewest {
            data.left_out.add("queries of too few words");
        } else if ways.tested.contains(&normalized(&query)) {
            data.left_out.add("queries equal to a topic's");
        } else if tells_a_name(&query, &paper.source.mentions) {
            data.left_out.add("queries that still tell a name");
        } else if !is_repeated {
            let number = 1 + drafts.iter().filter(|other| other.style == style).count();
            let name = if number == 1 { style.name().to_owned() } else { format!("{}-{number}", style.name()) };
            drafts.push(Draft { paper, style, name, query, positives: positives.to_vec() });
        }
    }
    drafts
}

/// What a paper says, by style; styles that it has nothing for are not there.
fn worded(paper: &Paper, ways: &Ways) -> Vec<(Style, String)> {
    let [title, summary, tldr] = &paper.texts;
    let keyphrases = ways.vocabulary.keyphrases(title, summary, &listed(&paper.source.keywords)).unwrap_or_default();
    let room = BEGINNING.saturating_sub(title.split_whitespace().count());
    let beginning = format!("{}. {}", title.trim_end_matches(['.', '?', '!']), beginning(summary, room));
    let asked = ways.asked.of(title, summary).into_iter().map(|query| (Style::Asked, query.to_owned()));
    let all = [
        (Style::Summary, tldr.clone()),
        (Style::Sentence, paper.sentence.clone()),
        (Style::Abstract, beginning),
        (Style::Keyphrases, keyphrases),
    ];
    all.into_iter().chain(asked).filter(|(_, query)| !query.trim().is_empty()).collect()
}

/// Whether a name of the paper's datasets is still in a query; in other capitals, too, where it can be nothing but a name.
fn tells_a_name(query: &str, names: &[String]) -> bool {
    let lower = query.to_lowercase();
    names.iter().any(|name| {
        let is_only_name = tokens(name).iter().any(super::tokens::Token::is_strongly_marked);
        !occurrences(query, name).is_empty() || is_only_name && !occurrences(&lower, &name.to_lowercase()).is_empty()
    })
}

/// All datasets that answer a query: papers that ask the same in the same words have each its own.
fn answers<'p>(drafts: &[Draft<'p>]) -> FxHashMap<String, FxHashSet<&'p DatasetId>> {
    let mut answers: FxHashMap<String, FxHashSet<&DatasetId>> = FxHashMap::default();
    for draft in drafts {
        answers.entry(normalized(&draft.query)).or_default().extend(&draft.positives);
    }
    answers
}

fn example(
    draft: &Draft<'_>,
    searcher: &Searcher,
    collection: &Collection,
    answers: &FxHashSet<&DatasetId>,
    negatives: usize,
) -> Result<Example, TrainingError> {
    let year = draft.paper.source.year;
    let filter = year.map(Filter::until).unwrap_or_default();
    let ranking = searcher.rank_filtered(&draft.query, &filter, negatives + answers.len())?;
    let known = ranking.iter().map(|scored| &scored.id).filter(|id| collection.0.contains_key(*id));
    let negatives = hardest(known, negatives, |id| !answers.contains(id));
    let metadata = |ids: Vec<&DatasetId>| ids.into_iter().map(|id| PassageKind::Metadata.of(id)).collect();
    Ok(Example {
        id: format!("mention-{}-{}", draft.paper.line, draft.name),
        query: draft.query.clone(),
        style: draft.style,
        positives: metadata(draft.positives.clone()),
        negatives: metadata(negatives),
        year,
        split: Some(Split::of(&normalized(&draft.paper.source.title))),
        fold: None,
    })
}
