//! Runs row programs, and hands over to their plans.

use super::RowProgram;
use crate::error::EngineResult;
use crate::statement::plan_cache::Compiled;
use crate::statement::stream;
use crate::{Answer, Chunk, ColumnDesc, RowStream, Session};
use builtins::Env;
use futures::StreamExt;
use query::Plan;
use rows::{Builtins, Input, Limits, RowsError};
use std::sync::Arc;
use txn::ReadView;
use types::{Datum, coerce};

impl Session {
    /// Returns the program's rows, or those of its plan on the same snapshot.
    pub(crate) async fn run_rows(
        &mut self,
        view: ReadView,
        compiled: &Compiled,
        rows: &RowProgram,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        if rows.handed_over.may_run() {
            let guard = self.running();
            let env = self.row_environment();
            let input = Input { view: &view, env: &env, params, limits: self.row_limits() };
            let work = async { finished(rows.program.run(&Builtins, input).await) };
            if let Some(answer) = guard.stoppable(work).await? {
                rows.handed_over.forget();
                self.engine.counters().rows.add(1);
                return Ok(Answer::Rows(stream::ready(compiled.columns(), answer, "SELECT")));
            }
            self.engine.counters().handed_over.add(1);
        }
        rows.handed_over.add();
        let plan = self.plan_beside(rows).await?;
        if !self.is_current(compiled) {
            // Definitions have changed since: runs the query again, on a newer snapshot.
            return Box::pin(self.run_query(&rows.source, None, params)).await;
        }
        let stream = self.start_query(&plan, view, params)?;
        Ok(Answer::Rows(in_columns(stream, compiled.columns())))
    }

    /// The plan of a program, planned on first use. It fits the program's definitions if the program is still current
    /// afterwards.
    async fn plan_beside(&mut self, rows: &RowProgram) -> EngineResult<Arc<Plan>> {
        if let Some(plan) = rows.plan.lock().as_ref() {
            return Ok(Arc::clone(plan));
        }
        let catalog = self.engine.catalog().current();
        let plan = self.plan_source(&catalog, &rows.source).await?;
        if plan.cacheable {
            *rows.plan.lock() = Some(Arc::clone(&plan));
        }
        Ok(plan)
    }

    /// The session's values that functions may read.
    pub(crate) fn row_environment(&self) -> Env {
        let (now, effective) = (self.engine.now(), self.settings.effective());
        Env { zone: effective.zone, transaction_time: self.block.started().unwrap_or(now), statement_time: now }
    }

    pub(crate) fn row_limits(&self) -> Limits {
        Limits { rows: self.settings.effective().row_budget, ..Limits::default() }
    }
}

/// Casts the rows to the column types that the client was sent: a plan may have integer where a program has bigint.
fn in_columns(stream: RowStream, told: Arc<Vec<ColumnDesc>>) -> RowStream {
    let same = stream.columns.len() == told.len() && stream.columns.iter().zip(told.iter()).all(|(a, b)| a.ty == b.ty);
    if same {
        return RowStream { columns: told, ..stream };
    }
    let (own, wanted) = (stream.columns, Arc::clone(&told));
    let assigned = move |chunk: Chunk| {
        let mut rows = chunk.to_rows(&own)?.into_owned();
        for (value, column) in rows.iter_mut().flat_map(|row| row.iter_mut().zip(wanted.iter())) {
            *value = coerce::assign(&column.ty, std::mem::replace(value, Datum::Null))?;
        }
        Ok(Chunk::Rows(rows))
    };
    let chunks = stream.chunks.map(move |chunk| chunk.and_then(&assigned)).boxed();
    RowStream { columns: told, chunks, tag: stream.tag, counted: stream.counted }
}

/// The rows; `None`: the plan must run.
pub(super) fn finished(done: Result<rows::Answer, RowsError>) -> EngineResult<Option<Vec<Vec<Datum>>>> {
    match done {
        Ok(answer) => Ok(Some(answer.rows)),
        Err(RowsError::OverBudget) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
