//! Conditions of a query on documents: phrases that must or must not occur, and documents found by a feature.

use super::filter::{FilteredDocs, QUERY};
use super::{DocumentAddress, IndexError, Snapshot};
use crate::document::Field;
use rustc_hash::FxHashSet;
use tantivy::Term;
use tantivy::collector::DocSetCollector;
use tantivy::query::{BooleanQuery, PhraseQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

/// Maximum number of tokens of a phrase: each reads its positions in all documents.
pub const MAX_PHRASE_TOKENS: usize = 16;

/// Condition on the members of a set of documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Only members pass.
    Required,
    /// Members do not pass.
    Excluded,
}

impl Snapshot {
    /// Returns the documents in which the tokens of a text follow each other in one field. Stop words of the text's
    /// language do not count. Returns `None` if the text has no token.
    ///
    /// A multilingual index has analysed each text in its language. The phrase is therefore analysed in every language,
    /// and one of these forms has to occur. Adjacent values of a field, such as two keywords, follow each other. Of a longer
    /// phrase, the first 16 tokens are compared.
    pub fn with_phrase(&self, text: &str) -> Result<Option<Vec<DocumentAddress>>, IndexError> {
        let forms = self.analysis.phrase_forms(text);
        if forms.is_empty() {
            return Ok(None);
        }
        let mut queries: Vec<Box<dyn Query>> = Vec::new();
        for field in Field::ALL {
            for form in &forms {
                queries.push(self.phrase_query(field, form));
            }
        }
        let found = self
            .searcher
            .search(&BooleanQuery::union(queries), &DocSetCollector)?;
        let mut documents = Vec::with_capacity(found.len());
        for address in found {
            documents.push(DocumentAddress {
                segment: address.segment_ord,
                document: address.doc_id,
            });
        }
        documents.sort_unstable();
        Ok(Some(documents))
    }

    fn phrase_query(&self, field: Field, tokens: &[String]) -> Box<dyn Query> {
        let text = self.fields.text(field);
        let mut terms: Vec<Term> = tokens
            .iter()
            .take(MAX_PHRASE_TOKENS)
            .map(|token| Term::from_field_text(text, token))
            .collect();
        match terms.len() {
            1 => Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::Basic)),
            _ => Box::new(PhraseQuery::new(terms)),
        }
    }

    /// Returns documents that all pass, to be restricted by [`FilteredDocs::restrict`].
    #[must_use]
    pub fn all_docs(&self) -> FilteredDocs {
        FilteredDocs {
            failed: self
                .segments
                .iter()
                .map(|columns| vec![0; columns.order.len()])
                .collect(),
        }
    }
}

impl FilteredDocs {
    /// Adds a condition on a set of documents. The counts of facets and years respect it, too.
    pub fn restrict(&mut self, documents: &[DocumentAddress], condition: Condition) {
        let members: FxHashSet<(u32, u32)> = documents
            .iter()
            .map(|address| (address.segment, address.document))
            .collect();
        for (segment, failed) in (0_u32..).zip(&mut self.failed) {
            for (document, failed) in (0_u32..).zip(failed) {
                let is_member = members.contains(&(segment, document));
                if is_member != (condition == Condition::Required) {
                    *failed |= QUERY;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FieldedDocument;
    use crate::{Analysis, AnalysisKind, IndexDocument, IndexWriter};
    use lodeseek_ranking::DatasetId;

    fn snapshot(texts: &[&str], kind: AnalysisKind) -> Snapshot {
        let mut writer = IndexWriter::in_memory()
            .expect("a writer")
            .with_analysis(kind);
        let analysis = Analysis::new(kind);
        for (place, text) in texts.iter().enumerate() {
            let id = DatasetId::new(place.to_string()).expect("an id");
            let document = FieldedDocument::default().with(Field::Description, [*text]);
            let document = IndexDocument::new(
                id,
                String::new(),
                &document,
                &analysis,
                Vec::new(),
                Vec::new(),
            );
            writer.put(document).expect("put");
        }
        writer.commit().expect("committed");
        writer.snapshot().expect("a snapshot")
    }

    fn ids(snapshot: &Snapshot, documents: &[DocumentAddress]) -> Vec<String> {
        let mut ids = Vec::new();
        for address in documents {
            ids.push(snapshot.id(*address).expect("an id").as_str().to_owned());
        }
        ids.sort();
        ids
    }

    fn with_phrase(snapshot: &Snapshot, phrase: &str) -> Vec<String> {
        ids(
            snapshot,
            &snapshot
                .with_phrase(phrase)
                .expect("searched")
                .expect("has tokens"),
        )
    }

    #[test]
    fn the_words_of_a_phrase_follow_each_other() {
        for kind in AnalysisKind::ALL {
            let snapshot = snapshot(
                &["air quality in Madrid", "the quality of air", "fresh air"],
                kind,
            );
            assert_eq!(with_phrase(&snapshot, "Air quality"), ["0"], "{kind}");
            assert_eq!(
                with_phrase(&snapshot, "quality of the air"),
                ["1"],
                "{kind}"
            );
            assert_eq!(with_phrase(&snapshot, "air"), ["0", "1", "2"], "{kind}");
            assert!(
                with_phrase(&snapshot, "air in Madrid quality").is_empty(),
                "{kind}"
            );
            assert_eq!(
                snapshot.with_phrase("of the").expect("searched").is_none(),
                kind != AnalysisKind::Multilingual
            );
        }
    }

    #[test]
    fn the_beginning_of_a_long_phrase_is_compared() {
        let words = |range: std::ops::Range<u32>| {
            range
                .map(|word| format!("w{word}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let snapshot = snapshot(&[&words(0..16), &words(0..15)], AnalysisKind::English);
        assert_eq!(with_phrase(&snapshot, &words(0..20)), ["0"]);
    }

    #[test]
    fn a_phrase_occurs_in_texts_of_its_language() {
        let texts = [
            "La liste des mesures de la qualité de l'air dans les stations de la ville",
            "Das Verzeichnis der öffentlichen Bibliotheken und ihrer Bestände in Deutschland",
        ];
        let snapshot = snapshot(&texts, AnalysisKind::Multilingual);
        assert_eq!(with_phrase(&snapshot, "qualité de l'air"), ["0"]);
        assert_eq!(with_phrase(&snapshot, "öffentliche Bibliothek"), ["1"]);
        assert!(with_phrase(&snapshot, "Bestände Bibliotheken").is_empty());
    }

    #[test]
    fn conditions_are_combined() {
        let snapshot = snapshot(
            &["air in Rome", "air in Paris", "water in Rome"],
            AnalysisKind::Acordar,
        );
        let documents = |phrase: &str| {
            snapshot
                .with_phrase(phrase)
                .expect("searched")
                .expect("has tokens")
        };
        let mut passing = snapshot.all_docs();
        passing.restrict(&documents("air"), Condition::Required);
        passing.restrict(&documents("Paris"), Condition::Excluded);
        let all = documents("rome")
            .into_iter()
            .chain(documents("paris"))
            .collect::<Vec<_>>();
        let left: Vec<DocumentAddress> = all
            .into_iter()
            .filter(|address| passing.contains(*address))
            .collect();
        assert_eq!(ids(&snapshot, &left), ["0"]);
        assert_eq!(
            snapshot
                .ids_if_few(&passing, 5)
                .expect("read")
                .map(|ids| ids.len()),
            Some(1)
        );
    }
}
