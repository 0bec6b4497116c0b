//! Cutting, without any network.

use super::*;
use crate::encoder::model_config::{Expansion, Marker};
use std::path::PathBuf;

fn tower() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models/colbert-stanford")
}

fn side(length: usize) -> Side {
    Side {
        tower: 0,
        prompt: String::new(),
        marker: None,
        length,
        expansion: None,
        skipped: Skipped::Nothing,
    }
}

fn tokenizer(side: &Side) -> TextTokenizer {
    TextTokenizer::new(&tower(), side, false).expect("pieces")
}

fn shown(tokenizer: &TextTokenizer, pieces: &TokenizedText) -> String {
    pieces
        .ids
        .iter()
        .map(|&id| tokenizer.name(id))
        .collect::<Vec<_>>()
        .join(" ")
}

fn cut(tokenizer: &TextTokenizer, parts: &[&str], pieces_a_part: Option<usize>) -> TokenizedText {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    tokenizer
        .passage(Passage {
            parts: &parts,
            pieces_a_part,
        })
        .expect("pieces")
        .expect("pieces")
}

#[test]
fn parts_stand_between_separators() {
    let tokenizer = tokenizer(&side(40));
    let pieces = cut(
        &tokenizer,
        &["Air quality", " ", "the bay, the river"],
        Some(3),
    );
    assert_eq!(
        shown(&tokenizer, &pieces),
        "[CLS] air quality [SEP] the bay , [SEP]"
    );
    assert_eq!(
        pieces.origins,
        [
            None,
            Some(0),
            Some(0),
            None,
            Some(2),
            Some(2),
            Some(2),
            None
        ]
    );
}

#[test]
fn a_marker_costs_one_piece_of_a_long_text() {
    let marker = Some(Marker {
        token: "[unused1]".to_owned(),
        shown: "[D]".to_owned(),
    });
    let tokenizer = tokenizer(&Side { marker, ..side(6) });
    let pieces = cut(&tokenizer, &["air rain snow wind heat"], None);
    assert_eq!(shown(&tokenizer, &pieces), "[CLS] [D] air rain snow [SEP]");
}

#[test]
fn a_prompt_is_cut_with_the_text_but_comes_from_no_part() {
    let prompted = Side {
        prompt: "the report: ".to_owned(),
        ..side(40)
    };
    let tokenizer = tokenizer(&prompted);
    let pieces = cut(&tokenizer, &["air rain snow", "wind"], Some(2));
    assert_eq!(
        shown(&tokenizer, &pieces),
        "[CLS] the report : air rain [SEP] wind [SEP]"
    );
    assert_eq!((pieces.prompt, pieces.origins[4]), (4, Some(0)));
    assert_eq!(
        tokenizer
            .passage(Passage {
                parts: &[String::from(" ")],
                pieces_a_part: None
            })
            .expect("pieces"),
        None
    );
}

#[test]
fn expansion_fills_short_queries_only() {
    let expanding = |attended| Side {
        expansion: Some(Expansion {
            token: None,
            length: 6,
            attended,
        }),
        ..side(8)
    };
    let (tokenizer, attending) = (tokenizer(&expanding(false)), tokenizer(&expanding(true)));
    let pieces = tokenizer.query("air rain").expect("pieces");
    assert_eq!(
        shown(&tokenizer, &pieces),
        "[CLS] air rain [SEP] [MASK] [MASK]"
    );
    assert_eq!(
        (0..6)
            .map(|place| pieces.attention(place))
            .collect::<Vec<_>>(),
        [true, true, true, true, false, false]
    );
    assert!(attending.query("air rain").expect("pieces").attention(5));
    let long = tokenizer
        .query("air rain snow wind heat bay river")
        .expect("pieces");
    assert_eq!((long.len(), long.expansion), (8, 0));
}

/// DR2 cuts each triple to so many word-pieces, decodes them and reads the text again: the pieces are the same as ours.
#[test]
fn cutting_pieces_is_cutting_decoding_and_reading_again() {
    let tokenizer = tokenizer(&side(48));
    let texts = [
        "Chesapeake-Bay's nitrogen; measured: 7.5 (low) don't we'll it 's",
        "unknowable 中文 naïve café zzz \u{1F600} the bus-stop's",
        "##ing [MASK] a##b http://example.org/#thing \"quoted\" it is n't",
    ];
    for text in texts {
        let whole = cut(&tokenizer, &[text], None);
        for most in 1..whole.len() {
            let pieces = cut(&tokenizer, &[text], Some(most));
            let body: Vec<u32> = pieces.ids[1..pieces.len() - 1].to_vec();
            let again = tokenizer.tokenizer.decode(&body, false).expect("pieces");
            assert_eq!(
                cut(&tokenizer, &[&again], None).ids,
                pieces.ids,
                "{text:?} cut to {most}: {again:?}"
            );
        }
    }
}

#[test]
fn the_tokenizers_own_cutting_and_filling_is_overridden() {
    let text = std::fs::read_to_string(tower().join("tokenizer.json")).expect("pieces");
    assert!(
        text.contains("\"max_length\":9") && text.contains("\"Fixed\":9"),
        "the file cuts and fills at 9"
    );
    let tokenizer = tokenizer(&side(48));
    assert_eq!(cut(&tokenizer, &["air"], None).len(), 3);
    assert_eq!(
        cut(
            &tokenizer,
            &["air rain snow wind heat bay river air rain snow"],
            None
        )
        .len(),
        12
    );
}

#[test]
fn skip_lists_of_the_three_kinds() {
    let words = || vec![";".to_owned(), "no entry".to_owned(), "air".to_owned()];
    let keeps = |skipped, id: &str| {
        let tokenizer = tokenizer(&Side {
            skipped,
            ..side(48)
        });
        tokenizer.keeps(tokenizer.tokenizer.token_to_id(id).expect("pieces"))
    };
    for skipped in [
        Skipped::FirstPieces(words()),
        Skipped::Entries(words()),
        Skipped::KnownEntries(words()),
    ] {
        assert!(
            !keeps(skipped.clone(), ";")
                && !keeps(skipped.clone(), "air")
                && keeps(skipped, "rain")
        );
    }
    assert!(!keeps(Skipped::Entries(words()), "[UNK]"));
    assert!(keeps(Skipped::KnownEntries(words()), "[UNK]"));
}
