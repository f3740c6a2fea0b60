//! A row of the table of functions.

use crate::{Env, EvalError, TypeId};
use types::Datum;

/// Computes one value. Called with as many values as the function has arguments; with NULLs only if it is not strict.
pub type Body = fn(&Env, &[Datum]) -> Result<Datum, EvalError>;

/// A function of the table: its oid in `pg_proc`. Operators and casts refer to it.
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

/// The kind of a function: what one call computes its result from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One row's values.
    Scalar,
    /// The rows of a group.
    Aggregate,
    /// The rows of a window.
    Window,
}

/// When calls with equal arguments return equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volatility {
    /// Always.
    Immutable,
    /// Within a statement.
    Stable,
    /// Not guaranteed.
    Volatile,
}

/// A function of the table.
#[derive(Debug)]
pub struct Function {
    /// Its oid.
    pub id: FuncId,
    /// Its name in `pg_proc`.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its volatility.
    pub volatility: Volatility,
    /// Whether a NULL argument gives NULL.
    pub strict: bool,
    /// Whether it returns a set of rows.
    pub returns_set: bool,
    /// Types of its arguments; pseudo-types such as `anyarray` included.
    pub args: Vec<TypeId>,
    /// Type of the last arguments if there may be any number of them.
    pub variadic: Option<TypeId>,
    /// How many of the last arguments may be omitted.
    pub defaults: usize,
    /// For an ordered-set aggregate, the number of direct arguments, which stand outside of WITHIN GROUP.
    pub direct: Option<usize>,
    /// The type of its result.
    pub returns: TypeId,
    /// Computes it row by row; `None` if only DataFusion does.
    pub body: Option<Body>,
}
