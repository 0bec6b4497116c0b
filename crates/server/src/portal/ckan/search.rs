//! `package_search`: the engine finds words; the table decides all other clauses.

use super::error::{ActionError, QueryError};
use super::parameters::Default as Flag;
use super::query::{Clause, LONGEST, Sort, SortField};
use super::table::{Facet, Row, Table};
use super::{Call, MOST};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::FieldMatch;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;

/// Default order.
const SORT: &str = "score desc, metadata_modified desc";
/// Default number of packages.
const ROWS: usize = 10;
/// Default number of values of a facet.
const VALUES: usize = 50;
/// Maximum number of word groups in a query with its filters. Each of them is a search.
const MOST_WORDS: usize = 5;
/// Maximum number of clauses of a query with its filters. Each of them is compared with every dataset.
const MOST_CLAUSES: usize = 50;

/// Parsed parameters of a search.
struct Request {
    query: Clause,
    filters: Vec<Clause>,
    sort: Vec<Sort>,
    sorted: String,
    start: usize,
    rows: usize,
    facets: Vec<Facet>,
    values: usize,
    least: usize,
    fields: Vec<String>,
}

/// A dataset found.
struct FoundPackage {
    place: u32,
    score: Option<Score>,
}

/// Sort value of a dataset. Beyond the re-ranked candidates only the order is meaningful, not the value.
#[derive(Clone, Copy)]
struct Score {
    order: f64,
    compares: bool,
}

impl Request {
    fn read(call: &Call<'_>) -> Result<Self, ActionError> {
        let parameters = call.parameters;
        let text = |name| parameters.text(name).map(|text| text.filter(|text| !text.trim().is_empty()));
        let sorted = text("sort")?.unwrap_or_else(|| SORT.to_owned());
        let query = text("q")?.unwrap_or_default();
        let filters: Vec<String> = text("fq")?.into_iter().chain(parameters.list("fq_list", &[])?).collect();
        if [&query].into_iter().chain(&filters).map(|text| text.chars().count()).sum::<usize>() > LONGEST {
            return Err(QueryError::LongTogether(LONGEST).into());
        }
        let query = Clause::query(&query)?;
        let filters: Vec<Clause> = filters.iter().map(|filter| Clause::filter(filter)).collect::<Result<_, _>>()?;
        let clauses = || [&query].into_iter().chain(&filters);
        if clauses().map(Clause::count).sum::<usize>() > MOST_CLAUSES {
            return Err(QueryError::Clauses(MOST_CLAUSES).into());
        }
        if clauses().map(|clause| clause.texts().len()).sum::<usize>() > MOST_WORDS {
            return Err(QueryError::Words(MOST_WORDS).into());
        }
        Ok(Self {
            query,
            filters,
            sort: Sort::read(&sorted)?,
            sorted,
            start: parameters.natural("start")?.unwrap_or(0),
            rows: parameters.natural("rows")?.unwrap_or(ROWS).min(MOST),
            facets: facets(call)?,
            values: parameters.limit("facet.limit")?.unwrap_or(VALUES),
            least: parameters.natural("facet.mincount")?.unwrap_or(1),
            fields: parameters.list("fl", &[',', ' '])?,
        })
    }
}

fn facets(call: &Call<'_>) -> Result<Vec<Facet>, ActionError> {
    if !call.parameters.flag("facet", Flag::Yes)? {
        return Ok(Vec::new());
    }
    let mut facets = Vec::new();
    for name in call.parameters.list("facet.field", &[',', ' '])? {
        let facet = Facet::of_name(&name).ok_or(QueryError::Field(name))?;
        if !facets.contains(&facet) {
            facets.push(facet);
        }
    }
    Ok(facets)
}

pub(super) fn package_search(call: &Call<'_>) -> Result<Value, ActionError> {
    let request = Request::read(call)?;
    let table = call.table()?;
    let words = request.query.ranking_words();
    let mut found = find(call, &table, &request, &words)?;
    sort(&mut found, &table, &request.sort);
    let page: Vec<&FoundPackage> = found.iter().skip(request.start).take(request.rows).collect();
    let mut results = Vec::with_capacity(page.len());
    for (one, matched) in page.iter().zip(matched(call, &table, &page, &words)?) {
        let Some(mut package) = call.package(&table.rows[one.place as usize].id)? else { continue };
        if let Some(matched) = matched {
            package["score"] = json!(one.score.filter(|score| score.compares).map(|score| score.order));
            package["matched"] = json!(matched);
        }
        results.push(select_fields(package, &request.fields));
    }
    let (counts, titled) = count(&table, &found, &request);
    Ok(json!({
        "count": found.len(),
        "sort": request.sorted,
        "results": results,
        "facets": counts,
        "search_facets": titled,
    }))
}

/// Returns the matching fields of each dataset of a page, if the query has words.
fn matched(
    call: &Call<'_>,
    table: &Table,
    page: &[&FoundPackage],
    words: &str,
) -> Result<Vec<Option<Vec<FieldMatch>>>, ActionError> {
    if words.is_empty() {
        return Ok(page.iter().map(|_| None).collect());
    }
    let ids: Vec<DatasetId> = page.iter().map(|one| table.rows[one.place as usize].id.clone()).collect();
    Ok(call.state.searcher.matched_fields(words, &ids)?.into_iter().map(Some).collect())
}

/// Returns the datasets that match all clauses, with the scores of those that have the words.
fn find(call: &Call<'_>, table: &Table, request: &Request, words: &str) -> Result<Vec<FoundPackage>, ActionError> {
    let ranked = |words: &str| -> Result<FxHashMap<u32, Score>, ActionError> {
        let (ranking, compared) = call.state.searcher.rank_all(words)?;
        let places = ranking.iter().enumerate().filter_map(|(rank, scored)| {
            Some((table.place(&scored.id)?, Score { order: scored.score, compares: rank < compared }))
        });
        Ok(places.collect())
    };
    let scores = if words.is_empty() { FxHashMap::default() } else { ranked(words)? };
    let mut texts: FxHashMap<String, FxHashSet<u32>> = FxHashMap::default();
    for text in request.query.texts().into_iter().chain(request.filters.iter().flat_map(Clause::texts)) {
        if let Entry::Vacant(empty) = texts.entry(text) {
            let known = empty.key() == words;
            let found =
                if known { scores.keys().copied().collect() } else { ranked(empty.key())?.into_keys().collect() };
            empty.insert(found);
        }
    }
    let clauses = || [&request.query].into_iter().chain(&request.filters);
    let passing = (0..table.rows.len() as u32).filter(|place| clauses().all(|one| one.holds(table, *place, &texts)));
    Ok(passing.map(|place| FoundPackage { place, score: scores.get(&place).copied() }).collect())
}

/// Sorts by each key, finally by name. Missing dates are last in both directions.
fn sort(found: &mut [FoundPackage], table: &Table, keys: &[Sort]) {
    let compare = |a: &FoundPackage, b: &FoundPackage, key: &Sort| {
        let (one, other) = (&table.rows[a.place as usize], &table.rows[b.place as usize]);
        match key.by {
            SortField::Score => compare_known(a.score, b.score, key, |a, b| a.order.total_cmp(&b.order)),
            SortField::Modified => compare_known(one.modified.as_ref(), other.modified.as_ref(), key, Ord::cmp),
            SortField::Created => compare_known(one.created.as_ref(), other.created.as_ref(), key, Ord::cmp),
            SortField::Title => with_direction(one.folded.cmp(&other.folded), key),
            SortField::Name => with_direction(one.name.cmp(&other.name), key),
            SortField::Id => with_direction(one.id.cmp(&other.id), key),
        }
    };
    // Rows are sorted by name, and the sort is stable.
    found.sort_by(|a, b| {
        keys.iter().map(|key| compare(a, b, key)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
}

fn with_direction(order: Ordering, key: &Sort) -> Ordering {
    if key.descending { order.reverse() } else { order }
}

fn compare_known<T>(one: Option<T>, other: Option<T>, key: &Sort, compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => with_direction(compare(&one, &other), key),
        (one, other) => one.is_none().cmp(&other.is_none()),
    }
}

/// Selects the requested fields; all if none are given.
fn select_fields(package: Value, fields: &[String]) -> Value {
    match package {
        Value::Object(all) if !fields.is_empty() && !fields.iter().any(|field| field == "*") => {
            all.into_iter().filter(|(key, _)| fields.contains(key)).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Counts the values of facets: plainly, and with titles.
fn count(table: &Table, found: &[FoundPackage], request: &Request) -> (Map<String, Value>, Map<String, Value>) {
    let (mut plain, mut titled) = (Map::new(), Map::new());
    for &facet in &request.facets {
        let rows = found.iter().map(|one| -> &Row { &table.rows[one.place as usize] });
        let counts = table.counts(facet, rows);
        let mut values = table.values(facet).ordered(&counts, request.least);
        values.truncate(request.values);
        let counted: Map<String, Value> =
            values.iter().map(|(value, count)| (value.name.clone(), json!(count))).collect();
        let item = |(value, count): &(&super::table::Value, usize)| json!({ "name": value.name, "display_name": value.title, "count": count });
        let items: Vec<Value> = values.iter().map(item).collect();
        plain.insert(facet.name().to_owned(), counted.into());
        titled.insert(facet.name().to_owned(), json!({ "title": facet.name(), "items": items }));
    }
    (plain, titled)
}
