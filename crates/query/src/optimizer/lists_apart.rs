//! Two lists for one value stay two.
//!
//! DataFusion (55.2, `inlist_intersection` and `inlist_except`) makes one list of `a IN (…) AND a [NOT] IN (…)` and of
//! `a NOT IN (…) OR a NOT IN (…)`, comparing the items as expressions: `$1` and `$3` differ for it whatever their values are,
//! and where no item is left, it says false and not NULL of an `a` that is NULL. The value of the second list gets a function
//! around it that changes nothing, so that it is another one.

use crate::functions::nullable;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Comes before the rule that makes one of them.
#[derive(Debug)]
pub(super) struct ListsApart;

impl OptimizerRule for ListsApart {
    fn name(&self) -> &str {
        "lists_apart"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !has_several_lists(&plan)? {
            return Ok(Transformed::no(plan));
        }
        plan.map_expressions(|expr| expr.transform_up(|part| Ok(apart(part))))
    }
}

fn has_several_lists(plan: &LogicalPlan) -> Result<bool> {
    let mut lists = 0;
    plan.apply_expressions(|expr| {
        expr.apply(|part| {
            lists += usize::from(matches!(part, Expr::InList(_)));
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if lists > 1 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(lists > 1)
}

/// Would DataFusion leave out items of these lists?
fn loses_items(op: Operator, left: &InList, right: &InList) -> bool {
    let combined = match op {
        Operator::And => !(left.negated && right.negated),
        _ => left.negated && right.negated,
    };
    combined && left.expr == right.expr
}

fn apart(expr: Expr) -> Transformed<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) = expr else {
        return Transformed::no(expr);
    };
    let before = operands(&left, op);
    let meets = |list: &InList| before.iter().any(|other| loses_items(op, other, list));
    if !operands(&right, op).into_iter().any(meets) {
        return Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }));
    }
    let right = Box::new(hidden(*right, op, &meets));
    Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
}

/// The lists among the operands of a chain of one operator.
fn operands(expr: &Expr, of: Operator) -> Vec<&InList> {
    match expr {
        Expr::InList(list) => vec![list],
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if *op == of => {
            let mut all = operands(left, of);
            all.extend(operands(right, of));
            all
        }
        _ => Vec::new(),
    }
}

fn hidden(expr: Expr, of: Operator, meets: &dyn Fn(&InList) -> bool) -> Expr {
    match expr {
        Expr::InList(list) if meets(&list) => {
            let InList { expr, list, negated } = list;
            Expr::InList(InList::new(Box::new(nullable(*expr)), list, negated))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op == of => {
            let (left, right) = (hidden(*left, of, meets), hidden(*right, of, meets));
            Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
        }
        other => other,
    }
}
