//! Aggregates of pairs of floats, from the sums that PostgreSQL keeps (Youngs and Cramer), so that the last digits
//! agree.

use crate::error::QueryError;
use crate::functions::aggregate::moving_frame::moving;
use arrow::array::{Array, ArrayRef, cast::AsArray};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// Computes the result from the sums; `None` is NULL.
type Final = fn(&Sums) -> Option<f64>;

const FUNCTIONS: [(&str, Final); 11] = [
    ("corr", |s| s.of_spread().map(|()| s.xy / (s.xx * s.yy).sqrt())),
    ("covar_pop", |s| s.at_least(1.0).map(|()| s.xy / s.n)),
    ("covar_samp", |s| s.at_least(2.0).map(|()| s.xy / (s.n - 1.0))),
    ("regr_avgx", |s| s.at_least(1.0).map(|()| s.x / s.n)),
    ("regr_avgy", |s| s.at_least(1.0).map(|()| s.y / s.n)),
    ("regr_intercept", |s| s.of_slope().map(|()| (s.y - s.x * s.xy / s.xx) / s.n)),
    ("regr_r2", |s| s.of_slope().map(|()| if s.yy == 0.0 { 1.0 } else { (s.xy * s.xy) / (s.xx * s.yy) })),
    ("regr_slope", |s| s.of_slope().map(|()| s.xy / s.xx)),
    ("regr_sxx", |s| s.at_least(1.0).map(|()| s.xx)),
    ("regr_sxy", |s| s.at_least(1.0).map(|()| s.xy)),
    ("regr_syy", |s| s.at_least(1.0).map(|()| s.yy)),
];

/// Returns the regression, correlation and covariance aggregates.
pub(crate) fn regressions() -> Vec<Arc<AggregateUDF>> {
    let function = |(name, _): (&'static str, Final)| {
        let signature = Signature::exact(vec![ArrowType::Float64; 2], Volatility::Immutable);
        Arc::new(AggregateUDF::new_from_impl(Regression { name, signature }))
    };
    FUNCTIONS.into_iter().map(function).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Regression {
    name: &'static str,
    signature: Signature,
}

impl Regression {
    fn sums(&self) -> Result<Sums> {
        let found = FUNCTIONS.iter().find(|(name, _)| *name == self.name);
        let (_, last) = found.ok_or_else(|| QueryError::internal(format!("no aggregate {}", self.name)))?;
        Ok(Sums { last: *last, n: 0.0, x: 0.0, xx: 0.0, y: 0.0, yy: 0.0, xy: 0.0 })
    }
}

impl AggregateUDFImpl for Regression {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Float64)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return Err(QueryError::Unsupported { feature: format!("DISTINCT in {}", self.name) }.into());
        }
        Ok(Box::new(self.sums()?))
    }

    fn create_sliding_accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let sums = self.sums()?;
        Ok(moving(move || Ok(Box::new(sums.clone()))))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |name| Arc::new(Field::new(format_state_name(args.name, name), ArrowType::Float64, true));
        Ok(["n", "x", "xx", "y", "yy", "xy"].map(field).to_vec())
    }
}

/// The number of pairs, the sums of x and y, and the sums of products of their deviations from the means.
#[derive(Clone, Debug)]
struct Sums {
    last: Final,
    n: f64,
    x: f64,
    xx: f64,
    y: f64,
    yy: f64,
    xy: f64,
}

impl Sums {
    fn at_least(&self, pairs: f64) -> Option<()> {
        (self.n >= pairs).then_some(())
    }

    fn of_slope(&self) -> Option<()> {
        (self.n >= 1.0 && self.xx != 0.0).then_some(())
    }

    fn of_spread(&self) -> Option<()> {
        (self.n >= 1.0 && self.xx != 0.0 && self.yy != 0.0).then_some(())
    }

    fn add(&mut self, y: f64, x: f64) {
        let before = self.n;
        self.n += 1.0;
        self.x += x;
        self.y += y;
        if before > 0.0 {
            let (off_x, off_y) = (x * self.n - self.x, y * self.n - self.y);
            let scale = 1.0 / (self.n * before);
            self.xx += off_x * off_x * scale;
            self.yy += off_y * off_y * scale;
            self.xy += off_x * off_y * scale;
            return;
        }
        // The deviation from a NaN or infinite mean is NaN.
        if !x.is_finite() {
            (self.xx, self.xy) = (f64::NAN, f64::NAN);
        }
        if !y.is_finite() {
            (self.yy, self.xy) = (f64::NAN, f64::NAN);
        }
    }

    fn add_sums(&mut self, [n, x, xx, y, yy, xy]: [f64; 6]) {
        if n == 0.0 {
            return;
        }
        if self.n == 0.0 {
            (self.n, self.x, self.xx, self.y, self.yy, self.xy) = (n, x, xx, y, yy, xy);
            return;
        }
        let all = self.n + n;
        let (off_x, off_y) = (self.x / self.n - x / n, self.y / self.n - y / n);
        self.xx += xx + self.n * n * off_x * off_x / all;
        self.yy += yy + self.n * n * off_y * off_y / all;
        self.xy += xy + self.n * n * off_x * off_y / all;
        self.x += x;
        self.y += y;
        self.n = all;
    }
}

impl Accumulator for Sums {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [y, x] = values else { return Err(QueryError::internal("a pair has two parts").into()) };
        let pairs = y.as_primitive::<Float64Type>().iter().zip(x.as_primitive::<Float64Type>());
        for (y, x) in pairs {
            if let (Some(y), Some(x)) = (y, x) {
                self.add(y, x);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let columns: Vec<_> = states.iter().map(|state| state.as_primitive::<Float64Type>()).collect();
        let [n, x, xx, y, yy, xy] = columns.as_slice() else {
            return Err(QueryError::internal("six sums of pairs").into());
        };
        for row in 0..n.len() {
            self.add_sums([n, x, xx, y, yy, xy].map(|column| column.value(row)));
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sums = [self.n, self.x, self.xx, self.y, self.yy, self.xy];
        Ok(sums.map(|sum| ScalarValue::Float64(Some(sum))).to_vec())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64((self.last)(self)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
