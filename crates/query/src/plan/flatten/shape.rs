//! Which subqueries DataFusion decorrelates itself, and which return at most one row.

use super::references;
use crate::plan::materialized_cte::is_volatile;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, EmptyRelation, Expr, Filter, Limit, LogicalPlan, Operator, Projection, Sort,
    SubqueryAlias,
};

/// DataFusion's checks visit a subquery twice per level of nesting, so deeper levels are joined here.
const DEEPEST: usize = 3;

/// Can DataFusion plan this subquery expression of `node`?
pub(super) fn datafusion_can_decorrelate(node: &LogicalPlan, expr: &Expr) -> bool {
    let Some(subquery) = references::subquery_in(expr) else { return true };
    if node.inputs().len() == 1 && nesting(&subquery.subquery) >= DEEPEST {
        return false;
    }
    let correlated = !subquery.outer_ref_columns.is_empty();
    let plan = subquery.subquery.as_ref();
    // DataFusion computes a subquery once for all outer rows with equal keys.
    if correlated && (names_clash(plan) || is_volatile(plan)) {
        return false;
    }
    match expr {
        Expr::ScalarSubquery(_) if correlated => {
            matches!(node, LogicalPlan::Projection(_) | LogicalPlan::Filter(_)) && is_aggregated(plan)
        }
        Expr::ScalarSubquery(_) => true,
        // DataFusion's join for EXISTS requires a condition on both sides; an uncorrelated EXISTS has none.
        Expr::Exists(Exists { .. }) => match node {
            LogicalPlan::Filter(filter) => {
                correlated && is_filtered(plan) && (is_conjunct(&filter.predicate, expr) || has_key(plan))
            }
            _ => false,
        },
        Expr::InSubquery(InSubquery { expr: left, negated, .. }) => match node {
            // DataFusion's join for NOT IN searches for NULLs among the rows of all outer rows; and it turns the
            // comparison with a constant into a filter, which drops the NULLs that decide the result.
            LogicalPlan::Filter(_) if *negated && (correlated || left.column_refs().is_empty()) => false,
            LogicalPlan::Filter(filter) => {
                (!correlated || is_filtered(plan)) && null_counts_as_false(&filter.predicate, expr, true)
            }
            _ => false,
        },
        _ => false,
    }
}

/// DataFusion gives all columns of a subquery one qualifier, and then confuses columns of the same name: does its join
/// read such a column?
fn names_clash(plan: &LogicalPlan) -> bool {
    let mut read = Vec::new();
    // The visitor returns no error.
    let _ = plan.apply(|node| {
        if let LogicalPlan::Filter(Filter { predicate, input, .. }) = node {
            let joined = split_conjunction(predicate).into_iter().filter(|conjunct| refers(conjunct, input.schema()));
            read.extend(joined.flat_map(|conjunct| conjunct.column_refs().into_iter().cloned()));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    let shown = plan.schema().columns();
    let clash = |column: &Column| {
        let others = read.iter().chain(&shown).filter(|other| other.name == column.name);
        others.into_iter().any(|other| other.relation != column.relation)
    };
    read.iter().any(clash)
}

/// The number of nested levels of subquery expressions in a plan.
fn nesting(plan: &LogicalPlan) -> usize {
    let mut deepest = 0;
    // The visitors return no error.
    let _ = plan.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Some(subquery) = references::subquery_in(expr) {
                    deepest = deepest.max(nesting(&subquery.subquery) + 1);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    deepest
}

fn is_conjunct(predicate: &Expr, wanted: &Expr) -> bool {
    split_conjunction(predicate).into_iter().any(|conjunct| match conjunct {
        Expr::Not(negated) => **negated == *wanted,
        conjunct => conjunct == wanted,
    })
}

/// Does a condition compare outer columns with the subquery's own?
fn has_key(plan: &LogicalPlan) -> bool {
    plan.exists(|node| match node {
        LogicalPlan::Filter(Filter { predicate, .. }) => {
            let key = |part: &&Expr| !part.column_refs().is_empty() && part.contains_outer();
            Ok(split_conjunction(predicate).iter().any(key))
        }
        _ => Ok(false),
    })
    .unwrap_or(false)
}

/// Does NULL count as false wherever `IN (…)` occurs? DataFusion's join returns false for NULL. NOT IN qualifies only
/// as a conjunct (`top`): elsewhere DataFusion negates the mark.
fn null_counts_as_false(predicate: &Expr, wanted: &Expr, top: bool) -> bool {
    match predicate {
        found if found == wanted => top || matches!(wanted, Expr::InSubquery(InSubquery { negated: false, .. })),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            null_counts_as_false(left, wanted, top) && null_counts_as_false(right, wanted, top)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            null_counts_as_false(left, wanted, false) && null_counts_as_false(right, wanted, false)
        }
        other => !other.exists(|part| Ok(part == wanted)).unwrap_or(true),
    }
}

/// Is it one aggregate row over rows filtered by equality with outer columns?
fn is_aggregated(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(Projection { input, .. }) | LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. }) => {
            is_free_node(plan) && is_aggregated(input)
        }
        LogicalPlan::Aggregate(Aggregate { input, group_expr, .. }) => {
            group_expr.is_empty() && is_free_node(plan) && is_filtered_by(input, &is_equality)
        }
        _ => false,
    }
}

/// Is it correlated only by filters at the top?
fn is_filtered(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(Projection { input, .. })
        | LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Distinct(Distinct::All(input)) => is_free_node(plan) && is_filtered(input),
        _ => is_filtered_by(plan, &|conjunct| !has_subquery(conjunct)),
    }
}

/// Is it filters over an uncorrelated plan, whose correlated conjuncts are `allowed`? These must be in one filter: of
/// several, DataFusion (55.2) loses the columns of all but the first.
fn is_filtered_by(plan: &LogicalPlan, allowed: &dyn Fn(&Expr) -> bool) -> bool {
    match plan {
        LogicalPlan::Filter(Filter { predicate, input, .. }) => {
            let schema = input.schema();
            let referring: Vec<&Expr> =
                split_conjunction(predicate).into_iter().filter(|conjunct| refers(conjunct, schema)).collect();
            match referring.is_empty() {
                true => is_filtered_by(input, allowed),
                false => referring.into_iter().all(allowed) && references::expressions(input).is_empty(),
            }
        }
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. }) => is_filtered_by(input, allowed),
        _ => references::expressions(plan).is_empty(),
    }
}

fn is_equality(conjunct: &Expr) -> bool {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = conjunct else { return false };
    matches!(
        (left.as_ref(), right.as_ref()),
        (Expr::Column(_), Expr::OuterReferenceColumn(..)) | (Expr::OuterReferenceColumn(..), Expr::Column(_))
    )
}

/// Has the operator itself no outer references, apart from its inputs?
fn is_free_node(node: &LogicalPlan) -> bool {
    let schema = datafusion::logical_expr::utils::merge_schema(&node.inputs());
    !node.expressions().iter().any(|expr| refers(expr, &schema))
}

/// Does an expression over `schema` reference outer columns, itself or in its subqueries?
fn refers(expr: &Expr, schema: &DFSchema) -> bool {
    expr.exists(|expr| {
        let inner = references::subquery_in(expr).is_some_and(|subquery| {
            references::expressions(&subquery.subquery).iter().any(|expr| match expr {
                Expr::OuterReferenceColumn(_, column) => !schema.has_column(column),
                _ => false,
            })
        });
        Ok(inner || matches!(expr, Expr::OuterReferenceColumn(..)))
    })
    .unwrap_or(true)
}

fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    let _ = expr.apply(|expr| {
        found |= references::subquery_in(expr).is_some();
        Ok(TreeNodeRecursion::Continue)
    });
    found
}

/// Does a plan return at most one row for any table contents?
pub(super) fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(Projection { input, .. })
        | LogicalPlan::Filter(Filter { input, .. })
        | LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Sort(Sort { input, .. })
        | LogicalPlan::Distinct(Distinct::All(input)) => is_one_row(input),
        LogicalPlan::Aggregate(Aggregate { group_expr, .. }) => group_expr.is_empty(),
        LogicalPlan::Limit(Limit { fetch, input, .. }) => is_at_most_one(fetch.as_deref()) || is_one_row(input),
        LogicalPlan::Join(join) if join.join_type != JoinType::Full => {
            is_one_row(&join.left) && is_one_row(&join.right)
        }
        LogicalPlan::EmptyRelation(EmptyRelation { .. }) => true,
        LogicalPlan::Values(values) => values.values.len() <= 1,
        _ => false,
    }
}

fn is_at_most_one(fetch: Option<&Expr>) -> bool {
    use datafusion::common::ScalarValue;
    matches!(fetch, Some(Expr::Literal(ScalarValue::Int64(Some(0 | 1)) | ScalarValue::Int32(Some(0 | 1)), _)))
}
