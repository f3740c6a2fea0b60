//! Functions that row programs may call: those of `builtins`, and those that `query` evaluates row by row.

use builtins::{Accumulator, FuncId, Function, Ty};
use query::Planner;
use rows::{Builtins, Functions, OutsideBody, Test};

/// All functions of the engine.
pub(crate) struct SqlFunctions<'a>(pub(crate) &'a Planner);

impl Functions for SqlFunctions<'_> {
    fn function(&self, id: FuncId) -> Option<&Function> {
        Builtins.function(id)
    }

    fn outside(&self, id: FuncId, args: &[Ty], returns: Ty) -> Option<OutsideBody> {
        self.0.row_body(id, args, returns).map(OutsideBody::new)
    }

    fn test(&self, id: FuncId) -> Option<Test> {
        Builtins.test(id)
    }

    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>> {
        Builtins.accumulator(id)
    }
}
