//! Estimates of the rows of a plan, and of the values of its columns.

use super::sources::{Source, Sources};
use crate::convert::expr_to_condition::{ConditionBuilder, Mode};
use catalog::ValueStatistics;
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Aggregate, Expr, FetchType, Join, Limit, LogicalPlan, SkipType};
use index::Known;
use rowkey::range::Condition;
use types::DataType;

/// The number of distinct values of a column without statistics.
const VALUES: f64 = 200.0;
/// The cost of fetching a row by key, in rows of a scan.
const FETCH: f64 = 16.0;

/// The value statistics of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'s> {
    pub(super) of: &'s ValueStatistics,
    ty: DataType,
    /// The rows of its table.
    rows: f64,
}

/// The estimate of a plan.
#[derive(Clone, Debug)]
pub(super) struct Estimate<'s> {
    pub(super) rows: f64,
    /// The values of each output column.
    columns: Vec<Option<Values<'s>>>,
    /// The cost of reading it, in rows of a scan.
    pub(super) cost: f64,
    /// The table, if the plan returns rows of one table.
    pub(super) table: Option<&'s Source>,
}

impl<'s> Estimate<'s> {
    /// The values of a column of `schema`, the plan's schema.
    pub(super) fn values(&self, schema: &DFSchema, column: &Column) -> Option<Values<'s>> {
        self.columns.get(schema.maybe_index_of_column(column)?).copied().flatten()
    }

    /// The estimated number of distinct values of an expression.
    pub(super) fn distinct(&self, schema: &DFSchema, expr: &Expr) -> f64 {
        let values = match expr {
            Expr::Column(column) => self.values(schema, column),
            _ => None,
        };
        let distinct = values.and_then(|values| values.of.distinct_of(values.rows)).unwrap_or(VALUES);
        distinct.min(self.rows).max(1.0)
    }

    /// The selectivity of conditions on columns of `schema`.
    fn share(&self, schema: &DFSchema, filters: &[&Expr]) -> f64 {
        let part_of = |column: &Column| {
            let at = schema.maybe_index_of_column(column)?;
            Some((at, self.columns.get(at).copied().flatten()?.ty))
        };
        let builder = ConditionBuilder::new(Mode::Values, &part_of);
        let conditions: Vec<Condition> = filters.iter().map(|filter| builder.condition(filter)).collect();
        let of = |part: usize| self.columns.get(part).copied().flatten().map(|values| values.of);
        Known::of_all(&of, self.rows).share(&conditions)
    }

    fn filtered(self, schema: &DFSchema, predicate: &Expr) -> Self {
        let share = self.share(schema, &split_conjunction(predicate));
        Self { rows: (self.rows * share).max(1.0), ..self }
    }
}

/// The estimate of a plan; `None` if it reads a table without statistics or has an unknown node.
pub(super) fn of<'s>(plan: &LogicalPlan, sources: &'s Sources) -> Option<Estimate<'s>> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let source = sources.get(scan)?;
            let judged = source.judged();
            let columns = &source.table.codec().table().columns;
            let values = |(at, column): (usize, &catalog::Column)| {
                Some(Values { of: judged.column(at)?, ty: column.ty, rows: judged.rows() })
            };
            let all: Vec<Option<Values<'s>>> = columns.iter().enumerate().map(values).collect();
            let whole = Estimate { rows: judged.rows().max(1.0), columns: all, cost: 0.0, table: Some(source) };
            let filters: Vec<&Expr> = scan.filters.iter().collect();
            // Filters may reference columns that the scan does not output.
            let rows = (whole.rows * of_table(source, &filters)).max(1.0);
            let led =
                filters.iter().any(|filter| filter.column_refs().iter().any(|column| source.is_led_by(&column.name)));
            let cost = if led { (rows * FETCH).min(whole.rows) } else { whole.rows };
            let chosen = match &scan.projection {
                Some(places) => places.iter().map(|at| whole.columns.get(*at).copied().flatten()).collect(),
                None => whole.columns,
            };
            let rows = scan.fetch.map_or(rows, |fetch| rows.min(fetch as f64));
            Some(Estimate { rows, columns: chosen, cost, table: Some(source) })
        }
        LogicalPlan::SubqueryAlias(alias) => of(&alias.input, sources),
        LogicalPlan::Sort(sort) => {
            let input = of(&sort.input, sources)?;
            Some(Estimate { rows: sort.fetch.map_or(input.rows, |fetch| input.rows.min(fetch as f64)), ..input })
        }
        LogicalPlan::Filter(filter) => {
            Some(of(&filter.input, sources)?.filtered(filter.input.schema(), &filter.predicate))
        }
        LogicalPlan::Projection(projection) => {
            let input = of(&projection.input, sources)?;
            let column = |expr: &Expr| match expr.clone().unalias() {
                Expr::Column(column) => input.values(projection.input.schema(), &column),
                _ => None,
            };
            let columns = projection.expr.iter().map(column).collect();
            Some(Estimate { columns, ..input })
        }
        LogicalPlan::Aggregate(aggregate) => of_groups(aggregate, sources),
        LogicalPlan::Limit(limit) => of_limit(limit, sources),
        LogicalPlan::Join(join) => of_join(join, sources),
        LogicalPlan::EmptyRelation(empty) => Some(plain(f64::from(u8::from(empty.produce_one_row)), plan)),
        LogicalPlan::Values(values) => Some(plain(values.values.len() as f64, plan)),
        LogicalPlan::Window(window) => {
            let input = of(&window.input, sources)?;
            let mut columns = input.columns;
            columns.resize(plan.schema().fields().len(), None);
            Some(Estimate { columns, table: None, ..input })
        }
        LogicalPlan::Extension(extension) => match *extension.node.inputs() {
            // All our own nodes output the columns of their input.
            [input] => Some(Estimate { table: None, ..of(input, sources)? }),
            _ => None,
        },
        _ => None,
    }
}

/// The selectivity of filters on a table.
fn of_table(source: &Source, filters: &[&Expr]) -> f64 {
    let columns = &source.table.codec().table().columns;
    let part_of = |column: &Column| {
        let at = columns.iter().position(|own| own.name == column.name)?;
        Some((at, columns.get(at)?.ty))
    };
    let builder = ConditionBuilder::new(Mode::Values, &part_of);
    let all = filters.iter().flat_map(|filter| split_conjunction(filter));
    let conditions: Vec<Condition> = all.map(|filter| builder.condition(filter)).collect();
    source.judged().share(&conditions)
}

fn plain<'s>(rows: f64, plan: &LogicalPlan) -> Estimate<'s> {
    Estimate { rows: rows.max(1.0), columns: vec![None; plan.schema().fields().len()], cost: rows, table: None }
}

fn of_groups<'s>(aggregate: &Aggregate, sources: &'s Sources) -> Option<Estimate<'s>> {
    let input = of(&aggregate.input, sources)?;
    let schema = aggregate.input.schema();
    let groups: f64 = aggregate.group_expr.iter().map(|expr| input.distinct(schema, expr)).product();
    let mut columns: Vec<Option<Values<'s>>> = aggregate
        .group_expr
        .iter()
        .map(|expr| match expr {
            Expr::Column(column) => input.values(schema, column),
            _ => None,
        })
        .collect();
    columns.resize(aggregate.schema.fields().len(), None);
    let rows = groups.min(input.rows).max(1.0);
    Some(Estimate { rows, columns, cost: input.cost + input.rows, table: None })
}

fn of_limit<'s>(limit: &Limit, sources: &'s Sources) -> Option<Estimate<'s>> {
    let input = of(&limit.input, sources)?;
    let rows = match (limit.get_skip_type().ok()?, limit.get_fetch_type().ok()?) {
        (SkipType::Literal(_), FetchType::Literal(Some(fetch))) => input.rows.min(fetch as f64),
        _ => input.rows,
    };
    Some(Estimate { rows: rows.max(1.0), table: None, ..input })
}

/// A join outside of the group, or within a leaf.
fn of_join<'s>(join: &Join, sources: &'s Sources) -> Option<Estimate<'s>> {
    let (left, right) = (of(&join.left, sources)?, of(&join.right, sources)?);
    let (of_left, of_right) = (join.left.schema(), join.right.schema());
    let keys = || join.on.iter();
    let share: f64 =
        keys().map(|(one, other)| 1.0 / left.distinct(of_left, one).max(right.distinct(of_right, other))).product();
    let inner = left.rows * right.rows * share;
    let met = |of: &Estimate<'_>, schema: &DFSchema, other: f64| -> f64 {
        let distinct: f64 = keys().map(|(one, _)| of.distinct(schema, one)).product();
        // Keys of several columns have no more distinct values than there are rows.
        (other / distinct.min(of.rows).max(1.0)).min(1.0)
    };
    let semi = || left.rows * met(&left, of_left, right.rows);
    let rows = match join.join_type {
        JoinType::Inner => inner,
        JoinType::Left => inner.max(left.rows),
        JoinType::Right => inner.max(right.rows),
        JoinType::Full => inner.max(left.rows + right.rows),
        JoinType::LeftSemi => semi(),
        JoinType::LeftAnti => left.rows - semi(),
        JoinType::LeftMark => left.rows,
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => right.rows,
    };
    let columns = match join.join_type {
        JoinType::LeftSemi | JoinType::LeftAnti => left.columns,
        JoinType::RightSemi | JoinType::RightAnti => right.columns,
        JoinType::LeftMark => left.columns.into_iter().chain([None]).collect(),
        JoinType::RightMark => right.columns.into_iter().chain([None]).collect(),
        _ => left.columns.into_iter().chain(right.columns).collect(),
    };
    let cost = left.cost + right.cost + left.rows + right.rows + rows;
    Some(Estimate { rows: rows.max(1.0), columns, cost, table: None })
}
