//! ONNX Runtime: loads the library when the program runs, loads graphs and runs them.

use super::{Device, EncoderOptions, ModelError};
use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue};
use ort::value::{DynValue, Tensor, TensorElementType, ValueType};
use ort::{LoadDynamicError, ep};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Library loaded by this process. It is a static because the library has one global state per process and rejects a second
/// one.
static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

#[cfg(target_os = "windows")]
const LIBRARY: &str = "onnxruntime.dll";
#[cfg(target_os = "macos")]
const LIBRARY: &str = "libonnxruntime.dylib";
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const LIBRARY: &str = "libonnxruntime.so";

fn environment(library: Option<&Path>) -> Result<Environment, ModelError> {
    let mut loaded = lock(&LOADED);
    let wanted = library.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    if let Some((path, environment)) = loaded.as_ref() {
        return match wanted {
            Some(wanted) if wanted != *path => Err(ModelError::RuntimeConflict {
                loaded: path.clone(),
                wanted,
            }),
            _ => Ok(environment.clone()),
        };
    }
    let path = wanted.unwrap_or_else(|| PathBuf::from(LIBRARY));
    let refusal = |reason: String| ModelError::Runtime {
        library: path.clone(),
        reason,
    };
    let builder = ort::init_from(&path).map_err(|cause| refusal(explained(&cause)))?;
    let environment = builder
        .with_name("lodeseek")
        .with_telemetry(false)
        .build()
        .map_err(|cause| refusal(cause.to_string()))?;
    // Failures are returned as errors; the library's own log on stderr would duplicate them.
    environment.set_log_level(LogLevel::Fatal);
    *loaded = Some((path.clone(), environment.clone()));
    Ok(environment)
}

fn explained(cause: &LoadDynamicError) -> String {
    match cause {
        LoadDynamicError::Dlopen { error, .. } => error.to_string(),
        LoadDynamicError::MissingApi { .. } => "it is not ONNX Runtime".to_owned(),
        LoadDynamicError::InvalidVersionString => "it does not report its version".to_owned(),
        LoadDynamicError::BadVersion { version_str, .. } => {
            format!(
                "it is version {version_str}, 1.{} or later is needed",
                ort::MINOR_VERSION
            )
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inputs of a graph, by their usual names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Ids,
    Attention,
    Types,
}

/// Output of a graph: one row per token, or one row per text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Tokens(String),
    Text(String),
}

/// Batch of texts of one length, in row-major order.
pub(super) struct Batch {
    pub(super) texts: usize,
    pub(super) width: usize,
    pub(super) ids: Vec<i64>,
    pub(super) attention: Vec<i64>,
    /// Segment of each token. Default: one segment.
    pub(super) types: Option<Vec<i64>>,
}

/// A loaded graph with a pool of sessions; a session runs one batch at a time.
pub(super) struct Network {
    path: PathBuf,
    sessions: Mutex<Vec<Session>>,
    returned: Condvar,
    inputs: Vec<(String, Input)>,
    output: Output,
    pub(super) columns: usize,
    /// Readable description of the device and the reason for its choice.
    pub(super) device: String,
    /// If true, it runs on a GPU.
    pub(super) on_gpu: bool,
}

impl Network {
    /// Loads a graph; `pooled` selects the use of its pooled output.
    pub(super) fn load(
        path: &Path,
        options: &EncoderOptions,
        pooled: PooledOutputs,
    ) -> Result<Self, ModelError> {
        let environment = environment(options.library.as_deref())?;
        let (first, gpu, device) = placed(&environment, path, options)?;
        let inputs = inputs(path, &first)?;
        let (output, columns) = output(path, &first, pooled)?;
        let mut sessions = vec![first];
        for _ in 1..options.sessions {
            sessions.push(
                session(&environment, path, options, gpu)
                    .map_err(|cause| ModelError::graph(path, cause))?,
            );
        }
        let (sessions, returned) = (Mutex::new(sessions), Condvar::new());
        Ok(Self {
            path: path.to_owned(),
            sessions,
            returned,
            inputs,
            output,
            columns,
            device,
            on_gpu: gpu.is_some(),
        })
    }

    /// Returns true if the output has one row per text.
    pub(super) fn is_pooled(&self) -> bool {
        matches!(self.output, Output::Text(_))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a batch; returns one row for each token position, or for each text.
    pub(super) fn run(&self, batch: &Batch) -> ort::Result<Vec<f32>> {
        let shape = [batch.texts, batch.width];
        let mut values: Vec<(&str, SessionInputValue<'_>)> = Vec::new();
        for (name, input) in &self.inputs {
            let data = match input {
                Input::Ids => batch.ids.clone(),
                Input::Attention => batch.attention.clone(),
                Input::Types => batch
                    .types
                    .clone()
                    .unwrap_or_else(|| vec![0; batch.ids.len()]),
            };
            values.push((name, Tensor::from_array((shape, data))?.into()));
        }
        let (Output::Tokens(name) | Output::Text(name)) = &self.output;
        let mut session = SessionPermit::acquire(self);
        let outputs = session.get().run(values)?;
        let rows = outputs
            .get(name)
            .ok_or_else(|| ort::Error::new(format!("the output {name} is missing")))?;
        let rows = floats(rows)?;
        let expected = if self.is_pooled() {
            batch.texts
        } else {
            batch.texts * batch.width
        } * self.columns;
        if rows.len() == expected {
            Ok(rows)
        } else {
            Err(ort::Error::new(format!(
                "{} numbers came back, not {expected}",
                rows.len()
            )))
        }
    }
}

/// Use of the pooled output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PooledOutputs {
    Refused,
    Allowed,
    Only,
    /// The output of a classifier.
    Logits,
}

/// A session of the pool, returned when this guard is dropped, also during a panic.
struct SessionPermit<'n> {
    network: &'n Network,
    session: Option<Session>,
}

impl<'n> SessionPermit<'n> {
    fn acquire(network: &'n Network) -> Self {
        let mut sessions = lock(&network.sessions);
        loop {
            match sessions.pop() {
                Some(session) => {
                    return Self {
                        network,
                        session: Some(session),
                    };
                }
                None => {
                    sessions = network
                        .returned
                        .wait(sessions)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "the session leaves only when this is dropped"
    )]
    fn get(&mut self) -> &mut Session {
        self.session.as_mut().expect("a session until dropped")
    }
}

impl Drop for SessionPermit<'_> {
    fn drop(&mut self) {
        lock(&self.network.sessions).extend(self.session.take());
        self.network.returned.notify_one();
    }
}

/// Opens the first session; returns it with its GPU and a description of the device.
fn placed(
    environment: &Environment,
    path: &Path,
    options: &EncoderOptions,
) -> Result<(Session, Option<u32>, String), ModelError> {
    let on_gpu = |ordinal| session(environment, path, options, Some(ordinal));
    match options.device {
        Device::Cpu => placed_on_cpu(environment, path, options),
        Device::Cuda(ordinal) => match on_gpu(ordinal) {
            Ok(session) => Ok((session, Some(ordinal), format!("cuda:{ordinal}"))),
            // If the CPU fails too, the graph is the cause; otherwise the device.
            Err(cause) => {
                placed_on_cpu(environment, path, options)?;
                Err(ModelError::Device {
                    ordinal,
                    reason: first_line(&cause),
                })
            }
        },
        Device::Auto => match on_gpu(0) {
            Ok(session) => Ok((session, Some(0), "cuda:0, found by auto".to_owned())),
            // Most machines have no GPU, and no setting requires one: the reason is reported for `cuda` only.
            Err(_) => placed_on_cpu(environment, path, options),
        },
    }
}

fn placed_on_cpu(
    environment: &Environment,
    path: &Path,
    options: &EncoderOptions,
) -> Result<(Session, Option<u32>, String), ModelError> {
    let session = session(environment, path, options, None)
        .map_err(|cause| ModelError::graph(path, cause))?;
    let device = format!("cpu, {}", count(threads(options), "thread"));
    Ok((session, None, device))
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns the first line of an error without its full stop, for use within a sentence.
fn first_line(cause: &ort::Error) -> String {
    cause
        .message()
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .trim_end_matches('.')
        .to_owned()
}

/// Returns the number of threads. Default: one per physical core, because hyper-threading is slower.
pub(super) fn threads(options: &EncoderOptions) -> usize {
    options
        .threads
        .unwrap_or_else(|| num_cpus::get_physical().min(num_cpus::get()))
        .max(1)
}

fn session(
    environment: &Environment,
    path: &Path,
    options: &EncoderOptions,
    gpu: Option<u32>,
) -> ort::Result<Session> {
    let mut builder = Session::builder(environment)?
        .with_intra_threads(threads(options))?
        .with_inter_threads(1)?
        .with_optimization_level(GraphOptimizationLevel::All)?;
    if let Some(ordinal) = gpu {
        let cuda = ep::CUDA::default()
            .with_device_id(ordinal as i32)
            .build()
            .error_on_failure();
        builder = builder.with_execution_providers([cuda])?;
    }
    builder.commit_from_file(path)
}

fn inputs(path: &Path, session: &Session) -> Result<Vec<(String, Input)>, ModelError> {
    let known = |outlet: &ort::value::Outlet| {
        let input = match outlet.name() {
            "input_ids" => Input::Ids,
            "attention_mask" => Input::Attention,
            "token_type_ids" => Input::Types,
            other => {
                return Err(ModelError::graph(
                    path,
                    format!("the input {other} is not known"),
                ));
            }
        };
        match outlet.dtype().tensor_type() {
            Some(TensorElementType::Int64) => Ok((outlet.name().to_owned(), input)),
            other => Err(ModelError::graph(
                path,
                format!("the input {} takes {other:?}, not Int64", outlet.name()),
            )),
        }
    };
    let inputs = session
        .inputs()
        .iter()
        .map(known)
        .collect::<Result<Vec<_>, _>>()?;
    match [Input::Ids, Input::Attention]
        .iter()
        .find(|&&needed| inputs.iter().all(|(_, input)| *input != needed))
    {
        Some(missing) => Err(ModelError::graph(
            path,
            format!("it has no input of the kind {missing:?}"),
        )),
        None => Ok(inputs),
    }
}

/// Selects the output by name: `last_hidden_state`, `token_embeddings` or (PyLate) `output`, else the only one with three axes.
/// `pooler_output` is selected where the pooled output is allowed.
fn output(
    path: &Path,
    session: &Session,
    pooled: PooledOutputs,
) -> Result<(Output, usize), ModelError> {
    let outputs: Vec<(&str, &[i64])> = session
        .outputs()
        .iter()
        .filter_map(|outlet| Some((outlet.name(), shape(outlet.dtype())?)))
        .collect();
    let of_axes = |axes: usize| outputs.iter().filter(move |(_, shape)| shape.len() == axes);
    let named = |axes: usize, names: &[&str]| {
        names
            .iter()
            .find_map(|name| of_axes(axes).find(|(found, _)| found == name))
    };
    let only = || Some(of_axes(3).next()?).filter(|_| of_axes(3).count() == 1);
    let pieces = || named(3, &["last_hidden_state", "token_embeddings", "output"]).or_else(only);
    let text = || named(2, &["pooler_output"]);
    let chosen = match pooled {
        PooledOutputs::Refused => {
            pieces().map(|&(name, shape)| (Output::Tokens(name.to_owned()), shape))
        }
        PooledOutputs::Logits => {
            named(2, &["logits"]).map(|&(name, shape)| (Output::Text(name.to_owned()), shape))
        }
        PooledOutputs::Only => text().map(|&(name, shape)| (Output::Text(name.to_owned()), shape)),
        PooledOutputs::Allowed => pieces()
            .map(|&(name, shape)| (Output::Tokens(name.to_owned()), shape))
            .or_else(|| text().map(|&(name, shape)| (Output::Text(name.to_owned()), shape))),
    };
    let names: Vec<&str> = session
        .outputs()
        .iter()
        .map(ort::value::Outlet::name)
        .collect();
    let (output, shape) = chosen.ok_or_else(|| {
        ModelError::graph(
            path,
            format!("none of its outputs {names:?} is known to hold what is needed"),
        )
    })?;
    match shape.last().map(|&columns| usize::try_from(columns)) {
        Some(Ok(columns)) if columns > 0 => Ok((output, columns)),
        _ => Err(ModelError::graph(
            path,
            format!("the length of the rows of {output:?} is not fixed in the graph"),
        )),
    }
}

fn shape(kind: &ValueType) -> Option<&[i64]> {
    matches!(
        kind.tensor_type(),
        Some(TensorElementType::Float32 | TensorElementType::Float16)
    )
    .then(|| kind.tensor_shape().map(|shape| &shape[..]))
    .flatten()
}

fn floats(value: &DynValue) -> ort::Result<Vec<f32>> {
    match value.dtype().tensor_type() {
        Some(TensorElementType::Float16) => Ok(value
            .try_extract_tensor::<half::f16>()?
            .1
            .iter()
            .map(|value| value.to_f32())
            .collect()),
        _ => Ok(value.try_extract_tensor::<f32>()?.1.to_vec()),
    }
}
