//! `x ~ ANY (array)` and its like: a regular expression for each item of an array.

use super::flags::Flags;
use super::pattern::compiled;
use crate::error::QueryResult;
use crate::functions::like_lists::over_patterns;
use crate::functions::sql::{Definition, define, lenient};
use types::DataType::{self, Boolean, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

/// No query can write these names: the parser makes them of the operators.
pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define("~ any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, MATCH, true))]),
    define("~ all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, MATCH, false))]),
    define("!~ any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, NO_MATCH, true))]),
    define("!~ all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, NO_MATCH, false))]),
    define("~* any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, IMATCH, true))]),
    define("~* all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, IMATCH, false))]),
    define("!~* any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, NO_IMATCH, true))]),
    define("!~* all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, NO_IMATCH, false))]),
];

/// How one pattern is asked.
#[derive(Clone, Copy)]
struct Test {
    negated: bool,
    any_case: bool,
}

const MATCH: Test = Test { negated: false, any_case: false };
const NO_MATCH: Test = Test { negated: true, any_case: false };
const IMATCH: Test = Test { negated: false, any_case: true };
const NO_IMATCH: Test = Test { negated: true, any_case: true };

fn verdicts(args: &[Datum], test: Test, decisive: bool) -> QueryResult<Datum> {
    let flags = Flags { ignore_case: test.any_case, ..Flags::default() };
    over_patterns(args, decisive, str::to_owned, |text, pattern| {
        Ok(compiled(pattern, flags)?.is_match(text) != test.negated)
    })
}
