//! `x = ANY (array)`, `x < ALL (array)` and the like, under names that no query can write.

use crate::error::QueryResult;
use crate::functions::array::flat;
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::sql::{Body, Definition, Form, define_any, wrong};
use types::{DataType, Datum};

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define_any("= any", |types| quantified(types, |args| any_of(args, std::cmp::Ordering::is_eq))),
    define_any("<> any", |types| quantified(types, |args| any_of(args, std::cmp::Ordering::is_ne))),
    define_any("< any", |types| quantified(types, |args| any_of(args, std::cmp::Ordering::is_lt))),
    define_any("<= any", |types| quantified(types, |args| any_of(args, std::cmp::Ordering::is_le))),
    define_any("> any", |types| quantified(types, |args| any_of(args, std::cmp::Ordering::is_gt))),
    define_any(">= any", |types| quantified(types, |args| any_of(args, std::cmp::Ordering::is_ge))),
    define_any("= all", |types| quantified(types, |args| all_of(args, std::cmp::Ordering::is_eq))),
    define_any("<> all", |types| quantified(types, |args| all_of(args, std::cmp::Ordering::is_ne))),
    define_any("< all", |types| quantified(types, |args| all_of(args, std::cmp::Ordering::is_lt))),
    define_any("<= all", |types| quantified(types, |args| all_of(args, std::cmp::Ordering::is_le))),
    define_any("> all", |types| quantified(types, |args| all_of(args, std::cmp::Ordering::is_gt))),
    define_any(">= all", |types| quantified(types, |args| all_of(args, std::cmp::Ordering::is_ge))),
];

/// The form of a quantified comparison of a value and an array, without a cast of either.
fn quantified(types: &[DataType], body: Body) -> Option<Form> {
    of_array(types, 1, Returns::Known(DataType::Boolean), false, body)
}

type Test = fn(std::cmp::Ordering) -> bool;

/// Returns true if an item passes the test, else NULL if a comparison is NULL, else false.
fn any_of(args: &[Datum], test: Test) -> QueryResult<Datum> {
    verdicts(args, test, true)
}

fn all_of(args: &[Datum], test: Test) -> QueryResult<Datum> {
    verdicts(args, test, false)
}

/// Stops at the first item whose test result is `decisive`: true for ANY, false for ALL.
fn verdicts(args: &[Datum], test: Test, decisive: bool) -> QueryResult<Datum> {
    let [value, array] = args else { return Err(wrong(args)) };
    let Datum::Array(items) = array else { return Ok(Datum::Null) };
    let mut unknown = false;
    for item in flat(items) {
        if value.is_null() || item.is_null() {
            unknown = true;
        } else if test(types::compare::compare(value, &item)) == decisive {
            return Ok(Datum::Bool(decisive));
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(!decisive) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantifiers_know_null() {
        let any =
            |value: Datum, items: Vec<Datum>| any_of(&[value, Datum::Array(items)], std::cmp::Ordering::is_eq).ok();
        assert_eq!(any(Datum::Int4(1), vec![Datum::Null, Datum::Int4(1)]), Some(Datum::Bool(true)));
        assert_eq!(any(Datum::Int4(2), vec![Datum::Null, Datum::Int4(1)]), Some(Datum::Null));
        assert_eq!(any(Datum::Int4(2), vec![]), Some(Datum::Bool(false)));
        assert_eq!(any(Datum::Null, vec![Datum::Int4(1)]), Some(Datum::Null));
    }
}
