//! HDT, the binary form of a graph: a dictionary of its terms, and triples of their numbers.
//! <https://www.rdfhdt.org/hdt-binary-format/>
//!
//! Read are files as the tools of HDT write them: four dictionary sections in plain front coding, and bitmap triples by
//! subject. The dictionary and the triples are held as they are in the file, within [`Limits::hdt_memory`]; terms are made
//! one triple after the other. Every part has a checksum, so a damaged file hands out nothing that it did not say.
//!
//! # Why a reader of our own?
//!
//! Libraries for HDT take what a file says of its lengths for granted: memory for them is asked for before a byte is seen,
//! and an allocation that fails ends the process, which nothing can catch. They also build indexes for queries, which a
//! load has no use for. Here lengths are held against the limit first, and memory grows with the bytes that come.
//!
//! [`Limits::hdt_memory`]: super::Limits::hdt_memory

use super::{Refusal, Sink, check_iri, shorten};
use crc::{CRC_8_SMBUS, CRC_16_ARC, CRC_32_ISCSI, Crc};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use std::fmt::Write as _;
use std::io::{self, BufReader, Read};

/// What every part with control information begins with, and so the file.
pub(super) const MAGIC: &[u8; 4] = b"$HDT";

const CONTAINER: &str = "<http://purl.org/HDT/hdt#HDTv1>";
const FOUR_SECTIONS: &str = "<http://purl.org/HDT/hdt#dictionaryFour>";
const BITMAP_TRIPLES: &str = "<http://purl.org/HDT/hdt#triplesBitmap>";
/// The order of triples by subject, predicate and object.
const BY_SUBJECT: &str = "1";
/// Kinds of control information.
const GLOBAL: u8 = 1;
const HEADER: u8 = 2;
const DICTIONARY: u8 = 3;
const TRIPLES: u8 = 4;
/// Kinds of a dictionary section, a bitmap and a sequence of numbers: front coding, plain bits, and numbers of equal width.
const FRONT_CODING: u8 = 2;
const PLAIN: u8 = 1;
const LOG64: u8 = 1;
/// Bytes of the format or of the properties in control information. Real ones have about a hundred.
const MAX_CONTROL_BYTES: usize = 64 << 10;
/// Bits of a word.
const WORD_BITS: u64 = 64;
/// Bytes that the longest number takes.
const MAX_NUMBER_BYTES: usize = 10;
/// Checksums: of preambles, of control information, and of what is held.
const CRC8: Crc<u8> = Crc::<u8>::new(&CRC_8_SMBUS);
const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// What is wrong with a file that is cut off or damaged.
#[derive(Debug, thiserror::Error)]
enum HdtError {
    #[error("the HDT file ends within {0}")]
    CutOff(&'static str),
    #[error("the HDT file is damaged: the checksum of {0} is another")]
    Checksum(&'static str),
    #[error("the HDT file is damaged: {part}: {reason}")]
    Malformed { part: &'static str, reason: String },
}

impl From<HdtError> for io::Error {
    fn from(broken: HdtError) -> Self {
        Self::new(io::ErrorKind::InvalidData, broken)
    }
}

fn malformed(part: &'static str, reason: impl Into<String>) -> io::Error {
    HdtError::Malformed { part, reason: reason.into() }.into()
}

fn refused(reason: String) -> io::Error {
    Refusal::Hdt { reason }.into()
}

pub(super) fn read(reader: impl Read, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut source = HdtReader {
        reader: BufReader::new(reader),
        part: "",
        recent: Vec::new(),
        limit: sink.limits.hdt_memory,
        held: 0,
    };
    source.control("the file's beginning", GLOBAL)?.require_format(&[CONTAINER], "a container of the kind")?;
    let header = source.control("the header", HEADER)?;
    source.skip(header.number("length").ok_or_else(|| malformed("the header", "its length is not told"))?)?;
    source.control("the dictionary", DICTIONARY)?.require_format(&[FOUR_SECTIONS], "a dictionary of the kind")?;
    let longest = sink.limits.token_bytes;
    let dictionary = Dictionary {
        shared: Section::read("the terms that are subjects and objects", &mut source, longest)?,
        subjects: Section::read("the subjects", &mut source, longest)?,
        predicates: Section::read("the predicates", &mut source, longest)?,
        objects: Section::read("the objects", &mut source, longest)?,
        bytes_left: sink.limits.decompressed_bytes,
        bytes_limit: sink.limits.decompressed_bytes,
    };
    let control = source.control("the triples", TRIPLES)?;
    control.require_format(&[BITMAP_TRIPLES], "triples of the kind")?;
    if control.property("order") != Some(BY_SUBJECT) {
        let order = shorten(control.property("order").unwrap_or("none"));
        return Err(refused(format!("triples in the order {order}; only those by subject (1) are read")));
    }
    Triples::read(&mut source)?.emit(dictionary, sink)
}

/// The bytes of the file, and how many of them are held.
struct HdtReader<R> {
    reader: BufReader<R>,
    /// What is being read, for errors.
    part: &'static str,
    /// Bytes read one by one since the part began: what its first checksum is of.
    recent: Vec<u8>,
    limit: u64,
    held: u64,
}

impl<R: Read> HdtReader<R> {
    fn begin(&mut self, part: &'static str) {
        self.part = part;
        self.recent.clear();
    }

    fn exactly<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(|error| match error.kind() {
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

    /// A number in groups of seven bits, the lowest first; the last group is marked.
    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = Vec::with_capacity(MAX_NUMBER_BYTES);
        loop {
            bytes.push(self.byte()?);
            if bytes.last().is_some_and(|byte| byte & 0x80 != 0) {
                let (number, _) = number_at(&bytes, 0).ok_or_else(|| malformed(self.part, "a number is too large"))?;
                return Ok(number);
            }
            if bytes.len() == MAX_NUMBER_BYTES {
                return Err(malformed(self.part, "a number has no end"));
            }
        }
    }

    /// Text up to a zero byte.
    fn text(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        loop {
            match self.byte()? {
                0 => return String::from_utf8(bytes).map_err(|_| malformed(self.part, "text that is no UTF-8")),
                _ if bytes.len() == MAX_CONTROL_BYTES => {
                    return Err(malformed(self.part, "its description has no end"));
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
            return Err(malformed(part, "it does not begin where it should"));
        }
        let control = ControlInformation { format: self.text()?, properties: self.text()? };
        let expected = CRC16.checksum(&self.recent);
        if u16::from_le_bytes(self.exactly()?) != expected { Err(HdtError::Checksum(part).into()) } else { Ok(control) }
    }

    /// The checksum of what was read byte by byte.
    fn end_of_preamble(&mut self) -> io::Result<()> {
        let expected = CRC8.checksum(&self.recent);
        let [found] = self.exactly()?;
        if found != expected { Err(HdtError::Checksum(self.part).into()) } else { Ok(()) }
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.reader).take(bytes), &mut io::sink())?;
        if skipped < bytes { Err(HdtError::CutOff(self.part).into()) } else { Ok(()) }
    }

    /// So many bytes and their checksum. None is held that the limit has no room for, and no memory is taken for bytes
    /// that do not come.
    fn block(&mut self, length: u64) -> io::Result<Vec<u8>> {
        self.held = self.held.saturating_add(length);
        if self.held > self.limit {
            let (limit, part) = (self.limit, self.part);
            return Err(refused(format!("more than {limit} bytes are to be held of the file, with {part}")));
        }
        let mut bytes = Vec::new();
        (&mut self.reader).take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(HdtError::CutOff(self.part).into());
        }
        let expected = CRC32.checksum(&bytes);
        if u32::from_le_bytes(self.exactly()?) != expected {
            Err(HdtError::Checksum(self.part).into())
        } else {
            Ok(bytes)
        }
    }
}

/// What a part says of itself.
struct ControlInformation {
    format: String,
    /// `key=value;key=value;`
    properties: String,
}

impl ControlInformation {
    fn property(&self, key: &str) -> Option<&str> {
        self.properties.split(';').find_map(|property| property.strip_prefix(key)?.strip_prefix('='))
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.property(key)?.parse().ok()
    }

    /// Refuses other formats than those that are read.
    fn require_format(&self, read: &[&str], what: &str) -> io::Result<()> {
        if read.contains(&self.format.as_str()) {
            return Ok(());
        }
        Err(refused(format!("{what} {}; read is {} alone", shorten(&self.format), read.join(", "))))
    }
}

/// LogSequence of the same width, one behind the other.
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
            return Err(refused(format!("a sequence of kind {kind} in {}; only kind {LOG64} is read", source.part)));
        }
        let width = source.byte()?;
        let len = source.number()?;
        source.end_of_preamble()?;
        if width > 64 {
            return Err(malformed(source.part, format!("numbers of {width} bits")));
        }
        let bits = u64::from(width).checked_mul(len);
        let bits = bits.ok_or_else(|| malformed(source.part, format!("{len} numbers of {width} bits")))?;
        Ok(Self { bytes: source.block(bits.div_ceil(8))?, width, len })
    }

    fn get(&self, place: u64) -> Option<u64> {
        if place >= self.len {
            return None;
        }
        let bit = place * u64::from(self.width);
        let start = usize::try_from(bit / 8).ok()?;
        let mut around = [0; 16];
        for (to, from) in around.iter_mut().zip(self.bytes.get(start..)?.iter().take(9)) {
            *to = *from;
        }
        let shifted = u128::from_le_bytes(around) >> (bit % 8);
        Some((shifted & ((1 << self.width) - 1)) as u64)
    }
}

/// Bits that mark the last of each run.
struct Bitmap {
    bytes: Vec<u8>,
    len: u64,
}

impl Bitmap {
    fn read<R: Read>(source: &mut HdtReader<R>) -> io::Result<Self> {
        source.recent.clear();
        let kind = source.byte()?;
        if kind != PLAIN {
            return Err(refused(format!("a bitmap of kind {kind} in {}; only kind {PLAIN} is read", source.part)));
        }
        let len = source.number()?;
        source.end_of_preamble()?;
        Ok(Self { bytes: source.block(len.div_ceil(8))?, len })
    }

    fn is_last(&self, place: u64) -> bool {
        let byte = usize::try_from(place / 8).ok().and_then(|byte| self.bytes.get(byte));
        place < self.len && byte.is_some_and(|byte| byte >> (place % 8) & 1 == 1)
    }

    /// How many runs so many marks make; none if there are fewer, or the last run has no end. Some writers fill the last
    /// word up with marks that are none.
    fn runs(&self, len: u64) -> Option<u64> {
        let behind = self.len.checked_sub(len).filter(|behind| *behind < WORD_BITS)?;
        let whole = usize::try_from(len / 8).ok()?;
        let ones: u64 = self.bytes.iter().take(whole).map(|byte| u64::from(byte.count_ones())).sum();
        let rest = (whole as u64 * 8..len).filter(|place| self.is_last(*place)).count() as u64;
        let is_ended = len == 0 || self.is_last(len - 1);
        let is_filled_up = (len..len + behind).all(|place| !self.is_last(place));
        (is_ended && is_filled_up).then_some(ones + rest)
    }
}

/// One section of the dictionary: terms in blocks. The first term of a block is written out, each other one as the bytes
/// that it has in common with the one before, and what follows them.
struct Section {
    name: &'static str,
    len: u64,
    block: u64,
    starts: LogSequence,
    text: Vec<u8>,
}

impl Section {
    fn read<R: Read>(name: &'static str, source: &mut HdtReader<R>, longest: usize) -> io::Result<Self> {
        source.begin(name);
        let kind = source.byte()?;
        if kind != FRONT_CODING {
            return Err(refused(format!("{name} in a section of kind {kind}; only kind {FRONT_CODING} is read")));
        }
        let (len, bytes, block) = (source.number()?, source.number()?, source.number()?);
        source.end_of_preamble()?;
        let starts = LogSequence::read(source)?;
        let section = Self { name, len, block, starts, text: source.block(bytes)? };
        section.checked(longest)
    }

    /// Walks through all terms once: afterwards every one is known to be there and to be no longer than the limit.
    fn checked(self, longest: usize) -> io::Result<Self> {
        let lost =
            |number: u64| malformed(self.name, format!("the term {} of {} cannot be found", number + 1, self.len));
        if self.block == 0 && self.len > 0 {
            return Err(lost(0));
        }
        let (mut term, mut place) = (Vec::new(), 0);
        for number in 0..self.len {
            if number.is_multiple_of(self.block) {
                if self.starts.get(number / self.block) != Some(place as u64) {
                    return Err(lost(number));
                }
                term.clear();
            } else {
                place = self.shorten_to_common(&mut term, place).ok_or_else(|| lost(number))?;
            }
            place = self.append(&mut term, place).ok_or_else(|| lost(number))?;
            if term.len() > longest {
                return Err(refused(format!("a term of more than {longest} bytes among {}", self.name)));
            }
        }
        if place == self.text.len() { Ok(self) } else { Err(malformed(self.name, "there is more text than terms")) }
    }

    /// Leaves of the term before what the one at a place begins with, too.
    fn shorten_to_common(&self, term: &mut Vec<u8>, place: usize) -> Option<usize> {
        let (common, place) = number_at(&self.text, place)?;
        let common = usize::try_from(common).ok().filter(|common| *common <= term.len())?;
        term.truncate(common);
        Some(place)
    }

    /// Appends the text at a place; where the next begins.
    fn append(&self, term: &mut Vec<u8>, place: usize) -> Option<usize> {
        let rest = self.text.get(place..)?;
        let end = memchr::memchr(0, rest)?;
        term.extend_from_slice(&rest[..end]);
        Some(place + end + 1)
    }

    /// The term of a number, counted from 1, and how many bytes were looked at for it.
    fn term(&self, number: u64) -> Option<(Vec<u8>, usize)> {
        let number = number.checked_sub(1).filter(|number| *number < self.len)?;
        let start = usize::try_from(self.starts.get(number.checked_div(self.block)?)?).ok()?;
        let mut term = Vec::new();
        let mut place = self.append(&mut term, start)?;
        for _ in 0..number % self.block {
            place = self.shorten_to_common(&mut term, place)?;
            place = self.append(&mut term, place)?;
        }
        let looked_at = place - start + term.len();
        Some((term, looked_at))
    }
}

/// A number in groups of seven bits, and where it ends.
fn number_at(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut number: u64 = 0;
    for (group, byte) in bytes.get(start..)?.iter().take(MAX_NUMBER_BYTES).enumerate() {
        let bits = u64::from(byte & 0x7f);
        let shifted = bits << (7 * group);
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

/// The terms. Subjects and objects that are both come first in the numbering of either.
struct Dictionary {
    shared: Section,
    subjects: Section,
    predicates: Section,
    objects: Section,
    /// What may still be looked at and handed out: a term in a long block costs its whole block, each time.
    bytes_left: u64,
    bytes_limit: u64,
}

impl Dictionary {
    fn term(&mut self, own: fn(&Self) -> &Section, number: u64, is_shared: bool) -> io::Result<Result<String, String>> {
        let shared = if is_shared { self.shared.len } else { 0 };
        let section = if number <= shared { &self.shared } else { own(self) };
        let in_section = if number <= shared { number } else { number - shared };
        let (term, looked_at) = section
            .term(in_section)
            .ok_or_else(|| malformed("the triples", format!("there is no number {number} among {}", section.name)))?;
        self.spend(looked_at)?;
        Ok(String::from_utf8(term).map_err(|error| {
            format!("a term that is no UTF-8: {}", shorten(&String::from_utf8_lossy(error.as_bytes())))
        }))
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Refusal> {
        let limit = self.bytes_limit;
        self.bytes_left = self.bytes_left.checked_sub(bytes as u64).ok_or(Refusal::DecompressedSize { limit })?;
        Ok(())
    }

    fn subject(&mut self, number: u64) -> io::Result<Result<NamedOrBlankNode, String>> {
        Ok(self.term(|dictionary| &dictionary.subjects, number, true)?.and_then(|term| node(&term)))
    }

    fn predicate(&mut self, number: u64) -> io::Result<Result<NamedNode, String>> {
        Ok(self.term(|dictionary| &dictionary.predicates, number, false)?.and_then(|term| named(&term)))
    }

    fn object(&mut self, number: u64) -> io::Result<Result<Term, String>> {
        let term = self.term(|dictionary| &dictionary.objects, number, true)?;
        Ok(term.and_then(|term| if term.starts_with('"') { literal(&term) } else { node(&term).map(Into::into) }))
    }
}

fn named(term: &str) -> Result<NamedNode, String> {
    check_iri(term)?;
    Ok(NamedNode::new_unchecked(term))
}

fn node(term: &str) -> Result<NamedOrBlankNode, String> {
    term.strip_prefix("_:").map_or_else(|| named(term).map(Into::into), |label| Ok(blank(label).into()))
}

/// The beginning of labels told in hexadecimal digits.
const ENCODED_LABEL_PREFIX: &str = "hdt-";

/// HDT takes any text for a label; one that RDF has no room for is told in hexadecimal digits, the same each time, and so is
/// one that begins as these do: no two labels become one.
fn blank(label: &str) -> BlankNode {
    BlankNode::new(label).ok().filter(|_| !label.starts_with(ENCODED_LABEL_PREFIX)).unwrap_or_else(|| {
        let digits = label.bytes().fold(String::from(ENCODED_LABEL_PREFIX), |mut digits, byte| {
            // A string takes whatever is written to it.
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        BlankNode::new_unchecked(digits)
    })
}

/// `"text"`, `"text"@language` or `"text"^^<datatype>`, the text as it is: nothing in it is escaped.
fn literal(term: &str) -> Result<Term, String> {
    let malformed = || format!("a literal without its end: {}", shorten(term));
    let inside = term.strip_prefix('"').ok_or_else(malformed)?;
    let (text, rest) = inside.rsplit_once('"').ok_or_else(malformed)?;
    if rest.is_empty() {
        return Ok(Literal::new_simple_literal(text).into());
    }
    if let Some(language) = rest.strip_prefix('@') {
        let literal = Literal::new_language_tagged_literal(text, language);
        return literal
            .map(Into::into)
            .map_err(|error| format!("invalid language tag {:?}: {error}", shorten(language)));
    }
    let datatype = rest.strip_prefix("^^<").and_then(|rest| rest.strip_suffix('>')).ok_or_else(malformed)?;
    Ok(Literal::new_typed_literal(text, named(datatype)?).into())
}

/// The triples as two levels of runs: each subject has its predicates, each of these its objects.
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
        let fits =
            object_ends.runs(objects.len) == Some(predicates.len) && predicate_ends.runs(predicates.len).is_some();
        if !fits {
            return Err(malformed(source.part, "subjects, predicates and objects do not fit together"));
        }
        Ok(Self { predicates, predicate_ends, objects, object_ends })
    }

    fn emit(&self, mut dictionary: Dictionary, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut place = 0;
        let mut subject_number = 0;
        let mut subject = Err(String::new());
        let mut begins_subject = true;
        for run in 0..self.predicates.len {
            if begins_subject {
                subject_number += 1;
                subject = dictionary.subject(subject_number)?;
            }
            let predicate = dictionary.predicate(number_of(&self.predicates, run)?)?;
            begins_subject = self.predicate_ends.is_last(run);
            let repeated = length(&subject) + predicate.as_ref().map_or(0, |predicate| predicate.as_str().len());
            loop {
                dictionary.spend(repeated)?;
                let object = dictionary.object(number_of(&self.objects, place)?)?;
                match (&subject, &predicate, object) {
                    (Ok(subject), Ok(predicate), Ok(object)) => {
                        sink.triple(&Triple::new(subject.clone(), predicate.clone(), object));
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

fn length(subject: &Result<NamedOrBlankNode, String>) -> usize {
    match subject {
        Ok(NamedOrBlankNode::NamedNode(node)) => node.as_str().len(),
        Ok(NamedOrBlankNode::BlankNode(node)) => node.as_str().len(),
        Err(_) => 0,
    }
}

fn number_of(numbers: &LogSequence, place: u64) -> io::Result<u64> {
    numbers.get(place).ok_or_else(|| malformed("the triples", format!("there is no number at {place}")))
}

#[cfg(test)]
mod tests;
