//! `sum` of floats in their own width, which fails on overflow instead of returning infinity.
//!
//! DataFusion's own adds reals up as doubles, and subtracts rows that leave a moving frame: see `moving_frame.rs`.

use crate::Refusal;
use crate::error::QueryError;
use crate::functions::aggregate::fold::{Fold, Folding};
use crate::functions::aggregate::moving_frame::moving;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use std::marker::PhantomData;
use std::sync::Arc;

/// Returns whether values of type `ty` are summed here.
pub(super) fn takes(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::Float32 | ArrowType::Float64)
}

/// Returns an accumulator for values of type `ty`.
pub(super) fn accumulator_of(ty: &ArrowType, distinct: bool) -> Result<Box<dyn Accumulator>> {
    match ty {
        ArrowType::Float32 => Ok(accumulator::<Float32Type>(distinct)),
        ArrowType::Float64 => Ok(accumulator::<Float64Type>(distinct)),
        _ => Err(no_floats()),
    }
}

/// Returns an accumulator for moving frames.
pub(super) fn moving_accumulator(ty: &ArrowType, distinct: bool) -> Box<dyn Accumulator> {
    let ty = ty.clone();
    moving(move || accumulator_of(&ty, distinct))
}

/// Returns an accumulator for many groups.
pub(super) fn groups_accumulator(ty: &ArrowType) -> Result<Box<dyn GroupsAccumulator>> {
    match ty {
        ArrowType::Float32 => Ok(Box::new(Groups::<Float32Type> { sums: Vec::new() })),
        ArrowType::Float64 => Ok(Box::new(Groups::<Float64Type> { sums: Vec::new() })),
        _ => Err(no_floats()),
    }
}

/// The type of a state: a sum, or the list of distinct values.
pub(super) fn state_type(ty: &ArrowType, distinct: bool) -> ArrowType {
    if distinct { ArrowType::new_list(ArrowType::Float64, true) } else { ty.clone() }
}

fn no_floats() -> datafusion::error::DataFusionError {
    QueryError::internal("no floats to sum up").into()
}

fn floats<T: ArrowPrimitiveType>(arrays: &[ArrayRef]) -> Result<&PrimitiveArray<T>> {
    arrays.first().and_then(|array| array.as_primitive_opt::<T>()).ok_or_else(no_floats)
}

/// A float of one width.
trait Float: ArrowPrimitiveType + Send + Sync + std::fmt::Debug {
    /// Adds two floats; an infinite sum of finite operands is an error.
    fn plus(a: Self::Native, b: Self::Native) -> Result<Self::Native>;
    fn wide(value: Self::Native) -> f64;
    fn narrow(value: f64) -> Self::Native;
}

fn overflow() -> datafusion::error::DataFusionError {
    Refusal::Range.because("value out of range: overflow").into()
}

impl Float for Float32Type {
    fn plus(a: f32, b: f32) -> Result<f32> {
        let sum = a + b;
        if sum.is_infinite() && a.is_finite() && b.is_finite() { Err(overflow()) } else { Ok(sum) }
    }

    fn wide(value: f32) -> f64 {
        f64::from(value)
    }

    fn narrow(value: f64) -> f32 {
        value as f32
    }
}

impl Float for Float64Type {
    fn plus(a: f64, b: f64) -> Result<f64> {
        let sum = a + b;
        if sum.is_infinite() && a.is_finite() && b.is_finite() { Err(overflow()) } else { Ok(sum) }
    }

    fn wide(value: f64) -> f64 {
        value
    }

    fn narrow(value: f64) -> f64 {
        value
    }
}

fn accumulator<T: Float>(distinct: bool) -> Box<dyn Accumulator> {
    if distinct {
        Box::new(Distinct::<T> { values: Vec::new(), width: PhantomData })
    } else {
        Box::new(Folding(Sum::<T>(None)))
    }
}

/// The sum of a group.
#[derive(Debug)]
struct Sum<T: Float>(Option<T::Native>);

impl<T: Float> Sum<T> {
    fn add(&mut self, value: T::Native) -> Result<()> {
        self.0 = Some(match self.0 {
            Some(sum) => T::plus(sum, value)?,
            None => value,
        });
        Ok(())
    }
}

impl<T: Float> Fold for Sum<T> {
    fn take(&mut self, values: &[ArrayRef]) -> Result<()> {
        floats::<T>(values)?.iter().flatten().try_for_each(|value| self.add(value))
    }

    fn scalar(&self) -> Result<ScalarValue> {
        ScalarValue::new_primitive::<T>(self.0, &T::DATA_TYPE)
    }
}

/// The sum of the distinct values, in ascending order.
#[derive(Debug)]
struct Distinct<T: Float> {
    values: Vec<f64>,
    width: PhantomData<T>,
}

impl<T: Float> Distinct<T> {
    /// Removes duplicates. Replaces -0 by 0, which does not change a sum.
    fn distinct(&mut self) -> &[f64] {
        self.values.iter_mut().for_each(|value| *value += 0.0);
        self.values.sort_by(f64::total_cmp);
        self.values.dedup_by(|a, b| a.total_cmp(b).is_eq());
        &self.values
    }
}

impl<T: Float> Accumulator for Distinct<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.extend(floats::<T>(values)?.iter().flatten().map(T::wide));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states.first().and_then(|lists| lists.as_list_opt::<i32>()).ok_or_else(no_floats)?;
        for list in lists.iter().flatten() {
            self.values.extend(floats::<Float64Type>(&[list])?.iter().flatten());
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values: Vec<ScalarValue> = self.distinct().iter().map(|value| ScalarValue::Float64(Some(*value))).collect();
        Ok(vec![ScalarValue::List(ScalarValue::new_list_nullable(&values, &ArrowType::Float64))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut sum = Sum::<T>(None);
        self.distinct().iter().try_for_each(|value| sum.add(T::narrow(*value)))?;
        sum.scalar()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<f64>()
    }
}

/// The sums of many groups.
struct Groups<T: Float> {
    sums: Vec<Option<T::Native>>,
}

impl<T: Float> GroupsAccumulator for Groups<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.sums.resize(count.max(self.sums.len()), None);
        let taken = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        for (row, (value, group)) in floats::<T>(values)?.iter().zip(groups).enumerate() {
            let (Some(value), Some(slot)) = (value, self.sums.get_mut(*group)) else { continue };
            if taken(row) {
                *slot = Some(match *slot {
                    Some(sum) => T::plus(sum, value)?,
                    None => value,
                });
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let sums = emit.take_needed(&mut self.sums);
        Ok(Arc::new(sums.into_iter().collect::<PrimitiveArray<T>>()))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.update_batch(states, groups, None, count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let taken = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        let values = floats::<T>(values)?.iter().enumerate().map(|(row, value)| value.filter(|_| taken(row)));
        Ok(vec![Arc::new(values.collect::<PrimitiveArray<T>>())])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sums.capacity() * size_of::<Option<T::Native>>()
    }
}
