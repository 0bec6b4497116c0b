//! Conditions of outer filters that a request may contain.
//!
//! A filter outside of `SERVICE` is evaluated here (SPARQL 1.1, 18.6). Its condition is sent as well only where the endpoint then
//! returns at least the rows that pass here. Engines disagree about dates, durations, booleans, arithmetic, `NaN`, errors below a
//! negation, the case of language tags, and the text of values that the store keeps in their canonical form. So only the
//! forms below are sent, some of them weakened; every other condition stays here.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef};
use spargebra::algebra::{Expression, Function};

/// Integers up to this number are the same in all types of numbers.
const MAX_EXACT_INTEGER: f64 = 16_777_216.0;

/// Characters of the canonical forms of numbers, booleans, dates, times and durations.
const CANONICAL_CHARACTERS: &str = "0123456789+-.:trufalseINFaNEPYMDTHSZ";

/// Returns a condition that holds in every engine for each row for which `filter` holds here. `None` if there is none but `true`.
pub(super) fn portable_condition(filter: &Expression) -> Option<Expression> {
    match filter {
        Expression::And(a, b) => match (portable_condition(a), portable_condition(b)) {
            (Some(a), Some(b)) => Some(Expression::And(Box::new(a), Box::new(b))),
            // Without one of its parts, the condition holds for more rows, which is allowed.
            (one, other) => one.or(other),
        },
        // Without one of its parts, rows would be missing.
        Expression::Or(a, b) => Some(Expression::Or(
            Box::new(portable_condition(a)?),
            Box::new(portable_condition(b)?),
        )),
        Expression::Equal(a, b) | Expression::SameTerm(a, b) => equality_condition(a, b),
        Expression::In(value, list) => {
            // Some engines evaluate `IN` as a comparison of terms.
            let mut alternatives = Vec::with_capacity(list.len());
            for one in list {
                alternatives.push(equality_condition(value, one)?);
            }
            alternatives
                .into_iter()
                .reduce(|all, one| Expression::Or(Box::new(all), Box::new(one)))
        }
        // The bound is included: an engine that compares by doubles may round a number to it.
        Expression::Less(a, b) | Expression::LessOrEqual(a, b) => has_number(a, b)
            .then(|| Expression::LessOrEqual(Box::new((**a).clone()), Box::new((**b).clone()))),
        Expression::Greater(a, b) | Expression::GreaterOrEqual(a, b) => has_number(a, b)
            .then(|| Expression::GreaterOrEqual(Box::new((**a).clone()), Box::new((**b).clone()))),
        Expression::FunctionCall(Function::LangMatches, arguments) => match arguments.as_slice() {
            // A tag such as `en_US` is corrected here: its beginning matches there.
            [tag, Expression::Literal(range)] if is_call_of_variable(&Function::Lang, tag) => {
                let range = Expression::Literal(plain_tag(range)?);
                Some(call_expression(
                    Function::StrStarts,
                    vec![lower_case(tag.clone()), range],
                ))
            }
            _ => None,
        },
        Expression::FunctionCall(
            Function::Contains | Function::StrStarts | Function::StrEnds,
            arguments,
        ) => match arguments.as_slice() {
            [text, Expression::Literal(part)] if is_comparable_part(text, part) => {
                Some(with_repaired(filter, text, part))
            }
            _ => None,
        },
        Expression::FunctionCall(Function::IsIri | Function::IsLiteral, arguments) => {
            matches!(arguments.as_slice(), [Expression::Variable(_)]).then(|| filter.clone())
        }
        _ => None,
    }
}

/// Returns the condition for the equality of two operands, in any order.
fn equality_condition(a: &Expression, b: &Expression) -> Option<Expression> {
    let (value, constant) = if is_constant(a) { (b, a) } else { (a, b) };
    match (value, constant) {
        (Expression::Variable(_), Expression::NamedNode(name)) => {
            is_unrepaired(name.as_str()).then(|| equal_expression(value, constant))
        }
        (Expression::Variable(_), Expression::Literal(literal))
            if literal.datatype() == xsd::STRING =>
        {
            Some(equal_expression(value, constant))
        }
        (Expression::Variable(_), number) => {
            is_number(number).then(|| equal_expression(value, constant))
        }
        (Expression::FunctionCall(Function::Lang, _), Expression::Literal(literal))
            if is_call_of_variable(&Function::Lang, value) =>
        {
            let tag = Expression::Literal(plain_tag(literal)?);
            Some(equal_expression(&lower_case(value.clone()), &tag))
        }
        (Expression::FunctionCall(Function::Str, _), Expression::Literal(literal))
            if is_call_of_variable(&Function::Str, value) && is_kept_text(literal) =>
        {
            Some(equal_expression(value, constant))
        }
        _ => None,
    }
}

fn equal_expression(a: &Expression, b: &Expression) -> Expression {
    Expression::Equal(Box::new(a.clone()), Box::new(b.clone()))
}

fn is_constant(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::NamedNode(_) | Expression::Literal(_)
    ) || is_number(expression)
}

/// Returns true if one operand is a variable and the other a number that is the same in all types of numbers.
fn has_number(a: &Expression, b: &Expression) -> bool {
    match (a, b) {
        (Expression::Variable(_), number) | (number, Expression::Variable(_)) => is_number(number),
        _ => false,
    }
}

/// Returns true for a constant number that is the same in all types of numbers.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => is_exact_number(literal),
        Expression::UnaryMinus(number) => {
            matches!(&**number, Expression::Literal(literal) if is_exact_number(literal))
        }
        _ => false,
    }
}

/// Returns true for an integer or decimal that a float represents exactly.
fn is_exact_number(literal: &Literal) -> bool {
    let known: [NamedNodeRef<'_>; 2] = [xsd::INTEGER, xsd::DECIMAL];
    if !known.contains(&literal.datatype()) {
        return false;
    }
    let text = literal.value();
    // More digits may be lost by the conversion to a double already.
    let fraction = match text.split_once('.') {
        Some((_, fraction)) => fraction.len(),
        None => 0,
    };
    fraction <= 4 && text.parse().is_ok_and(is_exact_float)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the loss is what is tested"
)]
fn is_exact_float(number: f64) -> bool {
    number.abs() <= MAX_EXACT_INTEGER && f64::from(number as f32) == number
}

/// Returns true if every engine finds a constant part in the same texts.
fn is_comparable_part(text: &Expression, part: &Literal) -> bool {
    if part.datatype() != xsd::STRING {
        return false;
    }
    match text {
        // Strings alone have values.
        Expression::Variable(_) => true,
        Expression::FunctionCall(Function::LCase, arguments) => {
            // The small letters of other scripts differ between engines.
            part.value().is_ascii()
                && arguments
                    .first()
                    .is_some_and(|text| is_comparable_part(text, part))
        }
        Expression::FunctionCall(Function::Str, _) => {
            is_call_of_variable(&Function::Str, text) && is_kept_text(part)
        }
        _ => false,
    }
}

/// Returns a condition that all IRIs pass as well, if a part may begin within the escape of a repaired one: `%20abc` has `0abc`.
fn with_repaired(filter: &Expression, text: &Expression, part: &Literal) -> Expression {
    let mut text = text;
    while let Expression::FunctionCall(Function::LCase, arguments) = text
        && let [inner] = arguments.as_slice()
    {
        text = inner;
    }
    match text {
        Expression::FunctionCall(Function::Str, arguments)
            if part.value().starts_with(|c: char| c.is_ascii_hexdigit()) =>
        {
            let is_iri = call_expression(Function::IsIri, arguments.clone());
            Expression::Or(Box::new(is_iri), Box::new(filter.clone()))
        }
        _ => filter.clone(),
    }
}

/// Returns true for a text that `STR` returns only for terms whose text is the same at the endpoint: no canonical form contains it.
fn is_kept_text(literal: &Literal) -> bool {
    literal.datatype() == xsd::STRING
        && is_unrepaired(literal.value())
        && literal
            .value()
            .contains(|one| !CANONICAL_CHARACTERS.contains(one))
}

/// Returns false if a text may be part of an IRI whose forbidden characters were encoded here.
fn is_unrepaired(text: &str) -> bool {
    !text.contains('%')
}

/// Returns a language without subtags in lower case. `None` for other texts.
fn plain_tag(literal: &Literal) -> Option<Literal> {
    let text = literal.value();
    let is_plain = literal.datatype() == xsd::STRING
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_plain.then(|| Literal::from(text.to_ascii_lowercase()))
}

fn is_call_of_variable(function: &Function, expression: &Expression) -> bool {
    matches!(expression, Expression::FunctionCall(called, arguments)
        if called == function && matches!(arguments.as_slice(), [Expression::Variable(_)]))
}

fn lower_case(text: Expression) -> Expression {
    call_expression(Function::LCase, vec![text])
}

fn call_expression(function: Function, arguments: Vec<Expression>) -> Expression {
    Expression::FunctionCall(function, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::algebra::GraphPattern;
    use spargebra::{Query, SparqlParser};

    fn parse(filter: &str) -> Expression {
        let query = format!(
            "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT * {{ ?s ?p ?v FILTER({filter}) }}"
        );
        let query = SparqlParser::new().parse_query(&query).expect("a query");
        let Query::Select { pattern, .. } = query else {
            unreachable!()
        };
        let GraphPattern::Project { inner, .. } = pattern else {
            unreachable!()
        };
        let GraphPattern::Filter { expr, .. } = *inner else {
            unreachable!()
        };
        expr
    }

    #[test]
    fn conditions_are_sent_as_every_engine_evaluates_them() {
        for (filter, expected) in [
            ("?v = <x:a>", "?v = <x:a>"),
            ("'a' = ?v", "?v = 'a'"),
            ("?v = 5", "?v = 5"),
            ("sameTerm(?v, 5)", "?v = 5"),
            ("?v < 5", "?v <= 5"),
            ("5 < ?v", "5 <= ?v"),
            ("?v > 0.5", "?v >= 0.5"),
            ("?v >= -1000000", "?v >= -1000000"),
            ("?v IN (<x:a>, 'a', 2)", "?v = <x:a> || ?v = 'a' || ?v = 2"),
            ("?v = 1 && isNumeric(?v)", "?v = 1"),
            ("?v > 1 || ?v = 'a'", "?v >= 1 || ?v = 'a'"),
            ("LANG(?v) = 'EN'", "LCASE(LANG(?v)) = 'en'"),
            (
                "LANGMATCHES(LANG(?v), 'de')",
                "STRSTARTS(LCASE(LANG(?v)), 'de')",
            ),
            ("CONTAINS(?v, 'ä1')", "CONTAINS(?v, 'ä1')"),
            (
                "CONTAINS(LCASE(STR(?v)), 'oak tree')",
                "CONTAINS(LCASE(STR(?v)), 'oak tree')",
            ),
            (
                "CONTAINS(STR(?v), '20 m')",
                "isIRI(?v) || CONTAINS(STR(?v), '20 m')",
            ),
            ("STR(?v) = 'http://x/1'", "STR(?v) = 'http://x/1'"),
            ("isIRI(?v)", "isIRI(?v)"),
        ] {
            let condition = portable_condition(&parse(filter));
            assert_eq!(condition, Some(parse(expected)), "{filter}");
        }
    }

    #[test]
    fn other_conditions_stay_here() {
        for filter in [
            "?v + ?w > '2020-02-01'^^xsd:date",
            "?v > '2020-02-01'^^xsd:date",
            "?v = '2020-02-01T00:00:00Z'^^xsd:dateTime",
            "?v > 'P0M'^^xsd:yearMonthDuration",
            "?v < true",
            "?v < 'a'",
            "?v",
            "!(?v < 1)",
            "?v != <x:a>",
            "?v = ?w",
            "?v = 1e0",
            "?v < 0.1",
            "?v = 16777217",
            "?v < 0.50000000000000000000001",
            "?v IN (1, ?w)",
            "?v IN ()",
            "'2020-02-29'^^xsd:date IN (?v)",
            "?v = 'a'@en",
            "?v = <x:%20>",
            "LANG(?v) = 'en-us'",
            "LANG(?v) = ''",
            "LANGMATCHES(LANG(?v), '*')",
            "STR(?v) = 'true'",
            "STR(?v) = '1'",
            "STRSTARTS(STR(?v), '2020-')",
            "CONTAINS(STR(?v), '20')",
            "CONTAINS(LCASE(?v), 'ß')",
            "CONTAINS(UCASE(?v), 'SS')",
            "STRLEN(?v) = 4",
            "YEAR(?v) = 2020",
            "DATATYPE(?v) = xsd:integer",
            "isNumeric(?v)",
            "REGEX(?v, 'a')",
            "COALESCE(?v = 1, true)",
            "IF(?v = 1, true, false)",
            "?v = 1 || !BOUND(?w)",
            "EXISTS { ?v ?x 1 }",
            "2 * ?v = 2",
        ] {
            assert_eq!(portable_condition(&parse(filter)), None, "{filter}");
        }
    }
}
