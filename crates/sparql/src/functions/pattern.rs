//! Regular expressions of `REGEX` and `REPLACE`: those of XPath and XQuery Functions and Operators 3.1.
//! <https://www.w3.org/TR/xpath-functions-31/#string.match>
//!
//! Their syntax is that of XML Schema 1.1 (Datatypes, appendix G) with anchors, reluctant quantifiers, groups that capture nothing and
//! back-references. It differs from the syntax of the crate `regex` in many details: `[a-z-[aeiou]]` subtracts, `&&` is two characters,
//! `\i` and `\c` are characters of XML names, `.` does not match a carriage return, `x` does not start comments with `#`, `\b` is an
//! error. A pattern is therefore parsed here and translated. A construct that XPath lacks is an error, never another meaning.
//!
//! *Time.* `regex` matches in linear time. Back-references, and `^` with the flag `m`, need backtracking by `fancy-regex`, which stops
//! after a fixed number of steps. The call then has no value.
//!
//! *Case.* With `i` only single characters and ranges match both cases; `\p{Lu}` stays as it is (5.6.2). The translation writes both
//! cases and sets no flag.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// Maximum size of a compiled pattern in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Maximum size of a translated pattern in bytes.
const MAX_TRANSLATED_BYTES: usize = 1 << 20;
/// Maximum nesting depth of groups and classes.
const MAX_DEPTH: usize = 100;
/// Maximum number of steps of a match with backtracking.
const MAX_BACKTRACKS: usize = 1_000_000;
/// Maximum number of a quantifier.
const MAX_REPETITIONS: u32 = 1_000_000;
/// First characters of XML names.
const NAME_START: &[(char, char)] = &[
    (':', ':'),
    ('A', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('\u{c0}', '\u{d6}'),
    ('\u{d8}', '\u{f6}'),
    ('\u{f8}', '\u{2ff}'),
    ('\u{370}', '\u{37d}'),
    ('\u{37f}', '\u{1fff}'),
    ('\u{200c}', '\u{200d}'),
    ('\u{2070}', '\u{218f}'),
    ('\u{2c00}', '\u{2fef}'),
    ('\u{3001}', '\u{d7ff}'),
    ('\u{f900}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{fffd}'),
    ('\u{10000}', '\u{effff}'),
];
/// Further characters of XML names.
const NAME_REST: &[(char, char)] = &[
    ('-', '-'),
    ('.', '.'),
    ('0', '9'),
    ('\u{b7}', '\u{b7}'),
    ('\u{300}', '\u{36f}'),
    ('\u{203f}', '\u{2040}'),
];
const SPACES: &[(char, char)] = &[('\t', '\n'), ('\r', '\r'), (' ', ' ')];
/// General categories of Unicode, without surrogates.
const CATEGORIES: &[&str] = &[
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C",
    "Cc", "Cf", "Co", "Cn",
];
/// Names of blocks in XML Schema 1.0 that Unicode has changed, and the names that it gives the same characters.
const FORMER_BLOCKS: &[(&str, &[&str])] = &[
    ("Greek", &["GreekandCoptic"]),
    (
        "CombiningMarksforSymbols",
        &["CombiningDiacriticalMarksforSymbols"],
    ),
    (
        "PrivateUse",
        &[
            "PrivateUseArea",
            "SupplementaryPrivateUseArea-A",
            "SupplementaryPrivateUseArea-B",
        ],
    ),
];

/// First and last code point of each block of Unicode, by its name without spaces.
static BLOCKS: LazyLock<FxHashMap<String, (u32, u32)>> = LazyLock::new(|| {
    let mut blocks = FxHashMap::default();
    let mut code = 0;
    while code <= u32::from(char::MAX) {
        let block = char::from_u32(code).and_then(unicode_blocks::find_unicode_block);
        // Blocks begin at multiples of sixteen.
        code = match block {
            Some(block) => {
                blocks.insert(block.name().replace(' ', ""), (block.start(), block.end()));
                block.end() + 1
            }
            None => code + 16,
        };
    }
    blocks
});

/// Compiled pattern.
pub(super) struct Pattern {
    engine: Engine,
    /// Number of groups that capture.
    groups: usize,
    matches_empty: bool,
    /// If true, `$` and `\` of a replacement stand for themselves (flag `q`).
    is_literal: bool,
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

impl Pattern {
    /// Compiles a pattern. Returns `None` if it or its flags are invalid, or if it is too large.
    pub(super) fn parse(pattern: &str, flags: &str) -> Option<Self> {
        let flags = Flags::parse(flags)?;
        let mut translator = Translator::new(pattern, flags);
        translator.translate()?;
        let Translator {
            out,
            groups,
            needs_backtracking,
            ..
        } = translator;
        let engine = if needs_backtracking {
            let mut builder = fancy_regex::RegexBuilder::new(&out);
            builder
                .backtrack_limit(MAX_BACKTRACKS)
                .delegate_size_limit(MAX_COMPILED_BYTES);
            Engine::Backtracking(Box::new(builder.build().ok()?))
        } else {
            Engine::Linear(
                regex::RegexBuilder::new(&out)
                    .size_limit(MAX_COMPILED_BYTES)
                    .build()
                    .ok()?,
            )
        };
        let mut compiled = Self {
            engine,
            groups: groups.len(),
            matches_empty: false,
            is_literal: flags.literal,
        };
        // Such a pattern is an error in `fn:replace` (FORX0003).
        compiled.matches_empty = compiled.is_match("")?;
        Some(compiled)
    }

    /// Returns true if the pattern matches a part of a text. `None` after too many steps.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        match &self.engine {
            Engine::Linear(regex) => Some(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).ok(),
        }
    }

    /// Replaces each match. `None` if the pattern matches the empty string, if the replacement is invalid, or after too many steps.
    pub(super) fn replace(&self, text: &str, replacement: &str) -> Option<String> {
        if self.matches_empty {
            return None;
        }
        let parts = self.parse_replacement(replacement)?;
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        match &self.engine {
            Engine::Linear(regex) => {
                for captures in regex.captures_iter(text) {
                    let whole = captures.get(0)?;
                    replaced.push_str(text.get(end..whole.start())?);
                    end = whole.end();
                    append_replacement(&mut replaced, &parts, |group| {
                        captures.get(group).map(|found| found.as_str())
                    });
                }
            }
            Engine::Backtracking(regex) => {
                for captures in regex.captures_iter(text) {
                    let captures = captures.ok()?;
                    let whole = captures.get(0)?;
                    replaced.push_str(text.get(end..whole.start())?);
                    end = whole.end();
                    append_replacement(&mut replaced, &parts, |group| {
                        captures.get(group).map(|found| found.as_str())
                    });
                }
            }
        }
        replaced.push_str(text.get(end..)?);
        Some(replaced)
    }

    /// Parses a replacement: `$N` is a group, `\$` and `\\` are characters. The number N takes as many digits as make the number of a
    /// group; a single digit that is none is empty.
    fn parse_replacement(&self, replacement: &str) -> Option<Vec<Part>> {
        if self.is_literal {
            return Some(vec![Part::Text(replacement.to_owned())]);
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = replacement.chars().peekable();
        while let Some(char) = rest.next() {
            match char {
                '\\' => text.push(rest.next().filter(|next| matches!(next, '\\' | '$'))?),
                '$' => {
                    let mut number = parse_digit(rest.next()?)?;
                    while let Some(next) = rest.peek().copied().and_then(parse_digit) {
                        let longer = number * 10 + next;
                        if longer > self.groups.max(9) {
                            break;
                        }
                        number = longer;
                        rest.next();
                    }
                    parts.push(Part::Text(std::mem::take(&mut text)));
                    parts.push(Part::Group(number));
                }
                _ => text.push(char),
            }
        }
        parts.push(Part::Text(text));
        Some(parts)
    }
}

/// Part of a replacement.
enum Part {
    Text(String),
    Group(usize),
}

/// Appends a replacement. A group without a match is empty.
fn append_replacement<'t>(
    replaced: &mut String,
    parts: &[Part],
    group: impl Fn(usize) -> Option<&'t str>,
) {
    for part in parts {
        match part {
            Part::Text(text) => replaced.push_str(text),
            Part::Group(number) => replaced.push_str(group(*number).unwrap_or_default()),
        }
    }
}

fn parse_digit(char: char) -> Option<usize> {
    char.to_digit(10)
        .and_then(|digit| usize::try_from(digit).ok())
}

#[derive(Clone, Copy, Default)]
struct Flags {
    dot_all: bool,
    multi_line: bool,
    ignore_case: bool,
    ignore_space: bool,
    literal: bool,
}

impl Flags {
    fn parse(text: &str) -> Option<Self> {
        let mut flags = Self::default();
        for flag in text.chars() {
            match flag {
                's' => flags.dot_all = true,
                'm' => flags.multi_line = true,
                'i' => flags.ignore_case = true,
                'x' => flags.ignore_space = true,
                'q' => flags.literal = true,
                _ => return None,
            }
        }
        Some(flags)
    }
}

/// Recursive descent over a pattern that writes the translation.
struct Translator {
    pattern: Vec<char>,
    at: usize,
    flags: Flags,
    out: String,
    /// For each group that captures: true after its end.
    groups: Vec<bool>,
    needs_backtracking: bool,
}

impl Translator {
    fn new(pattern: &str, flags: Flags) -> Self {
        let pattern = if flags.ignore_space && !flags.literal {
            without_space(pattern)
        } else {
            pattern.chars().collect()
        };
        Self {
            pattern,
            at: 0,
            flags,
            out: String::new(),
            groups: Vec::new(),
            needs_backtracking: false,
        }
    }

    fn translate(&mut self) -> Option<()> {
        if self.flags.literal {
            while let Some(char) = self.next() {
                self.write_char(char)?;
            }
            return Some(());
        }
        self.alternatives(0)?;
        (self.at == self.pattern.len()).then_some(())
    }

    fn peek(&self) -> Option<char> {
        self.pattern.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<char> {
        self.pattern.get(self.at + 1).copied()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += 1;
        Some(char)
    }

    fn skip(&mut self, char: char) -> bool {
        let is_next = self.peek() == Some(char);
        self.at += usize::from(is_next);
        is_next
    }

    fn write(&mut self, text: &str) -> Option<()> {
        self.out.push_str(text);
        (self.out.len() <= MAX_TRANSLATED_BYTES).then_some(())
    }

    fn write_char(&mut self, char: char) -> Option<()> {
        if self.flags.ignore_case {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(char, char)]);
            class.try_case_fold_simple().ok()?;
            if class.ranges().len() > 1 {
                return self.write_class(&class);
            }
        }
        if char.is_ascii_alphanumeric() {
            self.out.push(char);
            // Checks the length.
            return self.write("");
        }
        // Escaped, because the engines have special characters that XPath does not have.
        let escape = format!("\\x{{{:x}}}", u32::from(char));
        self.write(&escape)
    }

    fn write_class(&mut self, class: &ClassUnicode) -> Option<()> {
        if class.ranges().is_empty() {
            // `[]` is not valid: no character is in the complement of all.
            return self.write("[^\\x{0}-\\x{10ffff}]");
        }
        self.write("[")?;
        for range in class.iter() {
            let mut text = String::new();
            write!(
                text,
                "\\x{{{:x}}}-\\x{{{:x}}}",
                u32::from(range.start()),
                u32::from(range.end())
            )
            .ok()?;
            self.write(&text)?;
        }
        self.write("]")
    }

    fn alternatives(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        loop {
            while !matches!(self.peek(), None | Some('|' | ')')) {
                self.piece(depth)?;
            }
            if !self.skip('|') {
                return Some(());
            }
            self.write("|")?;
        }
    }

    /// Translates an atom and its quantifier.
    fn piece(&mut self, depth: usize) -> Option<()> {
        let start = self.out.len();
        let is_anchor = matches!(self.peek(), Some('^' | '$'));
        self.atom(depth)?;
        let Some((least, most)) = self.quantifier()? else {
            return Some(());
        };
        let is_reluctant = self.skip('?');
        if is_anchor {
            // An anchor is the same any number of times.
            if least == 0 {
                self.out.truncate(start);
                return self.write("(?:)");
            }
            return Some(());
        }
        let most = most.map(|most| most.to_string()).unwrap_or_default();
        let text = format!("{{{least},{most}}}{}", if is_reluctant { "?" } else { "" });
        self.write(&text)
    }

    fn quantifier(&mut self) -> Option<Option<(u32, Option<u32>)>> {
        let range = match self.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                self.at += 1;
                let least = self.number()?;
                let most = match self.next()? {
                    '}' => return Some(Some((least, Some(least)))),
                    ',' if self.peek() == Some('}') => None,
                    ',' => Some(self.number()?),
                    _ => return None,
                };
                if self.next()? != '}' || most.is_some_and(|most| most < least) {
                    return None;
                }
                return Some(Some((least, most)));
            }
            _ => return Some(None),
        };
        self.at += 1;
        Some(Some(range))
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = self.next()?.to_digit(10)?;
        while let Some(digit) = self.peek().and_then(|char| char.to_digit(10)) {
            self.at += 1;
            number = number * 10 + digit;
            if number > MAX_REPETITIONS {
                return None;
            }
        }
        Some(number)
    }

    fn atom(&mut self, depth: usize) -> Option<()> {
        match self.next()? {
            '.' if self.flags.dot_all => self.write("(?s:.)"),
            '.' => self.write("[^\\n\\r]"),
            // Not after a newline that ends the text.
            '^' if self.flags.multi_line => {
                self.needs_backtracking = true;
                self.write("(?:\\A|(?<=\\n)(?!\\z))")
            }
            '^' => self.write("\\A"),
            '$' if self.flags.multi_line => self.write("(?m:$)"),
            '$' => self.write("\\z"),
            '(' => self.group(depth),
            '[' => {
                let class = self.class(depth)?;
                self.write_class(&class)
            }
            '\\' => self.escape(),
            '?' | '*' | '+' | '{' | '}' | ']' => None,
            char => self.write_char(char),
        }
    }

    fn group(&mut self, depth: usize) -> Option<()> {
        if self.skip('?') {
            if !self.skip(':') {
                return None;
            }
            self.write("(?:")?;
            self.alternatives(depth + 1)?;
        } else {
            let number = self.groups.len();
            self.groups.push(false);
            self.write("(")?;
            self.alternatives(depth + 1)?;
            self.groups[number] = true;
        }
        if !self.skip(')') {
            return None;
        }
        self.write(")")
    }

    fn escape(&mut self) -> Option<()> {
        let char = self.next()?;
        if let Some(number) = parse_digit(char) {
            return self.back_reference(number);
        }
        if let Some(char) = single_escape(char) {
            return self.write_char(char);
        }
        match char {
            'd' => self.write("\\p{Nd}"),
            'D' => self.write("\\P{Nd}"),
            'w' => self.write("[^\\p{P}\\p{Z}\\p{C}]"),
            'W' => self.write("[\\p{P}\\p{Z}\\p{C}]"),
            _ => {
                let class = self.class_escape(char)?;
                self.write_class(&class)
            }
        }
    }

    /// Translates a reference to the group with the longest number that is one. A group without a match is empty.
    fn back_reference(&mut self, first: usize) -> Option<()> {
        let mut number = first;
        while let Some(digit) = self.peek().and_then(parse_digit) {
            let longer = number * 10 + digit;
            if longer > self.groups.len() {
                break;
            }
            number = longer;
            self.at += 1;
        }
        let is_complete = self.groups.get(number.checked_sub(1)?)?;
        // A group cannot refer to itself.
        if !is_complete {
            return None;
        }
        self.needs_backtracking = true;
        let text = if self.flags.ignore_case {
            format!("(?({number})(?i:\\{number})|)")
        } else {
            format!("(?({number})(?:\\{number})|)")
        };
        self.write(&text)
    }

    /// Returns the characters of an escape such as `\d` or `\p{Lu}`.
    fn class_escape(&mut self, char: char) -> Option<ClassUnicode> {
        let mut class = match char.to_ascii_lowercase() {
            's' => class_of_ranges(SPACES),
            'i' => class_of_ranges(NAME_START),
            'c' => {
                let mut class = class_of_ranges(NAME_START);
                class.union(&class_of_ranges(NAME_REST));
                class
            }
            'd' => class_of_category("Nd")?,
            'w' => {
                let mut class = class_of_category("P")?;
                class.union(&class_of_category("Z")?);
                class.union(&class_of_category("C")?);
                class.negate();
                class
            }
            'p' => self.property()?,
            _ => return None,
        };
        if char.is_ascii_uppercase() {
            class.negate();
        }
        Some(class)
    }

    /// Returns the characters of a category or block, after `\p`.
    fn property(&mut self) -> Option<ClassUnicode> {
        if !self.skip('{') {
            return None;
        }
        let mut name = String::new();
        loop {
            match self.next()? {
                '}' => break,
                char => name.push(char),
            }
        }
        let Some(block) = name.strip_prefix("Is") else {
            return class_of_category(&name);
        };
        let present = [block];
        let blocks: &[&str] = match FORMER_BLOCKS.iter().find(|(former, _)| *former == block) {
            Some((_, blocks)) => blocks,
            None => &present,
        };
        let mut class = ClassUnicode::empty();
        for block in blocks {
            let (first, last) = BLOCKS.get(*block)?;
            // Blocks of surrogates contain no characters, and are not listed.
            class.push(ClassUnicodeRange::new(
                char::from_u32(*first)?,
                char::from_u32(*last)?,
            ));
        }
        Some(class)
    }

    /// Returns the characters of a class, after `[`.
    fn class(&mut self, depth: usize) -> Option<ClassUnicode> {
        if depth > MAX_DEPTH {
            return None;
        }
        let is_negative = self.skip('^');
        let mut class = ClassUnicode::empty();
        let mut is_empty = true;
        let mut subtracted = None;
        loop {
            match (self.peek()?, self.peek_second()) {
                (']', _) => break,
                // Only the last part of a class can be subtracted.
                ('-', Some('[')) => {
                    self.at += 2;
                    subtracted = Some(self.class(depth + 1)?);
                    break;
                }
                ('[', _) => return None,
                ('\\', Some(escaped)) if single_escape(escaped).is_none() => {
                    self.at += 2;
                    class.union(&self.class_escape(escaped)?);
                }
                _ => {
                    let range = self.class_range()?;
                    class.union(&range);
                }
            }
            is_empty = false;
        }
        if is_empty || !self.skip(']') {
            return None;
        }
        if is_negative {
            class.negate();
        }
        // A negation includes all parts before the subtraction.
        if let Some(subtracted) = subtracted {
            class.difference(&subtracted);
        }
        Some(class)
    }

    /// Returns one character of a class, or a range.
    fn class_range(&mut self) -> Option<ClassUnicode> {
        let first = self.class_char()?;
        let mut last = first;
        let following = self.pattern.get(self.at + 1..).unwrap_or_default();
        // At these places, a hyphen stands for itself.
        if self.peek() == Some('-') && !matches!(following, ['[' | ']', ..] | ['-', '[', ..]) {
            self.at += 1;
            if self.peek()? == '-' {
                return None;
            }
            last = self.class_char()?;
        }
        if last < first {
            return None;
        }
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(first, last)]);
        if self.flags.ignore_case {
            class.try_case_fold_simple().ok()?;
        }
        Some(class)
    }

    fn class_char(&mut self) -> Option<char> {
        match self.next()? {
            '\\' => single_escape(self.next()?),
            '[' | ']' => None,
            char => Some(char),
        }
    }
}

/// Returns the character of an escape such as `\n` or `\.`.
fn single_escape(char: char) -> Option<char> {
    match char {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^'
        | '$' => Some(char),
        _ => None,
    }
}

fn class_of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|(first, last)| ClassUnicodeRange::new(*first, *last)),
    )
}

/// Returns the characters of a general category.
fn class_of_category(name: &str) -> Option<ClassUnicode> {
    if !CATEGORIES.contains(&name) {
        return None;
    }
    match regex_syntax::parse(&format!("\\p{{{name}}}"))
        .ok()?
        .into_kind()
    {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

/// Removes white space outside of classes.
fn without_space(pattern: &str) -> Vec<char> {
    let mut kept = Vec::new();
    let (mut depth, mut is_escaped) = (0_usize, false);
    for char in pattern.chars() {
        if depth == 0 && matches!(char, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        match char {
            _ if is_escaped => {}
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = char == '\\' && !is_escaped;
        kept.push(char);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(text: &str, pattern: &str, flags: &str) -> Option<bool> {
        Pattern::parse(pattern, flags)?.is_match(text)
    }

    fn replace(text: &str, pattern: &str, replacement: &str, flags: &str) -> Option<String> {
        Pattern::parse(pattern, flags)?.replace(text, replacement)
    }

    #[test]
    fn patterns_have_the_meaning_of_xpath() {
        for (text, pattern, flags, expected) in [
            ("birch", "", "", true),
            ("birch", "^b.*h$", "", true),
            ("birch\n", "h$", "", false),
            ("one\rtwo", "e.t", "", false),
            ("one\ntwo", "e.t", "s", true),
            ("one\ntwo", "^t", "m", true),
            ("one\ntwo", "e$", "m", true),
            ("one\n", "^$", "m", false),
            ("one\n\n", "^$", "m", true),
            ("", "^$", "m", true),
            ("one\ntwo", "^t", "", false),
            ("oak tree", "oak  tree", "", false),
            ("oaktree", "oak \n tree", "x", true),
            ("oak tree", "oak[ ]tree", "x", true),
            ("a#b", "a #b", "x", true),
            ("a.b", "a.b", "q", true),
            ("axb", "a.b", "q", false),
            ("A.B", "a.b", "qi", true),
            ("B", "^[a-z-[aeiou]]$", "i", true),
            ("E", "^[a-z-[aeiou]]$", "i", false),
            ("e", "^[^a-d-[e]]$", "", false),
            ("f", "^[^a-d-[e]]$", "", true),
            ("k", "^[a-z-[f-r-[k]]]$", "", true),
            ("m", "^[a-z-[f-r-[k]]]$", "", false),
            ("-", "^[a-]$", "", true),
            ("-", "^[-a]$", "", true),
            ("-", "^[\\d-]$", "", true),
            ("-", "^[\\w-.]$", "", true),
            ("-", "^[a\\-z]$", "", true),
            ("&", "^[a&&b]$", "", true),
            ("~", "^[a~~b]$", "", true),
            ("^", "^[a^]$", "", true),
            ("q", "^[^Q]$", "i", false),
            ("a", "^\\p{Lu}$", "i", false),
            ("A", "^\\p{Lu}$", "i", true),
            ("a", "^[\\p{Lu}]$", "i", false),
            ("x:y-1.ü", "^\\i\\c*$", "", true),
            ("1x", "^\\i\\c*$", "", false),
            ("1", "^\\I$", "", true),
            (" ", "^\\C$", "", true),
            ("\u{a0}", "^\\s$", "", false),
            ("_", "^\\w$", "", false),
            ("$", "^\\w$", "", true),
            ("٣", "^\\d$", "", true),
            ("é", "^\\p{IsLatin-1Supplement}$", "", true),
            ("é", "^\\P{IsBasicLatin}$", "", true),
            ("λ", "^\\p{IsGreek}\\p{IsGreekandCoptic}?$", "", true),
            ("\u{e000}", "^\\p{IsPrivateUse}$", "", true),
            ("\u{378}", "^\\p{Cn}$", "", true),
            ("λ", "^[\\p{L}-[\\p{IsBasicLatin}]]$", "", true),
            ("abab", "^(a|b)(a|b)\\1\\2$", "", true),
            ("abba", "^(a|b)(a|b)\\1\\2$", "", false),
            ("aA", "^(a)\\1$", "i", true),
            ("aa1", "^(a)\\11$", "", true),
            ("b", "^(a)?b\\1$", "", true),
            ("kk", "^(?:(a)|(k))\\2$", "", true),
            (
                "abcdefghijkk",
                "^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)\\11$",
                "",
                true,
            ),
            ("aaa", "^a{2,3}$", "", true),
            ("aaaa", "^a{2,3}$", "", false),
            ("aaaa", "^a{2,}?$", "", true),
            ("a", "^*a$+", "", true),
            ("STRASSE", "straße", "i", false),
            ("ΣΊΣΥΦΟΣ", "σίσυφος", "i", true),
            ("$[]", "^\\$\\[\\]$", "", true),
            ("\t", "^\\t$", "", true),
            ("", "^[a-[a]]?$", "", true),
            ("a", "[a-[a]]", "", false),
        ] {
            assert_eq!(
                is_match(text, pattern, flags),
                Some(expected),
                "{text:?} {pattern:?} {flags}"
            );
        }
    }

    #[test]
    fn other_syntax_is_an_error() {
        for pattern in [
            "(",
            ")",
            "a)",
            "[",
            "[]",
            "[^]",
            "]",
            "a]",
            "{",
            "a{",
            "a{,2}",
            "a{2,1}",
            "a**",
            "a+*",
            "?",
            "*",
            "a{2}{3}",
            "\\b",
            "\\B",
            "\\A",
            "\\z",
            "\\x41",
            "\\u0041",
            "\\/",
            "\\:",
            "\\e",
            "\\h",
            "\\",
            "[\\b]",
            "(?=a)",
            "(?<n>a)",
            "(?i)a",
            "(?i:a)",
            "(?P<n>a)",
            "\\p{Greek}",
            "\\p{Latin}",
            "\\p{IsNone}",
            "\\p{Cs}",
            "\\pL",
            "\\p{L",
            "\\1",
            "(a\\1)",
            "(a)\\2",
            "\\0",
            "[(a)\\1]",
            "[z-a]",
            "[a-\\d]",
            "[+--]",
            "[[:alpha:]]",
            "[a[b]]",
            "[a-z-[b]c]",
            "[-[a]]",
            "a{1000001}",
            "((a{1000}){1000})",
        ] {
            assert!(is_match("a", pattern, "").is_none(), "{pattern}");
        }
        for flags in ["g", "u", "I", " ", "ii-"] {
            assert!(is_match("a", "a", flags).is_none(), "{flags}");
        }
    }

    #[test]
    fn replacements_have_the_meaning_of_xpath() {
        for (text, pattern, replacement, flags, expected) in [
            ("oak_12", "([a-z]+)_([0-9]+)", "$2x$1_", "", Some("12xoak_")),
            ("oak", "(o)(a)", "$1$2$1", "", Some("oaok")),
            ("oak", "(o)", "$12", "", Some("o2ak")),
            ("oak", "o", "[$0]", "", Some("[o]ak")),
            ("oak", "o", "[$1]", "", Some("[]ak")),
            ("oak", "o", "[$00$01]", "", Some("[o]ak")),
            (
                "abcdefghijkl",
                "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)",
                "$11$10$12",
                "",
                Some("kja2l"),
            ),
            ("oak", "o", "\\$1\\\\", "", Some("$1\\ak")),
            ("oak", "o", "$", "", None),
            ("oak", "o", "$a", "", None),
            ("oak", "o", "${1}", "", None),
            ("oak", "o", "\\o", "", None),
            ("oak", "o", "\\", "", None),
            ("a.b.c", ".", "$0\\", "q", Some("a$0\\b$0\\c")),
            ("oak", "x*", "-", "", None),
            ("oak", "^", "-", "", None),
            ("oak", "", "-", "", None),
            ("oak", "(x)|k", "<$1>", "", Some("oa<>")),
            ("oOoO", "(o)\\1", "z", "i", Some("zz")),
            ("a\nb", "^b", "c", "m", Some("a\nc")),
            ("bbbb", "b+?", "x", "", Some("xxxx")),
            ("äöü", "[^a-z]", "", "", Some("")),
        ] {
            assert_eq!(
                replace(text, pattern, replacement, flags).as_deref(),
                expected,
                "{text:?} {pattern:?} {replacement}"
            );
        }
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let text = "a".repeat(22);
        assert_eq!(is_match(&text, "^(a|a)*\\1b$", ""), None, "too many steps");
        assert_eq!(is_match(&text, "^(a+)+b$", ""), Some(false));
        assert!(Pattern::parse(&"(".repeat(MAX_DEPTH + 1), "").is_none());
        assert!(Pattern::parse(&"[a-[".repeat(MAX_DEPTH + 1), "").is_none());
        assert!(Pattern::parse(&"\\w".repeat(100_000), "").is_none());
        assert!(Pattern::parse(&"\\c".repeat(100_000), "").is_none());
    }
}
