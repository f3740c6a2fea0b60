//! Queries in FROM and in WITH: what their columns depend on is told right before they are grouped by, and none of
//! several columns of one name has it.
//!
//! The planner adds to GROUP BY what its columns determine, as it finds them; see `optimizer::dependencies`.

use super::names::{MARK, shown};
use super::repeated_names::{tell_apart, told_apart};
use crate::optimizer::corrected;
use datafusion::common::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use sql::ast::{Ident, TableAlias, TableAliasColumnDef, TableFactor};
use std::sync::Arc;

/// Corrects the plans of relations.
#[derive(Debug)]
pub(super) struct SoundRelations;

impl RelationPlanner for SoundRelations {
    fn plan_relation(
        &self,
        mut relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (TableFactor::Derived { alias, .. } | TableFactor::Table { args: None, alias, .. }) = &mut relation else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        if alias.as_ref().is_some_and(is_ours) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        // The context comes here again, and then finds this name.
        let wanted = alias.replace(TableAlias {
            explicit: true,
            name: Ident::with_quote('"', MARK),
            columns: Vec::new(),
            at: None,
        });
        let planned = match context.plan(relation)? {
            LogicalPlan::SubqueryAlias(named) => Arc::unwrap_or_clone(named.input),
            plan => plan,
        };
        let mut wanted = wanted;
        wanted.iter_mut().for_each(|alias| name_rest(alias, &planned));
        wanted.iter_mut().for_each(tell_apart);
        let planned = told_apart(corrected(planned)?)?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(planned, wanted))))
    }
}

/// An alias that names some columns only leaves the others their names.
fn name_rest(alias: &mut TableAlias, plan: &LogicalPlan) {
    let named = alias.columns.len();
    if named == 0 {
        return;
    }
    let rest = plan.schema().fields().iter().skip(named);
    let rest = rest.map(|field| Ident::with_quote('"', shown(field.name())));
    alias.columns.extend(rest.map(|name| TableAliasColumnDef { name, data_type: None }));
}

fn is_ours(alias: &TableAlias) -> bool {
    alias.name.value.starts_with(MARK)
}
