//! Compiles expressions of the bound tree over rows in memory, for expressions that row programs do not support.
//!
//! They are lowered over a scan of a table with one row type, optimized like a plan, and compiled to stages of physical
//! expressions (`plan/row_exprs.rs`), so that evaluation needs no planning.

use super::Lowering;
use super::budget::bounded;
use super::error::LowerResult;
use crate::context::QueryContext;
use crate::convert::arrow_type;
use crate::error::QueryError;
use crate::plan::{OutputColumn, Plan, Planner, RowExprs, RowTable, guarded};
use ::bind::tree::{Bound, ColId, Scalar};
use datafusion::common::{Column, DFSchema, TableReference};
use datafusion::logical_expr::builder::LogicalTableSource;
use datafusion::logical_expr::logical_plan::TableScanBuilder;
use datafusion::logical_expr::{EmptyRelation, LogicalPlan, Projection};
use std::sync::Arc;
use types::DataType;

/// A column of the rows in memory.
#[derive(Clone, Copy, Debug)]
pub struct RowInput {
    /// Its id.
    pub col: ColId,
    /// The index of its row among rows side by side.
    pub row: usize,
    /// Its index in that row.
    pub place: usize,
    /// Its type.
    pub ty: DataType,
}

/// The qualifier of the row's columns.
const ROW: &str = "r0";

impl Planner {
    /// Compiles expressions of a bound statement over rows in memory; `None` if they need a plan.
    ///
    /// # Errors
    /// As [`Planner::plan_bound`].
    pub async fn bound_row_exprs(
        &self,
        cx: &QueryContext,
        bound: &Bound,
        scalars: &[&Scalar],
        inputs: &[RowInput],
        parameters: Vec<DataType>,
    ) -> LowerResult<Option<RowExprs>> {
        guarded(Box::pin(async {
            let columns = inputs.iter().enumerate().map(|(at, input)| (format!("c{at}"), input.ty)).collect();
            let row = RowTable { columns };
            let mut lowering = Lowering::new(self, cx, bound, &[]);
            let lower = || lowering.over_row(&row, inputs, scalars).and_then(|plan| self.without_subqueries(cx, plan));
            let plan = bounded(&cx.stop, lower)?;
            let cacheable = !lowering.calls_bound;
            let plan: Plan = self.finished(cx, plan, parameters, cacheable, |found| typed(found, scalars))?;
            let exprs = self.stages(&plan, &row)?;
            Ok(exprs.map(|exprs| exprs.over(|at| inputs.get(at).map(|input| (input.row, input.place)))))
        }))
        .await
    }
}

impl Lowering<'_> {
    fn over_row(&mut self, row: &RowTable, inputs: &[RowInput], scalars: &[&Scalar]) -> LowerResult<LogicalPlan> {
        let table = TableReference::bare(ROW);
        let plan = if inputs.is_empty() {
            let schema = Arc::new(DFSchema::empty());
            LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: true, schema })
        } else {
            for (input, (name, _)) in inputs.iter().zip(&row.columns) {
                self.columns.of_table(input.col, &table, name);
            }
            let source = Arc::new(LogicalTableSource::new(row.schema()));
            LogicalPlan::TableScan(TableScanBuilder::new(table, source).build()?)
        };
        let schema = Arc::clone(plan.schema());
        let mut exprs = Vec::with_capacity(scalars.len());
        for (at, scalar) in scalars.iter().enumerate() {
            let value = self.expr(scalar, &schema)?;
            let value = self.as_shown(value, scalar.ty)?;
            let Column { relation, name, .. } = self.columns.nameless(&format!("v{at}"));
            exprs.push(value.alias_qualified(relation, name));
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}

/// The output columns with the types of the bound tree.
fn typed(found: Vec<OutputColumn>, scalars: &[&Scalar]) -> LowerResult<Vec<OutputColumn>> {
    let typed = found.into_iter().zip(scalars).map(|(found, scalar)| match scalar.ty.data_type() {
        Some(DataType::Numeric(_) | DataType::Array(_)) | None => Ok(found),
        Some(ty) if arrow_type(&ty) == arrow_type(&found.ty) => Ok(OutputColumn { ty, ..found }),
        Some(ty) => Err(QueryError::internal(format!("a value of type {ty} that is kept as {}", found.ty))),
    });
    typed.collect()
}
