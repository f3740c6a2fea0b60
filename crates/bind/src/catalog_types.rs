//! Types that only system catalogs use: their names in casts, and the conversion of literals to them.

use crate::binder::{Binder, plain};
use crate::error::BindResult;
use crate::name::fold;
use crate::tree::{CastContext, CastVia, Kind, Scalar, Span};
use builtins::lists::PgType;
use builtins::{Ty, TypeId};
use sql::ast;
use types::Datum;

/// Maximum length of a `name` in bytes.
const LONGEST_NAME: usize = 63;

/// Resolves the name of a type that only catalog columns have: `regclass`, `"char"`, `name[]`.
pub(crate) fn catalog_type(data_type: &ast::DataType) -> Option<Ty> {
    use ast::ArrayElemTypeDef as Def;
    match data_type {
        ast::DataType::Regclass => Some(plain(TypeId::REGCLASS)),
        ast::DataType::Custom(name, modifiers) if modifiers.is_empty() => named(name),
        ast::DataType::Array(Def::SquareBracket(element, _) | Def::AngleBracket(element)) => {
            catalog_type(element)?.id.array().map(plain)
        }
        _ => None,
    }
}

fn named(name: &ast::ObjectName) -> Option<Ty> {
    let ident = match name.0.as_slice() {
        [one] => one.as_ident()?,
        [schema, one] if fold(schema.as_ident()?) == "pg_catalog" => one.as_ident()?,
        _ => return None,
    };
    let ty = PgType::by_name(&fold(ident)).filter(|ty| ty.kind == "b")?;
    let id = TypeId(ty.oid);
    // Without quotes, `char` is `character`.
    let is_word = id == TypeId::CHAR && ident.quote_style.is_none();
    (plain(id).data_type().is_none() && !is_word).then(|| plain(id))
}

impl Binder<'_> {
    /// Converts a literal to a type that only catalogs have. Returns `None` for any other type.
    pub(crate) fn catalog_literal(
        &mut self,
        text: &str,
        to: Ty,
        context: CastContext,
        span: Span,
    ) -> BindResult<Option<Scalar>> {
        let known = |datum| Ok(Some(Scalar { kind: Kind::Const(datum), ty: to, span }));
        match to.id {
            TypeId::NAME => known(Datum::Text(shortened(text).to_owned())),
            TypeId::CHAR => known(Datum::Text(text.chars().take(1).collect())),
            TypeId::CSTRING | TypeId::PG_LSN => known(Datum::Text(text.to_owned())),
            TypeId::XID | TypeId::CID => known(self.input(text, Ty::INT8, context, span)?),
            id if id.oid_alias().is_some() => {
                // The value depends on the catalog that the statement is planned with.
                self.facts.session_bound = true;
                self.facts.catalogs = true;
                let arg = Scalar { kind: Kind::Const(Datum::Text(text.to_owned())), ty: Ty::TEXT, span };
                let kind = Kind::Cast { via: CastVia::Text, arg: Box::new(arg), context };
                Ok(Some(Scalar { kind, ty: to, span }))
            }
            id if id.is_vector() => {
                let braces = format!("{{{}}}", text.split_whitespace().collect::<Vec<_>>().join(","));
                let array = if id == TypeId::INT2VECTOR { TypeId::INT2_ARRAY } else { TypeId::OID_ARRAY };
                known(self.input(&braces, plain(array), context, span)?)
            }
            id => self.array_literal(text, id, context, span),
        }
    }

    /// Converts a literal to an array of such a type: its elements are cast one by one.
    fn array_literal(
        &mut self,
        text: &str,
        id: TypeId,
        context: CastContext,
        span: Span,
    ) -> BindResult<Option<Scalar>> {
        let Some(element) = id.element().filter(|element| plain(*element).data_type().is_none()) else {
            return Ok(None);
        };
        let texts = self.input(text, plain(TypeId::TEXT_ARRAY), context, span)?;
        let arg = Scalar { kind: Kind::Const(texts), ty: plain(TypeId::TEXT_ARRAY), span };
        if element.is_catalog_text() {
            return Ok(Some(Scalar { ty: plain(id), ..arg }));
        }
        let kind = Kind::Cast { via: CastVia::Elements, arg: Box::new(arg), context };
        Ok(Some(Scalar { kind, ty: plain(id), span }))
    }

    /// `typname[0]`: a character of a `name`, counted from 0.
    pub(crate) fn character_of_name(&mut self, name: Scalar, index: &ast::Expr) -> BindResult<Scalar> {
        let span = name.span;
        let index = self.subscript(index)?;
        let one = || Scalar { kind: Kind::Const(Datum::Int4(1)), ty: Ty::INT4, span: Span::default() };
        let place = self.operator("+", Some(index), one(), span)?;
        let letter = self.call_named("substr", vec![name, place, one()], span)?;
        self.coerce(letter, plain(TypeId::CHAR), CastContext::Assignment)
    }
}

/// Truncates a text to the length of a `name`.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_NAME);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
