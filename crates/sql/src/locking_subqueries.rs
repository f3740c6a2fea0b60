//! Subqueries with a locking clause, such as that of `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs LIMIT 9 FOR UPDATE)`.
//!
//! They stay in a statement's tree as sqlparser parses them. The caller executes them one by one, the innermost first,
//! and replaces each by its rows.

use crate::Statement;
use crate::parser::read_row_lock;
use crate::statement::{LockingSelect, walk};
use sqlparser::ast::{Expr, Query, Value, Visit, Visitor, VisitorMut};
use std::ops::ControlFlow;

/// Has the statement such a subquery?
#[must_use]
pub fn has_locking_subquery(statement: &Statement) -> bool {
    walk::shared::statement(statement, &mut Any).is_break()
}

/// Has the query, or a subquery in it, a locking clause?
pub(crate) fn locks_rows(query: &Query) -> bool {
    query.visit(&mut Any).is_break()
}

struct Any;

impl Visitor for Any {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if query.locks.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Returns the statement without the locking clauses of its subqueries: its result columns and the types of its
/// parameters do not depend on them.
#[must_use]
pub fn without_subquery_locks(statement: &Statement) -> Statement {
    let mut plain = statement.clone();
    let _ = walk::mutable::statement(&mut plain, &mut Strip);
    plain
}

struct Strip;

impl VisitorMut for Strip {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        query.locks.clear();
        ControlFlow::Continue(())
    }
}

/// A subquery of a statement with a locking clause, and without another one inside it.
#[derive(Clone, Debug)]
pub struct LockingSubquery {
    found: Query,
}

impl LockingSubquery {
    /// Returns the first such subquery of the statement.
    #[must_use]
    pub fn first(statement: &Statement) -> Option<Self> {
        match walk::shared::statement(statement, &mut First) {
            ControlFlow::Break(found) => Some(Self { found }),
            ControlFlow::Continue(()) => None,
        }
    }

    /// Returns the subquery as a statement of its own.
    #[must_use]
    pub fn select(&self) -> LockingSelect {
        let mut query = Box::new(self.found.clone());
        let locks = std::mem::take(&mut query.locks);
        let locks = locks.iter().filter_map(|clause| read_row_lock(clause).ok()).collect();
        LockingSelect { query, locks }
    }

    /// Returns the statement with these rows in place of the subquery; `None` if a scalar subquery has more than one
    /// row.
    ///
    /// `rows` are constants, as many in each as the subquery has columns, and `constant` is a query that returns
    /// exactly these rows.
    #[must_use]
    pub fn replaced(&self, statement: &Statement, rows: &[Vec<Expr>], constant: &Query) -> Option<Statement> {
        let mut statement = statement.clone();
        let mut replace = Replace { found: &self.found, rows, constant };
        match walk::mutable::statement(&mut statement, &mut replace) {
            ControlFlow::Break(Done::TooManyRows) => None,
            _ => Some(statement),
        }
    }
}

struct First;

impl Visitor for First {
    type Break = Query;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Query> {
        let mut alone = query.clone();
        alone.locks.clear();
        if query.locks.is_empty() || locks_rows(&alone) {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(query.clone())
    }
}

struct Replace<'a> {
    found: &'a Query,
    rows: &'a [Vec<Expr>],
    constant: &'a Query,
}

enum Done {
    Replaced,
    TooManyRows,
}

impl VisitorMut for Replace<'_> {
    type Break = Done;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Done> {
        let one_column = self.rows.iter().all(|row| row.len() == 1);
        let values = || self.rows.iter().flatten().cloned();
        match expr {
            Expr::Subquery(query) if **query == *self.found && !self.rows.is_empty() && one_column => {
                let Some(value) = values().next().filter(|_| self.rows.len() == 1) else {
                    return ControlFlow::Break(Done::TooManyRows);
                };
                *expr = value;
            }
            // Keys of an IN list are read by point lookups.
            Expr::InSubquery { expr: of, subquery, negated } if **subquery == *self.found && one_column => {
                *expr = match self.rows.is_empty() {
                    true => Expr::value(Value::Boolean(*negated)),
                    false => Expr::InList { expr: of.clone(), list: values().collect(), negated: *negated },
                };
            }
            _ => return ControlFlow::Continue(()),
        }
        ControlFlow::Break(Done::Replaced)
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Done> {
        if query != self.found {
            return ControlFlow::Continue(());
        }
        *query = self.constant.clone();
        ControlFlow::Break(Done::Replaced)
    }
}
