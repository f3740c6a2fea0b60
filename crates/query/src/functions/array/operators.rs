//! Operators of arrays, and `||` of texts and bytes.

use crate::error::{QueryError, QueryResult};
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::array::{flat, items};
use crate::functions::sql::{Body, Definition, Form, define_any, text_of, wrong};
use types::DataType::{self, Boolean, Text};
use types::{Datum, interrupt};

pub(in crate::functions) static OPERATORS: &[Definition] = &[
    define_any("operator <", |types| ordered(types, |args| order_is(args, std::cmp::Ordering::is_lt))),
    define_any("operator <=", |types| ordered(types, |args| order_is(args, std::cmp::Ordering::is_le))),
    define_any("operator >", |types| ordered(types, |args| order_is(args, std::cmp::Ordering::is_gt))),
    define_any("operator >=", |types| ordered(types, |args| order_is(args, std::cmp::Ordering::is_ge))),
    // In plans, DataFusion compares arrays of equal shape.
    define_any("operator =", |types| ordered(types, |args| order_is(args, std::cmp::Ordering::is_eq))),
    define_any("operator <>", |types| ordered(types, |args| order_is(args, std::cmp::Ordering::is_ne))),
    define_any("operator ||", joined),
    define_any("operator @>", |types| {
        of_array(types, 0, Returns::Known(Boolean), true, |args| {
            Ok(Datum::Bool(contains(items(args, 0)?, items(args, 1)?)?))
        })
    }),
    define_any("operator <@", |types| {
        of_array(types, 0, Returns::Known(Boolean), true, |args| {
            Ok(Datum::Bool(contains(items(args, 1)?, items(args, 0)?)?))
        })
    }),
    define_any("operator &&", |types| {
        of_array(types, 0, Returns::Known(Boolean), true, |args| {
            let (a, b) = (flat(items(args, 0)?), flat(items(args, 1)?));
            for item in a.iter().filter(|item| !item.is_null()) {
                if is_among(item, &b)? {
                    return Ok(Datum::Bool(true));
                }
            }
            Ok(Datum::Bool(false))
        })
    }),
];

fn order_is(args: &[Datum], wanted: fn(std::cmp::Ordering) -> bool) -> QueryResult<Datum> {
    let [a, b] = args else { return Err(wrong(args)) };
    Ok(Datum::Bool(wanted(types::compare::compare(a, b))))
}

fn contains(whole: &[Datum], part: &[Datum]) -> QueryResult<bool> {
    let whole = flat(whole);
    for item in flat(part) {
        if item.is_null() || !is_among(&item, &whole)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_among(item: &Datum, items: &[Datum]) -> QueryResult<bool> {
    interrupt::spend(items.len()).map_err(QueryError::from)?;
    Ok(items.contains(item))
}

/// The form of a comparison. DataFusion's comparison sorts NULL elements first; this one sorts them last.
fn ordered(types: &[DataType], body: Body) -> Option<Form> {
    of_array(types, 0, Returns::Known(Boolean), true, body)
}

/// The form of `||` for bytea, or for text and values that are converted to text.
fn joined(types: &[DataType]) -> Option<Form> {
    let (returns, body): (_, Body) = match types {
        [left, _] if left.is_bytes() => (DataType::Bytea, join_bytes),
        [_, _] => (Text, join_texts),
        _ => return None,
    };
    Some(Form { types: types.to_vec(), returns, strict: true, body })
}

fn join_texts(args: &[Datum]) -> QueryResult<Datum> {
    let [a, b] = args else { return Err(wrong(args)) };
    Ok(Datum::Text(text_of(a)? + &text_of(b)?))
}

fn join_bytes(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Bytes(a), Datum::Bytes(b)] = args else { return Err(wrong(args)) };
    Ok(Datum::Bytes([a.as_slice(), b.as_slice()].concat()))
}
