//! Pieces of a paper's abstract as queries for the other pieces of it: texts that are alike without sharing their sentences.
//!
//! Like [abstracts](super::abstracts), to be trained on beside the [mentions](super::mentions), so that papers stay near papers
//! that are about the same. After R. González-Márquez, P. Berens and D. Kobak, *Cropping outperforms dropout as an augmentation
//! strategy for self-supervised training of text embeddings*, TMLR 2026 (arXiv:2508.03453). There two crops are drawn, which may
//! overlap; here an abstract is cut once into pieces of two sentences or more, so that no pair shares any, and training draws one of
//! the others. Papers, names and what is left out are those of the mentions.

use super::collection::Collection;
use super::papers::{Paper, papers};
use super::tokens::{Token, joined, normalized, sentences, tokens};
use super::{Example, PaperOptions, PassageKind, PassageRecord, Split, Style, TrainingData, TrainingError};
use lodeseek_engine::Searcher;
use lodeseek_ranking::DatasetId;
use std::ops::Range;

/// Sentences of a piece; one that is left over goes with the last.
const SENTENCES: usize = 2;
/// The fewest words of a piece: with fewer it is not about anything.
const FEWEST: usize = 12;

/// One example for each piece of an abstract that has several.
pub fn crops(searcher: &Searcher, options: &PaperOptions<'_>) -> Result<TrainingData, TrainingError> {
    let collection = Collection::read(searcher)?;
    let mut data = TrainingData::default();
    for paper in papers(options, &collection, &mut data)? {
        let pieces = pieces(&paper.texts[1]);
        if pieces.len() < 2 {
            data.left_out.add("papers of an abstract that makes fewer than two pieces");
            continue;
        }
        let ids = (0..pieces.len()).filter_map(|place| DatasetId::new(format!("{}-{place}", paper.id()?)).ok());
        add(&paper, ids.zip(pieces).collect(), &mut data);
    }
    Ok(data)
}

fn add(paper: &Paper, pieces: Vec<(DatasetId, String)>, data: &mut TrainingData) {
    let passages: Vec<String> = pieces.iter().map(|(id, _)| PassageKind::Crop.of(id)).collect();
    let split = Split::of(&normalized(&paper.source.title));
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

/// A text in pieces of whole sentences, each of words enough.
fn pieces(text: &str) -> Vec<String> {
    let all = tokens(text);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for sentence in sentences(&all) {
        let is_full = taken >= SENTENCES && pieces.last().is_some_and(|piece| words(&all[piece.clone()]) >= FEWEST);
        match pieces.last_mut() {
            Some(piece) if !is_full => (piece.end, taken) = (sentence.end, taken + 1),
            _ => {
                pieces.push(sentence);
                taken = 1;
            }
        }
    }
    if let Some(last) = pieces.pop() {
        let is_left_over = taken < SENTENCES || words(&all[last.clone()]) < FEWEST;
        match pieces.last_mut() {
            Some(before) if is_left_over => before.end = last.end,
            _ => pieces.push(last),
        }
    }
    pieces.into_iter().map(|piece| joined(all[piece].iter().copied())).collect()
}

fn words(piece: &[Token<'_>]) -> usize {
    piece.iter().filter(|token| token.is_word()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOATS: &str = "Boats are hard to see at night.";
    const WE: &str = "We study a network that sees them, on three lakes of Finland.";

    #[test]
    fn abstracts_are_cut_between_sentences_and_nothing_is_lost() {
        let two = format!("{BOATS} {WE}");
        assert_eq!(pieces(&two), [two.as_str()], "of two sentences there is one piece");
        assert_eq!(pieces(&format!("{two} {BOATS}")), [format!("{two} {BOATS}")], "one left over goes with the last");
        assert_eq!(pieces(&format!("{two} {two}")), [two.clone(), two.clone()]);
        assert_eq!(pieces(&format!("{two} {two} {WE}")), [two.clone(), format!("{two} {WE}")]);
        let few = format!("It is. It was. {BOATS}");
        assert_eq!(pieces(&format!("{few} {WE} {two}")), [format!("{few} {WE}"), two], "eleven words are too few");
        assert!(pieces("").is_empty());
    }
}
