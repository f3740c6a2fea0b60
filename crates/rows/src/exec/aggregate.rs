//! GROUP BY by hashing; groups are returned in the order of their first rows.

use super::simple::picked;
use super::sort::compare_rows;
use super::{BATCH_ROWS, Operator, Run, open};
use crate::expr::Row;
use crate::plan::{Aggregate, Call};
use crate::{RowsError, RowsResult};
use async_trait::async_trait;
use builtins::Accumulator;
use std::collections::{HashMap, HashSet};
use types::Datum;

pub(super) struct HashAggregate<'p> {
    node: &'p Aggregate,
    groups: Option<std::vec::IntoIter<Row>>,
}

/// The state of one call in one group.
struct State<'p> {
    call: &'p Call,
    accumulator: Box<dyn Accumulator>,
    /// The distinct arguments so far, for DISTINCT.
    seen: HashSet<Row>,
    /// The rows to be sorted before they are aggregated, for ORDER BY.
    waiting: Vec<Row>,
}

impl<'p> HashAggregate<'p> {
    pub(super) fn new(node: &'p Aggregate) -> Self {
        Self { node, groups: None }
    }

    fn states(&self, run: &Run<'_>) -> RowsResult<Vec<State<'p>>> {
        let state = |call: &'p Call| {
            let accumulator = run.functions.accumulator(call.func);
            let accumulator = accumulator.ok_or_else(|| RowsError::internal("an aggregate without an accumulator"))?;
            Ok(State { call, accumulator, seen: HashSet::new(), waiting: Vec::new() })
        };
        self.node.calls.iter().map(state).collect()
    }

    async fn groups(&self, run: &mut Run<'_>) -> RowsResult<Vec<Row>> {
        let mut numbers: HashMap<Row, usize> = HashMap::new();
        let mut groups: Vec<(Row, Vec<State<'p>>)> = Vec::new();
        if self.node.keys.is_empty() {
            // Without GROUP BY there is one group, also for empty input.
            numbers.insert(Row::new(), 0);
            groups.push((Row::new(), self.states(run)?));
        }
        let mut input = open(&self.node.input);
        while let Some(batch) = input.next(run, BATCH_ROWS).await? {
            for row in batch {
                let key = picked(&row, &self.node.keys);
                let number = match numbers.get(&key) {
                    Some(number) => *number,
                    None => {
                        run.budget.hold_bytes(key.iter().map(Datum::memory_size).sum::<usize>() * 2)?;
                        numbers.insert(key.clone(), groups.len());
                        groups.push((key, self.states(run)?));
                        groups.len() - 1
                    }
                };
                for state in groups.get_mut(number).into_iter().flat_map(|(_, states)| states) {
                    state.take(&row, run)?;
                }
            }
        }
        let finish = |(key, states): (Row, Vec<State<'p>>)| {
            let mut row = key;
            for mut state in states {
                row.push(state.finish()?);
            }
            Ok(row)
        };
        groups.into_iter().map(finish).collect()
    }
}

impl State<'_> {
    fn take(&mut self, row: &Row, run: &mut Run<'_>) -> RowsResult<()> {
        let is_true = |at: usize| matches!(row.get(at), Some(Datum::Bool(true)));
        if !self.call.filter.is_none_or(is_true) {
            return Ok(());
        }
        let args = picked(row, &self.call.args);
        if self.call.distinct {
            let bytes = args.iter().map(Datum::memory_size).sum();
            if !self.seen.insert(args.clone()) {
                return Ok(());
            }
            run.budget.hold_bytes(bytes)?;
        }
        if !self.call.order.is_empty() {
            run.budget.hold(std::slice::from_ref(row))?;
            self.waiting.push(row.clone());
            return Ok(());
        }
        let before = self.accumulator.held_bytes();
        self.accumulator.add(&args)?;
        run.budget.hold_bytes(self.accumulator.held_bytes().saturating_sub(before))
    }

    fn finish(&mut self) -> RowsResult<Datum> {
        self.waiting.sort_by(|a, b| compare_rows(a, b, &self.call.order));
        for row in self.waiting.drain(..) {
            self.accumulator.add(&picked(&row, &self.call.args))?;
        }
        let value = self.accumulator.finish()?;
        Ok(match self.call.form {
            Some(form) => form.fit(value)?,
            None => value,
        })
    }
}

#[async_trait]
impl Operator for HashAggregate<'_> {
    async fn next(&mut self, run: &mut Run<'_>, wanted: usize) -> RowsResult<Option<Vec<Row>>> {
        if self.groups.is_none() {
            self.groups = Some(self.groups(run).await?.into_iter());
        }
        let batch: Vec<Row> = self.groups.iter_mut().flatten().take(wanted.clamp(1, BATCH_ROWS)).collect();
        Ok((!batch.is_empty()).then_some(batch))
    }
}
