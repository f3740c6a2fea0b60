//! Computes a plan once for each row of a domain, operator by operator.
//!
//! `push(d, t)` has the columns of `t` and those of `d`, and for each row of `d` the rows of `t` with the outer
//! references set to that row. An uncorrelated plan is cross joined with the domain, and DataFusion's rules turn
//! filters over the cross join into join keys.

use super::domain::{Domain, Names, null_safe_join};
use super::{recursion, references};
use crate::error::QueryError;
use crate::plan::stop::before_building;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, JoinType, NullEquality, Result};
use datafusion::functions_window::expr_fn::{rank, row_number};
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, EmptyRelation, Expr, ExprFunctionExt, ExprSchemable, Filter, Join, Limit,
    LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias, Union, Unnest, Values, Window, cast, ident, lit,
};
use datafusion::prelude::coalesce;
use std::sync::Arc;

/// Pushes the domain into `plan`, see the module's documentation.
///
/// # Errors
/// `Unsupported` for operators without a form over a domain.
pub(super) fn push(domain: &Domain, plan: LogicalPlan, names: &mut Names) -> Result<LogicalPlan> {
    if domain.columns.is_empty() {
        return Ok(plan);
    }
    before_building()?;
    if !depends(domain, &plan) {
        return match plan {
            LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: true, .. }) => Ok(domain.plan.clone()),
            plan => LogicalPlanBuilder::from(plan).cross_join(domain.plan.clone())?.build(),
        };
    }
    match references::resolve(plan, domain)? {
        LogicalPlan::Projection(Projection { expr, input, .. }) => {
            let input = push(domain, Arc::unwrap_or_clone(input), names)?;
            LogicalPlanBuilder::from(input).project(expr.into_iter().chain(domain.exprs()))?.build()
        }
        LogicalPlan::Filter(Filter { predicate, input, .. }) => {
            let input = push(domain, Arc::unwrap_or_clone(input), names)?;
            Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(input))?))
        }
        // The order of a subquery's rows is dropped unless a LIMIT depends on it, which handles the sort itself.
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => push(domain, Arc::unwrap_or_clone(sort.input), names),
        LogicalPlan::Limit(Limit { skip, fetch, input }) => {
            let range = Range { skip: skip.map(|skip| *skip), fetch: fetch.map(|fetch| *fetch), ties: false };
            limit(domain, range, Arc::unwrap_or_clone(input), names)
        }
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => whole(domain, aggregate, names),
        LogicalPlan::Aggregate(aggregate) => grouped(domain, aggregate, names),
        LogicalPlan::Window(window) => windowed(domain, window, names),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            LogicalPlanBuilder::from(push(domain, Arc::unwrap_or_clone(input), names)?).distinct()?.build()
        }
        LogicalPlan::Distinct(Distinct::On(on)) => distinct_on(domain, on, names),
        LogicalPlan::SubqueryAlias(alias) => aliased(domain, alias, names),
        LogicalPlan::Join(join) => joined(domain, join, names),
        LogicalPlan::Union(union) => united(domain, union, names),
        LogicalPlan::Unnest(Unnest { input, exec_columns, options, .. }) => {
            let input = push(domain, Arc::unwrap_or_clone(input), names)?;
            Ok(LogicalPlan::Unnest(Unnest::try_new(Arc::new(input), exec_columns, options)?))
        }
        LogicalPlan::Values(values) => listed(domain, values),
        LogicalPlan::RecursiveQuery(query) => recursion::recursive(domain, query, names),
        LogicalPlan::TableScan(scan) => recursion::work_table(domain, scan),
        other => Err(unsupported(&format!("{}", other.display()))),
    }
}

fn unsupported(what: &str) -> datafusion::error::DataFusionError {
    QueryError::Unsupported { feature: format!("a reference to an outer query's column in {what}") }.into()
}

fn depends(domain: &Domain, plan: &LogicalPlan) -> bool {
    references::expressions(plan).iter().any(|expr| match expr {
        Expr::OuterReferenceColumn(_, column) => domain.columns.iter().any(|(known, _)| known == column),
        _ => false,
    }) || recursion::reads_carrier(domain, plan)
}

/// Projects to the columns of `schema` followed by the domain's.
pub(super) fn arranged(domain: &Domain, plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    before_building()?;
    let columns = schema.columns().into_iter().map(Expr::Column);
    LogicalPlanBuilder::from(plan).project(columns.chain(domain.exprs()))?.build()
}

/// Renames the columns of `plan` to those of `schema` at the same index, followed by the domain's columns.
pub(super) fn requalified(domain: &Domain, plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    before_building()?;
    let columns = plan.schema().columns().into_iter().zip(schema.iter());
    let columns: Vec<Expr> = columns
        .map(|(column, (qualifier, field))| Expr::Column(column).alias_qualified(qualifier.cloned(), field.name()))
        .collect();
    LogicalPlanBuilder::from(plan).project(columns.into_iter().chain(domain.exprs()))?.build()
}

/// `LIMIT fetch OFFSET skip`.
pub(super) struct Range {
    pub(super) skip: Option<Expr>,
    pub(super) fetch: Option<Expr>,
    /// WITH TIES: are rows kept that are peers of the last one?
    pub(super) ties: bool,
}

impl Range {
    /// The condition on a row's number and rank.
    fn condition(self, number: &Expr, rank: &Expr) -> Expr {
        use arrow::datatypes::DataType::Int64;
        let first = self.skip.map_or_else(|| lit(0_i64), |skip| coalesce(vec![cast(skip, Int64), lit(0_i64)]));
        let after = number.clone().gt(first.clone());
        match self.fetch.map(|fetch| cast(fetch, Int64)) {
            None => after,
            Some(fetch) => {
                let within = (rank.clone() - first).lt_eq(fetch.clone());
                after.and(fetch.is_null().or(within))
            }
        }
    }
}

/// Limits the rows per row of the domain, in the order that the limit sees.
fn limit(domain: &Domain, range: Range, input: LogicalPlan, names: &mut Names) -> Result<LogicalPlan> {
    match input {
        // A projection keeps the number of rows, so the limit may be applied below it, directly over the sort.
        LogicalPlan::Projection(_) => {
            let schema = Arc::clone(input.schema());
            match references::resolve(input, domain)? {
                LogicalPlan::Projection(Projection { expr, input, .. }) => {
                    let limited = limit(domain, range, Arc::unwrap_or_clone(input), names)?;
                    LogicalPlanBuilder::from(limited).project(expr.into_iter().chain(domain.exprs()))?.build()
                }
                other => requalified(domain, other, &schema),
            }
        }
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => {
            let schema = Arc::clone(input.schema());
            let limited = limit(domain, range, Arc::unwrap_or_clone(input), names)?;
            alias_of(domain, arranged(domain, limited, &schema)?, alias)
        }
        LogicalPlan::Sort(_) => match references::resolve(input, domain)? {
            LogicalPlan::Sort(sort) => {
                let rows = push(domain, Arc::unwrap_or_clone(sort.input), names)?;
                numbered(domain, range, rows, sort.expr, names)
            }
            other => Err(unsupported(&format!("{}", other.display()))),
        },
        other => {
            let rows = push(domain, other, names)?;
            numbered(domain, range, rows, Vec::new(), names)
        }
    }
}

/// Numbers the rows per row of the domain, in this order, and filters them by the range.
pub(super) fn numbered(
    domain: &Domain,
    range: Range,
    rows: LogicalPlan,
    order: Vec<datafusion::logical_expr::SortExpr>,
    names: &mut Names,
) -> Result<LogicalPlan> {
    before_building()?;
    let columns: Vec<Expr> = rows.schema().columns().into_iter().map(Expr::Column).collect();
    let number = names.fresh();
    let counted = |function: Expr, name: &str| {
        let counted = function.partition_by(domain.exprs().collect());
        let counted = if order.is_empty() { counted } else { counted.order_by(order.clone()) };
        Ok::<_, datafusion::error::DataFusionError>(counted.build()?.alias(name))
    };
    let as_number = |name: &str| cast(ident(name), arrow::datatypes::DataType::Int64);
    let mut numbers = vec![counted(row_number(), &number)?];
    let mut condition = (as_number(&number), as_number(&number));
    if range.ties {
        let first = names.fresh();
        numbers.push(counted(rank(), &first)?);
        condition.1 = as_number(&first);
    }
    LogicalPlanBuilder::from(rows)
        .window(numbers)?
        .filter(range.condition(&condition.0, &condition.1))?
        .project(columns)?
        .build()
}

/// Adds the domain's columns to the group keys.
fn grouped(domain: &Domain, aggregate: Aggregate, names: &mut Names) -> Result<LogicalPlan> {
    if aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
        return Err(unsupported("GROUPING SETS"));
    }
    let input = push(domain, Arc::unwrap_or_clone(aggregate.input), names)?;
    let groups = aggregate.group_expr.into_iter().chain(domain.exprs()).collect();
    Ok(LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), groups, aggregate.aggr_expr)?))
}

/// An aggregate without GROUP BY has a row for empty input too: the rows of the domain are left-joined to the input.
fn whole(domain: &Domain, aggregate: Aggregate, names: &mut Names) -> Result<LogicalPlan> {
    let input = push(domain, Arc::unwrap_or_clone(aggregate.input), names)?;
    before_building()?;
    let (aside, mark) = (domain.aside(names), names.fresh());
    let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    let marked = columns.into_iter().chain([lit(true).alias(&mark)]);
    let marked = LogicalPlanBuilder::from(input).project(marked)?.build()?;
    let renamed = domain.exprs().zip(&aside).map(|(column, name)| column.alias(name));
    let all = LogicalPlanBuilder::from(domain.plan.clone()).project(renamed)?.build()?;
    let keys = (aside.iter().map(columns_named).collect(), domain.names().map(columns_named).collect());
    let joined = null_safe_join(all, marked, JoinType::Left, keys, Vec::new())?;
    before_building()?;
    let outputs: Vec<String> = aggregate.aggr_expr.iter().map(|expr| expr.schema_name().to_string()).collect();
    let filtered = aggregate.aggr_expr.into_iter().zip(&outputs);
    let filtered = filtered.map(|(expr, name)| Ok(only_where(expr.unalias(), &mark)?.alias(name)));
    let filtered = filtered.collect::<Result<Vec<_>>>()?;
    let groups = aside.iter().map(ident).collect();
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(joined), groups, filtered)?);
    let back = aside.iter().zip(domain.names()).map(|(aside, name)| ident(aside).alias(name));
    LogicalPlanBuilder::from(grouped).project(outputs.iter().map(ident).chain(back))?.build()
}

fn columns_named(name: impl Into<String>) -> datafusion::common::Column {
    datafusion::common::Column::from_name(name)
}

/// Restricts the aggregate to rows with the mark.
fn only_where(expr: Expr, mark: &str) -> Result<Expr> {
    expr.transform_down(|expr| match expr {
        Expr::AggregateFunction(mut function) => {
            let filter = match function.params.filter.take() {
                Some(filter) => ident(mark).and(*filter),
                None => ident(mark),
            };
            function.params.filter = Some(Box::new(filter));
            Ok(Transformed::new(
                Expr::AggregateFunction(function),
                true,
                datafusion::common::tree_node::TreeNodeRecursion::Jump,
            ))
        }
        other => Ok(Transformed::no(other)),
    })
    .data()
}

/// Adds the domain's columns to PARTITION BY.
fn windowed(domain: &Domain, window: Window, names: &mut Names) -> Result<LogicalPlan> {
    let input = push(domain, Arc::unwrap_or_clone(window.input), names)?;
    let parted = window.window_expr.into_iter().map(|expr| {
        let name = expr.schema_name().to_string();
        let parted = expr.unalias().transform_up(|expr| match expr {
            Expr::WindowFunction(mut function) => {
                function.params.partition_by.extend(domain.exprs());
                Ok(Transformed::yes(Expr::WindowFunction(function)))
            }
            other => Ok(Transformed::no(other)),
        });
        Ok(parted.data()?.alias(name))
    });
    let parted = parted.collect::<Result<Vec<_>>>()?;
    Ok(LogicalPlan::Window(Window::try_new(parted, Arc::new(input))?))
}

fn distinct_on(domain: &Domain, on: DistinctOn, names: &mut Names) -> Result<LogicalPlan> {
    let schema = Arc::clone(&on.schema);
    let input = push(domain, Arc::unwrap_or_clone(on.input), names)?;
    let keys = domain.exprs().chain(on.on_expr).collect();
    let select = on.select_expr.into_iter().chain(domain.exprs()).collect();
    let order = on.sort_expr.map(|order| domain.exprs().map(|column| column.sort(true, false)).chain(order).collect());
    let distinct = LogicalPlanBuilder::from(input).distinct_on(keys, select, order)?.build()?;
    arranged(domain, distinct, &schema)
}

fn aliased(domain: &Domain, alias: SubqueryAlias, names: &mut Names) -> Result<LogicalPlan> {
    let schema = Arc::clone(alias.input.schema());
    let pushed = push(domain, Arc::unwrap_or_clone(alias.input), names)?;
    alias_of(domain, arranged(domain, pushed, &schema)?, alias.alias)
}

/// Applies the alias to the subquery's columns only, not to the domain's.
fn alias_of(domain: &Domain, plan: LogicalPlan, alias: datafusion::common::TableReference) -> Result<LogicalPlan> {
    before_building()?;
    let aliased = LogicalPlanBuilder::from(plan).alias(alias)?.build()?;
    let ours: Vec<&str> = domain.names().collect();
    let columns = aliased.schema().columns().into_iter().map(|column| match ours.contains(&column.name.as_str()) {
        true => Expr::Column(column.clone()).alias(column.name),
        false => Expr::Column(column),
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(aliased).project(columns)?.build()
}

/// Which sides of a join must be computed per row of the domain.
fn sides(domain: &Domain, join: &Join) -> (bool, bool) {
    let (left, right) = (depends(domain, &join.left), depends(domain, &join.right));
    match join.join_type {
        JoinType::Inner => (left || !right, right),
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => (true, right),
        JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => (left, true),
        JoinType::Full => (true, true),
    }
}

fn joined(domain: &Domain, join: Join, names: &mut Names) -> Result<LogicalPlan> {
    if join.null_aware {
        return Err(unsupported("NOT IN"));
    }
    let schema = Arc::clone(&join.schema);
    let (push_left, push_right) = sides(domain, &join);
    let mut join = join;
    if push_left {
        join.left = Arc::new(push(domain, Arc::unwrap_or_clone(join.left), names)?);
    }
    if push_right {
        join.right = Arc::new(push(domain, Arc::unwrap_or_clone(join.right), names)?);
    }
    if push_left && push_right {
        return met(domain, join, &schema, names);
    }
    let join = Join::try_new(
        join.left,
        join.right,
        join.on,
        join.filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        false,
    )?;
    arranged(domain, LogicalPlan::Join(join), &schema)
}

/// Joins two sides that are both over the domain: rows match only for the same row of the domain.
fn met(domain: &Domain, join: Join, schema: &DFSchema, names: &mut Names) -> Result<LogicalPlan> {
    let aside = domain.aside(names);
    let from_right =
        matches!(join.join_type, JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark);
    let renamed = if from_right { join.left.as_ref() } else { join.right.as_ref() };
    let ours: Vec<&str> = domain.names().collect();
    let columns = renamed.schema().columns().into_iter();
    let columns = columns.map(|column| match ours.iter().position(|name| *name == column.name) {
        Some(place) => Expr::Column(column).alias(aside.get(place).cloned().unwrap_or_default()),
        None => Expr::Column(column),
    });
    let renamed = LogicalPlanBuilder::from(renamed.clone()).project(columns.collect::<Vec<_>>())?.build()?;
    let (left, right, left_names, right_names) = if from_right {
        let right = Arc::unwrap_or_clone(join.right);
        (renamed, right, aside.iter().map(String::as_str).collect::<Vec<_>>(), ours)
    } else {
        (Arc::unwrap_or_clone(join.left), renamed, ours, aside.iter().map(String::as_str).collect())
    };
    let nulls_meet = join.null_equality == NullEquality::NullEqualsNull;
    let equalities = join.on.into_iter().map(|(left, right)| match nulls_meet {
        true => not_distinct(left, right),
        false => left.eq(right),
    });
    let filter = equalities.chain(join.filter).collect();
    let keys =
        (left_names.into_iter().map(columns_named).collect(), right_names.into_iter().map(columns_named).collect());
    let plan = null_safe_join(left, right, join.join_type, keys, filter)?;
    if join.join_type != JoinType::Full {
        return arranged(domain, plan, schema);
    }
    let either = domain.names().zip(&aside).map(|(name, aside)| coalesce(vec![ident(name), ident(aside)]).alias(name));
    let columns = schema.columns().into_iter().map(Expr::Column);
    LogicalPlanBuilder::from(plan).project(columns.chain(either).collect::<Vec<_>>())?.build()
}

fn not_distinct(left: Expr, right: Expr) -> Expr {
    datafusion::logical_expr::binary_expr(left, datafusion::logical_expr::Operator::IsNotDistinctFrom, right)
}

fn united(domain: &Domain, union: Union, names: &mut Names) -> Result<LogicalPlan> {
    let inputs = union.inputs.into_iter().map(|input| {
        let schema = Arc::clone(input.schema());
        let pushed = push(domain, Arc::unwrap_or_clone(input), names)?;
        Ok(Arc::new(arranged(domain, pushed, &schema)?))
    });
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let united = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
    requalified(domain, united, &union.schema)
}

/// VALUES: each list becomes a projection of the domain.
fn listed(domain: &Domain, values: Values) -> Result<LogicalPlan> {
    let rows = values.values.into_iter().map(|row| {
        let columns = row.into_iter().zip(values.schema.fields());
        let columns =
            columns.map(|(expr, field)| Ok(expr.cast_to(field.data_type(), domain.plan.schema())?.alias(field.name())));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        LogicalPlanBuilder::from(domain.plan.clone()).project(columns.into_iter().chain(domain.exprs()))?.build()
    });
    let rows = rows.map(|row| row.map(Arc::new)).collect::<Result<Vec<_>>>()?;
    let listed = match rows.as_slice() {
        [row] => row.as_ref().clone(),
        _ => LogicalPlan::Union(Union::try_new_with_loose_types(rows)?),
    };
    requalified(domain, listed, &values.schema)
}
