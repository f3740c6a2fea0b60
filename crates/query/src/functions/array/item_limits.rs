//! Length, precision and scale of array elements, which only a cast has: `x::varchar(5)[]`.

use crate::error::QueryResult;
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::sql::{Definition, define_any, wrong};
use types::{DataType, Datum, coerce};

/// Casts become calls of this function, whose name no query can write. It takes the array, and the OID and the type
/// modifier of the elements' target type.
pub(in crate::functions) static FUNCTIONS: &[Definition] =
    &[define_any("limit items", |types| of_array(types, 0, Returns::Array, true, limit))];

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
