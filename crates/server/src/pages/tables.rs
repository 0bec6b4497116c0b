//! The page with the entities of a class as a table.

use super::entity::{PropertyView, ValueView, entity_label, properties_of};
use super::{PageContext, facets, render, title_of};
use crate::entities::Entity;
use crate::localized::primary_subtag;
use crate::tables::{
    self, Column, ENTITY_COLUMN, MAX_SELECTED_ENTITIES, OrderError, RowCount, RowOrder, Rows,
    Selection,
};
use crate::text::href;
use askama::Template;
use axum::response::Response;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Card, Facet};
use lodeseek_rdf::vocab::{csvw, lodeseek};
use lodeseek_rdf::{LABEL_PROPERTIES, local_name, words};
use oxrdf::NamedNode;

/// Maximum number of columns of a page. The CSV has all.
const MAX_COLUMNS: usize = 12;
/// Vocabularies that describe tables: those of CSV on the Web and of Lodeseek.
const TABLE_VOCABULARIES: [&str; 2] = [csvw::NAMESPACE, lodeseek::NAMESPACE];
/// Maximum length of the label of a row in characters.
const MAX_LABEL_CHARACTERS: usize = 120;
/// Maximum number of values of a cell.
const MAX_CELL_VALUES: usize = 4;
/// Maximum number of classes in the menu.
const MAX_CLASSES: usize = 30;

/// A page of a table.
pub(crate) struct TableView<'t> {
    pub(crate) class: &'t NamedNode,
    /// If true, the entities are rows of a file.
    pub(crate) has_file: bool,
    pub(crate) columns: &'t [Column],
    pub(crate) rows: &'t Rows,
    /// Number of rows without a filter.
    pub(crate) total: RowCount,
    pub(crate) selection: &'t Selection,
    /// Reason why the rows are not in the requested order.
    pub(crate) order_error: Option<&'t OrderError>,
    pub(crate) skip: usize,
    pub(crate) page_rows: usize,
}

impl TableView<'_> {
    /// Returns the parameter `sort` of the rows; empty if they are not sorted.
    fn sort(&self) -> String {
        match &self.selection.order {
            Some(order) => order.parameter(),
            None => String::new(),
        }
    }
}

struct ColumnView {
    label: String,
    /// Explanation of the label: the IRI of a property.
    title: String,
    /// Address of the table, sorted by the column. `None` if the table is too large.
    sort: Option<String>,
    /// Value of `aria-sort`, if the rows are sorted by the column.
    direction: Option<&'static str>,
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
    /// Number of entities of the class, in words.
    total: String,
    filter: String,
    /// The parameter `sort`; empty if the rows are not sorted.
    sort: String,
    /// Reason why the rows are not sorted, or cannot be.
    sort_note: Option<String>,
    /// Number of entities with the text of the filter, of those read. `None` without a filter.
    matching: Option<usize>,
    /// Address of the CSV with these entities.
    filtered_csv: String,
    /// If true, rows have their numbers in the file as names.
    has_file: bool,
    columns: Vec<ColumnView>,
    /// Number of columns that only the CSV has.
    more_columns: usize,
    rows: Vec<RowView>,
    first: usize,
    last: usize,
    /// If true, the filter did not read all rows, and the number of those with its text is a minimum.
    is_incomplete: bool,
    /// Maximum number of rows that a filter reads.
    max_rows: usize,
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

/// Returns the label of a class: of rows the name of the file.
pub(crate) fn class_label(class: &str) -> String {
    tables::file_name(class).unwrap_or_else(|| words(local_name(class)))
}

/// Returns true for a class that describes the tables of a dataset, or that belongs to RDF's own machinery.
pub(super) fn is_internal(card: &Card, class: &str) -> bool {
    facets::is_machinery(Facet::Class, class) || describes_tables(card, class)
}

/// Removes classes, links and vocabularies that describe tables, and the namespaces of columns.
pub(super) fn hide_descriptions(card: &mut Card) {
    let all = card.clone();
    let profile = &mut card.profile;
    profile
        .classes
        .retain(|(class, _)| !describes_tables(&all, class));
    profile
        .vocabularies
        .retain(|(namespace, _)| !describes_tables(&all, namespace));
    card.schema
        .retain_classes(|class| !describes_tables(&all, class));
}

/// Returns true for a class or a vocabulary that describes the tables of a dataset, and for the namespace of columns.
fn describes_tables(card: &Card, iri: &str) -> bool {
    let classes = &card.profile.classes;
    if !classes.iter().any(|(class, _)| class == csvw::TABLE) {
        return false;
    }
    let address = iri.strip_suffix('#');
    let is_file = address.is_some_and(|address| {
        let mut tables = card.profile.tables.iter();
        tables.any(|table| table.iri.split('#').next() == Some(address))
    });
    is_file
        || TABLE_VOCABULARIES
            .iter()
            .any(|vocabulary| iri.starts_with(vocabulary))
}

/// Returns the number of a row, else the label of an entity.
fn row_label(page: &PageContext, has_file: bool, entity: &Entity) -> String {
    let mut triples = entity.out.triples.iter();
    let number = triples.find(|triple| has_file && triple.predicate.value == csvw::ROWNUM);
    match number.and_then(|triple| triple.object.value.parse::<u64>().ok()) {
        Some(number) => page.number(number),
        None => entity_label(page, entity, MAX_LABEL_CHARACTERS),
    }
}

/// Renders the page.
pub(crate) fn table(page: &PageContext, card: &Card, view: &TableView<'_>) -> Response {
    let dataset = href(&card.metadata.id);
    let own = address(&card.metadata.id, view.class.as_str());
    let shown = shown_columns(view);
    let rows = &view.rows.entities;
    let mut row_views = Vec::new();
    for entity in rows {
        let properties = properties_of(&dataset, entity);
        row_views.push(RowView {
            label: row_label(page, view.has_file, entity),
            href: super::entity::address(&dataset, &entity.name, [0, 0]),
            iri: entity.name.clone(),
            cells: shown
                .iter()
                .map(|column| cell_view(&properties, column, &view.selection.languages))
                .collect(),
        });
    }
    let class = view.class.as_str();
    let (filter, sort) = (view.selection.filter.as_str(), view.sort());
    let all = page_address(&own, "", &sort, 0);
    let filtered = page_address(&own, filter, &sort, 0);
    render(&TablePage {
        title: title_of(page, &card.metadata).0,
        class: class_label(class),
        class_iri: class.to_owned(),
        classes: class_views(page, card, class),
        total: total_text(page, view.total),
        filter: filter.to_owned(),
        sort_note: sort_note(page, view),
        matching: view.rows.matching,
        filtered_csv: page.link(format!("{filtered}&format=csv")),
        has_file: view.has_file,
        more_columns: distinct_properties(view).saturating_sub(shown.len()),
        columns: column_views(page, view, &own, &shown),
        first: view.skip + 1,
        last: view.skip + rows.len(),
        is_incomplete: view.rows.is_incomplete,
        max_rows: MAX_SELECTED_ENTITIES,
        rows: row_views,
        csv: page.link(format!("{all}&format=csv")),
        csvw: page.link(format!("{all}&format=csvw")),
        previous: (view.skip > 0).then(|| {
            let skip = view.skip.saturating_sub(view.page_rows);
            page_address(&own, filter, &sort, skip)
        }),
        next: view
            .rows
            .more
            .then(|| page_address(&own, filter, &sort, view.skip + view.page_rows)),
        sort,
        dataset,
        page: page.clone(),
    })
}

fn total_text(page: &PageContext, total: RowCount) -> String {
    if total.is_minimum {
        page.count("table-rows-minimum", total.rows)
    } else {
        page.count("table-rows", total.rows)
    }
}

/// Returns the reason why the rows are not sorted, or cannot be.
fn sort_note(page: &PageContext, view: &TableView<'_>) -> Option<String> {
    match view.order_error {
        Some(OrderError::UnknownColumn { name, .. }) => {
            Some(page.text_with("table-no-column", "column", name))
        }
        Some(OrderError::TooManyRows | OrderError::Store(_)) => Some(limit_note(page)),
        None if !view.total.is_sortable() => Some(limit_note(page)),
        None => None,
    }
}

fn limit_note(page: &PageContext) -> String {
    let rows = page.number(MAX_SELECTED_ENTITIES);
    page.text_with("table-not-sorted", "rows", rows)
}

/// Returns the headers of the columns, beginning with that of the names of rows.
fn column_views(
    page: &PageContext,
    view: &TableView<'_>,
    own: &str,
    shown: &[&Column],
) -> Vec<ColumnView> {
    let order = view.selection.order.as_ref();
    let (label, title) = if view.has_file {
        ("#".to_owned(), page.text("preview-row"))
    } else {
        (page.text("table-name"), String::new())
    };
    let by_name = order.filter(|order| order.column == ENTITY_COLUMN);
    let mut views = vec![ColumnView {
        label,
        title,
        sort: sort_address(view, own, ENTITY_COLUMN, by_name),
        direction: by_name.map(sort_direction),
    }];
    for column in shown {
        let by_column = order.filter(|order| order.is_by(&column.property));
        views.push(ColumnView {
            label: column.label.clone(),
            title: column.property.clone(),
            sort: sort_address(view, own, sort_name(view, column), by_column),
            direction: by_column.map(sort_direction),
        });
    }
    views
}

/// Returns the name of the column by which a column of the page is sorted: that of its texts in the visitor's language, if there is one.
fn sort_name<'t>(view: &TableView<'t>, column: &'t Column) -> &'t str {
    for language in &view.selection.languages {
        for other in view.columns {
            let is_in_language = primary_subtag(&other.language).eq_ignore_ascii_case(language);
            if is_in_language && other.property == column.property {
                return &other.name;
            }
        }
    }
    &column.name
}

/// Returns the address of the same page in the order of a column: descending if `order`, the present one, is ascending by this column.
fn sort_address(
    view: &TableView<'_>,
    own: &str,
    column: &str,
    order: Option<&RowOrder>,
) -> Option<String> {
    if !view.total.is_sortable() {
        return None;
    }
    let sort = match order {
        Some(order) if !order.is_descending => format!("-{column}"),
        _ => column.to_owned(),
    };
    Some(page_address(own, &view.selection.filter, &sort, view.skip))
}

/// Returns the value of `aria-sort`.
fn sort_direction(order: &RowOrder) -> &'static str {
    if order.is_descending {
        "descending"
    } else {
        "ascending"
    }
}

/// Returns the address of another page of the same table.
fn page_address(own: &str, filter: &str, sort: &str, skip: usize) -> String {
    let mut parameters = form_urlencoded::Serializer::new(own.to_owned());
    if !filter.is_empty() {
        parameters.append_pair("q", filter);
    }
    if !sort.is_empty() {
        parameters.append_pair("sort", sort);
    }
    if skip > 0 {
        parameters.append_pair("skip", &skip.to_string());
    }
    parameters.finish()
}

/// Returns true if the page shows the values of a property as the names of rows.
fn is_label(view: &TableView<'_>, property: &str) -> bool {
    !view.has_file && LABEL_PROPERTIES.contains(&property)
}

/// Returns the first properties, each once. The label is a column of its own, but for rows of a file.
fn shown_columns<'t>(view: &TableView<'t>) -> Vec<&'t Column> {
    let mut shown: Vec<&Column> = Vec::new();
    for column in view.columns {
        let is_new = shown.iter().all(|other| other.property != column.property);
        if is_new && !is_label(view, &column.property) {
            shown.push(column);
        }
        if shown.len() == MAX_COLUMNS {
            break;
        }
    }
    shown
}

fn distinct_properties(view: &TableView<'_>) -> usize {
    let mut properties: Vec<&str> = view
        .columns
        .iter()
        .map(|column| column.property.as_str())
        .filter(|property| !is_label(view, property))
        .collect();
    properties.sort_unstable();
    properties.dedup();
    properties.len()
}

/// Returns the values of a property: of texts in several languages those in the visitor's language, if there are any.
fn cell_view(properties: &[PropertyView], column: &Column, languages: &[String]) -> CellView {
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
fn class_views(page: &PageContext, card: &Card, chosen: &str) -> Vec<ClassView> {
    let mut views = Vec::new();
    for (iri, count) in &card.profile.classes {
        let is_chosen = iri == chosen;
        if is_chosen || !is_internal(card, iri) {
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
