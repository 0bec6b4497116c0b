//! Filters as parameters: `before=2018`, and any number of `task=`, `class=`, `format=` and the other facets.

use super::error::ApiError;
use lodeseek_engine::{Facet, Filter, facet_value};

/// Values of a filter at most.
const MOST: usize = 50;
/// Characters of a value at most: as of the index's own.
const LONGEST: usize = 200;

/// Parameters as they came, in their order.
pub(super) type Pairs = Vec<(String, String)>;

/// The filter of a request; what is empty, as an untouched field of a form, filters nothing.
pub(super) fn filter(pairs: &Pairs) -> Result<Filter, ApiError> {
    let mut filter = Filter::default();
    for (name, value) in pairs.iter().map(|(name, value)| (name, value.trim())).filter(|(_, value)| !value.is_empty()) {
        if name == "before" {
            filter.until = Some(year(value)?);
        } else if let Ok(facet) = name.parse::<Facet>() {
            check(facet, value)?;
            filter = filter.with(facet, facet_value(facet, value));
            // Before the next: each is compared with those before it.
            check_number(&filter)?;
        }
    }
    Ok(filter)
}

fn year(text: &str) -> Result<i32, ApiError> {
    let year = text.parse().ok().filter(|year| (0..=9999).contains(year));
    year.ok_or_else(|| ApiError::bad_request(format!("{text:?} is no year: before=2018")))
}

fn check(facet: Facet, value: &str) -> Result<(), ApiError> {
    if value.chars().count() > LONGEST {
        return Err(ApiError::bad_request(format!("a {facet} may have {LONGEST} characters")));
    }
    Ok(())
}

fn check_number(filter: &Filter) -> Result<(), ApiError> {
    if filter.values.len() > MOST {
        return Err(ApiError::bad_request(format!("a filter may have {MOST} values")));
    }
    Ok(())
}

/// The parameters of a filter.
pub(super) fn parameters(filter: &Filter) -> Vec<(&'static str, String)> {
    let before = filter.until.map(|year| ("before", year.to_string()));
    before.into_iter().chain(filter.values.iter().map(|(facet, value)| (facet.name(), value.clone()))).collect()
}
