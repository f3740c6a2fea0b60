//! `sum` of decimals that may need more digits than their type has: added up in 256 bits, refused beyond 38 digits.
//!
//! DataFusion's own adds up in 128 bits and wraps. With at most 28 digits per value, wrapping takes 10^10 rows.

use crate::error::QueryError;
use crate::functions::number::numeric;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType as ArrowType, Decimal128Type, Decimal256Type,
    DecimalType, i256,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

/// The largest precision that is left to DataFusion's own `sum`.
const MOST_DIGITS: u8 = DECIMAL128_MAX_PRECISION - 10;

/// Returns whether values of type `ty` are summed here.
pub(super) fn takes(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::Decimal128(digits, _) if *digits > MOST_DIGITS)
}

/// Returns the type of a sum of values of type `ty`.
pub(super) fn sum_type(ty: &ArrowType) -> Option<ArrowType> {
    match ty {
        ArrowType::Decimal128(_, scale) => Some(ArrowType::Decimal128(DECIMAL128_MAX_PRECISION, *scale)),
        // Constant folding may change the argument's type after this function was chosen.
        ArrowType::Decimal256(_, scale) => Some(ArrowType::Decimal256(DECIMAL256_MAX_PRECISION, *scale)),
        _ => None,
    }
}

/// Returns an accumulator whose result has type `ty`.
pub(super) fn accumulator_of(ty: &ArrowType) -> Result<Box<dyn Accumulator>> {
    match ty {
        ArrowType::Decimal128(_, scale) | ArrowType::Decimal256(_, scale) => {
            let wide = matches!(ty, ArrowType::Decimal256(..));
            Ok(Box::new(Sum { scale: *scale, wide, total: i256::ZERO, values: 0 }))
        }
        _ => Err(no_decimals()),
    }
}

/// Returns the state type of a sum of type `ty`.
pub(super) fn state_type(ty: &ArrowType) -> ArrowType {
    let scale = match ty {
        ArrowType::Decimal128(_, scale) | ArrowType::Decimal256(_, scale) => *scale,
        _ => 0,
    };
    ArrowType::Decimal256(DECIMAL256_MAX_PRECISION, scale)
}

fn no_decimals() -> datafusion::error::DataFusionError {
    QueryError::internal("a wide sum is one of decimals").into()
}

#[derive(Debug)]
struct Sum {
    scale: i8,
    /// Whether the result is a `Decimal256`, as the state is.
    wide: bool,
    total: i256,
    /// The number of values added; a merged state counts as one.
    values: u64,
}

impl Sum {
    fn add(&mut self, values: impl Iterator<Item = i256>) -> Result<()> {
        for value in values {
            self.total = self.total.checked_add(value).ok_or_else(numeric::overflow)?;
            self.values += 1;
        }
        Ok(())
    }

    fn subtract(&mut self, values: impl Iterator<Item = i256>) -> Result<()> {
        for value in values {
            self.total = self.total.checked_sub(value).ok_or_else(numeric::overflow)?;
            self.values -= 1;
        }
        Ok(())
    }

    fn total(&self) -> Option<i256> {
        (self.values > 0).then_some(self.total)
    }
}

impl Accumulator for Sum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = decimals(values)?;
        if let Some(wide) = values.as_primitive_opt::<Decimal256Type>() {
            return self.add(wide.iter().flatten());
        }
        self.add(values.as_primitive::<Decimal128Type>().iter().flatten().map(i256::from_i128))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = decimals(values)?;
        if let Some(wide) = values.as_primitive_opt::<Decimal256Type>() {
            return self.subtract(wide.iter().flatten());
        }
        self.subtract(values.as_primitive::<Decimal128Type>().iter().flatten().map(i256::from_i128))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.add(decimals(states)?.as_primitive::<Decimal256Type>().iter().flatten())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Decimal256(self.total(), DECIMAL256_MAX_PRECISION, self.scale)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.wide {
            return Ok(ScalarValue::Decimal256(self.total(), DECIMAL256_MAX_PRECISION, self.scale));
        }
        let fits = |total: i256| {
            let total = total.to_i128()?;
            Decimal128Type::is_valid_decimal_precision(total, DECIMAL128_MAX_PRECISION).then_some(total)
        };
        let sum = self.total().map(|total| fits(total).ok_or_else(numeric::overflow)).transpose()?;
        Ok(ScalarValue::Decimal128(sum, DECIMAL128_MAX_PRECISION, self.scale))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

fn decimals(arrays: &[ArrayRef]) -> Result<&ArrayRef> {
    match arrays {
        [array] if array.data_type().is_decimal() => Ok(array),
        _ => Err(no_decimals()),
    }
}
