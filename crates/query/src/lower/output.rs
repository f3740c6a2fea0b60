//! The columns of a result: names and types are those of the bound query.

use super::Lowering;
use super::error::LowerResult;
use crate::context::QueryContext;
use crate::convert::arrow_type;
use crate::error::QueryError;
use crate::lower::rel::computed;
use crate::plan::{OutputColumn, Plan, Planner};
use ::bind::tree::{Bound, Output, Query};
use builtins::{Ty, TypeId};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection};
use std::sync::Arc;
use types::DataType;

impl Lowering<'_> {
    /// Projects the plan to the outputs, in their order.
    pub(super) fn outputs(&mut self, plan: LogicalPlan, outputs: &[Output]) -> LowerResult<LogicalPlan> {
        let mut exprs: Vec<Expr> = Vec::with_capacity(outputs.len());
        for output in outputs {
            let column = self.columns.get(output.col)?.clone();
            let column = Expr::Column(column);
            let value = match self.bound.col(output.col) {
                Some(info) => self.as_shown(column.clone(), info.ty)?,
                None => column.clone(),
            };
            // Column names of a plan must be unique.
            exprs.push(if value != column || exprs.contains(&value) {
                let column = self.columns.nameless(&output.name);
                value.alias_qualified(computed(), column.name)
            } else {
                value
            });
        }
        if exprs.len() == plan.schema().fields().len()
            && exprs.iter().zip(plan.schema().columns()).all(|(expr, column)| *expr == Expr::Column(column))
        {
            return Ok(plan);
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}

impl Planner {
    /// Optimizes the plan for caching; its outputs get the Arrow types of their SQL types.
    pub(super) fn finish_bound(
        &self,
        cx: &QueryContext,
        bound: &Bound,
        query: &Query,
        plan: LogicalPlan,
        parameters: Vec<DataType>,
        cacheable: bool,
    ) -> LowerResult<Plan> {
        let finish = |found: Vec<OutputColumn>| -> LowerResult<Vec<OutputColumn>> {
            found.into_iter().zip(&query.outputs).map(|(found, output)| column(bound, output, found)).collect()
        };
        self.finished(cx, plan, parameters, cacheable, finish)
    }
}

/// The result column as the binder declares it. The precision of a numeric is the plan's.
fn column(bound: &Bound, output: &Output, found: OutputColumn) -> LowerResult<OutputColumn> {
    let name = output.name.clone();
    let missing = || QueryError::internal("an output without a column");
    let info = bound.col(output.col).ok_or_else(missing)?;
    let (table_oid, column_number) = info.origin.map_or((0, 0), |(oid, number)| (oid.0, number));
    if table_oid != 0 && table_oid == found.table_oid {
        // A table's column keeps the type modifier of its declaration.
        return Ok(OutputColumn { name, table_oid, column_number, ..found });
    }
    // Only the plan knows the length of a computed `char(n)`.
    let is_open_char = info.ty.id == TypeId::BPCHAR && info.ty.typmod == -1;
    let (ty, declared) = match info.ty.data_type().filter(|_| !is_open_char) {
        Some(DataType::Numeric(_)) => (found.ty, DataType::Numeric(digits_of(info.ty))),
        Some(ty) if arrow_type(&ty) == arrow_type(&found.ty) => (ty, ty),
        // An array of several dimensions has the type of a one-dimensional array.
        Some(ty) if ty.item().is_some() && found.ty.item().is_some() => (found.ty, found.declared),
        Some(ty) => {
            let what = format!("a column of type {ty} that the plan has as {}", found.ty);
            return Err(QueryError::internal(what));
        }
        None => (found.ty, found.declared),
    };
    Ok(OutputColumn { name, ty, declared, table_oid, column_number })
}

/// The declared precision and scale of a numeric.
fn digits_of(ty: Ty) -> Option<(u8, u8)> {
    match ty.data_type() {
        Some(DataType::Numeric(digits)) => digits,
        _ => None,
    }
}
