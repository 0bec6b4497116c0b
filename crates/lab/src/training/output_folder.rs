//! Output folder of training data.

use super::{TrainingData, TrainingError};
use serde::Serialize;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const PASSAGES: &str = "passages.jsonl";
const EXAMPLES: &str = "examples.jsonl";
const ABOUT: &str = "about.json";

impl TrainingData {
    /// Writes `passages.jsonl` ([`PassageRecord`](super::PassageRecord)s by id), `examples.jsonl`
    /// ([`Example`](super::Example)s) and `about.json`.
    ///
    /// The folder gets its name only after all files are complete. Existing training data of that name is replaced.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written, or if the folder contains anything but training data.
    pub fn write(&self, folder: &Path, about: &Value) -> Result<(), TrainingError> {
        check_output_folder(folder)?;
        let unfinished = folder_beside(folder, "unfinished");
        // An interrupted command may have left it.
        remove_folder(&unfinished)?;
        fs::create_dir_all(&unfinished).map_err(TrainingError::io(&unfinished))?;
        write_lines(&unfinished.join(PASSAGES), self.passages.values())?;
        write_lines(&unfinished.join(EXAMPLES), self.examples.iter())?;
        write_about(&unfinished.join(ABOUT), about)?;
        replace_folder(&unfinished, folder)
    }
}

/// Checks that a folder may be written.
///
/// # Errors
///
/// Fails if the folder contains anything but training data.
pub fn check_output_folder(folder: &Path) -> Result<(), TrainingError> {
    if !folder.exists() || folder.join(ABOUT).is_file() && folder.join(EXAMPLES).is_file() {
        return Ok(());
    }
    let is_empty = folder.is_dir()
        && fs::read_dir(folder)
            .map_err(TrainingError::io(folder))?
            .next()
            .is_none();
    if is_empty {
        Ok(())
    } else {
        Err(TrainingError::NotTrainingData(folder.to_owned()))
    }
}

/// Returns a sibling path: in the same file system, so that a rename is atomic.
fn folder_beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.components().as_path().as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn remove_folder(folder: &Path) -> Result<(), TrainingError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TrainingError::io(folder)(error))
        }
        _ => Ok(()),
    }
}

/// Moves the old folder aside before the new one takes its name. An incomplete folder never has the final name.
fn replace_folder(unfinished: &Path, folder: &Path) -> Result<(), TrainingError> {
    let former = folder_beside(folder, "former");
    remove_folder(&former)?;
    if folder.exists() {
        fs::rename(folder, &former).map_err(TrainingError::io(folder))?;
    }
    fs::rename(unfinished, folder).map_err(TrainingError::io(folder))?;
    remove_folder(&former)
}

fn write_lines<'l, T: Serialize + 'l>(
    path: &Path,
    lines: impl Iterator<Item = &'l T>,
) -> Result<(), TrainingError> {
    try_write_lines(path, lines).map_err(TrainingError::io(path))
}

fn try_write_lines<'l, T: Serialize + 'l>(
    path: &Path,
    lines: impl Iterator<Item = &'l T>,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for line in lines {
        serde_json::to_writer(&mut file, line)?;
        file.write_all(b"\n")?;
    }
    // Synchronized, so that no folder has its final name before its files are on disk.
    file.into_inner()?.sync_all()
}

fn write_about(path: &Path, about: &Value) -> Result<(), TrainingError> {
    let text = format!("{about:#}\n");
    fs::write(path, text).map_err(TrainingError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_training_data_is_replaced() {
        let place = tempfile::tempdir().expect("a folder");
        let (mine, other) = (place.path().join("mine"), place.path().join("other"));
        fs::create_dir(&other).expect("a folder");
        fs::write(other.join("letter"), "dear").expect("written");
        let data = TrainingData::default();
        assert!(matches!(
            data.write(&other, &json!({})),
            Err(TrainingError::NotTrainingData(_))
        ));
        assert!(other.join("letter").exists());
        for kind in ["first", "second"] {
            data.write(&mine, &json!({ "kind": kind }))
                .expect("written");
            let about = fs::read_to_string(mine.join(ABOUT)).expect("read");
            assert!(about.contains(kind), "{about}");
        }
        assert_eq!(
            fs::read_dir(place.path()).expect("a folder").count(),
            2,
            "nothing unfinished or former is left"
        );
    }
}
