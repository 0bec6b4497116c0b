//! Interpretation of a query: its words, and conditions from its phrases, exclusions and names.

use crate::EngineError;
use lodeseek_index::{
    Condition, DocumentAddress, Feature, FeatureKind, FilteredDocs, MAX_PHRASE_TOKENS, PartForm,
    QueryPart, Snapshot, Translation, parse_query,
};
use lodeseek_rdf::{local_name, words};
use serde::Serialize;

/// The roles of IRIs by which datasets are found, in the order of the attempts.
const KINDS: [(FeatureKind, InterpretationKind); 4] = [
    (FeatureKind::Class, InterpretationKind::Class),
    (FeatureKind::Property, InterpretationKind::Property),
    (FeatureKind::Vocabulary, InterpretationKind::Vocabulary),
    (FeatureKind::Entity, InterpretationKind::Entity),
];

/// The kind of a part of a query that is not only a word to search for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InterpretationKind {
    /// A word; it is excluded.
    Word,
    /// A phrase: its words follow each other in one field.
    Phrase,
    /// A class of which datasets have entities.
    Class,
    /// A property that datasets use.
    Property,
    /// The namespace of classes or properties of datasets.
    Vocabulary,
    /// An external entity to which datasets link.
    Entity,
    /// A name that no dataset has. It is searched for as words; if excluded, it is ignored.
    Unknown,
    /// A phrase or an exclusion of common words only, or an excluded phrase of more than 16 words. It is ignored.
    Ignored,
    /// Words of another language than that of the collection. Their translations are searched for, too.
    Translation,
}

impl InterpretationKind {
    /// Returns the name in lower case, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Phrase => "phrase",
            Self::Class => "class",
            Self::Property => "property",
            Self::Vocabulary => "vocabulary",
            Self::Entity => "entity",
            Self::Unknown => "unknown",
            Self::Ignored => "ignored",
            Self::Translation => "translation",
        }
    }
}

/// A part of a query that is not only a word to search for, and its meaning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Interpretation {
    /// The kind.
    pub kind: InterpretationKind,
    /// The text as typed, without quotation marks, minus and angle brackets.
    pub text: String,
    /// If true, datasets that have it are excluded.
    pub excluded: bool,
    /// The IRI of a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
    /// The language of translated words, as a BCP 47 tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The translations of the words, the first ones first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub translations: Vec<String>,
}

impl Interpretation {
    /// Maximum number of translations of a word that are shown.
    const MAX_TRANSLATIONS: usize = 3;

    /// Returns the first translations of the words, separated by commas.
    #[must_use]
    pub fn first_translations(&self) -> String {
        self.translations[..self.translations.len().min(Self::MAX_TRANSLATIONS)].join(", ")
    }

    fn new(kind: InterpretationKind, text: &str) -> Self {
        Self {
            kind,
            text: text.to_owned(),
            excluded: false,
            iri: None,
            language: None,
            translations: Vec::new(),
        }
    }
}

/// An interpreted query.
#[derive(Default)]
pub(super) struct InterpretedQuery {
    /// The words that rank.
    pub(super) words: String,
    pub(super) interpretations: Vec<Interpretation>,
    conditions: Vec<(Vec<DocumentAddress>, Condition)>,
}

impl InterpretedQuery {
    /// Creates a query of words only.
    pub(super) fn literal(query: &str) -> Self {
        Self {
            words: query.to_owned(),
            ..Self::default()
        }
    }

    /// Interprets a query. If all its parts are excluded, there is nothing to rank by: it is then literal.
    pub(super) fn new(query: &str, snapshot: &Snapshot) -> Result<Self, EngineError> {
        let parts = parse_query(query);
        if parts.iter().all(is_plain_word) || parts.iter().all(|part| part.excluded) {
            return Ok(Self::literal(query));
        }
        let mut interpreted = Self::default();
        let mut ranking_words: Vec<String> = Vec::new();
        for part in &parts {
            let kind = if is_plain_word(part) {
                InterpretationKind::Word
            } else {
                interpreted.add(part, snapshot)?
            };
            if !part.excluded {
                ranking_words.push(ranking_text(part, kind));
            }
        }
        interpreted.words = ranking_words.join(" ");
        if interpreted.words.trim().is_empty() {
            query.clone_into(&mut interpreted.words);
        }
        Ok(interpreted)
    }

    /// Adds the condition of a part.
    fn add(
        &mut self,
        part: &QueryPart,
        snapshot: &Snapshot,
    ) -> Result<InterpretationKind, EngineError> {
        let (kind, iri, documents) = find_documents(part, snapshot)?;
        let condition = if part.excluded {
            Condition::Excluded
        } else {
            Condition::Required
        };
        self.conditions
            .extend(documents.map(|documents| (documents, condition)));
        self.interpretations.push(Interpretation {
            excluded: part.excluded,
            iri,
            ..Interpretation::new(kind, &part.text)
        });
        Ok(kind)
    }

    /// Adds the translated words of the query.
    pub(super) fn add_translation(&mut self, translation: Option<&Translation>) {
        let Some(translation) = translation else {
            return;
        };
        for (text, translations) in &translation.expressions {
            self.interpretations.push(Interpretation {
                language: Some(translation.language.clone()),
                translations: translations.clone(),
                ..Interpretation::new(InterpretationKind::Translation, text)
            });
        }
    }

    /// Returns the documents that pass both a filter and the conditions of the query. `None`: all documents.
    pub(super) fn restrict(
        &self,
        filtered: Option<FilteredDocs>,
        snapshot: &Snapshot,
    ) -> Option<FilteredDocs> {
        if self.conditions.is_empty() {
            return filtered;
        }
        let mut passing = filtered.unwrap_or_else(|| snapshot.all_docs());
        for (documents, condition) in &self.conditions {
            passing.restrict(documents, *condition);
        }
        Some(passing)
    }
}

type Found = (
    InterpretationKind,
    Option<String>,
    Option<Vec<DocumentAddress>>,
);

/// Returns true if a part is a word without a condition.
fn is_plain_word(part: &QueryPart) -> bool {
    part.form == PartForm::Word && !part.excluded
}

/// Returns the kind of a part, its IRI, and the documents that have it. No documents: it is no condition.
fn find_documents(part: &QueryPart, snapshot: &Snapshot) -> Result<Found, EngineError> {
    if let Some(iri) = part.iri() {
        return find_feature(iri, snapshot);
    }
    let kind = if part.form == PartForm::Phrase {
        InterpretationKind::Phrase
    } else {
        InterpretationKind::Word
    };
    let analysis = snapshot.analysis();
    // Common words are not searched for, and other languages have few texts in which they are no common words.
    let has_words = !analysis.query_words(&part.text).is_empty();
    if !has_words {
        return Ok((InterpretationKind::Ignored, None, None));
    }
    // The beginning of a long phrase would exclude datasets that do not have the rest.
    if part.excluded
        && analysis
            .phrase_forms(&part.text)
            .iter()
            .any(|form| form.len() > MAX_PHRASE_TOKENS)
    {
        return Ok((InterpretationKind::Ignored, None, None));
    }
    Ok(match snapshot.with_phrase(&part.text)? {
        Some(documents) => (kind, None, Some(documents)),
        _ => (InterpretationKind::Ignored, None, None),
    })
}

/// Returns the first role that an IRI has in any dataset, with the datasets. `http` and `https` are tried both.
fn find_feature(iri: String, snapshot: &Snapshot) -> Result<Found, EngineError> {
    let other_scheme = match iri.strip_prefix("http:") {
        Some(rest) => format!("https:{rest}"),
        None => iri.replacen("https:", "http:", 1),
    };
    for candidate in [&iri, &other_scheme] {
        for (feature_kind, kind) in KINDS {
            let Some(feature) = Feature::new(feature_kind, candidate) else {
                continue;
            };
            let documents = snapshot.with_feature(&feature)?;
            if !documents.is_empty() {
                return Ok((kind, Some(candidate.clone()), Some(documents)));
            }
        }
    }
    Ok((InterpretationKind::Unknown, Some(iri), None))
}

/// Returns the words by which a part ranks: of a name its local name, of a vocabulary none.
fn ranking_text(part: &QueryPart, kind: InterpretationKind) -> String {
    use InterpretationKind::{Class, Entity, Property, Vocabulary};
    match (kind, part.iri()) {
        (Class | Property | Entity, Some(iri)) => words(local_name(&iri)),
        (Vocabulary, Some(_)) => String::new(),
        _ => part.text.clone(),
    }
}
