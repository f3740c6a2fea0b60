//! Parameters in a plan.

use datafusion::logical_expr::expr::Placeholder;

/// The number of a parameter, from 0; `None` for those that stand for functions of the session.
pub(super) fn number_of(placeholder: &Placeholder) -> Option<usize> {
    placeholder.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}
