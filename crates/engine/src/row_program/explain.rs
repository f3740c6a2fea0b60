//! EXPLAIN of row programs.

use super::RowProgram;
use super::run::finished;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::statement::explain::{Explained, planning_time};
use bind::tree::Bound;
use rows::{Builtins, Input, RowsError};
use std::time::Instant;

impl Session {
    /// The program's lines; `None`: the program exceeds its budget, and the plan runs instead.
    pub(crate) async fn explain_rows(
        &mut self,
        rows: &RowProgram,
        explained: &Explained<'_>,
    ) -> EngineResult<Option<Vec<String>>> {
        let Some(bound) = &rows.bound else {
            return fail(Fault::Internal { detail: "a row program that is not to be explained".to_owned() });
        };
        let Explained { explain, view, compiling, params, .. } = explained;
        let (env, limits, guard) = (self.row_environment(), self.row_limits(), self.running());
        let input = Input { view, env: &env, params, limits };
        let began = Instant::now();
        let mut lines = if explain.analyze {
            let work = async {
                match rows.program.analyze(&Builtins, input).await {
                    Ok((_, made)) => Ok(Some(made)),
                    Err(RowsError::OverBudget) => Ok(None),
                    Err(error) => finished(Err(error)).map(|_| None),
                }
            };
            match guard.stoppable(work).await? {
                Some(made) => rows.program.explain(bound, input, Some(&made), explain.costs).await,
                None => return Ok(None),
            }
        } else {
            rows.program.explain(bound, input, None, explain.costs).await
        };
        if explain.verbose {
            lines.push("Executor: row program".to_owned());
        }
        lines.extend(planning_time(explain, *compiling));
        if explain.analyze && explain.timing && explain.summary.unwrap_or(true) {
            lines.push(format!("Execution Time: {:.3} ms", began.elapsed().as_secs_f64() * 1000.0));
        }
        Ok(Some(lines))
    }
}

/// The bound query, which EXPLAIN needs for names. Kept only for EXPLAIN.
pub(super) fn kept(bound: &Bound, explaining: bool) -> Option<Box<Bound>> {
    explaining.then(|| Box::new(bound.clone()))
}
