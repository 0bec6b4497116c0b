//! Arguments of encoders, and the models and the library that they name.

use super::config::{is_path, parse_text};
use super::installation;
use super::values::positive;
use anyhow::{Context, ensure};
use lodeseek_index::vectors::Precision;
use lodeseek_rerank::Granularity;
use lodeseek_rerank::encoder::{Device, EncoderOptions, POOLINGS, find_library, library_in};
use serde::Deserialize;
use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Name of the model that the program is shipped with.
pub const SHIPPED_MODEL: &str = "lodeseek-minilm";
/// Name of the multilingual model that the program is shipped with. It takes part only if the models are the default ones.
pub const MULTILINGUAL_MODEL: &str = "lodeseek-multilingual";
/// Models that turn texts into vectors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EncoderSettings {
    /// Model with one vector per text.
    pub dpr: Option<String>,
    /// Model with one vector per token.
    pub colbert: Option<String>,
    /// Learned sparse model.
    pub sparse: Option<String>,
    /// Pooling of token vectors of `dpr`, if its folder does not state it.
    pub pooling: Option<String>,
    /// Cross-encoder that orders the best datasets.
    pub cross_encoder: Option<String>,
    /// Maximum time of the cross-encoder for a query, in milliseconds.
    pub cross_encoder_deadline: Option<u64>,
    /// Name of the ONNX file in the folders of the models.
    pub onnx: Option<String>,
    /// Device of the models.
    #[serde(deserialize_with = "parse_text")]
    pub device: Option<Device>,
    /// Number of threads of one model run.
    pub threads: Option<NonZeroUsize>,
    /// Library of ONNX Runtime.
    pub onnxruntime: Option<PathBuf>,
    /// Number format of stored vectors.
    #[serde(deserialize_with = "parse_text")]
    pub vectors: Option<Precision>,
}

/// Encoder models and their execution.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct EncoderArguments {
    /// Model with one vector per text (DPR, sentence-transformers): its folder, or the name of an installed model [default: as
    /// indexed, else lodeseek-minilm].
    #[arg(long, value_name = "MODEL")]
    pub dpr: Option<String>,
    /// Model with one vector per token (ColBERT, or the token vectors of a sentence-transformers model): its folder, or the name
    /// of an installed model [default: as indexed, else lodeseek-minilm].
    #[arg(long, value_name = "MODEL")]
    pub colbert: Option<String>,
    /// Learned sparse model with one weight per term (SPLADE): its folder, or the name of an installed model [default: as
    /// indexed, else none].
    #[arg(long, value_name = "MODEL")]
    pub sparse: Option<String>,
    /// Pooling of token vectors, for a --dpr folder that does not state it: mean, cls, max, lasttoken, mean_sqrt_len_tokens or
    /// weightedmean [default: as indexed, else as the folder states].
    #[arg(long, value_name = "HOW", value_parser = POOLINGS)]
    pub pooling: Option<String>,
    /// Name of the ONNX file in the folders of the models, such as model_int8.onnx [default: model.onnx, else
    /// model_int8.onnx].
    #[arg(long, value_name = "FILE")]
    pub onnx: Option<String>,
    /// Device of the models: auto, cpu, cuda or cuda:N [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<Device>,
    /// Number of threads of one model run, and of scoring [default: the number of physical cores while encoding, 1 for a
    /// query].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub model_threads: Option<NonZeroUsize>,
    /// Path of the ONNX Runtime library [default: ORT_DYLIB_PATH, else the one installed with the program, else the one that
    /// `make setup` downloaded, else the system's].
    #[arg(long, value_name = "FILE")]
    pub onnxruntime: Option<PathBuf>,
}

impl EncoderArguments {
    /// Returns true if a model is given.
    pub fn is_any(&self) -> bool {
        self.dpr.is_some() || self.colbert.is_some() || self.sparse.is_some()
    }

    /// Returns the names of the given options.
    pub fn option_names(&self) -> Vec<&'static str> {
        let Self {
            dpr,
            colbert,
            sparse,
            pooling,
            onnx,
            device,
            model_threads,
            onnxruntime,
        } = self;
        let options = [
            ("--dpr", dpr.is_some()),
            ("--colbert", colbert.is_some()),
            ("--sparse", sparse.is_some()),
            ("--pooling", pooling.is_some()),
            ("--onnx", onnx.is_some()),
            ("--device", device.is_some()),
            ("--model-threads", model_threads.is_some()),
            ("--onnxruntime", onnxruntime.is_some()),
        ];
        options
            .into_iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(name, _)| name)
            .collect()
    }

    /// Returns the arguments that name the models.
    pub fn text(&self) -> String {
        let dpr = self.dpr.iter().map(|model| format!("--dpr {model}"));
        let colbert = self
            .colbert
            .iter()
            .map(|model| format!("--colbert {model}"));
        let sparse = self.sparse.iter().map(|model| format!("--sparse {model}"));
        dpr.chain(colbert)
            .chain(sparse)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Returns the execution of models by arguments, settings and environment. `models` is the configured folder of models.
    pub fn execution(&self, settings: &EncoderSettings, models: Option<&Path>) -> Execution {
        let library = self
            .onnxruntime
            .clone()
            .or_else(|| settings.onnxruntime.clone());
        let library = library.or_else(|| path_of_variable("ORT_DYLIB_PATH"));
        Execution {
            device: self.device.or(settings.device).unwrap_or_default(),
            threads: self.model_threads.or(settings.threads),
            library: library.or_else(find_installed_library),
            models: models.map(Path::to_owned),
        }
    }
}

/// Finds ONNX Runtime: the one installed with the program, else the one of its Python environment, else the one that `make setup`
/// downloaded.
fn find_installed_library() -> Option<PathBuf> {
    installation::library_folders()
        .iter()
        .find_map(|folder| find_library(folder))
        .or_else(find_python_library)
        .or_else(|| find_library(&cache_folder()?))
}

/// Finds ONNX Runtime in the Python environment of the program.
fn find_python_library() -> Option<PathBuf> {
    installation::python_library_folders()
        .iter()
        .find_map(|folder| library_in(folder))
}

/// Returns the folder into which `make setup` downloads libraries and models.
fn cache_folder() -> Option<PathBuf> {
    path_of_variable("LODESEEK_CACHE").or_else(|| Some(user_cache_folder()?.join("lodeseek")))
}

/// Returns the folder for caches of programs of this user, if it is known.
pub fn user_cache_folder() -> Option<PathBuf> {
    path_of_variable("XDG_CACHE_HOME").or_else(|| Some(path_of_variable("HOME")?.join(".cache")))
}

/// Returns the path in an environment variable, or `None` if it is not set or empty.
fn path_of_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// Execution of models.
#[derive(Clone, Debug)]
pub struct Execution {
    /// Device of the models.
    pub device: Device,
    /// Number of threads of one model run. `None`: the default of the caller.
    pub threads: Option<NonZeroUsize>,
    /// Library of ONNX Runtime. `None`: the system's.
    pub library: Option<PathBuf>,
    /// Folder of models that are given by name.
    pub models: Option<PathBuf>,
}

impl Execution {
    /// Returns the folder of a model: its path, or the folder of a model by name.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn folder(&self, model: &str) -> anyhow::Result<PathBuf> {
        let path = Path::new(model);
        if is_path(model) || path.is_dir() {
            ensure!(
                path.is_dir(),
                "there is no model at {model}; name a folder that contains model.onnx"
            );
            return Ok(path.to_owned());
        }
        let folders = self.model_folders();
        let found = folders
            .iter()
            .map(|folder| folder.join(model))
            .find(|folder| folder.is_dir());
        found.with_context(|| {
            let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            let install = if [SHIPPED_MODEL, MULTILINGUAL_MODEL].contains(&model) {
                ", or install it in the Python environment of the program (pip install lodeseek-model-minilm)"
            } else {
                ""
            };
            format!(
                "the model {model} was not found in {}; set `models` in lodeseek.toml, or LODESEEK_MODELS, to the folder \
                 that contains it{install}",
                folders.join(", ")
            )
        })
    }

    /// Returns the folders in which models are searched: the configured one, or those beside the program.
    fn model_folders(&self) -> Vec<PathBuf> {
        if let Some(folder) = &self.models {
            return vec![folder.clone()];
        }
        installation::model_folders()
    }
}

/// Returns the options of opening a model.
pub fn encoder_options(
    execution: &Execution,
    onnx: Option<String>,
    granularity: Option<Granularity>,
    pooling: Option<String>,
    threads: Option<NonZeroUsize>,
) -> EncoderOptions {
    EncoderOptions {
        library: execution.library.clone(),
        device: execution.device,
        threads: execution.threads.or(threads).map(NonZeroUsize::get),
        variant: onnx,
        granularity,
        pooling,
        ..EncoderOptions::default()
    }
}
