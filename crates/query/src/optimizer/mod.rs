//! The optimizer rules and their order: one list per phase.

mod bounded_batches;
mod dependencies;
mod fences;
mod filter_selectivity;
mod flat_choices;
mod float_groups;
mod held_filters;
mod held_sorts;
mod interrupt;
mod join_claims;
mod kept_limits;
mod known_aggregates;
mod lists_apart;
mod min_max;
mod misplaced_keys;
mod named_groups;
mod null_safe_keys;
mod pauses;
mod pushed_filters;
mod row_by_row;
mod same_types;

use crate::error::{QueryError, QueryResult};
use chrono::{DateTime, Utc};
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::optimizer::{Analyzer, AnalyzerRule, OptimizerConfig};
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
pub(crate) use interrupt::{interruptible, interruptible_analyzer};
use min_max::MinMaxOfKey;
pub(crate) use misplaced_keys::UnorderedExec;
pub(crate) use null_safe_keys::null_safe_keys;
use std::sync::Arc;

/// DataFusion's analyzer rules.
fn analyzer_rules_of_datafusion() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![Arc::new(ResolveGroupingFunction::new()), Arc::new(TypeCoercion::new())]
}

/// The analyzer rules that are run: DataFusion's own.
fn analyzer_rules() -> QueryResult<Vec<Arc<dyn AnalyzerRule + Send + Sync>>> {
    let rules = analyzer_rules_of_datafusion();
    fences::check_analyzer(&Analyzer::new().rules, &rules)?;
    Ok(rules)
}

/// The rules for logical plans.
fn logical_rules() -> QueryResult<Vec<Arc<fences::Logical>>> {
    let used = fences::without(Optimizer::new().rules, &fences::IDLE)?;
    let mut rules = fences::fenced(used, &fences::LOGICAL, |rule| rule.name())?;
    // Last: it reads the filters that scans have taken.
    rules.push(Arc::new(MinMaxOfKey));
    Ok(rules)
}

/// The rules for physical plans.
fn physical_rules() -> QueryResult<Vec<Arc<fences::Physical>>> {
    let mut rules = fences::fenced(PhysicalOptimizer::new().rules, &fences::PHYSICAL, |rule| rule.name())?;
    let asks = rules.iter().position(|rule| rule.name() == filter_selectivity::BEFORE);
    let asks = asks.ok_or_else(|| QueryError::internal(format!("no rule {}", filter_selectivity::BEFORE)))?;
    rules.insert(asks, Arc::new(filter_selectivity::FilterSelectivity));
    // First: other rules look at filters and projections.
    rules.insert(0, Arc::new(row_by_row::RowByRow));
    // After the rules that match on `ProjectionExec`.
    rules.push(Arc::new(bounded_batches::BoundedBatches));
    // Last: no other rule expects the operators that it inserts.
    rules.push(Arc::new(pauses::Pauses));
    Ok(rules.into_iter().map(interrupt::asking).collect())
}

/// The context of the rules. It has no current time, because a cached plan must not contain one. Generated aliases
/// start anew for each plan, so that equal queries have equal plans.
pub(crate) struct Context<'a> {
    state: &'a SessionState,
    names: Arc<AliasGenerator>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(state: &'a SessionState) -> Self {
        Self { state, names: Arc::new(AliasGenerator::new()) }
    }
}

impl OptimizerConfig for Context<'_> {
    fn query_execution_start_time(&self) -> Option<DateTime<Utc>> {
        None
    }

    fn alias_generator(&self) -> &Arc<AliasGenerator> {
        &self.names
    }

    fn options(&self) -> Arc<ConfigOptions> {
        Arc::clone(self.state.config_options())
    }

    fn function_registry(&self) -> Option<&dyn FunctionRegistry> {
        Some(self.state)
    }
}

/// Installs the rule lists.
///
/// # Errors
/// [`crate::QueryError::Internal`] if DataFusion lacks a rule that a fence names.
pub(crate) fn install(builder: SessionStateBuilder) -> QueryResult<SessionStateBuilder> {
    Ok(builder
        .with_analyzer_rules(analyzer_rules()?)
        .with_optimizer_rules(logical_rules()?)
        .with_physical_optimizer_rules(physical_rules()?))
}
