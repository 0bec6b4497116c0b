//! A snippet as a small picture: SVG, made here, readable at twenty triples.
//!
//! Every triple as an arrow would be a tangle. What is said *of* an entity (its classes, its literals, and entities that
//! say nothing themselves) is written into its box; arrows are left for the links between entities that both say
//! something. Boxes stand in columns by their distance from the entity that says most, those of one column near what they
//! are linked with. No fonts are measured: widths are estimated, and texts cut to fit.
//!
//! Colours come as attributes, so that the file stands alone, and every part has a class, so that a page's style sheet
//! (light or dark) takes precedence over them.

use super::{LabelledTerm, LabelledTriple, TermKind};
use crate::rdf::vocab::rdf;
use std::collections::HashMap;
use std::fmt::Write;

/// Pixels a character is taken to be wide, at 12 pixels of size.
const CHARACTER: f64 = 6.6;
/// Pixels from line to line.
const LINE: f64 = 17.0;
const PADDING: f64 = 9.0;
/// Between columns: room for the names of properties.
const COLUMN_GAP: f64 = 125.0;
const ROW_GAP: f64 = 16.0;
/// Characters of a line in a box, and of a property's name on an arrow.
const BOX_TEXT: usize = 33;
const ARROW_TEXT: usize = 19;

/// An entity and what is said of it.
struct Entity<'t> {
    term: &'t LabelledTerm,
    classes: Vec<&'t str>,
    /// Property and value.
    rows: Vec<(&'t str, &'t LabelledTerm)>,
    column: usize,
    x: f64,
    y: f64,
}

/// A link between two boxes.
struct Link<'t> {
    from: usize,
    to: usize,
    label: &'t str,
}

struct Drawing<'t> {
    entities: Vec<Entity<'t>>,
    links: Vec<Link<'t>>,
}

/// Draws triples. The same triples give the same picture; no triple, an empty one.
///
/// ```
/// assert!(lodeseek::snippet::draw(&[], "nothing").starts_with("<svg "));
/// ```
#[must_use]
pub fn draw(triples: &[LabelledTriple], title: &str) -> String {
    let mut drawing = Drawing::of(triples);
    drawing.arrange();
    drawing.svg(title)
}

/// The colours of a drawing that stands alone.
const STYLE: &str = include_str!("drawing.css");

/// Draws triples as a file that stands alone, light or dark as its reader likes.
#[must_use]
pub fn draw_file(triples: &[LabelledTriple], title: &str) -> String {
    let svg = draw(triples, title);
    match svg.split_once("</title>") {
        Some((head, rest)) => format!("{head}</title><style>{STYLE}</style>{rest}"),
        None => svg,
    }
}

fn is_type(triple: &LabelledTriple) -> bool {
    triple.predicate.value == rdf::TYPE
}

type Key<'t> = (TermKind, &'t str);

fn key(term: &LabelledTerm) -> Key<'_> {
    (term.kind, term.value.as_str())
}

impl<'t> Drawing<'t> {
    fn of(triples: &'t [LabelledTriple]) -> Self {
        let mut drawing = Self { entities: Vec::new(), links: Vec::new() };
        let mut places: HashMap<Key<'t>, usize> = HashMap::new();
        for triple in triples {
            drawing.place(&mut places, &triple.subject);
        }
        for triple in triples {
            let subject = places[&key(&triple.subject)];
            let object = places.get(&key(&triple.object)).copied();
            match object.filter(|object| *object != subject) {
                Some(object) if !is_type(triple) => {
                    drawing.links.push(Link { from: subject, to: object, label: &triple.predicate.label });
                }
                _ if is_type(triple) => drawing.entities[subject].classes.push(&triple.object.label),
                _ => drawing.entities[subject].rows.push((&triple.predicate.label, &triple.object)),
            }
        }
        drawing
    }

    fn place(&mut self, places: &mut HashMap<Key<'t>, usize>, term: &'t LabelledTerm) {
        places.entry(key(term)).or_insert_with(|| {
            self.entities.push(Entity { term, classes: Vec::new(), rows: Vec::new(), column: 0, x: 0.0, y: 0.0 });
            self.entities.len() - 1
        });
    }

    fn neighbours(&self, of: usize) -> impl Iterator<Item = usize> {
        self.links.iter().filter_map(move |link| match (link.from == of, link.to == of) {
            (true, false) => Some(link.to),
            (false, true) => Some(link.from),
            _ => None,
        })
    }

    /// Columns by distance; what is not linked goes below the rest.
    fn arrange(&mut self) {
        let mut order: Vec<usize> = (0..self.entities.len()).collect();
        let says = |place: usize| self.neighbours(place).count() * 2 + self.entities[place].rows.len();
        order.sort_by_key(|&place| std::cmp::Reverse(says(place)));
        let (mut seen, mut top) = (vec![false; self.entities.len()], PADDING);
        for root in order {
            if !seen[root] {
                let columns = self.columns(root, &mut seen);
                top = self.stack(&columns, top) + ROW_GAP;
            }
        }
    }

    /// The boxes reached from one, by distance.
    fn columns(&mut self, root: usize, seen: &mut [bool]) -> Vec<Vec<usize>> {
        let mut columns = vec![vec![root]];
        seen[root] = true;
        while let Some(last) = columns.last().filter(|last| !last.is_empty()) {
            let mut next = Vec::new();
            for &place in last {
                let new: Vec<usize> = self.neighbours(place).filter(|&other| !seen[other]).collect();
                for other in new {
                    if !std::mem::replace(&mut seen[other], true) {
                        next.push(other);
                    }
                }
            }
            columns.push(next);
        }
        columns.pop();
        columns
    }

    /// Puts columns side by side, each centred, from `top` on; returns where they end.
    fn stack(&mut self, columns: &[Vec<usize>], top: f64) -> f64 {
        let height_of = |drawing: &Self, column: &[usize]| {
            column.iter().map(|&place| drawing.entities[place].height() + ROW_GAP).sum::<f64>() - ROW_GAP
        };
        let height = columns.iter().map(|column| height_of(self, column)).fold(0.0, f64::max);
        let mut x = PADDING;
        for (number, column) in columns.iter().enumerate() {
            let mut y = top + (height - height_of(self, column)) / 2.0;
            let width = column.iter().map(|&place| self.entities[place].width()).fold(0.0, f64::max);
            for &place in column {
                let entity = &mut self.entities[place];
                (entity.column, entity.x, entity.y) = (number, x, y);
                y += entity.height() + ROW_GAP;
            }
            x += width + COLUMN_GAP;
        }
        top + height
    }

    fn svg(&self, title: &str) -> String {
        let right = self.entities.iter().map(|entity| entity.x + entity.width()).fold(0.0, f64::max);
        let bottom = self.entities.iter().map(|entity| entity.y + entity.height()).fold(0.0, f64::max);
        // Links within a column swing out to its right.
        let room = if self.links.iter().any(|link| self.is_level(link)) { COLUMN_GAP } else { 0.0 };
        let (width, height) = (right + PADDING + room, bottom + PADDING);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"system-ui, sans-serif\" font-size=\"12\"><title>{}</title>\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\" fill=\"#78716c\"/></marker></defs>",
            escaped(title)
        );
        for link in &self.links {
            self.arrow(&mut svg, link);
        }
        for entity in &self.entities {
            entity.draw(&mut svg);
        }
        svg.push_str("</svg>");
        svg
    }

    fn is_level(&self, link: &Link<'_>) -> bool {
        self.entities[link.from].column == self.entities[link.to].column
    }

    fn arrow(&self, svg: &mut String, link: &Link<'_>) {
        let (from, to) = (&self.entities[link.from], &self.entities[link.to]);
        let forward = to.column >= from.column;
        let start = (if forward { from.x + from.width() } else { from.x }, from.y + from.height() / 2.0);
        let end = (if to.column > from.column { to.x } else { to.x + to.width() }, to.y + to.height() / 2.0);
        let swing = if self.is_level(link) { COLUMN_GAP * 0.7 } else { (end.0 - start.0) / 2.0 };
        let (first, second) = (start.0 + swing, if self.is_level(link) { end.0 + swing } else { end.0 - swing });
        let middle = ((start.0 + 3.0 * first + 3.0 * second + end.0) / 8.0, (start.1 + end.1) / 2.0);
        let _ = write!(
            svg,
            "<path class=\"link\" d=\"M{:.1} {:.1}C{first:.1} {:.1} {second:.1} {:.1} {:.1} {:.1}\" fill=\"none\" \
             stroke=\"#78716c\" marker-end=\"url(#arrow)\"/><text class=\"property\" x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\" fill=\"#57534e\" stroke=\"#fff\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>",
            start.0,
            start.1,
            start.1,
            end.1,
            end.0,
            end.1,
            middle.0,
            middle.1 - 3.0,
            escaped(&cut(link.label, ARROW_TEXT))
        );
    }
}

impl Entity<'_> {
    fn title(&self) -> String {
        cut(&self.term.label, BOX_TEXT)
    }

    fn class_line(&self) -> Option<String> {
        (!self.classes.is_empty()).then(|| cut(&self.classes.join(", "), BOX_TEXT))
    }

    /// Property, then value: (name, text, whether a literal).
    fn lines(&self) -> Vec<(String, String, bool)> {
        let line = |(property, value): &(&str, &LabelledTerm)| {
            let name = cut(property, BOX_TEXT / 2);
            let text = cut(&value.label, BOX_TEXT - name.chars().count().min(BOX_TEXT / 2));
            (name, text, value.kind == TermKind::Literal)
        };
        self.rows.iter().map(line).collect()
    }

    fn width(&self) -> f64 {
        let lines = self.lines().into_iter().map(|(name, text, _)| name.chars().count() + text.chars().count() + 2);
        // Titles are bold: a little wider.
        let title = (self.title().chars().count() as f64 * 1.1) as usize + 1;
        let class = self.class_line().map_or(0, |line| line.chars().count());
        lines.chain([title, class]).max().unwrap_or(0) as f64 * CHARACTER + 2.0 * PADDING
    }

    fn height(&self) -> f64 {
        let lines = 1 + usize::from(!self.classes.is_empty()) + self.rows.len();
        lines as f64 * LINE + PADDING
    }

    fn draw(&self, svg: &mut String) {
        let tooltip = if self.term.kind == TermKind::Iri { self.term.value.as_str() } else { "" };
        let _ = write!(
            svg,
            "<g class=\"entity\"><title>{}</title><rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\" rx=\"6\" fill=\"#f5f5f0\" stroke=\"#a8a29e\"/>",
            escaped(tooltip),
            self.x,
            self.y,
            self.width(),
            self.height()
        );
        let mut y = self.y + LINE - 3.0;
        let mut line = |class: &str, fill: &str, more: &str, inner: &str| {
            let x = self.x + PADDING;
            let _ =
                write!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{fill}\"{more}>{inner}</text>");
            y += LINE;
        };
        line("entity-name", "#14532d", " font-weight=\"600\"", &escaped(&self.title()));
        if let Some(classes) = self.class_line() {
            line("class", "#57534e", " font-style=\"italic\"", &escaped(&classes));
        }
        for (name, text, literal) in self.lines() {
            let text = if literal { format!("“{text}”") } else { text };
            let name = format!("<tspan class=\"property\" fill=\"#57534e\">{} </tspan>", escaped(&name));
            line("value", "#1c1917", "", &format!("{name}{}", escaped(&text)));
        }
        svg.push_str("</g>");
    }
}

/// At most `most` characters, whitespace and control characters as single spaces.
fn cut(text: &str, most: usize) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let text = words.join(" ");
    if text.chars().count() <= most {
        return text;
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short + "…"
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // What XML cannot hold.
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            character => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn term(kind: TermKind, value: &str) -> LabelledTerm {
        LabelledTerm { kind, value: value.to_owned(), label: value.to_owned(), language: None, datatype: None }
    }

    fn triple(subject: &str, predicate: &str, object: LabelledTerm) -> LabelledTriple {
        LabelledTriple { subject: term(TermKind::Iri, subject), predicate: term(TermKind::Iri, predicate), object }
    }

    fn link(subject: &str, predicate: &str, object: &str) -> LabelledTriple {
        triple(subject, predicate, term(TermKind::Iri, object))
    }

    #[test]
    fn what_says_nothing_itself_is_written_into_the_box() {
        let triples = [
            link("plan", "near", "bay"),
            link("plan", "by", "agency"),
            triple("bay", "name", term(TermKind::Literal, "Chesapeake <Bay>")),
            link("plan", rdf::TYPE, "Plan"),
        ];
        let drawing = Drawing::of(&triples);
        assert_eq!((drawing.entities.len(), drawing.links.len()), (2, 1));
        assert_eq!((drawing.entities[0].rows.len(), drawing.entities[0].classes.as_slice()), (1, &["Plan"][..]));
        let svg = draw(&triples, "A & B");
        assert!(svg.contains("<title>A &amp; B</title>") && svg.contains("“Chesapeake &lt;Bay&gt;”"), "{svg}");
    }

    fn overlap(a: &Entity<'_>, b: &Entity<'_>) -> bool {
        a.x < b.x + b.width() && b.x < a.x + a.width() && a.y < b.y + b.height() && b.y < a.y + a.height()
    }

    proptest! {
        /// No box on another, none outside, every triple drawn once, and the picture is well-formed.
        #[test]
        fn pictures_are_sound(edges in proptest::collection::vec((0u8..9, 0u8..3, 0u8..14), 0..25), odd in "\\PC{0,12}") {
            let triples: Vec<LabelledTriple> = edges
                .iter()
                .map(|(s, p, o)| match o {
                    9..=11 => triple(&format!("e{s}"), &format!("p{p}"), term(TermKind::Literal, &format!("{odd}{o}"))),
                    _ => link(&format!("e{s}"), &format!("p{p}"), &format!("e{o}")),
                })
                .collect();
            let mut drawing = Drawing::of(&triples);
            drawing.arrange();
            let drawn: usize = drawing.entities.iter().map(|entity| entity.rows.len() + entity.classes.len()).sum();
            prop_assert_eq!(drawn + drawing.links.len(), triples.len());
            for (place, a) in drawing.entities.iter().enumerate() {
                prop_assert!(a.x >= 0.0 && a.y >= 0.0);
                prop_assert!(drawing.entities[..place].iter().all(|b| !overlap(a, b)));
            }
            let svg = draw(&triples, &odd);
            prop_assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
            prop_assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
            prop_assert_eq!(&svg, &draw(&triples, &odd));
        }
    }
}
