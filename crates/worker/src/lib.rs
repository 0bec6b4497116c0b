#![doc = include_str!("../README.md")]

mod calls;
mod confinement;
#[cfg(fuzzing)]
pub mod fuzzing;
mod pool;
mod process;
mod protocol;
mod serve;

pub use calls::{Call, Calls};
pub use confinement::Limits;
pub use pool::{AnswerCall, Pool, PoolOptions, Task, WorkerError};
pub use serve::{Handler, TaskContext, serve};
