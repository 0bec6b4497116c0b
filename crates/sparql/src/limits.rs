//! Limits of a query, and the costs that can be computed before it runs.

use super::SparqlError;
use super::algebra::{
    child_patterns, count_services, exists_patterns, expressions_of, inner_patterns, operands_of,
    pattern_of,
};
use super::string_limits::growth_of;
use serde::{Deserialize, Serialize};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use std::time::{Duration, Instant};

/// Maximum nesting depth of triple terms and reified triples in a query.
const MAX_TRIPLE_NESTING: usize = 16;
/// Maximum time of a query, one year. The system cannot represent the end of much longer ones.
const MAX_QUERY_TIME: Duration = Duration::from_secs(366 * 86_400);

/// Limits of one query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SparqlLimits {
    /// Maximum time until the answer is complete and read by the client. Default 30 s.
    pub deadline: Duration,
    /// Maximum number of rows or triples of an answer; a longer one is truncated and marked. Default 100,000.
    pub rows: usize,
    /// Maximum memory of the rows or triples of an answer in megabytes; a larger answer is truncated and marked. Default 1,024.
    pub answer_megabytes: u64,
    /// Concurrent expensive queries, including cancelled ones that have not ended yet. Default 8. In addition, twice as many queries
    /// of bounded cost may run.
    pub concurrent: usize,
    /// Maximum number of these queries for each client, queued ones included. Default 4, and twice as many of bounded cost.
    pub concurrent_of_client: usize,
    /// Maximum time a query is queued while all permits are taken. One that is expected to wait longer is rejected at once. Default
    /// 20 s.
    pub queue_timeout: Duration,
    /// Maximum number of queued queries. Default 64.
    pub waiting: usize,
    /// Running time after which a query counts as long, if it runs alone. Default 500 ms.
    pub long_after: Duration,
    /// Maximum memory of the worker process of a query in megabytes. Without workers, maximum growth of this process while it
    /// evaluates the query. Default 1,024.
    pub memory_megabytes: u64,
    /// Maximum number of combinations of rows written in a query: those of `VALUES`, and one for each part of a `UNION`. Default
    /// 1,000,000.
    pub combinations: u64,
    /// Maximum ratio of the length of a computed string to that of its inputs. Default 1,000.
    pub growth: u64,
    /// Maximum number of triple patterns and path steps. Default 200: the optimizer takes seconds for more.
    pub patterns: usize,
    /// Maximum size of a query in bytes. Default 64 KiB.
    pub query_bytes: usize,
    /// Maximum nesting depth of brackets, and length of a chain of prefix operators. Default 150.
    pub nesting: usize,
    /// Maximum nesting depth of groups in braces. Default 16.
    pub groups: usize,
    /// Maximum number of `SERVICE` clauses. Default 16.
    pub services: usize,
    /// Maximum number of rows of one `SERVICE`. Default 1,000,000.
    pub service_rows: usize,
    /// Maximum nesting depth of negations by `!`. Default 8.
    pub negations: usize,
    /// Maximum nesting depth of groups that are repeated (`(…)*`, `(…)+`, `(…)?`). Default 4: the time of the evaluation
    /// grows exponentially with it.
    pub repeated_groups: usize,
    /// Maximum number of members of all `IN` and operands of all `||` and `&&`. Default 1,000: each is compared for every row.
    pub comparisons: usize,
    /// Use of precomputed counts. Default [`Statistics::First`].
    pub statistics: Statistics,
}

/// Use of statistics for counts and listings that they answer exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Statistics {
    /// Statistics answer what they can; the rest is evaluated.
    #[default]
    First,
    /// Everything is evaluated, for comparison.
    Never,
}

impl Default for SparqlLimits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            rows: 100_000,
            answer_megabytes: 1024,
            concurrent: 8,
            concurrent_of_client: 4,
            queue_timeout: Duration::from_secs(20),
            waiting: 64,
            long_after: Duration::from_millis(500),
            memory_megabytes: 1024,
            combinations: 1_000_000,
            growth: 1_000,
            patterns: 200,
            query_bytes: 64 << 10,
            nesting: 150,
            groups: 16,
            services: 16,
            service_rows: 1_000_000,
            negations: 8,
            repeated_groups: 4,
            comparisons: 1_000,
            statistics: Statistics::First,
        }
    }
}

impl SparqlLimits {
    /// Returns the limits for queries of bounded cost: they have permits of their own, and do not wait for expensive ones.
    pub(super) fn for_bounded_queries(&self) -> Self {
        Self {
            concurrent: self.concurrent.saturating_mul(2),
            concurrent_of_client: self.concurrent_of_client.saturating_mul(2),
            ..self.clone()
        }
    }
}

/// Returns the instant at which a time from now ends. More than a year counts as one.
pub(super) fn deadline_after(time: Duration) -> Instant {
    Instant::now() + time.min(MAX_QUERY_TIME)
}

/// Checks the size and nesting of a query before it is parsed. The parser recurses on brackets and prefix operators, and cannot be
/// interrupted. It backtracks in negations: these have a lower limit. So have repeated groups, because of their evaluation.
pub(super) fn check_size(query: &str, limits: &SparqlLimits) -> Result<(), SparqlError> {
    if query.len() > limits.query_bytes {
        return Err(SparqlError::TooLarge(format!(
            "it has {} bytes; the limit is {}",
            query.len(),
            limits.query_bytes
        )));
    }
    let deepest = Depths::from_query(query);
    for (found, limit, excess) in [
        (
            deepest.brackets.max(deepest.operators),
            limits.nesting,
            "nests deeper",
        ),
        (
            deepest.triples,
            MAX_TRIPLE_NESTING,
            "nests triple terms and reified triples deeper",
        ),
        (deepest.groups, limits.groups, "nests groups deeper"),
        (
            deepest.negations,
            limits.negations,
            "nests negations deeper",
        ),
    ] {
        if found > limit {
            return Err(SparqlError::TooLarge(format!("it {excess} than {limit}")));
        }
    }
    if repeated_groups(query) > limits.repeated_groups {
        return Err(SparqlError::TooLarge(format!(
            "it nests repeated groups deeper than {}; write (p*)* as p*",
            limits.repeated_groups
        )));
    }
    Ok(())
}

/// Returns the nesting depth of brackets followed by `*`, `+` or `?`, directly inside each other or not. It is never too low: if a
/// closing bracket is uncertain, it is assumed to enclose those before it.
fn repeated_groups(query: &str) -> usize {
    // Depth inside each open bracket.
    let mut open = vec![0usize];
    let mut deepest = 0;
    let mut bytes = Code::new(query)
        .filter(|(byte, _)| !byte.is_ascii_whitespace())
        .peekable();
    while let Some((byte, sure)) = bytes.next() {
        match byte {
            b'(' if sure => open.push(0),
            b')' => {
                let inside = if sure && open.len() > 1 {
                    open.pop().unwrap_or_default()
                } else {
                    // Which bracket it closes is uncertain, so the deepest one counts.
                    deepest
                };
                let is_repeated = matches!(bytes.peek(), Some((b'*' | b'+' | b'?', _)));
                let depth = inside + usize::from(is_repeated);
                if let Some(around) = open.last_mut() {
                    *around = depth.max(*around);
                }
                deepest = deepest.max(depth);
            }
            _ => {}
        }
    }
    deepest
}

/// Nesting depths of a query, counted without parsing it. They are never too low, even with brackets in strings or comments.
#[derive(Default)]
struct Depths {
    brackets: usize,
    /// Braces among the brackets.
    groups: usize,
    /// Open brackets that follow a `!`.
    negations: usize,
    /// Prefix operators in a row.
    operators: usize,
    /// Triple terms and reified triples: `<<`. A comparison with an IRI directly after it is counted too.
    triples: usize,
}

impl Depths {
    fn from_query(query: &str) -> Self {
        let mut deepest = Self::default();
        let (mut open, mut negated, mut operators) = (Vec::new(), vec![false], 0);
        let (mut groups, mut negations) = (0usize, 0usize);
        // First half of `<<` or `>>`, and its distance from the end of the query.
        let (mut triples, mut half) = (0usize, None);
        let mut code = Code::new(query);
        while let Some((byte, sure)) = code.next() {
            if byte.is_ascii_whitespace() {
                continue;
            }
            let place = code.rest.len();
            let is_mark = matches!(byte, b'<' | b'>') && half == Some((byte, place + 1));
            match byte {
                b'{' | b'(' | b'[' => {
                    groups += usize::from(byte == b'{');
                    negations += usize::from(negated.last() == Some(&true));
                    open.push(byte);
                    negated.push(false);
                }
                b'}' | b')' | b']' if sure => {
                    if let Some(opening) = open.pop() {
                        groups -= usize::from(opening == b'{');
                        negated.pop();
                    }
                    if let Some(level) = negated.last_mut() {
                        negations -= usize::from(std::mem::take(level)).min(negations);
                    }
                }
                b'<' if is_mark => triples += 1,
                b'>' if is_mark && sure => triples = triples.saturating_sub(1),
                b'!' => {
                    if let Some(level) = negated.last_mut() {
                        *level = true;
                    }
                }
                _ => {}
            }
            operators = if matches!(byte, b'!' | b'-' | b'+' | b'^') {
                operators + 1
            } else {
                0
            };
            half = (!is_mark).then_some((byte, place));
            deepest.triples = deepest.triples.max(triples);
            deepest.brackets = deepest.brackets.max(open.len());
            deepest.groups = deepest.groups.max(groups);
            deepest.negations = deepest.negations.max(negations);
            deepest.operators = deepest.operators.max(operators);
        }
        deepest
    }
}

/// Bytes of a query without comments, strings, IRIs and escaped characters, each with a flag: true if a closing bracket
/// is certain to be one.
///
/// Only a parser can distinguish `<` that opens an IRI from the comparison. Followed by a scheme and `://` it opens an
/// IRI. Otherwise, if a significant byte follows inside, the rest is uncertain: no text is skipped then, and no bracket
/// closes.
struct Code<'q> {
    rest: &'q [u8],
    sure: bool,
}

impl<'q> Code<'q> {
    fn new(query: &'q str) -> Self {
        Self {
            rest: query.as_bytes(),
            sure: true,
        }
    }

    /// Returns the length of the comment, string, IRI or escaped character at the start of the rest; 0 for code.
    fn skipped_bytes(&mut self) -> usize {
        match self.rest {
            [b'#', ..] => self
                .rest
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .unwrap_or(self.rest.len()),
            [b'\\', _, ..] => 2,
            [quote @ (b'"' | b'\''), ..] => string_length(self.rest, *quote),
            [b'<', inside @ ..] => self.iri_length(inside),
            _ => 0,
        }
    }

    fn iri_length(&mut self, inside: &[u8]) -> usize {
        let end = inside
            .iter()
            .position(|byte| b"<>\"{}|^`\\".contains(byte) || *byte <= b' ');
        let Some(length) = end.filter(|&end| inside[end] == b'>') else {
            return 0;
        };
        let iri = &inside[..length];
        let scheme = iri
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
            .count();
        let absolute = scheme > 0 && iri[scheme..].starts_with(b"://");
        self.sure &= absolute || !iri.iter().any(|byte| b"'#()[]!".contains(byte));
        if self.sure { length + 2 } else { 0 }
    }
}

/// Returns the length of a string literal. One without an end, a syntax error, extends to the end of the query.
fn string_length(rest: &[u8], quote: u8) -> usize {
    let long = rest.starts_with(&[quote; 3]);
    let mut place = if long { 3 } else { 1 };
    while place < rest.len() {
        match rest[place] {
            b'\\' => place += 1,
            byte if byte == quote && !long => return place + 1,
            byte if byte == quote && rest[place..].starts_with(&[quote; 3]) => return place + 3,
            _ => {}
        }
        place += 1;
    }
    rest.len()
}

impl Iterator for Code<'_> {
    type Item = (u8, bool);

    fn next(&mut self) -> Option<Self::Item> {
        while self.sure {
            match self.skipped_bytes() {
                0 => break,
                length => self.rest = &self.rest[length..],
            }
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some((*byte, self.sure))
    }
}

/// Costs of a parsed query, computed before any data is read.
#[derive(Default)]
pub(super) struct Cost {
    combinations: u64,
    patterns: usize,
    services: usize,
    comparisons: usize,
    growth: f64,
    /// If true, it contains `LATERAL`, an extension of the parser that these costs do not cover.
    lateral: bool,
}

/// Returns true if a pattern contains a lateral join at any depth.
fn has_lateral(pattern: &GraphPattern) -> bool {
    matches!(pattern, GraphPattern::Lateral { .. })
        || inner_patterns(pattern).into_iter().any(has_lateral)
}

impl Cost {
    pub(super) fn from_query(query: &Query) -> Self {
        let pattern = pattern_of(query);
        Self {
            combinations: count_rows(pattern),
            patterns: count_patterns(pattern),
            services: count_services(pattern),
            comparisons: count_comparisons(pattern),
            growth: growth_of(pattern),
            lateral: has_lateral(pattern),
        }
    }

    pub(super) fn check(&self, limits: &SparqlLimits) -> Result<(), SparqlError> {
        if self.lateral {
            return Err(SparqlError::Unsupported(
                "LATERAL is not part of SPARQL 1.1; write a sub-select or a join".to_owned(),
            ));
        }
        if self.combinations > limits.combinations {
            return Err(SparqlError::TooLarge(format!(
                "its VALUES and UNION combine to more than {} rows",
                limits.combinations
            )));
        }
        if self.services > limits.services {
            return Err(SparqlError::TooLarge(format!(
                "it has more than {} SERVICE",
                limits.services
            )));
        }
        if self.patterns > limits.patterns {
            return Err(SparqlError::TooLarge(format!(
                "it has more than {} triple patterns",
                limits.patterns
            )));
        }
        if self.comparisons > limits.comparisons {
            return Err(SparqlError::TooLarge(format!(
                "its IN, || and && have more than {} members; list the values in VALUES",
                limits.comparisons
            )));
        }
        if self.growth > limits.growth as f64 {
            return Err(SparqlError::TooLarge(format!(
                "it builds strings more than {} times as long as their inputs",
                limits.growth
            )));
        }
        Ok(())
    }
}

/// Returns the number of rows of a pattern if each pattern read from the store yields one row. Rows written in the query multiply
/// in memory, without a check for cancellation.
fn count_rows(pattern: &GraphPattern) -> u64 {
    let own = match pattern {
        GraphPattern::Values { bindings, .. } => bindings.len().max(1) as u64,
        GraphPattern::Union { left, right } if reads_store(left) && reads_store(right) => {
            count_rows(left).max(count_rows(right))
        }
        GraphPattern::Union { left, right } => count_rows(left).saturating_add(count_rows(right)),
        GraphPattern::Join { left, right } | GraphPattern::LeftJoin { left, right, .. } => {
            count_rows(left).saturating_mul(count_rows(right))
        }
        // It has no more rows than its left side, but both are evaluated.
        GraphPattern::Minus { left, right } => count_rows(left).max(count_rows(right)),
        GraphPattern::Service { .. } => return 1, // it is evaluated elsewhere
        other => child_patterns(other)
            .into_iter()
            .map(count_rows)
            .max()
            .unwrap_or(1),
    };
    // Patterns in a condition yield no rows, but are evaluated for as many.
    exists_patterns(pattern)
        .into_iter()
        .map(count_rows)
        .fold(own, u64::max)
}

/// Returns true if each row of a pattern is read from the store, at least in part.
fn reads_store(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => !patterns.is_empty(),
        GraphPattern::Path { .. } | GraphPattern::Service { .. } => true,
        GraphPattern::Values { .. } => false,
        GraphPattern::Union { left, right } => reads_store(left) && reads_store(right),
        GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } => reads_store(left),
        other => child_patterns(other).into_iter().any(reads_store),
    }
}

/// Counts members of `IN` and operands of `||` and `&&` in a pattern.
pub(super) fn count_comparisons(pattern: &GraphPattern) -> usize {
    let own: usize = expressions_of(pattern).into_iter().map(count_members).sum();
    own + inner_patterns(pattern)
        .into_iter()
        .map(count_comparisons)
        .sum::<usize>()
}

fn count_members(expression: &Expression) -> usize {
    let own = match expression {
        Expression::In(_, list) => list.len(),
        Expression::Or(..) | Expression::And(..) => 1,
        _ => 0,
    };
    own + operands_of(expression)
        .into_iter()
        .map(count_members)
        .sum::<usize>()
}

fn count_patterns(pattern: &GraphPattern) -> usize {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.len(),
        GraphPattern::Path { path, .. } => count_steps(path),
        GraphPattern::Service { .. } => 0,
        other => inner_patterns(other).into_iter().map(count_patterns).sum(),
    }
}

fn count_steps(path: &PropertyPathExpression) -> usize {
    match path {
        PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
            count_steps(a) + count_steps(b)
        }
        PropertyPathExpression::Reverse(a)
        | PropertyPathExpression::ZeroOrMore(a)
        | PropertyPathExpression::OneOrMore(a)
        | PropertyPathExpression::ZeroOrOne(a) => count_steps(a),
        PropertyPathExpression::NamedNode(_) => 1,
        PropertyPathExpression::NegatedPropertySet(set) => set.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_has_a_deadline() {
        let now = Instant::now();
        assert!(deadline_after(Duration::MAX) > now + Duration::from_secs(86_400));
        assert!(deadline_after(Duration::from_secs(1)) < now + Duration::from_secs(60));
    }

    #[test]
    fn deep_queries_are_rejected_before_they_are_parsed() {
        let limits = SparqlLimits::default();
        for query in [
            "{".repeat(limits.groups + 1),
            format!("ASK {{ FILTER({}1) }}", "!".repeat(limits.nesting + 1)),
            " ".repeat(limits.query_bytes + 1),
        ] {
            assert!(matches!(
                check_size(&query, &limits),
                Err(SparqlError::TooLarge(_))
            ));
        }
        assert!(check_size("SELECT * { ?s ?p ?o FILTER(!(?o = 1)) }", &limits).is_ok());
    }

    #[test]
    fn negations_are_counted_separately() {
        let depths = |query: &str| {
            let Depths {
                brackets,
                groups,
                negations,
                ..
            } = Depths::from_query(query);
            (brackets, groups, negations)
        };
        for (query, expected) in [
            ("{ FILTER(!(?a)) }", (3, 1, 1)),
            ("{ FILTER(!(?a) && !(?b) && (!(?c))) }", (4, 1, 1)),
            (
                "{ FILTER(! #\n ( ! EXISTS { FILTER(!STR(?a)) } )) }",
                (6, 2, 3),
            ),
            ("{ FILTER(?a != 1 || (?b != 2)) } { { } }", (3, 2, 1)),
            (")))}!(((", (3, 0, 1)),
            // Brackets inside strings and comments.
            (
                "{ ( #)\n ( #)\r ( ')' ( \")\\\")\" ( ''')' '')''' ) ) ) ) ) }",
                (6, 1, 0),
            ),
            ("( ex:a\\)( ex:b\\'(')' ) ) )", (3, 0, 0)),
            ("( '((((' #((((\n )", (1, 0, 0)),
            ("{ <http://e.org/a#(b)> <http://e.org/'> ( 1 ) }", (2, 1, 0)),
            // `<` may compare: then brackets, quotes and comments inside count.
            ("(1<'>)'+(1<'>)'+(1<'>)' )))", (3, 0, 0)),
            ("(1<ex:f#>)\n+(1<ex:f#>)\n+(1)))", (3, 0, 0)),
            ("(1<(2)&&3>(2))", (3, 0, 0)),
            ("{ ?a <urn:plain> <b> FILTER(1 < 2 && (3 > 2)) }", (3, 1, 0)),
        ] {
            assert_eq!(depths(query), expected, "{query}");
        }
    }

    #[test]
    fn comparisons_with_iris_are_no_triple_terms() {
        for (query, expected) in [
            ("<< <s> <p> << ?s ?p <<(<a> <b> <c>)>> >> >> ?p 1", 3),
            ("{ <<<s> <p> <o>>> ?p <<<s> <p> <o>>> }", 1),
            // After an IRI with a bracket, the text of others is not skipped.
            ("?a <b(c)> ?d FILTER(?a < <x> && ?a < <y> && ?a < <z>)", 0),
            ("?a <b(c)> ?d FILTER(?a < <<?b <c> ?d>>)", 1),
        ] {
            assert_eq!(Depths::from_query(query).triples, expected, "{query}");
        }
        let many = format!(
            "ASK {{ ?a <b(c)> ?d FILTER({}) }}",
            vec!["?a < <x>"; 40].join(" && ")
        );
        assert!(check_size(&many, &SparqlLimits::default()).is_ok());
    }

    #[test]
    fn rows_written_in_a_query_are_counted() {
        let count = |pattern: &str| {
            let query =
                spargebra::SparqlParser::new().parse_query(&format!("SELECT * {{ {pattern} }}"));
            count_rows(pattern_of(&query.expect("a query")))
        };
        for (pattern, expected) in [
            ("?a ?b ?c . ?d ?e ?f", 1),
            ("VALUES ?a { 1 2 3 } VALUES ?b { 1 2 }", 6),
            ("VALUES ?a { 1 2 3 } ?a ?b ?c", 3),
            ("{ } UNION { } { } UNION { } { } UNION { }", 8),
            (
                "{ ?a ?b ?c } UNION { ?c ?b ?a } { ?a ?d ?e } UNION { ?e ?d ?a }",
                1,
            ),
            (
                "?a a ?c OPTIONAL { { ?a ?b ?d } UNION { ?a ?e ?d } UNION { ?d ?e ?a } }",
                1,
            ),
            ("{ } UNION { ?a ?b ?c } { } UNION { ?d ?e ?f }", 4),
            (
                "?a ?b ?c FILTER NOT EXISTS { VALUES ?a { 1 2 3 } } FILTER NOT EXISTS { VALUES ?c { 1 2 } }",
                3,
            ),
            (
                "?a ?b ?c MINUS { VALUES ?a { 1 2 3 } } MINUS { VALUES ?c { 1 2 } }",
                3,
            ),
            (
                "{ SELECT ?a { VALUES ?a { 1 2 } VALUES ?b { 1 2 } } } VALUES ?c { 1 2 }",
                8,
            ),
        ] {
            assert_eq!(count(pattern), expected, "{pattern}");
        }
    }

    /// The time of the optimizer grows with the number of patterns, also over no data.
    #[test]
    fn many_patterns_are_rejected() {
        let check = |count: usize| {
            let patterns: String = (0..count)
                .map(|number| format!("?s{number} ?p{number} ?s{} . ", number + 1))
                .collect();
            let query = spargebra::SparqlParser::new()
                .parse_query(&format!("SELECT * {{ {patterns} }}"))
                .expect("a query");
            Cost::from_query(&query).check(&SparqlLimits::default())
        };
        assert!(check(200).is_ok());
        let message = check(201).expect_err("too many patterns").to_string();
        assert!(
            message.contains("more than 200 triple patterns"),
            "{message}"
        );
    }

    #[test]
    fn nested_repeated_groups_are_rejected_before_they_are_parsed() {
        let nested = |depth: usize| {
            format!(
                "ASK {{ ?a {}<p>*{} ?b }}",
                "(".repeat(depth),
                ")*".repeat(depth)
            )
        };
        for (query, expected) in [
            (nested(4), 4),
            (nested(6), 6),
            (
                "{ ?a (<p>/(<q>|^<r>)*)+ ?b FILTER((1 + 2) * (3 + 4) = ?c) }".to_owned(),
                2,
            ),
            (
                "{ ?a (<p>*)* ?b . ?b (<p>*)* ?c . ?c (<p>*)* ?d }".to_owned(),
                1,
            ),
        ] {
            assert_eq!(repeated_groups(&query), expected, "{query}");
        }
        let limits = SparqlLimits::default();
        assert!(check_size(&nested(4), &limits).is_ok());
        assert!(matches!(
            check_size(&nested(5), &limits),
            Err(SparqlError::TooLarge(_))
        ));
    }

    #[test]
    fn lateral_joins_are_rejected() {
        for query in [
            "SELECT * { ?s ?p ?o LATERAL { SELECT * { ?s ?q ?x } LIMIT 1 } }",
            "ASK { ?s ?p ?o FILTER EXISTS { ?s ?q ?x LATERAL { ?x ?r ?y } } }",
        ] {
            let query = spargebra::SparqlParser::new()
                .parse_query(query)
                .expect("a query");
            let outcome = Cost::from_query(&query).check(&SparqlLimits::default());
            assert!(
                matches!(outcome, Err(SparqlError::Unsupported(_))),
                "{query}"
            );
        }
    }

    #[test]
    fn long_lists_of_comparisons_are_rejected() {
        let check = |condition: String| {
            let query = format!("SELECT * {{ ?s ?p ?o FILTER({condition}) }}");
            let query = spargebra::SparqlParser::new()
                .parse_query(&query)
                .expect("a query");
            Cost::from_query(&query).check(&SparqlLimits::default())
        };
        let within = |count: usize| format!("?o IN ({})", vec!["1"; count].join(", "));
        let either = |count: usize| vec!["?o = 1"; count].join(" || ");
        assert!(check(within(1_000)).is_ok() && check(either(100)).is_ok());
        for condition in [
            within(1_001),
            format!("EXISTS {{ ?s ?p ?o FILTER({}) }}", within(1_001)),
        ] {
            assert!(matches!(check(condition), Err(SparqlError::TooLarge(_))));
        }
        let few = SparqlLimits {
            comparisons: 50,
            ..SparqlLimits::default()
        };
        let query = format!("ASK {{ ?s ?p ?o FILTER({}) }}", either(100));
        let query = spargebra::SparqlParser::new()
            .parse_query(&query)
            .expect("a query");
        assert!(matches!(
            Cost::from_query(&query).check(&few),
            Err(SparqlError::TooLarge(_))
        ));
    }
}
