//! Rows of subqueries and of inner sides of joins, by the outer values that they depend on.

use crate::expr::Row;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use types::Datum;
use types::compare::is_identical;

/// The rows computed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo(HashMap<OuterValues, Arc<Vec<Row>>>);

/// Outer values as a key. SQL's equality does not do: `1 day` equals `24:00:00`, and their texts differ.
#[derive(Clone, Debug)]
struct OuterValues(Vec<Datum>);

impl Memo {
    /// The rows for these outer values.
    pub(super) fn get(&self, outer: Vec<Datum>) -> Result<Arc<Vec<Row>>, Missing> {
        let outer = OuterValues(outer);
        self.0.get(&outer).map(Arc::clone).ok_or(Missing(outer))
    }

    pub(super) fn insert(&mut self, Missing(outer): Missing, rows: &Arc<Vec<Row>>) {
        self.0.insert(outer, Arc::clone(rows));
    }
}

/// Outer values without rows.
#[derive(Debug)]
pub(super) struct Missing(OuterValues);

impl PartialEq for OuterValues {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| is_identical(a, b))
    }
}

impl Eq for OuterValues {}

impl Hash for OuterValues {
    // Identical values are equal, and equal values have one hash.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
