//! Expressions and predicates of indexes in the form of scan filters, so that both can be compared.
//!
//! ```text
//!   text ──SELECT text FROM the rows, planned and optimized──> expression     once per version of a table
//!   filter: lower(c) = 'x'  ──over_entries──> entry column = 'x'  ──> key ranges of the index
//!   filters ──left_of──> those that the predicate does not imply; None: the filters do not imply the predicate
//! ```

use crate::convert::expr_to_clause::clause;
use catalog::{Index, Table};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::Expr;
use index::{Clause, implies};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The expressions and the predicate of an index; empty for most indexes.
#[derive(Debug, Default)]
pub(crate) struct BoundIndex {
    /// The expressions, and the names of their columns in the entries.
    parts: Vec<(Expr, String)>,
    /// The conjuncts of the predicate, and their conjunction as a clause.
    predicate: Option<(Vec<Expr>, Clause<Expr>)>,
}

/// The bound indexes of a table, by index OID.
#[derive(Debug, Default)]
pub(crate) struct BoundIndexes(pub(crate) BTreeMap<u32, Arc<BoundIndex>>);

impl BoundIndex {
    /// `parts` are the expressions, each with the name of its column in the entries; `predicate` are the conjuncts of
    /// the predicate.
    pub(crate) fn new(parts: Vec<(Expr, String)>, predicate: Option<Vec<Expr>>) -> Self {
        let parts = parts.into_iter().map(|(expr, name)| (bare(expr), name)).collect();
        let predicate = predicate.map(|all| {
            let all: Vec<Expr> = all.into_iter().map(bare).collect();
            let clause = Clause::And(all.iter().map(clause).collect());
            (all, clause)
        });
        Self { parts, predicate }
    }

    /// The expressions and predicate of an index; `None` if they could not be planned, so that the index cannot be
    /// used.
    pub(crate) fn of(table: &Table, index: &Index) -> Option<Arc<Self>> {
        if index.texts().next().is_none() {
            return Some(Arc::default());
        }
        table.derived.get::<BoundIndexes>()?.0.get(&index.oid).cloned()
    }

    /// The filter with index expressions replaced by columns of the entries.
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

    /// Does a filter reference columns of the predicate?
    pub(crate) fn shares_predicate_columns(&self, filter: &Expr) -> bool {
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

/// The expression without qualifiers and aliases.
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
