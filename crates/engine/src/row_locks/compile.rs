//! Compiling a query that locks rows.

use super::rewrite::{PREFIX, Rewriter, is_own};
use super::{LockProgram, LockedTable};
use crate::Session;
use crate::dml::ParamTypes;
use crate::error::{EngineResult, Fault, fail};
use catalog::Catalog;
use sql::ast::{Expr, LimitClause, Query, Value};
use sql::{LockingSelect, RowLockStrength};
use std::sync::Arc;
use txn::LockMode;

impl Session {
    /// Compiles SELECT … FOR UPDATE and its like.
    ///
    /// # Errors
    /// 0A000 for queries whose rows are no rows of tables, 42P01 for tables that are not in FROM, and what is wrong with
    /// the query itself.
    pub(crate) async fn compile_row_locks(
        &mut self,
        catalog: &Arc<Catalog>,
        select: &LockingSelect,
        params: &mut ParamTypes,
    ) -> EngineResult<LockProgram> {
        let mut query = (*select.query).clone();
        let own = is_own(&query);
        let mut rewriter = Rewriter::new(self, catalog);
        let wanted = rewriter.lock(&mut query, &select.locks, &[])?;
        let unknown = rewriter.unknown.take();
        let bounds = take_bounds(&mut query)?;
        let bounds = self.exprs_over(catalog, &[], &bounds, params).await?;
        let compiled = Box::pin(self.compile_query(&query, params.known())).await?;
        params.merge(&query, &compiled.parameters);
        if let Some((strength, name)) = unknown {
            return fail(Fault::Unsupported { feature: format!("{} of \"{name}\"", strength.words()) });
        }
        let all = compiled.columns();
        let place = |name: &String| all.iter().position(|column| column.name == *name);
        let mut tables = Vec::with_capacity(wanted.len());
        for table in wanted {
            let Some(key) = table.key.iter().map(place).collect() else {
                return fail(Fault::Internal { detail: "a key that the query does not have".to_string() });
            };
            tables.push(LockedTable { target: table.target, mode: mode_of(table.strength), wait: table.wait, key });
        }
        let visible: Vec<usize> = (0..all.len()).filter(|at| is_visible(all.get(*at))).collect();
        let columns = Arc::new(visible.iter().filter_map(|at| all.get(*at).cloned()).collect());
        Ok(LockProgram { query: Arc::new(compiled), tables, visible, columns, bounds, own })
    }
}

fn is_visible(column: Option<&crate::ColumnDesc>) -> bool {
    column.is_some_and(|column| !column.name.starts_with(PREFIX))
}

/// Takes LIMIT and OFFSET out of a query.
fn take_bounds(query: &mut Query) -> EngineResult<[Expr; 2]> {
    if query.fetch.is_some() {
        return fail(Fault::Unsupported { feature: "WITH TIES beside a locking clause".to_string() });
    }
    let (limit, offset) = match query.limit_clause.take() {
        Some(LimitClause::LimitOffset { limit, offset, .. }) => (limit, offset.map(|offset| offset.value)),
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
        None => (None, None),
    };
    let bigint = |expr: Option<Expr>| -> EngineResult<Expr> {
        let expr = expr.unwrap_or_else(|| Expr::value(Value::Null));
        Ok(sql::parse_expr(&format!("({expr})::bigint"))?)
    };
    Ok([bigint(limit)?, bigint(offset)?])
}

fn mode_of(strength: RowLockStrength) -> LockMode {
    match strength {
        RowLockStrength::KeyShare => LockMode::KeyShare,
        RowLockStrength::Share => LockMode::Shared,
        RowLockStrength::NoKeyUpdate => LockMode::NoKeyExclusive,
        RowLockStrength::Update => LockMode::Exclusive,
    }
}

/// What messages call a statement with that clause.
pub(crate) fn command(strength: RowLockStrength) -> &'static str {
    match strength {
        RowLockStrength::KeyShare => "SELECT FOR KEY SHARE",
        RowLockStrength::Share => "SELECT FOR SHARE",
        RowLockStrength::NoKeyUpdate => "SELECT FOR NO KEY UPDATE",
        RowLockStrength::Update => "SELECT FOR UPDATE",
    }
}
