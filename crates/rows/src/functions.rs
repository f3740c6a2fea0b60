//! What programs ask about functions. [`Builtins`] answers from the table; functions of the embedding program are beside
//! it, which is why this is a trait.

use builtins::{Accumulator, EvalError, FuncId, Function, Ty};
use std::fmt;
use std::sync::Arc;
use types::{CompareOp, Datum};

/// The functions that a statement may call.
pub trait Functions {
    /// A function's line.
    fn function(&self, id: FuncId) -> Option<&Function>;

    /// What computes a function for arguments of these types where its line has no body; `None`: DataFusion does.
    fn outside(&self, id: FuncId, args: &[Ty], returns: Ty) -> Option<OutsideBody>;

    /// What a function tests, if key ranges can express that.
    fn test(&self, id: FuncId) -> Option<Test>;

    /// A new accumulator of an aggregate; `None`: DataFusion computes it.
    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>>;
}

/// A body that is written outside of `builtins`. It is called with as many values as the function has arguments, NULLs too.
#[derive(Clone)]
pub struct OutsideBody(Arc<Body>);

type Body = dyn Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync;

impl OutsideBody {
    /// A body.
    pub fn new(body: impl Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(body))
    }

    /// The value for these arguments.
    ///
    /// # Errors
    /// The function's.
    pub(crate) fn call(&self, args: &[Datum]) -> Result<Datum, EvalError> {
        (self.0)(args)
    }
}

impl fmt::Debug for OutsideBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutsideBody")
    }
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

    fn outside(&self, _: FuncId, _: &[Ty], _: Ty) -> Option<OutsideBody> {
        None
    }

    fn test(&self, id: FuncId) -> Option<Test> {
        if let Some(op) = builtins::comparison(id) {
            return Some(Test::Compare(op));
        }
        // LIKE is the operator `~~`.
        builtins::operators_named("~~").iter().any(|operator| operator.function == id.0).then_some(Test::Like)
    }

    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>> {
        builtins::accumulator(id)
    }
}
