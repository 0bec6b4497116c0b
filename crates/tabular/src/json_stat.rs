//! JSON-stat (<https://json-stat.org/format/>, version 2): a cube of numbers as a table, with a row for each observation.
//!
//! Why not a library? `json-stat` is no crate; the format is a list of numbers in row-major order.

use crate::cube::Role;
use crate::descriptors::TableDescription;
use crate::output::Output;
use crate::table::{FormatFacts, Rows, TablePlace, read_table};
use crate::value::Value;
use crate::values::{ColumnType, common_type};
use csv::StringRecord;
use lodeseek_rdf::dump::Refusal;
use rustc_hash::FxHashMap;
use std::io;

/// Name of the format.
const FORMAT: &str = "JSON-stat";
/// Maximum number of dimensions.
const MAX_DIMENSIONS: usize = 100;

/// Returns true if the beginning of an object is that of a data set of JSON-stat.
pub(crate) fn is_json_stat(head: &str) -> bool {
    let keys = ["\"class\"", "\"dataset\"", "\"dimension\"", "\"size\""];
    keys.iter().all(|key| head.contains(key))
}

/// Reads a document as a cube. Returns false if it is none.
///
/// # Errors
/// If the numbers do not fit the dimensions.
pub(crate) fn read(
    document: &Value,
    encoding: &'static str,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<bool> {
    let Some(cube) = Cube::new(document) else {
        return Ok(false);
    };
    let cube = cube.map_err(|reason| Refusal::Document {
        reason: format!("JSON-stat: {reason}"),
    })?;
    let text = |key: &str| {
        document
            .get(key)
            .and_then(Value::as_text)
            .map(str::to_owned)
    };
    let description = TableDescription {
        title: place.description.title.clone().or_else(|| text("label")),
        description: place
            .description
            .description
            .clone()
            .or_else(|| text("source")),
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
    Ok(true)
}

struct Dimension {
    label: String,
    /// Labels of the categories, in the order of their positions.
    categories: Vec<String>,
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
}

impl<'v> Cube<'v> {
    /// Returns the cube of a document. `None` if it is no data set of JSON-stat.
    fn new(document: &'v Value) -> Option<Result<Self, String>> {
        if document.get("class").and_then(Value::as_text) != Some("dataset") {
            return None;
        }
        let ids = document.get("id")?.as_list()?;
        let sizes = document.get("size")?.as_list()?;
        let dimensions = document.get("dimension")?;
        let values = document.get("value")?;
        Some(Self::from_parts(ids, sizes, dimensions, values))
    }

    fn from_parts(
        ids: &[Value],
        sizes: &[Value],
        described: &Value,
        values: &'v Value,
    ) -> Result<Self, String> {
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
            let categories = categories(dimension)?;
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
                categories,
            });
        }
        let has_other_values = match values {
            Value::List(list) => list.iter().any(is_other_value),
            Value::Object(members) => members.iter().any(|(_, value)| is_other_value(value)),
            _ => false,
        };
        Ok(Self {
            cells: cells(values, size)?,
            has_other_values,
            dimensions,
            size,
        })
    }
}

impl Cube<'_> {
    /// Returns the roles of the columns.
    fn roles(&self) -> Vec<Role> {
        let mut roles = vec![Role::Dimension; self.dimensions.len()];
        roles.push(Role::Measure);
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
        types
    }
}

fn is_other_value(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Boolean(_))
}

/// Returns the cells with a number, ascending. A sparse cube is an object with the places of cells as its keys.
fn cells(values: &Value, size: usize) -> Result<Vec<(usize, &str)>, String> {
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

/// Returns the labels of a dimension's categories, in the order of their positions. A label of several categories is followed by the
/// code, which alone identifies a category.
fn categories(dimension: &Value) -> Result<Vec<String>, String> {
    let category = dimension
        .get("category")
        .ok_or("a dimension without categories")?;
    let labels = category.get("label");
    let mut keys: Vec<&str> = Vec::new();
    match (category.get("index"), labels) {
        (Some(Value::List(index)), _) => keys.extend(index.iter().filter_map(Value::as_text)),
        (Some(Value::Object(index)), _) => {
            let mut order: Vec<(f64, &str)> = Vec::with_capacity(index.len());
            for (key, position) in index {
                order.push((position.as_number().unwrap_or(f64::MAX), key));
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            keys.extend(order.into_iter().map(|(_, key)| key));
        }
        // A single category needs no index.
        (_, Some(Value::Object(labels))) => keys.extend(labels.iter().map(|(key, _)| key.as_str())),
        _ => return Err("categories without an index".to_owned()),
    }
    let mut names: FxHashMap<&str, &str> = FxHashMap::default();
    for (key, label) in labels.and_then(Value::as_object).unwrap_or_default() {
        names.extend(label.as_text().map(|label| (key.as_str(), label)));
    }
    let label_of = |key| names.get(key).copied().unwrap_or(key);
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    for &key in &keys {
        *uses.entry(label_of(key)).or_default() += 1;
    }
    let mut categories = Vec::with_capacity(keys.len());
    for key in keys {
        let label = label_of(key);
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
            self.next = Some(0);
            self.number = 1;
            return Ok(true);
        };
        let Some(&(cell, value)) = self.cube.cells.get(next) else {
            return Ok(false);
        };
        let mut rest = self.cube.size;
        let mut place = cell;
        for dimension in &self.cube.dimensions {
            rest /= dimension.categories.len().max(1);
            row.push_field(&dimension.categories[place / rest.max(1)]);
            place %= rest.max(1);
        }
        row.push_field(value);
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
