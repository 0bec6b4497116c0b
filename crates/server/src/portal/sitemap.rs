//! `/sitemap.xml` and `/robots.txt`, for crawlers. <https://www.sitemaps.org/protocol.html>

use crate::AppState;
use crate::error::ApiError;
use crate::portal::ckan::{Row, Table};
use crate::public_url::LinkBase;
use crate::response_formats::xml;
use crate::text::uri;
use askama::Template;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Maximum number of addresses of one part, by the protocol.
const MAX_ADDRESSES: usize = 50_000;
/// Patterns of the addresses of computed resources.
const COMPUTED: [&str; 11] = [
    "/api/",
    "/sparql",
    "/search",
    "/rdf-graph-store",
    "/feeds/",
    "/?",
    "/*?q=",
    "/dataset/*/snippet",
    "/dataset/*/entity",
    "/dataset/*/table",
    "/entities",
];

#[derive(Template)]
#[template(path = "sitemap.xml")]
struct Sitemap {
    list: &'static str,
    one: &'static str,
    /// (address, date of the last change).
    entries: Vec<(String, Option<String>)>,
}

fn date(moment: &str) -> Option<String> {
    moment.get(..10).map(str::to_owned)
}

/// `GET /sitemap.xml`: the parts with their last changes.
pub(crate) async fn index(
    State(state): State<AppState>,
    links: LinkBase,
) -> Result<Response, ApiError> {
    let text = state.work(move |state| {
        let table = Table::current(state)?;
        let last = |rows: &[Row]| {
            rows.iter()
                .filter_map(|row| row.modified.as_deref())
                .max()
                .and_then(date)
        };
        let parts = table.rows.chunks(MAX_ADDRESSES).zip(1..);
        let entries = parts
            .map(|(rows, number)| (format!("{links}sitemap/{number}.xml"), last(rows)))
            .collect();
        render(&Sitemap {
            list: "sitemapindex",
            one: "sitemap",
            entries,
        })
    });
    xml("application/xml", &text.await?)
}

/// `GET /sitemap/{n}.xml`: the pages of the datasets of a part.
pub(crate) async fn part(
    State(state): State<AppState>,
    links: LinkBase,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let missing = || ApiError::not_found(format!("there is no part {name} of the sitemap"));
    let number: usize = name
        .strip_suffix(".xml")
        .and_then(|number| number.parse().ok())
        .ok_or_else(missing)?;
    let missing = missing();
    let text = state.work(move |state| {
        let table = Table::current(state)?;
        let Some(rows) = number
            .checked_sub(1)
            .and_then(|place| table.rows.chunks(MAX_ADDRESSES).nth(place))
        else {
            return Err(missing);
        };
        let iris = state.store.iris();
        let entry = |row: &Row| {
            (
                uri(&links.link(iris.dataset(&row.id).as_str(), iris)),
                row.modified.as_deref().and_then(date),
            )
        };
        render(&Sitemap {
            list: "urlset",
            one: "url",
            entries: rows.iter().map(entry).collect(),
        })
    });
    xml("application/xml", &text.await?)
}

fn render(sitemap: &Sitemap) -> Result<String, ApiError> {
    sitemap.render().map_err(|error| ApiError::internal(&error))
}

/// `GET /robots.txt`: the sitemap, and the computed resources that crawlers should not read.
pub(crate) async fn robots(State(state): State<AppState>, links: LinkBase) -> Response {
    let path = state.site.base_path();
    let mut text = "User-agent: *\n".to_owned();
    for pattern in COMPUTED {
        text.push_str(&format!("Disallow: {path}{pattern}\n"));
    }
    // Harvesters read what changed instead of everything.
    text.push_str(&format!("Allow: {path}/feeds/changes\n"));
    text.push_str(&format!("Sitemap: {links}sitemap.xml\n"));
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
