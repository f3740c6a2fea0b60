//! Plans of the bound tree.
//!
//! ```text
//!   Query ──bind──> Bound ──query::lower──> Plan
//!     a form that is not built yet: a plan of the syntax
//! ```

use crate::error::{EngineResult, Fault, fail};
use crate::plan_cache::columns_of;
use crate::row_program::parameters;
use crate::statement::Source;
use crate::{Answer, Session, stream, turn};
use catalog::Catalog;
use query::{LowerError, Plan, PlanSource};
use sql::ast::Query;
use std::sync::Arc;
use txn::ReadView;
use types::Datum;

/// Which queries are planned from the bound tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum BinderMode {
    /// None.
    #[default]
    Off,
    /// All that can be.
    Auto,
    /// All that can be, and a plan of the syntax must have equal columns.
    Compare,
}

impl Session {
    /// Plans a statement that is a query.
    pub(crate) async fn plan_source(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
        query: &Query,
    ) -> EngineResult<Arc<Plan>> {
        let mode = self.settings.effective().binder;
        if mode == BinderMode::Off {
            return self.plan(catalog, query, &source.types).await;
        }
        match self.plan_of_bound(catalog, source).await? {
            Ok(mut plan) if mode == BinderMode::Compare && !plan.is_volatile() => {
                let twin = self.plan(catalog, query, &source.types).await?;
                if let Some(detail) = unlike(&plan, &twin) {
                    return fail(Fault::PlansDiffer { detail });
                }
                plan.twin = Some(twin);
                Ok(Arc::new(plan))
            }
            Ok(plan) => Ok(Arc::new(plan)),
            Err(why) => {
                let plan = self.plan(catalog, query, &source.types).await?;
                let mut plan = Arc::unwrap_or_clone(plan);
                plan.source = PlanSource::Syntax(Some(why));
                Ok(Arc::new(plan))
            }
        }
    }

    /// The rows of a plan, which those of its twin must equal, in whatever order.
    pub(crate) async fn answer_compared(
        &mut self,
        plan: &Arc<Plan>,
        view: ReadView,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let twin = plan.twin.as_ref().unwrap_or(plan);
        let mut answers = Vec::with_capacity(2);
        for plan in [plan, twin] {
            let (context, memory) = (self.query_context(view.clone()), self.hold_rows());
            answers.push(self.collect(context, Arc::clone(plan), params.to_vec(), memory).await);
        }
        let mut outcomes = answers.iter().map(outcome);
        if let (Some(one), Some(other)) = (outcomes.next(), outcomes.next())
            && one != other
        {
            return fail(Fault::PlansDiffer { detail: format!("{one:.1000} and {other:.1000}") });
        }
        drop(outcomes);
        let rows = answers.swap_remove(0)?;
        Ok(Answer::Rows(stream::ready(Arc::new(columns_of(plan)), rows, "SELECT")))
    }

    /// The plan of the bound tree, or why there is none.
    async fn plan_of_bound(&mut self, catalog: &Arc<Catalog>, source: &Source) -> EngineResult<Result<Plan, Arc<str>>> {
        let bound = match self.bound(catalog, source) {
            Ok(bound) => bound,
            Err(error) => return Ok(Err(Arc::from(error.to_string()))),
        };
        if self.calls_own_functions(&bound) {
            return Ok(Err(Arc::from("a function of the embedding program")));
        }
        let Some(types) = parameters(&bound, &source.types) else {
            return Ok(Err(Arc::from("a parameter of a type without values")));
        };
        let context = self.planning_context(catalog).await?;
        let guard = self.running();
        let planner = Arc::clone(self.engine.planner());
        let work = turn::all_apart(async {
            match planner.plan_bound(&context, &bound, types).await {
                Ok(plan) => Ok(Ok(plan)),
                Err(LowerError::NotBuilt { what }) => Ok(Err(Arc::from(format!("{what} is not lowered yet")))),
                Err(LowerError::Query(error)) => Err(error.into()),
            }
        });
        let planned = guard.stoppable(work).await?;
        if planned.is_ok() {
            self.engine.counters().lowered.add(1);
        }
        Ok(planned)
    }
}

/// What of an answer is compared: its rows in any order, or its SQLSTATE.
fn outcome(answer: &EngineResult<Vec<Vec<Datum>>>) -> String {
    match answer {
        Ok(rows) => {
            let mut shown: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            shown.sort();
            shown.join(", ")
        }
        Err(error) => error.code().to_owned(),
    }
}

/// What of two plans' columns and parameters is not the same.
fn unlike(plan: &Plan, twin: &Plan) -> Option<String> {
    let told = |plan: &Plan| -> Vec<String> {
        plan.columns.iter().map(|column| format!("{} {}", column.name, column.ty)).collect()
    };
    let (columns, others) = (told(plan), told(twin));
    if columns != others {
        return Some(format!("columns {columns:?} and {others:?}"));
    }
    (plan.parameters != twin.parameters).then(|| format!("parameters {:?} and {:?}", plan.parameters, twin.parameters))
}
