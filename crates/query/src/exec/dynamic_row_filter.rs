//! Dynamic filters of joins and TopK drop rows of a scan before these are decoded.

use crate::error::QueryResult;
use crate::exec::dynamic_filter;
use crate::exec::row_checks::RowCheck;
use crate::exec::scan::RegionScanExec;
use arrow::buffer::BooleanBuffer;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;
use store::RowBatch;

/// Drops rows that the operators above will discard, by DataFusion's dynamic filters.
///
/// A hash join passes down the keys of its build side and checks the rows again, so keeping some of them is correct,
/// and costs less than checking where most rows pass.
#[derive(Clone, Debug)]
pub(crate) struct DynamicRowFilter {
    pub(super) check: RowCheck,
    /// Batches still to pass unchecked.
    rest: u32,
}

/// Batches that pass unchecked after a check that dropped too few rows.
const REST: u32 = 16;

impl DynamicRowFilter {
    pub(crate) fn new(check: RowCheck) -> Self {
        Self { check, rest: 0 }
    }

    /// Does it reference only leading columns of the key?
    pub(crate) fn is_on_key_prefix(&self) -> bool {
        self.check.decoder.key_prefix().is_some()
    }

    pub(super) fn passing(&mut self, rows: &RowBatch) -> Option<BooleanBuffer> {
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        // An expression may fail on a row that a filter above the scan drops; if that row is needed, the expression
        // fails there.
        let passing = self.check.passing(rows).unwrap_or(None);
        // Unless a quarter of the rows is dropped, checking costs more than it saves.
        if passing.as_ref().is_none_or(|passing| passing.count_set_bits() > rows.len() / 4 * 3) {
            self.rest = REST;
        }
        passing
    }
}

impl RegionScanExec {
    /// The dynamic filters as row checks. A scan with a limit gets none: which rows are its first ones must not depend
    /// on the operators above. Checks of leading key columns alone come first, because they cost the least.
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
