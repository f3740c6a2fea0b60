//! `IN` of several values.

use super::Lowering;
use super::budget::copy;
use super::error::LowerResult;
use super::row_compare::join;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

impl Lowering<'_> {
    /// `value [NOT] IN (items)`. Lists are looked up by bits.
    ///
    /// # Errors
    /// 54001 when the statement's budget is spent.
    pub(super) fn in_list(&self, value: Expr, items: Vec<Expr>, negated: bool, schema: &DFSchema) -> LowerResult<Expr> {
        let op = if negated { Operator::NotEq } else { Operator::Eq };
        let mut pairs = Vec::with_capacity(items.len());
        for mut item in items {
            let mut left = copy(&value)?;
            self.comparable_bits((&mut left, schema), (&mut item, schema));
            pairs.push((left, item));
        }
        join(if negated { Operator::And } else { Operator::Or }, listed(pairs, op, negated))
    }
}

/// Items that each want the value in the same type stay a list; of those that are computed DataFusion would take
/// some for constants, so each is compared by itself.
fn listed(pairs: Vec<(Expr, Expr)>, op: Operator, negated: bool) -> Vec<Expr> {
    let mut lists: Vec<(Expr, Vec<Expr>)> = Vec::new();
    let mut compared = Vec::new();
    for (left, item) in pairs {
        if !is_plain(&item) {
            compared.push(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(item))));
            continue;
        }
        match lists.iter_mut().find(|(known, _)| *known == left) {
            Some((_, items)) => items.push(item),
            None => lists.push((left, vec![item])),
        }
    }
    let lists = lists.into_iter().map(|(left, items)| Expr::InList(InList::new(Box::new(left), items, negated)));
    lists.chain(compared).collect()
}

/// A column or what no row changes. Not a subquery: of a list that has nothing else DataFusion makes `IN (SELECT …)`,
/// for which no row is not NULL.
fn is_plain(item: &Expr) -> bool {
    match item {
        Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_) => true,
        Expr::OuterReferenceColumn(..) => true,
        other => {
            !other.any_column_refs()
                && !other
                    .exists(|part| {
                        Ok(matches!(part, Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_) | Expr::Case(_)))
                    })
                    .unwrap_or(true)
        }
    }
}
