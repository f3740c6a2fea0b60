//! Arrays: constructor, subscripts, ANY and ALL.

use crate::binder::Binder;
use crate::coerce::name_of;
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{Kind, Scalar, Span, Subquery, SubqueryKind};
use builtins::{Ty, TypeId};
use sql::ast;

impl Binder<'_> {
    /// Binds `ARRAY[a, b]`.
    pub(super) fn array(&mut self, elements: &[ast::Expr]) -> BindResult<Scalar> {
        let mut items = self.scalars(elements)?;
        let span = items.iter().fold(Span::default(), |all, item| all.with(item.span));
        if items.is_empty() {
            return self.error(BindErrorKind::EmptyArray, span);
        }
        let element = self.unify(&mut items, "ARRAY")?;
        // An array of arrays has more dimensions and the same type.
        let ty = match element.element() {
            Some(_) => Some(Ty::plain(element.id)),
            None => element.id.array().map(|id| Ty { id, ..element }),
        };
        match ty {
            Some(ty) => Ok(Scalar { kind: Kind::Array(items), ty, span }),
            None => self.unsupported(format!("an array of {}", name_of(element))),
        }
    }

    /// Binds `a[1]`, `a[1:2]`.
    pub(super) fn subscripts(&mut self, root: &ast::Expr, chain: &[ast::AccessExpr]) -> BindResult<Scalar> {
        if let [first, rest @ ..] = chain
            && let ast::AccessExpr::Dot(ast::Expr::Identifier(field)) = first
        {
            let value = self.field(root, field)?;
            return match rest.is_empty() {
                true => Ok(value),
                false => self.subscripts_of(value, rest),
            };
        }
        let array = self.scalar(root)?;
        self.subscripts_of(array, chain)
    }

    fn subscripts_of(&mut self, array: Scalar, chain: &[ast::AccessExpr]) -> BindResult<Scalar> {
        let span = array.span;
        if let (TypeId::NAME, [ast::AccessExpr::Subscript(ast::Subscript::Index { index })]) = (array.ty.id, chain) {
            return self.character_of_name(array, index);
        }
        let Some(element) = array.ty.element().filter(|_| array.ty.id.category() == "A") else {
            return self.error(BindErrorKind::NoSubscripts { ty: name_of(array.ty) }, span);
        };
        let mut at = Vec::new();
        for access in chain {
            let ast::AccessExpr::Subscript(ast::Subscript::Index { index }) = access else {
                return self.slice(array, chain);
            };
            at.push(self.subscript(index)?);
        }
        Ok(Scalar { kind: Kind::Element { array: Box::new(array), at }, ty: element, span })
    }

    fn slice(&mut self, array: Scalar, chain: &[ast::AccessExpr]) -> BindResult<Scalar> {
        let mut bounds = Vec::new();
        for access in chain {
            bounds.push(match access {
                ast::AccessExpr::Subscript(ast::Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
                    let lower = lower_bound.as_ref().map(|bound| self.subscript(bound)).transpose()?;
                    (lower, upper_bound.as_ref().map(|bound| self.subscript(bound)).transpose()?)
                }
                // Beside a slice, a plain subscript is an upper bound.
                ast::AccessExpr::Subscript(ast::Subscript::Index { index }) => {
                    let upper = self.subscript(index)?;
                    let one = Scalar { kind: Kind::Const(types::Datum::Int4(1)), ty: Ty::INT4, span: upper.span };
                    (Some(one), Some(upper))
                }
                ast::AccessExpr::Dot(field) => {
                    let kind = BindErrorKind::NotComposite { field: field.to_string(), ty: name_of(array.ty) };
                    return self.error(kind, array.span);
                }
                _ => return self.unsupported("a slice with a stride"),
            });
        }
        // A slice of a vector type is an array, whose subscripts begin with 1.
        let (ty, span) = (plain_array(array.ty), array.span);
        Ok(Scalar { kind: Kind::Slice { array: Box::new(array), bounds }, ty, span })
    }

    pub(crate) fn subscript(&mut self, index: &ast::Expr) -> BindResult<Scalar> {
        let index = self.scalar(index)?;
        let span = index.span;
        match self.try_coerce(index, Ty::INT4, crate::tree::CastContext::Assignment)? {
            Some(index) => Ok(index),
            None => self.error(BindErrorKind::SubscriptType, span),
        }
    }

    /// Binds `x op ANY (…)`, `x op ALL (…)` over an array or a subquery.
    pub(super) fn quantified(
        &mut self,
        left: &ast::Expr,
        op: &ast::BinaryOperator,
        right: &ast::Expr,
        all: bool,
    ) -> BindResult<Scalar> {
        let name = self.operator_name(op)?;
        if let Some(query) = query_of(right) {
            return self.quantified_subquery(left, &name, query, all);
        }
        let left = self.scalar(left)?;
        let mut array = self.scalar(right)?;
        let span = left.span.with(array.span);
        // The elements of an untyped array have the type of the left operand.
        if array.ty.is_unknown() {
            let guess = left.ty.id.array().filter(|_| !left.ty.is_unknown()).unwrap_or(TypeId::TEXT_ARRAY);
            array = self.coerce(array, Ty::plain(guess), crate::tree::CastContext::Implicit)?;
        }
        let Some(element) = array.ty.element() else { return self.error(BindErrorKind::AnyWithoutArray, span) };
        let probe = Scalar { kind: Kind::Const(types::Datum::Null), ty: Ty::plain(element.id), span: array.span };
        let (op, left, item) = self.comparison(&name, left, probe)?;
        // The array is cast to the element type that the operator takes.
        let wanted = item.ty.id.array().map(Ty::plain);
        let Some(wanted) = wanted else { return self.unsupported(format!("an array of {}", name_of(item.ty))) };
        let array = self.coerce(array, wanted, crate::tree::CastContext::Implicit)?;
        let kind = match array {
            // The rows are compared directly: an array of them would be built for each row on the left.
            Scalar { kind: Kind::Subquery(rows), .. } if matches!(rows.kind, SubqueryKind::ArrayOf) => {
                let kind = SubqueryKind::Quantified { left: vec![left], ops: vec![op], all };
                Kind::Subquery(Box::new(Subquery { kind, ..*rows }))
            }
            array => Kind::AnyArray { op, arg: Box::new(left), array: Box::new(array), all },
        };
        Ok(Scalar { kind, ty: Ty::BOOL, span })
    }
}

/// Returns the array type for the elements of a vector type.
fn plain_array(ty: Ty) -> Ty {
    match ty.id {
        TypeId::INT2VECTOR => Ty::plain(TypeId::INT2_ARRAY),
        TypeId::OIDVECTOR => Ty::plain(TypeId::OID_ARRAY),
        _ => ty,
    }
}

fn query_of(expr: &ast::Expr) -> Option<&ast::Query> {
    match expr {
        ast::Expr::Nested(inner) => query_of(inner),
        ast::Expr::Subquery(query) => Some(query),
        _ => None,
    }
}
