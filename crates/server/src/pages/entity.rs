//! The page of one resource of a dataset, and resources as examples on the page of the dataset.

use super::diagram::class_name;
use super::{PageContext, entities, readable, render, title_of};
use crate::entities::{Entity, MAX_PAGE_TRIPLES, name};
use crate::localized::primary_subtag;
use crate::text::{href, is_web, shorten};
use askama::Template;
use axum::response::Response;
use lodeseek_engine::Card;
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TermKind};

/// A value ready for a template.
#[derive(Clone)]
pub(super) struct ValueView {
    pub(super) text: String,
    pub(super) title: String,
    pub(super) literal: bool,
    pub(super) language: String,
    pub(super) direction: String,
    /// Address of a resource in the dataset, or on the web if `outside` is true.
    pub(super) href: Option<String>,
    pub(super) outside: bool,
}

impl ValueView {
    /// Returns true for a text in a language, whatever its region.
    pub(super) fn is_in(&self, language: &str) -> bool {
        primary_subtag(&self.language).eq_ignore_ascii_case(language)
    }
}

/// The values of a property, or the resources that have it.
pub(super) struct PropertyView {
    pub(super) name: String,
    pub(super) iri: String,
    pub(super) values: Vec<ValueView>,
}

/// An example of a class.
pub(super) struct ExampleView {
    pub(super) class: String,
    pub(super) iri: String,
    pub(super) label: String,
    pub(super) href: String,
    pub(super) properties: Vec<PropertyView>,
    pub(super) more: bool,
}

#[derive(Template)]
#[template(path = "entity.html")]
struct EntityPage {
    page: PageContext,
    dataset: String,
    title: String,
    label: String,
    name: String,
    /// The address, without paging.
    own: String,
    /// The resource's own address on the web.
    outside: Option<String>,
    /// Address of the datasets with the resource. `None` for a blank node.
    elsewhere: Option<String>,
    out: Vec<PropertyView>,
    to: Vec<PropertyView>,
    pages: [Pages; 2],
}

/// Numbers of the first and last triple shown, and addresses of the adjacent pages.
struct Pages {
    from: usize,
    until: usize,
    previous: Option<String>,
    next: Option<String>,
}

impl Pages {
    /// Returns the links for the triples of a direction: 0 from the resource, 1 to it.
    fn new(dataset: &str, found: &Entity, direction: usize) -> Self {
        let page = [&found.out, &found.to][direction];
        let previous = page.skipped.saturating_sub(MAX_PAGE_TRIPLES);
        Self {
            from: page.skipped + 1,
            until: page.end(),
            previous: (page.skipped > 0).then(|| skip_address(dataset, found, direction, previous)),
            next: page
                .more
                .then(|| skip_address(dataset, found, direction, page.end())),
        }
    }
}

/// Returns the address of a resource's page after skipping other triples of one direction.
fn skip_address(dataset: &str, found: &Entity, direction: usize, skip: usize) -> String {
    let mut skipped = [found.out.skipped, found.to.skipped];
    skipped[direction] = skip;
    address(dataset, &found.name, skipped)
}

/// Returns the address of a resource's page.
pub(super) fn address(dataset: &str, name: &str, [skip, to]: [usize; 2]) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.append_pair("iri", name);
    for (parameter, skipped) in [("skip", skip), ("to", to)] {
        if skipped > 0 {
            parameters.append_pair(parameter, &skipped.to_string());
        }
    }
    format!("{dataset}/entity?{}", parameters.finish())
}

/// Returns the label of a resource of at most some characters, or that of a node without a name.
pub(super) fn entity_label(page: &PageContext, entity: &Entity, max_characters: usize) -> String {
    match &entity.label {
        Some(label) => shorten(&readable(label), max_characters),
        None => page.text("entity-unnamed"),
    }
}

/// Renders the page of a resource.
pub(crate) fn entity(page: &PageContext, card: &Card, found: &Entity) -> Response {
    let dataset = href(&card.metadata.id);
    render(&EntityPage {
        title: title_of(page, &card.metadata).0,
        label: entity_label(page, found, 200),
        name: found.name.clone(),
        own: address(&dataset, &found.name, [0, 0]),
        outside: Some(found.name.clone()).filter(|name| is_web(name)),
        elsewhere: (!found.name.starts_with("_:"))
            .then(|| entities::address(&format!("<{}>", found.name))),
        out: group_by_property(
            &dataset,
            found,
            &found.out.triples,
            MAX_VALUE_CHARS,
            |triple| &triple.object,
        ),
        to: group_by_property(
            &dataset,
            found,
            &found.to.triples,
            MAX_VALUE_CHARS,
            |triple| &triple.subject,
        ),
        pages: [0, 1].map(|direction| Pages::new(&dataset, found, direction)),
        dataset,
        page: page.clone(),
    })
}

/// Returns the properties of a resource with short values, for a row of a table.
pub(super) fn properties_of(dataset: &str, entity: &Entity) -> Vec<PropertyView> {
    group_by_property(
        dataset,
        entity,
        &entity.out.triples,
        MAX_EXAMPLE_CHARS,
        |triple| &triple.object,
    )
}

/// Groups triples by property, in the order of the first occurrence.
fn group_by_property(
    dataset: &str,
    entity: &Entity,
    triples: &[LabelledTriple],
    most: usize,
    other: impl Fn(&LabelledTriple) -> &LabelledTerm,
) -> Vec<PropertyView> {
    let mut properties: Vec<PropertyView> = Vec::new();
    for triple in triples {
        let value = value_view(dataset, entity, other(triple), most);
        match properties
            .iter_mut()
            .find(|property| property.iri == triple.predicate.value)
        {
            Some(property) => property.values.push(value),
            None => properties.push(PropertyView {
                name: triple.predicate.label.clone(),
                iri: triple.predicate.value.clone(),
                values: vec![value],
            }),
        }
    }
    properties
}

/// Maximum number of characters of a value, and of one in an example.
const MAX_VALUE_CHARS: usize = 2000;
const MAX_EXAMPLE_CHARS: usize = 160;

fn value_view(dataset: &str, entity: &Entity, term: &LabelledTerm, most: usize) -> ValueView {
    let name = name(term);
    let is_here = term.is_resource() && (entity.described.contains(&name) || name == entity.name);
    let outside = term.kind == TermKind::Iri && !is_here && is_web(&name) && !term.is_cut();
    let text = if term.kind == TermKind::Blank && term.label.is_empty() {
        &name
    } else {
        &term.label
    };
    ValueView {
        text: shorten(&readable(text), most),
        title: if term.kind == TermKind::Literal {
            term.datatype.clone().unwrap_or_default()
        } else {
            name.clone()
        },
        literal: term.kind == TermKind::Literal,
        language: term.language.clone().unwrap_or_default(),
        direction: term.direction.clone().unwrap_or_default(),
        href: if is_here {
            Some(address(dataset, &name, [0, 0]))
        } else {
            outside.then(|| name.clone())
        },
        outside,
    }
}

/// Converts examples of classes, for the page of the dataset.
pub(super) fn examples(
    page: &PageContext,
    card: &Card,
    found: &[(usize, Entity)],
) -> Vec<ExampleView> {
    let dataset = href(&card.metadata.id);
    let mut examples = Vec::with_capacity(found.len());
    for (place, entity) in found {
        let class = &card.schema.nodes[*place];
        examples.push(ExampleView {
            class: page.locale.text_with(
                "one-of",
                &[
                    ("class", &class_name(class, &page.text("no-class"))),
                    ("number", &page.number(class.entities)),
                ],
            ),
            iri: class.class.clone().unwrap_or_default(),
            label: entity_label(page, entity, 120),
            href: address(&dataset, &entity.name, [0, 0]),
            properties: properties_of(&dataset, entity),
            more: entity.out.more,
        });
    }
    examples
}
