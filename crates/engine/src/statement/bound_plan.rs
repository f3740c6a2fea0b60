//! Plans of bound statements.
//!
//! ```text
//!   Query ──bind──> Bound ──query::lower──> Plan
//! ```

use crate::Session;
use crate::error::{EngineError, EngineResult};
use crate::row_program::parameters;
use crate::statement::Source;
use crate::threads::turn;
use bind::tree::Bound;
use catalog::Catalog;
use query::Plan;
use sql::ast::Query;
use std::sync::Arc;
use types::DataType;

impl Session {
    /// Binds a statement.
    ///
    /// # Errors
    /// Errors of the binder, with their positions in the text.
    pub(crate) fn bound_statement(&self, catalog: &Catalog, source: &Source) -> EngineResult<Bound> {
        self.bound(catalog, source).map_err(|error| EngineError::of_bind(&error, &source.written))
    }

    /// Plans a query, which is a statement or a part of one.
    pub(crate) async fn plan_source(&mut self, catalog: &Arc<Catalog>, source: &Source) -> EngineResult<Arc<Plan>> {
        let bound = self.bound_statement(catalog, source)?;
        let parameters = parameters(&bound, &source.types)?;
        self.lowered(catalog, &bound, parameters).await
    }

    /// Plans a query that has no text of its own and no parameters.
    pub(crate) async fn plan(&mut self, catalog: &Arc<Catalog>, query: &Query) -> EngineResult<Arc<Plan>> {
        self.plan_source(catalog, &Source::of_query(query)).await
    }

    /// Lowers a bound query to a plan.
    ///
    /// # Errors
    /// All errors of a query that are found before it runs.
    pub(crate) async fn lowered(
        &mut self,
        catalog: &Arc<Catalog>,
        bound: &Bound,
        parameters: Vec<DataType>,
    ) -> EngineResult<Arc<Plan>> {
        let context = self.planning_context(catalog).await?;
        let guard = self.running();
        let planner = Arc::clone(self.engine.planner());
        let work = turn::all_apart(async { Ok(planner.plan_bound(&context, bound, parameters).await?) });
        Ok(Arc::new(guard.stoppable(work).await?))
    }
}
