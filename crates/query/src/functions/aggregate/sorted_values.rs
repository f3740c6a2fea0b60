//! `percentile_disc`, `percentile_cont` and `mode` of an array of sorted values, under names that no query can write.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::sql::{Body, Definition, Form, define_any, wrong};
use types::{DataType, Datum};

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define_any("value at share", |types| at_share(types, value_at_share, values_at_shares)),
    define_any("value between shares", |types| at_share(types, value_between, values_between)),
    define_any("most frequent", |types| of_array(types, 0, Returns::Element, true, most_frequent)),
];

/// Chooses the body for one fraction or for an array of fractions.
fn at_share(types: &[DataType], one: Body, several: Body) -> Option<Form> {
    match types {
        [_, DataType::Array(_)] => of_array(types, 0, Returns::Array, true, several),
        _ => of_array(types, 0, Returns::Element, true, one),
    }
}

fn check_fraction(share: f64) -> QueryResult<()> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err(Refusal::Range.because(format!("percentile value {share} is not between 0 and 1")))
}

fn value_at_share(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Float8(share)] = args else { return Err(wrong(args)) };
    check_fraction(*share)?;
    let number = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    Ok(sorted.get(number - 1).cloned().unwrap_or(Datum::Null))
}

fn values_at_shares(args: &[Datum]) -> QueryResult<Datum> {
    of_each(args, value_at_share)
}

/// Interpolates linearly between the two values next to the fraction.
fn value_between(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Float8(share)] = args else { return Err(wrong(args)) };
    check_fraction(*share)?;
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

/// Returns a value for each fraction; NULL for a NULL fraction.
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
    // `max_by_key` would return the last of several longest runs.
    let longest = runs.fold(None, |best: Option<&[Datum]>, run| match best {
        Some(best) if best.len() >= run.len() => Some(best),
        _ => Some(run),
    });
    Ok(longest.and_then(|run| run.first().cloned()).unwrap_or(Datum::Null))
}
