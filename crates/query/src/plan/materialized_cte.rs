//! Materialized queries: computed once, however many nodes read them.
//!
//! DataFusion computes a CTE once per reference, and the outer rows of a correlated subquery are read twice when the
//! subquery is joined. The rows are the same each time, unless the query is volatile (`random()`, `nextval()`);
//! PostgreSQL computes those once.
//!
//! ```text
//!   lower   CteBody::Materialized becomes MaterializedCte
//!   run     all MaterializedCte nodes of a number share the rows of the first     fresh, exec::KeptRowsExec
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

/// May the plan return other rows when it is computed again?
pub(super) fn is_volatile(plan: &LogicalPlan) -> bool {
    let mut found = false;
    // The only error is a cancelled statement, which planning reports itself.
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

/// Gives the [`MaterializedCte`] nodes of each number new, empty storage; `None` if there are none.
///
/// # Errors
/// None for a valid plan.
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

/// Materializes rows that all copies of this node share.
pub(super) fn materialized(input: LogicalPlan) -> LogicalPlan {
    materialized_as(next_number(), input)
}

/// Materializes rows that all nodes of that number share.
pub(crate) fn materialized_as(number: u64, input: LogicalPlan) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(MaterializedCte { number, input, rows: None }) })
}

/// Numbers are unique across plans, because the plan of a view may be embedded in another one.
pub(crate) fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, atomic::Ordering::Relaxed)
}

/// Is it a materialized query?
pub(crate) fn is_materialized_cte(node: &LogicalPlan) -> bool {
    materialized_cte(node).is_some()
}

fn materialized_cte(node: &LogicalPlan) -> Option<&MaterializedCte> {
    match node {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

/// A query that is computed by its first reader, for all nodes of its number.
#[derive(Clone, Debug)]
pub(super) struct MaterializedCte {
    number: u64,
    input: LogicalPlan,
    /// The storage of its rows, in an executing plan.
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
    // With the input: the optimizer ends when a pass leaves the hash of the plan as it was.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
        self.input.hash(state);
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

/// Downcasts DataFusion's node type.
pub(super) fn downcast(node: &dyn UserDefinedLogicalNode) -> Option<&MaterializedCte> {
    node.as_any().downcast_ref()
}
