//! Columns of Arrow tables.

use crate::ClusterError;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// Returns the texts of a column. Rows without a value are `None`.
pub(crate) fn texts<'b>(
    batch: &'b RecordBatch,
    table: &'static str,
    column: &'static str,
) -> Result<Vec<Option<&'b str>>, ClusterError> {
    let missing = ClusterError::Column {
        table,
        column,
        expected: "texts",
    };
    let Some(array) = batch.column_by_name(column) else {
        return Err(missing);
    };
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().iter().collect()),
        DataType::LargeUtf8 => Ok(array.as_string::<i64>().iter().collect()),
        _ => Err(missing),
    }
}

/// Returns the texts of a column that has a value in each row.
pub(crate) fn required_texts<'b>(
    batch: &'b RecordBatch,
    table: &'static str,
    column: &'static str,
) -> Result<Vec<&'b str>, ClusterError> {
    let complete: Option<Vec<&str>> = texts(batch, table, column)?.into_iter().collect();
    complete.ok_or(ClusterError::Column {
        table,
        column,
        expected: "texts without missing values",
    })
}

/// Returns the numbers of a column that has a value in each row.
pub(crate) fn integers(
    batch: &RecordBatch,
    table: &'static str,
    column: &'static str,
) -> Result<Vec<i64>, ClusterError> {
    let array = batch
        .column_by_name(column)
        .and_then(|array| array.as_primitive_opt::<Int64Type>());
    let array = array.filter(|array| array.null_count() == 0);
    let array = array.ok_or(ClusterError::Column {
        table,
        column,
        expected: "64-bit integers without missing values",
    })?;
    Ok(array.values().to_vec())
}

/// Returns the numbers of a column that has a value in each row.
pub(crate) fn decimals(
    batch: &RecordBatch,
    table: &'static str,
    column: &'static str,
) -> Result<Vec<f64>, ClusterError> {
    let array = batch
        .column_by_name(column)
        .and_then(|array| array.as_primitive_opt::<Float64Type>());
    let array = array.filter(|array| array.null_count() == 0);
    let array = array.ok_or(ClusterError::Column {
        table,
        column,
        expected: "64-bit floats without missing values",
    })?;
    Ok(array.values().to_vec())
}

/// Returns a count as a number of a column.
pub(crate) fn to_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
