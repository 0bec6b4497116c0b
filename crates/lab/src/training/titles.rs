//! Titles as queries for what is left of a dataset's metadata without them: DR2's distant supervision.
//!
//! Every word of the title's part becomes one `[MASK]`, which the encoders were pre-trained to read as a word that is not
//! told; so the length of the title is kept, and nothing of its words. Where the whole title stands in another part, too, as
//! descriptions often begin, it is masked there: else matching that copy would be all that is learned. Single words of the
//! title stay elsewhere: that the description speaks of the same things is what is to be learned.

use super::collection::{Collection, hardest};
use super::tokens::{normalized, tokens};
use super::{Example, PassageKind, PassageRecord, Split, Style, TrainingData, TrainingError};
use lodeseek_catalog::{Catalog, DatasetId, Metadata, told_apart};
use lodeseek_engine::{AnalysisKind, Searcher, Texts};
use lodeseek_index::document::CompactDocument;
use lodeseek_index::sparse::Bm25;
use std::collections::BTreeMap;

/// What stands for a word.
const MASK: &str = "[MASK]";
/// The fewest words of a title that is a query.
const FEWEST: usize = 2;
/// The fewest words of a document, masks not counted, that say what it is about: categories alone do not.
const FEWEST_LEFT: usize = 5;
/// Candidates for one negative: datasets of the same title are passed over.
const SPARE: usize = 10;

/// A dataset whose title can be asked for.
struct Titled {
    id: DatasetId,
    title: String,
    /// What BM25 reads: the metadata as it is.
    text: String,
    masked: Vec<String>,
    year: Option<i32>,
}

/// Examples of the titles of a home, if there is one, and of catalogues, each with its name, that are not loaded.
pub fn titles(
    searcher: Option<&Searcher>,
    catalogs: &[(String, Catalog)],
    negatives: usize,
    on_progress: &dyn Fn(usize, usize),
) -> Result<TrainingData, TrainingError> {
    let mut data = TrainingData::default();
    let mut known = BTreeMap::new();
    if let Some(searcher) = searcher {
        for (id, member) in Collection::read(searcher)?.0 {
            known.insert(id, (member.metadata, member.compact.metadata, member.year));
        }
    }
    for (name, catalog) in catalogs {
        for metadata in catalog.datasets.iter().map(|dataset| dataset.metadata.clone()) {
            add(&mut known, name, metadata, &mut data);
        }
    }
    let titled =
        known.into_iter().filter_map(|(id, (metadata, parts, year))| titled(id, &metadata, &parts, year, &mut data));
    let titled: Vec<Titled> = titled.collect();
    ask(&titled, negatives, &mut data, on_progress)?;
    data.passages = titled.into_iter().map(passage).map(|passage| (passage.id.clone(), passage)).collect();
    Ok(data)
}

type Known = BTreeMap<DatasetId, (Metadata, Vec<String>, Option<i32>)>;

/// Adds a dataset of a catalogue. An id that is taken may be another dataset's: it gets a mark of the catalogue.
fn add(known: &mut Known, catalog: &str, metadata: Metadata, data: &mut TrainingData) {
    let id =
        if known.contains_key(&metadata.id) { told_apart(&metadata.id, catalog) } else { Some(metadata.id.clone()) };
    match id.filter(|id| !known.contains_key(id)) {
        None => data.left_out.add("datasets whose id is taken"),
        Some(id) => {
            let (parts, year) = (CompactDocument::metadata_of(&metadata), metadata.first_year());
            known.insert(id, (metadata, parts, year));
        }
    }
}

fn titled(
    id: DatasetId,
    metadata: &Metadata,
    parts: &[String],
    year: Option<i32>,
    data: &mut TrainingData,
) -> Option<Titled> {
    let title = metadata.title();
    if metadata.titles.is_empty() || normalized(title).split(' ').count() < FEWEST {
        data.left_out.add("titles of fewer than two words");
        return None;
    }
    let masked = masked(parts, title);
    if words_left(&masked) < FEWEST_LEFT {
        data.left_out.add("datasets with hardly more than a title");
        return None;
    }
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Titled { id, title, text: parts.join("\n"), masked, year })
}

/// The parts of a document whose first is its title, without the title.
fn masked(parts: &[String], title: &str) -> Vec<String> {
    let Some((first, others)) = parts.split_first() else { return Vec::new() };
    let whole = vec![MASK; first.split_whitespace().count()].join(" ");
    std::iter::once(whole).chain(others.iter().map(|part| without(part, title))).collect()
}

/// The words that are no masks.
fn words_left(parts: &[String]) -> usize {
    let told = parts.join("\n").replace(MASK, " ");
    tokens(&told).iter().filter(|token| token.is_word()).count()
}

/// A text with a mask for every word of the title, wherever all of the title's words follow one another in it.
fn without(text: &str, title: &str) -> String {
    let (all, wanted) = (tokens(text), tokens(title));
    let wanted: Vec<String> =
        wanted.iter().filter(|token| token.is_word()).map(|token| token.text.to_lowercase()).collect();
    let words: Vec<_> = all.iter().filter(|token| token.is_word()).collect();
    let lower: Vec<String> = words.iter().map(|token| token.text.to_lowercase()).collect();
    let (mut out, mut told, mut place) = (String::new(), 0, 0);
    while place < words.len() {
        if wanted.is_empty() || !lower[place..].starts_with(&wanted) {
            place += 1;
            continue;
        }
        out.push_str(&text[told..words[place].start]);
        out.push_str(&vec![MASK; title.split_whitespace().count()].join(" "));
        place += wanted.len();
        told = words[place - 1].place().end;
    }
    out + &text[told..]
}

/// One example a title: datasets of one title all answer it.
fn ask(
    titled: &[Titled],
    negatives: usize,
    data: &mut TrainingData,
    on_progress: &dyn Fn(usize, usize),
) -> Result<(), TrainingError> {
    let texts = Texts::new(titled.iter().map(|one| (one.id.clone(), one.text.as_str())), AnalysisKind::Multilingual)?;
    let model = Texts::model(&Bm25::default());
    let mut by_title: BTreeMap<String, Vec<&Titled>> = BTreeMap::new();
    titled.iter().for_each(|one| by_title.entry(normalized(&one.title)).or_default().push(one));
    let places: BTreeMap<&DatasetId, &Titled> = titled.iter().map(|one| (&one.id, one)).collect();
    for (done, (title, same)) in by_title.iter().enumerate() {
        let ranking = texts.rank(model.as_ref(), &same[0].title, negatives + same.len() + SPARE)?;
        let is_other = |id: &DatasetId| places.get(id).is_some_and(|one| normalized(&one.title) != *title);
        let hard = hardest(ranking.iter().map(|scored| &scored.id), negatives, is_other);
        data.examples.push(example(same, hard));
        on_progress(done + 1, by_title.len());
    }
    data.examples.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(())
}

fn example(same: &[&Titled], negatives: Vec<&DatasetId>) -> Example {
    Example {
        id: format!("title-{}", same[0].id),
        query: same[0].title.clone(),
        style: Style::Title,
        positives: same.iter().map(|one| PassageKind::Masked.of(&one.id)).collect(),
        negatives: negatives.into_iter().map(|id| PassageKind::Masked.of(id)).collect(),
        year: None,
        split: Some(Split::of(same[0].id.as_str())),
        fold: None,
    }
}

fn passage(titled: Titled) -> PassageRecord {
    PassageRecord {
        id: PassageKind::Masked.of(&titled.id),
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
        let parts =
            ["City tree register", "The CITY Tree-Register of the city: every tree.", "trees city tree register"];
        let masked = masked(&parts.map(str::to_owned), "City tree register");
        assert_eq!(
            masked,
            ["[MASK] [MASK] [MASK]", "The [MASK] [MASK] [MASK] of the city: every tree.", "trees [MASK] [MASK] [MASK]"]
        );
        assert_eq!((words_left(&masked), words_left(&["[MASK] [MASK])".to_owned()])), (7, 0));
        assert_eq!(without("no such thing", "City"), "no such thing");
        assert_eq!(without("", "City trees"), "");
    }
}
