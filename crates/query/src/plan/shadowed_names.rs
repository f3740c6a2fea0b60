//! Queries in WITH of an inner query that have the name of one outside: `WITH q AS (…) SELECT * FROM (WITH q AS (…) …) y`.
//!
//! The planner has one place for a name, so the inner query gets another one, and so do those that read it.

use super::names::{MARK, ident_name};
use sql::ast::{Ident, ObjectName, Query, Statement, TableAlias, TableFactor, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Renames such queries of a statement.
pub(super) fn rename(statement: &mut Statement) {
    let _ = statement.visit(&mut Renamer { levels: Vec::new(), renamed: 0 });
}

struct Renamer {
    /// The queries that are being visited, the statement's own first.
    levels: Vec<Level>,
    renamed: usize,
}

/// What a query has in WITH.
#[derive(Default)]
struct Level {
    /// Names as they are written and, where these were taken, as they are now.
    names: Vec<(String, Option<Ident>)>,
    /// How many of them may be read: a query in WITH knows those before it.
    known: usize,
    recursive: bool,
}

impl Level {
    fn find(&self, name: &str) -> Option<&(String, Option<Ident>)> {
        let known = if self.recursive { self.names.len() } else { self.known.min(self.names.len()) };
        self.names.iter().take(known).find(|(known, _)| known == name)
    }
}

impl VisitorMut for Renamer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let mut level = Level::default();
        if let Some(with) = &mut query.with {
            level.recursive = with.recursive;
            for table in &mut with.cte_tables {
                let name = ident_name(&table.alias.name);
                let taken = self.levels.iter().any(|outer| outer.find(&name).is_some());
                let new = taken.then(|| {
                    self.renamed += 1;
                    Ident::with_quote('"', format!("{name}{MARK}w{}", self.renamed))
                });
                if let Some(new) = &new {
                    table.alias.name = new.clone();
                }
                level.names.push((name, new));
            }
        }
        self.levels.push(level);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.levels.pop();
        // The first queries inside a query are those of its WITH.
        if let Some(outer) = self.levels.last_mut() {
            outer.known += 1;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, args: None, alias, .. } = factor else { return ControlFlow::Continue(()) };
        let [part] = name.0.as_slice() else { return ControlFlow::Continue(()) };
        let Some(written) = part.as_ident().cloned() else { return ControlFlow::Continue(()) };
        let wanted = ident_name(&written);
        let found = self.levels.iter().rev().find_map(|level| level.find(&wanted));
        if let Some((_, Some(new))) = found {
            *name = ObjectName::from(vec![new.clone()]);
            let columns = Vec::new();
            alias.get_or_insert(TableAlias { explicit: true, name: written, columns, at: None });
        }
        ControlFlow::Continue(())
    }
}
