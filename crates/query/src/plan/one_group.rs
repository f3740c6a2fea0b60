//! Queries that are one group of all rows without an aggregate that says so.

use super::exists_counts::count_of_rows;
use super::query_values;
use sql::ast::helpers::attached_token::AttachedToken;
use sql::ast::{BinaryOperator, CaseWhen, Expr, GroupByExpr, Select, Value};

/// `GROUP BY ()`, and HAVING of a query without groups, make one group of all rows.
pub(super) fn as_one_group(select: &mut Select) {
    let GroupByExpr::Expressions(groups, _) = &mut select.group_by else { return };
    let before = groups.len();
    groups.retain(|group| !matches!(group, Expr::Tuple(parts) if parts.is_empty()));
    let wanted = before > groups.len() || select.having.is_some();
    if !groups.is_empty() || !wanted || select.having.as_ref().is_some_and(|having| !query_values::is_row_value(having))
    {
        return;
    }
    // The planner makes a group of rows of which something is asked.
    let zero = Expr::value(Value::Number("0".to_owned(), false));
    let counted = Expr::BinaryOp { left: Box::new(count_of_rows()), op: BinaryOperator::GtEq, right: Box::new(zero) };
    // In one piece: a condition about no column would be asked of the rows below the group.
    select.having = Some(match select.having.take() {
        Some(having) => when(counted, having),
        None => counted,
    });
}

/// `CASE WHEN condition THEN result END`
fn when(condition: Expr, result: Expr) -> Expr {
    let conditions = vec![CaseWhen { condition, result }];
    let (case_token, end_token) = (AttachedToken::empty(), AttachedToken::empty());
    Expr::Case { case_token, end_token, operand: None, conditions, else_result: None }
}
