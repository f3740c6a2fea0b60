//! Expressions over one row of the target, evaluated where a row is written.

use super::key_match::folded;
use super::params::ParamTypes;
use super::target::Target;
use crate::error::EngineResult;
use crate::Session;
use catalog::Catalog;
use crate::planner::RowExprs;
use sql::ast::{self, Expr};
use std::ops::ControlFlow;
use std::sync::Arc;
use types::{DataType, Datum};

/// Compiled expressions, perhaps none.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    inner: Option<RowExprs>,
}

impl Exprs {
    /// All values for one row; `excluded` is the row that did not get in.
    pub(crate) fn eval(&self, row: &[Datum], excluded: Option<&[Datum]>, params: &[Datum]) -> EngineResult<Vec<Datum>> {
        match &self.inner {
            Some(exprs) => Ok(exprs.eval(row, excluded, params)?),
            None => Ok(Vec::new()),
        }
    }

    /// Their types.
    pub(crate) fn types(&self) -> &[DataType] {
        self.inner.as_ref().map_or(&[], RowExprs::types)
    }
}

impl Session {
    /// Compiles expressions over a row of the target (and, in ON CONFLICT, over `excluded`).
    pub(crate) async fn row_exprs(
        &self,
        catalog: &Arc<Catalog>,
        target: &Target,
        alias: &str,
        excluded: bool,
        exprs: &[Expr],
        params: &mut ParamTypes,
    ) -> EngineResult<Exprs> {
        if exprs.is_empty() {
            return Ok(Exprs::default());
        }
        let plain: Vec<Expr> = exprs.iter().map(|expr| unqualified(expr, alias)).collect();
        let context = self.planning_context(catalog).await?;
        let extra = excluded.then_some("excluded");
        let inner = self.engine.planner().row_expr(&context, &target.table, extra, &plain, params.known())?;
        params.merge(inner.parameters());
        Ok(Exprs { inner: Some(inner) })
    }
}

/// `t.a` as `a`, for the target's own name.
fn unqualified(expr: &Expr, alias: &str) -> Expr {
    let mut plain = expr.clone();
    let _ = ast::visit_expressions_mut(&mut plain, |part| {
        if let Expr::CompoundIdentifier(names) = part
            && let [table, name] = names.as_slice()
            && folded(table) == alias
        {
            *part = Expr::Identifier(name.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    plain
}

/// Does it hold a query?
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    let found = ast::visit_expressions(expr, |part| match part {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}
