//! A function of ours as DataFusion sees it.

use super::resolve::{Argument, resolve};
use super::{Chosen, Definition};
use crate::classify::too_large_batch;
use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, expression_field, sql_type};
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::{self, Allowance};
use crate::functions::short_name::short_name;
use crate::functions::{as_deep, in_dimensions};
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

/// Functions whose arrays have as many dimensions as those that they are made of.
const KEEP_DIMENSIONS: [&str; 7] =
    ["array_cat", "operator ||", "array slice", "array slice inside", "array_replace", "trim_array", "limit items"];

/// The function. Two of one name are the same.
#[derive(Clone)]
pub(crate) struct SqlFunction {
    pub(crate) definition: Definition,
    /// Is its type that of its arguments' types, whatever their values?
    pinned: bool,
    signature: Signature,
}

impl SqlFunction {
    pub(crate) fn new(definition: Definition) -> Self {
        Self { definition, pinned: false, signature: Signature::user_defined(definition.volatility) }
    }

    /// The function for a call whose arguments may become constants later, by folding or as values of parameters: its
    /// type then stays what it was.
    pub(crate) fn pinned(&self) -> Self {
        Self { pinned: true, ..self.clone() }
    }

    /// Does its type depend on the value of an argument? Which one.
    pub(crate) fn telling_argument(&self) -> Option<usize> {
        match self.definition.name {
            "round" | "trunc" => Some(1),
            "extract" => Some(0),
            _ => None,
        }
    }

    /// The form for arguments of these Arrow types. Text may still be a constant that is none: that is decided
    /// later, so here it fits everything if it must.
    fn chosen(&self, args: &[ArrowType]) -> Option<Chosen> {
        let argument = |lenient: bool| {
            move |ty: &ArrowType| match sql_type(ty) {
                _ if ty.is_null() => Argument::Unknown,
                Some(DataType::Text) | None if lenient => Argument::Unknown,
                // Constants that DataFusion has made are bigints.
                Some(DataType::BigInt) if lenient => Argument::Known(DataType::Integer),
                Some(ty) => Argument::Known(ty),
                None => Argument::Unknown,
            }
        };
        let exact: Vec<Argument> = args.iter().map(argument(false)).collect();
        let lenient: Vec<Argument> = args.iter().map(argument(true)).collect();
        let forms = &self.definition.forms;
        resolve(forms, &exact).or_else(|| resolve(forms, &lenient))
    }

    fn chosen_or_fail(&self, args: &[ArrowType]) -> QueryResult<Chosen> {
        self.chosen(args).ok_or_else(|| QueryError::internal(format!("{}() of {args:?}", self.definition.name)))
    }
}

/// A call of a function of ours.
pub(crate) fn call_of(definition: &Definition, args: Vec<Expr>) -> Expr {
    let function = ScalarUDF::new_from_impl(SqlFunction::new(*definition));
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
}

impl std::fmt::Debug for SqlFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}()", self.definition.name)
    }
}

/// Names are unique among functions of ours, and bodies cannot be compared.
impl PartialEq for SqlFunction {
    fn eq(&self, other: &Self) -> bool {
        self.definition.name == other.definition.name && self.pinned == other.pinned
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
        // That nothing fits is told where constants are known.
        let Some(chosen) = self.chosen(args) else { return Ok(args.to_vec()) };
        Ok(chosen.types.iter().zip(args).map(|(ty, given)| coerced(ty, given)).collect())
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&self.chosen_or_fail(args)?.returns))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<ArrowType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let chosen = self.chosen_or_fail(&types)?;
        let returns = chosen.returns;
        let scale = if self.pinned { None } else { shown_scale(self.definition.name, &args) };
        let returns = match (returns, scale) {
            (DataType::Numeric(None), Some(scale)) => DataType::Numeric(Some((38, scale))),
            (returns, _) => returns,
        };
        let field = expression_field(&returns);
        if !matches!(returns, DataType::Array(_)) || !KEEP_DIMENSIONS.contains(&self.definition.name) {
            return Ok(Arc::new(field));
        }
        let ty = as_deep(field.data_type().clone(), types.iter());
        Ok(Arc::new(field.with_data_type(ty)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let given: Vec<ArrowType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let chosen = self.chosen_or_fail(&given)?;
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)))
            && self.definition.volatility != datafusion::logical_expr::Volatility::Volatile;
        let rows = if constant { 1 } else { args.number_rows };
        let arrays: Vec<ArrayRef> = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<_>>()?;
        let mut chosen = chosen;
        chosen.returns = sql_type(args.return_field.data_type()).filter(|ty| ty.is_number()).unwrap_or(chosen.returns);
        let allowance = Allowance::of(&args.config_options);
        let computed = allowance.during(rows, || evaluate(&chosen, &arrays, rows))?;
        let result = in_dimensions(computed, args.return_field.data_type())?;
        Ok(if constant {
            ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)
        } else {
            ColumnarValue::Array(result)
        })
    }
}

/// Fraction digits of a numeric result where the constants of a call tell them: `round(x, 2)` has two.
fn shown_scale(name: &str, args: &ReturnFieldArgs<'_>) -> Option<u8> {
    let constant = |at: usize| args.scalar_arguments.get(at).copied().flatten();
    match (name, constant(0), constant(1)) {
        ("round" | "trunc", _, Some(digits)) => {
            let digits = match digits {
                ScalarValue::Int32(Some(digits)) => i64::from(*digits),
                ScalarValue::Int64(Some(digits)) => *digits,
                _ => return None,
            };
            u8::try_from(digits.max(0)).ok().filter(|digits| *digits <= types::NUMERIC_MAX_SCALE)
        }
        ("round" | "trunc" | "ceil" | "ceiling" | "floor", ..) if args.arg_fields.len() == 1 => Some(0),
        ("extract", Some(ScalarValue::Utf8(Some(field))), _) => {
            let date = args.arg_fields.get(1).is_some_and(|field| *field.data_type() == ArrowType::Date32);
            extract_scale(field, date)
        }
        _ => None,
    }
}

fn extract_scale(field: &str, of_date: bool) -> Option<u8> {
    match field.to_ascii_lowercase().as_str() {
        "second" => Some(6),
        "milliseconds" => Some(3),
        "epoch" if !of_date => Some(6),
        _ => None,
    }
}

/// Decimals are taken as they come: their digits say their scale.
fn coerced(ty: &DataType, given: &ArrowType) -> ArrowType {
    match ty {
        DataType::Numeric(None) if given.is_decimal() => given.clone(),
        DataType::Array(_) if sql_type(given) == Some(*ty) => given.clone(),
        // An array of several dimensions keeps them, whatever its items become.
        DataType::Array(_) => as_deep(arrow_type(ty), std::iter::once(given)),
        ty => arrow_type(ty),
    }
}

/// Lists as they are, but for texts in DataFusion's other form: some of its functions make views.
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

/// Most bytes that one call makes for a batch of rows, as far as Arrow's offsets reach.
const MOST_OF_A_BATCH: usize = i32::MAX as usize;

/// What a row takes beside its long values.
const STEPS_OF_A_ROW: usize = 64;

fn evaluate(chosen: &Chosen, arrays: &[ArrayRef], rows: usize) -> QueryResult<ArrayRef> {
    let canonical: Vec<(DataType, ArrayRef)> = chosen
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
        let is_null = chosen.strict && row_values.iter().any(Datum::is_null);
        let value = if is_null { Datum::Null } else { (chosen.body)(&row_values)? };
        let bytes: usize = row_values.iter().map(allowance::size_of_value).sum();
        interrupt::spend(STEPS_OF_A_ROW.saturating_add(bytes))?;
        // Of the others a batch has so many and no more.
        if matches!(value, Datum::Text(_) | Datum::Bytes(_) | Datum::Array(_)) {
            let size = allowance::size_of_value(&value);
            left = left.checked_sub(size).ok_or_else(too_large_batch)?;
            allowance::made(size)?;
            interrupt::spend(size)?;
        }
        values.push(value);
    }
    datums_to_array(&chosen.returns, values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_long_texts_is_refused_before_it_takes_all_memory() {
        // A gigabyte of zeros, which the system lends without filling it.
        let body: super::super::Body = |_| Ok(Datum::Text(String::from_utf8(vec![0; 1 << 30]).unwrap_or_default()));
        let chosen = Chosen { types: Vec::new(), returns: DataType::Text, strict: false, body };
        let refused = evaluate(&chosen, &[], 200).unwrap_err();
        assert!(matches!(refused, QueryError::Refused { reason: crate::Refusal::Size, .. }), "{refused:?}");
    }
}
