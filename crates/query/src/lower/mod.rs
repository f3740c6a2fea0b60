//! Lowers the bound tree to DataFusion's logical plan.
//!
//! ```text
//!   Bound ──lower──> LogicalPlan ──decorrelation──> optimized Plan
//! ```
//! `bind` has resolved names, types and functions; no lookup happens here. Plan nodes are built by their own
//! constructors. A column is identified by its [`ColId`]: a table's column has the table's qualifier (`t`, the next
//! table of that name `t_1`), any other column the qualifier [`COMPUTED`] and a name that is unique in the statement.
//!
//! Where DataFusion's semantics differ from PostgreSQL's, each expression is adapted when it is built: intervals are
//! compared by their lengths, floats lose the sign of zero, `char(n)` is padded where its blanks count, casts and calls
//! that depend on the session's time zone name it, `now()` is a parameter. No later pass over the plan does that.
//!
//! Every bound tree can be lowered. A built-in function without an implementation is refused (0A000); a tree that the
//! binder never builds is an internal error (XX000).

mod budget;
mod columns;
mod error;
mod index_exprs;
mod output;
mod rel;
mod row_exprs;
mod scalar;

pub(crate) use rel::recursive::is_work_table;
pub(crate) use rel::window_calls::check_windows;
pub use row_exprs::RowInput;
pub(crate) use scalar::call::{LOWERED_OTHERWISE, operator_name, parameter_type, planned_name, prefix_function};
pub(crate) use scalar::zone::depends_on_zone;

use crate::context::QueryContext;
use crate::error::QueryResult;
use crate::functions::Zone;
use crate::plan::{Plan, Planner, guarded};
use ::bind::tree::{Body, Bound, ColId, Cte, CteId, Rel};
use budget::bounded;
use columns::Columns;
use datafusion::common::DFSchemaRef;
use datafusion::logical_expr::{Expr, LogicalPlan};
use error::{LowerResult, internal};
use rel::{computed, recursive, shared_ctes};
use scalar::constant;
use std::collections::{HashMap, HashSet};
use std::time::Instant;
use types::DataType;

/// The qualifier of all columns that are not a table's.
pub(crate) const COMPUTED: &str = "#";

/// Lowers one statement.
struct Lowering<'a> {
    planner: &'a Planner,
    cx: &'a QueryContext,
    bound: &'a Bound,
    ctes: &'a [Cte],
    columns: Columns,
    /// The schemas of the enclosing queries, the innermost last.
    outer: Vec<DFSchemaRef>,
    /// The `Either` CTEs that are materialized.
    shared_ctes: HashSet<CteId>,
    /// The numbers of the materialized CTEs.
    cte_numbers: HashMap<CteId, u64>,
    /// The number of lowered CTE references.
    cte_reads: usize,
    /// The recursive queries being lowered, with their work tables.
    work_tables: HashMap<CteId, recursive::WorkTable>,
    /// The table providers of computed relations.
    providers: computed::Providers,
    /// Is a function of the session called?
    calls_bound: bool,
    /// Does the plan stand for plans with constants in place of its parameters?
    needs_values: bool,
    /// The session's time zone and style, if they are not the defaults.
    zone: Option<Zone>,
}

impl Planner {
    /// Plans a bound query. `parameters` are the types of its parameters.
    ///
    /// # Errors
    /// All errors of planning.
    pub async fn plan_bound(&self, cx: &QueryContext, bound: &Bound, parameters: Vec<DataType>) -> QueryResult<Plan> {
        guarded(Box::pin(async {
            let Body::Query(query) = &bound.body else { return internal("a statement that is no query") };
            let tables = bound.needs.relations.keys().filter_map(|oid| cx.catalog.table_by_oid(*oid));
            self.lower_indexes(cx, tables.cloned());
            let began = Instant::now();
            let mut lowering = Lowering::new(self, cx, bound, &query.ctes);
            lowering.shared_ctes = shared_ctes::of(query);
            lowering.providers = computed::providers(cx, bound).await?;
            let lower = || lowering.query(query).and_then(|plan| self.without_subqueries(cx, plan));
            let plan = bounded(&cx.stop, lower)?;
            let (cacheable, needs_values) = (!lowering.calls_bound, lowering.needs_values);
            let lower = began.elapsed();
            let mut plan = self.finish_bound(cx, bound, query, plan, parameters, cacheable)?;
            plan.phases.lower = lower;
            plan.needs_values = needs_values;
            self.note_phases(plan.phases);
            Ok(plan)
        }))
        .await
    }
}

impl<'a> Lowering<'a> {
    fn new(planner: &'a Planner, cx: &'a QueryContext, bound: &'a Bound, ctes: &'a [Cte]) -> Self {
        Self {
            planner,
            cx,
            bound,
            ctes,
            columns: Columns::default(),
            outer: Vec::new(),
            shared_ctes: HashSet::new(),
            cte_numbers: HashMap::new(),
            cte_reads: 0,
            work_tables: HashMap::new(),
            providers: computed::Providers::new(),
            calls_bound: false,
            needs_values: false,
            zone: Zone::of_session(&cx.zone_name, cx.time_zone),
        }
    }

    /// The query, projected to its outputs.
    fn query(&mut self, query: &::bind::tree::Query) -> LowerResult<LogicalPlan> {
        let plan = self.rel(&query.rel)?;
        self.outputs(plan, &query.outputs)
    }

    /// The SQL type of a column; `None` for a row type.
    fn type_of(&self, col: ColId) -> Option<DataType> {
        self.bound.col(col).and_then(|info| constant::value_type(info.ty).ok()).map(DataType::unlimited)
    }

    /// An operand of an aggregate or window function over the rows of `input`. DataFusion requires some operands to be
    /// literals.
    fn operand(&self, col: ColId, input: &Rel) -> LowerResult<Expr> {
        match constant::constant_column(input, col) {
            Some((value, ty)) => constant::constant(value, ty),
            None => Ok(Expr::Column(self.columns.get(col)?.clone())),
        }
    }
}
