//! UNION, INTERSECT, EXCEPT and DISTINCT.

use super::simple::picked;
use super::{Operator, Run, Source, open};
use crate::RowsResult;
use crate::expr::Row;
use crate::plan::Node;
use async_trait::async_trait;
use bind::tree::SetOpKind;
use std::collections::{HashMap, HashSet};

/// The first row of each group of equal values.
pub(super) struct Distinct<'p> {
    input: Source<'p>,
    on: &'p [usize],
    seen: HashSet<Row>,
}

impl<'p> Distinct<'p> {
    pub(super) fn new(input: &'p Node, on: &'p [usize]) -> Self {
        Self { input: open(input), on, seen: HashSet::new() }
    }
}

#[async_trait]
impl Operator for Distinct<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let Some(batch) = self.input.next(run, wanted).await? else { return Ok(None) };
        let mut kept = Vec::with_capacity(batch.len());
        for row in batch {
            if add(&mut self.seen, picked(&row, self.on), run)? {
                kept.push(row);
            }
        }
        Ok(Some(kept))
    }
}

/// Adds the row; is it new?
fn add(seen: &mut HashSet<Row>, row: Row, run: &mut Run<'_>) -> RowsResult<bool> {
    let bytes: usize = row.iter().map(types::Datum::memory_size).sum();
    let is_new = seen.insert(row);
    if is_new {
        run.budget.hold_bytes(bytes)?;
    }
    Ok(is_new)
}

/// A set operation. Both sides have the columns of the result, in its order.
pub(super) struct SetOp<'p> {
    op: SetOpKind,
    all: bool,
    left: Source<'p>,
    right: Source<'p>,
    left_is_done: bool,
    seen: HashSet<Row>,
    /// The unmatched number of each row of the right side.
    counts: Option<HashMap<Row, usize>>,
}

impl<'p> SetOp<'p> {
    pub(super) fn new(op: SetOpKind, all: bool, left: &'p Node, right: &'p Node) -> Self {
        Self { op, all, left: open(left), right: open(right), left_is_done: false, seen: HashSet::new(), counts: None }
    }

    async fn union(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let batch = match self.left_is_done {
            false => self.left.next(run, wanted).await?,
            true => None,
        };
        let batch = match batch {
            Some(batch) => Some(batch),
            None => {
                self.left_is_done = true;
                self.right.next(run, wanted).await?
            }
        };
        match batch {
            Some(batch) if !self.all => self.new_ones(batch, run).map(Some),
            batch => Ok(batch),
        }
    }

    fn new_ones(&mut self, batch: Vec<Row>, run: &mut Run<'_>) -> RowsResult<Vec<Row>> {
        let mut kept = Vec::with_capacity(batch.len());
        for row in batch {
            if add(&mut self.seen, row.clone(), run)? {
                kept.push(row);
            }
        }
        Ok(kept)
    }

    async fn count_right(&mut self, run: &mut Run<'_>) -> RowsResult<HashMap<Row, usize>> {
        let mut counts = HashMap::new();
        while let Some(batch) = self.right.next(run, super::BATCH_ROWS).await? {
            run.budget.hold(&batch)?;
            for row in batch {
                *counts.entry(row).or_insert(0) += 1;
            }
        }
        Ok(counts)
    }

    /// INTERSECT or EXCEPT: the rows of the left side that the right side has, or does not have.
    async fn compared(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let mut counts = match self.counts.take() {
            Some(counts) => counts,
            None => self.count_right(run).await?,
        };
        let Some(batch) = self.left.next(run, wanted).await? else { return Ok(None) };
        let intersect = self.op == SetOpKind::Intersect;
        let mut kept = Vec::with_capacity(batch.len());
        for row in batch {
            let met = match counts.get_mut(&row) {
                Some(count) if self.all => std::mem::replace(count, count.saturating_sub(1)) > 0,
                found => found.is_some(),
            };
            if met == intersect {
                kept.push(row);
            }
        }
        self.counts = Some(counts);
        if self.all { Ok(Some(kept)) } else { self.new_ones(kept, run).map(Some) }
    }
}

#[async_trait]
impl Operator for SetOp<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        match self.op {
            SetOpKind::Union => self.union(run, wanted).await,
            SetOpKind::Intersect | SetOpKind::Except => self.compared(run, wanted).await,
        }
    }
}
