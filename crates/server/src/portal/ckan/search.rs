//! `package_search`: the engine finds words; the table and the texts of packages decide all other clauses.

use super::error::{ActionError, QueryError};
use super::parameters::{Default as Flag, Parameters};
use super::query::{Clause, Evaluation, Field, MinimumMatch, QueryOptions, Sort, SortField};
use super::syntax::{DefaultOperator, MAX_CHARACTERS};
use super::table::{Facet, Row, Table};
use super::{Call, MAX_PACKAGES};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::FieldMatch;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// Default order.
const DEFAULT_SORT: &str = "score desc, metadata_modified desc";
/// Default number of packages.
const DEFAULT_ROWS: usize = 10;
/// Default number of values of a facet.
const DEFAULT_VALUES: usize = 50;
/// Maximum number of word groups in a query with its filters. Each of them is a search.
const MAX_WORD_GROUPS: usize = 5;
/// Maximum number of clauses of a query with its filters. Each of them is compared with every dataset.
const MAX_CLAUSES: usize = 50;

/// Parameters of a search that are read.
const PARAMETERS: [&str; 20] = [
    "q",
    "fq",
    "fq_list",
    "rows",
    "start",
    "sort",
    "fl",
    "facet",
    "facet.field",
    "facet.limit",
    "facet.mincount",
    "facet.sort",
    "mm",
    "q.op",
    "defType",
    "wt",
    "include_private",
    "include_drafts",
    "include_deleted",
    "use_default_schema",
];

/// Parsed parameters of a search.
struct Request {
    query: Clause,
    filters: Vec<Clause>,
    sort: Vec<Sort>,
    sorted: String,
    start: usize,
    rows: usize,
    facets: Vec<CountedField>,
    values: usize,
    /// Minimum number of datasets of a value of a facet.
    min_count: usize,
    order: ValueOrder,
    fields: Vec<String>,
}

/// A field whose values are counted, with its name.
struct CountedField(String, Field);

/// Order of the values of a facet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueOrder {
    /// The most frequent first.
    Count,
    /// By title.
    Title,
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
        check_names(parameters)?;
        let sorted = parameters
            .non_blank_text("sort")?
            .unwrap_or_else(|| DEFAULT_SORT.to_owned());
        let query = parameters.non_blank_text("q")?.unwrap_or_default();
        let filters: Vec<String> = parameters
            .non_blank_text("fq")?
            .into_iter()
            .chain(parameters.list("fq_list", &[])?)
            .collect();
        // The limit is for all texts together, since any number of filters is accepted.
        if [&query]
            .into_iter()
            .chain(&filters)
            .map(|text| text.chars().count())
            .sum::<usize>()
            > MAX_CHARACTERS
        {
            return Err(QueryError::LongTogether(MAX_CHARACTERS).into());
        }
        let options = query_options(parameters)?;
        let query = Clause::query(&query, &options)?;
        let operator = options.operator.unwrap_or_default();
        let filters: Vec<Clause> = filters
            .iter()
            .map(|filter| Clause::filter(filter, operator))
            .collect::<Result<_, _>>()?;
        let (mut clauses, mut word_groups) = (0, 0);
        for clause in [&query].into_iter().chain(&filters) {
            clauses += clause.count();
            word_groups += clause.word_groups();
        }
        if clauses > MAX_CLAUSES {
            return Err(QueryError::Clauses(MAX_CLAUSES).into());
        }
        if word_groups > MAX_WORD_GROUPS {
            return Err(QueryError::Words(MAX_WORD_GROUPS).into());
        }
        Ok(Self {
            query,
            filters,
            sort: Sort::read(&sorted)?,
            sorted,
            start: parameters.natural("start")?.unwrap_or(0),
            rows: parameters
                .natural("rows")?
                .unwrap_or(DEFAULT_ROWS)
                .min(MAX_PACKAGES),
            facets: read_facets(call)?,
            values: parameters.limit("facet.limit")?.unwrap_or(DEFAULT_VALUES),
            min_count: parameters.natural("facet.mincount")?.unwrap_or(1),
            order: match parameters.non_blank_text("facet.sort")?.as_deref() {
                None | Some("count" | "true") => ValueOrder::Count,
                Some("index" | "false") => ValueOrder::Title,
                Some(other) => {
                    return Err(QueryError::Parameter("facet.sort", other.to_owned()).into());
                }
            },
            fields: parameters.list("fl", &[',', ' '])?,
        })
    }

    /// Returns the query and its filters.
    fn clauses(&self) -> impl Iterator<Item = &Clause> {
        [&self.query].into_iter().chain(&self.filters)
    }
}

/// Rejects parameters that would have no effect, as CKAN does.
fn check_names(parameters: &Parameters) -> Result<(), QueryError> {
    let unknown: Vec<String> = parameters
        .names()
        .filter(|name| !PARAMETERS.contains(name))
        .map(str::to_owned)
        .collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(QueryError::Parameters(unknown))
    }
}

fn query_options(parameters: &Parameters) -> Result<QueryOptions, ActionError> {
    let operator = match parameters
        .non_blank_text("q.op")?
        .as_deref()
        .map(str::to_ascii_uppercase)
        .as_deref()
    {
        None => None,
        Some("AND") => Some(DefaultOperator::And),
        Some("OR") => Some(DefaultOperator::Or),
        Some(other) => return Err(QueryError::Parameter("q.op", other.to_owned()).into()),
    };
    let is_standard = match parameters.non_blank_text("defType")?.as_deref() {
        None | Some("dismax" | "edismax") => false,
        Some("lucene") => true,
        Some(other) => return Err(QueryError::Parameter("defType", other.to_owned()).into()),
    };
    if let Some(format) = parameters
        .non_blank_text("wt")?
        .filter(|format| format != "json")
    {
        return Err(QueryError::Parameter("wt", format).into());
    }
    let minimum_match = parameters
        .non_blank_text("mm")?
        .map(|text| MinimumMatch::parse(&text))
        .transpose()?;
    Ok(QueryOptions {
        operator,
        minimum_match,
        is_standard,
    })
}

fn read_facets(call: &Call<'_>) -> Result<Vec<CountedField>, ActionError> {
    if !call.parameters.flag("facet", Flag::Yes)? {
        return Ok(Vec::new());
    }
    let mut facets: Vec<CountedField> = Vec::new();
    for name in call.parameters.list("facet.field", &[',', ' '])? {
        let name = if name == "owner_org" {
            "organization".to_owned()
        } else {
            name
        };
        // Names of persons are counted as a whole, and searched by words.
        let field = match Facet::of_name(&name) {
            Some(facet) => Field::Facet(facet),
            None => Field::from_name(&name).ok_or_else(|| QueryError::Field(name.clone()))?,
        };
        if !matches!(
            field,
            Field::Facet(_) | Field::Fixed(_) | Field::String(_) | Field::Absent
        ) {
            return Err(QueryError::Facet(name).into());
        }
        if facets.iter().all(|CountedField(other, _)| *other != name) {
            facets.push(CountedField(name, field));
        }
    }
    Ok(facets)
}

pub(super) fn package_search(call: &Call<'_>) -> Result<Value, ActionError> {
    let request = Request::read(call)?;
    let table = call.table()?;
    let words = request.query.ranking_words();
    let mut found = find_packages(call, &table, &request, &words)?;
    sort_packages(&mut found, call, &table, &request.sort)?;
    let page: Vec<&FoundPackage> = found
        .iter()
        .skip(request.start)
        .take(request.rows)
        .collect();
    let mut results = Vec::with_capacity(page.len());
    for (one, matched) in page
        .iter()
        .zip(find_matched_fields(call, &table, &page, &words)?)
    {
        let Some(mut package) = call.package(&table.rows[one.place as usize].id)? else {
            continue;
        };
        if let Some(matched) = matched {
            package["score"] = json!(
                one.score
                    .filter(|score| score.compares)
                    .map(|score| score.order)
            );
            package["matched"] = json!(matched);
        }
        results.push(select_fields(package, &request.fields));
    }
    let (counts, titled) = count_values(call, &table, &found, &request)?;
    Ok(json!({
        "count": found.len(),
        "sort": request.sorted,
        "results": results,
        "facets": counts,
        "search_facets": titled,
    }))
}

/// Returns the matching fields of each dataset of a page, if the query has words.
fn find_matched_fields(
    call: &Call<'_>,
    table: &Table,
    page: &[&FoundPackage],
    words: &str,
) -> Result<Vec<Option<Vec<FieldMatch>>>, ActionError> {
    if words.is_empty() {
        return Ok(page.iter().map(|_| None).collect());
    }
    let ids: Vec<DatasetId> = page
        .iter()
        .map(|one| table.rows[one.place as usize].id.clone())
        .collect();
    Ok(call
        .state
        .searcher
        .matched_fields(words, &ids)?
        .into_iter()
        .map(Some)
        .collect())
}

/// Returns the datasets that match all clauses, with the scores of those that have the words. A query without words of its own
/// is scored by its fields.
fn find_packages(
    call: &Call<'_>,
    table: &Table,
    request: &Request,
    words: &str,
) -> Result<Vec<FoundPackage>, ActionError> {
    let ranked = if words.is_empty() {
        FxHashMap::default()
    } else {
        rank_by_words(call, table, words)?
    };
    let mut leaves = Vec::new();
    for clause in request.clauses() {
        clause.visit(&mut |leaf| leaves.push(leaf));
    }
    let texts = if request.clauses().any(Clause::needs_texts) {
        Some(table.texts(call.state)?)
    } else {
        None
    };
    let mut found: FxHashMap<String, Option<Vec<u32>>> = FxHashMap::default();
    for leaf in leaves {
        match leaf {
            // The same words may occur in several filters: each text is searched once.
            Clause::Words(text) if !found.contains_key(text) => {
                found.insert(text.clone(), Some(ranked.keys().copied().collect()));
            }
            Clause::Contains(text) if !found.contains_key(text) => {
                let ids = call.state.searcher.with_phrase(text)?;
                let mut places: Option<Vec<u32>> =
                    ids.map(|ids| ids.iter().filter_map(|id| table.place(id)).collect());
                // Packages have texts that the index lacks, so their own texts decide as well.
                if let (Some(places), Some(texts)) = (&mut places, texts) {
                    places.extend(texts.places_with(text, table.rows.len()));
                }
                found.insert(text.clone(), places);
            }
            _ => {}
        }
    }
    let evaluation = Evaluation {
        table,
        texts,
        found,
    };
    let mut passing = vec![true; table.rows.len()];
    for clause in request.clauses() {
        for (all, one) in passing.iter_mut().zip(evaluation.marks(clause)) {
            *all &= one;
        }
    }
    // The engine's scores and those of fields have no common scale, so they are not mixed.
    let by_field = if words.is_empty() {
        evaluation.field_scores(&request.query)
    } else {
        Vec::new()
    };
    let places = (0..)
        .zip(passing)
        .filter(|(_, passes)| *passes)
        .map(|(place, _)| place);
    Ok(places
        .map(|place: u32| {
            let by_field = by_field.get(place as usize).map(|score| Score {
                order: *score,
                compares: false,
            });
            FoundPackage {
                place,
                score: ranked.get(&place).copied().or(by_field),
            }
        })
        .collect())
}

/// Ranks the datasets by words.
fn rank_by_words(
    call: &Call<'_>,
    table: &Table,
    words: &str,
) -> Result<FxHashMap<u32, Score>, ActionError> {
    let (ranking, compared) = call.state.searcher.rank_all(words)?;
    let mut scores = FxHashMap::default();
    for (rank, scored) in ranking.iter().enumerate() {
        if let Some(place) = table.place(&scored.id) {
            scores.insert(
                place,
                Score {
                    order: scored.score,
                    compares: rank < compared,
                },
            );
        }
    }
    Ok(scores)
}

/// Sorts by each key, finally by name. Missing dates and values are last in both directions.
fn sort_packages(
    found: &mut [FoundPackage],
    call: &Call<'_>,
    table: &Table,
    keys: &[Sort],
) -> Result<(), ActionError> {
    let mut values: Vec<FxHashMap<u32, &str>> = Vec::with_capacity(keys.len());
    for key in keys {
        values.push(match key.by {
            SortField::String(field) => {
                let strings = table.texts(call.state)?.strings(field);
                strings
                    .filter_map(|(place, values)| Some((place, values.first()?.as_str())))
                    .collect()
            }
            _ => FxHashMap::default(),
        });
    }
    // Rows are sorted by name, and the sort is stable.
    found.sort_by(|a, b| {
        let mut orders = keys
            .iter()
            .zip(&values)
            .map(|(key, values)| compare_packages(a, b, key, values, table));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    Ok(())
}

/// Compares two datasets by one key. `values` are those of the key if it is a string field.
fn compare_packages(
    a: &FoundPackage,
    b: &FoundPackage,
    key: &Sort,
    values: &FxHashMap<u32, &str>,
    table: &Table,
) -> Ordering {
    let (one, other) = (&table.rows[a.place as usize], &table.rows[b.place as usize]);
    match key.by {
        SortField::Score => {
            compare_known(a.score, b.score, key, |a, b| a.order.total_cmp(&b.order))
        }
        SortField::Modified => compare_known(
            one.modified.as_ref(),
            other.modified.as_ref(),
            key,
            Ord::cmp,
        ),
        SortField::Created => {
            compare_known(one.created.as_ref(), other.created.as_ref(), key, Ord::cmp)
        }
        SortField::Count(count) => with_direction(count.parts(one).cmp(&count.parts(other)), key),
        SortField::Title => with_direction(one.key.cmp(&other.key), key),
        SortField::Name => with_direction(one.name.cmp(&other.name), key),
        SortField::Id => with_direction(one.id.cmp(&other.id), key),
        SortField::Facet(facet) => compare_known(
            table.first_value(one, facet),
            table.first_value(other, facet),
            key,
            Ord::cmp,
        ),
        SortField::String(_) => {
            compare_known(values.get(&a.place), values.get(&b.place), key, Ord::cmp)
        }
        SortField::Absent => Ordering::Equal,
    }
}

fn with_direction(order: Ordering, key: &Sort) -> Ordering {
    if key.descending {
        order.reverse()
    } else {
        order
    }
}

fn compare_known<T>(
    one: Option<T>,
    other: Option<T>,
    key: &Sort,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => with_direction(compare(&one, &other), key),
        (one, other) => one.is_none().cmp(&other.is_none()),
    }
}

/// Selects the requested fields; all if none are given.
fn select_fields(package: Value, fields: &[String]) -> Value {
    match package {
        Value::Object(all) if !fields.is_empty() && !fields.iter().any(|field| field == "*") => all
            .into_iter()
            .filter(|(key, _)| fields.contains(key))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

type JsonMap = Map<String, Value>;

/// Counts the values of facets: plainly, and with titles.
fn count_values(
    call: &Call<'_>,
    table: &Table,
    found: &[FoundPackage],
    request: &Request,
) -> Result<(JsonMap, JsonMap), ActionError> {
    let (mut plain, mut titled) = (Map::new(), Map::new());
    for CountedField(field_name, field) in &request.facets {
        let mut counted = match field {
            Field::Facet(facet) => count_facet(table, *facet, found, request),
            Field::Fixed(value) => vec![((*value).to_owned(), (*value).to_owned(), found.len())],
            Field::String(field) => count_strings(call, table, field, found, request)?,
            _ => Vec::new(),
        };
        counted.retain(|(.., count)| *count >= request.min_count);
        counted.truncate(request.values);
        let counts: Map<String, Value> = counted
            .iter()
            .map(|(name, _, count)| (name.clone(), json!(count)))
            .collect();
        let items: Vec<Value> = counted
            .iter()
            .map(|(name, title, count)| json!({ "name": name, "display_name": title, "count": count }))
            .collect();
        plain.insert(field_name.clone(), counts.into());
        titled.insert(
            field_name.clone(),
            json!({ "title": field_name, "items": items }),
        );
    }
    Ok((plain, titled))
}

/// Returns (name, title, number of datasets) of the values of a facet in the requested order.
fn count_facet(
    table: &Table,
    facet: Facet,
    found: &[FoundPackage],
    request: &Request,
) -> Vec<(String, String, usize)> {
    let rows = found
        .iter()
        .map(|one| -> &Row { &table.rows[one.place as usize] });
    let counts = table.count_values(facet, rows);
    let mut values = table
        .values(facet)
        .most_frequent(&counts, request.min_count);
    if request.order == ValueOrder::Title {
        // This order comes before the cut: the first values by title are not those with the highest counts.
        values.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
    }
    values.truncate(request.values);
    values
        .into_iter()
        .map(|(value, count)| (value.name.clone(), value.title.clone(), count))
        .collect()
}

/// Returns (value, value, number of datasets) of the values of a string field in the requested order.
fn count_strings(
    call: &Call<'_>,
    table: &Table,
    field: &str,
    found: &[FoundPackage],
    request: &Request,
) -> Result<Vec<(String, String, usize)>, ActionError> {
    let places: FxHashSet<u32> = found.iter().map(|one| one.place).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, values) in table
        .texts(call.state)?
        .strings(field)
        .filter(|(place, _)| places.contains(place))
    {
        // Facets count datasets: a value that several files repeat counts once.
        let distinct: FxHashSet<&String> = values.iter().collect();
        for value in distinct {
            *counts.entry(value).or_default() += 1;
        }
    }
    let mut counted: Vec<(&str, usize)> = counts.into_iter().collect();
    // The map is already in the order of the values, and the sort is stable.
    if request.order == ValueOrder::Count {
        counted.sort_by_key(|(_, count)| Reverse(*count));
    }
    Ok(counted
        .into_iter()
        .map(|(value, count)| (value.to_owned(), value.to_owned(), count))
        .collect())
}
