//! Static analysis of SPARQL algebra patterns.

use oxrdf::Variable;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::BTreeSet;

pub(super) type Variables = BTreeSet<Variable>;

/// Returns the variables that a solution of the pattern may bind.
pub(super) fn in_scope(pattern: &GraphPattern) -> Variables {
    let mut variables = Variables::new();
    pattern.on_in_scope_variable(|variable| {
        variables.insert(variable.clone());
    });
    variables
}

/// Returns variables that every solution of the pattern binds. The result may be incomplete, but is never wrong.
pub(super) fn certain_variables(pattern: &GraphPattern) -> Variables {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => in_scope(pattern),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            &certain_variables(left) | &certain_variables(right)
        }
        GraphPattern::Union { left, right } => &certain_variables(left) & &certain_variables(right),
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => certain_variables(inner),
        GraphPattern::Extend {
            inner,
            variable,
            expression,
        } => {
            let mut variables = certain_variables(inner);
            // After an error, the variable remains unbound (SPARQL 1.1, 10.1).
            let never_fails = match expression {
                Expression::NamedNode(_) | Expression::Literal(_) => true,
                Expression::Variable(other) => variables.contains(other),
                _ => false,
            };
            variables.extend(never_fails.then(|| variable.clone()));
            variables
        }
        GraphPattern::Graph { name, inner } => with_name(certain_variables(inner), name),
        GraphPattern::Service {
            name,
            inner,
            silent: false,
        } => with_name(certain_variables(inner), name),
        GraphPattern::Values {
            variables,
            bindings,
        } => variables
            .iter()
            .enumerate()
            .filter(|(column, _)| bindings.iter().all(|row| row[*column].is_some()))
            .map(|(_, v)| v.clone())
            .collect(),
        GraphPattern::Project { inner, variables } => {
            restrict_to(certain_variables(inner), variables)
        }
        GraphPattern::Group {
            inner, variables, ..
        } => restrict_to(certain_variables(inner), variables),
        // A silent service may fail, and then binds no variable.
        _ => Variables::new(),
    }
}

fn with_name(mut variables: Variables, name: &NamedNodePattern) -> Variables {
    if let NamedNodePattern::Variable(name) = name {
        variables.insert(name.clone());
    }
    variables
}

fn restrict_to(variables: Variables, kept: &[Variable]) -> Variables {
    variables
        .into_iter()
        .filter(|variable| kept.contains(variable))
        .collect()
}

/// Returns the patterns directly inside a pattern, except those of its expressions.
pub(super) fn child_patterns(pattern: &GraphPattern) -> Vec<&GraphPattern> {
    match pattern {
        GraphPattern::Join { left, right }
        | GraphPattern::LeftJoin { left, right, .. }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => vec![left, right],
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Service { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Group { inner, .. } => vec![inner],
        _ => Vec::new(),
    }
}

/// Returns the expressions of a pattern, except those of inner patterns.
pub(super) fn expressions_of(pattern: &GraphPattern) -> Vec<&Expression> {
    match pattern {
        GraphPattern::Filter { expr, .. } => vec![expr],
        GraphPattern::Extend { expression, .. } => vec![expression],
        GraphPattern::LeftJoin { expression, .. } => expression.iter().collect(),
        GraphPattern::OrderBy { expression, .. } => {
            expression.iter().map(expression_of_order).collect()
        }
        GraphPattern::Group { aggregates, .. } => aggregates
            .iter()
            .filter_map(|(_, call)| aggregate_argument(call))
            .collect(),
        _ => Vec::new(),
    }
}

fn expression_of_order(order: &OrderExpression) -> &Expression {
    let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
    expression
}

fn aggregate_argument(aggregate: &AggregateExpression) -> Option<&Expression> {
    match aggregate {
        AggregateExpression::FunctionCall { expr, .. } => Some(expr),
        AggregateExpression::CountSolutions { .. } => None,
    }
}

/// Returns true if a pattern contains a `SERVICE`.
pub(super) fn has_service(pattern: &GraphPattern) -> bool {
    count_services(pattern) > 0
}

/// Counts the `SERVICE` clauses of a pattern, nested ones included.
pub(super) fn count_services(pattern: &GraphPattern) -> usize {
    let own = usize::from(matches!(pattern, GraphPattern::Service { .. }));
    own + inner_patterns(pattern)
        .into_iter()
        .map(count_services)
        .sum::<usize>()
}

/// Returns the patterns directly inside a pattern, including those of `EXISTS` in its expressions.
pub(super) fn inner_patterns(pattern: &GraphPattern) -> Vec<&GraphPattern> {
    let mut inside = child_patterns(pattern);
    inside.extend(exists_patterns(pattern));
    inside
}

/// Returns the patterns of `EXISTS` in the expressions of a pattern.
pub(super) fn exists_patterns(pattern: &GraphPattern) -> Vec<&GraphPattern> {
    let mut found = Vec::new();
    expressions_of(pattern)
        .into_iter()
        .for_each(|expression| collect_exists(expression, &mut found));
    found
}

fn collect_exists<'p>(expression: &'p Expression, into: &mut Vec<&'p GraphPattern>) {
    match expression {
        Expression::Exists(pattern) => into.push(pattern),
        other => operands_of(other)
            .into_iter()
            .for_each(|operand| collect_exists(operand, into)),
    }
}

/// Returns the pattern of a query.
pub(super) fn pattern_of(query: &Query) -> &GraphPattern {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    pattern
}

/// Returns the variables of an expression, or `None` if it contains a pattern.
pub(super) fn read_by(expression: &Expression) -> Option<Variables> {
    let mut variables = Variables::new();
    match expression {
        Expression::Exists(_) => return None,
        Expression::Variable(variable) | Expression::Bound(variable) => {
            variables.insert(variable.clone());
        }
        other => {
            for operand in operands_of(other) {
                variables.append(&mut read_by(operand)?);
            }
        }
    }
    Some(variables)
}

/// Returns the expressions directly inside an expression.
pub(super) fn operands_of(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => vec![a, b],
        Expression::Not(a) | Expression::UnaryPlus(a) | Expression::UnaryMinus(a) => vec![a],
        Expression::If(a, b, c) => vec![a, b, c],
        Expression::In(a, list) => std::iter::once(a.as_ref()).chain(list).collect(),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns the expressions directly inside an expression, to be changed.
pub(super) fn operands_mut(expression: &mut Expression) -> Vec<&mut Expression> {
    match expression {
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => vec![a, b],
        Expression::Not(a) | Expression::UnaryPlus(a) | Expression::UnaryMinus(a) => vec![a],
        Expression::If(a, b, c) => vec![a, b, c],
        Expression::In(a, list) => std::iter::once(a.as_mut()).chain(list).collect(),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// Returns the expressions of a pattern, except those of inner patterns, to be changed.
pub(super) fn expressions_mut(pattern: &mut GraphPattern) -> Vec<&mut Expression> {
    match pattern {
        GraphPattern::Filter {
            expr: expression, ..
        }
        | GraphPattern::Extend { expression, .. } => vec![expression],
        GraphPattern::LeftJoin { expression, .. } => expression.iter_mut().collect(),
        GraphPattern::OrderBy { expression, .. } => {
            let expressions = expression.iter_mut().map(|order| {
                let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                expression
            });
            expressions.collect()
        }
        GraphPattern::Group { aggregates, .. } => {
            let arguments = aggregates
                .iter_mut()
                .filter_map(|(_, aggregate)| match aggregate {
                    AggregateExpression::FunctionCall { expr, .. } => Some(expr),
                    AggregateExpression::CountSolutions { .. } => None,
                });
            arguments.collect()
        }
        _ => Vec::new(),
    }
}

/// Computes a weight of the constants of a pattern. More constants suggest fewer solutions.
pub(super) fn weigh_constants(pattern: &GraphPattern) -> usize {
    let own = match pattern {
        GraphPattern::Bgp { patterns } => patterns
            .iter()
            .map(
                |TriplePattern {
                     subject,
                     predicate,
                     object,
                 }| {
                    // A constant predicate alone is hardly selective.
                    2 * count_constants([subject, object])
                        + usize::from(matches!(predicate, NamedNodePattern::NamedNode(_)))
                },
            )
            .sum(),
        GraphPattern::Path {
            subject,
            path,
            object,
        } => 2 * count_constants([subject, object]) + usize::from(is_step(path)),
        GraphPattern::Values { .. } | GraphPattern::Slice { .. } => 2,
        GraphPattern::Filter { .. } => 1,
        _ => 0,
    };
    own + child_patterns(pattern)
        .into_iter()
        .map(weigh_constants)
        .sum::<usize>()
}

fn count_constants(terms: [&TermPattern; 2]) -> usize {
    terms.into_iter().filter(|term| is_constant(term)).count()
}

/// Returns true if a term has no variable and no blank node.
pub(super) fn is_constant(term: &TermPattern) -> bool {
    match term {
        TermPattern::NamedNode(_) | TermPattern::Literal(_) => true,
        TermPattern::Triple(triple) => {
            is_constant(&triple.subject)
                && matches!(triple.predicate, NamedNodePattern::NamedNode(_))
                && is_constant(&triple.object)
        }
        TermPattern::BlankNode(_) | TermPattern::Variable(_) => false,
    }
}

/// Returns the name of a variable or blank node, with the prefix `?` or `_:`.
pub(super) fn name_of(term: &TermPattern) -> Option<String> {
    match term {
        TermPattern::Variable(variable) => Some(variable.to_string()),
        TermPattern::BlankNode(node) => Some(node.to_string()),
        _ => None,
    }
}

fn is_step(path: &PropertyPathExpression) -> bool {
    matches!(path, PropertyPathExpression::NamedNode(_))
}

/// Visits the patterns directly inside a pattern, including those of `EXISTS` in its expressions.
pub(super) fn each_inside(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut GraphPattern)) {
    each_child(pattern, visit);
    each_exists(pattern, visit);
}

/// Visits the patterns directly inside a pattern, except those of its expressions.
pub(super) fn each_child(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut GraphPattern)) {
    match pattern {
        GraphPattern::Join { left, right }
        | GraphPattern::LeftJoin { left, right, .. }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            visit(left);
            visit(right);
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Service { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Group { inner, .. } => visit(inner),
        // Other patterns contain no pattern.
        _ => {}
    }
}

/// Visits the patterns of `EXISTS` in the expressions of a pattern.
pub(super) fn each_exists(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut GraphPattern)) {
    match pattern {
        GraphPattern::Filter {
            expr: expression, ..
        }
        | GraphPattern::Extend { expression, .. } => {
            each_within(expression, visit);
        }
        GraphPattern::LeftJoin { expression, .. } => {
            expression
                .iter_mut()
                .for_each(|expression| each_within(expression, visit));
        }
        GraphPattern::OrderBy { expression, .. } => {
            for order in expression {
                let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                each_within(expression, visit);
            }
        }
        GraphPattern::Group { aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    each_within(expr, visit);
                }
            }
        }
        _ => {}
    }
}

/// Visits the patterns of `EXISTS` in an expression.
fn each_within(expression: &mut Expression, visit: &mut dyn FnMut(&mut GraphPattern)) {
    match expression {
        Expression::Exists(pattern) => visit(pattern),
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => [a, b].into_iter().for_each(|part| each_within(part, visit)),
        Expression::Not(a) | Expression::UnaryPlus(a) | Expression::UnaryMinus(a) => {
            each_within(a, visit)
        }
        Expression::If(a, b, c) => [a, b, c]
            .into_iter()
            .for_each(|part| each_within(part, visit)),
        Expression::In(a, list) => {
            each_within(a, visit);
            list.iter_mut().for_each(|part| each_within(part, visit));
        }
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
            list.iter_mut().for_each(|part| each_within(part, visit));
        }
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_) => {}
    }
}

/// Replaces the blank nodes of a pattern by new variables. The meaning is the same, and variables may occur in two groups.
pub(super) fn name_blank_nodes(pattern: &mut GraphPattern) {
    fn name(term: &mut TermPattern) {
        match term {
            TermPattern::BlankNode(node) => {
                // Different labels have different names.
                let label = node
                    .as_str()
                    .replace('_', "__")
                    .replace('-', "_m")
                    .replace('.', "_d");
                *term = Variable::new_unchecked(format!("_blank_{label}")).into();
            }
            TermPattern::Triple(triple) => {
                name(&mut triple.subject);
                name(&mut triple.object);
            }
            TermPattern::NamedNode(_) | TermPattern::Literal(_) | TermPattern::Variable(_) => {}
        }
    }
    match pattern {
        GraphPattern::Bgp { patterns } => {
            for triple in patterns {
                name(&mut triple.subject);
                name(&mut triple.object);
            }
        }
        GraphPattern::Path {
            subject, object, ..
        } => {
            name(subject);
            name(object);
        }
        _ => {}
    }
    each_inside(pattern, &mut name_blank_nodes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::SparqlParser;
    use std::collections::BTreeSet;

    #[test]
    fn different_blank_nodes_become_different_variables() {
        let labels = ["a_b", "a-b", "a.b", "a__b", "a_-b"];
        let triples: String = labels
            .iter()
            .map(|label| format!("_:{label} <x:p> 1 . "))
            .collect();
        let mut query = SparqlParser::new()
            .parse_query(&format!("ASK {{ {triples} }}"))
            .expect("a query");
        let Query::Ask { pattern, .. } = &mut query else {
            unreachable!()
        };
        name_blank_nodes(pattern);
        let text = pattern.to_string();
        let names: BTreeSet<&str> = text
            .split('?')
            .skip(1)
            .filter_map(|rest| rest.split(' ').next())
            .collect();
        assert_eq!(names.len(), labels.len(), "{text}");
    }
}
