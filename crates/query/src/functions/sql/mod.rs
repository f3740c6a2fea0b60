//! Functions with PostgreSQL's overloads, which compute one value at a time.
//!
//! ```text
//!   round(double precision) -> double precision      one overload: argument types, result type, a plain Rust function
//!   round(numeric)          -> numeric
//!   round(numeric, integer) -> numeric
//! ```
//! The binder has chosen a row of the table of built-ins; its parameter types are those of one overload, which is the
//! call's form. A NULL argument gives NULL unless an overload is lenient.

mod call;

pub(crate) use call::{call_form, call_of, without_views};

use crate::error::{QueryError, QueryResult};
use datafusion::logical_expr::Volatility;
use types::{DataType, Datum, ElementType};

/// Computes one value.
pub(crate) type Body = fn(&[Datum]) -> QueryResult<Datum>;

/// One overload of a function.
#[derive(Clone, Copy)]
pub(crate) struct Overload {
    pub(crate) args: &'static [DataType],
    pub(crate) returns: DataType,
    /// Whether a NULL argument gives NULL without a call.
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

/// The form of a function that a call uses.
#[derive(Clone)]
pub(crate) struct Form {
    /// Types of the arguments.
    pub(crate) types: Vec<DataType>,
    pub(crate) returns: DataType,
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

/// All forms of a function.
#[derive(Clone, Copy)]
pub(crate) enum Forms {
    /// One for each list of argument types.
    Overloads(&'static [Overload]),
    /// For arguments of any type, or for arrays and their elements: derived from the types of a call.
    Any(fn(&[DataType]) -> Option<Form>),
}

/// A function and its name.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) forms: Forms,
    pub(crate) volatility: Volatility,
    /// Whether the function receives a `char(n)` with its blanks.
    pub(crate) sees_blanks: bool,
}

impl Definition {
    /// Marks a function of values as they print: a `char(n)` has its blanks.
    pub(crate) const fn shown(mut self) -> Self {
        self.sees_blanks = true;
        self
    }

    /// Returns the form with parameters of these types.
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

/// Returns the type that overloads name: without type modifiers, one for all texts and one for all bytes, and bigint
/// for oid.
pub(crate) fn kind(ty: &DataType) -> DataType {
    match ty {
        ty if ty.is_text() => DataType::Text,
        ty if ty.is_bytes() => DataType::Bytea,
        DataType::Oid => DataType::BigInt,
        DataType::Array(ElementType::Varchar) => DataType::Array(ElementType::Text),
        ty => ty.unlimited(),
    }
}

/// Creates an overload that returns NULL if an argument is NULL.
pub(crate) const fn strict(args: &'static [DataType], returns: DataType, body: Body) -> Overload {
    Overload { args, returns, strict: true, body }
}

/// Creates an overload that receives NULLs.
pub(crate) const fn lenient(args: &'static [DataType], returns: DataType, body: Body) -> Overload {
    Overload { args, returns, strict: false, body }
}

/// Creates an immutable function.
pub(crate) const fn define(name: &'static str, overloads: &'static [Overload]) -> Definition {
    Definition { name, forms: Forms::Overloads(overloads), volatility: Volatility::Immutable, sees_blanks: false }
}

/// Creates an immutable function of arguments of any type.
pub(crate) const fn define_any(name: &'static str, form: fn(&[DataType]) -> Option<Form>) -> Definition {
    Definition { name, forms: Forms::Any(form), volatility: Volatility::Immutable, sees_blanks: false }
}

/// The error for arguments that do not fit the overload, which is a defect of planning.
pub(crate) fn wrong(arguments: &[Datum]) -> QueryError {
    let kinds: Vec<&str> = arguments.iter().map(Datum::kind_name).collect();
    QueryError::internal(format!("arguments ({}) do not fit the overload", kinds.join(", ")))
}

/// Destructures the arguments or reports a defect: `let [Datum::Text(a), Datum::Int4(n)] = args`.
macro_rules! arguments {
    ($args:expr, [$($pattern:pat),*]) => {
        let [$($pattern),*] = $args else { return Err($crate::functions::sql::wrong($args)) };
    };
}
pub(crate) use arguments;

/// Returns the text of a value, as a cast to text does.
///
/// # Errors
/// None for values that are not NULL; the signature is that of a cast.
pub(crate) fn text_of(value: &Datum) -> QueryResult<String> {
    match types::coerce::assign(&DataType::Text, value.clone())? {
        Datum::Text(text) => Ok(text),
        other => Err(wrong(&[other])),
    }
}
