//! Bounding boxes of geometries in Well-known Text, GeoJSON, GML and numbers.

use super::BoundingBox;
use super::period::dcmi_component;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

/// Maximum number of bytes of a geometry. Larger ones are ignored.
const MAX_GEOMETRY_BYTES: usize = 4 << 20;
/// Coordinate reference system of GeoSPARQL's literals if none is given: longitude before latitude.
const CRS84: &str = "CRS84";
/// Codes of EPSG for reference systems with latitude before longitude: WGS 84, and those of Europe, North America and
/// Australia, which differ from it by a few metres at most.
const LATITUDE_FIRST: [&str; 4] = ["4326", "4258", "4269", "4283"];

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
    if text.len() > MAX_GEOMETRY_BYTES {
        return None;
    }
    let (order, geometry) = reference_system(text.trim())?;
    if let Some(numbers) = find_envelope(geometry) {
        let [west, east, north, south] = numbers?;
        return BoundingBox::new(west, south, east, north);
    }
    let name = geometry
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()?;
    if !GEOMETRIES
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
    {
        return None;
    }
    let mut boxes = Vec::new();
    // Each pair of brackets is a part: parts on both sides of the antimeridian must not be joined in degrees.
    for part in geometry.split(['(', ')']) {
        let mut extent = Extent::default();
        for position in part.split(',') {
            let mut numbers = position
                .split_ascii_whitespace()
                .map_while(|number| number.parse::<f64>().ok());
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
        // The code ends an IRI of the OGC, or its older form: `urn:ogc:def:crs:EPSG::4326`.
        let code = system.rsplit(['/', ':']).next().unwrap_or_default();
        let order = if code == CRS84 || system == "urn:ogc:def:crs:CRS:84" {
            AxisOrder::LongitudeFirst
        } else if system.contains("EPSG") && LATITUDE_FIRST.contains(&code) {
            AxisOrder::LatitudeFirst
        } else {
            return None;
        };
        return Some((order, geometry.trim()));
    }
    match text.split_once(';') {
        Some((system, geometry)) => system
            .trim()
            .eq_ignore_ascii_case("SRID=4326")
            .then(|| (AxisOrder::LongitudeFirst, geometry.trim())),
        None => Some((AxisOrder::LongitudeFirst, text)),
    }
}

/// Reads `ENVELOPE(west, east, north, south)`. The inner `None` is an unreadable envelope.
fn find_envelope(geometry: &str) -> Option<Option<[f64; 4]>> {
    let (name, rest) = geometry.split_once('(')?;
    if !name.trim().eq_ignore_ascii_case("ENVELOPE") {
        return None;
    }
    let inner = rest.trim_end().strip_suffix(')').unwrap_or(rest);
    let numbers: Option<Vec<f64>> = inner
        .split(',')
        .map(|number| number.trim().parse().ok())
        .collect();
    Some(numbers.and_then(|numbers| numbers.try_into().ok()))
}

/// Smallest and largest coordinates of a part of a geometry. A part does not cross the antimeridian, unless its
/// longitudes exceed 180°.
#[derive(Default)]
pub(super) struct Extent(Option<[f64; 4]>);

impl Extent {
    /// Adds a position.
    pub(super) fn add(&mut self, longitude: f64, latitude: f64) {
        let [west, south, east, north] =
            self.0.unwrap_or([longitude, latitude, longitude, latitude]);
        self.0 = Some([
            west.min(longitude),
            south.min(latitude),
            east.max(longitude),
            north.max(latitude),
        ]);
    }

    /// Returns the box, if there is a position; the inner `None` means that a coordinate is out of range.
    pub(super) fn bounds(self) -> Option<Option<BoundingBox>> {
        self.0
            .map(|[west, south, east, north]| BoundingBox::new(west, south, east, north))
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
    if text.len() > MAX_GEOMETRY_BYTES {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let mut boxes = Vec::new();
    add_object(&value, &mut boxes)?;
    BoundingBox::around(&boxes)
}

/// Adds the boxes of an object. `None` if a coordinate is out of range or missing.
fn add_object(value: &Value, boxes: &mut Vec<BoundingBox>) -> Option<()> {
    if has_other_system(value) {
        return None;
    }
    // The declared box precedes the coordinates, as it may cross the antimeridian (RFC 7946, 5.2).
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
    if let Some(bounds) = box_of_edges(value) {
        boxes.push(bounds?);
        return Some(());
    }
    if let Some(coordinates) = value.get("coordinates") {
        return add_coordinates(coordinates, boxes);
    }
    if let Some(geometry) = value.get("geometry").filter(|geometry| !geometry.is_null()) {
        add_object(geometry, boxes)?;
    }
    for key in ["geometries", "features"] {
        for member in value
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            add_object(member, boxes)?;
        }
    }
    Some(())
}

/// Adds the box of a position or of a list of positions, and those of the lists in a list.
fn add_coordinates(value: &Value, boxes: &mut Vec<BoundingBox>) -> Option<()> {
    let values = value.as_array()?;
    if values.first().is_some_and(Value::is_number) {
        let (longitude, latitude) = read_position(value)?;
        boxes.push(BoundingBox::from_position(longitude, latitude)?);
        return Some(());
    }
    let mut extent = Extent::default();
    for member in values {
        match read_position(member) {
            Some((longitude, latitude)) => extent.add(longitude, latitude),
            None => add_coordinates(member, boxes)?,
        }
    }
    if let Some(bounds) = extent.bounds() {
        boxes.push(bounds?);
    }
    Some(())
}

fn read_position(value: &Value) -> Option<(f64, f64)> {
    let numbers = value.as_array()?;
    numbers.first()?.as_f64().zip(numbers.get(1)?.as_f64())
}

/// Keys of the edges of a box, in the order west, south, east, north: those of ArcGIS, and their names.
const EDGES: [[&str; 4]; 2] = [
    ["xmin", "ymin", "xmax", "ymax"],
    ["west", "south", "east", "north"],
];

/// Returns the box of an object with its edges. The inner `None` means that it is out of range.
fn box_of_edges(value: &Value) -> Option<Option<BoundingBox>> {
    let edges = EDGES.iter().find_map(|keys| {
        let [west, south, east, north] = keys.map(|key| read_edge(value, key));
        Some([west?, south?, east?, north?])
    });
    edges.map(|[west, south, east, north]| BoundingBox::new(west, south, east, north))
}

/// Returns the number of a key, which may be written as text.
fn read_edge(value: &Value, key: &str) -> Option<f64> {
    let edge = value.get(key)?;
    edge.as_f64().or_else(|| edge.as_str()?.trim().parse().ok())
}

/// If true, the object declares a reference system whose coordinates are not degrees.
fn has_other_system(value: &Value) -> bool {
    let name = value
        .pointer("/crs/properties/name")
        .and_then(Value::as_str);
    let code = value
        .pointer("/spatialReference/wkid")
        .and_then(Value::as_u64);
    name.is_some_and(|name| name.contains("EPSG") && !LATITUDE_FIRST.contains(&system_code(name)))
        || code.is_some_and(|code| !LATITUDE_FIRST.contains(&code.to_string().as_str()))
}

/// Returns the code at the end of the name of a reference system, such as 4326 in `EPSG:4326`.
fn system_code(name: &str) -> &str {
    name.rsplit([':', '/', '#']).next().unwrap_or(name)
}

/// Returns the box of a text: Well-known Text, GeoJSON, GML, a DCMI Box, or numbers. Four numbers, or six with heights, are
/// west, south, east and north, separated by commas or white space.
pub(crate) fn box_of_text(text: &str) -> Option<BoundingBox> {
    let text = text.trim();
    match text.as_bytes().first()? {
        b'{' => box_of_geojson(text),
        b'[' if text.len() <= MAX_GEOMETRY_BYTES => box_of_list(&serde_json::from_str(text).ok()?),
        b'<' => box_of_wkt(text).or_else(|| box_of_gml(text)),
        _ => box_of_wkt(text)
            .or_else(|| dcmi_box(text))
            .or_else(|| box_of_numbers(text)),
    }
}

/// Returns the box of a list: four or six numbers, a position, or two corners.
fn box_of_list(list: &Value) -> Option<BoundingBox> {
    let values = list.as_array()?;
    let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
    if let Some(numbers) = numbers {
        return match numbers.as_slice() {
            &[longitude, latitude] => BoundingBox::from_position(longitude, latitude),
            numbers => box_of_edge_list(numbers),
        };
    }
    let mut boxes = Vec::new();
    add_coordinates(list, &mut boxes)?;
    BoundingBox::around(&boxes)
}

fn box_of_numbers(text: &str) -> Option<BoundingBox> {
    let words = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
        .filter(|word| !word.is_empty());
    let mut numbers = Vec::new();
    // One word more than a box has shows that the text is none.
    for word in words.take(7) {
        numbers.push(word.parse::<f64>().ok()?);
    }
    box_of_edge_list(&numbers)
}

fn box_of_edge_list(numbers: &[f64]) -> Option<BoundingBox> {
    match *numbers {
        [west, south, east, north] | [west, south, _, east, north, _] => {
            BoundingBox::new(west, south, east, north)
        }
        _ => None,
    }
}

/// Reads a DCMI Box, as in `northlimit=51.6; southlimit=49.4; westlimit=2.5; eastlimit=6.5`.
/// <https://www.dublincore.org/specifications/dublin-core/dcmi-box/>
fn dcmi_box(text: &str) -> Option<BoundingBox> {
    BoundingBox::new(
        dcmi_number(text, "westlimit")?,
        dcmi_number(text, "southlimit")?,
        dcmi_number(text, "eastlimit")?,
        dcmi_number(text, "northlimit")?,
    )
}

fn dcmi_number(text: &str, name: &str) -> Option<f64> {
    dcmi_component(text, name)?.trim().parse().ok()
}

/// Returns the bounding box of a geometry in GML.
///
/// The order of the coordinates follows `srsName`: IRIs and URNs of EPSG 4326 and similar systems have the latitude first, CRS 84,
/// codes such as `EPSG:4326` and geometries without `srsName` the longitude. Returns `None` for other reference systems.
pub(crate) fn box_of_gml(text: &str) -> Option<BoundingBox> {
    let text = text.trim();
    if text.len() > MAX_GEOMETRY_BYTES || !text.starts_with('<') {
        return None;
    }
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut gml = GmlReader::default();
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => gml.start(&element)?,
            Event::Empty(element) => {
                gml.start(&element)?;
                gml.end()?;
            }
            Event::Text(text) => gml.text(&text.unescape().ok()?)?,
            Event::CData(text) => gml.text(std::str::from_utf8(&text).ok()?)?,
            Event::End(_) => gml.end()?,
            Event::Eof => break,
            _ => {}
        }
    }
    gml.end_part()?;
    BoundingBox::around(&gml.boxes)
}

/// Maximum depth of the elements of a geometry.
const MAX_GML_DEPTH: usize = 64;

/// An open element of GML.
#[derive(Clone, Default)]
struct GmlElement {
    name: String,
    /// Order of the axes; `None` if it is not declared.
    order: Option<AxisOrder>,
    /// Number of coordinates of a position.
    dimension: usize,
}

/// Reader of the positions of a geometry in GML.
#[derive(Default)]
struct GmlReader {
    open: Vec<GmlElement>,
    /// Extents of the current part, with the longitude and with the latitude first.
    part: [Extent; 2],
    order: Option<AxisOrder>,
    /// Corners of an envelope, as declared.
    corners: [Option<(f64, f64)>; 2],
    /// First coordinate of a `coord` element.
    x: Option<f64>,
    boxes: Vec<BoundingBox>,
}

impl GmlReader {
    /// Reads the beginning of an element. Returns `None` if the reference system is not supported.
    fn start(&mut self, element: &BytesStart<'_>) -> Option<()> {
        let mut next = self.open.last().cloned().unwrap_or_else(|| GmlElement {
            dimension: 2,
            ..GmlElement::default()
        });
        if self.open.len() >= MAX_GML_DEPTH {
            return None;
        }
        next.name = String::from_utf8_lossy(element.local_name().as_ref()).into_owned();
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute.ok()?;
            let value = attribute.unescape_value().ok()?;
            match attribute.key.local_name().as_ref() {
                b"srsName" => next.order = Some(axis_order(&value)?),
                b"srsDimension" | b"dimension" => {
                    next.dimension = value
                        .trim()
                        .parse()
                        .ok()
                        .filter(|dimension| (2..=4).contains(dimension))?;
                }
                _ => {}
            }
        }
        self.open.push(next);
        Some(())
    }

    fn text(&mut self, text: &str) -> Option<()> {
        let Some(element) = self.open.last().cloned() else {
            return Some(());
        };
        self.order = element.order;
        match element.name.as_str() {
            "lowerCorner" | "upperCorner" => {
                let numbers = parse_numbers(text)?;
                let corner = (*numbers.first()?, *numbers.get(1)?);
                self.corners[usize::from(element.name == "upperCorner")] = Some(corner);
            }
            "pos" => {
                let numbers = parse_numbers(text)?;
                self.add(*numbers.first()?, *numbers.get(1)?);
            }
            "posList" => {
                for position in parse_numbers(text)?.chunks_exact(element.dimension) {
                    self.add(position[0], position[1]);
                }
            }
            "coordinates" => {
                for tuple in text.split_ascii_whitespace() {
                    let numbers = parse_numbers(tuple)?;
                    self.add(*numbers.first()?, *numbers.get(1)?);
                }
            }
            "X" => self.x = Some(text.trim().parse().ok()?),
            "Y" => {
                let x = self.x.take()?;
                self.add(x, text.trim().parse().ok()?);
            }
            _ => {}
        }
        Some(())
    }

    fn add(&mut self, first: f64, second: f64) {
        // In both orders, because the order may be found out from the values only.
        self.part[0].add(first, second);
        self.part[1].add(second, first);
    }

    fn end(&mut self) -> Option<()> {
        let element = self.open.pop()?;
        let is_leaf = [
            "pos",
            "posList",
            "coordinates",
            "coord",
            "X",
            "Y",
            "Z",
            "lowerCorner",
            "upperCorner",
        ];
        if is_leaf.contains(&element.name.as_str()) {
            Some(())
        } else {
            self.end_part()
        }
    }

    /// Adds the box of the current part.
    fn end_part(&mut self) -> Option<()> {
        let order = self.order;
        if let [Some(lower), Some(upper)] = std::mem::take(&mut self.corners) {
            self.boxes.push(in_order(
                order,
                || BoundingBox::new(lower.0, lower.1, upper.0, upper.1),
                || BoundingBox::new(lower.1, lower.0, upper.1, upper.0),
            )?);
        }
        let [straight, swapped] = std::mem::take(&mut self.part);
        if straight.0.is_some() {
            self.boxes.push(in_order(
                order,
                || straight.bounds().flatten(),
                || swapped.bounds().flatten(),
            )?);
        }
        Some(())
    }
}

/// Returns the numbers of a text, separated by white space or commas; `None` if it contains anything else.
pub(super) fn parse_numbers(text: &str) -> Option<Vec<f64>> {
    let words = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

/// Returns the box in the declared order, else with the longitude first unless that is out of range.
fn in_order(
    order: Option<AxisOrder>,
    straight: impl FnOnce() -> Option<BoundingBox>,
    swapped: impl FnOnce() -> Option<BoundingBox>,
) -> Option<BoundingBox> {
    match order {
        Some(AxisOrder::LongitudeFirst) => straight(),
        Some(AxisOrder::LatitudeFirst) => swapped(),
        None => straight().or_else(swapped),
    }
}

/// Returns the order of the axes of a reference system by its name. `None` if the system is not supported.
fn axis_order(name: &str) -> Option<AxisOrder> {
    let name = name.trim();
    if name.contains("CRS84") || name.contains("CRS:84") {
        return Some(AxisOrder::LongitudeFirst);
    }
    if !LATITUDE_FIRST.contains(&system_code(name)) {
        return None;
    }
    let is_definition = name.starts_with("urn:") || name.contains("/def/crs/");
    Some(if is_definition {
        AxisOrder::LatitudeFirst
    } else {
        AxisOrder::LongitudeFirst
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of_box(bounds: Option<BoundingBox>) -> String {
        match bounds {
            Some(bounds) => bounds.to_string(),
            None => "none".to_owned(),
        }
    }

    fn wkt(text: &str) -> String {
        text_of_box(box_of_wkt(text))
    }

    fn geojson(text: &str) -> String {
        text_of_box(box_of_geojson(text))
    }

    #[test]
    fn well_known_text_has_a_box() {
        for (text, expected) in [
            ("POINT(8.5 47.4)", "8.5,47.4,8.5,47.4"),
            ("Point (8.5 47.4)", "8.5,47.4,8.5,47.4"),
            ("POINT Z (8.5 47.4 400)", "8.5,47.4,8.5,47.4"),
            ("LINESTRING(1 2, 3 4, -5 6)", "-5,2,3,6"),
            (
                "POLYGON((0 0,0 1,1 1,0 0),(0.2 0.2,0.3 0.3,0.2 0.2))",
                "0,0,1,1",
            ),
            (
                "MULTIPOLYGON(((170 -20,180 -20,180 -10,170 -20)),((-180 -20,-170 -15,-180 -10,-180 -20)))",
                "170,-20,-170,-10",
            ),
            (
                "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(3 4,5 6))",
                "1,2,5,6",
            ),
            ("POLYGON((170 0,190 0,190 5,170 0))", "170,0,-170,5"),
            ("ENVELOPE(2.5, 6.5, 51.6, 49.4)", "2.5,49.4,6.5,51.6"),
            ("SRID=4326;POINT(8.5 47.4)", "8.5,47.4,8.5,47.4"),
            (
                "<urn:ogc:def:crs:EPSG::4326> POINT(47.4 8.5)",
                "8.5,47.4,8.5,47.4",
            ),
            (
                "<urn:ogc:def:crs:OGC:1.3:CRS84> POINT(8.5 47.4)",
                "8.5,47.4,8.5,47.4",
            ),
            (
                "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(8.5 47.4)",
                "8.5,47.4,8.5,47.4",
            ),
            (
                "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(47.4 8.5)",
                "8.5,47.4,8.5,47.4",
            ),
            (
                "<http://www.opengis.net/def/crs/EPSG/0/4283> POLYGON((\r\n -42 147, -43 148))",
                "147,-43,148,-42",
            ),
            (
                "<http://www.opengis.net/def/crs/EPSG/0/25830> POINT(500000 4700000)",
                "none",
            ),
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
            (
                r#"{"type":"Point","coordinates":[8.5,47.4,400]}"#,
                "8.5,47.4,8.5,47.4",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}"#,
                "0,0,1,1",
            ),
            (
                r#"{"type":"Polygon","bbox":[177,-20,-178,-16],"coordinates":[]}"#,
                "177,-20,-178,-16",
            ),
            (
                r#"{"type":"Point","bbox":[1,2,0,3,4,9],"coordinates":[1,2]}"#,
                "1,2,3,4",
            ),
            (
                r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}"#,
                "1,2,1,2",
            ),
            (
                r#"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null},{"type":"Feature","geometry":
                {"type":"MultiPoint","coordinates":[[1,2],[3,4]]}}]}"#,
                "1,2,3,4",
            ),
            (
                r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[5,6]}]}"#,
                "5,6,5,6",
            ),
            (
                r#"{"type":"MultiPolygon","coordinates":[[[[175,0],[180,0],[180,5],[175,0]]],[[[-180,0],[-175,1],[-180,5]]]]}"#,
                "175,0,-175,5",
            ),
            (
                r#"{"type":"envelope","coordinates":[[-84.9,33.9],[-84.2,33.5]]}"#,
                "-84.9,33.5,-84.2,33.9",
            ),
            (
                r#"{"xmin":1,"ymin":2,"xmax":3,"ymax":4,"spatialReference":{"wkid":4326}}"#,
                "1,2,3,4",
            ),
            (
                r#"{"xmin":1,"ymin":2,"xmax":3,"ymax":4,"spatialReference":{"wkid":102100}}"#,
                "none",
            ),
            (
                r#"{"west":"1","south":"2","east":"3","north":"4"}"#,
                "1,2,3,4",
            ),
            (
                r#"{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}}}"#,
                "none",
            ),
            (
                r#"{"type":"Point","coordinates":[1,2],"crs":{"properties":{"name":"EPSG:4326"}}}"#,
                "1,2,1,2",
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

    #[test]
    fn gml_has_a_box() {
        let envelope = |system: &str, lower: &str, upper: &str| {
            format!(
                "<gml:Envelope{system}><gml:lowerCorner>{lower}</gml:lowerCorner><gml:upperCorner>{upper}</gml:upperCorner></gml:Envelope>"
            )
        };
        let system = |name: &str| format!(" srsName=\"{name}\"");
        let (west_first, south_first) =
            (["-84.9 33.5", "-84.2 33.9"], ["33.5 -84.9", "33.9 -84.2"]);
        for (name, [lower, upper], expected) in [
            ("", west_first, "-84.9,33.5,-84.2,33.9"),
            ("", ["5 -95", "9 -93"], "-95,5,-93,9"),
            (
                "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
                west_first,
                "-84.9,33.5,-84.2,33.9",
            ),
            (
                "urn:ogc:def:crs:OGC:1.3:CRS84",
                west_first,
                "-84.9,33.5,-84.2,33.9",
            ),
            ("EPSG:4326", west_first, "-84.9,33.5,-84.2,33.9"),
            (
                "http://www.opengis.net/gml/srs/epsg.xml#4326",
                west_first,
                "-84.9,33.5,-84.2,33.9",
            ),
            (
                "urn:ogc:def:crs:EPSG::4326",
                south_first,
                "-84.9,33.5,-84.2,33.9",
            ),
            (
                "http://www.opengis.net/def/crs/EPSG/0/4258",
                south_first,
                "-84.9,33.5,-84.2,33.9",
            ),
            (
                "urn:ogc:def:crs:EPSG::25832",
                ["500000 4700000", "510000 4710000"],
                "none",
            ),
            ("EPSG:4326", ["0 91", "1 92"], "none"),
        ] {
            let declared = if name.is_empty() {
                String::new()
            } else {
                system(name)
            };
            let text = envelope(&declared, lower, upper);
            assert_eq!(text_of_box(box_of_gml(&text)), expected, "{text}");
        }
        for (text, expected) in [
            (
                "<gml:Point><gml:pos>8.5 47.4 400</gml:pos></gml:Point>",
                "8.5,47.4,8.5,47.4",
            ),
            (
                "<Point xmlns='http://www.opengis.net/gml'><coordinates>8.5,47.4</coordinates></Point>",
                "8.5,47.4,8.5,47.4",
            ),
            (
                "<gml:Box><gml:coordinates>1,2 3,4</gml:coordinates></gml:Box>",
                "1,2,3,4",
            ),
            (
                "<gml:Box><gml:coord><gml:X>1</gml:X><gml:Y>2</gml:Y></gml:coord><gml:coord><gml:X>3</gml:X><gml:Y>4</gml:Y></gml:coord></gml:Box>",
                "1,2,3,4",
            ),
            (
                "<gml:Polygon srsName='urn:ogc:def:crs:EPSG::4326'><gml:exterior><gml:LinearRing><gml:posList>2 1 2 3 4 3 4 1 2 1</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>",
                "1,2,3,4",
            ),
            (
                "<gml:LineString srsDimension='3'><gml:posList>1 2 9 3 4 9</gml:posList></gml:LineString>",
                "1,2,3,4",
            ),
            (
                "<gml:Envelope><gml:lowerCorner>177 -19</gml:lowerCorner><gml:upperCorner>-178 -16</gml:upperCorner></gml:Envelope>",
                "177,-19,-178,-16",
            ),
            ("<gml:Point><gml:pos>here</gml:pos></gml:Point>", "none"),
            ("<p>8.5 47.4</p>", "none"),
            ("<gml:pos>8.5", "none"),
            ("<", "none"),
        ] {
            assert_eq!(text_of_box(box_of_gml(text)), expected, "{text}");
        }
    }

    #[test]
    fn texts_have_a_box() {
        for (text, expected) in [
            ("-84.9, 33.5, -84.2, 33.9", "-84.9,33.5,-84.2,33.9"),
            ("-84.9 33.5 -84.2 33.9", "-84.9,33.5,-84.2,33.9"),
            (" [-123.9, 47.0, -120.2, 48.4] ", "-123.9,47,-120.2,48.4"),
            ("[1, 2, 0, 3, 4, 9]", "1,2,3,4"),
            ("[[1, 2], [3, 4]]", "1,2,3,4"),
            ("[8.5, 47.4]", "8.5,47.4,8.5,47.4"),
            ("1 2 0 3 4 9", "1,2,3,4"),
            (
                "northlimit=5; southlimit=1; westlimit=2; eastlimit=3",
                "2,1,3,5",
            ),
            (
                "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(47.4 8.5)",
                "8.5,47.4,8.5,47.4",
            ),
            ("United States, Territories, Commonwealths, Islands", "none"),
            ("2001 2002 2003 2004", "none"),
            ("1,2,3", "none"),
            ("[1, 2, 3]", "none"),
            ("8.5 47.4", "none"),
            ("", "none"),
        ] {
            assert_eq!(text_of_box(box_of_text(text)), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_ends_the_program(text in "\\PC{0,40}|[A-Z()0-9., -]{0,40}|(<gml:pos>|</gml:pos>|<a b='|>|<X>|[0-9 ]{0,4}){0,8}") {
            let _ = (box_of_wkt(&text), box_of_geojson(&text), box_of_text(&text), box_of_gml(&text));
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
