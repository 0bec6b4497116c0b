//! Training data from titles of datasets: the distant supervision of DR2.
//!
//! The title is the query; the rest of the metadata is the passage. Every word of the title becomes one `[MASK]`, the
//! token that encoders are pre-trained on for unknown words. So the length of the title remains, but none of its words.
//! Descriptions often begin with the whole title; such copies are masked too, because a model would otherwise learn
//! only to match them. Single words of the title remain in other parts: the model is to learn that they concern the
//! same subject.

use super::home_datasets::{Collection, select_hardest};
use super::tokens::{count_words, normalize_text, tokenize};
use super::{Example, PassageKind, PassageRecord, Split, Style, TrainingData, TrainingError};
use lodeseek_catalog::{Catalog, DatasetId, Metadata, disambiguate_id};
use lodeseek_engine::{AnalysisKind, Searcher, Texts};
use lodeseek_index::document::CompactDocument;
use lodeseek_index::sparse::Bm25;
use std::collections::BTreeMap;

/// Token that replaces a word.
const MASK: &str = "[MASK]";
/// Minimum number of words of a title that becomes a query.
const MIN_TITLE_WORDS: usize = 2;
/// Minimum number of words of a document, without masks. Categories alone do not describe a dataset.
const MIN_DOCUMENT_WORDS: usize = 5;
/// Additional candidates for negatives. Datasets with the same title are skipped.
const SPARE_CANDIDATES: usize = 10;

/// A dataset whose title can be a query.
struct Titled {
    id: DatasetId,
    title: String,
    /// Unmasked metadata, indexed with BM25.
    text: String,
    masked: Vec<String>,
    year: Option<i32>,
}

/// Makes examples of titles from a home, if one is given, and from named catalogues that are not loaded.
///
/// # Errors
///
/// Fails if the home cannot be read, or the texts cannot be indexed.
pub fn make_title_examples(
    searcher: Option<&Searcher>,
    catalogs: &[(String, Catalog)],
    negatives: usize,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let mut data = TrainingData::default();
    let mut known = BTreeMap::new();
    // The home comes first, so that its datasets keep their ids.
    if let Some(searcher) = searcher {
        for (id, member) in Collection::read(searcher)?.0 {
            known.insert(id, (member.metadata, member.compact.metadata, member.year));
        }
    }
    for (name, catalog) in catalogs {
        for metadata in catalog
            .datasets
            .iter()
            .map(|dataset| dataset.metadata.clone())
        {
            add_dataset(&mut known, name, metadata, &mut data);
        }
    }
    let titled = known
        .into_iter()
        .filter_map(|(id, (metadata, parts, year))| {
            prepare_title(id, &metadata, &parts, year, &mut data)
        });
    let titled: Vec<Titled> = titled.collect();
    add_examples(&titled, negatives, &mut data, on_progress)?;
    data.passages = titled
        .into_iter()
        .map(make_passage)
        .map(|passage| (passage.id.clone(), passage))
        .collect();
    Ok(data)
}

type DatasetsById = BTreeMap<DatasetId, (Metadata, Vec<String>, Option<i32>)>;

/// Adds a dataset of a catalogue. If another dataset has the same id, the name of the catalogue distinguishes it.
fn add_dataset(
    known: &mut DatasetsById,
    catalog: &str,
    metadata: Metadata,
    data: &mut TrainingData,
) {
    let id = if known.contains_key(&metadata.id) {
        disambiguate_id(&metadata.id, catalog)
    } else {
        Some(metadata.id.clone())
    };
    match id.filter(|id| !known.contains_key(id)) {
        None => data.left_out.add("datasets whose id is taken"),
        Some(id) => {
            let (parts, year) = (
                CompactDocument::metadata_lines(&metadata),
                metadata.first_year(),
            );
            known.insert(id, (metadata, parts, year));
        }
    }
}

fn prepare_title(
    id: DatasetId,
    metadata: &Metadata,
    parts: &[String],
    year: Option<i32>,
    data: &mut TrainingData,
) -> Option<Titled> {
    let title = metadata.title();
    if metadata.titles.is_empty() || normalize_text(title).split(' ').count() < MIN_TITLE_WORDS {
        data.left_out.add("titles of fewer than two words");
        return None;
    }
    let masked = mask_title(parts, title);
    if words_left(&masked) < MIN_DOCUMENT_WORDS {
        data.left_out.add("datasets with hardly more than a title");
        return None;
    }
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Titled {
        id,
        title,
        text: parts.join("\n"),
        masked,
        year,
    })
}

/// Masks the title: the first part and its copies in other parts.
fn mask_title(parts: &[String], title: &str) -> Vec<String> {
    let Some((first, others)) = parts.split_first() else {
        return Vec::new();
    };
    let whole = vec![MASK; first.split_whitespace().count()].join(" ");
    std::iter::once(whole)
        .chain(others.iter().map(|part| mask_copies(part, title)))
        .collect()
}

/// Returns the number of words that are not masks.
fn words_left(parts: &[String]) -> usize {
    let text = parts.join("\n").replace(MASK, " ");
    count_words(&tokenize(&text))
}

/// Returns a text in which each copy of the whole title is replaced by a mask for every word.
fn mask_copies(text: &str, title: &str) -> String {
    let (all, title_tokens) = (tokenize(text), tokenize(title));
    let title_words: Vec<String> = title_tokens
        .iter()
        .filter(|token| token.is_word())
        .map(|token| token.text.to_lowercase())
        .collect();
    let words: Vec<_> = all.iter().filter(|token| token.is_word()).collect();
    let lower: Vec<String> = words
        .iter()
        .map(|token| token.text.to_lowercase())
        .collect();
    let (mut out, mut copied, mut place) = (String::new(), 0, 0);
    while place < words.len() {
        // A title without words would be found everywhere.
        if title_words.is_empty() || !lower[place..].starts_with(&title_words) {
            place += 1;
            continue;
        }
        out.push_str(&text[copied..words[place].start]);
        out.push_str(&vec![MASK; title.split_whitespace().count()].join(" "));
        place += title_words.len();
        copied = words[place - 1].place().end;
    }
    out + &text[copied..]
}

/// Makes one example of each title. Datasets with the same title are all relevant.
fn add_examples(
    titled: &[Titled],
    negatives: usize,
    data: &mut TrainingData,
    on_progress: &dyn Fn(usize, usize),
) -> Result<(), TrainingError> {
    let texts = Texts::new(
        titled.iter().map(|one| (one.id.clone(), one.text.as_str())),
        AnalysisKind::Multilingual,
    )?;
    let model = Texts::model(&Bm25::default());
    let mut by_title: BTreeMap<String, Vec<&Titled>> = BTreeMap::new();
    titled.iter().for_each(|one| {
        by_title
            .entry(normalize_text(&one.title))
            .or_default()
            .push(one)
    });
    let places: BTreeMap<&DatasetId, &Titled> = titled.iter().map(|one| (&one.id, one)).collect();
    for (done, (title, same)) in by_title.iter().enumerate() {
        let ranking = texts.rank(
            model.as_ref(),
            &same[0].title,
            negatives + same.len() + SPARE_CANDIDATES,
        )?;
        let ids = ranking.iter().map(|scored| &scored.id);
        let hard = select_hardest(ids, negatives, |id| {
            places
                .get(id)
                .is_some_and(|one| normalize_text(&one.title) != *title)
        });
        data.examples.push(make_example(same, hard));
        on_progress(done + 1, by_title.len());
    }
    data.examples.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(())
}

fn make_example(same: &[&Titled], negatives: Vec<&DatasetId>) -> Example {
    Example {
        id: format!("title-{}", same[0].id),
        query: same[0].title.clone(),
        style: Style::Title,
        positives: same
            .iter()
            .map(|one| PassageKind::Masked.passage_id(&one.id))
            .collect(),
        negatives: negatives
            .into_iter()
            .map(|id| PassageKind::Masked.passage_id(id))
            .collect(),
        year: None,
        // One split for all datasets with this title: the query must not be in both.
        split: Some(Split::from_source(same[0].id.as_str())),
        fold: None,
    }
}

fn make_passage(titled: Titled) -> PassageRecord {
    PassageRecord {
        id: PassageKind::Masked.passage_id(&titled.id),
        dataset: titled.id,
        text: PassageKind::Masked,
        parts: titled.masked,
        pieces_a_part: None,
        year: titled.year,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_masked_wherever_it_stands_whole() {
        let parts = [
            "City tree register",
            "The CITY Tree-Register of the city: every tree.",
            "trees city tree register",
        ];
        let masked = mask_title(&parts.map(str::to_owned), "City tree register");
        assert_eq!(
            masked,
            [
                "[MASK] [MASK] [MASK]",
                "The [MASK] [MASK] [MASK] of the city: every tree.",
                "trees [MASK] [MASK] [MASK]"
            ]
        );
        assert_eq!(
            (
                words_left(&masked),
                words_left(&["[MASK] [MASK])".to_owned()])
            ),
            (7, 0)
        );
        assert_eq!(mask_copies("no such thing", "City"), "no such thing");
        assert_eq!(mask_copies("", "City trees"), "");
    }
}
