//! The page with the entities of a class as a table.

use super::entity::{PropertyView, ValueView, properties_of};
use super::{PageContext, facets, readable, render, title_of};
use crate::tables::{Column, Rows, column_label};
use crate::text::{href, shorten};
use askama::Template;
use axum::response::Response;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Card, Facet};
use lodeseek_rdf::{LABEL_PROPERTIES, local_name, words};
use oxrdf::NamedNode;

/// Maximum number of columns of a page. The CSV has all.
const MAX_COLUMNS: usize = 12;
/// Maximum number of values of a cell.
const MAX_CELL_VALUES: usize = 4;
/// Maximum number of classes in the menu.
const MAX_CLASSES: usize = 30;

/// A page of a table.
pub(crate) struct TableView<'t> {
    pub(crate) class: &'t NamedNode,
    pub(crate) columns: &'t [Column],
    pub(crate) rows: &'t Rows,
    pub(crate) filter: &'t str,
    pub(crate) skip: usize,
    pub(crate) page_rows: usize,
    /// The visitor's languages, best first.
    pub(crate) languages: &'t [String],
}

struct ColumnView {
    label: String,
    iri: String,
}

struct CellView {
    values: Vec<ValueView>,
    more: usize,
}

struct RowView {
    label: String,
    href: String,
    iri: String,
    cells: Vec<CellView>,
}

struct ClassView {
    label: String,
    iri: String,
    count: String,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "table.html")]
struct TablePage {
    page: PageContext,
    dataset: String,
    title: String,
    class: String,
    class_iri: String,
    classes: Vec<ClassView>,
    /// Number of entities of the class.
    total: u64,
    filter: String,
    columns: Vec<ColumnView>,
    /// Number of columns that only the CSV has.
    more_columns: usize,
    rows: Vec<RowView>,
    first: usize,
    last: usize,
    is_incomplete: bool,
    csv: String,
    csvw: String,
    previous: Option<String>,
    next: Option<String>,
}

/// Returns the address of the table of a class, as a path with a query.
pub(crate) fn address(id: &DatasetId, class: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    let parameters = parameters.append_pair("class", class).finish();
    format!("{}/table?{parameters}", href(id))
}

/// Returns the label of a class.
pub(crate) fn class_label(class: &str) -> String {
    words(local_name(class))
}

/// Renders the page.
pub(crate) fn table(page: &PageContext, card: &Card, view: &TableView<'_>) -> Response {
    let dataset = href(&card.metadata.id);
    let own = address(&card.metadata.id, view.class.as_str());
    let shown = shown_columns(view.columns);
    let rows = &view.rows.entities;
    let mut row_views = Vec::new();
    for entity in rows {
        let properties = properties_of(&dataset, entity);
        row_views.push(RowView {
            label: shorten(&readable(&entity.label), 120),
            href: super::entity::address(&dataset, &entity.name, [0, 0]),
            iri: entity.name.clone(),
            cells: shown
                .iter()
                .map(|column| cell(&properties, column, view.languages))
                .collect(),
        });
    }
    let class = view.class.as_str();
    let counted = card.profile.classes.iter().find(|(iri, _)| iri == class);
    let counted = counted.map_or(rows.len() as u64, |(_, count)| *count);
    render(&TablePage {
        title: title_of(page, &card.metadata).0,
        class: class_label(class),
        class_iri: class.to_owned(),
        classes: classes(page, card, class),
        total: counted,
        filter: view.filter.to_owned(),
        more_columns: distinct_properties(view.columns).saturating_sub(shown.len()),
        columns: shown
            .iter()
            .map(|column| ColumnView {
                label: column_label(column, view.columns),
                iri: column.property.clone(),
            })
            .collect(),
        first: view.skip + 1,
        last: view.skip + rows.len(),
        is_incomplete: view.rows.is_incomplete,
        rows: row_views,
        csv: format!("{own}&format=csv"),
        csvw: format!("{own}&format=csvw"),
        previous: (view.skip > 0)
            .then(|| paged(&own, view.filter, view.skip.saturating_sub(view.page_rows))),
        next: view
            .rows
            .more
            .then(|| paged(&own, view.filter, view.skip + view.page_rows)),
        dataset,
        page: page.clone(),
    })
}

/// Returns the address of another page of the same table.
fn paged(own: &str, filter: &str, skip: usize) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    if !filter.is_empty() {
        parameters.append_pair("q", filter);
    }
    if skip > 0 {
        parameters.append_pair("skip", &skip.to_string());
    }
    let parameters = parameters.finish();
    if parameters.is_empty() {
        return own.to_owned();
    }
    format!("{own}&{parameters}")
}

/// Returns the most frequent properties, each once. The label is a column of its own.
fn shown_columns(columns: &[Column]) -> Vec<&Column> {
    let mut shown: Vec<&Column> = Vec::new();
    for column in columns {
        let is_new = shown.iter().all(|other| other.property != column.property);
        if is_new && !LABEL_PROPERTIES.contains(&column.property.as_str()) {
            shown.push(column);
        }
        if shown.len() == MAX_COLUMNS {
            break;
        }
    }
    shown
}

fn distinct_properties(columns: &[Column]) -> usize {
    let mut properties: Vec<&str> = columns
        .iter()
        .map(|column| column.property.as_str())
        .filter(|property| !LABEL_PROPERTIES.contains(property))
        .collect();
    properties.sort_unstable();
    properties.dedup();
    properties.len()
}

/// Returns the values of a property: of texts in several languages those in the visitor's language, if there are any.
fn cell(properties: &[PropertyView], column: &Column, languages: &[String]) -> CellView {
    let Some(property) = properties.iter().find(|one| one.iri == column.property) else {
        return CellView {
            values: Vec::new(),
            more: 0,
        };
    };
    let mut values: Vec<&ValueView> = property.values.iter().collect();
    for language in languages {
        if values.iter().any(|value| value.is_in(language)) {
            values.retain(|value| value.language.is_empty() || value.is_in(language));
            break;
        }
    }
    CellView {
        more: values.len().saturating_sub(MAX_CELL_VALUES),
        values: values.into_iter().take(MAX_CELL_VALUES).cloned().collect(),
    }
}

/// Returns the classes of the dataset, the largest first.
fn classes(page: &PageContext, card: &Card, chosen: &str) -> Vec<ClassView> {
    let mut views = Vec::new();
    for (iri, count) in &card.profile.classes {
        let is_chosen = iri == chosen;
        if is_chosen || !facets::is_machinery(Facet::Class, iri) {
            views.push(ClassView {
                label: class_label(iri),
                iri: iri.clone(),
                count: page.number(count),
                is_chosen,
            });
        }
    }
    views.truncate(MAX_CLASSES);
    views
}
