//! `ntile` with a computed number of buckets. DataFusion's own takes constants only.

use crate::Refusal;
use arrow::array::{ArrayRef, AsArray, Int32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type};
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};
use std::sync::Arc;

/// Returns `ntile` as a window function of an `integer`.
pub(crate) fn ntile() -> Arc<WindowUDF> {
    Arc::new(WindowUDF::from(Ntile { signature: Signature::any(1, Volatility::Immutable) }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Ntile {
    signature: Signature,
}

impl WindowUDFImpl for Ntile {
    fn name(&self) -> &'static str {
        "ntile"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs<'_>) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), DataType::Int32, true)))
    }
}

#[derive(Debug)]
struct Evaluator;

impl PartitionEvaluator for Evaluator {
    /// Uses the first number of the partition that is not NULL; the buckets begin at its row.
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let numbers = values.first().and_then(|numbers| numbers.as_primitive_opt::<Int32Type>());
        let numbers = numbers.ok_or_else(|| internal_datafusion_err!("a number of buckets is wanted"))?;
        let first = numbers.iter().enumerate().find_map(|(row, number)| Some((row, number?)));
        let Some((start, number)) = first else { return Ok(Arc::new(Int32Array::new_null(rows))) };
        let buckets = usize::try_from(number).ok().filter(|buckets| *buckets > 0);
        let buckets = buckets.ok_or_else(|| Refusal::Ntile.because("argument of ntile must be greater than zero"))?;
        let bucket = |row: usize| i32::try_from(bucket_of(row.checked_sub(start)?, rows, buckets)).ok();
        Ok(Arc::new((0..rows).map(bucket).collect::<Int32Array>()))
    }
}

/// Returns the bucket of a row, from 1: the first buckets have one more row if the rows cannot be divided evenly.
fn bucket_of(row: usize, rows: usize, buckets: usize) -> usize {
    let (size, larger) = (rows / buckets, rows % buckets);
    let in_larger = larger * (size + 1);
    match row.checked_sub(in_larger) {
        // Rows follow the larger buckets only if the smaller buckets are not empty.
        Some(behind) => larger + behind / size.max(1) + 1,
        None => row / (size + 1) + 1,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn buckets(numbers: Vec<Option<i32>>) -> Result<Vec<Option<i32>>> {
        let rows = numbers.len();
        let values: ArrayRef = Arc::new(Int32Array::from(numbers));
        Ok(Evaluator.evaluate_all(&[values], rows)?.as_primitive::<Int32Type>().iter().collect())
    }

    #[test]
    fn first_number_decides() {
        let all = |numbers: &[i32]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(buckets(all(&[4, 0, 1, 1, 1, 1, 1, 1, 1, 1])).unwrap(), all(&[1, 1, 1, 2, 2, 2, 3, 3, 4, 4]));
        assert_eq!(buckets(all(&[10, 2, 4])).unwrap(), all(&[1, 2, 3]));
        assert_eq!(buckets(vec![None, Some(2), Some(1), None]).unwrap(), [None, Some(1), Some(1), Some(2)]);
        assert_eq!(buckets(vec![None, None]).unwrap(), [None, None]);
        assert!(buckets(all(&[0, 1])).is_err());
    }
}
