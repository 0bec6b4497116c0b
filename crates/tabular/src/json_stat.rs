//! JSON-stat (<https://json-stat.org/format/>, versions 1 and 2): a cube of numbers as a table, with a row for each observation.
//!
//! Why not a library? `json-stat` is no crate; the format is a list of numbers in row-major order.

use crate::cube::Role;
use crate::descriptors::TableDescription;
use crate::output::Output;
use crate::table::{FormatFacts, Rows, TablePlace, read_table};
use crate::value::Value;
use crate::values::{ColumnType, common_type};
use csv::StringRecord;
use json_event_parser::{JsonEvent, SliceJsonParser};
use lodeseek_rdf::dump::Refusal;
use rustc_hash::FxHashMap;
use std::io;

/// Name of the format.
const FORMAT: &str = "JSON-stat";
/// Maximum number of dimensions.
const MAX_DIMENSIONS: usize = 100;

/// Returns true if the beginning of an object may be that of JSON-stat: its class, the parts of a data set, or its numbers, behind which
/// all else may follow.
pub(crate) fn is_json_stat(head: &str) -> bool {
    let mut parser = SliceJsonParser::new(head.as_bytes());
    let mut open: Vec<bool> = Vec::new();
    // Keys of the members that were read last, by their depth.
    let mut path: Vec<String> = Vec::new();
    let mut has_class = false;
    let mut has_part = false;
    let mut has_dimensions = false;
    let mut has_nested_values = false;
    // The text may end anywhere, which is an error.
    while let Ok(event) = parser.parse_next() {
        let key = path.last().map(String::as_str);
        if matches!(event, JsonEvent::StartObject | JsonEvent::StartArray) {
            has_nested_values |= is_within_values(&path, &open);
        }
        match event {
            JsonEvent::StartObject => open.push(true),
            JsonEvent::StartArray => open.push(false),
            JsonEvent::EndObject | JsonEvent::EndArray => {
                open.pop();
                path.truncate(open.len());
            }
            JsonEvent::ObjectKey(key) => {
                path.truncate(open.len().saturating_sub(1));
                path.resize(open.len().saturating_sub(1), String::new());
                path.push(key.into_owned());
                match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                    ["value" | "dimension" | "size" | "link" | "id"] => has_part = true,
                    // The data sets of version 1 are members.
                    [_, "dimension", "size"] => has_dimensions = true,
                    _ => (),
                }
            }
            JsonEvent::String(text) if open.len() == 1 => match key {
                Some("class") => has_class = text == "dataset" || text == "collection",
                Some("version") => has_part |= text.starts_with("2."),
                _ => (),
            },
            JsonEvent::Eof => return has_class && has_part || has_dimensions,
            _ => (),
        }
    }
    // The end of the text is within the numbers.
    let is_in_values = !has_nested_values && is_within_values(&path, &open);
    has_class && has_part || has_dimensions || is_in_values
}

/// Returns true within the member `value` of the document, or of one of its members.
fn is_within_values(path: &[String], open: &[bool]) -> bool {
    let place = path.iter().position(|key| key == "value");
    place.is_some_and(|place| place <= 1 && open.len() >= place + 2)
}

/// Reads a document as one or several cubes. Returns false if it is none.
///
/// # Errors
/// If the numbers of a single cube do not fit the dimensions. Others are left out and reported.
pub(crate) fn read(
    document: &Value,
    encoding: &'static str,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<bool> {
    let sets = DataSets::find(document);
    if sets.references > 0 {
        output.problem(
            None,
            format!(
                "JSON-stat: data sets that the collection refers to, which are not read: {}",
                sets.references
            ),
        );
    }
    if let [(_, set)] = sets.embedded[..] {
        read_cube(set, encoding, place, output)?;
        return Ok(true);
    }
    for (name, set) in &sets.embedded {
        let part = TablePlace {
            part: Some(name),
            ..place.clone()
        };
        if let Err(error) = read_cube(set, encoding, &part, output) {
            output.skip(1);
            output.problem(None, format!("{name}: {error}; it is left out"));
        }
    }
    Ok(!sets.embedded.is_empty())
}

/// Data sets of a document, with their names.
#[derive(Default)]
struct DataSets<'v> {
    embedded: Vec<(String, &'v Value)>,
    /// Number of those elsewhere.
    references: usize,
}

impl<'v> DataSets<'v> {
    /// Returns the document itself, the items of a collection, or the members of a bundle of version 1.
    fn find(document: &'v Value) -> Self {
        let mut found = Self::default();
        match document.get("class").and_then(Value::as_text) {
            Some("dataset") if Parts::find(document).is_some() => {
                found.embedded.push((String::new(), document));
            }
            Some("collection") => {
                let items = document.get("link").and_then(|link| link.get("item"));
                let items = items.and_then(Value::as_list).unwrap_or_default();
                for item in items {
                    let class = item.get("class").and_then(Value::as_text);
                    if class == Some("dataset") && Parts::find(item).is_some() {
                        found.add(item.get("label").and_then(Value::as_text), item);
                    } else {
                        found.references += 1;
                    }
                }
            }
            Some(_) => (),
            None => {
                for (name, member) in document.as_object().unwrap_or_default() {
                    if Parts::find(member).is_some() {
                        found.add(Some(name), member);
                    }
                }
            }
        }
        found
    }

    /// Adds a data set with a name that no other one has.
    fn add(&mut self, label: Option<&str>, set: &'v Value) {
        let number = self.embedded.len() + 1;
        let label = label.map(str::trim).unwrap_or("dataset");
        let is_known = self.embedded.iter().any(|(name, _)| name == label);
        let name = if is_known {
            format!("{label} ({number})")
        } else {
            label.to_owned()
        };
        self.embedded.push((name, set));
    }
}

/// Reads a data set.
fn read_cube(
    document: &Value,
    encoding: &'static str,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let cube = Cube::new(document).map_err(|reason| Refusal::Document {
        reason: format!("JSON-stat: {reason}"),
    })?;
    let description = TableDescription {
        title: place
            .description
            .title
            .clone()
            .or_else(|| text_of(document, "label")),
        description: place
            .description
            .description
            .clone()
            .or_else(|| text_of(document, "source")),
        ..place.description.clone()
    };
    let place = TablePlace {
        description: &description,
        ..place.clone()
    };
    let format = FormatFacts {
        format: FORMAT,
        encoding: Some(encoding),
        header_rows: Some(1),
        roles: Some(cube.roles()),
        types: cube.types(),
        ..FormatFacts::default()
    };
    let mut rows = CubeRows {
        cube: &cube,
        next: None,
        number: 0,
    };
    read_table(&mut rows, &place, &format, output)?;
    if cube.lost_statuses > 0 {
        output.problem(
            None,
            format!(
                "status codes of cells without a value, which are left out: {}",
                cube.lost_statuses
            ),
        );
    }
    Ok(())
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_text).map(str::to_owned)
}

struct Dimension {
    label: String,
    /// Labels of the categories, in the order of their positions.
    categories: Vec<String>,
    /// Units of the categories; empty texts if they have none. `None` if no category has one.
    units: Option<Vec<String>>,
}

/// Parts of a data set that determine its cells.
struct Parts<'v> {
    ids: &'v [Value],
    sizes: &'v [Value],
    dimensions: &'v Value,
    values: &'v Value,
}

impl<'v> Parts<'v> {
    /// Returns the parts; `None` if a value is no data set. In version 1, `id` and `size` are members of `dimension`.
    fn find(set: &'v Value) -> Option<Self> {
        let dimensions = set.get("dimension")?;
        let ids = set.get("id").or_else(|| dimensions.get("id"))?;
        let sizes = set.get("size").or_else(|| dimensions.get("size"))?;
        Some(Self {
            ids: ids.as_list()?,
            sizes: sizes.as_list()?,
            dimensions,
            values: set.get("value")?,
        })
    }
}

/// Statuses of the cells of a data set.
#[derive(PartialEq, Debug)]
enum Statuses<'v> {
    /// One status for all cells. It is not repeated: the number of cells is a product of sizes that a small document may declare.
    Uniform(&'v str),
    /// Statuses of some cells, by their places.
    ByCell(FxHashMap<usize, &'v str>),
}

impl<'v> Statuses<'v> {
    /// Returns the status of a cell; an empty text if it has none.
    fn of_cell(&self, cell: usize) -> &'v str {
        match self {
            Self::Uniform(status) => status,
            Self::ByCell(statuses) => statuses.get(&cell).copied().unwrap_or_default(),
        }
    }
}

/// Data set of JSON-stat.
struct Cube<'v> {
    dimensions: Vec<Dimension>,
    /// Number of cells.
    size: usize,
    /// Cells with a number, ascending.
    cells: Vec<(usize, &'v str)>,
    /// If true, a cell has a text or a truth value.
    has_other_values: bool,
    /// Status of cells. `None` if the data set has none.
    statuses: Option<Statuses<'v>>,
    /// Number of statuses of cells without a value.
    lost_statuses: usize,
}

impl<'v> Cube<'v> {
    fn new(document: &'v Value) -> Result<Self, String> {
        let parts = Parts::find(document).ok_or("no data set")?;
        let mut cube = Self::from_parts(&parts)?;
        cube.add_statuses(document)?;
        Ok(cube)
    }

    /// Adds the status of cells: a list, an object with the places of cells as its keys, or one status for all. Codes have labels in
    /// `extension`.
    fn add_statuses(&mut self, document: &'v Value) -> Result<(), String> {
        let labels = status_labels(document);
        // One status for all cells is one of the missing ones, too, and loses nothing.
        self.statuses = match document.get("status") {
            None | Some(Value::Null) => None,
            Some(Value::Text(status)) => Some(Statuses::Uniform(label_or_code(status, &labels))),
            Some(Value::List(list)) if list.len() == 1 && self.size > 1 => {
                let status = list[0].scalar_text().unwrap_or_default();
                Some(Statuses::Uniform(label_or_code(status, &labels)))
            }
            Some(statuses) => {
                let cells = read_cells(statuses, self.size)
                    .map_err(|reason| format!("the status: {reason}"))?;
                let mut by_cell: FxHashMap<usize, &str> = FxHashMap::default();
                for (cell, status) in cells {
                    by_cell.insert(cell, label_or_code(status, &labels));
                }
                self.lost_statuses = self.count_missing(by_cell.keys());
                Some(Statuses::ByCell(by_cell))
            }
        };
        Ok(())
    }

    /// Returns the number of cells without a value among these.
    fn count_missing<'c>(&self, cells: impl Iterator<Item = &'c usize>) -> usize {
        let mut count = 0;
        for cell in cells {
            let found = self.cells.binary_search_by_key(cell, |(place, _)| *place);
            count += usize::from(found.is_err());
        }
        count
    }

    fn from_parts(parts: &Parts<'v>) -> Result<Self, String> {
        let Parts {
            ids,
            sizes,
            dimensions: described,
            values,
        } = *parts;
        if ids.len() != sizes.len() || ids.len() > MAX_DIMENSIONS {
            return Err(format!(
                "{} dimensions with {} sizes",
                ids.len(),
                sizes.len()
            ));
        }
        let mut dimensions = Vec::with_capacity(ids.len());
        let mut size = 1usize;
        for (id, count) in ids.iter().zip(sizes) {
            let id = id.as_text().ok_or("a dimension without a name")?;
            let count = count.as_number().filter(|count| *count >= 0.0);
            let count = count.ok_or("a size that is no number")? as usize;
            let dimension = described
                .get(id)
                .ok_or_else(|| format!("the dimension {id} is not described"))?;
            let categories = read_categories(dimension)?;
            if categories.len() != count {
                return Err(format!(
                    "the dimension {id} has {} categories and the size {count}",
                    categories.len()
                ));
            }
            size = size.checked_mul(count).ok_or("too many cells")?;
            let label = dimension.get("label").and_then(Value::as_text);
            dimensions.push(Dimension {
                label: label.unwrap_or(id).to_owned(),
                units: read_units(dimension),
                categories,
            });
        }
        let has_other_values = match values {
            Value::List(list) => list.iter().any(is_other_value),
            Value::Object(members) => members.iter().any(|(_, value)| is_other_value(value)),
            _ => false,
        };
        Ok(Self {
            cells: read_cells(values, size)?,
            has_other_values,
            dimensions,
            size,
            statuses: None,
            lost_statuses: 0,
        })
    }
}

impl Cube<'_> {
    /// Returns the roles of the columns.
    fn roles(&self) -> Vec<Role> {
        let mut roles = vec![Role::Dimension; self.dimensions.len()];
        roles.push(Role::Measure);
        let units = self
            .dimensions
            .iter()
            .filter(|dimension| dimension.units.is_some());
        let attributes = units.count() + usize::from(self.statuses.is_some());
        roles.resize(roles.len() + attributes, Role::Attribute);
        roles
    }

    /// Returns the types of the columns.
    fn types(&self) -> Vec<Option<ColumnType>> {
        let mut types = Vec::with_capacity(self.dimensions.len() + 1);
        for dimension in &self.dimensions {
            let categories = dimension.categories.iter().map(String::as_str);
            types.push(Some(common_type(categories)));
        }
        let mut numbers = self.cells.iter().map(|(_, number)| number);
        types.push(if self.has_other_values {
            None
        } else if numbers.any(|number| number.contains(['e', 'E'])) {
            Some(ColumnType::Double)
        } else {
            Some(ColumnType::Decimal)
        });
        types.resize(self.roles().len(), Some(ColumnType::Text));
        types
    }
}

/// Returns the labels of the codes of statuses.
fn status_labels(document: &Value) -> FxHashMap<&str, &str> {
    let labels = document
        .get("extension")
        .and_then(|extension| extension.get("status"))
        .and_then(|status| status.get("label"))
        .and_then(Value::as_object);
    let mut by_code: FxHashMap<&str, &str> = FxHashMap::default();
    for (code, label) in labels.unwrap_or_default() {
        by_code.extend(label.as_text().map(|label| (code.as_str(), label)));
    }
    by_code
}

/// Returns the label of a status, or the status itself if it has none.
fn label_or_code<'v>(status: &'v str, labels: &FxHashMap<&'v str, &'v str>) -> &'v str {
    labels.get(status).copied().unwrap_or(status)
}

fn is_other_value(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Boolean(_))
}

/// Returns the cells with a number, ascending. A sparse cube is an object with the places of cells as its keys.
fn read_cells(values: &Value, size: usize) -> Result<Vec<(usize, &str)>, String> {
    let mut cells = Vec::new();
    match values {
        Value::List(list) if list.len() == size => {
            let texts = list.iter().map(Value::scalar_text).enumerate();
            cells.extend(texts.filter_map(|(cell, text)| Some((cell, text?))));
        }
        Value::List(list) => return Err(format!("{} values for {size} cells", list.len())),
        Value::Object(members) => {
            for (key, value) in members {
                let cell = key.parse().ok().filter(|cell| *cell < size);
                let cell = cell.ok_or_else(|| format!("{key:?} is none of {size} cells"))?;
                cells.extend(value.scalar_text().map(|text| (cell, text)));
            }
            cells.sort_unstable();
        }
        _ => return Err("the values are no list and no object".to_owned()),
    }
    Ok(cells)
}

/// Returns the codes of a dimension's categories, in the order of their positions.
fn category_codes(category: &Value) -> Option<Vec<&str>> {
    let mut codes: Vec<&str> = Vec::new();
    match (category.get("index"), category.get("label")) {
        (Some(Value::List(index)), _) => codes.extend(index.iter().filter_map(Value::as_text)),
        (Some(Value::Object(index)), _) => {
            let mut order: Vec<(f64, &str)> = Vec::with_capacity(index.len());
            for (code, position) in index {
                order.push((position.as_number().unwrap_or(f64::MAX), code));
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            codes.extend(order.into_iter().map(|(_, code)| code));
        }
        // A single category needs no index.
        (_, Some(Value::Object(labels))) => {
            codes.extend(labels.iter().map(|(code, _)| code.as_str()));
        }
        _ => return None,
    }
    Some(codes)
}

/// Returns the units of a dimension's categories, in the order of their positions. `None` if there are none.
fn read_units(dimension: &Value) -> Option<Vec<String>> {
    let category = dimension.get("category")?;
    let described = category.get("unit")?;
    let mut units = Vec::new();
    for code in category_codes(category)? {
        let label = described
            .get(code)
            .and_then(|unit| text_of(unit, "label").or_else(|| text_of(unit, "symbol")));
        units.push(label.unwrap_or_default());
    }
    units.iter().any(|unit| !unit.is_empty()).then_some(units)
}

/// Returns the labels of a dimension's categories, in the order of their positions. A label of several categories is followed by the
/// code, which alone identifies a category.
fn read_categories(dimension: &Value) -> Result<Vec<String>, String> {
    let category = dimension
        .get("category")
        .ok_or("a dimension without categories")?;
    let labels = category.get("label");
    let keys = category_codes(category).ok_or("categories without an index")?;
    let mut names: FxHashMap<&str, &str> = FxHashMap::default();
    for (key, label) in labels.and_then(Value::as_object).unwrap_or_default() {
        names.extend(label.as_text().map(|label| (key.as_str(), label)));
    }
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    let mut labelled = Vec::with_capacity(keys.len());
    for key in keys {
        let label = names.get(key).copied().unwrap_or(key);
        *uses.entry(label).or_default() += 1;
        labelled.push((key, label));
    }
    let mut categories = Vec::with_capacity(labelled.len());
    for (key, label) in labelled {
        categories.push(if uses.get(label).is_some_and(|uses| *uses > 1) {
            format!("{label} ({key})")
        } else {
            label.to_owned()
        });
    }
    Ok(categories)
}

/// Header and observations of a cube.
struct CubeRows<'c> {
    cube: &'c Cube<'c>,
    /// Next of the cells with a number; `None` before the header.
    next: Option<usize>,
    number: u64,
}

impl Rows for CubeRows<'_> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        row.clear();
        let Some(next) = self.next else {
            for dimension in &self.cube.dimensions {
                row.push_field(&dimension.label);
            }
            row.push_field("value");
            for dimension in &self.cube.dimensions {
                if dimension.units.is_some() {
                    row.push_field("unit");
                }
            }
            if self.cube.statuses.is_some() {
                row.push_field("status");
            }
            self.next = Some(0);
            self.number = 1;
            return Ok(true);
        };
        let Some(&(cell, value)) = self.cube.cells.get(next) else {
            return Ok(false);
        };
        // Row-major order: the last dimension varies fastest.
        let mut rest = self.cube.size;
        let mut place = cell;
        let mut units = Vec::new();
        for dimension in &self.cube.dimensions {
            rest /= dimension.categories.len().max(1);
            row.push_field(&dimension.categories[place / rest.max(1)]);
            if let Some(unit) = &dimension.units {
                units.push(unit[place / rest.max(1)].as_str());
            }
            place %= rest.max(1);
        }
        row.push_field(value);
        for unit in units {
            row.push_field(unit);
        }
        if let Some(statuses) = &self.cube.statuses {
            row.push_field(statuses.of_cell(cell));
        }
        self.next = Some(next + 1);
        self.number += 1;
        Ok(true)
    }

    fn row_number(&self) -> u64 {
        self.number
    }

    fn line(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{next_event, read_value};
    use json_event_parser::ReaderJsonParser;

    /// Returns a data set of 1,000 cells of which the first and the last one have a value.
    fn document(status: &str) -> Value {
        let numbers: Vec<String> = (0..10).map(|number| format!("\"{number}\"")).collect();
        let dimension = format!("{{\"category\": {{\"index\": [{}]}}}}", numbers.join(","));
        let text = format!(
            "{{\"id\": [\"a\", \"b\", \"c\"], \"size\": [10, 10, 10], \"value\": {{\"0\": 5, \"999\": 7}}, \"status\": {status}, \
             \"extension\": {{\"status\": {{\"label\": {{\"p\": \"provisional\"}}}}}}, \
             \"dimension\": {{\"a\": {dimension}, \"b\": {dimension}, \"c\": {dimension}}}}}"
        );
        let mut parser = ReaderJsonParser::new(text.as_bytes());
        let first = next_event(&mut parser).expect("an event");
        read_value(first, &mut parser).expect("a document")
    }

    #[test]
    fn a_status_of_all_cells_is_stored_once() {
        for status in ["\"p\"", "[\"p\"]"] {
            let document = document(status);
            let cube = Cube::new(&document).expect("a cube");
            assert_eq!(cube.size, 1000);
            assert_eq!(
                cube.statuses,
                Some(Statuses::Uniform("provisional")),
                "{status}"
            );
            assert_eq!(cube.lost_statuses, 0, "{status}");
            let mut rows = CubeRows {
                cube: &cube,
                next: None,
                number: 0,
            };
            let mut row = StringRecord::new();
            for expected in [
                vec!["a", "b", "c", "value", "status"],
                vec!["0", "0", "0", "5", "provisional"],
                vec!["9", "9", "9", "7", "provisional"],
            ] {
                assert!(rows.next_row(&mut row).expect("a row"));
                assert_eq!(row, expected, "{status}");
            }
            assert!(!rows.next_row(&mut row).expect("the end"));
        }
    }

    #[test]
    fn statuses_of_missing_cells_are_counted() {
        let document = document("{\"0\": \"p\", \"1\": \"p\", \"01\": \"q\", \"998\": \"r\"}");
        let cube = Cube::new(&document).expect("a cube");
        assert_eq!(cube.lost_statuses, 2);
        let statuses = cube.statuses.expect("statuses");
        assert_eq!(
            [statuses.of_cell(0), statuses.of_cell(999)],
            ["provisional", ""]
        );
        let error = Cube::new(&self::document("[\"p\", \"q\"]")).err();
        assert_eq!(
            error.as_deref(),
            Some("the status: 2 values for 1000 cells")
        );
    }
}
