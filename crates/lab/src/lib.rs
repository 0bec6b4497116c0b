#![doc = include_str!("../README.md")]

pub mod interleave;
pub mod neighbors;
pub mod reproduce;
pub mod tagger;
pub mod training;
