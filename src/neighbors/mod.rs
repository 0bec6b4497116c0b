//! Vectors of texts, and what stands near them: TF-IDF and its truncated singular value decomposition, exact nearest
//! neighbours, classification by their vote, and the folds to judge that by.
//!
//! The numbers are those of scikit-learn (`TfidfVectorizer`, `TruncatedSVD`, `KNeighborsClassifier`, `StratifiedKFold`),
//! so that what is measured here stands beside what others measured there.

mod folds;
mod knn;
mod rows;
mod terms;

pub use folds::{StratifyError, stratified};
pub use knn::{Neighbor, each, majority};
pub use rows::{DenseRows, Rows, SparseRow, SparseRows};
pub use terms::{DocumentFrequency, TermFrequency, TfIdf, TfIdfOptions};
