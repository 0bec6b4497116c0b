//! SVG drawing of a snippet, readable at twenty triples.
//!
//! An arrow for every triple would be a tangle. The box of an entity therefore contains its classes, its literals, and
//! those objects that have no statements of their own. Arrows connect entities that both have statements, and lead to
//! entities with several incoming links.
//!
//! The layout places each connected component in columns. The entity with most links and statements is the root, in a column of
//! its own. Entities that lead to it are on its left, all others on its right, by distance. Most arrows therefore point
//! to the right. The components are packed on shelves.
//!
//! A property label never overlaps a box or another label. It overlaps another arrow only if all candidate positions
//! (`label_positions`) are taken. Of several equal arrows to one box, only the first has a label. Text widths are
//! estimated, not measured, and long texts are truncated. Entity names are truncated in the middle, because names of
//! one kind differ at their ends. A tooltip shows the full text.
//!
//! Colours are attributes, so that the file is self-contained. Every element has a class, so that the style sheet of a
//! page (light or dark) takes precedence.

use super::{LabelledTerm, LabelledTriple, TermKind};
use lodeseek_rdf::on_one_line;
use lodeseek_rdf::vocab::rdf;
use std::collections::HashMap;
use std::fmt::Write;

/// Estimated width of a character in pixels, at a font size of 12.
const CHARACTER_WIDTH: f64 = 6.6;
/// Line height in a box, in pixels.
const LINE_HEIGHT: f64 = 17.0;
const PADDING: f64 = 9.0;
/// Distance between columns in pixels; contains the property labels.
const COLUMN_GAP: f64 = 125.0;
const ROW_GAP: f64 = 16.0;
/// Width in pixels beyond which a component starts a new shelf, unless it is the first one there.
const MAX_SHELF_WIDTH: f64 = 1000.0;
/// Minimum width in pixels from which a drawing has the class `large` and is not scaled down.
const MIN_LARGE_WIDTH: f64 = 1300.0;
/// Line height of a property label in pixels.
const ARROW_LINE_HEIGHT: f64 = 13.0;
/// Half the distance between two opposite arrows, in pixels.
const LANE_OFFSET: f64 = 6.0;
/// Number of line segments that approximate an arrow, and the maximum distance of an arrow from them in pixels.
const CURVE_SEGMENTS: usize = 32;
const MAX_CURVE_DEVIATION: f64 = 1.5;
/// Maximum displacement of a label from its arrow, up or down, in half lines.
const MAX_LABEL_STEPS: i32 = 8;
/// Maximum number of characters of a line in a box, and of a property label.
const MAX_BOX_CHARACTERS: usize = 33;
const MAX_ARROW_CHARACTERS: usize = 19;

/// Entity with the statements shown in its box.
struct Entity<'t> {
    term: &'t LabelledTerm,
    classes: Vec<&'t str>,
    /// Pairs of property and value.
    rows: Vec<(&'t str, &'t LabelledTerm)>,
    column: usize,
    x: f64,
    y: f64,
}

/// Links from one box to another.
struct Link<'t> {
    from: usize,
    to: usize,
    labels: Vec<&'t str>,
}

struct Drawing<'t> {
    entities: Vec<Entity<'t>>,
    links: Vec<Link<'t>>,
}

/// Rectangle in pixels.
#[derive(Clone, Copy, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        !are_disjoint((self.x, self.width), (other.x, other.width))
            && !are_disjoint((self.y, self.height), (other.y, other.height))
    }

    fn is_clear_of(&self, others: &[Self]) -> bool {
        !others.iter().any(|other| self.overlaps(other))
    }
}

/// If true, two intervals, each with its start and its length, have at most one point in common.
fn are_disjoint((start, length): (f64, f64), (other, other_length): (f64, f64)) -> bool {
    start + length <= other || other + other_length <= start
}

/// Shelf packing: components side by side, on a new shelf if the present one is full.
struct ShelfPacker {
    x: f64,
    y: f64,
    height: f64,
}

impl ShelfPacker {
    fn place(&mut self, width: f64, height: f64) -> (f64, f64) {
        if self.x > PADDING && self.x + width > MAX_SHELF_WIDTH {
            (self.x, self.y, self.height) = (PADDING, self.y + self.height + 2.0 * ROW_GAP, 0.0);
        }
        let place = (self.x, self.y);
        self.x += width + 2.0 * ROW_GAP;
        self.height = self.height.max(height);
        place
    }
}

/// Arrow: a cubic Bézier curve.
struct Curve([(f64, f64); 4]);

impl Curve {
    fn at(&self, t: f64) -> (f64, f64) {
        let weights = [
            (1.0 - t).powi(3),
            3.0 * t * (1.0 - t).powi(2),
            3.0 * t * t * (1.0 - t),
            t.powi(3),
        ];
        (
            weighted_sum(self.0.map(|point| point.0), weights),
            weighted_sum(self.0.map(|point| point.1), weights),
        )
    }

    /// Returns small rectangles that cover the curve.
    fn areas(&self) -> impl Iterator<Item = Area> {
        (0..CURVE_SEGMENTS).map(|piece| {
            let one = self.at(piece as f64 / CURVE_SEGMENTS as f64);
            let other = self.at((piece + 1) as f64 / CURVE_SEGMENTS as f64);
            Area {
                x: one.0.min(other.0) - MAX_CURVE_DEVIATION,
                y: one.1.min(other.1) - MAX_CURVE_DEVIATION,
                width: (one.0 - other.0).abs() + 2.0 * MAX_CURVE_DEVIATION,
                height: (one.1 - other.1).abs() + 2.0 * MAX_CURVE_DEVIATION,
            }
        })
    }
}

fn weighted_sum(values: [f64; 4], weights: [f64; 4]) -> f64 {
    values
        .into_iter()
        .zip(weights)
        .map(|(value, weight)| value * weight)
        .sum()
}

/// Draws triples as SVG. The same triples give the same drawing; no triples give an empty drawing.
///
/// ```
/// assert!(lodeseek_snippet::draw(&[], "nothing").starts_with("<svg "));
/// ```
#[must_use]
pub fn draw(triples: &[LabelledTriple], title: &str) -> String {
    let mut drawing = Drawing::new(triples);
    drawing.arrange();
    drawing.svg(title)
}

/// Style sheet of a self-contained drawing.
const STYLE: &str = include_str!("drawing.css");

/// Draws triples as a self-contained SVG document that follows the reader's light or dark colour scheme.
#[must_use]
pub fn draw_document(triples: &[LabelledTriple], title: &str) -> String {
    let svg = draw(triples, title);
    match svg.split_once("</title>") {
        Some((head, rest)) => format!("{head}</title><style>{STYLE}</style>{rest}"),
        None => svg,
    }
}

fn is_type(triple: &LabelledTriple) -> bool {
    triple.predicate.value == rdf::TYPE
}

/// Returns the objects that are linked from several subjects.
fn find_shared_objects(triples: &[LabelledTriple]) -> impl Iterator<Item = &LabelledTerm> {
    let mut subjects: HashMap<Key<'_>, Vec<Key<'_>>> = HashMap::new();
    for triple in find_links(triples) {
        let of = subjects.entry(term_key(&triple.object)).or_default();
        if !of.contains(&term_key(&triple.subject)) {
            of.push(term_key(&triple.subject));
        }
    }
    find_links(triples)
        .map(|triple| &triple.object)
        .filter(move |object| subjects[&term_key(object)].len() > 1)
}

fn find_links(triples: &[LabelledTriple]) -> impl Iterator<Item = &LabelledTriple> {
    triples
        .iter()
        .filter(|triple| !is_type(triple) && triple.object.is_resource())
}

type Key<'t> = (TermKind, &'t str);

fn term_key(term: &LabelledTerm) -> Key<'_> {
    (term.kind, term.value.as_str())
}

impl<'t> Drawing<'t> {
    fn new(triples: &'t [LabelledTriple]) -> Self {
        let mut drawing = Self {
            entities: Vec::new(),
            links: Vec::new(),
        };
        let mut places: HashMap<Key<'t>, usize> = HashMap::new();
        for triple in triples {
            drawing.place(&mut places, &triple.subject);
        }
        for object in find_shared_objects(triples) {
            drawing.place(&mut places, object);
        }
        for triple in triples {
            let subject = places[&term_key(&triple.subject)];
            let object = places.get(&term_key(&triple.object)).copied();
            match object.filter(|object| *object != subject) {
                Some(object) if !is_type(triple) => {
                    drawing.link(subject, object, &triple.predicate.label);
                }
                _ if is_type(triple) => {
                    drawing.entities[subject].classes.push(&triple.object.label)
                }
                _ => drawing.entities[subject]
                    .rows
                    .push((&triple.predicate.label, &triple.object)),
            }
        }
        drawing
    }

    fn link(&mut self, from: usize, to: usize, label: &'t str) {
        match self
            .links
            .iter_mut()
            .find(|link| (link.from, link.to) == (from, to))
        {
            Some(link) => link.labels.push(label),
            None => self.links.push(Link {
                from,
                to,
                labels: vec![label],
            }),
        }
    }

    fn place(&mut self, places: &mut HashMap<Key<'t>, usize>, term: &'t LabelledTerm) {
        places.entry(term_key(term)).or_insert_with(|| {
            self.entities.push(Entity {
                term,
                classes: Vec::new(),
                rows: Vec::new(),
                column: 0,
                x: 0.0,
                y: 0.0,
            });
            self.entities.len() - 1
        });
    }

    fn neighbours(&self, of: usize) -> impl Iterator<Item = usize> {
        self.links
            .iter()
            .filter_map(move |link| match (link.from == of, link.to == of) {
                (true, false) => Some(link.to),
                (false, true) => Some(link.from),
                _ => None,
            })
    }

    /// Arranges the components, the one whose root has most links and statements first.
    fn arrange(&mut self) {
        let mut order: Vec<usize> = (0..self.entities.len()).collect();
        order.sort_by_key(|&place| {
            let weight = self.neighbours(place).count() * 2 + self.entities[place].rows.len();
            std::cmp::Reverse(weight)
        });
        let mut seen = vec![false; self.entities.len()];
        let mut shelves = ShelfPacker {
            x: PADDING,
            y: PADDING,
            height: 0.0,
        };
        for root in order {
            if !seen[root] {
                let columns = self.columns(root, &mut seen);
                let (width, height) = self.stack(&columns, root);
                let (x, y) = shelves.place(width, height);
                for &place in columns.iter().flatten() {
                    self.entities[place].x += x;
                    self.entities[place].y += y;
                }
            }
        }
    }

    /// Returns the columns of a component: entities that lead to the root, farthest first; the root; the others.
    fn columns(&self, root: usize, seen: &mut [bool]) -> Vec<Vec<usize>> {
        seen[root] = true;
        let mut left = Vec::new();
        let mut right = Vec::new();
        // A copy: the levels below mark the entities themselves.
        let mut visited = seen.to_vec();
        for start in self.neighbours(root) {
            if visited[start] {
                continue;
            }
            // Entities that are connected without the root stay on one side of it, so that no arrow crosses the root.
            let part: Vec<usize> = self.levels(vec![start], &mut visited).concat();
            let led_to = self
                .links
                .iter()
                .any(|link| link.from == root && part.contains(&link.to));
            let side = if led_to { &mut right } else { &mut left };
            side.extend(
                part.into_iter()
                    .filter(|&place| self.neighbours(place).any(|other| other == root)),
            );
        }
        let mut columns = self.levels(left, seen);
        columns.reverse();
        columns.push(vec![root]);
        columns.extend(self.levels(right, seen));
        columns
    }

    /// Returns the entities reachable from `starts`, by distance.
    fn levels(&self, starts: Vec<usize>, seen: &mut [bool]) -> Vec<Vec<usize>> {
        let mut levels = Vec::new();
        let mut next = starts;
        next.iter().for_each(|&start| seen[start] = true);
        while !next.is_empty() {
            let mut reached = Vec::new();
            for other in next.iter().flat_map(|&place| self.neighbours(place)) {
                if !std::mem::replace(&mut seen[other], true) {
                    reached.push(other);
                }
            }
            levels.push(std::mem::replace(&mut next, reached));
        }
        levels
    }

    /// Places columns side by side, each centred vertically, boxes aligned towards the root. Returns width and height.
    fn stack(&mut self, columns: &[Vec<usize>], root: usize) -> (f64, f64) {
        let height = columns
            .iter()
            .map(|column| self.column_height(column))
            .fold(0.0, f64::max);
        let middle = columns
            .iter()
            .position(|column| column.contains(&root))
            .unwrap_or_default();
        let mut x = 0.0;
        for (number, column) in columns.iter().enumerate() {
            let mut y = (height - self.column_height(column)) / 2.0;
            let width = column
                .iter()
                .map(|&place| self.entities[place].width())
                .fold(0.0, f64::max);
            for &place in column {
                let entity = &mut self.entities[place];
                let indent = if number < middle {
                    width - entity.width()
                } else {
                    0.0
                };
                (entity.column, entity.x, entity.y) = (number, x + indent, y);
                y += entity.height() + ROW_GAP;
            }
            x += width + COLUMN_GAP;
        }
        // Links within the last column bend to its right.
        let bends_right = self.links.iter().any(|link| {
            self.is_within_column(link)
                && columns.last().is_some_and(|last| last.contains(&link.from))
        });
        let room = if bends_right { 0.0 } else { COLUMN_GAP };
        (x - room, height)
    }

    fn column_height(&self, column: &[usize]) -> f64 {
        column
            .iter()
            .map(|&place| self.entities[place].height() + ROW_GAP)
            .sum::<f64>()
            - ROW_GAP
    }

    fn svg(&self, title: &str) -> String {
        let mut arrows = String::new();
        let mut taken: Vec<Area> = self.entities.iter().map(Entity::area).collect();
        for link in &self.links {
            self.arrow(&mut arrows, link, &mut taken);
        }
        let right = taken
            .iter()
            .map(|area| area.x + area.width)
            .fold(0.0, f64::max);
        let bottom = taken
            .iter()
            .map(|area| area.y + area.height)
            .fold(0.0, f64::max);
        let width = right + PADDING;
        let height = bottom + PADDING;
        let class = if width > MIN_LARGE_WIDTH {
            "drawing large"
        } else {
            "drawing"
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"system-ui, sans-serif\" font-size=\"12\"><title>{}</title>\
             <desc>{} entities in boxes, arrows for the links between them.</desc>\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\" fill=\"#78716c\"/></marker></defs>",
            escape_xml(title),
            self.entities.len()
        );
        svg.push_str(&arrows);
        for entity in &self.entities {
            entity.draw(&mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    fn is_within_column(&self, link: &Link<'_>) -> bool {
        self.entities[link.from].column == self.entities[link.to].column
    }

    fn curve(&self, link: &Link<'_>) -> Curve {
        let from = &self.entities[link.from];
        let to = &self.entities[link.to];
        let returned = self
            .links
            .iter()
            .any(|other| (other.from, other.to) == (link.to, link.from));
        // Opposite arrows are drawn side by side.
        let lane = match returned {
            true if link.from < link.to => -LANE_OFFSET,
            true => LANE_OFFSET,
            false => 0.0,
        };
        let forward = to.column >= from.column;
        let start = (
            if forward {
                from.x + from.width()
            } else {
                from.x
            },
            from.y + from.height() / 2.0 + lane,
        );
        let end = (
            if to.column > from.column {
                to.x
            } else {
                to.x + to.width()
            },
            to.y + to.height() / 2.0 + lane,
        );
        if self.is_within_column(link) {
            let out = start.0.max(end.0) + COLUMN_GAP * 0.5;
            return Curve([start, (out, start.1), (out, end.1), end]);
        }
        let swing = (end.0 - start.0) / 2.0;
        Curve([
            start,
            (start.0 + swing, start.1),
            (end.0 - swing, end.1),
            end,
        ])
    }

    /// Returns the areas covered by all other arrows.
    fn obstacles(&self, link: &Link<'_>) -> Vec<Area> {
        let others = self
            .links
            .iter()
            .filter(|other| (other.from, other.to) != (link.from, link.to));
        others
            .flat_map(|other| self.curve(other).areas().collect::<Vec<_>>())
            .collect()
    }

    fn arrow(&self, svg: &mut String, link: &Link<'_>, taken: &mut Vec<Area>) {
        let curve = self.curve(link);
        let [start, first, second, end] = curve.0;
        let _ = write!(
            svg,
            "<path class=\"link\" d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}\" fill=\"none\" \
             stroke=\"#78716c\" marker-end=\"url(#arrow)\"/>",
            start.0, start.1, first.0, first.1, second.0, second.1, end.0, end.1
        );
        if self.repeats(link) {
            return;
        }
        let lines: Vec<String> = link
            .labels
            .iter()
            .map(|label| truncate_label(label, MAX_ARROW_CHARACTERS))
            .collect();
        let area = place_label(&curve, &lines, taken, &self.obstacles(link));
        for (number, (line, whole)) in lines.iter().zip(&link.labels).enumerate() {
            let x = area.x + area.width / 2.0;
            let y = area.y + (number as f64 + 0.8) * ARROW_LINE_HEIGHT;
            let _ = write!(
                svg,
                "<text class=\"property\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"#57534e\" \
                 stroke=\"#fff\" stroke-width=\"4\" paint-order=\"stroke\">{}{}</text>",
                format_tooltip(line, whole),
                escape_xml(line)
            );
        }
        taken.push(area);
    }

    /// Returns true if an earlier arrow has the same labels and the same target. Only the first such arrow is labelled.
    fn repeats(&self, link: &Link<'_>) -> bool {
        let before = self
            .links
            .iter()
            .take_while(|other| !std::ptr::eq(*other, link));
        before
            .into_iter()
            .any(|other| other.to == link.to && other.labels == link.labels)
    }
}

/// Returns the best free area for a label: the first candidate position clear of boxes, labels and other arrows.
/// Otherwise the first position on or below the curve that is clear of boxes and labels.
fn place_label(curve: &Curve, lines: &[String], taken: &[Area], others: &[Area]) -> Area {
    let name = LabelBlock::new(lines);
    let mut clearest = label_positions(curve, &name)
        .filter(|area| area.is_clear_of(taken) && area.is_clear_of(others));
    let mut below =
        (0..).flat_map(|step| [0.5, 0.6, 0.4, 0.7, 0.3].map(|t| name.at(curve, t, step)));
    // Far enough below, the area is free.
    clearest
        .next()
        .or_else(|| below.find(|area| area.is_clear_of(taken)))
        .unwrap_or_else(|| name.at(curve, 0.5, 0))
}

/// Returns candidate positions of a label, best first: along the curve, then increasingly far above and below it.
fn label_positions(curve: &Curve, name: &LabelBlock) -> impl Iterator<Item = Area> {
    let steps = std::iter::once(0).chain((1..=MAX_LABEL_STEPS).flat_map(|step| [step, -step]));
    steps.flat_map(|step| [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2].map(|t| name.at(curve, t, step)))
}

/// Size of the lines of a label in pixels.
struct LabelBlock {
    width: f64,
    height: f64,
}

impl LabelBlock {
    fn new(lines: &[String]) -> Self {
        let width = lines.iter().map(|line| width_of(line)).fold(0.0, f64::max);
        Self {
            width,
            height: lines.len() as f64 * ARROW_LINE_HEIGHT,
        }
    }

    /// Returns the label's area at parameter `t` of a curve, moved down by half lines. Never outside the drawing.
    fn at(&self, curve: &Curve, t: f64, down: i32) -> Area {
        let (x, y) = curve.at(t);
        let down = f64::from(down) * ARROW_LINE_HEIGHT / 2.0;
        let x = (x - self.width / 2.0).max(0.0);
        let y = (y - self.height / 2.0).max(0.0) + down;
        Area {
            x,
            y: y.max(0.0),
            width: self.width,
            height: self.height,
        }
    }
}

/// Returns a tooltip with the full text if the line was truncated.
fn format_tooltip(line: &str, whole: &str) -> String {
    if line.contains('…') {
        format!("<title>{}</title>", escape_xml(whole))
    } else {
        String::new()
    }
}

/// Estimates the width of a text in pixels. Capitals are wider, East Asian characters twice as wide.
fn width_of(text: &str) -> f64 {
    text.chars().map(relative_width).sum::<f64>() * CHARACTER_WIDTH
}

/// Returns the width of a character, relative to a lower-case letter.
fn relative_width(character: char) -> f64 {
    match character {
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' => 2.0,
        '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}' => 2.0,
        'm' | 'w' | 'M' | 'W' | '—' | '…' | '@' | '%' => 1.5,
        character if character.is_uppercase() => 1.2,
        _ => 1.0,
    }
}

impl Entity<'_> {
    fn title(&self) -> String {
        truncate_middle(&self.term.label, MAX_BOX_CHARACTERS)
    }

    fn class_line(&self) -> Option<String> {
        (!self.classes.is_empty())
            .then(|| truncate_label(&self.classes.join(", "), MAX_BOX_CHARACTERS))
    }

    /// Returns the rows as (property, value, true if the value is a literal).
    fn lines(&self) -> Vec<(String, String, bool)> {
        let mut lines = Vec::with_capacity(self.rows.len());
        for (property, value) in &self.rows {
            let name = truncate_label(property, MAX_BOX_CHARACTERS / 2);
            let text = truncate_label(
                &value.label,
                MAX_BOX_CHARACTERS - name.chars().count().min(MAX_BOX_CHARACTERS / 2),
            );
            lines.push((name, text, value.kind == TermKind::Literal));
        }
        lines
    }

    fn width(&self) -> f64 {
        let lines = self
            .lines()
            .into_iter()
            .map(|(name, text, _)| width_of(&format!("{name} “{text}”")));
        // Titles are bold and therefore wider.
        let title = width_of(&self.title()) * 1.2;
        let class = match self.class_line() {
            Some(line) => width_of(&line),
            None => 0.0,
        };
        lines.chain([title, class]).fold(0.0, f64::max) + 2.0 * PADDING
    }

    fn area(&self) -> Area {
        Area {
            x: self.x,
            y: self.y,
            width: self.width(),
            height: self.height(),
        }
    }

    fn height(&self) -> f64 {
        let lines = 1 + usize::from(!self.classes.is_empty()) + self.rows.len();
        lines as f64 * LINE_HEIGHT + PADDING
    }

    fn draw(&self, svg: &mut String) {
        let Area {
            x,
            y,
            width,
            height,
        } = self.area();
        let iri = if self.term.kind == TermKind::Iri {
            self.term.value.as_str()
        } else {
            ""
        };
        let title = if iri.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escape_xml(iri))
        };
        let _ = write!(
            svg,
            "<g class=\"entity\">{title}<rect class=\"box\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"6\" fill=\"#f5f5f0\" stroke=\"#a8a29e\"/>"
        );
        let mut lines = TextLines {
            svg,
            x: x + PADDING,
            y: y + LINE_HEIGHT - 3.0,
        };
        let whole = format_tooltip(&self.title(), &self.term.label);
        lines.write(
            "entity-name",
            "#14532d",
            " font-weight=\"600\"",
            &format!("{whole}{}", escape_xml(&self.title())),
        );
        if let Some(classes) = self.class_line() {
            let whole = format_tooltip(&classes, &self.classes.join(", "));
            lines.write(
                "class",
                "#57534e",
                " font-style=\"italic\"",
                &format!("{whole}{}", escape_xml(&classes)),
            );
        }
        for ((name, text, literal), (_, value)) in self.lines().into_iter().zip(&self.rows) {
            let whole = format_tooltip(&text, &value.label);
            let text = if literal {
                format!("“{text}”")
            } else {
                text
            };
            let name = format!(
                "<tspan class=\"property\" fill=\"#57534e\">{} </tspan>",
                escape_xml(&name)
            );
            lines.write(
                "value",
                "#1c1917",
                "",
                &format!("{whole}{name}{}", escape_xml(&text)),
            );
        }
        lines.svg.push_str("</g>");
    }
}

/// Lines of text in a box, one below the other.
struct TextLines<'s> {
    svg: &'s mut String,
    x: f64,
    y: f64,
}

impl TextLines<'_> {
    /// Writes a line with its class, colour, further attributes and content.
    fn write(&mut self, class: &str, fill: &str, more: &str, inner: &str) {
        let Self { svg, x, y } = self;
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{fill}\"{more}>{inner}</text>"
        );
        self.y += LINE_HEIGHT;
    }
}

/// Truncates a label to at most `max_characters` characters, with an ellipsis as the last one. Whitespace and control
/// characters become single spaces.
///
/// ```
/// assert_eq!(lodeseek_snippet::truncate_label("a long label", 7), "a long…");
/// ```
#[must_use]
pub fn truncate_label(text: &str, max_characters: usize) -> String {
    let text = on_one_line(text);
    if text.chars().count() <= max_characters {
        return text;
    }
    let mut short: String = text
        .chars()
        .take(max_characters.saturating_sub(1))
        .collect();
    short.truncate(short.trim_end().len());
    short + "…"
}

/// Truncates like [`truncate_label`], but in the middle: names often differ in a number at their end.
fn truncate_middle(text: &str, max_characters: usize) -> String {
    let text = on_one_line(text);
    let length = text.chars().count();
    if length <= max_characters {
        return text;
    }
    let first = (max_characters - 1) / 2;
    let last = max_characters / 2;
    let start: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(length - last).collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// Escapes text for an XML element or attribute value. Characters that XML 1.0 does not allow become spaces.
///
/// ```
/// assert_eq!(lodeseek_snippet::escape_xml("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // Characters that XML does not allow.
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                safe.push(' ')
            }
            character => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
