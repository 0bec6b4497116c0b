//! Texts of catalogues without HTML. Portals write descriptions in HTML, titles with entities; readers and the index need the text.
//!
//! A text is HTML if it has elements of HTML in a form that only HTML has: void elements, pairs of tags, paragraphs. Comparisons such
//! as `a < b`, addresses in angle brackets and types such as `List<String>` are no HTML. A text with neither elements nor entities is
//! returned unchanged.

use super::{Dataset, Metadata, Text};
use html5gum::{Token, Tokenizer};
use std::borrow::Cow;

/// Elements without content.
const VOID: &[&str] = &["br", "hr", "img", "wbr"];
/// Elements that begin and end a paragraph.
const PARAGRAPHS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dl",
    "figure",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];
/// Elements that begin and end a line.
const LINES: &[&str] = &[
    "br",
    "caption",
    "dd",
    "div",
    "dt",
    "figcaption",
    "footer",
    "li",
    "summary",
    "details",
    "tr",
];
/// Elements within a line.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "big", "cite", "code", "del", "em", "font", "i", "img", "ins",
    "kbd", "label", "mark", "o:p", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "tbody", "td", "tfoot", "th", "thead", "tt", "u", "var", "wbr",
];
/// Elements whose content is no text for readers.
const HIDDEN: &[&str] = &[
    "head", "script", "style", "template", "title", "iframe", "noscript", "object", "svg",
];

/// Maximum size of the name of an entity in bytes.
const MAX_ENTITY_BYTES: usize = 32;

/// Returns a text without HTML: without tags, scripts and comments, and with characters for entities.
///
/// Paragraphs and list items keep their lines. Attributes are left out, except the alternative text of an image. A text that is no
/// HTML is returned unchanged.
///
/// ```
/// use lodeseek_catalog::plain_text;
/// assert_eq!(plain_text("<p>Wells &amp; <b>springs</b></p><ul><li>monthly</li></ul>"), "Wells & springs\n\n• monthly");
/// assert_eq!(plain_text("if a < b, a List<String>"), "if a < b, a List<String>");
/// ```
#[must_use]
pub fn plain_text(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '&']) {
        return Cow::Borrowed(text);
    }
    let markup = Markup::new(text);
    if markup.has_elements() {
        let plain = without_markup(text, &markup);
        // A text of scripts alone is shown as it is: nothing else would name its dataset.
        return if plain.is_empty() && has_words(text) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(plain)
        };
    }
    if !markup.has_entities {
        return Cow::Borrowed(text);
    }
    let decoded = decode_entities(text);
    // Some portals escape HTML a second time.
    let inner = Markup::new(&decoded);
    if inner.has_elements() {
        return Cow::Owned(without_markup(&decoded, &inner));
    }
    Cow::Owned(decoded)
}

impl Metadata {
    /// Returns the metadata with the plain texts of titles, descriptions, notes, keywords, names and labels.
    #[must_use]
    pub fn plain_texts(&self) -> Cow<'_, Self> {
        let texts = [
            &self.titles,
            &self.alternatives,
            &self.descriptions,
            &self.notes,
            &self.keywords,
        ];
        let texts = texts.into_iter().flatten().map(|text| &text.value);
        let names = self
            .creators
            .iter()
            .chain(&self.publishers)
            .map(|agent| &agent.name);
        let labels = self.themes.iter().map(|theme| &theme.label);
        let works = self.introduced_by.iter().map(|work| &work.title);
        if !texts
            .chain(names)
            .chain(labels)
            .chain(works)
            .any(|text| text.contains(['<', '&']))
        {
            return Cow::Borrowed(self);
        }
        let mut plain = self.clone();
        let Self {
            titles,
            alternatives,
            descriptions,
            notes,
            keywords,
            ..
        } = &mut plain;
        let mut is_changed = false;
        for texts in [titles, alternatives, descriptions, notes, keywords] {
            for Text { value, .. } in texts {
                is_changed |= make_plain(value);
            }
        }
        for agent in plain.creators.iter_mut().chain(&mut plain.publishers) {
            is_changed |= make_plain(&mut agent.name);
        }
        for theme in &mut plain.themes {
            is_changed |= make_plain(&mut theme.label);
        }
        for work in &mut plain.introduced_by {
            is_changed |= make_plain(&mut work.title);
        }
        if is_changed {
            Cow::Owned(plain)
        } else {
            Cow::Borrowed(self)
        }
    }
}

impl Dataset {
    /// Returns the dataset with [plain texts](Metadata::plain_texts) of its metadata.
    #[must_use]
    pub fn plain_texts(&self) -> Cow<'_, Self> {
        match self.metadata.plain_texts() {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(metadata) => Cow::Owned(Self {
                metadata,
                ..self.clone()
            }),
        }
    }
}

/// Replaces a text by its plain text. Returns true if it changed.
fn make_plain(text: &mut String) -> bool {
    let plain = match plain_text(text) {
        Cow::Borrowed(_) => return false,
        Cow::Owned(plain) => plain,
    };
    let is_changed = plain != *text;
    *text = plain;
    is_changed
}

/// Markup of a text.
#[derive(Default)]
struct Markup {
    /// Places of `<` that begin a tag or a comment, ascending.
    tags: Vec<usize>,
    /// If true, there is a void element, a comment, or a start tag with its end tag.
    has_pair: bool,
    /// Number of start tags whose end tag may be omitted, and if true, the text begins with one.
    paragraphs: usize,
    begins_with_paragraph: bool,
    /// If true, an element begins a line or paragraph: line breaks of the text are spaces.
    has_lines: bool,
    has_entities: bool,
}

impl Markup {
    fn new(text: &str) -> Self {
        let mut markup = Self {
            has_entities: find_entities(text).next().is_some(),
            ..Self::default()
        };
        // Without an end after it, a mark is no tag; searching the end for each mark would take quadratic time.
        let (last_end, last_comment_end) =
            (text.rfind('>').unwrap_or(0), text.rfind("-->").unwrap_or(0));
        let mut open: Vec<&str> = Vec::new();
        let start = text.len() - text.trim_start().len();
        for (place, _) in text
            .match_indices('<')
            .filter(|(place, _)| *place < last_end)
        {
            let rest = &text[place + 1..];
            if rest.starts_with("!--") {
                if place < last_comment_end {
                    markup.tags.push(place);
                    markup.has_pair = true;
                }
                continue;
            }
            let (is_end, rest) = match rest.strip_prefix('/') {
                Some(rest) => (true, rest),
                None => (false, rest),
            };
            let Some(name) = element_name(rest) else {
                continue;
            };
            markup.tags.push(place);
            markup.has_lines |= PARAGRAPHS.contains(&name) || LINES.contains(&name);
            if is_end {
                markup.has_pair |= open.contains(&name);
            } else if VOID.contains(&name) {
                markup.has_pair = true;
            } else {
                // The names are those of known elements, so that the list stays short.
                if !open.contains(&name) {
                    open.push(name);
                }
                if matches!(name, "p" | "li") {
                    markup.paragraphs += 1;
                    markup.begins_with_paragraph |= place == start;
                }
            }
        }
        markup
    }

    fn has_elements(&self) -> bool {
        self.has_pair || self.begins_with_paragraph || self.paragraphs > 1
    }
}

/// Returns the name of the element of a tag, from the text after `<` or `</`.
fn element_name(rest: &str) -> Option<&'static str> {
    let length = rest
        .bytes()
        .take(12)
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b':')
        .count();
    let (name, after) = rest.split_at(length);
    let ends = after.starts_with(|c: char| c == '>' || c == '/' || c.is_ascii_whitespace());
    let names = [PARAGRAPHS, LINES, INLINE, HIDDEN].into_iter().flatten();
    if ends {
        names
            .copied()
            .find(|known| known.eq_ignore_ascii_case(name))
    } else {
        None
    }
}

/// Iterates over the places and texts of entities, with `&` and `;`.
fn find_entities(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('&').filter_map(|(place, _)| {
        let name = &text[place + 1..];
        let end = name
            .bytes()
            .take(MAX_ENTITY_BYTES)
            .position(|byte| byte == b';')?;
        let entity = &text[place..place + end + 2];
        let is_name = name[..end]
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'#');
        // The tokenizer also decodes the beginning of a longer name, for example of `&copyright;`.
        (is_name && !text_of_tokens(entity).ends_with(';')).then_some((place, entity))
    })
}

/// Returns the text that the tokenizer finds.
fn text_of_tokens(html: &str) -> String {
    let mut out = String::new();
    for Ok(token) in Tokenizer::new(html) {
        if let Token::String(text) = token {
            out.push_str(&String::from_utf8_lossy(&text));
        }
    }
    out
}

/// Returns the characters of an entity. A space that must not break is a space.
fn decoded_entity(entity: &str) -> String {
    text_of_tokens(entity).replace('\u{a0}', " ")
}

/// If true, there are words between the tags.
fn has_words(text: &str) -> bool {
    text.split('<').any(|piece| {
        let words = match piece.split_once('>') {
            Some((_, after)) => after,
            None => piece,
        };
        !words.trim().is_empty()
    })
}

/// Returns a title without HTML, on one line.
pub(super) fn plain_title(text: &str) -> Cow<'_, str> {
    match plain_text(text) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        // Some portals escape entities a second time.
        Cow::Owned(text) => Cow::Owned(
            plain_text(&text)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        ),
    }
}

/// Replaces entities that end with a semicolon. Others are mostly parts of addresses.
pub(super) fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for (place, entity) in find_entities(text) {
        out.push_str(&text[last..place]);
        out.push_str(&decoded_entity(entity));
        last = place + entity.len();
    }
    out.push_str(&text[last..]);
    out
}

/// Returns the text of HTML. Characters that are no markup are escaped before, so that the tokenizer keeps them.
fn without_markup(text: &str, markup: &Markup) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut tags = markup.tags.iter().peekable();
    let known: Vec<usize> = find_entities(text).map(|(place, _)| place).collect();
    let mut known = known.iter().peekable();
    for (place, character) in text.char_indices() {
        match character {
            '<' if tags.next_if_eq(&&place).is_none() => escaped.push_str("&lt;"),
            '&' if known.next_if_eq(&&place).is_none() => escaped.push_str("&amp;"),
            other => escaped.push(other),
        }
    }
    let mut out = PlainWriter {
        folds_lines: markup.has_lines,
        ..PlainWriter::default()
    };
    let mut hidden: Option<(Vec<u8>, usize)> = None;
    for Ok(token) in Tokenizer::new(&escaped) {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                match &mut hidden {
                    Some((element, depth)) if **element == *tag.name => *depth += 1,
                    Some(_) => {}
                    None if HIDDEN.contains(&name.as_str()) && !tag.self_closing => {
                        hidden = Some((tag.name.to_vec(), 1));
                    }
                    None => {
                        out.start(&name);
                        if let (true, Some(text)) = (name == "img", tag.attributes.get(&b"alt"[..]))
                        {
                            out.text(&String::from_utf8_lossy(text));
                        }
                    }
                }
            }
            Token::EndTag(tag) => match &mut hidden {
                Some((element, depth)) if **element == *tag.name => {
                    *depth -= 1;
                    if *depth == 0 {
                        hidden = None;
                    }
                }
                Some(_) => {}
                None => out.end(&String::from_utf8_lossy(&tag.name)),
            },
            Token::String(text) if hidden.is_none() => out.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    out.finish()
}

/// Writer of text in lines and paragraphs.
#[derive(Default)]
struct PlainWriter {
    out: String,
    /// If true, line breaks of the text are spaces, except blank lines.
    folds_lines: bool,
    /// Number of line breaks, and if true, a space, before the next character.
    breaks: usize,
    has_space: bool,
    /// If true, the next text begins an item of a list.
    is_item: bool,
    /// Number of open elements that keep white space.
    preformatted: usize,
}

impl PlainWriter {
    fn start(&mut self, name: &str) {
        self.line(name);
        match name {
            "li" => self.is_item = true,
            "pre" => self.preformatted += 1,
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        self.line(name);
        match name {
            "li" => self.is_item = false,
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "td" | "th" => self.has_space = true,
            _ => {}
        }
    }

    fn line(&mut self, name: &str) {
        if PARAGRAPHS.contains(&name) {
            self.breaks = self.breaks.max(2);
        } else if LINES.contains(&name) {
            self.breaks = self.breaks.max(1);
        }
    }

    fn text(&mut self, text: &str) {
        let keeps_lines = !self.folds_lines || self.preformatted > 0;
        let mut newlines = 0;
        for character in text.chars() {
            if !character.is_whitespace() {
                newlines = 0;
                self.character(character);
            } else if character == '\n' {
                newlines += 1;
                match (keeps_lines, newlines) {
                    (true, _) => self.breaks = newlines.min(2),
                    (false, 1) => self.has_space = true,
                    (false, _) => self.breaks = 2,
                }
            } else {
                self.has_space = true;
            }
        }
    }

    fn character(&mut self, character: char) {
        if !self.out.is_empty() {
            match self.breaks {
                0 if self.has_space => self.out.push(' '),
                0 => {}
                breaks => (0..breaks).for_each(|_| self.out.push('\n')),
            }
        }
        (self.breaks, self.has_space) = (0, false);
        if std::mem::take(&mut self.is_item) {
            self.out.push_str("• ");
        }
        self.out.push(character);
    }

    fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, DatasetId};

    #[test]
    fn texts_that_are_no_html_are_unchanged() {
        for text in [
            "a < b and b > c",
            "a<b, then c",
            "see <http://rivers.example.org/a?b=1&copy=2> or <mailto:a@rivers.example.org>",
            "Map<String, List<Integer>> and vector<p>",
            "R&D; AT&T; &unknown; &; &copyright; &lt is;",
            "a & b",
            "use <b> for bold",
            "# Rivers\n\n* long\n* short\n\n<!-- unfinished",
            "x <y> z </y>",
        ] {
            assert!(
                matches!(plain_text(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn html_becomes_its_text() {
        for (html, text) in [
            ("<p>One</p><p>Two</p>", "One\n\nTwo"),
            (
                "<div style='font-weight:bold'>Length<br/>Depth</div>",
                "Length\nDepth",
            ),
            ("<P>One<P>Two", "One\n\nTwo"),
            ("Of <b>large</b>\nrivers", "Of large\nrivers"),
            (
                "<p>Of large\n  rivers</p>\n\n<ul>\n<li>Elbe</li>\n<li>Oder</li></ul>",
                "Of large rivers\n\n• Elbe\n• Oder",
            ),
            (
                "<p>if a < b &amp; c > d, see <http://rivers.example.org/></p>",
                "if a < b & c > d, see <http://rivers.example.org/>",
            ),
            (
                "<style>p { color: red }</style><p>Red<script>alert('x')</script></p>",
                "Red",
            ),
            ("<p>One<!-- two --> three</p>", "One three"),
            ("<!-- hidden -->Shown", "Shown"),
            (
                "<p>Level<img src='l.png' alt=' gauge '> of water</p>",
                "Level gauge of water",
            ),
            (
                "<table><tr><th>Name</th><th>Length</th></tr><tr><td>Elbe</td><td>1094</td></tr></table>",
                "Name Length\nElbe 1094",
            ),
            ("Drinking water &amp; taps", "Drinking water & taps"),
            ("It&#39;s&nbsp;wet &#x2014; very", "It's wet — very"),
            (
                "&lt;p&gt;Twice &amp;amp; escaped&lt;/p&gt;",
                "Twice & escaped",
            ),
            (
                "<a href=\"http://rivers.example.org/\" target='_blank'>here</a>?a=1&copy=2",
                "here?a=1&copy=2",
            ),
            ("<p></p>", ""),
        ] {
            assert_eq!(plain_text(html), text, "{html}");
        }
    }

    #[test]
    fn plain_texts_of_metadata_are_borrowed_without_html() {
        let id = DatasetId::new("a").expect("an id");
        let mut metadata = Metadata {
            titles: vec![Text::plain("A < B")],
            ..Metadata::new(id)
        };
        assert!(matches!(metadata.plain_texts(), Cow::Borrowed(_)));
        metadata.creators.push(Agent {
            name: "Rivers &amp; Lakes".into(),
            iri: None,
        });
        assert_eq!(metadata.plain_texts().creators[0].name, "Rivers & Lakes");
    }

    /// Each tag and entity is processed once.
    #[test]
    fn hostile_texts_take_linear_time() {
        let count = 20_000;
        for text in [
            "<p ".repeat(count) + ">",
            "<".repeat(count) + ">",
            "<b>".repeat(count) + &"</b>".repeat(count),
            "<script>".repeat(count),
            "&".repeat(count) + ";",
            "&#".repeat(count),
            "<!--".repeat(count) + "-->",
            "<p a='".repeat(count) + "'></p>",
        ] {
            assert!(plain_text(&text).len() <= 5 * text.len());
        }
    }

    #[test]
    fn titles_become_plain() {
        for (text, expected) in [
            ("Roads &amp; rails", "Roads & rails"),
            ("Roads &amp;amp; rails", "Roads & rails"),
            (
                "Children&#39;s &quot;homes&quot; &#x2013; a list",
                "Children's \"homes\" – a list",
            ),
            ("Caf&eacute;&nbsp;list", "Café list"),
            ("<b>Bold</b> words", "Bold words"),
            ("CO<sub>2</sub> emissions", "CO2 emissions"),
            ("One<br/>two<br>three", "One two three"),
            ("&lt;p&gt;Escaped&lt;/p&gt;", "Escaped"),
            ("<a href='http://e.org/'>Link</a>", "Link"),
            ("Ages <5 and >80", "Ages <5 and >80"),
            ("a < b > c", "a < b > c"),
            ("p<0.05 & i<j", "p<0.05 & i<j"),
            ("List<String> of R&D;", "List<String> of R&D;"),
            ("AT&T &unknown; &;", "AT&T &unknown; &;"),
            ("if a <b and c> d", "if a <b and c> d"),
            ("<script>alert(1)</script>", "<script>alert(1)</script>"),
            ("<p></p>", ""),
            ("", ""),
        ] {
            assert_eq!(plain_title(text), expected, "{text}");
        }
    }
}
