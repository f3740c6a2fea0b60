//! Expressions over rows at hand, evaluated where they are written.
//!
//! Most are programs of `rows`: no plan, no Arrow. Those that call what has no body there are stages of physical expressions,
//! and those with subqueries a query whose parameters are the columns that they read.

use super::compile::{BoundExprs, BoundQuery};
use crate::error::{EngineResult, Fault, fail};
use bind::tree::Scalar;
use builtins::{Env, Volatility};
use query::{QueryContext, RowExprs};
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
#[derive(Debug)]
pub(crate) struct Exprs {
    inner: Option<Compiled>,
    /// Do values depend on the session or the time?
    asks_session: bool,
    /// As PostgreSQL says it.
    volatility: Volatility,
}

impl Default for Exprs {
    fn default() -> Self {
        Self { inner: None, asks_session: false, volatility: Volatility::Immutable }
    }
}

#[derive(Debug)]
enum Compiled {
    Rows(BoundExprs),
    Stages(Box<RowExprs>),
    Query(Box<BoundQuery>),
}

impl Exprs {
    pub(super) fn of_rows(exprs: BoundExprs) -> Self {
        Self { inner: Some(Compiled::Rows(exprs)), ..Self::default() }
    }

    pub(super) fn of_stages(exprs: RowExprs) -> Self {
        Self { inner: Some(Compiled::Stages(Box::new(exprs))), ..Self::default() }
    }

    pub(super) fn of_query(query: BoundQuery) -> Self {
        Self { inner: Some(Compiled::Query(Box::new(query))), ..Self::default() }
    }

    /// The same with what is known of the expressions that they were compiled from.
    pub(super) fn judged_by(self, scalars: &[&Scalar]) -> Self {
        let asks_session = self.needs_context() || scalars.iter().any(|scalar| bind::asks_session(scalar));
        let volatility = scalars.iter().map(|scalar| bind::volatility(scalar)).max().unwrap_or(Volatility::Immutable);
        Self { asks_session, volatility, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    /// Must [`Scope::context`] be there?
    pub(crate) fn needs_context(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Rows(_)) => false,
            Some(Compiled::Stages(exprs)) => exprs.needs_context(),
            Some(Compiled::Query(_)) => true,
        }
    }

    /// Do values depend on more than the rows: on the session, on the time, on other rows?
    pub(crate) fn asks_session(&self) -> bool {
        self.asks_session
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Rows(_)) => true,
            Some(Compiled::Stages(exprs)) => exprs.cacheable,
            Some(Compiled::Query(query)) => query.plan.cacheable,
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
        if let Some(Compiled::Rows(exprs)) = &self.inner {
            return exprs.eval(scope.env.as_ref(), scope.params, rows);
        }
        let values = self.eval_rows(scope, &[rows]).await?;
        Ok(values.into_iter().next().unwrap_or_default())
    }

    /// Is the row one that a condition, compiled alone, is true of? Without a condition every row is.
    ///
    /// Conditions are compiled apart from new values: those must not be evaluated over rows that are not changed, whose
    /// columns may divide by zero.
    pub(super) async fn holds(&self, scope: &Scope<'_>, row: &[Datum], second: Option<&[Datum]>) -> EngineResult<bool> {
        if self.is_empty() {
            return Ok(true);
        }
        let values = self.eval(scope, row, second).await?;
        Ok(matches!(values.as_slice(), [Datum::Bool(true)]))
    }

    /// All values for one row, of expressions that need no context.
    ///
    /// # Errors
    /// Those of evaluating.
    pub(crate) fn eval_alone(&self, row: &[Datum]) -> EngineResult<Vec<Datum>> {
        match &self.inner {
            None => Ok(Vec::new()),
            Some(Compiled::Rows(exprs)) => exprs.eval(None, &[], &[row]),
            Some(Compiled::Stages(exprs)) => Ok(exprs.eval(None, &[], &[&[row]])?.pop().unwrap_or_default()),
            Some(Compiled::Query(_)) => fail(Fault::Internal { detail: "a query without a context".to_string() }),
        }
    }

    /// All values for each of many rows, each with the row beside it.
    pub(crate) async fn eval_rows(&self, scope: &Scope<'_>, rows: &[&[&[Datum]]]) -> EngineResult<Vec<Vec<Datum>>> {
        match &self.inner {
            None => Ok(vec![Vec::new(); rows.len()]),
            Some(Compiled::Rows(exprs)) => {
                rows.iter().map(|row| exprs.eval(scope.env.as_ref(), scope.params, row)).collect()
            }
            Some(Compiled::Stages(exprs)) => Ok(exprs.eval(scope.context.as_ref(), scope.params, rows)?),
            Some(Compiled::Query(query)) => {
                let mut values = Vec::with_capacity(rows.len());
                for row in rows {
                    values.push(query.eval(scope, row).await?);
                }
                Ok(values)
            }
        }
    }

    /// May they give another value for the same row each time?
    pub(crate) fn is_volatile(&self) -> bool {
        self.volatility == Volatility::Volatile
    }

    /// Do they give the same values for the same row, always, as PostgreSQL says it?
    pub(crate) fn is_immutable(&self) -> bool {
        !self.asks_session && self.volatility == Volatility::Immutable
    }

    /// Their types.
    pub(crate) fn types(&self) -> &[DataType] {
        match &self.inner {
            None => &[],
            Some(Compiled::Rows(exprs)) => &exprs.types,
            Some(Compiled::Stages(exprs)) => exprs.types(),
            Some(Compiled::Query(query)) => &query.types,
        }
    }
}
