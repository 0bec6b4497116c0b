//! Reading of responses and of the state of a harvest, without requests. Only in fuzz builds.

use crate::changes::{Stamp, with_overlap};
use crate::ckan::{Api, PackageNames, PackageSummary, SearchResult, read_response};
use crate::state::State;
use crate::{HarvestError, fetch, pages, robots};
use std::path::Path;
use std::time::Duration;

/// Reads a response of CKAN: a page of packages, one package, and the list of their names. Returns the times of changes, each
/// with the time from which the next harvest requests changes.
///
/// # Errors
/// If the file cannot be read.
pub fn read_ckan(path: &Path) -> Result<Vec<(String, Option<String>)>, HarvestError> {
    let _ = read_response::<PackageNames>(path)?;
    let mut packages: Vec<PackageSummary> = read_response(path)?.into_iter().collect();
    if let Ok(SearchResult { results, .. }) = read_response(path)? {
        packages.extend(results);
    }
    let stamps = packages.iter().filter_map(Stamp::from_package);
    Ok(stamps
        .map(|stamp| (stamp.timestamp.clone(), with_overlap(&stamp.timestamp)))
        .collect())
}

/// Returns true if an address is that of CKAN's API.
#[must_use]
pub fn is_ckan(address: &str) -> bool {
    Api::from_address(address)
        .or_else(|| Api::from_site(address))
        .is_some()
}

/// Returns the address of the next page in `Link` headers of an address.
#[must_use]
pub fn next_page(headers: &str, address: &str) -> Option<String> {
    fetch::next_link(headers.lines(), address)
}

/// Returns the addresses of the RDF representations of a page.
///
/// # Errors
/// If the file cannot be read.
pub fn alternates(path: &Path, address: &str) -> Result<Vec<String>, HarvestError> {
    pages::find_alternates(path, address)
}

/// Returns the delay that a `robots.txt` demands before the request of an address. `None` if it forbids the request, or
/// cannot be read.
#[must_use]
pub fn crawl_delay(text: &[u8], address: &str) -> Option<Duration> {
    let robot = robots::parse(text).filter(|robot| robot.allowed(address))?;
    Duration::try_from_secs_f32(robot.delay.unwrap_or(0.0)).ok()
}

/// Opens the state of the harvest `name`, uses each of its cached files, and saves it.
///
/// # Errors
/// If the state is not valid.
pub fn use_state(harvests: &Path, name: &str, addresses: &[&str]) -> Result<(), HarvestError> {
    let mut state = State::open(harvests, name)?;
    for address in addresses {
        let _ = state.portal(address);
        if let Some(file) = state.cached_file(address) {
            state.pin_file(address, file)?;
        }
    }
    state.remove_untouched_files(&[]);
    state.clear()?;
    state.save()
}
