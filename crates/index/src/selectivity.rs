//! Selectivity of conditions, from the statistics of their columns.
//!
//! Pure functions of conditions and statistics, with PostgreSQL's formulas (`selfuncs.c`, `clausesel.c`): a most common
//! value has its own frequency, all other values share the rest evenly; ranges are estimated from the histogram;
//! conditions on different columns are assumed to be independent.

use catalog::{Value, ValueStatistics};
use rowkey::range::Condition;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use types::compare::compare;
use types::temporal;
use types::{CompareOp, Datum};

/// The default number of distinct values, without statistics.
const VALUES: f64 = 200.0;
/// The default selectivity of `<` and `>`.
const INEQUALITY: f64 = 1.0 / 3.0;
/// The default selectivity of a range with two bounds.
const RANGE: f64 = 0.005;
/// The default fraction of NULLs.
const NULLS: f64 = 0.005;
/// The default selectivity of a condition that statistics cannot estimate.
pub const UNKNOWN: f64 = 0.2;

/// The input of a selectivity estimate besides the conditions.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The statistics of a part; `None` if there are none.
    pub of: &'a dyn Fn(usize) -> Option<&'a ValueStatistics>,
    /// The number of rows.
    pub rows: f64,
    /// Conditions on parts from this one on are assumed to be true.
    pub parts: usize,
    /// The selectivity of a condition that statistics cannot estimate.
    pub unknown: f64,
}

impl<'a> Known<'a> {
    /// For an estimate of the rows that satisfy all conditions.
    pub fn of_all(of: &'a dyn Fn(usize) -> Option<&'a ValueStatistics>, rows: f64) -> Self {
        Self { of, rows, parts: usize::MAX, unknown: UNKNOWN }
    }

    /// For an estimate of the rows in key ranges, which only conditions on the first `parts` parts restrict.
    pub fn in_ranges(of: &'a dyn Fn(usize) -> Option<&'a ValueStatistics>, rows: f64, parts: usize) -> Self {
        Self { of, rows, parts, unknown: 1.0 }
    }

    /// The fraction of rows that satisfy all conditions.
    pub fn share(&self, conditions: &[Condition]) -> f64 {
        let mut ranges: BTreeMap<usize, Ends> = BTreeMap::new();
        let mut share = 1.0;
        let mut open: Vec<&Condition> = conditions.iter().rev().collect();
        while let Some(condition) = open.pop() {
            match condition {
                Condition::And(inner) => open.extend(inner.iter().rev()),
                Condition::Compare { part, op, value } if self.counts(*part) && !value.is_null() => match op {
                    CompareOp::Eq | CompareOp::Ne => share *= self.one(condition),
                    CompareOp::Lt | CompareOp::Le => {
                        ranges.entry(*part).or_default().upper(self.below(*part, *op, value))
                    }
                    CompareOp::Gt | CompareOp::Ge => {
                        ranges.entry(*part).or_default().lower(self.below(*part, *op, value))
                    }
                },
                other => share *= self.one(other),
            }
        }
        for (part, ends) in ranges {
            share *= self.range(part, ends);
        }
        clamp(share)
    }

    fn counts(&self, part: usize) -> bool {
        part < self.parts
    }

    /// The selectivity of one condition.
    fn one(&self, condition: &Condition) -> f64 {
        match condition {
            Condition::And(all) => self.share(all),
            Condition::Or(any) => any.iter().fold(0.0, |sum, one| {
                let share = self.share(std::slice::from_ref(one));
                sum + share - sum * share
            }),
            Condition::Compare { part, .. } | Condition::In { part, .. } | Condition::IsNull { part, .. }
                if !self.counts(*part) =>
            {
                1.0
            }
            Condition::Prefix { part, .. } if !self.counts(*part) => 1.0,
            Condition::Compare { value, .. } if value.is_null() => 0.0,
            Condition::Compare { part, op: CompareOp::Eq, value } => self.equal(*part, value),
            Condition::Compare { part, op: CompareOp::Ne, value } => {
                clamp(1.0 - self.equal(*part, value) - self.nulls(*part))
            }
            Condition::Compare { .. } => self.share(std::slice::from_ref(condition)),
            Condition::In { part, values } => {
                clamp(values.iter().filter(|value| !value.is_null()).map(|value| self.equal(*part, value)).sum())
            }
            Condition::IsNull { part, negated } => match (self.of)(*part) {
                Some(values) if *negated => 1.0 - values.null_fraction,
                Some(values) => values.null_fraction,
                None if *negated => 1.0 - NULLS,
                None => NULLS,
            },
            Condition::Prefix { part, prefix } => self.prefix(*part, prefix),
            Condition::RowCompare { parts, op, values } => self.row(parts, *op, values),
            Condition::RowIn { parts, rows } => clamp(rows.iter().map(|row| self.row(parts, CompareOp::Eq, row)).sum()),
            Condition::Unknown => self.unknown,
            Condition::False => 0.0,
        }
    }

    /// A row comparison by `=` uses all parts, one by an order operator only the first part.
    fn row(&self, parts: &[usize], op: CompareOp, values: &[Datum]) -> f64 {
        let one = |(part, value): (&usize, &Datum), op| Condition::Compare { part: *part, op, value: value.clone() };
        let pairs = parts.iter().zip(values);
        match op {
            CompareOp::Eq => self.share(&pairs.map(|pair| one(pair, CompareOp::Eq)).collect::<Vec<_>>()),
            CompareOp::Ne => 1.0 - self.row(parts, CompareOp::Eq, values),
            order => self.share(&pairs.take(1).map(|pair| one(pair, order)).collect::<Vec<_>>()),
        }
    }

    fn nulls(&self, part: usize) -> f64 {
        (self.of)(part).map_or(0.0, |values| values.null_fraction)
    }

    /// The fraction of rows with this value.
    fn equal(&self, part: usize, value: &Datum) -> f64 {
        let Some(values) = (self.of)(part) else { return 1.0 / VALUES.min(self.rows.max(1.0)) };
        if let Some(common) = values.common.iter().find(|common| order(&common.value.0, value).is_eq()) {
            return common.share;
        }
        let taken: f64 = values.common.iter().map(|common| common.share).sum();
        let left = clamp(1.0 - taken - values.null_fraction);
        let distinct = values.distinct_of(self.rows).unwrap_or(VALUES) - values.common.len() as f64;
        let least = values.common.last().map_or(1.0, |common| common.share);
        if values.bounds.is_empty() && distinct < 1.0 {
            // All values are common ones and this is not one of them, but rows may have been inserted since.
            return left.min(0.5 / self.rows.max(1.0));
        }
        (left / distinct.max(1.0)).min(least)
    }

    /// The fraction of rows below the value, without NULLs.
    fn below(&self, part: usize, op: CompareOp, value: &Datum) -> Option<f64> {
        let values = (self.of)(part)?;
        if values.common.is_empty() && values.bounds.len() < 2 {
            return None;
        }
        // `<` and `>=` exclude the value itself, `<=` and `>` include it.
        let in_front = matches!(op, CompareOp::Lt | CompareOp::Ge);
        let is_below = |other: &Value| match order(&other.0, value) {
            Ordering::Less => true,
            Ordering::Equal => !in_front,
            Ordering::Greater => false,
        };
        let common: f64 = values.common.iter().filter(|it| is_below(&it.value)).map(|it| it.share).sum();
        let taken: f64 = values.common.iter().map(|it| it.share).sum();
        let left = clamp(1.0 - taken - values.null_fraction);
        Some(clamp(common + left * histogram_below(&values.bounds, value)))
    }

    /// The fraction of rows in a range of one part.
    fn range(&self, part: usize, ends: Ends) -> f64 {
        let nulls = self.nulls(part);
        let share = match (ends.lower, ends.upper) {
            (End::Open, End::Open) => 1.0,
            (End::Open, End::At(upper)) => upper,
            (End::At(lower), End::Open) => 1.0 - nulls - lower,
            (End::At(lower), End::At(upper)) => upper - lower,
            (End::Open, _) | (_, End::Open) => INEQUALITY,
            _ => RANGE,
        };
        // A range that is not provably empty has a minimum selectivity.
        share.clamp((0.5 / self.rows.max(1.0)).min(1.0), 1.0)
    }

    fn prefix(&self, part: usize, prefix: &str) -> f64 {
        if prefix.is_empty() {
            return 1.0 - self.nulls(part);
        }
        let begin = Datum::Text(prefix.to_owned());
        let Some(lower) = self.below(part, CompareOp::Ge, &begin) else { return RANGE };
        let upper = match after(prefix) {
            Some(after) => self.below(part, CompareOp::Lt, &Datum::Text(after)).unwrap_or(1.0),
            None => 1.0 - self.nulls(part),
        };
        // The histogram is no finer than its buckets: a prefix is at least as frequent as one value.
        (upper - lower).max(self.equal(part, &begin))
    }
}

/// The two bounds of a range of one part, as fractions of rows below them.
#[derive(Clone, Copy, Default)]
struct Ends {
    lower: End,
    upper: End,
}

#[derive(Clone, Copy, Default)]
enum End {
    /// No bound.
    #[default]
    Open,
    At(f64),
    /// A bound that statistics cannot estimate.
    Somewhere,
}

impl Ends {
    fn lower(&mut self, below: Option<f64>) {
        self.lower = match (self.lower, below) {
            (End::At(other), Some(below)) => End::At(other.max(below)),
            (_, Some(below)) => End::At(below),
            (other @ End::At(_), None) => other,
            (_, None) => End::Somewhere,
        };
    }

    fn upper(&mut self, below: Option<f64>) {
        self.upper = match (self.upper, below) {
            (End::At(other), Some(below)) => End::At(other.min(below)),
            (_, Some(below)) => End::At(below),
            (other @ End::At(_), None) => other,
            (_, None) => End::Somewhere,
        };
    }
}

fn clamp(share: f64) -> f64 {
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 }
}

/// The fraction of a histogram's rows below a value.
fn histogram_below(bounds: &[Value], value: &Datum) -> f64 {
    let groups = bounds.len().saturating_sub(1);
    if groups == 0 {
        return 0.5;
    }
    let at = bounds.partition_point(|bound| order(&bound.0, value).is_lt());
    let (Some(low), Some(high)) = (at.checked_sub(1).and_then(|at| bounds.get(at)), bounds.get(at)) else {
        return if at == 0 { 0.0 } else { 1.0 };
    };
    if order(&high.0, value).is_eq() {
        return at as f64 / groups as f64;
    }
    let within = match (number(&low.0), number(&high.0), number(value)) {
        (Some(low), Some(high), Some(value)) if high > low => ((value - low) / (high - low)).clamp(0.0, 1.0),
        _ => 0.5,
    };
    (at as f64 - 1.0 + within) / groups as f64
}

/// Compares a value of a column with a constant, which may be of another type: a date with a timestamp, an integer with
/// a numeric.
fn order(own: &Datum, constant: &Datum) -> Ordering {
    let numbers = || number(own).zip(number(constant)).and_then(|(own, constant)| own.partial_cmp(&constant));
    match std::mem::discriminant(own) == std::mem::discriminant(constant) {
        true => compare(own, constant),
        false => numbers().unwrap_or_else(|| compare(own, constant)),
    }
}

/// A value as a number for interpolation, if its type allows it: microseconds for times.
fn number(value: &Datum) -> Option<f64> {
    let number = match value {
        Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) => value.as_i64()? as f64,
        Datum::Float4(value) => f64::from(*value),
        Datum::Float8(value) => *value,
        Datum::Numeric(value) => value.to_f64(),
        Datum::Date(value) => f64::from(*value) * temporal::DAY as f64,
        Datum::Time(value) | Datum::Timestamp(value) | Datum::TimestampTz(value) => *value as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The smallest text after all texts with this prefix.
fn after(prefix: &str) -> Option<String> {
    let mut letters: Vec<char> = prefix.chars().collect();
    while let Some(last) = letters.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            letters.push(next);
            return Some(letters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use catalog::CommonValue;

    /// 1,000 rows: 10 % NULL, 50 % with value 0, the rest with values 1 to 400.
    fn skewed() -> ValueStatistics {
        let common = vec![CommonValue { value: Value(Datum::Int4(0)), share: 0.5 }];
        let bounds = (0..=4).map(|at| Value(Datum::Int4((at * 100).max(1)))).collect();
        ValueStatistics { null_fraction: 0.1, width: 4, distinct: 401.0, common, bounds, correlation: None }
    }

    fn share(conditions: &[Condition]) -> f64 {
        let values = skewed();
        let of = |part: usize| (part == 0).then_some(&values);
        Known::of_all(&of, 1_000.0).share(conditions)
    }

    fn compared(op: CompareOp, value: i32) -> Condition {
        Condition::Compare { part: 0, op, value: Datum::Int8(i64::from(value)) }
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 0.01, "{found}, not {wanted}");
    }

    #[test]
    fn a_common_value_has_its_own_share_and_all_others_the_same() {
        near(share(&[compared(CompareOp::Eq, 0)]), 0.5);
        near(share(&[compared(CompareOp::Eq, 7)]), 0.001);
        near(share(&[compared(CompareOp::Ne, 0)]), 0.4);
        near(share(&[Condition::In { part: 0, values: vec![Datum::Int4(0), Datum::Null, Datum::Int4(9)] }]), 0.501);
    }

    #[test]
    fn ranges_are_read_off_the_histogram() {
        near(share(&[compared(CompareOp::Le, 0)]), 0.5);
        near(share(&[compared(CompareOp::Lt, 200)]), 0.7);
        near(share(&[compared(CompareOp::Ge, 300)]), 0.1);
        near(share(&[compared(CompareOp::Ge, 100), compared(CompareOp::Lt, 200)]), 0.1);
        near(share(&[compared(CompareOp::Gt, 1_000)]), 0.0);
        assert!(share(&[compared(CompareOp::Gt, 1_000)]) > 0.0);
    }

    #[test]
    fn constants_of_other_types_are_judged_too() {
        let numeric = |unscaled: i128| Datum::Numeric(types::Decimal::new(unscaled, 1).unwrap());
        near(share(&[Condition::Compare { part: 0, op: CompareOp::Lt, value: numeric(2_000) }]), 0.7);
        near(share(&[Condition::Compare { part: 0, op: CompareOp::Eq, value: numeric(0) }]), 0.5);
        let bounds = (0..=4).map(|at| Value(Datum::Date(at * 100))).collect();
        let days = ValueStatistics { distinct: -1.0, bounds, ..ValueStatistics::default() };
        let of = |_: usize| Some(&days);
        let noon = Datum::Timestamp(100 * 86_400_000_000 + 43_200_000_000);
        let condition = Condition::Compare { part: 0, op: CompareOp::Lt, value: noon };
        near(Known::of_all(&of, 1_000.0).share(&[condition]), 0.25);
    }

    #[test]
    fn nulls_ors_and_what_cannot_be_judged() {
        near(share(&[Condition::IsNull { part: 0, negated: false }]), 0.1);
        near(share(&[Condition::IsNull { part: 0, negated: true }]), 0.9);
        near(share(&[Condition::Or(vec![compared(CompareOp::Eq, 0), compared(CompareOp::Ge, 300)])]), 0.55);
        near(share(&[Condition::Unknown]), UNKNOWN);
        near(share(&[Condition::False]), 0.0);
        near(share(&[Condition::Compare { part: 0, op: CompareOp::Lt, value: Datum::Null }]), 0.0);
    }

    #[test]
    fn without_statistics_there_are_defaults() {
        let other = |op| Condition::Compare { part: 1, op, value: Datum::Int4(3) };
        near(share(&[other(CompareOp::Eq)]), 0.005);
        near(share(&[other(CompareOp::Lt)]), INEQUALITY);
        near(share(&[other(CompareOp::Gt), other(CompareOp::Lt)]), RANGE);
    }

    #[test]
    fn key_ranges_are_made_of_the_first_parts_only() {
        let values = skewed();
        let of = |_: usize| Some(&values);
        let second = Condition::Compare { part: 1, op: CompareOp::Eq, value: Datum::Int4(7) };
        let known = Known::in_ranges(&of, 1_000.0, 1);
        near(known.share(&[compared(CompareOp::Eq, 0), second.clone(), Condition::Unknown]), 0.5);
        near(Known::in_ranges(&of, 1_000.0, 2).share(&[compared(CompareOp::Eq, 0), second]), 0.0005);
    }

    #[test]
    fn prefixes_are_ranges_of_texts() {
        let texts = ["a", "m", "mm", "n", "z"].map(|text| Value(Datum::Text(text.to_owned())));
        let values = ValueStatistics { distinct: -1.0, bounds: texts.to_vec(), ..ValueStatistics::default() };
        let of = |_: usize| Some(&values);
        let known = Known::of_all(&of, 1_000.0);
        let prefix = |prefix: &str| known.share(&[Condition::Prefix { part: 0, prefix: prefix.to_owned() }]);
        near(prefix("m"), 0.5);
        assert!(prefix("b") > 0.0);
        assert_eq!(after("az").as_deref(), Some("a{"));
        assert_eq!(after("\u{10FFFF}"), None);
    }
}
