//! Queries that are part of a statement (CREATE TABLE AS, COPY, CREATE VIEW, row sets of writes), planned from the bound
//! tree.

use crate::bound_plan::BinderMode;
use crate::error::{EngineError, EngineResult};
use crate::row_program::parameters;
use crate::statement::Source;
use crate::{Session, turn};
use bind::tree::Bound;
use catalog::Catalog;
use query::{LowerError, Plan};
use sql::ast::Query;
use std::sync::Arc;
use types::DataType;

impl Session {
    /// Plans a query of a statement; `source` is [`Source::part`].
    pub(crate) async fn plan_part(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Source,
        query: &Query,
    ) -> EngineResult<Arc<Plan>> {
        if let Some(bound) = self.bound_part(catalog, source)?
            && let Some(parameters) = parameters(&bound, &source.types)
            && let Some(plan) = self.lowered(catalog, &bound, parameters).await?
        {
            return Ok(plan);
        }
        self.plan(catalog, query, &source.types).await
    }

    /// A statement, or a query of one, with its meaning; `None`: it is planned from its syntax.
    pub(crate) fn bound_part(&self, catalog: &Catalog, source: &Source) -> EngineResult<Option<Bound>> {
        let by_binder = self.settings.effective().binder == BinderMode::Auto;
        match self.bound(catalog, source) {
            Ok(bound) if !by_binder && !bound.facts.catalogs => Ok(None),
            Err(_) if !by_binder => Ok(None),
            Ok(bound) => Ok(Some(bound)),
            Err(error) if error.is_not_built() => Ok(None),
            Err(error) => Err(EngineError::of_bind(&error, source)),
        }
    }

    /// The plan of a bound query; `None`: it is not lowered yet.
    pub(crate) async fn lowered(
        &mut self,
        catalog: &Arc<Catalog>,
        bound: &Bound,
        parameters: Vec<DataType>,
    ) -> EngineResult<Option<Arc<Plan>>> {
        let context = self.planning_context(catalog).await?;
        let guard = self.running();
        let planner = Arc::clone(self.engine.planner());
        let work = turn::all_apart(async {
            match planner.plan_bound(&context, bound, parameters).await {
                Ok(plan) => Ok(Some(Arc::new(plan))),
                Err(LowerError::NotBuilt { .. }) => Ok(None),
                Err(LowerError::Query(error)) => Err(error.into()),
            }
        });
        let plan = guard.stoppable(work).await?;
        if plan.is_some() {
            self.engine.counters().lowered.add(1);
        }
        Ok(plan)
    }
}
