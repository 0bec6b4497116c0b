//! Queries of the last days for the operator, without those that could identify a person.
//!
//! A query is listed only if at least [`MIN_CLIENTS`] different addresses sent it: names of persons, addresses and numbers of
//! customers are typed by one. The others are counted. The log is in memory and contains no addresses, only hashes with a key that
//! is created with the server.

use lodeseek_changes::unix_seconds;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Number of days that are kept.
pub(crate) const MAX_DAYS: usize = 7;
/// Minimum number of different addresses that sent a listed query.
pub(crate) const MIN_CLIENTS: usize = 3;
/// Maximum number of different queries of a day. Later ones are counted only.
const MAX_QUERIES: usize = 10_000;
/// Maximum length of a listed query in characters. Longer ones are sentences, which hardly occur twice, and are counted only.
const MAX_CHARACTERS: usize = 200;
/// Maximum number of queries of a list.
const MAX_LISTED_QUERIES: usize = 50;
const SECONDS_PER_DAY: u64 = 86_400;

/// Log of the searches of the last days.
#[derive(Default)]
pub(crate) struct SearchLog {
    days: Mutex<VecDeque<Day>>,
    key: RandomState,
}

#[derive(Default)]
struct Day {
    /// Days since 1970.
    number: i32,
    counts: SearchCounts,
    queries: HashMap<String, Query>,
}

#[derive(Default)]
struct Query {
    counts: SearchCounts,
    /// Hashes of the first addresses that sent it.
    clients: Vec<u64>,
}

/// Numbers of searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchCounts {
    pub(crate) searches: u64,
    /// Of these, searches that found nothing, or no close match.
    pub(crate) without_result: u64,
}

impl SearchCounts {
    fn add(&mut self, other: Self) {
        self.searches += other.searches;
        self.without_result += other.without_result;
    }
}

/// Contents of the log.
#[derive(Debug, Default)]
pub(crate) struct SearchSummary {
    /// Days since 1970 and their counts, the latest first.
    pub(crate) days: Vec<(i32, SearchCounts)>,
    /// Most frequent queries.
    pub(crate) frequent: Vec<(String, SearchCounts)>,
    /// Most frequent queries without result.
    pub(crate) without_result: Vec<(String, SearchCounts)>,
}

impl SearchLog {
    /// Records a search.
    pub(crate) fn record(&self, client: Option<IpAddr>, query: &str, has_result: bool) {
        self.record_at(SystemTime::now(), client, query, has_result);
    }

    fn record_at(&self, now: SystemTime, client: Option<IpAddr>, query: &str, has_result: bool) {
        let counts = SearchCounts {
            searches: 1,
            without_result: u64::from(!has_result),
        };
        let client = self.key.hash_one(client);
        let mut days = self.days.lock().unwrap_or_else(PoisonError::into_inner);
        let number = day_number(now);
        if days.back().is_none_or(|day| day.number < number) {
            days.push_back(Day {
                number,
                ..Day::default()
            });
            while days.front().is_some_and(|day| is_old(day, number)) {
                days.pop_front();
            }
        }
        let Some(day) = days.back_mut() else { return };
        day.counts.add(counts);
        let query = normalize(query);
        let is_full = day.queries.len() >= MAX_QUERIES && !day.queries.contains_key(&query);
        if is_full || query.chars().count() > MAX_CHARACTERS {
            return;
        }
        let entry = day.queries.entry(query).or_default();
        entry.counts.add(counts);
        entry.add_clients(&[client]);
    }

    /// Returns the counts of the last days, and the queries of several addresses.
    pub(crate) fn summarize(&self) -> SearchSummary {
        self.summarize_at(SystemTime::now())
    }

    fn summarize_at(&self, now: SystemTime) -> SearchSummary {
        let number = day_number(now);
        let days = self.days.lock().unwrap_or_else(PoisonError::into_inner);
        let mut queries: HashMap<&str, Query> = HashMap::new();
        let mut summary = SearchSummary::default();
        for day in days.iter().rev().filter(|day| !is_old(day, number)) {
            summary.days.push((day.number, day.counts));
            for (text, query) in &day.queries {
                let sum = queries.entry(text).or_default();
                sum.counts.add(query.counts);
                sum.add_clients(&query.clients);
            }
        }
        queries.retain(|_, query| query.clients.len() >= MIN_CLIENTS);
        summary.frequent = most_frequent(&queries, |counts| counts.searches);
        summary.without_result = most_frequent(&queries, |counts| counts.without_result);
        summary
    }
}

impl Query {
    fn add_clients(&mut self, clients: &[u64]) {
        for client in clients {
            // More addresses prove nothing more, and are not kept.
            if self.clients.len() < MIN_CLIENTS && !self.clients.contains(client) {
                self.clients.push(*client);
            }
        }
    }
}

/// Returns the queries with the highest numbers above 0; equal ones in alphabetical order.
fn most_frequent(
    queries: &HashMap<&str, Query>,
    number: impl Fn(SearchCounts) -> u64,
) -> Vec<(String, SearchCounts)> {
    let mut listed = Vec::new();
    for (text, query) in queries {
        if number(query.counts) > 0 {
            listed.push(((*text).to_owned(), query.counts));
        }
    }
    listed.sort_unstable_by(|a, b| number(b.1).cmp(&number(a.1)).then_with(|| a.0.cmp(&b.0)));
    listed.truncate(MAX_LISTED_QUERIES);
    listed
}

fn day_number(time: SystemTime) -> i32 {
    i32::try_from(unix_seconds(time) / SECONDS_PER_DAY).unwrap_or(i32::MAX)
}

fn is_old(day: &Day, today: i32) -> bool {
    today - day.number >= MAX_DAYS as i32
}

/// Returns a query in lower case, with single spaces.
fn normalize(query: &str) -> String {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn address(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, last]))
    }

    fn day(number: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(number * SECONDS_PER_DAY + 3600)
    }

    #[test]
    fn queries_of_several_addresses_are_listed() {
        let log = SearchLog::default();
        for last in 1..=3 {
            log.record_at(day(100), address(last), "Air  quality", true);
        }
        for last in 1..=3 {
            log.record_at(day(101), address(last), "unicorns", false);
        }
        for _ in 0..5 {
            log.record_at(day(101), address(1), "Erika Mustermann 0123", false);
        }
        log.record_at(day(101), None, &"long ".repeat(100), true);
        let summary = log.summarize_at(day(101));
        let counts = |searches, without_result| SearchCounts {
            searches,
            without_result,
        };
        assert_eq!(
            summary.frequent,
            [
                ("air quality".to_owned(), counts(3, 0)),
                ("unicorns".to_owned(), counts(3, 3))
            ]
        );
        assert_eq!(
            summary.without_result,
            [("unicorns".to_owned(), counts(3, 3))]
        );
        let days: Vec<SearchCounts> = summary.days.iter().map(|(_, counts)| *counts).collect();
        assert_eq!(days, [counts(9, 8), counts(3, 0)]);
    }

    #[test]
    fn addresses_of_several_days_count_together_and_old_days_end() {
        let log = SearchLog::default();
        for (number, last) in [(100, 1), (101, 2), (102, 3)] {
            log.record_at(day(number), address(last), "trees", true);
        }
        assert_eq!(log.summarize_at(day(102)).frequent.len(), 1);
        assert_eq!(log.summarize_at(day(100 + MAX_DAYS as u64)).days.len(), 2);
        assert!(
            log.summarize_at(day(100 + MAX_DAYS as u64))
                .frequent
                .is_empty()
        );
        log.record_at(day(200), address(1), "trees", true);
        assert_eq!(log.summarize_at(day(200)).days.len(), 1);
    }
}
