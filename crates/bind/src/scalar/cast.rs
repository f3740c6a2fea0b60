//! Explicit casts.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{CastContext, Kind, Scalar, Span};
use builtins::Ty;
use sql::{SqlError, ast};

impl Binder<'_> {
    pub(super) fn cast(&mut self, expr: &ast::Expr, data_type: &ast::DataType) -> BindResult<Scalar> {
        let place = match expr {
            ast::Expr::Value(value) => self.span(value.span),
            _ => Span::default(),
        };
        let to = self.named_type(data_type, place)?;
        if let Some(elements) = elements_of(expr)
            && let Some(element) = to.element()
        {
            return self.array_of(elements, to, element);
        }
        let value = self.scalar(expr)?;
        if matches!(value.kind, Kind::Row(_)) && to.id.category() == "S" {
            return self.unsupported("the text of a row");
        }
        self.coerce(value, to, CastContext::Explicit)
    }

    /// Returns the type that a cast names.
    pub(super) fn named_type(&self, data_type: &ast::DataType, span: Span) -> BindResult<Ty> {
        let known = match data_type {
            ast::DataType::Integer(None) | ast::DataType::Int(None) | ast::DataType::Int4(None) => Some(Ty::INT4),
            ast::DataType::BigInt(None) | ast::DataType::Int8(None) => Some(Ty::INT8),
            ast::DataType::Text => Some(Ty::TEXT),
            ast::DataType::Boolean | ast::DataType::Bool => Some(Ty::BOOL),
            _ => None,
        };
        if let Some(known) = known {
            return Ok(known);
        }
        if let Some(known) = crate::catalog_types::catalog_type(data_type) {
            return Ok(known);
        }
        if let ast::DataType::Interval { fields, precision } = data_type
            && (fields.is_some() || precision.is_some())
        {
            let words = fields.as_ref().map(ToString::to_string).unwrap_or_default();
            let params: Vec<i64> = precision.iter().filter_map(|digits| i64::try_from(*digits).ok()).collect();
            return match types::DataType::of_column_name(&format!("interval {words}"), &params) {
                Ok(ty) => Ok(Ty::of(&ty)),
                Err(error) => self.error(BindErrorKind::Value(error), span),
            };
        }
        match sql::data_type(data_type) {
            Ok(ty) => Ok(limited_elements(data_type).unwrap_or_else(|| Ty::of(&ty))),
            Err(SqlError::Type { source, .. }) => {
                self.error(BindErrorKind::Value(source), self.place_of_type(data_type).unwrap_or(span))
            }
            Err(_) => self.unsupported(format!("type {}", data_type.to_string().to_lowercase())),
        }
    }

    /// Returns the position of a type that is written as a name.
    fn place_of_type(&self, data_type: &ast::DataType) -> Option<Span> {
        let ast::DataType::Custom(name, _) = data_type else { return None };
        let parts = name.0.iter().filter_map(ast::ObjectNamePart::as_ident).map(|ident| self.span(ident.span));
        parts.reduce(Span::with).filter(|span| !span.is_empty())
    }

    /// Binds `ARRAY[…]::t[]` by casting each element to `t`, so that an empty array has a type.
    fn array_of(&mut self, elements: &[ast::Expr], to: Ty, element: Ty) -> BindResult<Scalar> {
        let (mut items, mut span) = (Vec::with_capacity(elements.len()), Span::default());
        let mut arrays = 0_usize;
        for item in elements {
            if let Some(inner) = elements_of(item) {
                arrays += 1;
                items.push(self.array_of(inner, to, element)?);
                continue;
            }
            let item = self.scalar(item)?;
            span = span.with(item.span);
            if item.ty.element().is_some() {
                return self.unsupported("a cast of an array among whose elements are arrays that are no constructors");
            }
            items.push(self.coerce(item, element, CastContext::Explicit)?);
        }
        if arrays > 0 && arrays < items.len() {
            let message = "multidimensional arrays must have array expressions with matching dimensions";
            return self.error(BindErrorKind::UnlikeElements { message }, span);
        }
        // An array of empty arrays is empty.
        if items.iter().all(|item| matches!(&item.kind, Kind::Array(inner) if inner.is_empty())) {
            items.clear();
        }
        Ok(Scalar { kind: Kind::Array(items), ty: to, span })
    }
}

/// Returns an array type whose elements have a length or digits: its type modifier is that of its elements.
fn limited_elements(data_type: &ast::DataType) -> Option<Ty> {
    use ast::ArrayElemTypeDef as Def;
    let ast::DataType::Array(Def::SquareBracket(element, _) | Def::AngleBracket(element) | Def::Parenthesis(element)) =
        data_type
    else {
        return None;
    };
    if let Some(inner) = limited_elements(element) {
        return Some(inner);
    }
    let element = Ty::of(&sql::data_type(element).ok()?);
    let id = element.id.array().filter(|_| element.typmod != -1)?;
    Some(Ty { id, typmod: element.typmod, digits: None })
}

/// Returns the elements of an array constructor.
fn elements_of(expr: &ast::Expr) -> Option<&[ast::Expr]> {
    match expr {
        ast::Expr::Nested(inner) => elements_of(inner),
        ast::Expr::Array(array) => Some(&array.elem),
        _ => None,
    }
}
