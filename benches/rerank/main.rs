//! Ranking again by vectors: `make bench-rerank`.
//!
//! `rerank [PART …] [--model=FOLDER] [--home=HOME] [--topics=FILE] [--qrels=FILE] [--size=N] [--encoded=N] [--rounds=N]
//! [--formats=LIST] [--variant=FILE] [--keep=FOLDER] [--peer=SCRIPT] [--pylate=PYTHON]`, PART one of
//! - `scoring`: inner products and MaxSim alone, over random vectors;
//! - `queries`: whole queries on the datasets of HOME, loaded and indexed, for each of the model's files; beside them the same
//!   model in Python's ONNX Runtime, and PyLate where PYTHON has it;
//! - `collection`: a collection of N datasets made up from a seed: disk, memory, times;
//! - `floors`: what best hits score for queries that have an answer and for such that have none.
//!
//! Without any, all that there is data for. What HOME lacks is encoded into a folder of its own, which stays with `--keep`.
//! ORT_DYLIB_PATH names ONNX Runtime.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod collection;
mod floors;
mod measure;
mod models;
mod queries;
mod scoring;

use lodeseek_index::vectors::Precision;
use measure::PRECISIONS;
use std::error::Error;
use std::path::{Path, PathBuf};

type Failure = Box<dyn Error>;

/// Parts that can be measured.
const PARTS: [&str; 4] = ["scoring", "queries", "collection", "floors"];

struct Arguments {
    parts: Vec<String>,
    model: Option<PathBuf>,
    home: Option<PathBuf>,
    topics: Option<PathBuf>,
    qrels: Option<PathBuf>,
    keep: Option<PathBuf>,
    peer: Option<PathBuf>,
    pylate: Option<PathBuf>,
    size: usize,
    encoded: usize,
    rounds: usize,
    /// Number formats of `collection`. Default: all.
    formats: Vec<Precision>,
    /// A file of the model. Default: both for `queries`, int8 for `collection`, fp32 for `floors`.
    variant: Option<String>,
    /// Encoders whose memory the process prints. `collection` sets it for the process that it starts.
    encoders: Option<String>,
}

impl Arguments {
    fn read() -> Result<Self, Failure> {
        let value = |name: &str| {
            let of = |argument: String| {
                argument
                    .strip_prefix(name)?
                    .strip_prefix('=')
                    .map(str::to_owned)
            };
            std::env::args()
                .find_map(of)
                .filter(|value| !value.is_empty())
        };
        let number = |name, default| match value(name) {
            Some(value) => value.parse::<usize>(),
            None => Ok(default),
        };
        let path = |name| value(name).map(PathBuf::from);
        Ok(Self {
            parts: std::env::args()
                .skip(1)
                .filter(|argument| !argument.starts_with("--"))
                .collect(),
            model: path("--model"),
            home: path("--home"),
            topics: path("--topics"),
            qrels: path("--qrels"),
            keep: path("--keep"),
            peer: path("--peer"),
            pylate: path("--pylate"),
            size: number("--size", 31_589)?,
            encoded: number("--encoded", 2_000)?,
            rounds: number("--rounds", 3)?,
            formats: match value("--formats") {
                Some(names) => names.split(',').map(str::parse).collect::<Result<_, _>>()?,
                None => PRECISIONS.to_vec(),
            },
            encoders: value("--encoders"),
            variant: value("--variant"),
        })
    }

    fn model(&self) -> Result<&Path, Failure> {
        self.model
            .as_deref()
            .ok_or_else(|| "--model=FOLDER is missing".into())
    }

    fn home(&self) -> Result<&Path, Failure> {
        self.home
            .as_deref()
            .ok_or_else(|| "--home=HOME is missing".into())
    }

    fn topics(&self) -> Result<&Path, Failure> {
        self.topics
            .as_deref()
            .ok_or_else(|| "--topics=FILE is missing".into())
    }

    fn qrels(&self) -> Result<&Path, Failure> {
        self.qrels
            .as_deref()
            .ok_or_else(|| "--qrels=FILE is missing".into())
    }

    /// Returns the reason why a part that is not named cannot be measured.
    fn lacks(&self, part: &str) -> Option<&'static str> {
        let real = matches!(part, "queries" | "floors");
        match part {
            "scoring" => None,
            _ if self.model.is_none() => Some("no --model"),
            _ if real
                && self
                    .home
                    .as_ref()
                    .is_none_or(|home| !home.join("index").exists()) =>
            {
                Some("no indexed --home")
            }
            _ if real && self.topics.as_ref().is_none_or(|topics| !topics.exists()) => {
                Some("no --topics")
            }
            "floors" if self.qrels.as_ref().is_none_or(|qrels| !qrels.exists()) => {
                Some("no --qrels")
            }
            _ => None,
        }
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::read()?;
    if arguments.parts.is_empty() {
        for part in PARTS {
            match arguments.lacks(part) {
                Some(lack) => println!("SKIPPED: {part}: {lack}"),
                None => measure(part, &arguments)?,
            }
        }
    }
    arguments
        .parts
        .iter()
        .try_for_each(|part| measure(part, &arguments))
}

fn measure(part: &str, arguments: &Arguments) -> Result<(), Failure> {
    match part {
        "scoring" => scoring::run(arguments.size),
        "queries" => queries::run(arguments),
        "collection" => collection::run(arguments),
        "memory" => collection::memory(arguments),
        "floors" => floors::run(arguments),
        _ => Err(format!("{part:?} is none of {}", PARTS.join(", ")).into()),
    }
}
