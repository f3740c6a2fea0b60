//! `percentile_disc`, `percentile_cont` and `mode`: of an array of sorted values, by names that no query writes.

use super::array_types::array_of;
use super::sql::{Argument, Body, Chosen, Definition, define_rule, widens, wrong};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use types::{DataType, Datum, ElementType};

pub(super) static FUNCTIONS: &[Definition] = &[
    define_rule("value at share", |args| {
        let [array, share] = args else { return None };
        at_share(array_of(array)?, share, [value_at_share, values_at_shares])
    }),
    define_rule("value between shares", |args| {
        let [array, share] = args else { return None };
        let item = match array_of(array)? {
            ElementType::Interval => ElementType::Interval,
            item if is_double(&item.data_type()) => ElementType::Double,
            _ => return None,
        };
        at_share(item, share, [value_between, values_between])
    }),
    define_rule("most frequent", |args| {
        let [array] = args else { return None };
        let item = array_of(array)?;
        let types = vec![DataType::Array(item)];
        Some(Chosen { types, returns: item.data_type(), strict: true, body: most_frequent })
    }),
];

fn is_double(ty: &DataType) -> bool {
    *ty == DataType::Double || widens(ty, &DataType::Double)
}

/// Of an array and a share, or an array of shares: a body for each.
fn at_share(item: ElementType, share: &Argument, [one, several]: [Body; 2]) -> Option<Chosen> {
    let values = DataType::Array(item);
    match share {
        Argument::Known(DataType::Array(shares)) if is_double(&shares.data_type()) => {
            let types = vec![values, DataType::Array(ElementType::Double)];
            Some(Chosen { types, returns: values, strict: true, body: several })
        }
        Argument::Known(ty) if !is_double(ty) => None,
        _ => {
            let types = vec![values, DataType::Double];
            Some(Chosen { types, returns: item.data_type(), strict: true, body: one })
        }
    }
}

fn refuse_beyond(share: f64) -> QueryResult<()> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err(Refusal::Range.because(format!("percentile value {share} is not between 0 and 1")))
}

fn value_at_share(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Float8(share)] = args else { return Err(wrong(args)) };
    refuse_beyond(*share)?;
    let number = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    Ok(sorted.get(number - 1).cloned().unwrap_or(Datum::Null))
}

fn values_at_shares(args: &[Datum]) -> QueryResult<Datum> {
    of_each(args, value_at_share)
}

/// Between the two values next to the share, as far as the share is between their places.
fn value_between(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Float8(share)] = args else { return Err(wrong(args)) };
    refuse_beyond(*share)?;
    let place = share * sorted.len().saturating_sub(1) as f64;
    let (before, behind) = (place.floor(), place.ceil());
    let part = place - before;
    Ok(match (sorted.get(before as usize), sorted.get(behind as usize)) {
        (Some(low), _) if before == behind => low.clone(),
        (Some(Datum::Float8(low)), Some(Datum::Float8(high))) => Datum::Float8(low + part * (high - low)),
        (Some(Datum::Interval(low)), Some(Datum::Interval(high))) => {
            let span = low.checked_neg().and_then(|low| high.checked_add(low));
            let between = span.and_then(|span| span.checked_mul(part)).and_then(|part| low.checked_add(part));
            Datum::Interval(between.ok_or(QueryError::IntervalRange)?)
        }
        _ => Datum::Null,
    })
}

fn values_between(args: &[Datum]) -> QueryResult<Datum> {
    of_each(args, value_between)
}

/// A value for each of several shares; none has no share that is NULL.
fn of_each(args: &[Datum], value: Body) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Array(shares)] = args else { return Err(wrong(args)) };
    if sorted.is_empty() {
        return Ok(Datum::Null);
    }
    let at = |share: &Datum| match share {
        Datum::Null => Ok(Datum::Null),
        Datum::Array(_) => of_each(&[Datum::Array(sorted.clone()), share.clone()], value),
        share => value(&[Datum::Array(sorted.clone()), share.clone()]),
    };
    Ok(Datum::Array(shares.iter().map(at).collect::<QueryResult<_>>()?))
}

fn most_frequent(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted)] = args else { return Err(wrong(args)) };
    let runs = sorted.chunk_by(|a, b| a == b);
    // The last of the longest that `max_by_key` finds would be the wrong one.
    let longest = runs.fold(None, |best: Option<&[Datum]>, run| match best {
        Some(best) if best.len() >= run.len() => Some(best),
        _ => Some(run),
    });
    Ok(longest.and_then(|run| run.first().cloned()).unwrap_or(Datum::Null))
}
