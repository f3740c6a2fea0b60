//! INSERT, UPSERT, UPDATE, DELETE: the target table, and the parts that these statements share.
//!
//! A row of the target is up to three references to its table: the existing row (`old`), the proposed row (`excluded`)
//! and the written row (RETURNING). Which columns of each are read is known when the whole statement is bound.

mod assignments;
mod insert;
mod sequence_order;
mod update;

use crate::binder::{Binder, plain};
use crate::clause::Clause;
use crate::coerce::name_of;
use crate::error::{BindErrorKind, BindResult};
use crate::relations::Found;
use crate::scope::{ItemColumns, Scope, ScopeItem};
use crate::tree::{Assignments, CastContext, Kind, NewValue, RelId, Scalar, Span, Target, TargetRow};
use builtins::{Ty, TypeId};
use catalog::{Column, Table};
use sql::{ColumnName, ObjectName, ast};
use std::sync::Arc;
use types::Datum;

impl Binder<'_> {
    /// Resolves the target table and adds references to its rows.
    fn written_target(&mut self, name: &ObjectName) -> BindResult<Target> {
        if let Some(database) = &name.database {
            self.check_database(database, &name.to_string(), Span::default())?;
        }
        let table = match self.relations.find(None, name.schema.as_deref(), &name.name) {
            Some(Found::Table(table)) => table,
            Some(Found::View(view)) => return self.unsupported(format!("writing to view \"{}\"", view.name)),
            Some(Found::Computed(relation)) => return self.unsupported(format!("writing to \"{}\"", relation.name)),
            Some(Found::Other(what)) => return self.unsupported(what),
            None => return self.error(BindErrorKind::UndefinedTable { name: name.name.clone() }, Span::default()),
        };
        self.needs.relations.entry(table.oid).or_default().direct = true;
        let mut row = |nullable| {
            let rel = self.new_rel(Arc::clone(&table));
            if let Some(scanned) = self.scans.get_mut(rel.0 as usize) {
                scanned.nullable = nullable;
            }
            TargetRow { rel, cols: Vec::new() }
        };
        // The proposed row is nullable: NOT NULL is checked later.
        let (old, excluded, written) = (row(false), row(true), row(false));
        Ok(Target { table, old, excluded, written })
    }

    /// Returns the scope item of a row of the target.
    fn row_item(table: &Table, rel: RelId, name: &str, alone: bool) -> ScopeItem {
        let columns = ItemColumns::Table { rel, renamed: Vec::new() };
        let mut item = ScopeItem::new(Some(name.to_owned()), alone.then_some(table.oid), columns);
        item.pending = false;
        item
    }

    /// Runs `bind` in a scope that has only these relations.
    fn over_items<T>(
        &mut self,
        items: Vec<ScopeItem>,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        let mut scope = Scope::new();
        scope.items = items;
        self.scopes.push(scope);
        let bound = self.in_clause(clause, bind);
        self.scopes.pop();
        bound
    }

    /// Returns the ordinal of the column with that name. Hidden columns cannot be named.
    fn target_column(&self, table: &Table, name: &ColumnName) -> BindResult<usize> {
        let fits = |column: &Column| {
            let family = name.family.as_ref().is_none_or(|family| column.family.as_deref().unwrap_or("0") == family);
            !column.hidden && column.name == name.name && family
        };
        match table.columns.iter().position(fits) {
            Some(at) => Ok(at),
            None => {
                let (table, column) = (table.name.clone(), name.to_string());
                self.error(BindErrorKind::UndefinedTarget { table, column }, self.span(name.place.0))
            }
        }
    }

    /// Casts a value to the type of a column by assignment.
    fn assigned(&mut self, column: &Column, value: Scalar) -> BindResult<Scalar> {
        let ty = Ty::of(&column.ty);
        // The fields of an interval type determine how its literals are read.
        let to = if ty.id == TypeId::INTERVAL { ty } else { plain(ty.id) };
        self.assigned_as(column, to, value)
    }

    /// Casts a value by assignment to the type of a column or of its elements, without the type modifier: writing the
    /// value applies it.
    fn assigned_as(&mut self, column: &Column, to: Ty, value: Scalar) -> BindResult<Scalar> {
        let (from, span) = (value.ty, value.span);
        match self.try_coerce(value, to, CastContext::Assignment)? {
            Some(value) => Ok(value),
            None => {
                let (column, given) = (column.name.clone(), name_of(from));
                let kind = BindErrorKind::NotAssignable { column, wanted: name_of(to), given };
                let hint = "You will need to rewrite or cast the expression.";
                self.error(kind, span).map_err(|error| error.with_hint(hint))
            }
        }
    }

    /// Returns the value of a column for which the statement gives none.
    fn default_of(&mut self, column: &Column) -> BindResult<NewValue> {
        if let Some(sequence) = column.sequence {
            return Ok(NewValue::NextOf(sequence));
        }
        let ty = plain(Ty::of(&column.ty).id);
        let null = || NewValue::Expr(Scalar { kind: Kind::Const(Datum::Null), ty, span: Span::default() });
        let Some(text) = column.default.as_ref().filter(|_| column.generated.is_none()) else {
            // Generated columns are computed from the rest of the row.
            return Ok(null());
        };
        let Ok(expr) = sql::parse_expr(text) else { return Err(self.internal("a default that is no expression")) };
        let value = self.within_stored(Vec::new(), |binder| {
            binder.over_items(Vec::new(), Clause::Values, |binder| {
                let value = binder.scalar(&expr)?;
                binder.assigned(column, value)
            })
        })?;
        Ok(NewValue::Expr(value))
    }

    /// Binds RETURNING in the current scope.
    fn returning(&mut self, list: &[ast::SelectItem]) -> BindResult<Vec<(String, Scalar)>> {
        let outputs = self.outputs(list)?;
        outputs.into_iter().map(|(name, value)| Ok((name, self.output_type(value)?))).collect()
    }

    /// Fills in which columns of the target's rows the statement reads.
    pub(crate) fn fill_target(&self, target: &mut Target) {
        for row in [&mut target.old, &mut target.excluded, &mut target.written] {
            let ids = self.scans.get(row.rel.0 as usize).map(|scanned| scanned.ids.as_slice()).unwrap_or_default();
            row.cols = ids.iter().enumerate().filter_map(|(at, id)| Some((at, (*id)?))).collect();
        }
    }
}

/// All expressions of assignments.
fn scalars_of(set: &Assignments) -> impl Iterator<Item = &Scalar> {
    set.iter().flat_map(|(_, value)| match value {
        NewValue::Expr(value) => vec![value],
        NewValue::Elements(changes) => {
            changes.iter().flat_map(|change| change.places.iter().chain(std::iter::once(&change.value))).collect()
        }
        NewValue::Default | NewValue::NextOf(_) => Vec::new(),
    })
}

/// The expressions of a new value.
pub(crate) fn scalars_mut(value: &mut NewValue) -> Vec<&mut Scalar> {
    match value {
        NewValue::Expr(value) => vec![value],
        NewValue::Elements(changes) => changes
            .iter_mut()
            .flat_map(|change| change.places.iter_mut().chain(std::iter::once(&mut change.value)))
            .collect(),
        NewValue::Default | NewValue::NextOf(_) => Vec::new(),
    }
}
