//! The portals of a connection by name. The unnamed portal has its own field, because most drivers use it for every
//! statement and it is looked up several times per transaction.

use std::collections::HashMap;

/// Portals of type `P`; the unnamed portal has the name `""`.
pub(crate) struct Portals<P> {
    unnamed: Option<P>,
    named: HashMap<String, P>,
}

impl<P> Default for Portals<P> {
    fn default() -> Self {
        Self { unnamed: None, named: HashMap::new() }
    }
}

impl<P> Portals<P> {
    pub(crate) fn get(&self, name: &str) -> Option<&P> {
        if name.is_empty() { self.unnamed.as_ref() } else { self.named.get(name) }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Replaces a portal of the same name.
    pub(crate) fn insert(&mut self, name: &str, portal: P) {
        if name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.named.insert(name.to_owned(), portal);
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<P> {
        if name.is_empty() { self.unnamed.take() } else { self.named.remove(name) }
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&P) -> bool) {
        self.unnamed.take_if(|portal| !keep(portal));
        self.named.retain(|_, portal| keep(portal));
    }

    pub(crate) fn clear(&mut self) {
        self.unnamed = None;
        self.named.clear();
    }
}
