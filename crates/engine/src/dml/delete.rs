//! DELETE.

use super::Outcome;
use super::joined_columns::JoinedColumns;
use super::params::ParamTypes;
use super::returning::Returning;
use super::row_exprs::Scope;
use super::row_set::RowSet;
use super::target::Target;
use super::update::Rows;
use crate::Session;
use crate::error::EngineResult;
use crate::row_writer::Old;
use crate::work::Work;
use catalog::Catalog;
use sql::Delete;
use std::sync::Arc;
use txn::LockMode;

/// A compiled DELETE.
#[derive(Debug)]
pub(crate) struct DeleteProgram {
    pub(crate) target: Target,
    pub(crate) rows: Rows,
    pub(crate) returning: Option<Returning>,
}

impl DeleteProgram {
    pub(crate) fn is_cacheable(&self) -> bool {
        self.rows.is_cacheable()
    }
}

impl Session {
    pub(crate) async fn compile_delete(
        &mut self,
        catalog: &Arc<Catalog>,
        delete: &Delete,
        params: &mut ParamTypes,
    ) -> EngineResult<DeleteProgram> {
        let target = self.target(catalog, &delete.table).await?;
        let alias = delete.alias.clone().unwrap_or_else(|| delete.table.name.clone());
        let joined = JoinedColumns::find(&target, &alias, &delete.returning, &delete.using)?;
        let set = RowSet {
            target: &target,
            alias: &alias,
            with: delete.with.as_ref(),
            from: &delete.using,
            selection: delete.selection.as_ref(),
            order_by: &delete.order_by,
            limit: delete.limit.as_ref(),
            computed: &[],
            joined: &joined.items,
        };
        let rows = self.compile_rows(catalog, &set, params).await?;
        let joined = (&joined, rows.columns_behind(&target, 0));
        let returning = self.compile_returning(catalog, &target, &alias, &delete.returning, joined, params).await?;
        Ok(DeleteProgram { target, rows, returning })
    }

    pub(crate) async fn delete(
        &mut self,
        work: &mut Work,
        program: &DeleteProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let (target, mode) = (&program.target, LockMode::Exclusive);
        let found = match &program.rows {
            Rows::Point { key, exprs, filter } => {
                self.point_row(work, target, key, exprs, *filter, (scope, mode)).await?.into_iter().collect()
            }
            Rows::Query { source, own } => {
                match self.locked_rows(work, target, source, *own, (scope.params, mode)).await? {
                    Some(found) => found,
                    None => return self.delete_many(work, target, &source.plan, scope.params).await,
                }
            }
        };
        let mut outcome = Outcome::default();
        for (key, row, joined) in found {
            let old = Old::Row { key, row };
            self.row_writer(work, target).write(&old, None).await?;
            old.row().inspect(|row| outcome.keep(program.returning.as_ref(), row, &joined));
        }
        Ok(outcome)
    }
}
