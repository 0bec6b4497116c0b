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

/// Returns the date of a time.
fn format_date(time: &str) -> Option<String> {
    time.get(..10).map(str::to_owned)
}

/// Returns the date of the last change of some datasets.
fn last_change(rows: &[Row]) -> Option<String> {
    let times = rows.iter().filter_map(|row| row.modified.as_deref());
    times.max().and_then(format_date)
}

/// `GET /sitemap.xml`: the parts with their last changes.
pub(crate) async fn index(
    State(state): State<AppState>,
    links: LinkBase,
) -> Result<Response, ApiError> {
    let text = state.work(move |state| {
        let table = Table::current(state)?;
        let parts = table.rows.chunks(MAX_ADDRESSES).zip(1..);
        let entries = parts
            .map(|(rows, number)| (format!("{links}sitemap/{number}.xml"), last_change(rows)))
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
    let missing = ApiError::not_found(format!("there is no part {name} of the sitemap"));
    let number = name.strip_suffix(".xml").map(str::parse::<usize>);
    let Some(Ok(number)) = number else {
        return Err(missing);
    };
    let text = state.work(move |state| {
        let table = Table::current(state)?;
        let Some(rows) = number
            .checked_sub(1)
            .and_then(|place| table.rows.chunks(MAX_ADDRESSES).nth(place))
        else {
            return Err(missing);
        };
        let iris = state.store.iris();
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let address = uri(&links.link(iris.dataset(&row.id).as_str(), iris));
            entries.push((address, row.modified.as_deref().and_then(format_date)));
        }
        render(&Sitemap {
            list: "urlset",
            one: "url",
            entries,
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
