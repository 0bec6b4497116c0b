//! `GET /dataset/{id}/table?class=`: the entities of a class of a dataset as a table.
//!
//! The page shows the most frequent properties as columns, page by page, in the order of a column. CSV has all entities in this order,
//! with all properties, and its description in CSV on the Web leads back to triples.

use crate::AppState;
use crate::documentation::{AnyError, BadRequest, Busy, ClientLimit, Html, Id, NotFound};
use crate::error::ApiError;
use crate::negotiation::languages;
use crate::pages::{self, PageContext, TableView, table_address};
use crate::parameters::invalid_parameters;
use crate::public_url::LinkBase;
use crate::site::Client;
use crate::sparql::streaming::{ChunkWriter, End, Timeout, transfer};
use crate::tables::{
    self, ClassTable, Column, MAX_COUNTED_ENTITIES, MAX_SELECTED_ENTITIES, OrderError, RowCount,
    RowOrder, Selection, TableError, columns, csvw, rows, write_csv,
};
use crate::text::segment;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::Card;
use lodeseek_rdf::{Omissions, local_name};
use lodeseek_store::{Store, StoreError};
use oxrdf::NamedNode;
use serde::Deserialize;
use std::io;
use std::time::Duration;
use utoipa::IntoParams;

/// Maximum number of rows of a page.
const MAX_PAGE_ROWS: usize = 25;
/// Maximum number of rows before a page. Each page reads over them.
const MAX_SKIPPED: usize = 20_000;
/// Maximum number of characters of a filter, and of the name of a column.
const MAX_TEXT_CHARACTERS: usize = 200;
/// Time limit of a client for each chunk of a CSV. After it the transfer is aborted and its permit is released.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(30);
/// Media type of descriptions in CSV on the Web.
const CSVW: &str = "application/csvm+json";

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Parameters {
    /// IRI of a class of the dataset. Default: the class with the most entities.
    class: Option<String>,
    /// Text that the label or a value of an entity contains, for the page and for CSV.
    #[serde(default)]
    q: String,
    /// Column by which the rows are sorted: its name in the description of the table (format=csvw), after - for descending order; iri is the first column of the page. Tables of more than 10,000 rows are not sorted.
    #[serde(default)]
    sort: String,
    /// Number of entities to skip, for the page.
    #[param(maximum = 20000)]
    #[serde(default)]
    skip: usize,
    /// Languages of labels, best first.
    lang: Option<String>,
    /// Format of the response: html (default), csv or csvw.
    format: Option<String>,
}

#[utoipa::path(get, path = "/dataset/{id}/table", tag = "Datasets", summary = "The entities of a class as a table",
    params(Id, Parameters),
    responses(
        (status = 200, description = "A page (format=html), all entities or those with the text q as CSV in the order of the page (csv), or its description in CSV on the Web (csvw).", content(
            (String = "text/html"),
            (String = "text/csv"),
            (Object = "application/csvm+json"))),
        BadRequest<AnyError>,
        NotFound<Html>,
        ClientLimit<Html>,
        Busy<Html>))]
pub(super) async fn table(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    links: LinkBase,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        let Query(parameters) =
            parameters.map_err(|rejection| invalid_parameters(&rejection, &[]))?;
        let id = DatasetId::new(&id).map_err(|error| ApiError::not_found(error.to_string()))?;
        let card = state.card(&id).await?;
        let class = find_class(&card, parameters.class.as_deref())?;
        match parameters.format.as_deref().unwrap_or("html") {
            "html" => load_page(&state, client, &page, card, class, parameters, &headers).await,
            "csv" => csv_response(&state, client, id, class, &parameters, &headers, &links).await,
            "csvw" => describe_table(&state, client, &page, id, class, &parameters, &links).await,
            other => Err(ApiError::bad_request(format!(
                "format={other:?} is not supported; supported formats: html, csv, csvw"
            ))),
        }
    };
    answer
        .await
        .unwrap_or_else(|error| pages::error(&page, &error))
}

/// Returns the class of a request: a class of the dataset, or its largest one.
fn find_class(card: &Card, iri: Option<&str>) -> Result<NamedNode, ApiError> {
    let classes = &card.profile.classes;
    let iri = match (iri, classes.first()) {
        (Some(iri), _) => iri,
        (None, Some((largest, _))) => largest,
        (None, None) => return Err(ApiError::not_found("the dataset has no class")),
    };
    NamedNode::new(iri)
        .map_err(|error| ApiError::bad_request(format!("class={iri:?} is no IRI: {error}")))
}

async fn load_page(
    state: &AppState,
    client: Client,
    page: &PageContext,
    card: Card,
    class: NamedNode,
    parameters: Parameters,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    if parameters.skip > MAX_SKIPPED {
        return Err(ApiError::bad_request(format!(
            "skip must be at most {MAX_SKIPPED}; the CSV has all entities"
        )));
    }
    let mut selection = select_rows(&parameters, headers)?;
    let sort = trim_text("sort", &parameters.sort)?;
    let page = page.clone();
    let skip = parameters.skip;
    state
        .work_with_permit(client, move |state| {
            let resources = state.store.resources(&card.metadata.id)?;
            let table = ClassTable::open(resources, class.clone())?;
            let columns = columns(&table, MAX_COUNTED_ENTITIES)?;
            let mut order = RowOrder::find(&table, &columns, &sort);
            if matches!(order, Err(OrderError::UnknownColumn { .. })) {
                // It may be a rare column, which is in the CSV only.
                let all = tables::columns(&table, MAX_SELECTED_ENTITIES)?;
                order = RowOrder::find(&table, &all, &sort);
            }
            let mut order_error = None;
            match order {
                Ok(order) => selection.order = order,
                Err(OrderError::Store(error)) => return Err(error.into()),
                // Another class in the form of the page may lack the column: the page states it.
                Err(error) => order_error = Some(error),
            }
            let rows = rows(&table, &selection, skip, MAX_PAGE_ROWS)?;
            if rows.entities.is_empty() && selection.filter.is_empty() {
                return Err(no_entity(&class));
            }
            let total = count_rows(&card, &table, &class)?;
            Ok(pages::table(
                &page,
                &card,
                &TableView {
                    class: &class,
                    has_file: table.has_file,
                    columns: &columns,
                    rows: &rows,
                    total,
                    selection: &selection,
                    order_error: order_error.as_ref(),
                    skip,
                    page_rows: MAX_PAGE_ROWS,
                },
            ))
        })
        .await
}

/// Returns the rows that the parameters select, without their order.
fn select_rows(parameters: &Parameters, headers: &HeaderMap) -> Result<Selection, ApiError> {
    Ok(Selection {
        filter: trim_text("q", &parameters.q)?,
        order: None,
        languages: languages(headers, parameters.lang.as_deref())?,
    })
}

/// Returns the text of a parameter without white space around it.
fn trim_text(name: &str, text: &str) -> Result<String, ApiError> {
    let text = text.trim().to_owned();
    if text.chars().count() > MAX_TEXT_CHARACTERS {
        return Err(ApiError::bad_request(format!(
            "{name} has more than {MAX_TEXT_CHARACTERS} characters"
        )));
    }
    Ok(text)
}

/// Returns the number of rows: that of the card, which lists the largest classes, else that of the graph up to a limit.
fn count_rows(
    card: &Card,
    table: &ClassTable<'_>,
    class: &NamedNode,
) -> Result<RowCount, StoreError> {
    let mut classes = card.profile.classes.iter();
    if let Some((_, rows)) = classes.find(|(iri, _)| iri == class.as_str()) {
        return Ok(RowCount {
            rows: *rows,
            is_minimum: false,
        });
    }
    let counted = table.count(MAX_SELECTED_ENTITIES + 1)?;
    Ok(RowCount {
        rows: counted.min(MAX_SELECTED_ENTITIES) as u64,
        is_minimum: counted > MAX_SELECTED_ENTITIES,
    })
}

/// Returns all columns of a table, and the order of its rows.
fn read_columns(
    table: &ClassTable<'_>,
    sort: &str,
) -> Result<(Vec<Column>, Option<RowOrder>), ApiError> {
    let limit = if sort.is_empty() {
        usize::MAX
    } else {
        MAX_SELECTED_ENTITIES // larger tables are not sorted
    };
    let columns = columns(table, limit)?;
    match RowOrder::find(table, &columns, sort) {
        Ok(order) => Ok((columns, order)),
        Err(OrderError::Store(error)) => Err(error.into()),
        Err(error) => Err(ApiError::bad_request(error.to_string())),
    }
}

/// Returns the address of a table without its format, in the order of the parameters. Labels in another language have another order.
fn sorted_address(id: &DatasetId, class: &NamedNode, parameters: &Parameters) -> String {
    let address = table_address(id, class.as_str());
    let sort = parameters.sort.trim();
    if sort.is_empty() {
        return address;
    }
    let mut pairs = form_urlencoded::Serializer::new(address);
    pairs.append_pair("sort", sort);
    if let Some(lang) = &parameters.lang {
        pairs.append_pair("lang", lang);
    }
    pairs.finish()
}

fn no_entity(class: &NamedNode) -> ApiError {
    ApiError::not_found(format!("the dataset has no entity of {class}"))
}

/// Streams the entities that pass a filter. The response starts with the first chunk, so that earlier errors have a status.
async fn csv_response(
    state: &AppState,
    client: Client,
    id: DatasetId,
    class: NamedNode,
    parameters: &Parameters,
    headers: &HeaderMap,
    links: &LinkBase,
) -> Result<Response, ApiError> {
    let mut selection = select_rows(parameters, headers)?;
    let sort = trim_text("sort", &parameters.sort)?;
    let is_filtered = !selection.filter.is_empty();
    let name = file_name(&id, &class);
    let own = sorted_address(&id, &class, parameters);
    let metadata = format!("{}{}&format=csvw", links, own.trim_start_matches('/'));
    let permit = state.limits.acquire_download_permit(client).await?;
    // Errors before the first line have a status.
    let (dataset, rows_class) = (id.clone(), class.clone());
    let (permit, columns, order) = state
        .work(move |state| {
            let table = ClassTable::open(state.store.resources(&dataset)?, rows_class.clone())?;
            if table.count(1)? == 0 {
                return Err(no_entity(&rows_class));
            }
            let (columns, order) = read_columns(&table, &sort)?;
            Ok((permit, columns, order))
        })
        .await?;
    selection.order = order;
    let (writer, transfer) = transfer(Timeout::ForEach(CHUNK_TIMEOUT), ());
    let state = state.clone();
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        send_csv(&state.store, &id, &class, &columns, &selection, writer);
    });
    let body: Body = transfer
        .start()
        .await
        .map_err(|error| ApiError::internal(&error))?;
    let mut headers = vec![
        (
            header::CONTENT_TYPE,
            "text/csv; charset=utf-8; header=present".to_owned(),
        ),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename*=UTF-8''{name}.csv"),
        ),
    ];
    // The description is that of the table with all rows.
    if !is_filtered {
        headers.push((
            header::LINK,
            format!("<{metadata}>; rel=\"describedby\"; type=\"{CSVW}\""),
        ));
    }
    Ok((AppendHeaders(headers), body).into_response())
}

/// Returns the name of a downloaded table, percent-encoded.
fn file_name(id: &DatasetId, class: &NamedNode) -> String {
    let class = class.as_str();
    let name = tables::file_name(class).unwrap_or_else(|| local_name(class).to_owned());
    segment(&format!("{id}-{}", name.trim_end_matches(".csv")))
}

/// Writes the table to its receiver, and marks its end.
fn send_csv(
    store: &Store,
    id: &DatasetId,
    class: &NamedNode,
    columns: &[Column],
    selection: &Selection,
    mut writer: ChunkWriter,
) {
    match write_table(store, id, class, columns, selection, &mut writer) {
        Ok(()) => {}
        Err(TableError::Store(error)) => {
            tracing::error!(%error, dataset = %id, "the transfer of a table failed");
            writer.abort(io::Error::other(error));
        }
        Err(TableError::Csv(error)) => {
            tracing::debug!(%error, dataset = %id, "a client disconnected during the transfer of a table");
        }
    }
}

fn write_table(
    store: &Store,
    id: &DatasetId,
    class: &NamedNode,
    columns: &[Column],
    selection: &Selection,
    writer: &mut ChunkWriter,
) -> Result<(), TableError> {
    let table = ClassTable::open(store.resources(id)?, class.clone())?;
    write_csv(&table, columns, selection, writer)?;
    writer
        .end(End::Complete, &Omissions::default())
        .map_err(csv::Error::from)?;
    Ok(())
}

async fn describe_table(
    state: &AppState,
    client: Client,
    page: &PageContext,
    id: DatasetId,
    class: NamedNode,
    parameters: &Parameters,
    links: &LinkBase,
) -> Result<Response, ApiError> {
    let sort = trim_text("sort", &parameters.sort)?;
    let own = sorted_address(&id, &class, parameters);
    let address = format!("{}{}&format=csv", links, own.trim_start_matches('/'));
    let title = pages::class_label(class.as_str());
    let page = page.clone();
    let described = state
        .work_with_permit(client, move |state| {
            let table = ClassTable::open(state.store.resources(&id)?, class.clone())?;
            let (columns, _) = read_columns(&table, &sort)?;
            if columns.is_empty() && table.entities()?.next().is_none() {
                return Err(no_entity(&class));
            }
            let card = state.searcher.catalog().card(&id)?;
            let dataset = match card {
                Some(card) => pages::title(&page, &card),
                None => String::new(),
            };
            Ok(csvw(
                &address,
                &format!("{dataset}: {title}"),
                &table,
                &columns,
            ))
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, CSVW)], axum::Json(described)).into_response())
}
