//! The works nearest to a query, and their votes for datasets.

use super::encoding::text_digest;
use crate::EngineError;
use lodeseek_catalog::{CitingWork, DatasetId};
use lodeseek_index::vectors::{Rows, Vectors, VectorsError, VectorsSnapshot, model_folder};
use lodeseek_ranking::{Ranking, Scored};
use lodeseek_rerank::{Encoder, Query, dpr};
use lodeseek_store::{read_works, works_checksum, works_folder};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of works that are shown for a dataset.
const MAX_SHOWN_WORKS: usize = 3;

/// A work near to a query.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct NearWork {
    /// Its title.
    pub title: String,
    /// Year of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Cosine of the vectors of work and query.
    pub similarity: f64,
}

/// The works near to a query that use a dataset.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct WorkEvidence {
    /// Sum of the similarities of these works: the score of the dataset.
    pub score: f64,
    /// Number of these works.
    pub near: usize,
    /// Number of all works that use the dataset, within the years of the search.
    pub all: usize,
    /// The nearest of them, at most three.
    pub works: Vec<NearWork>,
}

/// The votes of the works nearest to a query, by dataset.
#[derive(Debug, Default)]
pub(crate) struct WorkVotes(pub(crate) FxHashMap<DatasetId, WorkEvidence>);

impl WorkVotes {
    /// Returns the datasets by their scores.
    pub(crate) fn ranking(&self) -> Ranking {
        let scored = self.0.iter().map(|(id, evidence)| Scored {
            id: id.clone(),
            score: evidence.score,
        });
        Ranking::from_scores(scored.collect())
    }
}

/// Conditions for works to vote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VoteLimits {
    /// Maximum number of works that vote: the nearest ones.
    pub(crate) works: NonZeroUsize,
    /// Last year of publication. Works of unknown year always pass.
    pub(crate) until: Option<i32>,
    /// Minimum similarity. Works without a positive similarity never vote.
    pub(crate) min_similarity: Option<f64>,
}

impl VoteLimits {
    /// Returns true if works of a year may vote.
    fn includes_year(&self, year: Option<i32>) -> bool {
        year.zip(self.until)
            .is_none_or(|(year, until)| year <= until)
    }
}

/// Orders places by descending similarity, then ascending.
fn compare_places(similarities: &[f32], one: usize, other: usize) -> Ordering {
    similarities[other]
        .total_cmp(&similarities[one])
        .then(one.cmp(&other))
}

/// The works of a home and their vectors by one encoder. Follows the changes of both.
pub(crate) struct WorkRetriever {
    home: PathBuf,
    vectors: Vectors,
    loaded: Mutex<Option<Arc<EncodedWorks>>>,
}

/// Version of works with their vectors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct EncodedVersion {
    /// Generation of the vectors.
    generation: u64,
    /// Checksum of the list of works.
    list: Option<String>,
}

/// Works with their vectors, held in memory.
struct EncodedWorks {
    version: EncodedVersion,
    rows: Rows,
    /// The work of each row, without its abstract.
    works: Vec<CitingWork>,
    /// The years of the works that use a dataset.
    years: FxHashMap<DatasetId, Vec<Option<i32>>>,
}

impl WorkRetriever {
    /// Opens the works of a home. Returns `None` if there are no vectors of works by this encoder.
    pub(crate) fn open(home: &Path, encoder: &dyn Encoder) -> Result<Option<Self>, EngineError> {
        let folder = model_folder(&works_folder(home), encoder.fingerprint());
        match Vectors::open(&folder, encoder.fingerprint()) {
            Ok(vectors) => Ok(Some(Self {
                home: home.to_owned(),
                vectors,
                loaded: Mutex::default(),
            })),
            Err(VectorsError::Missing(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns true if a work has a vector. After the removal of all works there is a folder of vectors without any.
    pub(crate) fn has_vectors(&self) -> Result<bool, EngineError> {
        Ok(!self.vectors.snapshot()?.is_empty())
    }

    /// Returns the votes of the works nearest to a query.
    pub(crate) fn votes(
        &self,
        query: &Query,
        limits: &VoteLimits,
    ) -> Result<WorkVotes, EngineError> {
        Ok(self.load_works()?.votes(query, limits))
    }

    fn load_works(&self) -> Result<Arc<EncodedWorks>, EngineError> {
        let snapshot = self.vectors.snapshot()?;
        // Before both are read: what changes meanwhile is loaded again.
        let version = EncodedVersion {
            generation: snapshot.generation(),
            list: works_checksum(&self.home)?,
        };
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoded) = &*loaded
            && encoded.version == version
        {
            return Ok(Arc::clone(encoded));
        }
        let encoded = Arc::new(EncodedWorks::load(&self.home, &snapshot, version)?);
        *loaded = Some(Arc::clone(&encoded));
        Ok(encoded)
    }
}

impl EncodedWorks {
    /// Loads the works that have vectors of their current texts. The others wait for the next encoding.
    fn load(
        home: &Path,
        vectors: &VectorsSnapshot,
        version: EncodedVersion,
    ) -> Result<Self, EngineError> {
        let (mut values, mut works) = (Vec::new(), Vec::new());
        let mut years = FxHashMap::<DatasetId, Vec<Option<i32>>>::default();
        for (key, work) in read_works(home)? {
            let Ok(id) = DatasetId::new(key) else {
                continue;
            };
            if vectors.digest(&id) != Some(text_digest(&work).as_str()) {
                continue;
            }
            match vectors.get(&id) {
                Ok(Some(stored)) if stored.metadata.rows() > 0 => {
                    values.extend(stored.metadata.row(0))
                }
                Ok(_) => continue,
                Err(error) => {
                    tracing::error!(work = work.title, %error, "a work is ignored; run `lodeseek repair`, then `lodeseek index`");
                    continue;
                }
            }
            for dataset in &work.datasets {
                years.entry(dataset.clone()).or_default().push(work.year);
            }
            works.push(CitingWork {
                summary: String::new(),
                ..work
            });
        }
        let description = vectors.description();
        let rows = Rows::pack(&values, description.columns, description.precision);
        Ok(Self {
            version,
            rows,
            works,
            years,
        })
    }

    fn votes(&self, query: &Query, limits: &VoteLimits) -> WorkVotes {
        let similarities = dpr::dot(query, &self.rows);
        let mut places: Vec<usize> = (0..similarities.len())
            .filter(|&place| limits.includes_year(self.works[place].year))
            .collect();
        let k = limits.works.get();
        if k < places.len() {
            places.select_nth_unstable_by(k, |one, other| {
                compare_places(&similarities, *one, *other)
            });
            places.truncate(k);
        }
        places.sort_unstable_by(|one, other| compare_places(&similarities, *one, *other));
        let mut votes = FxHashMap::<DatasetId, WorkEvidence>::default();
        for place in places {
            let (work, similarity) = (&self.works[place], f64::from(similarities[place]));
            if similarity <= 0.0
                || limits
                    .min_similarity
                    .is_some_and(|min_similarity| similarity < min_similarity)
            {
                // The places are in descending order: all others are less similar.
                break;
            }
            for dataset in &work.datasets {
                let evidence = votes
                    .entry(dataset.clone())
                    .or_insert_with(|| WorkEvidence {
                        score: 0.0,
                        near: 0,
                        // Each dataset of a loaded work has an entry in `years`.
                        all: self.years[dataset]
                            .iter()
                            .filter(|year| limits.includes_year(**year))
                            .count(),
                        works: Vec::new(),
                    });
                evidence.score += similarity;
                evidence.near += 1;
                if evidence.works.len() < MAX_SHOWN_WORKS {
                    let (title, url) = (work.title.clone(), work.url.clone());
                    evidence.works.push(NearWork {
                        title,
                        year: work.year,
                        url,
                        similarity,
                    });
                }
            }
        }
        WorkVotes(votes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_index::vectors::Precision;
    use lodeseek_rerank::Matrix;

    /// Title, year, ids of datasets, and vector of a work.
    type TestWork<'t> = (&'t str, Option<i32>, &'t [&'t str], [f32; 2]);

    fn works(list: &[TestWork<'_>]) -> EncodedWorks {
        let (mut values, mut works, mut years) =
            (Vec::new(), Vec::new(), FxHashMap::<_, Vec<_>>::default());
        for (title, year, names, vector) in list {
            values.extend(vector);
            let datasets: Vec<DatasetId> = names
                .iter()
                .map(|name| DatasetId::new(*name).expect("an id"))
                .collect();
            for dataset in &datasets {
                years.entry(dataset.clone()).or_default().push(*year);
            }
            let title = (*title).to_owned();
            works.push(CitingWork {
                title,
                summary: String::new(),
                year: *year,
                url: None,
                datasets,
            });
        }
        EncodedWorks {
            version: EncodedVersion::default(),
            rows: Rows::pack(&values, 2, Precision::F16),
            works,
            years,
        }
    }

    #[test]
    fn nearest_works_vote_with_their_similarity() {
        let works = works(&[
            ("far", None, &["a"], [-1.0, 0.0]),
            ("near", Some(2019), &["a", "b"], [1.0, 0.0]),
            ("later", Some(2022), &["b"], [1.0, 0.0]),
            ("half", None, &["b", "c"], [0.5, 0.5]),
        ]);
        let query = Query::new(&Matrix::new(2, vec![1.0, 0.0]));
        let limits = |works, until, min_similarity| VoteLimits {
            works: NonZeroUsize::new(works).expect("above 0"),
            until,
            min_similarity,
        };
        let votes = |limits: VoteLimits| {
            let mut votes: Vec<(String, f64, usize, usize)> = works
                .votes(&query, &limits)
                .0
                .into_iter()
                .map(|(id, one)| (id.to_string(), one.score, one.near, one.all))
                .collect();
            votes.sort_by(|one, other| one.0.cmp(&other.0));
            votes
        };
        let vote = |id: &str, score, near, all| (id.to_owned(), score, near, all);
        assert_eq!(
            votes(limits(9, None, None)),
            [
                vote("a", 1.0, 1, 2),
                vote("b", 2.5, 3, 3),
                vote("c", 0.5, 1, 1)
            ]
        );
        assert_eq!(
            votes(limits(2, None, None)),
            [vote("a", 1.0, 1, 2), vote("b", 2.0, 2, 3)]
        );
        assert_eq!(
            votes(limits(9, None, Some(0.6))),
            [vote("a", 1.0, 1, 2), vote("b", 2.0, 2, 3)]
        );
        let earlier = votes(limits(2, Some(2020), None));
        assert_eq!(
            earlier,
            [
                vote("a", 1.0, 1, 2),
                vote("b", 1.5, 2, 2),
                vote("c", 0.5, 1, 1)
            ]
        );
        let shown = &works.votes(&query, &limits(9, None, None)).0
            [&DatasetId::new("b").expect("an id")]
            .works;
        assert_eq!(
            shown
                .iter()
                .map(|work| work.title.as_str())
                .collect::<Vec<_>>(),
            ["near", "later", "half"]
        );
    }
}
