//! Operators that process one row at a time.

use super::sort::compare_rows;
use super::{BATCH_ROWS, Operator, Run, Source, open};
use crate::expr::{Row, RowExpr};
use crate::plan::{self, Node};
use crate::{RowsError, RowsResult};
use async_trait::async_trait;
use std::cmp::Ordering;
use std::sync::Arc;
use types::Datum;

/// Constant rows.
pub(super) struct Constant {
    rows: std::vec::IntoIter<Row>,
}

impl Constant {
    pub(super) fn of(rows: Vec<Row>) -> Self {
        Self { rows: rows.into_iter() }
    }
}

#[async_trait]
impl Operator for Constant {
    async fn next(&mut self, _run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let batch: Vec<Row> = self.rows.by_ref().take(wanted.clamp(1, BATCH_ROWS)).collect();
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// VALUES.
pub(super) struct Values<'p> {
    rows: std::slice::Iter<'p, Vec<RowExpr>>,
}

impl<'p> Values<'p> {
    pub(super) fn new(rows: &'p [Vec<RowExpr>]) -> Self {
        Self { rows: rows.iter() }
    }
}

#[async_trait]
impl Operator for Values<'_> {
    async fn next(&mut self, run: &mut Run<'_>, _wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let mut batch = Vec::new();
        for exprs in self.rows.by_ref().take(BATCH_ROWS) {
            let mut row = Vec::with_capacity(exprs.len());
            for expr in exprs {
                let value = run.value(expr, &[]).await?;
                run.budget.make(value.heap_size())?;
                row.push(value);
            }
            batch.push(row);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// WHERE and HAVING.
pub(super) struct Filter<'p> {
    input: Source<'p>,
    conditions: &'p [RowExpr],
}

impl<'p> Filter<'p> {
    pub(super) fn new(input: &'p Node, conditions: &'p [RowExpr]) -> Self {
        Self { input: open(input), conditions }
    }
}

#[async_trait]
impl Operator for Filter<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let Some(batch) = self.input.next(run, wanted).await? else { return Ok(None) };
        let mut kept = Vec::with_capacity(batch.len());
        for row in batch {
            if run.holds(self.conditions, &row).await? {
                kept.push(row);
            }
        }
        Ok(Some(kept))
    }
}

/// Appends computed columns to the input.
pub(super) struct Project<'p> {
    input: Source<'p>,
    exprs: &'p [RowExpr],
}

impl<'p> Project<'p> {
    pub(super) fn new(input: &'p Node, exprs: &'p [RowExpr]) -> Self {
        Self { input: open(input), exprs }
    }
}

#[async_trait]
impl Operator for Project<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let Some(mut batch) = self.input.next(run, wanted).await? else { return Ok(None) };
        for row in &mut batch {
            row.reserve_exact(self.exprs.len());
            for expr in self.exprs {
                let value = run.value(expr, row).await?;
                run.budget.make(value.heap_size())?;
                row.push(value);
            }
        }
        Ok(Some(batch))
    }
}

/// Selects columns of the input.
pub(super) struct Pick<'p> {
    input: Source<'p>,
    places: &'p [usize],
    /// Are the columns in ascending order? They are then moved within the row.
    ascend: bool,
}

impl<'p> Pick<'p> {
    pub(super) fn new(input: &'p Node, places: &'p [usize]) -> Self {
        Self { input: open(input), places, ascend: places.is_sorted_by(|a, b| a < b) }
    }

    fn pick(&self, mut row: Row) -> Row {
        // A wide row would keep its allocation.
        let in_place = self.ascend && self.places.last().is_some_and(|last| *last < row.len());
        if !in_place || self.places.len() * 2 < row.len() {
            return picked(&row, self.places);
        }
        self.places.iter().enumerate().for_each(|(to, at)| row.swap(to, *at));
        row.truncate(self.places.len());
        row
    }
}

#[async_trait]
impl Operator for Pick<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let batch = self.input.next(run, wanted).await?;
        Ok(batch.map(|batch| batch.into_iter().map(|row| self.pick(row)).collect()))
    }
}

/// The values of a row at these indexes.
pub(super) fn picked(row: &[Datum], places: &[usize]) -> Row {
    places.iter().map(|at| row.get(*at).cloned().unwrap_or(Datum::Null)).collect()
}

/// LIMIT and OFFSET.
pub(super) struct Limit<'p> {
    node: &'p plan::Limit,
    input: Source<'p>,
    /// The rows still to skip and to return, once the bounds are evaluated.
    left: Option<(u64, u64)>,
    last: Option<Row>,
}

impl<'p> Limit<'p> {
    pub(super) fn new(node: &'p plan::Limit) -> Self {
        Self { node, input: open(&node.input), left: None, last: None }
    }

    async fn bounds(node: &plan::Limit, run: &mut Run<'_>) -> RowsResult<(u64, u64)> {
        let mut read = [0, u64::MAX];
        let errors = [RowsError::NegativeOffset, RowsError::NegativeLimit];
        for ((bound, expr), error) in read.iter_mut().zip([&node.offset, &node.count]).zip(errors) {
            let Some(expr) = expr else { continue };
            match run.value(expr, &[]).await? {
                Datum::Null => {}
                value => match value.as_i64().map(u64::try_from) {
                    Some(Ok(value)) => *bound = value,
                    Some(Err(_)) => return Err(error),
                    None => return Err(RowsError::internal("a LIMIT that is no bigint")),
                },
            }
        }
        let [offset, count] = read;
        Ok((offset, count))
    }

    /// Is the row a peer of the last one that was returned?
    fn is_tie(&self, row: &[Datum]) -> bool {
        let is_equal = |last: &Row| compare_rows(last, row, &self.node.ties) == Ordering::Equal;
        !self.node.ties.is_empty() && self.last.as_ref().is_some_and(is_equal)
    }
}

#[async_trait]
impl Operator for Limit<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let (mut skip, mut take) = match self.left {
            Some(left) => left,
            None => Self::bounds(self.node, run).await?,
        };
        if take == 0 && (self.node.ties.is_empty() || self.last.is_none()) {
            return Ok(None);
        }
        let ask = skip.saturating_add(take.max(1)).min(skip.saturating_add(wanted as u64));
        let Some(batch) = self.input.next(run, usize::try_from(ask).unwrap_or(usize::MAX)).await? else {
            return Ok(None);
        };
        let mut kept = Vec::new();
        for row in batch {
            if skip > 0 {
                skip -= 1;
            } else if take > 0 {
                take -= 1;
                if take == 0 && !self.node.ties.is_empty() {
                    self.last = Some(row.clone());
                }
                kept.push(row);
            } else if self.is_tie(&row) {
                kept.push(row);
            } else {
                self.last = None;
                break;
            }
        }
        self.left = Some((skip, take));
        Ok(Some(kept))
    }
}

/// A materialized CTE: computed by its first reader.
pub(super) struct Once<'p> {
    number: usize,
    places: &'p [usize],
    next: usize,
}

impl<'p> Once<'p> {
    pub(super) fn new(number: usize, places: &'p [usize]) -> Self {
        Self { number, places, next: 0 }
    }

    async fn rows(&self, run: &mut Run<'_>) -> RowsResult<Arc<Vec<Row>>> {
        if let Some(rows) = run.once.get(self.number).and_then(Option::as_ref) {
            return Ok(Arc::clone(rows));
        }
        let program = run.program;
        let Some(plan) = program.once.get(self.number) else { return Err(RowsError::internal("no such CTE")) };
        let rows = Arc::new(run.collect(&plan.node, usize::MAX).await?);
        if let Some(place) = run.once.get_mut(self.number) {
            *place = Some(Arc::clone(&rows));
        }
        Ok(rows)
    }
}

#[async_trait]
impl Operator for Once<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let rows = self.rows(run).await?;
        let rest = rows.get(self.next..).unwrap_or_default();
        let batch: Vec<Row> =
            rest.iter().take(wanted.clamp(1, BATCH_ROWS)).map(|row| picked(row, self.places)).collect();
        self.next += batch.len();
        Ok((!batch.is_empty()).then_some(batch))
    }
}
