//! Computes the statistics of a column from a sample of its values.
//!
//! Follows PostgreSQL's `compute_scalar_stats`: the sample is sorted; repeated values may be common values, and the
//! other values form a histogram. The number of distinct values of a table that was not read completely is estimated
//! by "Duj1" of Haas and Stokes (1998). Pure: no I/O.

use catalog::{CommonValue, Value, ValueStatistics};
use std::cmp::Ordering;
use types::Datum;
use types::compare::compare;

/// Wider values, in bytes, are neither compared nor stored.
pub(super) const WIDEST: usize = 256;
/// Above this fraction of the rows, the number of distinct values is assumed to grow with the table.
const GROWING: f64 = 0.1;

/// One value of a sample.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Null,
    /// A value of this many bytes, which is too wide to be stored.
    Wide(usize),
    Value(Datum),
}

impl Item {
    pub(super) fn of(value: Datum) -> Self {
        match width(&value) {
            _ if value.is_null() => Self::Null,
            bytes if bytes > WIDEST => Self::Wide(bytes),
            _ => Self::Value(value),
        }
    }

    /// Memory of the item.
    pub(super) fn bytes(&self) -> usize {
        let held = match self {
            Self::Value(value @ (Datum::Text(_) | Datum::Bytes(_) | Datum::Array(_))) => width(value),
            _ => 0,
        };
        held + size_of::<Self>()
    }
}

/// Size of a value in bytes.
fn width(value: &Datum) -> usize {
    match value {
        Datum::Null => 0,
        Datum::Bool(_) => 1,
        Datum::Int2(_) => 2,
        Datum::Int4(_) | Datum::Float4(_) | Datum::Date(_) => 4,
        Datum::Int8(_) | Datum::Float8(_) | Datum::Time(_) | Datum::Timestamp(_) | Datum::TimestampTz(_) => 8,
        Datum::Numeric(_) | Datum::Uuid(_) | Datum::Interval(_) => 16,
        Datum::Text(text) => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::Array(items) => items.iter().map(|item| width(item) + size_of::<Datum>()).sum(),
    }
}

/// Parameters of a column's statistics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Number of rows in the table.
    pub(super) rows: f64,
    /// Whether the sample contains all rows.
    pub(super) complete: bool,
    /// Estimated number of distinct values, if it does not come from the sample.
    pub(super) distinct: Option<f64>,
    /// Maximum number of common values; the maximum number of histogram bounds is one more.
    pub(super) target: usize,
}

/// A distinct value: its frequency in the sample and its first position in the sorted sample.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: usize,
    times: usize,
}

/// The statistics of a column. `items` are in rowkey order.
pub(super) fn statistics(items: &[Item], scale: Scale) -> ValueStatistics {
    let sampled = items.len();
    if sampled == 0 {
        return ValueStatistics::default();
    }
    let nulls = items.iter().filter(|item| matches!(item, Item::Null)).count();
    let wide: Vec<usize> =
        items.iter().filter_map(|item| if let Item::Wide(bytes) = item { Some(*bytes) } else { None }).collect();
    let mut values: Vec<(&Datum, usize)> = Vec::with_capacity(sampled - nulls - wide.len());
    for item in items {
        if let Item::Value(value) = item {
            values.push((value, values.len()));
        }
    }
    let bytes: usize = wide.iter().sum::<usize>() + values.iter().map(|(value, _)| width(value)).sum::<usize>();
    let null_fraction = nulls as f64 / sampled as f64;
    let average = bytes.checked_div(sampled - nulls).unwrap_or(0);
    values.sort_by(|(a, place), (b, other)| compare(a, b).then(place.cmp(other)));
    let runs = runs(&values);
    let counted = Counted { sampled, nulls, wide: wide.len(), values: values.len(), runs: &runs };
    let distinct = counted.distinct(scale);
    let common = counted.common(distinct, scale);
    let shares = common.iter().map(|run| CommonValue {
        value: Value(values.get(run.first).map_or(Datum::Null, |(value, _)| (*value).clone())),
        share: run.times as f64 / sampled as f64,
    });
    ValueStatistics {
        null_fraction,
        width: u32::try_from(average).unwrap_or(u32::MAX),
        distinct,
        bounds: bounds(&values, &runs, &common, scale.target),
        common: shares.collect(),
        correlation: correlation(&values),
    }
}

/// Groups equal adjacent values.
fn runs(values: &[(&Datum, usize)]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut before: Option<&Datum> = None;
    for (at, (value, _)) in values.iter().enumerate() {
        let same = before.is_some_and(|before| compare(before, value) == Ordering::Equal);
        match runs.last_mut().filter(|_| same) {
            Some(run) => run.times += 1,
            None => runs.push(Run { first: at, times: 1 }),
        }
        before = Some(value);
    }
    runs
}

/// Counts of the sample.
struct Counted<'a> {
    sampled: usize,
    nulls: usize,
    wide: usize,
    values: usize,
    runs: &'a [Run],
}

impl Counted<'_> {
    /// The number of distinct values, in the form of `pg_statistic.stadistinct`.
    fn distinct(&self, scale: Scale) -> f64 {
        let found = self.runs.len() as f64;
        let repeated = self.runs.iter().filter(|run| run.times > 1).count();
        if self.nulls == self.sampled {
            return 0.0;
        }
        let null_fraction = self.nulls as f64 / self.sampled as f64;
        let number = if repeated == 0 {
            // If no value repeats, all values are assumed to be unique, including those too wide to be compared.
            return -(1.0 - null_fraction);
        } else if let Some(known) = scale.distinct.filter(|_| !scale.complete) {
            known.max(found)
        } else if scale.complete || self.wide == 0 && repeated == self.runs.len() {
            found + self.wide as f64
        } else {
            self.duj1(scale.rows)
        };
        if number > GROWING * scale.rows { -(number / scale.rows.max(1.0)).min(1.0) } else { number.round() }
    }

    /// `n d / (n - f1 + f1 n / N)`: the sample has n values, of which d are distinct and f1 occur once; the table has
    /// N.
    fn duj1(&self, rows: f64) -> f64 {
        let once = (self.runs.iter().filter(|run| run.times == 1).count() + self.wide) as f64;
        let different = (self.runs.len() + self.wide) as f64;
        let sampled = (self.values + self.wide) as f64;
        let all = (rows * (1.0 - self.nulls as f64 / self.sampled as f64)).max(sampled);
        let estimate = sampled * different / (sampled - once + once * sampled / all).max(f64::MIN_POSITIVE);
        estimate.clamp(different, all)
    }

    /// The most common values, in descending order of frequency.
    fn common(&self, distinct: f64, scale: Scale) -> Vec<Run> {
        let mut tracked: Vec<Run> = self.runs.iter().filter(|run| run.times > 1).copied().collect();
        tracked.sort_by(|a, b| b.times.cmp(&a.times).then(a.first.cmp(&b.first)));
        let all_values = tracked.len() == self.runs.len() && self.wide == 0 && distinct > 0.0;
        tracked.truncate(scale.target);
        if !all_values || self.runs.len() > scale.target {
            let keep = self.significant(&tracked, distinct, scale);
            tracked.truncate(keep);
        }
        tracked
    }

    /// How many of the tracked values are significantly more common than the values left out, as in
    /// `analyze_mcv_list`.
    fn significant(&self, tracked: &[Run], distinct: f64, scale: Scale) -> usize {
        if scale.complete {
            return tracked.len();
        }
        let sampled = self.sampled as f64;
        let null_fraction = self.nulls as f64 / sampled;
        let in_table = if distinct < 0.0 { -distinct * scale.rows } else { distinct };
        let rows = scale.rows.max(2.0);
        let mut sum: usize = tracked.iter().map(|run| run.times).sum();
        for (before, run) in tracked.iter().enumerate().rev() {
            sum -= run.times;
            let mut rest = (1.0 - sum as f64 / sampled - null_fraction).clamp(0.0, 1.0);
            let others = in_table - before as f64;
            if others > 1.0 {
                rest /= others;
            }
            let times = run.times as f64;
            let likely = rows * times / sampled;
            let variance = sampled * likely * (rows - likely) * (rows - sampled) / (rows * rows * (rows - 1.0));
            if times > rest * sampled + 2.0 * variance.max(0.0).sqrt() + 0.5 {
                return before + 1;
            }
        }
        0
    }
}

/// Histogram bounds of the values that are not common values: groups of about the same size.
fn bounds(values: &[(&Datum, usize)], runs: &[Run], common: &[Run], target: usize) -> Vec<Value> {
    let is_common = |run: &Run| common.iter().any(|it| it.first == run.first);
    let rest: Vec<&Run> = runs.iter().filter(|run| !is_common(run)).collect();
    let groups = rest.len().min(target + 1);
    if groups < 2 {
        return Vec::new();
    }
    let left: Vec<&Datum> =
        rest.iter().flat_map(|run| values.iter().skip(run.first).take(run.times)).map(|(value, _)| *value).collect();
    let last = left.len() - 1;
    let at = |group: usize| left.get(group * last / (groups - 1)).map(|value| Value((*value).clone()));
    (0..groups).filter_map(at).collect()
}

/// The correlation between the order of values and the order of rows.
fn correlation(sorted: &[(&Datum, usize)]) -> Option<f64> {
    let count = sorted.len() as f64;
    if sorted.len() < 2 {
        return None;
    }
    let products: f64 = sorted.iter().enumerate().map(|(rank, (_, place))| rank as f64 * *place as f64).sum();
    let sum = (count - 1.0) * count / 2.0;
    let squares = (count - 1.0) * count * (2.0 * count - 1.0) / 6.0;
    let found = (count * products - sum * sum) / (count * squares - sum * sum);
    found.is_finite().then(|| found.clamp(-1.0, 1.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = Option<i32>>, scale: Scale) -> ValueStatistics {
        let items: Vec<Item> = values.map(|it| it.map_or(Item::Null, |it| Item::of(Datum::Int4(it)))).collect();
        statistics(&items, scale)
    }

    const WHOLE: Scale = Scale { rows: 1_000.0, complete: true, distinct: None, target: 10 };

    #[test]
    fn unique_values_are_a_share_of_the_rows_with_a_histogram() {
        let found = of((0..1_000).map(Some), WHOLE);
        assert_eq!((found.distinct, found.common.len(), found.bounds.len()), (-1.0, 0, 11));
        assert_eq!(found.bounds.last().unwrap().0, Datum::Int4(999));
        assert_eq!(found.correlation, Some(1.0));
        assert_eq!(of((0..1_000).rev().map(Some), WHOLE).correlation, Some(-1.0));
    }

    #[test]
    fn few_values_are_all_common() {
        let found = of((0..1_000).map(|at| (at % 4 > 0).then_some(at % 4)), WHOLE);
        assert_eq!((found.null_fraction, found.distinct, found.width), (0.25, 3.0, 4));
        assert_eq!(found.common.iter().map(|it| it.share).collect::<Vec<_>>(), [0.25, 0.25, 0.25]);
        assert!(found.bounds.is_empty());
    }

    #[test]
    fn a_common_value_of_many_is_told_from_the_rest() {
        let found = of((0..1_000).map(|at| Some(if at < 500 { -1 } else { at })), WHOLE);
        assert_eq!(found.common.len(), 1);
        assert_eq!((&found.common[0].value.0, found.common[0].share), (&Datum::Int4(-1), 0.5));
        assert_eq!(found.bounds.first().unwrap().0, Datum::Int4(500));
    }

    #[test]
    fn the_values_of_a_large_table_are_extrapolated() {
        let large = Scale { rows: 1e6, complete: false, distinct: None, target: 10 };
        assert_eq!(of((0..3_000).map(|at| Some(at % 3)), large).distinct, 3.0);
        let seldom = of((0..3_000).map(|at| Some(at / 2 * 2 + if at < 300 { at % 2 } else { 0 })), large);
        assert!(seldom.distinct < 0.0 || seldom.distinct > 1_500.0, "{}", seldom.distinct);
        // No value is significant in a sample in which only chance draws a value twice.
        assert!(seldom.common.is_empty());
    }

    #[test]
    fn wide_values_and_nothing_at_all() {
        let items = [Item::of(Datum::Text("x".repeat(1_000))), Item::Null];
        let found = statistics(&items, WHOLE);
        assert_eq!((found.width, found.null_fraction, found.distinct), (1_000, 0.5, -0.5));
        assert_eq!(statistics(&[], WHOLE), ValueStatistics::default());
        assert_eq!(of([None, None].into_iter(), WHOLE).distinct, 0.0);
    }
}
