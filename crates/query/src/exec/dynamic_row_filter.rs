//! What operators find out while a statement runs drops rows of a scan before these are decoded.

use crate::error::QueryResult;
use crate::exec::dynamic_filter;
use crate::exec::row_checks::RowCheck;
use crate::exec::scan::RegionScanExec;
use arrow::buffer::BooleanBuffer;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;
use store::RowBatch;

/// Drops rows that the operators above will not want, by what they found out while the statement runs.
///
/// A hash join says which keys its build side has. It checks the rows again, so leaving some in is no mistake, and
/// costs less than asking where most rows pass.
#[derive(Clone, Debug)]
pub(crate) struct DynamicRowFilter {
    pub(super) check: RowCheck,
    /// Batches that go through as they are before the next is looked at.
    rest: u32,
}

/// Batches between two looks when too few rows were dropped.
const REST: u32 = 16;

impl DynamicRowFilter {
    pub(crate) fn new(check: RowCheck) -> Self {
        Self { check, rest: 0 }
    }

    /// Does it look at leading columns of the key alone?
    pub(crate) fn is_on_key_prefix(&self) -> bool {
        self.check.decoder.key_prefix().is_some()
    }

    pub(super) fn passing(&mut self, rows: &RowBatch) -> Option<BooleanBuffer> {
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        // An expression may fail on a row that a filter above the scan takes out: if it is wanted, it fails there.
        let passing = self.check.passing(rows).unwrap_or(None);
        // A quarter must go, or looking costs more than it saves.
        if passing.as_ref().is_none_or(|passing| passing.count_set_bits() > rows.len() / 4 * 3) {
            self.rest = REST;
        }
        passing
    }
}

impl RegionScanExec {
    /// The dynamic filters as checks of rows. A scan that hands out its first rows only is not for them: which ones these are
    /// must not depend on what is above. Those of leading key columns alone come first: they cost the least.
    pub(super) fn dynamic_row_filters(&self) -> QueryResult<Vec<DynamicRowFilter>> {
        if self.fetch.is_some() {
            return Ok(Vec::new());
        }
        let (mut on_prefix, mut others) = (Vec::new(), Vec::new());
        for filter in &self.dynamic {
            let found = self.dynamic_row_filter(std::slice::from_ref(filter))?;
            match found.is_some_and(|found| found.is_on_key_prefix()) {
                true => on_prefix.push(Arc::clone(filter)),
                false => others.push(Arc::clone(filter)),
            }
        }
        Ok([self.dynamic_row_filter(&on_prefix)?, self.dynamic_row_filter(&others)?].into_iter().flatten().collect())
    }

    fn dynamic_row_filter(&self, filters: &[Arc<dyn PhysicalExpr>]) -> QueryResult<Option<DynamicRowFilter>> {
        let Some(predicate) = dynamic_filter::predicate(filters)? else { return Ok(None) };
        let columns: Vec<usize> =
            predicate.columns.iter().filter_map(|output| self.projection.get(*output).copied()).collect();
        let decoder = self.source.decoder(&columns)?;
        Ok(Some(DynamicRowFilter::new(RowCheck { decoder, predicate: predicate.expr })))
    }
}
