//! DELETE.

use super::Outcome;
use super::returning::Returning;
use super::row_exprs::Scope;
use super::target::Target;
use super::update::Rows;
use crate::Session;
use crate::block::work::Work;
use crate::error::EngineResult;
use crate::row_writer::Old;
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
    pub(crate) async fn delete(
        &mut self,
        work: &mut Work,
        program: &DeleteProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let (target, mode) = (&program.target, LockMode::Exclusive);
        let found = match &program.rows {
            Rows::Point(one) => self.point_row(work, target, one, (scope, mode)).await?.into_iter().collect(),
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
