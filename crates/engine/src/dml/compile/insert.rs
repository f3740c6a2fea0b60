//! INSERT and UPSERT.

use super::Writing;
use super::exprs::inputs_of;
use super::value::{AssignableColumns, value_of};
use crate::Session;
use crate::dml::arbiters::Arbiters;
use crate::dml::insert::{Defaults, InsertProgram, Rows};
use crate::dml::on_conflict::{Action, OnUpdate};
use crate::dml::row_exprs::Exprs;
use crate::dml::row_source::RowSource;
use crate::dml::sequence_values::SequenceSource;
use crate::dml::target::Target;
use crate::dml::value::Value;
use crate::error::{EngineResult, Fault, fail};
use bind::tree::{Assignments, Body, Bound, Insert, InsertSource, NewValue, OnConflict, Query, Scalar};
use query::RowInput;
use sql::Conflict;
use std::sync::Arc;

/// The rows of an INSERT, and the defaults of the columns that it omits.
struct Source {
    columns: Vec<usize>,
    rows: Rows,
    defaults: Defaults,
    /// The computed expressions of VALUES.
    computed: Exprs,
}

impl Session {
    pub(super) async fn insert_program(
        &mut self,
        writing: &Writing<'_>,
        target: Target,
        insert: &Insert,
        conflict: Option<&Conflict>,
    ) -> EngineResult<InsertProgram> {
        let source = match &insert.source {
            InsertSource::Rows(rows) => self.rows_source(writing, &target, insert, rows).await?,
            InsertSource::Query(query) => self.query_source(writing, &target, insert, query).await?,
        };
        let Source { columns, rows: source, defaults, computed } = source;
        let arbiters = match conflict {
            Some(conflict) => Arbiters::find(&target, conflict)?,
            None => Arbiters::key(),
        };
        let action = self.bound_action(writing, &target, insert).await?;
        let written = &insert.target.written;
        let returning = self.bound_returning(writing, &target, &insert.returning, written, &[]).await?;
        Ok(InsertProgram { target, columns, source, defaults, computed, action, arbiters, returning })
    }

    /// Compiles VALUES; each row evaluates its own defaults.
    async fn rows_source(
        &mut self,
        writing: &Writing<'_>,
        target: &Target,
        insert: &Insert,
        rows: &[Vec<NewValue>],
    ) -> EngineResult<Source> {
        let (mut columns, mut defaults, mut computed) = (insert.columns.clone(), Defaults::default(), Vec::new());
        let left_out: Vec<&(usize, NewValue)> =
            insert.defaults.iter().filter(|(at, _)| !insert.columns.contains(at)).collect();
        let mut evaluated = Vec::new();
        for (at, new) in left_out {
            match value_of(target, *at, new, AssignableColumns::default(), &mut Vec::new())? {
                Value::Constant(value) => defaults.constants.push((*at, value)),
                _ => {
                    columns.push(*at);
                    evaluated.push((*at, new));
                }
            }
        }
        let default_of = |at: usize| insert.defaults.iter().find(|(column, _)| *column == at).map(|(_, new)| new);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        // As in PostgreSQL, one row is evaluated in the order of the table's columns, and several in the order given.
        if rows.len() == 1 {
            order.sort_by_key(|place| columns.get(*place));
        }
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let given = insert.columns.iter().zip(row).map(|(at, new)| match new {
                NewValue::Default => (*at, default_of(*at).unwrap_or(new)),
                new => (*at, new),
            });
            let all: Vec<(usize, &NewValue)> = given.chain(evaluated.iter().copied()).collect();
            let mut ordered = Vec::with_capacity(order.len());
            for (at, new) in order.iter().filter_map(|place| all.get(*place)) {
                ordered.push(value_of(target, *at, new, AssignableColumns::default(), &mut computed)?);
            }
            values.push(ordered);
        }
        let columns = order.iter().filter_map(|place| columns.get(*place).copied()).collect();
        let computed = self.bound_exprs(writing, &computed, &[]).await?;
        Ok(Source { columns, rows: Rows::Values(values), defaults, computed })
    }

    async fn query_source(
        &mut self,
        writing: &Writing<'_>,
        target: &Target,
        insert: &Insert,
        query: &Query,
    ) -> EngineResult<Source> {
        let bound = Bound { body: Body::Query(query.clone()), ..writing.bound.clone() };
        let parameters = writing.parameters.to_vec();
        let plan = self.lowered(writing.catalog, &bound, parameters).await?;
        let (mut defaults, mut evaluated) = (Defaults::default(), Vec::new());
        for (at, new) in &insert.defaults {
            match value_of(target, *at, new, AssignableColumns::default(), &mut Vec::new())? {
                Value::Constant(value) => defaults.constants.push((*at, value)),
                Value::Next(sequence) => defaults.sequences.push((*at, sequence)),
                _ => {
                    defaults.columns.push(*at);
                    evaluated.extend(expression(new));
                }
            }
        }
        defaults.exprs = self.bound_exprs(writing, &evaluated, &[]).await?;
        let source = RowSource::new(plan, self.short_program(&bound));
        let (columns, rows) = (insert.columns.clone(), Rows::Query(source));
        Ok(Source { columns, rows, defaults, computed: Exprs::default() })
    }

    async fn bound_action(&mut self, writing: &Writing<'_>, target: &Target, insert: &Insert) -> EngineResult<Action> {
        let (set, filter, once) = match &insert.action {
            OnConflict::Refuse => return Ok(Action::Refuse),
            OnConflict::Keep => return Ok(Action::Keep),
            OnConflict::Replace => return Ok(Action::Replace),
            OnConflict::Overwrite(columns) => return Ok(Action::Overwrite(columns.clone())),
            OnConflict::Update { set, filter, once } => (set, filter, *once),
        };
        if !once {
            refuse_keys(target, set)?;
        }
        let rows = AssignableColumns { own: &insert.target.old.cols, excluded: &insert.target.excluded.cols };
        let (mut assignments, mut computed) = (Vec::with_capacity(set.len()), Vec::new());
        for (at, new) in set {
            assignments.push((*at, value_of(target, *at, new, rows, &mut computed)?));
        }
        let filter = super::row_set::all_of(&filter.iter().collect::<Vec<_>>());
        let inputs: Vec<RowInput> = inputs_of(target, rows.own, 0).chain(inputs_of(target, rows.excluded, 1)).collect();
        let filter = self.bound_exprs(writing, filter.as_ref().as_slice(), &inputs).await?;
        let computed = self.bound_exprs(writing, &computed, &inputs).await?;
        let asks = assignments.iter().any(|(_, value)| matches!(value, Value::Next(_)));
        let taker = asks.then(|| SequenceSource { engine: Arc::clone(&self.engine), taken: Arc::clone(&self.taken) });
        Ok(Action::Update(Box::new(OnUpdate::new(assignments, computed, filter, once, taker))))
    }
}

/// Rejects assignments to key columns: ON DUPLICATE KEY UPDATE does not change the rowkey.
fn refuse_keys(target: &Target, set: &Assignments) -> EngineResult<()> {
    match set.iter().find(|(at, _)| target.is_key(*at)) {
        None => Ok(()),
        Some((at, _)) => {
            let column = target.column(*at).map(|column| column.name.clone()).unwrap_or_default();
            fail(Fault::KeyAssigned { column })
        }
    }
}

fn expression(new: &NewValue) -> Option<&Scalar> {
    match new {
        NewValue::Expr(scalar) => Some(scalar),
        _ => None,
    }
}
