//! Papers for training: dataset names removed, and papers that overlap test topics excluded.

use super::home_datasets::{Collection, read_lines};
use super::names::{find_occurrences, without_names};
use super::near_duplicates::ReferenceTexts;
use super::sentences::{standing_alone, task_sentences};
use super::tokens::{normalize_text, tokenize};
use super::{TrainingData, TrainingError};
use crate::tagger::{Lexicon, Statistics, Tagger, TaggerOptions};
use lodeseek_catalog::{DatasetId, Metadata};
use lodeseek_eval::ResearchTopic;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;

/// Input of examples from papers.
#[derive(Clone, Copy, Debug)]
pub struct PaperOptions<'o> {
    /// The papers, one JSON object a line: `title`, `abstract`, `positives`, `mentions`; optional `year`, `keywords`,
    /// `tldr_query`.
    pub papers: &'o Path,
    /// Test topics.
    pub topics: &'o [ResearchTopic],
}

/// Reason under which papers near a topic are listed.
const NEAR: &str = "papers near a topic";

#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) title: String,
    #[serde(rename = "abstract")]
    pub(super) summary: String,
    #[serde(default)]
    pub(super) keywords: String,
    #[serde(default)]
    pub(super) tldr_query: String,
    pub(super) year: Option<i32>,
    pub(super) positives: Vec<String>,
    #[serde(default)]
    pub(super) mentions: Vec<String>,
}

/// A paper without dataset names.
pub(super) struct Paper {
    pub(super) line: usize,
    pub(super) source: Line,
    /// Title, abstract and summary.
    pub(super) texts: [String; 3],
    /// Sentences of the abstract about the task.
    pub(super) sentence: String,
}

impl Paper {
    /// Returns an id made of the line number: papers have no other id.
    pub(super) fn id(&self) -> Option<DatasetId> {
        DatasetId::new(format!("paper-{}", self.line)).ok()
    }
}

/// Returns the papers for training, without dataset names.
pub(super) fn read_papers(
    options: &PaperOptions<'_>,
    collection: &Collection,
    data: &mut TrainingData,
) -> Result<Vec<Paper>, TrainingError> {
    let read = read_file(options.papers)?;
    let tagger = build_tagger(&read, collection)?;
    let known = test_texts(options.topics);
    let mut titles = FxHashSet::default();
    let mut papers = Vec::new();
    data.left_out.add_many(NEAR, 0);
    for (line, source) in read {
        let whole = format!("{} {} {}", source.title, source.summary, source.tldr_query);
        if known.is_near(&whole)
            || [&source.title, &source.tldr_query]
                .iter()
                .any(|text| known.contains(text))
        {
            data.left_out.add(NEAR);
            data.excluded.entry(NEAR).or_default().push(source.title);
        } else if titles.insert(normalize_text(&source.title)) {
            papers.push(without_dataset_names(line, source, &tagger));
        } else {
            data.left_out.add("papers of a title that was there before");
        }
    }
    Ok(papers)
}

fn read_file(path: &Path) -> Result<Vec<(usize, Line)>, TrainingError> {
    let mut papers = Vec::new();
    for (line, text) in read_lines(path)? {
        let mut paper: Line = serde_json::from_str(&text).map_err(|cause| TrainingError::Line {
            path: path.to_owned(),
            line,
            reason: cause.to_string(),
        })?;
        // Some abstracts are in quotation marks, left over from tables.
        paper.summary = paper.summary.trim().trim_matches('"').to_owned();
        // The name of a dataset in `positives` is one of its names, too.
        paper.mentions.extend(paper.positives.iter().cloned());
        papers.push((line, paper));
    }
    Ok(papers)
}

/// Builds a tagger of the home's datasets with statistics of the same papers.
fn build_tagger(
    papers: &[(usize, Line)],
    collection: &Collection,
) -> Result<Tagger, TrainingError> {
    let metadata: Vec<Metadata> = collection
        .0
        .values()
        .map(|member| member.metadata.clone())
        .collect();
    let lexicon = Lexicon::from_datasets(&metadata)?;
    let mut statistics = Statistics::new(&lexicon);
    papers
        .iter()
        .for_each(|(_, paper)| statistics.add(&lexicon, &[&paper.title, &paper.summary]));
    Ok(Tagger::new(lexicon, &statistics, &TaggerOptions::default()))
}

/// Collects the texts of topics to compare papers with. Keyphrases are excluded: many papers share them, so they are
/// compared with queries only.
fn test_texts(topics: &[ResearchTopic]) -> ReferenceTexts {
    let mut known = ReferenceTexts::default();
    topics
        .iter()
        .flat_map(|topic| [&topic.sentence, &topic.summary])
        .for_each(|text| known.add(text));
    known
}

fn without_dataset_names(line: usize, source: Line, tagger: &Tagger) -> Paper {
    let texts = [
        source.title.as_str(),
        source.summary.as_str(),
        source.tldr_query.as_str(),
    ];
    let mut places: [Vec<Range<usize>>; 3] = Default::default();
    for mention in tagger
        .tag(&texts)
        .into_iter()
        .filter(|mention| mention.accepted_dataset().is_some())
    {
        places[mention.text].push(mention.place);
    }
    for (places, text) in places.iter_mut().zip(texts) {
        places.extend(
            source
                .mentions
                .iter()
                .flat_map(|name| find_occurrences(text, name)),
        );
    }
    let sentence = task_sentences(&source.summary).unwrap_or_default();
    let sentence: Vec<String> = sentence
        .into_iter()
        .map(|part| standing_alone(&part_without_names(&source.summary, part, &places[1])))
        .collect();
    let [title, summary, tldr] = [0, 1, 2].map(|text| without_names(texts[text], &places[text]));
    let title = without_coined_title(&title).to_owned();
    Paper {
        line,
        texts: [title, summary, tldr],
        sentence: sentence.join(" "),
        source,
    }
}

/// Returns a part of a text without the names in it.
fn part_without_names(text: &str, part: Range<usize>, places: &[Range<usize>]) -> String {
    let inside = places
        .iter()
        .filter(|place| part.start <= place.start && place.end <= part.end);
    let moved: Vec<Range<usize>> = inside
        .map(|place| place.start - part.start..place.end - part.start)
        .collect();
    without_names(&text[part], &moved)
}

/// Returns "Reconstruction of scenes" for "Flash3D: Reconstruction of scenes": the authors' own name is removed.
fn without_coined_title(title: &str) -> &str {
    let Some((name, rest)) = title.split_once(':') else {
        return title;
    };
    let words = tokenize(name);
    let is_name = words.len() == 1
        || words.len() <= 5 && words.iter().any(super::tokens::Token::is_strongly_marked);
    if is_name && rest.split_whitespace().count() > 1 {
        rest.trim()
    } else {
        title
    }
}
