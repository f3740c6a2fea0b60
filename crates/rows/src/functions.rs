//! What programs ask about functions. [`Builtins`] answers from the table; functions of the embedding program are beside
//! it, which is why this is a trait.

use builtins::{Accumulator, Comparison, FuncId, Function};
use rowkey::range::CompareOp;

/// The functions that a statement may call.
pub trait Functions {
    /// A function's line.
    fn function(&self, id: FuncId) -> Option<&Function>;

    /// What a function tests, if key ranges can express that.
    fn test(&self, id: FuncId) -> Option<Test>;

    /// A new accumulator of an aggregate; `None`: DataFusion computes it.
    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>>;
}

/// Predicates that are known by more than their result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Compares two values as [`types::compare::compare`] does.
    Compare(CompareOp),
    /// `text LIKE pattern`, escaped by a backslash.
    Like,
}

/// What is built in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtins;

impl Functions for Builtins {
    fn function(&self, id: FuncId) -> Option<&Function> {
        builtins::function(id)
    }

    fn test(&self, id: FuncId) -> Option<Test> {
        let op = match builtins::comparison(id) {
            Some(Comparison::Equal) => CompareOp::Eq,
            Some(Comparison::NotEqual) => CompareOp::Ne,
            Some(Comparison::Less) => CompareOp::Lt,
            Some(Comparison::LessOrEqual) => CompareOp::Le,
            Some(Comparison::Greater) => CompareOp::Gt,
            Some(Comparison::GreaterOrEqual) => CompareOp::Ge,
            // LIKE is the operator `~~`.
            None => {
                let is_like = builtins::operators_named("~~").iter().any(|operator| operator.function == id.0);
                return is_like.then_some(Test::Like);
            }
        };
        Some(Test::Compare(op))
    }

    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>> {
        builtins::accumulator(id)
    }
}
