//! Stops a cancelled statement within a batch, in joins and in pattern matching.
//!
//! A statement stops where its task yields. A join tries all pairs of two batches before it yields, and its condition
//! may reject millions of them. So the condition itself checks, once per batch of pairs. A regular expression matches a
//! text in a single call; it is replaced by a function that matches long texts in steps.

use crate::error::{QueryError, QueryResult};
use crate::functions::{like_match, regex_search};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use types::interrupt;

/// The cost of visiting a plan node, in units of `types::interrupt`.
const STEP: usize = 1 << 10;

/// Tells whether a statement must stop: cancelled, or timed out.
pub trait Stop: fmt::Debug + Send + Sync {
    /// Must the statement stop?
    fn is_stopped(&self) -> bool;
}

/// Stops planning between two of its steps.
///
/// # Errors
/// [`QueryError::Stopped`].
pub(super) fn check(stop: &Arc<dyn Stop>) -> QueryResult<()> {
    if stop.is_stopped() { Err(QueryError::Stopped) } else { Ok(()) }
}

/// Counts a step of a walk over a plan. Plans can be exponentially larger than their statement, so walks must be
/// interruptible.
///
/// # Errors
/// [`QueryError::Stopped`].
pub(super) fn step() -> Result<()> {
    Ok(interrupt::spend(STEP).map_err(QueryError::from)?)
}

/// Checks before an operator is built over a plan: DataFusion then walks the whole plan below without a check.
///
/// # Errors
/// [`QueryError::Stopped`].
pub(super) fn before_building() -> Result<()> {
    Ok(interrupt::check().map_err(QueryError::from)?)
}

/// Makes joins check `stop`, and pattern matching check for an interrupt of the thread.
///
/// # Errors
/// None for a valid plan.
pub(super) fn stoppable(plan: LogicalPlan, stop: &Arc<dyn Stop>) -> Result<LogicalPlan> {
    let mut goes_on = None;
    searching_in_steps(plan, |_| true)?
        .transform_up_with_subqueries(|node| match node {
            LogicalPlan::Join(mut join) if join.filter.is_some() => {
                let asked = goes_on.get_or_insert_with(|| CheckStopped::expr(stop));
                join.filter = join.filter.map(|filter| asked.clone().and(filter));
                Ok(Transformed::yes(LogicalPlan::Join(join)))
            }
            node => Ok(Transformed::no(node)),
        })
        .data()
}

/// Makes pattern matching of constants interruptible, because the optimizer evaluates it. Pattern matching of columns
/// is kept, because filters of scans are built from it.
///
/// # Errors
/// None for a valid plan.
pub(super) fn stoppable_constants(plan: LogicalPlan) -> Result<LogicalPlan> {
    searching_in_steps(plan, |search| search.column_refs().is_empty())
}

/// Replaces the pattern-matching operators that `chosen` accepts by functions that match in steps.
fn searching_in_steps(plan: LogicalPlan, chosen: impl Fn(&Expr) -> bool) -> Result<LogicalPlan> {
    let in_steps = plan.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let name = names.save(&expr);
            let in_steps = expr.transform_up(|part| {
                if !matches!(part, Expr::Like(_) | Expr::BinaryExpr(_)) || !chosen(&part) {
                    return Ok(Transformed::no(part));
                }
                let (searches, part) = regex_search(part);
                let (matches, part) = like_match(part);
                Ok(Transformed::new(part, searches || matches, TreeNodeRecursion::Continue))
            })?;
            Ok(if in_steps.transformed { in_steps.update_data(|expr| name.restore(expr)) } else { in_steps })
        })
    });
    in_steps.data()
}

/// Returns `true`, or an error once the statement is stopped.
#[derive(Debug)]
struct CheckStopped {
    stop: Arc<dyn Stop>,
    signature: Signature,
}

impl CheckStopped {
    fn expr(stop: &Arc<dyn Stop>) -> Expr {
        // Volatile, or it would be folded to a constant.
        let signature = Signature::nullary(Volatility::Volatile);
        let function = ScalarUDF::new_from_impl(Self { stop: Arc::clone(stop), signature });
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), Vec::new()))
    }
}

impl PartialEq for CheckStopped {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.stop, &other.stop)
    }
}

impl Eq for CheckStopped {}

impl Hash for CheckStopped {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl ScalarUDFImpl for CheckStopped {
    fn name(&self) -> &str {
        "goes_on"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if self.stop.is_stopped() {
            return Err(QueryError::Stopped.into());
        }
        Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
    }
}
