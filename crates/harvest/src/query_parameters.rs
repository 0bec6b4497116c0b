//! Parameters of queries, which are set in the parsed algebra, never in the text.

use oxrdf::{NamedNode, Variable};
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;

/// Sets the values of the parameter `name`, which a query declares by `VALUES ?name { UNDEF }`.
pub(super) fn set_values(pattern: &mut GraphPattern, name: &str, terms: &[NamedNode]) {
    let name = Variable::new_unchecked(name);
    visit_patterns(pattern, &mut |pattern| {
        if let GraphPattern::Values {
            variables,
            bindings,
        } = pattern
            && *variables == [name.clone()]
        {
            *bindings = terms
                .iter()
                .map(|term| vec![Some(GroundTerm::NamedNode(term.clone()))])
                .collect();
        }
    });
}

/// Applies a change to a pattern and to the nested patterns that the queries use, the outer one first.
pub(super) fn visit_patterns(
    pattern: &mut GraphPattern,
    change: &mut impl FnMut(&mut GraphPattern),
) {
    change(pattern);
    match pattern {
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right }
        | GraphPattern::LeftJoin { left, right, .. } => {
            visit_patterns(left, change);
            visit_patterns(right, change);
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Group { inner, .. }
        | GraphPattern::Service { inner, .. } => visit_patterns(inner, change),
        _ => {}
    }
}
