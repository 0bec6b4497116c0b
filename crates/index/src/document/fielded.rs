//! Fielded documents: the eight fields of ACORDAR.
//!
//! T. Lin et al.: *ACORDAR: A Test Collection for Ad Hoc Content-Based (RDF) Dataset Retrieval*, SIGIR 2022. Four
//! fields contain metadata and four contain content. Content is repeated as it occurs: a property of a thousand triples
//! gives a thousand values. Values are labels, not IRIs. Blank nodes give no values.

use super::compact::{MAX_LABEL_CHARS, cut};
use lodeseek_catalog::Metadata;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{LABEL_PROPERTIES, Labels, TermId, TermRef, TripleGraph};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Field of a document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// All titles, and alternative names.
    Title,
    /// All descriptions and notes, and the titles of the works that introduced the dataset.
    Description,
    /// Names of authors and publishers.
    Author,
    /// Keywords and themes.
    Tags,
    /// Labels of subjects, and of objects that are not classes.
    Entity,
    /// Lexical forms of literals.
    Literal,
    /// Labels of objects that are classes.
    Class,
    /// Labels of predicates.
    Property,
}

impl Field {
    /// All fields, metadata first.
    pub const ALL: [Self; 8] = [
        Self::Title,
        Self::Description,
        Self::Author,
        Self::Tags,
        Self::Entity,
        Self::Literal,
        Self::Class,
        Self::Property,
    ];

    /// Returns the index in [`Self::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::Author => "author",
            Self::Tags => "tags",
            Self::Entity => "entity",
            Self::Literal => "literal",
            Self::Class => "class",
            Self::Property => "property",
        }
    }

    /// Returns true for a field of the metadata, false for a field of the content.
    #[must_use]
    pub fn is_metadata(self) -> bool {
        matches!(
            self,
            Self::Title | Self::Description | Self::Author | Self::Tags
        )
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Values of one field: the distinct texts, and their sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldText {
    /// Distinct values.
    pub values: Vec<String>,
    /// Indexes into `values`, one for each occurrence.
    pub occurrences: Vec<u32>,
}

impl FieldText {
    fn from_values<'t>(values: impl IntoIterator<Item = &'t str>) -> Self {
        let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        Self {
            occurrences: (0..values.len() as u32).collect(),
            values,
        }
    }
}

/// Place of a literal in the content of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiteralPlace {
    /// If true, it is the first literal of its subject.
    pub starts_subject: bool,
    /// If true, its property is one of [`LABEL_PROPERTIES`].
    pub is_label: bool,
}

/// Dataset as eight fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldedDocument {
    fields: [FieldText; 8],
    /// Places of the values of [`Field::Literal`], one for each triple with a literal, in the order of the triples.
    literals: Vec<LiteralPlace>,
}

impl FieldedDocument {
    /// Creates the document of a dataset.
    ///
    /// The extraction is that of ACORDAR's authors. Each triple gives one property. An object is a class if it is the
    /// type of any entity in the graph. Labels are `rdfs:label`, else the local name. The terms of a triple term (RDF 1.2)
    /// count as those of a triple.
    #[must_use]
    pub fn new(metadata: &Metadata, graph: &TripleGraph) -> Self {
        let mut document = Self::default();
        fn values(texts: &[lodeseek_catalog::Text]) -> impl Iterator<Item = &str> {
            texts.iter().map(|text| text.value.as_str())
        }
        let works = metadata
            .introduced_by
            .iter()
            .map(|work| work.title.as_str());
        let themes = metadata.themes.iter().map(|theme| theme.label.as_str());
        document.fields[Field::Title.index()] =
            FieldText::from_values(values(&metadata.titles).chain(values(&metadata.alternatives)));
        document.fields[Field::Description.index()] = FieldText::from_values(
            values(&metadata.descriptions)
                .chain(values(&metadata.notes))
                .chain(works),
        );
        document.fields[Field::Tags.index()] =
            FieldText::from_values(values(&metadata.keywords).chain(themes));
        document.fields[Field::Author.index()] =
            FieldText::from_values(metadata.agents().map(|agent| agent.name.as_str()));
        document.add_content(graph);
        document
    }

    fn add_content(&mut self, graph: &TripleGraph) {
        let kind = graph.iri(rdf::TYPE);
        let mut is_class = vec![false; graph.term_count()];
        for triple in graph
            .triples()
            .iter()
            .filter(|triple| Some(triple.predicate) == kind)
        {
            is_class[triple.object.index()] = true;
        }
        let mut places = TermPlaces {
            graph,
            labels: Labels::for_index(graph),
            places: Default::default(),
        };
        let label_properties: Vec<TermId> = LABEL_PROPERTIES
            .iter()
            .filter_map(|iri| graph.iri(iri))
            .collect();
        let mut subject = None;
        for triple in graph.triples() {
            let starts_subject = subject != Some(triple.subject);
            let is_label = label_properties.contains(&triple.predicate);
            let mut part = *triple;
            loop {
                places.add(&mut self.fields, Field::Entity, part.subject);
                places.add(&mut self.fields, Field::Property, part.predicate);
                let object = part.object;
                if graph.is_literal(object) {
                    places.add(&mut self.fields, Field::Literal, object);
                    // A literal of a triple term belongs to the subject of the whole triple.
                    subject = Some(triple.subject);
                    self.literals.push(LiteralPlace {
                        starts_subject,
                        is_label,
                    });
                } else if let TermRef::Triple(nested) = graph.term(object) {
                    part = nested;
                    continue;
                } else if is_class[object.index()] {
                    places.add(&mut self.fields, Field::Class, object);
                } else {
                    places.add(&mut self.fields, Field::Entity, object);
                }
                break;
            }
        }
    }

    /// Replaces the values of a field, one for each occurrence. Each literal then has a subject of its own.
    #[must_use]
    pub fn with<'t>(mut self, field: Field, values: impl IntoIterator<Item = &'t str>) -> Self {
        self.fields[field.index()] = FieldText::from_values(values);
        if field == Field::Literal {
            let count = self.fields[field.index()].occurrences.len();
            self.literals = vec![
                LiteralPlace {
                    starts_subject: true,
                    is_label: false
                };
                count
            ];
        }
        self
    }

    /// Returns the places of the literals, one for each occurrence in the field of literals.
    #[must_use]
    pub fn literals(&self) -> &[LiteralPlace] {
        &self.literals
    }

    /// Returns the values of a field.
    #[must_use]
    pub fn field(&self, field: Field) -> &FieldText {
        &self.fields[field.index()]
    }
}

/// The places of the labels of a graph's terms among the values of fields, so that each label is stored once.
struct TermPlaces<'g> {
    graph: &'g TripleGraph,
    labels: Labels<'g>,
    /// By field and term. `None`: the term has no label, or is a blank node.
    places: [FxHashMap<TermId, Option<u32>>; 8],
}

impl TermPlaces<'_> {
    /// Adds an occurrence of a term to a field, if it is an IRI or a literal with a label.
    fn add(&mut self, fields: &mut [FieldText; 8], field: Field, id: TermId) {
        let text = &mut fields[field.index()];
        let place = self.places[field.index()].entry(id).or_insert_with(|| {
            let is_iri = self.graph.is_iri(id);
            if !is_iri && !self.graph.is_literal(id) {
                return None;
            }
            let label = self.labels.label(id)?;
            // The label of an IRI is indexed once for each of its triples.
            text.values.push(if is_iri {
                cut(&label, MAX_LABEL_CHARS).to_owned()
            } else {
                label
            });
            Some(text.values.len() as u32 - 1)
        });
        text.occurrences.extend(*place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::CompactDocument;
    use lodeseek_catalog::{DatasetId, Text};
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

    fn sequence(document: &FieldedDocument, field: Field) -> Vec<&str> {
        let text = document.field(field);
        text.occurrences
            .iter()
            .map(|&place| text.values[place as usize].as_str())
            .collect()
    }

    #[test]
    fn long_labels_are_cut() {
        let long = "word ".repeat(10_000);
        let turtle = format!(
            "<http://e.org/a> <http://www.w3.org/2000/01/rdf-schema#label> \"{long}\" ; <http://e.org/p> <http://e.org/b> ."
        );
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        let (graph, metadata) = (
            builder.finish(),
            Metadata::new(DatasetId::new("1").expect("an id")),
        );
        let document = FieldedDocument::new(&metadata, &graph);
        let lengths = |field| {
            sequence(&document, field)
                .iter()
                .map(|text| text.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (lengths(Field::Literal), lengths(Field::Entity)),
            (vec![50_000], vec![2_000, 1, 2_000])
        );
        let compact = CompactDocument::new(&metadata, &graph, graph.triples());
        assert!(
            compact.triples.len() == 2 && compact.triples.iter().all(|line| line.len() < 4_100)
        );
    }

    #[test]
    fn fields_by_hand() {
        let turtle =
            "@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
            e:a a e:City ; rdfs:label \"Alpha\" ; e:near e:b , _:x . e:City rdfs:label \"town\" .";
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        let metadata = Metadata {
            titles: vec![Text::plain("T")],
            ..Metadata::new(DatasetId::new("1").expect("an id"))
        };
        let document = FieldedDocument::new(&metadata, &builder.finish());
        assert_eq!(sequence(&document, Field::Title), ["T"]);
        assert_eq!(sequence(&document, Field::Class), ["town"]);
        let mut entities = sequence(&document, Field::Entity);
        entities.sort_unstable();
        assert_eq!(entities, ["Alpha", "Alpha", "Alpha", "Alpha", "b", "town"]);
        let mut properties = sequence(&document, Field::Property);
        properties.sort_unstable();
        assert_eq!(properties, ["label", "label", "near", "near", "type"]);
        let mut literals = sequence(&document, Field::Literal);
        literals.sort_unstable();
        assert_eq!(literals, ["Alpha", "town"]);
    }
}
