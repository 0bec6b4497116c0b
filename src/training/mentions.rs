//! Papers that name the datasets they use, as queries: training data of DataFinder's bi-encoder.
//!
//! V. Viswanathan et al., *DataFinder*, ACL 2023: the description of a paper, the names of its datasets masked, is a query
//! for these datasets. Here names are [taken out](super::names) instead, and a paper gives up to four queries, as people put
//! their needs: a [summary](Style::Summary) where somebody wrote one, the [sentence](Style::Sentence) of the abstract that
//! says what is done, its [beginning](Style::Abstract), and [keyphrases](Style::Keyphrases). What is known to be later than
//! the paper is no positive and no negative of it. Papers that say nearly what a topic says that is tested on are left out.

use super::collection::{Collection, hardest, lines};
use super::keyphrases::{Vocabulary, listed};
use super::names::{occurrences, without_names};
use super::overlap::Known;
use super::sentences::{beginning, standing_alone, telling};
use super::tokens::{normalized, tokens};
use super::{Example, PassageKind, Split, Style, TrainingData, TrainingError};
use crate::catalog::{DatasetId, Metadata};
use crate::engine::{Filter, Searcher};
use crate::eval::ResearchTopic;
use crate::sparse::{LengthMode, ModelKind};
use crate::tagger::{Lexicon, Statistics, Tagger, TaggerOptions};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;

/// What examples are made of papers with.
#[derive(Clone, Copy, Debug)]
pub struct MentionOptions<'o> {
    /// The papers, one a line: `title`, `abstract`, `positives` and `mentions`, and where they are known `year`, `keywords`
    /// and `tldr_query`.
    pub papers: &'o Path,
    /// The topics that are tested on.
    pub topics: &'o [ResearchTopic],
    /// Negatives of a query.
    pub negatives: usize,
}

/// Words of the beginning of a paper.
const BEGINNING: usize = 60;
/// The fewest words of a query that is no keyphrases.
const FEWEST: usize = 4;
/// The reason under which papers near a topic are named.
const NEAR: &str = "papers near a topic";

#[derive(Deserialize)]
struct Line {
    title: String,
    #[serde(rename = "abstract")]
    summary: String,
    #[serde(default)]
    keywords: String,
    #[serde(default)]
    tldr_query: String,
    year: Option<i32>,
    positives: Vec<String>,
    #[serde(default)]
    mentions: Vec<String>,
}

/// A paper, without names.
struct Paper {
    line: usize,
    source: Line,
    /// Its title, abstract and summary.
    texts: [String; 3],
    /// What its abstract says is done.
    sentence: String,
}

/// A query of a paper, before its negatives.
struct Draft<'p> {
    paper: &'p Paper,
    style: Style,
    query: String,
    positives: Vec<&'p DatasetId>,
}

/// Examples of papers, and the metadata of all datasets of the home. The hook hears how many queries have their negatives,
/// of how many.
pub fn mentions(
    searcher: Searcher,
    options: &MentionOptions<'_>,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let searcher = searcher.with_model(ModelKind::Bm25.model(LengthMode::Exact));
    let collection = Collection::read(&searcher)?;
    let mut data = TrainingData::default();
    let papers = papers(options, &collection, &mut data)?;
    let vocabulary = Vocabulary::of(papers.iter().map(|paper| paper.texts[0].as_str()));
    let asked = asked(options.topics);
    let mut drafts = Vec::new();
    for paper in &papers {
        let positives = positives(paper, &collection, &mut data);
        if positives.is_empty() {
            data.left_out.add("papers without a dataset of the home");
            continue;
        }
        drafts.extend(queries(paper, &vocabulary, &positives, &asked, &mut data));
    }
    let answers = answers(&drafts);
    for (done, draft) in drafts.iter().enumerate() {
        let answers = &answers[&normalized(&draft.query)];
        data.examples.push(example(draft, &searcher, &collection, answers, options.negatives)?);
        on_progress(done + 1, drafts.len());
    }
    collection.passages(&[PassageKind::Metadata]).for_each(|passage| data.insert(passage));
    Ok(data)
}

/// The papers that may be trained on, without the names in them.
fn papers(
    options: &MentionOptions<'_>,
    collection: &Collection,
    data: &mut TrainingData,
) -> Result<Vec<Paper>, TrainingError> {
    let read = read(options.papers)?;
    let tagger = tagger(&read, collection)?;
    let known = known(options.topics);
    let mut titles = FxHashSet::default();
    let mut papers = Vec::new();
    data.left_out.add_many(NEAR, 0);
    for (line, source) in read {
        let whole = format!("{} {} {}", source.title, source.summary, source.tldr_query);
        if known.is_near(&whole) || [&source.title, &source.tldr_query].iter().any(|text| known.has(text)) {
            data.left_out.add(NEAR);
            data.excluded.entry(NEAR).or_default().push(source.title);
        } else if titles.insert(normalized(&source.title)) {
            papers.push(nameless(line, source, &tagger));
        } else {
            data.left_out.add("papers of a title that was there before");
        }
    }
    Ok(papers)
}

fn read(path: &Path) -> Result<Vec<(usize, Line)>, TrainingError> {
    let read = |(line, text): (usize, String)| {
        let paper: Result<Line, _> = serde_json::from_str(&text);
        let failed =
            |cause: serde_json::Error| TrainingError::Line { path: path.to_owned(), line, reason: cause.to_string() };
        let mut paper = paper.map_err(failed)?;
        // Tables that abstracts went through put some in quotation marks.
        paper.summary = paper.summary.trim().trim_matches('"').to_owned();
        // What a dataset goes by in the list is a name of it, too.
        paper.mentions.extend(paper.positives.iter().cloned());
        Ok((line, paper))
    };
    lines(path)?.into_iter().map(read).collect()
}

/// Finds the home's datasets in papers; how names are used is learned of the same papers.
fn tagger(papers: &[(usize, Line)], collection: &Collection) -> Result<Tagger, TrainingError> {
    let metadata: Vec<Metadata> = collection.0.values().map(|member| member.metadata.clone()).collect();
    let lexicon = Lexicon::of(&metadata)?;
    let mut statistics = Statistics::new(&lexicon);
    papers.iter().for_each(|(_, paper)| statistics.add(&lexicon, &[&paper.title, &paper.summary]));
    Ok(Tagger::new(lexicon, &statistics, &TaggerOptions::default()))
}

/// What topics say, to be found in papers. Keyphrases are what many papers are about: they are compared with queries alone.
fn known(topics: &[ResearchTopic]) -> Known {
    let mut known = Known::default();
    topics.iter().flat_map(|topic| [&topic.sentence, &topic.summary]).for_each(|text| known.add(text));
    known
}

/// The queries of topics, as they are compared.
fn asked(topics: &[ResearchTopic]) -> FxHashSet<String> {
    topics.iter().flat_map(|topic| [normalized(&topic.sentence), normalized(&topic.keyphrases)]).collect()
}

fn nameless(line: usize, source: Line, tagger: &Tagger) -> Paper {
    let given = [source.title.as_str(), source.summary.as_str(), source.tldr_query.as_str()];
    let mut places: [Vec<Range<usize>>; 3] = Default::default();
    for mention in tagger.tag(&given).into_iter().filter(|mention| mention.accepted().is_some()) {
        places[mention.text].push(mention.place);
    }
    for (places, text) in places.iter_mut().zip(given) {
        places.extend(source.mentions.iter().flat_map(|name| occurrences(text, name)));
    }
    let sentence = telling(&source.summary).unwrap_or_default();
    let sentence: Vec<String> =
        sentence.into_iter().map(|part| standing_alone(&within(&source.summary, part, &places[1]))).collect();
    let texts = [0, 1, 2].map(|text| without_names(given[text], &places[text]));
    let title = without_coined_title(&texts[0]).to_owned();
    let [_, summary, tldr] = texts;
    Paper { line, texts: [title, summary, tldr], sentence: sentence.join(" "), source }
}

/// A part of a text without the names in it.
fn within(text: &str, part: Range<usize>, places: &[Range<usize>]) -> String {
    let inside = places.iter().filter(|place| part.start <= place.start && place.end <= part.end);
    let moved: Vec<Range<usize>> = inside.map(|place| place.start - part.start..place.end - part.start).collect();
    without_names(&text[part], &moved)
}

/// "Flash3D: Reconstruction of scenes" without what the authors call it.
fn without_coined_title(title: &str) -> &str {
    let Some((name, rest)) = title.split_once(':') else { return title };
    let words = tokens(name);
    let is_name = words.len() == 1 || words.len() <= 5 && words.iter().any(super::tokens::Token::is_strongly_marked);
    if is_name && rest.split_whitespace().count() > 1 { rest.trim() } else { title }
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
fn queries<'p>(
    paper: &'p Paper,
    vocabulary: &Vocabulary,
    positives: &[&'p DatasetId],
    asked: &FxHashSet<String>,
    data: &mut TrainingData,
) -> Vec<Draft<'p>> {
    let mut drafts: Vec<Draft<'p>> = Vec::new();
    for (style, query) in worded(paper, vocabulary) {
        let fewest = if style == Style::Keyphrases { 2 } else { FEWEST };
        let is_repeated = drafts.iter().any(|other| normalized(&other.query) == normalized(&query));
        if query.split_whitespace().count() < fewest {
            data.left_out.add("queries of too few words");
        } else if asked.contains(&normalized(&query)) {
            data.left_out.add("queries equal to a topic's");
        } else if tells_a_name(&query, &paper.source.mentions) {
            data.left_out.add("queries that still tell a name");
        } else if !is_repeated {
            drafts.push(Draft { paper, style, query, positives: positives.to_vec() });
        }
    }
    drafts
}

/// What a paper says, by style; styles that it has nothing for are not there.
fn worded(paper: &Paper, vocabulary: &Vocabulary) -> Vec<(Style, String)> {
    let [title, summary, tldr] = &paper.texts;
    let keyphrases = vocabulary.keyphrases(title, summary, &listed(&paper.source.keywords)).unwrap_or_default();
    let room = BEGINNING.saturating_sub(title.split_whitespace().count());
    let beginning = format!("{}. {}", title.trim_end_matches(['.', '?', '!']), beginning(summary, room));
    let all = [
        (Style::Summary, tldr.clone()),
        (Style::Sentence, paper.sentence.clone()),
        (Style::Abstract, beginning),
        (Style::Keyphrases, keyphrases),
    ];
    all.into_iter().filter(|(_, query)| !query.trim().is_empty()).collect()
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
        id: format!("mention-{}-{}", draft.paper.line, draft.style.name()),
        query: draft.query.clone(),
        style: draft.style,
        positives: metadata(draft.positives.clone()),
        negatives: metadata(negatives),
        year,
        split: Some(Split::of(&normalized(&draft.paper.source.title))),
        fold: None,
    })
}
