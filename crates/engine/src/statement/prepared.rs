//! Prepared statements: their parameters and columns are known before they run, and their compiled form is kept.

use super::Source;
use crate::block::cursor::declared;
use crate::error::EngineResult;
use crate::statement::explained::explained;
use crate::statement::plan_cache::Compiled;
use crate::statement::utility;
use crate::{ColumnDesc, Session};
use parking_lot::Mutex;
use sql::Statement;
use std::sync::Arc;
use types::DataType;

/// A prepared statement.
#[derive(Debug, Default)]
pub struct Prepared {
    /// Types of `$1`, `$2`, ….
    pub parameters: Vec<DataType>,
    /// Its result columns; `None` if it returns no rows.
    pub columns: Option<Arc<Vec<ColumnDesc>>>,
    /// Whether the text is empty.
    pub is_empty: bool,
    /// Whether it stands for statements of one shape: no client was sent its columns.
    pub(crate) is_of_shape: bool,
    pub(crate) source: Option<Arc<Source>>,
    /// Its last compiled form. Locked to read or replace it, never across an await.
    pub(crate) compiled: Mutex<Option<Arc<Compiled>>>,
}

impl Prepared {
    pub(crate) fn empty() -> Self {
        Self { is_empty: true, ..Self::default() }
    }
}

impl Session {
    /// The current result columns of a prepared statement. FETCH has the columns of its cursor, which may be declared
    /// after FETCH was prepared.
    pub fn columns_now(&self, prepared: &Prepared) -> Option<Arc<Vec<ColumnDesc>>> {
        match prepared.source.as_ref().map(|source| &source.statement) {
            Some(fetch @ Statement::Fetch(_)) => utility::columns(self, fetch),
            _ => prepared.columns.clone(),
        }
    }

    pub(crate) async fn prepare_source(&mut self, source: Arc<Source>) -> EngineResult<Arc<Prepared>> {
        if !ends_block(&source.statement) {
            self.check_block()?;
        }
        self.engine.catalog().follow().await?;
        self.register_indexes().await?;
        self.take_hints(&source.hints);
        if !is_planned(&source.statement) {
            let columns = utility::columns(self, &source.statement);
            return Ok(Arc::new(Prepared { columns, source: Some(source), ..Prepared::default() }));
        }
        if let Statement::DeclareCursor(declare) = &source.statement {
            let parameters = self.compile(&declared(declare, &source), None).await?.parameters.clone();
            return Ok(Arc::new(Prepared { parameters, source: Some(source), ..Prepared::default() }));
        }
        if let Statement::Explain(explain) = &source.statement {
            let columns = utility::columns(self, &source.statement);
            // The parameters of EXECUTE are its prepared statement's, which may be another one by then.
            if matches!(explain.statement.as_ref(), Statement::Execute { .. }) {
                return Ok(Arc::new(Prepared { columns, source: Some(source), ..Prepared::default() }));
            }
            let (catalog, explained) = (self.engine.catalog().current(), explained(explain, &source)?);
            let parameters = Box::pin(self.compile_for_explain(&catalog, &explained)).await?.parameters;
            return Ok(Arc::new(Prepared { parameters, columns, source: Some(source), ..Prepared::default() }));
        }
        let compiled = self.compile(&source, None).await?;
        Ok(Arc::new(Prepared {
            parameters: compiled.parameters.clone(),
            columns: compiled.columns.clone(),
            source: Some(source),
            compiled: Mutex::new(Some(compiled)),
            ..Prepared::default()
        }))
    }
}

/// Whether a failed block accepts the statement.
pub(super) fn ends_block(statement: &Statement) -> bool {
    matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. } | Statement::RollbackTo(_))
}

/// Whether the statement is compiled. All others run directly from their syntax tree.
fn is_planned(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::LockingSelect(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::DeclareCursor(_)
            | Statement::Explain(_)
    )
}
