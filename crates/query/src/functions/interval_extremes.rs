//! `min` and `max` of intervals, which are compared by their length.

use crate::convert::datum_to_scalar;
use crate::convert::scalar::column_reader;
use crate::error::QueryError;
use arrow::array::{Array, ArrayRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use types::{DataType, Datum, Interval};

/// The accumulator of `max` or `min`.
pub(super) fn of_intervals(largest: bool) -> Box<dyn Accumulator> {
    Box::new(Extreme { largest, found: None })
}

#[derive(Debug)]
struct Extreme {
    largest: bool,
    found: Option<Interval>,
}

impl Extreme {
    /// Of two of one length the later is taken, as in PostgreSQL.
    fn see(&mut self, value: Interval) {
        let stays = self.found.is_some_and(|found| match self.largest {
            true => found.span() > value.span(),
            false => found.span() < value.span(),
        });
        if !stays {
            self.found = Some(value);
        }
    }

    fn scalar(&self) -> Result<ScalarValue> {
        Ok(datum_to_scalar(&DataType::Interval, &self.found.map_or(Datum::Null, Datum::Interval))?)
    }
}

impl Accumulator for Extreme {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [array] = values else { return Err(QueryError::internal("an extreme is one of one column").into()) };
        let read = column_reader(&DataType::Interval, array.as_ref())?;
        for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
            if let Datum::Interval(value) = read(row)? {
                self.see(value);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.scalar()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.scalar()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
