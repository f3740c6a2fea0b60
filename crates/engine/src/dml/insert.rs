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
    /// The columns that the source provides, in its order.
    pub(super) columns: Vec<usize>,
    pub(super) source: Rows,
    /// Defaults of the other columns.
    pub(super) defaults: Defaults,
    /// The computed expressions of VALUES.
    pub(super) computed: Exprs,
    pub(crate) action: Action,
    /// The uniqueness that defines a conflict.
    pub(super) arbiters: Arbiters,
    pub(crate) returning: Option<Returning>,
}

/// Defaults of the columns that the source omits.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub(super) constants: Vec<(usize, Datum)>,
    /// Columns that take the next value of a sequence, for each row of a query.
    pub(super) sequences: Vec<(usize, TableOid)>,
    /// Columns whose defaults are evaluated for each row of a query. (Rows of VALUES contain their defaults.)
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

    /// The lock mode for the keys of the new rows and for existing rows.
    pub(super) fn lock_mode(&self) -> LockMode {
        let target = &self.target;
        let beside_key = |at: &usize| !target.is_key(*at);
        match &self.action {
            Action::Refuse => LockMode::Exclusive,
            Action::Keep => LockMode::NoKeyExclusive,
            // The existing row was found by its key, so the new row has the same key.
            Action::Replace => target.lock_mode((0..target.width()).filter(beside_key)),
            Action::Overwrite(columns) => target.lock_mode(columns.iter().copied().filter(beside_key)),
            Action::Update(update) => target.lock_mode(update.columns()),
        }
    }

    /// The plan of the source, if it is a query.
    pub(crate) fn row_set(&self) -> Option<&Arc<Plan>> {
        match &self.source {
            Rows::Query(source) => Some(&source.plan),
            Rows::Values(_) => None,
        }
    }

    /// The number of VALUES rows, if the source is VALUES.
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

    /// Inserts rows.
    pub(super) async fn insert_rows(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        rows: Vec<Row>,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let target = &program.target;
        let new_row = if program.action.inserts_partial_row() { NewRow::partial } else { NewRow::new };
        let rows = rows.into_iter().map(|row| new_row(target, row)).collect::<EngineResult<Vec<_>>>()?;
        self.row_writer(work, target).lock_rows(rows.iter().map(NewRow::key), program.lock_mode()).await?;
        let mut outcome = Outcome::default();
        for row in rows {
            self.insert_row(work, program, row, scope, &mut outcome).await?;
        }
        Ok(outcome)
    }

    /// Inserts one row, whose key is locked.
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

    /// Returns the old row and the row to write. `None` keeps the existing row.
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
                // Referencing transactions wait for the new row, as they do for a plain INSERT.
                self.row_writer(work, target).lock_row(row.key(), LockMode::Exclusive).await?;
            }
            if program.action.inserts_partial_row() {
                // `NewRow::partial` has computed the generated columns, but checked only NOT NULL.
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
