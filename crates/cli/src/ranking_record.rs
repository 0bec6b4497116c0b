//! Record of the ranking and the models that `lodeseek index` was run with.

use anyhow::Context;
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::Path;

/// Name of the record in a home.
pub const RANKING_RECORD: &str = "ranking.json";

/// Reads the record of a home, or its part that `T` has. Without a record, it is the default.
///
/// # Errors
/// If the record cannot be read or parsed.
pub fn read_ranking_record<T: DeserializeOwned + Default>(home: &Path) -> anyhow::Result<T> {
    let path = home.join(RANKING_RECORD);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(T::default());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    serde_json::from_str(&text).with_context(|| {
        format!(
            "{}: damaged; delete it and run `lodeseek index`",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_missing_record_is_the_default_and_a_damaged_one_an_error() {
        let home = tempfile::tempdir().expect("a folder");
        let read = || read_ranking_record::<Value>(home.path());
        assert_eq!(read().expect("the default"), Value::Null);
        let path = home.path().join(RANKING_RECORD);
        fs::write(&path, "{\"dpr\": \"m\"}").expect("written");
        assert_eq!(read().expect("a record"), json!({ "dpr": "m" }));
        fs::write(&path, "{").expect("written");
        assert!(format!("{:#}", read().expect_err("damaged")).contains("ranking.json: damaged"));
    }
}
