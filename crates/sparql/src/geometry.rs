//! GeoSPARQL functions over geometries in WKT and GeoJSON, by `spargeo`: distances, areas, relations, intersections.
//! <https://docs.ogc.org/is/22-047r1/22-047r1.html>, section 8
//!
//! Relations of geometries that cross everywhere take time in the square of their sizes (two lines of 32 kB: 1.5 s), and nested
//! collections recurse. Sizes and depth are bounded. A call beyond the bounds has no value, as a call with invalid geometries. A call
//! cannot be interrupted: queries with one run in worker processes, which are killed at the deadline. Without workers, the thread of
//! such a call ends after the deadline.

use super::algebra::operands_of;
use oxigraph::sparql::SparqlEvaluator;
use oxrdf::{NamedNodeRef, Term};
use spargebra::algebra::{Expression, Function};
use spargeo::GEOSPARQL_EXTENSION_FUNCTIONS;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum length of the arguments of a call in bytes, together, and of its result: some ten thousand points.
const MAX_BYTES: usize = 256 << 10;
/// Maximum nesting depth of brackets in a geometry. A multipolygon in GeoJSON has five, a WKT collection of collections one each.
const MAX_DEPTH: usize = 16;

/// A GeoSPARQL function.
type GeometryFunction = fn(&[Term]) -> Option<Term>;

/// Returns the IRIs of the GeoSPARQL functions of queries.
pub fn extension_functions() -> impl Iterator<Item = NamedNodeRef<'static>> {
    GEOSPARQL_EXTENSION_FUNCTIONS
        .into_iter()
        .map(|(name, _)| name)
}

/// Adds the GeoSPARQL functions to an evaluator.
pub(super) fn with_functions(evaluator: SparqlEvaluator) -> SparqlEvaluator {
    GEOSPARQL_EXTENSION_FUNCTIONS
        .into_iter()
        .fold(evaluator, |evaluator, (name, function)| {
            evaluator.with_custom_function(name.into_owned(), move |arguments| {
                call_function(function, arguments)
            })
        })
}

/// Returns true if an expression calls a GeoSPARQL function. Patterns of `EXISTS` are not visited.
pub(super) fn is_called(expression: &Expression) -> bool {
    if let Expression::FunctionCall(Function::Custom(name), _) = expression
        && extension_functions().any(|known| known == name.as_ref())
    {
        return true;
    }
    operands_of(expression).into_iter().any(is_called)
}

/// Calls a function within the bounds. A panic on unusual coordinates counts as no value.
fn call_function(function: GeometryFunction, arguments: &[Term]) -> Option<Term> {
    let mut texts = arguments.iter().filter_map(|term| match term {
        Term::Literal(literal) => Some(literal.value()),
        _ => None,
    });
    let bytes: usize = texts.clone().map(str::len).sum();
    if bytes > MAX_BYTES || texts.any(|text| nesting_depth(text) > MAX_DEPTH) {
        return None;
    }
    let value = catch_unwind(AssertUnwindSafe(|| function(arguments)))
        .ok()
        .flatten()?;
    (!matches!(&value, Term::Literal(literal) if literal.value().len() > MAX_BYTES))
        .then_some(value)
}

/// Returns the depth of nested brackets of any kind.
fn nesting_depth(text: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::vocab::xsd;
    use oxrdf::{Literal, NamedNode};

    const FUNCTIONS: &str = "http://www.opengis.net/def/function/geosparql/";
    const SQUARE: &str = "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))";

    fn wkt(text: &str) -> Term {
        let datatype = NamedNode::new_unchecked("http://www.opengis.net/ont/geosparql#wktLiteral");
        Literal::new_typed_literal(text, datatype).into()
    }

    fn called(name: &str, arguments: &[Term]) -> Option<Term> {
        let name = format!("{FUNCTIONS}{name}");
        let mut functions = GEOSPARQL_EXTENSION_FUNCTIONS.into_iter();
        let (_, function) = functions
            .find(|(known, _)| known.as_str() == name)
            .expect("a function of GeoSPARQL");
        call_function(function, arguments)
    }

    fn holds(relation: &str, left: &str, right: &str) -> bool {
        let value = called(relation, &[wkt(left), wkt(right)]).expect("a value");
        value == Literal::from(true).into()
    }

    #[test]
    fn relations_of_simple_features_hold() {
        for (relation, left, right, expected) in [
            ("sfWithin", "POINT(1 1)", SQUARE, true),
            ("sfWithin", "POINT(5 1)", SQUARE, false),
            ("sfContains", SQUARE, "POINT(1 1)", true),
            ("sfTouches", "POINT(0 2)", SQUARE, true),
            ("sfDisjoint", "LINESTRING(5 5, 6 6)", SQUARE, true),
            ("sfIntersects", "LINESTRING(-1 -1, 1 1)", SQUARE, true),
            ("sfCrosses", "LINESTRING(-1 2, 5 2)", SQUARE, true),
            (
                "sfOverlaps",
                "POLYGON((2 2, 6 2, 6 6, 2 6, 2 2))",
                SQUARE,
                true,
            ),
            (
                "sfEquals",
                "POLYGON((4 0, 4 4, 0 4, 0 0, 4 0))",
                SQUARE,
                true,
            ),
            ("ehInside", "POINT(1 1)", SQUARE, true),
            (
                "rcc8ntpp",
                "POLYGON((1 1, 2 1, 2 2, 1 2, 1 1))",
                SQUARE,
                true,
            ),
        ] {
            assert_eq!(
                holds(relation, left, right),
                expected,
                "{relation} {left} {right}"
            );
        }
    }

    #[test]
    fn a_degree_of_the_equator_is_111_kilometres() {
        let unit = Term::from(NamedNode::new_unchecked(
            "http://www.opengis.net/def/uom/OGC/1.0/metre",
        ));
        let distance =
            called("distance", &[wkt("POINT(0 0)"), wkt("POINT(1 0)"), unit]).expect("a distance");
        let Term::Literal(distance) = distance else {
            panic!("{distance}")
        };
        assert_eq!(distance.datatype(), xsd::DOUBLE);
        let metres: f64 = distance.value().parse().expect("a number");
        assert!((metres - 111_195.0).abs() < 1.0, "{metres}"); // mean radius of the earth, 6371.0088 km
    }

    #[test]
    fn an_unreadable_geometry_has_no_value() {
        for text in ["", "POINT", "POINT(1)", "POLYGON((0 0, 1 1", "nowhere"] {
            assert_eq!(
                called("sfWithin", &[wkt(text), wkt(SQUARE)]),
                None,
                "{text}"
            );
        }
        assert_eq!(
            called("sfWithin", &[Literal::from(1).into(), wkt(SQUARE)]),
            None
        );
        assert_eq!(called("sfWithin", &[wkt(SQUARE)]), None);
    }

    #[test]
    fn large_and_deep_geometries_have_no_value() {
        let line = |points: usize| format!("LINESTRING({})", vec!["1 1, 2 2"; points].join(", "));
        assert!(called("isEmpty", &[wkt(&line(1_000))]).is_some());
        assert_eq!(called("isEmpty", &[wkt(&line(40_000))]), None);
        let nested = |levels: usize| {
            format!(
                "{}POINT(1 1){}",
                "GEOMETRYCOLLECTION(".repeat(levels),
                ")".repeat(levels)
            )
        };
        assert!(called("isEmpty", &[wkt(&nested(MAX_DEPTH - 1))]).is_some());
        assert_eq!(called("isEmpty", &[wkt(&nested(MAX_DEPTH))]), None);
    }

    #[test]
    fn a_panic_has_no_value() {
        assert_eq!(call_function(|_| panic!("coordinates"), &[]), None);
    }
}
