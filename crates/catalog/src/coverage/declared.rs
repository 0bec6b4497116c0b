//! Coverage that a description declares, by `dct:spatial` and `dct:temporal`.

use super::geometry::{Extent, parse_numbers};
use super::places::Place;
use super::{BoundingBox, Period, box_of_text};
use crate::statement::{NodeCache, StatementIndex, get_or_compute};
use crate::{Dataset, Node, Value};
use lodeseek_rdf::vocab::{
    dcat, dcatus, dcterms, geo, georss, geosparql, locn, rdf, rdfs, schema, skos, time,
};

/// Maximum number of values of a property that are read.
const MAX_VALUES: usize = 1000;

/// The area that a description declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredPlace {
    /// The smallest box around all declared places.
    pub bounds: BoundingBox,
    /// Name of the place, if the description declares one place and its name is known.
    pub name: Option<String>,
    /// Property or form with the coordinates, for example `dcat:bbox`.
    pub form: &'static str,
}

/// The period that a description declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredPeriod {
    /// The shortest period around all declared periods.
    pub period: Period,
    /// Property or form with the dates, for example `dcat:startDate`.
    pub form: &'static str,
}

impl Dataset {
    /// Returns the area that the description declares by `dct:spatial` or, in descriptions of schema.org, by
    /// `schema:spatialCoverage`; or by `dcat-us:geographicBoundingBox`.
    ///
    /// Of each place, the first of these forms is used: `dcat:bbox`, `locn:geometry`, GeoSPARQL, a shape or position of
    /// schema.org, `dcat:centroid`, WGS 84, GeoRSS, a box in the text, and an IRI of a country. Values that cannot be
    /// read are ignored, as are places with a name only.
    #[must_use]
    pub fn declared_place(&self) -> Option<DeclaredPlace> {
        let reader = CoverageReader::new(self);
        let values = reader.statements.values(&Node::Dataset, dcterms::SPATIAL);
        let values: Vec<&Value> = values.take(MAX_VALUES).collect();
        let mut found: Vec<(BoundingBox, &'static str)> = values
            .iter()
            .filter_map(|&value| reader.place(value))
            .collect();
        let boxes = reader
            .parts(&Node::Dataset, dcatus::GEOGRAPHIC_BOUNDING_BOX)
            .take(MAX_VALUES);
        found.extend(
            boxes
                .filter_map(|part| reader.dcat_us_box(part))
                .map(|bounds| (bounds, "dcat-us:geographicBoundingBox")),
        );
        let boxes: Vec<BoundingBox> = found.iter().map(|(bounds, _)| *bounds).collect();
        // The box around several places has no single name.
        let name = if values.len() == 1 {
            reader.place_name(values[0])
        } else {
            None
        };
        Some(DeclaredPlace {
            bounds: BoundingBox::around(&boxes)?,
            name,
            form: found.first()?.1,
        })
    }

    /// Returns the period that the description declares by `dct:temporal`.
    ///
    /// Of each period, the first of these forms is used: the dates of DCAT and schema.org, the instants of OWL-Time, and
    /// the text of the value or its label: an interval, a DCMI Period, a date, or the years in the text. Values that
    /// cannot be read are ignored.
    #[must_use]
    pub fn declared_period(&self) -> Option<DeclaredPeriod> {
        let reader = CoverageReader::new(self);
        let values = reader
            .statements
            .values(&Node::Dataset, dcterms::TEMPORAL)
            .take(MAX_VALUES);
        let found: Vec<(Period, &'static str)> =
            values.filter_map(|value| reader.period(value)).collect();
        let periods: Vec<Period> = found.iter().map(|(period, _)| *period).collect();
        Some(DeclaredPeriod {
            period: Period::around(&periods)?,
            form: found.first()?.1,
        })
    }
}

/// Reader of the places and periods of a description.
struct CoverageReader<'d> {
    statements: StatementIndex<'d>,
    /// Boxes of geometries: many places may share one.
    geometries: NodeCache<'d, Option<BoundingBox>>,
    /// Boxes of shapes of schema.org.
    shapes: NodeCache<'d, Option<BoundingBox>>,
    /// Dates of instants.
    instants: NodeCache<'d, Option<&'d str>>,
}

impl<'d> CoverageReader<'d> {
    fn new(dataset: &'d Dataset) -> Self {
        Self {
            statements: StatementIndex::new(&dataset.extra_statements),
            geometries: NodeCache::default(),
            shapes: NodeCache::default(),
            instants: NodeCache::default(),
        }
    }

    /// Returns the box of a `dcat-us:GeographicBoundingBox`.
    fn dcat_us_box(&self, part: &Node) -> Option<BoundingBox> {
        BoundingBox::new(
            self.first_number(part, dcatus::WEST)?,
            self.first_number(part, dcatus::SOUTH)?,
            self.first_number(part, dcatus::EAST)?,
            self.first_number(part, dcatus::NORTH)?,
        )
    }

    fn place(&self, value: &'d Value) -> Option<(BoundingBox, &'static str)> {
        match value {
            Value::Literal(literal) => {
                let text = literal.value();
                country_box(text)
                    .or_else(|| box_of_text(text).map(|bounds| (bounds, "dct:spatial")))
            }
            Value::Node(Node::Dataset) => None,
            Value::Node(node) => self.place_of_node(node),
        }
    }

    fn place_of_node(&self, part: &'d Node) -> Option<(BoundingBox, &'static str)> {
        let geometry = [
            (dcat::BBOX, "dcat:bbox"),
            (locn::GEOMETRY, "locn:geometry"),
            (geosparql::AS_WKT, "geo:asWKT"),
            (geosparql::AS_GEO_JSON, "geo:asGeoJSON"),
            (geosparql::AS_GML, "geo:asGML"),
            (geosparql::HAS_GEOMETRY, "geo:hasGeometry"),
            (geosparql::HAS_BOUNDING_BOX, "geo:hasBoundingBox"),
        ];
        for (property, form) in geometry {
            if let Some(bounds) = self.around(part, property) {
                return Some((bounds, form));
            }
        }
        // A place may have several shapes: points, boxes, polygons.
        let shapes = self.parts(part, schema::GEO).chain([part]);
        let shapes: Vec<BoundingBox> = shapes
            .filter_map(|shape| {
                get_or_compute(&self.shapes, shape, || self.schema_org_shape(shape))
            })
            .take(MAX_VALUES)
            .collect();
        if let Some(bounds) = BoundingBox::around(&shapes) {
            return Some((bounds, "schema:geo"));
        }
        if let Some(bounds) = self.around(part, dcat::CENTROID) {
            return Some((bounds, "dcat:centroid"));
        }
        if let Some(bounds) = self.position(part, [geo::LONG, geo::LAT]) {
            return Some((bounds, "wgs84:lat"));
        }
        if let Some(bounds) = self.georss_box(part) {
            return Some((bounds, "georss"));
        }
        let labels = [skos::PREF_LABEL, rdfs::LABEL, schema::NAME, rdf::VALUE].into_iter();
        let texts = labels.flat_map(|property| self.texts(part, property));
        if let Some(bounds) = texts.filter_map(box_of_text).next() {
            return Some((bounds, "dct:spatial"));
        }
        self.statements.web_iris(part).find_map(country_box)
    }

    /// Returns the box around the geometries of a property.
    fn around(&self, node: &Node, property: &str) -> Option<BoundingBox> {
        let boxes = self
            .statements
            .values(node, property)
            .filter_map(|value| self.geometry(value));
        // The same geometry is often given in several syntaxes.
        let boxes: Vec<BoundingBox> = boxes.take(MAX_VALUES).collect();
        BoundingBox::around(&boxes)
    }

    /// Returns the box of a geometry: a literal, or a node with a literal.
    fn geometry(&self, value: &'d Value) -> Option<BoundingBox> {
        match value {
            Value::Literal(literal) => box_of_text(literal.value()),
            Value::Node(part) => get_or_compute(&self.geometries, part, || {
                let literals = [
                    geosparql::AS_WKT,
                    geosparql::AS_GEO_JSON,
                    geosparql::AS_GML,
                    locn::GEOMETRY,
                    rdfs::LABEL,
                ];
                literals
                    .into_iter()
                    .flat_map(|property| self.texts(part, property))
                    .find_map(box_of_text)
            }),
        }
    }

    /// Returns the box of a `GeoShape` or `GeoCoordinates`: `schema:box` and other shapes have latitudes first.
    fn schema_org_shape(&self, node: &Node) -> Option<BoundingBox> {
        let mut boxes: Vec<BoundingBox> = Vec::new();
        for property in [schema::BOX, schema::POLYGON, schema::LINE] {
            for text in self.texts(node, property).take(MAX_VALUES) {
                // Some tools write GeoJSON or Well-known Text as a polygon.
                let bounds = box_of_latitudes_first(text, property == schema::BOX);
                boxes.extend(bounds.or_else(|| box_of_text(text)));
            }
        }
        boxes.extend(
            self.texts(node, schema::CIRCLE)
                .take(MAX_VALUES)
                .filter_map(box_of_circle),
        );
        boxes.extend(self.parts(node, schema::GEO_MIDPOINT).find_map(|middle| {
            let [longitude, latitude] = [schema::LONGITUDE, schema::LATITUDE]
                .map(|property| self.first_number(middle, property));
            let radius = self
                .texts(node, schema::GEO_RADIUS)
                .find_map(radius_in_metres)?;
            box_around(longitude?, latitude?, radius)
        }));
        boxes.extend(self.position(node, [schema::LONGITUDE, schema::LATITUDE]));
        BoundingBox::around(&boxes)
    }

    /// Returns the box of a shape of GeoRSS, which has latitudes first.
    fn georss_box(&self, node: &Node) -> Option<BoundingBox> {
        for property in [georss::BOX, georss::POLYGON, georss::LINE] {
            let mut texts = self.texts(node, property);
            if let Some(bounds) =
                texts.find_map(|text| box_of_latitudes_first(text, property == georss::BOX))
            {
                return Some(bounds);
            }
        }
        self.texts(node, georss::POINT)
            .find_map(|text| match parse_numbers(text)?.as_slice() {
                &[latitude, longitude] => BoundingBox::from_position(longitude, latitude),
                _ => None,
            })
    }

    fn first_number(&self, node: &Node, property: &str) -> Option<f64> {
        self.texts(node, property)
            .find_map(|text| text.trim().parse().ok())
    }

    fn position(&self, node: &Node, [longitude, latitude]: [&str; 2]) -> Option<BoundingBox> {
        BoundingBox::from_position(
            self.first_number(node, longitude)?,
            self.first_number(node, latitude)?,
        )
    }

    /// Returns the name of a place: a label, or that of a country.
    fn place_name(&self, value: &'d Value) -> Option<String> {
        match value {
            Value::Literal(literal) => country_name(literal.value()),
            Value::Node(Node::Dataset) => None,
            Value::Node(part) => {
                let labels = [skos::PREF_LABEL, rdfs::LABEL, schema::NAME].into_iter();
                let label = labels
                    .flat_map(|property| self.texts(part, property))
                    .map(str::trim)
                    .find(|text| !text.is_empty() && box_of_text(text).is_none());
                label
                    .map(str::to_owned)
                    .or_else(|| self.statements.web_iris(part).find_map(country_name))
            }
        }
    }

    fn period(&self, value: &'d Value) -> Option<(Period, &'static str)> {
        match value {
            Value::Literal(literal) => {
                Period::from_text(literal.value()).map(|period| (period, "dct:temporal"))
            }
            Value::Node(Node::Dataset) => None,
            Value::Node(node) => self.period_of_node(node),
        }
    }

    fn period_of_node(&self, part: &'d Node) -> Option<(Period, &'static str)> {
        for ([start, end], form) in ENDS {
            if let Some(period) = Period::between(self.date(part, start), self.date(part, end)) {
                return Some((period, form));
            }
        }
        let [start, end] =
            [time::HAS_BEGINNING, time::HAS_END].map(|property| self.instant(part, property));
        if let Some(period) = Period::between(start, end) {
            return Some((period, "time:hasBeginning"));
        }
        let labels = [skos::PREF_LABEL, rdfs::LABEL, schema::NAME, dcterms::TITLE].into_iter();
        let texts = labels.flat_map(|property| self.texts(part, property));
        if let Some(period) = texts.filter_map(Period::from_text).next() {
            return Some((period, "dct:temporal"));
        }
        self.statements
            .web_iris(part)
            .find_map(period_of_iri)
            .map(|period| (period, "dct:temporal"))
    }

    fn date(&self, node: &Node, property: &str) -> Option<&'d str> {
        self.texts(node, property)
            .map(str::trim)
            .find(|text| !text.is_empty())
    }

    /// Returns the date of an instant of OWL-Time: a literal, or a node with one.
    fn instant(&self, node: &Node, property: &str) -> Option<&'d str> {
        self.date(node, property).or_else(|| {
            let mut parts = self.parts(node, property);
            parts.find_map(|part| get_or_compute(&self.instants, part, || self.instant_date(part)))
        })
    }

    fn instant_date(&self, part: &Node) -> Option<&'d str> {
        INSTANTS
            .into_iter()
            .find_map(|property| self.date(part, property))
    }

    fn parts<'i>(
        &'i self,
        node: &Node,
        property: &'i str,
    ) -> impl Iterator<Item = &'d Node> + use<'d, 'i> {
        self.statements
            .values(node, property)
            .filter_map(|value| match value {
                Value::Node(node) => Some(node),
                Value::Literal(_) => None,
            })
    }

    fn texts<'i>(
        &'i self,
        node: &Node,
        property: &'i str,
    ) -> impl Iterator<Item = &'d str> + use<'d, 'i> {
        self.statements
            .values(node, property)
            .filter_map(|value| match value {
                Value::Literal(literal) => Some(literal.value()),
                Value::Node(_) => None,
            })
    }
}

/// Properties of the ends of a period, and the form that they are reported as.
const ENDS: [([&str; 2], &str); 2] = [
    ([dcat::START_DATE, dcat::END_DATE], "dcat:startDate"),
    ([schema::START_DATE, schema::END_DATE], "schema:startDate"),
];

/// Properties of the date of an instant, the most precise first.
const INSTANTS: [&str; 5] = [
    time::IN_XSD_DATE_TIME_STAMP,
    time::IN_XSD_DATE_TIME,
    time::IN_XSD_DATE,
    time::IN_XSD_YEAR_MONTH,
    time::IN_XSD_YEAR,
];

/// Returns the name of the country that an IRI denotes.
fn country_name(iri: &str) -> Option<String> {
    Place::from_iri(iri).map(|country| country.name.to_owned())
}

/// Reads positions with the latitude first, separated by white space or commas, as in schema.org's shapes. If `has_corners`,
/// two positions are the south-western and the north-eastern corner of a box.
fn box_of_latitudes_first(text: &str, has_corners: bool) -> Option<BoundingBox> {
    let numbers = parse_numbers(text)?;
    if numbers.len() < 4 || !numbers.len().is_multiple_of(2) {
        return None;
    }
    if let (&[first, west, second, east], true) = (numbers.as_slice(), has_corners) {
        // The corners of a box are ordered: a box may cross the antimeridian.
        return BoundingBox::new(west, first.min(second), east, first.max(second));
    }
    let mut extent = Extent::default();
    for position in numbers.chunks(2) {
        extent.add(position[1], position[0]);
    }
    extent.bounds()?
}

/// Reads a circle: latitude, longitude, and the radius in metres.
fn box_of_circle(text: &str) -> Option<BoundingBox> {
    match parse_numbers(text)?.as_slice() {
        &[latitude, longitude, radius] => box_around(longitude, latitude, radius),
        _ => None,
    }
}

/// Reads a radius in metres, or in kilometres with their unit.
fn radius_in_metres(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let factor = if text[number.len()..].trim_start().starts_with('k') {
        1000.0
    } else {
        1.0
    };
    number.parse::<f64>().ok().map(|number| number * factor)
}

/// Length of a degree of latitude in metres.
const METRES_PER_DEGREE: f64 = 111_320.0;

/// Returns the box around a circle.
fn box_around(longitude: f64, latitude: f64, radius: f64) -> Option<BoundingBox> {
    // No two points of the Earth are more than about 20,000 km apart along its surface.
    if !(0.0..=20_000_000.0).contains(&radius) || !(-90.0..=90.0).contains(&latitude) {
        return None;
    }
    let height = radius / METRES_PER_DEGREE;
    // Degrees of longitude shrink to nothing towards a pole. The bound prevents a division by zero.
    let width = (height / latitude.to_radians().cos().max(0.01)).min(180.0);
    let [west, east] = [longitude - width, longitude + width];
    // The western edge of a box that crosses the antimeridian has an eastern longitude.
    let west = if west < -180.0 { west + 360.0 } else { west };
    let east = if width < 180.0 && west > east {
        east + 360.0
    } else {
        east
    };
    let [west, east] = if width >= 180.0 {
        [-180.0, 180.0]
    } else {
        [west, east]
    };
    BoundingBox::new(
        west,
        (latitude - height).max(-90.0),
        east,
        (latitude + height).min(90.0),
    )
}

fn country_box(iri: &str) -> Option<(BoundingBox, &'static str)> {
    Place::from_iri(iri).map(|country| (country.bounds, "country"))
}

/// Returns the period of an IRI for a year, as in <http://reference.data.gov.uk/id/year/2010>.
fn period_of_iri(iri: &str) -> Option<Period> {
    Period::from_date_text(iri.split_once("://reference.data.gov.uk/id/year/")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatasetId, Metadata, Statement};
    use lodeseek_rdf::vocab::owl;
    use oxrdf::Literal;

    fn dataset(statements: &[(&str, &str, &str)]) -> Dataset {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let node = |name: &str| {
            if name.is_empty() {
                Node::Dataset
            } else {
                Node::Part(name.to_owned())
            }
        };
        for (subject, property, object) in statements {
            let object = if let Some(part) = object.strip_prefix("_:") {
                Value::Node(node(part))
            } else if object.starts_with("http") {
                Value::Node(Node::Iri((*object).to_owned()))
            } else {
                Value::Literal(Literal::from(*object))
            };
            dataset
                .extra_statements
                .push(Statement::new(node(subject), property, object));
        }
        dataset
    }

    fn place(statements: &[(&str, &str, &str)]) -> String {
        let mut all = vec![("", dcterms::SPATIAL, "_:p")];
        all.extend(statements);
        match dataset(&all).declared_place() {
            Some(place) => format!(
                "{} {} {}",
                place.form,
                place.bounds,
                place.name.unwrap_or_default()
            ),
            None => "none".to_owned(),
        }
    }

    fn period(statements: &[(&str, &str, &str)]) -> String {
        let mut all = vec![("", dcterms::TEMPORAL, "_:p")];
        all.extend(statements);
        match dataset(&all).declared_period() {
            Some(declared) => format!("{} {}", declared.form, declared.period),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn places_are_read_from_all_forms() {
        let wkt = "POLYGON((2.5 49.4,6.5 49.4,6.5 51.6,2.5 51.6,2.5 49.4))";
        let country = "http://publications.europa.eu/resource/authority/country/BEL";
        for (statements, expected) in [
            (vec![("p", dcat::BBOX, wkt)], "dcat:bbox 2.5,49.4,6.5,51.6 "),
            (
                vec![("p", dcat::CENTROID, "POINT(4 50)"), ("p", dcat::BBOX, wkt)],
                "dcat:bbox 2.5,49.4,6.5,51.6 ",
            ),
            (
                vec![
                    ("p", dcat::BBOX, "no geometry"),
                    ("p", dcat::CENTROID, "POINT(4 50)"),
                ],
                "dcat:centroid 4,50,4,50 ",
            ),
            (
                vec![
                    (
                        "p",
                        locn::GEOMETRY,
                        r#"{"type":"Point","coordinates":[4,50]}"#,
                    ),
                    ("p", skos::PREF_LABEL, "Town"),
                ],
                "locn:geometry 4,50,4,50 Town",
            ),
            (
                vec![
                    ("p", locn::GEOMETRY, "_:g"),
                    ("g", geosparql::AS_WKT, "POINT(4 50)"),
                ],
                "locn:geometry 4,50,4,50 ",
            ),
            (
                vec![
                    ("p", geosparql::HAS_GEOMETRY, "_:g"),
                    ("g", geosparql::AS_WKT, wkt),
                ],
                "geo:hasGeometry 2.5,49.4,6.5,51.6 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::BOX, "49.4 2.5 51.6 6.5"),
                ],
                "schema:geo 2.5,49.4,6.5,51.6 ",
            ),
            (
                vec![
                    ("p", "http://schema.org/geo", "_:g"),
                    ("g", "http://schema.org/box", "-19.5,177 -16,-178"),
                ],
                "schema:geo 177,-19.5,-178,-16 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::LATITUDE, "50"),
                    ("g", schema::LONGITUDE, "4"),
                ],
                "schema:geo 4,50,4,50 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::POLYGON, "0 1 2 3 4 5 0 1"),
                ],
                "schema:geo 1,0,5,4 ",
            ),
            (
                vec![("p", schema::GEO, "_:g"), ("g", schema::LINE, "50 4 51 3")],
                "schema:geo 3,50,4,51 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    (
                        "g",
                        schema::POLYGON,
                        r#"{"type":"Point","coordinates":[4,50]}"#,
                    ),
                ],
                "schema:geo 4,50,4,50 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::POLYGON, "POINT(4 50)"),
                ],
                "schema:geo 4,50,4,50 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::BOX, "170,-20,175,-10"),
                ],
                "schema:geo 170,-20,175,-10 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::CIRCLE, "0 10 111320"),
                ],
                "schema:geo 9,-1,11,1 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::CIRCLE, "0 179.5 111320"),
                ],
                "schema:geo 178.5,-1,-179.5,1 ",
            ),
            (
                vec![
                    ("p", schema::GEO, "_:g"),
                    ("g", schema::GEO_MIDPOINT, "_:m"),
                    ("g", schema::GEO_RADIUS, "111.32 km"),
                    ("m", schema::LATITUDE, "0"),
                    ("m", schema::LONGITUDE, "10"),
                ],
                "schema:geo 9,-1,11,1 ",
            ),
            (
                vec![("p", georss::BOX, "49.4 2.5 51.6 6.5")],
                "georss 2.5,49.4,6.5,51.6 ",
            ),
            (vec![("p", georss::POINT, "50 4")], "georss 4,50,4,50 "),
            (
                vec![("p", geo::LAT, "50"), ("p", geo::LONG, "4")],
                "wgs84:lat 4,50,4,50 ",
            ),
            (vec![("p", geo::LAT, "91"), ("p", geo::LONG, "4")], "none"),
            (
                vec![("p", owl::SAME_AS, country)],
                "country 2.5,49.4,6.5,51.6 Belgium",
            ),
            (
                vec![(
                    "p",
                    rdfs::LABEL,
                    "northlimit=5; southlimit=1; westlimit=2; eastlimit=3",
                )],
                "dct:spatial 2,1,3,5 ",
            ),
            (vec![("p", rdfs::LABEL, "Old town")], "none"),
        ] {
            assert_eq!(place(&statements), expected, "{statements:?}");
        }
        let of = |value: &str| dataset(&[("", dcterms::SPATIAL, value)]).declared_place();
        assert_eq!(
            of(country).map(|place| (place.form, place.name)),
            Some(("country", Some("Belgium".to_owned())))
        );
        assert_eq!(
            of("-77.2,38.7,-76.9,39")
                .map(|place| place.bounds.to_string())
                .as_deref(),
            Some("-77.2,38.7,-76.9,39")
        );
        assert_eq!(of("Old town"), None);
        let mut text = dataset(&[]);
        let literal = Value::Literal(Literal::from(country));
        text.extra_statements
            .push(Statement::new(Node::Dataset, dcterms::SPATIAL, literal));
        assert_eq!(
            text.declared_place().map(|place| place.form),
            Some("country")
        );
    }

    #[test]
    fn several_places_are_one_box() {
        let both = dataset(&[
            ("", dcterms::SPATIAL, "http://data.europa.eu/nuts/code/BE"),
            ("", dcterms::SPATIAL, "http://data.europa.eu/nuts/code/LU"),
            ("", dcterms::SPATIAL, "http://example.org/unknown"),
        ]);
        let declared = both.declared_place().expect("a place");
        assert_eq!(
            (declared.bounds.to_string().as_str(), declared.name),
            ("2.5,49.4,6.6,51.6", None)
        );
    }

    /// If each place read the geometry again, the work would be quadratic.
    #[test]
    fn a_geometry_of_many_places_is_read_once() {
        let mut dataset = dataset(&[]);
        let geometry = Node::Part("g".to_owned());
        for number in 0..MAX_VALUES {
            let place = Node::Part(format!("p{number}"));
            dataset.extra_statements.push(Statement::new(
                Node::Dataset,
                dcterms::SPATIAL,
                place.clone(),
            ));
            dataset.extra_statements.push(Statement::new(
                place,
                geosparql::HAS_GEOMETRY,
                geometry.clone(),
            ));
        }
        for number in 0..50_000 {
            let text = Literal::from(format!("no geometry {number}"));
            dataset
                .extra_statements
                .push(Statement::new(geometry.clone(), rdfs::LABEL, text));
        }
        assert_eq!(dataset.declared_place(), None);
        dataset.extra_statements.push(Statement::new(
            geometry,
            rdfs::LABEL,
            Literal::from("POINT(4 50)"),
        ));
        let declared = dataset.declared_place().expect("a place");
        assert_eq!(
            (declared.form, declared.bounds.to_string().as_str()),
            ("geo:hasGeometry", "4,50,4,50")
        );
    }

    #[test]
    fn periods_are_read_from_all_forms() {
        for (statements, expected) in [
            (
                vec![
                    ("p", dcat::START_DATE, "2010"),
                    ("p", dcat::END_DATE, "2015-12-31"),
                ],
                "dcat:startDate 2010..2015",
            ),
            (
                vec![("p", dcat::START_DATE, "2010-05-01T00:00:00Z")],
                "dcat:startDate 2010-05-01..",
            ),
            (
                vec![
                    ("p", dcat::START_DATE, "2010"),
                    ("p", dcat::END_DATE, "ongoing"),
                ],
                "dcat:startDate 2010..",
            ),
            (
                vec![
                    ("p", dcat::START_DATE, "soon"),
                    ("p", rdfs::LABEL, "about 1900"),
                ],
                "dct:temporal 1900",
            ),
            (
                vec![
                    ("p", schema::START_DATE, "2010"),
                    ("p", schema::END_DATE, "2011"),
                ],
                "schema:startDate 2010..2011",
            ),
            (
                vec![("p", "http://schema.org/endDate", "2011")],
                "schema:startDate ..2011",
            ),
            (
                vec![
                    ("p", time::HAS_BEGINNING, "_:b"),
                    ("b", time::IN_XSD_DATE, "2010-01-01"),
                    ("p", time::HAS_END, "_:e"),
                    ("e", time::IN_XSD_YEAR, "2012"),
                ],
                "time:hasBeginning 2010..2012",
            ),
            (
                vec![(
                    "p",
                    owl::SAME_AS,
                    "http://reference.data.gov.uk/id/year/2010",
                )],
                "dct:temporal 2010",
            ),
            (vec![("p", rdfs::LABEL, "Renaissance")], "none"),
        ] {
            assert_eq!(period(&statements), expected, "{statements:?}");
        }
        let values = [
            ("", dcterms::TEMPORAL, "2010/2011"),
            ("", dcterms::TEMPORAL, "2001"),
            ("", dcterms::TEMPORAL, "?"),
        ];
        let declared = dataset(&values).declared_period().expect("a period");
        assert_eq!(
            (declared.form, declared.period.to_string().as_str()),
            ("dct:temporal", "2001..2011")
        );
    }
}
