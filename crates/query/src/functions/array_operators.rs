//! Operators of arrays, and `||` of texts and bytes.

use super::array::{append, cat, flat, items, prepend};
use super::array_types::{Returns, array_of, ordered, two_arrays, with_element};
use super::sql::{Argument, Chosen, Definition, define_rule, text_of, wrong};
use crate::error::{QueryError, QueryResult};
use types::DataType::{self, Boolean, Text};
use types::{Datum, interrupt};

pub(super) static OPERATORS: &[Definition] = &[
    define_rule("operator <", |args| ordered(args, |args| order_is(args, std::cmp::Ordering::is_lt))),
    define_rule("operator <=", |args| ordered(args, |args| order_is(args, std::cmp::Ordering::is_le))),
    define_rule("operator >", |args| ordered(args, |args| order_is(args, std::cmp::Ordering::is_gt))),
    define_rule("operator >=", |args| ordered(args, |args| order_is(args, std::cmp::Ordering::is_ge))),
    define_rule("operator ||", concat_rule),
    define_rule("operator @>", |args| {
        two_arrays(args, Returns::Known(Boolean), true, |args| {
            Ok(Datum::Bool(contains(items(args, 0)?, items(args, 1)?)?))
        })
    }),
    define_rule("operator <@", |args| {
        two_arrays(args, Returns::Known(Boolean), true, |args| {
            Ok(Datum::Bool(contains(items(args, 1)?, items(args, 0)?)?))
        })
    }),
    define_rule("operator &&", |args| {
        two_arrays(args, Returns::Known(Boolean), true, |args| {
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

/// `||`: arrays, an array and an element, or texts.
fn concat_rule(args: &[Argument]) -> Option<Chosen> {
    let [a, b] = args else { return None };
    match (array_of(a), array_of(b)) {
        (Some(_), Some(_)) => return two_arrays(args, Returns::Array, false, cat),
        (Some(_), None) if *b == Argument::Unknown => return two_arrays(args, Returns::Array, false, cat),
        (None, Some(_)) if *a == Argument::Unknown => return two_arrays(args, Returns::Array, false, cat),
        (Some(_), None) => return with_element(args, (0, 1), Returns::Array, false, append),
        (None, Some(_)) => return with_element(args, (1, 0), Returns::Array, false, prepend),
        (None, None) => {}
    }
    let bytes = |arg: &Argument| matches!(arg, Argument::Known(ty) if ty.is_bytes());
    if bytes(a) && (bytes(b) || *b == Argument::Unknown) || bytes(b) && *a == Argument::Unknown {
        let types = vec![DataType::Bytea, DataType::Bytea];
        return Some(Chosen { types, returns: DataType::Bytea, strict: true, body: join_bytes });
    }
    let text = |arg: &Argument| match arg {
        Argument::Unknown => true,
        Argument::Known(ty) => ty.is_text(),
    };
    // One side must be text: `1 || 2` is no operator.
    if !text(a) && !text(b) {
        return None;
    }
    let own = |arg: &Argument| match arg {
        Argument::Known(ty) => *ty,
        Argument::Unknown => Text,
    };
    Some(Chosen { types: vec![own(a), own(b)], returns: Text, strict: true, body: join_texts })
}

fn join_texts(args: &[Datum]) -> QueryResult<Datum> {
    let [a, b] = args else { return Err(wrong(args)) };
    Ok(Datum::Text(text_of(a)? + &text_of(b)?))
}

fn join_bytes(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Bytes(a), Datum::Bytes(b)] = args else { return Err(wrong(args)) };
    Ok(Datum::Bytes([a.as_slice(), b.as_slice()].concat()))
}
