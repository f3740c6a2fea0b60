//! Expressions as programs run them: columns are places in a row, calls are pointers to bodies.
//!
//! ```text
//!   Scalar ──compile──> RowExpr ──eval(Frame)──> Datum
//!                                   Frame = the row at hand + outer columns + parameters + answers of subqueries
//! ```
//!
//! Evaluation never waits. An expression that needs the rows of a subquery stops with [`Stop::Subquery`]; who evaluates
//! it runs the subquery and evaluates again. So a subquery in an arm of CASE runs only if the arm is taken.

pub(crate) mod columns;
mod compile;
mod eval;
mod form;
mod frame;
mod operations;

pub(crate) use compile::Scope;
pub(crate) use form::Form;
pub(crate) use frame::{Frame, Row, Values};

use crate::OutsideBody;
use bind::tree::BoolTest;
use builtins::{Body, EvalError, FuncId};
use types::{CompareOp, DataType, Datum};

/// Why evaluation stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed.
    Error(EvalError),
    /// The rows of this subquery are not there yet.
    Subquery(usize),
}

impl From<EvalError> for Stop {
    fn from(error: EvalError) -> Self {
        Self::Error(error)
    }
}

/// A function to be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callee {
    pub(crate) func: FuncId,
    pub(crate) body: Body,
    /// NULL as soon as an argument is?
    pub(crate) strict: bool,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Comparison {
    /// By the order of values, right here.
    Inline(CompareOp),
    /// By a call.
    Call(Callee),
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) enum RowExpr {
    /// The row's value at this place.
    Col(usize),
    /// The outer column in this slot.
    Outer(usize),
    Param(usize),
    Const(Datum),
    /// `now()`.
    TransactionTime,
    Call(Callee, Vec<RowExpr>),
    /// A call of a function that is written outside of `builtins`.
    Outside(FuncId, OutsideBody, Vec<RowExpr>),
    Compare(Comparison, Box<(RowExpr, RowExpr)>),
    And(Vec<RowExpr>),
    Or(Vec<RowExpr>),
    Not(Box<RowExpr>),
    IsNull(Box<RowExpr>),
    Is(Box<RowExpr>, BoolTest),
    Case(Vec<(RowExpr, RowExpr)>, Option<Box<RowExpr>>),
    Coalesce(Vec<RowExpr>),
    /// The greatest, or the least, of the values.
    Extreme(bool, Comparison, Vec<RowExpr>),
    /// The value, or NULL if the two others are equal.
    NullIf(Comparison, Box<(RowExpr, RowExpr, RowExpr)>),
    /// IS DISTINCT FROM, or with `true` IS NOT DISTINCT FROM.
    Distinct(Comparison, Box<(RowExpr, RowExpr)>, bool),
    /// IN, or with `true` NOT IN.
    InList(Comparison, Box<RowExpr>, Vec<RowExpr>, bool),
    /// ANY of an array, or with `true` ALL of it.
    AnyArray(Comparison, Box<(RowExpr, RowExpr)>, bool),
    /// `=`, `<`, left and right of each column.
    RowCompare(CompareOp, Vec<(Comparison, Comparison, RowExpr, RowExpr)>),
    Array(Vec<RowExpr>),
    Element(Box<RowExpr>, Vec<RowExpr>),
    /// The value cut or rounded to the type's limits; `false`: as an assignment does.
    Fit(DataType, Box<RowExpr>, bool),
    /// The value's text.
    Print(DataType, Box<RowExpr>),
    /// A text read as a value of a type that no session setting has a part in.
    Parse(DataType, Box<RowExpr>),
    /// A numeric with the digits of its column.
    Form(Form, Box<RowExpr>),
    Subquery(usize, SubqueryValue),
}

/// What is made of a subquery's rows.
#[derive(Debug)]
pub(crate) enum SubqueryValue {
    /// The first column of its one row.
    Scalar,
    Exists,
    /// All its values.
    Array,
    /// ANY, or with `true` ALL, of the rows satisfies the comparisons with the values.
    Quantified(Vec<(Comparison, RowExpr)>, bool),
}
