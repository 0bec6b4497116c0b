//! The area and the period that a dataset covers: as its description declares them, or else derived from its content.
//!
//! # Positions in content
//!
//! A position is a pair of latitude and longitude of WGS 84 or schema.org at one subject, or a geometry of GeoSPARQL
//! (the corners of its box). Ignored are positions out of range and the position 0, 0, which stands for a missing one. If
//! there are a hundred or more, the outermost 1 % at each edge are ignored: they are mostly errors.
//!
//! # Dates in content
//!
//! A date is a literal of type `xsd:date`, `xsd:dateTime`, `xsd:gYearMonth` or `xsd:gYear` from the years 1 to 2100.
//! Ignored are dates of records, such as `dct:modified`. There must be five dates; the period is from their 5th to their
//! 95th percentile.

use lodeseek_catalog::{BoundingBox, Dataset, Day, Period, box_of_geojson, box_of_wkt};
use lodeseek_rdf::vocab::{dcterms, geo, geosparql, prov, schema};
use lodeseek_rdf::{LiteralKind, TermId, TermRef, TripleGraph};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Minimum number of positions of which the outermost are ignored.
const MIN_TRIMMED_POSITIONS: usize = 100;
/// One position in so many is ignored at each edge.
const POSITIONS_PER_TRIMMED: usize = 100;
/// Minimum number of dates of which a period is derived.
const MIN_DATES: usize = 5;
/// One date in so many is ignored at each end.
const DATES_PER_TRIMMED: usize = 20;
/// Years of dates in content. Others are mostly placeholders, such as 9999.
const CONTENT_YEARS: std::ops::RangeInclusive<i32> = 1..=2100;

/// Origin of a coverage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoverageSource {
    /// The description of the dataset declares it.
    Metadata,
    /// It was derived from the content.
    Content,
}

impl CoverageSource {
    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Content => "content",
        }
    }
}

/// The area that a dataset covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlaceCoverage {
    /// The smallest known box: west, south, east and north in degrees of WGS 84.
    #[serde(rename = "box")]
    pub bounds: BoundingBox,
    /// Name of the place, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Origin of the box.
    pub source: CoverageSource,
    /// Property with the coordinates, or the number of positions and their properties.
    pub reason: String,
}

/// The period that a dataset covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PeriodCoverage {
    /// First and last day; an open end is missing.
    #[serde(flatten)]
    pub period: Period,
    /// Origin of the period.
    pub source: CoverageSource,
    /// Property with the dates, or the number of dates.
    pub reason: String,
}

/// Writes the name, the box and its origin, for example `Belgium: 2.5,49.4,6.5,51.6, from metadata (country)`.
impl fmt::Display for PlaceCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        write!(
            f,
            "{}, from {} ({})",
            self.bounds,
            self.source.name(),
            self.reason
        )
    }
}

/// Writes the period and its origin, for example `2010..2015, from metadata (dcat:startDate)`.
impl fmt::Display for PeriodCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, from {} ({})",
            self.period,
            self.source.name(),
            self.reason
        )
    }
}

/// The area and the period that a dataset covers, as far as known.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// The area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceCoverage>,
    /// The period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<PeriodCoverage>,
}

impl Coverage {
    /// Returns the coverage that the description declares, or else that of the content.
    #[must_use]
    pub fn new(dataset: &Dataset, graph: &TripleGraph) -> Self {
        let declared = Self::from_description(dataset);
        Self {
            place: declared.place.or_else(|| content_place(graph)),
            period: declared.period.or_else(|| content_period(graph)),
        }
    }

    /// Returns the coverage that the description declares.
    #[must_use]
    pub fn from_description(dataset: &Dataset) -> Self {
        let source = CoverageSource::Metadata;
        let place = dataset.declared_place().map(|declared| PlaceCoverage {
            bounds: declared.bounds,
            name: declared.name,
            source,
            reason: declared.form.to_owned(),
        });
        let period = dataset.declared_period().map(|declared| PeriodCoverage {
            period: declared.period,
            source,
            reason: declared.form.to_owned(),
        });
        Self { place, period }
    }

    /// Returns true if neither area nor period is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.place.is_none() && self.period.is_none()
    }
}

/// Pairs of properties with latitude and longitude.
const POSITIONS: [(&str, [&str; 2]); 3] = [
    ("wgs84:lat", [geo::LAT, geo::LONG]),
    ("schema:latitude", [schema::LATITUDE, schema::LONGITUDE]),
    (
        "schema:latitude",
        ["http://schema.org/latitude", "http://schema.org/longitude"],
    ),
];

/// Derives the area from the positions and geometries in content.
fn content_place(graph: &TripleGraph) -> Option<PlaceCoverage> {
    let mut positions: Vec<BoundingBox> = Vec::new();
    let mut forms: BTreeSet<&str> = BTreeSet::new();
    for (form, [latitude, longitude]) in POSITIONS {
        let (Some(latitude), Some(longitude)) = (graph.iri(latitude), graph.iri(longitude)) else {
            continue;
        };
        // Triples are sorted by subject. The longitude is looked up once a subject, not for each latitude.
        for triples in graph
            .triples()
            .chunk_by(|one, next| one.subject == next.subject)
        {
            let mut longitudes = triples
                .iter()
                .filter(|triple| triple.predicate == longitude);
            let Some(longitude) = longitudes.find_map(|triple| read_number(graph, triple.object))
            else {
                continue;
            };
            for triple in triples.iter().filter(|triple| triple.predicate == latitude) {
                let latitude = read_number(graph, triple.object);
                if let Some(position) =
                    latitude.and_then(|latitude| usable_position(longitude, latitude))
                {
                    positions.push(position);
                    forms.insert(form);
                }
            }
        }
    }
    for (form, property) in [
        ("geo:asWKT", geosparql::AS_WKT),
        ("geo:asGeoJSON", geosparql::AS_GEO_JSON),
    ] {
        let Some(property) = graph.iri(property) else {
            continue;
        };
        for triple in graph
            .triples()
            .iter()
            .filter(|triple| triple.predicate == property)
        {
            let text = graph.term(triple.object).text().trim();
            let bounds = if text.starts_with('{') {
                box_of_geojson(text)
            } else {
                box_of_wkt(text)
            };
            if let Some(bounds) = bounds.filter(|bounds| bounds.microdegrees() != [0; 4]) {
                positions.push(bounds);
                forms.insert(form);
            }
        }
    }
    let number = positions.len();
    let skipped = if number < MIN_TRIMMED_POSITIONS {
        0
    } else {
        number / POSITIONS_PER_TRIMMED
    };
    let bounds = BoundingBox::around_most(&positions, skipped)?;
    let forms: Vec<&str> = forms.into_iter().collect();
    let noun = if number == 1 { "position" } else { "positions" };
    let note = if skipped > 0 {
        ", without the outermost 1 %"
    } else {
        ""
    };
    let reason = format!("{number} {noun} ({}){note}", forms.join(", "));
    Some(PlaceCoverage {
        bounds,
        name: None,
        source: CoverageSource::Content,
        reason,
    })
}

fn read_number(graph: &TripleGraph, term: TermId) -> Option<f64> {
    match graph.term(term) {
        TermRef::Literal { lexical, .. } => lexical.trim().parse().ok(),
        _ => None,
    }
}

/// Returns the position, unless it is out of range or 0, 0.
fn usable_position(longitude: f64, latitude: f64) -> Option<BoundingBox> {
    let position = BoundingBox::from_position(longitude, latitude)?;
    (position.microdegrees() != [0; 4]).then_some(position)
}

/// Properties with dates of records, not of what the records describe.
const RECORD_DATES: [&str; 8] = [
    dcterms::CREATED,
    dcterms::MODIFIED,
    dcterms::ISSUED,
    "http://purl.org/dc/terms/available",
    "http://purl.org/dc/terms/dateSubmitted",
    "http://purl.org/dc/terms/dateAccepted",
    prov::GENERATED_AT_TIME,
    "http://www.w3.org/ns/prov#invalidatedAtTime",
];
/// Names of such properties of schema.org.
const SCHEMA_RECORD_DATES: [&str; 3] = ["dateCreated", "dateModified", "datePublished"];

/// Derives the period from the dates in content.
fn content_period(graph: &TripleGraph) -> Option<PeriodCoverage> {
    let mut of_records: FxHashSet<TermId> = FxHashSet::default();
    of_records.extend(
        RECORD_DATES
            .iter()
            .filter_map(|property| graph.iri(property)),
    );
    for name in SCHEMA_RECORD_DATES {
        of_records.extend(graph.iri(&format!("https://schema.org/{name}")));
        of_records.extend(graph.iri(&format!("http://schema.org/{name}")));
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for triple in graph.triples() {
        if let Some((begin, end)) = read_date(graph, triple.object)
            && !of_records.contains(&triple.predicate)
        {
            first.push(begin);
            last.push(end);
        }
    }
    let number = first.len();
    if number < MIN_DATES {
        return None;
    }
    first.sort_unstable();
    last.sort_unstable();
    let skipped = number / DATES_PER_TRIMMED;
    let period = Period::new(Some(first[skipped]), Some(last[number - 1 - skipped]))?;
    let note = if skipped > 0 {
        ", from the 5th to the 95th percentile"
    } else {
        ""
    };
    let reason = format!("{number} dates{note}");
    Some(PeriodCoverage {
        period,
        source: CoverageSource::Content,
        reason,
    })
}

/// Returns the first and the last day of a typed date within the years of content.
fn read_date(graph: &TripleGraph, term: TermId) -> Option<(Day, Day)> {
    let TermRef::Literal {
        lexical,
        kind: LiteralKind::Datatype(datatype),
    } = graph.term(term)
    else {
        return None;
    };
    let name = datatype.strip_prefix("http://www.w3.org/2001/XMLSchema#")?;
    if !matches!(
        name,
        "date" | "dateTime" | "dateTimeStamp" | "gYear" | "gYearMonth"
    ) {
        return None;
    }
    let period = Period::from_date_text(lexical)?;
    let (first, last) = period.first().zip(period.last())?;
    (CONTENT_YEARS.contains(&first.year()) && CONTENT_YEARS.contains(&last.year()))
        .then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::{DatasetId, Metadata, Node, Statement};
    use lodeseek_rdf::TripleGraphBuilder;
    use oxrdf::{Literal, NamedNode, Triple};

    const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

    fn graph(triples: &[(String, &str, Literal)]) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        for (subject, property, object) in triples {
            let subject = NamedNode::new_unchecked(format!("http://e.org/{subject}"));
            let triple = Triple::new(subject, NamedNode::new_unchecked(*property), object.clone());
            builder.insert(triple.as_ref());
        }
        builder.finish()
    }

    fn positions(
        properties: [&'static str; 2],
        positions: &[(f64, f64)],
    ) -> Vec<(String, &'static str, Literal)> {
        let mut triples = Vec::new();
        for (number, (longitude, latitude)) in positions.iter().enumerate() {
            triples.push((
                number.to_string(),
                properties[0],
                Literal::from(latitude.to_string()),
            ));
            triples.push((number.to_string(), properties[1], Literal::from(*longitude)));
        }
        triples
    }

    fn place(triples: &[(String, &str, Literal)]) -> Option<(String, String)> {
        content_place(&graph(triples)).map(|place| (place.bounds.to_string(), place.reason))
    }

    fn expected(bounds: &str, reason: &str) -> Option<(String, String)> {
        Some((bounds.to_owned(), reason.to_owned()))
    }

    #[test]
    fn positions_of_content_have_a_box() {
        let some = [
            (8.5, 47.4),
            (0.0, 0.0),
            (8.7, 47.0),
            (200_000.0, 5.0),
            (3.0, 91.0),
        ];
        let wgs84 = positions([geo::LAT, geo::LONG], &some);
        assert_eq!(
            place(&wgs84),
            expected("8.5,47,8.7,47.4", "2 positions (wgs84:lat)")
        );
        for properties in [POSITIONS[1].1, POSITIONS[2].1] {
            let one = positions(properties, &some[..1]);
            assert_eq!(
                place(&one),
                expected("8.5,47.4,8.5,47.4", "1 position (schema:latitude)")
            );
        }
        let mut with_geometry = wgs84;
        with_geometry.push((
            "g".to_owned(),
            geosparql::AS_WKT,
            Literal::from("LINESTRING(1 2, 3 4)"),
        ));
        with_geometry.push((
            "h".to_owned(),
            geosparql::AS_WKT,
            Literal::from("POINT(0 0)"),
        ));
        assert_eq!(
            place(&with_geometry),
            expected("1,2,8.7,47.4", "3 positions (geo:asWKT, wgs84:lat)")
        );
        assert_eq!(
            place(&positions([geo::LAT, geo::LONG], &[(0.0, 0.0)])),
            None
        );
        let without_longitude = vec![("a".to_owned(), geo::LAT, Literal::from(5))];
        assert_eq!(place(&without_longitude), None);
    }

    #[test]
    fn longitudes_are_read_once_a_subject() {
        let mut triples = Vec::new();
        for number in 0..50_000 {
            triples.push((
                "a".to_owned(),
                geo::LAT,
                Literal::from((f64::from(number) / 1000.0).to_string()),
            ));
            triples.push((
                "a".to_owned(),
                geo::LONG,
                Literal::from(format!("east {number}")),
            ));
        }
        assert_eq!(place(&triples), None);
        triples.push(("a".to_owned(), geo::LONG, Literal::from("8.5")));
        let (_, reason) = place(&triples).expect("a place");
        assert_eq!(
            reason,
            "50000 positions (wgs84:lat), without the outermost 1 %"
        );
    }

    #[test]
    fn few_outliers_do_not_extend_the_box() {
        let mut many: Vec<(f64, f64)> = (0..198)
            .map(|n| (178.0 + f64::from(n) / 50.0, -17.0))
            .collect();
        for (longitude, _) in &mut many {
            *longitude -= if *longitude > 180.0 { 360.0 } else { 0.0 };
        }
        many.extend([(-90.0, 60.0), (178.0, -80.0)]);
        let found =
            content_place(&graph(&positions([geo::LAT, geo::LONG], &many))).expect("a place");
        let [west, south, east, north] = found.bounds.degrees();
        assert_eq!((south, north), (-17.0, -17.0));
        assert!(
            found.bounds.crosses_antimeridian() && west >= 178.0 && east <= -178.0,
            "{}",
            found.bounds
        );
        assert_eq!(
            found.reason,
            "200 positions (wgs84:lat), without the outermost 1 %"
        );
        many.truncate(99);
        many[0] = (0.5, 60.0);
        let few = content_place(&graph(&positions([geo::LAT, geo::LONG], &many))).expect("a place");
        assert_eq!(
            few.bounds.degrees()[3],
            60.0,
            "of less than a hundred, all count"
        );
    }

    fn dates(
        property: &'static str,
        datatype: &str,
        dates: &[&str],
    ) -> Vec<(String, &'static str, Literal)> {
        let typed = |text: &str| {
            Literal::new_typed_literal(text, NamedNode::new_unchecked(format!("{XSD}{datatype}")))
        };
        dates
            .iter()
            .enumerate()
            .map(|(n, text)| (format!("{property}{n}"), property, typed(text)))
            .collect()
    }

    fn period(triples: &[(String, &str, Literal)]) -> Option<(String, String)> {
        content_period(&graph(triples)).map(|period| (period.period.to_string(), period.reason))
    }

    #[test]
    fn dates_of_content_have_a_period() {
        let years = ["2003", "2001", "9999", "0000", "2002", "2004", "x", "2005"];
        let all = dates("http://e.org/year", "gYear", &years);
        assert_eq!(period(&all), expected("2001..2005", "5 dates"));
        assert_eq!(period(&all[..6]), None, "four usable dates are too few");
        assert_eq!(period(&dates("http://e.org/year", "string", &years)), None);
        assert_eq!(period(&dates(dcterms::MODIFIED, "gYear", &years)), None);
        assert_eq!(
            period(&dates("http://schema.org/dateModified", "gYear", &years)),
            None
        );
        let mut days: Vec<String> = (1..=28)
            .map(|day| format!("2010-02-{day:02}T10:00:00Z"))
            .collect();
        days.extend((1..=12).map(|month| format!("2010-{month:02}-01T00:00:00Z")));
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        let found = period(&dates("http://e.org/time", "dateTime", &days)).expect("a period");
        assert_eq!(
            found,
            (
                "2010-02-01..2010-10-01".to_owned(),
                "40 dates, from the 5th to the 95th percentile".to_owned()
            )
        );
    }

    #[test]
    fn declared_coverage_is_preferred() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let content = graph(&positions([geo::LAT, geo::LONG], &[(8.5, 47.4)]));
        let derived = Coverage::new(&dataset, &content).place.expect("a place");
        assert_eq!(derived.source, CoverageSource::Content);
        let spatial = Literal::from("POINT(1 2)");
        dataset
            .extra_statements
            .push(Statement::new(Node::Dataset, dcterms::SPATIAL, spatial));
        let coverage = Coverage::new(&dataset, &content);
        let declared = coverage.place.clone().expect("a place");
        assert_eq!(
            (declared.source, declared.bounds.to_string().as_str()),
            (CoverageSource::Metadata, "1,2,1,2")
        );
        let json = serde_json::to_value(&coverage).expect("written");
        let place = serde_json::json!({ "box": [1.0, 2.0, 1.0, 2.0], "source": "metadata", "reason": "dct:spatial" });
        assert_eq!(json, serde_json::json!({ "place": place }));
        assert_eq!(
            serde_json::from_value::<Coverage>(json).expect("read"),
            coverage
        );
    }
}
