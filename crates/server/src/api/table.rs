//! `GET /dataset/{id}/table?class=`: the entities of a class of a dataset as a table.
//!
//! The page shows the most frequent properties as columns, page by page. CSV has all entities and properties, and its description in
//! CSV on the Web leads back to triples.

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
    self, ClassTable, MAX_COUNTED_ENTITIES, RowFilter, TableError, columns, csvw, rows, write_csv,
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
use lodeseek_store::Store;
use oxrdf::NamedNode;
use serde::Deserialize;
use std::io;
use std::time::Duration;
use utoipa::IntoParams;

/// Maximum number of rows of a page.
const MAX_PAGE_ROWS: usize = 25;
/// Maximum number of rows before a page. Each page reads over them.
const MAX_SKIPPED: usize = 20_000;
/// Maximum number of characters of a filter.
const MAX_FILTER_CHARACTERS: usize = 200;
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
        (status = 200, description = "A page (format=html), all entities or those with the text q as CSV (csv), or its description in CSV on the Web (csvw).", content(
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
            "csv" => {
                let filter = RowFilter {
                    text: row_filter(&parameters.q)?,
                    languages: languages(&headers, parameters.lang.as_deref())?,
                };
                csv_response(&state, client, id, class, filter, &links).await
            }
            "csvw" => describe_table(&state, client, &page, id, class, &links).await,
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
    let filter = row_filter(&parameters.q)?;
    let languages = languages(headers, parameters.lang.as_deref())?;
    let page = page.clone();
    let skip = parameters.skip;
    state
        .work_with_permit(client, move |state| {
            let resources = state.store.resources(&card.metadata.id)?;
            let table = ClassTable::open(resources, class.clone())?;
            let columns = columns(&table, MAX_COUNTED_ENTITIES)?;
            let rows = rows(&table, &filter, skip, MAX_PAGE_ROWS, &languages)?;
            if rows.entities.is_empty() && filter.is_empty() {
                return Err(no_entity(&class));
            }
            Ok(pages::table(
                &page,
                &card,
                &TableView {
                    class: &class,
                    has_file: table.has_file,
                    columns: &columns,
                    rows: &rows,
                    filter: &filter,
                    skip,
                    page_rows: MAX_PAGE_ROWS,
                    languages: &languages,
                },
            ))
        })
        .await
}

/// Returns the text of the parameter `q` without white space around it.
fn row_filter(text: &str) -> Result<String, ApiError> {
    let filter = text.trim().to_owned();
    if filter.chars().count() > MAX_FILTER_CHARACTERS {
        return Err(ApiError::bad_request(format!(
            "q has more than {MAX_FILTER_CHARACTERS} characters"
        )));
    }
    Ok(filter)
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
    filter: RowFilter,
    links: &LinkBase,
) -> Result<Response, ApiError> {
    let is_filtered = !filter.text.is_empty();
    let name = file_name(&id, &class);
    let own = table_address(&id, class.as_str());
    let metadata = format!("{}{}&format=csvw", links, own.trim_start_matches('/'));
    let permit = state.limits.acquire_download_permit(client).await?;
    // Errors of the first read have a status.
    let (dataset, rows_class) = (id.clone(), class.clone());
    state
        .work(move |state| {
            let resources = state.store.resources(&dataset)?;
            match resources.instances(&rows_class).next() {
                Some(found) => Ok(found.map(|_| ())?),
                None => Err(no_entity(&rows_class)),
            }
        })
        .await?;
    let (writer, transfer) = transfer(Timeout::ForEach(CHUNK_TIMEOUT), ());
    let state = state.clone();
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        send_csv(&state.store, &id, &class, &filter, writer);
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
    filter: &RowFilter,
    mut writer: ChunkWriter,
) {
    match write_table(store, id, class, filter, &mut writer) {
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
    filter: &RowFilter,
    writer: &mut ChunkWriter,
) -> Result<(), TableError> {
    let table = ClassTable::open(store.resources(id)?, class.clone())?;
    let columns = columns(&table, usize::MAX)?;
    write_csv(&table, &columns, filter, writer)?;
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
    links: &LinkBase,
) -> Result<Response, ApiError> {
    let own = table_address(&id, class.as_str());
    let address = format!("{}{}&format=csv", links, own.trim_start_matches('/'));
    let title = pages::class_label(class.as_str());
    let page = page.clone();
    let described = state
        .work_with_permit(client, move |state| {
            let table = ClassTable::open(state.store.resources(&id)?, class.clone())?;
            let columns = columns(&table, usize::MAX)?;
            if columns.is_empty() && table.entities()?.next().is_none() {
                return Err(no_entity(&class));
            }
            let card = state.searcher.catalog().card(&id)?;
            let dataset = card.map_or_else(String::new, |card| pages::title(&page, &card));
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
