//! Plain text of titles, keywords and names that contain HTML.

use std::borrow::Cow;

/// Elements whose tags occur in titles. Other words between angle brackets are texts.
const ELEMENTS: [&str; 43] = [
    "a", "abbr", "b", "big", "br", "center", "cite", "code", "del", "div", "em", "font", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "small", "span", "strike",
    "strong", "sub", "sup", "table", "td", "tr", "tt", "u", "ul", "wbr",
];
/// Elements that separate words.
const BREAKS: [&str; 14] = ["br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "table", "td", "tr"];
/// Maximum number of bytes of an entity's name.
const MAX_ENTITY_BYTES: usize = 32;
/// Number of times that a text is read: some portals escape texts twice.
const ROUNDS: usize = 2;

/// A text without HTML.
pub(super) struct PlainTitle<'t> {
    /// The text, without tags and with the characters of entities.
    pub(super) text: Cow<'t, str>,
    /// If true, tags were removed.
    pub(super) had_tags: bool,
}

/// Removes HTML tags and comments from a text, and replaces entities by their characters.
pub(super) fn plain_title(text: &str) -> PlainTitle<'_> {
    let mut plain = PlainTitle { text: Cow::Borrowed(text), had_tags: false };
    for _ in 0..ROUNDS {
        let mut is_changed = false;
        if let Some(without) = remove_tags(&plain.text) {
            plain = PlainTitle { text: Cow::Owned(without), had_tags: true };
            is_changed = true;
        }
        if let Some(decoded) = decode_entities(&plain.text) {
            plain.text = Cow::Owned(decoded);
            is_changed = true;
        }
        if !is_changed {
            break;
        }
    }
    plain
}

/// Replaces entities by their characters; `None` if there are none. Unknown entities stay.
pub(super) fn decode_entities(text: &str) -> Option<String> {
    let mut rest = text;
    let mut out = String::new();
    let mut is_changed = false;
    while let Some(place) = rest.find('&') {
        out.push_str(&rest[..place]);
        rest = &rest[place..];
        match entity(rest) {
            Some((characters, length)) => {
                out.push_str(&characters);
                rest = &rest[length..];
                is_changed = true;
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Returns the characters of the entity at the beginning of a text, and its length.
fn entity(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let end = text.bytes().take(MAX_ENTITY_BYTES + 2).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let characters = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            // Numbers of control characters mean those of Windows-1252 in HTML; other controls are left as they are.
            let character = char::from_u32(code).filter(|c| !c.is_control() || *c == '\n' || *c == '\t')?;
            Cow::Owned(if character == '\u{a0}' { ' ' } else { character }.to_string())
        }
        None if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !name.is_empty() => {
            Cow::Owned(htmlescape::decode_html(&text[..=end]).ok()?.replace('\u{a0}', " "))
        }
        None => return None,
    };
    Some((characters, end + 1))
}

/// Removes tags; `None` if there are none.
fn remove_tags(text: &str) -> Option<String> {
    let mut rest = text;
    let mut out = String::new();
    let mut is_changed = false;
    // A `<` without a `>` after it is no tag, and `<!--` without `-->` no comment: the rest is searched only once.
    let last = text.rfind('>')?;
    let last_comment = text.rfind("-->").unwrap_or(0);
    while let Some(place) = rest.find('<') {
        let offset = text.len() - rest.len() + place;
        if offset > last {
            break;
        }
        out.push_str(&rest[..place]);
        rest = &rest[place..];
        match tag(rest, offset < last_comment) {
            Some((name, length)) => {
                if BREAKS.contains(&name.as_str()) && !out.is_empty() && !out.ends_with(char::is_whitespace) {
                    out.push(' ');
                }
                rest = &rest[length..];
                is_changed = true;
            }
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    is_changed.then(|| out.trim().to_owned())
}

/// Returns the name of the element whose tag is at the beginning of a text, and the tag's length.
fn tag(text: &str, may_be_comment: bool) -> Option<(String, usize)> {
    let inner = &text[1..];
    if let Some(comment) = inner.strip_prefix("!--") {
        if !may_be_comment {
            return None;
        }
        return comment.find("-->").map(|end| (String::new(), 4 + end + 3));
    }
    let is_end = inner.starts_with('/');
    let name_start = usize::from(is_end);
    let length = inner[name_start..].bytes().take_while(u8::is_ascii_alphanumeric).take(8).count();
    let name = inner[name_start..name_start + length].to_ascii_lowercase();
    let after = &inner[name_start + length..];
    if !ELEMENTS.contains(&name.as_str()) || !after.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/') {
        return None;
    }
    // The next tag ends the search: `a <b c` is a text.
    let end = after.find(['>', '<']).filter(|end| after.as_bytes()[*end] == b'>')?;
    let attributes = &after[..end];
    let is_tag =
        attributes.trim_matches(['/', ' ', '\t', '\n', '\r']).is_empty() || !is_end && attributes.contains('=');
    is_tag.then_some((name, 1 + name_start + length + end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_plain() {
        for (text, expected, had_tags) in [
            ("Roads &amp; rails", "Roads & rails", false),
            ("Roads &amp;amp; rails", "Roads & rails", false),
            ("Children&#39;s &quot;homes&quot; &#x2013; a list", "Children's \"homes\" – a list", false),
            ("Caf&eacute;&nbsp;list", "Café list", false),
            ("<b>Bold</b> words", "Bold words", true),
            ("CO<sub>2</sub> emissions", "CO2 emissions", true),
            ("One<br/>two<br>three", "One two three", true),
            ("&lt;p&gt;Escaped&lt;/p&gt;", "Escaped", true),
            ("<a href='http://e.org/'>Link</a>", "Link", true),
            ("<!-- hidden -->Shown", "Shown", true),
            ("Ages <5 and >80", "Ages <5 and >80", false),
            ("a < b > c", "a < b > c", false),
            ("p<0.05 & i<j", "p<0.05 & i<j", false),
            ("List<String> of R&D;", "List<String> of R&D;", false),
            ("AT&T &unknown; &;", "AT&T &unknown; &;", false),
            ("if a <b and c> d", "if a <b and c> d", false),
            ("", "", false),
        ] {
            let plain = plain_title(text);
            assert_eq!((plain.text.as_ref(), plain.had_tags), (expected, had_tags), "{text}");
        }
    }

    /// If each `<` searched the rest of the text, the work would be quadratic.
    #[test]
    fn long_texts_are_read_once() {
        for piece in ["<", "&", "<b", "<!--", "&#", "<p x="] {
            let text = piece.repeat(200_000 / piece.len());
            assert_eq!(plain_title(&text).text, text);
        }
        assert!(!plain_title(&format!("{}>", "<b x".repeat(50_000))).had_tags);
        assert!(!plain_title(&format!("{}x>", "<!--".repeat(50_000))).had_tags);
    }
}
