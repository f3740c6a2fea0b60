//! A commit whose rows need not be in memory at once.

use crate::{CommitNo, Condition, Durability, FamilyId, Mutation, Store, StoreResult, TableId, WriteBatch};
use bytes::Bytes;
use std::collections::BTreeMap;

/// A rowkey and its fragment; `None` deletes the row's fragment.
pub type LargeRow = (Bytes, Option<Bytes>);

/// Rows of one family in key order, without duplicate keys.
pub type LargeRows<'a> = Box<dyn Iterator<Item = StoreResult<LargeRow>> + Send + 'a>;

/// The rows that one commit writes. The store may read them more than once, and blocks a thread while it reads.
pub trait LargeWrite: Send + Sync + std::fmt::Debug {
    /// The families that are written, without duplicates.
    fn families(&self) -> Vec<(TableId, FamilyId)>;

    /// Approximate size in bytes of all keys and fragments.
    fn bytes(&self) -> u64;

    /// The rows of one family, from the first.
    ///
    /// # Errors
    /// I/O failures, if the rows are not in memory.
    fn rows(&self, table: TableId, family: FamilyId) -> StoreResult<LargeRows<'_>>;
}

/// Applies the rows as one batch: the default of [`Store::apply_large`].
///
/// # Errors
/// As [`Store::apply`] and [`LargeWrite::rows`].
pub(crate) async fn apply_in_memory<S: Store + ?Sized>(
    store: &S,
    write: &dyn LargeWrite,
    conditions: Vec<Condition>,
    durability: Durability,
) -> StoreResult<CommitNo> {
    let mut mutations = Vec::new();
    for (table, family) in write.families() {
        for row in write.rows(table, family)? {
            mutations.push(match row? {
                (key, Some(fragment)) => Mutation::Replace { table, family, key, fragment: fragment.into() },
                (key, None) => Mutation::Delete { table, family, key },
            });
        }
    }
    store.apply(WriteBatch { tables: Vec::new(), conditions, mutations }, durability).await
}

/// Rows of a batch in the order that [`LargeWrite`] requires.
#[derive(Debug, Default)]
pub struct SortedRows {
    families: BTreeMap<(TableId, FamilyId), Vec<LargeRow>>,
    bytes: u64,
}

impl SortedRows {
    /// Sorts mutations. Keeps the last mutation of each row.
    pub fn new(mutations: Vec<Mutation>) -> Self {
        let mut rows = Self::default();
        for mutation in mutations {
            let (table, family, key, fragment) = match mutation {
                Mutation::Replace { table, family, key, fragment } => (table, family, key, Some(Bytes::from(fragment))),
                Mutation::Delete { table, family, key } => (table, family, key, None),
            };
            rows.bytes += (key.len() + fragment.as_ref().map_or(0, Bytes::len)) as u64;
            rows.families.entry((table, family)).or_default().push((key, fragment));
        }
        for family in rows.families.values_mut() {
            // Reversed before the stable sort, so that `dedup_by` keeps the last mutation of each key.
            family.reverse();
            family.sort_by(|(a, _), (b, _)| a.cmp(b));
            family.dedup_by(|(later, _), (kept, _)| later == kept);
        }
        rows
    }
}

impl LargeWrite for SortedRows {
    fn families(&self) -> Vec<(TableId, FamilyId)> {
        self.families.keys().copied().collect()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn rows(&self, table: TableId, family: FamilyId) -> StoreResult<LargeRows<'_>> {
        let rows = self.families.get(&(table, family)).map(Vec::as_slice).unwrap_or_default();
        Ok(Box::new(rows.iter().cloned().map(Ok)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn put(table: u32, key: &'static str, fragment: &str) -> Mutation {
        let key = Bytes::from_static(key.as_bytes());
        Mutation::Replace { table: TableId(table), family: FamilyId(0), key, fragment: fragment.into() }
    }

    #[test]
    fn rows_are_sorted_by_family_and_the_last_mutation_of_a_row_is_left() {
        let delete = Mutation::Delete { table: TableId(1), family: FamilyId(0), key: Bytes::from_static(b"a") };
        let mutations = vec![put(2, "z", "1"), put(1, "b", "2"), put(1, "a", "3"), put(1, "b", "4"), delete];
        let rows = SortedRows::new(mutations);
        assert_eq!(rows.families(), [(TableId(1), FamilyId(0)), (TableId(2), FamilyId(0))]);
        let first: Vec<_> = rows.rows(TableId(1), FamilyId(0)).unwrap().map(Result::unwrap).collect();
        let expected = [(Bytes::from_static(b"a"), None), (Bytes::from_static(b"b"), Some(Bytes::from_static(b"4")))];
        assert_eq!(first, expected);
        assert_eq!(rows.rows(TableId(3), FamilyId(0)).unwrap().count(), 0);
    }
}
