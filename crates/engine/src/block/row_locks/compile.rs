//! Compiles SELECT … FOR UPDATE and the other locking clauses.

use super::{Finder, LockProgram, LockedTable};
use crate::Session;
use crate::dml::{RowSource, Target, Writing};
use crate::error::{EngineResult, Fault, fail};
use crate::key_program;
use crate::statement::plan_cache::columns_of;
use bind::tree::{Body, Bound, ColId, Kind, LockedRows, Output, Scalar, Span};
use builtins::Ty;
use sql::RowLockStrength;
use std::sync::Arc;
use txn::LockMode;
use types::Datum;

impl Session {
    /// Compiles a query with a locking clause.
    ///
    /// # Errors
    /// Errors of compiling the query.
    pub(crate) async fn lock_program(
        &mut self,
        writing: &Writing<'_>,
        locked: &LockedRows,
    ) -> EngineResult<LockProgram> {
        let mut query = locked.query.clone();
        let visible = query.outputs.len();
        let mut tables = Vec::with_capacity(locked.tables.len());
        for table in &locked.tables {
            let target = Target::new(writing.catalog, &table.table, self.time_zone())?;
            let key = table.key.iter().map(|col| place_of(*col, &mut query.outputs)).collect();
            tables.push(LockedTable { target, mode: mode_of(table.strength), wait: table.wait, key });
        }
        let bounds = [bound_of(locked.limit.as_ref()), bound_of(locked.offset.as_ref())];
        let bounds = self.bound_exprs(writing, &bounds.each_ref(), &[]).await?;
        let bound = Bound { body: Body::Query(query), ..writing.bound.clone() };
        let key = match self.point_programs() && !self.hints.has_hint() {
            true => key_program::compile(writing.catalog, &bound, self.time_zone())?,
            false => None,
        };
        let (finder, all) = match key {
            Some(key) => (Finder::Key(key.program), key.columns),
            None => {
                let plan = self.lowered(writing.catalog, &bound, writing.parameters.to_vec()).await?;
                let all = columns_of(&plan);
                (Finder::Rows(RowSource::new(plan, self.short_program(&bound))), all)
            }
        };
        let Some(columns) = all.get(..visible).map(<[_]>::to_vec) else {
            return fail(Fault::Internal { detail: "a query without its columns".to_string() });
        };
        let (all, columns) = (Arc::new(all), Arc::new(columns));
        Ok(LockProgram { finder, tables, all, columns, bounds, own: locked.own })
    }
}

/// The position of a column among the outputs; adds the column if it is missing.
fn place_of(col: ColId, outputs: &mut Vec<Output>) -> usize {
    match outputs.iter().position(|output| output.col == col) {
        Some(place) => place,
        None => {
            outputs.push(Output { col, name: String::new() });
            outputs.len() - 1
        }
    }
}

/// LIMIT or OFFSET as an expression; NULL if the clause is missing.
fn bound_of(bound: Option<&Scalar>) -> Scalar {
    let none = || Scalar { kind: Kind::Const(Datum::Null), ty: Ty::INT8, span: Span::default() };
    bound.cloned().unwrap_or_else(none)
}

fn mode_of(strength: RowLockStrength) -> LockMode {
    match strength {
        RowLockStrength::KeyShare => LockMode::KeyShare,
        RowLockStrength::Share => LockMode::Shared,
        RowLockStrength::NoKeyUpdate => LockMode::NoKeyExclusive,
        RowLockStrength::Update => LockMode::Exclusive,
    }
}

/// The command's name in messages.
pub(crate) fn command(strength: RowLockStrength) -> &'static str {
    match strength {
        RowLockStrength::KeyShare => "SELECT FOR KEY SHARE",
        RowLockStrength::Share => "SELECT FOR SHARE",
        RowLockStrength::NoKeyUpdate => "SELECT FOR NO KEY UPDATE",
        RowLockStrength::Update => "SELECT FOR UPDATE",
    }
}
