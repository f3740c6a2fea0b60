//! Fields of rows: `(f(x)).n`, `(t.r).n`.
//!
//! A record column stands for the columns of its fields, which the nodes below have side by side. It can be passed on
//! and split into its fields, but is never materialized.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::coerce::name_of;
use crate::error::{BindErrorKind, BindResult};
use crate::name::fold;
use crate::tree::{ColInfo, ColRef, Kind, Scalar, Span};
use builtins::{Ty, TypeId};
use sql::ast;

impl Binder<'_> {
    /// Binds `(root).name`.
    pub(super) fn field(&mut self, root: &ast::Expr, name: &ast::Ident) -> BindResult<Scalar> {
        if let Some(relation) = relation_of(root)
            && self.is_relation_only(relation)?
        {
            return self.qualified_column(&[relation.clone(), name.clone()]);
        }
        let row = self.scalar(root)?;
        let (field, span) = (fold(name), row.span.with(self.span(name.span)));
        if let Some(value) = self.field_of_record(&row, &field, span)? {
            return Ok(value);
        }
        match row.kind {
            Kind::Row(fields) => {
                let place = field.strip_prefix('f').and_then(|at| at.parse::<usize>().ok()).filter(|at| *at > 0);
                match place.and_then(|at| fields.into_iter().nth(at - 1)) {
                    Some(value) => Ok(value),
                    None => self.error(BindErrorKind::NoField { field }, span),
                }
            }
            _ if row.ty.id == TypeId::RECORD => self.error(BindErrorKind::NoField { field }, span),
            _ => self.error(BindErrorKind::NotComposite { field, ty: name_of(row.ty) }, span),
        }
    }

    /// Returns a field of a record column; `None` if the row is not a record column.
    pub(super) fn field_of_record(&mut self, row: &Scalar, field: &str, span: Span) -> BindResult<Option<Scalar>> {
        let Kind::Col(col) = row.kind else { return Ok(None) };
        let Some(fields) = self.records.get(&col.id) else { return Ok(None) };
        let Some(id) = fields.iter().find(|(name, _)| name == field).map(|(_, id)| *id) else {
            return self.error(BindErrorKind::NoField { field: field.to_owned() }, span);
        };
        self.read_in_place_of(col, id);
        Ok(Some(Scalar { kind: Kind::Col(ColRef { id, level: col.level }), ty: self.col_ty(id), span }))
    }

    /// Is it the name of a relation and not of a column?
    fn is_relation_only(&self, ident: &ast::Ident) -> BindResult<bool> {
        let name = fold(ident);
        Ok(!self.has_column(&name, self.span(ident.span))? && self.find_relation(&name).is_some())
    }

    /// Is it a column whose fields are columns?
    pub(crate) fn is_record(&self, value: &Scalar) -> bool {
        matches!(&value.kind, Kind::Col(col) if self.records.contains_key(&col.id))
    }

    /// Records that the enclosing subqueries read the field instead of the row.
    fn read_in_place_of(&mut self, row: ColRef, field: crate::tree::ColId) {
        for boundary in &mut self.boundaries {
            if let Some(level) = boundary.free.remove(&row.id) {
                boundary.free.insert(field, level);
            }
        }
    }

    /// Binds a function that returns a set of rows in a SELECT list.
    pub(crate) fn record_of_set(&mut self, array: Scalar, span: Span) -> BindResult<Scalar> {
        let scope = self.scope();
        if scope.clause != Clause::SelectList || scope.in_aggregate || scope.in_window {
            return self.unsupported_at("a row of a set-returning function in this place", span);
        }
        let (calls, fields) = self.elements_with_index(array, span)?;
        self.scope().sets.extend(calls);
        let ty = Ty::plain(TypeId::RECORD);
        let id = self.new_col(ColInfo { name: "_pg_expandarray".to_owned(), ty, nullable: true, origin: None })?;
        self.records.insert(id, fields);
        Ok(Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty, span })
    }
}

/// Returns the identifier that the expression consists of.
fn relation_of(expr: &ast::Expr) -> Option<&ast::Ident> {
    match expr {
        ast::Expr::Nested(inner) => relation_of(inner),
        ast::Expr::Identifier(ident) => Some(ident),
        _ => None,
    }
}
