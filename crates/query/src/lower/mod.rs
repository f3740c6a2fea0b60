//! The bound tree to DataFusion's logical plan.
//!
//! ```text
//!   Bound ──lower──> LogicalPlan ──decorrelation──> optimised Plan
//! ```
//! Names, types and functions were resolved by `bind`; nothing here looks one up again. Nodes are made by their own
//! constructors. A column is found by its [`ColId`]: a table's has the table's qualifier (`t`, the next of that name
//! `t_1`), every other one the qualifier [`COMPUTED`] and a name that no other column of the statement has.
//!
//! Values get the form that DataFusion's operators want of PostgreSQL's types where the expression is made: intervals that
//! are compared are their lengths, floats lose the sign of zero, `char(n)` is padded where its blanks count, casts and
//! calls that depend on the session's zone name it, `now()` is a parameter. No pass goes over the plan for that later.
//!
//! All that the binder makes has a form here. A function of the list of built-ins without a planned one is refused (0A000); a
//! tree that the binder does not make is a defect (XX000).

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

/// The qualifier of all columns that are no table's.
pub(crate) const COMPUTED: &str = "#";

/// Lowers one statement.
struct Lowering<'a> {
    planner: &'a Planner,
    cx: &'a QueryContext,
    bound: &'a Bound,
    ctes: &'a [Cte],
    columns: Columns,
    /// Rows of queries around the place, the innermost last.
    outer: Vec<DFSchemaRef>,
    /// Queries of WITH that are computed once though they need not be.
    shared_ctes: HashSet<CteId>,
    /// Numbers of queries of WITH that are computed once.
    cte_numbers: HashMap<CteId, u64>,
    /// How many queries of WITH were lowered, each as often as it is read.
    cte_reads: usize,
    /// Recursive queries that are lowered: what their second terms read.
    work_tables: HashMap<CteId, recursive::WorkTable>,
    /// What is behind computed relations.
    providers: computed::Providers,
    /// Is a function called that is bound to the session?
    calls_bound: bool,
    /// The session's zone and style, if they are not UTC and PostgreSQL's own.
    zone: Option<Zone>,
}

impl Planner {
    /// Plans a bound query. `parameters` are the types of its parameters.
    ///
    /// # Errors
    /// All that can be wrong with a query before it runs.
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
            let cacheable = !lowering.calls_bound;
            let lower = began.elapsed();
            let mut plan = self.finish_bound(cx, bound, query, plan, parameters, cacheable)?;
            plan.phases.lower = lower;
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
            zone: Zone::of_session(&cx.zone_name, cx.time_zone),
        }
    }

    /// The query with its outputs on top.
    fn query(&mut self, query: &::bind::tree::Query) -> LowerResult<LogicalPlan> {
        let plan = self.rel(&query.rel)?;
        self.outputs(plan, &query.outputs)
    }

    /// The type of a column's values; `None` of rows.
    fn type_of(&self, col: ColId) -> Option<DataType> {
        self.bound.col(col).and_then(|info| constant::value_type(info.ty).ok()).map(DataType::unlimited)
    }

    /// An operand of an aggregate or a window function over the rows of `input`: DataFusion wants some written out.
    fn operand(&self, col: ColId, input: &Rel) -> LowerResult<Expr> {
        match constant::constant_column(input, col) {
            Some((value, ty)) => constant::constant(value, ty),
            None => Ok(Expr::Column(self.columns.get(col)?.clone())),
        }
    }
}
