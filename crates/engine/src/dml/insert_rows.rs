//! The rows of an INSERT: from VALUES, or from a query that may return very many.

use super::Outcome;
use super::insert::{Defaults, InsertProgram, Rows, set};
use super::on_conflict::Action;
use super::row_exprs::Scope;
use super::row_source::RowSource;
use super::target::{Row, Target};
use super::value::{Given, Value};
use crate::block::work::{ManyRows, Work};
use crate::error::{EngineResult, Fault};
use crate::session::held::hold_rows;
use crate::{Chunk, Session};
use futures::StreamExt;
use futures::stream::BoxStream;
use std::collections::HashMap;
use std::sync::Arc;
use types::Datum;

/// Above this number of rows, a plain INSERT from a query outside a transaction block loads sorted runs.
const FEW: usize = 20_000;

/// The rows to insert.
pub(super) enum NewRows {
    /// All rows.
    Few(Vec<Row>),
    /// The first rows, and the batches after them.
    Many { first: Vec<Row>, rest: BoxStream<'static, EngineResult<Chunk>> },
}

impl Session {
    pub(super) async fn new_rows(
        &mut self,
        work: &mut Work,
        program: &InsertProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<NewRows> {
        match &program.source {
            Rows::Values(values) => {
                let computed = program.computed.eval(scope, &[], None).await?;
                let mut counts = HashMap::new();
                for value in values.iter().flatten() {
                    if let Value::Next(sequence) = value {
                        *counts.entry(*sequence).or_insert(0) += 1;
                    }
                }
                let next = self.take_values(&counts).await?;
                let given = Given { params: scope.params, computed: &computed, next: Some(&next), ..Given::default() };
                let mut rows = Vec::with_capacity(values.len());
                for values in values {
                    let mut row = program.defaults.row(&program.target);
                    for (at, value) in program.columns.iter().zip(values) {
                        set(&mut row, *at, value.get(&program.target, *at, &given)?);
                    }
                    rows.push(row);
                }
                self.fill_row_ids(&program.target, &mut rows).await?;
                Ok(NewRows::Few(rows))
            }
            Rows::Query(source) => self.query_rows(work, program, source, scope).await,
        }
    }

    /// Whether the rows can be loaded as sorted runs.
    fn loads(&self, work: &Work, program: &InsertProgram) -> bool {
        !work.in_block
            && matches!(program.action, Action::Refuse)
            && program.returning.is_none()
            && self.is_loadable(&program.target.table)
    }

    async fn query_rows(
        &mut self,
        work: &mut Work,
        program: &InsertProgram,
        source: &RowSource,
        scope: &Scope<'_>,
    ) -> EngineResult<NewRows> {
        let loads = self.loads(work, program);
        let view = work.view(self.engine.store().as_ref(), self.last_commit).await?;
        if let Some(rows) = self.few_rows(source, &view, scope.params).await? {
            return Ok(NewRows::Few(self.rows_of_chunk(program, Chunk::Rows(rows), scope).await?));
        }
        let plan = &source.plan;
        let mut rest = self.stream(self.query_context(view), Arc::clone(plan), scope.params.to_vec())?;
        let memory = self.hold_rows();
        work.rows = Some(Arc::clone(&memory));
        let mut rows = Vec::new();
        while let Some(chunk) = rest.next().await {
            let more = self.rows_of_chunk(program, chunk?, scope).await?;
            let held = hold_rows(&memory, &more);
            rows.extend(more);
            match held {
                Err(_) if loads || work.many_rows == ManyRows::Streamed => {
                    return Ok(NewRows::Many { first: rows, rest });
                }
                Err(error) => return Err(error.into()),
                Ok(()) if loads && rows.len() > FEW => return Ok(NewRows::Many { first: rows, rest }),
                Ok(()) => {}
            }
        }
        Ok(NewRows::Few(rows))
    }

    async fn rows_of_chunk(&self, program: &InsertProgram, chunk: Chunk, scope: &Scope<'_>) -> EngineResult<Vec<Row>> {
        let Rows::Query(RowSource { plan, .. }) = &program.source else { return Ok(Vec::new()) };
        let target = &program.target;
        let types: Vec<_> = plan.columns.iter().map(|column| column.ty).collect();
        let given = chunk.into_rows(&types)?;
        let mut rows = Vec::with_capacity(given.len());
        for values in given {
            let mut row = program.defaults.row(target);
            for (at, value) in program.columns.iter().zip(values) {
                set(&mut row, *at, target.assign(*at, value)?);
            }
            rows.push(row);
        }
        program.defaults.compute(target, &mut rows, scope).await?;
        self.fill_sequences(target, &program.defaults.sequences, &mut rows).await?;
        self.fill_row_ids(target, &mut rows).await?;
        Ok(rows)
    }

    /// Inserts many rows under an exclusive table lock. Loads them as sorted runs where `loads` allows it.
    pub(super) async fn insert_many(
        &mut self,
        work: &mut Work,
        program: &InsertProgram,
        scope: &Scope<'_>,
        first: Vec<Row>,
        mut rest: BoxStream<'static, EngineResult<Chunk>>,
    ) -> EngineResult<Outcome> {
        let target = &program.target;
        self.lock_table_exclusively(work, target).await?;
        work.rows = None;
        if !self.loads(work, program) {
            self.insert_rows(work, program, first, scope).await?;
            while let Some(chunk) = rest.next().await {
                let rows = self.rows_of_chunk(program, chunk?, scope).await?;
                self.insert_rows(work, program, rows, scope).await?;
            }
            return Ok(Outcome::default());
        }
        let mut load = self.begin_load(target).await?;
        load.add(first).await?;
        while let Some(chunk) = rest.next().await {
            let rows = self.rows_of_chunk(program, chunk?, scope).await?;
            load.add(rows).await?;
        }
        work.tally.add(self.finish_load(load).await?);
        Ok(Outcome::default())
    }

    /// Assigns hidden row ids to the rows of a table without a primary key.
    pub(crate) async fn fill_row_ids(&self, target: &Target, rows: &mut [Row]) -> EngineResult<()> {
        let Some(at) = target.table.columns.iter().position(|column| column.hidden) else { return Ok(()) };
        let count = u32::try_from(rows.len()).map_err(|_| Fault::Internal { detail: "too many rows".to_string() })?;
        let ids = self.engine.catalog().row_ids().reserve(count).await?;
        for (row, id) in rows.iter_mut().zip(ids) {
            set(row, at, Datum::Int8(id));
        }
        Ok(())
    }
}

impl Defaults {
    /// A row of constant defaults, and NULL elsewhere.
    pub(super) fn row(&self, target: &Target) -> Row {
        let mut row = vec![Datum::Null; target.width()];
        for (at, value) in &self.constants {
            set(&mut row, *at, value.clone());
        }
        row
    }

    /// Evaluates the defaults that are not constant.
    async fn compute(&self, target: &Target, rows: &mut [Row], scope: &Scope<'_>) -> EngineResult<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let tables: Vec<[&[Datum]; 1]> = rows.iter().map(|row| [row.as_slice()]).collect();
        let tables: Vec<&[&[Datum]]> = tables.iter().map(<[_; 1]>::as_slice).collect();
        let computed = self.exprs.eval_rows(scope, &tables).await?;
        for (row, values) in rows.iter_mut().zip(computed) {
            for (at, value) in self.columns.iter().zip(values) {
                set(row, *at, target.assign(*at, value)?);
            }
        }
        Ok(())
    }
}
