//! INSERT, UPSERT, UPDATE, DELETE.

use super::{ColumnName, ObjectName, Overriding};
use crate::ast;

/// INSERT or UPSERT.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// WITH before the statement.
    pub with: Option<ast::With>,
    /// The target.
    pub table: ObjectName,
    /// `INSERT INTO t AS a`.
    pub alias: Option<String>,
    /// The named columns; `None` means the first columns of the table, as many as there are values.
    pub columns: Option<Vec<ColumnName>>,
    /// OVERRIDING … VALUE.
    pub overriding: Option<Overriding>,
    /// The source of the rows.
    pub source: InsertSource,
    /// Phoenix's UPSERT: a row with the key is overwritten, and columns that are not named keep their values.
    pub upsert: bool,
    /// ON CONFLICT (INSERT only).
    pub on_conflict: Option<Conflict>,
    /// ON DUPLICATE KEY (UPSERT and INSERT).
    pub on_duplicate: Option<OnDuplicate>,
    /// RETURNING; empty means none.
    pub returning: Vec<ast::SelectItem>,
}

/// The source of inserted rows.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// VALUES rows, all of one length.
    Values(Vec<Vec<InsertValue>>),
    /// Any other query.
    Query(Box<ast::Query>),
    /// DEFAULT VALUES: one row.
    DefaultValues,
}

/// One value of a VALUES row, or the right side of an assignment.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all values are expressions, and a box for each would cost more")]
pub enum InsertValue {
    /// The column's default.
    Default,
    /// An expression.
    Expr(ast::Expr),
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The arbiter; `None` means any unique constraint (DO NOTHING only).
    pub target: Option<ConflictTarget>,
    /// The action.
    pub action: ConflictAction,
}

/// The conflict target of ON CONFLICT.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one per statement")]
pub enum ConflictTarget {
    /// Columns, in any order.
    Columns {
        /// Their names.
        names: Vec<String>,
        /// Expressions of an index on expressions.
        exprs: Vec<ast::Expr>,
        /// WHERE: the predicate of a partial index. A full index fits any predicate.
        predicate: Option<ast::Expr>,
    },
    /// ON CONSTRAINT.
    Constraint(String),
}

/// The action for an existing row.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one per statement")]
pub enum ConflictAction {
    /// The existing row stays, the new one is dropped.
    DoNothing,
    /// The existing row is updated; `excluded` is the proposed row.
    DoUpdate {
        /// SET.
        assignments: Vec<Assignment>,
        /// WHERE: rows that fail it are not updated.
        selection: Option<ast::Expr>,
    },
}

/// Phoenix ON DUPLICATE KEY.
#[derive(Clone, Debug, PartialEq)]
pub enum OnDuplicate {
    /// The existing row stays.
    Ignore,
    /// The existing row is updated; all right sides read the old row.
    Update(Vec<Assignment>),
}

/// One assignment of SET.
#[derive(Clone, Debug, PartialEq)]
pub enum Assignment {
    /// `a = value`.
    One {
        /// The target.
        column: ColumnName,
        /// Its new value.
        value: InsertValue,
    },
    /// `a[1][2] = value`.
    Element {
        /// The target.
        column: ColumnName,
        /// The subscripts, one for each dimension.
        places: Vec<ast::Expr>,
        /// The element's new value.
        value: InsertValue,
    },
    /// `(a, b) = (x, y)` or `ROW (x, y)`: as many values as columns.
    Row {
        /// The targets.
        columns: Vec<ColumnName>,
        /// Their new values.
        values: Vec<InsertValue>,
    },
    /// `(a, b) = (SELECT x, y …)`: at most one row; without a row, NULLs are assigned.
    Subquery {
        /// The targets.
        columns: Vec<ColumnName>,
        /// The query.
        query: Box<ast::Query>,
    },
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// WITH.
    pub with: Option<ast::With>,
    /// The target.
    pub table: ObjectName,
    /// Its alias.
    pub alias: Option<String>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// FROM, joined to the target.
    pub from: Vec<ast::TableWithJoins>,
    /// WHERE.
    pub selection: Option<ast::Expr>,
    /// WHERE CURRENT OF this cursor; the selection is FALSE then.
    pub current_of: Option<String>,
    /// RETURNING; empty means none.
    pub returning: Vec<ast::SelectItem>,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// WITH.
    pub with: Option<ast::With>,
    /// The target.
    pub table: ObjectName,
    /// Its alias.
    pub alias: Option<String>,
    /// USING, joined to the target.
    pub using: Vec<ast::TableWithJoins>,
    /// WHERE.
    pub selection: Option<ast::Expr>,
    /// WHERE CURRENT OF this cursor; the selection is FALSE then.
    pub current_of: Option<String>,
    /// ORDER BY: the order in which LIMIT counts rows (not in PostgreSQL).
    pub order_by: Vec<ast::OrderByExpr>,
    /// LIMIT (not in PostgreSQL).
    pub limit: Option<ast::Expr>,
    /// RETURNING; empty means none.
    pub returning: Vec<ast::SelectItem>,
}
