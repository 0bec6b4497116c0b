//! XML documents as trees, within bounds. A document type declaration is an error, so no entity is expanded.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::rc::Rc;

/// Maximum depth of elements.
const MAX_DEPTH: usize = 64;
/// Maximum number of elements, texts and attributes of a document.
const MAX_NODES: usize = 4_000_000;
/// Maximum number of attributes of an element.
const MAX_ATTRIBUTES: usize = 200;
/// Maximum number of namespace declarations in scope. Each name is compared with all of them.
const MAX_NAMESPACES: usize = 200;
/// Maximum size of a text in bytes: 1 MiB.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Namespace of `xml:lang` and `xml:base`.
const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// Namespace of `xsi:type` and `xsi:schemaLocation`, which are no content.
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// An element with its content.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Namespace IRI; empty for a name without a namespace.
    pub(super) namespace: Rc<str>,
    /// Local name.
    pub(super) name: Rc<str>,
    attributes: Vec<Attribute>,
    children: Vec<Child>,
}

#[derive(Clone, Debug)]
struct Attribute {
    namespace: Rc<str>,
    name: Rc<str>,
    value: String,
}

#[derive(Clone, Debug)]
enum Child {
    Element(Element),
    Text(String),
}

/// A value of an element that no mapping has taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    /// Local names from the element on, separated by `/`; that of an attribute begins with `@`.
    pub(super) path: String,
    /// Value.
    pub(super) text: String,
}

/// Parses a document. The error is the reason, with the line.
pub(super) fn parse(text: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let mut parser = TreeParser::default();
    loop {
        let event = reader.read_event();
        let step = match event {
            Ok(Event::Eof) => break,
            Ok(event) => parser.event(event),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = step {
            let place = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let read = text.as_bytes().get(..place).unwrap_or(text.as_bytes());
            let line = 1 + read.iter().filter(|byte| **byte == b'\n').count();
            return Err(format!(
                "not well-formed XML, or beyond its limits, in line {line}: {reason}"
            ));
        }
    }
    match (parser.root, parser.open.last()) {
        (_, Some(open)) => Err(format!(
            "the XML document is truncated: it ends in the element <{}>",
            open.name
        )),
        (None, None) => Err("an XML document without an element".to_owned()),
        (Some(root), None) => Ok(root),
    }
}

#[derive(Default)]
struct TreeParser {
    open: Vec<Element>,
    root: Option<Element>,
    /// Prefixes and namespaces in scope, the innermost last.
    scope: Vec<(String, Rc<str>)>,
    /// Lengths of the scope outside of the open elements.
    scope_lengths: Vec<usize>,
    names: FxHashMap<String, Rc<str>>,
    nodes: usize,
}

impl TreeParser {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(_) => {
                self.end();
                Ok(())
            }
            Event::Text(text) => {
                let text = text.unescape().map_err(|error| error.to_string())?;
                self.text(&text)
            }
            Event::CData(text) => {
                let text = std::str::from_utf8(&text).map_err(|error| error.to_string())?;
                self.text(text)
            }
            Event::DocType(_) => Err("a document type declaration is not accepted".to_owned()),
            _ => Ok(()),
        }
    }

    fn count(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(format!(
                "more than {MAX_NODES} elements, texts and attributes"
            ));
        }
        Ok(())
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("elements are nested more than {MAX_DEPTH} deep"));
        }
        self.scope_lengths.push(self.scope.len());
        let mut attributes = Vec::new();
        // The library's check for duplicates compares all pairs; their number is limited below.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let name = std::str::from_utf8(attribute.key.as_ref())
                .map_err(|error| error.to_string())?
                .to_owned();
            let value = attribute
                .unescape_value()
                .map_err(|error| error.to_string())?;
            let prefix = match name.strip_prefix("xmlns") {
                Some("") => Some(""),
                Some(rest) => rest.strip_prefix(':'),
                None => None,
            };
            if let Some(prefix) = prefix {
                if self.scope.len() >= MAX_NAMESPACES {
                    return Err(format!("more than {MAX_NAMESPACES} namespaces in scope"));
                }
                let namespace = self.intern(value.trim());
                self.scope.push((prefix.to_owned(), namespace));
                continue;
            }
            if attributes.len() >= MAX_ATTRIBUTES {
                return Err(format!(
                    "an element with more than {MAX_ATTRIBUTES} attributes"
                ));
            }
            if value.len() > MAX_TEXT_BYTES {
                return Err(format!("an attribute of more than {MAX_TEXT_BYTES} bytes"));
            }
            attributes.push((name, value.into_owned()));
        }
        self.count(1 + attributes.len())?;
        let name = tag.name();
        let name = std::str::from_utf8(name.as_ref()).map_err(|error| error.to_string())?;
        // After all attributes: a declaration applies to its own element and attributes, too (Namespaces in XML, 6.1).
        let (namespace, name) = self.resolve(name, true)?;
        let attributes = attributes
            .into_iter()
            .map(|(name, value)| {
                let (namespace, name) = self.resolve(&name, false)?;
                Ok(Attribute {
                    namespace,
                    name,
                    value,
                })
            })
            .collect::<Result<Vec<Attribute>, String>>()?;
        self.open.push(Element {
            namespace,
            name,
            attributes,
            children: Vec::new(),
        });
        Ok(())
    }

    fn end(&mut self) {
        if let Some(length) = self.scope_lengths.pop() {
            self.scope.truncate(length);
        }
        let Some(element) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(Child::Element(element)),
            None => self.root = Some(element),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(format!("a text of more than {MAX_TEXT_BYTES} bytes"));
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        self.count(1)?;
        let Some(parent) = self.open.last_mut() else {
            return Err("text outside of the root element".to_owned());
        };
        match parent.children.last_mut() {
            Some(Child::Text(before)) if before.len() + text.len() <= MAX_TEXT_BYTES => {
                before.push_str(text);
            }
            _ => parent.children.push(Child::Text(text.to_owned())),
        }
        Ok(())
    }

    /// Returns namespace and local name. Attributes without a prefix have no namespace.
    fn resolve(&mut self, qualified: &str, is_element: bool) -> Result<(Rc<str>, Rc<str>), String> {
        let (prefix, name) = qualified.split_once(':').unwrap_or(("", qualified));
        let namespace = match prefix {
            "" if !is_element => self.intern(""),
            "xml" => self.intern(XML),
            prefix => {
                let declared = self.scope.iter().rev().find(|(known, _)| known == prefix);
                match declared {
                    Some((_, namespace)) => Rc::clone(namespace),
                    None if prefix.is_empty() => self.intern(""),
                    None => return Err(format!("the prefix {prefix}: is not declared")),
                }
            }
        };
        Ok((namespace, self.intern(name)))
    }

    fn intern(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.names.get(text) {
            return Rc::clone(known);
        }
        let interned: Rc<str> = text.into();
        self.names.insert(text.to_owned(), Rc::clone(&interned));
        interned
    }
}

impl Element {
    /// Yields the elements directly inside.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Yields the elements directly inside with a local name.
    pub(super) fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.elements()
            .filter(move |element| &*element.name == name)
    }

    /// Returns the first element at a path of local names.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        let mut element = self;
        for name in path.split('/') {
            element = element.elements().find(|inner| &*inner.name == name)?;
        }
        Some(element)
    }

    /// Returns the text at a path, if it is not empty.
    pub(super) fn text_at(&self, path: &str) -> Option<String> {
        Some(self.at(path)?.text()).filter(|text| !text.is_empty())
    }

    /// Returns the text directly inside, without white space at its ends.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for child in &self.children {
            if let Child::Text(piece) = child {
                text.push_str(piece);
            }
        }
        text.trim().to_owned()
    }

    /// Returns the value of an attribute with a local name in any namespace.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|attribute| &*attribute.name == name)
            .map(|attribute| attribute.value.trim())
            .filter(|value| !value.is_empty())
    }

    /// Yields the names and values of the attributes that are content.
    pub(super) fn content_attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes
            .iter()
            .filter(|attribute| &*attribute.namespace != XSI && !attribute.value.trim().is_empty())
            .map(|attribute| (&*attribute.name, attribute.value.trim()))
    }

    /// Removes and returns the elements at a path of local names.
    pub(super) fn take(&mut self, path: &str) -> Vec<Self> {
        let mut taken = Vec::new();
        match path.split_once('/') {
            Some((name, rest)) => {
                for child in &mut self.children {
                    if let Child::Element(element) = child
                        && &*element.name == name
                    {
                        taken.append(&mut element.take(rest));
                    }
                }
            }
            None => {
                for child in std::mem::take(&mut self.children) {
                    match child {
                        Child::Element(element) if &*element.name == path => taken.push(element),
                        other => self.children.push(other),
                    }
                }
            }
        }
        taken
    }

    /// Adds an element inside.
    pub(super) fn adopt(&mut self, element: Self) {
        self.children.push(Child::Element(element));
    }

    /// Removes and returns the elements directly inside.
    pub(super) fn take_elements(&mut self) -> Vec<Self> {
        let mut taken = Vec::new();
        for child in std::mem::take(&mut self.children) {
            match child {
                Child::Element(element) => taken.push(element),
                text => self.children.push(text),
            }
        }
        taken
    }

    /// Returns all values inside: texts, and attributes for which `is_content` returns true.
    pub(super) fn leaves(&self, is_content: &dyn Fn(&str) -> bool) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.add_leaves("", is_content, &mut leaves);
        leaves
    }

    fn add_leaves(&self, path: &str, is_content: &dyn Fn(&str) -> bool, leaves: &mut Vec<Leaf>) {
        let path = match path {
            "" => self.name.to_string(),
            path => format!("{path}/{}", self.name),
        };
        let text = self.text();
        for (name, value) in self.content_attributes() {
            if is_content(name) && value != text {
                leaves.push(Leaf {
                    path: format!("{path}/@{name}"),
                    text: value.to_owned(),
                });
            }
        }
        if !text.is_empty() {
            leaves.push(Leaf {
                path: path.clone(),
                text,
            });
        }
        for element in self.elements() {
            element.add_leaves(&path, is_content, leaves);
        }
    }

    /// Returns the element as a document of its own, with all namespaces that it needs.
    pub(super) fn to_xml(&self) -> String {
        let mut xml = String::new();
        self.write_xml("", &mut xml);
        xml
    }

    fn write_xml(&self, outer_namespace: &str, xml: &mut String) {
        let _ = write!(xml, "<{}", self.name);
        if *self.namespace != *outer_namespace {
            let _ = write!(xml, " xmlns=\"{}\"", escape_xml(&self.namespace));
        }
        for (number, attribute) in self.attributes.iter().enumerate() {
            let (name, value) = (&attribute.name, escape_xml(&attribute.value));
            let _ = match &*attribute.namespace {
                "" => write!(xml, " {name}=\"{value}\""),
                XML => write!(xml, " xml:{name}=\"{value}\""),
                namespace => write!(
                    xml,
                    " xmlns:n{number}=\"{}\" n{number}:{name}=\"{value}\"",
                    escape_xml(namespace)
                ),
            };
        }
        xml.push('>');
        for child in &self.children {
            match child {
                Child::Element(element) => element.write_xml(&self.namespace, xml),
                Child::Text(text) => xml.push_str(&escape_xml(text)),
            }
        }
        let _ = write!(xml, "</{}>", self.name);
    }
}

fn escape_xml(text: &str) -> String {
    quick_xml::escape::escape(text)
        // A parser normalizes line breaks and tabs in attributes to spaces (XML 1.0, 3.3.3), unless they are references.
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
        .replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_namespaces_and_texts() {
        let text = "<?xml version='1.0'?><a xmlns='x' xmlns:p='y' p:b='1' c='2'><p:d> t &lt; <![CDATA[<u>]]> </p:d><e xmlns=''/></a>";
        let mut root = parse(text).expect("a tree");
        assert_eq!((&*root.namespace, &*root.name), ("x", "a"));
        assert_eq!(
            (
                root.attribute("b"),
                root.attribute("c"),
                root.attribute("d")
            ),
            (Some("1"), Some("2"), None)
        );
        assert_eq!(root.text_at("d").as_deref(), Some("t < <u>"));
        let again = parse(&root.to_xml()).expect("a tree");
        assert_eq!(format!("{again:?}"), format!("{root:?}"));
        assert_eq!(
            root.at("e").map(|e| e.namespace.to_string()).as_deref(),
            Some("")
        );
        let leaf = |path: &str, text: &str| Leaf {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(
            root.leaves(&|name| name != "c"),
            [leaf("a/@b", "1"), leaf("a/d", "t < <u>")]
        );
        assert_eq!(root.take("d").len(), 1);
        assert_eq!(root.take("d").len(), 0);
    }

    #[test]
    fn hostile_documents_are_errors() {
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        let namespaces: String = (0..=MAX_NAMESPACES)
            .map(|number| format!(" xmlns:p{number}='x'"))
            .collect();
        let attributes: String = (0..=MAX_ATTRIBUTES)
            .map(|number| format!(" p{number}='x'"))
            .collect();
        for (text, reason) in [
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "document type"),
            ("<a>&b;</a>", "line 1"),
            ("<a>\n<b></a>", "line 2"),
            ("<a>\n<b>", "truncated"),
            ("<p:a/>", "p: is not declared"),
            (deep.as_str(), "nested more than 64"),
            (&format!("<a{namespaces}/>"), "200 namespaces"),
            (&format!("<a{attributes}/>"), "200 attributes"),
            (
                &format!("<a>{}</a>", "x".repeat(MAX_TEXT_BYTES + 1)),
                "a text of more",
            ),
            ("", "without an element"),
        ] {
            let error = parse(text).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }
}
