//! Orders of results other than by relevance.

use super::card::read_card;
use super::{EngineError, IndexedCatalog};
use lodeseek_catalog::DatasetId;
use lodeseek_index::{Collation, Snapshot};
use lru::LruCache;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// The order of a list of datasets.
///
/// ```
/// use lodeseek_engine::ResultOrder;
/// assert_eq!("largest".parse(), Ok(ResultOrder::Largest));
/// assert!("smallest".parse::<ResultOrder>().is_err_and(|error| error.to_string().contains("relevance, newest")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResultOrder {
    /// The best match first. Without a query: the newest first.
    #[default]
    Relevance,
    /// By the first year, the latest first; datasets of unknown year last.
    Newest,
    /// By the number of stored triples, the most first.
    Largest,
    /// By title, as the language of the reader orders letters: without regard to case and accents.
    Title,
}

impl ResultOrder {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Relevance, Self::Newest, Self::Largest, Self::Title];

    /// Returns the name in lower case, which is also the request parameter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Newest => "newest",
            Self::Largest => "largest",
            Self::Title => "title",
        }
    }
}

/// Error for an unknown order.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown order {0:?}; supported: {names}", names = ResultOrder::ALL.map(ResultOrder::name).join(", "))]
pub struct ParseOrderError(String);

impl FromStr for ResultOrder {
    type Err = ParseOrderError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|order| order.name() == name)
            .ok_or_else(|| ParseOrderError(name.to_owned()))
    }
}

/// Maximum number of languages in which the order of titles is cached.
const MAX_LANGUAGES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// The properties of a dataset that orders compare.
struct OrderKey {
    title: String,
    triples: u64,
}

/// The ranks of all datasets by title. Datasets with equal titles have the same rank.
type TitleRanks = FxHashMap<DatasetId, u32>;

/// The keys of all datasets of one commit to the index.
struct OrderKeys {
    keys: FxHashMap<DatasetId, OrderKey>,
    /// Ranks by language, computed at the first use.
    titles: Mutex<LruCache<String, Arc<TitleRanks>>>,
}

impl OrderKeys {
    fn read(snapshot: &Snapshot) -> Result<Self, EngineError> {
        let mut keys = FxHashMap::default();
        for id in snapshot.versions()?.into_keys() {
            let Some(card) = read_card(snapshot, &id)? else {
                continue;
            };
            let title = card.metadata.title().to_owned();
            keys.insert(
                id,
                OrderKey {
                    title,
                    triples: card.profile.triples,
                },
            );
        }
        Ok(Self {
            keys,
            titles: Mutex::new(LruCache::new(MAX_LANGUAGES)),
        })
    }

    /// Returns the number of triples of a dataset; 0 if it has no card.
    fn triples(&self, id: &DatasetId) -> u64 {
        match self.keys.get(id) {
            Some(key) => key.triples,
            None => 0,
        }
    }

    fn title_ranks(&self, language: &str) -> Arc<TitleRanks> {
        let mut cached = self.titles.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(cached.get_or_insert_ref(language, || Arc::new(self.rank_titles(language))))
    }

    fn rank_titles(&self, language: &str) -> TitleRanks {
        let collation = Collation::new(language);
        let mut sorted = Vec::with_capacity(self.keys.len());
        for (id, key) in &self.keys {
            sorted.push((collation.key(&key.title), id));
        }
        sorted.sort_unstable();
        let mut ranks = TitleRanks::default();
        // Equal titles share a rank, so that ties keep the order that the items have.
        for (rank, equal) in (0..).zip(sorted.chunk_by(|one, next| one.0 == next.0)) {
            ranks.extend(equal.iter().map(|(_, id)| ((*id).clone(), rank)));
        }
        ranks
    }
}

/// The keys of the latest commit, computed at the first use.
#[derive(Default)]
pub(super) struct OrderKeyCache(Mutex<Option<(u64, Arc<OrderKeys>)>>);

impl OrderKeyCache {
    fn current(&self, snapshot: &Snapshot) -> Result<Arc<OrderKeys>, EngineError> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, keys)) = &*cached
            && *generation == snapshot.generation()
        {
            return Ok(Arc::clone(keys));
        }
        let keys = Arc::new(OrderKeys::read(snapshot)?);
        *cached = Some((snapshot.generation(), Arc::clone(&keys)));
        Ok(keys)
    }
}

impl IndexedCatalog {
    /// Sorts items by the datasets that they belong to. Ties keep their order; [`ResultOrder::Relevance`] changes nothing.
    /// Titles are ordered as in the first of the preferred languages.
    ///
    /// *Cost.* Years are read from columns in memory. The first use of another order after a commit reads the cards of all
    /// datasets.
    pub(super) fn sort<T>(
        &self,
        items: &mut [T],
        order: ResultOrder,
        languages: &[String],
        snapshot: &Snapshot,
        id: impl Fn(&T) -> &DatasetId,
    ) -> Result<(), EngineError> {
        match order {
            ResultOrder::Relevance => {}
            ResultOrder::Newest => {
                let mut years = FxHashMap::default();
                for item in items.iter() {
                    let facts = snapshot.numeric_facts(id(item))?;
                    years.insert(id(item).clone(), facts.and_then(|facts| facts.year));
                }
                items.sort_by_key(|item| Reverse(years.get(id(item)).copied().flatten()));
            }
            ResultOrder::Largest => {
                let keys = self.order_keys.current(snapshot)?;
                items.sort_by_key(|item| Reverse(keys.triples(id(item))));
            }
            ResultOrder::Title => {
                let keys = self.order_keys.current(snapshot)?;
                let language = match languages.first() {
                    Some(language) => language.as_str(),
                    None => "en",
                };
                let ranks = keys.title_ranks(language);
                items.sort_by_key(|item| ranks.get(id(item)).copied().unwrap_or(u32::MAX));
            }
        }
        Ok(())
    }
}
