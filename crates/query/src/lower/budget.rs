//! How much a statement may grow while it is lowered.
//!
//! `x BETWEEN a AND b` is two comparisons of `x`, `(x, 1) IN (…)` one for each item. Within each other such forms double
//! with every level, so that a few hundred bytes would fill the memory. So all who copy an operand do it here: copies
//! are counted for the statement as a whole, and each is a chance to stop.
//!
//! The count is kept by thread. Nothing awaits while it runs.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::plan::Stop;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use std::cell::RefCell;
use std::sync::Arc;

/// Most nodes that all copies of a statement have together.
const MOST_COPIED: usize = 200_000;

/// Operands of so few nodes are free: a list may have any number of items, and these cannot grow.
const SMALL: usize = 4;

struct Budget {
    left: usize,
    stop: Arc<dyn Stop>,
}

thread_local! {
    static BUDGET: RefCell<Option<Budget>> = const { RefCell::new(None) };
}

/// Plans a statement with a budget of its own.
///
/// # Errors
/// Those of `work`; of [`copy`] in it 54001 and [`QueryError::Stopped`].
pub(crate) fn bounded<T>(stop: &Arc<dyn Stop>, work: impl FnOnce() -> QueryResult<T>) -> QueryResult<T> {
    /// Puts the old budget back, also when DataFusion panics.
    struct Restore(Option<Budget>);
    impl Drop for Restore {
        fn drop(&mut self) {
            BUDGET.set(self.0.take());
        }
    }
    let budget = Budget { left: MOST_COPIED, stop: Arc::clone(stop) };
    let _restore = Restore(BUDGET.replace(Some(budget)));
    work()
}

/// One more of an operand.
///
/// # Errors
/// 54001 when the statement's budget is spent, [`QueryError::Stopped`] when it is stopped.
pub(super) fn copy(expr: &Expr) -> QueryResult<Expr> {
    charge(expr)?;
    Ok(expr.clone())
}

fn charge(expr: &Expr) -> QueryResult<()> {
    // Those that every list is made of.
    if matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_)) {
        return Ok(());
    }
    BUDGET.with_borrow_mut(|budget| {
        let Some(Budget { left, stop }) = budget else { return Ok(()) };
        if stop.is_stopped() {
            return Err(QueryError::Stopped);
        }
        let nodes = nodes_of(expr, *left)?;
        if nodes <= SMALL {
            return Ok(());
        }
        let rest = left.checked_sub(nodes).ok_or_else(|| {
            Refusal::Complexity.because(format!(
                "statement is too complex: the copies of operands that are compared several times have more than \
                 {MOST_COPIED} parts"
            ))
        })?;
        *left = rest;
        Ok(())
    })
}

/// How many nodes an expression has, or `most + 1` if more.
fn nodes_of(expr: &Expr, most: usize) -> QueryResult<usize> {
    let mut nodes = 0;
    expr.apply(|_| {
        nodes += 1;
        Ok(if nodes > most.max(SMALL) { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(nodes)
}

/// Ends planning when the statement is stopped.
///
/// # Errors
/// [`QueryError::Stopped`].
pub(super) fn ask() -> QueryResult<()> {
    let stopped = BUDGET.with_borrow(|budget| budget.as_ref().is_some_and(|budget| budget.stop.is_stopped()));
    if stopped { Err(QueryError::Stopped) } else { Ok(()) }
}
