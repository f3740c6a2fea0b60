//! Places that hypothetical values would have: `rank(v) WITHIN GROUP (ORDER BY x)` and its like, as counts of rows.
//!
//! ```text
//!   rank           1 + count(*) FILTER (WHERE x comes before v)
//!   dense_rank     1 + count(DISTINCT x) FILTER (WHERE x comes before v)
//!   percent_rank   count(*) FILTER (WHERE x comes before v) / count(*), and 0 of no rows
//!   cume_dist      (1 + count(*) FILTER (WHERE x comes before v or is equal)) / (1 + count(*))
//! ```

use super::rewrite::both;
use sql::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

/// The call as counts; `None` for one that is no such place, or of several columns.
pub(super) fn counted(name: &str, function: &Function) -> Option<Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let ([FunctionArg::Unnamed(FunctionArgExpr::Expr(value))], [by]) =
        (list.args.as_slice(), function.within_group.as_slice())
    else {
        return None;
    };
    let descending = by.options.asc == Some(false);
    let nulls_first = by.options.nulls_first.unwrap_or(descending);
    let (x, v) = (format!("({})", by.expr), format!("({value})"));
    let op = if descending { ">" } else { "<" };
    let beside_null = match nulls_first {
        true => format!("{x} IS NULL AND {v} IS NOT NULL"),
        false => format!("{x} IS NOT NULL AND {v} IS NULL"),
    };
    let before = format!("({x} {op} {v} OR {beside_null})");
    let equal = format!("({before} OR {x} IS NOT DISTINCT FROM {v})");
    let filter = |condition: &str| {
        let condition = sql::parse_expr(condition).ok()?;
        Some(both(function.filter.clone(), condition).to_string())
    };
    let all = match &function.filter {
        Some(own) => format!("count(*) FILTER (WHERE {own})"),
        None => "count(*)".to_owned(),
    };
    let before = filter(&before)?;
    let text = match name {
        "rank" => format!("(1 + count(*) FILTER (WHERE {before}))"),
        "dense_rank" => {
            // A NULL is a value of its own here.
            let null = format!("CASE WHEN count(*) FILTER (WHERE {before} AND {x} IS NULL) > 0 THEN 2 ELSE 1 END");
            format!("({null} + count(DISTINCT {x}) FILTER (WHERE {before}))")
        }
        "percent_rank" => format!(
            "coalesce(count(*) FILTER (WHERE {before})::double precision / nullif({all}, 0)::double precision, \
             0::double precision)"
        ),
        "cume_dist" => {
            let equal = filter(&equal)?;
            format!("((1 + count(*) FILTER (WHERE {equal}))::double precision / (1 + {all})::double precision)")
        }
        _ => return None,
    };
    sql::parse_expr(&text).ok()
}
