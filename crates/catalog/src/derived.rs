//! Values that crates above derive from one version of a table, kept with that version.
//!
//! Compiled expressions of indexes are valid as long as the definition, so they are dropped with it. A clone of a
//! table, made to be changed, starts empty.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// At most one value of each type.
#[derive(Default)]
pub struct Derived {
    values: RwLock<Values>,
}

impl Derived {
    /// Ignores poisoning: a value is inserted whole, so a panic elsewhere leaves nothing half done.
    fn read(&self) -> RwLockReadGuard<'_, Values> {
        self.values.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of this type, if there is one.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.read().get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }

    /// Keeps a value, unless another thread was faster. Returns the kept value.
    pub fn keep<T: Any + Send + Sync>(&self, value: T) -> Arc<T> {
        let new: Arc<T> = Arc::new(value);
        let shared: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(&new);
        let kept = self
            .values
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(TypeId::of::<T>())
            .or_insert(shared)
            .clone();
        kept.downcast().unwrap_or(new)
    }
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Debug for Derived {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Derived of {} types", self.read().len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_type_stays_and_a_copy_has_none() {
        let derived = Derived::default();
        assert!(derived.get::<u32>().is_none());
        assert_eq!(*derived.keep(1_u32), 1);
        assert_eq!(*derived.keep(2_u32), 1);
        derived.keep("text".to_owned());
        assert_eq!(*derived.get::<String>().unwrap(), "text");
        assert!(derived.clone().get::<u32>().is_none());
    }
}
