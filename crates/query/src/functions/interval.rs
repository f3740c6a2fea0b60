//! Intervals: printed as PostgreSQL prints them (`1 year 2 mons 3 days 04:05:06.5`; no column has this type, so an
//! answer shows them as text), and multiplied by numbers.

use crate::error::QueryError;
use arrow::array::{Array, ArrayRef, IntervalMonthDayNanoArray, StringArray, cast::AsArray};
use arrow::datatypes::{
    DataType as ArrowType, DurationMicrosecondType, Float64Type, IntervalDayTimeType, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType, TimeUnit,
};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Is it a type of intervals?
pub(crate) fn is_interval(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::Interval(_) | ArrowType::Duration(_))
}

/// The interval as text.
pub(crate) fn interval_text(interval: Expr) -> Expr {
    let function = ScalarUDF::new_from_impl(IntervalText { signature: Signature::any(1, Volatility::Immutable) });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![interval]))
}

/// The interval, `factor` times. A fraction of a month is made of days, a fraction of a day of time.
pub(crate) fn interval_times(interval: Expr, factor: Expr) -> Expr {
    let function = ScalarUDF::new_from_impl(IntervalTimes { signature: Signature::any(2, Volatility::Immutable) });
    let factor = Expr::Cast(Cast::new(Box::new(factor), ArrowType::Float64));
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![interval, factor]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct IntervalTimes {
    signature: Signature,
}

impl ScalarUDFImpl for IntervalTimes {
    fn name(&self) -> &str {
        "interval_times"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Interval(IntervalUnit::MonthDayNano))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [intervals, factors] = arrays.as_slice() else {
            return Err(QueryError::internal("interval_times takes two arguments").into());
        };
        let pairs = parts_of(intervals)?.into_iter().zip(factors.as_primitive::<Float64Type>().iter());
        let products: IntervalMonthDayNanoArray =
            pairs.map(|(parts, factor)| Some(parts?.times(factor?).interval())).collect();
        let products: ArrayRef = Arc::new(products);
        Ok(ColumnarValue::Array(products))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct IntervalText {
    signature: Signature,
}

impl ScalarUDFImpl for IntervalText {
    fn name(&self) -> &str {
        "interval_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.first() else {
            return Err(QueryError::internal("interval_text takes one argument").into());
        };
        let array = value.to_array(args.number_rows)?;
        let parts = parts_of(&array)?;
        let texts: StringArray = parts.into_iter().map(|parts| parts.map(|parts| parts.text())).collect();
        let texts: ArrayRef = Arc::new(texts);
        Ok(ColumnarValue::Array(texts))
    }
}

/// What an interval is made of.
#[derive(Clone, Copy, Debug)]
struct Parts {
    months: i32,
    days: i32,
    micros: i64,
}

const DAY: i64 = 86_400_000_000;

fn parts_of(array: &ArrayRef) -> Result<Vec<Option<Parts>>> {
    Ok(match array.data_type() {
        ArrowType::Interval(IntervalUnit::MonthDayNano) => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>().iter();
            let parts = values
                .map(|value| value.map(|v| Parts { months: v.months, days: v.days, micros: v.nanoseconds / 1_000 }));
            parts.collect()
        }
        ArrowType::Interval(IntervalUnit::DayTime) => {
            let values = array.as_primitive::<IntervalDayTimeType>().iter();
            let parts = values.map(|value| {
                value.map(|v| Parts { months: 0, days: v.days, micros: i64::from(v.milliseconds) * 1_000 })
            });
            parts.collect()
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            let values = array.as_primitive::<IntervalYearMonthType>().iter();
            values.map(|value| value.map(|months| Parts { months, days: 0, micros: 0 })).collect()
        }
        // The difference of two timestamps: whole days, then time.
        ArrowType::Duration(_) => {
            let micros = arrow::compute::cast(array, &ArrowType::Duration(TimeUnit::Microsecond))?;
            let values = micros.as_primitive::<DurationMicrosecondType>().iter();
            let parts = |micros: i64| Parts { months: 0, days: (micros / DAY) as i32, micros: micros % DAY };
            values.map(|value| value.map(parts)).collect()
        }
        other => return Err(QueryError::internal(format!("{other} is no interval")).into()),
    })
}

impl Parts {
    fn times(self, factor: f64) -> Self {
        let months = f64::from(self.months) * factor;
        let days = f64::from(self.days) * factor + months.fract() * 30.0;
        let micros = self.micros as f64 * factor + days.fract() * DAY as f64;
        Self { months: months.trunc() as i32, days: days.trunc() as i32, micros: micros.round() as i64 }
    }

    fn interval(self) -> IntervalMonthDayNano {
        IntervalMonthDayNano::new(self.months, self.days, self.micros.saturating_mul(1_000))
    }

    fn text(self) -> String {
        let mut words: Vec<String> = Vec::new();
        // After a negative part a positive one shows its sign.
        let mut negative = false;
        let units = [(self.months / 12, "year"), (self.months % 12, "mon"), (self.days, "day")];
        for (count, unit) in units.into_iter().filter(|(count, _)| *count != 0) {
            let sign = if negative && count > 0 { "+" } else { "" };
            let plural = if count == 1 { "" } else { "s" };
            words.push(format!("{sign}{count} {unit}{plural}"));
            negative = count < 0;
        }
        if self.micros != 0 || words.is_empty() {
            words.push(self.time(negative));
        }
        words.join(" ")
    }

    fn time(self, after_negative: bool) -> String {
        let sign = match (self.micros < 0, after_negative) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let micros = self.micros.unsigned_abs();
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        let whole = format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        match fraction {
            0 => whole,
            fraction => format!("{whole}.{}", format!("{fraction:06}").trim_end_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_go_down_to_the_next_unit() {
        let times = |months, days, factor| Parts { months, days, micros: 0 }.times(factor).text();
        assert_eq!(times(0, 1, 3.0), "3 days");
        assert_eq!(times(1, 0, 0.5), "15 days");
        assert_eq!(times(0, 1, 1.5), "1 day 12:00:00");
    }

    #[test]
    fn texts_are_those_of_postgresql() {
        let text = |months, days, micros| Parts { months, days, micros }.text();
        assert_eq!(text(0, 0, 0), "00:00:00");
        assert_eq!(text(14, 3, 14_706_500_000), "1 year 2 mons 3 days 04:05:06.5");
        assert_eq!(text(-1, 1, -1_000_000), "-1 mons +1 day -00:00:01");
        assert_eq!(text(0, -1, 7_200_000_000), "-1 days +02:00:00");
    }
}
