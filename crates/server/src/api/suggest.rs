//! `GET /suggest?q=`: titles of datasets for a prefix, as OpenSearch suggestions.
//! <https://github.com/dewitt/opensearch/blob/master/mediawiki/Specifications/OpenSearch/Extensions/Suggestions/1.1/Draft%201.wiki>

use super::schemas::Suggestions;
use crate::AppState;
use crate::cache::GenerationCache;
use crate::documentation::{BadRequest, JsonError, Text};
use crate::error::ApiError;
use crate::parameters::Pairs;
use crate::portal::ckan::Table;
use crate::public_url::LinkBase;
use crate::text::{href, shorten};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_index::fold_text;
use rustc_hash::FxHashSet;
use serde_json::json;
use std::cmp::Ordering;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum number of titles.
const MAX_TITLES: usize = 10;
/// Number of characters of the query and of each title that are compared.
const MAX_TITLE_CHARS: usize = 200;
/// Maximum number of characters of a description.
const MAX_DESCRIPTION_CHARACTERS: usize = 120;
const MEDIA_TYPE: &str = "application/x-suggestions+json";

/// Cache of the titles. Its generation changes with the index and the catalogue.
pub(crate) type CachedTitles = GenerationCache<(u64, u64), Titles>;

struct Title {
    id: DatasetId,
    text: String,
    /// Normalized beginning of the text, for comparison.
    folded: String,
}

/// The titles of all datasets, and the words in them.
#[derive(Default)]
pub(crate) struct Titles {
    /// Short titles first, then by text: the order of the suggestions.
    titles: Vec<Title>,
    /// (title, start of a word in it), sorted by the text from there on.
    words: Vec<(u32, u32)>,
}

/// Normalizes the first [`MAX_TITLE_CHARS`] of a text as the search does: lower case, no accents, single spaces between words.
fn normalize_text(text: &str) -> String {
    let beginning: String = text.chars().take(MAX_TITLE_CHARS).collect();
    let plain: String = fold_text(&beginning)
        .nfkd()
        .filter(|letter| !is_combining_mark(*letter))
        .collect();
    let words = plain
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

impl Titles {
    pub(crate) fn current(state: &AppState) -> Result<Arc<Self>, ApiError> {
        let generation = (
            state.searcher.catalog().generation()?,
            state.store.catalog_generation(),
        );
        state.api.titles.get_or_compute(generation, || {
            let table = Table::current(state)?;
            Ok(Self::new(
                table
                    .rows
                    .iter()
                    .map(|row| (row.id.clone(), row.title.clone())),
            ))
        })
    }

    fn new(titles: impl Iterator<Item = (DatasetId, String)>) -> Self {
        let mut titles: Vec<Title> = titles
            .map(|(id, text)| Title {
                id,
                folded: normalize_text(&text),
                text,
            })
            .collect();
        titles.sort_by(|a, b| {
            (a.folded.len(), &a.folded, &a.id).cmp(&(b.folded.len(), &b.folded, &b.id))
        });
        let mut words: Vec<(u32, u32)> = Vec::new();
        for (place, title) in (0..).zip(&titles) {
            words.push((place, 0));
            for (space, _) in title.folded.match_indices(' ') {
                words.push((place, space as u32 + 1));
            }
        }
        words.sort_by(|a, b| title_from(&titles, *a).cmp(title_from(&titles, *b)));
        Self { titles, words }
    }

    /// Finds titles by prefixes of their words: first titles that begin with the text, then titles that contain it at the start
    /// of a word, then titles with all of its words. Equal titles are listed once.
    fn find(&self, typed: &str) -> Vec<&Title> {
        let typed = normalize_text(typed);
        if typed.is_empty() {
            return Vec::new();
        }
        let together = self.find_prefix(&typed);
        let mut places: Vec<(u8, u32)> = together
            .iter()
            .map(|(title, start)| (u8::from(*start > 0), *title))
            .collect();
        if places.len() < MAX_TITLES && typed.contains(' ') {
            places.extend(self.find_all_words(&typed).map(|title| (2, title)));
        }
        let mut seen = FxHashSet::default();
        // Titles are in the order of the suggestions, so their places decide within a group.
        places.sort_unstable();
        let titles = places
            .into_iter()
            .map(|(_, title)| &self.titles[title as usize]);
        titles
            .filter(|title| seen.insert(title.folded.as_str()))
            .take(MAX_TITLES)
            .collect()
    }

    /// Returns the words of titles from which on the title begins with `text`.
    fn find_prefix(&self, text: &str) -> &[(u32, u32)] {
        let first = self
            .words
            .partition_point(|word| self.compare_prefix(*word, text) == Ordering::Less);
        let count = self.words[first..]
            .partition_point(|word| self.compare_prefix(*word, text) == Ordering::Equal);
        &self.words[first..first + count]
    }

    /// Compares the title from a word on, up to the length of `text`, with `text`.
    fn compare_prefix(&self, word: (u32, u32), text: &str) -> Ordering {
        // As bytes, because the length may end within a character of the title.
        let rest = title_from(&self.titles, word).as_bytes();
        rest[..rest.len().min(text.len())].cmp(text.as_bytes())
    }

    /// Returns the titles with all words of a text as prefixes, found among those with the rarest.
    fn find_all_words<'t>(&'t self, text: &'t str) -> impl Iterator<Item = u32> + 't {
        let ranges = text.split(' ').map(|word| self.find_prefix(word));
        let rarest = ranges.min_by_key(|range| range.len()).unwrap_or_default();
        rarest
            .iter()
            .map(|(title, _)| *title)
            .filter(move |title| text.split(' ').all(|word| self.has_prefix(*title, word)))
    }

    /// Returns true if a word of the title begins with `prefix`.
    fn has_prefix(&self, title: u32, prefix: &str) -> bool {
        self.titles[title as usize]
            .folded
            .split(' ')
            .any(|word| word.starts_with(prefix))
    }
}

/// Returns the normalized title from a word on.
fn title_from(titles: &[Title], (title, start): (u32, u32)) -> &str {
    &titles[title as usize].folded[start as usize..]
}

#[utoipa::path(get, path = "/suggest", tag = "Search", summary = "Titles for a prefix, as OpenSearch Suggestions",
    params(("q" = Option<String>, Query, description = "Prefix.")),
    responses(
        (status = 200, description = "[query, titles, descriptions, addresses].", content_type = MEDIA_TYPE, body = inline(Suggestions)),
        BadRequest<(JsonError, Text)>))]
pub(crate) async fn suggest(
    State(state): State<AppState>,
    links: LinkBase,
    Query(pairs): Query<Pairs>,
) -> Result<Response, ApiError> {
    let typed = pairs
        .into_iter()
        .find(|(name, _)| name == "q")
        .map(|(_, typed)| typed)
        .unwrap_or_default();
    let answer = state.work(move |state| {
        let all = Titles::current(state)?;
        let (mut titles, mut descriptions, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
        for title in all.find(&typed) {
            let card = state.searcher.catalog().card(&title.id)?;
            let description = card
                .as_ref()
                .and_then(|card| card.metadata.description())
                .unwrap_or_default();
            titles.push(title.text.clone());
            descriptions.push(shorten(description, MAX_DESCRIPTION_CHARACTERS));
            addresses.push(format!(
                "{}{}",
                links.as_str().trim_end_matches('/'),
                href(&title.id)
            ));
        }
        Ok(json!([typed, titles, descriptions, addresses]).to_string())
    });
    Ok((
        [
            (header::CONTENT_TYPE, MEDIA_TYPE),
            (header::CACHE_CONTROL, "max-age=60"),
        ],
        answer.await?,
    )
        .into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(titles: &[&str]) -> Titles {
        let id = |place: usize| DatasetId::new(place.to_string()).expect("an id");
        Titles::new(
            titles
                .iter()
                .enumerate()
                .map(|(place, title)| (id(place), (*title).to_owned())),
        )
    }

    fn found<'t>(titles: &'t Titles, typed: &str) -> Vec<&'t str> {
        titles
            .find(typed)
            .iter()
            .map(|title| title.text.as_str())
            .collect()
    }

    #[test]
    fn what_begins_with_what_is_typed_comes_first() {
        let titles = titles(&[
            "City trees of Málaga",
            "Trees",
            "Tree register",
            "Málaga",
            "Air: quality",
            "Trees",
        ]);
        assert_eq!(
            found(&titles, "tree"),
            ["Trees", "Tree register", "City trees of Málaga"]
        );
        assert_eq!(
            found(&titles, "malag"),
            ["Málaga", "City trees of Málaga"],
            "accents do not count"
        );
        assert_eq!(found(&titles, "MÁLAGA"), ["Málaga", "City trees of Málaga"]);
        assert_eq!(found(&titles, "trees  of-mal"), ["City trees of Málaga"]);
        assert_eq!(
            found(&titles, "mal cit"),
            ["City trees of Málaga"],
            "in any order"
        );
        assert_eq!(found(&titles, "air qual"), ["Air: quality"]);
        assert!(
            found(&titles, "rees").is_empty()
                && found(&titles, " ? ").is_empty()
                && found(&titles, "").is_empty()
        );
    }

    #[test]
    fn every_prefix_of_every_word_finds_its_title() {
        let all = [
            "Ökologie der Flüsse",
            "東京の木",
            "a",
            "x y z",
            "water-quality 2020 (Ireland)",
        ];
        let titles = titles(&all);
        for title in all {
            for word in normalize_text(title).split(' ') {
                for (end, _) in word.char_indices().skip(1).chain([(word.len(), ' ')]) {
                    assert!(
                        found(&titles, &word[..end]).contains(&title),
                        "{title}: {}",
                        &word[..end]
                    );
                }
            }
        }
        assert_eq!(found(&titles, &"x".repeat(1000)), [""; 0]);
    }

    #[test]
    fn letters_are_folded_as_in_the_search() {
        let titles = titles(&[
            "Gro\u{df}e C\u{153}urs",
            "\u{d8}resund ferries",
            "Co\u{ad}operatives",
        ]);
        for (typed, title) in [
            ("grosse coeurs", "Gro\u{df}e C\u{153}urs"),
            ("GRO\u{1e9e}E", "Gro\u{df}e C\u{153}urs"),
            ("oresund", "\u{d8}resund ferries"),
            ("\u{f8}re", "\u{d8}resund ferries"),
            ("cooper", "Co\u{ad}operatives"),
            ("co\u{ad}oper", "Co\u{ad}operatives"),
        ] {
            assert_eq!(found(&titles, typed), [title], "{typed}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_title_is_compared() {
        let long = "a ".repeat(2_000_000);
        let titles = titles(&[long.as_str()]);
        assert_eq!(titles.words.len(), MAX_TITLE_CHARS / 2);
        assert_eq!(found(&titles, "a a a"), [long.as_str()]);
    }
}
