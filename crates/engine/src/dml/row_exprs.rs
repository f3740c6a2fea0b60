//! Expressions over rows of the target, evaluated where they are written.
//!
//! They are compiled once and run on batches without a plan. Those with subqueries are a query of their own, run
//! for each row, whose tables are one row each with its values as parameters behind the statement's:
//! `SELECT exprs FROM (SELECT $8 AS a, $9 AS b) AS t, (SELECT …) AS excluded`.

use super::bound::{BoundExprs, BoundQuery};
use super::params::ParamTypes;
use super::row_set;
use super::target::Target;
use crate::error::{EngineResult, Fault, fail};
use crate::{Session, turn};
use builtins::Env;
use catalog::Catalog;
use futures::StreamExt;
use query::{Plan, Planner, QueryContext, RowExprs, RowTable};
use sql::ast::{self, Expr};
use std::ops::ControlFlow;
use std::sync::Arc;
use types::{DataType, Datum};

/// What expressions of one execution see beside rows.
pub(crate) struct Scope<'a> {
    pub(crate) params: &'a [Datum],
    /// `None` where the statement has no expressions.
    pub(crate) context: Option<QueryContext>,
    /// For programs of `rows`; `None` where expressions ask for no session.
    pub(crate) env: Option<Env>,
}

/// Compiled expressions, perhaps none.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    inner: Option<Compiled>,
}

#[derive(Debug)]
enum Compiled {
    Rows(Box<RowExprs>),
    Query(RowQuery),
    /// Of the bound tree.
    Bound(BoundExprs),
    /// Of the bound tree, with subqueries.
    BoundQuery(BoundQuery),
}

/// Expressions with subqueries.
#[derive(Debug)]
struct RowQuery {
    planner: Arc<Planner>,
    plan: Arc<Plan>,
    types: Vec<DataType>,
    /// Parameters of the statement itself.
    params: usize,
    /// How many rows stand side by side.
    tables: usize,
}

/// A row beside the target's, as expressions name it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Second<'a> {
    None,
    /// `excluded`, of the target's own columns.
    Excluded,
    /// Columns of joined tables: `[JOINED].x0`, `[JOINED].x1`, …
    Joined(&'a [DataType]),
}

/// What the row of joined columns is called.
pub(crate) const JOINED: &str = "joined columns";

impl Exprs {
    pub(super) fn of_bound(exprs: BoundExprs) -> Self {
        Self { inner: Some(Compiled::Bound(exprs)) }
    }

    pub(super) fn of_stages(exprs: RowExprs) -> Self {
        Self { inner: Some(Compiled::Rows(Box::new(exprs))) }
    }

    pub(super) fn of_query(query: BoundQuery) -> Self {
        Self { inner: Some(Compiled::BoundQuery(query)) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    /// Must [`Scope::context`] be there?
    pub(crate) fn needs_context(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Bound(_)) => false,
            Some(Compiled::Rows(exprs)) => exprs.needs_context(),
            Some(Compiled::Query(_) | Compiled::BoundQuery(_)) => true,
        }
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Bound(_)) => true,
            Some(Compiled::Rows(exprs)) => exprs.cacheable,
            Some(Compiled::Query(query)) => query.plan.cacheable,
            Some(Compiled::BoundQuery(query)) => query.plan.cacheable,
        }
    }

    /// All values for one row; `second` is the row beside it.
    pub(crate) async fn eval(
        &self,
        scope: &Scope<'_>,
        row: &[Datum],
        second: Option<&[Datum]>,
    ) -> EngineResult<Vec<Datum>> {
        let rows: &[&[Datum]] = match second {
            Some(second) => &[row, second],
            None => &[row],
        };
        if let Some(Compiled::Bound(exprs)) = &self.inner {
            return exprs.eval(scope.env.as_ref(), scope.params, rows);
        }
        let values = self.eval_rows(scope, &[rows]).await?;
        Ok(values.into_iter().next().unwrap_or_default())
    }

    /// All values for one row, of expressions that need no context.
    ///
    /// # Errors
    /// Those of evaluating.
    pub(crate) fn eval_alone(&self, row: &[Datum]) -> EngineResult<Vec<Datum>> {
        match &self.inner {
            None => Ok(Vec::new()),
            Some(Compiled::Rows(exprs)) => Ok(exprs.eval(None, &[], &[&[row]])?.pop().unwrap_or_default()),
            Some(Compiled::Bound(exprs)) => exprs.eval(None, &[], &[row]),
            Some(Compiled::Query(_) | Compiled::BoundQuery(_)) => {
                fail(Fault::Internal { detail: "a query without a context".to_string() })
            }
        }
    }

    /// All values for each of many rows, each with the row beside it.
    pub(crate) async fn eval_rows(&self, scope: &Scope<'_>, rows: &[&[&[Datum]]]) -> EngineResult<Vec<Vec<Datum>>> {
        match &self.inner {
            None => Ok(vec![Vec::new(); rows.len()]),
            Some(Compiled::Rows(exprs)) => Ok(exprs.eval(scope.context.as_ref(), scope.params, rows)?),
            Some(Compiled::Query(query)) => {
                let mut values = Vec::with_capacity(rows.len());
                for row in rows {
                    values.push(query.eval(scope, row).await?);
                }
                Ok(values)
            }
            Some(Compiled::Bound(exprs)) => {
                rows.iter().map(|row| exprs.eval(scope.env.as_ref(), scope.params, row)).collect()
            }
            Some(Compiled::BoundQuery(query)) => {
                let mut values = Vec::with_capacity(rows.len());
                for row in rows {
                    values.push(query.eval(scope, row).await?);
                }
                Ok(values)
            }
        }
    }

    /// May they give another value for the same row?
    pub(crate) fn is_volatile(&self) -> bool {
        match &self.inner {
            None => false,
            Some(Compiled::Rows(exprs)) => exprs.is_volatile(),
            Some(Compiled::Bound(exprs)) => exprs.volatile,
            Some(Compiled::Query(_) | Compiled::BoundQuery(_)) => true,
        }
    }

    /// Their types.
    pub(crate) fn types(&self) -> &[DataType] {
        match &self.inner {
            None => &[],
            Some(Compiled::Rows(exprs)) => exprs.types(),
            Some(Compiled::Query(query)) => &query.types,
            Some(Compiled::Bound(exprs)) => &exprs.types,
            Some(Compiled::BoundQuery(query)) => &query.types,
        }
    }
}

impl RowQuery {
    async fn eval(&self, scope: &Scope<'_>, rows: &[&[Datum]]) -> EngineResult<Vec<Datum>> {
        let Some(context) = &scope.context else {
            return fail(Fault::Internal { detail: "expressions without a context".to_string() });
        };
        let mut all = scope.params.get(..self.params).unwrap_or(scope.params).to_vec();
        for row in rows.iter().take(self.tables) {
            all.extend_from_slice(row);
        }
        let mut execution = self.planner.execute(context, &self.plan, &all).await?;
        while let Some(batch) = execution.stream.next().await {
            let batch = batch.map_err(query::QueryError::from)?;
            if let Some(values) = query::convert::batch_to_rows(&batch, &self.types)?.into_iter().next() {
                return Ok(values);
            }
        }
        fail(Fault::Internal { detail: "no values for a row".to_string() })
    }
}

impl Session {
    /// Compiles expressions over a row of the target, and perhaps over one beside it.
    pub(crate) async fn row_exprs(
        &mut self,
        catalog: &Arc<Catalog>,
        target: &Target,
        alias: &str,
        second: Second<'_>,
        exprs: &[Expr],
        params: &mut ParamTypes,
    ) -> EngineResult<Exprs> {
        let own = target.table.columns.iter().map(|column| (column.name.clone(), column.ty)).collect::<Vec<_>>();
        let second = match second {
            Second::None => None,
            Second::Excluded => Some(RowTable { name: "excluded".to_string(), columns: own.clone() }),
            Second::Joined(joined) => {
                let columns = joined.iter().enumerate().map(|(i, ty)| (format!("x{i}"), *ty)).collect();
                Some(RowTable { name: JOINED.to_string(), columns })
            }
        };
        let first = RowTable { name: alias.to_string(), columns: own };
        let tables: Vec<RowTable> = std::iter::once(first).chain(second).collect();
        self.exprs_over(catalog, &tables, exprs, params).await
    }

    /// Compiles expressions over rows side by side, perhaps none.
    pub(crate) async fn exprs_over(
        &mut self,
        catalog: &Arc<Catalog>,
        tables: &[RowTable],
        exprs: &[Expr],
        params: &mut ParamTypes,
    ) -> EngineResult<Exprs> {
        if exprs.is_empty() {
            return Ok(Exprs::default());
        }
        if params.known().is_empty()
            && let Some(compiled) = self.bound_over_rows(catalog, tables, exprs).await?
        {
            return Ok(compiled);
        }
        if !exprs.iter().any(has_subquery) {
            let context = self.planning_context(catalog).await?;
            let compiled =
                turn::all_apart(self.engine.planner().row_exprs(&context, tables, exprs, params.known())).await?;
            if let Some(compiled) = compiled {
                params.merge_exprs(exprs, &compiled.parameters);
                return Ok(Exprs { inner: Some(Compiled::Rows(Box::new(compiled))) });
            }
        }
        let own = params.known().len();
        let mut types = params.known().to_vec();
        let from: Vec<String> = tables.iter().map(|table| one_row_table(table, &mut types)).collect();
        let query = if from.is_empty() { row_set::one_row(exprs)? } else { row_set::over(&from.join(", "), exprs)? };
        let plan = self.plan(catalog, &query, &types).await?;
        params.merge_exprs(exprs, plan.parameters.get(..own).unwrap_or_default());
        let types = plan.columns.iter().map(|column| column.ty).collect();
        let planner = Arc::clone(self.engine.planner());
        let query = RowQuery { planner, plan, types, params: own, tables: tables.len() };
        Ok(Exprs { inner: Some(Compiled::Query(query)) })
    }
}

/// `(SELECT $8 AS a, $9 AS b) AS name`, whose parameters come behind `types`.
fn one_row_table(table: &RowTable, types: &mut Vec<Option<DataType>>) -> String {
    let quote = types::ident::quote;
    let mut list = Vec::new();
    for (name, ty) in &table.columns {
        types.push(Some(*ty));
        list.push(format!("${} AS {}", types.len(), quote(name)));
    }
    format!("(SELECT {}) AS {}", list.join(", "), quote(&table.name))
}

/// Does it hold a query?
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    let found = ast::visit_expressions(expr, |part| match part {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}
