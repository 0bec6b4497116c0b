//! Vectors of texts, and what stands near them: TF-IDF and its truncated singular value decomposition, exact nearest
//! neighbours, classification by their vote, the folds to judge that by, and maps of the plane.
//!
//! The numbers are those of scikit-learn (`TfidfVectorizer`, `TruncatedSVD`, `KNeighborsClassifier`, `StratifiedKFold`),
//! so that what is measured here stands beside what others measured there.

mod folds;
mod knn;
mod plane;
mod rows;
mod svd;
mod terms;

pub use folds::{StratifyError, stratified};
pub use knn::{Neighbor, each, majority, predicted};
pub use plane::{NoThread, TSne, principal};
pub use rows::{DenseRows, Rows, SparseRow, SparseRows};
pub use svd::{SvdError, TruncatedSvd};
pub use terms::{DocumentFrequency, TermFrequency, TfIdf, TfIdfOptions};
