//! Charts of query results: bars for columns of numbers, and a map for coordinates.
//!
//! The map has a grid without coastlines: these would need external data, or requests to another server.

use oxrdf::vocab::{geosparql, xsd};
use oxrdf::{Literal, NamedNodeRef, Term, Variable};

/// Maximum numbers of bars and of points.
const MAX_BARS: usize = 60;
const MAX_POINTS: usize = 5000;
/// Maximum number of columns drawn as bars.
const MAX_SERIES: usize = 3;
/// Width of the map, and its maximum height, in pixels.
const MAP_WIDTH_PIXELS: f64 = 720.0;
const MAX_MAP_HEIGHT_PIXELS: f64 = 480.0;
/// Margin around the points as a share of their extent, and its minimum in degrees.
const MARGIN_SHARE: f64 = 0.08;
const MIN_MARGIN_DEGREES: f64 = 0.02;
/// Minimum ratio of height to width, and of width to height.
const MIN_SIDE_RATIO: f64 = 0.4;
/// Maximum number of grid lines in each direction.
const MAX_GRID_LINES: f64 = 8.0;
const DEGREES: &str = "°";

/// Bars of one column.
#[derive(Debug, PartialEq)]
pub(super) struct Bars {
    pub(super) column: String,
    pub(super) label_column: String,
    pub(super) bars: Vec<Bar>,
    /// Minimum and maximum of the scale, which includes 0.
    pub(super) min: f64,
    pub(super) max: f64,
    /// Number of values without a bar, because there are too many.
    pub(super) more: usize,
}

/// A bar.
#[derive(Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) text: String,
}

/// Points on a grid of longitude and latitude, in an equirectangular projection that is true to scale in the middle.
#[derive(Debug, PartialEq)]
pub(super) struct Map {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) points: Vec<Dot>,
    pub(super) meridians: Vec<(f64, String)>,
    pub(super) parallels: Vec<(f64, String)>,
    pub(super) description: String,
}

/// A point in pixels.
#[derive(Debug, PartialEq)]
pub(super) struct Dot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) label: String,
}

/// Numeric datatypes. <https://www.w3.org/TR/xmlschema11-2/#built-in-datatypes>
const NUMERIC_DATATYPES: [NamedNodeRef<'_>; 16] = [
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

/// Returns the value of a numeric literal if it is finite.
fn numeric_value(term: Option<&Term>) -> Option<f64> {
    let Some(Term::Literal(literal)) = term else {
        return None;
    };
    if NUMERIC_DATATYPES.contains(&literal.datatype()) {
        finite_number(literal)
    } else {
        None
    }
}

fn finite_number(literal: &Literal) -> Option<f64> {
    let value: f64 = literal.value().trim().parse().ok()?;
    value.is_finite().then_some(value)
}

fn term_text(term: Option<&Term>) -> String {
    match term {
        None => String::new(),
        Some(Term::NamedNode(node)) => lodeseek_rdf::local_name(node.as_str()).to_owned(),
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(other) => other.to_string(),
    }
}

/// Yields the values of a column.
fn column_values(rows: &Rows, place: usize) -> impl Iterator<Item = &Term> {
    rows.iter().filter_map(move |row| row.get(place)?.as_ref())
}

/// If true, the column has at least two values, all of them numbers.
fn is_numeric(rows: &Rows, place: usize) -> bool {
    column_values(rows, place).nth(1).is_some()
        && column_values(rows, place).all(|term| numeric_value(Some(term)).is_some())
}

/// Returns bars for the first numeric columns, labelled by the first column of literals, else by another column.
pub(super) fn bars(variables: &[Variable], rows: &Rows) -> Vec<Bars> {
    let (numeric, others): (Vec<usize>, Vec<usize>) =
        (0..variables.len()).partition(|place| is_numeric(rows, *place));
    // Literals are preferred to IRIs as labels.
    let literals = others
        .iter()
        .find(|place| matches!(column_values(rows, **place).next(), Some(Term::Literal(_))));
    let Some(names) = literals.or(others.first()) else {
        return Vec::new();
    };
    if rows.len() < 2 {
        return Vec::new();
    }
    // Coordinates are numbers, too, but their place is the map.
    let coordinates = match find_coordinate_columns(variables) {
        Some((latitude, longitude)) => vec![latitude, longitude],
        None => Vec::new(),
    };
    numeric
        .into_iter()
        .filter(|place| !coordinates.contains(place))
        .take(MAX_SERIES)
        .map(|place| column_bars(variables, rows, *names, place))
        .collect()
}

fn column_bars(variables: &[Variable], rows: &Rows, names: usize, place: usize) -> Bars {
    let mut bars = Vec::new();
    let (mut min, mut max, mut more) = (0.0, 0.0, 0);
    for row in rows {
        let term = row.get(place).and_then(Option::as_ref);
        let Some(value) = numeric_value(term) else {
            continue;
        };
        if bars.len() == MAX_BARS {
            more += 1;
            continue;
        }
        min = f64::min(min, value);
        max = f64::max(max, value);
        bars.push(Bar {
            label: term_text(row.get(names).and_then(Option::as_ref)),
            value,
            text: term_text(term),
        });
    }
    Bars {
        column: variables[place].as_str().to_owned(),
        label_column: variables[names].as_str().to_owned(),
        min,
        max,
        bars,
        more,
    }
}

/// Finds the columns of latitude and longitude by their usual names.
fn find_coordinate_columns(variables: &[Variable]) -> Option<(usize, usize)> {
    Some((
        find_column(variables, &["lat", "latitude"])?,
        find_column(variables, &["long", "lon", "lng", "longitude"])?,
    ))
}

fn find_column(variables: &[Variable], names: &[&str]) -> Option<usize> {
    variables
        .iter()
        .position(|one| names.contains(&one.as_str().to_lowercase().as_str()))
}

/// Parses a point of OGC's well-known text, without an altitude and in CRS84: `POINT(long lat)`.
fn parse_wkt_point(term: Option<&Term>) -> Option<(f64, f64)> {
    let Some(Term::Literal(literal)) = term else {
        return None;
    };
    if literal.datatype() != geosparql::WKT_LITERAL {
        return None;
    }
    let value = literal.value().trim();
    let value = value
        .strip_prefix("<http://www.opengis.net/def/crs/OGC/1.3/CRS84>")
        .unwrap_or(value)
        .trim_start();
    let rest = value
        .get(..5)
        .filter(|word| word.eq_ignore_ascii_case("point"))
        .and(value.get(5..))?;
    let inner = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut numbers = inner.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(long)), Some(Ok(lat)), None) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return None;
    };
    Some((lat, long))
}

/// Returns a map if a row has valid coordinates.
pub(super) fn map(variables: &[Variable], rows: &Rows) -> Option<Map> {
    let columns = find_coordinate_columns(variables);
    let mut points = Vec::new();
    for row in rows {
        if points.len() == MAX_POINTS {
            break;
        }
        if let Some(point) = find_point(row, columns) {
            points.push((point, row_label(row, columns)));
        }
    }
    if points.is_empty() {
        None
    } else {
        Some(draw_map(&points))
    }
}

/// Returns latitude and longitude of a row: of the two columns, else of the first point in well-known text.
fn find_point(row: &[Option<Term>], columns: Option<(usize, usize)>) -> Option<(f64, f64)> {
    let (lat, long) = match point_of_columns(row, columns) {
        Some(point) => point,
        None => row.iter().find_map(|term| parse_wkt_point(term.as_ref()))?,
    };
    let is_valid = lat.abs() <= 90.0 && long.abs() <= 180.0;
    is_valid.then_some((lat, long))
}

fn point_of_columns(row: &[Option<Term>], columns: Option<(usize, usize)>) -> Option<(f64, f64)> {
    let (lat, long) = columns?;
    Some((
        parse_coordinate(row.get(lat)?.as_ref()?)?,
        parse_coordinate(row.get(long)?.as_ref()?)?,
    ))
}

/// Parses a coordinate. Coordinates are often plain literals.
fn parse_coordinate(term: &Term) -> Option<f64> {
    match term {
        Term::Literal(literal) => finite_number(literal),
        _ => None,
    }
}

/// Returns the first two texts of a row that are no coordinates.
fn row_label(row: &[Option<Term>], columns: Option<(usize, usize)>) -> String {
    let mut texts = Vec::new();
    for (place, term) in row.iter().enumerate() {
        let is_coordinate = match columns {
            Some((lat, long)) => place == lat || place == long,
            None => false,
        };
        let text = term_text(term.as_ref());
        if !is_coordinate && !text.is_empty() && parse_wkt_point(term.as_ref()).is_none() {
            texts.push(text);
        }
        if texts.len() == 2 {
            break;
        }
    }
    texts.join(", ")
}

/// An equirectangular projection to pixels.
struct Projection {
    west: f64,
    north: f64,
    /// Ratio of a degree of longitude to one of latitude.
    squeeze: f64,
    /// Number of pixels of a degree of latitude.
    scale: f64,
}

impl Projection {
    fn x(&self, longitude: f64) -> f64 {
        round_to_tenth((longitude - self.west) * self.squeeze * self.scale)
    }

    fn y(&self, latitude: f64) -> f64 {
        round_to_tenth((self.north - latitude) * self.scale)
    }
}

fn draw_map(points: &[((f64, f64), String)]) -> Map {
    let (lowest, highest) = min_and_max(points.iter().map(|((lat, _), _)| *lat));
    let (leftmost, rightmost) = min_and_max(points.iter().map(|((_, long), _)| *long));
    // Degrees of longitude become shorter with the cosine of latitude. The bound avoids a division by zero at the poles.
    let squeeze = ((lowest + highest) / 2.0).to_radians().cos().max(0.05);
    // Avoids degenerate maps: each side has at least a share of the other.
    let (tall, broad) = (highest - lowest, (rightmost - leftmost) * squeeze);
    let (south, north) = widen_interval(lowest, highest, broad * MIN_SIDE_RATIO, 90.0);
    let (west, east) = widen_interval(leftmost, rightmost, tall * MIN_SIDE_RATIO / squeeze, 180.0);
    let scale =
        (MAP_WIDTH_PIXELS / ((east - west) * squeeze)).min(MAX_MAP_HEIGHT_PIXELS / (north - south));
    let projection = Projection {
        west,
        north,
        squeeze,
        scale,
    };
    let mut dots = Vec::new();
    for ((lat, long), label) in points {
        dots.push(Dot {
            x: projection.x(*long),
            y: projection.y(*lat),
            label: label.clone(),
        });
    }
    let mut meridians = Vec::new();
    for (long, label) in grid_lines(west, east) {
        let side = if long < 0.0 { " W" } else { " E" };
        meridians.push((projection.x(long), label + side));
    }
    let mut parallels = Vec::new();
    for (lat, label) in grid_lines(south, north) {
        let side = if lat < 0.0 { " S" } else { " N" };
        parallels.push((projection.y(lat), label + side));
    }
    Map {
        width: projection.x(east),
        height: projection.y(south),
        points: dots,
        meridians,
        parallels,
        description: match points {
            [((lat, long), _)] => format!("A point at {lat:.2} north and {long:.2} east"),
            _ => format!(
                "{} points from {lowest:.2} to {highest:.2} north and {leftmost:.2} to {rightmost:.2} east",
                points.len()
            ),
        },
    }
}

fn round_to_tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Returns the minimum and the maximum.
fn min_and_max(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(least, most), one| {
        (least.min(one), most.max(one))
    })
}

/// Adds a margin to an interval, and widens it to a minimum of degrees within the bounds of Earth.
fn widen_interval(least: f64, most: f64, degrees: f64, end: f64) -> (f64, f64) {
    let room = ((most - least) * MARGIN_SHARE)
        .max(MIN_MARGIN_DEGREES)
        .max((degrees - (most - least)) / 2.0);
    ((least - room).max(-end), (most + room).min(end))
}

/// Returns the round numbers of degrees in an interval, with labels.
fn grid_lines(from: f64, to: f64) -> Vec<(f64, String)> {
    let steps = [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0,
    ];
    let step = steps
        .into_iter()
        .find(|step| (to - from) / step <= MAX_GRID_LINES)
        .unwrap_or(90.0);
    let digits = if step < 0.1 {
        2
    } else {
        usize::from(step < 1.0)
    };
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    (first..=last)
        .map(|line| line as f64 * step)
        .map(|at| (at, format!("{:.digits$}{DEGREES}", at.abs())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::NamedNode;
    use proptest::prelude::*;

    fn variables(names: &[&str]) -> Vec<Variable> {
        names
            .iter()
            .map(|name| Variable::new(*name).expect("a variable"))
            .collect()
    }

    fn word(text: &str) -> Option<Term> {
        Some(Literal::new_simple_literal(text).into())
    }

    fn point(text: &str) -> Option<Term> {
        let kind =
            NamedNode::new("http://www.opengis.net/ont/geosparql#wktLiteral").expect("an IRI");
        Some(Literal::new_typed_literal(text, kind).into())
    }

    #[test]
    fn a_column_of_numbers_is_drawn_by_the_names_beside_it() {
        let rows = [("oak", 12), ("elm", -3)]
            .map(|(name, count)| vec![word(name), Some(Literal::from(count).into())]);
        let found = bars(&variables(&["tree", "count"]), &rows);
        assert_eq!(
            (
                found.len(),
                found[0].column.as_str(),
                found[0].label_column.as_str()
            ),
            (1, "count", "tree")
        );
        assert_eq!((found[0].min, found[0].max), (-3.0, 12.0));
        assert_eq!(
            found[0].bars[1],
            Bar {
                label: "elm".to_owned(),
                value: -3.0,
                text: "-3".to_owned()
            }
        );
        // One row, words that look like numbers, and numbers without a label column give no bars.
        assert!(bars(&variables(&["tree", "count"]), &rows[..1]).is_empty());
        assert!(
            bars(
                &variables(&["a", "b"]),
                &[vec![word("1"), word("2")], vec![word("3"), word("4")]]
            )
            .is_empty()
        );
        let numbers = [1, 2].map(|count| vec![Some(Term::from(Literal::from(count)))]);
        assert!(bars(&variables(&["count"]), &numbers).is_empty());
    }

    #[test]
    fn values_beyond_the_last_bar_are_counted() {
        let mut rows = vec![vec![word("none"), None]; 5];
        for count in 0..MAX_BARS + 2 {
            rows.push(vec![word("tree"), Some(Literal::from(count as i64).into())]);
        }
        rows.push(vec![word("none"), None]);
        let found = bars(&variables(&["tree", "count"]), &rows);
        assert_eq!((found[0].bars.len(), found[0].more), (MAX_BARS, 2));
        assert_eq!(found[0].max, (MAX_BARS - 1) as f64);
    }

    #[test]
    fn coordinates_make_a_map_and_no_bars() {
        let row = |name: &str, lat: f64, long: f64| {
            vec![
                word(name),
                Some(Literal::from(lat).into()),
                Some(Literal::from(long).into()),
            ]
        };
        let rows = [
            row("Annapolis", 38.97, -76.5),
            row("Baltimore", 39.29, -76.61),
            row("nowhere", 99.0, 0.0),
        ];
        let names = variables(&["city", "lat", "long"]);
        assert!(bars(&names, &rows).is_empty());
        let map = map(&names, &rows).expect("a map");
        let [south, north] = &map.points[..] else {
            panic!("{map:?}")
        };
        assert_eq!(
            (south.label.as_str(), north.label.as_str()),
            ("Annapolis", "Baltimore")
        );
        assert!(
            south.y > north.y && south.x > north.x,
            "north is up and east is right: {map:?}"
        );
        assert!(
            map.parallels
                .iter()
                .any(|(_, label)| label.ends_with("° N")),
            "{map:?}"
        );
        assert!(
            map.meridians
                .iter()
                .all(|(_, label)| label.ends_with("° W")),
            "{map:?}"
        );
    }

    #[test]
    fn points_of_well_known_text() {
        for (text, expected) in [
            ("POINT(-76.5 38.97)", Some((38.97, -76.5))),
            (
                "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> Point (2 49)",
                Some((49.0, 2.0)),
            ),
            // Other reference systems have another order of axes.
            (
                "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(49 2)",
                None,
            ),
            ("POINT Z (1 2 3)", None),
            ("LINESTRING(1 2, 3 4)", None),
            ("POINT(", None),
            ("", None),
        ] {
            assert_eq!(parse_wkt_point(point(text).as_ref()), expected, "{text}");
        }
        assert_eq!(parse_wkt_point(word("POINT(1 2)").as_ref()), None);
    }

    proptest! {
        #[test]
        fn every_point_lies_in_the_picture(places in prop::collection::vec((-90.0..=90.0f64, -180.0..=180.0f64), 1..20)) {
            let points: Vec<_> = places.into_iter().map(|place| (place, String::new())).collect();
            let map = draw_map(&points);
            prop_assert!(map.width <= MAP_WIDTH_PIXELS + 0.1 && map.height <= MAX_MAP_HEIGHT_PIXELS + 0.1);
            for dot in &map.points {
                prop_assert!(map.height >= 20.0 && map.width >= 20.0, "{map:?}");
                prop_assert!((0.0..=map.width).contains(&dot.x) && (0.0..=map.height).contains(&dot.y), "{map:?}");
            }
            prop_assert!(map.meridians.len() <= 10 && map.parallels.len() <= 10);
        }
    }
}
