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

/// The type in which values are kept: numerics with as many digits as all of them have.
pub(in crate::lower) fn value_type(ty: Ty) -> LowerResult<DataType> {
    match ty.held_type() {
        Some(DataType::Numeric(_)) => Ok(DataType::Numeric(ty.digits)),
        Some(known) => Ok(known),
        None => unsupported(format!("type {}", ty.sql_name())),
    }
}

/// A constant as it is.
pub(in crate::lower) fn plain(value: &Datum, ty: Ty) -> LowerResult<Expr> {
    let ty = value_type(ty)?;
    let scalar = datum_to_scalar(&ty, value)?;
    let field = match ty {
        // Only these types are not told by the Arrow type alone; limits are the bound tree's.
        DataType::Oid | DataType::Json | DataType::Array(_) | DataType::LimitedArray(_) => expression_field(&ty),
        // DataFusion's scalars are equal without looking at the zone (55.2, `ScalarValue::eq`), and it makes one of equal
        // expressions: `min(timestamp '2024-01-01'), min(timestamptz '2024-01-01 UTC')`.
        DataType::TimestampTz(_) => field("", &ty, true),
        _ => return Ok(Expr::Literal(scalar, None)),
    };
    Ok(Expr::Literal(scalar, (!field.metadata().is_empty()).then(|| FieldMetadata::from(&field))))
}

/// A constant within an expression.
pub(in crate::lower) fn constant(value: &Datum, ty: Ty) -> LowerResult<Expr> {
    // A `char(n)` is kept without its blanks; what shows it asks how many there are.
    match ty.data_type() {
        Some(char @ DataType::Char(_)) if !value.is_null() => {
            Ok(written_literal(datum_to_scalar(&value_type(ty)?, value)?, &char))
        }
        _ => plain(value, ty),
    }
}

/// The constant that a column has in all of these rows, where the nodes between keep it as it is. The rows of a join are
/// not looked into: an outer join makes NULLs of it.
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

/// `$n`.
pub(in crate::lower) fn parameter(id: ParamId, ty: Ty) -> LowerResult<Expr> {
    let is_char = ty.id == TypeId::BPCHAR;
    let ty = if is_char { DataType::Text } else { value_type(Ty::plain(ty.id))? };
    // Of a limited type the value may be longer: it is cast where it is used.
    let taken = if ty.is_text() { DataType::Text } else { ty.unlimited() };
    debug_assert_eq!(arrow_type(&taken), arrow_type(&ty));
    let name = format!("${}", usize::from(id.0) + 1);
    let value = Expr::Placeholder(Placeholder::new_with_field(name, Some(Arc::new(field("", &taken, true)))));
    Ok(if is_char { rtrim().call(vec![value]) } else { value })
}
