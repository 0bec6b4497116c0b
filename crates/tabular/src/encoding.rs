//! Encoding of a text file: detected from its beginning, and converted to UTF-8 while it is read.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder, Encoding, MACINTOSH, UTF_8, WINDOWS_1252};
use std::io::{self, Read};

/// Detected encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextEncoding {
    encoding: &'static Encoding,
    /// If true, all bytes of the sample are ASCII.
    is_ascii: bool,
    /// Length of the byte order mark in bytes.
    mark: usize,
}

impl TextEncoding {
    /// Detects the encoding of a sample. `is_whole` is true if it is the whole file.
    pub(crate) fn detect(sample: &[u8], is_whole: bool) -> Self {
        if let Some((encoding, mark)) = Encoding::for_bom(sample) {
            return Self {
                encoding,
                is_ascii: false,
                mark,
            };
        }
        let is_ascii = sample.is_ascii();
        let encoding = match std::str::from_utf8(sample) {
            Ok(_) => UTF_8,
            // The sample may end within a character.
            Err(error) if error.error_len().is_none() && !is_whole => UTF_8,
            Err(error) if is_mostly_utf8(sample, error.valid_up_to()) => UTF_8,
            Err(_) => detect_legacy(sample, is_whole),
        };
        Self {
            encoding,
            is_ascii,
            mark: 0,
        }
    }

    /// Returns the encoding that a file declares, unless its bytes are Unicode's. Other encodings are hard to tell apart, and later
    /// bytes of an ASCII sample may be of any.
    pub(crate) fn with_declared(self, name: Option<String>) -> Self {
        let declared = name.and_then(|name| Encoding::for_label(name.as_bytes()));
        let is_unicode = self.mark > 0 || (self.encoding == UTF_8 && !self.is_ascii);
        match declared {
            // A declaration that can be read as ASCII is not UTF-16.
            Some(encoding) if !is_unicode && encoding.is_ascii_compatible() => {
                Self { encoding, ..self }
            }
            _ => self,
        }
    }

    /// Returns the name of the encoding in the registry of IANA.
    pub(crate) fn name(self) -> &'static str {
        if self.is_ascii {
            "US-ASCII"
        } else {
            self.encoding.name()
        }
    }

    /// Returns a reader of UTF-8.
    pub(crate) fn decode<R: Read>(self, reader: R) -> Utf8Reader<R> {
        let decoder = if self.encoding == UTF_8 {
            None
        } else {
            Some(self.encoding.new_decoder_without_bom_handling())
        };
        Utf8Reader {
            reader,
            decoder,
            mark: self.mark,
            raw: Vec::with_capacity(CHUNK_BYTES),
            ready: Vec::with_capacity(CHUNK_BYTES),
            position: 0,
            has_ended: false,
            stray_bytes: 0,
        }
    }

    /// Returns a sample as text.
    pub(crate) fn decode_sample(self, sample: &[u8]) -> String {
        let mut text = Vec::new();
        let mut reader = self.decode(sample);
        // A slice gives no errors.
        let _ = reader.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Returns true if a text is UTF-8 but for few bytes: it has valid characters of several bytes, and more of them than stray bytes.
fn is_mostly_utf8(sample: &[u8], mut valid: usize) -> bool {
    let (mut stray, mut characters, mut start) = (0usize, 0usize, 0usize);
    loop {
        // The first byte of a character of several bytes is at least 0xC0.
        characters += sample[start..start + valid]
            .iter()
            .filter(|&&byte| byte >= 0xc0)
            .count();
        start += valid;
        let Some(rest) = sample.get(start..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        match std::str::from_utf8(rest) {
            Ok(text) => valid = text.len(),
            Err(error) if error.valid_up_to() == 0 => {
                stray += 1;
                start += error.error_len().unwrap_or(rest.len());
                valid = 0;
            }
            Err(error) => valid = error.valid_up_to(),
        }
    }
    characters > 0 && characters >= 4 * stray
}

/// Detects an encoding other than Unicode's.
fn detect_legacy(sample: &[u8], is_whole: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, is_whole);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // The detector lacks the encoding of old Macintosh computers, which spreadsheets there still write.
    let macintosh = rate_plausibility(sample, MACINTOSH);
    if guess.is_single_byte() && macintosh > rate_plausibility(sample, guess) {
        // Symbols alone are nothing that the detector knows. They are more frequent in files of newer computers.
        if rate_plausibility(sample, WINDOWS_1252) >= macintosh {
            return WINDOWS_1252;
        }
        return MACINTOSH;
    }
    guess
}

/// Returns the plausibility of an encoding of one byte a character: letters within words, quotes at their ends, and no capital
/// letter, symbol or control character within a word.
fn rate_plausibility(sample: &[u8], encoding: &'static Encoding) -> i64 {
    let (text, _) = encoding.decode_without_bom_handling(sample);
    let characters: Vec<char> = text.chars().collect();
    let mut score = 0;
    for (place, &character) in characters.iter().enumerate() {
        if character.is_ascii() {
            continue;
        }
        let before = match place.checked_sub(1) {
            Some(place) => characters[place],
            None => ' ',
        };
        let after = characters.get(place + 1).copied().unwrap_or(' ');
        score += score_character(before, character, after);
    }
    score
}

fn score_character(before: char, character: char, after: char) -> i64 {
    let is_inside = before.is_alphabetic() && after.is_alphabetic();
    match character {
        c if c.is_control() => -5,
        '\u{fffd}' => -5,
        '\u{a0}' => 1,
        // As plausible as a letter within a word: the detector knows of symbols, too.
        '’' | '—' | '·' if is_inside => 2,
        '–' if is_inside => 1,
        '’' => 1,
        '“' | '‘' | '„' | '‚' if after.is_alphanumeric() && !before.is_alphanumeric() => 2,
        '”' if before.is_alphanumeric() || before.is_ascii_punctuation() => 2,
        '™' | '®' | '…' if before.is_alphanumeric() => 2,
        '“' | '‘' | '”' => -1,
        // Symbols of texts in all countries.
        '–' | '—' | '…' | '•' | '°' | '€' | '£' | '§' | '©' | '®' | '™' | '±' | '×' | '÷' | '·'
        | '²' | '³' | '¹' | '¼' | '½' | '¾' | 'µ' | '‰' | '«' | '»' | 'º' | 'ª' => 0,
        // Its neighbours are vowels; other languages have a dash in its place.
        'ñ' if !is_vowel(after) || (before.is_alphabetic() && !is_vowel(before)) => -2,
        c if c.is_lowercase() => {
            if before.is_lowercase() || after.is_lowercase() {
                2
            } else {
                0
            }
        }
        c if c.is_uppercase() => {
            if before.is_lowercase() {
                -3
            } else {
                i64::from(before.is_alphabetic() || after.is_alphabetic())
            }
        }
        // Letters of scripts without cases.
        c if c.is_alphabetic() => 2 * i64::from(before.is_alphabetic() || after.is_alphabetic()),
        _ if is_inside => -2,
        _ => -1,
    }
}

fn is_vowel(character: char) -> bool {
    "aeiouáéíóú".contains(character)
}

const CHUNK_BYTES: usize = 64 << 10;

/// Reader that converts a text file to UTF-8. Bytes that are not UTF-8 are read as Windows-1252 and counted.
pub(crate) struct Utf8Reader<R> {
    reader: R,
    /// Decoder of another encoding than UTF-8.
    decoder: Option<Decoder>,
    /// Number of bytes of the byte order mark that are to be skipped.
    mark: usize,
    /// Bytes that are not converted yet.
    raw: Vec<u8>,
    ready: Vec<u8>,
    position: usize,
    has_ended: bool,
    stray_bytes: u64,
}

impl<R: Read> Utf8Reader<R> {
    /// Returns the number of bytes so far that are not in the encoding.
    pub(crate) fn stray_bytes(&self) -> u64 {
        self.stray_bytes
    }

    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.position = 0;
        let old = self.raw.len();
        // The rest of an incomplete character, of at most three bytes, stays in front.
        self.raw.resize(CHUNK_BYTES, 0);
        let read = self.reader.read(&mut self.raw[old..]);
        // An error must not leave the zeros of the buffer as text.
        let count = *read.as_ref().unwrap_or(&0);
        self.raw.truncate(old + count);
        read?;
        self.has_ended = count == 0;
        let skipped = self.mark.min(self.raw.len());
        self.raw.drain(..skipped);
        self.mark -= skipped;
        if let Some(mut decoder) = self.decoder.take() {
            self.convert(&mut decoder);
            self.decoder = Some(decoder);
        } else {
            self.check_utf8();
        }
        Ok(())
    }

    fn convert(&mut self, decoder: &mut Decoder) {
        let mut rest = self.raw.as_slice();
        let mut text = String::with_capacity(2 * CHUNK_BYTES);
        loop {
            let (result, read, has_errors) =
                decoder.decode_to_string(rest, &mut text, self.has_ended);
            self.stray_bytes += u64::from(has_errors);
            rest = &rest[read..];
            if result == CoderResult::InputEmpty {
                break;
            }
            text.reserve(CHUNK_BYTES);
        }
        self.ready.extend_from_slice(text.as_bytes());
        self.raw.clear();
    }

    fn check_utf8(&mut self) {
        let mut start = 0;
        loop {
            match std::str::from_utf8(&self.raw[start..]) {
                Ok(_) => {
                    self.ready.extend_from_slice(&self.raw[start..]);
                    self.raw.clear();
                    return;
                }
                Err(error) => {
                    let valid = start + error.valid_up_to();
                    self.ready.extend_from_slice(&self.raw[start..valid]);
                    // Without a length, the chunk ends within a character, unless the file ends there.
                    let Some(length) =
                        error
                            .error_len()
                            .or(if self.has_ended { Some(1) } else { None })
                    else {
                        self.raw.drain(..valid);
                        return;
                    };
                    let (text, _) =
                        WINDOWS_1252.decode_without_bom_handling(&self.raw[valid..valid + length]);
                    self.ready.extend_from_slice(text.as_bytes());
                    self.stray_bytes += length as u64;
                    start = valid + length;
                }
            }
        }
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.ready.len() {
            if self.has_ended {
                return Ok(0);
            }
            self.fill()?;
        }
        let count = buffer.len().min(self.ready.len() - self.position);
        buffer[..count].copy_from_slice(&self.ready[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(bytes: &[u8]) -> &'static str {
        TextEncoding::detect(bytes, true).name()
    }

    #[test]
    fn encodings_are_detected() {
        assert_eq!(detect(b"a,b\n1,2\n"), "US-ASCII");
        assert_eq!(detect("a,ä\n".as_bytes()), "UTF-8");
        assert_eq!(detect("\u{feff}a,b\n".as_bytes()), "UTF-8");
        assert_eq!(detect(b"\xff\xfea\0,\0b\0"), "UTF-16LE");
        let german = "Straße,Größe\nMünchen,Überprüfung\nKöln,Äußerung\n";
        let (bytes, _, _) = WINDOWS_1252.encode(german);
        assert_eq!(detect(&bytes), "windows-1252");
        // "knowledge of" with the no-break space of a Macintosh, and "fiancée" with its é.
        assert_eq!(
            detect(b"q,level of knowledge\xcaof fianc\x8ee\n"),
            "macintosh"
        );
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode("県,市\n北海道,札幌市\n東京都,新宿区\n");
        assert_eq!(detect(&bytes), "Shift_JIS");
        for symbols in [
            "item,price\nA,5 €\nB,6 €\n",
            "Artikel;Preis in €\nBrot;3\n",
            "law,n\n§ 12 StVO,1\n§ 13 StVO,2\n",
            "item,n\nSugar,½ cup\nMilk,½ cup\n",
            "name,n\nnorth–south,1\neast–west,2\n",
            "name,n\nthe pond’s end,1\n“old oak”,2\n",
            "name,n\nrealm™,1\nand so on…,2\n",
            "name,n\nthe elm—or oak—fell,1\n",
        ] {
            let (bytes, _, _) = WINDOWS_1252.encode(symbols);
            assert_eq!(detect(&bytes), "windows-1252", "{symbols}");
        }
        let (bytes, _, _) = encoding_rs::WINDOWS_1255.encode("שם,עיר\nאלון,חיפה\nזית,ירושלים\n");
        assert_eq!(detect(&bytes), "windows-1255");
        // Letters of words: "España", "Größe", "père".
        for bytes in [
            &b"n,pa\x92s\n1,Espa\x96a\n2,Per\x9c\n"[..],
            b"n,Gr\x9a\xa7e\n1,M\x9fnchen\n",
            b"n,nom\n1,p\x8fre\n2,Fran\x8dois\n",
        ] {
            assert_eq!(detect(bytes), "macintosh", "{bytes:?}");
        }
    }

    #[test]
    fn declared_encodings_precede_all_but_unicode() {
        let declare = |bytes: &[u8], name: &str| {
            let detected = TextEncoding::detect(bytes, true);
            detected
                .with_declared(Some(name.to_owned()))
                .encoding
                .name()
        };
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("県,市\n北海道,札幌市\n");
        assert_eq!(declare(&japanese, "windows-1257"), "windows-1257");
        assert_eq!(declare(b"Tallinn", "windows-1257"), "windows-1257");
        assert_eq!(declare("Võru".as_bytes(), "windows-1257"), "UTF-8");
        assert_eq!(declare(b"Tallinn", "utf-16"), "UTF-8");
        assert_eq!(declare(b"Tallinn", "no encoding"), "UTF-8");
    }

    #[test]
    fn stray_bytes_of_utf8_are_kept_and_counted() {
        let mut bytes = "città,été,naïve,œuf,ßß\n".repeat(5).into_bytes();
        bytes.extend_from_slice(b"caf\xe9\n");
        let encoding = TextEncoding::detect(&bytes, true);
        assert_eq!(encoding.name(), "UTF-8");
        let mut reader = encoding.decode(bytes.as_slice());
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("UTF-8");
        assert!(text.ends_with("café\n"), "{text}");
        assert_eq!(reader.stray_bytes(), 1);
    }

    #[test]
    fn characters_at_the_ends_of_chunks_are_whole() {
        let text = "aé€𝄞".repeat(50_000);
        for encoding in [UTF_8, encoding_rs::GB18030] {
            let (bytes, _, _) = encoding.encode(&text);
            let detected = TextEncoding {
                encoding,
                is_ascii: false,
                mark: 0,
            };
            let mut read = String::new();
            detected
                .decode(&*bytes)
                .read_to_string(&mut read)
                .expect("UTF-8");
            assert!(read == text, "{}", encoding.name());
        }
    }
}
