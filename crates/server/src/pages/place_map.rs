//! Map of the area of a dataset as SVG: the outline of land and a graticule with the box.

use lodeseek_engine::BoundingBox;
use lodeseek_snippet::escape_xml;
use std::fmt::Write;

/// Distance of the lines of the graticule in degrees.
const GRATICULE_DEGREES: i32 = 30;
/// A box smaller than this number of degrees gets a ring, so that it can be found.
const MIN_VISIBLE_DEGREES: f64 = 12.0;
/// Outline of land, as the data of a path: Natural Earth, 1:110 million, in the public domain. `tools/land_outline.py`
/// derives it.
const LAND: &str = include_str!("../../assets/land.txt");
/// Radius of the ring in degrees.
const RING_RADIUS_DEGREES: f64 = 7.0;

/// Draws the map. A degree is a pixel: the west is left, the north is up.
pub(super) fn draw(bounds: BoundingBox, title: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing place\" role=\"img\" viewBox=\"-1 -1 362 182\" width=\"362\" \
         height=\"182\"><title>{}</title><rect class=\"box\" width=\"360\" height=\"180\"/><path class=\"land\" d=\"{}\"/><path class=\"graticule\" d=\"",
        escape_xml(title),
        LAND.trim_end()
    );
    // Writing to a text cannot fail.
    for x in (GRATICULE_DEGREES..360).step_by(GRATICULE_DEGREES as usize) {
        let _ = write!(svg, "M{x} 0V180");
    }
    for y in (GRATICULE_DEGREES..180).step_by(GRATICULE_DEGREES as usize) {
        let _ = write!(svg, "M0 {y}H360");
    }
    // The equator and the prime meridian.
    svg.push_str("\"/><path class=\"axes\" d=\"M180 0V180M0 90H360\"/>");
    let [west, south, east, north] = bounds.degrees();
    let (left, right, top, bottom) = (west + 180.0, east + 180.0, 90.0 - north, 90.0 - south);
    let parts = if bounds.crosses_antimeridian() {
        vec![(left, 360.0), (0.0, right)]
    } else {
        vec![(left, right)]
    };
    let height = bottom - top;
    for (left, right) in &parts {
        let width = right - left;
        let _ = write!(
            svg,
            "<rect class=\"area\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"/>"
        );
    }
    let width: f64 = parts.iter().map(|(left, right)| right - left).sum();
    if width < MIN_VISIBLE_DEGREES && height < MIN_VISIBLE_DEGREES {
        let (x, y) = ((left + width / 2.0) % 360.0, top + height / 2.0);
        let _ = write!(
            svg,
            "<circle class=\"ring\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{RING_RADIUS_DEGREES}\"/>"
        );
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outline_of_land_is_a_path_on_the_map() {
        assert!(
            LAND.len() < 12_000,
            "{} bytes on every page with a map",
            LAND.len()
        );
        let numbers = |c: char| !c.is_ascii_digit() && c != '.' && c != '-';
        let (mut x, mut y, mut points) = (0.0, 0.0, 0);
        for part in LAND.trim_end().trim_end_matches('z').split('z') {
            let spaced = part.replace('-', " -");
            let mut steps = spaced
                .split(numbers)
                .filter(|number| !number.is_empty())
                .map(|n| n.parse::<f64>());
            let mut is_first = true;
            while let (Some(Ok(first)), Some(Ok(second))) = (steps.next(), steps.next()) {
                (x, y) = if is_first {
                    (first, second)
                } else {
                    (x + first, y + second)
                };
                is_first = false;
                points += 1;
                assert!(
                    (0.0..=360.0).contains(&x) && (0.0..=180.0).contains(&y),
                    "{x} {y} in {part}"
                );
            }
        }
        assert!(points > 1000, "{points} points");
    }

    #[test]
    fn boxes_are_drawn_where_they_are() {
        let draw = |text: &str| draw(text.parse().expect("a box"), "A & B");
        let large = draw("-20,-10,30,40");
        assert!(
            large.contains("x=\"160.00\" y=\"50.00\" width=\"50.00\" height=\"50.00\"")
                && !large.contains("circle")
        );
        assert!(large.contains("<title>A &amp; B</title>"));
        let small = draw("10,50,11,51");
        assert!(small.contains("cx=\"190.50\" cy=\"39.50\""), "{small}");
        let crossing = draw("177,-19.5,-178,-16");
        assert!(
            crossing.contains("x=\"357.00\" y=\"106.00\" width=\"3.00\""),
            "{crossing}"
        );
        assert!(
            crossing.contains("x=\"0.00\" y=\"106.00\" width=\"2.00\"")
                && crossing.contains("cx=\"359.50\"")
        );
    }
}
