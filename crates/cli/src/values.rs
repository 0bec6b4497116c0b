//! Parsers of option values whose errors state what is expected.

use std::num::NonZeroUsize;

/// Parses a number of at least 1.
pub fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// Parses a year.
pub fn year(text: &str) -> Result<i32, String> {
    let year = text.parse().ok().filter(|year| (0..=9999).contains(year));
    year.ok_or_else(|| "expected a year from 0 to 9999, for example 2018".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        assert_eq!(positive("3").map(NonZeroUsize::get), Ok(3));
        assert!(
            ["0", "-1", "x", ""]
                .iter()
                .all(|text| positive(text).is_err())
        );
        assert_eq!(
            (year("2018"), year("0"), year("9999")),
            (Ok(2018), Ok(0), Ok(9999))
        );
        assert!(
            ["10000", "-1", "2018.5", "abc"]
                .iter()
                .all(|text| year(text).is_err())
        );
    }
}
