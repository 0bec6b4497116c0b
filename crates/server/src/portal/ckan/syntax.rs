//! Syntax of CKAN's `q` and `fq`: the query language of Solr's standard parser, with `AND` as its default operator.
//! <https://solr.apache.org/guide/solr/latest/query-guide/standard-query-parser.html>
//!
//! ```text
//! query  = clause { [ "AND" | "&&" | "OR" | "||" ] clause }
//! clause = [ "+" | "-" | "!" | "NOT" ] [ field ":" ] ( "(" query ")" | term ) [ "^" number ]
//! term   = word [ "~" [number] ] | "quoted words" [ "~" number ] | ( "[" | "{" ) from "TO" to ( "]" | "}" )
//! ```
//!
//! `AND` makes both its neighbours mandatory, `OR` both optional; an operator therefore does not bind stronger than another,
//! but overrides those before it, as in Solr: `a OR b AND c` requires `b` and `c`. A group without a mandatory clause requires
//! one of its optional ones. A group of prohibited clauses alone matches nothing unless it is the whole query.

use super::error::QueryError;
use super::pattern::Pattern;

/// Maximum number of characters of a query and its filters together.
pub(super) const MAX_CHARACTERS: usize = 4000;
/// Maximum nesting depth of parentheses.
const MAX_DEPTH: usize = 20;
/// Default number of edits of `word~`, which is also the maximum.
const MAX_EDITS: u8 = 2;
/// Fields of Solr whose values are queries or functions.
const NESTED_QUERIES: [&str; 2] = ["_query_", "_val_"];

/// Role of a clause in its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Occur {
    Mandatory,
    Optional,
    Prohibited,
}

/// A parsed query.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Node {
    /// Clauses with their roles. An empty group is a query without clauses.
    Group(Vec<(Occur, Node)>),
    Term(Option<String>, Term),
    Boosted(Box<Node>, f64),
}

/// A term of a query.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Term {
    Word(String),
    Phrase(String),
    /// Words with at most so many positions between them, in any order.
    Near(String, usize),
    Like(Pattern),
    /// A word with its maximum number of edits.
    Similar(String, u8),
    Range {
        from: Option<String>,
        to: Option<String>,
        inclusive: [bool; 2],
    },
}

/// Treatment of a field name that is unknown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Colon {
    /// A name before a colon is a field, known or not.
    Field,
    /// Only known names are fields: a query may be any text.
    KnownField(fn(&str) -> bool),
}

/// Operator between adjacent clauses without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum DefaultOperator {
    #[default]
    And,
    Or,
}

/// Parses a query.
pub(super) fn parse(
    text: &str,
    colon: Colon,
    operator: DefaultOperator,
) -> Result<Node, QueryError> {
    if text.chars().count() > MAX_CHARACTERS {
        return Err(QueryError::Long(MAX_CHARACTERS));
    }
    let mut parser = Parser {
        rest: text.trim_start(),
        colon,
        operator,
        depth: 0,
    };
    // Local parameters change the parser for the rest of the text, so it cannot be parsed as this syntax.
    if parser.rest.starts_with("{!") {
        return Err(QueryError::Unsupported(
            "local parameters",
            beginning_until(parser.rest, '}'),
        ));
    }
    let node = parser.parse_query()?;
    match parser.rest.chars().next() {
        None => Ok(node),
        Some(character) => Err(QueryError::Unexpected(character.to_string())),
    }
}

/// Returns the beginning of a text up to a character, to name a construct in an error.
fn beginning_until(text: &str, end: char) -> String {
    let last = text
        .char_indices()
        .skip(1)
        .find(|(_, character)| *character == end);
    let end = match last {
        Some((place, character)) => place + character.len_utf8(),
        None => text.len(),
    };
    text[..end].chars().take(60).collect()
}

struct Parser<'t> {
    /// Text to be parsed, without spaces at its beginning.
    rest: &'t str,
    colon: Colon,
    operator: DefaultOperator,
    depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Conjunction {
    None,
    And,
    Or,
}

impl<'t> Parser<'t> {
    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    /// Skips an operator that stands alone.
    fn skip_operator(&mut self, operator: &str) -> bool {
        let Some(after) = self.rest.strip_prefix(operator) else {
            return false;
        };
        let is_alone =
            // `ANDROID` is a word, but `&&` needs no space after it.
            !operator.ends_with(char::is_alphabetic) || after.chars().next().is_none_or(ends_word);
        if is_alone {
            self.advance(operator.len());
        }
        is_alone
    }

    fn parse_conjunction(&mut self) -> Conjunction {
        if self.skip_operator("AND") || self.skip_operator("&&") {
            Conjunction::And
        } else if self.skip_operator("OR") || self.skip_operator("||") {
            Conjunction::Or
        } else {
            Conjunction::None
        }
    }

    fn parse_modifier(&mut self) -> Option<Occur> {
        let first = self.rest.chars().next()?;
        match first {
            '+' => self.advance(1),
            '-' | '!' => self.advance(1),
            _ if self.skip_operator("NOT") => return Some(Occur::Prohibited),
            _ => return None,
        }
        Some(if first == '+' {
            Occur::Mandatory
        } else {
            Occur::Prohibited
        })
    }

    /// Parses clauses up to a closing parenthesis or the end.
    fn parse_query(&mut self) -> Result<Node, QueryError> {
        let mut clauses: Vec<(Occur, Node)> = Vec::new();
        let mut is_plain = false;
        while !self.rest.is_empty() && !self.rest.starts_with(')') {
            let conjunction = self.parse_conjunction();
            if conjunction != Conjunction::None && clauses.is_empty() {
                return Err(QueryError::Unexpected(
                    if conjunction == Conjunction::And {
                        "AND"
                    } else {
                        "OR"
                    }
                    .to_owned(),
                ));
            }
            let modifier = self.parse_modifier();
            let clause = self.parse_clause()?;
            self.demote_or_require_previous(&mut clauses, conjunction);
            let by_default = match (self.operator, conjunction) {
                (_, Conjunction::And) | (DefaultOperator::And, Conjunction::None) => {
                    Occur::Mandatory
                }
                (_, Conjunction::Or) | (DefaultOperator::Or, Conjunction::None) => Occur::Optional,
            };
            // With AND as the default operator, a plus after OR has no effect, as in Solr.
            let occur = match modifier {
                Some(Occur::Mandatory) if self.operator == DefaultOperator::And => by_default,
                Some(occur) => occur,
                None => by_default,
            };
            is_plain = clauses.is_empty() && modifier.is_none();
            clauses.push((occur, clause));
        }
        match clauses.pop() {
            // A group of one clause without a sign is the clause itself; a sign needs its group, or it would be lost.
            Some((_, only)) if clauses.is_empty() && is_plain => Ok(only),
            last => {
                clauses.extend(last);
                Ok(Node::Group(clauses))
            }
        }
    }

    fn demote_or_require_previous(&self, clauses: &mut [(Occur, Node)], conjunction: Conjunction) {
        let Some((occur, _)) = clauses
            .last_mut()
            // An operator changes no prohibition before it: `NOT a AND b`.
            .filter(|(occur, _)| *occur != Occur::Prohibited)
        else {
            return;
        };
        match conjunction {
            Conjunction::And => *occur = Occur::Mandatory,
            Conjunction::Or if self.operator == DefaultOperator::And => *occur = Occur::Optional,
            _ => {}
        }
    }

    fn parse_clause(&mut self) -> Result<Node, QueryError> {
        let field = self.parse_field()?;
        let node = match self.rest.chars().next() {
            None => return Err(QueryError::End),
            Some('(') => {
                let group = self.parse_group()?;
                if let Some(field) = &field {
                    with_field(group, field)
                } else {
                    group
                }
            }
            Some(first) => {
                let term = self.parse_term(first)?;
                Node::Term(field, term)
            }
        };
        match self.parse_boost()? {
            Some(boost) => Ok(Node::Boosted(Box::new(node), boost)),
            None => Ok(node),
        }
    }

    fn parse_group(&mut self) -> Result<Node, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(QueryError::Deep(MAX_DEPTH));
        }
        self.advance(1);
        let node = self.parse_query()?;
        if !self.rest.starts_with(')') {
            return Err(QueryError::Open(')'));
        }
        self.advance(1);
        self.depth -= 1;
        Ok(node)
    }

    /// Parses a field name with its colon.
    fn parse_field(&mut self) -> Result<Option<String>, QueryError> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"_*.-".contains(c));
        let (name, after) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let name_length = name.len();
        let is_name = !name.is_empty()
            && !name.starts_with(['-', '.'])
            && (name == "*" || !name.contains('*'));
        if !is_name || !after.starts_with(':') {
            return Ok(None);
        }
        if NESTED_QUERIES.contains(&name) {
            return Err(QueryError::Unsupported(
                "nested queries and functions",
                format!("{name}:"),
            ));
        }
        let is_field = match self.colon {
            // A time is no field: 2020-01-01T00:00:00Z.
            Colon::Field => !name.starts_with(|c: char| c.is_ascii_digit()),
            Colon::KnownField(is_known) => is_known(name),
        };
        if !is_field {
            return Ok(None);
        }
        let name = name.to_owned();
        self.advance(name_length + 1);
        Ok(Some(name))
    }

    fn parse_term(&mut self, first: char) -> Result<Term, QueryError> {
        match first {
            '"' => self.parse_phrase(),
            '[' | '{' => self.parse_range(first),
            // In a text that may be words, a slash without a second one begins no regular expression.
            '/' if matches!(self.colon, Colon::Field) || self.rest[1..].contains('/') => Err(
                QueryError::Unsupported("regular expressions", beginning_until(self.rest, '/')),
            ),
            ')' | ']' | '}' | '^' | '~' | ':' | '+' | '-' | '!' => {
                Err(QueryError::Unexpected(first.to_string()))
            }
            _ => self.parse_word(),
        }
    }

    fn parse_phrase(&mut self) -> Result<Term, QueryError> {
        let (text, length) = parse_quotation(self.rest)?;
        self.advance(length);
        if !self.rest.starts_with('~') {
            return Ok(Term::Phrase(text));
        }
        self.advance(1);
        let slop = self
            .parse_number()?
            .ok_or_else(|| QueryError::Unexpected("~".to_owned()))?;
        Ok(Term::Near(text, slop as usize))
    }

    fn parse_word(&mut self) -> Result<Term, QueryError> {
        let mut pattern = Pattern::default();
        let mut end = self.rest.len();
        let mut characters = self.rest.char_indices().peekable();
        while let Some((place, character)) = characters.next() {
            match character {
                '\\' => {
                    let (escaped, length) = unescape(&self.rest[place..])?;
                    pattern.push(escaped);
                    // The iterator is one character after the backslash; the rest of the escape is consumed here.
                    while characters
                        .next_if(|(next, _)| *next < place + length)
                        .is_some()
                    {}
                }
                '*' => pattern.push_any(),
                '?' => pattern.push_one(),
                ':' if self.is_field_before(place) => {
                    return Err(QueryError::Unexpected(format!("{}:", &self.rest[..place])));
                }
                '~' | '^' | '|' | '&' if place > 0 && ends_before(&self.rest[place..]) => {
                    end = place;
                    break;
                }
                _ if ends_word(character) => {
                    end = place;
                    break;
                }
                _ => pattern.push(character),
            }
        }
        let text = &self.rest[..end];
        if matches!(text, "AND" | "OR" | "NOT" | "&&" | "||") || pattern.is_empty() {
            return Err(match text.is_empty() {
                true => QueryError::Unexpected(self.rest.chars().take(1).collect()),
                false => QueryError::Unexpected(text.to_owned()),
            });
        }
        self.rest = &self.rest[end..];
        let term = self.parse_similar(pattern)?;
        self.rest = self.rest.trim_start();
        Ok(term)
    }

    /// Parses the edits after a word.
    fn parse_similar(&mut self, pattern: Pattern) -> Result<Term, QueryError> {
        let Some(after) = self.rest.strip_prefix('~') else {
            return Ok(match pattern.literal() {
                Some(text) => Term::Word(text),
                None => Term::Like(pattern),
            });
        };
        let text = pattern
            .literal()
            .ok_or_else(|| QueryError::Unexpected("~ after a pattern".to_owned()))?;
        self.rest = after;
        let edits = match self.parse_adjacent_number()? {
            None => f64::from(MAX_EDITS),
            // Fractions are similarities of older versions of Solr.
            Some(similarity) if similarity > 0.0 && similarity < 1.0 => {
                ((1.0 - similarity) * text.chars().count() as f64).floor()
            }
            Some(edits) => edits,
        };
        Ok(Term::Similar(text, edits.min(f64::from(MAX_EDITS)) as u8))
    }

    /// Parses `^number` or `^=number`. Spaces may precede the number.
    fn parse_boost(&mut self) -> Result<Option<f64>, QueryError> {
        if !self.rest.starts_with('^') {
            return Ok(None);
        }
        self.advance(1);
        if self.rest.starts_with('=') {
            self.advance(1);
        }
        self.parse_number()?
            .map(Some)
            .ok_or_else(|| QueryError::Unexpected("^".to_owned()))
    }

    fn parse_number(&mut self) -> Result<Option<f64>, QueryError> {
        let number = self.parse_adjacent_number()?;
        self.rest = self.rest.trim_start();
        Ok(number)
    }

    fn parse_adjacent_number(&mut self) -> Result<Option<f64>, QueryError> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(self.rest.len());
        let (text, after) = self.rest.split_at(end);
        if text.is_empty() {
            return Ok(None);
        }
        self.rest = after;
        text.parse()
            .map(Some)
            .map_err(|_| QueryError::Unexpected(text.to_owned()))
    }

    /// If true, the word before a colon would be a field: `a:b:c`. An address is none.
    fn is_field_before(&self, colon: usize) -> bool {
        let (name, after) = self.rest.split_at(colon);
        if after.starts_with("://") {
            return false;
        }
        match self.colon {
            Colon::Field => {
                name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !name.starts_with(|c: char| c.is_ascii_digit())
            }
            Colon::KnownField(is_known) => is_known(name),
        }
    }

    fn parse_range(&mut self, first: char) -> Result<Term, QueryError> {
        if self.rest.starts_with("{!") {
            return Err(QueryError::Unsupported(
                "local parameters",
                beginning_until(self.rest, '}'),
            ));
        }
        self.advance(1);
        let from = self.parse_bound(first)?;
        if !self.skip_operator("TO") {
            return Err(QueryError::Range);
        }
        let to = self.parse_bound(first)?;
        let is_closed = match self.rest.chars().next() {
            Some(']') => true,
            Some('}') => false,
            None => return Err(QueryError::Open(if first == '[' { ']' } else { '}' })),
            Some(_) => return Err(QueryError::Range),
        };
        self.advance(1);
        Ok(Term::Range {
            from,
            to,
            inclusive: [first == '[', is_closed],
        })
    }

    /// Parses a bound of a range; `None` for `*`.
    fn parse_bound(&mut self, first: char) -> Result<Option<String>, QueryError> {
        if self.rest.starts_with('"') {
            let (text, length) = parse_quotation(self.rest)?;
            self.advance(length);
            return Ok(Some(text));
        }
        let end = self
            .rest
            .find(|c: char| c.is_whitespace() || c == ']' || c == '}')
            .ok_or(QueryError::Open(if first == '[' { ']' } else { '}' }))?;
        let mut text = String::new();
        let mut place = 0;
        while place < end {
            let Some(character) = self.rest[place..].chars().next() else {
                break;
            };
            let (character, length) = match character {
                '\\' => unescape(&self.rest[place..])?,
                other => (other, other.len_utf8()),
            };
            text.push(character);
            place += length;
        }
        if end == 0 {
            return Err(QueryError::Range);
        }
        self.advance(place);
        Ok(Some(text).filter(|text| text != "*"))
    }
}

/// Applies a field to the terms of a group that have none.
fn with_field(node: Node, field: &str) -> Node {
    match node {
        Node::Group(clauses) => Node::Group(
            clauses
                .into_iter()
                .map(|(occur, clause)| (occur, with_field(clause, field)))
                .collect(),
        ),
        Node::Boosted(node, boost) => Node::Boosted(Box::new(with_field(*node, field)), boost),
        Node::Term(None, term) => Node::Term(Some(field.to_owned()), term),
        // A field inside the parentheses is closer than that of the group.
        named @ Node::Term(Some(_), _) => named,
    }
}

/// If true, a text begins with an operator that follows a word without a space.
fn ends_before(text: &str) -> bool {
    text.starts_with(['~', '^']) || text.starts_with("||") || text.starts_with("&&")
}

/// If true, a character ends a word.
fn ends_word(character: char) -> bool {
    character.is_whitespace() || "()\"[]{}".contains(character)
}

/// Returns a text in quotation marks at the beginning of another, and its length with them.
fn parse_quotation(text: &str) -> Result<(String, usize), QueryError> {
    let mut value = String::new();
    let mut place = 1;
    while let Some(character) = text[place..].chars().next() {
        let (character, length) = match character {
            '"' => return Ok((value, place + 1)),
            '\\' => unescape(&text[place..])?,
            other => (other, other.len_utf8()),
        };
        value.push(character);
        place += length;
    }
    Err(QueryError::Open('"'))
}

/// Returns the character of an escape, `\:` or `\u00e9`, at the beginning of a text, and the length of the escape.
fn unescape(text: &str) -> Result<(char, usize), QueryError> {
    let escaped = text[1..].chars().next().ok_or(QueryError::End)?;
    if escaped == 'u'
        && let Some(code) = text
            .get(2..6)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        && let Some(character) = char::from_u32(code)
    {
        return Ok((character, 6));
    }
    Ok((escaped, 1 + escaped.len_utf8()))
}
