//! Constants and parameters.

use crate::convert::{arrow_type, datum_to_scalar, expression_field, field};
use crate::lower::error::{LowerResult, unsupported};
use crate::lower::scalar::cast::written_literal;
use ::bind::tree::{ColId, Kind, ParamId, Rel, Scalar};
use builtins::{Ty, TypeId};
use datafusion::common::metadata::FieldMetadata;
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use std::sync::Arc;
use types::{DataType, Datum};

/// The type that values are represented in. A numeric has the precision and scale that all its values share.
pub(in crate::lower) fn value_type(ty: Ty) -> LowerResult<DataType> {
    match ty.runtime_type() {
        Some(DataType::Numeric(_)) => Ok(DataType::Numeric(ty.digits)),
        Some(known) => Ok(known),
        None => unsupported(format!("type {}", ty.sql_name())),
    }
}

/// A constant in its plain representation.
pub(in crate::lower) fn plain(value: &Datum, ty: Ty) -> LowerResult<Expr> {
    let ty = value_type(ty)?;
    let scalar = datum_to_scalar(&ty, value)?;
    let field = match ty {
        // The Arrow type does not determine these types, so they need metadata; type modifiers are those of the bound
        // tree.
        DataType::Oid | DataType::Json | DataType::Array(_) | DataType::LimitedArray(_) => expression_field(&ty),
        // DataFusion's scalars compare equal regardless of the time zone (55.2, `ScalarValue::eq`), and it merges equal
        // expressions: `min(timestamp '2024-01-01'), min(timestamptz '2024-01-01 UTC')`.
        DataType::TimestampTz(_) => field("", &ty, true),
        _ => return Ok(Expr::Literal(scalar, None)),
    };
    Ok(Expr::Literal(scalar, (!field.metadata().is_empty()).then(|| FieldMetadata::from(&field))))
}

/// A constant as an operand.
pub(in crate::lower) fn constant(value: &Datum, ty: Ty) -> LowerResult<Expr> {
    // A `char(n)` is represented without trailing blanks; functions that print it need its length.
    match ty.data_type() {
        Some(char @ DataType::Char(_)) if !value.is_null() => {
            Ok(written_literal(datum_to_scalar(&value_type(ty)?, value)?, &char))
        }
        _ => plain(value, ty),
    }
}

/// The constant value of a column in all rows of `rel`, if the nodes in between pass it on. Joins are not searched,
/// because outer joins add NULLs.
pub(in crate::lower) fn constant_column(rel: &Rel, col: ColId) -> Option<(&Datum, Ty)> {
    match rel {
        Rel::Project { input, exprs } => match exprs.iter().find(|(id, _)| *id == col).map(|(_, value)| value) {
            Some(Scalar { kind: Kind::Const(value), ty, .. }) => Some((value, *ty)),
            Some(Scalar { kind: Kind::Col(of), .. }) => constant_column(input, of.id),
            Some(_) => None,
            None => constant_column(input, col),
        },
        Rel::Filter { input, .. }
        | Rel::Window { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::Unnest { input, .. } => constant_column(input, col),
        _ => None,
    }
}

/// The parameter `$n`.
pub(in crate::lower) fn parameter(id: ParamId, ty: Ty) -> LowerResult<Expr> {
    let is_char = ty.id == TypeId::BPCHAR;
    let ty = if is_char { DataType::Text } else { value_type(Ty::plain(ty.id))? };
    // The value may exceed a type modifier: it is cast where it is used.
    let taken = if ty.is_text() { DataType::Text } else { ty.unlimited() };
    debug_assert_eq!(arrow_type(&taken), arrow_type(&ty));
    let name = format!("${}", usize::from(id.0) + 1);
    let value = Expr::Placeholder(Placeholder::new_with_field(name, Some(Arc::new(field("", &taken, true)))));
    Ok(if is_char { rtrim().call(vec![value]) } else { value })
}
