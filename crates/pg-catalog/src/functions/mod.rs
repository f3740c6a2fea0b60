//! Functions that read the definitions or the session. [`find`] looks one up by its name.

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

/// A function: rows of arguments to values.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Oids of the arguments' types.
    pub(crate) arguments: &'static [u32],
    /// How many of the last ones may be left out.
    pub(crate) optional: usize,
    pub(crate) returns: Returns,
    /// Is it called for NULLs? Else they give NULL.
    pub(crate) takes_null: bool,
    /// Does it do something? Then it is called once for each row, and never while a statement is planned.
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
/// An oid, or the name of a relation.
const REGCLASS: u32 = 2205;
/// Whatever it is.
const ANY: u32 = 2276;

/// The values of one call's arguments for one row. Those left out are NULL.
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

    /// An oid; `None` also for a number that is none.
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

/// All functions, each name once.
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
    // `regclass_names(list)` is `regclass_name(x)` of each element.
    let each = name.strip_suffix('s').filter(|each| each.starts_with("reg"))?;
    let function = all().find(|function| function.name == each)?;
    Some(listed::of_each(name, udf::bind(function, source.clone())))
}

/// A function that gives NULL for NULLs.
const fn strict(
    name: &'static str,
    arguments: &'static [u32],
    returns: Returns,
    body: fn(&Source, &Arguments<'_>) -> Result<Cell>,
) -> Function {
    Function { name, arguments, optional: 0, returns, takes_null: false, acts: false, body }
}

impl Function {
    /// The last `count` arguments may be left out.
    const fn optional(mut self, count: usize) -> Self {
        self.optional = count;
        self
    }

    /// It does something.
    const fn acting(mut self) -> Self {
        self.acts = true;
        self
    }

    /// It is called for NULLs, too.
    const fn taking_null(mut self) -> Self {
        self.takes_null = true;
        self
    }
}

/// The error of a call, as DataFusion carries it.
fn refused<T>(reason: Reason, message: impl Into<String>) -> Result<T> {
    Err(DataFusionError::External(Box::new(reason.because(message))))
}

/// The value of a function about objects that cannot exist here: there is nothing to say.
fn nothing(_: &Source, _: &Arguments<'_>) -> Result<Cell> {
    Ok(Cell::Null)
}
