//! The statement whose plan EXPLAIN shows.

use crate::block::cursor::declared;
use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use sql::{Explain, Statement};
use std::sync::Arc;

/// The planned statement within the statement that EXPLAIN names.
///
/// # Errors
/// 0A000 for EXPLAIN ANALYZE of CREATE and DECLARE; internal for EXECUTE, whose statement is known to the session alone.
pub(crate) fn explained(explain: &Explain, whole: &Source) -> EngineResult<Arc<Source>> {
    let statement = explain.statement.as_ref();
    let query = match statement {
        Statement::CreateTable(create) => create.as_query.as_ref().map(|as_query| &as_query.query),
        Statement::CreateMaterializedView(create) => Some(&create.query),
        Statement::DeclareCursor(declare) if !explain.analyze => return Ok(declared(declare, whole)),
        _ => None,
    };
    match query {
        Some(query) if !explain.analyze => explained_of(&Statement::Query(query.clone()), whole),
        _ => explained_of(statement, whole),
    }
}

/// A statement that has a plan, as EXPLAIN compiles it: its plan is not cached.
///
/// # Errors
/// 0A000 for a statement without a plan.
pub(crate) fn explained_of(statement: &Statement, whole: &Source) -> EngineResult<Arc<Source>> {
    let text = match statement {
        Statement::Query(_) => Arc::clone(&whole.text),
        // EXPLAIN ANALYZE runs it, and the plan cache takes no statement without a text.
        Statement::LockingSelect(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
            Arc::from("")
        }
        Statement::CreateTable(_) => return unsupported("CREATE TABLE AS"),
        Statement::CreateMaterializedView(_) => return unsupported("CREATE MATERIALIZED VIEW"),
        Statement::DeclareCursor(_) => return unsupported("DECLARE CURSOR"),
        _ => return fail(Fault::Internal { detail: "EXPLAIN of a statement without a plan".to_string() }),
    };
    let (written, statement) = (whole.written.clone(), statement.clone());
    Ok(Arc::new(Source { text, written, statement, types: whole.types.clone(), hints: Vec::new() }))
}

fn unsupported(what: &str) -> EngineResult<Arc<Source>> {
    fail(Fault::Unsupported { feature: format!("EXPLAIN ANALYZE of {what}") })
}

/// Whether a statement keeps the rows of its query.
pub(crate) fn creates(statement: &Statement) -> bool {
    matches!(statement, Statement::CreateTable(_) | Statement::CreateMaterializedView(_))
}
