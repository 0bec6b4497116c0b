//! Example queries of a dataset, generated from its profile and snippet so that each has results.
//!
//! Classes and properties are those of the profile. A query that combines terms (a class with two properties, a link between
//! two classes) takes a combination from the snippet, where it occurs.
//!
//! In RDF they are instances of `sh:SPARQLSelectExecutable`, as other SPARQL endpoints publish them.
//! <https://www.w3.org/TR/shacl/#sparql-constraints>, <https://github.com/sib-swiss/sparql-examples>

use crate::locale::Texts;
use lodeseek_engine::Card;
use lodeseek_rdf::vocab::{rdf, rdfs, schema, sh};
use lodeseek_rdf::{local_name, on_one_line, words};
use lodeseek_snippet::{LabelledTriple, TermKind};
use oxrdf::{Literal, NamedNode, Term, Triple};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const TRIPLES: &str = include_str!("../queries/dataset.rq");
const CLASS: &str = include_str!("../queries/example-class.rq");
const PATTERN: &str = include_str!("../queries/example-pattern.rq");
const LINK: &str = include_str!("../queries/example-link.rq");
const VALUES: &str = include_str!("../queries/example-values.rq");
const ELSEWHERE: &str = include_str!("../queries/example-elsewhere.rq");

/// A query with a title.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Example {
    pub(crate) title: String,
    pub(crate) query: String,
}

/// Replaces the names of a template by terms. IRIs contain no `<`, so no term can form another name or end early. The title replaces
/// the comment of the template, which explains the names.
fn fill_template(title: String, template: &str, terms: &[(&str, &NamedNode)]) -> Example {
    // A line break in a name would end the comment.
    let mut query = format!("# {}\n", on_one_line(&title));
    let lines = template.lines().skip_while(|line| line.starts_with('#'));
    for line in lines {
        query.push_str(line);
        query.push('\n');
    }
    for (name, term) in terms {
        query = query.replace(&format!("<{name}>"), &term.to_string());
    }
    Example { title, query }
}

fn node_label(node: &NamedNode) -> String {
    words(local_name(node.as_str()))
}

/// Returns the valid IRIs of a list of counts. Dumps contain invalid ones, too.
fn valid_iris(counts: &[(String, u64)]) -> impl Iterator<Item = NamedNode> {
    counts
        .iter()
        .filter_map(|(iri, _)| NamedNode::new(iri.as_str()).ok())
}

/// Returns the example queries of a dataset, with titles in the language of some texts; none if it has no content.
pub(crate) fn example_queries(card: &Card, dataset: &NamedNode, texts: &Texts) -> Vec<Example> {
    if card.profile.triples == 0 {
        return Vec::new();
    }
    let mut examples = vec![fill_template(
        texts.text("example-triples"),
        TRIPLES,
        &[("DATASET", dataset)],
    )];
    let classes: Vec<NamedNode> = valid_iris(&card.profile.classes).take(2).collect();
    examples.extend(classes.iter().map(|class| {
        fill_template(
            texts.text_with("example-class", &[("class", &node_label(class))]),
            CLASS,
            &[("DATASET", dataset), ("CLASS", class)],
        )
    }));
    let entities = SnippetEntities::new(&card.snippet);
    examples.extend(entities.pattern(dataset, texts));
    examples.extend(entities.link(dataset, texts));
    let property =
        valid_iris(&card.profile.properties).find(|property| property.as_str() != rdf::TYPE);
    examples.extend(property.iter().map(|property| {
        let terms = [("DATASET", dataset), ("PROPERTY", property)];
        fill_template(
            texts.text_with("example-values", &[("property", &node_label(property))]),
            VALUES,
            &terms,
        )
    }));
    examples.extend(classes.first().map(|class| {
        fill_template(
            texts.text_with("example-elsewhere", &[("class", &node_label(class))]),
            ELSEWHERE,
            &[("CLASS", class)],
        )
    }));
    examples
}

/// Entities of a snippet with their classes and other triples.
struct SnippetEntities<'s> {
    classes: BTreeMap<&'s str, NamedNode>,
    /// (subject, property, object)
    triples: Vec<(&'s str, NamedNode, Option<&'s str>)>,
}

impl<'s> SnippetEntities<'s> {
    fn new(snippet: &'s [LabelledTriple]) -> Self {
        let mut entities = Self {
            classes: BTreeMap::new(),
            triples: Vec::new(),
        };
        for triple in snippet {
            let (subject, object) = (triple.subject.value.as_str(), triple.object.value.as_str());
            if triple.predicate.value != rdf::TYPE {
                let entity = triple.object.is_resource().then_some(object);
                let property = NamedNode::new(triple.predicate.value.as_str()).ok();
                entities
                    .triples
                    .extend(property.map(|property| (subject, property, entity)));
            } else if let Some(class) = NamedNode::new(object)
                .ok()
                .filter(|_| triple.object.kind == TermKind::Iri)
            {
                entities.classes.entry(subject).or_insert(class);
            }
        }
        entities
    }

    /// Returns a query for entities of a class by two properties.
    fn pattern(&self, dataset: &NamedNode, texts: &Texts) -> Option<Example> {
        let entities = self
            .classes
            .iter()
            .map(|(subject, class)| (class, self.properties_of(subject)));
        let (class, properties) = entities
            .filter(|(_, properties)| properties.len() > 1)
            .max_by_key(|(_, p)| p.len())?;
        let mut properties = properties.into_iter();
        let (property, other) = (properties.next()?, properties.next()?);
        let title = texts.text_with(
            "example-pattern",
            &[
                ("class", &node_label(class)),
                ("property", &node_label(property)),
                ("other", &node_label(other)),
            ],
        );
        let terms = [
            ("DATASET", dataset),
            ("CLASS", class),
            ("PROPERTY", property),
            ("OTHER", other),
        ];
        Some(fill_template(title, PATTERN, &terms))
    }

    fn properties_of(&self, subject: &str) -> BTreeSet<&NamedNode> {
        self.triples
            .iter()
            .filter(|triple| triple.0 == subject)
            .map(|triple| &triple.1)
            .collect()
    }

    /// Returns a query for links between two classes.
    fn link(&self, dataset: &NamedNode, texts: &Texts) -> Option<Example> {
        let mut links = self
            .triples
            .iter()
            .filter_map(|(subject, property, object)| {
                let (from, to) = (self.classes.get(subject)?, self.classes.get((*object)?)?);
                Some((from, property, to))
            });
        let (from, property, to) = links.next()?;
        let title = texts.text_with(
            "example-link",
            &[
                ("from", &node_label(from)),
                ("property", &node_label(property)),
                ("to", &node_label(to)),
            ],
        );
        let terms = [
            ("DATASET", dataset),
            ("CLASS", from),
            ("PROPERTY", property),
            ("OTHER", to),
        ];
        Some(fill_template(title, LINK, &terms))
    }
}

/// Converts examples to RDF. Their IRIs are that of a document with a number.
pub(crate) fn executable(
    examples: &[Example],
    document: &str,
    endpoint: &NamedNode,
) -> Vec<Triple> {
    let mut triples = Vec::new();
    for (example, number) in examples.iter().zip(1..) {
        let subject = NamedNode::new_unchecked(format!("{document}{number}"));
        let comment = Literal::new_language_tagged_literal_unchecked(example.title.as_str(), "en");
        let objects: [(&str, Term); 5] = [
            (
                rdf::TYPE,
                NamedNode::new_unchecked(sh::SPARQL_EXECUTABLE).into(),
            ),
            (
                rdf::TYPE,
                NamedNode::new_unchecked(sh::SPARQL_SELECT_EXECUTABLE).into(),
            ),
            (rdfs::COMMENT, comment.into()),
            (sh::SELECT, Literal::from(example.query.as_str()).into()),
            (schema::TARGET, endpoint.clone().into()),
        ];
        for (property, object) in objects {
            let property = NamedNode::new_unchecked(property);
            triples.push(Triple::new(subject.clone(), property, object));
        }
    }
    triples
}
