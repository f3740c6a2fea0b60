//! Queries that are computed once, however often their rows are read.
//!
//! The planner puts the query of WITH wherever its name stands, and a subquery's outer rows are read a second time
//! where the subquery is joined to them. That gives the same rows each time, but for what `random()`, `nextval()` and
//! their like are in: PostgreSQL computes these once.
//!
//! ```text
//!   text    WITH r AS (q)         becomes   WITH r AS (SELECT * FROM (q) AS "with 1")       mark
//!   plan    SubqueryAlias with 1  becomes   SubqueryAlias with 1 over Once                  share
//!   run     every Once of a number has the rows that the first of them keeps                fresh, exec::KeptRowsExec
//! ```

use super::names::MARK;
use super::set_functions;
use super::stop::step;
use crate::error::QueryResult;
use crate::exec::KeptRows;
use crate::functions::is_nullable;
use crate::pg_semantics::is_work_table;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result, internal_err};
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, SubqueryAlias, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use sql::ast::{self, Cte, Ident, ObjectName, Query, SetExpr, Statement, TableFactor, VisitMut, VisitorMut};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};

/// What the names of marked queries begin with.
const WITH: &str = "with ";

/// Marks the queries of WITH that are read more than once, where a function is called that is volatile.
pub(super) fn mark(statement: &mut Statement, is_volatile: impl Fn(&str) -> bool) {
    let mut readers = Readers { is_volatile, volatile: false, counts: HashMap::new() };
    let _ = statement.visit(&mut readers);
    if readers.volatile {
        let _ = statement.visit(&mut Marker { counts: readers.counts, marked: 0 });
    }
}

/// How often each name is read.
struct Readers<F> {
    is_volatile: F,
    volatile: bool,
    counts: HashMap<String, usize>,
}

impl<F: Fn(&str) -> bool> VisitorMut for Readers<F> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        *self.counts.entry(name.to_string()).or_default() += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::Function(function) = expr {
            self.volatile |= (self.is_volatile)(&function.name.to_string());
        }
        ControlFlow::Continue(())
    }
}

struct Marker {
    counts: HashMap<String, usize>,
    marked: usize,
}

impl VisitorMut for Marker {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let Some(with) = &mut query.with else { return ControlFlow::Continue(()) };
        for cte in &mut with.cte_tables {
            let name = cte.alias.name.to_string();
            // A recursive term reads again and again.
            let often = with.recursive || self.counts.get(&name).is_some_and(|count| *count > 1);
            if often && !(with.recursive && reads(&mut cte.query, &name)) {
                self.marked += 1;
                wrap(cte, self.marked);
            }
        }
        ControlFlow::Continue(())
    }
}

fn reads(query: &mut Query, name: &str) -> bool {
    let mut readers = Readers { is_volatile: |_: &str| false, volatile: false, counts: HashMap::new() };
    let _ = query.visit(&mut readers);
    readers.counts.contains_key(name)
}

fn wrap(cte: &mut Cte, number: usize) {
    let Some(mut outer) = set_functions::parse("SELECT * FROM (SELECT 1) AS _with") else { return };
    let SetExpr::Select(select) = outer.body.as_mut() else { return };
    let Some(TableFactor::Derived { subquery, alias: Some(alias), .. }) =
        select.from.first_mut().map(|from| &mut from.relation)
    else {
        return;
    };
    alias.name = Ident::with_quote('"', format!("{MARK}{WITH}{number}"));
    alias.columns = cte.alias.columns.clone();
    std::mem::swap(subquery, &mut cte.query);
    cte.query = outer;
}

/// Puts [`Once`] over marked queries that are volatile, and depend on nothing outside.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn share(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut numbers: HashMap<String, u64> = HashMap::new();
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. })
            if is_mark(alias.table()) && is_volatile(&input) && !is_dependent(&input) =>
        {
            let number = *numbers.entry(alias.table().to_owned()).or_insert_with(next_number);
            let once = numbered(number, Arc::unwrap_or_clone(input));
            Ok(Transformed::yes(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(once), alias)?)))
        }
        node => Ok(Transformed::no(node)),
    })
    .data()
}

fn is_mark(alias: &str) -> bool {
    alias.strip_prefix(MARK).is_some_and(|name| name.starts_with(WITH))
}

/// Does it read outer rows, or what a recursive query has found so far?
fn is_dependent(plan: &LogicalPlan) -> bool {
    let mut found = false;
    // The visitors return no error of their own.
    let _ = plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::TableScan(scan) if is_work_table(scan));
        node.apply_expressions(|expr| {
            found |= expr.exists(|part| Ok(matches!(part, Expr::OuterReferenceColumn(..))))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}

/// May it have other rows when it is computed again?
pub(super) fn is_volatile(plan: &LogicalPlan) -> bool {
    let mut found = false;
    // An error is that the statement was stopped, which its planning hears too.
    let _ = plan.apply_with_subqueries(|node| {
        step()?;
        if once_of(node).is_some() {
            return Ok(TreeNodeRecursion::Jump);
        }
        node.apply_expressions(|expr| {
            found |= expr.exists(|part| Ok(part.is_volatile_node() && !is_nullable(part)))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}

/// The plan with one place for the rows of each [`Once`], empty yet.
///
/// # Errors
/// None of a plan that is one.
pub(super) fn fresh(plan: &LogicalPlan) -> QueryResult<Option<LogicalPlan>> {
    let mut any = false;
    plan.apply_with_subqueries(|node| {
        any |= once_of(node).is_some();
        Ok(if any { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if !any {
        return Ok(None);
    }
    let mut places: HashMap<u64, Arc<KeptRows>> = HashMap::new();
    let fresh = plan.clone().transform_down_with_subqueries(|node| {
        let Some(known) = once_of(&node) else { return Ok(Transformed::no(node)) };
        let rows = places.entry(known.number).or_default();
        let own = Once { rows: Some(Arc::clone(rows)), ..known.clone() };
        Ok(Transformed::yes(LogicalPlan::Extension(Extension { node: Arc::new(own) })))
    });
    Ok(Some(fresh.data()?))
}

/// Rows that all copies of this node share.
pub(super) fn once(input: LogicalPlan) -> LogicalPlan {
    numbered(next_number(), input)
}

/// Rows that all copies of that number share.
pub(crate) fn once_of_number(number: u64, input: LogicalPlan) -> LogicalPlan {
    numbered(number, input)
}

fn numbered(number: u64, input: LogicalPlan) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(Once { number, input, rows: None }) })
}

/// A plan may have those of views in it, so no two plans have the same number.
pub(crate) fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, atomic::Ordering::Relaxed)
}

fn once_of(node: &LogicalPlan) -> Option<&Once> {
    match node {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

/// A query that is computed by the first that reads it, for all of its number.
#[derive(Clone, Debug)]
pub(super) struct Once {
    number: u64,
    input: LogicalPlan,
    /// Where its rows are kept, in a plan that runs.
    pub(super) rows: Option<Arc<KeptRows>>,
}

impl PartialEq for Once {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && self.input == other.input
    }
}

impl Eq for Once {}

impl PartialOrd for Once {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for Once {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for Once {
    fn name(&self) -> &str {
        "Once"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        match <[_; 1]>::try_from(inputs) {
            Ok([input]) => Ok(Self { input, ..self.clone() }),
            Err(_) => internal_err!("one input is wanted"),
        }
    }
}

/// The same for what the planner hands out.
pub(super) fn downcast(node: &dyn UserDefinedLogicalNode) -> Option<&Once> {
    node.as_any().downcast_ref()
}
