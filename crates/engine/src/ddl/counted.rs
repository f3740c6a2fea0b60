//! Sequence values for existing rows in columns that ALTER TABLE adds; assigned by the table rewrite.
//!
//! The sequence of a new serial or identity column is not published yet, so its values are counted here, and the
//! sequence is created with the next value. Values of an existing sequence are taken as by nextval(), and are not
//! returned if the rewrite fails.

use crate::Session;
use crate::error::EngineResult;
use catalog::{CatalogError, Column, Sequence, TableOid};
use std::sync::Arc;
use types::Datum;

/// A column that the rewrite fills with sequence values.
#[derive(Debug)]
pub(crate) struct Counted {
    /// The column's position among the visible columns.
    at: usize,
    column: String,
    by: By,
}

#[derive(Debug)]
enum By {
    /// A sequence that is not published yet, and its last assigned value.
    Own(Arc<Sequence>, Option<i64>),
    /// An existing sequence.
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

    /// The first unassigned value of an unpublished sequence. It may lie beyond the sequence's bounds.
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
    /// Assigns sequence values to rows, in the order of the rows.
    ///
    /// # Errors
    /// 2200H if a sequence is exhausted.
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
