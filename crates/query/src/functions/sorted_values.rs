//! `percentile_disc` and `mode`: of an array of sorted values, by names that no query writes.

use super::array_types::array_of;
use super::sql::{Argument, Chosen, Definition, define_rule, widens, wrong};
use crate::Refusal;
use crate::error::QueryResult;
use types::{DataType, Datum, ElementType};

pub(super) static FUNCTIONS: &[Definition] = &[
    define_rule("value at share", |args| {
        let [array, share] = args else { return None };
        let item = array_of(array)?;
        let is_share = |ty: &DataType| *ty == DataType::Double || widens(ty, &DataType::Double);
        let values = DataType::Array(item);
        match share {
            Argument::Known(DataType::Array(shares)) if is_share(&shares.data_type()) => {
                let types = vec![values, DataType::Array(ElementType::Double)];
                Some(Chosen { types, returns: values, strict: true, body: values_at_shares })
            }
            Argument::Known(ty) if !is_share(ty) => None,
            _ => {
                let types = vec![values, DataType::Double];
                Some(Chosen { types, returns: item.data_type(), strict: true, body: value_at_share })
            }
        }
    }),
    define_rule("most frequent", |args| {
        let [array] = args else { return None };
        let item = array_of(array)?;
        let types = vec![DataType::Array(item)];
        Some(Chosen { types, returns: item.data_type(), strict: true, body: most_frequent })
    }),
];

fn value_at_share(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Float8(share)] = args else { return Err(wrong(args)) };
    if !(0.0..=1.0).contains(share) {
        return Err(Refusal::Range.because(format!("percentile value {share} is not between 0 and 1")));
    }
    let number = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    Ok(sorted.get(number - 1).cloned().unwrap_or(Datum::Null))
}

/// A value for each of several shares; none has no share that is NULL.
fn values_at_shares(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(sorted), Datum::Array(shares)] = args else { return Err(wrong(args)) };
    if sorted.is_empty() {
        return Ok(Datum::Null);
    }
    let at = |share: &Datum| match share {
        Datum::Null => Ok(Datum::Null),
        Datum::Array(_) => values_at_shares(&[Datum::Array(sorted.clone()), share.clone()]),
        share => value_at_share(&[Datum::Array(sorted.clone()), share.clone()]),
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
