//! Flattens nested COALESCE calls into one.
//!
//! DataFusion's rules rewrite `coalesce(a, b)` as `CASE WHEN a IS NOT NULL THEN a ELSE b END`, which repeats `a`.
//! Nested calls double with every level: the merged columns of a chain of FULL JOIN … USING would take exponential time
//! to plan (DataFusion 55.2: seconds for sixteen joins). A flat COALESCE grows linearly. Other nestings are limited in
//! size.

use crate::Refusal;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The largest number of copied nodes in one expression.
const MOST_COPIED: usize = 200_000;

/// Runs before the rules that copy operands.
#[derive(Debug)]
pub(super) struct FlattenCoalesce;

impl OptimizerRule for FlattenCoalesce {
    fn name(&self) -> &str {
        "flat_choices"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !makes_choices(&plan)? {
            return Ok(Transformed::no(plan));
        }
        plan.map_expressions(|expr| {
            let flat = expr.transform_up(|part| Ok(flat(part)))?;
            if grown(&flat.data)?.copied > MOST_COPIED {
                let message = "statement is too complex: choices are nested too deeply";
                return Err(Refusal::Complexity.because(message).into());
            }
            Ok(flat)
        })
    }
}

/// Most plans have none, and rewriting all expressions in each pass would be expensive.
fn makes_choices(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expr| {
        found = found || expr.exists(|part| Ok(choices(part) > 0))?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// The number of operands that are repeated in the CASE of a call: all but the last.
fn choices(expr: &Expr) -> usize {
    match expr {
        Expr::ScalarFunction(call) if matches!(call.func.name(), "coalesce" | "nvl" | "ifnull") => {
            call.args.len().saturating_sub(1)
        }
        _ => 0,
    }
}

fn is_coalesce(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.name() == "coalesce")
}

fn flat(expr: Expr) -> Transformed<Expr> {
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == "coalesce" && call.args.iter().any(is_coalesce) => {
            let items = call.args.into_iter().flat_map(|item| match item {
                Expr::ScalarFunction(inner) if inner.func.name() == "coalesce" => inner.args,
                item => vec![item],
            });
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func: call.func, args: items.collect() }))
        }
        expr => Transformed::no(expr),
    }
}

/// The size of an expression after DataFusion's rewrite to CASE.
#[derive(Clone, Copy, Default)]
struct Grown {
    nodes: usize,
    copied: usize,
}

fn grown(expr: &Expr) -> Result<Grown> {
    let copies = choices(expr);
    let mut all = Grown { nodes: 1, copied: 0 };
    let mut place = 0;
    expr.apply_children(|child| {
        let own = grown(child)?;
        let times = if place < copies { 2 } else { 1 };
        place += 1;
        all.nodes = all.nodes.saturating_add(own.nodes.saturating_mul(times));
        all.copied = all.copied.saturating_add(own.copied.saturating_mul(times));
        if times > 1 {
            all.copied = all.copied.saturating_add(own.nodes);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use datafusion::common::tree_node::TransformedResult;
    use datafusion::functions::core::coalesce;
    use datafusion::prelude::{col, lit};

    fn choice(items: Vec<Expr>) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(coalesce(), items))
    }

    #[test]
    fn nests_become_lists() {
        let nest = (0..40).fold(col("a"), |inner, n| choice(vec![inner, col(format!("c{n}"))]));
        let flat = nest.transform_up(|part| Ok(flat(part))).data().unwrap();
        let Expr::ScalarFunction(call) = &flat else { panic!("{flat}") };
        assert_eq!(call.args.len(), 41);
        assert!(grown(&flat).unwrap().copied < 100);
    }

    #[test]
    fn other_nests_are_counted_as_they_will_be() {
        let nest = |depth| (0..depth).fold(col("a"), |inner, n| choice(vec![inner + lit(n), col("b")]));
        assert!(grown(&nest(5)).unwrap().copied < 500);
        assert!(grown(&nest(60)).unwrap().copied > MOST_COPIED);
    }
}
