//! One worker process, as the parent sees it.

use crate::confinement::Limits;
use crate::pool::{PoolOptions, WorkerError};
use crate::protocol::{self, Frame, Kind};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time that a new worker has until it is ready.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Frames that wait until the parent takes them. Then the worker waits.
const MAX_WAITING_FRAMES: usize = 2;
/// Bytes of the standard error that are kept, to explain the end of a worker.
const MAX_ERROR_BYTES: usize = 2000;

/// A running worker process. Dropping it ends the process and waits for its end.
pub(crate) struct Process {
    child: Child,
    input: Arc<Mutex<File>>,
    frames: Receiver<io::Result<Frame>>,
    errors: Arc<Mutex<String>>,
    /// Protections that the system lacks.
    pub(crate) missing: Vec<String>,
    /// Memory when the worker was ready, in bytes.
    pub(crate) idle_memory: u64,
    /// Number of tasks so far.
    pub(crate) tasks: usize,
    /// Time since which the worker is idle.
    pub(crate) idle_since: Instant,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended already
        if let Err(error) = self.child.wait() {
            tracing::warn!(%error, "cannot wait for the end of a worker process");
        }
    }
}

fn lock(errors: &Mutex<String>) -> MutexGuard<'_, String> {
    errors.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Starts a worker, and waits until its limits apply.
    pub(crate) fn start(options: &PoolOptions) -> Result<Self, WorkerError> {
        Self::launch(options)
            .map_err(|error| WorkerError::Start(format!("{}: {error}", options.program.display())))
    }

    fn launch(options: &PoolOptions) -> io::Result<Self> {
        let limits = serde_json::to_string::<Limits>(&options.limits)?;
        let mut child = Command::new(&options.program)
            .args(&options.arguments)
            .arg(limits)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let input = Arc::new(Mutex::new(File::from(OwnedFd::from(input))));
        let errors = Arc::new(Mutex::new(String::new()));
        // The bound is the backpressure: the pipe fills, and the worker waits in its write.
        let (sender, frames) = sync_channel(MAX_WAITING_FRAMES);
        // The standard error is always read: a worker would block once its pipe is full.
        if let (Some(output), Some(error_output)) = (child.stdout.take(), child.stderr.take()) {
            let kept = Arc::clone(&errors);
            thread::Builder::new()
                .name("worker errors".to_owned())
                .spawn(move || keep_errors(error_output, &kept))?;
            thread::Builder::new()
                .name("worker".to_owned())
                .spawn(move || receive_frames(output, &sender))?;
        }
        let mut process = Self {
            child,
            input,
            frames,
            errors,
            missing: Vec::new(),
            idle_memory: 0,
            tasks: 0,
            idle_since: Instant::now(),
        };
        match process.frames.recv_timeout(START_TIMEOUT) {
            Ok(Ok(Frame {
                kind: Kind::Ready,
                content,
            })) => {
                process.missing = serde_json::from_slice(&content)?;
            }
            Ok(Ok(frame)) => {
                return Err(io::Error::other(format!("it sent {:?} first", frame.kind)));
            }
            Ok(Err(error)) => return Err(error),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = START_TIMEOUT.as_secs();
                return Err(io::Error::other(format!(
                    "the worker is not ready after {seconds} s"
                )));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let reason = process.end_reason();
                return Err(io::Error::other(format!("the worker ended: {reason}")));
            }
        }
        // Measured after the start, so that growth is what tasks left behind, and not the program itself.
        process.idle_memory = process.memory_bytes().unwrap_or_default();
        Ok(process)
    }

    /// Returns the standard input of the worker. Writing to it blocks while the worker does not read.
    pub(crate) fn input(&self) -> Arc<Mutex<File>> {
        Arc::clone(&self.input)
    }

    /// Waits for the next frame.
    pub(crate) fn receive(&self, time: Duration) -> Result<io::Result<Frame>, RecvTimeoutError> {
        self.frames.recv_timeout(time)
    }

    /// Returns the memory that the worker has kept from its tasks, in bytes.
    pub(crate) fn grown_bytes(&self) -> u64 {
        match self.memory_bytes() {
            Some(memory) => memory.saturating_sub(self.idle_memory),
            None => 0,
        }
    }

    /// Returns the memory of the process in bytes, without mapped files. `None` if the system does not report it.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }

    /// Ends the process. Its frames end, too.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill(); // it may have ended already
    }

    /// Waits for the end of a process whose output has ended, and returns its reason: the status and the last line of the standard
    /// error. A process that closed its output and runs on is killed. The status of one that is ending does not change.
    pub(crate) fn end_reason(&mut self) -> String {
        self.kill();
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        // The thread that reads the standard error may be late.
        thread::sleep(Duration::from_millis(5));
        let errors = lock(&self.errors);
        let last = errors.lines().last().unwrap_or_default();
        if last.is_empty() {
            status
        } else {
            format!("{status}: {last}")
        }
    }

    /// Returns true if an allocation of the process failed.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let errors = lock(&self.errors);
        errors.contains("memory allocation of") || errors.contains("bad_alloc")
    }
}

/// Hands over the frames of a worker until its output ends. It may end within a frame, which is dropped: the process ended.
fn receive_frames(output: impl io::Read, sender: &SyncSender<io::Result<Frame>>) {
    let mut output = BufReader::new(output);
    while let Some(frame) = protocol::read(&mut output).transpose() {
        if frame
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
        {
            return;
        }
        // After an invalid frame, the beginning of the next one is unknown.
        let is_error = frame.is_err();
        if sender.send(frame).is_err() || is_error {
            return;
        }
    }
}

/// Keeps the end of the standard error of a worker, and logs it.
fn keep_errors(output: impl io::Read, kept: &Mutex<String>) {
    // Lines are bounded, in case that a worker writes without an end.
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(1..) =
        io::Read::take(&mut output, MAX_ERROR_BYTES as u64).read_until(b'\n', &mut line)
    {
        let text = String::from_utf8_lossy(&line).into_owned();
        tracing::debug!("worker: {}", text.trim_end());
        let mut kept = lock(kept);
        if kept.len() + text.len() > MAX_ERROR_BYTES {
            kept.clear();
        }
        kept.push_str(&text);
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_ends_early_is_no_frame() {
        let mut output = Vec::new();
        protocol::write(&mut output, Kind::Output, b"whole").expect("written");
        protocol::write(&mut output, Kind::Output, b"cut").expect("written");
        let (sender, frames) = sync_channel(3);
        receive_frames(&output[..output.len() - 1], &sender);
        drop(sender);
        let contents: Vec<Vec<u8>> = frames
            .iter()
            .map(|frame| frame.expect("a frame").content)
            .collect();
        assert_eq!(contents, [b"whole"]);
    }
}
