//! The planner's own functions that make a list of a given length, with a bound on what they make.

use super::allowance::{Allowance, may_make};
use crate::Refusal;
use crate::error::QueryResult;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType as ArrowType, FieldRef, Int64Type, IntervalMonthDayNanoType, IntervalUnit, TimeUnit,
    TimestampMicrosecondType,
};
use datafusion::common::Result;
use datafusion::functions_nested::all_default_nested_functions;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use std::sync::Arc;

const MICROS_OF_A_DAY: i64 = 86_400_000_000;
/// Of February: a step of months is no shorter.
const DAYS_OF_A_MONTH: i64 = 28;

/// What tells the length of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Length {
    /// The argument at that place.
    Given(usize),
    /// First, last and step.
    Steps,
}

/// Those functions, each with what tells the length.
pub(super) fn all() -> Vec<ScalarUDF> {
    let bounded = |own: Arc<ScalarUDF>| {
        let length = match own.name() {
            "array_repeat" | "array_resize" => Length::Given(1),
            "range" => Length::Steps,
            _ => return None,
        };
        Some(ScalarUDF::new_from_impl(LongList { own, length }))
    };
    all_default_nested_functions().into_iter().filter_map(bounded).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct LongList {
    own: Arc<ScalarUDF>,
    length: Length,
}

impl ScalarUDFImpl for LongList {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn aliases(&self) -> &[String] {
        self.own.aliases()
    }

    fn signature(&self) -> &Signature {
        self.own.signature()
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        self.own.return_type(args)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.own.return_field_from_args(args)
    }

    fn coerce_types(&self, args: &[ArrowType]) -> Result<Vec<ArrowType>> {
        self.own.coerce_types(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let columns = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<ArrayRef>>>()?;
        let allowance = Allowance::of(&args.config_options);
        allowance.during(rows, || {
            may_make(self.bytes(&columns, rows)?)?;
            self.own.invoke_with_args(args)
        })
    }
}

impl LongList {
    /// The bytes of all lists, about.
    fn bytes(&self, columns: &[ArrayRef], rows: usize) -> QueryResult<usize> {
        let lengths = match self.length {
            Length::Given(at) => match columns.get(at) {
                Some(lengths) => given(lengths)?,
                None => Vec::new(),
            },
            Length::Steps => steps(columns)?,
        };
        let total = lengths.into_iter().fold(0_usize, usize::saturating_add);
        // What is repeated is as long as in the mean.
        let items = match self.length {
            Length::Given(_) => columns.iter().map(|column| column.get_array_memory_size() / rows.max(1)).sum(),
            Length::Steps => size_of::<i64>(),
        };
        Ok(total.saturating_mul(items.max(size_of::<i64>())))
    }
}

fn given(lengths: &ArrayRef) -> QueryResult<Vec<usize>> {
    let lengths = cast(lengths, &ArrowType::Int64)?;
    let length = |length: i64| {
        usize::try_from(length).map_err(|_| Refusal::Argument.because("size of an array must not be negative"))
    };
    lengths.as_primitive::<Int64Type>().iter().flatten().map(length).collect()
}

/// How many values there are from the first to the last, where the types tell it.
fn steps(columns: &[ArrayRef]) -> QueryResult<Vec<usize>> {
    let (first, last, step) = match columns {
        [last] => (None, last, None),
        [first, last] => (Some(first), last, None),
        [first, last, step] => (Some(first), last, Some(step)),
        _ => return Ok(Vec::new()),
    };
    let (first, last) = match first {
        Some(first) => (Some(points(first)?), points(last)?),
        None => (None, points(last)?),
    };
    let steps = step.map(widths).transpose()?;
    let count = |row: usize| {
        let first = first.as_ref().map_or(0, |first| first.get(row).copied().unwrap_or_default());
        let distance = last.get(row).copied().unwrap_or_default().abs_diff(first);
        let step = steps.as_ref().map_or(1, |steps| steps.get(row).copied().unwrap_or(1)).max(1);
        usize::try_from(distance / step).unwrap_or(usize::MAX)
    };
    Ok((0..last.len()).map(count).collect())
}

/// Numbers as they are, dates and times in microseconds; NULL is 0.
fn points(column: &ArrayRef) -> QueryResult<Vec<i64>> {
    if column.data_type().is_integer() || column.data_type().is_null() {
        let numbers = cast(column, &ArrowType::Int64)?;
        return Ok(numbers.as_primitive::<Int64Type>().iter().map(Option::unwrap_or_default).collect());
    }
    let moments = cast(column, &ArrowType::Timestamp(TimeUnit::Microsecond, None))?;
    Ok(moments.as_primitive::<TimestampMicrosecondType>().iter().map(Option::unwrap_or_default).collect())
}

/// How far steps lead at least, in either direction.
fn widths(column: &ArrayRef) -> QueryResult<Vec<u64>> {
    if column.data_type().is_integer() || column.data_type().is_null() {
        return Ok(points(column)?.into_iter().map(i64::unsigned_abs).collect());
    }
    let intervals = cast(column, &ArrowType::Interval(IntervalUnit::MonthDayNano))?;
    let width = |value: Option<arrow::datatypes::IntervalMonthDayNano>| {
        let Some(value) = value else { return 1 };
        let days = i64::from(value.months) * DAYS_OF_A_MONTH + i64::from(value.days);
        days.saturating_mul(MICROS_OF_A_DAY).saturating_add(value.nanoseconds / 1000).unsigned_abs()
    };
    Ok(intervals.as_primitive::<IntervalMonthDayNanoType>().iter().map(width).collect())
}
