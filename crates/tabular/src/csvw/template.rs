//! URI templates (RFC 6570) as far as CSV on the Web uses them: simple, reserved and fragment expansion, lists of variables.

use lodeseek_rdf::percent_encode;

/// Part of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Text(String),
    Expression {
        operator: Operator,
        names: Vec<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    /// `{name}`: reserved characters are encoded.
    Simple,
    /// `{+name}`: reserved characters stay.
    Reserved,
    /// `{#name}`: as reserved, after `#`.
    Fragment,
    /// `{/name}` and others: the separator precedes each value.
    Prefixed(char),
}

/// URI template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Template {
    parts: Vec<Part>,
}

impl Template {
    /// Parses a template. Unbalanced braces are text.
    pub(super) fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let Some(length) = rest[start..].find('}') else {
                break;
            };
            if start > 0 {
                parts.push(Part::Text(rest[..start].to_owned()));
            }
            parts.push(parse_expression(&rest[start + 1..start + length]));
            rest = &rest[start + length + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Self { parts }
    }

    /// Expands the template. `value` returns the text of a variable, or `None` if it is undefined.
    pub(super) fn expand(&self, value: &dyn Fn(&str) -> Option<String>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Expression { operator, names } => {
                    expand_expression(*operator, names, value, &mut out);
                }
            }
        }
        out
    }
}

fn parse_expression(text: &str) -> Part {
    let (operator, names) = match text.chars().next() {
        Some('+') => (Operator::Reserved, &text[1..]),
        Some('#') => (Operator::Fragment, &text[1..]),
        Some(separator @ ('/' | '.' | ';')) => (Operator::Prefixed(separator), &text[1..]),
        _ => (Operator::Simple, text),
    };
    Part::Expression {
        operator,
        names: names
            .split(',')
            .map(|name| name.trim_end_matches('*').to_owned())
            .collect(),
    }
}

fn expand_expression(
    operator: Operator,
    names: &[String],
    value: &dyn Fn(&str) -> Option<String>,
    out: &mut String,
) {
    let mut is_first = true;
    for name in names {
        let Some(text) = value(name) else {
            continue;
        };
        match (operator, is_first) {
            (Operator::Fragment, true) => out.push('#'),
            (Operator::Prefixed(separator), _) => out.push(separator),
            (_, true) => (),
            (_, false) => out.push(','),
        }
        is_first = false;
        let keeps_reserved = matches!(operator, Operator::Reserved | Operator::Fragment);
        for character in text.chars() {
            let is_kept = match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' | '~' => true,
                ':' | '/' | '?' | '#' | '[' | ']' | '@' | '!' | '$' | '&' | '\'' | '(' | ')'
                | '*' | '+' | ',' | ';' | '=' | '%' => keeps_reserved,
                _ => false,
            };
            if is_kept {
                out.push(character);
            } else {
                percent_encode(character, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        let value = |name: &str| match name {
            "a" => Some("x y/é".to_owned()),
            "b" => Some("2".to_owned()),
            _ => None,
        };
        let cases = [
            ("http://e.org/{a}", "http://e.org/x%20y%2F%C3%A9"),
            ("http://e.org/{+a}", "http://e.org/x%20y/%C3%A9"),
            ("{#a}", "#x%20y/%C3%A9"),
            ("{a,b,c}-{c}", "x%20y%2F%C3%A9,2-"),
            ("{/b}", "/2"),
            ("open {b", "open {b"),
        ];
        for (template, expected) in cases {
            assert_eq!(
                Template::parse(template).expand(&value),
                expected,
                "{template}"
            );
        }
    }
}
