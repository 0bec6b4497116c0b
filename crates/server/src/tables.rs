//! Tables of the entities of a class: a row for each entity, a column for each property and language.
//!
//! Columns are ordered by the number of the first entities that have them, on the page as in the CSV. A class whose entities are the rows of a file has the columns of the
//! file instead, and its rows are in the order of the file. The description of a table in CSV on the Web
//! (<https://www.w3.org/TR/tabular-metadata/>) leads from its CSV back to triples: but for blank nodes, and columns of mixed or rare
//! datatypes, to the same ones. Of several resources in a cell it makes literals. An entity with more triples than the limit is cut.

mod selection;

pub(crate) use selection::{MAX_SELECTED_ENTITIES, OrderError, RowOrder, Selection};

use crate::entities::{Entity, outgoing};
use lodeseek_rdf::vocab::{csvw, prov, rdf, rdfs, schema};
use lodeseek_rdf::{local_name, namespace, percent_decode, words};
use lodeseek_store::{Position, Resources, StoreError};
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, Term};
use rustc_hash::FxHashMap;
use selection::RowReader;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Last parts of the IRIs of classes of rows, and of records.
const ROW_CLASSES: [&str; 2] = ["Row", "Item"];
/// Maximum number of triples of an entity that are read: entities with more are hubs.
const MAX_ENTITY_TRIPLES: usize = 2000;
/// Maximum number of triples of an entity on a page.
const MAX_ROW_TRIPLES: usize = 200;
/// Maximum number of entities by which the columns of a page are chosen, and all columns are ordered.
pub(crate) const MAX_COUNTED_ENTITIES: usize = 1000;
const ROW_NUMBER: NamedNodeRef<'_> = NamedNodeRef::new_unchecked(csvw::ROWNUM);
/// Separator of the values of a cell.
const SEPARATOR: &str = " | ";
/// Name of the column with the IRIs of the entities. The page has their labels there, or the numbers of the rows.
pub(crate) const ENTITY_COLUMN: &str = "iri";
/// Datatype of columns whose values are resources.
const IRI: &str = "iri";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Datatypes of XML Schema that columns have in CSV on the Web, under the same name; others become `string`.
const DATATYPES: [&str; 14] = [
    "anyURI",
    "boolean",
    "date",
    "dateTime",
    "decimal",
    "double",
    "duration",
    "float",
    "gYear",
    "gYearMonth",
    "integer",
    "nonNegativeInteger",
    "string",
    "time",
];

/// Entities that are read one by one.
type Entities<'t> = Box<dyn Iterator<Item = Result<NamedOrBlankNode, StoreError>> + 't>;

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    pub(crate) property: String,
    /// Language of its texts; empty for other values.
    pub(crate) language: String,
    /// Name for programs, unique in the table.
    pub(crate) name: String,
    /// Header on the page: that of the file, or the name of the property in words.
    pub(crate) label: String,
    /// Number of entities that have a value.
    pub(crate) entities: u64,
    /// Datatype, if all values have the same.
    datatype: Option<String>,
    /// If true, an entity has several values.
    has_lists: bool,
}

impl Column {
    /// Returns the header of the column in CSV: that of the page, with the language of the texts.
    fn title(&self) -> String {
        if self.language.is_empty() {
            return self.label.clone();
        }
        format!("{} ({})", self.label, self.language)
    }
}

/// The entities of a class.
pub(crate) struct ClassTable<'r> {
    resources: Resources<'r>,
    class: NamedNode,
    /// If true, the entities are rows of a file.
    pub(crate) has_file: bool,
}

/// A column of a file.
#[derive(Clone, Debug)]
struct FileColumn {
    /// Position in the file, beginning with 1.
    position: u64,
    header: String,
}

impl<'r> ClassTable<'r> {
    /// Opens the table of a class. Its entities are rows of a file if the class is derived from a table.
    pub(crate) fn open(resources: Resources<'r>, class: NamedNode) -> Result<Self, StoreError> {
        let table = NamedNode::new_unchecked(csvw::TABLE);
        let mut has_file = false;
        for source in property_values(&resources, &class.clone().into(), prov::WAS_DERIVED_FROM)? {
            if let Term::NamedNode(source) = source {
                has_file |= resources.is_instance(&source.into(), &table)?;
            }
        }
        // Published data may describe a table whose rows it does not number.
        if has_file {
            has_file = match resources.instances(&class).next().transpose()? {
                Some(first) => resources.number(&first, ROW_NUMBER)?.is_some(),
                None => false,
            };
        }
        Ok(Self {
            resources,
            class,
            has_file,
        })
    }

    /// Iterates over the entities: rows in the order of the file, others in the order of the store.
    pub(crate) fn entities(&self) -> Result<Entities<'_>, StoreError> {
        if !self.has_file {
            return Ok(Box::new(self.resources.instances(&self.class)));
        }
        self.resources.by_number(ROW_NUMBER, &self.class)
    }

    /// Counts the entities up to a limit.
    pub(crate) fn count(&self, limit: usize) -> Result<usize, StoreError> {
        let entities = self.resources.instances(&self.class).take(limit);
        Ok(entities.collect::<Result<Vec<_>, _>>()?.len())
    }

    /// Returns a property as a column of the file. `None` for those that describe rows, such as their number.
    fn file_column(&self, property: &str) -> Result<Option<FileColumn>, StoreError> {
        let node = NamedNode::new_unchecked(property).into();
        let mut position: Option<u64> = None;
        for value in property_values(&self.resources, &node, schema::POSITION)? {
            // Tables may share a property.
            if let Ok(number) = cell_text(&value).parse::<u64>()
                // The first position, so that the order of the columns does not depend on that of the triples.
                && position.is_none_or(|smallest| number < smallest)
            {
                position = Some(number);
            }
        }
        let Some(position) = position else {
            return Ok(None);
        };
        let titles = property_values(&self.resources, &node, csvw::TITLE)?;
        let labels = property_values(&self.resources, &node, rdfs::LABEL)?;
        let header = titles.iter().chain(&labels).map(cell_text).next();
        Ok(Some(FileColumn {
            position,
            header: header.unwrap_or_else(|| local_name(property).to_owned()),
        }))
    }
}

/// Returns the values of a property of a resource.
fn property_values(
    resources: &Resources<'_>,
    resource: &NamedOrBlankNode,
    property: &str,
) -> Result<Vec<Term>, StoreError> {
    let property = NamedNodeRef::new_unchecked(property);
    resources.values(resource, property, MAX_ENTITY_TRIPLES)
}

/// Returns the name of the file of which the entities of a class are rows, with the name of the sheet or list. `None` if the IRI is
/// none of such a class.
///
/// The class of the rows of `sales.csv` is `…/sales.csv#Row`, that of a sheet `…/sales.xlsx#2024/Row`.
pub(crate) fn file_name(class: &str) -> Option<String> {
    let (address, fragment) = class.split_once('#')?;
    let (part, name) = fragment.rsplit_once('/').unwrap_or(("", fragment));
    if !ROW_CLASSES.contains(&name) {
        return None;
    }
    let path = address.split('?').next().unwrap_or(address);
    let file = percent_decode(local_name(path));
    if part.is_empty() {
        return Some(file);
    }
    Some(format!("{file}: {}", percent_decode(part)))
}

/// Counts of a column.
#[derive(Default)]
struct ColumnCounts {
    entities: u64,
    /// Number of the first [`MAX_COUNTED_ENTITIES`] that have a value. The page of a table and its CSV order columns alike by it.
    first_entities: u64,
    datatypes: BTreeSet<String>,
    has_lists: bool,
}

/// Returns the columns of the first `limit` entities: those of a file in its order, others by the number of entities with a value,
/// first among the first [`MAX_COUNTED_ENTITIES`].
pub(crate) fn columns(table: &ClassTable<'_>, limit: usize) -> Result<Vec<Column>, StoreError> {
    let (resources, class) = (&table.resources, &table.class);
    let mut counted: FxHashMap<(String, String), ColumnCounts> = FxHashMap::default();
    for (place, entity) in table.entities()?.take(limit).enumerate() {
        let mut values: FxHashMap<(String, String), u64> = FxHashMap::default();
        for (property, object) in entity_properties(resources, &entity?, class)? {
            let key = (property, term_language(&object).to_owned());
            let counts = counted.entry(key.clone()).or_default();
            counts.datatypes.insert(csvw_datatype(&object));
            let number = values.entry(key).or_default();
            *number += 1;
            counts.has_lists |= *number > 1;
        }
        for key in values.into_keys() {
            let counts = counted.entry(key).or_default();
            counts.entities += 1;
            if place < MAX_COUNTED_ENTITIES {
                counts.first_entities += 1;
            }
        }
    }
    let mut file_columns: FxHashMap<String, FileColumn> = FxHashMap::default();
    if table.has_file {
        let properties: BTreeSet<String> = counted.keys().map(|(name, _)| name.clone()).collect();
        for property in properties {
            if let Some(column) = table.file_column(&property)? {
                file_columns.insert(property, column);
            }
        }
        // Properties that describe rows, such as their number, are no columns of the file.
        counted.retain(|(property, _), _| file_columns.contains_key(property));
    }
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_by_cached_key(|(key, counts)| {
        let position = file_columns.get(&key.0).map(|column| column.position);
        let first = Reverse(counts.first_entities);
        (position, first, Reverse(counts.entities), key.clone())
    });
    let mut names = BTreeSet::from([ENTITY_COLUMN.to_owned()]);
    let mut labels = BTreeMap::from([(ENTITY_COLUMN.to_owned(), String::new())]);
    let mut columns = Vec::new();
    for ((property, language), counts) in counted {
        let (base, label) = match file_columns.get(&property) {
            Some(column) => (column.header.as_str(), column.header.clone()),
            None => (
                local_name(&property),
                property_label(&property, &mut labels),
            ),
        };
        let name = unique_name(base, &language, &mut names);
        let mut datatypes = counts.datatypes.into_iter();
        columns.push(Column {
            // The second value decides: of mixed datatypes, none is that of the column.
            datatype: datatypes.next().filter(|_| datatypes.next().is_none()),
            name,
            label,
            property,
            language,
            entities: counts.entities,
            has_lists: counts.has_lists,
        });
    }
    Ok(columns)
}

/// Returns the properties of an entity with their values, without the class.
fn entity_properties(
    resources: &Resources<'_>,
    entity: &NamedOrBlankNode,
    class: &NamedNode,
) -> Result<Vec<(String, Term)>, StoreError> {
    let found = resources.triples(entity, Position::Subject, 0, MAX_ENTITY_TRIPLES)?;
    let mut values = Vec::new();
    for triple in found.triples {
        let is_class = triple.predicate.as_str() == rdf::TYPE
            && matches!(&triple.object, Term::NamedNode(node) if node == class);
        if !is_class {
            values.push((triple.predicate.into_string(), triple.object));
        }
    }
    Ok(values)
}

fn term_language(term: &Term) -> &str {
    match term {
        Term::Literal(literal) => literal.language().unwrap_or_default(),
        _ => "",
    }
}

/// Returns the name of a datatype in CSV on the Web: `iri` for resources, `string` for other values.
fn csvw_datatype(term: &Term) -> String {
    let name = match term {
        Term::NamedNode(_) => IRI,
        Term::Literal(literal) => literal
            .datatype()
            .as_str()
            .strip_prefix(XSD)
            .unwrap_or_default(),
        Term::BlankNode(_) | Term::Triple(_) => "",
    };
    if name == IRI {
        return name.to_owned();
    }
    let known = DATATYPES.iter().find(|known| **known == name);
    known.copied().unwrap_or("string").to_owned()
}

/// Returns a name of letters, digits and underscores for a column that no other column has.
fn unique_name(name: &str, language: &str, names: &mut BTreeSet<String>) -> String {
    let mut base: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    // CSV on the Web reserves names that begin with `_`, and a name is a variable of URI templates.
    if !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
        base.insert(0, 'p');
    }
    if !language.is_empty() {
        base = format!("{base}_{}", language.replace('-', "_"));
    }
    let mut name = base.clone();
    let mut number = 2;
    while !names.insert(name.clone()) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// Number of rows of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowCount {
    pub(crate) rows: u64,
    /// If true, there are more rows.
    pub(crate) is_minimum: bool,
}

impl RowCount {
    /// Returns true if the rows can be sorted.
    pub(crate) fn is_sortable(self) -> bool {
        !self.is_minimum && self.rows <= MAX_SELECTED_ENTITIES as u64
    }
}

/// Entities of a class for one page.
pub(crate) struct Rows {
    pub(crate) entities: Vec<Entity>,
    /// If true, further entities follow.
    pub(crate) more: bool,
    /// Number of entities that pass the filter, of those read; `None` without a filter.
    pub(crate) matching: Option<usize>,
    /// If true, the filter did not read all entities.
    pub(crate) is_incomplete: bool,
}

/// Returns the selected entities of a table after the first `skip` ones, at most `limit`. A filter reads at most
/// [`MAX_SELECTED_ENTITIES`].
pub(crate) fn rows(
    table: &ClassTable<'_>,
    selection: &Selection,
    skip: usize,
    limit: usize,
) -> Result<Rows, StoreError> {
    let has_filter = !selection.filter.is_empty();
    let mut rows = Rows {
        entities: Vec::new(),
        more: false,
        matching: None,
        is_incomplete: false,
    };
    let mut reader = RowReader::new(table, selection);
    let mut passed = 0;
    for (place, node) in reader.entities()?.enumerate() {
        let node = node?;
        if has_filter && place == MAX_SELECTED_ENTITIES {
            rows.is_incomplete = true;
            break;
        }
        if !reader.passes(&node)? {
            continue;
        }
        passed += 1;
        if passed <= skip {
            continue;
        }
        if rows.entities.len() < limit {
            let languages = &selection.languages;
            let entity = outgoing(&table.resources, &node, MAX_ROW_TRIPLES, languages)?;
            rows.entities.push(entity);
            continue;
        }
        rows.more = true;
        // With a filter, the rows that pass are counted to the end.
        if !has_filter {
            break;
        }
    }
    rows.matching = has_filter.then_some(passed);
    Ok(rows)
}

/// Error of a table in CSV.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The receiver does not take the bytes.
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

/// Writes the selected entities of a table as CSV (RFC 4180): a header, then a line for each entity. The column with the IRIs of the
/// entities is the last one if they are rows of a file, else the first one.
pub(crate) fn write_csv(
    table: &ClassTable<'_>,
    columns: &[Column],
    selection: &Selection,
    out: &mut impl Write,
) -> Result<(), TableError> {
    // RFC 4180 ends lines with CRLF; the description of the table states the same.
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    let titles = columns.iter().map(Column::title);
    writer.write_record(with_entity(
        table.has_file,
        ENTITY_COLUMN.to_owned(),
        titles,
    ))?;
    let mut places = FxHashMap::default();
    for (place, column) in columns.iter().enumerate() {
        places.insert((column.property.as_str(), column.language.as_str()), place);
    }
    let mut reader = RowReader::new(table, selection);
    for entity in reader.entities()? {
        let entity = entity?;
        if !reader.passes(&entity)? {
            continue;
        }
        let mut cells = vec![String::new(); columns.len()];
        for (property, object) in entity_properties(&table.resources, &entity, &table.class)? {
            let Some(place) = places.get(&(property.as_str(), term_language(&object))) else {
                continue; // no column of the file, or the dataset changed since the columns were counted
            };
            let cell = &mut cells[*place];
            if !cell.is_empty() {
                cell.push_str(SEPARATOR);
            }
            cell.push_str(&cell_text(&object));
        }
        let name = match &entity {
            NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
            NamedOrBlankNode::BlankNode(node) => node.to_string(),
        };
        writer.write_record(with_entity(table.has_file, name, cells.into_iter()))?;
    }
    writer.flush().map_err(csv::Error::from)?;
    Ok(())
}

/// Returns the cells of a line with that of the entity: last if it is a row of a file, else first.
fn with_entity(is_last: bool, entity: String, cells: impl Iterator<Item = String>) -> Vec<String> {
    let mut line: Vec<String> = cells.collect();
    let place = if is_last { line.len() } else { 0 };
    line.insert(place, entity);
    line
}

/// Returns a value as the text of a cell.
fn cell_text(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
        Term::BlankNode(_) | Term::Triple(_) => term.to_string(),
    }
}

/// Returns the description of a table in CSV on the Web. `url` is the address of the CSV.
pub(crate) fn csvw(url: &str, title: &str, table: &ClassTable<'_>, columns: &[Column]) -> Value {
    let entity = json!({
        "name": ENTITY_COLUMN,
        "titles": ENTITY_COLUMN,
        "datatype": "anyURI",
        "required": true,
        "suppressOutput": true,
    });
    let mut described = Vec::new();
    for column in columns {
        let mut one = json!({
            "name": column.name,
            "titles": column.title(),
            "propertyUrl": column.property,
        });
        match column.datatype.as_deref() {
            // A cell of several values has no `valueUrl`: these are literals.
            Some(IRI) if column.has_lists => one["datatype"] = json!("anyURI"),
            // The `+` leaves reserved characters of the IRI unencoded (RFC 6570, 3.2.3).
            Some(IRI) => one["valueUrl"] = json!(format!("{{+{}}}", column.name)),
            datatype => one["datatype"] = json!(datatype.unwrap_or("string")),
        }
        if !column.language.is_empty() {
            one["lang"] = json!(column.language);
        }
        if column.has_lists {
            one["separator"] = json!(SEPARATOR);
        }
        described.push(one);
    }
    // The same place as in the CSV: columns are matched by position.
    let place = if table.has_file { described.len() } else { 0 };
    described.insert(place, entity);
    described.push(json!({
        "virtual": true,
        "propertyUrl": rdf::TYPE,
        "valueUrl": table.class.as_str(),
    }));
    json!({
        "@context": "http://www.w3.org/ns/csvw",
        "url": url,
        "dc:title": title,
        "dialect": { "lineTerminators": ["\r\n"], "quoteChar": "\"" },
        "tableSchema": { "aboutUrl": "{+iri}", "columns": described },
    })
}

/// Returns the name of a property in words. If an earlier property has the same words, returns the name with its namespace.
/// `labelled` has the first property of each label.
fn property_label(property: &str, labelled: &mut BTreeMap<String, String>) -> String {
    let name = local_name(property);
    let label = sentence_case(&words(name));
    let first = labelled
        .entry(label.clone())
        .or_insert_with(|| property.to_owned());
    if first.as_str() == property {
        return label;
    }
    format!("{name} ({})", namespace(property).unwrap_or(property))
}

/// Returns words that a name joins (`awardDate`) as in a sentence: “award date”. Abbreviations keep their capitals.
fn sentence_case(words: &str) -> String {
    let mut cased = Vec::new();
    for (place, word) in words.split(' ').enumerate() {
        let is_capitalized = word.chars().skip(1).all(char::is_lowercase) && word.len() > 1;
        cased.push(match place {
            0 => word.to_owned(),
            _ if is_capitalized => word.to_lowercase(),
            _ => word.to_owned(),
        });
    }
    cased.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::Literal;

    #[test]
    fn columns_have_unique_names() {
        let mut names = BTreeSet::from([ENTITY_COLUMN.to_owned()]);
        for (base, language, expected) in [
            ("name", "", "name"),
            ("name", "", "name_2"),
            ("name", "de-AT", "name_de_AT"),
            ("2020", "", "p2020"),
            ("iri", "", "iri_2"),
        ] {
            assert_eq!(unique_name(base, language, &mut names), expected);
        }
    }

    #[test]
    fn classes_of_rows_have_the_name_of_the_file() {
        for (class, name) in [
            ("http://e.org/data/sales.csv#Row", Some("sales.csv")),
            (
                "http://e.org/S%C3%A3o%20Paulo.csv?v=1#Row",
                Some("São Paulo.csv"),
            ),
            (
                "http://e.org/sales.xlsx#Q1%202024/Row",
                Some("sales.xlsx: Q1 2024"),
            ),
            (
                "http://e.org/map.geojson#features/Item",
                Some("map.geojson: features"),
            ),
            ("http://e.org/ns#Person", None),
            ("http://e.org/Row", None),
        ] {
            assert_eq!(file_name(class).as_deref(), name, "{class}");
        }
    }

    #[test]
    fn labels_of_properties_differ() {
        let mut labels = BTreeMap::from([(ENTITY_COLUMN.to_owned(), String::new())]);
        for (property, label) in [
            ("http://e.org/a#awardDate", "award date"),
            ("http://e.org/b#awardDate", "awardDate (http://e.org/b#)"),
            ("http://e.org/b#award_date", "award_date (http://e.org/b#)"),
            ("http://e.org/a#awardDate", "award date"),
            ("http://e.org/a#iri", "iri (http://e.org/a#)"),
        ] {
            assert_eq!(property_label(property, &mut labels), label);
        }
    }

    #[test]
    fn names_become_labels() {
        for (name, label) in [
            ("award Date", "award date"),
            ("amount EUR", "amount EUR"),
            ("Street Tree", "Street tree"),
            ("721 Contrato", "721 contrato"),
            ("a B", "a B"),
        ] {
            assert_eq!(sentence_case(name), label);
        }
    }

    #[test]
    fn datatypes_are_those_of_csv_on_the_web() {
        let typed = |name: &str| {
            let datatype = NamedNode::new_unchecked(format!("{XSD}{name}"));
            datatype_of(Literal::new_typed_literal("1", datatype).into())
        };
        assert_eq!(
            (typed("integer"), typed("byte")),
            ("integer".into(), "string".into())
        );
        assert_eq!(datatype_of(Literal::from("x").into()), "string");
        assert_eq!(datatype_of(NamedNode::new_unchecked("e:a").into()), IRI);
    }

    fn datatype_of(term: Term) -> String {
        csvw_datatype(&term)
    }
}
