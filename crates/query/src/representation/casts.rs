//! Casts as DataFusion or a function of ours computes them, and constants read when the statement is planned.

use super::adapt;
use crate::convert::{arrow_type, datum_to_scalar, expression_field, sql_type_of};
use crate::error::QueryError;
use crate::functions::{in_digits, postgres_cast, quoted_in_session, session_moment};
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Cast, Expr, ExprSchemable};
use std::sync::Arc;
use types::{DataType, ElementType};

/// A cast that the query wrote.
pub(super) fn represent_cast(cast: Cast, schema: &DFSchema) -> Result<Transformed<Expr>> {
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
        (Ok((_, from)), Some(ty)) if *cast.field.data_type() == arrow_type(&ty) => {
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
