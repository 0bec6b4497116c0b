//! IRIs of rows, columns and tables: fragments of the address of the file.

use lodeseek_rdf::percent_encode;

/// Returns an address without its fragment.
pub(crate) fn without_fragment(base: &str) -> &str {
    match base.split_once('#') {
        Some((address, _)) => address,
        None => base,
    }
}

/// Percent-encodes a text for a fragment. Letters and digits of all scripts stay.
pub(crate) fn encode_fragment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let is_kept = match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' | '~' => true,
            _ => !character.is_ascii() && character.is_alphanumeric(),
        };
        if is_kept {
            out.push(character);
        } else {
            percent_encode(character, &mut out);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments() {
        assert_eq!(encode_fragment("Decimal Date"), "Decimal%20Date");
        assert_eq!(encode_fragment("名称#1"), "名称%231");
        assert_eq!(without_fragment("http://e.org/a#b"), "http://e.org/a");
    }
}
