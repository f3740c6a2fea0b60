//! Joins the subqueries of a node to its input.

use super::domain::{Domain, Names, Outer};
use super::push::push;
use super::{references, shape};
use crate::error::QueryError;
use crate::functions::one_row;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, Result, ScalarValue, Spans};
use datafusion::functions_aggregate::bool_and_or::bool_or;
use datafusion::functions_aggregate::count::count;
use datafusion::functions_aggregate::first_last::first_value;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, binary_expr, ident, lit, when,
};
use std::sync::Arc;

/// Joins the subqueries that DataFusion cannot decorrelate to the node's input.
pub(super) fn attach(node: LogicalPlan, names: &mut Names) -> Result<Transformed<LogicalPlan>> {
    let wanted = unknown(&node, &node.expressions());
    let input = match node.inputs().as_slice() {
        _ if wanted.is_empty() => return Ok(Transformed::no(node)),
        [input] => (*input).clone(),
        _ => return Err(QueryError::Unsupported { feature: format!("a subquery in {}", node.display()) }.into()),
    };
    let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    let (node, input) = match node {
        LogicalPlan::Filter(filter) => narrowed(filter, input, &wanted)?,
        node => (node, input),
    };
    let (joined, values) = attach_all(input, &wanted, names)?;
    let named = NamePreserver::new(&node);
    let expressions = node.expressions().into_iter().map(|expr| {
        let name = named.save(&expr);
        Ok(name.restore(replaced(expr, &values)?))
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    let passes = !matches!(node, LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_));
    let own = own_columns(&node, columns.len());
    let node = node.with_new_exprs(expressions, vec![joined])?;
    if !passes {
        return Ok(Transformed::yes(node));
    }
    let shown = columns.into_iter().chain(own);
    Ok(Transformed::yes(LogicalPlanBuilder::from(node).project(shown)?.build()?))
}

/// The columns that a node adds to those of its input.
fn own_columns(node: &LogicalPlan, input: usize) -> Vec<Expr> {
    node.schema().columns().into_iter().skip(input).map(Expr::Column).collect()
}

/// Joins the subqueries of a join condition.
pub(super) fn attach_join(join: Join, names: &mut Names) -> Result<Transformed<LogicalPlan>> {
    let Some(filter) = join.filter.clone() else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
    let node = LogicalPlan::Join(join);
    let wanted = unknown(&node, std::slice::from_ref(&filter));
    let LogicalPlan::Join(mut join) = node else { return Ok(Transformed::no(node)) };
    if wanted.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    if join.join_type == JoinType::Inner {
        let (above, within) = split(filter, &wanted);
        join.filter = conjunction(within);
        let plan = LogicalPlan::Join(join);
        let Some(above) = conjunction(above) else { return Ok(Transformed::no(plan)) };
        return attach(LogicalPlan::Filter(Filter::try_new(above, Arc::new(plan))?), names);
    }
    let columns: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    let fits = |side: &LogicalPlan| wanted.iter().all(|expr| reads_only(expr, side, &join));
    let (left, right) = (fits(&join.left), fits(&join.right));
    let side = if left { &mut join.left } else { &mut join.right };
    if !left && !right {
        let kind = join.join_type.to_string().to_uppercase();
        let feature = format!("a subquery in the condition of a {kind} JOIN that reads both sides");
        return Err(QueryError::Unsupported { feature }.into());
    }
    let (joined, values) = attach_all(side.as_ref().clone(), &wanted, names)?;
    *side = Arc::new(joined);
    let filter = Some(replaced(filter, &values)?);
    let join = Join::try_new(
        join.left,
        join.right,
        join.on,
        filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    Ok(Transformed::yes(LogicalPlanBuilder::from(LogicalPlan::Join(join)).project(columns)?.build()?))
}

/// Does a subquery expression read no columns of the join other than those of `side`?
fn reads_only(expr: &Expr, side: &LogicalPlan, join: &Join) -> bool {
    let inner = references::subquery_in(expr).map(|subquery| references::columns_of(&subquery.subquery, &join.schema));
    let own = expr.column_refs().into_iter().cloned();
    inner.unwrap_or_default().into_iter().chain(own).all(|column| side.schema().has_column(&column))
}

/// The subquery expressions that DataFusion cannot decorrelate, without duplicates, inner ones first.
fn unknown(node: &LogicalPlan, expressions: &[Expr]) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    for expr in expressions {
        let _ = expr.apply(|expr| {
            if !shape::datafusion_can_decorrelate(node, expr) && !found.contains(expr) {
                found.push(expr.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
    }
    found.reverse();
    found
}

/// Applies the conjuncts without these subqueries first, so that the subqueries are computed for fewer rows.
fn narrowed(filter: Filter, input: LogicalPlan, wanted: &[Expr]) -> Result<(LogicalPlan, LogicalPlan)> {
    let (above, below) = split(filter.predicate.clone(), wanted);
    let input = match conjunction(below) {
        Some(below) => LogicalPlan::Filter(Filter::try_new(below, Arc::new(input))?),
        None => input,
    };
    let predicate = conjunction(above).unwrap_or_else(|| lit(true));
    Ok((LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(input.clone()))?), input))
}

/// The conjuncts that contain one of these subqueries, and the others.
fn split(predicate: Expr, wanted: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
    let has = |conjunct: &Expr| conjunct.exists(|expr| Ok(wanted.contains(expr))).unwrap_or(true);
    split_conjunction_owned(predicate).into_iter().partition(has)
}

pub(super) type Values = Vec<(Expr, Expr)>;

/// Replaces subqueries by the expressions of their values.
pub(super) fn replaced(expr: Expr, values: &Values) -> Result<Expr> {
    expr.transform_down(|expr| match values.iter().find(|(subquery, _)| *subquery == expr) {
        Some((_, value)) => Ok(Transformed::new(value.clone(), true, TreeNodeRecursion::Jump)),
        None => Ok(Transformed::no(expr)),
    })
    .data()
}

/// Joins the subqueries to the input; returns the replacement of each subquery.
fn attach_all(input: LogicalPlan, wanted: &[Expr], names: &mut Names) -> Result<(LogicalPlan, Values)> {
    let correlated = wanted.iter().filter(|expr| is_correlated(expr)).filter_map(references::subquery_in);
    let outer = Outer::of(input, correlated.map(|subquery| subquery.subquery.as_ref()), names)?;
    let mut joined = outer.plan.clone();
    let mut values = Values::new();
    for expr in wanted {
        let (plan, value) = match expr {
            Expr::ScalarSubquery(subquery) => scalar(&outer, joined, &subquery.subquery, names)?,
            Expr::Exists(Exists { subquery, negated }) if !is_correlated(expr) => {
                let any = any_row(&subquery.subquery)?;
                (joined, if *negated { Expr::Not(Box::new(any)) } else { any })
            }
            Expr::Exists(Exists { subquery, negated }) => {
                let (plan, mark) = exists(&outer, joined, &subquery.subquery, names)?;
                (plan, if *negated { mark.is_null() } else { mark.is_not_null() })
            }
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                let left = replaced(expr.as_ref().clone(), &values)?;
                let compared = Compared { left, op: Operator::Eq, all: false };
                let (plan, value) = compare(joined, compared, &subquery.subquery, names)?;
                (plan, if *negated { Expr::Not(Box::new(value)) } else { value })
            }
            Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
                let left = replaced(expr.as_ref().clone(), &values)?;
                let compared = Compared { left, op: *op, all: *quantifier == SetQuantifier::All };
                compare(joined, compared, &subquery.subquery, names)?
            }
            other => return Err(QueryError::internal(format!("{other} is no subquery")).into()),
        };
        joined = plan;
        values.push((expr.clone(), value));
    }
    Ok((joined, values))
}

fn is_correlated(expr: &Expr) -> bool {
    references::subquery_in(expr).is_some_and(|subquery| !references::expressions(&subquery.subquery).is_empty())
}

/// Computes the subquery over the domain of the `outer` columns that it reads.
fn over(outer: &Outer, subquery: &LogicalPlan, names: &mut Names) -> Result<(Domain, LogicalPlan)> {
    let domain = Domain::new(outer, outer.reads_of(subquery), names)?;
    let plan = push(&domain, subquery.clone(), names)?;
    Ok((domain, plan))
}

fn first_column(plan: &LogicalPlan) -> Result<Column> {
    let first = plan.schema().columns().into_iter().next();
    first.ok_or_else(|| QueryError::internal("a subquery without columns").into())
}

/// A scalar subquery: its value, NULL if it has no row.
fn scalar(
    outer: &Outer,
    joined: LogicalPlan,
    subquery: &LogicalPlan,
    names: &mut Names,
) -> Result<(LogicalPlan, Expr)> {
    let column = Expr::Column(first_column(subquery)?);
    let (domain, plan) = over(outer, subquery, names)?;
    let (value, number) = (names.fresh(), names.fresh());
    if shape::is_one_row(subquery) {
        let columns = [column.alias(&value)].into_iter().chain(domain.exprs());
        let plan = LogicalPlanBuilder::from(plan).project(columns)?.build()?;
        let joined = domain.join_outer(joined, plan, JoinType::Left, Vec::new())?;
        return Ok((joined, ident(value)));
    }
    let aggregates = [first_value(column, Vec::new()).alias(&value), count(lit(1_i64)).alias(&number)];
    let plan = LogicalPlanBuilder::from(plan).aggregate(domain.exprs(), aggregates)?.build()?;
    let joined = domain.join_outer(joined, plan, JoinType::Left, Vec::new())?;
    // The row count is checked where the value is used: in a CASE branch that is not taken, several rows are allowed.
    Ok((joined, one_row(ident(value), ident(number))))
}

/// Has an uncorrelated subquery a row? It becomes a scalar subquery, which is evaluated once before the outer rows are
/// read.
fn any_row(subquery: &LogicalPlan) -> Result<Expr> {
    let counted = [count(lit(1_i64))];
    let rows = LogicalPlanBuilder::from(subquery.clone()).limit(0, Some(1))?.aggregate(Vec::<Expr>::new(), counted)?;
    let query = Subquery { subquery: Arc::new(rows.build()?), outer_ref_columns: Vec::new(), spans: Spans::new() };
    Ok(Expr::ScalarSubquery(query).gt(lit(0_i64)))
}

/// A correlated EXISTS: joins a mark column that is NULL if the subquery has no rows.
fn exists(
    outer: &Outer,
    joined: LogicalPlan,
    subquery: &LogicalPlan,
    names: &mut Names,
) -> Result<(LogicalPlan, Expr)> {
    let (domain, plan) = over(outer, subquery, names)?;
    let mark = names.fresh();
    let found = if domain.columns.is_empty() {
        LogicalPlanBuilder::from(plan).limit(0, Some(1))?.project([lit(true).alias(&mark)])?.build()?
    } else {
        let distinct = LogicalPlanBuilder::from(plan).project(domain.exprs())?.distinct()?;
        distinct.project(domain.exprs().chain([lit(true).alias(&mark)]))?.build()?
    };
    Ok((domain.join_outer(joined, found, JoinType::Left, Vec::new())?, ident(mark)))
}

/// The left operand of `left op ANY (…)`, or ALL.
struct Compared {
    left: Expr,
    op: Operator,
    all: bool,
}

/// Is the left operand constant? As a join key it would have the same name on both sides.
fn is_constant(left: &Expr) -> bool {
    let outer = |part: &Expr| Ok(matches!(part, Expr::OuterReferenceColumn(..)));
    left.column_refs().is_empty() && !left.is_volatile() && !left.exists(outer).unwrap_or(true)
}

/// Three-valued ANY and ALL: decided by one row, unknown because of a NULL, or decided by the absence of both.
fn compare(
    joined: LogicalPlan,
    compared: Compared,
    subquery: &LogicalPlan,
    names: &mut Names,
) -> Result<(LogicalPlan, Expr)> {
    let (left, decided, unknown) = (names.fresh(), names.fresh(), names.fresh());
    let outer = match is_constant(&compared.left) {
        true => joined,
        false => {
            let columns: Vec<Expr> = joined.schema().columns().into_iter().map(Expr::Column).collect();
            let value = compared.left.clone().alias(&left);
            LogicalPlanBuilder::from(joined).project(columns.into_iter().chain([value]))?.build()?
        }
    };
    let outer = Outer::of(outer, [subquery], names)?;
    let mut reads = outer.reads_of(subquery);
    let at = reads.len();
    if !is_constant(&compared.left) {
        reads.push(Column::from_name(&left));
    }
    let domain = Domain::new(&outer, reads, names)?;
    let own = match is_constant(&compared.left) {
        true => compared.left.clone(),
        false => domain.exprs().nth(at).unwrap_or_else(|| ident(&left)),
    };
    let column = Expr::Column(first_column(subquery)?);
    let plan = push(&domain, subquery.clone(), names)?;
    let holds = binary_expr(own, compared.op, column);
    let decisive = if compared.all { Expr::Not(Box::new(holds.clone())) } else { holds.clone() };
    let aggregates = [bool_or(decisive).alias(&decided), bool_or(holds.is_null()).alias(&unknown)];
    let plan = LogicalPlanBuilder::from(plan).aggregate(domain.exprs(), aggregates)?.build()?;
    let joined = domain.join_outer(outer.plan, plan, JoinType::Left, Vec::new())?;
    let value = when(ident(decided).is_true(), lit(!compared.all))
        .when(ident(unknown).is_true(), lit(ScalarValue::Boolean(None)))
        .otherwise(lit(compared.all))?;
    Ok((joined, value))
}
