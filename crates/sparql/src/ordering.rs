//! A total order for `ORDER BY`.
//!
//! Oxigraph compares two numbers, dates or durations by value, but a number with a string, or a date with a number, by their texts.
//! Values without a defined order (`NaN`, times with and without a timezone, months and days) are compared by text, too. This relation
//! is not transitive: `9 < 10` and `10 < "5"` and `"5" < 9`. A sort by it has no defined result, and the sort of the standard library
//! may panic.
//!
//! `ORDER BY e` is therefore evaluated as `BIND(key(e) AS ?key) ORDER BY ?key`. Keys are compared as Oxigraph compares their terms:
//! blank nodes, IRIs, strings, triple terms. The key of a literal is always a string, so that all comparisons of literals are of one
//! kind. Literals have this order:
//!
//! 1. numbers by value, where a decimal and a double of the same shortest decimal notation are equal; `NaN` after them;
//! 2. dates and times, datatype by datatype, by value; those without a timezone as if in UTC;
//! 3. durations by value, where a month has 30.436875 days;
//! 4. all others, strings with and without a language among them, by text, then by language or datatype.
//!
//! Each is an extension of the operator `<` of SPARQL 1.1, section 15.1. A key is computed once for a row, not for each comparison.

use super::algebra::{each_child, each_exists};
use oxigraph::sparql::SparqlEvaluator;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Triple, Variable};
use oxsdatatypes::{
    Date, DateTime, Decimal, Double, Duration, Float, GDay, GMonth, GMonthDay, GYear, GYearMonth,
    Integer, Time,
};
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};
use std::iter::once;
use std::mem;
use std::str::FromStr;

/// Name of the function that computes keys. It is no part of the vocabulary for queries.
const SORT_KEY: &str = "urn:lodeseek:sort-key";
/// First character of the keys of all literals that are not ordered by text.
const MARK: char = '\0';
/// Length of a mean month of the Gregorian calendar, in seconds.
const SECONDS_OF_MONTH: i128 = 2_629_746;
/// Decimals are stored as multiples of 10 to the power of this.
const DECIMAL_EXPONENT: i32 = -18;
/// Code point that stands for zero. Those of positive and negative numbers are above and below.
const ZERO: i32 = 0x1000;
const NEGATIVE_INFINITY: i32 = 0x0c00;
const INFINITY: i32 = 0x1400;
const NOT_A_NUMBER: i32 = 0x1401;
/// Integers, as Oxigraph reads them.
pub(super) const INTEGERS: [NamedNodeRef<'_>; 13] = [
    xsd::INTEGER,
    xsd::BYTE,
    xsd::SHORT,
    xsd::INT,
    xsd::LONG,
    xsd::UNSIGNED_BYTE,
    xsd::UNSIGNED_SHORT,
    xsd::UNSIGNED_INT,
    xsd::UNSIGNED_LONG,
    xsd::POSITIVE_INTEGER,
    xsd::NEGATIVE_INTEGER,
    xsd::NON_POSITIVE_INTEGER,
    xsd::NON_NEGATIVE_INTEGER,
];

/// Replaces the expressions of each `ORDER BY` of a query by their keys.
pub(super) fn use_keys(query: &mut Query) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    KeyInserter::default().visit(pattern);
}

/// Adds the function that computes keys to an evaluator.
pub(super) fn with_function(evaluator: SparqlEvaluator) -> SparqlEvaluator {
    evaluator.with_custom_function(NamedNode::new_unchecked(SORT_KEY), |arguments| {
        arguments.first().map(sort_key)
    })
}

#[derive(Default)]
struct KeyInserter {
    keys: usize,
}

impl KeyInserter {
    fn visit(&mut self, pattern: &mut GraphPattern) {
        if matches!(pattern, GraphPattern::Service { .. }) {
            return; // it is evaluated elsewhere
        }
        each_exists(pattern, &mut |inner| self.visit(inner));
        each_child(pattern, &mut |inner| self.visit(inner));
        if let GraphPattern::OrderBy { inner, expression } = pattern {
            for order in expression {
                self.insert(inner, order);
            }
        }
    }

    /// Binds the key of an expression in the sorted pattern, and sorts by it.
    ///
    /// The projection of the query, which is above each `ORDER BY`, removes the variable.
    fn insert(&mut self, sorted: &mut Box<GraphPattern>, order: &mut OrderExpression) {
        let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
        self.keys += 1;
        // No query can contain this name.
        let variable = Variable::new_unchecked(format!("sort key {}", self.keys));
        let argument = mem::replace(expression, variable.clone().into());
        let name = Function::Custom(NamedNode::new_unchecked(SORT_KEY));
        let inner = mem::take(sorted);
        let expression = Expression::FunctionCall(name, vec![argument]);
        **sorted = GraphPattern::Extend {
            inner,
            variable,
            expression,
        };
    }
}

/// Returns the key of a term.
fn sort_key(term: &Term) -> Term {
    match term {
        Term::NamedNode(_) | Term::BlankNode(_) => term.clone(),
        Term::Literal(literal) => match value_sort_key(literal) {
            Some(key) => Literal::from(key).into(),
            None => text_key(literal).into(),
        },
        Term::Triple(triple) => {
            let Triple {
                subject,
                predicate,
                object,
            } = triple.as_ref();
            Triple::new(subject.clone(), predicate.clone(), sort_key(object)).into()
        }
    }
}

/// Returns the key of a literal that is ordered by its text.
fn text_key(literal: &Literal) -> Literal {
    let value = literal.value();
    let text = match literal.language() {
        Some(language) => format!("{value}{MARK}@{language}"),
        None if literal.datatype() == xsd::STRING => value.to_owned(),
        None => format!("{value}{MARK}{}", literal.datatype().as_str()),
    };
    // Texts follow all keys with the mark, and keep their order.
    Literal::from(if value.is_empty() || value.starts_with(MARK) {
        format!("{MARK}~{text}")
    } else {
        text
    })
}

/// Returns the key of a literal that `ORDER BY` orders by its value: a number, date, time or duration. `None` for other or invalid
/// literals. The order of the keys as texts is that of `ORDER BY`. They precede all texts that do not begin with a NUL character.
///
/// ```
/// use lodeseek_sparql::value_sort_key;
/// use oxrdf::Literal;
/// assert!(value_sort_key(&Literal::from(9)) < value_sort_key(&Literal::from(10)));
/// assert_eq!(value_sort_key(&Literal::from("10")), None);
/// ```
#[must_use]
pub fn value_sort_key(literal: &Literal) -> Option<String> {
    let text = literal.value();
    let (class, number) = match literal.datatype() {
        xsd::DECIMAL => ('0', decimal_key(parse::<Decimal>(text)?.to_be_bytes())),
        xsd::DOUBLE => (
            '0',
            number_key(&format!("{:e}", f64::from(parse::<Double>(text)?)), 0),
        ),
        xsd::FLOAT => (
            '0',
            number_key(
                &format!("{:e}", f64::from(f32::from(parse::<Float>(text)?))),
                0,
            ),
        ),
        xsd::DATE_TIME | xsd::DATE_TIME_STAMP => (
            '1',
            decimal_key(timeline_seconds(&parse::<DateTime>(text)?.to_be_bytes())?),
        ),
        xsd::DATE => (
            '2',
            decimal_key(timeline_seconds(&parse::<Date>(text)?.to_be_bytes())?),
        ),
        xsd::TIME => (
            '3',
            decimal_key(timeline_seconds(&parse::<Time>(text)?.to_be_bytes())?),
        ),
        xsd::G_YEAR_MONTH => (
            '4',
            decimal_key(timeline_seconds(&parse::<GYearMonth>(text)?.to_be_bytes())?),
        ),
        xsd::G_YEAR => (
            '5',
            decimal_key(timeline_seconds(&parse::<GYear>(text)?.to_be_bytes())?),
        ),
        xsd::G_MONTH_DAY => (
            '6',
            decimal_key(timeline_seconds(&parse::<GMonthDay>(text)?.to_be_bytes())?),
        ),
        xsd::G_DAY => (
            '7',
            decimal_key(timeline_seconds(&parse::<GDay>(text)?.to_be_bytes())?),
        ),
        xsd::G_MONTH => (
            '8',
            decimal_key(timeline_seconds(&parse::<GMonth>(text)?.to_be_bytes())?),
        ),
        xsd::DURATION | xsd::YEAR_MONTH_DURATION | xsd::DAY_TIME_DURATION => {
            ('9', duration_key(parse(text)?)?)
        }
        datatype if INTEGERS.contains(&datatype) => (
            '0',
            number_key(&format!("{:e}", i64::from(parse::<Integer>(text)?)), 0),
        ),
        _ => return None,
    };
    Some(format!("{MARK}{class}{number}"))
}

fn parse<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// Returns the seconds of a value with a timeline, in units of decimals. `oxsdatatypes` stores them before the timezone.
fn timeline_seconds(bytes: &[u8; 18]) -> Option<[u8; 16]> {
    bytes.first_chunk().copied()
}

fn decimal_key(bytes: [u8; 16]) -> String {
    number_key(
        &format!("{:e}", i128::from_be_bytes(bytes)),
        DECIMAL_EXPONENT,
    )
}

/// Returns the key of a duration. Durations of more than a trillion years are equal.
fn duration_key(duration: Duration) -> Option<String> {
    let bytes = duration.to_be_bytes();
    let (months, seconds) = bytes.split_first_chunk()?;
    let months =
        i128::from(i64::from_be_bytes(*months)).saturating_mul(SECONDS_OF_MONTH * 10_i128.pow(18));
    let seconds = i128::from_be_bytes(*seconds.first_chunk()?);
    Some(decimal_key(months.saturating_add(seconds).to_be_bytes()))
}

/// Returns a text for a number, so that the order of texts is the order of numbers.
///
/// The number is written as Rust's `{:e}`, which is exact for integers and the shortest notation for doubles, times 10 to the power of
/// `exponent`. The text has one character for sign and exponent, and then the digits. Those of negative numbers are subtracted from nine
/// and followed by a character after all digits, since further digits make the number smaller.
fn number_key(number: &str, exponent: i32) -> String {
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let Some((digits, power)) = number.split_once('e') else {
        let at = if number != "inf" {
            NOT_A_NUMBER
        } else if is_negative {
            NEGATIVE_INFINITY
        } else {
            INFINITY
        };
        return to_character(at).to_string();
    };
    let digits = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|digit| digit - b'0');
    if digits.clone().all(|digit| digit == 0) {
        return to_character(ZERO).to_string();
    }
    // At least 1: the exponents of doubles and decimals are between -324 and 308.
    let magnitude = power.parse().unwrap_or(0) + exponent + 400;
    if is_negative {
        let complement = digits.map(|digit| char::from(b'9' - digit));
        once(to_character(ZERO - magnitude))
            .chain(complement)
            .chain(once('~'))
            .collect()
    } else {
        once(to_character(ZERO + magnitude))
            .chain(digits.map(|digit| char::from(b'0' + digit)))
            .collect()
    }
}

/// Returns the character of a code point. UTF-8 preserves the order of code points.
fn to_character(code_point: i32) -> char {
    u32::try_from(code_point)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or(char::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, QueryEngine, QueryRequest, SparqlLimits};
    use lodeseek_catalog::Iris;
    use lodeseek_store::Store;
    use oxigraph::sparql::QueryResults;
    use proptest::prelude::*;
    use std::fmt::Write;
    use std::sync::Arc;

    /// Returns the values of a column of the solutions, in their order.
    fn column(query: &str) -> Vec<Option<Term>> {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let engine = QueryEngine::new(Arc::new(
            Store::in_memory(folder.path(), iris).expect("a store"),
        ));
        let request = QueryRequest {
            query: query.to_owned(),
            ..QueryRequest::default()
        };
        match engine.evaluate(&request, &SparqlLimits::default()) {
            Ok(Answer::Solutions { rows, .. }) => {
                rows.into_iter().map(|mut row| row.swap_remove(0)).collect()
            }
            other => panic!("{query}: {other:?}"),
        }
    }

    /// Returns the terms in the order of a query.
    fn sorted(terms: &[Term], order: &str) -> Vec<Term> {
        let values: String = terms.iter().fold(String::new(), |mut values, term| {
            write!(values, "({term})").expect("written");
            values
        });
        column(&format!(
            "SELECT ?x {{ VALUES (?x) {{ {values} }} }} ORDER BY {order}"
        ))
        .into_iter()
        .flatten()
        .collect()
    }

    fn typed(value: impl ToString, datatype: NamedNodeRef<'_>) -> Term {
        Literal::new_typed_literal(value.to_string(), datatype).into()
    }

    /// Numbers that differ little, or that no other datatype represents exactly.
    fn number() -> impl Strategy<Value = Term> {
        let near = (any::<i8>(), 0..4_u32)
            .prop_map(|(small, power)| i64::from(small) * 3_i64.pow(10 * power));
        prop_oneof![
            near.clone().prop_map(|value| typed(value, xsd::INTEGER)),
            any::<u8>().prop_map(|value| typed(value, xsd::UNSIGNED_BYTE)),
            ((1_i64 << 53) - 2..(1 << 53) + 3).prop_map(|value| typed(value, xsd::INTEGER)),
            ((1_i64 << 53) - 2..(1 << 53) + 3)
                .prop_map(|value| typed(format!("{value}e0"), xsd::DOUBLE)),
            (near, 0..1000_u32)
                .prop_map(|(value, digits)| typed(format!("{value}.{digits:03}"), xsd::DECIMAL)),
            (any::<i8>(), -3..3_i32)
                .prop_map(|(value, power)| typed(format!("{value}e{power}"), xsd::DOUBLE)),
            (any::<i8>(), -3..3_i32)
                .prop_map(|(value, power)| typed(format!("{value}e{power}"), xsd::FLOAT)),
            any::<f64>().prop_map(|value| Literal::from(value).into()),
            any::<f32>().prop_map(|value| Literal::from(value).into()),
        ]
    }

    fn timezone() -> impl Strategy<Value = &'static str> {
        prop_oneof![Just(""), Just("Z"), Just("+14:00"), Just("-05:30")]
    }

    fn time() -> impl Strategy<Value = Term> {
        (
            1..9999_u32,
            1..13_u32,
            1..29_u32,
            0..24_u32,
            timezone(),
            0..8,
        )
            .prop_map(|(year, month, day, hour, zone, class)| match class {
                0 | 1 => typed(
                    format!("{year:04}-{month:02}-{day:02}T{hour:02}:07:59.5{zone}"),
                    xsd::DATE_TIME,
                ),
                2 => typed(format!("{year:04}-{month:02}-{day:02}{zone}"), xsd::DATE),
                3 => typed(format!("{hour:02}:07:59{zone}"), xsd::TIME),
                4 => typed(format!("{year:04}-{month:02}{zone}"), xsd::G_YEAR_MONTH),
                5 => typed(format!("{year:04}{zone}"), xsd::G_YEAR),
                6 => typed(format!("--{month:02}-{day:02}{zone}"), xsd::G_MONTH_DAY),
                _ => typed(format!("---{day:02}{zone}"), xsd::G_DAY),
            })
    }

    fn duration() -> impl Strategy<Value = Term> {
        prop_oneof![
            (any::<bool>(), any::<u16>(), any::<u16>()).prop_map(|(negative, months, hours)| {
                typed(
                    format!("{}P{months}MT{hours}H", if negative { "-" } else { "" }),
                    xsd::DURATION,
                )
            }),
            (0..30_u32).prop_map(|months| typed(format!("P{months}M"), xsd::YEAR_MONTH_DURATION)),
            (0..900_u32).prop_map(|days| typed(format!("P{days}D"), xsd::DAY_TIME_DURATION)),
        ]
    }

    fn text() -> impl Strategy<Value = Term> {
        let text = prop_oneof!["[0-9]{0,3}", "[a-c~ä𝄞]{0,3}", "\u{1}[a-c]{0,2}"];
        (text, 0..5).prop_map(|(text, class)| match class {
            0 | 1 => Literal::from(text).into(),
            2 => Literal::new_language_tagged_literal_unchecked(text, "de").into(),
            3 => Literal::new_language_tagged_literal_unchecked(text, "en").into(),
            _ => typed(text, NamedNodeRef::new_unchecked("urn:datatype")),
        })
    }

    fn literal() -> impl Strategy<Value = Term> {
        let other = prop_oneof![
            Just(typed("true", xsd::BOOLEAN)),
            Just(typed("false", xsd::BOOLEAN)),
            Just(typed("x", xsd::DATE))
        ];
        prop_oneof![4 => number(), 3 => time(), 2 => duration(), 3 => text(), 1 => other]
    }

    fn term() -> impl Strategy<Value = Term> {
        let node = (0..3).prop_map(|number| NamedNode::new_unchecked(format!("urn:{number}")));
        let triple = (node.clone(), literal())
            .prop_map(|(node, value)| Triple::new(node.clone(), node, value).into());
        prop_oneof![1 => node.prop_map(Term::from), 8 => literal(), 1 => triple]
    }

    fn key_text(term: &Term) -> String {
        match sort_key(term) {
            Term::Literal(literal) if literal.datatype() == xsd::STRING => {
                literal.value().to_owned()
            }
            other => panic!("{other}"),
        }
    }

    /// Maximum number of sorted terms: so few are sorted by insertion, which needs no total order.
    const MAX_TERMS: usize = 20;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn mixed_terms_have_one_order(mut terms in prop::collection::vec(term(), 2..MAX_TERMS), turn in any::<usize>()) {
            let once = sorted(&terms, "?x");
            prop_assert_eq!(once.len(), terms.len());
            let turn = turn % terms.len();
            terms.rotate_left(turn);
            let keys = |terms: Vec<Term>| terms.iter().map(sort_key).collect::<Vec<_>>();
            prop_assert_eq!(&keys(sorted(&terms, "?x")), &keys(once.clone()));
            let mut reverse = keys(sorted(&terms, "DESC(?x)"));
            reverse.reverse();
            prop_assert_eq!(reverse, keys(once));
        }

        /// Plain Oxigraph evaluates `<`, which orders numbers, times, durations and texts, each among themselves.
        #[test]
        fn the_order_extends_the_operator_less_than(literals in prop::collection::vec(literal(), 2..80)) {
            let values: String = literals.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let query = format!("SELECT ?a ?b {{ VALUES ?a {{ {values} }} VALUES ?b {{ {values} }} FILTER(?a < ?b) }}");
            let store = oxigraph::store::Store::new().expect("a store");
            let results = SparqlEvaluator::new().parse_query(&query).expect("a query").on_store(&store).execute();
            let QueryResults::Solutions(solutions) = results.expect("results") else { panic!("no solutions") };
            for solution in solutions {
                let solution = solution.expect("a solution");
                let (a, b) = (&solution["a"], &solution["b"]);
                prop_assert!(key_text(a) < key_text(b), "{} {}", a, b);
            }
        }
    }

    /// Returns a value in the syntax of a query.
    fn format_value(value: Option<Term>) -> String {
        match value {
            Some(term) => term.to_string(),
            None => "UNDEF".to_owned(),
        }
    }

    #[test]
    fn kinds_of_terms_have_the_order_of_the_specification() {
        let query = "SELECT ?x { VALUES ?x { '' 'b' 'a'@en true 1e400 'NaN'^^<http://www.w3.org/2001/XMLSchema#double> 10 9.5 -1 \
                     'a' <urn:i> UNDEF <<(<urn:i> <urn:i> 2)>> <<(<urn:i> <urn:i> 10)>> } } ORDER BY";
        let up: Vec<String> = column(&format!("{query} ?x"))
            .into_iter()
            .map(format_value)
            .collect();
        let xsd = "^^<http://www.w3.org/2001/XMLSchema#";
        let expected = [
            "UNDEF".to_owned(),
            "<urn:i>".to_owned(),
            format!("\"-1\"{xsd}integer>"),
            format!("\"9.5\"{xsd}decimal>"),
            format!("\"10\"{xsd}integer>"),
            format!("\"INF\"{xsd}double>"),
            format!("\"NaN\"{xsd}double>"),
            "\"\"".to_owned(),
            "\"a\"".to_owned(),
            "\"a\"@en".to_owned(),
            "\"b\"".to_owned(),
            format!("\"true\"{xsd}boolean>"),
            format!("<<( <urn:i> <urn:i> \"2\"{xsd}integer> )>>"),
            format!("<<( <urn:i> <urn:i> \"10\"{xsd}integer> )>>"),
        ];
        assert_eq!(up, expected);
        let mut down: Vec<String> = column(&format!("{query} DESC(?x)"))
            .into_iter()
            .map(format_value)
            .collect();
        down.reverse();
        assert_eq!(down, expected);
    }

    #[test]
    fn further_expressions_and_inner_queries_are_sorted_alike() {
        let pairs = "VALUES (?x ?y) { (1 'b') (1.0 2) (1e0 'a') (0 3) ('0' 4) }";
        let by_both = column(&format!("SELECT ?y {{ {pairs} }} ORDER BY DESC(?x) ?y"));
        let inner = column(&format!(
            "SELECT ?y {{ {{ SELECT ?x ?y {{ {pairs} }} ORDER BY ?x DESC(?y) LIMIT 2 }} }} ORDER BY ?y"
        ));
        let texts = |terms: Vec<Option<Term>>| {
            terms
                .iter()
                .flatten()
                .map(|term| term.to_string().chars().nth(1).unwrap_or(' '))
                .collect::<String>()
        };
        assert_eq!(
            texts(by_both),
            "42ab3",
            "equal numbers are sorted by the second expression"
        );
        assert_eq!(texts(inner), "3b");
    }
}
