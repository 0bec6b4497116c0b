//! Keys of a configuration, and those that both programs read.

use crate::logging::DEFAULT_FILTER;
use lodeseek_rerank::encoder::Device;

/// Kind of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Text.
    Text,
    /// Path of a file or folder.
    Path,
    /// Name of a model, or path of its folder.
    Model,
    /// Whole number.
    Number,
    /// Whole number of a unit, such as seconds.
    Quantity(&'static str),
    /// true or false.
    Boolean,
    /// List of texts.
    List,
    /// Array of tables: the scheduled harvests.
    Harvests,
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name with its table, as `portal.title`.
    pub path: &'static str,
    /// Kind of its value.
    pub kind: Kind,
    /// Flags with the same effect, empty if there are none.
    pub flags: &'static str,
    /// Sentence without a full stop.
    pub help: &'static str,
    /// Default value, or a description of it.
    pub default: fn() -> String,
    /// Value in TOML for the template of `config init`.
    pub example: &'static str,
}

impl Key {
    /// Returns the name of the environment variable.
    pub fn variable(&self) -> String {
        let name = self.path.to_ascii_uppercase().replace(['.', '-'], "_");
        format!("{}{name}", super::PREFIX)
    }
}

impl Kind {
    /// Describes a value of this kind, for the message of a wrong one.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Text | Self::Path | Self::Model => "a text in quotation marks".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Quantity(unit) => format!("a number of {unit}"),
            Self::Boolean => "true or false".to_owned(),
            Self::List => "a list of texts in quotation marks".to_owned(),
            Self::Harvests => "tables [[harvest]]".to_owned(),
        }
    }
}

/// Returns true if a key is a table, or an array of tables.
pub(super) fn is_table(keys: &[Key], key: &str) -> bool {
    keys.iter().any(|known| {
        known
            .path
            .split_once('.')
            .is_some_and(|(table, _)| table == key)
            || known.kind == Kind::Harvests && known.path == key
    })
}

/// Folder of models by name.
pub const MODELS: Key = Key {
    path: "models",
    kind: Kind::Path,
    flags: "",
    help: "Folder that contains the models which are given by name",
    default: || "models beside the program, or share/lodeseek/models beside its folder".to_owned(),
    example: "\"/usr/share/lodeseek/models\"",
};

/// Device of models.
pub const ENCODERS_DEVICE: Key = Key {
    path: "encoders.device",
    kind: Kind::Text,
    flags: "--device",
    help: "Device of the models: auto, cpu, cuda or cuda:N",
    default: || Device::default().to_string(),
    example: "\"cpu\"",
};

/// Number of threads of a model.
pub const ENCODERS_THREADS: Key = Key {
    path: "encoders.threads",
    kind: Kind::Number,
    flags: "--model-threads",
    help: "Number of threads of one model run, and of scoring",
    default: || "all physical cores while encoding, 1 for a query".to_owned(),
    example: "2",
};

/// Library of ONNX Runtime.
pub const ENCODERS_ONNXRUNTIME: Key = Key {
    path: "encoders.onnxruntime",
    kind: Kind::Path,
    flags: "--onnxruntime",
    help: "Path of the library of ONNX Runtime",
    default: || {
        "ORT_DYLIB_PATH, else that of the package, else that of `make setup`, else the system's"
            .to_owned()
    },
    example: "\"/usr/lib/libonnxruntime.so\"",
};

/// Filter of log messages.
pub const LOG_FILTER: Key = Key {
    path: "log.filter",
    kind: Kind::Text,
    flags: "",
    help: "Filter of log messages, as in RUST_LOG, which precedes it",
    default: || DEFAULT_FILTER.to_owned(),
    example: "\"lodeseek=info,warn\"",
};
