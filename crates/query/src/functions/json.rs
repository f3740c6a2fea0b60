//! Functions that build JSON: `json_build_object`, `json_build_array`, `to_json`, and row constructors among their
//! arguments.
//!
//! JSON arguments are inserted as they are, so these functions read the SQL types of their arguments, which Arrow's
//! types do not tell apart.

use crate::Refusal;
use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, expression_field, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::sql::without_views;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::sync::Arc;
use types::{DataType, Datum, json, text};

/// The function that builds the JSON of a row constructor, under a name that no query can write.
pub(crate) const JSON_ROW: &str = "json row";

pub(super) fn all() -> Vec<ScalarUDF> {
    let any = || Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Stable);
    let function = |kind, signature| ScalarUDF::new_from_impl(JsonFunction { kind, signature });
    vec![
        function(Kind::Object, any()),
        function(Kind::Array, any()),
        function(Kind::Row, any()),
        function(Kind::Value, Signature::any(1, Volatility::Stable)),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Object,
    Array,
    /// A row constructor, whose fields are named f1, f2, ….
    Row,
    Value,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct JsonFunction {
    kind: Kind,
    signature: Signature,
}

impl ScalarUDFImpl for JsonFunction {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Object => "json_build_object",
            Kind::Array => "json_build_array",
            Kind::Row => JSON_ROW,
            Kind::Value => "to_json",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&DataType::Json))
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(expression_field(&DataType::Json)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let mut columns = Vec::with_capacity(args.args.len());
        for (arg, field) in args.args.iter().zip(&args.arg_fields) {
            columns.push((sql_type_of(field).unwrap_or(DataType::Text), without_views(&arg.to_array(rows)?)?));
        }
        let readers = columns.iter().map(|(ty, array)| Ok((*ty, array, column_reader(ty, array.as_ref())?)));
        let readers = readers.collect::<QueryResult<Vec<_>>>()?;
        let mut values = Vec::with_capacity(rows);
        for row in 0..rows {
            let mut given = Vec::with_capacity(readers.len());
            for (ty, array, read) in &readers {
                given.push((*ty, if array.is_null(row) { Datum::Null } else { read(row)? }));
            }
            values.push(self.value(&given)?);
        }
        let result = datums_to_array(&DataType::Json, values)?;
        Ok(if constant {
            ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)
        } else {
            ColumnarValue::Array(result)
        })
    }
}

impl JsonFunction {
    fn value(&self, given: &[(DataType, Datum)]) -> QueryResult<Datum> {
        let mut out = String::new();
        match self.kind {
            Kind::Object => object(given, &mut out)?,
            Kind::Array => array(given, &mut out),
            Kind::Row => row(given, &mut out),
            Kind::Value => match given {
                [(_, Datum::Null)] => return Ok(Datum::Null),
                [(ty, value)] => json::print(ty, value, &mut out),
                _ => return Err(QueryError::internal("to_json takes one value")),
            },
        }
        Ok(Datum::Text(out))
    }
}

fn array(given: &[(DataType, Datum)], out: &mut String) {
    out.push('[');
    for (at, (ty, value)) in given.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        json::print(ty, value, out);
    }
    out.push(']');
}

/// Prints a row without spaces, as PostgreSQL does, unlike the results of its functions.
fn row(given: &[(DataType, Datum)], out: &mut String) {
    out.push('{');
    for (number, (ty, value)) in (1..).zip(given) {
        out.push_str(if number > 1 { "," } else { "" });
        json::quote(&format!("f{number}"), out);
        out.push(':');
        json::print(ty, value, out);
    }
    out.push('}');
}

fn object(given: &[(DataType, Datum)], out: &mut String) -> QueryResult<()> {
    out.push('{');
    for (at, pair) in given.chunks(2).enumerate() {
        let [(key_type, key), (ty, value)] = pair else {
            return Err(Refusal::Argument.because("argument list must have even number of elements"));
        };
        out.push_str(if at > 0 { ", " } else { "" });
        write_key(key_type, key, 2 * at + 1, out)?;
        out.push_str(" : ");
        json::print(ty, value, out);
    }
    out.push('}');
    Ok(())
}

fn write_key(ty: &DataType, key: &Datum, number: usize, out: &mut String) -> QueryResult<()> {
    let shown = match (ty, key) {
        (_, Datum::Null) => return Err(Refusal::Argument.because(format!("argument {number} cannot be null"))),
        (DataType::Json, _) | (_, Datum::Array(_)) => {
            return Err(Refusal::Argument.because("key value must be scalar, not array, composite, or json"));
        }
        (_, Datum::Bool(value)) => value.to_string(),
        (ty, key) => {
            let mut shown = String::new();
            text::print(ty, key, &mut shown);
            shown
        }
    };
    json::quote(&shown, out);
    Ok(())
}
