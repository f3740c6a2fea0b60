//! Keeps columns with effects that no operator above reads.
//!
//! `SELECT count(*) FROM (SELECT pg_advisory_lock(id) FROM t) q` takes the locks, as in PostgreSQL. DataFusion drops
//! unused columns of a projection and merges projections. [`KeptEffects`] over a projection requires these columns. A
//! limit that skips rows stays above it, because the calls are made for the skipped rows too.

use super::stop::step;
use crate::exec::only_input;
use crate::functions::acts;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, DFSchemaRef, Result};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::ExecutionPlan;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

/// Puts [`KeptEffects`] over projections with effects.
///
/// # Errors
/// None for a valid plan.
pub(super) fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        step()?;
        let LogicalPlan::Projection(projection) = &node else { return Ok(Transformed::no(node)) };
        let columns = projection.schema.columns().into_iter().zip(&projection.expr);
        let acting: Vec<Column> = columns.filter(|(_, expr)| acts(expr)).map(|(column, _)| column).collect();
        if acting.is_empty() {
            return Ok(Transformed::no(node));
        }
        let node = Arc::new(KeptEffects { input: node, acting });
        Ok(Transformed::yes(LogicalPlan::Extension(Extension { node })))
    })
    .data()
}

/// Passes on the rows of its input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Hash)]
struct KeptEffects {
    input: LogicalPlan,
    /// The columns with effects.
    acting: Vec<Column>,
}

impl UserDefinedLogicalNodeCore for KeptEffects {
    fn name(&self) -> &str {
        "KeptEffects"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.acting.iter().map(|column| column.name.clone()).collect()
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let acting = self.acting.iter().filter_map(|column| self.input.schema().maybe_index_of_column(column));
        let all: BTreeSet<usize> = output_columns.iter().copied().chain(acting).collect();
        Some(vec![all.into_iter().collect()])
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptEffects")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = only_input(inputs)?;
        Ok(Self { input, acting: self.acting.clone() })
    }
}

/// Is it a [`KeptEffects`] node?
pub(super) fn is_kept(node: &dyn UserDefinedLogicalNode) -> bool {
    node.as_any().is::<KeptEffects>()
}

/// The physical operator of a [`KeptEffects`] node: that of its input.
pub(super) fn operator(
    node: &dyn UserDefinedLogicalNode,
    input: &Arc<dyn ExecutionPlan>,
) -> Option<Arc<dyn ExecutionPlan>> {
    is_kept(node).then(|| Arc::clone(input))
}
