//! Compiles the prepared statement of a shape.

use super::{Candidate, Generic};
use crate::row_program::parameters;
use crate::statement::Source;
use crate::statement::plan_cache::{Compiled, Environment, Program, same_columns};
use crate::{Prepared, Session};
use bind::tree::Bound;
use catalog::Catalog;
use parking_lot::Mutex;
use sql::{LiteralValue, Parameterized, Statement, has_locking_subquery, parameterize};
use std::sync::Arc;
use types::DataType;

impl Session {
    /// Replaces literals by parameters and compiles the statement. `None`: the statement must run as written.
    pub(super) async fn prepare_shape(&mut self, source: &Arc<Source>, candidate: &Candidate) -> Option<Generic> {
        if !source.hints.is_empty() || has_locking_subquery(&source.statement) {
            return None;
        }
        let Parameterized { statement, literals } = parameterize(&candidate.text, &candidate.shape, &source.statement)?;
        let types = literals.iter().map(|at| match candidate.shape.literals.get(*at)?.value {
            LiteralValue::Int4(_) => Some(DataType::Integer),
            LiteralValue::Int8(_) => Some(DataType::BigInt),
            LiteralValue::Text(_) => None,
        });
        let types = types.collect();
        let generic = Arc::new(source.with_parameters(statement, types));
        let written = self.compile_short(source).await?;
        let compiled = self.compile_short(&generic).await?;
        let same_kind = std::mem::discriminant(&written.program) == std::mem::discriminant(&compiled.program);
        if !same_kind || !same_columns(written.columns.as_deref(), compiled.columns.as_deref()) {
            return None;
        }
        let prepared = Arc::new(prepared(Arc::clone(&generic), compiled));
        Some(Generic { source: generic, prepared, literals })
    }

    /// Compiles the statement to a program that needs no plan.
    async fn compile_short(&mut self, source: &Arc<Source>) -> Option<Compiled> {
        let catalog = self.engine.catalog().current();
        let environment = Environment::of(self);
        let bound = self.bound(&catalog, source).ok()?;
        // Whether a partial index contains the rows depends on the values of the literals.
        if has_partial_index(&catalog, &bound) {
            return None;
        }
        let (parameters, columns, program) = match &source.statement {
            Statement::Query(_) => match self.key_program(&catalog, &bound).ok()? {
                Some(key) => {
                    let parameters = parameters(&bound, &source.types).ok()?;
                    (parameters, Some(Arc::new(key.columns)), Program::Key(key.program))
                }
                None => {
                    let rows = self.row_program(&catalog, source, &bound)?;
                    (rows.parameters, Some(Arc::new(rows.columns)), Program::Rows(Box::new(rows.program)))
                }
            },
            _ => {
                let (parameters, program) = self.compile_write(&catalog, source).await.ok()?;
                (parameters, program.returning_columns(), Program::Write(program))
            }
        };
        let version = catalog.version();
        let compiled = Compiled { version, environment, parameters, columns, program, locks_within: false };
        let has_plan = matches!(&compiled.program, Program::Write(program) if program.row_set().is_some());
        (compiled.is_cacheable() && !has_plan).then_some(compiled)
    }
}

fn prepared(source: Arc<Source>, compiled: Compiled) -> Prepared {
    let compiled = Arc::new(compiled);
    Prepared {
        parameters: compiled.parameters.clone(),
        columns: compiled.columns.clone(),
        is_empty: false,
        is_of_shape: true,
        source: Some(source),
        compiled: Mutex::new(Some(compiled)),
    }
}

fn has_partial_index(catalog: &Catalog, bound: &Bound) -> bool {
    let tables = bound.needs.relations.keys().filter_map(|oid| catalog.table_by_oid(*oid));
    tables.into_iter().any(|table| table.indexes.iter().any(|index| index.predicate.is_some()))
}
