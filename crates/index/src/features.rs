//! Features that datasets share: classes, properties, and the URI spaces of their entities and links.
//!
//! Every feature has a posting list of datasets, like a word. Similar datasets are found from the lists of a dataset's
//! features, never by comparing all pairs. The caller weighs the features.

use super::{DocumentAddress, IndexError, Snapshot, collect_live_documents};
use lodeseek_ranking::DatasetId;
use serde::{Deserialize, Serialize};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, TantivyDocument, Term};

/// Maximum length of an IRI in bytes. Longer IRIs usually contain data.
const MAX_IRI_BYTES: usize = 1000;

/// Role of an IRI in a dataset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FeatureKind {
    /// Class of its entities.
    Class,
    /// Property of its triples.
    Property,
    /// Namespace of its classes or properties.
    Vocabulary,
    /// URI space of the entities it describes.
    Space,
    /// External URI space to which it links.
    Target,
    /// External entity to which it links.
    Entity,
}

impl FeatureKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Class,
        Self::Property,
        Self::Vocabulary,
        Self::Space,
        Self::Target,
        Self::Entity,
    ];

    fn letter(self) -> char {
        match self {
            Self::Class => 'c',
            Self::Property => 'p',
            Self::Vocabulary => 'v',
            Self::Space => 's',
            Self::Target => 't',
            Self::Entity => 'e',
        }
    }
}

/// Feature of a dataset.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Feature {
    /// Role of the IRI.
    pub kind: FeatureKind,
    /// IRI or URI space.
    pub iri: String,
}

impl Feature {
    /// Creates a feature. Returns `None` if the IRI is longer than 1,000 bytes.
    #[must_use]
    pub fn new(kind: FeatureKind, iri: &str) -> Option<Self> {
        (!iri.is_empty() && iri.len() <= MAX_IRI_BYTES).then(|| Self {
            kind,
            iri: iri.to_owned(),
        })
    }

    /// Returns the key in the index.
    pub(super) fn key(&self) -> String {
        format!("{}{}", self.kind.letter(), self.iri)
    }

    fn from_key(key: &str) -> Option<Self> {
        let letter = key.chars().next()?;
        let kind = FeatureKind::ALL
            .into_iter()
            .find(|kind| kind.letter() == letter)?;
        Some(Self {
            kind,
            iri: key[letter.len_utf8()..].to_owned(),
        })
    }
}

impl Snapshot {
    /// Returns the features of a dataset, or `None` if there is no such dataset.
    pub fn features(&self, id: &DatasetId) -> Result<Option<Vec<Feature>>, IndexError> {
        let Some(DocumentAddress { segment, document }) = self.address(id)? else {
            return Ok(None);
        };
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(segment, document))?;
        let keys = document
            .get_all(self.fields.features)
            .filter_map(|value| value.as_str());
        Ok(Some(keys.filter_map(Feature::from_key).collect()))
    }

    /// Returns the datasets that have a feature.
    pub fn with_feature(&self, feature: &Feature) -> Result<Vec<DocumentAddress>, IndexError> {
        self.documents_with(&Term::from_field_text(self.fields.features, &feature.key()))
    }

    /// Calls `take` with every feature and the datasets that have it, in no order. One pass over all lists.
    pub fn each_feature(
        &self,
        mut take: impl FnMut(FeatureKind, &[DocumentAddress]),
    ) -> Result<(), IndexError> {
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = reader.inverted_index(self.fields.features)?;
            let mut terms = inverted.terms().stream()?;
            while terms.advance() {
                let key = std::str::from_utf8(terms.key())
                    .ok()
                    .and_then(Feature::from_key);
                let Some(feature) = key.filter(|feature| !self.is_earlier(feature, segment)) else {
                    continue;
                };
                let documents = match self.segments.len() {
                    // The list of the only segment is that of all datasets.
                    1 => {
                        let postings = inverted
                            .read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
                        let mut documents = Vec::new();
                        collect_live_documents(reader, segment, postings, &mut documents)?;
                        documents
                    }
                    _ => self.with_feature(&feature)?,
                };
                if !documents.is_empty() {
                    take(feature.kind, &documents);
                }
            }
        }
        Ok(())
    }

    /// Returns true if an earlier segment contains the feature, which was then already visited.
    fn is_earlier(&self, feature: &Feature, segment: usize) -> bool {
        let term = Term::from_field_text(self.fields.features, &feature.key());
        self.searcher.segment_readers()[..segment]
            .iter()
            .any(|reader| {
                let inverted = reader.inverted_index(self.fields.features);
                inverted.is_ok_and(|inverted| {
                    inverted
                        .doc_freq(&term)
                        .is_ok_and(|documents| documents > 0)
                })
            })
    }

    /// Returns a number for every dataset, below [`addresses`](Self::addresses), as an index into tables.
    #[must_use]
    pub fn place(&self, address: DocumentAddress) -> usize {
        let before = &self.searcher.segment_readers()[..address.segment as usize];
        before
            .iter()
            .map(|reader| reader.max_doc() as usize)
            .sum::<usize>()
            + address.document as usize
    }

    /// Returns the dataset with this number.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<DocumentAddress> {
        let mut rest = place;
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            match rest.checked_sub(reader.max_doc() as usize) {
                Some(behind) => rest = behind,
                None => {
                    return Some(DocumentAddress {
                        segment: segment as u32,
                        document: rest as u32,
                    });
                }
            }
        }
        None
    }

    /// Returns the upper bound of the numbers, including those of removed datasets.
    #[must_use]
    pub fn addresses(&self) -> usize {
        self.searcher
            .segment_readers()
            .iter()
            .map(|reader| reader.max_doc() as usize)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FieldedDocument;
    use crate::{Analysis, AnalysisKind, IndexDocument, IndexWriter};

    fn put(writer: &mut IndexWriter, id: &str, features: &[(FeatureKind, &str)]) {
        let features = features
            .iter()
            .filter_map(|(kind, iri)| Feature::new(*kind, iri))
            .collect();
        let id = DatasetId::new(id).expect("an id");
        let analysis = Analysis::new(AnalysisKind::default());
        let fielded = FieldedDocument::default();
        let document = IndexDocument::new(
            id,
            String::new(),
            &fielded,
            &analysis,
            Vec::new(),
            Vec::new(),
        );
        writer.put(document.with_features(features)).expect("put");
    }

    #[test]
    fn features_are_counted_over_segments_and_without_the_removed() {
        let mut writer = IndexWriter::in_memory().expect("an index");
        put(
            &mut writer,
            "a",
            &[
                (FeatureKind::Class, "ex:C"),
                (FeatureKind::Property, "ex:C"),
            ],
        );
        put(&mut writer, "b", &[(FeatureKind::Class, "ex:C")]);
        writer.commit().expect("a commit");
        put(
            &mut writer,
            "c",
            &[
                (FeatureKind::Class, "ex:C"),
                (FeatureKind::Entity, &"x".repeat(MAX_IRI_BYTES + 1)),
            ],
        );
        put(&mut writer, "d", &[(FeatureKind::Space, "http://e.org/")]);
        writer.remove(&DatasetId::new("b").expect("an id"));
        writer.commit().expect("a commit");
        let snapshot = writer.snapshot().expect("a snapshot");
        let ids = |documents: &[DocumentAddress]| {
            let mut ids: Vec<_> = documents
                .iter()
                .map(|&at| snapshot.id(at).expect("an id").to_string())
                .collect();
            ids.sort(); // segments come in any order
            ids
        };
        let class = Feature::new(FeatureKind::Class, "ex:C").expect("short");
        assert_eq!(
            ids(&snapshot.with_feature(&class).expect("read")),
            ["a", "c"]
        );
        let mut all = Vec::new();
        snapshot
            .each_feature(|kind, documents| all.push((kind, ids(documents))))
            .expect("read");
        all.sort();
        let expected = [
            (FeatureKind::Class, vec!["a", "c"]),
            (FeatureKind::Property, vec!["a"]),
            (FeatureKind::Space, vec!["d"]),
        ];
        assert_eq!(
            all,
            expected.map(|(kind, ids)| (kind, ids.into_iter().map(str::to_owned).collect()))
        );
        let own = snapshot
            .features(&DatasetId::new("c").expect("an id"))
            .expect("read");
        assert_eq!(own, Some(vec![class]));
        for place in 0..snapshot.addresses() {
            assert_eq!(snapshot.at(place).map(|at| snapshot.place(at)), Some(place));
        }
        assert_eq!(snapshot.at(snapshot.addresses()), None);
    }
}
