//! Nested loop joins: LATERAL, and joins without a key on the inner side.

use super::memo::Memo;
use super::{BATCH_ROWS, Operator, Run, Source, open};
use crate::RowsResult;
use crate::expr::Row;
use crate::plan::{Loop, Matching, nulls};
use async_trait::async_trait;
use std::sync::Arc;
use types::Datum;

pub(super) struct NestedLoop<'p> {
    node: &'p Loop,
    outer: Source<'p>,
    /// The inner rows.
    memo: Memo,
}

impl<'p> NestedLoop<'p> {
    pub(super) fn new(node: &'p Loop) -> Self {
        Self { node, outer: open(&node.outer), memo: Memo::default() }
    }

    async fn inner_rows(&mut self, run: &mut Run<'_>, row: &[Datum]) -> RowsResult<Arc<Vec<Row>>> {
        let outer = run.set_outer(&self.node.free, row)?;
        let missing = match self.memo.get(outer) {
            Ok(rows) => return Ok(rows),
            Err(missing) => missing,
        };
        let rows = Arc::new(run.collect(&self.node.inner, usize::MAX).await?);
        if self.node.memo {
            self.memo.insert(missing, &rows);
        }
        Ok(rows)
    }

    /// Joins one outer row.
    async fn join(&mut self, run: &mut Run<'_>, row: Row, into: &mut Vec<Row>) -> RowsResult<()> {
        let inner = self.inner_rows(run, &row).await?;
        run.budget.work(inner.len())?;
        let mut found = Found::default();
        for other in inner.iter() {
            let both: Row = row.iter().chain(other).cloned().collect();
            run.budget.make(Datum::row_memory_size(&both))?;
            let truth = run.conjunction(&self.node.on, &both).await?;
            found.add(truth);
            if truth == Some(true) && self.node.matching.has_inner() {
                into.push(both);
            } else if found.any && !self.node.matching.has_inner() {
                break;
            }
        }
        let width = self.node.inner.cols.len();
        found.finish(self.node.matching, row, width, into);
        Ok(())
    }
}

/// Was there a match, or an unknown comparison?
#[derive(Default)]
pub(super) struct Found {
    pub(super) any: bool,
    unknown: bool,
}

impl Found {
    pub(super) fn add(&mut self, truth: Option<bool>) {
        self.any |= truth == Some(true);
        self.unknown |= truth.is_none();
    }

    /// Adds the outer row's own output, apart from its pairs.
    pub(super) fn finish(&self, matching: Matching, mut row: Row, inner_width: usize, into: &mut Vec<Row>) {
        match matching {
            Matching::Left if !self.any => {
                row.extend(nulls(inner_width));
                into.push(row);
            }
            Matching::Semi if self.any => into.push(row),
            Matching::Anti if !self.any => into.push(row),
            Matching::Mark => {
                row.push(match (self.any, self.unknown) {
                    (false, true) => Datum::Null,
                    (any, _) => Datum::Bool(any),
                });
                into.push(row);
            }
            _ => {}
        }
    }
}

#[async_trait]
impl Operator for NestedLoop<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let Some(batch) = self.outer.next(run, wanted.min(BATCH_ROWS)).await? else { return Ok(None) };
        let mut joined = Vec::with_capacity(batch.len());
        for row in batch {
            self.join(run, row, &mut joined).await?;
            run.budget.give_way().await?;
        }
        Ok(Some(joined))
    }
}
