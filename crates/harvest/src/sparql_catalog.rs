//! Harvest of a catalogue in a SPARQL endpoint.
//!
//! Endpoints cut results: some announce it, others return fewer triples with status 200. So the IRIs of the datasets are listed in their
//! order, page by page, each page after the last IRI of the one before, and the descriptions are requested by their IRIs. A
//! description with as many triples as a usual limit is requested again with fewer datasets. The catalogue was read to its end if the
//! endpoint counts as many datasets before and after as were listed.

use super::fetch::FetchedFile;
use super::pages::PageContent;
use super::query_parameters::{set_values, visit_patterns};
use super::{HarvestError, Run, Source};
use lodeseek_net::sparql_client::{RemoteError, ResponseRows};
use oxrdf::{Literal, NamedNode, Term};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::{Query, SparqlParser};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const COUNT: &str = include_str!("../queries/remote-catalog-count.rq");
const COUNT_IN_GRAPHS: &str = include_str!("../queries/remote-catalog-count-in-graphs.rq");
const KEYS: &str = include_str!("../queries/remote-catalog-keys.rq");
const KEYS_IN_GRAPHS: &str = include_str!("../queries/remote-catalog-keys-in-graphs.rq");
const DESCRIBE: &str = include_str!("../queries/remote-catalog-describe.rq");
const DESCRIBE_IN_GRAPHS: &str = include_str!("../queries/remote-catalog-describe-in-graphs.rq");

/// Number of datasets of one request, and of the smaller ones that replace an answer that may be cut.
const BATCH_SIZES: [usize; 4] = [100, 25, 5, 1];
/// Number of triples from which on an answer may be cut. Virtuoso's usual limit is 10,000.
const MIN_SUSPICIOUS_TRIPLES: u64 = 10_000;
/// An answer whose number of triples is a multiple of this, or one more, may be cut, too.
const ROUND_TRIPLES_DIVISOR: u64 = 1_000;
/// Maximum size of a response with IRIs in bytes.
const MAX_KEYS_BYTES: u64 = 16 << 20;
/// Maximum number of rows of a response: some endpoints ignore the limit in a query.
const MAX_ROWS: u64 = 100_000;
/// Maximum number of datasets of an endpoint.
const MAX_DATASETS: usize = 10_000_000;
/// `Accept` header for rows. Some endpoints know XML alone.
const ROWS: &str = "application/sparql-results+json, application/sparql-results+xml;q=0.9";
/// `Accept` header for descriptions.
const TRIPLES: &str = "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.8";

/// Values of a variable in the rows of a response.
struct Values {
    texts: Vec<String>,
    /// Number of values that are no valid terms: IRIs that were repaired or left out.
    repairs: u64,
}

/// Returns true if an address looks like that of an endpoint.
pub(super) fn is_address(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let last = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path);
    last.eq_ignore_ascii_case("sparql")
}

/// Queries of the default graph, or of named graphs.
#[derive(Clone, Copy)]
struct Queries {
    count: &'static str,
    keys: &'static str,
    describe: &'static str,
}

const GRAPHS: [Queries; 2] = [
    Queries {
        count: COUNT,
        keys: KEYS,
        describe: DESCRIBE,
    },
    Queries {
        count: COUNT_IN_GRAPHS,
        keys: KEYS_IN_GRAPHS,
        describe: DESCRIBE_IN_GRAPHS,
    },
];

impl Run<'_, '_> {
    /// Harvests the catalogue in an endpoint. Returns the reason if the address is none.
    pub(super) fn harvest_sparql_catalog(
        &mut self,
        source: &mut Source,
    ) -> Result<Option<String>, HarvestError> {
        let endpoint = source.address.clone();
        let mut found = None;
        for queries in GRAPHS {
            match self.count(&endpoint, queries)? {
                Ok(0) => {}
                Ok(count) => {
                    found = Some((queries, count));
                    break;
                }
                Err(reason) => return Ok(Some(reason)),
            }
        }
        let Some((queries, before)) = found else {
            let reason = "the SPARQL endpoint describes no dcat:Dataset; `load --endpoint` samples its content";
            source.fail(&endpoint, reason);
            return Ok(None);
        };
        source.report.form = Some("sparql".to_owned());
        let Some(datasets) = self.keys(source, queries)? else {
            return Ok(None);
        };
        let count = datasets.len() as u64;
        for batch in datasets.chunks(BATCH_SIZES[0]) {
            self.describe(source, queries, batch, 0)?;
            if self.stopped {
                source.fail(
                    &endpoint,
                    "the catalogue was not read completely: the harvest had stopped",
                );
                break;
            }
        }
        source.report.form = Some("sparql".to_owned());
        // A catalogue that changes while it is listed may hide datasets.
        match self.count(&endpoint, queries)? {
            Ok(after) if before == count && after == count => {}
            Ok(after) => source.fail(
                &endpoint,
                format!("the endpoint counts {before} datasets before and {after} after, but {count} were listed"),
            ),
            Err(reason) => source.fail(&endpoint, reason),
        }
        let described = datasets
            .iter()
            .filter(|dataset| self.seen.contains(dataset.as_str()))
            .count() as u64;
        if source.report.whole && described < count {
            source.fail(
                &endpoint,
                format!("{count} datasets are listed, but {described} were described"),
            );
        }
        Ok(None)
    }

    /// Returns the number of datasets. The error is the reason why there is none.
    fn count(
        &mut self,
        endpoint: &str,
        queries: Queries,
    ) -> Result<Result<u64, String>, HarvestError> {
        Ok(match self.rows(endpoint, queries.count, "count")? {
            Ok(values) => {
                let number = values.texts.first().and_then(|text| text.parse().ok());
                number.ok_or_else(|| format!("<{endpoint}>: the response to a count has no number"))
            }
            Err(reason) => Err(reason),
        })
    }

    /// Lists the datasets. Returns `None` if that failed, which is a failure of the source.
    fn keys(
        &mut self,
        source: &mut Source,
        queries: Queries,
    ) -> Result<Option<Vec<NamedNode>>, HarvestError> {
        let endpoint = source.address.clone();
        let (mut datasets, mut last) = (Vec::new(), String::new());
        loop {
            if source.report.pages >= self.harvester.options.budget.pages {
                let reason = format!("there are more than {} pages", source.report.pages);
                source.fail(&endpoint, reason);
                return Ok(None);
            }
            let page = match keys_after(queries.keys, &last) {
                Some(query) => self.rows(&endpoint, &query, "dataset")?,
                None => Err("the query of IRIs cannot be parsed".to_owned()),
            };
            source.report.pages += 1;
            let Values {
                texts: page,
                repairs,
            } = match page {
                Ok(page) => page,
                Err(reason) => {
                    source.fail(&endpoint, reason);
                    return Ok(None);
                }
            };
            if repairs > 0 {
                source.fail(
                    &endpoint,
                    format!("IRIs of datasets that are not valid: {repairs}"),
                );
            }
            // An empty page ends the list, and not a short one: endpoints cut pages.
            let Some(newest) = page.last().cloned() else {
                return Ok(Some(datasets));
            };
            // An endpoint that ignores the filter or the order would repeat or omit datasets.
            let is_sorted = page.is_sorted() && page.first().is_some_and(|first| *first > last);
            if !is_sorted || datasets.len() + page.len() > MAX_DATASETS {
                source.fail(
                    &endpoint,
                    "paging loop: the IRIs of the datasets are not in their order, or too many",
                );
                return Ok(None);
            }
            last = newest;
            for iri in page {
                match NamedNode::new(iri.as_str()) {
                    Ok(node) => datasets.push(node),
                    Err(error) => source.fail(
                        &iri,
                        format!("the IRI of the dataset is not valid: {error}"),
                    ),
                }
            }
        }
    }

    /// Requests and processes descriptions. An answer that may be cut is requested in smaller parts.
    fn describe(
        &mut self,
        source: &mut Source,
        queries: Queries,
        datasets: &[NamedNode],
        size: usize,
    ) -> Result<(), HarvestError> {
        if self.stopped || datasets.is_empty() {
            return Ok(());
        }
        let endpoint = source.address.clone();
        let Some(query) = description_of(queries.describe, datasets) else {
            source.fail(&endpoint, "the query of descriptions cannot be parsed");
            return Ok(());
        };
        let what = match datasets {
            [only] => only.as_str().to_owned(),
            _ => endpoint.clone(),
        };
        let fault = match self.fetcher.query(&endpoint, &query, TRIPLES) {
            Ok((fetched, max_rows)) => {
                source.report.pages += 1;
                match self.description(&endpoint, &fetched)? {
                    Ok(catalog)
                        if datasets.len() > 1 && catalog.datasets.len() < datasets.len() =>
                    {
                        format!(
                            "the answer describes {} of {} datasets",
                            catalog.datasets.len(),
                            datasets.len()
                        )
                    }
                    Ok(catalog)
                        if max_rows.is_none_or(|max| catalog.triples < max)
                            && (is_whole(catalog.triples)
                                || datasets.len() == 1
                                    // A single dataset cannot be divided: a round number below the usual limit is accepted.
                                    && catalog.triples < MIN_SUSPICIOUS_TRIPLES) =>
                    {
                        self.process(source, *catalog)?;
                        return Ok(());
                    }
                    Ok(catalog) => format!(
                        "the answer has {} triples and may be cut; the dataset is not read",
                        catalog.triples
                    ),
                    Err(reason) => reason,
                }
            }
            Err(error) => self.failure_reason(error)?,
        };
        if size + 1 >= BATCH_SIZES.len() || self.stopped {
            source.fail(&what, fault);
            return Ok(());
        }
        for part in datasets.chunks(BATCH_SIZES[size + 1]) {
            self.describe(source, queries, part, size + 1)?;
        }
        Ok(())
    }

    /// Parses an answer. The error is the reason why it is none.
    fn description(
        &mut self,
        endpoint: &str,
        fetched: &FetchedFile,
    ) -> Result<Result<Box<lodeseek_catalog::Catalog>, String>, HarvestError> {
        Ok(match self.read_catalog(endpoint, fetched)? {
            PageContent::Catalog(catalog)
                if catalog.is_incomplete
                    || catalog.unreadable_entries > 0 && ends_in_a_statement(&fetched.path)? =>
            {
                Err("the answer is truncated".to_owned())
            }
            PageContent::Catalog(catalog) => Ok(catalog),
            PageContent::Invalid(error) => Err(super::pages::error_reason(&error)),
            PageContent::Skipped(reason) => Err(reason),
        })
    }

    /// Returns the values of a variable. The error is the reason why there are none.
    fn rows(
        &mut self,
        endpoint: &str,
        query: &str,
        variable: &str,
    ) -> Result<Result<Values, String>, HarvestError> {
        let fetched = match self.fetcher.query(endpoint, query, ROWS) {
            Ok((fetched, _)) => fetched,
            Err(error) => return Ok(Err(self.failure_reason(error)?)),
        };
        let path = &fetched.path;
        let file = File::open(path).map_err(HarvestError::io(path))?;
        let bytes = file.metadata().map_err(HarvestError::io(path))?.len();
        if bytes > MAX_KEYS_BYTES {
            return Ok(Err(format!(
                "<{endpoint}>: a response of {bytes} bytes, more than the limit of {MAX_KEYS_BYTES}"
            )));
        }
        Ok(match read_rows(endpoint, file, variable) {
            Ok(values) => Ok(values),
            Err(error) => Err(format!("no SPARQL endpoint: {error}")),
        })
    }
}

/// If true, the number of triples is none at which endpoints cut answers.
fn is_whole(triples: u64) -> bool {
    // Some endpoints return one triple more than their limit.
    triples < MIN_SUSPICIOUS_TRIPLES
        && (triples < ROUND_TRIPLES_DIVISOR || triples % ROUND_TRIPLES_DIVISOR > 1)
}

/// Returns true if the last character of an answer in N-Triples, Turtle or RDF/XML is none with which these formats end.
fn ends_in_a_statement(path: &Path) -> Result<bool, HarvestError> {
    let mut file = File::open(path).map_err(HarvestError::io(path))?;
    let length = file.metadata().map_err(HarvestError::io(path))?.len();
    let start = length.saturating_sub(64);
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.read_to_end(&mut end))
        .map_err(HarvestError::io(path))?;
    let last = end.trim_ascii_end().last();
    Ok(last.is_some_and(|last| !b".>}".contains(last)))
}

/// Reads the values of a variable in a response in JSON or XML. Blank nodes are left out.
fn read_rows(endpoint: &str, response: File, variable: &str) -> Result<Values, RemoteError> {
    // The blank nodes of responses are not kept, so that their number is of no importance.
    let mut rows = ResponseRows::open(endpoint, response, MAX_ROWS, 0)?;
    let mut texts = Vec::new();
    for row in &mut rows {
        match row?.get(variable) {
            Some(Term::NamedNode(node)) => texts.push(node.as_str().to_owned()),
            Some(Term::Literal(literal)) => texts.push(literal.value().to_owned()),
            _ => {}
        }
    }
    Ok(Values {
        texts,
        repairs: rows.repairs(),
    })
}

/// Returns the query of the datasets after an IRI.
fn keys_after(query: &str, last: &str) -> Option<String> {
    let mut query = SparqlParser::new().parse_query(query).ok()?;
    let Query::Select { pattern, .. } = &mut query else {
        return None;
    };
    // In the algebra, not in the text: an IRI cannot change the query.
    visit_patterns(pattern, &mut |pattern| {
        if let GraphPattern::Filter { expr, .. } = pattern {
            set_text(expr, last);
        }
    });
    Some(query.to_string())
}

/// Replaces the empty text that an expression compares with.
fn set_text(expression: &mut Expression, text: &str) {
    match expression {
        Expression::And(left, right) | Expression::Greater(left, right) => {
            set_text(left, text);
            set_text(right, text);
        }
        Expression::Literal(literal) if literal.value().is_empty() => {
            *literal = Literal::new_simple_literal(text);
        }
        _ => {}
    }
}

/// Returns the query of the descriptions of datasets.
fn description_of(query: &str, datasets: &[NamedNode]) -> Option<String> {
    let mut query = SparqlParser::new().parse_query(query).ok()?;
    let Query::Construct { pattern, .. } = &mut query else {
        return None;
    };
    set_values(pattern, "dataset", datasets);
    Some(query.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_in_the_queries() {
        for queries in GRAPHS {
            let keys = keys_after(queries.keys, "http://e.org/\"x").expect("a query");
            assert!(
                keys.contains(r#""http://e.org/\"x""#)
                    && keys.contains("ORDER BY")
                    && keys.contains("LIMIT 1000"),
                "{keys}"
            );
            let datasets = [NamedNode::new("http://e.org/a").expect("an IRI")];
            let query = description_of(queries.describe, &datasets).expect("a query");
            assert!(
                query.contains("<http://e.org/a>") && !query.contains("UNDEF"),
                "{query}"
            );
            assert!(SparqlParser::new().parse_query(&query).is_ok(), "{query}");
        }
    }

    #[test]
    fn answers_at_usual_limits_may_be_cut() {
        for (triples, expected) in [
            (0, true),
            (999, true),
            (1, true),
            (2_000, false),
            (2_001, false),
            (2_002, true),
            (9_999, true),
            (10_001, false),
        ] {
            assert_eq!(is_whole(triples), expected, "{triples}");
        }
    }

    #[test]
    fn endpoints_are_known_by_their_addresses() {
        assert!(is_address("https://e.org/sparql") && is_address("https://e.org/SPARQL/?x=1"));
        assert!(!is_address("https://e.org/sparql.ttl") && !is_address("https://e.org/"));
    }
}
