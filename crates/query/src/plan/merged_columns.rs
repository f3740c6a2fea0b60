//! Columns that `JOIN … USING` merges, named in WHERE without their table.
//!
//! The planner finds them ambiguous there when there are several. After an inner or left join the merged column is
//! the left table's, so `WHERE a = 1` after `t JOIN u USING (a, b)` is `WHERE t.a = 1`.

use sql::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, Query, Select, TableFactor, TableWithJoins, VisitMut, VisitorMut,
};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Qualifies them in the condition of a SELECT.
pub(super) fn rewrite(select: &mut Select) {
    let mut owners = HashMap::new();
    select.from.iter().for_each(|table| collect(table, &mut owners));
    if let Some(condition) = &mut select.selection
        && !owners.is_empty()
    {
        let _ = condition.visit(&mut Qualifier { owners, depth: 0 });
    }
}

fn collect(table: &TableWithJoins, owners: &mut HashMap<String, Vec<Ident>>) {
    for (place, join) in table.joins.iter().enumerate() {
        let constraint = match &join.join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint) => constraint,
            _ => return,
        };
        let JoinConstraint::Using(columns) = constraint else { continue };
        for column in columns.iter().filter_map(|name| name.0.last()?.as_ident()) {
            let name = folded(column);
            // Of several tables on the left, only a column merged before has a known owner.
            if place == 0
                && let Some(owner) = name_of(&table.relation)
            {
                owners.insert(name, owner);
            }
        }
    }
}

fn name_of(factor: &TableFactor) -> Option<Vec<Ident>> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(vec![alias.name.clone()])
        }
        TableFactor::Table { name, alias: None, .. } => name.0.iter().map(|part| part.as_ident().cloned()).collect(),
        _ => None,
    }
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { types::ident::fold(&ident.value) }
}

struct Qualifier {
    owners: HashMap<String, Vec<Ident>>,
    /// How many subqueries deep: what is named there may be theirs.
    depth: usize,
}

impl VisitorMut for Qualifier {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Identifier(column) = &*expr
            && let Some(owner) = self.owners.get(&folded(column))
        {
            let parts = owner.iter().chain([column]).cloned().collect();
            *expr = Expr::CompoundIdentifier(parts);
        }
        ControlFlow::Continue(())
    }
}
