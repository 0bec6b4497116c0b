//! Vectors of texts and their neighbourhoods.
//!
//! The module offers TF-IDF, truncated singular value decomposition (SVD), exact nearest neighbours, k-NN
//! classification, stratified folds, and t-SNE maps. The numbers equal those of scikit-learn (`TfidfVectorizer`,
//! `TruncatedSVD`, `KNeighborsClassifier`, `StratifiedKFold`). Results are therefore comparable with published ones.

mod folds;
mod knn;
mod matrices;
mod svd;
mod tf_idf;
mod tsne;

pub use folds::{StratifyError, stratified_folds};
pub use knn::{Neighbor, cross_val_predict, majority, parallel_map};
pub use matrices::{DenseRows, Rows, SparseRow, SparseRows};
pub use svd::{SvdError, TruncatedSvd};
pub use tf_idf::{DocumentFrequency, TermFrequency, TfIdf, TfIdfOptions};
pub use tsne::{ComponentError, TSne, ThreadPoolError, principal_components};
