//! A batch being checked: every change is checked against the state and the changes before it; nothing is written until
//! all are valid.

use super::state::{Changes, State};
use super::table::ModelTable;
use store::{
    Bytes, Capabilities, CommitNo, Condition, FamilyId, Mutation, StoreError, StoreResult, TableChange, TableId,
    Timestamp, WriteBatch,
};

pub(super) struct Staged<'a> {
    state: &'a State,
    limits: &'a Capabilities,
    commit: CommitNo,
    stamp: Timestamp,
    changes: Changes,
}

impl<'a> Staged<'a> {
    pub(super) fn new(state: &'a State, now: Timestamp, limits: &'a Capabilities) -> Self {
        let (commit, stamp) = state.next(now);
        Self { state, limits, commit, stamp, changes: Changes::default() }
    }

    /// Checks tables, then conditions, then mutations in order.
    pub(super) fn batch(mut self, batch: &WriteBatch) -> StoreResult<Changes> {
        for change in &batch.tables {
            self.table_change(change)?;
        }
        for condition in &batch.conditions {
            self.condition(condition)?;
        }
        for mutation in &batch.mutations {
            self.mutation(mutation)?;
        }
        Ok(self.changes)
    }

    /// Checks the rows of a bulk load, which have distinct keys.
    pub(super) fn load(
        mut self,
        rows: impl Iterator<Item = (TableId, FamilyId, Bytes, Vec<u8>)>,
    ) -> StoreResult<Changes> {
        for (table, family, key, fragment) in rows {
            self.put(table, family, &key, fragment)?;
        }
        Ok(self.changes)
    }

    fn table_change(&mut self, change: &TableChange) -> StoreResult<()> {
        match change {
            TableChange::Create(spec) if self.state.is_used(spec.id) || self.changes.created.contains_key(&spec.id) => {
                return Err(StoreError::TableExists { table: spec.id });
            }
            TableChange::Create(spec) => {
                spec.families.iter().try_for_each(store::FamilySpec::check_default_options)?;
                self.changes.created.insert(spec.id, ModelTable::new(spec, self.commit));
            }
            TableChange::Drop(table) => {
                self.must_have_table(*table)?;
                self.changes.dropped.insert(*table);
            }
        }
        Ok(())
    }

    fn condition(&self, condition: &Condition) -> StoreResult<()> {
        let Condition { table, family, key, expect } = condition;
        let newest = self.newest(*table, *family, key)?;
        let found = newest.map(|fragment| fragment::header::commit_of(&fragment).unwrap_or_default());
        if found == *expect { Ok(()) } else { Err(StoreError::ConditionFailed { table: *table, key: key.clone() }) }
    }

    fn mutation(&mut self, mutation: &Mutation) -> StoreResult<()> {
        let (table, family, key) = mutation.target();
        // The value is irrelevant; this checks that the table and the family exist.
        self.newest(table, family, key)?;
        match mutation {
            Mutation::Replace { fragment, .. } => self.put(table, family, key, fragment.clone()),
            Mutation::Delete { .. } => self.delete(table, family, key),
        }
    }

    fn put(&mut self, table: TableId, family: FamilyId, key: &Bytes, mut fragment: Vec<u8>) -> StoreResult<()> {
        check_size("rowkey", key.len(), self.limits.max_key_bytes)?;
        check_size("row", fragment.len(), self.limits.max_fragment_bytes)?;
        fragment::stamp(&mut fragment, self.stamp, self.commit)?;
        self.changes.rows.insert((table, family, key.clone()), Some(fragment.into()));
        Ok(())
    }

    fn delete(&mut self, table: TableId, family: FamilyId, key: &Bytes) -> StoreResult<()> {
        self.changes.rows.insert((table, family, key.clone()), None);
        Ok(())
    }

    /// The newest fragment, including the changes so far.
    fn newest(&self, table: TableId, family: FamilyId, key: &Bytes) -> StoreResult<Option<Bytes>> {
        let found = self.must_have_table(table)?;
        let rows = found.families.get(&family).ok_or(StoreError::NoSuchFamily { table, family })?;
        let staged = self.changes.rows.get(&(table, family, key.clone()));
        Ok(staged.cloned().unwrap_or_else(|| rows.get(key, self.state.last())))
    }

    /// The table, including the changes so far.
    fn must_have_table(&self, table: TableId) -> StoreResult<&ModelTable> {
        if self.changes.dropped.contains(&table) {
            return Err(StoreError::NoSuchTable { table });
        }
        match self.changes.created.get(&table) {
            Some(created) => Ok(created),
            None => self.state.table(table, self.state.last()),
        }
    }
}

/// Checks that `bytes` is within the limit.
pub(super) fn check_size(what: &'static str, bytes: usize, limit: usize) -> StoreResult<()> {
    if bytes > limit { Err(StoreError::TooLarge { what, bytes, limit }) } else { Ok(()) }
}
