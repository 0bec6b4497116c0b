//! Serialization of patterns of the algebra as SPARQL that is parsed as the same pattern.
//!
//! *Why not `Display` of spargebra?* It omits braces and brackets: `(a - (b - c))` becomes `a - b - c`, and a filter inside one
//! operand of a join becomes one of the whole join. Here every operand that is no plain pattern is in braces, and every operation
//! in brackets. Blank nodes become variables, since their labels must not be in two groups.

use super::super::algebra::name_blank_nodes;
use oxrdf::Variable;
use oxrdf::vocab::xsd;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, GraphPattern, OrderExpression,
};
use spargebra::term::{GroundTerm, Literal};
use std::fmt::Write;

/// Serializes a `SELECT` of some variables of a pattern, or of all if none are given.
pub(super) fn select(variables: &[Variable], pattern: &GraphPattern) -> String {
    let mut pattern = pattern.clone();
    name_blank_nodes(&mut pattern);
    format!(
        "SELECT {} WHERE {{ {} }}",
        format_variables(variables),
        format_group(&pattern)
    )
}

fn format_variables(variables: &[Variable]) -> String {
    match variables {
        [] => "*".to_owned(),
        some => some
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Serializes the content of a group, without its braces.
fn format_group(pattern: &GraphPattern) -> String {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns
            .iter()
            .map(|triple| format!("{triple} . "))
            .collect(),
        GraphPattern::Path {
            subject,
            path,
            object,
        } => format!("{subject} {path} {object} ."),
        GraphPattern::Values {
            variables,
            bindings,
        } => format_values(variables, bindings),
        GraphPattern::Join { left, right } => {
            format!("{} {}", format_operand(left), format_operand(right))
        }
        GraphPattern::Union { left, right } => format!(
            "{} UNION {}",
            format_braced_group(left),
            format_braced_group(right)
        ),
        GraphPattern::Minus { left, right } => format!(
            "{} MINUS {}",
            format_braced_group(left),
            format_braced_group(right)
        ),
        GraphPattern::LeftJoin {
            left,
            right,
            expression,
        } => {
            let condition = expression
                .as_ref()
                .map(|e| format!(" FILTER({})", format_expression(e)))
                .unwrap_or_default();
            format!(
                "{} OPTIONAL {{ {}{condition} }}",
                format_braced_group(left),
                optional_side(right)
            )
        }
        GraphPattern::Filter { expr, inner } => {
            format!(
                "{} FILTER({})",
                format_operand(inner),
                format_expression(expr)
            )
        }
        GraphPattern::Extend {
            inner,
            variable,
            expression,
        } => {
            format!(
                "{} BIND({} AS {variable})",
                format_braced_group(inner),
                format_expression(expression)
            )
        }
        GraphPattern::Graph { name, inner } => {
            format!("GRAPH {name} {}", format_braced_group(inner))
        }
        GraphPattern::Service {
            name,
            inner,
            silent,
        } => {
            format!(
                "SERVICE {}{name} {}",
                if *silent { "SILENT " } else { "" },
                format_braced_group(inner)
            )
        }
        other => format!("{{ {} }}", sub_select(other)),
    }
}

fn format_braced_group(pattern: &GraphPattern) -> String {
    format!("{{ {} }}", format_group(pattern))
}

/// Serializes an operand of a join. Braces are omitted if the operand needs none.
fn format_operand(pattern: &GraphPattern) -> String {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {
            format_group(pattern)
        }
        GraphPattern::Join { left, right } => {
            format!("{} {}", format_operand(left), format_operand(right))
        }
        other => format_braced_group(other),
    }
}

/// Serializes the right side of an `OPTIONAL`. A filter at its top would become the condition of the join, so it is put into a
/// sub-select.
fn optional_side(pattern: &GraphPattern) -> String {
    if !matches!(pattern, GraphPattern::Filter { .. }) {
        return format_braced_group(pattern);
    }
    let mut variables = Vec::new();
    pattern.on_in_scope_variable(|variable| {
        if !variables.contains(variable) {
            variables.push(variable.clone());
        }
    });
    format!(
        "{{ SELECT {} WHERE {{ {} }} }}",
        format_variables(&variables),
        format_group(pattern)
    )
}

fn format_values(variables: &[Variable], bindings: &[Vec<Option<GroundTerm>>]) -> String {
    let mut text = format!(
        "VALUES ({}) {{",
        variables
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    );
    for row in bindings {
        text.push_str(" (");
        for value in row {
            let _ = match value {
                Some(value) => write!(text, " {value}"),
                None => write!(text, " UNDEF"),
            }; // a String takes everything
        }
        text.push_str(" )");
    }
    text + " }"
}

/// Serializes the solution modifiers of a pattern, and groups, as a `SELECT`.
fn sub_select(pattern: &GraphPattern) -> String {
    let (mut rest, mut tail, mut duplicates) = (pattern, String::new(), "");
    if let GraphPattern::Slice {
        inner,
        start,
        length,
    } = rest
    {
        tail = length
            .map(|length| format!(" LIMIT {length}"))
            .unwrap_or_default()
            + &format!(" OFFSET {start}");
        rest = inner;
    }
    match rest {
        GraphPattern::Distinct { inner } => (duplicates, rest) = ("DISTINCT ", inner),
        GraphPattern::Reduced { inner } => (duplicates, rest) = ("REDUCED ", inner),
        _ => {}
    }
    let mut columns = "*".to_owned();
    if let GraphPattern::Project { inner, variables } = rest {
        (columns, rest) = (format_variables(variables), inner);
    }
    if let GraphPattern::OrderBy { inner, expression } = rest {
        tail = format!(
            " ORDER BY {}{tail}",
            expression
                .iter()
                .map(format_sort_key)
                .collect::<Vec<_>>()
                .join(" ")
        );
        rest = inner;
    }
    match rest {
        GraphPattern::Group {
            inner,
            variables,
            aggregates,
        } if columns == "*" => {
            let mut columns: Vec<String> = variables.iter().map(ToString::to_string).collect();
            columns.extend(
                aggregates
                    .iter()
                    .map(|(variable, call)| format!("({} AS {variable})", format_aggregate(call))),
            );
            let by = if variables.is_empty() {
                String::new()
            } else {
                format!(" GROUP BY {}", format_variables(variables))
            };
            format!(
                "SELECT {duplicates}{} WHERE {{ {} }}{by}{tail}",
                columns.join(" "),
                format_group(inner)
            )
        }
        _ => format!(
            "SELECT {duplicates}{columns} WHERE {{ {} }}{tail}",
            format_group(rest)
        ),
    }
}

fn format_sort_key(order: &OrderExpression) -> String {
    match order {
        OrderExpression::Asc(expression) => format!("ASC({})", format_expression(expression)),
        OrderExpression::Desc(expression) => format!("DESC({})", format_expression(expression)),
    }
}

fn format_aggregate(call: &AggregateExpression) -> String {
    let (AggregateExpression::CountSolutions { distinct }
    | AggregateExpression::FunctionCall { distinct, .. }) = call;
    let distinct = if *distinct { "DISTINCT " } else { "" };
    match call {
        AggregateExpression::CountSolutions { .. } => format!("COUNT({distinct}*)"),
        AggregateExpression::FunctionCall { name, expr, .. } => match name {
            AggregateFunction::GroupConcat {
                separator: Some(separator),
            } => {
                // A literal is written with the necessary escapes.
                let separator = Literal::new_simple_literal(separator);
                format!(
                    "GROUP_CONCAT({distinct}{}; SEPARATOR = {separator})",
                    format_expression(expr)
                )
            }
            AggregateFunction::GroupConcat { separator: None } => {
                format!("GROUP_CONCAT({distinct}{})", format_expression(expr))
            }
            name => format!("{name}({distinct}{})", format_expression(expr)),
        },
    }
}

/// Returns true for a variable in a list with other values than IRIs and strings. `IN` is a chain of `=` (SPARQL 1.1, 17.4.1.9), but
/// some engines compare terms: then `"01"^^xsd:integer IN (1)` is false.
fn is_compared_by_value(operand: &Expression, values: &[Expression]) -> bool {
    matches!(operand, Expression::Variable(_))
        && !values.iter().all(|value| match value {
            Expression::NamedNode(_) => true,
            Expression::Literal(literal) => literal.datatype() == xsd::STRING,
            _ => false,
        })
}

fn format_expression(expression: &Expression) -> String {
    match expression {
        Expression::NamedNode(node) => node.to_string(),
        Expression::Literal(literal) => literal.to_string(),
        Expression::Variable(variable) => variable.to_string(),
        Expression::Or(a, b) => format_binary(a, "||", b),
        Expression::And(a, b) => format_binary(a, "&&", b),
        Expression::Equal(a, b) => format_binary(a, "=", b),
        Expression::Greater(a, b) => format_binary(a, ">", b),
        Expression::GreaterOrEqual(a, b) => format_binary(a, ">=", b),
        Expression::Less(a, b) => format_binary(a, "<", b),
        Expression::LessOrEqual(a, b) => format_binary(a, "<=", b),
        Expression::Add(a, b) => format_binary(a, "+", b),
        Expression::Subtract(a, b) => format_binary(a, "-", b),
        Expression::Multiply(a, b) => format_binary(a, "*", b),
        Expression::Divide(a, b) => format_binary(a, "/", b),
        Expression::SameTerm(a, b) => format!(
            "sameTerm({}, {})",
            format_expression(a),
            format_expression(b)
        ),
        Expression::In(a, values) if is_compared_by_value(a, values) => {
            let comparisons = values
                .iter()
                .map(|value| format!("{} = {}", format_expression(a), format_expression(value)));
            format!("({})", comparisons.collect::<Vec<_>>().join(" || "))
        }
        Expression::In(a, values) => {
            format!("({} IN ({}))", format_expression(a), format_list(values))
        }
        Expression::Not(a) => format!("(! {})", format_expression(a)),
        Expression::UnaryPlus(a) => format!("(+ {})", format_expression(a)),
        Expression::UnaryMinus(a) => format!("(- {})", format_expression(a)),
        Expression::Exists(pattern) => format!("EXISTS {}", format_braced_group(pattern)),
        Expression::Bound(variable) => format!("BOUND({variable})"),
        Expression::If(a, b, c) => format!(
            "IF({}, {}, {})",
            format_expression(a),
            format_expression(b),
            format_expression(c)
        ),
        Expression::Coalesce(values) => format!("COALESCE({})", format_list(values)),
        Expression::FunctionCall(function, values) => {
            format!("{function}({})", format_list(values))
        }
    }
}

fn format_binary(a: &Expression, operator: &str, b: &Expression) -> String {
    format!(
        "({} {operator} {})",
        format_expression(a),
        format_expression(b)
    )
}

fn format_list(values: &[Expression]) -> String {
    values
        .iter()
        .map(format_expression)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::{Query, SparqlParser};

    fn parsed(text: &str) -> GraphPattern {
        match SparqlParser::new()
            .parse_query(text)
            .unwrap_or_else(|error| panic!("{error}: {text}"))
        {
            Query::Select {
                pattern: GraphPattern::Project { inner, .. },
                ..
            } => *inner,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn serialized_patterns_are_parsed_as_the_same_pattern() {
        for text in [
            "?s ?p ?o FILTER((?a - (2 - 1)) * 2 = 18 && !(?b || ?c))",
            "{ ?s ?p ?o FILTER(!BOUND(?k)) } OPTIONAL { ?s <a:b> ?k }",
            "{ OPTIONAL { ?s ?p ?o } } { ?x ?y ?z }",
            "{ ?s ?p ?o MINUS { ?s <a:b> 1 } } UNION { GRAPH ?g { ?a <a:c>/<a:d>* ?b } }",
            "?s ?p ?o OPTIONAL { ?s <a:b> ?k FILTER(?k > ?o) }",
            "?s ?p ?o BIND(IF(?o = 1, -(?o), COALESCE(?x, \"a\\n\\\"\")) AS ?y) VALUES (?a ?b) { (1 UNDEF) (<a:b> \"x\"@en) }",
            "{ SELECT DISTINCT ?s WHERE { ?s ?p ?o } ORDER BY DESC(?o) LIMIT 3 OFFSET 1 } ?s <a:b> ?c",
            "?s ?p ?o FILTER(?o IN (<a:b>, \"x\") && EXISTS { ?o ?q ?r FILTER(REGEX(STR(?r), \"x\", \"i\")) })",
            "SERVICE SILENT <a:service> { ?s ?p ?o }",
        ] {
            let pattern = parsed(&format!("SELECT * {{ {text} }}"));
            let again = select(&[], &pattern);
            let mut twice = parsed(&again);
            // Serialization adds braces only: the parsed text is serialized to the same text.
            name_blank_nodes(&mut twice);
            assert_eq!(select(&[], &twice), again, "{text}");
        }
    }

    #[test]
    fn lists_of_numbers_are_compared_by_value() {
        for (filter, expected) in [
            (
                "?o IN (1, 2.5)",
                r#"(?o = "1"^^xsd:integer || ?o = "2.5"^^xsd:decimal)"#,
            ),
            ("?o NOT IN (1)", r#"(! (?o = "1"^^xsd:integer))"#),
            ("?o IN ('a', <x:b>)", r#"(?o IN ("a", <x:b>))"#),
            ("STR(?o) IN ('1')", r#"(STR(?o) IN ("1"))"#),
            ("?o IN ()", "(?o IN ())"),
        ] {
            let pattern = parsed(&format!("SELECT * {{ ?s ?p ?o FILTER({filter}) }}"));
            let text = select(&[], &pattern);
            let text = text
                .replace("<http://www.w3.org/2001/XMLSchema#integer>", "xsd:integer")
                .replace("<http://www.w3.org/2001/XMLSchema#decimal>", "xsd:decimal");
            assert!(text.contains(&format!("FILTER({expected})")), "{text}");
        }
        let values: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
        let pattern = parsed(&format!(
            "SELECT * {{ ?s ?p ?o FILTER(?o IN ({})) }}",
            values.join(", ")
        ));
        let text = select(&[], &pattern);
        assert_eq!(text.matches('(').count(), 2, "operands are not nested");
        assert!(SparqlParser::new().parse_query(&text).is_ok());
    }
}
