//! Rewrites joins on `a IS NOT DISTINCT FROM b` as equijoins.
//!
//! DataFusion (55.2) has joins in which NULLs are equal for *all* keys, and rules that add plain equalities to them as
//! further keys, for which NULLs must not be equal. So such a key becomes two keys that are never NULL:
//!
//! ```text
//!   a IS NOT DISTINCT FROM b      a IS NULL = b IS NULL  AND  coalesce(a, zero) = coalesce(b, zero)
//!                                 a = b                       if one of them is never NULL
//! ```
//! If a later rule finds that one of them is never NULL, the first key becomes `false = false`. Such keys are dropped:
//! DataFusion names key columns by their expressions, and equal names on both sides are an error if a side has columns
//! of the same name from two tables.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, JoinType, Result, ScalarValue};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, lit};
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Replaces DataFusion's rule, and runs it after the rewrite.
#[derive(Debug, Default)]
pub(super) struct NullSafeKeys {
    rule: ExtractEquijoinPredicate,
}

impl OptimizerRule for NullSafeKeys {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(&self, mut plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if let LogicalPlan::Join(join) = &mut plan
            && let Some(filter) = join.filter.take()
        {
            let sides = (join.left.schema().as_ref(), join.right.schema().as_ref());
            let parts = split_conjunction_owned(filter).into_iter().map(|part| as_equalities(part, sides));
            join.filter = conjunction(parts.collect::<Result<Vec<_>>>()?);
        }
        if let LogicalPlan::Join(join) = &mut plan
            && join.on.iter().any(is_always_equal)
        {
            join.on.retain(|pair| !is_always_equal(pair));
            if join.on.is_empty() && join.filter.is_none() && join.join_type != JoinType::Inner {
                join.filter = Some(lit(true));
            }
        }
        self.rule.rewrite(plan, config)
    }
}

/// Are both sides the same non-NULL literal?
fn is_always_equal((left, right): &(Expr, Expr)) -> bool {
    matches!((left, right), (Expr::Literal(left, _), Expr::Literal(right, _)) if left == right && !left.is_null())
}

/// Rewrites a join condition into equalities if it is IS NOT DISTINCT FROM between the two sides.
fn as_equalities(part: Expr, sides: (&DFSchema, &DFSchema)) -> Result<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsNotDistinctFrom, right }) = part else { return Ok(part) };
    let of = |expr: &Expr, schema: &DFSchema| {
        let columns = expr.column_refs();
        !columns.is_empty() && columns.iter().all(|column| schema.has_column(column))
    };
    let (left, right) = match (of(&left, sides.0) && of(&right, sides.1), of(&right, sides.0) && of(&left, sides.1)) {
        (true, _) => (*left, *right),
        (_, true) => (*right, *left),
        _ => return Ok(Expr::BinaryExpr(BinaryExpr::new(left, Operator::IsNotDistinctFrom, right))),
    };
    let keys = null_safe_keys(left, right, sides)?.into_iter().map(|(left, right)| left.eq(right));
    Ok(conjunction(keys).unwrap_or_else(|| lit(true)))
}

/// Key pairs that are all equal exactly where `left IS NOT DISTINCT FROM right`.
///
/// # Errors
/// If the type of an operand cannot be derived.
pub(crate) fn null_safe_keys(left: Expr, right: Expr, sides: (&DFSchema, &DFSchema)) -> Result<Vec<(Expr, Expr)>> {
    if !left.nullable(sides.0)? || !right.nullable(sides.1)? {
        return Ok(vec![(left, right)]);
    }
    let known = |expr: &Expr, schema: &DFSchema| {
        let zero = ScalarValue::new_default(&expr.get_type(schema)?)?;
        Ok::<Expr, datafusion::common::DataFusionError>(coalesce(vec![expr.clone(), lit(zero)]))
    };
    let values = (known(&left, sides.0)?, known(&right, sides.1)?);
    Ok(vec![(left.is_null(), right.is_null()), values])
}
