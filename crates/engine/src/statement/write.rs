//! Runs writes. Runs a write again after a deadlock, a serialization failure or a change of definitions, as long as
//! no result was returned.

use super::query::check_parameters;
use super::{Source, command};
use crate::block::current_of::cursor_of;
use crate::block::work::Work;
use crate::error::EngineResult;
use crate::statement::plan_cache::Compiled;
use crate::{Answer, Prepared, Session};
use std::sync::Arc;
use types::Datum;

/// Maximum number of reruns of a statement.
const MAX_RERUNS: usize = 128;

impl Session {
    pub(crate) async fn run_write(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        self.check_writable(command(&source.statement))?;
        if cursor_of(&source.statement).is_some() {
            return Box::pin(self.run_at_cursor(source, prepared, params)).await;
        }
        let mut compiled = self.compile(source, prepared).await?;
        check_parameters(&compiled, prepared.is_some(), params)?;
        let mut reruns = 0;
        loop {
            let work = self.take_transaction()?;
            let alone = !work.in_block;
            let done = self.write_once(work, source, prepared, Arc::clone(&compiled), params).await;
            let Err(error) = done else { return done };
            let outdated = self.is_outdated(&compiled).await;
            if !alone || reruns == MAX_RERUNS || !(error.is_retryable() || error.is_undefined_table() && outdated) {
                return Err(error);
            }
            // Its writes and locks are gone and no result was returned, so it runs again as a new statement.
            self.running().check()?;
            self.engine.counters().retries.add(1);
            reruns += 1;
            if outdated {
                compiled = self.compile(source, prepared).await?;
            }
        }
    }

    /// Whether definitions changed since the statement was compiled. Tables that a write reads, other than its
    /// target, are not locked, and TRUNCATE gives them other storage.
    async fn is_outdated(&self, compiled: &Compiled) -> bool {
        self.engine.catalog().wait_for_pending_change().await;
        !self.is_current(compiled)
    }

    async fn write_once(
        &mut self,
        mut work: Work,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        compiled: Arc<Compiled>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let mut compiled = self.lock_target(&mut work, source, prepared, compiled).await?;
        let mut reruns = 0;
        let outcome = loop {
            if compiled.locks_within {
                compiled = Box::pin(self.lock_subqueries(&mut work, source, compiled, params)).await?;
            }
            let done = self.write(&mut work, &compiled, params).await;
            // A transaction block cannot rerun the statement as `run_write` does, but can repeat it if nothing was
            // written yet.
            let reads_anew = work.in_block && reruns < MAX_RERUNS && work.tally.rows() == 0;
            match done {
                Err(error) if reads_anew && error.is_undefined_table() && self.is_outdated(&compiled).await => {
                    self.running().check()?;
                    self.engine.counters().retries.add(1);
                    reruns += 1;
                    compiled = self.lock_target(&mut work, source, prepared, compiled).await?;
                }
                done => break done?,
            }
        };
        let tally = work.tally;
        if let Err(error) = self.end_work(work).await {
            return Err(match compiled.target() {
                Some(target) => target.in_words(error),
                None => error,
            });
        }
        self.engine.counters().rows_written.add(outcome.rows());
        if let Some(target) = compiled.target() {
            tally.note(&target.table);
        }
        Ok(outcome.answer(&compiled))
    }

    /// Runs the subqueries that lock rows, then compiles the statement with their rows. Its target is locked.
    async fn lock_subqueries(
        &mut self,
        work: &mut Work,
        source: &Arc<Source>,
        compiled: Arc<Compiled>,
        params: &[Datum],
    ) -> EngineResult<Arc<Compiled>> {
        loop {
            let filled = self.compile_over_locked(work, source, &compiled, params).await?;
            if self.is_current(&filled) {
                return Ok(filled);
            }
            self.running().check()?;
        }
    }
}
