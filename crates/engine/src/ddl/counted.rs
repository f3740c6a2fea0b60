//! Values of sequences for rows that are there, in columns that ALTER TABLE adds: given while the rows are written anew.
//!
//! A sequence that comes with its column is seen by nobody before it is published, so its values are counted here; it then goes
//! on behind them. Values of any other sequence are taken for good, as nextval() takes them.

use crate::Session;
use crate::error::EngineResult;
use catalog::{CatalogError, Column, Sequence, TableOid};
use std::sync::Arc;
use types::Datum;

/// A column whose values are counted.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Its place among the visible columns.
    at: usize,
    column: String,
    by: By,
}

#[derive(Debug)]
enum By {
    /// A sequence that is still to come, and the last value that a row took.
    Own(Arc<Sequence>, Option<i64>),
    /// One that is there.
    Shared(TableOid),
}

impl Counted {
    pub(super) fn own(at: usize, column: &Column, sequence: Arc<Sequence>) -> Self {
        Self { at, column: column.name.clone(), by: By::Own(sequence, None) }
    }

    pub(super) fn shared(at: usize, column: &Column, sequence: TableOid) -> Self {
        Self { at, column: column.name.clone(), by: By::Shared(sequence) }
    }

    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// The value behind those that rows took, of a sequence that is still to come. It may lie beyond the last one that there is.
    pub(super) fn next(&self) -> Option<i64> {
        match &self.by {
            By::Own(sequence, Some(last)) => {
                Some(sequence.after(*last).unwrap_or_else(|| last.saturating_add(sequence.increment)))
            }
            _ => None,
        }
    }
}

impl Session {
    /// Gives rows their values, in their order.
    ///
    /// # Errors
    /// 2200H when there are no more values.
    pub(crate) async fn count_rows(&self, counted: &mut [Counted], rows: &mut [Vec<Datum>]) -> EngineResult<()> {
        for Counted { at, by, .. } in counted {
            let values = match by {
                By::Own(sequence, last) => next_of(sequence, last, rows.len())?,
                By::Shared(sequence) => self.next_values(*sequence, rows.len()).await?,
            };
            for (row, value) in rows.iter_mut().zip(values) {
                if let Some(place) = row.get_mut(*at) {
                    *place = Datum::Int8(value);
                }
            }
        }
        Ok(())
    }
}

fn next_of(sequence: &Sequence, last: &mut Option<i64>, count: usize) -> EngineResult<Vec<i64>> {
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let next = last.map_or(Some(sequence.first), |last| sequence.after(last));
        let value = next.ok_or_else(|| CatalogError::exhausted(sequence))?;
        *last = Some(value);
        values.push(value);
    }
    Ok(values)
}
