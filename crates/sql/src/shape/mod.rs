//! The shape of a statement: its text with a marker in place of each integer and string.
//!
//! Clients that write values into their statements send the same few shapes with ever new values. A shape is computed
//! in one pass over the bytes, without tokens or a tree, so that the compiled form of earlier statements serves later
//! ones:
//!
//! ```text
//!   SELECT v FROM t WHERE k = 42 AND s = 'x'   ──Shape::of──>   SELECT v FROM t WHERE k = ¤ AND s = ¤    42, 'x'
//!            │                                                                                            │
//!            └──parse──> Statement ──parameterize──> … k = $1 AND s = $2          $1: literal 0, $2: literal 1
//! ```
//! [`parameterize`] replaces a literal only where a parameter of its type has the same meaning: beside an operator, in
//! a list, as an assigned value. `ORDER BY 1`, `LIMIT 10`, `numeric(8,2)`, `DATE '…'` and arguments of functions stay
//! literals.

mod parameterize;
mod scan;

pub use parameterize::{Parameterized, parameterize};

use std::ops::Range;

/// The shape of a statement and its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The statement with markers, which encode the kind of each literal.
    pub text: String,
    /// The literals in the order of the text.
    pub literals: Vec<Literal>,
    /// The statement's byte range in the text, without surrounding whitespace and without `;`. The tree of the
    /// statement and its literals count from the beginning of this range.
    pub span: Range<usize>,
}

/// A literal of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its byte range in the statement, so relative to [`Shape::span`].
    pub span: Range<usize>,
    /// Its value.
    pub value: LiteralValue,
}

/// The value of a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralValue {
    /// An integer in the range of `integer`.
    Int4(i32),
    /// An integer in the range of `bigint` only.
    Int8(i64),
    /// A string, without its quotes.
    Text(String),
}

/// Longer texts are bulk statements, and have no shape.
const MAX_BYTES: usize = 4 * 1024;
/// Statements with more literals have no shape either.
const MAX_LITERALS: usize = 256;

impl Shape {
    /// Returns the shape of a text that is one query or one statement that writes rows; `None` for any other text, and
    /// for texts with comments, parameters, or strings of other forms than `'…'`.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES { None } else { scan::scan(text, MAX_LITERALS) }
    }
}
