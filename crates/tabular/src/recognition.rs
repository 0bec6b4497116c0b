//! Formats by content. Name and media type decide ambiguous cases only.

use crate::dialect::Dialect;
use crate::encoding::TextEncoding;
use crate::px::begins_with_px;
use json_event_parser::{JsonEvent, SliceJsonParser};

/// Format of a document that this crate reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Text table, with the delimiter that name or media type suggests.
    Delimited(Option<u8>),
    /// JSON or JSON Lines, and all formats made of them.
    Json,
    /// Workbook: XLSX, XLSB, XLS or ODS.
    Workbook,
    /// XML that is not RDF.
    Xml,
    /// Parquet.
    Parquet,
    /// PX, the format of PC-Axis.
    Px,
}

/// Format that a name or a media type suggests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hint {
    Delimited(Option<u8>),
    Rdf,
    Json,
    JsonLd,
    Xml,
    Other,
}

/// Returns the format of a document by its first bytes; `None` if it is RDF, or nothing that this crate reads.
pub(crate) fn recognize(
    head: &[u8],
    is_whole: bool,
    name: &str,
    media_type: Option<&str>,
) -> Option<Format> {
    if head.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
        || head.starts_with(b"PK\x03\x04")
    {
        return Some(Format::Workbook);
    }
    if head.starts_with(b"PAR1") {
        return Some(Format::Parquet);
    }
    let hint = find_hint(name, media_type);
    let encoding = TextEncoding::detect(head, is_whole);
    let text = encoding.decode_sample(head);
    let text = text.trim_start();
    if text.contains('\0') || begins_with_html(text) {
        return None;
    }
    if begins_with_px(text) {
        return Some(Format::Px);
    }
    match text.bytes().next()? {
        b'{' | b'[' if begins_with_json(text) => {
            let is_rdf = hint == Hint::JsonLd || (has_json_ld_key(text));
            let is_turtle = hint == Hint::Rdf && !has_object_key(text);
            (!is_rdf && !is_turtle).then_some(Format::Json)
        }
        b'<' if begins_with_xml(text, hint == Hint::Xml) => {
            (!is_rdf_xml(text)).then_some(Format::Xml)
        }
        _ => match hint {
            Hint::Delimited(delimiter) => {
                (!begins_with_rdf(text)).then_some(Format::Delimited(delimiter))
            }
            Hint::Rdf => None,
            _ if begins_with_rdf(text) => None,
            _ => {
                let dialect = Dialect::detect(text, is_whole, None);
                (dialect.is_consistent && is_table(text, dialect))
                    .then_some(Format::Delimited(None))
            }
        },
    }
}

/// Maximum number of rows whose numbers of cells decide if a text is a table.
const MAX_COMPARED_ROWS: usize = 100;
/// Minimum number of rows of a table of no announced format.
const MIN_TABLE_ROWS: usize = 3;

/// Returns true if a text of no announced format is a table: at least 95 % of its rows have the same number of cells.
fn is_table(text: &str, dialect: Dialect) -> bool {
    let mut reader = dialect.reader().from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let (mut rows, mut same) = (0usize, 0usize);
    while rows < MAX_COMPARED_ROWS && reader.read_record(&mut record).unwrap_or(false) {
        rows += 1;
        same += usize::from(record.len() == dialect.width);
    }
    rows >= MIN_TABLE_ROWS && 20 * same >= 19 * rows
}

fn find_hint(name: &str, media_type: Option<&str>) -> Hint {
    let suffix = file_suffix(name);
    // The media type describes the whole distribution, not the members of an archive.
    let media_type = media_type.filter(|_| !name.contains('!'));
    let of_type = match media_type {
        Some(media_type) => hint_of_media_type(media_type),
        None => Hint::Other,
    };
    match of_type {
        Hint::Other => hint_of(&suffix),
        found => found,
    }
}

fn hint_of_media_type(media_type: &str) -> Hint {
    let essence = media_type.split(';').next().unwrap_or(media_type);
    hint_of(&essence.trim().to_ascii_lowercase())
}

/// Returns the suffix of a file name in lower case, without those of compressions.
fn file_suffix(name: &str) -> String {
    let name = name.split(['?', '#']).next().unwrap_or(name);
    let mut lower = name.to_ascii_lowercase();
    for packed in [".gz", ".bz2", ".xz", ".zst"] {
        if let Some(stem) = lower.strip_suffix(packed) {
            lower = stem.to_owned();
            break;
        }
    }
    match lower.rsplit_once('.') {
        Some((_, suffix)) => suffix.to_owned(),
        None => String::new(),
    }
}

/// Returns true for the media types of text tables.
pub(crate) fn is_table_media_type(media_type: &str) -> bool {
    matches!(hint_of_media_type(media_type), Hint::Delimited(_))
}

/// Returns true for the names of tables, workbooks and GeoJSON, compressed or not.
///
/// ```
/// use lodeseek_tabular::has_table_suffix;
///
/// assert!(has_table_suffix("trees.CSV.gz"));
/// assert!(!has_table_suffix("trees.json"));
/// ```
#[must_use]
pub fn has_table_suffix(name: &str) -> bool {
    matches!(
        file_suffix(name).as_str(),
        "csv"
            | "tsv"
            | "tab"
            | "psv"
            | "xlsx"
            | "xlsm"
            | "xlsb"
            | "xls"
            | "ods"
            | "geojson"
            | "topojson"
            | "parquet"
            | "px"
    )
}

fn hint_of(text: &str) -> Hint {
    match text {
        "csv"
        | "text/csv"
        | "application/csv"
        | "text/x-csv"
        | "text/comma-separated-values"
        | "application/vnd.ms-excel.csv" => Hint::Delimited(None),
        "tsv" | "tab" | "text/tab-separated-values" | "text/tsv" => Hint::Delimited(Some(b'\t')),
        "psv" => Hint::Delimited(Some(b'|')),
        "dsv" | "ssv" => Hint::Delimited(None),
        "jsonld" | "application/ld+json" => Hint::JsonLd,
        "json"
        | "application/json"
        | "geojson"
        | "application/geo+json"
        | "topojson"
        | "jsonl"
        | "ndjson"
        | "application/x-ndjson"
        | "application/jsonl" => Hint::Json,
        "xml" | "application/xml" | "text/xml" => Hint::Xml,
        _ if lodeseek_rdf::dump::Syntax::from_hint(text).is_some() => Hint::Rdf,
        _ => Hint::Other,
    }
}

fn begins_with_html(text: &str) -> bool {
    let head: String = text
        .chars()
        .take(20)
        .collect::<String>()
        .to_ascii_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// Returns true if a text begins as Turtle and its relatives do: a directive, an IRI, a blank node, a comment before these.
fn begins_with_rdf(text: &str) -> bool {
    let mut text = text;
    while let Some(comment) = text.strip_prefix('#') {
        let end = comment.find(['\n', '\r']).unwrap_or(comment.len());
        text = comment[end..].trim_start();
    }
    let lower: String = text
        .chars()
        .take(12)
        .collect::<String>()
        .to_ascii_lowercase();
    if [
        "@prefix",
        "@base",
        "@version",
        "prefix ",
        "base <",
        "version \"",
    ]
    .iter()
    .any(|directive| lower.starts_with(directive))
    {
        return true;
    }
    if let Some(rest) = text.strip_prefix('<') {
        let end = rest.find(['>', '\n']).unwrap_or(rest.len());
        let after = rest[end..].strip_prefix('>').unwrap_or_default();
        return after.starts_with([' ', '\t', '\n', '\r']);
    }
    text.starts_with("_:") || text.starts_with("<<")
}

/// Returns true for `{` and `[` with what follows them in JSON.
fn begins_with_json(text: &str) -> bool {
    let inside = text[1..].trim_start();
    let next = inside.chars().next();
    if text.starts_with('{') {
        return matches!(next, Some('"' | '}'));
    }
    matches!(
        next,
        Some('{' | '[' | ']' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n')
    )
}

/// Returns true if the first `{` is followed by a key.
fn has_object_key(text: &str) -> bool {
    let Some(start) = text.find('{') else {
        return false;
    };
    let inside = text[start + 1..].trim_start();
    let Some(rest) = inside.strip_prefix('"') else {
        return false;
    };
    rest.find('"')
        .is_some_and(|end| rest[end + 1..].trim_start().starts_with(':'))
}

/// Returns true if the top-level object, or one of a top-level list, has a keyword of JSON-LD as a key.
fn has_json_ld_key(text: &str) -> bool {
    let mut parser = SliceJsonParser::new(text.as_bytes());
    // Kinds of the open values: true for objects.
    let mut open = Vec::new();
    // The text may end anywhere, which is an error.
    while let Ok(event) = parser.parse_next() {
        match event {
            JsonEvent::StartObject => open.push(true),
            JsonEvent::StartArray => open.push(false),
            JsonEvent::EndObject | JsonEvent::EndArray => {
                open.pop();
            }
            JsonEvent::ObjectKey(key) => {
                let is_top = matches!(open.as_slice(), [true] | [false, true]);
                let is_keyword = matches!(
                    key.as_ref(),
                    "@context"
                        | "@id"
                        | "@graph"
                        | "@type"
                        | "@value"
                        | "@included"
                        | "@set"
                        | "@list"
                );
                if is_top && is_keyword {
                    return true;
                }
            }
            JsonEvent::Eof => break,
            _ => (),
        }
    }
    false
}

/// Returns true for an XML declaration, a comment, a document type, or an element. `<tree>` is an element if XML is expected, or if
/// it is closed later; else it may be a relative IRI of Turtle.
fn begins_with_xml(text: &str, is_expected: bool) -> bool {
    if text.starts_with("<?xml") || text.starts_with("<!--") || text.starts_with("<!DOCTYPE") {
        return true;
    }
    let name_end = text[1..]
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.')))
        .unwrap_or(text.len() - 1);
    let name = &text[1..1 + name_end];
    let after = text[1 + name_end..].chars().next();
    !name.is_empty()
        && match after {
            Some('>') => is_expected || text.contains(&format!("</{name}>")),
            Some('/') => text[1 + name_end..].starts_with("/>"),
            Some(c) => c.is_whitespace(),
            None => false,
        }
}

/// Returns true if an XML document is RDF/XML: its beginning has the namespace of RDF, which no RDF/XML lacks, or `rdf:RDF`.
fn is_rdf_xml(text: &str) -> bool {
    text.contains(lodeseek_rdf::vocab::rdf::NAMESPACE) || text.contains("<rdf:RDF")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(head: &str, name: &str) -> Option<Format> {
        recognize(head.as_bytes(), true, name, None)
    }

    #[test]
    fn tables_are_no_rdf_and_rdf_is_no_table() {
        let csv = Some(Format::Delimited(None));
        let cases = [
            ("\"name\",\"n\"\n\"oak\",1\n", "a.csv", csv),
            ("_:a,b\n", "a.csv", None),
            ("@prefix a: <b> .\n", "a.csv", None),
            ("<http://e.org/a> <http://e.org/b> 1 .", "a.csv", None),
            ("<b>bold</b>,1\n", "a.csv", Some(Format::Xml)),
            (
                "a\tb\n1\t2\n",
                "a.tsv",
                Some(Format::Delimited(Some(b'\t'))),
            ),
            ("a,b\n1,2\n3,4\n", "data", csv),
            ("a,b\n1,2\n3,4\n", "data.ttl", None),
            ("Some words, and more.\nNo table.\n", "readme.txt", None),
            ("{\"a\": 1}", "a.json", Some(Format::Json)),
            ("[{\"a\": 1}]", "a", Some(Format::Json)),
            ("{\"@context\": {}}", "a.json", None),
            ("[{\"name\": {\"@id\": 1}}]", "a.json", Some(Format::Json)),
            ("[{\"@id\": \"x\"}]", "a.json", None),
            ("{\"a\": 1}", "a.jsonld", None),
            ("[ a <x> ] .", "a.ttl", None),
            ("{ <a> <b> <c> }", "a.trig", None),
            (
                "<?xml version=\"1.0\"?>\n<list><tree/></list>",
                "a.xml",
                Some(Format::Xml),
            ),
            ("<list>\n<tree/>\n</list>", "a", Some(Format::Xml)),
            ("<list>\n<tree>", "a.xml", Some(Format::Xml)),
            ("<a> <b> <c> .", "a", None),
            (
                "<?xml version=\"1.0\"?><rdf:RDF xmlns:rdf=\"x\"/>",
                "a.xml",
                None,
            ),
            (
                "<!-- x --><owl:Class xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"/>",
                "a.owl",
                None,
            ),
            ("<!doctype html><html>", "a.csv", None),
            ("", "a.csv", None),
        ];
        for (head, name, expected) in cases {
            assert_eq!(format(head, name), expected, "{name}: {head}");
        }
    }

    #[test]
    fn media_types_outrank_suffixes() {
        let format = recognize(
            b"a;b\n1;2\n",
            true,
            "data.ttl",
            Some("text/csv; charset=utf-8"),
        );
        assert_eq!(format, Some(Format::Delimited(None)));
    }
}
