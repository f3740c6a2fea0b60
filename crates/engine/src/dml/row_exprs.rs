//! Expressions over the current rows of a statement.
//!
//! Most are programs of `rows`, without a plan or Arrow. Calls of functions that `rows` does not implement become
//! physical expressions of DataFusion; expressions with subqueries become a query whose parameters are the columns
//! that they read.

use super::compile::{BoundExprs, BoundQuery};
use crate::error::{EngineResult, Fault, fail};
use crate::session::running::RunGuard;
use bind::tree::Scalar;
use builtins::{Env, Volatility};
use query::{QueryContext, RowExprs};
use std::sync::Arc;
use types::{DataType, Datum};

/// Inputs of expressions other than rows, for one execution.
pub(crate) struct Scope<'a> {
    pub(crate) params: &'a [Datum],
    /// `None` where the statement has no expressions.
    pub(crate) context: Option<QueryContext>,
    /// For programs of `rows`; `None` if no expression depends on the session.
    pub(crate) env: Option<Env>,
    /// Stops expressions that wait.
    pub(crate) guard: Arc<RunGuard>,
}

/// Compiled expressions; may be empty.
#[derive(Debug)]
pub(crate) struct Exprs {
    inner: Option<Compiled>,
    /// Whether values depend on the session or the time.
    depends_on_session: bool,
    /// The highest volatility of the expressions, by PostgreSQL's classes.
    volatility: Volatility,
}

impl Default for Exprs {
    fn default() -> Self {
        Self { inner: None, depends_on_session: false, volatility: Volatility::Immutable }
    }
}

#[derive(Debug)]
enum Compiled {
    Rows(BoundExprs),
    Stages(Box<RowExprs>),
    Query(Box<BoundQuery>),
    /// The expressions one after the other, and the types of all.
    Parts(Vec<Exprs>, Vec<DataType>),
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

    pub(super) fn of_parts(parts: Vec<Self>) -> Self {
        let types = parts.iter().flat_map(|part| part.types().iter().copied()).collect();
        Self { inner: Some(Compiled::Parts(parts, types)), ..Self::default() }
    }

    /// Adds the session dependence and the volatility of the expressions that these were compiled from.
    pub(super) fn with_scalar_properties(self, scalars: &[&Scalar]) -> Self {
        let depends_on_session = self.needs_context() || scalars.iter().any(|scalar| bind::depends_on_session(scalar));
        let volatility = scalars.iter().map(|scalar| bind::volatility(scalar)).max().unwrap_or(Volatility::Immutable);
        Self { depends_on_session, volatility, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    /// Whether [`Scope::context`] is required.
    pub(crate) fn needs_context(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Rows(_)) => false,
            Some(Compiled::Stages(exprs)) => exprs.needs_context(),
            Some(Compiled::Query(_)) => true,
            Some(Compiled::Parts(parts, _)) => parts.iter().any(Self::needs_context),
        }
    }

    /// Whether values depend on more than the rows: the session, the time, or other rows.
    pub(crate) fn depends_on_session(&self) -> bool {
        self.depends_on_session
    }

    /// Whether a call waits, for time to pass or for a lock. [`Self::eval_alone`] cannot evaluate it.
    pub(crate) fn waits(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Rows(_)) => false,
            Some(Compiled::Stages(exprs)) => exprs.waits(),
            Some(Compiled::Query(_)) => true,
            Some(Compiled::Parts(parts, _)) => parts.iter().any(Self::waits),
        }
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match &self.inner {
            None | Some(Compiled::Rows(_)) => true,
            Some(Compiled::Stages(exprs)) => exprs.cacheable,
            Some(Compiled::Query(query)) => query.plan.cacheable,
            Some(Compiled::Parts(parts, _)) => parts.iter().all(Self::is_cacheable),
        }
    }

    /// Evaluates all expressions for one row; `second` is the other row in scope.
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

    /// Whether a condition, compiled on its own, is true for the row. Without a condition it is.
    ///
    /// Conditions are compiled apart from assigned values: rows that are not changed must not evaluate the values,
    /// which may fail for them, for example by division by zero.
    pub(super) async fn holds(&self, scope: &Scope<'_>, row: &[Datum], second: Option<&[Datum]>) -> EngineResult<bool> {
        if self.is_empty() {
            return Ok(true);
        }
        let values = self.eval(scope, row, second).await?;
        Ok(matches!(values.as_slice(), [Datum::Bool(true)]))
    }

    /// Evaluates all expressions for one row; none may require a context.
    ///
    /// # Errors
    /// Evaluation errors.
    pub(crate) fn eval_alone(&self, row: &[Datum]) -> EngineResult<Vec<Datum>> {
        match &self.inner {
            None => Ok(Vec::new()),
            Some(Compiled::Rows(exprs)) => exprs.eval(None, &[], &[row]),
            Some(Compiled::Stages(exprs)) => Ok(exprs.eval_alone(&[&[row]])?.pop().unwrap_or_default()),
            Some(Compiled::Query(_)) => fail(Fault::Internal { detail: "a query without a context".to_string() }),
            Some(Compiled::Parts(parts, _)) => {
                let values = parts.iter().map(|part| part.eval_alone(row)).collect::<EngineResult<Vec<_>>>()?;
                Ok(values.into_iter().flatten().collect())
            }
        }
    }

    /// Evaluates all expressions for many rows; each item of `rows` holds all rows in scope.
    ///
    /// Evaluations that may wait are boxed: every statement that writes contains this future, and most never use it.
    pub(crate) async fn eval_rows(&self, scope: &Scope<'_>, rows: &[&[&[Datum]]]) -> EngineResult<Vec<Vec<Datum>>> {
        match &self.inner {
            None => Ok(vec![Vec::new(); rows.len()]),
            Some(Compiled::Rows(exprs)) => {
                rows.iter().map(|row| exprs.eval(scope.env.as_ref(), scope.params, row)).collect()
            }
            Some(Compiled::Stages(exprs)) => {
                let values = exprs.eval(scope.context.as_ref(), scope.params, rows);
                Box::pin(scope.guard.stoppable(async { Ok(values.await?) })).await
            }
            Some(Compiled::Query(query)) => {
                let mut values = Vec::with_capacity(rows.len());
                for row in rows {
                    values.push(Box::pin(scope.guard.stoppable(query.eval(scope, row))).await?);
                }
                Ok(values)
            }
            Some(Compiled::Parts(parts, _)) => {
                let mut all = vec![Vec::new(); rows.len()];
                for part in parts {
                    let values = Box::pin(part.eval_rows(scope, rows)).await?;
                    all.iter_mut().zip(values).for_each(|(row, values)| row.extend(values));
                }
                Ok(all)
            }
        }
    }

    /// Whether any expression is VOLATILE.
    pub(crate) fn is_volatile(&self) -> bool {
        self.volatility == Volatility::Volatile
    }

    /// Whether all expressions are IMMUTABLE and independent of the session.
    pub(crate) fn is_immutable(&self) -> bool {
        !self.depends_on_session && self.volatility == Volatility::Immutable
    }

    /// The types of the expressions.
    pub(crate) fn types(&self) -> &[DataType] {
        match &self.inner {
            None => &[],
            Some(Compiled::Rows(exprs)) => &exprs.types,
            Some(Compiled::Stages(exprs)) => exprs.types(),
            Some(Compiled::Query(query)) => &query.types,
            Some(Compiled::Parts(_, types)) => types,
        }
    }
}
