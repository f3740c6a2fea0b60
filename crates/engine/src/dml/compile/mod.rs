//! Compiles write statements from the bound tree, in which names, types, functions and casts are resolved.
//!
//! ```text
//!   Statement ──bind──> Insert, Update, Delete ──> WriteProgram
//!                         expressions over current rows: programs of `rows`, else stages, else a query for each row
//!                         row sets:                      a plan of `query::lower`, or one key
//! ```

mod defaults;
mod exprs;
mod insert;
mod over_rows;
mod returning;
mod row_set;
mod update;
mod value;

pub(crate) use defaults::Defaults;
pub(super) use exprs::{BoundExprs, BoundQuery};
pub(crate) use over_rows::RowTable;
pub(crate) use row_set::keys_of;

use super::WriteProgram;
use crate::Session;
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_program::parameters;
use crate::statement::Source;
use bind::tree::{Body, Bound};
use catalog::Catalog;
use sql::Statement;
use std::sync::Arc;
use types::DataType;

/// The statement being compiled.
pub(crate) struct Writing<'a> {
    pub(crate) catalog: &'a Arc<Catalog>,
    pub(crate) bound: &'a Bound,
    pub(crate) parameters: &'a [DataType],
}

impl Session {
    /// Compiles INSERT, UPDATE, DELETE and SELECT … FOR UPDATE.
    pub(crate) async fn compile_write(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
    ) -> EngineResult<(Vec<DataType>, WriteProgram)> {
        let name = match &source.statement {
            Statement::Insert(insert) => Some(&insert.table),
            Statement::Update(update) => Some(&update.table),
            Statement::Delete(delete) => Some(&delete.table),
            _ => None,
        };
        let target = match name {
            Some(name) => {
                let place = |error: EngineError| match error.is_undefined_table() {
                    true => error.at(source.written.position_of(name.place.0.start)),
                    false => error,
                };
                Some(self.target(catalog, name).await.map_err(place)?)
            }
            None => None,
        };
        let bound = self.bound_statement(catalog, source)?;
        let parameters = parameters(&bound, &source.types)?;
        let writing = Writing { catalog, bound: &bound, parameters: &parameters };
        let program = match (&bound.body, target, &source.statement) {
            (Body::Insert(insert), Some(target), Statement::Insert(syntax)) => {
                let target = self.checked_target(catalog, target).await?;
                let conflict = syntax.on_conflict.as_ref();
                WriteProgram::Insert(Box::new(self.insert_program(&writing, target, insert, conflict).await?))
            }
            (Body::Update(update), Some(target), _) => {
                let target = self.checked_target(catalog, target).await?;
                WriteProgram::Update(Box::new(self.update_program(&writing, target, update).await?))
            }
            (Body::Delete(delete), Some(target), _) => {
                WriteProgram::Delete(Box::new(self.delete_program(&writing, target, delete).await?))
            }
            (Body::Lock(locked), ..) => WriteProgram::Lock(Box::new(self.lock_program(&writing, locked).await?)),
            _ => return fail(Fault::Internal { detail: format!("not a write: {:?}", source.statement) }),
        };
        Ok((parameters, program))
    }
}
