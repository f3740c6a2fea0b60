//! Functions with PostgreSQL's overloads, written value by value.
//!
//! ```text
//!   round(double precision) -> double precision      one overload: argument types, result type, a plain Rust function
//!   round(numeric)          -> numeric
//!   round(numeric, integer) -> numeric
//! ```
//! The binder has chosen a line of the table of built-ins; its parameter types are those of one overload, which is the
//! call's form. NULL in gives NULL out unless an overload says otherwise.

mod call;

pub(crate) use call::{call_form, call_of, without_views};

use crate::error::{QueryError, QueryResult};
use datafusion::logical_expr::Volatility;
use types::{DataType, Datum, ElementType};

/// What computes one value.
pub(crate) type Body = fn(&[Datum]) -> QueryResult<Datum>;

/// One form of a function.
#[derive(Clone, Copy)]
pub(crate) struct Overload {
    pub(crate) args: &'static [DataType],
    pub(crate) returns: DataType,
    /// Is it NULL as soon as an argument is?
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

/// What a call runs.
#[derive(Clone)]
pub(crate) struct Form {
    /// Types of the arguments.
    pub(crate) types: Vec<DataType>,
    pub(crate) returns: DataType,
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

/// The forms of a function.
#[derive(Clone, Copy)]
pub(crate) enum Forms {
    /// One for each list of argument types.
    Overloads(&'static [Overload]),
    /// Of arguments of any type, or of arrays and their elements: the types are those that a call has.
    Any(fn(&[DataType]) -> Option<Form>),
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

    /// The form whose parameters are of these types.
    pub(crate) fn form(&self, types: &[DataType]) -> Option<Form> {
        let overloads = match self.forms {
            Forms::Overloads(overloads) => overloads,
            Forms::Any(form) => return form(types),
        };
        let kinds: Vec<DataType> = types.iter().map(kind).collect();
        overloads.iter().find(|overload| overload.args == kinds).map(Form::of)
    }
}

impl Form {
    pub(crate) fn of(overload: &Overload) -> Self {
        let Overload { args, returns, strict, body } = *overload;
        Self { types: args.to_vec(), returns, strict, body }
    }
}

/// The type that overloads name: without parameters, one for all texts and one for all bytes. Numbers of objects are bigints.
pub(crate) fn kind(ty: &DataType) -> DataType {
    match ty {
        ty if ty.is_text() => DataType::Text,
        ty if ty.is_bytes() => DataType::Bytea,
        DataType::Oid => DataType::BigInt,
        DataType::Array(ElementType::Varchar) => DataType::Array(ElementType::Text),
        ty => ty.unlimited(),
    }
}

/// An overload that is NULL for NULL.
pub(crate) const fn strict(args: &'static [DataType], returns: DataType, body: Body) -> Overload {
    Overload { args, returns, strict: true, body }
}

/// An overload that sees NULLs.
pub(crate) const fn lenient(args: &'static [DataType], returns: DataType, body: Body) -> Overload {
    Overload { args, returns, strict: false, body }
}

/// A function of its arguments alone.
pub(crate) const fn define(name: &'static str, overloads: &'static [Overload]) -> Definition {
    Definition { name, forms: Forms::Overloads(overloads), volatility: Volatility::Immutable, sees_blanks: false }
}

/// A function of arguments of any type.
pub(crate) const fn define_any(name: &'static str, form: fn(&[DataType]) -> Option<Form>) -> Definition {
    Definition { name, forms: Forms::Any(form), volatility: Volatility::Immutable, sees_blanks: false }
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
