//! Expressions over one row of the target, evaluated where a row is written.
//!
//! They are a query of their own whose tables are one row each, with the row's values as parameters behind
//! the statement's: `SELECT exprs FROM (SELECT $8 AS a, $9 AS b) AS t, (SELECT …) AS excluded`.

use super::params::ParamTypes;
use super::row_set;
use super::target::Target;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::Catalog;
use futures::StreamExt;
use query::{Plan, Planner, QueryContext};
use sql::ast::{self, Expr};
use std::ops::ControlFlow;
use std::sync::Arc;
use types::{DataType, Datum};

/// What expressions of one execution see beside rows.
pub(crate) struct Scope<'a> {
    pub(crate) params: &'a [Datum],
    /// `None` where the statement has no expressions.
    pub(crate) context: Option<QueryContext>,
}

/// Compiled expressions, perhaps none.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    inner: Option<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    planner: Arc<Planner>,
    plan: Arc<Plan>,
    types: Vec<DataType>,
    /// Parameters of the statement itself.
    params: usize,
    /// Does a second row stand behind the first?
    second: bool,
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
    pub(crate) fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    /// All values for one row; `second` is the row beside it.
    pub(crate) async fn eval(
        &self,
        scope: &Scope<'_>,
        row: &[Datum],
        second: Option<&[Datum]>,
    ) -> EngineResult<Vec<Datum>> {
        let Some(compiled) = &self.inner else { return Ok(Vec::new()) };
        let Some(context) = &scope.context else {
            return fail(Fault::Internal { detail: "expressions without a context".to_string() });
        };
        let mut all = scope.params.get(..compiled.params).unwrap_or(scope.params).to_vec();
        all.extend_from_slice(row);
        if compiled.second {
            all.extend_from_slice(second.unwrap_or(row));
        }
        let mut execution = compiled.planner.execute(context, &compiled.plan, &all).await?;
        while let Some(batch) = execution.stream.next().await {
            let batch = batch.map_err(query::QueryError::from)?;
            if let Some(values) = query::convert::batch_to_rows(&batch, &compiled.types)?.into_iter().next() {
                return Ok(values);
            }
        }
        fail(Fault::Internal { detail: "no values for a row".to_string() })
    }

    /// Their types.
    pub(crate) fn types(&self) -> &[DataType] {
        self.inner.as_ref().map_or(&[], |compiled| &compiled.types)
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
        if exprs.is_empty() {
            return Ok(Exprs::default());
        }
        let own = params.known().len();
        let mut types = params.known().to_vec();
        let own_columns = || target.table.columns.iter().map(|column| (column.name.clone(), column.ty));
        let mut from = vec![one_row_table(own_columns(), alias, &mut types)];
        match second {
            Second::None => {}
            Second::Excluded => from.push(one_row_table(own_columns(), "excluded", &mut types)),
            Second::Joined(joined) => {
                let columns = joined.iter().enumerate().map(|(i, ty)| (format!("x{i}"), *ty));
                from.push(one_row_table(columns, JOINED, &mut types));
            }
        }
        let second = from.len() > 1;
        let query = row_set::over(&from.join(", "), exprs)?;
        let plan = self.plan(catalog, &query, &types).await?;
        params.merge(&query, plan.parameters.get(..own).unwrap_or_default());
        let types = plan.columns.iter().map(|column| column.ty).collect();
        let planner = Arc::clone(self.engine.planner());
        Ok(Exprs { inner: Some(Compiled { planner, plan, types, params: own, second }) })
    }
}

/// `(SELECT $8 AS a, $9 AS b) AS alias`, whose parameters come behind `types`.
fn one_row_table(
    columns: impl Iterator<Item = (String, DataType)>,
    alias: &str,
    types: &mut Vec<Option<DataType>>,
) -> String {
    let quote = types::ident::quote;
    let mut list = Vec::new();
    for (name, ty) in columns {
        types.push(Some(ty));
        list.push(format!("${} AS {}", types.len(), quote(&name)));
    }
    format!("(SELECT {}) AS {}", list.join(", "), quote(alias))
}

/// Does it hold a query?
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    let found = ast::visit_expressions(expr, |part| match part {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}
