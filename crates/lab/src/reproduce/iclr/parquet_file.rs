//! Papers in a Parquet file.

use super::papers::Record;
use anyhow::{Context, bail};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::File;
use std::path::Path;

/// Reads the rows. Columns have their published names.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Record>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let reader = SerializedFileReader::new(file).with_context(|| path.display().to_string())?;
    let mut records = Vec::new();
    for (place, row) in reader
        .get_row_iter(None)
        .with_context(|| path.display().to_string())?
        .enumerate()
    {
        let record = row
            .map_err(anyhow::Error::from)
            .and_then(|row| read_row(&row));
        records.push(record.with_context(|| format!("{}, row {}", path.display(), place + 1))?);
    }
    Ok(records)
}

fn read_row(row: &Row) -> anyhow::Result<Record> {
    let mut record = Record::default();
    for (name, field) in row.get_column_iter() {
        set_field(&mut record, name, field)?;
    }
    Ok(record)
}

fn set_field(record: &mut Record, name: &str, field: &Field) -> anyhow::Result<()> {
    match name {
        "id" => record.id = read_text(name, field)?,
        "abstract" => record.text = read_text(name, field)?,
        "labels" | "label" => record.labels = read_text(name, field)?,
        "keywords" => record.keywords = read_texts(name, field)?,
        _ => {}
    }
    Ok(())
}

fn read_text(name: &str, field: &Field) -> anyhow::Result<Option<String>> {
    match field {
        Field::Null => Ok(None),
        Field::Str(text) => Ok(Some(text.clone())),
        other => bail!("column {name}: expected a text, found {other}"),
    }
}

fn read_texts(name: &str, field: &Field) -> anyhow::Result<Vec<String>> {
    match field {
        Field::Null => Ok(Vec::new()),
        Field::ListInternal(list) => {
            let texts = list
                .elements()
                .iter()
                .map(|element| read_text(name, element));
            Ok(texts
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect())
        }
        other => bail!("column {name}: expected a list of texts, found {other}"),
    }
}
