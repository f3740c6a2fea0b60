//! Casts that a query writes: which there are, and constants read when the statement is planned.

use super::adapt;
use crate::convert::{arrow_type, datum_to_scalar, expression_field, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::{in_digits, postgres_cast, quoted_in_session, session_moment};
use arrow::datatypes::Field;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Cast, Expr, ExprSchemable};
use std::sync::Arc;
use types::{DataType, ElementType};

/// Casts that PostgreSQL has none for.
fn refuse_cast(from: &Field, to: &DataType) -> QueryResult<()> {
    let Some(own) = sql_type_of(from).filter(|_| !from.data_type().is_null()) else { return Ok(()) };
    if can_cast(&own, to) {
        return Ok(());
    }
    Err(QueryError::CannotCast { from: own.base_name().to_owned(), to: to.base_name().to_owned() })
}

fn can_cast(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    match (from, to) {
        // By way of text.
        (from, to) if from.is_text() || to.is_text() => true,
        (T::Array(from), T::Array(to)) => can_cast(&from.data_type(), &to.data_type()),
        (from, to) if from.is_number() && to.is_number() => true,
        (from, to) if from.is_bytes() && to.is_bytes() => true,
        (T::Integer, T::Boolean) | (T::Boolean, T::Integer) => true,
        // Names of catalogs are shown as numbers of this type.
        (T::Boolean, T::BigInt) => true,
        (T::Date, T::Date | T::Timestamp(_) | T::TimestampTz(_)) => true,
        (T::Timestamp(_) | T::TimestampTz(_), T::Date | T::Time(_) | T::Timestamp(_) | T::TimestampTz(_)) => true,
        (T::Time(_), T::Time(_) | T::Interval) | (T::Interval, T::Interval | T::Time(_)) => true,
        (from, to) => from == to,
    }
}

/// A cast that the query wrote.
pub(super) fn settle_cast(cast: Cast, schema: &DFSchema) -> Result<Transformed<Expr>> {
    // A quoted constant is read when the statement is planned.
    if let (Expr::Literal(ScalarValue::Utf8(Some(text)), _), Some(ty)) = (cast.expr.as_ref(), sql_type_of(&cast.field))
        && !ty.is_text()
        && ty != DataType::Json
        && !matches!(ty, DataType::Array(ElementType::TimestampTz))
        && *cast.field.data_type() == arrow_type(&ty)
    {
        if let Some(moment) = session_moment(text, &ty) {
            return Ok(Transformed::yes(in_digits(moment, ty)));
        }
        if matches!(ty, DataType::TimestampTz(_)) {
            return Ok(Transformed::yes(in_digits(adapt::quoted_moment(text)?, ty)));
        }
        let Some(value) = adapt::read_constant(text, &ty).map_err(QueryError::from)? else {
            return Ok(Transformed::yes(quoted_in_session(text, ty)));
        };
        let value = types::coerce::cast(&ty, value).map_err(QueryError::from)?;
        let value = datum_to_scalar(&ty, &value)?;
        return Ok(Transformed::yes(typed_literal(value, &ty)));
    }
    let replaced = match (cast.expr.to_field(schema), sql_type_of(&cast.field)) {
        // A parameter without a type takes the cast's.
        _ if matches!(cast.expr.as_ref(), Expr::Placeholder(parameter) if parameter.field.is_none()) => None,
        (Ok((_, from)), Some(ty)) if *cast.field.data_type() == arrow_type(&ty) => {
            refuse_cast(&from, &ty)?;
            postgres_cast(&cast.expr, &from, &ty)
        }
        _ => None,
    };
    match replaced {
        Some(call) => Ok(Transformed::yes(call)),
        None => Ok(anew(cast)),
    }
}

/// A cast makes a value of no column and of its own type: a target field without a name would take both over from
/// what is cast.
fn anew(mut cast: Cast) -> Transformed<Expr> {
    if !cast.field.name().is_empty() {
        return Transformed::no(Expr::Cast(cast));
    }
    cast.field = Arc::new(cast.field.as_ref().clone().with_name("cast"));
    Transformed::yes(Expr::Cast(cast))
}

/// A constant whose type's name the Arrow type does not tell, such as `varchar(3)[]`, keeps it.
fn typed_literal(value: ScalarValue, ty: &DataType) -> Expr {
    let field = expression_field(ty);
    Expr::Literal(value, (!field.metadata().is_empty()).then(|| FieldMetadata::from(&field)))
}
