//! The domain of a subquery: the distinct values of the outer columns that it reads.
//!
//! A subquery that calls volatile functions is computed for each outer row, also where rows have the same values: the
//! outer rows are numbered, and the number is one of the columns that it reads.

use super::references::{Renaming, columns_of};
use crate::optimizer::null_safe_keys;
use crate::plan::materialized_cte::{is_volatile, materialized};
use crate::plan::stop::before_building;
use datafusion::common::{Column, JoinType, Result};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, ident, lit};

/// Generates names that no query contains: they start with a control character.
#[derive(Default)]
pub(super) struct Names {
    next: usize,
}

impl Names {
    pub(super) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("\u{1}{}", self.next)
    }
}

/// The distinct values of some columns of an outer plan, under generated names.
#[derive(Clone)]
pub(super) struct Domain {
    pub(super) plan: LogicalPlan,
    /// An outer column and its name in the domain.
    pub(super) columns: Vec<(Column, String)>,
    /// Recursive queries whose work tables contain the domain's columns.
    pub(super) carriers: Vec<String>,
}

impl Domain {
    /// The domain of a subquery that reads these columns, [`Outer::reads_of`] it and others. Without columns it is one
    /// empty row.
    pub(super) fn new(outer: &Outer, columns: Vec<Column>, names: &mut Names) -> Result<Self> {
        let is_numbered = outer.number.as_ref().is_some_and(|number| columns.contains(number));
        let columns: Vec<(Column, String)> = columns.into_iter().map(|column| (column, names.fresh())).collect();
        if columns.is_empty() {
            return Self::without_columns();
        }
        before_building()?;
        let values = columns.iter().map(|(column, name)| Expr::Column(column.clone()).alias(name));
        let mut plan = LogicalPlanBuilder::from(outer.plan.clone()).project(values)?;
        if !is_numbered {
            plan = plan.distinct()?;
        }
        Ok(Self { plan: plan.build()?, columns, carriers: Vec::new() })
    }

    /// The domain of a subquery that reads no outer column.
    pub(super) fn without_columns() -> Result<Self> {
        let plan = LogicalPlanBuilder::empty(true).build()?;
        Ok(Self { plan, columns: Vec::new(), carriers: Vec::new() })
    }

    /// The domain for the recursive term of a query, whose work table has the domain's columns.
    pub(super) fn carried_by(&self, query: &str) -> Self {
        let mut carried = self.clone();
        carried.carriers.push(query.to_owned());
        carried
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(_, name)| name.as_str())
    }

    /// The domain's columns.
    pub(super) fn exprs(&self) -> impl Iterator<Item = Expr> {
        self.names().map(ident)
    }

    /// New names for the domain's columns, in order, for joins of two plans over the domain.
    pub(super) fn aside(&self, names: &mut Names) -> Vec<String> {
        self.columns.iter().map(|_| names.fresh()).collect()
    }

    /// Joins outer rows to the rows of `inner`, a plan over this domain, that belong to their values.
    pub(super) fn join_outer(
        &self,
        outer: LogicalPlan,
        inner: LogicalPlan,
        join_type: JoinType,
        filter: Vec<Expr>,
    ) -> Result<LogicalPlan> {
        let left = self.columns.iter().map(|(column, _)| column.clone()).collect();
        let right = self.names().map(Column::from_name).collect();
        null_safe_join(outer, inner, join_type, (left, right), filter)
    }
}

impl Renaming for Domain {
    fn renamed(&self, column: &Column) -> Option<Column> {
        self.columns.iter().find(|(known, _)| known == column).map(|(_, name)| Column::from_name(name))
    }
}

/// A join on columns for which NULL equals NULL.
pub(super) fn null_safe_join(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    keys: (Vec<Column>, Vec<Column>),
    filter: Vec<Expr>,
) -> Result<LogicalPlan> {
    before_building()?;
    if keys.0.is_empty() {
        // DataFusion requires a condition.
        let filter = conjunction(filter).unwrap_or_else(|| lit(true));
        return LogicalPlanBuilder::from(left).join_on(right, join_type, [filter])?.build();
    }
    let sides = (left.schema().as_ref(), right.schema().as_ref());
    let mut pairs = Vec::with_capacity(keys.0.len());
    for (left, right) in keys.0.into_iter().zip(keys.1) {
        pairs.extend(null_safe_keys(Expr::Column(left), Expr::Column(right), sides)?);
    }
    let keys: (Vec<Expr>, Vec<Expr>) = pairs.into_iter().unzip();
    LogicalPlanBuilder::from(left).join_with_expr_keys(right, join_type, keys, conjunction(filter))?.build()
}

/// The outer rows of subqueries. They are read twice, also to build the domains. A volatile plan is materialized, so
/// that both reads return the same rows.
pub(super) struct Outer {
    pub(super) plan: LogicalPlan,
    /// The column with their numbers, if they are numbered.
    number: Option<Column>,
}

impl Outer {
    /// The outer rows of these correlated subqueries.
    ///
    /// # Errors
    /// None for a valid plan.
    pub(super) fn of<'q>(
        plan: LogicalPlan,
        subqueries: impl IntoIterator<Item = &'q LogicalPlan>,
        names: &mut Names,
    ) -> Result<Self> {
        if !subqueries.into_iter().any(is_volatile) {
            let plan = if is_volatile(&plan) { materialized(plan) } else { plan };
            return Ok(Self { plan, number: None });
        }
        let name = names.fresh();
        let columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let number = row_number();
        let numbers = ident(number.schema_name().to_string()).alias(&name);
        let numbered =
            LogicalPlanBuilder::from(plan).window([number])?.project(columns.into_iter().chain([numbers]))?;
        Ok(Self { plan: materialized(numbered.build()?), number: Some(Column::from_name(name)) })
    }

    /// The columns that a subquery reads; with the number if it is volatile and reads any.
    pub(super) fn reads_of(&self, subquery: &LogicalPlan) -> Vec<Column> {
        let mut columns = columns_of(subquery, self.plan.schema());
        if !columns.is_empty() && is_volatile(subquery) {
            columns.extend(self.number.clone());
        }
        columns
    }
}
