//! Queries that are computed once, however often their rows are read.
//!
//! DataFusion computes the query of WITH wherever it is read, and a subquery's outer rows are read a second time where the
//! subquery is joined to them. That gives the same rows each time, but for what `random()`, `nextval()` and their like are
//! in: PostgreSQL computes these once.
//!
//! ```text
//!   lower   CteBody::Materialized becomes MaterializedCte
//!   run     every MaterializedCte of a number has the rows that the first of them keeps     fresh, exec::KeptRowsExec
//! ```

use super::stop::step;
use crate::error::QueryResult;
use crate::exec::{KeptRows, only_input};
use crate::functions::is_nullable;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};

/// May it have other rows when it is computed again?
pub(super) fn is_volatile(plan: &LogicalPlan) -> bool {
    let mut found = false;
    // An error is that the statement was stopped, which its planning hears too.
    let _ = plan.apply_with_subqueries(|node| {
        step()?;
        if materialized_cte(node).is_some() {
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

/// The plan with one place for the rows of each [`MaterializedCte`], empty yet.
///
/// # Errors
/// None of a plan that is one.
pub(super) fn fresh(plan: &LogicalPlan) -> QueryResult<Option<LogicalPlan>> {
    let mut any = false;
    plan.apply_with_subqueries(|node| {
        any |= materialized_cte(node).is_some();
        Ok(if any { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if !any {
        return Ok(None);
    }
    let mut places: HashMap<u64, Arc<KeptRows>> = HashMap::new();
    let fresh = plan.clone().transform_down_with_subqueries(|node| {
        let Some(known) = materialized_cte(&node) else { return Ok(Transformed::no(node)) };
        let rows = places.entry(known.number).or_default();
        let own = MaterializedCte { rows: Some(Arc::clone(rows)), ..known.clone() };
        Ok(Transformed::yes(LogicalPlan::Extension(Extension { node: Arc::new(own) })))
    });
    Ok(Some(fresh.data()?))
}

/// Rows that all copies of this node share.
pub(super) fn materialized(input: LogicalPlan) -> LogicalPlan {
    materialized_as(next_number(), input)
}

/// Rows that all copies of that number share.
pub(crate) fn materialized_as(number: u64, input: LogicalPlan) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(MaterializedCte { number, input, rows: None }) })
}

/// A plan may have those of views in it, so no two plans have the same number.
pub(crate) fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, atomic::Ordering::Relaxed)
}

/// Has it rows that others read as well?
pub(crate) fn is_materialized_cte(node: &LogicalPlan) -> bool {
    materialized_cte(node).is_some()
}

fn materialized_cte(node: &LogicalPlan) -> Option<&MaterializedCte> {
    match node {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

/// A query that is computed by the first that reads it, for all of its number.
#[derive(Clone, Debug)]
pub(super) struct MaterializedCte {
    number: u64,
    input: LogicalPlan,
    /// Where its rows are kept, in a plan that runs.
    pub(super) rows: Option<Arc<KeptRows>>,
}

impl PartialEq for MaterializedCte {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && self.input == other.input
    }
}

impl Eq for MaterializedCte {}

impl PartialOrd for MaterializedCte {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for MaterializedCte {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for MaterializedCte {
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
        let input = only_input(inputs)?;
        Ok(Self { input, ..self.clone() })
    }
}

/// The same for what DataFusion hands out.
pub(super) fn downcast(node: &dyn UserDefinedLogicalNode) -> Option<&MaterializedCte> {
    node.as_any().downcast_ref()
}
