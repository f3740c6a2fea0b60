//! ORDER BY. Sorts only as many rows as are requested.

use super::{BATCH_ROWS, Operator, Run};
use crate::RowsResult;
use crate::expr::Row;
use crate::plan::{Node, SortKey};
use async_trait::async_trait;
use std::cmp::Ordering;
use types::{Datum, compare};

pub(super) struct Sort<'p> {
    input: &'p Node,
    keys: &'p [SortKey],
    /// The rows not yet returned, unordered.
    rest: Option<Vec<Row>>,
}

impl<'p> Sort<'p> {
    pub(super) fn new(input: &'p Node, keys: &'p [SortKey]) -> Self {
        Self { input, keys, rest: None }
    }
}

#[async_trait]
impl Operator for Sort<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let rest = match &mut self.rest {
            Some(rest) => rest,
            none => none.insert(run.collect(self.input, usize::MAX).await?),
        };
        if rest.is_empty() {
            return Ok(None);
        }
        let wanted = wanted.max(1);
        let by_keys = |a: &Row, b: &Row| compare_rows(a, b, self.keys);
        if wanted.max(BATCH_ROWS) >= rest.len() && wanted.saturating_mul(4) >= rest.len() {
            let mut batch = std::mem::take(rest);
            batch.sort_by(by_keys);
            return Ok(Some(batch));
        }
        let wanted = wanted.min(rest.len() - 1);
        rest.select_nth_unstable_by(wanted, by_keys);
        let later = rest.split_off(wanted);
        let mut batch = std::mem::replace(rest, later);
        batch.sort_by(by_keys);
        Ok(Some(batch))
    }
}

/// Compares two rows by the sort keys.
pub(super) fn compare_rows(a: &[Datum], b: &[Datum], keys: &[SortKey]) -> Ordering {
    let orders = keys.iter().map(|key| match (a.get(key.at), b.get(key.at)) {
        (Some(a), Some(b)) => compare_values(a, b, *key),
        _ => Ordering::Equal,
    });
    orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn compare_values(a: &Datum, b: &Datum, key: SortKey) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) if key.nulls_first => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) if key.nulls_first => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) if key.desc => compare::compare(b, a),
        (false, false) => compare::compare(a, b),
    }
}
