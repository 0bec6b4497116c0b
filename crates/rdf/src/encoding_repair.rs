//! Repair of texts whose UTF-8 bytes were read as Latin-1 or Windows-1252 (`MÃ¡laga` for `Málaga`).

use std::borrow::Cow;

/// Maximum number of repetitions: some texts were read wrongly twice.
const MAX_ROUNDS: usize = 3;

/// Characters of Windows-1252 from byte 0x80 to 0x9F; 0 where the byte has none.
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

/// Returns the byte that a character was read from, in Latin-1 or Windows-1252.
fn byte_of(character: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(u32::from(character)) {
        return Some(byte);
    }
    let place = WINDOWS_1252
        .iter()
        .position(|code| u32::from(*code) == u32::from(character))?;
    Some(0x80 + place as u8)
}

/// Decodes a text if all of its characters came from bytes that are UTF-8.
fn decode_whole(text: &str) -> Option<String> {
    let bytes: Vec<u8> = text.chars().map(byte_of).collect::<Option<_>>()?;
    String::from_utf8(bytes).ok()
}

/// If true, the character is the first byte of a no-break space whose second byte became a plain space: `aireÂ de`.
fn is_rest_of_space(characters: &[char], place: usize) -> bool {
    characters[place] == '\u{c2}'
        && characters
            .get(place + 1)
            .is_some_and(char::is_ascii_whitespace)
        && place.checked_sub(1).is_some_and(|before| {
            let before = characters[before];
            before.is_lowercase() || ".,;:)".contains(before)
        })
}

/// Decodes the sequences of a text that came from Latin letters or typographic signs. Other characters are unchanged.
fn decode_parts(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut decoded = String::with_capacity(text.len());
    let mut place = 0;
    while place < characters.len() {
        if is_rest_of_space(&characters, place) {
            place += 1;
            continue;
        }
        // First bytes of U+0080 to U+00FF, and of U+2000 to U+203F.
        let length = match characters[place] {
            '\u{c2}' | '\u{c3}' => 2,
            '\u{e2}' if matches!(characters.get(place + 1), Some('\u{20ac}' | '\u{80}')) => 3,
            _ => 0,
        };
        let sequence = characters
            .get(place..place + length)
            .filter(|sequence| !sequence.is_empty());
        match sequence.and_then(|sequence| decode_whole(&sequence.iter().collect::<String>())) {
            Some(character) => {
                decoded.push_str(&character);
                place += length;
            }
            None => {
                decoded.push(characters[place]);
                place += 1;
            }
        }
    }
    decoded
}

/// Repairs a text whose UTF-8 was read as Latin-1 or Windows-1252. Other texts are returned unchanged.
///
/// ```
/// use lodeseek_rdf::repair_encoding;
/// assert_eq!(repair_encoding("CafÃ© MÃ¼nchen â€“ rivers"), "Café München – rivers");
/// assert_eq!(repair_encoding("Café « À »"), "Café « À »");
/// ```
#[must_use]
pub fn repair_encoding(text: &str) -> Cow<'_, str> {
    let mut repaired = Cow::Borrowed(text);
    for _ in 0..MAX_ROUNDS {
        if repaired.is_ascii() {
            break;
        }
        let next = decode_whole(&repaired).unwrap_or_else(|| decode_parts(&repaired));
        if next == repaired {
            break;
        }
        repaired = Cow::Owned(next);
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the UTF-8 of a text as Windows-1252, and as Latin-1 where that has no character.
    fn misread(text: &str) -> String {
        let character = |byte: u8| match byte {
            0x80..=0x9F => match WINDOWS_1252[usize::from(byte - 0x80)] {
                0 => char::from(byte),
                code => char::from_u32(code.into()).expect("a character"),
            },
            _ => char::from(byte),
        };
        text.bytes().map(character).collect()
    }

    #[test]
    fn misread_texts_are_repaired() {
        for text in [
            "Málaga",
            "Straße “A” – Ω",
            "水質",
            "naïve façade…",
            "Łódź",
            "5 °C",
            "100 €",
        ] {
            let wrong = misread(text);
            assert_ne!(wrong, text);
            assert_eq!(repair_encoding(&wrong), text);
            assert_eq!(
                repair_encoding(&misread(&wrong)),
                text,
                "read wrongly twice"
            );
            assert_eq!(repair_encoding(text), text, "sound texts stay");
        }
        let latin_1: String = "Málaga".bytes().map(char::from).collect();
        assert_eq!(repair_encoding(&latin_1), "Málaga");
        assert_eq!(
            repair_encoding("del aireÂ de la obligaciÃ³n"),
            "del aire de la obligación",
            "a lost no-break space"
        );
        assert_eq!(
            repair_encoding("le mot PÂ et Â seul"),
            "le mot PÂ et Â seul"
        );
    }

    #[test]
    fn parts_of_sound_texts_are_repaired() {
        let mixed = format!("水 and {}", misread("Málaga – Zürich"));
        assert_eq!(repair_encoding(&mixed), "水 and Málaga – Zürich");
    }

    #[test]
    fn sound_texts_stay() {
        for text in [
            "",
            "plain",
            "SÃO PAULO",
            "« CAFÉ »",
            "Ärger",
            "Âge",
            "Ã",
            "â€",
            "÷×",
            "中文 Ã",
            "C’est déjà l’été",
        ] {
            assert_eq!(repair_encoding(text), text);
        }
    }
}
