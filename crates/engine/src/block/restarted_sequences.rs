//! TRUNCATE … RESTART IDENTITY in a transaction block: restarts sequences for the block at once, and for other sessions
//! at commit.

use crate::Session;
use catalog::{CatalogError, CatalogResult, Sequence, SequenceValue, TableOid};
use parking_lot::Mutex;
use std::collections::HashMap;

/// The sequences that a transaction block has restarted.
#[derive(Debug, Default)]
pub(crate) struct RestartedSequences {
    /// The block's position in each sequence, one for each restart, the latest last. A short critical section, never
    /// held across an await.
    positions: Mutex<HashMap<TableOid, Vec<SequenceValue>>>,
}

/// The number of restarts of each sequence, for a savepoint.
#[derive(Clone, Debug)]
pub(crate) struct RestartsMark(HashMap<TableOid, usize>);

impl RestartedSequences {
    /// Restarts a sequence.
    pub(crate) fn add(&self, sequence: &Sequence) {
        let start = SequenceValue { last: sequence.start, ..SequenceValue::fresh(sequence) };
        self.positions.lock().entry(sequence.oid).or_default().push(start);
    }

    /// The next `count` values of a sequence; `None` if the block has not restarted it.
    pub(crate) fn next(&self, sequence: &Sequence, count: usize) -> Option<CatalogResult<Vec<i64>>> {
        let mut positions = self.positions.lock();
        let position = positions.get_mut(&sequence.oid)?.last_mut()?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let Some(next) = position.next(sequence) else { return Some(Err(CatalogError::exhausted(sequence))) };
            *position = next;
            values.push(next.last);
        }
        Some(Ok(values))
    }

    /// setval(); `None` if the block has not restarted the sequence.
    pub(crate) fn set(&self, sequence: &Sequence, value: i64, called: bool) -> Option<CatalogResult<()>> {
        let mut positions = self.positions.lock();
        let position = positions.get_mut(&sequence.oid)?.last_mut()?;
        Some(SequenceValue::at(sequence, value, called).map(|at| *position = at))
    }

    /// The state to which [`Self::go_back`] returns.
    pub(crate) fn mark(&self) -> RestartsMark {
        RestartsMark(self.positions.lock().iter().map(|(oid, positions)| (*oid, positions.len())).collect())
    }

    /// ROLLBACK TO: undoes the restarts since the savepoint. Values taken by nextval() are not returned.
    pub(crate) fn go_back(&self, mark: &RestartsMark) {
        self.positions.lock().retain(|oid, positions| {
            positions.truncate(mark.0.get(oid).copied().unwrap_or_default());
            !positions.is_empty()
        });
    }

    fn last(&self) -> Vec<(TableOid, SequenceValue)> {
        self.positions.lock().iter().filter_map(|(oid, positions)| Some((*oid, *positions.last()?))).collect()
    }
}

impl Session {
    /// Publishes the restarts of a committed block. A failure is only a warning, because the rows are committed
    /// already; the sequences then keep their old positions.
    pub(crate) async fn commit_restarts(&mut self, restarted: &RestartedSequences) {
        let positions = restarted.last();
        let change = |draft: &mut catalog::Draft| {
            for (oid, position) in &positions {
                // Another session has dropped the sequence.
                let Some(sequence) = draft.catalog().sequence_by_oid(*oid).cloned() else { continue };
                let behind_all = position.last.saturating_add(sequence.increment);
                draft.restart_sequence(*oid, position.next(&sequence).map_or(behind_all, |next| next.last))?;
            }
            Ok(())
        };
        if let Err(error) = self.change_catalog(change).await {
            self.notices.warning("01000", format!("sequences were not restarted: {}", error.message()));
        }
    }
}
