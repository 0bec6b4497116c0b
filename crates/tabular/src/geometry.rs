//! Geometries of GeoJSON (RFC 7946) and TopoJSON as well-known text.

use crate::limits::MAX_WKT_BYTES;
use crate::value::Value;
use crate::wkb::{geometry_value, position_value};
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

/// Number of positions that the geometries of a topology may have for each one of its arcs. Arcs are shared, so that a small document
/// may have any number.
const MAX_ARC_USES: usize = 20;

/// Arcs of TopoJSON (<https://github.com/topojson/topojson-specification>), from which geometries are made.
pub(crate) struct Topology {
    /// Scale and translation of integral coordinates.
    transform: Option<[[f64; 2]; 2]>,
    arcs: Vec<Vec<[f64; 2]>>,
    /// Number of positions that geometries may still have.
    positions_left: usize,
}

impl Topology {
    /// Returns the topology of a document. `None` if it is no TopoJSON.
    pub(crate) fn new(document: &Value) -> Option<Self> {
        if document.get("type")?.as_text()? != "Topology" {
            return None;
        }
        let transform = match document.get("transform") {
            Some(transform) => Some([
                read_pair(transform.get("scale")?)?,
                read_pair(transform.get("translate")?)?,
            ]),
            None => None,
        };
        let mut topology = Self {
            transform,
            arcs: Vec::new(),
            positions_left: 0,
        };
        for arc in document.get("arcs")?.as_list()? {
            let mut positions = Vec::new();
            let mut last = [0.0, 0.0];
            for position in arc.as_list()? {
                let [x, y] = read_pair(position)?;
                // Integral positions are distances from the one before.
                last = match transform {
                    Some(_) => [last[0] + x, last[1] + y],
                    None => [x, y],
                };
                positions.push(topology.place(last));
            }
            // The budget follows the size of the document, so that the result does, too.
            topology.positions_left += MAX_ARC_USES * positions.len();
            topology.arcs.push(positions);
        }
        Some(topology)
    }

    /// Returns an object as the features of GeoJSON: the members of a collection, or the geometry itself.
    pub(crate) fn features(&mut self, object: &Value) -> Vec<Value> {
        let members = match object.get("type").and_then(Value::as_text) {
            Some("GeometryCollection") => object.get("geometries").and_then(Value::as_list),
            _ => None,
        };
        let mut features = Vec::new();
        for member in members.unwrap_or(std::slice::from_ref(object)) {
            let mut parts = vec![("type".to_owned(), Value::Text("Feature".to_owned()))];
            for (key, value) in member.as_object().unwrap_or_default() {
                if !matches!(key.as_str(), "type" | "arcs" | "coordinates" | "geometries") {
                    parts.push((key.clone(), value.clone()));
                }
            }
            let kind = member.get("type").and_then(Value::as_text);
            let shape = match kind {
                // A feature without a geometry.
                None => Value::Null,
                Some(kind) => self
                    .geometry(member, 0)
                    .unwrap_or_else(|| geometry_value(kind, Value::Null)),
            };
            parts.push(("geometry".to_owned(), shape));
            features.push(Value::Object(parts));
        }
        features
    }

    /// Returns a geometry of GeoJSON. `None` if it is damaged.
    fn geometry(&mut self, object: &Value, depth: usize) -> Option<Value> {
        let kind = object.get("type")?.as_text()?;
        if kind == "GeometryCollection" {
            if depth > 8 {
                return None;
            }
            let mut members = Vec::new();
            for member in object.get("geometries")?.as_list()? {
                members.push(self.geometry(member, depth + 1)?);
            }
            return Some(Value::Object(vec![
                ("type".to_owned(), Value::Text(kind.to_owned())),
                ("geometries".to_owned(), Value::List(members)),
            ]));
        }
        let (_, levels) = wkt_keyword(kind)?;
        let coordinates = match kind {
            "Point" => self.point(object.get("coordinates")?)?,
            "MultiPoint" => {
                let mut points = Vec::new();
                for point in object.get("coordinates")?.as_list()? {
                    points.push(self.point(point)?);
                }
                Value::List(points)
            }
            _ => self.lines(object.get("arcs")?, levels)?,
        };
        Some(geometry_value(kind, coordinates))
    }

    /// Returns lists of arcs as coordinates. A list of arcs is one line.
    fn lines(&mut self, arcs: &Value, levels: usize) -> Option<Value> {
        let elements = arcs.as_list()?;
        let mut coordinates = Vec::new();
        if levels > 1 {
            for element in elements {
                coordinates.push(self.lines(element, levels - 1)?);
            }
            return Some(Value::List(coordinates));
        }
        for (number, element) in elements.iter().enumerate() {
            let index = element.as_number()?;
            // A negative number is the complement of that of an arc in the other direction.
            let is_reversed = index < 0.0;
            let place = if is_reversed { -index - 1.0 } else { index };
            // The cast saturates: a number beyond the list is none of an arc.
            let arc = self.arcs.get(place as usize)?;
            self.positions_left = self.positions_left.checked_sub(arc.len())?;
            let mut positions: Vec<[f64; 2]> = arc.clone();
            if is_reversed {
                positions.reverse();
            }
            // An arc begins where the one before ends.
            let repeated = usize::from(number > 0);
            coordinates.extend(positions.into_iter().skip(repeated).map(position_of));
        }
        Some(Value::List(coordinates))
    }

    fn point(&self, position: &Value) -> Option<Value> {
        Some(position_of(self.place(read_pair(position)?)))
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self.transform {
            Some([scale, translate]) => [x * scale[0] + translate[0], y * scale[1] + translate[1]],
            None => [x, y],
        }
    }
}

fn read_pair(value: &Value) -> Option<[f64; 2]> {
    let numbers = value.as_list()?;
    Some([numbers.first()?.as_number()?, numbers.get(1)?.as_number()?])
}

fn position_of([x, y]: [f64; 2]) -> Value {
    position_value(x, y)
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
