//! Bounding boxes in degrees of WGS 84.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Units of a degree: coordinates are stored in microdegrees, about 0.1 m.
const UNITS_PER_DEGREE: f64 = 1e6;
/// Longitude of the antimeridian, and latitude of the north pole, in microdegrees.
const HALF_TURN: i32 = 180_000_000;
const POLE: i32 = 90_000_000;
const TURN: i64 = 2 * HALF_TURN as i64;

/// A bounding box in WGS 84, in the order of GeoJSON: west, south, east, north.
///
/// If the western longitude is greater than the eastern one, the box crosses the antimeridian.
///
/// ```
/// use lodeseek_catalog::BoundingBox;
/// let fiji: BoundingBox = "177,-19.5,-178,-16".parse()?;
/// let tonga: BoundingBox = "-179,-22,-173,-15".parse()?;
/// assert!(fiji.crosses_antimeridian() && fiji.intersects(tonga));
/// assert_eq!(fiji.to_string(), "177,-19.5,-178,-16");
/// # Ok::<(), lodeseek_catalog::InvalidBox>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "[f64; 4]", into = "[f64; 4]")]
pub struct BoundingBox {
    west: i32,
    south: i32,
    east: i32,
    north: i32,
}

/// Error for numbers that are not a bounding box.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not a bounding box: expected west,south,east,north in degrees, with longitudes from -180 to 180 and \
     latitudes from -90 to 90, as in 2.5,49.4,6.5,51.6"
)]
pub struct InvalidBox(String);

impl InvalidBox {
    /// Creates the error for a text, of which the message contains the beginning.
    fn new(text: &str) -> Self {
        Self(text.chars().take(80).collect())
    }
}

impl BoundingBox {
    /// Creates a box from degrees. Longitudes may also be from 180 to 360. Returns `None` if a number is out of range
    /// or the south is north of the north.
    #[must_use]
    pub fn new(west: f64, south: f64, east: f64, north: f64) -> Option<Self> {
        let [west, east] = [
            to_microdegrees(west, -180.0..=360.0)?,
            to_microdegrees(east, -180.0..=360.0)?,
        ];
        let [south, north] = [
            to_microdegrees(south, -90.0..=90.0)?,
            to_microdegrees(north, -90.0..=90.0)?,
        ];
        if south > north {
            return None;
        }
        if east - west >= TURN {
            return Some(Self {
                west: -HALF_TURN,
                south: narrow_units(south),
                east: HALF_TURN,
                north: narrow_units(north),
            });
        }
        let (west, east) = normalize_edges(west, east);
        Some(Self {
            west,
            south: narrow_units(south),
            east,
            north: narrow_units(north),
        })
    }

    /// Creates the box of one position in degrees.
    #[must_use]
    pub fn from_position(longitude: f64, latitude: f64) -> Option<Self> {
        Self::new(longitude, latitude, longitude, latitude)
    }

    /// Creates a box from microdegrees, as [`Self::microdegrees`] returns them. Returns `None` if one is out of range.
    #[must_use]
    pub fn from_microdegrees([west, south, east, north]: [i32; 4]) -> Option<Self> {
        let longitudes = -HALF_TURN..=HALF_TURN;
        let is_valid = longitudes.contains(&west)
            && longitudes.contains(&east)
            && -POLE <= south
            && south <= north
            && north <= POLE;
        is_valid.then_some(Self {
            west,
            south,
            east,
            north,
        })
    }

    /// Returns west, south, east and north in microdegrees.
    #[must_use]
    pub fn microdegrees(self) -> [i32; 4] {
        [self.west, self.south, self.east, self.north]
    }

    /// Returns west, south, east and north in degrees.
    #[must_use]
    pub fn degrees(self) -> [f64; 4] {
        self.microdegrees()
            .map(|units| f64::from(units) / UNITS_PER_DEGREE)
    }

    /// Returns the box in Well-known Text, longitudes first: a polygon, or two if the box crosses the antimeridian.
    #[must_use]
    pub fn to_wkt(self) -> String {
        let [west, south, east, north] = self.degrees();
        if self.crosses_antimeridian() {
            return format!(
                "MULTIPOLYGON ({}, {})",
                format_ring(west, south, 180.0, north),
                format_ring(-180.0, south, east, north)
            );
        }
        format!("POLYGON {}", format_ring(west, south, east, north))
    }

    /// Returns true if the box crosses the antimeridian.
    #[must_use]
    pub fn crosses_antimeridian(self) -> bool {
        self.west > self.east
    }

    /// Returns true if the boxes have a point in common. Boxes that only touch have one.
    #[must_use]
    pub fn intersects(self, other: Self) -> bool {
        let has_latitude = self.south <= other.north && other.south <= self.north;
        // Two arcs have a point in common exactly if one contains the western end of the other.
        has_latitude && self.contains_longitude(other.west) | other.contains_longitude(self.west)
    }

    /// Returns true if the meridian crosses the box. -180° and 180° are the same meridian.
    fn contains_longitude(self, longitude: i32) -> bool {
        let is_whole = self.west == -HALF_TURN && self.east == HALF_TURN;
        is_whole
            || eastward_distance(self.west, longitude) <= eastward_distance(self.west, self.east)
    }

    /// Returns the smallest box that contains all boxes, over the antimeridian if that is shorter. `None` without boxes.
    #[must_use]
    pub fn around(boxes: &[Self]) -> Option<Self> {
        Self::around_most(boxes, 0)
    }

    /// Returns the smallest box around all boxes, reduced by the `skipped` outermost ones at each edge. `None` if no box
    /// is left.
    #[must_use]
    pub fn around_most(boxes: &[Self], skipped: usize) -> Option<Self> {
        let last = boxes
            .len()
            .checked_sub(skipped + 1)
            .filter(|last| skipped <= *last)?;
        let start = smallest_arc_start(boxes);
        let mut sorted: [Vec<i64>; 4] = Default::default();
        for one in boxes {
            // Longitudes eastwards of the western edge of the smallest box.
            let west = (i64::from(one.west) - start).rem_euclid(TURN);
            let edges = [
                west,
                i64::from(one.south),
                west + one.width(),
                i64::from(one.north),
            ];
            for (values, edge) in sorted.iter_mut().zip(edges) {
                values.push(edge);
            }
        }
        for values in &mut sorted {
            values.sort_unstable();
        }
        let [west, south, east, north] = [
            sorted[0][skipped],
            sorted[1][skipped],
            sorted[2][last],
            sorted[3][last],
        ];
        let (south, north) = (narrow_units(south), narrow_units(north));
        if east - west >= TURN {
            return Some(Self {
                west: -HALF_TURN,
                south,
                east: HALF_TURN,
                north,
            });
        }
        let (west, east) = normalize_edges(start + west, start + east);
        (south <= north).then_some(Self {
            west,
            south,
            east,
            north,
        })
    }

    /// Returns the extent from west to east in microdegrees.
    fn width(self) -> i64 {
        let width = i64::from(self.east) - i64::from(self.west);
        if width < 0 { width + TURN } else { width }
    }
}

/// Formats a ring of Well-known Text, in degrees.
fn format_ring(west: f64, south: f64, east: f64, north: f64) -> String {
    format!("(({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))")
}

/// Returns the microdegrees from one longitude eastward to another, less than a turn.
fn eastward_distance(from: i32, to: i32) -> i64 {
    (i64::from(to) - i64::from(from)).rem_euclid(TURN)
}

/// Returns the western end of the shortest arc that contains all boxes: it follows the largest gap between them.
fn smallest_arc_start(boxes: &[BoundingBox]) -> i64 {
    let mut arcs: Vec<(i64, i64)> = boxes
        .iter()
        .map(|one| (i64::from(one.west), one.width()))
        .collect();
    arcs.sort_unstable();
    let Some(&(first, _)) = arcs.first() else {
        return 0;
    };
    let mut furthest = first;
    let mut largest_gap = i64::MIN;
    let mut start = first;
    for (west, width) in arcs {
        if west - furthest > largest_gap && west > first {
            largest_gap = west - furthest;
            start = west;
        }
        // A box may end before an earlier one does.
        furthest = furthest.max(west + width);
    }
    // The gap from the furthest end over the antimeridian to the first start.
    if first + TURN - furthest >= largest_gap {
        first
    } else {
        start
    }
}

fn to_microdegrees(degrees: f64, range: std::ops::RangeInclusive<f64>) -> Option<i64> {
    range
        .contains(&degrees)
        // At most 360 million units: the cast is exact.
        .then(|| (degrees * UNITS_PER_DEGREE).round() as i64)
}

fn narrow_units(units: i64) -> i32 {
    // All callers have normalized or checked the units.
    i32::try_from(units).unwrap_or(POLE)
}

/// Normalizes the longitudes of the edges of a box. The edges of a box without width remain equal.
fn normalize_edges(west: i64, east: i64) -> (i32, i32) {
    if west == east {
        (normalize_east(west), normalize_east(east))
    } else {
        (normalize_west(west), normalize_east(east))
    }
}

/// Normalizes the longitude of a western edge to at least -180° and less than 180°.
fn normalize_west(units: i64) -> i32 {
    narrow_units((units + TURN / 2).rem_euclid(TURN) - TURN / 2)
}

/// Normalizes the longitude of an eastern edge to more than -180° and at most 180°, but keeps -180°.
fn normalize_east(units: i64) -> i32 {
    if units == -TURN / 2 {
        -HALF_TURN
    } else {
        narrow_units(TURN / 2 - (TURN / 2 - units).rem_euclid(TURN))
    }
}

impl From<BoundingBox> for [f64; 4] {
    fn from(bounds: BoundingBox) -> Self {
        bounds.degrees()
    }
}

impl TryFrom<[f64; 4]> for BoundingBox {
    type Error = InvalidBox;

    fn try_from(numbers: [f64; 4]) -> Result<Self, InvalidBox> {
        let [west, south, east, north] = numbers;
        Self::new(west, south, east, north)
            .ok_or_else(|| InvalidBox(format!("{west},{south},{east},{north}")))
    }
}

impl FromStr for BoundingBox {
    type Err = InvalidBox;

    fn from_str(text: &str) -> Result<Self, InvalidBox> {
        let mut numbers = Vec::new();
        for number in text.split(',').take(5) {
            numbers.push(
                number
                    .trim()
                    .parse::<f64>()
                    .map_err(|_| InvalidBox::new(text))?,
            );
        }
        let &[west, south, east, north] = numbers.as_slice() else {
            return Err(InvalidBox::new(text));
        };
        if west > 180.0 || east > 180.0 {
            return Err(InvalidBox::new(text));
        }
        Self::new(west, south, east, north).ok_or_else(|| InvalidBox::new(text))
    }
}

impl fmt::Display for BoundingBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [west, south, east, north] = self.degrees();
        write!(f, "{west},{south},{east},{north}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> BoundingBox {
        text.parse().expect("a box")
    }

    #[test]
    fn texts_are_read_and_written() {
        for text in [
            "2.5,49.4,6.5,51.6",
            "177,-19.5,-178,-16",
            "-180,-90,180,90",
            "0,0,0,0",
            "-0.000001,1,2,3",
        ] {
            assert_eq!(parse(text).to_string(), text);
        }
        assert_eq!(parse(" 1, 2 ,3,4 "), parse("1,2,3,4"));
        for wrong in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "1,4,3,2",
            "1,2,3,91",
            "181,0,182,1",
            "a,2,3,4",
            "NaN,0,1,1",
            "inf,0,1,1",
        ] {
            let error = wrong.parse::<BoundingBox>().expect_err(wrong).to_string();
            assert!(error.contains("west,south,east,north"), "{error}");
        }
        let json = serde_json::to_string(&parse("2.5,49.4,6.5,51.6")).expect("written");
        assert_eq!(json, "[2.5,49.4,6.5,51.6]");
        assert_eq!(
            serde_json::from_str::<BoundingBox>(&json).expect("read"),
            parse("2.5,49.4,6.5,51.6")
        );
        assert!(serde_json::from_str::<BoundingBox>("[1,2,3,100]").is_err());
    }

    #[test]
    fn longitudes_are_normalized() {
        assert_eq!(
            BoundingBox::new(170.0, 0.0, 190.0, 1.0),
            Some(parse("170,0,-170,1"))
        );
        assert_eq!(
            BoundingBox::new(200.0, 0.0, 210.0, 1.0),
            Some(parse("-160,0,-150,1"))
        );
        assert_eq!(
            BoundingBox::new(0.0, 0.0, 360.0, 1.0),
            Some(parse("-180,0,180,1"))
        );
        assert_eq!(
            BoundingBox::new(170.0, 0.0, 180.0, 1.0).map(|one| one.to_string()),
            Some("170,0,180,1".to_owned())
        );
        assert_eq!(BoundingBox::new(0.0, 0.0, 361.0, 1.0), None);
        for longitude in [180.0, -180.0] {
            let point = BoundingBox::from_position(longitude, 1.0).expect("a point");
            assert!(
                !point.intersects(parse("0,0,1,2")) && point.intersects(parse("179,0,180,2")),
                "{point}"
            );
        }
        let corner = BoundingBox::from_microdegrees(parse("-180,-90,180,90").microdegrees());
        assert_eq!(
            (corner, BoundingBox::from_microdegrees([0, 5, 0, 4])),
            (Some(parse("-180,-90,180,90")), None)
        );
    }

    #[test]
    fn boxes_over_the_antimeridian_intersect() {
        let fiji = parse("177,-19.5,-178,-16");
        for (other, expected) in [
            ("178,-18,179,-17", true),
            ("-179,-18,-170,-17", true),
            ("-180,-18,-180,-17", true),
            ("180,-18,180,-17", true),
            ("0,-18,176,-17", false),
            ("-177,-18,0,-17", false),
            ("-180,-90,180,90", true),
            ("178,-15,179,-10", false),
            ("170,-20,-170,-10", true),
        ] {
            assert_eq!(fiji.intersects(parse(other)), expected, "{other}");
            assert_eq!(parse(other).intersects(fiji), expected, "{other} reversed");
        }
        assert!(
            parse("170,0,180,1").intersects(parse("-180,0,-170,1")),
            "both touch the antimeridian"
        );
    }

    #[test]
    fn the_smallest_box_may_cross_the_antimeridian() {
        let around = |texts: &[&str]| {
            let boxes: Vec<BoundingBox> = texts.iter().map(|text| parse(text)).collect();
            BoundingBox::around(&boxes).map(|bounds| bounds.to_string())
        };
        assert_eq!(around(&[]), None);
        assert_eq!(around(&["1,2,3,4"]).as_deref(), Some("1,2,3,4"));
        assert_eq!(
            around(&["1,2,3,4", "-5,0,2,1"]).as_deref(),
            Some("-5,0,3,4")
        );
        assert_eq!(
            around(&["170,0,175,1", "-175,2,-170,3"]).as_deref(),
            Some("170,0,-170,3")
        );
        assert_eq!(
            around(&["170,0,180,1", "-180,2,-170,3"]).as_deref(),
            Some("170,0,-170,3")
        );
        assert_eq!(
            around(&["177,0,-178,1", "170,0,171,1"]).as_deref(),
            Some("170,0,-178,1")
        );
        assert_eq!(
            around(&["-180,0,0,1", "0,0,180,1"]).as_deref(),
            Some("-180,0,180,1")
        );
        assert_eq!(
            around(&["-180,0,180,1", "5,0,6,1"]).as_deref(),
            Some("-180,0,180,1")
        );
    }

    fn any_box() -> impl Strategy<Value = BoundingBox> {
        (-18i32..=18, -9i32..=9, -18i32..=18, 0i32..=9).prop_map(|(west, south, east, height)| {
            let unit = 10_000_000;
            let north = (south + height).min(9);
            BoundingBox::from_microdegrees([west * unit, south * unit, east * unit, north * unit])
                .expect("a box")
        })
    }

    /// Returns true if a point in degrees is in the box, by the definition.
    fn holds(bounds: BoundingBox, longitude: f64, latitude: f64) -> bool {
        let [west, south, east, north] = bounds.degrees();
        let is_between = |longitude: f64| {
            if west <= east {
                west <= longitude && longitude <= east
            } else {
                longitude >= west || longitude <= east
            }
        };
        let is_meridian =
            is_between(longitude) || longitude.abs() >= 180.0 && is_between(-longitude);
        is_meridian && south <= latitude && latitude <= north
    }

    proptest! {
        /// Edges are multiples of ten degrees: boxes intersect if and only if one of these points is in both.
        #[test]
        fn intersection_is_a_common_point(one in any_box(), other in any_box()) {
            let mut common = false;
            for x in -18..=18 {
                for y in -9..=9 {
                    let (x, y) = (f64::from(x) * 10.0, f64::from(y) * 10.0);
                    common |= holds(one, x, y) && holds(other, x, y);
                }
            }
            prop_assert_eq!(one.intersects(other), common);
        }

        #[test]
        fn a_box_around_others_holds_their_points(boxes in proptest::collection::vec(any_box(), 1..5)) {
            let around = BoundingBox::around(&boxes).expect("a box");
            for x in -36..=36 {
                for y in -9..=9 {
                    let (x, y) = (f64::from(x) * 5.0, f64::from(y) * 10.0);
                    if boxes.iter().any(|one| holds(*one, x, y)) {
                        prop_assert!(holds(around, x, y), "{around} misses {x} {y}");
                    }
                }
            }
        }
    }
}
