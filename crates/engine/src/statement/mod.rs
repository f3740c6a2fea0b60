//! Dispatches a parsed statement and returns its answer.
//!
//! The future of a short statement is copied at each `await` on its path (the compiler does not build it in place,
//! and copies all of it, started or not). So whatever a short statement does not use is boxed: compiling, DDL,
//! EXPLAIN, COPY, plans.
//!
//! ```text
//!   source     a statement with its text
//!   prepared   its parameters and columns before it runs
//!   query      runs read-only statements
//!   write      runs write statements, with retries
//! ```

pub(crate) mod answer;
pub(crate) mod array_parameters;
pub(crate) mod bound_plan;
pub(crate) mod compatibility;
pub(crate) mod context;
pub(crate) mod explain;
mod explained;
pub(crate) mod hints;
pub(crate) mod plan_cache;
mod prepared;
mod query;
pub(crate) mod script;
pub(crate) mod shapes;
mod source;
pub(crate) mod stream;
pub(crate) mod utility;
mod write;
pub(crate) mod written_place;

pub use prepared::Prepared;
pub(crate) use source::{Source, Written};

use crate::ddl::definition_tag;
use crate::error::EngineResult;
use crate::statement::array_parameters::with_constant_parameters;
use crate::{Answer, Session};
use sql::{RowLockStrength, Statement};
use std::sync::Arc;
use types::Datum;

impl Session {
    pub(crate) async fn dispatch(
        &mut self,
        text: &Arc<str>,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        self.note(text);
        self.written = source.written.clone();
        match &source.statement {
            Statement::Commit { chain: false } => return self.commit().await.map(Answer::Done),
            Statement::Rollback { chain: false } => return self.rollback().map(Answer::Done),
            Statement::Commit { chain: true } => return self.commit_and_chain().await.map(Answer::Done),
            Statement::Rollback { chain: true } => return self.rollback_and_chain().map(Answer::Done),
            Statement::RollbackTo(name) => return self.rollback_to(name).map(Answer::Done),
            _ => self.check_block()?,
        }
        self.engine.catalog().follow().await?;
        self.register_indexes().await?;
        self.take_hints(&source.hints);
        self.notify_ignored_hints(&source.hints);
        let types = prepared.map_or(&[][..], |prepared| &prepared.parameters);
        let spelled = with_constant_parameters(source, types, params)?;
        let (source, prepared, params) = match &spelled {
            Some(spelled) => (spelled, None, &[][..]),
            None => (source, prepared, params),
        };
        match &source.statement {
            Statement::Query(_) => self.run_query(source, prepared, params).await,
            Statement::LockingSelect(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                self.run_write(source, prepared, params).await
            }
            definition if definition_tag(definition).is_some() => {
                self.engine.counters().utility.add(1);
                Box::pin(self.outside_implicit(source)).await
            }
            Statement::DeclareCursor(declare) => {
                Box::pin(self.declare_cursor(declare, source, prepared, params)).await.map(Answer::Done)
            }
            Statement::Fetch(fetch) => self.fetch(fetch).await,
            Statement::Explain(explain) => Box::pin(self.explain(explain, source, prepared.is_some(), params)).await,
            Statement::Copy(copy) => Box::pin(self.copy(copy, source)).await,
            other => {
                self.engine.counters().utility.add(1);
                Box::pin(self.utility(other, &source.text, &source.hints)).await
            }
        }
    }

    /// Runs DDL. In a simple query of several statements, the statements before it are committed first.
    async fn outside_implicit(&mut self, source: &Source) -> EngineResult<Answer> {
        let implicit = self.in_implicit();
        if implicit {
            self.end_implicit(true).await?;
        }
        let done = self.change_definitions(source).await;
        if implicit {
            self.begin_implicit();
        }
        done.map(Answer::Done)
    }
}

/// First words of the command tag.
pub(crate) fn command(statement: &Statement) -> &'static str {
    match statement {
        Statement::Insert(_) => "INSERT",
        Statement::Update(_) => "UPDATE",
        Statement::Delete(_) => "DELETE",
        Statement::LockingSelect(select) => {
            crate::block::row_locks::command(select.locks.first().map_or(RowLockStrength::Update, |lock| lock.strength))
        }
        _ => "statement",
    }
}
