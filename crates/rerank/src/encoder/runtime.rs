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

fn load_environment(library: Option<&Path>) -> Result<Environment, ModelError> {
    let mut loaded = lock(&LOADED);
    let requested = library.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    if let Some((path, environment)) = loaded.as_ref() {
        return match requested {
            Some(requested) if requested != *path => Err(ModelError::RuntimeConflict {
                loaded: path.clone(),
                requested,
            }),
            _ => Ok(environment.clone()),
        };
    }
    let path = requested.unwrap_or_else(|| PathBuf::from(LIBRARY));
    let builder =
        ort::init_from(&path).map_err(|cause| runtime_error(&path, describe_load_error(&cause)))?;
    let environment = builder
        .with_name("lodeseek")
        .with_telemetry(false)
        .build()
        .map_err(|cause| runtime_error(&path, cause.to_string()))?;
    // Failures are returned as errors; the library's own log on stderr would duplicate them.
    environment.set_log_level(LogLevel::Fatal);
    *loaded = Some((path.clone(), environment.clone()));
    Ok(environment)
}

fn runtime_error(library: &Path, reason: String) -> ModelError {
    ModelError::Runtime {
        library: library.to_owned(),
        reason,
    }
}

fn describe_load_error(cause: &LoadDynamicError) -> String {
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
        let environment = load_environment(options.library.as_deref())?;
        let (first, gpu, device) = open_session(&environment, path, options)?;
        let inputs = read_inputs(path, &first)?;
        let (output, columns) = select_output(path, &first, pooled)?;
        let mut sessions = vec![first];
        for _ in 1..options.sessions {
            sessions.push(
                build_session(&environment, path, options, gpu)
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
        let rows = to_floats(rows)?;
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
fn open_session(
    environment: &Environment,
    path: &Path,
    options: &EncoderOptions,
) -> Result<(Session, Option<u32>, String), ModelError> {
    match options.device {
        Device::Cpu => open_cpu_session(environment, path, options),
        Device::Cuda(ordinal) => match build_session(environment, path, options, Some(ordinal)) {
            Ok(session) => Ok((session, Some(ordinal), format!("cuda:{ordinal}"))),
            // If the CPU fails too, the graph is the cause; otherwise the device.
            Err(cause) => {
                open_cpu_session(environment, path, options)?;
                Err(ModelError::Device {
                    ordinal,
                    reason: first_line(&cause),
                })
            }
        },
        Device::Auto => match build_session(environment, path, options, Some(0)) {
            Ok(session) => Ok((session, Some(0), "cuda:0, found by auto".to_owned())),
            // Most machines have no GPU, and no setting requires one: the reason is reported for `cuda` only.
            Err(_) => open_cpu_session(environment, path, options),
        },
    }
}

fn open_cpu_session(
    environment: &Environment,
    path: &Path,
    options: &EncoderOptions,
) -> Result<(Session, Option<u32>, String), ModelError> {
    let session = build_session(environment, path, options, None)
        .map_err(|cause| ModelError::graph(path, cause))?;
    let device = format!("cpu, {}", format_count(thread_count(options), "thread"));
    Ok((session, None, device))
}

fn format_count(number: usize, noun: &str) -> String {
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
pub(super) fn thread_count(options: &EncoderOptions) -> usize {
    options
        .threads
        .unwrap_or_else(|| num_cpus::get_physical().min(num_cpus::get()))
        .max(1)
}

fn build_session(
    environment: &Environment,
    path: &Path,
    options: &EncoderOptions,
    gpu: Option<u32>,
) -> ort::Result<Session> {
    let mut builder = Session::builder(environment)?
        .with_intra_threads(thread_count(options))?
        .with_inter_threads(1)?
        .with_optimization_level(GraphOptimizationLevel::All)?;
    if let Some(ordinal) = gpu {
        // Without `error_on_failure`, ONNX Runtime would use the CPU, and nobody would notice.
        let cuda = ep::CUDA::default()
            .with_device_id(ordinal as i32)
            .build()
            .error_on_failure();
        builder = builder.with_execution_providers([cuda])?;
    }
    builder.commit_from_file(path)
}

fn read_inputs(path: &Path, session: &Session) -> Result<Vec<(String, Input)>, ModelError> {
    let mut inputs = Vec::new();
    for outlet in session.inputs() {
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
            Some(TensorElementType::Int64) => inputs.push((outlet.name().to_owned(), input)),
            other => {
                return Err(ModelError::graph(
                    path,
                    format!("the input {} takes {other:?}, not Int64", outlet.name()),
                ));
            }
        }
    }
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
fn select_output(
    path: &Path,
    session: &Session,
    pooled: PooledOutputs,
) -> Result<(Output, usize), ModelError> {
    let outputs = FloatOutputs::new(session);
    let chosen = match pooled {
        PooledOutputs::Refused => outputs.of_tokens(),
        PooledOutputs::Logits => outputs.of_text("logits"),
        PooledOutputs::Only => outputs.of_text("pooler_output"),
        PooledOutputs::Allowed => outputs
            .of_tokens()
            .or_else(|| outputs.of_text("pooler_output")),
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

/// The outputs of a graph with floating-point numbers: their names and shapes.
struct FloatOutputs<'s>(Vec<(&'s str, &'s [i64])>);

impl<'s> FloatOutputs<'s> {
    fn new(session: &'s Session) -> Self {
        let outlets = session.outputs().iter();
        Self(
            outlets
                .filter_map(|outlet| Some((outlet.name(), float_shape(outlet.dtype())?)))
                .collect(),
        )
    }

    /// Returns the output with one row per token: that with a usual name, or else the only one with three axes.
    fn of_tokens(&self) -> Option<(Output, &'s [i64])> {
        let usual = ["last_hidden_state", "token_embeddings", "output"];
        let named = usual.iter().find_map(|name| self.find(name, 3));
        let (name, shape) = match named {
            Some(output) => output,
            None => {
                let mut candidates = self.0.iter().filter(|(_, shape)| shape.len() == 3);
                let only = candidates.next()?;
                if candidates.next().is_some() {
                    return None;
                }
                only
            }
        };
        Some((Output::Tokens((*name).to_owned()), *shape))
    }

    /// Returns the output of this name with one row per text.
    fn of_text(&self, name: &str) -> Option<(Output, &'s [i64])> {
        let (name, shape) = self.find(name, 2)?;
        Some((Output::Text((*name).to_owned()), *shape))
    }

    fn find(&self, name: &str, axes: usize) -> Option<&(&'s str, &'s [i64])> {
        self.0
            .iter()
            .find(|(found, shape)| *found == name && shape.len() == axes)
    }
}

fn float_shape(kind: &ValueType) -> Option<&[i64]> {
    matches!(
        kind.tensor_type(),
        Some(TensorElementType::Float32 | TensorElementType::Float16)
    )
    .then(|| kind.tensor_shape().map(|shape| &shape[..]))
    .flatten()
}

fn to_floats(value: &DynValue) -> ort::Result<Vec<f32>> {
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
