//! Path of the public URL, as in `https://data.example.org/portal/` behind a proxy.
//!
//! Routes and templates have no such path. Requests lose it before they are routed, whether the proxy has removed it or not. Addresses
//! of this server in responses get it: links and forms of rendered pages, style sheets, `Location`. Absolute links begin with
//! [`LinkBase`](crate::public_url::LinkBase), which has the path already.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Beginnings of the addresses of this server in pages. Templates escape quotation marks of data, so that these occur as markup only.
const PAGE_BEGINNINGS: &[&str] = &[" href=\"/", " src=\"/", " action=\"/"];
/// Beginnings of the addresses of this server in style sheets.
const STYLE_BEGINNINGS: &[&str] = &["url(/"];

/// Mark of a response that this server has rendered: a page or a style sheet, whose addresses begin with a slash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendered;

/// Adds the path to the addresses in responses. An empty path changes nothing.
pub(crate) fn add_to_responses<S: Clone + Send + Sync + 'static>(
    path: &str,
    routes: Router<S>,
) -> Router<S> {
    if path.is_empty() {
        return routes;
    }
    let path: Arc<str> = path.into();
    routes.layer(from_fn(move |request: Request, next: Next| {
        let path = Arc::clone(&path);
        async move { add_path(&path, next.run(request).await).await }
    }))
}

/// Removes the path from requests, and routes them. An empty path changes nothing.
pub(crate) fn remove_from_requests(path: &str, routes: Router) -> Router {
    if path.is_empty() {
        return routes;
    }
    let path: Arc<str> = path.into();
    // The layer of a router runs after its routes are matched: the outer router has none.
    Router::new().fallback_service(routes).layer(from_fn(
        move |mut request: Request, next: Next| {
            if let Some(uri) = without_path(request.uri(), &path) {
                *request.uri_mut() = uri;
            }
            next.run(request)
        },
    ))
}

/// Returns an address without the path; `None` if it does not begin with it.
fn without_path(uri: &Uri, path: &str) -> Option<Uri> {
    let rest = uri.path().strip_prefix(path)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    let rest = if rest.is_empty() { "/" } else { rest };
    let target = match uri.query() {
        Some(query) => format!("{rest}?{query}"),
        None => rest.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

async fn add_path(path: &str, mut response: Response) -> Response {
    if let Some(location) = response.headers().get(header::LOCATION)
        && let Some(location) = with_path(location, path)
    {
        response.headers_mut().insert(header::LOCATION, location);
    }
    if response.extensions().get::<Rendered>().is_none() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // The body is in memory already: a template has rendered it.
    let text = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            tracing::error!(%error, "a rendered page cannot be read");
            return axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    let media_type = parts.headers.get(header::CONTENT_TYPE);
    let is_style = media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/css"));
    let beginnings = if is_style {
        STYLE_BEGINNINGS
    } else {
        PAGE_BEGINNINGS
    };
    Response::from_parts(parts, Body::from(rewrite(&text, path, beginnings)))
}

fn with_path(location: &HeaderValue, path: &str) -> Option<HeaderValue> {
    let text = location.to_str().ok()?;
    let is_own = text.starts_with('/') && !text.starts_with("//");
    if !is_own {
        return None;
    }
    HeaderValue::from_str(&format!("{path}{text}")).ok()
}

/// Adds the path to the addresses of this server in a page or a style sheet.
fn rewrite(text: &str, path: &str, beginnings: &[&str]) -> String {
    let mut rewritten = text.to_owned();
    for beginning in beginnings {
        let before = beginning.trim_end_matches('/');
        let other_host = format!("{before}//");
        let mut parts = rewritten.split(beginning);
        let mut joined = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // Two slashes: the address names another host.
            if let Some(rest) = part.strip_prefix('/') {
                joined.push_str(&other_host);
                joined.push_str(rest);
            } else {
                joined.push_str(before);
                joined.push_str(path);
                joined.push('/');
                joined.push_str(part);
            }
        }
        rewritten = joined;
    }
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_lose_the_path() {
        for (address, expected) in [
            ("/portal/", Some("/")),
            ("/portal", Some("/")),
            ("/portal/dataset/a%2Fb?q=%20", Some("/dataset/a%2Fb?q=%20")),
            ("/portal?q=a", Some("/?q=a")),
            ("/portals/x", None),
            ("/dataset/portal/", None),
            (
                "http://data.example.org/portal/api",
                Some("http://data.example.org/api"),
            ),
        ] {
            let uri: Uri = address.parse().expect("an address");
            let found = without_path(&uri, "/portal").map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn addresses_of_this_server_get_the_path() {
        let page = "<a href=\"/\">x</a><img src=\"/logo\"><form action=\"/\"><a href=\"//e.org/\"><a href=\"https://e.org/\"><a href=\"#a\"> url(/a.png)";
        assert_eq!(
            rewrite(page, "/portal", PAGE_BEGINNINGS),
            "<a href=\"/portal/\">x</a><img src=\"/portal/logo\"><form action=\"/portal/\"><a href=\"//e.org/\"><a href=\"https://e.org/\"><a href=\"#a\"> url(/a.png)"
        );
        assert_eq!(
            rewrite(
                "a { background: url(/theme/a.png) }",
                "/portal",
                STYLE_BEGINNINGS
            ),
            "a { background: url(/portal/theme/a.png) }"
        );
    }
}
