//! Filters on fixed-width value columns to predicates on bytes, which a store checks before anything is decoded.
//!
//! Fixed-width cells preserve the order of their values, as key parts do. So the range algebra applies: each column is
//! treated as a key of one part, and the one resulting range is the predicate's lowest and highest bytes.

use crate::convert::expr_to_condition::{ConditionBuilder, Mode, is_complete};
use crate::convert::expr_to_ranges::place_of;
use catalog::row_codec::{Place, RowCodec};
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, Operator};
use rowkey::range::{Condition, RangeLimits, key_ranges};
use rowkey::{KeyPart, KeySchema};
use std::collections::BTreeMap;
use store::{Filter, FixedPredicate, NullTest};
use types::DataType;

/// The result of converting filters.
#[derive(Debug, Default)]
pub(crate) struct ByteFilter {
    /// The predicates; `None` without any.
    pub(crate) filter: Option<Filter>,
    /// For each given filter, whether [`Self::filter`] contains it.
    pub(crate) taken: Vec<bool>,
    /// Whether no row can pass.
    pub(crate) never: bool,
}

/// Returns whether a filter is a byte predicate for any values of its parameters. (If some values have none, the scan
/// checks the filter itself.)
pub(crate) fn has_byte_predicate(codec: &RowCodec, filter: &Expr) -> bool {
    let Some((_, condition)) = value_condition(codec, Mode::Shape, filter) else { return false };
    is_complete(&condition) && is_one_interval(filter)
}

/// Returns whether a comparison selects one interval of values; `<>` and lists do not.
fn is_one_interval(filter: &Expr) -> bool {
    match filter {
        Expr::BinaryExpr(binary) if binary.op == Operator::And => {
            is_one_interval(&binary.left) && is_one_interval(&binary.right)
        }
        Expr::BinaryExpr(binary) => !matches!(binary.op, Operator::Or | Operator::NotEq),
        Expr::Between(between) => !between.negated,
        Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Column(_) | Expr::Not(_) => true,
        _ => false,
    }
}

/// Returns the index of the only column of a filter, if it is a value column, and the condition with that column as
/// part 0.
fn value_condition(codec: &RowCodec, mode: Mode, filter: &Expr) -> Option<(usize, Condition)> {
    let columns = filter.column_refs();
    let [column] = columns.into_iter().collect::<Vec<_>>()[..] else { return None };
    let (index, place, ty) = place_of(codec, column)?;
    let width = ty.fixed_width()?;
    if !matches!(place, Place::Value(_)) || !matches!(width, 1 | 2 | 4 | 8 | 16) {
        return None;
    }
    let part_of = |_: &Column| Some((0, ty));
    Some((index, ConditionBuilder::new(mode, &part_of).condition(filter)))
}

/// Builds the predicates of all filters that have a byte form. Their constants must be known.
pub(crate) fn byte_filter(codec: &RowCodec, filters: &[&Expr]) -> ByteFilter {
    let mut result = ByteFilter { taken: vec![false; filters.len()], ..ByteFilter::default() };
    let Some(current) = codec.current() else { return result };
    let mut filter = Filter { layout: current.layout.id(), ..Filter::default() };
    for (index, given) in by_column(codec, filters) {
        let Some(Place::Value(position)) = codec.places().get(index).copied() else { continue };
        let Some(ty) = codec.table().columns.get(index).map(|column| column.ty) else { continue };
        let null_bit = current.layout.null_bit(position);
        let (mut conditions, mut numbers) = (Vec::new(), Vec::new());
        for (number, condition) in given {
            if let Condition::IsNull { negated, .. } = condition {
                filter.nulls.push(NullTest { null_bit, is_null: !negated });
                mark(&mut result.taken, number);
            } else {
                conditions.push(condition);
                numbers.push(number);
            }
        }
        match interval(&ty, &conditions) {
            Interval::Whole => {}
            Interval::Nothing => result.never = true,
            Interval::Many => continue,
            Interval::One { lo, hi } => {
                let Some(offset) = current.layout.fixed_offset(position) else { continue };
                let Ok(width) = u8::try_from(lo.len()) else { continue };
                filter.predicates.push(FixedPredicate { offset, width, null_bit, lo: lo.into(), hi: hi.into() });
            }
        }
        numbers.into_iter().for_each(|number| mark(&mut result.taken, number));
    }
    result.filter = (!filter.is_empty()).then_some(filter);
    result
}

fn mark(taken: &mut [bool], number: usize) {
    if let Some(flag) = taken.get_mut(number) {
        *flag = true;
    }
}

/// Groups the filters with a condition on one value column by that column, with their index in `filters`.
fn by_column(codec: &RowCodec, filters: &[&Expr]) -> BTreeMap<usize, Vec<(usize, Condition)>> {
    let mut columns: BTreeMap<usize, Vec<(usize, Condition)>> = BTreeMap::new();
    for (number, filter) in filters.iter().enumerate() {
        if let Some((index, condition)) = value_condition(codec, Mode::Values, filter)
            && is_complete(&condition)
            && !contains_null_test(&condition)
        {
            columns.entry(index).or_default().push((number, condition));
        }
    }
    columns
}

/// Returns whether a condition contains a NULL test beside others. The bytes of a value do not tell whether it is NULL.
fn contains_null_test(condition: &Condition) -> bool {
    let tests = |inner: &Condition| matches!(inner, Condition::IsNull { .. }) || contains_null_test(inner);
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().any(tests),
        _ => false,
    }
}

/// The values of a type that satisfy some conditions.
enum Interval {
    /// All values.
    Whole,
    /// No value.
    Nothing,
    /// From `lo` to `hi`, both inclusive.
    One { lo: Vec<u8>, hi: Vec<u8> },
    /// Several intervals, or not expressed exactly.
    Many,
}

fn interval(ty: &DataType, conditions: &[Condition]) -> Interval {
    if conditions.is_empty() {
        return Interval::Whole;
    }
    let Some(width) = ty.fixed_width() else { return Interval::Many };
    let schema = KeySchema::new(vec![KeyPart::ascending(*ty)]);
    let ranges = key_ranges(&schema, conditions, &RangeLimits::default());
    if !ranges.exact.iter().all(|exact| *exact) {
        return Interval::Many;
    }
    match ranges.ranges.as_slice() {
        [] => Interval::Nothing,
        [range] => {
            let mut lo = range.start.clone();
            lo.resize(width, 0);
            match last_before(range.end.as_deref(), width) {
                Some(hi) => Interval::One { lo, hi },
                None => Interval::Nothing,
            }
        }
        _ => Interval::Many,
    }
}

/// Returns the largest `width` bytes below `end`; `None` if there are none.
fn last_before(end: Option<&[u8]>, width: usize) -> Option<Vec<u8>> {
    let Some(end) = end else { return Some(vec![0xFF; width]) };
    // A longer end (the successor of a point) sorts after its own first bytes.
    if end.len() > width {
        return Some(end.iter().copied().take(width).collect());
    }
    let mut last = end.to_vec();
    last.resize(width, 0);
    for byte in last.iter_mut().rev() {
        let (less, borrowed) = byte.overflowing_sub(1);
        *byte = less;
        if !borrowed {
            return Some(last);
        }
    }
    None
}
