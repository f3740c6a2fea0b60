//! The shape of a statement: its text with a mark in the place of each integer and string.
//!
//! Clients that write values into their statements send the same few shapes with ever new values. A shape is found in one
//! pass over the bytes, without tokens and without a tree, so that whatever was made of the first such statements can
//! serve the next ones:
//!
//! ```text
//!   SELECT v FROM t WHERE k = 42 AND s = 'x'   ──Shape::of──>   SELECT v FROM t WHERE k = ¤ AND s = ¤    42, 'x'
//!            │                                                                                            │
//!            └──parse──> Statement ──parameterize──> … k = $1 AND s = $2          $1: literal 0, $2: literal 1
//! ```
//! [`parameterize`] puts parameters only where a literal and a parameter of its type mean the same: beside an operator, in
//! a list, as a value that is assigned. `ORDER BY 1`, `LIMIT 10`, `numeric(8,2)`, `DATE '…'` and arguments of functions
//! stay as they are written.

mod parameterize;
mod scan;

pub use parameterize::{Parameterized, parameterize};

use std::ops::Range;

/// A text and its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The text with marks, which say the kind of each literal.
    pub text: String,
    /// The literals in the order of the text.
    pub literals: Vec<Literal>,
    /// The statement's bytes in the text, without blanks around it and without `;`.
    pub span: Range<usize>,
}

/// A literal of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// What it says.
    pub value: LiteralValue,
}

/// What a literal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralValue {
    /// An integer that an `integer` holds.
    Int4(i32),
    /// An integer that only a `bigint` holds.
    Int8(i64),
    /// A string, without its quotes.
    Text(String),
}

/// Longer texts are bulk statements.
const MAX_BYTES: usize = 4 * 1024;
/// So are statements of more literals.
const MAX_LITERALS: usize = 256;

impl Shape {
    /// The shape of a text that is one query or one statement that writes; `None` for all else, and for texts with
    /// comments, parameters, or strings of other forms than `'…'`.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES { None } else { scan::scan(text, MAX_LITERALS) }
    }
}
