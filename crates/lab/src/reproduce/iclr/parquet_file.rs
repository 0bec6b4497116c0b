//! Papers in a Parquet file.

use super::papers::Record;
use anyhow::{Context, bail};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
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
        let wrong = || format!("{}, row {}", path.display(), place + 1);
        let mut record = Record::default();
        for (name, field) in row.with_context(wrong)?.get_column_iter() {
            take(&mut record, name, field).with_context(wrong)?;
        }
        records.push(record);
    }
    Ok(records)
}

fn take(record: &mut Record, name: &str, field: &Field) -> anyhow::Result<()> {
    match name {
        "id" => record.id = text(name, field)?,
        "abstract" => record.text = text(name, field)?,
        "labels" | "label" => record.labels = text(name, field)?,
        "keywords" => record.keywords = texts(name, field)?,
        _ => {}
    }
    Ok(())
}

fn text(name: &str, field: &Field) -> anyhow::Result<Option<String>> {
    match field {
        Field::Null => Ok(None),
        Field::Str(text) => Ok(Some(text.clone())),
        other => bail!("column {name}: expected a text, found {other}"),
    }
}

fn texts(name: &str, field: &Field) -> anyhow::Result<Vec<String>> {
    match field {
        Field::Null => Ok(Vec::new()),
        Field::ListInternal(list) => {
            let texts = list.elements().iter().map(|element| text(name, element));
            Ok(texts
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect())
        }
        other => bail!("column {name}: expected a list of texts, found {other}"),
    }
}
