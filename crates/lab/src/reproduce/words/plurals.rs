//! Pairs of singular and plural in an index in memory.

use anyhow::{Context, ensure};
use lodeseek_index::document::{Field, FieldedDocument};
use lodeseek_index::{Analysis, AnalysisKind, AnalyzedQuery, IndexDocument, IndexWriter, Snapshot};
use lodeseek_ranking::DatasetId;
use std::fs;
use std::path::Path;

/// Sentences of each language, without a word of the lists: before and after a word, and a description of other datasets.
const SENTENCES: [(&str, &str, &str, &str); 7] = [
    (
        "en",
        "This overview of",
        "is updated every spring for publication and for an evaluation by the board.",
        "This overview is updated every spring for publication and for an evaluation by the board.",
    ),
    (
        "de",
        "Die Übersicht über",
        "wird jährlich für eine Auswertung aktualisiert und veröffentlicht.",
        "Diese Übersicht wird für eine Auswertung jährlich aktualisiert und veröffentlicht.",
    ),
    (
        "nl",
        "Dit overzicht van",
        "wordt jaarlijks voor een evaluatie bijgewerkt en door het bestuur gepubliceerd.",
        "Dit overzicht wordt jaarlijks voor een evaluatie bijgewerkt en door het bestuur gepubliceerd.",
    ),
    (
        "fr",
        "Cet inventaire de",
        "est actualisé une fois chaque printemps, pour publication dans les meilleurs délais.",
        "Cet inventaire est actualisé une fois chaque printemps, pour publication dans les meilleurs délais.",
    ),
    (
        "es",
        "Este inventario de",
        "se actualiza cada verano y se publica para todos los interesados.",
        "Este inventario se actualiza cada verano y se publica para todos los interesados.",
    ),
    (
        "it",
        "Questo inventario di",
        "viene aggiornato ogni estate e pubblicato per gli interessati della zona.",
        "Questo inventario viene aggiornato ogni estate e pubblicato per gli interessati della zona.",
    ),
    (
        "pt",
        "Este inventário de",
        "é atualizado uma vez em cada verão e não é vendido aos interessados.",
        "Este inventário é atualizado uma vez em cada verão e não é vendido aos interessados.",
    ),
];

type Pairs = Vec<(String, String)>;

/// Reads the pairs of a file, by language in their order.
pub(super) fn read_pairs(path: &Path) -> anyhow::Result<Vec<(String, Pairs)>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut languages: Vec<(String, Pairs)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [language, singular, plural] = cells[..] else {
            anyhow::bail!("{}, line {}: not three cells", path.display(), number + 1);
        };
        if languages.last().is_none_or(|(last, _)| last != language) {
            languages.push((language.to_owned(), Vec::new()));
        }
        if let Some((_, pairs)) = languages.last_mut() {
            pairs.push((singular.to_owned(), plural.to_owned()));
        }
    }
    ensure!(!languages.is_empty(), "{} is empty", path.display());
    Ok(languages)
}

/// Returns the share of pairs that meet in titles and in sentences, and the false friends of a word: by stems alone, and by the
/// analysis of an index.
pub(super) fn measure(
    language: &str,
    pairs: &[(String, String)],
) -> anyhow::Result<[(&'static str, [f64; 3]); 2]> {
    let (_, before, after, description) = SENTENCES
        .iter()
        .find(|(code, ..)| *code == language)
        .with_context(|| format!("no sentence of the language {language}"))?;
    let mut measured = [[0.0; 3]; 2];
    for is_plural_typed in [true, false] {
        let mut typed = Vec::new();
        let mut written = Vec::new();
        for (singular, plural) in pairs {
            let (query, text) = match is_plural_typed {
                true => (plural, singular),
                false => (singular, plural),
            };
            typed.push(query.as_str());
            written.push(text.as_str());
        }
        let mut sentences = Vec::new();
        for word in &written {
            sentences.push(format!("{before} {word} {after}"));
        }
        let snapshot = index_titles(&written, description)?;
        let stems = Analysis::new(AnalysisKind::Multilingual);
        for (result, analysis) in measured.iter_mut().zip([&stems, snapshot.analysis()]) {
            for (place, query) in typed.iter().enumerate() {
                let query = AnalyzedQuery::new(query, analysis);
                let others = (0..written.len()).filter(|other| *other != place);
                let counts = [
                    usize::from(is_match(&query, analysis, written[place])),
                    usize::from(is_match(&query, analysis, &sentences[place])),
                    others
                        .filter(|other| is_match(&query, analysis, written[*other]))
                        .count(),
                ];
                for (sum, count) in result.iter_mut().zip(counts) {
                    *sum += count as f64 / (2 * pairs.len()) as f64;
                }
            }
        }
    }
    let [stems, index] = measured;
    Ok([("stems alone", stems), ("index", index)])
}

/// Returns true if a word of the query occurs in a text.
fn is_match(query: &AnalyzedQuery, analysis: &Analysis, text: &str) -> bool {
    analysis
        .tokens(text)
        .any(|token| query.distinct.iter().any(|term| term.matches(&token)))
}

/// Returns an index with one dataset for each word, its title, and one description for all.
fn index_titles(titles: &[&str], description: &str) -> anyhow::Result<Snapshot> {
    let mut writer = IndexWriter::in_memory()?.with_analysis(AnalysisKind::Multilingual);
    let analysis = Analysis::new(AnalysisKind::Multilingual);
    for (number, title) in titles.iter().enumerate() {
        let document = FieldedDocument::default()
            .with(Field::Title, [*title])
            .with(Field::Description, [description]);
        writer.put(IndexDocument::new(
            DatasetId::new(number.to_string())?,
            String::new(),
            &document,
            &analysis,
            Vec::new(),
            Vec::new(),
        ))?;
    }
    writer.commit()?;
    Ok(writer.snapshot()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_meet_in_an_index() {
        let pairs = [("fietspad", "fietspaden"), ("weg", "wegen")];
        let pairs = pairs.map(|(singular, plural)| (singular.to_owned(), plural.to_owned()));
        let [(_, stems), (_, index)] = measure("nl", &pairs).expect("measured");
        assert!(stems[0] < 1.0, "{stems:?}");
        assert_eq!(index, [1.0, 1.0, 0.0]);
    }
}
