//! Which rules run, in which order: one list for each of the three phases.

mod bounded_batches;
mod cooperate;
mod dependencies;
mod flat_choices;
mod interrupt;
mod join_claims;
mod min_max;
mod misplaced_keys;
mod named_groups;
mod null_safe_keys;
mod pauses;
mod pushed_filters;

use crate::representation::IntegerArithmetic;
use chrono::{DateTime, Utc};
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::optimizer::{AnalyzerRule, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::ensure_requirements::EnsureRequirements;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use dependencies::before_readers;
pub(crate) use interrupt::{interruptible, interruptible_analyzer};
use join_claims::SoundJoins;
use min_max::MinMaxOfKey;
use misplaced_keys::HideMisplacedKeys;
pub(crate) use misplaced_keys::UnorderedExec;
use named_groups::NamedGroups;
use null_safe_keys::NullSafeKeys;
pub(crate) use null_safe_keys::null_safe_keys;
use pushed_filters::PushedFilters;
use std::sync::Arc;

/// Rules that make a plan's meaning explicit. Ours come when all types are known.
fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![Arc::new(ResolveGroupingFunction::new()), Arc::new(TypeCoercion::new()), Arc::new(IntegerArithmetic)]
}

/// Rules that make a logical plan cheaper.
fn logical_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = before_readers(Optimizer::new().rules);
    let ours: [Arc<dyn OptimizerRule + Send + Sync>; 2] =
        [Arc::new(NullSafeKeys::default()), Arc::new(NamedGroups::default())];
    for ours in ours {
        for rule in rules.iter_mut().filter(|rule| rule.name() == ours.name()) {
            *rule = Arc::clone(&ours);
        }
    }
    rules.insert(0, Arc::new(flat_choices::FlatChoices));
    // Last: it reads the filters that scans have taken.
    rules.push(Arc::new(MinMaxOfKey));
    rules
}

/// Rules that make a physical plan cheaper.
fn physical_rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = PhysicalOptimizer::new().rules;
    for ours in [PushedFilters::of_queries(), PushedFilters::running()] {
        let ours: Arc<dyn PhysicalOptimizerRule + Send + Sync> = Arc::new(ours);
        for rule in rules.iter_mut().filter(|rule| rule.name() == ours.name()) {
            *rule = Arc::clone(&ours);
        }
    }
    if let Some(at) = rules.iter().position(|rule| rule.name() == EnsureRequirements::new().name()) {
        rules.insert(at, Arc::new(HideMisplacedKeys));
        rules.insert(at, Arc::new(SoundJoins));
    }
    rules.push(Arc::new(cooperate::CooperativeJoins));
    // The others look for projections.
    rules.push(Arc::new(bounded_batches::BoundedBatches));
    // Last: nobody expects what it puts between operators.
    rules.push(Arc::new(pauses::Pauses));
    rules.into_iter().map(interrupt::asking).collect()
}

/// What rules may ask for. No time of day: a plan that is kept must not have one. Names that rules make begin
/// anew for each plan, so that equal queries have equal plans.
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

/// Installs the lists.
pub(crate) fn install(builder: SessionStateBuilder) -> SessionStateBuilder {
    builder
        .with_analyzer_rules(analyzer_rules())
        .with_optimizer_rules(logical_rules())
        .with_physical_optimizer_rules(physical_rules())
}
