//! SET lists.

use crate::binder::{Binder, plain};
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{Assignments, ElementChange, NewValue, Scalar, Span};
use builtins::Ty;
use catalog::{Column, Identity, Table};
use sql::{Assignment, ColumnName, InsertValue, ast};

impl Binder<'_> {
    /// Binds a SET list in the current scope: one value per column, each column once.
    pub(super) fn assignments(&mut self, table: &Table, list: &[Assignment]) -> BindResult<Assignments> {
        let mut all: Assignments = Vec::with_capacity(list.len());
        for assignment in list {
            match assignment {
                Assignment::One { column, value } => self.assignment(table, column, value, &mut all)?,
                Assignment::Element { column, places, value } => {
                    self.element_assignment(table, (column, places.as_slice()), value, &mut all)?;
                }
                Assignment::Row { columns, values } => {
                    if columns.len() != values.len() {
                        return self.error(BindErrorKind::AssignmentWidth, Span::default());
                    }
                    for (column, value) in columns.iter().zip(values) {
                        self.assignment(table, column, value, &mut all)?;
                    }
                }
                Assignment::Subquery { columns, query } => {
                    for (place, name) in columns.iter().enumerate() {
                        let column = self.assigned_column(table, name, false, &all)?;
                        let value = self.subquery_column(query, place, columns.len())?;
                        let value = NewValue::Expr(self.assigned(column.1, value)?);
                        all.push((column.0, value));
                    }
                }
            }
        }
        Ok(all)
    }

    fn assignment(
        &mut self,
        table: &Table,
        name: &ColumnName,
        value: &InsertValue,
        all: &mut Assignments,
    ) -> BindResult<()> {
        let (at, column) = self.assigned_column(table, name, matches!(value, InsertValue::Default), all)?;
        let value = match value {
            InsertValue::Default => self.default_of(column)?,
            InsertValue::Expr(expr) => {
                let value = self.scalar(expr)?;
                NewValue::Expr(self.assigned(column, value)?)
            }
        };
        all.push((at, value));
        Ok(())
    }

    /// Returns the target column of an assignment. A second assignment to the column is an error.
    fn assigned_column<'t>(
        &self,
        table: &'t Table,
        name: &ColumnName,
        to_default: bool,
        all: &Assignments,
    ) -> BindResult<(usize, &'t Column)> {
        let at = self.target_column(table, name)?;
        if all.iter().any(|(known, _)| *known == at) {
            return self.error(BindErrorKind::AssignedTwice { column: name.name.clone() }, Span::default());
        }
        let Some(column) = table.columns.get(at) else { return Err(self.internal("a column that is out of range")) };
        let generated = column.generated.is_some();
        if (generated || column.identity == Some(Identity::Always)) && !to_default {
            let kind = BindErrorKind::UpdatedAlways { column: name.name.clone(), generated };
            return self.error(kind, Span::default());
        }
        Ok((at, column))
    }

    /// Binds `column[places] = value`. Several such assignments may change one column.
    fn element_assignment(
        &mut self,
        table: &Table,
        (name, places): (&ColumnName, &[ast::Expr]),
        value: &InsertValue,
        all: &mut Assignments,
    ) -> BindResult<()> {
        let at = self.target_column(table, name)?;
        let Some(column) = table.columns.get(at) else { return Err(self.internal("a column that is out of range")) };
        if column.generated.is_some() {
            let kind = BindErrorKind::UpdatedAlways { column: column.name.clone(), generated: true };
            return self.error(kind, Span::default());
        }
        let Some(item) = column.ty.item() else {
            let kind = BindErrorKind::NoSubscripts { ty: column.ty.sql_name() };
            return self.error(kind, Span::default());
        };
        let InsertValue::Expr(value) = value else {
            let message = "cannot set an array element to DEFAULT";
            return self.error(BindErrorKind::NotSupported { message }, Span::default());
        };
        let mut subscripts = Vec::with_capacity(places.len());
        for place in places {
            let place = self.scalar(place)?;
            subscripts.push(self.assigned_as(column, Ty::INT4, place)?);
        }
        let value = self.scalar(value)?;
        let value = self.assigned_as(column, plain(Ty::of(&item).id), value)?;
        let change = ElementChange { places: subscripts, value };
        match all.iter_mut().find(|(known, _)| *known == at) {
            None => all.push((at, NewValue::Elements(vec![change]))),
            Some((_, NewValue::Elements(changes))) => changes.push(change),
            Some(_) => {
                let kind = BindErrorKind::AssignedTwice { column: column.name.clone() };
                return self.error(kind, Span::default());
            }
        }
        Ok(())
    }

    /// Returns one column of a subquery that assigns several, as a subquery of its own.
    fn subquery_column(&mut self, query: &ast::Query, place: usize, width: usize) -> BindResult<Scalar> {
        let value = self.nth_of_subquery(query, place, width)?;
        match value {
            Some(value) => Ok(value),
            None => self.error(BindErrorKind::AssignmentWidth, Span::default()),
        }
    }
}
