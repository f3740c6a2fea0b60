//! Which rules run, in which order: one list for each of the three phases.

use crate::pg_semantics::IntegerArithmetic;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::optimizer::{AnalyzerRule, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use std::sync::Arc;

/// Rules that make a plan's meaning explicit. Ours come when all types are settled.
fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![Arc::new(ResolveGroupingFunction::new()), Arc::new(TypeCoercion::new()), Arc::new(IntegerArithmetic)]
}

/// Rules that make a logical plan cheaper.
fn logical_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    Optimizer::new().rules
}

/// Rules that make a physical plan cheaper.
fn physical_rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    PhysicalOptimizer::new().rules
}

/// Installs the lists.
pub(crate) fn install(builder: SessionStateBuilder) -> SessionStateBuilder {
    builder
        .with_analyzer_rules(analyzer_rules())
        .with_optimizer_rules(logical_rules())
        .with_physical_optimizer_rules(physical_rules())
}
