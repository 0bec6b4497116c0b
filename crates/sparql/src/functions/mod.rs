//! Functions and operators whose evaluation in Oxigraph deviates from the specification: `REGEX`, `REPLACE`, `GROUP_CONCAT`, `+`, `<`
//! between booleans, `NaN` and large numbers, `*` and `/` of durations, casts, `BNODE` with an argument, `isNumeric`, and `STRDT`.
//!
//! Before a query is evaluated, calls whose value would differ become calls of functions of ours. Other calls remain: so most
//! expressions keep the speed of Oxigraph. A call remains if its arguments decide that both values are the same: a pattern without
//! special characters, a sum with a number, a comparison with a date.

mod arithmetic;
mod pattern;

use super::algebra::{
    each_child, each_exists, expressions_mut, expressions_of, operands_mut, operands_of,
};
use super::geometry;
use super::ordering::INTEGERS;
use oxigraph::sparql::{AggregateFunctionAccumulator, SparqlEvaluator};
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, Term, Variable};
use pattern::Pattern;
use rustc_hash::FxHashMap;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern,
};
use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Beginning of the names of all functions that this program adds to queries.
const RESERVED: &str = "urn:lodeseek:";
/// Beginning of the names of the functions. They are no part of the vocabulary for queries.
const PREFIX: &str = "urn:lodeseek:function:";
/// Separator of `GROUP_CONCAT` if the query states none.
const DEFAULT_SEPARATOR: &str = " ";
/// Maximum number of patterns that a call keeps compiled, if its pattern is computed.
const MAX_CACHED_PATTERNS: usize = 64;
/// Characters of a plain pattern that are special elsewhere. `^` and `$` are the same for Oxigraph.
const SPECIAL_CHARACTERS: [char; 12] =
    ['\\', '.', '?', '*', '+', '(', ')', '[', ']', '{', '}', '|'];
/// Maximum number of parts of two operands that are evaluated twice: by Oxigraph, which is faster, and then by this module. Longer ones
/// are evaluated by this module alone, since nested expressions would double with each level.
const MAX_REPEATED_PARTS: usize = 8;
/// Casts from strings.
const CASTS: [NamedNodeRef<'_>; 17] = [
    xsd::BOOLEAN,
    xsd::INTEGER,
    xsd::DECIMAL,
    xsd::FLOAT,
    xsd::DOUBLE,
    xsd::DATE_TIME,
    xsd::DATE,
    xsd::TIME,
    xsd::DURATION,
    xsd::YEAR_MONTH_DURATION,
    xsd::DAY_TIME_DURATION,
    xsd::G_YEAR,
    xsd::G_YEAR_MONTH,
    xsd::G_MONTH,
    xsd::G_MONTH_DAY,
    xsd::G_DAY,
    xsd::STRING,
];
/// Functions of this module whose values may be booleans, `NaN` or large numbers.
const MAY_BE_SPECIAL: [&str; 4] = ["add:", "multiply:", "divide:", "strdt:"];
/// Datatypes of numbers, except those derived from integers.
const NUMBERS: [NamedNodeRef<'_>; 4] = [xsd::INTEGER, xsd::DECIMAL, xsd::FLOAT, xsd::DOUBLE];

type Implementation = Arc<dyn Fn(&[Term]) -> Option<Term> + Send + Sync>;

/// Functions that a query calls after [`replace_calls`].
#[derive(Default)]
pub(super) struct Functions {
    functions: Vec<(NamedNode, Implementation)>,
    /// Names of `GROUP_CONCAT` and their separators.
    aggregates: Vec<(NamedNode, String)>,
    /// Hash functions for the blank nodes of this query.
    hashers: Option<[RandomState; 2]>,
}

impl Functions {
    /// Adds the functions to an evaluator.
    pub(super) fn register(self, mut evaluator: SparqlEvaluator) -> SparqlEvaluator {
        for (name, function) in self.functions {
            evaluator = evaluator.with_custom_function(name, move |arguments| function(arguments));
        }
        for (name, separator) in self.aggregates {
            evaluator = evaluator.with_custom_aggregate_function(name, move || {
                Box::new(Concatenation::new(separator.clone()))
            });
        }
        evaluator
    }
}

/// Replaces the calls of a query whose value would deviate.
pub(super) fn replace_calls(query: &mut Query) -> Functions {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut rewriter = Rewriter::default();
    rewriter.visit(pattern);
    rewriter.functions
}

#[derive(Default)]
struct Rewriter {
    functions: Functions,
    /// Number of variables that identify solutions.
    solutions: usize,
    /// Variable that identifies the solution in which the current expression is evaluated.
    solution: Option<Variable>,
    /// Depth of nested `COALESCE` around the current expression.
    coalesces: usize,
}

impl Rewriter {
    fn visit(&mut self, pattern: &mut GraphPattern) {
        self.visit_solution(pattern, None);
    }

    /// Visits a pattern. `solution` identifies its solutions, if a pattern above it has calls of `BNODE` that need it.
    fn visit_solution(&mut self, pattern: &mut GraphPattern, solution: Option<Variable>) {
        if let GraphPattern::Service { .. } = pattern {
            return; // it is evaluated elsewhere
        }
        each_exists(pattern, &mut |inner| self.visit(inner));
        let solution = solution.or_else(|| self.identify_solutions(pattern));
        let inside = solution.clone().filter(|_| keeps_solutions(pattern));
        each_child(pattern, &mut |inner| {
            self.visit_solution(inner, inside.clone())
        });
        self.solution = solution;
        for expression in expressions_mut(pattern) {
            self.replace(expression);
        }
        self.solution = None;
        if let GraphPattern::Group { aggregates, .. } = pattern {
            for (_, aggregate) in aggregates {
                self.replace_aggregate(aggregate);
            }
        }
    }

    /// Binds a variable to a new blank node in each solution, if an expression over these solutions calls `BNODE` with an argument.
    /// Expressions of one `SELECT` clause, and those of adjacent `BIND`, `FILTER` and `ORDER BY`, are evaluated in one solution.
    fn identify_solutions(&mut self, pattern: &mut GraphPattern) -> Option<Variable> {
        let mut place = &*pattern;
        let mut is_needed = expressions_of(place).into_iter().any(names_blank_nodes);
        while keeps_solutions(place) {
            place = inner_pattern(place)?;
            is_needed |=
                keeps_solutions(place) && expressions_of(place).into_iter().any(names_blank_nodes);
        }
        if !is_needed {
            return None;
        }
        let mut place = match pattern {
            GraphPattern::Group { inner, .. } => &mut **inner,
            other if keeps_solutions(other) => other,
            _ => return None, // the condition of a left join: its blank nodes equal no other term
        };
        while let GraphPattern::Extend { inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::OrderBy { inner, .. } = place
        {
            place = inner;
        }
        self.solutions += 1;
        // No query can contain this name.
        let variable = Variable::new_unchecked(format!("solution {}", self.solutions));
        *place = GraphPattern::Extend {
            inner: Box::new(mem::take(place)),
            variable: variable.clone(),
            expression: Expression::FunctionCall(Function::BNode, Vec::new()),
        };
        Some(variable)
    }

    /// Replaces the calls in an expression, the inner ones first. Patterns of `EXISTS` are not visited.
    fn replace(&mut self, expression: &mut Expression) {
        let is_coalesce = matches!(expression, Expression::Coalesce(_));
        self.coalesces += usize::from(is_coalesce);
        for operand in operands_mut(expression) {
            self.replace(operand);
        }
        self.coalesces -= usize::from(is_coalesce);
        match expression {
            Expression::Add(a, b) if !is_number(a) && !is_number(b) => {
                let operands = vec![
                    mem::replace(&mut **a, placeholder()),
                    mem::replace(&mut **b, placeholder()),
                ];
                *expression = self.call("add", operands, |arguments| match arguments {
                    [left, right] => arithmetic::add(left, right),
                    _ => None,
                });
            }
            Expression::Multiply(a, b) if !(is_numeric(a) && is_numeric(b)) => {
                self.replace_product(expression, "multiply", arithmetic::multiply);
            }
            Expression::Divide(a, b) if !(is_numeric(a) && is_numeric(b)) => {
                self.replace_product(expression, "divide", arithmetic::divide);
            }
            Expression::Equal(a, b) if is_large_literal(a) || is_large_literal(b) => {
                let operands = vec![(**a).clone(), (**b).clone()];
                let compared = self.comparison("equal", operands, |order| order == Ordering::Equal);
                // Oxigraph is faster. Where it fails, the other function decides.
                *expression =
                    Expression::Coalesce(vec![mem::replace(expression, placeholder()), compared]);
            }
            Expression::Less(a, b)
            | Expression::Greater(a, b)
            | Expression::LessOrEqual(a, b)
            | Expression::GreaterOrEqual(a, b)
                if may_be_special(a) && (may_be_special(b) || is_numeric(b))
                    || is_numeric(a) && may_be_special(b) =>
            {
                self.replace_comparison(expression);
            }
            Expression::FunctionCall(function, arguments) => {
                if let Some(replaced) = self.replaced_call(function, arguments) {
                    *expression = replaced;
                }
            }
            _ => {}
        }
    }

    /// Replaces a product or quotient whose operands may be durations. Short ones are left to Oxigraph first.
    fn replace_product(
        &mut self,
        expression: &mut Expression,
        name: &str,
        evaluate: fn(&Term, &Term) -> Option<Term>,
    ) {
        let operands: Vec<Expression> = operands_of(expression).into_iter().cloned().collect();
        let is_short = operands.iter().map(count_parts).sum::<usize>() <= MAX_REPEATED_PARTS;
        let product = self.call(name, operands, move |arguments| match arguments {
            [left, right] => evaluate(left, right),
            _ => None,
        });
        *expression = if is_short {
            Expression::Coalesce(vec![mem::replace(expression, placeholder()), product])
        } else {
            product
        };
    }

    /// Replaces a comparison of terms that may be booleans, `NaN` or large numbers. Variables and literals are compared by Oxigraph
    /// first, which is faster; other operands by this module alone, since nested comparisons would double with each level.
    fn replace_comparison(&mut self, expression: &mut Expression) {
        let (name, a, b, is_strict) = match expression {
            Expression::Less(a, b) => ("less", a, b, true),
            Expression::Greater(a, b) => ("less", b, a, true),
            Expression::LessOrEqual(a, b) => ("less-or-equal", a, b, false),
            Expression::GreaterOrEqual(a, b) => ("less-or-equal", b, a, false),
            _ => return,
        };
        let is_plain = is_operand(a) && is_operand(b);
        let operands = vec![
            mem::replace(&mut **a, placeholder()),
            mem::replace(&mut **b, placeholder()),
        ];
        let first = is_plain.then(|| {
            let [a, b] = [&operands[0], &operands[1]].map(|operand| Box::new(operand.clone()));
            // Oxigraph evaluates `NaN <= NaN` as true.
            if is_strict {
                Expression::Less(a, b)
            } else if may_be_special(&a) && may_be_special(&b) {
                Expression::Or(
                    Box::new(Expression::Less(a.clone(), b.clone())),
                    Box::new(Expression::Equal(a, b)),
                )
            } else {
                Expression::LessOrEqual(a, b)
            }
        });
        let compared = if is_strict {
            self.comparison(name, operands, |order| order == Ordering::Less)
        } else {
            self.comparison(name, operands, |order| order != Ordering::Greater)
        };
        *expression = match first {
            Some(first) => Expression::Coalesce(vec![first, compared]),
            None => compared,
        };
    }

    /// Returns a call that compares two operands. A comparison with `NaN` is false (Functions and Operators 3.1, 4.3).
    fn comparison(
        &mut self,
        name: &str,
        operands: Vec<Expression>,
        holds: fn(Ordering) -> bool,
    ) -> Expression {
        self.call(name, operands, move |arguments| {
            let [left, right] = arguments else {
                return None;
            };
            let order = arithmetic::compare(left, right)?;
            Some(Literal::from(order.is_some_and(holds)).into())
        })
    }

    /// Returns the expression that takes the place of a call, or `None` if it remains.
    fn replaced_call(
        &mut self,
        function: &Function,
        arguments: &mut Vec<Expression>,
    ) -> Option<Expression> {
        match (function, arguments.as_slice()) {
            (Function::Regex, [_, pattern, flags @ ..])
                if !is_plain_pattern(pattern, flags.first()) =>
            {
                let compiled = Patterns::new(pattern, flags.first());
                Some(self.call("regex", mem::take(arguments), move |terms| {
                    let text = text_of(terms.first()?)?;
                    let pattern = compiled.find(terms.get(1)?, terms.get(2))?;
                    pattern
                        .is_match(text)
                        .map(|value| Literal::from(value).into())
                }))
            }
            (Function::Replace, [_, pattern, replacement, flags @ ..])
                if !is_plain_replacement(pattern, replacement, flags.first()) =>
            {
                let compiled = Patterns::new(pattern, flags.first());
                Some(self.call("replace", mem::take(arguments), move |terms| {
                    let text = text_of(terms.first()?)?;
                    let pattern = compiled.find(terms.get(1)?, terms.get(3))?;
                    let replaced = pattern.replace(text, simple_text(terms.get(2)?)?)?;
                    with_text(terms.first()?, replaced)
                }))
            }
            (Function::Custom(name), [argument]) if CASTS.contains(&name.as_ref()) => {
                if is_exact(argument) && name.as_ref() != xsd::STRING {
                    return None;
                }
                let prepare = preparation_of_cast(name.as_ref());
                let argument = mem::replace(&mut arguments[0], placeholder());
                let leap_day = (name.as_ref() == xsd::G_MONTH_DAY).then(|| {
                    self.call("leap-day", vec![argument.clone()], |terms| {
                        arithmetic::leap_day(terms.first()?)
                    })
                });
                arguments[0] = self.call("argument", vec![argument], move |terms| {
                    prepare(terms.first()?)
                });
                let cast = Expression::FunctionCall(function.clone(), mem::take(arguments));
                Some(match leap_day {
                    Some(leap_day) => Expression::Coalesce(vec![leap_day, cast]),
                    None => cast,
                })
            }
            (Function::Custom(name), _) if self.coalesces > 0 && !is_known_function(name) => {
                // An error is what `COALESCE` is for (SPARQL 1.1, 17.4.1.3 and 17.6).
                Some(self.call("unknown", Vec::new(), |_| None))
            }
            (Function::BNode, [_]) => {
                let solution = self.solution.clone().map(Expression::Variable);
                let arguments = mem::take(arguments).into_iter().chain(solution).collect();
                // With random keys, the blank nodes differ from those of other queries.
                let hashers = [RandomState::new(), RandomState::new()];
                let hashers = self.functions.hashers.get_or_insert(hashers).clone();
                Some(self.call("blank-node", arguments, move |terms| {
                    blank_node(&hashers, terms)
                }))
            }
            (Function::IsNumeric, [Expression::Literal(literal)]) => {
                Some(Literal::from(arithmetic::is_numeric(literal)).into())
            }
            (Function::IsNumeric, [argument]) => {
                let first = is_operand(argument)
                    .then(|| Expression::FunctionCall(Function::IsNumeric, vec![argument.clone()]));
                let called = self.call("is-numeric", mem::take(arguments), |terms| {
                    let is_numeric = matches!(terms.first()?, Term::Literal(literal) if arithmetic::is_numeric(literal));
                    Some(Literal::from(is_numeric).into())
                });
                Some(match first {
                    // Oxigraph is faster, but misses numbers that are out of its range.
                    Some(first) => Expression::Or(Box::new(first), Box::new(called)),
                    None => called,
                })
            }
            (Function::StrDt, [_, datatype]) if !matches!(datatype, Expression::NamedNode(name) if !needs_language(name.as_ref())) => {
                Some(self.call("strdt", mem::take(arguments), |terms| {
                    let [text, Term::NamedNode(datatype)] = terms else {
                        return None;
                    };
                    let text = simple_text(text).filter(|_| !needs_language(datatype.as_ref()))?;
                    Some(Literal::new_typed_literal(text, datatype.clone()).into())
                }))
            }
            _ => None,
        }
    }

    /// Replaces `GROUP_CONCAT`: its value is a string without a language, also of IRIs and numbers (SPARQL 1.1, 18.5.1.7).
    fn replace_aggregate(&mut self, aggregate: &mut AggregateExpression) {
        let AggregateExpression::FunctionCall { name, .. } = aggregate else {
            return;
        };
        let AggregateFunction::GroupConcat { separator } = name else {
            return;
        };
        let separator = separator
            .take()
            .unwrap_or_else(|| DEFAULT_SEPARATOR.to_owned());
        let own = NamedNode::new_unchecked(format!(
            "{PREFIX}group-concat:{}",
            self.functions.aggregates.len()
        ));
        self.functions.aggregates.push((own.clone(), separator));
        *name = AggregateFunction::Custom(own);
    }

    /// Returns a call of a new function.
    fn call(
        &mut self,
        name: &str,
        arguments: Vec<Expression>,
        function: impl Fn(&[Term]) -> Option<Term> + Send + Sync + 'static,
    ) -> Expression {
        let functions = &mut self.functions.functions;
        let name = NamedNode::new_unchecked(format!("{PREFIX}{name}:{}", functions.len()));
        functions.push((name.clone(), Arc::new(function)));
        Expression::FunctionCall(Function::Custom(name), arguments)
    }
}

/// Returns true if an expression calls `REGEX` or `REPLACE` with a pattern that may need backtracking. Patterns of `EXISTS` are not
/// visited.
pub(super) fn may_backtrack(expression: &Expression) -> bool {
    let own = match expression {
        Expression::FunctionCall(Function::Regex, arguments) => match arguments.as_slice() {
            [_, pattern, flags @ ..] => needs_backtracking(pattern, flags.first()),
            _ => false,
        },
        Expression::FunctionCall(Function::Replace, arguments) => match arguments.as_slice() {
            [_, pattern, _, flags @ ..] => needs_backtracking(pattern, flags.first()),
            _ => false,
        },
        _ => false,
    };
    own || operands_of(expression).into_iter().any(may_backtrack)
}

/// Returns true if a pattern is computed, has digits after a backslash, or `^` with the flag `m`.
fn needs_backtracking(pattern: &Expression, flags: Option<&Expression>) -> bool {
    let (Some(pattern), Some(flags)) = (constant_text(pattern), constant_flags(flags)) else {
        return true;
    };
    // Digits after an escaped backslash count as well, which is slow and never wrong.
    let has_reference = pattern
        .split('\\')
        .skip(1)
        .any(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    // White space is removed with the flag `x`.
    has_reference
        || flags.contains('x') && pattern.contains('\\')
        || flags.contains('m') && pattern.contains('^')
}

/// Returns true if a pattern has the solutions of its inner pattern, perhaps with further values or in another order.
fn keeps_solutions(pattern: &GraphPattern) -> bool {
    matches!(
        pattern,
        GraphPattern::Extend { .. } | GraphPattern::Filter { .. } | GraphPattern::OrderBy { .. }
    )
}

/// Returns the inner pattern of a pattern that keeps its solutions.
fn inner_pattern(pattern: &GraphPattern) -> Option<&GraphPattern> {
    match pattern {
        GraphPattern::Extend { inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::OrderBy { inner, .. } => Some(inner),
        _ => None,
    }
}

/// Returns true if an expression calls `BNODE` with an argument. Patterns of `EXISTS` are not visited.
fn names_blank_nodes(expression: &Expression) -> bool {
    matches!(expression, Expression::FunctionCall(Function::BNode, arguments) if !arguments.is_empty())
        || operands_of(expression).into_iter().any(names_blank_nodes)
}

/// Returns the blank node of a text: another one for each solution, query and text (SPARQL 1.1, 17.4.2.9).
fn blank_node(hashers: &[RandomState; 2], terms: &[Term]) -> Option<Term> {
    let text = simple_text(terms.first()?)?;
    let solution = terms.get(1).map(ToString::to_string);
    let [high, low] = [0, 1].map(|place: usize| {
        let hash = hashers
            .get(place)
            .map(|hasher| hasher.hash_one((text, &solution)));
        u128::from(hash.unwrap_or_default())
    });
    Some(BlankNode::new_from_unique_id(high << 64 | low).into())
}

/// Returns true if literals of a datatype have a language, so that `STRDT` cannot create them.
fn needs_language(datatype: NamedNodeRef<'_>) -> bool {
    datatype == rdf::LANG_STRING || datatype == rdf::DIR_LANG_STRING
}

/// Returns true if a function is part of the engine.
fn is_known_function(name: &NamedNode) -> bool {
    name.as_str().starts_with(RESERVED)
        || name
            .as_str()
            .starts_with(lodeseek_rdf::vocab::lodeseek::NAMESPACE)
        || CASTS.contains(&name.as_ref())
        || geometry::extension_functions().any(|known| known == name.as_ref())
}

/// Returns the function that prepares the argument of a cast.
fn preparation_of_cast(datatype: NamedNodeRef<'_>) -> fn(&Term) -> Option<Term> {
    match datatype {
        xsd::STRING => |term| Some(arithmetic::write_double(term)),
        xsd::INTEGER => arithmetic::to_integer,
        xsd::DECIMAL => arithmetic::to_decimal,
        xsd::DOUBLE | xsd::FLOAT => arithmetic::to_double,
        xsd::DURATION => arithmetic::to_duration,
        xsd::YEAR_MONTH_DURATION => arithmetic::to_months,
        xsd::DAY_TIME_DURATION => arithmetic::to_days,
        _ => |term| Some(arithmetic::collapse_space(term)),
    }
}

/// Returns true if every value of an expression is an integer that Oxigraph casts right.
fn is_exact(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => {
            literal.datatype() == xsd::INTEGER && literal.value().parse::<i64>().is_ok()
        }
        Expression::FunctionCall(function, _) => matches!(
            function,
            Function::StrLen
                | Function::Year
                | Function::Month
                | Function::Day
                | Function::Hours
                | Function::Minutes
        ),
        _ => false,
    }
}

/// Returns true if every value of an expression is a number, of any range.
fn is_numeric(expression: &Expression) -> bool {
    is_number(expression)
        || matches!(expression, Expression::Literal(literal) if INTEGERS.contains(&literal.datatype()))
}

/// Returns true for a number that Oxigraph does not know as such.
fn is_large_literal(expression: &Expression) -> bool {
    matches!(expression, Expression::Literal(literal) if arithmetic::large_number(literal).is_some())
}

/// Returns true for a variable or literal.
fn is_operand(expression: &Expression) -> bool {
    matches!(expression, Expression::Variable(_) | Expression::Literal(_))
}

/// Counts the parts of an expression. A pattern is many.
fn count_parts(expression: &Expression) -> usize {
    let own = match expression {
        Expression::Exists(_) => MAX_REPEATED_PARTS,
        _ => 1,
    };
    own + operands_of(expression)
        .into_iter()
        .map(count_parts)
        .sum::<usize>()
}

/// Returns an expression that takes the place of a moved one.
fn placeholder() -> Expression {
    Expression::Coalesce(Vec::new())
}

/// Returns true if every value of an expression is a number.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => {
            NUMBERS.contains(&literal.datatype()) && literal.value().parse::<f64>().is_ok()
        }
        Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => is_number(a) && is_number(b),
        Expression::UnaryMinus(operand) | Expression::UnaryPlus(operand) => is_number(operand),
        Expression::FunctionCall(function, _) => match function {
            Function::StrLen
            | Function::Year
            | Function::Month
            | Function::Day
            | Function::Hours
            | Function::Minutes
            | Function::Seconds
            | Function::Abs
            | Function::Ceil
            | Function::Floor
            | Function::Round
            | Function::Rand => true,
            Function::Custom(name) => NUMBERS.contains(&name.as_ref()),
            _ => false,
        },
        _ => false,
    }
}

/// Returns true if every value of an expression is a boolean.
fn is_boolean(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => {
            literal.datatype() == xsd::BOOLEAN
                && matches!(literal.value(), "true" | "false" | "1" | "0")
        }
        Expression::Or(..)
        | Expression::And(..)
        | Expression::Equal(..)
        | Expression::SameTerm(..)
        | Expression::Greater(..)
        | Expression::GreaterOrEqual(..)
        | Expression::Less(..)
        | Expression::LessOrEqual(..)
        | Expression::In(..)
        | Expression::Not(_)
        | Expression::Exists(_)
        | Expression::Bound(_) => true,
        Expression::If(_, yes, no) => is_boolean(yes) && is_boolean(no),
        Expression::Coalesce(list) => !list.is_empty() && list.iter().all(is_boolean),
        Expression::FunctionCall(function, _) => match function {
            Function::LangMatches
            | Function::Contains
            | Function::StrStarts
            | Function::StrEnds
            | Function::IsIri
            | Function::IsBlank
            | Function::IsLiteral
            | Function::IsNumeric
            | Function::IsTriple
            | Function::HasLang
            | Function::HasLangDir
            | Function::Regex => true,
            Function::Custom(name) => name.as_ref() == xsd::BOOLEAN || is_own_boolean(name),
            _ => false,
        },
        _ => false,
    }
}

/// Returns true if a function of this module has booleans as values.
fn is_own_boolean(name: &NamedNode) -> bool {
    let Some(name) = name.as_str().strip_prefix(PREFIX) else {
        return false;
    };
    ["regex:", "equal:", "less:", "less-or-equal:", "is-numeric:"]
        .iter()
        .any(|own| name.starts_with(own))
}

/// Returns true unless no value of an expression is a boolean, `NaN`, or a large number: values that Oxigraph does not compare.
fn may_be_special(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => {
            literal.datatype() == xsd::BOOLEAN
                || matches!(literal.datatype(), xsd::FLOAT | xsd::DOUBLE)
                    && literal.value().parse::<f64>().is_ok_and(f64::is_nan)
                || arithmetic::large_number(literal).is_some()
        }
        Expression::Variable(_)
        | Expression::If(..)
        | Expression::Coalesce(_)
        | Expression::Add(..)
        | Expression::Subtract(..)
        | Expression::Multiply(..)
        | Expression::Divide(..)
        | Expression::UnaryMinus(_)
        | Expression::UnaryPlus(_) => true,
        Expression::FunctionCall(Function::Custom(name), _) => {
            is_own_boolean(name)
                || name
                    .as_str()
                    .strip_prefix(PREFIX)
                    .is_some_and(|own| MAY_BE_SPECIAL.iter().any(|name| own.starts_with(name)))
                || !(name.as_str().starts_with(PREFIX) || CASTS.contains(&name.as_ref()))
                || [xsd::BOOLEAN, xsd::FLOAT, xsd::DOUBLE].contains(&name.as_ref())
        }
        Expression::FunctionCall(
            Function::StrDt
            | Function::Object
            | Function::Abs
            | Function::Ceil
            | Function::Floor
            | Function::Round,
            _,
        ) => true,
        other => is_boolean(other),
    }
}

/// Returns true if Oxigraph matches a pattern as XPath does: one without special characters.
fn is_plain_pattern(pattern: &Expression, flags: Option<&Expression>) -> bool {
    let has_plain_flags = flags
        .is_none_or(|flags| constant_text(flags).is_some_and(|flags| matches!(flags, "" | "i")));
    has_plain_flags
        && constant_text(pattern).is_some_and(|pattern| !pattern.contains(SPECIAL_CHARACTERS))
}

/// Returns true if Oxigraph replaces a pattern as XPath does.
fn is_plain_replacement(
    pattern: &Expression,
    replacement: &Expression,
    flags: Option<&Expression>,
) -> bool {
    is_plain_pattern(pattern, flags)
        && constant_text(pattern)
            .is_some_and(|pattern| pattern.chars().any(|char| !matches!(char, '^' | '$')))
        && constant_text(replacement).is_some_and(|replacement| !replacement.contains(['$', '\\']))
}

/// Returns the text of a constant string.
fn constant_text(expression: &Expression) -> Option<&str> {
    match expression {
        Expression::Literal(literal) if literal.datatype() == xsd::STRING => Some(literal.value()),
        _ => None,
    }
}

/// Returns the flags of a pattern if they are constant, and an empty text without flags.
fn constant_flags(flags: Option<&Expression>) -> Option<&str> {
    match flags {
        Some(flags) => constant_text(flags),
        None => Some(""),
    }
}

/// Returns the text of a string without a language.
fn simple_text(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::STRING => Some(literal.value()),
        _ => None,
    }
}

/// Returns the text of a string with or without a language.
fn text_of(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(literal)
            if literal.datatype() == xsd::STRING || literal.language().is_some() =>
        {
            Some(literal.value())
        }
        _ => None,
    }
}

/// Returns a string with the language of another.
fn with_text(term: &Term, text: String) -> Option<Term> {
    let Term::Literal(literal) = term else {
        return None;
    };
    let literal = match (literal.language(), literal.direction()) {
        (Some(language), Some(direction)) => {
            Literal::new_directional_language_tagged_literal_unchecked(text, language, direction)
        }
        (Some(language), None) => Literal::new_language_tagged_literal_unchecked(text, language),
        _ => Literal::from(text),
    };
    Some(literal.into())
}

/// Compiled patterns of one call.
enum Patterns {
    /// The pattern is constant; `None` if it is invalid.
    Constant(Option<Arc<Pattern>>),
    /// The pattern is computed: those seen so far, by pattern and flags.
    Computed(Mutex<ComputedPatterns>),
}

type ComputedPatterns = FxHashMap<(String, String), Option<Arc<Pattern>>>;

impl Patterns {
    fn new(pattern: &Expression, flags: Option<&Expression>) -> Self {
        match (constant_text(pattern), constant_flags(flags)) {
            (Some(pattern), Some(flags)) => {
                Self::Constant(Pattern::parse(pattern, flags).map(Arc::new))
            }
            _ => Self::Computed(Mutex::default()),
        }
    }

    /// Returns the compiled pattern of a call, or `None` if it is invalid.
    fn find(&self, pattern: &Term, flags: Option<&Term>) -> Option<Arc<Pattern>> {
        let patterns = match self {
            Self::Constant(pattern) => return pattern.clone(),
            Self::Computed(patterns) => patterns,
        };
        let flags = match flags {
            Some(flags) => simple_text(flags)?,
            None => "",
        };
        let key = (simple_text(pattern)?.to_owned(), flags.to_owned());
        let mut patterns = patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = patterns.get(&key) {
            return compiled.clone();
        }
        if patterns.len() >= MAX_CACHED_PATTERNS {
            patterns.clear();
        }
        let compiled = Pattern::parse(&key.0, &key.1).map(Arc::new);
        patterns.insert(key, compiled.clone());
        compiled
    }
}

/// Strings of a group, joined. `None` after a term without a string.
struct Concatenation {
    text: Option<String>,
    is_first: bool,
    separator: String,
}

impl Concatenation {
    fn new(separator: String) -> Self {
        Self {
            text: Some(String::new()),
            is_first: true,
            separator,
        }
    }
}

impl AggregateFunctionAccumulator for Concatenation {
    fn accumulate(&mut self, element: Term) {
        let Some(text) = &mut self.text else { return };
        if !self.is_first {
            text.push_str(&self.separator);
        }
        self.is_first = false;
        match &element {
            Term::NamedNode(node) => text.push_str(node.as_str()),
            Term::Literal(literal) => text.push_str(literal.value()),
            _ => self.text = None,
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.text.take().map(|text| Literal::from(text).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxigraph::sparql::QueryResults;
    use oxigraph::store::Store;
    use spargebra::SparqlParser;

    const PROLOGUE: &str = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>";

    fn parse(query: &str) -> Query {
        SparqlParser::new()
            .parse_query(query)
            .unwrap_or_else(|error| panic!("{query}: {error}"))
    }

    /// Returns the first value of the first column; `None` if it is unbound.
    fn evaluate(query: &str) -> Option<Term> {
        let mut query = parse(&format!("{PROLOGUE} {query}"));
        let functions = replace_calls(&mut query);
        let store = Store::new().expect("a store");
        let prepared = functions.register(SparqlEvaluator::new()).for_query(query);
        let QueryResults::Solutions(mut solutions) =
            prepared.on_store(&store).execute().expect("results")
        else {
            panic!("no solutions")
        };
        solutions
            .next()
            .expect("a row")
            .expect("a solution")
            .get(0)
            .cloned()
    }

    /// Returns the lexical form of an expression; `None` if it is an error.
    fn value(expression: &str) -> Option<String> {
        match evaluate(&format!("SELECT ({expression} AS ?x) {{}}"))? {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            other => Some(other.to_string()),
        }
    }

    #[test]
    fn calls_have_the_values_of_the_specification() {
        for (expression, expected) in [
            (r#"REGEX("birch", "^[a-z-[aeiou]]+.{4}$")"#, Some("true")),
            (r#"REGEX("oak", "\\b")"#, None),
            (r#"REGEX("oak"@en, "O.K", "i")"#, Some("true")),
            (r#"REGEX("oak", "o.k"@en)"#, None),
            (r#"REGEX(STR(12), "^\\d+$")"#, Some("true")),
            (r#"REGEX(12, "^\\d+$")"#, None),
            (r#"REGEX("oak", CONCAT("^", "o.k"))"#, Some("true")),
            (r#"REGEX("oak", CONCAT("(", "o"))"#, None),
            (r#"REGEX("oak", "o", "z")"#, None),
            (r#"REPLACE("oak_12", "([a-z]+)_", "$1 ")"#, Some("oak 12")),
            (r#"REPLACE("oak tree", " ", "_")"#, Some("oak_tree")),
            (r#"REPLACE("oak", "", "_")"#, None),
            (r#"REPLACE("oak", "$", "_")"#, None),
            (r#"REPLACE("oak", "a", CONCAT("$", "0$0"))"#, Some("oaak")),
            (r#"LANG(REPLACE("oak"@en, "(a)", "$1$1"))"#, Some("en")),
            (
                r#""2021-01-31"^^xsd:date + "P1M"^^xsd:yearMonthDuration"#,
                Some("2021-02-28"),
            ),
            (
                r#""P1M"^^xsd:yearMonthDuration + "2021-01-31"^^xsd:date"#,
                Some("2021-02-28"),
            ),
            (
                r#""2021-03-02"^^xsd:date - "2021-02-27"^^xsd:date"#,
                Some("P3D"),
            ),
            (
                r#""2021-03-02T00:00:00Z"^^xsd:dateTime + "P1D"^^xsd:dayTimeDuration > "2021-03-02T01:00:00Z"^^xsd:dateTime"#,
                Some("true"),
            ),
            ("1 + 2.5", Some("3.5")),
            ("1 + 2 + 3 + 4", Some("10")),
            ("false < true", Some("true")),
            ("true < false", Some("false")),
            ("true > false", Some("true")),
            ("false <= true", Some("true")),
            ("true <= false", Some("false")),
            ("false >= true", Some("false")),
            ("(1 = 2) < (1 = 1)", Some("true")),
            ("(1 = 1) >= (1 = 2)", Some("true")),
            ("xsd:boolean('0') < BOUND(?y)", Some("false")),
            ("true < 1", None),
            ("1 < 2", Some("true")),
            ("'a'@en < 'b'@en", Some("true")),
            ("xsd:integer(' 42 ')", Some("42")),
            ("xsd:integer('1.5')", None),
            ("xsd:integer(1.5)", Some("1")),
            ("xsd:boolean('1')", Some("true")),
            ("xsd:boolean(' true')", Some("true")),
            ("xsd:double('inf')", None),
            ("xsd:double('INF')", Some("INF")),
            (
                "xsd:dateTime('2021-01-31'^^xsd:date)",
                Some("2021-01-31T00:00:00"),
            ),
            ("xsd:string(<x:y>)", Some("x:y")),
            ("xsd:string(1e7)", Some("1.0E7")),
            ("xsd:string(1.50)", Some("1.5")),
            ("xsd:string(true)", Some("true")),
            ("xsd:integer(589342e0)", Some("589342")),
            ("xsd:integer(1e10)", Some("10000000000")),
            ("xsd:integer('1e1'^^xsd:float)", Some("10")),
            ("xsd:integer(1e300)", None),
            ("xsd:integer('NaN'^^xsd:double)", None),
            ("xsd:decimal(589342e0)", Some("589342")),
            ("xsd:decimal(1e0 / 4)", Some("0.25")),
            ("xsd:double(1234567.8901234567)", Some("1234567.8901234567")),
            (
                "xsd:double(99999999999999999999)",
                Some("100000000000000000000"),
            ),
            ("'NaN'^^xsd:double < 1", Some("false")),
            ("!(1 < 'NaN'^^xsd:float)", Some("true")),
            ("'NaN'^^xsd:double <= 'NaN'^^xsd:double", Some("false")),
            ("'NaN'^^xsd:double >= 'NaN'^^xsd:double", Some("false")),
            ("xsd:double('NaN') <= xsd:double('NaN')", Some("false")),
            ("0e0 / 0 <= 0e0 / 0", Some("false")),
            ("'NaN'^^xsd:double < 'x'", None),
            ("COALESCE(?y, 2) <= 2", Some("true")),
            ("ABS(-2) >= 2.0", Some("true")),
            ("'a' <= CONCAT('a', '')", Some("true")),
            (
                "STRDT('2021-01-31', xsd:date) < '2021-02-01'^^xsd:date",
                Some("true"),
            ),
            ("99999999999999999999 > 5", Some("true")),
            (
                "99999999999999999999 = 99999999999999999999.0",
                Some("true"),
            ),
            ("isNumeric(99999999999999999999)", Some("true")),
            ("isNumeric('1200'^^xsd:byte)", Some("false")),
            (
                "isNumeric(STRDT('99999999999999999999', xsd:integer))",
                Some("true"),
            ),
            ("isNumeric('1')", Some("false")),
            ("isNumeric(?y)", None),
            ("'PT1H'^^xsd:dayTimeDuration * 2.5", Some("PT2H30M")),
            ("3 * 'P5M'^^xsd:yearMonthDuration", Some("P1Y3M")),
            ("'P3D'^^xsd:dayTimeDuration / 2", Some("P1DT12H")),
            (
                "'P1Y'^^xsd:yearMonthDuration / 'P4M'^^xsd:yearMonthDuration",
                Some("3"),
            ),
            ("'P1D'^^xsd:duration * 2", None),
            (
                "('2020-01-03'^^xsd:date - '2020-01-01'^^xsd:date) / 2",
                Some("P1D"),
            ),
            (
                "('2020-01-03'^^xsd:date - '2020-01-01'^^xsd:date) / 'P1D'^^xsd:dayTimeDuration",
                Some("2"),
            ),
            ("'PT1H'^^xsd:dayTimeDuration * -1", Some("-PT1H")),
            ("'PT1H'^^xsd:dayTimeDuration * STRLEN('ab')", Some("PT2H")),
            ("'PT1H'^^xsd:dayTimeDuration * (1 + 1)", Some("PT2H")),
            ("IF(true, 'PT1H'^^xsd:dayTimeDuration, 1) * 2", Some("PT2H")),
            ("xsd:dayTimeDuration('PT1H') * 2", Some("PT2H")),
            (
                "2 * ('PT1H'^^xsd:dayTimeDuration * 2 * 2 * 2 + 'PT1H'^^xsd:dayTimeDuration)",
                Some("PT18H"),
            ),
            (
                "COALESCE(2, 1) * IF(true, 1.5, 1) * COALESCE(2) * COALESCE(1e0)",
                Some("6"),
            ),
            ("COALESCE(7, 1) / COALESCE(2, 1) / COALESCE(0, 1)", None),
            (
                "COALESCE(1, 1) / COALESCE(0e0, 1) / COALESCE(2, 1)",
                Some("INF"),
            ),
            (
                "COALESCE(0e0, 1) * COALESCE(1) * COALESCE(2) * COALESCE('NaN'^^xsd:double) < 1",
                Some("false"),
            ),
            (
                "'P1D'^^xsd:dayTimeDuration / 'INF'^^xsd:double",
                Some("PT0S"),
            ),
            ("'P1D'^^xsd:dayTimeDuration * 'INF'^^xsd:double", None),
            ("xsd:duration('P1DT')", None),
            ("xsd:yearMonthDuration('P1YT')", None),
            ("xsd:duration('PT1.S')", None),
            ("xsd:dayTimeDuration('PT.5S')", None),
            ("xsd:dayTimeDuration(' PT0.5S ')", Some("PT0.5S")),
            ("xsd:gYear(' 2020 ')", Some("2020")),
            ("xsd:gMonth(' --05 ')", Some("--05")),
            ("xsd:gMonthDay('--02-29')", Some("--02-29")),
            ("xsd:gMonthDay('--02-29Z')", Some("--02-29Z")),
            ("xsd:gMonthDay('--02-29x')", None),
            ("xsd:gMonthDay('--02-30')", None),
            ("xsd:gMonthDay(' --05-06 ')", Some("--05-06")),
            ("xsd:dayTimeDuration('P1Y1D'^^xsd:duration)", Some("P1D")),
            ("xsd:yearMonthDuration('P1Y1D'^^xsd:duration)", Some("P1Y")),
            (
                "xsd:dayTimeDuration('P1Y'^^xsd:yearMonthDuration)",
                Some("PT0S"),
            ),
            (
                "STRDT('a', <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>)",
                None,
            ),
            ("STRDT('1', xsd:integer)", Some("1")),
            ("COALESCE(<x:unknown>(1), 'none')", Some("none")),
            ("COALESCE(xsd:gYear('2021'), 'none')", Some("2021")),
            ("!'x'@en", None),
            ("!'x'^^xsd:integer", None),
            ("!<x:y>", None),
            ("IF('no'^^xsd:boolean, 1, 2)", None),
            ("'' || 1", Some("true")),
            ("STRLEN('ab') && 'x'", Some("true")),
        ] {
            assert_eq!(value(expression).as_deref(), expected, "{expression}");
        }
    }

    #[test]
    fn sums_do_not_depend_on_names() {
        for (date, duration) in [
            ("a", "b"),
            ("b", "a"),
            ("day", "period"),
            ("x", "y"),
            ("start", "length"),
        ] {
            for sum in [
                format!("?{date} + ?{duration}"),
                format!("?{duration} + ?{date}"),
            ] {
                let values = format!(
                    "VALUES (?{date} ?{duration}) {{ ('2021-01-31'^^xsd:date 'P1M'^^xsd:yearMonthDuration) }}"
                );
                let found = evaluate(&format!("SELECT ({sum} AS ?sum) {{ {values} }}"));
                assert_eq!(
                    found,
                    Some(Literal::new_typed_literal("2021-02-28", xsd::DATE).into()),
                    "{sum}"
                );
            }
        }
    }

    /// Returns the terms of all rows, row after row.
    fn rows(query: &str) -> Vec<Vec<Option<Term>>> {
        let mut query = parse(&format!("{PROLOGUE} {query}"));
        let functions = replace_calls(&mut query);
        let store = Store::new().expect("a store");
        let prepared = functions.register(SparqlEvaluator::new()).for_query(query);
        let QueryResults::Solutions(solutions) =
            prepared.on_store(&store).execute().expect("results")
        else {
            panic!("no solutions")
        };
        solutions
            .map(|solution| solution.expect("a solution").values().to_vec())
            .collect()
    }

    #[test]
    fn blank_nodes_are_those_of_one_solution_and_text() {
        let query = "SELECT (BNODE(?v) AS ?a) (BNODE(?v) AS ?b) (BNODE('w x') AS ?c) (BNODE(1) AS ?d) (BNODE(?v) = ?e AS ?f) \
                     { VALUES ?v { 'a' 'a' 'not a label' '' } BIND(BNODE(?v) AS ?e) }";
        let rows = rows(query);
        assert_eq!(rows.len(), 4);
        let mut seen = std::collections::HashSet::new();
        for row in &rows {
            let nodes: Vec<&Term> = row.iter().flatten().collect();
            assert_eq!(row.len(), 5, "{row:?}");
            assert!(
                matches!(nodes[..], [a, b, c, f] if a == b && a != c && a.is_blank_node() && *f == Literal::from(true).into()),
                "{row:?}"
            );
            assert!(seen.insert(nodes[0].clone()) && seen.insert(nodes[2].clone()));
        }
        let again = super::tests::rows("SELECT (BNODE('a') AS ?x) {}");
        assert!(
            seen.insert(again[0][0].clone().expect("a node")),
            "another query"
        );
        let grouped = super::tests::rows(
            "SELECT (COUNT(DISTINCT BNODE('a')) AS ?n) { VALUES ?v { 1 2 3 } FILTER(BNODE('a') != ?v) }",
        );
        assert_eq!(grouped, [[Some(Literal::from(3).into())]]);
    }

    #[test]
    fn groups_are_concatenated_as_plain_strings() {
        for (values, call, expected) in [
            (
                "<x:a> 1 'b'@en true",
                "GROUP_CONCAT(?v)",
                Some("x:a 1 b true"),
            ),
            (
                "'a'@en 'b'@en",
                "GROUP_CONCAT(?v; SEPARATOR = '')",
                Some("ab"),
            ),
            (
                "'a'@en 'a' 'a'",
                "GROUP_CONCAT(DISTINCT ?v; SEPARATOR = '|')",
                Some("a|a"),
            ),
            (
                "'' '' 'a'",
                "GROUP_CONCAT(?v; SEPARATOR = '|')",
                Some("||a"),
            ),
            ("UNDEF 'a'", "GROUP_CONCAT(?v)", None),
        ] {
            let found = evaluate(&format!(
                "SELECT ({call} AS ?x) {{ VALUES ?v {{ {values} }} }}"
            ));
            assert_eq!(
                found,
                expected.map(|text| Literal::from(text).into()),
                "{values}"
            );
        }
    }

    #[test]
    fn plain_calls_remain() {
        for text in [
            "SELECT * { ?s ?p ?o FILTER(REGEX(?o, '^oak tree$', 'i') && STRLEN(?o) < 5 && CONTAINS(?o, 'x')) }",
            "SELECT * { ?s ?p ?o FILTER(?o < '2021-01-31'^^<http://www.w3.org/2001/XMLSchema#date> && ?o = 5) }",
            "SELECT (REPLACE(?o, ' ', '_') AS ?x) (?n + 1 AS ?y) (STRLEN(?o) + ?n AS ?z) { ?s ?p ?o }",
            "SELECT (BNODE() AS ?x) (<http://www.w3.org/2001/XMLSchema#double>(YEAR(?o)) AS ?y) { ?s ?p ?o }",
            "SELECT * { ?s ?p ?o SERVICE <x:y> { ?s ?q ?x FILTER(REGEX(?x, 'a.b')) } }",
        ] {
            let mut query = parse(text);
            replace_calls(&mut query);
            assert_eq!(query, parse(text), "{text}");
        }
    }

    #[test]
    fn nested_expressions_grow_little() {
        let nested = (0..60).fold("?a".to_owned(), |inner, _| format!("({inner} < ?b)"));
        let sums = (0..60).fold("?a".to_owned(), |inner, _| format!("({inner} + ?b)"));
        let products = (0..60).fold("?a".to_owned(), |inner, _| format!("(?b * ({inner} / ?b))"));
        let mut query = parse(&format!(
            "SELECT ({nested} AS ?x) ({sums} AS ?y) ({products} AS ?z) {{ ?a ?p ?b }}"
        ));
        replace_calls(&mut query);
        assert!(
            query.to_string().len() < 20_000,
            "{}",
            query.to_string().len()
        );
    }
}
