//! CKAN's `q` and `fq`: the part of Solr's query language that portals and their clients use.
//!
//! ```text
//! any    = all { "OR" all }
//! all    = one { ["AND"] one }
//! one    = { "+" | "-" | "NOT" } ( "(" any ")" | [ field ":" ] ( value | "(" any ")" ) )
//! value  = word | "quoted words" | "[" from "TO" to "]" | "{" from "TO" to "}"
//! ```
//!
//! A word may contain `*` and `?`. Words without a field are searched by the engine; a dataset needs at least one of them.

use super::dates::date;
use super::error::QueryError;
use super::package::EXTRAS;
use super::table::{Facet, Row, Table};
use crate::parameters::MAX_QUERY_CHARACTERS;
use rustc_hash::{FxHashMap, FxHashSet};
use std::iter::Peekable;
use std::vec::IntoIter;

/// Maximum number of characters of a query and its filters together.
pub(super) const LONGEST: usize = 4000;
/// Maximum nesting depth of parentheses and signs.
const DEEPEST: usize = 20;
/// Number of characters of a text that words and patterns are compared with.
pub(super) const COMPARED: usize = 1000;

/// A field of a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    Facet(Facet),
    Id,
    Name,
    Title,
    Modified,
    Created,
    Notes,
    Url,
    Version,
    ResourceName,
    ResourceUrl,
    ResourceDescription,
    /// One of [`EXTRAS`].
    Extra(&'static str),
    /// A field of CKAN that no dataset of this portal has.
    Absent,
    /// A field with the same value for all datasets of this portal.
    Fixed(&'static str),
    /// All texts that the engine searches.
    Text,
    /// Every field; useful only with `*`.
    Any,
}

impl Field {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "id" => Self::Id,
            "name" => Self::Name,
            "title" => Self::Title,
            "metadata_modified" => Self::Modified,
            "metadata_created" => Self::Created,
            "state" => Self::Fixed("active"),
            "type" | "dataset_type" => Self::Fixed("dataset"),
            "entity_type" => Self::Fixed("package"),
            "capacity" => Self::Fixed("public"),
            "private" => Self::Fixed("false"),
            "notes" => Self::Notes,
            "url" => Self::Url,
            "version" => Self::Version,
            "res_name" => Self::ResourceName,
            "res_url" => Self::ResourceUrl,
            "res_description" => Self::ResourceDescription,
            "res_type" | "author_email" | "maintainer_email" | "license" => Self::Absent,
            "text" => Self::Text,
            "*" => Self::Any,
            other => match other.strip_prefix("extras_") {
                Some(key) => EXTRAS.into_iter().find(|known| *known == key).map_or(Self::Absent, Self::Extra),
                None if other.starts_with("vocab_") => Self::Absent,
                None => Self::Facet(Facet::of_name(other)?),
            },
        })
    }

    fn is_date(self) -> bool {
        matches!(self, Self::Modified | Self::Created)
    }
}

/// A boolean expression over datasets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Clause {
    All(Vec<Clause>),
    Any(Vec<Clause>),
    Not(Box<Clause>),
    Is(Field, Value),
    /// At least one of these words, found by the engine.
    Words(String),
}

/// The value of a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Exactly(String),
    /// A pattern with `*` and `?`.
    Like(String),
    Range {
        from: Option<String>,
        to: Option<String>,
        inclusive: [bool; 2],
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Plus,
    Field(String),
    Word(String),
    Quoted(String),
    Range { from: String, to: String, inclusive: [bool; 2] },
}

/// Treatment of unknown field names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnknownField {
    /// As words: a query may be any text.
    Words,
    Refused,
}

impl Clause {
    /// Parses a filter.
    pub(super) fn filter(text: &str) -> Result<Self, QueryError> {
        parse(text, UnknownField::Refused)
    }

    /// Parses a query. Parentheses, signs and operators are syntax only if a field is named, or if `NOT` occurs: `water AND NOT
    /// river`. A syntax error then makes the text words, because a query may be any text.
    pub(super) fn query(text: &str) -> Result<Self, QueryError> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All(Vec::new()));
        }
        if text.chars().count() > MAX_QUERY_CHARACTERS {
            return Err(QueryError::Long(MAX_QUERY_CHARACTERS));
        }
        let words = Self::Words(text.to_owned());
        match text.split_whitespace().any(|word| word == "NOT") {
            _ if names_field(text) => parse(text, UnknownField::Words),
            true => Ok(parse(text, UnknownField::Words).unwrap_or(words)),
            false => Ok(words),
        }
    }

    /// Returns the number of values and groups of words, without complete ids and names: clients send long lists of them.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::All(clauses) | Self::Any(clauses) => clauses.iter().map(Self::count).sum(),
            Self::Not(clause) => clause.count(),
            Self::Is(Field::Id | Field::Name, Value::Exactly(_)) => 0,
            Self::Is(..) | Self::Words(_) => 1,
        }
    }

    /// Returns the words for ranking: all that are not negated.
    pub(super) fn ranking_words(&self) -> String {
        let mut words = Vec::new();
        self.visit(
            &mut |text, wanted| {
                if wanted {
                    words.push(text.to_owned())
                }
            },
            true,
        );
        words.join(" ")
    }

    /// Returns every group of words.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        self.visit(&mut |text, _| texts.push(text.to_owned()), true);
        texts
    }

    fn visit(&self, see: &mut impl FnMut(&str, bool), wanted: bool) {
        match self {
            Self::All(clauses) | Self::Any(clauses) => clauses.iter().for_each(|clause| clause.visit(see, wanted)),
            Self::Not(clause) => clause.visit(see, !wanted),
            Self::Words(text) => see(text, wanted),
            Self::Is(..) => {}
        }
    }

    /// If true, a dataset matches. `found` contains the places of the datasets with each group of words.
    pub(super) fn holds(&self, table: &Table, place: u32, found: &FxHashMap<String, FxHashSet<u32>>) -> bool {
        match self {
            Self::All(clauses) => clauses.iter().all(|clause| clause.holds(table, place, found)),
            Self::Any(clauses) => clauses.iter().any(|clause| clause.holds(table, place, found)),
            Self::Not(clause) => !clause.holds(table, place, found),
            Self::Words(text) => found.get(text).is_some_and(|places| places.contains(&place)),
            Self::Is(field, value) => value.holds(*field, table, &table.rows[place as usize]),
        }
    }
}

impl Value {
    fn holds(&self, field: Field, table: &Table, row: &Row) -> bool {
        match field {
            Field::Facet(facet) => {
                let values = &table.values(facet).all;
                let mut names = row.values(facet).iter().map(|place| values[*place as usize].name.as_str());
                if facet.is_text() {
                    names.any(|name| self.in_text(name))
                } else {
                    names.any(|name| self.matches(name))
                }
            }
            Field::Id => self.matches(row.id.as_str()),
            Field::Name => self.matches(&row.name),
            Field::Title => self.in_text(&row.folded),
            Field::Modified => row.modified.as_deref().is_some_and(|date| self.matches(date)),
            Field::Created => row.created.as_deref().is_some_and(|date| self.matches(date)),
            Field::Notes => self.in_text(&row.notes),
            Field::Url => row.url.as_deref().is_some_and(|url| self.matches(url)),
            Field::Version => row.version.as_deref().is_some_and(|version| self.matches(version)),
            Field::ResourceName => row.resources.iter().any(|resource| self.in_text(&resource.name)),
            Field::ResourceUrl => row.resources.iter().any(|resource| self.matches(&resource.url)),
            Field::ResourceDescription => row.resources.iter().any(|resource| self.in_text(&resource.description)),
            Field::Extra(key) => row.extras.iter().any(|(known, value)| *known == key && self.in_text(value)),
            Field::Absent => false,
            Field::Fixed(value) => self.matches(value),
            Field::Text | Field::Any => true,
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exactly(value) => value == text,
            Self::Like(pattern) => like(&pattern.chars().collect::<Vec<_>>(), text),
            Self::Range { from, to, inclusive } => {
                let above = |from: &String| from.as_str() < text || inclusive[0] && from == text;
                let below = |to: &String| text < to.as_str() || inclusive[1] && to == text;
                from.as_ref().is_none_or(above) && to.as_ref().is_none_or(below)
            }
        }
    }

    /// If true, the words of the value are consecutive words of the text.
    fn in_text(&self, text: &str) -> bool {
        let compared = text.chars().take(COMPARED).collect::<String>().to_lowercase();
        let held = words(&compared);
        match self {
            Self::Exactly(value) => {
                let value = value.to_lowercase();
                let sought = words(&value);
                !sought.is_empty() && held.windows(sought.len()).any(|run| run == sought)
            }
            Self::Like(pattern) => {
                let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
                held.iter().any(|word| like(&pattern, word))
            }
            Self::Range { .. } => self.matches(text),
        }
    }
}

/// Splits a text into words. Those of patterns may contain `*` and `?`.
fn words(text: &str) -> Vec<&str> {
    let parted = text.split(|c: char| !c.is_alphanumeric() && c != '*' && c != '?');
    parted.filter(|word| !word.is_empty()).collect()
}

/// If true, the first [`COMPARED`] characters of a text match a pattern with `*` and `?`. Backtracks only to the last `*`, so
/// the time is bounded.
fn like(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().take(COMPARED).collect();
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(&sought) if sought == '?' || sought == text[place] => (at, place) = (at + 1, place + 1),
            _ => match &mut star {
                Some((after, from)) => {
                    *from += 1;
                    (at, place) = (*after + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

fn names_field(text: &str) -> bool {
    let starts = text.split(|c: char| c.is_whitespace() || c == '(').map(|word| word.trim_start_matches(['+', '-']));
    starts.filter_map(|word| word.split_once(':')).any(|(name, _)| Field::of_name(name).is_some())
}

fn parse(text: &str, unknown: UnknownField) -> Result<Clause, QueryError> {
    if text.chars().count() > LONGEST {
        return Err(QueryError::Long(LONGEST));
    }
    let mut parser = Parser { tokens: tokens(text, unknown)?.into_iter().peekable(), depth: 0 };
    if parser.tokens.peek().is_none() {
        return Ok(Clause::All(Vec::new()));
    }
    let clause = parser.any(None)?;
    match parser.tokens.next() {
        None => Ok(clause),
        Some(token) => Err(token.unexpected()),
    }
}

impl Token {
    fn unexpected(self) -> QueryError {
        QueryError::Unexpected(match self {
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::And => "AND".to_owned(),
            Self::Or => "OR".to_owned(),
            Self::Not => "NOT".to_owned(),
            Self::Plus => "+".to_owned(),
            Self::Field(name) => format!("{name}:"),
            Self::Word(text) | Self::Quoted(text) => text,
            Self::Range { from, to, .. } => format!("[{from} TO {to}]"),
        })
    }
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    depth: usize,
}

impl Parser {
    fn any(&mut self, field: Option<Field>) -> Result<Clause, QueryError> {
        let mut clauses = vec![self.all(field)?];
        while self.tokens.next_if_eq(&Token::Or).is_some() {
            clauses.push(self.all(field)?);
        }
        Ok(alone(clauses, Clause::Any))
    }

    fn all(&mut self, field: Option<Field>) -> Result<Clause, QueryError> {
        let mut clauses = vec![self.one(field)?];
        loop {
            let joined = self.tokens.next_if_eq(&Token::And).is_some();
            if !joined && matches!(self.tokens.peek(), None | Some(Token::Or | Token::Close)) {
                return Ok(alone(clauses, Clause::All));
            }
            let next = self.one(field)?;
            match (clauses.last_mut(), next) {
                // Adjacent words form one group.
                (Some(Clause::Words(words)), Clause::Words(more)) if !joined => *words = format!("{words} {more}"),
                (_, next) => clauses.push(next),
            }
        }
    }

    fn one(&mut self, field: Option<Field>) -> Result<Clause, QueryError> {
        match self.tokens.next().ok_or(QueryError::End)? {
            Token::Plus => self.deeper(|parser| parser.one(field)),
            Token::Not => self.deeper(|parser| Ok(Clause::Not(Box::new(parser.one(field)?)))),
            Token::Open => self.deeper(|parser| {
                let clause = parser.any(field)?;
                parser.tokens.next_if_eq(&Token::Close).map(|_| clause).ok_or(QueryError::Open(')'))
            }),
            Token::Field(name) if field.is_none() => {
                let field = Field::of_name(&name).ok_or(QueryError::Field(name))?;
                self.deeper(|parser| parser.one(Some(field)))
            }
            Token::Word(text) if text.contains(['*', '?']) => leaf(field, text, Value::Like),
            Token::Word(text) | Token::Quoted(text) => leaf(field, text, Value::Exactly),
            Token::Range { from, to, inclusive } => range(field, &from, &to, inclusive),
            token => Err(token.unexpected()),
        }
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Result<Clause, QueryError>) -> Result<Clause, QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(QueryError::Deep(DEEPEST));
        }
        let clause = parse(self)?;
        self.depth -= 1;
        Ok(clause)
    }
}

fn alone(mut clauses: Vec<Clause>, join: impl FnOnce(Vec<Clause>) -> Clause) -> Clause {
    match clauses.pop() {
        Some(only) if clauses.is_empty() => only,
        last => join(clauses.into_iter().chain(last).collect()),
    }
}

fn leaf(field: Option<Field>, text: String, value: impl FnOnce(String) -> Value) -> Result<Clause, QueryError> {
    match field {
        None | Some(Field::Text | Field::Any) if text.chars().all(|c| c == '*') => Ok(Clause::All(Vec::new())),
        None | Some(Field::Text | Field::Any) => Ok(Clause::Words(text)),
        Some(field) if field.is_date() && !text.contains('*') => {
            Ok(Clause::Is(field, Value::Exactly(date(&text).ok_or(QueryError::Date(text))?)))
        }
        Some(field) => Ok(Clause::Is(field, value(text))),
    }
}

fn range(field: Option<Field>, from: &str, to: &str, inclusive: [bool; 2]) -> Result<Clause, QueryError> {
    let field = field.filter(|field| *field != Field::Text).ok_or(QueryError::Range)?;
    let bound = |text: &str| match text {
        "*" => Ok(None),
        text if field.is_date() => date(text).map(Some).ok_or_else(|| QueryError::Date(text.to_owned())),
        text => Ok(Some(text.to_owned())),
    };
    Ok(Clause::Is(field, Value::Range { from: bound(from)?, to: bound(to)?, inclusive }))
}

/// If true, a character ends a word.
fn ends(character: char) -> bool {
    character.is_whitespace() || "()\"[]{}".contains(character)
}

fn tokens(text: &str, unknown: UnknownField) -> Result<Vec<Token>, QueryError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        let (token, next) = match first {
            '(' => (Token::Open, behind),
            ')' => (Token::Close, behind),
            '+' => (Token::Plus, behind),
            '-' | '!' => (Token::Not, behind),
            '"' => quoted(behind)?,
            '[' | '{' => ranged(first, behind)?,
            ']' | '}' => return Err(QueryError::Unexpected(first.to_string())),
            _ => worded(rest, unknown),
        };
        tokens.push(token);
        rest = next.trim_start();
    }
    Ok(tokens)
}

fn quoted(text: &str) -> Result<(Token, &str), QueryError> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Ok((Token::Quoted(value), &text[place + 1..])),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    Err(QueryError::Open('"'))
}

fn ranged(first: char, text: &str) -> Result<(Token, &str), QueryError> {
    let end = text.find([']', '}']).ok_or(QueryError::Open(if first == '[' { ']' } else { '}' }))?;
    let (from, to) = text[..end].split_once(" TO ").ok_or(QueryError::Range)?;
    let bound = |text: &str| text.trim().trim_matches('"').to_owned();
    let (from, to, inclusive) = (bound(from), bound(to), [first == '[', text[end..].starts_with(']')]);
    if from.is_empty() || to.is_empty() {
        return Err(QueryError::Range);
    }
    Ok((Token::Range { from, to, inclusive }, &text[end + 1..]))
}

/// Parses a word, an operator, or a field name with its colon.
fn worded(text: &str, unknown: UnknownField) -> (Token, &str) {
    let (mut word, mut characters) = (String::new(), text.char_indices());
    while let Some((place, character)) = characters.next() {
        match character {
            '\\' => word.extend(characters.next().map(|(_, escaped)| escaped)),
            ':' if is_field(&word, unknown) => return (Token::Field(word), &text[place + 1..]),
            other if ends(other) => return (operator(word), &text[place..]),
            other => word.push(other),
        }
    }
    (operator(word), "")
}

fn is_field(word: &str, unknown: UnknownField) -> bool {
    let name = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '*');
    Field::of_name(word).is_some() || name && unknown == UnknownField::Refused
}

fn operator(word: String) -> Token {
    match word.as_str() {
        "AND" | "&&" => Token::And,
        "OR" | "||" => Token::Or,
        "NOT" => Token::Not,
        _ => Token::Word(word),
    }
}

/// Sort order, the most significant key first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sort {
    pub(super) by: SortField,
    pub(super) descending: bool,
}

/// Sort key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SortField {
    Score,
    Modified,
    Created,
    Title,
    Name,
    Id,
}

impl Sort {
    /// Parses CKAN's `sort`. A repeated key has no effect.
    pub(super) fn read(text: &str) -> Result<Vec<Self>, QueryError> {
        let mut keys: Vec<Self> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let key = Self::one(part)?;
            if keys.iter().all(|earlier| earlier.by != key.by) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    fn one(part: &str) -> Result<Self, QueryError> {
        let invalid = || QueryError::Sort(part.to_owned());
        let mut words = part.split_whitespace();
        let by = match words.next().ok_or_else(invalid)? {
            "score" | "relevance" => SortField::Score,
            "metadata_modified" => SortField::Modified,
            "metadata_created" => SortField::Created,
            "title" | "title_string" => SortField::Title,
            "name" => SortField::Name,
            "id" => SortField::Id,
            _ => return Err(invalid()),
        };
        let descending = match words.next().map(str::to_ascii_lowercase).as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => return Err(invalid()),
        };
        if words.next().is_some() { Err(invalid()) } else { Ok(Self { by, descending }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_patterns_are_compared_with_the_beginning_of_a_text() {
        let exactly = |words: &str| Value::Exactly(words.to_owned());
        assert!(exactly("ÉCOLE b").in_text("École-B (c)") && !exactly("école c").in_text("École-B (c)"));
        let long = "a ".repeat(4_000_000) + "end";
        for _ in 0..50 {
            assert!(exactly("a a").in_text(&long) && !exactly("end").in_text(&long));
        }
        let pattern = Value::Like(format!("*{}b", "a".repeat(2000)));
        assert!(!pattern.matches(&"a".repeat(4_000_000)));
        assert!(Value::Like("E?h*".to_owned()).in_text("my echo") && !Value::Like("e?".to_owned()).in_text("my echo"));
    }
}
