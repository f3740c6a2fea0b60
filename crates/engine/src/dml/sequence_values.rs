//! Sequence values for the rows of a statement, taken before the rows are built.

use super::insert::set;
use super::target::{Row, Target};
use super::value::Value;
use crate::error::EngineResult;
use crate::session::sequences::{Taken, next_values};
use crate::{Engine, Session};
use catalog::TableOid;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use types::Datum;

/// Sequence values that are not used yet.
#[derive(Debug, Default)]
pub(crate) struct NextValues {
    /// The unused values by sequence. Locked while one value is taken.
    left: Mutex<HashMap<TableOid, VecDeque<i64>>>,
}

/// Source of sequence values for a conflict action, which runs row by row.
#[derive(Debug)]
pub(super) struct SequenceSource {
    pub(super) engine: Arc<Engine>,
    pub(super) taken: Arc<Taken>,
}

impl SequenceSource {
    /// Takes a value for each assignment that needs one.
    pub(super) async fn take_for(&self, assignments: &[(usize, Value)]) -> EngineResult<NextValues> {
        let mut left: HashMap<TableOid, VecDeque<i64>> = HashMap::new();
        for (_, value) in assignments {
            let Value::Next(sequence) = value else { continue };
            left.entry(*sequence).or_default().extend(next_values(&self.engine, &self.taken, *sequence, 1).await?);
        }
        Ok(NextValues { left: Mutex::new(left) })
    }
}

impl NextValues {
    /// Takes one value of a sequence.
    pub(super) fn take(&self, sequence: TableOid) -> Option<i64> {
        self.left.lock().get_mut(&sequence)?.pop_front()
    }
}

impl Session {
    /// Takes the requested number of values of each sequence.
    pub(super) async fn take_values(&self, counts: &HashMap<TableOid, usize>) -> EngineResult<NextValues> {
        let mut left = HashMap::with_capacity(counts.len());
        for (sequence, count) in counts {
            left.insert(*sequence, self.next_values(*sequence, *count).await?.into());
        }
        Ok(NextValues { left: Mutex::new(left) })
    }

    /// Takes the values that assignments to `rows` rows need.
    pub(super) async fn take_values_for(
        &self,
        assignments: &[(usize, Value)],
        rows: usize,
    ) -> EngineResult<NextValues> {
        let mut counts = HashMap::new();
        for (_, value) in assignments {
            if let Value::Next(sequence) = value
                && rows > 0
            {
                *counts.entry(*sequence).or_insert(0) += rows;
            }
        }
        self.take_values(&counts).await
    }

    /// Puts the next value of each sequence into its column of every row.
    pub(crate) async fn fill_sequences(
        &self,
        target: &Target,
        columns: &[(usize, TableOid)],
        rows: &mut [Row],
    ) -> EngineResult<()> {
        for (at, sequence) in columns {
            let values = self.next_values(*sequence, rows.len()).await?;
            for (row, value) in rows.iter_mut().zip(values) {
                set(row, *at, target.assign(*at, Datum::Int8(value))?);
            }
        }
        Ok(())
    }
}
