//! A session: one client, its settings, prepared statements and transaction block.

use crate::error::{EngineResult, Fault, fail};
use crate::{Answer, ColumnDesc, Engine, EngineError, Notice};
use std::sync::Arc;
use types::{DataType, Datum};

/// Where a session stands between statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// In no transaction block.
    Idle,
    /// In a transaction block.
    InTransaction,
    /// In a transaction block that failed: only ROLLBACK helps.
    Failed,
}

/// One parsed statement of a simple query.
#[derive(Clone, Debug)]
pub struct Script {}

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Types of `$1`, `$2`, ….
    pub parameters: Vec<DataType>,
    /// Its columns; `None` answers no rows.
    pub columns: Option<Arc<Vec<ColumnDesc>>>,
    /// Was the text empty?
    pub is_empty: bool,
}

/// A session. One task uses it at a time.
pub struct Session {
    #[allow(dead_code)]
    engine: Arc<Engine>,
}

impl Session {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// What a cancel request names.
    pub fn process_id(&self) -> i32 {
        1
    }

    /// What a cancel request proves itself with.
    pub fn secret(&self) -> i32 {
        0
    }

    /// Where the session stands.
    pub fn status(&self) -> TransactionStatus {
        TransactionStatus::Idle
    }

    /// Notices since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    /// Reported settings that changed since the last call.
    pub fn take_changed_parameters(&mut self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// All reported settings, for the start of a connection.
    pub fn reported_parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The statements of a simple query in order. The whole text must parse before any of it runs.
    ///
    /// # Errors
    /// 42601 and what else the parser refuses.
    pub fn parse(&self, text: &str) -> Result<Vec<Script>, EngineError> {
        let _ = text;
        not_built()
    }

    /// Runs one statement of a simple query.
    ///
    /// # Errors
    /// The statement's. The session goes on.
    pub async fn run(&mut self, statement: &Script) -> Result<Answer, EngineError> {
        let _ = statement;
        not_built()
    }

    /// Begins a simple query of that many statements: several are one implicit transaction.
    pub async fn begin_batch(&mut self, statements: usize) {
        let _ = statements;
    }

    /// Ends it: commits if `ok`, else rolls back.
    ///
    /// # Errors
    /// The commit's.
    pub async fn end_batch(&mut self, ok: bool) -> Result<(), EngineError> {
        let _ = ok;
        Ok(())
    }

    /// Prepares one statement. Types that are not given are inferred.
    ///
    /// # Errors
    /// 42601 also for several statements.
    pub async fn prepare(&mut self, text: &str, types: &[Option<DataType>]) -> Result<Arc<Prepared>, EngineError> {
        let _ = (text, types);
        not_built()
    }

    /// Runs a prepared statement.
    ///
    /// # Errors
    /// The statement's. The session goes on.
    pub async fn execute(&mut self, prepared: &Arc<Prepared>, params: &[Datum]) -> Result<Answer, EngineError> {
        let _ = (prepared, params);
        not_built()
    }

    /// Ends a pipeline of the extended protocol.
    ///
    /// # Errors
    /// The commit's, if one was open.
    pub async fn sync(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Marks an open transaction block failed after an error that the front end met.
    pub fn fail(&mut self) {}
}

fn not_built<T>() -> EngineResult<T> {
    fail(Fault::Unsupported { feature: "this statement".to_string() })
}
