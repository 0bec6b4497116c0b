//! Errors of opening a model.

use std::error::Error;
use std::path::PathBuf;

/// Errors of opening a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The program was built without the feature `onnx`.
    #[error("cannot open {}: this program was built without the feature onnx; build it with --features onnx", folder.display())]
    FeatureDisabled {
        /// Folder of the model.
        folder: PathBuf,
    },
    /// ONNX Runtime is missing, cannot be loaded or is too old.
    #[error(
        "ONNX Runtime could not be loaded from {}: {reason}. Install it (pip install onnxruntime) and set its library \
         (libonnxruntime.so.1.x in the package's folder capi) by the key encoders.onnxruntime or ORT_DYLIB_PATH; `make setup` \
         installs one into the cache",
        library.display()
    )]
    Runtime {
        /// Library that could not be loaded; a bare name refers to the system's library path.
        library: PathBuf,
        /// Message of the loader.
        reason: String,
    },
    /// Another library is already loaded; a process can load only one.
    #[error("cannot load ONNX Runtime from {}: it is already loaded from {}", requested.display(), loaded.display())]
    RuntimeConflict {
        /// Loaded library.
        loaded: PathBuf,
        /// Requested library.
        requested: PathBuf,
    },
    /// The requested GPU cannot be used.
    #[error(
        "the device cuda:{ordinal} cannot be used: {reason}. It needs an NVIDIA driver and the library of onnxruntime-gpu; the device cpu or auto runs without"
    )]
    Device {
        /// Number of the GPU.
        ordinal: u32,
        /// Message of ONNX Runtime.
        reason: String,
    },
    /// A file is missing or cannot be read.
    #[error("{} cannot be read: {cause}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of reading or parsing.
        cause: Box<dyn Error + Send + Sync>,
    },
    /// A setting is unknown or not supported.
    #[error("{}: {key} = {value}: {reason}", path.display())]
    Setting {
        /// Path of the file.
        path: PathBuf,
        /// Name of the setting.
        key: String,
        /// Value of the setting.
        value: String,
        /// Reason of the rejection.
        reason: String,
    },
    /// The folder has no supported layout, or a file is missing.
    #[error("{}: {reason}", folder.display())]
    Folder {
        /// Folder of the model.
        folder: PathBuf,
        /// Missing file or other reason.
        reason: String,
    },
    /// The graph cannot be loaded, or has unsupported inputs or outputs.
    #[error("{}: {reason}", path.display())]
    Graph {
        /// Path of the ONNX file.
        path: PathBuf,
        /// Reason of the failure.
        reason: String,
    },
}

impl ModelError {
    #[cfg(feature = "onnx")]
    pub(super) fn file(
        path: impl Into<PathBuf>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::File {
            path: path.into(),
            cause: cause.into(),
        }
    }

    #[cfg(feature = "onnx")]
    pub(super) fn folder(folder: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Folder {
            folder: folder.into(),
            reason: reason.into(),
        }
    }

    #[cfg(feature = "onnx")]
    pub(super) fn graph(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::Graph {
            path: path.into(),
            reason: reason.to_string(),
        }
    }
}
