//! Conditions of a batch. Many conditions are checked before the commit lock is taken; under the lock only those on
//! tables that changed since are checked again.

use crate::commit::publish::State;
use crate::error::engine;
use crate::limits::check_key;
use crate::placement::TableMap;
use crate::stamp;
use fjall::Readable;
use std::borrow::Cow;
use store::{CommitNo, Condition, StoreError, StoreResult, TableId};

/// The conditions of a batch.
pub(crate) struct Conditions<'a> {
    all: Cow<'a, [Condition]>,
    /// The commit whose state the conditions were checked against, if they were.
    held: Option<CommitNo>,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(all: impl Into<Cow<'a, [Condition]>>) -> Self {
        Self { all: all.into(), held: None }
    }

    /// The number of conditions.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Checks the conditions on tables that changed since the last check.
    ///
    /// # Errors
    /// [`StoreError::ConditionFailed`] and read errors.
    pub(crate) fn check(&mut self, state: &State) -> StoreResult<()> {
        self.check_now(state, &state.tables)?;
        self.held = Some(state.commit);
        Ok(())
    }

    /// As [`Self::check`], without recording the check. Final if the caller holds the commit lock and `state` is the
    /// newest. `tables` locates the rows.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn check_now(&self, state: &State, tables: &TableMap) -> StoreResult<()> {
        let mut unchanged: Option<TableId> = None;
        for condition in self.all.iter() {
            if unchanged == Some(condition.table) {
                continue;
            }
            let changed = &tables.table(condition.table)?.changed;
            if self.held.is_some_and(|held| !changed.since(held)) {
                unchanged = Some(condition.table);
                continue;
            }
            check_key(&condition.key)?;
            check_condition(state, tables, condition)?;
        }
        Ok(())
    }
}

/// Checks one condition on the rows of `state`, which `tables` locates.
fn check_condition(state: &State, tables: &TableMap, condition: &Condition) -> StoreResult<()> {
    let Condition { table, family, key, expect } = condition;
    let (_, place) = tables.place(*table, *family)?;
    let newest = place.with_key(key, |key| state.snapshot.get(&place.keyspace, key));
    let newest = newest.map_err(engine(format_args!("reading a row of {table}")))?;
    let found = newest.map(|fragment| stamp::commit_of(&fragment)).transpose()?;
    if found != *expect {
        return Err(StoreError::ConditionFailed { table: *table, key: key.clone() });
    }
    Ok(())
}
