//! Plans of the bound tree.
//!
//! ```text
//!   Query ──bind──> Bound ──query::lower──> Plan
//!     │               └── not lowered yet: a plan of the syntax
//!     └── not built yet: a plan of the syntax; any other error is the statement's
//! ```

use crate::error::{EngineResult, Fault, fail};
use crate::plan_cache::columns_of;
use crate::row_program::parameters;
use crate::statement::Source;
use crate::{Answer, EngineError, Session, stream, turn};
use bind::BindError;
use bind::tree::Bound;
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
    Off,
    /// All that can be.
    #[default]
    Auto,
    /// All that can be, and a plan of the syntax must have equal columns.
    Compare,
}

impl Session {
    /// Plans a statement that is a query. An error of the binder is the statement's, unless it says that a form is not
    /// built: then the syntax is planned.
    pub(crate) async fn plan_source(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
        query: &Query,
        bound: Result<Bound, BindError>,
    ) -> EngineResult<Arc<Plan>> {
        let mode = self.settings.effective().binder;
        // What catalogs mean is known to the binder only.
        let catalogs = matches!(&bound, Ok(bound) if bound.facts.catalogs);
        if mode == BinderMode::Off && !catalogs {
            return self.plan(catalog, query, &source.types).await;
        }
        let planned = match bound {
            Ok(bound) => self.plan_of_bound(catalog, source, &bound).await?,
            Err(error) if error.is_not_built() => Err(Arc::from(error.to_string())),
            Err(error) => {
                let error = EngineError::of_bind(&error, source);
                return match mode {
                    BinderMode::Compare => self.compared_error(catalog, source, query, error).await,
                    _ => Err(error),
                };
            }
        };
        match planned {
            Ok(mut plan) if mode == BinderMode::Compare && !catalogs && !plan.is_volatile() => {
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

    /// The error of the binder, if the syntax has one of the same SQLSTATE.
    async fn compared_error(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
        query: &Query,
        error: EngineError,
    ) -> EngineResult<Arc<Plan>> {
        let other = match self.plan(catalog, query, &source.types).await {
            Ok(_) => "no error".to_owned(),
            Err(other) if other.code() == error.code() => return Err(error),
            Err(other) => format!("{other:?}"),
        };
        fail(Fault::PlansDiffer { detail: format!("{error:?} and {other}") })
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
    async fn plan_of_bound(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
        bound: &Bound,
    ) -> EngineResult<Result<Plan, Arc<str>>> {
        let Some(types) = parameters(bound, &source.types) else {
            return Ok(Err(Arc::from("a parameter of a type without values")));
        };
        let context = self.planning_context(catalog).await?;
        let guard = self.running();
        let planner = Arc::clone(self.engine.planner());
        let work = turn::all_apart(async {
            match planner.plan_bound(&context, bound, types).await {
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
