//! INSERT and UPSERT.

use super::Outcome;
use super::arbiters::Arbiters;
use super::insert_rows::NewRows;
use super::on_conflict::{Action, Existing};
use super::returning::Returning;
use super::row_exprs::{Exprs, Scope};
use super::row_source::RowSource;
use super::target::{FAMILY, Row, Target};
use super::value::Value;
use crate::Session;
use crate::block::work::Work;
use crate::error::EngineResult;
use crate::row_writer::{New, NewRow, Old};
use catalog::TableOid;
use query::Plan;
use std::sync::Arc;
use txn::LockMode;
use types::Datum;

/// A compiled INSERT or UPSERT.
#[derive(Debug)]
pub(crate) struct InsertProgram {
    pub(crate) target: Target,
    /// Which columns the source gives, in its order.
    pub(super) columns: Vec<usize>,
    pub(super) source: Rows,
    /// For the other columns.
    pub(super) defaults: Defaults,
    /// All computed values of VALUES.
    pub(super) computed: Exprs,
    pub(crate) action: Action,
    /// What decides whether a row is there.
    pub(super) arbiters: Arbiters,
    pub(crate) returning: Option<Returning>,
}

/// What columns get that the source leaves out.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub(super) constants: Vec<(usize, Datum)>,
    /// Next values of sequences, for each row of a query.
    pub(super) sequences: Vec<(usize, TableOid)>,
    /// Evaluated for each row of a query. (For VALUES they are values of their rows.)
    pub(super) columns: Vec<usize>,
    pub(super) exprs: Exprs,
}

#[derive(Debug)]
pub(super) enum Rows {
    Values(Vec<Vec<Value>>),
    Query(RowSource),
}

impl InsertProgram {
    pub(crate) fn is_cacheable(&self) -> bool {
        let rows = match &self.source {
            Rows::Values(_) => true,
            Rows::Query(source) => source.plan.cacheable,
        };
        let exprs = [&self.computed, &self.defaults.exprs].into_iter().all(Exprs::is_cacheable);
        rows && exprs && self.action.is_cacheable()
    }

    pub(crate) fn needs_context(&self) -> bool {
        let exprs = [&self.computed, &self.defaults.exprs];
        exprs.into_iter().any(Exprs::needs_context) || self.action.needs_context()
    }

    /// How the keys of its rows are held, and the rows that are there.
    pub(super) fn lock_mode(&self) -> LockMode {
        let target = &self.target;
        let beside_key = |at: &usize| !target.is_key(*at);
        match &self.action {
            Action::Refuse => LockMode::Exclusive,
            Action::Keep => LockMode::NoKeyExclusive,
            // The row that is there is found by its key, which the new one has too.
            Action::Replace => target.lock_mode((0..target.width()).filter(beside_key)),
            Action::Overwrite(columns) => target.lock_mode(columns.iter().copied().filter(beside_key)),
            Action::Update(update) => target.lock_mode(update.columns()),
        }
    }

    /// The plan of its rows, if they come from a query.
    pub(crate) fn row_set(&self) -> Option<&Arc<Plan>> {
        match &self.source {
            Rows::Query(source) => Some(&source.plan),
            Rows::Values(_) => None,
        }
    }

    /// Rows of VALUES.
    pub(crate) fn values(&self) -> Option<usize> {
        match &self.source {
            Rows::Values(rows) => Some(rows.len()),
            Rows::Query(_) => None,
        }
    }
}

impl Session {
    pub(crate) async fn insert(
        &mut self,
        work: &mut Work,
        program: &InsertProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let rows = match self.new_rows(work, program, scope).await? {
            NewRows::Few(rows) => rows,
            NewRows::Many { first, rest } => return self.insert_many(work, program, scope, first, rest).await,
        };
        self.insert_rows(work, program, rows, scope).await
    }

    /// Puts rows in.
    pub(super) async fn insert_rows(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        rows: Vec<Row>,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let target = &program.target;
        let new_row = if program.action.completes_row() { NewRow::partial } else { NewRow::new };
        let rows = rows.into_iter().map(|row| new_row(target, row)).collect::<EngineResult<Vec<_>>>()?;
        self.row_writer(work, target).lock_rows(rows.iter().map(NewRow::key), program.lock_mode()).await?;
        let mut outcome = Outcome::default();
        for row in rows {
            self.insert_row(work, program, row, scope, &mut outcome).await?;
        }
        Ok(outcome)
    }

    /// Puts one row in, whose lock is held.
    async fn insert_row(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        row: NewRow,
        scope: &Scope<'_>,
        outcome: &mut Outcome,
    ) -> EngineResult<()> {
        let (old, new) = match program.action {
            Action::Refuse => (Old::Unique, row),
            Action::Replace if program.target.is_written_blindly() => (Old::Unread, row),
            Action::Keep | Action::Replace | Action::Overwrite(_) | Action::Update(_) => {
                match self.merged(work, program, row, scope).await? {
                    Some(merged) => merged,
                    None => return Ok(()),
                }
            }
        };
        self.row_writer(work, &program.target).write(&old, Some(New::Row(&new))).await?;
        outcome.keep(program.returning.as_ref(), new.row(), &[]);
        Ok(())
    }

    /// The row that is there and what it becomes; `None`: it stays.
    async fn merged(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        row: NewRow,
        scope: &Scope<'_>,
    ) -> EngineResult<Option<(Old, NewRow)>> {
        let target = &program.target;
        let Some((key, old)) = self.conflicting_row(work, program, &row).await? else {
            if target.relations.is_referred_to() {
                // Who refers to the row waits for it, as for one of a plain INSERT.
                self.row_writer(work, target).lock_row(row.key(), LockMode::Exclusive).await?;
            }
            if program.action.completes_row() {
                // A generated column of the row alone was computed when the row was made.
                target.check_conditions(row.row())?;
            }
            let old = if program.arbiters.key { Old::Missing } else { Old::Unique };
            return Ok(Some((old, row)));
        };
        let (_, new) = row.into_parts();
        let twice = work.txn.written_by_statement(target.storage, FAMILY, &key)?;
        let merged = program.action.merge(target, Existing { old: &old, new, twice }, scope).await?;
        let Some(merged) = merged else { return Ok(None) };
        Ok(Some((Old::Row { key, row: old }, NewRow::new(target, merged)?)))
    }
}

pub(crate) fn set(row: &mut Row, at: usize, value: Datum) {
    if let Some(slot) = row.get_mut(at) {
        *slot = value;
    }
}
