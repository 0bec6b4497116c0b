//! Orders of results other than by relevance.

use super::card::read_card;
use super::{EngineError, IndexedCatalog};
use lodeseek_catalog::DatasetId;
use lodeseek_index::Snapshot;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
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
    /// By title, without regard to case.
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
        Self::ALL.into_iter().find(|order| order.name() == name).ok_or_else(|| ParseOrderError(name.to_owned()))
    }
}

/// The properties of a dataset that orders compare.
struct OrderKey {
    title: String,
    triples: u64,
}

/// The keys of all datasets of one commit to the index.
#[derive(Default)]
struct OrderKeys(FxHashMap<DatasetId, OrderKey>);

impl OrderKeys {
    fn read(snapshot: &Snapshot) -> Result<Self, EngineError> {
        let mut keys = FxHashMap::default();
        for id in snapshot.versions()?.into_keys() {
            let Some(card) = read_card(snapshot, &id)? else { continue };
            let title = card.metadata.title().trim().to_lowercase();
            keys.insert(id, OrderKey { title, triples: card.profile.triples });
        }
        Ok(Self(keys))
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
    ///
    /// *Cost.* Years are read from columns in memory. The first use of another order after a commit reads the cards of all
    /// datasets.
    pub(super) fn sort<T>(
        &self,
        items: &mut [T],
        order: ResultOrder,
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
                items.sort_by_key(|item| Reverse(keys.0.get(id(item)).map_or(0, |key| key.triples)));
            }
            ResultOrder::Title => {
                let keys = self.order_keys.current(snapshot)?;
                let title = |item: &T| keys.0.get(id(item)).map_or("", |key| key.title.as_str());
                items.sort_by(|one, other| title(one).cmp(title(other)));
            }
        }
        Ok(())
    }
}
