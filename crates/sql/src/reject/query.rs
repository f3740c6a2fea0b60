//! Clauses around SELECT: WITH, set operations, ORDER BY, LIMIT, FETCH, FOR.

use super::name::check_name;
use super::{Place, Verdict, invalid, refuse_if, unsupported, unsupported_hint};
use sqlparser::ast::{
    Cte, Fetch, LimitClause, OrderBy, OrderByExpr, OrderByKind, Query, SetExpr, SetOperator, SetQuantifier, Spanned,
    Values, With,
};
use std::ops::ControlFlow;

/// Checks one query, without those inside it.
pub(super) fn check(query: &Query) -> Verdict {
    // `parser/row_locks.rs` checks the locking clauses.
    let Query {
        with,
        body,
        order_by,
        limit_clause,
        fetch,
        locks: _,
        for_clause,
        settings,
        format_clause,
        pipe_operators,
    } = query;
    if let Some(with) = with {
        check_with(with)?;
    }
    check_body(body)?;
    if let Some(order_by) = order_by {
        check_order_by(order_by)?;
    }
    if let Some(limit) = limit_clause {
        check_limit(limit)?;
    }
    if let Some(fetch) = fetch {
        // The ORDER BY may be within the parentheses that FETCH stands behind: the binder looks there.
        let sorted = order_by.is_some() || matches!(body.as_ref(), SetExpr::Query(_));
        check_fetch(fetch, sorted, limit_clause.as_ref())?;
    }
    refuse_if(for_clause.is_some(), "FOR XML, FOR JSON and FOR BROWSE", Place::Words(&["FOR"]))?;
    refuse_if(settings.is_some(), "SETTINGS of a query", Place::Words(&["SETTINGS"]))?;
    refuse_if(format_clause.is_some(), "FORMAT of a query", Place::Words(&["FORMAT"]))?;
    refuse_if(!pipe_operators.is_empty(), "the pipe operator |>", Place::Words(&["SELECT"]))
}

fn check_with(with: &With) -> Verdict {
    let With { with_token: _, recursive: _, cte_tables } = with;
    // MATERIALIZED and NOT MATERIALIZED do not change the rows.
    for Cte { alias, query: _, from, materialized: _, closing_paren_token: _ } in cte_tables {
        check_name(&alias.name)?;
        let place = alias.name.span;
        refuse_if(from.is_some(), "FROM behind WITH … AS", place)?;
    }
    ControlFlow::Continue(())
}

fn check_body(body: &SetExpr) -> Verdict {
    let mut rest = vec![body];
    while let Some(body) = rest.pop() {
        match body {
            SetExpr::Select(_) | SetExpr::Query(_) => {}
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                check_set_operation(*op, *set_quantifier)?;
                rest.extend([&**right, &**left]);
            }
            SetExpr::Values(values) => check_values(values)?,
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                unsupported("INSERT, UPDATE, DELETE or MERGE inside a query", Place::Words(&["WITH"]))?;
            }
            SetExpr::Table(_) => unsupported("TABLE at this place", Place::Words(&["TABLE"]))?,
        }
    }
    ControlFlow::Continue(())
}

fn check_set_operation(op: SetOperator, quantifier: SetQuantifier) -> Verdict {
    match (op, quantifier) {
        (SetOperator::Minus, _) => unsupported_hint("MINUS", "Use EXCEPT.", Place::Words(&["MINUS"])),
        (_, SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName) => {
            unsupported("BY NAME", Place::Words(&["BY", "NAME"]))
        }
        (_, SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None) => ControlFlow::Continue(()),
    }
}

fn check_values(values: &Values) -> Verdict {
    let Values { explicit_row, value_keyword, rows } = values;
    refuse_if(*explicit_row, "VALUES ROW", Place::Words(&["VALUES"]))?;
    refuse_if(*value_keyword, "VALUE", Place::Words(&["VALUE"]))?;
    let width = rows.first().map_or(0, |row| row.content.len());
    if rows.iter().any(|row| row.content.len() != width) {
        return invalid("VALUES lists must all be the same length", Place::Words(&["VALUES"]));
    }
    ControlFlow::Continue(())
}

fn check_order_by(order_by: &OrderBy) -> Verdict {
    let OrderBy { kind, interpolate } = order_by;
    refuse_if(interpolate.is_some(), "INTERPOLATE", Place::Words(&["INTERPOLATE"]))?;
    match kind {
        OrderByKind::All(_) => unsupported("ORDER BY ALL", Place::Words(&["ORDER", "BY", "ALL"])),
        OrderByKind::Expressions(parts) => {
            for OrderByExpr { expr, options: _, with_fill } in parts {
                refuse_if(with_fill.is_some(), "WITH FILL", expr.span())?;
            }
            ControlFlow::Continue(())
        }
    }
}

fn check_limit(limit: &LimitClause) -> Verdict {
    match limit {
        LimitClause::LimitOffset { limit: _, offset: _, limit_by } => {
            refuse_if(!limit_by.is_empty(), "LIMIT … BY", Place::Words(&["LIMIT"]))
        }
        LimitClause::OffsetCommaLimit { offset, .. } => {
            invalid("LIMIT #,# syntax is not supported, use separate LIMIT and OFFSET clauses", offset.span())
        }
    }
}

/// Checks a FETCH that [`crate::rewrite`] has not replaced by LIMIT.
fn check_fetch(fetch: &Fetch, sorted: bool, limit: Option<&LimitClause>) -> Verdict {
    let Fetch { with_ties, percent, quantity: _ } = fetch;
    refuse_if(*percent, "FETCH FIRST … PERCENT", Place::Words(&["PERCENT"]))?;
    if *with_ties {
        return match (sorted, limit) {
            (false, _) => {
                invalid("WITH TIES cannot be specified without ORDER BY clause", Place::Words(&["WITH", "TIES"]))
            }
            (true, None | Some(LimitClause::LimitOffset { limit: None, .. })) => ControlFlow::Continue(()),
            (true, Some(_)) => invalid("multiple LIMIT clauses not allowed", Place::Words(&["FETCH"])),
        };
    }
    invalid("multiple LIMIT clauses not allowed", Place::Words(&["FETCH"]))
}
