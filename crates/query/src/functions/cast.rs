//! Casts whose result in PostgreSQL differs from Arrow's: rounding to integers, limits of `varchar(n)`, texts of dates,
//! everything that is read from text.

use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, expression_field, sql_type_of};
use crate::error::{QueryError, QueryResult};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use types::{DataType, Datum, coerce, text};

/// `expr::ty` as PostgreSQL does it; `None` when Arrow's own cast does just that.
pub(crate) fn postgres_cast(expr: &Expr, from: &Field, ty: &DataType) -> Option<Expr> {
    let own = sql_type_of(from);
    if own == Some(DataType::Oid) && *ty == DataType::Oid {
        return None;
    }
    // Arrow has one type for both, and would go on taking the text for a char(n).
    let was_char = matches!(own, Some(DataType::Char(_)));
    let from = from.data_type();
    if arrow_agrees(from, ty) && !(was_char && ty.is_text()) {
        return None;
    }
    let function =
        ScalarUDF::new_from_impl(PostgresCast { ty: *ty, signature: Signature::any(1, Volatility::Immutable) });
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![expr.clone()])))
}

fn arrow_agrees(from: &ArrowType, ty: &DataType) -> bool {
    use ArrowType as A;
    let to = arrow_type(ty);
    match (from, ty) {
        (A::Null, _) => true,
        (_, DataType::Varchar(Some(_)) | DataType::Char(_) | DataType::Varbinary(_) | DataType::Binary(_)) => false,
        // An oid has a range of its own.
        (_, DataType::Oid) => false,
        (from, _) if *from == to => true,
        (A::Struct(_), _) => true,
        (from, _) if from.is_integer() => ty.is_number() || ty.is_text() || *ty == DataType::Boolean,
        (A::Boolean, ty) => ty.is_integer() || ty.is_text(),
        // Only our own arithmetic of dates and days has this one.
        (A::Date32, DataType::Integer) => true,
        // The other way Arrow makes infinities of what is too large.
        (A::Float32, DataType::Double) => true,
        (A::Decimal128(..) | A::Decimal256(..), DataType::Numeric(_)) => true,
        (
            A::Date32 | A::Timestamp(..),
            DataType::Date | DataType::Time | DataType::Timestamp | DataType::TimestampTz,
        ) => true,
        (A::Utf8 | A::LargeUtf8 | A::Utf8View, ty) => ty.is_text(),
        _ => false,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PostgresCast {
    ty: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for PostgresCast {
    fn name(&self) -> &str {
        self.ty.base_name()
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
        Ok(format!("{}::{}", shown.join(", "), self.ty.sql_name()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&self.ty))
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(expression_field(&self.ty)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (Some(value), Some(from)) = (args.args.first(), args.arg_fields.first()) else {
            return Err(QueryError::internal("a cast without an operand").into());
        };
        let from = sql_type_of(from)
            .ok_or_else(|| QueryError::Unsupported { feature: format!("a cast from {}", from.data_type()) })?;
        match value {
            ColumnarValue::Scalar(scalar) => {
                let array = self.cast_array(&scalar.to_array()?, &from)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?))
            }
            ColumnarValue::Array(array) => Ok(ColumnarValue::Array(self.cast_array(array, &from)?)),
        }
    }
}

impl PostgresCast {
    fn cast_array(&self, array: &ArrayRef, from: &DataType) -> QueryResult<ArrayRef> {
        let canonical = match from {
            // As they are, nested ones too.
            DataType::Array(_) => Arc::clone(array),
            from => arrow::compute::cast(array, &arrow_type(from))?,
        };
        let read = column_reader(from, canonical.as_ref())?;
        let mut values = Vec::with_capacity(canonical.len());
        for row in 0..canonical.len() {
            values.push(if canonical.is_null(row) { Datum::Null } else { cast_value(&self.ty, read(row)?)? });
        }
        datums_to_array(&self.ty, values)
    }
}

fn cast_value(ty: &DataType, value: Datum) -> QueryResult<Datum> {
    match (ty, value) {
        (ty, Datum::Text(input)) if !ty.is_text() => Ok(text::parse(ty, input.trim())?),
        (DataType::Array(element), Datum::Array(items)) => {
            let cast = |item: Datum| match item {
                nested @ Datum::Array(_) => cast_value(ty, nested),
                item => cast_value(&element.data_type(), item),
            };
            Ok(Datum::Array(items.into_iter().map(cast).collect::<QueryResult<_>>()?))
        }
        (ty, value) => Ok(coerce::cast(ty, value)?),
    }
}
