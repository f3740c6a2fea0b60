//! Checks of rows that the store handed out, on Arrow columns.
//!
//! ```text
//!   rows of a batch -> what the store did not judge -> the statement's filters -> what joins found out -> decoded
//!                      columns of that filter only     their columns only         their columns only      the output's
//! ```
//! Each check decodes the columns that it looks at, and only of rows that are left; the output's columns are
//! decoded of those that pass all. A check of leading columns of the key alone is made once for rows that share them.

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

/// An expression over some columns of the table, and how to decode those.
#[derive(Clone, Debug)]
pub(crate) struct RowCheck {
    pub(crate) decoder: RowDecoder,
    pub(crate) predicate: Arc<dyn PhysicalExpr>,
}

impl RowCheck {
    /// Which rows pass; `None` when all do.
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
    /// What the store's filter means, for rows that it did not judge.
    pub(crate) recheck: Option<RowCheck>,
    /// Filters that cannot be told from bytes.
    pub(crate) filter: Option<RowCheck>,
    pub(crate) dynamic: Vec<DynamicRowFilter>,
}

impl RowChecks {
    /// Does nothing but the store's own filter decide about a row?
    pub(crate) fn are_none(&self) -> bool {
        self.filter.is_none() && self.dynamic.is_empty()
    }

    /// Does one of them need what `part` asks for?
    pub(crate) fn need(&self, part: impl Fn(&RowDecoder) -> bool) -> bool {
        let dynamic = self.dynamic.iter().map(|filter| &filter.check);
        self.recheck.iter().chain(&self.filter).chain(dynamic).any(|check| part(&check.decoder))
    }

    /// The rows that pass; `None` when all do.
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

/// Keeps those of the rows that are `left`, at first all of `rows`, that pass one more check.
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
