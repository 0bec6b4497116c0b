//! Bounding boxes of geometries in Well-known Text and GeoJSON.

use super::BoundingBox;
use serde_json::Value;

/// Maximum number of bytes of a geometry. Larger ones are ignored.
const MAX_GEOMETRY: usize = 4 << 20;
/// Coordinate reference system of GeoSPARQL's literals if none is given: longitude before latitude.
const CRS84: &str = "/CRS84";
/// Codes of EPSG for reference systems with latitude before longitude: WGS 84, and those of Europe, North America and
/// Australia, which differ from it by a few metres at most.
const LATITUDE_FIRST: [&str; 4] = ["/4326", "/4258", "/4269", "/4283"];

/// Names of geometries, and of the boxes of databases.
const GEOMETRIES: [&str; 17] = [
    "BOX",
    "BOX2D",
    "CIRCULARSTRING",
    "COMPOUNDCURVE",
    "CURVEPOLYGON",
    "GEOMETRYCOLLECTION",
    "LINEARRING",
    "LINESTRING",
    "MULTICURVE",
    "MULTILINESTRING",
    "MULTIPOINT",
    "MULTIPOLYGON",
    "MULTISURFACE",
    "POINT",
    "POLYGON",
    "POLYHEDRALSURFACE",
    "TIN",
];

/// Order of the coordinates of a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AxisOrder {
    LongitudeFirst,
    LatitudeFirst,
}

/// Returns the bounding box of a geometry in Well-known Text, as in GeoSPARQL's `wktLiteral`.
///
/// The coordinate reference system is CRS 84 (longitude first), or EPSG 4326, 4258, 4269 or 4283 (latitude first) if an
/// IRI before the geometry declares it. `SRID=4326;` before it and `ENVELOPE(west, east, north, south)` are read, too. Returns `None`
/// for other reference systems, empty geometries and coordinates out of range.
///
/// ```
/// use lodeseek_catalog::box_of_wkt;
/// let bounds = box_of_wkt("POLYGON((2.5 49.4, 6.5 49.4, 6.5 51.6, 2.5 49.4))").expect("a box");
/// assert_eq!(bounds.to_string(), "2.5,49.4,6.5,51.6");
/// ```
#[must_use]
pub fn box_of_wkt(text: &str) -> Option<BoundingBox> {
    if text.len() > MAX_GEOMETRY {
        return None;
    }
    let (order, geometry) = reference_system(text.trim())?;
    if let Some(numbers) = envelope(geometry) {
        let [west, east, north, south] = numbers?;
        return BoundingBox::new(west, south, east, north);
    }
    let name = geometry.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    if !GEOMETRIES.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return None;
    }
    let mut boxes = Vec::new();
    for part in geometry.split(['(', ')']) {
        let mut extent = Extent::default();
        for position in part.split(',') {
            let mut numbers = position.split_ascii_whitespace().map_while(|number| number.parse::<f64>().ok());
            if let (Some(first), Some(second)) = (numbers.next(), numbers.next()) {
                match order {
                    AxisOrder::LongitudeFirst => extent.add(first, second),
                    AxisOrder::LatitudeFirst => extent.add(second, first),
                }
            }
        }
        if let Some(extent) = extent.bounds() {
            boxes.push(extent?);
        }
    }
    BoundingBox::around(&boxes)
}

/// Splits the reference system from a geometry. `None` if it is not supported.
fn reference_system(text: &str) -> Option<(AxisOrder, &str)> {
    if let Some((system, geometry)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        let order = if system.ends_with(CRS84) {
            AxisOrder::LongitudeFirst
        } else if system.contains("EPSG") && LATITUDE_FIRST.iter().any(|code| system.ends_with(code)) {
            AxisOrder::LatitudeFirst
        } else {
            return None;
        };
        return Some((order, geometry.trim()));
    }
    match text.split_once(';') {
        Some((system, geometry)) => {
            system.trim().eq_ignore_ascii_case("SRID=4326").then(|| (AxisOrder::LongitudeFirst, geometry.trim()))
        }
        None => Some((AxisOrder::LongitudeFirst, text)),
    }
}

/// Reads `ENVELOPE(west, east, north, south)`. The inner `None` is an unreadable envelope.
fn envelope(geometry: &str) -> Option<Option<[f64; 4]>> {
    let (name, rest) = geometry.split_once('(')?;
    if !name.trim().eq_ignore_ascii_case("ENVELOPE") {
        return None;
    }
    let inner = rest.trim_end().strip_suffix(')').unwrap_or(rest);
    let numbers: Option<Vec<f64>> = inner.split(',').map(|number| number.trim().parse().ok()).collect();
    Some(numbers.and_then(|numbers| numbers.try_into().ok()))
}

/// Smallest and largest coordinates of a part of a geometry. A part does not cross the antimeridian, unless its
/// longitudes exceed 180°.
#[derive(Default)]
struct Extent(Option<[f64; 4]>);

impl Extent {
    fn add(&mut self, longitude: f64, latitude: f64) {
        let [west, south, east, north] = self.0.unwrap_or([longitude, latitude, longitude, latitude]);
        self.0 = Some([west.min(longitude), south.min(latitude), east.max(longitude), north.max(latitude)]);
    }

    /// Returns the box, if there is a position; the inner `None` means that a coordinate is out of range.
    fn bounds(self) -> Option<Option<BoundingBox>> {
        self.0.map(|[west, south, east, north]| BoundingBox::new(west, south, east, north))
    }
}

/// Returns the bounding box of a GeoJSON object (RFC 7946): its member `bbox`, or else that of its coordinates.
///
/// Returns `None` if the text is no GeoJSON, or a coordinate is out of range.
///
/// ```
/// use lodeseek_catalog::box_of_geojson;
/// let bounds = box_of_geojson(r#"{"type": "Point", "coordinates": [8.5, 47.4]}"#).expect("a box");
/// assert_eq!(bounds.to_string(), "8.5,47.4,8.5,47.4");
/// ```
#[must_use]
pub fn box_of_geojson(text: &str) -> Option<BoundingBox> {
    if text.len() > MAX_GEOMETRY {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let mut boxes = Vec::new();
    add_object(&value, &mut boxes)?;
    BoundingBox::around(&boxes)
}

/// Adds the boxes of an object. `None` if a coordinate is out of range or missing.
fn add_object(value: &Value, boxes: &mut Vec<BoundingBox>) -> Option<()> {
    if let Some(bounds) = value.get("bbox").and_then(Value::as_array) {
        let numbers: Vec<f64> = bounds.iter().map(Value::as_f64).collect::<Option<_>>()?;
        boxes.push(match numbers.as_slice() {
            &[west, south, east, north] | &[west, south, _, east, north, _] => {
                BoundingBox::new(west, south, east, north)?
            }
            _ => return None,
        });
        return Some(());
    }
    if let Some(coordinates) = value.get("coordinates") {
        return add_coordinates(coordinates, boxes);
    }
    if let Some(geometry) = value.get("geometry").filter(|geometry| !geometry.is_null()) {
        add_object(geometry, boxes)?;
    }
    for key in ["geometries", "features"] {
        for member in value.get(key).and_then(Value::as_array).into_iter().flatten() {
            add_object(member, boxes)?;
        }
    }
    Some(())
}

/// Adds the box of a position or of a list of positions, and those of the lists in a list.
fn add_coordinates(value: &Value, boxes: &mut Vec<BoundingBox>) -> Option<()> {
    let values = value.as_array()?;
    if values.first().is_some_and(Value::is_number) {
        let (longitude, latitude) = position(value)?;
        boxes.push(BoundingBox::from_position(longitude, latitude)?);
        return Some(());
    }
    let mut extent = Extent::default();
    for member in values {
        match position(member) {
            Some((longitude, latitude)) => extent.add(longitude, latitude),
            None => add_coordinates(member, boxes)?,
        }
    }
    if let Some(bounds) = extent.bounds() {
        boxes.push(bounds?);
    }
    Some(())
}

fn position(value: &Value) -> Option<(f64, f64)> {
    let numbers = value.as_array()?;
    numbers.first()?.as_f64().zip(numbers.get(1)?.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wkt(text: &str) -> String {
        box_of_wkt(text).map_or("none".to_owned(), |bounds| bounds.to_string())
    }

    fn geojson(text: &str) -> String {
        box_of_geojson(text).map_or("none".to_owned(), |bounds| bounds.to_string())
    }

    #[test]
    fn well_known_text_has_a_box() {
        for (text, expected) in [
            ("POINT(8.5 47.4)", "8.5,47.4,8.5,47.4"),
            ("Point (8.5 47.4)", "8.5,47.4,8.5,47.4"),
            ("POINT Z (8.5 47.4 400)", "8.5,47.4,8.5,47.4"),
            ("LINESTRING(1 2, 3 4, -5 6)", "-5,2,3,6"),
            ("POLYGON((0 0,0 1,1 1,0 0),(0.2 0.2,0.3 0.3,0.2 0.2))", "0,0,1,1"),
            (
                "MULTIPOLYGON(((170 -20,180 -20,180 -10,170 -20)),((-180 -20,-170 -15,-180 -10,-180 -20)))",
                "170,-20,-170,-10",
            ),
            ("GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(3 4,5 6))", "1,2,5,6"),
            ("POLYGON((170 0,190 0,190 5,170 0))", "170,0,-170,5"),
            ("ENVELOPE(2.5, 6.5, 51.6, 49.4)", "2.5,49.4,6.5,51.6"),
            ("SRID=4326;POINT(8.5 47.4)", "8.5,47.4,8.5,47.4"),
            ("<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(8.5 47.4)", "8.5,47.4,8.5,47.4"),
            ("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(47.4 8.5)", "8.5,47.4,8.5,47.4"),
            ("<http://www.opengis.net/def/crs/EPSG/0/4283> POLYGON((\r\n -42 147, -43 148))", "147,-43,148,-42"),
            ("<http://www.opengis.net/def/crs/EPSG/0/25830> POINT(500000 4700000)", "none"),
            ("SRID=25830;POINT(1 2)", "none"),
            ("POINT(500000 4700000)", "none"),
            ("POINT EMPTY", "none"),
            ("POLYGON((0 0,0 100,1 1,0 0))", "none"),
            ("ENVELOPE(2.5, 6.5, 51.6)", "none"),
            ("BOX(1 2,3 4)", "1,2,3,4"),
            ("a lake (8.5 47.4)", "none"),
            ("8.5 47.4", "none"),
            ("", "none"),
        ] {
            assert_eq!(wkt(text), expected, "{text}");
        }
    }

    #[test]
    fn geojson_has_a_box() {
        for (text, expected) in [
            (r#"{"type":"Point","coordinates":[8.5,47.4,400]}"#, "8.5,47.4,8.5,47.4"),
            (r#"{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}"#, "0,0,1,1"),
            (r#"{"type":"Polygon","bbox":[177,-20,-178,-16],"coordinates":[]}"#, "177,-20,-178,-16"),
            (r#"{"type":"Point","bbox":[1,2,0,3,4,9],"coordinates":[1,2]}"#, "1,2,3,4"),
            (r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}"#, "1,2,1,2"),
            (
                r#"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null},{"type":"Feature","geometry":
                {"type":"MultiPoint","coordinates":[[1,2],[3,4]]}}]}"#,
                "1,2,3,4",
            ),
            (r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[5,6]}]}"#, "5,6,5,6"),
            (
                r#"{"type":"MultiPolygon","coordinates":[[[[175,0],[180,0],[180,5],[175,0]]],[[[-180,0],[-175,1],[-180,5]]]]}"#,
                "175,0,-175,5",
            ),
            (r#"{"type":"Point","coordinates":[1,200]}"#, "none"),
            (r#"{"type":"Point","coordinates":["1","2"]}"#, "none"),
            (r#"{"name":"x"}"#, "none"),
            ("[1,2]", "none"),
            ("{", "none"),
        ] {
            assert_eq!(geojson(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_ends_the_program(text in "\\PC{0,40}|[A-Z()0-9., -]{0,40}") {
            let _ = (box_of_wkt(&text), box_of_geojson(&text));
        }

        /// The box of a multipoint holds each of its points.
        #[test]
        fn points_are_in_the_box(points in proptest::collection::vec((-180i32..=180, -90i32..=90), 1..8)) {
            let list: Vec<String> = points.iter().map(|(x, y)| format!("({x} {y})")).collect();
            let bounds = box_of_wkt(&format!("MULTIPOINT({})", list.join(","))).expect("a box");
            let list: Vec<String> = points.iter().map(|(x, y)| format!("[[{x},{y}]]")).collect();
            let same = box_of_geojson(&format!(r#"{{"coordinates":[{}]}}"#, list.join(","))).expect("a box");
            prop_assert_eq!(bounds, same);
            for (x, y) in points {
                let point = BoundingBox::from_position(f64::from(x), f64::from(y)).expect("a point");
                prop_assert!(bounds.intersects(point), "{bounds} {point}");
            }
        }
    }
}
