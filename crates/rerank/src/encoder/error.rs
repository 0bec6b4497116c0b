//! Why a model could not be opened.

use std::error::Error;
use std::path::PathBuf;

/// Why a model could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The program was built without the feature `onnx`.
    #[error("{} cannot be opened: this program was built without the feature onnx", folder.display())]
    NotBuiltIn {
        /// The model's folder.
        folder: PathBuf,
    },
    /// ONNX Runtime is not there, cannot be loaded or is too old.
    #[error(
        "ONNX Runtime could not be loaded from {}: {reason}. Install it (pip install onnxruntime) and name its library \
         (libonnxruntime.so.1.x in the package's folder capi) with --onnxruntime PATH or ORT_DYLIB_PATH; `make setup` \
         puts one into the cache",
        library.display()
    )]
    Runtime {
        /// The library that was tried; a bare name is looked for where the system keeps libraries.
        library: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// Another library was loaded before: a process holds one.
    #[error("ONNX Runtime is loaded from {} already, {} cannot be loaded beside it", loaded.display(), wanted.display())]
    OtherRuntime {
        /// The one that serves.
        loaded: PathBuf,
        /// The one asked for.
        wanted: PathBuf,
    },
    /// A GPU was asked for and is not to be had.
    #[error(
        "the device cuda:{ordinal} cannot be used: {reason}. It needs an NVIDIA driver and the library of onnxruntime-gpu; --device cpu or auto runs without"
    )]
    Device {
        /// Which GPU.
        ordinal: u32,
        /// What ONNX Runtime says.
        reason: String,
    },
    /// A file is missing or cannot be read.
    #[error("{} cannot be read: {cause}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: Box<dyn Error + Send + Sync>,
    },
    /// A setting that is not understood, or not possible here.
    #[error("{}: {key} = {value}: {reason}", path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// The setting's name.
        key: String,
        /// Its value.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder is of no known kind, or something it needs is missing.
    #[error("{}: {reason}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The graph cannot be loaded, or has inputs or outputs that no rule covers.
    #[error("{}: {reason}", path.display())]
    Graph {
        /// The ONNX file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl ModelError {
    #[cfg(feature = "onnx")]
    pub(super) fn file(path: impl Into<PathBuf>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::File { path: path.into(), cause: cause.into() }
    }

    #[cfg(feature = "onnx")]
    pub(super) fn folder(folder: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Folder { folder: folder.into(), reason: reason.into() }
    }

    #[cfg(feature = "onnx")]
    pub(super) fn graph(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::Graph { path: path.into(), reason: reason.to_string() }
    }
}
