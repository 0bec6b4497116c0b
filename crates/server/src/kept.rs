//! What is made of the whole collection, kept until the collection changes.

use super::error::ApiError;
use std::sync::{Arc, Mutex, PoisonError};

/// A value, and what it was made of: the generations of index, catalogue and the like.
pub(super) struct Kept<G, T>(Mutex<Option<(G, Arc<T>)>>);

impl<G, T> Default for Kept<G, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<G: PartialEq, T> Kept<G, T> {
    /// The value of this generation. Who asks while it is made waits for it.
    pub(super) fn get(&self, now: G, make: impl FnOnce() -> Result<T, ApiError>) -> Result<Arc<T>, ApiError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, value)) = &*kept
            && *generation == now
        {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(make()?);
        *kept = Some((now, Arc::clone(&value)));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_a_generation() {
        let kept = Kept::default();
        let mut made = 0;
        let mut get = |generation: u32| {
            let value = kept.get(generation, || {
                made += 1;
                Ok(made)
            });
            value.map(|value| *value).ok()
        };
        assert_eq!([get(1), get(1), get(2), get(2)], [Some(1), Some(1), Some(2), Some(2)]);
        let failed: Result<Arc<u32>, _> = kept.get(3, || Err(ApiError::bad_request("no")));
        assert!(failed.is_err());
        assert_eq!(kept.get(3, || Ok(7)).map(|value| *value).ok(), Some(7), "a failure is not kept");
    }
}
