//! `lag`, `lead` and `nth_value` with an offset per row. DataFusion's own take constant offsets only.

use crate::Refusal;
use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, internal_datafusion_err};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};
use std::ops::Range;
use std::sync::Arc;

/// The window function, which defines the meaning of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ByRow {
    /// Rows before the current row.
    Lag,
    /// Rows after the current row.
    Lead,
    /// The row number within the frame.
    NthValue,
}

impl ByRow {
    /// Returns the window function of a value and a `bigint` offset.
    pub(crate) fn function(self) -> Arc<WindowUDF> {
        Arc::new(WindowUDF::from(Function { kind: self, signature: Signature::any(2, Volatility::Immutable) }))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    kind: ByRow,
    signature: Signature,
}

impl WindowUDFImpl for Function {
    fn name(&self) -> &str {
        match self.kind {
            ByRow::Lag => "lag by row",
            ByRow::Lead => "lead by row",
            ByRow::NthValue => "nth_value by row",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs<'_>) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator { kind: self.kind, row: 0 }))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let value = args.get_input_field(0).ok_or_else(|| internal_datafusion_err!("a value is wanted"))?;
        Ok(Arc::new(value.as_ref().clone().with_name(args.name()).with_nullable(true)))
    }
}

#[derive(Debug)]
struct Evaluator {
    kind: ByRow,
    /// The next row, if DataFusion evaluates row by row.
    row: usize,
}

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let (value, distances) = both(values)?;
        let distances = distances.as_primitive::<Int64Type>();
        let places = (0..rows).map(|row| {
            let distance = (!distances.is_null(row)).then(|| distances.value(row))?;
            let row = i64::try_from(row).ok()?;
            let place = match self.kind {
                ByRow::Lead => row.checked_add(distance)?,
                ByRow::Lag | ByRow::NthValue => row.checked_sub(distance)?,
            };
            u64::try_from(place).ok().filter(|place| usize::try_from(*place).is_ok_and(|place| place < rows))
        });
        Ok(take(value, &places.collect::<UInt64Array>(), None)?)
    }

    fn evaluate(&mut self, values: &[ArrayRef], frame: &Range<usize>) -> Result<ScalarValue> {
        let (value, numbers) = both(values)?;
        let row = self.row;
        self.row += 1;
        let numbers = numbers.as_primitive::<Int64Type>();
        let number = (!numbers.is_null(row)).then(|| numbers.value(row));
        if number.is_some_and(|number| number < 1) {
            return Err(Refusal::NthValue.because("argument of nth_value must be greater than zero").into());
        }
        let place = number.and_then(|number| usize::try_from(number - 1).ok()?.checked_add(frame.start));
        match place.filter(|place| *place < frame.end) {
            Some(place) => ScalarValue::try_from_array(value, place),
            None => ScalarValue::try_from(value.data_type()),
        }
    }

    fn uses_window_frame(&self) -> bool {
        self.kind == ByRow::NthValue
    }
}

/// Returns the value column and the `bigint` offset column; the ORDER BY columns of the frame may follow.
fn both(values: &[ArrayRef]) -> Result<(&ArrayRef, &ArrayRef)> {
    match values {
        [value, distances, ..] if *distances.data_type() == DataType::Int64 => Ok((value, distances)),
        _ => Err(internal_datafusion_err!("a value and a distance are wanted")),
    }
}
