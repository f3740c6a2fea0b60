//! Compiled expressions of row programs: columns are indexes into a row, calls are function pointers.
//!
//! ```text
//!   Scalar ──compile──> RowExpr ──eval(Frame)──> Datum
//!                                   Frame = the current row + outer columns + parameters + results of subqueries
//! ```
//!
//! Evaluation is synchronous. An expression that needs the rows of a subquery stops with [`Stop::Subquery`]; the caller
//! runs the subquery and evaluates again. So a subquery in a branch of CASE runs only if the branch is taken.

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

/// The reason for which evaluation stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An error.
    Error(EvalError),
    /// The rows of this subquery are needed.
    Subquery(usize),
}

impl From<EvalError> for Stop {
    fn from(error: EvalError) -> Self {
        Self::Error(error)
    }
}

/// A function with its implementation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callee {
    pub(crate) func: FuncId,
    pub(crate) body: Body,
    /// Is the result NULL if an argument is NULL?
    pub(crate) strict: bool,
}

/// The implementation of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Comparison {
    /// By comparing the values directly.
    Inline(CompareOp),
    /// By calling a function.
    Call(Callee),
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) enum RowExpr {
    /// The row's value at this index.
    Col(usize),
    /// The outer column in this slot.
    Outer(usize),
    Param(usize),
    Const(Datum),
    /// `now()`.
    TransactionTime,
    Call(Callee, Vec<RowExpr>),
    /// A call of a function that is implemented outside of `builtins`.
    Outside(FuncId, OutsideBody, Vec<RowExpr>),
    Compare(Comparison, Box<(RowExpr, RowExpr)>),
    And(Vec<RowExpr>),
    Or(Vec<RowExpr>),
    Not(Box<RowExpr>),
    IsNull(Box<RowExpr>),
    Is(Box<RowExpr>, BoolTest),
    Case(Vec<(RowExpr, RowExpr)>, Option<Box<RowExpr>>),
    Coalesce(Vec<RowExpr>),
    /// GREATEST if `true`, else LEAST.
    Extreme(bool, Comparison, Vec<RowExpr>),
    /// The first value, or NULL if the two others are equal.
    NullIf(Comparison, Box<(RowExpr, RowExpr, RowExpr)>),
    /// IS DISTINCT FROM, or with `true` IS NOT DISTINCT FROM.
    Distinct(Comparison, Box<(RowExpr, RowExpr)>, bool),
    /// IN, or with `true` NOT IN.
    InList(Comparison, Box<RowExpr>, Vec<RowExpr>, bool),
    /// ANY of an array, or with `true` ALL of it.
    AnyArray(Comparison, Box<(RowExpr, RowExpr)>, bool),
    /// For each column `=`, `<`, the left and the right operand.
    RowCompare(CompareOp, Vec<(Comparison, Comparison, RowExpr, RowExpr)>),
    Array(Vec<RowExpr>),
    Element(Box<RowExpr>, Vec<RowExpr>),
    /// The value with a type modifier applied; `true` is an explicit cast, `false` an assignment cast.
    Fit(DataType, Box<RowExpr>, bool),
    /// The text of the value.
    Print(DataType, Box<RowExpr>),
    /// A text parsed as a type that does not depend on session settings.
    Parse(DataType, Box<RowExpr>),
    /// A numeric with the scale of its type.
    Form(Form, Box<RowExpr>),
    Subquery(usize, SubqueryValue),
}

/// The value that is derived from a subquery's rows.
#[derive(Debug)]
pub(crate) enum SubqueryValue {
    /// The first column of its only row.
    Scalar,
    Exists,
    /// The array of its values.
    Array,
    /// ANY, or with `true` ALL: is there a row, or does every row hold, for the comparisons with the values?
    Quantified(Vec<(Comparison, RowExpr)>, bool),
}
