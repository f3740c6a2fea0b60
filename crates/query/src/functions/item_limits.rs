//! Lengths, digits and scales of arrays' items, which only a cast has: `x::varchar(5)[]`.

use super::array_types::array_of;
use super::sql::{Argument, Chosen, Definition, define_rule, wrong};
use crate::error::QueryResult;
use types::DataType::{Array, Integer};
use types::{DataType, Datum, coerce};

/// No query can write the name: casts become calls of it.
pub(super) static FUNCTIONS: &[Definition] = &[define_rule("limit items", limit_rule)];

/// The array, and PostgreSQL's numbers of the type that its items are cast to.
fn limit_rule(args: &[Argument]) -> Option<Chosen> {
    let [array, _, _] = args else { return None };
    let array = Array(array_of(array)?);
    Some(Chosen { types: vec![array, Integer, Integer], returns: array, strict: true, body: limit })
}

fn limit(args: &[Datum]) -> QueryResult<Datum> {
    let [array, Datum::Int4(oid), Datum::Int4(typmod)] = args else { return Err(wrong(args)) };
    let item = u32::try_from(*oid).ok().and_then(|oid| DataType::from_oid(oid, *typmod));
    limited(&item.ok_or_else(|| wrong(args))?, array.clone())
}

fn limited(item: &DataType, value: Datum) -> QueryResult<Datum> {
    match value {
        Datum::Array(items) => {
            let items = items.into_iter().map(|value| limited(item, value));
            Ok(Datum::Array(items.collect::<QueryResult<_>>()?))
        }
        Datum::Null => Ok(Datum::Null),
        value => Ok(coerce::cast(item, value)?),
    }
}
