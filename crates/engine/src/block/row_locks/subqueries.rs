//! Subqueries with a locking clause: `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs LIMIT 9 FOR UPDATE SKIP LOCKED)`.
//!
//! ```text
//!   statement ──> the first such subquery that has none inside ──run, its rows locked──> constants in its place ──┐
//!       ^                                                                                                         │
//!       └─────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//!   none is left ──> compiled and run as any other
//! ```
//! Each such subquery runs once, before the statement and in its transaction, whatever joins and conditions surround
//! it. A correlated subquery is therefore refused.

use super::LockProgram;
use crate::block::work::Work;
use crate::dml::{Row, Scope, WriteProgram};
use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use crate::statement::plan_cache::Compiled;
use crate::{ColumnDesc, EngineError, Session};
use bind::{BindError, BindErrorKind};
use query::QueryError;
use sql::ast::{Expr, Query};
use sql::{LockingSelect, LockingSubquery, Statement};
use std::sync::Arc;
use txn::LockMode;
use types::ident::quote;
use types::{DataType, Datum};

impl Session {
    /// Runs the locking subqueries, replaces them by their rows and compiles the statement again.
    ///
    /// # Errors
    /// 0A000 for a correlated subquery; errors of row locks and of the query.
    pub(crate) async fn compile_over_locked(
        &mut self,
        work: &mut Work,
        source: &Source,
        compiled: &Compiled,
        params: &[Datum],
    ) -> EngineResult<Arc<Compiled>> {
        let types: Vec<Option<DataType>> = compiled.parameters.iter().copied().map(Some).collect();
        let mut statement = source.statement.clone();
        while let Some(subquery) = LockingSubquery::first(&statement) {
            let (columns, rows) = self.lock_subquery(work, &subquery.select(), &types, params).await?;
            let constants = rows.iter().map(|row| constants_of(&columns, row)).collect::<EngineResult<Vec<_>>>()?;
            let query = query_of(&columns, &rows)?;
            match subquery.replaced(&statement, &constants, &query) {
                Some(replaced) => statement = replaced,
                None => return Err(QueryError::SubqueryRows.into()),
            }
        }
        // The statement reads a snapshot taken after the rows were locked.
        work.txn.end_statement()?;
        let (text, written) = (Arc::from(""), source.written.clone());
        let source = Source { text, written, statement, types, hints: source.hints.clone() };
        Ok(Arc::new(self.compile_once(&Arc::new(source)).await?))
    }

    async fn lock_subquery(
        &mut self,
        work: &mut Work,
        select: &LockingSelect,
        types: &[Option<DataType>],
        params: &[Datum],
    ) -> EngineResult<(Arc<Vec<ColumnDesc>>, Vec<Row>)> {
        let program = self.lockable(work, select, types).await?;
        let needed = program.needs_context();
        let context = match needed {
            true => Some(self.query_context(work.view(self.engine.store().as_ref(), self.last_commit).await?)),
            false => None,
        };
        let scope = Scope { params, context, env: Some(self.row_environment()), guard: self.running() };
        let rows = Box::pin(self.lock_rows_of(work, &program, &scope)).await?;
        Ok((Arc::clone(&program.columns), rows))
    }

    /// Compiles the subquery and locks its tables against DDL.
    async fn lockable(
        &mut self,
        work: &mut Work,
        select: &LockingSelect,
        types: &[Option<DataType>],
    ) -> EngineResult<LockProgram> {
        let guard = self.running();
        loop {
            let catalog = self.engine.catalog().current();
            let statement = Statement::LockingSelect(Box::new(select.clone()));
            let text = Arc::from("");
            let written = self.written.clone();
            let source = Source { text, written, statement, types: types.to_vec(), hints: Vec::new() };
            if let Err(error) = self.bound(&catalog, &source) {
                return Err(of_outer_columns(&error, &source));
            }
            let program = match self.compile_write(&catalog, &source).await?.1 {
                WriteProgram::Lock(program) => *program,
                _ => return fail(Fault::Internal { detail: "a locking clause without locks".to_string() }),
            };
            for target in program.targets() {
                let lock = work.txn.locks().lock_table(target.storage, LockMode::Shared, work.wait);
                guard.stoppable(async { Ok(lock.await.map(drop)?) }).await?;
            }
            if catalog.version() == self.engine.catalog().version() {
                return Ok(program);
            }
        }
    }
}

/// Reports a name that the subquery alone cannot resolve as 0A000: the whole statement was compiled, so the name
/// belongs to an outer query.
fn of_outer_columns(error: &BindError, source: &Source) -> EngineError {
    use BindErrorKind::{InvalidFromReference, MissingFrom, UndefinedColumn, UndefinedTable};
    match error.kind.as_ref() {
        UndefinedColumn { .. } | UndefinedTable { .. } | MissingFrom { .. } | InvalidFromReference { .. } => {
            let feature = "a locking clause in a subquery that reads columns or WITH queries of what is around it";
            Fault::Unsupported { feature: feature.to_string() }.into()
        }
        // Includes an unknown table in OF, which has to be in the subquery's own FROM.
        _ => EngineError::of_bind(error, &source.written),
    }
}

fn constant(column: &ColumnDesc, value: &Datum) -> String {
    crate::ddl::constant_of(&column.ty, value)
}

fn constants_of(columns: &[ColumnDesc], row: &Row) -> EngineResult<Vec<Expr>> {
    columns.iter().zip(row).map(|(column, value)| Ok(sql::parse_expr(&constant(column, value))?)).collect()
}

/// `SELECT * FROM (VALUES (…), (…)) AS locked (a, b)`.
fn query_of(columns: &[ColumnDesc], rows: &[Row]) -> EngineResult<Query> {
    let text = match rows {
        [] => {
            let nulls =
                columns.iter().map(|column| format!("{} AS {}", constant(column, &Datum::Null), quote(&column.name)));
            format!("SELECT {} WHERE FALSE", nulls.collect::<Vec<_>>().join(", "))
        }
        rows => {
            let row = |row: &Row| {
                let values = columns.iter().zip(row).map(|(column, value)| constant(column, value));
                format!("({})", values.collect::<Vec<_>>().join(", "))
            };
            let names: Vec<_> = columns.iter().map(|column| quote(&column.name)).collect();
            let rows = rows.iter().map(row).collect::<Vec<_>>().join(", ");
            format!("SELECT * FROM (VALUES {rows}) AS locked ({})", names.join(", "))
        }
    };
    match sql::parse_query(&text) {
        Ok(query) => Ok(*query),
        Err(error) => fail(Fault::Internal { detail: format!("rows as a query: {error}") }),
    }
}
