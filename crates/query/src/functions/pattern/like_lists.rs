//! `x LIKE ANY (array)` and the like: a pattern for each item of an array.

use crate::error::QueryResult;
use crate::functions::array::flat;
use crate::functions::sql::{Definition, define, lenient, wrong};
use builtins::LikePattern;
use types::DataType::{self, Boolean, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

/// The parser makes calls of these functions from operators; no query can write their names.
pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define("~~ any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::MATCH, true))]).shown(),
    define("~~ all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::MATCH, false))]).shown(),
    define("!~~ any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_MATCH, true))]).shown(),
    define("!~~ all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_MATCH, false))]).shown(),
    define("~~* any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::IMATCH, true))]).shown(),
    define("~~* all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::IMATCH, false))]).shown(),
    define("!~~* any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_IMATCH, true))]).shown(),
    define("!~~* all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_IMATCH, false))]).shown(),
];

/// How a text is compared with one pattern.
#[derive(Clone, Copy)]
pub(in crate::functions) struct Test {
    pub(in crate::functions) negated: bool,
    /// Ignores case.
    pub(in crate::functions) any_case: bool,
}

impl Test {
    pub(in crate::functions) const MATCH: Self = Self { negated: false, any_case: false };
    pub(in crate::functions) const NO_MATCH: Self = Self { negated: true, any_case: false };
    pub(in crate::functions) const IMATCH: Self = Self { negated: false, any_case: true };
    pub(in crate::functions) const NO_IMATCH: Self = Self { negated: true, any_case: true };
}

fn verdicts(args: &[Datum], test: Test, decisive: bool) -> QueryResult<Datum> {
    let folded = |text: &str| if test.any_case { text.to_lowercase() } else { text.to_owned() };
    over_patterns(args, decisive, folded, |value, pattern| {
        Ok(LikePattern::new(&folded(pattern)).matches(value)? != test.negated)
    })
}

/// Tests the text against each pattern, and stops at a result that is `decisive`: true for ANY, false for ALL.
pub(in crate::functions) fn over_patterns<V>(
    args: &[Datum],
    decisive: bool,
    value: impl Fn(&str) -> V,
    test: impl Fn(&V, &str) -> QueryResult<bool>,
) -> QueryResult<Datum> {
    let value: Option<V> = match args.first() {
        Some(Datum::Text(text)) => Some(value(text)),
        Some(Datum::Null) => None,
        _ => return Err(wrong(args)),
    };
    let patterns = match args.get(1) {
        Some(Datum::Array(patterns)) => flat(patterns),
        Some(Datum::Null) => return Ok(Datum::Null),
        _ => return Err(wrong(args)),
    };
    let mut unknown = false;
    for pattern in patterns {
        let (Some(value), Datum::Text(pattern)) = (&value, &pattern) else {
            unknown = true;
            continue;
        };
        if test(value, pattern)? == decisive {
            return Ok(Datum::Bool(decisive));
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(!decisive) })
}
