//! Operations that take several steps.

use super::eval::{Value, combined};
use super::{Comparison, Frame, RowExpr, Stop};
use bind::tree::BoolTest;
use std::borrow::Cow;
use std::cmp::Ordering;
use types::{CompareOp, DataType, Datum, text};

/// IS TRUE and similar tests.
pub(super) fn is(value: Option<bool>, test: BoolTest) -> bool {
    match test {
        BoolTest::True => value == Some(true),
        BoolTest::NotTrue => value != Some(true),
        BoolTest::False => value == Some(false),
        BoolTest::NotFalse => value != Some(false),
        BoolTest::Unknown => value.is_none(),
        BoolTest::NotUnknown => value.is_some(),
    }
}

/// GREATEST and LEAST, which ignore NULLs.
pub(super) fn extreme<'a>(
    max: bool,
    less: &Comparison,
    list: &'a [RowExpr],
    frame: &Frame<'a>,
) -> Result<Value<'a>, Stop> {
    let mut best: Option<Value<'a>> = None;
    for item in list {
        let value = item.eval(frame)?;
        if value.is_null() {
            continue;
        }
        let better = match &best {
            None => true,
            Some(best) if max => less.holds(best, &value, frame)? == Some(true),
            Some(best) => less.holds(&value, best, frame)? == Some(true),
        };
        if better {
            best = Some(value);
        }
    }
    Ok(best.unwrap_or(Cow::Owned(Datum::Null)))
}

/// IN with a list: NULL if no item is equal and the value or an item is NULL.
pub(super) fn in_list(
    equal: &Comparison,
    value: &Datum,
    list: &[RowExpr],
    frame: &Frame<'_>,
) -> Result<Option<bool>, Stop> {
    combined(true, list.iter().map(|item| equal.holds(value, item.eval(frame)?.as_ref(), frame)))
}

/// Compares rows column by column: the first pair that differs decides an order, any pair that differs decides
/// equality.
pub(super) fn compare_rows(
    op: CompareOp,
    pairs: &[(Comparison, Comparison, RowExpr, RowExpr)],
    frame: &Frame<'_>,
) -> Result<Option<bool>, Stop> {
    let by_order = !matches!(op, CompareOp::Eq | CompareOp::Ne);
    let mut known = Some(op.matches(Ordering::Equal));
    for (equal, less, left, right) in pairs {
        let (left, right) = (left.eval(frame)?, right.eval(frame)?);
        match equal.holds(&left, &right, frame)? {
            Some(true) => {}
            Some(false) if by_order => {
                let is_less = less.holds(&left, &right, frame)?;
                let wants_less = matches!(op, CompareOp::Lt | CompareOp::Le);
                return Ok(is_less.map(|is_less| is_less == wants_less));
            }
            Some(false) => return Ok(Some(op == CompareOp::Ne)),
            None if by_order => return Ok(None),
            None => known = None,
        }
    }
    Ok(known)
}

/// `a[1][2]`: NULL if a subscript is out of range, or if there are fewer subscripts than dimensions.
pub(super) fn element(array: &Datum, at: &[RowExpr], frame: &Frame<'_>) -> Result<Datum, Stop> {
    let mut item = array;
    let mut missing = false;
    for subscript in at {
        let subscript = subscript.eval(frame)?;
        let (Datum::Array(items), Some(number)) = (item, subscript.as_i64()) else {
            missing = true;
            continue;
        };
        match usize::try_from(number).ok().and_then(|number| items.get(number.checked_sub(1)?)) {
            Some(found) => item = found,
            None => missing = true,
        }
    }
    match item {
        Datum::Array(_) => Ok(Datum::Null),
        _ if missing || array.is_null() => Ok(Datum::Null),
        item => Ok(item.clone()),
    }
}

/// The text of a value.
pub(super) fn print(ty: &DataType, value: &Datum, frame: &Frame<'_>) -> Datum {
    if value.is_null() {
        return Datum::Null;
    }
    let mut out = String::new();
    text::print_styled(ty, value, frame.values.env.zone.style(), &mut out);
    Datum::Text(out)
}
