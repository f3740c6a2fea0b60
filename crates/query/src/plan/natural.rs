//! `NATURAL JOIN` as `JOIN … USING` of the columns that both sides have.
//!
//! What merged columns mean is then told in one place, [`super::merged_columns`]. Where the columns of a side are not
//! known here, such as those of a function, the join is left to the planner.

use super::joins::{constraint_mut, constraint_of};
use super::names::ident_name;
use crate::context::QueryContext;
use sql::ast::{
    Cte, Expr, Ident, JoinConstraint, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableAlias,
    TableFactor, TableWithJoins, Value, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Resolves the natural joins of a statement whose columns have their names.
pub(super) fn resolve(statement: &mut Statement, cx: &QueryContext) {
    let _ = statement.visit(&mut Resolver { cx, scopes: Vec::new() });
}

struct Resolver<'a> {
    cx: &'a QueryContext,
    /// What WITH defines in the queries around, outer ones first.
    scopes: Vec<Scope>,
}

/// The queries in the WITH of one query.
#[derive(Default)]
struct Scope {
    /// Their names and columns.
    queries: Vec<(String, Option<Vec<String>>)>,
    /// Where they are: one is told from an equal one by that.
    places: Vec<*const Query>,
    /// So many are seen from where the visit is: each sees those before it, and with RECURSIVE all.
    seen: usize,
    recursive: bool,
}

impl Scope {
    /// The number of the query of WITH at that place.
    fn number(&self, query: &Query) -> Option<usize> {
        self.places.iter().position(|place| std::ptr::eq(*place, query))
    }
}

impl VisitorMut for Resolver<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let Some(around) = self.scopes.last_mut()
            && let Some(number) = around.number(query).filter(|_| !around.recursive)
        {
            around.seen = number;
        }
        self.scopes.push(Scope::default());
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let columns = self.of_cte(table);
            if let Some(own) = self.scopes.last_mut() {
                own.queries.push((ident_name(&table.alias.name), columns));
                own.places.push(std::ptr::from_ref(table.query.as_ref()));
                own.seen += 1;
                own.recursive = query.with.as_ref().is_some_and(|with| with.recursive);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.pop();
        if let Some(around) = self.scopes.last_mut()
            && around.number(query).is_some()
        {
            around.seen = around.queries.len();
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        select.from.iter_mut().for_each(|table| self.resolve_joins(table));
        ControlFlow::Continue(())
    }
}

impl Resolver<'_> {
    fn resolve_joins(&self, table: &mut TableWithJoins) {
        let factors = std::iter::once(&mut table.relation).chain(table.joins.iter_mut().map(|join| &mut join.relation));
        for factor in factors {
            if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
                self.resolve_joins(table_with_joins);
            }
        }
        let TableWithJoins { relation, joins } = table;
        let mut left = self.of_factor(relation);
        for join in joins {
            let right = self.of_factor(&join.relation);
            let constraint = constraint_mut(&mut join.join_operator);
            if let (Some(constraint @ JoinConstraint::Natural), Some(left), Some(right)) = (constraint, &left, &right)
                && let Some(common) = common(left, right)
            {
                *constraint = using(common);
            }
            left = joined(left, right, constraint_of(&join.join_operator));
        }
    }

    /// The columns of tables that are joined already.
    fn of_joins(&self, table: &TableWithJoins) -> Option<Vec<String>> {
        let mut all = self.of_factor(&table.relation);
        for join in &table.joins {
            all = joined(all, self.of_factor(&join.relation), constraint_of(&join.join_operator));
        }
        all
    }

    fn of_factor(&self, factor: &TableFactor) -> Option<Vec<String>> {
        let (columns, alias) = match factor {
            TableFactor::Table { name, args: None, alias, .. } => (self.of_table(name)?, alias.as_ref()),
            TableFactor::Derived { subquery, alias, .. } => (self.of_query(subquery)?, alias.as_ref()),
            TableFactor::NestedJoin { table_with_joins, alias } => (self.of_joins(table_with_joins)?, alias.as_ref()),
            _ => return None,
        };
        Some(renamed(columns, alias))
    }

    fn of_table(&self, name: &ObjectName) -> Option<Vec<String>> {
        let parts: Vec<String> = name.0.iter().map(|part| part.as_ident().map(ident_name)).collect::<Option<_>>()?;
        let (schema, table) = match parts.as_slice() {
            [table] => (None, table),
            [schema, table] => (Some(schema.as_str()), table),
            _ => return None,
        };
        if schema.is_none()
            && let Some((_, columns)) = self.of_with(table)
        {
            return columns.clone();
        }
        let path: Vec<&str> = schema.map_or_else(|| self.cx.lookup_path().collect(), |schema| vec![schema]);
        for schema in path {
            if self.cx.computed_schema(schema).is_some_and(|computed| computed.table_exist(table)) {
                return None;
            }
            if let Some(table) = self.cx.catalog.table(schema, table) {
                let shown = table.columns.iter().filter(|column| !column.hidden);
                return Some(shown.map(|column| column.name.clone()).collect());
            }
            if let Some(view) = self.cx.catalog.view(schema, table) {
                return Some(view.columns.iter().map(|column| column.name.clone()).collect());
            }
        }
        None
    }

    /// The query in WITH that a name means.
    fn of_with(&self, name: &str) -> Option<&(String, Option<Vec<String>>)> {
        let mut seen = self.scopes.iter().rev().flat_map(|scope| scope.queries.iter().take(scope.seen));
        seen.find(|(known, _)| known == name)
    }

    fn of_cte(&self, table: &Cte) -> Option<Vec<String>> {
        Some(renamed(self.of_query(&table.query)?, Some(&table.alias)))
    }

    fn of_query(&self, query: &Query) -> Option<Vec<String>> {
        // Its own WITH is not seen from here.
        if query.with.is_some() { None } else { self.of_body(&query.body) }
    }

    fn of_body(&self, body: &SetExpr) -> Option<Vec<String>> {
        match body {
            SetExpr::Select(select) => self.of_select(select),
            SetExpr::SetOperation { left, .. } => self.of_body(left),
            SetExpr::Query(query) => self.of_query(query),
            SetExpr::Values(values) => {
                let row = values.rows.first()?;
                Some((1..=row.content.len()).map(|number| format!("column{number}")).collect())
            }
            _ => None,
        }
    }

    fn of_select(&self, select: &Select) -> Option<Vec<String>> {
        let mut columns = Vec::with_capacity(select.projection.len());
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => columns.push(ident_name(name)),
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => columns.push(ident_name(parts.last()?)),
                SelectItem::ExprWithAlias { alias, .. } => columns.push(ident_name(alias)),
                SelectItem::Wildcard(_) => {
                    for table in &select.from {
                        columns.extend(self.of_joins(table)?);
                    }
                }
                _ => return None,
            }
        }
        Some(columns)
    }
}

/// The columns of both sides; of those that are merged one.
fn joined(
    left: Option<Vec<String>>,
    right: Option<Vec<String>>,
    constraint: Option<&JoinConstraint>,
) -> Option<Vec<String>> {
    let (left, right) = (left?, right?);
    let merged: Vec<String> = match constraint {
        Some(JoinConstraint::Using(columns)) => {
            columns.iter().filter_map(|name| Some(ident_name(name.0.last()?.as_ident()?))).collect()
        }
        Some(JoinConstraint::Natural) => common(&left, &right)?,
        _ => Vec::new(),
    };
    let others = left.into_iter().chain(right).filter(|name| !merged.contains(name)).collect::<Vec<_>>();
    Some(merged.iter().cloned().chain(others).collect())
}

/// The columns that both have; `None` if one of them is there twice.
fn common(left: &[String], right: &[String]) -> Option<Vec<String>> {
    let shared: Vec<String> = left.iter().filter(|name| right.contains(name)).cloned().collect();
    let once = |side: &[String]| shared.iter().all(|name| side.iter().filter(|other| *other == name).count() == 1);
    (once(left) && once(right)).then_some(shared)
}

/// Without a column that both have every pair of rows meets.
fn using(columns: Vec<String>) -> JoinConstraint {
    if columns.is_empty() {
        return JoinConstraint::On(Expr::value(Value::Boolean(true)));
    }
    let name = |name: String| ObjectName::from(vec![Ident::with_quote('"', name)]);
    JoinConstraint::Using(columns.into_iter().map(name).collect())
}

/// With the names that FROM gives to the first of them.
fn renamed(columns: Vec<String>, alias: Option<&TableAlias>) -> Vec<String> {
    let given: Vec<String> =
        alias.map(|alias| &alias.columns).into_iter().flatten().map(|c| ident_name(&c.name)).collect();
    let rest = columns.into_iter().skip(given.len()).collect::<Vec<_>>();
    given.into_iter().chain(rest).collect()
}
