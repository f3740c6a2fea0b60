//! The query whose rows a statement writes: a program of `rows` if it reads few rows, else a plan.

use crate::Session;
use crate::error::EngineResult;
use crate::row_program::HandOvers;
use query::Plan;
use rows::{Builtins, Input, RowsError};
use std::sync::Arc;
use txn::ReadView;
use types::Datum;

/// The query of a write statement.
#[derive(Debug)]
pub(crate) struct RowSource {
    pub(crate) plan: Arc<Plan>,
    /// Returns the same rows without DataFusion, but gives up if it reads too many.
    program: Option<Box<rows::Program>>,
    handed_over: HandOvers,
}

impl RowSource {
    pub(crate) fn new(plan: Arc<Plan>, program: Option<rows::Program>) -> Self {
        Self { plan, program: program.map(Box::new), handed_over: HandOvers::default() }
    }
}

impl Session {
    /// All rows from the program. `None`: the plan must run, on the same snapshot.
    pub(crate) async fn few_rows(
        &self,
        source: &RowSource,
        view: &ReadView,
        params: &[Datum],
    ) -> EngineResult<Option<Vec<Vec<Datum>>>> {
        let Some(program) = source.program.as_ref().filter(|_| source.handed_over.may_run()) else { return Ok(None) };
        let (env, limits, guard) = (self.row_environment(), self.row_limits(), self.running());
        let input = Input { view, env: &env, params, limits };
        let work = async {
            match program.run(&Builtins, input).await {
                Ok(answer) => Ok(Some(answer.rows)),
                Err(RowsError::OverBudget) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        let rows = guard.stoppable(work).await?;
        match &rows {
            Some(_) => {
                source.handed_over.forget();
                self.engine.counters().rows.add(1);
            }
            None => {
                source.handed_over.add();
                self.engine.counters().handed_over.add(1);
            }
        }
        Ok(rows)
    }
}
