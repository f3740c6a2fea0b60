//! The functions that programs may call. A trait, because the embedding program can add functions to those of
//! [`Builtins`].

use builtins::{Accumulator, EvalError, FuncId, Function, Ty};
use std::fmt;
use std::sync::Arc;
use types::{CompareOp, Datum};

/// The functions that a statement may call.
pub trait Functions {
    /// The entry of a function.
    fn function(&self, id: FuncId) -> Option<&Function>;

    /// An implementation for arguments of these types, if the function's entry has none; `None` if only DataFusion has
    /// one.
    fn outside(&self, id: FuncId, args: &[Ty], returns: Ty) -> Option<OutsideBody>;

    /// The predicate that a function implements, if key ranges can express it.
    fn test(&self, id: FuncId) -> Option<Test>;

    /// A new accumulator of an aggregate; `None` if only DataFusion implements it.
    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>>;
}

/// An implementation outside of `builtins`. It is called with all arguments, including NULLs.
#[derive(Clone)]
pub struct OutsideBody(Arc<Body>);

type Body = dyn Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync;

impl OutsideBody {
    /// Wraps a function.
    pub fn new(body: impl Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(body))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Errors of the function.
    pub(crate) fn call(&self, args: &[Datum]) -> Result<Datum, EvalError> {
        (self.0)(args)
    }
}

impl fmt::Debug for OutsideBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutsideBody")
    }
}

/// Predicates that key ranges can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Compares two values like [`types::compare::compare`].
    Compare(CompareOp),
    /// `text LIKE pattern`, with a backslash as escape character.
    Like,
}

/// The built-in functions.
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
