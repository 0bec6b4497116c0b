//! The datasets of a home with the texts that training data uses.

use super::{PassageKind, PassageRecord, TrainingError};
use lodeseek_catalog::{DatasetId, Metadata};
use lodeseek_engine::{Card, EngineError, Searcher, passages};
use lodeseek_index::document::CompactDocument;
use lodeseek_rdf::{local_name, words};
use std::collections::BTreeMap;

/// Maximum number of classes whose names are used.
const MAX_CLASSES: usize = 20;

/// The datasets of a home, by id.
pub(super) struct Collection(pub(super) BTreeMap<DatasetId, Member>);

/// A dataset.
pub(super) struct Member {
    pub(super) metadata: Metadata,
    pub(super) compact: CompactDocument,
    /// Names of its classes and of the entities of its snippet.
    pub(super) names: Vec<String>,
    pub(super) year: Option<i32>,
}

impl Collection {
    pub(super) fn read(searcher: &Searcher) -> Result<Self, EngineError> {
        let mut members = BTreeMap::new();
        for id in searcher.catalog().ids()? {
            let (Some(card), Some(compact)) = (
                searcher.catalog().card(&id)?,
                searcher.catalog().compact_document(&id)?,
            ) else {
                continue;
            };
            let year = searcher
                .catalog()
                .numeric_facts(&id)?
                .and_then(|numbers| numbers.year);
            let names = collect_names(&card);
            members.insert(
                id,
                Member {
                    metadata: card.metadata,
                    compact,
                    names,
                    year,
                },
            );
        }
        Ok(Self(members))
    }

    /// Returns a dataset by the name that a file contains.
    pub(super) fn find(&self, name: &str) -> Option<(&DatasetId, &Member)> {
        self.0.get_key_value(&DatasetId::new(name).ok()?)
    }

    /// Returns all passages of these kinds.
    pub(super) fn passages(&self, kinds: &[PassageKind]) -> impl Iterator<Item = PassageRecord> {
        let all = self.0.iter().flat_map(|(id, member)| member.passages(id));
        all.filter(|passage| kinds.contains(&passage.text))
    }
}

impl Member {
    /// Returns the passages of metadata and data. Empty texts are omitted.
    pub(super) fn passages(&self, id: &DatasetId) -> impl Iterator<Item = PassageRecord> {
        let kinds = [PassageKind::Metadata, PassageKind::Data];
        let texts = kinds
            .into_iter()
            .zip(passages(&self.compact))
            .filter(|(_, passage)| !passage.parts.is_empty());
        texts.map(|(text, passage)| PassageRecord {
            id: text.passage_id(id),
            dataset: id.clone(),
            text,
            parts: passage.parts.to_vec(),
            pieces_a_part: passage.pieces_a_part,
            year: self.year,
        })
    }

    /// Returns the ids of the dataset's passages.
    pub(super) fn passage_ids(&self, id: &DatasetId) -> Vec<String> {
        self.passages(id).map(|passage| passage.id).collect()
    }

    /// Returns true if the dataset is known to be newer than a query.
    pub(super) fn is_later(&self, year: Option<i32>) -> bool {
        self.year.zip(year).is_some_and(|(own, year)| own > year)
    }
}

/// Returns the names of classes, most frequent first, and of the entities in the snippet.
fn collect_names(card: &Card) -> Vec<String> {
    let classes = card
        .profile
        .classes
        .iter()
        .take(MAX_CLASSES)
        .map(|(iri, _)| words(local_name(iri)));
    let terms = card
        .snippet
        .iter()
        .flat_map(|triple| [&triple.subject, &triple.object]);
    let entities = terms
        .filter(|term| !term.is_literal())
        .map(|term| words(&term.label));
    classes.chain(entities).collect()
}

/// Returns the first datasets of a ranking that are accepted as negatives, in its order.
pub(super) fn select_hardest<'r>(
    ranking: impl Iterator<Item = &'r DatasetId>,
    number: usize,
    may_stand: impl Fn(&DatasetId) -> bool,
) -> Vec<&'r DatasetId> {
    ranking.filter(|id| may_stand(id)).take(number).collect()
}

/// Returns the non-empty lines of a file with their numbers, counted from 1.
pub(super) fn read_lines(path: &std::path::Path) -> Result<Vec<(usize, String)>, TrainingError> {
    let text = std::fs::read_to_string(path).map_err(TrainingError::io(path))?;
    Ok(text
        .lines()
        .map(str::to_owned)
        .zip(1..)
        .map(|(line, number)| (number, line))
        .filter(|(_, line)| !line.trim().is_empty())
        .collect())
}
