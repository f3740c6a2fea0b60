//! `min` and `max`: DataFusion's own, except for intervals (see `interval_extremes`) and for grouped floats, where
//! DataFusion starts with the largest finite number and so loses infinities and NaN.
//!
//! ```text
//!   -inf < … < -1 < 0 < 1 < … < inf < NaN      floats as PostgreSQL orders them
//!      =>  integers in the same order: DataFusion aggregates these, and the results are mapped back
//! ```

use crate::error::QueryError;
use crate::functions::aggregate::interval_extremes::of_intervals;
use crate::functions::aggregate::moving_frame::moving;
use crate::functions::aggregate::of_own::delegate_to_own;
use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::datatypes::{DataType as ArrowType, Field, Float32Type, Float64Type, Int32Type, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, StatisticsArgs,
};
use std::sync::Arc;

/// Returns `max` and `min`.
pub(crate) fn extremes() -> [Arc<AggregateUDF>; 2] {
    [max_udaf(), min_udaf()].map(|own| Arc::new(AggregateUDF::new_from_impl(Extreme { own })))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Extreme {
    own: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for Extreme {
    delegate_to_own!();

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.own.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.return_field.data_type() {
            ArrowType::Interval(_) => Ok(of_intervals(self.name() == "max")),
            _ => self.own.accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let largest = self.name() == "max";
        match args.return_field.data_type() {
            ArrowType::Interval(_) => Ok(moving(move || Ok(of_intervals(largest)))),
            _ => self.own.create_sliding_accumulator(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        let interval = matches!(args.return_field.data_type(), ArrowType::Interval(_));
        !interval && self.own.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let ordered = match args.return_field.data_type() {
            ArrowType::Float32 => ArrowType::Int32,
            ArrowType::Float64 => ArrowType::Int64,
            _ => return self.own.create_groups_accumulator(args),
        };
        let field = Arc::new(Field::new(args.return_field.name(), ordered, true));
        let own = self.own.create_groups_accumulator(AccumulatorArgs { return_field: field, ..args })?;
        Ok(Box::new(OfFloats { own }))
    }

    fn is_descending(&self) -> Option<bool> {
        self.own.is_descending()
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.own.value_from_stats(statistics)
    }
}

/// Maps floats to integers of the same order for `own`, and its states and results back to floats.
struct OfFloats {
    own: Box<dyn GroupsAccumulator>,
}

impl GroupsAccumulator for OfFloats {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.own.update_batch(&each(values, ordered)?, groups, filter, count)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        float(&self.own.evaluate(emit)?)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        each(&self.own.state(emit)?, float)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.own.merge_batch(&each(states, ordered)?, groups, count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        each(&self.own.convert_to_state(&each(values, ordered)?, filter)?, float)
    }

    fn size(&self) -> usize {
        self.own.size()
    }
}

fn each(arrays: &[ArrayRef], map: fn(&ArrayRef) -> Result<ArrayRef>) -> Result<Vec<ArrayRef>> {
    arrays.iter().map(map).collect()
}

fn ordered(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        ArrowType::Float32 => {
            let place =
                |value: f32| sortable_bits32(if value.is_nan() { f32::NAN } else { value }.to_bits().cast_signed());
            Ok(Arc::new(array.as_primitive::<Float32Type>().unary::<_, Int32Type>(place)))
        }
        ArrowType::Float64 => {
            let place =
                |value: f64| sortable_bits64(if value.is_nan() { f64::NAN } else { value }.to_bits().cast_signed());
            Ok(Arc::new(array.as_primitive::<Float64Type>().unary::<_, Int64Type>(place)))
        }
        _ => Err(QueryError::internal("no floats to order").into()),
    }
}

fn float(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        ArrowType::Int32 => {
            let value = |place: i32| f32::from_bits(sortable_bits32(place).cast_unsigned());
            Ok(Arc::new(array.as_primitive::<Int32Type>().unary::<_, Float32Type>(value)))
        }
        ArrowType::Int64 => {
            let value = |place: i64| f64::from_bits(sortable_bits64(place).cast_unsigned());
            Ok(Arc::new(array.as_primitive::<Int64Type>().unary::<_, Float64Type>(value)))
        }
        _ => Err(QueryError::internal("no places of floats").into()),
    }
}

/// Maps the bits of a float to an integer of the same order: the bits of negative floats grow as the values decrease.
/// The map is its own inverse.
fn sortable_bits64(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

fn sortable_bits32(bits: i32) -> i32 {
    if bits < 0 { bits ^ i32::MAX } else { bits }
}
