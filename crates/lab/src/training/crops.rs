//! Training data from papers: pieces of an abstract as queries for its other pieces.
//!
//! Pieces of one abstract are similar without sharing sentences. Like [abstracts](super::abstracts), these examples are
//! mixed with the [mentions](super::mentions), so that papers on the same topic stay close. After R. González-Márquez,
//! P. Berens and D. Kobak, *Cropping outperforms dropout as an augmentation strategy for self-supervised training of
//! text embeddings*, TMLR 2026 (arXiv:2508.03453). The authors draw two crops, which may overlap. Here an abstract is
//! divided once into pieces of at least two sentences. Pairs therefore share no sentence, and training draws one of the
//! other pieces. The papers are those of the mentions, with the same names removed and the same papers excluded.

use super::home_datasets::Collection;
use super::papers::{Paper, read_papers};
use super::tokens::{count_words, join_tokens, normalize_text, split_sentences, tokenize};
use super::{
    Example, PaperOptions, PassageKind, PassageRecord, Split, Style, TrainingData, TrainingError,
};
use lodeseek_engine::Searcher;
use lodeseek_ranking::DatasetId;
use std::ops::Range;

/// Minimum number of sentences of a piece. A remaining sentence joins the last piece.
const MIN_PIECE_SENTENCES: usize = 2;
/// Minimum number of words of a piece. Shorter pieces have no clear topic.
const MIN_CROP_WORDS: usize = 12;

/// Makes one example of each piece of an abstract with several pieces.
///
/// # Errors
///
/// Fails if the home or the papers cannot be read.
pub fn make_crop_examples(
    searcher: &Searcher,
    options: &PaperOptions<'_>,
) -> Result<TrainingData, TrainingError> {
    let collection = Collection::read(searcher)?;
    let mut data = TrainingData::default();
    for paper in read_papers(options, &collection, &mut data)? {
        let pieces = split_into_pieces(&paper.texts[1]);
        if pieces.len() < 2 {
            data.left_out
                .add("papers of an abstract that makes fewer than two pieces");
            continue;
        }
        let ids = (0..pieces.len())
            .filter_map(|place| DatasetId::new(format!("{}-{place}", paper.id()?)).ok());
        add_paper(&paper, ids.zip(pieces).collect(), &mut data);
    }
    Ok(data)
}

fn add_paper(paper: &Paper, pieces: Vec<(DatasetId, String)>, data: &mut TrainingData) {
    let passages: Vec<String> = pieces
        .iter()
        .map(|(id, _)| PassageKind::Crop.passage_id(id))
        .collect();
    // The split of the paper's mentions, with which these examples are mixed.
    let split = Split::from_source(&normalize_text(&paper.source.title));
    for (place, (id, piece)) in pieces.into_iter().enumerate() {
        data.examples.push(Example {
            id: format!("crop-{id}"),
            query: piece.clone(),
            style: Style::Crop,
            positives: [&passages[..place], &passages[place + 1..]].concat(),
            negatives: Vec::new(),
            year: None,
            split: Some(split),
            fold: None,
        });
        data.insert(PassageRecord {
            id: passages[place].clone(),
            dataset: id,
            text: PassageKind::Crop,
            parts: vec![piece],
            pieces_a_part: None,
            year: None,
        });
    }
}

/// Divides a text into pieces of whole sentences with enough words.
fn split_into_pieces(text: &str) -> Vec<String> {
    let all = tokenize(text);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for sentence in split_sentences(&all) {
        let is_full = taken >= MIN_PIECE_SENTENCES
            && pieces
                .last()
                .is_some_and(|piece| count_words(&all[piece.clone()]) >= MIN_CROP_WORDS);
        match pieces.last_mut() {
            Some(piece) if !is_full => (piece.end, taken) = (sentence.end, taken + 1),
            _ => {
                pieces.push(sentence);
                taken = 1;
            }
        }
    }
    if let Some(last) = pieces.pop() {
        let is_left_over =
            taken < MIN_PIECE_SENTENCES || count_words(&all[last.clone()]) < MIN_CROP_WORDS;
        match pieces.last_mut() {
            Some(before) if is_left_over => before.end = last.end,
            _ => pieces.push(last),
        }
    }
    pieces
        .into_iter()
        .map(|piece| join_tokens(all[piece].iter().copied()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOATS: &str = "Boats are hard to see at night.";
    const WE: &str = "We study a network that sees them, on three lakes of Finland.";

    #[test]
    fn abstracts_are_cut_between_sentences_and_nothing_is_lost() {
        let two = format!("{BOATS} {WE}");
        assert_eq!(
            split_into_pieces(&two),
            [two.as_str()],
            "of two sentences there is one piece"
        );
        assert_eq!(
            split_into_pieces(&format!("{two} {BOATS}")),
            [format!("{two} {BOATS}")],
            "one left over goes with the last"
        );
        assert_eq!(
            split_into_pieces(&format!("{two} {two}")),
            [two.clone(), two.clone()]
        );
        assert_eq!(
            split_into_pieces(&format!("{two} {two} {WE}")),
            [two.clone(), format!("{two} {WE}")]
        );
        let few = format!("It is. It was. {BOATS}");
        assert_eq!(
            split_into_pieces(&format!("{few} {WE} {two}")),
            [format!("{few} {WE}"), two],
            "eleven words are too few"
        );
        assert!(split_into_pieces("").is_empty());
    }
}
