//! The searches of the last days.

use super::{Nav, Operator};
use crate::AppState;
use crate::pages::{PageContext, render};
use crate::search_log::{MAX_DAYS, MIN_CLIENTS, SearchCounts};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use lodeseek_catalog::Day;
use lodeseek_changes::Scope;

/// A query or a day, with its counts.
struct SearchRow {
    label: String,
    /// Address of the search; empty for a day.
    href: String,
    searches: u64,
    without_result: u64,
}

#[derive(Template)]
#[template(path = "operator-searches.html")]
struct SearchesPage {
    page: PageContext,
    nav: Nav,
    days: Vec<SearchRow>,
    without_result: Vec<SearchRow>,
    frequent: Vec<SearchRow>,
    max_days: usize,
    min_clients: usize,
}

pub(super) async fn page(
    State(state): State<AppState>,
    page: PageContext,
    operator: Operator,
) -> Response {
    let answer = async {
        operator.caller.require(Scope::Read)?;
        let summary = state.searches.summarize();
        let mut days = Vec::new();
        for (day, counts) in summary.days {
            days.push(search_row(
                Day::from_number(day).to_string(),
                String::new(),
                counts,
            ));
        }
        Ok(render(&SearchesPage {
            nav: operator.nav("searches"),
            days,
            without_result: search_rows(summary.without_result),
            frequent: search_rows(summary.frequent),
            max_days: MAX_DAYS,
            min_clients: MIN_CLIENTS,
            page: page.clone(),
        }))
    };
    operator.respond(&page, "searches", answer).await
}

fn search_rows(listed: Vec<(String, SearchCounts)>) -> Vec<SearchRow> {
    let mut rows = Vec::new();
    for (query, counts) in listed {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        let parameters = parameters.append_pair("q", &query).finish();
        rows.push(search_row(query, format!("/?{parameters}"), counts));
    }
    rows
}

fn search_row(label: String, href: String, counts: SearchCounts) -> SearchRow {
    SearchRow {
        label,
        href,
        searches: counts.searches,
        without_result: counts.without_result,
    }
}
