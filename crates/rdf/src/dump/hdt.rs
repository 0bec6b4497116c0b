//! HDT, a binary format for RDF: a dictionary of terms, and triples of term numbers.
//! <https://www.rdfhdt.org/hdt-binary-format/>
//!
//! Supported are the files that HDT tools write by default: four dictionary sections in plain front coding, and bitmap
//! triples ordered by subject. Dictionary and triples are held in their packed form, within [`Limits::hdt_memory`]. Terms
//! are decoded one triple at a time. Every part has a checksum, so a damaged file is detected before triples are returned.
//!
//! # Why not an HDT library?
//!
//! The available libraries trust the lengths in the file. They allocate memory before they read, and a failed allocation
//! aborts the process. They also build query indexes, which are not needed for loading. This reader checks lengths
//! against the limit first, and its memory grows with the bytes that were read.
//!
//! [`Limits::hdt_memory`]: super::Limits::hdt_memory

use super::repair::{repair_literal, repair_node};
use super::{Refusal, Sink, shorten};
use crc::{CRC_8_SMBUS, CRC_16_ARC, CRC_32_ISCSI, Crc};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use std::fmt::Write as _;
use std::io::{self, BufReader, Read};

/// Magic bytes at the beginning of the file and of each part with control information.
pub(super) const MAGIC: &[u8; 4] = b"$HDT";

const CONTAINER: &str = "<http://purl.org/HDT/hdt#HDTv1>";
const FOUR_SECTIONS: &str = "<http://purl.org/HDT/hdt#dictionaryFour>";
const BITMAP_TRIPLES: &str = "<http://purl.org/HDT/hdt#triplesBitmap>";
/// Value of the property `order` for triples ordered by subject, predicate and object.
const BY_SUBJECT: &str = "1";
/// Types of control information.
const GLOBAL: u8 = 1;
const HEADER: u8 = 2;
const DICTIONARY: u8 = 3;
const TRIPLES: u8 = 4;
/// Supported encodings: front coding of dictionary sections, plain bitmaps, and log sequences of fixed-width numbers.
const FRONT_CODING: u8 = 2;
const PLAIN: u8 = 1;
const LOG64: u8 = 1;
/// Maximum size of the format or the properties in control information, in bytes. Real ones have about a hundred.
const MAX_CONTROL_BYTES: usize = 64 << 10;
/// Number of bytes that may be decoded for the triples of any file, and additionally for each byte of dictionary and triples.
///
/// To decode a term, the terms before it in its block are decoded as well. Tools write blocks of 16 terms, but a file with one
/// block of a million terms would need hours.
const MAX_FREE_DECODED_BYTES: u64 = 1 << 30;
const MAX_DECODED_PER_BYTE: u64 = 1024;
/// Number of recently decoded terms of a section that are held, and maximum length of one in bytes.
const MAX_RECENT_TERMS: u64 = 1024;
const MAX_RECENT_BYTES: usize = 4 << 10;
/// Number of bits of a word.
const WORD_BITS: u64 = 64;
/// Maximum length of a variable-length number in bytes.
const MAX_NUMBER_BYTES: usize = 10;
/// Checksums of preambles (CRC-8), control information (CRC-16) and data blocks (CRC-32).
const CRC8: Crc<u8> = Crc::<u8>::new(&CRC_8_SMBUS);
const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
/// If true, checksums are compared. Fuzz builds ignore them: changed bytes would never reach the code behind.
const CHECKS: bool = !cfg!(fuzzing);

/// Error of a truncated or damaged file.
#[derive(Debug, thiserror::Error)]
enum HdtError {
    #[error("the HDT file ends within {0}")]
    CutOff(&'static str),
    #[error("the HDT file is damaged: wrong checksum of {0}")]
    Checksum(&'static str),
    #[error("the HDT file is damaged: {part}: {reason}")]
    Malformed { part: &'static str, reason: String },
}

impl From<HdtError> for io::Error {
    fn from(broken: HdtError) -> Self {
        Self::new(io::ErrorKind::InvalidData, broken)
    }
}

fn malformed_part(part: &'static str, reason: impl Into<String>) -> io::Error {
    HdtError::Malformed {
        part,
        reason: reason.into(),
    }
    .into()
}

fn refusal(reason: String) -> io::Error {
    Refusal::Hdt { reason }.into()
}

pub(super) fn read(reader: impl Read, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut source = HdtReader {
        reader: BufReader::new(reader),
        part: "",
        recent: Vec::new(),
        limit: sink.limits.hdt_memory,
        memory_bytes: 0,
    };
    source
        .control("the file's beginning", GLOBAL)?
        .require_format(&[CONTAINER], "container format")?;
    let header = source.control("the header", HEADER)?;
    // The header describes the dataset in RDF. Its statements are not part of the graph.
    source.skip(
        header
            .number("length")
            .ok_or_else(|| malformed_part("the header", "the length is missing"))?,
    )?;
    source
        .control("the dictionary", DICTIONARY)?
        .require_format(&[FOUR_SECTIONS], "dictionary format")?;
    let longest = sink.limits.token_bytes;
    let sections = Sections {
        shared: Section::read(
            "the terms that are subjects and objects",
            &mut source,
            longest,
        )?,
        subjects: Section::read("the subjects", &mut source, longest)?,
        predicates: Section::read("the predicates", &mut source, longest)?,
        objects: Section::read("the objects", &mut source, longest)?,
    };
    let control = source.control("the triples", TRIPLES)?;
    control.require_format(&[BITMAP_TRIPLES], "triples format")?;
    if control.property("order") != Some(BY_SUBJECT) {
        let order = shorten(control.property("order").unwrap_or("none"));
        return Err(refusal(format!(
            "triple order {order} is not supported; supported: 1 (by subject)"
        )));
    }
    let triples = Triples::read(&mut source)?;
    let budget = DecodingBudget::new(sink.limits.decompressed_bytes, source.memory_bytes);
    triples.emit(
        Dictionary {
            sections,
            budget,
            repairs: Vec::new(),
        },
        sink,
    )
}

/// Input with checksums, and a limit on the bytes held in memory.
struct HdtReader<R> {
    reader: BufReader<R>,
    /// Name of the current part, for error messages.
    part: &'static str,
    /// Bytes of the current preamble, for its checksum.
    recent: Vec<u8>,
    limit: u64,
    memory_bytes: u64,
}

impl<R: Read> HdtReader<R> {
    fn begin(&mut self, part: &'static str) {
        self.part = part;
        self.recent.clear();
    }

    fn exactly<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader
            .read_exact(&mut bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => HdtError::CutOff(self.part).into(),
                _ => error,
            })?;
        Ok(bytes)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let [byte] = self.exactly()?;
        self.recent.push(byte);
        Ok(byte)
    }

    /// Reads a number in groups of seven bits, lowest first. The last group has the highest bit set.
    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = Vec::with_capacity(MAX_NUMBER_BYTES);
        loop {
            bytes.push(self.byte()?);
            if bytes.last().is_some_and(|byte| byte & 0x80 != 0) {
                let (number, _) = number_at(&bytes, 0)
                    .ok_or_else(|| malformed_part(self.part, "a number is too large"))?;
                return Ok(number);
            }
            if bytes.len() == MAX_NUMBER_BYTES {
                return Err(malformed_part(self.part, "a number has no end"));
            }
        }
    }

    /// Reads text up to a zero byte.
    fn text(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        loop {
            match self.byte()? {
                0 => {
                    return String::from_utf8(bytes)
                        .map_err(|_| malformed_part(self.part, "text is not valid UTF-8"));
                }
                // A damaged file could otherwise fill the memory before its checksum is compared.
                _ if bytes.len() == MAX_CONTROL_BYTES => {
                    return Err(malformed_part(self.part, "its description has no end"));
                }
                byte => bytes.push(byte),
            }
        }
    }

    fn control(&mut self, part: &'static str, kind: u8) -> io::Result<ControlInformation> {
        self.begin(part);
        let mut magic = [0; 4];
        for byte in &mut magic {
            *byte = self.byte()?;
        }
        let found = self.byte()?;
        if magic != *MAGIC || found != kind {
            return Err(malformed_part(
                part,
                "the control information does not begin here",
            ));
        }
        let control = ControlInformation {
            format: self.text()?,
            properties: self.text()?,
        };
        let expected = CRC16.checksum(&self.recent);
        let is_wrong = u16::from_le_bytes(self.exactly()?) != expected && CHECKS;
        if is_wrong {
            Err(HdtError::Checksum(part).into())
        } else {
            Ok(control)
        }
    }

    /// Checks the CRC-8 of the preamble.
    fn end_of_preamble(&mut self) -> io::Result<()> {
        let expected = CRC8.checksum(&self.recent);
        let [found] = self.exactly()?;
        if found != expected && CHECKS {
            Err(HdtError::Checksum(self.part).into())
        } else {
            Ok(())
        }
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.reader).take(bytes), &mut io::sink())?;
        if skipped < bytes {
            Err(HdtError::CutOff(self.part).into())
        } else {
            Ok(())
        }
    }

    /// Reads a block of `length` bytes and checks its CRC-32.
    ///
    /// The limit is checked first, and memory is allocated only for bytes that are actually in the file.
    fn block(&mut self, length: u64) -> io::Result<Vec<u8>> {
        self.memory_bytes = self.memory_bytes.saturating_add(length);
        if self.memory_bytes > self.limit {
            let (limit, part) = (self.limit, self.part);
            return Err(refusal(format!(
                "more than {limit} bytes of memory needed up to {part}"
            )));
        }
        let mut bytes = Vec::new();
        (&mut self.reader).take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(HdtError::CutOff(self.part).into());
        }
        let expected = CRC32.checksum(&bytes);
        if u32::from_le_bytes(self.exactly()?) != expected && CHECKS {
            Err(HdtError::Checksum(self.part).into())
        } else {
            Ok(bytes)
        }
    }
}

/// Control information of a part.
struct ControlInformation {
    format: String,
    /// Properties in the form `key=value;key=value;`.
    properties: String,
}

impl ControlInformation {
    fn property(&self, key: &str) -> Option<&str> {
        self.properties
            .split(';')
            .find_map(|property| property.strip_prefix(key)?.strip_prefix('='))
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.property(key)?.parse().ok()
    }

    /// Rejects formats that are not supported.
    fn require_format(&self, read: &[&str], what: &str) -> io::Result<()> {
        if read.contains(&self.format.as_str()) {
            return Ok(());
        }
        Err(refusal(format!(
            "{what} {} is not supported; supported: {}",
            shorten(&self.format),
            read.join(", ")
        )))
    }
}

/// Sequence of numbers with the same number of bits.
struct LogSequence {
    bytes: Vec<u8>,
    width: u8,
    len: u64,
}

impl LogSequence {
    fn read<R: Read>(source: &mut HdtReader<R>) -> io::Result<Self> {
        source.recent.clear();
        let kind = source.byte()?;
        if kind != LOG64 {
            return Err(refusal(format!(
                "sequence kind {kind} in {} is not supported; supported: {LOG64}",
                source.part
            )));
        }
        let width = source.byte()?;
        let len = source.number()?;
        source.end_of_preamble()?;
        if width > 64 {
            return Err(malformed_part(
                source.part,
                format!("numbers of {width} bits"),
            ));
        }
        // `get` relies on it: no position in bits overflows.
        let bits = u64::from(width).checked_mul(len);
        let bits = bits
            .ok_or_else(|| malformed_part(source.part, format!("{len} numbers of {width} bits")))?;
        Ok(Self {
            bytes: source.block(bits.div_ceil(8))?,
            width,
            len,
        })
    }

    fn get(&self, place: u64) -> Option<u64> {
        if place >= self.len {
            return None;
        }
        let bit = place * u64::from(self.width);
        let start = usize::try_from(bit / 8).ok()?;
        // A number of 64 bits that begins within a byte has a part in nine bytes.
        let mut around = [0; 16];
        for (to, from) in around
            .iter_mut()
            .zip(self.bytes.get(start..)?.iter().take(9))
        {
            *to = *from;
        }
        // In 128 bits, the mask of a number of 64 bits does not overflow either.
        let shifted = u128::from_le_bytes(around) >> (bit % 8);
        Some((shifted & ((1 << self.width) - 1)) as u64)
    }
}

/// Bitmap that marks the last element of each run.
struct Bitmap {
    bytes: Vec<u8>,
    len: u64,
}

impl Bitmap {
    fn read<R: Read>(source: &mut HdtReader<R>) -> io::Result<Self> {
        source.recent.clear();
        let kind = source.byte()?;
        if kind != PLAIN {
            return Err(refusal(format!(
                "bitmap kind {kind} in {} is not supported; supported: {PLAIN}",
                source.part
            )));
        }
        let len = source.number()?;
        source.end_of_preamble()?;
        Ok(Self {
            bytes: source.block(len.div_ceil(8))?,
            len,
        })
    }

    fn is_last(&self, place: u64) -> bool {
        let byte = usize::try_from(place / 8)
            .ok()
            .and_then(|byte| self.bytes.get(byte));
        place < self.len && byte.is_some_and(|byte| byte >> (place % 8) & 1 == 1)
    }

    /// Returns the number of runs in the first `len` bits.
    ///
    /// Returns `None` if there are fewer bits or the last run has no end. Some writers pad the last word with zeros.
    fn runs(&self, len: u64) -> Option<u64> {
        let behind = self
            .len
            .checked_sub(len)
            .filter(|behind| *behind < WORD_BITS)?;
        let whole = usize::try_from(len / 8).ok()?;
        let ones: u64 = self
            .bytes
            .iter()
            .take(whole)
            .map(|byte| u64::from(byte.count_ones()))
            .sum();
        let rest = (whole as u64 * 8..len)
            .filter(|place| self.is_last(*place))
            .count() as u64;
        let is_ended = len == 0 || self.is_last(len - 1);
        let is_filled_up = (len..len + behind).all(|place| !self.is_last(place));
        (is_ended && is_filled_up).then_some(ones + rest)
    }
}

/// Section of the dictionary: terms in blocks with front coding.
///
/// The first term of a block is stored in full. Each other term is stored as the length of the prefix shared with the
/// preceding term, and the remaining bytes.
struct Section {
    name: &'static str,
    len: u64,
    block: u64,
    starts: LogSequence,
    text: Vec<u8>,
    cursor: Cursor,
    /// Recently decoded terms, at the remainder of their number. Frequent objects are decoded once.
    recent: Vec<(u64, Vec<u8>)>,
}

/// Term that was decoded last, from which later terms of its block are decoded.
#[derive(Default)]
struct Cursor {
    /// Number of the term, starting at 1; 0 before the first one.
    number: u64,
    /// Position after the term.
    place: usize,
    term: Vec<u8>,
}

impl Section {
    fn read<R: Read>(
        name: &'static str,
        source: &mut HdtReader<R>,
        longest: usize,
    ) -> io::Result<Self> {
        source.begin(name);
        let kind = source.byte()?;
        if kind != FRONT_CODING {
            return Err(refusal(format!(
                "{name}: section kind {kind} is not supported; supported: {FRONT_CODING}"
            )));
        }
        let (len, bytes, block) = (source.number()?, source.number()?, source.number()?);
        source.end_of_preamble()?;
        let starts = LogSequence::read(source)?;
        let text = source.block(bytes)?;
        let section = Self {
            name,
            len,
            block,
            starts,
            text,
            cursor: Cursor::default(),
            recent: Vec::new(),
        };
        section.check_terms(longest)
    }

    /// Checks that all terms can be located and that none is longer than the limit.
    fn check_terms(self, longest: usize) -> io::Result<Self> {
        // The number of a block is a quotient by its length.
        if self.block == 0 && self.len > 0 {
            return Err(self.missing_term(0));
        }
        let (mut term, mut place) = (Vec::new(), 0);
        for number in 0..self.len {
            if number.is_multiple_of(self.block) {
                // `decode` goes to these positions directly, so each must be where reading all terms arrives.
                if self.starts.get(number / self.block) != Some(place as u64) {
                    return Err(self.missing_term(number));
                }
                term.clear();
            } else {
                place = self
                    .shorten_to_common(&mut term, place)
                    .ok_or_else(|| self.missing_term(number))?;
            }
            place = self
                .append(&mut term, place)
                .ok_or_else(|| self.missing_term(number))?;
            // Few bytes can make long terms, because each repeats the beginning of the one before it.
            if term.len() > longest {
                return Err(refusal(format!(
                    "term of more than {longest} bytes among {}",
                    self.name
                )));
            }
        }
        if place == self.text.len() {
            Ok(self)
        } else {
            Err(malformed_part(
                self.name,
                "unexpected bytes after the last term",
            ))
        }
    }

    fn missing_term(&self, number: u64) -> io::Error {
        malformed_part(
            self.name,
            format!("term {} of {} cannot be located", number + 1, self.len),
        )
    }

    /// Truncates the preceding term to the prefix shared with the term at a position. Returns the position after the length.
    fn shorten_to_common(&self, term: &mut Vec<u8>, place: usize) -> Option<usize> {
        let (common, place) = number_at(&self.text, place)?;
        let common = usize::try_from(common)
            .ok()
            .filter(|common| *common <= term.len())?;
        term.truncate(common);
        Some(place)
    }

    /// Appends the text at a position. Returns the position of the next text.
    fn append(&self, term: &mut Vec<u8>, place: usize) -> Option<usize> {
        let rest = self.text.get(place..)?;
        let end = memchr::memchr(0, rest)?;
        term.extend_from_slice(&rest[..end]);
        Some(place + end + 1)
    }

    /// Returns the term with a number, starting at 1, and the number of bytes read to decode it.
    fn term(&mut self, number: u64) -> Option<(Vec<u8>, usize)> {
        if number == 0 || number > self.len {
            return None;
        }
        let slot = usize::try_from(number % MAX_RECENT_TERMS).ok()?;
        if let Some((known, term)) = self.recent.get(slot)
            && *known == number
        {
            return Some((term.clone(), term.len()));
        }
        // `decode` borrows the section, so the cursor is moved out. After an error, a new one begins at its block.
        let mut cursor = std::mem::take(&mut self.cursor);
        let decoded = self.decode(number, &mut cursor)?;
        let term = cursor.term.clone();
        self.cursor = cursor;
        // Thus the terms of a section take at most 4 MiB.
        if term.len() <= MAX_RECENT_BYTES {
            if self.recent.len() <= slot {
                self.recent.resize(slot + 1, (0, Vec::new()));
            }
            self.recent[slot] = (number, term.clone());
        }
        let looked_at = decoded + term.len();
        Some((term, looked_at))
    }

    /// Moves a cursor to a term. Returns the number of bytes read.
    fn decode(&self, number: u64, cursor: &mut Cursor) -> Option<usize> {
        let place_in_block = (number - 1).checked_rem(self.block)?;
        let first = number - place_in_block;
        // Subjects are read in ascending order, so most of them are decoded from the one before them.
        let start = if (first..=number).contains(&cursor.number) {
            cursor.place
        } else {
            let start = usize::try_from(self.starts.get((number - 1) / self.block)?).ok()?;
            cursor.term.clear();
            cursor.place = self.append(&mut cursor.term, start)?;
            cursor.number = first;
            start
        };
        while cursor.number < number {
            let place = self.shorten_to_common(&mut cursor.term, cursor.place)?;
            cursor.place = self.append(&mut cursor.term, place)?;
            cursor.number += 1;
        }
        Some(cursor.place - start)
    }
}

/// Returns a number in groups of seven bits, and the position after it.
fn number_at(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut number: u64 = 0;
    for (group, byte) in bytes
        .get(start..)?
        .iter()
        .take(MAX_NUMBER_BYTES)
        .enumerate()
    {
        let bits = u64::from(byte & 0x7f);
        let shifted = bits << (7 * group);
        // Ten groups have 70 bits.
        if shifted >> (7 * group) != bits {
            return None;
        }
        number |= shifted;
        if byte & 0x80 != 0 {
            return Some((number, start + group + 1));
        }
    }
    None
}

/// Sections of the dictionary. Terms that are both subject and object have the lowest numbers among subjects and objects.
struct Sections {
    shared: Section,
    subjects: Section,
    predicates: Section,
    objects: Section,
}

/// Counter of the bytes that are decoded and copied for triples.
struct DecodingBudget {
    left: u64,
    refusal: Refusal,
}

impl DecodingBudget {
    /// Creates the budget of a file with `packed_bytes` bytes of dictionary and triples.
    fn new(decompressed_limit: u64, packed_bytes: u64) -> Self {
        let decoded_limit =
            MAX_FREE_DECODED_BYTES + MAX_DECODED_PER_BYTE.saturating_mul(packed_bytes);
        // The smaller limit decides, and with it the advice of the error.
        if decompressed_limit <= decoded_limit {
            let refusal = Refusal::DecompressedSize {
                limit: decompressed_limit,
            };
            return Self {
                left: decompressed_limit,
                refusal,
            };
        }
        let reason = format!(
            "more than {decoded_limit} bytes are decoded from {packed_bytes}: the blocks of the dictionary are too long; write the file \
             with blocks of 16 terms"
        );
        Self {
            left: decoded_limit,
            refusal: Refusal::Hdt { reason },
        }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.left = self
            .left
            .checked_sub(bytes as u64)
            .ok_or_else(|| self.refusal.clone())?;
        Ok(())
    }
}

/// Dictionary of terms, with the budget for decoding them.
struct Dictionary {
    sections: Sections,
    budget: DecodingBudget,
    /// Messages of repaired terms that are not reported yet.
    repairs: Vec<String>,
}

impl Dictionary {
    fn term(
        &mut self,
        own: fn(&mut Sections) -> &mut Section,
        number: u64,
        is_shared: bool,
    ) -> io::Result<Result<String, String>> {
        // Predicates have numbers of their own: the shared terms are subjects and objects only.
        let shared = if is_shared {
            self.sections.shared.len
        } else {
            0
        };
        let section = if number <= shared {
            &mut self.sections.shared
        } else {
            own(&mut self.sections)
        };
        let in_section = if number <= shared {
            number
        } else {
            number - shared
        };
        let name = section.name;
        let (term, looked_at) = section.term(in_section).ok_or_else(|| {
            malformed_part(
                "the triples",
                format!("no term with number {number} among {name}"),
            )
        })?;
        // Terms that are held count as well, because they are copied.
        self.budget.spend(looked_at)?;
        Ok(String::from_utf8(term).map_err(|error| {
            format!(
                "the term is not valid UTF-8: {}",
                shorten(&String::from_utf8_lossy(error.as_bytes()))
            )
        }))
    }

    fn subject(&mut self, number: u64) -> io::Result<Result<NamedOrBlankNode, String>> {
        let term = self.term(|sections| &mut sections.subjects, number, true)?;
        Ok(term.and_then(|term| parse_node(&term, &mut self.repairs)))
    }

    fn predicate(&mut self, number: u64) -> io::Result<Result<NamedNode, String>> {
        let term = self.term(|sections| &mut sections.predicates, number, false)?;
        Ok(term.and_then(|term| parse_iri(&term, &mut self.repairs)))
    }

    fn object(&mut self, number: u64) -> io::Result<Result<Term, String>> {
        let term = self.term(|sections| &mut sections.objects, number, true)?;
        Ok(term.and_then(|term| match term.starts_with('"') {
            true => parse_literal(&term, &mut self.repairs),
            false => parse_node(&term, &mut self.repairs).map(Into::into),
        }))
    }
}

/// Returns an IRI, repaired if it is not valid.
fn parse_iri(term: &str, repairs: &mut Vec<String>) -> Result<NamedNode, String> {
    repair_node(&NamedNode::new_unchecked(term), repairs)
}

fn parse_node(term: &str, repairs: &mut Vec<String>) -> Result<NamedOrBlankNode, String> {
    match term.strip_prefix("_:") {
        Some(label) => Ok(parse_blank_node(label).into()),
        None => parse_iri(term, repairs).map(Into::into),
    }
}

/// Prefix of blank node labels that are encoded in hexadecimal digits.
const ENCODED_LABEL_PREFIX: &str = "hdt-";

/// Parses the label of a blank node. HDT permits any text as a label.
///
/// A label that is not valid in RDF, or begins with [`ENCODED_LABEL_PREFIX`], is encoded in hexadecimal digits. Different
/// labels stay different.
fn parse_blank_node(label: &str) -> BlankNode {
    BlankNode::new(label)
        .ok()
        .filter(|_| !label.starts_with(ENCODED_LABEL_PREFIX))
        .unwrap_or_else(|| {
            let digits =
                label
                    .bytes()
                    .fold(String::from(ENCODED_LABEL_PREFIX), |mut digits, byte| {
                        // Writing to a string cannot fail.
                        let _ = write!(digits, "{byte:02x}");
                        digits
                    });
            BlankNode::new_unchecked(digits)
        })
}

/// Parses `"text"`, `"text"@language` or `"text"^^<datatype>`. HDT does not escape characters of the text.
fn parse_literal(term: &str, repairs: &mut Vec<String>) -> Result<Term, String> {
    // Quotes in the text are not escaped, so the last one ends it.
    let (text, rest) = term
        .strip_prefix('"')
        .and_then(|inside| inside.rsplit_once('"'))
        .ok_or_else(|| format!("malformed literal: {}", shorten(term)))?;
    if rest.is_empty() {
        return Ok(Literal::new_simple_literal(text).into());
    }
    if let Some(language) = rest.strip_prefix('@') {
        return match Literal::new_language_tagged_literal(text, language) {
            Ok(literal) => Ok(literal.into()),
            Err(_) => {
                let literal = Literal::new_language_tagged_literal_unchecked(text, language);
                repair_literal(&literal, repairs).map(Into::into)
            }
        };
    }
    let datatype = rest
        .strip_prefix("^^<")
        .and_then(|rest| rest.strip_suffix('>'))
        .ok_or_else(|| format!("malformed literal: {}", shorten(term)))?;
    Ok(Literal::new_typed_literal(text, parse_iri(datatype, repairs)?).into())
}

/// Bitmap triples: a run of predicates for each subject, and a run of objects for each predicate.
struct Triples {
    predicates: LogSequence,
    predicate_ends: Bitmap,
    objects: LogSequence,
    object_ends: Bitmap,
}

impl Triples {
    fn read<R: Read>(source: &mut HdtReader<R>) -> io::Result<Self> {
        let (predicate_ends, object_ends) = (Bitmap::read(source)?, Bitmap::read(source)?);
        let (predicates, objects) = (LogSequence::read(source)?, LogSequence::read(source)?);
        let fits = object_ends.runs(objects.len) == Some(predicates.len)
            && predicate_ends.runs(predicates.len).is_some();
        if !fits {
            return Err(malformed_part(
                source.part,
                "inconsistent numbers of subjects, predicates and objects",
            ));
        }
        Ok(Self {
            predicates,
            predicate_ends,
            objects,
            object_ends,
        })
    }

    fn emit(&self, mut dictionary: Dictionary, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut place = 0;
        let mut subject_number = 0;
        let mut subject = Err(String::new());
        let mut begins_subject = true;
        for run in 0..self.predicates.len {
            if begins_subject {
                // Subjects are not stored: they are numbered in the order of their runs.
                subject_number += 1;
                subject = dictionary.subject(subject_number)?;
            }
            let predicate = dictionary.predicate(number_at_position(&self.predicates, run)?)?;
            begins_subject = self.predicate_ends.is_last(run);
            // These terms are copied for each triple.
            // `read` has checked that each run has an end, and at least one object.
            let predicate_length = match &predicate {
                Ok(predicate) => predicate.as_str().len(),
                Err(_) => 0,
            };
            let repeated = term_length(&subject) + predicate_length;
            loop {
                dictionary.budget.spend(repeated)?;
                let object = dictionary.object(number_at_position(&self.objects, place)?)?;
                for message in dictionary.repairs.drain(..) {
                    sink.repair(None, message);
                }
                match (&subject, &predicate, object) {
                    (Ok(subject), Ok(predicate), Ok(object)) => {
                        sink.triple(
                            &Triple::new(subject.clone(), predicate.clone(), object),
                            None,
                        );
                    }
                    (Err(reason), _, _) | (_, Err(reason), _) => sink.skip(None, reason.as_str()),
                    (_, _, Err(reason)) => sink.skip(None, reason),
                }
                place += 1;
                if self.object_ends.is_last(place - 1) {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn term_length(subject: &Result<NamedOrBlankNode, String>) -> usize {
    match subject {
        Ok(NamedOrBlankNode::NamedNode(node)) => node.as_str().len(),
        Ok(NamedOrBlankNode::BlankNode(node)) => node.as_str().len(),
        Err(_) => 0,
    }
}

fn number_at_position(numbers: &LogSequence, place: u64) -> io::Result<u64> {
    numbers
        .get(place)
        .ok_or_else(|| malformed_part("the triples", format!("no number at position {place}")))
}

#[cfg(test)]
mod tests;
