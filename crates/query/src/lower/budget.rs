//! Limits the growth of a statement while it is lowered.
//!
//! `x BETWEEN a AND b` becomes two comparisons of `x`, `(x, 1) IN (…)` one per item. Nested, such forms double with
//! every level, so that a few hundred bytes could exhaust the memory. So every copy of an operand is made here: copies
//! are counted per statement, and each one checks for cancellation.
//!
//! The count is thread-local. No code awaits while it is in use.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::plan::Stop;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use std::cell::RefCell;
use std::sync::Arc;

/// The largest number of nodes in all copies of a statement together.
const MOST_COPIED: usize = 200_000;

/// Copies of up to this many nodes are free: a list may have any number of items, and small operands cannot grow
/// exponentially.
const SMALL: usize = 4;

struct Budget {
    left: usize,
    stop: Arc<dyn Stop>,
}

thread_local! {
    static BUDGET: RefCell<Option<Budget>> = const { RefCell::new(None) };
}

/// Runs `work` with a budget of its own.
///
/// # Errors
/// Errors of `work`; 54001 and [`QueryError::Stopped`] of [`copy`] in it.
pub(crate) fn bounded<T>(stop: &Arc<dyn Stop>, work: impl FnOnce() -> QueryResult<T>) -> QueryResult<T> {
    /// Restores the previous budget, also if DataFusion panics.
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

/// Copies an operand.
///
/// # Errors
/// 54001 if the statement's budget is exhausted, [`QueryError::Stopped`] if it is cancelled.
pub(super) fn copy(expr: &Expr) -> QueryResult<Expr> {
    charge(expr)?;
    Ok(expr.clone())
}

fn charge(expr: &Expr) -> QueryResult<()> {
    // The usual items of a list.
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

/// The number of nodes of an expression, or `most + 1` if it has more.
fn nodes_of(expr: &Expr, most: usize) -> QueryResult<usize> {
    let mut nodes = 0;
    expr.apply(|_| {
        nodes += 1;
        Ok(if nodes > most.max(SMALL) { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(nodes)
}

/// Stops planning if the statement is cancelled.
///
/// # Errors
/// [`QueryError::Stopped`].
pub(super) fn ask() -> QueryResult<()> {
    let stopped = BUDGET.with_borrow(|budget| budget.as_ref().is_some_and(|budget| budget.stop.is_stopped()));
    if stopped { Err(QueryError::Stopped) } else { Ok(()) }
}
