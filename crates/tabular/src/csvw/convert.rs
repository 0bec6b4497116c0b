//! Triples of annotated tables: <https://www.w3.org/TR/csv2rdf/>.

use super::datatype::Format;
use super::metadata::{
    Annotation, Column, DESCRIPTIONS, Dialect, Inherited, MetadataReader, Table, TableGroup,
    annotation_text, column_name, do_languages_match, name_of_title, resolve,
};
use super::template::Template;
use super::{CsvwError, Mode, Resolver};
use crate::encoding::TextEncoding;
use crate::table::{ColumnDescription, header_label};
use csv::{ReaderBuilder, StringRecord};
use lodeseek_rdf::vocab::{csvw, rdf};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, TripleRef};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::io::Read as _;

/// Maximum number of warnings about cells.
const MAX_CELL_WARNINGS: usize = 100;
/// Template of the property of a column without `propertyUrl`.
const DEFAULT_PROPERTY_URL: &str = "{#_name}";

/// Returns the group of a table without metadata.
pub(super) fn group_without_metadata(address: &str) -> TableGroup {
    TableGroup {
        tables: vec![Table {
            id: None,
            url: address.to_owned(),
            is_suppressed: false,
            annotations: Vec::new(),
            notes: Vec::new(),
            dialect: Dialect::default(),
            columns: None,
            inherited: Inherited::default(),
            row_titles: Vec::new(),
            foreign_keys: Vec::new(),
            schema_id: None,
            language: None,
        }],
        ..TableGroup::default()
    }
}

/// Description that a metadata document has of a table, which is not converted by it.
#[derive(Debug, Default)]
pub(crate) struct DescribedTable {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// One for the first title of each column, then one for each other title and name that a header may have.
    pub(crate) columns: Vec<ColumnDescription>,
    /// Properties of the document without effect on the table.
    pub(crate) unused: BTreeSet<&'static str>,
}

/// Returns the description that a metadata document has of a table, if it has one.
pub(crate) fn describe_table(
    text: &str,
    address: &str,
    table: &str,
    resolver: &dyn Resolver,
) -> Result<Option<DescribedTable>, CsvwError> {
    let mut warnings = Vec::new();
    let group = MetadataReader::read(text, address, resolver, &mut warnings)?;
    let Some(found) = group.tables.iter().find(|found| found.url == table) else {
        return Ok(None);
    };
    let mut described = DescribedTable {
        title: annotation_text(&found.annotations, &["/title", "#label", "/name"]),
        description: annotation_text(&found.annotations, DESCRIPTIONS),
        unused: unused_properties(&found.inherited, false)
            .into_iter()
            .collect(),
        ..DescribedTable::default()
    };
    let mut others = Vec::new();
    let mut place = 0;
    for column in found.columns.iter().flatten() {
        described
            .unused
            .extend(unused_properties(&column.inherited, column.is_virtual));
        if column.is_virtual {
            continue;
        }
        let titles = column.titles.iter().map(|(_, title)| title.as_str());
        let mut headers = titles.chain(column.name.as_deref());
        let first = headers.next().unwrap_or_default();
        described
            .columns
            .push(describe_column(found, column, place, first));
        for header in headers {
            others.push(describe_column(found, column, place, header));
        }
        place += 1;
    }
    described.columns.append(&mut others);
    Ok(Some(described))
}

/// Returns the properties of a column that change the conversion of CSV on the Web, and have no effect without it.
fn unused_properties(inherited: &Inherited, is_virtual: bool) -> Vec<&'static str> {
    let datatype = inherited.datatype.as_ref();
    let has_format = datatype.is_some_and(|datatype| !matches!(datatype.format, Format::None));
    let properties = [
        ("aboutUrl", inherited.about_url.is_some()),
        ("default", inherited.default.is_some()),
        ("format", has_format),
        ("null", inherited.null.is_some()),
        ("separator", inherited.separator.is_some()),
        ("valueUrl", inherited.value_url.is_some()),
        ("virtual", is_virtual),
    ];
    let stated = properties.into_iter().filter(|(_, is_stated)| *is_stated);
    stated.map(|(name, _)| name).collect()
}

/// Returns the description of a column with a header. `place` is its number from 0.
fn describe_column(
    table: &Table,
    column: &Column,
    place: usize,
    header: &str,
) -> ColumnDescription {
    let name = column_name(column).unwrap_or_else(|| format!("_col.{}", place + 1));
    let property = column.inherited.property_url.as_ref().and_then(|template| {
        let expanded = template.expand(&|key| (key == "_name").then(|| name.clone()));
        let expanded = super::context::expand_prefixed_name(&expanded).unwrap_or(expanded);
        let iri = resolve(&table.url, &expanded);
        NamedNode::new(&iri).is_ok().then_some(iri)
    });
    let is_text =
        column.inherited.datatype.as_ref().is_some_and(|datatype| {
            matches!(datatype.base, "string" | "normalizedString" | "token")
        });
    let mut titles = column.titles.iter().map(|(_, title)| title.clone());
    // A header that is the only title has the name as its label: `mm` is the `precipitation`.
    let title = titles.find(|title| title != header).or_else(|| {
        let name = column.name.as_deref().filter(|name| *name != header)?;
        Some(header_label(name, name))
    });
    ColumnDescription {
        name: header.to_owned(),
        title,
        description: column.description.clone(),
        unit: None,
        property,
        is_text,
    }
}

/// Writes the triples of a group of tables.
pub(super) fn write_group(
    group: &TableGroup,
    resolver: &dyn Resolver,
    mode: Mode,
    warnings: &mut Vec<String>,
    emit: &mut dyn FnMut(TripleRef<'_>),
) -> Result<(), CsvwError> {
    let mut writer = Writer {
        mode,
        warnings,
        emit,
        default_property: Template::parse(DEFAULT_PROPERTY_URL),
        blank_nodes: 0,
        cell_warnings: 0,
    };
    let node = writer.node(group.id.as_deref());
    if mode == Mode::Standard {
        writer.add_type(&node, csvw::TABLE_GROUP);
        writer.annotations(&node, &group.annotations, &group.notes);
    }
    for table in &group.tables {
        if !table.is_suppressed {
            writer.table(&node, table, resolver)?;
        }
    }
    Ok(())
}

struct Writer<'w> {
    mode: Mode,
    warnings: &'w mut Vec<String>,
    emit: &'w mut dyn FnMut(TripleRef<'_>),
    /// [`DEFAULT_PROPERTY_URL`], parsed once for all cells.
    default_property: Template,
    blank_nodes: u64,
    cell_warnings: usize,
}

/// Column while its cells are read.
struct ReadColumn {
    name: String,
    column: Column,
}

/// Value of a cell.
enum CellValue {
    Null,
    One(Literal),
    List(Vec<Literal>),
}

impl CellValue {
    /// Returns the text for templates.
    fn text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::One(literal) => Some(literal.value().to_owned()),
            Self::List(literals) => {
                let texts: Vec<&str> = literals.iter().map(Literal::value).collect();
                Some(texts.join(","))
            }
        }
    }
}

impl Writer<'_> {
    fn blank(&mut self) -> NamedOrBlankNode {
        self.blank_nodes += 1;
        BlankNode::new_unchecked(format!("csvw{}", self.blank_nodes)).into()
    }

    fn node(&mut self, id: Option<&str>) -> NamedOrBlankNode {
        match id.and_then(|id| NamedNode::new(id).ok()) {
            Some(node) => node.into(),
            None => self.blank(),
        }
    }

    fn triple(&mut self, subject: &NamedOrBlankNode, predicate: &str, object: &Term) {
        (self.emit)(TripleRef::new(
            subject.as_ref(),
            NamedNodeRef::new_unchecked(predicate),
            object.as_ref(),
        ));
    }

    fn add_type(&mut self, subject: &NamedOrBlankNode, class: &str) {
        self.triple(subject, rdf::TYPE, &NamedNode::new_unchecked(class).into());
    }

    fn annotations(
        &mut self,
        subject: &NamedOrBlankNode,
        annotations: &[(String, Annotation)],
        notes: &[Annotation],
    ) {
        for (property, value) in annotations {
            let object = self.annotation(value);
            self.triple(subject, property, &object);
        }
        for note in notes {
            let object = self.annotation(note);
            self.triple(subject, csvw::NOTE, &object);
        }
    }

    fn annotation(&mut self, value: &Annotation) -> Term {
        match value {
            Annotation::Iri(iri) => NamedNode::new_unchecked(iri.as_str()).into(),
            Annotation::Literal {
                text,
                datatype,
                language,
            } => match (datatype, language) {
                (Some(datatype), _) => {
                    Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype.as_str()))
                        .into()
                }
                (None, Some(tag)) => Literal::new_language_tagged_literal(text, tag)
                    .unwrap_or_else(|_| Literal::new_simple_literal(text))
                    .into(),
                (None, None) => Literal::new_simple_literal(text).into(),
            },
            Annotation::Node {
                id,
                types,
                properties,
            } => {
                let node = self.node(id.as_deref());
                for class in types {
                    self.add_type(&node, class);
                }
                for (property, values) in properties {
                    for value in values {
                        let object = self.annotation(value);
                        self.triple(&node, property, &object);
                    }
                }
                node.into()
            }
            Annotation::List(values) => {
                let terms: Vec<Term> = values.iter().map(|value| self.annotation(value)).collect();
                self.list(&terms)
            }
        }
    }

    fn list(&mut self, terms: &[Term]) -> Term {
        let mut rest: Term = NamedNode::new_unchecked(rdf::NIL).into();
        for term in terms.iter().rev() {
            let node = self.blank();
            self.triple(&node, rdf::FIRST, term);
            self.triple(&node, rdf::REST, &rest);
            rest = node.into();
        }
        rest
    }

    fn table(
        &mut self,
        group: &NamedOrBlankNode,
        table: &Table,
        resolver: &dyn Resolver,
    ) -> Result<(), CsvwError> {
        let fetched = resolver
            .fetch(&table.url)
            .ok_or_else(|| CsvwError::new(format!("the table {} cannot be read", table.url)))?;
        let text = decode_text(&fetched.bytes, &table.dialect);
        let mut rows = TableRows::new(&text, &table.dialect);
        let header = rows.header();
        let mut first = None;
        let mut width = header.iter().map(Vec::len).max().unwrap_or_default();
        // Without a header, the first row determines the number of columns. It is data, and written below.
        if header.is_empty() {
            first = rows.next_row();
            width = match &first {
                Some((_, cells)) => cells.len(),
                None => 0,
            };
        }
        let columns = self.columns(table, &header, width);
        let node = self.node(table.id.as_deref());
        if self.mode == Mode::Standard {
            self.triple(group, csvw::TABLE_PROPERTY, &node.clone().into());
            self.add_type(&node, csvw::TABLE);
            self.annotations(&node, &table.annotations, &table.notes);
            let url = NamedNode::new_unchecked(table.url.as_str());
            self.triple(&node, csvw::URL, &url.into());
        }
        let mut number = 0;
        while let Some((source_row, cells)) = first.take().or_else(|| rows.next_row()) {
            number += 1;
            self.row(&node, table, &columns, number, source_row, &cells);
        }
        for comment in rows.comments {
            if self.mode == Mode::Standard {
                let comment = Literal::new_simple_literal(comment);
                self.triple(&node, lodeseek_rdf::vocab::rdfs::COMMENT, &comment.into());
            }
        }
        Ok(())
    }

    /// Returns the columns: those of the metadata, or those of the header.
    fn columns(&mut self, table: &Table, header: &[Vec<String>], width: usize) -> Vec<ReadColumn> {
        let mut columns = table.columns.clone().unwrap_or_default();
        if table.columns.is_some() {
            let described = columns.iter().filter(|column| !column.is_virtual).count();
            if table.dialect.header_rows > 0 && described != width {
                self.warnings.push(format!(
                    "{} has {width} columns, its metadata {described}",
                    table.url
                ));
            }
            for (place, column) in columns.iter().enumerate().take(described.min(width)) {
                let titles: Vec<&str> = header
                    .iter()
                    .filter_map(|row| row.get(place).map(String::as_str))
                    .filter(|title| !title.is_empty())
                    .collect();
                if !is_compatible(column, &titles, table.language.as_deref()) {
                    self.warnings.push(format!(
                        "the title {} of column {} of {} is not in its metadata",
                        titles.join(" "),
                        place + 1,
                        table.url
                    ));
                }
            }
            // Columns without a description are between the described ones and the virtual ones.
            for place in described..width {
                columns.insert(
                    place,
                    Column {
                        inherited: table.inherited.clone(),
                        ..Column::default()
                    },
                );
            }
        } else {
            for place in 0..width {
                let titles = header
                    .iter()
                    .filter_map(|row| row.get(place))
                    .filter(|title| !title.is_empty())
                    .map(|title| ("und".to_owned(), title.clone()))
                    .collect();
                columns.push(Column {
                    titles,
                    inherited: table.inherited.clone(),
                    ..Column::default()
                });
            }
        }
        columns
            .into_iter()
            .enumerate()
            .map(|(place, column)| ReadColumn {
                name: column_name(&column).unwrap_or_else(|| format!("_col.{}", place + 1)),
                column,
            })
            .collect()
    }

    fn row(
        &mut self,
        table_node: &NamedOrBlankNode,
        table: &Table,
        columns: &[ReadColumn],
        number: u64,
        source_row: u64,
        cells: &[String],
    ) {
        let values: Vec<CellValue> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                let text = match cells.get(place) {
                    Some(text) if !column.column.is_virtual => text.as_str(),
                    _ => "",
                };
                self.value(&column.column.inherited, text, source_row, &column.name)
            })
            .collect();
        let row = self.blank();
        if self.mode == Mode::Standard {
            self.triple(table_node, csvw::ROW, &row.clone().into());
            self.add_type(&row, csvw::ROW_CLASS);
            let rownum = Literal::new_typed_literal(number.to_string(), xsd::INTEGER);
            self.triple(&row, csvw::ROWNUM, &rownum.into());
            let url = format!(
                "{}#row={source_row}",
                crate::iri::without_fragment(&table.url)
            );
            self.triple(&row, csvw::URL, &NamedNode::new_unchecked(url).into());
            for title in &table.row_titles {
                self.row_title(&row, title, columns, &values);
            }
        }
        let default_subject = self.blank();
        let mut described = FxHashSet::default();
        let template_row = TemplateRow {
            columns,
            values: &values,
            number,
            source_row,
        };
        for (place, column) in columns.iter().enumerate() {
            if column.column.is_suppressed {
                continue;
            }
            let inherited = &column.column.inherited;
            let subject = match &inherited.about_url {
                Some(template) => {
                    let iri = template_row.expand(template, place, &table.url);
                    self.node(Some(&iri))
                }
                None => default_subject.clone(),
            };
            // A row describes each subject once, however many columns it has.
            if self.mode == Mode::Standard && described.insert(subject.clone()) {
                self.triple(&row, csvw::DESCRIBES, &subject.clone().into());
            }
            let template = inherited.property_url.as_ref();
            let property = template_row.expand(
                template.unwrap_or(&self.default_property),
                place,
                &table.url,
            );
            let is_null = matches!(values[place], CellValue::Null);
            if let Some(template) = &inherited.value_url {
                // A virtual column has no cells, so that its value does not depend on one.
                if !is_null || column.column.is_virtual {
                    let iri = template_row.expand(template, place, &table.url);
                    let object = NamedNode::new_unchecked(iri);
                    self.triple(&subject, &property, &object.into());
                }
                continue;
            }
            match &values[place] {
                CellValue::Null => (),
                CellValue::One(literal) => {
                    self.triple(&subject, &property, &literal.clone().into());
                }
                CellValue::List(literals) if inherited.is_ordered == Some(true) => {
                    let terms: Vec<Term> = literals.iter().cloned().map(Term::from).collect();
                    let list = self.list(&terms);
                    self.triple(&subject, &property, &list);
                }
                CellValue::List(literals) => {
                    for literal in literals {
                        self.triple(&subject, &property, &literal.clone().into());
                    }
                }
            }
        }
    }

    fn row_title(
        &mut self,
        row: &NamedOrBlankNode,
        title: &str,
        columns: &[ReadColumn],
        values: &[CellValue],
    ) {
        let Some(place) = columns.iter().position(|column| column.name == title) else {
            return;
        };
        let literals = match &values[place] {
            CellValue::Null => return,
            CellValue::One(literal) => std::slice::from_ref(literal),
            CellValue::List(literals) => literals.as_slice(),
        };
        for literal in literals {
            let text = match literal.language() {
                Some(_) => literal.clone(),
                None => Literal::new_simple_literal(literal.value()),
            };
            self.triple(row, csvw::TITLE, &text.into());
        }
    }

    /// Returns the value of a cell, as of section 6.4 of the data model.
    fn value(&mut self, inherited: &Inherited, text: &str, row: u64, column: &str) -> CellValue {
        let datatype = inherited.datatype.as_ref();
        let keeps_space = datatype.is_none_or(super::datatype::Datatype::keeps_space);
        let normalized;
        let mut text = text;
        // In the order of section 6.4: white space, the default, then missing values.
        if !keeps_space {
            let is_normalized =
                datatype.is_some_and(|datatype| datatype.base == "normalizedString");
            let spaced = text.replace(['\r', '\n', '\t'], " ");
            normalized = if is_normalized {
                spaced
            } else {
                spaced
                    .split(' ')
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            text = &normalized;
        }
        if text.is_empty()
            && let Some(default) = &inherited.default
        {
            text = default;
        }
        if let Some(separator) = inherited
            .separator
            .as_deref()
            .filter(|separator| !separator.is_empty())
        {
            if is_missing(text, inherited) {
                return if text.is_empty() {
                    CellValue::List(Vec::new())
                } else {
                    CellValue::Null
                };
            }
            let mut literals = Vec::new();
            for part in text.split(separator) {
                let part = if keeps_space && datatype.is_some() {
                    part
                } else {
                    part.trim()
                };
                if !is_missing(part, inherited) {
                    literals.push(self.literal(inherited, part, row, column));
                }
            }
            return CellValue::List(literals);
        }
        if is_missing(text, inherited) {
            if inherited.is_required == Some(true) {
                self.cell_warning(row, column, "a value is required");
            }
            return CellValue::Null;
        }
        CellValue::One(self.literal(inherited, text, row, column))
    }

    fn literal(&mut self, inherited: &Inherited, text: &str, row: u64, column: &str) -> Literal {
        let language = inherited.language.as_deref().filter(|tag| *tag != "und");
        let Some(datatype) = &inherited.datatype else {
            return string_literal(text, language);
        };
        match datatype.parse(text) {
            Ok(_) if datatype.iri == xsd::STRING.as_str() => string_literal(text, language),
            Ok(form) => {
                Literal::new_typed_literal(form, NamedNode::new_unchecked(datatype.iri.as_str()))
            }
            Err(reason) => {
                self.cell_warning(row, column, &reason);
                string_literal(text, language)
            }
        }
    }

    fn cell_warning(&mut self, row: u64, column: &str, reason: &str) {
        self.cell_warnings += 1;
        if self.cell_warnings <= MAX_CELL_WARNINGS {
            self.warnings
                .push(format!("row {row}, column {column}: {reason}"));
        }
    }
}

/// Returns true if a text stands for a missing value.
fn is_missing(text: &str, inherited: &Inherited) -> bool {
    match &inherited.null {
        Some(marks) => marks.iter().any(|mark| mark == text),
        None => text.is_empty(),
    }
}

/// Returns a string, in a language if its tag is well-formed.
fn string_literal(text: &str, language: Option<&str>) -> Literal {
    language
        .and_then(|tag| Literal::new_language_tagged_literal(text, tag).ok())
        .unwrap_or_else(|| Literal::new_simple_literal(text))
}

/// Row whose values fill in the templates of its columns.
struct TemplateRow<'r> {
    columns: &'r [ReadColumn],
    values: &'r [CellValue],
    number: u64,
    source_row: u64,
}

impl TemplateRow<'_> {
    /// Returns the IRI that the column at `place` gets from a template.
    fn expand(&self, template: &Template, place: usize, table_url: &str) -> String {
        let expanded = template.expand(&|name| self.variable(name, place));
        let expanded = super::context::expand_prefixed_name(&expanded).unwrap_or(expanded);
        resolve(table_url, &expanded)
    }

    fn variable(&self, name: &str, place: usize) -> Option<String> {
        match name {
            "_row" => Some(self.number.to_string()),
            "_sourceRow" => Some(self.source_row.to_string()),
            "_column" | "_sourceColumn" => Some((place + 1).to_string()),
            "_name" => Some(self.columns[place].name.clone()),
            _ => {
                let found = self.columns.iter().position(|column| column.name == name)?;
                self.values[found].text()
            }
        }
    }
}

/// Returns true if a title of the header is one of the metadata, or if either has none.
fn is_compatible(column: &Column, header: &[&str], language: Option<&str>) -> bool {
    if header.is_empty() {
        return true;
    }
    if column.titles.is_empty() {
        return column.name.as_deref().is_none_or(|name| {
            header
                .iter()
                .any(|title| *title == name || name_of_title(title) == name)
        });
    }
    let language = column
        .inherited
        .language
        .as_deref()
        .or(language)
        .unwrap_or("und");
    column
        .titles
        .iter()
        .any(|(tag, title)| header.contains(&title.as_str()) && do_languages_match(tag, language))
}

fn decode_text(bytes: &[u8], dialect: &Dialect) -> String {
    let declared = dialect
        .encoding
        .as_deref()
        .and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()))
        .filter(|encoding| *encoding != encoding_rs::UTF_8);
    if let Some(encoding) = declared {
        return encoding.decode(bytes).0.into_owned();
    }
    let mut text = String::new();
    let mut reader = TextEncoding::detect(bytes, true).decode(bytes);
    // A slice gives no errors, and the reader gives valid UTF-8.
    let _ = reader.read_to_string(&mut text);
    text
}

/// Rows of a table in a dialect.
struct TableRows<'t> {
    reader: csv::Reader<&'t [u8]>,
    dialect: &'t Dialect,
    /// Number of rows of the source so far.
    source_row: u64,
    /// Number of blank rows that are not returned yet.
    blank_rows: u64,
    /// Row after the blank rows.
    waiting: Option<Vec<String>>,
    comments: Vec<String>,
}

impl<'t> TableRows<'t> {
    fn new(text: &'t str, dialect: &'t Dialect) -> Self {
        let mut builder = ReaderBuilder::new();
        builder
            .has_headers(false)
            .flexible(true)
            .delimiter(dialect.delimiter)
            .double_quote(dialect.has_double_quote);
        match dialect.quote {
            Some(quote) => builder.quote(quote),
            None => builder.quoting(false),
        };
        if !dialect.has_double_quote {
            builder.escape(Some(b'\\'));
        }
        Self {
            reader: builder.from_reader(text.as_bytes()),
            dialect,
            source_row: 0,
            blank_rows: 0,
            waiting: None,
            comments: Vec::new(),
        }
    }

    /// Skips the rows before the header, whose texts are comments. Returns their number, which is smaller than that of the dialect if
    /// the source ends before.
    fn skip_rows(&mut self) -> usize {
        for skipped in 0..self.dialect.skip_rows {
            let Some(row) = self.raw_row() else {
                return skipped;
            };
            let text = row.join(",");
            let prefix = self.dialect.comment_prefix;
            let text = prefix
                .and_then(|prefix| text.strip_prefix(prefix))
                .unwrap_or(&text);
            if !text.trim().is_empty() {
                self.comments.push(text.trim().to_owned());
            }
        }
        self.dialect.skip_rows
    }

    /// Skips rows, and reads those of the header.
    fn header(&mut self) -> Vec<Vec<String>> {
        self.skip_rows();
        let mut header = Vec::new();
        while header.len() < self.dialect.header_rows {
            let Some(row) = self.raw_row() else {
                break;
            };
            if !self.is_comment(&row) {
                header.push(self.cells(row));
            }
        }
        header
    }

    /// Returns the next row of data, with its number in the source.
    fn next_row(&mut self) -> Option<(u64, Vec<String>)> {
        loop {
            let row = self.raw_row()?;
            if self.is_comment(&row) {
                continue;
            }
            let cells = self.cells(row);
            let is_blank = cells.iter().all(String::is_empty);
            if is_blank && self.dialect.skips_blank_rows {
                continue;
            }
            return Some((self.source_row, cells));
        }
    }

    fn is_comment(&mut self, row: &[String]) -> bool {
        let Some(prefix) = self.dialect.comment_prefix else {
            return false;
        };
        let Some(comment) = row.first().and_then(|cell| cell.strip_prefix(prefix)) else {
            return false;
        };
        let mut text = comment.to_owned();
        for cell in &row[1..] {
            text.push(self.dialect.delimiter as char);
            text.push_str(cell);
        }
        if !text.trim().is_empty() {
            self.comments.push(text.trim().to_owned());
        }
        true
    }

    fn cells(&self, row: Vec<String>) -> Vec<String> {
        row.into_iter()
            .skip(self.dialect.skip_columns)
            .map(|cell| {
                let cell = if self.dialect.trims_start {
                    cell.trim_start().to_owned()
                } else {
                    cell
                };
                if self.dialect.trims_end {
                    cell.trim_end().to_owned()
                } else {
                    cell
                }
            })
            .collect()
    }

    /// Returns the next row of the source. The parser leaves blank rows out: they are the lines that no row has.
    fn raw_row(&mut self) -> Option<Vec<String>> {
        if self.blank_rows > 0 {
            self.blank_rows -= 1;
            self.source_row += 1;
            return Some(vec![String::new()]);
        }
        if let Some(row) = self.waiting.take() {
            self.source_row += 1;
            return Some(row);
        }
        let before = self.reader.position().line();
        let mut record = StringRecord::new();
        if !self.reader.read_record(&mut record).unwrap_or(false) {
            return None;
        }
        // The parser counts the lines, also those that it skips.
        let consumed = self.reader.position().line().saturating_sub(before);
        let own = record
            .iter()
            .map(|cell| cell.matches('\n').count() as u64)
            .sum::<u64>()
            + 1;
        let row: Vec<String> = record.iter().map(str::to_owned).collect();
        self.blank_rows = consumed.saturating_sub(own);
        if self.blank_rows > 0 {
            self.waiting = Some(row);
            return self.raw_row();
        }
        self.source_row += 1;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_rows_end_with_the_source() {
        for (skip_rows, expected) in [(1, 1), (3, 3), (1_000, 3)] {
            let dialect = Dialect {
                skip_rows,
                ..Dialect::default()
            };
            let mut rows = TableRows::new("a note\nunits\nname\n", &dialect);
            assert_eq!(rows.skip_rows(), expected, "{skip_rows}");
            assert_eq!(rows.comments[0], "a note");
        }
        let dialect = Dialect {
            skip_rows: 1_000,
            ..Dialect::default()
        };
        let mut rows = TableRows::new("a note\nunits\nname\n", &dialect);
        assert!(rows.header().is_empty() && rows.next_row().is_none());
        assert_eq!(rows.comments, ["a note", "units", "name"]);
    }
}
