//! Restricts the pushdown of physical filters to plans in which column names are unambiguous, and no limit is passed.
//!
//! DataFusion's rules (55.2, `FilterPushdown`) map the columns of a filter through operators by name, and take the
//! first column of a name. In the output of `SELECT a.x, b.x FROM a JOIN b …` two columns have the same name: a bound
//! on `a.x` could become one on `b.x` and drop wanted rows. A semi join outputs the columns of one side only, but
//! passes a filter on its keys to the other side as well, again by name. So the rules run only on the subplans in which
//! that cannot happen. There are two: one for the query's conditions, one for dynamic filters of joins and sorts.
//!
//! Nor does DataFusion keep a filter above a limit that another operator has taken: `SELECT … FROM (SELECT … WHERE …
//! LIMIT 5) JOIN …` would find its five rows among those that the join wants.

use arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{HashSet, JoinType, Result};
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// Replaces one of DataFusion's rules.
#[derive(Debug)]
pub(super) struct PushedFilters {
    rule: FilterPushdown,
    /// Does the operator create filters for its child with this index?
    makes: fn(&Arc<dyn ExecutionPlan>, usize) -> bool,
}

impl PushedFilters {
    /// For the query's conditions.
    pub(super) fn of_queries() -> Self {
        Self { rule: FilterPushdown::new(), makes: |plan, _| plan.is::<FilterExec>() }
    }

    /// For dynamic filters.
    pub(super) fn running() -> Self {
        // A join's dynamic filter applies to its probe side.
        let makes = |plan: &Arc<dyn ExecutionPlan>, child| {
            plan.is::<SortExec>() || plan.is::<AggregateExec>() || (plan.is::<HashJoinExec>() && child == 1)
        };
        Self { rule: FilterPushdown::new_post_optimization(), makes }
    }

    /// Are the columns of all filters unambiguous on the way down, is no filter about lists, and does none pass a limit?
    fn is_sound(&self, plan: &Arc<dyn ExecutionPlan>) -> bool {
        let mut open = vec![(plan, false)];
        while let Some((plan, below)) = open.pop() {
            if below && (repeats_a_name(&plan.schema()) || misleads_the_other_side(plan) || passes_its_limit(plan)) {
                return false;
            }
            if compares_lists(plan) {
                return false;
            }
            let children = plan.children().into_iter().enumerate();
            open.extend(children.map(|(at, child)| (child, below || (self.makes)(plan, at))));
        }
        true
    }
}

impl PhysicalOptimizerRule for PushedFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, options: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            if !self.is_sound(&plan) {
                return Ok(Transformed::no(plan));
            }
            let plan = self.rule.optimize(plan, options)?;
            Ok(Transformed::new(plan, true, TreeNodeRecursion::Jump))
        })
        .data()
    }

    fn name(&self) -> &str {
        self.rule.name()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Would its dynamic filter compare lists?
fn compares_lists(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_list = |expr: &PhysicalExprRef, of: &Arc<dyn ExecutionPlan>| {
        expr.data_type(&of.schema()).is_ok_and(|ty| ty.is_nested())
    };
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return join.on().iter().any(|(_, key)| is_list(key, join.right()));
    }
    let sort = plan.downcast_ref::<SortExec>();
    sort.is_some_and(|sort| sort.expr().iter().any(|key| is_list(&key.expr, sort.input())))
}

/// Has it a limit, and would it pass a filter of the operators above to its input all the same?
fn passes_its_limit(plan: &Arc<dyn ExecutionPlan>) -> bool {
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return aggregate.limit_options().is_some();
    }
    let passes = plan.is::<FilterExec>() || plan.is::<CoalescePartitionsExec>() || plan.is::<HashJoinExec>();
    passes && plan.fetch().is_some()
}

fn repeats_a_name(schema: &Schema) -> bool {
    let mut names = HashSet::new();
    schema.fields().iter().any(|field| !names.insert(field.name()))
}

/// Is it a semi join with a key whose name belongs to another column on the side that is not output?
fn misleads_the_other_side(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(join) = plan.downcast_ref::<HashJoinExec>() else { return false };
    match join.join_type() {
        JoinType::LeftSemi => join.on().iter().any(|(left, right)| is_another(left, right, &join.right().schema())),
        JoinType::RightSemi => join.on().iter().any(|(left, right)| is_another(right, left, &join.left().schema())),
        _ => false,
    }
}

/// Does the schema have a column with the key's name that is not the key's join partner?
fn is_another(key: &PhysicalExprRef, partner: &PhysicalExprRef, schema: &Schema) -> bool {
    let Some(key) = key.downcast_ref::<Column>() else { return false };
    let Ok(found) = schema.index_of(key.name()) else { return false };
    partner.downcast_ref::<Column>().is_none_or(|partner| partner.index() != found)
}
