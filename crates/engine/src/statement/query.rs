//! Runs queries: takes a snapshot, compiles the query for it, and runs it in its tier.

use super::Source;
use crate::error::{EngineResult, Fault, fail};
use crate::key_program::KeyProgram;
use crate::statement::array_parameters::with_constants;
use crate::statement::plan_cache::{Compiled, Program};
use crate::statement::stream;
use crate::{Answer, Prepared, Session};
use catalog::Catalog;
use std::sync::Arc;
use txn::ReadView;
use types::Datum;

impl Session {
    pub(crate) async fn run_query(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let (view, compiled) = self.view_and_compile(source, prepared).await?;
        if let Program::Query(plan) = &compiled.program
            && plan.needs_values
        {
            check_parameters(&compiled, prepared.is_some(), params)?;
            let spelled = with_constants(source, &compiled.parameters, params)?;
            return Box::pin(self.run_query(&spelled, None, &[])).await;
        }
        self.run_compiled(view, &compiled, prepared.is_some(), params).await
    }

    /// Runs a query that was compiled for this snapshot.
    pub(crate) async fn run_compiled(
        &mut self,
        view: ReadView,
        compiled: &Compiled,
        prepared: bool,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        check_parameters(compiled, prepared, params)?;
        match &compiled.program {
            Program::Key(KeyProgram::Point(program)) => {
                self.engine.counters().point.add(1);
                let rows = program.run(&view, params).await?;
                Ok(Answer::Rows(stream::ready(compiled.columns(), rows, "SELECT")))
            }
            Program::Key(KeyProgram::Range(program)) => {
                self.engine.counters().point.add(1);
                let guard = self.running();
                let cursor = guard.stoppable(program.open(&view, params)).await?;
                self.read_range(cursor, compiled.columns(), guard).await.map(Answer::Rows)
            }
            Program::Rows(rows) => self.run_rows(view, compiled, rows, params).await,
            Program::Query(plan) if self.set_configs.is_called() => {
                // Calls of set_config take effect when the last row is computed, which must be before the next
                // statement.
                let memory = self.hold_rows();
                let rows = self.collect(self.query_context(view), Arc::clone(plan), params.to_vec(), memory).await?;
                Ok(Answer::Rows(stream::ready(compiled.columns(), rows, "SELECT")))
            }
            Program::Query(plan) => self.start_query(plan, view, params).map(Answer::Rows),
            _ => fail(Fault::Internal { detail: "a query became a write".to_string() }),
        }
    }

    /// A snapshot and its definitions. A plan compiled with these definitions reads that snapshot, whatever changes
    /// meanwhile: a rewritten table has new storage, which an older snapshot does not contain, and a newer snapshot
    /// lacks the old one.
    pub(crate) async fn read_state(&mut self) -> EngineResult<(ReadView, Arc<Catalog>)> {
        loop {
            let version = self.engine.catalog().version();
            // The snapshot is taken first, so that the catalog has at least its definitions.
            let view = self.read_view().await?;
            let catalog = self.engine.catalog().current();
            if self.catalog_is_still(version) {
                return Ok((view, catalog));
            }
        }
    }

    /// A snapshot and the query compiled for it, as in [`Self::read_state`].
    pub(crate) async fn view_and_compile(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
    ) -> EngineResult<(ReadView, Arc<Compiled>)> {
        loop {
            let version = self.engine.catalog().version();
            let view = self.read_view().await?;
            self.set_configs.begin();
            let compiled = self.compile(source, prepared).await?;
            if self.catalog_is_still(version) {
                return Ok((view, compiled));
            }
        }
    }

    /// Whether the catalog is still at `version`, which was read before a snapshot was taken. Then the snapshot has
    /// the same definitions, because the catalog shows only published ones. Stores without store snapshots have
    /// nothing to compare.
    fn catalog_is_still(&self, version: u64) -> bool {
        !self.engine.store().capabilities().store_snapshots() || self.engine.catalog().version() == version
    }
}

pub(super) fn check_parameters(compiled: &Compiled, prepared: bool, params: &[Datum]) -> EngineResult<()> {
    let expected = compiled.parameters.len();
    if expected == params.len() {
        return Ok(());
    }
    if !prepared {
        return fail(Fault::NoSuchParameter { number: params.len() + 1 });
    }
    fail(Fault::ParameterCount { name: String::new(), expected, given: params.len() })
}
