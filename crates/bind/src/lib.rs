//! Semantic analysis: resolves every name, type, function and operator of a statement, once.
//!
//! ```text
//!   sql::Statement ──bind──> Bound (tree) ──> rows    short statements, row by row
//!                                         └─> query   lowered to DataFusion
//! ```
//!
//! - `scope` holds the names in scope, `from` fills it, `scalar` binds expressions over it.
//! - `select` binds a SELECT: grouping, output list, ORDER BY; `query` binds WITH, set operations and LIMIT around it.
//! - `coerce` types literals and parameters and adds casts to the tree.
//!
//! Invariants: the stages after binding do not rewrite syntax or look up names again. A feature that Bennu does not
//! have is reported by its name as [`BindErrorKind::Unsupported`] (0A000).
//!
//! Read next: `tree`.

mod asked_rules;
mod binder;
mod call_error;
mod catalog_relations;
mod catalog_rows;
mod catalog_types;
mod clause;
mod coerce;
mod deparse;
mod error;
mod fixed_constants;
mod from;
mod from_function;
mod join;
mod name;
mod over_rows;
mod over_table;
mod position;
mod query;
mod recursion_error;
mod recursive;
mod relation_names;
mod relations;
mod row_locks;
mod same;
mod same_rows;
mod scalar;
mod scope;
mod select;
mod set_operation;
mod shared_rows;
mod sqlstate;
mod stored_text;
pub mod tree;
mod values;
mod write;

pub use call_error::{AggregateError, SetError, WindowError};
pub use clause::Clause;
pub use deparse::deparse;
pub use error::{BindError, BindErrorKind};
pub use fixed_constants::{SessionConstants, fix_constants};
pub use over_rows::{AssignedTo, NamedRow, OverRows, RowExpressions, bind_over_rows, session_constants_over_rows};
pub use over_table::{
    NoRelations, TableExpression, bind_stored_expression, bind_table_expression, depends_on_session, is_same,
    volatility,
};
pub use recursion_error::RecursionError;
pub use relation_names::{NamedRelation, change_references, relation_names};
pub use relations::{ComputedColumn, ComputedRelation, Environment, Found, OwnFunction, Relations};

use builtins::Ty;
use tree::Bound;

/// Binds a statement. `declared` has the types that the client declares for `$1`, `$2`, ….
///
/// # Errors
/// PostgreSQL's error for an invalid statement; 0A000 for features that are not supported.
pub fn bind(
    statement: &sql::Statement,
    relations: &dyn Relations,
    env: &Environment<'_>,
    declared: &[Option<Ty>],
) -> Result<Bound, BindError> {
    let mut binder = binder::Binder::new(relations, env, declared);
    let body = binder.statement(statement)?;
    binder.finish(body)
}

/// Returns the constants of a statement without parameters that depend on the session.
///
/// # Errors
/// As [`bind`].
pub fn session_constants(
    statement: &sql::Statement,
    relations: &dyn Relations,
    env: &Environment<'_>,
) -> Result<SessionConstants, BindError> {
    let mut binder = binder::Binder::new(relations, env, &[]);
    binder.constants = Some(SessionConstants::default());
    binder.statement(statement)?;
    Ok(binder.constants.unwrap_or_default())
}

impl binder::Binder<'_> {
    fn statement(&mut self, statement: &sql::Statement) -> error::BindResult<tree::Body> {
        Ok(match statement {
            sql::Statement::Query(query) => self.statement_query(query)?,
            sql::Statement::Insert(insert) => self.statement_insert(insert)?,
            sql::Statement::Update(update) => self.statement_update(update)?,
            sql::Statement::Delete(delete) => self.statement_delete(delete)?,
            sql::Statement::LockingSelect(select) => self.statement_locking(select)?,
            _ => return Err(self.internal("a statement that neither reads nor writes rows")),
        })
    }
}
