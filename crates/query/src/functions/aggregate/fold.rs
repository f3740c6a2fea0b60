//! Accumulators whose state is their result: a sum, an extreme.

use arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use std::fmt::Debug;

/// The state of an aggregate.
pub(in crate::functions) trait Fold: Debug + Send + Sync + 'static {
    /// Adds further values, or the results of other states.
    fn take(&mut self, values: &[ArrayRef]) -> Result<()>;
    /// Returns the result.
    fn scalar(&self) -> Result<ScalarValue>;
}

/// The accumulator of a state that owns no heap memory.
#[derive(Debug)]
pub(in crate::functions) struct Folding<F: Fold>(pub(in crate::functions) F);

impl<F: Fold> Accumulator for Folding<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.take(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.take(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.0.scalar()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.scalar()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
