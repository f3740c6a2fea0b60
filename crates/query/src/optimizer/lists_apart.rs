//! Keeps DataFusion from merging IN lists of one value.
//!
//! DataFusion (55.2, `inlist_intersection` and `inlist_except`) merges `a IN (…) AND a [NOT] IN (…)` and `a NOT IN (…)
//! OR a NOT IN (…)` into one list, comparing the items as expressions: `$1` and `$3` differ whatever their values are,
//! and if no item remains, the result is false where a NULL `a` must give NULL. It also treats `a = 1 OR a = 2 OR …` as
//! a list. All lists but the first are wrapped in a no-op label, which hides them from the rule.

use crate::functions::labelled;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use types::DataType;

/// Runs before the rule that merges lists.
#[derive(Debug)]
pub(super) struct SeparateInLists;

impl OptimizerRule for SeparateInLists {
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

/// May there be two lists? Two equality comparisons can form a list.
fn has_several_lists(plan: &LogicalPlan) -> Result<bool> {
    let mut items = 0;
    plan.apply_expressions(|expr| {
        expr.apply(|part| {
            items += match part {
                Expr::InList(_) => 2,
                Expr::BinaryExpr(BinaryExpr { op: Operator::Eq | Operator::NotEq, .. }) => 1,
                _ => 0,
            };
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if items > 3 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(items > 3)
}

/// The tested value of an IN list, or of a NOT IN list if `negated`.
#[derive(Clone, Copy, PartialEq)]
struct Listed<'e> {
    value: &'e Expr,
    negated: bool,
}

impl<'e> Listed<'e> {
    /// The list that DataFusion sees in the expression.
    fn of(expr: &'e Expr) -> Option<Self> {
        match expr {
            Expr::InList(list) => Some(Self { value: &list.expr, negated: list.negated }),
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Or | Operator::And), right }) => {
                let negated = *op == Operator::And;
                let item = |side: &'e Expr| Self::of(side).or_else(|| Self::of_one(side));
                let (left, right) = (item(left)?, item(right)?);
                (left == right && left.negated == negated).then_some(left)
            }
            _ => None,
        }
    }

    fn of_one(expr: &'e Expr) -> Option<Self> {
        let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Eq | Operator::NotEq), right }) = expr else {
            return None;
        };
        let negated = *op == Operator::NotEq;
        match (left.as_ref(), right.as_ref()) {
            (Expr::Literal(..), value) | (value, Expr::Literal(..)) => Some(Self { value, negated }),
            _ => None,
        }
    }

    /// Would DataFusion drop items if these two lists are joined by `op`?
    fn loses_items(self, op: Operator, other: Self) -> bool {
        let combined = match op {
            Operator::And => !(self.negated && other.negated),
            _ => self.negated && other.negated,
        };
        combined && self.value == other.value
    }
}

fn apart(expr: Expr) -> Transformed<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) = expr else {
        return Transformed::no(expr);
    };
    let mut before = Vec::new();
    lists(&left, op, &mut before);
    let meets = |list: Listed<'_>| before.iter().any(|other| other.loses_items(op, list));
    let mut behind = Vec::new();
    if !before.is_empty() {
        lists(&right, op, &mut behind);
    }
    if !behind.into_iter().any(meets) {
        return Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }));
    }
    let right = Box::new(hidden(*right, op, &meets));
    Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right }))
}

/// Collects the lists among the operands of a chain of one operator.
fn lists<'e>(expr: &'e Expr, of: Operator, found: &mut Vec<Listed<'e>>) {
    match (Listed::of(expr), expr) {
        (Some(list), _) => found.push(list),
        (None, Expr::BinaryExpr(BinaryExpr { left, op, right })) if *op == of => {
            lists(left, of, found);
            lists(right, of, found);
        }
        _ => {}
    }
}

fn hidden(expr: Expr, of: Operator, meets: &dyn Fn(Listed<'_>) -> bool) -> Expr {
    match (Listed::of(&expr).is_some_and(meets), expr) {
        (true, list) => labelled(list, DataType::Boolean),
        (false, Expr::BinaryExpr(BinaryExpr { left, op, right })) if op == of => {
            let (left, right) = (hidden(*left, of, meets), hidden(*right, of, meets));
            Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
        }
        (false, other) => other,
    }
}
