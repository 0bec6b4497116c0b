//! The two readable faces of a dataset: fields for sparse models, compact texts for encoders.

mod compact;
mod fielded;

pub use compact::CompactDocument;
pub use fielded::{Field, FieldText, FieldedDocument, LiteralPlace};
