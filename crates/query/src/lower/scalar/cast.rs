//! Casts.

use crate::convert::{expression_field, sql_type_of};
use crate::functions::{cast_in_zone, postgres_cast, round_to_precision, session_date_time};
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal, unsupported};
use crate::lower::scalar::constant::value_type;
use ::bind::tree::{CastContext, CastVia, Scalar};
use arrow::datatypes::Field;
use builtins::{Ty, TypeId};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable};
use std::sync::Arc;
use types::{DataType, IntervalField, IntervalFields};

impl Lowering<'_> {
    /// Casts the lowered operand to type `to`.
    pub(in crate::lower) fn cast(
        &mut self,
        value: Expr,
        arg: &Scalar,
        (via, context): (CastVia, CastContext),
        to: Ty,
        schema: &DFSchema,
    ) -> LowerResult<Expr> {
        if let (CastVia::Length, Some(element)) = (via, to.element()) {
            return self.limited_elements(value, arg.ty, element);
        }
        if let Some(cast) = self.catalog_cast(&value, arg, via, to, schema)? {
            return Ok(cast);
        }
        let from = arg.ty;
        match via {
            CastVia::Relabel if from.id == to.id && from.digits == to.digits => Ok(value),
            CastVia::Relabel if is_free(from, to) => Ok(value),
            CastVia::Length if context != CastContext::Explicit => internal("a length that is not asked for"),
            CastVia::Length => match to.data_type() {
                Some(ty) => self.written(value, &ty, schema),
                None => unsupported(format!("a cast to {}", to.sql_name())),
            },
            CastVia::Relabel | CastVia::Function(_) | CastVia::Text | CastVia::Elements => {
                if to.id == TypeId::BPCHAR && to.typmod == -1 {
                    // A `bpchar` without a length is represented without its trailing blanks.
                    return Ok(rtrim().call(vec![self.written(value, &DataType::Text, schema)?]));
                }
                self.written(value, &value_type(to)?, schema)
            }
        }
    }

    /// Casts a value: by DataFusion's cast if it has PostgreSQL's semantics, else by our own function, and in the
    /// session's time zone and style if the cast depends on them.
    pub(in crate::lower) fn written(&self, value: Expr, ty: &DataType, schema: &DFSchema) -> LowerResult<Expr> {
        let zone = self.zone.as_ref();
        if let Expr::Literal(ScalarValue::Utf8(Some(text)), _) = &value
            && let Some(moment) = session_date_time(text, ty, zone)
        {
            return Ok(round_to_precision(moment, *ty));
        }
        let (_, from) = value.to_field(schema)?;
        let own = sql_type_of(&from).filter(|_| !from.data_type().is_null());
        Ok(match (zone, own) {
            (Some(zone), Some(own)) if zone.changes_cast(&own, ty) => cast_in_zone(value, *ty, zone),
            _ => cast_from(value, &from, ty),
        })
    }

    /// Applies a type modifier to the elements of an array.
    fn limited_elements(&mut self, array: Expr, of: Ty, element: Ty) -> LowerResult<Expr> {
        let number = |value: i32| Expr::Literal(ScalarValue::Int32(Some(value)), None);
        let oid = i32::try_from(element.id.0).unwrap_or_default();
        let types = [value_type(of)?.unlimited(), DataType::Integer, DataType::Integer];
        self.sql_call("limit items", &types, vec![array, number(oid), number(element.typmod)])
    }
}

/// Is the representation the same in both types?
fn is_free(from: Ty, to: Ty) -> bool {
    let is_text = |id: TypeId| matches!(id, TypeId::TEXT | TypeId::VARCHAR | TypeId::NAME);
    is_text(from.id) && is_text(to.id) || from.id == to.id && from.digits == to.digits
}

/// Casts a constant, independently of the session.
pub(in crate::lower) fn written_literal(value: ScalarValue, ty: &DataType) -> Expr {
    let from = Field::new("", value.data_type(), true);
    cast_from(Expr::Literal(value, None), &from, ty)
}

/// Casts a value. The target field gets a name, because an unnamed one would inherit the operand's metadata and with it
/// the table column it comes from.
pub(in crate::lower) fn cast_from(value: Expr, from: &Field, ty: &DataType) -> Expr {
    postgres_cast(&value, from, ty).unwrap_or_else(|| {
        let field = expression_field(ty).with_name("cast");
        Expr::Cast(Cast::new_from_field(Box::new(value), Arc::new(field)))
    })
}

/// The arguments of the function that limits intervals: the interval, its fields as two digits, and the precision of
/// seconds.
pub(in crate::lower) fn limited_interval(value: Expr, limits: IntervalFields) -> Vec<Expr> {
    const ALL: [IntervalField; 6] = [
        IntervalField::Year,
        IntervalField::Month,
        IntervalField::Day,
        IntervalField::Hour,
        IntervalField::Minute,
        IntervalField::Second,
    ];
    let code = |field: IntervalField| {
        ALL.iter().position(|known| *known == field).and_then(|at| i32::try_from(at).ok()).unwrap_or(0)
    };
    let fields = limits.bounds.map_or(-1, |(first, last)| code(first) * 10 + code(last));
    let digits = limits.digits.map_or(-1, i32::from);
    let number = |value: i32| Expr::Literal(ScalarValue::Int32(Some(value)), None);
    vec![value, number(fields), number(digits)]
}
