//! Results in XML. <https://www.w3.org/TR/rdf-sparql-XMLres/>
//!
//! The text of a term is that of XML 1.0: white space counts, comments and processing instructions within it do not, sections of `CDATA`
//! are text, and line breaks are line feeds (2.11). Elements are recognized by their local names, and unknown ones are skipped. Rows are
//! read one by one, unless the head lists no variables: then they are collected up to the limit of rows.

use super::terms::{
    LiteralParts, MAX_TRIPLE_DEPTH, NamedRow, ReadError, TermBuilder, add_variable, invalid,
    variables_of,
};
use oxrdf::{BlankNode, Term, Variable};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::io::{BufReader, Read};
use std::sync::Arc;

impl From<quick_xml::Error> for ReadError {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            quick_xml::Error::Io(error) => Self::Io(std::io::Error::new(error.kind(), error)),
            other => Self::Invalid(other.to_string()),
        }
    }
}

/// Results of a query.
pub(super) enum XmlResults<R: Read> {
    /// Result of an `ASK`.
    Boolean(bool),
    /// Result of a `SELECT`.
    Solutions(XmlSolutions<R>),
}

impl<R: Read> XmlResults<R> {
    /// Reads results up to the first row. `limit` bounds the rows if their variables are unknown.
    pub(super) fn open(reader: R, limit: u64) -> Result<Self, ReadError> {
        let mut nodes = Nodes::new(reader);
        match nodes.next_tag()? {
            Node::Start(element) if element.name == "sparql" => {}
            _ => return invalid("another root element than `sparql`"),
        }
        let mut variables = Vec::new();
        while let Some(element) = nodes.child()? {
            match element.name.as_str() {
                "head" => nodes.head(&mut variables)?,
                "boolean" => {
                    return match nodes.text()?.trim() {
                        "true" | "1" => Ok(Self::Boolean(true)),
                        "false" | "0" => Ok(Self::Boolean(false)),
                        _ => invalid("`boolean` is no boolean"),
                    };
                }
                "results" => {
                    let mut solutions = XmlSolutions {
                        variables: variables.into(),
                        source: Source::Streamed(nodes),
                        terms: TermBuilder::default(),
                    };
                    if solutions.variables.is_empty() {
                        solutions.collect(limit)?;
                    }
                    return Ok(Self::Solutions(solutions));
                }
                _ => nodes.skip()?,
            }
        }
        invalid("neither `results` nor `boolean`")
    }
}

enum Source<R: Read> {
    /// Nodes after the beginning of the results.
    Streamed(Nodes<R>),
    Collected(std::vec::IntoIter<NamedRow>),
    Ended,
}

/// Rows of a `SELECT`.
pub(super) struct XmlSolutions<R: Read> {
    variables: Arc<[Variable]>,
    source: Source<R>,
    terms: TermBuilder,
}

impl<R: Read> XmlSolutions<R> {
    /// Returns the variables in the order of the response.
    pub(super) fn variables(&self) -> &Arc<[Variable]> {
        &self.variables
    }

    /// Returns the number of values that were repaired or left out.
    pub(super) fn repairs(&self) -> u64 {
        self.terms.repairs
    }

    /// Reads all rows, whose variables are unknown before.
    fn collect(&mut self, limit: u64) -> Result<(), ReadError> {
        let mut rows = Vec::new();
        while let Some(row) = self.named_row()? {
            if rows.len() as u64 >= limit {
                return Err(ReadError::TooManyRows);
            }
            rows.push(row);
        }
        self.variables = variables_of(&rows)?;
        self.source = Source::Collected(rows.into_iter());
        Ok(())
    }

    /// Reads the next row. After the last one, the rest of the response is read: a truncated response is an error.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Option<Term>>>, ReadError> {
        let Some(row) = self.named_row()? else {
            return Ok(None);
        };
        let mut values = vec![None; self.variables.len()];
        for (name, term) in row {
            let place = self
                .variables
                .iter()
                .position(|variable| variable.as_str() == name);
            let Some(place) = place else {
                return invalid(format!("`head` lacks the variable `{name}`"));
            };
            values[place] = Some(term);
        }
        Ok(Some(values))
    }

    fn named_row(&mut self) -> Result<Option<NamedRow>, ReadError> {
        let nodes = match &mut self.source {
            Source::Streamed(nodes) => nodes,
            Source::Collected(rows) => return Ok(rows.next()),
            Source::Ended => return Ok(None),
        };
        while let Some(element) = nodes.child()? {
            if element.name == "result" {
                return nodes.row(&mut self.terms).map(Some);
            }
            nodes.skip()?;
        }
        while nodes.child()?.is_some() {
            nodes.skip()?;
        }
        match nodes.next_tag()? {
            Node::End => self.source = Source::Ended,
            _ => return invalid("more than one root element"),
        }
        Ok(None)
    }
}

/// Beginning of an element.
struct Element {
    /// Local name.
    name: String,
    /// Values by local names.
    attributes: Vec<(String, String)>,
}

impl Element {
    fn new(tag: &BytesStart<'_>) -> Result<Self, ReadError> {
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(quick_xml::Error::from)?;
            let name = String::from_utf8_lossy(attribute.key.local_name().as_ref()).into_owned();
            attributes.push((name, attribute.unescape_value()?.into_owned()));
        }
        Ok(Self {
            name: String::from_utf8_lossy(tag.local_name().as_ref()).into_owned(),
            attributes,
        })
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }
}

/// Node of a document. Comments, processing instructions and declarations are left out.
enum Node {
    Start(Element),
    Text(String),
    /// End of an element, or of the document.
    End,
}

struct Nodes<R: Read> {
    reader: Reader<BufReader<R>>,
    buffer: Vec<u8>,
    /// Number of open elements.
    depth: usize,
}

impl<R: Read> Nodes<R> {
    fn new(reader: R) -> Self {
        let mut reader = Reader::from_reader(BufReader::new(reader));
        // An empty element gives a start and an end as others do, so that the depth stays right.
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            buffer: Vec::new(),
            depth: 0,
        }
    }

    fn next(&mut self) -> Result<Node, ReadError> {
        loop {
            self.buffer.clear();
            let text = match self.reader.read_event_into(&mut self.buffer)? {
                Event::Start(tag) => {
                    self.depth += 1;
                    return Element::new(&tag).map(Node::Start);
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Node::End);
                }
                Event::Eof if self.depth == 0 => return Ok(Node::End),
                Event::Eof => return invalid("truncated"),
                Event::Text(text) => {
                    let text = text.into_inner();
                    let text = std::str::from_utf8(&text)
                        .map_err(|error| ReadError::Invalid(error.to_string()))?;
                    // Line breaks are normalized before references are replaced: `&#xD;` remains.
                    let text = normalize_line_breaks(text);
                    let text = quick_xml::escape::unescape(&text)
                        .map_err(|error| ReadError::Invalid(error.to_string()))?;
                    text.into_owned()
                }
                Event::CData(text) => {
                    let text = text.into_inner();
                    let text = std::str::from_utf8(&text)
                        .map_err(|error| ReadError::Invalid(error.to_string()))?;
                    normalize_line_breaks(text).into_owned()
                }
                _ => continue,
            };
            return Ok(Node::Text(text));
        }
    }

    /// Returns the next node that is no white space.
    fn next_tag(&mut self) -> Result<Node, ReadError> {
        loop {
            match self.next()? {
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Text(_) => return invalid("text outside of a term"),
                node => return Ok(node),
            }
        }
    }

    /// Returns the next element inside the current one, or `None` at its end.
    fn child(&mut self) -> Result<Option<Element>, ReadError> {
        match self.next_tag()? {
            Node::Start(element) => Ok(Some(element)),
            Node::Text(_) | Node::End => Ok(None),
        }
    }

    /// Returns the text up to the end of the current element.
    fn text(&mut self) -> Result<String, ReadError> {
        let mut whole = String::new();
        loop {
            match self.next()? {
                Node::Text(text) if whole.is_empty() => whole = text,
                Node::Text(text) => whole.push_str(&text),
                Node::End => return Ok(whole),
                Node::Start(element) => {
                    return invalid(format!("the element `{}` inside a text", element.name));
                }
            }
        }
    }

    /// Reads up to the end of the current element.
    fn skip(&mut self) -> Result<(), ReadError> {
        // By depth, not by name: an element may contain others of its name.
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Reads the variables of the head.
    fn head(&mut self, variables: &mut Vec<Variable>) -> Result<(), ReadError> {
        while let Some(element) = self.child()? {
            if element.name == "variable" {
                match element.attribute("name") {
                    Some(name) => add_variable(variables, name)?,
                    None => return invalid("a variable has no name"),
                }
            }
            self.skip()?;
        }
        Ok(())
    }

    /// Returns a row after its beginning. A binding without a term is an unbound variable.
    fn row(&mut self, terms: &mut TermBuilder) -> Result<NamedRow, ReadError> {
        let mut row = NamedRow::new();
        while let Some(binding) = self.child()? {
            let name = match binding.attribute("name") {
                Some(name) if binding.name == "binding" => name,
                _ => return invalid("a row contains another element than `binding` with a name"),
            };
            let term = self.only_term(terms, 0)?;
            row.extend(term.flatten().map(|term| (name, term)));
        }
        Ok(row)
    }

    /// Returns the term in the current element, up to its end. `None` if there is none, and `Some(None)` if it was left out.
    fn only_term(
        &mut self,
        terms: &mut TermBuilder,
        depth: usize,
    ) -> Result<Option<Option<Term>>, ReadError> {
        let mut found = None;
        while let Some(element) = self.child()? {
            if element.name == "unbound" {
                self.skip()?;
            } else if found.is_some() {
                return invalid("more than one term in one place");
            } else {
                found = Some(self.term(&element, terms, depth)?);
            }
        }
        Ok(found)
    }

    /// Returns a term after the beginning of its element.
    fn term(
        &mut self,
        element: &Element,
        terms: &mut TermBuilder,
        depth: usize,
    ) -> Result<Option<Term>, ReadError> {
        match element.name.as_str() {
            "uri" => Ok(terms.iri(&self.text()?).map(Term::from)),
            "bnode" => Ok(Some(BlankNode::new_unchecked(self.text()?).into())),
            "literal" => {
                let parts = LiteralParts {
                    language: element.attribute("lang"),
                    direction: element.attribute("dir"),
                    datatype: element.attribute("datatype"),
                };
                let literal = terms.literal(self.text()?, parts)?;
                Ok(Some(literal.into()))
            }
            "triple" if depth < MAX_TRIPLE_DEPTH => {
                let mut parts = [None, None, None];
                while let Some(part) = self.child()? {
                    let place = ["subject", "predicate", "object"]
                        .iter()
                        .position(|name| *name == part.name);
                    match place {
                        Some(place) => parts[place] = self.only_term(terms, depth + 1)?,
                        None => self.skip()?,
                    }
                }
                TermBuilder::triple(parts)
            }
            "triple" => invalid("triple terms are nested too deep"),
            other => invalid(format!("a term has the unknown kind `{other}`")),
        }
    }
}

/// Returns a text whose line breaks are line feeds.
fn normalize_line_breaks(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type ReadRows = (Vec<Vec<Option<String>>>, u64);

    fn read(text: &str) -> Result<ReadRows, ReadError> {
        let mut solutions = match XmlResults::open(text.as_bytes(), 3)? {
            XmlResults::Solutions(solutions) => solutions,
            XmlResults::Boolean(value) => return Ok((vec![vec![Some(value.to_string())]], 0)),
        };
        let mut rows = Vec::new();
        while let Some(row) = solutions.next()? {
            let row = row
                .into_iter()
                .map(|term| term.map(|term| term.to_string()));
            rows.push(row.collect());
        }
        assert!(solutions.next().is_ok_and(|row| row.is_none()));
        Ok((rows, solutions.repairs()))
    }

    fn document(head: &str, results: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<!-- one --><sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n {head} <results>{results}</results>\n</sparql>\n"
        )
    }

    #[test]
    fn texts_are_those_of_xml() {
        for (term, expected) in [
            ("<literal>  two \t words </literal>", "\"  two \\t words \""),
            ("<literal>a\r\nb\rc&#xD;d</literal>", "\"a\\nb\\nc\\rd\""),
            ("<literal>one<!-- two -->three</literal>", "\"onethree\""),
            ("<literal>a<?pi b?>c</literal>", "\"ac\""),
            ("<literal><![CDATA[<b> & ]]>c</literal>", "\"<b> & c\""),
            ("<literal>&lt;&#65;&amp;&quot;</literal>", "\"<A&\\\"\""),
            ("<literal></literal>", "\"\""),
            ("<literal/>", "\"\""),
            ("\n <literal xml:lang='en'>a</literal>\n ", "\"a\"@en"),
            ("<literal xml:lang='en_US'>a</literal>", "\"a\"@en-us"),
            ("<literal xml:lang=''>a</literal>", "\"a\""),
            ("<literal datatype='x:d'>1</literal>", "\"1\"^^<x:d>"),
            (
                "<literal xml:lang='ar' its:dir='rtl' xmlns:its='http://www.w3.org/2005/11/its'>a</literal>",
                "\"a\"@ar--rtl",
            ),
            ("<uri>http://e.org/a?b&amp;c</uri>", "<http://e.org/a?b&c>"),
            ("<uri>http://e.org/a b</uri>", "<http://e.org/a%20b>"),
            ("<bnode>nodeID://b1</bnode>", "_:nodeID://b1"),
            (
                "<triple><subject><uri>x:s</uri></subject><predicate> <uri>x:p</uri></predicate>
                 <object><literal>o</literal></object></triple>",
                "<<( <x:s> <x:p> \"o\" )>>",
            ),
        ] {
            let text = document(
                "<head><link href='x:l'/><variable name='a'/></head>",
                &format!("\n<result>\n<binding name='a'>{term}</binding></result>"),
            );
            let (rows, _) = read(&text).unwrap_or_else(|error| panic!("{error:?}: {text}"));
            assert_eq!(rows, [[Some(expected.to_owned())]], "{text}");
        }
    }

    #[test]
    fn rows_without_head_and_values_that_cannot_be_read() {
        let rows = "<result><binding name='b'><uri>x:b</uri></binding></result>
            <result><binding name='a'><uri>relative</uri></binding><binding name='c'><unbound/></binding></result>
            <result><binding name='a'><literal xml:lang='?'>z</literal></binding><binding name='b'/></result>";
        let expected = [
            vec![Some("<x:b>".to_owned()), None],
            vec![None, None],
            vec![None, Some("\"z\"".to_owned())],
        ];
        let head = "<head><variable name='b'/><variable name='a'/><variable name='c'/></head>";
        let (found, repairs) = read(&document("<head/>", rows)).expect("rows");
        assert_eq!((found, repairs), (expected.to_vec(), 2));
        let (found, repairs) = read(&document(head, rows)).expect("rows");
        let expected = expected.map(|mut row| {
            row.push(None);
            row
        });
        assert_eq!((found, repairs), (expected.to_vec(), 2));
        let many = document("<head/>", &"<result/>".repeat(4));
        assert!(matches!(read(&many), Err(ReadError::TooManyRows)));
        let boolean = "<s:sparql xmlns:s='x:s'><s:head/><s:boolean> true </s:boolean></s:sparql>";
        assert_eq!(
            read(boolean).expect("a boolean").0,
            [[Some("true".to_owned())]]
        );
    }

    #[test]
    fn invalid_and_truncated_results_are_errors() {
        let head = "<head><variable name='a'/></head>";
        let row = "<result><binding name='a'><literal>x</literal></binding></result>";
        let whole = document(head, row);
        let whole = whole.trim_end();
        for end in 1..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{}", &whole[..end]);
        }
        let nested = "<triple><subject><uri>x:s</uri></subject><object>".repeat(100);
        for text in [
            "<html/>".to_owned(),
            "<sparql><head/></sparql>".to_owned(),
            format!("{whole}{whole}"),
            document("<head><variable name='a'/><variable name='a'/></head>", ""),
            document("<head><variable name='b'/></head>", row),
            document(head, "<result><binding><uri>x:a</uri></binding></result>"),
            document(head, "<result><binding name='a'>x</binding></result>"),
            document(
                head,
                "<result><binding name='a'><thing/></binding></result>",
            ),
            document(
                head,
                "<result><binding name='a'><literal>&unknown;</literal></binding></result>",
            ),
            document(
                head,
                "<result><binding name='a'><literal>a<b/></literal></binding></result>",
            ),
            document(head, &format!("<result><binding name='a'>{nested}")),
        ] {
            assert!(read(&text).is_err(), "{text}");
        }
    }
}
