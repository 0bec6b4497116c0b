#![doc = include_str!("../README.md")]

mod confinement;
mod pool;
mod process;
mod protocol;
mod serve;

pub use confinement::Limits;
pub use pool::{Pool, PoolOptions, Task, WorkerError};
pub use serve::{Handler, TaskContext, serve};
