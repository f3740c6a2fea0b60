//! Writing statements compiled from the bound tree: names, types, functions and casts are the binder's.
//!
//! ```text
//!   Statement ──bind──> Insert, Update, Delete ──> WriteProgram
//!                         expressions over rows at hand: programs of `rows`, else stages, else a query for each row
//!                         row sets:                      a plan of `query::lower`, or one key
//! ```
//! What is not built there is compiled from its syntax, which [`Session::compile_write`] decides in one place; all other
//! errors of the binder are the statement's.

mod exprs;
mod insert;
mod key;
mod over_rows;
mod returning;
mod row_set;
mod update;
mod value;

pub(crate) use exprs::{BoundExprs, BoundQuery};

use super::WriteProgram;
use crate::Session;
use crate::error::EngineResult;
use crate::row_program::parameters;
use crate::statement::Source;
use bind::tree::{Body, Bound};
use catalog::Catalog;
use sql::Statement;
use std::sync::Arc;
use types::DataType;

/// A statement that is compiled.
pub(super) struct Writing<'a> {
    pub(super) catalog: &'a Arc<Catalog>,
    pub(super) bound: &'a Bound,
    pub(super) parameters: &'a [DataType],
}

impl Session {
    /// The statement from its bound tree; `None`: it has a form that is not built there.
    pub(super) async fn compile_bound(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
    ) -> EngineResult<Option<(Vec<DataType>, WriteProgram)>> {
        let name = match &source.statement {
            Statement::Insert(insert) => &insert.table,
            Statement::Update(update) => &update.table,
            Statement::Delete(delete) => &delete.table,
            _ => return Ok(None),
        };
        let target = self.target(catalog, name).await?;
        let Some(bound) = self.bound_part(catalog, source)? else { return Ok(None) };
        let Some(parameters) = parameters(&bound, &source.types) else { return Ok(None) };
        let writing = Writing { catalog, bound: &bound, parameters: &parameters };
        let program = match (&bound.body, &source.statement) {
            (Body::Insert(insert), Statement::Insert(syntax)) => {
                let target = self.checked_target(catalog, target).await?;
                let conflict = syntax.on_conflict.as_ref();
                let program = self.insert_program(&writing, target, insert, conflict).await?;
                program.map(|program| WriteProgram::Insert(Box::new(program)))
            }
            (Body::Update(update), _) => {
                let target = self.checked_target(catalog, target).await?;
                let program = self.update_program(&writing, target, update).await?;
                program.map(|program| WriteProgram::Update(Box::new(program)))
            }
            (Body::Delete(delete), _) => {
                let program = self.delete_program(&writing, target, delete).await?;
                program.map(|program| WriteProgram::Delete(Box::new(program)))
            }
            _ => None,
        };
        Ok(program.map(|program| (parameters, program)))
    }
}
