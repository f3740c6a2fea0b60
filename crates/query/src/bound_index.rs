//! Expressions and predicates of indexes in the form that filters of scans have, so that these can be compared with them.
//!
//! ```text
//!   text ──SELECT text FROM the rows, planned and optimised──> expression     once for each version of a table
//!   filter: lower(c) = 'x'  ──over_entries──> entry column = 'x'  ──> key ranges of the index
//!   filters ──left_of──> those that the predicate does not imply; None: they do not imply the predicate
//! ```

use crate::convert::expr_to_clause::clause;
use catalog::{Index, Table};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::Expr;
use index::{Clause, implies};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What of one index is computed; nothing of most.
#[derive(Debug, Default)]
pub(crate) struct BoundIndex {
    /// Expressions, and the names of their columns in the entries.
    parts: Vec<(Expr, String)>,
    /// The predicate.
    predicate: Option<(Vec<Expr>, Clause<Expr>)>,
}

/// Those of a table, by the oids of its indexes.
#[derive(Debug, Default)]
pub(crate) struct BoundIndexes(pub(crate) BTreeMap<u32, Arc<BoundIndex>>);

impl BoundIndex {
    /// `parts`: each with the id of its column in the entries. `predicate`: all of these.
    pub(crate) fn new(parts: Vec<(Expr, String)>, predicate: Option<Vec<Expr>>) -> Self {
        let parts = parts.into_iter().map(|(expr, name)| (bare(expr), name)).collect();
        let predicate = predicate.map(|all| {
            let all: Vec<Expr> = all.into_iter().map(bare).collect();
            let clause = Clause::And(all.iter().map(clause).collect());
            (all, clause)
        });
        Self { parts, predicate }
    }

    /// What is computed for an index; `None`: it could not be planned, and the index cannot be read.
    pub(crate) fn of(table: &Table, index: &Index) -> Option<Arc<Self>> {
        if index.texts().next().is_none() {
            return Some(Arc::default());
        }
        table.derived.get::<BoundIndexes>()?.0.get(&index.oid).cloned()
    }

    /// The filter with the columns of entries in place of expressions.
    pub(crate) fn over_entries(&self, filter: &Expr) -> Expr {
        if self.parts.is_empty() {
            return filter.clone();
        }
        let replaced = bare(filter.clone()).transform_down(|part| {
            let found = self.parts.iter().find(|(expr, _)| *expr == part);
            Ok(match found {
                Some((_, name)) => Transformed::yes(Expr::Column(Column::new_unqualified(name.clone()))),
                None => Transformed::no(part),
            })
        });
        replaced.data().unwrap_or_else(|_| filter.clone())
    }

    /// The expression of a column of the entries.
    pub(crate) fn expr_of(&self, entry: &str) -> Option<&Expr> {
        self.parts.iter().find(|(_, name)| name == entry).map(|(expr, _)| expr)
    }

    /// Does a filter name columns of the predicate?
    pub(crate) fn speaks_of(&self, filter: &Expr) -> bool {
        let Some((all, _)) = &self.predicate else { return false };
        let named = filter.column_refs();
        let names = |expr: &Expr| expr.column_refs().iter().any(|own| named.iter().any(|it| it.name == own.name));
        all.iter().any(names)
    }

    /// See `TableIndex::left_of`.
    pub(crate) fn left_of(&self, filters: &[Expr]) -> Option<Vec<Expr>> {
        let Some((_, predicate)) = &self.predicate else { return Some(filters.to_vec()) };
        let given: Vec<Clause<Expr>> = filters.iter().map(|filter| clause(&bare(filter.clone()))).collect();
        if !implies(&given, predicate) {
            return None;
        }
        let said = std::slice::from_ref(predicate);
        let left = filters.iter().zip(&given).filter(|(_, given)| !implies(said, given));
        Some(left.map(|(filter, _)| filter.clone()).collect())
    }
}

/// The expression with columns that stand without their table.
pub(crate) fn bare(expr: Expr) -> Expr {
    let original = expr.clone();
    let bare = expr.transform_up(|part| {
        Ok(match part {
            Expr::Column(column) if column.relation.is_some() => {
                Transformed::yes(Expr::Column(Column::new_unqualified(column.name)))
            }
            Expr::Alias(alias) => Transformed::yes(*alias.expr),
            part => Transformed::no(part),
        })
    });
    bare.data().unwrap_or(original)
}
