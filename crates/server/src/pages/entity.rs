//! The page of one resource of a dataset, and resources as examples on the page of the dataset.

use super::diagram::class_name;
use super::{PageContext, entities, readable, render, title_of};
use crate::entities::{Entity, MAX_PAGE_TRIPLES, TriplePage, name};
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
        let primary = self.language.split('-').next().unwrap_or_default();
        primary.eq_ignore_ascii_case(language)
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
    let skipped = [found.out.skipped, found.to.skipped];
    let pages = |place: usize, page: &TriplePage| {
        let link = |skip: usize| {
            let mut moved = skipped;
            moved[place] = skip;
            address(&dataset, &found.name, moved)
        };
        Pages {
            from: page.skipped + 1,
            until: page.end(),
            previous: (page.skipped > 0)
                .then(|| link(page.skipped.saturating_sub(MAX_PAGE_TRIPLES))),
            next: page.more.then(|| link(page.end())),
        }
    };
    render(&EntityPage {
        title: title_of(page, &card.metadata).0,
        label: entity_label(page, found, 200),
        name: found.name.clone(),
        own: address(&dataset, &found.name, [0, 0]),
        outside: Some(found.name.clone()).filter(|name| is_web(name)),
        elsewhere: (!found.name.starts_with("_:"))
            .then(|| entities::address(&format!("<{}>", found.name))),
        out: properties(
            &dataset,
            found,
            &found.out.triples,
            MAX_VALUE_CHARACTERS,
            |triple| &triple.object,
        ),
        to: properties(
            &dataset,
            found,
            &found.to.triples,
            MAX_VALUE_CHARACTERS,
            |triple| &triple.subject,
        ),
        pages: [pages(0, &found.out), pages(1, &found.to)],
        dataset,
        page: page.clone(),
    })
}

/// Returns the properties of a resource with short values, for a row of a table.
pub(super) fn properties_of(dataset: &str, entity: &Entity) -> Vec<PropertyView> {
    properties(
        dataset,
        entity,
        &entity.out.triples,
        MAX_EXAMPLE_CHARACTERS,
        |triple| &triple.object,
    )
}

/// Groups triples by property, in the order of the first occurrence.
fn properties(
    dataset: &str,
    entity: &Entity,
    triples: &[LabelledTriple],
    most: usize,
    other: impl Fn(&LabelledTriple) -> &LabelledTerm,
) -> Vec<PropertyView> {
    let mut properties: Vec<PropertyView> = Vec::new();
    for triple in triples {
        let value = value(dataset, entity, other(triple), most);
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
const MAX_VALUE_CHARACTERS: usize = 2000;
const MAX_EXAMPLE_CHARACTERS: usize = 160;

fn value(dataset: &str, entity: &Entity, term: &LabelledTerm, most: usize) -> ValueView {
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
    let view = |(place, entity): &(usize, Entity)| {
        let class = &card.schema.nodes[*place];
        ExampleView {
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
            properties: properties(
                &dataset,
                entity,
                &entity.out.triples,
                MAX_EXAMPLE_CHARACTERS,
                |triple| &triple.object,
            ),
            more: entity.out.more,
        }
    };
    found.iter().map(view).collect()
}
