//! Groups a commit's writes by row, each with its entries, ordered so that unique values can move between rows.

use super::FAMILY;
use super::layer::Shared;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Bytes, CommitNo, Condition, EntryRows, FamilyId, Mutation, StoreError, StoreResult, TableId, WriteBatch};

/// A row with its entries.
#[derive(Debug, Default)]
pub(super) struct RowGroup {
    /// The new row; inner `None`: deleted. Outer `None`: the row is unchanged, and its entries are repaired.
    pub(super) row: Option<Option<Vec<u8>>>,
    /// The stamp that was read.
    pub(super) expect: Option<Option<CommitNo>>,
    pub(super) entries: Vec<EntryChange>,
}

/// A change of one entry.
#[derive(Debug)]
pub(super) struct EntryChange {
    pub(super) storage: TableId,
    pub(super) key: Bytes,
    /// The new entry; `None`: deleted.
    pub(super) fragment: Option<Vec<u8>>,
    pub(super) entries: Arc<dyn EntryRows>,
    /// The unique value to reserve or release.
    pub(super) value: Option<Bytes>,
}

/// The writes of a commit, grouped by row.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) groups: Vec<((TableId, Bytes), RowGroup)>,
    /// Conditions on rows that are not written.
    pub(super) conditions: Vec<Condition>,
}

/// A value of a unique index.
type Value = (TableId, Bytes);

impl Shared {
    /// # Errors
    /// [`StoreError::Unsupported`] if rows exchange unique values; [`StoreError::Corrupted`] for invalid keys.
    pub(super) fn plan(&self, batch: WriteBatch) -> StoreResult<Plan> {
        let mut groups: BTreeMap<(TableId, Bytes), RowGroup> = BTreeMap::new();
        for mutation in batch.mutations {
            let (table, key, fragment) = match mutation {
                Mutation::Replace { table, key, fragment, family } => (table, in_family(family, key)?, Some(fragment)),
                Mutation::Delete { table, key, family } => (table, in_family(family, key)?, None),
            };
            let Some(entries) = self.entries_of(table) else {
                groups.entry((table, key)).or_default().row = Some(fragment);
                continue;
            };
            let row = match (entries.rowkey(&key), &fragment) {
                (Ok(rowkey), _) => (entries.rows(), rowkey),
                // Bytes that are not a valid entry can be deleted.
                (Err(StoreError::Corrupted { .. }), None) => {
                    groups.entry((table, key)).or_default().row = Some(None);
                    continue;
                }
                (Err(error), _) => return Err(error),
            };
            let prefix = entries.unique_prefix(&key)?;
            let value = prefix.map(|prefix| key.slice(..prefix.min(key.len())));
            let change = EntryChange { storage: table, key, fragment, entries, value };
            groups.entry(row).or_default().entries.push(change);
        }
        let mut conditions = Vec::new();
        for condition in batch.conditions {
            match groups.get_mut(&(condition.table, condition.key.clone())) {
                Some(group) if group.row.is_some() => group.expect = Some(condition.expect),
                // An entry is checked through its row.
                _ if self.entries_of(condition.table).is_some() => {}
                _ => conditions.push(condition),
            }
        }
        Ok(Plan { groups: in_order(groups.into_iter().collect())?, conditions })
    }
}

fn in_family(family: FamilyId, key: Bytes) -> StoreResult<Bytes> {
    match family == FAMILY {
        true => Ok(key),
        false => Err(StoreError::Unsupported { what: "a row of another family beside entries" }),
    }
}

/// Sorts inserts and updates before deletes, except that a row that releases a unique value precedes the row that takes
/// it.
fn in_order(mut groups: Vec<((TableId, Bytes), RowGroup)>) -> StoreResult<Vec<((TableId, Bytes), RowGroup)>> {
    groups.sort_by_key(|(_, group)| group.row == Some(None));
    let mut left_by: BTreeMap<Value, usize> = BTreeMap::new();
    for (at, (_, group)) in groups.iter().enumerate() {
        let left = group.entries.iter().filter(|entry| entry.fragment.is_none());
        left_by.extend(left.filter_map(|entry| Some(((entry.storage, entry.value.clone()?), at))));
    }
    if left_by.is_empty() {
        return Ok(groups);
    }
    let before = |at: usize| -> BTreeSet<usize> {
        let group = groups.get(at).map(|(_, group)| group);
        let came = group.into_iter().flat_map(|group| &group.entries).filter(|entry| entry.fragment.is_some());
        let values = came.filter_map(|entry| Some((entry.storage, entry.value.clone()?)));
        values.filter_map(|value| left_by.get(&value).copied()).filter(|other| *other != at).collect()
    };
    let order = topological_order(groups.len(), before)?;
    let mut places: Vec<Option<_>> = groups.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|at| places.get_mut(at).and_then(Option::take)).collect())
}

/// A topological order of the numbers below `count`: each follows the numbers in `before`.
fn topological_order(count: usize, before: impl Fn(usize) -> BTreeSet<usize>) -> StoreResult<Vec<usize>> {
    let mut order = Vec::with_capacity(count);
    let (mut done, mut open) = (BTreeSet::new(), BTreeSet::new());
    for first in 0..count {
        let mut stack = vec![first];
        while let Some(at) = stack.last().copied() {
            if done.contains(&at) {
                stack.pop();
                continue;
            }
            open.insert(at);
            let waits_for: Vec<usize> = before(at).into_iter().filter(|other| !done.contains(other)).collect();
            if waits_for.iter().any(|other| open.contains(other)) {
                let what =
                    "an exchange of unique values between rows of one transaction, where single rows are written,";
                return Err(StoreError::Unsupported { what });
            }
            if waits_for.is_empty() {
                open.remove(&at);
                done.insert(at);
                order.push(at);
                stack.pop();
            }
            stack.extend(waits_for);
        }
    }
    Ok(order)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn order(count: usize, edges: &[(usize, usize)]) -> StoreResult<Vec<usize>> {
        topological_order(count, |at| edges.iter().filter(|edge| edge.1 == at).map(|edge| edge.0).collect())
    }

    #[test]
    fn a_row_that_leaves_a_value_comes_before_the_row_that_gets_it() {
        assert_eq!(order(3, &[]).unwrap(), [0, 1, 2]);
        assert_eq!(order(4, &[(1, 0), (2, 1), (3, 2)]).unwrap(), [3, 2, 1, 0]);
        assert_eq!(order(4, &[(3, 0), (3, 1), (1, 0)]).unwrap(), [3, 1, 0, 2]);
    }

    #[test]
    fn an_exchange_is_refused() {
        assert!(matches!(order(2, &[(1, 0), (0, 1)]), Err(StoreError::Unsupported { .. })));
        assert!(matches!(order(4, &[(1, 0), (2, 1), (0, 2)]), Err(StoreError::Unsupported { .. })));
    }
}
