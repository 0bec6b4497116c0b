//! Options for opening a model: library, device, threads, and overrides of the folder's settings.

use super::{Granularity, ModelError};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs, io};

/// Device that runs a model. Written `auto`, `cpu`, `cuda`, `cuda:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Device {
    /// The first GPU if library and machine support one, else the CPU. [`Encoder::device`](super::Encoder::device) reports the
    /// choice.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The NVIDIA GPU with this number; an error if it cannot be used.
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

/// Error of parsing an unknown device.
#[derive(Debug, thiserror::Error)]
#[error("unknown device {0:?}; supported: auto, cpu, cuda, cuda:N")]
pub struct ParseDeviceError(String);

impl FromStr for Device {
    type Err = ParseDeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let ordinal = text
                    .strip_prefix("cuda:")
                    .and_then(|ordinal| ordinal.parse().ok());
                ordinal
                    .map(Self::Cuda)
                    .ok_or_else(|| ParseDeviceError(text.to_owned()))
            }
        }
    }
}

/// Names of the poolings: ways in which token vectors become one vector, as in sentence-transformers.
pub const POOLINGS: [&str; 6] = [
    "mean",
    "cls",
    "max",
    "lasttoken",
    "mean_sqrt_len_tokens",
    "weightedmean",
];

/// Options for opening a model.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EncoderOptions {
    /// Path of the ONNX Runtime library. Default: the system's library path is searched.
    pub library: Option<PathBuf>,
    /// Device that runs the model. Default [`Device::Auto`].
    pub device: Device,
    /// Number of threads of one session. Default: one per physical core.
    pub threads: Option<usize>,
    /// Number of texts or batches encoded concurrently, each with its own copy of the model. Default 1; 0 counts as 1.
    pub sessions: usize,
    /// Maximum number of tokens in one batch, padding included. A longer text forms its own batch. Default: 2,048 on a CPU,
    /// 32,768 on a GPU.
    pub tokens_a_batch: Option<usize>,
    /// ONNX file, relative to the model's folder or to its folder `onnx`. Default: `model.onnx`, else `model_int8.onnx`.
    pub variant: Option<String>,
    /// One row per text, token or term. Default: as configured in the folder.
    pub granularity: Option<Granularity>,
    /// Name of the pooling, one of [`POOLINGS`], of a model with one row per text whose folder does not state it. Default: none.
    pub pooling: Option<String>,
    /// Maximum number of tokens of a query, markers included. Default: as configured in the folder.
    pub query_length: Option<usize>,
    /// Maximum number of tokens of a passage, markers included. Default: as configured in the folder.
    pub document_length: Option<usize>,
}

/// Finds the newest ONNX Runtime library in a cache folder, as installed by `make setup`.
#[must_use]
pub fn find_library(cache: &Path) -> Option<PathBuf> {
    let folders = cache.read_dir().ok()?.filter_map(Result::ok);
    let versions = folders
        .filter_map(|folder| Some((parse_version(folder.file_name().to_str()?)?, folder.path())));
    let (_, newest) = versions.max()?;
    library_in(&newest)
}

/// Finds ONNX Runtime's library in a folder, such as `onnxruntime/capi` of a Python environment.
#[must_use]
pub fn library_in(folder: &Path) -> Option<PathBuf> {
    folder
        .read_dir()
        .ok()?
        .filter_map(Result::ok)
        .map(|file| file.path())
        .find(|path| is_library(path))
}

/// Parses the version in a folder name such as `onnxruntime-1.31.1`.
fn parse_version(folder: &str) -> Option<Vec<u32>> {
    folder
        .strip_prefix("onnxruntime-")?
        .split('.')
        .map(|number| number.parse().ok())
        .collect()
}

fn is_library(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    [
        "libonnxruntime.so",
        "libonnxruntime.dylib",
        "libonnxruntime.1",
    ]
    .iter()
    .any(|start| name.starts_with(start))
        || name == "onnxruntime.dll"
}

/// Content of a model's `lodeseek.json`: `{"floor": {"text": 0.3, "piece": 0.5}, "min-letters": 12}`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ModelSettingsFile {
    #[serde(rename = "floor")]
    min_similarity: HashMap<Granularity, f64>,
    /// Minimum number of letters and digits of a text that is encoded.
    #[serde(rename = "min-letters")]
    min_letters: usize,
}

/// Reads the minimum similarity of a match from `lodeseek.json` in a model's folder; `None` if it is not configured. A result
/// below it is only a nearest result. For token vectors it applies to the mean similarity per query token.
///
/// # Errors
///
/// If the file cannot be read or parsed.
pub fn configured_min_similarity(
    folder: &Path,
    granularity: Granularity,
) -> Result<Option<f64>, ModelError> {
    let settings = read_settings(folder)?;
    Ok(settings.min_similarity.get(&granularity).copied())
}

/// Reads the minimum number of letters and digits of a text that is encoded from `lodeseek.json` in a model's folder; 0 if it is not
/// configured.
pub(super) fn configured_min_letters(folder: &Path) -> Result<usize, ModelError> {
    Ok(read_settings(folder)?.min_letters)
}

/// Reads `lodeseek.json` in a model's folder.
fn read_settings(folder: &Path) -> Result<ModelSettingsFile, ModelError> {
    let path = folder.join("lodeseek.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(ModelSettingsFile::default());
        }
        Err(error) => {
            return Err(ModelError::File {
                path,
                cause: error.into(),
            });
        }
    };
    serde_json::from_str(&text).map_err(|error| ModelError::File {
        path,
        cause: error.into(),
    })
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
        assert_eq!(find_library(cache.path()), None);
        for version in ["1.9.0", "1.31.1", "1.31.1.new", "1.20.0"] {
            let folder = cache.path().join(format!("onnxruntime-{version}"));
            std::fs::create_dir(&folder).expect("it works");
            std::fs::write(folder.join("LICENSE"), "").expect("it works");
            std::fs::write(folder.join(format!("libonnxruntime.so.{version}")), "")
                .expect("it works");
        }
        let expected = cache
            .path()
            .join("onnxruntime-1.31.1/libonnxruntime.so.1.31.1");
        assert_eq!(find_library(cache.path()), Some(expected));
    }

    #[test]
    fn floors_are_what_a_folder_states() {
        let folder = tempfile::tempdir().expect("a folder");
        let floors = || {
            [Granularity::Text, Granularity::Piece]
                .map(|rows| configured_min_similarity(folder.path(), rows))
        };
        let write =
            |text: &str| fs::write(folder.path().join("lodeseek.json"), text).expect("written");
        assert!(matches!(floors(), [Ok(None), Ok(None)]));
        write(r#"{"floor": {"piece": 0.5}}"#);
        assert!(matches!(floors(), [Ok(None), Ok(Some(floor))] if floor == 0.5));
        write(r#"{"floor": {"piece": "high"}}"#);
        assert!(
            floors()
                .into_iter()
                .all(|floor| floor.is_err_and(|error| error.to_string().contains("lodeseek.json")))
        );
    }
}
