//! Pictures of an answer to a query: bars where a column holds numbers, points where there are coordinates.
//!
//! The map has a grid and no land: every outline would be data of others, or a request to somebody else's server.

use oxrdf::vocab::{geosparql, xsd};
use oxrdf::{NamedNodeRef, Term, Variable};

/// Rows drawn: more bars are no picture.
const BARS: usize = 60;
const POINTS: usize = 5000;
/// Columns of numbers drawn.
const SERIES: usize = 3;
/// The width of the map, and the greatest height of it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 480.0;
/// Room around the points, as a share of what they take, and at least so many degrees.
const MARGIN: f64 = 0.08;
const LEAST: f64 = 0.02;
/// The least height for a width, and the least width for a height.
const SLIMMEST: f64 = 0.4;
/// Lines of the grid in each direction at most.
const LINES: f64 = 8.0;
const DEGREES: &str = "°";

/// Bars of one column.
#[derive(Debug, PartialEq)]
pub(super) struct Bars {
    pub(super) column: String,
    /// What the bars are called.
    pub(super) of: String,
    pub(super) bars: Vec<Bar>,
    pub(super) least: f64,
    pub(super) most: f64,
    /// Rows that are not drawn.
    pub(super) more: usize,
}

/// A bar.
#[derive(Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) text: String,
}

/// Points on a grid of longitude and latitude; as far north is drawn as long as as far east in the middle of the map.
#[derive(Debug, PartialEq)]
pub(super) struct Map {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) points: Vec<Dot>,
    pub(super) meridians: Vec<(f64, String)>,
    pub(super) parallels: Vec<(f64, String)>,
    pub(super) told: String,
}

/// A point in the picture.
#[derive(Debug, PartialEq)]
pub(super) struct Dot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) label: String,
}

/// The datatypes of numbers. <https://www.w3.org/TR/xmlschema11-2/#built-in-datatypes>
const NUMBERS: [NamedNodeRef<'_>; 16] = [
    xsd::BYTE,
    xsd::DECIMAL,
    xsd::DOUBLE,
    xsd::FLOAT,
    xsd::INT,
    xsd::INTEGER,
    xsd::LONG,
    xsd::NEGATIVE_INTEGER,
    xsd::NON_NEGATIVE_INTEGER,
    xsd::NON_POSITIVE_INTEGER,
    xsd::POSITIVE_INTEGER,
    xsd::SHORT,
    xsd::UNSIGNED_BYTE,
    xsd::UNSIGNED_INT,
    xsd::UNSIGNED_LONG,
    xsd::UNSIGNED_SHORT,
];

type Rows = [Vec<Option<Term>>];

/// The number of a literal, where it is one and finite.
fn number(term: Option<&Term>) -> Option<f64> {
    let Some(Term::Literal(literal)) = term else { return None };
    let is_number = NUMBERS.contains(&literal.datatype());
    let value: f64 = if is_number { literal.value().trim().parse().ok()? } else { return None };
    value.is_finite().then_some(value)
}

fn text(term: Option<&Term>) -> String {
    match term {
        None => String::new(),
        Some(Term::NamedNode(node)) => lodeseek_rdf::local_name(node.as_str()).to_owned(),
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(other) => other.to_string(),
    }
}

fn column(rows: &Rows, place: usize) -> impl Iterator<Item = Option<&Term>> {
    rows.iter().map(move |row| row.get(place).and_then(Option::as_ref))
}

/// A column in which everything is a number, and there are at least two.
fn is_numeric(rows: &Rows, place: usize) -> bool {
    let there = || column(rows, place).filter(Option::is_some);
    there().nth(1).is_some() && there().all(|term| number(term).is_some())
}

/// Bars of the first columns of numbers, called by the first column of words, or of something else.
pub(super) fn bars(variables: &[Variable], rows: &Rows) -> Vec<Bars> {
    let numeric: Vec<usize> = (0..variables.len()).filter(|place| is_numeric(rows, *place)).collect();
    let others = || (0..variables.len()).filter(|place| !numeric.contains(place));
    // Words rather than IRIs, where there are any.
    let is_worded = |place: &usize| matches!(column(rows, *place).flatten().next(), Some(Term::Literal(_)));
    let names = others().find(is_worded).or_else(|| others().next());
    let coordinates = coordinates(variables);
    let (Some(names), false) = (names, rows.len() < 2) else { return Vec::new() };
    let is_coordinate = |place: usize| coordinates.is_some_and(|(one, other)| place == one || place == other);
    let drawn = numeric.into_iter().filter(|place| !is_coordinate(*place)).take(SERIES);
    drawn.map(|place| series(variables, rows, names, place)).collect()
}

fn series(variables: &[Variable], rows: &Rows, names: usize, place: usize) -> Bars {
    let at = |row: &[Option<Term>], place: usize| row.get(place).and_then(Option::as_ref).cloned();
    let bar = |row: &Vec<Option<Term>>| {
        let (label, value) = (at(row, names), at(row, place));
        Some(Bar { label: text(label.as_ref()), value: number(value.as_ref())?, text: text(value.as_ref()) })
    };
    let bars: Vec<Bar> = rows.iter().take(BARS).filter_map(bar).collect();
    let values = || bars.iter().map(|bar| bar.value);
    Bars {
        column: variables[place].as_str().to_owned(),
        of: variables[names].as_str().to_owned(),
        least: values().fold(0.0, f64::min),
        most: values().fold(0.0, f64::max),
        bars,
        more: rows.len().saturating_sub(BARS),
    }
}

/// The columns of latitude and longitude, by their usual names.
fn coordinates(variables: &[Variable]) -> Option<(usize, usize)> {
    let named = |names: &[&str]| variables.iter().position(|one| names.contains(&one.as_str().to_lowercase().as_str()));
    Some((named(&["lat", "latitude"])?, named(&["long", "lon", "lng", "longitude"])?))
}

/// A point of OGC's well-known text, without an altitude and in CRS84: `POINT(long lat)`.
fn well_known(term: Option<&Term>) -> Option<(f64, f64)> {
    let Some(Term::Literal(literal)) = term else { return None };
    if literal.datatype() != geosparql::WKT_LITERAL {
        return None;
    }
    let value = literal.value().trim();
    let value = value.strip_prefix("<http://www.opengis.net/def/crs/OGC/1.3/CRS84>").unwrap_or(value).trim_start();
    let rest = value.get(..5).filter(|word| word.eq_ignore_ascii_case("point")).and(value.get(5..))?;
    let inner = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut numbers = inner.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(long)), Some(Ok(lat)), None) = (numbers.next(), numbers.next(), numbers.next()) else { return None };
    Some((lat, long))
}

/// A map, where a row has coordinates that lie on Earth.
pub(super) fn map(variables: &[Variable], rows: &Rows) -> Option<Map> {
    let columns = coordinates(variables);
    let by_columns = |row: &[Option<Term>]| {
        let (lat, long) = columns?;
        Some((coordinate(row.get(lat)?.as_ref())?, coordinate(row.get(long)?.as_ref())?))
    };
    let place = |row: &Vec<Option<Term>>| {
        let found = by_columns(row).or_else(|| row.iter().find_map(|term| well_known(term.as_ref())));
        found.filter(|(lat, long)| lat.abs() <= 90.0 && long.abs() <= 180.0)
    };
    let label = |row: &Vec<Option<Term>>| {
        let is_name = |(place, term): &(usize, &Option<Term>)| {
            !columns.is_some_and(|(lat, long)| *place == lat || *place == long) && well_known(term.as_ref()).is_none()
        };
        let told = row.iter().enumerate().filter(is_name).map(|(_, term)| text(term.as_ref()));
        told.filter(|text| !text.is_empty()).take(2).collect::<Vec<_>>().join(", ")
    };
    let points: Vec<((f64, f64), String)> =
        rows.iter().filter_map(|row| Some((place(row)?, label(row)))).take(POINTS).collect();
    (!points.is_empty()).then(|| drawn(&points))
}

/// Coordinates are often plain text.
fn coordinate(term: Option<&Term>) -> Option<f64> {
    number(term).or_else(|| match term {
        Some(Term::Literal(literal)) => literal.value().trim().parse().ok().filter(|value: &f64| value.is_finite()),
        _ => None,
    })
}

fn drawn(points: &[((f64, f64), String)]) -> Map {
    let (lats, longs) = (|| points.iter().map(|((lat, _), _)| *lat), || points.iter().map(|((_, long), _)| *long));
    let (lowest, highest) = ends(lats());
    let (leftmost, rightmost) = ends(longs());
    let squeeze = ((lowest + highest) / 2.0).to_radians().cos().max(0.05);
    // Neither a line nor a slit: each side is at least so much of the other.
    let (tall, broad) = (highest - lowest, (rightmost - leftmost) * squeeze);
    let (south, north) = span(lowest, highest, broad * SLIMMEST, 90.0);
    let (west, east) = span(leftmost, rightmost, tall * SLIMMEST / squeeze, 180.0);
    let scale = (WIDTH / ((east - west) * squeeze)).min(HEIGHT / (north - south));
    let x = |long: f64| tenths((long - west) * squeeze * scale);
    let y = |lat: f64| tenths((north - lat) * scale);
    let dot = |((lat, long), label): &((f64, f64), String)| Dot { x: x(*long), y: y(*lat), label: label.clone() };
    let lines = |from: f64, to: f64| grid(from, to).into_iter();
    Map {
        width: x(east),
        height: y(south),
        points: points.iter().map(dot).collect(),
        meridians: lines(west, east)
            .map(|(long, told)| (x(long), told + if long < 0.0 { " W" } else { " E" }))
            .collect(),
        parallels: lines(south, north)
            .map(|(lat, told)| (y(lat), told + if lat < 0.0 { " S" } else { " N" }))
            .collect(),
        told: match points {
            [((lat, long), _)] => format!("A point at {lat:.2} north and {long:.2} east"),
            _ => format!(
                "{} points from {lowest:.2} to {highest:.2} north and {leftmost:.2} to {rightmost:.2} east",
                points.len()
            ),
        },
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The least and the greatest.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(least, most), one| (least.min(one), most.max(one)))
}

/// From the least to the greatest, with room around, over so many degrees at least and not beyond the ends of Earth.
fn span(least: f64, most: f64, degrees: f64, end: f64) -> (f64, f64) {
    let room = ((most - least) * MARGIN).max(LEAST).max((degrees - (most - least)) / 2.0);
    ((least - room).max(-end), (most + room).min(end))
}

/// Round numbers of degrees, and how they are told.
fn grid(from: f64, to: f64) -> Vec<(f64, String)> {
    let steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0];
    let step = steps.into_iter().find(|step| (to - from) / step <= LINES).unwrap_or(90.0);
    let digits = if step < 0.1 { 2 } else { usize::from(step < 1.0) };
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    (first..=last).map(|line| line as f64 * step).map(|at| (at, format!("{:.digits$}{DEGREES}", at.abs()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{Literal, NamedNode};
    use proptest::prelude::*;

    fn variables(names: &[&str]) -> Vec<Variable> {
        names.iter().map(|name| Variable::new(*name).expect("a variable")).collect()
    }

    fn word(text: &str) -> Option<Term> {
        Some(Literal::new_simple_literal(text).into())
    }

    fn point(text: &str) -> Option<Term> {
        let kind = NamedNode::new("http://www.opengis.net/ont/geosparql#wktLiteral").expect("an IRI");
        Some(Literal::new_typed_literal(text, kind).into())
    }

    #[test]
    fn a_column_of_numbers_is_drawn_by_the_names_beside_it() {
        let rows = [("oak", 12), ("elm", -3)].map(|(name, count)| vec![word(name), Some(Literal::from(count).into())]);
        let found = bars(&variables(&["tree", "count"]), &rows);
        assert_eq!((found.len(), found[0].column.as_str(), found[0].of.as_str()), (1, "count", "tree"));
        assert_eq!((found[0].least, found[0].most), (-3.0, 12.0));
        assert_eq!(found[0].bars[1], Bar { label: "elm".to_owned(), value: -3.0, text: "-3".to_owned() });
        // One row is no picture, nor are words that look like numbers, nor numbers that nothing names.
        assert!(bars(&variables(&["tree", "count"]), &rows[..1]).is_empty());
        assert!(bars(&variables(&["a", "b"]), &[vec![word("1"), word("2")], vec![word("3"), word("4")]]).is_empty());
        let numbers = [1, 2].map(|count| vec![Some(Term::from(Literal::from(count)))]);
        assert!(bars(&variables(&["count"]), &numbers).is_empty());
    }

    #[test]
    fn coordinates_make_a_map_and_no_bars() {
        let row = |name: &str, lat: f64, long: f64| {
            vec![word(name), Some(Literal::from(lat).into()), Some(Literal::from(long).into())]
        };
        let rows = [row("Annapolis", 38.97, -76.5), row("Baltimore", 39.29, -76.61), row("nowhere", 99.0, 0.0)];
        let names = variables(&["city", "lat", "long"]);
        assert!(bars(&names, &rows).is_empty());
        let map = map(&names, &rows).expect("a map");
        let [south, north] = &map.points[..] else { panic!("{map:?}") };
        assert_eq!((south.label.as_str(), north.label.as_str()), ("Annapolis", "Baltimore"));
        assert!(south.y > north.y && south.x > north.x, "north is up and east is right: {map:?}");
        assert!(map.parallels.iter().any(|(_, told)| told.ends_with("° N")), "{map:?}");
        assert!(map.meridians.iter().all(|(_, told)| told.ends_with("° W")), "{map:?}");
    }

    #[test]
    fn points_of_well_known_text() {
        for (text, expected) in [
            ("POINT(-76.5 38.97)", Some((38.97, -76.5))),
            ("<http://www.opengis.net/def/crs/OGC/1.3/CRS84> Point (2 49)", Some((49.0, 2.0))),
            // The axes of other systems are the other way round.
            ("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(49 2)", None),
            ("POINT Z (1 2 3)", None),
            ("LINESTRING(1 2, 3 4)", None),
            ("POINT(", None),
            ("", None),
        ] {
            assert_eq!(well_known(point(text).as_ref()), expected, "{text}");
        }
        assert_eq!(well_known(word("POINT(1 2)").as_ref()), None);
    }

    proptest! {
        #[test]
        fn every_point_lies_in_the_picture(places in prop::collection::vec((-90.0..=90.0f64, -180.0..=180.0f64), 1..20)) {
            let points: Vec<_> = places.into_iter().map(|place| (place, String::new())).collect();
            let map = drawn(&points);
            prop_assert!(map.width <= WIDTH + 0.1 && map.height <= HEIGHT + 0.1);
            for dot in &map.points {
                prop_assert!(map.height >= 20.0 && map.width >= 20.0, "{map:?}");
                prop_assert!((0.0..=map.width).contains(&dot.x) && (0.0..=map.height).contains(&dot.y), "{map:?}");
            }
            prop_assert!(map.meridians.len() <= 10 && map.parallels.len() <= 10);
        }
    }
}
