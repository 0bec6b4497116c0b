//! Parsers of option values whose errors state what is expected.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// Parses a number of at least 1.
pub fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// Parses a year.
pub fn parse_year(text: &str) -> Result<i32, String> {
    let year = text.parse().ok().filter(|year| (0..=9999).contains(year));
    year.ok_or_else(|| "expected a year from 0 to 9999, for example 2018".to_owned())
}

/// Parses a list of values that are separated by commas or white space.
pub fn parse_list<T: FromStr<Err: Display>>(text: &str) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    for value in text.replace(',', " ").split_whitespace() {
        let value = value
            .parse()
            .map_err(|error| format!("{error}; separate several values with commas"))?;
        values.push(value);
    }
    if values.is_empty() {
        return Err("expected at least one value; separate several with commas".to_owned());
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_commas_or_spaces() {
        for text in ["1,2,3", "1 2 3", "1, 2,3", " 1,2 3,"] {
            assert_eq!(parse_list::<u8>(text), Ok(vec![1, 2, 3]), "{text}");
        }
        for text in ["", " ", ","] {
            let error = parse_list::<u8>(text).expect_err("no value");
            assert!(error.contains("with commas"), "{error}");
        }
        let error = parse_list::<u8>("1;2").expect_err("another separator");
        assert!(
            error.ends_with("; separate several values with commas"),
            "{error}"
        );
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(positive("3").map(NonZeroUsize::get), Ok(3));
        assert!(
            ["0", "-1", "x", ""]
                .iter()
                .all(|text| positive(text).is_err())
        );
        assert_eq!(
            (parse_year("2018"), parse_year("0"), parse_year("9999")),
            (Ok(2018), Ok(0), Ok(9999))
        );
        assert!(
            ["10000", "-1", "2018.5", "abc"]
                .iter()
                .all(|text| parse_year(text).is_err())
        );
    }
}
