//! `x ~ ANY (array)` and the like: a regular expression for each item of an array.

use super::flags::Flags;
use super::pattern::compiled;
use crate::error::QueryResult;
use crate::functions::pattern::like_lists::{Test, over_patterns};
use crate::functions::sql::{Definition, define, lenient};
use types::DataType::{self, Boolean, Text};
use types::{Datum, ElementType};

const TEXTS: DataType = DataType::Array(ElementType::Text);

/// The parser makes calls of these functions from operators; no query can write their names.
pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define("~ any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::MATCH, true))]),
    define("~ all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::MATCH, false))]),
    define("!~ any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_MATCH, true))]),
    define("!~ all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_MATCH, false))]),
    define("~* any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::IMATCH, true))]),
    define("~* all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::IMATCH, false))]),
    define("!~* any", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_IMATCH, true))]),
    define("!~* all", &[lenient(&[Text, TEXTS], Boolean, |args| verdicts(args, Test::NO_IMATCH, false))]),
];

fn verdicts(args: &[Datum], test: Test, decisive: bool) -> QueryResult<Datum> {
    let flags = Flags { ignore_case: test.any_case, ..Flags::default() };
    over_patterns(args, decisive, str::to_owned, |text, pattern| {
        Ok(compiled(pattern, flags)?.is_match(text)? != test.negated)
    })
}
