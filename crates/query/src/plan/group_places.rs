//! Places of the select list inside ROLLUP, CUBE and GROUPING SETS: `GROUP BY ROLLUP (1, 2)`.
//!
//! The planner knows them outside of these only.

use sql::ast::{Expr, GroupByExpr, Select, SelectItem, Statement, Value, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Puts expressions for their places.
pub(super) fn resolve_places(statement: &mut Statement) {
    let _ = statement.visit(&mut Resolver);
}

struct Resolver;

impl VisitorMut for Resolver {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let Select { group_by, projection, .. } = select;
        if let GroupByExpr::Expressions(groups, _) = group_by {
            let sets = groups.iter_mut().filter_map(|group| match group {
                Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => Some(sets),
                _ => None,
            });
            sets.flatten().flatten().for_each(|expr| resolve(expr, projection));
        }
        ControlFlow::Continue(())
    }
}

/// A place beyond the list stays for the planner, which says so.
fn resolve(expr: &mut Expr, projection: &[SelectItem]) {
    let Expr::Value(value) = expr else { return };
    let Value::Number(place, _) = &value.value else { return };
    let item = place.parse::<usize>().ok().and_then(|place| projection.get(place.checked_sub(1)?));
    if let Some(SelectItem::UnnamedExpr(found) | SelectItem::ExprWithAlias { expr: found, .. }) = item {
        *expr = found.clone();
    }
}
