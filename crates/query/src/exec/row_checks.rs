//! Checks of rows that the store returned, on Arrow columns.
//!
//! ```text
//!   rows of a batch -> recheck of undecided rows -> the statement's filters -> dynamic filters -> decoded
//!                      filter columns only        their columns only         their columns only   output columns
//! ```
//! Each check decodes only the columns it references, and only of the remaining rows; the output columns are decoded of
//! the rows that pass all checks. A check of leading key columns alone is evaluated once per run of rows that share
//! them.

use crate::convert::RowDecoder;
use crate::error::{QueryError, QueryResult};
use crate::exec::dynamic_row_filter::DynamicRowFilter;
use crate::exec::key_runs::KeyRuns;
use arrow::array::{Array, BooleanArray, cast::AsArray};
use arrow::buffer::BooleanBuffer;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;
use store::RowBatch;

/// An expression over some columns of the table, and the decoder of those columns.
#[derive(Clone, Debug)]
pub(crate) struct RowCheck {
    pub(crate) decoder: RowDecoder,
    pub(crate) predicate: Arc<dyn PhysicalExpr>,
}

impl RowCheck {
    /// The rows that pass; `None` if all do.
    pub(crate) fn passing(&self, rows: &RowBatch) -> QueryResult<Option<BooleanBuffer>> {
        match self.decoder.key_prefix().and_then(|prefix| KeyRuns::of(rows, prefix)) {
            Some(runs) => Ok(self.each_passing(&runs.firsts)?.map(|passing| runs.spread(&passing))),
            None => self.each_passing(rows),
        }
    }

    fn each_passing(&self, rows: &RowBatch) -> QueryResult<Option<BooleanBuffer>> {
        let batch = self.decoder.decode(rows)?;
        let mask = match self.predicate.evaluate(&batch)? {
            ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))) => return Ok(None),
            value => value.into_array(batch.num_rows())?,
        };
        let mask = mask.as_boolean_opt().ok_or_else(|| QueryError::internal("a filter that is not boolean"))?;
        let passing = true_and_not_null(mask);
        Ok((passing.count_set_bits() < passing.len()).then_some(passing))
    }
}

fn true_and_not_null(mask: &BooleanArray) -> BooleanBuffer {
    match mask.nulls() {
        Some(valid) => mask.values() & valid.inner(),
        None => mask.values().clone(),
    }
}

/// All checks of one scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowChecks {
    /// The predicate of the store's filter, for rows that the store left undecided.
    pub(crate) recheck: Option<RowCheck>,
    /// Filters that cannot be evaluated on encoded bytes.
    pub(crate) filter: Option<RowCheck>,
    pub(crate) dynamic: Vec<DynamicRowFilter>,
}

impl RowChecks {
    /// Does only the store's own filter drop rows?
    pub(crate) fn are_none(&self) -> bool {
        self.filter.is_none() && self.dynamic.is_empty()
    }

    /// Does `part` hold for the decoder of any check?
    pub(crate) fn need(&self, part: impl Fn(&RowDecoder) -> bool) -> bool {
        let dynamic = self.dynamic.iter().map(|filter| &filter.check);
        self.recheck.iter().chain(&self.filter).chain(dynamic).any(|check| part(&check.decoder))
    }

    /// The rows that pass; `None` if all do.
    pub(crate) fn apply(&mut self, rows: &RowBatch) -> QueryResult<Option<RowBatch>> {
        let mut left = None;
        if rows.undecided()
            && let Some(recheck) = &self.recheck
        {
            narrow(rows, &mut left, |rows| recheck.passing(rows))?;
        }
        if let Some(filter) = &self.filter {
            narrow(rows, &mut left, |rows| filter.passing(rows))?;
        }
        for filter in &mut self.dynamic {
            narrow(rows, &mut left, |rows| Ok(filter.passing(rows)))?;
        }
        Ok(left)
    }
}

/// Applies one more check to the rows that are `left`; `None` stands for all of `rows`.
fn narrow(
    rows: &RowBatch,
    left: &mut Option<RowBatch>,
    check: impl FnOnce(&RowBatch) -> QueryResult<Option<BooleanBuffer>>,
) -> QueryResult<()> {
    let rows = left.as_ref().unwrap_or(rows);
    if let Some(passing) = check(rows)? {
        *left = Some(rows.select(passing.set_indices()));
    }
    Ok(())
}
