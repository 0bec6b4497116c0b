//! Cache of values that are computed from the whole collection.

use crate::error::ApiError;
use lru::LruCache;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Cache of one value, valid for one generation of its inputs (index commit, catalogue change and the like).
pub(crate) struct GenerationCache<G: Hash + Eq, T>(Mutex<LruCache<G, Arc<T>>>);

impl<G: Hash + Eq, T> Default for GenerationCache<G, T> {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::MIN)))
    }
}

impl<G: Hash + Eq, T> GenerationCache<G, T> {
    /// Returns the value of a generation, and computes it if the cache has that of another. Concurrent callers wait for one
    /// computation. An error is returned and not cached.
    pub(crate) fn get_or_compute(
        &self,
        generation: G,
        compute: impl FnOnce() -> Result<T, ApiError>,
    ) -> Result<Arc<T>, ApiError> {
        // Locked while the value is computed, so that requests at the same time do not compute it each.
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache
            .try_get_or_insert(generation, || compute().map(Arc::new))
            .map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_computed_once_a_generation() {
        let cache = GenerationCache::default();
        let mut computations = 0;
        let mut get = |generation: u32| {
            let value = cache.get_or_compute(generation, || {
                computations += 1;
                Ok(computations)
            });
            value.map(|value| *value).ok()
        };
        assert_eq!(
            [get(1), get(1), get(2), get(2)],
            [Some(1), Some(1), Some(2), Some(2)]
        );
        assert_eq!(get(1), Some(3), "only the last generation is cached");
        let failed: Result<Arc<u32>, _> =
            cache.get_or_compute(3, || Err(ApiError::bad_request("no")));
        assert!(failed.is_err());
        assert_eq!(
            cache.get_or_compute(3, || Ok(7)).map(|value| *value).ok(),
            Some(7),
            "an error is not cached"
        );
    }
}
