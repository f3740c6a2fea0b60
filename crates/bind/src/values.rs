//! VALUES.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::coerce::{null_of, without_limits};
use crate::error::{BindErrorKind, BindResult};
use crate::scope::Scope;
use crate::select::Selected;
use crate::tree::{ColId, ColInfo, ColRef, Kind, Rel, Rows, Scalar, Span};
use sql::ast;
use types::Datum;

impl Binder<'_> {
    pub(crate) fn values(&mut self, values: &ast::Values) -> BindResult<Selected> {
        self.scopes.push(Scope::new());
        let bound = self.in_clause(Clause::Values, |binder| binder.value_columns(values));
        self.scopes.pop();
        let columns = bound?;
        let (mut cols, mut outputs): (Vec<ColId>, Vec<_>) = (Vec::new(), Vec::new());
        for (at, column) in columns.iter().enumerate() {
            let name = format!("column{}", at + 1);
            let Some(ty) = column.first().map(|value| value.ty) else {
                return Err(self.internal("VALUES without rows"));
            };
            let col = self.new_col(ColInfo { name: name.clone(), ty, nullable: true, origin: None })?;
            cols.push(col);
            outputs.push((name, Scalar { kind: Kind::Col(ColRef { id: col, level: 0 }), ty, span: Span::default() }));
        }
        let rows = by_row(columns, values.rows.len());
        Ok(Selected { rel: Rel::Values { cols, rows }, outputs })
    }

    /// Binds the values column by column, and casts each column to one type.
    fn value_columns(&mut self, values: &ast::Values) -> BindResult<Vec<Vec<Scalar>>> {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        if values.rows.iter().any(|row| row.content.len() != width) {
            return self.error(BindErrorKind::UnequalValues, Span::default());
        }
        let mut columns: Vec<Vec<Scalar>> = vec![Vec::with_capacity(values.rows.len()); width];
        for row in &values.rows {
            for (value, column) in row.content.iter().zip(&mut columns) {
                column.push(self.scalar(value)?);
            }
        }
        for column in &mut columns {
            let ty = self.unify_values(column, "VALUES")?;
            // A type modifier that not all values share is dropped from the column. Casts that apply a modifier stay.
            let unlike = column.iter_mut().filter(|value| value.ty.typmod != ty.typmod);
            unlike.for_each(|value| *value = without_limits(std::mem::replace(value, null_of(ty))));
        }
        Ok(columns)
    }
}

fn by_row(columns: Vec<Vec<Scalar>>, count: usize) -> Rows {
    let mut rows: Vec<Vec<Scalar>> = vec![Vec::with_capacity(columns.len()); count];
    for column in columns {
        for (row, value) in rows.iter_mut().zip(column) {
            row.push(value);
        }
    }
    let constant = |value: &Scalar| matches!(value.kind, Kind::Const(_));
    if !rows.iter().flatten().all(constant) {
        return Rows::Exprs(rows);
    }
    let datum = |value: Scalar| match value.kind {
        Kind::Const(datum) => datum,
        _ => Datum::Null,
    };
    Rows::Const(rows.into_iter().map(|row| row.into_iter().map(datum).collect()).collect())
}
