//! Execution of programs: pull-based operators, a batch of rows at a time.
//!
//! ```text
//!   Node ──open──> Operator ──next(run, wanted)──> up to BATCH_ROWS rows, … , none
//!                               │
//!                               └── Run: read view, parameters, outer columns, budget
//! ```
//! Only the store makes a program wait. The inner rows of a loop are computed completely for one outer row, so outer
//! columns have one value at a time.

mod aggregate;
mod budget;
mod intersection;
mod lookup;
mod looped;
mod memo;
mod merge;
mod reading;
mod scan;
mod set_op;
mod simple;
mod sort;
mod subquery;

pub(crate) use budget::Budget;
pub(crate) use memo::Memo;
pub(crate) use reading::{Choice, described};

use crate::expr::{Frame, Row, RowExpr, Stop, Values};
use crate::plan::{Node, NodeKind};
use crate::program::Program;
use crate::{Functions, RowsResult};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::Arc;
use txn::ReadView;
use types::Datum;

/// The largest number of rows of a batch, except for sorted output.
pub(crate) const BATCH_ROWS: usize = 256;

/// A pull-based operator.
#[async_trait]
pub(crate) trait Operator: Send {
    /// The next rows, `wanted` of them or more if they are cheap; `None` at the end. A batch may be empty.
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>>;
}

/// The state of one execution of a program.
pub(crate) struct Run<'p> {
    pub(crate) program: &'p Program,
    pub(crate) functions: &'p (dyn Functions + Sync),
    pub(crate) view: &'p ReadView,
    pub(crate) values: Values<'p>,
    pub(crate) budget: Budget,
    /// The number of rows that each node returned, by its address; only for EXPLAIN ANALYZE.
    pub(crate) made: Option<HashMap<usize, u64>>,
    /// The rows of materialized CTEs, by number.
    pub(crate) once: Vec<Option<Arc<Vec<Row>>>>,
    /// The rows of each subquery, by its outer values.
    pub(crate) memo: Vec<Memo>,
}

impl Run<'_> {
    /// Evaluates an expression for a row, running the subqueries that it needs.
    pub(crate) async fn value(&mut self, expr: &RowExpr, row: &[Datum]) -> RowsResult<Datum> {
        self.clear_subquery_results();
        loop {
            let stop = match expr.eval(&Frame { row, values: &self.values }) {
                Ok(value) => return Ok(value.into_owned()),
                Err(stop) => stop,
            };
            self.go_on_after(stop, row).await?;
        }
    }

    /// Are all conditions true for a row?
    pub(crate) async fn holds(&mut self, conditions: &[RowExpr], row: &[Datum]) -> RowsResult<bool> {
        self.clear_subquery_results();
        let mut at = 0;
        while let Some(condition) = conditions.get(at) {
            match condition.truth(&Frame { row, values: &self.values }) {
                Ok(Some(true)) => at += 1,
                Ok(_) => return Ok(false),
                Err(stop) => self.go_on_after(stop, row).await?,
            }
        }
        Ok(true)
    }

    /// The conjunction of the conditions for a row: `None` is NULL.
    pub(crate) async fn conjunction(&mut self, conditions: &[RowExpr], row: &[Datum]) -> RowsResult<Option<bool>> {
        self.clear_subquery_results();
        let (mut at, mut known) = (0, Some(true));
        while let Some(condition) = conditions.get(at) {
            match condition.truth(&Frame { row, values: &self.values }) {
                Ok(Some(false)) => return Ok(Some(false)),
                Ok(truth) => {
                    known = known.and(truth);
                    at += 1;
                }
                Err(stop) => self.go_on_after(stop, row).await?,
            }
        }
        Ok(known)
    }

    /// Runs the subquery that evaluation stopped for.
    async fn go_on_after(&mut self, stop: Stop, row: &[Datum]) -> RowsResult<()> {
        match stop {
            Stop::Error(error) => Err(error.into()),
            Stop::Subquery(number) => self.answer(number, row).await,
        }
    }

    /// Clears the subquery results, which belong to one row.
    fn clear_subquery_results(&mut self) {
        self.values.answers.iter_mut().for_each(|answer| *answer = None);
    }

    /// All rows of a node, at most `most`.
    pub(crate) async fn collect(&mut self, node: &Node, most: usize) -> RowsResult<Vec<Row>> {
        let mut operator = open(node);
        let mut rows = Vec::new();
        while rows.len() < most {
            let Some(batch) = operator.next(self, most.saturating_sub(rows.len()).min(BATCH_ROWS)).await? else {
                break;
            };
            self.budget.hold(&batch)?;
            rows.extend(batch);
        }
        rows.truncate(most);
        Ok(rows)
    }
}

/// An operator with its node; counts the rows.
pub(crate) struct Source<'p> {
    node: &'p Node,
    operator: Box<dyn Operator + 'p>,
}

impl Source<'_> {
    /// Like [`Operator::next`].
    ///
    /// # Errors
    /// Errors of the operator; [`crate::RowsError::OverBudget`] for too many rows.
    pub(crate) async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        let batch = self.operator.next(run, wanted).await?;
        let rows = batch.as_ref().map_or(0, Vec::len);
        run.budget.work(rows)?;
        if let Some(made) = &mut run.made {
            *made.entry(address(self.node)).or_default() += rows as u64;
        }
        Ok(batch)
    }
}

/// Identifies a node within a program.
pub(crate) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

/// Opens a node.
pub(crate) fn open<'p>(node: &'p Node) -> Source<'p> {
    Source { node, operator: operator(node) }
}

fn operator<'p>(node: &'p Node) -> Box<dyn Operator + 'p> {
    match &node.kind {
        NodeKind::OneRow => Box::new(simple::Constant::of(vec![Vec::new()])),
        NodeKind::Rows(rows) => Box::new(simple::Constant::of(rows.clone())),
        NodeKind::Values(rows) => Box::new(simple::Values::new(rows)),
        NodeKind::Scan(path) => Box::new(scan::Scan::new(path)),
        NodeKind::Lookup(lookup) => Box::new(lookup::LookupJoin::new(lookup)),
        NodeKind::Loop(node) => Box::new(looped::NestedLoop::new(node)),
        NodeKind::Filter { input, conditions } => Box::new(simple::Filter::new(input, conditions)),
        NodeKind::Project { input, exprs } => Box::new(simple::Project::new(input, exprs)),
        NodeKind::Pick { input, places } => Box::new(simple::Pick::new(input, places)),
        NodeKind::Aggregate(node) => Box::new(aggregate::HashAggregate::new(node)),
        NodeKind::Distinct { input, on } => Box::new(set_op::Distinct::new(input, on)),
        NodeKind::Sort { input, keys } => Box::new(sort::Sort::new(input, keys)),
        NodeKind::Limit(node) => Box::new(simple::Limit::new(node)),
        NodeKind::SetOp { op, all, left, right } => Box::new(set_op::SetOp::new(*op, *all, left, right)),
        NodeKind::Once { number, places } => Box::new(simple::Once::new(*number, places)),
    }
}
