//! Functions that read the catalog or the session. [`find`] looks up a function by name.

mod describe;
mod listed;
mod names;
mod privileges;
mod routines;
mod session;
mod size;
mod udf;

use crate::rows::Cell;
use crate::source::Source;
use builtins::Reason;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ScalarUDF;

/// A function, evaluated row by row.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Oids of the arguments' types.
    pub(crate) arguments: &'static [u32],
    /// The number of trailing optional arguments.
    pub(crate) optional: usize,
    pub(crate) returns: Returns,
    /// Whether it is called with NULL arguments. If not, the result is NULL (STRICT).
    pub(crate) takes_null: bool,
    /// Whether it has side effects. If so, it is called once per row, and never while a statement is planned.
    pub(crate) acts: bool,
    pub(crate) body: fn(&Source, &Arguments<'_>) -> Result<Cell>,
}

/// The type of a function's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Bool,
    Int,
    BigInt,
    Oid,
    Text,
    Texts,
}

/// Argument types.
const BOOL: u32 = 16;
const INT: u32 = 23;
const TEXT: u32 = 25;
const OID: u32 = 26;
/// `regclass`: an oid, or the name of a relation.
const REGCLASS: u32 = 2205;
/// `any`.
const ANY: u32 = 2276;

/// The argument values of one call. Omitted arguments are NULL.
pub(crate) struct Arguments<'a>(pub(crate) &'a [Cell]);

impl Arguments<'_> {
    fn cell(&self, number: usize) -> &Cell {
        self.0.get(number).unwrap_or(&Cell::Null)
    }

    fn text(&self, number: usize) -> Option<&str> {
        if let Cell::Text(text) = self.cell(number) { Some(text) } else { None }
    }

    fn int(&self, number: usize) -> Option<i64> {
        if let Cell::Int(value) = self.cell(number) { Some(*value) } else { None }
    }

    /// An oid argument; `None` also for a number outside the range of oids.
    fn oid(&self, number: usize) -> Option<u32> {
        self.int(number).and_then(|oid| u32::try_from(oid).ok())
    }

    fn bool(&self, number: usize) -> Option<bool> {
        if let Cell::Bool(value) = self.cell(number) { Some(*value) } else { None }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

/// All functions. Names are unique.
fn all() -> impl Iterator<Item = &'static Function> {
    let lists = [
        describe::FUNCTIONS,
        names::FUNCTIONS,
        privileges::FUNCTIONS,
        routines::FUNCTIONS,
        size::FUNCTIONS,
        session::FUNCTIONS,
    ];
    lists.into_iter().flatten()
}

/// The function of that name, bound to `source`.
pub(crate) fn find(name: &str, source: &Source) -> Option<ScalarUDF> {
    if let Some(function) = all().find(|function| function.name == name) {
        return Some(udf::bind(function, source.clone()));
    }
    // `regclass_names(list)` applies `regclass_name(x)` to each element.
    let each = name.strip_suffix('s').filter(|each| each.starts_with("reg"))?;
    let function = all().find(|function| function.name == each)?;
    Some(listed::of_each(name, udf::bind(function, source.clone())))
}

/// A STRICT function.
const fn strict(
    name: &'static str,
    arguments: &'static [u32],
    returns: Returns,
    body: fn(&Source, &Arguments<'_>) -> Result<Cell>,
) -> Function {
    Function { name, arguments, optional: 0, returns, takes_null: false, acts: false, body }
}

impl Function {
    /// Makes the last `count` arguments optional.
    const fn optional(mut self, count: usize) -> Self {
        self.optional = count;
        self
    }

    /// Marks a function with side effects.
    const fn acting(mut self) -> Self {
        self.acts = true;
        self
    }

    /// Calls the function with NULL arguments.
    const fn taking_null(mut self) -> Self {
        self.takes_null = true;
        self
    }
}

/// An error of a call, for DataFusion.
fn refused<T>(reason: Reason, message: impl Into<String>) -> Result<T> {
    Err(DataFusionError::External(Box::new(reason.because(message))))
}

/// The body of a function about objects that Bennu does not have: NULL.
fn nothing(_: &Source, _: &Arguments<'_>) -> Result<Cell> {
    Ok(Cell::Null)
}
