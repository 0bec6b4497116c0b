//! How a model is opened: library, device, threads, and what is asked of it beside what its folder says.

use super::{Granularity, ModelError};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs, io};

/// What a model runs on. Written `auto`, `cpu`, `cuda`, `cuda:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Device {
    /// The first GPU if library and machine have one, else the processor; the encoder says which and why.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The NVIDIA GPU of this number, or an error.
    Cuda(u32),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

/// A device nobody knows.
#[derive(Debug, thiserror::Error)]
#[error("the device {0} is not known: auto, cpu, cuda or cuda:N")]
pub struct ParseDeviceError(String);

impl FromStr for Device {
    type Err = ParseDeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let ordinal = text.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
                ordinal.map(Self::Cuda).ok_or_else(|| ParseDeviceError(text.to_owned()))
            }
        }
    }
}

/// How a model is opened.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EncoderOptions {
    /// The library of ONNX Runtime; without, the system's loader looks for one.
    pub library: Option<PathBuf>,
    /// What the model runs on.
    pub device: Device,
    /// Threads of one run; without, one for each physical core.
    pub threads: Option<usize>,
    /// How many texts or batches are encoded at the same time, each with its own copy of the model. 0 counts as 1.
    pub sessions: usize,
    /// The most positions of one batch, padding included; without, what suits the device. A longer text goes alone.
    pub tokens_a_batch: Option<usize>,
    /// The ONNX file, as a path in the model's folder or in its folder `onnx`; without, `model.onnx`, or where that is missing,
    /// `model_int8.onnx`.
    pub variant: Option<String>,
    /// One row a text or a row a piece; without, as the folder says.
    pub granularity: Option<Granularity>,
    /// The most pieces of a query, markers included; without, as the folder says.
    pub query_length: Option<usize>,
    /// The most pieces of a passage, markers included; without, as the folder says.
    pub document_length: Option<usize>,
}

/// The newest library of ONNX Runtime that `make setup` has put into the cache folder.
#[must_use]
pub fn library_in(cache: &Path) -> Option<PathBuf> {
    let folders = cache.read_dir().ok()?.filter_map(Result::ok);
    let versions = folders.filter_map(|folder| Some((version(folder.file_name().to_str()?)?, folder.path())));
    let (_, newest) = versions.max()?;
    newest.read_dir().ok()?.filter_map(Result::ok).map(|file| file.path()).find(|path| is_library(path))
}

/// 1.31.1 of `onnxruntime-1.31.1`.
fn version(folder: &str) -> Option<Vec<u32>> {
    folder.strip_prefix("onnxruntime-")?.split('.').map(|number| number.parse().ok()).collect()
}

fn is_library(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["libonnxruntime.so", "libonnxruntime.dylib", "libonnxruntime.1"].iter().any(|start| name.starts_with(start))
        || name == "onnxruntime.dll"
}

/// What a model's `lodeseek.json` says: `{"floor": {"text": 0.3, "piece": 0.5}}`.
#[derive(Deserialize)]
struct Stated {
    #[serde(default)]
    floor: HashMap<Granularity, f64>,
}

/// The score below which a dataset is the closest there is, not found, as a model's folder states it in `lodeseek.json`: by
/// vectors of texts, or by those of pieces for a piece of the query. `None` where it states none.
pub fn stated_floor(folder: &Path, granularity: Granularity) -> Result<Option<f64>, ModelError> {
    let path = folder.join("lodeseek.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ModelError::File { path, cause: error.into() }),
    };
    match serde_json::from_str::<Stated>(&text) {
        Ok(stated) => Ok(stated.floor.get(&granularity).copied()),
        Err(error) => Err(ModelError::File { path, cause: error.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_written_as_they_are_read() {
        for text in ["auto", "cpu", "cuda:0", "cuda:3"] {
            assert_eq!(text.parse::<Device>().expect("it works").to_string(), text);
        }
        assert_eq!("cuda".parse::<Device>().expect("it works"), Device::Cuda(0));
        for text in ["", "gpu", "cuda:", "cuda:-1", "CPU"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_newest_library_of_the_cache_is_taken() {
        let cache = tempfile::tempdir().expect("it works");
        assert_eq!(library_in(cache.path()), None);
        for version in ["1.9.0", "1.31.1", "1.31.1.new", "1.20.0"] {
            let folder = cache.path().join(format!("onnxruntime-{version}"));
            std::fs::create_dir(&folder).expect("it works");
            std::fs::write(folder.join("LICENSE"), "").expect("it works");
            std::fs::write(folder.join(format!("libonnxruntime.so.{version}")), "").expect("it works");
        }
        let expected = cache.path().join("onnxruntime-1.31.1/libonnxruntime.so.1.31.1");
        assert_eq!(library_in(cache.path()), Some(expected));
    }

    #[test]
    fn floors_are_what_a_folder_states() {
        let folder = tempfile::tempdir().expect("a folder");
        let floors = || [Granularity::Text, Granularity::Piece].map(|rows| stated_floor(folder.path(), rows));
        let write = |text: &str| fs::write(folder.path().join("lodeseek.json"), text).expect("written");
        assert!(matches!(floors(), [Ok(None), Ok(None)]));
        write(r#"{"floor": {"piece": 0.5}}"#);
        assert!(matches!(floors(), [Ok(None), Ok(Some(floor))] if floor == 0.5));
        write(r#"{"floor": {"piece": "high"}}"#);
        assert!(
            floors().into_iter().all(|floor| floor.is_err_and(|error| error.to_string().contains("lodeseek.json")))
        );
    }
}
