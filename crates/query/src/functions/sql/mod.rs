//! Functions with PostgreSQL's overloads, written value by value.
//!
//! ```text
//!   round(double precision) -> double precision      one overload: argument types, result type, a plain Rust function
//!   round(numeric)          -> numeric
//!   round(numeric, integer) -> numeric
//! ```
//! A call picks its overload by PostgreSQL's rules (`resolve.rs`): quoted constants are of whatever type is wanted,
//! numbers widen, text never becomes a number. NULL in gives NULL out unless an overload says otherwise.

mod call;
mod resolve;

pub(crate) use call::{SqlFunction, call_of, without_views};
pub(crate) use resolve::{Argument, resolve, widens};

use crate::error::{QueryError, QueryResult};
use datafusion::logical_expr::Volatility;
use types::{DataType, Datum};

/// What computes one value.
pub(crate) type Body = fn(&[Datum]) -> QueryResult<Datum>;

/// One form of a function.
#[derive(Clone, Copy)]
pub(crate) struct Overload {
    pub(crate) args: &'static [DataType],
    /// May the last argument come any number of times?
    pub(crate) variadic: bool,
    pub(crate) returns: DataType,
    /// Is it NULL as soon as an argument is?
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

/// What a call turned out to be.
#[derive(Clone)]
pub(crate) struct Chosen {
    /// Types that the arguments must have.
    pub(crate) types: Vec<DataType>,
    pub(crate) returns: DataType,
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

/// How a call finds its form.
#[derive(Clone, Copy)]
pub(crate) enum Forms {
    /// One of a list.
    Overloads(&'static [Overload]),
    /// By a rule, where the types of arguments depend on each other: `array_append(anyarray, anyelement)`.
    Rule(fn(&[Argument]) -> Option<Chosen>),
}

/// A function by its name.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) forms: Forms,
    pub(crate) volatility: Volatility,
    /// Does it see a `char(n)` with its blanks?
    pub(crate) sees_blanks: bool,
}

impl Definition {
    /// A function that takes a value as it is shown, a `char(n)` with its blanks.
    pub(crate) const fn shown(mut self) -> Self {
        self.sees_blanks = true;
        self
    }
}

/// An overload that is NULL for NULL.
pub(crate) const fn strict(args: &'static [DataType], returns: DataType, body: Body) -> Overload {
    Overload { args, variadic: false, returns, strict: true, body }
}

/// An overload that sees NULLs.
pub(crate) const fn lenient(args: &'static [DataType], returns: DataType, body: Body) -> Overload {
    Overload { args, variadic: false, returns, strict: false, body }
}

/// A function of its arguments alone.
pub(crate) const fn define(name: &'static str, overloads: &'static [Overload]) -> Definition {
    Definition { name, forms: Forms::Overloads(overloads), volatility: Volatility::Immutable, sees_blanks: false }
}

/// A function whose form follows from its arguments by `rule`.
pub(crate) const fn define_rule(name: &'static str, rule: fn(&[Argument]) -> Option<Chosen>) -> Definition {
    Definition { name, forms: Forms::Rule(rule), volatility: Volatility::Immutable, sees_blanks: false }
}

/// Planning gave a function something else than its overload asks for.
pub(crate) fn wrong(arguments: &[Datum]) -> QueryError {
    let kinds: Vec<&str> = arguments.iter().map(Datum::kind_name).collect();
    QueryError::internal(format!("arguments ({}) do not fit the overload", kinds.join(", ")))
}

/// Takes the arguments apart or reports a defect: `let [Datum::Text(a), Datum::Int4(n)] = args`.
macro_rules! arguments {
    ($args:expr, [$($pattern:pat),*]) => {
        let [$($pattern),*] = $args else { return Err($crate::functions::sql::wrong($args)) };
    };
}
pub(crate) use arguments;

/// The text of a value as a cast to text gives it.
///
/// # Errors
/// None for values that are not NULL; the signature is that of a cast.
pub(crate) fn text_of(value: &Datum) -> QueryResult<String> {
    match types::coerce::assign(&DataType::Text, value.clone())? {
        Datum::Text(text) => Ok(text),
        other => Err(wrong(&[other])),
    }
}
