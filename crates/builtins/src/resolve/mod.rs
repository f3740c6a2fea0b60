//! PostgreSQL's rules of type conversion (chapter 10 of its manual): which function, operator and common type.
//!
//! ```text
//!   operator   10.2     function   10.3     coercion   10.4 (values that are stored)     common_type   10.5
//!        \        /                             |
//!         candidate: exact, preferred, categories of unknown literals
//!              |
//!         polymorphic: anyelement and its like become types
//! ```
//!
//! The steps are those of the manual; where it is silent, those of PostgreSQL 15's parser.

mod candidate;
mod coercion;
mod common_type;
mod function;
mod operator;
mod polymorphic;

pub use coercion::{Via, can_coerce, coercion};
pub use common_type::{Mismatch, common_type};
pub use function::{FunctionCall, Resolved, function};
pub use operator::{OperatorCall, operator};

/// Why no candidate was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No candidate accepts these arguments (42883).
    None,
    /// Several accept them, and none is best (42725).
    Ambiguous,
    /// A candidate accepts them, but they do not determine its pseudo-types (42804).
    Undetermined,
}
