//! `min` and `max` of intervals, which are compared by their length.

use crate::convert::datum_to_scalar;
use crate::convert::scalar::column_reader;
use crate::error::QueryError;
use crate::functions::aggregate::fold::{Fold, Folding};
use arrow::array::{Array, ArrayRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use types::{DataType, Datum, Interval};

/// Returns the accumulator of `max` or `min`.
pub(in crate::functions) fn of_intervals(largest: bool) -> Box<dyn Accumulator> {
    Box::new(Folding(Extreme { largest, found: None }))
}

#[derive(Debug)]
struct Extreme {
    largest: bool,
    found: Option<Interval>,
}

impl Extreme {
    /// Takes the later of two intervals of equal length, as PostgreSQL does.
    fn see(&mut self, value: Interval) {
        let stays = self.found.is_some_and(|found| match self.largest {
            true => found.span() > value.span(),
            false => found.span() < value.span(),
        });
        if !stays {
            self.found = Some(value);
        }
    }
}

impl Fold for Extreme {
    fn take(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [array] = values else { return Err(QueryError::internal("an extreme is one of one column").into()) };
        let read = column_reader(&DataType::Interval, array.as_ref())?;
        for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
            if let Datum::Interval(value) = read(row)? {
                self.see(value);
            }
        }
        Ok(())
    }

    fn scalar(&self) -> Result<ScalarValue> {
        Ok(datum_to_scalar(&DataType::Interval, &self.found.map_or(Datum::Null, Datum::Interval))?)
    }
}
