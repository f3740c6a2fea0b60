//! Conditions of a large commit: judged before the commit lock is taken, and under it only once more where a table was
//! written to since.

use crate::commit::building::check_condition;
use crate::commit::publish::State;
use crate::limits::check_key;
use std::collections::BTreeMap;
use store::{CommitNo, Condition, StoreResult, TableId};

/// The conditions by table.
pub(super) struct Conditions<'a> {
    tables: BTreeMap<TableId, Vec<&'a Condition>>,
    /// All held in the state of this commit.
    held: Option<CommitNo>,
}

impl<'a> Conditions<'a> {
    pub(super) fn new(all: &'a [Condition]) -> Self {
        let mut tables: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for condition in all {
            tables.entry(condition.table).or_default().push(condition);
        }
        Self { tables, held: None }
    }

    /// Judges those on tables that were written to since the last time.
    ///
    /// # Errors
    /// [`store::StoreError::ConditionFailed`] and those of reading.
    pub(super) fn check(&mut self, state: &State) -> StoreResult<()> {
        self.check_now(state)?;
        self.held = Some(state.commit);
        Ok(())
    }

    /// As [`Self::check`]; final when the caller holds the commit lock and `state` is the newest.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(super) fn check_now(&self, state: &State) -> StoreResult<()> {
        for (table, conditions) in &self.tables {
            let changed = &state.tables.table(*table)?.changed;
            if self.held.is_some_and(|held| !changed.since(held)) {
                continue;
            }
            for condition in conditions {
                check_key(&condition.key)?;
                check_condition(state, &state.tables, condition)?;
            }
        }
        Ok(())
    }
}
