//! Diagram of a dataset's classes and links as SVG: classes in two [columns](super::columns), with arrows for properties.
//!
//! Names of classes are outside the columns, each in a row of its own, so that none overlap. Between the columns are only
//! arrows; their width grows with the number of triples. A property's name is on its arrow if there is space. Arrows with the
//! same properties to one class have one name. All properties are in tooltips and in a table beside the diagram.

use super::columns::Columns;
use crate::tables::file_name;
use lodeseek_engine::{Schema, SchemaNode};
use lodeseek_rdf::{grouped, to_prefixed_name};
use lodeseek_snippet::{escape_xml, truncate_label};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Height of a class's two lines in pixels.
const ROW_HEIGHT: f64 = 40.0;
/// Distance of the columns in pixels.
const COLUMN_DISTANCE: f64 = 460.0;
/// Width of the names beside the columns in pixels, and maximum number of characters of one.
const NAME_WIDTH: f64 = 210.0;
const MAX_NAME_CHARS: usize = 24;
/// Maximum number of characters of a property's name.
const MAX_PROPERTY_CHARS: usize = 22;
/// Maximum number of property names: those of the arrows with the most triples.
const MAX_PROPERTY_NAMES: usize = 16;
/// Width of a character and height of a line in pixels.
const CHARACTER_WIDTH: f64 = 6.0;
const LINE_HEIGHT: f64 = 13.0;
/// Radii of circles in pixels.
const MIN_RADIUS_PIXELS: f64 = 4.0;
const MAX_RADIUS_PIXELS: f64 = 13.0;
/// Widths of arrows in pixels.
const MIN_ARROW_PIXELS: f64 = 1.0;
const MAX_ARROW_PIXELS: f64 = 5.0;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

fn is_overlapping(one: &Area, other: &Area) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// All properties from one class to another.
struct Arrow {
    from: usize,
    to: usize,
    /// Properties with their numbers of triples, the most frequent first.
    properties: Vec<(String, u64)>,
}

impl Arrow {
    fn triples(&self) -> u64 {
        self.properties.iter().map(|(_, triples)| triples).sum()
    }

    /// If true, both lead to one class by the same properties.
    fn is_named_like(&self, other: &Self) -> bool {
        self.to == other.to && self.property_names() == other.property_names()
    }

    fn property_names(&self) -> BTreeSet<&str> {
        self.properties
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn name(&self) -> String {
        let first = self
            .properties
            .first()
            .map(|(property, _)| truncate_label(&to_prefixed_name(property), MAX_PROPERTY_CHARS))
            .unwrap_or_default();
        match self.properties.len() {
            0 | 1 => first,
            several => format!("{first} +{}", several - 1),
        }
    }
}

/// Returns the name of a class, of rows the name of the file, or `no_class`.
pub(super) fn class_name(node: &SchemaNode, no_class: &str) -> String {
    match &node.class {
        Some(class) => file_name(class).unwrap_or_else(|| to_prefixed_name(class)),
        None => no_class.to_owned(),
    }
}

/// Draws a schema; `None` if it has neither classes nor links. `no_class` names entities without a class.
pub(super) fn draw(schema: &Schema, title: &str, no_class: &str) -> Option<String> {
    if schema.edges.is_empty() && schema.nodes.iter().all(|node| node.class.is_none()) {
        return None;
    }
    Some(Diagram::new(schema, no_class).svg(title))
}

struct Diagram<'s> {
    schema: &'s Schema,
    no_class: &'s str,
    arrows: Vec<Arrow>,
    points: Vec<Point>,
    is_right: Vec<bool>,
    height: f64,
}

impl<'s> Diagram<'s> {
    fn new(schema: &'s Schema, no_class: &'s str) -> Self {
        let arrows = group_arrows(schema);
        let links: Vec<_> = arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
        let columns = Columns::new(schema.nodes.len(), &links);
        let (mut points, mut is_right) = (Vec::new(), Vec::new());
        for place in columns.places() {
            points.push(Point {
                x: NAME_WIDTH + if place.is_right { COLUMN_DISTANCE } else { 0.0 },
                y: place.down * ROW_HEIGHT,
            });
            is_right.push(place.is_right);
        }
        let height = columns.rows() as f64 * ROW_HEIGHT;
        Self {
            schema,
            no_class,
            arrows,
            points,
            is_right,
            height,
        }
    }

    fn svg(&self, title: &str) -> String {
        let width = COLUMN_DISTANCE + 2.0 * NAME_WIDTH;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing schema\" role=\"img\" viewBox=\"0 0 {width:.0} {:.0}\" \
             width=\"{width:.0}\" height=\"{:.0}\" font-family=\"system-ui, sans-serif\" font-size=\"12\"><title>{}</title>\
             <desc>{}</desc><defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" \
             markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/>\
             </marker></defs>",
            self.height,
            self.height,
            escape_xml(title),
            escape_xml(&self.list_largest_classes()),
        );
        let most = self.arrows.iter().map(Arrow::triples).max().unwrap_or(1);
        // Circles and names of classes are drawn last, over the arrows: names of properties avoid them.
        let mut taken: Vec<Area> = (0..self.points.len())
            .flat_map(|node| self.areas(node))
            .collect();
        let mut names = String::new();
        let mut named = Vec::new();
        // Arrows with the most triples come first and so get the free areas.
        for arrow in &self.arrows {
            let curve = self.curve(arrow);
            let _ = write!(
                svg,
                "<path class=\"link\" d=\"{}\" fill=\"none\" stroke-width=\"{:.1}\" marker-end=\"url(#to)\"><title>{}</title></path>",
                path_data(&curve),
                MIN_ARROW_PIXELS
                    + (MAX_ARROW_PIXELS - MIN_ARROW_PIXELS) * log_share(arrow.triples(), most),
                escape_xml(&self.tooltip(arrow)),
            );
            let is_named = named
                .iter()
                .any(|other: &&Arrow| arrow.is_named_like(other));
            if named.len() < MAX_PROPERTY_NAMES && !is_named {
                let is_shared = self
                    .arrows
                    .iter()
                    .filter(|other| arrow.is_named_like(other))
                    .count()
                    > 1;
                named.extend(
                    write_name(&mut names, arrow, is_shared, &curve, &mut taken).then_some(arrow),
                );
            }
        }
        // Names follow all arrows, since later elements of SVG cover earlier ones.
        svg.push_str(&names);
        (0..self.points.len()).for_each(|node| self.node(&mut svg, node));
        svg.push_str("</svg>");
        svg
    }

    /// Returns the names of the largest classes, as a text alternative.
    fn list_largest_classes(&self) -> String {
        let largest = self.schema.nodes.iter().take(5);
        largest
            .map(|node| class_name(node, self.no_class))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn tooltip(&self, arrow: &Arrow) -> String {
        let [from, to] =
            [arrow.from, arrow.to].map(|node| class_name(&self.schema.nodes[node], self.no_class));
        let properties: Vec<String> = arrow
            .properties
            .iter()
            .map(|(property, triples)| {
                format!("{} ({})", to_prefixed_name(property), grouped(*triples))
            })
            .collect();
        format!("{from} → {to}: {}", properties.join(", "))
    }

    fn radius(&self, node: usize) -> f64 {
        let most = self
            .schema
            .nodes
            .iter()
            .map(|node| node.entities)
            .max()
            .unwrap_or(1);
        MIN_RADIUS_PIXELS
            + (MAX_RADIUS_PIXELS - MIN_RADIUS_PIXELS)
                * log_share(self.schema.nodes[node].entities, most)
    }

    fn is_right(&self, node: usize) -> bool {
        self.is_right[node]
    }

    /// Returns the areas of a class: its circle, and its name up to the edge.
    fn areas(&self, node: usize) -> [Area; 2] {
        let (Point { x, y }, radius) = (self.points[node], self.radius(node));
        let name = if self.is_right(node) {
            [x, y - 15.0, COLUMN_DISTANCE + 2.0 * NAME_WIDTH, y + 15.0]
        } else {
            [0.0, y - 15.0, x, y + 15.0]
        };
        [[x - radius, y - radius, x + radius, y + radius], name]
    }

    fn node(&self, svg: &mut String, place: usize) {
        let (node, Point { x, y }, radius) = (
            &self.schema.nodes[place],
            self.points[place],
            self.radius(place),
        );
        let (beside, anchor) = if self.is_right(place) {
            (x + radius + 6.0, "start")
        } else {
            (x - radius - 6.0, "end")
        };
        let class = if node.class.is_some() {
            "class-node"
        } else {
            "class-node none"
        };
        let _ = write!(
            svg,
            "<g class=\"{class}\"><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>\
             <text class=\"entity-name\" x=\"{beside:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-weight=\"600\">{}</text>\
             <text class=\"class\" x=\"{beside:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"11\">{}</text></g>",
            escape_xml(node.class.as_deref().unwrap_or(self.no_class)),
            y - 1.0,
            escape_xml(&truncate_label(
                &class_name(node, self.no_class),
                MAX_NAME_CHARS
            )),
            y + 12.0,
            grouped(node.entities),
        );
    }

    /// Returns the curve of an arrow: horizontal at its ends, with distance between both directions. Within a column it is a
    /// bow, to the same class a loop.
    fn curve(&self, arrow: &Arrow) -> [Point; 4] {
        let (from, to) = (self.points[arrow.from], self.points[arrow.to]);
        if arrow.from == arrow.to {
            let radius = self.radius(arrow.from);
            return [
                (0.7, -0.7),
                (64.0 / radius, -26.0 / radius),
                (64.0 / radius, 26.0 / radius),
                (0.8, 0.8),
            ]
            .map(|(across, down)| self.point_beside(arrow.from, radius * across, radius * down));
        }
        let is_within = self.is_right(arrow.from) == self.is_right(arrow.to);
        // Both directions side by side.
        let further = if to.y < from.y { 14.0 } else { 0.0 };
        let reach = if is_within {
            (30.0 + 0.4 * (from.y - to.y).abs()).min(0.4 * COLUMN_DISTANCE) + further
        } else {
            0.45 * COLUMN_DISTANCE
        };
        let apart = if self.is_right(arrow.from) { 3.0 } else { -3.0 };
        let [leaves, arrives] = if is_within {
            [3.0, -3.0].map(|part| part * (to.y - from.y).signum())
        } else {
            [apart; 2]
        };
        [
            self.point_beside(arrow.from, self.radius(arrow.from), leaves),
            self.point_beside(arrow.from, reach, leaves),
            self.point_beside(arrow.to, reach, arrives),
            self.point_beside(arrow.to, self.radius(arrow.to) + 2.0, arrives),
        ]
    }

    /// Returns the point at a distance from the middle of a class, in pixels towards the other column and down.
    fn point_beside(&self, node: usize, inwards: f64, down: f64) -> Point {
        let Point { x, y } = self.points[node];
        let across = if self.is_right(node) {
            -inwards
        } else {
            inwards
        };
        Point {
            x: x + across,
            y: y + down,
        }
    }
}

/// Groups the links of a schema by their ends, those with the most triples first.
fn group_arrows(schema: &Schema) -> Vec<Arrow> {
    let mut ends: BTreeMap<(usize, usize), Vec<(String, u64)>> = BTreeMap::new();
    for edge in &schema.edges {
        ends.entry((edge.from, edge.to))
            .or_default()
            .push((edge.property.clone(), edge.triples));
    }
    let mut arrows = Vec::with_capacity(ends.len());
    for ((from, to), properties) in ends {
        arrows.push(Arrow {
            from,
            to,
            properties,
        });
    }
    arrows.sort_by_key(|arrow| std::cmp::Reverse(arrow.triples()));
    arrows
}

fn path_data([start, first, second, end]: &[Point; 4]) -> String {
    format!(
        "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
        start.x, start.y, first.x, first.y, second.x, second.y, end.x, end.y
    )
}

fn point_at(curve: &[Point; 4], t: f64) -> Point {
    // Bernstein polynomials of a cubic Bézier curve.
    let weights = [
        (1.0 - t).powi(3),
        3.0 * t * (1.0 - t).powi(2),
        3.0 * t * t * (1.0 - t),
        t.powi(3),
    ];
    let mut point = Point { x: 0.0, y: 0.0 };
    for (corner, weight) in curve.iter().zip(weights) {
        point.x += corner.x * weight;
        point.y += corner.y * weight;
    }
    point
}

/// Writes the name of an arrow's property in a free area, for a shared name near the end. Returns false if there is none.
fn write_name(
    out: &mut String,
    arrow: &Arrow,
    is_shared: bool,
    curve: &[Point; 4],
    taken: &mut Vec<Area>,
) -> bool {
    let name = arrow.name();
    let half = name.chars().count() as f64 * CHARACTER_WIDTH / 2.0 + 2.0;
    // The middle is preferred; then positions alternate on both sides of it.
    let alone = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74];
    // Arrows with a shared name meet at their end, where the name applies to all of them.
    let near_end = [0.8, 0.76, 0.72, 0.68, 0.64, 0.6, 0.84];
    let positions = if is_shared { near_end } else { alone };
    let areas = positions.map(|t| {
        let Point { x, y } = point_at(curve, t);
        [
            x - half,
            y - LINE_HEIGHT / 2.0,
            x + half,
            y + LINE_HEIGHT / 2.0,
        ]
    });
    let Some(area) = areas
        .into_iter()
        .find(|area| !taken.iter().any(|other| is_overlapping(area, other)))
    else {
        return false;
    };
    // Margin between names.
    taken.push([area[0] - 8.0, area[1] - 5.0, area[2] + 8.0, area[3] + 5.0]);
    let (x, y) = ((area[0] + area[2]) / 2.0, area[3] - 3.0);
    let _ = write!(
        out,
        "<text class=\"property\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"11\" stroke-width=\"4\" \
         paint-order=\"stroke\">{}</text>",
        escape_xml(&name)
    );
    true
}

/// Maps a count to the interval from 0 to 1 on a logarithmic scale.
fn log_share(count: u64, most: u64) -> f64 {
    if most == 0 {
        0.0
    } else {
        // `ln(1 + n)` is defined for a count of 0.
        (count as f64).ln_1p() / (most as f64).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::SchemaEdge;

    fn schema(nodes: usize, edges: &[(usize, usize, u64)]) -> Schema {
        let node = |n: usize| SchemaNode {
            class: Some(format!("http://e.org/{}<{n}>", "Class".repeat(8))),
            entities: 10_u64.pow((n % 6) as u32),
            examples: Vec::new(),
        };
        let edge = |&(from, to, triples): &(usize, usize, u64)| SchemaEdge {
            from,
            to,
            triples,
            property: format!("http://e.org/a&b-{from}-{to}"),
        };
        Schema {
            nodes: (0..nodes).map(node).collect(),
            edges: edges.iter().map(edge).collect(),
            more_nodes: 0,
            more_edges: 0,
        }
    }

    #[test]
    fn no_name_of_a_class_lies_on_another() {
        for nodes in 1..=30 {
            let edges: Vec<_> = (0..nodes)
                .flat_map(|n| [(n, (n + 1) % nodes, 5), (n, n, 1), (0, n, 9)])
                .collect();
            let schema = schema(nodes, &edges);
            let diagram = Diagram::new(&schema, "no class");
            let names: Vec<Area> = (0..nodes).map(|node| diagram.areas(node)[1]).collect();
            for (place, one) in names.iter().enumerate() {
                assert!(
                    one[1] >= 0.0 && one[3] <= diagram.height,
                    "{nodes}: within the picture"
                );
                assert!(
                    names[..place]
                        .iter()
                        .all(|other| !is_overlapping(one, other)),
                    "{nodes}: {place}"
                );
            }
            for (place, node) in schema.nodes.iter().enumerate() {
                // Bold letters are up to 7.8 pixels wide on average.
                let name = MAX_RADIUS_PIXELS
                    + 6.0
                    + truncate_label(&class_name(node, "no class"), MAX_NAME_CHARS)
                        .chars()
                        .count() as f64
                        * 7.8;
                let room = if diagram.is_right(place) {
                    COLUMN_DISTANCE + 2.0 * NAME_WIDTH - diagram.points[place].x
                } else {
                    diagram.points[place].x
                };
                assert!(name <= room, "{nodes}: the name of {place} is cut");
            }
        }
    }

    #[test]
    fn everything_from_data_is_escaped() {
        let svg = draw(
            &schema(3, &[(0, 1, 5), (1, 0, 2), (2, 2, 1)]),
            "A <b> & \"c\"",
            "no class",
        )
        .expect("a drawing");
        assert!(
            svg.contains("<title>A &lt;b&gt; &amp; &quot;c&quot;</title>")
                && svg.contains("a&amp;b-0-1")
        );
        assert!(!svg.contains("<0>") && !svg.contains("a&b"));
        assert_eq!(svg.matches("class=\"link\"").count(), 3);
        assert_eq!(draw(&Schema::default(), "", "no class"), None);
    }

    #[test]
    fn there_and_back_are_two_curves() {
        // Three classes, each linked to each: two stand in one column.
        let ends: Vec<_> = (0..3)
            .flat_map(|n| [(n, (n + 1) % 3, 1), ((n + 1) % 3, n, 1)])
            .collect();
        let drawn = schema(3, &ends);
        let diagram = Diagram::new(&drawn, "no class");
        let curves: Vec<[Point; 4]> = diagram
            .arrows
            .iter()
            .map(|arrow| diagram.curve(arrow))
            .collect();
        for (place, one) in curves.iter().enumerate() {
            let back = |other: &[Point; 4]| {
                one.iter()
                    .zip(other.iter().rev())
                    .all(|(a, b)| (a.x - b.x).hypot(a.y - b.y) < 4.0)
            };
            assert!(!curves[..place].iter().any(back), "{place}");
        }
    }

    #[test]
    fn what_several_arrows_are_called_is_written_once() {
        let mut drawn = schema(4, &[(0, 3, 5), (1, 3, 5), (2, 3, 5)]);
        drawn
            .edges
            .iter_mut()
            .for_each(|edge| edge.property = "http://e.org/same".to_owned());
        let svg = draw(&drawn, "t", "no class").expect("a drawing");
        assert_eq!(
            (
                svg.matches("class=\"property\"").count(),
                svg.matches("class=\"link\"").count()
            ),
            (1, 3)
        );
    }
}
