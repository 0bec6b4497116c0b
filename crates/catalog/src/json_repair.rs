//! Repair of JSON that is almost valid, as pages and portals publish it.
//!
//! Each repair is reported. The values of the document stay the same: only characters that JSON does not allow are escaped
//! or removed.

use super::plain_text::decode_entities;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// Kinds of repairs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Repair {
    Marks,
    Entities,
    Controls,
    Escapes,
    Commas,
    Comments,
    Numbers,
    Rest,
}

impl Repair {
    fn message(self) -> &'static str {
        match self {
            Self::Marks => "removed marks of comments or CDATA sections around the document",
            Self::Entities => "replaced HTML entities by their characters",
            Self::Controls => "escaped line breaks, tabs or other control characters in strings",
            Self::Escapes => "escaped backslashes that begin no escape sequence of JSON",
            Self::Commas => "removed commas before closing brackets",
            Self::Comments => "removed comments",
            Self::Numbers => "replaced NaN, Infinity or undefined by null",
            Self::Rest => "removed a semicolon after the document",
        }
    }
}

/// A valid text, and the repairs that made it valid.
#[derive(Debug)]
pub(super) struct RepairedJson<'t> {
    pub(super) text: Cow<'t, str>,
    repairs: Vec<Repair>,
}

impl RepairedJson<'_> {
    /// Returns the message for the repairs; `None` if the text was valid.
    pub(super) fn problem(&self) -> Option<String> {
        if self.repairs.is_empty() {
            return None;
        }
        let messages: Vec<&str> = self.repairs.iter().map(|repair| repair.message()).collect();
        Some(format!(
            "not valid JSON, and repaired: {}",
            messages.join("; ")
        ))
    }
}

/// Returns a text if it is valid JSON, else the text with repairs. The error is that of the text itself.
pub(super) fn repair(text: &str) -> Result<RepairedJson<'_>, serde_json::Error> {
    let text = text.trim_start_matches('\u{feff}');
    let error = match check_json(text) {
        Ok(()) => {
            return Ok(RepairedJson {
                text: Cow::Borrowed(text),
                repairs: Vec::new(),
            });
        }
        Err(error) => error,
    };
    let mut repairs = Vec::new();
    let inside = without_marks(text);
    if inside.len() < text.trim().len() {
        repairs.push(Repair::Marks);
    }
    let mut inside = Cow::Borrowed(inside);
    if is_escaped(&inside) {
        inside = Cow::Owned(decode_entities(&inside));
        repairs.push(Repair::Entities);
    }
    if check_json(&inside).is_err() {
        let mut writer = RepairWriter::new(inside.len());
        writer.write(&inside);
        repairs.extend(writer.repairs);
        inside = Cow::Owned(writer.out);
    }
    repairs.sort_unstable();
    repairs.dedup();
    match check_json(&inside) {
        Ok(()) => Ok(RepairedJson {
            text: inside,
            repairs,
        }),
        // The error of the original text has its lines.
        Err(_) => Err(error),
    }
}

fn check_json(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text).map(|_| ())
}

/// Removes the marks with which pages hide scripts from XML parsers and old browsers.
pub(super) fn without_marks(text: &str) -> &str {
    let mut inside = text.trim();
    for (opening, closing) in [
        ("<!--", "-->"),
        ("//<![CDATA[", "//]]>"),
        ("// <![CDATA[", "// ]]>"),
        ("/*<![CDATA[*/", "/*]]>*/"),
        ("/* <![CDATA[ */", "/* ]]> */"),
        ("<![CDATA[", "]]>"),
    ] {
        if let Some(rest) = inside.strip_prefix(opening) {
            let rest = rest.trim_end();
            inside = rest.strip_suffix(closing).unwrap_or(rest).trim();
            // `//-->` and `//]]>` hide the closing mark from JavaScript.
            inside = inside.strip_suffix("//").unwrap_or(inside).trim_end();
        }
    }
    inside
}

/// If true, the quotes of a document are entities.
fn is_escaped(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '[');
    ["&quot;", "&#34;", "&#034;", "&#x22;"]
        .iter()
        .any(|quote| start.starts_with(quote))
}

/// Writer of a repaired document.
struct RepairWriter {
    out: String,
    repairs: Vec<Repair>,
    /// Position of a comma after which only white space was written.
    comma: Option<usize>,
    depth: usize,
}

impl RepairWriter {
    fn new(length: usize) -> Self {
        Self {
            out: String::with_capacity(length + 64),
            repairs: Vec::new(),
            comma: None,
            depth: 0,
        }
    }

    fn report(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn write(&mut self, text: &str) {
        let mut rest = text;
        // A comment that is not closed is no comment: the rest is searched only once.
        let last_comment = text.rfind("*/");
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            let place = text.len() - rest.len();
            match character {
                '"' => {
                    self.comma = None;
                    rest = self.write_string(after);
                    continue;
                }
                '/' if after.starts_with('/') => {
                    self.report(Repair::Comments);
                    rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                    continue;
                }
                '/' if after.starts_with('*')
                    && last_comment.is_some_and(|last| last > place + 1) =>
                {
                    self.report(Repair::Comments);
                    rest = match after[1..].find("*/") {
                        Some(end) => &after[end + 3..],
                        None => "",
                    };
                    continue;
                }
                '{' | '[' => {
                    self.depth += 1;
                    self.comma = None;
                    self.out.push(character);
                }
                '}' | ']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if let Some(comma) = self.comma.take() {
                        self.out.replace_range(comma..=comma, " ");
                        self.report(Repair::Commas);
                    }
                    self.out.push(character);
                    if self.depth == 0 {
                        rest = self.write_end(after);
                        continue;
                    }
                }
                ',' => {
                    self.comma = Some(self.out.len());
                    self.out.push(',');
                }
                'N' | 'I' | 'u' | '-' => {
                    self.comma = None;
                    rest = self.write_word(rest);
                    continue;
                }
                character => {
                    if !character.is_whitespace() {
                        self.comma = None;
                    }
                    self.out.push(character);
                }
            }
            rest = after;
        }
    }

    /// Writes a string up to its closing quote. Returns the text after it.
    fn write_string<'t>(&mut self, text: &'t str) -> &'t str {
        self.out.push('"');
        let mut characters = text.char_indices();
        while let Some((place, character)) = characters.next() {
            match character {
                '"' => {
                    self.out.push('"');
                    return &text[place + 1..];
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't'))) => {
                        self.out.extend(['\\', escaped]);
                    }
                    Some((start, 'u')) if is_unit(&text[start + 1..]) => self.out.push_str("\\u"),
                    Some((_, '\'')) => {
                        self.out.push('\'');
                        self.report(Repair::Escapes);
                    }
                    Some((_, other)) => {
                        self.out.push_str("\\\\");
                        self.push_in_string(other);
                        self.report(Repair::Escapes);
                    }
                    None => self.out.push('\\'),
                },
                character => self.push_in_string(character),
            }
        }
        ""
    }

    fn push_in_string(&mut self, character: char) {
        match character {
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            control if (control as u32) < 0x20 => {
                self.out.push_str(&format!("\\u{:04x}", control as u32))
            }
            other => return self.out.push(other),
        }
        self.report(Repair::Controls);
    }

    /// Writes `null` for a number or value that JSON does not have. Returns the text after it.
    fn write_word<'t>(&mut self, text: &'t str) -> &'t str {
        for word in ["NaN", "Infinity", "-Infinity", "undefined"] {
            let after = text.strip_prefix(word);
            if let Some(after) =
                after.filter(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            {
                self.out.push_str("null");
                self.report(Repair::Numbers);
                return after;
            }
        }
        self.out.push_str(&text[..1]);
        &text[1..]
    }

    /// Skips semicolons after the document. Returns the text after them.
    fn write_end<'t>(&mut self, text: &'t str) -> &'t str {
        let after = text.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        if after.is_empty() && text.contains(';') {
            self.report(Repair::Rest);
            return "";
        }
        text
    }
}

/// If true, the text begins with the four digits of a code unit.
fn is_unit(text: &str) -> bool {
    text.as_bytes()
        .get(..4)
        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn value_of(text: &str) -> Result<(Value, Vec<Repair>), String> {
        let repaired = repair(text).map_err(|error| error.to_string())?;
        assert_eq!(repaired.problem().is_some(), !repaired.repairs.is_empty());
        Ok((
            serde_json::from_str(&repaired.text).expect("JSON"),
            repaired.repairs,
        ))
    }

    #[test]
    fn faults_of_portals_are_repaired() {
        for (text, value, repairs) in [
            ("{\"a\": 1}", json!({"a": 1}), vec![]),
            ("\u{feff}{\"a\": 1}", json!({"a": 1}), vec![]),
            (
                "{\"a\": [1, 2, ], \"b,]\": \",]\\\"\",\n }",
                json!({"a": [1, 2], "b,]": ",]\""}),
                vec![Repair::Commas],
            ),
            (
                "{\"a\": \"x\n\ty\r\u{1}\"}",
                json!({"a": "x\n\ty\r\u{1}"}),
                vec![Repair::Controls],
            ),
            ("{\"a\": 1};\n", json!({"a": 1}), vec![Repair::Rest]),
            ("[1] ; ;", json!([1]), vec![Repair::Rest]),
            ("<!-- {\"a\": 1} -->", json!({"a": 1}), vec![Repair::Marks]),
            (
                "<!--\n{\"a\": 1}\n//-->",
                json!({"a": 1}),
                vec![Repair::Marks],
            ),
            (
                "//<![CDATA[\n{\"a\": 1}\n//]]>",
                json!({"a": 1}),
                vec![Repair::Marks],
            ),
            (
                "/* <![CDATA[ */ {\"a\": 1}; /* ]]> */",
                json!({"a": 1}),
                vec![Repair::Marks, Repair::Rest],
            ),
            (
                "{\"a\": \"it\\'s C:\\data\\u12\"}",
                json!({"a": "it's C:\\data\\u12"}),
                vec![Repair::Escapes],
            ),
            (
                "{\"a\": NaN, \"b\": -Infinity, \"c\": -1}",
                json!({"a": null, "b": null, "c": -1}),
                vec![Repair::Numbers],
            ),
            (
                "{/* one */ \"a\": 1, // two\n \"b\": \"//\"}",
                json!({"a": 1, "b": "//"}),
                vec![Repair::Comments],
            ),
            (
                "{&quot;a&quot;: &quot;R&amp;D&quot;}",
                json!({"a": "R&D"}),
                vec![Repair::Entities],
            ),
            (
                "{\"a\": \"x\ny\",};",
                json!({"a": "x\ny"}),
                vec![Repair::Controls, Repair::Commas, Repair::Rest],
            ),
        ] {
            assert_eq!(value_of(text), Ok((value, repairs)), "{text}");
        }
    }

    #[test]
    fn other_faults_are_errors_with_their_place() {
        for (text, place) in [
            ("{\"a\": [}", "line 1 column 8"),
            ("{\"a\": 1}\n{\"b\": 2}", "line 2 column 1"),
            ("{\"a\": \"cut", "line 1 column 10"),
            ("{\"a\" 1}", "line 1 column 6"),
            ("{a: 1}", "line 1 column 2"),
            ("", "line 1 column 0"),
        ] {
            let error = value_of(text).expect_err(text);
            assert!(error.contains(place), "{text}: {error}");
        }
    }

    /// If each bracket or comment searched the rest of the text, the work would be quadratic.
    #[test]
    fn long_texts_are_read_once() {
        for piece in [
            "[", "]", "[]", ",", "/*", "//", "\"", "\\", "{\"a\":", "};", "&quot;", "N", "<!--",
        ] {
            let text = piece.repeat(400_000 / piece.len());
            let _ = repair(&text);
        }
    }

    proptest! {
        #[test]
        fn valid_json_stays_the_same(text in "\\PC{0,20}", number in any::<i64>()) {
            let value = json!({"text": text, "list": [number, null, {"key": true}]});
            let valid = value.to_string();
            prop_assert_eq!(repair(&valid).expect("valid").text, Cow::Borrowed(valid.as_str()));
            let broken = format!("{}, }};", valid.trim_end_matches('}'));
            prop_assert_eq!(value_of(&broken).expect("repaired").0, value);
        }

        #[test]
        fn no_text_ends_the_program(text in "([\\[\\]{},:;\"\\\\/*uNI1 \n]|&quot;|<!--|-->|//){0,30}") {
            let _ = repair(&text);
        }
    }
}
