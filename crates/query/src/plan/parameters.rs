//! Parameters of a plan.

use datafusion::logical_expr::expr::Placeholder;

/// The number of a parameter, from 0; `None` for the placeholder of a session function.
pub(super) fn number_of(placeholder: &Placeholder) -> Option<usize> {
    placeholder.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}
