//! SQL functions as DataFusion UDFs.

use super::{Definition, Form};
use crate::classify::too_large_batch;
use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, expression_field, sql_type};
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::{self, Allowance};
use crate::functions::short_name::short_name;
use crate::functions::{nest_to_deepest, nest_to_dimensions};
use arrow::array::{Array, ArrayRef};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use types::{DataType, Datum, interrupt};

/// Functions whose result has as many dimensions as their arguments.
const KEEP_DIMENSIONS: [&str; 7] =
    ["array_cat", "operator ||", "array slice", "array slice inside", "array_replace", "trim_array", "limit items"];

/// A function in the form of one call.
#[derive(Clone)]
struct SqlFunction {
    definition: Definition,
    form: Form,
    signature: Signature,
}

/// Builds a call of a function whose parameters have these types. `digits` is the precision and scale of a numeric
/// result, if all values have the same.
///
/// # Errors
/// [`QueryError::Internal`] if the function has no form for the types.
pub(crate) fn call_of(
    definition: &Definition,
    types: &[DataType],
    args: Vec<Expr>,
    digits: Option<(u8, u8)>,
) -> QueryResult<Expr> {
    let missing = || {
        let types: Vec<String> = types.iter().map(DataType::sql_name).collect();
        QueryError::internal(format!("no form of {}({})", definition.name, types.join(", ")))
    };
    let mut form = definition.form(types).ok_or_else(missing)?;
    if form.returns == DataType::Numeric(None) {
        form.returns = DataType::Numeric(digits);
    }
    Ok(call(*definition, form, args))
}

/// Builds a call of a form that only plans have.
pub(crate) fn call_form(name: &'static str, form: Form, args: Vec<Expr>) -> Expr {
    call(super::define(name, &[]), form, args)
}

fn call(definition: Definition, form: Form, args: Vec<Expr>) -> Expr {
    let signature = Signature::user_defined(definition.volatility);
    let function = ScalarUDF::new_from_impl(SqlFunction { definition, form, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
}

impl std::fmt::Debug for SqlFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}()", self.definition.name)
    }
}

/// Names of functions are unique, and bodies cannot be compared.
impl PartialEq for SqlFunction {
    fn eq(&self, other: &Self) -> bool {
        let (form, others) = (&self.form, &other.form);
        self.definition.name == other.definition.name && form.types == others.types && form.returns == others.returns
    }
}

impl Eq for SqlFunction {}

impl Hash for SqlFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.definition.name.hash(state);
    }
}

impl ScalarUDFImpl for SqlFunction {
    fn name(&self) -> &str {
        self.definition.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(short_name(self.definition.name, args))
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
        Ok(match (self.definition.name.split_once(' '), shown.as_slice()) {
            (Some(("operator", sign)), [left, right]) => format!("{left} {sign} {right}"),
            (Some((_, sign)), [right]) => format!("{sign} {right}"),
            _ => format!("{}({})", self.definition.name, shown.join(", ")),
        })
    }

    fn coerce_types(&self, args: &[ArrowType]) -> Result<Vec<ArrowType>> {
        Ok(self.form.types.iter().zip(args).map(|(ty, given)| coerced(ty, given)).collect())
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&self.form.returns))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let field = expression_field(&self.form.returns);
        if !matches!(self.form.returns, DataType::Array(_)) || !KEEP_DIMENSIONS.contains(&self.definition.name) {
            return Ok(Arc::new(field));
        }
        let ty = nest_to_deepest(field.data_type().clone(), args.arg_fields.iter().map(|field| field.data_type()));
        Ok(Arc::new(field.with_data_type(ty)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)))
            && self.definition.volatility != datafusion::logical_expr::Volatility::Volatile;
        let rows = if constant { 1 } else { args.number_rows };
        let arrays: Vec<ArrayRef> = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<_>>()?;
        let allowance = Allowance::of(&args.config_options);
        let computed = allowance.during(rows, || evaluate(&self.form, &arrays, rows))?;
        let result = nest_to_dimensions(computed, args.return_field.data_type())?;
        Ok(if constant {
            ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)
        } else {
            ColumnarValue::Array(result)
        })
    }
}

/// Decimals keep their type, which has their scale.
fn coerced(ty: &DataType, given: &ArrowType) -> ArrowType {
    match ty {
        DataType::Numeric(None) if given.is_decimal() => given.clone(),
        DataType::Array(_) if sql_type(given) == Some(*ty) => given.clone(),
        // An array keeps its dimensions when its items are cast.
        DataType::Array(_) => nest_to_deepest(arrow_type(ty), std::iter::once(given)),
        ty => arrow_type(ty),
    }
}

/// Casts string views, which some DataFusion functions return, and large strings in lists to Utf8.
pub(crate) fn without_views(lists: &ArrayRef) -> QueryResult<ArrayRef> {
    let plain = plain_items(lists.data_type());
    Ok(if plain == *lists.data_type() { Arc::clone(lists) } else { cast(lists, &plain)? })
}

fn plain_items(ty: &ArrowType) -> ArrowType {
    match ty {
        ArrowType::List(item) => {
            ArrowType::List(Arc::new(item.as_ref().clone().with_data_type(plain_items(item.data_type()))))
        }
        ArrowType::Utf8View | ArrowType::LargeUtf8 => ArrowType::Utf8,
        other => other.clone(),
    }
}

/// Maximum bytes of the values that one call makes for a batch: the range of Arrow's offsets.
const MOST_OF_A_BATCH: usize = i32::MAX as usize;

/// The cost of a row apart from its long values, in steps of [`interrupt::spend`].
const STEPS_OF_A_ROW: usize = 64;

fn evaluate(form: &Form, arrays: &[ArrayRef], rows: usize) -> QueryResult<ArrayRef> {
    let canonical: Vec<(DataType, ArrayRef)> = form
        .types
        .iter()
        .zip(arrays)
        .map(|(ty, array)| match (ty, sql_type(array.data_type())) {
            (DataType::Numeric(None), Some(own @ DataType::Numeric(Some(_)))) => Ok((own, Arc::clone(array))),
            (DataType::Array(_), Some(DataType::Array(_))) => Ok((*ty, without_views(array)?)),
            _ => Ok::<_, QueryError>((*ty, cast(array, &arrow_type(ty))?)),
        })
        .collect::<QueryResult<_>>()?;
    let readers =
        canonical.iter().map(|(ty, array)| column_reader(ty, array.as_ref())).collect::<QueryResult<Vec<_>>>()?;
    let mut values = Vec::with_capacity(rows);
    let mut left = MOST_OF_A_BATCH;
    let mut row_values: Vec<Datum> = Vec::with_capacity(readers.len());
    for row in 0..rows {
        row_values.clear();
        for ((_, array), read) in canonical.iter().zip(&readers) {
            row_values.push(if array.is_null(row) { Datum::Null } else { read(row)? });
        }
        let is_null = form.strict && row_values.iter().any(Datum::is_null);
        let value = if is_null { Datum::Null } else { (form.body)(&row_values)? };
        let bytes: usize = row_values.iter().map(Datum::memory_size).sum();
        interrupt::spend(STEPS_OF_A_ROW.saturating_add(bytes))?;
        // Values of other types have a fixed size.
        if matches!(value, Datum::Text(_) | Datum::Bytes(_) | Datum::Array(_)) {
            let size = value.memory_size();
            left = left.checked_sub(size).ok_or_else(too_large_batch)?;
            allowance::made(size)?;
            interrupt::spend(size)?;
        }
        values.push(value);
    }
    datums_to_array(&form.returns, values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_long_texts_is_refused_before_it_takes_all_memory() {
        // A gigabyte of zeros, which the operating system reserves without filling it.
        let body: super::super::Body = |_| Ok(Datum::Text(String::from_utf8(vec![0; 1 << 30]).unwrap_or_default()));
        let form = Form { types: Vec::new(), returns: DataType::Text, strict: false, body };
        let refused = evaluate(&form, &[], 200).unwrap_err();
        assert!(matches!(refused, QueryError::Refused { reason: crate::Refusal::Size, .. }), "{refused:?}");
    }
}
