//! A line of the table of functions.

use crate::{Env, EvalError, TypeId};
use types::Datum;

/// What computes one value. Called with as many values as the function has arguments; NULLs only if it is not strict.
pub type Body = fn(&Env, &[Datum]) -> Result<Datum, EvalError>;

/// A function of the table: its oid in `pg_proc`. Operators and casts name theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

impl FuncId {
    /// `text || text`.
    pub const TEXTCAT: Self = Self(1258);
    /// `text || anynonarray`.
    pub const TEXTANYCAT: Self = Self(2003);
    /// `anynonarray || text`.
    pub const ANYTEXTCAT: Self = Self(2004);
}

/// What a function is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One row's values.
    Scalar,
    /// The rows of a group.
    Aggregate,
    /// The rows of a window.
    Window,
}

/// When calls with equal arguments give equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volatility {
    /// Always.
    Immutable,
    /// Within a statement.
    Stable,
    /// Never to be relied on.
    Volatile,
}

/// A function of the table.
#[derive(Debug)]
pub struct Function {
    /// Its oid.
    pub id: FuncId,
    /// Its name in `pg_proc`.
    pub name: &'static str,
    /// What it is called on.
    pub kind: Kind,
    /// When its results are equal.
    pub volatility: Volatility,
    /// NULL as soon as an argument is?
    pub strict: bool,
    /// A set of rows?
    pub returns_set: bool,
    /// Types of its arguments; pseudo-types such as `anyarray` included.
    pub args: Vec<TypeId>,
    /// Type of the last arguments if there may be any number of them.
    pub variadic: Option<TypeId>,
    /// How many of the last arguments may be left out.
    pub defaults: usize,
    /// Of an aggregate of an ordered set: how many arguments stand outside of WITHIN GROUP.
    pub direct: Option<usize>,
    /// Its result.
    pub returns: TypeId,
    /// What computes it row by row; `None`: only DataFusion does.
    pub body: Option<Body>,
}
