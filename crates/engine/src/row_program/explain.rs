//! EXPLAIN of row programs.

use super::RowProgram;
use super::run::finished;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::statement::explain::{Explained, planning_time, shows_execution};
use bind::tree::Bound;
use rows::{Builtins, ExplainedPlan, Input, RowsError};
use std::time::Instant;

impl Session {
    /// The program as it is shown; `None`: the program exceeds its budget, and the plan runs instead.
    pub(crate) async fn explain_rows(
        &mut self,
        rows: &RowProgram,
        explained: &Explained<'_>,
    ) -> EngineResult<Option<ExplainedPlan>> {
        let Some(bound) = &rows.bound else {
            return fail(Fault::Internal { detail: "a row program that is not to be explained".to_owned() });
        };
        let Explained { explain, view, compiling, params, .. } = explained;
        let (env, limits, guard) = (self.row_environment(), self.row_limits(), self.running());
        let input = Input { view, env: &env, params, limits };
        let began = Instant::now();
        let costs = explain.shows_costs();
        let roots = if explain.analyze {
            let work = async {
                match rows.program.analyze(&Builtins, input).await {
                    Ok((_, made)) => Ok(Some(made)),
                    Err(RowsError::OverBudget) => Ok(None),
                    Err(error) => finished(Err(error)).map(|_| None),
                }
            };
            match guard.stoppable(work).await? {
                Some(made) => rows.program.explain(bound, input, Some(&made), costs).await,
                None => return Ok(None),
            }
        } else {
            rows.program.explain(bound, input, None, costs).await
        };
        Ok(Some(ExplainedPlan {
            roots,
            executor: explain.verbose.then_some("row program"),
            planning: planning_time(explain, *compiling),
            execution: shows_execution(explain).then(|| began.elapsed()),
        }))
    }
}

/// The bound query, which EXPLAIN needs for names. Kept only for EXPLAIN.
pub(super) fn kept(bound: &Bound, explaining: bool) -> Option<Box<Bound>> {
    explaining.then(|| Box::new(bound.clone()))
}
