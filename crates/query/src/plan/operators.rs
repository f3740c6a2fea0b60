//! Physical planning of our own logical nodes.

use super::{kept_effects, materialized_cte, seen_order, single_row};
use crate::exec::KeptRowsExec;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use std::sync::Arc;

/// Creates the physical operators of our logical nodes.
pub(super) struct Operators;

#[async_trait]
impl ExtensionPlanner for Operators {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let [input] = inputs else { return Ok(None) };
        if let Some(cte) = materialized_cte::downcast(node) {
            let rows = cte.rows.clone().ok_or_else(|| internal_datafusion_err!("rows without a place"))?;
            return Ok(Some(Arc::new(KeptRowsExec::new(Arc::clone(input), rows))));
        }
        let operator = seen_order::operator(node, input).or_else(|| single_row::operator(node, input));
        Ok(operator.or_else(|| kept_effects::operator(node, input)))
    }
}
