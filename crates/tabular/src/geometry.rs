//! Geometries of GeoJSON (RFC 7946) as well-known text.

use crate::limits::MAX_WKT_BYTES;
use crate::value::Value;
use std::fmt::Write as _;

/// Geometry as text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Wkt {
    /// The geometry.
    Whole(String),
    /// Its bounding box, because the text is too long.
    Box(String),
}

/// Returns the geometry of a GeoJSON object; `None` if it is none, or damaged.
pub(crate) fn to_wkt(value: &Value) -> Option<Wkt> {
    let mut text = String::new();
    write_geometry(value, &mut text, 0)?;
    if text.len() <= MAX_WKT_BYTES {
        return Some(Wkt::Whole(text));
    }
    let mut bounds = Bounds::default();
    bounds.add(value);
    bounds.to_wkt().map(Wkt::Box)
}

/// Returns true for an object with the members of a geometry.
pub(crate) fn is_geometry(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_text);
    kind.is_some_and(|kind| wkt_keyword(kind).is_some() && value.get("coordinates").is_some())
        || kind == Some("GeometryCollection") && value.get("geometries").is_some()
}

/// Returns the name of a reference system that is not WGS 84, from a `crs` of GeoJSON 2008. RFC 7946 has WGS 84 only.
pub(crate) fn foreign_system(crs: &Value) -> Option<String> {
    let properties = crs.get("properties");
    let declared = match properties {
        Some(properties) => ["name", "href", "code"]
            .iter()
            .find_map(|key| properties.get(key)),
        None => Some(crs),
    };
    let name = declared.and_then(Value::scalar_text)?.trim();
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit([':', '/']).next().unwrap_or(&lower);
    let is_wgs84 = matches!(
        last,
        "4326" | "4979" | "crs84" | "crs84h" | "wgs84" | "wgs 84" | ""
    );
    (!is_wgs84).then(|| name.to_owned())
}

fn wkt_keyword(kind: &str) -> Option<(&'static str, usize)> {
    Some(match kind {
        "Point" => ("POINT", 0),
        "LineString" => ("LINESTRING", 1),
        "MultiPoint" => ("MULTIPOINT", 1),
        "Polygon" => ("POLYGON", 2),
        "MultiLineString" => ("MULTILINESTRING", 2),
        "MultiPolygon" => ("MULTIPOLYGON", 3),
        _ => return None,
    })
}

fn write_geometry(value: &Value, text: &mut String, depth: usize) -> Option<()> {
    let kind = value.get("type")?.as_text()?;
    if kind == "GeometryCollection" {
        // Collections within collections are rare, and need no more than a few levels.
        if depth > 8 {
            return None;
        }
        let geometries = value.get("geometries")?.as_list()?;
        if geometries.is_empty() {
            text.push_str("GEOMETRYCOLLECTION EMPTY");
            return Some(());
        }
        text.push_str("GEOMETRYCOLLECTION (");
        for (place, geometry) in geometries.iter().enumerate() {
            if place > 0 {
                text.push_str(", ");
            }
            write_geometry(geometry, text, depth + 1)?;
        }
        text.push(')');
        return Some(());
    }
    let (keyword, levels) = wkt_keyword(kind)?;
    let coordinates = value.get("coordinates")?;
    text.push_str(keyword);
    coordinates.as_list()?;
    if is_empty(coordinates) {
        text.push_str(" EMPTY");
        return Some(());
    }
    text.push(' ');
    if levels == 0 {
        text.push('(');
        write_position(coordinates, text)?;
        text.push(')');
        return Some(());
    }
    write_coordinates(coordinates, levels, text)
}

/// Returns true for coordinates without a position.
fn is_empty(coordinates: &Value) -> bool {
    let elements = coordinates.as_list();
    elements.is_some_and(|elements| elements.iter().all(is_empty))
}

fn write_coordinates(value: &Value, levels: usize, text: &mut String) -> Option<()> {
    if levels == 0 {
        return write_position(value, text);
    }
    text.push('(');
    // Parts without positions have no place in well-known text.
    let parts = value.as_list()?.iter().filter(|part| !is_empty(part));
    for (place, element) in parts.enumerate() {
        if place > 0 {
            text.push_str(", ");
        }
        write_coordinates(element, levels - 1, text)?;
    }
    text.push(')');
    Some(())
}

/// Writes longitude and latitude. Heights are left out: GeoSPARQL's functions ignore them.
fn write_position(value: &Value, text: &mut String) -> Option<()> {
    let numbers = value.as_list()?;
    let (x, y) = (numbers.first()?.as_number()?, numbers.get(1)?.as_number()?);
    if !x.is_finite() || !y.is_finite() {
        return None;
    }
    write!(text, "{x} {y}").ok()
}

#[derive(Default)]
struct Bounds {
    area: Option<[f64; 4]>,
}

impl Bounds {
    fn add(&mut self, value: &Value) {
        if let Value::Object(members) = value {
            for (key, member) in members {
                if key == "coordinates" || key == "geometries" {
                    self.add(member);
                }
            }
            return;
        }
        let Value::List(elements) = value else {
            return;
        };
        if let [Value::Number(_), Value::Number(_), ..] = elements.as_slice() {
            if let (Some(x), Some(y)) = (elements[0].as_number(), elements[1].as_number()) {
                let area = self.area.get_or_insert([x, y, x, y]);
                *area = [
                    area[0].min(x),
                    area[1].min(y),
                    area[2].max(x),
                    area[3].max(y),
                ];
            }
            return;
        }
        for element in elements {
            self.add(element);
        }
    }

    fn to_wkt(&self) -> Option<String> {
        let [west, south, east, north] = self.area?;
        Some(format!(
            "POLYGON (({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))"
        ))
    }
}
