//! Parquet (<https://parquet.apache.org/docs/file-format/>), with the geometries of GeoParquet (<https://geoparquet.org/>).
//!
//! A file whose columns are plain values is a table. One with lists, structures, maps or geometries is a list of records, as in JSON.
//! Geometries are left out, and reported, if their coordinates are no longitudes and latitudes.

use crate::limits::{
    MAX_COLUMNS, MAX_DECIMAL_DIGITS, MAX_NESTING, MAX_PARQUET_BYTES, MAX_PARQUET_VALUES_PER_BYTE,
};
use crate::output::Output;
use crate::records::RecordWriter;
use crate::table::{FormatFacts, Rows, TablePlace, file_stem, read_table};
use crate::value::Value;
use crate::values::ColumnType;
use crate::wkb;
use bytes::Bytes;
use csv::StringRecord;
use lodeseek_rdf::dump::Refusal;
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

/// Name of the format in reports.
const FORMAT: &str = "Parquet";
/// Key of the metadata of GeoParquet.
const GEO_KEY: &str = "geo";
/// Maximum length of a decimal in bytes.
const MAX_DECIMAL_BYTES: usize = 32;

/// Reads a file. `path` is the file itself, if the content is a local one; else the content is held in memory.
pub(crate) fn read(
    content: &mut dyn Read,
    path: Option<&Path>,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let limit = output.limits().document_bytes;
    if let Some(path) = path {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        if bytes > limit {
            return Err(refusal(format!(
                "a Parquet file of {bytes} bytes, more than the limit of {limit} bytes"
            )));
        }
        return read_chunks(file, place, output);
    }
    let limit = limit.min(MAX_PARQUET_BYTES);
    let mut bytes = Vec::new();
    // One byte more shows that the limit is exceeded.
    content.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(refusal(format!(
            "a Parquet file of more than {limit} bytes in an archive or a compressed file"
        )));
    }
    read_chunks(Bytes::from(bytes), place, output)
}

fn read_chunks(
    chunks: impl ChunkReader + 'static,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let bytes = chunks.len();
    let reader = SerializedFileReader::new(chunks).map_err(unreadable)?;
    let metadata = reader.metadata().clone();
    // Before any page is read: the library trusts what the file declares.
    check_metadata(&metadata, bytes)?;
    let fields = metadata.file_metadata().schema().get_fields();
    let geo = geo_metadata(&metadata);
    let mut columns: Vec<Column> = fields
        .iter()
        .map(|field| Column::new(field, &geo))
        .collect();
    leave_out_equal_names(&mut columns, output);
    for column in metadata.file_metadata().schema_descr().columns() {
        if column.physical_type() == PhysicalType::INT96 {
            output.problem(
                None,
                format!(
                    "the times of the column {} have the old type INT96, of which milliseconds are read",
                    column.path()
                ),
            );
        }
    }
    for (column, field) in columns.iter().zip(fields) {
        if let ColumnKind::OtherSystem(system) = &column.kind {
            output.skip(1);
            output.problem(
                None,
                format!(
                    "the geometries of the column {:?} are left out: their reference system is {system}, not WGS 84",
                    field.name()
                ),
            );
        }
    }
    let mut rows = ParquetRows {
        rows: RowIter::from_file_into(Box::new(reader)),
        columns,
        header: Some(fields.iter().map(|field| field.name().to_owned()).collect()),
        number: 0,
        left_out: 0,
    };
    let is_table = rows
        .columns
        .iter()
        .all(|column| matches!(column.kind, ColumnKind::Plain | ColumnKind::Repeated));
    let result = if is_table {
        let format = FormatFacts {
            format: FORMAT,
            header_rows: Some(1),
            types: fields.iter().map(|field| column_type(field)).collect(),
            ..FormatFacts::default()
        };
        read_table(&mut rows, place, &format, output)
    } else {
        read_records(&mut rows, place, output)
    };
    if rows.left_out > 0 {
        output.skip(rows.left_out);
        output.problem(
            None,
            format!(
                "binary values and damaged geometries, which are left out: {}",
                rows.left_out
            ),
        );
    }
    result
}

/// Leaves out columns that have the name of a later one, and reports them: the library has the values of the last one for all.
fn leave_out_equal_names(columns: &mut [Column], output: &mut Output<'_>) {
    let mut names: FxHashSet<String> = FxHashSet::default();
    for column in columns.iter_mut().rev() {
        if names.insert(column.schema.name().to_owned()) {
            continue;
        }
        column.kind = ColumnKind::Repeated;
        output.skip(1);
        output.problem(
            None,
            format!(
                "a column is left out, because a later one has its name, {:?}",
                column.schema.name()
            ),
        );
    }
}

fn read_records(
    rows: &mut ParquetRows,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let label = file_stem(place.file);
    let mut writer = RecordWriter::new(output, place.base, place.file, FORMAT, None);
    let mut index = 0;
    let result = loop {
        match rows.next_record() {
            Ok(Some(record)) => writer.record(None, index, &record, label),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        index += 1;
    };
    writer.finish();
    result
}

fn refusal(reason: String) -> io::Error {
    Refusal::Document { reason }.into()
}

fn unreadable(error: ParquetError) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the Parquet file cannot be read: {error}"),
    )
}

/// Refuses files that are too wide, that declare more values than their bytes can have, or whose types the library does not convert.
fn check_metadata(metadata: &ParquetMetaData, bytes: u64) -> io::Result<()> {
    let schema = metadata.file_metadata().schema_descr();
    if schema.num_columns() > MAX_COLUMNS {
        return Err(Refusal::ColumnCount { limit: MAX_COLUMNS }.into());
    }
    let max_values = bytes.saturating_mul(MAX_PARQUET_VALUES_PER_BYTE);
    let mut rows = 0u64;
    for group in metadata.row_groups() {
        // A negative number of rows is damage, and exceeds every limit.
        rows = rows.saturating_add(u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
    }
    let columns = schema.num_columns();
    if rows.saturating_mul(columns as u64) > max_values {
        return Err(refusal(format!(
            "a Parquet file of {bytes} bytes that declares {rows} rows of {columns} columns"
        )));
    }
    let mut paths: FxHashSet<&[String]> = FxHashSet::default();
    for column in schema.columns() {
        let depth = column.path().parts().len();
        // Top-level columns of one name are left out later; below, the values of both would be mixed.
        if !paths.insert(column.path().parts()) && depth > 1 {
            return Err(refusal(format!(
                "two columns have the path {}",
                column.path()
            )));
        }
        if depth > MAX_NESTING {
            return Err(refusal(format!(
                "more than {MAX_NESTING} levels of nesting"
            )));
        }
        let digits = column.type_precision();
        if digits > MAX_DECIMAL_DIGITS {
            return Err(refusal(format!(
                "decimals of {digits} digits in the column {}: more than {MAX_DECIMAL_DIGITS} are not read",
                column.path()
            )));
        }
        if !is_convertible(column) {
            return Err(refusal(format!(
                "the type {} of the column {} is not read",
                column.converted_type(),
                column.path()
            )));
        }
    }
    Ok(())
}

/// Returns true for types that the library converts. It panics at others, such as intervals.
fn is_convertible(column: &ColumnDescriptor) -> bool {
    use ConvertedType as Converted;
    let converted = column.converted_type();
    match column.physical_type() {
        PhysicalType::INT32 => matches!(
            converted,
            Converted::NONE
                | Converted::INT_8
                | Converted::INT_16
                | Converted::INT_32
                | Converted::UINT_8
                | Converted::UINT_16
                | Converted::UINT_32
                | Converted::DATE
                | Converted::TIME_MILLIS
                | Converted::DECIMAL
        ),
        PhysicalType::INT64 => matches!(
            converted,
            Converted::NONE
                | Converted::INT_64
                | Converted::UINT_64
                | Converted::TIME_MICROS
                | Converted::TIMESTAMP_MILLIS
                | Converted::TIMESTAMP_MICROS
                | Converted::DECIMAL
        ),
        PhysicalType::BYTE_ARRAY => matches!(
            converted,
            Converted::NONE
                | Converted::UTF8
                | Converted::ENUM
                | Converted::JSON
                | Converted::BSON
                | Converted::DECIMAL
        ),
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            matches!(converted, Converted::NONE | Converted::DECIMAL)
        }
        PhysicalType::BOOLEAN
        | PhysicalType::INT96
        | PhysicalType::FLOAT
        | PhysicalType::DOUBLE => true,
    }
}

/// Returns the columns of GeoParquet's metadata: name and description.
fn geo_metadata(metadata: &ParquetMetaData) -> serde_json::Value {
    let pairs = metadata.file_metadata().key_value_metadata();
    for pair in pairs.into_iter().flatten() {
        if pair.key == GEO_KEY
            && let Some(text) = &pair.value
            && let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text)
        {
            return value["columns"].take();
        }
    }
    serde_json::Value::Null
}

/// Column of a file: a field of its schema, with all that is below it.
struct Column {
    kind: ColumnKind,
    schema: TypePtr,
}

#[derive(Clone, PartialEq, Debug)]
enum ColumnKind {
    /// Values that are no list and no structure.
    Plain,
    Nested,
    /// Geometries in well-known binary.
    Wkb,
    /// Geometries as lists of structures: kind of GeoJSON.
    Coordinates(&'static str),
    /// Geometries in a reference system that is not WGS 84.
    OtherSystem(String),
    /// Values that are left out, because a later column has the same name.
    Repeated,
}

impl Column {
    fn new(field: &TypePtr, geo: &serde_json::Value) -> Self {
        let logical = field.get_basic_info().logical_type_ref();
        let declared = &geo[field.name()];
        let kind = match (logical, declared["encoding"].as_str()) {
            (Some(LogicalType::Geometry(geometry)), _) if !is_wgs84_name(&geometry.crs) => {
                ColumnKind::OtherSystem(geometry.crs.clone().unwrap_or_default())
            }
            (Some(LogicalType::Geography(geography)), _) if !is_wgs84_name(&geography.crs) => {
                ColumnKind::OtherSystem(geography.crs.clone().unwrap_or_default())
            }
            (_, Some(_)) if !is_wgs84(&declared["crs"], declared.get("crs").is_some()) => {
                ColumnKind::OtherSystem(system_name(&declared["crs"]))
            }
            (Some(LogicalType::Geometry(_) | LogicalType::Geography(_)), _) | (_, Some("WKB"))
                if field.is_primitive() =>
            {
                ColumnKind::Wkb
            }
            (_, Some(encoding)) if geometry_kind(encoding).is_some() => {
                ColumnKind::Coordinates(geometry_kind(encoding).unwrap_or_default())
            }
            _ if field.is_primitive() && !is_repeated(field) => ColumnKind::Plain,
            _ => ColumnKind::Nested,
        };
        Self {
            kind,
            schema: field.clone(),
        }
    }

    /// Returns a value; `None` if it is left out. `left_out` counts the parts that are.
    fn value(&self, field: &Field, left_out: &mut u64) -> Option<Value> {
        if matches!(field, Field::Null) {
            return Some(Value::Null);
        }
        match &self.kind {
            ColumnKind::OtherSystem(_) | ColumnKind::Repeated => Some(Value::Null),
            ColumnKind::Wkb => match field {
                Field::Bytes(bytes) => wkb::to_geometry(bytes.data()),
                _ => None,
            },
            ColumnKind::Coordinates(kind) => {
                Some(wkb::geometry_value(kind, read_coordinates(field)?))
            }
            ColumnKind::Plain | ColumnKind::Nested => plain_value(field, &self.schema, 0, left_out),
        }
    }
}

/// Returns the type of the values of a field. `None` if the file declares none.
fn column_type(field: &Type) -> Option<ColumnType> {
    if !field.is_primitive() {
        return None;
    }
    let info = field.get_basic_info();
    match (field.get_physical_type(), info.logical_type_ref()) {
        (PhysicalType::BOOLEAN, _) => Some(ColumnType::Boolean),
        (PhysicalType::FLOAT | PhysicalType::DOUBLE, _) | (_, Some(LogicalType::Float16)) => {
            Some(ColumnType::Double)
        }
        (PhysicalType::INT96, _) | (_, Some(LogicalType::Timestamp(_))) => {
            Some(ColumnType::DateTime)
        }
        (_, Some(LogicalType::Time(_) | LogicalType::Uuid)) => Some(ColumnType::Text),
        (physical, _) => match info.converted_type() {
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => {
                Some(ColumnType::Text)
            }
            ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS => Some(ColumnType::Text),
            ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS => {
                Some(ColumnType::DateTime)
            }
            ConvertedType::DATE => Some(ColumnType::Date),
            ConvertedType::DECIMAL => Some(ColumnType::Decimal),
            _ if matches!(physical, PhysicalType::INT32 | PhysicalType::INT64) => {
                Some(ColumnType::Integer)
            }
            // Old writers do not mark texts.
            _ => None,
        },
    }
}

/// Returns a value of a field. `None` if it is left out. `left_out` counts the parts that are.
fn plain_value(field: &Field, schema: &Type, depth: usize, left_out: &mut u64) -> Option<Value> {
    let logical = schema.get_basic_info().logical_type_ref();
    Some(match (field, logical) {
        (Field::Null, _) => Value::Null,
        (Field::Bool(value), _) => Value::Boolean(*value),
        (Field::Long(value), Some(LogicalType::Timestamp(timestamp)))
            if timestamp.unit == TimeUnit::NANOS =>
        {
            date_time_value(i128::from(*value), schema)?
        }
        (Field::Long(value), Some(LogicalType::Time(_))) => Value::Text(time_of_day(*value)?),
        (Field::TimestampMillis(value), _) => {
            date_time_value(i128::from(*value) * 1_000_000, schema)?
        }
        (Field::TimestampMicros(value), _) => date_time_value(i128::from(*value) * 1_000, schema)?,
        (Field::Date(days), _) => {
            let nanoseconds = i128::from(*days) * 86_400 * 1_000_000_000;
            let date_time = date_time(nanoseconds)?.to_string();
            Value::Text(date_time.split('T').next()?.to_owned())
        }
        (Field::Float16(value), _) => number_value(f64::from(*value), value.to_string()),
        (Field::Float(value), _) => number_value(f64::from(*value), format!("{value:?}")),
        (Field::Double(value), _) => number_value(*value, format!("{value:?}")),
        (Field::Decimal(decimal), _) if decimal.data().len() > MAX_DECIMAL_BYTES => return None,
        (
            Field::Byte(_)
            | Field::Short(_)
            | Field::Int(_)
            | Field::Long(_)
            | Field::UByte(_)
            | Field::UShort(_)
            | Field::UInt(_)
            | Field::ULong(_)
            | Field::Decimal(_),
            _,
        ) => Value::Number(field.to_string()),
        (Field::TimeMillis(_) | Field::TimeMicros(_), _) => Value::Text(field.to_string()),
        (Field::Str(text), _) => Value::Text(text.clone()),
        (Field::Bytes(bytes), Some(LogicalType::Uuid)) => Value::Text(format_uuid(bytes.data())?),
        // Old writers do not mark texts.
        (Field::Bytes(bytes), _) => Value::Text(bytes.as_utf8().ok()?.to_owned()),
        (Field::Group(_) | Field::MapInternal(_) | Field::ListInternal(_), _) => {
            nested_value(field, schema, depth, left_out)?
        }
    })
}

fn nested_value(field: &Field, schema: &Type, depth: usize, left_out: &mut u64) -> Option<Value> {
    if depth >= MAX_NESTING {
        return None;
    }
    let mut members = Vec::new();
    match field {
        Field::Group(row) => {
            for ((name, member), schema) in row.get_column_iter().zip(child_types(schema)) {
                members.push((
                    name.clone(),
                    part_value(member, schema, depth + 1, left_out),
                ));
            }
        }
        Field::MapInternal(map) => {
            let [key_schema, value_schema] = child_types(child_types(schema).first()?) else {
                return None;
            };
            for (key, member) in map.entries() {
                // A value without a key is left out, too.
                let key = part_value(key, key_schema, depth + 1, left_out);
                if let Some(key) = key.scalar_text() {
                    members.push((
                        key.to_owned(),
                        part_value(member, value_schema, depth + 1, left_out),
                    ));
                }
            }
        }
        Field::ListInternal(list) => {
            let schema = element_schema(schema);
            let mut elements = Vec::with_capacity(list.len());
            for element in list.elements() {
                elements.push(part_value(element, schema, depth + 1, left_out));
            }
            return Some(Value::List(elements));
        }
        _ => return None,
    }
    Some(Value::Object(members))
}

/// Returns a part of a nested value: null if it is left out, which is counted.
fn part_value(field: &Field, schema: &Type, depth: usize, left_out: &mut u64) -> Value {
    plain_value(field, schema, depth, left_out).unwrap_or_else(|| {
        *left_out += 1;
        Value::Null
    })
}

fn child_types(schema: &Type) -> &[TypePtr] {
    match schema {
        Type::GroupType { fields, .. } => fields,
        Type::PrimitiveType { .. } => &[],
    }
}

/// Returns the schema of the elements of a list, by the rules for old files, too
/// (<https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists>).
fn element_schema(list: &Type) -> &Type {
    let converted = list.get_basic_info().converted_type();
    let Some(repeated) = child_types(list).first() else {
        return list;
    };
    match (converted, child_types(repeated)) {
        (ConvertedType::LIST, [element]) => {
            let has_own_list = is_repeated(element)
                || repeated.get_basic_info().converted_type() == ConvertedType::LIST;
            let is_element = repeated.name() == "array" || repeated.name().ends_with("_tuple");
            if is_element && !has_own_list {
                repeated
            } else {
                element
            }
        }
        (ConvertedType::LIST, _) => repeated,
        // A map without values is a list of its keys.
        (ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE, [key]) => key,
        _ => list,
    }
}

/// Returns a date with time. Those of old files have no other mark than their type, and are in UTC.
fn date_time_value(nanoseconds: i128, schema: &Type) -> Option<Value> {
    let info = schema.get_basic_info();
    let is_utc = match info.logical_type_ref() {
        Some(LogicalType::Timestamp(timestamp)) => timestamp.is_adjusted_to_u_t_c,
        _ => matches!(
            info.converted_type(),
            ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS
        ),
    };
    let mut text = date_time(nanoseconds)?.to_string();
    if is_utc {
        text.push('Z');
    }
    Some(Value::Text(text))
}

/// Returns a time by its distance from midnight in nanoseconds.
fn time_of_day(nanoseconds: i64) -> Option<String> {
    let date_time = date_time(i128::from(nanoseconds))?.to_string();
    Some(date_time.split_once('T')?.1.to_owned())
}

fn is_repeated(field: &Type) -> bool {
    let info = field.get_basic_info();
    info.has_repetition() && info.repetition() == parquet::basic::Repetition::REPEATED
}

/// Returns a number, in the lexical form of `xsd:double` if it is infinite or none.
fn number_value(value: f64, text: String) -> Value {
    Value::Number(if value.is_nan() {
        "NaN".to_owned()
    } else if value == f64::INFINITY {
        "INF".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-INF".to_owned()
    } else {
        text
    })
}

/// Returns a moment by its distance from the beginning of 1970, without time zone.
fn date_time(nanoseconds: i128) -> Option<DateTime> {
    let epoch = DateTime::from_str("1970-01-01T00:00:00").ok()?;
    // Rounded down, so that the fraction of a time before 1970 is not negative.
    let seconds = Decimal::from(i64::try_from(nanoseconds.div_euclid(1_000_000_000)).ok()?);
    let fraction = Decimal::from(i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).ok()?);
    let fraction = fraction.checked_div(Decimal::from(1_000_000_000i64))?;
    let duration = DayTimeDuration::new(seconds.checked_add(fraction)?);
    epoch.checked_add_day_time_duration(duration)
}

fn format_uuid(bytes: &[u8]) -> Option<String> {
    if bytes.len() != 16 {
        return None;
    }
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Some(text)
}

/// Returns the kind of GeoJSON of an encoding of GeoParquet that is not binary.
fn geometry_kind(encoding: &str) -> Option<&'static str> {
    Some(match encoding {
        "point" => "Point",
        "linestring" => "LineString",
        "polygon" => "Polygon",
        "multipoint" => "MultiPoint",
        "multilinestring" => "MultiLineString",
        "multipolygon" => "MultiPolygon",
        _ => return None,
    })
}

/// Returns the coordinates of a geometry in lists of structures `x` and `y`.
fn read_coordinates(field: &Field) -> Option<Value> {
    match field {
        Field::Group(row) => {
            let (x, y) = (read_coordinate(row, "x")?, read_coordinate(row, "y")?);
            Some(wkb::position_value(x, y))
        }
        Field::ListInternal(list) => {
            let mut elements = Vec::with_capacity(list.len());
            for element in list.elements() {
                elements.push(read_coordinates(element)?);
            }
            Some(Value::List(elements))
        }
        _ => None,
    }
}

fn read_coordinate(row: &Row, name: &str) -> Option<f64> {
    let (_, field) = row.get_column_iter().find(|(found, _)| *found == name)?;
    match field {
        Field::Double(value) => Some(*value),
        Field::Float(value) => Some(f64::from(*value)),
        _ => None,
    }
}

/// Returns true for WGS 84 with longitudes first, which GeoParquet prescribes for EPSG:4326, too. It is the default.
fn is_wgs84(crs: &serde_json::Value, is_declared: bool) -> bool {
    !is_declared || matches!(system_name(crs).as_str(), "OGC:CRS84" | "EPSG:4326")
}

/// Returns true for the names of WGS 84 in the types of geometries, and for none, which is the default.
fn is_wgs84_name(name: &Option<String>) -> bool {
    let Some(name) = name else {
        return true;
    };
    let names = ["OGC:CRS84", "EPSG:4326", "srid:4326"];
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns the name of a reference system in PROJJSON.
fn system_name(crs: &serde_json::Value) -> String {
    let id = &crs["id"];
    match (id["authority"].as_str(), &id["code"]) {
        (Some(authority), serde_json::Value::String(code)) => format!("{authority}:{code}"),
        (Some(authority), serde_json::Value::Number(code)) => format!("{authority}:{code}"),
        _ => crs["name"].as_str().unwrap_or("unknown").to_owned(),
    }
}

/// Rows of a file.
struct ParquetRows {
    rows: RowIter<'static>,
    columns: Vec<Column>,
    /// Names of the columns, until the header is read.
    header: Option<Vec<String>>,
    number: u64,
    /// Number of values that were left out.
    left_out: u64,
}

impl ParquetRows {
    fn next_values(&mut self) -> io::Result<Option<Vec<(String, Value)>>> {
        let Some(row) = self.rows.next() else {
            return Ok(None);
        };
        let row = row.map_err(unreadable)?;
        self.number += 1;
        let mut values = Vec::with_capacity(self.columns.len());
        for ((name, field), column) in row.into_columns().into_iter().zip(&self.columns) {
            let value = match column.value(&field, &mut self.left_out) {
                Some(value) => value,
                None => {
                    self.left_out += 1;
                    Value::Null
                }
            };
            values.push((name, value));
        }
        Ok(Some(values))
    }

    fn next_record(&mut self) -> io::Result<Option<Value>> {
        Ok(self.next_values()?.map(Value::Object))
    }
}

impl Rows for ParquetRows {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        row.clear();
        if let Some(header) = self.header.take() {
            row.extend(header);
            return Ok(true);
        }
        while let Some(values) = self.next_values()? {
            row.clear();
            for (_, value) in &values {
                row.push_field(value.scalar_text().unwrap_or_default());
            }
            if row.as_slice().is_empty() {
                continue;
            }
            return Ok(true);
        }
        Ok(false)
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
    use crate::descriptors::TableDescription;
    use crate::test_sink::Collected;
    use lodeseek_rdf::dump::{FileReport, Limits};
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::data_type::{
        ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
    };
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    fn read_bytes(bytes: &[u8]) -> (io::Result<()>, String, FileReport) {
        let mut report = FileReport::unreadable("trees.parquet", "");
        report.problems.clear();
        let mut sink = Collected::default();
        let limits = Limits::default();
        let mut output = Output::new(&mut sink, &mut report, &limits);
        let place = TablePlace {
            base: "http://e.org/trees.parquet",
            file: "trees.parquet",
            part: None,
            description: &TableDescription::default(),
        };
        let result = read(&mut &*bytes, None, &place, &mut output);
        (result, sink.0.join("\n"), report)
    }

    fn write_file(
        schema: &str,
        geo: Option<&str>,
        write: impl FnOnce(&mut SerializedRowGroupWriter<'_, &mut Vec<u8>>),
    ) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let metadata = geo.map(|geo| vec![KeyValue::new(GEO_KEY.to_owned(), geo.to_owned())]);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(metadata)
            .set_data_page_row_count_limit(usize::MAX)
            .build();
        let mut bytes = Vec::new();
        let mut file =
            SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).expect("a writer");
        let mut group = file.next_row_group().expect("a row group");
        write(&mut group);
        group.close().expect("written");
        file.close().expect("written");
        bytes
    }

    /// Writes a column; `levels` are those of definition, if values may be missing.
    fn write_column<T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) {
        let mut column = group.next_column().expect("a column").expect("a column");
        let written = column.typed::<T>().write_batch(values, levels, None);
        written.expect("written");
        column.close().expect("written");
    }

    #[test]
    fn plain_columns_are_a_table() {
        let schema = "message trees {
            required int64 height; optional binary name (UTF8); required int32 planted (DATE);
            required int64 seen (TIMESTAMP(MILLIS, true)); required int64 read (TIMESTAMP(NANOS, false));
        }";
        let bytes = write_file(schema, None, |group| {
            write_column::<Int64Type>(group, &[21, 18], None);
            write_column::<ByteArrayType>(group, &[ByteArray::from("Royal Oak")], Some(&[1, 0]));
            write_column::<Int32Type>(group, &[-1, 19_000], None);
            write_column::<Int64Type>(group, &[1_500, 1_600_000_000_000], None);
            write_column::<Int64Type>(group, &[1_000_000_000, 2_000_000_000], None);
        });
        let (result, triples, report) = read_bytes(&bytes);
        result.expect("read");
        for part in [
            "#row=1> <http://e.org/trees.parquet#height> \"21\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            "#row=1> <http://e.org/trees.parquet#name> \"Royal Oak\"",
            "#row=1> <http://e.org/trees.parquet#planted> \"1969-12-31\"^^<http://www.w3.org/2001/XMLSchema#date>",
            "#row=1> <http://e.org/trees.parquet#seen> \"1970-01-01T00:00:01.5Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime>",
            "#row=2> <http://e.org/trees.parquet#seen> \"2020-09-13T12:26:40Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime>",
            "#row=2> <http://e.org/trees.parquet#read> \"1970-01-01T00:00:02\"^^<http://www.w3.org/2001/XMLSchema#dateTime>",
        ] {
            assert!(triples.contains(part), "{part}\n{triples}");
        }
        let facts = &report.tables[0];
        assert_eq!(
            (&*facts.format, facts.rows, facts.columns),
            ("Parquet", 2, 5)
        );
        assert_eq!(facts.empty_cells, 1);
    }

    /// Writes a file with a tree at 1 degree east, 2 degrees north.
    fn write_point(geo: &str) -> Vec<u8> {
        let schema = "message trees { required binary name (UTF8); required binary place; }";
        let mut point = vec![1, 1, 0, 0, 0];
        point.extend(1f64.to_le_bytes());
        point.extend(2f64.to_le_bytes());
        write_file(schema, Some(geo), |group| {
            write_column::<ByteArrayType>(group, &[ByteArray::from("Ash")], None);
            write_column::<ByteArrayType>(group, &[ByteArray::from(point)], None);
        })
    }

    #[test]
    fn geometries_are_those_of_records() {
        let wgs84 = r#"{"columns": {"place": {"encoding": "WKB"}}}"#;
        let other = r#"{"columns": {"place": {"encoding": "WKB", "crs": {"id": {"authority": "EPSG", "code": 25832}}}}}"#;
        let (result, triples, _) = read_bytes(&write_point(wgs84));
        result.expect("read");
        assert!(
            triples.contains("\"POINT (1 2)\"^^<http://www.opengis.net/ont/geosparql#wktLiteral>"),
            "{triples}"
        );
        let (result, triples, report) = read_bytes(&write_point(other));
        result.expect("read");
        assert!(!triples.contains("POINT") && triples.contains("\"Ash\""));
        assert_eq!(
            report.problems[0].message,
            "the geometries of the column \"place\" are left out: their reference system is EPSG:25832, not WGS 84"
        );
    }

    #[test]
    fn types_are_those_of_the_schema() {
        let schema = "message trees {
            required double share; optional int64 number; required binary code (UTF8); required int64 seen (TIMESTAMP_MILLIS);
            required int64 read (TIME(NANOS, true)); required binary price (DECIMAL(20, 2));
        }";
        let rows = 600;
        let mut shares = vec![0.5; rows - 1];
        shares.push(0.00001);
        let levels: Vec<i16> = (0..rows).map(|row| i16::from(row == rows - 1)).collect();
        let mut prices = vec![ByteArray::from(vec![1, 0]); rows - 1];
        prices.push(ByteArray::from(vec![1; 40]));
        let bytes = write_file(schema, None, |group| {
            write_column::<DoubleType>(group, &shares, None);
            write_column::<Int64Type>(group, &[1 << 62], Some(&levels));
            write_column::<ByteArrayType>(group, &vec![ByteArray::from("1,234"); rows], None);
            write_column::<Int64Type>(group, &vec![1_000; rows], None);
            write_column::<Int64Type>(group, &vec![3_600_500_000_000; rows], None);
            write_column::<ByteArrayType>(group, &prices, None);
        });
        let (result, triples, report) = read_bytes(&bytes);
        result.expect("read");
        for part in [
            "#row=600> <http://e.org/trees.parquet#share> \"1e-5\"^^<http://www.w3.org/2001/XMLSchema#double>",
            "#row=600> <http://e.org/trees.parquet#number> \"4611686018427387904\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            "#row=600> <http://e.org/trees.parquet#code> \"1,234\"\n",
            "#row=600> <http://e.org/trees.parquet#seen> \"1970-01-01T00:00:01Z\"^^<http://www.w3.org/2001/XMLSchema#dateTime>",
            "#row=600> <http://e.org/trees.parquet#read> \"01:00:00.5\"\n",
            "#row=599> <http://e.org/trees.parquet#price> \"2.56\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
        ] {
            assert!(triples.contains(part), "{part}");
        }
        assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
        assert_eq!(report.skipped, 1, "a decimal of 40 bytes");
    }

    #[test]
    fn times_in_lists_have_the_type_of_their_elements() {
        for list in [
            "repeated group list { required int64 element (TIMESTAMP(NANOS, true)); }",
            "repeated int64 element (TIMESTAMP(NANOS, true));",
        ] {
            let schema = format!("message trees {{ required group seen (LIST) {{ {list} }} }}");
            let bytes = write_file(&schema, None, |group| {
                let mut column = group.next_column().expect("a column").expect("a column");
                let typed = column.typed::<Int64Type>();
                let written = typed.write_batch(&[1_000_000_000], Some(&[1]), Some(&[0]));
                written.expect("written");
                column.close().expect("written");
            });
            let (result, triples, _) = read_bytes(&bytes);
            result.expect("read");
            assert!(triples.contains("\"1970-01-01T00:00:01Z\""), "{triples}");
        }
    }

    #[test]
    fn infinite_numbers_are_doubles() {
        let xsd = "^^<http://www.w3.org/2001/XMLSchema#double>";
        for (schema, levels) in [
            ("message trees { required double share; }", None),
            // As a part of a structure.
            (
                "message trees { required group a { optional double share; } }",
                Some(&[1, 1, 1][..]),
            ),
        ] {
            let bytes = write_file(schema, None, |group| {
                let numbers = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
                write_column::<DoubleType>(group, &numbers, levels);
            });
            let (result, triples, _) = read_bytes(&bytes);
            result.expect("read");
            for number in ["INF", "-INF", "NaN"] {
                let part = format!("share> \"{number}\"{xsd}");
                assert!(triples.contains(&part), "{part}\n{triples}");
            }
        }
    }

    #[test]
    fn binary_members_do_not_affect_their_structure() {
        let schema = "message trees { required group tree { required binary image; required int32 height; } }";
        let bytes = write_file(schema, None, |group| {
            write_column::<ByteArrayType>(group, &[ByteArray::from(vec![0xff, 0xfe])], None);
            write_column::<Int32Type>(group, &[21], None);
        });
        let (result, triples, report) = read_bytes(&bytes);
        result.expect("read");
        assert!(triples.contains("#height> \"21\""), "{triples}");
        assert_eq!(report.skipped, 1);
    }

    #[test]
    fn columns_with_the_name_of_another_are_reported() {
        let schema =
            "message trees { required int32 height; required int32 age; required int32 height; }";
        let bytes = write_file(schema, None, |group| {
            write_column::<Int32Type>(group, &[1], None);
            write_column::<Int32Type>(group, &[2], None);
            write_column::<Int32Type>(group, &[3], None);
        });
        let (result, triples, report) = read_bytes(&bytes);
        result.expect("read");
        assert!(
            triples.contains("#row=1> <http://e.org/trees.parquet#height_2> \"3\""),
            "{triples}"
        );
        assert!(
            !triples.contains("#row=1> <http://e.org/trees.parquet#height> "),
            "{triples}"
        );
        assert!(
            report.problems[0]
                .message
                .contains("a later one has its name, \"height\""),
            "{:?}",
            report.problems
        );
    }

    #[test]
    fn old_times_are_reported() {
        use parquet::data_type::{Int96, Int96Type};
        let bytes = write_file("message trees { required int96 seen; }", None, |group| {
            write_column::<Int96Type>(group, &[Int96::from(vec![0, 0, 2_440_589])], None);
        });
        let (result, triples, report) = read_bytes(&bytes);
        result.expect("read");
        assert!(triples.contains("\"1970-01-02T00:00:00"), "{triples}");
        assert!(
            report.problems[0].message.contains("milliseconds"),
            "{report:?}"
        );
    }

    #[test]
    fn names_of_wgs84_are_known() {
        assert!(is_wgs84_name(&None));
        assert!(is_wgs84_name(&Some("ogc:crs84".to_owned())));
        assert!(is_wgs84_name(&Some("srid:4326".to_owned())));
        assert!(!is_wgs84_name(&Some("EPSG:25832".to_owned())));
    }

    #[test]
    fn excessive_files_are_refused() {
        let wide = "message trees { required binary price (DECIMAL(100, 2)); }";
        let decimals = write_file(wide, None, |group| {
            write_column::<ByteArrayType>(group, &[ByteArray::from(vec![1])], None);
        });
        let (result, _, _) = read_bytes(&decimals);
        let error = result.expect_err("refused").to_string();
        assert!(error.contains("decimals of 100 digits"), "{error}");
        let columns: Vec<String> = (0..10)
            .map(|number| format!("required int64 c{number};"))
            .collect();
        let schema = format!("message trees {{ {} }}", columns.join(" "));
        let zeros = write_file(&schema, None, |group| {
            for _ in 0..10 {
                write_column::<Int64Type>(group, &vec![0; 500_000], None);
            }
        });
        assert!(
            500_000 < zeros.len() * 1000,
            "each column alone is within the limit"
        );
        let (result, _, _) = read_bytes(&zeros);
        let error = result.expect_err("refused").to_string();
        assert!(
            error.contains("declares 500000 rows of 10 columns"),
            "{error}"
        );
    }

    #[test]
    fn damaged_files_are_refused() {
        let schema = "message trees { required fixed_len_byte_array(12) age (INTERVAL); }";
        let intervals = write_file(schema, None, |group| {
            use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
            let value = FixedLenByteArray::from(vec![0; 12]);
            write_column::<FixedLenByteArrayType>(group, &[value], None);
        });
        let (result, _, _) = read_bytes(&intervals);
        let error = result.expect_err("refused").to_string();
        assert!(
            error.contains("the type INTERVAL of the column \"age\" is not read"),
            "{error}"
        );
        let (result, _, _) = read_bytes(b"PAR1 and nothing else");
        let error = result.expect_err("refused").to_string();
        assert!(
            error.starts_with("the Parquet file cannot be read: "),
            "{error}"
        );
    }
}
