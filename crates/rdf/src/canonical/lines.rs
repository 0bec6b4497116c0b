//! Canonical N-Quads: serialization of terms and order of lines.

use super::super::{LiteralKind, TermId, TermRef, TripleGraph};
use std::cmp::Ordering;

/// Graph with canonical blank node labels.
pub(super) struct CanonicalLines<'g> {
    graph: &'g TripleGraph,
    /// Labels by position among the graph's blank nodes.
    labels: Vec<Box<str>>,
}

impl<'g> CanonicalLines<'g> {
    pub(super) fn new(graph: &'g TripleGraph, labels: Vec<Box<str>>) -> Self {
        Self { graph, labels }
    }

    fn term(&self, id: TermId) -> TermRef<'_> {
        let blanks = self.graph.blank_nodes();
        if blanks.contains(&id) {
            TermRef::Blank(&self.labels[id.index() - blanks.start.index()])
        } else {
            self.graph.term(id)
        }
    }

    /// Passes the sorted lines to `take`, each once.
    pub(super) fn each(&self, mut take: impl FnMut(&str)) {
        let mut order: Vec<TermId> = (0..self.graph.term_count() as u32).map(TermId).collect();
        // With the space after it, no term is the beginning of another one, so terms are compared rather than lines.
        order.sort_by(|a, b| compare(self.term(*a), self.term(*b)));
        let (mut line, mut last) = (String::new(), String::new());
        for triple in self.graph.sorted_as(&order) {
            line.clear();
            for place in [triple.subject, triple.predicate, triple.object] {
                write(self.term(order[place.index()]), &mut line);
                line.push(' ');
            }
            line.push_str(".\n");
            // Language tags are case-insensitive, so lines that differ in their case are equal.
            if line != last {
                take(&line);
                std::mem::swap(&mut line, &mut last);
            }
        }
    }
}

/// Suffixes of language tags with a base direction.
const LTR: &str = "--ltr";
const RTL: &str = "--rtl";

/// Writes a term in its canonical form.
fn write(term: TermRef<'_>, line: &mut String) {
    match term {
        TermRef::Iri(iri) => line.extend(["<", iri, ">"]),
        TermRef::Blank(label) => line.extend(["_:", label]),
        TermRef::Literal { lexical, kind } => {
            line.push('"');
            write_lexical_form(lexical, line);
            line.push('"');
            match kind {
                LiteralKind::Plain => {}
                LiteralKind::Language(tag) => line.extend(["@", &tag.to_ascii_lowercase()]),
                LiteralKind::Datatype(iri) => line.extend(["^^<", iri, ">"]),
                LiteralKind::LeftToRight(tag) => line.extend(["@", &tag.to_ascii_lowercase(), LTR]),
                LiteralKind::RightToLeft(tag) => line.extend(["@", &tag.to_ascii_lowercase(), RTL]),
            }
        }
        // A graph with triple terms is converted to one without them before.
        TermRef::Triple(_) => {}
    }
}

fn write_lexical_form(text: &str, line: &mut String) {
    let mut start = 0;
    for (place, byte) in text.bytes().enumerate() {
        if let Some(escaped) = escape(byte) {
            line.push_str(&text[start..place]);
            line.push_str(escaped);
            start = place + 1;
        }
    }
    line.push_str(&text[start..]);
}

/// Returns the escape sequence of a byte in a literal, or `None` if it is not escaped.
fn escape(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0c => "\\f",
        0x7f => "\\u007F",
        _ => return CONTROLS.get(usize::from(byte)).copied(),
    })
}

const CONTROLS: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007",
    "\\u0008", "\\u0009", "\\u000A", "\\u000B", "\\u000C", "\\u000D", "\\u000E", "\\u000F",
    "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017",
    "\\u0018", "\\u0019", "\\u001A", "\\u001B", "\\u001C", "\\u001D", "\\u001E", "\\u001F",
];

/// Compares two terms by their canonical form, without writing them.
fn compare(a: TermRef<'_>, b: TermRef<'_>) -> Ordering {
    match (a, b) {
        (TermRef::Iri(a), TermRef::Iri(b)) => compare_until_end(a, b, b'>'),
        (
            TermRef::Literal {
                lexical: a,
                kind: first,
            },
            TermRef::Literal {
                lexical: b,
                kind: second,
            },
        ) => compare_lexical_forms(a, b).then_with(|| compare_kinds(first, second)),
        (TermRef::Blank(a), TermRef::Blank(b)) => a.cmp(b),
        _ => first_byte(a).cmp(&first_byte(b)),
    }
}

fn first_byte(term: TermRef<'_>) -> u8 {
    match term {
        TermRef::Literal { .. } => b'"',
        TermRef::Iri(_) => b'<',
        TermRef::Blank(_) => b'_',
        TermRef::Triple(_) => b'(',
    }
}

/// Returns the length of the common prefix of two texts.
fn common_prefix_length(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Compares texts that are followed by the byte `end`.
fn compare_until_end(a: &str, b: &str, end: u8) -> Ordering {
    let place = common_prefix_length(a, b);
    let a_byte = a.as_bytes().get(place).unwrap_or(&end);
    let b_byte = b.as_bytes().get(place).unwrap_or(&end);
    a_byte.cmp(b_byte).then(a.len().cmp(&b.len()))
}

/// Compares lexical forms by their escaped form. No escape sequence is a prefix of another.
fn compare_lexical_forms(a: &str, b: &str) -> Ordering {
    let place = common_prefix_length(a, b);
    if a.len() == place && b.len() == place {
        return Ordering::Equal;
    }
    escape_at(a, place).cmp(&escape_at(b, place))
}

/// Returns the byte at a place of a literal, or the first byte of its escape sequence and the rest of the sequence.
fn escape_at(text: &str, place: usize) -> (u8, &'static str) {
    match text.as_bytes().get(place) {
        None => (b'"', ""),
        Some(&byte) => match escape(byte) {
            Some(sequence) => (b'\\', &sequence[1..]),
            None => (byte, ""),
        },
    }
}

fn compare_kinds(a: LiteralKind<'_>, b: LiteralKind<'_>) -> Ordering {
    match (a, b) {
        (LiteralKind::Datatype(a), LiteralKind::Datatype(b)) => compare_until_end(a, b, b'>'),
        (a, b) => match (lower_case_tag(a), lower_case_tag(b)) {
            (Some(a), Some(b)) => a.cmp(b),
            // The order of the kinds equals that of a space, `@` and `^^`.
            _ => kind_order(a).cmp(&kind_order(b)),
        },
    }
}

/// Returns the bytes of a language tag in lower case, with the base direction.
fn lower_case_tag(kind: LiteralKind<'_>) -> Option<impl Iterator<Item = u8>> {
    let direction = match kind {
        LiteralKind::LeftToRight(_) => LTR,
        LiteralKind::RightToLeft(_) => RTL,
        _ => "",
    };
    kind.language().map(|tag| {
        tag.bytes()
            .map(|byte| byte.to_ascii_lowercase())
            .chain(direction.bytes())
    })
}

fn kind_order(kind: LiteralKind<'_>) -> u8 {
    match kind {
        LiteralKind::Plain => b' ',
        LiteralKind::Datatype(_) => b'^',
        _ => b'@',
    }
}
