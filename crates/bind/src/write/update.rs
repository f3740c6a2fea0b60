//! UPDATE and DELETE: a join of the target with other relations, and the changes of the target's rows.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::scope::Scope;
use crate::select::holds_subquery;
use crate::tree::{Assignments, Body, ColId, Key, Query, Rel, RelId, Scalar, Target, Update};
use catalog::Table;
use sql::ast;
use std::sync::Arc;

/// The clauses that UPDATE and DELETE share.
struct Parts<'s> {
    alias: Option<&'s str>,
    with: Option<&'s ast::With>,
    from: &'s [ast::TableWithJoins],
    selection: Option<&'s ast::Expr>,
    set: &'s [sql::Assignment],
    order_by: &'s [ast::OrderByExpr],
    limit: Option<&'s ast::Expr>,
    returning: &'s [ast::SelectItem],
}

impl Binder<'_> {
    pub(crate) fn statement_update(&mut self, update: &sql::Update) -> BindResult<Body> {
        let target = self.written_target(&update.table)?;
        let parts = Parts {
            alias: update.alias.as_deref(),
            with: update.with.as_ref(),
            from: &update.from,
            selection: update.selection.as_ref(),
            set: &update.assignments,
            order_by: &[],
            limit: None,
            returning: &update.returning,
        };
        Ok(Body::Update(Box::new(self.changed_rows(target, &parts)?)))
    }

    pub(crate) fn statement_delete(&mut self, delete: &sql::Delete) -> BindResult<Body> {
        let target = self.written_target(&delete.table)?;
        let parts = Parts {
            alias: delete.alias.as_deref(),
            with: delete.with.as_ref(),
            from: &delete.using,
            selection: delete.selection.as_ref(),
            set: &[],
            order_by: &delete.order_by,
            limit: delete.limit.as_ref(),
            returning: &delete.returning,
        };
        Ok(Body::Delete(Box::new(self.changed_rows(target, &parts)?)))
    }

    fn changed_rows(&mut self, target: Target, parts: &Parts<'_>) -> BindResult<Update> {
        let before = self.ctes.len();
        if let Some(with) = parts.with {
            self.with(with)?;
        }
        self.scopes.push(Scope::new());
        let bound = self.changed_rows_in_scope(target, parts);
        self.scopes.pop();
        self.ctes.truncate(before);
        bound
    }

    fn changed_rows_in_scope(&mut self, target: Target, parts: &Parts<'_>) -> BindResult<Update> {
        let table = Arc::clone(&target.table);
        let name = parts.alias.unwrap_or(&table.name);
        // Relations of FROM do not see the target; a LATERAL reference to it is an error with a hint.
        self.remember(name, Some(&table.name));
        let joined = self.from(parts.from)?;
        let item = Self::row_item(&table, target.old.rel, name, parts.alias.is_none());
        let others = self.scope().items.clone();
        self.check_aliases(&others, std::slice::from_ref(&item))?;
        self.scope().items.insert(0, item);
        let scan = Rel::Scan { table: Arc::clone(&table), rel: target.old.rel, cols: Vec::new() };
        let alone = parts.from.is_empty();
        let mut rel = if alone { scan } else { crate::from::cross(scan, joined, Vec::new()) };
        let set = self.in_clause(Clause::Update, |binder| binder.assignments(&table, parts.set))?;
        let all = match parts.selection {
            Some(condition) => self.in_clause(Clause::Where, |binder| binder.conditions(condition, "WHERE"))?,
            None => Vec::new(),
        };
        let plain = alone && parts.with.is_none() && parts.order_by.is_empty() && parts.limit.is_none();
        let own = (plain && !reads_rows(&set, &all)).then(|| all.clone());
        if !all.is_empty() {
            rel = Rel::Filter { input: Box::new(rel), all };
        }
        let rel = self.first_rows(rel, parts)?;
        let key = self.key_columns(&target.table, target.old.rel)?;
        if let Some(first) = self.scope().items.first_mut() {
            *first = Self::row_item(&table, target.written.rel, name, parts.alias.is_none());
        }
        let returning = self.in_clause(Clause::Returning, |binder| binder.returning(parts.returning))?;
        let ctes = std::mem::take(&mut self.cte_bodies);
        Ok(Update { target, source: Query { ctes, rel, outputs: Vec::new() }, key, own, set, returning })
    }

    /// Returns the key columns of a row: the write finds the row by them.
    pub(crate) fn key_columns(&mut self, table: &Table, rel: RelId) -> BindResult<Vec<ColId>> {
        let mut cols = Vec::with_capacity(table.key.len());
        for part in &table.key {
            match table.columns.iter().position(|column| column.id == part.column) {
                Some(at) => cols.push(self.table_col(rel, at)?),
                None => return Err(self.internal("a key without a column")),
            }
        }
        Ok(cols)
    }

    /// Applies ORDER BY and LIMIT of DELETE.
    fn first_rows(&mut self, mut rel: Rel, parts: &Parts<'_>) -> BindResult<Rel> {
        let (mut keys, mut exprs) = (Vec::new(), Vec::new());
        for key in parts.order_by {
            let value = self.in_clause(Clause::Where, |binder| binder.scalar(&key.expr))?;
            if matches!(value.kind, crate::tree::Kind::Const(_)) {
                // DELETE has no output list for a number to refer to.
                return self.error(BindErrorKind::ConstantKey { clause: Clause::OrderBy }, value.span);
            }
            let value = self.output_type(value)?;
            self.ordering(value.ty, value.span)?;
            let desc = key.options.asc == Some(false);
            let col = self.column_of("order", &value, &mut exprs)?;
            keys.push(Key { col, desc, nulls_first: key.options.nulls_first.unwrap_or(desc) });
        }
        if !exprs.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        if !keys.is_empty() {
            rel = Rel::Sort { input: Box::new(rel), keys };
        }
        if let Some(limit) = parts.limit {
            let count = Some(self.count(limit, Clause::Limit)?);
            rel = Rel::Limit { input: Box::new(rel), offset: None, count, ties: Vec::new() };
        }
        Ok(rel)
    }
}

/// Do predicates or new values contain subqueries?
fn reads_rows(set: &Assignments, all: &[Scalar]) -> bool {
    all.iter().any(holds_subquery) || super::scalars_of(set).any(holds_subquery)
}
